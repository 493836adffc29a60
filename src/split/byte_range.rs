//! Opens the messages of an mbox that begin in a range of it.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use super::block_reader::{BlockReader, Blocks, CONTEXT_BYTES, is_zero};
use super::format::{Format, detect_format, sniff};
use super::line_ends::has_cr_line_ends;
use super::{AtEof, mbox};
use crate::limits::{SEPARATOR_BYTES, SNIFF_BYTES};
use crate::origin::FormatHint;
use crate::read::SparseRead;

/// The messages of an mbox that begin in `part`, in blocks. `None` if the stream is no mbox, or one
/// whose lines end in CR alone.
///
/// # Errors
///
/// What the stream gives.
pub fn open_range<S: SparseRead + Seek + 'static>(
    mut stream: S,
    given: Option<Format>,
    hint: FormatHint,
    most: usize,
    part: Range<u64>,
) -> io::Result<Option<Blocks>> {
    let mut start = Vec::with_capacity(SNIFF_BYTES);
    (&mut stream)
        .take(SNIFF_BYTES as u64)
        .read_to_end(&mut start)?;
    let Some(format) = splittable_format(&start, given, hint) else {
        return Ok(None);
    };
    let first = first_message(&mut stream, format, most, &part)?.unwrap_or(part.end);
    stream.seek(SeekFrom::Start(first))?;
    Ok(Some(BlockReader::part(
        Box::new(stream),
        format,
        most,
        first,
        part.end,
    )))
}

/// The format of a source that begins so, if its messages can be told apart from any byte on.
#[must_use]
pub fn splittable_format(start: &[u8], given: Option<Format>, hint: FormatHint) -> Option<Format> {
    // Compressed bytes may be an mbox when they are unpacked, whatever the user says.
    sniff(start, hint).ok()?;
    let format = detect_format(start, given, hint).ok()?;
    (matches!(format, Format::Mbox | Format::Mboxcl) && !has_cr_line_ends(start)).then_some(format)
}

/// The offset of the first message of an mbox that begins in `part`, or perhaps behind it. `format` is what the file's
/// first bytes make it.
///
/// Where messages carry no length a look around `start` tells; where they do, the file is read from its start, at the
/// speed of reading.
///
/// # Errors
///
/// What the stream gives.
pub(super) fn first_message<S: SparseRead + Seek>(
    stream: &mut S,
    format: Format,
    most: usize,
    part: &Range<u64>,
) -> io::Result<Option<u64>> {
    let start = part.start;
    if start == 0 {
        return Ok(Some(0));
    }
    stream.seek(SeekFrom::Start(0))?;
    if format == Format::Mboxcl {
        let mut roller = BlockReader::part(stream, format, most, 0, start);
        while roller.next_block()?.is_some() {}
        return Ok((!roller.held.is_empty()).then_some(roller.offset));
    }
    // Blank lines at the start of the file belong to the first message.
    let mut blank = Vec::new();
    stream.take(SNIFF_BYTES as u64).read_to_end(&mut blank)?;
    let start = start.max(mbox::blank_lines(&blank) as u64 + 1);
    let mut offset = start.saturating_sub(CONTEXT_BYTES as u64);
    stream.seek(SeekFrom::Start(offset))?;
    let mut held = Vec::new();
    let mut from = (start - offset) as usize;
    while offset < part.end {
        if !held.is_empty() && is_zero(&held) {
            offset += stream.skip_hole(1);
        }
        let read = stream.take(SNIFF_BYTES as u64).read_to_end(&mut held)?;
        let known = if read < SNIFF_BYTES {
            AtEof::All
        } else {
            AtEof::Part
        };
        if let Some(at) = mbox::next_separator(&held, from, known) {
            return Ok(Some(offset + at as u64));
        }
        if known == AtEof::All {
            return Ok(None);
        }
        let done = held.len() - SEPARATOR_BYTES - CONTEXT_BYTES;
        held.drain(..done);
        offset += done as u64;
        from = CONTEXT_BYTES;
    }
    Ok(None)
}
