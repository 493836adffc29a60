//! The committer that all readers share, and its pace: when a batch is committed, when a segment is sealed, when work
//! pauses for lack of space and when it resumes.
//!
//! Nothing here accesses a spool, so a file system that does not answer blocks only its own reader.

use std::sync::{Arc, Mutex, MutexGuard};

use super::committer::Committer;
use super::instance_lock::InstanceLock;
use super::recovery;
use super::reserve::{has_space, release_reserve};
use super::watch_time::WatchTime;
use crate::config::Config;
use crate::daemon::counters::Counters;
use crate::daemon::error::DaemonError;
use crate::daemon::heartbeat::Heartbeat;
use crate::daemon::host::{DaemonHost, LogRecord, MonotonicTime};
use crate::daemon::status::CommitterStatus;
use crate::limits::SIDECAR_COPIES;

/// Milliseconds between two attempts to resume after a pause. Freed space is used within a few seconds.
const RETRY_MS: u64 = 2_000;

/// Bytes of a batch.
pub(crate) const BATCH_BYTES: usize = 4 << 20;

/// Minimum bytes of a batch, after it did not fit several times.
const SMALL_BATCH_BYTES: usize = 64 << 10;

/// Messages of a batch.
const BATCH_MESSAGES: u64 = 5_000;

/// The committer and its pace. One reader at a time uses it.
#[derive(Debug)]
pub(crate) struct SharedCommitter {
    pace: Mutex<CommitPace>,
    /// Held for the lifetime of the committer, also during a pause.
    _lock: InstanceLock,
}

/// When a reader wants a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommitTiming {
    /// At once, because the reader stops.
    Now,
    /// When the batch is full or old enough.
    WhenDue,
}

/// The right of one reader to write to one committer. It ends when that committer fails; what was read for it must then be
/// read again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session<'c> {
    shared: &'c SharedCommitter,
    heartbeat: &'c Heartbeat,
    epoch: u64,
}

#[derive(Debug)]
struct CommitPace {
    config: Config,
    state: CommitterState,
    /// Increases when a committer ends and when a pause ends. Work of an earlier epoch is void.
    epoch: u64,
    /// `None` until the state was opened once.
    watch_time: Option<WatchTime>,
    batch_bytes: usize,
    counters: Counters,
    last_error: Option<String>,
}

#[derive(Debug)]
enum CommitterState {
    /// It accepts work.
    Open(OpenCommitter),
    /// There is no space. The operator does not know it yet.
    OutOfSpace { reason: String },
    /// There is no space. The next attempt to resume is made at `retry`.
    Paused {
        reason: String,
        retry: MonotonicTime,
    },
    /// It was closed, or a fatal error ended it. It accepts no more work.
    Closed,
}

#[derive(Debug)]
struct OpenCommitter {
    committer: Committer,
    /// Time at which the batch was first seen to hold something; `None` while it is empty.
    batch_since: Option<MonotonicTime>,
    /// Time at which the segment was first seen to hold committed bytes; `None` while it is empty.
    segment_since: Option<MonotonicTime>,
}

impl Session<'_> {
    /// Runs `work` with the committer while nobody else uses it. `work` must not wait for a source.
    ///
    /// # Errors
    ///
    /// Errors of `work`, which end the session and the committer; [`DaemonError::OutOfSpace`] if that has ended before.
    pub(crate) fn with<T>(
        &self,
        work: impl FnOnce(&mut Committer) -> Result<T, DaemonError>,
    ) -> Result<T, DaemonError> {
        self.heartbeat.beat();
        let mut pace = self.shared.lock();
        if pace.epoch != self.epoch || self.heartbeat.is_retired() {
            return Err(DaemonError::OutOfSpace("work was paused meanwhile".into()));
        }
        pace.run(|pace| match &mut pace.state {
            CommitterState::Open(open) => work(&mut open.committer),
            _ => Err(DaemonError::OutOfSpace("work is paused".into())),
        })
    }

    /// Commits if the batch is full, and seals if the segment is large: one file can hold more than either.
    pub(crate) fn commit_if_full(&self) -> Result<(), DaemonError> {
        let mut pace = self.shared.lock();
        let is_full = pace
            .open()
            .is_some_and(|open| open.committer.pending().bytes >= pace.batch_bytes);
        if pace.epoch != self.epoch || !is_full {
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
    /// Locks and opens state and output, and recovers them after a crash. Without space for that, it starts paused.
    ///
    /// # Errors
    ///
    /// Another instance holds the state, state and output contradict each other, or an I/O error.
    pub(crate) fn open(
        config: &Config,
        host: &mut dyn DaemonHost,
    ) -> Result<Arc<SharedCommitter>, DaemonError> {
        let lock = InstanceLock::acquire(&config.state.dir)?;
        let mut pace = CommitPace {
            config: config.clone(),
            state: CommitterState::Closed,
            epoch: 0,
            watch_time: None,
            batch_bytes: BATCH_BYTES,
            counters: Counters::default(),
            last_error: None,
        };
        match pace.open_committer(host) {
            Err(DaemonError::OutOfSpace(reason)) => {
                pace.state = CommitterState::OutOfSpace { reason };
            }
            opened => opened?,
        }
        Ok(Arc::new(SharedCommitter {
            pace: Mutex::new(pace),
            _lock: lock,
        }))
    }

    /// The right to write for the reader with this heartbeat; `None` during a pause.
    pub(crate) fn session<'c>(&'c self, heartbeat: &'c Heartbeat) -> Option<Session<'c>> {
        let pace = self.lock();
        pace.open().map(|_| Session {
            shared: self,
            heartbeat,
            epoch: pace.epoch,
        })
    }

    /// Increases when everything must be rescanned, because uncommitted work was lost.
    pub(crate) fn epoch(&self) -> u64 {
        self.lock().epoch
    }

    /// Updates the watch time, and resumes after a pause if there is space. Returns the time of the next attempt if there is
    /// none, `None` if work can go on.
    ///
    /// # Errors
    ///
    /// Errors that end the daemon.
    pub(crate) fn ready(
        &self,
        host: &mut dyn DaemonHost,
    ) -> Result<Option<MonotonicTime>, DaemonError> {
        let mut pace = self.lock();
        if let Some(watch_time) = &mut pace.watch_time {
            watch_time.update(host);
        }
        pace.ready(host)
    }

    /// Applies a new configuration with the same folders.
    pub(crate) fn reconfigure(&self, config: &Config) {
        let mut pace = self.lock();
        pace.config = config.clone();
        if let CommitterState::Open(open) = &mut pace.state {
            open.committer.compress = config.output.compress;
        }
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
            match &mut pace.state {
                CommitterState::Open(open) => work(&mut open.committer).map(Some),
                _ => Ok(None),
            }
        })
    }

    /// Commits a batch that is full or old enough, or any batch with [`CommitTiming::Now`]. Seals a segment that is large or
    /// old enough.
    pub(crate) fn commit_if_due(
        &self,
        timing: CommitTiming,
        host: &mut dyn DaemonHost,
    ) -> Result<(), DaemonError> {
        self.lock().run(|pace| {
            pace.commit_if_due(timing, host)?;
            pace.seal_if_due(host)
        })
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

    /// Returns `true` if nothing waits for a commit or for space, and nothing was lost since `epoch`.
    pub(crate) fn is_idle(&self, epoch: u64) -> bool {
        let pace = self.lock();
        pace.epoch == epoch
            && pace.pause_reason().is_none()
            && !pace.open().is_some_and(|open| open.committer.is_dirty())
    }

    /// The day, counted from the first on which the spools were watched; `None` before the state was opened.
    pub(crate) fn watch_day(&self) -> Option<u64> {
        self.lock().watch_time.map(|watch_time| watch_time.day())
    }

    /// Saves the watch time with the current batch, if it is due.
    pub(crate) fn save_watch_time(&self) -> Result<(), DaemonError> {
        self.lock()
            .run(|pace| match (&mut pace.watch_time, &mut pace.state) {
                (Some(watch_time), CommitterState::Open(open)) if watch_time.is_due() => {
                    watch_time.save(open.committer.transaction()?)
                }
                _ => Ok(()),
            })
    }

    /// Commits and seals what was read, and ends all sessions. What was committed before stays committed.
    ///
    /// # Errors
    ///
    /// An I/O error.
    pub(crate) fn close(&self) -> Result<(), DaemonError> {
        let mut pace = self.lock();
        pace.epoch += 1;
        let CommitterState::Open(mut open) =
            std::mem::replace(&mut pace.state, CommitterState::Closed)
        else {
            return Ok(());
        };
        if let Some(watch_time) = &mut pace.watch_time {
            watch_time.save(open.committer.transaction()?)?;
        }
        open.committer.close()
    }

    /// The state of the committer.
    pub(crate) fn status(&self) -> CommitterStatus {
        let pace = self.lock();
        let committer = pace.open().map(|open| &open.committer);
        CommitterStatus {
            pause_reason: pace.pause_reason().map(str::to_owned),
            segment: committer.map_or(0, Committer::seq),
            committed_bytes: committer.map_or(0, Committer::committed),
            last_error: pace.last_error.clone(),
            counters: pace.counters.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, CommitPace> {
        self.pace.lock().unwrap_or_else(|poisoned| {
            // The batch may hold half a message.
            self.pace.clear_poison();
            let mut pace = poisoned.into_inner();
            pace.end(&DaemonError::OutOfSpace(
                "a reader failed while it wrote to the batch".into(),
            ));
            pace
        })
    }
}

impl CommitPace {
    fn open(&self) -> Option<&OpenCommitter> {
        match &self.state {
            CommitterState::Open(open) => Some(open),
            _ => None,
        }
    }

    fn open_mut(&mut self) -> Option<&mut OpenCommitter> {
        match &mut self.state {
            CommitterState::Open(open) => Some(open),
            _ => None,
        }
    }

    fn pause_reason(&self) -> Option<&str> {
        match &self.state {
            CommitterState::OutOfSpace { reason } | CommitterState::Paused { reason, .. } => {
                Some(reason)
            }
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
        self.epoch += 1;
        self.state = match error {
            DaemonError::OutOfSpace(reason) => CommitterState::OutOfSpace {
                reason: reason.clone(),
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
        if self.watch_time.is_none() {
            self.watch_time = Some(WatchTime::open(&committer.db, host)?);
        }
        self.state = CommitterState::Open(OpenCommitter {
            committer,
            batch_since: None,
            segment_since: None,
        });
        Ok(())
    }

    fn ready(&mut self, host: &mut dyn DaemonHost) -> Result<Option<MonotonicTime>, DaemonError> {
        let now = host.now();
        match &self.state {
            CommitterState::Open(_) | CommitterState::Closed => Ok(None),
            CommitterState::OutOfSpace { reason } => {
                let reason = reason.clone();
                Ok(Some(self.pause(reason, host)))
            }
            CommitterState::Paused { retry, .. } if now < *retry => Ok(Some(*retry)),
            CommitterState::Paused { .. } => self.resume(host),
        }
    }

    /// Reports the pause and frees the reserved space. Returns the time of the first attempt to resume.
    fn pause(&mut self, reason: String, host: &mut dyn DaemonHost) -> MonotonicTime {
        let retry = host.now().after(RETRY_MS);
        host.log(&LogRecord::Warn(format!(
            "paused for lack of space: {reason}"
        )));
        release_reserve(&self.config);
        // If the reason is a limit on file sizes, a smaller batch may fit into the next segment.
        self.batch_bytes = (self.batch_bytes / 4).max(SMALL_BATCH_BYTES);
        self.counters.pauses += 1;
        self.last_error = Some(reason.clone());
        self.state = CommitterState::Paused { reason, retry };
        retry
    }

    /// Opens state and output again if there is space. Returns the time of the next attempt otherwise.
    fn resume(&mut self, host: &mut dyn DaemonHost) -> Result<Option<MonotonicTime>, DaemonError> {
        let opened = if has_space(&self.config) {
            self.open_committer(host)
        } else {
            Err(DaemonError::OutOfSpace("no space yet".into()))
        };
        match opened {
            Ok(()) => {
                host.log(&LogRecord::Info(
                    "space is available again: work resumes".into(),
                ));
                // Files that were scanned during the pause are scanned again.
                self.epoch += 1;
                Ok(None)
            }
            Err(DaemonError::OutOfSpace(_)) => {
                release_reserve(&self.config);
                let next = host.now().after(RETRY_MS);
                if let CommitterState::Paused { retry, .. } = &mut self.state {
                    *retry = next;
                }
                Ok(Some(next))
            }
            Err(error) => Err(error),
        }
    }

    fn commit_if_due(
        &mut self,
        timing: CommitTiming,
        host: &mut dyn DaemonHost,
    ) -> Result<(), DaemonError> {
        let (now, interval) = (host.now(), self.config.state.commit_interval);
        let batch_bytes = self.batch_bytes;
        let Some(open) = self.open_mut() else {
            return Ok(());
        };
        let pending = open.committer.pending();
        let since = open
            .committer
            .is_dirty()
            .then(|| *open.batch_since.get_or_insert(now));
        let is_old = since.is_some_and(|since| since.plus(interval) <= now);
        let is_full = pending.bytes >= batch_bytes || pending.messages >= BATCH_MESSAGES;
        if is_old || is_full || timing == CommitTiming::Now {
            self.commit()?;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), DaemonError> {
        let Some(open) = self.open_mut().filter(|open| open.committer.is_dirty()) else {
            return Ok(());
        };
        let committed = open.committer.commit()?;
        open.batch_since = None;
        self.counters.messages += committed.messages;
        self.counters.records += committed.records;
        self.counters.commits += 1;
        Ok(())
    }

    /// Seals the segment if it is large or old enough, and compacts the sidecars after it.
    fn seal_if_due(&mut self, host: &mut dyn DaemonHost) -> Result<(), DaemonError> {
        let (now, interval) = (host.now(), self.config.output.seal_interval);
        let is_large = self.is_segment_large();
        let Some(open) = self
            .open_mut()
            .filter(|open| open.committer.committed() > 0)
        else {
            return Ok(());
        };
        let since = *open.segment_since.get_or_insert(now);
        let is_old = since.plus(interval) <= now;
        if (is_old || is_large) && self.seal()? {
            self.compact_sidecars(host)?;
        }
        Ok(())
    }

    fn is_segment_large(&self) -> bool {
        let seal_bytes = self.config.output.seal_bytes as u64;
        self.open()
            .is_some_and(|open| seal_bytes <= open.committer.committed())
    }

    /// Seals the segment unless a batch waits for a commit. Returns `true` if it did.
    fn seal(&mut self) -> Result<bool, DaemonError> {
        let Some(open) = self.open_mut().filter(|open| !open.committer.is_dirty()) else {
            return Ok(false);
        };
        if !open.committer.seal()? {
            return Ok(false);
        }
        open.segment_since = None;
        self.counters.segments += 1;
        self.batch_bytes = (self.batch_bytes * 2).min(BATCH_BYTES);
        Ok(true)
    }

    fn compact_sidecars(&self, host: &mut dyn DaemonHost) -> Result<(), DaemonError> {
        let Some(open) = self.open() else {
            return Ok(());
        };
        match open.committer.compact_sidecars(SIDECAR_COPIES) {
            Ok(false) => Ok(()),
            Ok(true) => {
                host.log(&LogRecord::Info(
                    "replaced old sidecars by a snapshot of the state".into(),
                ));
                Ok(())
            }
            // The sidecars hold the same, and work goes on with the space there is.
            Err(DaemonError::OutOfSpace(reason)) => {
                host.log(&LogRecord::Warn(format!(
                    "cannot write a snapshot of the state: {reason}"
                )));
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::store::fixture::StoreFixture;

    /// Puts a line into the batch.
    fn put(session: Session<'_>) -> Result<(), DaemonError> {
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
        let (one, other) = (Heartbeat::default(), Heartbeat::default());
        let (before, beside) = (
            committer.session(&one).unwrap(),
            committer.session(&other).unwrap(),
        );
        put(before).unwrap();
        let full = beside.with(|_| Err::<(), _>(DaemonError::OutOfSpace("no room".to_owned())));
        assert!(full.is_err() && put(before).is_err() && committer.session(&one).is_none());
        // The pause is told once, and lasts until there is room.
        let retry = committer.ready(&mut fixture).unwrap().unwrap();
        assert_eq!(
            (committer.ready(&mut fixture).unwrap(), fixture.log_lines),
            (Some(retry), 1)
        );
        fixture.now = retry;
        assert_eq!(committer.ready(&mut fixture).unwrap(), None);
        assert!(
            put(before).is_err() && put(beside).is_err(),
            "the committer is another"
        );
        put(committer.session(&one).unwrap()).unwrap();
        committer.close().unwrap();
        let lines = std::fs::read(fixture.folder.join("out/0000000001.jsonl")).unwrap();
        assert_eq!((fixture.segments().len(), lines), (1, b"{}\n".to_vec()));
    }

    #[test]
    fn a_reader_that_was_replaced_writes_nothing() {
        let mut fixture = StoreFixture::new("replaced");
        let committer = fixture.committer();
        let (old, new) = (Heartbeat::default(), Heartbeat::default());
        let session = committer.session(&old).unwrap();
        old.retire();
        assert!(put(session).is_err() && put(committer.session(&old).unwrap()).is_err());
        assert!(!committer.is_paused());
        let session = committer.session(&new).unwrap();
        put(session).unwrap();
        committer.close().unwrap();
        assert!(put(session).is_err() && !committer.is_paused());
        assert_eq!(fixture.segments().len(), 1);
    }

    #[test]
    fn half_a_message_is_not_committed() {
        let mut fixture = StoreFixture::new("half");
        let committer = fixture.committer();
        let pulse = Heartbeat::default();
        let session = committer.session(&pulse).unwrap();
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            session.with(|committer| -> Result<(), DaemonError> {
                committer.transaction()?.mark_seen(1, 2)?;
                panic!("between two steps");
            })
        }));
        assert!(failed.is_err() && put(session).is_err());
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
