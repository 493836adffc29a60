//! `urlspool stats`: statistics of mailboxes, of records, or of a loaded database.

mod data;
mod text;
mod web_page;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;

use super::args::{StatsArgs, StatsFormat};
use super::error::{CommandError, CommandResult, Exit};
use super::load::StderrReport;
use super::location::{DATABASE_START, start_of};
use super::scan::hints;
use super::scan::report::{bar_on_stderr, is_skipped_input, print_event, show_progress};
use super::search::print_hidden;
use super::terminal::{StdoutLines, escaped, print, print_message, stdout_columns};
use urlspool_files::options::ScanOptions;
use urlspool_files::pipeline::{self, Job, Report, Summary};
use urlspool_files::sink::{
    FileIdentity, OutputFile, OutputPlace, Replacement, ReportOutputs, TableFolder,
};
use urlspool_record::extract::Extractor;
use urlspool_record::record::{Demand, LineFormat, Record, is_written_line};
use urlspool_sources::read;
use urlspool_store::load::{self, is_file_of_database};
use urlspool_store::page::TableFiles;
use urlspool_store::stats::{Stats, TopList};
use urlspool_text::diagnostic::Event;
use urlspool_text::origin::Source;

pub(super) fn stats(args: &StatsArgs) -> CommandResult {
    let input = StatsInput::of(args)?;
    let format = args.format.unwrap_or_else(|| named_format(args));
    let (file, folder) = match (format, args.output.as_deref()) {
        (StatsFormat::Csv, None) => {
            let message = "--format csv writes a folder; name it with -o";
            return Err(CommandError::usage(message));
        }
        (StatsFormat::Csv, folder) => (None, folder),
        (_, file) => (file.filter(|file| !is_stdout(file)), None),
    };
    // Comes first: paths in a folder can be compared once it exists.
    let folder = folder.map(TableFolder::create).transpose()?;
    let outputs = ReportOutputs {
        file,
        folder: folder.as_ref().map(|folder| &*folder.path),
        tables: &data::headers(),
        replacement: if args.force {
            Replacement::Allowed
        } else {
            Replacement::Refused
        },
    };
    outputs.check(|file| input.name_of(file))?;
    // An unwritable file is reported before the work. It is created again afterwards, so an
    // interruption leaves none behind.
    drop(file.map(OutputFile::create).transpose()?);
    let (overview, exit) = overview(args, &input)?;
    if let Some(folder) = &folder {
        let mut files = TableFiles::create(folder, data::headers())?;
        data::write(&overview, &mut files)?;
        files.finish()?;
        report_written(args, &folder.path);
        return Ok(exit);
    }
    let has_colors = file.is_none() && args.general.color.colors(&io::stdout());
    let page = match format {
        StatsFormat::Html => web_page::page(&overview).into_bytes(),
        StatsFormat::Json => data::line(&overview),
        _ => text::page(&overview, stdout_columns(), has_colors).into_bytes(),
    };
    match file {
        None if format == StatsFormat::Json => {
            print(&page)?;
        }
        None => {
            let mut out = StdoutLines::of_escaped_lines();
            out.put(&page)?;
            out.finish()?;
        }
        Some(path) => {
            let mut file = OutputFile::create(path)?;
            file.put(&page)?;
            file.finish()?;
            report_written(args, path);
        }
    }
    Ok(exit)
}

/// Returns the format that the name of the output stands for.
fn named_format(args: &StatsArgs) -> StatsFormat {
    match args.output.as_deref().and_then(Path::extension) {
        Some(ending) if ending == "html" => StatsFormat::Html,
        Some(ending) if ending == "json" => StatsFormat::Json,
        _ => StatsFormat::Text,
    }
}

fn is_stdout(path: &Path) -> bool {
    OutputPlace::of(path) == OutputPlace::Stdout
}

fn report_written(args: &StatsArgs, path: &Path) {
    if !args.general.quiet {
        let path = path.display().to_string();
        print_message(format_args!("urlspool: wrote {}", escaped(&path)));
    }
}

fn overview(args: &StatsArgs, input: &StatsInput) -> Result<(Overview, Exit), CommandError> {
    let mut exit = Exit::Done;
    let paths = &input.paths;
    let (stats, summary) = match input.kind {
        InputKind::Mail => {
            let mut job = mail_job(args, paths)?;
            let (stats, summary, failures) = scanned(args, &mut job)?;
            let unread = hints::unread_inputs(&job, &summary);
            let repeated = hints::repeated_paths(&job).filter(|_| !args.general.quiet);
            for line in unread.iter().chain(&repeated) {
                print_message(format_args!("urlspool: {}", escaped(line)));
            }
            if 0 < failures || !unread.is_empty() {
                exit = Exit::SomeFailed;
            }
            (stats, Some(summary))
        }
        InputKind::Records => {
            let mut report = StderrReport::below(ProgressBar::hidden());
            let read = load::stats_of_records(paths, &mut |event| report.report(event));
            report.finish();
            if 0 < read.failures {
                exit = Exit::SomeFailed;
            }
            (read.stats, None)
        }
        InputKind::Database => (load::stats_of_database(&paths[0], args.list_fields)?, None),
    };
    print_hidden(stats.hidden, args.general.quiet);
    let overview = Overview {
        name: input.title(),
        kind: input.kind.name(),
        stats,
        summary,
        top: args.limit as usize,
        names_senders: !args.no_senders,
    };
    Ok((overview, exit))
}

fn mail_job(args: &StatsArgs, paths: &[PathBuf]) -> Result<Job, CommandError> {
    let tables = args.output.iter().flat_map(|folder| {
        let names = data::headers();
        names.map(|(name, _)| folder.join(name))
    });
    let own = args.output.iter().cloned().chain(tables);
    let own = own.filter_map(|path| FileIdentity::of(&path).id());
    let options = ScanOptions {
        threads: args.threads,
        ..ScanOptions::default()
    };
    let format = LineFormat::Values(Stats::FIELDS.to_vec());
    let job = options.job(paths.to_vec(), None, format);
    let job = job.map_err(CommandError::usage)?;
    Ok(Job {
        filter: job.filter.without_own_outputs(own.collect()),
        ..job
    })
}

/// Returns the statistics of a job's mail, the summary, and the number of events that cause exit
/// code 1.
fn scanned(args: &StatsArgs, job: &mut Job) -> Result<(Stats, Summary, u64), CommandError> {
    pipeline::reserve_descriptors(job);
    let options = ScanOptions::default().extraction(&job.line_format, Demand::Unneeded);
    let mut report = StatsReport {
        stats: Stats::default(),
        today: load::today(),
        has_colors: args.general.color.colors(&io::stderr()),
        bar: if args.general.quiet {
            ProgressBar::hidden()
        } else {
            bar_on_stderr(job)
        },
        failures: 0,
        named: job.roots.iter().cloned().collect(),
    };
    let run = pipeline::run(job, &Extractor::new(options), &mut report);
    report.bar.finish_and_clear();
    let summary = run.map_err(|error| {
        CommandError::new(Exit::SomeFailed, format!("cannot start the scan: {error}"))
    })?;
    report.stats.end_message();
    let failures = report.failures + summary.files_failed.sum() + summary.members_failed.sum();
    Ok((report.stats, summary, failures))
}

/// A receiver of a scan's records, which are counted and dropped.
struct StatsReport {
    stats: Stats,
    today: String,
    has_colors: bool,
    bar: ProgressBar,
    failures: u64,
    /// The paths that the user named.
    named: HashSet<PathBuf>,
}

impl Report for StatsReport {
    fn records(&mut self, records: Vec<Record>) -> io::Result<bool> {
        for record in records {
            self.stats.add(&record, &self.today);
        }
        Ok(true)
    }

    /// Reports only failures. The summary counts limits and skipped input.
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if event.diagnostic.kind.is_failure() || is_skipped_input(event, &self.named) {
            self.failures += 1;
            print_event(event, self.has_colors, &self.bar);
        }
        Ok(())
    }

    fn progress(&mut self, summary: &Summary) {
        show_progress(&self.bar, summary);
    }
}

/// Statistics, with information about their input.
struct Overview {
    /// The input as the user named it.
    name: String,
    /// `mail`, `records` or `database`.
    kind: &'static str,
    stats: Stats,
    /// The counts of the scan, if the input is mail.
    summary: Option<Summary>,
    /// Maximum number of names in a list.
    top: usize,
    names_senders: bool,
}

/// A kind of list, with its names in the outputs.
struct ListKind {
    title: &'static str,
    /// The name in JSON.
    key: &'static str,
    /// The noun for one of its entries.
    noun: &'static str,
    /// The name of the CSV file.
    file: &'static str,
    /// Selects the list of this kind.
    of: fn(&Stats) -> &TopList,
}

impl Overview {
    /// Returns the lists in the order of display.
    fn lists(&self) -> impl Iterator<Item = (&'static ListKind, &TopList)> {
        let kinds = LISTS.iter();
        let kinds = kinds.filter(|kind| self.names_senders || kind.key != "senders");
        kinds.map(|kind| (kind, (kind.of)(&self.stats)))
    }
}

/// Defines the kinds of lists, each with its title, the noun for one of its entries, and the list.
macro_rules! list_kinds {
    ($($title:literal, $noun:literal, $list:ident;)+) => {
        [$(ListKind {
            title: $title,
            key: concat!($noun, "s"),
            noun: $noun,
            file: concat!("urls-by-", $noun, ".csv"),
            of: |stats| &stats.$list,
        }),+]
    };
}

/// The kinds of lists, in the order of display.
static LISTS: [ListKind; 9] = list_kinds! {
    "Domains", "domain", domains;
    "Hosts", "host", hosts;
    "Schemes", "scheme", schemes;
    "Mailing lists", "list", lists;
    "Newsgroups", "newsgroup", newsgroups;
    "Senders", "sender", senders;
    "Wrappers", "wrapper", wrappers;
    "Repairs", "repair", repairs;
    "Redirectors", "redirector", redirectors;
};

/// The input: mail, records or a database, detected by the first bytes. All of one kind.
struct StatsInput {
    kind: InputKind,
    /// Files and folders of mail or of records; one database.
    paths: Vec<PathBuf>,
}

/// Kind of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InputKind {
    Mail,
    /// Files of records, and folders of only these or of segments.
    Records,
    /// A database that `load` made.
    Database,
}

impl StatsInput {
    /// Returns the input that the arguments name.
    ///
    /// # Errors
    ///
    /// A usage error: the paths are of several kinds, of no supported kind, or do not exist.
    fn of(args: &StatsArgs) -> Result<StatsInput, CommandError> {
        let mut paths = args.paths.clone();
        if paths.is_empty() {
            paths.push(PathBuf::from(Source::STDIN));
        }
        let mut kinds = Vec::new();
        for path in &paths {
            kinds.extend(kind_of(path)?.map(|kind| (kind, path)));
        }
        let Some((kind, first)) = kinds.first().copied() else {
            return Err(missing(&paths));
        };
        if let Some((other, second)) = kinds.iter().find(|(other, _)| *other != kind) {
            return Err(CommandError::usage(format!(
                "{} holds {}, and {} {}; count them in two runs",
                first.display(),
                kind.noun(),
                second.display(),
                other.noun()
            )));
        }
        if kind == InputKind::Database && 1 < paths.len() {
            let message = "several databases cannot be counted together; name one path";
            return Err(CommandError::usage(message));
        }
        Ok(StatsInput { kind, paths })
    }

    /// Names the input in titles.
    fn title(&self) -> String {
        match self.paths.as_slice() {
            [path] if path.as_os_str() == Source::STDIN => "standard input".to_owned(),
            [path] => path.display().to_string(),
            [first, others @ ..] => format!("{} and {} more", first.display(), others.len()),
            [] => String::new(),
        }
    }

    /// Returns the name of the input that a file is, if any: a given path, a file of the database,
    /// or a file of records below a given folder.
    fn name_of(&self, file: &FileIdentity) -> Option<String> {
        if self.kind == InputKind::Database {
            let is_database = is_file_of_database(&self.paths[0], file);
            return is_database.then(|| "the database".to_owned());
        }
        let is_file = |path: &&PathBuf| {
            let path = if path.as_os_str() == Source::STDIN {
                Path::new(STDIN_FILE)
            } else {
                path
            };
            FileIdentity::of(path) == *file
        };
        if let Some(path) = self.paths.iter().find(is_file) {
            return Some(format!("the input {}", path.display()));
        }
        if self.kind == InputKind::Mail {
            return None;
        }
        let folder = self.paths.iter().find(|folder| {
            let files = load::files_of_records(folder).into_iter();
            folder.is_dir()
                && files
                    .map(|path| FileIdentity::of(&path))
                    .any(|of| of == *file)
        })?;
        Some(format!("records in {}", folder.display()))
    }
}

/// A name of standard input.
const STDIN_FILE: &str = "/dev/stdin";

impl InputKind {
    /// The name in outputs.
    fn name(self) -> &'static str {
        match self {
            InputKind::Mail => "mail",
            InputKind::Records => "records",
            InputKind::Database => "database",
        }
    }

    fn noun(self) -> &'static str {
        match self {
            InputKind::Database => "a database",
            kind => kind.name(),
        }
    }
}

/// Returns the kind of a path; `None` if it does not exist.
fn kind_of(path: &Path) -> Result<Option<InputKind>, CommandError> {
    if path.as_os_str() == Source::STDIN {
        let start = read::peek_stdin()
            .map_err(|error| CommandError::unreadable(Path::new("standard input"), error))?;
        return kind_of_start(path, &start).map(Some);
    }
    let Ok(metadata) = path.metadata() else {
        return Ok(None);
    };
    if metadata.is_dir() {
        let kind = if load::has_segments(path) || holds_only_records(path) {
            InputKind::Records
        } else {
            InputKind::Mail
        };
        return Ok(Some(kind));
    }
    if !metadata.is_file() {
        return Ok(Some(InputKind::Mail));
    }
    if load::is_named_as_records(path) {
        return Ok(Some(InputKind::Records));
    }
    // The scan reports an unreadable file.
    let start = start_of(path).unwrap_or_default();
    kind_of_start(path, &start).map(Some)
}

/// Returns `true` if a folder contains files, all with an extension of record files.
fn holds_only_records(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files = entries.flatten().peekable();
    files.peek().is_some() && files.all(|file| load::is_named_as_records(&file.path()))
}

fn kind_of_start(path: &Path, start: &[u8]) -> Result<InputKind, CommandError> {
    let name = path.display();
    if start.starts_with(DATABASE_START) {
        return Ok(InputKind::Database);
    }
    if !is_written_line(start) {
        return Ok(InputKind::Mail);
    }
    if start.starts_with(b"{") {
        return Ok(InputKind::Records);
    }
    Err(CommandError::usage(format!(
        "{name} is a table written by urlspool; count the JSON lines of `urlspool scan` instead"
    )))
}

/// Returns the error for paths none of which exists.
fn missing(paths: &[PathBuf]) -> CommandError {
    let mut texts = paths.iter().map(|path| path.to_string_lossy());
    if let Some(server) = texts.find(|path| path.contains("://")) {
        return CommandError::usage(format!(
            "cannot count in {server}: stats reads SQLite databases, records and mail"
        ));
    }
    match paths {
        [path] => {
            let error = path.metadata().err();
            let reason = error.map_or_else(String::new, |error| error.to_string());
            CommandError::unreadable(path, reason)
        }
        _ => CommandError::new(Exit::SomeFailed, "none of the paths exists"),
    }
}
