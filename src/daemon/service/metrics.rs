//! The status as metrics in the text format of Prometheus. Labels come from closed sets, never from mail.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use crate::daemon::schedule::ReadErrorKind;
use crate::daemon::status::UnixTime;
use crate::daemon::status::{DaemonState, SpoolState, Status};
use crate::diagnostic::DiagnosticKind;

/// A metric without labels.
struct Metric {
    kind: MetricKind,
    /// Name without the prefix `urlspool_`.
    name: &'static str,
    help: &'static str,
    value: MetricValue,
}

/// The value of a metric.
#[derive(Clone, Copy)]
enum MetricValue {
    /// A number of things, or seconds since 1970.
    Count(u64),
    /// Milliseconds, written as seconds.
    Millis(u64),
}

impl fmt::Display for MetricValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetricValue::Count(count) => count.fmt(f),
            MetricValue::Millis(millis) => write!(f, "{}.{:03}", millis / 1_000, millis % 1_000),
        }
    }
}

/// A counter with one value for each kind of event.
struct LabelledCounter<'c> {
    /// Name without the prefix `urlspool_`.
    name: &'static str,
    help: &'static str,
    counts: &'c BTreeMap<&'static str, u64>,
}

#[derive(Clone, Copy)]
enum MetricKind {
    Counter,
    Gauge,
}

impl MetricKind {
    fn name(self) -> &'static str {
        match self {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
        }
    }
}

impl Status {
    /// The text format of Prometheus.
    #[must_use]
    pub fn metrics(&self) -> String {
        let mut text = String::new();
        self.write_build_info(&mut text);
        for metric in self.counter_metrics().iter().chain(&self.gauge_metrics()) {
            metric.write(&mut text);
        }
        let events = LabelledCounter {
            name: "events_total",
            help: "Diagnostics of sources, by kind.",
            counts: &self.counts.events,
        };
        events.write(&mut text, &DiagnosticKind::ALL.map(DiagnosticKind::name));
        let read_errors = LabelledCounter {
            name: "read_errors_total",
            help: "Failed attempts to read a file, by kind of error.",
            counts: &self.counts.read_errors,
        };
        read_errors.write(&mut text, &ReadErrorKind::ALL.map(ReadErrorKind::name));
        text
    }

    /// Writes a metric of value 1 whose label is the version.
    fn write_build_info(&self, text: &mut String) {
        let help = "The version of the program, as a label.";
        write_header(text, "build_info", help, MetricKind::Gauge);
        // Writing to a String does not fail.
        let _ = writeln!(
            text,
            "urlspool_build_info{{version=\"{}\"}} 1",
            self.version
        );
    }

    fn counter_metrics(&self) -> [Metric; 11] {
        let counts = &self.counts;
        [
            counter(
                "files_read_total",
                "Scans of files that held something new.",
                counts.files_read,
            ),
            counter("messages_total", "Messages committed.", counts.messages),
            counter(
                "messages_repeated_total",
                "Duplicate messages that were skipped.",
                counts.repeated,
            ),
            counter("records_total", "Records committed.", counts.records),
            counter(
                "messages_gone_total",
                "Messages reported as gone.",
                counts.gone,
            ),
            counter("commits_total", "Commits.", counts.commits),
            counter("segments_sealed_total", "Segments sealed.", counts.segments),
            counter("sweeps_total", "Full scans of a spool.", counts.sweeps),
            counter(
                "overflows_total",
                "Times that notifications of changes were lost.",
                counts.overflows,
            ),
            counter("pauses_total", "Pauses for lack of space.", counts.pauses),
            counter(
                "forgotten_total",
                "Purged state entries of files missing for long.",
                counts.forgotten,
            ),
        ]
    }

    fn gauge_metrics(&self) -> [Metric; 15] {
        let lag = self.spools.iter().map(|spool| spool.lag_ms).max();
        let stalled = self.spools.iter().filter(|spool| spool.stalled_ms > 0);
        [
            gauge(
                "segment_sequence",
                "Number of the open segment.",
                self.segment,
            ),
            gauge(
                "paused",
                "1 if work is paused for lack of space, 0 otherwise.",
                u64::from(self.state == DaemonState::Paused),
            ),
            gauge(
                "queue_files",
                "Files that wait to be scanned.",
                self.queue as u64,
            ),
            gauge(
                "resting_files",
                "Files that may still be written.",
                self.resting as u64,
            ),
            gauge(
                "failing_files",
                "Files that could not be read and will be retried.",
                self.failing as u64,
            ),
            gauge(
                "quarantined_files",
                "Unreadable files that are skipped until they change.",
                self.quarantined as u64,
            ),
            gauge(
                "locked_files",
                "Mailboxes that have been locked for longer than watch.lock_timeout.",
                self.locked as u64,
            ),
            gauge(
                "open_segment_bytes",
                "Committed bytes of the open segment.",
                self.committed_bytes,
            ),
            gauge(
                "stalled_spools",
                "Spools whose file system does not answer.",
                stalled.count() as u64,
            ),
            gauge(
                "missing_spools",
                "Spools that do not exist or are empty although they were not.",
                self.spools_in(SpoolState::Missing),
            ),
            gauge(
                "unreadable_spools",
                "Spools with folders that cannot be read.",
                self.spools_in(SpoolState::Unreadable),
            ),
            Metric {
                value: MetricValue::Millis(lag.unwrap_or(0)),
                ..gauge(
                    "lag_seconds",
                    "Time for which the oldest work has been due.",
                    0,
                )
            },
            gauge(
                "start_time_seconds",
                "Time of the start, in seconds since 1970.",
                seconds(self.started),
            ),
            gauge(
                "last_sealed_timestamp_seconds",
                "Time of the last sealing of a segment, in seconds since 1970; 0 if unknown.",
                seconds(self.last_sealed.as_ref().and_then(|last| last.time)),
            ),
            gauge(
                "last_error_timestamp_seconds",
                "Time of the last error, in seconds since 1970; 0 without one.",
                seconds(self.last_error.time),
            ),
        ]
    }

    /// Number of spools in this state.
    fn spools_in(&self, state: SpoolState) -> u64 {
        let spools = self.spools.iter();
        spools.filter(|spool| spool.state == state).count() as u64
    }
}

fn seconds(time: Option<UnixTime>) -> u64 {
    time.map_or(0, |time| time.seconds)
}

fn counter(name: &'static str, help: &'static str, value: u64) -> Metric {
    Metric {
        kind: MetricKind::Counter,
        name,
        help,
        value: MetricValue::Count(value),
    }
}

fn gauge(name: &'static str, help: &'static str, value: u64) -> Metric {
    Metric {
        kind: MetricKind::Gauge,
        name,
        help,
        value: MetricValue::Count(value),
    }
}

impl Metric {
    fn write(&self, text: &mut String) {
        write_header(text, self.name, self.help, self.kind);
        // Writing to a String does not fail.
        let _ = writeln!(text, "urlspool_{} {}", self.name, self.value);
    }
}

impl LabelledCounter<'_> {
    /// Writes a value for each of `kinds`, 0 for those that did not happen.
    fn write(&self, text: &mut String, kinds: &[&str]) {
        write_header(text, self.name, self.help, MetricKind::Counter);
        for kind in kinds {
            let value = self.counts.get(kind).copied().unwrap_or(0);
            // Writing to a String does not fail.
            let _ = writeln!(text, "urlspool_{}{{kind=\"{kind}\"}} {value}", self.name);
        }
    }
}

fn write_header(text: &mut String, name: &str, help: &str, kind: MetricKind) {
    let kind = kind.name();
    // Writing to a String does not fail.
    let _ = writeln!(
        text,
        "# HELP urlspool_{name} {help}\n# TYPE urlspool_{name} {kind}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let spool = crate::daemon::status::SpoolStatus {
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
