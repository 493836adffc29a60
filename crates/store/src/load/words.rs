//! Words of a text as full-text indexes define them (runs of letters and digits, in lower case),
//! and the phrases of a search.
//!
//! `SQLite` splits texts itself. [`Words`] does the same for search terms and for indexes that
//! cannot, and all of them find the same rows: it asks `SQLite`'s tokenizer once about each
//! character it meets. An unassigned character counts as a letter, since it may become one.

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};

use rusqlite::Connection;

use super::LoadError;
use super::found_row::FoundRow;
use urlspool_text::limits::{SEARCH_PHRASE_WORDS, SEARCH_PHRASES, SEARCH_WORD_BYTES};

/// Configuration of the tokenizer of full-text indexes in `SQLite`.
pub(super) fn tokenizer() -> String {
    // SQLite inserts each separator into a sorted list that it searches from the front, so
    // descending order is fastest.
    let ranges = NEWER_SEPARATORS.lines().rev().filter_map(range);
    let separators: String = ranges.flat_map(Iterator::rev).collect();
    format!("unicode61 remove_diacritics 0 categories 'L* N* M* Co' separators '{separators}'")
}

/// Error of the in-memory database that splits texts into words.
#[cfg(any(feature = "elasticsearch", feature = "postgres"))]
pub(super) fn no_words(error: rusqlite::Error) -> LoadError {
    let message = format!("texts cannot be divided into words: {error}");
    LoadError::io(message).caused_by(error)
}

/// Splits texts into words.
pub(super) struct Words {
    /// In-memory database with a full-text index and a table of its words.
    db: Connection,
    /// Lower-case form of each character met so far; `None` for separators.
    known: HashMap<char, Option<char>>,
}

impl Words {
    pub(super) fn new() -> rusqlite::Result<Words> {
        let db = Connection::open_in_memory()?;
        db.execute_batch(&format!(
            "CREATE VIRTUAL TABLE texts USING fts5(text, tokenize=\"{}\");
             CREATE VIRTUAL TABLE words USING fts5vocab(texts, 'instance')",
            tokenizer()
        ))?;
        let known = HashMap::new();
        Ok(Words { db, known })
    }

    /// Calls `found` with each word of `text` and its range, in order. Runs in linear time.
    pub(super) fn each(
        &mut self,
        text: &str,
        mut found: impl FnMut(&str, Range<usize>),
    ) -> rusqlite::Result<()> {
        let mut word = String::new();
        let mut start = 0;
        // A separator ends the last word.
        for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
            match self.in_word(c)? {
                Some(c) => {
                    if word.is_empty() {
                        start = at;
                    }
                    word.push(c);
                }
                None if word.is_empty() => {}
                None => {
                    found(&word, start..at);
                    word.clear();
                }
            }
        }
        Ok(())
    }

    /// Returns the form of `c` in words, or `None` if it separates words.
    fn in_word(&mut self, c: char) -> rusqlite::Result<Option<char>> {
        if c.is_ascii() {
            return Ok(c.is_ascii_alphanumeric().then(|| c.to_ascii_lowercase()));
        }
        if let Some(known) = self.known.get(&c) {
            return Ok(*known);
        }
        let insert = "INSERT INTO texts(rowid, text) VALUES(1, ?1)";
        let first = "SELECT term FROM words ORDER BY offset LIMIT 1";
        let db = &self.db;
        db.prepare_cached(insert)?.execute([format!("q{c}z")])?;
        let mut first = db.prepare_cached(first)?;
        let word: String = first.query_row([], |row| row.get(0))?;
        db.prepare_cached("DELETE FROM texts")?.execute([])?;
        let found = word.chars().nth(1);
        self.known.insert(c, found);
        Ok(found)
    }
}

/// Consecutive words of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Phrase {
    /// At least one word, as split by [`Words`].
    pub(super) words: Vec<String>,
    /// `true` if the last word is a prefix.
    pub(super) is_prefix: bool,
}

/// The phrases of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Phrases {
    /// All of these must occur.
    pub(super) wanted: Vec<Phrase>,
    /// None of these may occur.
    pub(super) excluded: Vec<Phrase>,
}

impl Phrases {
    /// Parses arguments. An argument without quotes is one phrase. Pieces without letters and
    /// digits are dropped.
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
        let beginning = text.strip_suffix('*').or_else(|| text.strip_suffix("*\""));
        let mut phrase = Phrase {
            words: Vec::new(),
            is_prefix: beginning.is_some(),
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

    /// Checks that the phrases are neither too many nor too long.
    pub(super) fn check(&self) -> Result<(), LoadError> {
        let all: Vec<_> = self.wanted.iter().chain(&self.excluded).collect();
        let mut words = all.iter().flat_map(|phrase| &phrase.words);
        let is_long = all
            .iter()
            .any(|phrase| SEARCH_PHRASE_WORDS < phrase.words.len());
        let refused = if SEARCH_PHRASES < all.len() {
            format!("a search has at most {SEARCH_PHRASES} words and phrases")
        } else if is_long {
            format!("a phrase has at most {SEARCH_PHRASE_WORDS} words")
        } else if words.any(|word| SEARCH_WORD_BYTES < word.len()) {
            format!("a word of a search has at most {SEARCH_WORD_BYTES} bytes")
        } else {
            return Ok(());
        };
        Err(LoadError::unusable(refused))
    }
}

/// Splits text typed by a user into words and quoted phrases, each with its `-` and `*`.
pub fn split_words(text: &str) -> Vec<&str> {
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

/// Finds the phrases of a search in texts and marks them.
pub struct Marker {
    phrases: Vec<Phrase>,
    words: Words,
}

impl Marker {
    pub(super) fn new(phrases: Vec<Phrase>) -> rusqlite::Result<Marker> {
        let words = Words::new()?;
        Ok(Marker { phrases, words })
    }

    /// Marks the phrases in the context of a match.
    ///
    /// # Errors
    ///
    /// `SQLite`, which splits the words, failed.
    pub fn mark(&mut self, row: &mut FoundRow) -> rusqlite::Result<()> {
        if let Some(context) = &mut row.context {
            context.before_marks = self.marks(&context.before)?;
            context.after_marks = self.marks(&context.after)?;
        }
        Ok(())
    }

    /// Returns the ranges of the phrases in a text, in order and without overlap.
    fn marks(&mut self, text: &str) -> rusqlite::Result<Vec<Range<usize>>> {
        if self.phrases.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        self.words
            .each(text, |word, range| found.push((word.to_owned(), range)))?;
        let mut marks: Vec<Range<usize>> = Vec::new();
        for (at, (_, first)) in found.iter().enumerate() {
            let lengths = self.phrases.iter().filter_map(|phrase| {
                let len = phrase.words.len();
                phrase.matches(found.get(at..at + len)?).then_some(len)
            });
            let Some(len) = lengths.max() else { continue };
            let end = found[at + len - 1].1.end;
            match marks.last_mut().filter(|last| first.start < last.end) {
                Some(last) => last.end = last.end.max(end),
                None => marks.push(first.start..end),
            }
        }
        Ok(marks)
    }
}

impl Phrase {
    /// Returns `true` if the phrase matches these words. Both have the same number of words.
    fn matches(&self, found: &[(String, Range<usize>)]) -> bool {
        let last = self.words.len() - 1;
        let mut pairs = found.iter().zip(&self.words).enumerate();
        pairs.all(|(place, ((found, _), wanted))| {
            found == wanted || self.is_prefix && place == last && found.starts_with(&**wanted)
        })
    }
}

/// Ranges of separators that `SQLite` treats as letters because its tables are older than these
/// characters, one per line: the numbers of the first and the last character, in hexadecimal. The
/// tokenizer's configuration names them as separators.
const NEWER_SEPARATORS: &str = include_str!("separators.txt");

/// Parses a line of [`NEWER_SEPARATORS`].
fn range(line: &str) -> Option<RangeInclusive<char>> {
    let (first, last) = line.split_once(' ')?;
    let [first, last] = [first, last].map(|number| u32::from_str_radix(number, 16).ok());
    Some(char::from_u32(first?)?..=char::from_u32(last?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut words = Words::new().unwrap();
        words
            .each(text, |word, _| found.push(word.to_owned()))
            .unwrap();
        found
    }

    #[test]
    fn each_line_of_the_separators_is_a_range() {
        let mut lines = NEWER_SEPARATORS.lines().skip(1);
        assert!(lines.all(|line| range(line).is_some_and(|found| !found.is_empty())));
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        assert_eq!(
            words("http://Info.CERN.ch/a_b%20c-\u{C4}\u{E9}"),
            [
                "http",
                "info",
                "cern",
                "ch",
                "a",
                "b",
                "20c",
                "\u{E4}\u{E9}"
            ]
        );
        assert_eq!(words("V\u{2069}er a\u{1F914}b"), ["v", "er", "a", "b"]);
        // Each letter is lowered by itself: no final sigma, and no letter that expands to two.
        assert_eq!(
            words("\u{3A3}\u{3A3} \u{130}x"),
            ["\u{3C3}\u{3C3}", "\u{130}x"]
        );
    }

    /// Splits texts with characters of all planes and compares with `SQLite`, which sees each text
    /// as a whole.
    #[test]
    fn sqlite_finds_the_same_words() {
        let planes = ('\u{1}'..='\u{1FFFF}').chain('\u{E0000}'..='\u{E01FF}');
        let some: Vec<_> = planes.step_by(37).collect();
        let mut words = Words::new().unwrap();
        for text in some.chunks(50) {
            let (text, mut found) = (text.iter().collect::<String>(), Vec::new());
            words
                .each(&text, |word, _| found.push(word.to_owned()))
                .unwrap();
            words
                .db
                .execute("INSERT INTO texts(rowid, text) VALUES(2, ?1)", [&text])
                .unwrap();
            let mut terms = words
                .db
                .prepare("SELECT term FROM words ORDER BY offset")
                .unwrap();
            let terms = terms.query_map([], |row| row.get(0)).unwrap();
            let expected: Vec<String> = terms.map(Result::unwrap).collect();
            assert_eq!(found, expected);
            words.db.execute("DELETE FROM texts", []).unwrap();
        }
    }

    fn phrases(arguments: &[&str]) -> Phrases {
        let arguments: Vec<_> = arguments.iter().map(|text| (*text).to_owned()).collect();
        Phrases::parse(&arguments).unwrap()
    }

    /// Prints phrases as words separated by spaces, with a star and a minus.
    fn shown(arguments: &[&str]) -> Vec<String> {
        let Phrases { wanted, excluded } = phrases(arguments);
        let show = |sign: &str, phrase: &Phrase| {
            let star = if phrase.is_prefix { "*" } else { "" };
            format!("{sign}{}{star}", phrase.words.join(" "))
        };
        let wanted = wanted.iter().map(|phrase| show("", phrase));
        wanted
            .chain(excluded.iter().map(|phrase| show("-", phrase)))
            .collect()
    }

    #[test]
    fn quotes_stars_and_minuses_are_special_only_at_word_borders() {
        for (arguments, expected) in [
            (&["Info.CERN.ch"][..], &["info cern ch"][..]),
            (&["the oth*"], &["the oth*"]),
            (&["the \"other lamp\" oil"], &["the", "other lamp", "oil"]),
            (&["\"goph*\"", "\"go ph\"*"], &["goph*", "go ph*"]),
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
    fn phrases_above_the_limits_are_refused() {
        assert!(phrases(&["a", "-b"]).check().is_ok());
        let long = "a".repeat(SEARCH_WORD_BYTES + 1);
        let many = "a ".repeat(SEARCH_PHRASE_WORDS + 1);
        let arguments = vec!["a"; SEARCH_PHRASES + 1];
        for arguments in [&[&*long][..], &[&*many], &arguments] {
            assert!(phrases(arguments).check().is_err());
        }
    }

    #[test]
    fn each_occurrence_of_a_phrase_is_marked() {
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
