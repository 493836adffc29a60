//! Checks the links that are due, in batches, with lychee.
//!
//! lychee reaches the network only through a proxy of this process (`check/guard_proxy.rs`), which resolves each name, refuses
//! hosts that are not public, also at the end of redirects, and knows why a host could not be reached.

mod checker;
mod due_links;
mod guard_proxy;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::clock::{now, time_before};
use super::database::AuditDb;
use super::error::AuditError;
use super::lychee_answers::Answer;
use super::results::{CheckResult, ResultStore};
use super::state::{CheckFailure, CheckOutcome, LinkState};
use crate::limits::AUDIT_BATCH_LINKS;
use checker::{BatchEnd, Checker};
use guard_proxy::GuardProxy;

/// Links to check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckJob {
    /// The database with a plan.
    pub database: PathBuf,
    /// The program lychee.
    pub checker: PathBuf,
    /// Arguments for it, after those that are given anyway.
    pub checker_args: Vec<String>,
    /// Age from which a result is out of date, so that its link is due.
    pub max_age: Duration,
    /// Hosts, or addresses, that are contacted although they are private.
    pub private_hosts: Vec<String>,
    /// A folder for temporary files.
    pub temporary: PathBuf,
    /// Maximum number of links to check; `None` checks all that are due.
    pub limit: Option<u64>,
}

impl CheckJob {
    /// Creates the check of all links of `database` that have no result of the last 30 days, with the program `lychee`.
    #[must_use]
    pub fn new(database: PathBuf, temporary: PathBuf) -> CheckJob {
        CheckJob {
            database,
            checker: PathBuf::from("lychee"),
            checker_args: Vec::new(),
            max_age: Duration::from_hours(30 * 24),
            private_hosts: Vec::new(),
            temporary,
            limit: None,
        }
    }
}

/// Numbers of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckCounts {
    /// URLs that are due at the start.
    pub due: u64,
    /// URLs with a result.
    pub checked: u64,
    /// Results by state.
    pub states: BTreeMap<LinkState, u64>,
    /// URLs that the checker or the proxy refused to ask for; part of `checked`.
    pub excluded: u64,
    /// URLs that the checker gave no answer for; part of `checked`.
    pub unanswered: u64,
    /// Answers for URLs that were not asked for.
    pub unmatched: u64,
    /// `true` if it was interrupted. The batch at that time has no results.
    pub is_interrupted: bool,
}

/// Receives the progress of a check or of questions to an archive.
pub trait AuditProgress {
    /// Reports the time that all URLs take at least, if it is known.
    fn expected(&mut self, due: u64, time: Duration);

    /// Reports the URLs that are done, of all that are due.
    fn done(&mut self, done: u64, due: u64);
}

/// Checks the links that are due. Sets `stop` to end it: the checker is killed, and the present batch has no results.
///
/// # Errors
///
/// The checker cannot be run, or the database cannot be written. Batches before stay.
pub fn check(
    job: &CheckJob,
    stop: &AtomicBool,
    progress: &mut dyn AuditProgress,
) -> Result<CheckCounts, AuditError> {
    let audit = AuditDb::open_to_write(&job.database)?;
    let checker = Checker::find(job)?;
    audit.set_meta("checker", checker.version())?;
    let mut due = due_links::due_links(&audit, &time_before(job.max_age))?;
    due.truncate(
        job.limit
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(usize::MAX),
    );
    let mut counts = CheckCounts {
        due: due.len() as u64,
        ..CheckCounts::default()
    };
    for batch in due.chunks(AUDIT_BATCH_LINKS) {
        let proxy = GuardProxy::start(&job.private_hosts)?;
        let answers = match checker.run(batch, &proxy, stop)? {
            BatchEnd::Answered(answers) => answers,
            BatchEnd::Stopped => {
                counts.is_interrupted = true;
                return Ok(counts);
            }
        };
        let answers = answers.into_iter().map(|answer| proxy.explained(answer));
        store(&audit, checker.version(), batch, answers, &mut counts)?;
        progress.done(counts.checked, counts.due);
        if stop.load(Ordering::Relaxed) {
            counts.is_interrupted = true;
            break;
        }
    }
    Ok(counts)
}

/// Stores the results of a batch, in one transaction.
fn store(
    audit: &AuditDb,
    checker: &str,
    batch: &[String],
    answers: impl Iterator<Item = Answer>,
    counts: &mut CheckCounts,
) -> Result<(), AuditError> {
    let mut by_url: HashMap<String, Answer> = HashMap::new();
    for answer in answers {
        by_url.insert(answer.url.clone(), answer);
    }
    let checked_at = now();
    audit.run("BEGIN IMMEDIATE")?;
    let mut store = ResultStore::new(audit, checker)?;
    for url in batch {
        let answer = by_url.remove(url);
        let result = CheckResult {
            url,
            asked_url: answer.as_ref().map_or(url, |answer| &answer.asked_url),
            outcome: answer
                .as_ref()
                .map_or(CheckOutcome::Failed(CheckFailure::Unanswered), |answer| {
                    answer.outcome
                }),
            final_url: answer
                .as_ref()
                .and_then(|answer| answer.final_url.as_deref()),
            checked_at: &checked_at,
        };
        store.put(&result)?;
        count(counts, &result);
    }
    counts.unmatched += by_url.len() as u64;
    audit.run("COMMIT")
}

fn count(counts: &mut CheckCounts, result: &CheckResult<'_>) {
    counts.checked += 1;
    *counts.states.entry(result.state()).or_default() += 1;
    match result.outcome {
        CheckOutcome::Failed(CheckFailure::Excluded) => counts.excluded += 1,
        CheckOutcome::Failed(CheckFailure::Unanswered) => counts.unanswered += 1,
        _ => {}
    }
}
