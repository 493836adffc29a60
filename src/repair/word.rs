//! A URL without a wrapper: the run of characters it stands in, and the lines that a mailer broke it over.

use super::evidence::steps;
use super::{Line, Repair};
use crate::scan::Rules;
use crate::span::Span;

/// Whether line ends may be a mailer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaks {
    /// They may, and are undone where the evidence says so.
    Undone,
    /// They are none of a mailer's: each ends its word.
    Kept,
}

/// Lays the run of characters from `from` on out in `line`, and by the wide rules the runs of the lines below over
/// which it may go on, each behind a join with its confidence.
pub fn word(text: &[u8], from: usize, rules: Rules, breaks: Breaks, line: &mut Line) {
    line.clear();
    let end = run_end(text, from, rules);
    line.push(text, from, end);
    if rules == Rules::Wide && breaks == Breaks::Undone {
        continue_over_lines(text, Span::new(from, end), line);
    }
}

fn continue_over_lines(text: &[u8], head: Span, line: &mut Line) {
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
        line.join(repairs.into_iter().flatten().collect(), confidence);
        line.push(text, step.token.start, step.token.end);
    }
}

/// Where the run of characters that can belong to a bare URL ends.
fn run_end(text: &[u8], from: usize, rules: Rules) -> usize {
    let mut at = from;
    while at < text.len() {
        let len = ends_word(&text[at..], rules);
        if len > 0 {
            break;
        }
        at += 1;
    }
    at
}

/// Octets of the character at the start of `text`, if it cannot belong to a bare URL; 0 if it can.
///
/// White space, `<`, `>` and `"` (`spec/appendix-rules.md` 12); by the wide rules also controls, the backtick,
/// Unicode's white space, and the quotes, brackets and stops of East Asian and typographic writing.
#[must_use]
pub fn ends_word(text: &[u8], rules: Rules) -> usize {
    match (text, rules) {
        ([b' ' | b'\t' | b'\n' | b'\r' | b'\x0B' | b'\x0C' | b'<' | b'>' | b'"', ..], _) => 1,
        ([..=0x20 | 0x7F | b'`', ..], Rules::Wide) => 1,
        ([0xC2, 0x80..=0xA0 | 0xAB | 0xBB, ..], Rules::Wide) => 2,
        ([0xE2, 0x80, 0x80..=0x8A | 0x98..=0x9F | 0xA6 | 0xA8 | 0xA9 | 0xAF | 0xB9 | 0xBA, ..], Rules::Wide) => 3,
        ([0xE3, 0x80, 0x80..=0x82 | 0x88..=0x91 | 0x94..=0x9B, ..], Rules::Wide) => 3,
        ([0xEF, 0xBC, 0x81 | 0x88 | 0x89 | 0x8C | 0x9A | 0x9B | 0x9E | 0x9C | 0x9F, ..], Rules::Wide) => 3,
        ([0xEF, 0xBD, 0x9B | 0x9D | 0xA1..=0xA4, ..], Rules::Wide) => 3,
        _ => 0,
    }
}
