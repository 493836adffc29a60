//! Lines of a text, runs of bytes at either end, and the place at which to cut a text that is too
//! long to be read at once.

pub(crate) use urlspool_text::byte_scan::starts_with_caseless as begins_with;
use urlspool_text::limits::OPEN_WRAPPER_BYTES;

/// Returns the offset after the line that contains `at`: after its LF, or the end of the text.
pub(crate) fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end + 1)
}

/// Returns the first line of a text, without its LF.
pub(crate) fn first_line(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())]
}

/// Returns the length of the prefix of `text` whose bytes are all `is_part`.
pub(crate) fn run_len(text: &[u8], is_part: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|&&byte| is_part(byte)).count()
}

/// Returns the length of the suffix of `text` whose bytes are all `is_part`.
pub(crate) fn end_run_len(text: &[u8], is_part: impl Fn(u8) -> bool) -> usize {
    text.iter().rev().take_while(|&&byte| is_part(byte)).count()
}

/// Returns `true` for a space or a tab.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns `true` for LF or CR.
pub(crate) fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns `true` if a name is in `list`, which holds lower-case names separated by blanks. The
/// case of the name does not matter.
pub(crate) fn is_listed(list: &str, name: &[u8]) -> bool {
    let list = list.as_bytes();
    let Some(first) = name.first().filter(|first| first.is_ascii_graphic()) else {
        return false;
    };
    memchr::memchr_iter(first.to_ascii_lowercase(), list).any(|at| {
        let (before, rest) = list.split_at(at);
        matches!(before, [] | [.., b' '])
            && begins_with(rest, name)
            && matches!(rest[name.len()..], [] | [b' ', ..])
    })
}

/// Returns `true` if `at` is the start of a line.
pub(crate) fn is_line_start(text: &[u8], at: usize) -> bool {
    at == 0 || text[at - 1] == b'\n'
}

/// Decodes two hexadecimal digits at the start of a text.
pub(crate) fn hex_pair(text: &[u8]) -> Option<u8> {
    let (high, low) = (*text.first()?, *text.get(1)?);
    let value = char::from(high).to_digit(16)? * 16 + char::from(low).to_digit(16)?;
    Some(value as u8)
}

/// Returns the position at which to cut `text` without dividing a URL. Prefers a blank line outside
/// a wrapper, then any line outside one, then any line, then a word, then the end.
pub(crate) fn text_border(text: &[u8]) -> usize {
    /// Number of bytes searched at the end of the text.
    const TAIL_BYTES: usize = 256 << 10;
    /// Maximum number of borders of one kind to try.
    const MAX_TRIES: usize = 64;
    let lowest = text.len().saturating_sub(TAIL_BYTES).max(1);
    let tail = &text[lowest..];
    let blank_line = memchr::memrchr_iter(b'\n', tail)
        .filter_map(|at| {
            let above = tail[..at].strip_suffix(b"\r").unwrap_or(&tail[..at]);
            above.ends_with(b"\n").then(|| above.len() - 1)
        })
        .take(MAX_TRIES)
        .find(|&at| is_outside_wrapper(text, lowest + at));
    let mut lines = memchr::memrchr_iter(b'\n', tail).take(MAX_TRIES);
    let mut outside = lines.clone();
    blank_line
        .or_else(|| outside.find(|&at| is_outside_wrapper(text, lowest + at)))
        .or_else(|| lines.next())
        .or_else(|| memchr::memrchr3(b' ', b'>', b'"', tail))
        .map_or(text.len(), |at| lowest + at + 1)
}

/// Returns `true` if no `<` is open at `at`.
fn is_outside_wrapper(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(OPEN_WRAPPER_BYTES)..at];
    memchr::memrchr(b'<', before) <= memchr::memrchr(b'>', before)
}
