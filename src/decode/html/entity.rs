//! Character references: which bytes of an HTML text each byte of its meaning came from.
//!
//! The tokeniser undoes them; this finds out where they stood.

use crate::span::{ByteMap, Span};

/// Bytes behind a reference that are compared to find where its meaning ends.
const COMPARED: usize = 16;

/// Bytes of the longest meaning of a reference: two characters of four.
const LONGEST_MEANING: usize = 8;

/// Bytes of the longest reference, `&CounterClockwiseContourIntegral;`.
const LONGEST_REFERENCE: usize = 34;

/// Adds to `map` where the bytes of `meaning`, which will stand at `text`, came from: `raw`, the first byte of which
/// lies at `start`.
///
/// Line ends and references may differ between the two. What cannot be told apart is one run as a whole.
pub(super) fn align(raw: &[u8], start: usize, meaning: &[u8], text: usize, map: &mut ByteMap) {
    let (mut r, mut m) = (0, 0);
    while r < raw.len() && m < meaning.len() {
        let plain = raw[r..]
            .iter()
            .zip(&meaning[m..])
            .take_while(|(a, b)| a == b && **a != b'&')
            .count();
        if plain > 0 {
            map.push_same(text + m, start + r);
            (r, m) = (r + plain, m + plain);
            continue;
        }
        let (used, means) = match raw[r] {
            // The tokeniser gives LF for CRLF.
            b'\r' if meaning[m] == b'\n' => (if raw.get(r + 1) == Some(&b'\n') { 2 } else { 1 }, 1),
            b'&' => match reference(&raw[r..], &meaning[m..]) {
                Some(found) => found,
                None => break,
            },
            _ => break,
        };
        map.push_whole(text + m, Span::new(start + r, start + r + used));
        (r, m) = (r + used, m + means);
    }
    if m < meaning.len() {
        map.push_whole(
            text + m,
            Span::new(start + r.min(raw.len()), start + raw.len()),
        );
    }
}

/// Bytes of the reference (or the mere `&`) at the start of `raw`, and of its meaning at the start of `meaning`.
fn reference(raw: &[u8], meaning: &[u8]) -> Option<(usize, usize)> {
    let goes_on = |used: usize, means: usize| {
        let rest = &raw[used..];
        let len = rest
            .iter()
            .take(COMPARED)
            .take_while(|byte| !matches!(byte, b'&' | b'\r'))
            .count();
        meaning.len() >= means
            && meaning[means..].starts_with(&rest[..len.min(meaning.len() - means)])
            && len <= meaning.len() - means
    };
    let name = raw[1..]
        .iter()
        .take(LONGEST_REFERENCE)
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'#')
        .count()
        + 1;
    let with_semicolon = (raw.get(name) == Some(&b';')).then_some(name + 1);
    // With a semicolon, without one, and for old names (`&copy2`) only the first letters.
    let ends = with_semicolon.into_iter().chain((2..=name).rev());
    let as_reference = ends
        .flat_map(|used| (1..=LONGEST_MEANING.min(meaning.len())).map(move |means| (used, means)));
    let literal = (meaning.first() == Some(&b'&')).then_some((1, 1));
    // A mere `&` is the likeliest when what follows it stands there as it is.
    literal
        .into_iter()
        .chain(as_reference)
        .find(|&(used, means)| goes_on(used, means))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, meaning: &str, part: &str, want: &str) {
        let mut map = ByteMap::new();
        align(raw.as_bytes(), 0, meaning.as_bytes(), 0, &mut map);
        map.push_same(meaning.len(), raw.len());
        let at = meaning.find(part).unwrap();
        assert_eq!(
            String::from_utf8_lossy(map.raw(Span::new(at, at + part.len())).of(raw.as_bytes())),
            want
        );
    }

    #[test]
    fn each_reference_is_one_run() {
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
}
