//! The words of a document, divided by this program: all targets find the same ones.
//!
//! An index divides them at blanks alone. So that no phrase spans two texts of a record, each text is
//! an item of a list.

use std::borrow::Cow;

use crate::hash::hash_pieces;
use crate::limits::{SEARCH_INDEXED_BYTES, SEARCH_INDEXED_WORD_BYTES};
use crate::load::columns::SEARCHED_FIELDS;
use crate::load::words::Words;
use crate::record::LoadedRecord;

/// The member of documents that has their words.
pub(super) const WORDS: &str = "words";

/// Returns the texts of a record that are searched, each as its words with blanks between them.
pub(super) fn indexed_texts(
    record: &LoadedRecord,
    words: &mut Words,
) -> rusqlite::Result<Vec<String>> {
    let mut texts = Vec::new();
    let mut left = SEARCH_INDEXED_BYTES;
    for field in SEARCHED_FIELDS {
        let mut indexed = String::new();
        let text = record.text(field).unwrap_or_default();
        words.each(text, |word, _| {
            let word = indexed_word(word);
            if left <= word.len() {
                left = 0;
                return;
            }
            left -= word.len() + 1;
            if !indexed.is_empty() {
                indexed.push(' ');
            }
            indexed.push_str(&word);
        })?;
        if !indexed.is_empty() {
            texts.push(indexed);
        }
    }
    Ok(texts)
}

/// Returns a word as an index has it.
fn indexed_word(word: &str) -> Cow<'_, str> {
    if word.len() <= SEARCH_INDEXED_WORD_BYTES {
        return Cow::Borrowed(word);
    }
    let hash = hash_pieces(&[word.as_bytes()]);
    let beginning = &word[..word.floor_char_boundary(SEARCH_INDEXED_WORD_BYTES)];
    Cow::Owned(format!("{beginning}+{hash:032x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_word_is_shorter_than_the_analyzer_allows_and_has_its_beginning() {
        let (word, other) = ("\u{e9}".repeat(300), "\u{e9}".repeat(301));
        let indexed = indexed_word(&word);
        assert!(indexed.encode_utf16().count() <= 255 && indexed.starts_with(&word[..180]));
        assert_ne!(indexed, indexed_word(&other));
        assert_eq!(indexed_word("lamp"), "lamp");
    }
}
