//! Asks archives for the captures that are nearest to the first citations: local indexes, CDX servers
//! such as those of the Wayback Machine and of pywb, and servers with TimeMaps.
//!
//! They are asked in order, until one has a capture. Each answer is stored when it comes, so that an
//! interruption loses nothing.

mod capture;
mod cdx;
mod cdxj;
mod client;
mod surt;
mod timemap;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::params;
use twox_hash::XxHash3_64;
use url::Url;

use super::AuditError;
use super::check::AuditProgress;
use super::client::wait_until;
use super::database::{AuditDb, now};
use super::state::LinkState;
use crate::limits::{
    AUDIT_FAILED_ANSWERS, AUDIT_REFUSAL_SECONDS, AUDIT_REFUSALS, AUDIT_RETRY_AFTER_SECONDS,
};
use crate::load::clean_key;
use capture::{ArchiveReply, Capture, nearest};
use cdx::CdxClient;
use cdxj::CdxjIndex;
pub(super) use client::{agent, refuse_login};
use surt::surt;
use timemap::TimeMapClient;

/// A place that is asked for captures.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArchiveSource {
    /// A file: a sorted CDXJ, or the index of a ZipNum.
    Cdxj(PathBuf),
    /// A CDX server: a URL without the question.
    Cdx(String),
    /// A server with TimeMaps: a URL with `{url}` in the place of the page's.
    TimeMap(String),
}

/// Questions to archives.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArchiveJob {
    /// The database with a plan.
    pub database: PathBuf,
    /// The archives, in the order in which they are asked.
    pub sources: Vec<ArchiveSource>,
    /// A mail address or a page, for the owners of servers. Files need none.
    pub contact: String,
    /// The address before the time and the URL of the snapshots of local indexes, such as
    /// `http://localhost:8080/coll/`; `None` if it is not known.
    pub replay: Option<String>,
    /// Maximum number of questions a minute to a server.
    pub rate: u32,
    /// Maximum number of links to ask for; `None` asks for all that are due.
    pub limit: Option<u64>,
}

impl ArchiveJob {
    /// Creates the questions for all links of `database` to `sources`, 20 a minute to each server.
    #[must_use]
    pub fn new(database: PathBuf, sources: Vec<ArchiveSource>, contact: String) -> ArchiveJob {
        ArchiveJob {
            database,
            sources,
            contact,
            replay: None,
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
    /// URLs with a capture without their tracking parameters alone; part of `captured`.
    pub clean: u64,
    /// URLs without a capture.
    pub none: u64,
    /// URLs without a capture for which an archive gave no answer. They are due again.
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
    /// The archives that were not asked yet, by their place.
    archives: Vec<usize>,
}

/// URLs that no archive is known to have, and that this one was not asked for.
const DUE: &str = "
SELECT url, min(first_cited),
  max(ifnull((SELECT state IN ({dead}) FROM audit_checks
    WHERE audit_checks.key = audit_links.key ORDER BY checked_at DESC, id DESC LIMIT 1), 0))
FROM audit_links
WHERE planned
  AND NOT EXISTS (SELECT 1 FROM audit_captures
    WHERE audit_captures.key = audit_links.key AND outcome = 'captured')
  AND NOT EXISTS (SELECT 1 FROM audit_asked
    WHERE audit_asked.key = audit_links.key AND outcome = 'none' AND server = ?1)
GROUP BY url";

/// Gives captures of the file ?2 that were found before an address below ?1.
const ADD_REPLAY: &str = "
UPDATE audit_asked SET address = ?1 || captures.timestamp || '/' || captures.original
FROM audit_captures AS captures
WHERE captures.key = audit_asked.key AND captures.server = ?2 AND audit_asked.server = ?2
  AND audit_asked.outcome = 'captured' AND captures.outcome = 'captured'";

const STORE_ANSWER: &str = "
INSERT INTO audit_asked
SELECT key, ?2, ?3, ?4, ?5, ?6 FROM audit_links WHERE url=?1 AND planned
ON CONFLICT(key, server) DO UPDATE SET asked_at=excluded.asked_at, outcome=excluded.outcome,
  form=excluded.form, address=excluded.address";

/// Of several archives without a capture one that gave no answer decides. ?8: the archives.
const STORE_CAPTURE: &str = "
INSERT INTO audit_captures
SELECT key, ?2, ?3, ?4, ?5, ?6, iif(?7 = 'none' AND EXISTS (SELECT 1 FROM audit_asked
    WHERE audit_asked.key = audit_links.key AND outcome = 'failed'
      AND server IN (SELECT value FROM json_each(?8))), 'failed', ?7)
FROM audit_links WHERE url=?1 AND planned
ON CONFLICT(key) DO UPDATE SET server=excluded.server, asked_at=excluded.asked_at,
  timestamp=excluded.timestamp, original=excluded.original, status=excluded.status,
  outcome=excluded.outcome
WHERE outcome <> 'captured'";

/// Asks archives for the links that are due, dead ones first. Sets `stop` to end it.
///
/// # Errors
///
/// An archive cannot be used, or refuses repeatedly; the database cannot be written. Answers before
/// stay.
pub fn archive(
    job: &ArchiveJob,
    stop: &AtomicBool,
    progress: &mut dyn AuditProgress,
) -> Result<ArchiveCounts, AuditError> {
    let replay = job.replay.as_deref().map(replay_base).transpose()?;
    let open = |source| AskedArchive::open(source, job, replay.as_deref());
    let archives = job.sources.iter().map(open);
    let archives = archives.collect::<Result<Vec<_>, _>>()?;
    let audit = AuditDb::open_to_write(&job.database)?;
    let names: Vec<_> = archives
        .iter()
        .map(|archive| archive.name.as_str())
        .collect();
    audit.set_meta("cdx", &names.join(" "))?;
    if let Some(replay) = &replay {
        for archive in archives.iter().filter(|asked| asked.archive.is_file()) {
            let stored = audit.db.execute(ADD_REPLAY, [replay, &archive.name]);
            audit.named(stored)?;
        }
    }
    let names = serde_json::Value::from(names).to_string();
    let due = due_urls(&audit, &archives, job.limit)?;
    let mut asking = Asking {
        audit: &audit,
        archives,
        names,
        counts: ArchiveCounts {
            due: due.len() as u64,
            planned: audit.planned_urls()?,
            ..ArchiveCounts::default()
        },
    };
    progress.expected(asking.counts.due, asking.expected(&due));
    for url in &due {
        if !asking.ask_for(url, stop)? {
            asking.counts.is_interrupted = true;
            break;
        }
        progress.done(asking.counts.asked(), asking.counts.due);
    }
    Ok(asking.counts)
}

fn due_urls(
    audit: &AuditDb,
    archives: &[AskedArchive],
    limit: Option<u64>,
) -> Result<Vec<DueUrl>, AuditError> {
    let dead = LinkState::ALL.into_iter().filter(|state| state.is_dead());
    let dead: Vec<_> = dead.map(|state| format!("'{}'", state.name())).collect();
    let sql = DUE.replace("{dead}", &dead.join(", "));
    let mut by_url: HashMap<String, DueUrl> = HashMap::new();
    for (place, archive) in archives.iter().enumerate() {
        let due = audit.rows(&sql, [&archive.name], |row| {
            let cited: Option<String> = row.get(1)?;
            Ok(DueUrl {
                url: row.get(0)?,
                cited: cited.map(|date| date.chars().filter(char::is_ascii_digit).collect()),
                is_dead: row.get(2)?,
                archives: Vec::new(),
            })
        })?;
        for url in due {
            by_url
                .entry(url.url.clone())
                .or_insert(url)
                .archives
                .push(place);
        }
    }
    let mut due: Vec<_> = by_url.into_values().collect();
    // Those of one host far apart: an archive that refuses a host would seem to refuse everything.
    due.sort_by_cached_key(|url| {
        let hash = XxHash3_64::oneshot(url.url.as_bytes());
        (!url.is_dead, hash, url.url.clone())
    });
    due.truncate(
        limit
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(usize::MAX),
    );
    Ok(due)
}

/// Returns the address before the time and the URL of snapshots, with a slash at its end.
fn replay_base(replay: &str) -> Result<String, AuditError> {
    refuse_login(replay)?;
    match Url::parse(replay) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.query().is_none() => {
            Ok(format!("{}/", replay.trim_end_matches('/')))
        }
        _ => Err(AuditError::unusable(format!(
            "`--replay {replay}` is not the address of snapshots; write it like \
             http://localhost:8080/coll/, before the time and the URL"
        ))),
    }
}

/// Returns a URL without its tracking parameters, if archives have that under another key.
fn clean_form(url: &str) -> Option<String> {
    let clean = clean_key(url);
    let is_other = clean != url && surt(&clean) != surt(url);
    is_other.then(|| clean.into_owned())
}

/// The form of a URL under which a capture was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UrlForm {
    /// The URL as it is checked.
    Whole,
    /// The URL without its tracking parameters.
    Clean,
}

impl UrlForm {
    /// Returns the name that the tables have.
    fn name(self) -> &'static str {
        match self {
            UrlForm::Whole => "url",
            UrlForm::Clean => "clean",
        }
    }
}

/// The answer of an archive for a URL.
enum UrlAnswer {
    Captured(Capture, UrlForm),
    None,
    /// No answer, for this reason.
    Failed(String),
}

/// An archive that is asked.
struct AskedArchive {
    archive: Archive,
    /// The address or the path as the user gave it.
    name: String,
    /// The address before the time and the URL of its snapshots, if it is a file and that is known.
    replay: Option<String>,
    /// The pace of questions; `None` for a file.
    pace: Option<Pace>,
    /// Refusals since the last answer.
    refusals: u32,
    /// Failed answers since the last good one.
    failed_in_a_row: u32,
}

/// An archive that can be asked for captures.
enum Archive {
    Index(CdxjIndex),
    Cdx(CdxClient),
    TimeMap(TimeMapClient),
}

impl Archive {
    fn open(source: &ArchiveSource, contact: &str) -> Result<Archive, AuditError> {
        Ok(match source {
            ArchiveSource::Cdxj(path) => Archive::Index(CdxjIndex::open(path)?),
            ArchiveSource::Cdx(server) => Archive::Cdx(CdxClient::new(server, contact)?),
            ArchiveSource::TimeMap(server) => {
                Archive::TimeMap(TimeMapClient::new(server, contact)?)
            }
        })
    }

    /// Returns `true` if it is no server, which needs a pace.
    fn is_file(&self) -> bool {
        matches!(self, Archive::Index(_))
    }

    /// Returns the address or the path as the user gave it.
    fn name(&self) -> String {
        match self {
            Archive::Index(index) => index.name(),
            Archive::Cdx(client) => client.name().to_owned(),
            Archive::TimeMap(client) => client.name().to_owned(),
        }
    }

    /// Asks for captures of `url`, those that are nearest to `cited`, a time of 14 digits, if it does
    /// not list all.
    fn ask(&mut self, url: &str, cited: Option<&str>) -> Result<ArchiveReply, AuditError> {
        match self {
            Archive::Index(index) => Ok(index.ask(url)),
            Archive::Cdx(client) => client.ask(url, cited),
            Archive::TimeMap(client) => client.ask(url, cited),
        }
    }
}

impl AskedArchive {
    fn open(
        source: &ArchiveSource,
        job: &ArchiveJob,
        replay: Option<&str>,
    ) -> Result<AskedArchive, AuditError> {
        let archive = Archive::open(source, &job.contact)?;
        let is_file = archive.is_file();
        Ok(AskedArchive {
            name: archive.name(),
            archive,
            replay: replay.filter(|_| is_file).map(str::to_owned),
            pace: (!is_file).then(|| Pace::new(job.rate)),
            refusals: 0,
            failed_in_a_row: 0,
        })
    }

    /// Returns `false` if it was stopped before a question may be asked.
    fn wait(&mut self, stop: &AtomicBool) -> bool {
        match &mut self.pace {
            Some(pace) => pace.wait(stop),
            None => !stop.load(Ordering::Relaxed),
        }
    }

    fn ask(&mut self, url: &str, cited: Option<&str>) -> Result<ArchiveReply, AuditError> {
        let mut reply = self.archive.ask(url, cited)?;
        if let (Some(replay), ArchiveReply::Captures(captures)) = (&self.replay, &mut reply) {
            for capture in captures {
                let (time, original) = (&capture.timestamp, &capture.original);
                capture.address = Some(format!("{replay}{time}/{original}"));
            }
        }
        Ok(reply)
    }
}

struct Asking<'a> {
    audit: &'a AuditDb,
    archives: Vec<AskedArchive>,
    /// The names of the archives, as an array of JSON.
    names: String,
    counts: ArchiveCounts,
}

impl Asking<'_> {
    /// Returns the time that the questions take at least, if no archive but the last has captures.
    fn expected(&self, due: &[DueUrl]) -> Duration {
        let time = |(place, archive): (usize, &AskedArchive)| {
            let questions = due
                .iter()
                .filter(|url| url.archives.contains(&place))
                .count();
            archive
                .pace
                .as_ref()
                .map(|pace| pace.expected(questions as u64))
        };
        self.archives
            .iter()
            .enumerate()
            .filter_map(time)
            .max()
            .unwrap_or_default()
    }

    /// Asks one archive after the other until one has a capture, and stores their answers. Returns
    /// `false` if it was stopped before.
    fn ask_for(&mut self, due: &DueUrl, stop: &AtomicBool) -> Result<bool, AuditError> {
        let clean = clean_form(&due.url);
        let mut is_failed = false;
        for &place in &due.archives {
            let Some(answer) = self.ask_forms(place, due, clean.as_deref(), stop)? else {
                return Ok(false);
            };
            self.store(due, place, &answer)?;
            match answer {
                UrlAnswer::Captured(_, form) => {
                    self.counts.captured += 1;
                    self.counts.clean += u64::from(form == UrlForm::Clean);
                    return Ok(true);
                }
                UrlAnswer::None => {}
                UrlAnswer::Failed(reason) => {
                    is_failed = true;
                    self.failed(place, &reason)?;
                    self.counts.last_failure = Some(reason);
                }
            }
        }
        if is_failed {
            self.counts.failed += 1;
        } else {
            self.counts.none += 1;
        }
        Ok(true)
    }

    /// Asks an archive for a URL, and for its clean form if it has none of the URL. Returns `None` if
    /// it was stopped before.
    fn ask_forms(
        &mut self,
        place: usize,
        due: &DueUrl,
        clean: Option<&str>,
        stop: &AtomicBool,
    ) -> Result<Option<UrlAnswer>, AuditError> {
        let cited = due.cited.as_deref();
        let clean = clean.map(|clean| (UrlForm::Clean, clean));
        for (form, url) in [(UrlForm::Whole, due.url.as_str())]
            .into_iter()
            .chain(clean)
        {
            match self.ask(place, url, cited, stop)? {
                None => return Ok(None),
                Some(ArchiveReply::Captures(captures)) => {
                    if let Some(capture) = nearest(&captures, cited) {
                        return Ok(Some(UrlAnswer::Captured(capture.clone(), form)));
                    }
                }
                Some(ArchiveReply::Failed(reason) | ArchiveReply::Refused { reason, .. }) => {
                    return Ok(Some(UrlAnswer::Failed(reason)));
                }
            }
        }
        Ok(Some(UrlAnswer::None))
    }

    /// Asks an archive until there is an answer. Returns `None` if it was stopped before.
    fn ask(
        &mut self,
        place: usize,
        url: &str,
        cited: Option<&str>,
        stop: &AtomicBool,
    ) -> Result<Option<ArchiveReply>, AuditError> {
        loop {
            let archive = &mut self.archives[place];
            if !archive.wait(stop) {
                return Ok(None);
            }
            let reply = archive.ask(url, cited)?;
            self.counts.last_refusal = None;
            if let ArchiveReply::Refused {
                reason,
                retry_after,
            } = reply
            {
                self.refused(place, reason, retry_after)?;
                continue;
            }
            archive.refusals = 0;
            if matches!(reply, ArchiveReply::Captures(_)) {
                archive.failed_in_a_row = 0;
            }
            return Ok(Some(reply));
        }
    }

    fn store(&self, due: &DueUrl, place: usize, answer: &UrlAnswer) -> Result<(), AuditError> {
        let (server, asked_at) = (&self.archives[place].name, now());
        let (outcome, capture, form) = match answer {
            UrlAnswer::Captured(capture, form) => ("captured", Some(capture), Some(form.name())),
            UrlAnswer::None => ("none", None, None),
            UrlAnswer::Failed(_) => ("failed", None, None),
        };
        let address = capture.and_then(|capture| capture.address.as_deref());
        let answer = params![due.url, server, asked_at, outcome, form, address];
        let captured = params![
            due.url,
            server,
            asked_at,
            capture.map(|capture| &capture.timestamp),
            capture.map(|capture| &capture.original),
            capture.and_then(|capture| capture.status),
            outcome,
            self.names,
        ];
        let db = &self.audit.db;
        self.audit.run("BEGIN IMMEDIATE")?;
        let stored = db
            .prepare_cached(STORE_ANSWER)
            .and_then(|mut statement| statement.execute(answer))
            .and_then(|_| db.prepare_cached(STORE_CAPTURE))
            .and_then(|mut statement| statement.execute(captured));
        self.audit.named(stored)?;
        self.audit.run("COMMIT")
    }

    /// Ends the questions after too many failed answers: the place is perhaps no archive.
    fn failed(&mut self, place: usize, reason: &str) -> Result<(), AuditError> {
        let archive = &mut self.archives[place];
        archive.failed_in_a_row += 1;
        if archive.failed_in_a_row < AUDIT_FAILED_ANSWERS {
            return Ok(());
        }
        let (kind, option) = match archive.archive {
            Archive::Index(_) => ("an index of captures", "--cdxj"),
            Archive::Cdx(_) => ("a CDX server", "--cdx"),
            Archive::TimeMap(_) => ("a server with TimeMaps", "--timemap"),
        };
        Err(self.ended(
            place,
            &format!(
                "{AUDIT_FAILED_ANSWERS} answers in a row are not those of {kind} (the last: \
                 {reason}); check the address of `{option}`"
            ),
        ))
    }

    /// Puts off the next question, or ends the questions after too many refusals.
    fn refused(
        &mut self,
        place: usize,
        reason: String,
        retry_after: Option<Duration>,
    ) -> Result<(), AuditError> {
        let archive = &mut self.archives[place];
        archive.refusals += 1;
        if AUDIT_REFUSALS <= archive.refusals {
            return Err(self.ended(
                place,
                &format!(
                    "{AUDIT_REFUSALS} refusals in a row (the last: {reason}); run it again later, \
                     it goes on from here"
                ),
            ));
        }
        let pause = retry_after.unwrap_or(Duration::from_secs(AUDIT_REFUSAL_SECONDS));
        if Duration::from_secs(AUDIT_RETRY_AFTER_SECONDS) < pause {
            return Err(self.ended(place, &long_pause(&reason, pause)));
        }
        if let Some(pace) = &mut archive.pace {
            pace.put_off(pause);
        }
        self.counts.last_refusal = Some(reason);
        Ok(())
    }

    /// Returns the error that ends the questions. Answers before are stored.
    fn ended(&self, place: usize, reason: &str) -> AuditError {
        let server = &self.archives[place].name;
        let (asked, due) = (self.counts.asked(), self.counts.due);
        AuditError::no_answers(format!(
            "{server}: {reason}. URLs that were asked for: {asked} of {due}; their answers are \
             stored"
        ))
    }
}

/// Returns the reason for which questions end that the server puts off for too long.
pub(super) fn long_pause(reason: &str, pause: Duration) -> String {
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
        Pace::with_interval(Duration::from_mins(1) / rate.max(1))
    }

    /// Creates the pace of a question in each interval. The first one is free.
    pub(super) fn with_interval(interval: Duration) -> Pace {
        Pace {
            interval,
            next: Instant::now(),
        }
    }

    /// Returns the time that `questions` take at least.
    pub(super) fn expected(&self, questions: u64) -> Duration {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_form_is_asked_for_if_archives_have_another_key_for_it() {
        for (url, clean) in [
            (
                "http://h.test/a?utm_source=x&id=1",
                Some("http://h.test/a?id=1"),
            ),
            ("http://h.test/a?fbclid=x", Some("http://h.test/a")),
            ("http://h.test/a?id=1", None),
            ("http://h.test/utm_source=x", None),
        ] {
            assert_eq!(clean_form(url).as_deref(), clean, "{url}");
        }
    }

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
