//! News articles: wire format, in which servers store articles as they received them (RFC 3977 section 3.1.1), and
//! A news, whose header had no field names (RFC 850 section 2).

/// Returns `true` if a whole article is in wire format: its first line ends in CRLF, and its last line is a lone `.`.
pub(super) fn is_wire(bytes: &[u8]) -> bool {
    let first = memchr::memchr(b'\n', bytes);
    first.is_some_and(|end| bytes[..end].ends_with(b"\r")) && bytes.ends_with(b"\r\n.\r\n")
}

/// Returns the article without its final `.` line.
pub(super) fn without_terminator(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b".\r\n").unwrap_or(bytes)
}

/// Returns `true` if the bytes begin as an article of A news does: `A` with a site's name and a number, newsgroups, path, date,
/// title.
pub(super) fn is_a_news(bytes: &[u8]) -> bool {
    /// Bytes that contain the five lines.
    const HEADER_BYTES: usize = 2 << 10;
    let mut lines = bytes[..bytes.len().min(HEADER_BYTES)]
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii_end);
    let mut next = || lines.next().unwrap_or_default();
    let is_id = |line: &[u8]| {
        let Some(dot) = memchr::memrchr(b'.', line) else {
            return false;
        };
        let (site, number) = (line.get(1..dot).unwrap_or_default(), &line[dot + 1..]);
        !site.is_empty()
            && site
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
            && !number.is_empty()
            && number.iter().all(u8::is_ascii_digit)
    };
    let is_word = |line: &[u8]| !line.is_empty() && line.iter().all(u8::is_ascii_graphic);
    bytes.starts_with(b"A")
        && is_id(next())
        && Some(next()).is_some_and(|groups| is_word(groups) && !groups.contains(&b':'))
        && Some(next()).is_some_and(|path| is_word(path) && path.contains(&b'!'))
        && next().windows(3).any(|window| {
            window[0].is_ascii_digit() && window[1] == b':' && window[2].is_ascii_digit()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_news_is_detected_by_its_five_lines() {
        let article = "Aeagle.642\nnet.general\ncbosg!mhuxj!eagle!jerry\nFri Nov 19 16:14:55 1982\nEtiquette\nx\n";
        assert!(
            is_a_news(article.as_bytes()) && is_a_news(article.replace('\n', "\r\n").as_bytes())
        );
        for other in [
            "A note.\n\nabout!that\n10:30\n",
            "About.1\n\n\n\n",
            "A.1\na b\nc!d\n10:30\n",
            "",
        ] {
            assert!(!is_a_news(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn wire_format_is_detected_by_its_last_line() {
        assert!(
            is_wire(b"A: b\r\n\r\nx\r\n.\r\n")
                && !is_wire(b"A: b\n\nx\n.\n")
                && !is_wire(b"A: b\r\n\r\nx\r\n")
        );
        assert_eq!(
            without_terminator(b"A: b\r\n\r\nx\r\n.\r\n"),
            b"A: b\r\n\r\nx\r\n"
        );
    }
}
