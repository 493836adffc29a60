//! The lines of an input: unpacked, counted, limited in length, hashed for segments, and parsed on a thread of their own while
//! rows are written.
//!
//! Parsing takes a third of the work of a load into `SQLite`, and needs nothing of the target. Lines come in the order of the input, in
//! batches over a channel of bounded length.

use std::hash::Hasher;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::time::Duration;
use std::{fs, thread};

use twox_hash::XxHash3_64;

use super::input::LoadInput;
use super::target::{InputLine, LineTexts, LoadRow};
use crate::limits::{
    LOAD_BATCH_SECONDS, LOAD_LINE_BYTES, LOAD_PARSED_BATCHES, LOAD_PARSED_BYTES, Limits,
};
use crate::origin::{FormatHint, Source};
use crate::read::{Input, StreamStep, Streams};
use crate::record::{LineError, LoadedRecord, RecordLine, read_record_line};

/// Lines, or their end.
#[derive(Debug)]
pub(super) enum ParsedInput<'l> {
    /// Lines that follow each other.
    Lines(&'l [ParsedLine]),
    /// No line came for [`LOAD_BATCH_SECONDS`]: the input is a pipe whose writer is slow.
    Idle,
    /// All lines were read.
    End(LinesRead),
    /// The input cannot be read, or not to its end.
    Failed(io::Error),
}

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
    pub(super) content: Result<ParsedRecord, LineError>,
    /// The line, without its end; empty unless it was asked for.
    pub(super) json: Vec<u8>,
}

impl ParsedLine {
    /// Returns the row of the record, if the line is one.
    pub(super) fn row<'l>(&'l self, input: &'l str) -> Option<LoadRow<'l>> {
        match &self.content {
            Ok(ParsedRecord::Url {
                record,
                source_key,
                record_key,
            }) => Some(LoadRow {
                record,
                source_key: *source_key,
                record_key: *record_key,
                line: InputLine {
                    input,
                    number: self.number,
                    json: &self.json,
                },
            }),
            _ => None,
        }
    }
}

/// The meaning of a line, with the keys of a record.
#[derive(Debug)]
pub(super) enum ParsedRecord {
    Url {
        record: Box<LoadedRecord>,
        source_key: u128,
        record_key: u128,
    },
    Other(RecordLine),
}

/// A message of the thread that parses. The last one has an end.
struct ParsedBatch {
    lines: Vec<ParsedLine>,
    end: Option<io::Result<LinesRead>>,
}

/// Reads an input on a thread, and gives its lines to `take`. If that fails, the rest is not read.
///
/// Lines go back to the thread to be freed: memory is freed faster where it was allocated, and the thread has time.
pub(super) fn each_parsed_input<E>(
    input: &LoadInput,
    texts: LineTexts,
    mut take: impl FnMut(ParsedInput<'_>) -> Result<(), E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        // The receiver is dropped before the scope waits for the thread, which then ends.
        let (sender, receiver): (_, Receiver<ParsedBatch>) = sync_channel(LOAD_PARSED_BATCHES);
        let (used_sender, used) = channel();
        scope.spawn(move || parse_input(input, texts, &ParsedLineSender { sender, used }));
        let wait = Duration::from_secs(LOAD_BATCH_SECONDS);
        loop {
            match receiver.recv_timeout(wait) {
                Ok(ParsedBatch { lines, end }) => {
                    take(ParsedInput::Lines(&lines))?;
                    // After its last batch the thread takes none back.
                    let _ = used_sender.send(lines);
                    match end {
                        None => {}
                        Some(Ok(read)) => take(ParsedInput::End(read))?,
                        Some(Err(error)) => take(ParsedInput::Failed(error))?,
                    }
                }
                Err(RecvTimeoutError::Timeout) => take(ParsedInput::Idle)?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    })
}

/// The channels of the thread that parses.
struct ParsedLineSender {
    sender: SyncSender<ParsedBatch>,
    /// Lines that were loaded: at most [`LOAD_PARSED_BATCHES`] and two batches, since they are freed whenever one is sent.
    used: Receiver<Vec<ParsedLine>>,
}

impl ParsedLineSender {
    /// Sends a batch. Returns `false` if nobody takes it: the load has failed already.
    fn send(&self, lines: Vec<ParsedLine>, end: Option<io::Result<LinesRead>>) -> bool {
        self.used.try_iter().for_each(drop);
        self.sender.send(ParsedBatch { lines, end }).is_ok()
    }
}

/// Reads and parses the lines, until the other side wants no more.
fn parse_input(input: &LoadInput, texts: LineTexts, sender: &ParsedLineSender) {
    let opened = match input {
        LoadInput::Stdin => InputLines::of_stdin(),
        LoadInput::File(path) => InputLines::of_file(path),
        LoadInput::Segment(segment) => InputLines::of_file(&segment.path),
    };
    let mut batch = Vec::new();
    let end = opened.and_then(|mut lines| {
        send_batches(&mut lines, texts, sender, &mut batch)?;
        Ok(LinesRead {
            len: lines.len(),
            hash: lines.hash(),
        })
    });
    sender.send(batch, Some(end));
}

/// Sends all lines but those of the last batch, which stay in `batch`.
fn send_batches(
    lines: &mut InputLines,
    texts: LineTexts,
    sender: &ParsedLineSender,
    batch: &mut Vec<ParsedLine>,
) -> io::Result<()> {
    let (mut line, mut begin) = (Vec::new(), 0);
    loop {
        let content = match lines.next(&mut line)? {
            NextLine::Line if line.iter().all(u8::is_ascii_whitespace) => continue,
            NextLine::Line => parse(&line),
            NextLine::TooLong => Err(too_long()),
            NextLine::End => return Ok(()),
        };
        let json = match texts {
            LineTexts::Keep if content.is_ok() => line.clone(),
            _ => Vec::new(),
        };
        batch.push(ParsedLine {
            number: lines.number(),
            content,
            json,
        });
        if lines.is_drained() || begin + LOAD_PARSED_BYTES <= lines.len() {
            begin = lines.len();
            if !sender.send(std::mem::take(batch), None) {
                return Ok(());
            }
        }
    }
}

fn parse(line: &[u8]) -> Result<ParsedRecord, LineError> {
    match read_record_line(line)? {
        RecordLine::Url(record) => {
            let source_key = record.source_key()?;
            Ok(ParsedRecord::Url {
                record_key: record.record_key(source_key),
                source_key,
                record,
            })
        }
        other => Ok(ParsedRecord::Other(other)),
    }
}

fn too_long() -> LineError {
    LineError::NoRecord(format!("it is longer than {LOAD_LINE_BYTES} bytes"))
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
