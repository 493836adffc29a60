//! `urlspool audit archive`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::super::args::AuditArchiveArgs;
use super::super::error::CommandResult;
use super::super::exit::Exit;
use super::super::stderr::print_message;
use super::super::terminal::{counted, escaped};
use super::progress::StderrProgress;
use super::stop::stop_on_signals;
use crate::audit::{ArchiveCounts, ArchiveJob, archive as ask_archive};

pub(super) fn archive(args: &AuditArchiveArgs) -> CommandResult {
    let (server, contact) = (args.cdx.clone(), args.contact.clone());
    let mut job = ArchiveJob::new(args.database.clone(), server, contact);
    job.rate = args.rate;
    job.limit = args.limit;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let mut progress = StderrProgress::new(args.quiet);
    let counts = ask_archive(&job, &stop, &mut progress);
    progress.finish();
    let counts = counts?;
    if !args.quiet {
        print_message(format_args!("urlspool: {}", escaped(&summary(&counts))));
    }
    Ok(if counts.is_interrupted {
        Exit::Interrupted
    } else if counts.failed > 0 {
        Exit::SomeFailed
    } else {
        Exit::Done
    })
}

fn summary(counts: &ArchiveCounts) -> String {
    let mut text = format!(
        "{} of {} asked for, {} archived, {} not",
        counts.asked(),
        counted(counts.due, "URL", "URLs"),
        counts.captured,
        counts.none
    );
    if counts.failed > 0 {
        text.push_str(&format!(", {} without an answer", counts.failed));
    }
    if let Some(reason) = &counts.last_failure {
        text.push_str(&format!(" (the last: {reason})"));
    }
    if let Some(reason) = &counts.last_refusal {
        text.push_str(&format!("; the server refused at the end ({reason})"));
    }
    if counts.due == 0 {
        text.push_str(if counts.planned == 0 {
            "; the plan holds no links, and `urlspool audit plan` prints why they are left out"
        } else {
            "; this server was asked for each planned link before, or an archive is known to hold it"
        });
    }
    if counts.is_interrupted {
        text.push_str("; interrupted, run it again to go on");
    }
    text
}
