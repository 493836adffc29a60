//! Asks a CDX server, of the Wayback Machine or of pywb, for the captures that are nearest to the
//! first citations.
//!
//! Each answer is stored when it comes, so that an interruption loses nothing.
//!
//! The Wayback Machine answers with one array, pywb with an object per line.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jiff::civil::DateTime;
use rusqlite::params;
use serde::Deserialize;
use twox_hash::XxHash3_64;
use ureq::Agent;
use url::Url;

use super::AuditError;
use super::check::AuditProgress;
use super::database::{AuditDb, now};
use super::state::LinkState;
use crate::diagnostic::shortened_inside;
use crate::limits::{
    AUDIT_CDX_BYTES, AUDIT_CDX_CAPTURES, AUDIT_CDX_SECONDS, AUDIT_FAILED_ANSWERS, AUDIT_POLL_MS,
    AUDIT_REFUSAL_SECONDS, AUDIT_REFUSALS, AUDIT_RETRY_AFTER_SECONDS, MESSAGE_VALUE_CHARS,
};
use crate::load::{TrustedAuthorities, http_agent, retry_after};

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

pub(super) struct CdxClient {
    agent: Agent,
    server: Url,
}

/// The reply of a server.
#[derive(Debug)]
pub(super) enum CdxReply {
    Captures(Vec<Capture>),
    /// The server wants to be asked later, or cannot be reached.
    Refused {
        reason: String,
        retry_after: Option<Duration>,
    },
    /// The server does not answer this question, for this reason.
    Failed(String),
}

impl CdxClient {
    /// Creates a client. `contact` tells the server's owners whom to write to.
    pub(super) fn new(server: &str, contact: &str) -> Result<CdxClient, AuditError> {
        let url = server_url(server)?;
        if !is_contact(contact) {
            return Err(AuditError::unusable(format!(
                "`--contact {contact:?}` is neither a mail address nor a page; write it like \
                 you@your.site or https://your.site/contact, in ASCII"
            )));
        }
        let user_agent = format!(
            "urlspool/{} (link-rot audit; {})",
            env!("CARGO_PKG_VERSION"),
            contact.trim()
        );
        let timeout = Duration::from_secs(AUDIT_CDX_SECONDS);
        Ok(CdxClient {
            agent: http_agent(
                server,
                &TrustedAuthorities::Machine,
                None,
                &user_agent,
                timeout,
            ),
            server: url,
        })
    }

    /// Asks for captures of `url`, nearest to `cited`, a time of 14 digits.
    ///
    /// # Errors
    ///
    /// The server redirects: the user should name the other place.
    pub(super) fn ask(&self, url: &str, cited: Option<&str>) -> Result<CdxReply, AuditError> {
        let question = self.question(url, cited);
        let response = match self.agent.get(question.as_str()).call() {
            Ok(response) => response,
            Err(error) => return Ok(refused(error.to_string(), None)),
        };
        let status = response.status().as_u16();
        let retry_after = retry_after(&response);
        let mut body = response.into_body();
        let body = body.with_config().limit(AUDIT_CDX_BYTES).read_to_vec();
        Ok(match (status, body) {
            (429 | 503, _) => refused(format!("HTTP status {status}"), retry_after),
            (300..=399, _) => {
                return Err(AuditError::unusable(format!(
                    "{} redirects to another place; name that place with `--cdx`",
                    self.server
                )));
            }
            (_, Err(error)) => refused(error.to_string(), None),
            (200..=299, Ok(body)) => match captures(&body) {
                Ok(captures) => CdxReply::Captures(captures),
                Err(reason) => CdxReply::Failed(reason),
            },
            // Some versions of pywb say so where there is no capture.
            (404, Ok(body)) if says_no_captures(&body) => CdxReply::Captures(Vec::new()),
            _ => CdxReply::Failed(format!("HTTP status {status}")),
        })
    }

    fn question(&self, url: &str, cited: Option<&str>) -> Url {
        let mut question = self.server.clone();
        let mut query = question.query_pairs_mut();
        query
            .append_pair("url", url)
            // Else a URL that ends in `*` asks for all URLs that begin so.
            .append_pair("matchType", "exact")
            .append_pair("output", "json")
            .append_pair("limit", &AUDIT_CDX_CAPTURES.to_string())
            // Else pywb gives captures of URLs with other queries where it has none of this one.
            // Other servers do not know it.
            .append_pair("allowFuzzy", "0");
        if let Some(cited) = cited {
            query
                .append_pair("sort", "closest")
                .append_pair("closest", cited);
        }
        drop(query);
        question
    }
}

/// Parses the URL of a server.
fn server_url(server: &str) -> Result<Url, AuditError> {
    let unusable = |reason: &str| {
        AuditError::unusable(format!(
            "`--cdx {server}` is not the URL of a CDX server{reason}; write it like \
             https://web.archive.org/cdx/search/cdx, or http://HOST/COLLECTION/cdx for pywb"
        ))
    };
    match Url::parse(server) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        Ok(_) => Err(unusable("")),
        Err(error) => Err(unusable(&format!(" ({error})")).caused_by(error)),
    }
}

/// Returns `true` for a text that may be a mail address or a page, and part of a field of HTTP.
pub(super) fn is_contact(contact: &str) -> bool {
    contact.contains(['@', '.']) && contact.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

fn refused(reason: String, retry_after: Option<Duration>) -> CdxReply {
    CdxReply::Refused {
        reason,
        retry_after,
    }
}

fn says_no_captures(body: &[u8]) -> bool {
    memchr::memmem::find(body, b"No Captures found").is_some()
}

/// A capture of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Capture {
    /// Its time in UTC, 14 digits.
    pub(super) timestamp: String,
    /// Its URL as the archive has it.
    pub(super) original: String,
    /// Its HTTP code; `None` where the server gives none, as for a repetition of an earlier
    /// capture.
    status: Option<u16>,
}

/// A line of pywb.
#[derive(Deserialize)]
struct CdxLine {
    timestamp: String,
    url: String,
    status: Option<String>,
}

/// Reads an answer.
///
/// # Errors
///
/// It has neither form, or captures without times.
fn captures(body: &[u8]) -> Result<Vec<Capture>, String> {
    let captures = match body.trim_ascii_start().first() {
        None => return Ok(Vec::new()),
        Some(b'[') => from_array(body)?,
        Some(_) => from_lines(body)?,
    };
    let is_good = good(&captures).next().is_some();
    if is_good && good(&captures).all(|capture| time(&capture.timestamp).is_none()) {
        return Err("no capture with a 2xx status has a timestamp of 14 digits".to_owned());
    }
    Ok(captures)
}

fn not_cdx(error: &serde_json::Error) -> String {
    let error = error.to_string();
    let error = shortened_inside(&error, MESSAGE_VALUE_CHARS);
    format!("no JSON of a CDX server, {error}")
}

/// Reads an array of rows. The first row names the columns.
fn from_array(body: &[u8]) -> Result<Vec<Capture>, String> {
    let mut rows: Vec<Vec<String>> =
        serde_json::from_slice(body).map_err(|error| not_cdx(&error))?;
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let names = rows.remove(0);
    let column = |name: &str| {
        let place = names.iter().position(|column| column == name);
        place.ok_or_else(|| format!("no column `{name}`"))
    };
    let (timestamp, original, status) = (
        column("timestamp")?,
        column("original")?,
        column("statuscode")?,
    );
    let text = |row: &[String], place: usize| row.get(place).cloned().unwrap_or_default();
    let captures = rows.iter().map(|row| Capture {
        timestamp: text(row, timestamp),
        original: text(row, original),
        status: text(row, status).parse().ok(),
    });
    Ok(captures.collect())
}

fn from_lines(body: &[u8]) -> Result<Vec<Capture>, String> {
    let lines = body
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    lines
        .map(|line| {
            let line: CdxLine = serde_json::from_slice(line).map_err(|error| not_cdx(&error))?;
            Ok(Capture {
                status: line.status.and_then(|status| status.parse().ok()),
                timestamp: line.timestamp,
                original: line.url,
            })
        })
        .collect()
}

/// Returns the capture with a 2xx status that is nearest to `cited`, a time of 14 digits; the
/// earliest of them without a time, and of two that are equally near.
pub(super) fn nearest<'c>(captures: &'c [Capture], cited: Option<&str>) -> Option<&'c Capture> {
    let cited = cited.and_then(time);
    let distance = |capture: &Capture| -> Option<i64> {
        let at = time(&capture.timestamp)?;
        cited.map_or(Some(0), |cited| {
            Some(at.duration_since(cited).as_secs().saturating_abs())
        })
    };
    good(captures)
        .filter_map(|capture| Some((distance(capture)?, &capture.timestamp, capture)))
        .min_by_key(|(distance, timestamp, _)| (*distance, *timestamp))
        .map(|(.., capture)| capture)
}

/// The captures with a 2xx status.
fn good(captures: &[Capture]) -> impl Iterator<Item = &Capture> {
    let is_good = |status: u16| (200..300).contains(&status);
    captures
        .iter()
        .filter(move |capture| capture.status.is_some_and(is_good))
}

/// The time of 14 digits: `19961231235959`.
fn time(digits: &str) -> Option<DateTime> {
    DateTime::strptime("%Y%m%d%H%M%S", digits).ok()
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

    #[test]
    fn a_question_names_the_page_and_the_time() {
        let client = CdxClient::new("https://a.test/cdx?k=1", "a@b.test").unwrap();
        let question = client.question("http://h.test/?a=1&b=%7E#x", Some("19960702134500"));
        assert_eq!(
            question.as_str(),
            "https://a.test/cdx?k=1&url=http%3A%2F%2Fh.test%2F%3Fa%3D1%26b%3D%257E%23x&matchType=exact&output=json&limit=50&allowFuzzy=0&sort=closest&closest=19960702134500"
        );
    }

    #[test]
    fn a_server_and_a_contact_are_needed() {
        for (server, contact) in [
            ("a.test", "a@b.test"),
            ("file:///x", "a@b.test"),
            ("http://a.test/", ""),
            ("http://a.test/", " "),
            ("http://a.test/", "me"),
            ("http://a.test/", "a\nb"),
        ] {
            assert!(
                CdxClient::new(server, contact).is_err(),
                "{server} {contact}"
            );
        }
    }

    fn capture(timestamp: &str, status: Option<u16>) -> Capture {
        Capture {
            timestamp: timestamp.to_owned(),
            original: "http://h/".to_owned(),
            status,
        }
    }

    #[test]
    fn both_forms_are_read() {
        let array =
            br#"[["urlkey","timestamp","original","mimetype","statuscode","digest","length"],
            ["h)/","19970101000000","http://h/","text/html","200","X","1"],
            ["h)/","19980101000000","http://h/","warc/revisit","-","X","1"]]"#;
        let lines = br#"{"urlkey": "h)/", "timestamp": "19970101000000", "url": "http://h/", "status": "200"}
            {"urlkey": "h)/", "timestamp": "19980101000000", "url": "http://h/", "mime": "warc/revisit"}
            "#;
        let expected = [
            capture("19970101000000", Some(200)),
            capture("19980101000000", None),
        ];
        for body in [&array[..], lines] {
            assert_eq!(captures(body).unwrap(), expected);
        }
        for none in [
            "",
            "\n",
            "[]",
            "[[\"urlkey\",\"timestamp\",\"original\",\"statuscode\"]]",
        ] {
            assert_eq!(captures(none.as_bytes()).unwrap(), [], "{none}");
        }
    }

    #[test]
    fn other_answers_are_errors() {
        for body in [
            "<html>",
            "[1]",
            "[[\"a\"]]",
            "{\"message\":\"x\"}",
            r#"{"timestamp":"yesterday","url":"http://h/","status":"200"}"#,
            r#"{"timestamp":"19970101000000","url":"http://h/","status":"404"}
            {"timestamp":"yesterday","url":"http://h/","status":"200"}"#,
            r#"[["timestamp","original","statuscode"],["19970101000000","http://h/","404"],["","http://h/","200"]]"#,
            r#"{"timestamp":"19970101000000","url":"http://h/","status":"404"}
            {"url":"http://h/","status":"200"}"#,
            "org,h)/ 1997",
        ] {
            assert!(captures(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn long_values_are_cut_in_messages() {
        let body = format!("\"{}\"", "L".repeat(300_000));
        let error = captures(format!("[{body}]").as_bytes()).unwrap_err();
        assert!(error.chars().count() < 2 * MESSAGE_VALUE_CHARS, "{error}");
        assert!(
            error.contains("LLL\u{2026}") && error.contains("at line 1 column"),
            "{error}"
        );
    }

    #[test]
    fn the_nearest_good_capture_is_found() {
        let all = [
            capture("19960601000000", Some(200)),
            capture("19970601000000", Some(404)),
            capture("19980601000000", Some(204)),
            capture("1998", Some(200)),
            capture("20050601000000", None),
        ];
        let found = |cited: Option<&str>| nearest(&all, cited).map(|capture| &*capture.timestamp);
        assert_eq!(
            found(Some("19970601000000")),
            Some("19960601000000"),
            "equally near"
        );
        assert_eq!(found(Some("19970601000001")), Some("19980601000000"));
        assert_eq!(found(Some("20050601000000")), Some("19980601000000"));
        assert_eq!(found(None), Some("19960601000000"));
        assert_eq!(nearest(&all[4..], None), None);
    }
}
