//! The links that are due, and their order.

use twox_hash::XxHash3_64;

use crate::audit::database::AuditDb;
use crate::audit::error::AuditError;

/// Planned URLs without a result since a time, with the time of the last result in seconds since 1970; 0 without any. Of several keys
/// with one URL each must have a result.
const DUE: &str = "SELECT url, min(ifnull((SELECT unixepoch(max(checked_at)) FROM audit_checks WHERE audit_checks.key = audit_links.key), 0))
  FROM audit_links WHERE planned AND NOT EXISTS
  (SELECT 1 FROM audit_checks WHERE audit_checks.key = audit_links.key AND ?1 <= checked_at) GROUP BY url";

/// A URL that is due.
struct DueLink {
    url: String,
    /// Seconds since 1970; 0 without a result.
    last_checked: i64,
}

/// Returns the URLs that are due: first those without a result, then those whose last result is oldest, so that checks with a limit
/// reach them all. Those of one time are in an order that depends on them alone and puts those of one host far apart: a batch should
/// not wait for the pauses between requests to one host.
pub(super) fn due_links(audit: &AuditDb, since: &str) -> Result<Vec<String>, AuditError> {
    let mut due = audit.named(due_urls(audit, since))?;
    let hash = |url: &str| XxHash3_64::oneshot(url.as_bytes());
    due.sort_by_cached_key(|due| (due.last_checked, hash(&due.url)));
    Ok(due.into_iter().map(|due| due.url).collect())
}

fn due_urls(audit: &AuditDb, since: &str) -> rusqlite::Result<Vec<DueLink>> {
    let mut statement = audit.db.prepare(DUE)?;
    let rows = statement.query_map([since], |row| {
        Ok(DueLink {
            url: row.get(0)?,
            last_checked: row.get(1)?,
        })
    })?;
    rows.collect()
}
