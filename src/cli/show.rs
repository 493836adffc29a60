//! `urlspool show`.

use std::io::{self, BufRead, Read, Seek, SeekFrom};

use super::args::ShowArgs;
use super::exit::Exit;
use super::{Failure, Outcome, location, print};
use crate::limits::{Limits, MAGIC_BYTES};
use crate::origin::FormatHint;
use crate::read::{self, Input, Streams};
use crate::record::{self, SourceRange};
use crate::walk;

pub(super) fn show(args: &ShowArgs) -> Outcome {
    let places = match &args.place {
        Some(text) => vec![written(text)?],
        None => from_records(io::stdin().lock())?,
    };
    let mut exit = Exit::Done;
    for place in &places {
        match bytes(place) {
            Ok(mut bytes) => {
                bytes.push(b'\n');
                print(&bytes)?;
            }
            Err(error) => {
                eprintln!(
                    "urlspool: {}: {error}",
                    super::terminal::harmless(&place.path.to_string_lossy())
                );
                exit = Exit::SomeFailed;
            }
        }
    }
    Ok(exit)
}

/// `PATH:START-END`, or `PATH!MEMBER!MEMBER:START-END`. A file whose name has a `!` is meant if it is there.
fn written(text: &str) -> Result<SourceRange, Failure> {
    let unclear = || {
        let form = "PATH:START-END, or PATH!MEMBER:START-END for a member of an archive";
        Failure::new(
            Exit::Usage,
            format!("{text:?} is no place; write it as {form}"),
        )
    };
    let (names, range) = text.rsplit_once(':').ok_or_else(unclear)?;
    let (start, end) = range.split_once('-').ok_or_else(unclear)?;
    let (Ok(start), Ok(end)) = (start.parse(), end.parse()) else {
        return Err(unclear());
    };
    if end < start {
        return Err(unclear());
    }
    let (path, member) = location::names(names);
    Ok(SourceRange {
        path,
        member,
        start,
        end,
    })
}

fn from_records(input: impl BufRead) -> Result<Vec<SourceRange>, Failure> {
    let mut places = Vec::new();
    for (number, line) in (1..).zip(input.lines()) {
        let failure = |message: String| {
            Failure::new(
                Exit::SomeFailed,
                format!("standard input, line {number}: {message}"),
            )
        };
        let line = line.map_err(|error| failure(error.to_string()))?;
        places.push(record::read_source_range(&line).map_err(failure)?);
    }
    Ok(places)
}

fn bytes(place: &SourceRange) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream(place)?
        .take(place.end - place.start)
        .read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < place.end - place.start {
        return Err(io::Error::other(format!(
            "ends before byte {}: it is not what was scanned",
            place.end
        )));
    }
    Ok(bytes)
}

/// The bytes from where a place starts.
fn stream(place: &SourceRange) -> io::Result<Box<dyn Read>> {
    let file = walk::WalkedFile::named(place.path.clone());
    let mut opened = read::open(&file)?;
    let mut start = Vec::new();
    (&mut opened)
        .take(MAGIC_BYTES as u64)
        .read_to_end(&mut start)?;
    if place.member.is_empty() && !read::is_container(&start) {
        opened.seek(SeekFrom::Start(place.start))?;
        return Ok(Box::new(opened));
    }
    let streams = Streams::new(
        Input::file(opened),
        file.source,
        FormatHint::None,
        &Limits::default(),
    );
    let (_, _, mut stream) = location::member(streams, &place.member)?;
    io::copy(&mut (&mut stream).take(place.start), &mut io::sink())?;
    Ok(stream)
}
