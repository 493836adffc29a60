//! Decodes encoded words in header fields (RFC 2047), with a map back to the raw bytes.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::transfer::{base64, quoted_printable};
use super::{MappedBytes, charset};
use crate::limits::ENCODED_WORDS;
use crate::span::{ByteMap, Span};

/// Finds the start of an encoded word.
static BEGIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"=?"));

/// Decodes the encoded words of a field's value. Line breaks stay.
///
/// White space between two encoded words is not part of the text (section 6.2). Words that cannot
/// be decoded stay as they are.
pub(super) fn decode(raw: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(raw.len());
    append(raw, &mut text, None);
    text
}

/// Does the same as [`decode`], with the map to the raw bytes.
pub(super) fn decode_with_map(raw: &[u8]) -> MappedBytes {
    let mut text = Vec::with_capacity(raw.len());
    let mut map = ByteMap::new();
    append(raw, &mut text, Some(&mut map));
    map.push_same(text.len(), raw.len());
    MappedBytes { bytes: text, map }
}

/// Appends the decoded text, and to `map` where its bytes come from.
fn append(raw: &[u8], text: &mut Vec<u8>, mut map: Option<&mut ByteMap>) {
    let mut at = 0;
    let mut after_word = false;
    for _ in 0..ENCODED_WORDS {
        let Some(word) = next_word(raw, at) else {
            break;
        };
        let between = &raw[at..word.start];
        if !(after_word && between.iter().all(u8::is_ascii_whitespace)) {
            plain(raw, Span::new(at, word.start), text, map.as_deref_mut());
        }
        word.decode(text, map.as_deref_mut());
        at = word.start + word.len;
        after_word = true;
    }
    plain(raw, Span::new(at, raw.len()), text, map);
}

/// Appends bytes outside encoded words: UTF-8, or read as windows-1252.
fn plain(raw: &[u8], range: Span, text: &mut Vec<u8>, map: Option<&mut ByteMap>) {
    let converted = charset::decode(range.of(raw), None);
    match (map, converted.map) {
        (None, _) => {}
        (Some(map), None) => map.push_same(text.len(), range.start),
        (Some(map), Some(_)) => map.push_whole(text.len(), range),
    }
    text.extend_from_slice(&converted.bytes);
}

/// `=?charset?encoding?text?=`
struct EncodedWord<'w> {
    /// Its offset in the value.
    start: usize,
    /// Its length, with the delimiters.
    len: usize,
    charset: &'w [u8],
    encoding: WordEncoding,
    /// Offset of `text` in the value.
    text_start: usize,
    text: &'w [u8],
}

/// The encoding of a word (section 4).
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordEncoding {
    /// `B`: base64.
    B,
    /// `Q`: similar to quoted-printable.
    Q,
}

/// The first encoded word at or after `from`.
fn next_word(raw: &[u8], from: usize) -> Option<EncodedWord<'_>> {
    BEGIN
        .find_iter(&raw[from..])
        .find_map(|at| word_at(raw, from + at))
}

/// The encoded word at `start`, where its `=?` is.
fn word_at(raw: &[u8], start: usize) -> Option<EncodedWord<'_>> {
    /// Maximum length of the name of a charset with a language (RFC 2231 section 5).
    const LONGEST_CHARSET: usize = 80;
    let inner = &raw[start + 2..];
    let charset = memchr::memchr(b'?', &inner[..inner.len().min(LONGEST_CHARSET)])?;
    let encoding = match inner.get(charset + 1)?.to_ascii_lowercase() {
        b'b' => WordEncoding::B,
        b'q' => WordEncoding::Q,
        _ => return None,
    };
    if inner.get(charset + 2) != Some(&b'?') {
        return None;
    }
    let text_start = start + 2 + charset + 3;
    let text = &raw[text_start..];
    let end = memchr::memchr(b'?', text).filter(|&end| text.get(end + 1) == Some(&b'='))?;
    Some(EncodedWord {
        start,
        len: text_start + end + 2 - start,
        charset: &inner[..charset],
        encoding,
        text_start,
        text: &text[..end],
    })
}

impl EncodedWord<'_> {
    /// Appends the decoded text and its map.
    fn decode(&self, text: &mut Vec<u8>, map: Option<&mut ByteMap>) {
        let decoded = match self.encoding {
            WordEncoding::B => base64(self.text),
            WordEncoding::Q => q_encoding(self.text),
        };
        // A language may follow the name of the charset (RFC 2231 section 5).
        let charset = self.charset.split(|&byte| byte == b'*').next();
        let charset = std::str::from_utf8(charset.unwrap_or_default()).ok();
        let converted = charset::decode(&decoded.bytes, charset);
        match map {
            None => {}
            Some(map) if converted.map.is_none() => {
                for at in 0..decoded.bytes.len() {
                    let raw = decoded.map.raw(Span::new(at, at + 1));
                    let raw = Span::new(self.text_start + raw.start, self.text_start + raw.end);
                    map.push_whole(text.len() + at, raw);
                }
            }
            Some(map) => {
                map.push_whole(text.len(), Span::new(self.start, self.start + self.len));
            }
        }
        text.extend_from_slice(&converted.bytes);
    }
}

/// Decodes the Q encoding (section 4.2): quoted-printable in which `_` is a blank.
fn q_encoding(encoded: &[u8]) -> MappedBytes {
    let spaced: Vec<u8> = encoded
        .iter()
        .map(|&byte| if byte == b'_' { b' ' } else { byte })
        .collect();
    quoted_printable(&spaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(raw: &str) -> String {
        String::from_utf8(decode(raw.as_bytes())).unwrap()
    }

    #[test]
    fn the_examples_of_section_8_are_read() {
        assert_eq!(
            shown("=?US-ASCII?Q?Keith_Moore?= <moore@cs.utk.edu>"),
            "Keith Moore <moore@cs.utk.edu>"
        );
        assert_eq!(
            shown("=?ISO-8859-1?Q?Andr=E9?= Pirard"),
            "Andr\u{e9} Pirard"
        );
        assert_eq!(
            shown(
                "=?ISO-8859-1?B?SWYgeW91IGNhbiByZWFkIHRoaXMgeW8=?=\n =?ISO-8859-2?B?dSB1bmRlcnN0YW5kIHRoZSBleGFtcGxlLg==?="
            ),
            "If you can read this you understand the example."
        );
        assert_eq!(shown("(=?ISO-8859-1?Q?a?= b)"), "(a b)");
        assert_eq!(shown("(=?ISO-8859-1?Q?a?=  =?ISO-8859-1?Q?b?=)"), "(ab)");
        assert_eq!(shown("(=?ISO-8859-1?Q?a_b?=)"), "(a b)");
        assert_eq!(shown("(=?ISO-8859-1?Q?a?= =?ISO-8859-2?Q?_b?=)"), "(a b)");
        assert_eq!(shown("=?US-ASCII*EN?Q?Keith_Moore?="), "Keith Moore");
    }

    #[test]
    fn text_that_is_no_encoded_word_stays() {
        for raw in ["=?x", "=?a?z?b?=", "a =? b", "=?utf-8?q?open"] {
            assert_eq!(shown(raw), raw);
        }
    }

    #[test]
    fn each_byte_is_mapped_to_its_place_in_the_word() {
        let raw = b"see =?utf-8?Q?http=3A//a.example/?= and =?utf-8?B?aHR0cDovL2I=?=";
        let MappedBytes { bytes: text, map } = decode_with_map(raw);
        let span = |part: &str| {
            let at = String::from_utf8_lossy(&text).find(part).unwrap();
            map.raw(Span::new(at, at + part.len())).of(raw)
        };
        assert_eq!(span("http://a.example/"), b"http=3A//a.example/");
        assert_eq!(span("http://b"), b"aHR0cDovL2I");
    }
}
