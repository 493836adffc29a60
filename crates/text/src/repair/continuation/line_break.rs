//! A line break after a URL: the upper line with the URL, the lower line with the token, and the
//! blanks that a program left at nearby line ends.

use std::cell::OnceCell;

use super::line_layout::{
    FILLED_COLUMNS, above, columns, common_lead, holds_url, indentation, nearby, trim_end,
};
use super::token::ContinuationToken;
use crate::byte_scan::suffix_len;
use crate::limits::CONTINUATION_BYTES;
use crate::repair::quote_marks::QuoteMarks;
use crate::repair::url_run::url_run_end;
use crate::repair::{TextLine, is_blank, line_start, start_of_line};
use crate::scan::Rules;
use crate::span::Span;

/// Maximum number of lines of quote marks before a line that was moved out of a quotation: each of
/// two replies leaves one.
const MOVED_BLANKS: usize = 2;

/// Maximum number of bytes of a rest that no program leaves at a break after a slash or hyphen.
const TINY_BYTES: usize = 3;

/// Maximum number of bytes of the rest of a rebroken line. Added quote marks and a narrower program
/// take up to this number of columns.
const REST_BYTES: usize = 16;

/// The start of the line after the lower line, without quote marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FollowingLine {
    /// The line is blank or does not exist.
    Blank,
    /// The line starts with a slash.
    Slash,
    /// The line starts with a URL, or with a host that may be one.
    Site,
    /// The line starts with other text, or was not read.
    Text,
}

/// The line that contains the end of the URL read so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct UpperLine {
    /// The range from the start of the line to the last byte of the URL.
    line: Span,
    /// The offset in the text at which the URL, or its latest piece, starts.
    piece: usize,
    /// `true` if the URL starts in an earlier line and was continued in this one.
    pub(super) is_continued: bool,
    /// The range of the white space after the URL on its line.
    blanks_after: Span,
    /// The number of columns of the previous line if this line is the rest of it: see
    /// [`LineBreak::rejoined_columns`].
    cut_columns: usize,
    /// `true` if an earlier line of the URL is full and was cut inside a word.
    pub(super) follows_cut: bool,
}

/// A line break after a URL, and the text around it.
#[derive(Clone, Debug)]
pub(super) struct LineBreak<'t> {
    text: &'t [u8],
    pub(super) upper: UpperLine,
    /// The offset after the quote marks of the upper line.
    upper_body: usize,
    lower: TextLine,
    /// The offset after the quote marks of the lower line and the comment lead that both lines
    /// share.
    lower_body: usize,
    /// The run of characters, after that offset and white space, that can belong to a URL. Not
    /// empty.
    pub(super) token: Span,
    /// `true` if only blanks follow the token on its line.
    pub(super) whole_line: bool,
    /// `true` if the lower line has quote marks.
    pub(super) quoted: bool,
    /// `true` if a line of only quote marks is between the two lines.
    pub(super) blank_between: bool,
    /// The line after the lower one, read on demand: most line breaks are decided without it.
    following: OnceCell<FollowingLine>,
}

impl<'t> LineBreak<'t> {
    /// Returns the line break after `head`, the first run of characters of a URL. Returns `None` if
    /// other text follows `head` on its line, if the next line has no token, or if either is longer
    /// than [`CONTINUATION_BYTES`].
    pub(super) fn after(text: &'t [u8], head: Span) -> Option<LineBreak<'t>> {
        if head.is_empty() || head.len() > CONTINUATION_BYTES {
            return None;
        }
        let rest = start_of_line(text, head.end, CONTINUATION_BYTES);
        let blank = indentation(rest.span.of(text)) == rest.span.len();
        if rest.cut || !blank || run(head.of(text)) < head.len() {
            return None;
        }
        let start = line_start(text, head.start)?;
        let upper = UpperLine {
            line: Span::new(start, head.end),
            piece: head.start,
            is_continued: false,
            blanks_after: rest.span,
            cut_columns: 0,
            follows_cut: false,
        };
        LineBreak::between(text, upper, rest.next)
    }

    /// Returns the next line break, assuming that the token belongs to the URL and ends its line.
    pub(super) fn next(&self) -> Option<LineBreak<'t>> {
        let line = Span::new(self.lower.span.start, self.token.end);
        let upper = UpperLine {
            line,
            piece: self.token.start,
            is_continued: true,
            blanks_after: Span::new(self.token.end, self.lower.span.end),
            cut_columns: self.cut_columns(),
            follows_cut: self.upper.follows_cut || 0 < self.cut_columns(),
        };
        if self.lower.cut {
            None
        } else {
            LineBreak::between(self.text, upper, self.lower.next)
        }
    }

    fn between(text: &'t [u8], upper: UpperLine, next: usize) -> Option<LineBreak<'t>> {
        let upper_line = upper.line.of(text);
        let upper_marks = QuoteMarks::at_break(upper_line);
        let upper_body = upper.piece.min(upper.line.start + upper_marks.len);
        let mut lower = start_of_line(text, next, CONTINUATION_BYTES);
        let mut blanks = 0;
        while blanks < MOVED_BLANKS
            && !upper_marks.marks.is_empty()
            && is_quoted_blank(lower.span.of(text), &upper_marks)
        {
            lower = start_of_line(text, lower.next, CONTINUATION_BYTES);
            blanks += 1;
        }
        let blank_between = 0 < blanks;
        let line = lower.span.of(text);
        if indentation(line) == line.len() {
            return None;
        }
        let lower_marks = upper_marks.next(line);
        // Some programs move the rest of an overlong quoted line out of the quotation, one level at
        // a time.
        let body = lower.span.start + lower_marks.len;
        if blank_between {
            let fills_line = starts_with_full_word(&text[body..lower.span.end]);
            let is_moved = lower_marks.marks.len() < upper_marks.marks.len()
                && is_open(&upper, upper_line, fills_line);
            let is_one = blanks == 1;
            if !(is_moved && (is_one || fills_line)
                || is_one && lower_marks.marks.len() == upper_marks.marks.len())
            {
                return None;
            }
        }
        // The `>` that closes `< URL >` from a separate line is not a quote mark.
        let before = &text[upper_body..upper.piece];
        if trim_end(before).ends_with(b"<") && upper_marks.marks.len() < lower_marks.marks.len() {
            return None;
        }
        // The sign of a patch is at the start of a line, or after the quote marks and one blank.
        let after_marks = |marks: &QuoteMarks<'_>, line: &'t [u8]| match line {
            [b' ', after @ ..] if !marks.marks.is_empty() => after,
            _ => line,
        };
        let upper_text = after_marks(&upper_marks, &text[upper_body..upper.line.end]);
        let lower_text = after_marks(&lower_marks, &text[body..lower.span.end]);
        let lower_body = match common_lead(upper_text, lower_text) {
            0 => body,
            lead => lower.span.end - lower_text.len() + lead,
        };

        let inner = &text[lower_body..lower.span.end];
        let start = lower_body + indentation(inner);
        let token = Span::new(start, start + run(&text[start..lower.span.end]));
        let rest = &text[token.end..lower.span.end];
        // The end of a token longer than the limit is unknown.
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
            quoted: !lower_marks.marks.is_empty(),
            blank_between,
            following: OnceCell::new(),
        })
    }

    /// The start of the line after the lower one.
    pub(super) fn follow(&self) -> FollowingLine {
        *self.following.get_or_init(|| {
            if self.lower.cut {
                return FollowingLine::Text;
            }
            let upper_marks = QuoteMarks::at_break(self.upper_line());
            following_line(self.text, self.lower.next, &upper_marks)
        })
    }

    /// Returns `true` if a program inserted a line of quote marks after most lines nearby.
    pub(super) fn has_inserted_blanks(&self) -> bool {
        let (mut inserted, mut unbroken, mut after_text) = (0, 0, false);
        for line in self.nearby() {
            let marks = QuoteMarks::at_break(line);
            let is_blank = !marks.marks.is_empty()
                && indentation(&line[marks.len..]) == line.len() - marks.len;
            inserted += usize::from(is_blank && after_text);
            unbroken += usize::from(!is_blank && after_text);
            after_text = !is_blank && !marks.marks.is_empty();
            if 1 < unbroken {
                return false;
            }
        }
        // In this order, the lower line follows the farthest line above.
        INSERTED_BLANKS <= inserted
    }

    /// The upper line, up to the last byte of the URL.
    pub(super) fn upper_line(&self) -> &'t [u8] {
        self.upper.line.of(self.text)
    }

    /// Returns `true` if the URL continues even after a line of only quote marks: see [`is_open`].
    pub(super) fn is_open(&self) -> bool {
        let fills_line = starts_with_full_word(self.token_and(0));
        is_open(&self.upper, self.upper_line(), fills_line)
    }

    /// The number of columns of the author's line if a program broke it again: the sum of the
    /// previous line, which is full, and the upper line, which has only the rest of a word. Quote
    /// marks added since then do not count.
    pub(super) fn rejoined_columns(&self) -> Option<usize> {
        (0 < self.upper.cut_columns).then(|| self.upper.cut_columns + self.body_columns())
    }

    /// The number of columns of the upper line if it is full and was cut inside a word that
    /// continues in the lower line; otherwise 0.
    fn cut_columns(&self) -> usize {
        let line = self.upper_line();
        let is_cut =
            line.last().is_some_and(u8::is_ascii_alphanumeric) || self.token.len() <= TINY_BYTES;
        let is_full = FILLED_COLUMNS <= columns(line);
        if is_cut && is_full && self.token.len() <= REST_BYTES {
            self.body_columns()
        } else {
            0
        }
    }

    /// The number of columns of the upper line after its quote marks and the blank that follows
    /// them.
    fn body_columns(&self) -> usize {
        let marks = self.upper.line.start < self.upper_body;
        let body = &self.text[self.upper_body..self.upper.line.end];
        columns(body) - usize::from(marks && body.starts_with(b" "))
    }

    /// The text of the upper line between the quote marks and the URL, or its latest piece.
    pub(super) fn before_url(&self) -> &'t [u8] {
        &self.text[self.upper_body..self.upper.piece]
    }

    /// The text before the URL on its line if the URL starts there; otherwise empty.
    pub(super) fn before_start(&self) -> &'t [u8] {
        if self.upper.is_continued {
            &[]
        } else {
            &self.text[self.upper.line.start..self.upper.piece]
        }
    }

    /// Returns `true` if the line before the URL's line is blank, apart from quote marks, or does
    /// not exist.
    pub(super) fn starts_paragraph(&self) -> bool {
        above(self.text, self.upper.line.start)
            .next()
            .is_none_or(|line| {
                let body = &line[QuoteMarks::at_break(line).len..];
                indentation(body) == body.len()
            })
    }

    /// The token and at most `more` bytes after it on its line.
    pub(super) fn token_and(&self, more: usize) -> &'t [u8] {
        &self.text[self.token.start..self.lower.span.end.min(self.token.end + more)]
    }

    /// The text after the token on its line.
    pub(super) fn rest(&self) -> &'t [u8] {
        &self.text[self.token.end..self.lower.span.end]
    }

    /// Returns `true` if a blank and other text follow the token on its line.
    pub(super) fn is_before_blank(&self) -> bool {
        !self.whole_line && self.rest().first().is_some_and(|&byte| is_blank(byte))
    }

    /// The white space before the token, after quote marks and comment lead.
    pub(super) fn lower_indentation(&self) -> &'t [u8] {
        &self.text[self.lower_body..self.token.start]
    }

    /// The lines before and after the upper line, without it.
    pub(super) fn nearby(&self) -> impl Iterator<Item = &'t [u8]> {
        nearby(self.text, self.upper.line.start, self.lower.span.start)
    }
}

/// The length of the prefix of `line` that can belong to a bare URL.
fn run(line: &[u8]) -> usize {
    url_run_end(line, 0, None, Rules::Wide, line.len())
}

/// Returns `true` if the URL at the end of the upper line cannot be whole. Either the line ends
/// with a character that URLs rarely end with, and is full or had no room for the next word, which
/// `fills_line`. Or the line is the rest of a cut line, and such a word follows.
fn is_open(upper: &UpperLine, line: &[u8], fills_line: bool) -> bool {
    let is_cut = line.last().is_some_and(|last| b"-=&%".contains(last));
    is_cut && (fills_line || FILLED_COLUMNS <= columns(line)) || upper.follows_cut && fills_line
}

/// Returns `true` if the first word of `line` is as long as a full line.
fn starts_with_full_word(line: &[u8]) -> bool {
    let word = &line[indentation(line)..];
    FILLED_COLUMNS <= columns(&word[..run(word)])
}

/// Returns `true` if `line` has quote marks and no other text.
fn is_quoted_blank(line: &[u8], upper: &QuoteMarks<'_>) -> bool {
    let marks = upper.next(line);
    let body = &line[marks.len..];
    !marks.marks.is_empty() && indentation(body) == body.len()
}

/// Classifies the start of the line at `at`, after its quote marks.
fn following_line(text: &[u8], at: usize, upper: &QuoteMarks<'_>) -> FollowingLine {
    let row = start_of_line(text, at, CONTINUATION_BYTES);
    let line = row.span.of(text);
    let body = &line[upper.next(line).len..];
    let start = &body[indentation(body)..];
    match start.first() {
        None if row.cut => FollowingLine::Text,
        None => FollowingLine::Blank,
        Some(b'/') => FollowingLine::Slash,
        Some(_) if starts_site(start) => FollowingLine::Site,
        Some(_) => FollowingLine::Text,
    }
}

/// Returns `true` if `line` starts with a URL or a host.
fn starts_site(line: &[u8]) -> bool {
    let end = run(line);
    ContinuationToken::new(&line[..end])
        .is_some_and(|token| token.starts_url() || token.starts_host())
}

/// Minimum number of lines around a URL that end with two blanks. Authors sometimes type two blanks
/// at a line end.
const MARKED_LINES: usize = 2;

/// Minimum number of lines of only quote marks around a URL to conclude that a program inserted
/// them.
const INSERTED_BLANKS: usize = 6;

/// Minimum number of columns of a line that a program may have broken.
const BROKEN_COLUMNS: usize = 40;

/// Returns `true` if the blanks at the line ends show that a program broke the URL's line inside a
/// word.
///
/// Programs that write `format=flowed` with `DelSp=yes` (RFC 3676, section 4.1) add a blank to each
/// line that they break, and the reader removes it. A line broken at a blank then ends with two
/// blanks. A line broken inside a word ends with one blank; Apple Mail breaks URLs after `/` and
/// `-` in this way. Archives and quotes keep the blanks but lose the label.
pub(super) fn is_soft_break(line_break: &LineBreak<'_>) -> bool {
    // If a line of such a text starts with a blank, it was broken at one. Quoted lines have one
    // more blank.
    let indentation = usize::from(line_break.quoted);
    if line_break.upper.blanks_after.of(line_break.text) != b" "
        || line_break.blank_between
        || indentation < line_break.lower_indentation().len()
    {
        return false;
    }
    let (mut one, mut two) = (0, 0);
    for line in line_break.nearby() {
        let blanks = suffix_len(line, |&byte| byte == b' ');
        let is_broken = BROKEN_COLUMNS <= columns(line) && !holds_url(line);
        one += usize::from(is_broken && blanks == 1);
        two += usize::from(is_broken && blanks == 2);
    }
    MARKED_LINES <= two && one < two
}
