//! A JSON object, written field by field at the end of a line that grows.

use data_encoding::{BASE64, HEXLOWER};
use serde::Serialize;

use super::parts::text;
use crate::byte_scan::is_plain_json;

/// A field's name as it is written: behind a comma, in quotation marks, before a colon. Made by [`field!`].
#[derive(Clone, Copy)]
pub(super) struct Key {
    written: &'static str,
    /// The same, and what stands there most: null, or an empty list.
    with_null: &'static str,
    with_none: &'static str,
}

impl Key {
    /// The key that [`field!`] makes of a name.
    pub(super) const fn new(
        written: &'static str,
        with_null: &'static str,
        with_none: &'static str,
    ) -> Key {
        Key {
            written,
            with_null,
            with_none,
        }
    }
}

/// The key of a field, put together when the program is built.
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

/// A field whose value is known when the program is built, behind others.
macro_rules! fixed {
    ($name:literal, $json:literal) => {
        concat!(",\"", $name, "\":", $json)
    };
}
pub(super) use fixed;

/// An object that is being written. Values are put behind each other as they come; nothing is kept of them.
pub(super) struct Object<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
    /// Whether no text needs escapes, all being cut out of one that needs none.
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

    /// Goes on with an object that has fields already.
    pub(super) fn more(out: &'o mut Vec<u8>) -> Object<'o> {
        Object {
            out,
            is_empty: false,
            is_plain: false,
        }
    }

    /// Ends it.
    pub(super) fn close(self) {
        self.out.push(b'}');
    }

    /// A text. What is not UTF-8 becomes U+FFFD.
    pub(super) fn text(&mut self, key: Key, octets: &[u8]) {
        self.key(key);
        string(octets, self.is_plain, self.out);
    }

    /// A text, and its bytes in a field of their own where they are not UTF-8.
    pub(super) fn text_and_octets(&mut self, key: Key, octets_key: Key, octets: &[u8]) {
        self.key(key);
        if is_plain_json(octets) {
            return quoted(octets, self.out);
        }
        match std::str::from_utf8(octets) {
            Ok(text) => escaped(text, self.out),
            Err(_) => {
                escaped(&text(octets), self.out);
                self.name_of(octets_key, &BASE64.encode(octets));
            }
        }
    }

    /// A text, or null.
    pub(super) fn maybe(&mut self, key: Key, octets: Option<&[u8]>) {
        match octets {
            Some(octets) => self.text(key, octets),
            None => self.null(key),
        }
    }

    /// A text with its ASCII letters in lower case.
    pub(super) fn lower(&mut self, key: Key, octets: &[u8]) {
        self.key(key);
        let start = self.out.len();
        string(octets, self.is_plain, self.out);
        self.out[start..].make_ascii_lowercase();
    }

    /// A word of ours, which needs no escapes.
    pub(super) fn name(&mut self, key: Key, name: &'static str) {
        self.name_of(key, name);
    }

    /// A word of ours, or null.
    pub(super) fn maybe_name(&mut self, key: Key, name: Option<&'static str>) {
        match name {
            Some(name) => self.name(key, name),
            None => self.null(key),
        }
    }

    /// A list of such words.
    pub(super) fn names(&mut self, key: Key, names: impl IntoIterator<Item = &'static str>) {
        self.list(key, names, |out, name| quoted(name.as_bytes(), out));
    }

    /// A list of texts.
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
            return self.whole(key.with_none);
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

    /// A hash in 32 hexadecimal digits.
    pub(super) fn hex(&mut self, key: Key, hash: u128) {
        let mut digits = [0; 32];
        HEXLOWER.encode_mut(&hash.to_be_bytes(), &mut digits);
        self.key(key);
        quoted(&digits, self.out);
    }

    /// A whole number.
    pub(super) fn number(&mut self, key: Key, number: impl Into<u64>) {
        self.value(key, &number.into());
    }

    /// A whole number, or null.
    pub(super) fn maybe_number(&mut self, key: Key, number: Option<impl Into<u64>>) {
        match number {
            Some(number) => self.number(key, number),
            None => self.null(key),
        }
    }

    /// Null.
    pub(super) fn null(&mut self, key: Key) {
        self.whole(key.with_null);
    }

    /// A field that [`fixed!`] made.
    #[inline]
    pub(super) fn fixed(&mut self, field: &'static str) {
        debug_assert!(!self.is_empty, "the first field has no comma");
        self.out.extend_from_slice(field.as_bytes());
    }

    /// Any value.
    pub(super) fn value(&mut self, key: Key, value: &impl Serialize) {
        self.key(key);
        serde_json::to_writer(&mut *self.out, value)
            .expect("our own types serialize, and a Vec takes all octets");
    }

    /// A value that is JSON already.
    pub(super) fn encoded(&mut self, key: Key, json: &[u8]) {
        self.key(key);
        self.out.extend_from_slice(json);
    }

    /// Fields behind others, each with its comma, as `append` appends them.
    pub(super) fn fields(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        debug_assert!(!self.is_empty, "the first field has no comma");
        append(self.out);
    }

    /// An object.
    pub(super) fn object(&mut self, key: Key, fill: impl FnOnce(&mut Object<'_>)) {
        self.key(key);
        let mut inner = Object {
            is_plain: self.is_plain,
            ..Object::open(self.out)
        };
        fill(&mut inner);
        inner.close();
    }

    /// Fields whose texts are all cut out of `whole`, which is looked at once.
    pub(super) fn cut_from(&mut self, whole: &[u8], fill: impl FnOnce(&mut Object<'_>)) {
        self.is_plain = is_plain_json(whole);
        fill(self);
        self.is_plain = false;
    }

    /// An object of which the first fields are JSON already, its opening brace with them.
    pub(super) fn begun(&mut self, key: Key, json: &[u8], fill: impl FnOnce(&mut Object<'_>)) {
        self.encoded(key, json);
        let mut inner = Object::more(self.out);
        fill(&mut inner);
        inner.close();
    }

    fn name_of(&mut self, key: Key, name: &str) {
        self.key(key);
        quoted(name.as_bytes(), self.out);
    }

    #[inline]
    fn key(&mut self, key: Key) {
        self.whole(key.written);
    }

    /// A key, and perhaps its value.
    #[inline]
    fn whole(&mut self, written: &'static str) {
        let from = usize::from(std::mem::take(&mut self.is_empty));
        self.out.extend_from_slice(&written.as_bytes()[from..]);
    }
}

/// Appends what needs no escapes, in quotation marks.
fn quoted(plain: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(plain);
    out.push(b'"');
}

/// Appends bytes as a JSON string (RFC 8259 section 7). What is not UTF-8 becomes U+FFFD. Some are known to need no
/// escapes.
fn string(octets: &[u8], is_known: bool, out: &mut Vec<u8>) {
    debug_assert!(
        !is_known || is_plain_json(octets),
        "not cut out of what was looked at"
    );
    if is_known || is_plain_json(octets) {
        return quoted(octets, out);
    }
    escaped(&text(octets), out);
}

/// Appends a text as a JSON string, with escapes where it needs them.
fn escaped(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("a Vec takes all octets");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_what_the_library_makes_of_it() {
        let mut texts: Vec<Vec<u8>> = (0..=255u8).map(|octet| vec![b'a', octet]).collect();
        texts.extend((0..40).map(|len| [vec![b'x'; len], b"\"".to_vec(), vec![b'y'; 20]].concat()));
        texts.extend((0..40).map(|len| vec![b'~'; len]));
        texts.extend([b"\xE2\x80\xA8\xFF".to_vec(), vec![0x7F; 17], Vec::new()]);
        for octets in texts {
            let mut out = Vec::new();
            string(&octets, false, &mut out);
            assert_eq!(
                out,
                serde_json::to_vec(&text(&octets)).unwrap(),
                "{octets:?}"
            );
        }
    }

    #[test]
    fn fields_come_one_after_the_other() {
        let mut out = Vec::new();
        let mut line = Object::open(&mut out);
        line.number(field!("a"), 7u32);
        line.lower(field!("b"), b"HTTP\xC3\x89\"");
        line.names(field!("c"), ["x", "y"]);
        line.object(field!("d"), |inner| inner.null(field!("e")));
        line.texts(field!("l"), [&b"\""[..], "é".as_bytes()]);
        line.texts(field!("m"), []);
        line.begun(field!("f"), b"{\"g\":1", |inner| {
            inner.maybe(field!("h"), None)
        });
        line.hex(field!("i"), 0xAB);
        line.text_and_octets(field!("j"), field!("k"), b"\xFF");
        line.fixed(fixed!("n", "0"));
        for whole in [&b"xy"[..], b"x\"y"] {
            line.cut_from(whole, |line| {
                line.object(field!("o"), |inner| inner.texts(field!("p"), [&whole[1..]]))
            });
        }
        line.text(field!("q"), b"\"");
        line.close();
        let want = concat!(
            r#"{"a":7,"b":"httpÉ\"","c":["x","y"],"d":{"e":null},"l":["\"","é"],"m":[],"f":{"g":1,"h":null},"#,
            r#""i":"000000000000000000000000000000ab","j":"�","k":"/w==","n":0,"o":{"p":["y"]},"o":{"p":["\"y"]},"q":"\""}"#
        );
        assert_eq!(String::from_utf8(out).unwrap(), want);
    }
}
