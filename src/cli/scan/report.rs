//! The receiver of a scan's results: records, rejects and events. Also the progress bar and the
//! summary on standard error.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustix::stdio::stdout;

use super::super::args::ScanArgs;
use super::super::terminal::escaped;
use super::output::{OutputContent, SharedOutputs};
use urlspool_files::pipeline::{Job, NamedCounts, Report, Summary};
use urlspool_files::sink::OutputPlace;
use urlspool_record::record;
use urlspool_record::record::Record;
use urlspool_sources::walk::{self, WalkStep};
use urlspool_store::load::{RecordFeed, ScannedFiles};
use urlspool_text::diagnostic::{DiagnosticKind, Event, counted};

/// The report of `urlspool scan`.
pub(super) struct ScanReport {
    pub(super) outputs: SharedOutputs,
    pub(super) events: EventOutput,
    pub(super) bar: ProgressBar,
    pub(super) counts: EventCounts,
    /// The file with the latest ambiguity on standard error. Others in it are only counted: an
    /// archive may have one in each message.
    pub(super) ambiguous: PathBuf,
    pub(super) unprinted: u64,
    /// The paths that the user named.
    pub(super) named: HashSet<PathBuf>,
    /// The destination of loaded records, and the files that they come from.
    pub(super) loaded: Option<(RecordFeed, ScannedFiles)>,
    /// `true` once the reader of the records closed its end.
    pub(super) is_cut_short: bool,
}

pub(super) enum EventOutput {
    /// The output of JSON lines named by `--events`.
    Lines,
    /// Standard error, as text.
    Stderr {
        has_colors: bool,
        /// `true` to report only failures, which cause exit code 1.
        quiet: bool,
    },
}

/// Counts of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EventCounts {
    /// Input that could not be read completely.
    pub(super) failures: u64,
    /// All other events: no data is lost, or it was skipped on purpose.
    pub(super) notes: u64,
}

impl Report for ScanReport {
    fn lines(&mut self, lines: &[u8]) -> io::Result<bool> {
        let wants_more = or_error(self.outputs.lock().put(OutputContent::Records, lines))?;
        self.is_cut_short |= !wants_more;
        Ok(wants_more)
    }

    fn records(&mut self, records: Vec<Record>) -> io::Result<bool> {
        if let Some((feed, _)) = &mut self.loaded {
            return Ok(feed.put(&records));
        }
        or_error(self.outputs.lock().put_records(records))?;
        Ok(true)
    }

    fn rejects(&mut self, batch: &[u8]) -> io::Result<()> {
        or_error(self.outputs.lock().put(OutputContent::Rejects, batch)).map(|_| ())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        let is_failure = event.diagnostic.kind.is_failure();
        if let Some((_, files)) = &mut self.loaded
            && (is_failure || event.diagnostic.kind == DiagnosticKind::Vanished)
        {
            files.add_broken(&event.source.path);
        }
        let is_failure = is_failure || is_skipped_input(event, &self.named);
        if is_failure {
            self.counts.failures += 1;
        } else {
            self.counts.notes += 1;
        }
        let is_ambiguous = event.diagnostic.kind == DiagnosticKind::Ambiguous;
        match &self.events {
            EventOutput::Lines => {
                let mut line = Vec::new();
                record::write_event(event, &mut line);
                or_error(self.outputs.lock().put(OutputContent::Events, &line)).map(|_| ())
            }
            EventOutput::Stderr { quiet: true, .. } if !is_failure => Ok(()),
            _ if is_ambiguous && self.ambiguous == *event.source.path => {
                self.unprinted += 1;
                Ok(())
            }
            EventOutput::Stderr { has_colors, .. } => {
                print_event(event, *has_colors, &self.bar);
                if is_ambiguous {
                    self.ambiguous = event.source.path.to_path_buf();
                }
                Ok(())
            }
        }
    }

    fn file_read(&mut self, path: &Path) {
        if let Some((_, files)) = &mut self.loaded {
            files.add_read(path);
        }
    }

    fn progress(&mut self, summary: &Summary) {
        show_progress(&self.bar, summary);
    }
}

/// Returns `true` if one of the inputs `named` by the user was not read, such as a picture. In a
/// folder, such files are common.
pub(in crate::cli) fn is_skipped_input(event: &Event, named: &HashSet<PathBuf>) -> bool {
    event.diagnostic.kind == DiagnosticKind::Skip
        && event.source.member().is_empty()
        && named.contains(&*event.source.path)
}

/// Reports an event on standard error, above the bar.
pub(in crate::cli) fn print_event(event: &Event, has_colors: bool, bar: &ProgressBar) {
    let line = event_text(event, has_colors);
    // An error on standard error cannot be reported anywhere.
    bar.suspend(|| drop(writeln!(io::stderr(), "{line}")));
}

/// Converts a result for the pipeline. The outputs keep the error itself.
fn or_error<T>(put: Option<T>) -> io::Result<T> {
    put.ok_or_else(|| io::Error::other("an output cannot be written"))
}

/// Formats an event as `urlspool: PATH:OFFSET: kind: message`, or `urlspool: cannot read PATH:
/// reason`.
fn event_text(event: &Event, has_colors: bool) -> String {
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
        let verb = colored("cannot read", kind, has_colors);
        return format!("urlspool: {verb} {path}{offset}: {message}");
    }
    let name = colored(kind.name(), kind, has_colors);
    format!("urlspool: {path}{offset}: {name}: {message}")
}

/// Colours the words for a kind: failures red, skips dimmed, all others yellow.
fn colored(words: &str, kind: DiagnosticKind, has_colors: bool) -> String {
    let code = match kind {
        _ if !has_colors => return words.to_owned(),
        _ if kind.is_failure() => 31,
        DiagnosticKind::Skip => 2,
        _ => 33,
    };
    format!("\u{1b}[{code}m{words}\u{1b}[0m")
}

/// Creates the progress bar of a scan, hidden if it is not wanted.
pub(super) fn progress_bar(args: &ScanArgs, records: &OutputPlace, job: &Job) -> ProgressBar {
    // On a terminal, or on a pipe that may end in a pager, the bar would be drawn over the records.
    let is_on_screen =
        *records == OutputPlace::Stdout && (is_pipe() || std::io::stdout().is_terminal());
    if args.general.quiet || is_on_screen {
        ProgressBar::hidden()
    } else {
        bar_on_stderr(job)
    }
}

/// Creates the progress bar of a command that prints no output before it has read all input. Hidden
/// if standard error is not a terminal.
pub(in crate::cli) fn bar_on_stderr(job: &Job) -> ProgressBar {
    if io::stderr().is_terminal() {
        visible_bar(total_bytes(job))
    } else {
        ProgressBar::hidden()
    }
}

/// Shows how much was read so far.
pub(in crate::cli) fn show_progress(bar: &ProgressBar, summary: &Summary) {
    bar.set_position(summary.bytes_read);
    bar.set_message(format!(
        "{} messages, {} records",
        summary.messages, summary.records
    ));
}

/// Returns `true` if the records go through a pipe, perhaps to a pager, whose screen a message
/// would overwrite.
pub(super) fn may_be_paged(records: &OutputPlace) -> bool {
    *records == OutputPlace::Stdout && is_pipe()
}

fn is_pipe() -> bool {
    stdout()
        .try_clone_to_owned()
        .and_then(|fd| File::from(fd).metadata())
        .is_ok_and(|metadata| metadata.file_type().is_fifo())
}

/// A progress bar on standard error.
fn visible_bar(total_bytes: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total_bytes, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(template(total_bytes));
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn template(total_bytes: Option<u64>) -> &'static str {
    match total_bytes {
        Some(_) => "{bytes}/{total_bytes} {bar:12} {bytes_per_sec} {eta} left, {wide_msg}",
        None => "{bytes} {bytes_per_sec}, {wide_msg}",
    }
}

/// Returns the number of bytes to read; `None` if an input is a stream. Walks all roots.
fn total_bytes(job: &Job) -> Option<u64> {
    match &job.items {
        Some(items) => walk::walk_items(items, &job.filter).map(step_bytes).sum(),
        None => walk::walk(&job.roots, &job.filter, job.links)
            .map(step_bytes)
            .sum(),
    }
}

fn step_bytes(step: WalkStep) -> Option<u64> {
    match step {
        WalkStep::File(file) => Some(file.size),
        WalkStep::Part { file, item } => Some(item.end.min(file.size).saturating_sub(item.start)),
        WalkStep::Stdin | WalkStep::Stream(_) | WalkStep::Repository(_) => None,
        WalkStep::Skipped { .. } | WalkStep::Failed(_) => Some(0),
    }
}

/// Formats the summary as four lines.
pub(super) fn summary_text(summary: &Summary) -> String {
    format!(
        "urlspool: {} files: {} read, {}, {}\n\
         urlspool: {} members: {} read, {}, {}; {} bytes unpacked\n\
         urlspool: {} messages: {} scanned, {}; {} bytes\n\
         urlspool: {} candidates, {} unwrapped: {} records, {}, {}, {} duplicates; {} records by \
         another author than the sender of the message",
        summary.files,
        summary.files_read,
        by_name(&summary.files_skipped, "skipped"),
        by_name(&summary.files_failed, "failed"),
        summary.members,
        summary.members_read,
        by_name(&summary.members_skipped, "skipped"),
        by_name(&summary.members_failed, "failed"),
        summary.bytes_unpacked,
        summary.messages,
        summary.messages_scanned,
        by_name(&summary.messages_skipped, "skipped"),
        summary.bytes_read,
        summary.candidates,
        summary.unwrapped,
        summary.records,
        by_name(&summary.rejects, "rejects"),
        by_name(&summary.filtered, "filtered"),
        summary.duplicates,
        summary.other_authors,
    )
}

/// Formats the last line on a terminal.
pub(super) fn last_line(summary: &Summary, counts: EventCounts, elapsed: Duration) -> String {
    let files = summary.files_read + summary.files_failed.sum();
    let mut line = format!(
        "urlspool: {} in {} of {} ({}), {:.1} s",
        counted(summary.records, "record", "records"),
        counted(summary.messages, "message", "messages"),
        counted(files, "file", "files"),
        HumanBytes(summary.bytes_read),
        elapsed.as_secs_f64(),
    );
    for (number, one, many) in [
        (summary.filtered.sum(), "URL filtered", "URLs filtered"),
        (summary.duplicates, "duplicate", "duplicates"),
        (counts.failures, "failure", "failures"),
        (counts.notes, "note", "notes"),
    ] {
        if number > 0 {
            line += ", ";
            line += &counted(number, one, many);
        }
    }
    line
}

/// Formats the sum of the counts, and in parentheses the counts: `2 skipped (1 image, 1 empty)`.
fn by_name(counts: &NamedCounts, word: &str) -> String {
    let sum = counts.sum();
    let counts = counts.by_name().into_iter();
    let counts: Vec<String> = counts
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    if counts.is_empty() {
        format!("{sum} {word}")
    } else {
        format!("{sum} {word} ({})", counts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_no_total() {
        let job = |roots: &[&str]| Job {
            roots: roots.iter().map(Into::into).collect(),
            ..Job::default()
        };
        assert_eq!(total_bytes(&job(&["Cargo.toml", "-"])), None);
        assert_eq!(total_bytes(&job(&["/dev/null"])), None);
        assert!(total_bytes(&job(&["Cargo.toml"])).is_some_and(|total| 0 < total));
        assert!(!template(None).contains("total"));
    }

    /// The bar used to take two lines of a terminal of 80 columns, and each redraw left one behind.
    #[test]
    fn the_counts_are_cut_at_the_width_of_the_terminal() {
        for total in [None, Some(1)] {
            assert!(template(total).ends_with("{wide_msg}"));
        }
        let fixed = "1023.99 MiB/1023.99 MiB  1023.99 MiB/s 59m left, ";
        assert!(fixed.len() + 12 + "12,345 messages".len() <= 80);
    }

    #[test]
    fn the_last_line_has_the_totals() {
        let mut summary = Summary::default();
        summary.read_file();
        summary.records = 1_201;
        summary.messages = 1;
        summary.duplicates = 2;
        summary.bytes_read = 1;
        let counts = EventCounts {
            failures: 0,
            notes: 9,
        };
        assert_eq!(
            last_line(&summary, counts, Duration::from_millis(1_940)),
            "urlspool: 1,201 records in 1 message of 1 file (1 B), 1.9 s, 2 duplicates, 9 notes"
        );
    }
}
