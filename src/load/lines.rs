//! Lines of an input: unpacked, counted, limited in length, and hashed for segments.

use std::fs;
use std::hash::Hasher;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use twox_hash::XxHash3_64;

use crate::limits::{LOAD_LINE_BYTES, Limits};
use crate::origin::{FormatHint, Source};
use crate::read::{Input, StreamStep, Streams};

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 << 10;

/// The lines of one input.
pub(super) struct InputLines {
    reader: BufReader<Box<dyn Read>>,
    hash: XxHash3_64,
    len: u64,
    number: u64,
}

/// The next line, or its lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextLine {
    /// A line stands in the buffer, without its end.
    Line,
    /// A line longer than the limit was skipped.
    TooLong,
    /// There are no more lines.
    End,
}

impl InputLines {
    /// The lines of standard input.
    pub(super) fn of_stdin() -> io::Result<InputLines> {
        unpacked(
            Input::stream(io::stdin().lock()),
            Path::new("standard input"),
        )
    }

    /// The lines of a file, unpacked if it is compressed.
    pub(super) fn of_file(path: &Path) -> io::Result<InputLines> {
        let file = fs::File::open(path)?;
        let is_regular = file.metadata()?.is_file();
        let input = if is_regular {
            Input::file(file)
        } else {
            Input::stream(file)
        };
        unpacked(input, path)
    }

    /// The number of the last line, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The number of bytes that were read.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The hash of the bytes that were read, as sidecars have it.
    pub(super) fn hash(&self) -> String {
        format!("{:016x}", self.hash.finish())
    }

    /// Returns `true` if the next line has to be read, which may take long.
    pub(super) fn is_drained(&self) -> bool {
        self.reader.buffer().is_empty()
    }

    /// Reads the next line into `line`.
    pub(super) fn next(&mut self, line: &mut Vec<u8>) -> io::Result<NextLine> {
        line.clear();
        let max = LOAD_LINE_BYTES as u64;
        let read = (&mut self.reader).take(max).read_until(b'\n', line)?;
        if read == 0 {
            return Ok(NextLine::End);
        }
        self.number += 1;
        self.count(line);
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if read as u64 == max {
            self.skip_line(line)?;
            return Ok(NextLine::TooLong);
        }
        Ok(NextLine::Line)
    }

    /// Reads and drops the rest of a line.
    fn skip_line(&mut self, buffer: &mut Vec<u8>) -> io::Result<()> {
        loop {
            buffer.clear();
            let max = LOAD_LINE_BYTES as u64;
            let read = (&mut self.reader).take(max).read_until(b'\n', buffer)?;
            self.count(buffer);
            if read == 0 || buffer.last() == Some(&b'\n') {
                return Ok(());
            }
        }
    }

    fn count(&mut self, bytes: &[u8]) {
        self.hash.write(bytes);
        self.len += bytes.len() as u64;
    }
}

/// Reads a file to its end. Returns the length and the hash of its lines, unpacked, as sidecars have them.
pub(super) fn len_and_hash(path: &Path) -> io::Result<(u64, String)> {
    let mut lines = InputLines::of_file(path)?;
    let mut line = Vec::new();
    while lines.next(&mut line)? != NextLine::End {}
    Ok((lines.len(), lines.hash()))
}

/// The lines of an input that may be compressed. An archive is none.
fn unpacked(input: Input, path: &Path) -> io::Result<InputLines> {
    // The records of one message repeat its header: they are compressed better than any mail.
    let limits = Limits {
        unpack_ratio: usize::MAX,
        ..Limits::default()
    };
    let source = Source::at(path.to_owned());
    let mut steps = Streams::new(input, source, FormatHint::None, &limits);
    match steps.next() {
        Some(StreamStep::Stream { source, stream, .. }) if source.member().is_empty() => {
            Ok(InputLines {
                reader: BufReader::with_capacity(BUFFER_BYTES, Box::new(stream)),
                hash: XxHash3_64::new(),
                len: 0,
                number: 0,
            })
        }
        _ => Err(io::Error::other("is an archive; unpack it first")),
    }
}
