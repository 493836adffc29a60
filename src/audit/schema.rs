//! The tables of an audit, beside those of `load`.
//!
//! They refer to links by their key, not by `links.id`: rows of links are removed and made again when messages are.

/// The version of the tables, a value of `audit_meta`.
pub(super) const VERSION: u32 = 1;

/// Name of the value of `audit_meta` that holds [`VERSION`].
pub(super) const META_VERSION: &str = "version";

/// The tables. `docs/audit.md` describes them for users.
pub(super) const TABLES: &str = "
-- Values of the audit. version: of these tables; program: the version that planned; planned_at: time of the plan, in UTC; sample,
-- by, seed: of the sample, empty without one; force: exclusions that were lifted, allow_private: hosts that may be private,
-- both separated by commas; checker: name and version of the checker that ran last; cdx: the server that was asked last.
CREATE TABLE audit_meta(
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- The links of the database at the time of the plan. key: of links; url: what is checked, the href of its first row without the
-- fragment, or the first url if no row has an href; tld: the last label of a host that is a name; first_cited, last_cited:
-- links.first, links.last; year: of first_cited, or 'implausible' if a message has a date, else 'undated'; list: list_id of the first row, else its
-- first newsgroup, else its path; stratum: of the sample, '' without one; planned: 1 if it is to be
-- checked; excluded: the reason for which it is not, NULL if there is none. Without either it is not in the sample.
CREATE TABLE audit_links(
  key TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  host TEXT,
  domain TEXT,
  scheme TEXT NOT NULL,
  tld TEXT,
  first_cited TEXT,
  last_cited TEXT,
  citations INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  year TEXT NOT NULL,
  list TEXT NOT NULL,
  stratum TEXT NOT NULL,
  planned INTEGER NOT NULL,
  excluded TEXT
) WITHOUT ROWID;

-- Strata of the sample; one, '', without a sample. population: its links that are not excluded; sampled: its links that are planned.
CREATE TABLE audit_strata(
  stratum TEXT PRIMARY KEY,
  population INTEGER NOT NULL,
  sampled INTEGER NOT NULL
) WITHOUT ROWID;

-- Results of checks; the newest of a key counts. checked_at: time in UTC, as 2026-11-22T10:00:00Z; state: alive, redirected,
-- dead_page, dead_host, unknown; status: the HTTP code, NULL if there is an error; error: dns, connect, timeout, tls, other, or
-- 'excluded' (the checker refused the link), 'unanswered' (it gave no answer for it); final_url: after redirects, NULL
-- without any; checker: its name and version.
CREATE TABLE audit_checks(
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  checked_at TEXT NOT NULL,
  state TEXT NOT NULL,
  status INTEGER,
  error TEXT,
  final_url TEXT,
  checker TEXT NOT NULL,
  UNIQUE(key, checked_at, checker)
);

-- Captures of archives. server: the CDX server; asked_at: time in UTC; timestamp: of the capture that is nearest to the first
-- citation, 14 digits; original: its URL; status: its HTTP code, NULL if the server does not know it; outcome: captured (with a
-- 2xx status), none, failed.
CREATE TABLE audit_captures(
  key TEXT PRIMARY KEY,
  server TEXT NOT NULL,
  asked_at TEXT NOT NULL,
  timestamp TEXT,
  original TEXT,
  status INTEGER,
  outcome TEXT NOT NULL
) WITHOUT ROWID;

-- Results are matched by URL.
CREATE INDEX audit_links_by_url ON audit_links(url) WHERE planned;
";
