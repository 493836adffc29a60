//! The daemon's state as `urlspool status` prints it: the JSON keys are the field names, in this order. Its health: the conditions
//! that need the operator, as `status` lists them and `/healthz` answers. The names of the metrics are in `service/metrics.rs`.
//!
//! `docs/daemon.md` describes the fields for operators.

use std::collections::BTreeMap;
use std::{fmt, io};

use serde::{Serialize, Serializer};

use crate::diagnostic::Event;
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
    /// Version of the program.
    pub version: &'static str,
    /// Process number.
    pub pid: u32,
    /// Time of its start; `None` if the system clock was before 1970.
    pub started: Option<UnixTime>,
    /// Activity of the daemon.
    pub state: DaemonState,
    /// Reason for a pause; `None` otherwise.
    pub why: Option<String>,
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

/// State of the committer, which all readers share.
#[derive(Debug)]
pub(crate) struct CommitterStatus {
    /// Reason for the pause; `None` if work is not paused.
    pub(crate) pause_reason: Option<String>,
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

/// A condition in which mail is not read as it should be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HealthIssue<'s> {
    /// Work is paused for lack of space.
    Paused { reason: Option<&'s str> },
    /// The daemon is stopping.
    Stopping,
    /// No spool's file system answers.
    AllStalled,
    /// A mailbox has been locked for longer than `watch.lock_timeout`.
    Locked(&'s LockedFile),
    /// Messages that are gone are not reported because of a file.
    Withheld(&'s WithheldBy),
    /// Some folders of a spool cannot be read.
    Unreadable {
        spool: &'s str,
        unreadable: u64,
        error: &'s str,
    },
}

impl fmt::Display for HealthIssue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HealthIssue::Paused {
                reason: Some(reason),
            } => write!(f, "paused for lack of space: {reason}"),
            HealthIssue::Paused { reason: None } => {
                f.write_str("paused for lack of space: unknown")
            }
            HealthIssue::Stopping => f.write_str("the daemon is stopping"),
            HealthIssue::AllStalled => f.write_str("the file system of no spool answers"),
            HealthIssue::Locked(LockedFile {
                path,
                lock,
                locked_ms,
            }) => write!(
                f,
                "{path} is not read: locked for {} s {lock}",
                locked_ms / 1_000
            ),
            HealthIssue::Withheld(WithheldBy { path, why }) => write!(
                f,
                "messages that are gone are not reported, because {path} may hold them: {why}"
            ),
            HealthIssue::Unreadable {
                spool,
                unreadable: 1,
                error,
            } => write!(f, "spool {spool} is not read completely: {error}"),
            HealthIssue::Unreadable {
                spool,
                unreadable,
                error,
            } => write!(
                f,
                "spool {spool} is not read completely: {error}, and {} more",
                unreadable - 1
            ),
        }
    }
}

impl Status {
    /// The conditions that need the operator; empty for a healthy daemon.
    pub(crate) fn health_issues(&self) -> Vec<HealthIssue<'_>> {
        let state = match self.state {
            DaemonState::Running => None,
            DaemonState::Paused => Some(HealthIssue::Paused {
                reason: self.why.as_deref(),
            }),
            DaemonState::Stopping => Some(HealthIssue::Stopping),
        };
        let stalled = self.is_stalled().then_some(HealthIssue::AllStalled);
        let unreadable = self
            .spools
            .iter()
            .filter(|spool| spool.state == SpoolState::Unreadable)
            .map(|spool| HealthIssue::Unreadable {
                spool: &spool.path,
                unreadable: spool.unreadable,
                error: spool.error.as_deref().unwrap_or("unknown"),
            });
        let locked = self.locks.iter().map(HealthIssue::Locked);
        let withheld = self.spools.iter().flat_map(|spool| &spool.withheld);
        let spools = stalled.into_iter().chain(unreadable);
        let spools = spools.chain(withheld.map(HealthIssue::Withheld));
        state.into_iter().chain(spools).chain(locked).collect()
    }
}

/// Counters since the start of the daemon.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Counters {
    /// Scans of files that held something new.
    pub(crate) files_read: u64,
    /// Messages searched; some may not be committed yet.
    pub(crate) messages_read: u64,
    /// Duplicate messages.
    pub(crate) repeated: u64,
    /// Messages committed.
    pub(crate) messages: u64,
    /// Records committed.
    pub(crate) records: u64,
    /// Messages that are gone from their mailboxes, reported in the output.
    pub(crate) gone: u64,
    /// Commits.
    pub(crate) commits: u64,
    /// Segments sealed.
    pub(crate) segments: u64,
    /// Full scans of a spool.
    pub(crate) sweeps: u64,
    /// Times that notifications were lost.
    pub(crate) overflows: u64,
    /// Pauses for lack of space.
    pub(crate) pauses: u64,
    /// Purged state entries: files, messages and mailboxes that were missing for long.
    pub(crate) forgotten: u64,
    /// Failed attempts to read a file, by kind of error.
    pub(crate) read_errors: BTreeMap<&'static str, u64>,
    /// Diagnostics of sources, by kind.
    pub(crate) events: BTreeMap<&'static str, u64>,
}

impl Counters {
    /// Adds the counters of `other`.
    pub(crate) fn add(&mut self, other: &Counters) {
        let Counters {
            files_read,
            messages_read,
            repeated,
            messages,
            records,
            gone,
            commits,
            segments,
            sweeps,
            overflows,
            pauses,
            forgotten,
            read_errors,
            events,
        } = other;
        self.files_read += files_read;
        self.messages_read += messages_read;
        self.repeated += repeated;
        self.messages += messages;
        self.records += records;
        self.gone += gone;
        self.commits += commits;
        self.segments += segments;
        self.sweeps += sweeps;
        self.overflows += overflows;
        self.pauses += pauses;
        self.forgotten += forgotten;
        add_by_kind(&mut self.read_errors, read_errors);
        add_by_kind(&mut self.events, events);
    }

    /// Counts an event.
    pub(crate) fn event(&mut self, event: &Event) {
        *self.events.entry(event.diagnostic.kind.name()).or_default() += 1;
    }
}

fn add_by_kind(all: &mut BTreeMap<&'static str, u64>, other: &BTreeMap<&'static str, u64>) {
    for (kind, times) in other {
        *all.entry(kind).or_default() += times;
    }
}

/// A time of the system clock, in whole seconds. Displayed and serialized in UTC: `2026-11-22T07:20:40Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct UnixTime {
    /// Seconds since 1970.
    pub seconds: u64,
}

impl UnixTime {
    /// The time `seconds` after the start of 1970.
    #[must_use]
    pub fn new(seconds: u64) -> UnixTime {
        UnixTime { seconds }
    }
}

impl fmt::Display for UnixTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = i64::try_from(self.seconds).unwrap_or(i64::MAX);
        // After the year 9999 there is no text form.
        jiff::Timestamp::from_second(seconds)
            .unwrap_or(jiff::Timestamp::MAX)
            .fmt(f)
    }
}

impl Serialize for UnixTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_spool_is_an_issue_and_a_missing_one_is_none() {
        let spool = |state, unreadable| SpoolStatus {
            path: "/s".to_owned(),
            state,
            unreadable,
            error: Some("/s/a: denied".to_owned()),
            ..SpoolStatus::default()
        };
        let texts = |spools| {
            let status = Status {
                spools,
                ..Status::default()
            };
            let texts: Vec<_> = status
                .health_issues()
                .iter()
                .map(HealthIssue::to_string)
                .collect();
            texts
        };
        assert_eq!(
            texts(vec![
                spool(SpoolState::Unreadable, 1),
                spool(SpoolState::Unreadable, 3),
                spool(SpoolState::Missing, 0),
                spool(SpoolState::Ok, 0),
            ]),
            [
                "spool /s is not read completely: /s/a: denied",
                "spool /s is not read completely: /s/a: denied, and 2 more"
            ]
        );
    }

    #[test]
    fn a_time_is_written_in_utc() {
        assert_eq!(UnixTime::new(0).to_string(), "1970-01-01T00:00:00Z");
        assert_eq!(
            UnixTime::new(1_795_332_040).to_string(),
            "2026-11-22T07:20:40Z"
        );
        assert!(UnixTime::new(u64::MAX).to_string().starts_with("9999-12-3"));
    }
}
