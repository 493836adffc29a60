//! The character classes of RFC 1738 section 5: one readable function, and the table computed from
//! it.

/// A character class, or several: a set of bits, one for each class. A lookup in one table tests
/// any of them.
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

    /// Returns `true` if `byte` is in the class. `%` is in none: `escape` reads escapes.
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
