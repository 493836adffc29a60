//! The progress in one file of a mailbox.

use std::sync::Arc;

use crate::daemon::store::{Hash128, MailboxId, NewScope, OlderScope};

/// A mailbox, and what was ingested from one file of it.
#[derive(Clone, Debug)]
pub(super) struct MailboxProgress {
    pub(super) id: MailboxId,
    pub(super) key: Hash128,
    /// The first bits of the last message's key: its link from the file in the state.
    pub(super) last_link: u64,
    /// Messages of the file, duplicates included.
    pub(super) messages: u64,
    /// Pieces of messages above the size limit.
    pub(super) pieces: u64,
    /// Mailboxes in which messages of the file may have been read before the configuration changed.
    pub(super) older: Arc<[OlderScope]>,
}

impl MailboxProgress {
    /// The mailbox before anything of the file was ingested.
    pub(super) fn new(id: MailboxId, key: Hash128) -> MailboxProgress {
        MailboxProgress {
            id,
            key,
            last_link: 0,
            messages: 0,
            pieces: 0,
            older: Arc::default(),
        }
    }

    /// The scope into which the messages are read.
    pub(super) fn scope(&self) -> NewScope<'_> {
        NewScope {
            id: self.id,
            key: self.key,
            older: &self.older,
        }
    }

    /// Adds what was ingested from another stream of the same file.
    pub(super) fn add(&mut self, other: &MailboxProgress) {
        self.messages += other.messages;
        self.pieces += other.pieces;
        self.last_link = other.last_link;
    }

    /// The link to the only message of the file; `None` if there are more, or none that is whole.
    pub(super) fn only_link(&self) -> Option<u64> {
        (self.messages == 1 && self.pieces == 0).then_some(self.last_link)
    }
}
