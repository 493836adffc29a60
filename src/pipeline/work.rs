//! What a thread does: a block of messages or a handful of small files in, a batch out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::cut::{Cuts, Item};
use super::extract::{Extractor, Finding, Known, extract_known, key_hash};
use super::pool::{Job, Unique};
use super::{Batch, Chunk, Keyed};
use crate::decode::{HeaderFields, KnownField, digest, parse_date};
use crate::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use crate::limits::{
    BATCHES_PER_THREAD, BLOCKS_PER_THREAD, SMALL_CONTAINER_BYTES, SMALL_FILE_BYTES, SPILL_BYTES,
};
use crate::origin::{Source, SourceKind};
use crate::read::{self, Input, UnreadRange};
use crate::record::{self, MessageTail, Record, RecordWriter, Summary};
use crate::split::{
    Block, BlockRole, Format, Message, SplitOutput, ends_in_cr, messages, recognised, unify,
    zeros_before,
};
use crate::walk;

/// A piece of work.
pub(super) enum Unit {
    /// What was cut out of a source: one block of a large file, or many small members.
    Items(Vec<Item>),
    /// Small files, to be read; most of them are open.
    Files(Vec<walk::WalkedFile>),
}

/// Which of a record's forms is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// The whole record.
    #[default]
    Records,
    /// The URL and its fragment.
    Urls,
}

impl Unit {
    /// How many of its kind are under way for each thread.
    pub(super) fn per_thread(&self) -> usize {
        match self {
            Unit::Items(_) => BLOCKS_PER_THREAD,
            Unit::Files(_) => BATCHES_PER_THREAD,
        }
    }

    /// Bytes that it holds or will hold.
    pub(super) fn len(&self) -> u64 {
        match self {
            Unit::Items(items) => items.iter().map(Item::len).sum(),
            Unit::Files(files) => files.iter().map(|file| file.size).sum(),
        }
    }
}

/// Where batches go, in order. `false` means that no more are wanted.
pub(super) type Give<'g> = dyn FnMut(Batch) -> bool + 'g;

/// What is kept from one piece of work to the next, to save time: nothing that a record depends on.
#[derive(Default)]
struct Scratch {
    buffer: Vec<u8>,
    writer: RecordWriter,
    usual_bytes: usize,
}

/// The desks at which nobody works. There are never more than threads of both sets.
#[derive(Default)]
pub(super) struct ScratchPool {
    free: Mutex<Vec<Scratch>>,
    /// Room for records, of which those were written. There is never more than was held at once.
    room: Mutex<Vec<Vec<u8>>>,
}

impl ScratchPool {
    fn free(&self) -> MutexGuard<'_, Vec<Scratch>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn room(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes back the room of records that were written: memory that was used lately is soonest written to.
    pub(super) fn take_back(&self, mut records: Vec<u8>) {
        // What a message took that yields much is not kept.
        if (1..=2 * BatchBuilder::FULL_BYTES).contains(&records.capacity()) {
            records.clear();
            self.room().push(records);
        }
    }
}

/// Does a piece of work. A large yield is given in several batches.
fn work(unit: Unit, job: &Job, extractor: &Extractor, desks: &ScratchPool, give: &mut Give<'_>) {
    let Scratch {
        buffer,
        writer,
        usual_bytes,
    } = desks.free().pop().unwrap_or_default();
    let yielded = BatchBuilder::new(desks, give, usual_bytes, unit.len());
    let mut worker = Worker {
        job,
        extractor,
        yielded,
        buffer,
        writer,
    };
    match unit {
        Unit::Items(items) => items.into_iter().for_each(|item| worker.item(item)),
        Unit::Files(files) => {
            // An article has a piece of its own.
            worker.yielded.batch.pieces.reserve(files.len() + 1);
            for file in files {
                worker.contained(&file);
            }
        }
    }
    worker.yielded.flush();
    let Worker {
        yielded: BatchBuilder { usual_bytes, .. },
        buffer,
        writer,
        ..
    } = worker;
    desks.free().push(Scratch {
        buffer,
        writer,
        usual_bytes,
    });
}

/// The same, whatever happens: work that the program failed on is an event, so that no one waits for it in vain.
pub(super) fn contained(
    unit: Unit,
    job: &Job,
    extractor: &Extractor,
    desks: &ScratchPool,
    give: &mut Give<'_>,
) {
    if catch_unwind(AssertUnwindSafe(|| work(unit, job, extractor, desks, give))).is_err() {
        let mut piece = Chunk::default();
        piece.balance.event(DiagnosticKind::Panic.name());
        let diagnostic = Diagnostic::new(
            DiagnosticKind::Panic,
            "the program failed on a piece of this source; please report it",
        );
        piece.events.push(diagnostic.of(&Source::at("?".into())));
        give(Batch {
            pieces: vec![piece],
            ..Batch::default()
        });
    }
}

struct Worker<'w> {
    job: &'w Job,
    extractor: &'w Extractor,
    yielded: BatchBuilder<'w>,
    buffer: Vec<u8>,
    writer: RecordWriter,
}

/// What work has yielded and not given yet.
struct BatchBuilder<'w> {
    desks: &'w ScratchPool,
    batch: Batch,
    /// What the message that is being read counts: part of no balance before it is read to its end, or given in part.
    tally: Summary,
    /// Where in the last piece that message began.
    mark: Mark,
    /// Where the records of the last piece begin.
    start: usize,
    /// Buffer for the open lines of a message while they are closed.
    open: Vec<u8>,
    /// Bytes of refused candidates that the pieces before the last hold.
    rejects_before: usize,
    /// Whether the last piece has nothing of a message yet: at most what is counted of files.
    is_fresh: bool,
    /// About as many bytes of records as a batch holds.
    usual_bytes: usize,
    /// Bytes of records that the next batch is given room for, at the most.
    most_bytes: usize,
    give: &'w mut Give<'w>,
}

impl BatchBuilder<'_> {
    /// Bytes of records that a batch holds at the most, for what is usual: it is given when a message begins behind
    /// [`SPILL_BYTES`]. A message that yields much is given itself behind as many.
    const FULL_BYTES: usize = SPILL_BYTES + SPILL_BYTES / 8;
}

impl<'w> BatchBuilder<'w> {
    /// Nothing yet, of work on so many bytes.
    fn new(
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
    fn piece(&mut self) -> &mut Chunk {
        if self.batch.pieces.is_empty() {
            self.batch.pieces.push(Chunk::default());
        }
        self.batch.pieces.last_mut().expect("there is one now")
    }

    /// Goes on with another piece.
    fn next(&mut self, piece: Chunk) {
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
    fn article(&mut self, article: Option<u128>, goes_on: bool) {
        if !self.is_fresh {
            self.next(Chunk::default());
        }
        let piece = self.piece();
        (piece.article, piece.goes_on) = (article, goes_on);
    }

    /// Notes where a message begins. What is held of those before it is given first, if it is much.
    fn begin(&mut self) {
        if self.batch.records.len() + self.rejects_before + self.piece().rejects.len() > SPILL_BYTES
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
    fn settle(&mut self) {
        self.piece();
        let BatchBuilder { batch, tally, .. } = self;
        if let Some(piece) = batch.pieces.last_mut() {
            piece.balance.take_over(tally);
        }
    }

    /// Takes back what is held of a message.
    fn restore(&mut self) {
        self.tally = Summary::default();
        let mark = std::mem::take(&mut self.mark);
        self.batch.records.truncate(mark.records);
        mark.restore(self.piece());
    }

    /// In the middle of a message: gives what is held, if the message itself has given much. Its records are told how
    /// often their URLs stood in it so far.
    fn relieve(&mut self, job: &Job) {
        let mark = self.mark;
        let own =
            self.batch.records.len() - mark.records + self.piece().rejects.len() - mark.rejects;
        if own > SPILL_BYTES {
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
    fn flush(&mut self) {
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

impl Worker<'_> {
    /// Reads a small file. One that the program fails on outside a message is an event.
    fn contained(&mut self, file: &walk::WalkedFile) {
        if catch_unwind(AssertUnwindSafe(|| self.file(file))).is_err() {
            let diagnostic = Diagnostic::new(
                DiagnosticKind::Panic,
                "the program failed on this file; please report it",
            );
            lost(self.yielded.piece(), diagnostic.of(&file.source));
        }
    }

    /// Reads a small file, and everything in it.
    fn file(&mut self, file: &walk::WalkedFile) {
        let mut block = Block {
            bytes: std::mem::take(&mut self.buffer),
            ..Block::default()
        };
        block.bytes.clear();
        let opened = read::read_small(file, SMALL_FILE_BYTES, &mut block.bytes);
        let read = block.bytes.len() as u64;
        match &opened {
            Err(error) => {
                let piece = self.yielded.piece();
                failed(piece, &file.source, error);
            }
            // It has grown, or another one has its name.
            Ok(_) if read >= SMALL_FILE_BYTES => self.defer(file),
            Ok(_) if read::is_container(&block.bytes) => {
                self.container(file, std::mem::take(&mut block.bytes))
            }
            Ok(_) if ends_in_cr(&block.bytes) => {
                unify(&mut block.bytes);
                self.whole(file, &mut block);
            }
            Ok(_) => self.whole(file, &mut block),
        }
        if opened.is_ok_and(|size| read < size.min(SMALL_FILE_BYTES)) {
            shrunk(self.yielded.piece(), &file.source, read);
        }
        self.buffer = block.bytes;
    }

    /// Leaves a file to those who read in blocks.
    fn defer(&mut self, file: &walk::WalkedFile) {
        self.yielded.next(Chunk {
            deferred: Some(walk::WalkedFile {
                ahead: None,
                ..file.clone()
            }),
            ..Chunk::default()
        });
        self.yielded.next(Chunk::default());
    }

    /// A small file that was read to its end.
    fn whole(&mut self, file: &walk::WalkedFile, block: &mut Block) {
        let size = block.bytes.len() as u64;
        let zeros = zeros_before(&block.bytes);
        block.bytes.drain(..zeros);
        block.offset = zeros as u64;
        match recognised(&block.bytes, self.job.format, file.hint) {
            Err(reason) => skipped(self.yielded.piece(), &file.source, reason),
            Ok(format) => {
                let piece = self.yielded.piece();
                piece.balance.read_file();
                piece.balance.bytes_read += size;
                self.block(&file.source, format, block);
            }
        }
    }

    /// Reads what lies in a small compressed file or archive; a large yield is left to those who read in blocks.
    fn container(&mut self, file: &walk::WalkedFile, octets: Vec<u8>) {
        let size = octets.len() as u64;
        let input = Input::memory(octets);
        let mut unpacked = 0;
        let mut items = Vec::new();
        for item in Cuts::new(
            input,
            file.source.clone(),
            file.hint,
            self.job,
            self.extractor.limits(),
        ) {
            unpacked += item.len();
            if unpacked > SMALL_CONTAINER_BYTES {
                self.defer(file);
                return;
            }
            items.push(item);
        }
        self.yielded.piece().balance.bytes_read += size;
        for item in items {
            self.item(item);
        }
    }

    fn item(&mut self, item: Item) {
        match item {
            Item::Block(source, format, block) => self.block(&source, format, &block),
            Item::Unread(source, format, offset, unread) => {
                self.unread(&source, format, offset, &unread)
            }
            Item::Note(note) => {
                let piece = self.yielded.piece();
                piece.balance.add(&note.balance);
                piece.events.extend(note.events);
            }
        }
    }

    /// Reads and searches what was left unread of a source. If that fails, what stands behind it is read all the same.
    fn unread(&mut self, source: &Source, format: Format, offset: u64, unread: &UnreadRange) {
        let mut block = Block {
            bytes: std::mem::take(&mut self.buffer),
            offset,
            role: BlockRole::Whole,
        };
        let result = unread.read(&mut block.bytes);
        let read = block.bytes.len() as u64;
        self.block(source, format, &block);
        let piece = self.yielded.piece();
        piece.balance.bytes_read += read.saturating_sub(unread.again());
        match result {
            Ok(()) if read == 0 => shrunk_before(piece, source, offset),
            Ok(()) if read < unread.octets() => shrunk(piece, source, offset + read),
            Ok(()) => {}
            Err(error) => {
                let diagnostic = read::diagnostic(&error, Some(offset + read));
                piece.broken = Some(diagnostic.kind);
                remarked(piece, diagnostic.of(source));
            }
        }
        self.buffer = block.bytes;
    }

    fn block(&mut self, source: &Source, format: Format, block: &Block) {
        if let BlockRole::First = block.role {
            let most = self.extractor.limits().message_bytes;
            let message = format!("a message of more than {most} octets: the rest is read as text");
            self.event(Diagnostic::at(DiagnosticKind::Limit, block.offset, message).of(source));
        }
        messages(block, format, &mut |divided| match divided {
            SplitOutput::Message(message) => self.message(&message, source),
            SplitOutput::Diagnostic(diagnostic) => self.event(diagnostic.of(source)),
        });
    }

    /// A message, with everything that can go wrong in it kept inside.
    fn message(&mut self, message: &Message<'_>, source: &Source) {
        let mut known = Known {
            fields: HeaderFields::in_message(message, self.extractor.limits().header_bytes),
            digest: None,
        };
        if message.kind == SourceKind::News {
            match message.rest.map(|rest| rest.message(message.kind)) {
                None => {
                    let digest = *known.digest.insert(digest(message, &known.fields));
                    self.yielded
                        .article(article(message, &known.fields, digest), false);
                }
                // A further piece is whatever its article is.
                Some(begun) => {
                    let fields =
                        HeaderFields::in_message(&begun, self.extractor.limits().header_bytes);
                    self.yielded
                        .article(article(&begun, &fields, digest(&begun, &fields)), true);
                }
            }
        }
        self.yielded.begin();
        if catch_unwind(AssertUnwindSafe(|| self.read(message, &known, source))).is_err() {
            self.yielded.restore();
            self.yielded.piece().balance.skip_message(SkipReason::Panic);
            let diagnostic = Diagnostic::at(
                DiagnosticKind::Panic,
                message.start,
                "the program failed on this message; please report it",
            );
            self.event(diagnostic.of(source));
        }
        if message.kind == SourceKind::News {
            self.yielded.next(Chunk::default());
        }
    }

    /// Reads a message, unless its date keeps it out.
    fn read(&mut self, message: &Message<'_>, known: &Known, source: &Source) {
        if !self.in_time(message, &known.fields) {
            if message.rest.is_none() {
                self.yielded.piece().balance.skip_message(SkipReason::Date);
            }
            return;
        }
        let (job, yielded, writer) = (self.job, &mut self.yielded, &mut self.writer);
        writer.begin(MessageTail::Complete);
        extract_known(message, known, source, self.extractor, &mut |finding| {
            note(finding, source, job, writer, yielded);
            yielded.relieve(job);
        });
        // Of a message in pieces the first one counts.
        yielded.tally.messages += u64::from(message.rest.is_none());
        yielded.tally.messages_scanned += u64::from(message.rest.is_none());
        counts(yielded, job);
        yielded.settle();
    }

    /// Whether the message's date lies within the bounds asked for. One without a date does.
    fn in_time(&self, message: &Message<'_>, fields: &HeaderFields) -> bool {
        if self.job.since.is_none() && self.job.until.is_none() {
            return true;
        }
        let begun;
        let (message, fields) = match message.rest.map(|rest| rest.message(message.kind)) {
            None => (message, fields),
            Some(first) => {
                begun = (
                    first,
                    HeaderFields::in_message(&first, self.extractor.limits().header_bytes),
                );
                (&begun.0, &begun.1)
            }
        };
        let field = fields.first_known(KnownField::Date);
        let moment = field.and_then(|field| {
            parse_date(&String::from_utf8_lossy(field.value.of(message.raw))).unix
        });
        moment.is_none_or(|moment| {
            self.job.since.is_none_or(|since| since <= moment)
                && self.job.until.is_none_or(|until| moment < until)
        })
    }

    fn event(&mut self, event: Event) {
        let piece = self.yielded.piece();
        piece.balance.event(event.diagnostic.kind.name());
        piece.events.push(event);
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

/// What tells an article from others: its Message-ID and what it says.
fn article(message: &Message<'_>, fields: &HeaderFields, digest: u128) -> Option<u128> {
    let id = fields.first_known(KnownField::MessageId)?;
    Some(record::hash_of(&[
        id.value.of(message.raw),
        &digest.to_le_bytes(),
    ]))
}

/// Encodes and counts a finding.
fn note(
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
            tally.found(found);
            line(record, job, writer, yielded);
        }
        Finding::Filtered => {
            tally.candidates += 1;
            tally.filtered += 1;
        }
        Finding::Folded(key) => {
            tally.candidates += 1;
            tally.folded += 1;
            *yielded.piece().repeated.entry(key).or_insert(1) += 1;
        }
        Finding::Unwrapped(record) => {
            tally.unwrapped += 1;
            line(record, job, writer, yielded);
        }
        Finding::Reject(reason, text, place) => {
            tally.candidates += 1;
            tally.reject(reason);
            if job.rejects {
                record::reject(text, reason, &place, &mut yielded.piece().rejects);
            }
        }
        Finding::Diagnostic(diagnostic) => {
            tally.event(diagnostic.kind.name());
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
        let (end, unwrapped) = (records.len() - yielded.start, record.unwrapped.is_some());
        yielded.piece().keys.push(Keyed {
            key: key_hash(found.url()),
            end,
            unwrapped,
        });
    }
}

/// Closes the lines of a message's records, where URLs are counted, with the number of times that each URL occurred.
fn counts(yielded: &mut BatchBuilder<'_>, job: &Job) {
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

/// Notes that a source was read to its end.
pub(super) fn read_whole(piece: &mut Chunk, source: &Source) {
    if source.member().is_empty() {
        piece.balance.read_file();
    } else {
        piece.balance.read_member();
    }
}

/// Notes that bytes of a source were gone when they were to be read.
pub(super) fn shrunk(piece: &mut Chunk, source: &Source, end: u64) {
    remarked(
        piece,
        Diagnostic::at(
            DiagnosticKind::Vanished,
            end,
            "it ends here, and was longer when it was opened",
        )
        .of(source),
    );
}

/// The same, where others have read before: it may end before `end`.
pub(super) fn shrunk_before(piece: &mut Chunk, source: &Source, end: u64) {
    let message = "it ends here or before, and was longer when it was opened";
    remarked(
        piece,
        Diagnostic::at(DiagnosticKind::Vanished, end, message).of(source),
    );
}

/// Notes that a source could not be read.
pub(super) fn failed(piece: &mut Chunk, source: &Source, error: &std::io::Error) {
    lost(piece, read::diagnostic(error, None).of(source));
}

/// Notes that a source went away or could not be read, as the event says.
pub(super) fn lost(piece: &mut Chunk, event: Event) {
    broken(piece, &event.source, event.diagnostic.kind);
    remarked(piece, event);
}

/// Counts a source that could not be read, of which an event has told.
pub(super) fn broken(piece: &mut Chunk, source: &Source, kind: DiagnosticKind) {
    match (kind, source.member().is_empty()) {
        (DiagnosticKind::Vanished, true) => piece.balance.skip_file(SkipReason::Vanished),
        (kind, true) => piece.balance.fail_file(kind.name()),
        (kind, false) => piece.balance.fail_member(kind.name()),
    }
}

/// Notes something that changes nothing in what is read.
pub(super) fn remarked(piece: &mut Chunk, event: Event) {
    piece.balance.event(event.diagnostic.kind.name());
    piece.events.push(event);
}

/// Notes that a source was left, with an event unless that is no news to anybody.
pub(super) fn skipped(piece: &mut Chunk, source: &Source, reason: SkipReason) {
    let is_file = source.member().is_empty();
    if is_file {
        piece.balance.skip_file(reason);
    } else {
        piece.balance.skip_member(reason);
    }
    // A link in an archive may have led to something that is not there.
    let expected = match reason {
        SkipReason::Empty
        | SkipReason::Filtered
        | SkipReason::HardLink
        | SkipReason::ControlFile => true,
        SkipReason::Symlink => is_file,
        _ => false,
    };
    if !expected {
        remarked(
            piece,
            Diagnostic::new(DiagnosticKind::Skip, format!("not read: {}", reason.name()))
                .of(source),
        );
    }
}
