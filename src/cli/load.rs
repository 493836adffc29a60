//! `urlspool load`.

use std::fmt;
use std::io::IsTerminal;
use std::path::PathBuf;

use indicatif::ProgressBar;

use super::args::LoadArgs;
use super::error::{CommandError, CommandResult, Exit};
use super::signals::{EndSignal, stop_on_signals};
use super::terminal::{escaped, print_message};
use urlspool_store::load::{
    self, Credentials, LoadCounts, LoadError, LoadErrorKind, LoadEvent, LoadJob, LoadMode,
    RetryEnd, Secret,
};
use urlspool_text::diagnostic::{counted, grouped};

/// Maximum number of bad lines, and of refused records, to name; the others are counted.
const NAMED_LINES: u64 = 20;

/// Number of failed attempts after which a busy server is reported.
const BUSY_ATTEMPTS: u32 = 4;

pub(super) fn load(args: &LoadArgs, is_quiet: bool) -> CommandResult {
    let mut report = StderrReport::below(ProgressBar::hidden());
    let job = job(args);
    let signal = match job.mode {
        LoadMode::Follow => stop_on_signals(&job.stop)?,
        // Uncommitted work is rolled back.
        LoadMode::Add | LoadMode::Replace | LoadMode::Prune => EndSignal::default(),
    };
    let counts =
        load::load(&job, &mut |event| report.report(event)).map_err(|error| load_error(&error))?;
    report.finish();
    let is_told = (args.replace || args.prune) && 0 < counts.removed;
    let is_wanted = args.verbose || is_told || std::io::stderr().is_terminal();
    if args.dry_run {
        let removed = counted(counts.removed, "row", "rows");
        print_message(format_args!(
            "urlspool: --dry-run changed nothing; --prune would remove {removed}"
        ));
    } else if is_wanted && !is_quiet {
        print_message(format_args!("urlspool: {}", summary(&counts)));
    }
    let failed = counts.bad_lines + counts.refused_records + counts.failed_files;
    Ok(if signal.has_come() && !signal.is_term() {
        Exit::Interrupted
    } else if failed == 0 {
        Exit::Done
    } else {
        Exit::SomeFailed
    })
}

fn job(args: &LoadArgs) -> LoadJob {
    let inputs = if args.paths.is_empty() {
        vec![PathBuf::from("-")]
    } else {
        args.paths.clone()
    };
    let mut job = LoadJob::new(args.into.clone(), inputs);
    if args.follow {
        job.mode = LoadMode::Follow;
    } else if args.replace {
        job.mode = LoadMode::Replace;
    } else if args.prune {
        job.mode = LoadMode::Prune;
    }
    job.is_dry_run = args.dry_run;
    job.deletes_segments = args.delete_segments;
    job.credentials = credentials();
    job
}

/// Returns the credentials from the environment.
pub(super) fn credentials() -> Credentials {
    let file = std::env::var_os("PGPASSFILE").map(PathBuf::from);
    let home = std::env::home_dir().map(|home| home.join(".pgpass"));
    Credentials {
        postgres_password: std::env::var("PGPASSWORD").ok().map(Secret::new),
        postgres_password_file: file.or(home),
        elasticsearch_api_key: secret("URLSPOOL_ELASTICSEARCH_API_KEY"),
        elasticsearch_password: secret("URLSPOOL_ELASTICSEARCH_PASSWORD"),
    }
}

/// Returns the secret in an environment variable, or `None` if it is empty.
fn secret(name: &str) -> Option<Secret> {
    let text = std::env::var(name).ok();
    text.filter(|text| !text.is_empty()).map(Secret::new)
}

/// Converts an error of a command that uses a loaded database.
pub(super) fn load_error(error: &LoadError) -> CommandError {
    let exit = match error.kind {
        LoadErrorKind::Unusable => Exit::Usage,
        LoadErrorKind::Unreachable | LoadErrorKind::Busy => Exit::Unreachable,
        LoadErrorKind::Locked => Exit::Locked,
        LoadErrorKind::Inconsistent => Exit::Inconsistent,
        LoadErrorKind::Io => Exit::Output,
    };
    CommandError::new(exit, error.to_string())
}

/// Formats the counts of a load as one line.
pub(super) fn summary(counts: &LoadCounts) -> String {
    let records = counted(counts.records, "record", "records");
    let mut text = format!("{records}, {} of them new", grouped(counts.added));
    for (count, one, many, words) in [
        (counts.removed, "row", "rows", "removed"),
        (counts.segments, "segment", "segments", "loaded"),
        (counts.known_segments, "segment", "segments", "known before"),
        (
            counts.other_lines,
            "line",
            "lines",
            "of other types skipped",
        ),
        (
            counts.bad_lines,
            "line that is",
            "lines that are",
            "not a record",
        ),
        (
            counts.refused_records,
            "record",
            "records",
            "refused by the server",
        ),
    ] {
        if count > 0 {
            text.push_str(&format!(", {} {words}", counted(count, one, many)));
        }
    }
    text
}

/// Reports on standard error.
#[derive(Debug)]
pub(super) struct StderrReport {
    /// The progress bar that the lines must not break.
    bar: ProgressBar,
    bad_lines: u64,
    refused_records: u64,
    /// Message and number of consecutive pauses for the same reason.
    paused: Option<(String, u64)>,
}

impl StderrReport {
    /// Creates a report for use while a progress bar is drawn.
    pub(super) fn below(bar: ProgressBar) -> StderrReport {
        StderrReport {
            bar,
            bad_lines: 0,
            refused_records: 0,
            paused: None,
        }
    }

    fn print(&self, line: fmt::Arguments<'_>) {
        self.bar.suspend(|| print_message(line));
    }

    /// Reports the number of bad lines that were not named.
    pub(super) fn finish(&self) {
        if NAMED_LINES < self.bad_lines {
            let more = self.bad_lines - NAMED_LINES;
            let more = counted(
                more,
                "more line is not a record",
                "more lines are not records",
            );
            self.print(format_args!("urlspool: {more}"));
        }
        if NAMED_LINES < self.refused_records {
            let more = self.refused_records - NAMED_LINES;
            let more = counted(more, "more record was refused", "more records were refused");
            self.print(format_args!("urlspool: {more} by the server"));
        }
    }
}

impl StderrReport {
    /// Prints an event, unless enough similar ones were printed.
    pub(super) fn report(&mut self, event: LoadEvent<'_>) {
        if let Some(text) = self.text(event) {
            self.print(format_args!("urlspool: {text}"));
        }
    }

    fn text(&mut self, event: LoadEvent<'_>) -> Option<String> {
        Some(match event {
            LoadEvent::BadLine { input, line, error } => {
                self.bad_lines += 1;
                if NAMED_LINES < self.bad_lines {
                    return None;
                }
                let (input, error) = (escaped(input), error.to_string());
                format!("{input}, line {line}: {}", escaped(&error))
            }
            LoadEvent::RefusedRecord {
                input,
                line,
                reason,
            } => {
                self.refused_records += 1;
                if NAMED_LINES < self.refused_records {
                    return None;
                }
                let (input, reason) = (escaped(input), escaped(reason));
                format!("{input}, line {line}: the server refused the record: {reason}")
            }
            LoadEvent::Omitted(reason) => escaped(reason),
            // A busy server is reported only if it stays busy, each time after twice as many
            // attempts.
            LoadEvent::Retried {
                error,
                failed,
                pause,
                end,
            } => {
                let end = match end {
                    RetryEnd::Within(_) if !failed.is_power_of_two() => return None,
                    _ if error.kind == LoadErrorKind::Busy && failed < BUSY_ATTEMPTS => {
                        return None;
                    }
                    RetryEnd::Within(left) => format!("for at most {} s more", left.as_secs()),
                    RetryEnd::Attempts(attempts) => format!("at most {attempts} times"),
                };
                format!(
                    "attempt {failed} failed, trying again in {:.1} s, {end}: {}",
                    pause.as_secs_f32(),
                    escaped(&error.to_string())
                )
            }
            // Reported at the first pause, then each time after twice as many.
            LoadEvent::Paused(error) => {
                let message = error.to_string();
                let before = self.paused.take().filter(|(before, _)| *before == message);
                let count = before.map_or(0, |(_, count)| count) + 1;
                self.paused = Some((message.clone(), count));
                if !count.is_power_of_two() {
                    return None;
                }
                let attempts = counted(count, "attempt", "attempts");
                format!("paused after {attempts}: {}", escaped(&message))
            }
        })
    }
}
