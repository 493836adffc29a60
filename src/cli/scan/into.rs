//! `urlspool scan --into`: a scan whose records are loaded while it runs.

use std::io::{self, IsTerminal};
use std::path::Path;

use super::super::args::ScanArgs;
use super::super::error::CommandError;
use super::super::load::{StderrReport, credentials, load_error, summary};
use super::super::terminal::print_message;
use super::report::ScanReport;
use urlspool_files::pipeline::{self, Job, Summary};
use urlspool_record::extract::Extractor;
use urlspool_record::record::FieldId;
use urlspool_sources::walk::DeviceInode;
use urlspool_store::load::{
    LoadCounts, LoadJob, LoadMode, ScannedFiles, TargetName, files_of_database, load_scan,
};

/// Returns the load that the arguments request, if any.
///
/// # Errors
///
/// A missing database has no rows to count, and a database that is also an input would be
/// destroyed.
pub(super) fn load_job(args: &ScanArgs, job: &Job) -> Result<Option<LoadJob>, CommandError> {
    let Some(target) = &args.into else {
        return Ok(None);
    };
    if let Some(database) = database(target) {
        if args.dry_run && !database.exists() {
            let name = database.display();
            return Err(CommandError::usage(format!(
                "there is no database {name}, so --dry-run has no rows to count"
            )));
        }
        let is_database =
            |root: &&Path| identity(root).is_some_and(|id| identity(database) == Some(id));
        let mut roots = job.roots.iter().map(AsRef::as_ref);
        if let Some(root) = roots.find(is_database) {
            let name = root.display();
            return Err(CommandError::usage(format!(
                "{name} is both an input and the target; load into another file"
            )));
        }
    }
    let mut load = LoadJob::new(target.clone(), Vec::new());
    if args.replace {
        load.mode = LoadMode::Replace;
    }
    load.is_dry_run = args.dry_run;
    load.credentials = credentials();
    Ok(Some(load))
}

/// The target, as written in a command.
pub(super) fn name(target: &TargetName) -> String {
    database(target).map_or_else(|| "TARGET".to_owned(), |path| path.display().to_string())
}

/// The file of the target, if it is a file.
pub(super) fn database(target: &TargetName) -> Option<&Path> {
    match target {
        TargetName::Sqlite(path) => Some(path),
        _ => None,
    }
}

fn identity(path: &Path) -> Option<DeviceInode> {
    path.metadata().ok().map(|found| DeviceInode::of(&found))
}

/// The record fields that the target needs.
pub(super) fn fields(target: &TargetName) -> Vec<FieldId> {
    match target {
        TargetName::Elasticsearch { .. } => FieldId::ALL.to_vec(),
        _ => FieldId::loaded(),
    }
}

/// Scans and loads. Returns the result of the scan, and the counts of the load.
///
/// # Errors
///
/// The target is unusable, or the load failed.
pub(super) fn run(
    load: &LoadJob,
    job: &mut Job,
    extractor: &Extractor,
    report: &mut ScanReport,
) -> Result<(io::Result<Summary>, LoadCounts), CommandError> {
    let mut load_report = StderrReport::below(report.bar.clone());
    let scan = |feed| {
        if let Some(database) = database(&load.target) {
            // The files exist by now.
            let files = files_of_database(database).collect();
            job.filter = std::mem::take(&mut job.filter).without_own_outputs(files);
        }
        let files = ScannedFiles::beneath(&job.roots);
        report.loaded = Some((feed, files));
        let run = pipeline::run(job, extractor, report);
        if let (Ok(_), Some((feed, files))) = (&run, report.loaded.take()) {
            feed.end(files);
        }
        run
    };
    let ended = load_scan(load, &mut |event| load_report.report(event), scan);
    report.bar.finish_and_clear();
    load_report.finish();
    ended.map_err(|error| load_error(&error))
}

/// Prints the counts of the load: always for a dry run, otherwise on a terminal, on request, or if
/// `--replace` removed rows.
pub(super) fn print_counts(args: &ScanArgs, counts: &LoadCounts) {
    let summary = summary(counts);
    let is_told = args.replace && 0 < counts.removed;
    if args.dry_run {
        print_message(format_args!(
            "urlspool: --dry-run changed nothing; a load: {summary}"
        ));
    } else if !args.general.quiet && (args.verbose || is_told || io::stderr().is_terminal()) {
        print_message(format_args!("urlspool: {summary}"));
    }
}
