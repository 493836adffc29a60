//! The walk over the parts of a message (RFC 2045, RFC 2046): iterative, bounded, with offsets.
//! Boundaries (RFC 2046 section 5.1.1): the strings that a header names, and the lines that hold
//! them.
//!
//! Headers are read and bodies decoded by `part`, and values of header fields by `header`.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::external_body::{EXTERNAL_BODY, ExternalBody, MissingParameters, external_body};
use super::field_names::KnownField;
use super::header::{HeaderFields, field_text, searchable_text};
use super::part::{DefaultType, EnclosingMessage, MimePart, PartBody, PartNumber, TextForm};
use super::transfer::TransferEncoding;
use super::{
    DecodeReport, DecodedText, HeaderPolicy, HtmlPolicy, LineLayout, OffsetMap, Region,
    SkippedPart, TextPolicy,
};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::limits::{Limits, MULTIPART_BOUNDARIES};
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
    /// `true` once the nesting limit was reached, which is reported once: a message may have
    /// thousands of parts beyond it.
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
    /// `part` describes it; `None` for the outermost message, whose header fields belong to no
    /// part.
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
        if part.media_type == EXTERNAL_BODY {
            self.external_body(fields, &part);
        }
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

    /// Reads the header at `at`. It ends at a boundary at the latest, even at one that looks like a
    /// field (`--x: y`).
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

    /// Passes the values of a header's fields to the sink. `part` is `None` for the message's own
    /// header.
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

    /// Passes the URL of a body that stands elsewhere to the sink.
    fn external_body(&mut self, fields: &HeaderFields, part: &MimePart) {
        match external_body(self.message.raw, fields) {
            Ok(None) => {}
            Ok(Some(ExternalBody { url, offset_map })) => {
                let region = Region::ExternalBody;
                (self.sink)(DecodedText::plain(
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

    /// Returns `true`, and reports the first case, if the parts of `entity` would exceed the
    /// nesting limit.
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

    /// Reads bytes before the first part or after the last one. No mail reader shows them, but a
    /// URL in them is found.
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

/// Finds line ends before lines that begin like a boundary.
static DASHED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\n--"));

/// A line that ends a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BoundaryLine {
    /// End of the text before it, whose last line end belongs to the boundary.
    pub(super) start: usize,
    /// Offset of the first byte after the line.
    pub(super) end: usize,
    /// Index of its multipart among the open ones.
    pub(super) level: usize,
    /// `true` for the closing boundary, which ends in `--`.
    closes: bool,
}

/// A multipart whose closing boundary has not been read yet.
#[derive(Clone, Debug)]
struct OpenMultipart {
    /// Its boundary; more than one if its header names more.
    boundaries: Vec<Vec<u8>>,
    pub(super) number: PartNumber,
    /// Number of its parts so far.
    pub(super) parts: usize,
    /// The type of its parts that name no type.
    pub(super) default_type: DefaultType,
    pub(super) enclosing: EnclosingMessage,
}

/// The open multiparts, the outermost first.
#[derive(Clone, Debug, Default)]
struct OpenMultiparts(pub(super) Vec<OpenMultipart>);

impl OpenMultiparts {
    /// The first boundary line at or after `from`. The innermost multipart is tried first on each
    /// line.
    pub(super) fn boundary(&self, raw: &[u8], from: usize) -> Option<BoundaryLine> {
        self.boundary_before(raw, from, raw.len())
    }

    /// The first boundary line whose two hyphens are in `from..to`.
    fn boundary_before(&self, raw: &[u8], from: usize, to: usize) -> Option<BoundaryLine> {
        if self.0.is_empty() {
            return None;
        }
        let text = &raw[from..to];
        let first = (from == 0 || raw[from - 1] == b'\n').then_some(from);
        let first = first.filter(|_| text.starts_with(b"--"));
        let others = DASHED.find_iter(text).map(|at| from + at + 1);
        first
            .into_iter()
            .chain(others)
            .find_map(|at| self.boundary_at(raw, at))
    }

    /// Returns the same as [`OpenMultiparts::boundary`], faster if the bytes are base64.
    ///
    /// A hyphen is no base64 digit (RFC 2045 section 6.8), and one byte is found in fewer steps
    /// than three.
    fn boundary_after_base64(&self, raw: &[u8], from: usize) -> Option<BoundaryLine> {
        if self.0.is_empty() {
            return None;
        }
        let hyphens = memchr::memchr_iter(b'-', &raw[from..]).map(|at| from + at);
        let begins_line =
            |&at: &usize| raw.get(at + 1) == Some(&b'-') && (at == 0 || raw[at - 1] == b'\n');
        hyphens
            .filter(begins_line)
            .find_map(|at| self.boundary_at(raw, at))
    }

    /// The boundary line whose two hyphens are at `at`.
    fn boundary_at(&self, raw: &[u8], at: usize) -> Option<BoundaryLine> {
        let end = memchr::memchr(b'\n', &raw[at..]).map_or(raw.len(), |end| at + end + 1);
        let line = raw[at + 2..end].trim_ascii_end();
        let (level, closes) = self
            .0
            .iter()
            .enumerate()
            .rev()
            .find_map(|(level, multipart)| {
                Some(level).zip(multipart.boundaries.iter().find_map(|it| closes(line, it)))
            })?;
        let before = raw[..at].strip_suffix(b"\n").map_or(at, <[u8]>::len);
        let start = raw[..before]
            .strip_suffix(b"\r")
            .map_or(before, <[u8]>::len);
        Some(BoundaryLine {
            start,
            end,
            level,
            closes,
        })
    }
}

/// Returns whether a boundary line closes its multipart; `None` if `line`, without its hyphens, is
/// no line of `boundary`.
fn closes(line: &[u8], boundary: &[u8]) -> Option<bool> {
    match line.strip_prefix(boundary)? {
        b"" => Some(false),
        b"--" => Some(true),
        _ => None,
    }
}

/// Returns all boundaries that the header's content types name, each once.
///
/// A header that names two is read with both, so that no part can hide from one reader and not from
/// another.
fn named_boundaries(raw: &[u8], fields: &HeaderFields) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    for field in fields.each(KnownField::ContentType) {
        let text = field_text(field.value.of(raw));
        // Only ASCII letters change, so that offsets stay valid.
        let lower = text.to_ascii_lowercase();
        let written = memchr::memmem::find_iter(lower.as_bytes(), b"boundary")
            .filter_map(|at| parameter_value(&text[at + b"boundary".len()..]));
        let parsed = mailparse::parse_content_type(&text)
            .params
            .remove("boundary");
        for boundary in parsed.into_iter().chain(written) {
            let boundary = boundary.trim_end().as_bytes().to_vec();
            if !boundary.is_empty()
                && !found.contains(&boundary)
                && found.len() < MULTIPART_BOUNDARIES
            {
                found.push(boundary);
            }
        }
    }
    found
}

/// The value after a parameter's name: `= "..."` or `=...`.
fn parameter_value(rest: &str) -> Option<String> {
    let value = rest.trim_start().strip_prefix('=')?.trim_start();
    match value.strip_prefix('"') {
        Some(inner) => inner.split('"').next().map(str::to_owned),
        None => value
            .split([';', ' ', '\t', '\r', '\n'])
            .next()
            .map(str::to_owned),
    }
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

    proptest::proptest! {
        #[test]
        fn the_search_in_base64_finds_the_same_boundaries(
            pieces in proptest::collection::vec(proptest::sample::select(vec!["\n", "\r\n", "-", "--", "--x", "\n--x", "\n--xy--", "A"]), 0..30),
        ) {
            let raw = pieces.concat();
            let open = OpenMultiparts(vec![OpenMultipart {
                boundaries: vec![b"x".to_vec(), b"xy".to_vec()],
                number: PartNumber::outermost(),
                parts: 0,
                default_type: DefaultType::Text,
                enclosing: EnclosingMessage::default(),
            }]);
            for from in 0..=raw.len() {
                proptest::prop_assert_eq!(
                    open.boundary_after_base64(raw.as_bytes(), from),
                    open.boundary(raw.as_bytes(), from)
                );
            }
        }
    }
}
