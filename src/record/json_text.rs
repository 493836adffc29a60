//! Texts and values in JSON: bytes as strings with the escapes that they need, and lines.

use std::borrow::Cow;

use serde::Serialize;

use crate::byte_scan::is_plain_json;

/// Returns text for JSON: bytes that are not UTF-8 become U+FFFD, and so does NUL, which databases refuse.
pub(super) fn text(bytes: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(bytes);
    match memchr::memchr(0, bytes) {
        None => text,
        Some(_) => text.replace('\0', "\u{FFFD}").into(),
    }
}

/// Returns `true` if [`text()`] keeps every byte.
pub(super) fn is_lossless(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_none() && std::str::from_utf8(bytes).is_ok()
}

/// Appends bytes that need no escapes, in quotation marks.
pub(super) fn quoted(plain: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(plain);
    out.push(b'"');
}

/// Appends bytes as a JSON string (RFC 8259 section 7). NUL and bytes that are not UTF-8 become U+FFFD.
pub(super) fn string(bytes: &[u8], out: &mut Vec<u8>) {
    if is_plain_json(bytes) {
        return quoted(bytes, out);
    }
    serde_json::to_writer(out, &text(bytes)).expect("a Vec takes all bytes");
}

/// Appends a text as a JSON string, with NUL as an escape.
pub(super) fn exact_string(text: &str, out: &mut Vec<u8>) {
    if is_plain_json(text.as_bytes()) {
        return quoted(text.as_bytes(), out);
    }
    serde_json::to_writer(out, text).expect("a Vec takes all bytes");
}

/// Appends a text as a JSON string, with the escapes that it needs, to a text.
#[cfg(feature = "load")]
pub(super) fn push_escaped(text: &str, out: &mut String) {
    if is_plain_json(text.as_bytes()) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&serde_json::to_string(text).expect("a text serializes"));
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_equals_the_one_of_serde_json() {
        let mut texts: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![b'a', byte]).collect();
        texts.extend((0..40).map(|len| [vec![b'x'; len], b"\"".to_vec(), vec![b'y'; 20]].concat()));
        texts.extend((0..40).map(|len| vec![b'~'; len]));
        texts.extend([b"\xE2\x80\xA8\xFF".to_vec(), vec![0x7F; 17], Vec::new()]);
        for bytes in texts {
            let mut out = Vec::new();
            string(&bytes, &mut out);
            assert_eq!(out, serde_json::to_vec(&text(&bytes)).unwrap(), "{bytes:?}");
        }
    }

    #[test]
    fn no_text_holds_a_nul() {
        assert_eq!(text(b"a\0b\xFF"), "a\u{FFFD}b\u{FFFD}");
        assert!(is_lossless("\u{E9}".as_bytes()) && !is_lossless(b"\0") && !is_lossless(b"\xFF"));
    }
}
