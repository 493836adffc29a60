//! Inspects the pages of links that answer, and adds states to those of `check`, each with
//! evidence.
//!
//! A separate client (`inspect/client.rs`) reads pages. It connects to public hosts only, contacts
//! a host once a second, and honors robots.txt. `inspect/verdict.rs` decides the state.
//!
//! Each batch is stored in one transaction.

mod client;
mod page;
mod robots;
mod verdict;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rusqlite::{Row, params};
use twox_hash::XxHash3_64;
use url::Url;

pub use client::RobotsPolicy;

use super::AuditError;
use super::client::{ask_hosts, user_agent};
use super::database::{AuditDb, now, seconds_before_now};
use super::state::{CheckFailure, PageState};
use super::step::{AuditProgress, in_batches, keep_first};
use client::{Answer, NotRead, PageClient, Reply, origin};
use page::Page;
use urlspool_text::limits::{AUDIT_SILENT_HOSTS, INSPECT_BATCH_LINKS, INSPECT_HOSTS};
use verdict::{Control, FoundPage, Verdict, judge};

/// Options of an inspection.
#[derive(Clone, Debug)]
pub struct InspectJob {
    /// A database with a plan and results of checks.
    pub database: PathBuf,
    /// Policy on robots.txt.
    pub robots: RobotsPolicy,
    /// Age at which an inspection is out of date.
    pub max_age: Duration,
    /// Maximum number of links to inspect; `None` inspects all that are due.
    pub limit: Option<u64>,
}

/// Counts of an inspection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InspectCounts {
    /// URLs that were due at the start.
    pub due: u64,
    /// URLs inspected.
    pub inspected: u64,
    /// URLs by state.
    pub states: BTreeMap<PageState, u64>,
    /// URLs that answered at their latest check.
    pub answering: u64,
    /// `true` if the inspection was interrupted.
    pub is_interrupted: bool,
}

/// Inspects the links that are due. Setting `stop` ends it after the open requests.
///
/// # Errors
///
/// The database cannot be used, or none of many hosts replied. Earlier batches stay stored.
pub fn inspect(
    job: &InspectJob,
    stop: &Arc<AtomicBool>,
    progress: &dyn AuditProgress,
) -> Result<InspectCounts, AuditError> {
    let audit = AuditDb::open_to_write(&job.database)?;
    let user_agent = user_agent(Some(&audit.contact()?))?;
    let client = PageClient::new(&user_agent, &audit.private_hosts()?, job.robots, stop);
    let (mut due, answering) = due_urls(&audit, seconds_before_now(job.max_age))?;
    // Spread the URLs of a host, in an order that depends only on the URLs.
    due.sort_by_cached_key(|url| XxHash3_64::oneshot(url.as_str().as_bytes()));
    keep_first(&mut due, job.limit);
    let mut counts = InspectCounts {
        due: due.len() as u64,
        answering,
        ..InspectCounts::default()
    };
    let is_done = in_batches(&due, INSPECT_BATCH_LINKS, progress, |batch| {
        let Some(read) = read_batch(&client, batch, &known_hosts(&audit, batch)?) else {
            return Ok(None);
        };
        refuse_silence(&read)?;
        store_batch(&audit, &read)?;
        for page in read.iter().flat_map(|host| &host.pages) {
            counts.inspected += 1;
            *counts.states.entry(page.verdict.state).or_default() += 1;
        }
        client.forget();
        Ok(Some(counts.inspected))
    })?;
    counts.is_interrupted = !is_done;
    Ok(counts)
}

/// Reads the pages of a batch, several hosts at a time. Returns `None` if it was stopped.
fn read_batch(
    client: &PageClient,
    batch: &[Url],
    known: &HashMap<String, KnownHost>,
) -> Option<Vec<ReadHost>> {
    let read = ask_hosts(batch, origin, INSPECT_HOSTS, |urls| {
        read_host(client, urls, known).into_iter().collect()
    });
    (!client.is_stopped()).then_some(read)
}

/// Fails if no server replied in a whole batch of many hosts. Their links answered when they were
/// checked, so this machine has no network now.
fn refuse_silence(read: &[ReadHost]) -> Result<(), AuditError> {
    let mut pages = read.iter().flat_map(|host| &host.pages);
    if read.len() < AUDIT_SILENT_HOSTS || pages.any(ReadPage::has_reply) {
        return Ok(());
    }
    Err(AuditError::no_answers(format!(
        "none of {} hosts replied although their links answered before: this machine probably has \
         no network or needs a proxy; this batch is not stored",
        read.len()
    )))
}

/// A host and its pages that were read.
struct ReadHost {
    origin: String,
    known: KnownHost,
    pages: Vec<ReadPage>,
}

/// A page that was read, for all links with its URL.
struct ReadPage {
    url: String,
    inspected_at: String,
    verdict: Verdict,
    status: Option<u16>,
    error: Option<CheckFailure>,
    final_url: Option<String>,
}

impl ReadPage {
    /// Returns `true` if a server replied.
    fn has_reply(&self) -> bool {
        self.error
            .is_none_or(|failure| failure == CheckFailure::Tls)
    }
}

/// Reads the pages of one host in sequence. Returns `None` if it was stopped.
fn read_host(
    client: &PageClient,
    urls: &[&Url],
    known: &HashMap<String, KnownHost>,
) -> Option<ReadHost> {
    let origin = origin(urls.first()?);
    let KnownHost { robots, control } = known.get(&origin).cloned().unwrap_or_default();
    if let Some(robots) = &robots {
        client.add_robots(&origin, robots);
    }
    let mut host = HostReader {
        client,
        has_answered: control.is_some(),
        control,
    };
    let pages = urls
        .iter()
        .map(|url| host.page(url))
        .collect::<Option<_>>()?;
    let known = KnownHost {
        robots: client.robots_text(&origin),
        control: host.control.filter(|_| host.has_answered),
    };
    Some(ReadHost {
        origin,
        known,
        pages,
    })
}

struct HostReader<'a> {
    client: &'a PageClient,
    /// Response for a path that cannot exist; `None` until it is requested.
    control: Option<Control>,
    /// `true` if the host gave this response, which is then stored.
    has_answered: bool,
}

impl HostReader<'_> {
    /// Reads the page of a link and decides its state. Returns `None` if it was stopped.
    fn page(&mut self, url: &Url) -> Option<ReadPage> {
        let (mut status, mut error, mut final_url) = (None, None, None);
        let verdict = match self.client.get(url)? {
            Reply::Parked(place, evidence) => {
                final_url = Some(place.into());
                let state = PageState::Parked;
                Verdict { state, evidence }
            }
            Reply::NotRead(NotRead { reason, failure }) => {
                error = failure;
                not_read(reason)
            }
            Reply::Answer(answer) => {
                status = Some(answer.status);
                final_url = Some(answer.url.to_string());
                let evidence = format!("HTTP status {} at {}", answer.status, answer.url);
                match found_page(answer) {
                    Some(found) => judge(url, &found, self.control(url)?),
                    None => not_read(evidence),
                }
            }
        };
        Some(ReadPage {
            url: url.to_string(),
            inspected_at: now(),
            verdict,
            status,
            error,
            final_url,
        })
    }

    /// Returns the response for a path that cannot exist, at the root of the host of `url`. Returns
    /// `None` if it was stopped.
    fn control(&mut self, url: &Url) -> Option<&Control> {
        if self.control.is_none() {
            let asked = missing_path(url);
            let mut control = Control { asked, found: None };
            if let Reply::Answer(answer) = self.client.get(&control.asked)? {
                self.has_answered = true;
                control.found = found_page(answer);
            }
            self.control = Some(control);
        }
        self.control.as_ref()
    }
}

fn not_read(evidence: String) -> Verdict {
    let state = PageState::NotRead;
    Verdict { state, evidence }
}

/// Returns the page of a response with a 2xx status.
fn found_page(answer: Answer) -> Option<FoundPage> {
    (200..300).contains(&answer.status).then_some(FoundPage {
        url: answer.url,
        is_moved: 0 < answer.redirects,
        is_empty: answer.body.is_empty(),
        page: answer.page.unwrap_or_default(),
    })
}

/// Returns a URL that cannot exist, at the root of the host of `url`. Its name is derived from the
/// host, so each run requests the same URL.
fn missing_path(url: &Url) -> Url {
    let host = url.host_str().unwrap_or_default();
    let name = XxHash3_64::oneshot(format!("{host}/").as_bytes());
    let mut url = url.clone();
    url.set_path(&format!("/urlspool-no-such-page-{name:016x}.html"));
    url.set_query(None);
    url.set_fragment(None);
    url
}

/// URLs of planned links whose latest check has a 2xx status. The second column is 1 if the URL is
/// due because it was not inspected since ?1. An inspection in the future, left by a wrong clock,
/// does not count.
const ANSWERING: &str = "
SELECT url, max(is_due) FROM (
  SELECT links.url AS url,
    (SELECT status FROM audit_checks AS checks WHERE checks.key = links.key
      ORDER BY checked_at DESC, id DESC LIMIT 1) AS status,
    pages.key IS NULL OR unixepoch(pages.inspected_at) NOT BETWEEN ?1 + 1 AND unixepoch('now') \
    AS is_due
  FROM audit_links AS links LEFT JOIN audit_pages AS pages ON pages.key = links.key
  WHERE links.planned
) WHERE status BETWEEN 200 AND 299 GROUP BY url";

/// Returns the URLs that were not inspected since a time in seconds since 1970, and the number of
/// URLs that answer.
fn due_urls(audit: &AuditDb, since: i64) -> Result<(Vec<Url>, u64), AuditError> {
    let rows = audit.rows(ANSWERING, [since], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?))
    })?;
    let due = rows.iter().filter(|(_, is_due)| *is_due);
    let due = due.filter_map(|(url, _)| Url::parse(url).ok()).collect();
    Ok((due, rows.len() as u64))
}

/// A host that was contacted before: a row of `audit_hosts`.
#[derive(Clone, Debug, Default)]
struct KnownHost {
    /// The robots.txt rules for this program.
    robots: Option<String>,
    /// `None` if the host did not answer for a path that cannot exist.
    control: Option<Control>,
}

/// Returns the known hosts of links, by origin.
fn known_hosts(audit: &AuditDb, links: &[Url]) -> Result<HashMap<String, KnownHost>, AuditError> {
    let sql = "SELECT robots, control, final_url, text FROM audit_hosts WHERE origin = ?1";
    let mut hosts = HashMap::new();
    for link in links {
        let origin = origin(link);
        let found = audit.rows(sql, [&origin], known_host)?;
        hosts.extend(found.into_iter().map(|host| (origin.clone(), host)));
    }
    Ok(hosts)
}

fn known_host(row: &Row<'_>) -> rusqlite::Result<KnownHost> {
    let [asked, url] = [row.get(1)?, row.get(2)?]
        .map(|url: Option<String>| url.and_then(|url| Url::parse(&url).ok()));
    let page = url.zip(row.get::<_, Option<String>>(3)?);
    let control = asked.map(|asked| Control {
        found: page.map(|(url, text)| FoundPage {
            is_moved: url != asked,
            is_empty: false,
            url,
            page: Page {
                text,
                ..Page::default()
            },
        }),
        asked,
    });
    Ok(KnownHost {
        robots: row.get(0)?,
        control,
    })
}

const STORE_PAGE: &str = "
INSERT OR REPLACE INTO audit_pages
SELECT key, ?1, ?2, ?3, ?4, ?5, ?6, ?7 FROM audit_links WHERE url = ?1 AND planned";

const STORE_HOST: &str = "INSERT OR REPLACE INTO audit_hosts VALUES(?1, ?2, ?3, ?4, ?5)";

/// Stores a batch in one transaction.
fn store_batch(audit: &AuditDb, read: &[ReadHost]) -> Result<(), AuditError> {
    audit.write(|db| {
        for host in read {
            for page in &host.pages {
                db.prepare_cached(STORE_PAGE)?.execute(params![
                    page.url,
                    page.inspected_at,
                    page.verdict.state.name(),
                    page.verdict.evidence,
                    page.status,
                    page.error.map(CheckFailure::name),
                    page.final_url
                ])?;
            }
            let control = host.known.control.as_ref();
            let found = control.and_then(|control| control.found.as_ref());
            db.prepare_cached(STORE_HOST)?.execute(params![
                host.origin,
                host.known.robots,
                control.map(|control| control.asked.as_str()),
                found.map(|found| found.url.as_str()),
                found.map(|found| &found.page.text)
            ])?;
        }
        Ok(())
    })
}
