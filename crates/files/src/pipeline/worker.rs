//! Work of a thread: a block of messages or a batch of small files in, batches of encoded records
//! out.
//!
//! Contains panics: if the program panics on a message, a file or a unit, the panic becomes an
//! event and the run continues.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Job;
use super::batch::{ArticleChunk, Batch, BatchBuilder, Chunk, HandIn, LinePool, Scratch};
use super::messages::{
    InputStep, MessageBlock, MessageSource, UnreadMessages, is_earlier_output, shrunk_before,
};
use super::units::Unit;
use crate::keyed_hash::HashKey;
use urlspool_mail::decode::{InfoFields, KnownField, MessageInfo, digested};
use urlspool_mail::split::{Block, Message, SourceStart, SplitOutput};
use urlspool_record::extract::{Extractor, ParsedHeader};
use urlspool_sources::read::{self, Input};
use urlspool_sources::walk::WalkedFile;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind, SkipReason};
use urlspool_text::limits::{LARGE_MESSAGE_BYTES, SMALL_CONTAINER_BYTES, SMALL_FILE_BYTES};
use urlspool_text::origin::{Source, SourceKind};

/// Data that all threads share while they process the units of a run.
#[derive(Clone, Copy)]
pub(super) struct WorkContext<'r> {
    pub(super) job: &'r Job,
    pub(super) extractor: &'r Extractor,
    pub(super) pool: &'r LinePool,
    /// Key of the hashes that identify copies of news articles.
    pub(super) article_key: HashKey,
}

impl WorkContext<'_> {
    /// Processes a unit, and hands in its records, in several batches if there are many. A panic
    /// becomes an event in a last batch, so no thread waits for the unit forever.
    pub(super) fn work_on(self, unit: Unit, scratch: &mut Scratch, hand_in: &mut HandIn<'_>) {
        if contained(|| self.try_work_on(unit, scratch, hand_in)).is_none() {
            *scratch = Scratch::new(&self.job.line_format);
            let mut chunk = Chunk::default();
            let diagnostic = panicked("on a unit of work");
            chunk.event(diagnostic.of(&Source::at("?".into())));
            hand_in(Batch {
                chunks: vec![chunk],
                ..Batch::default()
            });
        }
    }

    fn try_work_on(self, unit: Unit, scratch: &mut Scratch, hand_in: &mut HandIn<'_>) {
        let unique = self.extractor.unique();
        let mut worker = Worker {
            context: self,
            builder: BatchBuilder::new(self.job, unique, self.pool, scratch, hand_in),
        };
        match unit {
            Unit::Steps { steps, bytes_read } => {
                steps.into_iter().for_each(|step| worker.step(step));
                worker.builder.chunk().summary.bytes_read += bytes_read;
            }
            Unit::Files(files) => {
                // An article has its own chunk.
                worker.builder.reserve_chunks(files.len() + 1);
                files.iter().for_each(|file| worker.file(file));
            }
        }
        worker.builder.finish();
    }
}

/// Worker on one unit.
struct Worker<'w> {
    context: WorkContext<'w>,
    builder: BatchBuilder<'w>,
}

impl Worker<'_> {
    fn step(&mut self, step: InputStep) {
        match step {
            InputStep::Block(block) => self.block(&block),
            InputStep::Unread(messages) => self.unread(messages),
            other => self.builder.chunk().note_step(other),
        }
    }

    /// Reads a small file. A panic outside a message becomes an event.
    fn file(&mut self, file: &WalkedFile) {
        if contained(|| self.try_file(file)).is_none() {
            let event = panicked("on this file").of(&file.source);
            self.builder.chunk().failed(event);
        }
    }

    /// Reads a small file and its members.
    fn try_file(&mut self, file: &WalkedFile) {
        let mut bytes = std::mem::take(&mut self.builder.scratch.block_bytes);
        bytes.clear();
        let opened = read::read_small(file, SMALL_FILE_BYTES, &mut bytes);
        let read_bytes = bytes.len() as u64;
        match &opened {
            Err(error) => self.builder.chunk().unreadable(&file.source, error),
            // The file has grown, or its name now refers to another file, or `readpst` reads it.
            Ok(_) if SMALL_FILE_BYTES <= read_bytes || read::is_outlook(&bytes) => {
                self.large_file(file);
            }
            Ok(_) if read::is_container(&bytes) => {
                self.builder.chunk().summary.bytes_read += read_bytes;
                self.steps(file, Input::memory(std::mem::take(&mut bytes)));
            }
            Ok(_) => bytes = self.plain_file(file, bytes),
        }
        if opened.is_ok_and(|size| read_bytes < size.min(SMALL_FILE_BYTES)) {
            self.builder.chunk().shrunk(&file.source, read_bytes);
        }
        self.builder.scratch.block_bytes = bytes;
    }

    /// Processes a file of any size, after everything before it is written.
    fn large_file(&mut self, file: &WalkedFile) {
        self.builder.wait_for_turn();
        let reopened = WalkedFile {
            preopened: None,
            ..file.clone()
        };
        match read::open(&reopened) {
            Ok(opened) => {
                let bytes_read = self.steps(file, Input::file(opened));
                self.builder.chunk().summary.bytes_read += bytes_read;
            }
            Err(error) => self.builder.chunk().unreadable(&file.source, &error),
        }
    }

    /// Processes a small uncompressed file whose content is `bytes`. Returns the buffer.
    fn plain_file(&mut self, file: &WalkedFile, bytes: Vec<u8>) -> Vec<u8> {
        let size = bytes.len() as u64;
        let start = SourceStart::of_bytes(bytes);
        let given = self.context.job.format;
        match start.format(given, file.hint) {
            Ok(format)
                if given.is_none()
                    && file.is_in_root()
                    && is_earlier_output(format, &start.bytes) =>
            {
                let chunk = self.builder.chunk();
                chunk.skipped(&file.source, SkipReason::EarlierOutput);
                start.bytes
            }
            Err(reason) => {
                self.builder.chunk().skipped(&file.source, reason);
                start.bytes
            }
            Ok(format) => {
                let chunk = self.builder.chunk();
                chunk.read_whole(&file.source);
                chunk.summary.bytes_read += size;
                let block = MessageBlock {
                    source: file.source.clone(),
                    format,
                    block: Block {
                        bytes: start.bytes,
                        offset: start.offset,
                        ..Block::default()
                    },
                };
                self.block(&block);
                block.block.bytes
            }
        }
    }

    /// Processes the content of a file block by block. Returns the number of bytes read.
    ///
    /// A large content is read on after everything before it is written, so only one thread at a
    /// time reads one.
    fn steps(&mut self, file: &WalkedFile, input: Input) -> u64 {
        let limits = self.context.extractor.limits();
        let given = self.context.job.format;
        let mut messages = MessageSource::of_file(input, file, given, limits);
        let mut unpacked_bytes = 0;
        for step in messages.by_ref() {
            unpacked_bytes += step.message_bytes();
            if SMALL_CONTAINER_BYTES < unpacked_bytes && !self.builder.wait_for_turn() {
                break;
            }
            self.step(step);
        }
        messages.bytes_read()
    }

    /// Reads messages of a stream and processes them. An error does not keep the rest of the stream
    /// from being read.
    fn unread(&mut self, messages: UnreadMessages) {
        let (offset, range) = (messages.unread.offset, messages.unread.range);
        let mut bytes = std::mem::take(&mut self.builder.scratch.block_bytes);
        let result = range.read(&mut bytes);
        let read_bytes = bytes.len() as u64;
        let block = MessageBlock {
            source: messages.source,
            format: messages.format,
            block: Block {
                bytes,
                offset,
                ..Block::default()
            },
        };
        self.block(&block);
        let chunk = self.builder.chunk();
        chunk.summary.bytes_read += read_bytes.saturating_sub(range.overlap());
        match result {
            Ok(()) if read_bytes == 0 => chunk.event(shrunk_before(&block.source, offset)),
            Ok(()) if read_bytes < range.len() => {
                chunk.shrunk(&block.source, offset + read_bytes);
            }
            Ok(()) => {}
            Err(error) => {
                let diagnostic = read::error_diagnostic(&error, Some(offset + read_bytes));
                chunk.broken = Some(diagnostic.kind);
                chunk.event(diagnostic.of(&block.source));
            }
        }
        self.builder.scratch.block_bytes = block.block.bytes;
    }

    fn block(&mut self, block: &MessageBlock) {
        let mut end = block.block.offset;
        let split = contained(|| {
            block.messages(&mut |output| match output {
                SplitOutput::Message(message) => {
                    self.message(&message, &block.source);
                    end = message.end();
                }
                SplitOutput::Diagnostic(diagnostic) => {
                    self.builder.chunk().event(diagnostic.of(&block.source));
                }
            });
        });
        if split.is_none() {
            self.rest_of_block(block, end);
        }
    }

    /// Reads the rest of a block, from the offset `start` of its stream, as one text after a panic
    /// in its division.
    fn rest_of_block(&mut self, block: &MessageBlock, start: u64) {
        let at = panicked("on the borders of messages; the rest of this block is read as text");
        let diagnostic = Diagnostic {
            offset: Some(start),
            ..at
        };
        self.builder.chunk().event(diagnostic.of(&block.source));
        let raw = &block.block.bytes[(start - block.block.offset) as usize..];
        let rest = Message {
            start,
            kind: block.format.kind(),
            ..Message::text(raw)
        };
        self.message(&rest, &block.source);
    }

    /// Processes a message, and contains its panics: the message is then read as one text.
    fn message(&mut self, message: &Message<'_>, source: &Source) {
        if LARGE_MESSAGE_BYTES < message.raw.len() {
            self.builder.wait_for_turn();
        }
        let known = contained(|| {
            let header = ParsedHeader::of(message, self.context.extractor.limits().header_bytes);
            let article = self.article(message, &header);
            (header, article)
        });
        let (header, article) = known.unzip();
        let is_news = message.kind == SourceKind::News;
        if is_news {
            self.builder.begin_article(article.flatten());
        }
        self.builder.begin_message();
        let is_read = header.is_some_and(|header| {
            contained(|| self.try_message(message, &header, source)).is_some()
        });
        if !is_read {
            self.flat_message(message, source);
        }
        if is_news {
            self.builder.next_chunk(Chunk::default());
        }
    }

    /// Reads a message as one text after a panic.
    fn flat_message(&mut self, message: &Message<'_>, source: &Source) {
        self.builder.discard_message();
        self.builder.begin_message();
        let mut on = "on this message, which is read as text";
        if contained(|| self.try_flat_message(message, source)).is_none() {
            self.builder.discard_message();
            self.builder.chunk().summary.skip_message(SkipReason::Panic);
            on = "on this message, which is skipped";
        }
        let diagnostic = Diagnostic {
            offset: Some(message.start),
            ..panicked(on)
        };
        self.builder.chunk().event(diagnostic.of(source));
    }

    fn try_flat_message(&mut self, message: &Message<'_>, source: &Source) {
        let builder = &mut self.builder;
        let extractor = self.context.extractor;
        extractor.extract_flat(message, source, &mut |finding| builder.add(finding, source));
        if message.head().is_none() {
            builder.count_message();
        }
        builder.end_message();
    }

    /// Identifies a news article by its content, including the Message-ID. `None` if it has no
    /// Message-ID. A fragment belongs to the article at its start.
    fn article(&self, message: &Message<'_>, header: &ParsedHeader<'_>) -> Option<ArticleChunk> {
        let (start, fields) = header.start(message);
        if message.kind != SourceKind::News || fields.first_known(KnownField::MessageId).is_none() {
            return None;
        }
        let mut hash = self.context.article_key.hasher();
        digested(start, fields, &mut |bytes| hash.write(bytes));
        Some(ArticleChunk {
            hash: hash.finish(),
            is_continuation: message.head().is_some(),
        })
    }

    /// Extracts the URLs of a message, unless its date or its list excludes it.
    fn try_message(&mut self, message: &Message<'_>, header: &ParsedHeader<'_>, source: &Source) {
        let is_fragment = message.head().is_some();
        if let Some(reason) = self.exclusion(message, header) {
            if !is_fragment {
                self.builder.chunk().summary.skip_message(reason);
            }
            return;
        }
        let builder = &mut self.builder;
        let extractor = self.context.extractor;
        extractor.extract_parsed(message, header, source, &mut |finding| {
            builder.add(finding, source);
        });
        if !is_fragment {
            builder.count_message();
        }
        builder.end_message();
    }

    /// Returns the reason why the job excludes a message. A message without a date is in every
    /// period.
    fn exclusion(&self, message: &Message<'_>, header: &ParsedHeader<'_>) -> Option<SkipReason> {
        let Job {
            since,
            until,
            lists,
            ..
        } = self.context.job;
        if since.is_none() && until.is_none() && lists.is_empty() {
            return None;
        }
        let field_bytes = self.context.extractor.limits().field_bytes;
        let (start, fields) = header.start(message);
        let info = |wanted| MessageInfo::of_message(start, fields, field_bytes, wanted, &[]);
        let date = (since.is_some() || until.is_some())
            .then(|| info(InfoFields::DATE)?.date?.unix)
            .flatten();
        let is_in_time = date.is_none_or(|date| {
            since.is_none_or(|since| since <= date) && until.is_none_or(|until| date < until)
        });
        if !is_in_time {
            return Some(SkipReason::Date);
        }
        let is_wanted = || {
            let wanted = InfoFields::LIST_ID.with(InfoFields::NEWSGROUPS);
            info(wanted).is_some_and(|info| lists.iter().any(|list| info.is_of_list(list)))
        };
        (!lists.is_empty() && !is_wanted()).then_some(SkipReason::List)
    }
}

/// Returns the result of `work`, or `None` if it panicked.
fn contained<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// The diagnostic of a panic; `on` completes its sentence.
fn panicked(on: &str) -> Diagnostic {
    let message = format!("the program failed {on}; please report it");
    Diagnostic::new(DiagnosticKind::Panic, message)
}
