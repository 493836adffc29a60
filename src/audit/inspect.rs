//! Inspects the pages of links that answer: what can be shown of them, beside the states of `check`.
//!
//! Pages are read with an own client (`inspect/client.rs`) that reaches public hosts only, asks a
//! host once a second, and honours robots.txt. `inspect/verdict.rs` judges them.
//!
//! A batch is stored in one transaction.

mod client;
mod page;
mod parking;
mod robots;
mod tables;
mod verdict;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use twox_hash::XxHash3_64;
use url::Url;

pub use client::RobotsPolicy;

use super::AuditError;
use super::check::AuditProgress;
use super::client::{ask_hosts, user_agent};
use super::database::{AuditDb, now, now_seconds};
use super::page_state::PageState;
use crate::limits::{AUDIT_SILENT_HOSTS, INSPECT_BATCH_LINKS, INSPECT_HOSTS};
use client::{Answer, PageClient, Reply, RobotsFailure, origin};
use tables::{KnownHost, StoredPage, due_urls, hosts, store_batch};
use verdict::{Control, FoundPage, Verdict, judge};

/// Pages to inspect.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InspectJob {
    /// The database with a plan and results of checks.
    pub database: PathBuf,
    /// A mail address or a page, for the owners of the servers.
    pub contact: String,
    /// The treatment of robots.txt.
    pub robots: RobotsPolicy,
    /// Age from which an inspection is out of date.
    pub max_age: Duration,
    /// Hosts, or addresses, that are contacted although they are private, beside those of the plan.
    pub private_hosts: Vec<String>,
    /// Maximum number of links to inspect; `None` inspects all that are due.
    pub limit: Option<u64>,
}

impl InspectJob {
    /// Creates the inspection of all links of `database` that answered and were not inspected in
    /// the last 30 days.
    #[must_use]
    pub fn new(database: PathBuf, contact: String) -> InspectJob {
        InspectJob {
            database,
            contact,
            robots: RobotsPolicy::Honour,
            max_age: Duration::from_hours(30 * 24),
            private_hosts: Vec::new(),
            limit: None,
        }
    }
}

/// Numbers of an inspection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InspectCounts {
    /// URLs that are due at the start.
    pub due: u64,
    /// URLs that were inspected.
    pub inspected: u64,
    /// URLs by state.
    pub states: BTreeMap<PageState, u64>,
    /// URLs that answered at their newest check.
    pub answering: u64,
    /// `true` if it was interrupted.
    pub is_interrupted: bool,
}

/// Inspects the links that are due. Sets `stop` to end it after the requests that are open.
///
/// # Errors
///
/// The database cannot be used, or none of many hosts replied. The results that were stored before
/// stay.
pub fn inspect(
    job: &InspectJob,
    stop: &Arc<AtomicBool>,
    progress: &mut dyn AuditProgress,
) -> Result<InspectCounts, AuditError> {
    let user_agent = user_agent(Some(&job.contact))?;
    let audit = AuditDb::open_to_write(&job.database)?;
    let mut private_hosts = job.private_hosts.clone();
    let planned = audit.meta("allow_private")?.unwrap_or_default();
    let planned = planned.split(',').filter(|host| !host.is_empty());
    private_hosts.extend(planned.map(str::to_owned));
    let client = PageClient::new(&user_agent, &private_hosts, job.robots, stop);
    let max_age = i64::try_from(job.max_age.as_secs()).unwrap_or(i64::MAX);
    let since = now_seconds().saturating_sub(max_age);
    let (mut due, answering) = due_urls(&audit, since)?;
    // Those of one host far apart, in an order that depends on them alone.
    due.sort_by_cached_key(|url| XxHash3_64::oneshot(url.as_str().as_bytes()));
    let limit = job.limit.and_then(|limit| usize::try_from(limit).ok());
    due.truncate(limit.unwrap_or(usize::MAX));
    let mut counts = InspectCounts {
        due: due.len() as u64,
        answering,
        ..InspectCounts::default()
    };
    for batch in due.chunks(INSPECT_BATCH_LINKS) {
        let Some(read) = read_batch(&client, batch, &hosts(&audit, batch)?) else {
            counts.is_interrupted = true;
            break;
        };
        refuse_silence(&read)?;
        store_batch(&audit, &read)?;
        for page in &read.pages {
            counts.inspected += 1;
            *counts.states.entry(page.state).or_default() += 1;
        }
        progress.done(counts.inspected, counts.due);
        client.forget();
    }
    Ok(counts)
}

/// Reads the pages of a batch, several hosts at a time. Returns `None` if it was stopped.
fn read_batch(
    client: &PageClient,
    batch: &[Url],
    known: &HashMap<String, KnownHost>,
) -> Option<ReadBatch> {
    let ask = |urls: &[&Url]| {
        let origin = urls.first().map(|url| origin(url)).unwrap_or_default();
        let host = HostReader::new(client, &origin, known.get(&origin));
        let read = host.read(&origin, urls);
        read.map(|(pages, known)| (pages, (origin, known)))
            .into_iter()
            .collect()
    };
    let mut read = ReadBatch::default();
    for (pages, host) in ask_hosts(batch, origin, INSPECT_HOSTS, ask) {
        read.pages.extend(pages);
        read.hosts.push(host);
    }
    if client.is_stopped() {
        return None;
    }
    read.pages.sort_by(|one, next| one.url.cmp(&next.url));
    Some(read)
}

/// Ends the inspection if no server replied in a whole batch of many hosts: their links answered
/// at their checks, so this machine has no network now.
fn refuse_silence(read: &ReadBatch) -> Result<(), AuditError> {
    if read.hosts.len() < AUDIT_SILENT_HOSTS || read.pages.iter().any(StoredPage::has_reply) {
        return Ok(());
    }
    Err(AuditError::no_answers(format!(
        "none of {} hosts replied, whose links answered at their checks: this machine has probably \
         no network, or one that needs a proxy; nothing of this batch is stored",
        read.hosts.len()
    )))
}

/// The pages of a batch.
#[derive(Default)]
struct ReadBatch {
    pages: Vec<StoredPage>,
    /// By origin.
    hosts: Vec<(String, KnownHost)>,
}

/// Reads the pages of one host, one after the other.
struct HostReader<'a> {
    client: &'a PageClient,
    /// The answer for a path that cannot exist; `None` before it was asked for.
    control: Option<Control>,
    /// `true` if the host gave this answer, so that it is stored.
    has_answered: bool,
}

impl<'a> HostReader<'a> {
    fn new(client: &'a PageClient, origin: &str, known: Option<&KnownHost>) -> HostReader<'a> {
        let known = known.cloned().unwrap_or_default();
        if let Some(robots) = &known.robots {
            client.know_robots(origin, robots);
        }
        HostReader {
            client,
            has_answered: known.control.is_some(),
            control: known.control,
        }
    }

    /// Reads the pages of links. Returns `None` if it was stopped.
    fn read(mut self, origin: &str, urls: &[&Url]) -> Option<(Vec<StoredPage>, KnownHost)> {
        let mut pages = Vec::with_capacity(urls.len());
        for url in urls {
            pages.push(self.page(url)?);
        }
        let known = KnownHost {
            robots: self.client.robots_text(origin),
            control: self.control.filter(|_| self.has_answered),
        };
        Some((pages, known))
    }

    /// Reads and judges the page of a link. Returns `None` if it was stopped.
    fn page(&mut self, url: &Url) -> Option<StoredPage> {
        let reply = self.client.get(url);
        let stored = |verdict| StoredPage::new(url, now(), verdict);
        Some(match reply {
            Reply::Stopped => return None,
            Reply::Parked(place, sign) => {
                stored(Verdict::new(PageState::Parked, sign)).with_place(&place)
            }
            Reply::Robots(place) => stored(not_read(format!("a robots.txt excludes {place}"))),
            Reply::RobotsUnreachable(place, failure) => {
                let robots = format!("the robots.txt of {}", origin(&place));
                match failure {
                    RobotsFailure::Status(status) => {
                        stored(not_read(format!("HTTP status {status} for {robots}")))
                    }
                    RobotsFailure::NoAnswer(failure) => {
                        let words = failure.words();
                        stored(not_read(format!("no answer: {words} for {robots}")))
                            .with_failure(failure)
                    }
                }
            }
            Reply::Failed(failure) => {
                stored(not_read(format!("no answer: {}", failure.words()))).with_failure(failure)
            }
            Reply::Answer(answer) => stored(self.verdict(url, &answer)?).with_answer(&answer),
        })
    }

    /// Judges an answer. Returns `None` if it was stopped.
    fn verdict(&mut self, url: &Url, answer: &Answer) -> Option<Verdict> {
        let Some(found) = found_page(answer) else {
            let reason = format!("HTTP status {} at {}", answer.status, answer.url);
            return Some(not_read(reason));
        };
        Some(judge(url, &found, self.control(url)?))
    }

    /// Returns the answer for a path that cannot exist, at the root of the host of `url`; `None` if
    /// it was stopped.
    fn control(&mut self, url: &Url) -> Option<&Control> {
        if self.control.is_none() {
            let asked = missing_path(url);
            let reply = self.client.get(&asked);
            if matches!(reply, Reply::Stopped) {
                return None;
            }
            self.has_answered = matches!(reply, Reply::Answer(_));
            let found = match &reply {
                Reply::Answer(answer) => found_page(answer),
                _ => None,
            };
            self.control = Some(Control { asked, found });
        }
        self.control.as_ref()
    }
}

/// Returns the page of an answer, if it has a 2xx status.
fn found_page(answer: &Answer) -> Option<FoundPage> {
    (200..300).contains(&answer.status).then(|| FoundPage {
        url: answer.url.clone(),
        is_moved: 0 < answer.redirects,
        page: answer.page().unwrap_or_default(),
    })
}

fn not_read(reason: String) -> Verdict {
    Verdict::new(PageState::NotRead, reason)
}

/// Returns a URL at the root of the host of `url` that cannot exist: its name is made of the host, so
/// that each run asks for the same.
fn missing_path(url: &Url) -> Url {
    let host = url.host_str().unwrap_or_default();
    let name = XxHash3_64::oneshot(format!("{host}/").as_bytes());
    let mut url = url.clone();
    url.set_path(&format!("/urlspool-no-such-page-{name:016x}.html"));
    url.set_query(None);
    url.set_fragment(None);
    url
}
