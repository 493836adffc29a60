//! rnews batches: what news servers send each other for many articles at once.
//!
//! `#! rnews N` stands on a line, and N bytes of an article follow. A batch packed by compress, gzip or bzip2 has one
//! line instead, `#! cunbatch` or the like, and the packed batch behind it.

use memchr::memmem;

use super::{AtEof, HeaderForm, Message, SplitOutput, decimal, mbox};
use crate::diagnostic::{self, Diagnostic};
use crate::limits::SEPARATOR_BYTES;
use crate::origin::SourceKind;

/// What the line before an article begins with.
const LINE: &[u8] = b"#! rnews ";

/// Gives each article of `bytes` to `sink`, and what is damaged.
pub(super) fn messages<'b>(
    bytes: &'b [u8],
    offset: u64,
    held: AtEof,
    sink: &mut dyn FnMut(SplitOutput<'b>),
) {
    let mut start = 0;
    while start < bytes.len() {
        let End {
            at: end,
            article,
            counted,
        } = end(bytes, start);
        if !counted && held == AtEof::All {
            let why = "the number behind `#! rnews` does not lead to the next article: the next such line ends this one";
            sink(SplitOutput::Diagnostic(Diagnostic::at(
                diagnostic::DiagnosticKind::Damage,
                offset + start as u64,
                why,
            )));
        }
        sink(SplitOutput::Message(Message {
            raw: &bytes[article..end],
            start: offset + start as u64,
            envelope: article - start,
            kind: SourceKind::Rnews,
            header: HeaderForm::Present,
            wire: false,
            fragment_of: None,
        }));
        start = end;
    }
}

/// Whether the bytes are the start of a batch.
pub(super) fn is_batch(start: &[u8]) -> bool {
    line(start).is_some()
}

/// The last start of an article in `bytes`, which begins with one. No article of more than `most` bytes is counted.
pub(super) fn last_border(bytes: &[u8], most: usize) -> Option<usize> {
    let next =
        |&start: &usize| counted_end(bytes, start).filter(|&at| at < bytes.len() && at <= most);
    match std::iter::successors(next(&0), next).last() {
        // Where the count of the first is wrong, or not to be seen yet, a line may do.
        None if first_is_wrong(bytes) => next_line(bytes, 1, AtEof::Part).filter(|&at| at <= most),
        last => last,
    }
}

/// Whether enough is held to see that the count of the first article leads nowhere.
fn first_is_wrong(bytes: &[u8]) -> bool {
    line(bytes).is_none_or(|(article, octets)| {
        article
            .checked_add(octets)
            .is_some_and(|at| at + SEPARATOR_BYTES < bytes.len() && counted_end(bytes, 0).is_none())
    })
}

/// The first `#! rnews N` line at `from` or behind it, `from` not being the start of the file.
pub(super) fn next_line(bytes: &[u8], from: usize, held: AtEof) -> Option<usize> {
    let lowest = from.saturating_sub(1).min(bytes.len());
    memmem::find_iter(&bytes[lowest..], b"\n#! rnews ")
        .map(|at| lowest + at + 1)
        .find(|&at| line(&bytes[at..]).is_some() && mbox::is_decided(bytes, at, held))
}

struct End {
    /// The start of the next article, or the end of what is held.
    at: usize,
    /// Where the article's own bytes begin.
    article: usize,
    /// Whether its line says so.
    counted: bool,
}

fn end(bytes: &[u8], start: usize) -> End {
    let article = start + line(&bytes[start..]).map_or(0, |(octets, _)| octets);
    if let Some(at) = counted_end(bytes, start) {
        return End {
            at,
            article,
            counted: true,
        };
    }
    End {
        at: next_line(bytes, start + 1, AtEof::All).unwrap_or(bytes.len()),
        article,
        counted: false,
    }
}

/// The end of the article at `start` by its line, if the next one or the end stands there. Blank lines may be between.
fn counted_end(bytes: &[u8], start: usize) -> Option<usize> {
    let (octets, count) = line(&bytes[start..])?;
    let at = (start + octets)
        .checked_add(count)
        .filter(|&at| at <= bytes.len())?;
    let at = at + mbox::blank_lines(&bytes[at..]);
    (at == bytes.len() || line(&bytes[at..]).is_some()).then_some(at)
}

/// The bytes of the line at the start of `bytes`, and the bytes of the article behind it.
fn line(bytes: &[u8]) -> Option<(usize, usize)> {
    const LONGEST_NUMBER: usize = 20;
    let rest = bytes.strip_prefix(LINE)?;
    let end = rest
        .iter()
        .take(LONGEST_NUMBER)
        .position(|&byte| byte == b'\n')?;
    Some((LINE.len() + end + 1, decimal(&rest[..end])?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each article's start and bytes, and what was damaged.
    fn divided(text: &str) -> (Vec<(u64, &str)>, Vec<u64>) {
        let (mut articles, mut damage) = (Vec::new(), Vec::new());
        messages(
            text.as_bytes(),
            0,
            AtEof::All,
            &mut |divided| match divided {
                SplitOutput::Message(message) => {
                    articles.push((message.start, str::from_utf8(message.raw).unwrap()))
                }
                SplitOutput::Diagnostic(diagnostic) => damage.extend(diagnostic.offset),
            },
        );
        (articles, damage)
    }

    #[test]
    fn articles_are_counted_out() {
        for ends in ["\n", "\r\n"] {
            let a = "A: b\n\n#! rnews 3\nx\n".replace('\n', ends);
            let text = format!("#! rnews {}{ends}{a}#! rnews {}{ends}{a}", a.len(), a.len());
            let second = (text.len() / 2) as u64;
            assert_eq!(
                divided(&text),
                (vec![(0, a.as_str()), (second, a.as_str())], vec![])
            );
        }
    }

    #[test]
    fn after_a_wrong_number_the_next_line_counts() {
        let (articles, damage) = divided("#! rnews 3\nA: b\n\nx\n#! rnews 5\nC: d\n");
        assert_eq!(articles, [(0, "A: b\n\nx\n"), (19, "C: d\n")]);
        assert_eq!(damage, [0]);
        assert_eq!(divided("#! rnews 30\nA: b\n").1, [0]);
    }
}
