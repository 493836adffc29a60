//! The checks of the planned URLs that come next: the first one, one that confirms a death, or one
//! because the last result is old.

use std::collections::HashMap;
use std::time::Duration;

use twox_hash::XxHash3_64;

use super::AuditError;
use super::confirmation::{ConfirmationRule, FailureRun};
use super::database::AuditDb;
use super::state::LinkState;

/// The reason for which a URL is checked. The order is that in which they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CheckReason {
    /// It has no result.
    First,
    /// It is dead, and that is not confirmed.
    Confirmation,
    /// Its last result is old.
    Age,
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
    let read = || -> rusqlite::Result<Vec<NextCheck>> {
        let mut statement = audit.db.prepare(CHECKS)?;
        let mut rows = statement.query([])?;
        let mut found = FirstByUrl::default();
        let mut link = LinkChecks::default();
        while let Some(row) = rows.next()? {
            let key = row.get_ref(0)?.as_str()?;
            if key != link.key {
                found.add(link.next(rules));
                link = LinkChecks::of(key, row.get(1)?);
            }
            if let Some(at) = row.get(2)? {
                let state = LinkState::named(row.get_ref(3)?.as_str()?);
                link.add(rules, at, state.unwrap_or(LinkState::Unknown), row.get(4)?);
            }
        }
        found.add(link.next(rules));
        Ok(found.checks)
    };
    audit.named(read())
}

/// Puts checks that are due in their order: by reason, then the last result, then an order that
/// depends on the URL alone and puts those of one host far apart: a batch should not wait for the
/// pauses between requests to one host.
pub(super) fn sort(checks: &mut [NextCheck]) {
    checks.sort_by_cached_key(|check| {
        let hash = XxHash3_64::oneshot(check.url.as_bytes());
        (check.reason, check.last, hash)
    });
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
    fn of(key: &str, url: String) -> LinkChecks {
        LinkChecks {
            key: key.to_owned(),
            url,
            ..LinkChecks::default()
        }
    }

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

/// The next checks, one for each URL.
#[derive(Default)]
struct FirstByUrl {
    checks: Vec<NextCheck>,
    places: HashMap<String, usize>,
}

impl FirstByUrl {
    fn add(&mut self, check: Option<NextCheck>) {
        let Some(check) = check else { return };
        match self.places.get(&check.url) {
            Some(&place) => {
                let first = &mut self.checks[place];
                if (check.after, check.reason) < (first.after, first.reason) {
                    *first = check;
                }
            }
            None => {
                self.places.insert(check.url.clone(), self.checks.len());
                self.checks.push(check);
            }
        }
    }
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
        let mut link = LinkChecks::of("k", "u".to_owned());
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
        let mut found = FirstByUrl::default();
        found.add(None);
        found.add(Some(next(&[(0, LinkState::Alive)])));
        found.add(Some(next(&[])));
        found.add(Some(next(&[(0, LinkState::DeadPage)])));
        assert_eq!(found.checks.len(), 1);
        assert_eq!(found.checks[0].reason, CheckReason::First);
    }
}
