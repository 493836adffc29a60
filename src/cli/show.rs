//! `urlspool show`.

use std::io::{self, BufRead, Read, Seek, SeekFrom};

use super::args::ShowArgs;
use super::error::{CommandError, CommandResult};
use super::exit::Exit;
use super::location::{FileLocation, open_member};
use super::stdout::print;
use super::terminal::escaped;
use crate::limits::{Limits, MAGIC_BYTES};
use crate::origin::FormatHint;
use crate::read::{self, Input, Streams};
use crate::record::{self, SourceRange};
use crate::walk;

pub(super) fn show(args: &ShowArgs) -> CommandResult {
    let ranges = match &args.place {
        Some(text) => vec![parse_range(text)?],
        None => ranges_of_records(io::stdin().lock())?,
    };
    let mut exit = Exit::Done;
    for range in &ranges {
        match bytes(range) {
            Ok(mut bytes) => {
                bytes.push(b'\n');
                print(&bytes)?;
            }
            Err(error) => {
                let path = range.path.to_string_lossy();
                eprintln!("urlspool: cannot show {}: {error}", escaped(&path));
                exit = Exit::SomeFailed;
            }
        }
    }
    Ok(exit)
}

/// Parses `PATH:START-END` or `PATH!MEMBER!MEMBER:START-END`, as [`FileLocation::parse`] does.
fn parse_range(text: &str) -> Result<SourceRange, CommandError> {
    let range = || {
        let (names, range) = text.rsplit_once(':')?;
        let (start, end) = range.split_once('-')?;
        let (start, end) = (start.parse().ok()?, end.parse().ok()?);
        let FileLocation { path, member } = FileLocation::parse(names);
        (start <= end).then_some(SourceRange {
            path,
            member,
            start,
            end,
        })
    };
    range().ok_or_else(|| {
        let form = "PATH:START-END, or PATH!MEMBER:START-END for a member of an archive";
        CommandError::new(
            Exit::Usage,
            format!("{text:?} is not a place; write it as {form}"),
        )
    })
}

/// Reads the ranges of the records in `input`.
fn ranges_of_records(input: impl BufRead) -> Result<Vec<SourceRange>, CommandError> {
    let mut ranges = Vec::new();
    for (number, line) in (1..).zip(input.lines()) {
        let failed = |message: String| {
            let message = format!("standard input, line {number}: {message}");
            CommandError::new(Exit::SomeFailed, message)
        };
        let line = line.map_err(|error| failed(error.to_string()))?;
        let range = record::read_source_range(&line);
        ranges.push(range.map_err(|error| failed(error.to_string()))?);
    }
    Ok(ranges)
}

/// The bytes of a range.
fn bytes(range: &SourceRange) -> io::Result<Vec<u8>> {
    let length = range.end - range.start;
    let mut bytes = Vec::new();
    stream(range)?.take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Err(io::Error::other(format!(
            "the file ends before byte {}: it is not the file that was scanned",
            range.end
        )));
    }
    Ok(bytes)
}

/// The bytes from the start of a range on, unpacked.
fn stream(range: &SourceRange) -> io::Result<Box<dyn Read>> {
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
    let mut stream = open_member(streams, &range.member)
        .map_err(io::Error::other)?
        .stream;
    io::copy(&mut (&mut stream).take(range.start), &mut io::sink())?;
    Ok(stream)
}
