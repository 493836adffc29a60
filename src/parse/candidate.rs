//! A start with its logical line, and the result of parsing it.

use super::reject::RejectReason;
use crate::repair::LogicalLine;
use crate::scan::UrlStart;

/// What became of a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseOutcome {
    /// Where in the text the search goes on.
    pub resume: usize,
    /// `None` if a URL was found.
    pub reject: Option<RejectReason>,
}

/// A start, laid out.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'l> {
    /// The start.
    pub start: &'l UrlStart,
    /// The byte before it.
    pub before: Option<u8>,
    /// Its logical line.
    pub line: &'l LogicalLine,
    /// The offset of the `>` that closes it; `None` for a word without a wrapper.
    pub close: Option<usize>,
}
