//! The daemon's state as `urlspool status` prints it: the JSON keys are the field names, in this order.
//!
//! `docs/daemon.md` describes the fields for operators.

mod health;

use std::{fmt, io};

use serde::{Serialize, Serializer};

use super::counters::Counters;
use super::error::PauseReason;
use super::unix_time::UnixTime;
use crate::limits::REPORTED_FAILURES;

pub(crate) use health::HealthIssue;

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
    /// Version of the program.
    pub version: &'static str,
    /// Process number.
    pub pid: u32,
    /// Time of its start; `None` if the system clock was before 1970.
    pub started: Option<UnixTime>,
    /// Activity of the daemon.
    pub state: DaemonState,
    /// Reason for a pause; `None` otherwise.
    #[serde(serialize_with = "displayed")]
    pub why: Option<PauseReason>,
    /// Number of the open segment.
    pub segment: u64,
    /// Committed bytes of the open segment.
    pub committed_bytes: u64,
    /// The segment that was sealed last; `None` if there was none since the start and no sidecar of an earlier one is left.
    pub last_sealed: Option<LastSealed>,
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
    /// Mailboxes that have been locked for longer than `watch.lock_timeout`.
    pub locked: usize,
    /// Some of these, at most [`REPORTED_FAILURES`].
    pub locks: Vec<LockedFile>,
    /// The spools.
    pub spools: Vec<SpoolStatus>,
    /// The last error; `None` if there was none.
    #[serde(flatten)]
    pub last_error: LastError,
    pub(crate) counts: Counters,
}

/// A sealed segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SealedSegment {
    /// Name of its file in the output folder.
    pub name: String,
    /// Bytes of its lines, before compression.
    pub bytes: u64,
    /// Number of its records.
    pub records: u64,
    /// Number of messages that these come from.
    pub messages: u64,
}

/// The segment that was sealed last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LastSealed {
    /// The segment.
    #[serde(flatten)]
    pub segment: SealedSegment,
    /// Time of its sealing, within half a second; `None` if the system clock was before 1970.
    pub time: Option<UnixTime>,
}

/// The last error and its time. The JSON keys are `last_error` and `last_error_time`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LastError {
    /// The message; `None` if there was no error.
    #[serde(rename = "last_error")]
    pub message: Option<String>,
    /// The time; `None` without an error, or if the system clock was before 1970.
    #[serde(rename = "last_error_time")]
    pub time: Option<UnixTime>,
}

impl LastError {
    /// An error that happened at `unix_time`.
    pub(crate) fn new(message: String, unix_time: Option<u64>) -> LastError {
        LastError {
            message: Some(message),
            time: unix_time.map(UnixTime::new),
        }
    }

    /// Keeps the later of two errors.
    fn merge(&mut self, other: LastError) {
        if other.message.is_some() && (self.message.is_none() || self.time < other.time) {
            *self = other;
        }
    }
}

/// State of one spool.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct SpoolStatus {
    /// Its path.
    pub path: String,
    /// Its state.
    pub state: SpoolState,
    /// `true` if it exists.
    pub present: bool,
    /// Number of folders and files in it that could not be examined at the last full scan.
    pub unreadable: u64,
    /// The first of these, with the reason; `None` if there are none.
    pub error: Option<String>,
    /// Mailboxes on file systems that are not mounted: their state is kept.
    pub absent: u64,
    /// Files because of which messages that are gone are not reported, at most [`REPORTED_FAILURES`].
    pub withheld: Vec<WithheldBy>,
    /// `true` if the kernel reports changes in it; otherwise it is polled.
    pub notices: bool,
    /// Files in it at the last full scan.
    pub files: u64,
    /// Milliseconds since its next scan became due; 0 if none is.
    pub lag_ms: u64,
    /// Milliseconds for which its file system has not answered; 0 while it does.
    pub stalled_ms: u64,
}

/// A file that cannot be read and may hold messages that are gone elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WithheldBy {
    /// Its path.
    pub path: String,
    /// The reason for which it is not read.
    pub why: String,
}

/// State of one spool, for the operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpoolState {
    /// All of it can be read.
    #[default]
    Ok,
    /// It does not exist, or is empty although it was not. Its state is kept.
    Missing,
    /// Some of its folders cannot be read.
    Unreadable,
    /// Its file system does not answer.
    Stalled,
}

impl SpoolState {
    /// The name in the status.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SpoolState::Ok => "ok",
            SpoolState::Missing => "missing",
            SpoolState::Unreadable => "unreadable",
            SpoolState::Stalled => "stalled",
        }
    }
}

impl Serialize for SpoolState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FailedFile {
    /// Its path.
    pub path: String,
    /// The last error.
    pub why: ReadFailure,
    /// Number of attempts.
    pub tries: u64,
    /// `true` if it is skipped until it changes.
    pub quarantined: bool,
}

/// A mailbox that is not read because its writers lock it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LockedFile {
    /// Its path.
    pub path: String,
    /// The lock.
    pub lock: String,
    /// Milliseconds for which it has been locked.
    pub locked_ms: u64,
}

/// The error of a file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadFailure {
    /// An error of the operating system, by its number.
    Os(i32),
    /// Another error, such as that of damaged data.
    Other(String),
}

impl ReadFailure {
    /// The failure that an error is.
    pub(crate) fn of(error: &io::Error) -> ReadFailure {
        match error.raw_os_error() {
            Some(number) => ReadFailure::Os(number),
            None => ReadFailure::Other(error.to_string()),
        }
    }
}

impl fmt::Display for ReadFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadFailure::Os(number) => io::Error::from_raw_os_error(*number).fmt(f),
            ReadFailure::Other(error) => f.write_str(error),
        }
    }
}

impl Serialize for ReadFailure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Serializes a reason as the text that it is shown as.
#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn displayed<S: Serializer>(
    reason: &Option<PauseReason>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match reason {
        Some(reason) => serializer.collect_str(reason),
        None => serializer.serialize_none(),
    }
}

/// State of the committer, which all readers share.
#[derive(Debug)]
pub(crate) struct CommitterStatus {
    /// Reason for the pause; `None` if work is not paused.
    pub(crate) pause_reason: Option<PauseReason>,
    /// Number of the open segment; 0 during a pause.
    pub(crate) segment: u64,
    /// Committed bytes of the open segment; 0 during a pause.
    pub(crate) committed_bytes: u64,
    pub(crate) last_sealed: Option<LastSealed>,
    pub(crate) last_error: LastError,
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
        self.locked += other.locked;
        self.locks.extend(other.locks);
        self.locks.truncate(REPORTED_FAILURES);
        self.spools.extend(other.spools);
        self.last_error.merge(other.last_error);
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
        self.last_sealed = committer.last_sealed;
        self.last_error.merge(committer.last_error);
        self.counts.add(&committer.counters);
    }

    /// Returns `true` if there are spools and none of them can be read.
    pub(crate) fn is_stalled(&self) -> bool {
        !self.spools.is_empty() && self.spools.iter().all(|spool| spool.stalled_ms > 0)
    }

    /// One line of JSON.
    #[must_use]
    pub fn json(&self) -> Vec<u8> {
        /// The status and what follows from it.
        #[derive(Serialize)]
        struct Document<'s> {
            #[serde(flatten)]
            status: &'s Status,
            healthy: bool,
            issues: Vec<String>,
        }
        let issues = self.health_issues();
        crate::record::json_line(&Document {
            status: self,
            healthy: issues.is_empty(),
            issues: issues.iter().map(HealthIssue::to_string).collect(),
        })
    }
}

impl SpoolStatus {
    /// Sets the time for which the spool's file system has not answered.
    pub(crate) fn stall(&mut self, stalled_ms: u64) {
        self.state = SpoolState::Stalled;
        self.stalled_ms = stalled_ms;
        self.lag_ms = self.lag_ms.max(stalled_ms);
    }
}
