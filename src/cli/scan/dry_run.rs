//! `urlspool scan --dry-run`: the files that a scan would read.

use std::io;

use super::super::args::ScanArgs;
use super::super::error::{CommandResult, Exit};
use super::super::terminal::{StdoutLines, escaped, print_message};
use crate::diagnostic::{EscapeForm, SkipReason};
use crate::origin::Source;
use crate::pipeline::{Job, is_earlier_output};
use crate::read;
use crate::split::{Format, SourceStart};
use crate::walk::{self, WalkStep, WalkedFile};

/// Prints a line `KIND<tab>BYTES<tab>PATH` for each file that the job would read. Skipped files are reported on standard
/// error with `--verbose`.
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
                let kind = item.kind.map_or(AUTO, crate::origin::SourceKind::name);
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

/// The kind of standard input and of pipes, which are not read to recognize it.
const STREAM: &str = "stream";

/// The kind of git repositories, which are not read to recognize it.
const GIT: &str = "git";

/// The kind of a part whose item does not name it.
const AUTO: &str = "auto";

/// Content of a file, as its first bytes show it.
enum Content {
    /// Messages of a kind, or a compressed file or an archive.
    Read(&'static str),
    /// Content that is skipped, and the reason.
    Skipped(&'static str),
}

fn content(file: &WalkedFile, given: Option<Format>) -> io::Result<Content> {
    let start = SourceStart::read(&mut read::open(file)?)?;
    // The kind that is given is the one of the members of a container.
    let given = given.filter(|_| !start.is_container());
    Ok(match start.format(given, file.hint) {
        Ok(format) if is_skipped_output(file, given, format, &start) => {
            Content::Skipped(SkipReason::EarlierOutput.name())
        }
        Ok(format) => Content::Read(format.kind().name()),
        Err(reason) if start.is_container() => Content::Read(reason.name()),
        Err(reason) => Content::Skipped(reason.name()),
    })
}

/// Returns `true` for a file of a folder that an earlier run wrote.
pub(in crate::cli) fn is_skipped_output(
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
