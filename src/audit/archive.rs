//! Asks a CDX server, of the Wayback Machine or of pywb, for the captures that are nearest to the
//! first citations.
//!
//! Each answer is stored when it comes, so that an interruption loses nothing.

mod cdx;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::params;
use twox_hash::XxHash3_64;

use super::AuditError;
use super::check::AuditProgress;
use super::database::{AuditDb, now};
use super::state::LinkState;
use crate::limits::{
    AUDIT_FAILED_ANSWERS, AUDIT_POLL_MS, AUDIT_REFUSAL_SECONDS, AUDIT_REFUSALS,
    AUDIT_RETRY_AFTER_SECONDS,
};
use cdx::Capture;
pub(super) use cdx::{CdxClient, CdxReply, is_contact, nearest};

/// Questions to an archive.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArchiveJob {
    /// The database with a plan.
    pub database: PathBuf,
    /// The CDX server, a URL without the question.
    pub server: String,
    /// A mail address or a page, for the owners of the server.
    pub contact: String,
    /// Maximum number of questions a minute.
    pub rate: u32,
    /// Maximum number of links to ask for; `None` asks for all that are due.
    pub limit: Option<u64>,
}

impl ArchiveJob {
    /// Creates the questions for all links of `database` to `server`, 20 a minute.
    #[must_use]
    pub fn new(database: PathBuf, server: String, contact: String) -> ArchiveJob {
        ArchiveJob {
            database,
            server,
            contact,
            rate: 20,
            limit: None,
        }
    }
}

/// Numbers of the questions to an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchiveCounts {
    /// URLs that are due at the start.
    pub due: u64,
    /// URLs that are planned.
    pub planned: u64,
    /// URLs with a capture.
    pub captured: u64,
    /// URLs without a capture.
    pub none: u64,
    /// URLs for which the server gave no answer. They are due again.
    pub failed: u64,
    /// The reason of the last of these; `None` without any.
    pub last_failure: Option<String>,
    /// The reason for which the server refused, if it did at the end.
    pub last_refusal: Option<String>,
    /// `true` if it was interrupted.
    pub is_interrupted: bool,
}

impl ArchiveCounts {
    /// Returns the number of URLs that were asked for.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.captured + self.none + self.failed
    }
}

/// A URL to ask for.
struct DueUrl {
    url: String,
    /// Time of the first citation, 14 digits.
    cited: Option<String>,
    is_dead: bool,
}

/// URLs that no archive is known to have, and that this server was not asked for.
const DUE: &str = "
SELECT url, min(first_cited),
  max(ifnull((SELECT state IN ({dead}) FROM audit_checks
    WHERE audit_checks.key = audit_links.key ORDER BY checked_at DESC, id DESC LIMIT 1), 0))
FROM audit_links
WHERE planned AND NOT EXISTS (SELECT 1 FROM audit_captures
  WHERE audit_captures.key = audit_links.key
    AND (outcome = 'captured' OR outcome = 'none' AND server = ?1))
GROUP BY url";

const STORE: &str = "
INSERT INTO audit_captures
SELECT key, ?2, ?3, ?4, ?5, ?6, ?7 FROM audit_links WHERE url=?1 AND planned
ON CONFLICT(key) DO UPDATE SET server=excluded.server, asked_at=excluded.asked_at,
  timestamp=excluded.timestamp, original=excluded.original, status=excluded.status,
  outcome=excluded.outcome
WHERE outcome <> 'captured'";

/// Asks an archive for the links that are due, dead ones first. Sets `stop` to end it.
///
/// # Errors
///
/// The server cannot be used, or refuses repeatedly; the database cannot be written. Answers before
/// stay.
pub fn archive(
    job: &ArchiveJob,
    stop: &AtomicBool,
    progress: &mut dyn AuditProgress,
) -> Result<ArchiveCounts, AuditError> {
    let client = CdxClient::new(&job.server, &job.contact)?;
    let audit = AuditDb::open_to_write(&job.database)?;
    audit.set_meta("cdx", &job.server)?;
    let due = due_urls(&audit, job)?;
    let mut asking = Asking {
        audit: &audit,
        job,
        counts: ArchiveCounts {
            due: due.len() as u64,
            planned: audit.planned_urls()?,
            ..ArchiveCounts::default()
        },
        pace: Pace::new(job.rate),
        refusals: 0,
        failed_in_a_row: 0,
    };
    progress.expected(asking.counts.due, asking.pace.expected(asking.counts.due));
    for url in &due {
        if !asking.ask(&client, url, stop)? {
            asking.counts.is_interrupted = true;
            break;
        }
        progress.done(asking.counts.asked(), asking.counts.due);
    }
    Ok(asking.counts)
}

fn due_urls(audit: &AuditDb, job: &ArchiveJob) -> Result<Vec<DueUrl>, AuditError> {
    let dead = LinkState::ALL.into_iter().filter(|state| state.is_dead());
    let dead: Vec<_> = dead.map(|state| format!("'{}'", state.name())).collect();
    let sql = DUE.replace("{dead}", &dead.join(", "));
    let mut due = audit.rows(&sql, [&job.server], |row| {
        let cited: Option<String> = row.get(1)?;
        Ok(DueUrl {
            url: row.get(0)?,
            cited: cited.map(|date| date.chars().filter(char::is_ascii_digit).collect()),
            is_dead: row.get(2)?,
        })
    })?;
    // Those of one host far apart: an archive that refuses a host would seem to refuse everything.
    due.sort_by_cached_key(|url| (!url.is_dead, XxHash3_64::oneshot(url.url.as_bytes())));
    due.truncate(
        job.limit
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(usize::MAX),
    );
    Ok(due)
}

struct Asking<'a> {
    audit: &'a AuditDb,
    job: &'a ArchiveJob,
    counts: ArchiveCounts,
    pace: Pace,
    /// Refusals since the last answer.
    refusals: u32,
    /// Failed answers since the last good one.
    failed_in_a_row: u32,
}

impl Asking<'_> {
    /// Asks until there is an answer, and stores it. Returns `false` if it was stopped before.
    fn ask(
        &mut self,
        client: &CdxClient,
        due: &DueUrl,
        stop: &AtomicBool,
    ) -> Result<bool, AuditError> {
        loop {
            if !self.pace.wait(stop) {
                return Ok(false);
            }
            let reply = client.ask(&due.url, due.cited.as_deref())?;
            self.counts.last_refusal = None;
            match reply {
                CdxReply::Captures(captures) => {
                    (self.refusals, self.failed_in_a_row) = (0, 0);
                    self.store_nearest(due, &captures)?;
                    return Ok(true);
                }
                CdxReply::Failed(reason) => {
                    self.refusals = 0;
                    self.store(due, None, "failed")?;
                    self.counts.failed += 1;
                    self.failed(&reason)?;
                    self.counts.last_failure = Some(reason);
                    return Ok(true);
                }
                CdxReply::Refused {
                    reason,
                    retry_after,
                } => self.refused(reason, retry_after)?,
            }
        }
    }

    fn store_nearest(&mut self, due: &DueUrl, captures: &[Capture]) -> Result<(), AuditError> {
        match nearest(captures, due.cited.as_deref()) {
            Some(capture) => {
                self.counts.captured += 1;
                self.store(due, Some(capture), "captured")
            }
            None => {
                self.counts.none += 1;
                self.store(due, None, "none")
            }
        }
    }

    fn store(
        &self,
        due: &DueUrl,
        capture: Option<&Capture>,
        outcome: &str,
    ) -> Result<(), AuditError> {
        let params = params![
            due.url,
            self.job.server,
            now(),
            capture.map(|capture| &capture.timestamp),
            capture.map(|capture| &capture.original),
            capture.and_then(|capture| capture.status),
            outcome,
        ];
        let stored = self
            .audit
            .db
            .prepare_cached(STORE)
            .and_then(|mut statement| statement.execute(params));
        self.audit.named(stored).map(drop)
    }

    /// Ends the questions after too many failed answers: the server is perhaps no CDX server.
    fn failed(&mut self, reason: &str) -> Result<(), AuditError> {
        self.failed_in_a_row += 1;
        if self.failed_in_a_row < AUDIT_FAILED_ANSWERS {
            return Ok(());
        }
        Err(self.ended(&format!(
            "{AUDIT_FAILED_ANSWERS} answers in a row are not those of a CDX server (the last: \
             {reason}); check the address of `--cdx`"
        )))
    }

    /// Puts off the next question, or ends the questions after too many refusals.
    fn refused(&mut self, reason: String, retry_after: Option<Duration>) -> Result<(), AuditError> {
        self.refusals += 1;
        if AUDIT_REFUSALS <= self.refusals {
            return Err(self.ended(&format!(
                "{AUDIT_REFUSALS} refusals in a row (the last: {reason}); run it again later, it \
                 goes on from here"
            )));
        }
        let pause = retry_after.unwrap_or(Duration::from_secs(AUDIT_REFUSAL_SECONDS));
        if Duration::from_secs(AUDIT_RETRY_AFTER_SECONDS) < pause {
            return Err(self.ended(&long_pause(&reason, pause)));
        }
        self.counts.last_refusal = Some(reason);
        self.pace.put_off(pause);
        Ok(())
    }

    /// Returns the error that ends the questions. Answers before are stored.
    fn ended(&self, reason: &str) -> AuditError {
        let (server, asked, due) = (&self.job.server, self.counts.asked(), self.counts.due);
        AuditError::no_answers(format!(
            "{server}: {reason}. URLs that were asked for: {asked} of {due}; their answers are \
             stored"
        ))
    }
}

/// Returns the reason for which questions end that the server puts off for too long.
fn long_pause(reason: &str, pause: Duration) -> String {
    const DAY_SECONDS: u64 = 24 * 60 * 60;
    /// Days of the longest pause that is named.
    const NAMED_DAYS: u64 = 365;
    let asked = format!("{reason}, and the server asks for a pause of");
    if NAMED_DAYS * DAY_SECONDS < pause.as_secs() {
        return format!(
            "{asked} more than {NAMED_DAYS} days; write to its owners, or name another server"
        );
    }
    let minutes = pause.as_secs().div_ceil(60);
    format!("{asked} {minutes} minutes; run it again after that, it goes on from here")
}

/// The time between the starts of two questions.
#[derive(Debug)]
pub(super) struct Pace {
    interval: Duration,
    next: Instant,
}

impl Pace {
    /// Creates the pace of `rate` questions a minute. The first one is free.
    pub(super) fn new(rate: u32) -> Pace {
        Pace {
            interval: Duration::from_mins(1) / rate.max(1),
            next: Instant::now(),
        }
    }

    /// Returns the time that `questions` take at least.
    fn expected(&self, questions: u64) -> Duration {
        let questions = u32::try_from(questions).unwrap_or(u32::MAX);
        self.interval.saturating_mul(questions)
    }

    /// Waits until the next question may be asked. Returns `false` if it was stopped.
    pub(super) fn wait(&mut self, stop: &AtomicBool) -> bool {
        if !wait_until(self.next, stop) {
            return false;
        }
        self.next = Instant::now() + self.interval;
        true
    }

    /// Puts off the next question.
    pub(super) fn put_off(&mut self, pause: Duration) {
        self.next = self.next.max(Instant::now() + pause);
    }
}

/// Waits for a time. Returns `false` if it was stopped.
pub(super) fn wait_until(time: Instant, stop: &AtomicBool) -> bool {
    loop {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let left = time.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        thread::sleep(left.min(Duration::from_millis(AUDIT_POLL_MS)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_have_their_distance_and_a_stop_ends_it() {
        let mut pace = Pace::new(1_200);
        assert_eq!(pace.expected(1_200), Duration::from_mins(1));
        let stop = AtomicBool::new(false);
        let begun = Instant::now();
        for _ in 0..5 {
            assert!(pace.wait(&stop));
        }
        assert!(Duration::from_millis(200) <= begun.elapsed());
        pace.put_off(Duration::from_hours(1));
        stop.store(true, Ordering::Relaxed);
        assert!(!pace.wait(&stop));
    }
}
