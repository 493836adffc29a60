//! A spool as its reader sees it, the scan of a whole spool, and the time of the next one. Once a
//! day, the scan also makes a survey: the state of files missing for [`PURGE_DAYS`] days is purged.
//!
//! If tombstones are written, each complete scan is also a census, which finds the messages that
//! are gone because their files are missing: it lists the holders of present messages. A holder is
//! released once it has been missing for `watch.gone_after` and in at least two censuses. Messages
//! without another holder are then gone. Errors do not make a holder missing: neither an unreadable
//! folder nor an unmounted file system. While a file is unread that may contain the messages of a
//! missing one, the missing one waits.

use std::collections::{BTreeSet, HashMap};
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::reader::{RESCAN_DELAY_MS, ReaderHost, SpoolReader};
use crate::ingest::{ExistingFiles, FileReadState, FileVersion, mailbox_scopes, why_locked};
use crate::status::{Notices, SpoolState, SpoolStatus, WithheldBy};
use crate::store::{
    GoneMessage, Hash128, HolderKey, HolderRow, OrphanedMailbox, PurgeStats, SeenFiles,
    SpoolIdentity, StateDb, path_key,
};
use crate::{DaemonError, MonotonicTime, Result};
use urlspool_files::config::{ExistingMail, Spool};
use urlspool_files::keyed_hash::HashKey;
use urlspool_sources::walk::{self, DeviceInode, PathFilter, SymlinkPolicy, WalkStep, WalkedFile};
use urlspool_text::diagnostic::{DiagnosticKind, Event, counted};
use urlspool_text::limits::{
    EXISTING_FILES, MISSING_FILES, PURGE_DAYS, REMEMBERED_FAILURES, REPORTED_FAILURES,
    SURVEYED_FILES,
};
use urlspool_text::origin::{FormatHint, unrotated};

/// A spool, and the time of its next scan.
#[derive(Default)]
pub(super) struct WatchedSpool {
    pub(super) spool: Spool,
    /// The spool as the state knows it.
    pub(super) identity: Arc<SpoolIdentity>,
    /// Time of the next full scan; `None` if none is planned.
    pub(super) due: Option<MonotonicTime>,
    /// `true` if the next scan is only due because the interval between rescans will have passed.
    pub(super) is_routine: bool,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ExistingState {
    /// Not checked yet.
    #[default]
    Unknown,
    /// Its files were noted, and are being read.
    Noted,
    /// It was read, or it is written like all other mail.
    Read,
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
            notices: true,
            status: SpoolStatus {
                path: spool.path.display().to_string(),
                present: true,
                ..SpoolStatus::default()
            },
            ..WatchedSpool::default()
        }
    }

    /// Returns `true` if a scan of the spool before `soon` is needed.
    pub(super) fn is_needed(&self, soon: MonotonicTime) -> bool {
        let is_due = self.due.is_some_and(|due| due <= soon);
        self.missing.is_waiting || !self.is_routine && is_due
    }

    /// Schedules a scan of the spool at `at` or earlier.
    pub(super) fn mark(&mut self, at: MonotonicTime) {
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
        self.is_routine = false;
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
    /// The missing holders. At most [`MISSING_FILES`].
    pub(super) holders: HashMap<HolderKey, MissingHolder>,
    /// For each mailbox with messages without a holder: the last census at which it was blocked.
    pub(super) orphans_blocked: HashMap<Hash128, MonotonicTime>,
    /// Time since which each file has been unread, by the hash of its identity, which survives a
    /// rename, and by the hash of its unrotated path, which survives a replacement.
    pub(super) unread: HashMap<u64, UnreadSince>,
    /// Those of the unread files that waiting alone will not get read. At most
    /// [`REMEMBERED_FAILURES`].
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

/// Milliseconds between two scans of a spool without notifications.
const POLL_MS: u64 = 30_000;

/// Milliseconds of a scan after which changed files are checked first.
const CHANGED_FILES_MS: u64 = 250;

/// Consecutive scans of a changing spool before other spools get their turn.
const IMMEDIATE_RESCANS: u32 = 3;

/// The reason for a gap in a scan.
const METADATA_GAP: &str = "the metadata of some files cannot be read";

/// Age of a folder's last change at which the listing is reliable, for any clock resolution.
const FOLDER_AGE: Duration = Duration::from_secs(1);

/// Progress of the scan of one spool, and the files that it found.
struct SpoolScan {
    /// Index of the spool.
    spool: usize,
    identity: Arc<SpoolIdentity>,
    hash_key: HashKey,
    start: MonotonicTime,
    /// Time at which the census ended; the start time until then.
    end: MonotonicTime,
    /// Time at which changed files were last checked.
    changed_checked: MonotonicTime,
    /// Number of files so far.
    files: usize,
    /// Times of change of the folders whose entries mail programs rename.
    folders: HashMap<PathBuf, i64>,
    /// Folders and files that could not be examined.
    unreadable: UnreadablePaths,
    /// The reason why an unlisted file may exist; `None` if all files were listed.
    gap: Option<String>,
    /// Day of the survey made along with the scan, if one is due.
    survey_day: Option<u64>,
    /// Mounted file systems and, for a survey, the files.
    seen: SeenFiles,
    /// `true` if the scan is a census, because tombstones are written.
    is_census: bool,
    /// Holders whose files are present.
    holders: Vec<HolderKey>,
    /// Files that were not read.
    unread: Vec<UnreadFile>,
    /// Folders known from earlier scans, with their times of change before this one.
    folders_before: HashMap<PathBuf, Option<i64>>,
}

/// A file that was not read.
struct UnreadFile {
    path: PathBuf,
    hint: FormatHint,
    version: FileVersion,
    read_state: FileReadState,
    /// The reason to assume that a writer is about to write the file, which is empty.
    lock: Option<String>,
}

impl SpoolReader {
    /// Scans all files of a spool.
    pub(super) fn scan_spool(&mut self, spool: usize, host: &mut dyn ReaderHost) -> Result<()> {
        self.counters.sweeps += 1;
        self.spools[spool].due = None;
        let start = host.now();
        let old = self.latest_change(spool, FOLDER_AGE, host);
        let is_present = self.check_root(spool, host)?;
        let mut scan = self.begin_scan(spool, start)?;
        if is_present {
            self.walk_spool(&mut scan, host)?;
            if self.stopping {
                self.spools[spool].mark(start);
                return Ok(());
            }
        }
        self.spools[spool].status.files = scan.files as u64;
        self.spools[spool].scanned = is_present;
        self.replace_unreadable(spool, std::mem::take(&mut scan.unreadable), host);
        if is_present {
            self.finish_survey(&mut scan, host)?;
            self.finish_census(&mut scan, host)?;
        }
        self.writer()?.save_watch_time(host)?;
        self.plan_next_scan(scan, old, host.now());
        Ok(())
    }

    /// Starts the scan of a spool. The first scan of a day is also a survey.
    fn begin_scan(&self, spool: usize, start: MonotonicTime) -> Result<SpoolScan> {
        let watched = &self.spools[spool];
        let session = self.session()?;
        let writer = session.lock()?;
        let name = survey_day_name(watched.identity.key);
        let last = writer.db()?.meta(&name)?;
        let survey_day = Some(writer.watch_day(start)?).filter(|day| last != Some(*day));
        // The lock is released first because the spool may not answer.
        drop(writer);
        let root = &watched.spool.path;
        let mut seen = SeenFiles::default();
        seen.devs.extend(root.metadata().map(|root| root.dev()));
        let is_census = self.config.output.tombstones;
        let mut folders_before = HashMap::new();
        let known = self.folders.keys().filter(|_| is_census);
        for path in known.filter(|path| path.starts_with(root)) {
            let version = path.metadata().ok().map(|found| FileVersion::of(&found));
            seen.devs.extend(version.map(|version| version.id.dev));
            folders_before.insert(path.clone(), version.map(|version| version.ctime));
        }
        Ok(SpoolScan {
            spool,
            identity: Arc::clone(&watched.identity),
            hash_key: session.hash_key,
            start,
            end: start,
            changed_checked: start,
            files: 0,
            folders: HashMap::new(),
            unreadable: UnreadablePaths::default(),
            gap: None,
            survey_day,
            seen,
            is_census,
            holders: Vec::new(),
            unread: Vec::new(),
            folders_before,
        })
    }

    /// Returns `true` if the root of a spool is present. Logs when it disappears or comes back.
    fn check_root(&mut self, spool: usize, host: &mut dyn ReaderHost) -> Result<bool> {
        let is_present = !self.is_absent(spool)?;
        let key = self.spools[spool].identity.key;
        let is_new = !is_present && !self.writer()?.db()?.has_spool(key)?;
        let watched = &mut self.spools[spool];
        let root = &watched.status.path;
        match (watched.status.present, is_present) {
            (true, false) if is_new => host.warn(format!("spool {root} does not exist yet")),
            (true, false) => host.warn(format!(
                "spool {root} is missing or empty; its state is kept"
            )),
            (false, true) if watched.status.is_new => host.info(format!("spool {root} exists now")),
            (false, true) => host.info(format!("spool {root} is available again")),
            _ => {}
        }
        watched.status.present = is_present;
        watched.status.is_new = is_new;
        Ok(is_present)
    }

    /// Stores the folders and files that the scan could not examine. Logs when all can be examined
    /// again.
    fn replace_unreadable(
        &mut self,
        spool: usize,
        unreadable: UnreadablePaths,
        host: &mut dyn ReaderHost,
    ) {
        let watched = &mut self.spools[spool];
        if !watched.unreadable.is_empty() && unreadable.is_empty() && watched.status.present {
            // The kernel may have refused to report changes: they are requested again, as if the
            // root had changed.
            watched.root = None;
            let root = &watched.status.path;
            host.info(format!("spool {root} can be read completely again"));
        }
        watched.unreadable = unreadable;
    }

    /// Handles a folder or file that the scan cannot examine. It is reported once, not at each
    /// scan.
    fn fail(&mut self, scan: &mut SpoolScan, event: &Event, host: &mut dyn ReaderHost) {
        if event.diagnostic.kind == DiagnosticKind::Vanished {
            self.report(event, host);
            return;
        }
        let known = &mut self.spools[scan.spool].unreadable;
        if known.paths.contains(&*event.source.path) {
            self.counters.event(event);
        } else {
            // The status does not wait for the end of a long scan.
            known.add(event);
            self.report(event, host);
        }
        scan.unreadable.add(event);
        scan.gap = Some("some folders cannot be read".to_owned());
    }

    /// Checks each file of the spool, until the end or until the reader stops.
    fn walk_spool(&mut self, scan: &mut SpoolScan, host: &mut dyn ReaderHost) -> Result<()> {
        let roots = [self.spools[scan.spool].spool.path.clone()];
        for step in walk::walk(&roots, &PathFilter::default(), SymlinkPolicy::Skip) {
            match step {
                WalkStep::File(file) => {
                    let metadata = file.source.path.symlink_metadata();
                    scan.add(&file, &metadata);
                    let read_state = self.check_file(scan.spool, &file, metadata, host)?;
                    scan.count(&file, read_state);
                }
                WalkStep::Repository(source) => {
                    let checked = self.check_repository(scan.spool, &source.path, host)?;
                    scan.files += 1;
                    if let Some((file, version, read_state)) = checked {
                        scan.survey(&file, version);
                        scan.count(&file, read_state);
                    }
                }
                WalkStep::Failed(event) => self.fail(scan, &event, host),
                _ => {}
            }
            self.between_files(host)?;
            // New mail does not wait for the end of the scan.
            if scan.changed_checked.after(CHANGED_FILES_MS) <= host.now() {
                self.check_changed_files(host)?;
                scan.changed_checked = host.now();
            }
            if self.stopping {
                break;
            }
        }
        Ok(())
    }

    /// Plans the next scan. A folder that changed during the scan, after `old`, is scanned again
    /// until it is stable: listing a folder while its entries are renamed returns some of them
    /// twice and misses others.
    fn plan_next_scan(&mut self, scan: SpoolScan, old: i64, now: MonotonicTime) {
        let is_stable = scan.folders.iter().all(|(path, before)| {
            change_time(path) == Some(*before)
                && (*before <= old || self.folders.get(path) == Some(before))
        });
        self.folders.extend(scan.folders);
        let rescan_ms = self.config.watch.sweep.as_millis() as u64;
        let watched = &mut self.spools[scan.spool];
        if is_stable {
            let is_polled = !watched.notices || !watched.status.present;
            let wait_ms = rescan_ms.min(if is_polled { POLL_MS } else { u64::MAX });
            watched.unstable_scans = 0;
            let is_routine = watched.due.is_none();
            watched.mark(now.after(wait_ms));
            watched.is_routine = is_routine;
        } else {
            watched.unstable_scans += 1;
            let is_immediate = watched.unstable_scans <= IMMEDIATE_RESCANS;
            let wait_ms = if is_immediate { 0 } else { 2 * RESCAN_DELAY_MS };
            watched.mark(now.after(wait_ms));
        }
        if watched.missing.is_waiting {
            watched.mark(now.plus(self.config.watch.gone_after));
        }
    }
}

impl SpoolScan {
    fn add(&mut self, file: &WalkedFile, metadata: &io::Result<Metadata>) {
        self.files += 1;
        match metadata {
            Ok(metadata) => self.survey(file, FileVersion::of(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => self.gap = Some(METADATA_GAP.to_owned()),
        }
        if SURVEYED_FILES < self.files {
            self.gap = Some(format!("it has more than {SURVEYED_FILES} files"));
            (self.seen.files, self.holders, self.unread) = Default::default();
        }
        // The time of change of a folder whose entries mail programs rename.
        if file.hint != FormatHint::None
            && let Some(folder) = file.source.path.parent()
            && !self.folders.contains_key(folder)
            && let Some(time) = change_time(folder)
        {
            self.folders.insert(folder.to_owned(), time);
        }
    }

    /// Adds an existing file with this version to the survey.
    fn survey(&mut self, file: &WalkedFile, version: FileVersion) {
        self.seen.devs.insert(version.id.dev);
        if self.survey_day.is_some() {
            let key = version.key(file, &self.identity, self.hash_key);
            self.seen.files.push(key);
            if file.hint != FormatHint::Maildir {
                let keys = version.mbox_keys(file, &self.identity);
                self.seen.files.extend(keys);
            }
        }
    }

    /// Counts a file as present in the census.
    fn count(&mut self, file: &WalkedFile, read_state: FileReadState) {
        if !self.is_census {
            return;
        }
        let version = match file.source.path.symlink_metadata() {
            Ok(metadata) => FileVersion::of(&metadata),
            // The file was renamed or removed since its check; the next census shows which.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let FileReadState::Read(holder) = read_state {
                    self.holders.push(holder);
                }
                return;
            }
            Err(_) => return self.gap = Some(METADATA_GAP.to_owned()),
        };
        let is_empty = matches!(read_state, FileReadState::Empty(_));
        // A mail program rewrites a mailbox in place, under its lock.
        let lock = if is_empty { why_locked(file) } else { None };
        if !is_empty || lock.is_some() {
            // A file that is not read now still holds its earlier messages.
            self.holders.extend(read_state.holder());
        }
        if !matches!(read_state, FileReadState::Read(_)) {
            self.unread.push(UnreadFile {
                path: file.source.path.to_path_buf(),
                hint: file.hint,
                version,
                read_state,
                lock,
            });
        }
    }
}

impl SpoolReader {
    /// Notes the files of a spool that is watched for the first time, so URLs of its existing mail
    /// are not written. This is repeated at each start until that mail was read.
    pub(super) fn note_existing(&mut self, spool: usize, host: &mut dyn ReaderHost) -> Result<()> {
        let existing = match self.config.watch.existing {
            Some(existing) if self.spools[spool].existing == ExistingState::Unknown => existing,
            _ => return Ok(()),
        };
        let is_skipped = self.skips_existing(self.spools[spool].identity.key, existing)?;
        let (ExistingMail::Skip { start }, true) = (existing, is_skipped) else {
            self.spools[spool].existing = ExistingState::Read;
            return Ok(());
        };
        let mut files: u64 = 0;
        let roots = [self.spools[spool].spool.path.clone()];
        for step in walk::walk(&roots, &PathFilter::default(), SymlinkPolicy::Skip) {
            self.heartbeat.beat();
            self.handle_events(host);
            if self.stopping {
                return Ok(());
            }
            let noted = match step {
                WalkStep::File(file) => {
                    let metadata = file.source.path.symlink_metadata().ok();
                    let metadata = metadata.filter(|found| {
                        // A mailbox that is written to is not new, but a message is.
                        let is_message = file.hint != FormatHint::None;
                        let written = found.modified().ok().filter(|_| is_message);
                        let created = found.created().ok().or(written);
                        created.is_none_or(|created| created <= start)
                    });
                    metadata.map(|metadata| (FileVersion::of(&metadata), None))
                }
                WalkStep::Repository(source) => self.repository_version(&source.path),
                _ => None,
            };
            if let Some((version, tip)) = noted {
                if EXISTING_FILES < self.existing.insert(version, tip) {
                    return Err(DaemonError::io(format!(
                        "{}: it has more than {EXISTING_FILES} files; watch some of its folders, \
                         or write all mail with --from-start",
                        roots[0].display()
                    )));
                }
                files += 1;
            }
        }
        self.spools[spool].existing = ExistingState::Noted;
        let files = counted(files, "existing file", "existing files");
        let root = roots[0].display();
        host.info(format!("{root}: {files}; only new mail is written"));
        Ok(())
    }

    /// Returns `true` if URLs of the existing mail in a spool are not written, and records that.
    fn skips_existing(&self, spool: Hash128, existing: ExistingMail) -> Result<bool> {
        let writer = self.writer()?;
        let state = writer.db()?;
        let name = existing_name(spool);
        let known = state.meta(&name)?;
        let is_skipped = matches!(existing, ExistingMail::Skip { .. })
            && match known {
                Some(known) => known,
                None => !state.has_spool(spool)?,
            };
        if known != Some(is_skipped) {
            state.set_meta(&name, is_skipped)?;
        }
        Ok(is_skipped)
    }

    /// Records that the existing mail has been read, once it has. Locked and unreadable files count
    /// as new later.
    pub(super) fn finish_existing(&mut self) -> Result<()> {
        let mut noted = self.spools.iter();
        if !noted.any(|watched| watched.existing == ExistingState::Noted)
            || !self.has_scanned_all()
            || self.unsettled.values().any(|file| {
                file.reported_lock().is_none() && self.existing.is_unchanged(file.version)
            })
        {
            return Ok(());
        }
        let session = self.session()?.clone();
        for watched in &mut self.spools {
            if watched.existing == ExistingState::Noted {
                let name = existing_name(watched.identity.key);
                session.lock()?.db()?.set_meta(&name, false)?;
                watched.existing = ExistingState::Read;
            }
        }
        self.existing = ExistingFiles::default();
        Ok(())
    }
}

/// The name in the state of the mark of a spool whose existing mail is still skipped: mail that was
/// there when the spool was watched for the first time.
fn existing_name(spool: Hash128) -> String {
    format!("skips existing {spool:032x}")
}

impl SpoolReader {
    /// Marks missing files, and purges the state of those missing for long, if a survey was made.
    fn finish_survey(&mut self, scan: &mut SpoolScan, host: &mut dyn ReaderHost) -> Result<()> {
        let Some(day) = scan.survey_day else {
            return Ok(());
        };
        let (spool, key) = (scan.spool, scan.identity.key);
        let root = self.spools[spool].status.path.clone();
        let mut failed = self.failures.files.keys();
        let has_failures = failed.any(|path| path.starts_with(&self.spools[spool].spool.path));
        let gap = has_failures.then(|| "some files cannot be read".to_owned());
        let mut writer = self.writer()?;
        let stats = if let Some(gap) = scan.gap.clone().or(gap) {
            host.warn(format!("{root}: no state is purged today: {gap}"));
            None
        } else {
            scan.seen.files.sort_unstable();
            writer.commit()?;
            Some(writer.db()?.survey(key, &scan.seen, day)?)
        };
        writer.db()?.set_meta(&survey_day_name(key), day)?;
        drop(writer);
        if let Some(PurgeStats { purged, frozen }) = stats {
            self.spools[spool].status.absent = frozen;
            self.counters.forgotten += purged;
            if 0 < purged {
                host.info(format!(
                    "{root}: purged {purged} state entries of files missing for {PURGE_DAYS} days"
                ));
            }
        }
        Ok(())
    }

    /// Returns `true` if a spool looks like the mount point of an unmounted file system: it does
    /// not exist, or it is empty although the state has files of it. Its files then do not count as
    /// missing.
    pub(super) fn is_absent(&self, spool: usize) -> Result<bool> {
        let root = &self.spools[spool].spool.path;
        let is_empty = std::fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_none());
        // A root that cannot be examined is unreadable, not absent.
        if matches!(root.try_exists(), Ok(false)) {
            return Ok(true);
        }
        let key = self.spools[spool].identity.key;
        Ok(is_empty && self.writer()?.db()?.has_spool(key)?)
    }
}

/// The name in the state of the day of a spool's last survey.
fn survey_day_name(spool: Hash128) -> String {
    format!("surveyed {spool:032x}")
}

impl SpoolReader {
    /// Schedules a scan of a spool soon, because a file is gone or was rewritten.
    pub(super) fn mark_for_gone(&mut self, spool: usize, now: MonotonicTime) {
        if !self.config.output.tombstones {
            return;
        }
        let gone_after = self.config.watch.gone_after;
        let watched = &mut self.spools[spool];
        let earliest = watched.missing.last.map(|last| last.plus(gone_after));
        let soon = now.after(RESCAN_DELAY_MS);
        watched.mark(earliest.map_or(soon, |earliest| earliest.max(soon)));
    }

    /// Schedules a scan of a spool for the time when a holder whose file was rewritten has been
    /// missing for `watch.gone_after`.
    pub(super) fn mark_replaced(&mut self, spool: usize, holder: HolderKey, now: MonotonicTime) {
        let gone_after = self.config.watch.gone_after;
        let watched = &mut self.spools[spool];
        let missing = &mut watched.missing;
        if missing.holders.len() < MISSING_FILES {
            missing.holders.entry(holder).or_insert(MissingHolder {
                present: missing.last,
                since: now,
                blocked: now,
            });
        }
        missing.is_waiting = true;
        watched.mark(now.plus(gone_after));
    }

    /// Releases the holders that have been missing for long, and writes the gone messages, if the
    /// scan was a census.
    fn finish_census(&mut self, scan: &mut SpoolScan, host: &mut dyn ReaderHost) -> Result<()> {
        if !scan.is_census {
            return Ok(());
        }
        let spool = scan.spool;
        let mut missing = std::mem::take(&mut self.spools[spool].missing);
        missing.is_waiting = false;
        scan.end = host.now();
        missing.before_last = missing.last.replace(scan.end);
        if scan.gap.is_some() || !self.spools[spool].has_same_root() || self.is_absent(spool)? {
            self.spools[spool].missing = MissingFiles {
                last: missing.last,
                ..MissingFiles::default()
            };
            return Ok(());
        }
        scan.holders.sort_unstable();
        let lock_timeout = self.config.watch.lock_timeout;
        missing.follow_unread(scan, lock_timeout, |path| self.why_unread(path));
        missing.blocked.clear();
        missing.complete_since.get_or_insert(scan.end);
        self.spools[spool].missing = missing;
        let gone = self.release_missing(scan, host)?;
        let gone = gone + self.release_orphans(scan, host)?;
        self.report_withheld(spool, host);
        if 0 < gone {
            let gone = counted(gone, "message is gone", "messages are gone");
            host.info(format!("{}: {gone}", self.spools[spool].status.path));
        }
        Ok(())
    }

    /// The reason why waiting alone will not get a file read. `None` if it may.
    fn why_unread(&self, path: &Path) -> Option<String> {
        if let Some(failed) = self.failures.files.get(path) {
            return Some(failed.why.clone());
        }
        let held = self.unsettled.get(path)?.reported_lock()?;
        Some(format!("locked {}", held.holder))
    }

    /// Reports the files that prevent messages of a spool from being reported as gone: all in the
    /// status, each once in the log.
    fn report_withheld(&mut self, spool: usize, host: &mut dyn ReaderHost) {
        let blocked = &self.spools[spool].missing.blocked;
        let missing = self.spools.iter().map(|watched| &watched.missing);
        let lasting = missing.flat_map(|missing| &missing.lasting);
        let withheld: Vec<WithheldBy> = lasting
            .filter(|file| {
                file.is_emptied || file.mailboxes.iter().any(|key| blocked.contains(key))
            })
            .take(REPORTED_FAILURES)
            .map(|lasting| lasting.file.clone())
            .collect();
        let before = std::mem::take(&mut self.spools[spool].missing.withheld);
        for WithheldBy { path, why } in &withheld {
            if !before.iter().any(|known| known.path == *path) {
                host.warn(format!(
                    "{path}: messages missing from its mailbox are not reported as gone, because \
                     this file may hold them: {why}"
                ));
            }
        }
        self.spools[spool].missing.withheld = withheld;
    }

    /// Releases the holders that have been missing for long. Returns the number of gone messages.
    fn release_missing(&mut self, scan: &SpoolScan, host: &mut dyn ReaderHost) -> Result<u64> {
        let holders = self.missing_holders(scan)?;
        let missing = &mut self.spools[scan.spool].missing;
        missing.is_waiting = holders.len() == MISSING_FILES;
        missing.holders = holders.iter().copied().collect();
        let mut gone = 0;
        for (holder, missing) in holders {
            if !self.is_due(scan, holder, missing)? {
                continue;
            }
            gone += self.release(host, |state| state.release_holder(holder))?;
            if self.stopping {
                break;
            }
            self.spools[scan.spool].missing.holders.remove(&holder);
        }
        Ok(gone)
    }

    /// Returns `true` if a holder has been missing for long and its messages cannot be elsewhere.
    /// Records if they can.
    fn is_due(
        &mut self,
        scan: &SpoolScan,
        holder: HolderKey,
        missing: MissingHolder,
    ) -> Result<bool> {
        let mut spools = self.spools.iter();
        let mailboxes = if spools.all(|watched| watched.missing.blocks.is_empty()) {
            Vec::new()
        } else {
            self.writer()?.db()?.held_mailboxes(holder)?
        };
        if self.is_blocked(scan.spool, &mailboxes, missing.since, missing.present) {
            let blocked = scan.end;
            let holders = &mut self.spools[scan.spool].missing.holders;
            holders.insert(holder, MissingHolder { blocked, ..missing });
            return Ok(false);
        }
        let is_due = missing.blocked.plus(self.config.watch.gone_after) <= scan.start
            && missing.since != scan.end;
        self.spools[scan.spool].missing.is_waiting |= !is_due;
        Ok(is_due)
    }

    /// The holders of a spool that are not present, ordered by key.
    fn missing_holders(&mut self, scan: &SpoolScan) -> Result<Vec<(HolderKey, MissingHolder)>> {
        let known = &mut self.spools[scan.spool].missing;
        let before = std::mem::take(&mut known.holders);
        let new = MissingHolder {
            present: known.before_last,
            since: scan.end,
            blocked: scan.end,
        };
        let (mut missing, mut last) = (Vec::new(), None);
        loop {
            let writer = self.writer()?;
            let rows = writer.db()?.holders_after(&scan.identity.path, last)?;
            drop(writer);
            let Some(row) = rows.last() else {
                return Ok(missing);
            };
            last = Some(row.key);
            for HolderRow { key, dev } in rows {
                // A file system that is not mounted keeps its files.
                let is_missing =
                    scan.holders.binary_search(&key).is_err() && scan.seen.devs.contains(&dev);
                if is_missing && missing.len() < MISSING_FILES {
                    missing.push((key, *before.get(&key).unwrap_or(&new)));
                }
            }
        }
    }

    /// Writes the messages that no file was found to contain since the state was rebuilt. Returns
    /// their number.
    fn release_orphans(&mut self, scan: &SpoolScan, host: &mut dyn ReaderHost) -> Result<u64> {
        let spool = scan.identity.key;
        let mailboxes = self.writer()?.db()?.orphaned_mailboxes(spool)?;
        let gone_after = self.config.watch.gone_after;
        let mut gone = 0;
        // Another spool may contain messages of the mailboxes.
        let since = self.spools.iter().map(|other| other.missing.complete_since);
        let Some(since) = since.collect::<Option<BTreeSet<_>>>() else {
            return Ok(0);
        };
        let since = since.last().copied().unwrap_or(scan.end);
        for OrphanedMailbox { id, key, dev } in mailboxes {
            if !scan.seen.devs.contains(&dev) {
                continue;
            }
            let is_blocked = self.is_blocked(scan.spool, &[key], since, None);
            let blocked = &mut self.spools[scan.spool].missing.orphans_blocked;
            if is_blocked {
                blocked.insert(key, scan.end);
                continue;
            }
            let since = since.max(blocked.get(&key).copied().unwrap_or_default());
            if scan.start < since.plus(gone_after) {
                self.spools[scan.spool].missing.is_waiting = true;
                continue;
            }
            gone += self.release(host, |state| state.release_orphans(id))?;
            if self.stopping {
                break;
            }
        }
        Ok(gone)
    }

    /// Returns `true` if messages of these mailboxes, missing since `since` and last seen at
    /// `present`, may be in an unread file. A file that appeared much later cannot contain a
    /// message moved then.
    fn is_blocked(
        &mut self,
        spool: usize,
        mailboxes: &[Hash128],
        since: MonotonicTime,
        present: Option<MonotonicTime>,
    ) -> bool {
        let window = 2 * self.config.watch.gone_after;
        let until = since.plus(window);
        let (mut may_end, mut blocked) = (false, Vec::new());
        // Several spools of one reader may contain the same mailbox.
        for blocks in self.spools.iter().map(|watched| &watched.missing.blocks) {
            let blocks = mailboxes
                .iter()
                .filter_map(|key| Some((key, blocks.get(key)?)));
            for (key, block) in blocks {
                // The files cannot hold a message that was seen elsewhere long after their last
                // change: it would have been moved within `window` of one.
                let changed = block.changed.map(|changed| changed.plus(window));
                let is_earlier =
                    changed.is_some_and(|changed| present.is_some_and(|at| changed < at));
                if block.since <= until && !is_earlier {
                    may_end |= !block.is_failure;
                    blocked.push(*key);
                }
            }
        }
        let missing = &mut self.spools[spool].missing;
        missing.is_waiting |= may_end;
        missing.blocked.extend(&blocked);
        !blocked.is_empty()
    }

    /// Runs the steps of a release until it is done or the reader stops. Returns the number of gone
    /// messages.
    fn release(
        &mut self,
        host: &mut dyn ReaderHost,
        step: impl Fn(&StateDb) -> Result<Option<Vec<GoneMessage>>>,
    ) -> Result<u64> {
        let mut gone = 0;
        loop {
            let mut writer = self.writer()?;
            let released = step(writer.db()?)?;
            writer.put_gone(released.as_deref().unwrap_or_default())?;
            drop(writer);
            self.between_files(host)?;
            let Some(released) = released else {
                return Ok(gone);
            };
            gone += released.len() as u64;
            if self.stopping {
                return Ok(gone);
            }
        }
    }
}

impl MissingFiles {
    /// Updates the unread files and the mailboxes that they block. `why` returns the reason why a
    /// file cannot be read. An empty file that has been locked for `lock_timeout` contains no more
    /// than it did before: its lock was left behind.
    fn follow_unread(
        &mut self,
        scan: &SpoolScan,
        lock_timeout: Duration,
        why: impl Fn(&Path) -> Option<String>,
    ) {
        let unread_before = std::mem::take(&mut self.unread);
        let empty_before = std::mem::take(&mut self.empty);
        self.lasting.clear();
        self.blocks.clear();
        for file in &scan.unread {
            let id = file.version.id.hash();
            if matches!(file.read_state, FileReadState::Empty(_)) && file.lock.is_none() {
                let mtime = file.version.mtime;
                self.empty.insert(id, mtime);
                // A mail program without locks rewrites a mailbox in place; the file is then empty
                // for a moment.
                if empty_before.get(&id) == Some(&mtime) {
                    continue;
                }
            }
            let mut known = UnreadSince {
                since: scan.start,
                version: file.version,
                changed: scan.start,
            };
            // A file that replaces an unread file, or is a copy of it, may hold its messages.
            let mailbox = path_key(&unrotated(&scan.identity.path_of(&file.path))) as u64;
            let before = [id, mailbox].map(|key| unread_before.get(&key));
            for before in before.into_iter().flatten() {
                known.since = known.since.min(before.since);
                if before.version == file.version {
                    known.changed = before.changed;
                }
            }
            self.unread.insert(id, known);
            let of_mailbox = self.unread.entry(mailbox).or_insert(known);
            of_mailbox.since = of_mailbox.since.min(known.since);
            let mailboxes = mailbox_scopes(&file.path, file.hint, &scan.identity);
            if let Some(why) = &file.lock
                && known.changed.plus(lock_timeout) <= scan.start
            {
                if file.read_state.holder().is_some() {
                    self.add_lasting(file, why.clone(), mailboxes);
                }
                continue;
            }
            let why = why(&file.path);
            // It contains other messages only if they were added by a later change.
            let was_read = matches!(file.read_state, FileReadState::Unread(Some(_)));
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
        let block = CensusBlock::default();
        for (folder, before) in &scan.folders_before {
            // Entries were renamed during the scan, so the scan may have seen neither name.
            if change_time(folder) == *before {
                continue;
            }
            // For MH, the folders themselves; for Maildirs, the parents of `new` and `cur`.
            let folder = scan.identity.path_of(folder);
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
                is_emptied: file.lock.is_some(),
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

/// Returns the time at which a folder was last changed, in nanoseconds since 1970. Programs cannot
/// set it.
fn change_time(folder: &Path) -> Option<i64> {
    let metadata = folder.metadata().ok()?;
    Some(FileVersion::of(&metadata).ctime)
}
