//! Decodes a message into texts, each with a map back to the raw bytes.

pub mod decode;
pub mod documents;
mod lines;
#[cfg_attr(
    not(feature = "files"),
    expect(dead_code, reason = "finds where streams can be cut")
)]
pub mod split;
