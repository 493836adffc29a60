//! Signed content of PKCS #7 and CMS (RFC 5652), as in S/MIME (RFC 8551, section 3.5.2).
//!
//! Signatures are not verified. Content in BER may have indefinite lengths, and come in pieces.

use std::borrow::Cow;

use super::{DocumentContent, DocumentReading, Unpacking, Unread};
use crate::decode::base64;
use crate::lines::line_end;
use crate::split::begins_message;
use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::limits::Limits;

/// Tags of ASN.1 (X.690). [`OCTET_STRINGS`] is a string in pieces, and [`END`] ends an element of
/// indefinite length.
const END: u8 = 0x00;
const OCTET_STRING: u8 = 0x04;
const OBJECT_IDENTIFIER: u8 = 0x06;
const OCTET_STRINGS: u8 = 0x24;
const SEQUENCE: u8 = 0x30;
const CONTENT: u8 = 0xA0;

/// Object identifier of signed data.
const SIGNED_DATA: &[u8] = b"\x2A\x86\x48\x86\xF7\x0D\x01\x07\x02";

/// Returns `true` for a source that starts with `start` and is signed data.
pub(super) fn is_signed(start: &[u8]) -> bool {
    /// Number of bytes that contain the identifier in base64.
    const START_BYTES: usize = 100;
    let start = binary(&start[..start.len().min(START_BYTES)]);
    Unread(&start).enter_signed_data().is_some()
}

/// Reads signed content. A signature without its content is not read.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> DocumentReading {
    let bytes = binary(bytes);
    let mut ber = Unread(&bytes);
    if ber.enter_signed_data().is_none() || ber.enter_content().is_none() {
        return DocumentReading::default();
    }
    let mut unpacking = Unpacking::new(limits);
    let (mut content, mut is_whole) = (Vec::with_capacity(bytes.len()), false);
    // The element after the content is no OCTET STRING, so the ends of the elements around the
    // pieces do not matter.
    while let Some((tag, len)) = ber.header() {
        match (tag, len) {
            (OCTET_STRING, Some(len)) => {
                let (piece, rest) = ber.0.split_at(len.min(ber.0.len()));
                content.extend_from_slice(unpacking.limited("signed content", piece));
                ber.0 = rest;
            }
            (OCTET_STRINGS, _) | (END, Some(0)) => {}
            _ => {
                is_whole = true;
                break;
            }
        }
    }
    if content.is_empty() {
        return DocumentReading::default();
    }
    if !is_whole {
        let message = "signed content that is cut short";
        unpacking.problem(DiagnosticKind::Damage, message);
    }
    // Files are signed too. Their content decides how they are read.
    if !begins_message(&content) {
        const HEADER: &[u8] =
            b"Content-Type: application/octet-stream\nContent-Transfer-Encoding: binary\n\n";
        content.splice(0..0, HEADER.iter().copied());
    }
    unpacking.reading(DocumentContent::Message(content))
}

/// Returns the bytes of a source that may be in base64, with or without the lines of PEM.
fn binary(bytes: &[u8]) -> Cow<'_, [u8]> {
    let digits = match bytes {
        [b'-', b'-', b'-', b'-', b'-', ..] => &bytes[line_end(bytes, 0)..],
        // A sequence of more than 127 bytes.
        [b'M', b'I', ..] => bytes,
        _ => return Cow::Borrowed(bytes),
    };
    Cow::Owned(base64(digits).bytes)
}

/// Elements in BER.
impl Unread<'_> {
    /// Reads the tag and the length of an element; `None` is the indefinite length.
    fn header(&mut self) -> Option<(u8, Option<usize>)> {
        /// Flag of a length in the bytes that follow. The other bits are their number.
        const LONG: u8 = 0x80;
        let &[tag, first, ref rest @ ..] = self.0 else {
            return None;
        };
        self.0 = rest;
        let digits = self.take(first.saturating_sub(LONG).into())?;
        let len = match first {
            LONG => None,
            0..LONG => Some(usize::from(first)),
            _ => Some(digits.iter().fold(0, |len: usize, &digit| {
                len.saturating_mul(256).saturating_add(digit.into())
            })),
        };
        Some((tag, len))
    }

    /// Enters an element with this tag.
    fn enter(&mut self, tag: u8) -> Option<()> {
        (self.header()?.0 == tag).then_some(())
    }

    /// Skips an element.
    fn skip(&mut self) -> Option<()> {
        let mut open = 0_usize;
        loop {
            match self.header()? {
                (END, Some(0)) => open = open.checked_sub(1)?,
                (_, Some(len)) => drop(self.take(len)?),
                (_, None) => open += 1,
            }
            if open == 0 {
                return Some(());
            }
        }
    }

    /// Reads the content type, and enters signed data.
    fn enter_signed_data(&mut self) -> Option<()> {
        self.enter(SEQUENCE)?;
        let (OBJECT_IDENTIFIER, Some(len)) = self.header()? else {
            return None;
        };
        (self.take(len)? == SIGNED_DATA).then_some(())
    }

    /// Enters the content of signed data.
    fn enter_content(&mut self) -> Option<()> {
        self.enter(CONTENT)?;
        self.enter(SEQUENCE)?;
        // The version, and the algorithms of digests.
        self.skip()?;
        self.skip()?;
        self.enter(SEQUENCE)?;
        self.skip()?;
        self.enter(CONTENT)
    }
}
