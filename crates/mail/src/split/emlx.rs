//! Messages after a line with their length: the files of Apple Mail (emlx) and of Dovecot (dbox).

use super::{Message, SplitOutput, decimal};
use crate::lines::line_end;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};

/// A line that states the length of the message after it.
pub(super) struct LengthLine {
    /// Length of the line, line end included.
    pub(super) bytes: usize,
    /// Length of the message, as the line states.
    pub(super) message_bytes: usize,
}

/// Passes each message to `sink`, after a diagnostic if the file is shorter than the line states.
/// Dovecot stores several messages in one file.
pub(super) fn messages<'b>(bytes: &'b [u8], offset: u64, sink: &mut dyn FnMut(SplitOutput<'b>)) {
    let mut start = 0;
    let mut line = first_line(bytes);
    loop {
        let (begin, end) = line.map_or((start, Some(bytes.len())), |line| {
            let begin = start + line.bytes;
            (begin, begin.checked_add(line.message_bytes))
        });
        let end = end.filter(|&end| end <= bytes.len());
        let at = offset + start as u64;
        if end.is_none() {
            let why = "the message is shorter than the first line says";
            sink(SplitOutput::Diagnostic(Diagnostic::at(
                DiagnosticKind::Damage,
                at,
                why,
            )));
        }
        let end = end.unwrap_or(bytes.len());
        sink(SplitOutput::Message(Message {
            start: at,
            envelope: begin - start,
            ..Message::parse(&bytes[begin..end])
        }));
        let next = memchr::memmem::find(&bytes[end..], DBOX_MESSAGE).map(|len| end + len);
        line = next.and_then(|next| dbox_message(&bytes[next..]));
        match next.filter(|_| line.is_some()) {
            Some(next) => start = next,
            None => return,
        }
    }
}

/// Start of the line before a message in a Dovecot file (dbox-file.h).
const DBOX_MESSAGE: &[u8] = b"\x01\x02N ";

/// Parses Dovecot's line before a message. The last word is the number of bytes in hexadecimal.
fn dbox_message(text: &[u8]) -> Option<LengthLine> {
    /// Maximum length of the line.
    const MAX_BYTES: usize = 64;
    let start = &text[..text.len().min(MAX_BYTES)];
    let line = &start[DBOX_MESSAGE.len()..memchr::memchr(b'\n', start)?];
    Some(LengthLine {
        bytes: DBOX_MESSAGE.len() + line.len() + 1,
        message_bytes: usize::from_str_radix(str::from_utf8(line).ok()?.trim(), 16).ok()?,
    })
}

/// Parses the first line of an emlx file, which is a number, or the first two lines of a Dovecot
/// file: `2 M1e C4f8a`, and the line before the first message.
pub(super) fn first_line(bytes: &[u8]) -> Option<LengthLine> {
    /// Apple pads the number with blanks to ten columns.
    const MAX_LINE_BYTES: usize = 24;
    let first = line_end(&bytes[..bytes.len().min(MAX_LINE_BYTES)], 0);
    if bytes.starts_with(b"2 M") && bytes[first..].starts_with(DBOX_MESSAGE) {
        let line = dbox_message(&bytes[first..])?;
        return Some(LengthLine {
            bytes: first + line.bytes,
            ..line
        });
    }
    Some(LengthLine {
        bytes: first,
        message_bytes: decimal(bytes[..first].strip_suffix(b"\n")?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(text: &str) -> (Vec<(u64, &str)>, usize) {
        let (mut seen, mut damage) = (Vec::new(), 0);
        messages(text.as_bytes(), 0, &mut |divided| match divided {
            SplitOutput::Message(message) => {
                seen.push((message.raw_start(), str::from_utf8(message.raw).unwrap()))
            }
            SplitOutput::Diagnostic(_) => damage += 1,
        });
        (seen, damage)
    }

    #[test]
    fn dovecot_has_lines_before_its_messages() {
        let line = |len: usize| format!("\x01\x02N          {len:016X}\n");
        let (one, end) = ("A: b\n\nx\n", "\n\x01\x03\nGab\n\n");
        let file = format!("2 M1e C50a\n{}{one}{end}{}{one}{end}", line(8), line(8));
        let (seen, damage) = divided(&file);
        assert_eq!(
            seen.iter().map(|(_, raw)| *raw).collect::<Vec<_>>(),
            [one, one]
        );
        assert_eq!(damage, 0);
        assert_eq!(divided(&format!("2 M1e C50a\n{}A: b\n", line(8))).1, 1);
    }

    #[test]
    fn the_property_list_is_no_part_of_the_message() {
        assert_eq!(
            divided("7       \nA: b\n\nx<?xml version=\"1.0\"?>"),
            (vec![(9, "A: b\n\nx")], 0)
        );
        assert_eq!(
            divided("10\r\nA: b\r\n\r\nx\r<plist>"),
            (vec![(4, "A: b\r\n\r\nx\r")], 0)
        );
    }

    #[test]
    fn a_message_that_is_too_short_is_damaged() {
        assert_eq!(divided("70\nA: b\n\nx"), (vec![(3, "A: b\n\nx")], 1));
    }
}
