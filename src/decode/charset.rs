//! Converts text from its charset to UTF-8 with `encoding_rs`, and maps it back to its bytes.

mod detection;
mod seven_bit;

use encoding_rs::{CoderResult, Decoder, Encoding, REPLACEMENT, UTF_8};

use seven_bit::SevenBit;

use super::{ConvertedText, MappedBytes};
use crate::span::{ByteMap, Span};

/// Converts `raw` to UTF-8.
///
/// `label` is the charset that the message names. Bytes that are valid UTF-8 stay as they are, whatever the label: many
/// mailers write a wrong one. Other bytes without a usable label are read in the charset that is detected.
pub(super) fn decode<'a>(raw: &'a [u8], label: Option<&str>) -> ConvertedText<'a> {
    let is_ascii = raw.is_ascii();
    if let Some(family) = seven_bit_family(raw, is_ascii, label) {
        return seven_bit::decode(raw, family).into();
    }
    // Nearly all texts are ASCII with one of these labels. Other labels may give ASCII bytes another meaning.
    if is_ascii && label.is_none_or(is_usual) {
        return ConvertedText::unchanged(raw);
    }
    if label.is_some_and(is_utf7) {
        return super::utf7::decode(raw).into();
    }
    let named = named_charset(raw, label);
    let is_wide = named.is_some_and(|encoding| !encoding.is_ascii_compatible());
    if !is_wide && (is_ascii || std::str::from_utf8(raw).is_ok()) {
        return ConvertedText::unchanged(raw);
    }
    let encoding = match named {
        // Text that is labelled UTF-8 and has a few invalid bytes is read as UTF-8 nevertheless.
        Some(encoding) if encoding == UTF_8 && mostly_utf8(raw) => UTF_8,
        Some(encoding) if encoding != UTF_8 => encoding,
        _ => detection::detect(raw),
    };
    convert(raw, encoding, is_wide).into()
}

/// Returns the family of a 7-bit charset that `raw` is in, by its label or by its escape sequences.
///
/// A label that names another charset of ASCII bytes does not rule it out: mailers label Japanese text as US-ASCII or UTF-8.
fn seven_bit_family(raw: &[u8], is_ascii: bool, label: Option<&str>) -> Option<SevenBit> {
    let usual = label.is_none_or(is_usual);
    let by_label = (!usual)
        .then(|| seven_bit::named(&plain_label(label.unwrap_or_default())))
        .flatten();
    if !is_ascii {
        // 8-bit text with such a label, and without any of its sequences, is in another charset.
        return by_label.filter(|_| seven_bit::detect(raw).is_some());
    }
    if by_label.is_some() {
        return by_label;
    }
    let is_possible = usual
        || label
            .and_then(named)
            .is_none_or(Encoding::is_ascii_compatible);
    is_possible.then(|| seven_bit::detect(raw)).flatten()
}

/// Returns the charset that a byte order mark or the label names, if the bytes can be in it.
fn named_charset(raw: &[u8], label: Option<&str>) -> Option<&'static Encoding> {
    Encoding::for_bom(raw)
        .map(|(encoding, _)| encoding)
        .or_else(|| label.filter(|label| !is_void(label)).and_then(named))
        .filter(|&encoding| encoding != REPLACEMENT)
        // Text labelled UTF-16 without any NUL byte is ASCII with a wrong label.
        .filter(|encoding| encoding.is_ascii_compatible() || memchr::memchr(0, raw).is_some())
}

/// Returns `true` for labels that say nothing about 8-bit bytes. WHATWG takes `us-ascii` for windows-1252.
fn is_void(label: &str) -> bool {
    let label = plain_label(label);
    matches!(
        label.as_str(),
        "us-ascii"
            | "ascii"
            | "ansi_x3.4-1968"
            | "unknown-8bit"
            | "x-unknown"
            | "unknown"
            | "default"
            | "none"
    )
}

/// Returns a label in lower case, without blanks and quotes around it.
fn plain_label(label: &str) -> String {
    label
        .trim()
        .trim_matches(|c| matches!(c, '"' | '\''))
        .to_ascii_lowercase()
}

/// Returns `true` for the labels of nearly all texts; ASCII bytes are ASCII in each of these charsets.
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

/// The encoding of a label, including the names that mailers made up.
fn named(label: &str) -> Option<&'static Encoding> {
    let label = plain_label(label);
    let known = Encoding::for_label(label.as_bytes());
    known.or_else(|| Encoding::for_label(alias(&label).as_bytes()))
}

/// The registered name for a label that is not in the registry.
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

/// Returns `true` if at most one byte in a hundred is invalid UTF-8.
fn mostly_utf8(raw: &[u8]) -> bool {
    let invalid: usize = raw.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    invalid * 100 <= raw.len()
}

/// Converts byte by byte, so that each character is mapped to the bytes that it came from.
///
/// Runs of ASCII are copied whole, unless the encoding is UTF-16 (`is_wide`), in which they have another meaning.
fn convert(raw: &[u8], encoding: &'static Encoding, is_wide: bool) -> MappedBytes {
    let mut decoder = encoding.new_decoder_with_bom_removal();
    let mut text = Vec::with_capacity(raw.len() + raw.len() / 8);
    let mut map = ByteMap::new();
    let mut at = 0;
    // Start of the bytes that are not a whole character yet.
    let mut pending = 0;
    while at < raw.len() {
        if !is_wide && pending == at {
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
            map_character(&mut map, &text, before, raw, Span::new(pending, at));
            pending = at;
        } else if at - pending > LONGEST_MARK {
            pending = at;
        }
    }
    map.push_same(text.len(), raw.len());
    MappedBytes { bytes: text, map }
}

/// Maximum number of bytes without a character: a byte order mark and the first bytes of a character.
const LONGEST_MARK: usize = 8;

/// Maps the characters from `before` on to `from`: an ASCII character at the end to its one byte, others as a whole.
///
/// A byte that does not fit with an ASCII character after it gives two characters at once.
fn map_character(map: &mut ByteMap, text: &[u8], before: usize, raw: &[u8], from: Span) {
    let last = from.end - 1;
    let end = text.len() - 1;
    if raw[last].is_ascii() && text[end] == raw[last] {
        if before < end {
            map.push_whole(before, Span::new(from.start, last));
        }
        map.push_same(end, last);
    } else {
        map.push_whole(before, from);
    }
}

/// Decodes `bytes` and appends the characters.
fn feed(decoder: &mut Decoder, bytes: &[u8], last: bool, text: &mut Vec<u8>) {
    /// Bytes of the buffer. One byte gives at most a replacement character and another character.
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
        let ConvertedText { bytes: text, map } = decode(raw, label);
        assert_eq!(String::from_utf8_lossy(&text), want);
        let at = want.find("http").unwrap_or(0);
        if let Some(map) = map {
            let span = map.raw(Span::new(at, at + 4));
            assert!(map.exact(Span::new(at, at + 4)));
            let again = decode(span.of(raw), None).bytes;
            assert!(
                want.find("http").is_none() || span.len() != 4 || &again[..] == b"http",
                "{span:?}"
            );
        }
    }

    #[test]
    fn text_is_converted_and_mapped_in_each_charset() {
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
    fn a_few_invalid_bytes_do_not_change_the_charset() {
        let mut raw = "\u{e9}".repeat(200).into_bytes();
        raw.push(0xFF);
        let text = decode(&raw, Some("utf-8")).bytes;
        assert!(text.ends_with("\u{e9}\u{fffd}".as_bytes()));
    }
}
