//! Borders of the text around a URL.

/// Returns the largest offset up to `at` that does not divide a UTF-8 character of `text`. Text that is not UTF-8 is cut at
/// `at`.
#[must_use]
pub fn context_border(text: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|&at| text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80))
        .unwrap_or(at)
}
