//! Divides a source into whole messages. The format is detected once, from the content.
//!
//! The work has two steps, which can run on different threads: a [`BlockReader`] cuts a stream into
//! blocks at message borders, and [`messages`] divides a block into messages.

mod babyl;
#[cfg(feature = "files")]
mod block_reader;
mod content_length;
mod format;
mod mbox;
mod mmdf;
mod news;

use std::sync::Arc;

#[cfg(feature = "files")]
pub use block_reader::{BlockReader, SourceStart, StreamBlocks, UnreadBlock, open, open_range};
#[cfg(feature = "files")]
pub(crate) use format::begins_message;
pub use format::{Format, MboxDialect, detect_format, mbox_dialect};
pub(crate) use format::{begins_whole_page, is_page};
pub use format::{normalize_line_ends, remove_leading_nuls};
pub(crate) use mbox::is_field;

use crate::documents::DocumentKind;
use crate::lines::line_end;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};
use urlspool_text::origin::{SourceKind, WebPage};
use urlspool_text::planted_faults::{PlantedFault, panic_at_mark};

/// One message in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'b> {
    /// Raw bytes, without the preceding `From ` line.
    pub raw: &'b [u8],
    /// Offset in the source of the first byte, `From ` line included.
    pub start: u64,
    /// Length in bytes of the `From ` line, or of its equivalent in other formats.
    pub envelope: usize,
    /// Kind of the source.
    pub kind: SourceKind,
    /// Form of the header. A text has no header, nor has a later fragment of a message beyond the
    /// limit.
    pub header: HeaderForm,
    /// `true` if the lines are in wire format: CRLF, dots doubled at line starts, a final `.` (RFC
    /// 3977 section 3.1.1).
    pub wire: bool,
    /// Part of the message that `raw` holds.
    pub extent: Extent<'b>,
    /// Ratio of the file's unpacked size to its packed size; 0 if the file is not a container.
    pub unpacked_times: u64,
    /// Content type and URL of the source, if it comes from a Web server.
    pub page: Option<&'b WebPage>,
}

/// Part of a message that is available.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent<'b> {
    /// The whole message, or the start of a text.
    #[default]
    Whole,
    /// The first fragment of a message beyond the limit, or the start of such a message.
    FirstFragment,
    /// A later fragment of a message or text, with the head of that message or text.
    LaterFragment(&'b FragmentHead),
}

/// Form of the header block at the start of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderForm {
    /// Header fields, a blank line, and the body.
    Present,
    /// Header fields, a blank line, a copy of some fields, and the body (Babyl).
    Copied {
        /// Offset of the body in the message's raw bytes.
        body: usize,
    },
    /// Five lines without field names, as in A news: `A` and the article's name, newsgroups, path,
    /// date, title.
    ANews,
    /// No header: text from the first byte.
    Absent,
    /// No header: an HTML page from the first byte.
    Page,
    /// No header: a document, or a fragment of one.
    Document(DocumentKind),
}

impl<'b> Message<'b> {
    /// Reads a mail message or news article that is a source by itself: `raw` starts with its
    /// header.
    ///
    /// Never fails: broken mail is read as far as possible.
    #[must_use]
    pub fn parse(raw: &'b [u8]) -> Message<'b> {
        Message {
            header: HeaderForm::Present,
            kind: SourceKind::Message,
            ..Message::text(raw)
        }
    }

    /// Treats `raw` as a text without a header.
    #[must_use]
    pub fn text(raw: &'b [u8]) -> Message<'b> {
        Message {
            raw,
            start: 0,
            envelope: 0,
            kind: SourceKind::Text,
            header: HeaderForm::Absent,
            wire: false,
            extent: Extent::Whole,
            unpacked_times: 0,
            page: None,
        }
    }

    /// Returns the head of the message if this is a later fragment.
    #[must_use]
    pub fn head(&self) -> Option<&'b FragmentHead> {
        match self.extent {
            Extent::LaterFragment(head) => Some(head),
            Extent::Whole | Extent::FirstFragment => None,
        }
    }

    /// Returns the offset in the source of the first byte of `raw`.
    #[must_use]
    pub fn raw_start(&self) -> u64 {
        self.start + self.envelope as u64
    }

    /// Returns the offset in the source after the last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.raw_start() + self.raw.len() as u64
    }
}

/// Item of a divided block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitOutput<'b> {
    /// A message.
    Message(Message<'b>),
    /// A border that is damaged or ambiguous.
    Diagnostic(Diagnostic),
}

/// Position of a buffer's end relative to the end of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AtEof {
    /// More bytes follow, which may belong to the last message of the buffer.
    No,
    /// The buffer ends at the end of the source, or of the source's last message.
    Yes,
}

/// Divides `block` into messages and passes them to `sink` in order. The diagnostics about a
/// message's borders and size precede it.
pub fn messages<'b>(block: &'b Block, format: Format, sink: &mut dyn FnMut(SplitOutput<'b>)) {
    let (bytes, offset) = (block.bytes.as_slice(), block.offset);
    panic_at_mark(PlantedFault::PanicInSplit, bytes);
    let is_first_fragment = block.role == BlockRole::FirstFragment;
    let sink: &mut dyn FnMut(SplitOutput<'b>) = &mut |mut output| {
        if let SplitOutput::Message(message) = &mut output {
            message.unpacked_times = block.unpacked_times;
            if is_first_fragment {
                message.extent = Extent::FirstFragment;
            }
        }
        sink(output);
    };
    let mut at_eof = AtEof::Yes;
    if is_first_fragment {
        sink(SplitOutput::Diagnostic(too_large(block, format)));
        at_eof = AtEof::No;
    }
    let header = match (&block.role, format) {
        (_, Format::Document(kind)) => HeaderForm::Document(kind),
        (BlockRole::Whole | BlockRole::FirstFragment, Format::Html) => HeaderForm::Page,
        _ => HeaderForm::Absent,
    };
    match (&block.role, format) {
        (BlockRole::LaterFragment(fragment), _) => {
            sink(SplitOutput::Message(Message {
                extent: Extent::LaterFragment(fragment),
                ..sole_message(block, format, header)
            }));
        }
        (_, Format::Document(_) | Format::Text | Format::Html) => {
            sink(SplitOutput::Message(sole_message(block, format, header)));
        }
        (_, Format::Mbox) => mbox::messages(bytes, offset, sink),
        // The Content-Length of a message beyond the limit is ignored.
        (BlockRole::FirstFragment, Format::Mboxcl) => sink(SplitOutput::Message(mbox::message(
            bytes,
            0,
            bytes.len(),
            offset,
        ))),
        (_, Format::Mboxcl) => content_length::messages(bytes, offset, sink),
        (_, Format::Rnews) => news::batch_messages(bytes, offset, at_eof, sink),
        (_, Format::Mmdf) => mmdf::messages(bytes, offset, sink),
        (_, Format::Babyl) => babyl::messages(bytes, offset, sink),
        (BlockRole::Whole, Format::Emlx) => emlx_message(bytes, offset, sink),
        (_, Format::Emlx | Format::Single(_)) => {
            let wire = news::is_wire(bytes);
            let raw = if wire {
                news::without_terminator(bytes)
            } else {
                bytes
            };
            sink(SplitOutput::Message(Message {
                raw,
                wire,
                ..sole_message(block, format, single_header(bytes))
            }));
        }
    }
}

/// Returns the diagnostic about a message beyond the limit whose first fragment is `block`.
fn too_large(block: &Block, format: Format) -> Diagnostic {
    let bytes = block.bytes.len();
    let text = match format {
        Format::Document(_) => {
            format!("a document larger than message_bytes, of more than {bytes} bytes, is not read")
        }
        _ => format!(
            "a message larger than message_bytes: after its first {bytes} bytes it is read as text"
        ),
    };
    Diagnostic::at(DiagnosticKind::Limit, block.offset, text)
}

/// Returns a block that consists of one message or text as that message.
fn sole_message(block: &Block, format: Format, header: HeaderForm) -> Message<'_> {
    Message {
        start: block.offset,
        kind: format.kind(),
        header,
        ..Message::text(&block.bytes)
    }
}

/// Returns the form of the header of a message that is a whole file.
fn single_header(bytes: &[u8]) -> HeaderForm {
    if news::is_a_news(bytes) {
        HeaderForm::ANews
    } else {
        HeaderForm::Present
    }
}

/// Whole messages, or a fragment of one.
#[derive(Debug, Default)]
pub struct Block {
    /// Raw bytes of the block.
    pub bytes: Vec<u8>,
    /// Offset in the source of the first byte.
    pub offset: u64,
    /// Content of the bytes.
    pub role: BlockRole,
    /// Ratio of the file's unpacked size to its packed size; 0 if the file is not a container.
    pub unpacked_times: u64,
}

/// Content of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BlockRole {
    /// Whole messages, or the first fragment of a text. No URL crosses the end of the block.
    #[default]
    Whole,
    /// The first fragment of a message larger than the limit.
    FirstFragment,
    /// A later fragment of a message or text.
    LaterFragment(FragmentHead),
}

/// Start of a message or text that is read in fragments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentHead {
    /// Offset of the first byte in the source.
    pub start: u64,
    /// Number of line ends between `start` and the fragment.
    pub line_ends: u64,
    /// First bytes, at most [`MESSAGE_PREFIX_BYTES`](urlspool_text::limits::MESSAGE_PREFIX_BYTES).
    pub head: Arc<Vec<u8>>,
    /// Format of the source.
    pub format: Format,
}

impl FragmentHead {
    /// Returns the first bytes as a message, with the whole header unless it is too large.
    #[must_use]
    pub fn message(&self) -> Message<'_> {
        let bytes = self.head.as_slice();
        let (envelope, header) = match self.format {
            Format::Text => (0, HeaderForm::Absent),
            Format::Html => (0, HeaderForm::Page),
            Format::Document(kind) => (0, HeaderForm::Document(kind)),
            Format::Mbox | Format::Mboxcl => (mbox::envelope(bytes), HeaderForm::Present),
            // The separator line.
            Format::Rnews | Format::Mmdf | Format::Babyl | Format::Emlx => {
                (line_end(bytes, 0), HeaderForm::Present)
            }
            Format::Single(_) => (0, single_header(bytes)),
        };
        let raw = &bytes[envelope..];
        Message {
            start: self.start,
            kind: self.format.kind(),
            header,
            wire: news::is_wire(raw) && envelope == 0,
            extent: Extent::FirstFragment,
            ..Message::text(raw)
        }
    }
}

/// A line that states the length of the message after it.
struct LengthLine {
    /// Length of the line, line end included.
    bytes: usize,
    /// Length of the message, as the line states.
    message_bytes: usize,
}

/// Parses a decimal number between optional blanks. Returns `None` for any other text and for too
/// many digits.
fn decimal(text: &[u8]) -> Option<usize> {
    /// Fewer than 10^15 bytes fit in any file.
    const MAX_DIGITS: usize = 15;
    let digits = text.trim_ascii();
    if digits.len() > MAX_DIGITS || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Passes each message to `sink`, after a diagnostic if the file is shorter than the line states.
/// Dovecot stores several messages in one file.
fn emlx_message<'b>(bytes: &'b [u8], offset: u64, sink: &mut dyn FnMut(SplitOutput<'b>)) {
    let mut start = 0;
    let mut line = emlx_line(bytes);
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
fn emlx_line(bytes: &[u8]) -> Option<LengthLine> {
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
mod emlx_tests {
    use super::*;

    fn divided(text: &str) -> (Vec<(u64, &str)>, usize) {
        let (mut seen, mut damage) = (Vec::new(), 0);
        emlx_message(text.as_bytes(), 0, &mut |divided| match divided {
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
