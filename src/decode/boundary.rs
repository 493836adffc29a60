//! The boundaries that a content type names (RFC 2046 section 5.1.1).

use super::field_names::KnownField;
use super::header::{HeaderFields, value};

/// Every boundary that the content type names: a header that names two is read both ways, so that nothing hides.
pub(super) fn boundaries(raw: &[u8], fields: &HeaderFields) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    for field in fields.each(KnownField::ContentType) {
        let text = value(field.value.of(raw));
        // ASCII alone is lowered, so that offsets stay.
        let lower = text.to_ascii_lowercase();
        let named = memchr::memmem::find_iter(lower.as_bytes(), b"boundary")
            .filter_map(|at| quoted(&text[at + 8..]));
        let parsed = mailparse::parse_content_type(&text)
            .params
            .remove("boundary");
        for boundary in parsed.into_iter().chain(named) {
            let boundary = boundary.trim_end().as_bytes().to_vec();
            if !boundary.is_empty() && !found.contains(&boundary) && found.len() < MOST_BOUNDARIES {
                found.push(boundary);
            }
        }
    }
    found
}

/// Boundaries of one multipart that are tried.
pub(super) const MOST_BOUNDARIES: usize = 8;

/// The value behind a parameter's name: `= "..."` or `=...`.
fn quoted(rest: &str) -> Option<String> {
    let value = rest.trim_start().strip_prefix('=')?.trim_start();
    match value.strip_prefix('"') {
        Some(inner) => inner.split('"').next().map(str::to_owned),
        None => value
            .split([';', ' ', '\t', '\r', '\n'])
            .next()
            .map(str::to_owned),
    }
}
