//! `urlspool scan`.

mod conflicts;
pub(super) mod dry_run;
pub(super) mod hints;
mod interrupt;
#[cfg(feature = "load")]
mod into;
pub(super) mod job;
mod output;
pub(super) mod report;

use std::io::{IsTerminal, stderr};
use std::path::Path;
use std::time::Instant;

use self::conflicts::{NamedInputs, OwnFiles};
use self::output::{OutputPlaces, Outputs, SharedOutputs};
use self::report::{EventColor, EventCounts, EventOutput, ScanReport};
use super::args::ScanArgs;
use super::config_path::scan_config;
use super::error::{CommandError, CommandResult, Exit};
use super::terminal::{escaped, print_message};
use crate::extract::Extractor;
use crate::origin::Source;
use crate::pipeline::{self, Job};
use crate::record::Summary;
use crate::sink::Replacement;

pub(super) fn scan(args: &ScanArgs) -> CommandResult {
    let config = job::config(args)?;
    let mut job = job::job(args)?;
    let mut hints = hints::before(args, &job, &config);
    #[cfg(feature = "load")]
    let load = into::load_job(args, &job)?;
    #[cfg(feature = "load")]
    if let Some(load) = &load
        && let Some(reason) = hints::own_input(&job, &into::name(&load.target))
    {
        return Err(CommandError::new(Exit::Usage, reason));
    }
    #[cfg(feature = "load")]
    let is_listing = args.dry_run && load.is_none();
    #[cfg(not(feature = "load"))]
    let is_listing = args.dry_run;
    if is_listing {
        print_hints(args, &hints);
        return dry_run::dry_run(&job, args);
    }
    // Before the thread that waits for signals is started.
    pipeline::reserve_descriptors(&job);
    let mut report = open_outputs(args, &mut job, &mut hints)?;
    print_hints(args, &hints);
    let extractor = Extractor::new(job::options(args, &config, &job));
    let begun = Instant::now();
    #[cfg(feature = "load")]
    let (run, load_counts) = match &load {
        // What is missing has no rows to be added, and is no reason to remove any.
        Some(load) if !is_input_missing(&job) => {
            let ended = into::run(load, &mut job, &extractor, &mut report);
            let ended = ended.map_err(|error| report.outputs.lock().not_loaded(&error));
            ended.map(|(run, counts)| (run, Some(counts)))?
        }
        _ => (pipeline::run(&job, &extractor, &mut report), None),
    };
    #[cfg(not(feature = "load"))]
    let run = pipeline::run(&job, &extractor, &mut report);
    report.bar.finish_and_clear();
    let summary = {
        // Held to the end: an interruption leaves all outputs as they are, or finds them complete.
        let mut outputs = report.outputs.lock();
        let summary = run.map_err(|error| outputs.failed(&error))?;
        if is_input_missing(&job) {
            outputs.discard_records();
        }
        outputs.finish(&summary)?;
        summary
    };
    check_balance(&summary)?;
    if !report.is_cut_short {
        print_hints(args, &hints::after(args, &job, &summary));
    }
    let mut unread = hints::unread_inputs(&job, &summary);
    unread.extend(hints::encrypted_members(&job, &summary));
    for line in &unread {
        print_message(format_args!("urlspool: {}", escaped(line)));
    }
    print_totals(args, &summary, report.counts, begun);
    #[cfg(feature = "load")]
    if let Some(counts) = load_counts {
        into::print_counts(args, &counts);
        if 0 < counts.bad_lines + counts.refused_records {
            return Ok(Exit::SomeFailed);
        }
    }
    Ok(match exit(args, &summary, report.counts) {
        Exit::Done if !unread.is_empty() => Exit::SomeFailed,
        exit => exit,
    })
}

/// Checks and opens the outputs, and excludes them from the input.
fn open_outputs(
    args: &ScanArgs,
    job: &mut Job,
    hints: &mut Vec<String>,
) -> Result<ScanReport, CommandError> {
    let places = OutputPlaces::of(args);
    let replacement = if args.force {
        Replacement::Allowed
    } else {
        Replacement::Refused
    };
    let OwnFiles {
        mut files,
        skipped_input,
    } = {
        let config = scan_config(args.config.as_deref());
        conflicts::check(
            &places,
            &named_inputs(args, config.as_deref(), job),
            replacement,
        )?
    };
    if let Some(input) = skipped_input {
        let input = input.display();
        hints.push(format!("{input} is standard output, and is not read"));
    }
    let places = if is_input_missing(job) {
        places.without_records()
    } else {
        places
    };
    let encoding = job::encoding(args, &job.line_format)?;
    let mut outputs = Outputs::open(&places, &encoding)?;
    files.extend(outputs.files());
    job.filter = std::mem::take(&mut job.filter).without_own_outputs(files);
    let outputs = SharedOutputs::new(outputs);
    let bar = report::progress_bar(args, &places.records, job);
    interrupt::leave_outputs_on_signals(outputs.clone(), bar.clone()).map_err(|error| {
        CommandError::new(Exit::Output, format!("cannot wait for signals: {error}"))
    })?;
    Ok(ScanReport {
        outputs,
        events: event_output(args),
        bar,
        counts: EventCounts::default(),
        #[cfg(feature = "load")]
        loaded: None,
        is_cut_short: false,
    })
}

fn event_output(args: &ScanArgs) -> EventOutput {
    if args.events.is_some() {
        return EventOutput::Lines;
    }
    EventOutput::Stderr {
        color: EventColor::on_stderr(args.color),
        quiet: args.quiet,
    }
}

/// The files that the user named for reading.
fn named_inputs<'a>(args: &'a ScanArgs, config: Option<&'a Path>, job: &'a Job) -> NamedInputs<'a> {
    let scanned = match &job.items {
        Some(items) => {
            let mut paths: Vec<_> = items.iter().map(|item| &*item.source.path).collect();
            paths.dedup();
            paths
        }
        None => job.roots.iter().map(AsRef::as_ref).collect(),
    };
    let lists = [args.splits.as_deref(), args.files_from.as_deref()];
    #[cfg(feature = "load")]
    let database = args.into.as_ref().and_then(into::database);
    #[cfg(not(feature = "load"))]
    let database = None;
    NamedInputs {
        scanned,
        settings: lists
            .into_iter()
            .flatten()
            .chain(config)
            .chain(database)
            .collect(),
        links: job.links,
    }
}

/// Returns `true` if nothing that the user named for scanning exists.
fn is_input_missing(job: &Job) -> bool {
    let is_missing = |path: &Path| path.as_os_str() != Source::STDIN && path.metadata().is_err();
    match &job.items {
        Some(items) => !items.is_empty() && items.iter().all(|item| is_missing(&item.source.path)),
        None => !job.roots.is_empty() && job.roots.iter().all(|root| is_missing(root)),
    }
}

fn print_hints(args: &ScanArgs, hints: &[String]) {
    if !args.quiet {
        for hint in hints {
            print_message(format_args!("urlspool: {}", escaped(hint)));
        }
    }
}

/// Prints the counts of the run, in one line on a terminal and more if the user wants it.
fn print_totals(args: &ScanArgs, summary: &Summary, counts: EventCounts, begun: Instant) {
    if args.quiet {
        return;
    }
    if args.verbose {
        print_message(format_args!("{}", report::summary_text(summary)));
    }
    if stderr().is_terminal() && !report::may_be_paged(&OutputPlaces::of(args).records) {
        print_message(format_args!(
            "{}",
            report::last_line(summary, counts, begun.elapsed())
        ));
    }
}

fn exit(args: &ScanArgs, summary: &Summary, counts: EventCounts) -> Exit {
    let failed = counts.failures > 0
        || !summary.files_failed.is_empty()
        || !summary.members_failed.is_empty()
        || args.strict && counts.notes > 0;
    if failed { Exit::SomeFailed } else { Exit::Done }
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
