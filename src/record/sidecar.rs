//! The sidecar of a segment: one JSON object on one line.

use serde::{Deserialize, Serialize};

use super::json_text::json_line;

/// Description of a segment: enough to verify it, and to restore the state of its messages if the state is lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sidecar {
    /// Version of the records.
    pub schema: u32,
    /// Identifier of the state that wrote the segment.
    pub instance: String,
    /// Number of the segment.
    pub seq: u64,
    /// Name of the segment's file.
    pub name: String,
    /// Length in bytes of its lines, before compression.
    pub len: u64,
    /// XXH3 (64 bits) of its lines, before compression, in hexadecimal digits.
    pub xxh3_64: String,
    /// Number of its lines.
    pub records: u64,
    /// Number of messages that these come from.
    pub messages: u64,
    /// Number of times that the state was rebuilt.
    pub epoch: u64,
    /// Seconds for which the spools were watched.
    pub age: u64,
    /// All spools that the state knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spools: Vec<SidecarSpool>,
    /// Changes of the state since the segment before it was sealed, by mailbox.
    pub mailboxes: Vec<SidecarMailbox>,
}

/// A spool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SidecarSpool {
    /// Bytes of the path under which the state keeps it, in hexadecimal digits, as are all paths.
    pub path: String,
    /// The path in the configuration.
    pub name: String,
    /// The path without links to which that led.
    pub target: String,
    /// Its `kind` in the configuration.
    pub kind: String,
    /// Its `dedupe` in the configuration.
    pub dedupe: String,
}

/// Changes of the state of a mailbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SidecarMailbox {
    /// Hash of its path, in hexadecimal digits, as are all hashes of 128 bits.
    pub mailbox: String,
    /// Hash of the path of its spool.
    pub spool: String,
    /// Device number of the file system of its files.
    pub dev: u64,
    /// 0: each of its files is one message. 1: some hold many. 2: some lie in archives together with others.
    pub many: u8,
    /// The messages whose records the segment holds, each a hash of mailbox and content.
    pub keys: Vec<String>,
    /// Files that were read as a whole.
    pub files: Vec<SidecarFile>,
    /// Offsets up to which its mboxes were read.
    pub cursors: Vec<SidecarCursor>,
    /// All messages of it that may yet grow; `None` if neither they nor the mailbox have changed.
    pub tails: Option<Vec<SidecarTail>>,
    /// Messages whose records were written, as long as tombstones are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<SidecarGiven>,
    /// Digests of messages that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// The first 112 bits of the keys of these messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

/// A message whose records were written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SidecarGiven {
    /// The digest in its records.
    pub digest: String,
    /// Bytes of the mailbox that its records name, in hexadecimal digits.
    pub mailbox: String,
    /// The first 112 bits of its key; of several, one after the other.
    pub keys: String,
    /// Other digests under which its URLs were written before it had grown, one after the other.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub earlier: String,
    /// Further mailboxes that its records name, as [`SidecarGiven::mailbox`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

/// A file that was read as a whole. An array of two elements in JSON, or of four with its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SidecarFileArray", into = "SidecarFileArray")]
pub struct SidecarFile {
    /// Hash of its identity and version.
    pub key: u64,
    /// The first 48 bits of the key of its only message; `None` if it holds several.
    pub message: Option<u64>,
    /// Its length, if its message may grow.
    pub length: Option<SidecarLength>,
}

/// Length of a file of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SidecarLength {
    /// Hash of its path.
    pub place: u64,
    /// Number of its bytes.
    pub len: u64,
}

/// A [`SidecarFile`] as an array.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum SidecarFileArray {
    WithLength(u64, Option<u64>, u64, u64),
    WithoutLength(u64, Option<u64>),
}

impl From<SidecarFileArray> for SidecarFile {
    fn from(array: SidecarFileArray) -> SidecarFile {
        let (key, message, length) = match array {
            SidecarFileArray::WithLength(key, message, place, len) => {
                (key, message, Some(SidecarLength { place, len }))
            }
            SidecarFileArray::WithoutLength(key, message) => (key, message, None),
        };
        SidecarFile {
            key,
            message,
            length,
        }
    }
}

impl From<SidecarFile> for SidecarFileArray {
    fn from(file: SidecarFile) -> SidecarFileArray {
        match file.length {
            Some(SidecarLength { place, len }) => {
                SidecarFileArray::WithLength(file.key, file.message, place, len)
            }
            None => SidecarFileArray::WithoutLength(file.key, file.message),
        }
    }
}

/// Offset up to which an mbox was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SidecarCursor {
    /// The file.
    pub file: SidecarFileId,
    /// Offset of the last message that was read.
    pub first: u64,
    /// Offset after its last byte.
    pub last: u64,
    /// Hash of the bytes between.
    pub guard: u64,
    /// Hash of the first bytes of the file.
    pub head: u64,
    /// Size of the file when all of it was read, or 0.
    pub size: u64,
    /// Time of its change then, in nanoseconds.
    pub mtime: i64,
}

/// Identity of a file. An array of three elements in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, i64)", into = "(u64, u64, i64)")]
pub struct SidecarFileId {
    /// Device number of its file system.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Time of its creation, in nanoseconds.
    pub btime: i64,
}

impl From<(u64, u64, i64)> for SidecarFileId {
    fn from((dev, ino, btime): (u64, u64, i64)) -> SidecarFileId {
        SidecarFileId { dev, ino, btime }
    }
}

impl From<SidecarFileId> for (u64, u64, i64) {
    fn from(file: SidecarFileId) -> (u64, u64, i64) {
        (file.dev, file.ino, file.btime)
    }
}

/// A message that was taken at the end of a file and may yet grow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SidecarTail {
    /// Length in bytes of the message when it was taken.
    pub len: u64,
    /// Hash of these bytes.
    pub hash: String,
    /// Identifiers of its URLs.
    pub ids: Vec<String>,
    /// The digests under which these URLs were written, as long as tombstones are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub digests: Vec<String>,
}

impl Sidecar {
    /// Returns the sidecar as one line of JSON.
    #[must_use]
    pub fn line(&self) -> Vec<u8> {
        json_line(self)
    }

    /// Reads a sidecar; `None` if its writing was not finished.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Sidecar> {
        serde_json::from_slice(bytes).ok()
    }
}
