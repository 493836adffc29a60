//! mbox: messages after `From ` lines, in all forms that programs write.
//!
//! A separator starts with `From `, is followed by a header field, and is at the start of the file
//! or after a blank line. The rest of the line does not matter: it may hold dates, zones, `remote
//! from`, Mozilla's `-` or the numbers of USENET archives. Body lines that start with `From ` are
//! followed by prose. Two programs omit the blank line. Pipermail omits it after attachments that
//! it removed; it is recognized by the sender that it names on both lines. Netscape omits it after
//! a body without a final line end; it is recognized by `From - `, followed by a date or the line
//! end, which no other program writes.
//!
//! A line with a sender and a complete date, followed by a header, needs no blank line either.
//!
//! The lines around a position decide whether a separator is there. A file can therefore be read
//! from any offset. `content_length.rs` divides files whose messages have a Content-Length field.

use std::sync::LazyLock;

use memchr::memmem;

use super::{AtEof, Message, SplitOutput};
use crate::lines::{
    begins_with, end_run_len, first_line, is_blank, is_line_end, is_listed, line_end, run_len,
};
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};
use urlspool_text::limits::SEPARATOR_BYTES;
use urlspool_text::origin::SourceKind;
use urlspool_text::planted_faults::{PlantedFault, is_planted};
use urlspool_text::span::Span;

/// Finds the line end before each line that starts with `From `.
static FROM: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b"\nFrom "));

/// Passes each message of `bytes` to `sink`, after its diagnostics. `bytes` starts with a
/// separator, after optional blank lines. Finds all separators in one pass.
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

/// Passes a message to `sink`, after the diagnostics about its start and about `From ` lines in its
/// body that have a time and a following field, but do not start a message.
fn emit<'b>(
    bytes: &'b [u8],
    span: Span,
    offset: u64,
    body_from_lines: &[usize],
    sink: &mut dyn FnMut(SplitOutput<'b>),
) {
    // The first message of a file cannot continue another one.
    if let Some(why) = doubt(span.of(bytes)).filter(|_| offset + span.start as u64 > 0) {
        let at = offset + span.start as u64;
        let doubt = Diagnostic::at(DiagnosticKind::Ambiguous, at, why);
        sink(SplitOutput::Diagnostic(doubt));
    }
    // Some programs omit the blank line before a message.
    let message = span.of(bytes);
    let body = envelope(message);
    for at in body_from_lines.iter().map(|line| line - span.start) {
        if body < at && has_time(first_line(&message[at..])) && separator(message, at) {
            let why = "a `From ` line with a time and a field after it, but no blank line before \
                it: taken for text";
            let at = offset + (span.start + at) as u64;
            let doubt = Diagnostic::at(DiagnosticKind::Ambiguous, at, why);
            sink(SplitOutput::Diagnostic(doubt));
        }
    }
    let message = self::message(bytes, span.start, span.end, offset);
    sink(SplitOutput::Message(message));
}

/// Returns the message in `start..end`, a range that includes the `From ` line.
pub(super) fn message(bytes: &[u8], start: usize, end: usize, offset: u64) -> Message<'_> {
    let envelope = envelope(&bytes[start..end]);
    Message {
        start: offset + start as u64,
        envelope,
        kind: SourceKind::Mbox,
        ..Message::parse(&bytes[start + envelope..end])
    }
}

/// Returns the length of the blank lines and the `From ` line at the start of a message.
pub(super) fn envelope(message: &[u8]) -> usize {
    let blank = blank_lines(message);
    if !message[blank..].starts_with(b"From ") {
        return blank;
    }
    line_end(message, blank)
}

/// Returns the length of the line ends at the start of `bytes`.
pub(super) fn blank_lines(bytes: &[u8]) -> usize {
    run_len(bytes, is_line_end)
}

/// Returns the start of the message after the one at `start`. Blank lines before the first message
/// belong to that message.
pub(super) fn next_message(bytes: &[u8], start: usize, at_eof: AtEof) -> Option<usize> {
    next_separator(bytes, start + blank_lines(&bytes[start..]) + 1, at_eof)
}

/// Returns the first separator at or after `from`, which is not the start of the file.
///
/// Ignores a separator that is cut off by the end of the buffer, unless the source ends there.
pub(super) fn next_separator(bytes: &[u8], from: usize, at_eof: AtEof) -> Option<usize> {
    let lowest = from.saturating_sub(1).min(bytes.len());
    FROM.find_iter(&bytes[lowest..])
        .map(|at| lowest + at + 1)
        .find(|&at| begins_message(bytes, at) && is_decided(bytes, at, at_eof))
}

/// Returns the last separator after `from` whose following line is complete.
///
/// Searches backwards window by window, but forwards inside a window: a forward search is
/// vectorized.
pub(super) fn last_separator(bytes: &[u8], from: usize) -> Option<usize> {
    const WINDOW_BYTES: usize = 64 << 10;
    let mut end = bytes.len();
    while end > from {
        let start = end.saturating_sub(WINDOW_BYTES).max(from);
        // A `From ` may start in this window and end in the next.
        let window = &bytes[start..bytes.len().min(end + FROM.needle().len() - 1)];
        let lines: Vec<usize> = FROM.find_iter(window).map(|at| start + at + 1).collect();
        let mut lines = lines.into_iter().rev();
        let last = lines.find(|&at| is_decided(bytes, at, AtEof::No) && begins_message(bytes, at));
        if last.is_some() {
            return last;
        }
        end = start;
    }
    None
}

/// Returns `true` if the buffer extends far enough after `at` to decide whether a separator is
/// there.
///
/// A truncated field name such as `http:` decides nothing yet.
pub(super) fn is_decided(bytes: &[u8], at: usize, at_eof: AtEof) -> bool {
    at_eof == AtEof::Yes
        || bytes.len() - at > SEPARATOR_BYTES
        || memchr::memchr_iter(b'\n', &bytes[at..]).nth(2).is_some()
}

/// Returns the reason to suspect that a message continues the previous one: its `From ` line has no
/// time, and its header has fewer than two usual fields.
fn doubt(message: &[u8]) -> Option<&'static str> {
    let window = &message[..message.len().min(SEPARATOR_BYTES)];
    let line = &window[blank_lines(window)..];
    if !line.starts_with(b"From ") {
        return None;
    }
    let (line, header) = line.split_at(first_line(line).len());
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
    // A truncated header had more fields.
    None
}

/// Returns `true` if a message starts at `at`, the start of a line.
pub(super) fn begins_message(bytes: &[u8], at: usize) -> bool {
    separator(bytes, at)
        && (is_after_blank_line(bytes, at) && !is_attached_patch(bytes, at)
            || names_its_sender_twice(bytes, at)
            || is_netscape_separator(bytes, at)
            || is_dated_separator(&bytes[at..]))
}

/// Date on the first line of every git patch.
const PATCH_DATE: &[u8] = b" Mon Sep 17 00:00:00 2001";

/// Returns `true` if the first line has a sender without blanks and a complete `ctime` date,
/// perhaps with a zone, and the header continues on the third line. Some programs write no blank
/// line before such a line. The lines of patches are text.
fn is_dated_separator(text: &[u8]) -> bool {
    let mut lines = text[..text.len().min(SEPARATOR_BYTES)].split(|&byte| byte == b'\n');
    let line = lines.next().unwrap_or_default();
    let line = line[b"From ".len()..].trim_ascii_end();
    let Some(sender) = memchr::memchr(b' ', line) else {
        return false;
    };
    let date = &line[sender..];
    let year = date.len() - end_run_len(date, |byte| byte.is_ascii_digit());
    let third = lines.nth(1).unwrap_or_default().trim_ascii_end();
    0 < sender
        && date.len() - year == 4
        && date != PATCH_DATE
        && is_ctime(date.trim_ascii_start())
        && (third.first().is_some_and(|&byte| is_blank(byte)) || is_field(third))
}

/// Returns `true` if the line at `at` starts a git patch in a message part whose header ends before
/// the line.
fn is_attached_patch(bytes: &[u8], at: usize) -> bool {
    /// Length of the commit hash before the date.
    const COMMIT: usize = 40;
    const FIELD: &[u8] = b"content-";
    let line = &bytes[at + b"From ".len()..];
    if !line
        .get(COMMIT..)
        .is_some_and(|date| date.starts_with(PATCH_DATE))
    {
        return false;
    }
    let before = bytes[at.saturating_sub(SEPARATOR_BYTES)..at].trim_ascii_end();
    let mut lines = before.rsplit(|&byte| byte == b'\n');
    // The last field of a part may be folded.
    lines
        .find(|line| !line.first().copied().is_some_and(is_blank))
        .is_some_and(|line| begins_with(line, FIELD))
}

/// Returns `true` if the lines at `at` are Netscape's or Mozilla's: `From - Tue Apr  2 15:52:00
/// 1996` and a field.
///
/// Some versions write no date (`From - `). Prose can contain that line too, so the next field must
/// be one that these programs write first.
fn is_netscape_separator(bytes: &[u8], at: usize) -> bool {
    let window = &bytes[at..bytes.len().min(at + SEPARATOR_BYTES)];
    let (line, next) = window.split_at(first_line(window).len());
    let Some(date) = line.strip_prefix(b"From -") else {
        return false;
    };
    let next = next.get(1..).unwrap_or_default();
    match date.trim_ascii() {
        b"" => {
            const NAMES: &str = "x-uidl x-account-key x-identity-key fcc";
            let name = &next[..memchr::memchr(b':', next).unwrap_or(0)];
            is_usual(next) || begins_with(next, b"x-mozilla-") || is_listed(NAMES, name)
        }
        date => is_ctime(date) && is_field(next),
    }
}

/// Returns `true` if a text starts like a `ctime` date, with day of the week and month, and
/// contains a time.
fn is_ctime(text: &[u8]) -> bool {
    const DAYS: &[u8] = b"SunMonTueWedThuFriSat";
    const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    let mut words = text.split(|&byte| byte == b' ');
    is_one_of(DAYS, words.next()) && is_one_of(MONTHS, words.next()) && has_time(text)
}

/// Returns `true` if a word is one of the three-letter names.
fn is_one_of(names: &[u8], word: Option<&[u8]>) -> bool {
    word.is_some_and(|word| names.chunks(3).any(|name| name == word))
}

/// Returns `true` if a line is a field that most messages have.
fn is_usual(line: &[u8]) -> bool {
    const USUAL: &str = "received x-received return-path from date message-id subject to \
        newsgroups path mime-version status";
    is_listed(USUAL, &line[..memchr::memchr(b':', line).unwrap_or(0)])
}

/// Returns `true` if the lines at `at` are Pipermail's: `From user at host  Fri Apr  2 15:52:00
/// 2004`, and `From: user at host`.
///
/// Pipermail writes ` at ` for `@`. An address without a host becomes `From user at   Fri ...`.
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
        && (memmem::find(sender, b" at ").is_some() || sender.ends_with(b" at"))
        && second
            .strip_prefix(b"From: ")
            .is_some_and(|value| value.starts_with(sender))
}

/// Returns `true` if the line before `at` is blank. LF and CRLF may be mixed.
fn is_after_blank_line(bytes: &[u8], at: usize) -> bool {
    let Some(before) = bytes[..at].strip_suffix(b"\n") else {
        return at == 0;
    };
    let before = before.strip_suffix(b"\r").unwrap_or(before);
    before.is_empty() || before.ends_with(b"\n")
}

/// Returns `true` if a `From ` line is at `at`, followed by a header field or a quoted `From `
/// line. `From : x` is a field (RFC 5322, section 4.5.2).
pub(super) fn separator(bytes: &[u8], at: usize) -> bool {
    let window = &bytes[at..bytes.len().min(at + SEPARATOR_BYTES)];
    let sender = window.strip_prefix(b"From ").map(<[u8]>::trim_ascii_start);
    if sender.is_none_or(|sender| sender.starts_with(b":")) {
        return false;
    }
    let Some(end) = memchr::memchr(b'\n', window) else {
        return false;
    };
    let next = &window[end + 1..];
    let line = first_line(next);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let colon = memchr::memchr(b':', line).unwrap_or(0);
    // A URL such as `svn+ssh://...` is not a field.
    line.starts_with(b">From ") || is_field(line) && !line[colon..].starts_with(b"://")
}

/// Returns `true` if a line starts with a field name and a colon (RFC 5322 section 2.2). The colon
/// must be followed by a blank or the line end, unless only a field can have that name.
///
/// Without the blank, `http://x`, `10:30` and `std::string` would be fields too.
pub(crate) fn is_field(line: &[u8]) -> bool {
    const MAX_NAME_BYTES: usize = 76;
    /// Names after which old programs write the value without a blank.
    const OLD_NAMES: &str = "from to date subject path received newsgroups sender status";
    let name = run_len(&line[..line.len().min(MAX_NAME_BYTES)], |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
    });
    let blanks = run_len(&line[name..], is_blank);
    if name == 0 || !line[0].is_ascii_alphabetic() || line.get(name + blanks) != Some(&b':') {
        return false;
    }
    matches!(
        line.get(name + blanks + 1),
        None | Some(b' ' | b'\t' | b'\r')
    ) || (blanks == 0 && line[..name].contains(&b'-'))
        || is_listed(OLD_NAMES, &line[..name])
}

/// Returns `true` if a line contains a time: `12:34`.
fn has_time(line: &[u8]) -> bool {
    memchr::memchr_iter(b':', line).any(|colon| {
        let near = colon
            .checked_sub(2)
            .and_then(|start| line.get(start..colon + 3));
        near.is_some_and(|near| [0, 1, 3, 4].iter().all(|&at| near[at].is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the start, the start of the raw bytes, and the end of each message.
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
    fn a_field_with_a_blank_before_its_colon_separates_nothing() {
        for (line, is_separator) in [("From a", true), ("From : a", false), ("From  :a", false)] {
            let text = format!("{line}\nSubject: x\n\n");
            assert_eq!(separator(text.as_bytes(), 0), is_separator, "{line}");
        }
        assert!(!begins_message(b"x\nFrom \nFrom: a\nSubject: x\n", 2));
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

    /// Checks that three copies of a message are divided into three messages, with LF and with
    /// CRLF.
    #[track_caller]
    fn check_runs(message: &str) {
        let text = message.repeat(3);
        assert_eq!(divided(&text).len(), 3);
        assert_eq!(divided(&text.replace('\n', "\r\n")).len(), 3);
    }

    #[test]
    fn pipermail_needs_no_blank_line() {
        let line = "From a at b.example  Fri Apr  2 15:52:00 2004\n";
        let message = format!("{line}From: a at b.example (A)\n\nx\n");
        check_runs(&message);
        let other = format!("{message}{line}From: c at d.example\n\ny\n");
        assert_eq!(divided(&other).len(), 1);
    }

    #[test]
    fn a_sender_and_a_whole_date_need_no_blank_line() {
        let message = "From a@b.example Mon Jan  5 10:00:00 2015\nX-A: b\n c\n\nx\n";
        check_runs(message);
        check_runs(&message.replace("2015", "MET 2015"));
        for line in [
            "From a Mon Jan  5 10:00 at 20",
            "From Mon Jan  5 10:00:00 2015",
            "From a Monday Jan  5 10:00:00 2015",
            "From nobody Mon Sep 17 00:00:00 2001",
            "From a Mon Jan  5 10:00:00 2015\nX-A: b\n",
        ] {
            let text = format!("{message}{line}\nX-A: b\nX-B: c\n\ny\n");
            assert_eq!(divided(&text).len(), 1, "{line}");
        }
    }

    #[test]
    fn pipermail_writes_addresses_without_a_host() {
        let message = "From a at   Thu Apr  1 15:52:00 2004\nFrom: a at  (A)\n\nx\n";
        check_runs(message);
        let prose = "From a at   10:30 on\nFrom: the other\n";
        assert_eq!(divided(&format!("{message}{prose}")).len(), 1);
    }

    #[test]
    fn netscape_needs_no_blank_line() {
        let message = "From - Tue Apr  2 15:52:00 1996\nX-Mozilla-Status: 0001\nFrom: a\n\nx\n";
        check_runs(message);
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
    fn a_patch_of_git_in_a_part_is_text() {
        let patch = format!(
            "From {} Mon Sep 17 00:00:00 2001\nFrom: a\n\nx\n\n",
            "0".repeat(40)
        );
        assert_eq!(divided(&format!("{patch}{patch}")).len(), 2);
        for header in ["Content-Type: text/x-patch", "Content-Type: a/b;\n name=c"] {
            let text = format!("From a\nA: b\n\n--x\n{header}\n\n{patch}");
            assert_eq!(divided(&text).len(), 1, "{header}");
        }
    }

    #[test]
    fn ambiguous_separators_are_reported() {
        let first = "From a@b Mon Jan  1 00:00:00 1996\nFrom: a\nDate: b\n\nx\n";
        for (rest, at) in [
            ("\nFrom now on\nNote: this\n\nand that\n", Some(1)),
            ("\nFrom now on\nFrom: a\nSubject: b\n\nx\n", None),
            (first, None),
            ("From a b Mon Jan  1 00:00:00 1996\nFrom: a\n", Some(0)),
            (&format!("\n{first}"), None),
            ("From here at 10:30\nit is text\n", None),
        ] {
            let doubts = doubted(&format!("{first}{rest}"));
            assert_eq!(
                doubts,
                Vec::from_iter(at.map(|at| first.len() as u64 + at)),
                "{rest}"
            );
        }
    }
}
