//! The lines of an input, read and parsed on a thread of their own, while rows are written.
//!
//! Parsing takes a third of the work of a load into `SQLite`, and needs nothing of the target. Lines come in the order of the input, in
//! batches over a channel of bounded length.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::input::LoadInput;
use super::lines::{InputLines, NextLine};
use crate::limits::{LOAD_BATCH_SECONDS, LOAD_LINE_BYTES, LOAD_PARSED_BATCHES, LOAD_PARSED_BYTES};
use crate::record::{LineError, RecordLine, UrlLine, read_record_line};

/// A line, or the end of the lines.
#[derive(Debug)]
pub(super) enum ParsedItem {
    Line(ParsedLine),
    /// No line came for [`LOAD_BATCH_SECONDS`]: the input is a pipe whose writer is slow.
    Idle,
    /// All lines were read.
    End {
        /// Length in bytes of the lines, before compression.
        len: u64,
        /// Their hash, as sidecars have it.
        hash: String,
    },
    /// The input cannot be read, or not to its end.
    Failed(io::Error),
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

/// Reads an input on a thread, and gives its lines to `take`. If that fails, the rest is not read.
pub(super) fn each_parsed_line<E>(
    input: &LoadInput,
    texts: LineTexts,
    mut take: impl FnMut(ParsedItem) -> Result<(), E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        // The receiver is dropped before the scope waits for the thread, which then ends.
        let (sender, receiver): (_, Receiver<Vec<ParsedItem>>) = sync_channel(LOAD_PARSED_BATCHES);
        scope.spawn(move || parse_input(input, texts, &sender));
        let wait = Duration::from_secs(LOAD_BATCH_SECONDS);
        loop {
            match receiver.recv_timeout(wait) {
                Ok(items) => items.into_iter().try_for_each(&mut take)?,
                Err(RecvTimeoutError::Timeout) => take(ParsedItem::Idle)?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    })
}

/// Reads and parses the lines, until the other side wants no more.
fn parse_input(input: &LoadInput, texts: LineTexts, sender: &SyncSender<Vec<ParsedItem>>) {
    let opened = match input {
        LoadInput::Stdin => InputLines::of_stdin(),
        LoadInput::File(path) => InputLines::of_file(path),
        LoadInput::Segment(segment) => InputLines::of_file(&segment.path),
    };
    let mut lines = match opened {
        Ok(lines) => lines,
        Err(error) => {
            let _ = sender.send(vec![ParsedItem::Failed(error)]);
            return;
        }
    };
    let (mut line, mut batch, mut begin) = (Vec::new(), Vec::new(), 0);
    loop {
        let content = match lines.next(&mut line) {
            Ok(NextLine::Line) if line.iter().all(u8::is_ascii_whitespace) => continue,
            Ok(NextLine::Line) => parse(&line),
            Ok(NextLine::TooLong) => Err(too_long()),
            Ok(NextLine::End) => {
                batch.push(ParsedItem::End {
                    len: lines.len(),
                    hash: lines.hash(),
                });
                break;
            }
            Err(error) => {
                batch.push(ParsedItem::Failed(error));
                break;
            }
        };
        let json = match texts {
            LineTexts::Keep if content.is_ok() => line.clone(),
            _ => Vec::new(),
        };
        batch.push(ParsedItem::Line(ParsedLine {
            number: lines.number(),
            content,
            json,
        }));
        if lines.is_drained() || begin + LOAD_PARSED_BYTES <= lines.len() {
            begin = lines.len();
            if sender.send(std::mem::take(&mut batch)).is_err() {
                return;
            }
        }
    }
    // If nobody takes them, the load has failed already.
    let _ = sender.send(batch);
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
    LineError::NoRecord(format!("it is longer than {LOAD_LINE_BYTES} bytes"))
}
