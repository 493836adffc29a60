//! State and output: what is known of mail, and what is committed of it.

mod committer;
mod instance_lock;
mod recovery;
mod shared_committer;
mod shutdown_hash;
mod state;
mod watch_time;

pub(crate) use committer::Committer;
pub(crate) use instance_lock::InstanceLock;
pub(crate) use recovery::rebuild;
pub(crate) use shared_committer::{Session, SharedCommitter};
pub(crate) use state::{
    FileId, GrowingMessage, Hash128, MailboxId, MboxCursor, SeenFiles, message_link,
};

#[cfg(test)]
pub(crate) use shared_committer::BATCH_BYTES;
#[cfg(test)]
pub(crate) use shared_committer::tests as shared_committer_tests;
