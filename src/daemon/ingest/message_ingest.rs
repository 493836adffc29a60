//! Ingest of messages: skips those that are recorded, extracts the others, and adds records and state to the batch.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::identity::{
    PiecePosition, StablePrefix, content_digest, message_key, stable_prefix, starts_with,
};
use super::mailbox_progress::MailboxProgress;
use super::message_output::{HeaderState, MessageOutput, OutputRequest};
use super::outcome::EndCertainty;
use super::parser_pool::ParserPool;
use crate::daemon::counters::Counters;
use crate::daemon::error::DaemonError;
use crate::daemon::store::{GrowingMessage, Hash128, Session, message_link};
use crate::decode::HeaderFields;
use crate::diagnostic::Event;
use crate::extract::Extractor;
use crate::limits::PARSE_BATCH_BYTES;
use crate::origin::Source;
use crate::record::{RecordWriter, hash_pieces};
use crate::split::{Block, Format, Message, SplitOutput, messages};

/// Adds messages of one mailbox to the batch.
pub(super) struct MessageIngest<'i> {
    pub(super) session: Session<'i>,
    pub(super) parsers: &'i ParserPool,
    pub(super) extractor: &'i Extractor,
    pub(super) counters: &'i mut Counters,
    /// Events of the messages.
    pub(super) events: &'i mut Vec<Event>,
    pub(super) source: Source,
    pub(super) mailbox: MailboxProgress,
    /// Messages of the mailbox that may still grow.
    pub(super) growing: Vec<GrowingMessage>,
}

/// A message and its identity.
struct IdentifiedMessage<'m, 'b> {
    message: &'m Message<'b>,
    header: HeaderState,
    end: EndCertainty,
    digest: u128,
    key: Hash128,
    /// Earlier versions of this message, recorded before it grew.
    earlier: Vec<GrowingMessage>,
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

    /// Ingests consecutive messages, or one piece of a larger message. `end` is the end of the last message; the
    /// ends of the others are certain. Returns the digest of the last message.
    pub(super) fn ingest(
        &mut self,
        messages: &[Message<'_>],
        position: Option<PiecePosition>,
        end: EndCertainty,
    ) -> Result<u128, DaemonError> {
        let (mut rest, mut digest) = (messages, 0);
        while !rest.is_empty() {
            // A message that has grown changes the state with which those after it are compared.
            let size = if self.growing.is_empty() {
                group_size(rest)
            } else {
                1
            };
            let (group, others) = rest.split_at(size);
            let group_end = if others.is_empty() {
                end
            } else {
                EndCertainty::Certain
            };
            digest = self.ingest_group(group, position, group_end)?;
            rest = others;
        }
        Ok(digest)
    }

    /// Ingests messages that are extracted at once, on several threads.
    fn ingest_group(
        &mut self,
        group: &[Message<'_>],
        position: Option<PiecePosition>,
        end: EndCertainty,
    ) -> Result<u128, DaemonError> {
        let last = group.len() - 1;
        let indexes: Vec<usize> = (0..group.len()).collect();
        let identified = self.parsers.map(&indexes, |(), &index| {
            let end = if index == last {
                end
            } else {
                EndCertainty::Certain
            };
            self.identify(&group[index], position, end)
        });
        let unrecorded = self.unrecorded(&identified)?;
        let outputs = self.parsers.map(&identified, |writer, message| {
            unrecorded
                .contains(&message.key)
                .then(|| self.extract(message, writer))
        });
        for (message, output) in identified.iter().zip(outputs) {
            self.add_to_batch(message, output)?;
        }
        match position {
            None => self.mailbox.messages += group.len() as u64,
            Some(_) => self.mailbox.pieces += group.len() as u64,
        }
        self.mailbox.last_link = message_link(identified[last].key);
        Ok(identified[last].digest)
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
            let digest = hash_pieces(&[message.raw]);
            IdentifiedMessage {
                message,
                header: HeaderState::Panicked,
                end,
                digest,
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
        let digest = content_digest(message, &fields, position);
        let is_earlier = |version: &&GrowingMessage| {
            let prefix = StablePrefix {
                len: version.len,
                hash: version.hash,
            };
            starts_with(message, &fields, prefix)
        };
        IdentifiedMessage {
            message,
            header: HeaderState::Readable,
            end,
            digest,
            key: message_key(self.mailbox.key, digest),
            earlier: self.growing.iter().filter(is_earlier).cloned().collect(),
        }
    }

    /// Returns the keys of the messages that are not recorded yet.
    fn unrecorded(
        &self,
        identified: &[IdentifiedMessage<'_, '_>],
    ) -> Result<HashSet<Hash128>, DaemonError> {
        self.session.with(|committer| {
            let state = committer.transaction()?;
            let mut unrecorded = HashSet::new();
            for IdentifiedMessage { key, .. } in identified {
                if !state.is_seen(self.mailbox.id, *key)? {
                    unrecorded.insert(*key);
                }
            }
            Ok(unrecorded)
        })
    }

    fn extract(
        &self,
        identified: &IdentifiedMessage<'_, '_>,
        writer: &mut RecordWriter,
    ) -> MessageOutput {
        let request = OutputRequest {
            message: identified.message,
            header: identified.header,
            end: identified.end,
            earlier: &identified.earlier,
            source: &self.source,
        };
        MessageOutput::of(&request, self.extractor, writer)
    }

    /// Adds the records of a message to the batch, together with its state. `output` is `None` for a duplicate.
    fn add_to_batch(
        &mut self,
        message: &IdentifiedMessage<'_, '_>,
        mut output: Option<MessageOutput>,
    ) -> Result<(), DaemonError> {
        let mailbox = self.mailbox.id;
        let mut growing = output
            .as_ref()
            .and_then(|output| self.growing_state(message, output));
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
                committer.put(&output.lines, output.records);
            }
            let state = committer.transaction()?;
            let drops_earlier = output.is_some() || message.end == EndCertainty::Certain;
            for earlier in message.earlier.iter().filter(|_| drops_earlier) {
                state.remove_growing(mailbox, earlier)?;
            }
            if let Some(growing) = &growing {
                state.put_growing(mailbox, growing)?;
            }
            Ok(drops_earlier)
        })?;
        if drops_earlier {
            self.growing
                .retain(|version| !message.earlier.contains(version));
        }
        self.growing.extend(growing);
        // One file, or one chunk of it, can exceed a batch. When the file is read again, the messages that were
        // committed are recognised by their keys.
        self.session.commit_if_full()?;
        self.count(output);
        Ok(())
    }

    /// Returns the state by which a message is recognised when it has grown; `None` if its end is certain.
    fn growing_state(
        &self,
        message: &IdentifiedMessage<'_, '_>,
        output: &MessageOutput,
    ) -> Option<GrowingMessage> {
        if message.end == EndCertainty::Certain || message.header == HeaderState::Panicked {
            return None;
        }
        let prefix = stable_prefix(message.message, self.extractor.limits().header_bytes)?;
        Some(GrowingMessage {
            len: prefix.len,
            hash: prefix.hash,
            ids: output.url_ids.clone(),
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

/// Returns the number of messages at the start of `rest` that are extracted at once; at least one.
fn group_size(rest: &[Message<'_>]) -> usize {
    let mut bytes = 0;
    let fits = |message: &&Message<'_>| {
        bytes += message.raw.len();
        bytes <= PARSE_BATCH_BYTES
    };
    rest.iter().take_while(fits).count().max(1)
}

#[cfg(test)]
mod tests;
