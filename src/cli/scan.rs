//! `urlspool scan`.

mod job;
mod report;
mod summary;

use std::io;
use std::path::Path;

use indicatif::ProgressBar;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use self::report::{EventColor, EventOutput, ScanReport, progress_bar};
use super::args::{ScanArgs, When};
use super::error::{CommandError, CommandResult};
use super::exit::Exit;
use super::stdout::STDOUT;
use crate::extract::Extractor;
use crate::limits::{PREOPENED_FILES, RESERVED_DESCRIPTORS};
use crate::pipeline::{self, Job};
use crate::record::Summary;
use crate::sink::{FileSink, PipeSink, Sink};
use crate::walk::{self, WalkStep};

pub(super) fn scan(args: &ScanArgs) -> CommandResult {
    let config = job::config(args)?;
    let job = job::job(args, &config)?;
    let extractor = Extractor::new(config.options());
    let mut report = report(args, &job)?;
    raise_open_files();
    let run = pipeline::run(&job, &extractor, &mut report);
    let finished = report.finish();
    let summary = run
        .and_then(|summary| finished.map(|()| summary))
        .map_err(|error| CommandError::output(&output_name(args), &error))?;
    check_balance(&summary)?;
    if let Some(path) = &args.summary {
        write_summary(&summary, path)?;
    }
    if args.verbose && !args.quiet {
        eprintln!("{}", summary::text(&summary));
    }
    let failed = report.has_failures
        || !summary.files_failed.is_empty()
        || !summary.members_failed.is_empty()
        || args.strict && report.has_events;
    Ok(if failed { Exit::SomeFailed } else { Exit::Done })
}

/// Raises the limit on open files to what a scan can use, as far as it is allowed to.
///
/// Shells start programs with a low limit for the sake of programs that use `select`.
fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let useful = 2 * u64::from(PREOPENED_FILES.unsigned_abs()) + RESERVED_DESCRIPTORS;
    if let Some(current) = current.filter(|current| *current < useful) {
        let allowed = maximum.map_or(useful, |maximum| maximum.min(useful));
        // If it is refused, fewer files are opened ahead.
        let _ = setrlimit(
            Resource::Nofile,
            Rlimit {
                current: Some(current.max(allowed)),
                maximum,
            },
        );
    }
}

/// Checks that every file, message and candidate was counted once.
fn check_balance(summary: &Summary) -> Result<(), CommandError> {
    let imbalances = summary.imbalances();
    if imbalances.is_empty() {
        return Ok(());
    }
    Err(CommandError::new(
        Exit::SomeFailed,
        format!(
            "the sums of the summary do not agree, please report it: {}",
            imbalances.join("; ")
        ),
    ))
}

fn write_summary(summary: &Summary, path: &Path) -> Result<(), CommandError> {
    let mut text = Vec::new();
    summary.write(&mut text);
    let written =
        FileSink::create(path).and_then(|mut sink| sink.put(&text).and_then(|_| sink.finish()));
    written.map_err(|error| CommandError::output(&path.display().to_string(), &error))
}

/// Opens the outputs of a run.
fn report(args: &ScanArgs, job: &Job) -> Result<ScanReport, CommandError> {
    let records: Box<dyn Sink> = match &args.output {
        Some(path) => Box::new(create(path)?),
        None => Box::new(PipeSink(io::stdout())),
    };
    let events = match &args.events {
        Some(path) => EventOutput::File(create(path)?),
        None => EventOutput::Stderr {
            color: if args.color.on_stderr() {
                EventColor::On
            } else {
                EventColor::Off
            },
            quiet: args.quiet,
        },
    };
    let shows_progress = args.progress.on_stderr() && !(args.quiet && args.progress == When::Auto);
    Ok(ScanReport {
        records,
        rejects: args.rejects.as_deref().map(create).transpose()?,
        events,
        bar: if shows_progress {
            progress_bar(total_bytes(job))
        } else {
            ProgressBar::hidden()
        },
        has_failures: false,
        has_events: false,
    })
}

fn create(path: &Path) -> Result<FileSink, CommandError> {
    FileSink::create(path)
        .map_err(|error| CommandError::output(&path.display().to_string(), &error))
}

/// The number of bytes to read, for the progress bar. Walks all roots.
fn total_bytes(job: &Job) -> u64 {
    let size = |step| match step {
        WalkStep::File(file) => file.size,
        WalkStep::Part { file, item } => item.end.min(file.size).saturating_sub(item.start),
        WalkStep::Stdin | WalkStep::Skipped { .. } | WalkStep::Failed(_) => 0,
    };
    match &job.items {
        Some(items) => walk::walk_items(items).map(size).sum(),
        None => walk::walk(&job.roots, &job.filter, job.links)
            .map(size)
            .sum(),
    }
}

fn output_name(args: &ScanArgs) -> String {
    let path = args.output.as_ref();
    path.map_or(STDOUT.to_owned(), |path| path.display().to_string())
}
