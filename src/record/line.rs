//! A value as one line.

use serde::Serialize;

/// Appends a value and a line end.
pub(super) fn line_to(out: &mut Vec<u8>, line: &impl Serialize) {
    serde_json::to_writer(&mut *out, line)
        .expect("our own types serialize, and a Vec takes all octets");
    out.push(b'\n');
}

/// A value of numbers, texts and lists as one line of JSON.
#[must_use]
pub fn json_line(value: &impl Serialize) -> Vec<u8> {
    let mut out = Vec::new();
    line_to(&mut out, value);
    out
}
