//! The committer that all readers share, and its pace: when a batch is committed, when a segment is
//! sealed, when work pauses for lack of space and when it resumes.
//!
//! Nothing here accesses a spool, so a file system that does not answer blocks only its own reader.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use super::committer::Committer;
use super::purge::WatchTime;
use super::recovery;
use super::spools::{SpoolIdentity, SpoolRow, check_scopes};
use super::state_db::{Hash128, StateDb};
use super::state_paths::{InstanceLock, StatePaths, has_space, release_reserve};
use crate::config::{Config, Spool};
use crate::daemon::DaemonError;
use crate::daemon::environment::{DaemonHost, Heartbeat, LogRecord, MonotonicTime};
use crate::daemon::status::{
    Counters, DaemonState, LastError, LastSealed, SealedSegment, Status, UnixTime,
};
use crate::keyed_hash::HashKey;
use crate::limits::{
    COMMIT_BATCH_BYTES, COMMIT_BATCH_MESSAGES, REPORTED_FAILURES, SIDECAR_COPIES,
    SMALL_COMMIT_BATCH_BYTES,
};
use crate::record::Sidecar;

/// The committer and its pace. One reader at a time uses it.
#[derive(Debug)]
pub(crate) struct SharedCommitter {
    pace: Mutex<CommitPace>,
    /// Held for the lifetime of the committer, also during a pause.
    _lock: InstanceLock,
}

/// The right of one reader to write to one committer. It ends when that committer fails; what was
/// read for it must then be read again.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    shared: Arc<SharedCommitter>,
    heartbeat: Arc<Heartbeat>,
    term: u64,
    hash_key: HashKey,
}

impl Session {
    /// The secret key of the state.
    pub(crate) fn hash_key(&self) -> HashKey {
        self.hash_key
    }

    /// Records progress of the reader that adds nothing to the batch.
    pub(crate) fn beat(&self) {
        self.heartbeat.beat();
    }

    /// A spool of the configuration, as the state knows it.
    pub(crate) fn spool_identity(&self, root: &Path) -> Result<Arc<SpoolIdentity>, DaemonError> {
        self.with(|committer| Ok(committer.spool_identity(root)))
    }

    /// Runs `work` with the committer while nobody else uses it. `work` must not wait for a source.
    ///
    /// # Errors
    ///
    /// Errors of `work`, which end the session and the committer; [`DaemonError::OutOfSpace`] if
    /// that has ended before.
    pub(crate) fn with<T>(
        &self,
        work: impl FnOnce(&mut Committer) -> Result<T, DaemonError>,
    ) -> Result<T, DaemonError> {
        self.heartbeat.beat();
        let mut pace = self.shared.lock();
        if pace.term != self.term || self.heartbeat.is_retired() {
            return Err(DaemonError::out_of_space("work was paused meanwhile"));
        }
        pace.run(|pace| match &mut pace.state {
            CommitterState::Open(committer) => work(committer),
            _ => Err(DaemonError::out_of_space("work is paused")),
        })
    }

    /// Runs `work` with the state, as [`Session::with`] does. It changes nothing.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&StateDb) -> Result<T, DaemonError>,
    ) -> Result<T, DaemonError> {
        self.with(|committer| work(&committer.db))
    }

    /// Runs `work` with the state and the batch's transaction open, as [`Session::with`] does.
    pub(crate) fn update<T>(
        &self,
        work: impl FnOnce(&StateDb) -> Result<T, DaemonError>,
    ) -> Result<T, DaemonError> {
        self.with(|committer| work(committer.transaction()?))
    }

    /// Commits if the batch is full, and seals if the segment is large: one file can hold more than
    /// either.
    pub(crate) fn commit_if_full(&self) -> Result<(), DaemonError> {
        let mut pace = self.shared.lock();
        let is_full = pace
            .open()
            .is_some_and(|committer| pace.batch_bytes <= committer.pending_bytes());
        if pace.term != self.term || !is_full {
            return Ok(());
        }
        pace.run(|pace| {
            pace.commit()?;
            if pace.is_segment_large() {
                pace.seal()?;
            }
            Ok(())
        })
    }
}

impl SharedCommitter {
    /// Locks and opens state and output, and recovers them after a crash. Without space for that,
    /// it starts paused.
    ///
    /// # Errors
    ///
    /// Another instance holds the state, state and output contradict each other, or an I/O error.
    pub(crate) fn open(
        config: &Config,
        host: &mut dyn DaemonHost,
    ) -> Result<Arc<SharedCommitter>, DaemonError> {
        let lock = InstanceLock::acquire(&config.state.dir)?;
        let mut pace = CommitPace::new(config);
        match pace.open_committer(host) {
            Err(DaemonError::OutOfSpace { message, .. }) => {
                pace.state = CommitterState::Paused {
                    reason: message,
                    retry: None,
                };
            }
            opened => opened?,
        }
        Ok(Arc::new(SharedCommitter {
            pace: Mutex::new(pace),
            _lock: lock,
        }))
    }

    /// The right to write for the reader with this heartbeat; `None` during a pause.
    pub(crate) fn session(self: &Arc<Self>, heartbeat: &Arc<Heartbeat>) -> Option<Session> {
        let pace = self.lock();
        pace.open().map(|committer| Session {
            shared: Arc::clone(self),
            heartbeat: Arc::clone(heartbeat),
            term: pace.term,
            hash_key: committer.hash_key,
        })
    }

    /// The messages that were set aside when the state was opened.
    pub(crate) fn set_aside(&self) -> Vec<Hash128> {
        let pace = self.lock();
        pace.open()
            .map_or(Vec::new(), |open| open.set_aside.clone())
    }

    /// Increases when everything must be rescanned, because uncommitted work was lost.
    pub(crate) fn term(&self) -> u64 {
        self.lock().term
    }

    /// Updates the watch time, and resumes after a pause if there is space. Returns the time of the
    /// next attempt if there is none, `None` if work continues.
    ///
    /// # Errors
    ///
    /// Errors that end the daemon.
    pub(crate) fn ready(
        &self,
        host: &mut dyn DaemonHost,
    ) -> Result<Option<MonotonicTime>, DaemonError> {
        self.lock().ready(host)
    }

    /// Checks that the state accepts the spools of a new configuration. A pause changes nothing.
    ///
    /// # Errors
    ///
    /// [`DaemonError::Refused`].
    pub(crate) fn check_spools(&self, spools: &[Spool]) -> Result<(), DaemonError> {
        check_scopes(spools, &self.lock().spools)
    }

    /// Applies a new configuration with the same folders. What was read with the earlier one is
    /// committed before. During a pause the end of it applies the rest.
    ///
    /// # Errors
    ///
    /// Errors of the commit and of the state, which end the committer.
    pub(crate) fn reconfigure(&self, config: &Config) -> Result<(), DaemonError> {
        let mut pace = self.lock();
        pace.config = config.clone();
        pace.run(|pace| {
            pace.commit()?;
            let Some(committer) = pace.open_mut() else {
                return Ok(());
            };
            committer.compress = config.output.compress;
            committer.adopt_spools(&config.spool)?;
            pace.spools = committer.db.spool_rows()?;
            Ok(())
        })
    }

    /// Commits the batch and runs `work` before another one begins; `None` during a pause.
    ///
    /// # Errors
    ///
    /// Errors of the commit and of `work`, which end the committer.
    pub(crate) fn between_batches<T>(
        &self,
        work: impl FnOnce(&mut Committer) -> Result<T, DaemonError>,
    ) -> Result<Option<T>, DaemonError> {
        self.lock().run(|pace| {
            pace.commit()?;
            pace.open_mut().map(work).transpose()
        })
    }

    /// Commits a batch that is full or old enough. Seals a segment that is large or old enough.
    pub(crate) fn commit_if_due(&self, host: &mut dyn DaemonHost) -> Result<(), DaemonError> {
        self.lock().run(|pace| {
            if pace.is_commit_due(host.now()) {
                pace.commit()?;
            }
            pace.seal_if_due(host)
        })
    }

    /// Commits whatever waits for it. Seals a segment that is large or old enough.
    pub(crate) fn commit_now(&self, host: &mut dyn DaemonHost) -> Result<(), DaemonError> {
        self.lock().run(|pace| {
            pace.commit()?;
            pace.seal_if_due(host)
        })
    }

    /// Checks that the output folder is where it was opened.
    pub(crate) fn check_output(&self) -> Result<(), DaemonError> {
        self.lock()
            .run(|pace| pace.open().map_or(Ok(()), Committer::check_output))
    }

    /// Time of the next commit or seal; `None` if nothing waits for one.
    pub(crate) fn next_deadline(&self) -> Option<MonotonicTime> {
        let pace = self.lock();
        let open = pace.open()?;
        let commit = open
            .batch_since
            .map(|since| since.plus(pace.config.state.commit_interval));
        let seal = open
            .segment_since
            .map(|since| since.plus(pace.config.output.seal_interval));
        commit.into_iter().chain(seal).min()
    }

    /// Returns `true` if work is paused for lack of space.
    pub(crate) fn is_paused(&self) -> bool {
        self.lock().pause_reason().is_some()
    }

    /// Returns `true` if nothing waits for a commit or for space, and nothing was lost since
    /// `term`.
    pub(crate) fn is_idle(&self, term: u64) -> bool {
        let pace = self.lock();
        pace.term == term
            && pace.pause_reason().is_none()
            && !pace.open().is_some_and(Committer::is_dirty)
    }

    /// The day, counted from the first on which the spools were watched; `None` before the state
    /// was opened.
    pub(crate) fn watch_day(&self) -> Option<u64> {
        self.lock().watch_time.map(|watch_time| watch_time.day())
    }

    /// Saves the watch time with the current batch, if it is due.
    pub(crate) fn save_watch_time(&self) -> Result<(), DaemonError> {
        self.lock()
            .run(|pace| match (&mut pace.watch_time, &mut pace.state) {
                (Some(watch_time), CommitterState::Open(committer)) if watch_time.is_due() => {
                    watch_time.save(committer.transaction()?)
                }
                _ => Ok(()),
            })
    }

    /// Commits and seals what was read, and ends all sessions. What was committed before stays
    /// committed. Returns the segments that were sealed and not yet logged.
    ///
    /// # Errors
    ///
    /// An I/O error.
    pub(crate) fn close(&self) -> Result<Vec<SealedSegment>, DaemonError> {
        let mut pace = self.lock();
        pace.term += 1;
        let CommitterState::Open(mut committer) =
            std::mem::replace(&mut pace.state, CommitterState::Closed)
        else {
            return Ok(Vec::new());
        };
        if let Some(watch_time) = &mut pace.watch_time {
            watch_time.save(committer.transaction()?)?;
        }
        committer.close()
    }

    /// Adds the state of the committer to a status. A pause takes precedence over the state of
    /// readers.
    pub(crate) fn add_status(&self, status: &mut Status) {
        let pace = self.lock();
        if let Some(reason) = pace.pause_reason() {
            status.state = DaemonState::Paused;
            status.why = Some(reason.to_owned());
        }
        if let Some(committer) = pace.open() {
            status.segment = committer.seq();
            status.committed_bytes = committer.committed();
            // An error of the state is reported by what uses it.
            if let Ok((number, files)) = committer.db.set_aside_status() {
                status.quarantined += number;
                status.failures.splice(0..0, files);
                status.failures.truncate(REPORTED_FAILURES);
            }
        }
        status.last_sealed.clone_from(&pace.last_sealed);
        status.last_error.merge(pace.last_error.clone());
        status.counts.add(&pace.counters);
    }

    fn lock(&self) -> MutexGuard<'_, CommitPace> {
        self.pace.lock().unwrap_or_else(|poisoned| {
            // The batch may hold half a message.
            self.pace.clear_poison();
            let mut pace = poisoned.into_inner();
            pace.end(&DaemonError::out_of_space(
                "a reader failed while it wrote to the batch",
            ));
            pace
        })
    }
}

/// Milliseconds between two attempts to resume after a pause. Freed space is used within a few
/// seconds.
const RETRY_MS: u64 = 2_000;

/// A committer with its state and its clocks. Used by one reader at a time.
#[derive(Debug)]
struct CommitPace {
    config: Config,
    /// The spools that the state knows; empty until it was opened once.
    spools: Vec<SpoolRow>,
    state: CommitterState,
    /// Number of times that a committer or a pause has ended. Work of an earlier term is void.
    term: u64,
    /// `None` until the state was opened once.
    watch_time: Option<WatchTime>,
    batch_bytes: usize,
    counters: Counters,
    last_sealed: Option<LastSealed>,
    last_error: LastError,
}

/// State of the committer.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one value, and it is nearly always open"
)]
enum CommitterState {
    /// It accepts work.
    Open(Committer),
    /// There is no space. The next attempt to resume is made at `retry`; `None` if the pause was
    /// not reported yet.
    Paused {
        reason: String,
        retry: Option<MonotonicTime>,
    },
    /// It was closed, or a fatal error ended it. It accepts no more work.
    Closed,
}

impl CommitPace {
    /// A pace whose committer is not open yet.
    fn new(config: &Config) -> CommitPace {
        CommitPace {
            config: config.clone(),
            spools: Vec::new(),
            state: CommitterState::Closed,
            term: 0,
            watch_time: None,
            batch_bytes: COMMIT_BATCH_BYTES,
            counters: Counters::default(),
            last_sealed: None,
            last_error: LastError::default(),
        }
    }

    /// The committer, if it accepts work.
    fn open(&self) -> Option<&Committer> {
        match &self.state {
            CommitterState::Open(committer) => Some(committer),
            _ => None,
        }
    }

    fn open_mut(&mut self) -> Option<&mut Committer> {
        match &mut self.state {
            CommitterState::Open(committer) => Some(committer),
            _ => None,
        }
    }

    fn pause_reason(&self) -> Option<&str> {
        match &self.state {
            CommitterState::Paused { reason, .. } => Some(reason),
            CommitterState::Open(_) | CommitterState::Closed => None,
        }
    }

    /// Runs `work`. An error ends the committer: nothing of it may be synced or committed again.
    fn run<T>(
        &mut self,
        work: impl FnOnce(&mut CommitPace) -> Result<T, DaemonError>,
    ) -> Result<T, DaemonError> {
        let result = work(self);
        if let Err(error) = &result {
            self.end(error);
        }
        result
    }

    /// Ends the committer. Its transaction is rolled back; what it held is read again.
    fn end(&mut self, error: &DaemonError) {
        if self.open().is_none() {
            return;
        }
        self.term += 1;
        self.state = match error {
            DaemonError::OutOfSpace { message, .. } => CommitterState::Paused {
                reason: message.clone(),
                retry: None,
            },
            _ => CommitterState::Closed,
        };
    }

    /// Opens state and output, as after a start.
    fn open_committer(&mut self, host: &mut dyn DaemonHost) -> Result<(), DaemonError> {
        let mut warnings = Vec::new();
        let opened = recovery::open(&self.config, &mut |warning| warnings.push(warning));
        for warning in warnings {
            host.log(&LogRecord::Warn(warning));
        }
        let committer = opened?;
        self.spools = committer.db.spool_rows()?;
        if self.watch_time.is_none() {
            self.watch_time = Some(WatchTime::open(&committer.db, host)?);
            self.last_sealed = last_sidecar(&self.config);
        }
        self.state = CommitterState::Open(committer);
        Ok(())
    }

    /// Logs the segments that were sealed since the last call.
    fn report_sealed(&mut self, host: &mut dyn DaemonHost) {
        let sealed = self.open_mut().map(Committer::take_sealed);
        for segment in sealed.into_iter().flatten() {
            host.log(&LogRecord::Sealed(&segment));
            self.last_sealed = Some(LastSealed {
                segment,
                time: host.unix_time().map(UnixTime::new),
            });
        }
    }

    fn ready(&mut self, host: &mut dyn DaemonHost) -> Result<Option<MonotonicTime>, DaemonError> {
        if let Some(watch_time) = &mut self.watch_time {
            watch_time.update(host);
        }
        self.report_sealed(host);
        match &self.state {
            CommitterState::Open(_) | CommitterState::Closed => Ok(None),
            CommitterState::Paused {
                reason,
                retry: None,
            } => {
                let reason = reason.clone();
                Ok(Some(self.pause(reason, host)))
            }
            CommitterState::Paused {
                retry: Some(retry), ..
            } if host.now() < *retry => Ok(Some(*retry)),
            CommitterState::Paused { .. } => self.resume(host),
        }
    }

    /// Reports the pause and frees the reserved space. Returns the time of the first attempt to
    /// resume.
    fn pause(&mut self, reason: String, host: &mut dyn DaemonHost) -> MonotonicTime {
        let retry = host.now().after(RETRY_MS);
        host.log(&LogRecord::Warn(format!(
            "paused for lack of space: {reason}"
        )));
        release_reserve(&self.config);
        // If the reason is a limit on file sizes, a smaller batch may fit into the next segment.
        self.batch_bytes = (self.batch_bytes / 4).max(SMALL_COMMIT_BATCH_BYTES);
        self.counters.pauses += 1;
        self.last_error = LastError::new(reason.clone(), host.unix_time());
        self.state = CommitterState::Paused {
            reason,
            retry: Some(retry),
        };
        retry
    }

    /// Opens state and output again if there is space. Returns the time of the next attempt
    /// otherwise.
    fn resume(&mut self, host: &mut dyn DaemonHost) -> Result<Option<MonotonicTime>, DaemonError> {
        let opened = if has_space(&self.config) {
            self.open_committer(host)
        } else {
            Err(DaemonError::out_of_space("no space yet"))
        };
        match opened {
            Ok(()) => {
                host.log(&LogRecord::Info(
                    "space is available again: work resumes".into(),
                ));
                // Files that were scanned during the pause are scanned again.
                self.term += 1;
                Ok(None)
            }
            Err(DaemonError::OutOfSpace { .. }) => {
                release_reserve(&self.config);
                let next = host.now().after(RETRY_MS);
                if let CommitterState::Paused { retry, .. } = &mut self.state {
                    *retry = Some(next);
                }
                Ok(Some(next))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns `true` if the batch is full or old enough. One without changes is committed at once,
    /// which costs nothing.
    fn is_commit_due(&mut self, now: MonotonicTime) -> bool {
        let (interval, batch_bytes) = (self.config.state.commit_interval, self.batch_bytes);
        let Some(committer) = self.open_mut() else {
            return false;
        };
        if !committer.is_dirty() {
            return true;
        }
        let since = *committer.batch_since.get_or_insert(now);
        since.plus(interval) <= now
            || batch_bytes <= committer.pending_bytes()
            || COMMIT_BATCH_MESSAGES <= committer.pending_messages()
    }

    fn commit(&mut self) -> Result<(), DaemonError> {
        let committed = self.open_mut().map(Committer::commit).transpose()?;
        if let Some(batch) = committed.flatten() {
            self.counters.messages += batch.messages;
            self.counters.records += batch.records;
            self.counters.gone += batch.gone;
            self.counters.commits += 1;
        }
        Ok(())
    }

    /// Seals the segment if it is large or old enough, compacts the sidecars after it, and reports
    /// what was sealed.
    fn seal_if_due(&mut self, host: &mut dyn DaemonHost) -> Result<(), DaemonError> {
        let (now, interval) = (host.now(), self.config.output.seal_interval);
        let is_large = self.is_segment_large();
        if let Some(committer) = self.open_mut()
            && 0 < committer.committed()
        {
            let since = *committer.segment_since.get_or_insert(now);
            let is_old = since.plus(interval) <= now;
            if (is_old || is_large) && self.seal()? {
                self.compact_sidecars(host)?;
            }
        }
        self.report_sealed(host);
        Ok(())
    }

    fn is_segment_large(&self) -> bool {
        let seal_bytes = self.config.output.seal_bytes as u64;
        self.open()
            .is_some_and(|committer| seal_bytes <= committer.committed())
    }

    /// Seals the segment unless a batch waits for a commit. Returns `true` if it did.
    fn seal(&mut self) -> Result<bool, DaemonError> {
        let Some(committer) = self.open_mut().filter(|committer| !committer.is_dirty()) else {
            return Ok(false);
        };
        // No transaction may be open.
        committer.commit()?;
        if !committer.seal()? {
            return Ok(false);
        }
        committer.segment_since = None;
        self.counters.segments += 1;
        self.batch_bytes = (self.batch_bytes * 2).min(COMMIT_BATCH_BYTES);
        Ok(true)
    }

    fn compact_sidecars(&self, host: &mut dyn DaemonHost) -> Result<(), DaemonError> {
        let Some(committer) = self.open() else {
            return Ok(());
        };
        match committer.compact_sidecars(SIDECAR_COPIES) {
            Ok(false) => Ok(()),
            Ok(true) => {
                host.log(&LogRecord::Info(
                    "replaced old sidecars by a snapshot of the state".into(),
                ));
                Ok(())
            }
            // The sidecars hold the same state, and work continues with the space there is.
            Err(DaemonError::OutOfSpace { message, .. }) => {
                host.log(&LogRecord::Warn(format!(
                    "cannot write a snapshot of the state: {message}"
                )));
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// The segment of the newest sidecar that is left, sealed by an earlier run.
fn last_sidecar(config: &Config) -> Option<LastSealed> {
    let paths = StatePaths::new(config);
    let path = paths.sidecar(paths.highest_sidecar().ok()?);
    let sidecar = Sidecar::read(&std::fs::read(&path).ok()?)?;
    let written = path.metadata().ok()?.mtime();
    Some(LastSealed {
        segment: SealedSegment {
            name: sidecar.name,
            bytes: sidecar.len,
            records: sidecar.records,
            messages: sidecar.messages,
        },
        time: u64::try_from(written).ok().map(UnixTime::new),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::store::tests::StoreFixture;

    /// Puts a line into the batch.
    fn put(session: &Session) -> Result<(), DaemonError> {
        session.with(|committer| {
            committer.transaction()?.mark_seen(1, 2)?;
            committer.put(b"{}\n", 1);
            Ok(())
        })
    }

    #[test]
    fn what_was_read_before_a_pause_cannot_be_written_after_it() {
        let mut fixture = StoreFixture::new("pause");
        let committer = fixture.committer();
        let (one, other) = (Arc::default(), Arc::<Heartbeat>::default());
        let (before, beside) = (
            committer.session(&one).unwrap(),
            committer.session(&other).unwrap(),
        );
        put(&before).unwrap();
        let full = beside.with(|_| Err::<(), _>(DaemonError::out_of_space("no space yet")));
        assert!(full.is_err() && put(&before).is_err() && committer.session(&one).is_none());
        // The pause is reported once, and lasts until there is space.
        let retry = committer.ready(&mut fixture).unwrap().unwrap();
        assert_eq!(
            (committer.ready(&mut fixture).unwrap(), fixture.log_lines),
            (Some(retry), 1)
        );
        fixture.now = retry;
        assert_eq!(committer.ready(&mut fixture).unwrap(), None);
        assert!(
            put(&before).is_err() && put(&beside).is_err(),
            "the committer is another"
        );
        put(&committer.session(&one).unwrap()).unwrap();
        committer.close().unwrap();
        let lines = std::fs::read(fixture.folder.join("out/0000000001.jsonl")).unwrap();
        assert_eq!((fixture.segments().len(), lines), (1, b"{}\n".to_vec()));
    }

    #[test]
    fn a_reader_that_was_replaced_writes_nothing() {
        let mut fixture = StoreFixture::new("replaced");
        let committer = fixture.committer();
        let (old, new) = (Arc::default(), Arc::<Heartbeat>::default());
        let session = committer.session(&old).unwrap();
        old.retire();
        assert!(put(&session).is_err() && put(&committer.session(&old).unwrap()).is_err());
        assert!(!committer.is_paused());
        let session = committer.session(&new).unwrap();
        put(&session).unwrap();
        committer.close().unwrap();
        assert!(put(&session).is_err() && !committer.is_paused());
        assert_eq!(fixture.segments().len(), 1);
    }

    #[test]
    fn half_a_message_is_not_committed() {
        let mut fixture = StoreFixture::new("half");
        let committer = fixture.committer();
        let pulse = Arc::default();
        let session = committer.session(&pulse).unwrap();
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            session.with(|committer| -> Result<(), DaemonError> {
                committer.transaction()?.mark_seen(1, 2)?;
                panic!("between two steps");
            })
        }));
        assert!(failed.is_err() && put(&session).is_err());
        committer.ready(&mut fixture).unwrap();
        fixture.now = fixture.now.after(RETRY_MS);
        assert_eq!(committer.ready(&mut fixture).unwrap(), None);
        let seen = committer
            .session(&pulse)
            .unwrap()
            .with(|committer| committer.transaction()?.is_seen(1, 2))
            .unwrap();
        assert!(!seen);
    }
}
