//! Content-Transfer-Encoding (RFC 2045 section 6), undone tolerantly and with a map.

use data_encoding::BASE64_NOPAD;

use crate::span::{ByteMap, Span};

/// A transfer encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// 7bit, 8bit, binary, and every name that is unknown.
    Identity,
    /// quoted-printable
    QuotedPrintable,
    /// base64
    Base64,
}

impl Encoding {
    /// The encoding of that name.
    pub(super) fn named(name: &str) -> Encoding {
        // Nearly all names.
        if matches!(name, "7bit" | "8bit") {
            return Encoding::Identity;
        }
        // What stands behind it is a comment, a parameter or a mistake.
        let name = name
            .trim()
            .split(['(', ';', ' ', '\t', ','])
            .next()
            .unwrap_or_default();
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        match name.to_ascii_lowercase().as_str() {
            "quotedprintable" => Encoding::QuotedPrintable,
            "base64" => Encoding::Base64,
            _ => Encoding::Identity,
        }
    }
}

/// Undoes quoted-printable (RFC 2045 section 6.7).
///
/// Blanks at a line's end came in transit and are dropped; an `=` that begins no escape stays.
pub(super) fn quoted_printable(raw: &[u8]) -> (Vec<u8>, ByteMap) {
    let mut text = Vec::with_capacity(raw.len());
    let mut map = ByteMap::new();
    let mut at = 0;
    let copy = |text: &mut Vec<u8>, map: &mut ByteMap, from: usize, to: usize| {
        if from < to {
            map.push_same(text.len(), from);
            text.extend_from_slice(&raw[from..to]);
        }
    };
    while let Some(found) = memchr::memchr2(b'=', b'\n', &raw[at..]).map(|found| at + found) {
        if raw[found] == b'\n' {
            let line = &raw[at..found];
            let ended = line.strip_suffix(b"\r").unwrap_or(line);
            let kept = ended.len()
                - ended
                    .iter()
                    .rev()
                    .take_while(|&&byte| matches!(byte, b' ' | b'\t'))
                    .count();
            copy(&mut text, &mut map, at, at + kept);
            copy(&mut text, &mut map, at + ended.len(), found + 1);
            at = found + 1;
            continue;
        }
        copy(&mut text, &mut map, at, found);
        at = match (hex_pair(&raw[found + 1..]), soft_break(&raw[found + 1..])) {
            (Some(octet), _) => {
                map.push_whole(text.len(), Span::new(found, found + 3));
                text.push(octet);
                found + 3
            }
            (None, Some(len)) => found + 1 + len,
            (None, None) => {
                copy(&mut text, &mut map, found, found + 1);
                found + 1
            }
        };
    }
    copy(&mut text, &mut map, at, raw.len());
    map.push_same(text.len(), raw.len());
    (text, map)
}

fn hex_pair(rest: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    match rest {
        [high, low, ..] => Some((digit(*high)? * 16 + digit(*low)?) as u8),
        _ => None,
    }
}

/// Bytes behind an `=` up to and with the line end, if nothing but blanks stands between.
fn soft_break(rest: &[u8]) -> Option<usize> {
    let blanks = rest
        .iter()
        .take_while(|&&byte| matches!(byte, b' ' | b'\t'))
        .count();
    match &rest[blanks..] {
        [b'\r', b'\n', ..] => Some(blanks + 2),
        [b'\n' | b'\r', ..] => Some(blanks + 1),
        [] => Some(blanks),
        _ => None,
    }
}

/// Undoes base64 (RFC 2045 section 6.8). What is no digit is passed over; padding ends a group, and digits behind
/// it begin another.
pub(super) fn base64(raw: &[u8]) -> (Vec<u8>, ByteMap) {
    let mut digits = Digits::default();
    digits.text.reserve(raw.len() / 4 * 3 + 3);
    digits.map.push_base64(0, 0);
    // `-` and `_` are digits of another alphabet (RFC 4648 section 5); among those of this one they are junk.
    let other = memchr::memchr2(b'+', b'/', raw).is_none();
    let mut at = 0;
    for end in memchr::memchr_iter(b'\n', raw).chain([raw.len()]) {
        let line = &raw[at..end];
        if !digits.groups(line.strip_suffix(b"\r").unwrap_or(line), at) {
            digits.one_by_one(line, at, other);
        }
        at = end + 1;
    }
    (digits.text, digits.map)
}

/// Base64 as far as it was undone.
#[derive(Default)]
struct Digits {
    text: Vec<u8>,
    map: ByteMap,
    /// Digits that were read.
    read: usize,
    /// The bits of those that gave no whole byte yet, and their number.
    bits: u32,
    count: u32,
}

impl Digits {
    /// Undoes a line that holds whole groups of digits and nothing else, as nearly all do. `false` if it does not, or does
    /// not begin with a group.
    fn groups(&mut self, line: &[u8], at: usize) -> bool {
        if self.count > 0 || line.is_empty() || !line.len().is_multiple_of(4) {
            return false;
        }
        let start = self.text.len();
        self.text.resize(start + line.len() / 4 * 3, 0);
        if BASE64_NOPAD
            .decode_mut(line, &mut self.text[start..])
            .is_err()
        {
            self.text.truncate(start);
            return false;
        }
        self.map.push_digits(self.read, at);
        self.read += line.len();
        true
    }

    /// Undoes a line at `at`, whatever is in it.
    fn one_by_one(&mut self, line: &[u8], at: usize, other: bool) {
        let mut unbroken = false;
        for (at, &byte) in (at..).zip(line) {
            let Some(value) = digit(byte).filter(|_| other || !matches!(byte, b'-' | b'_')) else {
                unbroken = false;
                if byte == b'=' && self.count > 0 {
                    self.count = 0;
                    self.map.push_base64(self.text.len(), self.read);
                }
                continue;
            };
            if !unbroken {
                self.map.push_digits(self.read, at);
                unbroken = true;
            }
            self.read += 1;
            self.bits = self.bits << 6 | u32::from(value);
            self.count += 6;
            if self.count >= 8 {
                self.count -= 8;
                self.text.push((self.bits >> self.count) as u8);
            }
            if self.count == 0 {
                self.bits = 0;
            }
        }
    }
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

/// Undoes the folding of long lines in calendars and vCards (RFC 5545 section 3.1): a line end and one blank.
pub(super) fn unfold(raw: &[u8]) -> (Vec<u8>, ByteMap) {
    let mut text = Vec::with_capacity(raw.len());
    let mut map = ByteMap::new();
    let mut at = 0;
    for end in memchr::memchr_iter(b'\n', raw)
        .filter(|&end| matches!(raw.get(end + 1), Some(b' ' | b'\t')))
    {
        let line = raw[at..end].strip_suffix(b"\r").unwrap_or(&raw[at..end]);
        map.push_same(text.len(), at);
        text.extend_from_slice(line);
        at = end + 2;
    }
    map.push_same(text.len(), at);
    text.extend_from_slice(&raw[at..]);
    map.push_same(text.len(), raw.len());
    (text, map)
}

/// Undoes dot-stuffing (RFC 3977 section 3.1.1): of two dots at a line's start one is dropped. Nothing where there
/// is none.
pub(super) fn unstuff(raw: &[u8]) -> Option<(Vec<u8>, ByteMap)> {
    let mut dots = memchr::memmem::find_iter(raw, b"\n..").peekable();
    if dots.peek().is_none() && !raw.starts_with(b"..") {
        return None;
    }
    let mut text = Vec::with_capacity(raw.len());
    let mut map = ByteMap::new();
    let first = raw.starts_with(b"..").then_some(0);
    let mut at = 0;
    for dot in first.into_iter().chain(dots.map(|line| line + 1)) {
        map.push_same(text.len(), at);
        text.extend_from_slice(&raw[at..dot]);
        at = dot + 1;
    }
    map.push_same(text.len(), at);
    text.extend_from_slice(&raw[at..]);
    Some((text, map))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn qp(raw: &str) -> String {
        String::from_utf8(quoted_printable(raw.as_bytes()).0).unwrap()
    }

    #[test]
    fn soft_breaks_join_and_escapes_are_undone() {
        assert_eq!(qp("http://a.ex=\r\nample/?b=3Dc"), "http://a.example/?b=c");
        assert_eq!(qp("a= \t\nb"), "ab");
        assert_eq!(qp("end="), "end");
    }

    #[test]
    fn what_is_no_escape_stays() {
        assert_eq!(qp("a=b=zz"), "a=b=zz");
        assert_eq!(qp("a  \r\nb \n"), "a\r\nb\n");
    }

    #[test]
    fn the_map_leads_back_over_soft_breaks() {
        let raw = b"x http://a.ex=\r\nample/=3D y";
        let (text, map) = quoted_printable(raw);
        let at = text.windows(4).position(|w| w == b"http").unwrap();
        let url = Span::new(at, at + "http://a.example/=".len());
        assert_eq!(map.raw(url).of(raw), b"http://a.ex=\r\nample/=3D");
    }

    #[test]
    fn base64_passes_over_junk_and_goes_on_behind_padding() {
        assert_eq!(base64(b"aHR0\r\ncDov!L2E=").0, b"http://a");
        assert_eq!(base64(b"YQ==YmM=").0, b"abc");
        let raw = b"aHR0\ncDovL2E=";
        let (text, map) = base64(raw);
        assert_eq!(map.raw(Span::new(0, text.len())), Span::new(0, 12));
        let raw = b"YQ==\nYmM=";
        assert_eq!(base64(raw).1.raw(Span::new(1, 3)), Span::new(5, 8));
    }

    proptest::proptest! {
        /// Whole lines of groups are undone at once: text and map are as if digit by digit.
        #[test]
        fn lines_of_groups_are_undone_as_digit_by_digit(
            lines in proptest::collection::vec(proptest::sample::select(vec!["YQ==", "aHR0cDov", "aHR0cA", "L2E-", "+/+/", "", "a b", "YWJj\r", "="]), 0..20),
        ) {
            let raw = lines.join("\n");
            let raw = raw.as_bytes();
            let mut slow = Digits::default();
            slow.map.push_base64(0, 0);
            slow.one_by_one(raw, 0, !raw.iter().any(|byte| b"+/".contains(byte)));
            let (text, map) = base64(raw);
            proptest::prop_assert_eq!(&text, &slow.text);
            for start in 0..text.len() {
                for end in start..=text.len() {
                    proptest::prop_assert_eq!(map.raw(Span::new(start, end)), slow.map.raw(Span::new(start, end)));
                }
            }
        }
    }

    #[test]
    fn folded_lines_are_made_whole() {
        let (text, map) = unfold(b"URL:http://a.ex\r\n ample/\r\nEND");
        assert_eq!(text, b"URL:http://a.example/\r\nEND");
        assert_eq!(map.raw(Span::new(4, 21)), Span::new(4, 24));
    }

    #[test]
    fn doubled_dots_are_undone_at_line_starts_only() {
        let (text, map) = unstuff(b"..a\r\n..b ..c").unwrap();
        assert_eq!(text, b".a\r\n.b ..c");
        assert_eq!(map.raw(Span::new(4, 6)), Span::new(6, 8));
        assert_eq!(unstuff(b"a..b"), None);
    }
}
