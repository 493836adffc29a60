//! The wire format: records, rejects, events and summaries as lines of JSON, and the few that are read back.
//!
//! No other module knows the names and the order of the fields. A finished line is never edited: fields that become known
//! late are written late ([`RecordWriter::write_open`], [`LineFormat::write_count`]).

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
pub use fields::{ClosedSet, Field, FieldId, FieldType, FieldValues, MISMATCH, RECORD_FIELDS};
pub use format::{
    FormulaGuard, GrepLine, GrepStyle, HeaderRow, LineFormat, RecordWriter, Table, TableSyntax,
    is_formula,
};
pub use json::{JsonFields, json_line};
pub use other_lines::{Sidecar, write_event, write_gone, write_parsed, write_reject};
pub use owned::{Record, RecordItems, RecordValue};
pub use parts::Parts;
pub use record_line::{
    GoneLine, LineError, LoadedRecord, LoadedValue, RecordLine, json_list, list_texts, mailbox_key,
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

/// Version of the wire format. A new field keeps it; a change of a name or a meaning raises it.
pub const SCHEMA: u32 = 1;

/// A found URL with everything that a record says of it.
#[derive(Clone, Copy, Debug)]
pub struct FoundRecord<'r> {
    /// The URL.
    pub found: &'r FoundUrl<'r>,
    /// The identifier of the record.
    pub id: u128,
    /// The digest of the message, the same for every copy of it.
    pub digest: u128,
    /// The bytes of the text from the first to the last character of the URL, before repair.
    pub raw: &'r [u8],
    /// The region of the message: `header:NAME`, `body`, `signature`, ...
    pub region: &'r str,
    /// Quote depth of the line on which the URL begins.
    pub quote_depth: usize,
    /// The position in the source.
    pub origin: RecordOrigin<'r>,
    /// The header data of the message; `None` for a text without a header.
    pub message: Option<&'r MessageInfo>,
    /// The innermost message that holds the URL; `None` if that is the outermost one.
    pub author: Option<&'r Arc<Author>>,
    /// The part that holds the URL; `None` for the header of the message and for a text without parts.
    pub part: Option<&'r MimePart>,
    /// The text around the URL, if it was asked for.
    pub context: Option<UrlContext<'r>>,
    /// The text of the link, if the URL is an attribute's and the text is not empty.
    pub anchor: Option<&'r [u8]>,
    /// `true` if the text of the link names another host; `None` if the URL is not an attribute's.
    pub mismatch: Option<bool>,
    /// For a URL that was read out of a redirector's URL: the record of that one.
    pub redirected_from: Option<RedirectSource>,
    /// The joins of the logical line that the URL was read from, doubtful ones and those after its end included.
    pub joins: &'r [Join],
}

impl FoundRecord<'_> {
    /// Names of the hazards of the URL, and of its link if it is misleading.
    pub fn hazards(&self) -> impl Iterator<Item = &'static str> {
        let of_link = (self.mismatch == Some(true)).then_some(MISMATCH);
        let of_url = found_hazards(self.found).into_iter().map(Hazard::name);
        of_url.chain(of_link)
    }
}

/// Bytes of the text before and after a URL, cut between characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlContext<'r> {
    /// The bytes before its first character.
    pub before: &'r [u8],
    /// The bytes after its last character.
    pub after: &'r [u8],
}

/// The record that a redirector's target was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedirectSource {
    /// The identifier of the record of the redirector's URL.
    pub record_id: u128,
    /// The name of the redirector.
    pub redirector: &'static str,
}

/// The position of a URL or a rejected candidate, in bytes of its source.
#[derive(Clone, Copy, Debug)]
pub struct RecordOrigin<'r> {
    /// The source.
    pub source: &'r Source,
    /// The kind of source, which decides how messages are divided.
    pub kind: SourceKind,
    /// The offset of the first byte.
    pub start: u64,
    /// The offset after the last byte.
    pub end: u64,
    /// `true` if `start` and `end` are exact; else the bytes between them hold the URL and perhaps more.
    pub exact: bool,
    /// The number of the line within the message, from 1.
    pub line: u64,
    /// The offset of the first byte of the message, its `From ` line included.
    pub message_start: u64,
    /// The offset after the last byte of the message.
    pub message_end: u64,
}

/// Use of a kind of values that cost a pass over the message: identifiers and digests, numbers of lines, or regions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Demand {
    /// They are written.
    #[default]
    Needed,
    /// They are not written, and 0 or an empty text stands for each.
    Unneeded,
}

/// Returns the largest offset up to `at` that does not divide a UTF-8 character of `text`. Text that is not UTF-8 is cut at
/// `at`.
#[must_use]
pub fn context_border(text: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|&at| text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80))
        .unwrap_or(at)
}

/// Returns the identifier of a record: a hash of the digest of its message, the number of earlier occurrences of this URL in the
/// part (`before`), the path of the part, and the URL with its fragment. Usual ones are one or two blocks of the hash.
#[must_use]
pub fn record_id(digest: u128, part: &str, url: &[u8], before: u32) -> u128 {
    let (digest, before) = (digest.to_be_bytes(), before.to_be_bytes());
    // The path has no NUL.
    hash_pieces(&[&digest, &before, part.as_bytes(), b"\0", url])
}
