//! MMDF: a line of four control-A before each message and one behind it, as MMDF and SCO mail keep their folders.

use memchr::memmem;

use super::{HeaderForm, Message, SplitOutput, mbox};
use crate::origin::SourceKind;

/// What the line consists of, but for its end.
const LINE: &[u8] = b"\x01\x01\x01\x01";

/// Gives each message of `bytes` to `sink`. Nothing but blank lines between two such lines is no message.
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
                raw: &bytes[start + envelope..end],
                start: offset + start as u64,
                envelope,
                kind: SourceKind::Mmdf,
                header: HeaderForm::Present,
                wire: false,
                fragment_of: None,
            }));
        }
        start = end;
    }
}

/// Whether the bytes are the start of such a folder.
pub(super) fn is_folder(start: &[u8]) -> bool {
    line(start).is_some()
}

/// The first line at `from` or behind it, `from` not being the start of the file.
pub(super) fn next_line(bytes: &[u8], from: usize) -> Option<usize> {
    let lowest = from.saturating_sub(1).min(bytes.len());
    let found =
        memmem::find_iter(&bytes[lowest..], b"\n\x01\x01\x01\x01").map(|at| lowest + at + 1);
    found
        .filter(|&at| at >= from)
        .find(|&at| line(&bytes[at..]).is_some())
}

/// The last line behind the start.
pub(super) fn last_line(bytes: &[u8]) -> Option<usize> {
    let mut found = memmem::rfind_iter(bytes, b"\n\x01\x01\x01\x01").map(|at| at + 1);
    found.find(|&at| line(&bytes[at..]).is_some())
}

/// The bytes of the line at the start of `bytes`, if there is one.
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
            messages(text.as_bytes(), 5, &mut |divided| {
                if let SplitOutput::Message(message) = divided {
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
