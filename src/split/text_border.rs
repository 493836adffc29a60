//! The place at which a text that is too long to be read at once is cut.

use crate::limits::OPEN_WRAPPER_BYTES;

/// Returns the position at which to cut `text` so that no URL is divided: after a blank line outside a wrapper, else after a line
/// outside one, else after any line, else after a word, else at the end.
pub(crate) fn text_border(text: &[u8]) -> usize {
    /// Bytes at the end that are searched.
    const TAIL_BYTES: usize = 256 << 10;
    /// Borders of one kind that are tried.
    const MAX_TRIES: usize = 64;
    let lowest = text.len().saturating_sub(TAIL_BYTES).max(1);
    let tail = &text[lowest..];
    let is_outside_wrapper = |at: usize| {
        let before = &text[(lowest + at).saturating_sub(OPEN_WRAPPER_BYTES)..lowest + at];
        memchr::memrchr(b'<', before) <= memchr::memrchr(b'>', before)
    };
    let blank_line = memchr::memrchr_iter(b'\n', tail)
        .filter_map(|at| {
            let above = tail[..at].strip_suffix(b"\r").unwrap_or(&tail[..at]);
            above.ends_with(b"\n").then(|| above.len() - 1)
        })
        .take(MAX_TRIES)
        .find(|&at| is_outside_wrapper(at));
    let lines = memchr::memrchr_iter(b'\n', tail).take(MAX_TRIES);
    let line = || {
        let outside = lines.clone().find(|&at| is_outside_wrapper(at));
        outside.or_else(|| lines.clone().next())
    };
    let word = || memchr::memrchr3(b' ', b'>', b'"', tail);
    blank_line
        .or_else(line)
        .or_else(word)
        .map_or(text.len(), |at| lowest + at + 1)
}
