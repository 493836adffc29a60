//! Divides a source into whole messages. The format is decided once, by content.
//!
//! Two steps, so that the first can be done by one thread while others do the second: a [`Roller`] cuts a stream into
//! blocks at message borders, and [`messages`] walks over the messages of a block.

mod lines;
mod mbox;
mod news;
mod roll;
mod sniff;

pub use lines::{ends_in_cr, unify};
pub use roll::{Block, Opened, Role, Roller, open};
pub use sniff::{Format, Sniffed, recognised, sniff};

use crate::origin::Kind;

/// One message as it lies in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'b> {
    /// Its raw octets, without the `From ` line before it.
    pub raw: &'b [u8],
    /// The offset of its first octet in the source, its `From ` line included.
    pub start: u64,
    /// Octets of the `From ` line.
    pub envelope: usize,
    /// What it lies in.
    pub kind: Kind,
    /// Whether it has a header. A text has none, and neither has the rest of a message beyond the limit.
    pub header: Header,
    /// Whether its lines are in wire format: CRLF, dots doubled at line starts, a final `.` (RFC 3977 section 3.1.1).
    pub wire: bool,
}

/// Whether octets begin with a header block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// They do.
    Present,
    /// They are text from the first on.
    Absent,
}

impl<'b> Message<'b> {
    /// A message with a header that is a source by itself.
    #[must_use]
    pub fn alone(raw: &'b [u8]) -> Message<'b> {
        Message { raw, start: 0, envelope: 0, kind: Kind::Message, header: Header::Present, wire: false }
    }

    /// The offset in the source of the first octet of `raw`.
    #[must_use]
    pub fn raw_start(&self) -> u64 {
        self.start + self.envelope as u64
    }

    /// The offset in the source behind its last octet.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.raw_start() + self.raw.len() as u64
    }
}

/// Gives each message of `block` to `sink`, in order.
pub fn messages<'b>(block: &'b Block, format: Format, sink: &mut dyn FnMut(Message<'b>)) {
    let plain = |raw: &'b [u8], header| Message {
        raw,
        start: block.offset,
        envelope: 0,
        kind: format.kind(),
        header,
        wire: false,
    };
    match (block.role, format) {
        (Role::Rest { .. }, _) | (_, Format::Text) => sink(plain(&block.bytes, Header::Absent)),
        (_, Format::Mbox) => mbox::messages(&block.bytes, block.offset, sink),
        (_, Format::Single(_)) => {
            let wire = news::is_wire(&block.bytes);
            let raw = if wire { news::without_terminator(&block.bytes) } else { &block.bytes };
            sink(Message { wire, ..plain(raw, Header::Present) });
        }
    }
}
