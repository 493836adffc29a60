//! The database of an audit: the file that was loaded, its tables for audits, and errors that name
//! it.
//!
//! The tables refer to links by their key, not by `links.id`: rows of links are removed and made
//! again when messages are.
//!
//! Times are texts in UTC, as `2026-11-22T10:00:00Z`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row, params};

use super::AuditError;
use super::confirmation::ConfirmationRule;
use super::state::{CheckOutcome, LinkState, link_state};
use crate::limits::{AUDIT_CHECK_AHEAD_HOURS, AUDIT_FIRST_CHECK_SECONDS};
use crate::load::{open_to_extend, open_to_read, sqlite_error};

/// A loaded database, opened for a step of an audit.
#[derive(Debug)]
pub(super) struct AuditDb {
    pub(super) db: Connection,
    path: PathBuf,
}

impl AuditDb {
    /// Opens a loaded database to plan an audit. Creates the tables of audits if they are missing.
    pub(super) fn open_to_plan(path: &Path) -> Result<AuditDb, AuditError> {
        let audit = AuditDb {
            db: open_to_extend(path)?,
            path: path.to_owned(),
        };
        if audit.has_plan()? {
            audit.check_version()?;
        } else {
            audit.run("BEGIN IMMEDIATE")?;
            audit.run(TABLES)?;
            audit.set_meta(META_VERSION, &VERSION.to_string())?;
            audit.run("COMMIT")?;
        }
        Ok(audit)
    }

    /// Opens a database with a plan, to store results.
    pub(super) fn open_to_write(path: &Path) -> Result<AuditDb, AuditError> {
        AuditDb::with_plan(open_to_extend(path)?, path)
    }

    /// Opens a database with a plan, to read it.
    pub(super) fn open_to_read(path: &Path) -> Result<AuditDb, AuditError> {
        AuditDb::with_plan(open_to_read(path)?, path)
    }

    fn with_plan(db: Connection, path: &Path) -> Result<AuditDb, AuditError> {
        let audit = AuditDb {
            db,
            path: path.to_owned(),
        };
        if !audit.has_plan()? {
            let name = path.display();
            return Err(AuditError::unusable(format!(
                "{name} has no plan of an audit; make one with `urlspool audit plan {name}`"
            )));
        }
        audit.check_version()?;
        Ok(audit)
    }

    /// Runs statements without results.
    pub(super) fn run(&self, sql: &str) -> Result<(), AuditError> {
        self.named(self.db.execute_batch(sql))
    }

    /// Returns a value of `audit_meta`.
    pub(super) fn meta(&self, name: &str) -> Result<Option<String>, AuditError> {
        let sql = "SELECT value FROM audit_meta WHERE name=?1";
        self.named(self.db.query_row(sql, [name], |row| row.get(0)).optional())
    }

    pub(super) fn set_meta(&self, name: &str, value: &str) -> Result<(), AuditError> {
        let sql = "INSERT INTO audit_meta VALUES(?1, ?2)
          ON CONFLICT(name) DO UPDATE SET value=excluded.value";
        self.named(self.db.execute(sql, params![name, value]).map(drop))
    }

    /// Returns the rule by which deaths are confirmed: that of the last check, else the usual one.
    pub(super) fn confirmation_rule(&self) -> Result<ConfirmationRule, AuditError> {
        let mut rule = ConfirmationRule::default();
        let number = |value: Option<String>| value.and_then(|text| text.parse().ok());
        if let Some(failures) = number(self.meta("confirm")?) {
            rule.failures = u32::try_from(failures).unwrap_or(u32::MAX);
        }
        if let Some(seconds) = number(self.meta("confirm_after")?) {
            rule.apart = Duration::from_secs(seconds);
        }
        Ok(rule)
    }

    /// Stores the rule by which deaths are confirmed.
    pub(super) fn set_confirmation_rule(&self, rule: ConfirmationRule) -> Result<(), AuditError> {
        self.set_meta("confirm", &rule.failures.to_string())?;
        self.set_meta("confirm_after", &rule.apart.as_secs().to_string())
    }

    /// Returns the pace of the last check; `None` without any.
    pub(super) fn check_pace(&self) -> Result<Option<CheckPace>, AuditError> {
        Ok(self
            .meta(META_PACE)?
            .and_then(|text| CheckPace::parse(&text)))
    }

    /// Stores the pace of a check.
    pub(super) fn set_check_pace(&self, pace: CheckPace) -> Result<(), AuditError> {
        self.set_meta(META_PACE, &format!("{} {}", pace.urls, pace.seconds))
    }

    /// Returns the number of links that were loaded after the plan.
    pub(super) fn later_links(&self) -> Result<u64, AuditError> {
        let sql = "SELECT count(*) FROM links WHERE key NOT IN (SELECT key FROM audit_links)";
        let count = self.db.query_row(sql, [], |row| row.get::<_, i64>(0));
        self.named(count).map(i64::cast_unsigned)
    }

    /// Returns the number of URLs that are planned.
    pub(super) fn planned_urls(&self) -> Result<u64, AuditError> {
        let sql = "SELECT count(DISTINCT url) FROM audit_links WHERE planned";
        let count = self.db.query_row(sql, [], |row| row.get::<_, i64>(0));
        self.named(count).map(i64::cast_unsigned)
    }

    /// Returns what `read` makes of each row of a query.
    pub(super) fn rows<T, P: Params>(
        &self,
        sql: &str,
        parameters: P,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, AuditError> {
        let rows = || {
            let mut statement = self.db.prepare(sql)?;
            statement.query_map(parameters, read)?.collect()
        };
        self.named(rows())
    }

    /// Adds the name of the file to an error.
    pub(super) fn named<T>(&self, result: rusqlite::Result<T>) -> Result<T, AuditError> {
        result.map_err(|error| sqlite_error(&self.path, error).into())
    }

    fn has_plan(&self) -> Result<bool, AuditError> {
        let sql = "SELECT EXISTS(SELECT 1 FROM sqlite_master WHERE name='audit_meta')";
        self.named(self.db.query_row(sql, [], |row| row.get(0)))
    }

    fn check_version(&self) -> Result<(), AuditError> {
        let found = self.meta(META_VERSION)?.unwrap_or_default();
        if found == VERSION.to_string() {
            return Ok(());
        }
        Err(AuditError::unusable(format!(
            "{} has audit tables of version {found}, and this program needs version {VERSION}; use \
             the urlspool that planned it, or load the records into a new database and plan that",
            self.path.display()
        )))
    }
}

/// The version of the tables, a value of `audit_meta`.
const VERSION: u32 = 1;

/// Name of the value of `audit_meta` that holds [`VERSION`].
const META_VERSION: &str = "version";

/// Name of the value of `audit_meta` that holds the pace of the last check.
const META_PACE: &str = "check_pace";

/// The pace of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CheckPace {
    /// Number of URLs that were checked, with or without a result.
    pub(super) urls: u64,
    /// The time that it took.
    pub(super) seconds: u64,
}

impl CheckPace {
    /// Parses `500 1200`.
    pub(super) fn parse(text: &str) -> Option<CheckPace> {
        let (urls, seconds) = text.split_once(' ')?;
        Some(CheckPace {
            urls: urls.parse().ok()?,
            seconds: seconds.parse().ok()?,
        })
    }

    /// Returns the time that `urls` take; `None` if no URL was checked.
    pub(super) fn time(self, urls: u64) -> Option<Duration> {
        let seconds = u128::from(urls) * u128::from(self.seconds);
        let seconds = seconds.checked_div(u128::from(self.urls))?;
        Some(Duration::from_secs(
            u64::try_from(seconds).unwrap_or(u64::MAX),
        ))
    }
}

/// The tables. `docs/audit.md` describes them for users.
const TABLES: &str = "
-- Values of the audit. version: of these tables; program: the version that planned; planned_at:
-- time of the plan, in UTC; sample, by, seed: of the sample, empty without one; force: exclusions
-- that were lifted, allow_private: hosts that may be private, both separated by commas; checker:
-- name and version of the checker that ran last; cdx: the server that was asked last; confirm,
-- confirm_after: number of failures that confirm a death, and seconds between them; check_pace:
-- URLs and seconds of the last check.
CREATE TABLE audit_meta(
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- The links of the database at the time of the plan. key: of links; url: what is checked, the href
-- of its first row without the fragment, or the first url if no row has an href; tld: the last
-- label of a host that is a name; first_cited, last_cited: links.first, links.last; year: of
-- first_cited, or 'implausible' if a message has a date, else 'undated'; list: list_id of the first
-- row, else its first newsgroup, else its path; stratum: of the sample, '' without one; planned: 1
-- if it is to be checked; excluded: the reason for which it is not, NULL if there is none. Without
-- either it is not in the sample.
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

-- Results of checks, each once, whoever reports it; the newest of a key counts. checked_at: time in
-- UTC, as 2026-11-22T10:00:00Z; state: the name of a state of links; status: the HTTP code, NULL if
-- there is an error; error: dns, connect, timeout, tls, other, or 'excluded' (of a private host, or
-- refused by a checker whose results were imported); final_url: after redirects, NULL without any;
-- checker: name and version of the program that checked.
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
-- that is nearest to the first citation, 14 digits; original: its URL; status: its HTTP code, NULL
-- if the server does not know it; outcome: captured (with a 2xx status), none, failed.
CREATE TABLE audit_captures(
  key TEXT PRIMARY KEY,
  server TEXT NOT NULL,
  asked_at TEXT NOT NULL,
  timestamp TEXT,
  original TEXT,
  status INTEGER,
  outcome TEXT NOT NULL
) WITHOUT ROWID;

-- Answers of archives, the newest of each. server: the address or path of the archive; outcome:
-- captured, none, failed; form: of the URL under which a capture was found, 'url' or 'clean' (without
-- tracking parameters); address: of the capture's page, if it does not follow from the server.
CREATE TABLE audit_asked(
  key TEXT NOT NULL,
  server TEXT NOT NULL,
  asked_at TEXT NOT NULL,
  outcome TEXT NOT NULL,
  form TEXT,
  address TEXT,
  PRIMARY KEY(key, server)
) WITHOUT ROWID;

-- URLs that were sent to a save service. sent_at: time in UTC; job: its identifier there; outcome:
-- sent, saved, failed (for good), again (it may be captured at another time); timestamp: of the
-- capture, 14 digits; message: the reason of a failure.
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
-- reply: the line of the server that decided, or what was found of the name; error: the name of a
-- failure, NULL with a reply.
CREATE TABLE audit_protocols(
  key TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  scheme TEXT NOT NULL,
  checked_at TEXT NOT NULL,
  state TEXT NOT NULL,
  reply TEXT,
  error TEXT
) WITHOUT ROWID;

-- Inspections; the newest of a link. url: that was asked for; state: the name of a state of pages;
-- evidence: for the state; status: the HTTP code, NULL without an answer; error: the name of a
-- failure; final_url: after redirects.
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

-- Hosts of inspected links. origin: scheme, host and port; robots: the rules of its robots.txt that
-- hold for urlspool; control: the URL that cannot exist, NULL if it did not answer for it; final_url,
-- text: of the page that it gave with a 2xx status, NULL without one.
CREATE TABLE audit_hosts(
  origin TEXT PRIMARY KEY,
  robots TEXT,
  control TEXT,
  final_url TEXT,
  text TEXT
) WITHOUT ROWID;

-- Results are matched by URL.
CREATE INDEX audit_links_by_url ON audit_links(url) WHERE planned;
";

/// The result of a check of one URL.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckResult<'r> {
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
    /// Those that have one with its time and state since the store was prepared.
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
                "INSERT OR IGNORE INTO audit_checks(key, checked_at, state, status, error,
                   final_url, checker) VALUES(?1,?2,?3,?4,?5,?6,?7)",
            )?,
            is_known: prepare(
                "SELECT id <= ?4 FROM audit_checks WHERE key=?1 AND checked_at=?2 AND state=?3",
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
            let state = result.state().name();
            let key = row.get_ref(0)?.as_str()?;
            let added = self.insert.execute(params![
                key,
                result.checked_at,
                state,
                status,
                error,
                result.final_url,
                self.checker,
            ])? as u64;
            stored.added += added;
            if added == 0 {
                let known = params![key, result.checked_at, state, self.last_known];
                let is_known: bool = self.is_known.query_row(known, |row| row.get(0))?;
                stored.repeated += u64::from(!is_known);
            }
        }
        Ok(stored)
    }
}

/// Returns the present time in UTC, as `2026-11-22T10:00:00Z`.
pub(super) fn now() -> String {
    shown(Timestamp::now())
}

/// Returns the present time in seconds since 1970.
pub(super) fn now_seconds() -> i64 {
    Timestamp::now().as_second()
}

/// Returns a time in seconds since 1970 as the tables have it.
pub(super) fn time_text(seconds: i64) -> String {
    shown(Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX))
}

/// Returns a time as the tables have it.
fn shown(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A time of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckTime(Timestamp);

impl CheckTime {
    /// Parses `2026-11-22`, `2026-11-22T10:00:00Z`, or a time with another offset, after which RFC
    /// 9557 allows a time zone in brackets. A time without an offset is in UTC, and has no time
    /// zone: the offsets of names are not known here.
    #[must_use]
    pub fn parse(text: &str) -> Option<CheckTime> {
        let text = text.trim();
        let with_offset = || text.parse::<Timestamp>().ok();
        let in_utc = || {
            if text.contains('[') {
                return None;
            }
            let time = text.parse::<DateTime>().ok()?;
            Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
        };
        with_offset().or_else(in_utc).map(CheckTime)
    }

    /// Returns the time as the tables have it.
    ///
    /// # Errors
    ///
    /// It lies after `now`, by more than time zones explain, or before the beginning of the Web. A
    /// time in the future would be newer than each check until then.
    pub(super) fn text(self, now: Timestamp) -> Result<String, String> {
        let text = shown(self.0);
        let ahead = SignedDuration::from_hours(AUDIT_CHECK_AHEAD_HOURS);
        if self.0.as_second() < AUDIT_FIRST_CHECK_SECONDS {
            return Err(format!(
                "the time {text} is before 1990, when there was no Web"
            ));
        }
        if ahead < self.0.duration_since(now) {
            return Err(format!(
                "the time {text} lies more than {AUDIT_CHECK_AHEAD_HOURS} hours ahead"
            ));
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_seconds() {
        assert_eq!(now().len(), "2026-11-22T10:00:00Z".len());
        let shown = shown(Timestamp::from_second(now_seconds()).unwrap());
        assert!(shown <= now());
    }

    fn text(text: &str) -> Option<String> {
        let now = "2026-11-23T09:00:00Z".parse().unwrap();
        CheckTime::parse(text)?.text(now).ok()
    }

    #[test]
    fn times_are_read_in_usual_forms() {
        for (form, expected) in [
            ("2026-11-22", Some("2026-11-22T00:00:00Z")),
            ("2026-11-22T10:00:00Z", Some("2026-11-22T10:00:00Z")),
            ("2026-11-22T10:00:00.75+02:00", Some("2026-11-22T08:00:00Z")),
            ("2026-11-22 10:00:00", Some("2026-11-22T10:00:00Z")),
            (" 2026-11-22T10:00 ", Some("2026-11-22T10:00:00Z")),
            (
                "2026-11-22T10:00:00+09:00[Asia/Tokyo]",
                Some("2026-11-22T01:00:00Z"),
            ),
            (
                "2026-11-22T10:00:00Z[Asia/Tokyo]",
                Some("2026-11-22T10:00:00Z"),
            ),
            ("2026-11-22T10:00:00[Asia/Tokyo]", None),
            ("2026-11-22[Asia/Tokyo]", None),
            ("yesterday", None),
            ("", None),
            ("2026-13-01", None),
        ] {
            assert_eq!(text(form).as_deref(), expected, "{form}");
        }
    }

    #[test]
    fn a_check_was_made_since_the_web_began_and_before_now() {
        for (form, is_taken) in [
            ("1989-12-31T23:59:59Z", false),
            ("1990-01-01", true),
            // A day that has begun in Kiribati.
            ("2026-11-24", true),
            ("2026-11-24T09:00:00Z", true),
            ("2026-11-24T09:00:01Z", false),
            ("9999-01-01", false),
            ("-000001-01-01", false),
        ] {
            assert_eq!(text(form).is_some(), is_taken, "{form}");
        }
    }
}
