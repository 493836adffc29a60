//! The content of a wrapper (RFC 1738, appendix).
//!
//! White space in it is ignored. The appendix leaves open what a blank line, a `<`, or a second URL means: a wrapper with
//! one of the first two was never closed, and one with two URLs is not used.

use super::line::{LineEnd, is_blank, is_line_end, line_end, line_start};
use super::page_break::page_break;
use super::quote_marks::{CommonMarks, QuoteMarks, QuoteStyle, common_marks, marks};
use super::{Features, LogicalLine, Repair, RepairSet};
use crate::grammar::{BareRequirement, Scheme, SchemeClass};
use crate::limits::RFC1738_WRAPPER_BYTES;
use crate::scan::{Rules, UrlStart};
use crate::span::Span;

/// The result of reading a wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrappedText {
    /// The wrapper is closed by the `>` at this offset; the logical line has its content.
    Closed(usize),
    /// The wrapper is closed by the `>` at this offset, but contains the beginnings of two URLs: none of it is used.
    SeveralUrls(usize),
    /// The wrapper is not closed: its `<` is an ordinary character.
    Unclosed,
}

/// Unfolds the content of the wrapper at `start` into `line`.
///
/// Reads at most `max_bytes` after the `<` ([`RFC1738_WRAPPER_BYTES`] by the strict rules) and stops at the next `<`, so
/// that the wrappers of a text are read once in total.
pub fn unfold_wrapper(
    text: &[u8],
    start: &UrlStart,
    rules: Rules,
    max_bytes: usize,
    line: &mut LogicalLine,
) -> WrappedText {
    line.clear();
    let max_bytes = if rules == Rules::Rfc1738 {
        RFC1738_WRAPPER_BYTES
    } else {
        max_bytes
    };
    // The `<`, the content and the `>`.
    let limit = text
        .len()
        .min(start.at.saturating_add(max_bytes).saturating_add(2));
    let content = WrapperContent::new(text, start, rules, limit);
    let mut at = start.content;
    let mut several_urls = false;
    let mut gaps = 0;
    while at < limit {
        match text[at] {
            b'>' => {
                return if several_urls {
                    WrappedText::SeveralUrls(at)
                } else {
                    WrappedText::Closed(at)
                };
            }
            b'<' => return WrappedText::Unclosed,
            byte if is_blank(byte) || is_line_end(byte) => {
                let Some(gap) = content.gap(at, line) else {
                    return WrappedText::Unclosed;
                };
                // Several words on one line are prose after a missing `>`.
                gaps = if gap.repairs.has(Repair::LineBreak) {
                    0
                } else {
                    gaps + 1
                };
                if rules == Rules::Wide && gaps > PROSE_GAPS && text.get(gap.end) != Some(&b'>') {
                    return WrappedText::Unclosed;
                }
                several_urls |= !line.text().is_empty() && begins_url(&text[gap.end..limit], rules);
                line.join(gap.repairs, 1.0, Features::default());
                at = gap.end;
            }
            _ => {
                let rest = &text[at..limit];
                let end = at
                    + rest
                        .iter()
                        .position(|&byte| !PLAIN[usize::from(byte)])
                        .unwrap_or(rest.len());
                line.push(text, at, end);
                at = end;
            }
        }
    }
    WrappedText::Unclosed
}

/// Maximum number of gaps between words on one line of a wrapper's content. With more of them it is prose.
///
/// People write `<http://a.example/ drafts/ x>`; wrappers with a label have at most two gaps.
const PROSE_GAPS: usize = 2;

/// White space inside a wrapper, with the quote marks and page break after it.
struct Gap {
    repairs: RepairSet,
    /// The offset after the gap.
    end: usize,
}

/// The content of a wrapper while it is read.
struct WrapperContent<'t> {
    text: &'t [u8],
    /// The offset at which reading stops.
    limit: usize,
    rules: Rules,
    /// The quote marks of the line on which the wrapper begins.
    first: QuoteMarks,
    /// `true` if the `+` of a diff follows these marks.
    has_plus: bool,
}

impl<'t> WrapperContent<'t> {
    fn new(text: &'t [u8], start: &UrlStart, rules: Rules, limit: usize) -> WrapperContent<'t> {
        let style = if rules == Rules::Wide {
            QuoteStyle::Wide
        } else {
            QuoteStyle::Strict
        };
        let line = line_start(text, start.at).unwrap_or(start.at);
        let mut first = marks(text, Span::new(line, start.at), style);
        // In a diff, the lines of the first text begin with `<` and a blank.
        if rules == Rules::Wide
            && first.marks.is_empty()
            && line < start.at
            && text[line..].starts_with(b"< ")
        {
            first.marks.push(Span::new(line, line + 1));
            first.end = line + 1;
        }
        let has_plus = rules == Rules::Wide
            && text[first.end..start.at].trim_ascii_start().first() == Some(&b'+');
        WrapperContent {
            text,
            limit,
            rules,
            first,
            has_plus,
        }
    }

    /// Returns the gap that begins with the white space at `at`. `None` if a blank line follows: then the wrapper was never
    /// closed.
    fn gap(&self, at: usize, line: &LogicalLine) -> Option<Gap> {
        let mut repairs = RepairSet::default();
        let mut end = self.skip_blanks(at);
        if !self.at_line_end(end) {
            repairs.add(Repair::Whitespace);
            return Some(Gap { repairs, end });
        }
        repairs.add(Repair::LineBreak);
        if line.text().last() == Some(&b'-') {
            repairs.add(Repair::Hyphen);
        }
        end = line_end(self.text, end).next;
        if let Some(next) = page_break(self.text, end, self.limit) {
            repairs.add(Repair::PageBreak);
            end = next;
        }
        loop {
            let begin = end.min(self.limit);
            if let Some(next) = self.marks_only_line(begin) {
                repairs.add(Repair::QuotePrefix);
                end = next;
                continue;
            }
            end = self.skip_marks(begin);
            if end > begin {
                repairs.add(Repair::QuotePrefix);
            }
            end = self.skip_blanks(end);
            return (!self.at_line_end(end)).then_some(Gap { repairs, end });
        }
    }

    /// Returns the offset after the quote marks that the line at `begin` has in common with the first line.
    ///
    /// By the strict rules all marks of the first line must be there, by the wide rules any number of them. Further marks
    /// are not skipped: a `>` closes the wrapper.
    fn skip_marks(&self, begin: usize) -> usize {
        let CommonMarks { count, end } = common_marks(
            self.text,
            Span::new(begin, self.limit.max(begin)),
            &self.first,
        );
        if count == 0 || (self.rules == Rules::Rfc1738 && count < self.first.marks.len()) {
            return begin;
        }
        let rest = self.skip_blanks(end);
        if self.has_plus && self.text.get(rest) == Some(&b'+') {
            rest + 1
        } else {
            end
        }
    }

    /// Returns the offset after a line that has only quote marks, at least two more than the first line. A mailer leaves
    /// such a line between the pieces of a line that it broke. Any other blank line ends the wrapper.
    fn marks_only_line(&self, begin: usize) -> Option<usize> {
        let LineEnd { end, next } = line_end(self.text, begin);
        if self.rules == Rules::Rfc1738 || self.first.marks.is_empty() || next > self.limit {
            return None;
        }
        let count = common_marks(self.text, Span::new(begin, end), &self.first).count;
        let all = marks(self.text, Span::new(begin, end), QuoteStyle::Wide);
        let only_marks = self.text[all.end..end].trim_ascii().is_empty();
        (only_marks && count == self.first.marks.len() && all.marks.len() >= count + 2)
            .then_some(next)
    }

    fn skip_blanks(&self, at: usize) -> usize {
        at + self.text[at..self.limit.max(at)]
            .iter()
            .take_while(|&&byte| is_blank(byte))
            .count()
    }

    fn at_line_end(&self, at: usize) -> bool {
        at < self.limit && is_line_end(self.text[at])
    }
}

/// Returns `true` if another URL begins here: `URL:`, one of the eight predefined schemes with `//`, `mailto:` or `news:`;
/// by the wide rules also any other known scheme with `//` and a host.
fn begins_url(text: &[u8], rules: Rules) -> bool {
    let Some(colon) = text
        .iter()
        .take(crate::limits::SCHEME_CHARS)
        .position(|&byte| byte == b':')
    else {
        return false;
    };
    let (name, rest) = (&text[..colon], &text[colon + 1..]);
    if name.eq_ignore_ascii_case(b"url") {
        return true;
    }
    Scheme::named(name).is_some_and(|row| match (row.class, row.bare) {
        (SchemeClass::Predefined, BareRequirement::Host | BareRequirement::Slashes) => {
            rest.starts_with(b"//")
        }
        (SchemeClass::Predefined, _) => true,
        _ => rules == Rules::Wide && row.bare == BareRequirement::Host && rest.starts_with(b"//"),
    })
}

/// The bytes that neither end a wrapper's content nor begin a gap. A table, because most bytes of a wrapper are such.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut at = 0;
    while at < plain.len() {
        let byte = at as u8;
        plain[at] = !(is_blank(byte) || is_line_end(byte) || matches!(byte, b'<' | b'>'));
        at += 1;
    }
    plain
};
