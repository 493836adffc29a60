//! The walk over the parts of a message (RFC 2045, RFC 2046): iterative, bounded, with offsets.
//!
//! Headers are read by `part` and `content_type`, boundary lines are found by `boundary`, bodies are decoded by
//! `part_body`, and values of header fields by `header_text`.

#[cfg(test)]
mod tests;

use super::boundary::{BoundaryLine, OpenMultipart, OpenMultiparts, named_boundaries};
use super::content_type::{DefaultType, TextForm};
use super::field_names::KnownField;
use super::header::{HeaderFields, field_text};
use super::header_text::searchable_text;
use super::part::{EnclosingMessage, MimePart, PartNumber};
use super::part_body::PartBody;
use super::transfer::TransferEncoding;
use super::{
    DecodeReport, DecodedText, HeaderPolicy, HtmlPolicy, LineLayout, OffsetMap, Region,
    SkippedPart, TextPolicy,
};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::limits::Limits;
use crate::planted_faults::{PlantedFault, panic_at_mark};
use crate::span::Span;
use crate::split::Message;

/// Passes all texts of a message with a header to `sink`, in the order of the raw bytes.
pub(super) fn walk<'m>(
    message: &Message<'m>,
    fields: &'m HeaderFields,
    limits: &Limits,
    policy: TextPolicy,
    sink: &mut dyn FnMut(DecodedText<'_>),
) -> DecodeReport {
    panic_at_mark(PlantedFault::PanicInMessage, message.raw);
    let mut walk = PartWalk {
        message,
        limits,
        policy,
        sink,
        open: OpenMultiparts::default(),
        report: DecodeReport::default(),
        parts: 0,
        is_nesting_reported: false,
    };
    let outermost = EntityStart {
        at: 0,
        number: PartNumber::outermost(),
        default_type: DefaultType::Text,
        enclosing: EnclosingMessage::default(),
    };
    let mut next = walk.entity(outermost, fields, None);
    loop {
        next = match next {
            EntityStep::End => break,
            EntityStep::Between { at } => walk.between(at),
            EntityStep::Entity(entity) => walk.inner_entity(entity),
        };
    }
    walk.report
}

/// The next step of the walk.
enum EntityStep {
    /// A header and its body.
    Entity(EntityStart),
    /// Bytes that belong to no part, up to a boundary.
    Between { at: usize },
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

struct PartWalk<'w, 'm> {
    message: &'w Message<'m>,
    limits: &'w Limits,
    policy: TextPolicy,
    sink: &'w mut dyn FnMut(DecodedText<'_>),
    open: OpenMultiparts,
    report: DecodeReport,
    /// Number of entities so far.
    parts: usize,
    /// `true` once the nesting limit was reached, which is reported once: a message may have thousands of parts beyond it.
    is_nesting_reported: bool,
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
    /// `part` describes it; `None` for the outermost message, whose header fields belong to no part.
    fn entity(
        &mut self,
        entity: EntityStart,
        fields: &HeaderFields,
        part: Option<MimePart>,
    ) -> EntityStep {
        let body = fields.body.min(self.message.raw.len());
        if fields.is_truncated {
            let max = self.limits.header_bytes;
            let message = format!("a header of more than {max} bytes: the rest is read as body");
            self.report(DiagnosticKind::Limit, entity.at, message);
        }
        self.header_texts(fields, part.as_ref());
        let part = part.unwrap_or_else(|| self.describe(&entity, fields));
        self.parts += 1;
        if self.parts > self.limits.mime_parts {
            let max = self.limits.mime_parts;
            let message = format!("more than {max} parts: the rest is read as one text");
            self.report(DiagnosticKind::Limit, entity.at, message);
            return self.rest(body, &part);
        }
        if part.is_multipart() {
            self.multipart(entity, fields, body, &part)
        } else if part.is_message() && part.transfer_encoding() == TransferEncoding::Identity {
            self.message_in_part(entity, body, &part)
        } else {
            self.leaf(body, &part)
        }
    }

    fn describe(&self, entity: &EntityStart, fields: &HeaderFields) -> MimePart {
        MimePart::new(
            self.message.raw,
            fields,
            &entity.number,
            entity.default_type,
            &entity.enclosing,
        )
    }

    /// Reads the header at `at`. It ends at a boundary at the latest, even at one that looks like a field (`--x: y`).
    fn fields(&self, at: usize) -> HeaderFields {
        let raw = self.message.raw;
        let read = |text: &[u8]| HeaderFields::of(text, self.limits.header_bytes).shifted(at);
        let fields = read(&raw[at..]);
        let end = fields.body.min(raw.len());
        match self.open.boundary_before(raw, at, end) {
            Some(boundary) => read(&raw[at..boundary.start.max(at)]),
            None => fields,
        }
    }

    /// Passes the values of a header's fields to the sink. `part` is `None` for the message's own header.
    fn header_texts(&mut self, fields: &HeaderFields, part: Option<&MimePart>) {
        if self.policy.headers == HeaderPolicy::Skip {
            return;
        }
        let raw = self.message.raw;
        for field in fields.all.iter().filter(|field| !field.roles.is_trace) {
            let Some(converted) = searchable_text(field.value.of(raw)) else {
                continue;
            };
            let offset_map = OffsetMap {
                base: field.value.start,
                maps: converted.map.into_iter().collect(),
            };
            let region = Region::Header(field.name.of(raw));
            (self.sink)(DecodedText {
                lines: LineLayout::Folded,
                ..DecodedText::plain(converted.bytes, offset_map, region, part)
            });
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
        let boundaries = named_boundaries(self.message.raw, fields);
        if boundaries.is_empty() {
            let message = "a multipart without a boundary: read as one text".to_owned();
            self.report(DiagnosticKind::Ambiguous, entity.at, message);
            return self.leaf(body, part);
        }
        if self.is_too_deep(&entity) {
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
            return self.leaf(body, part);
        }
        let raw = &self.message.raw[body..];
        let inner = HeaderFields::of(raw, self.limits.header_bytes);
        let id = inner
            .first_known(KnownField::MessageId)
            .map(|field| field_text(field.value.of(raw)));
        EntityStep::Entity(EntityStart {
            at: body,
            number: entity.number.message(),
            default_type: DefaultType::Text,
            enclosing: entity.enclosing.inner(id.as_deref()),
        })
    }

    /// Returns `true`, and reports the first case, if the parts of `entity` would exceed the nesting limit.
    fn is_too_deep(&mut self, entity: &EntityStart) -> bool {
        let max = self.limits.mime_depth;
        let is_too_deep = max <= self.open.0.len() + entity.enclosing.depth;
        if is_too_deep && !std::mem::replace(&mut self.is_nesting_reported, true) {
            let message = format!("more than {max} levels of parts: the rest is read as one text");
            self.report(DiagnosticKind::Limit, entity.at, message);
        }
        is_too_deep
    }

    /// Reads a body without parts of its own, up to the next boundary.
    fn leaf(&mut self, body: usize, part: &MimePart) -> EntityStep {
        let raw = self.message.raw;
        let boundary = match part.transfer_encoding() {
            TransferEncoding::Base64 => self.open.boundary_after_base64(raw, body),
            _ => self.open.boundary(raw, body),
        };
        let end = boundary.map_or(raw.len(), |boundary| boundary.start.max(body));
        let is_unwanted_html = part.form == TextForm::Html && self.policy.html == HtmlPolicy::Skip;
        if part.form == TextForm::Other || is_unwanted_html {
            self.report.skipped_parts.push(SkippedPart {
                part: part.clone(),
                raw: Span::new(body, end),
            });
        } else {
            self.report.text_parts += 1;
            self.text(Span::new(body, end), part);
        }
        self.after(boundary)
    }

    /// Reads the rest of the message as one text, with all boundaries in it.
    fn rest(&mut self, body: usize, part: &MimePart) -> EntityStep {
        self.report.text_parts += 1;
        self.text(Span::new(body, self.message.raw.len()), &part.as_rest());
        EntityStep::End
    }

    /// Reads bytes before the first part or after the last one. No mail reader shows them, but a URL in them is found.
    fn between(&mut self, at: usize) -> EntityStep {
        let raw = self.message.raw;
        let boundary = self.open.boundary(raw, at);
        let end = boundary.map_or(raw.len(), |boundary| boundary.start.max(at));
        let between = Span::new(at, end);
        if memchr::memchr2(b':', b'.', between.of(raw)).is_some() {
            let number = self.open.0.last().map(|multipart| &multipart.number);
            self.text(between, &MimePart::between_parts(number));
        }
        self.after(boundary)
    }

    /// Closes the multiparts that end at `boundary`, and goes on after it. Without one the message ends.
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
        let decoder = PartBody::new(self.message, body, part);
        if let Some(open) = decoder.decode(self.sink) {
            let diagnostic = open.diagnostic(self.message.raw_start());
            self.report.diagnostics.push(diagnostic);
        }
        if decoder.is_mislabelled_base64() {
            let message = "a part in base64 that holds plain text: read as both".to_owned();
            self.report(DiagnosticKind::Ambiguous, body.start, message);
        }
    }

    /// Reports a diagnostic at an offset in the raw bytes.
    fn report(&mut self, kind: DiagnosticKind, at: usize, message: String) {
        let offset = self.message.raw_start() + at as u64;
        let diagnostic = Diagnostic::at(kind, offset, message);
        self.report.diagnostics.push(diagnostic);
    }
}
