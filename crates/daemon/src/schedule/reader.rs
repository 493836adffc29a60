//! One reader: a loop over [`DaemonEvent`] for some of the spools.
//!
//! Events only mark work; [`SpoolReader::work`] does it. Time and events come from the
//! [`ReaderHost`], so tests can supply both. `spool_scan.rs` scans a spool. Unreadable files are
//! retried later, and quarantined after a day.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use super::spool_scan::WatchedSpool;
use crate::ingest::{ExistingFiles, FileVersion, ParserPool, Suspects};
use crate::status::{Counters, FailedFile, LastError, LockedFile, Status};
use crate::store::{Session, SharedWriter, Writer};
use crate::{DaemonError, DaemonHost, ErrorKind, Heartbeat, MonotonicTime, Result};
use urlspool_files::config::Config;
use urlspool_record::extract::Extractor;
use urlspool_sources::read::GitHost;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};
use urlspool_text::limits::{
    QUARANTINE_MS, REMEMBERED_FAILURES, REPORTED_FAILURES, RETRY_FIRST_MS, RETRY_MAX_MS,
};
use urlspool_text::planted_faults::{PlantedFault, is_planted};

/// Delay before a new or changing folder is scanned again.
pub(super) const RESCAN_DELAY_MS: u64 = 1_000;

/// Interface of a reader to its host: clock, log and source of events.
pub trait ReaderHost: DaemonHost {
    /// Returns the next event since the last call, or `None` if there is none.
    fn event(&mut self) -> Option<DaemonEvent>;

    /// Called for a folder that appeared in the spool at `root`. Returns `true` if its changes are
    /// reported from now on; otherwise the spool is polled.
    fn folder_appeared(&mut self, root: &Path, folder: &Path) -> bool;

    /// Called often during work, with the reader's current state.
    fn progress(&mut self, reader: &SpoolReader);
}

/// A reader of some of the spools, in one loop.
pub struct SpoolReader {
    pub(super) config: Config,
    pub(super) shared: ReaderResources,
    /// Lets the supervisor recognise a stalled reader.
    pub(crate) heartbeat: Arc<Heartbeat>,
    /// The right to write since all spools were scanned or scheduled. `None` until work begins.
    session: Option<Session>,
    pub(super) spools: Vec<WatchedSpool>,
    /// Existing files whose URLs are not written.
    pub(super) existing: ExistingFiles,
    pub(super) changed: BTreeSet<PathBuf>,
    /// Changed and unsettled files that were closed, renamed or linked, and not written since.
    pub(super) closed: BTreeSet<PathBuf>,
    pub(super) unsettled: HashMap<PathBuf, UnsettledFile>,
    pub(super) failures: RetryTable,
    /// Modification times of folders whose entries are renamed while they are read.
    pub(super) folders: HashMap<PathBuf, i64>,
    /// Folders with a reported file that urlspool wrote: such a file changes at each commit. At
    /// most [`REMEMBERED_FAILURES`].
    pub(super) noted_outputs: BTreeSet<PathBuf>,
    pub(crate) counters: Counters,
    /// `true` if the operator asked to stop.
    pub(crate) stopping: bool,
    pub(super) last_error: LastError,
}

/// Resources that all readers share.
#[derive(Clone)]
pub struct ReaderResources {
    pub extractor: Arc<Extractor>,
    pub parsers: Arc<ParserPool>,
    pub writer: SharedWriter,
    pub git: GitHost,
}

/// A file that may still be written.
pub(super) struct UnsettledFile {
    pub(super) version: FileVersion,
    /// Time since which the file has had this version.
    pub(super) since: MonotonicTime,
    /// Time of its next scan.
    pub(super) due: MonotonicTime,
    /// The lock found at the last check.
    pub(super) lock: Option<HeldLock>,
}

/// A lock that keeps a file from being read.
pub(super) struct HeldLock {
    /// Its holder, as [`Incomplete::Locked`](crate::ingest::Incomplete::Locked) names it.
    pub(super) holder: String,
    /// Time since which each check found the file locked.
    pub(super) since: MonotonicTime,
    /// `true` once the lock was reported, after `watch.lock_timeout`.
    pub(super) is_reported: bool,
}

impl UnsettledFile {
    /// The lock, if it was reported.
    pub(super) fn reported_lock(&self) -> Option<&HeldLock> {
        self.lock.as_ref().filter(|held| held.is_reported)
    }
}

impl SpoolReader {
    /// Opens state and output, recovers them after a crash, and schedules a scan of all spools of
    /// the configuration by one reader.
    ///
    /// # Errors
    ///
    /// Another instance holds the state, state and output contradict each other, or an I/O error.
    pub fn open(config: Config, host: &mut dyn DaemonHost) -> Result<SpoolReader> {
        let shared = ReaderResources {
            writer: SharedWriter::open(&config, host)?,
            git: GitHost::new(&config.options().limits),
            extractor: Arc::new(Extractor::new(config.options())),
            parsers: Arc::new(ParserPool::new(config.output.lines(), Suspects::default())),
        };
        Ok(SpoolReader::new(config, shared, host.now()))
    }

    /// Creates a reader for all spools of `config`, each due now.
    #[must_use]
    pub fn new(config: Config, shared: ReaderResources, now: MonotonicTime) -> SpoolReader {
        let spools = config.spool.iter();
        SpoolReader {
            spools: spools.map(|spool| WatchedSpool::new(spool, now)).collect(),
            session: None,
            config,
            shared,
            heartbeat: Arc::default(),
            existing: ExistingFiles::default(),
            changed: BTreeSet::new(),
            closed: BTreeSet::new(),
            unsettled: HashMap::new(),
            failures: RetryTable::default(),
            folders: HashMap::new(),
            noted_outputs: BTreeSet::new(),
            counters: Counters::default(),
            stopping: false,
            last_error: LastError::default(),
        }
    }

    /// Marks the work that an event requires.
    pub fn handle(&mut self, event: DaemonEvent, now: MonotonicTime) {
        match event {
            DaemonEvent::Changed(path, change) => {
                if let Some(spool) = self.spool_of(&path) {
                    self.spools[spool].noticed = Some(now);
                    match change {
                        FileChange::Written => _ = self.closed.remove(&path),
                        FileChange::Closed => _ = self.closed.insert(path.clone()),
                        FileChange::Other => {}
                    }
                }
                self.changed.insert(path);
            }
            DaemonEvent::Overflow => {
                self.counters.overflows += 1;
                if !is_planted(PlantedFault::IgnoreOverflow) {
                    self.rescan_all(now);
                }
            }
            DaemonEvent::Stop => self.stopping = true,
        }
    }

    /// Does all work that is due. Returns the time at which more will be due.
    ///
    /// # Errors
    ///
    /// Errors that end the daemon. Lack of space does not: work pauses, and resumes when there is
    /// space.
    pub fn work(&mut self, host: &mut dyn ReaderHost) -> Result<MonotonicTime> {
        if let Some(retry) = self.shared.writer.lock().ready(host)? {
            return Ok(retry);
        }
        match self.round(host) {
            Ok(()) => Ok(self.next_deadline()),
            Err(error) if error.kind == ErrorKind::OutOfSpace => {
                let retry = self.shared.writer.lock().ready(host)?;
                Ok(retry.unwrap_or_else(|| host.now()))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns `true` if all mail was read and committed, as far as possible at `now`. Files that
    /// were locked for longer than `watch.lock_timeout` do not count.
    #[must_use]
    pub fn is_done(&self, now: MonotonicTime) -> bool {
        let soon = now.after(RESCAN_DELAY_MS);
        self.changed.is_empty()
            && self.reported_locks().count() == self.unsettled.len()
            && self.writer().is_ok_and(|writer| writer.is_idle())
            && !self.spools.iter().any(|watched| watched.is_needed(soon))
    }

    /// Commits and seals pending work, and releases state and output.
    ///
    /// # Errors
    ///
    /// An I/O error. Earlier commits stay committed.
    pub fn close(self) -> Result<()> {
        self.shared.writer.lock().close()
    }

    /// The status of the spools and of the committer.
    #[must_use]
    pub fn status(&self, now: MonotonicTime) -> Status {
        let mut status = self.spools_status(now);
        self.shared.writer.lock().add_status(&mut status);
        status
    }

    /// The status of this reader's spools, without the committer's.
    pub(crate) fn spools_status(&self, now: MonotonicTime) -> Status {
        let quarantined = self.failures.quarantined();
        Status {
            queue: self.changed.len(),
            resting: self.unsettled.len(),
            failing: self.failures.files.len() - quarantined,
            quarantined,
            failures: self.failures.reported(),
            locked: self.reported_locks().count(),
            locks: self.locked_files(now),
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
    fn locked_files(&self, now: MonotonicTime) -> Vec<LockedFile> {
        let mut locked: Vec<_> = self.reported_locks().collect();
        locked.sort_by_key(|(path, held)| (held.since, *path));
        locked.truncate(REPORTED_FAILURES);
        let files = locked.into_iter().map(|(path, held)| LockedFile {
            path: path.display().to_string(),
            lock: held.holder.clone(),
            locked_ms: now.ms.saturating_sub(held.since.ms),
        });
        files.collect()
    }

    fn reported_locks(&self) -> impl Iterator<Item = (&PathBuf, &HeldLock)> {
        let files = self.unsettled.iter();
        files.filter_map(|(path, file)| Some((path, file.reported_lock()?)))
    }

    /// One sentence per unread file: it is locked, still being written, or unreadable.
    pub(crate) fn unread_files(&self, now: MonotonicTime) -> Vec<String> {
        let unsettled = self.unsettled.iter().map(|(path, file)| match &file.lock {
            Some(HeldLock { holder, since, .. }) => {
                let seconds = now.ms.saturating_sub(since.ms) / 1_000;
                format!("{}: locked for {seconds} s {holder}", path.display())
            }
            None => format!("{}: it is still being written", path.display()),
        });
        let unreadable = self
            .spools
            .iter()
            .flat_map(WatchedSpool::unreadable_folders);
        let failed = self.failures.files.iter();
        let failed = failed.map(|(path, entry)| format!("{}: {}", path.display(), entry.why));
        let mut sentences: Vec<String> = unsettled.chain(failed).chain(unreadable).collect();
        sentences.sort_unstable();
        sentences.dedup();
        sentences
    }

    /// Returns `true` if all spools have been scanned and all later changes were checked.
    pub(crate) fn has_scanned_all(&self) -> bool {
        self.changed.is_empty() && self.spools.iter().all(|watched| watched.scanned)
    }

    /// Returns `true` if a file that may have settled is due, or work is paused.
    pub(crate) fn has_due_work(&self, now: MonotonicTime) -> bool {
        let mut files = self.unsettled.values();
        files.any(|file| file.due <= now && file.reported_lock().is_none())
            || self.shared.writer.lock().is_paused()
    }

    /// The time to keep running without new data: an mbox may be locked that long, and messages
    /// need that long to be gone.
    pub(crate) fn patience(&self, min: Duration) -> Duration {
        let watch = &self.config.watch;
        let gone_after = self.config.output.tombstones.then_some(watch.gone_after);
        min.max(watch.lock_timeout) + gone_after.unwrap_or_default()
    }

    /// Paths of the spools.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        let spools = self.config.spool.iter();
        spools.map(|spool| spool.path.clone()).collect()
    }

    /// Returns `true` if roots appeared, disappeared or were replaced since the last call: mounted,
    /// restored or renamed. The caller must then request notifications again, and rescan all spools
    /// afterwards. The state keeps the files that disappeared.
    pub(crate) fn roots_changed(&mut self) -> bool {
        let spools = self.spools.iter_mut();
        spools.fold(false, |changed, watched| watched.follow_root() | changed)
    }

    /// Schedules a scan of all spools.
    pub(crate) fn rescan_all(&mut self, now: MonotonicTime) {
        // The lost notifications may have reported writes.
        self.closed.clear();
        self.spools.iter_mut().for_each(|watched| watched.mark(now));
    }

    /// Switches the spools that contain `path` to polling.
    pub(crate) fn poll(&mut self, path: &Path, now: MonotonicTime) {
        for watched in &mut self.spools {
            if path.starts_with(&watched.spool.path) {
                watched.notices = false;
                watched.mark(now.after(RESCAN_DELAY_MS));
            }
        }
    }

    /// Opens a session, and schedules a scan of all spools, unless there is one that has not ended:
    /// uncommitted work was lost, and no spool was observed during a pause.
    fn renew_session(&mut self, now: MonotonicTime) -> Result<()> {
        if self.writer().is_ok() {
            return Ok(());
        }
        let session = self.shared.writer.session(&self.heartbeat)?;
        let writer = session.lock()?;
        for watched in &mut self.spools {
            watched.mark(now);
            watched.scanned = false;
            watched.identity = writer.spool_identity(&watched.spool.path);
        }
        drop(writer);
        self.session = Some(session);
        Ok(())
    }

    /// Does all due work once.
    fn round(&mut self, host: &mut dyn ReaderHost) -> Result<()> {
        self.renew_session(host.now())?;
        for spool in 0..self.spools.len() {
            self.note_existing(spool, host)?;
        }
        self.check_changed_files(host)?;
        for index in 0..self.spools.len() {
            let now = host.now();
            if !self.stopping && self.spools[index].due.is_some_and(|due| due <= now) {
                self.scan_spool(index, host)?;
            }
        }
        self.finish_existing()?;
        self.commit(host)
    }

    /// Commits if due; commits everything if the reader stops.
    pub(super) fn commit(&self, host: &mut dyn ReaderHost) -> Result<()> {
        let writer = &self.shared.writer;
        writer.lock().commit_if_due(self.stopping, host)
    }

    /// The session of the current round.
    pub(super) fn session(&self) -> Result<&Session> {
        let session = self.session.as_ref();
        session.ok_or_else(|| DaemonError::out_of_space("work has not begun"))
    }

    /// Waits for exclusive use of the writer.
    pub(super) fn writer(&self) -> Result<MutexGuard<'_, Writer>> {
        self.session()?.lock()
    }

    /// The time at which more work is due.
    fn next_deadline(&self) -> MonotonicTime {
        let unsettled = self.unsettled.values().map(|file| file.due);
        let scans = self.spools.iter().filter_map(|watched| watched.due);
        // Changes that were reported during the last check.
        let changed = (!self.changed.is_empty()).then(MonotonicTime::default);
        let all = unsettled
            .chain(changed)
            .chain(self.failures.next())
            .chain(scans)
            .chain(self.shared.writer.lock().next_deadline());
        all.min().unwrap_or(MonotonicTime { ms: u64::MAX })
    }
}

/// All events that can wake a reader. Nothing else does.
#[derive(Debug)]
pub enum DaemonEvent {
    /// This path changed. The scan finds out how.
    Changed(PathBuf, FileChange),
    /// Notifications were lost, so all spools must be rescanned.
    Overflow,
    /// The operator asked the reader to stop.
    Stop,
}

/// State of the writer of a file, as far as a notification reveals it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// Its content changed, so a writer is active.
    Written,
    /// A writer closed it, or it got this name.
    Closed,
    /// Its metadata changed, or the name was removed.
    Other,
}

/// Version of a file at the time of a failure. Granting permissions changes its `ctime`. `None` if
/// the file's metadata could not be read either.
pub(super) type InodeVersion = Option<FileVersion>;

/// The files that could not be read.
#[derive(Debug, Default)]
pub(super) struct RetryTable {
    pub(super) files: BTreeMap<PathBuf, RetryEntry>,
}

#[derive(Debug, Default)]
pub(super) struct RetryEntry {
    version: InodeVersion,
    /// The last error.
    pub(super) why: String,
    tries: u64,
    since: MonotonicTime,
    wait_ms: u64,
    /// Time of the next attempt; `None` in quarantine.
    retry: Option<MonotonicTime>,
}

impl RetryTable {
    /// Records a failure and plans the next attempt. Returns the diagnostic to report, or `None` if
    /// the failure was already reported.
    pub(super) fn record(
        &mut self,
        path: &Path,
        version: InodeVersion,
        error: &io::Error,
        now: MonotonicTime,
    ) -> Option<Diagnostic> {
        let why = error.to_string();
        if REMEMBERED_FAILURES <= self.files.len() && !self.files.contains_key(path) {
            let text = format!(
                "limit of {REMEMBERED_FAILURES} unreadable files reached; this one is retried at \
                 each rescan: {why}"
            );
            return Some(Diagnostic::new(DiagnosticKind::Limit, text));
        }
        let entry = self.files.entry(path.to_owned()).or_default();
        if entry.tries == 0 || entry.version != version {
            *entry = RetryEntry {
                version,
                since: now,
                ..RetryEntry::default()
            };
        }
        let was_quarantined = entry.retry.is_none();
        let is_lasting = entry.since.after(QUARANTINE_MS) <= now;
        entry.tries += 1;
        entry.wait_ms = (entry.wait_ms * 2).clamp(RETRY_FIRST_MS, RETRY_MAX_MS);
        entry.retry = (!is_lasting).then(|| now.after(entry.wait_ms));
        entry.why.clone_from(&why);
        let text = match (entry.tries, is_lasting && !was_quarantined) {
            (1, _) => why,
            (_, true) => format!("unreadable for a day, so it is skipped until it changes: {why}"),
            (_, false) => return None,
        };
        Some(Diagnostic::new(DiagnosticKind::Unreadable, text))
    }

    /// Returns `true` if a file may be read: it has not failed, its next attempt is due, or it has
    /// changed.
    pub(super) fn may_read(&self, path: &Path, version: InodeVersion, now: MonotonicTime) -> bool {
        self.files.get(path).is_none_or(|entry| {
            entry.version != version || entry.retry.is_some_and(|retry| retry <= now)
        })
    }

    /// Returns the files whose next attempt is due.
    pub(super) fn due(&self, now: MonotonicTime) -> impl Iterator<Item = PathBuf> {
        let due = move |entry: &RetryEntry| entry.retry.is_some_and(|retry| retry <= now);
        let files = self.files.iter().filter(move |(_, entry)| due(entry));
        files.map(|(path, _)| path.clone())
    }

    /// The time of the next attempt.
    pub(super) fn next(&self) -> Option<MonotonicTime> {
        self.files.values().filter_map(|entry| entry.retry).min()
    }

    /// Number of files that are skipped until they change.
    fn quarantined(&self) -> usize {
        let files = self.files.values();
        files.filter(|entry| entry.retry.is_none()).count()
    }

    /// Returns the files for the status, at most [`REPORTED_FAILURES`], quarantined ones first.
    pub(super) fn reported(&self) -> Vec<FailedFile> {
        let mut all: Vec<_> = self.files.iter().collect();
        all.sort_by_key(|(_, entry)| entry.retry.is_some());
        all.truncate(REPORTED_FAILURES);
        let files = all.into_iter().map(|(path, entry)| FailedFile {
            path: path.display().to_string(),
            why: entry.why.clone(),
            tries: entry.tries,
            quarantined: entry.retry.is_none(),
        });
        files.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LogRecord;
    use crate::store::StoreFixture;
    use urlspool_files::config::Spool;

    /// A host with a file that changes `changes` times without a pause. It pauses work for lack of
    /// space after `files` files; never if that is 0.
    struct TestHost {
        store: StoreFixture,
        file: PathBuf,
        changes: u32,
        files: usize,
    }

    impl DaemonHost for TestHost {
        fn now(&mut self) -> MonotonicTime {
            self.store.now
        }

        fn log(&mut self, _: &LogRecord<'_>) {}
    }

    impl ReaderHost for TestHost {
        fn event(&mut self) -> Option<DaemonEvent> {
            self.changes = self.changes.checked_sub(1)?;
            Some(DaemonEvent::Changed(self.file.clone(), FileChange::Other))
        }

        fn folder_appeared(&mut self, _: &Path, _: &Path) -> bool {
            true
        }

        fn progress(&mut self, reader: &SpoolReader) {
            self.files = self.files.wrapping_sub(1);
            if self.files > 0 {
                return;
            }
            let mut writer = reader.shared.writer.lock();
            writer.end(&DaemonError::out_of_space("still no space"));
            while let Some(retry) = writer.ready(self).unwrap() {
                self.store.now = retry;
            }
        }
    }

    #[test]
    fn a_run_is_not_done_until_work_lost_in_a_pause_is_repeated() {
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
            ..Spool::default()
        }];
        // Four scans of files that have not settled, then the second scan that reads a file.
        let (file, changes, files) = (PathBuf::new(), 0, 6);
        let mut host = TestHost {
            store,
            file,
            changes,
            files,
        };
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

    #[test]
    fn a_file_that_keeps_changing_does_not_delay_others() {
        let store = StoreFixture::new("changing");
        let mut config = store.config();
        config.watch.settle = Duration::ZERO;
        let path = store.folder.join("spool");
        std::fs::create_dir(&path).unwrap();
        for name in ["1.eml", "2.eml"] {
            std::fs::write(path.join(name), "Subject: x\n\nhttp://h.example/ now\n").unwrap();
        }
        let file = path.join("1.eml");
        config.spool = vec![Spool {
            path,
            ..Spool::default()
        }];
        let changes = 1_000_000;
        let mut host = TestHost {
            store,
            file,
            changes,
            files: 0,
        };
        let mut reader = SpoolReader::open(config, &mut host).unwrap();
        // The first round finds the files, the second one reads those that have settled.
        for _ in 0..2 {
            let next = reader.work(&mut host).unwrap();
            // The remaining change is due at once.
            assert!(next <= host.store.now);
            host.store.now = host.store.now.after(10_000);
        }
        assert!(0 < host.changes && host.changes < changes);
        assert!(0 < reader.counters.messages_read);
        reader.close().unwrap();
    }

    const PATH: &str = "/s/1";

    /// Records a failure, and returns the text of its diagnostic.
    fn record(table: &mut RetryTable, path: &str, now: MonotonicTime) -> Option<String> {
        let stale = io::Error::from_raw_os_error(libc::ESTALE);
        let reported = table.record(path.as_ref(), None, &stale, now);
        reported.map(|diagnostic| diagnostic.message)
    }

    fn may_read(table: &RetryTable, now: MonotonicTime) -> bool {
        table.may_read(PATH.as_ref(), None, now)
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
            assert!(table.due(now).eq([PathBuf::from(PATH)]));
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
        assert!(first.starts_with("Stale") && last.starts_with("unreadable for a day"));
        assert!(repeated.iter().all(Option::is_none));
        assert_eq!((table.files.len(), table.quarantined()), (1, 1));
        assert!(table.reported()[0].quarantined);
    }

    #[test]
    fn a_file_that_changes_is_retried_at_once() {
        let mut table = RetryTable::default();
        let now = MonotonicTime { ms: 0 };
        record(&mut table, PATH, now);
        assert!(!may_read(&table, now));
        let changed = Some(FileVersion::of(&Path::new("/").metadata().unwrap()));
        assert!(table.may_read(PATH.as_ref(), changed, now));
        table.files.remove(Path::new(PATH));
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
        assert_eq!(table.files.len(), REMEMBERED_FAILURES);
    }
}
