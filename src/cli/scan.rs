//! `urlspool scan`.

mod conflicts;
pub(super) mod hints;
mod into;
pub(super) mod job;
mod output;
pub(super) mod report;

pub(super) use self::output::SharedOutputs;

use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::time::Instant;

use self::conflicts::{NamedInputs, OwnFiles};
use self::output::{Outputs, leave_records, places, records_place};
use self::report::{EventCounts, EventOutput, ScanReport};
use super::args::ScanArgs;
use super::error::{CommandError, CommandResult, Exit};
use super::signals::leave_outputs_on_signals;
use super::splits::dry_run;
use super::terminal::{escaped, print_message};
use urlspool_files::config::scan_config;
use urlspool_files::evidence::add_evidence;
use urlspool_files::pipeline::{self, Job, Summary};
use urlspool_files::sink::Replacement;
use urlspool_record::extract::Extractor;
use urlspool_record::record::Demand;
use urlspool_sources::read;
use urlspool_text::diagnostic::counted;
use urlspool_text::origin::Source;

pub(super) fn scan(args: &ScanArgs) -> CommandResult {
    let options = job::options(args)?;
    let mut job = job::job(args, &options)?;
    let mut hints = hints::before(args, &job, &options.config);
    let load = into::load_job(args, &job)?;
    if let Some(load) = &load
        && let Some(reason) = hints::own_input(&job, &into::name(&load.target))
    {
        return Err(CommandError::usage(reason));
    }
    let is_listing = args.dry_run && load.is_none();
    if is_listing {
        print_hints(args, &hints);
        return dry_run(&job, args);
    }
    read::remove_abandoned_folders();
    // Must precede the start of the thread that waits for signals.
    pipeline::reserve_descriptors(&job);
    let mut report = open_outputs(args, &mut job, &mut hints)?;
    print_hints(args, &hints);
    let started = Instant::now();
    let authors = if args.verbose || args.summary.is_some() {
        Demand::Needed
    } else {
        Demand::Unneeded
    };
    let extractor = Extractor::new(options.extraction(&job.line_format, authors));
    let extractor = add_evidence(options.evidence.as_ref(), &job, extractor, &mut report)
        .map_err(|error| CommandError::new(Exit::SomeFailed, error.to_string()))?;
    let (run, load_counts) = match &load {
        // Missing input has no rows to add, and is no reason to remove rows.
        Some(load) if !is_input_missing(&job) => {
            let ended = into::run(load, &mut job, &extractor, &mut report);
            let ended = ended.map_err(|error| report.outputs.lock().with_partial_files(&error));
            ended.map(|(run, counts)| (run, Some(counts)))?
        }
        _ => (pipeline::run(&job, &extractor, &mut report), None),
    };
    report.bar.finish_and_clear();
    if 0 < report.unprinted {
        let count = counted(report.unprinted, "ambiguity", "ambiguities");
        print_message(format_args!(
            "urlspool: {count} not printed; --events lists all"
        ));
    }
    let summary = {
        // Held to the end: an interruption either leaves all outputs as they are, or finds them
        // complete.
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
    print_totals(args, &summary, report.counts, started);
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
    let mut places = places(args);
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
        hints.push(format!("{input} is standard output and was skipped"));
    }
    if is_input_missing(job) {
        leave_records(&mut places);
    }
    let encoding = job::encoding(args, &job.line_format)?;
    let outputs = Outputs::open(&places, &encoding)?;
    files.extend(outputs.files());
    job.filter = std::mem::take(&mut job.filter).without_own_outputs(files);
    let outputs = SharedOutputs::new(outputs);
    let bar = report::progress_bar(args, &records_place(args), job);
    leave_outputs_on_signals(outputs.clone(), bar.clone()).map_err(|error| {
        CommandError::new(Exit::Output, format!("cannot wait for signals: {error}"))
    })?;
    Ok(ScanReport {
        outputs,
        events: event_output(args),
        bar,
        counts: EventCounts::default(),
        ambiguous: PathBuf::new(),
        unprinted: 0,
        named: job.roots.iter().cloned().collect(),
        loaded: None,
        is_cut_short: false,
    })
}

fn event_output(args: &ScanArgs) -> EventOutput {
    if args.events.is_some() {
        return EventOutput::Lines;
    }
    EventOutput::Stderr {
        has_colors: args.general.color.colors(&stderr()),
        quiet: args.general.quiet,
    }
}

/// Returns the files that the user named as input.
fn named_inputs<'a>(args: &'a ScanArgs, config: Option<&'a Path>, job: &'a Job) -> NamedInputs<'a> {
    let scanned = match &job.items {
        Some(items) => {
            let mut paths: Vec<_> = items.iter().map(|item| &*item.source.path).collect();
            paths.dedup();
            paths
        }
        None => job.roots.iter().map(AsRef::as_ref).collect(),
    };
    let evidence = args.evidence.as_deref().filter(|path| path.is_file());
    let lists = [args.splits.as_deref(), args.files_from.as_deref(), evidence];
    let database = args.into.as_ref().and_then(into::database);
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

/// Returns `true` if none of the user's inputs exist.
fn is_input_missing(job: &Job) -> bool {
    match &job.items {
        Some(items) => !items.is_empty() && items.iter().all(|item| is_missing(&item.source.path)),
        None => !job.roots.is_empty() && job.roots.iter().all(|root| is_missing(root)),
    }
}

fn is_missing(path: &Path) -> bool {
    path.as_os_str() != Source::STDIN && path.metadata().is_err()
}

fn print_hints(args: &ScanArgs, hints: &[String]) {
    if !args.general.quiet {
        for hint in hints {
            print_message(format_args!("urlspool: {}", escaped(hint)));
        }
    }
}

/// Prints the counts of the run: one line on a terminal, more on request.
fn print_totals(args: &ScanArgs, summary: &Summary, counts: EventCounts, started: Instant) {
    if args.general.quiet {
        return;
    }
    if args.verbose {
        print_message(format_args!("{}", report::summary_text(summary)));
    }
    if has_last_line(args) {
        print_message(format_args!(
            "{}",
            report::last_line(summary, counts, started.elapsed())
        ));
    }
}

/// Returns `true` if the totals are printed on a terminal where no pager uses the screen.
fn has_last_line(args: &ScanArgs) -> bool {
    stderr().is_terminal() && !report::may_be_paged(&records_place(args))
}

fn exit(args: &ScanArgs, summary: &Summary, counts: EventCounts) -> Exit {
    let failed = counts.failures > 0
        || 0 < summary.files_failed.sum()
        || 0 < summary.members_failed.sum()
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
            "the counts of the summary disagree; please report this: {}",
            imbalances.join("; ")
        ),
    ))
}
