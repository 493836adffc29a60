//! The words of a search: what a user types, as phrases that all targets find alike.
//!
//! `"two words"` are words that follow each other, `goph*` is the beginning of a word, `-lamp` must
//! not occur. All else is text.

use std::ops::Range;

use super::LoadError;
use super::words::Words;
use crate::limits::{SEARCH_PHRASE_WORDS, SEARCH_PHRASES, SEARCH_WORD_BYTES};

/// Words that follow each other in one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Phrase {
    /// At least one, as [`Words`] gives them.
    pub(super) words: Vec<String>,
    /// `true` if the last word is the beginning of one.
    pub(super) is_beginning: bool,
}

/// The phrases of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Phrases {
    /// Each must occur.
    pub(super) wanted: Vec<Phrase>,
    /// None may occur.
    pub(super) excluded: Vec<Phrase>,
}

impl Phrases {
    /// Parses arguments. One without quotes is one phrase. What has neither letters nor digits is
    /// dropped.
    pub(super) fn parse(arguments: &[String]) -> rusqlite::Result<Phrases> {
        let mut words = Words::new()?;
        let mut phrases = Phrases::default();
        for argument in arguments {
            let pieces = split_words(argument);
            let has_quotes = pieces
                .iter()
                .any(|piece| piece.strip_prefix('-').unwrap_or(piece).starts_with('"'));
            if has_quotes {
                for piece in &pieces {
                    phrases.add(piece, &mut words)?;
                }
            } else {
                phrases.add(argument.trim(), &mut words)?;
            }
        }
        Ok(phrases)
    }

    fn add(&mut self, piece: &str, words: &mut Words) -> rusqlite::Result<()> {
        let unsigned = piece.strip_prefix('-');
        let text = unsigned.unwrap_or(piece);
        let beginning = text.strip_suffix('*');
        let mut phrase = Phrase {
            words: Vec::new(),
            is_beginning: beginning.is_some(),
        };
        words.each(beginning.unwrap_or(text), |word, _| {
            phrase.words.push(word.to_owned());
        })?;
        if phrase.words.is_empty() {
            return Ok(());
        }
        match unsigned {
            Some(_) => self.excluded.push(phrase),
            None => self.wanted.push(phrase),
        }
        Ok(())
    }

    /// Returns `true` if there are no phrases.
    pub(super) fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.excluded.is_empty()
    }

    /// Checks that all targets can search the phrases.
    pub(super) fn check(&self) -> Result<(), LoadError> {
        let all = || self.wanted.iter().chain(&self.excluded);
        let longest = all().map(|phrase| phrase.words.len()).max();
        let has_long_word = all()
            .flat_map(|phrase| &phrase.words)
            .any(|word| SEARCH_WORD_BYTES < word.len());
        let refused = if SEARCH_PHRASES < all().count() {
            format!("a search has at most {SEARCH_PHRASES} words and phrases")
        } else if longest.is_some_and(|words| SEARCH_PHRASE_WORDS < words) {
            format!("a phrase has at most {SEARCH_PHRASE_WORDS} words")
        } else if has_long_word {
            format!("a word of a search has at most {SEARCH_WORD_BYTES} bytes")
        } else {
            return Ok(());
        };
        Err(LoadError::unusable(refused))
    }
}

/// Divides a text that a user typed into words and phrases in quotes, each with the signs that
/// belong to it.
pub(crate) fn split_words(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let unsigned = rest.strip_prefix('-').unwrap_or(rest);
        let end = match unsigned.strip_prefix('"') {
            Some(quoted) => {
                let length = quoted.find('"').map_or(quoted.len(), |end| end + 1);
                let end = rest.len() - quoted.len() + length;
                end + usize::from(rest[end..].starts_with('*'))
            }
            None => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        };
        pieces.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    pieces
}

/// Finds the phrases of a search in texts, so that they can be marked.
pub(super) struct Marker {
    phrases: Vec<Phrase>,
    words: Words,
}

impl Marker {
    pub(super) fn new(phrases: Vec<Phrase>) -> rusqlite::Result<Marker> {
        let words = Words::new()?;
        Ok(Marker { phrases, words })
    }

    /// Returns the ranges of the phrases in a text, in order, without overlap.
    pub(super) fn marks(&mut self, text: &str) -> rusqlite::Result<Vec<Range<usize>>> {
        let mut found = Vec::new();
        if self.phrases.is_empty() {
            return Ok(Vec::new());
        }
        self.words
            .each(text, |word, range| found.push((word.to_owned(), range)))?;
        let mut marks: Vec<Range<usize>> = Vec::new();
        for (at, (_, first)) in found.iter().enumerate() {
            let ends = self.phrases.iter().filter_map(|phrase| {
                let found = found.get(at..at + phrase.words.len())?;
                let are_equal = phrase.matches(found.iter().map(|(word, _)| &**word));
                are_equal.then(|| found.last().map(|(_, last)| last.end))?
            });
            let Some(end) = ends.max() else { continue };
            match marks.last_mut().filter(|last| first.start < last.end) {
                Some(last) => last.end = last.end.max(end),
                None => marks.push(first.start..end),
            }
        }
        Ok(marks)
    }
}

impl Phrase {
    /// Returns `true` if the phrase is these words, of which there are as many.
    pub(super) fn matches<'w>(&self, found: impl Iterator<Item = &'w str>) -> bool {
        let last = self.words.len() - 1;
        found
            .zip(&self.words)
            .enumerate()
            .all(|(place, (found, wanted))| {
                found == wanted
                    || self.is_beginning && place == last && found.starts_with(&**wanted)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(arguments: &[&str]) -> Phrases {
        let arguments: Vec<_> = arguments.iter().map(|text| (*text).to_owned()).collect();
        Phrases::parse(&arguments).unwrap()
    }

    /// Phrases as words with blanks between, with a star and a minus.
    fn shown(arguments: &[&str]) -> Vec<String> {
        let Phrases { wanted, excluded } = phrases(arguments);
        let show = |sign: &str, phrase: &Phrase| {
            let star = if phrase.is_beginning { "*" } else { "" };
            format!("{sign}{}{star}", phrase.words.join(" "))
        };
        let wanted = wanted.iter().map(|phrase| show("", phrase));
        wanted
            .chain(excluded.iter().map(|phrase| show("-", phrase)))
            .collect()
    }

    #[test]
    fn quotes_stars_and_minuses_have_meaning_in_their_places_only() {
        for (arguments, expected) in [
            (&["Info.CERN.ch"][..], &["info cern ch"][..]),
            (&["the oth*"], &["the oth*"]),
            (&["the \"other lamp\" oil"], &["the", "other lamp", "oil"]),
            (&["\"goph*\"", "\"go ph\"*"], &["goph", "go ph*"]),
            (&["-lamp", "-\"a b\" c"], &["c", "-lamp", "-a b"]),
            (&["a\"b", "a-b", "a*b", "--x"], &["a b", "a b", "a b", "-x"]),
            (
                &["a OR b", "NOT", "x:y", "(c)"],
                &["a or b", "not", "x y", "c"],
            ),
            (
                &["\"never closed", "*", "-", "\"\"", "--", "-*"],
                &["never closed"],
            ),
        ] {
            assert_eq!(shown(arguments), expected, "{arguments:?}");
        }
    }

    #[test]
    fn what_no_index_holds_is_refused() {
        assert!(phrases(&["a", "-b"]).check().is_ok());
        let long = "a".repeat(SEARCH_WORD_BYTES + 1);
        let many = "a ".repeat(SEARCH_PHRASE_WORDS + 1);
        let arguments = vec!["a"; SEARCH_PHRASES + 1];
        for arguments in [&[&*long][..], &[&*many], &arguments] {
            assert!(phrases(arguments).check().is_err());
        }
    }

    #[test]
    fn phrases_are_marked_where_they_stand() {
        let marked = |arguments: &[&str], text: &str| {
            let mut marker = Marker::new(phrases(arguments).wanted).unwrap();
            let mut shown = text.to_owned();
            for mark in marker.marks(text).unwrap().iter().rev() {
                shown.insert(mark.end, '>');
                shown.insert(mark.start, '<');
            }
            shown
        };
        for (arguments, expected) in [
            (&["fox"][..], "a <Fox>, foxes: <FOX>"),
            (&["fox*"], "a <Fox>, <foxes>: <FOX>"),
            (&["a fox", "fox foxes"], "<a Fox, foxes>: FOX"),
            (&["-fox", "x"], "a Fox, foxes: FOX"),
        ] {
            assert_eq!(marked(arguments, "a Fox, foxes: FOX"), expected);
        }
        assert_eq!(
            marked(&["\u{e9}t\u{e9}"], "L'\u{c9}T\u{c9}."),
            "L'<\u{c9}T\u{c9}>."
        );
    }
}
