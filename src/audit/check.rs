//! Checks the links that are due, in batches, with lychee.
//!
//! lychee reaches the network only through a proxy of this process (`check/guard_proxy.rs`), which resolves each name, refuses
//! hosts that are not public, also at the end of redirects, and knows why a host could not be reached.

mod batch_replies;
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
use batch_replies::BatchReplies;
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
    /// `true` to store results of a batch in which no host answered, although this machine may have had no network.
    pub accepts_unreachable: bool,
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
            accepts_unreachable: false,
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
    /// URLs for which a server replied; part of `checked`.
    pub replies: u64,
    /// URLs of batches in which servers were asked and none replied; part of `checked`.
    pub silent: u64,
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
/// The checker cannot be run, none of many hosts answered, or the database cannot be written. Batches before stay.
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
        let answers = by_url(answers);
        let checked_at = now();
        let results = results(batch, &answers, &checked_at);
        let replies = BatchReplies::of(&results);
        if !job.accepts_unreachable && replies.are_missing(counts.replies) {
            return Err(AuditError::Unreachable(replies.doubt()));
        }
        store(&audit, checker.version(), &results)?;
        counts.add(&results, &replies);
        counts.unmatched += unmatched(batch, &answers);
        progress.done(counts.checked, counts.due);
        if stop.load(Ordering::Relaxed) {
            counts.is_interrupted = true;
            break;
        }
    }
    Ok(counts)
}

/// The answers of a batch by the URL that was given.
fn by_url(answers: impl Iterator<Item = Answer>) -> HashMap<String, Answer> {
    answers.map(|answer| (answer.url.clone(), answer)).collect()
}

/// Number of answers for URLs that are not in the batch.
fn unmatched(batch: &[String], answers: &HashMap<String, Answer>) -> u64 {
    let matched = batch.iter().filter(|url| answers.contains_key(*url));
    (answers.len() - matched.count()) as u64
}

/// The result of each URL of a batch.
fn results<'r>(
    batch: &'r [String],
    answers: &'r HashMap<String, Answer>,
    checked_at: &'r str,
) -> Vec<CheckResult<'r>> {
    let result = |url| {
        let answer = answers.get(url);
        let unanswered = CheckOutcome::Failed(CheckFailure::Unanswered);
        CheckResult {
            url,
            asked_url: answer.map_or(url, |answer| &answer.asked_url),
            outcome: answer.map_or(unanswered, |answer| answer.outcome),
            final_url: answer.and_then(|answer| answer.final_url.as_deref()),
            checked_at,
        }
    };
    batch.iter().map(|url| result(url.as_str())).collect()
}

/// Stores the results of a batch, in one transaction.
fn store(audit: &AuditDb, checker: &str, results: &[CheckResult<'_>]) -> Result<(), AuditError> {
    audit.run("BEGIN IMMEDIATE")?;
    let mut store = ResultStore::new(audit, checker)?;
    for result in results {
        store.put(result)?;
    }
    audit.run("COMMIT")
}

impl CheckCounts {
    /// Counts the results of a batch and its replies.
    fn add(&mut self, results: &[CheckResult<'_>], replies: &BatchReplies) {
        self.replies += replies.replies;
        if replies.are_silent() {
            self.silent += results.len() as u64;
        }
        for result in results {
            self.checked += 1;
            *self.states.entry(result.state()).or_default() += 1;
            match result.outcome {
                CheckOutcome::Failed(CheckFailure::Excluded) => self.excluded += 1,
                CheckOutcome::Failed(CheckFailure::Unanswered) => self.unanswered += 1,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts a batch of one result.
    fn add(counts: &mut CheckCounts, outcome: CheckOutcome) {
        let results = [CheckResult {
            url: "http://h.test/",
            asked_url: "http://h.test/",
            outcome,
            final_url: None,
            checked_at: "2026-11-22T10:00:00Z",
        }];
        counts.add(&results, &BatchReplies::of(&results));
    }

    #[test]
    fn silent_batches_are_counted_after_replies_too() {
        let mut counts = CheckCounts::default();
        for (outcome, silent) in [
            (CheckOutcome::Status(200), 0),
            (CheckOutcome::Failed(CheckFailure::Timeout), 1),
            (CheckOutcome::Failed(CheckFailure::Excluded), 1),
            (CheckOutcome::Failed(CheckFailure::Unanswered), 1),
            (CheckOutcome::Failed(CheckFailure::Dns), 2),
            (CheckOutcome::Failed(CheckFailure::Tls), 2),
        ] {
            add(&mut counts, outcome);
            assert_eq!(counts.silent, silent, "{outcome:?}");
        }
        assert_eq!((counts.checked, counts.replies), (6, 2));
    }
}
