//! The statistics of a report: shares with intervals, and survival from censored lifetimes.
//!
//! Survival is Turnbull's non-parametric maximum likelihood estimate from interval-censored
//! lifetimes: links are checked now and then. The likelihood can be raised only by probability in
//! the innermost intervals: those from the start of one lifetime to the end of another with no
//! start or end between. Rounds of expectation and maximization alternate with the iterative convex
//! minorant (Wellner and Zhan 1997) until the gradient proves that no estimate is likelier by more
//! than [`DISTANCE`].

use std::collections::BTreeMap;

use crate::limits::SURVIVAL_ROUNDS;

/// The quantile of the normal distribution for an interval that holds the true share 95 times in
/// 100.
const Z: f64 = 1.959_963_984_540_054;

/// A confidence interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    /// Its lower end, at least 0.
    pub(super) low: f64,
    /// Its upper end, at most 1.
    pub(super) high: f64,
}

/// An estimated share and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    /// The estimate, from 0 to 1.
    pub(super) share: f64,
    /// The interval, which holds the estimate.
    pub(super) interval: Interval,
}

/// Trials, each with its weight.
///
/// In a stratified sample the weight is the number of links of the population that a link of the
/// sample stands for. Without a sample each weight is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Trials {
    /// The sum of the weights.
    pub(super) weight: f64,
    /// The sum of their squares.
    squares: f64,
}

impl Trials {
    pub(super) fn add(&mut self, weight: f64) {
        self.weight += weight;
        self.squares += weight * weight;
    }

    /// Returns the share of the trials that succeeded, whose weight is `successes`, and its Wilson
    /// score interval; `None` without trials.
    ///
    /// The interval is that of Kish's effective number of trials, the square of the sum of the
    /// weights divided by the sum of their squares. It is the number of trials if all weights are
    /// equal, and smaller otherwise.
    pub(super) fn share(&self, successes: f64) -> Option<Share> {
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

/// Distance from the maximum of the logarithm of the likelihood at which the estimate ends. A
/// standard error is a distance of 0.5.
const DISTANCE: f64 = 1e-6;

/// The relative distance that rounding allows.
const SMALLEST_GAP: f64 = 1e-9;

/// Probability below which an interval counts as empty.
const EMPTY: f64 = 1e-9;

/// Halvings of a step that does not raise the likelihood, after which it is given up.
const HALVINGS: u32 = 40;

/// An interval of ages in which links end, in months, and the share that survives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SurvivalStep {
    /// Survival begins to fall after this age.
    pub(super) after: u32,
    /// It has fallen at this age. Lifetimes do not show how it falls between.
    pub(super) until: u32,
    /// The share of links that survive.
    pub(super) survival: f64,
}

/// The share of links that survive to an age.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SurvivalCurve {
    /// Intervals in order. Between them survival stays as it is.
    pub(super) steps: Vec<SurvivalStep>,
    /// The age in months after which nothing is known.
    pub(super) end: u32,
    /// `false` if the estimate ended at [`SURVIVAL_ROUNDS`].
    pub(super) is_converged: bool,
}

/// The age in months at which half of the links survive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum HalfLife {
    /// Survival falls to one half or below in this interval.
    Between { after: u32, until: u32 },
    /// More than half survive to the end of what is known.
    NotReached { survival: f64 },
}

impl SurvivalCurve {
    pub(super) fn half_life(&self) -> HalfLife {
        match self.steps.iter().find(|step| step.survival <= 0.5) {
            Some(step) => HalfLife::Between {
                after: step.after,
                until: step.until,
            },
            None => HalfLife::NotReached {
                survival: self.steps.last().map_or(1.0, |step| step.survival),
            },
        }
    }
}

/// Estimates survival; `None` without lifetimes.
///
/// The cost of a round is linear in the number of distinct lifetimes.
pub(super) fn turnbull(lifetimes: &LifetimeCounts) -> Option<SurvivalCurve> {
    let innermost = innermost_intervals(lifetimes);
    let mut estimate = Estimate::new(lifetimes, &innermost)?;
    let is_converged = (0..SURVIVAL_ROUNDS).any(|_| estimate.improve());
    let mut steps: Vec<SurvivalStep> = Vec::new();
    let mut end = 0;
    for (interval, ends) in innermost.iter().zip(estimate.reached.windows(2)) {
        end = interval.until.unwrap_or(interval.after);
        if let Some(until) = interval.until
            && ends[1] - ends[0] > EMPTY
        {
            steps.push(SurvivalStep {
                after: interval.after,
                until,
                survival: 1.0 - ends[1],
            });
        }
    }
    Some(SurvivalCurve {
        steps,
        end,
        is_converged,
    })
}

/// The innermost intervals, in order.
fn innermost_intervals(lifetimes: &LifetimeCounts) -> Vec<Lifetime> {
    /// In the order of borders at one age: a lifetime that is longer than an age begins after those
    /// that end there.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    enum Border {
        End,
        Start,
    }
    let mut borders: Vec<(u32, Border)> = Vec::new();
    for (lifetime, _) in lifetimes.iter() {
        borders.push((lifetime.after, Border::Start));
        borders.extend(lifetime.until.map(|until| (until, Border::End)));
    }
    borders.sort_unstable();
    borders.dedup();
    let mut innermost: Vec<_> = borders
        .windows(2)
        .filter(|pair| pair[0].1 == Border::Start && pair[1].1 == Border::End)
        .map(|pair| Lifetime {
            after: pair[0].0,
            until: Some(pair[1].0),
        })
        .collect();
    if let Some((after, Border::Start)) = borders.last().copied() {
        innermost.push(Lifetime { after, until: None });
    }
    innermost
}

/// A lifetime by the innermost intervals that it holds: those from `from` to before `to`.
#[derive(Clone, Copy, Debug)]
struct Observation {
    from: usize,
    to: usize,
    weight: f64,
}

/// An estimate that is improved round by round.
#[derive(Debug)]
struct Estimate {
    observations: Vec<Observation>,
    weight: f64,
    /// The probability of ending before each innermost interval, and after the last: from 0 to 1.
    reached: Vec<f64>,
}

impl Estimate {
    fn new(lifetimes: &LifetimeCounts, innermost: &[Lifetime]) -> Option<Estimate> {
        let held = |until: Option<u32>, limit: Option<u32>| match (until, limit) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(until), Some(limit)) => until <= limit,
        };
        let observations: Vec<_> = lifetimes
            .iter()
            .map(|(lifetime, weight)| Observation {
                from: innermost.partition_point(|interval| interval.after < lifetime.after),
                to: innermost.partition_point(|interval| held(interval.until, lifetime.until)),
                weight,
            })
            .collect();
        let count = f64::from(innermost.len() as u32);
        (!observations.is_empty()).then(|| Estimate {
            weight: observations.iter().map(|one| one.weight).sum(),
            observations,
            reached: (0..=innermost.len())
                .map(|index| f64::from(index as u32) / count)
                .collect(),
        })
    }

    /// Improves the estimate by one round. Returns `true` if it needs no more.
    fn improve(&mut self) -> bool {
        let gap = self.expect_and_maximize();
        if gap <= SMALLEST_GAP.max(DISTANCE / self.weight) {
            return true;
        }
        self.follow_minorant();
        false
    }

    /// Gives each interval the share of the lifetimes that are expected in it. Returns the largest
    /// slope of the likelihood towards one interval, relative to the weight; it bounds the distance
    /// from the maximum.
    fn expect_and_maximize(&mut self) -> f64 {
        let mut slopes = vec![0.0; self.reached.len()];
        for one in &self.observations {
            let ratio = one.weight / (self.reached[one.to] - self.reached[one.from]);
            slopes[one.from] += ratio;
            slopes[one.to] -= ratio;
        }
        let (mut slope, mut largest, mut total) = (0.0, 0.0_f64, 0.0);
        let mut reached = vec![0.0];
        for (index, ends) in self.reached.windows(2).enumerate() {
            slope += slopes[index];
            largest = largest.max(slope / self.weight);
            total += (ends[1] - ends[0]) * slope / self.weight;
            reached.push(total);
        }
        reached.iter_mut().for_each(|value| *value /= total);
        self.reached = reached;
        largest - 1.0
    }

    /// Takes a step of the iterative convex minorant, shortened until the likelihood rises.
    fn follow_minorant(&mut self) {
        let last = self.reached.len() - 1;
        let mut gradient = vec![0.0; last + 1];
        let mut curvature = vec![0.0; last + 1];
        for one in &self.observations {
            let probability = self.reached[one.to] - self.reached[one.from];
            let ratio = one.weight / probability;
            gradient[one.to] += ratio;
            gradient[one.from] -= ratio;
            curvature[one.to] += ratio / probability;
            curvature[one.from] += ratio / probability;
        }
        // The first is 0 and the last 1. Each between is the end of a lifetime.
        let aims: Vec<_> = (1..last)
            .map(|index| WeightedValue {
                value: self.reached[index] + gradient[index] / curvature[index],
                weight: curvature[index],
            })
            .collect();
        let fitted = isotonic(&aims);
        let before = self.log_likelihood(&self.reached);
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            let mut next = self.reached.clone();
            for (value, aim) in next[1..last].iter_mut().zip(&fitted) {
                *value += length * (aim.clamp(0.0, 1.0) - *value);
            }
            if self.log_likelihood(&next) > before {
                self.reached = next;
                return;
            }
            length /= 2.0;
        }
    }

    fn log_likelihood(&self, reached: &[f64]) -> f64 {
        self.observations
            .iter()
            .map(|one| one.weight * (reached[one.to] - reached[one.from]).ln())
            .sum()
    }
}

/// A value and its weight, which is positive.
#[derive(Clone, Copy, Debug, PartialEq)]
struct WeightedValue {
    value: f64,
    weight: f64,
}

/// Values that are replaced by their mean.
#[derive(Clone, Copy, Debug)]
struct Pool {
    mean: f64,
    weight: f64,
    len: usize,
}

/// Returns the non-decreasing values with the smallest weighted sum of squared distances to
/// `values`.
///
/// Linear in the number of values.
fn isotonic(values: &[WeightedValue]) -> Vec<f64> {
    let mut pools: Vec<Pool> = Vec::new();
    for value in values {
        let mut pool = Pool {
            mean: value.value,
            weight: value.weight,
            len: 1,
        };
        while let Some(last) = pools.pop_if(|last| pool.mean <= last.mean) {
            let weight = last.weight + pool.weight;
            pool = Pool {
                mean: (last.mean * last.weight + pool.mean * pool.weight) / weight,
                weight,
                len: last.len + pool.len,
            };
        }
        pools.push(pool);
    }
    let repeated = pools
        .into_iter()
        .flat_map(|pool| std::iter::repeat_n(pool.mean, pool.len));
    repeated.collect()
}

/// A lifetime in months, as far as checks show it: longer than `after`, and at most `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lifetime {
    /// Age at the last check that found the link living; 0 without one.
    pub(super) after: u32,
    /// Age at the first check after it that found the link dead; `None` if there is none. Larger
    /// than `after`.
    pub(super) until: Option<u32>,
}

/// Lifetimes and the sums of the weights of the links that have them.
#[derive(Clone, Debug, Default)]
pub(super) struct LifetimeCounts(BTreeMap<Lifetime, f64>);

impl LifetimeCounts {
    pub(super) fn add(&mut self, lifetime: Lifetime, weight: f64) {
        *self.0.entry(lifetime).or_default() += weight;
    }

    /// The distinct lifetimes in order, each with its weight.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Lifetime, f64)> {
        self.0.iter().map(|(lifetime, weight)| (*lifetime, *weight))
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
    fn check_interval(successes: u32, trials: u32, low: f64, high: f64) {
        let found = share_of((0..trials).map(|trial| (1.0, trial < successes)));
        let found = found.unwrap().interval;
        let error = (found.low - low).abs().max((found.high - high).abs());
        assert!(error < 1e-12, "{successes} of {trials}: {found:?}");
    }

    /// Values of `statsmodels.stats.proportion.proportion_confint(..., method="wilson")`, version
    /// 0.15.0.
    #[test]
    fn the_interval_is_that_of_wilson() {
        check_interval(0, 1, 0.0, 0.793_450_685_622_763);
        check_interval(1, 1, 0.206_549_314_377_237, 1.0);
        check_interval(0, 10, 0.0, 0.277_532_799_862_889);
        check_interval(3, 10, 0.107_791_267_406_301, 0.603_221_852_538_855);
        check_interval(10, 10, 0.722_467_200_137_111, 1.0);
        check_interval(38, 100, 0.290_975_992_524_787, 0.477_902_447_044_889);
        check_interval(1, 600_000, 0.000_000_294_207_652, 0.000_009_441_494_717);
        check_interval(
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

    fn counts(lifetimes: &[(u32, Option<u32>, f64)]) -> LifetimeCounts {
        let mut counts = LifetimeCounts::default();
        for &(after, until, weight) in lifetimes {
            counts.add(Lifetime { after, until }, weight);
        }
        counts
    }

    #[track_caller]
    fn check(lifetimes: &[(u32, Option<u32>, f64)], expected: &[(u32, u32, f64)]) {
        let curve = turnbull(&counts(lifetimes)).unwrap();
        let found: Vec<_> = curve
            .steps
            .iter()
            .map(|step| (step.after, step.until))
            .collect();
        let intervals: Vec<_> = expected.iter().map(|step| (step.0, step.1)).collect();
        assert_eq!(found, intervals);
        for (step, expected) in curve.steps.iter().zip(expected) {
            let error = (step.survival - expected.2).abs();
            assert!(error < 1e-5, "{step:?} instead of {expected:?}");
        }
        assert!(curve.is_converged);
    }

    /// With one check of each link the estimate is the isotonic regression of the shares by age.
    #[test]
    fn one_check_gives_isotonic_shares() {
        let mut lifetimes = Vec::new();
        let shares = [(12, 90.0), (24, 70.0), (36, 80.0), (48, 40.0)];
        for (age, living) in shares {
            lifetimes.push((age, None, living));
            lifetimes.push((0, Some(age), 100.0 - living));
        }
        check(&lifetimes, &[(0, 12, 0.9), (12, 24, 0.75), (36, 48, 0.4)]);
        let curve = turnbull(&counts(&lifetimes)).unwrap();
        let expected = HalfLife::Between {
            after: 36,
            until: 48,
        };
        assert_eq!(curve.half_life(), expected);
    }

    /// Exact lifetimes and right-censored ones give the estimate of Kaplan and Meier: 5/6, then 5/6
    /// * 2/4, then 0.
    #[test]
    fn exact_lifetimes_give_kaplan_and_meier() {
        let lifetimes = [
            (4, Some(5), 1.0),
            (6, None, 1.0),
            (9, Some(10), 2.0),
            (11, None, 1.0),
            (14, Some(15), 1.0),
        ];
        check(
            &lifetimes,
            &[(4, 5, 5.0 / 6.0), (9, 10, 5.0 / 12.0), (14, 15, 0.0)],
        );
    }

    /// Months until retraction of the breast after radiotherapy (Finkelstein and Wolfe 1985), the
    /// usual example. The probabilities are those that are printed for it, for instance by the
    /// package `interval` of R.
    #[test]
    fn the_textbook_example_has_its_known_values() {
        let until = |pairs: &[(u32, u32)]| -> Vec<_> {
            pairs
                .iter()
                .map(|&(after, until)| (after, Some(until), 1.0))
                .collect()
        };
        let mut lifetimes = until(&[
            (25, 37),
            (6, 10),
            (0, 5),
            (0, 7),
            (26, 40),
            (27, 34),
            (7, 16),
            (36, 44),
            (5, 11),
            (19, 35),
            (7, 14),
            (36, 48),
            (17, 25),
            (37, 44),
            (0, 8),
            (4, 11),
            (17, 25),
            (19, 26),
            (11, 15),
            (11, 18),
            (5, 12),
        ]);
        let living = [
            45, 37, 46, 18, 46, 46, 24, 46, 36, 17, 46, 37, 24, 40, 32, 33, 15, 46, 37, 22, 38, 34,
            46, 36, 46,
        ];
        lifetimes.extend(living.map(|after| (after, None, 1.0)));
        let masses = [
            (4, 5, 0.0463),
            (6, 7, 0.0334),
            (7, 8, 0.0887),
            (11, 12, 0.0708),
            (24, 25, 0.0926),
            (33, 34, 0.0818),
            (38, 40, 0.1209),
            (46, 48, 0.4656),
        ];
        let curve = turnbull(&counts(&lifetimes)).unwrap();
        let mut before = 1.0;
        assert_eq!(curve.steps.len(), masses.len());
        for (step, (after, until, mass)) in curve.steps.iter().zip(masses) {
            assert_eq!((step.after, step.until), (after, until));
            assert!((before - step.survival - mass).abs() < 6e-5, "{step:?}");
            before = step.survival;
        }
    }

    #[test]
    fn a_half_life_may_not_be_reached() {
        let curve = turnbull(&counts(&[(0, Some(24), 3.0), (24, None, 7.0)])).unwrap();
        let HalfLife::NotReached { survival } = curve.half_life() else {
            panic!("{:?}", curve.half_life());
        };
        assert!((survival - 0.7).abs() < 1e-5);
        assert_eq!(curve.end, 24);
        let living = turnbull(&counts(&[(24, None, 7.0)])).unwrap();
        assert_eq!(living.half_life(), HalfLife::NotReached { survival: 1.0 });
        assert_eq!(turnbull(&LifetimeCounts::default()), None);
    }

    /// No shift of probability towards an interval raises the likelihood, which proves the maximum:
    /// the likelihood is concave.
    #[test]
    fn random_lifetimes_have_the_largest_likelihood() {
        let mut seed = 20_u64;
        let mut below = |limit: u32| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as u32 % limit
        };
        for size in 1..60 {
            let mut lifetimes = Vec::new();
            for _ in 0..size * 4 {
                let after = below(size + 2);
                let until = (below(4) > 0).then(|| after + 1 + below(size));
                lifetimes.push((after, until, f64::from(1 + below(9))));
            }
            let counts = counts(&lifetimes);
            let innermost = innermost_intervals(&counts);
            let mut estimate = Estimate::new(&counts, &innermost).unwrap();
            assert!((0..SURVIVAL_ROUNDS).any(|_| estimate.improve()), "{size}");
            let gap = estimate.expect_and_maximize();
            assert!(gap <= SMALLEST_GAP.max(DISTANCE / estimate.weight) * 2.0);
            assert!(estimate.reached.is_sorted(), "{:?}", estimate.reached);
        }
    }

    /// Links of thirty years, checked twelve times.
    #[test]
    fn few_rounds_suffice() {
        let mut counts = LifetimeCounts::default();
        for month in 1..360_u32 {
            for check in 0..12 {
                let age = month + 6 * check;
                let weight = f64::from(1 + (month * 7 + check * 13) % 50);
                counts.add(
                    Lifetime {
                        after: age,
                        until: Some(age + 6),
                    },
                    weight,
                );
                counts.add(
                    Lifetime {
                        after: age,
                        until: None,
                    },
                    weight,
                );
                counts.add(
                    Lifetime {
                        after: 0,
                        until: Some(age),
                    },
                    weight,
                );
            }
        }
        let innermost = innermost_intervals(&counts);
        let mut estimate = Estimate::new(&counts, &innermost).unwrap();
        let rounds = (0..SURVIVAL_ROUNDS).find(|_| estimate.improve()).unwrap();
        assert!(rounds < SURVIVAL_ROUNDS / 2, "{rounds} rounds");
    }

    fn fitted(values: &[(f64, f64)]) -> Vec<f64> {
        let weighted: Vec<_> = values
            .iter()
            .map(|&(value, weight)| WeightedValue { value, weight })
            .collect();
        isotonic(&weighted)
    }

    #[test]
    fn violators_get_their_weighted_mean() {
        assert_eq!(fitted(&[]), [] as [f64; 0]);
        assert_eq!(
            fitted(&[(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]),
            [1.0, 2.0, 3.0]
        );
        assert_eq!(
            fitted(&[(1.0, 1.0), (4.0, 1.0), (2.0, 3.0)]),
            [1.0, 2.5, 2.5]
        );
        assert_eq!(
            fitted(&[(3.0, 1.0), (2.0, 1.0), (1.0, 1.0)]),
            [2.0, 2.0, 2.0]
        );
    }

    /// The fit by its formula: the largest of the smallest means of the blocks that hold a
    /// position.
    fn by_formula(values: &[(f64, f64)]) -> Vec<f64> {
        let mean = |from: usize, to: usize| {
            let block = &values[from..=to];
            let weight: f64 = block.iter().map(|value| value.1).sum();
            block.iter().map(|value| value.0 * value.1).sum::<f64>() / weight
        };
        let smallest = |from: usize, at: usize| {
            (at..values.len())
                .map(|to| mean(from, to))
                .fold(f64::INFINITY, f64::min)
        };
        (0..values.len())
            .map(|at| {
                (0..=at)
                    .map(|from| smallest(from, at))
                    .fold(f64::NEG_INFINITY, f64::max)
            })
            .collect()
    }

    #[test]
    fn the_fit_is_that_of_the_formula() {
        let mut seed = 7_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f64::from((seed >> 40) as u32 % 1000) / 100.0
        };
        for len in 1..40 {
            let values: Vec<_> = (0..len).map(|_| (next(), next() + 0.1)).collect();
            for (found, expected) in fitted(&values).into_iter().zip(by_formula(&values)) {
                assert!((found - expected).abs() < 1e-9, "{values:?}");
            }
        }
    }
}
