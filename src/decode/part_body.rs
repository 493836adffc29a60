//! Decodes the body of one part, by each transfer encoding that it may be in, or a page, into texts
//! with offset maps.

use std::borrow::Cow;

use super::flowed::unflow;
use super::part::{MimePart, TextForm};
use super::transfer::{TransferEncoding, base64, quoted_printable, unfold, unstuff};
use super::{DecodedText, HtmlPage, LineLayout, MappedBytes, OffsetMap, Region, charset, html};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::span::Span;

/// Media types whose bodies consist of header fields: reports of delivery (RFC 3464), of receipt
/// (RFC 8098) and of abuse (RFC 5965), and headers without their messages (RFC 6522).
const FIELDS: [&str; 6] = [
    "message/delivery-status",
    "message/global-delivery-status",
    "message/disposition-notification",
    "message/feedback-report",
    "text/rfc822-headers",
    "message/global-headers",
];

/// The body of one part.
pub(super) struct PartBody<'b> {
    /// Its raw bytes.
    raw: &'b [u8],
    /// Offset of `raw` in the message.
    start: usize,
    part: &'b MimePart,
    /// `true` if lines that begin with a dot are dot-stuffed (RFC 3977 section 3.1.1).
    is_dot_stuffed: bool,
    is_mislabelled_base64: bool,
}

impl<'b> PartBody<'b> {
    /// The body of `part`, the range `body` of `message`.
    pub(super) fn new(
        message: &'b crate::split::Message<'_>,
        body: Span,
        part: &'b MimePart,
    ) -> PartBody<'b> {
        let raw = body.of(message.raw);
        PartBody {
            raw,
            start: body.start,
            part,
            is_dot_stuffed: message.wire,
            is_mislabelled_base64: part.transfer_encoding() == TransferEncoding::Base64
                && memchr::memmem::find(raw, b"://").is_some(),
        }
    }

    /// Returns `true` if the body is declared as base64 and holds `://`, so that it is plain text:
    /// a colon is no base64 digit.
    pub(super) fn is_mislabelled_base64(&self) -> bool {
        self.is_mislabelled_base64
    }

    /// Passes the body to `sink` once for each encoding that it may be in: those that its header
    /// names, then plain text if it is mislabelled as base64.
    ///
    /// Returns what an HTML text leaves open in the first of them.
    pub(super) fn decode(&self, sink: &mut dyn FnMut(DecodedText<'_>)) -> Option<OpenMarkup> {
        let encoding = self.part.transfer_encoding();
        let others = self.part.other_encodings.iter().copied();
        let others = others.filter(|other| *other != encoding);
        let has_other_readings = self.is_mislabelled_base64 || others.clone().next().is_some();
        let plain = self
            .is_mislabelled_base64
            .then_some(TransferEncoding::Identity);
        let mut open = None;
        for encoding in [encoding].into_iter().chain(others).chain(plain) {
            open = open.or(self.decode_as(encoding, has_other_readings, sink));
        }
        open
    }

    fn decode_as(
        &self,
        encoding: TransferEncoding,
        has_other_readings: bool,
        sink: &mut dyn FnMut(DecodedText<'_>),
    ) -> Option<OpenMarkup> {
        let mut steps = DecodingSteps::new(self.raw, self.start);
        if self.is_dot_stuffed {
            steps.apply_if(unstuff);
        }
        match encoding {
            TransferEncoding::Identity => {}
            TransferEncoding::QuotedPrintable => steps.apply(quoted_printable),
            TransferEncoding::Base64 => steps.apply(base64),
        }
        match self.part.form {
            TextForm::Html => steps.convert_page(self.part.charset.as_deref()),
            _ => steps.convert(self.part.charset.as_deref()),
        }
        match self.part.form {
            TextForm::Plain | TextForm::Other | TextForm::Html => {}
            TextForm::Flowed(delsp) => steps.apply_if(|text| unflow(text, delsp)),
            TextForm::Folded => steps.apply(unfold),
        }
        let (text, open) = match self.part.form {
            TextForm::Html => steps.page(self.part),
            _ => (steps.text(self.part), None),
        };
        sink(DecodedText {
            has_other_readings,
            ..text
        });
        open
    }
}

/// Passes a source that is an HTML page to `sink`. Returns what the page leaves open.
pub(super) fn page<'m>(
    raw: &'m [u8],
    part: &'m MimePart,
    sink: &mut dyn FnMut(DecodedText<'_>),
) -> Option<OpenMarkup> {
    let mut steps = DecodingSteps::new(raw, 0);
    steps.convert_page(part.charset.as_deref());
    let (text, open) = steps.page(part);
    sink(text);
    open
}

/// Something that is not closed up to the end of an HTML text.
pub(super) struct OpenMarkup {
    /// The kind of the construct, with its article.
    what: &'static str,
    /// Offset in the message.
    at: usize,
}

impl OpenMarkup {
    /// The diagnostic about it, in a message that begins at the offset `start` in its source.
    pub(super) fn diagnostic(&self, start: u64) -> Diagnostic {
        let OpenMarkup { what, at } = self;
        let message = format!("{what} that is not closed hides the rest of a page: read as markup");
        Diagnostic::at(DiagnosticKind::Ambiguous, start + *at as u64, message)
    }
}

/// A text and its offset map, after some of the decoding steps.
struct DecodingSteps<'r> {
    bytes: Cow<'r, [u8]>,
    offset_map: OffsetMap,
}

impl<'r> DecodingSteps<'r> {
    fn new(raw: &'r [u8], start: usize) -> DecodingSteps<'r> {
        DecodingSteps {
            bytes: raw.into(),
            offset_map: OffsetMap::verbatim(start),
        }
    }

    fn apply(&mut self, decode: impl FnOnce(&[u8]) -> MappedBytes) {
        let MappedBytes { bytes, map } = decode(&self.bytes);
        self.bytes = bytes.into();
        self.offset_map.maps.push(map);
    }

    /// Applies a step that returns `None` if it would change nothing.
    fn apply_if(&mut self, decode: impl FnOnce(&[u8]) -> Option<MappedBytes>) {
        if let Some(decoded) = decode(&self.bytes) {
            self.apply(|_| decoded);
        }
    }

    /// Converts the text to UTF-8.
    fn convert(&mut self, charset: Option<&str>) {
        let converted = charset::decode(&self.bytes, charset);
        if let Some(map) = converted.map {
            self.bytes = converted.bytes.into_owned().into();
            self.offset_map.maps.push(map);
        }
    }

    /// Converts an HTML text to UTF-8. It may name its charset itself.
    fn convert_page(&mut self, charset: Option<&str>) {
        match charset {
            Some(_) => self.convert(charset),
            None => {
                let declared = html::declared_charset(&self.bytes);
                self.convert(declared.as_deref());
            }
        }
    }

    fn text<'p>(self, part: &'p MimePart) -> DecodedText<'p>
    where
        'r: 'p,
    {
        let lines = if FIELDS.contains(&part.media_type.as_str()) {
            LineLayout::Folded
        } else {
            LineLayout::Written
        };
        DecodedText {
            lines,
            ..DecodedText::plain(self.bytes, self.offset_map, Region::Body, Some(part))
        }
    }

    /// The visible text of the HTML text, and what it leaves open.
    fn page<'p>(self, part: &'p MimePart) -> (DecodedText<'p>, Option<OpenMarkup>)
    where
        'r: 'p,
    {
        let DecodingSteps { bytes, offset_map } = self;
        let page = html::parse(&bytes);
        let open = page.unclosed.map(|unclosed| OpenMarkup {
            what: unclosed.what,
            at: offset_map
                .raw(Span::new(unclosed.rest, unclosed.rest))
                .span
                .start,
        });
        let visible = offset_map.clone().then(page.map);
        let text = DecodedText {
            lines: LineLayout::LaidOut,
            page: Some(HtmlPage {
                source: bytes,
                offset_map,
                links: page.links,
                base: page.base,
            }),
            ..DecodedText::plain(page.text.into(), visible, Region::Body, Some(part))
        };
        (text, open)
    }
}
