//! Confirmation of dead links: several failures, some time apart, without a reply in between.

use std::time::Duration;

use super::state::LinkState;

/// Rule for confirming that a link is dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfirmationRule {
    /// Number of failures.
    pub failures: u32,
    /// Minimum time between two failures that count.
    pub apart: Duration,
}

impl Default for ConfirmationRule {
    /// Returns the rule of three failures, three days apart.
    fn default() -> ConfirmationRule {
        ConfirmationRule {
            failures: 3,
            apart: Duration::from_hours(3 * 24),
        }
    }
}

impl ConfirmationRule {
    pub(super) fn apart_seconds(self) -> i64 {
        i64::try_from(self.apart.as_secs()).unwrap_or(i64::MAX)
    }
}

/// Failures of a link since its last reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FailureRun {
    counted: u32,
    /// Time of the latest failure that counts, in seconds since 1970.
    last: i64,
}

impl FailureRun {
    /// Adds a check, which must be later than the previous ones. A check without a reply that does
    /// not show a dead link, such as a DNS failure, is ignored.
    pub(super) fn add(
        &mut self,
        rule: ConfirmationRule,
        checked_at: i64,
        state: LinkState,
        has_reply: bool,
    ) {
        if state.is_dead() {
            let apart = checked_at.saturating_sub(self.last);
            if self.counted == 0 || rule.apart_seconds() <= apart {
                self.counted += 1;
                self.last = checked_at;
            }
        } else if has_reply {
            *self = FailureRun::default();
        }
    }

    /// Returns the number of failures that count.
    pub(super) fn counted(self) -> u32 {
        self.counted
    }

    /// Returns `true` if there are enough failures.
    pub(super) fn is_confirmed(self, rule: ConfirmationRule) -> bool {
        rule.failures.max(1) <= self.counted
    }

    /// Returns `true` if there are failures, but not enough.
    pub(super) fn is_to_confirm(self, rule: ConfirmationRule) -> bool {
        0 < self.counted && !self.is_confirmed(rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds checks, given as hour and kind: `d` dead host, `g` dead page, `r` alive, `b` unknown
    /// with a reply, any other letter unknown without a reply.
    #[track_caller]
    fn check(checks: &[(i64, char)], counted: u32, is_confirmed: bool) {
        let rule = ConfirmationRule::default();
        let mut run = FailureRun::default();
        for &(hour, kind) in checks {
            let (state, has_reply) = match kind {
                'd' => (LinkState::DeadHost, false),
                'g' => (LinkState::DeadPage, true),
                'r' => (LinkState::Alive, true),
                'b' => (LinkState::Unknown, true),
                _ => (LinkState::Unknown, false),
            };
            run.add(rule, hour * 3_600, state, has_reply);
        }
        assert_eq!(run.counted(), counted, "{checks:?}");
        assert_eq!(run.is_confirmed(rule), is_confirmed, "{checks:?}");
        assert_eq!(
            run.is_to_confirm(rule),
            0 < counted && !is_confirmed,
            "{checks:?}"
        );
    }

    #[test]
    fn three_failures_three_days_apart_confirm_a_dead_link() {
        check(&[], 0, false);
        check(&[(0, 'd')], 1, false);
        check(&[(0, 'd'), (72, 'd')], 2, false);
        check(&[(0, 'd'), (72, 'g'), (144, 'd')], 3, true);
        check(&[(0, 'd'), (72, 'd'), (143, 'd')], 2, false);
        check(&[(0, 'd'), (1, 'd'), (2, 'd'), (3, 'd')], 1, false);
        check(
            &[(0, 'd'), (24, 'd'), (80, 'd'), (100, 'd'), (160, 'd')],
            3,
            true,
        );
    }

    #[test]
    fn a_reply_resets_the_count_and_no_answer_is_ignored() {
        check(&[(0, 'd'), (72, 'r'), (144, 'd'), (216, 'd')], 2, false);
        check(&[(0, 'd'), (72, 'b'), (144, 'd'), (216, 'd')], 2, false);
        check(&[(0, 'd'), (72, 'u'), (144, 'd'), (216, 'd')], 3, true);
        check(&[(0, 'd'), (72, 'd'), (144, 'd'), (216, 'r')], 0, false);
    }
}
