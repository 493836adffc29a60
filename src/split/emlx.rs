//! `.emlx`: a message as Apple Mail keeps it. A line with the number of its bytes, the message, and a property list
//! of Apple's that is no mail.

use super::{HeaderForm, Message, SplitOutput, decimal};
use crate::diagnostic::{self, Diagnostic};
use crate::origin::SourceKind;

/// Gives the message to `sink`, and an event if its number of bytes is not there.
pub(super) fn message<'b>(bytes: &'b [u8], offset: u64, sink: &mut dyn FnMut(SplitOutput<'b>)) {
    let (line, count) = count(bytes).unwrap_or((0, bytes.len()));
    let end = line.checked_add(count).filter(|&end| end <= bytes.len());
    if end.is_none() {
        let why = "the message is shorter than its first line says";
        sink(SplitOutput::Diagnostic(Diagnostic::at(
            diagnostic::DiagnosticKind::Damage,
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
        fragment_of: None,
    }));
}

/// If a number alone stands on the first line: the line's bytes, and the number.
pub(super) fn count(bytes: &[u8]) -> Option<(usize, usize)> {
    /// Apple pads the number with blanks to ten columns.
    const LONGEST_LINE: usize = 24;
    let end = bytes
        .iter()
        .take(LONGEST_LINE)
        .position(|&byte| byte == b'\n')?;
    Some((end + 1, decimal(&bytes[..end])?))
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
    fn the_property_list_is_left() {
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
