//! Results of a thread: batches of records, divided into chunks that count and report for themselves.

use std::collections::HashMap;

use super::input_step::{InputFailure, InputStep, StreamEnd, StreamExtent, StreamStorage};
use crate::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use crate::limits::RECORD_BUFFER_BYTES;
use crate::origin::Source;
use crate::read;
use crate::record::{Record, Summary};
use crate::walk::WalkedFile;

/// Result of a unit of work or of a part of one, ready to be written.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The records of all chunks.
    pub(super) records: BatchRecords,
    /// The chunks, in the order of the input.
    pub(super) chunks: Vec<Chunk>,
}

/// Records of a batch. Places in them are offsets in the lines, or indices of the values.
#[derive(Debug)]
pub(super) enum BatchRecords {
    /// Lines, as the format of the run has them.
    Lines(Vec<u8>),
    /// Values, and about the number of bytes that they take.
    Values { records: Vec<Record>, bytes: usize },
}

/// Position in the records of a batch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecordsMark {
    /// The place: an offset in the lines, or the number of values.
    pub(super) len: usize,
    /// Bytes of memory before it.
    pub(super) bytes: usize,
}

impl Default for BatchRecords {
    fn default() -> BatchRecords {
        BatchRecords::Lines(Vec::new())
    }
}

impl BatchRecords {
    /// The place after the last record: the length of the lines, or the number of values.
    pub(super) fn len(&self) -> usize {
        match self {
            BatchRecords::Lines(lines) => lines.len(),
            BatchRecords::Values { records, .. } => records.len(),
        }
    }

    /// About the number of bytes that the records take in memory.
    pub(super) fn bytes(&self) -> usize {
        match self {
            BatchRecords::Lines(lines) => lines.len(),
            BatchRecords::Values { bytes, .. } => *bytes,
        }
    }

    /// The position after the last record.
    pub(super) fn mark(&self) -> RecordsMark {
        RecordsMark {
            len: self.len(),
            bytes: self.bytes(),
        }
    }

    /// Removes the records after a position.
    pub(super) fn truncate(&mut self, mark: RecordsMark) {
        match self {
            BatchRecords::Lines(lines) => lines.truncate(mark.len),
            BatchRecords::Values { records, bytes } => {
                records.truncate(mark.len);
                *bytes = mark.bytes;
            }
        }
    }
}

impl Batch {
    /// Usual maximum number of bytes of a batch's records: a batch is handed in when a message begins after
    /// [`RECORD_BUFFER_BYTES`]. A message with more records is handed in in several batches of about this size.
    pub(super) const FULL_BYTES: usize = RECORD_BUFFER_BYTES + RECORD_BUFFER_BYTES / 8;
}

/// Result of one message, or of several that need not be distinguished.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    /// The news article that the chunk holds, if it has a Message-ID.
    pub(super) article: Option<ArticleChunk>,
    /// Length of the batch's records that belong to this chunk; they follow those of the chunks before it. Set when the
    /// chunk is complete.
    pub(super) records_len: usize,
    /// Keys of the chunk's records, for deduplication.
    pub(super) keys: Vec<KeyedRecord>,
    /// Occurrences of each URL that occurs more than once in the current message, by the hash of its key.
    pub(super) repeated: HashMap<u128, u64>,
    /// Rejected candidates, one per line, if they were asked for.
    pub(super) rejects: Vec<u8>,
    /// Events in the order in which they occurred.
    pub(super) events: Vec<Event>,
    /// Everything that was counted.
    pub(super) summary: Summary,
    /// The error of a byte range of the file that is being read: the file does not count as read to its end.
    pub(super) broken: Option<DiagnosticKind>,
    /// A file to be read in blocks after this chunk: its records may need more memory than a chunk should hold.
    pub(super) deferred: Option<WalkedFile>,
}

/// A news article, or a part of one, as deduplication needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArticleChunk {
    /// Hash that only copies of the article share.
    pub(super) hash: u128,
    /// Position in the article.
    pub(super) part: ArticlePart,
}

/// Position of a chunk in its article.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArticlePart {
    /// The chunk begins the article.
    Start,
    /// The chunk continues the article of the chunk before it.
    Continuation,
}

/// A record, as deduplication needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyedRecord {
    /// Hash of the URL's key.
    pub(super) key: u128,
    /// Offset in the chunk's lines at which the number of the URL's occurrences is inserted when the message ends; `None`
    /// if the format does not have it, or the record is a value.
    pub(super) count_at: Option<usize>,
    /// The place after it in the chunk's records.
    pub(super) end: usize,
    /// Its URL was taken out of another one, and is counted apart.
    pub(super) is_unwrapped: bool,
}

impl Chunk {
    /// Counts and reports a step through an input that holds no messages.
    pub(super) fn note_step(&mut self, step: InputStep) {
        match step {
            InputStep::Ended(end) => self.stream_ended(end),
            InputStep::Skipped { source, reason } => self.skipped(&source, reason),
            InputStep::ArchiveRead(source) => self.read_whole(&source),
            InputStep::ArchiveBroken { source, kind } => self.count_failure(&source, kind),
            InputStep::Failed(InputFailure { event, .. }) => self.failed(event),
            InputStep::Warning(event) => self.event(event),
            InputStep::Opened { .. } | InputStep::Block(_) | InputStep::Unread(_) => {}
        }
    }

    /// Counts and reports an event that changes nothing in what is read.
    pub(super) fn event(&mut self, event: Event) {
        self.summary.count_event(event.diagnostic.kind);
        self.events.push(event);
    }

    /// Counts and reports a source that could not be opened or read.
    pub(super) fn unreadable(&mut self, source: &Source, error: &std::io::Error) {
        self.failed(read::error_diagnostic(error, None).of(source));
    }

    /// Counts a source as not readable, and reports the event that says why.
    pub(super) fn failed(&mut self, event: Event) {
        self.count_failure(&event.source, event.diagnostic.kind);
        self.event(event);
    }

    /// Counts a source as read to its end.
    pub(super) fn read_whole(&mut self, source: &Source) {
        if source.member().is_empty() {
            self.summary.read_file();
        } else {
            self.summary.read_member();
        }
    }

    /// Counts a source as skipped, and reports it unless the reason is an expected one.
    pub(super) fn skipped(&mut self, source: &Source, reason: SkipReason) {
        let is_file = source.member().is_empty();
        if is_file {
            self.summary.skip_file(reason);
        } else {
            self.summary.skip_member(reason);
        }
        let is_expected = match reason {
            SkipReason::Empty
            | SkipReason::Filtered
            | SkipReason::HardLink
            | SkipReason::ControlFile
            | SkipReason::OwnOutput => true,
            // The target of a link in an archive may be missing from the archive.
            SkipReason::Symlink => is_file,
            _ => false,
        };
        if !is_expected {
            let message = format!("not read: {}", reason.name());
            self.event(Diagnostic::new(DiagnosticKind::Skip, message).of(source));
        }
    }

    /// Reports that a source ended at `end`, before the size that it had when it was opened.
    pub(super) fn shrunk(&mut self, source: &Source, end: u64) {
        let message = "the file ends here, and was longer when it was opened";
        self.event(Diagnostic::at(DiagnosticKind::Vanished, end, message).of(source));
    }

    fn stream_ended(&mut self, end: StreamEnd) {
        match end.error {
            Some(error) => {
                self.failed(read::error_diagnostic(&error, Some(end.reached)).of(&end.source));
            }
            None if end.extent == StreamExtent::Start => self.read_whole(&end.source),
            // The first part counts for the file.
            None => {}
        }
        if end.storage == StreamStorage::Unpacked {
            self.summary.bytes_unpacked += end.reached;
        }
    }

    /// Counts a source that an event reports as not readable.
    fn count_failure(&mut self, source: &Source, kind: DiagnosticKind) {
        match (kind, source.member().is_empty()) {
            (DiagnosticKind::Vanished, true) => self.summary.skip_file(SkipReason::Vanished),
            (kind, true) => self.summary.fail_file(kind),
            (kind, false) => self.summary.fail_member(kind),
        }
    }
}
