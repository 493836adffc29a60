//! A start with its logical line, and the result of parsing it.

use super::reject::RejectReason;
use crate::repair::LogicalLine;
use crate::scan::UrlStart;

/// A start and the logical line that follows it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'l> {
    /// The start.
    pub start: &'l UrlStart,
    /// The text before the start.
    pub prior: &'l [u8],
    /// The logical line, from `start.content`.
    pub line: &'l LogicalLine,
    /// The text after the logical line.
    pub after: &'l [u8],
    /// The offset in the text of the `>` that closes the wrapper; `None` for a word without a wrapper.
    pub close: Option<usize>,
}

/// The result of parsing a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseOutcome {
    /// The offset in the text at which scanning resumes.
    pub resume: usize,
    /// The reason why the candidate is no URL; `None` if a URL was found.
    pub reject: Option<RejectReason>,
}
