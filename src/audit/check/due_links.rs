//! The links that are due.

use twox_hash::XxHash3_64;

use crate::audit::database::AuditDb;
use crate::audit::error::AuditError;

/// Planned URLs without a result since a time. Of several keys with one URL each must have a result.
const DUE: &str = "SELECT DISTINCT url FROM audit_links WHERE planned AND NOT EXISTS
  (SELECT 1 FROM audit_checks WHERE audit_checks.key = audit_links.key AND ?1 <= checked_at)";

/// Returns the URLs that are due, in an order that depends on them alone and puts those of one host far apart: a batch should not
/// wait for the pauses between requests to one host.
pub(super) fn due_links(audit: &AuditDb, since: &str) -> Result<Vec<String>, AuditError> {
    let mut urls = audit.named(urls(audit, since))?;
    urls.sort_by_cached_key(|url| XxHash3_64::oneshot(url.as_bytes()));
    Ok(urls)
}

fn urls(audit: &AuditDb, since: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = audit.db.prepare(DUE)?;
    let rows = statement.query_map([since], |row| row.get(0))?;
    rows.collect()
}
