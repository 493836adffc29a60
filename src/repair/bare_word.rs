//! A word that may contain a bare URL, as the stages before hand it over.

use crate::scan::Rules;

/// Policy for line breaks in a bare URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineBreakPolicy {
    /// A mailer may have inserted them: they are removed if the features of the line break say so.
    Join,
    /// No mailer inserted them: each one ends the word.
    Keep,
}

/// A word that may contain a bare URL, before it is unfolded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BareWord {
    /// The offset of the word.
    pub from: usize,
    /// The byte before the word; `None` at the start of the text.
    pub before: Option<u8>,
    /// The rules by which the end of the word is found.
    pub rules: Rules,
    /// The policy for line breaks after it.
    pub breaks: LineBreakPolicy,
    /// Maximum number of bytes of its first line that are read.
    pub max_bytes: usize,
}
