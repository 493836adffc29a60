//! One message: was it given, what does it hold, what is remembered of it.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::commit::Committer;
use super::fault::Fault;
use super::identity::{beginning, begins_with, message_key, whole_digest};
use super::metrics::Counts;
use super::state::{Key, MailboxId, Tail, link};
use crate::decode::Fields;
use crate::origin::Source;
use crate::pipeline::{Extractor, Finding, extract};
use crate::problem::{Event, Kind, Problem};
use crate::record;
use crate::split::{Block, Divided, Format, Message, messages};

/// Takes messages of one mailbox into the batch.
pub(super) struct Taker<'t> {
    pub(super) committer: &'t mut Committer,
    pub(super) extractor: &'t Extractor,
    pub(super) counts: &'t mut Counts,
    /// What was wrong with messages.
    pub(super) events: &'t mut Vec<Event>,
    pub(super) source: Source,
    pub(super) mailbox: Mailbox,
    /// The mailbox's messages that may yet grow.
    pub(super) tails: Vec<Tail>,
}

/// A mailbox, and what was taken of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mailbox {
    pub(super) id: MailboxId,
    pub(super) key: Key,
    /// How the key of the message that was taken last begins.
    pub(super) last: u64,
    /// Messages that were taken, also such as had been given.
    pub(super) taken: u64,
    /// Pieces of messages that were too large to be held.
    pub(super) pieces: u64,
}

impl Mailbox {
    pub(super) fn new(id: MailboxId, key: Key) -> Mailbox {
        Mailbox { id, key, last: 0, taken: 0, pieces: 0 }
    }

    /// Adds what was taken from another stream of the same file.
    pub(super) fn add(&mut self, other: Mailbox) {
        (self.taken, self.pieces) = (self.taken + other.taken, self.pieces + other.pieces);
        self.last = other.last;
    }
}

/// How a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Something stands behind it, or it is a file by itself.
    Sure,
    /// The file ends; it may yet grow.
    File,
    /// The file ends within a line.
    Torn,
}

impl Taker<'_> {
    /// Takes a message, or the piece at `within` of a larger one. Gives its digest.
    pub(super) fn take(&mut self, message: &Message<'_>, within: Option<(u128, u64)>, end: End) -> Result<u128, Fault> {
        let header_bytes = self.extractor.limits().header_bytes;
        let fields = Fields::in_message(message, header_bytes);
        let digest = whole_digest(message, &fields, within);
        let key = message_key(self.mailbox.key, digest);
        self.mailbox.last = link(key);
        *(if within.is_none() { &mut self.mailbox.taken } else { &mut self.mailbox.pieces }) += 1;
        let grown: Vec<Tail> =
            self.tails.iter().filter(|tail| begins_with(message, &fields, tail.len, tail.hash)).cloned().collect();
        if self.committer.state()?.is_seen(self.mailbox.id, key)? {
            self.counts.repeated += 1;
            if end == End::Sure {
                self.forget(&grown)?;
            }
            return Ok(digest);
        }
        let given: HashSet<u128> = grown.iter().flat_map(|tail| tail.ids.iter().copied()).collect();
        let yielded = self.extract(message, &given, end);
        self.committer.state()?.see(self.mailbox.id, key)?;
        // One that has grown and gave nothing more did give something before.
        if yielded.records > 0 || !grown.is_empty() {
            self.committer.state()?.note_fresh(self.mailbox.id, key)?;
        }
        self.committer.put(&yielded.lines, yielded.records);
        self.counts.messages_read += 1;
        self.forget(&grown)?;
        if end != End::Sure {
            self.remember(message, yielded.ids)?;
        }
        Ok(digest)
    }

    fn forget(&mut self, grown: &[Tail]) -> Result<(), Fault> {
        for tail in grown {
            self.committer.state()?.drop_tail(self.mailbox.id, tail)?;
        }
        self.tails.retain(|tail| !grown.contains(tail));
        Ok(())
    }

    fn remember(&mut self, message: &Message<'_>, ids: Vec<u128>) -> Result<(), Fault> {
        if let Some((len, hash)) = beginning(message, self.extractor.limits().header_bytes) {
            let tail = Tail { len, hash, ids };
            self.committer.state()?.put_tail(self.mailbox.id, &tail)?;
            self.tails.push(tail);
        }
        Ok(())
    }

    /// The lines of a message, without those URLs of it that were given before it grew. A panic is contained.
    fn extract(&mut self, message: &Message<'_>, given: &HashSet<u128>, end: End) -> Yield {
        let mut yielded = Yield::default();
        let mut events = Vec::new();
        let remember = end != End::Sure || !given.is_empty();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut times: HashMap<u128, u64> = HashMap::new();
            let mut common = record::Common::default();
            extract(message, &self.source, self.extractor, &mut |finding| match finding {
                Finding::Url(found) | Finding::Unwrapped(found) => {
                    if remember {
                        let before = times.entry(record::id(0, "", found.found.full, 0)).or_default();
                        let id = record::id(0, "", found.found.full, *before);
                        *before += 1;
                        yielded.ids.push(id);
                        if given.contains(&id) {
                            return;
                        }
                    }
                    yielded.records += 1;
                    record::write(found, &mut common, &mut yielded.lines);
                    if end == End::Torn {
                        record::mark_truncated_tail(&mut yielded.lines);
                    }
                }
                Finding::Problem(problem) => events.push(problem.of(&self.source)),
                _ => {}
            });
        }));
        if outcome.is_err() {
            yielded = Yield::default();
            let what = "the program failed on this message; please report it";
            events = vec![Problem::at(Kind::Panic, message.start, what).of(&self.source)];
        }
        self.events.append(&mut events);
        yielded
    }
}

/// The messages of a block; what is wrong with its borders is noted.
pub(super) fn divided<'b>(block: &'b Block, format: Format, taker: &mut Taker<'_>) -> Vec<Message<'b>> {
    let mut found = Vec::new();
    messages(block, format, &mut |divided| match divided {
        Divided::Message(message) => found.push(message),
        Divided::Problem(problem) => taker.events.push(problem.of(&taker.source)),
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
}
