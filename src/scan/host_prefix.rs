//! The search for `www.` and `ftp.` in any case.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Input, packed};

/// Returns the offset after the first `www.` or `ftp.` in `text` that begins at `from` or later.
pub(super) fn find_end(text: &[u8], from: usize) -> Option<usize> {
    match &*SEARCHER {
        HostPrefixSearcher::Packed(searcher) => searcher.find_in(text, (from..text.len()).into()),
        HostPrefixSearcher::Automaton(automaton) => automaton.find(Input::new(text).range(from..)),
    }
    .map(|found| found.end())
}

/// A search for the sixteen spellings of the two prefixes.
enum HostPrefixSearcher {
    /// Vector instructions, if the machine has them.
    Packed(packed::Searcher),
    /// An automaton, on any machine.
    Automaton(AhoCorasick),
}

static SEARCHER: LazyLock<HostPrefixSearcher> = LazyLock::new(|| {
    // All spellings are listed because the packed search does not ignore case.
    let words = [spellings("www."), spellings("ftp.")].concat();
    match packed::Searcher::new(&words) {
        Some(searcher) => HostPrefixSearcher::Packed(searcher),
        None => {
            HostPrefixSearcher::Automaton(AhoCorasick::new(&words).expect("sixteen short words"))
        }
    }
});

/// The eight spellings of a word of three letters and a dot.
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
