//! Ingest of one file: whether it is known, whether it is complete, and its new messages.
//!
//! Each file imports only those above it.
//!
//! | file | subject |
//! |---|---|
//! | `identity` | identity of files, mailboxes and messages |
//! | `outcome` | result of reading a file |
//! | `parser_pool` | threads that extract URLs |
//! | `message_output` | extraction of one message |
//! | `message_ingest` | messages: duplicates, records and state of the batch |
//! | `context` | what the ingest of a file needs besides the file |
//! | `mbox_lock` | the locks of an mbox's writers |
//! | `blocks` `container` `mbox` | files of one kind each |
//! | `file_ingest` | the choice between them |

mod blocks;
mod container;
mod context;
mod file_ingest;
mod identity;
mod mailbox_progress;
mod mbox;
mod mbox_lock;
mod message_ingest;
mod message_output;
mod outcome;
mod parser_pool;

pub(crate) use context::IngestContext;
pub(crate) use identity::{FileVersion, can_share, mailbox_scopes};
pub(crate) use mbox_lock::{WriterLock, why_locked};
pub(crate) use outcome::{FileOutcome, FileStanding, SettleState};
pub(crate) use parser_pool::ParserPool;
