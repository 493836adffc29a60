//! Ingest of messages: skips those that are recorded, extracts the others on several threads, and
//! adds records and state to the batch. Reading and committing keep the order of the messages.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::fs::File;
use std::io::Write;
use std::num::NonZero;
use std::os::unix::ffi::OsStringExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{available_parallelism, sleep};
use std::time::Duration;

use rayon::prelude::*;

use super::EndCertainty;
use super::identity::{
    ContentDigest, FileVersion, PiecePosition, StablePrefix, content_digest, raw_prefix_len,
    record_digest, stable_prefix, starts_with,
};
use super::suspects::{Suspects, TrialVerdict};
use crate::daemon::status::Counters;
use crate::daemon::store::{
    FileId, GivenMessage, GrowingMessage, Hash128, HolderKey, MailboxId, MboxCursor, Session,
    message_key, message_link,
};
use crate::daemon::{AtPath, DaemonError};
use crate::decode::HeaderFields;
use crate::diagnostic::{Diagnostic, DiagnosticKind, Event};
use crate::extract::{Extractor, Finding, extract, extract_flat};
use crate::hash::hash_pieces;
use crate::limits::{
    DAEMON_PARSER_THREADS, GROWING_URLS, HELD_RECORDS_BYTES, HELD_RECORDS_RATIO, PARSE_BATCH_BYTES,
    PARSE_BATCH_MESSAGES,
};
use crate::origin::{Source, mailbox};
use crate::record::{self, LineFormat, MessageTail, RecordWriter};
use crate::split::{Block, Format, Message, SplitOutput, messages};

/// Adds messages of one mailbox to the batch.
pub(super) struct MessageIngest<'i> {
    pub(super) session: &'i Session,
    pub(super) parsers: &'i ParserPool,
    pub(super) extractor: &'i Extractor,
    pub(super) counters: &'i mut Counters,
    /// Events of the messages.
    pub(super) events: &'i mut Vec<Event>,
    pub(super) source: Source,
    pub(super) mailbox: MailboxProgress,
    /// Messages of the mailbox that may still grow.
    pub(super) growing: Vec<GrowingMessage>,
    /// Lengths of the canonical content that a file of one message had when it was read before, the
    /// longest first.
    pub(super) earlier_lengths: Vec<u64>,
    /// The offset up to which the file was there when its spool was watched for the first time:
    /// URLs of messages before it are not written. 0 if they are.
    pub(super) existing_end: u64,
    /// The holder of the messages; `None` if holders are not tracked.
    pub(super) holder: Option<HolderKey>,
    /// The positions after the next messages, of an mbox whose holders are tracked. A commit
    /// between two messages stores the one between them: else messages that are removed from the
    /// mbox before it is read again would stay held.
    pub(super) positions: VecDeque<MboxPosition>,
}

/// Position in an mbox after one of its messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct MboxPosition {
    pub(super) file: FileId,
    pub(super) cursor: MboxCursor,
}

/// A message and its identity.
struct IdentifiedMessage<'m, 'b> {
    message: &'m Message<'b>,
    /// `true` if the program panicked on its header.
    has_panicked: bool,
    end: EndCertainty,
    /// The hash of its content with the key of the state.
    digest: u128,
    /// The number of bytes of its canonical content.
    len: u64,
    /// The digest in its records, if holders are tracked.
    record_digest: Option<u128>,
    key: Hash128,
    /// Earlier versions of this message, recorded before it grew.
    earlier: Vec<GrowingMessage>,
}

/// Reason for which a message is searched for URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExtractionReason {
    /// It is not recorded.
    New,
    /// It is recorded, but it is not known if it has records: it has none, or it was read before
    /// holders were tracked.
    Unlearnt,
}

impl MessageIngest<'_> {
    /// Returns the messages of a block. Diagnostics of its borders are added to the events.
    pub(super) fn split<'b>(&mut self, block: &'b Block, format: Format) -> Vec<Message<'b>> {
        let mut found = Vec::new();
        messages(block, format, &mut |output| match output {
            SplitOutput::Message(message) => found.push(message),
            SplitOutput::Diagnostic(diagnostic) => self.events.push(diagnostic.of(&self.source)),
        });
        found
    }

    /// Makes a file of the spool at `spool` the holder of the messages that are ingested from now
    /// on, if holders are tracked.
    pub(super) fn open_holder(
        &mut self,
        holder: HolderKey,
        spool: &Path,
        version: FileVersion,
    ) -> Result<(), DaemonError> {
        self.holder = self
            .session
            .update(|state| state.open_holder(holder, spool, version.id.dev))?;
        Ok(())
    }

    /// Ingests consecutive messages, or one piece of a larger message. `end` is the end of the last
    /// message; the ends of the others are certain. Returns the digest of the last message.
    pub(super) fn ingest_messages(
        &mut self,
        messages: &[Message<'_>],
        position: Option<PiecePosition>,
        end: EndCertainty,
    ) -> Result<u128, DaemonError> {
        let (mut rest, mut digest) = (messages, 0);
        let mut max_size = usize::MAX;
        while !rest.is_empty() {
            // A message that has grown changes the state with which those after it are compared.
            let size = if self.growing.is_empty() {
                group_size(rest).min(max_size)
            } else {
                1
            };
            let (group, others) = rest.split_at(size);
            let _turn = self.parsers.turn(&group[0], self.session);
            let group_end = if others.is_empty() {
                end
            } else {
                EndCertainty::Certain
            };
            match self.ingest_group(group, position, group_end)? {
                Some(last) => (digest, rest, max_size) = (last, others, usize::MAX),
                None => max_size = size / 2,
            }
        }
        Ok(digest)
    }

    /// Recognises the message of a file that has grown since it was recorded: its beginning, as
    /// long as the whole message was before, is a message that is recorded. What a growing message
    /// of an mbox has in the state is computed from it.
    pub(super) fn find_earlier(
        &mut self,
        block: &mut Block,
        format: Format,
    ) -> Result<(), DaemonError> {
        for len in std::mem::take(&mut self.earlier_lengths) {
            let header_bytes = self.extractor.limits().header_bytes;
            let [message] = whole_messages(block, format)[..] else {
                return Ok(());
            };
            let Some(end) = raw_prefix_len(&message, header_bytes, len) else {
                continue;
            };
            let start = (message.start - block.offset) as usize;
            let added = block.bytes.split_off(start + end);
            let growing = match whole_messages(block, format)[..] {
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

    /// Returns a message as one that may grow; `None` if it is not recorded.
    fn recorded_as_growing(
        &self,
        message: &Message<'_>,
    ) -> Result<Option<GrowingMessage>, DaemonError> {
        let _turn = self.parsers.turn(message, self.session);
        let identified = self.identify(message, None, EndCertainty::EndOfFile);
        let (mailbox, key) = (self.mailbox.id, identified.key);
        let digests = self.session.read(|state| {
            if !state.is_seen(mailbox, key)? {
                return Ok(None);
            }
            match identified.record_digest {
                Some(digest) => state.given_digests(mailbox, digest).map(Some),
                None => Ok(Some(Vec::new())),
            }
        })?;
        let prefix = stable_prefix(
            message,
            self.extractor.limits().header_bytes,
            self.session.hash_key(),
        );
        let (Some(digests), Some(prefix)) = (digests, prefix) else {
            return Ok(None);
        };
        let mut writer = RecordWriter::default();
        let output = self.extract(&identified, ExtractionReason::New, &mut writer);
        Ok(Some(GrowingMessage {
            len: prefix.len,
            hash: prefix.hash,
            ids: output.url_ids,
            digests,
        }))
    }

    /// Ingests messages that are extracted at once, on several threads. Returns the digest of the
    /// last; `None` if the process died of one of them, which must be found in smaller groups.
    fn ingest_group(
        &mut self,
        group: &[Message<'_>],
        position: Option<PiecePosition>,
        end: EndCertainty,
    ) -> Result<Option<u128>, DaemonError> {
        let last = group.len() - 1;
        let indexes: Vec<usize> = (0..group.len()).collect();
        let identified = self.parsers.map(&indexes, |_, &index| {
            let end = if index == last {
                end
            } else {
                EndCertainty::Certain
            };
            self.identify(&group[index], position, end)
        });
        let mut unrecorded = self.unrecorded(&identified)?;
        unrecorded.retain(|key, _| !self.parsers.suspects.is_set_aside(*key));
        let parsed = identified
            .iter()
            .filter(|message| unrecorded.contains_key(&message.key));
        let parsed: Vec<_> = parsed.map(|parsed| (parsed.key, parsed.message)).collect();
        match self.parsers.suspects.check(&parsed, self.session)? {
            TrialVerdict::Passed => {}
            TrialVerdict::Died if 1 < group.len() => return Ok(None),
            TrialVerdict::Died => {
                self.set_aside(&identified[0])?;
                unrecorded.clear();
            }
        }
        let outputs = self.parsers.map(&identified, |writer, message| {
            let reason = unrecorded.get(&message.key)?;
            Some(self.extract(message, *reason, writer))
        });
        self.parsers.suspects.forget_parsed();
        for (message, output) in identified.iter().zip(outputs) {
            self.add_to_batch(message, output)?;
        }
        match position {
            None => self.mailbox.messages += group.len() as u64,
            Some(_) => self.mailbox.pieces += group.len() as u64,
        }
        self.mailbox.last_link = message_link(identified[last].key);
        self.mailbox.last_len = identified[last].len;
        Ok(Some(identified[last].digest))
    }

    /// Sets a message aside: it is not extracted, and the status names it.
    fn set_aside(&mut self, message: &IdentifiedMessage<'_, '_>) -> Result<(), DaemonError> {
        let text = "urlspool died of this message three times and does not read it; please report \
                    this as a bug";
        let at = message.message.start;
        self.events
            .push(Diagnostic::at(DiagnosticKind::Panic, at, text).of(&self.source));
        let members = self.source.member().iter();
        let members: String = members
            .map(|name| format!(", {}", name.escape_ascii()))
            .collect();
        let place = format!(
            "{}{members}: message at byte {at}",
            self.source.path.display()
        );
        self.parsers.suspects.set_aside(message.key);
        self.session
            .update(|state| state.set_aside(self.mailbox.id, message.key, &place))
    }

    /// Identifies a message; one on whose header the program panics by its raw bytes.
    fn identify<'m, 'b>(
        &self,
        message: &'m Message<'b>,
        position: Option<PiecePosition>,
        end: EndCertainty,
    ) -> IdentifiedMessage<'m, 'b> {
        let by_header = || self.identify_by_header(message, position, end);
        catch_unwind(AssertUnwindSafe(by_header)).unwrap_or_else(|_| {
            let digest = self.session.hash_key().hash(message.raw);
            IdentifiedMessage {
                message,
                has_panicked: true,
                end,
                digest,
                len: message.raw.len() as u64,
                record_digest: self.holder.map(|_| hash_pieces(&[message.raw])),
                key: message_key(self.mailbox.key, digest),
                earlier: Vec::new(),
            }
        })
    }

    fn identify_by_header<'m, 'b>(
        &self,
        message: &'m Message<'b>,
        position: Option<PiecePosition>,
        end: EndCertainty,
    ) -> IdentifiedMessage<'m, 'b> {
        let fields = HeaderFields::in_message(message, self.extractor.limits().header_bytes);
        let key = self.session.hash_key();
        let ContentDigest { digest, len } = content_digest(message, &fields, position, key);
        let limit = self.extractor.limits().header_bytes;
        let is_earlier = |version: &&GrowingMessage| {
            let prefix = StablePrefix {
                len: version.len,
                hash: version.hash,
            };
            starts_with(message, &fields, prefix, key)
        };
        IdentifiedMessage {
            message,
            has_panicked: false,
            end,
            digest,
            len,
            record_digest: self.holder.map(|_| record_digest(message, &fields, limit)),
            key: message_key(self.mailbox.key, digest),
            earlier: self.growing.iter().filter(is_earlier).cloned().collect(),
        }
    }

    /// Returns the keys of the messages that are searched, those that are not recorded yet, each
    /// with the reason.
    fn unrecorded(
        &self,
        identified: &[IdentifiedMessage<'_, '_>],
    ) -> Result<HashMap<Hash128, ExtractionReason>, DaemonError> {
        self.session.read(|state| {
            let mut unrecorded = HashMap::new();
            let mailbox = self.mailbox.id;
            for message in identified {
                let key = message.key;
                if !state.is_seen(mailbox, key)? {
                    unrecorded.insert(key, ExtractionReason::New);
                } else if let Some(digest) = message.record_digest
                    && !state.is_given(mailbox, digest, key)?
                {
                    unrecorded.insert(key, ExtractionReason::Unlearnt);
                }
            }
            Ok(unrecorded)
        })
    }

    fn extract(
        &self,
        identified: &IdentifiedMessage<'_, '_>,
        reason: ExtractionReason,
        writer: &mut RecordWriter,
    ) -> MessageOutput {
        let earlier = match reason {
            ExtractionReason::New => &identified.earlier[..],
            // All its URLs count, those of earlier versions too.
            ExtractionReason::Unlearnt => &[],
        };
        let is_existing = identified.message.end() <= self.existing_end;
        if is_existing && identified.end == EndCertainty::Certain {
            return MessageOutput::default();
        }
        let mut output = self.output(identified, earlier, writer);
        if is_existing {
            // When it has grown, its earlier URLs are recognised.
            (output.lines, output.file, output.records) = (Vec::new(), None, 0);
        }
        output
    }

    /// Extracts the URLs of a message. URLs that are in one of `earlier`, the versions of the
    /// message before it grew, are not recorded again. After a panic, which becomes an event, the
    /// message is read as one text; so it is if its header panicked.
    fn output(
        &self,
        identified: &IdentifiedMessage<'_, '_>,
        earlier: &[GrowingMessage],
        writer: &mut RecordWriter,
    ) -> MessageOutput {
        let mut attempt = |extract: ExtractFn| {
            let read = || self.output_of(identified, earlier, writer, extract);
            catch_unwind(AssertUnwindSafe(read)).ok()
        };
        let structured = if identified.has_panicked {
            None
        } else {
            attempt(extract)
        };
        structured.unwrap_or_else(|| {
            let flat = attempt(extract_flat);
            let outcome = match flat {
                Some(_) => "read it as text",
                None => "skipped it",
            };
            let mut output = flat.unwrap_or_default();
            let text = format!(
                "urlspool failed on this message and {outcome}; please report this as a bug"
            );
            let event = Diagnostic::at(DiagnosticKind::Panic, identified.message.start, text);
            output.events.push(event.of(&self.source));
            output
        })
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
        let mut counts = HashMap::new();
        writer.begin(match identified.end {
            EndCertainty::MidLine => MessageTail::Truncated,
            EndCertainty::Certain | EndCertainty::EndOfFile => MessageTail::Complete,
        });
        let (message, source) = (identified.message, &self.source);
        let held_bytes = HELD_RECORDS_BYTES.min(message.raw.len() * HELD_RECORDS_RATIO);
        let mut unpacking = None;
        extract(
            message,
            source,
            self.extractor,
            &mut |finding| match finding {
                Finding::Url(record) | Finding::Unwrapped(record) => {
                    if has_ids && output.url_ids.len() < GROWING_URLS {
                        let id = url_id(record.found.full, &mut counts);
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
                    writer.write(record, &mut output.lines);
                    if held_bytes < output.lines.len() {
                        output.move_lines(self.session);
                    }
                }
                Finding::Large if unpacking.is_none() => {
                    let lock = self.parsers.unpacking.lock();
                    unpacking = Some(lock.unwrap_or_else(PoisonError::into_inner));
                }
                Finding::Diagnostic(diagnostic) => output.events.push(diagnostic.of(source)),
                _ => {}
            },
        );
        output
    }

    /// Adds the records of a message to the batch, together with its state. `output` is `None` for
    /// a duplicate.
    fn add_to_batch(
        &mut self,
        message: &IdentifiedMessage<'_, '_>,
        mut output: Option<MessageOutput>,
    ) -> Result<(), DaemonError> {
        let mailbox = self.mailbox.id;
        if let Some(error) = output.as_mut().and_then(|output| output.failure.take()) {
            // Ends the committer, unless that is the error.
            let _ = self.session.with(|_| Err::<(), _>(error.clone()));
            return Err(error);
        }
        let given = output
            .as_ref()
            .and_then(|output| self.given_message(message, output));
        let mut growing = output
            .as_ref()
            .and_then(|output| self.growing_state(message, output, given.as_ref()));
        let position = self.positions.pop_front();
        // One call, so that no commit can come between the parts of a message.
        let drops_earlier = self.session.with(|committer| {
            // Another reader may have added the same message in the meantime.
            if output.is_some() && !committer.transaction()?.mark_seen(mailbox, message.key)? {
                (output, growing) = (None, None);
            }
            if let Some(output) = &output {
                let state = committer.transaction()?;
                // A message that has grown has records even if its new part has none.
                if output.records > 0 || !message.earlier.is_empty() {
                    state.mark_in_open_segment(mailbox, message.key)?;
                }
                if let Some(file) = &output.file {
                    committer.put_file(file)?;
                }
                committer.put(&output.lines, output.records);
            }
            let state = committer.transaction()?;
            if let Some(given) = &given {
                state.put_given(mailbox, given)?;
            }
            if let (Some(holder), Some(digest)) = (self.holder, message.record_digest) {
                state.hold(holder, mailbox, digest, message.key)?;
            }
            let drops_earlier = output.is_some() || message.end == EndCertainty::Certain;
            for earlier in message.earlier.iter().filter(|_| drops_earlier) {
                state.remove_growing(mailbox, earlier)?;
            }
            if let Some(growing) = &growing {
                state.put_growing(mailbox, growing)?;
            }
            if let Some(MboxPosition { file, cursor }) = position {
                committer.move_cursor(file, mailbox, cursor);
            }
            Ok(drops_earlier)
        })?;
        if drops_earlier {
            self.growing
                .retain(|version| !message.earlier.contains(version));
        }
        self.growing.extend(growing);
        // One file, or one chunk of it, can exceed a batch. When the file is read again, the
        // messages that were committed are recognised by their keys.
        self.session.commit_if_full()?;
        self.count(output);
        Ok(())
    }

    /// Returns the row of a message with records, or of one whose earlier versions have some;
    /// `None` if holders are not tracked.
    fn given_message(
        &self,
        message: &IdentifiedMessage<'_, '_>,
        output: &MessageOutput,
    ) -> Option<GivenMessage> {
        let digest = message.record_digest?;
        let earlier = message.earlier.iter();
        let mut earlier: Vec<u128> = earlier
            .flat_map(|version| version.digests.iter().copied())
            .filter(|earlier| *earlier != digest)
            .collect();
        earlier.sort_unstable();
        earlier.dedup();
        if output.records == 0 && earlier.is_empty() {
            return None;
        }
        Some(GivenMessage {
            digest,
            key: message.key,
            mailbox: mailbox(&self.source.path, message.message.kind)
                .into_os_string()
                .into_vec(),
            earlier,
        })
    }

    /// Returns the state by which a message is recognised when it has grown; `None` if its end is
    /// certain.
    fn growing_state(
        &self,
        message: &IdentifiedMessage<'_, '_>,
        output: &MessageOutput,
        given: Option<&GivenMessage>,
    ) -> Option<GrowingMessage> {
        if message.end == EndCertainty::Certain || message.has_panicked {
            return None;
        }
        let prefix = stable_prefix(
            message.message,
            self.extractor.limits().header_bytes,
            self.session.hash_key(),
        )?;
        Some(GrowingMessage {
            len: prefix.len,
            hash: prefix.hash,
            ids: output.url_ids.clone(),
            digests: given
                .into_iter()
                .flat_map(|given| given.earlier.iter().copied().chain([given.digest]))
                .collect(),
        })
    }

    fn count(&mut self, output: Option<MessageOutput>) {
        match output {
            Some(mut output) => {
                self.counters.messages_read += 1;
                self.events.append(&mut output.events);
            }
            None => self.counters.repeated += 1,
        }
    }
}

/// Returns the messages of a block. Diagnostics of its borders are left out.
fn whole_messages(block: &Block, format: Format) -> Vec<Message<'_>> {
    let mut found = Vec::new();
    messages(block, format, &mut |output| {
        if let SplitOutput::Message(message) = output {
            found.push(message);
        }
    });
    found
}

/// Returns the number of messages at the start of `rest` that are extracted at once; at least one.
fn group_size(rest: &[Message<'_>]) -> usize {
    let mut bytes = 0;
    let fits = |message: &&Message<'_>| {
        bytes += message.raw.len();
        bytes <= PARSE_BATCH_BYTES
    };
    let most = rest.iter().take(PARSE_BATCH_MESSAGES);
    most.take_while(fits).count().max(1)
}

/// A mailbox, and what was ingested from one file of it.
#[derive(Clone, Debug)]
pub(super) struct MailboxProgress {
    pub(super) id: MailboxId,
    pub(super) key: Hash128,
    /// The first bits of the last message's key: its link from the file in the state.
    pub(super) last_link: u64,
    /// The number of bytes of the last message's canonical content.
    pub(super) last_len: u64,
    /// The [`place_key`](super::identity::place_key) of a file of one message that may grow.
    pub(super) place: Option<u64>,
    /// Messages of the file, duplicates included.
    pub(super) messages: u64,
    /// Pieces of messages above the size limit.
    pub(super) pieces: u64,
}

impl MailboxProgress {
    /// The mailbox before anything of the file was ingested.
    pub(super) fn new(id: MailboxId, key: Hash128) -> MailboxProgress {
        MailboxProgress {
            id,
            key,
            last_link: 0,
            last_len: 0,
            place: None,
            messages: 0,
            pieces: 0,
        }
    }

    /// Adds what was ingested from another stream of the same file.
    pub(super) fn add(&mut self, other: &MailboxProgress) {
        self.messages += other.messages;
        self.pieces += other.pieces;
        self.last_link = other.last_link;
        self.last_len = other.last_len;
    }

    /// The link to the only message of the file; `None` if there are more, or none that is whole.
    pub(super) fn only_link(&self) -> Option<u64> {
        (self.messages == 1 && self.pieces == 0).then_some(self.last_link)
    }
}

/// Encoded records of a message, and its events.
#[derive(Default)]
struct MessageOutput {
    /// Lines of JSON, after those in `file`.
    lines: Vec<u8>,
    /// The first lines, of a message with many.
    file: Option<File>,
    /// The error of writing them there.
    failure: Option<DaemonError>,
    /// Number of lines.
    records: u64,
    /// Identifiers of all URLs of a message that may grow or has grown, with those recorded before.
    /// Empty for others.
    url_ids: Vec<u128>,
    /// Events of the message.
    events: Vec<Event>,
}

impl MessageOutput {
    /// Moves the lines to the file.
    fn move_lines(&mut self, session: &Session) {
        if self.failure.is_none() {
            self.failure = self.append_lines(session).err();
        }
        self.lines.clear();
    }

    fn append_lines(&mut self, session: &Session) -> Result<(), DaemonError> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                // An error ends the committer at the message's turn. Here it would be lost: the
                // messages before it would only find that the committer has ended.
                let file = session.with(|committer| Ok(committer.lines_file()))?;
                self.file.insert(file?)
            }
        };
        file.write_all(&self.lines).at("output folder")
    }
}

/// [`extract`], or [`extract_flat`].
type ExtractFn = fn(&Message<'_>, &Source, &Extractor, &mut dyn FnMut(Finding<'_>));

/// Returns the identifier of a URL within its message: a hash of the URL and of the number of its
/// earlier occurrences.
fn url_id(url: &[u8], counts: &mut HashMap<u128, u32>) -> u128 {
    let earlier = counts.entry(record::record_id(0, "", url, 0)).or_default();
    let id = record::record_id(0, "", url, *earlier);
    *earlier += 1;
    id
}

/// Pool of threads, shared by all readers.
pub(crate) struct ParserPool {
    /// `None` on one core: then each reader does the work on its own thread.
    pool: Option<rayon::ThreadPool>,
    /// The format of the records' lines.
    format: LineFormat,
    /// Writers that no reader uses. Their caches cost more than a small message.
    writers: Mutex<Vec<RecordWriter>>,
    /// Held by the reader that parses a large message.
    large: Mutex<()>,
    /// Held while an attachment or document that unpacks to much is read.
    unpacking: Mutex<()>,
    suspects: Suspects,
}

impl fmt::Debug for ParserPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParserPool")
            .field("threads", &self.threads())
            .finish()
    }
}

impl ParserPool {
    /// A pool with one thread per core, at most [`DAEMON_PARSER_THREADS`], for records in this
    /// format.
    pub(crate) fn new(format: LineFormat) -> ParserPool {
        let threads = available_parallelism()
            .map_or(1, NonZero::get)
            .min(DAEMON_PARSER_THREADS);
        let name = |index| format!("parser {index}");
        // If the threads cannot be started, the readers do the work themselves, which takes longer.
        let pool = || {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(name)
                .build()
                .ok()
        };
        ParserPool {
            pool: (threads > 1).then(pool).flatten(),
            format,
            writers: Mutex::default(),
            large: Mutex::default(),
            unpacking: Mutex::default(),
            suspects: Suspects::default(),
        }
    }

    /// Parses messages at which an earlier process may have died only after a trial.
    pub(crate) fn with_suspects(self, suspects: Suspects) -> ParserPool {
        ParserPool { suspects, ..self }
    }

    /// Waits until no other reader parses a large message, if `message` is one.
    fn turn(&self, message: &Message<'_>, session: &Session) -> Option<MutexGuard<'_, ()>> {
        const POLL: Duration = Duration::from_millis(10);
        if message.raw.len() <= PARSE_BATCH_BYTES {
            return None;
        }
        loop {
            match self.large.try_lock() {
                Ok(turn) => return Some(turn),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
            session.beat();
            sleep(POLL);
        }
    }

    /// Number of threads that work at once.
    pub(crate) fn threads(&self) -> usize {
        self.pool
            .as_ref()
            .map_or(1, rayon::ThreadPool::current_num_threads)
    }

    /// Calls `work` for each item and returns the results in the order of the items. Each thread
    /// passes its writer from one item to the next.
    pub(crate) fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&mut RecordWriter, &T) -> R + Sync,
    ) -> Vec<R> {
        let writer = || RecordWriter::new(&self.format);
        match &self.pool {
            Some(pool) if items.len() > 1 => {
                pool.install(|| items.par_iter().map_init(writer, &work).collect())
            }
            _ => {
                let writers = || self.writers.lock().unwrap_or_else(PoisonError::into_inner);
                let unused = writers().pop();
                let mut writer = unused.unwrap_or_else(writer);
                let results = items.iter().map(|item| work(&mut writer, item)).collect();
                writers().push(writer);
                results
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::Config;
    use crate::daemon::store::StoreFixture;
    use crate::limits::COMMIT_BATCH_BYTES;
    use crate::record::LineFormat;
    use crate::split::BlockRole;

    #[test]
    fn a_chunk_with_many_records_is_committed_in_batches() {
        let mut store = StoreFixture::new("batches");
        let shared = store.committer();
        let (parsers, extractor) = (
            ParserPool::new(LineFormat::default()),
            Extractor::new(Config::default().options()),
        );
        let (mut counters, mut events) = (Counters::default(), Vec::new());
        let session = &shared.session(&Arc::default()).unwrap();
        let id = session.update(|state| state.mailbox(2, 2, 0)).unwrap();
        let urls = "http://a.example/\n".repeat(1000);
        let letter = |n| format!("From a@b Mon\nSubject: {n}\n\n{urls}\n").into_bytes();
        let bytes = (0..12).flat_map(letter).collect();
        let block = Block {
            bytes,
            offset: 0,
            role: BlockRole::Whole,
            unpacked_times: 0,
        };
        let mut ingest = MessageIngest {
            session,
            parsers: &parsers,
            extractor: &extractor,
            counters: &mut counters,
            events: &mut events,
            source: Source::at("inbox".into()),
            mailbox: MailboxProgress::new(id, 2),
            growing: Vec::new(),
            earlier_lengths: Vec::new(),
            existing_end: 0,
            holder: None,
            positions: VecDeque::new(),
        };
        let found = ingest.split(&block, Format::Mbox);
        ingest
            .ingest_messages(&found, None, EndCertainty::Certain)
            .unwrap();
        let pending = session
            .with(|committer| Ok(committer.pending_bytes()))
            .unwrap();
        assert!(pending < COMMIT_BATCH_BYTES, "{pending}");
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
        shared.close().unwrap();
        assert_eq!(store.lines(), 12_000);
    }

    #[test]
    fn two_readers_of_one_mailbox_record_a_message_once() {
        let mut store = StoreFixture::new("two-readers");
        let shared = store.committer();
        let (parsers, extractor) = (
            ParserPool::new(LineFormat::default()),
            Extractor::new(Config::default().options()),
        );
        let bytes = b"From a@b Mon\nSubject: x\n\nsee http://a.example/ now\n".to_vec();
        let block = Block {
            bytes,
            offset: 0,
            role: BlockRole::Whole,
            unpacked_times: 0,
        };
        let mut counters = [Counters::default(), Counters::default()];
        let sessions = [(); 2].map(|()| shared.session(&Arc::default()).unwrap());
        let id = sessions[0].update(|state| state.mailbox(2, 2, 0)).unwrap();
        let mut events = [Vec::new(), Vec::new()];
        let mut ingests = Vec::new();
        for ((session, counters), events) in sessions.iter().zip(&mut counters).zip(&mut events) {
            let source = Source::at("inbox".into());
            let (parsers, extractor, mailbox) = (&parsers, &extractor, MailboxProgress::new(id, 2));
            ingests.push(MessageIngest {
                session,
                parsers,
                extractor,
                counters,
                events,
                source,
                mailbox,
                growing: Vec::new(),
                earlier_lengths: Vec::new(),
                existing_end: 0,
                holder: None,
                positions: VecDeque::new(),
            });
        }
        // Each asks whether the message is recorded before either of them adds it.
        let found = ingests[0].split(&block, Format::Mbox);
        for ingest in &ingests {
            assert_eq!(
                ingest
                    .unrecorded(&[ingest.identify(&found[0], None, EndCertainty::EndOfFile)])
                    .unwrap()
                    .len(),
                1
            );
        }
        for ingest in &mut ingests {
            let identified = [ingest.identify(&found[0], None, EndCertainty::EndOfFile)];
            let output = ingest.extract(
                &identified[0],
                ExtractionReason::New,
                &mut RecordWriter::default(),
            );
            ingest.add_to_batch(&identified[0], Some(output)).unwrap();
        }
        drop(ingests);
        assert_eq!(
            counters.map(|counters| (counters.messages_read, counters.repeated)),
            [(1, 0), (0, 1)]
        );
        shared.close().unwrap();
        assert_eq!(store.lines(), 1);
    }
}
