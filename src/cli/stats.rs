//! `urlspool stats`: what is in mailboxes, in records, or in a database that was loaded.

mod input;
mod json;
mod overview;
mod tables;
mod text;
mod web_page;

use std::io;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;

use super::args::StatsArgs;
use super::error::{CommandError, CommandResult, Exit};
use super::load::{StderrReport, load_error};
use super::scan::report::{EventColor, bar_on_stderr, print_event, show_progress};
use super::scan::{hints, job};
use super::terminal::{STDOUT, StdoutLines, escaped, print, print_message, stdout_columns};
use crate::diagnostic::Event;
use crate::extract::{Extractor, Options};
use crate::load;
use crate::pipeline::{self, Job, Report};
use crate::record::{LineFormat, Record, Summary};
use crate::sink::{
    FileIdentity, OutputFile, OutputPlace, Replacement, ReportOutputs, TableFiles, TableFolder,
};
use crate::stats::{RecordStats, Stats};
use input::StatsInput;
use overview::Overview;

pub(super) fn stats(args: &StatsArgs) -> CommandResult {
    let input = StatsInput::of(args)?;
    // First: paths in a folder can be compared when it exists, and the page may be in it.
    let folder = args.csv.as_deref().map(TableFolder::create).transpose()?;
    let outputs = ReportOutputs {
        file: args.html.as_deref(),
        folder: args.csv.as_deref(),
        tables: &tables::headers(),
        replacement: if args.force {
            Replacement::Allowed
        } else {
            Replacement::Refused
        },
    };
    outputs.check(|file| input.name_of(file))?;
    if args.json && args.html.as_deref().is_some_and(is_stdout) {
        let message =
            format!("--json and --html would both go to {STDOUT}; name a file for --html");
        return Err(CommandError::new(Exit::Usage, message));
    }
    // Files that cannot be written are reported before the work. They are begun again after it, so that an interruption leaves none.
    drop(args.html.as_deref().map(OutputFile::create).transpose()?);
    let (overview, exit) = overview(args, &input)?;
    if let Some(path) = &args.html {
        let mut page = OutputFile::create(path)?;
        page.put(web_page::page(&overview).as_bytes())?;
        page.finish()?;
        report_written(args, path);
    }
    if let Some(folder) = &folder {
        let mut files = TableFiles::create(folder, tables::headers())?;
        tables::write(&overview, &mut files)?;
        files.finish()?;
        report_written(args, folder.path());
    }
    if args.json {
        print(&json::line(&overview))?;
    } else if args.html.is_none() && args.csv.is_none() {
        let style = text::PageStyle {
            columns: stdout_columns(),
            has_colors: args.color.colors(&io::stdout()),
        };
        let mut out = StdoutLines::of_escaped_lines();
        out.put(text::page(&overview, style).as_bytes())?;
        out.finish()?;
    }
    Ok(exit)
}

fn is_stdout(path: &Path) -> bool {
    OutputPlace::of(path) == OutputPlace::Stdout
}

fn report_written(args: &StatsArgs, path: &Path) {
    if !args.quiet && !is_stdout(path) {
        let path = path.display().to_string();
        print_message(format_args!("urlspool: wrote {}", escaped(&path)));
    }
}

fn overview(args: &StatsArgs, input: &StatsInput) -> Result<(Overview, Exit), CommandError> {
    let mut exit = Exit::Done;
    let (stats, summary) = match input {
        StatsInput::Mail(paths) => {
            let mut job = mail_job(args, paths)?;
            let (stats, summary, failures) = scanned(args, &mut job)?;
            let unread = hints::unread_inputs(&job, &summary);
            let repeated = hints::repeated_paths(&job).filter(|_| !args.quiet);
            for line in unread.iter().chain(&repeated) {
                print_message(format_args!("urlspool: {}", escaped(line)));
            }
            if 0 < failures || !unread.is_empty() {
                exit = Exit::SomeFailed;
            }
            (stats, Some(summary))
        }
        StatsInput::Records(paths) => {
            let mut report = StderrReport::beneath(ProgressBar::hidden());
            let read = load::stats_of_records(paths, &mut report);
            report.finish();
            if 0 < read.failures {
                exit = Exit::SomeFailed;
            }
            (read.stats, None)
        }
        StatsInput::Database(path) => {
            let stats = load::stats_of_database(path).map_err(|error| load_error(&error))?;
            (stats, None)
        }
    };
    let overview = Overview {
        name: input.title(),
        kind: input.kind(),
        stats,
        summary,
        top: args.top as usize,
        names_senders: !args.no_senders,
    };
    Ok((overview, exit))
}

fn mail_job(args: &StatsArgs, paths: &[PathBuf]) -> Result<Job, CommandError> {
    let outputs = args.html.iter().cloned();
    let tables = args.csv.iter().flat_map(|folder| {
        let names = tables::headers();
        names.map(|(name, _)| folder.join(name))
    });
    let own = outputs.chain(tables);
    let own = own.filter_map(|path| match FileIdentity::of(&path) {
        FileIdentity::Existing(file) => Some(file),
        FileIdentity::Missing(_) => None,
    });
    Ok(Job {
        roots: paths.to_vec(),
        filter: args.sources.filter()?.without_own_outputs(own.collect()),
        links: args.sources.links(),
        format: args.sources.format(),
        threads: job::threads(args.threads),
        line_format: LineFormat::Values(RecordStats::FIELDS.to_vec()),
        ..Job::default()
    })
}

/// Returns the statistics of the mail of a job, the summary, and the number of events for which the exit code is 1.
fn scanned(args: &StatsArgs, job: &mut Job) -> Result<(Stats, Summary, u64), CommandError> {
    pipeline::reserve_descriptors(job);
    let format = &job.line_format;
    let options = Options {
        ids: format.ids(),
        line_numbers: format.line_numbers(),
        regions: format.regions(),
        info: format.info(),
        ..Options::default()
    };
    let mut report = StatsReport {
        records: RecordStats::new(load::today()),
        color: EventColor::on_stderr(args.color),
        bar: if args.quiet {
            ProgressBar::hidden()
        } else {
            bar_on_stderr(job)
        },
        failures: 0,
    };
    let run = pipeline::run(job, &Extractor::new(options), &mut report);
    report.bar.finish_and_clear();
    let summary = run.map_err(|error| {
        CommandError::new(Exit::SomeFailed, format!("cannot start the scan: {error}"))
    })?;
    let failures = report.failures + summary.files_failed.sum() + summary.members_failed.sum();
    Ok((report.records.finish(), summary, failures))
}

/// Receiver of a scan's records, which are counted and dropped.
struct StatsReport {
    records: RecordStats,
    color: EventColor,
    bar: ProgressBar,
    failures: u64,
}

impl Report for StatsReport {
    fn records(&mut self, records: Vec<Record>) -> io::Result<bool> {
        for record in records {
            self.records.add(record);
        }
        Ok(true)
    }

    fn rejects(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    /// Reports only failures: limits and skipped input are counted in the summary.
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if event.diagnostic.kind.is_failure() {
            self.failures += 1;
            print_event(event, self.color, &self.bar);
        }
        Ok(())
    }

    fn progress(&mut self, summary: &Summary) {
        show_progress(&self.bar, summary);
    }
}
