//! CR line ends, as on the Macintosh of the 1980s and 1990s.

/// Returns `true` if the first line of a source ends in a CR that no LF follows.
#[must_use]
pub fn has_cr_line_ends(start: &[u8]) -> bool {
    let Some(first) = memchr::memchr2(b'\r', b'\n', start) else {
        return false;
    };
    start[first] == b'\r' && start.get(first + 1).is_some_and(|&next| next != b'\n')
}

/// Replaces every CR that is not followed by LF with LF, in place: offsets do not change.
///
/// A CR at the very end stays, because the byte after it is not known.
pub fn cr_to_lf(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\r', &bytes[at..]).map(|found| at + found) {
        if bytes.get(found + 1).is_some_and(|&next| next != b'\n') {
            bytes[found] = b'\n';
        }
        at = found + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriage_returns_alone_become_line_feeds() {
        let mut text = b"a\rb\r\nc\r\rd\r".to_vec();
        cr_to_lf(&mut text);
        assert_eq!(text, b"a\nb\r\nc\n\nd\r");
        assert!(
            has_cr_line_ends(b"a\rb")
                && !has_cr_line_ends(b"a\r\nb")
                && !has_cr_line_ends(b"a\nb\r")
                && !has_cr_line_ends(b"a\r")
        );
    }
}
