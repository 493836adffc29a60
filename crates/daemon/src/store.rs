//! State and output: what is known of mail, and which records are committed.
//!
//! [`SharedWriter`] is the entrance: readers write through its [`Session`]s. Its committer writes
//! lines to the open segment, syncs it, and commits one transaction of the [`StateDb`] that
//! names its length, the messages that were read and the positions in mboxes; only then is the work
//! done. `recovery.rs` brings both into agreement after a crash, and replaces a lost state. Files
//! further down this list use only those above them:
//!
//! | files | subject |
//! |---|---|
//! | `state_paths` | files beside the database, the lock of the state, the reserve of space |
//! | `state_db` | the database |
//! | `mail_rows` `gone` `purge` `spools` `sidecar_rows` | its queries |
//! | `committer` `recovery` `writer` | what is done with them |

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
pub(crate) use purge::SeenFiles;
pub use recovery::rebuild_state;
pub(crate) use spools::SpoolIdentity;
pub(crate) use state_db::{
    FileId, Hash128, MailboxId, StateDb, message_key, message_link, path_key,
};
pub(crate) use state_paths::is_state_database;
#[cfg(test)]
pub(crate) use tests::StoreFixture;
pub(crate) use writer::{Session, SharedWriter, Writer};
