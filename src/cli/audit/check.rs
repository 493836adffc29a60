//! `urlspool audit check`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::super::args::AuditCheckArgs;
use super::super::error::{CommandError, CommandResult};
use super::super::exit::Exit;
use super::progress::StderrProgress;
use super::stop::stop_on_signals;
use crate::audit::{CheckCounts, CheckJob, LinkState, check as check_links};

pub(super) fn check(args: &AuditCheckArgs) -> CommandResult {
    let mut job = CheckJob::new(args.database.clone(), std::env::temp_dir());
    job.checker.clone_from(&args.checker);
    job.checker_args = args
        .words()
        .map_err(|reason| CommandError::new(Exit::Usage, reason))?;
    job.max_age = args.max_age;
    job.private_hosts.clone_from(&args.allow_private);
    job.limit = args.limit;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let mut progress = StderrProgress::new(args.quiet);
    let counts = check_links(&job, &stop, &mut progress)?;
    progress.finish();
    if !args.quiet {
        eprintln!("urlspool: {}", summary(&counts));
    }
    Ok(if counts.is_interrupted {
        Exit::Interrupted
    } else {
        Exit::Done
    })
}

fn summary(counts: &CheckCounts) -> String {
    let mut text = format!("{} of {} URLs checked", counts.checked, counts.due);
    for state in LinkState::ALL {
        let count = counts.states.get(&state).copied().unwrap_or(0);
        if count > 0 {
            text.push_str(&format!(", {count} {}", state.name().replace('_', " ")));
        }
    }
    for (count, noun) in [
        (
            counts.excluded,
            "not contacted (private hosts, or the checker's own rules)",
        ),
        (counts.unanswered, "without an answer of the checker"),
    ] {
        if count > 0 {
            text.push_str(&format!(", among these {count} {noun}"));
        }
    }
    if counts.unmatched > 0 {
        text.push_str(&format!(
            "; {} answers for URLs that were not asked for",
            counts.unmatched
        ));
    }
    if counts.is_interrupted {
        text.push_str("; interrupted, run it again to go on");
    }
    text
}
