//! Database of an audit: the loaded file, its audit tables, and errors that name the file.
//!
//! The tables refer to links by key instead of `links.id`, because rows of links are removed and
//! added again together with messages.
//!
//! Times are UTC texts such as `2026-11-22T10:00:00Z`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::AuditError;
use super::confirmation::ConfirmationRule;
use super::state::{CheckOutcome, LinkState, link_state};
use urlspool_store::load::{open_to_extend, open_to_read, sqlite_error};
use urlspool_text::limits::{AUDIT_CHECK_AHEAD_HOURS, AUDIT_FIRST_CHECK_SECONDS};

/// A loaded database, opened for a step of an audit.
#[derive(Debug)]
pub(super) struct AuditDb {
    pub(super) db: Connection,
    path: PathBuf,
}

impl AuditDb {
    /// Opens a loaded database to plan an audit, and begins a transaction. Creates missing audit
    /// tables in it, so a refused plan leaves none.
    pub(super) fn open_to_plan(path: &Path) -> Result<AuditDb, AuditError> {
        let audit = AuditDb {
            db: open_to_extend(path)?,
            path: path.to_owned(),
        };
        audit.run("BEGIN IMMEDIATE")?;
        if audit.has_plan()? {
            audit.check_version()?;
        } else {
            let version = format!("INSERT INTO audit_meta VALUES('{META_VERSION}', {VERSION})");
            audit.run(&[TABLES, &version].concat())?;
        }
        Ok(audit)
    }

    /// Opens a database with a plan for storing results.
    pub(super) fn open_to_write(path: &Path) -> Result<AuditDb, AuditError> {
        AuditDb::with_plan(open_to_extend(path)?, path)
    }

    /// Opens a database with a plan for reading.
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
                "{name} has no audit plan; create one with `urlspool audit plan {name}`"
            )));
        }
        audit.check_version()?;
        Ok(audit)
    }

    /// Runs statements without results.
    pub(super) fn run(&self, sql: &str) -> Result<(), AuditError> {
        self.named(self.db.execute_batch(sql))
    }

    /// Runs `write` in one transaction.
    pub(super) fn write(
        &self,
        write: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), AuditError> {
        self.run("BEGIN IMMEDIATE")?;
        self.named(write(&self.db))?;
        self.run("COMMIT")
    }

    /// Returns a value from `audit_meta`.
    pub(super) fn meta(&self, name: &str) -> Result<Option<String>, AuditError> {
        let sql = "SELECT value FROM audit_meta WHERE name=?1";
        self.named(self.db.query_row(sql, [name], |row| row.get(0)).optional())
    }

    pub(super) fn set_meta(&self, name: &str, value: &str) -> Result<(), AuditError> {
        let sql = "INSERT INTO audit_meta VALUES(?1, ?2)
          ON CONFLICT(name) DO UPDATE SET value=excluded.value";
        self.named(self.db.execute(sql, params![name, value]).map(drop))
    }

    /// Returns the rule for confirming dead links: the rule of the last check, or the default.
    pub(super) fn confirmation_rule(&self) -> Result<ConfirmationRule, AuditError> {
        let usual = ConfirmationRule::default();
        let [failures, seconds] = [self.meta("confirm")?, self.meta("confirm_after")?]
            .map(|value| value.and_then(|text| text.parse().ok()));
        Ok(ConfirmationRule {
            failures: failures.map_or(usual.failures, |failures: u64| {
                u32::try_from(failures).unwrap_or(u32::MAX)
            }),
            apart: seconds.map_or(usual.apart, Duration::from_secs),
        })
    }

    /// Returns the private hosts of the plan, which may be contacted.
    pub(super) fn private_hosts(&self) -> Result<Vec<String>, AuditError> {
        let planned = self.meta("allow_private")?.unwrap_or_default();
        let planned = planned.split(',').filter(|host| !host.is_empty());
        Ok(planned.map(str::to_owned).collect())
    }

    /// Returns the mail address or page of the plan for server owners to write to.
    ///
    /// # Errors
    ///
    /// The plan has none.
    pub(super) fn contact(&self) -> Result<String, AuditError> {
        self.meta("contact")?.ok_or_else(|| {
            AuditError::unusable(format!(
                "this step tells server owners whom to write to; run `urlspool audit plan {} \
                 --contact you@your.site` first (results are kept)",
                self.path.display()
            ))
        })
    }

    /// Returns the number that a query counts.
    pub(super) fn count(&self, sql: &str, parameters: impl Params) -> Result<u64, AuditError> {
        let count = self.db.query_row(sql, parameters, |row| row.get(0));
        self.named(count).map(i64::cast_unsigned)
    }

    /// Returns the numbers of links that were loaded or removed after the plan was made, by words
    /// that follow "links". An absent number is 0.
    pub(super) fn changes(&self) -> Result<BTreeMap<String, u64>, AuditError> {
        let changes = self.rows(CHANGES, [], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()))
        })?;
        Ok(changes.into_iter().collect())
    }

    /// Returns the number of planned URLs.
    pub(super) fn planned_urls(&self) -> Result<u64, AuditError> {
        let sql = "SELECT count(DISTINCT url) FROM audit_links WHERE planned";
        self.count(sql, [])
    }

    /// Maps each row of a query with `read`.
    pub(super) fn rows<T, P: Params>(
        &self,
        sql: &str,
        parameters: P,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, AuditError> {
        let mut statement = self.named(self.db.prepare_cached(sql))?;
        let rows = self.named(statement.query_map(parameters, read))?;
        rows.map(|row| self.named(row)).collect()
    }

    /// Calls `each` with every row of a query.
    pub(super) fn for_each_row(
        &self,
        sql: &str,
        parameters: impl Params,
        mut each: impl FnMut(&Row<'_>) -> Result<(), AuditError>,
    ) -> Result<(), AuditError> {
        let mut statement = self.named(self.db.prepare_cached(sql))?;
        let mut rows = self.named(statement.query(parameters))?;
        while let Some(row) = self.named(rows.next())? {
            each(row)?;
        }
        Ok(())
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
            "{} has audit tables of version {found}, but this program needs version {VERSION}; use \
             the urlspool that made the plan, or load the records into a new database and plan \
             again",
            self.path.display()
        )))
    }
}

const CHANGES: &str = "
SELECT 'loaded after the plan', count(*) FROM links
  WHERE key NOT IN (SELECT key FROM audit_links) HAVING 0 < count(*)
UNION ALL SELECT 'no longer in the database (' || format('%,d', sum(planned)) || ' planned)',
  count(*) FROM audit_links WHERE key NOT IN (SELECT key FROM links) HAVING 0 < count(*)";

/// Version of the tables, stored in `audit_meta`.
const VERSION: u32 = 1;

/// Key of [`VERSION`] in `audit_meta`.
const META_VERSION: &str = "version";

/// Key of the rate of the last check in `audit_meta`. The value `500 1200` means 500 URLs, with or
/// without a result, in 1,200 seconds.
pub(super) const META_PACE: &str = "check_pace";

/// The tables. `docs/audit.md` describes them for users.
const TABLES: &str = include_str!("tables.sql");

/// Result of checking one URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckResult {
    pub(super) url: String,
    /// The URL that was requested if it differs from `url`, because the checker was configured to
    /// map URLs.
    pub(super) asked_url: Option<String>,
    pub(super) outcome: CheckOutcome,
    /// Last URL of redirects; `None` without redirects.
    pub(super) final_url: Option<String>,
}

impl CheckResult {
    pub(super) fn state(&self) -> LinkState {
        let asked_url = self.asked_url.as_ref().unwrap_or(&self.url);
        link_state(asked_url, self.outcome, self.final_url.as_deref())
    }
}

/// Use of an imported result. If several links have its URL, the greatest value applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ResultUse {
    /// No planned link has the URL.
    Unmatched,
    /// The result was stored before.
    Known,
    /// A result with the same time and state was stored since the store was created.
    Repeated,
    /// The result was added.
    Added,
}

/// Stores the results of a checker.
pub(super) struct ResultStore<'d> {
    audit: &'d AuditDb,
    /// Largest identifier of an earlier result.
    last_known: i64,
    checker: String,
}

const INSERT_RESULT: &str = "
INSERT OR IGNORE INTO audit_checks(key, checked_at, state, status, error, final_url, checker)
VALUES(?1,?2,?3,?4,?5,?6,?7)";

impl<'d> ResultStore<'d> {
    /// Creates a store for results of `checker`.
    pub(super) fn new(audit: &'d AuditDb, checker: &str) -> Result<ResultStore<'d>, AuditError> {
        let sql = "SELECT ifnull(max(id), 0) FROM audit_checks";
        Ok(ResultStore {
            last_known: audit.count(sql, [])?.cast_signed(),
            audit,
            checker: checker.to_owned(),
        })
    }

    /// Stores a result for each planned link with its URL.
    pub(super) fn put(&self, result: &CheckResult, time: &str) -> Result<ResultUse, AuditError> {
        let (status, error) = match result.outcome {
            CheckOutcome::Status(code) => (Some(code), None),
            CheckOutcome::Failed(failure) => (None, Some(failure.name())),
        };
        let (db, state) = (&self.audit.db, result.state().name());
        let mut used = ResultUse::Unmatched;
        let keys = "SELECT key FROM audit_links WHERE url=?1 AND planned";
        self.audit.rows(keys, [&result.url], |row| {
            let key = row.get_ref(0)?.as_str()?;
            let values = params![
                key,
                time,
                state,
                status,
                error,
                result.final_url,
                self.checker
            ];
            let known = params![key, time, state, self.last_known];
            used = used.max(if 0 < db.prepare_cached(INSERT_RESULT)?.execute(values)? {
                ResultUse::Added
            } else if db
                .prepare_cached(IS_NEW)?
                .query_row(known, |row| row.get(0))?
            {
                ResultUse::Repeated
            } else {
                ResultUse::Known
            });
            Ok(())
        })?;
        Ok(used)
    }
}

/// Selects 1 for a result that was stored since the store was created.
const IS_NEW: &str = "SELECT ?4 < id FROM audit_checks WHERE key=?1 AND checked_at=?2 AND state=?3";

/// Returns the current UTC time in the format of the tables.
pub(super) fn now() -> String {
    shown(Timestamp::now())
}

/// Returns the current time in seconds since 1970.
pub(super) fn now_seconds() -> i64 {
    Timestamp::now().as_second()
}

/// Returns the time that was `age` ago, in seconds since 1970.
pub(super) fn seconds_before_now(age: Duration) -> i64 {
    let age = i64::try_from(age.as_secs()).unwrap_or(i64::MAX);
    now_seconds().saturating_sub(age)
}

/// Formats a time in seconds since 1970 for the tables.
pub(super) fn time_text(seconds: i64) -> String {
    shown(Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX))
}

/// Formats a time for the tables.
fn shown(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Time of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckTime(Timestamp);

impl CheckTime {
    /// Parses `2026-11-22`, `2026-11-22T10:00:00Z`, or a time with another offset. After an offset,
    /// RFC 9557 allows a time zone in brackets. A time without an offset is UTC and cannot have a
    /// time zone, because the offsets of named zones are not known here.
    #[must_use]
    pub fn parse(text: &str) -> Option<CheckTime> {
        let text = text.trim();
        if let Ok(time) = text.parse::<Timestamp>() {
            return Some(CheckTime(time));
        }
        let time: DateTime = text.parse().ok().filter(|_| !text.contains('['))?;
        let in_utc = time.to_zoned_datetime(TimeZone::UTC).ok()?;
        Some(CheckTime(in_utc.timestamp()))
    }

    /// Formats the time for the tables.
    ///
    /// # Errors
    ///
    /// The time is before the start of the Web, or later than `now` by more than time zones
    /// explain. A time in the future would stay the latest check until it has passed.
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
    fn usual_formats_of_times_are_parsed() {
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
    fn a_check_is_not_before_the_web_and_not_in_the_future() {
        for (form, is_taken) in [
            ("1989-12-31T23:59:59Z", false),
            ("1990-01-01", true),
            // A day that has already started in Kiribati.
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
