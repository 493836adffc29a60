//! The builder of batches of encoded lines.

use super::chunk::{Batch, Chunk, Keyed};
use super::job::{Job, Output, Unique};
use super::scratch::ScratchPool;
use crate::extract::{Finding, key_hash};
use crate::limits::RECORD_BUFFER_BYTES;
use crate::origin::Source;
use crate::record::{self, Record, RecordWriter, Summary};

/// Where batches go, in order. `false` means that no more are wanted.
pub(super) type Give<'g> = dyn FnMut(Batch) -> bool + 'g;

/// What work has yielded and not given yet.
pub(super) struct BatchBuilder<'w> {
    desks: &'w ScratchPool,
    pub(super) batch: Batch,
    /// What the message that is being read counts: part of no balance before it is read to its end, or given in part.
    pub(super) tally: Summary,
    /// Where in the last piece that message began.
    mark: Mark,
    /// Where the records of the last piece begin.
    pub(super) start: usize,
    /// Buffer for the open lines of a message while they are closed.
    open: Vec<u8>,
    /// Bytes of refused candidates that the pieces before the last hold.
    rejects_before: usize,
    /// Whether the last piece has nothing of a message yet: at most what is counted of files.
    is_fresh: bool,
    /// About as many bytes of records as a batch holds.
    pub(super) usual_bytes: usize,
    /// Bytes of records that the next batch is given room for, at the most.
    most_bytes: usize,
    give: &'w mut Give<'w>,
}

impl BatchBuilder<'_> {
    /// Bytes of records that a batch holds at the most, for what is usual: it is given when a message begins behind
    /// [`RECORD_BUFFER_BYTES`]. A message that yields much is given itself behind as many.
    pub(super) const FULL_BYTES: usize = RECORD_BUFFER_BYTES + RECORD_BUFFER_BYTES / 8;
}

impl<'w> BatchBuilder<'w> {
    /// Nothing yet, of work on so many bytes.
    pub(super) fn new(
        desks: &'w ScratchPool,
        give: &'w mut Give<'w>,
        usual_bytes: usize,
        bytes: u64,
    ) -> BatchBuilder<'w> {
        // Text full of URLs yields four times as much as itself.
        let most_bytes = usize::try_from(bytes.saturating_mul(4))
            .unwrap_or(usize::MAX)
            .min(Self::FULL_BYTES);
        let (batch, tally, mark) = (Batch::default(), Summary::default(), Mark::default());
        BatchBuilder {
            desks,
            batch,
            tally,
            mark,
            start: 0,
            open: Vec::new(),
            rejects_before: 0,
            is_fresh: true,
            usual_bytes,
            most_bytes,
            give,
        }
    }

    /// The piece that is being filled.
    pub(super) fn piece(&mut self) -> &mut Chunk {
        if self.batch.pieces.is_empty() {
            self.batch.pieces.push(Chunk::default());
        }
        self.batch.pieces.last_mut().expect("there is one now")
    }

    /// Goes on with another piece.
    pub(super) fn next(&mut self, piece: Chunk) {
        self.finish();
        self.batch.pieces.push(piece);
        self.is_fresh = true;
    }

    /// Counts the last piece as full: what records it has got belong to it.
    fn finish(&mut self) {
        let Some(last) = self.batch.pieces.last_mut() else {
            return;
        };
        last.record_bytes = self.batch.records.len() - self.start;
        self.start = self.batch.records.len();
        self.rejects_before += last.rejects.len();
    }

    /// Goes on with the piece of an article, or of more of it. What is counted of its file may stand in it: that holds for
    /// copies of the article as well.
    pub(super) fn article(&mut self, article: Option<u128>, goes_on: bool) {
        if !self.is_fresh {
            self.next(Chunk::default());
        }
        let piece = self.piece();
        (piece.article, piece.goes_on) = (article, goes_on);
    }

    /// Notes where a message begins. What is held of those before it is given first, if it is much.
    pub(super) fn begin(&mut self) {
        if self.batch.records.len() + self.rejects_before + self.piece().rejects.len()
            > RECORD_BUFFER_BYTES
        {
            // The piece that was made for the message stays.
            let is_empty = self.start == self.batch.records.len();
            let is_own =
                |piece: &mut Chunk| piece.article.is_some() && is_empty && piece.rejects.is_empty();
            match self.batch.pieces.pop_if(is_own) {
                Some(own) => {
                    // Those before it are full.
                    self.give();
                    self.next(own);
                }
                None => {
                    self.flush();
                    self.next(Chunk::default());
                }
            }
        }
        self.is_fresh = false;
        let records = self.batch.records.len();
        let piece = self.piece();
        self.mark = Mark {
            records,
            keys: piece.keys.len(),
            rejects: piece.rejects.len(),
            events: piece.events.len(),
        };
    }

    /// Adds what a message counted to its piece's balance.
    pub(super) fn settle(&mut self) {
        self.piece();
        let BatchBuilder { batch, tally, .. } = self;
        if let Some(piece) = batch.pieces.last_mut() {
            piece.balance.absorb(tally);
        }
    }

    /// Takes back what is held of a message.
    pub(super) fn restore(&mut self) {
        self.tally = Summary::default();
        let mark = std::mem::take(&mut self.mark);
        self.batch.records.truncate(mark.records);
        mark.restore(self.piece());
    }

    /// In the middle of a message: gives what is held, if the message itself has given much. Its records are told how
    /// often their URLs stood in it so far.
    pub(super) fn relieve(&mut self, job: &Job) {
        let mark = self.mark;
        let own =
            self.batch.records.len() - mark.records + self.piece().rejects.len() - mark.rejects;
        if own > RECORD_BUFFER_BYTES {
            counts(self, job);
            self.settle();
            let next = Chunk {
                article: self.piece().article,
                goes_on: true,
                ..Chunk::default()
            };
            self.flush();
            self.next(next);
            self.is_fresh = false;
            self.mark = Mark::default();
        }
    }

    /// Where records go. At the first one room is made for as many as batches held lately, so that what comes need not be
    /// copied while it grows.
    fn records(&mut self) -> &mut Vec<u8> {
        let records = &mut self.batch.records;
        if records.is_empty() {
            if records.capacity() == 0 {
                *records = self.desks.room().pop().unwrap_or_default();
            }
            // One batch in a few holds more than those before it.
            records.reserve((self.usual_bytes + self.usual_bytes / 2).min(self.most_bytes));
        }
        records
    }

    /// Gives all that is held.
    pub(super) fn flush(&mut self) {
        self.finish();
        self.give();
    }

    /// Gives the pieces that are full.
    fn give(&mut self) {
        if !self.batch.pieces.is_empty() {
            self.usual_bytes = self
                .batch
                .records
                .len()
                .max(self.usual_bytes - self.usual_bytes / 8);
            self.most_bytes = Self::FULL_BYTES;
            (self.start, self.rejects_before, self.is_fresh) = (0, 0, true);
            // Whoever wants no more has ended the run, and waits for no one.
            (self.give)(std::mem::take(&mut self.batch));
        }
    }
}

/// How far a piece, and the batch's records, were filled before a message.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    records: usize,
    keys: usize,
    rejects: usize,
    events: usize,
}

impl Mark {
    /// Takes back what the message gave.
    fn restore(self, piece: &mut Chunk) {
        piece.keys.truncate(self.keys);
        piece.rejects.truncate(self.rejects);
        piece.events.truncate(self.events);
        piece.repeated.clear();
    }
}

/// Encodes and counts a finding.
pub(super) fn note(
    finding: Finding<'_>,
    source: &Source,
    job: &Job,
    writer: &mut RecordWriter,
    yielded: &mut BatchBuilder<'_>,
) {
    let tally = &mut yielded.tally;
    match finding {
        Finding::Url(record) => {
            let found = record.found;
            tally.candidates += 1;
            tally.records += 1;
            tally.count_url(found);
            line(record, job, writer, yielded);
        }
        Finding::Filtered => {
            tally.candidates += 1;
            tally.filtered += 1;
        }
        Finding::Folded(key) => {
            tally.candidates += 1;
            tally.duplicates += 1;
            *yielded.piece().repeated.entry(key).or_insert(1) += 1;
        }
        Finding::Unwrapped(record) => {
            tally.unwrapped += 1;
            line(record, job, writer, yielded);
        }
        Finding::Reject(reason, text, place) => {
            tally.candidates += 1;
            tally.count_reject(reason);
            if job.rejects {
                record::write_reject(text, reason, &place, &mut yielded.piece().rejects);
            }
        }
        Finding::Diagnostic(diagnostic) => {
            tally.count_event(diagnostic.kind.name());
            yielded.piece().events.push(diagnostic.of(source));
        }
        Finding::Parts(text, other) => {
            tally.parts_text += text as u64;
            tally.parts_other += other as u64;
        }
    }
}

/// Writes a record's line.
fn line(record: &Record<'_>, job: &Job, writer: &mut RecordWriter, yielded: &mut BatchBuilder<'_>) {
    let found = record.found;
    let records = yielded.records();
    match job.output {
        Output::Records if job.unique == Unique::None => writer.write(record, records),
        // `counts` closes it.
        Output::Records => writer.write_open(record, records),
        Output::Urls => {
            records.extend_from_slice(String::from_utf8_lossy(found.full).as_bytes());
            records.push(b'\n');
        }
    }
    if job.unique != Unique::None {
        let (end, unwrapped) = (
            records.len() - yielded.start,
            record.redirected_from.is_some(),
        );
        yielded.piece().keys.push(Keyed {
            key: key_hash(found.url()),
            end,
            unwrapped,
        });
    }
}

/// Closes the lines of a message's records, where URLs are counted, with the number of times that each URL occurred.
pub(super) fn counts(yielded: &mut BatchBuilder<'_>, job: &Job) {
    if job.unique == Unique::None {
        return;
    }
    let (start, first) = (yielded.start, yielded.mark);
    yielded.piece();
    let Batch { records, pieces } = &mut yielded.batch;
    let Some(piece) = pieces.last_mut() else {
        return;
    };
    let repeated = std::mem::take(&mut piece.repeated);
    if job.output == Output::Records {
        let open = &mut yielded.open;
        open.clear();
        open.extend_from_slice(&records[first.records..]);
        records.truncate(first.records);
        let mut begin = 0;
        for Keyed { key, end, .. } in &mut piece.keys[first.keys..] {
            let open_end = start + *end - first.records;
            records.extend_from_slice(&open[begin..open_end]);
            record::close_line(repeated.get(key).copied(), records);
            *end = records.len() - start;
            begin = open_end;
        }
    }
    if job.unique != Unique::Run {
        piece.keys.clear();
    }
}
