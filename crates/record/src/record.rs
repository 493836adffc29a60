//! The wire format: records, rejects, events and summaries as JSON lines. A few of them are also
//! read back.
//!
//! No other module knows the names and order of the fields. A finished line is never edited, except
//! that [`LineFormat::set_counts`] writes numbers that become known late.

#[cfg(feature = "arrow")]
mod columns;
mod defang;
mod fields;
mod format;
mod json;
mod other_lines;
mod owned;
mod parts;
mod record_line;
mod schema;
mod source_range;
mod value;
mod written_line;

#[cfg(feature = "arrow")]
pub use columns::{Columns, arrow_schema};
pub use defang::Links;
pub use fields::{Field, FieldId, FieldType, FieldValues, MISMATCH, RECORD_FIELDS, hazard_names};
pub use format::{
    FormulaGuard, GrepLine, GrepStyle, HeaderRow, LineFormat, Occurrences, RecordWriter, Table,
    TableSyntax, is_formula,
};
pub use json::{JsonFields, json_line};
pub use other_lines::{Sidecar, write_event, write_gone, write_parsed, write_reject};
pub use owned::{Record, RecordValue};
pub use parts::Parts;
pub use record_line::{
    GoneLine, LineError, LoadedRecord, LoadedValue, RecordLine, list_texts, mailbox_key,
    read_record_line,
};
pub use schema::{
    ELASTICSEARCH_VERSION, SchemaLanguage, elasticsearch_mapping, record_reference, schema,
};
pub use source_range::{SourceRange, read_item, read_source_range, write_item};
pub use value::MessageTail;
pub use written_line::{ParsedGrepLine, is_written_file, is_written_line, parse_grep_line};

use std::sync::Arc;

use urlspool_mail::decode::{Author, MessageInfo, MimePart};
use urlspool_text::hash::hash_pieces;
use urlspool_text::origin::{Source, SourceKind};
use urlspool_text::parse::{FoundUrl, Hazard, found_hazards};
use urlspool_text::repair::Join;

/// Version of the wire format. Adding a field keeps the version; changing a field's name or meaning
/// raises it.
pub const SCHEMA: u32 = 1;

/// A found URL with all data of its record.
#[derive(Clone, Copy, Debug)]
pub struct FoundRecord<'r> {
    /// The URL.
    pub found: &'r FoundUrl<'r>,
    /// Identifier of the record.
    pub id: u128,
    /// Digest of the message, equal for every copy of it.
    pub digest: u128,
    /// Bytes of the text from the URL's first to its last character, before repair.
    pub raw: &'r [u8],
    /// Region of the message: `header:NAME`, `body`, `signature`, ...
    pub region: &'r str,
    /// Quote depth of the line on which the URL starts.
    pub quote_depth: usize,
    /// Position in the source.
    pub origin: RecordOrigin<'r>,
    /// Header data of the message; `None` for a text without a header.
    pub message: Option<&'r MessageInfo>,
    /// Innermost message that contains the URL; `None` for the outermost message.
    pub author: Option<&'r Arc<Author>>,
    /// Part that contains the URL; `None` for the message header and for a text without parts.
    pub part: Option<&'r MimePart>,
    /// Text around the URL, if it was requested.
    pub context: Option<UrlContext<'r>>,
    /// Link text; `None` if it is empty or the URL is not in an attribute.
    pub anchor: Option<&'r [u8]>,
    /// `true` if the link text names a different host; `None` if the URL is not in an attribute.
    pub mismatch: Option<bool>,
    /// Record of the redirector's URL that this URL was extracted from.
    pub redirected_from: Option<RedirectSource>,
    /// Joins of the URL's logical line, including doubtful joins and joins after the URL's end.
    pub joins: &'r [Join],
}

impl FoundRecord<'_> {
    /// Returns the names of the URL's hazards. A link whose text names a different host adds
    /// [`MISMATCH`].
    pub fn hazards(&self) -> impl Iterator<Item = &'static str> {
        let of_link = (self.mismatch == Some(true)).then_some(MISMATCH);
        let of_url = found_hazards(self.found).into_iter().map(Hazard::name);
        of_url.chain(of_link)
    }
}

/// Bytes of the text before and after a URL, cut between characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlContext<'r> {
    /// Bytes before the URL's first character.
    pub before: &'r [u8],
    /// Bytes after the URL's last character.
    pub after: &'r [u8],
}

/// Record that a redirector's target was extracted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedirectSource {
    /// Identifier of the record of the redirector's URL.
    pub record_id: u128,
    /// Name of the redirector.
    pub redirector: &'static str,
}

/// Position of a URL or a rejected candidate, in bytes of its source.
#[derive(Clone, Copy, Debug)]
pub struct RecordOrigin<'r> {
    /// The source.
    pub source: &'r Source,
    /// Kind of source, which determines how messages are split.
    pub kind: SourceKind,
    /// Offset of the first byte.
    pub start: u64,
    /// Offset after the last byte.
    pub end: u64,
    /// `true` if `start` and `end` are exact. Otherwise the range contains the URL and perhaps
    /// more.
    pub exact: bool,
    /// Line number within the message, from 1.
    pub line: u64,
    /// Offset of the message's first byte, which may be a `From ` line's.
    pub message_start: u64,
    /// Offset after the message's last byte.
    pub message_end: u64,
}

/// Demand for values that cost a pass over the message: identifiers and digests, line numbers, or
/// regions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Demand {
    /// The values are written.
    #[default]
    Needed,
    /// The values are not written. Each is 0 or an empty text.
    Unneeded,
}

/// Returns the largest offset up to `at` that is a UTF-8 character boundary of `text`. Text that is
/// not UTF-8 is cut at `at`.
#[must_use]
pub fn context_border(text: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|&at| text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80))
        .unwrap_or(at)
}

/// Returns the identifier of a record: a hash of the message's digest, the number of earlier
/// occurrences of this URL in the part (`before`), the part's path, and the URL with its fragment.
/// The input usually fits into one or two blocks of the hash.
#[must_use]
pub fn record_id(digest: u128, part: &str, url: &[u8], before: u32) -> u128 {
    let (digest, before) = (digest.to_be_bytes(), before.to_be_bytes());
    // The path contains no NUL, so the separator is unambiguous.
    hash_pieces(&[&digest, &before, part.as_bytes(), b"\0", url])
}
