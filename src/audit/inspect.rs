//! Inspects the pages of links that answer: what they say, beside the states of `check`.
//!
//! Pages are read with an own client (`inspect/client.rs`) that reaches public hosts only, asks a
//! host once a second, and honours robots.txt. `inspect/verdict.rs` judges them.
//!
//! A batch is stored in one transaction; comparisons with snapshots are stored as they are made.

mod client;
mod notices;
mod page;
mod parking;
mod robots;
mod sibling;
mod tables;
mod tongue;
mod verdict;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use twox_hash::XxHash3_64;
use url::Url;

pub use client::RobotsPolicy;

use super::AuditError;
use super::archive::{Archive, ArchiveReply, Capture, Pace, nearest};
use super::check::AuditProgress;
use super::database::{AuditDb, now, now_seconds};
use super::page_state::PageState;
use super::report::raw_snapshot;
use super::state::CheckFailure;
use crate::limits::{
    AUDIT_POLL_MS, AUDIT_REFUSAL_SECONDS, AUDIT_REFUSALS, AUDIT_RETRY_AFTER_SECONDS,
    AUDIT_SILENT_HOSTS, INSPECT_BATCH_LINKS, INSPECT_HOSTS, INSPECT_LATER_SNAPSHOTS,
};
use client::{Answer, PageClient, Reply, RobotsFailure, origin, user_agent};
use sibling::{at_path, sibling};
use tables::{
    CitedCapture, DueLink, Front, KnownHost, StoredPage, due_links, hosts, prepare, store_batch,
    store_page,
};
use verdict::{
    Control, Doubt, FirstComparison, FoundPage, HostPages, Snapshot, Verdict, compare,
    compare_later, has_few_words, is_front_page, is_one_place, judge,
};

/// Pages to inspect.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InspectJob {
    /// The database with a plan and results of checks.
    pub database: PathBuf,
    /// A mail address or a page, for the owners of the servers.
    pub contact: String,
    /// `true` to compare pages with their snapshots in the archive that was asked.
    pub compares: bool,
    /// Maximum number of questions to the archive in a minute.
    pub rate: u32,
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
            compares: false,
            rate: 20,
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
    /// URLs whose snapshot could not be fetched; part of `inspected`, and due again.
    pub without_snapshot: u64,
    /// The reason of the last of these; `None` without any.
    pub last_failure: Option<String>,
    /// `true` if it was interrupted.
    pub is_interrupted: bool,
}

/// Inspects the links that are due. Sets `stop` to end it after the requests that are open.
///
/// # Errors
///
/// The database cannot be used, none of many hosts replied, or the archive refuses repeatedly.
/// The results that were stored before stay.
pub fn inspect(
    job: &InspectJob,
    stop: &AtomicBool,
    progress: &mut dyn AuditProgress,
) -> Result<InspectCounts, AuditError> {
    let user_agent = user_agent(&job.contact)?;
    let audit = AuditDb::open_to_write(&job.database)?;
    prepare(&audit)?;
    let mut private_hosts = job.private_hosts.clone();
    let planned = audit.meta("allow_private")?.unwrap_or_default();
    let planned = planned.split(',').filter(|host| !host.is_empty());
    private_hosts.extend(planned.map(str::to_owned));
    let client = PageClient::start(&user_agent, &private_hosts, job.robots, stop)?;
    let archives = PageClient::of_archives(&user_agent, &archive_hosts(&audit)?, stop)?;
    let max_age = i64::try_from(job.max_age.as_secs()).unwrap_or(i64::MAX);
    let since = now_seconds().saturating_sub(max_age);
    let (mut due, answering) = due_links(&audit, since, job.compares)?;
    // Those of one host far apart, in an order that depends on them alone.
    due.sort_by_cached_key(|link| XxHash3_64::oneshot(link.url.as_str().as_bytes()));
    let limit = job.limit.and_then(|limit| usize::try_from(limit).ok());
    due.truncate(limit.unwrap_or(usize::MAX));
    let mut inspecting = Inspecting {
        audit: &audit,
        client: &client,
        snapshots: &archives,
        compares: job.compares,
        pace: Pace::new(job.rate),
        archives: HashMap::new(),
        counts: InspectCounts {
            due: due.len() as u64,
            answering,
            ..InspectCounts::default()
        },
    };
    // Disconnected when the inspection has ended, also by a panic.
    let (running, ended) = mpsc::channel::<()>();
    let clients = [&client, &archives];
    thread::scope(|scope| {
        scope.spawn(move || {
            let turn = Duration::from_millis(AUDIT_POLL_MS);
            while ended.recv_timeout(turn) == Err(RecvTimeoutError::Timeout) {
                if stop.load(Ordering::Relaxed) {
                    clients.into_iter().for_each(PageClient::close);
                    return;
                }
            }
        });
        let inspected = inspecting.all(&due, progress);
        drop(running);
        inspected
    })?;
    Ok(inspecting.counts)
}

/// Returns the hosts of the archives that were asked, and of their snapshots.
fn archive_hosts(audit: &AuditDb) -> Result<Vec<String>, AuditError> {
    let sql = "SELECT server FROM audit_captures
      UNION SELECT address FROM audit_asked WHERE address IS NOT NULL";
    let addresses: Vec<String> = audit.rows(sql, [], |row| row.get(0))?;
    let urls = addresses
        .iter()
        .filter_map(|address| Url::parse(address).ok());
    let hosts: BTreeSet<_> = urls
        .filter_map(|url| Some(url.host_str()?.to_owned()))
        .collect();
    Ok(hosts.into_iter().collect())
}

struct Inspecting<'a> {
    audit: &'a AuditDb,
    client: &'a PageClient<'a>,
    /// The client of the archives that were asked.
    snapshots: &'a PageClient<'a>,
    compares: bool,
    pace: Pace,
    /// The archives that were asked for later snapshots, by the name that the tables have.
    archives: HashMap<String, Archive>,
    counts: InspectCounts,
}

impl Inspecting<'_> {
    /// Inspects all batches, until it is stopped.
    fn all(&mut self, due: &[DueLink], progress: &mut dyn AuditProgress) -> Result<(), AuditError> {
        for batch in due.chunks(INSPECT_BATCH_LINKS) {
            if !self.batch(batch, progress)? {
                self.counts.is_interrupted = true;
                break;
            }
            self.client.forget();
        }
        Ok(())
    }

    /// Inspects a batch. Returns `false` if it was stopped before the end.
    fn batch(
        &mut self,
        batch: &[DueLink],
        progress: &mut dyn AuditProgress,
    ) -> Result<bool, AuditError> {
        let known = hosts(self.audit, batch)?;
        let Some(read) = self.read(batch, &known) else {
            return Ok(false);
        };
        refuse_silence(&read)?;
        store_batch(self.audit, &read)?;
        for link in &read.links {
            let mut state = link.stored.state;
            if state == PageState::NotCompared
                && let Some(read) = &link.read
                && let Some(capture) = &link.due.capture
                && self.compares
            {
                match self.compare(link, read, capture)? {
                    None => return Ok(false),
                    Some(compared) => state = compared,
                }
            }
            self.counts.inspected += 1;
            *self.counts.states.entry(state).or_default() += 1;
            progress.done(self.counts.inspected, self.counts.due);
        }
        Ok(true)
    }

    /// Reads the pages of a batch, several hosts at a time. Returns `None` if it was stopped.
    fn read(&self, batch: &[DueLink], known: &HashMap<String, KnownHost>) -> Option<ReadBatch> {
        let mut by_host: HashMap<String, Vec<&DueLink>> = HashMap::new();
        for link in batch {
            by_host.entry(origin(&link.url)).or_default().push(link);
        }
        let mut groups: Vec<_> = by_host.into_iter().collect();
        // Those with most links first: they take longest.
        groups
            .sort_unstable_by(|one, next| next.1.len().cmp(&one.1.len()).then(one.0.cmp(&next.0)));
        let waiting = Mutex::new(VecDeque::from(groups));
        let read = Mutex::new(ReadBatch::default());
        let (client, compares) = (self.client, self.compares);
        thread::scope(|scope| {
            for _ in 0..INSPECT_HOSTS {
                scope.spawn(|| {
                    loop {
                        let next = {
                            let mut waiting =
                                waiting.lock().unwrap_or_else(PoisonError::into_inner);
                            waiting.pop_front()
                        };
                        let Some((origin, links)) = next else { return };
                        let known = known.get(&origin);
                        let host = HostReader::new(client, compares, &origin, known);
                        let Some(host) = host.read(&links) else {
                            return;
                        };
                        let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
                        read.links.extend(host.links);
                        read.hosts.push((origin, host.known));
                    }
                });
            }
        });
        if self.client.is_stopped() {
            return None;
        }
        let mut read = read.into_inner().unwrap_or_else(PoisonError::into_inner);
        read.links
            .sort_by(|one, next| one.stored.url.cmp(&next.stored.url));
        Some(read)
    }

    /// Compares a page with its snapshots, stores the verdict and returns its state; `None` if it
    /// was stopped.
    fn compare(
        &mut self,
        link: &ReadLink,
        read: &ReadPage,
        capture: &CitedCapture,
    ) -> Result<Option<PageState>, AuditError> {
        let (asked, found, host) = (&link.due.url, &read.found, &read.host);
        let verdict = match self.snapshot(capture)? {
            Fetched::Stopped => return Ok(None),
            Fetched::Failed(reason) => {
                self.counts.without_snapshot += 1;
                self.counts.last_failure = Some(reason);
                return Ok(Some(link.stored.state));
            }
            Fetched::Unreadable(reason) => match &read.doubt {
                Some(Doubt { verdict, .. }) => verdict.and(&reason),
                None => Verdict::new(PageState::Undecided, reason),
            },
            Fetched::Snapshot(cited) => {
                match compare(asked, found, &cited, host, read.doubt.as_ref()) {
                    FirstComparison::Decided(verdict) => verdict,
                    FirstComparison::Unlike => {
                        let mut later = Vec::new();
                        for capture in match self.later(capture)? {
                            None => return Ok(None),
                            Some(captures) => captures,
                        } {
                            match self.snapshot(&capture)? {
                                Fetched::Stopped => return Ok(None),
                                Fetched::Snapshot(snapshot) => later.push(*snapshot),
                                Fetched::Failed(_) | Fetched::Unreadable(_) => {}
                            }
                        }
                        compare_later(found, &cited, &later, host.front())
                    }
                }
            }
        };
        let mut stored = link.stored.clone();
        (stored.state, stored.evidence) = (verdict.state, verdict.evidence);
        stored.compared_with = Some(capture.timestamp.clone());
        store_page(self.audit, &stored)?;
        Ok(Some(stored.state))
    }

    /// Fetches a snapshot.
    fn snapshot(&mut self, capture: &CitedCapture) -> Result<Fetched, AuditError> {
        let Some(address) = snapshot_address(capture) else {
            return Ok(Fetched::Failed(format!(
                "the place of the snapshots of {} is not known; give that of a local index with \
                 `audit archive --cdxj FILE --replay URL`",
                capture.server
            )));
        };
        let Ok(url) = Url::parse(&address) else {
            return Ok(Fetched::Unreadable(format!("no URL: {address}")));
        };
        for _ in 0..AUDIT_REFUSALS {
            if !self.pace.wait(self.client.stop()) {
                return Ok(Fetched::Stopped);
            }
            return Ok(match self.snapshots.get(&url) {
                Reply::Stopped => Fetched::Stopped,
                Reply::Answer(answer) if matches!(answer.status, 429 | 503) => {
                    self.put_off(None)?;
                    continue;
                }
                Reply::Answer(answer) if !(200..300).contains(&answer.status) => {
                    Fetched::Failed(format!("HTTP status {} for {address}", answer.status))
                }
                Reply::Answer(answer) => match answer.page() {
                    None => Fetched::Unreadable(format!("the snapshot is no text: {address}")),
                    Some(page) => Fetched::Snapshot(Box::new(Snapshot {
                        timestamp: capture.timestamp.clone(),
                        found: FoundPage::new(answer.url, false, page),
                        address,
                    })),
                },
                Reply::Failed(failure) => {
                    Fetched::Failed(format!("{} for {address}", failure.words()))
                }
                Reply::Robots(url) | Reply::RobotsUnreachable(url, _) | Reply::Parked(url, _) => {
                    Fetched::Failed(format!("{address} leads to {url}"))
                }
            });
        }
        Err(self.refused("it refuses snapshots"))
    }

    /// Returns at most [`INSPECT_LATER_SNAPSHOTS`] later captures, one of them the newest; `None` if
    /// it was stopped.
    fn later(&mut self, first: &CitedCapture) -> Result<Option<Vec<CitedCapture>>, AuditError> {
        if !self.archives.contains_key(&first.server) {
            let archive = Archive::named(&first.server, self.snapshots.agent())?;
            self.archives.insert(first.server.clone(), archive);
        }
        let newest: String = now().chars().filter(char::is_ascii_digit).collect();
        let mut found: Vec<CitedCapture> = Vec::new();
        for wanted in [middle(&first.timestamp, &newest), newest] {
            match self.nearest_capture(first, &wanted)? {
                NearestCapture::Stopped => return Ok(None),
                NearestCapture::None => {}
                NearestCapture::Found(capture) => found.push(CitedCapture {
                    server: first.server.clone(),
                    address: capture.address.or_else(|| moved(first, &capture.timestamp)),
                    timestamp: capture.timestamp,
                    original: first.original.clone(),
                }),
            }
        }
        found.retain(|capture| first.timestamp < capture.timestamp);
        found.sort_unstable_by(|one, next| one.timestamp.cmp(&next.timestamp));
        found.dedup_by(|one, next| one.timestamp == next.timestamp);
        found.truncate(INSPECT_LATER_SNAPSHOTS);
        Ok(Some(found))
    }

    /// Asks the archive of `first` for the capture of its URL that is nearest to a time.
    fn nearest_capture(
        &mut self,
        first: &CitedCapture,
        wanted: &str,
    ) -> Result<NearestCapture, AuditError> {
        let server = &first.server;
        for _ in 0..AUDIT_REFUSALS {
            let Some(archive) = self.archives.get_mut(server) else {
                return Ok(NearestCapture::None);
            };
            if !archive.is_file() && !self.pace.wait(self.client.stop()) {
                return Ok(NearestCapture::Stopped);
            }
            let reply = archive.ask(&first.original, Some(wanted))?;
            if self.client.is_stopped() {
                return Ok(NearestCapture::Stopped);
            }
            match reply {
                ArchiveReply::Captures(captures) => {
                    let capture = nearest(&captures, Some(wanted)).cloned();
                    return Ok(capture.map_or(NearestCapture::None, NearestCapture::Found));
                }
                ArchiveReply::Failed(_) => return Ok(NearestCapture::None),
                ArchiveReply::Refused { retry_after, .. } => self.put_off(retry_after)?,
            }
        }
        Err(self.refused(&format!("{server} refuses questions")))
    }

    fn put_off(&mut self, retry_after: Option<Duration>) -> Result<(), AuditError> {
        let pause = retry_after.unwrap_or(Duration::from_secs(AUDIT_REFUSAL_SECONDS));
        if Duration::from_secs(AUDIT_RETRY_AFTER_SECONDS) < pause {
            return Err(self.refused("it asks for a pause of more than an hour"));
        }
        self.pace.put_off(pause);
        Ok(())
    }

    fn refused(&self, reason: &str) -> AuditError {
        AuditError::no_answers(format!(
            "the archive gives no snapshots: {reason}. Links that were inspected: {} of {}; run it \
             again later, it goes on from here",
            self.counts.inspected, self.counts.due
        ))
    }
}

/// The result of a question for the capture that is nearest to a time.
enum NearestCapture {
    Found(Capture),
    /// There is none, or the archive gave no answer.
    None,
    Stopped,
}

/// Returns the address of a snapshot as it was captured, without changes of the archive; `None` if it
/// is not known.
///
/// Archives give that after `id_` behind the time. Where an address does not hold the time, it is
/// taken as it is.
fn snapshot_address(capture: &CitedCapture) -> Option<String> {
    let time = &capture.timestamp;
    match &capture.address {
        Some(address) => Some(address.replacen(&format!("/{time}/"), &format!("/{time}id_/"), 1)),
        None => raw_snapshot(&capture.server, time, &capture.original),
    }
}

/// Returns the address of another capture of the same URL at `timestamp`, if that of `first` holds its
/// time.
fn moved(first: &CitedCapture, timestamp: &str) -> Option<String> {
    let (address, time) = (first.address.as_ref()?, format!("/{}/", first.timestamp));
    address
        .contains(&time)
        .then(|| address.replacen(&time, &format!("/{timestamp}/"), 1))
}

/// The result of a question for a snapshot.
enum Fetched {
    Snapshot(Box<Snapshot>),
    /// It cannot be compared, for this reason.
    Unreadable(String),
    /// The archive did not give it, for this reason.
    Failed(String),
    Stopped,
}

/// Returns the time of 14 digits in the middle of two, by the year.
fn middle(first: &str, last: &str) -> String {
    let year = |time: &str| time.get(..4).and_then(|year| year.parse::<u32>().ok());
    match (year(first), year(last)) {
        (Some(first), Some(last)) => format!("{}0701000000", u32::midpoint(first, last)),
        _ => last.to_owned(),
    }
}

/// Ends the inspection if no server replied in a whole batch of many hosts: their links answered
/// at their checks, so this machine has no network now.
fn refuse_silence(read: &ReadBatch) -> Result<(), AuditError> {
    let is_reply = |link: &ReadLink| link.stored.status.is_some() || link.has_reply;
    if read.hosts.len() < AUDIT_SILENT_HOSTS || read.links.iter().any(is_reply) {
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
    links: Vec<ReadLink>,
    /// By origin.
    hosts: Vec<(String, KnownHost)>,
}

/// A link whose page was read, or was not.
struct ReadLink {
    due: DueLink,
    stored: StoredPage,
    /// The page, if it is compared with a snapshot.
    read: Option<ReadPage>,
    /// `true` if a server replied, with a robots.txt or otherwise.
    has_reply: bool,
}

/// A page of a link, with what it is judged by.
struct ReadPage {
    found: FoundPage,
    /// The other pages of its host.
    host: HostPages,
    /// A verdict that waits for the comparison with a snapshot.
    doubt: Option<Doubt>,
}

/// Reads the pages of one host, one after the other.
struct HostReader<'a> {
    client: &'a PageClient<'a>,
    /// `true` if pages are compared with snapshots afterwards.
    compares: bool,
    known: KnownHost,
    /// The page of the path that cannot exist at the root, if there is one; `None` if it was not
    /// asked for yet.
    control: Option<Vec<Control>>,
    front: Front,
    /// The pages of such paths elsewhere, by the URLs that were asked for.
    others: HashMap<String, Vec<Control>>,
    links: Vec<ReadLink>,
}

impl<'a> HostReader<'a> {
    fn new(
        client: &'a PageClient<'a>,
        compares: bool,
        origin: &str,
        known: Option<&KnownHost>,
    ) -> HostReader<'a> {
        let known = known.cloned().unwrap_or_default();
        if let Some(robots) = &known.robots {
            client.know_robots(origin, robots);
        }
        HostReader {
            client,
            compares,
            control: known.control(),
            front: known.front(origin),
            known,
            others: HashMap::new(),
            links: Vec::new(),
        }
    }

    /// Reads the pages of links. Returns `None` if it was stopped.
    fn read(mut self, links: &[&DueLink]) -> Option<HostReader<'a>> {
        // The front page first, so that it is not asked for twice.
        let mut links = links.to_vec();
        links.sort_by_key(|link| !is_front_page(&link.url));
        for link in &links {
            let reply = self.client.get(&link.url);
            let read = self.judged(link, reply)?;
            self.links.push(read);
        }
        if let Some(link) = links.first() {
            self.known.robots = self.client.robots_text(&origin(&link.url));
        }
        Some(self)
    }

    fn judged(&mut self, link: &DueLink, reply: Reply) -> Option<ReadLink> {
        let mut stored = StoredPage::new(link.url.as_str(), now());
        let mut read = None;
        let mut has_reply = true;
        if is_front_page(&link.url) {
            self.keep_front(&reply);
        }
        let verdict = match reply {
            Reply::Stopped => return None,
            Reply::Parked(url, sign) => {
                stored.add_place(&url);
                Verdict::new(PageState::Parked, sign)
            }
            Reply::Robots(url) => not_read(format!("a robots.txt excludes {url}")),
            Reply::RobotsUnreachable(url, failure) => {
                let reason = match failure {
                    RobotsFailure::Status(status) => format!("HTTP status {status}"),
                    RobotsFailure::NoAnswer(failure) => {
                        stored.error = Some(failure.name());
                        has_reply = failure == CheckFailure::Tls;
                        format!("no answer: {}", failure.words())
                    }
                };
                not_read(format!("{reason} for the robots.txt of {}", origin(&url)))
            }
            Reply::Failed(failure) => {
                stored.error = Some(failure.name());
                has_reply = failure == CheckFailure::Tls;
                not_read(format!("no answer: {}", failure.words()))
            }
            Reply::Answer(answer) => {
                stored.add_answer(&answer);
                let verdict;
                (verdict, read) = self.verdict(link, answer)?;
                verdict
            }
        };
        if let Some(read) = &read {
            stored.add_page(&read.found);
        }
        (stored.state, stored.evidence) = (verdict.state, verdict.evidence);
        let is_compared = self.compares && link.capture.is_some();
        Some(ReadLink {
            due: link.clone(),
            read: read.filter(|_| is_compared && stored.state == PageState::NotCompared),
            stored,
            has_reply,
        })
    }

    /// Judges an answer: the verdict, and the page. Returns `None` if it was stopped.
    fn verdict(&mut self, link: &DueLink, answer: Answer) -> Option<Judged> {
        if !(200..300).contains(&answer.status) {
            let reason = format!("HTTP status {} at {}", answer.status, answer.url);
            return Some((not_read(reason), None));
        }
        let Some(page) = answer.page() else {
            let reason = format!("no text, but {:?}", answer.media_type);
            return Some((Verdict::new(PageState::Undecided, reason), None));
        };
        let found = FoundPage::new(answer.url, 0 < answer.redirects, page);
        let mut controls = self.control(&link.url)?;
        if found.is_moved && origin(&found.url) == origin(&link.url) {
            let folder = link.url.path().rsplit_once('/');
            let folder = folder.map_or("", |(folder, _)| folder);
            if !folder.is_empty() {
                controls
                    .extend(self.other_control(missing_path(&link.url, &format!("{folder}/")))?);
            }
        }
        let front = if is_front_page(&link.url) {
            None
        } else {
            self.front(&link.url)?.clone()
        };
        let mut host = HostPages { controls, front };
        let mut verdict = judge(&link.url, &found, &host);
        if verdict.state == PageState::NotCompared
            && !is_front_page(&link.url)
            && has_few_words(&found, host.front())
        {
            let mut siblings = self.other_control(sibling(&link.url))?;
            siblings.retain(|sibling| !is_one_place(&sibling.found.url, &found.url));
            host.controls.extend(siblings);
            verdict = judge(&link.url, &found, &host).refutable();
        }
        // A verdict that a snapshot may refute is given after the comparison with it.
        let waits = verdict.state != PageState::NotCompared
            && verdict.is_refutable
            && self.compares
            && link.capture.is_some();
        let doubt = waits.then(|| {
            let waiting = Verdict {
                state: PageState::NotCompared,
                ..verdict.and("its snapshot is not compared yet")
            };
            Doubt {
                verdict: std::mem::replace(&mut verdict, waiting),
                first_cited: link.first_cited.clone(),
            }
        });
        Some((verdict, Some(ReadPage { found, host, doubt })))
    }

    /// Returns the front page of the host of `url`, if it has one; `None` if it was stopped.
    fn front(&mut self, url: &Url) -> Option<&Option<Arc<FoundPage>>> {
        if matches!(self.front, Front::NotAsked) {
            let reply = self.client.get(&url.join("/").ok()?);
            if matches!(reply, Reply::Stopped) {
                return None;
            }
            self.keep_front(&reply);
        }
        match &self.front {
            Front::NotAsked => None,
            Front::Asked(front) => Some(front),
        }
    }

    fn keep_front(&mut self, reply: &Reply) {
        let front = found_front(reply).map(Arc::new);
        self.known.add_front(reply, front.as_deref());
        self.front = Front::Asked(front);
    }

    /// Returns the page of a path that cannot exist, at the root of the host of `url`, if it has
    /// one; `None` if it was stopped.
    fn control(&mut self, url: &Url) -> Option<Vec<Control>> {
        if self.control.is_none() {
            let asked = missing_path(url, "/")?;
            let control = self.ask_control(asked)?;
            self.control = Some(control);
        }
        self.control.clone()
    }

    /// Returns the page of a path that cannot exist elsewhere than at the root: sites lead paths of
    /// a section to its index, and programs have a page for numbers that they do not know. `None` if
    /// it was stopped.
    fn other_control(&mut self, asked: Option<Url>) -> Option<Vec<Control>> {
        let Some(asked) = asked else {
            return Some(Vec::new());
        };
        if !self.others.contains_key(asked.as_str()) {
            let control = match self.client.get(&asked) {
                Reply::Stopped => return None,
                reply => found_control(asked.clone(), reply).into_iter().collect(),
            };
            self.others.insert(asked.to_string(), control);
        }
        self.others.get(asked.as_str()).cloned()
    }

    fn ask_control(&mut self, asked: Url) -> Option<Vec<Control>> {
        let reply = self.client.get(&asked);
        if matches!(reply, Reply::Stopped) {
            return None;
        }
        self.known.add_control(&asked, &reply);
        let control = found_control(asked, reply);
        self.known.add_control_page(control.as_ref());
        Some(control.into_iter().collect())
    }
}

/// A verdict and its page.
type Judged = (Verdict, Option<ReadPage>);

/// Returns a front page, if it has a 2xx status.
fn found_front(reply: &Reply) -> Option<FoundPage> {
    let Reply::Answer(answer) = reply else {
        return None;
    };
    let page = answer
        .page()
        .filter(|_| (200..300).contains(&answer.status))?;
    Some(FoundPage::new(
        answer.url.clone(),
        0 < answer.redirects,
        page,
    ))
}

fn not_read(reason: String) -> Verdict {
    Verdict::new(PageState::NotRead, reason)
}

/// Returns the page of a path that cannot exist, if it has a 2xx status.
fn found_control(asked: Url, reply: Reply) -> Option<Control> {
    let Reply::Answer(answer) = reply else {
        return None;
    };
    if !(200..300).contains(&answer.status) {
        return None;
    }
    let page = answer.page()?;
    Some(Control {
        found: Arc::new(FoundPage::new(answer.url, 0 < answer.redirects, page)),
        asked,
    })
}

/// Returns a URL in a folder of the host of `url` that cannot exist: its name is made of the
/// folder, so that each run asks for the same.
fn missing_path(url: &Url, folder: &str) -> Option<Url> {
    let host = url.host_str()?;
    let name = XxHash3_64::oneshot(format!("{host}{folder}").as_bytes());
    let path = format!("{folder}urlspool-no-such-page-{name:016x}.html");
    Some(at_path(url, &path))
}
