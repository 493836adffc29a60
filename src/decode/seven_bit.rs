//! Charsets that write all characters with seven bits: ISO-2022-JP (RFC 1468, RFC 1554),
//! ISO-2022-KR (RFC 1557), ISO-2022-CN (RFC 1922), HZ (RFC 1843), and UTF-7 (RFC 2152).
//!
//! An escape sequence announces the character set of the bytes after it, which are ASCII letters
//! and signs otherwise. So such a text is ASCII without its charset, and words of its characters
//! look like the start or the end of a URL.
//!
//! Each line begins in ASCII: writers that follow the RFCs return to it before the line end, and
//! the end of a line limits the damage of a sequence that was lost. `encoding_rs` knows ISO-2022-JP
//! only, and keeps the character set over line ends; its decoders of the 8-bit forms of the same
//! character sets convert the characters here.

use data_encoding::BASE64_NOPAD;
use encoding_rs::{EUC_JP, EUC_KR, Encoding, GBK};

use super::MappedBytes;
use crate::span::{ByteMap, Span};

/// Family of 7-bit charsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SevenBit {
    /// Escape sequences of ISO 2022, in Japanese, Korean or Chinese texts.
    Iso2022,
    /// `~{` and `~}`.
    Hz,
}

/// Returns the family of a charset, by its label in lower case.
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

/// Detects the family of an ASCII text by its first sequence that has no other use.
///
/// The sequences of terminals begin with `ESC [` or `ESC (`, those that announce a set of two-byte
/// characters with `ESC $`. `~{` occurs in programs, which have no characters of GB 2312 before the
/// next `~}`.
pub(super) fn detect(text: &[u8]) -> Option<SevenBit> {
    memchr::memchr2_iter(ESC, b'~', text).find_map(|at| match text[at..] {
        [ESC, b'$', b'@' | b'A' | b'B' | b'(' | b')' | b'*', ..] => Some(SevenBit::Iso2022),
        [b'~', b'{', ref rest @ ..] if is_hz_run(rest) => Some(SevenBit::Hz),
        _ => None,
    })
}

/// Returns `true` if `text` begins with characters of GB 2312, most of them Chinese, and then `~}`.
fn is_hz_run(text: &[u8]) -> bool {
    /// A line of RFC 1843 has at most 79 characters.
    const MAX_PAIRS: usize = 79;
    /// First bytes of the rows of Chinese characters in GB 2312.
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

const ESC: u8 = 0x1B;
/// Begins the characters that the last `ESC $ )` announced.
const SHIFT_OUT: u8 = 0x0E;
/// Returns to ASCII.
const SHIFT_IN: u8 = 0x0F;

/// Character set of the bytes after a sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CharacterSet {
    /// ASCII. JIS X 0201 Roman is read as ASCII, too: authors who write `~` mean it, whatever a
    /// terminal in Japan shows.
    Ascii,
    /// JIS X 0201 Katakana, one byte each.
    Katakana,
    /// Two bytes each, with their eighth bits set in `encoding` after `prefix`.
    TwoBytes {
        encoding: &'static Encoding,
        prefix: &'static [u8],
    },
    /// Two bytes each, which no decoder knows (CNS 11643).
    Unknown,
}

impl CharacterSet {
    const JIS_X_0208: CharacterSet = CharacterSet::TwoBytes {
        encoding: EUC_JP,
        prefix: b"",
    };
    const JIS_X_0212: CharacterSet = CharacterSet::TwoBytes {
        encoding: EUC_JP,
        prefix: b"\x8F",
    };
    const KS_X_1001: CharacterSet = CharacterSet::TwoBytes {
        encoding: EUC_KR,
        prefix: b"",
    };
    const GB_2312: CharacterSet = CharacterSet::TwoBytes {
        encoding: GBK,
        prefix: b"",
    };
}

/// Bytes that change the character set.
struct ShiftSequence {
    /// Number of bytes.
    len: usize,
    effect: Effect,
}

enum Effect {
    /// The next bytes are of this set.
    Use(CharacterSet),
    /// Bytes after [`SHIFT_OUT`] are of this set.
    Announce(CharacterSet),
    /// This set for one character.
    Once(CharacterSet),
    /// The bytes are the text `~`.
    Tilde,
    /// The bytes are no text, and are removed.
    Remove,
}

/// Returns the sequence at the start of `text`.
fn sequence(family: SevenBit, text: &[u8], announced: CharacterSet) -> Option<ShiftSequence> {
    let found = |len, effect| Some(ShiftSequence { len, effect });
    match (family, text) {
        (SevenBit::Iso2022, [ESC, rest @ ..]) => escape(rest),
        (SevenBit::Iso2022, [SHIFT_OUT, ..]) => found(1, Effect::Use(announced)),
        (SevenBit::Iso2022, [SHIFT_IN, ..]) => found(1, Effect::Use(CharacterSet::Ascii)),
        (SevenBit::Hz, [b'~', b'{', ..]) => found(2, Effect::Use(CharacterSet::GB_2312)),
        (SevenBit::Hz, [b'~', b'}', ..]) => found(2, Effect::Use(CharacterSet::Ascii)),
        (SevenBit::Hz, [b'~', b'~', ..]) => found(2, Effect::Tilde),
        (SevenBit::Hz, [b'~', b'\n', ..]) => found(2, Effect::Remove),
        (SevenBit::Hz, [b'~', b'\r', b'\n', ..]) => found(3, Effect::Remove),
        _ => None,
    }
}

/// Returns the sequence that begins with ESC and `rest`.
fn escape(rest: &[u8]) -> Option<ShiftSequence> {
    use CharacterSet as Set;
    let (len, effect) = match rest {
        [b'(', b'B' | b'J' | b'H', ..] => (3, Effect::Use(Set::Ascii)),
        [b'(', b'I', ..] => (3, Effect::Use(Set::Katakana)),
        [b'$', b'@' | b'B', ..] => (3, Effect::Use(Set::JIS_X_0208)),
        [b'$', b'A', ..] => (3, Effect::Use(Set::GB_2312)),
        [b'$', b'(', b'@' | b'B', ..] => (4, Effect::Use(Set::JIS_X_0208)),
        [b'$', b'(', b'D', ..] => (4, Effect::Use(Set::JIS_X_0212)),
        [b'$', b'(', b'C', ..] => (4, Effect::Use(Set::KS_X_1001)),
        [b'$', b')', b'C', ..] => (4, Effect::Announce(Set::KS_X_1001)),
        [b'$', b')', b'A', ..] => (4, Effect::Announce(Set::GB_2312)),
        [b'$', b')', b'G' | b'E', ..] => (4, Effect::Announce(Set::Unknown)),
        [b'$', b'*' | b'+', _, ..] => (4, Effect::Remove),
        // Single shifts of ISO-2022-CN, to planes that no decoder knows.
        [b'N' | b'O', ..] => (2, Effect::Once(Set::Unknown)),
        _ => return None,
    };
    Some(ShiftSequence { len, effect })
}

/// Decodes a text. Linear; characters that no decoder knows become U+FFFD.
pub(super) fn decode(raw: &[u8], family: SevenBit) -> MappedBytes {
    let mut decoder = SevenBitDecoder {
        raw,
        family,
        at: 0,
        set: CharacterSet::Ascii,
        announced: CharacterSet::Ascii,
        text: Vec::with_capacity(raw.len() + raw.len() / 2),
        map: ByteMap::new(),
    };
    while decoder.at < raw.len() {
        decoder.step();
    }
    decoder.map.push_same(decoder.text.len(), raw.len());
    MappedBytes {
        bytes: decoder.text,
        map: decoder.map,
    }
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
    text: Vec<u8>,
    map: ByteMap,
}

impl SevenBitDecoder<'_> {
    /// Decodes a run of ASCII, a sequence, or one character.
    fn step(&mut self) {
        let rest = &self.raw[self.at..];
        if let Some(found) = sequence(self.family, rest, self.announced) {
            self.shift(&found);
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

    /// Returns the number of bytes up to the next that may begin a sequence; the first one begins
    /// none.
    fn ascii_run(&self) -> usize {
        let rest = &self.raw[self.at + 1..];
        let next = match self.family {
            SevenBit::Iso2022 => memchr::memchr3(ESC, SHIFT_OUT, SHIFT_IN, rest),
            SevenBit::Hz => memchr::memchr(b'~', rest),
        };
        1 + next.unwrap_or(rest.len())
    }

    fn shift(&mut self, found: &ShiftSequence) {
        let from = Span::new(self.at, self.at + found.len);
        self.at = from.end;
        match found.effect {
            Effect::Use(set) => self.set = set,
            Effect::Announce(set) => self.announced = set,
            Effect::Once(set) => {
                if self.at < self.raw.len() {
                    self.character(set);
                }
            }
            Effect::Tilde => self.push(b"~", from),
            Effect::Remove => {}
        }
    }

    /// Copies the next `len` bytes. An 8-bit byte, which does not belong here, becomes U+FFFD.
    fn copy(&mut self, len: usize) {
        let end = self.at + len;
        while self.at < end {
            let ascii = Encoding::ascii_valid_up_to(&self.raw[self.at..end]);
            self.map.push_same(self.text.len(), self.at);
            self.text
                .extend_from_slice(&self.raw[self.at..self.at + ascii]);
            self.at += ascii;
            if self.at < end {
                self.push("\u{fffd}".as_bytes(), Span::new(self.at, self.at + 1));
                self.at += 1;
            }
        }
    }

    /// Decodes the next character of a set. A byte that belongs to none is a copy.
    fn character(&mut self, set: CharacterSet) {
        let start = self.at;
        let is_graphic = |byte: &u8| (0x21..=0x7E).contains(byte);
        let mut character = [0; 4];
        match (set, &self.raw[start..]) {
            (CharacterSet::Katakana, [byte @ 0x21..=0x5F, ..]) => {
                let kana = char::from_u32(0xFF61 + u32::from(byte - 0x21)).unwrap_or('\u{fffd}');
                self.at += 1;
                self.push(
                    kana.encode_utf8(&mut character).as_bytes(),
                    Span::new(start, start + 1),
                );
            }
            (CharacterSet::TwoBytes { encoding, prefix }, [first, second, ..])
                if is_graphic(first) && is_graphic(second) =>
            {
                let bytes = [prefix, &[first | 0x80, second | 0x80]].concat();
                let (decoded, _) = encoding.decode_without_bom_handling(&bytes);
                self.at += 2;
                self.push(decoded.as_bytes(), Span::new(start, start + 2));
            }
            (CharacterSet::Unknown, [first, second, ..])
                if is_graphic(first) && is_graphic(second) =>
            {
                self.at += 2;
                self.push("\u{fffd}".as_bytes(), Span::new(start, start + 2));
            }
            _ => self.copy(1),
        }
    }

    /// Adds a character that was decoded from the raw bytes `from`.
    fn push(&mut self, character: &[u8], from: Span) {
        self.map.push_whole(self.text.len(), from);
        self.text.extend_from_slice(character);
    }
}

/// Decodes UTF-7: `+` begins base64 of UTF-16, up to a character that is no digit; `+-` is a plus
/// sign.
pub(super) fn decode_utf7(raw: &[u8]) -> MappedBytes {
    let mut text = Vec::with_capacity(raw.len());
    let mut map = ByteMap::new();
    let mut at = 0;
    while let Some(plus) = memchr::memchr(b'+', &raw[at..]).map(|plus| at + plus) {
        map.push_same(text.len(), at);
        text.extend_from_slice(&raw[at..plus]);
        let digits = raw[plus + 1..]
            .iter()
            .take_while(|&&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
            .count();
        let end = plus + 1 + digits;
        // The minus sign that ends a run is not part of the text.
        let after = end + usize::from(raw.get(end) == Some(&b'-'));
        map.push_whole(text.len(), Span::new(plus, after));
        match utf16(&raw[plus + 1..end]) {
            Some(run) if digits > 0 => text.extend_from_slice(run.as_bytes()),
            _ if digits == 0 => text.push(b'+'),
            _ => text.extend_from_slice(&raw[plus..after]),
        }
        at = after;
    }
    map.push_same(text.len(), at);
    text.extend_from_slice(&raw[at..]);
    map.push_same(text.len(), raw.len());
    MappedBytes { bytes: text, map }
}

/// The text of base64 digits. The last ones may be too few for a whole UTF-16 unit.
fn utf16(digits: &[u8]) -> Option<String> {
    // A unit has 16 bits and a digit six: the last unit may be followed by up to two digits' worth
    // of zero bits.
    let whole = (0..=3)
        .find_map(|cut| {
            BASE64_NOPAD
                .decode(digits.get(..digits.len().checked_sub(cut)?)?)
                .ok()
        })
        .or_else(|| lenient(digits))?;
    let units = whole
        .as_chunks::<2>()
        .0
        .iter()
        .map(|&pair| u16::from_be_bytes(pair));
    Some(
        char::decode_utf16(units)
            .map(|unit| unit.unwrap_or('\u{fffd}'))
            .collect(),
    )
}

/// Decodes digits whose last bits are not zero, as some writers leave them.
fn lenient(digits: &[u8]) -> Option<Vec<u8>> {
    let bytes = super::transfer::base64(digits).bytes;
    (!bytes.is_empty()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn bytes_with_eight_bits_are_replaced() {
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
    fn sequences_that_are_cut_off_are_text() {
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
    fn the_examples_of_the_rfc_are_read() {
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
