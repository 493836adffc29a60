//! Ingest of one file: whether it is known, whether it is complete, and its new messages.
//!
//! The outcomes of reading a file are here. Each file imports only those above it.
//!
//! | file | subject |
//! |---|---|
//! | `identity` | identity of files, mailboxes and messages |
//! | `suspects` | messages at which the process died |
//! | `message_ingest` | messages: duplicates, extraction on several threads, records and state of the batch |
//! | `mbox` | mboxes, in chunks, under the lock of their writers |
//! | `file_ingest` | the choice of the reader; other files and archives as a whole; git repositories |

mod file_ingest;
mod identity;
mod mbox;
mod message_ingest;
mod suspects;

use std::io;

use crate::store::HolderKey;
use urlspool_text::diagnostic::SkipReason;

pub(crate) use file_ingest::{ExistingFiles, IngestContext, file_standing};
pub(crate) use identity::{FileVersion, can_share, mailbox_scopes};
pub(crate) use mbox::{WriterLock, why_locked};
pub(crate) use message_ingest::ParserPool;
pub(crate) use suspects::Suspects;

/// State of the content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettleState {
    /// The file has not changed for the settle time.
    Settled,
    /// The file may still be written.
    Changing,
}

/// Certainty of the end of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndCertainty {
    /// Another message follows, or the message is a file by itself.
    Certain,
    /// The file ends with the message, which may still grow.
    EndOfFile,
    /// The file ends within a line of the message.
    MidLine,
}

/// Knowledge about a version of a file before it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileStanding {
    /// It was not read, or not completely. What was read of an mbox is held by this pass, if
    /// holders are tracked.
    Unread(Option<HolderKey>),
    /// It is empty, so that there is nothing to read. What was read of an mbox before is held by
    /// this pass, if holders are tracked.
    Empty(Option<HolderKey>),
    /// It was read completely, as this holder if holders are tracked.
    Read(HolderKey),
}

impl FileStanding {
    /// The holder of what was read of the file.
    pub(crate) fn holder(self) -> Option<HolderKey> {
        match self {
            FileStanding::Empty(pass) | FileStanding::Unread(pass) => pass,
            FileStanding::Read(holder) => Some(holder),
        }
    }
}

/// Outcome of reading the new messages of a file.
#[derive(Debug)]
pub(crate) enum FileOutcome {
    /// Everything was read, or there was nothing to read.
    Complete,
    /// The rest must wait until the file has settled.
    Waiting,
    /// A writer holds a lock of the file.
    Locked(WriterLock),
    /// One chunk was read, and there are more.
    Partial,
    /// The file is of no format that is read.
    Skipped(SkipReason),
    /// The file cannot be read.
    Failed(io::Error),
}
