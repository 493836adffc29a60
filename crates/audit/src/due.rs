//! The next check of each planned URL: the first check, a check to confirm that it is dead, or a
//! check because the last result is old.
//!
//! Also the status of an audit: planned, checked and saved URLs, checks that are due, and the time
//! they take.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use twox_hash::XxHash3_64;

use super::AuditError;
use super::confirmation::{ConfirmationRule, FailureRun};
use super::database::{AuditDb, META_PACE, now_seconds};
use super::save::{SaveOutcome, outcomes};
use super::state::LinkState;
use urlspool_files::config::{NamedValue, named_values};

named_values! {
    /// Reason for a check, in order of priority.
    pub enum CheckReason {
        /// The URL has no result.
        First = "first": "without a result",
        /// The URL is dead, but not confirmed.
        Confirmation = "to confirm": "to confirm a death",
        /// The last result is old.
        Age = "old": "with an old result",
    }
}

/// The next check of a planned URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NextCheck {
    pub(super) url: String,
    pub(super) reason: CheckReason,
    /// The check is due after this time, in seconds since 1970; [`i64::MIN`] without a result.
    pub(super) after: i64,
    /// Time of the last result; [`i64::MIN`] without a result.
    last: i64,
    /// State at the latest check.
    pub(super) state: LinkState,
    /// `true` if the URL is confirmed dead.
    pub(super) is_confirmed: bool,
}

/// Rules that determine when checks are due.
#[derive(Clone, Copy, Debug)]
pub(super) struct DueRules {
    pub(super) confirmation: ConfirmationRule,
    /// Age at which a result is out of date.
    pub(super) max_age: Duration,
}

/// Planned links, each with its checks in order of time.
const CHECKS: &str = "
SELECT key, url, unixepoch(checked_at), state, status IS NOT NULL OR error = 'tls'
FROM audit_links LEFT JOIN audit_checks USING(key)
WHERE planned ORDER BY key, checked_at, audit_checks.id";

/// Returns the next check of each planned URL, unordered. If several keys have the same URL, the
/// earliest check wins.
pub(super) fn next_checks(audit: &AuditDb, rules: DueRules) -> Result<Vec<NextCheck>, AuditError> {
    let mut found = HashMap::new();
    let mut link = LinkChecks::default();
    audit.rows(CHECKS, [], |row| {
        let key = row.get_ref(0)?.as_str()?;
        if key != link.key {
            let next = LinkChecks {
                key: key.to_owned(),
                url: row.get(1)?,
                ..LinkChecks::default()
            };
            add(&mut found, std::mem::replace(&mut link, next).next(rules));
        }
        if let Some(at) = row.get(2)? {
            let state = LinkState::named(row.get_ref(3)?.as_str()?);
            link.add(rules, at, state.unwrap_or(LinkState::Unknown), row.get(4)?);
        }
        Ok(())
    })?;
    add(&mut found, link.next(rules));
    Ok(found.into_values().collect())
}

/// Returns the URLs that are due, ordered by the reason of their check, the time of the last result
/// and a hash of the URL. Checks with a limit therefore reach all URLs over time. The hash spreads
/// the URLs of one host, so that a batch does not wait for the pauses between requests to that
/// host.
pub(super) fn due_urls(audit: &AuditDb, rules: DueRules) -> Result<Vec<String>, AuditError> {
    let mut checks = next_checks(audit, rules)?;
    let now = now_seconds();
    checks.retain(|check| check.after < now);
    checks.sort_by_cached_key(|check| {
        let hash = XxHash3_64::oneshot(check.url.as_bytes());
        (check.reason, check.last, hash)
    });
    Ok(checks.into_iter().map(|check| check.url).collect())
}

/// The checks of a link.
#[derive(Default)]
struct LinkChecks {
    key: String,
    url: String,
    run: FailureRun,
    last: Option<(i64, LinkState)>,
}

impl LinkChecks {
    fn add(&mut self, rules: DueRules, at: i64, state: LinkState, has_reply: bool) {
        self.run.add(rules.confirmation, at, state, has_reply);
        self.last = Some((at, state));
    }

    /// Returns the next check, or `None` before the first link.
    fn next(self, rules: DueRules) -> Option<NextCheck> {
        let (last, state) = self.last.unwrap_or((i64::MIN, LinkState::Unknown));
        let max_age = i64::try_from(rules.max_age.as_secs()).unwrap_or(i64::MAX);
        let old = last.saturating_add(max_age);
        let again = last.saturating_add(rules.confirmation.apart_seconds());
        let is_to_confirm = self.run.is_to_confirm(rules.confirmation) && again <= old;
        let (reason, after) = match self.last {
            None => (CheckReason::First, i64::MIN),
            Some(_) if is_to_confirm => (CheckReason::Confirmation, again),
            Some(_) => (CheckReason::Age, old),
        };
        (!self.key.is_empty()).then_some(NextCheck {
            url: self.url,
            reason,
            after,
            last,
            state,
            is_confirmed: state.is_dead() && self.run.is_confirmed(rules.confirmation),
        })
    }
}

/// Adds the next check of a key. Keeps the earliest check if several keys have the same URL.
fn add(found: &mut HashMap<String, NextCheck>, check: Option<NextCheck>) {
    let Some(check) = check else { return };
    match found.get_mut(&check.url) {
        Some(first) if (first.after, first.reason) <= (check.after, check.reason) => {}
        Some(first) => *first = check,
        None => drop(found.insert(check.url.clone(), check)),
    }
}

/// Status of an audit. All numbers except `changes` count URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditStatus {
    /// Links that were loaded or removed after the plan was made, by words that follow "links".
    pub changes: BTreeMap<String, u64>,
    /// Planned URLs.
    pub planned: u64,
    /// URLs with a result, by state at the latest check.
    pub states: BTreeMap<LinkState, u64>,
    /// URLs that are confirmed dead.
    pub confirmed: u64,
    /// Rule for confirming dead links.
    pub rule: ConfirmationRule,
    /// Checks that are due now, by reason.
    pub due: BTreeMap<CheckReason, u64>,
    /// Checks that are due later, by day (`2026-11-30`) and reason.
    pub later: BTreeMap<(String, CheckReason), u64>,
    /// Time for the checks that are due now, at the rate of the last check; `None` if no check was
    /// made.
    pub time: Option<Duration>,
    /// URLs submitted to a save service, by outcome.
    pub saves: BTreeMap<SaveOutcome, u64>,
    /// Planned URLs for which no archive has given an answer.
    pub not_asked: u64,
}

/// Returns the status of the audit in `database`. Results are out of date at the age `max_age`.
///
/// # Errors
///
/// The database cannot be read, or has no plan.
pub fn status(database: &Path, max_age: Duration) -> Result<AuditStatus, AuditError> {
    let audit = AuditDb::open_to_read(database)?;
    let rules = DueRules {
        confirmation: audit.confirmation_rule()?,
        max_age,
    };
    let mut status = AuditStatus {
        rule: rules.confirmation,
        changes: audit.changes()?,
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
    let pace = audit.meta(META_PACE)?;
    status.time = pace.and_then(|pace| time_at_pace(&pace, due));
    Ok(status)
}

/// Returns the time that `urls` take at a rate in the format of [`META_PACE`], or `None` if no URL
/// was checked.
fn time_at_pace(pace: &str, urls: u64) -> Option<Duration> {
    let (checked, seconds) = pace.split_once(' ')?;
    let (checked, seconds): (u64, u64) = (checked.parse().ok()?, seconds.parse().ok()?);
    let seconds = (u128::from(urls) * u128::from(seconds)).checked_div(u128::from(checked))?;
    let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
    Some(Duration::from_secs(seconds))
}

fn not_asked(audit: &AuditDb) -> Result<u64, AuditError> {
    let sql = "SELECT count(DISTINCT url) FROM audit_links WHERE planned AND NOT EXISTS
      (SELECT 1 FROM audit_captures WHERE audit_captures.key = audit_links.key \
      AND outcome <> 'failed')";
    audit.count(sql, [])
}

/// Returns the UTC day of a time in seconds since 1970.
fn day_of(seconds: i64) -> String {
    let time = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
    time.strftime("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: DueRules = DueRules {
        confirmation: ConfirmationRule {
            failures: 2,
            apart: Duration::from_hours(1),
        },
        max_age: Duration::from_hours(24),
    };

    fn next(checks: &[(i64, LinkState)]) -> NextCheck {
        let mut link = LinkChecks {
            key: "k".to_owned(),
            url: "u".to_owned(),
            ..LinkChecks::default()
        };
        for &(at, state) in checks {
            link.add(RULES, at, state, state == LinkState::Alive);
        }
        link.next(RULES).unwrap()
    }

    #[test]
    fn a_dead_link_is_due_before_its_result_is_old() {
        let (hour, day) = (3_600, 24 * 3_600);
        for (checks, reason, after, is_confirmed) in [
            (&[][..], CheckReason::First, i64::MIN, false),
            (&[(0, LinkState::Alive)], CheckReason::Age, day, false),
            (
                &[(0, LinkState::DeadPage)],
                CheckReason::Confirmation,
                hour,
                false,
            ),
            (
                &[(0, LinkState::DeadPage), (60, LinkState::Unknown)],
                CheckReason::Confirmation,
                hour + 60,
                false,
            ),
            (
                &[(0, LinkState::DeadPage), (hour, LinkState::DeadHost)],
                CheckReason::Age,
                day + hour,
                true,
            ),
            (
                &[(0, LinkState::DeadPage), (hour, LinkState::Alive)],
                CheckReason::Age,
                day + hour,
                false,
            ),
        ] {
            let next = next(checks);
            let found = (next.reason, next.after, next.is_confirmed);
            assert_eq!(found, (reason, after, is_confirmed), "{checks:?}");
        }
    }

    #[test]
    fn the_earliest_check_of_several_keys_wins() {
        let mut found = HashMap::new();
        add(&mut found, None);
        add(&mut found, Some(next(&[(0, LinkState::Alive)])));
        add(&mut found, Some(next(&[])));
        add(&mut found, Some(next(&[(0, LinkState::DeadPage)])));
        assert_eq!(found.len(), 1);
        assert_eq!(found["u"].reason, CheckReason::First);
    }

    #[test]
    fn days_are_in_utc() {
        assert_eq!(day_of(0), "1970-01-01");
        assert_eq!(day_of(i64::MAX), "9999-12-30");
    }

    #[test]
    fn the_time_follows_from_the_rate() {
        for (pace, seconds) in [
            ("200 100", Some(5)),
            ("5 0", Some(0)),
            ("", None),
            ("200", None),
            ("0 5", None),
            ("x 1", None),
        ] {
            let expected = seconds.map(Duration::from_secs);
            assert_eq!(time_at_pace(pace, 10), expected, "{pace}");
        }
    }
}
