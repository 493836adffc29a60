//! The walk over the parts of a message (RFC 2045, RFC 2046): iterative, bounded, with offsets.
//!
//! Messages whose bytes must be decoded first, those of attachments, are layers on a stack: the
//! decoded bytes and the walk over them. The layer below waits until they are read.
//!
//! Headers are read and bodies decoded by `part`, values of header fields by `header`, and readers
//! of attachments chosen by `part_kind`.

use std::rc::Rc;
use std::sync::Arc;

#[cfg(feature = "archives")]
use super::attached_archive::{ArchiveStep, AttachedArchive, MemberNames, member_place};
use super::boundaries::{BoundaryLine, OpenMultipart, OpenMultiparts, named_boundaries};
use super::external_body::{EXTERNAL_BODY, ExternalBody, MissingParameters, external_body};
use super::field_names::KnownField;
use super::header::{HeaderField, HeaderFields, field_text, searchable_text};
use super::part::{
    DefaultType, EnclosingMessage, MimePart, PartBody, PartNumber, converted_page, repeated_name,
};
#[cfg(feature = "archives")]
use super::part_kind::member_reader;
use super::part_kind::{PartReader, PartStart, TextForm, reader};
use super::transfer::TransferEncoding;
use super::{
    AttachmentPolicy, DecodeReport, DecodedText, HeaderPolicy, HtmlPolicy, LineLayout, OffsetMap,
    Region, SkippedPart, TextPolicy,
};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::documents::{
    DocumentContent, DocumentKind, DocumentProblem, DocumentReading, read_document,
};
#[cfg(feature = "archives")]
use crate::limits::SNIFF_BYTES;
use crate::limits::{ATTACHED_RATIO, HEADER_FIELDS, Limits};
use crate::planted_faults::{PlantedFault, panic_at_mark};
use crate::read::UnpackBalance;
use crate::span::Span;
use crate::split::{Block, Format, Message, SplitOutput, messages};

/// Passes all texts of a message with a header to `sink`, in the order of the raw bytes.
pub(super) fn walk<'m>(
    message: &Message<'m>,
    fields: &'m HeaderFields,
    limits: &Limits,
    policy: TextPolicy,
    sink: &mut dyn FnMut(DecodedText<'_>),
    on_large: &mut dyn FnMut(),
) -> DecodeReport {
    panic_at_mark(PlantedFault::PanicInMessage, message.raw);
    let mut state = WalkState {
        raw_start: message.raw_start(),
        limits,
        policy,
        sink,
        on_large,
        report: DecodeReport::default(),
        parts: 0,
        held_bytes: 0,
        is_nesting_reported: false,
        is_count_reported: false,
        bytes: message.raw.len(),
        unpacked_times: message.unpacked_times,
        balance: None,
    };
    let outermost = EntityStart {
        at: 0,
        number: PartNumber::outermost(),
        default_type: DefaultType::Text,
        enclosing: EnclosingMessage::default(),
    };
    let mut first = EntityLayer {
        bytes: LayerBytes::Message(message.raw),
        outer: None,
        is_dot_stuffed: message.wire,
        open: OpenMultiparts::default(),
        next: EntityStep::End,
        held_bytes: 0,
    };
    first.next = first.walk(&mut state).entity(outermost, fields, None);
    // Most messages have one layer.
    let mut below: Vec<Layer<'_>> = Vec::new();
    let mut layer = Layer::Entities(first);
    loop {
        match layer.advance(&mut state) {
            Some(inner) => {
                state.held_bytes += inner.held_bytes();
                below.push(std::mem::replace(&mut layer, inner));
            }
            None => {
                state.held_bytes -= layer.held_bytes();
                match below.pop() {
                    Some(outer) => layer = outer,
                    None => break,
                }
            }
        }
    }
    state.report
}

/// Bytes that are being read: the message's, or those of an attachment in the layer below.
enum Layer<'m> {
    Entities(EntityLayer<'m>),
    Mailbox(MailboxLayer),
    #[cfg(feature = "archives")]
    Archive(Box<ArchiveLayer>),
}

impl Layer<'_> {
    /// Reads on, up to the next attachment, which it returns, or to the end.
    fn advance(&mut self, state: &mut WalkState<'_>) -> Option<Layer<'static>> {
        match self {
            Layer::Entities(layer) => layer.advance(state),
            Layer::Mailbox(layer) => layer.next_message(state.limits),
            #[cfg(feature = "archives")]
            Layer::Archive(layer) => layer.advance(state),
        }
    }

    /// Bytes of memory that it holds, besides the message itself. Constant until its end.
    fn held_bytes(&self) -> usize {
        match self {
            Layer::Entities(layer) => layer.held_bytes,
            Layer::Mailbox(layer) => layer.held_bytes,
            #[cfg(feature = "archives")]
            Layer::Archive(layer) => layer.held_bytes,
        }
    }
}

/// A message and the place that was reached in it.
struct EntityLayer<'m> {
    bytes: LayerBytes<'m>,
    /// Leads from its bytes to the message's; `None` for the message itself.
    outer: Option<Arc<OffsetMap>>,
    /// `true` if lines that begin with a dot are dot-stuffed.
    is_dot_stuffed: bool,
    open: OpenMultiparts,
    next: EntityStep,
    /// Bytes of memory that it holds, besides those of the layers below it.
    held_bytes: usize,
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

    /// Reads on, up to the next attachment, which it returns, or to the end.
    fn advance(&mut self, state: &mut WalkState<'_>) -> Option<Layer<'static>> {
        loop {
            let step = std::mem::replace(&mut self.next, EntityStep::End);
            self.next = match step {
                EntityStep::End => return None,
                EntityStep::Between { at } => self.walk(state).between(at),
                EntityStep::Entity(entity) => self.walk(state).inner_entity(entity),
                EntityStep::Attachment { layer, then } => {
                    self.next = *then;
                    return Some(*layer);
                }
            };
        }
    }
}

/// A mailbox in an attachment, and the messages in it that are still to be read.
struct MailboxLayer {
    bytes: Rc<Vec<u8>>,
    outer: Arc<OffsetMap>,
    /// The ranges of its messages in reverse order.
    messages: Vec<Span>,
    number: PartNumber,
    enclosing: EnclosingMessage,
    /// Number of its messages that were read.
    read: usize,
    /// Bytes of memory that it holds, besides those of the layers below it.
    held_bytes: usize,
}

impl MailboxLayer {
    fn new(attached: AttachedBytes, format: Format) -> MailboxLayer {
        let attached_bytes = attached.held_bytes();
        let AttachedBytes {
            bytes,
            outer,
            number,
            enclosing,
        } = attached;
        let block = Block {
            bytes,
            ..Block::default()
        };
        let mut spans = Vec::new();
        messages(&block, format, &mut |output| {
            if let SplitOutput::Message(message) = output {
                let start = message.raw_start() as usize;
                spans.push(Span::new(start, start + message.raw.len()));
            }
        });
        spans.reverse();
        MailboxLayer {
            held_bytes: attached_bytes + size_of_val(spans.as_slice()),
            bytes: Rc::new(block.bytes),
            outer,
            messages: spans,
            number,
            enclosing,
            read: 0,
        }
    }

    fn next_message(&mut self, limits: &Limits) -> Option<Layer<'static>> {
        let span = self.messages.pop()?;
        self.read += 1;
        let outer = OffsetMap::within(Some(&self.outer), span.start);
        let number = self.number.part(self.read);
        let bytes = LayerBytes::Attached(Rc::clone(&self.bytes), span);
        let layer = message_layer(bytes, outer, number, &self.enclosing, limits);
        Some(Layer::Entities(layer))
    }
}

/// An archive in an attachment, and the members that are still to be read.
#[cfg(feature = "archives")]
struct ArchiveLayer {
    archive: AttachedArchive,
    /// The media type of the attachment.
    media_type: String,
    /// Range of the attachment in the message.
    raw: Span,
    /// Leads from any byte of a member to the attachment as a whole.
    outer: Arc<OffsetMap>,
    number: PartNumber,
    enclosing: EnclosingMessage,
    /// Number of its members that were read.
    read: usize,
    /// Bytes of memory that it holds, besides those of the layers below it.
    held_bytes: usize,
}

#[cfg(feature = "archives")]
impl ArchiveLayer {
    fn new(attached: AttachedBytes, part: &MimePart, state: &mut WalkState<'_>) -> ArchiveLayer {
        let all = Span::new(0, attached.bytes.len());
        let raw = attached.outer.raw(all).span;
        let depth = attached.enclosing.containers;
        let (held_bytes, limits) = (attached.held_bytes(), state.limits);
        ArchiveLayer {
            held_bytes,
            archive: AttachedArchive::new(attached.bytes, depth, limits, state.balance()),
            media_type: part.media_type.clone(),
            raw,
            outer: Arc::new(OffsetMap::whole(raw)),
            number: attached.number,
            enclosing: attached.enclosing,
            read: 0,
        }
    }

    /// Reads on, up to the next member that is a message or a mailbox, which it returns, or to the
    /// end.
    fn advance(&mut self, state: &mut WalkState<'_>) -> Option<Layer<'static>> {
        loop {
            match self.archive.next(state.on_large)? {
                ArchiveStep::Member { names, bytes } => {
                    self.read += 1;
                    if let Some(layer) = self.member(&names, bytes, state) {
                        return Some(layer);
                    }
                }
                ArchiveStep::Skipped => self.skip(&self.enclosing, state),
                ArchiveStep::Event(diagnostic) => {
                    let offset = Some(state.raw_start + self.raw.start as u64);
                    let diagnostic = Diagnostic {
                        offset,
                        ..diagnostic
                    };
                    state.report.diagnostics.push(diagnostic);
                }
            }
        }
    }

    /// Reads a member; returns its layer if it is a message or a mailbox.
    fn member(
        &self,
        names: &MemberNames,
        bytes: Vec<u8>,
        state: &mut WalkState<'_>,
    ) -> Option<Layer<'static>> {
        let enclosing = self.enclosing.around_member(names);
        // What is compressed alone is the part itself.
        let number = match names.last() {
            Some(_) => self.number.part(self.read),
            None => self.number.clone(),
        };
        let name = names.last().map(Vec::as_slice).unwrap_or_default();
        let reader = member_reader(name, &bytes[..bytes.len().min(SNIFF_BYTES)]);
        let is_unwanted_html =
            reader == PartReader::Text(TextForm::Html) && state.policy.html == HtmlPolicy::Skip;
        let attached = AttachedBytes {
            bytes,
            outer: Arc::clone(&self.outer),
            number,
            enclosing,
        };
        match reader {
            PartReader::Text(form) if !is_unwanted_html => {
                attached.text(&self.media_type, form, state);
                None
            }
            PartReader::Message => Some(Layer::Entities(attached.message(state.limits))),
            PartReader::Mailbox(format) => {
                Some(Layer::Mailbox(MailboxLayer::new(attached, format)))
            }
            PartReader::Document(kind) => self.document(names, attached, kind, state),
            PartReader::Text(_) | PartReader::Archive | PartReader::Unread => {
                self.skip(&attached.enclosing, state);
                None
            }
        }
    }

    /// Reads a member that is a document; returns its layer if it is a message.
    fn document(
        &self,
        names: &MemberNames,
        attached: AttachedBytes,
        kind: DocumentKind,
        state: &mut WalkState<'_>,
    ) -> Option<Layer<'static>> {
        let AttachedBytes {
            number, enclosing, ..
        } = &attached;
        let part = MimePart::member(&self.media_type, TextForm::Other, number, enclosing);
        let place = DocumentPlace {
            offset: state.raw_start + self.raw.start as u64,
            member: format!("{}: ", member_place(names)),
        };
        match attached.document(kind, &part, &place, state) {
            DocumentStep::Unread => {
                let raw = self.raw;
                state.report.skipped_parts.push(SkippedPart::new(part, raw));
                None
            }
            DocumentStep::Read => None,
            DocumentStep::Message(layer) => Some(Layer::Entities(layer)),
        }
    }

    /// Counts a member that is not read. Lists as many as a message may have parts.
    fn skip(&self, enclosing: &EnclosingMessage, state: &mut WalkState<'_>) {
        let listed = &mut state.report.skipped_parts;
        if state.limits.mime_parts <= listed.len()
            && let Some(last) = listed.last_mut()
        {
            last.unlisted += 1;
            return;
        }
        let part = MimePart::member(&self.media_type, TextForm::Other, &self.number, enclosing);
        listed.push(SkippedPart::new(part, self.raw));
    }
}

/// The decoded bytes of an attachment.
struct AttachedBytes {
    bytes: Vec<u8>,
    /// Leads from the bytes to the message.
    outer: Arc<OffsetMap>,
    number: PartNumber,
    enclosing: EnclosingMessage,
}

/// The layer of a message in the part `number`. `offset_map` leads from its bytes to the outermost
/// message.
fn message_layer(
    bytes: LayerBytes<'static>,
    offset_map: OffsetMap,
    number: PartNumber,
    enclosing: &EnclosingMessage,
    limits: &Limits,
) -> EntityLayer<'static> {
    let fields = HeaderFields::of(bytes.get(), limits.header_bytes);
    let message = EntityStart::of_message(0, bytes.get(), &fields, number, enclosing);
    EntityLayer {
        bytes,
        outer: Some(Arc::new(offset_map)),
        is_dot_stuffed: false,
        open: OpenMultiparts::default(),
        next: EntityStep::Entity(message),
        held_bytes: 0,
    }
}

/// The next step of the walk over a layer.
enum EntityStep {
    /// A header and its body.
    Entity(EntityStart),
    /// Bytes that belong to no part, up to a boundary.
    Between { at: usize },
    /// The decoded bytes of an attachment, and the step after them.
    Attachment {
        layer: Box<Layer<'static>>,
        then: Box<EntityStep>,
    },
    /// The end of the message.
    End,
}

/// The start of an entity (RFC 2045 section 2.4): of a part, or of a message.
struct EntityStart {
    /// Offset of its header.
    at: usize,
    number: PartNumber,
    default_type: DefaultType,
    enclosing: EnclosingMessage,
}

impl EntityStart {
    /// The message at `at` in the part `number`. `fields` is its header, ranges of `raw`.
    fn of_message(
        at: usize,
        raw: &[u8],
        fields: &HeaderFields,
        number: PartNumber,
        enclosing: &EnclosingMessage,
    ) -> EntityStart {
        let id = fields
            .first_known(KnownField::MessageId)
            .map(|field| field_text(field.value.of(raw)));
        EntityStart {
            at,
            number: number.message(),
            default_type: DefaultType::Text,
            enclosing: enclosing.inner(id.as_deref()),
        }
    }
}

/// The state of the walk over all layers of a message.
struct WalkState<'s> {
    /// Offset of the message's raw bytes in their source.
    raw_start: u64,
    limits: &'s Limits,
    policy: TextPolicy,
    sink: &'s mut dyn FnMut(DecodedText<'_>),
    /// Called before something that unpacks to much.
    on_large: &'s mut dyn FnMut(),
    report: DecodeReport,
    /// Number of entities so far.
    parts: usize,
    /// Bytes of memory that the layers hold.
    held_bytes: usize,
    /// `true` once the nesting limit was reached, which is reported once: a message may have
    /// thousands of parts beyond it.
    is_nesting_reported: bool,
    /// `true` once the limit on the number of parts was reached.
    is_count_reported: bool,
    /// Number of bytes of the message.
    bytes: usize,
    /// As in [`Message`].
    unpacked_times: u64,
    /// The balance of its archives and documents. `None` before the first.
    balance: Option<UnpackBalance>,
}

impl WalkState<'_> {
    fn balance(&mut self) -> &UnpackBalance {
        let new = || UnpackBalance::of_message(self.bytes, self.unpacked_times, self.limits);
        self.balance.get_or_insert_with(new)
    }
}

/// The walk over one layer.
struct PartWalk<'w, 's> {
    /// Its bytes.
    raw: &'w [u8],
    /// Leads from them to the message; `None` for the message itself.
    outer: Option<&'w Arc<OffsetMap>>,
    is_dot_stuffed: bool,
    open: &'w mut OpenMultiparts,
    state: &'w mut WalkState<'s>,
}

/// The range of a body, and the boundary that ends it.
#[derive(Clone, Copy)]
struct BodyRange {
    span: Span,
    boundary: Option<BoundaryLine>,
}

impl PartWalk<'_, '_> {
    /// Reads an entity inside the message.
    fn inner_entity(&mut self, entity: EntityStart) -> EntityStep {
        let fields = self.fields(entity.at);
        let part = self.describe(&entity, &fields);
        self.entity(entity, &fields, Some(part))
    }

    /// Reads the entity whose header is `fields`, without the body if that has parts of its own.
    ///
    /// `part` describes it; `None` for the outermost message, whose header fields belong to no
    /// part.
    fn entity(
        &mut self,
        entity: EntityStart,
        fields: &HeaderFields,
        part: Option<MimePart>,
    ) -> EntityStep {
        let body = fields.body.min(self.raw.len());
        if fields.is_truncated {
            let max = self.state.limits.header_bytes;
            let message = format!(
                "a header of more than {max} bytes or {HEADER_FIELDS} fields: the rest is read as \
                 body"
            );
            self.report(DiagnosticKind::Limit, entity.at, message);
        }
        self.header_texts(fields, part.as_ref());
        let is_inner = part.is_some();
        let part = part.unwrap_or_else(|| self.describe(&entity, fields));
        if part.media_type == EXTERNAL_BODY {
            self.external_body(fields, &part);
        }
        self.state.parts += 1;
        if self.state.parts > self.state.limits.mime_parts {
            let max = self.state.limits.mime_parts;
            if !std::mem::replace(&mut self.state.is_count_reported, true) {
                let message = format!("more than {max} parts: the rest is read as one text");
                self.report(DiagnosticKind::Limit, entity.at, message);
            }
            return self.rest(body, &part);
        }
        if part.is_multipart() {
            return self.multipart(entity, fields, body, &part);
        }
        let is_encoded = part.transfer_encoding() != TransferEncoding::Identity;
        let is_encoded_message = part.is_message() && is_encoded;
        if is_inner && self.is_unwanted_attachment(fields) {
            let body = self.body_range(body, &part);
            self.skip(body, part)
        } else if part.form == TextForm::Other || is_encoded_message {
            self.attachment(entity, fields, body, part)
        } else if part.is_message() {
            self.message_in_part(entity, body, &part)
        } else {
            let body = self.body_range(body, &part);
            self.leaf(body, &part)
        }
    }

    fn describe(&self, entity: &EntityStart, fields: &HeaderFields) -> MimePart {
        MimePart::new(
            self.raw,
            fields,
            &entity.number,
            entity.default_type,
            &entity.enclosing,
        )
    }

    /// The map of bytes of the layer that begin at `at`.
    fn offset_map(&self, at: usize) -> OffsetMap {
        OffsetMap::within(self.outer, at)
    }

    /// Reads the header at `at`. It ends at a boundary at the latest, even at one that looks like a
    /// field (`--x: y`).
    fn fields(&self, at: usize) -> HeaderFields {
        let raw = self.raw;
        let read = |text: &[u8]| HeaderFields::of(text, self.state.limits.header_bytes).shifted(at);
        let fields = read(&raw[at..]);
        let end = fields.body.min(raw.len());
        match self.open.boundary_before(raw, at, end) {
            Some(boundary) => read(&raw[at..boundary.start.max(at)]),
            None => fields,
        }
    }

    /// Passes the values of a header's fields to the sink. `part` is `None` for the message's own
    /// header.
    fn header_texts(&mut self, fields: &HeaderFields, part: Option<&MimePart>) {
        if self.state.policy.headers == HeaderPolicy::Skip {
            return;
        }
        let raw = self.raw;
        for field in fields.all.iter().filter(|field| !field.roles.is_trace) {
            let Some(converted) = searchable_text(field.value.of(raw)) else {
                continue;
            };
            let offset_map = OffsetMap {
                maps: converted.map.into_iter().collect(),
                ..self.offset_map(field.value.start)
            };
            let region = Region::Header(field.name.of(raw));
            (self.state.sink)(DecodedText {
                lines: LineLayout::Folded,
                ..DecodedText::plain(converted.bytes, offset_map, region, part)
            });
        }
    }

    /// Passes the URL of a body that stands elsewhere to the sink.
    fn external_body(&mut self, fields: &HeaderFields, part: &MimePart) {
        match external_body(self.raw, fields) {
            Ok(None) => {}
            Ok(Some(ExternalBody { url, offset_map })) => {
                let offset_map = OffsetMap {
                    outer: self.outer.cloned(),
                    ..offset_map
                };
                let region = Region::ExternalBody;
                (self.state.sink)(DecodedText::plain(
                    url.into(),
                    offset_map,
                    region,
                    Some(part),
                ));
            }
            Err(MissingParameters { names, at }) => {
                let message = format!("an external body without {names}: it has no URL");
                self.report(DiagnosticKind::Ambiguous, at, message);
            }
        }
    }

    /// Opens a multipart; reads it as one text if it names no boundary or is nested too deeply.
    fn multipart(
        &mut self,
        entity: EntityStart,
        fields: &HeaderFields,
        body: usize,
        part: &MimePart,
    ) -> EntityStep {
        let boundaries = named_boundaries(self.raw, fields);
        if boundaries.is_empty() {
            let message = "a multipart without a boundary: read as one text".to_owned();
            self.report(DiagnosticKind::Ambiguous, entity.at, message);
        }
        if boundaries.is_empty() || self.is_too_deep(&entity) {
            let body = self.body_range(body, part);
            return self.leaf(body, part);
        }
        let default_type = match part.media_type.as_str() {
            "multipart/digest" => DefaultType::Message,
            _ => DefaultType::Text,
        };
        self.open.0.push(OpenMultipart {
            boundaries,
            number: entity.number,
            parts: 0,
            default_type,
            enclosing: entity.enclosing,
        });
        EntityStep::Between { at: body }
    }

    /// Enters the message inside a part; reads it as one text if it is nested too deeply.
    fn message_in_part(&mut self, entity: EntityStart, body: usize, part: &MimePart) -> EntityStep {
        if self.is_too_deep(&entity) {
            let body = self.body_range(body, part);
            return self.leaf(body, part);
        }
        let raw = &self.raw[body..];
        let inner = HeaderFields::of(raw, self.state.limits.header_bytes);
        let EntityStart {
            number, enclosing, ..
        } = entity;
        EntityStep::Entity(EntityStart::of_message(
            body, raw, &inner, number, &enclosing,
        ))
    }

    /// Returns `true`, and reports the first case, if the parts of `entity` would exceed the
    /// nesting limit.
    fn is_too_deep(&mut self, entity: &EntityStart) -> bool {
        let max = self.state.limits.mime_depth;
        let is_too_deep = max <= self.depth(entity);
        if is_too_deep && !std::mem::replace(&mut self.state.is_nesting_reported, true) {
            let message = format!("more than {max} levels of parts: the rest is read as one text");
            self.report(DiagnosticKind::Limit, entity.at, message);
        }
        is_too_deep
    }

    /// The number of multiparts and messages around the parts of `entity`.
    fn depth(&self, entity: &EntityStart) -> usize {
        self.open.0.len() + entity.enclosing.depth
    }

    /// Returns `true` if a part is labelled as attached, and attachments are not wanted.
    fn is_unwanted_attachment(&self, fields: &HeaderFields) -> bool {
        self.state.policy.attachments == AttachmentPolicy::None
            && disposition(self.raw, fields).is_some_and(|disposition| {
                disposition
                    .mimetype
                    .trim()
                    .eq_ignore_ascii_case("attachment")
            })
    }

    /// Reads a part that is no text by its media type, or a message that is encoded: by the reader
    /// of its kind, or not at all.
    fn attachment(
        &mut self,
        entity: EntityStart,
        fields: &HeaderFields,
        body: usize,
        part: MimePart,
    ) -> EntityStep {
        let range = self.body_range(body, &part);
        let part = MimePart {
            name: attachment_name(self.raw, fields),
            ..part
        };
        match self.reader(range.span, &part) {
            PartReader::Unread => self.skip(range, part),
            PartReader::Text(form) => self.leaf(range, &MimePart { form, ..part }),
            PartReader::Message if part.transfer_encoding() == TransferEncoding::Identity => {
                let form = TextForm::Plain;
                self.message_in_part(entity, body, &MimePart { form, ..part })
            }
            reader if self.is_too_deep(&entity) => self.flat(range, part, reader),
            reader => {
                let at = entity.at;
                let attached = self.attached_bytes(entity, range.span, &part);
                let max = self
                    .state
                    .limits
                    .message_bytes
                    .saturating_mul(ATTACHED_RATIO);
                if max < self.state.held_bytes.saturating_add(attached.held_bytes()) {
                    let message = format!(
                        "attachments inside each other hold more than {max} bytes: the rest is \
                         read as one text"
                    );
                    self.report(DiagnosticKind::Limit, at, message);
                    return self.flat(range, part, reader);
                }
                if let PartReader::Document(kind) = reader {
                    return self.document(at, attached, kind, range, part);
                }
                let layer = match reader {
                    #[cfg(feature = "archives")]
                    PartReader::Archive => {
                        let layer = ArchiveLayer::new(attached, &part, self.state);
                        Layer::Archive(Box::new(layer))
                    }
                    PartReader::Mailbox(format) => {
                        Layer::Mailbox(MailboxLayer::new(attached, format))
                    }
                    _ => Layer::Entities(attached.message(self.state.limits)),
                };
                EntityStep::Attachment {
                    layer: Box::new(layer),
                    then: Box::new(self.after(range.boundary)),
                }
            }
        }
    }

    /// Reads a document that begins at `at`.
    fn document(
        &mut self,
        at: usize,
        attached: AttachedBytes,
        kind: DocumentKind,
        range: BodyRange,
        part: MimePart,
    ) -> EntityStep {
        let place = DocumentPlace {
            offset: self.file_offset(at),
            member: String::new(),
        };
        match attached.document(kind, &part, &place, self.state) {
            DocumentStep::Unread => self.skip(range, part),
            DocumentStep::Read => self.after(range.boundary),
            DocumentStep::Message(layer) => EntityStep::Attachment {
                layer: Box::new(Layer::Entities(layer)),
                then: Box::new(self.after(range.boundary)),
            },
        }
    }

    /// Reads a part beyond a limit as one text; skips an archive, whose bytes are none.
    fn flat(&mut self, body: BodyRange, part: MimePart, reader: PartReader) -> EntityStep {
        match reader {
            PartReader::Archive | PartReader::Document(_) => self.skip(body, part),
            _ => {
                let form = TextForm::Plain;
                self.leaf(body, &MimePart { form, ..part })
            }
        }
    }

    /// The reader of the body at `body`, if attachments of its kind are wanted.
    fn reader(&self, body: Span, part: &MimePart) -> PartReader {
        if part.is_message() {
            // A colon is no base64 digit: the body is a text all the same.
            let decoder = PartBody::new(body.of(self.raw), OffsetMap::default(), false, part);
            return if decoder.is_mislabelled_base64() {
                PartReader::Text(TextForm::Plain)
            } else {
                PartReader::Message
            };
        }
        let found = || {
            reader(&PartStart {
                media_type: &part.media_type,
                name: part.name.as_deref(),
                raw: body.of(self.raw),
                encoding: part.transfer_encoding(),
            })
        };
        match self.state.policy.attachments {
            // RTF is a text by its type.
            AttachmentPolicy::None if part.media_type.starts_with("text/") => found(),
            AttachmentPolicy::None => PartReader::Unread,
            AttachmentPolicy::Text => match found() {
                reader @ PartReader::Document(DocumentKind::Rtf) => reader,
                PartReader::Archive | PartReader::Document(_) => PartReader::Unread,
                reader => reader,
            },
            AttachmentPolicy::All => found(),
        }
    }

    /// Decodes the body at `body`.
    fn attached_bytes(&self, entity: EntityStart, body: Span, part: &MimePart) -> AttachedBytes {
        let map = self.offset_map(body.start);
        let decoder = PartBody::new(body.of(self.raw), map, self.is_dot_stuffed, part);
        let (bytes, offset_map) = decoder.bytes();
        AttachedBytes {
            bytes,
            outer: Arc::new(offset_map),
            enclosing: entity.enclosing.around(part, self.depth(&entity)),
            number: entity.number,
        }
    }

    /// The range of the body at `body`, up to the next boundary.
    fn body_range(&self, body: usize, part: &MimePart) -> BodyRange {
        let boundary = match part.transfer_encoding() {
            TransferEncoding::Base64 => self.open.boundary_after_base64(self.raw, body),
            _ => self.open.boundary(self.raw, body),
        };
        let end = boundary.map_or(self.raw.len(), |boundary| boundary.start.max(body));
        BodyRange {
            span: Span::new(body, end),
            boundary,
        }
    }

    /// Reads a body without parts of its own.
    fn leaf(&mut self, body: BodyRange, part: &MimePart) -> EntityStep {
        let is_unwanted_html =
            part.form == TextForm::Html && self.state.policy.html == HtmlPolicy::Skip;
        if is_unwanted_html {
            return self.skip(body, part.clone());
        }
        self.state.report.text_parts += 1;
        self.text(body.span, part);
        self.after(body.boundary)
    }

    /// Counts a body that is not read.
    fn skip(&mut self, body: BodyRange, part: MimePart) -> EntityStep {
        let raw = self
            .offset_map(body.span.start)
            .raw(Span::new(0, body.span.len()));
        let skipped = SkippedPart::new(part, raw.span);
        self.state.report.skipped_parts.push(skipped);
        self.after(body.boundary)
    }

    /// Reads the rest of the message as one text, with all boundaries in it.
    fn rest(&mut self, body: usize, part: &MimePart) -> EntityStep {
        self.state.report.text_parts += 1;
        self.text(Span::new(body, self.raw.len()), &part.as_rest());
        EntityStep::End
    }

    /// Reads bytes before the first part or after the last one. No mail reader shows them, but a
    /// URL in them is found.
    fn between(&mut self, at: usize) -> EntityStep {
        let raw = self.raw;
        let boundary = self.open.boundary(raw, at);
        let end = boundary.map_or(raw.len(), |boundary| boundary.start.max(at));
        let between = Span::new(at, end);
        if memchr::memchr2(b':', b'.', between.of(raw)).is_some() {
            let number = self.open.0.last().map(|multipart| &multipart.number);
            self.text(between, &MimePart::between_parts(number));
        }
        self.after(boundary)
    }

    /// Closes the multiparts that end at `boundary`, and continues after it. Without a boundary the
    /// message ends.
    fn after(&mut self, boundary: Option<BoundaryLine>) -> EntityStep {
        let Some(boundary) = boundary else {
            self.open.0.clear();
            return EntityStep::End;
        };
        self.open.0.truncate(boundary.level + 1);
        if boundary.closes {
            self.open.0.truncate(boundary.level);
            return EntityStep::Between { at: boundary.end };
        }
        let Some(multipart) = self.open.0.last_mut() else {
            return EntityStep::End;
        };
        multipart.parts += 1;
        EntityStep::Entity(EntityStart {
            at: boundary.end,
            number: multipart.number.part(multipart.parts),
            default_type: multipart.default_type,
            enclosing: multipart.enclosing.clone(),
        })
    }

    /// Decodes a body and passes it to the sink.
    fn text(&mut self, body: Span, part: &MimePart) {
        let map = self.offset_map(body.start);
        let decoder = PartBody::new(body.of(self.raw), map, self.is_dot_stuffed, part);
        if let Some(open) = decoder.decode(self.state.sink) {
            let diagnostic = open.diagnostic(self.state.raw_start);
            self.state.report.diagnostics.push(diagnostic);
        }
        if decoder.is_mislabelled_base64() {
            let message = "a part in base64 that holds plain text: read as both".to_owned();
            self.report(DiagnosticKind::Ambiguous, body.start, message);
        }
    }

    /// Reports a diagnostic at an offset in the layer's bytes.
    fn report(&mut self, kind: DiagnosticKind, at: usize, message: String) {
        let diagnostic = Diagnostic::at(kind, self.file_offset(at), message);
        self.state.report.diagnostics.push(diagnostic);
    }

    /// The offset in the source of an offset in the layer's bytes.
    fn file_offset(&self, at: usize) -> u64 {
        let raw = self.offset_map(at).raw(Span::new(0, 0)).span;
        self.state.raw_start + raw.start as u64
    }
}

/// The place of a document, for events about it.
struct DocumentPlace {
    /// Offset in the source of the part that holds it.
    offset: u64,
    /// Begins a message: the names of a member of an archive; empty for a part.
    member: String,
}

/// The result of reading a document.
enum DocumentStep {
    Unread,
    /// A page, which was passed to the sink.
    Read,
    /// A message that is still to be read.
    Message(EntityLayer<'static>),
}

impl AttachedBytes {
    /// Bytes of memory that they take, with their map.
    fn held_bytes(&self) -> usize {
        self.bytes.len() + self.outer.memory_bytes()
    }

    /// Passes the text that they are to the sink: a member of an archive of this media type.
    #[cfg(feature = "archives")]
    fn text(&self, media_type: &str, form: TextForm, state: &mut WalkState<'_>) {
        state.report.text_parts += 1;
        let part = MimePart::member(media_type, form, &self.number, &self.enclosing);
        let map = OffsetMap::within(Some(&self.outer), 0);
        let open = PartBody::new(&self.bytes, map, false, &part).decode(state.sink);
        let diagnostic = open.map(|open| open.diagnostic(state.raw_start));
        state.report.diagnostics.extend(diagnostic);
    }

    /// Reads the document that the bytes are, as far as the message's balance allows.
    fn document(
        self,
        kind: DocumentKind,
        part: &MimePart,
        place: &DocumentPlace,
        state: &mut WalkState<'_>,
    ) -> DocumentStep {
        let balance = state.balance().clone();
        let is_reported = balance.is_used_up();
        if let Err(message) = balance.check() {
            if !is_reported {
                let message = format!("{}{message}", place.member);
                let diagnostic = Diagnostic::at(DiagnosticKind::Limit, place.offset, message);
                state.report.diagnostics.push(diagnostic);
            }
            return DocumentStep::Unread;
        }
        let left = usize::try_from(balance.left()).unwrap_or(usize::MAX);
        let limits = Limits {
            message_bytes: left.min(state.limits.message_bytes),
            ..*state.limits
        };
        let DocumentReading {
            content,
            problems,
            unpacked_bytes,
            ..
        } = read_document(kind, &self.bytes, &limits, state.on_large);
        balance.add(unpacked_bytes as u64);
        for DocumentProblem { kind, message } in problems {
            let message = format!("{}{message}", place.member);
            let diagnostic = Diagnostic::at(kind, place.offset, message);
            state.report.diagnostics.push(diagnostic);
        }
        let whole = OffsetMap {
            outer: Some(Arc::clone(&self.outer)),
            ..OffsetMap::whole(Span::new(0, self.bytes.len()))
        };
        match content {
            DocumentContent::Unread => DocumentStep::Unread,
            DocumentContent::Page(page) => {
                state.report.text_parts += 1;
                converted_page(page, whole, part, state.sink);
                DocumentStep::Read
            }
            DocumentContent::Message(bytes) => {
                let message = AttachedBytes {
                    bytes,
                    outer: Arc::new(whole),
                    ..self
                };
                DocumentStep::Message(message.message(state.limits))
            }
        }
    }

    /// The layer of the message that the bytes are.
    fn message(self, limits: &Limits) -> EntityLayer<'static> {
        let held_bytes = self.held_bytes();
        let AttachedBytes {
            bytes,
            outer,
            number,
            enclosing,
        } = self;
        let all = Span::new(0, bytes.len());
        let bytes = LayerBytes::Attached(Rc::new(bytes), all);
        let offset_map = OffsetMap::within(Some(&outer), 0);
        EntityLayer {
            held_bytes,
            ..message_layer(bytes, offset_map, number, &enclosing, limits)
        }
    }
}

/// Parses the first Content-Disposition field (RFC 2183) of a header whose fields are ranges of
/// `raw`. Its type is in the place of the media type.
fn disposition(raw: &[u8], fields: &HeaderFields) -> Option<mailparse::ParsedContentType> {
    let is_disposition = |field: &&HeaderField| {
        field
            .name
            .of(raw)
            .eq_ignore_ascii_case(b"content-disposition")
    };
    let field = fields.all.iter().find(is_disposition)?;
    Some(mailparse::parse_content_type(&field_text(
        field.value.of(raw),
    )))
}

/// The name of an attachment: `filename` of its Content-Disposition, or `name` of its Content-Type.
fn attachment_name(raw: &[u8], fields: &HeaderFields) -> Option<String> {
    let by_type = || {
        fields.each(KnownField::ContentType).find_map(|field| {
            mailparse::parse_content_type(&field_text(field.value.of(raw)))
                .params
                .remove("name")
        })
    };
    disposition(raw, fields)
        .and_then(|mut disposition| disposition.params.remove("filename"))
        .or_else(by_type)
        .map(|name| repeated_name(name.trim()).to_owned())
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each text as `path type: text`, and checks that its offset map leads back to its raw bytes.
    fn shown(raw: &str) -> Vec<String> {
        let message = Message::parse(raw.as_bytes());
        let fields = HeaderFields::of(message.raw, usize::MAX);
        let mut seen = Vec::new();
        walk(
            &message,
            &fields,
            &Limits::default(),
            TextPolicy::default(),
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
        );
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
        let raw = "Content-Type: multipart/mixed; boundary=\"x\"\n\npreamble.\n--x\n\none!\n--x\nContent-Type: text/html\n\
                   Content-Transfer-Encoding: quoted-printable\n\nt=\nwo\n--x\nContent-Type: image/png\n\nno\n--x--\nepilogue.\n";
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
            "Content-Type: multipart/digest; boundary=x\n\n--x\n\n{inner}\n--x\n\nSubject: k:l\n\nplain\n--x--\n"
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
        let raw = "Content-Type: multipart/mixed; boundary=\":x\"\n\n--:x\nContent-Type: text/html\n--:x\n\ntwo\n--:x--\n";
        assert_eq!(shown(raw), ["1 text/html: ", "2 text/plain: two"]);
    }

    #[test]
    fn a_body_with_two_encodings_or_types_is_read_with_both() {
        let raw = "Content-Transfer-Encoding: 7bit\nContent-Transfer-Encoding: base64 (x)\n\naHR0cDovL2EuYg==\n";
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
    fn a_url_at_the_start_of_a_line_is_no_field() {
        let raw = "Content-Type: multipart/mixed; boundary=b\n\n--b\nhttp://a.b/\n--b--\n";
        assert_eq!(shown(raw), ["1 text/plain: http://a.b/"]);
    }

    #[test]
    fn a_multipart_with_two_boundaries_is_read_with_both() {
        let raw = "Content-Type: multipart/mixed; boundary=a; boundary=b\n\n--a\n\none\n--b\n\ntwo\n--a--\n";
        assert_eq!(shown(raw), ["1 text/plain: one", "2 text/plain: two"]);
        let continued = "Content-Type: multipart/mixed;\n boundary*0=a;\n boundary*1=b\n\n--ab\n\none\n--ab--\n";
        assert_eq!(
            shown(continued),
            ["1 text/plain: one"],
            "RFC 2231 section 3"
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
