//! A prefilter for colons: the last two letters of the schemes that need no `//`.
//!
//! Nearly all colons in mail follow other words. Two lookups reject most of them before the name is read backwards. The
//! test in `trigger` compares the search with one that does not use this filter.

/// The pairs of last letters of some names. Tests a text without false negatives.
#[derive(Debug, Default)]
pub(super) struct SchemeSuffixes {
    /// For each last letter, as a [`letter_code`], a bit for each letter that can precede it.
    preceding: [u32; 32],
}

impl SchemeSuffixes {
    /// Returns the pairs of last letters of `names`.
    pub(super) fn new<'n>(names: impl IntoIterator<Item = &'n str>) -> SchemeSuffixes {
        let mut suffixes = SchemeSuffixes::default();
        names
            .into_iter()
            .for_each(|name| suffixes.add(name.as_bytes()));
        suffixes
    }

    /// Returns `true` if one of the names may end where `text` does, in any case. Never `false` for a text that ends
    /// with one of them.
    pub(super) fn may_end(&self, text: &[u8]) -> bool {
        match text {
            [.., before, last] => {
                self.preceding[letter_code(*last)] >> letter_code(*before) & 1 == 1
            }
            [last] => self.preceding[letter_code(*last)] == u32::MAX,
            [] => false,
        }
    }

    fn add(&mut self, name: &[u8]) {
        match name {
            [.., before, last] => self.preceding[letter_code(*last)] |= 1 << letter_code(*before),
            // Any byte may precede a name of one letter.
            [last] => self.preceding[letter_code(*last)] = u32::MAX,
            [] => {}
        }
    }
}

/// Five bits that distinguish letters, the same in either case. Other bytes share the codes of letters.
fn letter_code(byte: u8) -> usize {
    usize::from(byte & 0x1F)
}
