//! One MIME part: its description by its header, its number in the message, its content type, which
//! decides whether it is a text, and its body, decoded by each transfer encoding that it may be in.

use std::borrow::Cow;
use std::sync::Arc;

use mailparse::ParsedContentType;

use super::field_names::KnownField;
use super::header::{HeaderFields, field_text};
use super::html::ParsedHtml;
use super::part_kind::{MESSAGES, TextForm, text_form};
use super::transfer::{TransferEncoding, base64, quoted_printable, unflow, unfold, unstuff};
use super::{DecodedText, HtmlPage, LineLayout, MappedBytes, OffsetMap, Region, charset, html};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::limits::{CONTENT_TYPE_FIELDS, NAME_BYTES, TEXT_BYTES};
use crate::span::{ByteMap, Span};
use crate::split::text_border;

/// One MIME part, as its header describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MimePart {
    /// Its number: `1`, `2.1`. A message inside a part counts as one level.
    pub path: String,
    /// Its media type in lower case; `text/plain` if its header names none.
    pub media_type: String,
    /// Its charset as written, if its header names one.
    pub charset: Option<String>,
    /// Its transfer encoding in lower case; `7bit` if its header names none.
    pub encoding: String,
    /// Its name, if its media type is of no text and its header names one.
    pub name: Option<String>,
    /// The Message-ID of the innermost message inside a part that this part belongs to.
    pub message_id: Option<String>,
    /// The layout of its text; [`TextForm::Other`] if its media type is of no text.
    pub(super) form: TextForm,
    /// The names of the member that holds it, from the outermost archive inwards; `None` outside the
    /// archives in attachments.
    pub member: Option<Arc<[Vec<u8>]>>,
    /// The transfer encoding of the outermost encoded attachment that holds it.
    pub(super) outer_encoding: Option<String>,
    /// Transfer encodings that its header names after the first one.
    pub(super) other_encodings: Vec<TransferEncoding>,
}

/// The number of a part or of a message: one component per level of nesting.
#[derive(Clone, Debug, Default)]
pub(super) struct PartNumber {
    components: Vec<usize>,
    /// `true` for a message, the message inside a part included; `false` for a part of a multipart.
    is_message: bool,
}

/// The message inside a part that other parts belong to.
#[derive(Clone, Debug, Default)]
pub(super) struct EnclosingMessage {
    /// Its Message-ID, shortened as in records.
    message_id: Option<String>,
    /// Number of messages inside parts that it is nested in, itself included; 0 for the outermost
    /// message.
    pub(super) depth: usize,
    /// The transfer encoding of the outermost encoded attachment that holds it.
    encoding: Option<String>,
    /// The names of the member that it is in, of an archive in an attachment.
    member: Option<Arc<[Vec<u8>]>>,
    /// Number of archives and compressed files that it is in.
    pub(super) containers: usize,
}

impl MimePart {
    /// Describes the part whose header is `fields`, ranges of `raw`.
    pub(super) fn new(
        raw: &[u8],
        fields: &HeaderFields,
        number: &PartNumber,
        default_type: DefaultType,
        enclosing: &EnclosingMessage,
    ) -> MimePart {
        let content = ContentType::of_header(raw, fields, default_type);
        let mut encodings = encoding_names(raw, fields).into_iter();
        MimePart {
            path: number.body_path(),
            media_type: content.media_type,
            charset: content.charset,
            encoding: encodings.next().map_or("7bit".to_owned(), shortened),
            other_encodings: encodings
                .map(|name| TransferEncoding::named(&name))
                .collect(),
            name: None,
            message_id: enclosing.message_id.clone(),
            member: enclosing.member.clone(),
            outer_encoding: enclosing.encoding.clone(),
            form: content.form,
        }
    }

    /// The part that bytes before, between or after the parts of the multipart `number` are
    /// attributed to.
    pub(super) fn between_parts(number: Option<&PartNumber>) -> MimePart {
        MimePart {
            path: number.map_or(String::new(), PartNumber::path),
            media_type: "text/plain".to_owned(),
            encoding: "7bit".to_owned(),
            ..MimePart::default()
        }
    }

    /// A member of an archive in the attachment `number`, of the media type `media_type`.
    #[cfg(feature = "archives")]
    pub(super) fn member(
        media_type: &str,
        form: TextForm,
        number: &PartNumber,
        enclosing: &EnclosingMessage,
    ) -> MimePart {
        MimePart {
            path: number.path(),
            media_type: media_type.to_owned(),
            encoding: "binary".to_owned(),
            message_id: enclosing.message_id.clone(),
            member: enclosing.member.clone(),
            outer_encoding: enclosing.encoding.clone(),
            form,
            ..MimePart::default()
        }
    }

    /// A source that is an HTML page. `charset` is the one that the page names.
    pub(super) fn page(charset: Option<String>) -> MimePart {
        MimePart {
            path: PartNumber::outermost().body_path(),
            media_type: "text/html".to_owned(),
            charset: charset.map(|charset| repeated_name(&charset).to_owned()),
            encoding: "8bit".to_owned(),
            form: TextForm::Html,
            ..MimePart::default()
        }
    }

    /// A source that is a document of this type.
    pub(super) fn document(media_type: &str) -> MimePart {
        MimePart {
            path: PartNumber::outermost().body_path(),
            media_type: media_type.to_owned(),
            encoding: "binary".to_owned(),
            ..MimePart::default()
        }
    }

    /// This part, read as plain text together with everything that follows it.
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

    /// The first transfer encoding that its header names.
    pub(super) fn transfer_encoding(&self) -> TransferEncoding {
        TransferEncoding::named(&self.encoding)
    }

    /// The transfer encoding of its bytes in the source: its own, or the one of the encoded
    /// attachment that holds it.
    #[must_use]
    pub fn source_encoding(&self) -> &str {
        self.outer_encoding.as_deref().unwrap_or(&self.encoding)
    }

    /// Returns `true` if its body consists of parts.
    pub(super) fn is_multipart(&self) -> bool {
        self.media_type.starts_with("multipart/")
    }

    /// Returns `true` if its body is a message.
    pub(super) fn is_message(&self) -> bool {
        MESSAGES.contains(&self.media_type.as_str())
    }
}

impl PartNumber {
    /// The number of the outermost message.
    pub(super) fn outermost() -> PartNumber {
        PartNumber::default().message()
    }

    /// The number of the message inside this part.
    pub(super) fn message(mut self) -> PartNumber {
        self.is_message = true;
        self
    }

    /// The number of the `index`-th part of this multipart; the first one is 1.
    pub(super) fn part(&self, index: usize) -> PartNumber {
        let components = self.components.iter().copied().chain([index]).collect();
        PartNumber {
            components,
            is_message: false,
        }
    }

    /// The number in writing: `2.1`; empty for the outermost message.
    fn path(&self) -> String {
        let mut path = String::new();
        for number in &self.components {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&number.to_string());
        }
        path
    }

    /// The number of the body in writing. The body of a message without parts is its first part.
    fn body_path(&self) -> String {
        let mut path = self.path();
        if self.is_message {
            path.push_str(if path.is_empty() { "1" } else { ".1" });
        }
        path
    }
}

impl EnclosingMessage {
    /// The message inside a part of this one, whose Message-ID is `message_id`.
    pub(super) fn inner(&self, message_id: Option<&str>) -> EnclosingMessage {
        EnclosingMessage {
            message_id: message_id.map(|id| repeated_name(id.trim()).to_owned()),
            depth: self.depth + 1,
            encoding: self.encoding.clone(),
            member: self.member.clone(),
            containers: self.containers,
        }
    }

    /// This message, as the one around the decoded bytes of its attachment `part`, which begin anew
    /// at `depth`.
    pub(super) fn around(&self, part: &MimePart, depth: usize) -> EnclosingMessage {
        let is_encoded = part.transfer_encoding() != TransferEncoding::Identity;
        let encoding = || is_encoded.then(|| part.encoding.clone());
        EnclosingMessage {
            message_id: self.message_id.clone(),
            depth,
            encoding: self.encoding.clone().or_else(encoding),
            member: self.member.clone(),
            containers: self.containers,
        }
    }

    /// This message, as the one around a member of an archive; `names` are those of the member.
    #[cfg(feature = "archives")]
    pub(super) fn around_member(&self, names: &Arc<[Vec<u8>]>) -> EnclosingMessage {
        let before = self.member.iter().flat_map(|names| names.iter());
        let all: Vec<_> = before.chain(names.iter()).cloned().collect();
        EnclosingMessage {
            member: (!all.is_empty()).then(|| all.into()),
            containers: self.containers + names.len().max(1),
            ..self.clone()
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

/// The type of a part whose header names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DefaultType {
    /// `text/plain` (RFC 2045 section 5.2).
    Text,
    /// `message/rfc822`, in a digest (RFC 2046 section 5.1.5).
    Message,
}

/// Returns the value of a parameter by its name in lower case.
type ContentParameters<'p> = dyn Fn(&str) -> Option<&'p str> + 'p;

impl ContentType {
    /// The content type of a header whose fields are ranges of `raw`.
    ///
    /// Of several types one is chosen by its content: a multipart first, then text or a message,
    /// then any other.
    fn of_header(raw: &[u8], fields: &HeaderFields, default_type: DefaultType) -> ContentType {
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
        let all = fields
            .each(KnownField::ContentType)
            .take(CONTENT_TYPE_FIELDS)
            .map(|field| mailparse::parse_content_type(&field_text(field.value.of(raw))));
        let rank = |content: &ParsedContentType| match content.mimetype.split('/').next() {
            Some("multipart") => 0,
            Some("text" | "message") => 1,
            _ => 2,
        };
        match (all.min_by_key(rank), default_type) {
            (Some(parsed), _) => ContentType::parsed(&parsed),
            (None, DefaultType::Text) => ContentType::new("text/plain", &|_| None),
            (None, DefaultType::Message) => ContentType::new("message/rfc822", &|_| None),
        }
    }

    /// Parses a type with at most one parameter, both of letters, digits and `-._/+`; `None` for
    /// any other text.
    ///
    /// The result is the one of [`ContentType::parsed`], without its cost.
    fn simple(text: &str) -> Option<ContentType> {
        let is_simple = |word: &str| {
            let belongs = |byte: u8| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'/' | b'+')
            };
            !word.is_empty() && word.bytes().all(belongs)
        };
        let (media_type, rest) = text.split_once(';').unwrap_or((text, ""));
        if !is_simple(media_type) {
            return None;
        }
        if rest.is_empty() {
            return Some(ContentType::new(media_type, &|_| None));
        }
        let (name, value) = rest.trim_ascii_start().split_once('=')?;
        let value = value
            .strip_prefix('"')
            .map_or(Some(value), |value| value.strip_suffix('"'))?;
        (is_simple(name) && is_simple(value)).then(|| {
            ContentType::new(media_type, &|other| {
                name.eq_ignore_ascii_case(other).then_some(value)
            })
        })
    }

    /// Converts what `mailparse` read.
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
            ),
            charset: charset.map(|charset| repeated_name(charset).to_owned()),
            media_type: shortened(media_type),
        }
    }
}

/// Returns the names of the header's transfer encodings, in lower case, one for each encoding.
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

/// Returns the first [`NAME_BYTES`] characters of a name: as much as records repeat.
pub(super) fn repeated_name(name: &str) -> &str {
    if name.len() <= NAME_BYTES {
        return name;
    }
    name.char_indices()
        .nth(NAME_BYTES)
        .map_or(name, |(end, _)| &name[..end])
}

/// Truncates an owned name to what [`repeated_name`] returns.
fn shortened(mut name: String) -> String {
    name.truncate(repeated_name(&name).len());
    name
}

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
    /// From offsets in `raw` to those in the message.
    offset_map: OffsetMap,
    part: &'b MimePart,
    /// `true` if lines that begin with a dot are dot-stuffed (RFC 3977 section 3.1.1).
    is_dot_stuffed: bool,
    is_mislabelled_base64: bool,
}

impl<'b> PartBody<'b> {
    /// The body of `part`: `raw`, from which `offset_map` leads to the message.
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

    /// Returns its decoded bytes, by the first transfer encoding that its header names, and the map
    /// back to the message.
    pub(super) fn bytes(self) -> (Vec<u8>, OffsetMap) {
        let steps = self.transferred(self.part.transfer_encoding());
        (steps.bytes.into_owned(), steps.offset_map)
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

    /// Undoes what was done for the transfer of the body.
    fn transferred(&self, encoding: TransferEncoding) -> DecodingSteps<'b> {
        let mut steps = DecodingSteps::new(self.raw, self.offset_map.clone());
        if self.is_dot_stuffed {
            steps.apply_if(unstuff);
        }
        match encoding {
            TransferEncoding::Identity => {}
            TransferEncoding::QuotedPrintable => steps.apply(quoted_printable),
            TransferEncoding::Base64 => steps.apply(base64),
        }
        steps
    }

    fn decode_as(
        &self,
        encoding: TransferEncoding,
        has_other_readings: bool,
        sink: &mut dyn FnMut(DecodedText<'_>),
    ) -> Option<OpenMarkup> {
        let steps = self.transferred(encoding);
        let form = match self.part.form {
            TextForm::Plain | TextForm::Flowed(_) if is_eudora_page(&steps.bytes) => TextForm::Html,
            form => form,
        };
        let sink = &mut |text: DecodedText<'_>| {
            sink(DecodedText {
                has_other_readings,
                ..text
            });
        };
        if form == TextForm::Html {
            return steps.pages(self.part, sink);
        }
        let charset = self.part.charset.as_deref();
        steps.pieces(form, charset, &mut |mut piece| {
            piece.convert(charset);
            match form {
                TextForm::Flowed(delsp) => piece.apply_if(|text| unflow(text, delsp)),
                TextForm::Folded => piece.apply(unfold),
                TextForm::Plain | TextForm::Other | TextForm::Html => {}
            }
            sink(piece.text(self.part));
        });
        None
    }
}

/// Returns `true` for a body that Eudora stored: it takes HTML out of its parts and puts it between
/// `<x-html>` and `</x-html>`.
fn is_eudora_page(text: &[u8]) -> bool {
    const START: &[u8] = b"<x-html>";
    let text = text.trim_ascii_start();
    text.get(..START.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(START))
}

/// Passes the range `body` of a source that is an HTML page to `sink`. Returns what the page leaves
/// open.
pub(super) fn page<'m>(
    raw: &'m [u8],
    body: Span,
    part: &'m MimePart,
    sink: &mut dyn FnMut(DecodedText<'_>),
) -> Option<OpenMarkup> {
    DecodingSteps::new(body.of(raw), OffsetMap::verbatim(body.start)).pages(part, sink)
}

/// Passes a page in UTF-8 to `sink` that was made of something else. `offset_map` leads from the page to that.
pub(super) fn converted_page(
    page: Vec<u8>,
    offset_map: OffsetMap,
    part: &MimePart,
    sink: &mut dyn FnMut(DecodedText<'_>),
) {
    let steps = DecodingSteps {
        bytes: page.into(),
        offset_map,
        is_piece: false,
    };
    steps.pages(part, sink);
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

/// Returns the position at which to cut a text, after its start: as [`text_border`] does; where no
/// line and no word ends, before the last URL and before a word that may begin one.
fn piece_border(text: &[u8]) -> usize {
    /// Bytes at the end that are searched for a URL: as much as a record has of one.
    const URL_BYTES: usize = 16 << 10;
    /// Bytes of a scheme, or of a host without one.
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

/// Returns the position at which to cut an HTML text: before a tag, in its second half.
fn page_border(page: &[u8]) -> usize {
    let end = piece_border(page);
    memchr::memrchr(b'<', &page[end / 2..end]).map_or(end, |at| end / 2 + at)
}

/// A text and its offset map, after some of the decoding steps.
struct DecodingSteps<'r> {
    bytes: Cow<'r, [u8]>,
    offset_map: OffsetMap,
    /// `true` for a piece of a longer text.
    is_piece: bool,
}

impl<'r> DecodingSteps<'r> {
    fn new(raw: &'r [u8], offset_map: OffsetMap) -> DecodingSteps<'r> {
        DecodingSteps {
            bytes: raw.into(),
            offset_map,
            is_piece: false,
        }
    }

    /// Passes the text to `sink`: in pieces if it has more than [`TEXT_BYTES`] and is a page, or is to
    /// be converted. A text whose charset has no ASCII bytes is not divided.
    fn pieces(
        self,
        form: TextForm,
        charset: Option<&str>,
        sink: &mut dyn FnMut(DecodingSteps<'_>),
    ) {
        let is_page = form == TextForm::Html;
        if self.bytes.len() <= TEXT_BYTES
            || !is_page && std::str::from_utf8(&self.bytes).is_ok()
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
            });
            at += len;
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
            is_piece: self.is_piece,
            ..DecodedText::plain(self.bytes, self.offset_map, Region::Body, Some(part))
        }
    }

    /// Passes the visible text of the HTML text to `sink`, which may name its charset itself.
    /// Returns what it leaves open.
    fn pages(self, part: &MimePart, sink: &mut dyn FnMut(DecodedText<'_>)) -> Option<OpenMarkup> {
        let declared = || html::declared_charset(&self.bytes);
        let charset = part.charset.clone().or_else(declared);
        let (mut base, mut open) = (None, None);
        self.pieces(TextForm::Html, charset.as_deref(), &mut |mut piece| {
            piece.convert(charset.as_deref());
            open = open.take().or(piece.page(part, &mut base, sink));
        });
        open
    }

    /// Passes the visible text of a page or of a piece of one to `sink`. `base` is the base that the
    /// pieces before it name.
    fn page(
        self,
        part: &MimePart,
        base: &mut Option<Vec<u8>>,
        sink: &mut dyn FnMut(DecodedText<'_>),
    ) -> Option<OpenMarkup> {
        let DecodingSteps {
            bytes,
            offset_map,
            is_piece,
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
                    base: base.clone(),
                    is_incomplete,
                }),
                is_piece,
                ..DecodedText::plain(
                    Cow::Borrowed(&page.text),
                    visible.then(map),
                    Region::Body,
                    Some(part),
                )
            });
        };
        let mut page = html::parse(&bytes, &mut |page| pass_on(page, true));
        pass_on(&mut page, false);
        page.unclosed.map(|unclosed| OpenMarkup {
            what: unclosed.what,
            at: source_map
                .raw(Span::new(unclosed.rest, unclosed.rest))
                .span
                .start,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn simple_content_types_are_read_as_mailparse_reads_them(
            text in "(text/plain|TEXT/html|text|a/b+c|application/octet-stream)?(;|; |;\t|;\n |;\r\n\t| ;)?(charset|Format|charset\\*|name|name\\*0|delsp)?(=| =|= )?(\"?[a-zA-Z0-9./_+ ;=-]{0,6}\"?|utf-8|Flowed|yes|a\\.txt|\"us-ascii\"|=\\?x\\?)(;| )?"
        ) {
            if let Some(content) = ContentType::simple(&text) {
                proptest::prop_assert_eq!(content, ContentType::parsed(&mailparse::parse_content_type(&field_text(text.as_bytes()))));
            }
        }
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
