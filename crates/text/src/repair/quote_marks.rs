//! Quote marks: the characters that replies insert before quoted lines. `mark_len` recognizes them
//! for wrappers, bare URLs, quoted-printable and the depth of a quotation.

use super::{LineEnd, is_blank, line_end, line_start};
use crate::byte_scan::prefix_len;
use crate::span::Span;

/// The characters that count as quote marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuoteStyle {
    /// `>` and `|`. Blanks between the marks are ignored.
    Strict,
    /// Also `:`, `›`, `│`, and a person's initials before a `>` (`JD> `).
    Wide,
}

/// The quote marks at the start of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct QuoteMarks {
    /// Each mark, with its initials, as a range of the text.
    pub(super) marks: Vec<Span>,
    /// The offset after the last mark, or the start of the line if there are no marks.
    pub(super) end: usize,
}

/// The quote marks before `at` in the line that contains it.
fn marks_before(text: &[u8], at: usize, style: QuoteStyle) -> QuoteMarks {
    let start = line_start(text, at).unwrap_or(at);
    marks(text, Span::new(start, at), style)
}

/// The quote marks at the start of `line`.
pub(super) fn marks(text: &[u8], line: Span, style: QuoteStyle) -> QuoteMarks {
    let mut found = QuoteMarks {
        marks: Vec::new(),
        end: line.start,
    };
    loop {
        let at = skip_blanks(text, found.end, line.end);
        let position = MarkPosition {
            blanks: at - found.end,
            is_first: found.marks.is_empty(),
        };
        let len = mark_len(&text[at..line.end], style, position);
        if len == 0 {
            return found;
        }
        found.marks.push(Span::new(at, at + len));
        found.end = at + len;
    }
}

/// The quote marks that two lines share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommonMarks {
    /// The number of marks.
    pub(super) count: usize,
    /// The offset after the last shared mark in the second line, or the start of that line if there
    /// are none.
    pub(super) end: usize,
}

/// Returns the leading marks of `first` that also start `line`, in the same order.
pub(super) fn common_marks(text: &[u8], line: Span, first: &QuoteMarks) -> CommonMarks {
    let mut end = line.start;
    for (count, mark) in first.marks.iter().enumerate() {
        let at = skip_blanks(text, end, line.end);
        if !text[at..line.end].starts_with(mark.of(text)) {
            return CommonMarks { count, end };
        }
        end = at + mark.len();
    }
    CommonMarks {
        count: first.marks.len(),
        end,
    }
}

/// The position of a mark in its line.
#[derive(Clone, Copy)]
pub(super) struct MarkPosition {
    /// Number of blanks before it.
    pub(super) blanks: usize,
    /// `true` if no other mark precedes it.
    pub(super) is_first: bool,
}

/// The length of the mark at the start of `rest`, or 0.
pub(super) fn mark_len(rest: &[u8], style: QuoteStyle, position: MarkPosition) -> usize {
    match (rest, style) {
        ([b'>', ..], _) | ([b'|', ..], QuoteStyle::Strict) => 1,
        (_, QuoteStyle::Strict) => 0,
        (rest, QuoteStyle::Wide) if rest.starts_with(UNICODE_ARROW) => UNICODE_ARROW.len(),
        (rest, QuoteStyle::Wide) if rest.starts_with(UNICODE_BAR) && position.blanks <= 1 => {
            UNICODE_BAR.len()
        }
        // A bar or colon is a quote mark only at the very start of a line or after other marks.
        ([b'|' | b':', after @ ..], QuoteStyle::Wide) => {
            let is_mark = after.first().is_none_or(|&byte| {
                is_blank(byte)
                    || matches!(byte, b'>' | b'|' | b':' | b'_' | b'\r' | b'\n')
                    || byte.is_ascii_alphabetic()
            });
            let max_blanks = usize::from(!position.is_first);
            usize::from(is_mark && position.blanks <= max_blanks)
        }
        _ => initials(rest),
    }
}

/// The quote mark `›` (U+203A) of some programs.
pub(super) const UNICODE_ARROW: &[u8] = "\u{203A}".as_bytes();

/// The quote mark `│` (U+2502), a box-drawing line that some programs use.
pub(super) const UNICODE_BAR: &[u8] = "\u{2502}".as_bytes();

/// Maximum number of letters in a person's initials or first name before a `>`: `J>`, `JD>`,
/// `John>`.
const INITIALS: usize = 4;

/// The length of a person's initials and the `>` after them (`JD>`, `=Tim>`), or 0.
fn initials(rest: &[u8]) -> usize {
    let sign =
        usize::from(rest.first().is_some_and(|byte| {
            byte.is_ascii_punctuation() && !matches!(byte, b'<' | b'>' | b'_')
        }));
    if !rest.get(sign).is_some_and(u8::is_ascii_uppercase) {
        return 0;
    }
    let letters = prefix_len(
        &rest[sign..][..rest[sign..].len().min(INITIALS + 1)],
        u8::is_ascii_alphabetic,
    );
    let closed = rest.get(sign + letters) == Some(&b'>');
    if closed && letters <= INITIALS {
        sign + letters + 1
    } else {
        0
    }
}

fn skip_blanks(text: &[u8], from: usize, end: usize) -> usize {
    from + prefix_len(&text[from..end], |&byte| is_blank(byte))
}

/// The quote depth of the line that contains `at`: the number of quote marks before `at`, not
/// counting `:` and the bars of a table.
#[must_use]
pub fn quote_depth(text: &[u8], at: usize) -> usize {
    let found = marks_before(text, at, QuoteStyle::Wide);
    if found.marks.is_empty() {
        return 0;
    }
    let colons = found.marks.iter().filter(|mark| mark.of(text) == b":");
    let bars = match found
        .marks
        .iter()
        .filter(|mark| matches!(mark.of(text), b"|" | UNICODE_BAR))
        .count()
    {
        0 => 0,
        _ if !is_row(text, found.end, at) => 0,
        bars => bars,
    };
    found.marks.len() - colons.count() - bars
}

/// Returns `true` if the line that contains `at` is a table row. Such a row ends with another bar,
/// has two more bars, or is next to a rule of hyphens between bars (`|---|---|`). The quote marks
/// of the line end at `marks_end`.
fn is_row(text: &[u8], marks_end: usize, at: usize) -> bool {
    let LineEnd { end, next } = line_end(text, at);
    let rest = text[marks_end..end].trim_ascii_end();
    let bar = |text: &[u8]| memchr::memmem::find_iter(text, UNICODE_BAR).count();
    let bars = memchr::memchr_iter(b'|', rest).count() + bar(rest);
    let is_closed = rest.ends_with(b"|") || rest.ends_with(UNICODE_BAR);
    let below = Span::new(next, line_end(text, next).end);
    is_closed || 2 <= bars || is_rule(below.of(text))
}

/// Returns `true` for the rule between the head of a table and its rows.
fn is_rule(line: &[u8]) -> bool {
    let line = &line[..line.len().min(RULE_BYTES)];
    let hyphens = memchr::memchr_iter(b'-', line).count();
    3 <= hyphens && line.contains(&b'|') && line.iter().all(|byte| b"|-:+=> \t".contains(byte))
}

/// Maximum number of bytes of a rule to check.
const RULE_BYTES: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    /// The offset after the marks at the start of a line.
    fn end(line: &str, style: QuoteStyle) -> usize {
        marks(line.as_bytes(), Span::new(0, line.len()), style).end
    }

    #[test]
    fn blanks_between_marks_are_ignored() {
        assert_eq!(end("> > |  x > y", QuoteStyle::Strict), 5);
        assert_eq!(end(" > x", QuoteStyle::Strict), 2);
    }

    #[test]
    fn initials_belong_to_their_mark_by_the_wide_rules() {
        assert_eq!(end("JD> x", QuoteStyle::Wide), 3);
        assert_eq!(end("> JD> x", QuoteStyle::Wide), 5);
        assert_eq!(end("JD> x", QuoteStyle::Strict), 0);
        assert_eq!(end("word> x", QuoteStyle::Wide), 0);
        assert_eq!(end(": x", QuoteStyle::Wide), 1);
        assert_eq!(end(":8080/", QuoteStyle::Wide), 0);
        assert_eq!(quote_depth(b"a\n> JD> : http:", 11), 2);
    }

    #[test]
    fn bars_of_a_table_are_no_quote_marks() {
        for (line, depth) in [
            ("| http://a.example/", 1),
            ("> | http://a.example/", 2),
            ("\u{203a} \u{203a} http://a.example/", 2),
            ("\u{2502} http://a.example/", 1),
            ("| a | http://a.example/ |", 0),
            ("| http://a.example/ | a | b", 0),
            ("| http://a.example/ |\r\n", 0),
            ("> | http://a.example/ | 1 |", 1),
            ("\u{2502} http://a.example/ \u{2502}", 0),
            ("| http://a.example/ | b\n|---|---|\n", 0),
            ("| http://a.example/ | b\n| c", 1),
        ] {
            let at = line.find("http").unwrap();
            assert_eq!(quote_depth(line.as_bytes(), at), depth, "{line}");
        }
    }

    #[test]
    fn common_marks_are_counted_from_the_start_of_the_line() {
        let text = b"> > >a\n> >b";
        let first = marks(text, Span::new(0, 6), QuoteStyle::Wide);
        assert_eq!(
            common_marks(text, Span::new(7, 11), &first),
            CommonMarks { count: 2, end: 10 }
        );
    }
}
