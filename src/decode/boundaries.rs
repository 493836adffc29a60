//! Boundaries of multiparts (RFC 2046 section 5.1.1): the strings that a header names, and the lines
//! that hold them.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::field_names::KnownField;
use super::header::{HeaderFields, field_text};
use super::part::{DefaultType, EnclosingMessage, PartNumber};
use crate::limits::MULTIPART_BOUNDARIES;

/// Finds line ends before lines that begin like a boundary.
static DASHED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\n--"));

/// A line that ends a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BoundaryLine {
    /// End of the text before it, whose last line end belongs to the boundary.
    pub(super) start: usize,
    /// Offset of the first byte after the line.
    pub(super) end: usize,
    /// Index of its multipart among the open ones.
    pub(super) level: usize,
    /// `true` for the closing boundary, which ends in `--`.
    pub(super) closes: bool,
}

/// A multipart whose closing boundary has not been read yet.
#[derive(Clone, Debug)]
pub(super) struct OpenMultipart {
    /// Its boundary; more than one if its header names more.
    pub(super) boundaries: Vec<Vec<u8>>,
    pub(super) number: PartNumber,
    /// Number of its parts so far.
    pub(super) parts: usize,
    /// The type of its parts that name no type.
    pub(super) default_type: DefaultType,
    pub(super) enclosing: EnclosingMessage,
}

/// The open multiparts, the outermost first.
#[derive(Debug, Default)]
pub(super) struct OpenMultiparts(pub(super) Vec<OpenMultipart>);

impl OpenMultiparts {
    /// The first boundary line at or after `from`. The innermost multipart is tried first on each
    /// line.
    pub(super) fn boundary(&self, raw: &[u8], from: usize) -> Option<BoundaryLine> {
        self.boundary_before(raw, from, raw.len())
    }

    /// The first boundary line whose two hyphens are in `from..to`.
    pub(super) fn boundary_before(
        &self,
        raw: &[u8],
        from: usize,
        to: usize,
    ) -> Option<BoundaryLine> {
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
    pub(super) fn boundary_after_base64(&self, raw: &[u8], from: usize) -> Option<BoundaryLine> {
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
pub(super) fn named_boundaries(raw: &[u8], fields: &HeaderFields) -> Vec<Vec<u8>> {
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
