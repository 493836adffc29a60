//! `urlspool show`.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use memchr::memrchr;

use super::error::{CommandError, CommandResult, Exit};
use super::location::{FileLocation, open_member, repository_streams, start_of, without_url};
use super::terminal::{StdoutLines, escaped, print_message};
use urlspool_record::record::{self, SourceRange, is_written_line};
use urlspool_sources::read::{self, Input, Streams};
use urlspool_sources::walk;
use urlspool_text::diagnostic::EscapeForm;
use urlspool_text::limits::{Limits, MAGIC_BYTES};
use urlspool_text::origin::FormatHint;

pub(super) fn show(place: Option<&OsStr>) -> CommandResult {
    if let Some(text) = place
        && start_shows_records(Path::new(text))
    {
        let name = text.to_string_lossy();
        let message =
            format!("{name} contains records; pass them on standard input: urlspool show < {name}");
        return Err(CommandError::usage(escaped(&message)));
    }
    let ranges = match place {
        Some(text) => vec![parse_place(&without_url(text))?],
        None => ranges_of_records(io::stdin().lock())?,
    };
    let mut out = StdoutLines::new(EscapeForm::Text);
    let mut exit = Exit::Done;
    for range in &ranges {
        match bytes(range) {
            Ok(mut bytes) => {
                if !has_raw(range, &bytes) {
                    let (path, start) = (range.path.to_string_lossy(), range.start);
                    print_message(format_args!(
                        "urlspool: {}:{start} does not have the text of the record; scan the file \
                         again if it has changed",
                        escaped(&path)
                    ));
                }
                bytes.push(b'\n');
                if !out.put(&bytes)? {
                    break;
                }
            }
            Err(error) => {
                let path = range.path.to_string_lossy();
                print_message(format_args!(
                    "urlspool: cannot read {}: {error}",
                    escaped(&path)
                ));
                exit = Exit::SomeFailed;
            }
        }
    }
    out.finish()?;
    Ok(exit)
}

/// Returns `true` if a file starts with a record.
fn start_shows_records(path: &Path) -> bool {
    start_of(path).is_some_and(|start| start.starts_with(b"{") && is_written_line(&start))
}

/// Parses `PATH:START-END` or `PATH:START`, with members as `PATH!MEMBER!MEMBER`, like
/// [`FileLocation::parse`].
fn parse_place(text: &OsStr) -> Result<SourceRange, CommandError> {
    place_of(text).ok_or_else(|| {
        let form = "PATH:START-END or PATH:START, with PATH!MEMBER for a member of an archive";
        CommandError::usage(format!(
            "{:?} is not a place; write it as {form}. Without an argument, `show` reads records \
             from standard input",
            text.to_string_lossy()
        ))
    })
}

fn place_of(text: &OsStr) -> Option<SourceRange> {
    let bytes = text.as_bytes();
    let colon = memrchr(b':', bytes)?;
    let names = OsStr::from_bytes(&bytes[..colon]);
    let range = std::str::from_utf8(&bytes[colon + 1..]).ok()?;
    let (start, end) = match range.split_once('-') {
        Some((start, end)) => (start, Some(end.parse().ok()?)),
        None => (range, None),
    };
    let start = start.parse().ok()?;
    let FileLocation { path, member } = FileLocation::parse(names);
    end.is_none_or(|end| start <= end).then_some(SourceRange {
        path,
        member,
        start,
        end,
        raw: None,
    })
}

fn ranges_of_records(input: impl BufRead) -> Result<Vec<SourceRange>, CommandError> {
    let mut ranges = Vec::new();
    for (number, line) in (1..).zip(input.lines()) {
        let failed = |message: String| {
            let message = format!("standard input, line {number}: {message}");
            CommandError::new(Exit::SomeFailed, message)
        };
        let line = line.map_err(|error| failed(error.to_string()))?;
        if line.starts_with('{') {
            let range = record::read_source_range(&line);
            ranges.push(range.map_err(failed)?);
        } else if let Some(place) = place_of_grep_line(&line)
            && (!is_passage(&line) || place.path.exists())
        {
            ranges.push(place);
        } else if !is_heading(&line) {
            let reason = "it is neither a record nor a line `PATH:START: URL`";
            return Err(failed(reason.to_owned()));
        }
    }
    Ok(ranges)
}

/// Returns the place in a line printed by `scan --format grep` or `search`.
fn place_of_grep_line(line: &str) -> Option<SourceRange> {
    let text = format!("{line}\n");
    let found = record::parse_grep_line(text.as_bytes())?;
    let FileLocation { path, member } = FileLocation::parse(OsStr::new(found.names));
    Some(SourceRange {
        path,
        member,
        start: found.start,
        end: None,
        raw: None,
    })
}

/// Returns `true` for a line that `search` prints below a place. A path with leading blanks looks
/// like one.
fn is_passage(line: &str) -> bool {
    line.starts_with("  ")
}

/// Returns `true` for an empty line, and for a line that `search` prints above or below a place.
/// The line above it is a date, or its replacement, and two spaces.
fn is_heading(line: &str) -> bool {
    let date = line.split("  ").next().unwrap_or_default();
    let is_date = date.len() == 10
        && date
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-');
    line.is_empty() || is_date || is_passage(line) || line.starts_with("(no date)")
}

fn bytes(place: &SourceRange) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let stream = stream(place)?;
    let Some(end) = place.end else {
        // The text of a record is at most that long, however long the line is.
        let mut line = BufReader::new(stream.take(Limits::default().url_bytes as u64));
        if line.read_until(b'\n', &mut bytes)? == 0 {
            return Err(io::Error::other(format!(
                "the file ends before byte {}: it is not the file that was scanned",
                place.start
            )));
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        return Ok(bytes);
    };
    let length = end - place.start;
    stream.take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Err(io::Error::other(format!(
            "the file ends before byte {end}: it is not the file that was scanned"
        )));
    }
    Ok(bytes)
}

/// Returns `true` if the bytes contain the visible characters of the record's text in order. Quote
/// marks, escapes and references may be in between.
fn has_raw(range: &SourceRange, bytes: &[u8]) -> bool {
    let mut bytes = bytes.iter();
    let raw = range.raw.as_deref().unwrap_or_default().bytes();
    let mut visible = raw.filter(u8::is_ascii_graphic);
    visible.all(|wanted| bytes.any(|byte| *byte == wanted))
}

/// Returns the decompressed bytes after the start of a place.
fn stream(range: &SourceRange) -> io::Result<Box<dyn Read>> {
    if walk::is_repository(&range.path) {
        let streams = repository_streams(&range.path, &range.member, &Limits::default())?;
        return member_from(streams, range);
    }
    let file = walk::WalkedFile::named(range.path.clone());
    let mut opened = read::open(&file)?;
    let mut start = Vec::new();
    (&mut opened)
        .take(MAGIC_BYTES as u64)
        .read_to_end(&mut start)?;
    if range.member.is_empty() && !read::is_container(&start) {
        opened.seek(SeekFrom::Start(range.start))?;
        return Ok(Box::new(opened));
    }
    let streams = Streams::new(
        Input::file(opened),
        file.source,
        FormatHint::None,
        &Limits::default(),
    );
    member_from(streams.with_outlook(), range)
}

/// Returns the bytes after the start of a place in a member.
fn member_from(streams: Streams, range: &SourceRange) -> io::Result<Box<dyn Read>> {
    let mut stream = open_member(streams, &range.member)
        .map_err(io::Error::other)?
        .stream;
    io::copy(&mut (&mut stream).take(range.start), &mut io::sink())?;
    Ok(stream)
}
