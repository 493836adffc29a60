//! The pace of commits: when a batch is committed, when a segment is sealed, when work pauses for lack of space and when it
//! resumes.

use std::os::unix::fs::MetadataExt;

use super::committer::Committer;
use super::recovery;
use super::reserve::{has_space, release_reserve};
use super::state_paths::StatePaths;
use super::watch_time::WatchTime;
use crate::config::Config;
use crate::daemon::counters::Counters;
use crate::daemon::error::{DaemonError, PauseReason};
use crate::daemon::host::{DaemonHost, LogRecord, MonotonicTime};
use crate::daemon::status::{LastError, LastSealed, SealedSegment};
use crate::daemon::unix_time::UnixTime;
use crate::limits::SIDECAR_COPIES;
use crate::record::Sidecar;

/// Milliseconds between two attempts to resume after a pause. Freed space is used within a few seconds.
pub(super) const RETRY_MS: u64 = 2_000;

/// Bytes of a batch.
pub(crate) const BATCH_BYTES: usize = 4 << 20;

/// Minimum bytes of a batch, after it did not fit several times.
const SMALL_BATCH_BYTES: usize = 64 << 10;

/// Messages of a batch.
const BATCH_MESSAGES: u64 = 5_000;

/// When a reader wants a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommitTiming {
    /// At once, because the reader stops.
    Now,
    /// When the batch is full or old enough.
    WhenDue,
}

/// A committer with its state and its clocks. Used by one reader at a time.
#[derive(Debug)]
pub(super) struct CommitPace {
    pub(super) config: Config,
    pub(super) state: CommitterState,
    /// Increases when a committer ends and when a pause ends. Work of an earlier epoch is void.
    pub(super) epoch: u64,
    /// `None` until the state was opened once.
    pub(super) watch_time: Option<WatchTime>,
    pub(super) batch_bytes: usize,
    pub(super) counters: Counters,
    pub(super) last_sealed: Option<LastSealed>,
    pub(super) last_error: LastError,
}

/// State of the committer.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one value, and it is nearly always open"
)]
pub(super) enum CommitterState {
    /// It accepts work.
    Open(OpenCommitter),
    /// There is no space. The operator does not know it yet.
    OutOfSpace { reason: PauseReason },
    /// There is no space. The next attempt to resume is made at `retry`.
    Paused {
        reason: PauseReason,
        retry: MonotonicTime,
    },
    /// It was closed, or a fatal error ended it. It accepts no more work.
    Closed,
}

/// A committer that accepts work.
#[derive(Debug)]
pub(super) struct OpenCommitter {
    pub(super) committer: Committer,
    /// Time at which the batch was first seen to hold something; `None` while it is empty.
    pub(super) batch_since: Option<MonotonicTime>,
    /// Time at which the segment was first seen to hold committed bytes; `None` while it is empty.
    pub(super) segment_since: Option<MonotonicTime>,
}

impl CommitPace {
    /// A pace whose committer is not open yet.
    pub(super) fn new(config: &Config) -> CommitPace {
        CommitPace {
            config: config.clone(),
            state: CommitterState::Closed,
            epoch: 0,
            watch_time: None,
            batch_bytes: BATCH_BYTES,
            counters: Counters::default(),
            last_sealed: None,
            last_error: LastError::default(),
        }
    }

    /// The committer, if it accepts work.
    pub(super) fn open(&self) -> Option<&OpenCommitter> {
        match &self.state {
            CommitterState::Open(open) => Some(open),
            _ => None,
        }
    }

    pub(super) fn open_mut(&mut self) -> Option<&mut OpenCommitter> {
        match &mut self.state {
            CommitterState::Open(open) => Some(open),
            _ => None,
        }
    }

    pub(super) fn pause_reason(&self) -> Option<&PauseReason> {
        match &self.state {
            CommitterState::OutOfSpace { reason } | CommitterState::Paused { reason, .. } => {
                Some(reason)
            }
            CommitterState::Open(_) | CommitterState::Closed => None,
        }
    }

    /// Runs `work`. An error ends the committer: nothing of it may be synced or committed again.
    pub(super) fn run<T>(
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
    pub(super) fn end(&mut self, error: &DaemonError) {
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
    pub(super) fn open_committer(&mut self, host: &mut dyn DaemonHost) -> Result<(), DaemonError> {
        let mut warnings = Vec::new();
        let opened = recovery::open(&self.config, &mut |warning| warnings.push(warning));
        for warning in warnings {
            host.log(&LogRecord::Warn(warning));
        }
        let committer = opened?;
        if self.watch_time.is_none() {
            self.watch_time = Some(WatchTime::open(&committer.db, host)?);
            self.last_sealed = last_sidecar(&self.config);
        }
        self.state = CommitterState::Open(OpenCommitter {
            committer,
            batch_since: None,
            segment_since: None,
        });
        Ok(())
    }

    /// Logs the segments that were sealed since the last call.
    pub(super) fn report_sealed(&mut self, host: &mut dyn DaemonHost) {
        let sealed = self.open_mut().map(|open| open.committer.take_sealed());
        for segment in sealed.into_iter().flatten() {
            host.log(&LogRecord::Sealed(&segment));
            self.last_sealed = Some(LastSealed {
                segment,
                time: host.unix_time().map(UnixTime::new),
            });
        }
    }

    pub(super) fn ready(
        &mut self,
        host: &mut dyn DaemonHost,
    ) -> Result<Option<MonotonicTime>, DaemonError> {
        self.report_sealed(host);
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
    fn pause(&mut self, reason: PauseReason, host: &mut dyn DaemonHost) -> MonotonicTime {
        let retry = host.now().after(RETRY_MS);
        host.log(&LogRecord::Warn(format!(
            "paused for lack of space: {reason}"
        )));
        release_reserve(&self.config);
        // If the reason is a limit on file sizes, a smaller batch may fit into the next segment.
        self.batch_bytes = (self.batch_bytes / 4).max(SMALL_BATCH_BYTES);
        self.counters.pauses += 1;
        self.last_error = LastError::new(reason.to_string(), host.unix_time());
        self.state = CommitterState::Paused { reason, retry };
        retry
    }

    /// Opens state and output again if there is space. Returns the time of the next attempt otherwise.
    fn resume(&mut self, host: &mut dyn DaemonHost) -> Result<Option<MonotonicTime>, DaemonError> {
        let opened = if has_space(&self.config) {
            self.open_committer(host)
        } else {
            Err(DaemonError::OutOfSpace(PauseReason::NoSpaceYet))
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

    pub(super) fn commit_if_due(
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
        // A batch without changes is committed at once, which costs nothing.
        if since.is_none() || is_old || is_full || timing == CommitTiming::Now {
            self.commit()?;
        }
        Ok(())
    }

    pub(super) fn commit(&mut self) -> Result<(), DaemonError> {
        let Some(open) = self.open_mut() else {
            return Ok(());
        };
        let is_dirty = open.committer.is_dirty();
        let committed = open.committer.commit()?;
        open.batch_since = None;
        if !is_dirty {
            return Ok(());
        }
        self.counters.messages += committed.messages;
        self.counters.records += committed.records;
        self.counters.gone += committed.gone;
        self.counters.commits += 1;
        Ok(())
    }

    /// Seals the segment if it is large or old enough, and compacts the sidecars after it.
    pub(super) fn seal_if_due(&mut self, host: &mut dyn DaemonHost) -> Result<(), DaemonError> {
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

    pub(super) fn is_segment_large(&self) -> bool {
        let seal_bytes = self.config.output.seal_bytes as u64;
        self.open()
            .is_some_and(|open| seal_bytes <= open.committer.committed())
    }

    /// Seals the segment unless a batch waits for a commit. Returns `true` if it did.
    pub(super) fn seal(&mut self) -> Result<bool, DaemonError> {
        let Some(open) = self.open_mut().filter(|open| !open.committer.is_dirty()) else {
            return Ok(false);
        };
        // No transaction may be open.
        open.committer.commit()?;
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
