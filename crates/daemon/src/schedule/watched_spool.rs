//! A spool as its reader sees it: its next scan, the files that could not be examined, the files
//! that a scan finds in it, and, if tombstones are written, the missing ones.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::MonotonicTime;
use crate::ingest::FileVersion;
use crate::status::{Notices, SpoolState, SpoolStatus, WithheldBy};
use crate::store::{Hash128, HolderKey, SpoolIdentity};
use urlspool_files::config::Spool;
use urlspool_sources::walk::DeviceInode;
use urlspool_text::diagnostic::{Event, counted};
use urlspool_text::limits::REMEMBERED_FAILURES;

/// A spool, and the time of its next scan.
pub(super) struct WatchedSpool {
    pub(super) spool: Spool,
    /// The spool as the state knows it.
    pub(super) identity: Arc<SpoolIdentity>,
    /// Time of the next full scan; `None` if none is planned.
    pub(super) due: Option<MonotonicTime>,
    pub(super) scan_reason: ScanReason,
    /// Number of consecutive scans during which the spool changed.
    pub(super) unstable_scans: u32,
    /// `true` if the kernel reports changes in the spool; otherwise it is polled.
    pub(super) notices: bool,
    /// Time of the kernel's last report about this root; `None` if none has arrived.
    pub(super) noticed: Option<MonotonicTime>,
    /// The status, with the values that do not depend on the time.
    pub(super) status: SpoolStatus,
    /// Folders and files that the last scan could not examine.
    pub(super) unreadable: UnreadablePaths,
    /// `true` once the whole spool was scanned since it is watched.
    pub(super) scanned: bool,
    pub(super) existing: ExistingState,
    /// Identity of the root at the last scan; `None` if it did not exist. If it changes,
    /// notifications of the old root are useless.
    pub(super) root: Option<DeviceInode>,
    /// Missing files, if tombstones are written.
    pub(super) missing: MissingFiles,
}

/// State of the mail that existed in a spool when it was watched for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExistingState {
    /// Not checked yet.
    Unknown,
    /// Its files were noted, and are being read.
    Noted,
    /// It was read, or it is written like all other mail.
    Read,
}

/// Reason for the next scan of a spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanReason {
    /// The spool is new or changed, or its last scan was not enough.
    Needed,
    /// The interval between rescans will have passed. Such a scan is not urgent.
    Interval,
}

/// Folders and files of a spool that a scan could not examine.
#[derive(Debug, Default)]
pub(super) struct UnreadablePaths {
    /// At most [`REMEMBERED_FAILURES`] of them.
    paths: BTreeSet<PathBuf>,
    /// Number of all such paths.
    count: u64,
    /// The first one, with the reason.
    first: Option<String>,
}

impl WatchedSpool {
    /// Creates a spool that is due at `now`.
    pub(super) fn new(spool: &Spool, now: MonotonicTime) -> WatchedSpool {
        WatchedSpool {
            spool: spool.clone(),
            identity: Arc::new(SpoolIdentity::kept(&spool.path, &spool.path)),
            due: Some(now),
            scan_reason: ScanReason::Needed,
            unstable_scans: 0,
            notices: true,
            noticed: None,
            status: SpoolStatus {
                path: spool.path.display().to_string(),
                present: true,
                ..SpoolStatus::default()
            },
            unreadable: UnreadablePaths::default(),
            scanned: false,
            existing: ExistingState::Unknown,
            root: None,
            missing: MissingFiles::default(),
        }
    }

    /// Returns `true` if a scan of the spool before `soon` is needed.
    pub(super) fn is_needed(&self, soon: MonotonicTime) -> bool {
        let is_due = self.due.is_some_and(|due| due <= soon);
        self.missing.is_waiting || self.scan_reason == ScanReason::Needed && is_due
    }

    /// Schedules a scan of the spool at `at` or earlier.
    pub(super) fn mark(&mut self, at: MonotonicTime) {
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
        self.scan_reason = ScanReason::Needed;
    }

    /// Schedules a scan of the spool at `at` because an interval has passed, or earlier if another
    /// scan is planned.
    pub(super) fn mark_interval(&mut self, at: MonotonicTime) {
        let is_planned = self.due.is_some();
        self.mark(at);
        if !is_planned {
            self.scan_reason = ScanReason::Interval;
        }
    }

    /// Returns `true` if the root differs from the root at the last call.
    pub(super) fn follow_root(&mut self) -> bool {
        let root = self.present_root();
        if root == self.root {
            return false;
        }
        self.root = root;
        self.notices = true;
        self.noticed = None;
        true
    }

    /// Returns `true` if the root is the same as at the last call of [`WatchedSpool::follow_root`],
    /// or there was no such call.
    pub(super) fn has_same_root(&self) -> bool {
        self.root.is_none() || self.present_root() == self.root
    }

    fn present_root(&self) -> Option<DeviceInode> {
        let metadata = self.spool.path.metadata().ok()?;
        Some(DeviceInode::of(&metadata))
    }

    /// The spool's status at `now`.
    pub(super) fn status(&self, now: MonotonicTime) -> SpoolStatus {
        SpoolStatus {
            state: if !self.unreadable.is_empty() {
                SpoolState::Unreadable
            } else if self.status.present {
                SpoolState::Ok
            } else {
                SpoolState::Missing
            },
            unreadable: self.unreadable.count,
            error: self.unreadable.first.clone(),
            withheld: self.missing.withheld.clone(),
            notices: match (self.notices, self.noticed) {
                (false, _) => Notices::None,
                (true, None) => Notices::Set,
                (true, Some(_)) => Notices::Arrived,
            },
            last_notice_ms: self.noticed.map(|at| now.ms.saturating_sub(at.ms)),
            lag_ms: self.due.map_or(0, |due| now.ms.saturating_sub(due.ms)),
            ..self.status.clone()
        }
    }

    /// The first folder or file that the last scan could not examine, and the number of others.
    pub(super) fn unreadable_folders(&self) -> impl Iterator<Item = String> {
        let others = self.unreadable.count.saturating_sub(1);
        let others = (others > 0).then(|| {
            let others = counted(others, "more folder or file", "more folders and files");
            format!("{}: {others} could not be examined", self.status.path)
        });
        self.unreadable.first.clone().into_iter().chain(others)
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

    /// Returns `true` if this path is remembered.
    pub(super) fn contains(&self, path: &Path) -> bool {
        self.paths.contains(path)
    }

    /// Returns `true` if all paths could be examined.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// A file that was unread at the last census.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnreadSince {
    /// Time of the first census at which it was unread.
    pub(super) since: MonotonicTime,
    pub(super) version: FileVersion,
    /// Time of the first of these censuses at which it had this version.
    pub(super) changed: MonotonicTime,
}

/// A file that is unreadable, or has been locked for longer than `watch.lock_timeout`.
#[derive(Clone, Debug)]
pub(super) struct LastingFile {
    pub(super) file: WithheldBy,
    /// The mailboxes that its messages may belong to.
    pub(super) mailboxes: Vec<Hash128>,
    /// `true` if it is empty. Only messages that it contained before are then withheld.
    pub(super) is_emptied: bool,
}

/// Files of a spool that were missing at its last census.
#[derive(Debug, Default)]
pub(super) struct MissingFiles {
    /// The missing holders. At most [`urlspool_text::limits::MISSING_FILES`].
    pub(super) holders: HashMap<HolderKey, MissingHolder>,
    /// For each mailbox with messages without a holder: the last census at which it was blocked.
    pub(super) orphans_blocked: HashMap<Hash128, MonotonicTime>,
    /// Time since which each file has been unread, by the hash of its identity, which survives a
    /// rename, and by the hash of its unrotated path, which survives a replacement.
    pub(super) unread: HashMap<u64, UnreadSince>,
    /// Those of the unread files that waiting alone will not get read. At most
    /// [`urlspool_text::limits::REMEMBERED_FAILURES`].
    pub(super) lasting: Vec<LastingFile>,
    /// Mailboxes whose missing messages may be in unread files.
    pub(super) blocked: BTreeSet<Hash128>,
    /// Files that prevent messages of these mailboxes from being reported as gone.
    pub(super) withheld: Vec<WithheldBy>,
    /// Files without content, with their modification times.
    pub(super) empty: HashMap<u64, i64>,
    /// Mailboxes whose messages may be in unread files.
    pub(super) blocks: HashMap<Hash128, CensusBlock>,
    /// Time of the first complete census.
    pub(super) complete_since: Option<MonotonicTime>,
    /// Time of the last census.
    pub(super) last: Option<MonotonicTime>,
    /// Time of the census before the last one.
    pub(super) before_last: Option<MonotonicTime>,
    /// `true` if another census will release holders, unless their files reappear.
    pub(super) is_waiting: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct MissingHolder {
    /// Time of the last census at which the holder was present; `None` if there was none since the
    /// start.
    pub(super) present: Option<MonotonicTime>,
    /// Time after the first census at which the holder was missing.
    pub(super) since: MonotonicTime,
    /// Time after the last census at which the holder's messages may have been elsewhere. After the
    /// first census if there is none.
    pub(super) blocked: MonotonicTime,
}

/// The reason why messages of a mailbox may be elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CensusBlock {
    /// Time since which this is the case.
    pub(super) since: MonotonicTime,
    /// `true` if the files cannot be read, so waiting may not help.
    pub(super) is_failure: bool,
    /// For files that were read before and are unreadable now: the last time at which a change was
    /// noticed. Messages that were present long after it are not in them.
    pub(super) changed: Option<MonotonicTime>,
}

impl CensusBlock {
    /// Returns `true` if a message may be in the files: it was moved within `window` of a change.
    /// `present` is the last time at which the message was seen elsewhere.
    pub(super) fn may_hold(&self, present: Option<MonotonicTime>, window: Duration) -> bool {
        let is_later =
            |changed: MonotonicTime| present.is_some_and(|present| changed.plus(window) < present);
        !self.changed.is_some_and(is_later)
    }
}

impl LastingFile {
    /// Returns `true` if the file prevents messages from being reported as gone. `blocked` are the
    /// mailboxes whose missing messages may be in unread files.
    pub(super) fn withholds(&self, blocked: &BTreeSet<Hash128>) -> bool {
        self.is_emptied || self.mailboxes.iter().any(|key| blocked.contains(key))
    }
}
