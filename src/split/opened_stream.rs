//! Opens a stream: detects its format and prepares to read it in blocks.

use std::io::{self, Read};

use super::block_reader::{BlockReader, StreamBlocks, is_zero};
use super::format::{Format, detect_format};
use super::line_ends::{cr_to_lf, has_cr_line_ends};
use crate::diagnostic::SkipReason;
use crate::limits::SNIFF_BYTES;
use crate::origin::FormatHint;
use crate::read::SparseRead;

/// Result of opening a stream.
pub enum OpenedStream {
    /// A stream of text, read in blocks.
    Blocks(StreamBlocks),
    /// A stream that is not read.
    Skipped(SkipReason),
}

/// Detects the format of a stream by its first bytes, unless the user has named it.
///
/// Leading NUL bytes are skipped, a hole at the start included; offsets count them. A message of more than
/// `max_message_bytes` bytes is read in fragments.
///
/// # Errors
///
/// The error of the stream, if no byte came before it.
pub fn open(
    mut stream: Box<dyn SparseRead>,
    given: Option<Format>,
    hint: FormatHint,
    max_message_bytes: usize,
) -> io::Result<OpenedStream> {
    let mut prefix = StreamPrefix::after_hole(&mut stream);
    match prefix.error {
        Some(error) if prefix.bytes.is_empty() => return Err(error),
        _ => {}
    }
    let nuls = leading_nuls(&prefix.bytes);
    prefix.bytes.drain(..nuls);
    let mut sample = prefix.bytes.clone();
    if has_cr_line_ends(&sample) {
        cr_to_lf(&mut sample);
    }
    Ok(match detect_format(&sample, given, hint) {
        Ok(format) => {
            let mut blocks = BlockReader::new(stream, prefix.bytes, format, max_message_bytes);
            blocks.offset = prefix.offset + nuls as u64;
            blocks.ended = prefix.error.is_some();
            blocks.error = prefix.error;
            OpenedStream::Blocks(blocks)
        }
        Err(reason) => OpenedStream::Skipped(reason),
    })
}

/// Returns the number of leading NUL bytes, or 0 if there is no other byte. A writer that kept its offset after the file was
/// truncated leaves a hole there; it is no part of the first message.
#[must_use]
pub fn leading_nuls(start: &[u8]) -> usize {
    start.iter().position(|&byte| byte != 0).unwrap_or(0)
}

/// First bytes of a stream, up to [`SNIFF_BYTES`].
struct StreamPrefix {
    bytes: Vec<u8>,
    /// The offset of the first byte in the stream.
    offset: u64,
    /// The error that ended the bytes early.
    error: Option<io::Error>,
}

impl StreamPrefix {
    /// Reads the bytes after a hole at the start of the stream, if there is a hole and something follows it.
    fn after_hole(stream: &mut dyn SparseRead) -> StreamPrefix {
        let first = StreamPrefix::read(stream, 0);
        if first.bytes.len() < SNIFF_BYTES || !is_zero(&first.bytes) {
            return first;
        }
        let hole = stream.skip_hole(1);
        if hole == 0 {
            return first;
        }
        let after = StreamPrefix::read(stream, SNIFF_BYTES as u64 + hole);
        if after.bytes.is_empty() && after.error.is_none() {
            first
        } else {
            after
        }
    }

    fn read(stream: &mut dyn SparseRead, offset: u64) -> StreamPrefix {
        let mut bytes = Vec::with_capacity(SNIFF_BYTES);
        let error = stream
            .take(SNIFF_BYTES as u64)
            .read_to_end(&mut bytes)
            .err();
        StreamPrefix {
            bytes,
            offset,
            error,
        }
    }
}
