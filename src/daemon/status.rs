//! The daemon's state as `urlspool status` prints it: the JSON keys are the field names, in this
//! order. Its health: the conditions that need the operator, as `status` lists them and `/healthz`
//! answers. Its metrics, in the text format of Prometheus; their labels come from closed sets,
//! never from mail.
//!
//! `docs/daemon.md` describes the fields for operators.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::{fmt, io};

use serde::{Serialize, Serializer};

use crate::diagnostic::{DiagnosticKind, Event};
use crate::limits::REPORTED_FAILURES;

/// State of the daemon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
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
    /// The segment that was sealed last; `None` if there was none since the start and no sidecar of
    /// an earlier one is left.
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
    pub(crate) fn merge(&mut self, other: LastError) {
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
    /// Files because of which messages that are gone are not reported, at most
    /// [`REPORTED_FAILURES`].
    pub withheld: Vec<WithheldBy>,
    /// State of the kernel's reports of changes in it.
    pub notices: Notices,
    /// Milliseconds since the last such report; `None` if none has arrived.
    pub last_notice_ms: Option<u64>,
    /// Files in it at the last full scan.
    pub files: u64,
    /// Milliseconds since its next scan became due; 0 if none is.
    pub lag_ms: u64,
    /// Milliseconds for which its file system has not answered; 0 while it does.
    pub stalled_ms: u64,
}

/// State of the kernel's reports of changes in a spool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notices {
    /// The kernel does not report all changes: the spool is polled.
    None,
    /// The kernel has accepted the request to report them. None has arrived, which says nothing of
    /// a quiet spool.
    #[default]
    Set,
    /// At least one report has arrived.
    Arrived,
}

impl Notices {
    /// The name in the status.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Notices::None => "none",
            Notices::Set => "set",
            Notices::Arrived => "arrived",
        }
    }
}

impl Serialize for Notices {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
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
            issues,
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

impl Status {
    /// A sentence about each condition in which mail is not read as it should be; empty for a
    /// healthy daemon.
    pub(crate) fn health_issues(&self) -> Vec<String> {
        let mut issues = Vec::new();
        match self.state {
            DaemonState::Running => {}
            DaemonState::Paused => {
                let reason = self.why.as_deref().unwrap_or("unknown");
                issues.push(format!("paused for lack of space: {reason}"));
            }
            DaemonState::Stopping => issues.push("the daemon is stopping".to_owned()),
        }
        if self.is_stalled() {
            issues.push("the file system of no spool answers".to_owned());
        }
        let is_unreadable = |spool: &&SpoolStatus| spool.state == SpoolState::Unreadable;
        for spool in self.spools.iter().filter(is_unreadable) {
            let error = spool.error.as_deref().unwrap_or("unknown");
            let others = match spool.unreadable {
                1 => String::new(),
                unreadable => format!(", and {} more", unreadable - 1),
            };
            issues.push(format!(
                "spool {} is not read completely: {error}{others}",
                spool.path
            ));
        }
        for WithheldBy { path, why } in self.spools.iter().flat_map(|spool| &spool.withheld) {
            issues.push(format!(
                "messages that are gone are not reported, because {path} may hold them: {why}"
            ));
        }
        for LockedFile {
            path,
            lock,
            locked_ms,
        } in &self.locks
        {
            let seconds = locked_ms / 1_000;
            issues.push(format!("{path} is not read: locked for {seconds} s {lock}"));
        }
        issues
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

/// The kinds of read errors, as the metrics name them.
const READ_ERRORS: [&str; 5] = ["device", "stale", "timeout", "denied", "other"];

/// Returns the kind of an error, one of [`READ_ERRORS`].
pub(crate) fn read_error_kind(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EIO) => "device",
        Some(libc::ESTALE) => "stale",
        Some(libc::ETIMEDOUT) => "timeout",
        Some(libc::EACCES | libc::EPERM) => "denied",
        _ => "other",
    }
}

/// Writes metrics in the text format of Prometheus, one per line of the table: kind, name without
/// the prefix `urlspool_`, value, help.
macro_rules! write_metrics {
    ($text:ident: $($kind:ident $name:ident = $value:expr, $help:literal;)*) => {
        $(
            write_header($text, stringify!($kind), stringify!($name), $help);
            // Writing to a String does not fail.
            let _ = writeln!($text, concat!("urlspool_", stringify!($name), " {}"), $value);
        )*
    };
}

impl Status {
    /// The text format of Prometheus.
    #[must_use]
    pub fn metrics(&self) -> String {
        let mut text = String::new();
        let help = "The version of the program, as a label.";
        write_header(&mut text, "gauge", "build_info", help);
        let version = self.version;
        // Writing to a String does not fail.
        let _ = writeln!(text, "urlspool_build_info{{version=\"{version}\"}} 1");
        self.write_counters(&mut text);
        self.write_gauges(&mut text);
        let help = "Diagnostics of sources, by kind.";
        let kinds = DiagnosticKind::ALL.map(DiagnosticKind::name);
        write_labelled(&mut text, "events_total", help, &kinds, &self.counts.events);
        let (name, help) = (
            "read_errors_total",
            "Failed attempts to read a file, by kind of error.",
        );
        write_labelled(
            &mut text,
            name,
            help,
            &READ_ERRORS,
            &self.counts.read_errors,
        );
        text
    }

    fn write_counters(&self, text: &mut String) {
        let counts = &self.counts;
        write_metrics! { text:
            counter files_read_total = counts.files_read, "Scans of files that held something new.";
            counter messages_total = counts.messages, "Messages committed.";
            counter messages_repeated_total = counts.repeated, "Duplicate messages that were skipped.";
            counter records_total = counts.records, "Records committed.";
            counter messages_gone_total = counts.gone, "Messages reported as gone.";
            counter commits_total = counts.commits, "Commits.";
            counter segments_sealed_total = counts.segments, "Segments sealed.";
            counter sweeps_total = counts.sweeps, "Full scans of a spool.";
            counter overflows_total = counts.overflows, "Times that notifications of changes were lost.";
            counter pauses_total = counts.pauses, "Pauses for lack of space.";
            counter forgotten_total = counts.forgotten, "Purged state entries of files missing for long.";
        }
    }

    fn write_gauges(&self, text: &mut String) {
        let spools = |is_counted: fn(&SpoolStatus) -> bool| {
            let counted = self.spools.iter().filter(|spool| is_counted(spool));
            counted.count()
        };
        let lag_ms = self.spools.iter().map(|spool| spool.lag_ms).max();
        let lag_ms = lag_ms.unwrap_or(0);
        let lag_seconds = format!("{}.{:03}", lag_ms / 1_000, lag_ms % 1_000);
        let seconds = |time: Option<UnixTime>| time.map_or(0, |time| time.seconds);
        let sealed = self.last_sealed.as_ref().and_then(|last| last.time);
        write_metrics! { text:
            gauge segment_sequence = self.segment, "Number of the open segment.";
            gauge paused = u64::from(self.state == DaemonState::Paused),
                "1 if work is paused for lack of space, 0 otherwise.";
            gauge queue_files = self.queue, "Files that wait to be scanned.";
            gauge resting_files = self.resting, "Files that may still be written.";
            gauge failing_files = self.failing, "Files that could not be read and will be retried.";
            gauge quarantined_files = self.quarantined,
                "Unreadable files that are skipped until they change.";
            gauge locked_files = self.locked,
                "Mailboxes that have been locked for longer than watch.lock_timeout.";
            gauge open_segment_bytes = self.committed_bytes, "Committed bytes of the open segment.";
            gauge stalled_spools = spools(|spool| 0 < spool.stalled_ms),
                "Spools whose file system does not answer.";
            gauge missing_spools = spools(|spool| spool.state == SpoolState::Missing),
                "Spools that do not exist or are empty although they were not.";
            gauge unreadable_spools = spools(|spool| spool.state == SpoolState::Unreadable),
                "Spools with folders that cannot be read.";
            gauge lag_seconds = lag_seconds, "Time for which the oldest work has been due.";
            gauge start_time_seconds = seconds(self.started),
                "Time of the start, in seconds since 1970.";
            gauge last_sealed_timestamp_seconds = seconds(sealed),
                "Time of the last sealing of a segment, in seconds since 1970; 0 if unknown.";
            gauge last_error_timestamp_seconds = seconds(self.last_error.time),
                "Time of the last error, in seconds since 1970; 0 without one.";
        }
    }
}

/// Writes a counter with a value for each of `kinds`, 0 for those that did not happen.
fn write_labelled(
    text: &mut String,
    name: &str,
    help: &str,
    kinds: &[&str],
    counts: &BTreeMap<&'static str, u64>,
) {
    write_header(text, "counter", name, help);
    for kind in kinds {
        let value = counts.get(kind).copied().unwrap_or(0);
        // Writing to a String does not fail.
        let _ = writeln!(text, "urlspool_{name}{{kind=\"{kind}\"}} {value}");
    }
}

fn write_header(text: &mut String, kind: &str, name: &str, help: &str) {
    // Writing to a String does not fail.
    let _ = writeln!(
        text,
        "# HELP urlspool_{name} {help}\n# TYPE urlspool_{name} {kind}"
    );
}

/// A time of the system clock, in whole seconds. Displayed and serialized in UTC:
/// `2026-11-22T07:20:40Z`.
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
            status.health_issues()
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

    #[test]
    fn every_sample_has_its_type() {
        let text = Status::default().metrics();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split([' ', '{']).next().unwrap();
            assert!(text.contains(&format!("# TYPE {name} ")), "{line}");
        }
    }

    #[test]
    fn the_lag_is_in_seconds_and_the_version_is_a_label() {
        let spool = SpoolStatus {
            lag_ms: 12_045,
            ..Default::default()
        };
        let status = Status {
            version: "1.2.3",
            spools: vec![spool],
            ..Status::default()
        };
        let text = status.metrics();
        for line in [
            "urlspool_lag_seconds 12.045",
            "urlspool_build_info{version=\"1.2.3\"} 1",
            "urlspool_unreadable_spools 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("millis"));
    }
}
