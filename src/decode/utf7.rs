//! UTF-7 (RFC 2152): browsers no longer support it, but old mail uses it.

use data_encoding::BASE64_NOPAD;

use super::MappedBytes;
use crate::span::{ByteMap, Span};

/// Decodes UTF-7: `+` begins base64 of UTF-16, up to a character that is no digit; `+-` is a plus
/// sign.
pub(super) fn decode(raw: &[u8]) -> MappedBytes {
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

    fn shown(raw: &str) -> String {
        String::from_utf8(decode(raw.as_bytes()).bytes).unwrap()
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
        let MappedBytes { bytes: text, map } = decode(raw);
        let at = text.windows(4).position(|w| w == b"http").unwrap();
        assert_eq!(
            map.raw(Span::new(at, at + 17)).of(raw),
            b"http://a.example/"
        );
    }
}
