//! The token, the first run of characters of the next line: properties that a piece of a URL has, or other text.

mod extension;
mod host;
mod notation;
mod prose;
#[cfg(test)]
mod tests;
mod trimming;
mod url_part;

use super::line_prefix::is_word;

pub(super) use extension::has_extension;
pub(super) use host::is_top_domain;
pub(super) use trimming::bare;
pub(super) use url_part::LONG_TOKEN;

/// Bytes that no continuation begins with: they open something, or programs break lines after them.
const NEVER_FIRST: &[u8] = b"[({*|\\'^!,)]}$";

/// Minimum number of digits of an identifier.
const IDENTIFIER_DIGITS: usize = 4;

/// Minimum number of digits of a hexadecimal identifier. Git shortens names of commits to seven or more.
const HEXADECIMAL_DIGITS: usize = 7;

/// A token, as defined by [`super::Feature`].
#[derive(Clone, Copy, Debug)]
pub(super) struct ContinuationToken<'t> {
    /// The whole token. Not empty.
    pub(super) all: &'t [u8],
    /// The token without sentence punctuation at its end.
    pub(super) bare: &'t [u8],
}

impl<'t> ContinuationToken<'t> {
    /// Returns the token `all`; `None` if it is only sentence punctuation.
    pub(super) fn new(all: &'t [u8]) -> Option<ContinuationToken<'t>> {
        let bare = bare(all);
        (!bare.is_empty()).then_some(ContinuationToken { all, bare })
    }

    /// The first byte.
    pub(super) fn first(&self) -> u8 {
        self.all[0]
    }

    /// Returns `true` if the token begins with a byte that no continuation begins with, or contains no letter or digit.
    pub(super) fn is_punctuation(&self) -> bool {
        let is_text = |&byte: &u8| is_word(byte) && byte != b'_';
        NEVER_FIRST.contains(&self.first()) || !self.all.iter().any(is_text)
    }

    /// Returns `true` if the token is an identifier: a decimal number, or a hexadecimal number with digits.
    pub(super) fn is_identifier(&self) -> bool {
        let end = self
            .bare
            .iter()
            .position(|byte| b"/?#-.".contains(byte))
            .unwrap_or(self.bare.len());
        let name = &self.bare[..end];
        let decimal = IDENTIFIER_DIGITS <= name.len() && all(name, u8::is_ascii_digit);
        let hexadecimal = HEXADECIMAL_DIGITS <= name.len()
            && all(name, u8::is_ascii_hexdigit)
            && name.iter().any(u8::is_ascii_digit);
        decimal || hexadecimal
    }

    /// Returns `true` if the token has letters and digits.
    pub(super) fn is_mixed(&self) -> bool {
        self.has_digit() && self.bare.iter().any(u8::is_ascii_alphabetic)
    }

    /// Returns `true` if the token has two hyphens or more, none of them at its start.
    pub(super) fn is_hyphenated(&self) -> bool {
        self.first() != b'-' && 2 <= memchr::memchr_iter(b'-', self.bare).count()
    }

    /// Returns `true` if the token has a digit.
    pub(super) fn has_digit(&self) -> bool {
        self.bare.iter().any(u8::is_ascii_digit)
    }

    /// The text after the `=` if the token begins with a name and `=`.
    pub(super) fn assigned_value(&self) -> Option<&'t [u8]> {
        let name = self
            .all
            .iter()
            .take_while(|&&byte| is_word(byte) || b".-".contains(&byte))
            .count();
        if name == 0 {
            None
        } else {
            self.all[name..].strip_prefix(b"=")
        }
    }
}

fn all(text: &[u8], is: impl Fn(&u8) -> bool) -> bool {
    text.iter().all(is)
}
