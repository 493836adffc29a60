//! Reads the audit for a report: its plan and sample, and all links, each with its checks and its
//! capture.
//!
//! The three tables are read side by side in the order of the key, so that only one link is in
//! memory.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, Row, Rows, Statement};

use crate::audit::database::AuditDb;
use crate::audit::error::AuditError;
use crate::audit::state::{CheckFailure, LinkState};
use crate::audit::statistics::ratio;

const LINKS: &str =
    "SELECT key, url, host, domain, scheme, tld, first_cited, last_cited, citations, messages,
  year, list, stratum, planned, excluded FROM audit_links ORDER BY key";

const CHECKS: &str = "SELECT key, checked_at, state, status, error, checker FROM audit_checks
  ORDER BY key, checked_at, id";

const CAPTURES: &str =
    "SELECT key, server, asked_at, timestamp, outcome FROM audit_captures ORDER BY key";

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
    while let Some(row) = audit.named(rows.next())? {
        let key = audit.named(text(row, 0))?;
        audit.named(checks.take(key, &mut link_checks))?;
        audit.named(captures.take(key, &mut link_captures))?;
        each(&audit.named(link(row, &link_checks, link_captures.first()))?)?;
    }
    Ok(())
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

/// The size of a stratum.
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
