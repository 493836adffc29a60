//! A spool as its reader sees it: its next scan, what could not be examined; the files that a scan
//! finds in it, and those that are missing, if tombstones are written.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::environment::MonotonicTime;
use crate::ingest::{FileStanding, FileVersion, mailbox_scopes, why_locked};
use crate::status::{Notices, SpoolState, SpoolStatus, WithheldBy};
use crate::store::{Hash128, HolderKey, SpoolIdentity, path_key};
use urlspool_files::config::Spool;
use urlspool_sources::walk::{DeviceInode, WalkedFile};
use urlspool_text::diagnostic::{Event, counted};
use urlspool_text::limits::{REMEMBERED_FAILURES, SURVEYED_FILES};
use urlspool_text::origin::FormatHint;

/// A spool, and the time of its next scan.
#[derive(Debug)]
pub(super) struct WatchedSpool {
    pub(super) spool: Spool,
    /// Time of the next full scan; `None` if none is planned.
    pub(super) due: Option<MonotonicTime>,
    pub(super) scan_reason: ScanReason,
    /// Number of consecutive scans during which the spool changed.
    pub(super) unstable_scans: u32,
    /// `true` if the kernel reports changes in it; otherwise it is polled.
    pub(super) notices: bool,
    /// Time of the last report of the kernel about this root; `None` if none has arrived.
    pub(super) noticed: Option<MonotonicTime>,
    pub(super) present: bool,
    /// Folders and files that the last scan could not examine.
    pub(super) unreadable: UnreadablePaths,
    /// `true` once all of it was scanned since it is watched.
    pub(super) scanned: bool,
    pub(super) existing: ExistingState,
    /// Mailboxes on file systems that are not mounted.
    pub(super) absent: u64,
    /// Identity of the root at the last scan; `None` if it did not exist. If it changes,
    /// notifications of the earlier root are useless.
    root: Option<DeviceInode>,
    pub(super) files: u64,
    /// Files that are missing, if tombstones are written.
    pub(super) missing: MissingFiles,
}

/// State of the mail that was in a spool when it was watched for the first time.
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

impl WatchedSpool {
    /// A spool that is due at `now`.
    pub(super) fn new(spool: &Spool, now: MonotonicTime) -> WatchedSpool {
        WatchedSpool {
            spool: spool.clone(),
            due: Some(now),
            scan_reason: ScanReason::Needed,
            unstable_scans: 0,
            notices: true,
            noticed: None,
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

    /// Returns `true` if something waits for a scan of the spool before `soon`.
    pub(super) fn is_needed(&self, soon: MonotonicTime) -> bool {
        let is_due = self.due.is_some_and(|due| due <= soon);
        self.missing.is_waiting || self.scan_reason == ScanReason::Needed && is_due
    }

    /// Marks the spool to be scanned at `at` or earlier.
    pub(super) fn mark(&mut self, at: MonotonicTime) {
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
        self.scan_reason = ScanReason::Needed;
    }

    /// Marks the spool to be scanned at `at` because an interval has passed, or earlier if another
    /// scan is planned.
    pub(super) fn mark_interval(&mut self, at: MonotonicTime) {
        let is_planned = self.due.is_some();
        self.mark(at);
        if !is_planned {
            self.scan_reason = ScanReason::Interval;
        }
    }

    /// Returns `true` if the root is another one than at the last call.
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

    /// Returns `true` if the root is that of the last call of [`WatchedSpool::follow_root`], or
    /// none was made.
    pub(super) fn has_same_root(&self) -> bool {
        self.root.is_none() || self.present_root() == self.root
    }

    fn present_root(&self) -> Option<DeviceInode> {
        let metadata = self.spool.path.metadata().ok()?;
        Some(DeviceInode::of(&metadata))
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
            notices: match (self.notices, self.noticed) {
                (false, _) => Notices::None,
                (true, None) => Notices::Set,
                (true, Some(_)) => Notices::Arrived,
            },
            last_notice_ms: self.noticed.map(|at| now.ms.saturating_sub(at.ms)),
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

/// The files that are present in a spool, collected during a scan of it.
#[derive(Debug)]
pub(super) struct SpoolCensus {
    /// Index of the spool.
    pub(super) spool: usize,
    /// The spool as the state knows it.
    pub(super) identity: Arc<SpoolIdentity>,
    pub(super) start: MonotonicTime,
    /// Time at which the census ended, or started while it is being taken.
    pub(super) end: MonotonicTime,
    /// Holders whose files are present.
    pub(super) holders: Vec<HolderKey>,
    /// File systems that are mounted.
    pub(super) devs: BTreeSet<u64>,
    /// Files that were not read.
    pub(super) unread: Vec<UnreadFile>,
    /// Folders whose entries are renamed by mail programs, with their times of change before the
    /// scan.
    pub(super) folders: HashMap<PathBuf, Option<i64>>,
    /// `true` if files may be present that are not listed.
    pub(super) is_incomplete: bool,
}

/// A file that was not read.
#[derive(Debug)]
pub(super) struct UnreadFile {
    path: PathBuf,
    hint: FormatHint,
    version: FileVersion,
    content: UnreadContent,
}

/// Messages that a file which was not read may hold.
#[derive(Debug)]
enum UnreadContent {
    /// Any messages.
    Unknown,
    /// Any messages: it is empty, and may be so for a moment.
    Emptied,
    /// The messages that were read of an earlier version of it. Others only if they came with a
    /// change after that.
    ReadBefore,
    /// No messages, unless its writer is about to write them.
    Locked {
        why: String,
        /// `true` if messages of it were read before it was empty.
        was_read: bool,
    },
}

/// A file that was not read at the last census.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnreadSince {
    /// Time of the first census at which it was not read.
    since: MonotonicTime,
    version: FileVersion,
    /// Time of the first of these censuses at which it had this version.
    changed: MonotonicTime,
}

/// A file that cannot be read, or has been locked for longer than `watch.lock_timeout`.
#[derive(Clone, Debug)]
pub(super) struct LastingFile {
    pub(super) file: WithheldBy,
    /// The mailboxes that its messages may belong to.
    mailboxes: Vec<Hash128>,
    /// `true` if it is empty, so that only those messages are withheld that it held before.
    is_emptied: bool,
}

/// Files of a spool that were missing at its last census.
#[derive(Debug, Default)]
pub(super) struct MissingFiles {
    /// The holders that are missing. At most [`urlspool_text::limits::MISSING_FILES`].
    pub(super) holders: HashMap<HolderKey, MissingHolder>,
    /// The last census at which each mailbox with messages without a holder was blocked.
    pub(super) orphans_blocked: HashMap<Hash128, MonotonicTime>,
    /// Since when each file has not been read. By the hashes of their identities, which outlive a
    /// rename.
    pub(super) unread: HashMap<u64, UnreadSince>,
    /// Files among these that are not read by waiting. At most
    /// [`urlspool_text::limits::REMEMBERED_FAILURES`].
    pub(super) lasting: Vec<LastingFile>,
    /// Mailboxes of which messages are missing that may be in files that were not read.
    pub(super) blocked: BTreeSet<Hash128>,
    /// Files because of which messages of these mailboxes are not reported as gone.
    pub(super) withheld: Vec<WithheldBy>,
    /// Files without content, with their modification times.
    pub(super) empty: HashMap<u64, i64>,
    /// Mailboxes of which messages may be in files that were not read.
    pub(super) blocks: HashMap<Hash128, CensusBlock>,
    /// Time of the first complete census.
    pub(super) complete_since: Option<MonotonicTime>,
    /// Time of the last census.
    pub(super) last: Option<MonotonicTime>,
    /// Time of the census before the last one.
    pub(super) before_last: Option<MonotonicTime>,
    /// `true` if another census will release holders, unless their files appear again.
    pub(super) is_waiting: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct MissingHolder {
    /// Time of the last census at which it was present; `None` if there was none since the start.
    pub(super) present: Option<MonotonicTime>,
    /// Time after the first census at which it was missing.
    pub(super) since: MonotonicTime,
    /// Time after the last census at which its messages may have been somewhere else; after the
    /// first one, if there is none.
    pub(super) blocked: MonotonicTime,
}

/// Reason for which messages of a mailbox may be somewhere else.
#[derive(Clone, Copy, Debug)]
pub(super) struct CensusBlock {
    /// Since when.
    pub(super) since: MonotonicTime,
    /// `true` if the files cannot be read, so that waiting may not help.
    pub(super) is_failure: bool,
    /// If these files were read before and cannot be read now: the time at which a change of them
    /// was noticed last. Messages that were present long after it are not in them.
    pub(super) changed: Option<MonotonicTime>,
}

impl CensusBlock {
    /// Returns `true` if a message may be in the files: it was moved within `window` of a change of
    /// them. `present` is the last time at which the message was seen elsewhere.
    pub(super) fn may_hold(&self, present: Option<MonotonicTime>, window: Duration) -> bool {
        let is_later =
            |changed: MonotonicTime| present.is_some_and(|present| changed.plus(window) < present);
        !self.changed.is_some_and(is_later)
    }
}

impl SpoolCensus {
    /// Adds a file that is present.
    pub(super) fn add(&mut self, file: &WalkedFile, standing: FileStanding) {
        let version = match file.source.path.symlink_metadata() {
            Ok(metadata) => FileVersion::of(&metadata),
            // It was renamed or removed since it was checked: the next census will tell.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let FileStanding::Read(holder) = standing {
                    self.holders.push(holder);
                }
                return;
            }
            Err(_) => return self.mark_incomplete(),
        };
        self.devs.insert(version.id.dev);
        let unread = |content| UnreadFile {
            path: file.source.path.to_path_buf(),
            hint: file.hint,
            version,
            content,
        };
        let mut holder = standing.holder();
        match standing {
            FileStanding::Read(_) => {}
            FileStanding::Unread(None) => self.unread.push(unread(UnreadContent::Unknown)),
            FileStanding::Unread(Some(_)) => self.unread.push(unread(UnreadContent::ReadBefore)),
            FileStanding::Empty(pass) => {
                // A mail program rewrites a mailbox in place, under its lock.
                if let Some(why) = why_locked(file) {
                    let was_read = pass.is_some();
                    self.unread
                        .push(unread(UnreadContent::Locked { why, was_read }));
                } else {
                    holder = None;
                    self.unread.push(unread(UnreadContent::Emptied));
                }
            }
        }
        // A file that is not read now holds what it held.
        self.holders.extend(holder);
        if SURVEYED_FILES < self.holders.len() + self.unread.len() {
            self.mark_incomplete();
            (self.holders, self.unread) = (Vec::new(), Vec::new());
        }
    }

    /// Records that files may be present that are not listed, so that none counts as missing.
    pub(super) fn mark_incomplete(&mut self) {
        self.is_incomplete = true;
    }

    pub(super) fn has(&self, holder: HolderKey) -> bool {
        self.holders.binary_search(&holder).is_ok()
    }
}

impl MissingFiles {
    /// Updates the files that were not read, and the mailboxes that they block. `why` gives the
    /// reason for which a file cannot be read. An empty file that is locked for `lock_timeout`
    /// holds no more than it held before: its lock was left behind.
    pub(super) fn follow_unread(
        &mut self,
        census: &SpoolCensus,
        lock_timeout: Duration,
        why: impl Fn(&Path) -> Option<String>,
    ) {
        let unread_before = std::mem::take(&mut self.unread);
        let empty_before = std::mem::take(&mut self.empty);
        self.lasting.clear();
        self.blocks.clear();
        for file in &census.unread {
            let id = file.version.id.hash();
            if matches!(file.content, UnreadContent::Emptied) {
                let mtime = file.version.mtime;
                self.empty.insert(id, mtime);
                // A mail program that takes no lock rewrites a mailbox in place, which is empty for
                // a moment.
                if empty_before.get(&id) == Some(&mtime) {
                    continue;
                }
            }
            let mut known = UnreadSince {
                since: census.start,
                version: file.version,
                changed: census.start,
            };
            if let Some(before) = unread_before.get(&id) {
                known.since = before.since;
                if before.version == file.version {
                    known.changed = before.changed;
                }
            }
            self.unread.insert(id, known);
            let mailboxes = mailbox_scopes(&file.path, file.hint, &census.identity);
            if let UnreadContent::Locked { why, was_read } = &file.content
                && known.changed.plus(lock_timeout) <= census.start
            {
                if *was_read {
                    self.add_lasting(file, why.clone(), mailboxes);
                }
                continue;
            }
            let why = why(&file.path);
            let was_read = matches!(file.content, UnreadContent::ReadBefore);
            let block = CensusBlock {
                since: known.since,
                is_failure: why.is_some(),
                changed: (why.is_some() && was_read).then_some(known.changed),
            };
            for mailbox in &mailboxes {
                self.add_block(*mailbox, block);
            }
            if let Some(why) = why {
                self.add_lasting(file, why, mailboxes);
            }
        }
        let block = CensusBlock {
            since: MonotonicTime::default(),
            is_failure: false,
            changed: None,
        };
        for (folder, before) in &census.folders {
            // Entries were renamed during the scan, so that it may have listed neither name.
            if change_time(folder) == *before {
                continue;
            }
            // The folders of MH themselves, and the Maildirs of `new` and `cur`.
            let folder = census.identity.path_of(folder);
            for mailbox in [Some(&*folder), folder.parent()].into_iter().flatten() {
                self.add_block(path_key(mailbox), block);
            }
        }
    }

    fn add_lasting(&mut self, file: &UnreadFile, why: String, mailboxes: Vec<Hash128>) {
        if self.lasting.len() < REMEMBERED_FAILURES {
            self.lasting.push(LastingFile {
                file: WithheldBy {
                    path: file.path.display().to_string(),
                    why,
                },
                mailboxes,
                is_emptied: matches!(file.content, UnreadContent::Locked { .. }),
            });
        }
    }

    fn add_block(&mut self, mailbox: Hash128, block: CensusBlock) {
        let known = self.blocks.entry(mailbox).or_insert(block);
        known.since = known.since.min(block.since);
        known.is_failure &= block.is_failure;
        let changed = known.changed.zip(block.changed);
        known.changed = changed.map(|(known, other)| known.max(other));
    }
}

impl LastingFile {
    /// Returns `true` if messages are not reported as gone because of the file. `blocked` are the
    /// mailboxes of which messages are missing that may be in files that were not read.
    pub(super) fn withholds(&self, blocked: &BTreeSet<Hash128>) -> bool {
        self.is_emptied || self.mailboxes.iter().any(|key| blocked.contains(key))
    }
}

/// Returns the time at which a folder was last changed, in nanoseconds since 1970. No program can set it.
pub(super) fn change_time(folder: &Path) -> Option<i64> {
    let metadata = folder.metadata().ok()?;
    Some(FileVersion::of(&metadata).ctime)
}
