//! Ingest of messages: skips recorded ones, extracts the others on several threads, and adds
//! records and state to the batch. Reads and commits preserve the order of the messages.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::io::{self, Seek, Write};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{available_parallelism, sleep};
use std::time::Duration;

use rayon::prelude::*;
use tempfile::{SpooledTempFile, spooled_tempfile_in};

use super::EndCertainty;
use super::identity::{ExistingFiles, FileVersion, MessageContent, PiecePosition};
use super::suspects::Suspects;
use crate::status::{Counters, add_kinds};
use crate::store::{
    GivenMessage, GrowingMessage, Hash128, HolderKey, MailboxId, MboxCursor, Session,
    SpoolIdentity, message_key, message_link,
};
use crate::{AtPath, DaemonError, Result};
use urlspool_files::config::Spool;
use urlspool_mail::split::{Block, Format, Message, SplitOutput, messages};
use urlspool_record::extract::{Extractor, Finding, Unique, key_hash};
use urlspool_record::record::{self, LineFormat, MessageTail, Occurrences, RecordWriter};
use urlspool_sources::walk::WalkedFile;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind, Event};
use urlspool_text::hash::hash_pieces;
use urlspool_text::limits::{
    DAEMON_PARSER_THREADS, GROWING_URLS, HELD_RECORDS_BYTES, HELD_RECORDS_RATIO, PARSE_BATCH_BYTES,
    PARSE_BATCH_MESSAGES,
};
use urlspool_text::origin::{Source, mailbox};

/// Context for ingesting one file of a spool.
pub(crate) struct IngestContext<'i> {
    pub session: &'i Session,
    pub parsers: &'i ParserPool,
    pub extractor: &'i Extractor,
    pub counters: &'i mut Counters,
    /// Events of the file and its messages.
    pub events: &'i mut Vec<Event>,
    pub spool: &'i Spool,
    /// The spool as the state knows it.
    pub identity: &'i SpoolIdentity,
    /// The files that existed when the spool was watched for the first time, if their URLs are not
    /// written.
    pub existing: &'i ExistingFiles,
    /// The file, or the folder of a git repository.
    pub file: &'i WalkedFile,
    /// The version of the file that is ingested.
    pub version: FileVersion,
}

/// Adds messages of one mailbox to the batch.
pub(super) struct MessageIngest<'m, 'i> {
    pub(super) context: &'m mut IngestContext<'i>,
    /// The file, or one of its members.
    pub(super) source: Source,
    pub(super) mailbox: MailboxProgress,
    /// Messages of the mailbox that may still grow.
    pub(super) growing: Vec<GrowingMessage>,
    /// Lengths of the canonical content that a single-message file had at earlier reads, longest
    /// first.
    pub(super) earlier_lengths: Vec<u64>,
    /// The offset up to which the file existed when its spool was watched for the first time. URLs
    /// of messages before it are not written. 0 if they are.
    pub(super) existing_end: u64,
    /// The offset up to which the file was ingested before. Messages that end there are read again
    /// to compare them, and are no duplicates.
    pub(super) ingested_end: u64,
    /// The holder of the messages; `None` if holders are not tracked.
    pub(super) holder: Option<HolderKey>,
    /// The positions after the next messages, for an mbox whose holders are tracked. Each is stored
    /// with its message. Otherwise, messages removed from the mbox before the next read would stay
    /// held.
    pub(super) positions: VecDeque<(u64, MboxCursor)>,
    /// The digest of the last message that is not a later piece of a larger one.
    pub(super) first_digest: u128,
}

/// A message and its identity.
struct IdentifiedMessage<'m, 'b> {
    message: &'m Message<'b>,
    /// `true` if the program panicked on the header.
    has_panicked: bool,
    end: EndCertainty,
    /// The hash of the content with the key of the state.
    digest: u128,
    /// The length of the canonical content.
    len: u64,
    /// The digest in the records, if holders are tracked.
    record_digest: Option<u128>,
    key: Hash128,
    /// Earlier versions of this message, recorded before it grew.
    earlier: Vec<GrowingMessage>,
    /// The reason to search it; `None` if it is recorded, or set aside.
    reason: Option<ExtractionReason>,
}

/// The reason to search a message for URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExtractionReason {
    /// The message is not recorded.
    New,
    /// The message is recorded, but whether it has records is unknown: it has none, or it was read
    /// before holders were tracked.
    Unlearnt,
}

impl<'m, 'i> MessageIngest<'m, 'i> {
    /// Creates the ingest for the messages of a source, which is the file of the context or one of
    /// its members.
    pub(super) fn new(
        context: &'m mut IngestContext<'i>,
        source: Source,
        mailbox: MailboxProgress,
    ) -> MessageIngest<'m, 'i> {
        MessageIngest {
            existing_end: context.existing.end_in(context.version),
            context,
            source,
            mailbox,
            growing: Vec::new(),
            earlier_lengths: Vec::new(),
            ingested_end: 0,
            holder: None,
            positions: VecDeque::new(),
            first_digest: 0,
        }
    }

    /// Returns the messages of a block. Adds diagnostics of their borders to the events.
    pub(super) fn split<'b>(&mut self, block: &'b Block, format: Format) -> Vec<Message<'b>> {
        split(block, format, |diagnostic| {
            self.context.events.push(diagnostic.of(&self.source));
        })
    }

    /// Opens the holder of the messages ingested from now on, if holders are tracked.
    pub(super) fn open_holder(&mut self, holder: HolderKey) -> Result<()> {
        let (spool, dev) = (&self.context.identity.path, self.context.version.id.dev);
        let writer = self.context.session.lock()?;
        self.holder = writer.db()?.open_holder(holder, spool, dev)?;
        Ok(())
    }

    /// Ingests consecutive messages, or a later piece of a larger message, `offset` bytes after its
    /// start. `end` applies to the last message; the ends of the others are certain.
    pub(super) fn ingest_messages(
        &mut self,
        messages: &[Message<'_>],
        offset: Option<u64>,
        end: EndCertainty,
    ) -> Result<()> {
        let mut rest = messages;
        let mut max_size = usize::MAX;
        while !rest.is_empty() {
            // A grown message changes the state that later messages are compared with.
            let limit = if self.growing.is_empty() { max_size } else { 1 };
            let size = group_size(rest).min(limit);
            let (group, others) = rest.split_at(size);
            let _turn = self.context.parsers.turn(&group[0], self.context.session);
            let group_end = if others.is_empty() {
                end
            } else {
                EndCertainty::Certain
            };
            if self.ingest_group(group, offset, group_end)? {
                (rest, max_size) = (others, usize::MAX);
            } else {
                max_size = size / 2;
            }
        }
        // A message that may grow, if it was recorded elsewhere in its mailbox.
        if let Some(last) = messages.last()
            && end != EndCertainty::Certain
            && offset.is_none()
            && self.identify(last, None).earlier.is_empty()
            && let Some(growing) = self.recorded_as_growing(last)?
        {
            let writer = self.context.session.lock()?;
            writer.db()?.put_growing(self.mailbox.id, &growing)?;
            self.growing.push(growing);
        }
        Ok(())
    }

    /// Recognises a single-message file that has grown since it was recorded: a prefix as long as
    /// the earlier message is a recorded message. Computes from it the state that a growing message
    /// of an mbox has.
    pub(super) fn find_earlier(&mut self, block: &mut Block, format: Format) -> Result<()> {
        for len in std::mem::take(&mut self.earlier_lengths) {
            let header_bytes = self.context.extractor.limits().header_bytes;
            let [message] = split(block, format, drop)[..] else {
                return Ok(());
            };
            let Some(end) = MessageContent::of(message, header_bytes).raw_prefix_len(len) else {
                continue;
            };
            let start = (message.start - block.offset) as usize;
            let added = block.bytes.split_off(start + end);
            let growing = match split(block, format, drop)[..] {
                [message] => self.recorded_as_growing(&message)?,
                _ => None,
            };
            block.bytes.extend_from_slice(&added);
            if growing.is_some() {
                self.growing.extend(growing);
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns a message as one that may grow, or `None` if it is not recorded.
    fn recorded_as_growing(&self, message: &Message<'_>) -> Result<Option<GrowingMessage>> {
        let _turn = self.context.parsers.turn(message, self.context.session);
        let identified = IdentifiedMessage {
            end: EndCertainty::EndOfFile,
            reason: Some(ExtractionReason::New),
            ..self.identify(message, None)
        };
        let (mailbox, key) = (self.mailbox.id, identified.key);
        let writer = self.context.session.lock()?;
        if !writer.db()?.is_seen(mailbox, key)? {
            return Ok(None);
        }
        let digests = match identified.record_digest {
            Some(digest) => writer.db()?.given_digests(mailbox, digest)?,
            None => Vec::new(),
        };
        drop(writer);
        let mut writer = RecordWriter::default();
        let output = self.extract(&identified, &mut writer);
        Ok(output.and_then(|output| self.growing_message(&identified, &output, digests)))
    }

    /// Returns the state that identifies a message after it has grown. `None` if its end is certain
    /// or it is empty.
    fn growing_message(
        &self,
        message: &IdentifiedMessage<'_, '_>,
        output: &MessageOutput,
        digests: Vec<u128>,
    ) -> Option<GrowingMessage> {
        if message.end == EndCertainty::Certain || message.has_panicked {
            return None;
        }
        let content = self.content(message.message);
        let (len, hash) = content.stable_prefix(self.context.session.hash_key)?;
        Some(GrowingMessage {
            len,
            hash,
            ids: output.url_ids.clone(),
            digests,
        })
    }

    /// Ingests messages that are extracted together, on several threads. Returns `false` if the
    /// process died of one of them, which must be found in smaller groups.
    fn ingest_group(
        &mut self,
        group: &[Message<'_>],
        offset: Option<u64>,
        end: EndCertainty,
    ) -> Result<bool> {
        let last = group.len() - 1;
        let first_digest = self.first_digest;
        let position = offset.map(|offset| PiecePosition {
            first_digest,
            offset,
        });
        let parsers = self.context.parsers;
        let mut identified = parsers.map(group, |_, message| self.identify(message, position));
        identified[last].end = end;
        self.find_reasons(&mut identified)?;
        for IdentifiedMessage { key, reason, .. } in &mut identified {
            reason.take_if(|_| parsers.suspects.is_set_aside(*key));
        }
        let parsed = identified.iter().filter(|found| found.reason.is_some());
        let parsed: Vec<_> = parsed.map(|found| (found.key, found.message)).collect();
        if !parsers.suspects.may_parse(&parsed, self.context.session)? {
            if 1 < group.len() {
                return Ok(false);
            }
            self.set_aside(&identified[0])?;
            identified[0].reason = None;
        }
        let outputs = parsers.map(&identified, |writer, message| self.extract(message, writer));
        parsers.suspects.forget_parsed();
        for (message, output) in identified.iter().zip(outputs) {
            self.add_to_batch(message, output)?;
        }
        match position {
            None => {
                self.mailbox.messages += group.len() as u64;
                self.first_digest = identified[last].digest;
            }
            Some(_) => self.mailbox.pieces += group.len() as u64,
        }
        self.mailbox.last_link = message_link(identified[last].key);
        self.mailbox.last_len = identified[last].len;
        Ok(true)
    }

    /// Sets a message aside: it is not extracted, and the status names it.
    fn set_aside(&mut self, message: &IdentifiedMessage<'_, '_>) -> Result<()> {
        let text = "this message crashed urlspool three times and is skipped; please report this \
                    as a bug";
        let at = message.message.start;
        self.context
            .events
            .push(Diagnostic::at(DiagnosticKind::Panic, at, text).of(&self.source));
        let mut place = self.source.path.display().to_string();
        for name in self.source.member() {
            place.push_str(&format!(", {}", name.escape_ascii()));
        }
        place.push_str(&format!(": message at byte {at}"));
        self.context.parsers.suspects.set_aside(message.key);
        let writer = self.context.session.lock()?;
        writer.db()?.set_aside(self.mailbox.id, message.key, &place)
    }

    /// Identifies a message. If the program panics on its header, the raw bytes identify it.
    fn identify<'g, 'b>(
        &self,
        message: &'g Message<'b>,
        position: Option<PiecePosition>,
    ) -> IdentifiedMessage<'g, 'b> {
        let (raw, hash_key) = (message.raw, self.context.session.hash_key);
        let by_header = catch_unwind(AssertUnwindSafe(|| {
            let content = self.content(message);
            let (digest, len) = content.digest(position, hash_key);
            let mut earlier = self.growing.clone();
            earlier.retain(|known| content.starts_with((known.len, known.hash), hash_key));
            let record_digest = self.holder.map(|_| content.record_digest());
            (digest, len, record_digest, earlier)
        }));
        let has_panicked = by_header.is_err();
        let (digest, len, record_digest, earlier) = by_header.unwrap_or_else(|_| {
            let record_digest = self.holder.map(|_| hash_pieces(&[raw]));
            (hash_key.hash(raw), raw.len() as u64, record_digest, vec![])
        });
        IdentifiedMessage {
            message,
            has_panicked,
            end: EndCertainty::Certain,
            digest,
            len,
            record_digest,
            key: message_key(self.mailbox.key, digest),
            earlier,
            reason: None,
        }
    }

    fn content<'b>(&self, message: &Message<'b>) -> MessageContent<'b> {
        MessageContent::of(*message, self.context.extractor.limits().header_bytes)
    }

    /// Finds out which messages are not recorded, or have no known records.
    fn find_reasons(&self, identified: &mut [IdentifiedMessage<'_, '_>]) -> Result<()> {
        let writer = self.context.session.lock()?;
        let (state, mailbox) = (writer.db()?, self.mailbox.id);
        for message in identified {
            let key = message.key;
            message.reason = if !state.is_seen(mailbox, key)? {
                Some(ExtractionReason::New)
            } else if let Some(digest) = message.record_digest
                && !state.is_given(mailbox, digest, key)?
            {
                Some(ExtractionReason::Unlearnt)
            } else {
                None
            };
        }
        Ok(())
    }

    /// Searches a message for URLs, if there is a reason.
    fn extract(
        &self,
        identified: &IdentifiedMessage<'_, '_>,
        writer: &mut RecordWriter,
    ) -> Option<MessageOutput> {
        let earlier = match identified.reason? {
            ExtractionReason::New => &identified.earlier[..],
            // All URLs count, even those of earlier versions.
            ExtractionReason::Unlearnt => &[],
        };
        let is_existing = identified.message.end() <= self.existing_end;
        if is_existing && identified.end == EndCertainty::Certain {
            return Some(MessageOutput::default());
        }
        let mut output = self.output(identified, earlier, writer);
        if is_existing {
            // These identifiers let the earlier URLs be recognised when the message has grown.
            (output.lines, output.records) = (None, 0);
            (output.filtered, output.duplicates) = (0, 0);
            output.hazards.clear();
        }
        Some(output)
    }

    /// Extracts the URLs of a message. Skips URLs already present in `earlier`, the versions of the
    /// message before it grew. A panic becomes an event, and the message is then read as a single
    /// text. The same applies if its header caused a panic.
    fn output(
        &self,
        identified: &IdentifiedMessage<'_, '_>,
        earlier: &[GrowingMessage],
        writer: &mut RecordWriter,
    ) -> MessageOutput {
        let mut try_to = |extract: ExtractFn| {
            let work = AssertUnwindSafe(|| self.output_of(identified, earlier, writer, extract));
            catch_unwind(work).ok()
        };
        let whole = (!identified.has_panicked).then(|| try_to(Extractor::extract));
        if let Some(output) = whole.flatten() {
            return output;
        }
        let text = try_to(Extractor::extract_flat);
        let outcome = text.as_ref().map_or("skipped it", |_| "read it as text");
        let report =
            format!("urlspool failed on this message and {outcome}; please report this as a bug");
        let mut output = text.unwrap_or_default();
        let event = Diagnostic::at(DiagnosticKind::Panic, identified.message.start, report);
        output.events.push(event.of(&self.source));
        output
    }

    fn output_of(
        &self,
        identified: &IdentifiedMessage<'_, '_>,
        earlier: &[GrowingMessage],
        writer: &mut RecordWriter,
        extract: ExtractFn,
    ) -> MessageOutput {
        let recorded: HashSet<u128> = earlier
            .iter()
            .flat_map(|version| version.ids.iter().copied())
            .collect();
        let has_ids = identified.end != EndCertainty::Certain || !recorded.is_empty();
        let mut output = MessageOutput::default();
        let (mut counts, mut has_filtered) = (HashMap::new(), false);
        writer.begin(match identified.end {
            EndCertainty::MidLine => MessageTail::Truncated,
            EndCertainty::Certain | EndCertainty::EndOfFile => MessageTail::Complete,
        });
        let (message, source) = (identified.message, &self.source);
        let held_bytes = HELD_RECORDS_BYTES.min(message.raw.len() * HELD_RECORDS_RATIO);
        let is_unique = self.context.extractor.unique() == Unique::Message;
        let format = &self.context.parsers.format;
        let (mut lines, mut occurrences) = (Vec::new(), Occurrences::default());
        let mut unpacking = None;
        extract(
            self.context.extractor,
            message,
            source,
            &mut |finding| match finding {
                Finding::Url(record) | Finding::Unwrapped(record) => {
                    if has_ids && output.url_ids.len() < GROWING_URLS {
                        let id = url_id("", record.found.full, &mut counts);
                        output.url_ids.push(id);
                        if output.url_ids.len() == GROWING_URLS {
                            let event = Diagnostic::at(
                                DiagnosticKind::Limit,
                                message.start,
                                format!(
                                    "limit of {GROWING_URLS} URLs at the end of a file reached: if \
                                     this message grows, its later URLs are written again"
                                ),
                            );
                            output.events.push(event.of(source));
                        }
                        if recorded.contains(&id) {
                            return;
                        }
                    }
                    output.records += 1;
                    for hazard in record.hazards() {
                        *output.hazards.entry(hazard).or_default() += 1;
                    }
                    let count_at = writer.write(record, &mut lines);
                    if is_unique && let Some(at) = count_at {
                        occurrences.add(key_hash(record.found), at);
                    }
                    if HELD_RECORDS_BYTES < lines.len() {
                        format.set_counts(&mut lines, occurrences.take());
                        output.put_lines(&lines, held_bytes, self.context.session);
                        lines.clear();
                    }
                }
                Finding::Large if unpacking.is_none() => {
                    let lock = self.context.parsers.unpacking.lock();
                    unpacking = Some(lock.unwrap_or_else(PoisonError::into_inner));
                }
                Finding::Diagnostic(diagnostic) => output.events.push(diagnostic.of(source)),
                Finding::Filtered { .. } => {
                    has_filtered = true;
                    let id = url_id("filtered", &[], &mut counts);
                    output.filtered += u64::from(!recorded.contains(&id));
                    output.note_hidden(id, has_ids);
                }
                Finding::Duplicate { key, .. } => {
                    occurrences.repeat(key);
                    let id = url_id("duplicate", &[], &mut counts);
                    output.duplicates += u64::from(!recorded.contains(&id));
                    output.note_hidden(id, has_ids);
                }
                _ => {}
            },
        );
        if !lines.is_empty() {
            format.set_counts(&mut lines, occurrences.take());
            output.put_lines(&lines, held_bytes, self.context.session);
        }
        if let (Some(lines), None) = (&mut output.lines, &output.failure) {
            output.failure = lines.rewind().at("output folder").err();
        }
        // A filter may hold back URLs that an earlier one let through. They stay recorded.
        let found: HashSet<u128> = output.url_ids.iter().copied().collect();
        let missing = recorded.difference(&found).copied();
        if has_filtered {
            let room = GROWING_URLS.saturating_sub(output.url_ids.len());
            output.url_ids.extend(missing.take(room));
        }
        output
    }

    /// Adds the records of a message to the batch, together with its state. `output` is `None` for
    /// a duplicate.
    fn add_to_batch(
        &mut self,
        message: &IdentifiedMessage<'_, '_>,
        mut output: Option<MessageOutput>,
    ) -> Result<()> {
        let mailbox = self.mailbox.id;
        if let Some(error) = output.as_mut().and_then(|output| output.failure.take()) {
            // Not if the error is that the committer has ended.
            if let Ok(mut writer) = self.context.session.lock() {
                writer.end(&error);
            }
            return Err(error);
        }
        let (mut given, mut growing) = (None, None);
        if let Some(output) = &output {
            given = self.given_message(message, output);
            let digests = given.iter().flat_map(GivenMessage::digests).collect();
            growing = self.growing_message(message, output, digests);
        }
        // A single lock, so no commit can come between the parts of a message.
        let mut writer = self.context.session.lock()?;
        // Another reader may have added the same message since.
        if output.is_some() && !writer.db()?.mark_seen(mailbox, message.key)? {
            (output, growing) = (None, None);
        }
        if let Some(output) = &mut output {
            // A grown message has records even if its new part has none.
            if output.records > 0 || !message.earlier.is_empty() {
                writer.db()?.mark_in_open_segment(mailbox, message.key)?;
            }
            match &mut output.lines {
                Some(lines) => writer.put(lines, output.records)?,
                None => writer.put(&mut io::empty(), 0)?,
            }
        }
        let state = writer.db()?;
        if let Some(given) = &given {
            state.put_given(mailbox, given)?;
        }
        if let (Some(holder), Some(digest)) = (self.holder, message.record_digest) {
            state.hold(holder, mailbox, digest, message.key)?;
        }
        if output.is_some() || message.end == EndCertainty::Certain {
            for earlier in &message.earlier {
                state.remove_growing(mailbox, earlier)?;
            }
            self.growing
                .retain(|version| !message.earlier.contains(version));
        }
        if let Some(growing) = growing {
            state.put_growing(mailbox, &growing)?;
            self.growing.push(growing);
        }
        if let Some((file, cursor)) = self.positions.pop_front() {
            state.put_cursor(file, mailbox, &cursor)?;
        }
        // One file, or one chunk of it, can exceed a batch. When the file is read again, the
        // committed messages are recognised by their keys.
        writer.commit_if_full()?;
        match output {
            Some(mut output) => {
                self.context.counters.messages_read += 1;
                self.context.counters.filtered += output.filtered;
                self.context.counters.duplicates += output.duplicates;
                add_kinds(&mut self.context.counters.hazards, &output.hazards);
                self.context.events.append(&mut output.events);
            }
            None if message.message.end() <= self.ingested_end => {}
            None => self.context.counters.repeated += 1,
        }
        Ok(())
    }

    /// Returns the row of a message that has records, or whose earlier versions have some. `None`
    /// if holders are not tracked.
    fn given_message(
        &self,
        message: &IdentifiedMessage<'_, '_>,
        output: &MessageOutput,
    ) -> Option<GivenMessage> {
        let digest = message.record_digest?;
        let versions = message.earlier.iter();
        let digests = versions.flat_map(|version| version.digests.iter().copied());
        let earlier: BTreeSet<u128> = digests.filter(|earlier| *earlier != digest).collect();
        if output.records == 0 && earlier.is_empty() {
            return None;
        }
        let path = match output.records {
            0 => PathBuf::new(),
            _ => mailbox(&self.source.path, message.message.kind).into(),
        };
        Some(GivenMessage {
            digest,
            path,
            keys: vec![message.key],
            earlier: earlier.into_iter().collect(),
        })
    }
}

/// Returns the messages of a block. Diagnostics of their borders go to `report`.
fn split(block: &Block, format: Format, mut report: impl FnMut(Diagnostic)) -> Vec<Message<'_>> {
    let mut found = Vec::new();
    messages(block, format, &mut |output| match output {
        SplitOutput::Message(message) => found.push(message),
        SplitOutput::Diagnostic(diagnostic) => report(diagnostic),
    });
    found
}

/// Returns the number of messages at the start of `rest` to extract together; at least one.
fn group_size(rest: &[Message<'_>]) -> usize {
    let mut bytes = 0;
    let most = rest.iter().take(PARSE_BATCH_MESSAGES);
    let fitting = most.take_while(|message| {
        bytes += message.raw.len();
        bytes <= PARSE_BATCH_BYTES
    });
    fitting.count().max(1)
}

/// A mailbox, and the ingest progress of one of its files.
#[derive(Clone, Debug, Default)]
pub(super) struct MailboxProgress {
    pub(super) id: MailboxId,
    pub(super) key: Hash128,
    /// The first bits of the last message's key: the link from the file's row to it.
    pub(super) last_link: u64,
    /// The length of the last message's canonical content.
    pub(super) last_len: u64,
    /// The [`place_key`](super::identity::place_key) of a single-message file that may grow.
    pub(super) place: Option<u64>,
    /// Number of messages in the file, including duplicates.
    pub(super) messages: u64,
    /// Number of pieces of messages above the size limit.
    pub(super) pieces: u64,
}

impl MailboxProgress {
    /// The progress before any ingest.
    pub(super) fn new(id: MailboxId, key: Hash128) -> MailboxProgress {
        MailboxProgress {
            id,
            key,
            ..MailboxProgress::default()
        }
    }

    /// Adds the progress of another stream of the same file.
    pub(super) fn add(&mut self, other: &MailboxProgress) {
        self.messages += other.messages;
        self.pieces += other.pieces;
        self.last_link = other.last_link;
        self.last_len = other.last_len;
    }
}

/// Encoded records of a message, and its events.
#[derive(Default)]
struct MessageOutput {
    /// JSON lines, of which a file holds all if there are many; `None` if there are none.
    lines: Option<SpooledTempFile>,
    /// The error of writing lines.
    failure: Option<DaemonError>,
    /// Number of lines.
    records: u64,
    /// Number of URLs that a filter held back, without those of earlier versions of the message.
    filtered: u64,
    /// Number of duplicates, counted like `filtered`.
    duplicates: u64,
    /// Number of records, by hazard of the URL.
    hazards: BTreeMap<&'static str, u64>,
    /// Identifiers of all URLs of a message that may grow or has grown, including those recorded
    /// earlier, and of the numbers of filtered ones and duplicates. Empty for other messages.
    url_ids: Vec<u128>,
    events: Vec<Event>,
}

impl MessageOutput {
    /// Adds lines. More than `held_bytes` of lines go to a file.
    ///
    /// An error ends the committer at the message's turn. Ended here, the error would be lost:
    /// earlier messages would only find that the committer has ended.
    fn put_lines(&mut self, more: &[u8], held_bytes: usize, session: &Session) {
        let lines = self
            .lines
            .get_or_insert_with(|| spooled_tempfile_in(held_bytes, &session.records_dir));
        if self.failure.is_none() {
            self.failure = lines.write_all(more).at("output folder").err();
        }
    }

    /// Stores the identifier of a URL without a record, if there is room. The last place is for a
    /// URL that reaches the limit, which is reported.
    fn note_hidden(&mut self, id: u128, has_ids: bool) {
        let has_room = has_ids && self.url_ids.len() < GROWING_URLS - 1;
        self.url_ids.extend(has_room.then_some(id));
    }
}

/// [`Extractor::extract`], or [`Extractor::extract_flat`].
type ExtractFn = fn(&Extractor, &Message<'_>, &Source, &mut dyn FnMut(Finding<'_>));

/// Returns the identifier of a URL within its message: a hash of the URL and the number of its
/// earlier occurrences. A URL without a record has a `kind`, and its text does not matter.
fn url_id(kind: &str, url: &[u8], counts: &mut HashMap<u128, u32>) -> u128 {
    let earlier = counts
        .entry(record::record_id(0, kind, url, 0))
        .or_default();
    let id = record::record_id(0, kind, url, *earlier);
    *earlier += 1;
    id
}

/// A pool of threads, shared by all readers.
pub struct ParserPool {
    /// `None` on one core, where each reader does the work on its own thread.
    pool: Option<rayon::ThreadPool>,
    /// The format of the records' lines.
    format: LineFormat,
    /// Idle writers. Their caches cost more than a small message.
    writers: Mutex<Vec<RecordWriter>>,
    /// Held by the reader that parses a large message.
    large: Mutex<()>,
    /// Held while a reader decompresses an attachment or document with large content.
    unpacking: Mutex<()>,
    suspects: Suspects,
}

impl ParserPool {
    /// Creates a pool with one thread per core, at most [`DAEMON_PARSER_THREADS`], for records in
    /// this format. Messages at which an earlier process may have died are parsed only after a
    /// trial.
    pub fn new(format: LineFormat, suspects: Suspects) -> ParserPool {
        let threads = available_parallelism()
            .map_or(1, NonZero::get)
            .min(DAEMON_PARSER_THREADS);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("parser {index}"));
        ParserPool {
            // If the threads cannot be started, the readers do the work themselves, which takes
            // longer.
            pool: (1 < threads).then(|| pool.build().ok()).flatten(),
            format,
            writers: Mutex::default(),
            large: Mutex::default(),
            unpacking: Mutex::default(),
            suspects,
        }
    }

    /// Waits until no other reader parses a large message, if `message` is one.
    fn turn(&self, message: &Message<'_>, session: &Session) -> Option<MutexGuard<'_, ()>> {
        const POLL: Duration = Duration::from_millis(10);
        while PARSE_BATCH_BYTES < message.raw.len() {
            match self.large.try_lock() {
                Ok(turn) => return Some(turn),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
            session.heartbeat.beat();
            sleep(POLL);
        }
        None
    }

    /// Calls `work` for each item and returns the results in the order of the items.
    pub fn map<'t, T: Sync, R: Send>(
        &self,
        items: &'t [T],
        work: impl Fn(&mut RecordWriter, &'t T) -> R + Sync,
    ) -> Vec<R> {
        let work = |item| {
            let unused = self.writers().pop();
            let mut writer = unused.unwrap_or_else(|| RecordWriter::new(&self.format));
            let result = work(&mut writer, item);
            self.writers().push(writer);
            result
        };
        match &self.pool {
            Some(pool) if 1 < items.len() => pool.install(|| items.par_iter().map(work).collect()),
            _ => items.iter().map(work).collect(),
        }
    }

    fn writers(&self) -> MutexGuard<'_, Vec<RecordWriter>> {
        self.writers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::store::StoreFixture;
    use std::path::Path;
    use urlspool_files::config::Config;
    use urlspool_mail::split::BlockRole;
    use urlspool_record::record::LineFormat;
    use urlspool_text::limits::COMMIT_BATCH_BYTES;

    /// Parts of the context of a file, other than the session.
    pub(in super::super) struct Needs {
        parsers: ParserPool,
        extractor: Extractor,
        counters: Counters,
        events: Vec<Event>,
        spool: Spool,
        identity: SpoolIdentity,
        existing: ExistingFiles,
        file: WalkedFile,
    }

    impl Needs {
        /// A file of the spool at `root`.
        pub(in super::super) fn new(root: &Path, path: &Path) -> Needs {
            Needs {
                parsers: ParserPool::new(LineFormat::default(), Suspects::default()),
                extractor: Extractor::new(Config::default().options()),
                counters: Counters::default(),
                events: Vec::new(),
                spool: Spool {
                    path: root.to_owned(),
                    ..Spool::default()
                },
                identity: SpoolIdentity::kept(root, root),
                existing: ExistingFiles::default(),
                file: WalkedFile::named(path.to_owned()),
            }
        }

        /// Sets the maximum size of a message held in memory.
        pub(in super::super) fn limit_messages(&mut self, bytes: usize) {
            let mut options = Config::default().options();
            options.limits.message_bytes = bytes;
            self.extractor = Extractor::new(options);
        }

        pub(in super::super) fn context<'i>(
            &'i mut self,
            session: &'i Session,
        ) -> IngestContext<'i> {
            IngestContext {
                session,
                parsers: &self.parsers,
                extractor: &self.extractor,
                counters: &mut self.counters,
                events: &mut self.events,
                version: FileVersion::of(&self.spool.path.metadata().unwrap()),
                spool: &self.spool,
                identity: &self.identity,
                existing: &self.existing,
                file: &self.file,
            }
        }
    }

    impl<'m, 'i> MessageIngest<'m, 'i> {
        /// An ingest of the file into the mailbox with this id and key.
        pub(in super::super) fn of_test(
            context: &'m mut IngestContext<'i>,
            (id, key): (MailboxId, Hash128),
        ) -> MessageIngest<'m, 'i> {
            let source = context.file.source.clone();
            MessageIngest::new(context, source, MailboxProgress::new(id, key))
        }
    }

    fn mailbox(session: &Session) -> MailboxId {
        let writer = session.lock().unwrap();
        writer.db().unwrap().mailbox(2, 2, 0).unwrap()
    }

    #[test]
    fn a_chunk_with_many_records_is_committed_in_batches() {
        let mut store = StoreFixture::new("batches");
        let shared = store.writer();
        let mut needs = Needs::new(&store.folder, Path::new("inbox"));
        let session = &shared.session(&Arc::default()).unwrap();
        let id = mailbox(session);
        let urls = "http://a.example/\n".repeat(1000);
        let letter = |n| format!("From a@b Mon\nSubject: {n}\n\n{urls}\n").into_bytes();
        let bytes = (0..12).flat_map(letter).collect();
        let block = Block {
            bytes,
            offset: 0,
            role: BlockRole::Whole,
            unpacked_times: 0,
        };
        let mut context = needs.context(session);
        let mut ingest = MessageIngest::of_test(&mut context, (id, 2));
        let found = ingest.split(&block, Format::Mbox);
        ingest
            .ingest_messages(&found, None, EndCertainty::Certain)
            .unwrap();
        // A segment exceeds its maximum size by at most one batch.
        let sizes = store
            .segments()
            .into_iter()
            .map(|path| path.metadata().unwrap().len() as usize)
            .collect::<Vec<_>>();
        assert!(
            !sizes.is_empty() && sizes.iter().all(|size| *size < 3 * COMMIT_BATCH_BYTES),
            "{sizes:?}"
        );
        shared.lock().close().unwrap();
        assert_eq!(store.lines(), 12_000);
    }

    #[test]
    fn two_readers_of_one_mailbox_record_a_message_once() {
        let mut store = StoreFixture::new("two-readers");
        let shared = store.writer();
        let bytes = b"From a@b Mon\nSubject: x\n\nsee http://a.example/ now\n".to_vec();
        let block = Block {
            bytes,
            offset: 0,
            role: BlockRole::Whole,
            unpacked_times: 0,
        };
        let mut needs = [(); 2].map(|()| Needs::new(&store.folder, Path::new("inbox")));
        let sessions = [(); 2].map(|()| shared.session(&Arc::default()).unwrap());
        let id = mailbox(&sessions[0]);
        let ingests = sessions.iter().zip(&mut needs);
        let contexts = ingests.map(|(session, needs)| needs.context(session));
        let mut contexts: Vec<_> = contexts.collect();
        let ingests = contexts.iter_mut();
        let mut ingests: Vec<_> = ingests
            .map(|context| MessageIngest::of_test(context, (id, 2)))
            .collect();
        // Both check whether the message is recorded before either adds it.
        let found = ingests[0].split(&block, Format::Mbox);
        let identified = ingests
            .iter()
            .map(|ingest| [ingest.identify(&found[0], None)]);
        let mut identified: Vec<_> = identified.collect();
        for (ingest, messages) in ingests.iter().zip(&mut identified) {
            ingest.find_reasons(messages).unwrap();
            assert_eq!(messages[0].reason, Some(ExtractionReason::New));
        }
        for (ingest, [message]) in ingests.iter_mut().zip(&identified) {
            let output = ingest.extract(message, &mut RecordWriter::default());
            ingest.add_to_batch(message, output).unwrap();
        }
        drop(ingests);
        drop(contexts);
        assert_eq!(
            needs.map(|needs| (needs.counters.messages_read, needs.counters.repeated)),
            [(1, 0), (0, 1)]
        );
        shared.lock().close().unwrap();
        assert_eq!(store.lines(), 1);
    }
}
