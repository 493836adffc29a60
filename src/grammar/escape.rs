//! `escape = "%" hex hex`, both ways (RFC 1738 section 2.2).

use super::chars::CharSet;

/// The longest run of members of `set` and of escapes at the start of `input`, and what follows it.
///
/// It stops before a `%` without two hexadecimal digits. Linear, allocates nothing.
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

/// The byte that the escape at the start of `input` stands for, if there is one.
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

/// The bytes of `text` with its escapes undone once: `%2541` gives `%41`.
///
/// A `%` that begins no escape stays as it is.
#[must_use]
pub fn decode(text: &[u8]) -> Vec<u8> {
    let mut octets = Vec::with_capacity(text.len());
    let (plain, mut rest) = text.split_at(
        text.iter()
            .position(|&byte| byte == b'%')
            .unwrap_or(text.len()),
    );
    octets.extend_from_slice(plain);
    while let Some((&first, after)) = rest.split_first() {
        match escaped_byte(rest) {
            Some(decoded) => {
                octets.push(decoded);
                rest = &rest[3..];
            }
            None => {
                octets.push(first);
                rest = after;
            }
        }
    }
    octets
}

/// Appends `text` in the form used for comparing: escapes of unreserved characters undone, the others in
/// upper-case hexadecimal (section 2.2: both spellings mean the same; RFC 3986 section 6.2.2.2 adds `~`).
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
    fn the_normal_form_undoes_only_what_need_not_be_escaped() {
        let mut out = b"%7e".to_vec();
        normalize(b"%7euser%2fx%41%", &mut out);
        assert_eq!(out, b"%7e~user%2FxA%");
    }
}
