//! What stands at the start of a line before its text: quote marks, and the leads of comments and diffs.

/// Quote marks of one line that are looked at. Nobody cites so deep, and a line may hold nothing else.
const MOST_MARKS: usize = 32;

/// Letters of the initials before a `>`: `J>`, `JD>`, `John>`.
const INITIALS: usize = 4;

/// The quote marks at the start of a line.
#[derive(Debug, Default)]
pub(super) struct Marks<'t> {
    marks: Vec<&'t [u8]>,
    /// Bytes of the line that they take up, blanks behind the last mark not counted.
    pub(super) len: usize,
}

impl<'t> Marks<'t> {
    /// The marks of a line by itself.
    pub(super) fn first(line: &'t [u8]) -> Marks<'t> {
        Marks::read(line, |_| true)
    }

    /// The marks of a line in which a URL of the line of these may go on: initials and `:` count only if both lines
    /// have them, as they may be the URL's. How many `>` and `|` there are does not matter: mailers that break a cited
    /// line leave its second half without them.
    pub(super) fn next(&self, line: &'t [u8]) -> Marks<'t> {
        Marks::read(line, |mark| {
            matches!(mark, b">" | b"|") || self.marks.contains(&mark)
        })
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    fn read(line: &'t [u8], counts: impl Fn(&[u8]) -> bool) -> Marks<'t> {
        let mut found = Marks::default();
        while found.marks.len() < MOST_MARKS {
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

/// `>`, or the initials of a person before it, with a sign before these or not: `>`, `JD>`, `*JD>`.
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

/// `|` or `:` before the end of the line, another mark, a blank or a word, with one blank before it at most.
fn bar(rest: &[u8], blanks: usize) -> Option<&[u8]> {
    let mark = matches!(rest.first(), Some(b'|' | b':')) && blanks <= 1;
    let before = match rest.get(1) {
        None | Some(b'>' | b'|' | b':' | b'_') => true,
        Some(&byte) => is_blank(byte) || byte.is_ascii_alphabetic(),
    };
    (mark && before).then(|| &rest[..1])
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// What makes a line a line of a diff or of a program's comment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lead<'t> {
    /// `+` or `-`, or nothing.
    sign: &'t [u8],
    /// `*`, `#`, `//`, `;`, `%` or `dnl`, or nothing.
    comment: &'t [u8],
    /// Bytes of the line that they take up.
    len: usize,
}

/// Bytes at the start of `lower` that are a lead that `upper` has too. Both lines are without quote marks.
pub(super) fn common_lead(upper: &[u8], lower: &[u8]) -> usize {
    let (upper, lower) = (lead(upper), lead(lower));
    if (upper.sign, upper.comment) == (lower.sign, lower.comment) {
        lower.len
    } else {
        usize::from(upper.sign == b"+" && lower.sign == b"+")
    }
}

fn lead(line: &[u8]) -> Lead<'_> {
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
    Lead { sign, comment, len }
}

/// The mark of a comment at the start of `rest`, with a blank behind it.
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

/// Whether a character of a word begins or goes on here: a letter, also one that is not ASCII, a digit or `_`.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initials_bars_and_colons_are_marks() {
        assert_eq!(
            Marks::first(b" > JD> *JD>| x").marks,
            [&b">"[..], b"JD>", b"*JD>", b"|"]
        );
        assert_eq!(Marks::first(b": :word").len, 3);
        assert_eq!(Marks::first(b":8080").len, 0);
        assert_eq!(Marks::first(b"  | x").len, 0);
        assert_eq!(Marks::first(b"Maria> x").len, 0);
        assert_eq!(Marks::first(&[b'>'; 99]).len, MOST_MARKS);
    }

    #[test]
    fn initials_and_colons_of_the_second_line_must_be_those_of_the_first() {
        assert_eq!(Marks::first(b"x").next(b"> JD> x").len, 1);
        assert_eq!(Marks::first(b"JD> x").next(b"> JD> x").len, 5);
        assert_eq!(Marks::first(b"JD> x").next(b": x").len, 0);
    }

    #[test]
    fn a_lead_is_undone_if_both_lines_have_it() {
        assert_eq!(common_lead(b"  * x", b" * x"), 2);
        assert_eq!(common_lead(b"+# x", b"+ # x"), 3);
        assert_eq!(common_lead(b"+ x", b"+// x"), 1);
        assert_eq!(common_lead(b"# x", b"## x"), 0);
        assert_eq!(common_lead(b"#x", b"#x"), 0);
        assert_eq!(common_lead(b"dnl x", b"dnl x"), 3);
    }
}
