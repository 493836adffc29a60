//! The checks of the planned URLs that come next: the first one, one that confirms a death, or one
//! because the last result is old; and the status of an audit: what is planned, checked and asked
//! for, what is due when, and the time that it takes.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use twox_hash::XxHash3_64;

use super::AuditError;
use super::confirmation::{ConfirmationRule, FailureRun};
use super::database::{AuditDb, META_PACE, now_seconds};
use super::save::{SaveOutcome, outcomes};
use super::state::{LinkState, worded_enum};

worded_enum! {
    /// The reason for which a URL is checked. The order is that in which they come.
    pub enum CheckReason {
        /// It has no result.
        First = "first": "without a result",
        /// It is dead, and that is not confirmed.
        Confirmation = "to confirm": "to confirm a death",
        /// Its last result is old.
        Age = "old": "with an old result",
    }
}

/// The next check of a planned URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NextCheck {
    pub(super) url: String,
    pub(super) reason: CheckReason,
    /// Time after which it is due, in seconds since 1970; [`i64::MIN`] without a result.
    pub(super) after: i64,
    /// Time of the last result; [`i64::MIN`] without any.
    last: i64,
    /// State at the newest check.
    pub(super) state: LinkState,
    /// `true` if it is dead, and that is confirmed.
    pub(super) is_confirmed: bool,
}

/// The rules by which checks are due.
#[derive(Clone, Copy, Debug)]
pub(super) struct DueRules {
    pub(super) confirmation: ConfirmationRule,
    /// Age from which a result is out of date.
    pub(super) max_age: Duration,
}

/// The planned links, each with its checks in the order of their time.
const CHECKS: &str = "
SELECT key, url, unixepoch(checked_at), state, status IS NOT NULL OR error = 'tls'
FROM audit_links LEFT JOIN audit_checks USING(key)
WHERE planned ORDER BY key, checked_at, audit_checks.id";

/// Returns the next check of each planned URL, in no order. Of several keys with one URL that counts
/// whose check comes first.
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

/// Returns the URLs that are due: by the reason of their checks, then the last result, so that checks
/// with a limit reach them all; then in an order that depends on the URL alone and puts those of one
/// host far apart: a batch should not wait for the pauses between requests to one host.
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

    /// Returns the next check; `None` before the first link.
    fn next(self, rules: DueRules) -> Option<NextCheck> {
        let Some((last, state)) = self.last else {
            return (!self.key.is_empty()).then_some(NextCheck {
                url: self.url,
                reason: CheckReason::First,
                after: i64::MIN,
                last: i64::MIN,
                state: LinkState::Unknown,
                is_confirmed: false,
            });
        };
        let max_age = i64::try_from(rules.max_age.as_secs()).unwrap_or(i64::MAX);
        let old = last.saturating_add(max_age);
        let again = last.saturating_add(rules.confirmation.apart_seconds());
        let is_to_confirm = self.run.is_to_confirm(rules.confirmation) && again <= old;
        Some(NextCheck {
            url: self.url,
            reason: if is_to_confirm {
                CheckReason::Confirmation
            } else {
                CheckReason::Age
            },
            after: if is_to_confirm { again } else { old },
            last,
            state,
            is_confirmed: state.is_dead() && self.run.is_confirmed(rules.confirmation),
        })
    }
}

/// Adds the next check of a key; of several with one URL the first one counts.
fn add(found: &mut HashMap<String, NextCheck>, check: Option<NextCheck>) {
    let Some(check) = check else { return };
    match found.get_mut(&check.url) {
        Some(first) if (first.after, first.reason) <= (check.after, check.reason) => {}
        Some(first) => *first = check,
        None => drop(found.insert(check.url.clone(), check)),
    }
}

/// The status of an audit. Its numbers are those of URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

/// Returns the status of the audit in `database`. Results are out of date from the age `max_age` on.
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
    let pace = audit.meta(META_PACE)?;
    status.time = pace.and_then(|pace| time_at_pace(&pace, due));
    Ok(status)
}

/// Returns the time that `urls` take at a pace as [`META_PACE`] has it; `None` if no URL was checked.
fn time_at_pace(pace: &str, urls: u64) -> Option<Duration> {
    let (checked, seconds) = pace.split_once(' ')?;
    let (checked, seconds): (u64, u64) = (checked.parse().ok()?, seconds.parse().ok()?);
    let seconds = (u128::from(urls) * u128::from(seconds)).checked_div(u128::from(checked))?;
    Some(Duration::from_secs(
        u64::try_from(seconds).unwrap_or(u64::MAX),
    ))
}

fn not_asked(audit: &AuditDb) -> Result<u64, AuditError> {
    let sql = "SELECT count(DISTINCT url) FROM audit_links WHERE planned AND NOT EXISTS
      (SELECT 1 FROM audit_captures WHERE audit_captures.key = audit_links.key AND outcome <> 'failed')";
    audit.count(sql, [])
}

/// Returns the day, in UTC, of a time in seconds since 1970.
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
    fn a_death_is_due_before_its_result_is_old() {
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
    fn of_several_keys_the_first_check_counts() {
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
    fn the_time_is_that_of_the_pace() {
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
