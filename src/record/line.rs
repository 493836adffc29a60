//! A value as one line of JSON.

use serde::Serialize;

/// Returns a value of numbers, texts and lists as one line of JSON.
#[must_use]
pub fn json_line(value: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::new();
    append_json_line(&mut out, value);
    out
}

/// Appends a value of numbers, texts and lists as one line of JSON.
pub(super) fn append_json_line(out: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(&mut *out, value)
        .expect("types of this crate serialize, and a Vec takes all bytes");
    out.push(b'\n');
}
