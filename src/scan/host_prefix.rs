//! The search for what starts a URL without a colon: hosts that say by their first label what they
//! serve (`www.`, `ftp.`, and those with a number after it, as `www2.` and `ftp5.`, in any case), and
//! schemes whose colon is missing (`http//`).

use std::sync::LazyLock;

use super::spelling::defanged_mark;
use crate::word_search::WordSearcher;

/// Maximum number of digits of such a label: large sites had some hundreds of mirrors.
const DIGITS: usize = 3;

/// Maximum number of bytes before the dot.
pub(super) const MAX_BYTES: usize = 3 + DIGITS;

/// The first label of a host that names its service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostPrefix {
    /// The offset of the label.
    pub(super) at: usize,
    /// The scheme that it stands for.
    pub(super) scheme: &'static str,
}

/// Returns the offset of the first byte in `text` at `from` or later that ends such a label or such a
/// scheme: a dot, perhaps in brackets, or the first of two slashes.
pub(super) fn find_end(text: &[u8], from: usize) -> Option<usize> {
    let mut begin = from.saturating_sub(MAX_BYTES).min(text.len());
    while let Some(word) = WORDS.find(text, begin) {
        let end = if text[word + 1] == b'/' {
            word + 1
        } else {
            word + 3 + digits(text[word + 3..].iter())
        };
        if from <= end && text.get(end).is_some_and(|&byte| ends_word(byte)) {
            return Some(end);
        }
        begin = word + 1;
    }
    None
}

/// Returns `true` for a byte after which [`find_end`] stops: a dot, the bracket before one, or a slash.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b'.' | b'[' | b'(' | b'{' | b'/')
}

/// Returns the length of the dot at the start of `text`, perhaps with the brackets of a defanged one.
pub(super) fn dot_len(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'.' => Some(1),
        _ => defanged_mark(text)
            .filter(|mark| mark.byte == b'.')
            .map(|mark| mark.len),
    }
}

/// Returns the label that ends before the dot at `dot`.
pub(super) fn before_dot(text: &[u8], dot: usize) -> Option<HostPrefix> {
    let word = dot - digits(text[..dot].iter().rev());
    let at = word.checked_sub(3)?;
    let scheme = match [text[at] | 0x20, text[at + 1] | 0x20, text[at + 2] | 0x20] {
        [b'w', b'w', b'w'] => "http",
        [b'f', b't', b'p'] => "ftp",
        _ => return None,
    };
    Some(HostPrefix { at, scheme })
}

/// Returns the scheme that a text without one stands for, if it begins with such a label.
#[must_use]
pub(crate) fn guessed_scheme(text: &[u8]) -> Option<&'static str> {
    let dot = text
        .iter()
        .take(MAX_BYTES + 1)
        .position(|&byte| byte == b'.')?;
    before_dot(text, dot)
        .filter(|prefix| prefix.at == 0)
        .map(|prefix| prefix.scheme)
}

/// Returns the number of digits at the start of `bytes`, at most [`DIGITS`].
fn digits<'b>(bytes: impl Iterator<Item = &'b u8>) -> usize {
    bytes
        .take(DIGITS)
        .take_while(|byte| byte.is_ascii_digit())
        .count()
}

/// The sixteen spellings of `www` and `ftp`, and the ends of schemes without a colon: `p//`, `s//`.
static WORDS: LazyLock<WordSearcher> = LazyLock::new(|| {
    // All spellings are listed because the packed search does not ignore case. It puts every eighth
    // word, and all that differ from it in case alone, into one of eight classes, and stops where the
    // bytes are those of a class, mixed: with the words in this order each has a class of its own.
    let ends = ["p//", "s//", "P//", "S//"].map(|end| end.as_bytes().to_vec());
    let (first, others) = ends.split_at(2);
    let (www, ftp) = (spellings("www"), spellings("ftp"));
    let words = [&www[..1], &ftp[..1], first, &www[1..], &ftp[1..], others].concat();
    WordSearcher::new(&words)
});

/// The eight spellings of a word of three letters.
fn spellings(word: &str) -> Vec<Vec<u8>> {
    let spelling = |upper_bits: usize| {
        let letter = |(at, byte): (usize, u8)| {
            if upper_bits >> at & 1 == 1 {
                byte.to_ascii_uppercase()
            } else {
                byte
            }
        };
        word.bytes().enumerate().map(letter).collect()
    };
    (0..8).map(spelling).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_may_have_a_number() {
        for (text, dots) in [
            ("www. WWW2. Ftp15.", &[3, 9, 16][..]),
            ("www1234. ww.x wwww. xftp9.", &[18, 25]),
            ("www", &[]),
            ("www12", &[]),
            ("www[.]a http//b ftp(dot)c x://d", &[3, 12, 19]),
        ] {
            let mut found = Vec::new();
            while let Some(dot) = find_end(text.as_bytes(), found.last().map_or(0, |dot| dot + 1)) {
                found.push(dot);
            }
            assert_eq!(found, dots, "{text}");
        }
    }

    #[test]
    fn a_label_at_the_start_stands_for_a_scheme() {
        for (text, scheme) in [
            ("www.a", Some("http")),
            ("FTP12.a", Some("ftp")),
            ("awww.a", None),
            ("www1234.a", None),
            ("x", None),
        ] {
            assert_eq!(guessed_scheme(text.as_bytes()), scheme, "{text}");
        }
    }
}
