//! Files that could not be read: when they are tried again, and when no more.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::daemon::host::MonotonicTime;
use crate::daemon::ingest::FileVersion;
use crate::limits::{
    QUARANTINE_MS, REMEMBERED_FAILURES, REPORTED_FAILURES, RETRY_FIRST_MS, RETRY_MAX_MS,
};

/// A file as it was when it could not be read; nothing if not even that could be told.
///
/// The time of change of the inode is part of it: permissions that were granted change nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen(Option<(FileVersion, i64)>);

impl Seen {
    /// The file with this metadata.
    pub(crate) fn of(metadata: &Metadata) -> Seen {
        let changed = metadata
            .ctime()
            .wrapping_mul(1_000_000_000)
            .wrapping_add(metadata.ctime_nsec());
        Seen(Some((FileVersion::of(metadata), changed)))
    }

    /// A file of which the system tells nothing.
    pub(crate) fn nothing() -> Seen {
        Seen(None)
    }
}

/// What sort of error it was. A closed set, so that it can be a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// `EIO`: the device.
    Device,
    /// `ESTALE`: the server does not know the file any more.
    Stale,
    /// `ETIMEDOUT`: the server does not answer.
    Timeout,
    /// `EACCES`, `EPERM`.
    Denied,
    /// Anything else.
    Other,
}

impl Trouble {
    /// All of them.
    pub(crate) const ALL: [Trouble; 5] = [
        Trouble::Device,
        Trouble::Stale,
        Trouble::Timeout,
        Trouble::Denied,
        Trouble::Other,
    ];

    /// The sort of an error.
    pub(crate) fn of(error: &io::Error) -> Trouble {
        match error.raw_os_error() {
            Some(libc::EIO) => Trouble::Device,
            Some(libc::ESTALE) => Trouble::Stale,
            Some(libc::ETIMEDOUT) => Trouble::Timeout,
            Some(libc::EACCES | libc::EPERM) => Trouble::Denied,
            _ => Trouble::Other,
        }
    }

    /// Its name in the metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Trouble::Device => "device",
            Trouble::Stale => "stale",
            Trouble::Timeout => "timeout",
            Trouble::Denied => "denied",
            Trouble::Other => "other",
        }
    }
}

/// What is to be said of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Say {
    /// It is the file's first.
    First,
    /// It was said before.
    Nothing,
    /// From now on the file is left alone until it changes.
    Quarantined,
    /// There are too many to remember this one; it is tried whenever its spool is looked at.
    TooMany,
}

/// The files that could not be read.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    files: BTreeMap<PathBuf, Failing>,
}

#[derive(Debug)]
struct Failing {
    seen: Seen,
    why: String,
    tries: u64,
    since: MonotonicTime,
    wait_ms: u64,
    /// None in quarantine.
    retry: Option<MonotonicTime>,
    spool: usize,
}

/// A file that could not be read, as it is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Its path.
    pub path: String,
    /// The last error.
    pub why: String,
    /// How often it was tried.
    pub tries: u64,
    /// Whether it is left alone until it changes.
    pub quarantined: bool,
}

impl Failures {
    /// Notes that a file could not be read, and plans the next try.
    pub(crate) fn note(
        &mut self,
        path: &Path,
        seen: Seen,
        spool: usize,
        error: &io::Error,
        now: MonotonicTime,
    ) -> Say {
        let Some(failing) = self
            .files
            .get_mut(path)
            .filter(|failing| failing.seen == seen)
        else {
            return self.begin(path, seen, spool, error, now);
        };
        failing.why = error.to_string();
        failing.tries += 1;
        failing.wait_ms = (failing.wait_ms * 2).min(RETRY_MAX_MS);
        let long = failing.since.after(QUARANTINE_MS) <= now;
        let was_left_alone = failing.retry.is_none();
        failing.retry = (!long).then(|| now.after(failing.wait_ms));
        if long && !was_left_alone {
            Say::Quarantined
        } else {
            Say::Nothing
        }
    }

    fn begin(
        &mut self,
        path: &Path,
        seen: Seen,
        spool: usize,
        error: &io::Error,
        now: MonotonicTime,
    ) -> Say {
        if self.files.len() >= REMEMBERED_FAILURES && !self.files.contains_key(path) {
            return Say::TooMany;
        }
        let (wait_ms, retry) = (RETRY_FIRST_MS, Some(now.after(RETRY_FIRST_MS)));
        let failing = Failing {
            seen,
            why: error.to_string(),
            tries: 1,
            since: now,
            wait_ms,
            retry,
            spool,
        };
        self.files.insert(path.to_owned(), failing);
        Say::First
    }

    /// Forgets a file: it was read, or it is gone.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.files.remove(path);
    }

    /// Whether a file may be looked at: nothing is wrong with it, it is time for the next try, or it has changed.
    pub(crate) fn may_look(&self, path: &Path, seen: Seen, now: MonotonicTime) -> bool {
        let waits = |failing: &Failing| {
            failing.seen == seen && failing.retry.is_none_or(|retry| now < retry)
        };
        !self.files.get(path).is_some_and(waits)
    }

    /// The files that are to be tried now, and their spools.
    pub(crate) fn due(&self, now: MonotonicTime) -> Vec<(PathBuf, usize)> {
        let due = self
            .files
            .iter()
            .filter(|(_, failing)| failing.retry.is_some_and(|retry| retry <= now));
        due.map(|(path, failing)| (path.clone(), failing.spool))
            .collect()
    }

    /// When the next one is to be tried.
    pub(crate) fn next(&self) -> Option<MonotonicTime> {
        self.files
            .values()
            .filter_map(|failing| failing.retry)
            .min()
    }

    /// Whether any is in this spool.
    pub(crate) fn is_any_in(&self, spool: usize) -> bool {
        self.files.values().any(|failing| failing.spool == spool)
    }

    /// How many will be tried again by themselves.
    pub(crate) fn failing(&self) -> usize {
        self.files.len() - self.quarantined()
    }

    /// How many are left alone until they change.
    pub(crate) fn quarantined(&self) -> usize {
        self.files
            .values()
            .filter(|failing| failing.retry.is_none())
            .count()
    }

    /// Some of them, those in quarantine first.
    pub(crate) fn told(&self) -> Vec<Failure> {
        let mut all: Vec<_> = self.files.iter().collect();
        all.sort_by_key(|(_, failing)| failing.retry.is_some());
        let told = |(path, failing): (&PathBuf, &Failing)| Failure {
            path: path.display().to_string(),
            why: failing.why.clone(),
            tries: failing.tries,
            quarantined: failing.retry.is_none(),
        };
        all.into_iter().take(REPORTED_FAILURES).map(told).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_tried_less_and_less_often_and_then_no_more() {
        let mut failures = Failures::default();
        let (path, stale) = (
            Path::new("/s/1"),
            io::Error::from_raw_os_error(libc::ESTALE),
        );
        let mut now = MonotonicTime { ms: 5 };
        let mut said = Vec::new();
        let mut waits = Vec::new();
        while failures.may_look(path, Seen::nothing(), now) {
            said.push(failures.note(path, Seen::nothing(), 0, &stale, now));
            let Some(next) = failures.next() else { break };
            assert!(!failures.may_look(path, Seen::nothing(), MonotonicTime { ms: next.ms - 1 }));
            waits.push(next.ms - now.ms);
            now = next;
            assert_eq!(failures.due(now), [(path.to_owned(), 0)]);
        }
        assert_eq!(waits[..4], [1_000, 2_000, 4_000, 8_000]);
        assert_eq!(waits.last(), Some(&300_000));
        assert!(
            (86_400_000..86_400_000 + 300_001).contains(&(now.ms - 5)),
            "{now:?}"
        );
        assert_eq!(
            (said[0], *said.last().unwrap()),
            (Say::First, Say::Quarantined)
        );
        assert!(
            said[1..said.len() - 1]
                .iter()
                .all(|say| *say == Say::Nothing)
        );
        assert_eq!((failures.failing(), failures.quarantined()), (0, 1));
        assert!(failures.told()[0].quarantined);
    }

    #[test]
    fn one_that_changes_is_tried_at_once() {
        let mut failures = Failures::default();
        let (path, now) = (Path::new("/s/1"), MonotonicTime { ms: 0 });
        failures.note(
            path,
            Seen::nothing(),
            0,
            &io::ErrorKind::PermissionDenied.into(),
            now,
        );
        assert!(!failures.may_look(path, Seen::nothing(), now));
        let other = Seen::of(&Path::new("/").metadata().unwrap());
        assert!(failures.may_look(path, other, now));
        failures.forget(path);
        assert!(failures.may_look(path, Seen::nothing(), now));
    }

    #[test]
    fn more_than_can_be_remembered_are_said_to_be() {
        let mut failures = Failures::default();
        for n in 0..REMEMBERED_FAILURES {
            failures.note(
                Path::new(&n.to_string()),
                Seen::nothing(),
                0,
                &io::ErrorKind::Other.into(),
                MonotonicTime::default(),
            );
        }
        let one_more = failures.note(
            Path::new("x"),
            Seen::nothing(),
            0,
            &io::ErrorKind::Other.into(),
            MonotonicTime::default(),
        );
        assert_eq!(
            (one_more, failures.failing()),
            (Say::TooMany, REMEMBERED_FAILURES)
        );
    }
}
