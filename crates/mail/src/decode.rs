//! Decodes a message into plain texts: header fields and text parts, each with a map back to the
//! raw bytes.
//!
//! Broken mail is input, not an error. A part that cannot be understood is read as one text, and a
//! [`Diagnostic`] reports it. The walk over MIME parts uses a list, never recursion. Parts that are
//! not text are not decoded.
//!
//! # Libraries
//!
//! `html5gum` tokenises HTML, `encoding_rs` converts charsets, `data-encoding` decodes whole lines
//! of base64, and `jiff` does calendar arithmetic. Two calls of `mailparse` are used:
//!
//! - `parse_content_type` parses content types and dispositions (`header.rs`, `boundaries.rs`,
//!   `mime_walk.rs`);
//! - `parse_header` and `get_value` decode a value with encoded words or 8-bit bytes if only the
//!   text is needed (`header.rs`).
//!
//! The other calls of `mailparse` do not fit:
//!
//! - `parse_mail` and `get_body` return owned text without offsets, but every URL needs the offsets
//!   of its raw bytes. They also recurse into parts, reject undecodable content, and decode
//!   attachments;
//! - `parse_headers` allocates each value; this module keeps ranges, and skips most fields by name
//!   (`field_names.rs`);
//! - `dateparse` accepts no ctime, RFC 850 or ISO 8601 dates, and does not distinguish an unknown
//!   zone from UTC (`date.rs`);
//! - `addrparse` splits From into mailboxes, but a record shows the field as written;
//! - `msgidparse` rejects a whole References field because of one damaged ID (`message_info.rs`);
//! - `parse_content_disposition`: only the parameter `filename` and the word `attachment` are
//!   needed from that field, and `parse_content_type` returns both (`mime_walk.rs`).

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
pub use html::{ElementContent, Markup, Tag, markup};
pub use html::{HtmlLink, link_attributes};
pub use message_info::{Author, AuthorKind, InfoFields, MessageInfo, NamedField};
pub use mime_walk::texts;
pub use part::MimePart;
pub use part_kind::form_of_name;
pub use region::{BodyRegion, EXTERNAL_BODY_REGION, Regions};
#[cfg(feature = "files")]
pub(crate) use transfer::base64;

/// The individual decoding steps, for the targets in `fuzz/`; not part of the library.
pub mod fuzzing {
    pub use super::charset::decode as to_utf8;
    pub use super::header::decode_words_with_map;
    pub use super::seven_bit::decode_utf7;
    pub use super::transfer::{DelSp, base64, quoted_printable, unflow, unfold, unstuff};
}

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use urlspool_text::diagnostic::Diagnostic;
use urlspool_text::planted_faults::{PlantedFault, is_planted};
use urlspool_text::span::{ByteMap, Span};

/// Location of a text in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region<'m> {
    /// The value of a header field with this name.
    Header(&'m [u8]),
    /// The text of a part.
    Body,
    /// The URL of an external body, built from the parameters of the content type. The text is that
    /// URL alone.
    ExternalBody,
}

/// Maps offsets in a decoded text to offsets in the message's raw bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffsetMap {
    /// Offset in the message to which the first map is relative.
    base: usize,
    /// Maps of the decoding steps, in order.
    maps: Vec<ByteMap>,
    /// Map of the surrounding attachment, from its decoded bytes to the message; `None` in the
    /// message itself. Shared by all texts of the attachment.
    outer: Option<Arc<OffsetMap>>,
}

impl OffsetMap {
    /// Creates the map of bytes that were not decoded and start at `base`.
    #[must_use]
    pub fn verbatim(base: usize) -> OffsetMap {
        OffsetMap::within(None, base)
    }

    /// Creates the map of bytes that start at `base` in the decoded bytes of an attachment.
    fn within(outer: Option<&Arc<OffsetMap>>, base: usize) -> OffsetMap {
        OffsetMap {
            base,
            maps: Vec::new(),
            outer: outer.cloned(),
        }
    }

    /// Returns the memory in bytes taken by this map's steps, without the surrounding attachments.
    fn memory_bytes(&self) -> usize {
        self.maps.iter().map(ByteMap::memory_bytes).sum()
    }

    /// Creates the map of a text made from all of the raw bytes `raw`.
    fn whole(raw: Span) -> OffsetMap {
        let mut map = ByteMap::new();
        map.push_whole(0, raw);
        OffsetMap::verbatim(0).then(map)
    }

    /// Returns `true` if one of the steps has a coarse map, here or in the surrounding attachments.
    #[must_use]
    pub fn is_coarse(&self) -> bool {
        std::iter::successors(Some(self), |map| map.outer.as_deref())
            .any(|map| map.maps.iter().any(ByteMap::is_coarse))
    }

    /// Returns this map with one more decoding step.
    fn then(mut self, map: ByteMap) -> OffsetMap {
        self.maps.push(map);
        self
    }

    /// Returns the raw bytes of the message from which `text` was decoded.
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

/// Range of a message's raw bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRange {
    /// Range in the raw bytes.
    pub span: Span,
    /// `true` if the range is exact: no neighbouring text comes from the first or last bytes of the
    /// range.
    pub exact: bool,
}

/// A decoded plain text.
#[derive(Debug)]
pub struct DecodedText<'m> {
    /// Bytes of the text: UTF-8, unless they could not be converted.
    pub bytes: Cow<'m, [u8]>,
    /// Map from offsets in `bytes` to offsets in the message.
    pub offset_map: OffsetMap,
    /// Location in the message.
    pub region: Region<'m>,
    /// Part whose body or header this is; `None` for the message's own header and for a message
    /// without a header.
    pub part: Option<&'m MimePart>,
    /// Innermost message that holds the text; `None` for the outermost one.
    pub author: Option<&'m Arc<Author>>,
    /// Meaning of the line ends.
    pub lines: LineLayout,
    /// HTML page, if this is the visible text of one.
    pub page: Option<HtmlPage<'m>>,
    /// Ranges of encoded files (uuencode, yEnc, base64), in order. Text in them is passed on as a
    /// separate text.
    pub encoded: Vec<Span>,
    /// `true` if the same raw bytes are also decoded in another way, as a separate text.
    pub has_other_readings: bool,
    /// `true` for a piece of a text of more than [`TEXT_BYTES`](urlspool_text::limits::TEXT_BYTES).
    pub is_piece: bool,
}

impl<'m> DecodedText<'m> {
    /// Creates a text that is not a page and has no other reading.
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
            author: part.and_then(|part| part.author.as_ref()),
            lines: LineLayout::Written,
            page: None,
            encoded: Vec::new(),
            has_other_readings: false,
            is_piece: false,
        }
    }

    /// Returns `true` if the line feed at `at` is a blank between words of a page: no tag is beside
    /// it, and no `<`, after which an address goes on without a blank.
    fn is_source_blank(&self, at: usize) -> bool {
        let page = self.page.as_ref().filter(|page| !page.is_incomplete);
        page.zip(self.offset_map.maps.last())
            .is_some_and(|(page, map)| {
                let span = map.raw(Span::new(at, at + 1));
                span.of(&page.source).ends_with(b"\n")
                    && !page.source[..span.start].trim_ascii_end().ends_with(b">")
                    && !page.source[span.end..].trim_ascii_start().starts_with(b"<")
                    && !self.bytes[..at].ends_with(b"<")
            })
    }
}

/// The meaning of the line ends of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineLayout {
    /// Line ends are part of the text as sent: written by a person, or by a program that wraps long
    /// lines.
    Written,
    /// Line ends come from the layout of an HTML page: a word never spans two lines.
    LaidOut,
    /// Line ends fold a header field, or a field in a body that consists of fields, such as a
    /// delivery report. The white space after each line end belongs to the value and separates
    /// words (RFC 5322, section 2.2.3).
    Folded,
}

/// An HTML page and the links in it.
#[derive(Debug)]
pub struct HtmlPage<'m> {
    /// HTML text, decoded to UTF-8.
    pub source: Cow<'m, [u8]>,
    /// Map from offsets in `source` to offsets in the message.
    pub offset_map: OffsetMap,
    /// URLs in attributes and styles, ordered by [`HtmlLink::at`].
    pub links: Vec<HtmlLink>,
    /// Base of relative URLs: the first `<base href>`.
    pub base: Option<Vec<u8>>,
    /// `true` if the page has more links than memory allows at a time and these are only some. The
    /// text is passed to the sink again with the other links.
    pub is_incomplete: bool,
}

/// Counts and diagnostics from decoding one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodeReport {
    /// Number of decoded text parts.
    pub text_parts: usize,
    /// Skipped parts without text.
    pub skipped_parts: Vec<SkippedPart>,
    /// Damage and limits, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
}

/// A part without text, whose body was not decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedPart {
    /// The part, as described by its header.
    pub part: MimePart,
    /// Raw bytes of the body.
    pub raw: Span,
    /// Number of archive members skipped after this one that are not listed.
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

/// Decoded bytes with a map back to the encoded bytes.
#[derive(Debug, Default)]
pub struct MappedBytes {
    /// Decoded bytes.
    pub bytes: Vec<u8>,
    /// Map from offsets in `bytes` to offsets in the encoded bytes.
    pub map: ByteMap,
}

impl MappedBytes {
    fn with_capacity(len: usize) -> MappedBytes {
        MappedBytes {
            bytes: Vec::with_capacity(len),
            ..MappedBytes::default()
        }
    }

    /// Appends a range of the encoded bytes `raw` unchanged.
    fn copy(&mut self, raw: &[u8], range: Range<usize>) {
        if !range.is_empty() {
            let mistake = usize::from(range.start > 0 && is_planted(PlantedFault::MapOffByOne));
            self.map.push_same(self.bytes.len(), range.start - mistake);
            self.bytes.extend_from_slice(&raw[range]);
        }
    }

    /// Appends bytes decoded from the range `from` as a whole.
    fn push(&mut self, decoded: &[u8], from: Range<usize>) {
        let from = Span::new(from.start, from.end);
        self.map.push_whole(self.bytes.len(), from);
        self.bytes.extend_from_slice(decoded);
    }

    /// Copies `raw` without these ranges, which are in order.
    fn without(raw: &[u8], removed: impl Iterator<Item = Range<usize>>) -> MappedBytes {
        let mut text = MappedBytes::with_capacity(raw.len());
        let mut at = 0;
        for range in removed {
            text.copy(raw, at..range.start);
            at = range.end;
        }
        text.copy(raw, at..raw.len());
        text.ended(raw)
    }

    /// Ends the map at the end of the encoded bytes.
    fn ended(mut self, raw: &[u8]) -> MappedBytes {
        self.map.push_same(self.bytes.len(), raw.len());
        self
    }
}

/// Returns `true` if a text without a byte order mark is in UTF-16.
pub(crate) fn is_utf16(start: &[u8]) -> bool {
    charset::utf16_by_nuls(start).is_some()
}

/// Returns a Web page in UTF-8. `charset` is the one named by the server; without it, the page's
/// own charset counts.
pub fn page_in_utf8<'a>(page: &'a [u8], charset: Option<&str>) -> Cow<'a, [u8]> {
    let label = charset.map(str::to_owned);
    let label = label.or_else(|| html::declared_charset(page));
    charset::decode(page, label.as_deref()).map_or(page.into(), |page| page.bytes.into())
}

/// Selection of the parts of a message to read as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextPolicy {
    /// Skips header fields. Otherwise all are read, except trace and threading fields.
    pub skip_headers: bool,
    /// Skips HTML parts.
    pub skip_html: bool,
    /// Handling of attachments.
    pub attachments: AttachmentPolicy,
    /// Form of a text without a header, by its file name.
    pub file_form: TextForm,
}

/// Handling of attachments: parts that are labelled as attached or have a non-text media type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AttachmentPolicy {
    /// Skips all attachments.
    None,
    /// Reads messages, and attachments that are text by type, name or content.
    Text,
    /// Reads all supported attachments, archives included (the default).
    #[default]
    All,
}
