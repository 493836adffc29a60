//! The output of a run of the library, in memory.

use std::io;

use serde_json::Value;
use urlspool::Summary;
use urlspool_files::pipeline::Report;
use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::diagnostic::Event;

use super::{lines, url};

/// Everything that a run reports.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct RunOutput {
    pub(crate) records: Vec<u8>,
    pub(crate) rejects: Vec<u8>,
    pub(crate) events: Vec<Event>,
    /// Result of the run, set at its end.
    pub(crate) summary: Summary,
}

impl Report for RunOutput {
    fn lines(&mut self, lines: &[u8]) -> io::Result<bool> {
        self.records.extend_from_slice(lines);
        Ok(true)
    }

    fn rejects(&mut self, batch: &[u8]) -> io::Result<()> {
        self.rejects.extend_from_slice(batch);
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.events.push(event.clone());
        Ok(())
    }
}

impl RunOutput {
    /// Parses the records.
    pub(crate) fn lines(&self) -> Vec<Value> {
        lines(&self.records)
    }

    /// Returns the URLs and fragments of the records.
    pub(crate) fn urls(&self) -> Vec<String> {
        self.lines().iter().map(url).collect()
    }

    /// Checks the kinds of the events.
    #[track_caller]
    pub(crate) fn check_kinds(&self, kinds: &[DiagnosticKind]) {
        assert_eq!(self.kinds(), kinds, "{:?}", self.events);
    }

    /// Returns the kinds of the events.
    pub(crate) fn kinds(&self) -> Vec<DiagnosticKind> {
        self.events
            .iter()
            .map(|event| event.diagnostic.kind)
            .collect()
    }
}
