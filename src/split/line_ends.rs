//! Line ends of a source: LF or CRLF, or CR as on the Macintosh of the 1980s and 1990s.

/// Line ends of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnds {
    /// LF or CRLF.
    Lf,
    /// CR, which becomes LF where the source is read.
    Cr,
}

impl LineEnds {
    /// Returns `Cr` if the first line of a source ends in a CR that no LF follows.
    pub(super) fn of(start: &[u8]) -> LineEnds {
        let first = memchr::memchr2(b'\r', b'\n', start).map_or(&[][..], |at| &start[at..]);
        match first {
            [b'\r', next, ..] if *next != b'\n' => LineEnds::Cr,
            _ => LineEnds::Lf,
        }
    }
}

/// Replaces every CR that is not followed by LF with LF, in place: offsets do not change.
///
/// A CR at the very end stays, because the byte after it is not known.
pub(super) fn cr_to_lf(bytes: &mut [u8]) {
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
        assert_eq!(LineEnds::of(b"a\rb"), LineEnds::Cr);
        for text in [&b"a\r\nb"[..], b"a\nb\r", b"a\r", b"a", b""] {
            assert_eq!(LineEnds::of(text), LineEnds::Lf, "{text:?}");
        }
    }
}
