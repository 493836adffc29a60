//! The daemon's state as `urlspool status` prints it: the JSON keys are the field names.

use serde::{Serialize, Serializer};

use super::counters::Counters;
use crate::limits::REPORTED_FAILURES;

/// State of the daemon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DaemonState {
    /// It reads and commits.
    #[default]
    Running,
    /// It waits for space.
    Paused,
    /// It finishes what it has begun.
    Stopping,
}

impl DaemonState {
    /// The name in status and log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DaemonState::Running => "running",
            DaemonState::Paused => "paused",
            DaemonState::Stopping => "stopping",
        }
    }
}

impl Serialize for DaemonState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// State of the daemon, its spools and its committer.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// Activity of the daemon.
    pub state: DaemonState,
    /// Reason for a pause; `None` otherwise.
    pub why: Option<String>,
    /// Number of the open segment.
    pub segment: u64,
    /// Committed bytes of the open segment.
    pub committed_bytes: u64,
    /// Files that wait to be scanned.
    pub queue: usize,
    /// Files that may still be written.
    pub resting: usize,
    /// Files that could not be read and will be retried.
    pub failing: usize,
    /// Files that could not be read for so long that they are skipped until they change.
    pub quarantined: usize,
    /// Some of the failing and quarantined files, at most [`REPORTED_FAILURES`].
    pub failures: Vec<FailedFile>,
    /// The spools.
    pub spools: Vec<SpoolStatus>,
    /// The last error; `None` if there was none.
    pub last_error: Option<String>,
    pub(crate) counts: Counters,
}

/// State of one spool.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct SpoolStatus {
    /// Its path.
    pub path: String,
    /// `true` if it exists.
    pub present: bool,
    /// Mailboxes on file systems that are not mounted: their state is kept.
    pub absent: u64,
    /// `true` if the kernel reports changes in it; otherwise it is polled.
    pub notices: bool,
    /// Files in it at the last full scan.
    pub files: u64,
    /// Milliseconds since its next scan became due; 0 if none is.
    pub lag_ms: u64,
    /// Milliseconds for which its file system has not answered; 0 while it does.
    pub stalled_ms: u64,
}

/// A file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FailedFile {
    /// Its path.
    pub path: String,
    /// The last error.
    pub why: String,
    /// Number of attempts.
    pub tries: u64,
    /// `true` if it is skipped until it changes.
    pub quarantined: bool,
}

/// State of the committer, which all readers share.
#[derive(Debug)]
pub(crate) struct CommitterStatus {
    /// Reason for the pause; `None` if work is not paused.
    pub(crate) pause_reason: Option<String>,
    /// Number of the open segment; 0 during a pause.
    pub(crate) segment: u64,
    /// Committed bytes of the open segment; 0 during a pause.
    pub(crate) committed_bytes: u64,
    pub(crate) last_error: Option<String>,
    pub(crate) counters: Counters,
}

impl Status {
    /// Adds the state of another reader's spools.
    pub(crate) fn add_reader(&mut self, other: Status) {
        if other.state == DaemonState::Stopping {
            self.state = other.state;
        }
        self.queue += other.queue;
        self.resting += other.resting;
        self.failing += other.failing;
        self.quarantined += other.quarantined;
        self.failures.extend(other.failures);
        self.failures.truncate(REPORTED_FAILURES);
        self.spools.extend(other.spools);
        self.last_error = other.last_error.or(self.last_error.take());
        self.counts.add(&other.counts);
    }

    /// Adds the state of the committer. A pause takes precedence over the state of readers.
    pub(crate) fn add_committer(&mut self, committer: CommitterStatus) {
        if committer.pause_reason.is_some() {
            self.state = DaemonState::Paused;
            self.why = committer.pause_reason;
        }
        self.segment = committer.segment;
        self.committed_bytes = committer.committed_bytes;
        self.last_error = self.last_error.take().or(committer.last_error);
        self.counts.add(&committer.counters);
    }

    /// Returns `true` if there are spools and none of them can be read.
    pub(crate) fn is_stalled(&self) -> bool {
        !self.spools.is_empty() && self.spools.iter().all(|spool| spool.stalled_ms > 0)
    }

    /// One line of JSON.
    #[must_use]
    pub fn json(&self) -> Vec<u8> {
        crate::record::json_line(self)
    }
}
