//! Lines and white space: line ends, line starts, and blank characters.

use memchr::memrchr2;

use crate::limits::LINE_LOOKBACK_BYTES;

/// Returns the start of the line that contains `at`; `None` if it is more than [`LINE_LOOKBACK_BYTES`] before `at`.
pub(in crate::repair) fn line_start(text: &[u8], at: usize) -> Option<usize> {
    let lowest = at.saturating_sub(LINE_LOOKBACK_BYTES);
    match memrchr2(b'\n', b'\r', &text[lowest..at]) {
        Some(end) => Some(lowest + end + 1),
        None if lowest == 0 => Some(0),
        None => None,
    }
}

/// The end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::repair) struct LineEnd {
    /// The offset of the line end, or the length of the text.
    pub(in crate::repair) end: usize,
    /// The offset of the next line, or the length of the text.
    pub(in crate::repair) next: usize,
}

/// Returns the end of the line that contains `at`. LF, CR and CRLF end lines.
pub(in crate::repair) fn line_end(text: &[u8], at: usize) -> LineEnd {
    match memchr::memchr2(b'\n', b'\r', &text[at..]).map(|end| at + end) {
        None => LineEnd {
            end: text.len(),
            next: text.len(),
        },
        Some(end) if text[end..].starts_with(b"\r\n") => LineEnd { end, next: end + 2 },
        Some(end) => LineEnd { end, next: end + 1 },
    }
}

/// Returns `true` for ASCII white space that does not end a line: space, tab, form feed, vertical tab.
pub(in crate::repair) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\x0C' | b'\x0B')
}

/// Returns `true` for CR and LF.
pub(in crate::repair) const fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The length of the character at the start of `text` if it is white space by Unicode and does not end a line; otherwise 0.
pub(crate) fn whitespace_len(text: &[u8]) -> usize {
    match text {
        [b'\t' | 0x0B | 0x0C | 0x1C..=0x1F | b' ', ..] => 1,
        [0xC2, 0x85 | 0xA0, ..] => 2,
        [0xE1, 0x9A, 0x80, ..]
        | [0xE2, 0x80, 0x80..=0x8A | 0xA8 | 0xA9 | 0xAF, ..]
        | [0xE2, 0x81, 0x9F, ..]
        | [0xE3, 0x80, 0x80, ..] => 3,
        _ => 0,
    }
}
