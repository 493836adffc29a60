//! What is counted, as Prometheus reads it and as `urlspool status` prints it. Labels come from the configuration only.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::daemon::schedule::{Failure, ReadErrorKind};
use crate::diagnostic::{DiagnosticKind, Event};
use crate::limits::REPORTED_FAILURES;

/// What was counted since the start.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Counters {
    /// Looks at files that held something new.
    pub(crate) files_read: u64,
    /// Messages searched; some may not be committed yet.
    pub(crate) messages_read: u64,
    /// Messages met again.
    pub(crate) repeated: u64,
    /// Messages committed.
    pub(crate) messages: u64,
    /// Records committed.
    pub(crate) records: u64,
    /// Commits.
    pub(crate) commits: u64,
    /// Segments sealed.
    pub(crate) segments: u64,
    /// Looks at everything.
    pub(crate) sweeps: u64,
    /// Times that notices were lost.
    pub(crate) overflows: u64,
    /// Pauses for want of room.
    pub(crate) pauses: u64,
    /// Files, messages and mailboxes that were gone for long and are forgotten.
    pub(crate) forgotten: u64,
    /// Tries to read a file that failed, by the sort of error.
    pub(crate) read_errors: BTreeMap<&'static str, u64>,
    /// What was wrong with sources, by kind.
    pub(crate) events: BTreeMap<&'static str, u64>,
}

impl Counters {
    /// Adds what others have counted.
    pub(crate) fn add(&mut self, other: &Counters) {
        let Counters {
            files_read,
            messages_read,
            repeated,
            messages,
            records,
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
        self.commits += commits;
        self.segments += segments;
        self.sweeps += sweeps;
        self.overflows += overflows;
        self.pauses += pauses;
        self.forgotten += forgotten;
        for (all, others) in [
            (&mut self.read_errors, read_errors),
            (&mut self.events, events),
        ] {
            for (kind, times) in others {
                *all.entry(kind).or_default() += times;
            }
        }
    }

    /// Counters an event.
    pub(crate) fn event(&mut self, event: &Event) {
        *self.events.entry(event.diagnostic.kind.name()).or_default() += 1;
    }
}

/// How the daemon stands.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Status {
    /// `running`, `paused` or `stopping`.
    pub state: &'static str,
    /// Why it is paused.
    pub why: Option<String>,
    /// The segment that is being written.
    pub segment: u64,
    /// Bytes in it that are committed.
    pub committed_bytes: u64,
    /// Files that are to be looked at.
    pub queue: usize,
    /// Files that are not at rest yet.
    pub resting: usize,
    /// Files that could not be read and will be tried again.
    pub failing: usize,
    /// Files that could not be read for so long that they are left alone until they change.
    pub quarantined: usize,
    /// Some of both.
    pub failures: Vec<Failure>,
    /// The spools.
    pub spools: Vec<SpoolStatus>,
    /// The last thing that was wrong.
    pub last_error: Option<String>,
    pub(crate) counts: Counters,
}

/// How a spool stands.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SpoolStatus {
    /// Its path.
    pub path: String,
    /// Whether it is there.
    pub present: bool,
    /// Mailboxes on file systems that are not there: nothing of them is forgotten.
    pub absent: u64,
    /// Whether notices come from the kernel; else it is looked at from time to time.
    pub notices: bool,
    /// Files in it at the last look.
    pub files: u64,
    /// Milliseconds that something has been waiting to be done.
    pub lag_ms: u64,
    /// Milliseconds for which its file system has not answered; 0 while it does.
    pub stalled_ms: u64,
}

impl Status {
    /// Adds how another reader's spools stand.
    pub(crate) fn add(&mut self, other: Status) {
        if other.state == "stopping" {
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

    /// Whether none of the spools can be read.
    pub(crate) fn is_stalled(&self) -> bool {
        !self.spools.is_empty() && self.spools.iter().all(|spool| spool.stalled_ms > 0)
    }

    /// One line of JSON.
    #[must_use]
    pub fn json(&self) -> Vec<u8> {
        crate::record::json_line(self)
    }

    /// Prometheus' text format.
    #[must_use]
    pub fn metrics(&self) -> String {
        let counts = &self.counts;
        let mut text = String::new();
        let counters: [(&str, &str, u64); 11] = [
            (
                "files_read_total",
                "Looks at files that held something new.",
                counts.files_read,
            ),
            ("messages_total", "Messages committed.", counts.messages),
            (
                "messages_repeated_total",
                "Messages met again and passed over.",
                counts.repeated,
            ),
            ("records_total", "Records committed.", counts.records),
            ("commits_total", "Commits.", counts.commits),
            ("segments_sealed_total", "Segments sealed.", counts.segments),
            ("sweeps_total", "Looks at everything.", counts.sweeps),
            (
                "overflows_total",
                "Times that notices were lost.",
                counts.overflows,
            ),
            ("pauses_total", "Pauses for want of room.", counts.pauses),
            (
                "forgotten_total",
                "Entries of the state on what was gone for long.",
                counts.forgotten,
            ),
            (
                "segment_sequence",
                "The segment that is being written.",
                self.segment,
            ),
        ];
        let lag = self
            .spools
            .iter()
            .map(|spool| spool.lag_ms)
            .max()
            .unwrap_or(0);
        let stalled = self
            .spools
            .iter()
            .filter(|spool| spool.stalled_ms > 0)
            .count();
        let gauges: [(&str, &str, u64); 8] = [
            (
                "paused",
                "Whether work is paused for want of room.",
                u64::from(self.state == "paused"),
            ),
            (
                "queue_files",
                "Files that are to be looked at.",
                self.queue as u64,
            ),
            (
                "resting_files",
                "Files that are not at rest yet.",
                self.resting as u64,
            ),
            (
                "failing_files",
                "Files that could not be read and will be tried again.",
                self.failing as u64,
            ),
            (
                "quarantined_files",
                "Files left alone until they change.",
                self.quarantined as u64,
            ),
            (
                "open_segment_bytes",
                "Committed bytes of the open segment.",
                self.committed_bytes,
            ),
            (
                "stalled_spools",
                "Spools whose file system does not answer.",
                stalled as u64,
            ),
            ("lag_milliseconds", "How long the oldest work waits.", lag),
        ];
        let families = counters
            .map(|row| (row, "counter"))
            .into_iter()
            .chain(gauges.map(|row| (row, "gauge")));
        for ((name, help, value), kind) in families {
            let kind = if name.ends_with("_total") {
                kind
            } else {
                "gauge"
            };
            // Writing to a String does not fail.
            let _ = write!(
                text,
                "# HELP urlspool_{name} {help}\n# TYPE urlspool_{name} {kind}\nurlspool_{name} {value}\n"
            );
        }
        let names = (
            DiagnosticKind::ALL.map(DiagnosticKind::name),
            ReadErrorKind::ALL.map(ReadErrorKind::name),
        );
        labelled(
            &mut text,
            "events",
            "What was wrong with sources.",
            &names.0,
            &counts.events,
        );
        labelled(
            &mut text,
            "read_errors",
            "Tries to read a file that failed.",
            &names.1,
            &counts.read_errors,
        );
        text
    }
}

/// A counter for each of `kinds`, also those that did not happen.
fn labelled(
    text: &mut String,
    name: &str,
    help: &str,
    kinds: &[&str],
    counts: &BTreeMap<&'static str, u64>,
) {
    let name = format!("urlspool_{name}_total");
    // Writing to a String does not fail.
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
    for kind in kinds {
        let _ = writeln!(
            text,
            "{name}{{kind=\"{kind}\"}} {}",
            counts.get(kind).copied().unwrap_or(0)
        );
    }
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
}
