//! The daemon's status, health and metrics.
//!
//! `urlspool status` prints the status as JSON; the keys are the field names, in this order. The
//! health is a list of conditions that need the operator, as `status` prints them and `/healthz`
//! answers. The metrics use the text format of Prometheus; their labels come from closed sets,
//! never from mail.
//!
//! `docs/watch.md` describes the fields for operators.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use jiff::Timestamp;
use serde::Serialize;

use urlspool_record::record::hazard_names;
use urlspool_text::diagnostic::{DiagnosticKind, Event};
use urlspool_text::limits::REPORTED_FAILURES;

/// State of the daemon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DaemonState {
    /// Reads and commits.
    #[default]
    Running,
    /// Waits for space.
    Paused,
    /// Finishes its current work.
    Stopping,
}

/// State of the daemon, its spools and its committer.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Status {
    /// Version of the program.
    pub version: &'static str,
    /// Process ID.
    pub pid: u32,
    /// Start time; `None` if the system clock was before 1970.
    pub started: Option<Timestamp>,
    /// Activity of the daemon.
    pub state: DaemonState,
    /// Reason for a pause; `None` otherwise.
    pub why: Option<String>,
    /// Number of the open segment.
    pub segment: u64,
    /// Committed bytes of the open segment.
    pub committed_bytes: u64,
    /// The segment that was sealed last. `None` if there was none since the start and no sidecar of
    /// an earlier one remains.
    pub last_sealed: Option<SealedSegment>,
    /// Files queued for a scan.
    pub queue: usize,
    /// Files that may still be written.
    pub resting: usize,
    /// Unreadable files that will be retried.
    pub failing: usize,
    /// Files that were unreadable for so long that they are skipped until they change.
    pub quarantined: usize,
    /// Some of the failing and quarantined files, at most [`REPORTED_FAILURES`].
    pub failures: Vec<FailedFile>,
    /// Mailboxes that have been locked for longer than `watch.lock_timeout`.
    pub locked: usize,
    /// Some of the locked mailboxes, at most [`REPORTED_FAILURES`].
    pub locks: Vec<LockedFile>,
    /// The spools.
    pub spools: Vec<SpoolStatus>,
    /// The last error; `None` if there was none.
    #[serde(flatten)]
    pub last_error: LastError,
    /// The counters since the start.
    pub counts: Counters,
}

/// A sealed segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SealedSegment {
    /// Name of its file in the output folder.
    pub name: String,
    /// Size of its lines before compression, in bytes.
    pub bytes: u64,
    /// Number of its records.
    pub records: u64,
    /// Number of messages that the records come from.
    pub messages: u64,
    /// Time of the sealing, within half a second; `None` until it is logged, or if the system clock
    /// was before 1970.
    pub time: Option<Timestamp>,
}

/// The last error and its time. The JSON keys are `last_error` and `last_error_time`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LastError {
    /// The message; `None` if there was no error.
    #[serde(rename = "last_error")]
    pub message: Option<String>,
    /// Time of the error; `None` without an error, or if the system clock was before 1970.
    #[serde(rename = "last_error_time")]
    pub time: Option<Timestamp>,
}

impl LastError {
    /// An error that happened at `unix_time`.
    pub fn new(message: String, unix_time: Option<u64>) -> LastError {
        LastError {
            message: Some(message),
            time: unix_time.map(timestamp),
        }
    }

    /// Keeps the later of two errors.
    pub fn merge(&mut self, other: LastError) {
        if other.message.is_some() && (self.message.is_none() || self.time < other.time) {
            *self = other;
        }
    }
}

/// State of one spool.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SpoolStatus {
    /// Path of the spool.
    pub path: String,
    /// Its state.
    pub state: SpoolState,
    /// `true` if it exists.
    pub present: bool,
    /// `true` if it does not exist and no mail of it was ever read.
    #[serde(skip)]
    pub is_new: bool,
    /// Number of its folders and files that could not be examined at the last full scan.
    pub unreadable: u64,
    /// The first of these, with the reason; `None` if there were none.
    pub error: Option<String>,
    /// Number of mailboxes on file systems that are not mounted: their state is kept.
    pub absent: u64,
    /// Files that prevent reports of gone messages, at most [`REPORTED_FAILURES`].
    pub withheld: Vec<WithheldBy>,
    /// The kernel's reports of changes in the spool.
    pub notices: Notices,
    /// Milliseconds since the last such report; `None` before the first one.
    pub last_notice_ms: Option<u64>,
    /// Number of files in it at the last full scan.
    pub files: u64,
    /// Milliseconds since the next scan became due; 0 if no scan is due.
    pub lag_ms: u64,
    /// Milliseconds for which the file system has not answered; 0 while it does.
    pub stalled_ms: u64,
}

/// State of the kernel's reports of changes in a spool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Notices {
    /// The kernel does not report all changes, so the spool is polled.
    None,
    /// The kernel accepted the request for reports, but none has arrived. That is normal for a
    /// quiet spool.
    #[default]
    Set,
    /// At least one report has arrived.
    Arrived,
}

/// An unreadable file that may hold messages gone from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WithheldBy {
    /// Its path.
    pub path: String,
    /// The reason why the file is not read.
    pub why: String,
}

/// State of one spool, for the operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SpoolState {
    /// The whole spool can be read.
    #[default]
    Ok,
    /// The spool does not exist, or it is empty although it was not before. Its state is kept.
    Missing,
    /// Some of its folders cannot be read.
    Unreadable,
    /// Its file system does not answer.
    Stalled,
}

/// A file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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

/// A mailbox that is not read because a writer locks it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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

    /// The status as one line of JSON.
    #[must_use]
    pub fn json(&self) -> Vec<u8> {
        /// The status, with the health derived from it.
        #[derive(Serialize)]
        struct Document<'s> {
            #[serde(flatten)]
            status: &'s Status,
            healthy: bool,
            issues: Vec<String>,
        }
        let issues = self.health_issues();
        urlspool_record::record::json_line(&Document {
            status: self,
            healthy: issues.is_empty(),
            issues,
        })
    }

    /// One sentence per condition that keeps mail from being read as it should be. Empty for a
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
        for spool in &self.spools {
            let (path, error) = (&spool.path, spool.error.as_deref().unwrap_or("unknown"));
            issues.extend(match (spool.state, spool.unreadable) {
                (SpoolState::Ok | SpoolState::Stalled, _) => None,
                (SpoolState::Missing, _) if spool.is_new => {
                    Some(format!("spool {path} does not exist yet"))
                }
                (SpoolState::Missing, _) => Some(format!(
                    "spool {path} is missing, or empty although it was not"
                )),
                (SpoolState::Unreadable, 1) => {
                    Some(format!("spool {path} cannot be read completely: {error}"))
                }
                (SpoolState::Unreadable, count) => Some(format!(
                    "spool {path} cannot be read completely: {error}, and {} more",
                    count - 1
                )),
            });
        }
        for WithheldBy { path, why } in self.spools.iter().flat_map(|spool| &spool.withheld) {
            issues.push(format!(
                "missing messages are not reported as gone, because {path} may hold them: {why}"
            ));
        }
        for file in &self.locks {
            let (path, lock, seconds) = (&file.path, &file.lock, file.locked_ms / 1_000);
            issues.push(format!("{path} is not read: locked for {seconds} s {lock}"));
        }
        issues
    }
}

/// Writes metrics in the text format of Prometheus. Each line of the table holds the kind, the name
/// without the prefix `urlspool_`, the value and the help.
macro_rules! write_metrics {
    ($text:ident: $($kind:ident $name:ident = $value:expr, $help:literal;)*) => {
        $(
            write_header($text, stringify!($kind), stringify!($name), $help);
            // Writing to a String does not fail.
            let _ = writeln!($text, concat!("urlspool_", stringify!($name), " {}"), $value);
        )*
    };
}

/// Defines the counters from two tables: of numbers, and of numbers by kind. Each line holds the
/// field, the metric's name if there is one, without the prefix `urlspool_`, and the help. In the
/// second table, it also holds the kinds.
macro_rules! counters {
    (
        $($name:ident $(= $metric:ident)? $help:literal)*;
        $($by_kind:ident[$kinds:expr] = $kinds_metric:ident $kinds_help:literal)*
    ) => {
        /// Counters since the start of the daemon.
        #[derive(Clone, Debug, Default, Serialize)]
        pub struct Counters {
            $(#[doc = $help] pub $name: u64,)*
            $(#[doc = $kinds_help] pub $by_kind: BTreeMap<&'static str, u64>,)*
            /// Number of files read, by the time since their last change: one count for each of
            /// [`LAG_BOUNDS_MS`], and one for longer times.
            pub lags: [u64; LAG_BOUNDS_MS.len() + 1],
            /// Sum of these times in milliseconds.
            pub lag_sum_ms: u64,
        }

        impl Counters {
            /// Adds the counters of another reader.
            pub fn add(&mut self, other: &Counters) {
                $(self.$name += other.$name;)*
                $(add_kinds(&mut self.$by_kind, &other.$by_kind);)*
                for (sum, lag) in self.lags.iter_mut().zip(&other.lags) {
                    *sum += lag;
                }
                self.lag_sum_ms += other.lag_sum_ms;
            }

            fn write(&self, text: &mut String) {
                write_metrics! { text: $($(counter $metric = self.$name, $help;)?)* }
            }

            /// Writes the counters with one value per kind, 0 for kinds that did not occur.
            fn write_kinds(&self, text: &mut String) {
                $({
                    let name = stringify!($kinds_metric);
                    write_header(text, "counter", name, $kinds_help);
                    for kind in $kinds {
                        let value = self.$by_kind.get(kind).copied().unwrap_or(0);
                        let _ = writeln!(text, "urlspool_{name}{{kind=\"{kind}\"}} {value}");
                    }
                })*
            }
        }
    };
}

counters! {
    files_read = files_read_total "Scans of files with new messages."
    messages_read "Messages searched; some may not be committed yet."
    repeated = messages_repeated_total "Duplicate messages that were skipped."
    messages = messages_total "Messages committed, with existing mail that is not written."
    records = records_total "Records committed."
    filtered = urls_filtered_total "URLs that a filter held back."
    duplicates = urls_duplicate_total "Duplicates of URLs within a message, which were left out."
    gone = messages_gone_total "Messages reported as gone."
    commits = commits_total "Commits."
    segments = segments_sealed_total "Segments sealed."
    sweeps = sweeps_total "Full scans of a spool."
    overflows = overflows_total "Times that notifications of changes were lost."
    pauses = pauses_total "Pauses for lack of space."
    forgotten = forgotten_total "Purged state entries of files missing for long.";
    read_errors[READ_ERRORS] = read_errors_total "Failed attempts to read a file, by kind of error."
    events[DiagnosticKind::NAMES] = events_total "Diagnostics of sources, by kind."
    hazards[hazard_names()] = hazards_total "Records, by hazard of their URL."
}

pub(crate) fn add_kinds(
    sums: &mut BTreeMap<&'static str, u64>,
    numbers: &BTreeMap<&'static str, u64>,
) {
    for (kind, times) in numbers {
        *sums.entry(kind).or_default() += times;
    }
}

/// Upper bounds of the lag histogram.
const LAG_BOUNDS_MS: [u64; 8] = [100, 250, 500, 1_000, 2_500, 5_000, 60_000, 600_000];

impl Counters {
    /// Counts a file that was read `lag_ms` milliseconds after its last change.
    pub fn lag_ms(&mut self, lag_ms: u64) {
        let bound = LAG_BOUNDS_MS.iter().position(|bound| lag_ms <= *bound);
        self.lags[bound.unwrap_or(LAG_BOUNDS_MS.len())] += 1;
        self.lag_sum_ms = self.lag_sum_ms.saturating_add(lag_ms);
    }

    /// Writes the lag histogram.
    fn write_lags(&self, text: &mut String) {
        let name = "read_lag_seconds";
        let help = "Time from the last change of a file to the end of reading it.";
        write_header(text, "histogram", name, help);
        let bounds = LAG_BOUNDS_MS.iter().map(|ms| seconds(*ms));
        let mut count = 0;
        for (bound, files) in bounds.chain(["+Inf".to_owned()]).zip(self.lags) {
            count += files;
            let _ = writeln!(text, "urlspool_{name}_bucket{{le=\"{bound}\"}} {count}");
        }
        let sum = seconds(self.lag_sum_ms);
        let _ = writeln!(
            text,
            "urlspool_{name}_sum {sum}\nurlspool_{name}_count {count}"
        );
    }

    /// Counts an event.
    pub fn event(&mut self, event: &Event) {
        *self.events.entry(event.diagnostic.kind.name()).or_default() += 1;
    }
}

/// Formats milliseconds as seconds.
fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1_000, ms % 1_000)
}

/// The kinds of read errors, as they appear in the metrics.
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

impl Status {
    /// The metrics in the text format of Prometheus.
    #[must_use]
    pub fn metrics(&self) -> String {
        let mut text = String::new();
        let help = "The version of the program, as a label.";
        write_header(&mut text, "gauge", "build_info", help);
        // Writing to a String does not fail.
        let _ = writeln!(
            text,
            "urlspool_build_info{{version=\"{}\"}} 1",
            self.version
        );
        self.counts.write(&mut text);
        self.write_gauges(&mut text);
        self.counts.write_kinds(&mut text);
        self.counts.write_lags(&mut text);
        text
    }

    fn write_gauges(&self, text: &mut String) {
        let spools = |is_counted: fn(&SpoolStatus) -> bool| {
            let counted = self.spools.iter().filter(|spool| is_counted(spool));
            counted.count()
        };
        let lags_ms = self.spools.iter().map(|spool| spool.lag_ms);
        let lag_seconds = seconds(lags_ms.max().unwrap_or(0));
        let unix_seconds = |time: Option<Timestamp>| time.map_or(0, Timestamp::as_second);
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
            gauge start_time_seconds = unix_seconds(self.started),
                "Time of the start, in seconds since 1970.";
            gauge last_sealed_timestamp_seconds = unix_seconds(sealed),
                "Time of the last sealing of a segment, in seconds since 1970; 0 if unknown.";
            gauge last_error_timestamp_seconds = unix_seconds(self.last_error.time),
                "Time of the last error, in seconds since 1970; 0 without one.";
        }
    }
}

fn write_header(text: &mut String, kind: &str, name: &str, help: &str) {
    // Writing to a String does not fail.
    let _ = writeln!(
        text,
        "# HELP urlspool_{name} {help}\n# TYPE urlspool_{name} {kind}"
    );
}

/// The time `seconds` after the start of 1970, capped at the last time that has a text form.
pub(crate) fn timestamp(seconds: u64) -> Timestamp {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_spool_and_a_missing_one_are_issues() {
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
                SpoolStatus {
                    is_new: true,
                    ..spool(SpoolState::Missing, 0)
                },
                spool(SpoolState::Ok, 0),
            ]),
            [
                "spool /s cannot be read completely: /s/a: denied",
                "spool /s cannot be read completely: /s/a: denied, and 2 more",
                "spool /s is missing, or empty although it was not",
                "spool /s does not exist yet",
            ]
        );
    }

    #[test]
    fn a_time_is_written_in_utc() {
        assert_eq!(timestamp(1_795_332_040).to_string(), "2026-11-22T07:20:40Z");
        assert!(timestamp(u64::MAX).to_string().starts_with("9999-12-3"));
    }

    #[test]
    fn every_sample_has_its_type() {
        let text = Status::default().metrics();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split([' ', '{']).next().unwrap();
            let histogram = name
                .rsplit_once('_')
                .map_or(name, |(histogram, _)| histogram);
            assert!(
                text.contains(&format!("# TYPE {name} "))
                    || text.contains(&format!("# TYPE {histogram} histogram")),
                "{line}"
            );
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
