//! Where a scan's yield goes: records, rejects, events and progress.

use std::io::{self, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::terminal::harmless;
use crate::diagnostic::{DiagnosticKind, Event};
use crate::pipeline::Report;
use crate::record::{self, Summary};
use crate::sink::{FileSink, Sink};

/// The report of `urlspool scan`.
pub(super) struct ScanReport {
    pub(super) records: Box<dyn Sink>,
    pub(super) rejects: Option<FileSink>,
    pub(super) events: Events,
    pub(super) bar: ProgressBar,
    /// Whether some input failed, and whether anything was remarked upon.
    pub(super) failed: bool,
    pub(super) remarked: bool,
}

/// Where events go.
pub(super) enum Events {
    /// A file, as JSON lines.
    File(FileSink),
    /// Standard error, as text.
    Stderr {
        /// In colours.
        color: bool,
        /// Only those for which the run ends with status 1.
        quiet: bool,
    },
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
        self.failed |= event.diagnostic.kind.is_failure();
        self.remarked = true;
        match &mut self.events {
            Events::File(sink) => {
                let mut line = Vec::new();
                record::write_event(event, &mut line);
                sink.put(&line).map(|_| ())
            }
            Events::Stderr { color, quiet } => {
                if !*quiet || event.diagnostic.kind.is_failure() {
                    let line = in_words(event, *color);
                    self.bar.suspend(|| {
                        // Standard error that is gone can be told nothing.
                        let _ = writeln!(io::stderr(), "{line}");
                    });
                }
                Ok(())
            }
        }
    }

    fn progress(&mut self, balance: &Summary) {
        self.bar.set_position(balance.bytes_read);
        self.bar.set_message(format!(
            "{} messages, {} URLs",
            balance.messages, balance.records
        ));
    }
}

impl ScanReport {
    /// Hands over what is still held.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.bar.finish_and_clear();
        self.records.finish()?;
        if let Some(rejects) = &mut self.rejects {
            rejects.finish()?;
        }
        match &mut self.events {
            Events::File(sink) => sink.finish(),
            Events::Stderr { .. } => Ok(()),
        }
    }
}

/// A bar over so many bytes, on standard error.
pub(super) fn bar(total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(
        "{bytes}/{total_bytes} {bar:30} {bytes_per_sec} {eta} left, {msg}",
    );
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// `urlspool: PATH:OFFSET: kind: message`
fn in_words(event: &Event, color: bool) -> String {
    let names = event
        .source
        .member()
        .iter()
        .map(|name| format!("!{}", String::from_utf8_lossy(name)));
    let path =
        harmless(&(event.source.path.to_string_lossy().into_owned() + &names.collect::<String>()));
    let offset = event
        .diagnostic
        .offset
        .map_or(String::new(), |offset| format!(":{offset}"));
    let kind = event.diagnostic.kind;
    let (on, off) = match (color, kind.is_failure(), kind) {
        (false, ..) => ("", ""),
        (true, true, _) => ("\u{1b}[31m", "\u{1b}[0m"),
        (true, false, DiagnosticKind::Skip) => ("\u{1b}[2m", "\u{1b}[0m"),
        (true, false, _) => ("\u{1b}[33m", "\u{1b}[0m"),
    };
    format!(
        "urlspool: {path}{offset}: {on}{}{off}: {}",
        kind.name(),
        harmless(&event.diagnostic.message)
    )
}
