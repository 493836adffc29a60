//! `urlspool audit check`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::super::args::AuditCheckArgs;
use super::super::error::{CommandError, CommandResult};
use super::super::exit::Exit;
use super::super::stderr::print_message;
use super::super::terminal::counted;
use super::progress::StderrProgress;
use super::stop::stop_on_signals;
use crate::audit::{CheckCounts, CheckJob, LinkState, check as check_links};

pub(super) fn check(args: &AuditCheckArgs) -> CommandResult {
    let mut job = CheckJob::new(args.database.clone(), std::env::temp_dir());
    job.checker.clone_from(&args.checker);
    job.checker_args = args
        .words()
        .map_err(|error| CommandError::new(Exit::Usage, error.to_string()))?;
    job.max_age = args.max_age;
    job.private_hosts.clone_from(&args.allow_private);
    job.accepts_unreachable = args.accept_unreachable;
    job.limit = args.limit;
    let stop = Arc::new(AtomicBool::new(false));
    stop_on_signals(&stop)?;
    let mut progress = StderrProgress::new(args.quiet);
    let counts = check_links(&job, &stop, &mut progress);
    progress.finish();
    let counts = counts?;
    if !args.quiet {
        print_message(format_args!("urlspool: {}", summary(&counts)));
        if counts.silent > 0 {
            print_message(format_args!("urlspool: {}", silence(counts.silent)));
        }
    }
    Ok(if counts.is_interrupted {
        Exit::Interrupted
    } else {
        Exit::Done
    })
}

/// The way out if a silence that was stored was that of the network.
fn silence(urls: u64) -> String {
    let urls = counted(urls, "URL", "URLs");
    format!(
        "no server replied for {urls} that were checked together; if this machine had no network then, check them again with \
         `--max-age 0h`: the newest results count"
    )
}

fn summary(counts: &CheckCounts) -> String {
    let mut text = format!(
        "{} of {} checked",
        counts.checked,
        counted(counts.due, "URL", "URLs")
    );
    for state in LinkState::ALL {
        let count = counts.states.get(&state).copied().unwrap_or(0);
        if count > 0 {
            let (one, many) = nouns(state);
            text.push_str(&format!(", {}", counted(count, one, many)));
        }
    }
    for (count, noun) in [
        (
            counts.excluded,
            "not contacted (private, or excluded by the checker)",
        ),
        (counts.unanswered, "without an answer of the checker"),
    ] {
        if count > 0 {
            text.push_str(&format!("; {count} of them {noun}"));
        }
    }
    if counts.unmatched > 0 {
        let answers = counted(
            counts.unmatched,
            "answer for a URL that was not asked for",
            "answers for URLs that were not asked for",
        );
        text.push_str(&format!("; {answers}"));
    }
    if counts.due == 0 {
        text.push_str(if counts.planned == 0 {
            "; the plan holds no links to check, and `urlspool audit plan` prints why they are left out"
        } else {
            "; each planned link has a result that is not older than `--max-age`"
        });
    }
    if counts.is_interrupted {
        text.push_str("; interrupted, run it again to go on");
    }
    text
}

/// The words for one link of a state, and for several.
fn nouns(state: LinkState) -> (&'static str, &'static str) {
    match state {
        LinkState::Alive => ("alive", "alive"),
        LinkState::Redirected => ("redirected", "redirected"),
        LinkState::DeadPage => ("dead page", "dead pages"),
        // Links, of which several may have one host.
        LinkState::DeadHost => ("on a dead host", "on dead hosts"),
        LinkState::Unknown => ("unknown", "unknown"),
    }
}
