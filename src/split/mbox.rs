//! mbox: messages after `From ` lines, in all forms that programs write.
//!
//! A separator is at the start of the file or after a blank line, begins with `From `, and is followed by a header field. The rest
//! of the line does not matter: dates, zones, `remote from`, Mozilla's `-` and the numbers of USENET archives all occur there,
//! and body lines that begin with `From ` are followed by prose. Two programs omit the blank line: Pipermail after attachments that it
//! removed, recognized by the sender that it names on both lines, and Netscape after a body without a final line end, recognized by
//! the `From - ` with a date or nothing after it that only it writes.
//!
//! The lines around a position decide if a separator is there (`separator.rs`), so that a file can be entered at any offset. Files
//! whose messages have a Content-Length field are divided in `content_length.rs`.

mod separator;

use std::sync::LazyLock;

use memchr::memmem;

use super::{AtEof, Extent, HeaderForm, Message, SplitOutput};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::limits::SEPARATOR_BYTES;
use crate::origin::SourceKind;
use crate::planted_faults::{PlantedFault, is_planted};
use crate::span::Span;

pub(super) use separator::{begins_message, is_field, separator};
use separator::{has_time, is_usual};

/// Finds the line end before each line that begins with `From `.
static FROM: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b"\nFrom "));

/// Passes each message of `bytes` to `sink`, after the diagnostics about it. `bytes` begins with a separator, after optional blank
/// lines. Searches for the separators of all messages in one pass.
pub(super) fn messages<'b>(bytes: &'b [u8], offset: u64, sink: &mut dyn FnMut(SplitOutput<'b>)) {
    let mut start = 0;
    let mut body_from_lines = Vec::new();
    let blank = blank_lines(bytes);
    for at in FROM
        .find_iter(bytes)
        .map(|at| at + 1)
        .filter(|&at| at > blank)
        .chain([bytes.len()])
    {
        let is_lost = is_planted(PlantedFault::LostSeparator) && at % 3 == 0;
        if at < bytes.len() && (is_lost || !begins_message(bytes, at)) {
            body_from_lines.push(at);
        } else if start < at {
            emit(bytes, Span::new(start, at), offset, &body_from_lines, sink);
            body_from_lines.clear();
            start = at;
        }
    }
}

/// Passes a message to `sink`, after the diagnostics about its start and about the `From ` lines in its body.
fn emit<'b>(
    bytes: &'b [u8],
    span: Span,
    offset: u64,
    body_from_lines: &[usize],
    sink: &mut dyn FnMut(SplitOutput<'b>),
) {
    // The first message of a file cannot be the rest of another.
    if let Some(why) = doubt(span.of(bytes)).filter(|_| offset + span.start as u64 > 0) {
        sink(SplitOutput::Diagnostic(Diagnostic::at(
            DiagnosticKind::Ambiguous,
            offset + span.start as u64,
            why,
        )));
    }
    report_unseparated(bytes, span, offset, body_from_lines, sink);
    sink(SplitOutput::Message(message(
        bytes, span.start, span.end, offset,
    )));
}

/// Returns the message from `start` to `end`, which include its `From ` line.
pub(super) fn message(bytes: &[u8], start: usize, end: usize, offset: u64) -> Message<'_> {
    let envelope = envelope(&bytes[start..end]);
    Message {
        raw: &bytes[start + envelope..end],
        start: offset + start as u64,
        envelope,
        kind: SourceKind::Mbox,
        header: HeaderForm::Present,
        wire: false,
        extent: Extent::Whole,
        unpacked_times: 0,
    }
}

/// Returns the number of bytes of blank lines and the `From ` line at the start of a message.
pub(super) fn envelope(message: &[u8]) -> usize {
    let blank = blank_lines(message);
    if !message[blank..].starts_with(b"From ") {
        return blank;
    }
    memchr::memchr(b'\n', &message[blank..]).map_or(message.len(), |end| blank + end + 1)
}

/// Returns the number of bytes of line ends at the start of `bytes`.
pub(super) fn blank_lines(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|&&byte| matches!(byte, b'\n' | b'\r'))
        .count()
}

/// Returns the start of the message after the one at `start`. Blank lines before the first message belong to it.
pub(super) fn next_message(bytes: &[u8], start: usize, at_eof: AtEof) -> Option<usize> {
    next_separator(bytes, start + blank_lines(&bytes[start..]) + 1, at_eof)
}

/// Returns the first separator at `from` or after it. `from` is not the start of the file.
///
/// Ignores a separator that the end of the buffer cuts off, unless that is the end of the source.
pub(super) fn next_separator(bytes: &[u8], from: usize, at_eof: AtEof) -> Option<usize> {
    let lowest = from.saturating_sub(1).min(bytes.len());
    FROM.find_iter(&bytes[lowest..])
        .map(|at| lowest + at + 1)
        .find(|&at| begins_message(bytes, at) && is_decided(bytes, at, at_eof))
}

/// Returns the last separator after `from` whose following line is complete.
///
/// Searches backwards window by window, and forwards in each: a forward search is vectorized.
pub(super) fn last_separator(bytes: &[u8], from: usize) -> Option<usize> {
    const WINDOW_BYTES: usize = 64 << 10;
    let mut end = bytes.len();
    while end > from {
        let start = end.saturating_sub(WINDOW_BYTES).max(from);
        // A `From ` may begin in this window and end in the one after it.
        let window = &bytes[start..bytes.len().min(end + FROM.needle().len() - 1)];
        let lines: Vec<usize> = FROM.find_iter(window).map(|at| start + at + 1).collect();
        let separates =
            |&&at: &&usize| is_decided(bytes, at, AtEof::No) && begins_message(bytes, at);
        if let Some(&at) = lines.iter().rev().find(separates) {
            return Some(at);
        }
        end = start;
    }
    None
}

/// Returns `true` if the buffer is long enough after `at` to decide if a separator is there.
///
/// A field name that is cut off decides nothing: `http:`.
pub(super) fn is_decided(bytes: &[u8], at: usize, at_eof: AtEof) -> bool {
    at_eof == AtEof::Yes
        || bytes.len() - at > SEPARATOR_BYTES
        || memchr::memchr_iter(b'\n', &bytes[at..]).nth(1).is_some()
}

/// Returns the reason why a message may be the rest of the one before it: its `From ` line has no time, and its header fewer than
/// two usual fields.
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
    let header = header.get(1..).unwrap_or_default();
    let mut start = 0;
    let mut known = 0;
    for end in memchr::memchr_iter(b'\n', header) {
        let line = &header[start..end];
        if line.trim_ascii_end().is_empty() {
            return Some(
                "a `From ` line with one field after it: taken for a message, may be text",
            );
        }
        known += usize::from(is_usual(line));
        if known == 2 {
            return None;
        }
        start = end + 1;
    }
    // A header that is cut off had more fields.
    None
}

/// Reports `From ` lines with a time and a field after them that do not begin a message because there is no blank line before them:
/// some programs omit it.
fn report_unseparated<'b>(
    bytes: &'b [u8],
    span: Span,
    offset: u64,
    from_lines: &[usize],
    sink: &mut dyn FnMut(SplitOutput<'b>),
) {
    let message = span.of(bytes);
    let body = envelope(message);
    for at in from_lines
        .iter()
        .map(|line| line - span.start)
        .filter(|&at| at > body)
    {
        let line = &message[at..][..memchr::memchr(b'\n', &message[at..]).unwrap_or(0)];
        if has_time(line) && separator(message, at) {
            let why = "a `From ` line with a time and a field after it, but no blank line before it: taken for text";
            sink(SplitOutput::Diagnostic(Diagnostic::at(
                DiagnosticKind::Ambiguous,
                offset + (span.start + at) as u64,
                why,
            )));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the start of each message, the start of its raw bytes, and its end.
    fn divided(text: &str) -> Vec<(u64, u64, u64)> {
        let mut seen = Vec::new();
        messages(text.as_bytes(), 100, &mut |output| {
            if let SplitOutput::Message(message) = output {
                seen.push((message.start, message.raw_start(), message.end()));
            }
        });
        seen
    }

    /// Returns the offsets of ambiguities.
    fn doubted(text: &str) -> Vec<u64> {
        let mut seen = Vec::new();
        messages(text.as_bytes(), 0, &mut |output| {
            if let SplitOutput::Diagnostic(diagnostic) = output {
                seen.extend(diagnostic.offset);
            }
        });
        seen
    }

    #[test]
    fn every_form_of_from_line_begins_a_message() {
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
    fn body_lines_begin_no_message() {
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
    fn offsets_count_from_the_start_of_the_source() {
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
    fn pipermail_writes_addresses_without_a_host() {
        let message = "From a at   Thu Apr  1 15:52:00 2004\nFrom: a at  (A)\n\nx\n";
        assert_eq!(divided(&message.repeat(3)).len(), 3);
        assert_eq!(divided(&message.repeat(3).replace('\n', "\r\n")).len(), 3);
        let prose = "From a at   10:30 on\nFrom: the other\n";
        assert_eq!(divided(&format!("{message}{prose}")).len(), 1);
    }

    #[test]
    fn netscape_needs_no_blank_line() {
        let message = "From - Tue Apr  2 15:52:00 1996\nX-Mozilla-Status: 0001\nFrom: a\n\nx\n";
        assert_eq!(divided(&message.repeat(3)).len(), 3);
        assert_eq!(divided(&message.repeat(3).replace('\n', "\r\n")).len(), 3);
        for text in [
            "From - Tue Apr  2 15:52:00 1996\nReceived: b\n",
            "From - Tue Apr  2 15:52:00 1996\nContent-Type: text/plain\n",
            "From - \nX-Mozilla-Status: 0001\n",
            "From -\nReturn-path: <b>\n",
            "From - \nFCC: /Mail/Sent\n",
        ] {
            assert_eq!(divided(&format!("{message}{text}")).len(), 2, "{text}");
            let crlf = format!("{message}{text}").replace('\n', "\r\n");
            assert_eq!(divided(&crlf).len(), 2, "{text} CRLF");
        }
        for text in [
            "From - the desk\nX-Mozilla-Status: 0001\n",
            "From - the desk at 10:30\nFrom: b\n",
            "From - Tue Apr  2 15:52:00 1996\nit is prose\n",
            "From - Tue, at 10:30\nSubject: b\n",
            "From - \nNote: it is prose\n",
            "From - \nhttp://a.example/\n",
            "> From - \nFrom: b\n",
            "From -- \nFrom: b\n",
        ] {
            assert_eq!(divided(&format!("{message}{text}")).len(), 1, "{text}");
        }
    }

    #[test]
    fn blank_lines_before_the_first_message_belong_to_it() {
        assert_eq!(
            divided("\n\r\nFrom a\nA: b\n\nFrom c\nD: e\n"),
            [(100, 110, 116), (116, 123, 128)]
        );
    }

    #[test]
    fn ambiguous_separators_are_reported() {
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
