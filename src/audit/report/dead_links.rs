//! The most cited dead links, where they were cited, and the addresses of their snapshots.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, Row};

use super::figures::is_dead;
use super::links::{ArchiveAnswer, AuditedLink};
use crate::audit::state::LinkState;
use crate::grammar::encode;
use crate::limits::{REPORT_CITATIONS, REPORT_DEAD_LINKS};

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
    pub(super) citations: u64,
    pub(super) messages: u64,
    pub(super) first_cited: Option<String>,
    pub(super) last_cited: Option<String>,
    pub(super) list: String,
    pub(super) archive: ArchiveAnswer,
    /// Address of the snapshot; the nearest of the Wayback Machine if no archive was asked. `None`
    /// if there is no snapshot.
    pub(super) snapshot: Option<String>,
}

impl DeadLink {
    /// Returns `None` for a link that is not dead, or not planned.
    pub(super) fn of(link: &AuditedLink<'_>) -> Option<DeadLink> {
        let check = link.checks.last()?;
        if !link.is_planned || !is_dead(check.state) {
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
            citations: link.citations,
            messages: link.messages,
            first_cited: link.first_cited.map(str::to_owned),
            last_cited: link.last_cited.map(str::to_owned),
            list: link.list.to_owned(),
            archive: link.archive(),
            snapshot: snapshot(link),
        })
    }
}

fn snapshot(link: &AuditedLink<'_>) -> Option<String> {
    match (link.archive(), link.capture) {
        (ArchiveAnswer::None, _) => None,
        (ArchiveAnswer::Captured, Some(capture)) => {
            captured_snapshot(&capture.server, capture.timestamp.as_deref()?, link.url)
        }
        _ => Some(nearest_snapshot(link.first_cited, link.url)),
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
    let (path, member): (String, Option<String>) = (row.get(7)?, row.get(8)?);
    let member = member.map_or(String::new(), |member| format!("!{member}"));
    let start: i64 = row.get(9)?;
    Ok(Citation {
        message_id: row.get(1)?,
        date: row.get(2)?,
        sender: row.get(3)?,
        subject: row.get(4)?,
        list: row.get(5)?,
        anchor: row.get(6)?,
        place: format!("{path}{member}:{start}"),
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
    encode(format!("{base}{timestamp}/{url}").as_bytes(), is_kept)
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
