//! Divides a source into whole messages. The format is decided once, by content.
//!
//! Two steps, so that the first can be done by one thread while others do the second: a [`BlockReader`] cuts a stream into
//! blocks at message borders, and [`messages`] walks over the messages of a block.

mod babyl;
mod block;
mod block_reader;
mod byte_range;
mod content_length;
mod emlx;
mod format;
mod line_ends;
mod mbox;
mod mbox_dialect;
mod mmdf;
mod news;
mod opened_stream;
mod rnews;

pub use block::{Block, BlockRole, FragmentHead, UnreadBlock};
pub use block_reader::BlockReader;
pub use byte_range::{open_range, splittable_format};
pub use format::{Format, detect_format};
pub use line_ends::{cr_to_lf, has_cr_line_ends};
pub use mbox_dialect::{MboxDialect, mbox_dialect};
pub use opened_stream::{OpenedStream, leading_nuls, open};

use crate::diagnostic::Diagnostic;
use crate::origin::SourceKind;

/// One message as it lies in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'b> {
    /// Its raw bytes, without the `From ` line before it.
    pub raw: &'b [u8],
    /// The offset of its first byte in the source, its `From ` line included.
    pub start: u64,
    /// Bytes of the `From ` line.
    pub envelope: usize,
    /// What it lies in.
    pub kind: SourceKind,
    /// Whether it has a header. A text has none, and neither has the rest of a message beyond the limit.
    pub header: HeaderForm,
    /// Whether its lines are in wire format: CRLF, dots doubled at line starts, a final `.` (RFC 3977 section 3.1.1).
    pub wire: bool,
    /// For a further piece of a message or text: how that began.
    pub fragment_of: Option<MessageHead<'b>>,
}

/// How a message or text began of which only a further piece is at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageHead<'b> {
    /// The offset of its first byte in the source, its `From ` line included.
    pub start: u64,
    /// Line ends from there to the piece.
    pub line_ends: u64,
    /// The first of its raw bytes, its header among them if that is not too large.
    pub raw: &'b [u8],
    /// What they begin with.
    pub header: HeaderForm,
    /// Whether they are in wire format.
    pub wire: bool,
}

impl<'b> MessageHead<'b> {
    /// The beginning as a message.
    #[must_use]
    pub fn message(&self, kind: SourceKind) -> Message<'b> {
        let MessageHead {
            start,
            raw,
            header,
            wire,
            ..
        } = *self;
        Message {
            raw,
            start,
            envelope: 0,
            kind,
            header,
            wire,
            fragment_of: None,
        }
    }
}

/// Whether bytes begin with a header block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderForm {
    /// They do.
    Present,
    /// They do, and between it and the body stands a copy of some of its fields (Babyl).
    Copied {
        /// Where the body begins in the message's raw bytes.
        body: usize,
    },
    /// Five lines without names, as A news had them: `A` and the article's name, newsgroups, path, date, title.
    ANews,
    /// They are text from the first on.
    Absent,
}

impl<'b> Message<'b> {
    /// A message with a header that is a source by itself.
    #[must_use]
    pub fn alone(raw: &'b [u8]) -> Message<'b> {
        Message {
            raw,
            start: 0,
            envelope: 0,
            kind: SourceKind::Message,
            header: HeaderForm::Present,
            wire: false,
            fragment_of: None,
        }
    }

    /// The offset in the source of the first byte of `raw`.
    #[must_use]
    pub fn raw_start(&self) -> u64 {
        self.start + self.envelope as u64
    }

    /// The offset in the source behind its last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.raw_start() + self.raw.len() as u64
    }
}

/// What a block is divided into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitOutput<'b> {
    /// A message.
    Message(Message<'b>),
    /// Something that is damaged or can be divided in two ways.
    Diagnostic(Diagnostic),
}

/// Whether what is held of a source goes to its end, or to a message's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AtEof {
    /// More follows that may belong to the last message.
    Part,
    /// It does.
    All,
}

/// A number that stands alone between blanks.
fn decimal(text: &[u8]) -> Option<usize> {
    /// No file has more bytes.
    const MOST_DIGITS: usize = 15;
    let digits = text.trim_ascii();
    let is_number =
        !digits.is_empty() && digits.len() <= MOST_DIGITS && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| {
        digits
            .iter()
            .fold(0, |value, digit| value * 10 + usize::from(digit - b'0'))
    })
}

/// Gives each message of `block` to `sink`, in order, and before it what is wrong with its borders.
pub fn messages<'b>(block: &'b Block, format: Format, sink: &mut dyn FnMut(SplitOutput<'b>)) {
    let plain = |raw: &'b [u8], header| Message {
        raw,
        start: block.offset,
        envelope: 0,
        kind: format.kind(),
        header,
        wire: false,
        fragment_of: None,
    };
    let (bytes, offset) = (block.bytes.as_slice(), block.offset);
    let held = if block.role == BlockRole::FirstFragment {
        AtEof::Part
    } else {
        AtEof::All
    };
    match (&block.role, format) {
        (BlockRole::LaterFragment(begun), _) => {
            let fragment_of = Some(rest(begun, format));
            sink(SplitOutput::Message(Message {
                fragment_of,
                ..plain(bytes, HeaderForm::Absent)
            }));
        }
        (_, Format::Text) => sink(SplitOutput::Message(plain(bytes, HeaderForm::Absent))),
        (_, Format::Mbox) => mbox::messages(bytes, offset, sink),
        // A message beyond the limit is not measured.
        (BlockRole::FirstFragment, Format::Mboxcl) => sink(SplitOutput::Message(mbox::message(
            bytes,
            0,
            bytes.len(),
            offset,
        ))),
        (_, Format::Mboxcl) => content_length::messages(bytes, offset, sink),
        (_, Format::Rnews) => rnews::messages(bytes, offset, held, sink),
        (_, Format::Mmdf) => mmdf::messages(bytes, offset, sink),
        (_, Format::Babyl) => babyl::messages(bytes, offset, sink),
        (BlockRole::Whole, Format::Emlx) => emlx::message(bytes, offset, sink),
        (_, Format::Emlx | Format::Single(_)) => {
            let wire = news::is_wire(bytes);
            let raw = if wire {
                news::without_terminator(bytes)
            } else {
                bytes
            };
            sink(SplitOutput::Message(Message {
                wire,
                ..plain(raw, single_header(bytes))
            }));
        }
    }
}

/// What a message that is a file by itself begins with.
fn single_header(bytes: &[u8]) -> HeaderForm {
    if news::is_a_news(bytes) {
        HeaderForm::ANews
    } else {
        HeaderForm::Present
    }
}

/// How the message began of which a block is a further piece.
fn rest(begun: &FragmentHead, format: Format) -> MessageHead<'_> {
    let bytes = begun.head.as_slice();
    let (envelope, header) = match format {
        Format::Text => (0, HeaderForm::Absent),
        Format::Mbox | Format::Mboxcl => (mbox::envelope(bytes), HeaderForm::Present),
        // The line that divides, and what an mbox inside may have put behind it.
        Format::Rnews | Format::Mmdf | Format::Babyl | Format::Emlx => {
            (first_line(bytes), HeaderForm::Present)
        }
        Format::Single(_) => (0, single_header(bytes)),
    };
    let raw = &bytes[envelope..];
    MessageHead {
        start: begun.start,
        line_ends: begun.line_ends,
        raw,
        header,
        wire: news::is_wire(raw) && envelope == 0,
    }
}

/// Bytes of the first line, its line end included.
fn first_line(bytes: &[u8]) -> usize {
    memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1)
}
