//! The lines of an input, read and parsed on a thread of their own, while rows are written.
//!
//! Parsing takes a third of the work of a load into `SQLite`, and needs nothing of the target. Lines come in the order of the input, in
//! batches over a channel of bounded length.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use super::input::LoadInput;
use super::lines::{InputLines, NextLine};
use super::target::{InputLine, LoadRow};
use crate::limits::{LOAD_BATCH_SECONDS, LOAD_LINE_BYTES, LOAD_PARSED_BATCHES, LOAD_PARSED_BYTES};
use crate::record::{LineError, LineFault, RecordLine, UrlLine, read_record_line};

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
        record: Box<UrlLine>,
        source_key: u128,
        record_key: u128,
    },
    Other(RecordLine),
}

/// Texts of lines that a thread hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineTexts {
    Keep,
    Drop,
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
            let source_key = record.source.source_key()?;
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
    LineError::NoRecord(LineFault::TooLong {
        max_bytes: LOAD_LINE_BYTES,
    })
}
