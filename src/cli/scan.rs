//! `urlspool scan`.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::args::{ScanArgs, When};
use super::exit::Exit;
use super::report::{Events, ScanReport, bar};
use super::{Failure, Outcome};
use crate::config::Config;
use crate::decode;
use crate::extract::Extractor;
use crate::limits::{PREOPENED_FILES, RESERVED_DESCRIPTORS};
use crate::origin::{FileRange, Source};
use crate::pipeline::{self, Job};
use crate::record::{self, Summary};
use crate::sink::{FileSink, PipeSink, Sink};
use crate::walk::{self, PathFilter, SymlinkPolicy, WalkStep};

pub(super) fn scan(args: &ScanArgs) -> Outcome {
    let config = configured(args)?;
    let job = job(args, &config)?;
    let extractor = Extractor::new(config.options());
    let mut report = report(args, &job)?;
    allow_open_files();
    let run = pipeline::run(&job, &extractor, &mut report);
    let finished = report.finish();
    let balance = run
        .and_then(|balance| finished.map(|()| balance))
        .map_err(|error| Failure::output(&output_name(args), &error))?;
    let imbalances = balance.imbalances();
    if !imbalances.is_empty() {
        return Err(Failure::new(
            Exit::SomeFailed,
            format!(
                "the balance does not hold, please report it: {}",
                imbalances.join("; ")
            ),
        ));
    }
    if let Some(path) = &args.summary {
        let mut text = Vec::new();
        balance.write(&mut text);
        let written =
            FileSink::create(path).and_then(|mut sink| sink.put(&text).and_then(|_| sink.finish()));
        written.map_err(|error| Failure::output(&path.display().to_string(), &error))?;
    }
    if args.verbose && !args.quiet {
        eprintln!("{}", in_short(&balance));
    }
    let failed = report.failed
        || !balance.files_failed.is_empty()
        || !balance.members_failed.is_empty()
        || args.strict && report.remarked;
    Ok(if failed { Exit::SomeFailed } else { Exit::Done })
}

/// Lets the process open as many files as it may and has use for: shells begin with fewer, for the sake of programs that
/// we are not.
fn allow_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let used = 2 * u64::from(PREOPENED_FILES.unsigned_abs()) + RESERVED_DESCRIPTORS;
    if let Some(now) = current.filter(|now| *now < used) {
        let most = maximum.map_or(used, |maximum| maximum.min(used));
        // What is refused is done without.
        let _ = setrlimit(
            Resource::Nofile,
            Rlimit {
                current: Some(now.max(most)),
                maximum,
            },
        );
    }
}

/// The configuration file, if there is one, with the flags laid over it.
fn configured(args: &ScanArgs) -> Result<Config, Failure> {
    let read = |path: &PathBuf| {
        Config::read(path).map_err(|bad| Failure::new(Exit::Usage, bad.to_string()))
    };
    let mut config = args.config.as_ref().map_or(Ok(Config::default()), read)?;
    let extract = &mut config.extract;
    extract.rules = args.rules.unwrap_or(extract.rules);
    extract.unique = args.unique.unwrap_or(extract.unique);
    if !args.accept.is_empty() {
        extract.accept.clone_from(&args.accept);
    }
    if !args.schemes.is_empty() {
        extract.schemes.clone_from(&args.schemes);
    }
    if let Some(context) = args.context {
        extract.context = context;
    }
    extract.headers &= !args.no_headers;
    extract.schemeless &= !args.no_schemeless;
    extract.strip_recipient |= args.strip_recipient;
    Ok(config)
}

fn job(args: &ScanArgs, config: &Config) -> Result<Job, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let filter = filter(&args.include, &args.exclude)?;
    let items = args.splits.as_deref().map(items).transpose()?;
    let roots = if args.paths.is_empty() {
        vec![PathBuf::from(Source::STDIN)]
    } else {
        args.paths.clone()
    };
    Ok(Job {
        roots,
        items,
        filter,
        links: if args.follow {
            SymlinkPolicy::Follow
        } else {
            SymlinkPolicy::Skip
        },
        format: args.kind.map(crate::split::Format::of),
        threads: args.threads.map_or(cores, usize::from),
        output: args.format,
        rejects: args.rejects.is_some(),
        unique: config.extract.unique,
        since: moment(args.since.as_deref(), "--since")?,
        until: moment(args.until.as_deref(), "--until")?,
    })
}

/// The filter by a user's patterns.
pub(super) fn filter(include: &[String], exclude: &[String]) -> Result<PathFilter, Failure> {
    PathFilter::new(include, exclude).map_err(|bad| {
        Failure::new(
            Exit::Usage,
            format!("the pattern {:?} cannot be read: {}", bad.glob, bad.message),
        )
    })
}

/// The items in a file, or on standard input.
fn items(path: &Path) -> Result<Vec<FileRange>, Failure> {
    let failure =
        |message: String| Failure::new(Exit::Usage, format!("{}: {message}", path.display()));
    let input: Box<dyn BufRead> = if path.as_os_str() == Source::STDIN {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(
            File::open(path).map_err(|error| failure(error.to_string()))?,
        ))
    };
    let mut items = Vec::new();
    for (number, line) in (1..).zip(input.lines()) {
        let line = line.map_err(|error| failure(error.to_string()))?;
        if !line.trim().is_empty() {
            items.push(
                record::read_item(&line)
                    .map_err(|message| failure(format!("line {number}: {message}")))?,
            );
        }
    }
    Ok(items)
}

fn moment(text: Option<&str>, flag: &str) -> Result<Option<i64>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let unix = decode::parse_date(text).unix;
    let unclear = || {
        Failure::new(
            Exit::Usage,
            format!("{flag} {text:?} is no date; write it as 1996-07-02 or 1996-07-02T13:45:00Z"),
        )
    };
    unix.map(Some).ok_or_else(unclear)
}

fn report(args: &ScanArgs, job: &Job) -> Result<ScanReport, Failure> {
    let create = |path: &Path| {
        FileSink::create(path).map_err(|error| Failure::output(&path.display().to_string(), &error))
    };
    let records: Box<dyn Sink> = match &args.output {
        Some(path) => Box::new(create(path)?),
        None => Box::new(PipeSink(io::stdout())),
    };
    let events = match &args.events {
        Some(path) => Events::File(create(path)?),
        None => Events::Stderr {
            color: args.color.on_stderr(),
            quiet: args.quiet,
        },
    };
    let shown = args.progress.on_stderr() && !(args.quiet && args.progress == When::Auto);
    Ok(ScanReport {
        records,
        rejects: args.rejects.as_deref().map(create).transpose()?,
        events,
        bar: if shown {
            bar(total(job))
        } else {
            ProgressBar::hidden()
        },
        failed: false,
        remarked: false,
    })
}

/// The bytes that lie before the run, for the time that is left.
fn total(job: &Job) -> u64 {
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
    args.output
        .as_ref()
        .map_or("standard output".to_owned(), |path| {
            path.display().to_string()
        })
}

/// The balance sheet in a few lines.
fn in_short(balance: &Summary) -> String {
    let list = |counts: &std::collections::BTreeMap<String, u64>| {
        let all: Vec<String> = counts
            .iter()
            .map(|(name, number)| format!("{number} {name}"))
            .collect();
        if all.is_empty() {
            String::new()
        } else {
            format!(" ({})", all.join(", "))
        }
    };
    format!(
        "urlspool: {} files: {} read, {} skipped{}, {} failed{}\n\
         urlspool: {} members: {} read, {} skipped{}, {} failed{}; {} bytes unpacked\n\
         urlspool: {} messages: {} scanned, {} skipped{}; {} bytes\n\
         urlspool: {} candidates: {} records, {} rejects{}, {} filtered, {} folded",
        balance.files,
        balance.files_read,
        balance.files_skipped.sum(),
        list(&balance.files_skipped),
        balance.files_failed.sum(),
        list(&balance.files_failed),
        balance.members,
        balance.members_read,
        balance.members_skipped.sum(),
        list(&balance.members_skipped),
        balance.members_failed.sum(),
        list(&balance.members_failed),
        balance.bytes_unpacked,
        balance.messages,
        balance.messages_scanned,
        balance.messages_skipped.sum(),
        list(&balance.messages_skipped),
        balance.bytes_read,
        balance.candidates,
        balance.records,
        balance.rejects.sum(),
        list(&balance.rejects),
        balance.filtered,
        balance.duplicates,
    )
}
