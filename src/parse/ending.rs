//! Where a bare URL ends: what stands before it, and what clings to its end.

use crate::repair::url_run_end;
use crate::scan::Rules;

/// Where a word's URL ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// Bytes of the URL.
    pub(super) url: usize,
    /// Bytes up to which the word was the URL's before punctuation came off its end.
    pub(super) word: usize,
}

/// The end of the URL at the start of `word`; `before` is the byte that stands before it.
///
/// Reads the word a fixed number of times.
pub(super) fn end(word: &[u8], before: Option<u8>, rules: Rules) -> End {
    let whole = url_run_end(word, 0, before, rules, usize::MAX);
    End {
        url: trimmed(&word[..whole], before, rules),
        word: whole,
    }
}

/// The same for a word that goes no further than its run of characters, as one that was not joined.
pub(super) fn end_of_run(word: &[u8], before: Option<u8>, rules: Rules) -> End {
    debug_assert_eq!(
        url_run_end(word, 0, before, rules, usize::MAX),
        word.len(),
        "{}",
        word.escape_ascii()
    );
    End {
        url: trimmed(word, before, rules),
        word: word.len(),
    }
}

/// Bytes left when sentence punctuation, and closers of what was not opened inside, have come off the end
/// (`spec/appendix-rules.md` 13).
fn trimmed(word: &[u8], before: Option<u8>, rules: Rules) -> usize {
    // Counted when the first bracket is met: most words end in none.
    let mut counted = None;
    let mut end = word.len();
    while let Some(&last) = word[..end].last() {
        let off = match last {
            b'.' | b',' | b';' | b':' | b'!' | b'?' | b'\'' => true,
            b')' | b']' | b'}' => counted
                .get_or_insert_with(|| Brackets::of(&word[..end]))
                .take(last),
            b'|' | b'\\' => rules == Rules::Wide,
            b'*' | b'_' => {
                rules == Rules::Wide && (before == Some(last) || last == b'*' && is_pair(word, end))
            }
            _ => false,
        };
        if !off {
            break;
        }
        end -= 1;
    }
    end
}

/// Whether the asterisk before `end` is one of two that close bold type.
fn is_pair(word: &[u8], end: usize) -> bool {
    word[..end].ends_with(b"**") || word.get(end) == Some(&b'*')
}

/// How many more brackets of each sort are closed than opened.
struct Brackets {
    round: i32,
    square: i32,
    curly: i32,
}

impl Brackets {
    fn of(word: &[u8]) -> Brackets {
        let mut counts = Brackets {
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

    /// Takes a closer away, if there are more than openers of its sort.
    fn take(&mut self, closer: u8) -> bool {
        let surplus = match closer {
            b')' => &mut self.round,
            b']' => &mut self.square,
            _ => &mut self.curly,
        };
        let too_much = *surplus > 0;
        *surplus -= i32::from(too_much);
        too_much
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `|` marks where the URL ends; the first character is what stands before it.
    #[track_caller]
    fn check(marked: &str) {
        let (before, marked) = marked.split_at(1);
        let word = marked.replacen('‖', "", 1);
        let end = end(word.as_bytes(), before.bytes().next(), Rules::Wide);
        let mut shown = word.clone();
        shown.insert(end.url, '‖');
        assert_eq!(shown, marked);
    }

    #[test]
    fn sentence_punctuation_is_not_the_urls() {
        check(" http://a.example/b‖.");
        check(" http://a.example/b‖?!");
        check(" http://a.example/b‖'");
    }

    #[test]
    fn what_can_end_a_url_stays() {
        for last in ["-", "_", "/", "=", "&", "+", "#", "~", "*"] {
            check(&format!(" http://a.example/b{last}‖"));
        }
    }

    #[test]
    fn closers_belong_to_what_opened_them() {
        check(" http://a.example/b_(c)‖");
        check("(http://a.example/b_(c)‖).");
        check("(http://a.example/b‖),(see");
        check("[http://a.example/b‖](http://b.example)");
        check(" http://a.example/b‖)");
        check("'http://a.example/b‖'s");
    }

    #[test]
    fn emphasis_comes_off_in_pairs() {
        check("*http://a.example/b‖*");
        check("_http://a.example/b‖_");
        check(" http://a.example/b_‖");
        check(" http://a.example/b‖**");
    }

    #[test]
    fn a_list_is_cut_where_the_next_url_begins() {
        check(" http://a.example/‖,http://b.example/");
        check(" http://web.example/2001/http://b.example/‖");
        check(" http://a.example/?u=http://b.example‖");
        check(" http://a.example/‖&gt;");
    }
}
