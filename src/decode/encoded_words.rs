//! Encoded words in header fields (RFC 2047), with a map.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::charset;
use super::transfer::{base64, quoted_printable};
use crate::span::{ByteMap, Span};

/// Finds what an encoded word begins with.
static BEGIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"=?"));

/// Encoded words of one field that are decoded; those behind are left as they are (a field of a million words is no
/// field that anybody reads).
const MOST_WORDS: usize = 1_000;

/// The text of a field's value with its encoded words undone, and the way back. Line breaks stay.
///
/// White space between two encoded words is no part of the text (section 6.2). Words that cannot be read stay as they are.
pub(super) fn decode(raw: &[u8]) -> (Vec<u8>, ByteMap) {
    let mut text = Vec::with_capacity(raw.len());
    let mut map = ByteMap::new();
    let mut at = 0;
    let mut behind_word = false;
    for _ in 0..MOST_WORDS {
        let Some((start, word)) = next_word(raw, at) else {
            break;
        };
        let between = &raw[at..start];
        if !(behind_word && between.iter().all(u8::is_ascii_whitespace)) {
            plain(raw, at, start, &mut text, &mut map);
        }
        word.decode(start, &mut text, &mut map);
        at = start + word.len;
        behind_word = true;
    }
    plain(raw, at, raw.len(), &mut text, &mut map);
    map.push_same(text.len(), raw.len());
    (text, map)
}

/// Bytes that are no encoded word: UTF-8, or read as windows-1252.
fn plain(raw: &[u8], from: usize, to: usize, text: &mut Vec<u8>, map: &mut ByteMap) {
    let octets = &raw[from..to];
    let (decoded, inner) = charset::decode(octets, None);
    match inner {
        None => map.push_same(text.len(), from),
        Some(_) => map.push_whole(text.len(), Span::new(from, to)),
    }
    text.extend_from_slice(&decoded);
}

/// `=?charset?encoding?text?=`
struct Word<'w> {
    charset: &'w [u8],
    base64: bool,
    /// Where the encoded text begins, from the word's start.
    start: usize,
    text: &'w [u8],
    len: usize,
}

/// The first encoded word at `from` or behind it, and where it begins.
fn next_word(raw: &[u8], from: usize) -> Option<(usize, Word<'_>)> {
    BEGIN
        .find_iter(&raw[from..])
        .map(|at| from + at)
        .find_map(|at| Some((at, word(&raw[at..])?)))
}

fn word(raw: &[u8]) -> Option<Word<'_>> {
    /// Bytes of a charset's name and a language (RFC 2231 section 5).
    const LONGEST_CHARSET: usize = 80;
    let inner = &raw[2..];
    let charset = memchr::memchr(b'?', &inner[..inner.len().min(LONGEST_CHARSET)])?;
    let encoding = *inner.get(charset + 1)?;
    let base64 = match encoding | 0x20 {
        b'b' => true,
        b'q' => false,
        _ => return None,
    };
    if inner.get(charset + 2) != Some(&b'?') {
        return None;
    }
    let start = 2 + charset + 3;
    let text = &raw[start..];
    let end = memchr::memchr(b'?', text).filter(|&end| text.get(end + 1) == Some(&b'='))?;
    Some(Word {
        charset: &inner[..charset],
        base64,
        start,
        text: &text[..end],
        len: start + end + 2,
    })
}

impl Word<'_> {
    fn decode(&self, at: usize, text: &mut Vec<u8>, map: &mut ByteMap) {
        let (octets, inner) = if self.base64 {
            base64(self.text)
        } else {
            // In the Q encoding `_` is a blank (section 4.2).
            let spaced: Vec<u8> = self
                .text
                .iter()
                .map(|&byte| if byte == b'_' { b' ' } else { byte })
                .collect();
            let (mut octets, map) = quoted_printable(&spaced);
            // Blanks at the end are text here.
            let blanks = spaced
                .iter()
                .rev()
                .take_while(|&&byte| byte == b' ')
                .count();
            octets.truncate(octets.len().max(blanks));
            (octets, map)
        };
        // A language may stand behind the charset's name (RFC 2231 section 5).
        let charset = self
            .charset
            .split(|&byte| byte == b'*')
            .next()
            .unwrap_or_default();
        let (decoded, converted) = charset::decode(&octets, std::str::from_utf8(charset).ok());
        let begin = at + self.start;
        if converted.is_none() {
            for k in 0..octets.len() {
                let raw = inner.raw(Span::new(k, k + 1));
                map.push_whole(
                    text.len() + k,
                    Span::new(begin + raw.start, begin + raw.end),
                );
            }
        } else {
            map.push_whole(text.len(), Span::new(at, at + self.len));
        }
        text.extend_from_slice(&decoded);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(raw: &str) -> String {
        String::from_utf8(decode(raw.as_bytes()).0).unwrap()
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
    fn what_is_no_word_stays() {
        for raw in ["=?x", "=?a?z?b?=", "a =? b", "=?utf-8?q?open"] {
            assert_eq!(shown(raw), raw);
        }
    }

    #[test]
    fn each_octet_knows_its_place_in_the_word() {
        let raw = b"see =?utf-8?Q?http=3A//a.example/?= and =?utf-8?B?aHR0cDovL2I=?=";
        let (text, map) = decode(raw);
        let span = |part: &str| {
            let at = String::from_utf8_lossy(&text).find(part).unwrap();
            map.raw(Span::new(at, at + part.len())).of(raw)
        };
        assert_eq!(span("http://a.example/"), b"http=3A//a.example/");
        assert_eq!(span("http://b"), b"aHR0cDovL2I");
    }
}
