//! The lines of an input: unpacked, counted, limited in length, hashed for segments, and parsed on
//! a thread of their own while rows are written.
//!
//! Parsing takes a third of the work of a load into `SQLite`, and needs nothing of the target.
//! Lines come in the order of the input, in batches over a channel of bounded length.

use std::hash::Hasher;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel, sync_channel};
use std::time::Duration;
use std::{fs, thread};

use twox_hash::XxHash3_64;

use super::input::LoadInput;
use super::target::LineTexts;
use crate::limits::{
    LOAD_BATCH_SECONDS, LOAD_LINE_BYTES, LOAD_PARSED_BATCHES, LOAD_PARSED_BYTES, Limits,
};
use crate::origin::{FormatHint, Source};
use crate::read::{Input, StreamStep, Streams};
use crate::record::{LineError, RecordLine, read_record_line};

/// The lines of an input that was read to its end.
#[derive(Debug)]
pub(super) struct LinesRead {
    /// Length in bytes of the lines, before compression.
    pub(super) len: u64,
    /// Their hash, as sidecars have it.
    pub(super) hash: String,
}

/// A line that is not blank.
#[derive(Debug)]
pub(super) struct ParsedLine {
    /// The number of the line, from 1.
    pub(super) number: u64,
    pub(super) content: Result<RecordLine, LineError>,
    /// The line, without its end; empty unless it was asked for.
    pub(super) json: Vec<u8>,
}

/// A message of the thread that parses. The last one has an end.
struct ParsedBatch {
    lines: Vec<ParsedLine>,
    end: Option<io::Result<LinesRead>>,
}

/// Reads an input on a thread, and gives its lines to `take`, in batches; `None` if no line came
/// for [`LOAD_BATCH_SECONDS`], because the input is a pipe whose writer is slow. If `take` fails,
/// the rest is not read. Returns the end, or the reason why the input cannot be read, or not to its
/// end.
///
/// Lines go back to the thread to be freed: memory is freed faster where it was allocated, and the
/// thread has time.
pub(super) fn each_batch<E>(
    input: &LoadInput,
    texts: LineTexts,
    mut take: impl FnMut(Option<&[ParsedLine]>) -> Result<(), E>,
) -> Result<io::Result<LinesRead>, E> {
    thread::scope(|scope| {
        // The receiver is dropped before the scope waits for the thread, which then ends.
        let (sender, receiver) = sync_channel::<ParsedBatch>(LOAD_PARSED_BATCHES);
        let (used_sender, used) = channel();
        // Lines that were loaded are at most `LOAD_PARSED_BATCHES` and two batches, since they are
        // freed whenever one is sent. It returns `false` if nobody takes the batch: the load has
        // failed already.
        let send = move |batch| {
            used.try_iter().for_each(drop::<Vec<ParsedLine>>);
            sender.send(batch).is_ok()
        };
        scope.spawn(move || parse_input(input, texts, &send));
        let wait = Duration::from_secs(LOAD_BATCH_SECONDS);
        loop {
            match receiver.recv_timeout(wait) {
                Ok(ParsedBatch { lines, end }) => {
                    take(Some(&lines))?;
                    // After its last batch the thread takes none back.
                    let _ = used_sender.send(lines);
                    if let Some(end) = end {
                        return Ok(end);
                    }
                }
                Err(RecvTimeoutError::Timeout) => take(None)?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Err(io::ErrorKind::UnexpectedEof.into()));
                }
            }
        }
    })
}

/// Reads and parses the lines, until `send` returns `false`.
fn parse_input(input: &LoadInput, texts: LineTexts, send: &dyn Fn(ParsedBatch) -> bool) {
    let opened = match input {
        LoadInput::Stdin => InputLines::of_stdin(),
        LoadInput::File(path) => InputLines::of_file(path),
        LoadInput::Segment(segment) => InputLines::of_file(&segment.path),
    };
    let mut lines = Vec::new();
    let end = opened.and_then(|mut input| {
        send_batches(&mut input, texts, send, &mut lines)?;
        Ok(LinesRead {
            len: input.len(),
            hash: input.hash(),
        })
    });
    let end = Some(end);
    send(ParsedBatch { lines, end });
}

/// Sends all lines but those of the last batch, which stay in `batch`.
fn send_batches(
    input: &mut InputLines,
    texts: LineTexts,
    send: &dyn Fn(ParsedBatch) -> bool,
    batch: &mut Vec<ParsedLine>,
) -> io::Result<()> {
    let (mut line, mut begin) = (Vec::new(), 0);
    loop {
        let content = match input.next(&mut line)? {
            NextLine::Line if line.iter().all(u8::is_ascii_whitespace) => continue,
            NextLine::Line => read_record_line(&line),
            NextLine::TooLong => Err(LineError::NoRecord(format!(
                "it is longer than {LOAD_LINE_BYTES} bytes"
            ))),
            NextLine::End => return Ok(()),
        };
        let json = match texts {
            LineTexts::Keep if content.is_ok() => line.clone(),
            _ => Vec::new(),
        };
        batch.push(ParsedLine {
            number: input.number(),
            content,
            json,
        });
        if input.is_drained() || begin + LOAD_PARSED_BYTES <= input.len() {
            begin = input.len();
            let lines = std::mem::take(batch);
            if !send(ParsedBatch { lines, end: None }) {
                return Ok(());
            }
        }
    }
}

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
        let read = self.read_line(line)?;
        if read == 0 {
            return Ok(NextLine::End);
        }
        self.number += 1;
        self.count(line);
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if read == LOAD_LINE_BYTES {
            self.skip_line(line)?;
            return Ok(NextLine::TooLong);
        }
        Ok(NextLine::Line)
    }

    /// Reads and drops the rest of a line.
    fn skip_line(&mut self, buffer: &mut Vec<u8>) -> io::Result<()> {
        loop {
            buffer.clear();
            let read = self.read_line(buffer)?;
            self.count(buffer);
            if read == 0 || buffer.last() == Some(&b'\n') {
                return Ok(());
            }
        }
    }

    /// Appends a line with its end to `line`, or its first [`LOAD_LINE_BYTES`] bytes. Returns the
    /// number of bytes.
    ///
    /// `BufRead::read_until` looks for the line end without vector instructions, for an eightieth
    /// of a load.
    fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<usize> {
        let mut read = 0;
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            let buffer = &buffer[..buffer.len().min(LOAD_LINE_BYTES - read)];
            let end = memchr::memchr(b'\n', buffer).map(|end| end + 1);
            let len = end.unwrap_or(buffer.len());
            line.extend_from_slice(&buffer[..len]);
            self.reader.consume(len);
            read += len;
            if end.is_some() || len == 0 {
                return Ok(read);
            }
        }
    }

    fn count(&mut self, bytes: &[u8]) {
        self.hash.write(bytes);
        self.len += bytes.len() as u64;
    }
}

/// Reads a file to its end. Returns the length and the hash of its lines, unpacked, as sidecars
/// have them.
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
