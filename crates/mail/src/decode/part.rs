//! MIME parts: the description of a part from its header, the part's number in the message, the
//! content type, which decides whether the part is text, and the body, decoded with each possible
//! transfer encoding.

use std::borrow::Cow;
use std::sync::Arc;

use mailparse::ParsedContentType;

use super::binary::uudecode;
use super::field_names::KnownField;
use super::form::TextForm;
use super::header::{HeaderFields, field_text};
use super::html::{ParsedHtml, Unclosed};
use super::part_kind::{MESSAGES, text_form};
use super::stretch::{is_marked, stretches};
use super::transfer::{TransferEncoding, base64, quoted_printable, unfold, unstuff};
use super::{
    Author, AuthorKind, DecodedText, HtmlPage, LineLayout, MappedBytes, OffsetMap, Region, charset,
    html,
};
use crate::lines::{is_listed, text_border};
use urlspool_text::limits::{CONTENT_TYPE_FIELDS, NAME_BYTES, TEXT_BYTES};
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
    /// Names of the surrounding archive member, from the outermost archive inwards; `None` outside
    /// attached archives.
    pub member: Option<Arc<[Vec<u8>]>>,
    /// Transfer encoding of the outermost surrounding attachment that is encoded.
    pub(super) outer_encoding: Option<String>,
    /// Transfer encodings that the header names after the first one.
    pub(super) other_encodings: Vec<TransferEncoding>,
    /// Base of relative links, if the header names one and the part is a page.
    pub(super) base: Option<Vec<u8>>,
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
    /// Kind of the messages in the parts at this place.
    pub(super) messages: AuthorKind,
    /// Number of messages inside parts that it is nested in; 0 in the outermost message.
    pub(super) depth: usize,
    /// Transfer encoding of the outermost surrounding attachment that is encoded.
    pub(super) encoding: Option<String>,
    /// Names of the surrounding member of an attached archive.
    pub(super) member: Option<Arc<[Vec<u8>]>>,
    /// Number of surrounding archives and compressed files.
    #[cfg_attr(
        not(feature = "files"),
        expect(dead_code, reason = "without, none is read")
    )]
    pub(super) containers: usize,
}

impl MimePart {
    /// Describes the part with the header `fields`, ranges of `raw`.
    pub(super) fn new(
        raw: &[u8],
        fields: &HeaderFields,
        place: &PartPlace,
        default_type: &str,
    ) -> MimePart {
        let content = ContentType::of_header(raw, fields, default_type);
        let mut encodings = encoding_names(raw, fields).into_iter();
        MimePart {
            path: place.body_path(),
            media_type: content.media_type,
            charset: content.charset,
            encoding: encodings.next().map_or("7bit".to_owned(), shortened),
            other_encodings: encodings
                .map(|name| TransferEncoding::named(&name))
                .collect(),
            name: None,
            message_id: place.message_id.clone(),
            author: place.author.clone(),
            member: place.member.clone(),
            outer_encoding: place.encoding.clone(),
            base: (content.form == TextForm::Html)
                .then(|| named_base(raw, fields))
                .flatten(),
            form: content.form,
        }
    }

    /// Returns the part for bytes before, between or after the parts of the multipart at `place`.
    pub(super) fn between_parts(place: Option<&PartPlace>) -> MimePart {
        MimePart {
            path: place.map_or(String::new(), |place| place.path.clone()),
            author: place.and_then(|place| place.author.clone()),
            media_type: "text/plain".to_owned(),
            encoding: "7bit".to_owned(),
            ..MimePart::default()
        }
    }

    /// Describes a source that is an HTML page. `charset` is the one named by the page.
    pub(super) fn page(charset: Option<String>) -> MimePart {
        MimePart {
            path: PartPlace::outermost().body_path(),
            media_type: "text/html".to_owned(),
            charset: charset.map(|charset| repeated_name(&charset).to_owned()),
            encoding: "8bit".to_owned(),
            form: TextForm::Html,
            ..MimePart::default()
        }
    }

    /// Describes a source that is a document of this type.
    pub(super) fn document(media_type: &str) -> MimePart {
        MimePart {
            path: PartPlace::outermost().body_path(),
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
    /// Returns the place of the outermost message.
    pub(super) fn outermost() -> PartPlace {
        PartPlace {
            is_message: true,
            ..PartPlace::default()
        }
    }

    /// Returns the place of the message `author` inside this part.
    pub(super) fn message(self, author: Option<Author>) -> PartPlace {
        let id = author.as_ref().and_then(|author| author.info.id.as_deref());
        PartPlace {
            is_message: true,
            message_id: id.map(|id| repeated_name(id).to_owned()),
            author: author.map(Arc::new).or(self.author),
            messages: AuthorKind::default(),
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

/// A content type (RFC 2045 section 5.1).
#[derive(Debug, PartialEq)]
pub(super) struct ContentType {
    /// Type and subtype, in lower case.
    pub(super) media_type: String,
    pub(super) charset: Option<String>,
    pub(super) form: TextForm,
}

/// Type of a part whose header names none (RFC 2045 section 5.2).
pub(super) const DEFAULT_TYPE: &str = "text/plain";
/// Default type in a digest (RFC 2046 section 5.1.5).
pub(super) const DEFAULT_TYPE_IN_DIGEST: &str = "message/rfc822";

/// Returns the value of a parameter by its name in lower case.
type ContentParameters<'p> = dyn Fn(&str) -> Option<&'p str> + 'p;

impl ContentType {
    /// Returns the content type of a header whose fields are ranges of `raw`.
    ///
    /// If there are several types, their content decides: multiparts come first, then text and
    /// messages, then all others.
    pub(super) fn of_header(raw: &[u8], fields: &HeaderFields, default_type: &str) -> ContentType {
        let mut values = fields
            .each(KnownField::ContentType)
            .map(|field| field.value.of(raw));
        let first = values.next();
        // Nearly all headers have one type with at most one parameter. A simple type has no line
        // break to unfold.
        let only = first
            .filter(|_| values.next().is_none())
            .and_then(|bytes| std::str::from_utf8(bytes).ok());
        if let Some(content) = only.and_then(ContentType::simple) {
            return content;
        }
        let all = fields.content_types(raw).take(CONTENT_TYPE_FIELDS);
        let all = all.map(|(_, content)| content);
        let chosen = all.min_by_key(|content| match content.mimetype.split('/').next() {
            Some("multipart") => 0,
            Some("text" | "message") => 1,
            _ => 2,
        });
        match chosen {
            Some(parsed) => ContentType::parsed(&parsed),
            None => ContentType::new(default_type, &|_| None),
        }
    }

    /// Parses a type with at most one parameter, both made of letters, digits and `-._/+`. Returns
    /// `None` for any other text.
    ///
    /// The result equals [`ContentType::parsed`], at a lower cost.
    fn simple(text: &str) -> Option<ContentType> {
        let (media_type, rest) = text.split_once(';').unwrap_or((text, ""));
        if !is_simple_word(media_type) {
            return None;
        }
        if rest.is_empty() {
            return Some(ContentType::new(media_type, &|_| None));
        }
        let (name, value) = rest.trim_ascii_start().split_once('=')?;
        let value = value
            .strip_prefix('"')
            .map_or(Some(value), |value| value.strip_suffix('"'))?;
        (is_simple_word(name) && is_simple_word(value)).then(|| {
            ContentType::new(media_type, &|other| {
                name.eq_ignore_ascii_case(other).then_some(value)
            })
        })
    }

    /// Converts the result of `mailparse`.
    fn parsed(parsed: &ParsedContentType) -> ContentType {
        ContentType::new(&parsed.mimetype, &|name| {
            parsed.params.get(name).map(String::as_str)
        })
    }

    fn new(media_type: &str, parameters: &ContentParameters<'_>) -> ContentType {
        // Mailers of the early 1990s wrote `text` without a subtype.
        let is_whole = media_type.contains('/');
        let media_type = if is_whole {
            media_type.to_ascii_lowercase()
        } else {
            "text/plain".to_owned()
        };
        let charset = parameters("charset").filter(|charset| !charset.is_empty());
        let parameter =
            |name: &str| parameters(name).map(|value| value.trim().to_ascii_lowercase());
        ContentType {
            form: text_form(
                &media_type,
                parameter("format").as_deref(),
                parameter("delsp").as_deref(),
                parameters("name"),
            ),
            charset: charset.map(|charset| repeated_name(charset).to_owned()),
            media_type: shortened(media_type),
        }
    }
}

fn is_simple_word(word: &str) -> bool {
    let mut bytes = word.bytes();
    !word.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-._/+".contains(&byte))
}

/// Returns the names of the header's transfer encodings in lower case, without duplicate encodings.
///
/// A body with two encodings is decoded with both.
fn encoding_names(raw: &[u8], fields: &HeaderFields) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for field in fields.each(KnownField::ContentTransferEncoding) {
        let name = field_text(field.value.of(raw)).trim().to_ascii_lowercase();
        let encoding = TransferEncoding::named(&name);
        if !names
            .iter()
            .any(|known| TransferEncoding::named(known) == encoding)
        {
            names.push(name);
        }
    }
    names
}

/// Returns the base for relative links of a page, as named in the header (RFC 2557, section 5; RFC
/// 2110, section 4.2). Removes white space, which comes from folding, and the quotes or brackets
/// that some programs write around the URL.
fn named_base(raw: &[u8], fields: &HeaderFields) -> Option<Vec<u8>> {
    let field = ["Content-Base", "Content-Location"]
        .iter()
        .find_map(|name| fields.first_named(raw, name))?;
    let value = field.value.of(raw).iter().copied();
    let base = value.filter(|byte| !byte.is_ascii_whitespace() && !b"\"<>".contains(byte));
    Some(base.collect::<Vec<u8>>()).filter(|base| base.contains(&b':'))
}

/// Returns the first [`NAME_BYTES`] characters of a name, the length kept in records.
pub(super) fn repeated_name(name: &str) -> &str {
    if name.len() <= NAME_BYTES {
        return name;
    }
    name.char_indices()
        .nth(NAME_BYTES)
        .map_or(name, |(end, _)| &name[..end])
}

/// Truncates an owned name like [`repeated_name`].
fn shortened(mut name: String) -> String {
    name.truncate(repeated_name(&name).len());
    name
}

/// Media types whose bodies consist of header fields: delivery reports (RFC 3464), receipts (RFC
/// 8098), abuse reports (RFC 5965), and headers without their messages (RFC 6522).
const FIELDS: [&str; 6] = [
    "message/delivery-status",
    "message/global-delivery-status",
    "message/disposition-notification",
    "message/feedback-report",
    "text/rfc822-headers",
    "message/global-headers",
];

/// Body of one part.
pub(super) struct PartBody<'b> {
    /// Raw bytes.
    raw: &'b [u8],
    /// Map from offsets in `raw` to offsets in the message.
    offset_map: OffsetMap,
    part: &'b MimePart,
    /// `true` if lines that start with a dot are dot-stuffed (RFC 3977 section 3.1.1).
    is_dot_stuffed: bool,
    is_mislabelled_base64: bool,
}

impl<'b> PartBody<'b> {
    /// Returns the body `raw` of `part`. `offset_map` maps `raw` to the message.
    pub(super) fn new(
        raw: &'b [u8],
        offset_map: OffsetMap,
        is_dot_stuffed: bool,
        part: &'b MimePart,
    ) -> PartBody<'b> {
        PartBody {
            raw,
            offset_map,
            part,
            is_dot_stuffed,
            is_mislabelled_base64: part.transfer_encoding() == TransferEncoding::Base64
                && memchr::memmem::find(raw, b"://").is_some(),
        }
    }

    /// Returns the bytes decoded with the first transfer encoding named by the header, and the map
    /// back to the message.
    pub(super) fn bytes(self) -> (Vec<u8>, OffsetMap) {
        let steps = self.transferred(self.part.transfer_encoding());
        (steps.bytes.into_owned(), steps.offset_map)
    }

    /// Returns `true` if the body is declared as base64 but contains `://`. It is then plain text,
    /// because a colon is not a base64 digit.
    pub(super) fn is_mislabelled_base64(&self) -> bool {
        self.is_mislabelled_base64
    }

    /// Passes the body to `sink` once for each possible encoding: those that the header names, then
    /// plain text if the body is mislabelled as base64.
    ///
    /// Returns the construct left open by an HTML text in the first of these readings.
    pub(super) fn decode(&self, sink: &mut dyn FnMut(DecodedText<'_>)) -> Option<Unclosed> {
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

    /// Undoes all changes made for the transfer of the body.
    fn transferred(&self, encoding: TransferEncoding) -> DecodingSteps<'b> {
        let mut steps = DecodingSteps::new(self.raw, self.offset_map.clone());
        if self.is_dot_stuffed {
            steps.apply(unstuff(&steps.bytes));
        }
        steps.transferred(encoding);
        steps
    }

    fn decode_as(
        &self,
        encoding: TransferEncoding,
        has_other_readings: bool,
        sink: &mut dyn FnMut(DecodedText<'_>),
    ) -> Option<Unclosed> {
        let steps = self.transferred(encoding);
        let sink = &mut |text: DecodedText<'_>| {
            sink(DecodedText {
                has_other_readings,
                ..text
            });
        };
        let charset = self.part.charset.as_deref();
        steps.texts(self.part.form, charset, Some(self.part), sink)
    }
}

/// Passes a source without a header to `sink`, as a text whose form depends on its name or its
/// start.
pub(super) fn plain(raw: &[u8], form: TextForm, sink: &mut dyn FnMut(DecodedText<'_>)) {
    let steps = DecodingSteps::new(raw, OffsetMap::default());
    steps.texts(form, None, None, sink);
}

/// Passes the range `body` of a source that is an HTML page to `sink`. Returns the construct left
/// open by the page.
pub(super) fn page<'m>(
    raw: &'m [u8],
    body: Span,
    part: &'m MimePart,
    sink: &mut dyn FnMut(DecodedText<'_>),
) -> Option<Unclosed> {
    let steps = DecodingSteps::new(body.of(raw), OffsetMap::verbatim(body.start));
    steps.pages(part.charset.as_deref(), Some(part), sink)
}

/// Passes a UTF-8 page made from another source to `sink`. `offset_map` maps the page to that
/// source.
pub(super) fn converted_page(
    page: Vec<u8>,
    offset_map: OffsetMap,
    part: &MimePart,
    sink: &mut dyn FnMut(DecodedText<'_>),
) {
    let steps = DecodingSteps::new(page, offset_map);
    steps.pages(part.charset.as_deref(), Some(part), sink);
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
struct DecodingSteps<'r> {
    bytes: Cow<'r, [u8]>,
    offset_map: OffsetMap,
    /// `true` for a piece of a longer text.
    is_piece: bool,
    /// `true` for page source shown in another page, and for an encoded stretch of a text.
    is_inner: bool,
    /// Encoded stretches of the text.
    encoded: Vec<Span>,
}

impl<'r> DecodingSteps<'r> {
    fn new(raw: impl Into<Cow<'r, [u8]>>, offset_map: OffsetMap) -> DecodingSteps<'r> {
        DecodingSteps {
            bytes: raw.into(),
            offset_map,
            is_piece: false,
            is_inner: false,
            encoded: Vec::new(),
        }
    }

    /// Passes the text to `sink`, with the escapes of its form decoded. Returns the construct left
    /// open by a page.
    fn texts(
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
        self.pieces(form, charset, &mut |mut piece| {
            piece.convert(charset);
            if form == TextForm::Calendar {
                piece.apply(Some(unfold(&piece.bytes)));
            }
            let is_lines = matches!(form, TextForm::Plain | TextForm::Flowed(_) | TextForm::Json);
            let is_marked = is_lines && is_marked(&piece.bytes);
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
            let charset = stretch.charset.as_deref();
            if stretch.encoding != TransferEncoding::QuotedPrintable {
                steps.texts(stretch.form, charset, part, sink);
                continue;
            }
            // As a page, or in a charset with two bytes per character, a URL that can be read
            // without decoding could be lost.
            let charset = charset.filter(|label| !charset::is_wide(&steps.bytes, Some(label)));
            steps.pieces(TextForm::Plain, charset, &mut |mut piece| {
                piece.convert(charset);
                sink(piece.text(TextForm::Plain, part));
            });
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
    fn apply(&mut self, decoded: Option<MappedBytes>) {
        if let Some(MappedBytes { bytes, map }) = decoded {
            self.bytes = bytes.into();
            self.offset_map.maps.push(map);
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

    fn text<'p>(self, form: TextForm, part: Option<&'p MimePart>) -> DecodedText<'p>
    where
        'r: 'p,
    {
        let has_fields = |part: &MimePart| FIELDS.contains(&part.media_type.as_str());
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
    fn pages(
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
        let DecodingSteps {
            bytes,
            offset_map,
            is_piece,
            is_inner,
            ..
        } = self;
        let source_map = Arc::new(offset_map);
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
                    base: base.clone().or_else(|| part?.base.clone()),
                    is_incomplete,
                }),
                is_piece,
                ..DecodedText::plain(
                    Cow::Borrowed(&page.text),
                    visible.then(map),
                    Region::Body,
                    part,
                )
            });
        };
        let mut page = html::parse(&bytes, &mut |page| pass_on(page, true));
        let inner = if is_inner { None } else { page.shown_page() };
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
        plain(raw.as_bytes(), TextForm::Plain, &mut |text| {
            seen.push((text.bytes.len(), text.encoded.len()));
        });
        // A stretch inside another one stays text.
        assert_eq!(seen, [(raw.len(), 1), (73, 0)]);
    }

    proptest::proptest! {
        #[test]
        fn simple_content_types_agree_with_mailparse(
            text in "(text/plain|TEXT/html|text|a/b+c|application/octet-stream)?(;|; |;\t|;\n |;\r\n\t| ;)?(charset|Format|charset\\*|name|name\\*0|delsp)?(=| =|= )?(\"?[a-zA-Z0-9./_+ ;=-]{0,6}\"?|utf-8|Flowed|yes|a\\.txt|\"us-ascii\"|=\\?x\\?)(;| )?"
        ) {
            if let Some(content) = ContentType::simple(&text) {
                proptest::prop_assert_eq!(content, ContentType::parsed(&mailparse::parse_content_type(&field_text(text.as_bytes()))));
            }
        }
    }

    #[test]
    fn a_header_names_the_base_of_a_page() {
        let base = |header: &str| {
            let fields = HeaderFields::of(header.as_bytes(), usize::MAX);
            named_base(header.as_bytes(), &fields).map(|base| String::from_utf8(base).unwrap())
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
    fn usual_content_types_are_simple() {
        for text in [
            "text/plain",
            "text/plain; charset=utf-8",
            "TEXT/PLAIN;charset=\"US-ASCII\"",
            "a/b;\tc=d",
        ] {
            assert!(ContentType::simple(text).is_some(), "{text}");
        }
        for text in [
            "",
            "text/plain; a",
            "a/b; c=\"",
            "a/b; c=d; e=f",
            "a/b; c*=d",
            "a/b ; c=d",
            "a/b; c=d (e)",
        ] {
            assert!(ContentType::simple(text).is_none(), "{text}");
        }
    }
}
