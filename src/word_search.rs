//! A search for the first of several short words in a text.

use aho_corasick::{AhoCorasick, Input, packed};

/// A search for words, built once.
pub(crate) enum WordSearcher {
    /// Vector instructions, if the machine has them.
    Packed(packed::Searcher),
    /// An automaton, on any machine.
    Automaton(AhoCorasick),
}

impl WordSearcher {
    /// Builds the search.
    ///
    /// # Panics
    ///
    /// If a word is empty or the words together are too many for an automaton.
    pub(crate) fn new(words: &[impl AsRef<[u8]>]) -> WordSearcher {
        match packed::Searcher::new(words) {
            Some(searcher) => WordSearcher::Packed(searcher),
            None => WordSearcher::Automaton(AhoCorasick::new(words).expect("some short words")),
        }
    }

    /// Returns the offset of the first word in `text` that begins at `from` or later.
    pub(crate) fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        match self {
            WordSearcher::Packed(searcher) => searcher.find_in(text, (from..text.len()).into()),
            WordSearcher::Automaton(automaton) => automaton.find(Input::new(text).range(from..)),
        }
        .map(|found| found.start())
    }
}
