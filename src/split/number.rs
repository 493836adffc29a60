//! Numbers that state the length of a message.

/// Parses a decimal number between optional blanks. `None` if there is anything else, or too many digits.
pub(super) fn decimal(text: &[u8]) -> Option<usize> {
    /// Fewer than 10^15 bytes fit in any file.
    const MAX_DIGITS: usize = 15;
    let digits = text.trim_ascii();
    let is_number =
        !digits.is_empty() && digits.len() <= MAX_DIGITS && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| {
        digits
            .iter()
            .fold(0, |value, digit| value * 10 + usize::from(digit - b'0'))
    })
}
