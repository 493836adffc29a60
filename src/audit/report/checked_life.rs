//! The lifetime of a link, from the results of its checks.

use super::tally::is_dead;
use crate::audit::state::LinkState;
use crate::audit::statistics::Lifetime;

/// Length of a month in seconds: a twelfth of 365.25 days.
const MONTH_SECONDS: i64 = 2_629_800;

/// The end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndOfLife {
    /// The page or its host is gone.
    Dead,
    /// The page or its host is gone, or the link redirects to another domain or a front page.
    DeadOrRedirected,
}

impl EndOfLife {
    fn holds(self, state: LinkState) -> bool {
        match self {
            EndOfLife::Dead => is_dead(state),
            EndOfLife::DeadOrRedirected => is_dead(state) || state == LinkState::Redirected,
        }
    }
}

/// A result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StateAtAge {
    /// Seconds from the first citation to the check.
    pub(super) age_seconds: i64,
    pub(super) state: LinkState,
}

/// Returns the lifetime that checks show, which are in the order of their time: it ended between the last check that found the link
/// living and the first after it that found it dead. Checks without a result, and those before the first citation, show nothing.
pub(super) fn lifetime(checks: &[StateAtAge], end: EndOfLife) -> Option<Lifetime> {
    let mut found = None;
    let known = checks
        .iter()
        .filter(|check| check.state != LinkState::Unknown && 0 <= check.age_seconds);
    for check in known {
        found = Some(match (found, end.holds(check.state)) {
            (_, false) => Lifetime {
                after: whole_months(check.age_seconds),
                until: None,
            },
            (None, true) => Lifetime {
                after: 0,
                until: Some(begun_months(check.age_seconds)),
            },
            (Some(Lifetime { after, until: None }), true) => Lifetime {
                after,
                until: Some(begun_months(check.age_seconds)),
            },
            (Some(earlier), true) => earlier,
        });
    }
    found
}

/// Months that have passed.
pub(super) fn whole_months(seconds: i64) -> u32 {
    u32::try_from(seconds / MONTH_SECONDS).unwrap_or_default()
}

/// Months that have begun, so that the end of a life is after its `after`.
fn begun_months(seconds: i64) -> u32 {
    whole_months(seconds) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(states: &[(i64, LinkState)], expected: Option<(u32, Option<u32>)>) {
        let checks: Vec<_> = states
            .iter()
            .map(|&(months, state)| StateAtAge {
                age_seconds: months * MONTH_SECONDS + 1,
                state,
            })
            .collect();
        let found = lifetime(&checks, EndOfLife::Dead).map(|life| (life.after, life.until));
        assert_eq!(found, expected, "{states:?}");
    }

    #[test]
    fn a_lifetime_ends_between_the_last_living_and_the_first_dead_check() {
        use LinkState::{Alive, DeadHost, DeadPage, Redirected, Unknown};
        check(&[], None);
        check(&[(5, Unknown)], None);
        check(&[(-2, Alive)], None);
        check(&[(5, Alive)], Some((5, None)));
        check(&[(5, DeadPage)], Some((0, Some(6))));
        check(&[(5, Alive), (7, DeadHost)], Some((5, Some(8))));
        check(&[(5, Alive), (5, DeadHost)], Some((5, Some(6))));
        check(
            &[(5, Redirected), (7, DeadHost), (9, DeadPage)],
            Some((5, Some(8))),
        );
        check(
            &[(5, Alive), (6, Unknown), (7, DeadHost)],
            Some((5, Some(8))),
        );
        // It came back.
        check(&[(5, DeadHost), (7, Alive)], Some((7, None)));
        check(
            &[(5, DeadHost), (7, Alive), (9, DeadPage)],
            Some((7, Some(10))),
        );
    }

    #[test]
    fn redirected_links_may_count_as_ended() {
        let checks = [StateAtAge {
            age_seconds: 0,
            state: LinkState::Redirected,
        }];
        let strict = lifetime(&checks, EndOfLife::DeadOrRedirected).unwrap();
        assert_eq!((strict.after, strict.until), (0, Some(1)));
    }
}
