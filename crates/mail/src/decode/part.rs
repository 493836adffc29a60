//! MIME parts: the description of a part from its header, the part's number in the message, the
//! content type, which decides whether the part is text, and the body, decoded with each possible
//! transfer encoding.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::binary::uudecode;
use super::field_names::KnownField;
use super::form::TextForm;
use super::header::{HeaderFields, field_text};
use super::html::{ParsedHtml, Unclosed};
use super::part_kind::{MESSAGES, text_form};
use super::stretch::{has_mark, stretches};
use super::transfer::{TransferEncoding, base64, quoted_printable, unfold, unstuff};
use super::{
    Author, AuthorKind, DecodedText, HtmlPage, LineLayout, MappedBytes, OffsetMap, Region, charset,
    html,
};
use crate::lines::{begins_with, is_listed, text_border};
use urlspool_text::limits::{CONTENT_TYPE_FIELDS, NAME_BYTES, TEXT_BYTES};
use urlspool_text::parse::resolve;
use urlspool_text::span::{ByteMap, Span};

/// A MIME part, as described by its header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MimePart {
    /// Number of the part: `1`, `2.1`. A message inside a part counts as one level.
    pub path: String,
    /// Media type in lower case; `text/plain` if the header names none.
    pub media_type: String,
    /// Charset as written, if the header names one.
    pub charset: Option<String>,
    /// Transfer encoding in lower case; `7bit` if the header names none.
    pub encoding: String,
    /// Name, if the header names one and the media type is not text.
    pub name: Option<String>,
    /// Message-ID of the innermost nested message to which this part belongs.
    pub message_id: Option<String>,
    /// Innermost message that holds this part; `None` in the outermost message.
    pub author: Option<Arc<Author>>,
    /// The layout of its text; [`TextForm::Other`] if its media type is of no text.
    pub(super) form: TextForm,
    /// `true` for the multipart of an abuse report (RFC 5965).
    pub(super) is_abuse_report: bool,
    /// Names of the surrounding archive member, from the outermost archive inwards; `None` outside
    /// attached archives.
    pub member: Option<Arc<[Vec<u8>]>>,
    /// Transfer encoding of the outermost surrounding attachment that is encoded.
    pub(super) outer_encoding: Option<String>,
    /// Transfer encodings that the header names after the first one.
    pub(super) other_encodings: Vec<TransferEncoding>,
    /// Base of relative links, if the part may be or hold a page, and its header or a multipart
    /// around it names one.
    pub(super) base: Option<Arc<[u8]>>,
}

/// Place of a part or message: its number and its surroundings.
#[derive(Clone, Debug, Default)]
pub(super) struct PartPlace {
    /// Number as text, with a component per level of nesting: `2.1`; empty for the outermost
    /// message.
    pub(super) path: String,
    /// `true` for a message, nested ones included; `false` for a part of a multipart.
    pub(super) is_message: bool,
    /// Message-ID of the innermost nested message, shortened as in records.
    pub(super) message_id: Option<String>,
    /// Innermost message inside a part that holds this place and has any field of an author.
    pub(super) author: Option<Arc<Author>>,
    /// Kind of the messages in the parts at this place; [`AuthorKind::Outer`] for the packed body
    /// of the message around it.
    pub(super) messages: AuthorKind,
    /// Number of messages inside parts that it is nested in; 0 in the outermost message.
    pub(super) depth: usize,
    /// Transfer encoding of the outermost surrounding attachment that is encoded.
    pub(super) encoding: Option<String>,
    /// Base of relative links, named by a multipart around this place.
    pub(super) base: Option<Arc<[u8]>>,
    /// Names of the surrounding member of an attached archive.
    pub(super) member: Option<Arc<[Vec<u8>]>>,
    /// Number of surrounding archives and compressed files.
    #[cfg_attr(not(feature = "files"), expect(dead_code, reason = "unread"))]
    pub(super) containers: usize,
}

impl MimePart {
    /// Describes the part with the header `fields`, ranges of `raw`. If there are several content
    /// types, one with parts or text is preferred.
    pub(super) fn new(raw: &[u8], fields: &HeaderFields, place: &PartPlace) -> MimePart {
        let default_type = match place.messages {
            AuthorKind::Digest => DEFAULT_TYPE_IN_DIGEST,
            _ => DEFAULT_TYPE,
        };
        let types = fields.content_types(raw).take(CONTENT_TYPE_FIELDS);
        // Multiparts come first, then text and messages, then all others.
        let chosen = types.min_by_key(|(_, content)| {
            let mut words = content.mimetype.as_bytes().split(|&byte| byte == b'/');
            match words.next() {
                Some(b"multipart") => 0,
                Some(b"text" | b"message") => 1,
                _ => 2,
            }
        });
        let (named, mut parameters) = chosen.map_or_else(
            || (default_type.to_owned(), BTreeMap::new()),
            |(_, content)| (content.mimetype, content.params),
        );
        // Mailers of the early 1990s wrote `text` without a subtype.
        let media_type = if named.contains('/') {
            named
        } else {
            DEFAULT_TYPE.to_owned()
        };
        let form = text_form(&media_type, &parameters);
        let report_type = parameters.get("report-type");
        let is_abuse_report = media_type == "multipart/report"
            && report_type.is_some_and(|name| name.eq_ignore_ascii_case("feedback-report"));
        let charset = parameters.remove("charset");
        let encodings = fields.each(KnownField::ContentTransferEncoding);
        let mut encodings =
            encodings.map(|field| field_text(field.value.of(raw)).trim().to_ascii_lowercase());
        MimePart {
            path: place.body_path(),
            charset: charset.filter(|name| !name.is_empty()).map(shortened),
            encoding: encodings.next().map_or("7bit".to_owned(), shortened),
            other_encodings: encodings
                .map(|name| TransferEncoding::named(&name))
                .collect(),
            base: (matches!(form, TextForm::Html | TextForm::Other)
                || media_type.starts_with("multipart/"))
            .then(|| named_base(raw, fields, place.base.as_ref()))
            .flatten(),
            form,
            is_abuse_report,
            media_type: shortened(media_type),
            ..MimePart::within(place)
        }
    }

    /// Returns a part with the surroundings of a place.
    pub(super) fn within(place: &PartPlace) -> MimePart {
        MimePart {
            path: place.path.clone(),
            message_id: place.message_id.clone(),
            author: place.author.clone(),
            member: place.member.clone(),
            outer_encoding: place.encoding.clone(),
            ..MimePart::default()
        }
    }

    /// Returns the part for bytes before, between or after the parts of the multipart at `place`.
    pub(super) fn between_parts(place: PartPlace) -> MimePart {
        MimePart {
            path: place.path,
            author: place.author,
            media_type: "text/plain".to_owned(),
            encoding: "7bit".to_owned(),
            ..MimePart::default()
        }
    }

    /// Describes a source that is an HTML page. `charset` is the one named by the page.
    pub(super) fn page(charset: Option<String>) -> MimePart {
        MimePart {
            charset: charset.map(shortened),
            encoding: "8bit".to_owned(),
            form: TextForm::Html,
            ..MimePart::document("text/html")
        }
    }

    /// Describes a source that is a document of this type.
    pub(super) fn document(media_type: &str) -> MimePart {
        MimePart {
            path: "1".to_owned(),
            media_type: media_type.to_owned(),
            encoding: "binary".to_owned(),
            ..MimePart::default()
        }
    }

    /// Returns this part, read as plain text together with all following bytes.
    ///
    /// Base64 is not kept: the encoding of one part does not apply to the parts that follow.
    pub(super) fn as_rest(&self) -> MimePart {
        let encoding = match self.transfer_encoding() {
            TransferEncoding::Base64 => "7bit".to_owned(),
            _ => self.encoding.clone(),
        };
        MimePart {
            media_type: "text/plain".to_owned(),
            form: TextForm::Plain,
            encoding,
            ..self.clone()
        }
    }

    /// Returns the first transfer encoding named by the header.
    pub(super) fn transfer_encoding(&self) -> TransferEncoding {
        TransferEncoding::named(&self.encoding)
    }

    /// Returns the transfer encoding of the part's bytes in the source: its own, or the encoding of
    /// the surrounding attachment.
    #[must_use]
    pub fn source_encoding(&self) -> &str {
        self.outer_encoding.as_deref().unwrap_or(&self.encoding)
    }

    /// Returns `true` if the body consists of parts.
    pub(super) fn is_multipart(&self) -> bool {
        self.media_type.starts_with("multipart/")
    }

    /// Returns `true` if the body is a message.
    pub(super) fn is_message(&self) -> bool {
        self.media_type.starts_with('m') && is_listed(MESSAGES, self.media_type.as_bytes())
    }
}

impl PartPlace {
    /// Returns the place of the message `author` inside this part.
    pub(super) fn message(self, author: Option<Author>) -> PartPlace {
        let id = author.as_ref().and_then(|author| author.info.id.as_deref());
        let id = id.map(|id| repeated_name(id).to_owned());
        let is_same = self.messages == AuthorKind::Outer;
        PartPlace {
            is_message: true,
            message_id: id.or(self.message_id.filter(|_| is_same)),
            author: author.map(Arc::new).or(self.author),
            messages: AuthorKind::default(),
            base: None,
            depth: self.depth + 1,
            ..self
        }
    }

    /// Returns the place of the `index`-th part of this multipart. The first part is 1.
    pub(super) fn part(&self, index: usize) -> PartPlace {
        let dot = if self.path.is_empty() { "" } else { "." };
        PartPlace {
            path: format!("{}{dot}{index}", self.path),
            is_message: false,
            ..self.clone()
        }
    }

    /// Returns the place of the decoded bytes of the attachment `part` at this place. Their nesting
    /// depth is `depth`.
    pub(super) fn decoded(self, part: &MimePart, depth: usize) -> PartPlace {
        let is_encoded = part.transfer_encoding() != TransferEncoding::Identity;
        let encoding = is_encoded.then(|| part.encoding.clone());
        PartPlace {
            depth,
            encoding: self.encoding.or(encoding),
            ..self
        }
    }

    /// Returns the number of the body as text. The body of a message without parts is its first
    /// part.
    fn body_path(&self) -> String {
        match (self.is_message, self.path.as_str()) {
            (false, path) => path.to_owned(),
            (true, "") => "1".to_owned(),
            (true, path) => format!("{path}.1"),
        }
    }
}

/// Type of a part whose header names none (RFC 2045 section 5.2).
pub(super) const DEFAULT_TYPE: &str = "text/plain";
/// Default type in a digest (RFC 2046 section 5.1.5).
const DEFAULT_TYPE_IN_DIGEST: &str = "message/rfc822";

/// Returns the base of relative links in a part (RFC 2557, section 5; RFC 2110, section 4.2). Pages
/// saved by Chromium name it in Snapshot-Content-Location. A part without a base inherits the base
/// of the multipart `around` it, and a relative base is resolved against that base. Removes white
/// space, which comes from folding, and the quotes or brackets that some programs write around the
/// URL.
fn named_base(raw: &[u8], fields: &HeaderFields, around: Option<&Arc<[u8]>>) -> Option<Arc<[u8]>> {
    const NAMES: &str = "content-base content-location snapshot-content-location";
    let around = around.filter(|around| around.len() <= AROUND_BYTES);
    let mut names = NAMES.split(' ');
    let Some(field) = names.find_map(|name| fields.first_named(raw, name)) else {
        return around.cloned();
    };
    let value = field.value.of(raw).iter().copied();
    let base = value.filter(|byte| !byte.is_ascii_whitespace() && !b"\"<>".contains(byte));
    let base = base.collect::<Vec<u8>>();
    if begins_with(&base, b"cid:") {
        return around.cloned();
    }
    if base.contains(&b':') {
        return Some(base.into());
    }
    let base = base.get(..AROUND_BYTES).unwrap_or(&base);
    let joined = resolve(base, around.map(AsRef::as_ref));
    joined.map(Arc::from).or_else(|| around.cloned())
}

/// Maximum length of an inherited base, and of a relative base. Thousands of parts may have one.
const AROUND_BYTES: usize = 2 << 10;

/// Returns the first [`NAME_BYTES`] characters of a name, the length kept in records.
pub(super) fn repeated_name(name: &str) -> &str {
    if name.len() <= NAME_BYTES {
        return name;
    }
    let end = name.char_indices().nth(NAME_BYTES);
    end.map_or(name, |(end, _)| &name[..end])
}

/// Truncates an owned name like [`repeated_name`].
fn shortened(mut name: String) -> String {
    name.truncate(repeated_name(&name).len());
    name
}

/// Media types whose bodies consist of header fields: delivery reports (RFC 3464), receipts (RFC
/// 8098), abuse reports (RFC 5965), and headers without their messages (RFC 6522).
const FIELDS: &str = "message/delivery-status message/global-delivery-status \
    message/disposition-notification message/feedback-report text/rfc822-headers \
    message/global-headers";

/// Body of one part.
pub(super) struct PartBody<'b> {
    /// Raw bytes.
    pub(super) raw: &'b [u8],
    /// Map from offsets in `raw` to offsets in the message.
    pub(super) offset_map: OffsetMap,
    pub(super) part: &'b MimePart,
    /// `true` if lines that start with a dot are dot-stuffed (RFC 3977 section 3.1.1).
    pub(super) is_dot_stuffed: bool,
}

impl<'b> PartBody<'b> {
    /// Returns `true` if the body is declared as base64 but contains `://`. It is then plain text,
    /// because a colon is not a base64 digit.
    pub(super) fn is_mislabelled_base64(&self) -> bool {
        self.part.transfer_encoding() == TransferEncoding::Base64
            && memchr::memmem::find(self.raw, b"://").is_some()
    }

    /// Passes the body to `sink` once for each possible encoding: those that the header names, then
    /// plain text if the body is mislabelled as base64.
    ///
    /// Returns the construct left open by an HTML text in the first of these readings.
    pub(super) fn decode(&self, sink: &mut dyn FnMut(DecodedText<'_>)) -> Option<Unclosed> {
        let mut encodings = vec![self.part.transfer_encoding()];
        for other in &self.part.other_encodings {
            if !encodings.contains(other) {
                encodings.push(*other);
            }
        }
        if self.is_mislabelled_base64() {
            encodings.push(TransferEncoding::Identity);
        }
        let has_other_readings = 1 < encodings.len();
        let sink = &mut |text: DecodedText<'_>| {
            sink(DecodedText {
                has_other_readings,
                ..text
            });
        };
        let charset = self.part.charset.as_deref();
        let mut open = None;
        for encoding in encodings {
            let steps = self.transferred(encoding);
            open = open.or(steps.texts(self.part.form, charset, Some(self.part), sink));
        }
        open
    }

    /// Undoes all changes made for the transfer of the body.
    pub(super) fn transferred(&self, encoding: TransferEncoding) -> DecodingSteps<'b> {
        let mut steps = DecodingSteps::new(self.raw, self.offset_map.clone());
        if self.is_dot_stuffed {
            steps.apply(unstuff(&steps.bytes));
        }
        steps.transferred(encoding);
        steps
    }
}

/// Returns the position at which to cut a text, after its start. [`text_border`] decides; if it
/// finds no end of a line or word, the cut is before the last URL and before any word that may
/// start it.
fn piece_border(text: &[u8]) -> usize {
    /// Number of bytes searched for a URL at the end, which is the length of a URL in a record.
    const URL_BYTES: usize = 16 << 10;
    /// Maximum length of a scheme, or of a host without a scheme.
    const WORD_BYTES: usize = 256;
    let end = text_border(text);
    if end < text.len() {
        return end;
    }
    let lowest = end.saturating_sub(URL_BYTES).max(1);
    let tail = &text[lowest..];
    let end = memchr::memmem::rfind(tail, b"://").unwrap_or(tail.len());
    let word = tail[..end].iter().rev().take(WORD_BYTES);
    lowest + end - word.take_while(|byte| byte.is_ascii_graphic()).count()
}

/// Returns the position at which to cut an HTML text: before a tag in its second half.
fn page_border(page: &[u8]) -> usize {
    let end = piece_border(page);
    memchr::memrchr(b'<', &page[end / 2..end]).map_or(end, |at| end / 2 + at)
}

/// A text and its offset map, after some decoding steps.
pub(super) struct DecodingSteps<'r> {
    pub(super) bytes: Cow<'r, [u8]>,
    pub(super) offset_map: OffsetMap,
    /// `true` for a piece of a longer text.
    is_piece: bool,
    /// `true` for page source shown in another page, and for an encoded stretch of a text.
    is_inner: bool,
    /// Encoded stretches of the text.
    encoded: Vec<Span>,
}

impl<'r> DecodingSteps<'r> {
    pub(super) fn new(raw: impl Into<Cow<'r, [u8]>>, offset_map: OffsetMap) -> DecodingSteps<'r> {
        DecodingSteps {
            bytes: raw.into(),
            offset_map,
            is_piece: false,
            is_inner: false,
            encoded: Vec::new(),
        }
    }

    /// Passes the text to `sink`, with the escapes of its form decoded. Without a `part`, the text
    /// is a source without a header. Returns the construct left open by a page.
    pub(super) fn texts(
        mut self,
        form: TextForm,
        charset: Option<&str>,
        part: Option<&MimePart>,
        sink: &mut dyn FnMut(DecodedText<'_>),
    ) -> Option<Unclosed> {
        let is_wide = self
            .bytes
            .get(..2)
            .is_some_and(|start| matches!(start, [0 | 0xFE | 0xFF, _] | [_, 0]))
            && charset::is_wide(&self.bytes, charset);
        if is_wide {
            self.convert(charset);
        }
        let form = match form {
            TextForm::Plain | TextForm::Flowed(_) | TextForm::Xml => {
                // Format detection already decided whether a source is a page.
                TextForm::of_content(&self.bytes)
                    .filter(|&found| part.is_some() || is_wide || found != TextForm::Html)
                    .unwrap_or(form)
            }
            form => form,
        };
        if form == TextForm::Html {
            return self.pages(charset, part, sink);
        }
        let is_lines = matches!(form, TextForm::Plain | TextForm::Flowed(_) | TextForm::Json);
        self.pieces(form, charset, &mut |mut piece| {
            let is_ascii = is_lines && charset::is_usual_ascii(&piece.bytes, charset);
            if !is_ascii {
                piece.convert(charset);
            }
            if form == TextForm::Calendar {
                piece.apply(Some(unfold(&piece.bytes)));
            }
            let mut is_marked = is_lines && has_mark(&piece.bytes);
            if is_marked && is_ascii {
                // The mark may be an escape sequence of a 7-bit charset.
                piece.convert(charset);
                is_marked = has_mark(&piece.bytes);
            }
            if is_marked || form != TextForm::Plain {
                piece.apply(form.undo(&piece.bytes));
            }
            if is_marked {
                piece.with_stretches(form, part, sink);
            } else {
                sink(piece.text(form, part));
            }
        });
        None
    }

    /// Passes the text to `sink`, and then the texts of its encoded stretches, one at a time. A
    /// stretch inside another one stays text.
    fn with_stretches(
        self,
        form: TextForm,
        part: Option<&MimePart>,
        sink: &mut dyn FnMut(DecodedText<'_>),
    ) {
        let mut encoded = Vec::new();
        let mut texts = Vec::new();
        for stretch in stretches(&self.bytes) {
            let is_text = stretch.form != TextForm::Other;
            if !(is_text && self.is_inner) {
                encoded.push(stretch.span);
                texts.extend(is_text.then_some(stretch));
            }
        }
        let outer = Arc::new(self.offset_map);
        let steps = DecodingSteps {
            encoded,
            bytes: Cow::Borrowed(&self.bytes),
            offset_map: OffsetMap::within(Some(&outer), 0),
            ..self
        };
        sink(steps.text(form, part));
        for stretch in texts {
            let mut steps = DecodingSteps {
                is_inner: true,
                is_piece: self.is_piece,
                ..DecodingSteps::new(
                    stretch.span.of(&self.bytes),
                    OffsetMap::within(Some(&outer), stretch.span.start),
                )
            };
            steps.apply(stretch.without_marks(&steps.bytes));
            steps.transferred(stretch.encoding);
            steps.texts(stretch.form, stretch.charset.as_deref(), part, sink);
        }
    }

    /// Passes the text to `sink`. The text is passed in pieces if it has more than [`TEXT_BYTES`]
    /// and is a page, has escapes, or needs conversion. A text in a charset without ASCII bytes is
    /// not divided.
    fn pieces(
        self,
        form: TextForm,
        charset: Option<&str>,
        sink: &mut dyn FnMut(DecodingSteps<'_>),
    ) {
        let is_page = form == TextForm::Html;
        if self.bytes.len() <= TEXT_BYTES
            || !form.has_escapes() && std::str::from_utf8(&self.bytes).is_ok()
            || charset::is_wide(&self.bytes, charset)
        {
            return sink(self);
        }
        let border = if is_page { page_border } else { piece_border };
        let outer = Arc::new(self.offset_map);
        let mut at = 0;
        while at < self.bytes.len() {
            let rest = &self.bytes[at..];
            let len = match rest.get(..TEXT_BYTES) {
                Some(start) => border(start),
                None => rest.len(),
            };
            sink(DecodingSteps {
                bytes: rest[..len].into(),
                offset_map: OffsetMap::within(Some(&outer), at),
                is_piece: true,
                is_inner: self.is_inner,
                encoded: Vec::new(),
            });
            at += len;
        }
    }

    /// Undoes a transfer encoding.
    fn transferred(&mut self, encoding: TransferEncoding) {
        match encoding {
            TransferEncoding::Identity => {}
            TransferEncoding::QuotedPrintable => self.apply(Some(quoted_printable(&self.bytes))),
            TransferEncoding::Base64 => self.apply(Some(base64(&self.bytes))),
            TransferEncoding::Uuencode => self.apply(Some(uudecode(&self.bytes))),
        }
    }

    /// Applies a decoding step; `None` if the step changes nothing.
    pub(super) fn apply(&mut self, decoded: Option<MappedBytes>) {
        if let Some(MappedBytes { bytes, map }) = decoded {
            self.bytes = bytes.into();
            self.offset_map.maps.push(map);
        }
    }

    /// Converts the text to UTF-8.
    fn convert(&mut self, charset: Option<&str>) {
        self.apply(charset::decode(&self.bytes, charset));
    }

    fn text<'p>(self, form: TextForm, part: Option<&'p MimePart>) -> DecodedText<'p>
    where
        'r: 'p,
    {
        // Nearly all texts have the default type.
        let has_fields = |part: &MimePart| {
            part.media_type != DEFAULT_TYPE && is_listed(FIELDS, part.media_type.as_bytes())
        };
        let lines = if part.is_some_and(has_fields) {
            LineLayout::Folded
        } else {
            form.lines()
        };
        DecodedText {
            lines,
            is_piece: self.is_piece,
            encoded: self.encoded,
            ..DecodedText::plain(self.bytes, self.offset_map, Region::Body, part)
        }
    }

    /// Passes the visible text of an HTML text, which may name its charset, to `sink`. Returns the
    /// construct left open by it.
    pub(super) fn pages(
        self,
        charset: Option<&str>,
        part: Option<&MimePart>,
        sink: &mut dyn FnMut(DecodedText<'_>),
    ) -> Option<Unclosed> {
        let charset = charset.map(str::to_owned);
        let charset = charset.or_else(|| html::declared_charset(&self.bytes));
        let (mut base, mut open) = (None, None);
        self.pieces(TextForm::Html, charset.as_deref(), &mut |mut piece| {
            piece.convert(charset.as_deref());
            open = open.take().or(piece.page(part, &mut base, sink));
        });
        open
    }

    /// Passes the visible text of a page or a piece of a page to `sink`. `base` is the base named
    /// by earlier pieces.
    fn page(
        self,
        part: Option<&MimePart>,
        base: &mut Option<Vec<u8>>,
        sink: &mut dyn FnMut(DecodedText<'_>),
    ) -> Option<Unclosed> {
        let bytes = self.bytes;
        let source_map = Arc::new(self.offset_map);
        let mut pass_on = |page: &mut ParsedHtml, is_incomplete: bool| {
            if base.is_none() {
                base.clone_from(&page.base);
            }
            let visible = OffsetMap::within(Some(&source_map), 0);
            let map = if is_incomplete {
                ByteMap::new()
            } else {
                std::mem::take(&mut page.map)
            };
            sink(DecodedText {
                lines: LineLayout::LaidOut,
                page: Some(HtmlPage {
                    source: Cow::Borrowed(&bytes),
                    offset_map: visible.clone(),
                    links: std::mem::take(&mut page.links),
                    base: base.clone().or_else(|| Some(part?.base.as_ref()?.to_vec())),
                    is_incomplete,
                }),
                is_piece: self.is_piece,
                ..DecodedText::plain(
                    Cow::Borrowed(&page.text),
                    visible.then(map),
                    Region::Body,
                    part,
                )
            });
        };
        let mut page = html::parse(&bytes, &mut |page| pass_on(page, true));
        let inner = if self.is_inner {
            None
        } else {
            page.shown_page()
        };
        pass_on(&mut page, false);
        if let Some(MappedBytes { bytes, map }) = inner {
            let map = OffsetMap::within(Some(&source_map), 0).then(map);
            let shown = DecodingSteps {
                is_inner: true,
                ..DecodingSteps::new(bytes, map)
            };
            shown.pages(None, part, sink);
        }
        page.unclosed.map(|unclosed| {
            let rest = Span::new(unclosed.rest, unclosed.rest);
            let rest = source_map.raw(rest).span.start;
            Unclosed { rest, ..unclosed }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_follows_its_surrounding_text() {
        let raw = "a\nbegin-base64 644 x\n\
                   YmVnaW4tYmFzZTY0IDY0NCB5CmFIUjBjRG92TDJFdVlpOGdhWE1nZEdWNGRB\n\
                   bz0KPT09PQpodHRwOi8vYy5kLyBpcyB0ZXh0Cg==\n\
                   ====\nb\n";
        let mut seen = Vec::new();
        let steps = DecodingSteps::new(raw.as_bytes(), OffsetMap::default());
        steps.texts(TextForm::Plain, None, None, &mut |text| {
            seen.push((text.bytes.len(), text.encoded.len()));
        });
        // A stretch inside another one stays text.
        assert_eq!(seen, [(raw.len(), 1), (73, 0)]);
    }

    #[test]
    fn a_header_names_the_base_of_a_page() {
        let base = |header: &str| {
            let fields = HeaderFields::of(header.as_bytes(), usize::MAX);
            let base = named_base(header.as_bytes(), &fields, None)?;
            Some(String::from_utf8(base.to_vec()).unwrap())
        };
        let location = "Content-Location: http://a.example/b\n c/d.html\n\n";
        assert_eq!(
            base(location).as_deref(),
            Some("http://a.example/bc/d.html")
        );
        let both = format!("Content-Base: \"http://b.example/\"\n{location}");
        assert_eq!(base(&both).as_deref(), Some("http://b.example/"));
        assert_eq!(base("Content-Location: d.html\n\n"), None);
    }

    #[test]
    fn a_multipart_names_the_base_of_its_parts() {
        let base = |header: &str, around: &str| {
            let (header, around) = (header.as_bytes(), Arc::from(around.as_bytes()));
            let base = named_base(header, &HeaderFields::of(header, usize::MAX), Some(&around))?;
            Some(String::from_utf8_lossy(&base).into_owned())
        };
        let around = "http://a.example/b/c";
        for (header, expected) in [
            ("\n", around),
            ("Content-Location: cid:x@y\n\n", around),
            ("Content-Location: d\n\n", "http://a.example/b/d"),
            (
                "Content-Location: http://e.example/\n\n",
                "http://e.example/",
            ),
        ] {
            assert_eq!(base(header, around).as_deref(), Some(expected), "{header}");
        }
        assert_eq!(base("\n", &"x".repeat(AROUND_BYTES + 1)), None);
        let long = format!("Content-Location: {}\n\n", "x".repeat(1 << 20));
        assert!(base(&long, around).unwrap().len() <= 2 * AROUND_BYTES);
    }
}
