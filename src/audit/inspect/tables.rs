//! The tables of inspections in the database of an audit.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, params};
use url::Url;

use super::ReadBatch;
use super::client::{Answer, origin};
use super::page::Page;
use super::verdict::{Control, FoundPage, Verdict};
use crate::audit::AuditError;
use crate::audit::database::AuditDb;
use crate::audit::page_state::PageState;
use crate::audit::state::CheckFailure;

/// URLs of planned links whose newest check has a 2xx status, each with 1 if it is due.
const ANSWERING: &str = "
SELECT url, max(is_due) FROM (
  SELECT links.url AS url,
    (SELECT status FROM audit_checks AS checks WHERE checks.key = links.key
      ORDER BY checked_at DESC, id DESC LIMIT 1) AS status,
    pages.key IS NULL OR unixepoch(pages.inspected_at) NOT BETWEEN ?1 + 1 AND unixepoch('now') AS is_due
  FROM audit_links AS links LEFT JOIN audit_pages AS pages ON pages.key = links.key
  WHERE links.planned
) WHERE status BETWEEN 200 AND 299 GROUP BY url";

/// Returns the URLs that were not inspected since a time in seconds since 1970, and the number of
/// URLs that answer. An inspection whose time lies in the future, since a clock was wrong, does not
/// count.
pub(super) fn due_urls(audit: &AuditDb, since: i64) -> Result<(Vec<Url>, u64), AuditError> {
    let rows = audit.rows(ANSWERING, [since], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?))
    })?;
    let due = rows.iter().filter(|(_, is_due)| *is_due);
    let due = due.filter_map(|(url, _)| Url::parse(url).ok()).collect();
    Ok((due, rows.len() as u64))
}

/// A row of `audit_pages`, for all links with its URL.
#[derive(Clone, Debug)]
pub(super) struct StoredPage {
    pub(super) url: String,
    inspected_at: String,
    pub(super) state: PageState,
    evidence: String,
    status: Option<u16>,
    error: Option<CheckFailure>,
    final_url: Option<String>,
}

impl StoredPage {
    pub(super) fn new(url: &Url, inspected_at: String, verdict: Verdict) -> StoredPage {
        StoredPage {
            url: url.to_string(),
            inspected_at,
            state: verdict.state,
            evidence: verdict.evidence,
            status: None,
            error: None,
            final_url: None,
        }
    }

    /// Adds the place that redirects led to, which was not asked for.
    pub(super) fn with_place(self, url: &Url) -> StoredPage {
        let final_url = Some(url.to_string());
        StoredPage { final_url, ..self }
    }

    /// Adds status and place of an answer.
    pub(super) fn with_answer(self, answer: &Answer) -> StoredPage {
        let status = Some(answer.status);
        StoredPage { status, ..self }.with_place(&answer.url)
    }

    pub(super) fn with_failure(self, failure: CheckFailure) -> StoredPage {
        let error = Some(failure);
        StoredPage { error, ..self }
    }

    /// Returns `true` if a server replied.
    pub(super) fn has_reply(&self) -> bool {
        self.error
            .is_none_or(|failure| failure == CheckFailure::Tls)
    }
}

/// A host that was asked before: a row of `audit_hosts`.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownHost {
    /// The rules that hold for this program.
    pub(super) robots: Option<String>,
    /// `None` if it did not answer for a path that cannot exist.
    pub(super) control: Option<Control>,
}

/// Returns what is known of the hosts of links, by origin.
pub(super) fn hosts(
    audit: &AuditDb,
    links: &[Url],
) -> Result<HashMap<String, KnownHost>, AuditError> {
    let sql = "SELECT robots, control, final_url, text FROM audit_hosts WHERE origin = ?1";
    let mut statement = audit.named(audit.db.prepare(sql))?;
    let mut hosts = HashMap::new();
    for link in links {
        let origin = origin(link);
        let found = statement.query_row([&origin], known_host).optional();
        if let Some(host) = audit.named(found)? {
            hosts.insert(origin, host);
        }
    }
    Ok(hosts)
}

fn known_host(row: &Row<'_>) -> rusqlite::Result<KnownHost> {
    let url = |column: usize| -> rusqlite::Result<Option<Url>> {
        let text: Option<String> = row.get(column)?;
        Ok(text.and_then(|text| Url::parse(&text).ok()))
    };
    let page = url(2)?.zip(row.get::<_, Option<String>>(3)?);
    let control = url(1)?.map(|asked| Control {
        found: page.map(|(url, text)| FoundPage {
            is_moved: url != asked,
            url,
            page: Page {
                text,
                ..Page::default()
            },
        }),
        asked,
    });
    Ok(KnownHost {
        robots: row.get(0)?,
        control,
    })
}

const STORE_PAGE: &str = "
INSERT OR REPLACE INTO audit_pages
SELECT key, ?1, ?2, ?3, ?4, ?5, ?6, ?7 FROM audit_links WHERE url = ?1 AND planned";

const STORE_HOST: &str = "INSERT OR REPLACE INTO audit_hosts VALUES(?1, ?2, ?3, ?4, ?5)";

/// Stores a batch, in one transaction.
pub(super) fn store_batch(audit: &AuditDb, read: &ReadBatch) -> Result<(), AuditError> {
    audit.run("BEGIN IMMEDIATE")?;
    let prepare = |sql| audit.named(audit.db.prepare_cached(sql));
    let mut store_page = prepare(STORE_PAGE)?;
    for page in &read.pages {
        let values = params![
            page.url,
            page.inspected_at,
            page.state.name(),
            page.evidence,
            page.status,
            page.error.map(CheckFailure::name),
            page.final_url
        ];
        audit.named(store_page.execute(values))?;
    }
    let mut store_host = prepare(STORE_HOST)?;
    for (origin, host) in &read.hosts {
        let control = host.control.as_ref();
        let found = control.and_then(|control| control.found.as_ref());
        let values = params![
            origin,
            host.robots,
            control.map(|control| control.asked.as_str()),
            found.map(|found| found.url.as_str()),
            found.map(|found| &found.page.text)
        ];
        audit.named(store_host.execute(values))?;
    }
    audit.run("COMMIT")
}
