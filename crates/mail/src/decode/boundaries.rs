//! Boundaries of multiparts (RFC 2046 section 5.1.1): the strings named in a header, and the lines
//! that contain them.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::field_names::KnownField;
use super::header::{HeaderFields, field_text};
use super::part::PartPlace;
use crate::lines::{begins_with, is_line_start, line_end};
use urlspool_text::limits::MULTIPART_BOUNDARIES;

/// Finds the line ends before lines that look like a boundary.
static DASHED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\n--"));

/// A line that ends a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BoundaryLine {
    /// End of the text before the line. The last line end belongs to the boundary.
    pub(super) start: usize,
    /// Offset of the first byte after the line.
    pub(super) end: usize,
    /// Index of the line's multipart among the open ones.
    pub(super) level: usize,
    /// `true` for the closing boundary, which ends in `--`.
    pub(super) closes: bool,
}

/// A multipart whose closing boundary has not been read yet.
#[derive(Clone, Debug)]
pub(super) struct OpenMultipart {
    /// Boundaries; more than one if the header names several.
    pub(super) boundaries: Vec<Vec<u8>>,
    pub(super) place: PartPlace,
    /// Number of parts so far.
    pub(super) parts: usize,
}

/// Returns the first boundary line of the open multiparts, outermost first, whose two hyphens are
/// in `from..to`. On each line, the innermost multipart is tried first.
pub(super) fn boundary_before(
    open: &[OpenMultipart],
    raw: &[u8],
    from: usize,
    to: usize,
) -> Option<BoundaryLine> {
    if open.is_empty() {
        return None;
    }
    let text = &raw[from..to];
    let is_first = is_line_start(raw, from) && text.starts_with(b"--");
    let others = DASHED.find_iter(text).map(|at| from + at + 1);
    let mut starts = is_first.then_some(from).into_iter().chain(others);
    starts.find_map(|at| boundary_at(open, raw, at))
}

/// Returns the boundary line whose two hyphens are at `at`.
fn boundary_at(open: &[OpenMultipart], raw: &[u8], at: usize) -> Option<BoundaryLine> {
    let end = line_end(raw, at);
    let line = raw[at + 2..end].trim_ascii_end();
    let mut open = open.iter().enumerate().rev();
    let (level, closes) = open.find_map(|(level, multipart)| {
        Some(level).zip(multipart.boundaries.iter().find_map(|it| closes(line, it)))
    })?;
    let before = raw[..at].strip_suffix(b"\n").unwrap_or(&raw[..at]);
    Some(BoundaryLine {
        start: before.strip_suffix(b"\r").unwrap_or(before).len(),
        end,
        level,
        closes,
    })
}

/// Returns whether a boundary line closes its multipart, or `None` if `line`, given without
/// hyphens, is not a line of `boundary`.
fn closes(line: &[u8], boundary: &[u8]) -> Option<bool> {
    match line.strip_prefix(boundary)? {
        b"" => Some(false),
        b"--" => Some(true),
        _ => None,
    }
}

/// Returns all boundaries that the header's content types name, without duplicates.
///
/// A header that names two is read with both. Otherwise a part could be visible to one mail reader
/// and hidden from another.
pub(super) fn named_boundaries(raw: &[u8], fields: &HeaderFields) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    for field in fields.each(KnownField::ContentType) {
        let text = field_text(field.value.of(raw));
        // Only ASCII letters change, so offsets stay valid.
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

/// Returns `true` if a line of `body` is one of the boundaries.
pub(super) fn holds_boundary(body: &[u8], boundaries: &[Vec<u8>]) -> bool {
    let open = [OpenMultipart {
        boundaries: boundaries.to_vec(),
        place: PartPlace::default(),
        parts: 0,
    }];
    !boundaries.is_empty() && boundary_before(&open, body, 0, body.len()).is_some()
}

/// Guesses the boundary of a body from its lines: the first `--token` in the first `searched` bytes
/// that is followed by a MIME header field.
pub(super) fn guessed_boundary(body: &[u8], searched: usize) -> Option<Vec<u8>> {
    /// Maximum length of a boundary (RFC 2046, section 5.1.1).
    const MAX_BYTES: usize = 70;
    let start = &body[..body.len().min(searched.saturating_add(2))];
    let first = start.starts_with(b"--").then_some(0);
    let lines = DASHED.find_iter(start).map(|at| at + 1);
    first.into_iter().chain(lines).find_map(|at| {
        let end = line_end(body, at);
        let token = body[at + 2..end].trim_ascii_end();
        let is_token = (1..=MAX_BYTES).contains(&token.len())
            && token.iter().all(u8::is_ascii_graphic)
            && token.iter().any(u8::is_ascii_alphanumeric);
        (is_token && begins_with(&body[end..], b"content-")).then(|| token.to_vec())
    })
}

/// Returns the value after a parameter's name: `= "..."` or `=...`.
fn parameter_value(rest: &str) -> Option<String> {
    let value = rest.trim_start().strip_prefix('=')?.trim_start();
    match value.strip_prefix('"') {
        Some(inner) => inner.split('"').next().map(str::to_owned),
        None => Some(value.split([';', ' ', '\t', '\r', '\n']).next()?.to_owned()),
    }
}
