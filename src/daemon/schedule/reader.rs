//! One reader: a loop over [`DaemonEvent`] for some of the spools.
//!
//! Events only mark work; [`SpoolReader::work`] does it. Time and events come from the
//! [`ReaderHost`], so that a test can be one. How a spool is scanned is in `spool_scan.rs`. Files
//! that could not be read are retried later, and after a day quarantined.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::watched_spool::{ScanReason, WatchedSpool};
use crate::config::Config;
use crate::daemon::DaemonError;
use crate::daemon::environment::{DaemonHost, Heartbeat, MonotonicTime};
use crate::daemon::ingest::{ExistingFiles, FileVersion, ParserPool, WriterLock};
use crate::daemon::status::{Counters, DaemonState, FailedFile, LastError, LockedFile, Status};
use crate::daemon::store::{Session, SharedCommitter};
use crate::diagnostic::{Diagnostic, DiagnosticKind};
use crate::extract::Extractor;
use crate::limits::{
    QUARANTINE_MS, REMEMBERED_FAILURES, REPORTED_FAILURES, RETRY_FIRST_MS, RETRY_MAX_MS,
};
use crate::planted_faults::{PlantedFault, is_planted};
use crate::read::GitHost;

/// Delay before a new or changing folder is scanned again.
pub(super) const RESCAN_DELAY_MS: u64 = 1_000;

/// The surroundings of a reader: clock, log and source of events.
pub trait ReaderHost: DaemonHost {
    /// Returns the next event since the last call, or `None` if there is none.
    fn event(&mut self) -> Option<DaemonEvent>;

    /// A folder appeared in the spool at `root`: its changes must be reported from now on.
    fn folder_appeared(&mut self, root: &Path, folder: &Path) {
        let _ = (root, folder);
    }

    /// Called often during work, with the reader's current state.
    fn progress(&mut self, reader: &SpoolReader);
}

/// Reads some of the spools, in one loop.
#[derive(Debug)]
pub struct SpoolReader {
    pub(super) config: Config,
    pub(super) shared: ReaderResources,
    pub(super) heartbeat: Arc<Heartbeat>,
    /// Term of the committer for which all spools were scanned or marked to be.
    term: u64,
    pub(super) spools: Vec<WatchedSpool>,
    /// The files whose URLs are not written, because they were there before.
    pub(super) existing: ExistingFiles,
    pub(super) changed: BTreeSet<PathBuf>,
    pub(super) unsettled: HashMap<PathBuf, UnsettledFile>,
    pub(super) failures: RetryTable,
    /// Modification times of folders whose entries are renamed while they are read.
    pub(super) folders: HashMap<PathBuf, i64>,
    /// Folders of which a file that urlspool wrote was reported: such a file changes at each
    /// commit. At most [`REMEMBERED_FAILURES`].
    noted_outputs: BTreeSet<PathBuf>,
    pub(super) counters: Counters,
    pub(super) stopping: bool,
    pub(super) last_error: LastError,
}

/// Resources that all readers share.
#[derive(Clone, Debug)]
pub(crate) struct ReaderResources {
    pub(crate) extractor: Arc<Extractor>,
    pub(crate) parsers: Arc<ParserPool>,
    pub(crate) committer: Arc<SharedCommitter>,
    pub(crate) git: GitHost,
}

/// A file that may still be written.
#[derive(Clone, Debug)]
pub(super) struct UnsettledFile {
    pub(super) version: FileVersion,
    /// Since when it has had this version.
    pub(super) since: MonotonicTime,
    /// Time of its next scan.
    pub(super) due: MonotonicTime,
    /// Index of its spool.
    pub(super) spool: usize,
    /// The lock under which it was found at its last check.
    pub(super) lock: Option<HeldLock>,
}

/// A lock that keeps a file from being read.
#[derive(Clone, Debug)]
pub(super) struct HeldLock {
    pub(super) lock: WriterLock,
    /// Since when each check found the file locked.
    pub(super) since: MonotonicTime,
    /// `true` once it was reported, after `watch.lock_timeout`.
    pub(super) is_reported: bool,
}

impl UnsettledFile {
    /// The lock, if it was reported.
    pub(super) fn reported_lock(&self) -> Option<&HeldLock> {
        self.lock.as_ref().filter(|held| held.is_reported)
    }
}

impl SpoolReader {
    /// Opens state and output, recovers them after a crash, and marks all spools of the
    /// configuration to be scanned by one reader.
    ///
    /// # Errors
    ///
    /// Another instance holds the state, state and output contradict each other, or an I/O error.
    pub fn open(config: Config, host: &mut dyn DaemonHost) -> Result<SpoolReader, DaemonError> {
        let shared = ReaderResources {
            committer: SharedCommitter::open(&config, host)?,
            git: GitHost::new(&config.options().limits),
            extractor: Arc::new(Extractor::new(config.options())),
            parsers: Arc::new(ParserPool::new(config.output.lines())),
        };
        Ok(SpoolReader::new(config, shared, host.now()))
    }

    /// A reader for all spools of `config`, each of them due now.
    pub(crate) fn new(config: Config, shared: ReaderResources, now: MonotonicTime) -> SpoolReader {
        SpoolReader {
            spools: config
                .spool
                .iter()
                .map(|spool| WatchedSpool::new(spool, now))
                .collect(),
            term: shared.committer.term(),
            config,
            shared,
            heartbeat: Arc::default(),
            existing: ExistingFiles::default(),
            changed: BTreeSet::new(),
            unsettled: HashMap::new(),
            failures: RetryTable::default(),
            folders: HashMap::new(),
            noted_outputs: BTreeSet::new(),
            counters: Counters::default(),
            stopping: false,
            last_error: LastError::default(),
        }
    }

    /// Marks the work that an event asks for.
    pub fn handle(&mut self, event: DaemonEvent, now: MonotonicTime) {
        match event {
            DaemonEvent::Changed(path) => {
                if let Some(spool) = self.spool_of(&path) {
                    self.spools[spool].noticed = Some(now);
                }
                self.changed.insert(path);
            }
            DaemonEvent::Overflow => {
                self.counters.overflows += 1;
                if !is_planted(PlantedFault::IgnoreOverflow) {
                    self.rescan_all(now);
                }
            }
            DaemonEvent::Unwatched(path) => self.poll(&path, now),
            DaemonEvent::Stop => self.stopping = true,
        }
    }

    /// Does all work that is due. Returns the time at which more will be due.
    ///
    /// # Errors
    ///
    /// Errors that end the daemon. Lack of space does not: work pauses, and resumes when there is
    /// space.
    pub fn work(&mut self, host: &mut dyn ReaderHost) -> Result<MonotonicTime, DaemonError> {
        if let Some(retry) = self.shared.committer.ready(host)? {
            return Ok(retry);
        }
        self.follow_term(host.now());
        match self.round(host) {
            Ok(()) => Ok(self.next_deadline()),
            Err(DaemonError::OutOfSpace { .. }) => Ok(self
                .shared
                .committer
                .ready(host)?
                .unwrap_or_else(|| host.now())),
            Err(error) => Err(error),
        }
    }

    /// Returns `true` if everything was read and committed, as far as possible at `now`. Files that
    /// were locked for longer than `watch.lock_timeout` do not count.
    #[must_use]
    pub fn is_done(&self, now: MonotonicTime) -> bool {
        let is_due = |watched: &WatchedSpool| {
            watched.missing.is_waiting()
                || watched.scan_reason == ScanReason::Needed
                    && watched
                        .due
                        .is_some_and(|due| due <= now.after(RESCAN_DELAY_MS))
        };
        self.changed.is_empty()
            && self
                .unsettled
                .values()
                .all(|file| file.reported_lock().is_some())
            && self.shared.committer.is_idle(self.term)
            && !self.spools.iter().any(is_due)
    }

    /// Commits and seals what was read, and releases state and output.
    ///
    /// # Errors
    ///
    /// An I/O error. What was committed stays committed.
    pub fn close(self) -> Result<(), DaemonError> {
        self.shared.committer.close().map(|_| ())
    }

    /// The state of the spools and of the committer.
    #[must_use]
    pub fn status(&self, now: MonotonicTime) -> Status {
        let mut status = self.spools_status(now);
        self.shared.committer.add_status(&mut status);
        status
    }

    /// The state of this reader's spools, without the committer's.
    pub(crate) fn spools_status(&self, now: MonotonicTime) -> Status {
        Status {
            state: if self.stopping {
                DaemonState::Stopping
            } else {
                DaemonState::Running
            },
            queue: self.changed.len(),
            resting: self.unsettled.len(),
            failing: self.failures.failing(),
            quarantined: self.failures.quarantined(),
            failures: self.failures.reported(),
            locked: self
                .unsettled
                .values()
                .filter(|file| file.reported_lock().is_some())
                .count(),
            locks: self.reported_locks(now),
            spools: self
                .spools
                .iter()
                .map(|watched| watched.status(now))
                .collect(),
            last_error: self.last_error.clone(),
            counts: self.counters.clone(),
            ..Status::default()
        }
    }

    /// The files that have been locked for longer than `watch.lock_timeout`, at most
    /// [`REPORTED_FAILURES`].
    fn reported_locks(&self, now: MonotonicTime) -> Vec<LockedFile> {
        let mut locked: Vec<_> = self
            .unsettled
            .iter()
            .filter_map(|(path, file)| Some((path, file.reported_lock()?)))
            .collect();
        locked.sort_by_key(|(path, held)| (held.since, *path));
        let reported = |(path, held): (&PathBuf, &HeldLock)| LockedFile {
            path: path.display().to_string(),
            lock: held.lock.to_string(),
            locked_ms: now.ms.saturating_sub(held.since.ms),
        };
        locked
            .into_iter()
            .take(REPORTED_FAILURES)
            .map(reported)
            .collect()
    }

    /// A sentence about each file that was not read: it is locked, it is still written, or it
    /// cannot be read.
    pub(crate) fn unread_files(&self, now: MonotonicTime) -> Vec<String> {
        let sentence = |(path, file): (&PathBuf, &UnsettledFile)| match &file.lock {
            Some(HeldLock { lock, since, .. }) => {
                let seconds = now.ms.saturating_sub(since.ms) / 1_000;
                format!("{}: locked for {seconds} s {lock}", path.display())
            }
            None => format!("{}: it is still written", path.display()),
        };
        let mut sentences: Vec<String> = self.unsettled.iter().map(sentence).collect();
        sentences.extend(self.failures.sentences());
        let unreadable = self.spools.iter().map(WatchedSpool::unreadable_folders);
        sentences.extend(unreadable.flatten());
        sentences.sort_unstable();
        sentences.dedup();
        sentences
    }

    /// Returns `true` if all spools have been scanned, and what changed since has been looked at.
    pub(crate) fn has_scanned_all(&self) -> bool {
        self.changed.is_empty() && self.spools.iter().all(|watched| watched.scanned)
    }

    /// Returns `true` if a file that may have settled is due to be read.
    pub(crate) fn has_due_files(&self, now: MonotonicTime) -> bool {
        let is_due = |file: &UnsettledFile| file.due <= now && file.reported_lock().is_none();
        self.unsettled.values().any(is_due)
    }

    /// Returns `true` if the operator asked to stop.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// Returns `true` if work is paused for lack of space.
    pub(crate) fn is_paused(&self) -> bool {
        self.shared.committer.is_paused()
    }

    /// The time for which an mbox may be locked.
    pub(crate) fn lock_timeout(&self) -> Duration {
        self.config.watch.lock_timeout
    }

    /// Paths of the spools.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        self.config
            .spool
            .iter()
            .map(|spool| spool.path.clone())
            .collect()
    }

    /// Shared with the supervisor, which recognises a stalled reader by it.
    pub(crate) fn heartbeat(&self) -> Arc<Heartbeat> {
        Arc::clone(&self.heartbeat)
    }

    /// Number of messages that were searched, committed or not.
    pub(crate) fn messages_read(&self) -> u64 {
        self.counters.messages_read
    }

    /// Returns `true` if roots appeared, disappeared or were replaced since the last call: mounted,
    /// restored, renamed. Then notifications must be requested again, and everything rescanned
    /// after that. The state keeps what disappeared.
    pub(crate) fn roots_changed(&mut self) -> bool {
        let mut changed = false;
        for watched in &mut self.spools {
            changed |= watched.follow_root();
        }
        changed
    }

    /// Returns `true` if a file of the same folder was reported as one that urlspool wrote.
    /// Remembers the folder.
    pub(super) fn is_noted_output(&mut self, path: &Path) -> bool {
        let folder = path.parent().unwrap_or(path);
        let has_room = self.noted_outputs.len() < REMEMBERED_FAILURES;
        self.noted_outputs.contains(folder)
            || (has_room && !self.noted_outputs.insert(folder.to_owned()))
    }

    /// Marks all spools to be scanned.
    pub(crate) fn rescan_all(&mut self, now: MonotonicTime) {
        self.spools.iter_mut().for_each(|watched| watched.mark(now));
    }

    /// Polls the spools that hold `path` from now on.
    fn poll(&mut self, path: &Path, now: MonotonicTime) {
        let holds = |watched: &&mut WatchedSpool| path.starts_with(&watched.spool.path);
        for watched in self.spools.iter_mut().filter(holds) {
            watched.notices = false;
            watched.mark(now.after(RESCAN_DELAY_MS));
        }
    }

    /// Rescans everything if a pause ended since the last call: uncommitted work was lost, and no
    /// spool was observed meanwhile.
    fn follow_term(&mut self, now: MonotonicTime) {
        let term = self.shared.committer.term();
        if std::mem::replace(&mut self.term, term) != term {
            self.rescan_all(now);
            self.spools
                .iter_mut()
                .for_each(|watched| watched.scanned = false);
        }
    }

    /// Does everything that is due, once.
    fn round(&mut self, host: &mut dyn ReaderHost) -> Result<(), DaemonError> {
        for spool in 0..self.spools.len() {
            self.note_existing(spool, host)?;
        }
        self.check_changed_files(host)?;
        self.check_settled_files(host)?;
        self.retry_failed_files(host)?;
        for index in 0..self.spools.len() {
            let now = host.now();
            if !self.stopping && self.spools[index].due.is_some_and(|due| due <= now) {
                self.scan_spool(index, host)?;
            }
        }
        self.finish_existing()?;
        self.commit(host)
    }

    /// Commits what is due; all of it if the reader stops.
    pub(super) fn commit(&self, host: &mut dyn ReaderHost) -> Result<(), DaemonError> {
        if self.stopping {
            self.shared.committer.commit_now(host)
        } else {
            self.shared.committer.commit_if_due(host)
        }
    }

    /// The right to write; `None` during a pause.
    pub(super) fn session(&self) -> Option<Session> {
        self.shared.committer.session(&self.heartbeat)
    }

    /// Time at which more work is due.
    fn next_deadline(&self) -> MonotonicTime {
        let unsettled = self.unsettled.values().map(|file| file.due);
        let scans = self.spools.iter().filter_map(|watched| watched.due);
        let all = unsettled
            .chain(self.failures.next())
            .chain(scans)
            .chain(self.shared.committer.next_deadline());
        all.min().unwrap_or(MonotonicTime { ms: u64::MAX })
    }
}

/// Everything that can wake a reader. If it is not here, it does not happen.
#[derive(Debug)]
pub enum DaemonEvent {
    /// Something at this path changed. The scan finds out what.
    Changed(PathBuf),
    /// Notifications were lost: everything must be rescanned.
    Overflow,
    /// A spool, or a folder in it, delivers no notifications: it must be polled.
    Unwatched(PathBuf),
    /// The operator asked the reader to stop.
    Stop,
}

/// Version of a file at the time of a failure: permissions that are granted change its `ctime`.
/// `None` if the file's metadata could not be read either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InodeVersion(Option<FileVersion>);

impl InodeVersion {
    /// The version of a file of which no metadata could be read.
    pub(crate) const UNKNOWN: InodeVersion = InodeVersion(None);

    /// The version of the file with this metadata.
    pub(crate) fn of(metadata: &Metadata) -> InodeVersion {
        InodeVersion(Some(FileVersion::of(metadata)))
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
    /// Records a failure and plans the next attempt. Returns what to report of it; `None` if it was
    /// reported before.
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
                "limit of {REMEMBERED_FAILURES} remembered unreadable files reached; this one is \
                 retried at each rescan: {error}"
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

    /// Returns `true` if a file may be read: it has not failed, its next attempt is due, or it has
    /// changed.
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
    use crate::config::{DedupeScope, Spool};
    use crate::daemon::environment::LogRecord;
    use crate::daemon::store::StoreFixture;

    /// A host that pauses work between two files, until there is space.
    struct PausingHost {
        store: StoreFixture,
        /// Files that are scanned before the pause.
        files: usize,
    }

    impl DaemonHost for PausingHost {
        fn now(&mut self) -> MonotonicTime {
            self.store.now
        }

        fn log(&mut self, _: &LogRecord<'_>) {}
    }

    impl ReaderHost for PausingHost {
        fn event(&mut self) -> Option<DaemonEvent> {
            None
        }

        fn progress(&mut self, reader: &SpoolReader) {
            self.files = self.files.wrapping_sub(1);
            if self.files > 0 {
                return;
            }
            let committer = &reader.shared.committer;
            let heartbeat = Arc::default();
            let full = committer
                .session(&heartbeat)
                .unwrap()
                .with(|_| Err::<(), _>(DaemonError::out_of_space("no space yet")));
            assert!(full.is_err());
            while let Some(retry) = committer.ready(self).unwrap() {
                self.store.now = retry;
            }
        }
    }

    #[test]
    fn work_that_a_pause_undid_is_not_done() {
        let store = StoreFixture::new("done");
        let mut config = store.config();
        (config.state.commit_interval, config.watch.settle) = (Duration::ZERO, Duration::ZERO);
        let path = store.folder.join("spool");
        std::fs::create_dir(&path).unwrap();
        for n in 1..=4 {
            let text = format!("From: a@b.example\nSubject: x\n\nsee http://h.example/{n} now\n");
            std::fs::write(path.join(format!("{n}.eml")), text).unwrap();
        }
        config.spool = vec![Spool {
            path,
            kind: None,
            dedupe: DedupeScope::Mailbox,
        }];
        // Four scans of files that have not settled, then the second one that reads a file.
        let mut host = PausingHost { store, files: 6 };
        let mut reader = SpoolReader::open(config, &mut host).unwrap();
        loop {
            let next = reader.work(&mut host).unwrap();
            if reader.is_done(host.store.now) {
                break;
            }
            host.store.now = next.max(host.store.now.after(1));
        }
        reader.close().unwrap();
        assert_eq!(host.store.lines(), 4);
    }

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
