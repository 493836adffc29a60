//! The text around a URL.

/// How many bytes at the start of `bytes` (or, from the end, `back` ones) can go without dividing a character.
#[must_use]
pub fn context_border(octets: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|&at| octets.get(at).is_none_or(|byte| byte & 0xC0 != 0x80))
        .unwrap_or(at)
}
