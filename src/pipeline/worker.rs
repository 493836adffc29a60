//! What a thread does: a block of messages or a handful of small files in, a batch out.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::batch::{BatchBuilder, Give, counts, note};
use super::chunk::{self, Batch, Chunk};
use super::cut::{Cuts, Item};
use super::job::Job;
use super::scratch::{Scratch, ScratchPool};
use super::units::Unit;
use crate::decode::{HeaderFields, KnownField, digest, parse_date};
use crate::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use crate::extract::{Extractor, Known, extract_known};
use crate::limits::{SMALL_CONTAINER_BYTES, SMALL_FILE_BYTES};
use crate::origin::{Source, SourceKind};
use crate::read::{self, Input, UnreadRange};
use crate::record::{self, MessageTail, RecordWriter};
use crate::split::{
    Block, BlockRole, Format, Message, SplitOutput, cr_to_lf, detect_format, has_cr_line_ends,
    leading_nuls, messages,
};
use crate::walk;

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
        piece.balance.count_event(DiagnosticKind::Panic.name());
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

struct Worker<'w> {
    job: &'w Job,
    extractor: &'w Extractor,
    yielded: BatchBuilder<'w>,
    buffer: Vec<u8>,
    writer: RecordWriter,
}

impl Worker<'_> {
    /// Reads a small file. One that the program fails on outside a message is an event.
    fn contained(&mut self, file: &walk::WalkedFile) {
        if catch_unwind(AssertUnwindSafe(|| self.file(file))).is_err() {
            let diagnostic = Diagnostic::new(
                DiagnosticKind::Panic,
                "the program failed on this file; please report it",
            );
            chunk::lost(self.yielded.piece(), diagnostic.of(&file.source));
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
                chunk::failed(piece, &file.source, error);
            }
            // It has grown, or another one has its name.
            Ok(_) if read >= SMALL_FILE_BYTES => self.defer(file),
            Ok(_) if read::is_container(&block.bytes) => {
                self.container(file, std::mem::take(&mut block.bytes))
            }
            Ok(_) if has_cr_line_ends(&block.bytes) => {
                cr_to_lf(&mut block.bytes);
                self.whole(file, &mut block);
            }
            Ok(_) => self.whole(file, &mut block),
        }
        if opened.is_ok_and(|size| read < size.min(SMALL_FILE_BYTES)) {
            chunk::shrunk(self.yielded.piece(), &file.source, read);
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
        let zeros = leading_nuls(&block.bytes);
        block.bytes.drain(..zeros);
        block.offset = zeros as u64;
        match detect_format(&block.bytes, self.job.format, file.hint) {
            Err(reason) => chunk::skipped(self.yielded.piece(), &file.source, reason),
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
        piece.balance.bytes_read += read.saturating_sub(unread.overlap());
        match result {
            Ok(()) if read == 0 => chunk::shrunk_before(piece, source, offset),
            Ok(()) if read < unread.len() => chunk::shrunk(piece, source, offset + read),
            Ok(()) => {}
            Err(error) => {
                let diagnostic = read::diagnostic(&error, Some(offset + read));
                piece.broken = Some(diagnostic.kind);
                chunk::remarked(piece, diagnostic.of(source));
            }
        }
        self.buffer = block.bytes;
    }

    fn block(&mut self, source: &Source, format: Format, block: &Block) {
        if let BlockRole::FirstFragment = block.role {
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
            match message.fragment_of.map(|rest| rest.message(message.kind)) {
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
            if message.fragment_of.is_none() {
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
        yielded.tally.messages += u64::from(message.fragment_of.is_none());
        yielded.tally.messages_scanned += u64::from(message.fragment_of.is_none());
        counts(yielded, job);
        yielded.settle();
    }

    /// Whether the message's date lies within the bounds asked for. One without a date does.
    fn in_time(&self, message: &Message<'_>, fields: &HeaderFields) -> bool {
        if self.job.since.is_none() && self.job.until.is_none() {
            return true;
        }
        let begun;
        let (message, fields) = match message.fragment_of.map(|rest| rest.message(message.kind)) {
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
        piece.balance.count_event(event.diagnostic.kind.name());
        piece.events.push(event);
    }
}

/// What tells an article from others: its Message-ID and what it says.
fn article(message: &Message<'_>, fields: &HeaderFields, digest: u128) -> Option<u128> {
    let id = fields.first_known(KnownField::MessageId)?;
    Some(record::hash_pieces(&[
        id.value.of(message.raw),
        &digest.to_le_bytes(),
    ]))
}
