//! Hands links that live and that no archive holds to a save service: the API of the Internet
//! Archive's Save Page Now.
//!
//! The service captures a page some time after it was asked. Its jobs are stored when they are
//! accepted, so that after an interruption nothing is sent twice but perhaps the last URL.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rusqlite::params;
use serde::Deserialize;
use ureq::Agent;
use url::{Host, Url};

use super::AuditError;
use super::archive::{Pace, agent, long_pause, refuse_login};
use super::check::AuditProgress;
use super::database::{AuditDb, now};
use super::plan::must_not_be_sent;
use crate::diagnostic::shortened;
use crate::limits::{
    AUDIT_CDX_BYTES, AUDIT_REFUSAL_SECONDS, AUDIT_REFUSALS, AUDIT_RETRY_AFTER_SECONDS,
    AUDIT_SAVE_ACTIVE, AUDIT_SAVE_DAY, AUDIT_SAVE_POLL_SECONDS, AUDIT_SAVE_RATE,
    AUDIT_SAVE_WAIT_SECONDS, MESSAGE_VALUE_CHARS,
};
use crate::load::{Secret, retry_after};

/// Links to save.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SaveJob {
    /// The database with an audit.
    pub database: PathBuf,
    /// The address of the service's API.
    pub service: String,
    /// A mail address or a page, for the owners of the service.
    pub contact: String,
    /// The keys of an account; the service does not answer without.
    pub keys: SaveKeys,
    /// Maximum number of URLs that are sent in this run; `None` sends all that are due.
    pub limit: Option<u64>,
}

impl SaveJob {
    /// Creates the job to save all links of `database` that are due.
    #[must_use]
    pub fn new(database: PathBuf, service: String, contact: String, keys: SaveKeys) -> SaveJob {
        SaveJob {
            database,
            service,
            contact,
            keys,
            limit: None,
        }
    }
}

/// The keys of an account of the Internet Archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveKeys {
    /// The access key.
    pub access: Secret,
    /// The secret key.
    pub secret: Secret,
}

/// Numbers of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SaveCounts {
    /// URLs that are due at the start.
    pub due: u64,
    /// URLs that were sent in this run.
    pub sent: u64,
    /// Captures of this run, and of runs before that were not known to be complete.
    pub saved: u64,
    /// URLs that the service cannot capture.
    pub failed: u64,
    /// URLs that it could not capture now. They are due again.
    pub again: u64,
    /// Jobs that are not complete. The next run asks for them.
    pub pending: u64,
    /// The reason of the last failure; `None` without any.
    pub last_failure: Option<String>,
    /// `true` if it was interrupted.
    pub is_interrupted: bool,
}

/// A list of URLs for crawlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seeds {
    /// Links that live.
    Living,
    /// Links that live and that no archive which answered has, and that were not sent to a save
    /// service, or could not be captured at that time.
    Unarchived,
}

/// URLs that live, and that are cited in a body with confidence. ?1: 1 for those alone that no archive
/// has.
const SEEDS: &str = "
SELECT url FROM audit_links
WHERE planned
  AND (SELECT state FROM audit_checks WHERE audit_checks.key = audit_links.key
    ORDER BY checked_at DESC, id DESC LIMIT 1) = 'alive'
  AND EXISTS (SELECT 1 FROM links JOIN urls ON urls.link = links.id
    WHERE links.key = audit_links.key AND region NOT LIKE 'header:%' AND 0.8 <= confidence)
  AND (NOT ?1 OR EXISTS (SELECT 1 FROM audit_captures
      WHERE audit_captures.key = audit_links.key AND outcome = 'none')
    AND NOT EXISTS (SELECT 1 FROM audit_saves
      WHERE audit_saves.url = audit_links.url AND outcome <> 'again'))
GROUP BY url ORDER BY sum(citations) DESC, url";

/// Returns the URLs that are due to be saved, the most cited first.
///
/// # Errors
///
/// The database cannot be read, or has no plan.
pub fn urls_to_save(database: &std::path::Path) -> Result<Vec<String>, AuditError> {
    seeds(&AuditDb::open_to_read(database)?, Seeds::Unarchived)
}

/// Returns the number of URLs that were handed to a save service, by outcome.
pub(super) fn outcomes(audit: &AuditDb) -> Result<BTreeMap<SaveOutcome, u64>, AuditError> {
    let sql = "SELECT outcome, count(*) FROM audit_saves GROUP BY outcome";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
    let counts = audit.rows(sql, [], read)?.into_iter();
    Ok(counts
        .filter_map(|(name, count)| Some((SaveOutcome::named(&name)?, count.cast_unsigned())))
        .collect())
}

/// Returns the URLs of a list, the most cited first.
pub(super) fn seeds(audit: &AuditDb, kind: Seeds) -> Result<Vec<String>, AuditError> {
    let mut urls: Vec<String> = audit.rows(SEEDS, [kind == Seeds::Unarchived], |row| row.get(0))?;
    urls.retain(|url| !must_not_be_sent(url));
    Ok(urls)
}

/// Sends the URLs that are due to a save service, and asks what became of them. Sets `stop` to end
/// it.
///
/// # Errors
///
/// The service cannot be used, refuses repeatedly, or has taken as much as it takes in a day; the
/// database cannot be written. What was sent stays known.
pub fn save(
    job: &SaveJob,
    stop: &AtomicBool,
    progress: &mut dyn AuditProgress,
) -> Result<SaveCounts, AuditError> {
    let client = SaveClient::new(job)?;
    let audit = AuditDb::open_to_write(&job.database)?;
    let mut due = seeds(&audit, Seeds::Unarchived)?;
    due.truncate(
        job.limit
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(usize::MAX),
    );
    let counts = SaveCounts {
        due: due.len() as u64,
        ..SaveCounts::default()
    };
    let mut saving = Saving {
        audit: &audit,
        client: &client,
        counts,
        pace: Pace::new(AUDIT_SAVE_RATE),
        poll: Pace::with_interval(Duration::from_secs(AUDIT_SAVE_POLL_SECONDS)),
        refusals: 0,
        active: active_jobs(&audit, &job.service)?,
    };
    progress.expected(saving.counts.due, saving.pace.expected(saving.counts.due));
    let is_done = saving.run(&due, stop, progress);
    saving.counts.pending = saving.active.len() as u64;
    saving.counts.is_interrupted = !is_done?;
    Ok(saving.counts)
}

/// The outcome for a URL that was handed to a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SaveOutcome {
    /// It was captured.
    Saved,
    /// It was accepted, and its capture is not known to be complete.
    Sent,
    /// It could not be captured, and may be at another time.
    Again,
    /// It cannot be captured.
    Failed,
}

impl SaveOutcome {
    /// All outcomes.
    pub const ALL: [SaveOutcome; 4] = [
        SaveOutcome::Saved,
        SaveOutcome::Sent,
        SaveOutcome::Again,
        SaveOutcome::Failed,
    ];

    /// Returns the name that the tables and the CSV files have.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SaveOutcome::Saved => "saved",
            SaveOutcome::Sent => "sent",
            SaveOutcome::Again => "again",
            SaveOutcome::Failed => "failed",
        }
    }

    /// Returns the words for a reader.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            SaveOutcome::Saved => "saved",
            SaveOutcome::Sent => "sent, not known to be complete",
            SaveOutcome::Again => "not captured, to send again",
            SaveOutcome::Failed => "cannot be captured",
        }
    }

    /// Returns the outcome with this name.
    pub(super) fn named(name: &str) -> Option<SaveOutcome> {
        SaveOutcome::ALL
            .into_iter()
            .find(|outcome| outcome.name() == name)
    }
}

/// A capture that the service has accepted.
#[derive(Clone, Debug)]
struct ActiveJob {
    url: String,
    id: String,
    /// The time until which this run asks for it.
    until: Instant,
}

impl ActiveJob {
    fn new(url: String, id: String) -> ActiveJob {
        let until = Instant::now() + Duration::from_secs(AUDIT_SAVE_WAIT_SECONDS);
        ActiveJob { url, id, until }
    }
}

/// Returns the jobs of earlier runs that are not known to be complete.
fn active_jobs(audit: &AuditDb, service: &str) -> Result<Vec<ActiveJob>, AuditError> {
    let sql =
        "SELECT url, job FROM audit_saves WHERE outcome = 'sent' AND service = ?1 ORDER BY url";
    audit.rows(sql, [service], |row| {
        Ok(ActiveJob::new(row.get(0)?, row.get(1)?))
    })
}

struct Saving<'a> {
    audit: &'a AuditDb,
    client: &'a SaveClient,
    counts: SaveCounts,
    /// The pace of captures.
    pace: Pace,
    /// The pace of questions for jobs.
    poll: Pace,
    /// Refusals since the last answer.
    refusals: u32,
    active: Vec<ActiveJob>,
}

impl Saving<'_> {
    /// Sends all URLs, and waits for their jobs. Returns `false` if it was stopped.
    fn run(
        &mut self,
        due: &[String],
        stop: &AtomicBool,
        progress: &mut dyn AuditProgress,
    ) -> Result<bool, AuditError> {
        for url in due {
            while AUDIT_SAVE_ACTIVE <= self.active.len() {
                if !self.ask_for_jobs(stop)? {
                    return Ok(false);
                }
            }
            if !self.send(url, stop)? {
                return Ok(false);
            }
            progress.done(self.counts.sent, self.counts.due);
        }
        while !self.active.is_empty() {
            if !self.ask_for_jobs(stop)? {
                return Ok(false);
            }
            let now = Instant::now();
            if self.active.iter().all(|job| job.until < now) {
                break;
            }
        }
        Ok(true)
    }

    /// Sends a URL, and stores the job. Returns `false` if it was stopped before.
    fn send(&mut self, url: &str, stop: &AtomicBool) -> Result<bool, AuditError> {
        self.check_day()?;
        loop {
            if !self.pace.wait(stop) {
                return Ok(false);
            }
            match self.client.send(url)? {
                SaveReply::Job(id) => {
                    self.refusals = 0;
                    self.counts.sent += 1;
                    self.store(url, "sent", Some(&id), None, None)?;
                    self.active.push(ActiveJob::new(url.to_owned(), id));
                    return Ok(true);
                }
                SaveReply::Error(error) if error.is_of_account() => {
                    self.refused(&Refusal::without_pause(error.text))?;
                }
                SaveReply::Error(error) => {
                    self.refusals = 0;
                    self.counts.sent += 1;
                    self.ended(url, None, &error)?;
                    return Ok(true);
                }
                SaveReply::Refused(refusal) => self.refused(&refusal)?,
            }
        }
    }

    /// Ends the run if the service has taken as many URLs in the last day as it takes.
    fn check_day(&self) -> Result<(), AuditError> {
        let sql = "SELECT count(*) FROM audit_saves
          WHERE service = ?1 AND unixepoch('now', '-1 day') < unixepoch(sent_at)";
        let sent = self
            .audit
            .db
            .query_row(sql, [&self.client.service], |row| row.get::<_, i64>(0));
        if self.audit.named(sent)? < AUDIT_SAVE_DAY {
            return Ok(());
        }
        Err(self.stopped(&format!(
            "{AUDIT_SAVE_DAY} URLs were sent in the last 24 hours, which is its limit; run it again \
             tomorrow, it goes on from here"
        )))
    }

    /// Asks for all jobs once. Returns `false` if it was stopped.
    fn ask_for_jobs(&mut self, stop: &AtomicBool) -> Result<bool, AuditError> {
        for job in std::mem::take(&mut self.active) {
            if !self.poll.wait(stop) {
                // The others are in the table.
                self.active.push(job);
                return Ok(false);
            }
            match self.client.status(&job.id)? {
                JobStatus::Pending => self.active.push(job),
                JobStatus::Saved(timestamp) => {
                    self.refusals = 0;
                    self.counts.saved += 1;
                    self.store(&job.url, "saved", Some(&job.id), Some(&timestamp), None)?;
                }
                JobStatus::Error(error) => {
                    self.refusals = 0;
                    self.ended(&job.url, Some(&job.id), &error)?;
                }
                JobStatus::Refused(refusal) => {
                    self.active.push(job);
                    self.refused(&refusal)?;
                }
            }
        }
        Ok(true)
    }

    /// Stores that a URL was not captured.
    fn ended(&mut self, url: &str, id: Option<&str>, error: &SaveError) -> Result<(), AuditError> {
        let outcome = if error.is_passing() {
            "again"
        } else {
            "failed"
        };
        if error.is_passing() {
            self.counts.again += 1;
        } else {
            self.counts.failed += 1;
        }
        self.counts.last_failure = Some(error.text.clone());
        self.store(url, outcome, id, None, Some(&error.text))
    }

    /// Stores what became of a URL. Archives are asked again for one that was saved.
    fn store(
        &self,
        url: &str,
        outcome: &str,
        id: Option<&str>,
        timestamp: Option<&str>,
        message: Option<&str>,
    ) -> Result<(), AuditError> {
        let service = &self.client.service;
        let row = params![url, service, now(), id, outcome, timestamp, message];
        self.audit.run("BEGIN IMMEDIATE")?;
        let stored = self.audit.db.execute(
            "INSERT INTO audit_saves VALUES(?1,?2,?3,?4,?5,?6,?7) ON CONFLICT(url) DO UPDATE SET
               service=excluded.service, sent_at=iif(outcome = 'again', excluded.sent_at, sent_at),
               job=excluded.job, outcome=excluded.outcome, timestamp=excluded.timestamp,
               message=excluded.message",
            row,
        );
        self.audit.named(stored)?;
        if outcome == "saved" {
            let sql = "DELETE FROM audit_asked WHERE outcome = 'none' AND key IN
              (SELECT key FROM audit_links WHERE url = ?1 AND planned)";
            self.audit.named(self.audit.db.execute(sql, [url]))?;
        }
        self.audit.run("COMMIT")
    }

    /// Puts off the next question, or ends the run after too many refusals.
    fn refused(&mut self, refusal: &Refusal) -> Result<(), AuditError> {
        let reason = &refusal.reason;
        self.refusals += 1;
        if AUDIT_REFUSALS <= self.refusals {
            return Err(self.stopped(&format!(
                "{AUDIT_REFUSALS} refusals in a row (the last: {reason}); run it again later, it \
                 goes on from here"
            )));
        }
        let pause = refusal.pause;
        let pause = pause.unwrap_or(Duration::from_secs(AUDIT_REFUSAL_SECONDS));
        if Duration::from_secs(AUDIT_RETRY_AFTER_SECONDS) < pause {
            return Err(self.stopped(&long_pause(reason, pause)));
        }
        self.pace.put_off(pause);
        self.poll.put_off(pause);
        Ok(())
    }

    fn stopped(&self, reason: &str) -> AuditError {
        let (service, sent, due) = (&self.client.service, self.counts.sent, self.counts.due);
        AuditError::no_answers(format!(
            "{service}: {reason}. URLs that were sent: {sent} of {due}"
        ))
    }
}

struct SaveClient {
    agent: Agent,
    service: String,
    authorization: String,
}

/// The reply to a URL that was sent.
#[derive(Debug)]
enum SaveReply {
    /// The job that captures it.
    Job(String),
    Error(SaveError),
    Refused(Refusal),
}

/// The status of a job.
#[derive(Debug)]
enum JobStatus {
    Pending,
    /// The timestamp of the capture, 14 digits.
    Saved(String),
    Error(SaveError),
    Refused(Refusal),
}

/// A refusal of the service, which may be asked later.
#[derive(Clone, Debug)]
struct Refusal {
    reason: String,
    /// The pause that it asks for.
    pause: Option<Duration>,
}

impl Refusal {
    fn without_pause(reason: String) -> Refusal {
        Refusal {
            reason,
            pause: None,
        }
    }
}

/// The reason for which a page was not captured.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SaveError {
    /// The code of the service, such as `error:not-found`.
    code: String,
    /// Code and message.
    text: String,
}

/// Codes of failures that are those of the page: it is not there, or must not be captured. All others
/// may pass.
const LASTING: [&str; 13] = [
    "error:bad-request",
    "error:blocked",
    "error:blocked-url",
    "error:filesize-limit",
    "error:forbidden",
    "error:ftp-access-denied",
    "error:http-version-not-supported",
    "error:invalid-host-resolution",
    "error:invalid-url-syntax",
    "error:network-authentication-required",
    "error:no-access",
    "error:not-found",
    "error:unauthorized",
];

/// Codes that are about the account and not the page.
const OF_ACCOUNT: [&str; 3] = [
    "error:user-session-limit",
    "error:too-many-daily-captures-user",
    "error:max-daily-bandwidth",
];

impl SaveError {
    fn is_passing(&self) -> bool {
        !LASTING.contains(&self.code.as_str())
    }

    fn is_of_account(&self) -> bool {
        OF_ACCOUNT.contains(&self.code.as_str())
    }
}

/// A reply of the service.
#[derive(Deserialize)]
struct ReplyFields {
    job_id: Option<String>,
    status: Option<String>,
    status_ext: Option<String>,
    message: Option<String>,
    timestamp: Option<String>,
}

impl ReplyFields {
    fn error(self) -> SaveError {
        let code = self.status_ext.unwrap_or_default();
        let message = self.message.unwrap_or_default();
        let text = format!("{code} {message}");
        SaveError {
            text: shortened(text.trim(), MESSAGE_VALUE_CHARS).into_owned(),
            code,
        }
    }
}

impl SaveClient {
    /// Creates a client. Keys are sent by TLS, or to this machine.
    fn new(job: &SaveJob) -> Result<SaveClient, AuditError> {
        refuse_login(&job.service)?;
        let unusable = |reason: &str| {
            AuditError::unusable(format!(
                "`--service {}` is not the address of a save service{reason}; write it like \
                 https://web.archive.org/save",
                job.service
            ))
        };
        let url = Url::parse(&job.service).map_err(|error| unusable("").caused_by(error))?;
        let is_here = match url.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => false,
        };
        match url.scheme() {
            "https" => {}
            "http" if is_here => {}
            "http" => return Err(unusable(", since keys are sent by https alone")),
            _ => return Err(unusable("")),
        }
        let keys = &job.keys;
        for (name, key) in [("access", &keys.access), ("secret", &keys.secret)] {
            if !key.text().bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(AuditError::unusable(format!(
                    "the {name} key of the save service holds a blank, a line break or another \
                     character that no key has; set its variable without it"
                )));
            }
        }
        Ok(SaveClient {
            agent: agent(&job.service, &job.contact)?,
            service: job.service.trim_end_matches('/').to_owned(),
            authorization: format!("LOW {}:{}", keys.access.text(), keys.secret.text()),
        })
    }

    /// Sends a URL.
    fn send(&self, url: &str) -> Result<SaveReply, AuditError> {
        let request = self.agent.post(&self.service);
        let request = request.header("Accept", "application/json");
        let request = request.header("Authorization", &self.authorization);
        let reply = self.reply(request.send_form([("url", url), ("skip_first_archive", "1")]))?;
        Ok(match reply {
            Err(refusal) => SaveReply::Refused(refusal),
            Ok(fields) => match fields.job_id {
                Some(ref id) if is_job_id(id) => SaveReply::Job(id.clone()),
                _ => SaveReply::Error(fields.error()),
            },
        })
    }

    /// Asks for a job.
    fn status(&self, id: &str) -> Result<JobStatus, AuditError> {
        let request = self.agent.get(format!("{}/status/{id}", self.service));
        let request = request.header("Accept", "application/json");
        let request = request.header("Authorization", &self.authorization);
        Ok(match self.reply(request.call())? {
            Err(refusal) => JobStatus::Refused(refusal),
            Ok(fields) => match (fields.status.as_deref(), &fields.timestamp) {
                (Some("success"), Some(timestamp)) => JobStatus::Saved(timestamp.clone()),
                (Some("pending"), _) => JobStatus::Pending,
                _ => JobStatus::Error(fields.error()),
            },
        })
    }

    /// Reads a reply. A refusal is the reason, and the pause that the service asks for.
    fn reply(
        &self,
        response: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
    ) -> Result<Result<ReplyFields, Refusal>, AuditError> {
        let response = match response {
            Ok(response) => response,
            Err(error) => return Ok(Err(Refusal::without_pause(error.to_string()))),
        };
        let (status, pause) = (response.status().as_u16(), retry_after(&response));
        let body = response
            .into_body()
            .with_config()
            .limit(AUDIT_CDX_BYTES)
            .read_to_vec();
        let unusable = |reason: &str| {
            AuditError::unusable(format!("{}: HTTP status {status}; {reason}", self.service))
        };
        match (status, body) {
            (401 | 403, _) => Err(unusable(
                "check the keys in IA_ACCESS_KEY_ID and IA_SECRET_ACCESS_KEY",
            )),
            (300..=399, _) => Err(unusable("it redirects; name that place with `--service`")),
            (429 | 500..=599, _) => Ok(Err(Refusal {
                reason: format!("HTTP status {status}"),
                pause,
            })),
            (_, Err(error)) => Ok(Err(Refusal::without_pause(error.to_string()))),
            (_, Ok(body)) => Ok(serde_json::from_slice(&body).map_err(|error| {
                let reason = format!("no JSON of a save service, {error}");
                Refusal::without_pause(reason)
            })),
        }
    }
}

/// Returns `true` for an identifier that can stand in the path of a URL.
fn is_job_id(id: &str) -> bool {
    const MAX_CHARS: usize = 200;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !id.is_empty() && id.len() <= MAX_CHARS && !id.starts_with('.') && id.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(service: &str) -> SaveJob {
        let keys = SaveKeys {
            access: Secret::new("a".to_owned()),
            secret: Secret::new("s".to_owned()),
        };
        SaveJob::new(
            PathBuf::new(),
            service.to_owned(),
            "me@m.test".to_owned(),
            keys,
        )
    }

    #[test]
    fn keys_are_sent_by_tls_or_to_this_machine() {
        for (service, is_usable) in [
            ("https://web.archive.org/save", true),
            ("http://127.0.0.1:1/save", true),
            ("http://localhost/save", true),
            ("http://[::1]/save", true),
            ("http://web.archive.org/save", false),
            ("ftp://127.0.0.1/save", false),
            ("web.archive.org", false),
        ] {
            assert_eq!(
                SaveClient::new(&job(service)).is_ok(),
                is_usable,
                "{service}"
            );
        }
        assert!(!format!("{:?}", job("x")).contains("\"s\""));
    }

    #[test]
    fn keys_that_no_header_field_can_hold_are_refused_and_not_shown() {
        for key in ["s\n", "s\r\nX: y", "k\u{20}y", "\u{e9}", "s\0"] {
            let mut job = job("http://127.0.0.1:1/save");
            job.keys.secret = Secret::new(key.to_owned());
            let error = SaveClient::new(&job).err().unwrap().to_string();
            assert!(error.starts_with("the secret key"), "{error}");
            assert!(!error.contains(key), "{error}");
        }
    }

    #[test]
    fn failures_of_the_page_last() {
        let error = |code: &str| SaveError {
            code: code.to_owned(),
            text: String::new(),
        };
        assert!(!error("error:not-found").is_passing());
        assert!(error("error:browsing-timeout").is_passing());
        assert!(error("").is_passing());
        assert!(error("error:user-session-limit").is_of_account());
    }

    #[test]
    fn identifiers_of_jobs_stand_in_a_path() {
        assert!(is_job_id("spn2-0123456789abcdef"));
        for id in ["", ".", "../x", "a/b", "a?b", "a b"] {
            assert!(!is_job_id(id), "{id}");
        }
    }
}
