//! Decoders for Content-Transfer-Encoding (RFC 2045 section 6), folded lines, dot-stuffing and
//! `format=flowed` (RFC 3676). They tolerate damage and return a map back to the encoded bytes.

use std::sync::LazyLock;

use data_encoding::BASE64_NOPAD;
use memchr::memmem::Finder;

use super::MappedBytes;
use crate::lines::{end_run_len, hex_pair, is_blank, line_end, run_len};
use urlspool_text::planted_faults::{PlantedFault, is_planted};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransferEncoding {
    /// 7bit, 8bit, binary, and every unknown name.
    Identity,
    QuotedPrintable,
    Base64,
    /// uuencode, under any of the names used by mailers.
    Uuencode,
}

impl TransferEncoding {
    /// Returns the encoding with this name. Ignores punctuation, case, and a comment or parameter
    /// after the name.
    pub(super) fn named(name: &str) -> TransferEncoding {
        if !matches!(
            name.as_bytes().first(),
            Some(b'q' | b'Q' | b'b' | b'B' | b'x' | b'X' | b'u' | b'U')
        ) {
            return TransferEncoding::Identity;
        }
        let end = name.find(['(', ';', ' ', '\t', ',']).unwrap_or(name.len());
        let mut letters = name[..end].to_ascii_lowercase();
        letters.retain(|letter| letter.is_ascii_alphanumeric());
        match letters.as_str() {
            "quotedprintable" => TransferEncoding::QuotedPrintable,
            "base64" => TransferEncoding::Base64,
            "xuuencode" | "uuencode" | "xuue" => TransferEncoding::Uuencode,
            _ => TransferEncoding::Identity,
        }
    }
}

/// Decodes quoted-printable (RFC 2045 section 6.7).
///
/// Removes blanks at the end of a line, which were added in transit. Keeps an `=` that starts no
/// escape.
#[must_use]
pub fn quoted_printable(raw: &[u8]) -> MappedBytes {
    let mut text = MappedBytes::with_capacity(raw.len());
    push_quoted_printable(raw, 0, &mut text);
    text.ended(raw)
}

/// Decodes the quoted-printable of `raw` after `at`, and appends it to `text`.
pub(super) fn push_quoted_printable(raw: &[u8], mut at: usize, text: &mut MappedBytes) {
    let mut uncopied = at;
    while let Some(found) = memchr::memchr2(b'=', b'\n', &raw[at..]).map(|found| at + found) {
        if raw[found] == b'\n' {
            let line = &raw[at..found];
            let ended = line.strip_suffix(b"\r").unwrap_or(line);
            let line_end = at + ended.len();
            let blanks = end_run_len(ended, is_blank);
            if 0 < blanks {
                text.copy(raw, uncopied..line_end - blanks);
                uncopied = line_end;
            }
            at = found + 1;
            continue;
        }
        text.copy(raw, uncopied..found);
        at = match (hex_pair(&raw[found + 1..]), soft_break(&raw[found + 1..])) {
            (Some(byte), _) => {
                text.push(&[byte], found..found + 3);
                found + 3
            }
            (None, Some(len)) => found + 1 + len,
            (None, None) => {
                text.copy(raw, found..found + 1);
                found + 1
            }
        };
        uncopied = at;
    }
    text.copy(raw, uncopied..raw.len());
}

/// Returns the length of the soft line break after an `=`: blanks, and the line end or the end of
/// the text.
fn soft_break(rest: &[u8]) -> Option<usize> {
    let blanks = run_len(rest, is_blank);
    match &rest[blanks..] {
        [b'\r', b'\r', b'\n', ..] => Some(blanks + 3),
        [b'\r', b'\n', ..] => Some(blanks + 2),
        [b'\n' | b'\r', ..] => Some(blanks + 1),
        [] => Some(blanks),
        _ => None,
    }
}

/// Decodes base64 (RFC 2045 section 6.8). Skips bytes that are not digits. Padding ends a group,
/// and a digit after it starts the next group.
#[must_use]
pub fn base64(raw: &[u8]) -> MappedBytes {
    let mut decoder = Base64Decoder::default();
    decoder.out.bytes.reserve(raw.len() / 4 * 3 + 3);
    decoder.out.map.push_base64(0, 0);
    decoder.has_standard_digits = memchr::memchr2(b'+', b'/', raw).is_some();
    let mut at = 0;
    for end in memchr::memchr_iter(b'\n', raw).chain([raw.len()]) {
        let line = &raw[at..end];
        if !decoder.decode_groups(line.strip_suffix(b"\r").unwrap_or(line), at) {
            decoder.decode_digits(line, at);
        }
        at = end + 1;
    }
    let mut out = decoder.out;
    out.map.push_digits(decoder.digits, raw.len());
    if is_planted(PlantedFault::DroppedLastByte) {
        out.bytes.pop();
    }
    out.map.push_base64(out.bytes.len(), decoder.digits);
    out
}

/// State of a base64 decoder.
#[derive(Default)]
struct Base64Decoder {
    out: MappedBytes,
    /// `true` if the digits include `+` or `/`. The `-` and `_` of the URL-safe alphabet (RFC 4648
    /// section 5) are then junk.
    has_standard_digits: bool,
    /// Number of digits so far.
    digits: usize,
    /// Bits of digits that do not form a whole byte yet.
    bits: u32,
    /// Number of these bits.
    bit_count: u32,
}

impl Base64Decoder {
    /// Decodes a line of whole groups of digits, the form of nearly all lines. Returns `false` and
    /// decodes no bytes if the line has other bytes or does not start with a group.
    ///
    /// Compared with [`Base64Decoder::decode_digits`], this saves 2.5 % of all instructions in a
    /// scan of news with base64 articles.
    fn decode_groups(&mut self, line: &[u8], at: usize) -> bool {
        if self.bit_count > 0 || line.is_empty() || !line.len().is_multiple_of(4) {
            return false;
        }
        let start = self.out.bytes.len();
        self.out.bytes.resize(start + line.len() / 4 * 3, 0);
        if BASE64_NOPAD
            .decode_mut(line, &mut self.out.bytes[start..])
            .is_err()
        {
            self.out.bytes.truncate(start);
            return false;
        }
        self.out.map.push_digits(self.digits, at);
        self.digits += line.len();
        true
    }

    /// Decodes any line at `at`, digit by digit.
    fn decode_digits(&mut self, line: &[u8], at: usize) {
        let mut unbroken = false;
        for (at, &byte) in (at..).zip(line) {
            let Some(value) = self.digit(byte) else {
                unbroken = false;
                if byte == b'=' && self.bit_count > 0 {
                    self.bit_count = 0;
                    self.out.map.push_base64(self.out.bytes.len(), self.digits);
                }
                continue;
            };
            if !unbroken {
                self.out.map.push_digits(self.digits, at);
                unbroken = true;
            }
            self.digits += 1;
            self.bits = self.bits << 6 | u32::from(value);
            self.bit_count += 6;
            if self.bit_count >= 8 {
                self.bit_count -= 8;
                self.out.bytes.push((self.bits >> self.bit_count) as u8);
            }
            if self.bit_count == 0 {
                self.bits = 0;
            }
        }
    }

    fn digit(&self, byte: u8) -> Option<u8> {
        match byte {
            b'A'..=b'Z' => Some(byte - b'A'),
            b'a'..=b'z' => Some(byte - b'a' + 26),
            b'0'..=b'9' => Some(byte - b'0' + 52),
            b'+' => Some(62),
            b'/' => Some(63),
            b'-' if !self.has_standard_digits => Some(62),
            b'_' if !self.has_standard_digits => Some(63),
            _ => None,
        }
    }
}

/// Unfolds long lines of calendars and vCards (RFC 5545 section 3.1): removes each line end with
/// the one blank after it.
#[must_use]
pub fn unfold(raw: &[u8]) -> MappedBytes {
    let ends = memchr::memchr_iter(b'\n', raw);
    let folds = ends.filter(|end| raw.get(end + 1).is_some_and(|&next| is_blank(next)));
    MappedBytes::without(
        raw,
        folds.map(|end| end - usize::from(raw[..end].ends_with(b"\r"))..end + 2),
    )
}

/// Removes dot-stuffing (RFC 3977 section 3.1.1): one of two dots at the start of a line. Returns
/// `None` if no line starts with two dots.
#[must_use]
pub fn unstuff(raw: &[u8]) -> Option<MappedBytes> {
    without_first_bytes(raw, &DOTS)
}

/// Finds the line end before each line that starts with two dots.
static DOTS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\n.."));

/// Removes the first byte of each line that `lines` finds by its start, after the line end before
/// it. Returns `None` if there is no such line.
fn without_first_bytes(text: &[u8], lines: &Finder<'_>) -> Option<MappedBytes> {
    let first = text.starts_with(&lines.needle()[1..]).then_some(0);
    let others = lines.find_iter(text).map(|end| end + 1);
    let mut starts = first.into_iter().chain(others).peekable();
    starts.peek()?;
    Some(MappedBytes::without(text, starts.map(|at| at..at + 1)))
}

/// Parameter `DelSp` (RFC 3676 section 4.1): handling of the blank before a soft line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelSp {
    /// Keeps the blank, which separates words.
    No,
    /// Deletes the blank, which was added together with the line break.
    Yes,
}

/// Removes space-stuffing and, with `DelSp=yes`, soft line breaks.
///
/// A line that ends in a blank flows into the next line if the quote depth is the same (section
/// 4.5); `-- ` does not flow (section 4.3). The quote marks of a paragraph's first line stay, to
/// show its depth.
///
/// With `DelSp=no`, the blank before a soft line break stays, so a URL written by the rules does
/// not cross the break. The line breaks stay too: they show which URLs a program broke anyway.
///
/// Returns `None` if the text does not change.
#[must_use]
pub fn unflow(text: &[u8], delsp: DelSp) -> Option<MappedBytes> {
    match delsp {
        DelSp::Yes => Some(joined(text)),
        // Removes the stuffing blank at the start of a line (section 4.4), unless quote marks
        // precede it.
        DelSp::No => without_first_bytes(text, &STUFFED),
    }
}

/// Finds the line end before each stuffed line.
static STUFFED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\n "));

/// Removes soft line breaks with the blanks before them, and space-stuffing.
fn joined(text: &[u8]) -> MappedBytes {
    let mut out = MappedBytes::with_capacity(text.len());
    // Quote depth of the paragraph into which the last line flows.
    let mut flowing: Option<usize> = None;
    let mut at = 0;
    while at < text.len() {
        let end = line_end(text, at);
        let line = &text[at..end];
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let depth = run_len(line, |byte| byte == b'>');
        let start = depth + usize::from(line.get(depth) == Some(&b' '));
        let (content, content_end) = (&line[start..], at + line.len());
        let is_signature = content == b"-- ";
        let flows = content.ends_with(b" ") && !is_signature;
        if flowing != Some(depth) || is_signature {
            if flowing.is_some() && out.bytes.last() != Some(&b'\n') {
                // The last line of the paragraph had a soft break, but no line of the same depth
                // follows.
                out.bytes.push(b'\n');
            }
            out.copy(text, at..at + depth);
            if depth > 0 && content.first().is_some_and(|&first| first != b' ') {
                out.map.push_same(out.bytes.len(), at + depth - 1);
                out.bytes.push(b' ');
            }
        }
        out.copy(text, at + start..content_end - usize::from(flows));
        if !flows {
            out.copy(text, content_end..end);
        }
        flowing = flows.then_some(depth);
        at = end;
    }
    out.ended(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlspool_text::span::Span;

    fn qp(raw: &str) -> String {
        String::from_utf8(quoted_printable(raw.as_bytes()).bytes).unwrap()
    }

    #[test]
    fn soft_breaks_join_and_escapes_are_decoded() {
        assert_eq!(qp("http://a.ex=\r\nample/?b=3Dc"), "http://a.example/?b=c");
        assert_eq!(qp("a= \t\nb"), "ab");
        assert_eq!(qp("end="), "end");
    }

    #[test]
    fn an_equals_sign_without_an_escape_stays() {
        assert_eq!(qp("a=b=zz"), "a=b=zz");
        assert_eq!(qp("a  \r\nb \n"), "a\r\nb\n");
    }

    #[test]
    fn offsets_map_across_soft_breaks() {
        let raw = b"x http://a.ex=\r\nample/=3D y";
        let MappedBytes { bytes: text, map } = quoted_printable(raw);
        let at = text.windows(4).position(|w| w == b"http").unwrap();
        let url = Span::new(at, at + "http://a.example/=".len());
        assert_eq!(map.raw(url).of(raw), b"http://a.ex=\r\nample/=3D");
    }

    #[test]
    fn base64_skips_junk_and_continues_after_padding() {
        assert_eq!(base64(b"aHR0\r\ncDov!L2E=").bytes, b"http://a");
        assert_eq!(base64(b"YQ==YmM=").bytes, b"abc");
        let raw = b"aHR0\ncDovL2E=";
        let MappedBytes { bytes: text, map } = base64(raw);
        assert_eq!(map.raw(Span::new(0, text.len())), Span::new(0, 12));
        let raw = b"YQ==\nYmM=";
        assert_eq!(base64(raw).map.raw(Span::new(1, 3)), Span::new(5, 8));
    }

    proptest::proptest! {
        #[test]
        fn lines_of_groups_are_decoded_as_digit_by_digit(
            lines in proptest::collection::vec(proptest::sample::select(vec![
                "YQ==", "aHR0cDov", "aHR0cA", "L2E-", "+/+/", "", "a b", "YWJj\r", "=",
            ]), 0..20),
        ) {
            let raw = lines.join("\n");
            let raw = raw.as_bytes();
            let mut slow = Base64Decoder::default();
            slow.out.map.push_base64(0, 0);
            slow.has_standard_digits = raw.iter().any(|byte| b"+/".contains(byte));
            slow.decode_digits(raw, 0);
            let MappedBytes { bytes: text, map } = base64(raw);
            proptest::prop_assert_eq!(&text, &slow.out.bytes);
            for start in 0..text.len() {
                for end in start..=text.len() {
                    let span = Span::new(start, end);
                    proptest::prop_assert_eq!(map.raw(span), slow.out.map.raw(span));
                }
            }
        }
    }

    #[test]
    fn folded_lines_are_unfolded() {
        let MappedBytes { bytes: text, map } = unfold(b"URL:http://a.ex\r\n ample/\r\nEND");
        assert_eq!(text, b"URL:http://a.example/\r\nEND");
        assert_eq!(map.raw(Span::new(4, 21)), Span::new(4, 24));
    }

    #[test]
    fn doubled_dots_are_removed_at_line_starts_only() {
        let MappedBytes { bytes: text, map } = unstuff(b"..a\r\n..b ..c").unwrap();
        assert_eq!(text, b".a\r\n.b ..c");
        assert_eq!(map.raw(Span::new(4, 6)), Span::new(6, 8));
        assert!(unstuff(b"a..b").is_none());
    }

    fn shown(text: &str, delsp: DelSp) -> String {
        let Some(MappedBytes { bytes: out, map }) = unflow(text.as_bytes(), delsp) else {
            return text.to_owned();
        };
        for at in 0..out.len() {
            let raw = map.raw(Span::new(at, at + 1));
            let same = raw.of(text.as_bytes()) == &out[at..=at];
            assert!(
                same || matches!(out[at], b' ' | b'\n'),
                "{at} of {:?}",
                String::from_utf8_lossy(&out)
            );
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn soft_breaks_join_lines_of_one_depth() {
        // RFC 3676 sections 4.1 and 4.5.
        assert_eq!(shown("one  \ntwo\nthree\n", DelSp::Yes), "one two\nthree\n");
        assert_eq!(
            shown("> one  \n> two\n>> three \nfour\n", DelSp::Yes),
            "> one two\n>> three\nfour\n"
        );
    }

    #[test]
    fn soft_breaks_that_keep_their_blank_stay() {
        assert_eq!(
            shown("one \ntwo\n> a \n> b\n", DelSp::No),
            "one \ntwo\n> a \n> b\n"
        );
    }

    #[test]
    fn deleted_blanks_join_long_words() {
        // RFC 3676 section 4.1: DelSp=yes.
        assert_eq!(
            shown("http://a.ex \nample/\n", DelSp::Yes),
            "http://a.example/\n"
        );
        assert_eq!(
            shown("> http://a.ex \r\n> ample/\r\n", DelSp::Yes),
            "> http://a.example/\r\n"
        );
    }

    #[test]
    fn stuffed_blanks_are_removed() {
        // RFC 3676 section 4.4.
        assert_eq!(
            shown("  two\n From x\n > no quote\n", DelSp::No),
            " two\nFrom x\n> no quote\n"
        );
    }

    #[test]
    fn the_signature_line_does_not_join_its_neighbours() {
        // RFC 3676 section 4.3.
        assert_eq!(shown("end \n-- \nname\n", DelSp::Yes), "end\n-- \nname\n");
    }
}
