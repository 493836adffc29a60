//! The layout of single lines: line ends, width in columns, the width of surrounding prose, and the
//! prefix before the text: quote marks and the leads of comments and diffs.

use std::iter;

use memchr::{memchr, memchr_iter, memrchr2};

use crate::byte_scan::prefix_len;
use crate::repair::url_run::INERT;
use crate::repair::{is_blank, last_line_end_len, start_of_line, whitespace_len};

/// Maximum number of lines read on each side of a line break. A wrapped paragraph shows its width
/// within a screen.
const NEARBY_LINES: usize = 20;

/// Maximum number of bytes to read on each side for these lines: more than twenty lines of
/// [`NEARBY_LINE_BYTES`].
const NEARBY_BYTES: usize = 8 << 10;

/// Maximum number of bytes of a line that shows how a program breaks lines. A longer line has not
/// been broken.
const NEARBY_LINE_BYTES: usize = 256;

/// Maximum number of columns of lines that programs fill or people type. A wider line has not been
/// broken.
pub(super) const WIDEST_COLUMNS: usize = 100;

/// Minimum number of columns of a full line. Mailers fill lines up to 65, 72 or 80 columns; a break
/// after a hyphen or slash makes a line shorter.
pub(super) const FILLED_COLUMNS: usize = 64;

/// Minimum number of words of a line of prose.
const PROSE_WORDS: usize = 4;

/// The number of columns of `text`, the start of a line. A tab extends to the next multiple of
/// eight.
///
/// Columns between tabs are counted at once, because the compiler vectorizes this loop. A test
/// compares it with a byte-by-byte count.
pub(super) fn columns(text: &[u8]) -> usize {
    // UTF-8 continuation bytes take no column.
    let count = |text: &[u8]| {
        text.iter()
            .filter(|byte| !matches!(byte, 0x80..=0xBF))
            .count()
    };
    if memchr(b'\t', text).is_none() {
        return count(text);
    }
    text.split(|&byte| byte == b'\t')
        .map(count)
        .reduce(|column, more| column / 8 * 8 + 8 + more)
        .unwrap_or(0)
}

/// The length in bytes of the white space at the start of `text`, a part of a line.
pub(super) fn indentation(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match whitespace_len(&text[at..]) {
            0 => return at,
            len => at += len,
        }
    }
}

pub(super) fn trim_end(mut line: &[u8]) -> &[u8] {
    while let Some(len) =
        (1..=line.len().min(3)).find(|len| whitespace_len(&line[line.len() - len..]) == *len)
    {
        line = &line[..line.len() - len];
    }
    line
}

/// Returns `true` if one of `lines` is prose with at least `least` columns. Prose has at least
/// [`PROSE_WORDS`] words, no URL, and at most [`WIDEST_COLUMNS`] columns.
pub(super) fn holds_prose<'t>(mut lines: impl Iterator<Item = &'t [u8]>, least: usize) -> bool {
    lines.any(|line| {
        (least..=WIDEST_COLUMNS).contains(&columns(trim_end(line)))
            && !holds_url(line)
            && words(line) >= PROSE_WORDS
    })
}

/// Returns `true` if a line contains the `://` of a URL.
pub(super) fn holds_url(line: &[u8]) -> bool {
    memchr_iter(b':', line).any(|colon| line[colon + 1..].starts_with(b"//"))
}

/// The number of words of a line, at most [`PROSE_WORDS`].
fn words(line: &[u8]) -> usize {
    let mut rest = &line[indentation(line)..];
    let mut words = 0;
    while !rest.is_empty() && words < PROSE_WORDS {
        words += 1;
        let word = (0..rest.len())
            .find(|&at| !INERT[usize::from(rest[at])] && whitespace_len(&rest[at..]) > 0)
            .unwrap_or(rest.len());
        rest = &rest[word + indentation(&rest[word..])..];
    }
    words
}

/// The lines before `start` and the lines from `next`, except lines too long to have been broken.
/// Both offsets are starts of lines.
pub(super) fn nearby(text: &[u8], start: usize, next: usize) -> impl Iterator<Item = &[u8]> {
    let before = above(text, start).take(NEARBY_LINES);
    let after = below(text, next).take(NEARBY_LINES);
    before
        .chain(after)
        .filter(|line| line.len() <= NEARBY_LINE_BYTES)
}

/// The lines before the one at `at`, nearest first.
pub(super) fn above(text: &[u8], mut at: usize) -> impl Iterator<Item = &[u8]> {
    let floor = at.saturating_sub(NEARBY_BYTES);
    iter::from_fn(move || {
        let end = at.checked_sub(last_line_end_len(&text[..at]))?;
        let line = text.get(floor..end)?;
        let start = match memrchr2(b'\n', b'\r', line) {
            Some(line_end) => line_end + 1,
            None if floor == 0 => 0,
            None => return None,
        };
        at = floor + start;
        Some(&line[start..])
    })
}

/// The line at `at` and the lines after it.
fn below(text: &[u8], mut at: usize) -> impl Iterator<Item = &[u8]> {
    let ceiling = text.len().min(at.saturating_add(NEARBY_BYTES));
    iter::from_fn(move || {
        let max_bytes = ceiling.checked_sub(at).filter(|&bytes| bytes > 0)?;
        let row = start_of_line(text, at, max_bytes);
        at = row.next;
        (!row.cut).then(|| row.span.of(text))
    })
}

/// The characters that mark a line of a diff or of a comment in a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CommentLead<'t> {
    /// `+` or `-`, or empty.
    sign: &'t [u8],
    /// `*`, `#`, `//`, `;`, `%`, `dnl` or roff's `.\"`, or empty.
    comment: &'t [u8],
    /// The length of the lead in bytes.
    len: usize,
}

/// Maximum number of letters of a name that is used as a quote mark: `maria>`.
const NAME_LETTERS: usize = 8;

/// The length in bytes of the lead of `lower` if `upper` has the same lead; otherwise 1 for a
/// shared `+`, or 0. A name and `>` also form a lead. Both lines come without quote marks.
pub(super) fn common_lead(upper: &[u8], lower: &[u8]) -> usize {
    let name = prefix_len(upper, u8::is_ascii_alphabetic);
    if (2..=NAME_LETTERS).contains(&name)
        && upper[name..].starts_with(b">")
        && lower.starts_with(&upper[..=name])
    {
        return name + 1;
    }
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
    let blanks = prefix_len(rest, |&byte| is_blank(byte));
    let comment = comment(&rest[blanks..]);
    let len = sign.len()
        + if comment.is_empty() {
            0
        } else {
            blanks + comment.len()
        };
    CommentLead { sign, comment, len }
}

/// The comment mark at the start of `rest` if a blank follows it; otherwise empty.
fn comment(rest: &[u8]) -> &[u8] {
    let run = |mark: u8| prefix_len(rest, |&byte| byte == mark);
    let len = match rest {
        [b'*' | b'%', ..] => 1,
        [b'#' | b';', ..] => run(rest[0]),
        [b'/', b'/', ..] => run(b'/'),
        [b'd', b'n', b'l', ..] | [b'.' | b'\'', b'\\', b'"', ..] => 3,
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

    proptest::proptest! {
        #[test]
        fn columns_and_a_count_byte_by_byte_agree(text in proptest::collection::vec(
            proptest::sample::select(b"\ta b\x80\xBF\xC3\xFF".to_vec()), 0..60,
        )) {
            let one_by_one = text.iter().fold(0, |column, &byte| match byte {
                b'\t' => column / 8 * 8 + 8,
                0x80..=0xBF => column,
                _ => column + 1,
            });
            proptest::prop_assert_eq!(columns(&text), one_by_one);
        }
    }

    #[test]
    fn tabs_and_characters_make_columns() {
        assert_eq!(columns(b"a\tb"), 9);
        assert_eq!(columns("é\t\tß".as_bytes()), 17);
        assert_eq!(columns(b""), 0);
    }

    #[test]
    fn unicode_white_space_is_recognized() {
        assert_eq!(indentation("\u{3000}\t\u{a0} x".as_bytes()), 7);
        assert_eq!(trim_end("x\u{2003} \u{85}".as_bytes()), b"x");
        assert_eq!(trim_end(b" \t"), b"");
    }

    #[test]
    fn all_kinds_of_line_ends_divide_lines() {
        for line_end in ["\n", "\r", "\r\n"] {
            let text = ["one", "", "two", "three", "", "four"].join(line_end);
            let start = text.find("three").unwrap();
            let next = start + "three".len() + line_end.len();
            let lines: Vec<&[u8]> = nearby(text.as_bytes(), start, next).collect();
            assert_eq!(lines, [&b"two"[..], b"", b"one", b"", b"four"]);
        }
    }

    #[test]
    fn only_near_and_short_lines_count() {
        let text = [
            "x".repeat(NEARBY_LINE_BYTES + 1),
            "a b c d".to_owned(),
            "here".to_owned(),
        ]
        .join("\n");
        let start = text.find("here").unwrap();
        assert_eq!(nearby(text.as_bytes(), start, text.len()).count(), 1);
        let text = "a b c d\n".repeat(3 * NEARBY_LINES);
        assert_eq!(
            nearby(text.as_bytes(), 8 * 30, 8 * 31).count(),
            2 * NEARBY_LINES
        );
        let text = [&"a b c d\n".repeat(9), "x\n", &"y".repeat(NEARBY_BYTES)].concat();
        assert_eq!(nearby(text.as_bytes(), 9 * 8, 9 * 8 + 2).count(), 9);
    }

    #[test]
    fn prose_has_four_words_and_no_url() {
        let holds = |line: &str, least| holds_prose(iter::once(line.as_bytes()), least);
        assert!(holds("one two three four  ", 18));
        assert!(!holds("one two three four  ", 19));
        assert!(!holds("one two three", 1));
        assert!(!holds("one two three x://four five", 1));
        assert!(!holds(&"word ".repeat(21), 1));
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
