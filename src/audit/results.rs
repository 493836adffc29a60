//! Stores results of checks. A result that is there already is not added again.

use rusqlite::{CachedStatement, params};

use super::database::AuditDb;
use super::error::AuditError;
use super::state::{CheckOutcome, LinkState, link_state};

/// The result of a check of one URL.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckResult<'r> {
    /// The planned URL.
    pub(super) url: &'r str,
    /// The URL that was asked for: another one if the checker was told to map URLs.
    pub(super) asked_url: &'r str,
    pub(super) outcome: CheckOutcome,
    /// The end of redirects; `None` without any.
    pub(super) final_url: Option<&'r str>,
    /// Time in UTC.
    pub(super) checked_at: &'r str,
}

impl CheckResult<'_> {
    pub(super) fn state(&self) -> LinkState {
        link_state(self.asked_url, self.outcome, self.final_url)
    }
}

/// Number of links that a result belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredLinks {
    /// Planned links with the URL: several keys may have one href.
    pub(super) planned: u64,
    /// Those that did not have the result before.
    pub(super) added: u64,
    /// Those that have one with its time and checker since the store was prepared.
    pub(super) repeated: u64,
}

/// The statements that store results.
pub(super) struct ResultStore<'d> {
    audit: &'d AuditDb,
    keys: CachedStatement<'d>,
    insert: CachedStatement<'d>,
    is_known: CachedStatement<'d>,
    /// The largest identifier of a result before.
    last_known: i64,
    checker: String,
}

impl<'d> ResultStore<'d> {
    /// Prepares to store results of `checker`.
    pub(super) fn new(audit: &'d AuditDb, checker: &str) -> Result<ResultStore<'d>, AuditError> {
        let prepare = |sql: &str| audit.named(audit.db.prepare_cached(sql));
        Ok(ResultStore {
            keys: prepare("SELECT key FROM audit_links WHERE url=?1 AND planned")?,
            insert: prepare(
                "INSERT OR IGNORE INTO audit_checks(key, checked_at, state, status, error, final_url, checker)
                 VALUES(?1,?2,?3,?4,?5,?6,?7)",
            )?,
            is_known: prepare(
                "SELECT id <= ?4 FROM audit_checks WHERE key=?1 AND checked_at=?2 AND checker=?3",
            )?,
            last_known: audit.named(audit.db.query_row(
                "SELECT ifnull(max(id), 0) FROM audit_checks",
                [],
                |row| row.get(0),
            ))?,
            audit,
            checker: checker.to_owned(),
        })
    }

    /// Stores a result for each planned link with its URL.
    pub(super) fn put(&mut self, result: &CheckResult<'_>) -> Result<StoredLinks, AuditError> {
        let stored = self.insert_all(result);
        self.audit.named(stored)
    }

    fn insert_all(&mut self, result: &CheckResult<'_>) -> rusqlite::Result<StoredLinks> {
        let (status, error) = match result.outcome {
            CheckOutcome::Status(code) => (Some(code), None),
            CheckOutcome::Failed(failure) => (None, Some(failure.name())),
        };
        let mut stored = StoredLinks {
            planned: 0,
            added: 0,
            repeated: 0,
        };
        let mut keys = self.keys.query([result.url])?;
        while let Some(row) = keys.next()? {
            stored.planned += 1;
            let key = row.get_ref(0)?.as_str()?;
            let added = self.insert.execute(params![
                key,
                result.checked_at,
                result.state().name(),
                status,
                error,
                result.final_url,
                self.checker,
            ])? as u64;
            stored.added += added;
            if added == 0 {
                let known = params![key, result.checked_at, self.checker, self.last_known];
                let is_known: bool = self.is_known.query_row(known, |row| row.get(0))?;
                stored.repeated += u64::from(!is_known);
            }
        }
        Ok(stored)
    }
}
