//! mbox: messages behind `From ` lines, in all the shapes that writers give them.
//!
//! A separator stands at the start of the file or behind a blank line, begins with `From `, and is followed by a
//! header field. The rest of the line is not looked at: dates, zones, `remote from`, Mozilla's `-` and the numbers
//! of USENET archives all occur there, and body lines that begin so are followed by prose.

use memchr::memmem;

use super::{Header, Message};
use crate::origin::Kind;

/// Octets of a separator's line and the line behind it that are looked at.
const SEPARATOR_BYTES: usize = 4 << 10;

/// Gives each message of `bytes` to `sink`. `bytes` begins with a separator, but for blank lines.
pub(super) fn messages<'b>(bytes: &'b [u8], offset: u64, sink: &mut dyn FnMut(Message<'b>)) {
    let mut start = 0;
    while start < bytes.len() {
        let end = next_separator(bytes, start + 1).unwrap_or(bytes.len());
        let envelope = envelope(&bytes[start..end]);
        sink(Message {
            raw: &bytes[start + envelope..end],
            start: offset + start as u64,
            envelope,
            kind: Kind::Mbox,
            header: Header::Present,
            wire: false,
        });
        start = end;
    }
}

/// Octets of blank lines and the `From ` line at the start of a message.
fn envelope(message: &[u8]) -> usize {
    let blank = message.iter().take_while(|&&byte| matches!(byte, b'\n' | b'\r')).count();
    if !message[blank..].starts_with(b"From ") {
        return blank;
    }
    memchr::memchr(b'\n', &message[blank..]).map_or(message.len(), |end| blank + end + 1)
}

/// The first separator at `from` or behind it, `from` not being the start of the file.
pub(super) fn next_separator(bytes: &[u8], from: usize) -> Option<usize> {
    let lowest = from.saturating_sub(1);
    memmem::find_iter(&bytes[lowest..], b"\nFrom ")
        .map(|at| lowest + at + 1)
        .find(|&at| behind_blank(bytes, at) && separator(bytes, at))
}

/// The last separator behind `from` whose following line is complete.
pub(super) fn last_separator(bytes: &[u8], from: usize) -> Option<usize> {
    let mut end = bytes.len();
    while let Some(at) = memmem::rfind(&bytes[from..end], b"\nFrom ").map(|at| from + at + 1) {
        // Of a field that is cut off nobody knows whether it is one: `http:`.
        let complete = bytes.len() - at > SEPARATOR_BYTES || memchr::memchr_iter(b'\n', &bytes[at..]).nth(1).is_some();
        if complete && behind_blank(bytes, at) && separator(bytes, at) {
            return Some(at);
        }
        end = at + 4;
    }
    None
}

/// Whether the line before `at` is blank. LF and CRLF may be mixed.
fn behind_blank(bytes: &[u8], at: usize) -> bool {
    let Some(before) = bytes[..at].strip_suffix(b"\n") else { return at == 0 };
    let before = before.strip_suffix(b"\r").unwrap_or(before);
    before.is_empty() || before.ends_with(b"\n")
}

/// Whether a `From ` line stands at `at`, with a header field or a quoted `From ` line on the next line.
pub(super) fn separator(bytes: &[u8], at: usize) -> bool {
    let window = &bytes[at..bytes.len().min(at + SEPARATOR_BYTES)];
    if !window.starts_with(b"From ") {
        return false;
    }
    let Some(end) = memchr::memchr(b'\n', window) else { return false };
    let next = &window[end + 1..];
    let line = &next[..memchr::memchr(b'\n', next).unwrap_or(next.len())];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.starts_with(b">From ") || (is_field(line) && !looks_like_url(line))
}

/// Whether a line begins with a field's name and its colon (RFC 5322 section 2.2), and a blank or nothing behind
/// it, or a name that only a field has.
///
/// Without the blank, `http://x`, `10:30` and `std::string` would be fields too.
pub(super) fn is_field(line: &[u8]) -> bool {
    const LONGEST_NAME: usize = 76;
    let name = line
        .iter()
        .take(LONGEST_NAME)
        .take_while(|&&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        .count();
    let blanks = line[name..].iter().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
    if name == 0 || !line[0].is_ascii_alphabetic() || line.get(name + blanks) != Some(&b':') {
        return false;
    }
    matches!(line.get(name + blanks + 1), None | Some(b' ' | b'\t' | b'\r'))
        || (blanks == 0 && line[..name].contains(&b'-'))
        || is_old_name(&line[..name])
}

/// Names that writers of old put a value right behind.
fn is_old_name(name: &[u8]) -> bool {
    [&b"from"[..], b"to", b"date", b"subject", b"path", b"received", b"newsgroups", b"sender", b"status"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
}

/// `svn+ssh://...` and the like: a name with a hyphen and `//` behind its colon.
fn looks_like_url(line: &[u8]) -> bool {
    memchr::memchr(b':', line).is_some_and(|colon| line[colon + 1..].starts_with(b"//"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The start of each message, of its raw octets, and its end.
    fn divided(text: &str) -> Vec<(u64, u64, u64)> {
        let mut seen = Vec::new();
        messages(text.as_bytes(), 100, &mut |message| seen.push((message.start, message.raw_start(), message.end())));
        seen
    }

    #[test]
    fn every_shape_of_from_line_divides() {
        for line in ["a@b Mon Jan  1 00:00:00 1996", "- Mon", "-8946248053963491671", "x remote from y", ""] {
            let text = format!("From {line}\nA: b\n\nx\n\nFrom {line}\nA: b\n\ny\n");
            assert_eq!(divided(&text).len(), 2, "{line}");
            assert_eq!(divided(&text.replace('\n', "\r\n")).len(), 2, "{line} CRLF");
        }
    }

    #[test]
    fn body_lines_do_not_divide() {
        for body in
            ["From here on\nit is prose", "From x\n10:30 it was", "From x\nhttp://a.example/", "x\nFrom y\nA: b"]
        {
            assert_eq!(divided(&format!("From a\nA: b\n\n{body}\n")).len(), 1, "{body}");
        }
    }

    #[test]
    fn offsets_are_the_sources() {
        assert_eq!(divided("From a\nA: b\n\nFrom c\nD: e\n"), [(100, 107, 113), (113, 120, 125)]);
    }
}
