//! One message: was it given, what does it hold, what is remembered of it.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::identity::{beginning, begins_with, message_key, whole_digest};
use super::parser_pool::Parsers;
use crate::daemon::error::DaemonError;
use crate::daemon::status::Counters;
use crate::daemon::store::Session;
use crate::daemon::store::{GrowingMessage, Hash128, MailboxId, message_link};
use crate::decode::HeaderFields;
use crate::diagnostic::{Diagnostic, DiagnosticKind, Event};
use crate::limits::PARSE_BATCH_BYTES;
use crate::origin::Source;
use crate::pipeline::{Extractor, Finding, extract};
use crate::record::{self, MessageTail, RecordWriter};
use crate::split::{Block, Format, Message, SplitOutput, messages};

/// Takes messages of one mailbox into the batch.
pub(crate) struct Taker<'t> {
    pub(crate) session: Session<'t>,
    pub(crate) parsers: &'t Parsers,
    pub(crate) extractor: &'t Extractor,
    pub(crate) counts: &'t mut Counters,
    /// What was wrong with messages.
    pub(crate) events: &'t mut Vec<Event>,
    pub(crate) source: Source,
    pub(crate) mailbox: Mailbox,
    /// The mailbox's messages that may yet grow.
    pub(crate) tails: Vec<GrowingMessage>,
}

/// A mailbox, and what was taken of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mailbox {
    pub(crate) id: MailboxId,
    pub(crate) key: Hash128,
    /// How the key of the message that was taken last begins.
    pub(crate) last: u64,
    /// Messages that were taken, also such as had been given.
    pub(crate) taken: u64,
    /// Pieces of messages that were too large to be held.
    pub(crate) pieces: u64,
}

impl Mailbox {
    pub(crate) fn new(id: MailboxId, key: Hash128) -> Mailbox {
        Mailbox {
            id,
            key,
            last: 0,
            taken: 0,
            pieces: 0,
        }
    }

    /// Adds what was taken from another stream of the same file.
    pub(crate) fn add(&mut self, other: Mailbox) {
        (self.taken, self.pieces) = (self.taken + other.taken, self.pieces + other.pieces);
        self.last = other.last;
    }
}

/// How a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Something stands behind it, or it is a file by itself.
    Sure,
    /// The file ends; it may yet grow.
    File,
    /// The file ends within a line.
    Torn,
}

/// A message, and what tells it from all others.
struct Fingerprint<'m, 'b> {
    message: &'m Message<'b>,
    end: End,
    digest: u128,
    key: Hash128,
    /// What it was when its beginning was taken, if that was.
    grown: Vec<GrowingMessage>,
}

impl Taker<'_> {
    /// Takes messages that follow each other, or a piece, which begins at `within`, of a larger one. The last ends as
    /// `end` says, the others surely. Gives the digest of the last.
    pub(crate) fn take(
        &mut self,
        messages: &[Message<'_>],
        within: Option<(u128, u64)>,
        end: End,
    ) -> Result<u128, DaemonError> {
        let (mut rest, mut digest) = (messages, 0);
        while !rest.is_empty() {
            // One that has grown changes what those behind it are compared with.
            let (group, others) = rest.split_at(if self.tails.is_empty() {
                together(rest)
            } else {
                1
            });
            digest = self.take_together(
                group,
                within,
                if others.is_empty() { end } else { End::Sure },
            )?;
            rest = others;
        }
        Ok(digest)
    }

    /// The same of messages that are searched at once, on several threads.
    fn take_together(
        &mut self,
        group: &[Message<'_>],
        within: Option<(u128, u64)>,
        end: End,
    ) -> Result<u128, DaemonError> {
        let last = group.len() - 1;
        let ends: Vec<_> = group
            .iter()
            .enumerate()
            .map(|(at, message)| (message, if at == last { end } else { End::Sure }))
            .collect();
        let weighed = self.parsers.each(&ends, |(), (message, end)| {
            self.weigh(message, within, *end)
        });
        let fresh = self.fresh(&weighed)?;
        let yields = self.parsers.each(&weighed, |writer, weighed| {
            fresh
                .contains(&weighed.key)
                .then(|| searched(weighed, &self.source, self.extractor, writer))
        });
        self.put(&weighed, yields)?;
        *(if within.is_none() {
            &mut self.mailbox.taken
        } else {
            &mut self.mailbox.pieces
        }) += group.len() as u64;
        let weighed = &weighed[last];
        self.mailbox.last = message_link(weighed.key);
        Ok(weighed.digest)
    }

    fn weigh<'m, 'b>(
        &self,
        message: &'m Message<'b>,
        within: Option<(u128, u64)>,
        end: End,
    ) -> Fingerprint<'m, 'b> {
        let fields = HeaderFields::in_message(message, self.extractor.limits().header_bytes);
        let digest = whole_digest(message, &fields, within);
        let begins = |tail: &&GrowingMessage| begins_with(message, &fields, tail.len, tail.hash);
        let grown = self.tails.iter().filter(begins).cloned().collect();
        Fingerprint {
            message,
            end,
            digest,
            key: message_key(self.mailbox.key, digest),
            grown,
        }
    }

    /// The keys of those that were not given.
    fn fresh(&self, weighed: &[Fingerprint<'_, '_>]) -> Result<HashSet<Hash128>, DaemonError> {
        self.session.with(|committer| {
            let state = committer.transaction()?;
            let mut fresh = HashSet::new();
            for Fingerprint { key, .. } in weighed {
                if !state.is_seen(self.mailbox.id, *key)? {
                    fresh.insert(*key);
                }
            }
            Ok(fresh)
        })
    }

    /// Puts what they gave into the batch, each with what is remembered of it.
    fn put(
        &mut self,
        weighed: &[Fingerprint<'_, '_>],
        yields: Vec<Option<Yield>>,
    ) -> Result<(), DaemonError> {
        let (mailbox, header_bytes) = (self.mailbox.id, self.extractor.limits().header_bytes);
        for (weighed, mut yielded) in weighed.iter().zip(yields) {
            let mut tail = match &yielded {
                Some(yielded) if weighed.end != End::Sure => {
                    beginning(weighed.message, header_bytes).map(|(len, hash)| GrowingMessage {
                        len,
                        hash,
                        ids: yielded.ids.clone(),
                    })
                }
                _ => None,
            };
            // At one go: whatever is committed next, it is all of the message or nothing.
            let forgets = self.session.with(|committer| {
                // Of two that are the same one is given, though another reader may have the other.
                if yielded.is_some() && !committer.transaction()?.mark_seen(mailbox, weighed.key)? {
                    (yielded, tail) = (None, None);
                }
                if let Some(yielded) = &yielded {
                    let state = committer.transaction()?;
                    // One that has grown and gave nothing more did give something before.
                    if yielded.records > 0 || !weighed.grown.is_empty() {
                        state.mark_in_open_segment(mailbox, weighed.key)?;
                    }
                    committer.put(&yielded.lines, yielded.records);
                }
                let state = committer.transaction()?;
                let forgets = yielded.is_some() || weighed.end == End::Sure;
                for tail in weighed.grown.iter().filter(|_| forgets) {
                    state.remove_growing(mailbox, tail)?;
                }
                tail.as_ref()
                    .map_or(Ok(()), |tail| state.put_growing(mailbox, tail))?;
                Ok(forgets)
            })?;
            if forgets {
                self.tails.retain(|tail| !weighed.grown.contains(tail));
            }
            self.tails.extend(tail);
            // A file, and a piece of one, can give more than any batch holds. What is committed of it is known by its
            // messages when it is read again.
            self.session.commit_if_full()?;
            match yielded {
                Some(mut yielded) => {
                    self.counts.messages_read += 1;
                    self.events.append(&mut yielded.events);
                }
                None => self.counts.repeated += 1,
            }
        }
        Ok(())
    }
}

/// How many of the messages at the start of `rest` are searched at once; one at the least.
fn together(rest: &[Message<'_>]) -> usize {
    let mut octets = 0;
    let fits = |message: &&Message<'_>| {
        octets += message.raw.len();
        octets <= PARSE_BATCH_BYTES
    };
    rest.iter().take_while(fits).count().max(1)
}

/// What a message gives, without those URLs of it that were given before it grew. A panic is contained.
fn searched(
    weighed: &Fingerprint<'_, '_>,
    source: &Source,
    extractor: &Extractor,
    writer: &mut RecordWriter,
) -> Yield {
    let Fingerprint {
        message,
        end,
        grown,
        ..
    } = weighed;
    let given: HashSet<u128> = grown
        .iter()
        .flat_map(|tail| tail.ids.iter().copied())
        .collect();
    let mut yielded = Yield::default();
    let remember = *end != End::Sure || !given.is_empty();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut times: HashMap<u128, u64> = HashMap::new();
        writer.begin(match end {
            End::Torn => MessageTail::Truncated,
            _ => MessageTail::Complete,
        });
        extract(message, source, extractor, &mut |finding| match finding {
            Finding::Url(found) | Finding::Unwrapped(found) => {
                if remember {
                    let before = times
                        .entry(record::record_id(0, "", found.found.full, 0))
                        .or_default();
                    let id = record::record_id(0, "", found.found.full, *before);
                    *before += 1;
                    yielded.ids.push(id);
                    if given.contains(&id) {
                        return;
                    }
                }
                yielded.records += 1;
                writer.write(found, &mut yielded.lines);
            }
            Finding::Diagnostic(diagnostic) => yielded.events.push(diagnostic.of(source)),
            _ => {}
        });
    }));
    if outcome.is_err() {
        let what = "the program failed on this message; please report it";
        let event = Diagnostic::at(DiagnosticKind::Panic, message.start, what).of(source);
        return Yield {
            events: vec![event],
            ..Yield::default()
        };
    }
    yielded
}

/// The messages of a block; what is wrong with its borders is noted.
pub(crate) fn divided<'b>(
    block: &'b Block,
    format: Format,
    taker: &mut Taker<'_>,
) -> Vec<Message<'b>> {
    let mut found = Vec::new();
    messages(block, format, &mut |divided| match divided {
        SplitOutput::Message(message) => found.push(message),
        SplitOutput::Diagnostic(diagnostic) => taker.events.push(diagnostic.of(&taker.source)),
    });
    found
}

/// What a message gave.
#[derive(Default)]
struct Yield {
    lines: Vec<u8>,
    records: u64,
    /// Its URLs, for when it grows.
    ids: Vec<u128>,
    /// What was wrong with it.
    events: Vec<Event>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::daemon::heartbeat::Heartbeat;
    use crate::daemon::store::BATCH_BYTES;
    use crate::daemon::store::shared_committer_tests::World;
    use crate::split::BlockRole;

    #[test]
    fn a_piece_that_gives_much_is_committed_in_batches() {
        let mut world = World::new("batches");
        let desk = world.desk();
        let (parsers, extractor) = (Parsers::new(), Extractor::new(Config::default().options()));
        let (pulse, mut counts, mut events) =
            (Heartbeat::default(), Counters::default(), Vec::new());
        let session = desk.session(&pulse).unwrap();
        let id = session
            .with(|committer| committer.transaction()?.mailbox(2, 2, 0))
            .unwrap();
        let urls = "http://a.example/\n".repeat(1000);
        let letter = |n| format!("From a@b Mon\nSubject: {n}\n\n{urls}\n").into_bytes();
        let bytes = (0..12).flat_map(letter).collect();
        let block = Block {
            bytes,
            offset: 0,
            role: BlockRole::Whole,
        };
        let mut taker = Taker {
            session,
            parsers: &parsers,
            extractor: &extractor,
            counts: &mut counts,
            events: &mut events,
            source: Source::at("inbox".into()),
            mailbox: Mailbox::new(id, 2),
            tails: Vec::new(),
        };
        let found = divided(&block, Format::Mbox, &mut taker);
        taker.take(&found, None, End::Sure).unwrap();
        let waiting = session.with(|committer| Ok(committer.waiting().0)).unwrap();
        assert!(waiting < BATCH_BYTES, "{waiting}");
        // Nor does one file make a segment larger than any is to be, but for the last batch.
        let sizes = world
            .segments()
            .into_iter()
            .map(|path| path.metadata().unwrap().len() as usize)
            .collect::<Vec<_>>();
        assert!(
            !sizes.is_empty() && sizes.iter().all(|size| *size < 3 * BATCH_BYTES),
            "{sizes:?}"
        );
        desk.close().unwrap();
        assert_eq!(world.lines(), 12_000);
    }

    #[test]
    fn two_readers_of_one_mailbox_give_a_message_once() {
        let mut world = World::new("two-readers");
        let desk = world.desk();
        let (parsers, extractor) = (Parsers::new(), Extractor::new(Config::default().options()));
        let bytes = b"From a@b Mon\nSubject: x\n\nsee http://a.example/ now\n".to_vec();
        let block = Block {
            bytes,
            offset: 0,
            role: BlockRole::Whole,
        };
        let (pulses, mut counts) = (
            [Heartbeat::default(), Heartbeat::default()],
            [Counters::default(), Counters::default()],
        );
        let session = desk.session(&pulses[0]).unwrap();
        let id = session
            .with(|committer| committer.transaction()?.mailbox(2, 2, 0))
            .unwrap();
        let mut events = [Vec::new(), Vec::new()];
        let mut takers = Vec::new();
        for ((pulse, counts), events) in pulses.iter().zip(&mut counts).zip(&mut events) {
            let (session, source) = (desk.session(pulse).unwrap(), Source::at("inbox".into()));
            let (parsers, extractor, mailbox) = (&parsers, &extractor, Mailbox::new(id, 2));
            takers.push(Taker {
                session,
                parsers,
                extractor,
                counts,
                events,
                source,
                mailbox,
                tails: Vec::new(),
            });
        }
        // Both have asked whether it was given before either has given it.
        let found = divided(&block, Format::Mbox, &mut takers[0]);
        for taker in &takers {
            assert_eq!(
                taker
                    .fresh(&[taker.weigh(&found[0], None, End::File)])
                    .unwrap()
                    .len(),
                1
            );
        }
        for taker in &mut takers {
            let weighed = [taker.weigh(&found[0], None, End::File)];
            let yields = vec![Some(searched(
                &weighed[0],
                &taker.source,
                taker.extractor,
                &mut RecordWriter::default(),
            ))];
            taker.put(&weighed, yields).unwrap();
        }
        drop(takers);
        assert_eq!(
            counts.map(|counts| (counts.messages_read, counts.repeated)),
            [(1, 0), (0, 1)]
        );
        desk.close().unwrap();
        assert_eq!(world.lines(), 1);
    }
}
