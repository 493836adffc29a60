//! The inside of a wrapper (RFC 1738, appendix; `spec/appendix-rules.md` 4 to 10).

use super::line::{is_blank, is_line_end, line_end, line_start};
use super::page_break::page_break;
use super::quote_marks::{Marks, Style, marks, same_marks};
use super::{Features, LogicalLine, Repair, RepairSet};
use crate::grammar::{BareRequirement, Scheme, SchemeClass};
use crate::limits::RFC1738_WRAPPER_BYTES;
use crate::scan::{Rules, UrlStart};
use crate::span::Span;

/// What became of a wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrappedText {
    /// It closes with the `>` at this offset, and the line holds its content.
    Closed(usize),
    /// It closes there, but holds the beginnings of two URLs: no piece of it can be trusted.
    SeveralUrls(usize),
    /// It does not close: its `<` is an ordinary character.
    Unclosed,
}

/// Lays the content of the wrapper at `start` out in `line`.
///
/// Reads at most `most` bytes behind the `<` (2,000 by the strict rules) and stops at the first `<`, so that all
/// wrappers of a text together are read once.
pub fn wrapped(
    text: &[u8],
    start: &UrlStart,
    rules: Rules,
    most: usize,
    line: &mut LogicalLine,
) -> WrappedText {
    line.clear();
    let most = if rules == Rules::Rfc1738 {
        RFC1738_WRAPPER_BYTES
    } else {
        most
    };
    // One byte more than the content may have: the `>`.
    let limit = text
        .len()
        .min(start.at.saturating_add(most).saturating_add(2));
    let inside = Inside::of(text, start, rules, limit);
    let mut at = start.content;
    let mut void = false;
    let mut gaps = 0;
    while at < limit {
        match text[at] {
            b'>' => {
                return if void {
                    WrappedText::SeveralUrls(at)
                } else {
                    WrappedText::Closed(at)
                };
            }
            b'<' => return WrappedText::Unclosed,
            byte if is_blank(byte) || is_line_end(byte) => {
                let Some(gap) = inside.gap(at, line) else {
                    return WrappedText::Unclosed;
                };
                // Several words on one line are prose behind a forgotten `>`.
                gaps = if gap.repairs.has(Repair::LineBreak) {
                    0
                } else {
                    gaps + 1
                };
                if rules == Rules::Wide && gaps > PROSE_GAPS && text.get(gap.end) != Some(&b'>') {
                    return WrappedText::Unclosed;
                }
                void |= !line.text().is_empty() && begins_url(&text[gap.end..limit], rules);
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

/// Blanks between words on one line of a wrapper's content, above which it is prose. People write
/// `<http://a.example/ drafts/ x>`; labelled wrappers have two at most.
const PROSE_GAPS: usize = 2;

/// White space inside a wrapper, and what came with it.
struct Gap {
    repairs: RepairSet,
    /// The first byte behind it.
    end: usize,
}

/// What is known of a wrapper while its content is read.
struct Inside<'t> {
    text: &'t [u8],
    /// Where reading stops.
    limit: usize,
    rules: Rules,
    /// The quote marks of the line that the wrapper begins on.
    first: Marks,
    /// Whether a diff's `+` stands behind those marks.
    plus: bool,
}

impl<'t> Inside<'t> {
    fn of(text: &'t [u8], start: &UrlStart, rules: Rules, limit: usize) -> Inside<'t> {
        let style = if rules == Rules::Wide {
            Style::Wide
        } else {
            Style::Strict
        };
        let line = line_start(text, start.at).unwrap_or(start.at);
        let mut first = marks(text, Span::new(line, start.at), style);
        // A diff between two texts begins the lines of the first with `<` and a blank.
        if rules == Rules::Wide
            && first.marks.is_empty()
            && line < start.at
            && text[line..].starts_with(b"< ")
        {
            first.marks.push(Span::new(line, line + 1));
            first.end = line + 1;
        }
        let plus = rules == Rules::Wide
            && text[first.end..start.at].trim_ascii_start().first() == Some(&b'+');
        Inside {
            text,
            limit,
            rules,
            first,
            plus,
        }
    }

    /// The white space at `at`, with the quote marks and page furniture behind its line break; nothing where a
    /// blank line shows that the wrapper was never closed.
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
        end = line_end(self.text, end).1;
        if let Some(behind) = page_break(self.text, end, self.limit) {
            repairs.add(Repair::PageBreak);
            end = behind;
        }
        loop {
            let begin = end.min(self.limit);
            if let Some(next) = self.debris(begin) {
                repairs.add(Repair::QuotePrefix);
                end = next;
                continue;
            }
            end = self.marks_undone(begin);
            if end > begin {
                repairs.add(Repair::QuotePrefix);
            }
            end = self.skip_blanks(end);
            return (!self.at_line_end(end)).then_some(Gap { repairs, end });
        }
    }

    /// Where the line at `begin` goes on behind those of its quote marks that are the first line's.
    ///
    /// By the strict rules all of them must be there; by the wide ones as many as are there are undone, and never
    /// more: a `>` too many closes the wrapper.
    fn marks_undone(&self, begin: usize) -> usize {
        let (count, end) = same_marks(
            self.text,
            Span::new(begin, self.limit.max(begin)),
            &self.first,
        );
        if count == 0 || (self.rules == Rules::Rfc1738 && count < self.first.marks.len()) {
            return begin;
        }
        let rest = self.skip_blanks(end);
        if self.plus && self.text.get(rest) == Some(&b'+') {
            rest + 1
        } else {
            end
        }
    }

    /// The end of a line of nothing but quote marks, two or more deeper than the first line's: what a mailer
    /// leaves between the pieces of a line that it broke. Any other blank line ends the wrapper.
    fn debris(&self, begin: usize) -> Option<usize> {
        let (end, next) = line_end(self.text, begin);
        if self.rules == Rules::Rfc1738 || self.first.marks.is_empty() || next > self.limit {
            return None;
        }
        let (count, _) = same_marks(self.text, Span::new(begin, end), &self.first);
        let all = marks(self.text, Span::new(begin, end), Style::Wide);
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

/// Whether another URL begins here: `URL:`, one of the eight schemes with `//`, `mailto:` or `news:`
/// (`spec/appendix-rules.md` 10).
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

/// The bytes that neither end a wrapper's content nor break it.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut at = 0;
    while at < plain.len() {
        let octet = at as u8;
        plain[at] = !(is_blank(octet) || is_line_end(octet) || matches!(octet, b'<' | b'>'));
        at += 1;
    }
    plain
};
