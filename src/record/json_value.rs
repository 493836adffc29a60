//! The values of a record's fields as JSON.
//!
//! Crates could write the records: measured with records of 327 bytes on one core, `serde_json`
//! writes 1.17 GB/s, a writer by hand 1.55 GB/s and `sonic-rs` 1.76 GB/s. `sonic-rs` brings 27
//! crates and SIMD code with `unsafe`, and neither appends fields that were encoded before to an
//! open object, which the caches of `writer.rs` need. So the records of URLs, millions in a run,
//! are written here, and `serde_json` encodes strings that need escapes and values that are rare.

use std::borrow::Cow;

use data_encoding::HEXLOWER;
use serde::Serialize;

use super::json_text::{quoted, string, text};
use super::parts::{PartList, Parts};
use super::value::{ValueSink, rounded};
use crate::byte_scan::is_plain_json;
use crate::parse::Alternate;

/// A sink that appends values as JSON.
pub(super) struct JsonSink<'o> {
    out: &'o mut Vec<u8>,
    count: Count,
}

/// The number of occurrences of a URL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    /// It is written as null.
    Null,
    /// It is inserted later, at the offset where its value is to stand.
    Open(Option<usize>),
}

impl<'o> JsonSink<'o> {
    /// A sink for which each URL stands once: its number of occurrences is null.
    pub(super) fn new(out: &'o mut Vec<u8>) -> JsonSink<'o> {
        let count = Count::Null;
        JsonSink { out, count }
    }

    /// A sink that leaves the number of occurrences out, and remembers its place.
    pub(super) fn open(out: &'o mut Vec<u8>) -> JsonSink<'o> {
        let count = Count::Open(None);
        JsonSink { out, count }
    }

    /// Returns the offset at which the number of occurrences is to be inserted, if it was left out.
    pub(super) fn count_at(&self) -> Option<usize> {
        match self.count {
            Count::Null => None,
            Count::Open(at) => at,
        }
    }

    /// Appends bytes that are JSON already.
    pub(super) fn push(&mut self, json: &[u8]) {
        self.out.extend_from_slice(json);
    }

    /// The buffer that values are appended to.
    pub(super) fn out(&mut self) -> &mut Vec<u8> {
        self.out
    }

    fn append(&mut self, value: &impl serde::Serialize) {
        serde_json::to_writer(&mut *self.out, value)
            .expect("types of this crate serialize, and a Vec takes all bytes");
    }

    fn list<T>(&mut self, items: impl Iterator<Item = T>, append: impl Fn(T, &mut Vec<u8>)) {
        self.out.push(b'[');
        for (index, item) in items.enumerate() {
            if 0 < index {
                self.out.push(b',');
            }
            append(item, self.out);
        }
        self.out.push(b']');
    }
}

impl ValueSink for JsonSink<'_> {
    fn null(&mut self) {
        self.push(b"null");
    }

    fn boolean(&mut self, value: bool) {
        self.push(if value { b"true" } else { b"false" });
    }

    fn integer(&mut self, value: u64) {
        self.append(&value);
    }

    fn number(&mut self, value: f64) {
        // The confidence of most records.
        if value.to_bits() == 1.0_f64.to_bits() {
            self.push(b"1.0");
        } else {
            self.append(&value);
        }
    }

    fn name(&mut self, name: &'static str) {
        quoted(name.as_bytes(), self.out);
    }

    fn text(&mut self, text: &[u8]) {
        string(text, false, self.out);
    }

    fn digest(&mut self, hash: u128) {
        let mut digits = [0; 32];
        HEXLOWER.encode_mut(&hash.to_be_bytes(), &mut digits);
        quoted(&digits, self.out);
    }

    fn names(&mut self, names: impl Iterator<Item = &'static str>) {
        self.list(names, |name, out| quoted(name.as_bytes(), out));
    }

    fn texts<'t>(&mut self, texts: impl Iterator<Item = &'t [u8]>) {
        self.list(texts, |text, out| string(text, false, out));
    }

    fn parts(&mut self, parts: Option<Parts<'_>>, url: &[u8]) {
        self.out.push(b'[');
        if let Some(parts) = parts {
            parts.write_entries(&mut PartList::json(self.out, is_plain_json(url)));
        }
        self.out.push(b']');
    }

    fn alternates(&mut self, alternates: &[Alternate]) {
        match alternates {
            [] => self.push(b"[]"),
            alternates => {
                let list: Vec<_> = alternates.iter().map(AlternateJson::from).collect();
                self.append(&list);
            }
        }
    }

    fn count(&mut self) {
        match self.count {
            Count::Null => self.null(),
            Count::Open(_) => self.count = Count::Open(Some(self.out.len())),
        }
    }
}

/// An element of `alternates`.
#[derive(Serialize)]
pub(super) struct AlternateJson<'r> {
    url: Cow<'r, str>,
    fragment: Option<Cow<'r, str>>,
    why: &'static str,
    confidence: f64,
}

impl<'r> From<&'r Alternate> for AlternateJson<'r> {
    fn from(alternate: &'r Alternate) -> AlternateJson<'r> {
        AlternateJson {
            url: text(&alternate.full[..alternate.url_len]),
            fragment: alternate.full.get(alternate.url_len + 1..).map(text),
            why: alternate.why.name(),
            confidence: rounded(alternate.confidence),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_serde_json_writes_them() {
        let mut out = Vec::new();
        let mut sink = JsonSink::new(&mut out);
        sink.text(b"\xC3\x89\"\xFF");
        sink.digest(0xAB);
        sink.names(["x", "y"].into_iter());
        sink.texts([&b"\""[..], b"z"].into_iter());
        sink.texts([].into_iter());
        sink.number(1.0);
        sink.number(0.25);
        sink.integer(7);
        sink.boolean(false);
        sink.count();
        let want = concat!(
            r#""É\"\u{FFFD}""000000000000000000000000000000ab"["x","y"]["\"","z"][]"#,
            "1.00.257falsenull"
        );
        assert_eq!(
            String::from_utf8(out).unwrap(),
            want.replace("\\u{FFFD}", "\u{FFFD}")
        );
    }

    #[test]
    fn the_place_of_a_count_is_remembered() {
        let mut out = b"{".to_vec();
        let mut sink = JsonSink::open(&mut out);
        assert_eq!(sink.count_at(), None);
        sink.count();
        sink.push(b"}");
        assert_eq!(sink.count_at(), Some(1));
        assert_eq!(out, b"{}");
    }
}
