//! Ingest of one file: whether it is known, whether it is complete, and its new messages.
//!
//! This file defines the outcomes of reading a file. Each file imports only those above it.
//!
//! | file | subject |
//! |---|---|
//! | `identity` | identity of files, mailboxes and messages |
//! | `suspects` | messages at which the process died |
//! | `message_ingest` | messages: duplicates, extraction, records and state of the batch |
//! | `mbox` | mboxes, in chunks, under the lock of their writers |
//! | `file_ingest` | the choice of the reader; other files, archives and git repositories |

mod file_ingest;
mod identity;
mod mbox;
mod message_ingest;
mod suspects;

use std::io;

use crate::DaemonError;
use crate::store::HolderKey;
use urlspool_text::diagnostic::SkipReason;

pub(crate) use file_ingest::file_read_state;
pub(crate) use identity::{ExistingFiles, FileVersion, can_share, mailbox_scopes};
pub(crate) use mbox::why_locked;
pub(crate) use message_ingest::{IngestContext, ParserPool};
pub(crate) use suspects::Suspects;

/// State of a file's content: settled, or still changing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettleState {
    /// The file has not changed for the settle time.
    Settled,
    /// Its writer closed it or took a lock off, so the last message is complete if it looks so.
    Closed,
    /// The file may still be written.
    Changing,
}

/// Certainty that a message is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndCertainty {
    /// Another message follows, or the message is a file by itself.
    Certain,
    /// The file ends with the message, so the message may still grow.
    EndOfFile,
    /// The file ends inside a line of the message.
    MidLine,
}

/// Recorded progress for a version of a file, before it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileReadState {
    /// Not read, or not completely. If holders are tracked, this pass holds the messages already
    /// read of an mbox.
    Unread(Option<HolderKey>),
    /// Empty, so there is no data to read. If holders are tracked, this pass holds the messages
    /// read of an mbox earlier.
    Empty(Option<HolderKey>),
    /// Read completely, as this holder if holders are tracked.
    Read(HolderKey),
}

impl FileReadState {
    /// The holder of the messages read from the file.
    pub(crate) fn holder(self) -> Option<HolderKey> {
        match self {
            FileReadState::Empty(pass) | FileReadState::Unread(pass) => pass,
            FileReadState::Read(holder) => Some(holder),
        }
    }
}

/// The reason why the new messages of a file were not read completely.
#[derive(Debug)]
pub(crate) enum Incomplete {
    /// The rest must wait until the file has settled.
    Waiting,
    /// A writer holds a lock of the file. Tells who, and what to do.
    Locked(String),
    /// One chunk was read, and more remain.
    Partial,
    /// The file has no supported format.
    Skipped(SkipReason),
    /// The file cannot be read.
    Failed(io::Error),
    /// State or output failed.
    Ended(DaemonError),
}

impl From<io::Error> for Incomplete {
    fn from(error: io::Error) -> Incomplete {
        Incomplete::Failed(error)
    }
}

impl From<DaemonError> for Incomplete {
    fn from(error: DaemonError) -> Incomplete {
        Incomplete::Ended(error)
    }
}
