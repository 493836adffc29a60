//! Words and labels of prose in a token.

use super::{ContinuationToken, all};

/// Frequent English words that continue a sentence after a URL. URLs do not end with them. `a` and `i` are missing because
/// they can be letters of a URL.
const STOP_WORDS: [&str; 35] = [
    "an", "and", "are", "as", "at", "but", "by", "can", "for", "from", "has", "have", "if", "in",
    "into", "is", "it", "its", "of", "on", "or", "so", "that", "the", "then", "there", "this",
    "to", "via", "was", "we", "were", "which", "with", "you",
];

impl ContinuationToken<'_> {
    /// Returns `true` if the token is one or two letters or digits, and no word.
    pub(in crate::repair::continuation) fn is_tiny(&self) -> bool {
        self.bare.len() <= 2
            && all(self.bare, |byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit()
            })
            && !self.is_stop_word()
            && ![&b"a"[..], b"i", b"me", b"my", b"no", b"ok", b"us"].contains(&self.bare)
    }

    /// Returns `true` if the token is a word of small letters.
    pub(in crate::repair::continuation) fn is_small_word(&self) -> bool {
        all(self.bare, u8::is_ascii_lowercase)
    }

    /// Returns `true` if the token is two words with a slash between them.
    pub(in crate::repair::continuation) fn is_word_pair(&self) -> bool {
        let mut words = self.bare.split(|&byte| byte == b'/');
        let word = |word: Option<&[u8]>| {
            word.is_some_and(|word| !word.is_empty() && all(word, u8::is_ascii_alphabetic))
        };
        word(words.next()) && word(words.next()) && words.next().is_none()
    }

    /// Returns `true` if the token is a word that begins with a capital letter: `Index`, `Mary-Jane`, `O'Hara`.
    pub(in crate::repair::continuation) fn is_capitalized(&self) -> bool {
        let mut parts = self.bare.split(|byte| b"'-".contains(byte));
        self.bare[0].is_ascii_uppercase()
            && parts.all(|part| !part.is_empty() && all(part, u8::is_ascii_alphabetic))
    }

    /// Returns `true` if the token is a word, a colon, and more text.
    pub(in crate::repair::continuation) fn is_labelled(&self) -> bool {
        let name = self
            .all
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'-')
            .count();
        self.first().is_ascii_alphabetic()
            && self.all[name..].starts_with(b":")
            && self.all.len() > name + 1
    }

    /// Returns `true` if the token is one of [`STOP_WORDS`].
    pub(in crate::repair::continuation) fn is_stop_word(&self) -> bool {
        STOP_WORDS
            .iter()
            .any(|word| word.as_bytes().eq_ignore_ascii_case(self.bare))
    }
}
