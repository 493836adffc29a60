//! What a segment's sidecar says of it: one JSON object on one line.

use serde::{Deserialize, Serialize};

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
    /// Octets of its lines, before compression.
    pub len: u64,
    /// XXH3 (64 bits) of its lines, in hexadecimal digits.
    pub hash: String,
    /// Its lines.
    pub records: u64,
    /// The messages whose records it holds, each a hash of mailbox and content.
    pub keys: Vec<String>,
}

impl Sidecar {
    /// The sidecar as it is written.
    #[must_use]
    pub fn line(&self) -> Vec<u8> {
        line(self)
    }

    /// What was written, or nothing if that was not finished.
    #[must_use]
    pub fn read(octets: &[u8]) -> Option<Sidecar> {
        serde_json::from_slice(octets).ok()
    }
}

/// A value of numbers, texts and lists as one line of JSON.
#[must_use]
pub fn line(value: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::new();
    super::json::line_to(&mut out, value);
    out
}
