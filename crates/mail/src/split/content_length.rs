//! mboxcl and mboxcl2: mboxes whose messages have a Content-Length field, as written by System V
//! mail, Dovecot and others. The bodies may contain anything, `From ` lines included.
//!
//! Programs that edit such files often do not update the field. A length counts only if the message
//! then ends at a separator or with the file; otherwise the next separator ends the message. A
//! separator at the measured end needs no blank line before it: Netscape writes none after a body
//! without a final line end, and a wrong length agrees with a `From ` line only by chance. The end
//! of a message therefore depends on its start, and such a file is divided from the start, header
//! by header.

use std::iter;

use memchr::{memchr, memchr_iter};

use super::decimal;
use super::mbox::{begins_message, envelope, is_decided, message, next_message, separator};
use super::{AtEof, SplitOutput};
use crate::lines::{begins_with, first_line};
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};

/// Passes each message of `bytes` to `sink`. A diagnostic precedes it if its Content-Length covers
/// a separator. `bytes` consists of whole messages.
pub(super) fn messages<'b>(bytes: &'b [u8], offset: u64, sink: &mut dyn FnMut(SplitOutput<'b>)) {
    let mut start = 0;
    while start < bytes.len() {
        let measured = match length_target(bytes, start, AtEof::Yes, usize::MAX) {
            LengthTarget::Border(at) => Some(at),
            LengthTarget::Undecided | LengthTarget::NoBorder => None,
        };
        let end = measured.unwrap_or(bytes.len());
        let next = next_message(&bytes[..end], start, AtEof::Yes);
        if let Some(at) = next.filter(|_| measured.is_some()) {
            let why = "a `From ` line and a field, within the Content-Length of a message: taken \
                for text";
            let doubt = Diagnostic::at(DiagnosticKind::Ambiguous, offset + at as u64, why);
            sink(SplitOutput::Diagnostic(doubt));
        }
        let end = measured.or(next).unwrap_or(end);
        sink(SplitOutput::Message(message(bytes, start, end, offset)));
        start = end;
    }
}

/// Returns the last message border within the first `max` bytes of `bytes`, which start with a
/// message.
///
/// Ignores a Content-Length that makes a message longer than `max`.
pub(super) fn last_border(bytes: &[u8], at_eof: AtEof, max: usize) -> Option<usize> {
    borders(bytes, at_eof, max)
        .take_while(|&at| at <= max)
        .last()
}

/// Returns the first message border at or after `from`.
///
/// Ignores a Content-Length that makes a message longer than `max`.
pub(super) fn border_from(bytes: &[u8], from: usize, at_eof: AtEof, max: usize) -> Option<usize> {
    borders(bytes, at_eof, max).find(|&at| at >= from)
}

/// Returns the value of the first Content-Length field of a header.
pub(super) fn content_length(header: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length:";
    let starts = iter::once(0).chain(memchr_iter(b'\n', header).map(|end| end + 1));
    let lines = starts.map(|start| &header[start..]);
    let fields = lines.filter(|line| begins_with(line, NAME));
    let mut values = fields.map(|field| &first_line(field)[NAME.len()..]);
    decimal(values.find(|value| !value.is_empty())?)
}

/// Returns the position after the blank line that ends the header of `message`.
pub(super) fn header_end(message: &[u8]) -> Option<usize> {
    memchr_iter(b'\n', message).find_map(|at| match &message[at + 1..] {
        [b'\n', ..] => Some(at + 2),
        [b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}

fn borders(bytes: &[u8], at_eof: AtEof, max: usize) -> impl Iterator<Item = usize> + '_ {
    let next = move |&start: &usize| {
        let end = match length_target(bytes, start, at_eof, max) {
            LengthTarget::Border(at) => Some(at),
            LengthTarget::Undecided => None,
            LengthTarget::NoBorder => next_message(bytes, start, at_eof),
        };
        end.filter(|&at| at < bytes.len())
    };
    std::iter::successors(next(&0), next)
}

/// Position measured by a Content-Length field.
enum LengthTarget {
    /// The start of the next message, or the end of the source.
    Border(usize),
    /// A position that the buffer is too short to check.
    Undecided,
    /// Any other position, or no such field.
    NoBorder,
}

/// Follows the Content-Length of the message at `start`. Ignores it if the message would be longer
/// than `max`.
fn length_target(bytes: &[u8], start: usize, at_eof: AtEof, max: usize) -> LengthTarget {
    let header = start + envelope(&bytes[start..]);
    let measured = body_start(bytes, header)
        .and_then(|body| body.checked_add(content_length(&bytes[header..body])?))
        .filter(|&at| at - start <= max);
    measured.map_or(LengthTarget::NoBorder, |at| border_at(bytes, at, at_eof))
}

/// Returns the position after the blank line of the header at `header`. Returns `None` if the next
/// message starts before a blank line: the fields after that are not this message's.
fn body_start(bytes: &[u8], header: usize) -> Option<usize> {
    let mut line = header;
    loop {
        match &bytes[line..] {
            [b'\n', ..] => return Some(line + 1),
            [b'\r', b'\n', ..] => return Some(line + 2),
            rest if rest.starts_with(b"From ") && begins_message(bytes, line) => return None,
            rest => line += memchr(b'\n', rest)? + 1,
        }
    }
}

/// Decides whether a message border is at `measured`, or after one or two line ends there.
fn border_at(bytes: &[u8], measured: usize, at_eof: AtEof) -> LengthTarget {
    if measured > bytes.len() {
        return match at_eof {
            AtEof::No => LengthTarget::Undecided,
            AtEof::Yes => LengthTarget::NoBorder,
        };
    }
    // Some writers count the blank line before the next `From ` line, some do not. Some add a line
    // end to a last line that lacks one.
    let mut at = measured;
    for _ in 0..2 {
        match &bytes[at..] {
            [b'\r', b'\n', ..] => at += 2,
            [b'\n', ..] => at += 1,
            _ => break,
        }
    }
    if at == bytes.len() {
        return match at_eof {
            AtEof::No => LengthTarget::Undecided,
            AtEof::Yes => LengthTarget::Border(at),
        };
    }
    if !is_decided(bytes, at, at_eof) {
        return LengthTarget::Undecided;
    }
    if separator(bytes, at) {
        LengthTarget::Border(at)
    } else {
        LengthTarget::NoBorder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns each message's start, and the offsets of ambiguities.
    fn divided(text: &str) -> (Vec<u64>, Vec<u64>) {
        let (mut starts, mut doubts) = (Vec::new(), Vec::new());
        messages(text.as_bytes(), 0, &mut |output| match output {
            SplitOutput::Message(message) => starts.push(message.start),
            SplitOutput::Diagnostic(diagnostic) => doubts.extend(diagnostic.offset),
        });
        (starts, doubts)
    }

    fn with_length(body: &str, off_by: usize) -> String {
        format!(
            "From a\nA: b\ncontent-length:  {}\n\n{body}",
            body.len() + off_by
        )
    }

    /// Regression: the next message's length was followed if the buffer extended that far.
    #[test]
    fn a_header_without_a_blank_line_ends_at_the_next_message() {
        let text = "From - Tue Apr  2 15:50:00 1996\nContent-Length: 32\nFrom: a@b.example\n\
            From - Tue Apr  2 15:51:00 1996\nX-Mozilla-Status: 0001\n\nFrom the start, 32 bytes of \
            text\n\nFrom - Tue Apr  2 15:52:00 1996\nFrom: a@b.example\n\nx\n";
        let second = text.find("From - Tue Apr  2 15:51").expect("a second");
        let third = text.find("From - Tue Apr  2 15:52").expect("a third");
        assert_eq!(divided(text).0, [0, second as u64, third as u64]);
        let cut = &text.as_bytes()[..second + 60];
        assert_eq!(last_border(cut, AtEof::No, usize::MAX), Some(second));
    }

    #[test]
    fn a_right_length_makes_a_separator_part_of_the_body() {
        let body = "x\n\nFrom c\nD: e\n\ny\n";
        for ends in ["\n", "\r\n"] {
            let body = body.replace('\n', ends);
            let head = |body: &str| {
                format!("From a\nA: b\nContent-Length: {}\n\n", body.len()).replace('\n', ends)
            };
            let one = format!("{}{body}", head(&body));
            let inside = (one.find("From c").unwrap()) as u64;
            assert_eq!(divided(&one), (vec![0], vec![inside]));
            let two = format!("{one}{ends}{one}");
            let second = (one.len() + ends.len()) as u64;
            assert_eq!(
                divided(&two),
                (vec![0, second], vec![inside, second + inside])
            );
        }
    }

    #[test]
    fn a_length_without_a_border_is_ignored() {
        let body = "x\n\nFrom c\nD: e\n\ny\n";
        for off_by in [1, 5, 1000] {
            assert_eq!(divided(&with_length(body, off_by)).0.len(), 2, "{off_by}");
        }
        assert_eq!(
            divided(&format!(
                "{}\n{}",
                with_length(body, 3),
                with_length("z\n", 0)
            ))
            .0
            .len(),
            3
        );
    }

    #[test]
    fn a_separator_where_a_length_ends_needs_no_blank_line() {
        for body in ["x\n", "x", "x\nFrom c\nD: e\ny"] {
            for ends in ["\n", "\r\n"] {
                let body = body.replace('\n', ends);
                let head = format!("From - Tue\nA: b\nContent-Length: {}\n\n", body.len());
                let one = format!("{}{body}", head.replace('\n', ends));
                assert_eq!(
                    divided(&one.repeat(3)).0,
                    [0, one.len() as u64, 2 * one.len() as u64],
                    "{body:?}"
                );
            }
        }
    }

    #[test]
    fn a_length_that_ends_at_a_body_line_is_ignored() {
        let text = "From a\nContent-Length: 2\n\nx\nFrom here\nit goes on\n";
        assert_eq!(divided(text).0, [0]);
    }
}
