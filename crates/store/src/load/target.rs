//! Targets take rows and commit them together with the segments they came from.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use data_encoding::BASE64;

use super::LoadError;
use urlspool_mail::decode::{CitedDate, FIRST_MESSAGE_DAY};
use urlspool_record::record::{FieldId, GoneLine, LoadedRecord};
use urlspool_text::limits::LOAD_PENDING_GONE;

/// Identity of a segment. No two segments of one daemon share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SegmentId {
    /// Identifier of the daemon state that wrote the segment.
    pub(super) instance: String,
    /// Number of times that state had been rebuilt.
    pub(super) epoch: u64,
    /// Number of the segment.
    pub(super) seq: u64,
    /// Hash of the segment's lines, in hexadecimal.
    pub(super) hash: String,
}

impl SegmentId {
    /// Returns the instance, the epoch and the number, which identify at most one segment in a
    /// target.
    pub(super) fn place(&self) -> (&str, u64, u64) {
        (&self.instance, self.epoch, self.seq)
    }
}

/// A record to load.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(feature = "elasticsearch"),
    expect(dead_code, reason = "tables have the fields, and refuse no records")
)]
pub(super) struct LoadRow<'r> {
    pub(super) record: &'r LoadedRecord,
    /// Name of the input.
    pub(super) input: &'r str,
    /// Line number, starting at 1.
    pub(super) number: u64,
    /// The line without its terminator; empty unless the target needs it.
    pub(super) json: &'r [u8],
}

impl<'r> LoadRow<'r> {
    /// Returns the citation date if it is plausible on the day of loading: the innermost message's,
    /// or the outermost one's if the innermost has none.
    pub(super) fn cited(&self, today: &str) -> Option<&'r str> {
        let scheme = self.record.text(FieldId::Scheme)?;
        let date = self.record.text(FieldId::AuthorDate);
        let date = date.or_else(|| self.record.text(FieldId::MessageDate));
        match CitedDate::of(scheme, date, today) {
            CitedDate::Usable(date) => Some(date),
            CitedDate::Later | CitedDate::Unknown => None,
        }
    }
}

/// Returns `true` for a record from a header field that software of mailing lists adds to each
/// message (RFC 2369, RFC 2919, RFC 5064).
pub(super) fn is_in_list_field(record: &LoadedRecord) -> bool {
    let region = record.text(FieldId::Region).unwrap_or_default();
    let field = region.strip_prefix("header:").unwrap_or_default();
    let start = field.get(..LIST_FIELDS.len()).unwrap_or_default();
    start.eq_ignore_ascii_case(LIST_FIELDS) || field.eq_ignore_ascii_case("Archived-At")
}

/// Start of the names of header fields that describe a mailing list.
const LIST_FIELDS: &str = "List-";

/// Number of rows that a transaction changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ChangedRows {
    pub(super) added: u64,
    pub(super) removed: u64,
    /// Records that the target refused and reported. A database refuses none.
    pub(super) refused: u64,
}

/// Text of a line: kept next to its parsed record, or dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineTexts {
    #[cfg_attr(
        not(feature = "elasticsearch"),
        expect(dead_code, reason = "only documents are the lines themselves")
    )]
    Keep,
    Drop,
}

/// A file, as named in its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredFile {
    pub(super) path: String,
    /// Bytes of the path in base64, if the path is not UTF-8.
    pub(super) path_b64: Option<String>,
}

impl StoredFile {
    /// Returns the name that rows of the file at `path` have.
    pub(super) fn at(path: &Path) -> StoredFile {
        let bytes = path.as_os_str().as_encoded_bytes();
        StoredFile {
            path: String::from_utf8_lossy(bytes).into_owned(),
            path_b64: str::from_utf8(bytes).is_err().then(|| BASE64.encode(bytes)),
        }
    }

    /// Returns the path, or `None` if the stored name is invalid because the database was edited.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let bytes = match &self.path_b64 {
            Some(encoded) => BASE64.decode(encoded.as_bytes()).ok()?,
            None => self.path.clone().into_bytes(),
        };
        Some(OsString::from_vec(bytes).into())
    }
}

/// Files whose rows are replaced, limited to files whose rows differ from the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReplacedFiles {
    /// Files without any row in the input.
    pub(super) without_rows: Vec<StoredFile>,
    /// Files with some of their rows in the input, but not all.
    pub(super) incomplete: Vec<StoredFile>,
}

/// A mailbox name: its text, and its bytes in base64 if they are not UTF-8.
pub(super) type MailboxName = (String, Option<String>);

/// Messages that are gone and whose rows or documents are not removed yet.
#[derive(Debug, Default)]
pub(super) struct GoneMessages {
    /// Message digests by mailbox.
    pub(super) digests: BTreeMap<MailboxName, BTreeSet<String>>,
    count: usize,
}

impl GoneMessages {
    /// Adds the message of the `gone` line.
    pub(super) fn push(&mut self, gone: &GoneLine, digest: &str) {
        let mailbox = (gone.mailbox.clone(), gone.mailbox_b64.clone());
        let digests = self.digests.entry(mailbox).or_default();
        self.count += usize::from(digests.insert(digest.to_owned()));
    }

    /// Returns `true` if the record belongs to one of these messages.
    pub(super) fn contains(&self, record: &LoadedRecord) -> bool {
        if self.is_empty() {
            return false;
        }
        let base64 = record.mailbox_b64().map(str::to_owned);
        let digests = self.digests.get(&(record.mailbox().to_owned(), base64));
        digests.is_some_and(|digests| digests.contains(record.digest()))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns `true` if no further message can be queued.
    pub(super) fn is_full(&self) -> bool {
        LOAD_PENDING_GONE <= self.count
    }
}

/// A database or an index.
///
/// A database shows other programs no part of a transaction before [`Target::commit`]; an error or
/// the end of the process rolls the transaction back. An index has no transactions, so it may show
/// rows earlier. In both cases an interrupted batch is repeated from the start, which produces the
/// same rows.
pub(super) trait Target {
    /// Returns [`LineTexts::Keep`] if the target needs the text of each line.
    fn line_texts(&self) -> LineTexts {
        LineTexts::Drop
    }

    /// Returns `true` if [`Target::roll_back`] removes all rows put since [`Target::begin`].
    fn has_transactions(&self) -> bool {
        true
    }

    /// Starts a transaction. Waits for a limited time if another load holds the target.
    ///
    /// # Errors
    ///
    /// [`LoadError::replaced`] if the target's name no longer refers to the same database or index.
    fn begin(&mut self) -> Result<(), LoadError>;

    /// Returns the hash of the loaded segment in this place, or `None` if the target has no such
    /// segment.
    fn loaded_hash(&mut self, segment: &SegmentId) -> Result<Option<String>, LoadError>;

    /// Marks a segment as loaded.
    fn add_segment(&mut self, segment: &SegmentId) -> Result<(), LoadError>;

    /// Adds the rows of records that the target does not have yet.
    fn put(&mut self, rows: &[LoadRow<'_>]) -> Result<(), LoadError>;

    /// Removes the rows of messages that are gone, including rows put earlier in this transaction.
    fn remove(&mut self, gone: &GoneMessages) -> Result<(), LoadError>;

    /// Remembers the files and rows of the input until the next commit.
    fn begin_replacing(&mut self) -> Result<(), LoadError>;

    /// Returns the stored files for which the input had no row since [`Target::begin_replacing`].
    fn files_without_rows(&mut self) -> Result<Vec<StoredFile>, LoadError>;

    /// Removes rows of the input's files that are not in the input.
    fn finish_replacing(&mut self, files: &ReplacedFiles) -> Result<(), LoadError>;

    /// Writes the queued rows. Returns the number of rows changed since [`Target::begin`].
    fn changed(&mut self) -> Result<ChangedRows, LoadError>;

    /// Makes everything since [`Target::begin`] durable. Called after [`Target::changed`].
    fn commit(&mut self) -> Result<(), LoadError>;

    /// Checks that all committed rows are durable and that the target's name still refers to them.
    /// Segments may be deleted only after this check.
    ///
    /// # Errors
    ///
    /// [`LoadError::replaced`] if the name refers to another database or index.
    fn check_kept(&mut self) -> Result<(), LoadError>;

    /// Discards everything since [`Target::begin`].
    fn roll_back(&mut self);
}

/// Returns the current day in UTC, for example `1996-07-02`.
#[must_use]
pub fn today() -> String {
    let mut text = jiff::Timestamp::now().to_string();
    text.truncate(FIRST_MESSAGE_DAY.len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn today_is_a_day() {
        assert_eq!(today().len(), "1996-07-02".len());
    }
}
