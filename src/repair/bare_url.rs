//! A URL without a wrapper: the run of characters it stands in, and the lines that a mailer broke it over.

use super::continuation::steps;
use super::url_run::url_run_end;
use super::{LogicalLine, Repair};
use crate::scan::Rules;
use crate::span::Span;

/// Whether line ends may be a mailer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineBreakPolicy {
    /// They may, and are undone where the evidence says so.
    Join,
    /// They are none of a mailer's: each ends its word.
    Keep,
}

/// What is known of a word before it is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BareWord {
    /// Where it begins.
    pub from: usize,
    /// The byte before it.
    pub before: Option<u8>,
    /// By which rules it is read.
    pub rules: Rules,
    /// Whether line ends in it may be a mailer's.
    pub breaks: LineBreakPolicy,
    /// Bytes of its line that are read at most.
    pub most: usize,
}

/// Lays the run of characters at `word` out in `line`, and by the wide rules the runs of the lines below over which it
/// may go on, each behind a join with its confidence.
pub fn word(text: &[u8], word: &BareWord, line: &mut LogicalLine) {
    line.clear();
    let end = url_run_end(text, word.from, word.before, word.rules, word.most);
    line.push(text, word.from, end);
    if word.rules == Rules::Wide && word.breaks == LineBreakPolicy::Join {
        continue_over_lines(text, Span::new(word.from, end), line);
    }
}

fn continue_over_lines(text: &[u8], head: Span, line: &mut LogicalLine) {
    let mut confidence = 1.0f32;
    for step in steps(text, head) {
        let hyphen = line.text().last() == Some(&b'-');
        line.drop_last(step.dropped);
        let repairs = [
            Some(Repair::BareContinuation),
            hyphen.then_some(Repair::Hyphen),
            step.quoted.then_some(Repair::QuotePrefix),
        ];
        // All is no likelier than the least likely of its joins.
        confidence = confidence.min(step.confidence());
        line.join(
            repairs.into_iter().flatten().collect(),
            confidence,
            step.features,
        );
        line.push(text, step.token.start, step.token.end);
    }
}
