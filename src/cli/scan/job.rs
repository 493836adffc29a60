//! The job that the arguments of `scan` ask for.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::super::args::{ScanArgs, check_period};
use super::super::config_path::{read_config, scan_config};
use super::super::error::{CommandError, Exit};
use super::format;
use crate::config::Config;
use crate::extract::Options;
use crate::origin::{FileRange, Source};
use crate::pipeline::Job;
use crate::record;

/// The configuration file, if one is given, overridden by the flags.
pub(in crate::cli) fn config(args: &ScanArgs) -> Result<Config, CommandError> {
    let given = args.config.as_deref();
    let mut config = match scan_config(given) {
        Some(path) => read_config(&path, given)?,
        None => Config::default(),
    };
    args.extract.apply(&mut config);
    Ok(config)
}

/// The job of the arguments.
pub(in crate::cli) fn job(args: &ScanArgs) -> Result<Job, CommandError> {
    check_period(args.since, args.until)
        .map_err(|reason| CommandError::new(Exit::Usage, reason))?;
    let filter = args.sources.filter()?;
    let items = args.splits.as_deref().map(split_items).transpose()?;
    let roots = match &args.files_from {
        None if args.paths.is_empty() => vec![PathBuf::from(Source::STDIN)],
        None => args.paths.clone(),
        Some(list) => {
            let mut roots = args.paths.clone();
            roots.extend(listed_paths(list)?);
            roots
        }
    };
    Ok(Job {
        roots,
        items,
        filter,
        links: args.sources.links(),
        format: args.sources.format(),
        threads: threads(args.threads),
        line_format: format::line_format(args)?,
        rejects: args.rejects.is_some(),
        since: args.since.map(|period| period.start),
        until: args.until.map(|period| period.end),
    })
}

/// The number of threads: that which is given, or the number of processors.
pub(in crate::cli) fn threads(given: Option<u16>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    given.map_or_else(cores, usize::from)
}

/// Reads the paths that a file, or standard input, lists: separated by NUL if it has any, else by line ends.
fn listed_paths(list: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let name = list.display();
    let mut text = Vec::new();
    let read = if list.as_os_str() == Source::STDIN {
        io::stdin().lock().read_to_end(&mut text)
    } else {
        File::open(list).and_then(|mut file| file.read_to_end(&mut text))
    };
    read.map_err(|error| CommandError::new(Exit::Usage, format!("cannot read {name}: {error}")))?;
    let separator = if text.contains(&0) { 0 } else { b'\n' };
    let paths = text
        .split(|&byte| byte == separator)
        .filter(|path| !path.is_empty());
    let mut paths: Vec<PathBuf> = paths.map(|path| OsStr::from_bytes(path).into()).collect();
    // In a list `-` is the name of a file.
    for path in &mut paths {
        if path.as_os_str() == Source::STDIN {
            *path = Path::new(".").join(&path);
        }
    }
    Ok(paths)
}

/// The options of extraction.
pub(in crate::cli) fn options(args: &ScanArgs, config: &Config, job: &Job) -> Options {
    let mut options = config.options();
    options.hosts.clone_from(&args.host);
    options.domains.clone_from(&args.domain);
    options.ids = job.line_format.ids();
    options.line_numbers = job.line_format.line_numbers();
    options.regions = job.line_format.regions();
    options.info = job.line_format.info();
    options
}

/// Reads the work items in a file, or on standard input.
fn split_items(path: &Path) -> Result<Vec<FileRange>, CommandError> {
    let name = path.display();
    let unreadable =
        |error: io::Error| CommandError::new(Exit::Usage, format!("cannot read {name}: {error}"));
    let input: Box<dyn BufRead> = if path.as_os_str() == Source::STDIN {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(path).map_err(unreadable)?))
    };
    let mut items = Vec::new();
    for (number, line) in (1..).zip(input.lines()) {
        let line = line.map_err(unreadable)?;
        if !line.trim().is_empty() {
            let item = record::read_item(&line);
            items.push(item.map_err(|error| {
                let message = format!("{name}, line {number}: not a work item: {error}");
                CommandError::new(Exit::Usage, message)
            })?);
        }
    }
    Ok(items)
}
