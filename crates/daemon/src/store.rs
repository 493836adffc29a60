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
//! | `state_paths` | files next to the database, the lock of the state, the reserve of space |
//! | `state_db` | the database |
//! | `mail_rows` `gone` `purge` `spools` `sidecar_rows` | queries |
//! | `committer` `recovery` `writer` | operations on state and output |

mod committer;
mod gone;
mod mail_rows;
mod purge;
mod recovery;
mod sidecar_rows;
mod spools;
mod state_db;
mod state_paths;
#[cfg(test)]
mod tests;
mod writer;
pub(crate) use gone::{GivenMessage, HolderKey, HolderRow, OrphanedMailbox, Release};
pub(crate) use mail_rows::{
    FileLook, GrowingMessage, LookChange, MANY, MIXED, MboxCursor, ReadFile,
};
pub(crate) use purge::{PurgeStats, SeenFiles};
pub use recovery::rebuild_state;
pub(crate) use spools::SpoolIdentity;
pub(crate) use state_db::{
    FileId, Hash128, MailboxId, StateDb, message_key, message_link, path_key,
};
pub(crate) use state_paths::is_state_database;
#[cfg(test)]
pub(crate) use tests::StoreFixture;
pub(crate) use writer::{Session, SharedWriter, Writer};
