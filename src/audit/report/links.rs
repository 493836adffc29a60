//! Reads the audit for a report: its plan and sample, all links, each with its checks and its
//! capture, and the most cited dead links with their citations and snapshots.
//!
//! The three tables are read side by side in the order of the key, so that only one link is in
//! memory.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::{Connection, Row, Rows, Statement};

use crate::audit::AuditError;
use crate::audit::confirmation::{ConfirmationRule, FailureRun};
use crate::audit::database::AuditDb;
use crate::audit::state::{CheckFailure, LinkState};
use crate::grammar::encode;
use crate::limits::{REPORT_CITATIONS, REPORT_DEAD_LINKS};
use crate::page::html::ratio;

const LINKS: &str =
    "SELECT key, url, host, domain, scheme, tld, first_cited, last_cited, citations, messages,
  year, list, stratum, planned, excluded FROM audit_links ORDER BY key";

const CHECKS: &str = "SELECT key, checked_at, state, status, error, checker FROM audit_checks
  ORDER BY key, checked_at, id";

const CAPTURES: &str =
    "SELECT key, server, captures.asked_at, timestamp, captures.outcome, original, form, address
  FROM audit_captures AS captures LEFT JOIN audit_asked USING(key, server) ORDER BY key";

/// A link of an audit.
#[derive(Debug)]
pub(super) struct AuditedLink<'r> {
    pub(super) key: &'r str,
    pub(super) url: &'r str,
    pub(super) host: Option<&'r str>,
    pub(super) domain: Option<&'r str>,
    pub(super) scheme: &'r str,
    pub(super) tld: Option<&'r str>,
    pub(super) first_cited: Option<&'r str>,
    pub(super) last_cited: Option<&'r str>,
    pub(super) citations: u64,
    pub(super) messages: u64,
    pub(super) year: &'r str,
    pub(super) list: &'r str,
    pub(super) stratum: &'r str,
    /// `true` if it is to be checked.
    pub(super) is_planned: bool,
    /// The reason for which it is not.
    pub(super) excluded: Option<&'r str>,
    /// In the order of their time.
    pub(super) checks: &'r [StoredCheck],
    pub(super) capture: Option<&'r StoredCapture>,
    /// Failures since the last reply, as they count for a confirmation.
    pub(super) failures: u32,
    /// `true` if it is dead, and that is confirmed.
    pub(super) is_confirmed: bool,
}

impl AuditedLink<'_> {
    /// The state at the newest check.
    pub(super) fn state(&self) -> LinkState {
        self.checks
            .last()
            .map_or(LinkState::Unknown, |check| check.state)
    }

    pub(super) fn archive(&self) -> ArchiveAnswer {
        self.capture
            .map_or(ArchiveAnswer::Unknown, |capture| capture.answer)
    }
}

/// The result of a check.
#[derive(Clone, Debug)]
pub(super) struct StoredCheck {
    pub(super) checked_at: String,
    pub(super) state: LinkState,
    pub(super) status: Option<i64>,
    pub(super) error: Option<String>,
    pub(super) checker: String,
}

impl StoredCheck {
    /// Returns `true` if a server replied.
    pub(super) fn has_reply(&self) -> bool {
        self.status.is_some() || self.error.as_deref() == Some(CheckFailure::Tls.name())
    }
}

/// The archive's answer for a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArchiveAnswer {
    /// It holds a capture with a 2xx status.
    Captured,
    /// It holds none.
    None,
    /// It was not asked, or did not answer.
    Unknown,
}

/// The answer of an archive.
#[derive(Clone, Debug)]
pub(super) struct StoredCapture {
    pub(super) server: String,
    pub(super) asked_at: String,
    /// Timestamp of the capture, of 14 digits.
    pub(super) timestamp: Option<String>,
    pub(super) answer: ArchiveAnswer,
    /// Its URL as the archive has it.
    original: Option<String>,
    /// The form of the URL under which it was found.
    pub(super) form: Option<String>,
    /// The address of its page, if it does not follow from the server.
    address: Option<String>,
}

impl StoredCapture {
    /// Returns `true` if it was found under the URL without tracking parameters.
    pub(super) fn is_of_clean_form(&self) -> bool {
        self.form.as_deref() == Some("clean")
    }
}

/// Calls `each` with every link, in the order of their keys.
pub(super) fn for_each_link(
    audit: &AuditDb,
    mut each: impl FnMut(&AuditedLink<'_>) -> Result<(), AuditError>,
) -> Result<(), AuditError> {
    let mut check_statement = audit.named(audit.db.prepare(CHECKS))?;
    let mut capture_statement = audit.named(audit.db.prepare(CAPTURES))?;
    let mut link_statement = audit.named(audit.db.prepare(LINKS))?;
    let mut checks = audit.named(KeyedRows::new(&mut check_statement, stored_check))?;
    let mut captures = audit.named(KeyedRows::new(&mut capture_statement, stored_capture))?;
    let mut rows = audit.named(link_statement.query([]))?;
    let (mut link_checks, mut link_captures) = (Vec::new(), Vec::new());
    let rule = audit.confirmation_rule()?;
    while let Some(row) = audit.named(rows.next())? {
        let key = audit.named(text(row, 0))?;
        audit.named(checks.take(key, &mut link_checks))?;
        audit.named(captures.take(key, &mut link_captures))?;
        let mut link = audit.named(link(row, &link_checks, link_captures.first()))?;
        let run = failures(rule, &link_checks);
        link.failures = run.counted();
        link.is_confirmed = link.state().is_dead() && run.is_confirmed(rule);
        each(&link)?;
    }
    Ok(())
}

/// Counts the failures of a link since its last reply.
fn failures(rule: ConfirmationRule, checks: &[StoredCheck]) -> FailureRun {
    let mut run = FailureRun::default();
    for check in checks {
        if let Some(at) = unix_seconds(&check.checked_at) {
            run.add(rule, at, check.state, check.has_reply());
        }
    }
    run
}

/// Returns a time of the tables in seconds since 1970.
pub(super) fn unix_seconds(time: &str) -> Option<i64> {
    let time: jiff::Timestamp = time.parse().ok()?;
    Some(time.as_second())
}

fn link<'r>(
    row: &'r Row<'_>,
    checks: &'r [StoredCheck],
    capture: Option<&'r StoredCapture>,
) -> rusqlite::Result<AuditedLink<'r>> {
    Ok(AuditedLink {
        key: text(row, 0)?,
        url: text(row, 1)?,
        host: optional_text(row, 2)?,
        domain: optional_text(row, 3)?,
        scheme: text(row, 4)?,
        tld: optional_text(row, 5)?,
        first_cited: optional_text(row, 6)?,
        last_cited: optional_text(row, 7)?,
        citations: count(row, 8)?,
        messages: count(row, 9)?,
        year: text(row, 10)?,
        list: text(row, 11)?,
        stratum: text(row, 12)?,
        is_planned: row.get(13)?,
        excluded: optional_text(row, 14)?,
        checks,
        capture,
        failures: 0,
        is_confirmed: false,
    })
}

fn stored_check(row: &Row<'_>) -> rusqlite::Result<StoredCheck> {
    Ok(StoredCheck {
        checked_at: row.get(1)?,
        state: LinkState::named(text(row, 2)?).unwrap_or(LinkState::Unknown),
        status: row.get(3)?,
        error: row.get(4)?,
        checker: row.get(5)?,
    })
}

fn stored_capture(row: &Row<'_>) -> rusqlite::Result<StoredCapture> {
    Ok(StoredCapture {
        server: row.get(1)?,
        asked_at: row.get(2)?,
        timestamp: row.get(3)?,
        answer: match text(row, 4)? {
            "captured" => ArchiveAnswer::Captured,
            "none" => ArchiveAnswer::None,
            _ => ArchiveAnswer::Unknown,
        },
        original: row.get(5)?,
        form: row.get(6)?,
        address: row.get(7)?,
    })
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}

fn text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r str> {
    Ok(row.get_ref(column)?.as_str()?)
}

fn optional_text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<Option<&'r str>> {
    Ok(row.get_ref(column)?.as_str_or_null()?)
}

/// Rows in the order of a key, which is their first column.
struct KeyedRows<'s, T> {
    rows: Rows<'s>,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
    next: Option<(String, T)>,
}

impl<'s, T> KeyedRows<'s, T> {
    fn new(
        statement: &'s mut Statement<'_>,
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<KeyedRows<'s, T>> {
        let mut keyed = KeyedRows {
            rows: statement.query([])?,
            read,
            next: None,
        };
        keyed.advance()?;
        Ok(keyed)
    }

    /// Moves the rows of `key` to `found`, and passes over those of smaller keys, which have no
    /// link.
    fn take(&mut self, key: &str, found: &mut Vec<T>) -> rusqlite::Result<()> {
        found.clear();
        while let Some((next_key, _)) = &self.next
            && next_key.as_str() <= key
        {
            let is_of_key = next_key == key;
            let taken = self.advance()?;
            if is_of_key {
                found.extend(taken);
            }
        }
        Ok(())
    }

    /// Reads the next row. Returns the one before.
    fn advance(&mut self) -> rusqlite::Result<Option<T>> {
        let next = match self.rows.next()? {
            None => None,
            Some(row) => Some((row.get(0)?, (self.read)(row)?)),
        };
        let taken = std::mem::replace(&mut self.next, next);
        Ok(taken.map(|(_, value)| value))
    }
}

/// The origin of a report.
#[derive(Clone, Debug)]
pub(super) struct Provenance {
    /// The name of the database, without its folder.
    pub(super) database: String,
    /// The values of `audit_meta`.
    meta: BTreeMap<String, String>,
    /// Strata of the sample by name; one without a sample.
    strata: BTreeMap<String, StratumSize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StratumSize {
    /// Links that may be checked.
    pub(super) population: u64,
    /// Links that are planned.
    pub(super) sampled: u64,
}

impl StratumSize {
    /// The number of links that a link of the sample stands for.
    fn weight(self) -> f64 {
        if self.sampled == 0 {
            return 1.0;
        }
        ratio(self.population, self.sampled)
    }
}

impl Provenance {
    /// Reads the origin from the database at `path`.
    pub(super) fn read(db: &Connection, path: &Path) -> rusqlite::Result<Provenance> {
        let mut meta = db.prepare("SELECT name, value FROM audit_meta")?;
        let mut strata = db.prepare("SELECT stratum, population, sampled FROM audit_strata")?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(Provenance {
            database: name.to_string_lossy().into_owned(),
            meta: meta
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?,
            strata: strata
                .query_map([], |row| {
                    let size = StratumSize {
                        population: row.get::<_, i64>(1)?.cast_unsigned(),
                        sampled: row.get::<_, i64>(2)?.cast_unsigned(),
                    };
                    Ok((row.get(0)?, size))
                })?
                .collect::<rusqlite::Result<_>>()?,
        })
    }

    /// A value of `audit_meta`; `None` if it is missing or empty.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let value = self.meta.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }

    /// The strata of the sample; none without a sample.
    pub(super) fn strata(&self) -> impl Iterator<Item = (&str, StratumSize)> {
        let is_sample = self.value("sample").is_some();
        let strata = self.strata.iter().filter(move |_| is_sample);
        strata.map(|(name, size)| (name.as_str(), *size))
    }

    /// The number of links that a link of the sample stands for.
    pub(super) fn weight(&self, stratum: &str) -> f64 {
        self.strata.get(stratum).map_or(1.0, |size| size.weight())
    }
}

/// The first citations of a link. The index over link, message and date serves the choice.
const CITATIONS: &str =
    "SELECT messages.digest, messages.message_id, messages.date, messages.sender, messages.subject,
    coalesce(messages.list_id, json_extract(messages.newsgroups, '$[0]')), urls.anchor,
    sources.path, (SELECT group_concat(value, '!') FROM json_each(sources.member)), urls.start
  FROM links JOIN urls ON urls.link = links.id JOIN messages ON messages.id = urls.message
    JOIN sources ON sources.id = urls.source
  WHERE links.key = ?1 ORDER BY urls.cited NULLS LAST, urls.id";

#[derive(Clone, Debug)]
pub(super) struct DeadLink {
    pub(super) url: String,
    pub(super) state: LinkState,
    /// The status or the error of the newest check.
    pub(super) result: String,
    pub(super) checked_at: String,
    pub(super) failures: u32,
    pub(super) is_confirmed: bool,
    pub(super) citations: u64,
    pub(super) messages: u64,
    pub(super) first_cited: Option<String>,
    pub(super) last_cited: Option<String>,
    pub(super) list: String,
    pub(super) archive: ArchiveAnswer,
    /// The form of the URL under which the archive has a capture.
    pub(super) form: Option<String>,
    /// Address of the snapshot; the nearest of the Wayback Machine if no archive was asked. `None`
    /// if there is no snapshot.
    pub(super) snapshot: Option<String>,
}

impl DeadLink {
    /// Returns `None` for a link that is not dead, or not planned.
    pub(super) fn of(link: &AuditedLink<'_>) -> Option<DeadLink> {
        let check = link.checks.last()?;
        if !link.is_planned || !check.state.is_dead() {
            return None;
        }
        let result = match (check.status, &check.error) {
            (Some(status), _) => status.to_string(),
            (None, error) => error.clone().unwrap_or_default(),
        };
        Some(DeadLink {
            url: link.url.to_owned(),
            state: check.state,
            result,
            checked_at: check.checked_at.clone(),
            failures: link.failures,
            is_confirmed: link.is_confirmed,
            citations: link.citations,
            messages: link.messages,
            first_cited: link.first_cited.map(str::to_owned),
            last_cited: link.last_cited.map(str::to_owned),
            list: link.list.to_owned(),
            archive: link.archive(),
            form: link.capture.and_then(|capture| capture.form.clone()),
            snapshot: snapshot(link),
        })
    }
}

fn snapshot(link: &AuditedLink<'_>) -> Option<String> {
    match (link.archive(), link.capture) {
        (ArchiveAnswer::None, _) => None,
        (ArchiveAnswer::Captured, Some(capture)) => {
            if let Some(page) = &capture.address {
                let is_web = page.starts_with("http://") || page.starts_with("https://");
                return is_web.then(|| address(page, "", ""));
            }
            let url = match &capture.original {
                Some(original) if capture.is_of_clean_form() => original,
                _ => link.url,
            };
            captured_snapshot(&capture.server, capture.timestamp.as_deref()?, url)
        }
        _ => Some(nearest_snapshot(link.first_cited, link.url)),
    }
}

/// A link that is dead or redirected elsewhere, and whose snapshot has an address.
#[derive(Clone, Debug)]
pub(super) struct ReplacedLink<'r> {
    pub(super) url: &'r str,
    pub(super) state: LinkState,
    pub(super) is_confirmed: bool,
    /// Time of the snapshot, as the tables have times.
    pub(super) snapshot_time: String,
    pub(super) snapshot: String,
}

impl<'r> ReplacedLink<'r> {
    /// Returns `None` for a link without a snapshot, and for one that lives.
    pub(super) fn of(link: &AuditedLink<'r>) -> Option<ReplacedLink<'r>> {
        let state = link.state();
        let is_gone = state.is_dead() || state == LinkState::Redirected;
        if !link.is_planned || !is_gone || link.archive() != ArchiveAnswer::Captured {
            return None;
        }
        let timestamp = link.capture?.timestamp.as_deref()?;
        let time = jiff::civil::DateTime::strptime("%Y%m%d%H%M%S", timestamp).ok()?;
        Some(ReplacedLink {
            url: link.url,
            state,
            is_confirmed: link.is_confirmed,
            snapshot_time: time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            snapshot: snapshot(link)?,
        })
    }
}

/// All places where a link is cited.
const PLACES: &str =
    "SELECT urls.url, sources.path, (SELECT group_concat(value, '!') FROM json_each(sources.member)),
    urls.start, urls.cited
  FROM links JOIN urls ON urls.link = links.id JOIN sources ON sources.id = urls.source
  WHERE links.key = ?1 ORDER BY urls.cited NULLS LAST, urls.id";

/// The places where links are cited.
pub(super) struct Places<'d>(Statement<'d>);

/// A place where a link is cited.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The URL as it is written there.
    pub(super) written: String,
    /// The file, as `urlspool show` reads it: `path!member:start`.
    pub(super) location: String,
    pub(super) cited: Option<String>,
}

impl<'d> Places<'d> {
    pub(super) fn prepare(db: &'d Connection) -> rusqlite::Result<Places<'d>> {
        Ok(Places(db.prepare(PLACES)?))
    }

    /// Calls `each` with the places of the link `key`.
    pub(super) fn for_each(
        &mut self,
        audit: &AuditDb,
        key: &str,
        mut each: impl FnMut(&Place) -> Result<(), AuditError>,
    ) -> Result<(), AuditError> {
        let mut rows = audit.named(self.0.query([key]))?;
        while let Some(row) = audit.named(rows.next())? {
            each(&audit.named(place(row))?)?;
        }
        Ok(())
    }
}

fn place(row: &Row<'_>) -> rusqlite::Result<Place> {
    Ok(Place {
        written: row.get(0)?,
        location: place_text(text(row, 1)?, optional_text(row, 2)?, row.get(3)?),
        cited: row.get(4)?,
    })
}

/// Returns a place as `urlspool show` reads it.
fn place_text(path: &str, member: Option<&str>, start: i64) -> String {
    match member {
        Some(member) => format!("{path}!{member}:{start}"),
        None => format!("{path}:{start}"),
    }
}

/// The most cited of the dead links, each with its key.
#[derive(Debug, Default)]
pub(super) struct MostCited(BTreeMap<(Reverse<u64>, String), DeadLink>);

impl MostCited {
    /// Adds a link, unless enough others are cited more often; of equal ones the smaller key
    /// counts.
    pub(super) fn add(&mut self, key: &str, link: &DeadLink) {
        let order = Reverse(link.citations);
        let is_full = REPORT_DEAD_LINKS <= self.0.len();
        let is_first = |last: (&(Reverse<u64>, String), _)| (order, key) < (last.0.0, &*last.0.1);
        if is_full && !self.0.last_key_value().is_some_and(is_first) {
            return;
        }
        self.0.insert((order, key.to_owned()), link.clone());
        if REPORT_DEAD_LINKS < self.0.len() {
            self.0.pop_last();
        }
    }

    /// The links, the most cited first, each with its first citations.
    pub(super) fn with_citations(self, db: &Connection) -> rusqlite::Result<Vec<CitedLink>> {
        let mut statement = db.prepare(CITATIONS)?;
        let links = self.0.into_iter().map(|((_, key), link)| {
            let mut rows = statement.query([key])?;
            let (mut seen, mut citations) = (BTreeSet::new(), Vec::new());
            while citations.len() < REPORT_CITATIONS
                && let Some(row) = rows.next()?
            {
                // A copy of the message in another mailbox is no other citation.
                if seen.insert(row.get::<_, String>(0)?) {
                    citations.push(citation(row)?);
                }
            }
            Ok(CitedLink { link, citations })
        });
        links.collect()
    }
}

/// A dead link and its first citations, one for each message.
#[derive(Clone, Debug)]
pub(super) struct CitedLink {
    pub(super) link: DeadLink,
    pub(super) citations: Vec<Citation>,
}

/// A citation of a link.
#[derive(Clone, Debug)]
pub(super) struct Citation {
    pub(super) message_id: Option<String>,
    pub(super) date: Option<String>,
    pub(super) sender: Option<String>,
    pub(super) subject: Option<String>,
    /// The list, else the first newsgroup.
    pub(super) list: Option<String>,
    /// The text of the link.
    pub(super) anchor: Option<String>,
    /// The file, as `urlspool show` reads it: `path!member:start`.
    pub(super) place: String,
}

fn citation(row: &Row<'_>) -> rusqlite::Result<Citation> {
    Ok(Citation {
        message_id: row.get(1)?,
        date: row.get(2)?,
        sender: row.get(3)?,
        subject: row.get(4)?,
        list: row.get(5)?,
        anchor: row.get(6)?,
        place: place_text(text(row, 7)?, optional_text(row, 8)?, row.get(9)?),
    })
}

/// Base of the addresses of snapshots in the Wayback Machine.
const WAYBACK_MACHINE: &str = "https://web.archive.org/web/";

/// Last segments of the path of a CDX server that stands beside the snapshots of a collection.
const CDX_SEGMENTS: [&str; 2] = ["/cdx", "/cdx/"];

/// Timestamp in an address at which the archive lists all snapshots.
const ANY_TIME: &str = "*";

/// Returns the address of the snapshot at `timestamp` in the archive that the CDX server `server`
/// belongs to; `None` if the place of its snapshots is not known.
fn captured_snapshot(server: &str, timestamp: &str, url: &str) -> Option<String> {
    Some(address(&snapshot_base(server)?, timestamp, url))
}

/// Returns the address at which the Wayback Machine shows its snapshot that is nearest to a date;
/// all of them without one.
fn nearest_snapshot(date: Option<&str>, url: &str) -> String {
    let digits = |date: &str| date.chars().filter(char::is_ascii_digit).collect();
    let timestamp: String = date.map_or(ANY_TIME.to_owned(), digits);
    address(WAYBACK_MACHINE, &timestamp, url)
}

/// The address before the timestamp: `https://host/coll/` for the CDX server
/// `https://host/coll/cdx` of pywb.
fn snapshot_base(server: &str) -> Option<String> {
    let address = server.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = address.split_once("://")?;
    let host = rest.split('/').next().unwrap_or_default();
    if !matches!(scheme, "http" | "https") || host.is_empty() || host.contains('@') {
        return None;
    }
    if host == "web.archive.org" {
        return Some(WAYBACK_MACHINE.to_owned());
    }
    let base = CDX_SEGMENTS
        .iter()
        .find_map(|segment| address.strip_suffix(segment))?;
    Some(format!("{base}/"))
}

/// Returns the address of a snapshot, with the bytes escaped that no URL holds.
fn address(base: &str, timestamp: &str, url: &str) -> String {
    let is_kept = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}'".contains(&byte);
    let slash = if timestamp.is_empty() { "" } else { "/" };
    encode(format!("{base}{timestamp}{slash}{url}").as_bytes(), is_kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_follows_from_the_server() {
        for (server, expected) in [
            (
                "https://web.archive.org/cdx/search/cdx",
                Some(WAYBACK_MACHINE),
            ),
            (
                "http://127.0.0.1:8080/coll/cdx",
                Some("http://127.0.0.1:8080/coll/"),
            ),
            (
                "https://a.test/wayback/cdx?x=y",
                Some("https://a.test/wayback/"),
            ),
            ("https://a.test/api", None),
            ("https://u:p@a.test/cdx", None),
            ("javascript://a.test/cdx", None),
            ("https:///cdx", None),
            ("", None),
        ] {
            assert_eq!(snapshot_base(server).as_deref(), expected, "{server}");
        }
    }

    #[test]
    fn addresses_hold_no_byte_that_ends_an_attribute() {
        let url = "http://h.test/a b\"<'\u{e9}\u{202e}?x=%20#y";
        assert_eq!(
            nearest_snapshot(Some("1996-07-02T13:45:00Z"), url),
            "https://web.archive.org/web/19960702134500/http://h.test/a%20b%22%3C%27%C3%A9%E2%80%AE?x=%20#y"
        );
        assert_eq!(
            nearest_snapshot(None, "http://h.test/"),
            "https://web.archive.org/web/*/http://h.test/"
        );
        assert_eq!(
            captured_snapshot("http://p.test/c/cdx", "19970101000000", "http://h.test/").unwrap(),
            "http://p.test/c/19970101000000/http://h.test/"
        );
    }
}
