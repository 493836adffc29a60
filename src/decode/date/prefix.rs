//! Numbers and names of months at the start of a text.

/// A value at the start of a text, and the text after it.
pub(super) struct DatePrefix<'t> {
    pub(super) value: i32,
    pub(super) rest: &'t [u8],
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// The number at the start of a text; `None` if its number of digits is not in `len`.
pub(super) fn number(text: &[u8], len: std::ops::RangeInclusive<usize>) -> Option<DatePrefix<'_>> {
    let digits = text
        .iter()
        .take(len.end() + 1)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let (number, rest) = text.split_at(digits);
    let value = number
        .iter()
        .fold(0, |value, digit| value * 10 + i32::from(digit - b'0'));
    len.contains(&digits).then_some(DatePrefix { value, rest })
}

/// The month whose name a word begins with, in upper or lower case; January is 1.
pub(super) fn month_of(word: &[u8]) -> Option<i8> {
    let start = word.first_chunk::<3>()?;
    MONTHS
        .iter()
        .position(|name| name.as_bytes().eq_ignore_ascii_case(start))
        .map(|month| month as i8 + 1)
}
