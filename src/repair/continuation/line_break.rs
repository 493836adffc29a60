//! The two lines at a line break: where the URL stands in the upper one, and the token in the lower.

use super::line_prefix::{Marks, common_lead};
use super::line_width::{Row, indentation, nearby, row};
use crate::limits::CONTINUATION_BYTES;
use crate::repair::line::line_start;
use crate::repair::url_run::{INERT, word_terminator_len};
use crate::scan::Rules;
use crate::span::Span;

/// What begins the line behind the lower one, its quote marks aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    /// Nothing: the line is blank, or there is none.
    Blank,
    /// A slash.
    Slash,
    /// Anything else, or it was not looked for.
    Text,
}

/// The line that the URL, as far as it was read, ends in.
#[derive(Clone, Copy, Debug)]
struct Upper {
    /// The line, from its start to the URL's last byte.
    line: Span,
    /// Where the URL begins in it, or goes on.
    piece: usize,
    /// Whether it goes on there.
    chained: bool,
}

/// A line break behind a URL, and what stands around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineBreak<'t> {
    text: &'t [u8],
    upper: Upper,
    /// Where the upper line's text begins behind its quote marks.
    upper_body: usize,
    lower: Row,
    /// Where the lower line's text begins behind its quote marks and the comment lead that both lines have.
    lower_body: usize,
    /// The run of characters at the start of that text that can belong to a URL. Not empty.
    pub(super) token: Span,
    /// Whether the token reaches the end of its line, blanks aside.
    pub(super) whole_line: bool,
    /// Whether the lower line has quote marks.
    pub(super) quoted: bool,
    /// What comes behind the lower line.
    pub(super) follow: Follow,
}

impl<'t> LineBreak<'t> {
    /// The line break behind `head`, a URL's first run of characters. None if something else stands between them, if
    /// there is no token behind it, or if one of them is longer than is looked.
    pub(super) fn behind(text: &'t [u8], head: Span) -> Option<LineBreak<'t>> {
        if head.is_empty() || head.len() > CONTINUATION_BYTES {
            return None;
        }
        let rest = row(text, head.end, CONTINUATION_BYTES);
        let blank = indentation(rest.span.of(text)) == rest.span.len();
        if rest.cut || !blank || run(head.of(text)) < head.len() {
            return None;
        }
        let start = line_start(text, head.start)?;
        let upper = Upper {
            line: Span::new(start, head.end),
            piece: head.start,
            chained: false,
        };
        LineBreak::between(text, upper, rest.next)
    }

    /// The line break behind this one's token, which is taken to belong to the URL and to be all of its line.
    pub(super) fn next(&self) -> Option<LineBreak<'t>> {
        let line = Span::new(self.lower.span.start, self.token.end);
        let upper = Upper {
            line,
            piece: self.token.start,
            chained: true,
        };
        if self.lower.cut {
            None
        } else {
            LineBreak::between(self.text, upper, self.lower.next)
        }
    }

    fn between(text: &'t [u8], upper: Upper, next: usize) -> Option<LineBreak<'t>> {
        let lower = row(text, next, CONTINUATION_BYTES);
        let line = lower.span.of(text);
        if indentation(line) == line.len() {
            return None;
        }
        let upper_line = upper.line.of(text);
        let upper_marks = Marks::first(upper_line);
        let upper_body = upper.piece.min(upper.line.start + upper_marks.len);
        let lower_marks = upper_marks.next(line);
        let body = lower.span.start + lower_marks.len;
        let lower_body = body
            + common_lead(
                &text[upper_body..upper.line.end],
                &text[body..lower.span.end],
            );

        let inner = &text[lower_body..lower.span.end];
        let start = lower_body + indentation(inner);
        let token = Span::new(start, start + run(&text[start..lower.span.end]));
        let rest = &text[token.end..lower.span.end];
        // A token longer than is looked has no end, and one that is empty no beginning.
        if token.is_empty() || lower.cut && rest.is_empty() {
            return None;
        }
        Some(LineBreak {
            text,
            upper,
            upper_body,
            lower,
            lower_body,
            token,
            whole_line: !lower.cut && indentation(rest) == rest.len(),
            quoted: !lower_marks.is_empty(),
            follow: if lower.cut {
                Follow::Text
            } else {
                follow(text, lower.next, &upper_marks)
            },
        })
    }

    /// Whether the URL goes on in the upper line, and begins in one above it.
    pub(super) fn chained(&self) -> bool {
        self.upper.chained
    }

    /// The upper line, up to the URL's last byte.
    pub(super) fn upper_line(&self) -> &'t [u8] {
        self.upper.line.of(self.text)
    }

    /// What stands in the upper line between the quote marks and the URL, or its last piece.
    pub(super) fn before_url(&self) -> &'t [u8] {
        &self.text[self.upper_body..self.upper.piece]
    }

    /// The byte before the URL, if it begins in the upper line and not at its start.
    pub(super) fn opener(&self) -> Option<u8> {
        let first = self.upper.chained || self.upper.piece == self.upper.line.start;
        if first {
            None
        } else {
            Some(self.text[self.upper.piece - 1])
        }
    }

    /// The token, and at most `more` bytes of its line behind it.
    pub(super) fn token_and(&self, more: usize) -> &'t [u8] {
        &self.text[self.token.start..self.lower.span.end.min(self.token.end + more)]
    }

    /// The white space before the first text of the upper line and that before the token, quote marks aside.
    pub(super) fn indentations(&self) -> [&'t [u8]; 2] {
        let upper = &self.text[self.upper_body..self.upper.line.end];
        [
            &upper[..indentation(upper)],
            &self.text[self.lower_body..self.token.start],
        ]
    }

    /// The lines around the upper one, without it.
    pub(super) fn nearby(&self) -> impl Iterator<Item = &'t [u8]> {
        nearby(self.text, self.upper.line.start, self.lower.span.start)
    }
}

/// Bytes at the start of `line` that can belong to a bare URL: up to white space, a bracket, a quote or the like, or
/// the HTML entity of one.
fn run(line: &[u8]) -> usize {
    let mut at = 0;
    while let Some(inert) = line[at..]
        .iter()
        .position(|&byte| !INERT[usize::from(byte)])
    {
        at += inert;
        if word_terminator_len(&line[at..], Rules::Wide) > 0 || is_entity(&line[at..]) {
            return at;
        }
        at += 1;
    }
    line.len()
}

/// `&lt;`, `&gt;` or `&quot;`.
fn is_entity(rest: &[u8]) -> bool {
    [&b"&lt;"[..], b"&gt;", b"&quot;"]
        .iter()
        .any(|entity| rest.starts_with(entity))
}

fn follow(text: &[u8], at: usize, upper: &Marks<'_>) -> Follow {
    let row = row(text, at, CONTINUATION_BYTES);
    let line = row.span.of(text);
    let body = &line[upper.next(line).len..];
    match body.get(indentation(body)) {
        None if row.cut => Follow::Text,
        None => Follow::Blank,
        Some(b'/') => Follow::Slash,
        Some(_) => Follow::Text,
    }
}
