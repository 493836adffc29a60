//! Opens a stream, and recognises its format.

use std::io::{self, Read};

use super::block_reader::{BlockReader, Blocks, is_zero};
use super::format::{Format, detect_format};
use super::line_ends::{cr_to_lf, has_cr_line_ends};
use crate::diagnostic::SkipReason;
use crate::limits::SNIFF_BYTES;
use crate::origin::FormatHint;
use crate::read::SparseRead;

/// What a stream turned out to be.
pub enum OpenedStream {
    /// A stream of text, read in blocks.
    Blocks(Blocks),
    /// A stream that is not read.
    Skipped(SkipReason),
}

/// Recognises a stream by its first bytes, unless its format is given.
///
/// # Errors
///
/// What the stream gives, if that is all it gives.
pub fn open(
    mut stream: Box<dyn SparseRead>,
    given: Option<Format>,
    hint: FormatHint,
    most: usize,
) -> io::Result<OpenedStream> {
    let (mut start, mut failed) = first_octets(&mut stream);
    let mut offset = 0;
    if start.len() == SNIFF_BYTES && is_zero(&start) {
        let hole = stream.skip_hole(1);
        let behind = if hole > 0 {
            first_octets(&mut stream)
        } else {
            (Vec::new(), None)
        };
        if !(behind.0.is_empty() && behind.1.is_none()) {
            offset = start.len() as u64 + hole;
            (start, failed) = behind;
        }
    }
    match failed {
        Some(error) if start.is_empty() => return Err(error),
        _ => {}
    }
    let zeros = leading_nuls(&start);
    start.drain(..zeros);
    offset += zeros as u64;
    let mut shown = start.clone();
    if has_cr_line_ends(&shown) {
        cr_to_lf(&mut shown);
    }
    Ok(match detect_format(&shown, given, hint) {
        Ok(format) => {
            let mut blocks = BlockReader::new(stream, start, format, most);
            blocks.offset = offset;
            blocks.ended = failed.is_some();
            blocks.failed = failed;
            OpenedStream::Blocks(blocks)
        }
        Err(reason) => OpenedStream::Skipped(reason),
    })
}

/// What a stream's format is told by, and what it failed with meanwhile.
fn first_octets(stream: &mut dyn SparseRead) -> (Vec<u8>, Option<io::Error>) {
    let mut start = Vec::with_capacity(SNIFF_BYTES);
    let failed = stream
        .take(SNIFF_BYTES as u64)
        .read_to_end(&mut start)
        .err();
    (start, failed)
}

/// Zeros at the start of what is held of a source, if something else stands behind them: what a writer leaves there that goes
/// on at its old place in a file that was cut meanwhile. They are no part of the first message.
#[must_use]
pub fn leading_nuls(start: &[u8]) -> usize {
    start.iter().position(|&octet| octet != 0).unwrap_or(0)
}
