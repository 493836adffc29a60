//! The end of a bare URL, which depends on the text before it and on the punctuation and markup at its end.

use super::markup::{end_before_markup, invisible_tail_len};
use crate::repair::url_run_end;
use crate::scan::Rules;

/// The end of a word's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UrlEnd {
    /// Length in bytes of the URL.
    pub(super) url: usize,
    /// Length in bytes of the word before punctuation was trimmed off its end.
    pub(super) word: usize,
}

/// Returns the end of the URL at the start of `word`; `prior` is the text before the word.
///
/// Reads the word a fixed number of times.
pub(super) fn end(word: &[u8], prior: &[u8], rules: Rules) -> UrlEnd {
    let whole = url_run_end(word, 0, prior.last().copied(), rules, usize::MAX);
    end_in_run(&word[..whole], prior, rules)
}

/// Does the same as [`end`] for a word that ends with its run of characters, as one without joins does.
pub(super) fn end_of_run(word: &[u8], prior: &[u8], rules: Rules) -> UrlEnd {
    debug_assert_eq!(
        url_run_end(word, 0, prior.last().copied(), rules, usize::MAX),
        word.len(),
        "{}",
        word.escape_ascii()
    );
    end_in_run(word, prior, rules)
}

/// Returns the end of the URL at the start of a run of characters.
fn end_in_run(run: &[u8], prior: &[u8], rules: Rules) -> UrlEnd {
    let word = match rules {
        Rules::Wide => end_before_markup(run, prior),
        Rules::Rfc1738 => run.len(),
    };
    UrlEnd {
        url: trimmed(&run[..word], prior.last().copied(), rules),
        word,
    }
}

/// Returns the length of `word` without the sentence punctuation at its end and without closing brackets that were not
/// opened in it. RFC 1738 leaves this to the reader (appendix).
pub(super) fn trimmed(word: &[u8], before: Option<u8>, rules: Rules) -> usize {
    // Counted at the first bracket: most words end with none.
    let mut counted = None;
    let mut end = word.len();
    while let Some(&last) = word[..end].last() {
        let is_trimmed = match last {
            b'.' | b',' | b';' | b':' | b'!' | b'?' | b'\'' => true,
            b')' | b']' | b'}' => counted
                .get_or_insert_with(|| BracketSurplus::of(&word[..end]))
                .take(last),
            // An opening bracket begins what follows the URL.
            b'|' | b'\\' | b'(' | b'[' | b'{' => rules == Rules::Wide,
            b'*' | b'_' => {
                rules == Rules::Wide && (before == Some(last) || last == b'*' && is_pair(word, end))
            }
            0x80.. if rules == Rules::Wide => {
                let invisible = invisible_tail_len(&word[..end]);
                // The last byte is taken off below.
                end -= invisible.saturating_sub(1);
                invisible > 0
            }
            _ => false,
        };
        if !is_trimmed {
            break;
        }
        end -= 1;
    }
    end
}

/// Returns `true` if the asterisk before `end` is one of two that close bold type.
fn is_pair(word: &[u8], end: usize) -> bool {
    word[..end].ends_with(b"**") || word.get(end) == Some(&b'*')
}

/// Surplus of closing over opening brackets, for each kind.
struct BracketSurplus {
    round: i32,
    square: i32,
    curly: i32,
}

impl BracketSurplus {
    fn of(word: &[u8]) -> BracketSurplus {
        let mut counts = BracketSurplus {
            round: 0,
            square: 0,
            curly: 0,
        };
        for &byte in word {
            match byte {
                b'(' => counts.round -= 1,
                b')' => counts.round += 1,
                b'[' => counts.square -= 1,
                b']' => counts.square += 1,
                b'{' => counts.curly -= 1,
                b'}' => counts.curly += 1,
                _ => {}
            }
        }
        counts
    }

    /// Removes a closing bracket, if there is a surplus of its kind. Returns `true` if it did.
    fn take(&mut self, closer: u8) -> bool {
        let surplus = match closer {
            b')' => &mut self.round,
            b']' => &mut self.square,
            _ => &mut self.curly,
        };
        let is_surplus = *surplus > 0;
        *surplus -= i32::from(is_surplus);
        is_surplus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the URL ends at `‖`; the first character is the one before the URL.
    #[track_caller]
    fn check(marked: &str) {
        let (before, marked) = marked.split_at(1);
        let word = marked.replacen('‖', "", 1);
        let end = end(word.as_bytes(), before.as_bytes(), Rules::Wide);
        let mut shown = word.clone();
        shown.insert(end.url, '‖');
        assert_eq!(shown, marked);
    }

    #[test]
    fn sentence_punctuation_does_not_belong_to_the_url() {
        check(" http://a.example/b‖.");
        check(" http://a.example/b‖?!");
        check(" http://a.example/b‖'");
    }

    #[test]
    fn other_characters_may_end_a_url() {
        for last in ["-", "_", "/", "=", "&", "+", "#", "~", "*"] {
            check(&format!(" http://a.example/b{last}‖"));
        }
    }

    #[test]
    fn closing_brackets_belong_to_their_opening_ones() {
        check(" http://a.example/b_(c)‖");
        check("(http://a.example/b_(c)‖).");
        check("(http://a.example/b‖),(see");
        check("[http://a.example/b‖](http://b.example)");
        check(" http://a.example/b‖)");
        check("'http://a.example/b‖'s");
        check(" http://a.example/b‖(");
        check("(http://a.example/b_(c)‖[).");
    }

    #[test]
    fn emphasis_is_trimmed_in_pairs() {
        check("*http://a.example/b‖*");
        check("_http://a.example/b‖_");
        check(" http://a.example/b_‖");
        check(" http://a.example/b‖**");
    }

    #[test]
    fn invisible_characters_at_the_end_are_trimmed() {
        check(" http://a.example/b‖\u{200b}");
        check(" http://a.example/b‖\u{202c}\u{200e}.");
        check(" http://a.example/b‖.\u{feff}");
        check(" http://a.example/b\u{200b}c‖");
    }

    #[test]
    fn markup_around_the_url_is_trimmed() {
        check("*https://a.example/b‖**](https://a.example/b)");
        check("\"http://a.example/b‖.\\n");
    }

    #[test]
    fn an_item_of_a_list_ends_where_the_next_url_begins() {
        check(" http://a.example/‖,http://b.example/");
        check(" http://web.example/2001/http://b.example/‖");
        check(" http://a.example/?u=http://b.example‖");
        check(" http://a.example/‖&gt;");
    }
}
