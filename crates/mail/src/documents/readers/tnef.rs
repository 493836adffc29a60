//! TNEF (MS-OXTNEF), the format of `winmail.dat`: properties in attributes, one after the other.
//!
//! Checksums are not verified: an attribute with a wrong one is read like the others.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use encoding_rs::{Encoding, WINDOWS_1252};

use super::mapi::{
    BINARY, MimeWriter, OBJECT, Properties, STRING8, UNICODE, property, report_depth,
};
use super::rtf::encoding_of_code_page;
use super::{DocumentContent, DocumentReading, Unpacking, Unread};
use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::limits::Limits;

/// First bytes of a TNEF.
pub(super) const SIGNATURE: &[u8] = b"\x78\x9F\x3E\x22";

/// Identifiers of attributes (MS-OXTNEF section 2.1.3.2). Most repeat a property.
mod attribute {
    pub(super) const SUBJECT: u16 = 0x8004;
    pub(super) const BODY: u16 = 0x800C;
    pub(super) const ATTACH_DATA: u16 = 0x800F;
    pub(super) const ATTACH_TITLE: u16 = 0x8010;
    pub(super) const ATTACH_REND_DATA: u16 = 0x9002;
    pub(super) const MSG_PROPS: u16 = 0x9003;
    pub(super) const ATTACHMENT: u16 = 0x9005;
    pub(super) const OEM_CODEPAGE: u16 = 0x9007;
}

/// Levels of attributes: of the message, and of attachments.
const LEVELS: [u8; 2] = [1, 2];

const GUID_BYTES: usize = 16;

/// Flag of a property type: a list of values (MS-OXCDATA section 2.11.1).
const LIST: u16 = 0x1000;

/// First identifier of properties with names.
const FIRST_NAMED: u16 = 0x8000;

/// Reads a TNEF.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> DocumentReading {
    let mut reader = TnefReader {
        properties: TnefProperties {
            values: BTreeMap::new(),
            encoding: WINDOWS_1252,
            unpacking: Unpacking::new(limits),
        },
        mime: MimeWriter::default(),
        is_attachment: false,
        attachments: 0,
        attached: VecDeque::from([(bytes, 0)]),
    };
    while let Some((bytes, depth)) = reader.attached.pop_front() {
        if reader.message(bytes, depth).is_none() {
            let message = "a damaged winmail.dat: the rest is not read";
            let unpacking = &mut reader.properties.unpacking;
            unpacking.problem(DiagnosticKind::Damage, message);
        }
    }
    let message = DocumentContent::Message(reader.mime.finish());
    reader.properties.unpacking.reading(message)
}

/// Properties of the current message or attachment.
struct TnefProperties<'b> {
    /// Type and bytes of each property, by its identifier.
    values: BTreeMap<u16, (u16, &'b [u8])>,
    encoding: &'static Encoding,
    unpacking: Unpacking<'b>,
}

impl<'b> Properties<'b> for TnefProperties<'b> {
    fn value(&mut self, id: u16, kind: u16) -> Option<Cow<'b, [u8]>> {
        let (_, bytes) = self.values.get(&id).filter(|(known, _)| *known == kind)?;
        Some(self.unpacking.limited("a winmail.dat", bytes).into())
    }

    fn fixed(&self, id: u16) -> Option<u64> {
        let (_, bytes) = self.values.get(&id)?;
        let mut value = [0; 8];
        let len = bytes.len().min(value.len());
        value[..len].copy_from_slice(&bytes[..len]);
        Some(u64::from_le_bytes(value))
    }

    /// Leaves byte strings as they are: in UTF-8 they may have twice the length.
    fn body(&mut self, id: u16) -> Option<(Cow<'b, [u8]>, &'static str)> {
        match self.value(id, STRING8) {
            Some(bytes) => Some((bytes, self.encoding.name())),
            None => Some((self.text(id)?.into_bytes().into(), "utf-8")),
        }
    }

    fn encoding(&self) -> &'static Encoding {
        self.encoding
    }

    fn unpacking(&mut self) -> &mut Unpacking<'b> {
        &mut self.unpacking
    }
}

/// State of reading one file.
struct TnefReader<'b> {
    properties: TnefProperties<'b>,
    mime: MimeWriter,
    /// `true` if the properties are those of an attachment.
    is_attachment: bool,
    /// Number of attachments so far.
    attachments: usize,
    /// Attached messages that were not read yet, and the number of messages around each.
    attached: VecDeque<(&'b [u8], usize)>,
}

impl<'b> TnefReader<'b> {
    /// Reads a message with its attachments, inside `depth` others. Returns `None` after damage.
    fn message(&mut self, bytes: &'b [u8], depth: usize) -> Option<()> {
        self.is_attachment = false;
        let read = self.attributes(bytes, depth);
        self.end_properties(depth);
        read
    }

    /// Reads the attributes of a message, up to the properties of the last attachment, if there is
    /// one. Returns `None` after damage.
    fn attributes(&mut self, bytes: &'b [u8], depth: usize) -> Option<()> {
        const KEY_BYTES: usize = 2;
        const HEAD_BYTES: usize = 9;
        const CHECKSUM_BYTES: usize = 2;
        let mut unread = Unread(bytes);
        unread.take(SIGNATURE.len() + KEY_BYTES)?;
        let mut is_whole = true;
        while let Some(&[level, a, b, _, _, ref len @ ..]) = unread.take(HEAD_BYTES) {
            if !LEVELS.contains(&level) {
                return None;
            }
            let id = u16::from_le_bytes([a, b]);
            if id == attribute::ATTACH_REND_DATA || level == LEVELS[1] && !self.is_attachment {
                self.end_properties(depth);
                self.is_attachment = true;
                self.attachments += 1;
                let unpacking = &mut self.properties.unpacking;
                let max = unpacking.limits.mime_parts;
                if max < self.attachments {
                    let message = format!("more than {max} attachments: the rest is not read");
                    unpacking.problem(DiagnosticKind::Limit, message);
                    return Some(());
                }
            }
            // The content before damage is read.
            let value = unread.take(Unread(len).u32()? as usize);
            is_whole &= self.attribute(id, value.unwrap_or(unread.0)).is_some();
            value?;
            unread.take(CHECKSUM_BYTES);
        }
        is_whole.then_some(())
    }

    /// Writes the message or the attachment that has the properties so far. Queues the message
    /// attached there.
    fn end_properties(&mut self, depth: usize) {
        if self.is_attachment {
            self.mime.attachment(&mut self.properties);
            if let Some((OBJECT, message)) = self.properties.values.get(&property::ATTACH_DATA) {
                if depth < self.properties.unpacking.limits.mime_depth {
                    self.attached.push_back((message, depth + 1));
                } else {
                    report_depth(&mut self.properties.unpacking);
                }
            }
        } else {
            self.mime.message(&mut self.properties);
        }
        self.properties.values.clear();
    }

    /// Reads an attribute. Returns `None` after damage.
    fn attribute(&mut self, id: u16, value: &'b [u8]) -> Option<()> {
        let (id, kind) = match id {
            attribute::SUBJECT => (property::SUBJECT, STRING8),
            attribute::BODY => (property::BODY, STRING8),
            attribute::ATTACH_DATA => (property::ATTACH_DATA, BINARY),
            attribute::ATTACH_TITLE => (property::ATTACH_FILENAME, STRING8),
            attribute::MSG_PROPS | attribute::ATTACHMENT => return self.properties(value),
            attribute::OEM_CODEPAGE => {
                let encoding = encoding_of_code_page(Unread(value).u32()?.cast_signed());
                self.properties.encoding = encoding.unwrap_or(WINDOWS_1252);
                return Some(());
            }
            _ => return Some(()),
        };
        self.properties.values.insert(id, (kind, value));
        Some(())
    }

    /// Reads a list of properties (MS-OXTNEF section 2.1.3.4). Returns `None` after damage.
    fn properties(&mut self, list: &'b [u8]) -> Option<()> {
        let mut unread = Unread(list);
        for _ in 0..unread.u32()? {
            let (kind, id) = (unread.u16()?, unread.u16()?);
            if FIRST_NAMED <= id {
                unread.take(GUID_BYTES)?;
                let is_number = unread.u32()? == 0;
                let number_or_len = unread.u32()? as usize;
                if !is_number {
                    unread.padded(number_or_len)?;
                }
            }
            let width = match kind & !LIST {
                0x02 | 0x03 | 0x04 | 0x0A | 0x0B => Some(4),
                0x05 | 0x06 | 0x07 | 0x14 | 0x40 => Some(8),
                0x48 => Some(GUID_BYTES),
                STRING8 | UNICODE | BINARY | OBJECT => None,
                _ => return None,
            };
            let is_counted = width.is_none() || kind & LIST != 0;
            for _ in 0..if is_counted { unread.u32()? } else { 1 } {
                let len = width.map_or_else(|| unread.u32().map(|len| len as usize), Some)?;
                let value = unread.padded(len)?;
                // The identifier of an interface precedes an object.
                let (kind, value) = match kind {
                    OBJECT => match value.get(GUID_BYTES..).unwrap_or_default() {
                        message if message.starts_with(SIGNATURE) => (OBJECT, message),
                        other => (BINARY, other),
                    },
                    _ => (kind, value),
                };
                self.properties.values.insert(id, (kind, value));
            }
        }
        Some(())
    }
}

/// Values of a TNEF.
impl<'b> Unread<'b> {
    /// Takes a value and the bytes after it, up to a multiple of four.
    fn padded(&mut self, len: usize) -> Option<&'b [u8]> {
        let taken = self.take(len)?;
        self.0 = self.0.get(len.wrapping_neg() % 4..).unwrap_or_default();
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }
}
