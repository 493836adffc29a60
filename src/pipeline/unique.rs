//! What is given once a run: cross-posted articles, and URLs where that is asked for. Sees everything in order.

use std::collections::HashSet;

use super::pool::Unique;
use super::{Keyed, Piece};

/// What was given so far.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// Whether URLs are folded over the run.
    unique: Unique,
    articles: HashSet<u128>,
    /// Whether the last article was a copy.
    is_copy: bool,
    keys: HashSet<u128>,
}

impl Given {
    /// Nothing yet, in a run that folds so.
    pub(super) fn new(unique: Unique) -> Given {
        Given { unique, ..Given::default() }
    }

    /// Takes out of `piece` what was given before.
    pub(super) fn fold(&mut self, piece: &mut Piece) {
        if let Some(article) = piece.article
            && self.is_given(article, piece.goes_on)
        {
            piece.balance = piece.balance.as_copy();
            piece.records.clear();
            piece.rejects.clear();
            piece.keys.clear();
            return;
        }
        if self.unique == Unique::Run {
            self.fold_records(piece);
        }
    }

    /// Whether an article was given before. What goes on is what its beginning is.
    fn is_given(&mut self, article: u128, goes_on: bool) -> bool {
        if !goes_on {
            self.is_copy = !self.articles.insert(article);
        }
        self.is_copy
    }

    fn fold_records(&mut self, piece: &mut Piece) {
        let mut kept = Vec::with_capacity(piece.records.len());
        let mut start = 0;
        for &Keyed { key, end, unwrapped } in &piece.keys {
            if self.keys.insert(key) {
                kept.extend_from_slice(&piece.records[start..end]);
            } else if unwrapped {
                piece.balance.unwrapped -= 1;
            } else {
                piece.balance.records -= 1;
                piece.balance.folded += 1;
            }
            start = end;
        }
        assert_eq!(start, piece.records.len(), "every line has a key");
        piece.records = kept;
        piece.keys.clear();
    }
}
