//! MMDF: a line of four control-A characters before and after each message, as in the mail folders
//! of MMDF and SCO.

use memchr::memmem;

use super::{Message, SplitOutput, mbox};
use urlspool_text::origin::SourceKind;

/// Separator line, without the line end.
const LINE: &[u8] = b"\x01\x01\x01\x01";

/// Passes each message of `bytes` to `sink`. Blank lines between two separator lines are not a
/// message.
pub(super) fn messages<'b>(bytes: &'b [u8], offset: u64, sink: &mut dyn FnMut(SplitOutput<'b>)) {
    let mut start = 0;
    while start < bytes.len() {
        let line = line(&bytes[start..]).unwrap_or(0);
        let end = next_line(bytes, start + line.max(1)).unwrap_or(bytes.len());
        let inside = &bytes[start + line..end];
        if !inside.trim_ascii().is_empty() {
            // Some writers put a `From ` line inside.
            let envelope = line + mbox::envelope(inside);
            sink(SplitOutput::Message(Message {
                start: offset + start as u64,
                envelope,
                kind: SourceKind::Mmdf,
                ..Message::parse(&bytes[start + envelope..end])
            }));
        }
        start = end;
    }
}

/// Returns `true` if a source whose first bytes are `start` is an MMDF folder.
pub(super) fn is_folder(start: &[u8]) -> bool {
    line(start).is_some()
}

/// Returns the start of the first separator line at or after `from`, which is not the start of the
/// file.
pub(super) fn next_line(bytes: &[u8], from: usize) -> Option<usize> {
    let lowest = from.saturating_sub(1).min(bytes.len());
    let found =
        memmem::find_iter(&bytes[lowest..], b"\n\x01\x01\x01\x01").map(|at| lowest + at + 1);
    found
        .filter(|&at| at >= from)
        .find(|&at| line(&bytes[at..]).is_some())
}

/// Returns the start of the last separator line after the start of `bytes`.
pub(super) fn last_line(bytes: &[u8]) -> Option<usize> {
    let mut found = memmem::rfind_iter(bytes, b"\n\x01\x01\x01\x01").map(|at| at + 1);
    found.find(|&at| line(&bytes[at..]).is_some())
}

/// Returns the length of the separator line at the start of `bytes`, if there is one.
fn line(bytes: &[u8]) -> Option<usize> {
    match bytes.strip_prefix(LINE)? {
        [b'\n', ..] => Some(LINE.len() + 1),
        [b'\r', b'\n', ..] => Some(LINE.len() + 2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_control_characters_divide() {
        for ends in ["\n", "\r\n"] {
            let one =
                "\x01\x01\x01\x01\nFrom a\nA: b\n\nFrom x\n\x01\x01\x01\x01\n".replace('\n', ends);
            let text = one.repeat(2);
            let mut seen = Vec::new();
            messages(text.as_bytes(), 5, &mut |output| {
                if let SplitOutput::Message(message) = output {
                    seen.push((
                        message.start,
                        String::from_utf8_lossy(message.raw).into_owned(),
                    ));
                }
            });
            let raw = "A: b\n\nFrom x\n".replace('\n', ends);
            assert_eq!(seen, [(5, raw.clone()), (5 + one.len() as u64, raw)]);
        }
    }
}
