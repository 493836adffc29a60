//! `urlspool splits`, and the sources that its arguments and those of `scan` ask for.

use std::io;

use super::args::{SourceArgs, SplitsArgs};
use super::error::{CommandError, CommandResult, Exit};
use super::scan::dry_run::is_skipped_output;
use super::terminal::{StdoutLines, escaped, print_message};
use crate::diagnostic::EscapeForm;
use crate::origin::{FileRange, Source};
use crate::read;
use crate::record::write_item;
use crate::split::{Format, SourceStart};
use crate::walk::{self, PathFilter, SymlinkPolicy, WalkStep, WalkedFile};

pub(super) fn splits(args: &SplitsArgs) -> CommandResult {
    let filter = args.sources.filter()?;
    let format = args.sources.format();
    let mut out = StdoutLines::new(EscapeForm::Json);
    let mut exit = Exit::Done;
    let mut lines = Vec::new();
    for step in walk::walk(&args.paths, &filter, args.sources.links()) {
        lines.clear();
        match step {
            WalkStep::File(file) => match items(&file, format, args.size) {
                Ok(items) => items.iter().for_each(|item| write_item(item, &mut lines)),
                Err(error) => exit = failed(&file.source, &error.to_string()),
            },
            WalkStep::Repository(source) => write_item(&whole(source), &mut lines),
            WalkStep::Part { item, .. } => write_item(&item, &mut lines),
            WalkStep::Stdin | WalkStep::Stream(_) => {
                let message = "standard input and pipes cannot be divided; name files or folders";
                return Err(CommandError::new(Exit::Usage, message));
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

/// The item of something that cannot be divided, and has no size.
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

/// The items of a file: ranges of about equal size, at most `max_bytes` each, if it can be divided;
/// else the whole file. Leading NUL bytes belong to the first range, which may be larger by them;
/// the others name them, so that nobody reads them again.
fn items(file: &WalkedFile, given: Option<Format>, max_bytes: u64) -> io::Result<Vec<FileRange>> {
    let start = SourceStart::read(&mut read::open(file)?)?;
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
    let item = |part: u64| FileRange {
        source: file.source.clone(),
        start: if part == 0 { 0 } else { offset(part) },
        end: offset(part + 1),
        kind: format.map(Format::kind),
        nuls: if part == 0 { 0 } else { start.offset },
    };
    Ok((0..parts).map(item).collect())
}

impl SourceArgs {
    /// The format of all sources, if it is not to be recognized.
    pub(super) fn format(&self) -> Option<Format> {
        self.kind.map(Format::of)
    }

    /// The filter by the patterns that are given.
    pub(super) fn filter(&self) -> Result<PathFilter, CommandError> {
        PathFilter::new(&self.include, &self.exclude).map_err(|bad| {
            CommandError::new(
                Exit::Usage,
                format!("cannot use the pattern {:?}: {}", bad.glob, bad.message),
            )
        })
    }

    /// The treatment of symbolic links.
    pub(super) fn links(&self) -> SymlinkPolicy {
        if self.follow {
            SymlinkPolicy::Follow
        } else {
            SymlinkPolicy::Skip
        }
    }
}
