//! Quote marks: what replies put before the lines they cite.

use super::line::{is_blank, line_start};
use crate::span::Span;

/// Which characters are read as quote marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `>` and `|`, blanks between them ignored (`spec/appendix-rules.md` 6).
    Strict,
    /// Also `:`, and a person's initials before a `>` (`JD> `).
    Wide,
}

/// The marks at the start of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// Each mark, its initials included, as bytes of the text.
    pub(super) marks: Vec<Span>,
    /// Where in the text the last mark ends; the line's start if there is none.
    pub(super) end: usize,
}

/// The marks of the line that holds `at`, as far as they stand before `at`.
pub(super) fn marks_before(text: &[u8], at: usize, style: Style) -> Marks {
    let start = line_start(text, at).unwrap_or(at);
    marks(text, Span::new(start, at), style)
}

/// The marks at the start of `line`.
pub(super) fn marks(text: &[u8], line: Span, style: Style) -> Marks {
    let mut found = Marks {
        marks: Vec::new(),
        end: line.start,
    };
    loop {
        let at = skip_blanks(text, found.end, line.end);
        let len = mark(
            &text[at..line.end],
            style,
            at - found.end,
            !found.marks.is_empty(),
        );
        if len == 0 {
            return found;
        }
        found.marks.push(Span::new(at, at + len));
        found.end = at + len;
    }
}

/// How many of the marks `first` stand at the start of `line`, in their order, and where the last of them ends.
pub(super) fn same_marks(text: &[u8], line: Span, first: &Marks) -> (usize, usize) {
    let mut end = line.start;
    for (count, mark) in first.marks.iter().enumerate() {
        let at = skip_blanks(text, end, line.end);
        if !text[at..line.end].starts_with(mark.of(text)) {
            return (count, end);
        }
        end = at + mark.len();
    }
    (first.marks.len(), end)
}

/// Bytes of the mark at the start of `rest`, `blanks` behind the mark or line start before it; 0 for none.
fn mark(rest: &[u8], style: Style, blanks: usize, behind_mark: bool) -> usize {
    match (rest, style) {
        ([b'>', ..], _) | ([b'|', ..], Style::Strict) => 1,
        (_, Style::Strict) => 0,
        // As quote marks these stand at the very start of a line or behind others; elsewhere they are text.
        ([b'|' | b':', after @ ..], Style::Wide) => {
            let goes_on = after.first().is_none_or(|&byte| {
                is_blank(byte)
                    || matches!(byte, b'>' | b'|' | b':' | b'_' | b'\r' | b'\n')
                    || byte.is_ascii_alphabetic()
            });
            usize::from(goes_on && blanks <= 1 && (behind_mark || blanks == 0))
        }
        _ => initials(rest),
    }
}

/// Bytes of a person's initials and the `>` behind them (`JD>`, `=Tim>`), or 0.
fn initials(rest: &[u8]) -> usize {
    const MOST_LETTERS: usize = 4;
    let sign =
        usize::from(rest.first().is_some_and(|byte| {
            byte.is_ascii_punctuation() && !matches!(byte, b'<' | b'>' | b'_')
        }));
    let letters = rest[sign..]
        .iter()
        .take(MOST_LETTERS + 1)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let capital = rest.get(sign).is_some_and(u8::is_ascii_uppercase);
    let closed = rest.get(sign + letters) == Some(&b'>');
    if capital && closed && letters <= MOST_LETTERS {
        sign + letters + 1
    } else {
        0
    }
}

fn skip_blanks(text: &[u8], from: usize, end: usize) -> usize {
    from + text[from..end]
        .iter()
        .take_while(|&&byte| is_blank(byte))
        .count()
}

/// How deep the line that holds `at` is quoted: the number of its `>` and `|` marks before `at`.
#[must_use]
pub fn quote_depth(text: &[u8], at: usize) -> usize {
    let found = marks_before(text, at, Style::Wide);
    found
        .marks
        .iter()
        .filter(|mark| mark.of(text) != b":")
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that the marks at the start of a line take up.
    fn end(line: &str, style: Style) -> usize {
        marks(line.as_bytes(), Span::new(0, line.len()), style).end
    }

    #[test]
    fn blanks_between_marks_are_ignored() {
        assert_eq!(end("> > |  x > y", Style::Strict), 5);
        assert_eq!(end(" > x", Style::Strict), 2);
    }

    #[test]
    fn initials_belong_to_their_mark_by_the_wide_rules() {
        assert_eq!(end("JD> x", Style::Wide), 3);
        assert_eq!(end("> JD> x", Style::Wide), 5);
        assert_eq!(end("JD> x", Style::Strict), 0);
        assert_eq!(end("word> x", Style::Wide), 0);
        assert_eq!(end(": x", Style::Wide), 1);
        assert_eq!(end(":8080/", Style::Wide), 0);
        assert_eq!(quote_depth(b"a\n> JD> : http:", 11), 2);
    }

    #[test]
    fn as_many_marks_are_the_same_as_there_are() {
        let text = b"> > >a\n> >b";
        let first = marks(text, Span::new(0, 6), Style::Wide);
        assert_eq!(same_marks(text, Span::new(7, 11), &first), (2, 10));
    }
}
