//! Words of a text, as all full-text indexes have them: runs of letters and digits, in lower case.
//!
//! `SQLite` divides texts itself. [`each_word`] does the same for indexes that do not; by the tables of `SQLite`'s tokenizer, so that
//! both find the same rows. A character that is not assigned is a letter, since it may become one.

mod tables;

#[cfg(any(feature = "postgres", test))]
use std::cmp::Ordering;

use tables::NEWER_SEPARATORS;
#[cfg(any(feature = "postgres", test))]
use tables::{FOLDED, SEPARATORS, UNFOLDED};

/// Returns the separators that `SQLite`'s tokenizer does not know.
pub(super) fn separators_for_sqlite() -> String {
    NEWER_SEPARATORS
        .iter()
        .flat_map(|&(first, last)| first..=last)
        .collect()
}

/// Calls `found` with each word of `text`, in order. Linear in its length.
#[cfg(any(feature = "postgres", test))]
pub(super) fn each_word(text: &str, mut found: impl FnMut(&str)) {
    for run in text.split(|c| !is_word_char(c)) {
        let is_folded = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
        if run.bytes().all(is_folded) {
            if !run.is_empty() {
                found(run);
            }
        } else {
            found(&run.chars().map(folded).collect::<String>());
        }
    }
}

/// Letters, digits, and the marks that combine with them.
#[cfg(any(feature = "postgres", test))]
fn is_word_char(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    !contains(SEPARATORS, c) && !contains(NEWER_SEPARATORS, c)
}

/// The lower case of a character, each by itself: `SQLite` knows no final sigma, and no letter of which two become.
#[cfg(any(feature = "postgres", test))]
fn folded(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    if let Some((_, other)) = FOLDED.iter().find(|(first, _)| *first == c) {
        return *other;
    }
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(only), None) if !contains(UNFOLDED, c) => only,
        _ => c,
    }
}

/// Returns `true` if a character is in one of the ranges, which are in order.
#[cfg(any(feature = "postgres", test))]
fn contains(ranges: &[(char, char)], c: char) -> bool {
    let place = ranges.binary_search_by(|&(first, last)| {
        if last < c {
            Ordering::Less
        } else if c < first {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    });
    place.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::sqlite::tokenizer;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.to_owned()));
        words
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
    }

    /// Each character between two letters, as `SQLite` divides the text.
    #[test]
    fn sqlite_finds_the_same_words() {
        let db = rusqlite::Connection::open_in_memory().unwrap();
        db.execute_batch(&format!(
            "CREATE VIRTUAL TABLE texts USING fts5(text, tokenize=\"{}\");
             CREATE VIRTUAL TABLE terms USING fts5vocab(texts, 'instance'); BEGIN",
            tokenizer()
        ))
        .unwrap();
        let planes = ('\u{80}'..='\u{1FFFF}').chain('\u{E0000}'..='\u{E01FF}');
        let mut insert = db
            .prepare("INSERT INTO texts(rowid, text) VALUES(?1, ?2)")
            .unwrap();
        for c in planes.clone() {
            insert.execute((u32::from(c), format!("q{c}z"))).unwrap();
        }
        let mut found = vec![Vec::new(); 0x11_0000];
        let mut terms = db
            .prepare("SELECT doc, term FROM terms ORDER BY doc, offset")
            .unwrap();
        let mut rows = terms.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let doc: u32 = row.get(0).unwrap();
            found[doc as usize].push(row.get::<_, String>(1).unwrap());
        }
        let differences: Vec<_> = planes
            .filter(|&c| found[u32::from(c) as usize] != words(&format!("q{c}z")))
            .map(|c| format!("{:X}", u32::from(c)))
            .collect();
        assert!(differences.is_empty(), "{differences:?}");
    }
}
