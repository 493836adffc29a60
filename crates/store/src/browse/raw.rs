//! Raw bytes of a citation and the text around them, read from an uncompressed file on disk.
//!
//! A record may name any file. Bytes are shown only if extracting the message again produces the
//! record. The record's id is a hash of the message, so whoever wrote the record had the message.

use std::ffi::OsString;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::load::FoundRow;
use urlspool_files::pipeline::{InputStep, MessageSource};
use urlspool_mail::decode::digested_bytes;
use urlspool_mail::split::{Format, Message, SourceStart, SplitOutput};
use urlspool_record::extract::{Extractor, Finding};
use urlspool_sources::read::{self, Input};
use urlspool_sources::walk::{WalkedFile, path_hint};
use urlspool_text::limits::{BROWSE_AROUND_BYTES, BROWSE_RAW_BYTES, BROWSE_SEARCHED_BYTES, Limits};
use urlspool_text::origin::{FileRange, Source, SourceKind};
use urlspool_text::repair::UrlEvidence;

/// A passage of a file: the bytes of a record, and the bytes around them up to line ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RawPassage {
    pub(super) before: Vec<u8>,
    /// Bytes of the record, possibly truncated.
    pub(super) bytes: Vec<u8>,
    pub(super) after: Vec<u8>,
    /// Number of bytes in the file before `before`.
    pub(super) left_before: u64,
    /// Number of bytes in the record after `bytes`.
    pub(super) left_out: u64,
    /// Number of bytes in the file after `after`.
    pub(super) left_after: u64,
}

/// Reason why a passage cannot be shown.
#[derive(Debug)]
pub(super) enum NoPassage {
    /// It is in a compressed file, an archive or a repository, which would take time to unpack.
    Packed,
    /// The file is outside the folder of `--files`, or cannot be opened there.
    Outside,
    /// The bytes do not decode to the URL of the record.
    Different,
    /// The file cannot be read.
    Failed(io::Error),
}

impl From<io::Error> for NoPassage {
    fn from(error: io::Error) -> NoPassage {
        NoPassage::Failed(error)
    }
}

/// Reads the passage of a record from a source of `kind`. The path is resolved as in the scan, and
/// must be in `root` if there is one.
pub(super) fn passage(
    row: &FoundRow,
    kind: &str,
    root: Option<&Path>,
) -> Result<RawPassage, NoPassage> {
    let source = &row.source;
    if source.member.is_some() || source.member_b64.is_some() {
        return Err(NoPassage::Packed);
    }
    let path: PathBuf = OsString::from_vec(source.path_bytes()).into();
    let file = match root {
        Some(root) => WalkedFile::below(root, &path).ok_or(NoPassage::Outside)?,
        None => WalkedFile::named(path),
    };
    let input = Input::file(read::open(&file)?);
    // The scan may have used `--kind`.
    for given in [None, SourceKind::named(kind).map(Format::of)] {
        let messages = messages_around(&input, &file.source, given, source.start.cast_unsigned())?;
        if let Some(mut passage) = passage_in(messages, row)? {
            let shown = passage.after.len() as u64 + source.end.cast_unsigned();
            passage.left_after = input.size().unwrap_or_default().saturating_sub(shown);
            return Ok(passage);
        }
    }
    Err(NoPassage::Different)
}

/// Returns messages of an input, one of which contains the byte at offset `at`. Of an mbox, returns
/// only the messages that start near it.
fn messages_around(
    input: &Input,
    source: &Source,
    given: Option<Format>,
    at: u64,
) -> Result<MessageSource, NoPassage> {
    let limits = Limits::default();
    let hint = path_hint(&source.path);
    let Input::Seekable(seekable) = input else {
        return Err(NoPassage::Packed);
    };
    let start = SourceStart::read(&mut seekable.stream_at(0))?;
    if start.is_container {
        return Err(NoPassage::Packed);
    }
    if start.splittable_format(given, hint) == Some(Format::Mbox) {
        let part = FileRange {
            source: source.clone(),
            start: at.saturating_sub(limits.message_bytes as u64),
            end: at.saturating_add(1),
            kind: None,
            nuls: 0,
        };
        if let Some(part) = MessageSource::of_part(seekable, hint, &part, given, &limits)? {
            return Ok(part);
        }
    }
    let stream = Box::new(seekable.stream_at(0));
    let source = source.clone();
    Ok(MessageSource::of_stream(
        stream, source, hint, given, &limits,
    ))
}

/// Returns the passage of a record in one of the messages, or `None` if no message contains the
/// record.
fn passage_in(messages: MessageSource, row: &FoundRow) -> io::Result<Option<RawPassage>> {
    let range = row.source.start.cast_unsigned()..row.source.end.cast_unsigned();
    let (mut passage, mut first) = (None, None);
    for step in messages {
        match step {
            InputStep::Block(block) => {
                let offset = block.block.offset;
                let searched = offset - *first.get_or_insert(offset);
                if range.start < offset || BROWSE_SEARCHED_BYTES < searched {
                    break;
                }
                block.messages(&mut |output| match output {
                    SplitOutput::Message(message)
                        if (message.start..message.end()).contains(&range.start)
                            && has_record(&message, &block.source, row, &range) =>
                    {
                        passage = Some(passage_of(&message, &range));
                    }
                    _ => {}
                });
            }
            InputStep::Ended(end) => end.error.map_or(Ok(()), Err)?,
            InputStep::Failed(failure) => failure.error.map_or(Ok(()), Err)?,
            _ => {}
        }
        if passage.is_some() {
            break;
        }
    }
    Ok(passage)
}

/// Returns `true` if the message contains the record of `row`, with the same URL at the same
/// offsets.
///
/// Bytes that the id's hash does not cover must be exactly the URL. The scan may have used evidence
/// (`--evidence`), in which the URL was whole.
fn has_record(message: &Message<'_>, source: &Source, row: &FoundRow, range: &Range<u64>) -> bool {
    let hashed = message.raw_start() + digested_bytes(message) as u64;
    let plain = Extractor::default();
    let mut whole = UrlEvidence::new(plain.limits().evidence_urls);
    whole.add_whole(row.url.as_bytes());
    let with_evidence = Extractor::default().with_evidence(Arc::new(whole));
    [plain, with_evidence].iter().any(|extractor| {
        let mut is_there = false;
        extractor.extract(message, source, &mut |finding| {
            if let Finding::Url(record) | Finding::Unwrapped(record) = finding {
                is_there |= (record.origin.start..record.origin.end) == *range
                    && (record.origin.exact || range.end <= hashed)
                    && String::from_utf8_lossy(record.found.url()) == row.url
                    && format!("{:032x}", record.id) == row.id;
            }
        });
        is_there
    })
}

/// Returns the passage of a range in a message. Excludes bytes of other messages, and bytes that
/// the digest of the message does not cover. The caller sets `left_after`.
fn passage_of(message: &Message<'_>, range: &Range<u64>) -> RawPassage {
    let offset = |at: u64| {
        let at = at.saturating_sub(message.raw_start());
        usize::try_from(at).map_or(message.raw.len(), |at| at.min(message.raw.len()))
    };
    let (start, end) = (offset(range.start), offset(range.end));
    let hashed = digested_bytes(message);
    let first = start.saturating_sub(BROWSE_AROUND_BYTES);
    let last = end.saturating_add(BROWSE_AROUND_BYTES).min(hashed).max(end);
    let before = if hashed < start {
        &[]
    } else {
        from_line(&message.raw[first..start], first == 0)
    };
    let after = to_line(&message.raw[end..last], last == message.raw.len());
    let bytes = &message.raw[start..end.min(start + BROWSE_RAW_BYTES)];
    RawPassage {
        left_before: range.start - before.len() as u64,
        left_out: (end - start - bytes.len()) as u64,
        left_after: 0,
        before: before.to_vec(),
        bytes: bytes.to_vec(),
        after: after.to_vec(),
    }
}

/// Removes a partial line from the start, unless it is the only line.
fn from_line(bytes: &[u8], is_start: bool) -> &[u8] {
    match memchr::memchr(b'\n', bytes) {
        Some(at) if !is_start => &bytes[at + 1..],
        _ => bytes,
    }
}

/// Removes a partial line from the end, unless it is the only line.
fn to_line(bytes: &[u8], is_end: bool) -> &[u8] {
    match memchr::memrchr(b'\n', bytes) {
        Some(at) if !is_end => &bytes[..at],
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_is_cut_at_line_breaks() {
        assert_eq!(from_line(b"alf\nwhole\nsee ", false), b"whole\nsee ");
        assert_eq!(from_line(b"first\nsee ", true), b"first\nsee ");
        assert_eq!(from_line(b"one line ", false), b"one line ");
        assert_eq!(to_line(b" here\nnext\nhal", false), b" here\nnext");
        assert_eq!(to_line(b" here\nlast\n", true), b" here\nlast\n");
        assert_eq!(to_line(b" one line", false), b" one line");
    }

    #[test]
    fn omitted_bytes_are_counted() {
        let lines = "line\n".repeat(1_000);
        let url = "u".repeat(300 << 10);
        let text = format!("\n{lines}see {url} here\n{lines}");
        let start = lines.len() as u64 + 5;
        let long = passage_of(
            &Message::parse(text.as_bytes()),
            &(start..start + (300 << 10)),
        );
        assert_eq!(long.bytes.len(), BROWSE_RAW_BYTES);
        assert_eq!(long.left_out, (300 << 10) - BROWSE_RAW_BYTES as u64);
        assert!(long.after.starts_with(b" here\n") && long.before.ends_with(b"\nsee "));
        assert_eq!(long.left_before + long.before.len() as u64, start);
    }

    /// The digest of a text covers its first 64 KiB. The writer of a record need not have had more.
    #[test]
    fn bytes_outside_the_digest_are_not_shown() {
        let secret = "secret\n".repeat(10_000);
        let text = format!("{secret}see x here\n{secret}");
        let start = secret.len() as u64 + 4;
        let end = passage_of(&Message::text(text.as_bytes()), &(start..start + 1));
        assert_eq!(
            (&*end.before, &*end.bytes, &*end.after),
            (&b""[..], &b"x"[..], &b""[..])
        );
    }
}
