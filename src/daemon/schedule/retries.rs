//! Files that could not be read: the time of their next retry, and their quarantine.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::daemon::host::MonotonicTime;
use crate::daemon::ingest::FileVersion;
use crate::daemon::status::FailedFile;
use crate::diagnostic::{Diagnostic, DiagnosticKind};
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

/// The files that could not be read.
#[derive(Debug, Default)]
pub(crate) struct RetryTable {
    files: BTreeMap<PathBuf, RetryEntry>,
}

#[derive(Debug)]
struct RetryEntry {
    version: InodeVersion,
    why: String,
    tries: u64,
    since: MonotonicTime,
    wait_ms: u64,
    /// Time of the next attempt; `None` in quarantine.
    retry: Option<MonotonicTime>,
    spool: usize,
}

impl RetryTable {
    /// Records a failure and plans the next attempt. Returns what to report of it; `None` if it was reported before.
    pub(super) fn record(
        &mut self,
        path: &Path,
        spool: usize,
        version: InodeVersion,
        error: &io::Error,
        now: MonotonicTime,
    ) -> Option<Diagnostic> {
        let known = self.files.get_mut(path);
        let Some(entry) = known.filter(|entry| entry.version == version) else {
            return Some(self.insert(path, spool, version, error, now));
        };
        entry.why = error.to_string();
        entry.tries += 1;
        entry.wait_ms = (entry.wait_ms * 2).min(RETRY_MAX_MS);
        let is_lasting = entry.since.after(QUARANTINE_MS) <= now;
        let was_quarantined = entry.retry.is_none();
        entry.retry = (!is_lasting).then(|| now.after(entry.wait_ms));
        let text = format!("could not be read for a day; it is skipped until it changes: {error}");
        (is_lasting && !was_quarantined).then(|| Diagnostic::new(DiagnosticKind::Unreadable, text))
    }

    /// Records the first failure of this version of a file.
    fn insert(
        &mut self,
        path: &Path,
        spool: usize,
        version: InodeVersion,
        error: &io::Error,
        now: MonotonicTime,
    ) -> Diagnostic {
        if REMEMBERED_FAILURES <= self.files.len() && !self.files.contains_key(path) {
            let text = format!(
                "limit of {REMEMBERED_FAILURES} remembered unreadable files reached; this one is retried at each rescan: {error}"
            );
            return Diagnostic::new(DiagnosticKind::Limit, text);
        }
        let entry = RetryEntry {
            version,
            why: error.to_string(),
            tries: 1,
            since: now,
            wait_ms: RETRY_FIRST_MS,
            retry: Some(now.after(RETRY_FIRST_MS)),
            spool,
        };
        self.files.insert(path.to_owned(), entry);
        Diagnostic::new(DiagnosticKind::Unreadable, error.to_string())
    }

    /// Removes a file: it was read, or it is gone.
    pub(crate) fn remove(&mut self, path: &Path) {
        self.files.remove(path);
    }

    /// The last error of a file; `None` if it could be read.
    pub(super) fn why(&self, path: &Path) -> Option<&str> {
        self.files.get(path).map(|entry| &*entry.why)
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

    const PATH: &str = "/s/1";

    /// Records a failure, and returns the text of its diagnostic.
    fn record(table: &mut RetryTable, path: &str, now: MonotonicTime) -> Option<String> {
        let stale = io::Error::from_raw_os_error(libc::ESTALE);
        let reported = table.record(path.as_ref(), 0, InodeVersion::UNKNOWN, &stale, now);
        reported.map(|diagnostic| diagnostic.message)
    }

    fn may_read(table: &RetryTable, now: MonotonicTime) -> bool {
        table.may_read(PATH.as_ref(), InodeVersion::UNKNOWN, now)
    }

    #[test]
    fn the_wait_between_retries_doubles_until_the_file_is_quarantined() {
        let mut table = RetryTable::default();
        let mut now = MonotonicTime { ms: 5 };
        let (mut reported, mut waits) = (Vec::new(), Vec::new());
        while may_read(&table, now) {
            reported.push(record(&mut table, PATH, now));
            let Some(next) = table.next() else { break };
            assert!(!may_read(&table, MonotonicTime { ms: next.ms - 1 }));
            waits.push(next.ms - now.ms);
            now = next;
            let file = SpoolFile {
                path: PATH.into(),
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
        let [Some(first), repeated @ .., Some(last)] = &reported[..] else {
            panic!("{reported:?}");
        };
        assert!(first.starts_with("Stale") && last.starts_with("could not be read for a day"));
        assert!(repeated.iter().all(Option::is_none));
        assert_eq!((table.failing(), table.quarantined()), (0, 1));
        assert!(table.reported()[0].quarantined);
    }

    #[test]
    fn a_file_that_changes_is_retried_at_once() {
        let mut table = RetryTable::default();
        let now = MonotonicTime { ms: 0 };
        record(&mut table, PATH, now);
        assert!(!may_read(&table, now));
        let changed = InodeVersion::of(&Path::new("/").metadata().unwrap());
        assert!(table.may_read(PATH.as_ref(), changed, now));
        table.remove(PATH.as_ref());
        assert!(may_read(&table, now));
    }

    #[test]
    fn failures_above_the_limit_are_not_remembered() {
        let mut table = RetryTable::default();
        let now = MonotonicTime::default();
        for n in 0..REMEMBERED_FAILURES {
            record(&mut table, &n.to_string(), now);
        }
        let reported = record(&mut table, "x", now).unwrap();
        assert!(reported.starts_with("limit of 10000"), "{reported}");
        assert_eq!(table.failing(), REMEMBERED_FAILURES);
    }
}
