//! `urlspool splits`.

use std::io::{self, BufWriter, Read};

use super::args::SplitsArgs;
use super::exit::Exit;
use super::scan::filter;
use super::terminal::harmless;
use super::{Failure, Outcome};
use crate::limits::SNIFF_BYTES;
use crate::origin::{FileRange, Source};
use crate::read;
use crate::record::write_item;
use crate::sink::{PipeSink, Sink};
use crate::split::{Format, cr_to_lf, detect_format, has_cr_line_ends, splittable_format};
use crate::walk::{self, SymlinkPolicy, WalkStep};

pub(super) fn splits(args: &SplitsArgs) -> Outcome {
    let filter = filter(&args.include, &args.exclude)?;
    let links = if args.follow {
        SymlinkPolicy::Follow
    } else {
        SymlinkPolicy::Skip
    };
    let given = args.kind.map(Format::of);
    let mut out = PipeSink(BufWriter::new(io::stdout()));
    let mut exit = Exit::Done;
    let mut written = Vec::new();
    for step in walk::walk(&args.paths, &filter, links) {
        written.clear();
        match step {
            WalkStep::File(file) => match divided(&file, given, args.size) {
                Ok(items) => items.iter().for_each(|item| write_item(item, &mut written)),
                Err(error) => exit = failed(&file.source, &error.to_string()),
            },
            WalkStep::Part { item, .. } => write_item(&item, &mut written),
            WalkStep::Stdin => {
                return Err(Failure::new(
                    Exit::Usage,
                    "standard input cannot be divided",
                ));
            }
            WalkStep::Skipped { .. } => {}
            WalkStep::Failed(event) => exit = failed(&event.source, &event.diagnostic.message),
        }
        if !out
            .put(&written)
            .map_err(|error| Failure::output("standard output", &error))?
        {
            break;
        }
    }
    out.finish()
        .map_err(|error| Failure::output("standard output", &error))?;
    Ok(exit)
}

fn failed(source: &Source, why: &str) -> Exit {
    eprintln!(
        "urlspool: {}: {}",
        harmless(&source.path.to_string_lossy()),
        harmless(why)
    );
    Exit::SomeFailed
}

/// The items of a file: parts of about equal size, none above `most` bytes, if it is an mbox.
fn divided(
    file: &walk::WalkedFile,
    given: Option<Format>,
    most: u64,
) -> io::Result<Vec<FileRange>> {
    let mut start = Vec::new();
    read::open(file)?
        .take(SNIFF_BYTES as u64)
        .read_to_end(&mut start)?;
    let is_divisible = splittable_format(&start, given, file.hint).is_some();
    if has_cr_line_ends(&start) {
        cr_to_lf(&mut start);
    }
    let format = detect_format(&start, given, file.hint).ok();
    let parts = if is_divisible {
        file.size.div_ceil(most).max(1)
    } else {
        1
    };
    let border = |part: u64| (u128::from(file.size) * u128::from(part) / u128::from(parts)) as u64;
    let item = |part| FileRange {
        source: file.source.clone(),
        start: border(part),
        end: border(part + 1),
        kind: format.map(Format::kind),
    };
    Ok((0..parts).map(item).collect())
}
