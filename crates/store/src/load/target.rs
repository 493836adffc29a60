//! Targets: what takes rows, and commits them together with the segments that they came from.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use data_encoding::BASE64;

use super::LoadError;
use urlspool_mail::decode::{CitedDate, FIRST_MESSAGE_DAY};
use urlspool_record::record::{FieldId, GoneLine, LoadedRecord};
use urlspool_text::limits::LOAD_PENDING_GONE;

/// The name of a segment: no two segments of one daemon have the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SegmentId {
    /// Identifier of the state that wrote it.
    pub(super) instance: String,
    /// Number of times that the state had been rebuilt.
    pub(super) epoch: u64,
    /// Number of the segment.
    pub(super) seq: u64,
    /// Hash of its lines, in hexadecimal digits.
    pub(super) hash: String,
}

impl SegmentId {
    /// Returns the instance, the epoch and the number: a target has one segment of these.
    pub(super) fn place(&self) -> (&str, u64, u64) {
        (&self.instance, self.epoch, self.seq)
    }
}

/// The result of looking a segment up in a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SegmentStatus {
    /// The target does not hold it.
    New,
    /// The target holds its rows.
    Loaded,
    /// The target holds a segment of this number with this other hash.
    OtherHash(String),
}

impl SegmentStatus {
    /// Returns the status of `segment` in a target that has the hash `loaded` for its number.
    pub(super) fn of(segment: &SegmentId, loaded: Option<String>) -> SegmentStatus {
        match loaded {
            None => SegmentStatus::New,
            Some(hash) if hash == segment.hash => SegmentStatus::Loaded,
            Some(hash) => SegmentStatus::OtherHash(hash),
        }
    }
}

/// A record to be loaded.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(feature = "elasticsearch"),
    expect(dead_code, reason = "tables have the fields, and refuse no records")
)]
pub(super) struct LoadRow<'r> {
    pub(super) record: &'r LoadedRecord,
    /// The name of the input.
    pub(super) input: &'r str,
    /// The number of the line, from 1.
    pub(super) number: u64,
    /// The line, without its end; empty unless the target needs it.
    pub(super) json: &'r [u8],
}

impl<'r> LoadRow<'r> {
    /// Returns the date of the citation, if it is plausible on the day of loading.
    pub(super) fn cited(&self, today: &str) -> Option<&'r str> {
        let scheme = self.record.text(FieldId::Scheme)?;
        match CitedDate::of(scheme, self.record.text(FieldId::MessageDate), today) {
            CitedDate::Usable(date) => Some(date),
            CitedDate::Later | CitedDate::Unknown => None,
        }
    }
}

/// Rows that a transaction changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ChangedRows {
    pub(super) added: u64,
    pub(super) removed: u64,
}

/// A record that the target cannot take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRecord {
    /// The name of the input.
    pub input: String,
    /// The number of its line, from 1.
    pub line: u64,
    /// The reason, in the words of the target.
    pub reason: String,
}

/// The lines themselves, beside what was parsed of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineTexts {
    #[cfg_attr(
        not(feature = "elasticsearch"),
        expect(dead_code, reason = "only documents are the lines themselves")
    )]
    Keep,
    Drop,
}

/// A file, as its rows name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredFile {
    pub(super) path: String,
    /// The bytes of the path, if they are not UTF-8.
    pub(super) path_b64: Option<String>,
}

impl StoredFile {
    /// The names in the rows of the file at `path`.
    pub(super) fn at(path: &Path) -> StoredFile {
        let bytes = path.as_os_str().as_encoded_bytes();
        StoredFile {
            path: String::from_utf8_lossy(bytes).into_owned(),
            path_b64: str::from_utf8(bytes).is_err().then(|| BASE64.encode(bytes)),
        }
    }

    /// The path; `None` if somebody changed the database.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let bytes = match &self.path_b64 {
            Some(encoded) => BASE64.decode(encoded.as_bytes()).ok()?,
            None => self.path.clone().into_bytes(),
        };
        Some(OsString::from_vec(bytes).into())
    }
}

/// The files whose rows are replaced, as far as they differ from those that have rows in the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReplacedFiles {
    /// Files that have no row in the input.
    pub(super) without_rows: Vec<StoredFile>,
    /// Files that have some in it, which are not all.
    pub(super) incomplete: Vec<StoredFile>,
}

/// A mailbox: its text, and its bytes in base64 if they are not UTF-8.
pub(super) type MailboxName = (String, Option<String>);

/// Messages that are gone, and whose rows or documents are not removed yet.
#[derive(Debug, Default)]
pub(super) struct GoneMessages {
    /// Their digests, by mailbox.
    pub(super) digests: BTreeMap<MailboxName, BTreeSet<String>>,
    count: usize,
}

impl GoneMessages {
    /// Adds a message of `gone`.
    pub(super) fn push(&mut self, gone: &GoneLine, digest: &str) {
        let mailbox = (gone.mailbox.clone(), gone.mailbox_b64.clone());
        let digests = self.digests.entry(mailbox).or_default();
        self.count += usize::from(digests.insert(digest.to_owned()));
    }

    /// Returns `true` if the message of a record is among them.
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

    /// Returns `true` if no more may wait.
    pub(super) fn is_full(&self) -> bool {
        LOAD_PENDING_GONE <= self.count
    }
}

/// A database or an index.
///
/// A database shows nothing of a transaction to others before [`Target::commit`]; after an error,
/// and if the process ends, nothing of it ever happened. An index has no transactions: it may show
/// rows earlier. In both a batch that was interrupted is repeated from its begin, which gives the
/// same rows.
pub(super) trait Target {
    /// Returns [`LineTexts::Keep`] if the target takes the lines themselves.
    fn line_texts(&self) -> LineTexts {
        LineTexts::Drop
    }

    /// Returns `true` if [`Target::roll_back`] leaves nothing of what was put.
    fn has_transactions(&self) -> bool {
        true
    }

    /// Begins a transaction. Waits for another loader for a while.
    ///
    /// # Errors
    ///
    /// [`LoadError::replaced`] if the name of the target leads to another database or index than
    /// before.
    fn begin(&mut self) -> Result<(), LoadError>;

    /// Looks a segment up.
    fn segment_status(&mut self, segment: &SegmentId) -> Result<SegmentStatus, LoadError>;

    /// Marks a segment as loaded.
    fn add_segment(&mut self, segment: &SegmentId) -> Result<(), LoadError>;

    /// Adds the rows of records, unless they are there.
    fn put(&mut self, rows: &[LoadRow<'_>]) -> Result<(), LoadError>;

    /// Removes the rows of messages that are gone, those that were put before among them.
    fn remove(&mut self, gone: &GoneMessages) -> Result<(), LoadError>;

    /// From now to the next commit, remembers the files and the rows of the input.
    fn begin_replacing(&mut self) -> Result<(), LoadError>;

    /// Returns the stored files of which the input had no row since [`Target::begin_replacing`].
    fn files_without_rows(&mut self) -> Result<Vec<StoredFile>, LoadError>;

    /// Removes the rows of the files of the input that the input does not hold.
    fn finish_replacing(&mut self, files: &ReplacedFiles) -> Result<(), LoadError>;

    /// Adds the rows that wait. Returns the number of rows that were changed since
    /// [`Target::begin`].
    fn changed(&mut self) -> Result<ChangedRows, LoadError>;

    /// Makes everything since [`Target::begin`] durable, after [`Target::changed`].
    fn commit(&mut self) -> Result<(), LoadError>;

    /// Checks that all rows that were committed are durable, and that the name of the target still
    /// leads to them: only then their segments may be removed.
    ///
    /// # Errors
    ///
    /// [`LoadError::replaced`] if the name leads elsewhere.
    fn check_kept(&mut self) -> Result<(), LoadError>;

    /// Returns the records that were refused since the last call. A database takes all.
    fn take_refused(&mut self) -> Vec<RefusedRecord> {
        Vec::new()
    }

    /// Drops everything since [`Target::begin`].
    fn roll_back(&mut self);
}

/// Returns the present day in UTC, as `1996-07-02`.
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
