//! The outputs of a scan: records, rejects, events and progress.

use std::io::{self, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::super::terminal::escaped;
use crate::diagnostic::{DiagnosticKind, Event};
use crate::pipeline::Report;
use crate::record::{self, Summary};
use crate::sink::{FileSink, Sink};

/// The report of `urlspool scan`.
pub(super) struct ScanReport {
    pub(super) records: Box<dyn Sink>,
    /// The output of rejects, if they are wanted.
    pub(super) rejects: Option<FileSink>,
    pub(super) events: EventOutput,
    pub(super) bar: ProgressBar,
    /// `true` if some input failed.
    pub(super) has_failures: bool,
    /// `true` if there was any event.
    pub(super) has_events: bool,
}

/// The output of events.
pub(super) enum EventOutput {
    /// A file of JSON lines.
    File(FileSink),
    /// Standard error, as text.
    Stderr {
        color: EventColor,
        /// `true` to report only failures, for which the exit code is 1.
        quiet: bool,
    },
}

/// The use of colours for events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventColor {
    On,
    Off,
}

impl Report for ScanReport {
    fn records(&mut self, batch: &[u8]) -> io::Result<bool> {
        self.records.put(batch)
    }

    fn rejects(&mut self, batch: &[u8]) -> io::Result<()> {
        self.rejects
            .as_mut()
            .map_or(Ok(()), |sink| sink.put(batch).map(|_| ()))
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        let is_failure = event.diagnostic.kind.is_failure();
        self.has_failures |= is_failure;
        self.has_events = true;
        match &mut self.events {
            EventOutput::File(sink) => {
                let mut line = Vec::new();
                record::write_event(event, &mut line);
                sink.put(&line).map(|_| ())
            }
            EventOutput::Stderr { quiet: true, .. } if !is_failure => Ok(()),
            EventOutput::Stderr { color, .. } => {
                let line = event_text(event, *color);
                // An error on standard error cannot be reported anywhere.
                self.bar.suspend(|| drop(writeln!(io::stderr(), "{line}")));
                Ok(())
            }
        }
    }

    fn progress(&mut self, summary: &Summary) {
        self.bar.set_position(summary.bytes_read);
        self.bar.set_message(format!(
            "{} messages, {} URLs",
            summary.messages, summary.records
        ));
    }
}

impl ScanReport {
    /// Removes the progress bar and writes what the outputs have buffered.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.bar.finish_and_clear();
        self.records.finish()?;
        if let Some(rejects) = &mut self.rejects {
            rejects.finish()?;
        }
        match &mut self.events {
            EventOutput::File(sink) => sink.finish(),
            EventOutput::Stderr { .. } => Ok(()),
        }
    }
}

/// A progress bar of `total_bytes` bytes on standard error.
pub(super) fn progress_bar(total_bytes: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total_bytes), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(
        "{bytes}/{total_bytes} {bar:30} {bytes_per_sec} {eta} left, {msg}",
    );
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The line `urlspool: PATH:OFFSET: kind: message`.
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
    let kind = colored(event.diagnostic.kind, color);
    let message = escaped(&event.diagnostic.message);
    format!("urlspool: {path}{offset}: {kind}: {message}")
}

/// The name of a kind: failures in red, skips dimmed, all others in yellow.
fn colored(kind: DiagnosticKind, color: EventColor) -> String {
    let name = kind.name();
    let code = match kind {
        _ if color == EventColor::Off => return name.to_owned(),
        _ if kind.is_failure() => 31,
        DiagnosticKind::Skip => 2,
        _ => 33,
    };
    format!("\u{1b}[{code}m{name}\u{1b}[0m")
}
