//! Batches of records, divided into chunks with their own counts and events. The builder encodes
//! and counts findings, and hands in batches before they grow large.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::messages::{InputFailure, InputStep};
use super::summary::CountedUrl;
use super::{Job, Summary};
use urlspool_record::extract::{Finding, Unique, key_hash};
use urlspool_record::record::{
    self, FoundRecord, LineFormat, MessageTail, Occurrences, Record, RecordWriter,
};
use urlspool_sources::read;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use urlspool_text::limits::{COUNTED_RECORDS_BYTES, QUEUED_BATCHES, RECORD_BUFFER_BYTES};
use urlspool_text::origin::Source;

/// Receiver of batches, in order. Returns `false` once the run has ended.
pub(super) type HandIn<'h> = dyn FnMut(Batch) -> bool + 'h;

/// Builder of the batches of one unit of work.
pub(super) struct BatchBuilder<'w> {
    job: &'w Job,
    unique: Unique,
    pool: &'w LinePool,
    pub(super) scratch: &'w mut Scratch,
    batch: Batch,
    /// Counts of the current message. They are added to a chunk's summary when the message has been
    /// read completely, or is handed in partially.
    message_summary: Summary,
    /// Occurrences in the current message, with [`Unique::Message`].
    occurrences: Occurrences,
    /// Sizes at the start of the current message.
    mark: Mark,
    /// Offset of the last chunk's records in those of the batch.
    chunk_start: usize,
    /// Size of the rejected candidates in all chunks but the last one.
    earlier_reject_bytes: usize,
    /// The last chunk contains no part of a message yet, only counts of files at most.
    is_fresh: bool,
    hand_in: &'w mut HandIn<'w>,
}

/// Sizes of the batch's records and of the last chunk at the start of a message.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// The end of the records: an offset in the lines, or the number of values.
    records_len: usize,
    /// Memory used by the records, in bytes.
    record_bytes: usize,
    keys: usize,
    reject_bytes: usize,
    events: usize,
}

impl<'w> BatchBuilder<'w> {
    pub(super) fn new(
        job: &'w Job,
        unique: Unique,
        pool: &'w LinePool,
        scratch: &'w mut Scratch,
        hand_in: &'w mut HandIn<'w>,
    ) -> BatchBuilder<'w> {
        BatchBuilder {
            job,
            unique,
            pool,
            scratch,
            batch: Batch::default(),
            message_summary: Summary::default(),
            occurrences: Occurrences::default(),
            mark: Mark::default(),
            chunk_start: 0,
            earlier_reject_bytes: 0,
            is_fresh: true,
            hand_in,
        }
    }

    /// Reserves space for `chunks` more chunks.
    pub(super) fn reserve_chunks(&mut self, chunks: usize) {
        self.batch.chunks.reserve(chunks);
    }

    /// Hands in the rest.
    pub(super) fn finish(mut self) {
        self.flush();
    }

    /// The chunk being filled.
    pub(super) fn chunk(&mut self) -> &mut Chunk {
        if self.batch.chunks.is_empty() {
            self.batch.chunks.push(Chunk::default());
        }
        self.batch.chunks.last_mut().expect("there is one now")
    }

    /// Completes the last chunk and continues with `chunk`.
    pub(super) fn next_chunk(&mut self, chunk: Chunk) {
        self.complete_chunk();
        self.batch.chunks.push(chunk);
        self.is_fresh = true;
    }

    /// Continues with a separate chunk for a news article. The chunk may already contain the counts
    /// of the article's file, which also apply to copies of the article.
    pub(super) fn begin_article(&mut self, article: Option<ArticleChunk>) {
        if !self.is_fresh {
            self.next_chunk(Chunk::default());
        }
        self.chunk().article = article;
    }

    /// Starts a message. Hands in the earlier messages if they are large.
    pub(super) fn begin_message(&mut self) {
        let reject_bytes = self.earlier_reject_bytes + self.chunk().rejects.len();
        if self.batch.records.bytes() + reject_bytes > RECORD_BUFFER_BYTES {
            self.hand_in_earlier_messages();
        }
        self.is_fresh = false;
        let (records_len, record_bytes) = (self.batch.records.len(), self.batch.records.bytes());
        let chunk = self.chunk();
        self.mark = Mark {
            records_len,
            record_bytes,
            keys: chunk.keys.len(),
            reject_bytes: chunk.rejects.len(),
            events: chunk.events.len(),
        };
        self.scratch.writer.begin(MessageTail::Complete);
    }

    /// Encodes and counts a finding of the current message in `source`.
    pub(super) fn add(&mut self, finding: Finding<'_>, source: &Source) {
        let summary = &mut self.message_summary;
        match finding {
            Finding::Url(record) => {
                summary.candidates += 1;
                summary.records += 1;
                self.add_record(record);
            }
            Finding::Filtered {
                filter,
                is_unwrapped,
            } => {
                summary.count_place(is_unwrapped);
                summary.count_filtered(filter);
            }
            Finding::Duplicate { key, is_unwrapped } => {
                summary.count_place(is_unwrapped);
                summary.duplicates += 1;
                self.occurrences.repeat(key);
            }
            Finding::Unwrapped(record) => {
                summary.records += 1;
                summary.unwrapped += 1;
                self.add_record(record);
            }
            Finding::Reject {
                reason,
                text,
                origin,
            } => {
                summary.candidates += 1;
                summary.count_reject(reason);
                if self.job.rejects {
                    record::write_reject(text, reason, &origin, &mut self.chunk().rejects);
                }
            }
            Finding::Diagnostic(diagnostic) => {
                summary.count_event(diagnostic.kind);
                self.chunk().events.push(diagnostic.of(source));
            }
            Finding::Large => {
                self.wait_for_turn();
            }
            Finding::Parts { text, skipped } => {
                summary.parts_text += text as u64;
                summary.skip_parts(skipped);
            }
        }
        self.hand_in_large_message();
    }

    /// Counts the current message as scanned. Of a message's fragments, only the first one counts.
    pub(super) fn count_message(&mut self) {
        self.message_summary.messages += 1;
        self.message_summary.messages_scanned += 1;
    }

    /// Waits until all earlier units are written. Returns `false` if the run has ended.
    pub(super) fn wait_for_turn(&mut self) -> bool {
        // The line holds one batch. The next one fits once the first was taken, at its turn.
        (0..=QUEUED_BATCHES).all(|_| (self.hand_in)(Batch::default()))
    }

    /// Ends the current message.
    pub(super) fn end_message(&mut self) {
        self.chunk();
        self.set_counts();
        if let Some(chunk) = self.batch.chunks.last_mut() {
            chunk.summary.absorb(&mut self.message_summary);
        }
    }

    /// Discards the current message.
    pub(super) fn discard_message(&mut self) {
        self.message_summary = Summary::default();
        let mark = std::mem::take(&mut self.mark);
        self.batch
            .records
            .truncate(mark.records_len, mark.record_bytes);
        let chunk = self.chunk();
        chunk.keys.truncate(mark.keys);
        chunk.rejects.truncate(mark.reject_bytes);
        chunk.events.truncate(mark.events);
        self.occurrences = Occurrences::default();
    }

    /// Appends a record as a line or as a value.
    fn add_record(&mut self, record: &FoundRecord<'_>) {
        if self.batch.records.len() == 0 {
            self.batch.records = match self.job.line_format.values() {
                Some(_) => BatchRecords::Values {
                    records: Vec::new(),
                    bytes: 0,
                },
                None => BatchRecords::Lines(self.pool.take_lines()),
            };
        }
        let writer = &mut self.scratch.writer;
        let place = match &mut self.batch.records {
            BatchRecords::Lines(lines) => writer.write(record, lines),
            BatchRecords::Values { records, bytes } => {
                let value = writer.record(record);
                *bytes += value.bytes();
                records.push(value);
                Some(records.len() - 1)
            }
        };
        let url = CountedUrl::of(record);
        if self.unique == Unique::Run {
            let key = key_hash(record.found);
            let end = self.batch.records.len() - self.chunk_start;
            self.chunk().keys.push(KeyedRecord { key, end, url });
            return;
        }
        self.message_summary.count_url(&url);
        if let (Unique::Message, Some(place)) = (self.unique, place) {
            self.occurrences.add(key_hash(record.found), place);
        }
    }

    /// Sets the number of occurrences in the message's records whose URLs are repeated.
    fn set_counts(&mut self) {
        let counts = self.occurrences.take();
        match &mut self.batch.records {
            BatchRecords::Values { records, .. } => {
                for (at, count) in counts {
                    records[at].set_count(count);
                }
            }
            BatchRecords::Lines(lines) => self.job.line_format.set_counts(lines, counts),
        }
    }

    /// Hands in the current message so far, if it alone has many records. Their counts cover the
    /// occurrences so far.
    fn hand_in_large_message(&mut self) {
        let mark = self.mark;
        let reject_bytes = self.chunk().rejects.len() - mark.reject_bytes;
        let message_bytes = self.batch.records.bytes() - mark.record_bytes + reject_bytes;
        let most = match self.unique {
            Unique::None | Unique::Run => RECORD_BUFFER_BYTES,
            Unique::Message => COUNTED_RECORDS_BYTES,
        };
        if most < message_bytes {
            self.end_message();
            let rest = Chunk {
                article: self.chunk().article.map(|article| ArticleChunk {
                    is_continuation: true,
                    ..article
                }),
                ..Chunk::default()
            };
            self.flush();
            self.next_chunk(rest);
            self.is_fresh = false;
            self.mark = Mark::default();
        }
    }

    /// Hands in the messages before the current one, and keeps the chunk created for it.
    fn hand_in_earlier_messages(&mut self) {
        let has_no_records = self.chunk_start == self.batch.records.len();
        let is_own = |chunk: &mut Chunk| {
            chunk.article.is_some() && has_no_records && chunk.rejects.is_empty()
        };
        match self.batch.chunks.pop_if(is_own) {
            Some(own) => {
                // The earlier chunks are complete.
                self.hand_in();
                self.next_chunk(own);
            }
            None => {
                self.flush();
                self.next_chunk(Chunk::default());
            }
        }
    }

    /// Completes the last chunk, which owns all records since its start.
    fn complete_chunk(&mut self) {
        let Some(last) = self.batch.chunks.last_mut() else {
            return;
        };
        last.records_len = self.batch.records.len() - self.chunk_start;
        self.chunk_start = self.batch.records.len();
        self.earlier_reject_bytes += last.rejects.len();
    }

    /// Hands in all chunks.
    fn flush(&mut self) {
        self.complete_chunk();
        self.hand_in();
    }

    /// Hands in the chunks, which are complete.
    fn hand_in(&mut self) {
        if !self.batch.chunks.is_empty() {
            (self.chunk_start, self.earlier_reject_bytes, self.is_fresh) = (0, 0, true);
            (self.hand_in)(std::mem::take(&mut self.batch));
        }
    }
}

/// Result of a unit of work, or of a part of it, ready to be written.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// The records of all chunks.
    pub(super) records: BatchRecords,
    /// The chunks, in the order of the input.
    pub(super) chunks: Vec<Chunk>,
}

/// Records of a batch. Positions are offsets in the lines, or indices of the values.
#[derive(Debug)]
pub(super) enum BatchRecords {
    /// Lines in the format of the run.
    Lines(Vec<u8>),
    /// Values, and their approximate size in bytes.
    Values { records: Vec<Record>, bytes: usize },
}

impl Default for BatchRecords {
    fn default() -> BatchRecords {
        BatchRecords::Lines(Vec::new())
    }
}

impl BatchRecords {
    /// The end of the records: the length of the lines, or the number of values.
    pub(super) fn len(&self) -> usize {
        match self {
            BatchRecords::Lines(lines) => lines.len(),
            BatchRecords::Values { records, .. } => records.len(),
        }
    }

    /// Approximate memory used by the records, in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            BatchRecords::Lines(lines) => lines.len(),
            BatchRecords::Values { bytes, .. } => *bytes,
        }
    }

    /// Removes the records after position `len`. The remaining records take `bytes_before` bytes.
    fn truncate(&mut self, len: usize, bytes_before: usize) {
        match self {
            BatchRecords::Lines(lines) => lines.truncate(len),
            BatchRecords::Values { records, bytes } => {
                records.truncate(len);
                *bytes = bytes_before;
            }
        }
    }
}

impl Batch {
    /// Usual maximum size of a batch's records: a batch is handed in when a message starts after
    /// [`RECORD_BUFFER_BYTES`]. A message with more records is handed in as several batches of
    /// about this size.
    pub(super) const FULL_BYTES: usize = RECORD_BUFFER_BYTES + RECORD_BUFFER_BYTES / 8;
}

/// Result of one message, or of several that need not be distinguished.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    /// The news article in the chunk, if it has a Message-ID.
    pub(super) article: Option<ArticleChunk>,
    /// Length of the batch's records in this chunk; they follow those of earlier chunks. Set when
    /// the chunk is complete.
    pub(super) records_len: usize,
    /// Keys of the chunk's records, with [`Unique::Run`].
    pub(super) keys: Vec<KeyedRecord>,
    /// Rejected candidates, one per line, if requested.
    pub(super) rejects: Vec<u8>,
    /// Events in order of occurrence.
    pub(super) events: Vec<Event>,
    /// All counts.
    pub(super) summary: Summary,
    /// Paths of the files that count as read or are empty.
    pub(super) read_files: Vec<Arc<Path>>,
    /// The error of a byte range of the current file. Such a file does not count as read
    /// completely.
    pub(super) broken: Option<DiagnosticKind>,
}

/// Data about a news article, or a part of one, for deduplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArticleChunk {
    /// Hash that only copies of the article share.
    pub(super) hash: u128,
    /// `true` if the chunk continues the article of the previous chunk.
    pub(super) is_continuation: bool,
}

/// Data about a record for deduplication.
#[derive(Debug)]
pub(super) struct KeyedRecord {
    /// Hash of the URL's key.
    pub(super) key: u128,
    /// The end of the record in the chunk's records.
    pub(super) end: usize,
    /// Attributes of the URL, counted if the record is kept.
    pub(super) url: CountedUrl,
}

impl Chunk {
    /// Counts and reports a step without messages.
    pub(super) fn note_step(&mut self, step: InputStep) {
        match step {
            InputStep::Ended(end) => {
                match end.error {
                    Some(error) => {
                        let event = read::error_diagnostic(&error, Some(end.reached));
                        self.failed(event.of(&end.source));
                    }
                    // Only the first part of a file is counted.
                    None if end.is_further_part => {}
                    None => self.read_whole(&end.source),
                }
                if end.is_unpacked {
                    self.summary.bytes_unpacked += end.reached;
                }
            }
            InputStep::Skipped { source, reason } => self.skipped(&source, reason),
            InputStep::ArchiveRead(source) => self.read_whole(&source),
            InputStep::ArchiveBroken { source, kind } => self.count_failure(&source, kind),
            InputStep::Failed(InputFailure { event, .. }) => self.failed(event),
            InputStep::Warning(event) => self.event(event),
            InputStep::Opened { .. }
            | InputStep::Block(_)
            | InputStep::Unread(_)
            | InputStep::Waiting => {}
        }
    }

    /// Counts and reports an event that does not change how much is read.
    pub(super) fn event(&mut self, event: Event) {
        self.summary.count_event(event.diagnostic.kind);
        self.events.push(event);
    }

    /// Counts and reports a source that could not be opened or read.
    pub(super) fn unreadable(&mut self, source: &Source, error: &std::io::Error) {
        self.failed(read::error_diagnostic(error, None).of(source));
    }

    /// Counts a source as unreadable, and reports the event with the reason.
    pub(super) fn failed(&mut self, event: Event) {
        self.count_failure(&event.source, event.diagnostic.kind);
        self.event(event);
    }

    /// Counts a source as read completely.
    pub(super) fn read_whole(&mut self, source: &Source) {
        if source.member().is_empty() {
            self.summary.read_file();
            self.read_files.push(Arc::clone(&source.path));
        } else {
            self.summary.read_member();
        }
    }

    /// Counts a source as skipped, and reports it unless the reason is an expected one.
    pub(super) fn skipped(&mut self, source: &Source, reason: SkipReason) {
        let is_file = source.member().is_empty();
        if is_file {
            self.summary.skip_file(reason);
            if reason == SkipReason::Empty {
                self.read_files.push(Arc::clone(&source.path));
            }
        } else {
            self.summary.skip_member(reason);
        }
        let is_expected = match reason {
            SkipReason::Empty
            | SkipReason::Filtered
            | SkipReason::HardLink
            | SkipReason::ControlFile
            | SkipReason::Deleted
            | SkipReason::OwnOutput
            | SkipReason::EarlierOutput => true,
            // In an archive, the target of a link may be missing.
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
        let message = "the file ends here, but was longer when it was opened";
        self.event(Diagnostic::at(DiagnosticKind::Vanished, end, message).of(source));
    }

    /// Counts an unreadable source that an event already reports.
    fn count_failure(&mut self, source: &Source, kind: DiagnosticKind) {
        match (kind, source.member().is_empty()) {
            (DiagnosticKind::Vanished, true) => self.summary.skip_file(SkipReason::Vanished),
            (kind, true) => self.summary.fail_file(kind),
            (kind, false) => self.summary.fail_member(kind),
        }
    }
}

/// Buffers and caches of a thread.
pub(super) struct Scratch {
    /// Buffer for the bytes of a block.
    pub(super) block_bytes: Vec<u8>,
    /// The encoder, which caches recently encoded values.
    pub(super) writer: RecordWriter,
}

impl Scratch {
    pub(super) fn new(format: &LineFormat) -> Scratch {
        Scratch {
            block_bytes: Vec::new(),
            writer: RecordWriter::new(format),
        }
    }
}

/// Buffers of written lines, at most as many as were in use at once, shared by all threads.
#[derive(Default)]
pub(super) struct LinePool(Mutex<Vec<Vec<u8>>>);

impl LinePool {
    /// Takes an empty line buffer: the most recently used one, whose memory is fastest to write.
    pub(super) fn take_lines(&self) -> Vec<u8> {
        let buffer = self.locked().pop();
        buffer.unwrap_or_else(|| Vec::with_capacity(Batch::FULL_BYTES))
    }

    /// Returns the buffer of written lines to the pool. A buffer that grew large for one message is
    /// dropped.
    pub(super) fn put_lines(&self, mut lines: Vec<u8>) {
        if (1..=2 * Batch::FULL_BYTES).contains(&lines.capacity()) {
            lines.clear();
            self.locked().push(lines);
        }
    }

    /// Locks the list, even after a panic in another thread: it is always valid.
    fn locked(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
