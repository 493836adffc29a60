//! `urlspool splits` and `urlspool scan --dry-run`: lists of the files and ranges that a scan
//! reads.

use std::io;

use super::args::{ScanArgs, SourceArgs, SplitsArgs};
use super::error::{CommandError, CommandResult, Exit};
use super::terminal::{StdoutLines, escaped, print_message};
use urlspool_files::options::ScanOptions;
use urlspool_files::pipeline::{Job, is_earlier_output};
use urlspool_mail::split::{Format, SourceStart};
use urlspool_record::record::{LineFormat, write_item};
use urlspool_sources::read::{self, SeekableInput};
use urlspool_sources::walk::{self, SymlinkPolicy, WalkStep, WalkedFile};
use urlspool_text::diagnostic::{EscapeForm, SkipReason};
use urlspool_text::origin::{FileRange, Source};

pub(super) fn splits(args: &SplitsArgs) -> CommandResult {
    let options = args.sources.options();
    let job = options.job(args.paths.clone(), None, LineFormat::default());
    let job = job.map_err(CommandError::usage)?;
    let mut out = StdoutLines::new(EscapeForm::Json);
    let mut exit = Exit::Done;
    let mut lines = Vec::new();
    for step in walk::walk(&job.roots, &job.filter, job.links) {
        lines.clear();
        match step {
            WalkStep::File(file) => match items(&file, job.format, args.size) {
                Ok(items) => items.iter().for_each(|item| write_item(item, &mut lines)),
                Err(error) => exit = failed(&file.source, &error.to_string()),
            },
            WalkStep::Repository(source) => write_item(&whole(source), &mut lines),
            WalkStep::Part { item, .. } => write_item(&item, &mut lines),
            WalkStep::Stdin | WalkStep::Stream(_) => {
                let message = "standard input and pipes cannot be divided; name files or folders";
                return Err(CommandError::usage(message));
            }
            WalkStep::Skipped { .. } => {}
            WalkStep::Failed(event) => exit = failed(&event.source, &event.diagnostic.message),
        }
        if !out.put(&lines)? {
            break;
        }
    }
    out.finish()?;
    Ok(exit)
}

/// The item of a source that cannot be divided and has no size.
fn whole(source: Source) -> FileRange {
    FileRange {
        source,
        start: 0,
        end: u64::MAX,
        kind: None,
        nuls: 0,
    }
}

fn failed(source: &Source, message: &str) -> Exit {
    let path = source.path.to_string_lossy();
    print_message(format_args!(
        "urlspool: cannot read {}: {}",
        escaped(&path),
        escaped(message)
    ));
    Exit::SomeFailed
}

/// Returns the items of a file. A file that can be divided has ranges of about equal size, at most
/// `max_bytes` each; any other has one item. Leading NUL bytes belong to the first range, which may
/// be larger by their number. The other ranges state the number, so the bytes are not read again.
fn items(file: &WalkedFile, given: Option<Format>, max_bytes: u64) -> io::Result<Vec<FileRange>> {
    let start = SourceStart::read(&mut SeekableInput::file(read::open(file)?).stream_at(0))?;
    let format = start.format(given, file.hint).ok();
    if format.is_some_and(|format| is_skipped_output(file, given, format, &start)) {
        return Ok(Vec::new());
    }
    let size = file.size.saturating_sub(start.offset);
    let parts = if start.splittable_format(given, file.hint).is_some() {
        size.div_ceil(max_bytes).max(1)
    } else {
        1
    };
    let offset = |part: u64| {
        let bytes = u128::from(size) * u128::from(part) / u128::from(parts);
        file.size - size + bytes as u64
    };
    let items = (0..parts).map(|part| FileRange {
        source: file.source.clone(),
        start: if part == 0 { 0 } else { offset(part) },
        end: offset(part + 1),
        kind: format.map(Format::kind),
        nuls: if part == 0 { 0 } else { start.offset },
    });
    Ok(items.collect())
}

impl SourceArgs {
    /// Returns the options for a scan of these sources.
    pub(super) fn options(&self) -> ScanOptions {
        ScanOptions {
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            kind: self.kind,
            links: if self.follow_links {
                SymlinkPolicy::Follow
            } else {
                SymlinkPolicy::Skip
            },
            ..ScanOptions::default()
        }
    }
}

/// Prints a line `KIND<tab>BYTES<tab>PATH` for each file that the job would read. With `--verbose`,
/// reports skipped files on standard error.
pub(super) fn dry_run(job: &Job, args: &ScanArgs) -> CommandResult {
    let mut out = StdoutLines::new(EscapeForm::Text);
    let mut exit = Exit::Done;
    let steps: Box<dyn Iterator<Item = WalkStep> + '_> = match &job.items {
        Some(items) => Box::new(walk::walk_items(items, &job.filter)),
        None => Box::new(walk::walk(&job.roots, &job.filter, job.links)),
    };
    for step in steps {
        let line = match step {
            WalkStep::Stdin => line(STREAM, "-", &Source::at(Source::STDIN.into())),
            WalkStep::Stream(source) => line(STREAM, "-", &source),
            WalkStep::Repository(source) => line(GIT, "-", &source),
            WalkStep::Part { file, item } => {
                let kind = item
                    .kind
                    .map_or(AUTO, urlspool_text::origin::SourceKind::name);
                let range = format!("{}-{}", item.start, item.end);
                line(kind, &range, &file.source)
            }
            WalkStep::File(file) => match content(&file, job.format) {
                Ok(Content::Read(kind)) => line(kind, &file.size.to_string(), &file.source),
                Ok(Content::Skipped(reason)) => {
                    report_skip(&file.source, reason, args);
                    continue;
                }
                Err(error) => {
                    report(&file.source, &format!("cannot be read: {error}"));
                    exit = Exit::SomeFailed;
                    continue;
                }
            },
            WalkStep::Skipped { source, reason } => {
                report_skip(&source, reason.name(), args);
                continue;
            }
            WalkStep::Failed(event) => {
                let message = &event.diagnostic.message;
                report(&event.source, &format!("cannot be read: {message}"));
                exit = Exit::SomeFailed;
                continue;
            }
        };
        if !out.put(line.as_bytes())? {
            break;
        }
    }
    out.finish()?;
    Ok(exit)
}

/// The kind of standard input and pipes, which are not read to detect it.
const STREAM: &str = "stream";

/// The kind of git repositories, which are not read to detect it.
const GIT: &str = "git";

/// The kind of a part whose item does not name it.
const AUTO: &str = "auto";

/// The content of a file, judged by its first bytes.
enum Content {
    /// Messages of this kind, or a compressed file or an archive.
    Read(&'static str),
    /// Content that is skipped, and the reason.
    Skipped(&'static str),
}

fn content(file: &WalkedFile, given: Option<Format>) -> io::Result<Content> {
    let start = SourceStart::read(&mut SeekableInput::file(read::open(file)?).stream_at(0))?;
    // A given kind is the kind of the members of a container.
    let is_outlook = read::is_outlook(&start.bytes) && read::has_readpst();
    let is_container = start.is_container || is_outlook;
    let given = given.filter(|_| !is_container);
    Ok(match start.format(given, file.hint) {
        Ok(format) if is_skipped_output(file, given, format, &start) => {
            Content::Skipped(SkipReason::EarlierOutput.name())
        }
        Ok(format) => Content::Read(format.kind().name()),
        Err(reason) if is_container => Content::Read(reason.name()),
        Err(reason) => Content::Skipped(reason.name()),
    })
}

/// Returns `true` for a file in a folder that an earlier run wrote.
fn is_skipped_output(
    file: &WalkedFile,
    given: Option<Format>,
    format: Format,
    start: &SourceStart,
) -> bool {
    given.is_none() && file.is_in_root() && is_earlier_output(format, &start.bytes)
}

fn line(kind: &str, size: &str, source: &Source) -> String {
    let path = escaped(&source.path.to_string_lossy());
    format!("{kind}\t{size}\t{path}\n")
}

fn report_skip(source: &Source, reason: &str, args: &ScanArgs) {
    if args.verbose {
        report(source, &format!("would be skipped: {reason}"));
    }
}

fn report(source: &Source, message: &str) {
    let path = source.path.to_string_lossy();
    print_message(format_args!(
        "urlspool: {}: {}",
        escaped(&path),
        escaped(message)
    ));
}
