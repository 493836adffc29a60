//! `urlspool audit report`.

use super::super::args::AuditReportArgs;
use super::super::error::CommandResult;
use super::super::exit::Exit;
use super::super::stderr::print_message;
use super::super::stdout::STDOUT;
use super::super::terminal::escaped;
use crate::audit::{ReportFiles, ReportJob, SenderPolicy, report as write_report};
use crate::sink::OutputPlace;

pub(super) fn report(args: &AuditReportArgs) -> CommandResult {
    let mut job = ReportJob::new(args.database.clone(), args.output.clone());
    job.csv_folder.clone_from(&args.csv);
    if args.no_senders {
        job.senders = SenderPolicy::LeftOut;
    }
    let written = write_report(&job)?;
    if !args.quiet {
        print_message(format_args!(
            "urlspool: {}",
            escaped(&summary(&job, written))
        ));
    }
    Ok(Exit::Done)
}

fn summary(job: &ReportJob, written: ReportFiles) -> String {
    let mut text = match OutputPlace::of(&job.output) {
        OutputPlace::Stdout => format!("wrote the report to {STDOUT}"),
        OutputPlace::Device(path) | OutputPlace::File(path) => format!("wrote {}", path.display()),
    };
    if let Some(folder) = &job.csv_folder {
        let (count, folder) = (written.csv_files, folder.display());
        text.push_str(&format!(" and {count} CSV files in {folder}"));
    }
    text
}
