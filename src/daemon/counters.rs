//! Counters since the start. The JSON keys are the field names; the names of the metrics are in `service/metrics.rs`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::diagnostic::Event;

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
