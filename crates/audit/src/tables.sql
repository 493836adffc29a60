-- Values of the audit. version: of these tables; program: the version that planned; planned_at:
-- time of the plan, in UTC; sample, by, seed: of the sample, empty without one; force:
-- exclusions that were lifted, allow_private: hosts that may be private, both separated by
-- commas; checker: name and version of the checker that ran last; cdx: the server that was asked
-- last; confirm, confirm_after: number of failures that confirm a death, and seconds between
-- them; check_pace: URLs and seconds of the last check; title, collection, author: of the report;
-- contact: mail address or page for server owners.
CREATE TABLE audit_meta(
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;
-- The links of the database at the time of the plan. key: of links; url: what is checked, the
-- href of its first row without the fragment, or the first url if no row has an href; tld: the
-- last label of a host that is a name; first_cited, last_cited: links.first, links.last; year:
-- of first_cited, or 'implausible' if a message has a date, else 'undated'; list: name of the
-- list of the earliest row, else its first newsgroup, both in lower case, else its path; stratum:
-- of the sample, '' without one; planned: 1 if it is to be checked; excluded: the reason for which
-- it is not, NULL if there is none. Without either it is not in the sample.
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
-- Strata of the sample; one, '', without a sample. population: its links that are not excluded;
-- sampled: its links that are planned.
CREATE TABLE audit_strata(
  stratum TEXT PRIMARY KEY,
  population INTEGER NOT NULL,
  sampled INTEGER NOT NULL
) WITHOUT ROWID;
-- Results of checks, each once, whoever reports it; the newest of a key counts. checked_at: time
-- in UTC, as 2026-11-22T10:00:00Z; state: the name of a state of links; status: the HTTP code,
-- NULL if there is an error; error: dns, connect, timeout, tls, other, or 'excluded' (of a
-- private host, or refused by a checker whose results were imported); final_url: after
-- redirects, NULL without any; checker: name and version of the program that checked.
CREATE TABLE audit_checks(
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  checked_at TEXT NOT NULL,
  state TEXT NOT NULL,
  status INTEGER,
  error TEXT,
  final_url TEXT,
  checker TEXT NOT NULL,
  UNIQUE(key, checked_at, state)
);
-- Captures of archives. server: the CDX server; asked_at: time in UTC; timestamp: of the capture
-- that is nearest to the first citation, 14 digits; original: its URL; status: its HTTP code,
-- NULL if the server does not know it; outcome: captured (with a 2xx status), none, failed.
CREATE TABLE audit_captures(
  key TEXT PRIMARY KEY,
  server TEXT NOT NULL,
  asked_at TEXT NOT NULL,
  timestamp TEXT,
  original TEXT,
  status INTEGER,
  outcome TEXT NOT NULL
) WITHOUT ROWID;
-- Answers of archives, the newest of each. server: the address of the archive; outcome:
-- captured, none, failed; form: of the URL under which a capture was found, 'url' or 'clean'
-- (without tracking parameters).
CREATE TABLE audit_asked(
  key TEXT NOT NULL,
  server TEXT NOT NULL,
  asked_at TEXT NOT NULL,
  outcome TEXT NOT NULL,
  form TEXT,
  PRIMARY KEY(key, server)
) WITHOUT ROWID;
-- URLs that were sent to a save service. sent_at: time in UTC; job: its identifier there;
-- outcome: sent, saved, failed (for good), again (it may be captured at another time);
-- timestamp: of the capture, 14 digits; message: the reason of a failure.
CREATE TABLE audit_saves(
  url TEXT PRIMARY KEY,
  service TEXT NOT NULL,
  sent_at TEXT NOT NULL,
  job TEXT,
  outcome TEXT NOT NULL,
  timestamp TEXT,
  message TEXT
) WITHOUT ROWID;
-- Results for links of old protocols; the newest of a link. state: the name of a state of links;
-- reply: the line of the server that decided; error: the name of a failure, NULL with a reply.
CREATE TABLE audit_protocols(
  key TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  scheme TEXT NOT NULL,
  checked_at TEXT NOT NULL,
  state TEXT NOT NULL,
  reply TEXT,
  error TEXT
) WITHOUT ROWID;
-- Inspections; the newest of a link. url: that was asked for; state: the name of a state of
-- pages; evidence: for the state; status: the HTTP code, NULL without an answer; error: the name
-- of a failure; final_url: after redirects.
CREATE TABLE audit_pages(
  key TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  inspected_at TEXT NOT NULL,
  state TEXT NOT NULL,
  evidence TEXT NOT NULL,
  status INTEGER,
  error TEXT,
  final_url TEXT
) WITHOUT ROWID;
-- Hosts of inspected links. origin: scheme, host and port; robots: the rules of its robots.txt
-- that hold for urlspool; control: the URL that cannot exist, NULL if it did not answer for it;
-- final_url, text: of the page that it gave with a 2xx status, NULL without one.
CREATE TABLE audit_hosts(
  origin TEXT PRIMARY KEY,
  robots TEXT,
  control TEXT,
  final_url TEXT,
  text TEXT
) WITHOUT ROWID;
-- The index matches results by URL.
CREATE INDEX audit_links_by_url ON audit_links(url) WHERE planned;
-- States of all links in words, such as 'dead page, confirmed', 'not checked yet', and 'not in the
-- plan' for links without a result that are not planned. A death is confirmed by the
-- rule in audit_meta: enough failures since the last reply, each long enough after the previous
-- one that counts. The type FailureRun of the program computes the same.
CREATE VIEW audit_states(key, words) AS
SELECT links.key, CASE
  WHEN newest.id IS NULL THEN iif(plan.planned, 'not checked yet', 'not in the plan')
  ELSE replace(newest.state, '_', ' ') END || CASE
  WHEN newest.id IS NULL OR newest.state NOT IN ('dead_page', 'dead_host') THEN ''
  WHEN rule.failures <= (
    WITH RECURSIVE failed(at) AS (
      SELECT unixepoch(checked_at) FROM audit_checks AS checks
      WHERE checks.key = links.key AND state IN ('dead_page', 'dead_host')
        AND NOT EXISTS (SELECT 1 FROM audit_checks AS later
          WHERE later.key = checks.key AND state NOT IN ('dead_page', 'dead_host')
            AND (status IS NOT NULL OR error = 'tls')
            AND (checks.checked_at, checks.id) < (later.checked_at, later.id))),
    counted(number, at) AS (
      SELECT 1, (SELECT min(at) FROM failed)
      UNION ALL
      SELECT number + 1, (SELECT min(at) FROM failed WHERE counted.at + rule.apart <= at)
      FROM counted WHERE at IS NOT NULL AND number < rule.failures)
    SELECT max(number) FROM counted WHERE at IS NOT NULL) THEN ', confirmed'
  ELSE ', not confirmed' END
FROM links LEFT JOIN audit_links AS plan ON plan.key = links.key
LEFT JOIN audit_checks AS newest ON newest.id = (SELECT id FROM audit_checks
  WHERE key = links.key ORDER BY checked_at DESC, id DESC LIMIT 1)
CROSS JOIN (SELECT
  max(1, ifnull((SELECT CAST(value AS INTEGER) FROM audit_meta WHERE name = 'confirm'), 3))
    AS failures,
  ifnull((SELECT CAST(value AS INTEGER) FROM audit_meta WHERE name = 'confirm_after'), 259200)
    AS apart)
  AS rule;
