//! State and output: known mail and committed records.
//!
//! [`SharedWriter`] is the entry point: readers write through its [`Session`]s. Its committer
//! writes lines to the open segment, syncs the segment, and commits one transaction of the
//! [`StateDb`]. The transaction contains the segment's length, the messages that were read and the
//! positions in mboxes; only then is the work done. `recovery.rs` makes state and output agree
//! after a crash, and rebuilds a lost state. Each file uses only those above it in this list:
//!
//! | files | subject |
//! |---|---|
//! | `state_db` | the database; the rows about mail |
//! | `gone` `purge` `spools` | other queries |
//! | `recovery` `writer` | operations on state and output; sidecars |

mod gone;
mod purge;
mod recovery;
mod spools;
mod state_db;
#[cfg(test)]
mod tests;
mod writer;
pub(crate) use gone::{GivenMessage, GoneMessage, HolderRow, OrphanedMailbox};
pub(crate) use purge::{PurgeStats, SeenFiles};
pub use recovery::rebuild_state;
pub(crate) use spools::SpoolIdentity;
pub(crate) use state_db::{
    FileId, FileLook, GrowingMessage, Hash128, HolderKey, LookChange, MANY, MIXED, MailboxId,
    MboxCursor, ReadFile, StateDb, message_key, message_link, path_key,
};
#[cfg(test)]
pub(crate) use tests::StoreFixture;
pub(crate) use writer::{Session, SharedWriter, Writer};
