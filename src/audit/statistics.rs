//! The statistics of a report: shares with intervals, and survival from censored lifetimes.

mod turnbull;

pub(super) use turnbull::{HalfLife, Lifetime, LifetimeCounts, SurvivalCurve, turnbull};

/// The quantile of the normal distribution for an interval that holds the true share 95 times in
/// 100.
const Z: f64 = 1.959_963_984_540_054;

/// A confidence interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::audit) struct Interval {
    /// Its lower end, at least 0.
    pub(in crate::audit) low: f64,
    /// Its upper end, at most 1.
    pub(in crate::audit) high: f64,
}

/// An estimated share and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::audit) struct Share {
    /// The estimate, from 0 to 1.
    pub(in crate::audit) share: f64,
    /// The interval, which holds the estimate.
    pub(in crate::audit) interval: Interval,
}

/// Trials, each with its weight.
///
/// In a stratified sample the weight is the number of links of the population that a link of the
/// sample stands for. Without a sample each weight is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::audit) struct Trials {
    /// The sum of the weights.
    pub(in crate::audit) weight: f64,
    /// The sum of their squares.
    squares: f64,
}

impl Trials {
    pub(in crate::audit) fn add(&mut self, weight: f64) {
        self.weight += weight;
        self.squares += weight * weight;
    }

    /// Returns the share of the trials that succeeded, whose weight is `successes`, and its Wilson
    /// score interval; `None` without trials.
    ///
    /// The interval is that of Kish's effective number of trials, the square of the sum of the
    /// weights divided by the sum of their squares. It is the number of trials if all weights are
    /// equal, and smaller otherwise.
    pub(in crate::audit) fn share(&self, successes: f64) -> Option<Share> {
        if self.weight <= 0.0 {
            return None;
        }
        // Rounding may raise the sum of the successes above that of all.
        let share = (successes / self.weight).min(1.0);
        Some(Share {
            share,
            interval: wilson_interval(share, self.weight * self.weight / self.squares),
        })
    }
}

/// Returns the quotient of two numbers of links; 0 if `whole` is 0.
#[expect(
    clippy::cast_precision_loss,
    reason = "no database holds as many links as an `f64` has whole numbers"
)]
pub(in crate::audit) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    part as f64 / whole as f64
}

/// The Wilson score interval of a share that was observed in a number of trials.
fn wilson_interval(share: f64, trials: f64) -> Interval {
    let spread = Z * Z / trials;
    let center = (share + spread / 2.0) / (1.0 + spread);
    let variance = share * (1.0 - share) / trials + Z * Z / (4.0 * trials * trials);
    let half_width = Z * variance.sqrt() / (1.0 + spread);
    // Rounding may move an end beyond the share when that is 0 or 1.
    Interval {
        low: (center - half_width).clamp(0.0, share),
        high: (center + half_width).clamp(share, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the share of successful trials, given the weight and the success of each.
    fn share_of(trials: impl IntoIterator<Item = (f64, bool)>) -> Option<Share> {
        let (mut all, mut successes) = (Trials::default(), 0.0);
        for (weight, is_success) in trials {
            all.add(weight);
            if is_success {
                successes += weight;
            }
        }
        all.share(successes)
    }

    #[track_caller]
    fn check(successes: u32, trials: u32, low: f64, high: f64) {
        let found = share_of((0..trials).map(|trial| (1.0, trial < successes)));
        let found = found.unwrap().interval;
        let error = (found.low - low).abs().max((found.high - high).abs());
        assert!(error < 1e-12, "{successes} of {trials}: {found:?}");
    }

    /// Values of `statsmodels.stats.proportion.proportion_confint(..., method="wilson")`, version
    /// 0.15.0.
    #[test]
    fn the_interval_is_that_of_wilson() {
        check(0, 1, 0.0, 0.793_450_685_622_763);
        check(1, 1, 0.206_549_314_377_237, 1.0);
        check(0, 10, 0.0, 0.277_532_799_862_889);
        check(3, 10, 0.107_791_267_406_301, 0.603_221_852_538_855);
        check(10, 10, 0.722_467_200_137_111, 1.0);
        check(38, 100, 0.290_975_992_524_787, 0.477_902_447_044_889);
        check(1, 600_000, 0.000_000_294_207_652, 0.000_009_441_494_717);
        check(
            228_000,
            600_000,
            0.378_772_597_385_433,
            0.381_228_939_188_258,
        );
    }

    /// 30 trials of weight 2 and 10 of weight 7: the effective number is 130² / 610.
    #[test]
    fn weights_lower_the_effective_number_of_trials() {
        let light = (0..30).map(|trial| (2.0, trial < 12));
        let heavy = (0..10).map(|trial| (7.0, trial < 9));
        let found = share_of(light.chain(heavy)).unwrap();
        assert!((found.share - 87.0 / 130.0).abs() < 1e-15);
        let expected = (0.483_153_632_421_023_8, 0.814_092_838_192_071_2);
        assert!((found.interval.low - expected.0).abs() < 1e-12, "{found:?}");
        assert!(
            (found.interval.high - expected.1).abs() < 1e-12,
            "{found:?}"
        );
    }

    #[test]
    fn equal_weights_change_nothing() {
        let weighted = |weight| share_of((0..50).map(|trial| (weight, trial % 3 == 0)));
        assert_eq!(weighted(1.0), weighted(8.0));
        assert_eq!(share_of([]), None);
    }
}
