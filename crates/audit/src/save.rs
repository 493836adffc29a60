//! Submits links that are alive and not archived to a save service, with the API of the Internet
//! Archive's Save Page Now.
//!
//! The service captures a page some time after it accepts the URL. Its jobs are stored as soon as
//! they are accepted. After an interruption, at most the last URL is submitted twice.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rusqlite::params;
use serde::Deserialize;
use ureq::http::Response;
use ureq::{Agent, Body, RequestBuilder};
use url::{Host, Url};

use super::AuditError;
use super::database::{AuditDb, now};
use super::plan::must_not_be_sent;
use super::step::{
    AuditProgress, NoReply, Pace, Patience, Refusal, agent, body_of, in_batches, refuse_login,
};
use urlspool_files::config::{NamedValue, named_values};
use urlspool_files::sink::OutputPlace;
use urlspool_store::load::Secret;
use urlspool_text::diagnostic::shortened;
use urlspool_text::limits::{
    AUDIT_CDX_BYTES, AUDIT_SAVE_ACTIVE, AUDIT_SAVE_DAY, AUDIT_SAVE_POLL_SECONDS, AUDIT_SAVE_RATE,
    AUDIT_SAVE_WAIT_SECONDS, MESSAGE_VALUE_CHARS, SEED_FILE_BYTES,
};

/// Options for saving links.
#[derive(Clone, Debug)]
pub struct SaveJob {
    /// A database with an audit.
    pub database: PathBuf,
    /// Address of the service's API.
    pub service: String,
    /// Access key of an account, which the service requires.
    pub access_key: Secret,
    /// Secret key of the account.
    pub secret_key: Secret,
    /// Maximum number of URLs to submit; `None` submits all that are due.
    pub limit: Option<u64>,
}

/// Counts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaveCounts {
    /// URLs that were due at the start, at most the limit.
    pub due: u64,
    /// The other planned URLs, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
    /// URLs submitted in this run.
    pub sent: u64,
    /// Jobs of earlier runs that were incomplete at the start.
    pub earlier: u64,
    /// Captures completed in this run, including those of earlier jobs.
    pub saved: u64,
    /// URLs that the service cannot capture.
    pub failed: u64,
    /// URLs that the service could not capture this time. They are due again.
    pub again: u64,
    /// Incomplete jobs. The next run queries them.
    pub pending: u64,
    /// Reason of the last failure; `None` if there was no failure.
    pub last_failure: Option<String>,
    /// `true` if the run was interrupted.
    pub is_interrupted: bool,
}

/// The planned URLs, divided into those that are due to be saved and the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaveList {
    /// URLs that are due: alive, and in no archive, according to the archives that answered. The
    /// most cited come first, at most the limit.
    pub due: Vec<String>,
    /// URLs that are alive and may be given to crawlers, including those that are due.
    pub(super) living: Vec<String>,
    /// The other URLs, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
}

named_values! {
    /// Reason why a planned URL is not saved now, in the order of decreasing progress.
    pub enum LeftOut {
        /// It is due, but beyond the limit of the run or the list.
        Beyond = "beyond": "beyond `--limit`",
        /// It was submitted to a save service, and is not due again.
        Submitted = "submitted": "submitted before",
        /// No archive was asked for it, or one did not answer.
        NotAsked = "not-asked": "without an answer from an archive",
        /// An archive holds it.
        Archived = "archived": "held by an archive",
        /// Its host is private, or it has a password or requests an action.
        Private = "private": "with a private host, a password or an action",
        /// No citation in a body was read with sufficient confidence.
        HeaderOnly = "header-only": "cited only in header fields or with a confidence below 0.8",
        /// It is redirected, so a capture would hold another page.
        Redirected = "redirected": "redirected at the newest check",
        /// It is dead or unknown, or was not checked.
        NotAlive = "not-alive": "not checked, dead or unknown at the newest check",
    }
}

/// Planned URLs, the most cited first, with the position in [`LeftOut::ALL`] of the reason why they
/// are not due; 0 if they are due. A URL of several links has the lowest one.
const PLANNED: &str = "
SELECT url, min(CASE ifnull((SELECT state FROM audit_checks
    WHERE audit_checks.key = audit_links.key ORDER BY checked_at DESC, id DESC LIMIT 1), '')
  WHEN 'redirected' THEN 6 WHEN 'alive' THEN CASE
  WHEN NOT EXISTS (SELECT 1 FROM links JOIN urls ON urls.link = links.id
    WHERE links.key = audit_links.key AND region NOT LIKE 'header:%' AND 0.8 <= confidence) THEN 5
  WHEN EXISTS (SELECT 1 FROM audit_captures
    WHERE audit_captures.key = audit_links.key AND outcome = 'captured') THEN 3
  WHEN NOT EXISTS (SELECT 1 FROM audit_captures
    WHERE audit_captures.key = audit_links.key AND outcome = 'none') THEN 2
  WHEN EXISTS (SELECT 1 FROM audit_saves
    WHERE audit_saves.url = audit_links.url AND outcome <> 'again') THEN 1
  ELSE 0 END ELSE 7 END)
FROM audit_links WHERE planned GROUP BY url ORDER BY sum(citations) DESC, url";

/// Returns the first URLs that are due to be saved, and the number of the others by reason.
///
/// # Errors
///
/// The database cannot be read, or has no plan.
pub fn urls_to_save(database: &Path, limit: Option<u64>) -> Result<SaveList, AuditError> {
    save_list(&AuditDb::open_to_read(database)?, limit)
}

/// Divides the planned URLs.
pub(super) fn save_list(audit: &AuditDb, limit: Option<u64>) -> Result<SaveList, AuditError> {
    let (mut list, limit) = (SaveList::default(), limit.unwrap_or(u64::MAX));
    audit.for_each_row(PLANNED, [], |row| {
        let (url, position): (String, usize) = audit.named(row.try_into())?;
        let mut reason = LeftOut::ALL[position];
        if reason < LeftOut::HeaderOnly {
            if must_not_be_sent(&url) {
                reason = LeftOut::Private;
            } else {
                list.living.push(url.clone());
            }
        }
        match reason {
            LeftOut::Beyond if (list.due.len() as u64) < limit => list.due.push(url),
            reason => *list.left_out.entry(reason).or_default() += 1,
        }
        Ok(())
    })?;
    Ok(list)
}

/// Returns the number of URLs submitted to a save service, by outcome.
pub(super) fn outcomes(audit: &AuditDb) -> Result<BTreeMap<SaveOutcome, u64>, AuditError> {
    let sql = "SELECT outcome, count(*) FROM audit_saves GROUP BY outcome";
    let counts = audit.rows(sql, [], |row| {
        let outcome = SaveOutcome::named(&row.get::<_, String>(0)?);
        Ok(outcome.zip(Some(row.get::<_, i64>(1)?.cast_unsigned())))
    })?;
    Ok(counts.into_iter().flatten().collect())
}

/// Returns the names and contents of the files that list URLs, the first with the name `path`, each
/// of at most [`SEED_FILE_BYTES`]. Standard output is one file of any size.
#[must_use]
pub fn seed_files(path: &Path, urls: &[String]) -> Vec<(PathBuf, String)> {
    let mut files = vec![(path.to_owned(), String::new())];
    for url in urls {
        let is_full = |(_, text): &(_, String)| SEED_FILE_BYTES < text.len() + url.len() + 1;
        if files.last().is_none_or(is_full) && OutputPlace::of(path) != OutputPlace::Stdout {
            files.push((seed_file(path, files.len() + 1), String::new()));
        }
        if let Some((_, text)) = files.last_mut() {
            text.extend([url.as_str(), "\n"]);
        }
    }
    files
}

/// Returns the name of file `number` of a list, at least 2. The first file has the name `path`.
#[must_use]
pub fn seed_file(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let end = path.extension().unwrap_or_default().to_string_lossy();
    let name = format!("{stem}-{number}.{end}");
    path.with_file_name(name.trim_end_matches('.'))
}

/// Submits the URLs that are due to a save service and queries their jobs. Setting `stop` ends it.
///
/// # Errors
///
/// The service cannot be used, refuses repeatedly, or has reached its daily limit; or the database
/// cannot be written. Submitted URLs stay recorded.
pub fn save(
    job: &SaveJob,
    stop: &AtomicBool,
    progress: &dyn AuditProgress,
) -> Result<SaveCounts, AuditError> {
    let audit = AuditDb::open_to_write(&job.database)?;
    let client = SaveClient::new(job, &audit.contact()?)?;
    let SaveList { due, left_out, .. } = save_list(&audit, job.limit)?;
    let counts = SaveCounts {
        due: due.len() as u64,
        left_out,
        ..SaveCounts::default()
    };
    let mut saving = Saving {
        audit: &audit,
        client: &client,
        counts,
        pace: Pace::of_rate(AUDIT_SAVE_RATE),
        poll: Pace::new(Duration::from_secs(AUDIT_SAVE_POLL_SECONDS)),
        patience: Patience::new(progress),
        active: active_jobs(&audit, &job.service)?,
    };
    saving.counts.earlier = saving.active.len() as u64;
    progress.expected(saving.counts.due, saving.pace.expected(saving.counts.due));
    let is_done = saving.run(&due, stop);
    saving.counts.pending = saving.active.len() as u64;
    saving.counts.is_interrupted = !is_done?;
    Ok(saving.counts)
}

named_values! {
    /// Outcome for a submitted URL.
    pub enum SaveOutcome {
        /// The URL was captured.
        Saved = "saved": "saved",
        /// The service accepted the URL; its capture may be incomplete.
        Sent = "sent": "sent, not known to be complete",
        /// The URL could not be captured this time.
        Again = "again": "not captured, to send again",
        /// The URL cannot be captured.
        Failed = "failed": "cannot be captured",
    }
}

/// A job that the service has accepted.
#[derive(Clone, Debug)]
struct ActiveJob {
    url: String,
    id: String,
    /// Time until which this run queries the job.
    until: Instant,
}

impl ActiveJob {
    fn new(url: String, id: String) -> ActiveJob {
        let until = Instant::now() + Duration::from_secs(AUDIT_SAVE_WAIT_SECONDS);
        ActiveJob { url, id, until }
    }
}

/// Returns the jobs of earlier runs that may be incomplete.
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
    /// Rate of submissions.
    pace: Pace,
    /// Rate of job queries.
    poll: Pace,
    patience: Patience<'a>,
    active: Vec<ActiveJob>,
}

impl Saving<'_> {
    /// Submits all URLs and waits for their jobs. Returns `false` if it was stopped.
    fn run(&mut self, due: &[String], stop: &AtomicBool) -> Result<bool, AuditError> {
        let is_sent = in_batches(due, 1, self.patience.progress, |url| {
            while AUDIT_SAVE_ACTIVE <= self.active.len() {
                if !self.ask_for_jobs(stop)? {
                    return Ok(None);
                }
            }
            let is_sent = self.send(&url[0], stop)?;
            Ok(is_sent.then_some(self.counts.sent))
        })?;
        if !is_sent {
            return Ok(false);
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

    /// Submits a URL and stores the job. Returns `false` if it was stopped.
    fn send(&mut self, url: &str, stop: &AtomicBool) -> Result<bool, AuditError> {
        self.check_day()?;
        let client = self.client;
        let reply = self.patience.ask(&mut self.pace, stop, || client.send(url));
        match reply.map_err(|no_reply| self.ended(no_reply))? {
            None => return Ok(false),
            Some(Ok(id)) => {
                self.store(url, SaveOutcome::Sent, Some(&id), None, None)?;
                self.active.push(ActiveJob::new(url.to_owned(), id));
            }
            Some(Err(error)) => self.not_captured(url, None, &error)?,
        }
        self.counts.sent += 1;
        Ok(true)
    }

    /// Fails if the service's daily limit was reached in the last 24 hours.
    fn check_day(&self) -> Result<(), AuditError> {
        let sql = "SELECT count(*) FROM audit_saves
          WHERE service = ?1 AND unixepoch('now', '-1 day') < unixepoch(sent_at)";
        if self.audit.count(sql, [&self.client.service])? < AUDIT_SAVE_DAY {
            return Ok(());
        }
        Err(self.ended(NoReply::Refused(Refusal::new(format_args!(
            "{AUDIT_SAVE_DAY} URLs were sent in the last 24 hours, which is its limit; run it \
             again tomorrow to continue"
        )))))
    }

    /// Queries each job once. Returns `false` if it was stopped.
    fn ask_for_jobs(&mut self, stop: &AtomicBool) -> Result<bool, AuditError> {
        let client = self.client;
        for job in std::mem::take(&mut self.active) {
            let reply = self
                .patience
                .ask(&mut self.poll, stop, || client.status(&job.id));
            match reply.map_err(|no_reply| self.ended(no_reply))? {
                None => {
                    // The remaining jobs are in the table.
                    self.active.push(job);
                    return Ok(false);
                }
                Some(JobStatus::Pending) => self.active.push(job),
                Some(JobStatus::Saved(timestamp)) => {
                    self.counts.saved += 1;
                    let id = Some(job.id.as_str());
                    self.store(&job.url, SaveOutcome::Saved, id, Some(&timestamp), None)?;
                }
                Some(JobStatus::Error(error)) => {
                    self.not_captured(&job.url, Some(&job.id), &error)?;
                }
            }
        }
        Ok(true)
    }

    /// Stores that a URL was not captured.
    fn not_captured(
        &mut self,
        url: &str,
        id: Option<&str>,
        error: &SaveError,
    ) -> Result<(), AuditError> {
        let (outcome, count) = if error.is_temporary() {
            (SaveOutcome::Again, &mut self.counts.again)
        } else {
            (SaveOutcome::Failed, &mut self.counts.failed)
        };
        *count += 1;
        self.counts.last_failure = Some(error.text.clone());
        self.store(url, outcome, id, None, Some(&error.text))
    }

    /// Stores the outcome for a URL. A saved URL becomes due for archive queries again.
    fn store(
        &self,
        url: &str,
        outcome: SaveOutcome,
        id: Option<&str>,
        timestamp: Option<&str>,
        message: Option<&str>,
    ) -> Result<(), AuditError> {
        let service = &self.client.service;
        self.audit.write(|db| {
            db.execute(
                "INSERT INTO audit_saves VALUES(?1,?2,?3,?4,?5,?6,?7) ON CONFLICT(url) DO UPDATE SET
                   service=excluded.service,
                   sent_at=iif(outcome = 'again', excluded.sent_at, sent_at), job=excluded.job,
                   outcome=excluded.outcome, timestamp=excluded.timestamp, \
                   message=excluded.message",
                params![url, service, now(), id, outcome.name(), timestamp, message],
            )?;
            if outcome == SaveOutcome::Saved {
                db.execute(
                    "DELETE FROM audit_asked WHERE outcome = 'none' AND key IN
                       (SELECT key FROM audit_links WHERE url = ?1 AND planned)",
                    [url],
                )?;
            }
            Ok(())
        })
    }

    /// Returns the error that ends the run.
    fn ended(&self, no_reply: NoReply) -> AuditError {
        let (service, sent, due) = (&self.client.service, self.counts.sent, self.counts.due);
        match no_reply {
            NoReply::Refused(Refusal { reason, .. }) => AuditError::no_answers(format!(
                "{service}: {reason}. {sent} of {due} URLs were sent"
            )),
            NoReply::Error(error) => error,
        }
    }
}

struct SaveClient {
    agent: Agent,
    service: String,
    authorization: String,
}

/// Status of a job.
#[derive(Debug)]
enum JobStatus {
    Pending,
    /// Time of the capture, 14 digits.
    Saved(String),
    Error(SaveError),
}

/// Reason why a page was not captured.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SaveError {
    /// The service's code, for example `error:not-found`.
    code: String,
    /// Code and message.
    text: String,
}

/// Codes of permanent failures: the page is missing or must not be captured. All other failures may
/// be temporary.
const PERMANENT: [&str; 13] = [
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

/// Codes that concern the account instead of the page.
const OF_ACCOUNT: [&str; 3] = [
    "error:user-session-limit",
    "error:too-many-daily-captures-user",
    "error:max-daily-bandwidth",
];

impl SaveError {
    fn is_temporary(&self) -> bool {
        !PERMANENT.contains(&self.code.as_str())
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
    /// Creates a client. Sends keys only over TLS, or to this machine.
    fn new(job: &SaveJob, contact: &str) -> Result<SaveClient, AuditError> {
        refuse_login(&job.service)?;
        let fault = match Url::parse(&job.service) {
            Ok(url) if url.scheme() == "https" || url.scheme() == "http" && is_local(&url) => None,
            Ok(url) if url.scheme() == "http" => Some(", because keys are sent over https only"),
            _ => Some(""),
        };
        if let Some(fault) = fault {
            return Err(AuditError::unusable(format!(
                "`--service {}` is not the address of a save service{fault}; write it like \
                 https://web.archive.org/save",
                job.service
            )));
        }
        let [access, secret] = [&job.access_key, &job.secret_key].map(Secret::text);
        for (name, key) in [("access", access), ("secret", secret)] {
            if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(AuditError::unusable(format!(
                    "the {name} key of the save service has a blank, a line break or another \
                     invalid character; correct its variable"
                )));
            }
        }
        Ok(SaveClient {
            agent: agent(&job.service, contact)?,
            service: job.service.trim_end_matches('/').to_owned(),
            authorization: format!("LOW {access}:{secret}"),
        })
    }

    /// Submits a URL. Returns the identifier of its job, or the reason why the service does not
    /// capture it.
    fn send(&self, url: &str) -> Result<Result<String, SaveError>, NoReply> {
        let request = self.with_fields(self.agent.post(&self.service));
        let fields = self.reply(request.send_form([("url", url), ("skip_first_archive", "1")]))?;
        if let Some(id) = fields.job_id.as_ref().filter(|id| is_job_id(id)) {
            return Ok(Ok(id.clone()));
        }
        let error = fields.error();
        if OF_ACCOUNT.contains(&error.code.as_str()) {
            return Err(Refusal::new(error.text).into());
        }
        Ok(Err(error))
    }

    /// Queries a job.
    fn status(&self, id: &str) -> Result<JobStatus, NoReply> {
        let request = self.agent.get(format!("{}/status/{id}", self.service));
        let fields = self.reply(self.with_fields(request).call())?;
        Ok(match (fields.status.as_deref(), &fields.timestamp) {
            (Some("success"), Some(timestamp)) => JobStatus::Saved(timestamp.clone()),
            (Some("pending"), _) => JobStatus::Pending,
            _ => JobStatus::Error(fields.error()),
        })
    }

    fn with_fields<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        let request = request.header("Accept", "application/json");
        request.header("Authorization", &self.authorization)
    }

    fn reply(&self, response: Result<Response<Body>, ureq::Error>) -> Result<ReplyFields, NoReply> {
        let response = response.map_err(Refusal::new)?;
        let status = response.status().as_u16();
        let way_out = match status {
            401 | 403 => "check the keys in IA_ACCESS_KEY_ID and IA_SECRET_ACCESS_KEY",
            300..=399 => "it redirects; pass the new address with `--service`",
            429 | 500..=599 => return Err(Refusal::by_status(&response).into()),
            _ => {
                let body = body_of(response, AUDIT_CDX_BYTES)?;
                return serde_json::from_slice(&body).map_err(|error| {
                    Refusal::new(format_args!("not JSON of a save service: {error}")).into()
                });
            }
        };
        let service = &self.service;
        let message = format!("{service}: HTTP status {status}; {way_out}");
        Err(NoReply::Error(AuditError::unusable(message)))
    }
}

/// Returns `true` for a URL of this machine.
fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// Returns `true` for an identifier that is safe in a URL path.
fn is_job_id(id: &str) -> bool {
    const MAX_CHARS: usize = 200;
    let mut bytes = id.bytes();
    (1..=MAX_CHARS).contains(&id.len())
        && !id.starts_with('.')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(service: &str) -> SaveJob {
        SaveJob {
            database: PathBuf::new(),
            service: service.to_owned(),
            access_key: Secret::new("a".to_owned()),
            secret_key: Secret::new("s".to_owned()),
            limit: None,
        }
    }

    #[test]
    fn a_list_of_seeds_is_divided_before_its_limit() {
        let urls: Vec<String> = (0..60)
            .map(|n| n.to_string() + &"x".repeat(1_000_000))
            .collect();
        let files = seed_files(Path::new("a/living.txt"), &urls);
        let names: Vec<_> = files
            .iter()
            .map(|(path, _)| path.display().to_string())
            .collect();
        assert_eq!(names, ["a/living.txt", "a/living-2.txt", "a/living-3.txt"]);
        assert!(
            files
                .iter()
                .all(|(_, lines)| lines.len() <= SEED_FILE_BYTES)
        );
        let lines: Vec<_> = files.iter().flat_map(|(_, lines)| lines.lines()).collect();
        assert_eq!(lines, urls);
        // Regression: standard output was opened once for each part.
        assert_eq!(seed_files(Path::new("-"), &urls).len(), 1);
        assert_eq!(
            seed_files(Path::new("a"), &[]),
            [("a".into(), String::new())]
        );
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
                SaveClient::new(&job(service), "me@m.test").is_ok(),
                is_usable,
                "{service}"
            );
        }
        assert!(!format!("{:?}", job("x")).contains("\"s\""));
    }

    #[test]
    fn keys_invalid_in_header_fields_are_refused_and_not_shown() {
        for key in ["s\n", "s\r\nX: y", "k\u{20}y", "\u{e9}", "s\0"] {
            let mut job = job("http://127.0.0.1:1/save");
            job.secret_key = Secret::new(key.to_owned());
            let error = SaveClient::new(&job, "me@m.test")
                .err()
                .unwrap()
                .to_string();
            assert!(error.starts_with("the secret key"), "{error}");
            assert!(!error.contains(key), "{error}");
        }
    }

    #[test]
    fn failures_of_the_page_are_permanent() {
        let error = |code: &str| SaveError {
            code: code.to_owned(),
            text: String::new(),
        };
        assert!(!error("error:not-found").is_temporary());
        assert!(error("error:browsing-timeout").is_temporary());
        assert!(error("").is_temporary());
    }

    #[test]
    fn job_identifiers_are_safe_in_a_path() {
        assert!(is_job_id("spn2-0123456789abcdef"));
        for id in ["", ".", "../x", "a/b", "a?b", "a b"] {
            assert!(!is_job_id(id), "{id}");
        }
    }
}
