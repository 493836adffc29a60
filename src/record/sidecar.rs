//! What a segment's sidecar says of it: one JSON object on one line.

use serde::{Deserialize, Serialize};

use super::line::json_line;

/// A segment: enough to check it, and to know its messages again when the state is lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sidecar {
    /// The version of the records.
    pub schema: u32,
    /// What tells the state that wrote it from others.
    pub instance: String,
    /// The segment's number.
    pub seq: u64,
    /// The segment's file.
    pub name: String,
    /// Bytes of its lines, before compression.
    pub len: u64,
    /// XXH3 (64 bits) of its lines, in hexadecimal digits.
    pub hash: String,
    /// Its lines.
    pub records: u64,
    /// How often the state had been built anew.
    pub epoch: u64,
    /// Seconds that the spools had been watched.
    pub age: u64,
    /// What was learnt since the segment before it was sealed, by mailbox.
    pub mailboxes: Vec<SidecarMailbox>,
}

/// What was learnt of a mailbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SidecarMailbox {
    /// The hash of its path, in hexadecimal digits, as all hashes of 128 bits.
    pub mailbox: String,
    /// The hash of its spool's path.
    pub spool: String,
    /// The file system its files were met on.
    pub dev: u64,
    /// 0: each of its files is one message. 1: some hold many. 2: some lie in archives together with others.
    pub many: u8,
    /// The messages whose records the segment holds, each a hash of mailbox and content.
    pub keys: Vec<String>,
    /// Files that were read whole, each a hash of what tells it from others, and the first 48 bits of its only message's key.
    pub files: Vec<(u64, Option<u64>)>,
    /// How far its mboxes were read.
    pub cursors: Vec<SidecarCursor>,
    /// All messages of it that may yet grow, if that or the mailbox itself has changed.
    pub tails: Option<Vec<SidecarTail>>,
}

/// How far an mbox was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SidecarCursor {
    /// The file: its file system, inode and time of birth in nanoseconds.
    pub file: (u64, u64, i64),
    /// The first byte of the last message that was read.
    pub first: u64,
    /// One past its last byte.
    pub last: u64,
    /// The hash of the bytes between.
    pub guard: u64,
    /// The hash of the file's first bytes.
    pub head: u64,
    /// The file's size when all of it was read, or 0.
    pub size: u64,
    /// Its time of change then, in nanoseconds.
    pub mtime: i64,
}

/// A message that was taken at a file's end and may yet grow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SidecarTail {
    /// Bytes that it began with.
    pub len: u64,
    /// Their hash.
    pub hash: String,
    /// Its URLs.
    pub ids: Vec<String>,
}

impl Sidecar {
    /// The sidecar as it is written.
    #[must_use]
    pub fn line(&self) -> Vec<u8> {
        json_line(self)
    }

    /// What was written, or nothing if that was not finished.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Sidecar> {
        serde_json::from_slice(bytes).ok()
    }
}
