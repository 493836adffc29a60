//! Character sets, by way of `encoding_rs`: bytes in, UTF-8 out, with a map.

use std::borrow::Cow;

use encoding_rs::{CoderResult, Decoder, Encoding, ISO_2022_JP, REPLACEMENT, UTF_8, WINDOWS_1252};

use crate::span::{ByteMap, Span};

/// `raw` as UTF-8, and the map back if it is not the same bytes.
///
/// `label` is what the message says of it. Bytes that are UTF-8 all the same are left as they are, whatever the
/// label: many a mailer lies. Without a usable label other bytes are read as windows-1252, which has a character
/// for nearly all of them.
pub(super) fn decode<'a>(raw: &'a [u8], label: Option<&str>) -> (Cow<'a, [u8]>, Option<ByteMap>) {
    // Nearly all texts. Other labels may give these bytes other meanings.
    let is_ascii = raw.is_ascii();
    if is_ascii && label.is_none_or(is_usual) {
        return (Cow::Borrowed(raw), None);
    }
    if label.is_some_and(is_utf7) {
        let (text, map) = super::utf7::decode(raw);
        return (Cow::Owned(text), Some(map));
    }
    let marked = Encoding::for_bom(raw).map(|(encoding, _)| encoding);
    let named = marked
        .or_else(|| label.and_then(named))
        .filter(|&encoding| encoding != REPLACEMENT)
        .filter(
            // UTF-16 without a single NUL, and text all the same, is ASCII with a wrong label.
            |&encoding| {
                encoding.is_ascii_compatible()
                    || encoding == ISO_2022_JP
                    || memchr::memchr(0, raw).is_some()
            },
        );
    let shifts =
        named.is_some_and(|encoding| encoding == ISO_2022_JP || !encoding.is_ascii_compatible());
    if !shifts && (is_ascii || std::str::from_utf8(raw).is_ok()) {
        return (Cow::Borrowed(raw), None);
    }
    let encoding = named
        .filter(|&encoding| encoding != UTF_8)
        .unwrap_or(WINDOWS_1252);
    // DecodedText that says UTF-8 and has a few ill bytes is UTF-8 still.
    let encoding = if named == Some(UTF_8) && mostly_utf8(raw) {
        UTF_8
    } else {
        encoding
    };
    let (text, map) = convert(raw, encoding, shifts);
    (Cow::Owned(text), Some(map))
}

/// Whether it is one of the labels of nearly all texts, by each of which ASCII bytes are ASCII.
fn is_usual(label: &str) -> bool {
    ["utf-8", "us-ascii", "iso-8859-1"]
        .iter()
        .any(|usual| label.eq_ignore_ascii_case(usual))
}

fn is_utf7(label: &str) -> bool {
    let label = label.trim().to_ascii_lowercase();
    matches!(
        label.as_str(),
        "utf-7" | "unicode-1-1-utf-7" | "utf7" | "csunicode11utf7"
    )
}

/// The encoding of a label, with the names that mailers made up.
fn named(label: &str) -> Option<&'static Encoding> {
    let label = label
        .trim()
        .trim_matches(|c| matches!(c, '"' | '\''))
        .to_ascii_lowercase();
    let known = Encoding::for_label(label.as_bytes());
    known.or_else(|| Encoding::for_label(alias(&label).as_bytes()))
}

/// What is meant by names outside the registry.
fn alias(label: &str) -> &str {
    match label {
        "cp1250" | "windows1250" => "windows-1250",
        "cp1251" | "windows1251" | "cp-1251" => "windows-1251",
        "cp1252" | "windows1252" | "cp-1252" | "ansi" | "ansi_x3.4" => "windows-1252",
        "iso8859_1" | "8859-1" | "iso_8859_1" | "latin-1" => "iso-8859-1",
        "iso-8859-15-windows" | "latin-9" | "latin9" => "iso-8859-15",
        "utf8mb4" | "utf_8" | "unicode-1-1-utf-8" => "utf-8",
        "shift-jis-2004" | "cp932" | "windows-31j" => "shift_jis",
        "cp936" | "gb18030-2000" => "gbk",
        "cp949" | "ks_c_5601-1989" => "euc-kr",
        "cp950" => "big5",
        "koi8" | "koi-8" => "koi8-r",
        other => other,
    }
}

/// Whether at most one byte in a hundred is no UTF-8.
fn mostly_utf8(raw: &[u8]) -> bool {
    let ill: usize = raw.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    ill * 100 <= raw.len()
}

/// Decodes byte by byte where it must, so that every character is known by the bytes it came from.
///
/// Regions of ASCII are copied whole, unless the encoding gives ASCII bytes other meanings (`shifts`).
fn convert(raw: &[u8], encoding: &'static Encoding, shifts: bool) -> (Vec<u8>, ByteMap) {
    let mut decoder = encoding.new_decoder_with_bom_removal();
    let mut text = Vec::with_capacity(raw.len() + raw.len() / 8);
    let mut map = ByteMap::new();
    let mut at = 0;
    // Where the bytes begin that have not become a character yet.
    let mut pending = 0;
    while at < raw.len() {
        if !shifts && pending == at {
            let ascii = Encoding::ascii_valid_up_to(&raw[at..]);
            if ascii > 0 {
                map.push_same(text.len(), at);
                text.extend_from_slice(&raw[at..at + ascii]);
                at += ascii;
                pending = at;
                continue;
            }
        }
        let last = at + 1 == raw.len();
        let before = text.len();
        feed(&mut decoder, &raw[at..=at], last, &mut text);
        at += 1;
        if text.len() > before {
            note(&mut map, &text, before, raw, Span::new(pending, at));
            pending = at;
        } else if at - pending > LONGEST_SHIFT {
            pending = at;
        }
    }
    map.push_same(text.len(), raw.len());
    (text, map)
}

/// Bytes that can pass without a character: a byte order mark, an escape sequence and the first of a pair.
const LONGEST_SHIFT: usize = 8;

/// Notes where the characters from `before` on came from: one byte for one ASCII character, or as a whole.
///
/// A shift before an ASCII character is no part of it.
fn note(map: &mut ByteMap, text: &[u8], before: usize, raw: &[u8], from: Span) {
    if text[before..] == raw[from.end - 1..from.end] {
        map.push_same(before, from.end - 1);
    } else {
        map.push_whole(before, from);
    }
}

/// Gives `bytes` to the decoder and appends what comes out.
fn feed(decoder: &mut Decoder, bytes: &[u8], last: bool, text: &mut Vec<u8>) {
    /// One byte makes at most a replacement character and another: more than enough room.
    const ROOM: usize = 64;
    let mut out = [0u8; ROOM];
    let mut rest = bytes;
    loop {
        let (result, read, written, _) = decoder.decode_to_utf8(rest, &mut out, last);
        text.extend_from_slice(&out[..written]);
        rest = &rest[read..];
        if result == CoderResult::InputEmpty {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &[u8], label: Option<&str>, want: &str) {
        let (text, map) = decode(raw, label);
        assert_eq!(String::from_utf8_lossy(&text), want);
        let at = want.find("http").unwrap_or(0);
        if let Some(map) = map {
            let span = map.raw(Span::new(at, at + 4));
            assert!(map.exact(Span::new(at, at + 4)));
            let (again, _) = decode(span.of(raw), None);
            assert!(
                want.find("http").is_none() || span.len() != 4 || &again[..] == b"http",
                "{span:?}"
            );
        }
    }

    #[test]
    fn each_charset_gives_its_text_and_its_octets() {
        check(
            b"caf\xE9 http://a/",
            Some("iso-8859-1"),
            "caf\u{e9} http://a/",
        );
        check(b"caf\xE9 http://a/", None, "caf\u{e9} http://a/");
        check(b"\xC3\xA9 http", Some("iso-8859-1"), "\u{e9} http");
        check(b"\xC4\xC1 http", Some("koi8-r"), "\u{434}\u{430} http");
        check(b"\x83\x5C http", Some("Shift_JIS"), "\u{30bd} http");
        check(
            b"\x1B$B$\"\x1B(B http",
            Some("ISO-2022-JP"),
            "\u{3042} http",
        );
        check(b"\xFF\xFEh\0t\0t\0p\0", None, "http");
        check(b"\xFF http", Some("no-such-set"), "\u{ff} http");
        check(b"see http", Some("hz-gb-2312"), "see http");
        check(b"see http", Some("utf-16"), "see http");
    }

    #[test]
    fn a_few_ill_octets_do_not_make_it_another_charset() {
        let mut raw = "\u{e9}".repeat(200).into_bytes();
        raw.push(0xFF);
        let (text, _) = decode(&raw, Some("utf-8"));
        assert!(text.ends_with("\u{e9}\u{fffd}".as_bytes()));
    }
}
