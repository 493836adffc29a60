//! Converts text to UTF-8 with `encoding_rs`, with a map back to the original bytes. Detects the
//! charset of 8-bit bytes without a usable label.
//!
//! `seven_bit` decodes 7-bit charsets.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::MappedBytes;
use super::seven_bit::{self, SevenBit};
use crate::lines::{is_listed, run_len};
use urlspool_text::byte_scan::is_one_of;
use urlspool_text::limits::DETECTED_BYTES;
use urlspool_text::span::Span;

/// Converts `raw` to UTF-8. Returns `None` if the bytes stay the same.
///
/// `label` is the charset named in the message. Valid UTF-8 is kept unchanged under any label,
/// because many mailers write a wrong one. Other bytes without a usable label are read in the
/// detected charset.
pub fn decode(raw: &[u8], label: Option<&str>) -> Option<MappedBytes> {
    if let Some(encoding) = utf16_by_nuls(raw) {
        return Some(convert(raw, encoding, true));
    }
    let is_ascii = raw.is_ascii();
    if let Some(family) = seven_bit_family(raw, is_ascii, label) {
        return Some(seven_bit::decode(raw, family));
    }
    // Nearly all texts are ASCII with one of these labels, or UTF-8. Under other labels, ASCII
    // bytes may have another meaning.
    let is_utf8 = label.is_some_and(|label| label.eq_ignore_ascii_case("utf-8"));
    if is_ascii && label.is_none_or(is_usual) || is_utf8 && std::str::from_utf8(raw).is_ok() {
        return None;
    }
    if label.is_some_and(is_utf7) {
        return Some(seven_bit::decode_utf7(raw));
    }
    let named = named_charset(raw, label);
    let is_wide = named.is_some_and(|encoding| !encoding.is_ascii_compatible());
    if !is_wide && (is_ascii || std::str::from_utf8(raw).is_ok()) {
        return None;
    }
    let encoding = match named {
        // Text labelled UTF-8 with a few invalid bytes is still read as UTF-8.
        Some(encoding) if encoding == UTF_8 && mostly_utf8(raw) => UTF_8,
        Some(encoding) if encoding != UTF_8 => encoding,
        _ => detect(raw),
    };
    Some(convert(raw, encoding, is_wide))
}

/// Returns `true` for ASCII in which only escape sequences of a 7-bit charset may have another
/// meaning.
pub(super) fn is_usual_ascii(raw: &[u8], label: Option<&str>) -> bool {
    label.is_none_or(is_usual) && raw.is_ascii() && utf16_by_nuls(raw).is_none()
}

/// Returns `true` if `raw` is in a charset that is not ASCII-compatible: UTF-16.
pub(super) fn is_wide(raw: &[u8], label: Option<&str>) -> bool {
    utf16_by_nuls(raw).is_some()
        || named_charset(raw, label).is_some_and(|encoding| !encoding.is_ascii_compatible())
}

/// Returns the UTF-16 variant of a text without a byte order mark, recognised by the NUL bytes of
/// its ASCII characters.
pub(crate) fn utf16_by_nuls(raw: &[u8]) -> Option<&'static Encoding> {
    const SAMPLE_BYTES: usize = 256;
    const MIN_BYTES: usize = 8;
    let (encoding, odd) = match raw {
        [0, first, ..] if *first != 0 => (UTF_16BE, 1),
        [first, 0, ..] if *first != 0 => (UTF_16LE, 0),
        _ => return None,
    };
    let pairs = || raw.chunks_exact(2).take(SAMPLE_BYTES / 2);
    let plain = pairs().filter(|pair| pair[odd] != 0 && pair[1 - odd] == 0);
    (MIN_BYTES <= raw.len() && pairs().len() <= plain.count() * 5 / 4).then_some(encoding)
}

/// Returns the family of a 7-bit charset, by the label or by the escape sequences in `raw`.
///
/// A label of another ASCII-compatible charset does not rule it out: mailers label Japanese text as
/// US-ASCII or UTF-8.
fn seven_bit_family(raw: &[u8], is_ascii: bool, label: Option<&str>) -> Option<SevenBit> {
    let label = label.filter(|label| !is_usual(label));
    let by_label = label.and_then(|label| seven_bit::named(&plain_label(label)));
    if !is_ascii {
        // 8-bit text with such a label but without any of its sequences is in another charset.
        return by_label.filter(|_| seven_bit::detect(raw).is_some());
    }
    if by_label.is_some() {
        return by_label;
    }
    match label.and_then(named) {
        Some(encoding) if !encoding.is_ascii_compatible() => None,
        _ => seven_bit::detect(raw),
    }
}

/// Returns the charset named by a byte order mark or by the label, if the bytes can be in it.
fn named_charset(raw: &[u8], label: Option<&str>) -> Option<&'static Encoding> {
    Encoding::for_bom(raw)
        .map(|(encoding, _)| encoding)
        .or_else(|| label.filter(|label| !is_void(label)).and_then(named))
        .filter(|&encoding| encoding != REPLACEMENT)
        // Text labelled UTF-16 without any NUL byte is ASCII with a wrong label.
        .filter(|encoding| encoding.is_ascii_compatible() || memchr::memchr(0, raw).is_some())
}

/// Returns `true` for labels that say nothing about 8-bit bytes. WHATWG reads `us-ascii` as
/// windows-1252.
fn is_void(label: &str) -> bool {
    const VOID: &str = "us-ascii ascii ansi_x3.4-1968 unknown-8bit x-unknown unknown default none";
    is_listed(VOID, plain_label(label).as_bytes())
}

/// Returns a label in lower case, without surrounding blanks and quotes.
fn plain_label(label: &str) -> String {
    let label = label.trim().trim_matches(['"', '\'']);
    label.to_ascii_lowercase()
}

/// Returns `true` for the labels of nearly all texts. ASCII bytes are ASCII in each of these
/// charsets.
fn is_usual(label: &str) -> bool {
    is_one_of(label.as_bytes(), &["utf-8", "us-ascii", "iso-8859-1"])
}

fn is_utf7(label: &str) -> bool {
    const NAMES: &str = "utf-7 unicode-1-1-utf-7 utf7 csunicode11utf7";
    label.contains('7') && is_listed(NAMES, label.trim().as_bytes())
}

/// Returns the encoding of a label, including the names that mailers made up.
fn named(label: &str) -> Option<&'static Encoding> {
    let label = plain_label(label);
    Encoding::for_label(label.as_bytes())
        .or_else(|| Encoding::for_label(family(&label)?.as_bytes()))
}

/// Returns the label of the charset whose name occurs in a label unknown to `encoding_rs`:
/// `x-gb2312`, `eucgb2312_cn` (`JavaMail`), `cp-1251`, `ISO8859_15`.
fn family(label: &str) -> Option<String> {
    let mut name = label.to_owned();
    name.retain(|c| c.is_ascii_alphanumeric());
    let mut families = FAMILIES.iter();
    let found = families.find(|(_, parts)| parts.split(' ').any(|part| name.contains(part)));
    if let Some((family, _)) = found {
        return Some((*family).to_owned());
    }
    let numbered = [
        ("8859", 2, "iso-8859-"),
        ("125", 1, "windows-125"),
        ("latin", 2, "latin"),
    ];
    numbered.iter().find_map(|(after, max, start)| {
        let (_, rest) = name.split_once(after)?;
        let len = run_len(rest.as_bytes(), |byte| byte.is_ascii_digit()).min(*max);
        (len > 0).then(|| format!("{start}{}", &rest[..len]))
    })
}

/// Labels of encodings, each with the letters and digits of its names, separated by blanks. The
/// first match counts.
const FAMILIES: [(&str, &str); 10] = [
    ("utf-8", "utf8 uft8"),
    ("gbk", "gb2312 gb18030 gbk euccn cp936 ms936"),
    ("big5", "big5 cp950 ms950"),
    ("euc-kr", "euckr ksc5601 cp949"),
    ("euc-jp", "eucjp"),
    ("shift_jis", "shiftjis sjis cp932 ms932"),
    ("koi8-u", "koi8u"),
    ("koi8-r", "koi8"),
    ("iso-8859-15", "latin9"),
    ("windows-1252", "ansi"),
];

/// Returns `true` if at most one byte in a hundred is invalid UTF-8.
fn mostly_utf8(raw: &[u8]) -> bool {
    let invalid: usize = raw.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    invalid * 100 <= raw.len()
}

/// Converts byte by byte, to map each character to its original bytes.
///
/// Runs of ASCII are copied whole, except in UTF-16 (`is_wide`), where they have another meaning.
fn convert(raw: &[u8], encoding: &'static Encoding, is_wide: bool) -> MappedBytes {
    let mut decoder = encoding.new_decoder_with_bom_removal();
    // One byte produces at most a replacement character and another character.
    let mut decoded = [0; 64];
    let mut text = MappedBytes::with_capacity(raw.len() + raw.len() / 8);
    let mut at = 0;
    // Start of the bytes that do not form a whole character yet.
    let mut pending = 0;
    while at < raw.len() {
        if !is_wide && pending == at {
            let ascii = Encoding::ascii_valid_up_to(&raw[at..]);
            if ascii > 0 {
                text.copy(raw, at..at + ascii);
                at += ascii;
                pending = at;
                continue;
            }
        }
        let last = at + 1 == raw.len();
        let before = text.bytes.len();
        let (_, _, written, _) = decoder.decode_to_utf8(&raw[at..=at], &mut decoded, last);
        text.bytes.extend_from_slice(&decoded[..written]);
        at += 1;
        if text.bytes.len() > before {
            let from = Span::new(pending, at);
            if encoding == UTF_16BE {
                // The second byte of an ASCII character is only half of it.
                text.map.push_whole(before, from);
            } else {
                map_character(&mut text, before, raw, from);
            }
            pending = at;
        } else if at - pending > LONGEST_MARK {
            pending = at;
        }
    }
    text.ended(raw)
}

/// Maximum number of bytes without a character: a byte order mark and the first bytes of a
/// character.
const LONGEST_MARK: usize = 8;

/// Maps the characters after `before` to `from`. A final ASCII character maps to its one byte, the
/// others map as a whole.
///
/// A byte that does not combine with the following ASCII character produces two characters at once.
fn map_character(text: &mut MappedBytes, before: usize, raw: &[u8], from: Span) {
    let MappedBytes { bytes, map } = text;
    let last = from.end - 1;
    let end = bytes.len() - 1;
    if raw[last].is_ascii() && bytes[end] == raw[last] {
        if before < end {
            map.push_whole(before, Span::new(from.start, last));
        }
        map.push_same(end, last);
    } else {
        map.push_whole(before, from);
    }
}

/// Minimum number of 8-bit bytes for a guess of a multi-byte charset to count.
///
/// Four bytes are two characters, a short name. No sample of Western European text was taken for
/// such a charset.
const MULTI_BYTE_MIN: usize = 4;

/// Minimum number of 8-bit bytes for a guess of a single-byte charset to count.
///
/// All of 2,634 samples in eleven Western European languages with six or more such bytes were taken
/// for windows-1252. With fewer bytes, one sample in 34 was taken for another charset.
const SINGLE_BYTE_MIN: usize = 8;

/// Returns the charset of bytes that are not valid UTF-8 and have no usable label, the norm in
/// archives of CJK, Russian and Central European lists.
///
/// `chardetng`, the detector of Firefox, reads the whole text. It always makes a guess, and short
/// texts provide little evidence: two or three accented letters of a Western European language
/// often fit another charset as well. A guess therefore counts only above a number of bytes at
/// which it is right for the letters of all these languages. A text with fewer bytes is read as
/// windows-1252.
fn detect(raw: &[u8]) -> &'static Encoding {
    if is_damaged_utf8(raw) {
        return UTF_8;
    }
    let first = Encoding::ascii_valid_up_to(raw);
    // The detector also needs the letter before the first 8-bit byte.
    let start = first.saturating_sub(1);
    let sample = &raw[start..raw.len().min(start + DETECTED_BYTES)];
    let eight_bit = sample.iter().filter(|byte| !byte.is_ascii()).count();
    if eight_bit < MULTI_BYTE_MIN {
        return WINDOWS_1252;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, sample.len() == raw.len() - start);
    let guess = detector.guess(None, Utf8Detection::Deny);
    if guess.is_single_byte() && eight_bit < SINGLE_BYTE_MIN {
        WINDOWS_1252
    } else {
        guess
    }
}

/// Returns `true` if most 8-bit bytes are UTF-8 and a minority is not: a footer, a signature or a
/// cut in another charset.
///
/// In other charsets, two adjacent 8-bit bytes are rarely valid UTF-8.
fn is_damaged_utf8(raw: &[u8]) -> bool {
    let (mut characters, mut invalid) = (0, 0);
    for chunk in raw.utf8_chunks() {
        characters += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        invalid += chunk.invalid().len();
    }
    characters > invalid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_of_utf_16_is_its_two_bytes() {
        for (label, raw) in [("utf-16be", b"\0a\0b\0c"), ("utf-16le", b"a\0b\0c\0")] {
            let map = decode(raw, Some(label)).unwrap().map;
            assert_eq!(map.raw(Span::new(1, 3)), Span::new(2, 6), "{label}");
        }
    }

    #[track_caller]
    fn check(raw: &[u8], label: Option<&str>, want: &str) {
        let converted = decode(raw, label);
        let text = converted.as_ref().map_or(raw, |text| &text.bytes);
        assert_eq!(String::from_utf8_lossy(text), want);
        let at = want.find("http").unwrap_or(0);
        if let Some(MappedBytes { map, .. }) = converted {
            let span = map.raw(Span::new(at, at + 4));
            assert!(map.exact(Span::new(at, at + 4)));
            let again = decode(span.of(raw), None).map(|text| text.bytes);
            let again = again.as_deref().unwrap_or(span.of(raw));
            assert!(
                want.find("http").is_none() || span.len() != 4 || again == b"http",
                "{span:?}"
            );
        }
    }

    #[test]
    fn names_in_labels_that_the_library_does_not_know_are_found() {
        for (label, name) in [
            ("eucgb2312_cn", "GBK"),
            ("x-gb2312-80", "GBK"),
            ("euc-cn", "GBK"),
            ("cp936", "GBK"),
            ("gb18030-2000", "GBK"),
            ("x-euc_kr", "EUC-KR"),
            ("cp949", "EUC-KR"),
            ("cp950", "Big5"),
            ("ms950", "Big5"),
            ("big5-eten", "Big5"),
            ("x-eucjp-ms", "EUC-JP"),
            ("shift-jis-2004", "Shift_JIS"),
            ("cp932", "Shift_JIS"),
            ("windows1250", "windows-1250"),
            ("windows1251", "windows-1251"),
            ("cp-1251", "windows-1251"),
            ("win-1251", "windows-1251"),
            ("windows1252", "windows-1252"),
            ("cp-1252", "windows-1252"),
            ("ansi", "windows-1252"),
            ("ansi_x3.4", "windows-1252"),
            ("iso8859_1", "windows-1252"),
            ("8859-1", "windows-1252"),
            ("8859_15", "ISO-8859-15"),
            ("iso_8859_1", "windows-1252"),
            ("latin-1", "windows-1252"),
            ("iso-8859-15-windows", "ISO-8859-15"),
            ("latin-9", "ISO-8859-15"),
            ("latin9", "ISO-8859-15"),
            ("utf8mb4", "UTF-8"),
            ("utf_8", "UTF-8"),
            ("uft-8", "UTF-8"),
            ("koi-8", "KOI8-R"),
            ("koi8_u", "KOI8-U"),
        ] {
            assert_eq!(Encoding::for_label(label.as_bytes()), None, "{label}");
            assert_eq!(named(label).map(Encoding::name), Some(name), "{label}");
        }
        for label in [
            "",
            "iso-8859-",
            "iso-8859-x",
            "iso-8859-99",
            "bar",
            "125",
            "latin",
        ] {
            assert_eq!(named(label), None, "{label}");
        }
        // Labels that used to be aliases here and are WHATWG labels.
        for (label, name) in [
            ("cp1250", "windows-1250"),
            ("cp1251", "windows-1251"),
            ("cp1252", "windows-1252"),
            ("unicode-1-1-utf-8", "UTF-8"),
            ("windows-31j", "Shift_JIS"),
            ("ks_c_5601-1989", "EUC-KR"),
            ("koi8", "KOI8-R"),
        ] {
            assert_eq!(named(label).map(Encoding::name), Some(name));
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
        let text = decode(&raw, Some("utf-8")).unwrap().bytes;
        assert!(text.ends_with("\u{e9}\u{fffd}".as_bytes()));
    }
}
