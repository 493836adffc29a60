//! `escape = "%" hex hex`: decoding and normalization (RFC 1738 section 2.2).

use super::chars::CharSet;

/// Splits `input` after the longest prefix of members of `set` and escapes.
///
/// Stops before a `%` that two hexadecimal digits do not follow. Linear; allocates nothing.
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
/// use urlspool::grammar::escaped_byte;
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

/// Encodes the bytes of `text` that `is_kept` refuses: a space becomes `%20`.
pub(crate) fn encode(text: &[u8], is_kept: impl Fn(u8) -> bool) -> String {
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
/// A `%` that does not begin an escape is kept.
///
/// ```
/// assert_eq!(urlspool::grammar::decode(b"a%20b%zz"), b"a b%zz");
/// ```
#[must_use]
pub fn decode(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let (plain, mut rest) = text.split_at(
        text.iter()
            .position(|&byte| byte == b'%')
            .unwrap_or(text.len()),
    );
    decoded.extend_from_slice(plain);
    while let Some((&first, after)) = rest.split_first() {
        match escaped_byte(rest) {
            Some(byte) => {
                decoded.push(byte);
                rest = &rest[3..];
            }
            None => {
                decoded.push(first);
                rest = after;
            }
        }
    }
    decoded
}

/// Appends `text` to `out` in the form used for comparing URLs.
///
/// Escapes of unreserved characters are decoded, all others are written in upper-case hexadecimal.
/// Both spellings mean the same by section 2.2; RFC 3986 section 6.2.2.2 adds `~` to the characters
/// decoded.
///
/// ```
/// let mut key = Vec::new();
/// urlspool::grammar::normalize(b"/%7euser%2fx", &mut key);
/// assert_eq!(key, b"/~user%2Fx");
/// ```
pub fn normalize(text: &[u8], out: &mut Vec<u8>) {
    let (plain, mut rest) = text.split_at(
        text.iter()
            .position(|&byte| byte == b'%')
            .unwrap_or(text.len()),
    );
    out.extend_from_slice(plain);
    while let Some((&first, after)) = rest.split_first() {
        match escaped_byte(rest) {
            Some(decoded) => {
                if CharSet::UCHAR.has(decoded) || decoded == b'~' {
                    out.push(decoded);
                } else {
                    out.extend([
                        b'%',
                        rest[1].to_ascii_uppercase(),
                        rest[2].to_ascii_uppercase(),
                    ]);
                }
                rest = &rest[3..];
            }
            None => {
                out.push(first);
                rest = after;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_is_done_once() {
        assert_eq!(decode(b"%2541%zz%4"), b"%41%zz%4");
        assert_eq!(decode(b"%00%fF"), b"\x00\xFF");
    }

    #[test]
    fn only_escapes_of_unreserved_characters_are_decoded_by_normalize() {
        let mut out = b"%7e".to_vec();
        normalize(b"%7euser%2fx%41%", &mut out);
        assert_eq!(out, b"%7e~user%2FxA%");
    }
}
