//! mboxcl and mboxcl2: mboxes whose messages carry a Content-Length field, as System V mail, Dovecot and others write
//! them. Their bodies may hold anything, `From ` lines among it.
//!
//! Programs that edit such files often forget the field. It is believed only if the message that it measures ends
//! at a separator or with the file; otherwise the next separator ends the message. So a message's end depends on where
//! it begins, and such a file is gone through from its start, hopping from header to header.

use memchr::memmem;

use super::mbox::{begins_message, envelope, is_decided, message, next_message};
use super::{AtEof, SplitOutput, decimal};
use crate::diagnostic::{Diagnostic, DiagnosticKind};

/// How a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// Where: the start of the next message, or the end of what is held.
    pub(super) at: usize,
    /// Whether its Content-Length says so.
    pub(super) measured: bool,
}

/// Gives each message of `bytes` to `sink`, and the separators that its Content-Length makes text. `bytes` begins with
/// a message and ends with one.
pub(super) fn messages<'b>(bytes: &'b [u8], offset: u64, sink: &mut dyn FnMut(SplitOutput<'b>)) {
    let mut start = 0;
    while start < bytes.len() {
        let end = end(bytes, start, AtEof::All, usize::MAX).unwrap_or(End {
            at: bytes.len(),
            measured: false,
        });
        let inside = next_message(&bytes[..end.at], start, AtEof::All).filter(|_| end.measured);
        if let Some(at) = inside {
            let why = "a `From ` line and a field, within the Content-Length of a message: taken for text";
            sink(SplitOutput::Diagnostic(Diagnostic::at(
                DiagnosticKind::Ambiguous,
                offset + at as u64,
                why,
            )));
        }
        sink(SplitOutput::Message(message(bytes, start, end.at, offset)));
        start = end.at;
    }
}

/// The last border of messages in `bytes`, which begins with a message.
///
/// No message that is measured to be longer than `most` is believed to be.
pub(super) fn last_border(bytes: &[u8], held: AtEof, most: usize) -> Option<usize> {
    borders(bytes, held, most)
        .take_while(|&at| at <= most)
        .last()
}

/// The first border of messages at `from` or behind it.
pub(super) fn border_from(bytes: &[u8], from: usize, held: AtEof, most: usize) -> Option<usize> {
    borders(bytes, held, most).find(|&at| at >= from)
}

fn borders(bytes: &[u8], held: AtEof, most: usize) -> impl Iterator<Item = usize> + '_ {
    let next = move |&start: &usize| {
        end(bytes, start, held, most)
            .map(|end| end.at)
            .filter(|&at| at < bytes.len())
    };
    std::iter::successors(next(&0), next)
}

/// The end of the message at `start`, if it can be told from what is held.
pub(super) fn end(bytes: &[u8], start: usize, held: AtEof, most: usize) -> Option<End> {
    let plain = || {
        let next = next_message(bytes, start, held);
        let at = if held == AtEof::All {
            next.or(Some(bytes.len()))
        } else {
            next
        };
        at.map(|at| End {
            at,
            measured: false,
        })
    };
    let header = start + envelope(&bytes[start..]);
    let Some(body) = header_end(&bytes[header..]).map(|end| header + end) else {
        return plain();
    };
    let Some(length) = content_length(&bytes[header..body]) else {
        return plain();
    };
    let Some(measured) = body.checked_add(length).filter(|&at| at - start <= most) else {
        return plain();
    };
    match landing(bytes, measured, held) {
        Landing::Border(at) => Some(End { at, measured: true }),
        Landing::Unknown => None,
        Landing::None => plain(),
    }
}

/// What stands where a Content-Length leads.
enum Landing {
    /// The start of a message, or the end.
    Border(usize),
    Unknown,
    None,
}

fn landing(bytes: &[u8], measured: usize, held: AtEof) -> Landing {
    let unknown = if held == AtEof::Part {
        Landing::Unknown
    } else {
        Landing::None
    };
    if measured > bytes.len() {
        return unknown;
    }
    // Writers count the blank line before the next `From ` line or not, and end a last line that has no end.
    let mut at = measured;
    for _ in 0..2 {
        match &bytes[at..] {
            [b'\r', b'\n', ..] => at += 2,
            [b'\n', ..] => at += 1,
            _ => break,
        }
    }
    if at == bytes.len() {
        return if held == AtEof::Part {
            Landing::Unknown
        } else {
            Landing::Border(at)
        };
    }
    if !is_decided(bytes, at, held) {
        return Landing::Unknown;
    }
    if begins_message(bytes, at) {
        Landing::Border(at)
    } else {
        Landing::None
    }
}

/// Where the header at the start of `message` ends, its blank line included.
pub(super) fn header_end(message: &[u8]) -> Option<usize> {
    let lf = memmem::find(message, b"\n\n").map(|at| at + 2);
    let before = &message[..lf.unwrap_or(message.len())];
    memmem::find(before, b"\n\r\n").map(|at| at + 3).or(lf)
}

/// The value of a header's first Content-Length field.
pub(super) fn content_length(header: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length:";
    let line = header
        .split(|&byte| byte == b'\n')
        .find(|line| line.len() > NAME.len() && line[..NAME.len()].eq_ignore_ascii_case(NAME))?;
    decimal(&line[NAME.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each message's start, and what was ambiguous.
    fn divided(text: &str) -> (Vec<u64>, Vec<u64>) {
        let (mut starts, mut doubts) = (Vec::new(), Vec::new());
        messages(text.as_bytes(), 0, &mut |divided| match divided {
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

    #[test]
    fn a_true_length_makes_text_of_a_separator() {
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
    fn a_length_that_leads_nowhere_is_not_believed() {
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
    fn a_length_that_stops_at_a_body_line_is_not_believed() {
        let text = "From a\nContent-Length: 2\n\nx\nFrom here\nit goes on\n";
        assert_eq!(divided(text).0, [0]);
    }
}
