//! Babyl: the mail folders of Emacs' Rmail before 2009.
//!
//! A folder starts with a section of options. Each message follows `^_^L` and a line of labels. A
//! message that Rmail has displayed has two headers: the full one and, after `*** EOOH ***`, a copy
//! of the displayed fields. A message that was not displayed has the `*** EOOH ***` line first, and
//! then the full header.

use memchr::memmem;

use super::content_length::header_end;
use super::{HeaderForm, Message, SplitOutput, mbox};
use crate::lines::{begins_with, is_line_start, line_end};
use urlspool_text::origin::SourceKind;

/// Line at the end of the full header.
const EOOH: &[u8] = b"*** EOOH ***";

/// Passes each message of `bytes` to `sink`. The section of options is not a message.
pub(super) fn messages<'b>(bytes: &'b [u8], offset: u64, sink: &mut dyn FnMut(SplitOutput<'b>)) {
    let mut start = 0;
    while start < bytes.len() {
        let end = next_border(bytes, start + 1).unwrap_or(bytes.len());
        if let Some(message) = message(&bytes[start..end], offset + start as u64) {
            sink(SplitOutput::Message(message));
        }
        start = end;
    }
}

/// Returns `true` if a source whose first bytes are `start` is a Babyl folder.
pub(super) fn is_folder(start: &[u8]) -> bool {
    begins_with(start, b"BABYL OPTIONS:")
}

/// Returns the first section start at or after `from`.
pub(super) fn next_border(bytes: &[u8], from: usize) -> Option<usize> {
    memmem::find_iter(&bytes[from.min(bytes.len())..], b"\x1F\x0C")
        .map(|at| from + at)
        .find(|&at| is_line_start(bytes, at))
}

/// Returns the last section start after the start of `bytes`.
pub(super) fn last_border(bytes: &[u8]) -> Option<usize> {
    memmem::rfind_iter(bytes, b"\x1F\x0C").find(|&at| at > 0 && is_line_start(bytes, at))
}

/// Returns the message of a section, or `None` for the section of options and for an empty one.
fn message(section: &[u8], start: u64) -> Option<Message<'_>> {
    // The last section ends with the folder's final `^_`.
    let section = section.strip_suffix(b"\x1F").unwrap_or(section);
    let rest = section.strip_prefix(b"\x1F\x0C")?;
    let labels = section.len() - rest.len() + mbox::blank_lines(rest).min(2);
    let header = line_end(section, labels);
    let end = section.len();
    let (envelope, header) = match eooh(&section[header..end]).map(|at| header + at) {
        None => (header, HeaderForm::Present),
        Some(line) if section[header..line].trim_ascii().is_empty() => {
            (line_end(section, line), HeaderForm::Present)
        }
        Some(line) => {
            // The copy starts at the line end, which may precede a blank line.
            let copy = line_end(section, line) - 1;
            let body = header_end(&section[copy..]).map_or(end, |at| copy + at) - header;
            (header, HeaderForm::Copied { body })
        }
    };
    let raw = &section[envelope.min(end)..end];
    let message = Message {
        start,
        envelope,
        kind: SourceKind::Babyl,
        header,
        ..Message::parse(raw)
    };
    (!raw.trim_ascii().is_empty()).then_some(message)
}

/// Returns the position of the line `*** EOOH ***`.
fn eooh(section: &[u8]) -> Option<usize> {
    memmem::find_iter(section, EOOH).find(|&at| {
        let after = &section[at + EOOH.len()..];
        is_line_start(section, at) && matches!(after, [] | [b'\n' | b'\r', ..])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by the fuzz target `split`: a line of labels that extends to the final `^_`.
    #[test]
    fn a_section_without_a_header_has_no_message() {
        assert_eq!(message(b"\x1F\x0Crom:p:/A lex\x1F", 0), None);
        assert_eq!(message(b"\x1F\x0C\x1F", 0), None);
    }

    #[test]
    fn displayed_and_new_messages_are_read() {
        let text = "BABYL OPTIONS: -*- rmail -*-\nVersion: 5\n\x1F\x0C\n\
                    0, unseen,,\n*** EOOH ***\nA: b\n\nx\n\x1F\x0C\n\
                    1,,\nA: b\nC: d\n\n*** EOOH ***\nA: b\n\ny\n*** EOOH ***\n\x1F";
        for ends in ["\n", "\r\n"] {
            let text = text.replace('\n', ends);
            let mut seen = Vec::new();
            messages(text.as_bytes(), 0, &mut |output| {
                if let SplitOutput::Message(message) = output {
                    let at = message.raw_start() as usize;
                    assert_eq!(&text.as_bytes()[at..at + message.raw.len()], message.raw);
                    let raw = String::from_utf8_lossy(message.raw).replace("\r\n", "\n");
                    let body = match message.header {
                        HeaderForm::Copied { body } => {
                            String::from_utf8_lossy(&message.raw[body..]).replace("\r\n", "\n")
                        }
                        _ => String::new(),
                    };
                    seen.push((raw, body));
                }
            });
            let two = "A: b\nC: d\n\n*** EOOH ***\nA: b\n\ny\n*** EOOH ***\n".to_owned();
            assert_eq!(
                seen,
                [
                    ("A: b\n\nx\n".to_owned(), String::new()),
                    (two, "y\n*** EOOH ***\n".to_owned())
                ]
            );
        }
    }
}
