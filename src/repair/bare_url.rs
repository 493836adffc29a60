//! A URL without a wrapper: the run of characters that contains it, and the lines over which a mailer broke it.

use super::continuation::continuations;
use super::url_run::url_run_end;
use super::{LogicalLine, Repair};
use crate::scan::Rules;
use crate::span::Span;

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

/// Unfolds `word` into `line`: its run of characters and, by the wide rules, the runs at the start of the next lines that
/// may continue it, each after a join with its confidence.
pub fn unfold_bare_word(text: &[u8], word: &BareWord, line: &mut LogicalLine) {
    line.clear();
    let end = url_run_end(text, word.from, word.before, word.rules, word.max_bytes);
    line.push(text, word.from, end);
    if word.rules == Rules::Wide && word.breaks == LineBreakPolicy::Join {
        append_continuations(text, Span::new(word.from, end), line);
    }
}

/// Appends the continuations of the bare URL `head`.
fn append_continuations(text: &[u8], head: Span, line: &mut LogicalLine) {
    let mut confidence = 1.0f32;
    for next in continuations(text, head) {
        let hyphen = line.text().last() == Some(&b'-');
        line.drop_last(next.dropped);
        let repairs = [
            Some(Repair::BareContinuation),
            hyphen.then_some(Repair::Hyphen),
            next.quoted.then_some(Repair::QuotePrefix),
        ];
        // The whole URL is at most as likely as its least likely join.
        confidence = confidence.min(next.confidence());
        line.join(
            repairs.into_iter().flatten().collect(),
            confidence,
            next.features,
        );
        line.push(text, next.token.start, next.token.end);
    }
}
