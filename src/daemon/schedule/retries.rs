//! Files that could not be read: the time of their next retry, and their quarantine.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::daemon::host::MonotonicTime;
use crate::daemon::ingest::FileVersion;
use crate::daemon::status::{FailedFile, ReadFailure};
use crate::limits::{
    QUARANTINE_MS, REMEMBERED_FAILURES, REPORTED_FAILURES, RETRY_FIRST_MS, RETRY_MAX_MS,
};

/// Version of a file at the time of a failure, with its inode's time of change: permissions that are granted change only
/// that time. `None` if the file's metadata could not be read either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InodeVersion(Option<(FileVersion, i64)>);

impl InodeVersion {
    /// The version of a file of which no metadata could be read.
    pub(crate) const UNKNOWN: InodeVersion = InodeVersion(None);

    /// The version of the file with this metadata.
    pub(crate) fn of(metadata: &Metadata) -> InodeVersion {
        let changed = metadata
            .ctime()
            .wrapping_mul(1_000_000_000)
            .wrapping_add(metadata.ctime_nsec());
        InodeVersion(Some((FileVersion::of(metadata), changed)))
    }
}

/// Kind of a read error. A closed set, because it labels a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadErrorKind {
    /// `EIO`: the device failed.
    Device,
    /// `ESTALE`: the server does not know the file any more.
    Stale,
    /// `ETIMEDOUT`: the server does not answer.
    Timeout,
    /// `EACCES`, `EPERM`.
    Denied,
    /// Any other error.
    Other,
}

impl ReadErrorKind {
    pub(crate) const ALL: [ReadErrorKind; 5] = [
        ReadErrorKind::Device,
        ReadErrorKind::Stale,
        ReadErrorKind::Timeout,
        ReadErrorKind::Denied,
        ReadErrorKind::Other,
    ];

    /// The kind of an error.
    pub(crate) fn of(error: &io::Error) -> ReadErrorKind {
        match error.raw_os_error() {
            Some(libc::EIO) => ReadErrorKind::Device,
            Some(libc::ESTALE) => ReadErrorKind::Stale,
            Some(libc::ETIMEDOUT) => ReadErrorKind::Timeout,
            Some(libc::EACCES | libc::EPERM) => ReadErrorKind::Denied,
            _ => ReadErrorKind::Other,
        }
    }

    /// The name in the metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ReadErrorKind::Device => "device",
            ReadErrorKind::Stale => "stale",
            ReadErrorKind::Timeout => "timeout",
            ReadErrorKind::Denied => "denied",
            ReadErrorKind::Other => "other",
        }
    }
}

/// Place of a failure in the history of its file. Decides what is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureStage {
    /// The first failure of this version of the file.
    First,
    /// A further failure, reported before.
    Repeated,
    /// The failure after which the file is skipped until it changes.
    Quarantined,
    /// A failure that is not remembered because [`REMEMBERED_FAILURES`] is reached. The file is tried again at each scan
    /// of its spool.
    Unremembered,
}

/// A failed attempt to read a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailedRead<'f> {
    pub(crate) path: &'f Path,
    pub(crate) version: InodeVersion,
    /// Index of the file's spool.
    pub(crate) spool: usize,
    pub(crate) error: &'f io::Error,
}

/// The files that could not be read.
#[derive(Debug, Default)]
pub(crate) struct RetryTable {
    files: BTreeMap<PathBuf, RetryEntry>,
}

#[derive(Debug)]
struct RetryEntry {
    version: InodeVersion,
    why: ReadFailure,
    tries: u64,
    since: MonotonicTime,
    wait_ms: u64,
    /// Time of the next attempt; `None` in quarantine.
    retry: Option<MonotonicTime>,
    spool: usize,
}

impl RetryTable {
    /// Records a failure and plans the next attempt.
    pub(crate) fn record(&mut self, failed: FailedRead<'_>, now: MonotonicTime) -> FailureStage {
        let Some(entry) = self
            .files
            .get_mut(failed.path)
            .filter(|entry| entry.version == failed.version)
        else {
            return self.insert(failed, now);
        };
        entry.why = ReadFailure::of(failed.error);
        entry.tries += 1;
        entry.wait_ms = (entry.wait_ms * 2).min(RETRY_MAX_MS);
        let is_lasting = entry.since.after(QUARANTINE_MS) <= now;
        let was_quarantined = entry.retry.is_none();
        entry.retry = (!is_lasting).then(|| now.after(entry.wait_ms));
        if is_lasting && !was_quarantined {
            FailureStage::Quarantined
        } else {
            FailureStage::Repeated
        }
    }

    fn insert(&mut self, failed: FailedRead<'_>, now: MonotonicTime) -> FailureStage {
        if REMEMBERED_FAILURES <= self.files.len() && !self.files.contains_key(failed.path) {
            return FailureStage::Unremembered;
        }
        let entry = RetryEntry {
            version: failed.version,
            why: ReadFailure::of(failed.error),
            tries: 1,
            since: now,
            wait_ms: RETRY_FIRST_MS,
            retry: Some(now.after(RETRY_FIRST_MS)),
            spool: failed.spool,
        };
        self.files.insert(failed.path.to_owned(), entry);
        FailureStage::First
    }

    /// Removes a file: it was read, or it is gone.
    pub(crate) fn remove(&mut self, path: &Path) {
        self.files.remove(path);
    }

    /// The last error of a file; `None` if it could be read.
    pub(super) fn why(&self, path: &Path) -> Option<&ReadFailure> {
        self.files.get(path).map(|entry| &entry.why)
    }

    /// Returns `true` if a file may be read: it has not failed, its next attempt is due, or it has changed.
    pub(crate) fn may_read(&self, path: &Path, version: InodeVersion, now: MonotonicTime) -> bool {
        let must_wait = |entry: &RetryEntry| {
            entry.version == version && entry.retry.is_none_or(|retry| now < retry)
        };
        !self.files.get(path).is_some_and(must_wait)
    }

    /// Returns the files whose next attempt is due.
    pub(crate) fn due(&self, now: MonotonicTime) -> Vec<SpoolFile> {
        let due = self
            .files
            .iter()
            .filter(|(_, entry)| entry.retry.is_some_and(|retry| retry <= now));
        due.map(|(path, entry)| SpoolFile {
            path: path.clone(),
            spool: entry.spool,
        })
        .collect()
    }

    /// The time of the next attempt.
    pub(crate) fn next(&self) -> Option<MonotonicTime> {
        self.files.values().filter_map(|entry| entry.retry).min()
    }

    /// Returns `true` if a file of this spool could not be read.
    pub(crate) fn has_any_in(&self, spool: usize) -> bool {
        self.files.values().any(|entry| entry.spool == spool)
    }

    /// Number of files that will be retried.
    pub(crate) fn failing(&self) -> usize {
        self.files.len() - self.quarantined()
    }

    /// Number of files that are skipped until they change.
    pub(crate) fn quarantined(&self) -> usize {
        self.files
            .values()
            .filter(|entry| entry.retry.is_none())
            .count()
    }

    /// A sentence about each file: its path and the last error.
    pub(crate) fn sentences(&self) -> impl Iterator<Item = String> {
        let sentence =
            |(path, entry): (&PathBuf, &RetryEntry)| format!("{}: {}", path.display(), entry.why);
        self.files.iter().map(sentence)
    }

    /// Returns the files for the status, at most [`REPORTED_FAILURES`], those in quarantine first.
    pub(crate) fn reported(&self) -> Vec<FailedFile> {
        let mut all: Vec<_> = self.files.iter().collect();
        all.sort_by_key(|(_, entry)| entry.retry.is_some());
        let reported = |(path, entry): (&PathBuf, &RetryEntry)| FailedFile {
            path: path.display().to_string(),
            why: entry.why.clone(),
            tries: entry.tries,
            quarantined: entry.retry.is_none(),
        };
        all.into_iter()
            .take(REPORTED_FAILURES)
            .map(reported)
            .collect()
    }
}

/// A path and the index of the spool that holds it. Ordered by path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SpoolFile {
    pub(crate) path: PathBuf,
    pub(crate) spool: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed<'f>(path: &'f str, error: &'f io::Error) -> FailedRead<'f> {
        FailedRead {
            path: Path::new(path),
            version: InodeVersion::UNKNOWN,
            spool: 0,
            error,
        }
    }

    #[test]
    fn the_wait_between_retries_doubles_until_the_file_is_quarantined() {
        let mut table = RetryTable::default();
        let stale = io::Error::from_raw_os_error(libc::ESTALE);
        let failed = failed("/s/1", &stale);
        let mut now = MonotonicTime { ms: 5 };
        let (mut stages, mut waits) = (Vec::new(), Vec::new());
        while table.may_read(failed.path, failed.version, now) {
            stages.push(table.record(failed, now));
            let Some(next) = table.next() else { break };
            let before = MonotonicTime { ms: next.ms - 1 };
            assert!(!table.may_read(failed.path, failed.version, before));
            waits.push(next.ms - now.ms);
            now = next;
            let file = SpoolFile {
                path: failed.path.to_owned(),
                spool: 0,
            };
            assert_eq!(table.due(now), [file]);
        }
        assert_eq!(waits[..4], [1_000, 2_000, 4_000, 8_000]);
        assert_eq!(waits.last(), Some(&300_000));
        assert!(
            (86_400_000..86_400_000 + 300_001).contains(&(now.ms - 5)),
            "{now:?}"
        );
        let (last, others) = stages.split_last().unwrap();
        assert_eq!(
            (others[0], *last),
            (FailureStage::First, FailureStage::Quarantined)
        );
        assert!(
            others[1..]
                .iter()
                .all(|stage| *stage == FailureStage::Repeated)
        );
        assert_eq!((table.failing(), table.quarantined()), (0, 1));
        assert!(table.reported()[0].quarantined);
    }

    #[test]
    fn a_file_that_changes_is_retried_at_once() {
        let mut table = RetryTable::default();
        let denied = io::ErrorKind::PermissionDenied.into();
        let (failed, now) = (failed("/s/1", &denied), MonotonicTime { ms: 0 });
        table.record(failed, now);
        assert!(!table.may_read(failed.path, failed.version, now));
        let changed = InodeVersion::of(&Path::new("/").metadata().unwrap());
        assert!(table.may_read(failed.path, changed, now));
        table.remove(failed.path);
        assert!(table.may_read(failed.path, failed.version, now));
    }

    #[test]
    fn failures_above_the_limit_are_not_remembered() {
        let mut table = RetryTable::default();
        let error = io::ErrorKind::Other.into();
        for n in 0..REMEMBERED_FAILURES {
            table.record(failed(&n.to_string(), &error), MonotonicTime::default());
        }
        assert_eq!(
            table.record(failed("x", &error), MonotonicTime::default()),
            FailureStage::Unremembered
        );
        assert_eq!(table.failing(), REMEMBERED_FAILURES);
    }
}
