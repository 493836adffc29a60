//! News articles in three forms. Servers store articles in wire format, as they received them (RFC
//! 3977 section 3.1.1). A news had a header without field names (RFC 850 section 2). Servers send
//! each other many articles at once in rnews batches.
//!
//! In a batch, a line `#! rnews N` precedes each article and states its number of bytes. A batch
//! packed by compress, gzip or bzip2 has one line `#! cunbatch` or similar instead; `read` unpacks
//! it.

use super::emlx::LengthLine;
use super::{AtEof, Message, SplitOutput, decimal, mbox};
use crate::lines::line_end;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};
use urlspool_text::limits::SEPARATOR_BYTES;
use urlspool_text::origin::SourceKind;

/// Returns `true` if a whole article is in wire format: the first line ends in CRLF, and the last
/// line is a lone `.`.
pub(super) fn is_wire(bytes: &[u8]) -> bool {
    let first = memchr::memchr(b'\n', bytes);
    first.is_some_and(|end| bytes[..end].ends_with(b"\r")) && bytes.ends_with(b"\r\n.\r\n")
}

/// Returns the article without the final `.` line.
pub(super) fn without_terminator(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b".\r\n").unwrap_or(bytes)
}

/// Returns `true` if the bytes start like an A news article: `A` with a site's name and a number,
/// newsgroups, path, date, title.
pub(super) fn is_a_news(bytes: &[u8]) -> bool {
    /// Number of bytes that contain the five lines.
    const HEADER_BYTES: usize = 2 << 10;
    let mut lines = bytes[..bytes.len().min(HEADER_BYTES)]
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii_end);
    let mut next = || lines.next().unwrap_or_default();
    bytes.starts_with(b"A")
        && is_a_news_id(next())
        && Some(next()).is_some_and(|groups| is_word(groups) && !groups.contains(&b':'))
        && Some(next()).is_some_and(|path| is_word(path) && path.contains(&b'!'))
        && next().windows(3).any(|window| {
            window[0].is_ascii_digit() && window[1] == b':' && window[2].is_ascii_digit()
        })
}

fn is_word(line: &[u8]) -> bool {
    !line.is_empty() && line.iter().all(u8::is_ascii_graphic)
}

/// Returns `true` for `A`, the name of a site, a dot and a number.
fn is_a_news_id(line: &[u8]) -> bool {
    let Some(dot) = memchr::memrchr(b'.', line) else {
        return false;
    };
    let (site, number) = (line.get(1..dot).unwrap_or_default(), &line[dot + 1..]);
    let is_site = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    !site.is_empty()
        && site.iter().all(is_site)
        && !number.is_empty()
        && number.iter().all(u8::is_ascii_digit)
}

/// Start of a file in mbx format.
const MBX: &[u8] = b"*mbx*\r\n";

/// Start of the line before an article.
const LINE: &[u8] = b"#! rnews ";

/// Passes each article of `bytes` to `sink`, after a diagnostic if the stated length is wrong.
pub(super) fn batch_messages<'b>(
    bytes: &'b [u8],
    offset: u64,
    at_eof: AtEof,
    sink: &mut dyn FnMut(SplitOutput<'b>),
) {
    let mut start = 0;
    while start < bytes.len() {
        let article = article_start(bytes, start);
        let counted = counted_end(bytes, start);
        let end = counted
            .or_else(|| next_batch_line(bytes, article.max(start + 1), AtEof::Yes))
            .unwrap_or(bytes.len());
        if counted.is_none() && at_eof == AtEof::Yes {
            let why = "the length before a message does not match the next message: the next such \
                       line ends it";
            let damage = Diagnostic::at(DiagnosticKind::Damage, offset + start as u64, why);
            sink(SplitOutput::Diagnostic(damage));
        }
        sink(SplitOutput::Message(Message {
            start: offset + start as u64,
            envelope: article - start,
            kind: match bytes[start] {
                b'#' => SourceKind::Rnews,
                _ => SourceKind::Mbox,
            },
            ..Message::parse(&bytes[article..end])
        }));
        start = end;
    }
}

/// Returns `true` if a source whose first bytes are `start` is a batch.
pub(super) fn is_batch(start: &[u8]) -> bool {
    let is_named = start.starts_with(LINE) || start.starts_with(MBX);
    is_named && batch_line(start).is_some()
}

/// Returns the start of the last article in `bytes`, which start with an article. Ignores bytes
/// beyond `max`.
pub(super) fn last_batch_border(bytes: &[u8], max: usize) -> Option<usize> {
    let next =
        |&start: &usize| counted_end(bytes, start).filter(|&at| at < bytes.len() && at <= max);
    match std::iter::successors(next(&0), next).last() {
        // If the first article's length is wrong, the next such line ends the article.
        None if first_count_is_wrong(bytes) => {
            let from = article_start(bytes, 0).max(1);
            next_batch_line(bytes, from, AtEof::No).filter(|&at| at <= max)
        }
        last => last,
    }
}

/// Returns `true` if `bytes` are enough to see that the next article does not follow the first at
/// its stated length.
fn first_count_is_wrong(bytes: &[u8]) -> bool {
    batch_line(bytes).is_none_or(|line| {
        line.bytes
            .checked_add(line.message_bytes)
            .is_some_and(|at| at + SEPARATOR_BYTES < bytes.len() && counted_end(bytes, 0).is_none())
    })
}

/// Returns the start of the first article line at or after `from`, which is not the start of the
/// file.
pub(super) fn next_batch_line(bytes: &[u8], from: usize, at_eof: AtEof) -> Option<usize> {
    let lowest = from.saturating_sub(1).min(bytes.len());
    memchr::memchr_iter(b'\n', &bytes[lowest..])
        .map(|at| lowest + at + 1)
        .find(|&at| length_line(&bytes[at..]).is_some() && mbox::is_decided(bytes, at, at_eof))
}

/// Returns the end of the article at `start` by its stated length, if the next article starts there
/// or the buffer ends there. Blank lines may come between.
fn counted_end(bytes: &[u8], start: usize) -> Option<usize> {
    let line = batch_line(&bytes[start..])?;
    let at = (start + line.bytes)
        .checked_add(line.message_bytes)
        .filter(|&at| at <= bytes.len())?;
    let at = at + mbox::blank_lines(&bytes[at..]);
    (at == bytes.len() || length_line(&bytes[at..]).is_some()).then_some(at)
}

/// Returns the start of the article after its optional line at `start`.
fn article_start(bytes: &[u8], start: usize) -> usize {
    start + batch_line(&bytes[start..]).map_or(0, |line| line.bytes)
}

/// Parses the line before an article, after the file header of the mbx format if there is one.
fn batch_line(bytes: &[u8]) -> Option<LengthLine> {
    let header = mbx_header_len(bytes);
    let line = length_line(&bytes[header..])?;
    Some(LengthLine {
        bytes: header + line.bytes,
        ..line
    })
}

/// Parses the `#! rnews N` line at the start of `bytes`, or UW IMAP's line before a message in mbx
/// format: ` 5-Jan-2015 10:00:00 +0000,N;FLAGS-UID`.
fn length_line(bytes: &[u8]) -> Option<LengthLine> {
    const MAX_NUMBER_BYTES: usize = 20;
    let (skipped, end) = match bytes.strip_prefix(LINE) {
        Some(_) => (LINE.len(), b'\n'),
        None => begins_with_time(bytes).then_some((TIME.len(), b';'))?,
    };
    let rest = &bytes[skipped..];
    let number = memchr::memchr(end, &rest[..rest.len().min(MAX_NUMBER_BYTES)])?;
    let line_end = line_end(rest, number);
    let is_line = end == b'\n' || is_mbx_status(&rest[number + 1..line_end]);
    is_line.then_some(LengthLine {
        bytes: skipped + line_end,
        message_bytes: decimal(&rest[..number])?,
    })
}

/// Pattern of the time in an mbx line: `0` matches a digit (the first may be a blank), `A` a
/// letter, and `+` a sign.
const TIME: &[u8] = b"00-AAA-0000 00:00:00 +0000,";

/// Returns `true` if a text starts with ` 5-Jan-2015 10:00:00 +0000,`.
fn begins_with_time(text: &[u8]) -> bool {
    let Some(time) = text.get(..TIME.len()) else {
        return false;
    };
    time.iter()
        .zip(TIME)
        .enumerate()
        .all(|(at, (byte, form))| match form {
            b'0' => byte.is_ascii_digit() || at == 0 && *byte == b' ',
            b'A' => byte.is_ascii_alphabetic(),
            b'+' => matches!(byte, b'+' | b'-'),
            _ => byte == form,
        })
}

/// Returns `true` for the end of an mbx line: hexadecimal flags and UID.
fn is_mbx_status(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    text.contains(&b'-')
        && text
            .iter()
            .all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

/// Returns the length of the file header of the mbx format, which ends in blank lines; 0 if there
/// is none.
fn mbx_header_len(bytes: &[u8]) -> usize {
    /// Number of bytes that contain the header.
    const MAX_BYTES: usize = 4 << 10;
    if !bytes.starts_with(MBX) {
        return 0;
    }
    memchr::memchr_iter(b'\n', &bytes[..bytes.len().min(MAX_BYTES)])
        .map(|end| end + 1)
        .find(|&at| begins_with_time(&bytes[at..]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_mbx_follow_their_lengths() {
        let line = " 5-Jan-2015 10:00:00 +0000,6;000000000001-00000001\r\n";
        let header = format!("*mbx*\r\n0000000100000002{}", "\r\n".repeat(1_000));
        let text = format!("{header}{line}A: b\r\n{line}C: d\r\n");
        let mut seen = Vec::new();
        batch_messages(text.as_bytes(), 0, AtEof::Yes, &mut |output| match output {
            SplitOutput::Message(message) => seen.push((message.raw, message.kind)),
            SplitOutput::Diagnostic(damage) => panic!("{damage:?}"),
        });
        let kind = SourceKind::Mbox;
        assert_eq!(seen, [(&b"A: b\r\n"[..], kind), (b"C: d\r\n", kind)]);
    }

    #[test]
    fn after_a_wrong_length_the_next_line_of_mbx_counts() {
        let line =
            |len: usize| format!(" 5-Jan-2015 10:00:00 +0000,{len};000000000001-00000001\r\n");
        let text = format!("*mbx*\r\n{}A: b\r\n{}C: d\r\n", line(60), line(6));
        let (articles, damage) = divided(&text);
        assert!(is_batch(text.as_bytes()));
        assert_eq!(articles, [(0, "A: b\r\n"), (66, "C: d\r\n")]);
        assert_eq!(damage, [0]);
        for other in [
            " 5-Jan-2015 10:00:00 +0000,6;000000000001-00000001\r\nA: b\r\n",
            "*mbx*\r\n 5-Jan-2015 10:00:00 +0000,6;and text\r\nA: b\r\n",
            "*mbx*\r\nxx-xxx-xxxx xx:xx:xx xxxxx,6;000000000001-00000001\r\nA: b\r\n",
        ] {
            assert!(!is_batch(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_news_is_detected_by_its_five_lines() {
        let article = "Aeagle.642\nnet.general\ncbosg!mhuxj!eagle!jerry\nFri Nov 19 16:14:55 \
            1982\nEtiquette\nx\n";
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
