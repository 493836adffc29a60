//! Control links: planned links of hosts that replied in an earlier check.
//!
//! If a whole batch has no reply, they are asked again. Their replies show that the network works, so that the hosts of the batch are
//! dead; their silence, that it does not.

use std::collections::HashSet;

use super::batch_replies::host_of;
use crate::audit::database::AuditDb;
use crate::audit::error::AuditError;
use crate::limits::AUDIT_CONTROL_HOSTS;

/// A planned URL of each host with its newest reply.
const REPLIED: &str = "SELECT url, host, max(checked_at) FROM audit_links JOIN audit_checks USING(key)
  WHERE planned AND host IS NOT NULL AND (status IS NOT NULL OR error = 'tls') GROUP BY host ORDER BY 3 DESC, host";

/// Returns the URLs of the hosts with the newest replies, one of each, at most [`AUDIT_CONTROL_HOSTS`]. `asked` are hosts that have
/// just been asked.
pub(super) fn control_links(
    audit: &AuditDb,
    asked: &HashSet<String>,
) -> Result<Vec<String>, AuditError> {
    audit.named(urls(audit, asked.clone()))
}

fn urls(audit: &AuditDb, mut asked: HashSet<String>) -> rusqlite::Result<Vec<String>> {
    let mut statement = audit.db.prepare(REPLIED)?;
    let mut rows = statement.query([])?;
    let mut urls = Vec::new();
    while urls.len() < AUDIT_CONTROL_HOSTS
        && let Some(row) = rows.next()?
    {
        let url: String = row.get(0)?;
        if asked.insert(host_of(&url)) {
            urls.push(url);
        }
    }
    Ok(urls)
}
