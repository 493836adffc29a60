//! Padding.

use std::io::{self, BufRead};

/// Passes over zeros, which tapes and disks pad with. Whether anything is left.
pub(super) fn beyond_zeros(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let available = input.fill_buf()?;
        if available.is_empty() {
            return Ok(false);
        }
        let zeros = available.iter().take_while(|&&byte| byte == 0).count();
        let is_done = zeros < available.len();
        input.consume(zeros);
        if is_done {
            return Ok(true);
        }
    }
}
