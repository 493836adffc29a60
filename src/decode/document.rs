//! Documents: a page of text and links, or a message, each byte of which comes from the document as a whole.

use super::header::HeaderFields;
use super::part::{MimePart, converted_page};
use super::{DecodeReport, DecodedText, HtmlPage, OffsetMap, SkippedPart, TextPolicy, mime_walk};
use crate::diagnostic::Diagnostic;
use crate::documents::{DocumentContent, DocumentKind, DocumentReading, read_document};
use crate::limits::Limits;
use crate::read::UnpackBalance;
use crate::span::Span;
use crate::split::{Extent, Message};

/// Passes the texts of a source that is a document to `sink`.
pub(super) fn source_texts(
    message: &Message<'_>,
    kind: DocumentKind,
    limits: &Limits,
    policy: TextPolicy,
    sink: &mut dyn FnMut(DecodedText<'_>),
    on_large: &mut dyn FnMut(),
) -> DecodeReport {
    let raw = Span::new(0, message.raw.len());
    let mut part = MimePart::document(kind.media_type());
    let mut report = DecodeReport::default();
    match message.extent {
        Extent::Whole => {}
        // It is larger than what is held in memory.
        Extent::FirstFragment => {
            report.skipped_parts.push(SkippedPart::new(part, raw));
            return report;
        }
        Extent::LaterFragment(_) => return report,
    }
    let left = UnpackBalance::of_message(message.raw.len(), message.unpacked_times, limits).left();
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    let document_limits = Limits {
        message_bytes: left.min(limits.message_bytes),
        ..*limits
    };
    let DocumentReading {
        content,
        media_type,
        problems,
        ..
    } = read_document(kind, message.raw, &document_limits, on_large);
    if let Some(media_type) = media_type {
        part.media_type = media_type;
    }
    let at = message.raw_start();
    let problems = problems.into_iter();
    let problems = problems.map(|problem| Diagnostic::at(problem.kind, at, problem.message));
    report.diagnostics.extend(problems);
    let whole = OffsetMap::whole(raw);
    match content {
        DocumentContent::Page(page) => {
            converted_page(page, whole, &part, sink);
            report.text_parts += 1;
        }
        DocumentContent::Message(inner) => {
            let inner = Message::parse(&inner);
            let fields = HeaderFields::of(inner.raw, limits.header_bytes);
            let mut sink = |text: DecodedText<'_>| {
                sink(DecodedText {
                    offset_map: whole.clone(),
                    page: text.page.map(|page| HtmlPage {
                        offset_map: whole.clone(),
                        ..page
                    }),
                    ..text
                });
            };
            let read = mime_walk::walk(&inner, &fields, limits, policy, &mut sink, on_large);
            report.text_parts += read.text_parts;
            let skipped = read.skipped_parts.into_iter();
            report
                .skipped_parts
                .extend(skipped.map(|skipped| SkippedPart { raw, ..skipped }));
            let diagnostics = read.diagnostics.into_iter();
            report
                .diagnostics
                .extend(diagnostics.map(|diagnostic| Diagnostic {
                    offset: Some(at),
                    ..diagnostic
                }));
        }
        DocumentContent::Unread => report.skipped_parts.push(SkippedPart::new(part, raw)),
    }
    report
}

/// The header of a document that is a message: its bytes, and its fields in them.
///
/// Reads the document again, with the default limits: its size is limited already. Only messages of Outlook with links need it.
pub(super) fn document_header(
    message: &Message<'_>,
    kind: DocumentKind,
) -> Option<(Vec<u8>, HeaderFields)> {
    if kind != DocumentKind::Compound || message.extent != Extent::Whole {
        return None;
    }
    let limits = &Limits::default();
    match read_document(kind, message.raw, limits, &mut || {}).content {
        DocumentContent::Message(inner) => {
            let fields = HeaderFields::of(&inner, limits.header_bytes);
            Some((inner, fields))
        }
        DocumentContent::Page(_) | DocumentContent::Unread => None,
    }
}
