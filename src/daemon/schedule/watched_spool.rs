//! A spool as its reader sees it.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::config::Spool;
use crate::daemon::host::MonotonicTime;
use crate::daemon::status::SpoolStatus;

/// A spool, and the time of its next scan.
#[derive(Debug)]
pub(super) struct WatchedSpool {
    pub(super) spool: Spool,
    /// Time of the next full scan; `None` if none is planned.
    pub(super) due: Option<MonotonicTime>,
    /// Number of consecutive scans during which the spool changed.
    pub(super) unstable_scans: u32,
    /// `true` if the kernel reports changes in it; otherwise it is polled.
    pub(super) notices: bool,
    pub(super) present: bool,
    /// `true` once all of it was scanned since it is watched.
    pub(super) scanned: bool,
    /// Mailboxes on file systems that are not mounted.
    pub(super) absent: u64,
    /// Identity of the root at the last scan; `None` if it did not exist.
    root: Option<RootId>,
    pub(super) files: u64,
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
            unstable_scans: 0,
            notices: true,
            present: true,
            scanned: false,
            absent: 0,
            root: None,
            files: 0,
        }
    }

    /// Marks the spool to be scanned at `at` or earlier.
    pub(super) fn mark(&mut self, at: MonotonicTime) {
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
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

    /// The spool's state at `now`.
    pub(super) fn status(&self, now: MonotonicTime) -> SpoolStatus {
        SpoolStatus {
            path: self.spool.path.display().to_string(),
            present: self.present,
            absent: self.absent,
            notices: self.notices,
            files: self.files,
            lag_ms: self.due.map_or(0, |due| now.ms.saturating_sub(due.ms)),
            stalled_ms: 0,
        }
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
