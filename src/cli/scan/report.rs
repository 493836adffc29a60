//! The receiver of a scan's results: records, rejects, events and progress.

use std::io::{self, Write};
#[cfg(feature = "load")]
use std::path::Path;

use indicatif::ProgressBar;

use super::super::args::When;
use super::super::terminal::escaped;
use super::outputs::SharedOutputs;
use super::progress::show_progress;
use crate::diagnostic::{DiagnosticKind, Event};
#[cfg(feature = "load")]
use crate::load::{RecordFeed, ScannedFiles};
use crate::pipeline::Report;
#[cfg(any(feature = "load", feature = "parquet"))]
use crate::record::Record;
use crate::record::{self, Summary};

/// The report of `urlspool scan`.
pub(super) struct ScanReport {
    pub(super) outputs: SharedOutputs,
    pub(super) events: EventOutput,
    pub(super) bar: ProgressBar,
    pub(super) counts: EventCounts,
    /// The way of the records to a database, and the files that they come from, if they are loaded.
    #[cfg(feature = "load")]
    pub(super) loaded: Option<LoadedRecords>,
    /// `true` after the reader of the records has closed its end.
    pub(super) is_cut_short: bool,
}

/// The records' way to the load, and the files that they come from.
#[cfg(feature = "load")]
pub(super) struct LoadedRecords {
    pub(super) feed: RecordFeed,
    pub(super) files: ScannedFiles,
}

/// The output of events.
pub(super) enum EventOutput {
    /// The output of JSON lines that `--events` names.
    Lines,
    /// Standard error, as text.
    Stderr {
        color: EventColor,
        /// `true` to report only failures, for which the exit code is 1.
        quiet: bool,
    },
}

/// The use of colours for events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum EventColor {
    On,
    Off,
}

impl EventColor {
    /// The use of colours on standard error.
    pub(in crate::cli) fn on_stderr(when: When) -> EventColor {
        if when.colors(&io::stderr()) {
            EventColor::On
        } else {
            EventColor::Off
        }
    }
}

/// Numbers of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EventCounts {
    /// Input that could not be read whole.
    pub(super) failures: u64,
    /// Everything else: nothing is lost, or it was skipped on purpose.
    pub(super) notes: u64,
}

impl Report for ScanReport {
    fn lines(&mut self, lines: &[u8]) -> io::Result<bool> {
        let wants_more = or_error(self.outputs.lock().put_lines(lines))?;
        self.is_cut_short |= !wants_more;
        Ok(wants_more)
    }

    #[cfg(any(feature = "load", feature = "parquet"))]
    fn records(&mut self, records: Vec<Record>) -> io::Result<bool> {
        #[cfg(feature = "load")]
        if let Some(loaded) = &mut self.loaded {
            return Ok(loaded.feed.put(&records));
        }
        #[cfg(feature = "parquet")]
        or_error(self.outputs.lock().put_records(records))?;
        Ok(true)
    }

    fn rejects(&mut self, batch: &[u8]) -> io::Result<()> {
        or_error(self.outputs.lock().put_rejects(batch))
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        let is_failure = event.diagnostic.kind.is_failure();
        #[cfg(feature = "load")]
        if let Some(loaded) = &mut self.loaded
            && (is_failure || event.diagnostic.kind == DiagnosticKind::Vanished)
        {
            loaded.files.add_broken(&event.source.path);
        }
        if is_failure {
            self.counts.failures += 1;
        } else {
            self.counts.notes += 1;
        }
        match &self.events {
            EventOutput::Lines => {
                let mut line = Vec::new();
                record::write_event(event, &mut line);
                or_error(self.outputs.lock().put_events(&line))
            }
            EventOutput::Stderr { quiet: true, .. } if !is_failure => Ok(()),
            EventOutput::Stderr { color, .. } => {
                print_event(event, *color, &self.bar);
                Ok(())
            }
        }
    }

    #[cfg(feature = "load")]
    fn file_read(&mut self, path: &Path) {
        if let Some(loaded) = &mut self.loaded {
            loaded.files.add_read(path);
        }
    }

    fn progress(&mut self, summary: &Summary) {
        show_progress(&self.bar, summary);
    }
}

/// Reports an event on standard error, above the bar.
pub(in crate::cli) fn print_event(event: &Event, color: EventColor, bar: &ProgressBar) {
    let line = event_text(event, color);
    // An error on standard error cannot be reported anywhere.
    bar.suspend(|| drop(writeln!(io::stderr(), "{line}")));
}

/// The result for the pipeline. The outputs keep the error itself.
fn or_error<T>(put: Option<T>) -> io::Result<T> {
    put.ok_or_else(|| io::Error::other("an output cannot be written"))
}

/// The line `urlspool: PATH:OFFSET: kind: message`, or `urlspool: cannot read PATH: reason`.
fn event_text(event: &Event, color: EventColor) -> String {
    let mut path = event.source.path.to_string_lossy().into_owned();
    for name in event.source.member() {
        path += "!";
        path += &String::from_utf8_lossy(name);
    }
    let path = escaped(&path);
    let offset = event
        .diagnostic
        .offset
        .map_or(String::new(), |offset| format!(":{offset}"));
    let kind = event.diagnostic.kind;
    let message = escaped(&event.diagnostic.message);
    if kind == DiagnosticKind::Unreadable {
        let verb = colored("cannot read", kind, color);
        return format!("urlspool: {verb} {path}{offset}: {message}");
    }
    let name = colored(kind.name(), kind, color);
    format!("urlspool: {path}{offset}: {name}: {message}")
}

/// Words for a kind: failures in red, skips dimmed, all others in yellow.
fn colored(words: &str, kind: DiagnosticKind, color: EventColor) -> String {
    let code = match kind {
        _ if color == EventColor::Off => return words.to_owned(),
        _ if kind.is_failure() => 31,
        DiagnosticKind::Skip => 2,
        _ => 33,
    };
    format!("\u{1b}[{code}m{words}\u{1b}[0m")
}
