//! mbox: messages behind `From ` lines, in all the shapes that writers give them.
//!
//! A separator stands at the start of the file or behind a blank line, begins with `From `, and is followed by a
//! header field. The rest of the line is not looked at: dates, zones, `remote from`, Mozilla's `-` and the numbers
//! of USENET archives all occur there, and body lines that begin so are followed by prose. Pipermail, which writes no
//! blank line behind attachments that it took out, is known by the sender whom it names on both lines.
//!
//! Whether one stands somewhere is seen from the lines around it, so that a file can be entered anywhere. Files whose
//! messages carry their length are `lengths.rs`'s.

use std::sync::LazyLock;

use memchr::memmem;

use super::{AtEof, HeaderForm, Message, SplitOutput};
use crate::diagnostic::{self, Diagnostic};
use crate::limits::SEPARATOR_BYTES;
use crate::origin::SourceKind;
use crate::span::Span;

/// Finds the line ends before lines that begin as a separator does.
static FROM: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b"\nFrom "));

/// Gives each message of `bytes` to `sink`, and what can be understood in two ways. `bytes` begins with a separator,
/// but for blank lines. Searches once for the separators of all messages.
pub(super) fn messages<'b>(bytes: &'b [u8], offset: u64, sink: &mut dyn FnMut(SplitOutput<'b>)) {
    let mut start = 0;
    let mut undivided = Vec::new();
    let least = blank_lines(bytes);
    for at in FROM
        .find_iter(bytes)
        .map(|at| at + 1)
        .filter(|&at| at > least)
        .chain([bytes.len()])
    {
        if at < bytes.len() && !begins_message(bytes, at) {
            undivided.push(at);
        } else if start < at {
            give(bytes, Span::new(start, at), offset, &undivided, sink);
            undivided.clear();
            start = at;
        }
    }
}

/// Gives a message, and before it what is doubtful in it: whether it is one, and the `From ` lines in it, which are
/// `undivided`.
fn give<'b>(
    bytes: &'b [u8],
    span: Span,
    offset: u64,
    undivided: &[usize],
    sink: &mut dyn FnMut(SplitOutput<'b>),
) {
    // Before the first message of a file stands nothing that it could belong to.
    if let Some(why) = doubt(span.of(bytes)).filter(|_| offset + span.start as u64 > 0) {
        sink(SplitOutput::Diagnostic(Diagnostic::at(
            diagnostic::DiagnosticKind::Ambiguous,
            offset + span.start as u64,
            why,
        )));
    }
    run_on(bytes, span, offset, undivided, sink);
    sink(SplitOutput::Message(message(
        bytes, span.start, span.end, offset,
    )));
}

/// The message from `start` to `end`, its `From ` line included.
pub(super) fn message(bytes: &[u8], start: usize, end: usize, offset: u64) -> Message<'_> {
    let envelope = envelope(&bytes[start..end]);
    Message {
        raw: &bytes[start + envelope..end],
        start: offset + start as u64,
        envelope,
        kind: SourceKind::Mbox,
        header: HeaderForm::Present,
        wire: false,
        fragment_of: None,
    }
}

/// Bytes of blank lines and the `From ` line at the start of a message.
pub(super) fn envelope(message: &[u8]) -> usize {
    let blank = blank_lines(message);
    if !message[blank..].starts_with(b"From ") {
        return blank;
    }
    memchr::memchr(b'\n', &message[blank..]).map_or(message.len(), |end| blank + end + 1)
}

/// Bytes of line ends at the start of `bytes`.
pub(super) fn blank_lines(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|&&byte| matches!(byte, b'\n' | b'\r'))
        .count()
}

/// The start of the message behind the one at `start`. Blank lines before the first message are its own.
pub(super) fn next_message(bytes: &[u8], start: usize, held: AtEof) -> Option<usize> {
    next_separator(bytes, start + blank_lines(&bytes[start..]) + 1, held)
}

/// The first separator at `from` or behind it, `from` not being the start of the file.
///
/// One that is cut off by the end of what is held in part is none yet.
pub(super) fn next_separator(bytes: &[u8], from: usize, held: AtEof) -> Option<usize> {
    let lowest = from.saturating_sub(1).min(bytes.len());
    FROM.find_iter(&bytes[lowest..])
        .map(|at| lowest + at + 1)
        .find(|&at| begins_message(bytes, at) && is_decided(bytes, at, held))
}

/// The last separator behind `from` whose following line is complete.
///
/// Goes backwards in windows and forwards in each: a search forwards looks at many bytes at once.
pub(super) fn last_separator(bytes: &[u8], from: usize) -> Option<usize> {
    const WINDOW_BYTES: usize = 64 << 10;
    let mut end = bytes.len();
    while end > from {
        let start = end.saturating_sub(WINDOW_BYTES).max(from);
        // A mark may begin in this window and end in the one behind it.
        let window = &bytes[start..bytes.len().min(end + FROM.needle().len() - 1)];
        let marks: Vec<usize> = FROM.find_iter(window).map(|at| start + at + 1).collect();
        let separates =
            |&&at: &&usize| is_decided(bytes, at, AtEof::Part) && begins_message(bytes, at);
        if let Some(&at) = marks.iter().rev().find(separates) {
            return Some(at);
        }
        end = start;
    }
    None
}

/// Whether enough is held behind `at` to tell a separator there.
///
/// Of a field that is cut off nobody knows whether it is one: `http:`.
pub(super) fn is_decided(bytes: &[u8], at: usize, held: AtEof) -> bool {
    held == AtEof::All
        || bytes.len() - at > SEPARATOR_BYTES
        || memchr::memchr_iter(b'\n', &bytes[at..]).nth(1).is_some()
}

/// Whether a message begins at the `From ` line at `at`, the start of a line.
pub(super) fn begins_message(bytes: &[u8], at: usize) -> bool {
    separator(bytes, at) && (behind_blank(bytes, at) || names_its_sender_twice(bytes, at))
}

/// Whether the lines at `at` are Pipermail's: `From user at host  Fri Apr  2 15:52:00 2004`, and `From: user at host`.
fn names_its_sender_twice(bytes: &[u8], at: usize) -> bool {
    let mut lines = bytes[at..bytes.len().min(at + SEPARATOR_BYTES)].split(|&byte| byte == b'\n');
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else {
        return false;
    };
    let Some(end) = memmem::find(first, b"  ").filter(|&end| end > b"From ".len()) else {
        return false;
    };
    let sender = &first[b"From ".len()..end];
    has_time(&first[end..])
        && memmem::find(sender, b" at ").is_some()
        && second
            .strip_prefix(b"From: ")
            .is_some_and(|value| value.starts_with(sender))
}

/// Whether the line before `at` is blank. LF and CRLF may be mixed.
fn behind_blank(bytes: &[u8], at: usize) -> bool {
    let Some(before) = bytes[..at].strip_suffix(b"\n") else {
        return at == 0;
    };
    let before = before.strip_suffix(b"\r").unwrap_or(before);
    before.is_empty() || before.ends_with(b"\n")
}

/// Whether a `From ` line stands at `at`, with a header field or a quoted `From ` line on the next line.
pub(super) fn separator(bytes: &[u8], at: usize) -> bool {
    let window = &bytes[at..bytes.len().min(at + SEPARATOR_BYTES)];
    if !window.starts_with(b"From ") {
        return false;
    }
    let Some(end) = memchr::memchr(b'\n', window) else {
        return false;
    };
    let next = &window[end + 1..];
    let line = &next[..memchr::memchr(b'\n', next).unwrap_or(next.len())];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.starts_with(b">From ") || (is_field(line) && !looks_like_url(line))
}

/// Why a message may be no message but the rest of the one before: its `From ` line has no time, and its header
/// no two fields that messages have.
fn doubt(message: &[u8]) -> Option<&'static str> {
    let window = &message[..message.len().min(SEPARATOR_BYTES)];
    let line = &window[blank_lines(window)..];
    if !line.starts_with(b"From ") {
        return None;
    }
    let (line, header) = line.split_at(memchr::memchr(b'\n', line).unwrap_or(line.len()));
    if has_time(line) || line[5..].trim_ascii_end().starts_with(b"-") {
        return None;
    }
    if memmem::find(header, b"\n\n").is_none() && memmem::find(header, b"\n\r\n").is_none() {
        // A header that is cut off had more fields.
        return None;
    }
    let lines = header
        .get(1..)
        .unwrap_or_default()
        .split(|&byte| byte == b'\n');
    let known = lines
        .take_while(|line| !line.trim_ascii_end().is_empty())
        .filter(|line| is_usual(line))
        .take(2);
    (known.count() < 2)
        .then_some("a `From ` line and one field behind it: taken for a message, may be text")
}

/// Tells of `From ` lines with a time and a field behind them that do not divide, because no blank line stands
/// before them: some writers leave it out.
fn run_on<'b>(
    bytes: &'b [u8],
    span: Span,
    offset: u64,
    lines: &[usize],
    sink: &mut dyn FnMut(SplitOutput<'b>),
) {
    let message = span.of(bytes);
    let body = envelope(message);
    for at in lines
        .iter()
        .map(|line| line - span.start)
        .filter(|&at| at > body)
    {
        let line = &message[at..][..memchr::memchr(b'\n', &message[at..]).unwrap_or(0)];
        if has_time(line) && separator(message, at) {
            let why = "a `From ` line with a time and a field behind it, but no blank line before it: taken for text";
            sink(SplitOutput::Diagnostic(Diagnostic::at(
                diagnostic::DiagnosticKind::Ambiguous,
                offset + (span.start + at) as u64,
                why,
            )));
        }
    }
}

/// Whether a time stands in a line: `12:34`.
fn has_time(line: &[u8]) -> bool {
    let digits = |from: usize| {
        line.get(from..from + 2)
            .is_some_and(|two| two.iter().all(u8::is_ascii_digit))
    };
    memchr::memchr_iter(b':', line)
        .any(|colon| colon >= 2 && digits(colon - 2) && digits(colon + 1))
}

/// Whether a line is a field that messages have.
fn is_usual(line: &[u8]) -> bool {
    const USUAL: [&[u8]; 12] = [
        b"from:",
        b"date:",
        b"message-id:",
        b"subject:",
        b"received:",
        b"return-path:",
        b"to:",
        b"newsgroups:",
        b"path:",
        b"x-received:",
        b"mime-version:",
        b"status:",
    ];
    let Some(first) = line.first().map(u8::to_ascii_lowercase) else {
        return false;
    };
    let begins =
        |name: &&[u8]| line.len() >= name.len() && line[..name.len()].eq_ignore_ascii_case(name);
    USUAL.iter().filter(|name| name[0] == first).any(begins)
}

/// Whether a line begins with a field's name and its colon (RFC 5322 section 2.2), and a blank or nothing behind
/// it, or a name that only a field has.
///
/// Without the blank, `http://x`, `10:30` and `std::string` would be fields too.
pub(super) fn is_field(line: &[u8]) -> bool {
    const LONGEST_NAME: usize = 76;
    let name = line
        .iter()
        .take(LONGEST_NAME)
        .take_while(|&&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        .count();
    let blanks = line[name..]
        .iter()
        .take_while(|&&byte| matches!(byte, b' ' | b'\t'))
        .count();
    if name == 0 || !line[0].is_ascii_alphabetic() || line.get(name + blanks) != Some(&b':') {
        return false;
    }
    matches!(
        line.get(name + blanks + 1),
        None | Some(b' ' | b'\t' | b'\r')
    ) || (blanks == 0 && line[..name].contains(&b'-'))
        || is_old_name(&line[..name])
}

/// Names that writers of old put a value right behind.
fn is_old_name(name: &[u8]) -> bool {
    [
        &b"from"[..],
        b"to",
        b"date",
        b"subject",
        b"path",
        b"received",
        b"newsgroups",
        b"sender",
        b"status",
    ]
    .iter()
    .any(|known| known.eq_ignore_ascii_case(name))
}

/// `svn+ssh://...` and the like: a name with a hyphen and `//` behind its colon.
fn looks_like_url(line: &[u8]) -> bool {
    memchr::memchr(b':', line).is_some_and(|colon| line[colon + 1..].starts_with(b"//"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The start of each message, of its raw bytes, and its end.
    fn divided(text: &str) -> Vec<(u64, u64, u64)> {
        let mut seen = Vec::new();
        messages(text.as_bytes(), 100, &mut |divided| {
            if let SplitOutput::Message(message) = divided {
                seen.push((message.start, message.raw_start(), message.end()));
            }
        });
        seen
    }

    /// The offsets of what is ambiguous.
    fn doubted(text: &str) -> Vec<u64> {
        let mut seen = Vec::new();
        messages(text.as_bytes(), 0, &mut |divided| {
            if let SplitOutput::Diagnostic(diagnostic) = divided {
                seen.extend(diagnostic.offset);
            }
        });
        seen
    }

    #[test]
    fn every_shape_of_from_line_divides() {
        for line in [
            "a@b Mon Jan  1 00:00:00 1996",
            "- Mon",
            "-8946248053963491671",
            "x remote from y",
            "",
        ] {
            let text = format!("From {line}\nA: b\n\nx\n\nFrom {line}\nA: b\n\ny\n");
            assert_eq!(divided(&text).len(), 2, "{line}");
            assert_eq!(divided(&text.replace('\n', "\r\n")).len(), 2, "{line} CRLF");
        }
    }

    #[test]
    fn body_lines_do_not_divide() {
        for body in [
            "From here on\nit is prose",
            "From x\n10:30 it was",
            "From x\nhttp://a.example/",
            "x\nFrom y\nA: b",
        ] {
            assert_eq!(
                divided(&format!("From a\nA: b\n\n{body}\n")).len(),
                1,
                "{body}"
            );
        }
    }

    #[test]
    fn offsets_are_the_sources() {
        assert_eq!(
            divided("From a\nA: b\n\nFrom c\nD: e\n"),
            [(100, 107, 113), (113, 120, 125)]
        );
    }

    #[test]
    fn pipermail_needs_no_blank_line() {
        let line = "From a at b.example  Fri Apr  2 15:52:00 2004\n";
        let message = format!("{line}From: a at b.example (A)\n\nx\n");
        assert_eq!(divided(&message.repeat(3)).len(), 3);
        assert_eq!(divided(&message.repeat(3).replace('\n', "\r\n")).len(), 3);
        assert_eq!(
            divided(&format!("{message}{line}From: c at d.example\n\ny\n")).len(),
            1
        );
    }

    #[test]
    fn blank_lines_before_the_first_message_are_its_own() {
        assert_eq!(
            divided("\n\r\nFrom a\nA: b\n\nFrom c\nD: e\n"),
            [(100, 110, 116), (116, 123, 128)]
        );
    }

    #[test]
    fn what_may_be_text_is_told() {
        let first = "From a@b Mon Jan  1 00:00:00 1996\nFrom: a\nDate: b\n\nx\n";
        assert_eq!(
            doubted(&format!("{first}\nFrom now on\nNote: this\n\nand that\n")),
            [first.len() as u64 + 1]
        );
        assert_eq!(
            doubted(&format!("{first}\nFrom now on\nFrom: a\nSubject: b\n\nx\n")).len(),
            0
        );
        assert_eq!(doubted(&format!("{first}{first}")), [first.len() as u64]);
        assert_eq!(doubted(&format!("{first}\n{first}")).len(), 0);
        assert_eq!(
            doubted(&format!("{first}From here at 10:30\nit is text\n")).len(),
            0
        );
    }
}
