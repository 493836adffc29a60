//! `urlspool audit import`.

use super::super::args::AuditImportArgs;
use super::super::error::CommandResult;
use super::super::exit::Exit;
use super::super::stderr::print_message;
use super::super::terminal::{counted, escaped};
use crate::audit::{
    ImportCounts, ImportJob, ImportReport, ResultError, ResultPlace, import as import_results,
};
use crate::diagnostic::shortened;
use crate::limits::MESSAGE_VALUE_CHARS;

/// Refused results that are named; the others are counted.
const NAMED_RESULTS: u64 = 20;

pub(super) fn import(args: &AuditImportArgs) -> CommandResult {
    let mut job = ImportJob::new(args.database.clone(), args.results.clone());
    job.checked_at = args.checked_at;
    job.checker.clone_from(&args.checker);
    let mut report = RefusedResults {
        file: args.results.display().to_string(),
        count: 0,
    };
    let counts = import_results(&job, &mut report)?;
    report.finish();
    if !args.quiet {
        print_message(format_args!("urlspool: {}", summary(&counts)));
    }
    Ok(if counts.refused == 0 {
        Exit::Done
    } else {
        Exit::SomeFailed
    })
}

fn summary(counts: &ImportCounts) -> String {
    let results = counted(counts.read, "result", "results");
    let mut text = format!("{results}, {} new", counts.added);
    for (count, words) in [
        (counts.known, "imported before"),
        (
            counts.repeated,
            "with URL and time of an earlier one in the file, which counts",
        ),
        (counts.unmatched, "of URLs that are not planned"),
    ] {
        if count > 0 {
            text.push_str(&format!(", {count} {words}"));
        }
    }
    if counts.refused > 0 {
        text.push_str(&format!("; {} refused", counts.refused));
    }
    text
}

/// Reports refused results on standard error.
struct RefusedResults {
    file: String,
    count: u64,
}

impl RefusedResults {
    /// Reports the number of refused results that were not named.
    fn finish(&self) {
        if NAMED_RESULTS < self.count {
            let more = counted(
                self.count - NAMED_RESULTS,
                "more result is refused",
                "more results are refused",
            );
            print_message(format_args!("urlspool: {}: {more}", escaped(&self.file)));
        }
    }
}

impl ImportReport for RefusedResults {
    fn refused(&mut self, place: ResultPlace<'_>, error: &ResultError) {
        self.count += 1;
        if self.count <= NAMED_RESULTS {
            let place = match place {
                ResultPlace::Line(line) => format!("line {line}"),
                ResultPlace::Url(url) => shortened(url, MESSAGE_VALUE_CHARS).into_owned(),
            };
            let message = format!("{}, {place}: {error}", self.file);
            print_message(format_args!("urlspool: {}", escaped(&message)));
        }
    }
}
