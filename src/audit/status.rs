//! The status of an audit: what is planned, checked and asked for, what is due when, and the time
//! that it takes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use super::AuditError;
use super::confirmation::ConfirmationRule;
use super::database::{AuditDb, CheckPace, now_seconds};
use super::due::{CheckReason, DueRules, next_checks};
use super::save::{SaveOutcome, outcomes};
use super::state::LinkState;

/// A question for the status of an audit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StatusJob {
    /// The database with a plan.
    pub database: PathBuf,
    /// Age from which a result is out of date.
    pub max_age: Duration,
}

impl StatusJob {
    /// Creates the question for `database`, in which results are out of date after 30 days.
    #[must_use]
    pub fn new(database: PathBuf) -> StatusJob {
        StatusJob {
            database,
            max_age: Duration::from_hours(30 * 24),
        }
    }
}

/// The status of an audit. Its numbers are those of URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditStatus {
    /// Links that were loaded after the plan, and are in no other number.
    pub later_links: u64,
    /// URLs that are planned.
    pub planned: u64,
    /// Those with a result, by the state at the newest one.
    pub states: BTreeMap<LinkState, u64>,
    /// Dead ones whose death is confirmed.
    pub confirmed: u64,
    /// The rule by which it is.
    pub rule: ConfirmationRule,
    /// Checks that are due now, by reason.
    pub due: BTreeMap<CheckReason, u64>,
    /// Checks that are due later, by day, as `2026-11-30`, and reason.
    pub later: BTreeMap<(String, CheckReason), u64>,
    /// Time that the checks that are due now take at the pace of the last check; `None` if there was
    /// no check.
    pub time: Option<Duration>,
    /// URLs that were handed to a save service, by outcome.
    pub saves: BTreeMap<SaveOutcome, u64>,
    /// URLs that no archive is known to hold, and that none has answered for.
    pub not_asked: u64,
}

/// Returns the status of an audit.
///
/// # Errors
///
/// The database cannot be read, or has no plan.
pub fn status(job: &StatusJob) -> Result<AuditStatus, AuditError> {
    let audit = AuditDb::open_to_read(&job.database)?;
    let rules = DueRules {
        confirmation: audit.confirmation_rule()?,
        max_age: job.max_age,
    };
    let mut status = AuditStatus {
        rule: rules.confirmation,
        later_links: audit.later_links()?,
        not_asked: not_asked(&audit)?,
        saves: outcomes(&audit)?,
        ..AuditStatus::default()
    };
    let now = now_seconds();
    for next in next_checks(&audit, rules)? {
        status.planned += 1;
        if next.reason != CheckReason::First {
            *status.states.entry(next.state).or_default() += 1;
        }
        status.confirmed += u64::from(next.is_confirmed);
        if next.after < now {
            *status.due.entry(next.reason).or_default() += 1;
        } else {
            let day = day_of(next.after);
            *status.later.entry((day, next.reason)).or_default() += 1;
        }
    }
    let due = status.due.values().sum();
    status.time = audit
        .check_pace()?
        .and_then(|pace: CheckPace| pace.time(due));
    Ok(status)
}

fn not_asked(audit: &AuditDb) -> Result<u64, AuditError> {
    let sql = "SELECT count(DISTINCT url) FROM audit_links WHERE planned AND NOT EXISTS
      (SELECT 1 FROM audit_captures WHERE audit_captures.key = audit_links.key AND outcome <> 'failed')";
    let count = audit.db.query_row(sql, [], |row| row.get::<_, i64>(0));
    audit.named(count).map(i64::cast_unsigned)
}

/// Returns the day, in UTC, of a time in seconds since 1970.
fn day_of(seconds: i64) -> String {
    let time = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
    time.strftime("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_in_utc() {
        assert_eq!(day_of(0), "1970-01-01");
        assert_eq!(day_of(i64::MAX), "9999-12-30");
    }

    #[test]
    fn the_time_is_that_of_the_pace() {
        let pace = CheckPace::parse("200 100").unwrap();
        assert_eq!(pace.time(50), Some(Duration::from_secs(25)));
        for text in ["", "200", "0 5", "x 1", "5 0"] {
            let time = CheckPace::parse(text).and_then(|pace| pace.time(10));
            assert_eq!(time, (text == "5 0").then_some(Duration::ZERO), "{text}");
        }
    }
}
