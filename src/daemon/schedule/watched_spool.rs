//! A spool as its reader sees it.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::missing_files::MissingFiles;
use crate::config::Spool;
use crate::daemon::host::MonotonicTime;
use crate::daemon::status::{SpoolState, SpoolStatus};
use crate::diagnostic::{Event, counted};
use crate::limits::REMEMBERED_FAILURES;

/// A spool, and the time of its next scan.
#[derive(Debug)]
pub(super) struct WatchedSpool {
    pub(super) spool: Spool,
    /// Time of the next full scan; `None` if none is planned.
    pub(super) due: Option<MonotonicTime>,
    /// Reason for that scan.
    pub(super) scan_reason: ScanReason,
    /// Number of consecutive scans during which the spool changed.
    pub(super) unstable_scans: u32,
    /// `true` if the kernel reports changes in it; otherwise it is polled.
    pub(super) notices: bool,
    pub(super) present: bool,
    /// Folders and files that the last scan could not examine.
    pub(super) unreadable: UnreadablePaths,
    /// `true` once all of it was scanned since it is watched.
    pub(super) scanned: bool,
    pub(super) existing: ExistingState,
    /// Mailboxes on file systems that are not mounted.
    pub(super) absent: u64,
    /// Identity of the root at the last scan; `None` if it did not exist.
    root: Option<RootId>,
    pub(super) files: u64,
    /// Files that are missing, if tombstones are written.
    pub(super) missing: MissingFiles,
}

/// What is known of the mail that was in a spool when it was watched for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExistingState {
    /// It was not asked for yet.
    Unknown,
    /// Its files were noted. They are being read.
    Noted,
    /// It was read, or is written as all mail is.
    Read,
}

/// Reason for the next scan of a spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanReason {
    /// The spool is new or changed, or its last scan was not enough.
    Needed,
    /// The interval of rescans will have passed. Nothing has to wait for it.
    Interval,
}

/// Folders and files of a spool that a scan could not examine.
#[derive(Debug, Default)]
pub(super) struct UnreadablePaths {
    /// At most [`REMEMBERED_FAILURES`] of them.
    paths: BTreeSet<PathBuf>,
    /// Number of all.
    count: u64,
    /// The first one, with the reason.
    first: Option<String>,
}

/// Identity of a spool's root: if it changes, notifications of the earlier root are useless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RootId {
    dev: u64,
    ino: u64,
}

impl WatchedSpool {
    /// A spool that is due at `now`.
    pub(super) fn new(spool: &Spool, now: MonotonicTime) -> WatchedSpool {
        WatchedSpool {
            spool: spool.clone(),
            due: Some(now),
            scan_reason: ScanReason::Needed,
            unstable_scans: 0,
            notices: true,
            present: true,
            unreadable: UnreadablePaths::default(),
            scanned: false,
            existing: ExistingState::Unknown,
            absent: 0,
            root: None,
            files: 0,
            missing: MissingFiles::default(),
        }
    }

    /// Marks the spool to be scanned at `at` or earlier.
    pub(super) fn mark(&mut self, at: MonotonicTime) {
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
        self.scan_reason = ScanReason::Needed;
    }

    /// Marks the spool to be scanned at `at` because an interval has passed, or earlier if another scan is planned.
    pub(super) fn mark_interval(&mut self, at: MonotonicTime) {
        let is_planned = self.due.is_some();
        self.mark(at);
        if !is_planned {
            self.scan_reason = ScanReason::Interval;
        }
    }

    /// Returns `true` if the root is another one than at the last call.
    pub(super) fn follow_root(&mut self) -> bool {
        let root = RootId::at(&self.spool.path);
        if root == self.root {
            return false;
        }
        self.root = root;
        self.notices = true;
        true
    }

    /// Returns `true` if the root is that of the last call of [`WatchedSpool::follow_root`], or none was made.
    pub(super) fn has_same_root(&self) -> bool {
        self.root.is_none() || RootId::at(&self.spool.path) == self.root
    }

    /// Requests that notifications are requested again, as if the root were another one.
    pub(super) fn forget_root(&mut self) {
        self.root = None;
    }

    /// The spool's state at `now`.
    pub(super) fn status(&self, now: MonotonicTime) -> SpoolStatus {
        SpoolStatus {
            path: self.spool.path.display().to_string(),
            state: self.state(),
            present: self.present,
            unreadable: self.unreadable.count,
            error: self.unreadable.first.clone(),
            absent: self.absent,
            withheld: self.missing.withheld.clone(),
            notices: self.notices,
            files: self.files,
            lag_ms: self.due.map_or(0, |due| now.ms.saturating_sub(due.ms)),
            stalled_ms: 0,
        }
    }

    /// The first folder or file that the last scan could not examine, and the number of the others.
    pub(super) fn unreadable_folders(&self) -> impl Iterator<Item = String> {
        let others = self.unreadable.count.saturating_sub(1);
        let others = (others > 0).then(|| {
            let others = counted(others, "more folder or file", "more folders and files");
            format!(
                "{}: {others} could not be examined",
                self.spool.path.display()
            )
        });
        self.unreadable.first.clone().into_iter().chain(others)
    }

    fn state(&self) -> SpoolState {
        if !self.unreadable.is_empty() {
            SpoolState::Unreadable
        } else if self.present {
            SpoolState::Ok
        } else {
            SpoolState::Missing
        }
    }
}

impl UnreadablePaths {
    /// Adds the path of an event.
    pub(super) fn add(&mut self, event: &Event) {
        let path = &*event.source.path;
        self.count += 1;
        self.first
            .get_or_insert_with(|| format!("{}: {}", path.display(), event.diagnostic.message));
        if self.paths.len() < REMEMBERED_FAILURES {
            self.paths.insert(path.to_owned());
        }
    }

    /// Returns `true` if this path is one of those that are remembered.
    pub(super) fn contains(&self, path: &Path) -> bool {
        self.paths.contains(path)
    }

    /// Returns `true` if everything could be examined.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl RootId {
    fn at(path: &Path) -> Option<RootId> {
        let metadata = path.metadata().ok()?;
        Some(RootId {
            dev: metadata.dev(),
            ino: metadata.ino(),
        })
    }
}
