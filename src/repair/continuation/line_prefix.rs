//! The prefix of a line before its text: quote marks, and the leads of comments and diffs.

use crate::repair::quote_marks::INITIALS;

/// Maximum number of quote marks read on one line. Nobody quotes so deeply, and a line may consist of marks.
const MAX_MARKS: usize = 32;

/// The quote marks at the start of a line.
#[derive(Debug, Default)]
pub(super) struct LinePrefix<'t> {
    marks: Vec<&'t [u8]>,
    /// The length of the prefix in bytes, up to the last mark.
    pub(super) len: usize,
}

impl<'t> LinePrefix<'t> {
    /// Reads the marks of a line without regard to other lines.
    pub(super) fn first(line: &'t [u8]) -> LinePrefix<'t> {
        LinePrefix::read(line, |_| true)
    }

    /// Reads the marks of the next line. Initials and `:` count only if this line has them too, since they may belong to the
    /// URL. The number of `>` and `|` does not matter: a mailer that breaks a quoted line leaves its second half unquoted.
    pub(super) fn next(&self, line: &'t [u8]) -> LinePrefix<'t> {
        LinePrefix::read(line, |mark| {
            matches!(mark, b">" | b"|") || self.marks.contains(&mark)
        })
    }

    /// The number of marks.
    pub(super) fn count(&self) -> usize {
        self.marks.len()
    }

    /// Returns `true` if there are no marks.
    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    fn read(line: &'t [u8], counts: impl Fn(&[u8]) -> bool) -> LinePrefix<'t> {
        let mut found = LinePrefix::default();
        while found.marks.len() < MAX_MARKS {
            let rest = &line[found.len..];
            let blanks = rest.iter().take_while(|&&byte| is_blank(byte)).count();
            let rest = &rest[blanks..];
            let Some(mark) = arrow(rest)
                .or_else(|| bar(rest, blanks))
                .filter(|&mark| counts(mark))
            else {
                break;
            };
            found.marks.push(mark);
            found.len += blanks + mark.len();
        }
        found
    }
}

/// Returns the mark `>`, alone or after a person's initials, which may follow a punctuation character: `>`, `JD>`, `*JD>`.
fn arrow(rest: &[u8]) -> Option<&[u8]> {
    if rest.first() == Some(&b'>') {
        return Some(&rest[..1]);
    }
    let sign = usize::from(
        rest.first()
            .is_some_and(|byte| byte.is_ascii_punctuation() && !matches!(byte, b'<' | b'_')),
    );
    let letters = rest[sign..]
        .iter()
        .take(INITIALS + 1)
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let len = sign + letters + 1;
    let capital = rest.get(sign).is_some_and(u8::is_ascii_uppercase);
    (capital && letters <= INITIALS && rest.get(len - 1) == Some(&b'>')).then(|| &rest[..len])
}

/// Returns the mark `|` or `:`, after at most one blank and before the end of the line, another mark, a blank or a word.
fn bar(rest: &[u8], blanks: usize) -> Option<&[u8]> {
    let mark = matches!(rest.first(), Some(b'|' | b':')) && blanks <= 1;
    let is_before_text = match rest.get(1) {
        None | Some(b'>' | b'|' | b':' | b'_') => true,
        Some(&byte) => is_blank(byte) || byte.is_ascii_alphabetic(),
    };
    (mark && is_before_text).then(|| &rest[..1])
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The characters that mark a line of a diff or of a comment in a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CommentLead<'t> {
    /// `+` or `-`, or empty.
    sign: &'t [u8],
    /// `*`, `#`, `//`, `;`, `%` or `dnl`, or empty.
    comment: &'t [u8],
    /// The length of the lead in bytes.
    len: usize,
}

/// The length in bytes of the lead of `lower`, if `upper` has the same one; otherwise 0, or 1 for a common `+`. Both lines are
/// given without quote marks.
pub(super) fn common_lead(upper: &[u8], lower: &[u8]) -> usize {
    let (upper, lower) = (lead(upper), lead(lower));
    if (upper.sign, upper.comment) == (lower.sign, lower.comment) {
        lower.len
    } else {
        usize::from(upper.sign == b"+" && lower.sign == b"+")
    }
}

fn lead(line: &[u8]) -> CommentLead<'_> {
    let sign = match line {
        [b'+' | b'-', next, ..]
            if is_blank(*next) || is_word(*next) || b"*#/+~%".contains(next) =>
        {
            1
        }
        _ => 0,
    };
    let (sign, rest) = line.split_at(sign);
    let blanks = rest.iter().take_while(|&&byte| is_blank(byte)).count();
    let comment = comment(&rest[blanks..]);
    let len = sign.len()
        + if comment.is_empty() {
            0
        } else {
            blanks + comment.len()
        };
    CommentLead { sign, comment, len }
}

/// The mark of a comment at the start of `rest`, if a blank follows it; otherwise empty.
fn comment(rest: &[u8]) -> &[u8] {
    let run = |mark: u8| rest.iter().take_while(|&&byte| byte == mark).count();
    let len = match rest {
        [b'*' | b'%', ..] => 1,
        [b'#' | b';', ..] => run(rest[0]),
        [b'/', b'/', ..] => run(b'/'),
        [b'd', b'n', b'l', ..] => 3,
        _ => return &[],
    };
    if rest.get(len).is_some_and(|&byte| is_blank(byte)) {
        &rest[..len]
    } else {
        &[]
    }
}

/// Returns `true` for a byte of a word: a letter (ASCII or not), a digit or `_`.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initials_bars_and_colons_are_marks() {
        assert_eq!(
            LinePrefix::first(b" > JD> *JD>| x").marks,
            [&b">"[..], b"JD>", b"*JD>", b"|"]
        );
        assert_eq!(LinePrefix::first(b": :word").len, 3);
        assert_eq!(LinePrefix::first(b":8080").len, 0);
        assert_eq!(LinePrefix::first(b"  | x").len, 0);
        assert_eq!(LinePrefix::first(b"Maria> x").len, 0);
        assert_eq!(LinePrefix::first(&[b'>'; 99]).len, MAX_MARKS);
    }

    #[test]
    fn initials_and_colons_count_only_in_both_lines() {
        assert_eq!(LinePrefix::first(b"x").next(b"> JD> x").len, 1);
        assert_eq!(LinePrefix::first(b"JD> x").next(b"> JD> x").len, 5);
        assert_eq!(LinePrefix::first(b"JD> x").next(b": x").len, 0);
    }

    #[test]
    fn a_lead_counts_if_both_lines_have_it() {
        assert_eq!(common_lead(b"  * x", b" * x"), 2);
        assert_eq!(common_lead(b"+# x", b"+ # x"), 3);
        assert_eq!(common_lead(b"+ x", b"+// x"), 1);
        assert_eq!(common_lead(b"# x", b"## x"), 0);
        assert_eq!(common_lead(b"#x", b"#x"), 0);
        assert_eq!(common_lead(b"dnl x", b"dnl x"), 3);
    }
}
