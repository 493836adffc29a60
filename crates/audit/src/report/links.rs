//! Reads the audit for a report: its plan and sample, all links with their checks and captures, and
//! the most cited dead links with their citations and snapshots.
//!
//! Only one link is in memory at a time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row};

use crate::AuditError;
use crate::confirmation::{ConfirmationRule, FailureRun};
use crate::database::AuditDb;
use crate::plan::{Stratum, strata};
use crate::state::{CheckFailure, LinkState};
use urlspool_files::config::NamedValue;
use urlspool_store::page::html::ratio;
use urlspool_store::stats::list_name;
use urlspool_text::grammar::encode;
use urlspool_text::limits::{REPORT_CITATIONS, REPORT_DEAD_LINKS};
use urlspool_text::named_enum;

const LINKS: &str =
    "SELECT key, url, host, domain, scheme, tld, first_cited, last_cited, citations, messages,
  year, list, stratum, planned, excluded FROM audit_links ORDER BY key";

const CHECKS: &str = "SELECT checked_at, state, status, error, checker FROM audit_checks
  WHERE key = ?1 ORDER BY checked_at, id";

const CAPTURE: &str =
    "SELECT server, captures.asked_at, timestamp, captures.outcome, original, form
  FROM audit_captures AS captures LEFT JOIN audit_asked USING(key, server) WHERE key = ?1";

/// A link of an audit.
#[derive(Clone, Debug, Default)]
pub(super) struct AuditedLink {
    pub(super) key: String,
    pub(super) url: String,
    pub(super) host: Option<String>,
    pub(super) domain: Option<String>,
    pub(super) scheme: String,
    pub(super) tld: Option<String>,
    pub(super) first_cited: Option<String>,
    pub(super) last_cited: Option<String>,
    pub(super) citations: u64,
    pub(super) messages: u64,
    pub(super) year: String,
    pub(super) list: String,
    pub(super) stratum: String,
    /// `true` if it is planned.
    pub(super) is_planned: bool,
    /// Reason for its exclusion, if it is excluded.
    pub(super) excluded: Option<String>,
    /// In order of time.
    pub(super) checks: Vec<StoredCheck>,
    pub(super) capture: Option<StoredCapture>,
    /// Number of failures since the last reply that count for a confirmation.
    pub(super) failures: u32,
    /// `true` if it is confirmed dead.
    pub(super) is_confirmed: bool,
}

impl AuditedLink {
    /// Returns the state at the latest check.
    pub(super) fn state(&self) -> LinkState {
        let newest = self.checks.last();
        newest.map_or(LinkState::Unknown, |check| check.state)
    }

    /// Returns `true` if the link is planned and dead.
    pub(super) fn is_dead(&self) -> bool {
        self.is_planned && self.state().is_dead()
    }

    /// Returns the status or the error of the latest check.
    pub(super) fn result(&self) -> String {
        match self.checks.last().map(|check| (check.status, &check.error)) {
            Some((Some(status), _)) => status.to_string(),
            Some((None, Some(error))) => error.clone(),
            _ => String::new(),
        }
    }

    /// Returns the time of the latest check.
    pub(super) fn checked_at(&self) -> &str {
        let newest = self.checks.last();
        newest.map_or("", |check| &check.checked_at)
    }

    pub(super) fn archive(&self) -> ArchiveAnswer {
        let capture = self.capture.as_ref();
        capture.map_or(ArchiveAnswer::Unknown, |capture| capture.answer)
    }

    /// Returns the address of the snapshot, or of the nearest snapshot in the Wayback Machine if no
    /// archive was queried. Returns `None` if there is no snapshot.
    pub(super) fn snapshot(&self) -> Option<String> {
        match (self.archive(), &self.capture) {
            (ArchiveAnswer::None, _) => None,
            (ArchiveAnswer::Captured, Some(capture)) => {
                let url = match &capture.original {
                    Some(original) if capture.is_of_clean_form() => original,
                    _ => &self.url,
                };
                captured_snapshot(&capture.server, capture.timestamp.as_deref()?, url)
            }
            _ => Some(nearest_snapshot(self.first_cited.as_deref(), &self.url)),
        }
    }
}

/// Result of a check.
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

named_enum! {
    /// The archive's answer for a link.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum ArchiveAnswer {
        /// It has a capture with a 2xx status.
        Captured = "captured",
        /// It has no capture.
        None = "none",
        /// It was not queried, or did not answer.
        Unknown = "unknown",
    }
}

/// The answer of an archive.
#[derive(Clone, Debug)]
pub(super) struct StoredCapture {
    pub(super) server: String,
    pub(super) asked_at: String,
    /// Time of the capture, 14 digits.
    pub(super) timestamp: Option<String>,
    pub(super) answer: ArchiveAnswer,
    /// URL as stored by the archive.
    original: Option<String>,
    /// Form of the URL under which the capture was found.
    pub(super) form: Option<String>,
}

impl StoredCapture {
    /// Returns `true` if the capture was found under the URL without tracking parameters.
    pub(super) fn is_of_clean_form(&self) -> bool {
        self.form.as_deref() == Some("clean")
    }
}

/// Calls `each` with every link, in key order.
pub(super) fn for_each_link(
    audit: &AuditDb,
    mut each: impl FnMut(&AuditedLink) -> Result<(), AuditError>,
) -> Result<(), AuditError> {
    let mut checks = audit.named(audit.db.prepare(CHECKS))?;
    let mut capture = audit.named(audit.db.prepare(CAPTURE))?;
    let mut read = |row: &Row<'_>| -> rusqlite::Result<AuditedLink> {
        let mut link = link(row)?;
        let found = checks.query_map([&link.key], stored_check)?;
        link.checks = found.collect::<Result<_, _>>()?;
        link.capture = capture.query_row([&link.key], stored_capture).optional()?;
        Ok(link)
    };
    let rule = audit.confirmation_rule()?;
    audit.for_each_row(LINKS, [], |row| {
        let mut link = audit.named(read(row))?;
        let run = failures(rule, &link.checks);
        link.failures = run.counted();
        link.is_confirmed = link.state().is_dead() && run.is_confirmed(rule);
        each(&link)
    })
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

/// Converts a time of the tables to seconds since 1970.
pub(super) fn unix_seconds(time: &str) -> Option<i64> {
    let time: jiff::Timestamp = time.parse().ok()?;
    Some(time.as_second())
}

fn link(row: &Row<'_>) -> rusqlite::Result<AuditedLink> {
    Ok(AuditedLink {
        key: row.get(0)?,
        url: row.get(1)?,
        host: row.get(2)?,
        domain: row.get(3)?,
        scheme: row.get(4)?,
        tld: row.get(5)?,
        first_cited: row.get(6)?,
        last_cited: row.get(7)?,
        citations: row.get::<_, i64>(8)?.cast_unsigned(),
        messages: row.get::<_, i64>(9)?.cast_unsigned(),
        year: row.get(10)?,
        list: row.get(11)?,
        stratum: row.get(12)?,
        is_planned: row.get(13)?,
        excluded: row.get(14)?,
        ..AuditedLink::default()
    })
}

fn stored_check(row: &Row<'_>) -> rusqlite::Result<StoredCheck> {
    Ok(StoredCheck {
        checked_at: row.get(0)?,
        state: LinkState::named(text(row, 1)?).unwrap_or(LinkState::Unknown),
        status: row.get(2)?,
        error: row.get(3)?,
        checker: row.get(4)?,
    })
}

fn stored_capture(row: &Row<'_>) -> rusqlite::Result<StoredCapture> {
    let outcome = text(row, 3)?;
    let answer = ArchiveAnswer::ALL
        .into_iter()
        .find(|answer| answer.name() == outcome);
    Ok(StoredCapture {
        server: row.get(0)?,
        asked_at: row.get(1)?,
        timestamp: row.get(2)?,
        answer: answer.unwrap_or(ArchiveAnswer::Unknown),
        original: row.get(4)?,
        form: row.get(5)?,
    })
}

fn text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r str> {
    Ok(row.get_ref(column)?.as_str()?)
}

/// Origin of a report.
#[derive(Clone, Debug)]
pub(super) struct Provenance {
    /// Name of the database without its folder.
    pub(super) database: String,
    /// Values of `audit_meta`.
    meta: BTreeMap<String, String>,
    /// Strata of the sample by name; a single stratum if there is no sample.
    strata: BTreeMap<String, Stratum>,
}

impl Provenance {
    /// Reads the origin from the database at `path`.
    pub(super) fn read(audit: &AuditDb, path: &Path) -> Result<Provenance, AuditError> {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let sql = "SELECT name, value FROM audit_meta";
        let meta = audit.rows(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let strata = strata(audit)?.into_iter();
        Ok(Provenance {
            database: name.to_string_lossy().into_owned(),
            meta: meta.into_iter().collect(),
            strata: strata.map(|one| (one.name.clone(), one)).collect(),
        })
    }

    /// Returns a value of `audit_meta`; `None` if it is missing or empty.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let value = self.meta.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }

    /// Returns the strata of the sample; empty if there is no sample.
    pub(super) fn strata(&self) -> impl Iterator<Item = &Stratum> {
        let is_sample = self.value("sample").is_some();
        self.strata.values().filter(move |_| is_sample)
    }

    /// Returns the number of links that a link in the sample represents.
    pub(super) fn weight(&self, stratum: &str) -> f64 {
        match self.strata.get(stratum) {
            Some(stratum) if stratum.sampled != 0 => ratio(stratum.population, stratum.sampled),
            _ => 1.0,
        }
    }
}

/// First citations of a link. The index over link, message and date makes the selection fast.
const CITATIONS: &str = "SELECT messages.digest,
    CASE author_by WHEN 'outer' THEN messages.message_id ELSE author_message_id END,
    coalesce(author_date, messages.date),
    CASE author_by WHEN 'outer' THEN messages.sender ELSE author_from END,
    CASE author_by WHEN 'outer' THEN messages.subject ELSE author_subject END,
    messages.list_id, lower(json_extract(messages.newsgroups, '$[0]')), urls.anchor,
    sources.path || ifnull((SELECT '!' || group_concat(value, '!') \
    FROM json_each(sources.member)), '') || ':' || urls.start
  FROM links JOIN urls ON urls.link = links.id JOIN messages ON messages.id = urls.message
    JOIN sources ON sources.id = urls.source
  WHERE links.key = ?1 ORDER BY urls.cited NULLS LAST, urls.id";

/// The most cited dead links, with their keys.
#[derive(Debug, Default)]
pub(super) struct MostCited(BTreeMap<(Reverse<u64>, String), AuditedLink>);

impl MostCited {
    /// Adds a link, unless enough others are cited more often. Of links with equal counts, the
    /// smaller key wins.
    pub(super) fn add(&mut self, link: &AuditedLink) {
        let key = link.key.as_str();
        let order = Reverse(link.citations);
        if REPORT_DEAD_LINKS <= self.0.len() {
            match self.0.last_entry() {
                Some(last) if (order, key) < (last.key().0, &*last.key().1) => drop(last.remove()),
                _ => return,
            }
        }
        self.0.insert((order, key.to_owned()), link.clone());
    }

    /// Returns the links, most cited first, each with its first citations.
    pub(super) fn with_citations(self, db: &Connection) -> rusqlite::Result<Vec<CitedLink>> {
        let mut statement = db.prepare(CITATIONS)?;
        let links = self.0.into_iter().map(|((_, key), link)| {
            let mut rows = statement.query([key])?;
            let (mut seen, mut citations) = (BTreeSet::new(), Vec::new());
            while citations.len() < REPORT_CITATIONS
                && let Some(row) = rows.next()?
            {
                // A copy of the message in another mailbox is not a separate citation.
                if seen.insert(row.get::<_, String>(0)?) {
                    citations.push(citation(row)?);
                }
            }
            Ok(CitedLink { link, citations })
        });
        links.collect()
    }
}

/// A dead link and its first citations, one per message.
#[derive(Clone, Debug)]
pub(super) struct CitedLink {
    pub(super) link: AuditedLink,
    pub(super) citations: Vec<Citation>,
}

/// A citation of a link.
#[derive(Clone, Debug)]
pub(super) struct Citation {
    pub(super) message_id: Option<String>,
    pub(super) date: Option<String>,
    pub(super) sender: Option<String>,
    pub(super) subject: Option<String>,
    /// Mailing list, or the first newsgroup.
    pub(super) list: Option<String>,
    /// Link text.
    pub(super) anchor: Option<String>,
    /// Location for `urlspool show`: `path!member:start`.
    pub(super) place: String,
}

fn citation(row: &Row<'_>) -> rusqlite::Result<Citation> {
    let list_id: Option<String> = row.get(5)?;
    Ok(Citation {
        message_id: row.get(1)?,
        date: row.get(2)?,
        sender: row.get(3)?,
        subject: row.get(4)?,
        list: list_id.as_deref().map(list_name).or(row.get(6)?),
        anchor: row.get(7)?,
        place: row.get(8)?,
    })
}

/// Base address of snapshots in the Wayback Machine.
const WAYBACK_MACHINE: &str = "https://web.archive.org/web/";

/// Last path segments of a CDX server that is next to the snapshots of a collection.
const CDX_SEGMENTS: [&str; 2] = ["/cdx", "/cdx/"];

/// Timestamp that makes the archive list all snapshots.
const ANY_TIME: &str = "*";

/// Returns the address of the snapshot at `timestamp` in the archive of the CDX server `server`;
/// `None` if the location of its snapshots is unknown.
fn captured_snapshot(server: &str, timestamp: &str, url: &str) -> Option<String> {
    Some(address(&snapshot_base(server)?, timestamp, url))
}

/// Returns the address of the Wayback Machine's snapshot nearest to a date, or of all its snapshots
/// if there is no date.
fn nearest_snapshot(date: Option<&str>, url: &str) -> String {
    let mut timestamp = date.unwrap_or(ANY_TIME).to_owned();
    timestamp.retain(|character| character.is_ascii_digit() || character == '*');
    address(WAYBACK_MACHINE, &timestamp, url)
}

/// Returns the address before the timestamp: `https://host/coll/` for pywb's CDX server
/// `https://host/coll/cdx`.
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
    let mut segments = CDX_SEGMENTS.iter();
    let base = segments.find_map(|segment| address.strip_suffix(segment))?;
    Some(format!("{base}/"))
}

/// Returns the address of a snapshot, with bytes escaped that are invalid in URLs.
fn address(base: &str, timestamp: &str, url: &str) -> String {
    encode(format!("{base}{timestamp}/{url}").as_bytes(), |byte| {
        byte.is_ascii_graphic() && !b"\"<>\\^`{|}'".contains(&byte)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_is_derived_from_the_server() {
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
    fn addresses_contain_no_byte_that_ends_an_attribute() {
        let url = "http://h.test/a b\"<'\u{e9}\u{202e}?x=%20#y";
        assert_eq!(
            nearest_snapshot(Some("1996-07-02T13:45:00Z"), url),
            "https://web.archive.org/web/19960702134500/http://h.test/\
                a%20b%22%3C%27%C3%A9%E2%80%AE?x=%20#y"
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
