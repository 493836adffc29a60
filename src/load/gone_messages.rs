//! Messages that are gone, which wait so that many are removed at once.

use std::collections::{BTreeMap, BTreeSet};

use crate::limits::LOAD_PENDING_GONE;
use crate::record::LoadedRecord;

/// Messages that are gone, and whose rows or documents are not removed yet.
#[derive(Debug, Default)]
pub(super) struct GoneMessages {
    /// Their digests, by mailbox.
    digests: BTreeMap<String, BTreeSet<String>>,
    count: usize,
}

impl GoneMessages {
    /// Adds a message.
    pub(super) fn push(&mut self, mailbox: &str, digest: &str) {
        if !self.digests.contains_key(mailbox) {
            self.digests.insert(mailbox.to_owned(), BTreeSet::new());
        }
        if let Some(digests) = self.digests.get_mut(mailbox) {
            self.count += usize::from(digests.insert(digest.to_owned()));
        }
    }

    /// Returns `true` if the message of a record is among them.
    pub(super) fn contains(&self, record: &LoadedRecord) -> bool {
        let digests = self.digests.get(record.mailbox());
        digests.is_some_and(|digests| digests.contains(record.digest()))
    }

    /// Returns `true` if none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns `true` if no more may wait.
    pub(super) fn is_full(&self) -> bool {
        LOAD_PENDING_GONE <= self.count
    }

    /// Drops all.
    pub(super) fn clear(&mut self) {
        *self = GoneMessages::default();
    }

    /// The digests of each mailbox.
    pub(super) fn by_mailbox(&self) -> impl Iterator<Item = (&String, &BTreeSet<String>)> {
        self.digests.iter()
    }
}
