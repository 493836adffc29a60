//! Decodes a message into plain texts: header fields and text parts, each with a map back to the
//! raw bytes.
//!
//! Broken mail is input, not an error: a part that cannot be understood is read as one text, and a
//! [`Diagnostic`] reports it. The walk over MIME parts uses a list, never recursion. Parts that are
//! not text are not decoded.
//!
//! # Libraries
//!
//! `html5gum` tokenises HTML, `encoding_rs` converts charsets, `data-encoding` decodes whole lines
//! of base64, and `jiff` does calendar arithmetic. `mailparse` is used for two calls:
//!
//! - `parse_content_type` parses a `Content-Type` with several parameters, comments or RFC 2231
//!   continuations (`part.rs`, `mime_walk.rs`, `external_body.rs`);
//! - `parse_header` and `get_value` decode a value with encoded words or 8-bit bytes where only its
//!   text is needed (`header.rs`).
//!
//! Its other calls do not serve here:
//!
//! - `parse_mail` and `get_body` return owned text without offsets, and every URL needs the offsets
//!   of its raw bytes; they recurse into parts, reject what cannot be decoded, and decode
//!   attachments too;
//! - `parse_headers` allocates each value; this module keeps ranges, and skips most fields by name
//!   (`field_names.rs`);
//! - `dateparse` takes no ctime, RFC 850 or ISO 8601 dates, and does not distinguish an unknown
//!   zone from UTC (`date.rs`);
//! - `addrparse` would split From into mailboxes, but a record shows the field as it was written;
//! - `msgidparse` rejects a whole References field for one damaged ID (`message_info.rs`);
//! - `parse_content_disposition`: of that field only the parameter `filename` and the word
//!   `attachment` are used, which `parse_content_type` gives too (`mime_walk.rs`).

mod archived_page;
mod binary;
mod boundaries;
mod charset;
mod date;
mod digest;
mod external_body;
mod field_names;
mod form;
mod header;
mod html;
mod message_info;
mod mime_walk;
mod part;
mod part_kind;
mod region;
mod seven_bit;
mod stretch;
mod transfer;

pub use date::{CitedDate, Date, FIRST_MESSAGE_DAY, Zone, parse_date};
pub use digest::digested_bytes;
pub use digest::{canonical, covers_all, digest, digested};
pub use field_names::{FieldRoles, KnownField};
pub use form::TextForm;
pub use header::{HeaderField, HeaderFields};
pub use html::{ElementContent, tokenize};
pub use html::{HtmlLink, link_attributes};
pub use message_info::{Author, AuthorKind, InfoFields, MessageInfo, NamedField};
pub use part::MimePart;
pub use part_kind::form_of_name;
pub use region::{BodyRegion, EXTERNAL_BODY_REGION, Regions};

/// The decoding steps one by one, for the targets in `fuzz/`; no part of the library.
pub mod fuzzing {
    pub use super::header::decode_words_with_map;
    pub use super::seven_bit::decode_utf7;
    pub use super::transfer::{DelSp, base64, quoted_printable, unflow, unfold, unstuff};

    use super::{ConvertedText, MappedBytes, charset};
    use urlspool_text::span::ByteMap;

    /// Converts a text to UTF-8.
    #[must_use]
    pub fn to_utf8(raw: &[u8], label: Option<&str>) -> MappedBytes {
        let ConvertedText { bytes, map } = charset::decode(raw, label);
        MappedBytes {
            bytes: bytes.into_owned(),
            map: map.unwrap_or_else(|| ByteMap::same(0)),
        }
    }
}

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::split::{HeaderForm, Message};
use urlspool_text::diagnostic::Diagnostic;
use urlspool_text::limits::Limits;
use urlspool_text::planted_faults::{PlantedFault, is_planted};
use urlspool_text::span::{ByteMap, Span};

/// The place of a text in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region<'m> {
    /// The value of a header field of this name.
    Header(&'m [u8]),
    /// The text of a part.
    Body,
    /// The URL of a body that stands elsewhere, made of the parameters of its content type. The text
    /// is that URL alone.
    ExternalBody,
}

/// Maps offsets in a decoded text to offsets in the message's raw bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffsetMap {
    /// Offset in the message of the bytes that the first map leads to.
    base: usize,
    /// One map per decoding step, in the order of the steps.
    maps: Vec<ByteMap>,
    /// Leads on to the message, from the decoded bytes of an attachment; `None` in the message
    /// itself. Shared by all texts of the attachment.
    outer: Option<Arc<OffsetMap>>,
}

impl OffsetMap {
    /// The map of bytes that were not decoded and begin at `base`.
    #[must_use]
    pub fn verbatim(base: usize) -> OffsetMap {
        OffsetMap {
            base,
            ..OffsetMap::default()
        }
    }

    /// The map of bytes that begin at `base` of the decoded bytes of an attachment.
    fn within(outer: Option<&Arc<OffsetMap>>, base: usize) -> OffsetMap {
        OffsetMap {
            base,
            maps: Vec::new(),
            outer: outer.cloned(),
        }
    }

    /// Returns the number of bytes of memory that its own steps take.
    fn memory_bytes(&self) -> usize {
        self.maps.iter().map(ByteMap::memory_bytes).sum()
    }

    /// The map of a text that was made of the raw bytes `raw` as a whole.
    fn whole(raw: Span) -> OffsetMap {
        let mut map = ByteMap::new();
        map.push_whole(0, raw);
        OffsetMap::verbatim(0).then(map)
    }

    /// Returns `true` if one of its steps, or those of the attachments around it, has a coarse map.
    #[must_use]
    pub fn is_coarse(&self) -> bool {
        std::iter::successors(Some(self), |map| map.outer.as_deref())
            .any(|map| map.maps.iter().any(ByteMap::is_coarse))
    }

    /// This map, with one more decoding step.
    fn then(mut self, map: ByteMap) -> OffsetMap {
        self.maps.push(map);
        self
    }

    /// The raw bytes of the message that `text` was decoded from.
    #[must_use]
    pub fn raw(&self, text: Span) -> RawRange {
        let mut span = text;
        let mut exact = true;
        let mut layer = Some(self);
        while let Some(OffsetMap { base, maps, outer }) = layer {
            for map in maps.iter().rev() {
                exact &= map.exact(span);
                span = map.raw(span);
            }
            span = Span::new(base + span.start, base + span.end);
            layer = outer.as_deref();
        }
        RawRange { span, exact }
    }
}

/// A range of a message's raw bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRange {
    /// The range.
    pub span: Span,
    /// `true` if the range is exact: no neighbouring text came from its first or last bytes.
    pub exact: bool,
}

/// A decoded plain text.
#[derive(Debug)]
pub struct DecodedText<'m> {
    /// Its bytes: UTF-8, unless they could not be converted.
    pub bytes: Cow<'m, [u8]>,
    /// From offsets in `bytes` to the message's.
    pub offset_map: OffsetMap,
    /// Its place in the message.
    pub region: Region<'m>,
    /// The part whose body or header it is; `None` for the message's own header and for a message
    /// without a header.
    pub part: Option<&'m MimePart>,
    /// The meaning of its line ends.
    pub lines: LineLayout,
    /// The HTML page, if this is the visible text of one.
    pub page: Option<HtmlPage<'m>>,
    /// Ranges of encoded files (uuencode, yEnc, base64), in order. What is
    /// text in them is another text.
    pub encoded: Vec<Span>,
    /// `true` if the same raw bytes are also decoded in another way, as another text.
    pub has_other_readings: bool,
    /// `true` for a piece of a text of more than [`TEXT_BYTES`](urlspool_text::limits::TEXT_BYTES).
    pub is_piece: bool,
}

impl<'m> DecodedText<'m> {
    /// A text that is not a page and has no other reading.
    fn plain(
        bytes: Cow<'m, [u8]>,
        offset_map: OffsetMap,
        region: Region<'m>,
        part: Option<&'m MimePart>,
    ) -> DecodedText<'m> {
        DecodedText {
            bytes,
            offset_map,
            region,
            part,
            lines: LineLayout::Written,
            page: None,
            encoded: Vec::new(),
            has_other_readings: false,
            is_piece: false,
        }
    }
}

/// The meaning of the line ends of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineLayout {
    /// They are part of the text as sent: a person wrote them, or a program that wrapped long
    /// lines.
    Written,
    /// They come from the layout of an HTML page: two lines never hold one word.
    LaidOut,
    /// They fold a header field, also one in a body that consists of such fields, like a delivery
    /// report. The white space after each belongs to the value and separates words (RFC 5322,
    /// section 2.2.3).
    Folded,
}

/// An HTML page and the links in it.
#[derive(Debug)]
pub struct HtmlPage<'m> {
    /// The HTML text, decoded to UTF-8.
    pub source: Cow<'m, [u8]>,
    /// From offsets in `source` to the message's.
    pub offset_map: OffsetMap,
    /// The URLs in its attributes and styles, ordered by [`HtmlLink::at`].
    pub links: Vec<HtmlLink>,
    /// The base of relative URLs: the first `<base href>`.
    pub base: Option<Vec<u8>>,
    /// `true` if the page has more links than are held at a time, and these are some of them: its
    /// text is passed to the sink again, with the others.
    pub is_incomplete: bool,
}

/// Counts and diagnostics of decoding one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodeReport {
    /// Number of text parts that were decoded.
    pub text_parts: usize,
    /// Parts without text, which were skipped.
    pub skipped_parts: Vec<SkippedPart>,
    /// Damage and limits, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
}

/// A part without text, whose body was not decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedPart {
    /// The part, as its header describes it.
    pub part: MimePart,
    /// Its body's raw bytes.
    pub raw: Span,
    /// Number of further members of archives that were skipped after it, and are not listed.
    pub unlisted: u64,
}

impl SkippedPart {
    fn new(part: MimePart, raw: Span) -> SkippedPart {
        SkippedPart {
            part,
            raw,
            unlisted: 0,
        }
    }
}

/// Decoded bytes, with the map back to the bytes that they were decoded from.
#[derive(Debug, Default)]
pub struct MappedBytes {
    /// The decoded bytes.
    pub bytes: Vec<u8>,
    /// From offsets in them to offsets in the encoded bytes.
    pub map: ByteMap,
}

impl MappedBytes {
    fn with_capacity(len: usize) -> MappedBytes {
        MappedBytes {
            bytes: Vec::with_capacity(len),
            ..MappedBytes::default()
        }
    }

    /// Appends a range of the encoded bytes `raw` as it is.
    fn copy(&mut self, raw: &[u8], range: Range<usize>) {
        if !range.is_empty() {
            let mistake = usize::from(range.start > 0 && is_planted(PlantedFault::MapOffByOne));
            self.map.push_same(self.bytes.len(), range.start - mistake);
            self.bytes.extend_from_slice(&raw[range]);
        }
    }

    /// Appends what the encoded bytes at `from` stand for as a whole.
    fn push(&mut self, decoded: &[u8], from: Range<usize>) {
        let from = Span::new(from.start, from.end);
        self.map.push_whole(self.bytes.len(), from);
        self.bytes.extend_from_slice(decoded);
    }

    /// Ends the map at the end of the encoded bytes.
    fn ended(mut self, raw: &[u8]) -> MappedBytes {
        self.map.push_same(self.bytes.len(), raw.len());
        self
    }
}

/// A text in UTF-8, with the map back to the bytes that it was converted from.
struct ConvertedText<'a> {
    bytes: Cow<'a, [u8]>,
    /// `None` if the bytes are the same.
    map: Option<ByteMap>,
}

impl<'a> ConvertedText<'a> {
    /// Bytes that were UTF-8 already.
    fn unchanged(bytes: &'a [u8]) -> ConvertedText<'a> {
        ConvertedText {
            bytes: bytes.into(),
            map: None,
        }
    }
}

impl From<MappedBytes> for ConvertedText<'_> {
    fn from(decoded: MappedBytes) -> Self {
        ConvertedText {
            bytes: decoded.bytes.into(),
            map: Some(decoded.map),
        }
    }
}

/// Returns `true` if a text without a byte order mark is in UTF-16.
pub(crate) fn is_utf16(start: &[u8]) -> bool {
    charset::utf16_by_nuls(start).is_some()
}

/// Returns a page of the Web in UTF-8. `charset` is the one that its server names; without one the
/// page's own counts.
pub fn page_in_utf8<'a>(page: &'a [u8], charset: Option<&str>) -> Cow<'a, [u8]> {
    let label = charset.map(str::to_owned);
    let label = label.or_else(|| html::declared_charset(page));
    charset::decode(page, label.as_deref()).bytes
}

/// Passes every text of `message` to `sink`, in the order of the raw bytes. Calls `on_large` before
/// an attachment or document that unpacks to more than
/// [`LARGE_MESSAGE_BYTES`](urlspool_text::limits::LARGE_MESSAGE_BYTES).
///
/// `fields` are the fields of the message's own header, read by [`HeaderFields::in_message`].
/// Linear in the message's length times the nesting depth of its parts, which is limited.
pub fn texts<'m>(
    message: &Message<'m>,
    fields: &'m HeaderFields,
    limits: &Limits,
    policy: TextPolicy,
    sink: &mut dyn FnMut(DecodedText<'_>),
    on_large: &mut dyn FnMut(),
) -> DecodeReport {
    match message.header {
        HeaderForm::Absent if policy.file_form == TextForm::Html => page(message, policy, sink),
        HeaderForm::Absent | HeaderForm::ANews => {
            part::plain(message.raw, policy.file_form, sink);
            DecodeReport {
                text_parts: 1,
                ..DecodeReport::default()
            }
        }
        HeaderForm::Page => page(message, policy, sink),
        HeaderForm::Document(kind) => {
            mime_walk::document_texts(message, kind, limits, policy, sink, on_large)
        }
        HeaderForm::Present | HeaderForm::Copied { .. } => {
            mime_walk::walk(message, fields, limits, policy, sink, on_large)
        }
    }
}

/// The parts of a message that are texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextPolicy {
    /// Handling of header fields.
    pub headers: HeaderPolicy,
    /// Handling of HTML parts.
    pub html: HtmlPolicy,
    /// Handling of attachments.
    pub attachments: AttachmentPolicy,
    /// The form that a text without a header has by the name of its file.
    pub file_form: TextForm,
}

/// Attachments that are texts: parts that are labelled as attached or whose media type is of no
/// text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AttachmentPolicy {
    /// None of them.
    None,
    /// Those that are text by their type, name or content, and messages.
    Text,
    /// All that can be read, archives included (the default).
    #[default]
    All,
}

/// Handling of HTML parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HtmlPolicy {
    /// HTML parts are texts (the default).
    #[default]
    Search,
    /// HTML parts are skipped.
    Skip,
}

/// Handling of header fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderPolicy {
    /// Fields are texts, except trace and threading fields (the default).
    #[default]
    Search,
    /// No field is a text.
    Skip,
}

/// Decodes a source that is an HTML page.
fn page(
    message: &Message<'_>,
    policy: TextPolicy,
    sink: &mut dyn FnMut(DecodedText<'_>),
) -> DecodeReport {
    let part = MimePart::page(html::declared_charset(message.raw));
    if policy.html == HtmlPolicy::Skip {
        let raw = Span::new(0, message.raw.len());
        return DecodeReport {
            skipped_parts: vec![SkippedPart::new(part, raw)],
            ..DecodeReport::default()
        };
    }
    let body = archived_page::body(message.raw);
    let open = part::page(message.raw, body, &part, sink);
    DecodeReport {
        text_parts: 1,
        diagnostics: Vec::from_iter(open.map(|open| open.diagnostic(message.raw_start()))),
        ..DecodeReport::default()
    }
}
