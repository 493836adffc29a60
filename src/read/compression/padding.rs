//! NUL bytes after compressed data, with which tapes and disks are padded.

use std::io::{self, BufRead};

/// Skips NUL bytes. Returns `true` if another byte follows.
pub(super) fn skip_nuls(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let available = input.fill_buf()?;
        if available.is_empty() {
            return Ok(false);
        }
        let nuls = available.iter().take_while(|&&byte| byte == 0).count();
        let is_done = nuls < available.len();
        input.consume(nuls);
        if is_done {
            return Ok(true);
        }
    }
}
