//! `.emlx`, the file of one message in Apple Mail: a line with the number of its bytes, the message, and a property list.

use super::decimal;
use super::{Extent, HeaderForm, Message, SplitOutput};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::origin::SourceKind;

/// Passes the message to `sink`, after a diagnostic if the file is shorter than its first line says.
pub(super) fn message<'b>(bytes: &'b [u8], offset: u64, sink: &mut dyn FnMut(SplitOutput<'b>)) {
    let LengthLine { line, length } = length_line(bytes).unwrap_or(LengthLine {
        line: 0,
        length: bytes.len(),
    });
    let end = line.checked_add(length).filter(|&end| end <= bytes.len());
    if end.is_none() {
        let why = "the message is shorter than its first line says";
        sink(SplitOutput::Diagnostic(Diagnostic::at(
            DiagnosticKind::Damage,
            offset,
            why,
        )));
    }
    sink(SplitOutput::Message(Message {
        raw: &bytes[line..end.unwrap_or(bytes.len())],
        start: offset,
        envelope: line,
        kind: SourceKind::Message,
        header: HeaderForm::Present,
        wire: false,
        extent: Extent::Whole,
        unpacked_times: 0,
    }));
}

/// First line of an `.emlx` file.
pub(super) struct LengthLine {
    /// Bytes of the line, its line end included.
    pub(super) line: usize,
    /// Bytes of the message after it, as the line states.
    length: usize,
}

/// Parses the first line, which holds a number and nothing else.
pub(super) fn length_line(bytes: &[u8]) -> Option<LengthLine> {
    /// Apple pads the number with blanks to ten columns.
    const MAX_LINE_BYTES: usize = 24;
    let end = bytes
        .iter()
        .take(MAX_LINE_BYTES)
        .position(|&byte| byte == b'\n')?;
    Some(LengthLine {
        line: end + 1,
        length: decimal(&bytes[..end])?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(text: &str) -> (Vec<(u64, &str)>, usize) {
        let (mut seen, mut damage) = (Vec::new(), 0);
        message(text.as_bytes(), 0, &mut |divided| match divided {
            SplitOutput::Message(message) => {
                seen.push((message.raw_start(), str::from_utf8(message.raw).unwrap()))
            }
            SplitOutput::Diagnostic(_) => damage += 1,
        });
        (seen, damage)
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
