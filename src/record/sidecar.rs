//! The sidecar of a segment: one JSON object on one line.

use serde::{Deserialize, Serialize};

/// Description of a segment: enough to verify it. The daemon adds the changes of its state.
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
}

impl Sidecar {
    /// Reads a sidecar; `None` if its writing was not finished.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Sidecar> {
        serde_json::from_slice(bytes).ok()
    }
}
