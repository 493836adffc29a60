//! Charsets that write all characters with seven bits: ISO-2022-JP (RFC 1468, RFC 1554),
//! ISO-2022-KR (RFC 1557), ISO-2022-CN (RFC 1922), HZ (RFC 1843), and UTF-7 (RFC 2152).
//!
//! An escape sequence announces the character set of the following bytes, which are ASCII letters
//! and signs otherwise. Without its charset, such a text is ASCII, and its words can look like the
//! start or end of a URL.
//!
//! Each line starts in ASCII. Writers that follow the RFCs return to ASCII before the line end, and
//! resetting there limits the damage of a lost sequence. `encoding_rs` knows only ISO-2022-JP, and
//! keeps the character set across line ends. Its decoders of the 8-bit forms of the same character
//! sets convert the characters here.

use encoding_rs::{EUC_JP, EUC_KR, Encoding, GBK, REPLACEMENT};

use super::MappedBytes;
use super::transfer::base64;
use crate::lines::run_len;

/// Family of 7-bit charsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SevenBit {
    /// Escape sequences of ISO 2022, in Japanese, Korean or Chinese texts.
    Iso2022,
    /// `~{` and `~}`.
    Hz,
}

/// Returns the family of a charset by its label in lower case.
pub(super) fn named(label: &str) -> Option<SevenBit> {
    match label {
        "hz-gb-2312" | "hz" => Some(SevenBit::Hz),
        "csiso2022jp" | "csiso2022kr" | "csiso2022jp2" => Some(SevenBit::Iso2022),
        other if other.starts_with("iso-2022-") || other.starts_with("iso2022-") => {
            Some(SevenBit::Iso2022)
        }
        _ => None,
    }
}

/// Detects the family of an ASCII text by its first unambiguous sequence.
///
/// Terminal sequences start with `ESC [` or `ESC (`; sequences that announce a two-byte character
/// set start with `ESC $`. `~{` occurs in program code, but without GB 2312 characters before the
/// next `~}`.
pub(super) fn detect(text: &[u8]) -> Option<SevenBit> {
    memchr::memchr2_iter(ESC, b'~', text).find_map(|at| match text[at..] {
        [ESC, b'$', b'@' | b'A' | b'B' | b'(' | b')' | b'*', ..] => Some(SevenBit::Iso2022),
        [b'~', b'{', ref rest @ ..] if is_hz_run(rest) => Some(SevenBit::Hz),
        _ => None,
    })
}

/// Returns `true` if `text` starts with GB 2312 characters, mostly Chinese, followed by `~}`.
fn is_hz_run(text: &[u8]) -> bool {
    /// A line of RFC 1843 has at most 79 characters.
    const MAX_PAIRS: usize = 79;
    /// Range of the first byte of Chinese characters in GB 2312.
    const CHINESE: std::ops::RangeInclusive<u8> = 0x30..=0x77;
    let (pairs, _) = text.as_chunks::<2>();
    let (mut count, mut chinese) = (0, 0);
    for pair in pairs.iter().take(MAX_PAIRS) {
        match pair {
            b"~}" => return count > 0 && chinese * 2 > count,
            [0x21..=0x77, 0x21..=0x7E] => {
                count += 1;
                chinese += usize::from(CHINESE.contains(&pair[0]));
            }
            _ => return false,
        }
    }
    false
}

/// First byte of escape sequences in charsets that are otherwise ASCII.
pub(super) const ESC: u8 = 0x1B;
/// Replacement for a character that no decoder knows.
const UNKNOWN: &[u8] = "\u{fffd}".as_bytes();
/// Switches to the character set announced by the last `ESC $ )`.
const SHIFT_OUT: u8 = 0x0E;
/// Switches back to ASCII.
const SHIFT_IN: u8 = 0x0F;

/// Character set of the bytes after a sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharacterSet {
    /// ASCII. JIS X 0201 Roman is read as ASCII too: authors who write `~` mean it, even if a
    /// terminal in Japan shows another character.
    Ascii,
    /// JIS X 0201 Katakana, one byte each.
    Katakana,
    /// Two bytes each. With their eighth bits set and after the prefix, they are characters of the
    /// encoding.
    TwoBytes(&'static Encoding, &'static [u8]),
}

impl CharacterSet {
    const JIS_X_0208: CharacterSet = CharacterSet::TwoBytes(EUC_JP, b"");
    const JIS_X_0212: CharacterSet = CharacterSet::TwoBytes(EUC_JP, b"\x8F");
    const KS_X_1001: CharacterSet = CharacterSet::TwoBytes(EUC_KR, b"");
    const GB_2312: CharacterSet = CharacterSet::TwoBytes(GBK, b"");
    /// Unknown to all decoders (CNS 11643). The decoder reads U+FFFD.
    const UNKNOWN: CharacterSet = CharacterSet::TwoBytes(REPLACEMENT, b"");
}

/// Effect of a byte sequence that changes the character set.
#[derive(Clone, Copy)]
enum Effect {
    /// The next bytes are in this set.
    Use(CharacterSet),
    /// Bytes after [`SHIFT_OUT`] are in this set.
    Announce(CharacterSet),
    /// The next character is in this set.
    Once(CharacterSet),
    /// The bytes encode the text `~`.
    Tilde,
    /// The bytes are not text, and are removed.
    Remove,
}

/// Returns the length and the effect of the sequence at the start of `text`.
fn sequence(family: SevenBit, text: &[u8], announced: CharacterSet) -> Option<(usize, Effect)> {
    Some(match (family, text) {
        (SevenBit::Iso2022, [ESC, rest @ ..]) => return escape(rest),
        (SevenBit::Iso2022, [SHIFT_OUT, ..]) => (1, Effect::Use(announced)),
        (SevenBit::Iso2022, [SHIFT_IN, ..]) => (1, Effect::Use(CharacterSet::Ascii)),
        (SevenBit::Hz, [b'~', b'{', ..]) => (2, Effect::Use(CharacterSet::GB_2312)),
        (SevenBit::Hz, [b'~', b'}', ..]) => (2, Effect::Use(CharacterSet::Ascii)),
        (SevenBit::Hz, [b'~', b'~', ..]) => (2, Effect::Tilde),
        (SevenBit::Hz, [b'~', b'\n', ..]) => (2, Effect::Remove),
        (SevenBit::Hz, [b'~', b'\r', b'\n', ..]) => (3, Effect::Remove),
        _ => return None,
    })
}

/// Returns the length and the effect of the sequence of ESC and the start of `rest`.
fn escape(rest: &[u8]) -> Option<(usize, Effect)> {
    use CharacterSet as Set;
    Some(match rest {
        [b'(', b'B' | b'J' | b'H', ..] => (3, Effect::Use(Set::Ascii)),
        [b'(', b'I', ..] => (3, Effect::Use(Set::Katakana)),
        [b'$', b'@' | b'B', ..] => (3, Effect::Use(Set::JIS_X_0208)),
        [b'$', b'A', ..] => (3, Effect::Use(Set::GB_2312)),
        [b'$', b'(', b'@' | b'B', ..] => (4, Effect::Use(Set::JIS_X_0208)),
        [b'$', b'(', b'D', ..] => (4, Effect::Use(Set::JIS_X_0212)),
        [b'$', b'(', b'C', ..] => (4, Effect::Use(Set::KS_X_1001)),
        [b'$', b')', b'C', ..] => (4, Effect::Announce(Set::KS_X_1001)),
        [b'$', b')', b'A', ..] => (4, Effect::Announce(Set::GB_2312)),
        [b'$', b')', b'G' | b'E', ..] => (4, Effect::Announce(Set::UNKNOWN)),
        [b'$', b'*' | b'+', _, ..] => (4, Effect::Remove),
        // Single shifts of ISO-2022-CN, to planes that no decoder knows.
        [b'N' | b'O', ..] => (2, Effect::Once(Set::UNKNOWN)),
        _ => return None,
    })
}

/// Decodes a text. Linear. Characters unknown to all decoders become U+FFFD.
pub(super) fn decode(raw: &[u8], family: SevenBit) -> MappedBytes {
    let mut decoder = SevenBitDecoder {
        raw,
        family,
        at: 0,
        set: CharacterSet::Ascii,
        announced: CharacterSet::Ascii,
        text: MappedBytes::with_capacity(raw.len() + raw.len() / 2),
    };
    while decoder.at < raw.len() {
        decoder.step();
    }
    decoder.text.ended(raw)
}

struct SevenBitDecoder<'r> {
    raw: &'r [u8],
    family: SevenBit,
    /// Offset in `raw` of the next byte.
    at: usize,
    /// Character set of the next bytes.
    set: CharacterSet,
    /// Character set after [`SHIFT_OUT`].
    announced: CharacterSet,
    text: MappedBytes,
}

impl SevenBitDecoder<'_> {
    /// Decodes a run of ASCII, a sequence, or one character.
    fn step(&mut self) {
        let rest = &self.raw[self.at..];
        if let Some((len, effect)) = sequence(self.family, rest, self.announced) {
            self.shift(len, effect);
        } else if rest[0] == b'\n' {
            self.set = CharacterSet::Ascii;
            self.copy(1);
        } else {
            match self.set {
                CharacterSet::Ascii => self.copy(self.ascii_run()),
                set => self.character(set),
            }
        }
    }

    /// Returns the number of bytes before the next possible sequence. The first byte does not start
    /// one.
    fn ascii_run(&self) -> usize {
        let rest = &self.raw[self.at + 1..];
        let next = match self.family {
            SevenBit::Iso2022 => memchr::memchr3(ESC, SHIFT_OUT, SHIFT_IN, rest),
            SevenBit::Hz => memchr::memchr(b'~', rest),
        };
        1 + next.unwrap_or(rest.len())
    }

    fn shift(&mut self, len: usize, effect: Effect) {
        let from = self.at..self.at + len;
        self.at = from.end;
        match effect {
            Effect::Use(set) => self.set = set,
            Effect::Announce(set) => self.announced = set,
            Effect::Once(set) if self.at < self.raw.len() => self.character(set),
            Effect::Tilde => self.text.push(b"~", from),
            Effect::Once(_) | Effect::Remove => {}
        }
    }

    /// Copies the next `len` bytes. A stray 8-bit byte becomes U+FFFD.
    fn copy(&mut self, len: usize) {
        let end = self.at + len;
        while self.at < end {
            let ascii = Encoding::ascii_valid_up_to(&self.raw[self.at..end]);
            self.text.copy(self.raw, self.at..self.at + ascii);
            self.at += ascii;
            if self.at < end {
                self.text.push(UNKNOWN, self.at..self.at + 1);
                self.at += 1;
            }
        }
    }

    /// Decodes the next character of a set. Copies a byte that is not in the set.
    fn character(&mut self, set: CharacterSet) {
        let start = self.at;
        let mut character = [0; 4];
        match (set, &self.raw[start..]) {
            (CharacterSet::Katakana, [byte @ 0x21..=0x5F, ..]) => {
                let kana = char::from_u32(0xFF61 + u32::from(byte - 0x21)).unwrap_or('\u{fffd}');
                let kana = kana.encode_utf8(&mut character).as_bytes();
                self.at += 1;
                self.text.push(kana, start..self.at);
            }
            (CharacterSet::TwoBytes(encoding, prefix), [first, second, ..])
                if first.is_ascii_graphic() && second.is_ascii_graphic() =>
            {
                let bytes = [prefix, &[first | 0x80, second | 0x80]].concat();
                let (decoded, _) = encoding.decode_without_bom_handling(&bytes);
                self.at += 2;
                self.text.push(decoded.as_bytes(), start..self.at);
            }
            _ => self.copy(1),
        }
    }
}

/// Decodes UTF-7: `+` starts base64 of UTF-16, up to the first character that is not a digit; `+-`
/// is a plus sign.
#[must_use]
pub fn decode_utf7(raw: &[u8]) -> MappedBytes {
    let mut text = MappedBytes::with_capacity(raw.len());
    let mut at = 0;
    while let Some(plus) = memchr::memchr(b'+', &raw[at..]).map(|plus| at + plus) {
        text.copy(raw, at..plus);
        let digits = run_len(&raw[plus + 1..], |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
        });
        let end = plus + 1 + digits;
        // The minus sign that ends a run is not part of the text.
        let after = end + usize::from(raw.get(end) == Some(&b'-'));
        let run = utf16(&raw[plus + 1..end]);
        let decoded = if digits == 0 { "+" } else { &run };
        text.push(decoded.as_bytes(), plus..after);
        at = after;
    }
    text.copy(raw, at..raw.len());
    text.ended(raw)
}

/// Returns the text of base64 digits. The last digits may be too few for a whole UTF-16 unit, and
/// some writers leave the final bits nonzero.
fn utf16(digits: &[u8]) -> String {
    let bytes = base64(digits).bytes;
    let units = bytes.as_chunks::<2>().0.iter();
    let units = units.map(|&pair| u16::from_be_bytes(pair));
    let text = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
    text.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlspool_text::span::Span;

    /// Decodes a text in its detected family, and checks that `http://x` is mapped to its own
    /// bytes.
    #[track_caller]
    fn check(raw: &[u8], family: SevenBit, want: &str) {
        assert_eq!(detect(raw), Some(family), "{}", raw.escape_ascii());
        let MappedBytes { bytes, map } = decode(raw, family);
        assert_eq!(String::from_utf8_lossy(&bytes), want);
        for (at, _) in want.match_indices("http://x") {
            let span = Span::new(at, at + 8);
            assert_eq!(map.raw(span).of(raw), b"http://x");
            assert!(map.exact(span));
        }
    }

    #[test]
    fn each_charset_is_recognised_by_its_sequences() {
        use SevenBit::{Hz, Iso2022};
        check(
            b"\x1B$B$\"\x1B(Bhttp://x\x1B$B$H\x1B(B.",
            Iso2022,
            "\u{3042}http://x\u{3068}.",
        );
        check(
            b"\x1B$@$\"\x1B(Jhttp://x/~a",
            Iso2022,
            "\u{3042}http://x/~a",
        );
        check(
            b"\x1B$(D0!\x1B(B \x1B(I1\x1B(Bhttp://x",
            Iso2022,
            "\u{4e02} \u{ff71}http://x",
        );
        check(
            b"\x1B$)C\n\x0E0!\x0Fhttp://x\n",
            Iso2022,
            "\n\u{ac00}http://x\n",
        );
        check(b"\x1B$)A\x0E;;\x0Fhttp://x", Iso2022, "\u{6362}http://x");
        check(
            b"\x1B$)G\x0E'P\x0Fhttp://x \x1B$*H\x1BN%p.",
            Iso2022,
            "\u{fffd}http://x \u{fffd}.",
        );
        check(
            b"~{VPND~}http://x/~~a ~\nb",
            Hz,
            "\u{4e2d}\u{6587}http://x/~a b",
        );
    }

    #[test]
    fn a_line_begins_in_ascii() {
        check(
            b"\x1B$B$\"\nhttp://x\x1B(B",
            SevenBit::Iso2022,
            "\u{3042}\nhttp://x",
        );
        check(
            b"\x1B$B$\r\n\x1B(Bhttp://x",
            SevenBit::Iso2022,
            "$\r\nhttp://x",
        );
        check(
            b"\x1B$)C\x0E0!\n\x0E0!\nhttp://x",
            SevenBit::Iso2022,
            "\u{ac00}\n\u{ac00}\nhttp://x",
        );
    }

    #[test]
    fn eight_bit_bytes_are_replaced() {
        check(
            b"\x1B$B$\"\x1B(B\xE9http://x\xFF",
            SevenBit::Iso2022,
            "\u{3042}\u{fffd}http://x\u{fffd}",
        );
    }

    #[test]
    fn programs_and_terminals_use_other_sequences() {
        for text in [
            "\x1B[1mhttp://x\x1B[0m",
            "\x1B(0lqk\x1B(B",
            "(format t \"~{~a~^, ~}\" list)",
            "~{ab cd~}",
            "~{x=~}",
            "~{abc~}",
            "http://x/~{user",
            "~~{~}",
            "\x1B",
        ] {
            assert_eq!(detect(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn truncated_sequences_are_text() {
        for raw in [
            &b"\x1B$B"[..],
            b"\x1B$B$",
            b"\x1B$",
            b"\x1B",
            b"\x1B$)",
            b"\x0E",
            b"\x1BN",
            b"\x1B$(D0",
        ] {
            for family in [SevenBit::Iso2022, SevenBit::Hz] {
                assert!(std::str::from_utf8(&decode(raw, family).bytes).is_ok());
            }
        }
    }

    fn shown(raw: &str) -> String {
        String::from_utf8(decode_utf7(raw.as_bytes()).bytes).unwrap()
    }

    #[test]
    fn the_examples_of_the_rfc_are_decoded() {
        assert_eq!(shown("A+ImIDkQ."), "A\u{2262}\u{391}.");
        assert_eq!(shown("Hi Mom -+Jjo--!"), "Hi Mom -\u{263a}-!");
        assert_eq!(shown("+ZeVnLIqe-"), "\u{65e5}\u{672c}\u{8a9e}");
        assert_eq!(shown("Item 3 is +AKM-1."), "Item 3 is \u{a3}1.");
        assert_eq!(shown("1 +- 1"), "1 + 1");
    }

    #[test]
    fn a_url_is_mapped_to_its_bytes() {
        let raw = b"+AKM- http://a.example/ +AKM-";
        let MappedBytes { bytes: text, map } = decode_utf7(raw);
        let at = text.windows(4).position(|w| w == b"http").unwrap();
        assert_eq!(
            map.raw(Span::new(at, at + 17)).of(raw),
            b"http://a.example/"
        );
    }
}
