//! Lines of an input. A separate thread decompresses, counts and parses them, with a length limit,
//! while rows are written. Records of a scan in the same process arrive the same way, without being
//! written as lines.
//!
//! Parsing takes a third of the time of a load into `SQLite` and does not depend on the target.
//! Lines arrive in input order, in batches over a bounded channel: a thread that is faster than the
//! load waits, which bounds memory.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::input::BUFFER_BYTES;
use super::removal::ScannedFiles;
use super::target::LineTexts;
use urlspool_record::record::{
    LineError, LoadedRecord, Record, RecordLine, json_line, read_record_line,
};
use urlspool_text::limits::{
    LOAD_BATCH_SECONDS, LOAD_LINE_BYTES, LOAD_PARSED_BATCHES, LOAD_PARSED_BYTES,
};

/// A line that is not blank.
#[derive(Debug)]
pub(super) struct ParsedLine {
    /// Line number, starting at 1.
    pub(super) number: u64,
    pub(super) content: Result<RecordLine, LineError>,
    /// The line without its terminator; empty unless requested.
    pub(super) json: Vec<u8>,
}

/// Message from the thread that produces lines.
#[derive(Debug)]
pub(super) enum LineStep<E> {
    Lines(Vec<ParsedLine>),
    End(E),
}

/// Passes all lines to `take` in batches, and `None` if no line arrived within
/// [`LOAD_BATCH_SECONDS`]. If `take` fails, the rest is not read. Returns the end message, or
/// `None` if the thread failed and lines are missing.
pub(super) fn each_step<E, F>(
    steps: &Receiver<LineStep<E>>,
    mut take: impl FnMut(Option<&[ParsedLine]>) -> Result<(), F>,
) -> Result<Option<E>, F> {
    loop {
        match steps.recv_timeout(Duration::from_secs(LOAD_BATCH_SECONDS)) {
            Ok(LineStep::Lines(lines)) => take(Some(&lines))?,
            Ok(LineStep::End(end)) => return Ok(Some(end)),
            Err(RecvTimeoutError::Timeout) => take(None)?,
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

/// Sends the records of a scan to a load in the same process.
#[derive(Debug)]
pub struct RecordFeed {
    steps: SyncSender<LineStep<ScannedFiles>>,
    texts: LineTexts,
    /// Number of records sent so far.
    number: u64,
}

/// Creates a feed, which keeps the text of each line if the target needs it.
pub(super) fn record_feed(texts: LineTexts) -> (RecordFeed, Receiver<LineStep<ScannedFiles>>) {
    let (steps, received) = sync_channel(LOAD_PARSED_BATCHES);
    let number = 0;
    let feed = RecordFeed {
        steps,
        texts,
        number,
    };
    (feed, received)
}

impl RecordFeed {
    /// Sends records. They must have at least the fields that are loaded. Returns `false` if the
    /// load has failed and the scan can stop.
    pub fn put(&mut self, records: &[Record]) -> bool {
        let rows = records.iter().map(|record| self.row(record)).collect();
        self.steps.send(LineStep::Lines(rows)).is_ok()
    }

    fn row(&mut self, record: &Record) -> ParsedLine {
        self.number += 1;
        ParsedLine {
            number: self.number,
            content: Ok(RecordLine::Url(Box::new(LoadedRecord::from(record)))),
            json: match self.texts {
                LineTexts::Keep => json_line(record).trim_ascii_end().to_vec(),
                LineTexts::Drop => Vec::new(),
            },
        }
    }

    /// Ends the feed after a complete scan. Without this call, no further rows are committed.
    pub fn end(self, files: ScannedFiles) {
        // If the load has failed, the receiver is gone.
        let _ = self.steps.send(LineStep::End(files));
    }
}

/// Reads an input on a thread and passes its lines to `take`, as [`each_step`] does; the writer of
/// a pipe may be slow. Returns the error if the input could not be read to the end.
pub(super) fn each_batch<E>(
    open: impl FnOnce() -> io::Result<Box<dyn Read>> + Send,
    texts: LineTexts,
    take: impl FnMut(Option<&[ParsedLine]>) -> Result<(), E>,
) -> Result<io::Result<()>, E> {
    thread::scope(|scope| {
        // The receiver is dropped before the scope joins the thread. The thread's next send then
        // fails and it ends.
        let (sender, steps) = sync_channel(LOAD_PARSED_BATCHES);
        scope.spawn(move || {
            let end = open().and_then(|input| InputLines::of(input).send_all(texts, &sender));
            let _ = sender.send(LineStep::End(end));
        });
        let end = each_step(&steps, take)?;
        Ok(end.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into())))
    })
}

/// The lines of one input.
struct InputLines {
    reader: BufReader<Box<dyn Read>>,
    /// Number of bytes read.
    len: u64,
    /// Number of the last line, starting at 1.
    number: u64,
    /// The last line, without its terminator.
    line: Vec<u8>,
}

impl InputLines {
    fn of(reader: Box<dyn Read>) -> InputLines {
        InputLines {
            reader: BufReader::with_capacity(BUFFER_BYTES, reader),
            len: 0,
            number: 0,
            line: Vec::new(),
        }
    }

    /// Sends all lines, or stops when the load has failed.
    fn send_all<E>(&mut self, texts: LineTexts, to: &SyncSender<LineStep<E>>) -> io::Result<()> {
        let (mut batch, mut begin) = (Vec::new(), 0);
        loop {
            let content = match self.next() {
                Ok(Some(content)) => content,
                // Lines read before an error are loaded.
                end => {
                    let _ = to.send(LineStep::Lines(batch));
                    return end.map(drop);
                }
            };
            let json = match texts {
                LineTexts::Keep if content.is_ok() => self.line.clone(),
                _ => Vec::new(),
            };
            let number = self.number;
            batch.push(ParsedLine {
                number,
                content,
                json,
            });
            // Reading the next line may block for a long time.
            let is_drained = self.reader.buffer().is_empty();
            if is_drained || begin + LOAD_PARSED_BYTES <= self.len {
                begin = self.len;
                let lines = LineStep::Lines(std::mem::take(&mut batch));
                if to.send(lines).is_err() {
                    return Ok(());
                }
            }
        }
    }

    /// Reads and parses the next line that is not blank; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Result<RecordLine, LineError>>> {
        loop {
            let read = self.read_line()?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.line.last() == Some(&b'\n') {
                self.line.pop();
            } else if read == LOAD_LINE_BYTES {
                while 0 < self.read_line()? && self.line.last() != Some(&b'\n') {}
                let reason = format!("it is longer than {LOAD_LINE_BYTES} bytes");
                return Ok(Some(Err(LineError::NoRecord(reason))));
            }
            if !self.line.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(read_record_line(&self.line)));
            }
        }
    }

    /// Reads a line with its terminator, or its first [`LOAD_LINE_BYTES`] bytes. Returns the number
    /// of bytes.
    fn read_line(&mut self) -> io::Result<usize> {
        self.line.clear();
        let mut reader = (&mut self.reader).take(LOAD_LINE_BYTES as u64);
        let read = reader.read_until(b'\n', &mut self.line)?;
        self.len += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlspool_files::scan::scan;

    #[test]
    fn a_record_and_its_line_have_the_same_values() {
        let folders = [
            "../../corpus/mail",
            "../../corpus/news",
            "../../corpus/containers",
        ];
        let mut compared = 0;
        for record in scan(folders).run().unwrap() {
            let RecordLine::Url(read) = read_record_line(&json_line(&record)).unwrap() else {
                panic!("a record is a URL");
            };
            assert_eq!(LoadedRecord::from(&record), *read);
            compared += 1;
        }
        assert!(500 < compared, "{compared} records");
    }
}
