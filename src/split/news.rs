//! News articles: wire format, in which servers store articles as they received them (RFC 3977 section 3.1.1), A news,
//! whose header had no field names (RFC 850 section 2), and rnews batches, in which servers send each other many articles.
//!
//! In a batch each article is preceded by a line `#! rnews N`, where N is its number of bytes. A batch packed by compress, gzip or
//! bzip2 is preceded by one line `#! cunbatch` or the like instead; `read` unpacks it.

use memchr::memmem;

use super::{AtEof, Extent, HeaderForm, Message, SplitOutput, decimal, mbox};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::limits::SEPARATOR_BYTES;
use crate::origin::SourceKind;

/// Returns `true` if a whole article is in wire format: its first line ends in CRLF, and its last line is a lone `.`.
pub(super) fn is_wire(bytes: &[u8]) -> bool {
    let first = memchr::memchr(b'\n', bytes);
    first.is_some_and(|end| bytes[..end].ends_with(b"\r")) && bytes.ends_with(b"\r\n.\r\n")
}

/// Returns the article without its final `.` line.
pub(super) fn without_terminator(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b".\r\n").unwrap_or(bytes)
}

/// Returns `true` if the bytes begin as an article of A news does: `A` with a site's name and a number, newsgroups, path, date,
/// title.
pub(super) fn is_a_news(bytes: &[u8]) -> bool {
    /// Bytes that contain the five lines.
    const HEADER_BYTES: usize = 2 << 10;
    let mut lines = bytes[..bytes.len().min(HEADER_BYTES)]
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii_end);
    let mut next = || lines.next().unwrap_or_default();
    let is_id = |line: &[u8]| {
        let Some(dot) = memchr::memrchr(b'.', line) else {
            return false;
        };
        let (site, number) = (line.get(1..dot).unwrap_or_default(), &line[dot + 1..]);
        !site.is_empty()
            && site
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
            && !number.is_empty()
            && number.iter().all(u8::is_ascii_digit)
    };
    let is_word = |line: &[u8]| !line.is_empty() && line.iter().all(u8::is_ascii_graphic);
    bytes.starts_with(b"A")
        && is_id(next())
        && Some(next()).is_some_and(|groups| is_word(groups) && !groups.contains(&b':'))
        && Some(next()).is_some_and(|path| is_word(path) && path.contains(&b'!'))
        && next().windows(3).any(|window| {
            window[0].is_ascii_digit() && window[1] == b':' && window[2].is_ascii_digit()
        })
}

/// Start of the line before an article.
const LINE: &[u8] = b"#! rnews ";

/// Passes each article of `bytes` to `sink`, after a diagnostic if its number of bytes is wrong.
pub(super) fn batch_messages<'b>(
    bytes: &'b [u8],
    offset: u64,
    at_eof: AtEof,
    sink: &mut dyn FnMut(SplitOutput<'b>),
) {
    let mut start = 0;
    while start < bytes.len() {
        let ArticleBounds {
            article,
            end,
            count,
        } = article_bounds(bytes, start);
        if count == ArticleCount::Wrong && at_eof == AtEof::Yes {
            let why = "the number after `#! rnews` does not lead to the next article: the next such line ends this one";
            sink(SplitOutput::Diagnostic(Diagnostic::at(
                DiagnosticKind::Damage,
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
            extent: Extent::Whole,
            unpacked_times: 0,
        }));
        start = end;
    }
}

/// Returns `true` if a source that begins with `start` is a batch.
pub(super) fn is_batch(start: &[u8]) -> bool {
    rnews_line(start).is_some()
}

/// Returns the last start of an article in `bytes`, which begins with one. Ignores what lies beyond `max` bytes.
pub(super) fn last_batch_border(bytes: &[u8], max: usize) -> Option<usize> {
    let next =
        |&start: &usize| counted_end(bytes, start).filter(|&at| at < bytes.len() && at <= max);
    match std::iter::successors(next(&0), next).last() {
        // Where the number of the first article is wrong, the next line ends it.
        None if first_count_is_wrong(bytes) => {
            next_batch_line(bytes, 1, AtEof::No).filter(|&at| at <= max)
        }
        last => last,
    }
}

/// Returns `true` if `bytes` are enough to see that the number of the first article does not lead to the next.
fn first_count_is_wrong(bytes: &[u8]) -> bool {
    rnews_line(bytes).is_none_or(|line| {
        line.bytes
            .checked_add(line.article_bytes)
            .is_some_and(|at| at + SEPARATOR_BYTES < bytes.len() && counted_end(bytes, 0).is_none())
    })
}

/// Returns the start of the first `#! rnews N` line at `from` or after it. `from` is not the start of the file.
pub(super) fn next_batch_line(bytes: &[u8], from: usize, at_eof: AtEof) -> Option<usize> {
    let lowest = from.saturating_sub(1).min(bytes.len());
    memmem::find_iter(&bytes[lowest..], b"\n#! rnews ")
        .map(|at| lowest + at + 1)
        .find(|&at| rnews_line(&bytes[at..]).is_some() && mbox::is_decided(bytes, at, at_eof))
}

/// Position of an article after its `#! rnews N` line.
struct ArticleBounds {
    /// The start of the article's own bytes.
    article: usize,
    /// The start of the next article, or the end of the buffer.
    end: usize,
    /// Which of both decided `end`: the number or the next line.
    count: ArticleCount,
}

/// Outcome of comparing the number in a `#! rnews N` line with the position of the next line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArticleCount {
    /// The number leads to the next article or to the end.
    Right,
    /// It does not, and the next `#! rnews` line ends the article.
    Wrong,
}

fn article_bounds(bytes: &[u8], start: usize) -> ArticleBounds {
    let article = start + rnews_line(&bytes[start..]).map_or(0, |line| line.bytes);
    let counted = counted_end(bytes, start);
    ArticleBounds {
        article,
        end: counted
            .or_else(|| next_batch_line(bytes, start + 1, AtEof::Yes))
            .unwrap_or(bytes.len()),
        count: if counted.is_some() {
            ArticleCount::Right
        } else {
            ArticleCount::Wrong
        },
    }
}

/// Returns the end of the article at `start` by the number in its line, if the next article begins there or the buffer ends there.
/// Blank lines may be between.
fn counted_end(bytes: &[u8], start: usize) -> Option<usize> {
    let line = rnews_line(&bytes[start..])?;
    let at = (start + line.bytes)
        .checked_add(line.article_bytes)
        .filter(|&at| at <= bytes.len())?;
    let at = at + mbox::blank_lines(&bytes[at..]);
    (at == bytes.len() || rnews_line(&bytes[at..]).is_some()).then_some(at)
}

/// A `#! rnews N` line.
struct RnewsLine {
    /// Bytes of the line, its line end included.
    bytes: usize,
    /// Bytes of the article after it, as the line states.
    article_bytes: usize,
}

/// Parses the `#! rnews N` line at the start of `bytes`.
fn rnews_line(bytes: &[u8]) -> Option<RnewsLine> {
    const MAX_NUMBER_BYTES: usize = 20;
    let rest = bytes.strip_prefix(LINE)?;
    let end = rest
        .iter()
        .take(MAX_NUMBER_BYTES)
        .position(|&byte| byte == b'\n')?;
    Some(RnewsLine {
        bytes: LINE.len() + end + 1,
        article_bytes: decimal(&rest[..end])?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_news_is_detected_by_its_five_lines() {
        let article = "Aeagle.642\nnet.general\ncbosg!mhuxj!eagle!jerry\nFri Nov 19 16:14:55 1982\nEtiquette\nx\n";
        assert!(
            is_a_news(article.as_bytes()) && is_a_news(article.replace('\n', "\r\n").as_bytes())
        );
        for other in [
            "A note.\n\nabout!that\n10:30\n",
            "About.1\n\n\n\n",
            "A.1\na b\nc!d\n10:30\n",
            "",
        ] {
            assert!(!is_a_news(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn wire_format_is_detected_by_its_last_line() {
        assert!(
            is_wire(b"A: b\r\n\r\nx\r\n.\r\n")
                && !is_wire(b"A: b\n\nx\n.\n")
                && !is_wire(b"A: b\r\n\r\nx\r\n")
        );
        assert_eq!(
            without_terminator(b"A: b\r\n\r\nx\r\n.\r\n"),
            b"A: b\r\n\r\nx\r\n"
        );
    }

    /// Returns each article's start and bytes, and the offsets of damage.
    fn divided(text: &str) -> (Vec<(u64, &str)>, Vec<u64>) {
        let (mut articles, mut damage) = (Vec::new(), Vec::new());
        batch_messages(text.as_bytes(), 0, AtEof::Yes, &mut |output| match output {
            SplitOutput::Message(message) => {
                articles.push((message.start, str::from_utf8(message.raw).unwrap()))
            }
            SplitOutput::Diagnostic(diagnostic) => damage.extend(diagnostic.offset),
        });
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
