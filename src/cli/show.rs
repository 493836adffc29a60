//! `urlspool show`.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::path::PathBuf;

use super::args::Show;
use super::exit::Exit;
use super::{Failure, Outcome, print};
use crate::record::{Place, place};

pub(super) fn show(args: &Show) -> Outcome {
    let places = match &args.place {
        Some(text) => vec![written(text)?],
        None => from_records(io::stdin().lock())?,
    };
    let mut exit = Exit::Done;
    for place in &places {
        match octets(place) {
            Ok(mut octets) => {
                octets.push(b'\n');
                print(&octets)?;
            }
            Err(error) => {
                eprintln!("urlspool: {}: {error}", super::terminal::harmless(&place.path.to_string_lossy()));
                exit = Exit::SomeFailed;
            }
        }
    }
    Ok(exit)
}

/// `PATH:START-END`
fn written(text: &str) -> Result<Place, Failure> {
    let unclear = || Failure::new(Exit::Usage, format!("{text:?} is no place; write it as PATH:START-END"));
    let (path, range) = text.rsplit_once(':').ok_or_else(unclear)?;
    let (start, end) = range.split_once('-').ok_or_else(unclear)?;
    let (Ok(start), Ok(end)) = (start.parse(), end.parse()) else { return Err(unclear()) };
    if end < start {
        return Err(unclear());
    }
    Ok(Place { path: PathBuf::from(path), start, end })
}

fn from_records(input: impl BufRead) -> Result<Vec<Place>, Failure> {
    let mut places = Vec::new();
    for (number, line) in (1..).zip(input.lines()) {
        let failure =
            |message: String| Failure::new(Exit::SomeFailed, format!("standard input, line {number}: {message}"));
        let line = line.map_err(|error| failure(error.to_string()))?;
        places.push(place(&line).map_err(failure)?);
    }
    Ok(places)
}

fn octets(place: &Place) -> io::Result<Vec<u8>> {
    let mut file = File::open(&place.path)?;
    file.seek(SeekFrom::Start(place.start))?;
    let mut octets = Vec::new();
    file.take(place.end - place.start).read_to_end(&mut octets)?;
    if (octets.len() as u64) < place.end - place.start {
        return Err(io::Error::other(format!("ends before octet {}: it is not the file that was scanned", place.end)));
    }
    Ok(octets)
}
