//! The tables of inspections in the database of an audit.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{OptionalExtension, Row, params};
use url::Url;

use super::client::{Answer, Reply, origin};
use super::page::Page;
use super::verdict::{Control, FoundPage};
use super::{ReadBatch, ReadLink};
use crate::audit::AuditError;
use crate::audit::database::{AuditDb, now};
use crate::audit::page_state::PageState;
use crate::limits::INSPECT_TEXT_BYTES;

/// The tables. `docs/audit.md` describes them for users.
const TABLES: &str = "
-- Inspections; the newest of a link. url: that was asked for; state: the name of a state of pages;
-- evidence: for the state; status: the HTTP code, NULL without an answer; error: the name of a
-- failure; final_url: after redirects; media_type; title; language; bytes, words: of what was read;
-- hash: the similarity hash of the visible text, 16 digits; compared_with: time of the snapshot
-- that it was compared with, 14 digits, NULL if it was not.
CREATE TABLE IF NOT EXISTS audit_pages(
  key TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  inspected_at TEXT NOT NULL,
  state TEXT NOT NULL,
  evidence TEXT NOT NULL,
  status INTEGER,
  error TEXT,
  final_url TEXT,
  media_type TEXT,
  title TEXT,
  language TEXT,
  bytes INTEGER,
  words INTEGER,
  hash TEXT,
  compared_with TEXT
) WITHOUT ROWID;

-- Hosts of inspected links. origin: scheme, host and port; asked_at: time of the question for the
-- control; robots: the rules of its robots.txt that hold for urlspool; control: the URL that
-- cannot exist, NULL if it was not asked for; status, final_url, title, text: of the answer.
CREATE TABLE IF NOT EXISTS audit_hosts(
  origin TEXT PRIMARY KEY,
  asked_at TEXT NOT NULL,
  robots TEXT,
  control TEXT,
  status INTEGER,
  final_url TEXT,
  title TEXT,
  text TEXT
) WITHOUT ROWID;

-- Front pages of these hosts. asked_at: time of the question; status, final_url, title, text: of the
-- answer; asks_password: 1 if it has a field for one.
CREATE TABLE IF NOT EXISTS audit_fronts(
  origin TEXT PRIMARY KEY,
  asked_at TEXT NOT NULL,
  status INTEGER,
  final_url TEXT,
  title TEXT,
  text TEXT,
  asks_password INTEGER NOT NULL
) WITHOUT ROWID;
";

/// Creates the tables, if there are none.
pub(super) fn prepare(audit: &AuditDb) -> Result<(), AuditError> {
    audit.run(TABLES)
}

/// A link to inspect.
#[derive(Clone, Debug)]
pub(super) struct DueLink {
    pub(super) url: Url,
    /// The time of its first citation (RFC 3339), if that is known.
    pub(super) first_cited: Option<String>,
    /// The capture that is nearest to its first citation, if an archive has one.
    pub(super) capture: Option<CitedCapture>,
}

/// A capture of an archive.
#[derive(Clone, Debug)]
pub(super) struct CitedCapture {
    /// The archive: the address or path by which it was asked.
    pub(super) server: String,
    /// 14 digits.
    pub(super) timestamp: String,
    /// Its URL as the archive has it: without a tracking parameter, for example.
    pub(super) original: String,
    /// The address of its page, if it does not follow from the server.
    pub(super) address: Option<String>,
}

/// Planned links whose newest check has a 2xx status, each with its capture if there is one, and
/// with 1 if it is due.
const ANSWERING: &str = "
SELECT url, server, timestamp, original, is_due, address, first_cited FROM (
  SELECT links.url AS url, links.first_cited AS first_cited, captures.server AS server, captures.timestamp AS timestamp,
    captures.original AS original, asked.address AS address,
    (SELECT status FROM audit_checks AS checks WHERE checks.key = links.key
      ORDER BY checked_at DESC, id DESC LIMIT 1) AS status,
    pages.key IS NULL OR unixepoch(pages.inspected_at) NOT BETWEEN ?1 + 1 AND unixepoch('now')
      OR ?2 AND pages.state = 'not_compared' AND captures.timestamp IS NOT NULL AS is_due
  FROM audit_links AS links
    LEFT JOIN audit_pages AS pages ON pages.key = links.key
    LEFT JOIN audit_captures AS captures
      ON captures.key = links.key AND captures.outcome = 'captured'
    LEFT JOIN audit_asked AS asked
      ON asked.key = captures.key AND asked.server = captures.server
  WHERE links.planned
) WHERE status BETWEEN 200 AND 299 ORDER BY url, timestamp";

/// Returns the links that were not inspected since a time in seconds since 1970, and the number of
/// URLs that answer. With `compares` those are due too that have a snapshot and were not compared with
/// it. An inspection whose time lies in the future, since a clock was wrong, does not count. Of several
/// links with one URL that counts whose capture is earliest.
pub(super) fn due_links(
    audit: &AuditDb,
    since: i64,
    compares: bool,
) -> Result<(Vec<DueLink>, u64), AuditError> {
    let rows = audit.rows(ANSWERING, params![since, compares], |row| {
        let url: String = row.get(0)?;
        let server: Option<String> = row.get(1)?;
        let timestamp: Option<String> = row.get(2)?;
        let original: Option<String> = row.get(3)?;
        let address: Option<String> = row.get(5)?;
        let capture = server
            .zip(timestamp)
            .map(|(server, timestamp)| CitedCapture {
                server,
                timestamp,
                original: original.unwrap_or_else(|| url.clone()),
                address,
            });
        Ok((
            url,
            capture,
            row.get::<_, Option<String>>(6)?,
            row.get::<_, bool>(4)?,
        ))
    })?;
    let mut answering = 0;
    let mut due: Vec<DueLink> = Vec::new();
    for links in rows.chunk_by(|one, next| one.0 == next.0) {
        answering += 1;
        let is_due = links.iter().any(|(.., is_due)| *is_due);
        let capture = links.iter().find_map(|(_, capture, ..)| capture.clone());
        let first_cited: Option<&String> = links.iter().filter_map(|link| link.2.as_ref()).min();
        if let Some((url, ..)) = links.first().filter(|_| is_due)
            && let Ok(url) = Url::parse(url)
        {
            due.push(DueLink {
                url,
                first_cited: first_cited.cloned(),
                capture,
            });
        }
    }
    Ok((due, answering))
}

/// A row of `audit_pages`, for all links with its URL.
#[derive(Clone, Debug)]
pub(super) struct StoredPage {
    pub(super) url: String,
    inspected_at: String,
    pub(super) state: PageState,
    pub(super) evidence: String,
    pub(super) status: Option<u16>,
    pub(super) error: Option<&'static str>,
    final_url: Option<String>,
    media_type: Option<String>,
    title: Option<String>,
    language: Option<String>,
    bytes: Option<u64>,
    words: Option<u64>,
    hash: Option<String>,
    pub(super) compared_with: Option<String>,
}

impl StoredPage {
    pub(super) fn new(url: &str, inspected_at: String) -> StoredPage {
        StoredPage {
            url: url.to_owned(),
            inspected_at,
            state: PageState::NotRead,
            evidence: String::new(),
            status: None,
            error: None,
            final_url: None,
            media_type: None,
            title: None,
            language: None,
            bytes: None,
            words: None,
            hash: None,
            compared_with: None,
        }
    }

    /// Adds the place that redirects led to, which was not asked for.
    pub(super) fn add_place(&mut self, url: &Url) {
        self.final_url = Some(url.to_string());
    }

    pub(super) fn add_answer(&mut self, answer: &Answer) {
        self.status = Some(answer.status);
        self.final_url = Some(answer.url.to_string());
        self.media_type = Some(answer.media_type.clone());
        self.bytes = Some(answer.body.len() as u64);
    }

    pub(super) fn add_page(&mut self, found: &FoundPage) {
        self.title = Some(found.page.title.clone());
        self.language.clone_from(&found.page.language);
        self.words = Some(found.fingerprint.words as u64);
        self.hash = Some(format!("{:016x}", found.fingerprint.hash));
    }
}

/// A host that was asked before: a row of `audit_hosts`.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownHost {
    /// The rules that hold for this program.
    pub(super) robots: Option<String>,
    asked_at: String,
    /// The URL that cannot exist.
    control: Option<String>,
    status: Option<u16>,
    final_url: Option<String>,
    title: Option<String>,
    text: Option<String>,
    front: Option<KnownFront>,
}

/// The front page of a host, as far as it is known.
#[derive(Clone, Debug)]
pub(super) enum Front {
    NotAsked,
    /// The page; `None` if the host gave none.
    Asked(Option<Arc<FoundPage>>),
}

/// The answer of a host for its front page: a row of `audit_fronts`.
#[derive(Clone, Debug, Default)]
struct KnownFront {
    asked_at: String,
    status: Option<u16>,
    final_url: Option<String>,
    title: Option<String>,
    text: Option<String>,
    asks_password: bool,
}

impl KnownHost {
    /// Returns the front page, as far as it is known. `origin` is that of the host.
    pub(super) fn front(&self, origin: &str) -> Front {
        let Some(front) = &self.front else {
            return Front::NotAsked;
        };
        let found = || {
            let url = Url::parse(front.final_url.as_ref()?).ok()?;
            let page = Page {
                title: front.title.clone().unwrap_or_default(),
                text: front.text.clone()?,
                has_password: front.asks_password,
                ..Page::default()
            };
            let is_moved = Url::parse(origin).is_ok_and(|asked| asked != url);
            Some(Arc::new(FoundPage::new(url, is_moved, page)))
        };
        Front::Asked(found())
    }

    /// Adds the answer for the front page, and the page if it is one.
    pub(super) fn add_front(&mut self, reply: &Reply, found: Option<&FoundPage>) {
        let answer = match reply {
            Reply::Answer(answer) => Some(answer),
            _ => None,
        };
        self.front = Some(KnownFront {
            asked_at: now(),
            status: answer.map(|answer| answer.status),
            final_url: answer.map(|answer| answer.url.to_string()),
            title: found.map(|found| found.page.title.clone()),
            text: found.map(|found| found.page.text.clone()),
            asks_password: found.is_some_and(|found| found.page.has_password),
        });
    }

    /// Returns the page of the path that cannot exist, if the host has one for it; `None` if it was
    /// not asked for.
    pub(super) fn control(&self) -> Option<Vec<Control>> {
        let asked = Url::parse(self.control.as_ref()?).ok()?;
        let found = || {
            let url = Url::parse(self.final_url.as_ref()?).ok()?;
            let page = Page {
                title: self.title.clone().unwrap_or_default(),
                text: self.text.clone()?,
                ..Page::default()
            };
            Some(Control {
                found: Arc::new(FoundPage::new(url.clone(), url != asked, page)),
                asked: asked.clone(),
            })
        };
        Some(found().into_iter().collect())
    }

    pub(super) fn add_control(&mut self, asked: &Url, reply: &Reply) {
        self.asked_at = now();
        self.control = Some(asked.to_string());
        if let Reply::Answer(answer) = reply {
            self.status = Some(answer.status);
            self.final_url = Some(answer.url.to_string());
        }
    }

    pub(super) fn add_control_page(&mut self, control: Option<&Control>) {
        let Some(control) = control else { return };
        debug_assert!(control.found.page.text.len() <= INSPECT_TEXT_BYTES);
        self.title = Some(control.found.page.title.clone());
        self.text = Some(control.found.page.text.clone());
    }
}

/// Returns what is known of the hosts of links, by origin.
pub(super) fn hosts(
    audit: &AuditDb,
    links: &[DueLink],
) -> Result<HashMap<String, KnownHost>, AuditError> {
    let sql = "SELECT robots, asked_at, control, status, final_url, title, text FROM audit_hosts
      WHERE origin = ?1";
    let mut statement = audit.named(audit.db.prepare(sql))?;
    let sql = "SELECT asked_at, status, final_url, title, text, asks_password FROM audit_fronts
      WHERE origin = ?1";
    let mut fronts = audit.named(audit.db.prepare(sql))?;
    let mut hosts = HashMap::new();
    for link in links {
        let origin = origin(&link.url);
        let found = statement.query_row([&origin], known_host).optional();
        if let Some(mut host) = audit.named(found)? {
            let front = fronts.query_row([&origin], known_front).optional();
            host.front = audit.named(front)?;
            hosts.insert(origin, host);
        }
    }
    Ok(hosts)
}

fn known_host(row: &Row<'_>) -> rusqlite::Result<KnownHost> {
    Ok(KnownHost {
        robots: row.get(0)?,
        asked_at: row.get(1)?,
        control: row.get(2)?,
        status: row.get(3)?,
        final_url: row.get(4)?,
        title: row.get(5)?,
        text: row.get(6)?,
        front: None,
    })
}

fn known_front(row: &Row<'_>) -> rusqlite::Result<KnownFront> {
    Ok(KnownFront {
        asked_at: row.get(0)?,
        status: row.get(1)?,
        final_url: row.get(2)?,
        title: row.get(3)?,
        text: row.get(4)?,
        asks_password: row.get(5)?,
    })
}

const STORE_PAGE: &str = "
INSERT OR REPLACE INTO audit_pages
SELECT key, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14
FROM audit_links WHERE url = ?1 AND planned";

const STORE_HOST: &str = "
INSERT OR REPLACE INTO audit_hosts VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";

const STORE_FRONT: &str = "
INSERT OR REPLACE INTO audit_fronts VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)";

/// Stores a batch, in one transaction.
pub(super) fn store_batch(audit: &AuditDb, read: &ReadBatch) -> Result<(), AuditError> {
    audit.run("BEGIN IMMEDIATE")?;
    for ReadLink { stored, .. } in &read.links {
        store_page(audit, stored)?;
    }
    for (origin, host) in &read.hosts {
        let values = params![
            origin,
            host.asked_at,
            host.robots,
            host.control,
            host.status,
            host.final_url,
            host.title,
            host.text
        ];
        let statement = audit.db.prepare_cached(STORE_HOST);
        audit.named(statement.and_then(|mut statement| statement.execute(values)))?;
        if let Some(front) = &host.front {
            let values = params![
                origin,
                front.asked_at,
                front.status,
                front.final_url,
                front.title,
                front.text,
                front.asks_password
            ];
            let statement = audit.db.prepare_cached(STORE_FRONT);
            audit.named(statement.and_then(|mut statement| statement.execute(values)))?;
        }
    }
    audit.run("COMMIT")
}

/// Stores a page for each planned link with its URL.
pub(super) fn store_page(audit: &AuditDb, page: &StoredPage) -> Result<(), AuditError> {
    let number = |value: Option<u64>| value.map(u64::cast_signed);
    let values = params![
        page.url,
        page.inspected_at,
        page.state.name(),
        page.evidence,
        page.status,
        page.error,
        page.final_url,
        page.media_type,
        page.title,
        page.language,
        number(page.bytes),
        number(page.words),
        page.hash,
        page.compared_with,
    ];
    let statement = audit.db.prepare_cached(STORE_PAGE);
    let stored = statement.and_then(|mut statement| statement.execute(values));
    audit.named(stored).map(drop)
}
