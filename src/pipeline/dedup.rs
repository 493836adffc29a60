//! Deduplication over a whole run: cross-posted articles, and URLs if the job asks for it. Sees all chunks in order.

use std::collections::HashSet;
use std::ops::Range;

use super::chunk::{ArticleChunk, ArticlePart, Chunk};
use crate::extract::Unique;

/// Articles and URLs that were written so far.
#[derive(Debug, Default)]
pub(super) struct Dedup {
    unique: Unique,
    articles: HashSet<u128>,
    /// The last article is a copy of an earlier one.
    is_copy: bool,
    keys: HashSet<u128>,
}

/// Records of a chunk that are written.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kept {
    All,
    /// Those at these places, in their order.
    Places(Vec<Range<usize>>),
}

impl Dedup {
    /// The state before the first chunk.
    pub(super) fn new(unique: Unique) -> Dedup {
        Dedup {
            unique,
            ..Dedup::default()
        }
    }

    /// Returns which of the records of `chunk`, whose length is `len`, were not written before, and corrects the chunk's
    /// summary.
    pub(super) fn remove_duplicates(&mut self, chunk: &mut Chunk, len: usize) -> Kept {
        if chunk.article.is_some_and(|article| self.is_copy(article)) {
            chunk.summary = chunk.summary.as_duplicate();
            chunk.rejects.clear();
            return Kept::Places(Vec::new());
        }
        match self.unique {
            Unique::Run => self.new_records(chunk, len),
            Unique::None | Unique::Message => Kept::All,
        }
    }

    /// Returns `true` if the article was written before. A continuation is a copy if its start is one.
    fn is_copy(&mut self, article: ArticleChunk) -> bool {
        if article.part == ArticlePart::Start {
            self.is_copy = !self.articles.insert(article.hash);
        }
        self.is_copy
    }

    fn new_records(&mut self, chunk: &mut Chunk, len: usize) -> Kept {
        let mut places = Vec::with_capacity(chunk.keys.len());
        let mut start = 0;
        for record in &chunk.keys {
            if self.keys.insert(record.key) {
                places.push(start..record.end);
            } else if record.is_unwrapped {
                chunk.summary.unwrapped -= 1;
            } else {
                chunk.summary.records -= 1;
                chunk.summary.duplicates += 1;
            }
            start = record.end;
        }
        assert_eq!(start, len, "each record has a key");
        if places.len() == chunk.keys.len() {
            Kept::All
        } else {
            Kept::Places(places)
        }
    }
}
