//! `escape = "%" hex hex`: decoding and normalization (RFC 1738 section 2.2). Also the character
//! classes of section 5, as one readable function and a table computed from it.

/// Splits `input` after its longest prefix of escapes and members of `set`.
///
/// Stops before a `%` without two hexadecimal digits after it. Linear, without allocation.
pub(super) fn run(set: CharSet, input: &[u8]) -> (&[u8], &[u8]) {
    let mut len = 0;
    while let Some(&byte) = input.get(len) {
        len += match byte {
            b'%' if escaped_byte(&input[len..]).is_some() => 3,
            byte if set.has(byte) => 1,
            _ => break,
        };
    }
    input.split_at(len)
}

/// Returns the byte that the escape at the start of `input` encodes, or `None` if `input` does not
/// start with an escape.
///
/// ```
/// use urlspool_text::grammar::escaped_byte;
///
/// assert_eq!(escaped_byte(b"%2Fetc"), Some(b'/'));
/// assert_eq!(escaped_byte(b"%2"), None);
/// ```
#[must_use]
pub fn escaped_byte(input: &[u8]) -> Option<u8> {
    match input {
        [b'%', high, low, ..] => Some(hex(*high)? << 4 | hex(*low)?),
        _ => None,
    }
}

fn hex(digit: u8) -> Option<u8> {
    CharSet::HEX.has(digit).then(|| match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    })
}

/// Encodes the bytes of `text` that `is_kept` rejects: a space becomes `%20`.
pub fn encode(text: &[u8], is_kept: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for &byte in text {
        if is_kept(byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Decodes the escapes of `text` once: `%2541` becomes `%41`.
///
/// A `%` that does not start an escape is kept.
///
/// ```
/// assert_eq!(urlspool_text::grammar::decode(b"a%20b%zz"), b"a b%zz");
/// ```
#[must_use]
pub fn decode(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    replace_escapes(text, &mut decoded, |out, byte, _| out.push(byte));
    decoded
}

/// Appends `text` to `out` in the form used for comparing URLs.
///
/// Decodes escapes of unreserved characters, and writes all others in upper-case hexadecimal. By
/// section 2.2 both spellings are equivalent. RFC 3986 section 6.2.2.2 adds `~` to the characters
/// that are decoded.
///
/// ```
/// let mut key = Vec::new();
/// urlspool_text::grammar::normalize(b"/%7euser%2fx", &mut key);
/// assert_eq!(key, b"/~user%2Fx");
/// ```
pub fn normalize(text: &[u8], out: &mut Vec<u8>) {
    replace_escapes(text, out, |out, byte, escape| {
        if CharSet::UCHAR.has(byte) || byte == b'~' {
            out.push(byte);
        } else {
            out.extend(escape.iter().map(u8::to_ascii_uppercase));
        }
    });
}

/// Appends `text` to `out`, with `push` called for the byte and the text of each escape instead.
fn replace_escapes(text: &[u8], out: &mut Vec<u8>, push: impl Fn(&mut Vec<u8>, u8, &[u8])) {
    let mut rest = text;
    while let Some(percent) = memchr::memchr(b'%', rest) {
        out.extend_from_slice(&rest[..percent]);
        rest = &rest[percent..];
        let len = match escaped_byte(rest) {
            Some(byte) => {
                push(out, byte, &rest[..3]);
                3
            }
            None => {
                out.push(b'%');
                1
            }
        };
        rest = &rest[len..];
    }
    out.extend_from_slice(rest);
}

/// A set of character classes, with one bit for each class. One table lookup tests a byte against
/// all of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct CharSet(u16);

impl CharSet {
    /// `alpha`.
    pub(super) const ALPHA: CharSet = CharSet(1);
    /// `digit`.
    pub(super) const DIGIT: CharSet = CharSet(1 << 1);
    /// `hex`.
    pub(super) const HEX: CharSet = CharSet(1 << 2);
    /// The characters of `scheme`, in either case (section 2.1).
    pub(super) const SCHEME: CharSet = CharSet(1 << 3);
    /// `alphadigit | "-"`: the inside of a `domainlabel`.
    pub(super) const LABEL: CharSet = CharSet(1 << 4);
    /// `uchar` without escapes: `unreserved`.
    pub(super) const UCHAR: CharSet = CharSet(1 << 5);
    /// `xchar` without escapes.
    pub(super) const XCHAR: CharSet = CharSet(1 << 6);
    /// The characters of `user` and `password`.
    pub(super) const USER: CharSet = CharSet(1 << 7);
    /// The characters of `fsegment` and of prospero's `psegment`.
    pub(super) const FSEGMENT: CharSet = CharSet(1 << 8);
    /// The characters of `hsegment` and `search`.
    pub(super) const HSEGMENT: CharSet = CharSet(1 << 9);
    /// The characters of `article` before its `@`.
    pub(super) const ARTICLE: CharSet = CharSet(1 << 10);
    /// The characters of `group` after the first.
    pub(super) const GROUP: CharSet = CharSet(1 << 11);
    /// The characters of prospero's `fieldname` and `fieldvalue`.
    pub(super) const FIELD: CharSet = CharSet(1 << 12);

    /// Returns `true` if `byte` is in one of the classes. `%` is in no class, because `run` reads
    /// escapes.
    pub(super) const fn has(self, byte: u8) -> bool {
        TABLE[byte as usize] & self.0 != 0
    }
}

const TABLE: [u16; 256] = table();

const fn table() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = classes(byte as u8);
        byte += 1;
    }
    table
}

/// The classes of one byte. Each line follows a production at the end of section 5.
const fn classes(byte: u8) -> u16 {
    let alpha = byte.is_ascii_alphabetic();
    let digit = byte.is_ascii_digit();
    let safe = matches!(byte, b'$' | b'-' | b'_' | b'.' | b'+');
    let extra = matches!(byte, b'!' | b'*' | b'\'' | b'(' | b')' | b',');
    let unreserved = alpha || digit || safe || extra;
    let reserved = matches!(byte, b';' | b'/' | b'?' | b':' | b'@' | b'&' | b'=');

    bit(CharSet::ALPHA, alpha)
        | bit(CharSet::DIGIT, digit)
        | bit(CharSet::HEX, byte.is_ascii_hexdigit())
        | bit(
            CharSet::SCHEME,
            alpha || digit || matches!(byte, b'+' | b'-' | b'.'),
        )
        | bit(CharSet::LABEL, alpha || digit || byte == b'-')
        | bit(CharSet::UCHAR, unreserved)
        | bit(CharSet::XCHAR, unreserved || reserved)
        | bit(
            CharSet::USER,
            unreserved || matches!(byte, b';' | b'?' | b'&' | b'='),
        )
        | bit(
            CharSet::FSEGMENT,
            unreserved || matches!(byte, b'?' | b':' | b'@' | b'&' | b'='),
        )
        | bit(
            CharSet::HSEGMENT,
            unreserved || matches!(byte, b';' | b':' | b'@' | b'&' | b'='),
        )
        | bit(
            CharSet::ARTICLE,
            unreserved || matches!(byte, b';' | b'/' | b'?' | b':' | b'&' | b'='),
        )
        | bit(
            CharSet::GROUP,
            alpha || digit || matches!(byte, b'-' | b'.' | b'+' | b'_'),
        )
        | bit(
            CharSet::FIELD,
            unreserved || matches!(byte, b'?' | b':' | b'@' | b'&'),
        )
}

const fn bit(set: CharSet, member: bool) -> u16 {
    if member { set.0 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_once() {
        assert_eq!(decode(b"%2541%zz%4"), b"%41%zz%4");
        assert_eq!(decode(b"%00%fF"), b"\x00\xFF");
    }

    #[test]
    fn only_escapes_of_unreserved_characters_are_decoded_by_normalize() {
        let mut out = b"%7e".to_vec();
        normalize(b"%7euser%2fx%41%", &mut out);
        assert_eq!(out, b"%7e~user%2FxA%");
    }

    /// The members of `set`, in byte order.
    fn members(set: CharSet) -> String {
        (0..=255u8)
            .filter(|&byte| set.has(byte))
            .map(char::from)
            .collect()
    }

    #[test]
    fn each_class_has_the_members_that_section_5_lists() {
        let alphadigit = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let with = |more: &str| {
            let mut all: Vec<char> = alphadigit.chars().chain(more.chars()).collect();
            all.sort_unstable();
            all.into_iter().collect::<String>()
        };
        assert_eq!(members(CharSet::SCHEME), with("+-."));
        assert_eq!(members(CharSet::LABEL), with("-"));
        assert_eq!(members(CharSet::UCHAR), with("$-_.+!*'(),"));
        assert_eq!(members(CharSet::XCHAR), with("$-_.+!*'(),;/?:@&="));
        assert_eq!(members(CharSet::USER), with("$-_.+!*'(),;?&="));
        assert_eq!(members(CharSet::FSEGMENT), with("$-_.+!*'(),?:@&="));
        assert_eq!(members(CharSet::HSEGMENT), with("$-_.+!*'(),;:@&="));
        assert_eq!(members(CharSet::ARTICLE), with("$-_.+!*'(),;/?:&="));
        assert_eq!(members(CharSet::GROUP), with("-.+_"));
        assert_eq!(members(CharSet::FIELD), with("$-_.+!*'(),?:@&"));
        assert_eq!(members(CharSet::HEX), "0123456789ABCDEFabcdef");
    }
}
