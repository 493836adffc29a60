//! Quote marks: the characters that replies insert before quoted lines. `mark_len` recognizes them
//! for wrappers, bare URLs, quoted-printable and the depth of a quotation.

use super::{is_blank, line_start, rest_of_line};
use crate::byte_scan::prefix_len;

/// The characters that count as quote marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuoteStyle {
    /// `>` and `|`. Blanks between the marks are ignored.
    Strict,
    /// Also `:`, `›`, `│`, and a person's initials before a `>` (`JD> `).
    Wide,
    /// Like `Wide`. One blank may also precede the first bar or colon.
    Indented,
}

/// Maximum number of quote marks to read on one line. No one quotes this deeply, and a line may
/// consist of marks.
const MAX_MARKS: usize = 100;

/// The quote marks at the start of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct QuoteMarks<'t> {
    /// The marks, with their initials.
    pub(super) marks: Vec<&'t [u8]>,
    /// The length of the line in bytes up to the last mark.
    pub(super) len: usize,
}

impl<'t> QuoteMarks<'t> {
    /// Reads the marks of `line`.
    pub(super) fn of(line: &'t [u8], style: QuoteStyle) -> QuoteMarks<'t> {
        QuoteMarks::read(line, style, |_| true)
    }

    /// Reads the marks of a line before or after a line break.
    pub(super) fn at_break(line: &'t [u8]) -> QuoteMarks<'t> {
        QuoteMarks::of(line, QuoteStyle::Indented)
    }

    /// Reads the marks of the line after a line break. Initials and `:` count only if this line has
    /// them too, because they may belong to the URL. The number of arrows and bars does not matter:
    /// a mailer that breaks a quoted line leaves the second half unquoted.
    pub(super) fn next(&self, line: &'t [u8]) -> QuoteMarks<'t> {
        QuoteMarks::read(line, QuoteStyle::Indented, |mark| {
            matches!(mark, b">" | b"|" | UNICODE_ARROW | UNICODE_BAR) || self.marks.contains(&mark)
        })
    }

    /// Returns the leading marks that `line` shares, in the same order.
    pub(super) fn common(&self, line: &'t [u8]) -> QuoteMarks<'t> {
        let mut common = QuoteMarks::default();
        for &mark in &self.marks {
            let at = common.len + blanks(&line[common.len..]);
            if !line[at..].starts_with(mark) {
                break;
            }
            common.marks.push(mark);
            common.len = at + mark.len();
        }
        common
    }

    fn read(line: &'t [u8], style: QuoteStyle, counts: impl Fn(&[u8]) -> bool) -> QuoteMarks<'t> {
        let mut found = QuoteMarks::default();
        while found.marks.len() < MAX_MARKS {
            let blanks = blanks(&line[found.len..]);
            let rest = &line[found.len + blanks..];
            let is_inner = style == QuoteStyle::Indented || !found.marks.is_empty();
            let mark = &rest[..mark_len(rest, style, blanks, is_inner)];
            if mark.is_empty() || !counts(mark) {
                break;
            }
            found.marks.push(mark);
            found.len += blanks + mark.len();
        }
        found
    }
}

/// The length of the mark at the start of `rest`, or 0. `blanks` precede it. `is_inner` is `true`
/// after another mark.
fn mark_len(rest: &[u8], style: QuoteStyle, blanks: usize, is_inner: bool) -> usize {
    match rest {
        [b'>', ..] => 1,
        [b'|', ..] if style == QuoteStyle::Strict => 1,
        _ if style == QuoteStyle::Strict => 0,
        _ if rest.starts_with(UNICODE_ARROW) => UNICODE_ARROW.len(),
        _ if rest.starts_with(UNICODE_BAR) && blanks <= 1 => UNICODE_BAR.len(),
        // A bar or colon is a quote mark only at the very start of a line or after other marks.
        [b'|' | b':', after @ ..] => {
            let is_mark = after.first().is_none_or(|&byte| {
                is_blank(byte)
                    || matches!(byte, b'>' | b'|' | b':' | b'_' | b'\r' | b'\n')
                    || byte.is_ascii_alphabetic()
            });
            usize::from(is_mark && blanks <= usize::from(is_inner))
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

/// The number of blanks at the start of `text`.
fn blanks(text: &[u8]) -> usize {
    prefix_len(text, |&byte| is_blank(byte))
}

/// The quote depth of the line that contains `at`: the number of quote marks before `at`, not
/// counting `:` and the bars of a table.
#[must_use]
pub fn quote_depth(text: &[u8], at: usize) -> usize {
    let start = line_start(text, at).unwrap_or(at);
    let QuoteMarks { marks, len } = QuoteMarks::of(&text[start..at], QuoteStyle::Wide);
    let colons = marks.iter().filter(|&&mark| mark == b":").count();
    let bars = marks
        .iter()
        .filter(|&&mark| matches!(mark, b"|" | UNICODE_BAR))
        .count();
    let is_table = 0 < bars && is_row(text, start + len, at);
    marks.len() - colons - if is_table { bars } else { 0 }
}

/// Returns `true` if the line that contains `at` is a table row. Such a row ends with another bar,
/// has two more bars, or is next to a rule of hyphens between bars (`|---|---|`). The quote marks
/// of the line end at `marks_end`.
fn is_row(text: &[u8], marks_end: usize, at: usize) -> bool {
    let line = rest_of_line(text, at);
    let rest = text[marks_end..line.span.end].trim_ascii_end();
    let bar = |text: &[u8]| memchr::memmem::find_iter(text, UNICODE_BAR).count();
    let bars = memchr::memchr_iter(b'|', rest).count() + bar(rest);
    let is_closed = rest.ends_with(b"|") || rest.ends_with(UNICODE_BAR);
    is_closed || 2 <= bars || is_rule(rest_of_line(text, line.next).span.of(text))
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
        QuoteMarks::of(line.as_bytes(), style).len
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
        let common = QuoteMarks::of(b"> > >a", QuoteStyle::Wide).common(b"> >b");
        assert_eq!((common.marks.len(), common.len), (2, 3));
    }

    #[test]
    fn initials_bars_and_colons_are_marks() {
        assert_eq!(
            QuoteMarks::at_break(b" > JD> *JD>| x").marks,
            [&b">"[..], b"JD>", b"*JD>", b"|"]
        );
        assert_eq!(QuoteMarks::at_break(b": :word").len, 3);
        assert_eq!(QuoteMarks::at_break(b":8080").len, 0);
        assert_eq!(QuoteMarks::at_break(b"  | x").len, 0);
        assert_eq!(QuoteMarks::at_break(b"Maria> x").len, 0);
        assert_eq!(QuoteMarks::at_break(&[b'>'; 199]).len, MAX_MARKS);
    }

    #[test]
    fn initials_and_colons_count_only_in_both_lines() {
        assert_eq!(QuoteMarks::at_break(b"x").next(b"> JD> x").len, 1);
        assert_eq!(QuoteMarks::at_break(b"JD> x").next(b"> JD> x").len, 5);
        assert_eq!(QuoteMarks::at_break(b"JD> x").next(b": x").len, 0);
    }
}
