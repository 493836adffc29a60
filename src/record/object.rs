//! A JSON object, written field by field at the end of a buffer: what `urlspool parse` prints.

use serde::Serialize;

use super::json_text::{quoted, string};
use crate::byte_scan::is_plain_json;

/// A field's name as it is written: after a comma, in quotation marks, before a colon. Made by [`field!`].
#[derive(Clone, Copy)]
pub(super) struct Key {
    written: &'static str,
    /// The name with null, the most frequent value.
    with_null: &'static str,
    /// The name with an empty list.
    with_empty_list: &'static str,
}

impl Key {
    /// Makes a key of the three texts that [`field!`] gives.
    pub(super) const fn new(
        written: &'static str,
        with_null: &'static str,
        with_empty_list: &'static str,
    ) -> Key {
        Key {
            written,
            with_null,
            with_empty_list,
        }
    }
}

/// The key of a field, concatenated at compile time.
macro_rules! field {
    ($name:literal) => {
        $crate::record::object::Key::new(
            concat!(",\"", $name, "\":"),
            concat!(",\"", $name, "\":null"),
            concat!(",\"", $name, "\":[]"),
        )
    };
}
pub(super) use field;

/// An object that is being written. Each value is appended at once; the object keeps none of them.
pub(super) struct Object<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
    /// `true` if no text needs escapes, because all are parts of one that needs none.
    is_plain: bool,
}

impl<'o> Object<'o> {
    /// Begins an object.
    pub(super) fn open(out: &'o mut Vec<u8>) -> Object<'o> {
        out.push(b'{');
        Object {
            out,
            is_empty: true,
            is_plain: false,
        }
    }

    /// Ends the object.
    pub(super) fn close(self) {
        self.out.push(b'}');
    }

    /// Writes a text. Bytes that are not UTF-8 become U+FFFD.
    pub(super) fn text(&mut self, key: Key, bytes: &[u8]) {
        self.key(key);
        string(bytes, self.is_plain, self.out);
    }

    /// Writes a text, or null.
    pub(super) fn optional_text(&mut self, key: Key, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => self.text(key, bytes),
            None => self.null(key),
        }
    }

    /// Writes a text with its ASCII letters in lower case.
    pub(super) fn lowercase_text(&mut self, key: Key, bytes: &[u8]) {
        self.key(key);
        let start = self.out.len();
        string(bytes, self.is_plain, self.out);
        self.out[start..].make_ascii_lowercase();
    }

    /// Writes a name, which needs no escapes.
    pub(super) fn name(&mut self, key: Key, name: &'static str) {
        self.name_of(key, name);
    }

    /// Writes a name, or null.
    pub(super) fn optional_name(&mut self, key: Key, name: Option<&'static str>) {
        match name {
            Some(name) => self.name(key, name),
            None => self.null(key),
        }
    }

    /// Writes a list of names.
    pub(super) fn names(&mut self, key: Key, names: impl IntoIterator<Item = &'static str>) {
        self.list(key, names, |out, name| quoted(name.as_bytes(), out));
    }

    /// Writes a list of texts.
    pub(super) fn texts<'t>(&mut self, key: Key, texts: impl IntoIterator<Item = &'t [u8]>) {
        let is_plain = self.is_plain;
        self.list(key, texts, |out, text| string(text, is_plain, out));
    }

    fn list<T>(
        &mut self,
        key: Key,
        items: impl IntoIterator<Item = T>,
        append: impl Fn(&mut Vec<u8>, T),
    ) {
        let mut items = items.into_iter();
        let Some(first) = items.next() else {
            return self.whole(key.with_empty_list);
        };
        self.key(key);
        self.out.push(b'[');
        append(self.out, first);
        for item in items {
            self.out.push(b',');
            append(self.out, item);
        }
        self.out.push(b']');
    }

    /// Writes an integer.
    pub(super) fn number(&mut self, key: Key, number: impl Into<u64>) {
        self.value(key, &number.into());
    }

    /// Writes an integer, or null.
    pub(super) fn optional_number(&mut self, key: Key, number: Option<impl Into<u64>>) {
        match number {
            Some(number) => self.number(key, number),
            None => self.null(key),
        }
    }

    /// Writes null.
    pub(super) fn null(&mut self, key: Key) {
        self.whole(key.with_null);
    }

    /// Writes any value, with `serde_json`.
    pub(super) fn value(&mut self, key: Key, value: &impl Serialize) {
        self.key(key);
        serde_json::to_writer(&mut *self.out, value)
            .expect("types of this crate serialize, and a Vec takes all bytes");
    }

    /// Writes an object.
    pub(super) fn object(&mut self, key: Key, fill: impl FnOnce(&mut Object<'_>)) {
        self.key(key);
        let mut inner = Object {
            is_plain: self.is_plain,
            ..Object::open(self.out)
        };
        fill(&mut inner);
        inner.close();
    }

    /// Writes fields whose texts are all parts of `whole`, which is checked once for bytes that need escapes.
    pub(super) fn cut_from(&mut self, whole: &[u8], fill: impl FnOnce(&mut Object<'_>)) {
        self.is_plain = is_plain_json(whole);
        fill(self);
        self.is_plain = false;
    }

    fn name_of(&mut self, key: Key, name: &str) {
        self.key(key);
        quoted(name.as_bytes(), self.out);
    }

    #[inline]
    fn key(&mut self, key: Key) {
        self.whole(key.written);
    }

    /// Appends a key, perhaps with its value; without the comma if it is the first.
    #[inline]
    fn whole(&mut self, written: &'static str) {
        let from = usize::from(std::mem::take(&mut self.is_empty));
        self.out.extend_from_slice(&written.as_bytes()[from..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_follow_one_another() {
        let mut out = Vec::new();
        let mut line = Object::open(&mut out);
        line.number(field!("a"), 7u32);
        line.lowercase_text(field!("b"), b"HTTP\xC3\x89\"");
        line.names(field!("c"), ["x", "y"]);
        line.object(field!("d"), |inner| inner.null(field!("e")));
        line.texts(field!("l"), [&b"\""[..], "é".as_bytes()]);
        line.texts(field!("m"), []);
        line.optional_text(field!("h"), None);
        for whole in [&b"xy"[..], b"x\"y"] {
            line.cut_from(whole, |line| {
                line.object(field!("o"), |inner| inner.texts(field!("p"), [&whole[1..]]))
            });
        }
        line.text(field!("q"), b"\"");
        line.close();
        let want = concat!(
            r#"{"a":7,"b":"httpÉ\"","c":["x","y"],"d":{"e":null},"l":["\"","é"],"m":[],"h":null,"#,
            r#""o":{"p":["y"]},"o":{"p":["\"y"]},"q":"\""}"#
        );
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }
}
