//! Deduplication over a whole run: cross-posted articles, and URLs if the job asks for it. Sees all chunks in order.

use std::borrow::Cow;
use std::collections::HashSet;

use super::chunk::{ArticleChunk, ArticlePart, Chunk, KeyedLine};
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

impl Dedup {
    /// The state before the first chunk.
    pub(super) fn new(unique: Unique) -> Dedup {
        Dedup {
            unique,
            ..Dedup::default()
        }
    }

    /// Returns the records of `chunk` without those that were written before, and corrects the chunk's summary.
    pub(super) fn remove_duplicates<'r>(
        &mut self,
        chunk: &mut Chunk,
        records: &'r [u8],
    ) -> Cow<'r, [u8]> {
        if chunk.article.is_some_and(|article| self.is_copy(article)) {
            chunk.summary = chunk.summary.as_duplicate();
            chunk.rejects.clear();
            return Cow::default();
        }
        match self.unique {
            Unique::Run => self.new_lines(chunk, records).into(),
            Unique::None | Unique::Message => records.into(),
        }
    }

    /// Returns `true` if the article was written before. A continuation is a copy if its start is one.
    fn is_copy(&mut self, article: ArticleChunk) -> bool {
        if article.part == ArticlePart::Start {
            self.is_copy = !self.articles.insert(article.hash);
        }
        self.is_copy
    }

    fn new_lines(&mut self, chunk: &mut Chunk, records: &[u8]) -> Vec<u8> {
        let mut kept = Vec::with_capacity(records.len());
        let mut start = 0;
        for &KeyedLine {
            key,
            end,
            is_unwrapped,
            ..
        } in &chunk.keys
        {
            if self.keys.insert(key) {
                kept.extend_from_slice(&records[start..end]);
            } else if is_unwrapped {
                chunk.summary.unwrapped -= 1;
            } else {
                chunk.summary.records -= 1;
                chunk.summary.duplicates += 1;
            }
            start = end;
        }
        assert_eq!(start, records.len(), "each line has a key");
        kept
    }
}
