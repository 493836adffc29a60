//! Character references: which bytes of an HTML text each byte of the decoded text came from.
//!
//! The tokeniser decodes references without their offsets; this file finds the offsets by comparison.

use crate::span::{ByteMap, Span};

/// Bytes after a reference that are compared to find the end of its decoded text.
const COMPARED_BYTES: usize = 16;

/// Maximum length of the decoded text of a reference: two characters of four bytes.
const MAX_DECODED_BYTES: usize = 8;

/// Maximum length of a reference, `&CounterClockwiseContourIntegral;`.
const MAX_REFERENCE_BYTES: usize = 34;

/// Names of references that are decoded without a semicolon too (HTML, section 13.5).
const NAMES_WITHOUT_SEMICOLON: [&str; 106] = [
    "AElig", "AMP", "Aacute", "Acirc", "Agrave", "Aring", "Atilde", "Auml", "COPY", "Ccedil",
    "ETH", "Eacute", "Ecirc", "Egrave", "Euml", "GT", "Iacute", "Icirc", "Igrave", "Iuml", "LT",
    "Ntilde", "Oacute", "Ocirc", "Ograve", "Oslash", "Otilde", "Ouml", "QUOT", "REG", "THORN",
    "Uacute", "Ucirc", "Ugrave", "Uuml", "Yacute", "aacute", "acirc", "acute", "aelig", "agrave",
    "amp", "aring", "atilde", "auml", "brvbar", "ccedil", "cedil", "cent", "copy", "curren", "deg",
    "divide", "eacute", "ecirc", "egrave", "eth", "euml", "frac12", "frac14", "frac34", "gt",
    "iacute", "icirc", "iexcl", "igrave", "iquest", "iuml", "laquo", "lt", "macr", "micro",
    "middot", "nbsp", "not", "ntilde", "oacute", "ocirc", "ograve", "ordf", "ordm", "oslash",
    "otilde", "ouml", "para", "plusmn", "pound", "quot", "raquo", "reg", "sect", "shy", "sup1",
    "sup2", "sup3", "szlig", "thorn", "times", "uacute", "ucirc", "ugrave", "uml", "uuml",
    "yacute", "yen", "yuml",
];

/// Maps the bytes of `decoded`, which will be at the offset `text`, to `raw`, which begins at the offset `start`.
///
/// The two differ in line ends and references only. Where no reference explains a difference, the rest is mapped as a
/// whole.
pub(super) fn align(raw: &[u8], start: usize, decoded: &[u8], text: usize, map: &mut ByteMap) {
    let (mut r, mut d) = (0, 0);
    while r < raw.len() && d < decoded.len() {
        let equal = equal_bytes(&raw[r..], &decoded[d..]);
        if equal > 0 {
            map.push_same(text + d, start + r);
            (r, d) = (r + equal, d + equal);
            continue;
        }
        let Some(difference) = difference(&raw[r..], &decoded[d..]) else {
            break;
        };
        let end = start + r + difference.raw_len;
        map.push_whole(text + d, Span::new(start + r, end));
        (r, d) = (r + difference.raw_len, d + difference.decoded_len);
    }
    if d < decoded.len() {
        let rest = Span::new(start + r.min(raw.len()), start + raw.len());
        map.push_whole(text + d, rest);
    }
}

/// Number of bytes at the start of `raw` and `decoded` that are equal, up to the next `&`.
fn equal_bytes(raw: &[u8], decoded: &[u8]) -> usize {
    let len = raw.len().min(decoded.len());
    // Most texts differ at their references and line ends only: their bytes need not be compared one by one.
    let usual = memchr::memchr2(b'&', b'\r', &raw[..len]).unwrap_or(len);
    let skipped = if raw[..usual] == decoded[..usual] {
        usual
    } else {
        0
    };
    let rest = raw[skipped..].iter().zip(&decoded[skipped..]);
    skipped + rest.take_while(|(a, b)| a == b && **a != b'&').count()
}

/// Bytes that the tokeniser replaced.
struct Replacement {
    raw_len: usize,
    decoded_len: usize,
}

/// The replacement at the start of `raw` and `decoded`: of a line end or a reference.
fn difference(raw: &[u8], decoded: &[u8]) -> Option<Replacement> {
    match raw {
        // The tokeniser replaces CRLF and CR by LF.
        [b'\r', b'\n', ..] if decoded[0] == b'\n' => Some(Replacement {
            raw_len: 2,
            decoded_len: 1,
        }),
        [b'\r', ..] if decoded[0] == b'\n' => Some(Replacement {
            raw_len: 1,
            decoded_len: 1,
        }),
        [b'&', ..] => reference(raw, decoded),
        _ => None,
    }
}

/// The replacement of the reference, or of the literal `&`, at the start of `raw`.
///
/// Tries the lengths that a reference and its decoded text may have, until the bytes after both are equal.
fn reference(raw: &[u8], decoded: &[u8]) -> Option<Replacement> {
    let continues = |raw_len: usize, decoded_len: usize| {
        let rest = &raw[raw_len..];
        let len = rest
            .iter()
            .take(COMPARED_BYTES)
            .take_while(|byte| !matches!(byte, b'&' | b'\r'))
            .count();
        decoded_len <= decoded.len() && decoded[decoded_len..].starts_with(&rest[..len])
    };
    let max_decoded = MAX_DECODED_BYTES.min(decoded.len());
    let as_reference = reference_lengths(raw).flat_map(|raw_len| {
        (1..=max_decoded).map(move |decoded_len| Replacement {
            raw_len,
            decoded_len,
        })
    });
    // A literal `&` is the most likely case if the bytes after it are unchanged.
    let literal = (decoded.first() == Some(&b'&')).then_some(Replacement {
        raw_len: 1,
        decoded_len: 1,
    });
    literal
        .into_iter()
        .chain(as_reference)
        .find(|it| continues(it.raw_len, it.decoded_len))
}

/// Returns the lengths that the reference at the start of `raw` may have: with its semicolon, and without one.
fn reference_lengths(raw: &[u8]) -> impl Iterator<Item = usize> + use<> {
    let count = |from: usize, max: usize, is_part: fn(&u8) -> bool| {
        raw.iter()
            .skip(from)
            .take(max)
            .take_while(|byte| is_part(byte))
            .count()
    };
    let (complete, short) = match raw {
        [_, b'#', b'x' | b'X', ..] => {
            let end = 3 + count(3, raw.len(), u8::is_ascii_hexdigit);
            (end, Some(end))
        }
        [_, b'#', ..] => {
            let end = 2 + count(2, raw.len(), u8::is_ascii_digit);
            (end, Some(end))
        }
        _ => {
            let name = &raw[1..];
            let names = NAMES_WITHOUT_SEMICOLON.iter();
            let longest = names
                .filter(|known| name.starts_with(known.as_bytes()))
                .map(|known| known.len());
            (
                1 + count(1, MAX_REFERENCE_BYTES, u8::is_ascii_alphanumeric),
                longest.max().map(|len| 1 + len),
            )
        }
    };
    let with_semicolon = (raw.get(complete) == Some(&b';')).then_some(complete + 1);
    with_semicolon.into_iter().chain(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, decoded: &str, part: &str, want: &str) {
        let mut map = ByteMap::new();
        align(raw.as_bytes(), 0, decoded.as_bytes(), 0, &mut map);
        map.push_same(decoded.len(), raw.len());
        let at = decoded.find(part).unwrap();
        assert_eq!(
            String::from_utf8_lossy(map.raw(Span::new(at, at + part.len())).of(raw.as_bytes())),
            want
        );
    }

    #[test]
    fn each_reference_is_mapped_as_a_whole() {
        check("a&amp;b", "a&b", "&", "&amp;");
        check("a&amp;b&lt;c", "a&b<c", "b<", "b&lt;");
        check("a&b=1&amp;c=2", "a&b=1&c=2", "b=1&c", "b=1&amp;c");
        check("&#104;&#x74;tp", "http", "ht", "&#104;&#x74;");
        check(
            "&copy 2&eacute;x",
            "\u{a9} 2\u{e9}x",
            "\u{e9}x",
            "&eacute;x",
        );
        check("&amp;amp;x", "&amp;x", "x", "x");
        check("a\r\nb", "a\nb", "\nb", "\r\nb");
    }

    #[test]
    fn a_reference_ends_where_its_syntax_ends() {
        let letters = "t".repeat(40);
        for (reference, text) in [
            ("&#10", "\n"),
            ("&#x3c", "<"),
            ("&lt", "<"),
            ("&not", "\u{ac}"),
            ("&middot", "\u{b7}"),
            ("&amp", "&"),
        ] {
            let decoded = format!("{text}{letters}");
            check(
                &format!("{reference}{letters}"),
                &decoded,
                &letters,
                &letters,
            );
        }
    }
}
