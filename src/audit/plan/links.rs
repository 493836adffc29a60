//! The rows of `audit_links`: one for each link, with its exclusion and its stratum.
//!
//! A pass over the rows of `urls` comes first: it finds the row by which each link is known, and
//! properties of all its rows.

use std::borrow::Cow;

use rusqlite::{CachedStatement, Connection, Row, params};
use url::Url;

use super::exclusion::{Exclusion, Lifted, LinkFacts, MIN_CONFIDENCE, exclusion};
use super::{Candidates, PlanCounts, Sample, StratumKind, rank};
use crate::audit::state::without_fragment;

/// Links that were added to the plan.
#[derive(Debug)]
pub(super) struct PlannedLinks<'l> {
    sample: Option<Sample>,
    lifted: &'l Lifted<'l>,
    /// Numbers so far. Without a sample all links are planned that are not excluded.
    pub(super) counts: PlanCounts,
    /// Links that the sample is taken from.
    pub(super) candidates: Candidates,
}

/// A link of the database, as `links` has it.
#[derive(Debug)]
struct LinkRow {
    id: i64,
    key: String,
    scheme: String,
    host: Option<String>,
    domain: Option<String>,
    citations: i64,
    messages: i64,
    first: Option<String>,
    last: Option<String>,
}

impl LinkRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<LinkRow> {
        Ok(LinkRow {
            id: row.get(0)?,
            key: row.get(1)?,
            scheme: row.get(2)?,
            host: row.get(3)?,
            domain: row.get(4)?,
            citations: row.get(5)?,
            messages: row.get(6)?,
            first: row.get(7)?,
            last: row.get(8)?,
        })
    }
}

/// The first row of a link.
#[derive(Debug)]
struct FirstRow {
    url: String,
    href: Option<String>,
    list: String,
}

impl FirstRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<FirstRow> {
        Ok(FirstRow {
            url: row.get(0)?,
            href: row.get(1)?,
            list: row.get(2)?,
        })
    }
}

const LINKS: &str =
    "SELECT id, key, scheme, host, domain, citations, messages, first, last FROM links ORDER BY id";

const FIRST_ROW: &str = "SELECT urls.url, urls.href, coalesce(messages.list_id,
    json_extract(messages.newsgroups, '$[0]'), sources.path)
  FROM urls JOIN messages ON messages.id=urls.message JOIN sources ON sources.id=urls.source
  WHERE urls.id=?1";

const IS_DATED: &str = "SELECT EXISTS(SELECT 1 FROM urls JOIN messages ON messages.id=urls.message
  WHERE urls.link=?1 AND messages.date IS NOT NULL)";

const INSERT: &str =
    "INSERT INTO audit_links VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15)";

/// The statements of one link.
struct Statements<'d> {
    first_row: CachedStatement<'d>,
    is_dated: CachedStatement<'d>,
    insert: CachedStatement<'d>,
}

impl<'l> PlannedLinks<'l> {
    pub(super) fn new(sample: Option<Sample>, lifted: &'l Lifted<'l>) -> PlannedLinks<'l> {
        PlannedLinks {
            sample,
            lifted,
            counts: PlanCounts::default(),
            candidates: Candidates::new(),
        }
    }

    /// Adds all links of the database.
    pub(super) fn add_all(&mut self, db: &Connection, facts: &[RowFacts]) -> rusqlite::Result<()> {
        let mut links = db.prepare(LINKS)?;
        let mut statements = Statements {
            first_row: db.prepare_cached(FIRST_ROW)?,
            is_dated: db.prepare_cached(IS_DATED)?,
            insert: db.prepare_cached(INSERT)?,
        };
        let mut rows = links.query([])?;
        while let Some(row) = rows.next()? {
            let link = LinkRow::of(row)?;
            let facts = usize::try_from(link.id).ok().and_then(|id| facts.get(id));
            if let Some(facts) = facts.filter(|facts| facts.first_row != 0) {
                self.add(&mut statements, &link, facts)?;
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        statements: &mut Statements<'_>,
        link: &LinkRow,
        facts: &RowFacts,
    ) -> rusqlite::Result<()> {
        let first = statements
            .first_row
            .query_row([facts.first_row], FirstRow::of)?;
        let year = year(statements, link)?;
        let href = first.href.as_deref().map(without_fragment);
        let reason = exclusion(
            &LinkFacts {
                scheme: &link.scheme,
                href,
                is_in_a_body: facts.is_in_a_body,
                is_confident: facts.is_confident,
            },
            self.lifted,
        );
        let stratum = match self.sample.map(|sample| sample.by) {
            None => "",
            Some(StratumKind::Year) => &year,
            Some(StratumKind::Scheme) => &link.scheme,
            Some(StratumKind::List) => &first.list,
        };
        self.count(link, reason, stratum);
        let is_planned = reason.is_none() && self.sample.is_none();
        statements.insert.execute(params![
            link.key,
            href.unwrap_or(&first.url),
            link.host,
            link.domain,
            link.scheme,
            link.host.as_deref().and_then(|host| tld(host, href)),
            link.first,
            link.last,
            link.citations,
            link.messages,
            year,
            first.list,
            stratum,
            is_planned,
            reason.map(Exclusion::name),
        ])?;
        Ok(())
    }

    fn count(&mut self, link: &LinkRow, reason: Option<Exclusion>, stratum: &str) {
        self.counts.links += 1;
        if let Some(reason) = reason {
            *self.counts.excluded.entry(reason).or_default() += 1;
            if reason == Exclusion::Scheme {
                *self.counts.schemes.entry(link.scheme.clone()).or_default() += 1;
            }
            return;
        }
        match self.sample {
            None => self.counts.planned += 1,
            Some(sample) => {
                let candidate = (rank(sample.seed, &link.key), link.id);
                match self.candidates.get_mut(stratum) {
                    Some(links) => links.push(candidate),
                    None => drop(self.candidates.insert(stratum.to_owned(), vec![candidate])),
                }
            }
        }
    }
}

/// The year of the first citation; without a plausible date the reason for it.
fn year<'y>(statements: &mut Statements<'_>, link: &'y LinkRow) -> rusqlite::Result<Cow<'y, str>> {
    if let Some((year, _)) = link.first.as_deref().and_then(|date| date.split_once('-')) {
        return Ok(year.into());
    }
    let is_dated = statements.is_dated.query_row([link.id], |row| row.get(0))?;
    Ok(if is_dated { "implausible" } else { "undated" }.into())
}

/// The last label of a host; `None` for addresses and single labels.
fn tld<'h>(host: &'h str, href: Option<&str>) -> Option<&'h str> {
    let (_, last) = host.rsplit_once('.')?;
    let is_address = || {
        let url = href.and_then(|href| Url::parse(href).ok());
        url.is_some_and(|url| !matches!(url.host(), Some(url::Host::Domain(_))))
    };
    let may_be_number = last.starts_with(|c: char| c.is_ascii_digit());
    if host.starts_with('[') || last.is_empty() || may_be_number && is_address() {
        return None;
    }
    Some(last)
}

/// Properties of the rows of one link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowFacts {
    /// Identifier of its first row; 0 if there is none. Rows that can be checked come before
    /// others, then the earliest date before later ones and none, then the lowest identifier.
    pub(super) first_row: i64,
    /// Rank of the first row: lower ones come first.
    rank: u64,
    /// `true` if a row is in no header field.
    pub(super) is_in_a_body: bool,
    /// `true` if such a row has a confidence of [`MIN_CONFIDENCE`].
    pub(super) is_confident: bool,
}

/// Rank of a row without a plausible date: after all dates, which have 14 digits.
const UNDATED: u64 = 99_999_999_999_999;

/// Added to the rank of a row that is not checked.
const NOT_CHECKED: u64 = 100_000_000_000_000;

impl RowFacts {
    fn add(&mut self, row: i64, cited: Option<&str>, confidence: f64, region: &str) {
        let is_in_a_body = !region.starts_with("header:");
        let is_confident = is_in_a_body && MIN_CONFIDENCE <= confidence;
        let date = cited.map_or(UNDATED, digits);
        let rank = if is_confident {
            date
        } else {
            date + NOT_CHECKED
        };
        // Rows come in the order of their identifiers.
        if self.first_row == 0 || rank < self.rank {
            (self.first_row, self.rank) = (row, rank);
        }
        self.is_in_a_body |= is_in_a_body;
        self.is_confident |= is_confident;
    }
}

/// The digits of a date: `1996-07-02T13:45:00Z` is 19960702134500.
fn digits(date: &str) -> u64 {
    let digits = date.bytes().filter(u8::is_ascii_digit);
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

/// Reads all rows. The facts of a link are at the index of its identifier.
pub(super) fn scan_rows(db: &Connection) -> rusqlite::Result<Vec<RowFacts>> {
    let last: i64 = db.query_row("SELECT ifnull(max(id), 0) FROM links", [], |row| row.get(0))?;
    let mut facts = vec![RowFacts::default(); usize::try_from(last).unwrap_or(0) + 1];
    let mut statement = db.prepare(
        "SELECT id, link, cited, confidence, region FROM urls NOT INDEXED WHERE link IS NOT NULL",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let link = usize::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
        let cited = row.get_ref(2)?.as_str_or_null()?;
        let region = row.get_ref(4)?.as_str()?;
        if let Some(facts) = facts.get_mut(link) {
            facts.add(row.get(0)?, cited, row.get(3)?, region);
        }
    }
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_label_of_a_name_is_its_tld() {
        for (host, expected) in [
            ("info.cern.ch", Some("ch")),
            ("wiki", None),
            ("192.0.2.1", None),
            ("[::1]", None),
            ("a.", None),
        ] {
            let href = format!("http://{host}/");
            assert_eq!(tld(host, Some(&href)), expected, "{host}");
        }
    }

    #[test]
    fn the_first_row_is_the_earliest_that_is_checked() {
        let mut facts = RowFacts::default();
        facts.add(1, Some("1994-01-01T00:00:00Z"), 1.0, "header:X-Url");
        assert_eq!((facts.first_row, facts.is_in_a_body), (1, false));
        facts.add(2, None, 1.0, "body");
        assert_eq!((facts.first_row, facts.is_confident), (2, true));
        facts.add(3, Some("1996-01-01T00:00:00Z"), 0.9, "body");
        facts.add(4, Some("1995-01-01T00:00:00Z"), 0.8, "signature");
        facts.add(5, Some("1995-01-01T00:00:00Z"), 0.8, "body");
        facts.add(6, Some("1993-01-01T00:00:00Z"), 0.7, "body");
        assert_eq!(facts.first_row, 4);
    }

    #[test]
    fn a_doubtful_link_is_not_confident() {
        let mut facts = RowFacts::default();
        facts.add(1, None, 0.7, "body");
        facts.add(2, None, 1.0, "header:References");
        assert!(facts.is_in_a_body && !facts.is_confident);
    }
}
