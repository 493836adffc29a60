//! `urlspool audit report`.

use super::super::args::AuditReportArgs;
use super::super::error::CommandResult;
use super::super::exit::Exit;
use crate::audit::{ReportJob, SenderPolicy, report as write_report};

pub(super) fn report(args: &AuditReportArgs) -> CommandResult {
    let mut job = ReportJob::new(args.database.clone(), args.output.clone());
    job.csv_folder.clone_from(&args.csv);
    if args.no_senders {
        job.senders = SenderPolicy::LeftOut;
    }
    write_report(&job)?;
    Ok(Exit::Done)
}
