//! The most cited dead links, and where they were cited.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, Row};

use super::link_reader::AuditedLink;
use super::snapshot::{captured_snapshot, nearest_snapshot};
use super::tally::{ArchiveAnswer, is_dead};
use crate::audit::state::LinkState;
use crate::limits::{REPORT_CITATIONS, REPORT_DEAD_LINKS};

/// The first citations of a link. The index over link, message and date serves the choice.
const CITATIONS: &str =
    "SELECT messages.digest, messages.message_id, messages.date, messages.sender, messages.subject,
    coalesce(messages.list_id, json_extract(messages.newsgroups, '$[0]')), urls.anchor,
    sources.path, (SELECT group_concat(value, '!') FROM json_each(sources.member)), urls.start
  FROM links JOIN urls ON urls.link = links.id JOIN messages ON messages.id = urls.message
    JOIN sources ON sources.id = urls.source
  WHERE links.key = ?1 ORDER BY urls.cited NULLS LAST, urls.id";

/// A dead link.
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
    /// Address of the snapshot; the nearest of the Wayback Machine if no archive was asked. `None` if there is no snapshot.
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
    /// Adds a link, unless enough others are cited more often; of equal ones the smaller key counts.
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
