//! The texts of a message: an iterative, bounded walk over its parts (RFC 2045, RFC 2046), with
//! offsets. Sources without a header are one text or page.
//!
//! A message in an attachment must be decoded first. It becomes a layer on a stack: the decoded
//! bytes and the walk over them. The layer below waits until that walk ends.
//!
//! `part` reads headers and decodes bodies, `header` decodes field values, and `part_kind` selects
//! the readers of attachments.

#[cfg(feature = "files")]
mod attached_archive;

use std::rc::Rc;
use std::sync::Arc;

use super::archived_page;
use super::boundaries::{
    BoundaryLine, OpenMultipart, boundary_before, guessed_boundary, holds_boundary,
    named_boundaries,
};
use super::external_body::{EXTERNAL_BODY, external_body};
use super::field_names::KnownField;
use super::form::TextForm;
use super::header::{HeaderFields, decoded_value, field_text, may_hold_url};
use super::html::{Unclosed, declared_charset};
use super::part::{DEFAULT_TYPE, DecodingSteps, MimePart, PartBody, PartPlace, repeated_name};
use super::part_kind::{PartReader, reader};
use super::transfer::TransferEncoding;
use super::{
    AttachmentPolicy, Author, AuthorKind, DecodeReport, DecodedText, LineLayout, OffsetMap, Region,
    SkippedPart, TextPolicy,
};
use crate::documents::{DocumentContent, DocumentKind, DocumentReading, read_document};
use crate::lines::{begins_with, is_listed};
use crate::split::{Block, Extent, Format, HeaderForm, Message, SplitOutput, messages};
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};
use urlspool_text::limits::{ATTACHED_RATIO, HEADER_FIELDS, Limits};
use urlspool_text::origin::WebPage;
use urlspool_text::planted_faults::{PlantedFault, panic_at_mark};
use urlspool_text::span::Span;
use urlspool_text::unpack_balance::UnpackBalance;

/// Source of the walk: the message itself, or an attachment in the layer below.
struct Layer<'m> {
    reader: Box<dyn LayerReader + 'm>,
    /// Memory in bytes held by this layer, without the message itself and the layers below.
    held_bytes: usize,
}

impl<'m> Layer<'m> {
    fn new(reader: impl LayerReader + 'm, held_bytes: usize) -> Layer<'m> {
        let reader = Box::new(reader);
        Layer { reader, held_bytes }
    }
}

/// Content of a layer, and the position of the walk in it.
trait LayerReader {
    /// Reads up to the next attachment, which is returned, or to the end.
    fn advance(&mut self, state: &mut WalkState<'_>) -> Option<Layer<'static>>;
}

/// A message and the position of the walk in it.
struct EntityLayer<'m> {
    bytes: LayerBytes<'m>,
    /// Map from the layer's bytes to the message; `None` for the message itself.
    outer: Option<Arc<OffsetMap>>,
    /// `true` if lines that start with a dot are dot-stuffed.
    is_dot_stuffed: bool,
    open: Vec<OpenMultipart>,
    next: EntityStep,
}

enum LayerBytes<'m> {
    Message(&'m [u8]),
    /// A range of the decoded bytes of an attachment.
    Attached(Rc<Vec<u8>>, Span),
}

impl LayerBytes<'_> {
    fn get(&self) -> &[u8] {
        match self {
            LayerBytes::Message(bytes) => bytes,
            LayerBytes::Attached(bytes, span) => span.of(bytes),
        }
    }
}

impl EntityLayer<'_> {
    fn walk<'w, 's>(&'w mut self, state: &'w mut WalkState<'s>) -> PartWalk<'w, 's> {
        PartWalk {
            raw: self.bytes.get(),
            outer: self.outer.as_ref(),
            is_dot_stuffed: self.is_dot_stuffed,
            open: &mut self.open,
            state,
        }
    }
}

impl LayerReader for EntityLayer<'_> {
    fn advance(&mut self, state: &mut WalkState<'_>) -> Option<Layer<'static>> {
        loop {
            if let Some(attached) = state.attached.take() {
                return Some(attached);
            }
            self.next = match std::mem::replace(&mut self.next, EntityStep::End) {
                EntityStep::End => return None,
                EntityStep::Between { at } => self.walk(state).between(at),
                EntityStep::Entity(entity) => {
                    let walk = &mut self.walk(state);
                    let fields = walk.fields(entity.at);
                    walk.entity(entity, &fields)
                }
            };
        }
    }
}

/// A message or mailbox in an attachment, and its remaining messages.
struct MailboxLayer {
    bytes: Rc<Vec<u8>>,
    outer: Arc<OffsetMap>,
    /// Ranges of the remaining messages, in reverse order.
    messages: Vec<Span>,
    place: PartPlace,
    /// `true` if the messages are numbered; `false` for a single message.
    is_mailbox: bool,
    /// Number of messages read so far.
    read: usize,
}

impl LayerReader for MailboxLayer {
    /// Returns the layer of the next message.
    fn advance(&mut self, state: &mut WalkState<'_>) -> Option<Layer<'static>> {
        let span = self.messages.pop()?;
        self.read += 1;
        let place = if self.is_mailbox {
            self.place.part(self.read)
        } else {
            self.place.clone()
        };
        let message = EntityStart::of_message(0, span.of(&self.bytes), place, state.limits);
        let layer = EntityLayer {
            bytes: LayerBytes::Attached(Rc::clone(&self.bytes), span),
            outer: Some(Arc::new(OffsetMap::within(Some(&self.outer), span.start))),
            is_dot_stuffed: false,
            open: Vec::new(),
            next: EntityStep::Entity(message),
        };
        Some(Layer::new(layer, 0))
    }
}

/// Decoded bytes of an attachment.
struct AttachedBytes {
    bytes: Vec<u8>,
    /// Map from the bytes to the message.
    outer: Arc<OffsetMap>,
    place: PartPlace,
}

/// Next step of the walk over a layer.
enum EntityStep {
    /// A header and its body.
    Entity(EntityStart),
    /// Bytes outside all parts, up to a boundary.
    Between { at: usize },
    /// The end of the message.
    End,
}

/// Start of an entity (RFC 2045 section 2.4), which is a part or a message.
struct EntityStart {
    /// Offset of the header.
    at: usize,
    place: PartPlace,
}

impl EntityStart {
    /// Returns the start of the message `raw`, at `at`, in the part at `place`.
    fn of_message(at: usize, raw: &[u8], place: PartPlace, limits: &Limits) -> EntityStart {
        let fields = HeaderFields::of(raw, limits.header_bytes);
        let author = match place.messages {
            AuthorKind::Outer => None,
            kind => Author::of_header(kind, raw, &fields, limits.field_bytes),
        };
        EntityStart {
            at,
            place: place.message(author),
        }
    }
}

/// Passes every text of `message` to `sink`, in the order of the raw bytes. Calls `on_large` before
/// an attachment or document that unpacks to more than
/// [`LARGE_MESSAGE_BYTES`](urlspool_text::limits::LARGE_MESSAGE_BYTES).
///
/// `fields` are the fields of the message's own header, read by [`HeaderFields::in_message`].
/// Linear in the length of the message times the nesting depth of its parts, which is limited.
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
            let steps = DecodingSteps::new(message.raw, OffsetMap::default());
            let may_be_json = matches!(message.raw, [b'{' | b'[', ..]);
            let is_json = may_be_json && archived_page::fields(message.raw).is_some();
            let named = policy.file_form;
            let form = if is_json { TextForm::Json } else { named };
            let charset = message.page.and_then(stated_charset);
            steps.texts(form, charset.as_deref(), None, sink);
            DecodeReport {
                text_parts: 1,
                ..DecodeReport::default()
            }
        }
        HeaderForm::Page => page(message, policy, sink),
        HeaderForm::Document(kind) => {
            WalkState::new(message, limits, policy, sink, on_large).document_texts(kind)
        }
        HeaderForm::Present | HeaderForm::Copied { .. } => {
            WalkState::new(message, limits, policy, sink, on_large).message_texts(fields)
        }
    }
}

/// Returns the charset that a Web server states.
fn stated_charset(page: &WebPage) -> Option<String> {
    let charset = mailparse::parse_content_type(&page.content_type)
        .params
        .remove("charset");
    charset.filter(|charset| !charset.is_empty())
}

/// Decodes a source that is an HTML page.
fn page(
    message: &Message<'_>,
    policy: TextPolicy,
    sink: &mut dyn FnMut(DecodedText<'_>),
) -> DecodeReport {
    let charset = message.page.and_then(stated_charset);
    let charset = charset.or_else(|| declared_charset(message.raw));
    let base = message.page.map(|page| Arc::from(&*page.base));
    let part = MimePart {
        base: base.filter(|base: &Arc<[u8]>| !base.is_empty()),
        ..MimePart::page(charset)
    };
    let mut report = DecodeReport::default();
    if policy.skip_html {
        let raw = Span::new(0, message.raw.len());
        report.skipped_parts.push(SkippedPart::new(part, raw));
        return report;
    }
    let body = archived_page::body(message.raw);
    let steps = DecodingSteps::new(body.of(message.raw), OffsetMap::verbatim(body.start));
    let open = steps.pages(part.charset.as_deref(), Some(&part), sink);
    report.text_parts = 1;
    let diagnostic = open.map(|open| open.diagnostic(message.raw_start()));
    report.diagnostics.extend(diagnostic);
    report
}

/// State of the walk over all layers of a message.
pub(super) struct WalkState<'s> {
    message: &'s Message<'s>,
    limits: &'s Limits,
    policy: TextPolicy,
    sink: &'s mut dyn FnMut(DecodedText<'_>),
    /// Callback before content that unpacks to a large size.
    on_large: &'s mut dyn FnMut(),
    report: DecodeReport,
    /// The attachment to read next, before the rest of its layer.
    attached: Option<Layer<'static>>,
    /// Number of entities so far.
    parts: usize,
    /// Memory in bytes held by the layers.
    held_bytes: usize,
    /// The reporter of the last abuse report, and the author of the message that holds it. A
    /// message may have thousands of reports.
    reporter: Option<(Option<Arc<Author>>, Arc<Author>)>,
    /// `true` once the nesting limit was reached. The limit is reported once, because a message may
    /// have thousands of parts beyond it.
    is_nesting_reported: bool,
    /// Unpack balance of the message's archives and documents; `None` before the first.
    balance: Option<UnpackBalance>,
}

impl<'s> WalkState<'s> {
    pub(super) fn new(
        message: &'s Message<'s>,
        limits: &'s Limits,
        policy: TextPolicy,
        sink: &'s mut dyn FnMut(DecodedText<'_>),
        on_large: &'s mut dyn FnMut(),
    ) -> WalkState<'s> {
        WalkState {
            message,
            limits,
            policy,
            sink,
            on_large,
            report: DecodeReport::default(),
            attached: None,
            parts: 0,
            held_bytes: 0,
            reporter: None,
            is_nesting_reported: false,
            balance: None,
        }
    }

    /// Passes all texts of a message with the header `fields`, in the order of the raw bytes.
    pub(super) fn message_texts(mut self, fields: &HeaderFields) -> DecodeReport {
        let Message { raw, wire, .. } = *self.message;
        self.layers(LayerBytes::Message(raw), None, wire, fields);
        self.report
    }

    /// Passes the texts of a source that is a document.
    pub(super) fn document_texts(mut self, kind: DocumentKind) -> DecodeReport {
        let raw = Span::new(0, self.message.raw.len());
        let place = DocumentPlace {
            raw,
            offset: self.message.raw_start(),
            member: String::new(),
        };
        let whole = OffsetMap::whole(raw);
        match self.message.extent {
            Extent::Whole => {
                let bytes = self.message.raw;
                if let Some(inner) = self.document(kind, bytes, None, whole.clone(), &place) {
                    let balance = UnpackBalance::of_message(inner.len(), 0, self.limits);
                    self.balance = Some(balance);
                    let fields = HeaderFields::of(&inner, self.limits.header_bytes);
                    let all = Span::new(0, inner.len());
                    let inner = LayerBytes::Attached(Rc::new(inner), all);
                    self.layers(inner, Some(Arc::new(whole)), false, &fields);
                }
            }
            // The document is larger than the memory limit.
            Extent::FirstFragment => {
                let part = MimePart::document(kind.media_type());
                self.report.skipped_parts.push(SkippedPart::new(part, raw));
            }
            Extent::LaterFragment(_) => {}
        }
        self.report
    }

    /// Reads a message with the header `fields`, and its attachments. `outer` maps its bytes to the
    /// message in the source, unless it is that message.
    fn layers(
        &mut self,
        bytes: LayerBytes<'_>,
        outer: Option<Arc<OffsetMap>>,
        is_dot_stuffed: bool,
        fields: &HeaderFields,
    ) {
        panic_at_mark(PlantedFault::PanicInMessage, bytes.get());
        let outermost = EntityStart {
            at: 0,
            place: PartPlace {
                is_message: true,
                ..PartPlace::default()
            },
        };
        let mut first = EntityLayer {
            bytes,
            outer,
            is_dot_stuffed,
            open: Vec::new(),
            next: EntityStep::End,
        };
        first.next = first.walk(self).entity(outermost, fields);
        let mut layers = vec![Layer::new(first, 0)];
        while let Some(layer) = layers.last_mut() {
            if let Some(inner) = layer.reader.advance(self) {
                self.held_bytes += inner.held_bytes;
                layers.push(inner);
            } else {
                self.held_bytes -= layer.held_bytes;
                layers.pop();
            }
        }
    }

    /// Reads a document within the message's unpack balance, and reports its problems. Passes its
    /// page to the sink, or counts an unread document. `map` maps the document's bytes to the
    /// message. Without a `part`, the document is the source. If the document is a message, returns
    /// it.
    fn document(
        &mut self,
        kind: DocumentKind,
        bytes: &[u8],
        part: Option<MimePart>,
        map: OffsetMap,
        place: &DocumentPlace,
    ) -> Option<Vec<u8>> {
        let balance = self.balance().clone();
        let is_reported = balance.is_used_up();
        let mut reading = DocumentReading::default();
        match balance.check() {
            Ok(()) => {
                let left = usize::try_from(balance.left()).unwrap_or(usize::MAX);
                let limits = Limits {
                    message_bytes: left.min(self.limits.message_bytes),
                    ..*self.limits
                };
                reading = read_document(kind, bytes, &limits, self.on_large);
            }
            Err(_) if is_reported => {}
            Err(message) => {
                reading.problems = vec![Diagnostic::new(DiagnosticKind::Limit, message)]
            }
        }
        balance.add(reading.unpacked_bytes as u64);
        for Diagnostic { kind, message, .. } in reading.problems {
            let message = format!("{}{message}", place.member);
            self.report(kind, place.offset, message);
        }
        let media_type = reading.media_type.as_deref();
        let part =
            part.unwrap_or_else(|| MimePart::document(media_type.unwrap_or(kind.media_type())));
        match reading.content {
            DocumentContent::Message(bytes) => return Some(bytes),
            DocumentContent::Page(page) => {
                self.report.text_parts += 1;
                DecodingSteps::new(page, map).pages(None, Some(&part), self.sink);
            }
            DocumentContent::Unread => {
                let skipped = SkippedPart::new(part, place.raw);
                self.report.skipped_parts.push(skipped);
            }
        }
        None
    }

    fn balance(&mut self) -> &UnpackBalance {
        let (message, limits) = (self.message, self.limits);
        self.balance.get_or_insert_with(|| {
            UnpackBalance::of_message(message.raw.len(), message.unpacked_times, limits)
        })
    }

    /// Reports a diagnostic at an offset in the source.
    fn report(&mut self, kind: DiagnosticKind, offset: u64, message: String) {
        let diagnostic = Diagnostic::at(kind, offset, message);
        self.report.diagnostics.push(diagnostic);
    }

    /// Reports a construct left open in a page.
    fn report_open(&mut self, open: Option<Unclosed>) {
        let diagnostic = open.map(|open| open.diagnostic(self.message.raw_start()));
        self.report.diagnostics.extend(diagnostic);
    }
}

/// Walk over one layer.
struct PartWalk<'w, 's> {
    /// Bytes of the layer.
    raw: &'w [u8],
    /// Map from these bytes to the message; `None` for the message itself.
    outer: Option<&'w Arc<OffsetMap>>,
    is_dot_stuffed: bool,
    open: &'w mut Vec<OpenMultipart>,
    state: &'w mut WalkState<'s>,
}

/// Range of a body, and the boundary that ends it.
#[derive(Clone, Copy)]
struct BodyRange {
    span: Span,
    boundary: Option<BoundaryLine>,
}

impl<'w> PartWalk<'w, '_> {
    /// Reads the entity with the header `fields`. Leaves out the body if it consists of parts.
    fn entity(&mut self, mut entity: EntityStart, fields: &HeaderFields) -> EntityStep {
        let body = fields.body.min(self.raw.len());
        if fields.is_truncated {
            let max = self.state.limits.header_bytes;
            let message = format!(
                "a header of more than {max} bytes or {HEADER_FIELDS} fields: the rest is read as \
                 body"
            );
            self.report(DiagnosticKind::Limit, entity.at, message);
        }
        let mut part = MimePart::new(self.raw, fields, &entity.place);
        if part.is_abuse_report {
            part.author = Some(self.reporter(part.author.take()));
            entity.place.author.clone_from(&part.author);
        }
        // The fields of the outermost message belong to no part.
        let is_inner = !entity.place.is_message || 0 < entity.place.depth;
        self.header_texts(fields, is_inner.then_some(&part), part.author.as_ref());
        if part.media_type == EXTERNAL_BODY {
            self.external_body(fields, &part);
        }
        self.state.parts += 1;
        let max = self.state.limits.mime_parts;
        if max < self.state.parts {
            if self.state.parts == max.saturating_add(1) {
                let message = format!("more than {max} parts: the rest is read as one text");
                self.report(DiagnosticKind::Limit, entity.at, message);
            }
            return self.rest(body, &part);
        }
        let is_encoded = part.transfer_encoding() != TransferEncoding::Identity;
        if part.is_multipart() || self.is_unlabelled_multipart(fields, body, &part) {
            let boundaries = named_boundaries(self.raw, fields);
            let is_readable = || {
                let body = self.body_range(body).span.of(self.raw);
                holds_boundary(body, &boundaries)
            };
            if !is_encoded || is_readable() {
                return self.multipart(entity, boundaries, body, part);
            }
        }
        let has_fields =
            part.path == "1" && !is_encoded && begins_with_mime_fields(&self.raw[body..]);
        if has_fields && fields.first_known(KnownField::ContentType).is_none() {
            return self.message_in_part(entity, body, part);
        }
        let is_encoded_message = (part.is_message() || part.is_multipart()) && is_encoded;
        if is_inner && self.is_unwanted_attachment(fields) {
            let body = self.body_range(body);
            self.skip(body, part)
        } else if part.form == TextForm::Other || is_encoded_message {
            self.attachment(entity, fields, body, part)
        } else if part.is_message() {
            self.message_in_part(entity, body, part)
        } else {
            self.leaf(body, part)
        }
    }

    /// Returns the author of an abuse report in the message of `author`; `None` is the outermost
    /// one. The author of a reported message stays: he may call his mail a report.
    fn reporter(&mut self, author: Option<Arc<Author>>) -> Arc<Author> {
        let kind = AuthorKind::Reporter;
        if let Some(author) = author
            .as_ref()
            .filter(|author| author.kind != AuthorKind::Rfc822)
        {
            return Arc::clone(author);
        }
        let place = author.as_ref().map(Arc::as_ptr);
        let known = self.state.reporter.as_ref();
        if let Some((_, reporter)) =
            known.filter(|(author, _)| author.as_ref().map(Arc::as_ptr) == place)
        {
            return Arc::clone(reporter);
        }
        let (message, limits) = (self.state.message, self.state.limits);
        let found = author.as_deref().cloned().or_else(|| {
            let fields = HeaderFields::of(message.raw, limits.header_bytes);
            Author::of_header(kind, message.raw, &fields, limits.field_bytes)
        });
        let reporter = Arc::new(Author {
            kind,
            ..found.unwrap_or_default()
        });
        self.state.reporter = Some((author, Arc::clone(&reporter)));
        reporter
    }

    /// Returns the map of the layer's bytes that start at `at`.
    fn offset_map(&self, at: usize) -> OffsetMap {
        OffsetMap::within(self.outer, at)
    }

    /// Reads the header at `at`. The header ends at a boundary at the latest, even at one that
    /// looks like a field (`--x: y`).
    fn fields(&self, at: usize) -> HeaderFields {
        let raw = self.raw;
        let read = |text: &[u8]| HeaderFields::of(text, self.state.limits.header_bytes).shifted(at);
        let fields = read(&raw[at..]);
        let end = fields.body.min(raw.len());
        match boundary_before(self.open, raw, at, end) {
            Some(boundary) => read(&raw[at..boundary.start.max(at)]),
            None => fields,
        }
    }

    /// Passes the values of a header's fields to the sink. `part` is `None` for the message's own
    /// header.
    fn header_texts(
        &mut self,
        fields: &HeaderFields,
        part: Option<&MimePart>,
        author: Option<&Arc<Author>>,
    ) {
        if self.state.policy.skip_headers {
            return;
        }
        let raw = self.raw;
        for field in fields.all.iter().filter(|field| !field.roles.is_trace) {
            let value = field.value.of(raw);
            if !may_hold_url(value) {
                continue;
            }
            let mut steps = DecodingSteps::new(value, self.offset_map(field.value.start));
            steps.apply(decoded_value(value));
            let region = Region::Header(field.name.of(raw));
            (self.state.sink)(DecodedText {
                author,
                lines: LineLayout::Folded,
                ..DecodedText::plain(steps.bytes, steps.offset_map, region, part)
            });
        }
    }

    /// Passes the URL of an external body to the sink.
    fn external_body(&mut self, fields: &HeaderFields, part: &MimePart) {
        match external_body(self.raw, fields) {
            None => {}
            Some((field, Ok(url))) => {
                let offset_map = OffsetMap {
                    outer: self.outer.cloned(),
                    ..OffsetMap::whole(field)
                };
                let region = Region::ExternalBody;
                let url = url.into_bytes().into();
                (self.state.sink)(DecodedText::plain(url, offset_map, region, Some(part)));
            }
            Some((field, Err(names))) => {
                let message = format!("an external body without {names}: it has no URL");
                self.report(DiagnosticKind::Ambiguous, field.start, message);
            }
        }
    }

    /// Returns `true` for a text that starts with a boundary and a part's header.
    fn is_unlabelled_multipart(&self, fields: &HeaderFields, body: usize, part: &MimePart) -> bool {
        /// Maximum length of the note to non-MIME readers before the first part.
        const PREAMBLE_BYTES: usize = 512;
        if part.form != TextForm::Plain || part.is_message() {
            return false;
        }
        let is_typed = part.charset.is_some()
            || part.media_type != DEFAULT_TYPE
            || fields.first_known(KnownField::ContentType).is_some();
        let text = self.raw[body..].trim_ascii_start();
        let is_possible = text.starts_with(b"--") || !is_typed && self.open.is_empty();
        if !is_possible {
            return false;
        }
        let start = self.body_start(body);
        let blanks = start.len() - start.trim_ascii_start().len();
        guessed_boundary(start, if is_typed { blanks + 1 } else { PREAMBLE_BYTES }).is_some()
    }

    /// Opens a multipart. Reads it as one text if it has no boundary or is nested too deeply.
    fn multipart(
        &mut self,
        entity: EntityStart,
        mut boundaries: Vec<Vec<u8>>,
        body: usize,
        part: MimePart,
    ) -> EntityStep {
        if self.is_too_deep(&entity) {
            return self.leaf(body, part);
        }
        let start = self.body_start(body);
        if !holds_boundary(start, &boundaries)
            && let Some(boundary) = guessed_boundary(start, start.len())
        {
            let message = format!(
                "a multipart without its boundary: lines `--{}` are read as boundaries",
                String::from_utf8_lossy(&boundary)
            );
            boundaries.push(boundary);
            self.report(DiagnosticKind::Ambiguous, entity.at, message);
        } else if boundaries.is_empty() {
            let message = "a multipart without a boundary: read as one text".to_owned();
            self.report(DiagnosticKind::Ambiguous, entity.at, message);
            return self.leaf(body, part);
        }
        let messages = match part.media_type.as_str() {
            "multipart/digest" => AuthorKind::Digest,
            _ => AuthorKind::default(),
        };
        self.open.push(OpenMultipart {
            boundaries,
            place: PartPlace {
                messages,
                base: part.base,
                ..entity.place
            },
            parts: 0,
        });
        EntityStep::Between { at: body }
    }

    /// Enters the message inside a part. Reads it as one text if it is nested too deeply.
    fn message_in_part(&mut self, entity: EntityStart, body: usize, part: MimePart) -> EntityStep {
        if self.is_too_deep(&entity) {
            return self.leaf(body, part);
        }
        let raw = &self.raw[body..];
        let limits = self.state.limits;
        EntityStep::Entity(EntityStart::of_message(body, raw, entity.place, limits))
    }

    /// Returns `true` if the parts of `entity` would exceed the nesting limit. Reports the first
    /// case.
    fn is_too_deep(&mut self, entity: &EntityStart) -> bool {
        let max = self.state.limits.mime_depth;
        let is_too_deep = max <= self.depth(entity);
        if is_too_deep && !std::mem::replace(&mut self.state.is_nesting_reported, true) {
            let message = format!("more than {max} levels of parts: the rest is read as one text");
            self.report(DiagnosticKind::Limit, entity.at, message);
        }
        is_too_deep
    }

    /// Returns the number of multiparts and messages around the parts of `entity`.
    fn depth(&self, entity: &EntityStart) -> usize {
        self.open.len() + entity.place.depth
    }

    /// Returns `true` if a part is labelled as attached and attachments are skipped.
    fn is_unwanted_attachment(&self, fields: &HeaderFields) -> bool {
        self.state.policy.attachments == AttachmentPolicy::None
            && disposition(self.raw, fields)
                .is_some_and(|parsed| parsed.mimetype.trim() == "attachment")
    }

    /// Reads a part with a non-text media type, or an encoded message, with the reader of its kind.
    /// Skips it if there is none.
    fn attachment(
        &mut self,
        entity: EntityStart,
        fields: &HeaderFields,
        body: usize,
        part: MimePart,
    ) -> EntityStep {
        let range = self.body_range(body);
        let part = MimePart {
            name: attachment_name(self.raw, fields),
            ..part
        };
        match self.reader(range.span, &part) {
            PartReader::Unread => self.skip(range, part),
            PartReader::Text(form) => self.leaf(body, MimePart { form, ..part }),
            PartReader::Message if part.transfer_encoding() == TransferEncoding::Identity => {
                let form = TextForm::Plain;
                self.message_in_part(entity, body, MimePart { form, ..part })
            }
            reader if self.is_too_deep(&entity) => self.flat(range, part, reader),
            reader => {
                let at = entity.at;
                let raw = self.raw_range(range.span);
                let place = DocumentPlace {
                    raw,
                    offset: self.file_offset(at),
                    member: String::new(),
                };
                let attached = self.attached_bytes(entity, range.span, &part);
                let max = self.state.limits.message_bytes;
                let max = max.saturating_mul(ATTACHED_RATIO);
                if max < self.state.held_bytes.saturating_add(attached.held_bytes()) {
                    let message = format!(
                        "attachments inside each other hold more than {max} bytes: the rest is \
                         read as one text"
                    );
                    self.report(DiagnosticKind::Limit, at, message);
                    return self.flat(range, part, reader);
                }
                self.state.attached = attached.layer(reader, part, &place, self.state);
                self.after(range.boundary)
            }
        }
    }

    /// Reads a part beyond a limit as one text, but skips an archive, whose bytes are not text.
    fn flat(&mut self, body: BodyRange, part: MimePart, reader: PartReader) -> EntityStep {
        match reader {
            PartReader::Archive | PartReader::Document(_) => self.skip(body, part),
            _ => {
                let form = TextForm::Plain;
                self.leaf(body.span.start, MimePart { form, ..part })
            }
        }
    }

    /// Returns the reader of the body at `body`, if attachments of this kind are wanted.
    fn reader(&self, body: Span, part: &MimePart) -> PartReader {
        use DocumentKind::{Rtf, Signed, Tnef};
        if part.is_message() || part.is_multipart() {
            // A colon is not a base64 digit, so the body is text despite its label.
            return if self.body(body, part).is_mislabelled_base64() {
                PartReader::Text(TextForm::Plain)
            } else {
                PartReader::Message
            };
        }
        let policy = self.state.policy.attachments;
        // RTF is text by its type.
        if policy == AttachmentPolicy::None && !part.media_type.starts_with("text/") {
            return PartReader::Unread;
        }
        let raw = body.of(self.raw);
        let encoding = part.transfer_encoding();
        let found = reader(&part.media_type, part.name.as_deref(), raw, encoding);
        let is_packed = match found {
            PartReader::Document(Rtf | Signed | Tnef) => false,
            found => matches!(found, PartReader::Archive | PartReader::Document(_)),
        };
        if policy == AttachmentPolicy::Text && is_packed {
            return PartReader::Unread;
        }
        found
    }

    /// Returns the body in the range `body`.
    fn body<'b>(&self, body: Span, part: &'b MimePart) -> PartBody<'b>
    where
        'w: 'b,
    {
        PartBody {
            raw: body.of(self.raw),
            offset_map: self.offset_map(body.start),
            part,
            is_dot_stuffed: self.is_dot_stuffed,
        }
    }

    /// Decodes the body at `body` with the first transfer encoding named by the header.
    fn attached_bytes(&self, entity: EntityStart, body: Span, part: &MimePart) -> AttachedBytes {
        let steps = self.body(body, part).transferred(part.transfer_encoding());
        let depth = self.depth(&entity);
        AttachedBytes {
            bytes: steps.bytes.into_owned(),
            outer: Arc::new(steps.offset_map),
            place: entity.place.decoded(part, depth),
        }
    }

    /// Returns the range of the body at `body`, up to the next boundary.
    fn body_range(&self, body: usize) -> BodyRange {
        self.body_before(body, self.raw.len())
    }

    /// Returns the start of the body at `body`, up to the next boundary.
    fn body_start(&self, body: usize) -> &'w [u8] {
        let end = self.raw.len().min(body + GUESSED_BOUNDARY_BYTES);
        self.body_before(body, end).span.of(self.raw)
    }

    /// Returns the range of the body at `body`, up to the next boundary before `end`, or to `end`.
    fn body_before(&self, body: usize, end: usize) -> BodyRange {
        let boundary = boundary_before(self.open, self.raw, body, end);
        let end = boundary.map_or(end, |boundary| boundary.start.max(body));
        let span = Span::new(body, end);
        BodyRange { span, boundary }
    }

    /// Reads the body at `body`, which has no parts.
    fn leaf(&mut self, body: usize, mut part: MimePart) -> EntityStep {
        let range = self.body_range(body);
        if part.media_type == ABUSE_REPORT {
            // The reported message follows.
            if let Some(report) = self.open.last_mut() {
                report.place.messages = AuthorKind::Arf;
            }
            part.author = Some(self.reporter(part.author.take()));
        } else if HEADERS.contains(&part.media_type.as_str()) {
            part.author = self.author_in_part(range.span).or(part.author);
        }
        if part.form == TextForm::Html && self.state.policy.skip_html {
            return self.skip(range, part);
        }
        self.state.report.text_parts += 1;
        self.text(range.span, &part);
        self.after(range.boundary)
    }

    /// Returns the message whose header is the body of a part (RFC 6522).
    fn author_in_part(&self, body: Span) -> Option<Arc<Author>> {
        let (raw, limits) = (body.of(self.raw), self.state.limits);
        let report = self.open.last();
        let kind = report.map_or_else(AuthorKind::default, |report| report.place.messages);
        let fields = HeaderFields::of(raw, limits.header_bytes);
        Author::of_header(kind, raw, &fields, limits.field_bytes).map(Arc::new)
    }

    /// Counts a body that is not read.
    fn skip(&mut self, body: BodyRange, part: MimePart) -> EntityStep {
        let skipped = SkippedPart::new(part, self.raw_range(body.span));
        self.state.report.skipped_parts.push(skipped);
        self.after(body.boundary)
    }

    /// Reads the rest of the message as one text, boundaries included.
    fn rest(&mut self, body: usize, part: &MimePart) -> EntityStep {
        self.state.report.text_parts += 1;
        self.text(Span::new(body, self.raw.len()), &part.as_rest());
        EntityStep::End
    }

    /// Reads bytes before the first part or after the last part. Mail readers do not show them, but
    /// URLs in them are found.
    fn between(&mut self, at: usize) -> EntityStep {
        let between = self.body_range(at);
        if memchr::memchr2(b':', b'.', between.span.of(self.raw)).is_some() {
            let place = self.open.last().map(|multipart| multipart.place.clone());
            let part = MimePart::between_parts(place.unwrap_or_default());
            self.text(between.span, &part);
        }
        self.after(between.boundary)
    }

    /// Closes the multiparts that end at `boundary`, and continues after it. Without a boundary,
    /// the message ends.
    fn after(&mut self, boundary: Option<BoundaryLine>) -> EntityStep {
        let Some(boundary) = boundary else {
            self.open.clear();
            return EntityStep::End;
        };
        self.open.truncate(boundary.level + 1);
        if boundary.closes {
            self.open.truncate(boundary.level);
            return EntityStep::Between { at: boundary.end };
        }
        let Some(multipart) = self.open.last_mut() else {
            return EntityStep::End;
        };
        multipart.parts += 1;
        EntityStep::Entity(EntityStart {
            at: boundary.end,
            place: multipart.place.part(multipart.parts),
        })
    }

    /// Decodes a body and passes it to the sink.
    fn text(&mut self, body: Span, part: &MimePart) {
        let decoder = self.body(body, part);
        let open = decoder.decode(self.state.sink);
        self.state.report_open(open);
        if decoder.is_mislabelled_base64() {
            let message = "a part labelled base64 contains plain text: read as both".to_owned();
            self.report(DiagnosticKind::Ambiguous, body.start, message);
        }
    }

    /// Reports a diagnostic at an offset in the layer's bytes.
    fn report(&mut self, kind: DiagnosticKind, at: usize, message: String) {
        self.state.report(kind, self.file_offset(at), message);
    }

    /// Converts an offset in the layer's bytes to an offset in the source.
    fn file_offset(&self, at: usize) -> u64 {
        self.state.message.raw_start() + self.raw_range(Span::new(at, at)).start as u64
    }

    /// Converts a range of the layer's bytes to a range of the message.
    fn raw_range(&self, range: Span) -> Span {
        let all = Span::new(0, range.len());
        self.offset_map(range.start).raw(all).span
    }
}

/// Location of a document, for events about it.
struct DocumentPlace {
    /// Range in the message.
    raw: Span,
    /// Offset in the source of the part that holds the document.
    offset: u64,
    /// Prefix of event messages: the names of an archive member, or empty for a part.
    member: String,
}

impl AttachedBytes {
    /// Returns the memory in bytes taken by the bytes and their map.
    fn held_bytes(&self) -> usize {
        self.bytes.len() + self.outer.memory_bytes()
    }

    /// Returns the layer of the attachment `part`, which has this reader. Passes the page of a
    /// document to the sink instead.
    fn layer(
        self,
        reader: PartReader,
        part: MimePart,
        place: &DocumentPlace,
        state: &mut WalkState<'_>,
    ) -> Option<Layer<'static>> {
        match reader {
            #[cfg(feature = "files")]
            PartReader::Archive => Some(attached_archive::ArchiveLayer::open(self, &part, state)),
            PartReader::Document(kind) => {
                let whole = OffsetMap {
                    outer: Some(Arc::clone(&self.outer)),
                    ..OffsetMap::whole(Span::new(0, self.bytes.len()))
                };
                let bytes = state.document(kind, &self.bytes, Some(part), whole.clone(), place)?;
                let mut message = AttachedBytes {
                    bytes,
                    outer: Arc::new(whole),
                    ..self
                };
                // The packed body of the message that holds it.
                if matches!(kind, DocumentKind::Tnef | DocumentKind::Signed) {
                    message.place.messages = AuthorKind::Outer;
                }
                Some(message.messages(None))
            }
            PartReader::Mailbox(format) => Some(self.messages(Some(format))),
            _ => Some(self.messages(None)),
        }
    }

    /// Converts the bytes to the layer of a message, or of a mailbox in this format.
    fn messages(self, format: Option<Format>) -> Layer<'static> {
        let attached_bytes = self.held_bytes();
        let block = Block {
            bytes: self.bytes,
            ..Block::default()
        };
        let mut spans = Vec::new();
        match format {
            None => spans.push(Span::new(0, block.bytes.len())),
            Some(format) => messages(&block, format, &mut |output| {
                if let SplitOutput::Message(message) = output {
                    let start = message.raw_start() as usize;
                    spans.push(Span::new(start, start + message.raw.len()));
                }
            }),
        }
        spans.reverse();
        let held_bytes = attached_bytes + size_of_val(spans.as_slice());
        let layer = MailboxLayer {
            bytes: Rc::new(block.bytes),
            outer: self.outer,
            messages: spans,
            place: self.place,
            is_mailbox: format.is_some(),
            read: 0,
        };
        Layer::new(layer, held_bytes)
    }
}

/// Media type of the part of an abuse report that describes the message (RFC 5965).
const ABUSE_REPORT: &str = "message/feedback-report";

/// Media types of the header of a message.
const HEADERS: [&str; 2] = ["text/rfc822-headers", "message/global-headers"];

/// Bytes at the start of the body of a multipart in which its boundary is guessed.
const GUESSED_BOUNDARY_BYTES: usize = 64 << 10;

/// Returns `true` if a body starts with the MIME-Version field or with two other MIME fields: a
/// stray blank line precedes the last fields of the header. A text may quote one such field, so one
/// is not enough.
fn begins_with_mime_fields(body: &[u8]) -> bool {
    const NAMES: &str = "mime-version content-type content-transfer-encoding";
    /// Number of lines within which the second field must start.
    const MAX_LINES: usize = 8;
    let mut lines = body.split(|&byte| byte == b'\n').take(MAX_LINES);
    let is_mime = |line: &[u8]| is_listed(NAMES, &line[..memchr::memchr(b':', line).unwrap_or(0)]);
    begins_with(body, b"mime-version:")
        || lines.next().is_some_and(is_mime)
            && lines
                .find(|line| !matches!(line.first(), Some(b' ' | b'\t')))
                .is_some_and(is_mime)
}

/// Parses the first Content-Disposition field (RFC 2183) of a header whose fields are ranges of
/// `raw`. The disposition type is returned as the media type.
fn disposition(raw: &[u8], fields: &HeaderFields) -> Option<mailparse::ParsedContentType> {
    let field = fields.first_named(raw, "content-disposition")?;
    let text = field_text(field.value.of(raw));
    Some(mailparse::parse_content_type(&text))
}

/// Returns the name of an attachment: `filename` of Content-Disposition, or `name` of Content-Type.
fn attachment_name(raw: &[u8], fields: &HeaderFields) -> Option<String> {
    let disposed = disposition(raw, fields).and_then(|mut parsed| parsed.params.remove("filename"));
    let mut types = fields.content_types(raw);
    let name =
        disposed.or_else(|| types.find_map(|(_, mut content)| content.params.remove("name")))?;
    let name = repeated_name(name.trim());
    (!name.is_empty()).then(|| name.to_owned())
}

/// Returns the header of a document that is a message: its bytes, and the fields as ranges of them.
///
/// Reads the document again with the default limits, because its size was limited before. This
/// happens only for messages with links.
pub(super) fn document_header(
    message: &Message<'_>,
    kind: DocumentKind,
) -> Option<(Vec<u8>, HeaderFields)> {
    use DocumentKind::{Compound, Signed, Tnef, Utf16};
    let may_be_message = matches!(kind, Compound | Signed | Tnef | Utf16);
    if !may_be_message || message.extent != Extent::Whole {
        return None;
    }
    let limits = &Limits::default();
    let reading = read_document(kind, message.raw, limits, &mut || {});
    let DocumentContent::Message(inner) = reading.content else {
        return None;
    };
    let fields = HeaderFields::of(&inner, limits.header_bytes);
    Some((inner, fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows each text as `path type: text`, and checks that its offset map returns its raw bytes.
    fn shown(raw: &str) -> Vec<String> {
        let message = Message::parse(raw.as_bytes());
        let fields = HeaderFields::of(message.raw, usize::MAX);
        let mut seen = Vec::new();
        let (limits, policy) = (Limits::default(), TextPolicy::default());
        WalkState::new(
            &message,
            &limits,
            policy,
            &mut |text| {
                let part = text.part.map_or(String::new(), |part| {
                    format!("{} {}", part.path, part.media_type)
                });
                let place = match text.region {
                    Region::Header(name) => format!("{part} {}", String::from_utf8_lossy(name)),
                    Region::Body => part,
                    Region::ExternalBody => format!("{part} external"),
                };
                let back = text.offset_map.raw(Span::new(0, text.bytes.len())).span;
                assert!(
                    !text.bytes.contains(&b'!') || back.of(message.raw).contains(&b'!'),
                    "{place}"
                );
                seen.push(format!(
                    "{place}: {}",
                    String::from_utf8_lossy(&text.bytes).trim_end()
                ));
            },
            &mut || {},
        )
        .message_texts(&fields);
        seen
    }

    #[test]
    fn a_message_without_parts_is_its_first_part() {
        assert_eq!(
            shown("Subject: a:b\n\nbody!"),
            [" Subject: a:b", "1 text/plain: body!"]
        );
    }

    #[test]
    fn parts_are_numbered_and_decoded() {
        let raw = "Content-Type: multipart/mixed; boundary=\"x\"\n\npreamble.\n--x\n\none!\n--x\n\
                   Content-Type: text/html\nContent-Transfer-Encoding: \
                   quoted-printable\n\nt=\nwo\n--x\nContent-Type: \
                   image/png\n\nno\n--x--\nepilogue.\n";
        assert_eq!(
            shown(raw),
            [
                " text/plain: preamble.",
                "1 text/plain: one!",
                "2 text/html: two",
                " text/plain: epilogue."
            ]
        );
    }

    #[test]
    fn messages_in_parts_count_as_a_level() {
        let inner =
            "Subject: i:j\nContent-Type: multipart/alternative; boundary=y\n\n--y\n\nin\n--y--\n";
        let raw = format!(
            "Content-Type: multipart/digest; boundary=x\n\n--x\n\n{inner}\n--x\n\nSubject: \
             k:l\n\nplain\n--x--\n"
        );
        assert_eq!(
            shown(&raw),
            [
                "1.1 multipart/alternative Subject: i:j",
                "1.1 text/plain: in",
                "2.1 text/plain Subject: k:l",
                "2.1 text/plain: plain"
            ]
        );
    }

    #[test]
    fn a_header_ends_at_a_boundary() {
        let raw = "Content-Type: multipart/mixed; boundary=\":x\"\n\n--:x\nContent-Type: \
            text/html\n--:x\n\ntwo\n--:x--\n";
        assert_eq!(shown(raw), ["1 text/html: ", "2 text/plain: two"]);
    }

    #[test]
    fn a_body_with_two_encodings_or_types_is_read_with_both() {
        let raw = "Content-Transfer-Encoding: 7bit\nContent-Transfer-Encoding: base64 \
            (x)\n\naHR0cDovL2EuYg==\n";
        assert_eq!(
            shown(raw),
            ["1 text/plain: aHR0cDovL2EuYg==", "1 text/plain: http://a.b"]
        );
        assert_eq!(
            shown("Content-Type: image/png\nContent-Type: text/plain\n\nx"),
            ["1 text/plain: x"]
        );
    }

    #[test]
    fn a_url_at_the_start_of_a_line_is_not_a_field() {
        let raw = "Content-Type: multipart/mixed; boundary=b\n\n--b\nhttp://a.b/\n--b--\n";
        assert_eq!(shown(raw), ["1 text/plain: http://a.b/"]);
    }

    #[test]
    fn a_multipart_with_two_boundaries_is_read_with_both() {
        let raw = "Content-Type: multipart/mixed; boundary=a; \
            boundary=b\n\n--a\n\none\n--b\n\ntwo\n--a--\n";
        assert_eq!(shown(raw), ["1 text/plain: one", "2 text/plain: two"]);
        let continued = "Content-Type: multipart/mixed;\n boundary*0=a;\n \
            boundary*1=b\n\n--ab\n\none\n--ab--\n";
        assert_eq!(
            shown(continued),
            ["1 text/plain: one"],
            "RFC 2231 section 3"
        );
    }

    #[test]
    fn mime_fields_below_the_header_belong_to_it() {
        let page = "Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\na=\nb";
        assert_eq!(
            shown(&format!("Subject: x\n\n{page}"))[0],
            "1 text/html: ab"
        );
        let quoted = "Content-Type: text/html\n\nMy server sends it <a";
        assert_eq!(
            shown(&format!("Subject: x\n\n{quoted}")),
            [format!("1 text/plain: {quoted}")]
        );
    }

    #[test]
    fn text_without_the_boundary_is_read() {
        assert_eq!(
            shown("Content-Type: multipart/mixed; boundary=x\n\nall.of it"),
            [" text/plain: all.of it"]
        );
        assert_eq!(
            shown("Content-Type: multipart/mixed\n\nall"),
            ["1 multipart/mixed: all"]
        );
    }
}
