//! The committer that all readers share. Its pace is in `commit_pace.rs`.
//!
//! Nothing here accesses a spool, so a file system that does not answer blocks only its own reader.

use std::sync::{Arc, Mutex, MutexGuard};

use super::commit_pace::{CommitPace, CommitTiming, CommitterState};
use super::committer::Committer;
use super::instance_lock::InstanceLock;
use crate::config::Config;
use crate::daemon::error::{DaemonError, PauseReason};
use crate::daemon::heartbeat::Heartbeat;
use crate::daemon::host::{DaemonHost, MonotonicTime};
use crate::daemon::status::{CommitterStatus, SealedSegment};

/// The committer and its pace. One reader at a time uses it.
#[derive(Debug)]
pub(crate) struct SharedCommitter {
    pace: Mutex<CommitPace>,
    /// Held for the lifetime of the committer, also during a pause.
    _lock: InstanceLock,
}

/// The right of one reader to write to one committer. It ends when that committer fails; what was read for it must then be
/// read again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session<'c> {
    shared: &'c SharedCommitter,
    heartbeat: &'c Heartbeat,
    epoch: u64,
}

impl Session<'_> {
    /// Records progress of the reader that adds nothing to the batch.
    pub(crate) fn beat(&self) {
        self.heartbeat.beat();
    }

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
            return Err(DaemonError::OutOfSpace(PauseReason::PausedMeanwhile));
        }
        pace.run(|pace| match &mut pace.state {
            CommitterState::Open(open) => work(&mut open.committer),
            _ => Err(DaemonError::OutOfSpace(PauseReason::Paused)),
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
        let mut pace = CommitPace::new(config);
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

    /// Applies a new configuration with the same folders. What was read with the earlier one is committed before. During a pause
    /// the end of it applies the rest. Returns warnings for the operator.
    ///
    /// # Errors
    ///
    /// Errors of the commit and of the state, which end the committer.
    pub(crate) fn reconfigure(&self, config: &Config) -> Result<Vec<String>, DaemonError> {
        let mut pace = self.lock();
        pace.config = config.clone();
        pace.run(|pace| {
            pace.commit()?;
            if let CommitterState::Open(open) = &mut pace.state {
                open.committer.compress = config.output.compress;
                return open.committer.adopt_spools(&config.spool);
            }
            Ok(Vec::new())
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
            pace.seal_if_due(host)?;
            pace.report_sealed(host);
            Ok(())
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

    /// Commits and seals what was read, and ends all sessions. What was committed before stays committed. Returns the
    /// segments that were sealed and not yet logged.
    ///
    /// # Errors
    ///
    /// An I/O error.
    pub(crate) fn close(&self) -> Result<Vec<SealedSegment>, DaemonError> {
        let mut pace = self.lock();
        pace.epoch += 1;
        let CommitterState::Open(mut open) =
            std::mem::replace(&mut pace.state, CommitterState::Closed)
        else {
            return Ok(Vec::new());
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
            pause_reason: pace.pause_reason().cloned(),
            segment: committer.map_or(0, Committer::seq),
            committed_bytes: committer.map_or(0, Committer::committed),
            last_sealed: pace.last_sealed.clone(),
            last_error: pace.last_error.clone(),
            counters: pace.counters.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, CommitPace> {
        self.pace.lock().unwrap_or_else(|poisoned| {
            // The batch may hold half a message.
            self.pace.clear_poison();
            let mut pace = poisoned.into_inner();
            pace.end(&DaemonError::OutOfSpace(PauseReason::ReaderPanicked));
            pace
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::store::commit_pace::RETRY_MS;
    use crate::daemon::store::test_fixture::StoreFixture;

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
        let full = beside.with(|_| Err::<(), _>(DaemonError::OutOfSpace(PauseReason::NoSpaceYet)));
        assert!(full.is_err() && put(before).is_err() && committer.session(&one).is_none());
        // The pause is reported once, and lasts until there is space.
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
