//! `urlspool audit import`.

use super::super::args::AuditImportArgs;
use super::super::error::CommandResult;
use super::super::exit::Exit;
use super::super::terminal::escaped;
use super::counted;
use crate::audit::{
    ImportCounts, ImportJob, ImportReport, ResultLineError, import as import_results,
};

/// Bad lines that are named; the others are counted.
const NAMED_LINES: u64 = 20;

pub(super) fn import(args: &AuditImportArgs) -> CommandResult {
    let mut job = ImportJob::new(args.database.clone(), args.results.clone());
    job.checked_at = args.checked_at;
    job.checker.clone_from(&args.checker);
    let mut report = BadLines {
        file: args.results.display().to_string(),
        count: 0,
    };
    let counts = import_results(&job, &mut report)?;
    report.finish();
    if !args.quiet {
        eprintln!("urlspool: {}", summary(&counts));
    }
    Ok(if counts.bad_lines == 0 {
        Exit::Done
    } else {
        Exit::SomeFailed
    })
}

fn summary(counts: &ImportCounts) -> String {
    let results = counted(counts.read, "result", "results");
    let mut text = format!("{results}, {} of them new", counts.added);
    if counts.unmatched > 0 {
        text.push_str(&format!(
            ", {} of URLs that are not planned",
            counts.unmatched
        ));
    }
    if counts.bad_lines > 0 {
        let lines = counted(
            counts.bad_lines,
            "line that is no result",
            "lines that are no result",
        );
        text.push_str(&format!(", {lines}"));
    }
    text
}

/// Reports bad lines on standard error.
struct BadLines {
    file: String,
    count: u64,
}

impl BadLines {
    /// Reports the number of bad lines that were not named.
    fn finish(&self) {
        if NAMED_LINES < self.count {
            let more = self.count - NAMED_LINES;
            let lines = counted(more, "more line is no result", "more lines are no results");
            eprintln!("urlspool: {lines}");
        }
    }
}

impl ImportReport for BadLines {
    fn bad_line(&mut self, line: u64, error: &ResultLineError) {
        self.count += 1;
        if self.count <= NAMED_LINES {
            let (file, reason) = (escaped(&self.file), escaped(&error.to_string()));
            eprintln!("urlspool: {file}, line {line}: {reason}");
        }
    }
}
