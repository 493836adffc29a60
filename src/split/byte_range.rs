//! Opens the messages of an mbox that begin in a byte range, so that several machines or threads can share one file.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use super::block_reader::{BlockReader, CONTEXT_BYTES, StreamBlocks};
use super::format::Format;
use super::source_start::{SourceStart, is_zero};
use super::{AtEof, mbox};
use crate::limits::{SEPARATOR_BYTES, SNIFF_BYTES};
use crate::origin::FormatHint;
use crate::read::SparseRead;

/// Opens the messages of an mbox that begin in `range`. `None` if the stream is no mbox, or one with CR line ends. `nuls` of its
/// leading NUL bytes are known, and not read again.
///
/// # Errors
///
/// The error of the stream.
pub fn open_range<S: SparseRead + Seek + 'static>(
    mut stream: S,
    given: Option<Format>,
    hint: FormatHint,
    max_message_bytes: usize,
    range: Range<u64>,
    nuls: u64,
) -> io::Result<Option<StreamBlocks>> {
    let start = SourceStart::read_after_nuls(&mut stream, nuls)?;
    let Some(format) = start.splittable_format(given, hint) else {
        return Ok(None);
    };
    let begin = start.offset;
    let first = first_message(&mut stream, begin, format, max_message_bytes, &range)?;
    let messages = first.unwrap_or(range.end)..range.end;
    stream.seek(SeekFrom::Start(messages.start))?;
    let stream = Box::new(stream);
    Ok(Some(BlockReader::in_range(
        stream,
        format,
        max_message_bytes,
        messages,
    )))
}

/// Returns the offset of the first message of an mbox that begins in `range`, or an offset after `range` in some cases where none
/// does. `begin` is the offset of the first message of the file.
///
/// Without Content-Length fields it reads the blank lines from `begin` on and a window around the start of `range`. With them it
/// reads the file from `begin` on, at the speed of reading.
///
/// # Errors
///
/// The error of the stream.
pub(super) fn first_message<S: SparseRead + Seek>(
    stream: &mut S,
    begin: u64,
    format: Format,
    max_message_bytes: usize,
    range: &Range<u64>,
) -> io::Result<Option<u64>> {
    if range.start <= begin {
        return Ok(Some(begin));
    }
    stream.seek(SeekFrom::Start(begin))?;
    if format == Format::Mboxcl {
        let before = begin..range.start;
        let mut blocks = BlockReader::in_range(stream, format, max_message_bytes, before);
        while blocks.next_block()?.is_some() {}
        return Ok((!blocks.buffer.is_empty()).then_some(blocks.offset));
    }
    first_separator(stream, begin, range)
}

/// Returns the offset after the blank lines at the position of a stream, which is `begin`. Reads window by window, to `end` at most.
fn blank_end<S: SparseRead>(stream: &mut S, begin: u64, end: u64) -> io::Result<u64> {
    let mut blank = begin;
    let mut window = Vec::new();
    while blank < end {
        window.clear();
        stream.take(SNIFF_BYTES as u64).read_to_end(&mut window)?;
        let lines = mbox::blank_lines(&window);
        blank += lines as u64;
        if lines < SNIFF_BYTES {
            break;
        }
    }
    Ok(blank)
}

/// Returns the offset of the first separator in `range`, which begins after `begin`, the position of the stream. Reads window by
/// window.
fn first_separator<S: SparseRead + Seek>(
    stream: &mut S,
    begin: u64,
    range: &Range<u64>,
) -> io::Result<Option<u64>> {
    // Blank lines at the start of the file belong to the first message.
    let blank = blank_end(stream, begin, range.end)?;
    let start = range.start.max(blank + 1);
    let mut offset = start.saturating_sub(CONTEXT_BYTES as u64);
    stream.seek(SeekFrom::Start(offset))?;
    let mut window = Vec::new();
    let mut from = (start - offset) as usize;
    while offset < range.end {
        if !window.is_empty() && is_zero(&window) {
            offset += stream.skip_hole(1);
        }
        let read = stream.take(SNIFF_BYTES as u64).read_to_end(&mut window)?;
        let at_eof = if read < SNIFF_BYTES {
            AtEof::Yes
        } else {
            AtEof::No
        };
        if let Some(at) = mbox::next_separator(&window, from, at_eof) {
            return Ok(Some(offset + at as u64));
        }
        if at_eof == AtEof::Yes {
            return Ok(None);
        }
        let done = window.len() - SEPARATOR_BYTES - CONTEXT_BYTES;
        window.drain(..done);
        offset += done as u64;
        from = CONTEXT_BYTES;
    }
    Ok(None)
}
