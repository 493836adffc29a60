//! What is given once a run: cross-posted articles, and URLs where that is asked for. Sees everything in order.

use std::borrow::Cow;
use std::collections::HashSet;

use super::chunk::{Chunk, Keyed};
use super::job::Unique;

/// What was given so far.
#[derive(Debug, Default)]
pub(super) struct Dedup {
    /// Whether URLs are folded over the run.
    unique: Unique,
    articles: HashSet<u128>,
    /// Whether the last article was a copy.
    is_copy: bool,
    keys: HashSet<u128>,
}

impl Dedup {
    /// Nothing yet, in a run that folds so.
    pub(super) fn new(unique: Unique) -> Dedup {
        Dedup {
            unique,
            ..Dedup::default()
        }
    }

    /// What is left of `records`, those of `piece`, without what was given before; `piece` counts that alone.
    pub(super) fn fold<'r>(&mut self, piece: &mut Chunk, records: &'r [u8]) -> Cow<'r, [u8]> {
        if let Some(article) = piece.article
            && self.is_given(article, piece.goes_on)
        {
            piece.balance = piece.balance.as_duplicate();
            piece.rejects.clear();
            return Cow::default();
        }
        match self.unique {
            Unique::Run => self.fold_records(piece, records).into(),
            Unique::None | Unique::Message => records.into(),
        }
    }

    /// Whether an article was given before. What goes on is what its beginning is.
    fn is_given(&mut self, article: u128, goes_on: bool) -> bool {
        if !goes_on {
            self.is_copy = !self.articles.insert(article);
        }
        self.is_copy
    }

    fn fold_records(&mut self, piece: &mut Chunk, records: &[u8]) -> Vec<u8> {
        let mut kept = Vec::with_capacity(records.len());
        let mut start = 0;
        for &Keyed {
            key,
            end,
            unwrapped,
        } in &piece.keys
        {
            if self.keys.insert(key) {
                kept.extend_from_slice(&records[start..end]);
            } else if unwrapped {
                piece.balance.unwrapped -= 1;
            } else {
                piece.balance.records -= 1;
                piece.balance.duplicates += 1;
            }
            start = end;
        }
        assert_eq!(start, records.len(), "every line has a key");
        kept
    }
}
