//! Ingest of one file: whether it is known, whether it is complete, and its new messages.
//!
//! Each file imports only those above it.
//!
//! | file | subject |
//! |---|---|
//! | `identity` | identity of files, mailboxes and messages |
//! | `outcome` | result of reading a file |
//! | `parser_pool` | threads that extract URLs |
//! | `message_ingest` | messages: duplicates, extraction, records and state of the batch |
//! | `mbox_lock` | the locks of an mbox's writers |
//! | `mbox` | mboxes, in chunks |
//! | `file_ingest` | the choice of the reader; other files and archives as a whole |

mod file_ingest;
mod identity;
mod mbox;
mod mbox_lock;
mod message_ingest;
mod outcome;
mod parser_pool;

pub(crate) use file_ingest::{ExistingFiles, IngestContext};
pub(crate) use identity::{FileVersion, can_share, mailbox_scopes};
pub(crate) use mbox_lock::{WriterLock, why_locked};
pub(crate) use outcome::{FileOutcome, FileStanding, SettleState};
pub(crate) use parser_pool::ParserPool;
