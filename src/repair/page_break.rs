//! Page breaks: the footer, form feed and header between two printed pages of an RFC, as in RFC
//! 1738 itself.

use super::{LineEnd, line_end};

/// The kind of a line at a page break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageLine {
    Blank,
    /// A footer, or a form feed alone.
    Break,
    /// A form feed and a header on one line.
    BreakAndHeader,
    Header,
    /// Any other line.
    Text,
}

/// Returns the offset of the line after the page break that begins at `from`, the start of a line.
/// `None` if there is no page break.
///
/// A page break is a sequence of blank lines, footers, form feeds and headers with at least one
/// footer or form feed; a header counts only after one of these. Reads no line that begins at
/// `limit` or later.
pub(super) fn page_break(text: &[u8], from: usize, limit: usize) -> Option<usize> {
    let mut at = from;
    let mut broken = false;
    while at < limit.min(text.len()) {
        let LineEnd { end, next } = line_end(text, at);
        match page_line(&text[at..end]) {
            PageLine::Blank => {}
            PageLine::Break | PageLine::BreakAndHeader => broken = true,
            PageLine::Header if broken => {}
            PageLine::Header | PageLine::Text => break,
        }
        at = next;
    }
    broken.then_some(at)
}

fn page_line(line: &[u8]) -> PageLine {
    let trimmed = line.trim_ascii();
    let feed = trimmed.len() < line.len() && line.contains(&b'\x0C');
    match (trimmed.is_empty(), feed) {
        (true, true) => PageLine::Break,
        (true, false) => PageLine::Blank,
        (false, true) if is_header(trimmed) => PageLine::BreakAndHeader,
        (false, _) if is_footer(trimmed) => PageLine::Break,
        (false, _) if is_header(trimmed) => PageLine::Header,
        (false, _) => PageLine::Text,
    }
}

/// Returns `true` for a line that ends with `[Page n]` or is only `Page n`, and has no angle
/// bracket.
fn is_footer(line: &[u8]) -> bool {
    if line.iter().any(|byte| matches!(byte, b'<' | b'>')) {
        return false;
    }
    let numbered = |text: &[u8]| {
        let digits = text.trim_ascii();
        text.first() == Some(&b' ') && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    if let Some(number) = line.strip_prefix(b"Page") {
        return numbered(number);
    }
    let Some(inside) = line.strip_suffix(b"]") else {
        return false;
    };
    let open = inside.iter().rposition(|&byte| byte == b'[');
    open.is_some_and(|open| inside[open..].strip_prefix(b"[Page").is_some_and(numbered))
}

/// Returns `true` for `RFC n ... 19xx` or `20xx`, and for `INTERNET-DRAFT ...`.
fn is_header(line: &[u8]) -> bool {
    if line.len() >= 14 && line[..14].eq_ignore_ascii_case(b"INTERNET-DRAFT") {
        return true;
    }
    let numbered = line.strip_prefix(b"RFC ").is_some_and(|rest| {
        rest.trim_ascii_start()
            .first()
            .is_some_and(u8::is_ascii_digit)
    });
    let year = line.last_chunk::<4>().is_some_and(|year| {
        (year.starts_with(b"19") || year.starts_with(b"20")) && year.iter().all(u8::is_ascii_digit)
    });
    numbered && year
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_counts_only_after_a_footer_or_a_form_feed() {
        let text = b"\n\nBerners-Lee   [Page 3]\n\x0C\nRFC 1738   URL   December 1994\n\n  rest";
        assert_eq!(page_break(text, 0, 999), Some(text.len() - 6));
        assert_eq!(
            page_break(b"\nRFC 1738   URL   December 1994\n\nrest", 0, 999),
            None
        );
        assert_eq!(
            page_break(b"\x0CRFC 1738   URL   December 1994\nrest", 0, 999),
            Some(32)
        );
    }

    #[test]
    fn blank_lines_alone_are_not_a_page_break() {
        assert_eq!(page_break(b"\n\nrest", 0, 999), None);
    }
}
