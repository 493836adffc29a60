//! Statistics of a report: shares and survival, with confidence intervals clustered by host.
//!
//! Links of one host die together, so hosts are the independent observations. The interval of a
//! share is a Wilson score interval for an effective number of links, which is computed from the
//! variance between hosts. The interval of the half-life comes from a bootstrap over hosts.
//!
//! Survival is Turnbull's non-parametric maximum likelihood estimate from interval-censored
//! lifetimes, because links are checked only occasionally. Only probability in the innermost
//! intervals can raise the likelihood. An innermost interval runs from the start of one lifetime to
//! the end of another, without a start or end in between. Rounds of expectation-maximization
//! alternate with the iterative convex minorant (Wellner and Zhan 1997) until the gradient proves
//! that the log-likelihood is within [`DISTANCE`] of its maximum. The estimate is only determined
//! at the ages of checks.

use std::collections::BTreeMap;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use urlspool_text::limits::{SURVIVAL_RESAMPLES, SURVIVAL_ROUNDS};

/// Quantile of the normal distribution for an interval that contains the true value with a
/// probability of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// An interval, such as the 95 % confidence interval of a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    /// Lower end; at least 0 for a share.
    pub(super) low: f64,
    /// Upper end; at most 1 for a share.
    pub(super) high: f64,
}

/// An estimated share and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    /// The estimate, from 0 to 1.
    pub(super) share: f64,
    /// The interval, which contains the estimate; `None` if all links have one host.
    pub(super) interval: Option<Interval>,
}

impl Share {
    /// Returns the complementary share.
    pub(super) fn complement(self) -> Share {
        Share {
            share: 1.0 - self.share,
            interval: self.interval.map(|ends| Interval {
                low: 1.0 - ends.high,
                high: 1.0 - ends.low,
            }),
        }
    }
}

/// Trials, each with a weight.
///
/// In a stratified sample, the weight of a link is the number of links in the population that it
/// represents. Without a sample, each weight is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Trials {
    /// Sum of the weights.
    pub(super) weight: f64,
    /// Sum of the squared weights.
    squares: f64,
}

impl Trials {
    pub(super) fn add(&mut self, weight: f64) {
        self.weight += weight;
        self.squares += weight * weight;
    }

    /// Returns Kish's effective sample size. It equals the number of trials if all weights are
    /// equal.
    fn effective(self) -> f64 {
        self.weight * self.weight / self.squares
    }

    /// Returns the degrees of freedom of a mean of the trials; `None` for a single trial.
    fn freedom(self) -> Option<f64> {
        let freedom = self.effective() - 1.0;
        (SMALLEST_GAP < freedom).then_some(freedom)
    }

    /// Returns the share of successful trials, where `successes` is their total weight. Returns
    /// `None` without trials. `hosts` splits the trials and successes by host.
    pub(super) fn share(self, successes: f64, hosts: &[HostPart]) -> Option<Share> {
        if self.weight <= 0.0 {
            return None;
        }
        // Rounding may raise the sum of the successes above the total.
        let share = (successes / self.weight).min(1.0);
        Some(Share {
            share,
            interval: cluster_interval(share, self.effective(), hosts),
        })
    }
}

/// Weights of the trials of one host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HostPart {
    pub(super) weight: f64,
    pub(super) successes: f64,
}

/// Returns the mean of the hosts' shares, each host counted once; `None` without hosts.
pub(super) fn host_share(hosts: &[HostPart]) -> Option<Share> {
    let shares = hosts.iter().filter(|host| 0.0 < host.weight);
    let shares: Vec<_> = shares
        .map(|host| HostPart {
            weight: 1.0,
            successes: host.successes / host.weight,
        })
        .collect();
    let sum: f64 = shares.iter().map(|host| host.successes).sum();
    let count: f64 = shares.iter().map(|host| host.weight).sum();
    let share = sum / count;
    (0.0 < count).then(|| Share {
        share,
        // Each host has more than one trial, so the number of hosts is no upper bound.
        interval: cluster_interval(share, f64::INFINITY, &shares),
    })
}

/// Returns the confidence interval of a share of links that die by host; `None` for one host.
///
/// The variance is computed between hosts, and each host's term is divided by the weight of the
/// other hosts (Bell and `McCaffrey` 2002). It determines the number of independent trials with
/// equal variance, which is at most `links`. If all trials had the same outcome, each host counts
/// as one trial: Kish's effective number of hosts. This number minus one is the degrees of freedom,
/// by which the Wilson interval is widened.
fn cluster_interval(share: f64, links: f64, hosts: &[HostPart]) -> Option<Interval> {
    let mut all = Trials::default();
    hosts.iter().for_each(|host| all.add(host.weight));
    let freedom = all.freedom()?;
    let parts = hosts.iter().map(|host| {
        let deviation = host.successes - share * host.weight;
        deviation * deviation / (all.weight * (all.weight - host.weight))
    });
    let variance: f64 = parts.sum();
    let trials = if share <= 0.0 || 1.0 <= share {
        all.effective()
    } else {
        links.min(share * (1.0 - share) / variance)
    };
    Some(wilson_interval(share, trials, t_quantile(freedom)))
}

/// Returns the Wilson score interval of a share observed in a number of trials. `quantile` belongs
/// to the distribution of the share: [`Z`] if the variance is known.
fn wilson_interval(share: f64, trials: f64, quantile: f64) -> Interval {
    let spread = quantile * quantile / trials;
    let center = (share + spread / 2.0) / (1.0 + spread);
    let variance = share * (1.0 - share) / trials + spread / (4.0 * trials);
    let half_width = quantile * variance.sqrt() / (1.0 + spread);
    // Rounding may move an end past a share of 0 or 1.
    Interval {
        low: (center - half_width).clamp(0.0, share),
        high: (center + half_width).clamp(share, 1.0),
    }
}

/// Returns the quantile of Student's t-distribution that corresponds to [`Z`], with the
/// Cornish-Fisher expansion. The error is below 1 % for two or more degrees of freedom. Values
/// below one are treated as one.
fn t_quantile(freedom: f64) -> f64 {
    let (per, square) = (1.0 / freedom.max(1.0), Z * Z);
    let terms = [
        (square + 1.0) / 4.0,
        ((5.0 * square + 16.0) * square + 3.0) / 96.0,
        (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0,
        ((((79.0 * square + 776.0) * square + 1482.0) * square - 1920.0) * square - 945.0)
            / 92_160.0,
    ];
    let sum = terms.iter().rev().fold(0.0, |sum, term| sum * per + term);
    Z * (1.0 + sum * per)
}

/// Returns the upper tail probability of the normal distribution for a `quantile` that is not
/// negative. Abramowitz and Stegun 26.2.17; the error is below 1e-7.
fn normal_tail(quantile: f64) -> f64 {
    const TERMS: [f64; 5] = [
        0.319_381_530,
        -0.356_563_782,
        1.781_477_937,
        -1.821_255_978,
        1.330_274_429,
    ];
    let at = 1.0 / (1.0 + 0.231_641_9 * quantile);
    let sum = TERMS.iter().rev().fold(0.0, |sum, term| (sum + term) * at);
    sum * (-quantile * quantile / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// Maximum distance of the log-likelihood from its maximum at which the estimate stops. A standard
/// error corresponds to 0.5.
const DISTANCE: f64 = 1e-6;

/// [`DISTANCE`] for estimates in the bootstrap.
const RESAMPLE_DISTANCE: f64 = 0.05;

/// Maximum number of rounds of an estimate in the bootstrap, which starts at the estimate for all
/// hosts. The first rounds have the largest effect.
const RESAMPLE_ROUNDS: u32 = 8;

/// Part of a first estimate that is spread evenly over the innermost intervals, so that none starts
/// with probability 0.
const EVEN_PART: f64 = 0.02;

/// Relative distance that rounding errors may cause.
const SMALLEST_GAP: f64 = 1e-9;

/// Maximum number of times that a step is halved while it does not raise the likelihood.
const HALVINGS: u32 = 40;

/// Number of months without a check that makes a gap in the curve.
const GAP_MONTHS: u32 = 12;

/// Share of links that survive to an age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AgeSurvival {
    /// Age in months.
    pub(super) age: f64,
    pub(super) survival: f64,
}

/// Share of surviving links at the ages of checks. Other ages are undetermined.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SurvivalCurve {
    /// Sorted by age. Survival never increases.
    pub(super) ages: Vec<AgeSurvival>,
    /// `false` if the estimate stopped at [`SURVIVAL_ROUNDS`].
    pub(super) is_converged: bool,
}

/// Ages in months between which half of the links have ended; both are equal if the age is known.
/// The lower end is 0 before the first age at which links were checked. The upper end is infinite
/// after the last one.
pub(super) type HalfLife = Interval;

impl SurvivalCurve {
    /// Returns the smoothed pieces of the curve between its gaps, as polylines.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Vec<AgeSurvival>> {
        let ages = &self.ages;
        ages.chunk_by(|one, next| next.age - one.age <= f64::from(GAP_MONTHS))
            .map(smoothed)
    }

    /// Returns the survival at the latest age of checks that is not above `age`.
    fn survival_at(&self, age: f64) -> f64 {
        let next = self.ages.partition_point(|one| one.age <= age);
        next.checked_sub(1).map_or(1.0, |at| self.ages[at].survival)
    }

    pub(super) fn half_life(&self) -> HalfLife {
        let mut low = 0.0;
        for piece in self.pieces() {
            match piece.iter().position(|corner| corner.survival <= 0.5) {
                None => low = piece.last().map_or(low, |corner| corner.age),
                Some(0) => {
                    let high = piece[0].age;
                    return HalfLife { low, high };
                }
                Some(at) => {
                    let (from, to) = (piece[at - 1], piece[at]);
                    let part = (from.survival - 0.5) / (from.survival - to.survival);
                    let age = from.age + part * (to.age - from.age);
                    return HalfLife {
                        low: age,
                        high: age,
                    };
                }
            }
        }
        HalfLife {
            low,
            high: f64::INFINITY,
        }
    }
}

/// Half-width of the smoothing window as a fraction of the age. The window stays inside the piece.
const SMOOTHED_PART: f64 = 0.1;

/// Returns the mean survival around each age of a piece. The bootstrap is consistent for such
/// means, but not for the steps themselves (Groeneboom and Hendrickx 2017).
fn smoothed(piece: &[AgeSurvival]) -> Vec<AgeSurvival> {
    // Area under the piecewise linear curve from the first age to each age.
    let mut areas = vec![0.0];
    for pair in piece.windows(2) {
        let mean = f64::midpoint(pair[0].survival, pair[1].survival);
        areas.push(areas[areas.len() - 1] + mean * (pair[1].age - pair[0].age));
    }
    let (first, last) = (piece[0].age, piece[piece.len() - 1].age);
    piece
        .iter()
        .map(|&AgeSurvival { age, survival }| {
            let width = (SMOOTHED_PART * age).min(age - first).min(last - age);
            if width <= 0.0 {
                return AgeSurvival { age, survival };
            }
            let [before, after] = [age - width, age + width].map(|to| area_to(to, piece, &areas));
            let survival = (after - before) / (2.0 * width);
            AgeSurvival { age, survival }
        })
        .collect()
}

/// Returns the area under the curve of a piece up to `age`. `areas` contains the areas up to its
/// ages.
fn area_to(age: f64, piece: &[AgeSurvival], areas: &[f64]) -> f64 {
    let at = piece.partition_point(|one| one.age < age);
    let (from, to) = (piece[at.max(1) - 1], piece[at.clamp(1, piece.len() - 1)]);
    let part = (age - from.age) / (to.age - from.age);
    let survival = from.survival + part * (to.survival - from.survival);
    areas[at.max(1) - 1] + f64::midpoint(from.survival, survival) * (age - from.age)
}

/// Estimates survival; `None` without lifetimes. Weights must be positive. `near` is an estimate
/// from similar lifetimes; starting near it, a few rounds suffice.
///
/// The cost of a round is linear in the number of distinct lifetimes.
fn turnbull(lifetimes: &[(Lifetime, f64)], near: Option<&SurvivalCurve>) -> Option<SurvivalCurve> {
    let innermost = innermost_intervals(lifetimes);
    let mut estimate = Estimate::new(lifetimes, &innermost, near)?;
    let (rounds, distance) = match near {
        None => (SURVIVAL_ROUNDS, DISTANCE),
        Some(_) => (RESAMPLE_ROUNDS, RESAMPLE_DISTANCE),
    };
    let is_converged = (0..rounds).any(|_| estimate.improve(distance));
    let mut ages: Vec<u32> = Vec::new();
    for (lifetime, _) in lifetimes {
        let is_seen_living = 0 < lifetime.after || lifetime.until.is_none();
        ages.extend(is_seen_living.then_some(lifetime.after));
        ages.extend(lifetime.until);
    }
    ages.sort_unstable();
    ages.dedup();
    let ages = ages.into_iter().map(|age| {
        let reached = innermost.partition_point(|one| one.until.is_some_and(|until| until <= age));
        AgeSurvival {
            age: f64::from(age),
            survival: 1.0 - estimate.reached[reached],
        }
    });
    Some(SurvivalCurve {
        ages: ages.collect(),
        is_converged,
    })
}

/// Returns the innermost intervals, in order.
fn innermost_intervals(lifetimes: &[(Lifetime, f64)]) -> Vec<Lifetime> {
    // A border is an age and `true` for a start. At equal ages, ends sort before starts, because a
    // lifetime ends at an age or is longer than it.
    let mut borders: Vec<(u32, bool)> = Vec::new();
    for (lifetime, _) in lifetimes {
        borders.push((lifetime.after, true));
        borders.extend(lifetime.until.map(|until| (until, false)));
    }
    borders.sort_unstable();
    borders.dedup();
    let mut innermost: Vec<_> = borders
        .windows(2)
        .filter(|pair| pair[0].1 && !pair[1].1)
        .map(|pair| Lifetime {
            after: pair[0].0,
            until: Some(pair[1].0),
        })
        .collect();
    if let Some((after, true)) = borders.last().copied() {
        innermost.push(Lifetime { after, until: None });
    }
    innermost
}

/// A lifetime as a range of innermost intervals: from `from` to `to`, exclusive.
#[derive(Clone, Copy, Debug)]
struct Observation {
    from: usize,
    to: usize,
    weight: f64,
}

/// An estimate that is improved in rounds.
#[derive(Debug)]
struct Estimate {
    observations: Vec<Observation>,
    weight: f64,
    /// Cumulative probability of ending before each innermost interval, and after the last: from 0
    /// to 1.
    reached: Vec<f64>,
}

impl Estimate {
    fn new(
        lifetimes: &[(Lifetime, f64)],
        innermost: &[Lifetime],
        near: Option<&SurvivalCurve>,
    ) -> Option<Estimate> {
        let observations: Vec<_> = lifetimes
            .iter()
            .map(|&(lifetime, weight)| Observation {
                from: innermost.partition_point(|interval| interval.after < lifetime.after),
                to: match lifetime.until {
                    None => innermost.len(),
                    Some(limit) => innermost
                        .partition_point(|interval| interval.until.is_some_and(|end| end <= limit)),
                },
                weight,
            })
            .collect();
        (!observations.is_empty()).then(|| Estimate {
            weight: observations.iter().map(|one| one.weight).sum(),
            reached: first_estimate(&observations, innermost, near),
            observations,
        })
    }

    /// Improves the estimate by one round. Returns `true` if it is within `distance` of the
    /// maximum.
    fn improve(&mut self, distance: f64) -> bool {
        let gap = self.expect_and_maximize();
        if gap <= SMALLEST_GAP.max(distance / self.weight) {
            return true;
        }
        self.follow_minorant();
        false
    }

    /// Assigns each interval its expected share of the lifetimes. Returns the largest slope of the
    /// likelihood towards a single interval, relative to the weight, minus 1. It bounds the
    /// distance from the maximum.
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
        // The first value is 0 and the last is 1. Each value between them is the end of a lifetime.
        let aims: Vec<_> = (1..last)
            .map(|index| WeightedValue {
                value: self.reached[index] + gradient[index] / curvature[index],
                weight: curvature[index],
            })
            .collect();
        let fitted = isotonic(&aims);
        let before = log_likelihood(&self.observations, &self.reached);
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            let mut next = self.reached.clone();
            for (value, aim) in next[1..last].iter_mut().zip(&fitted) {
                *value += length * (aim.clamp(0.0, 1.0) - *value);
            }
            if before < log_likelihood(&self.observations, &next) {
                self.reached = next;
                return;
            }
            length /= 2.0;
        }
    }
}

fn log_likelihood(observations: &[Observation], reached: &[f64]) -> f64 {
    let logs = observations
        .iter()
        .map(|one| one.weight * (reached[one.to] - reached[one.from]).ln());
    logs.sum()
}

/// Returns the cumulative probabilities of a first estimate, which treats each end of a lifetime as
/// a separate check. If each link was checked once, it is the final estimate. Otherwise `near` is
/// the better starting point.
fn first_estimate(
    observations: &[Observation],
    innermost: &[Lifetime],
    near: Option<&SurvivalCurve>,
) -> Vec<f64> {
    let count = innermost.len();
    let mut ends = vec![
        WeightedValue {
            value: 0.0,
            weight: 0.0
        };
        count + 1
    ];
    for one in observations {
        ends[one.from].weight += one.weight;
        ends[one.to].weight += one.weight;
        ends[one.to].value += one.weight;
    }
    for end in &mut ends {
        end.value /= end.weight.max(f64::MIN_POSITIVE);
    }
    let mut reached = vec![0.0];
    reached.extend(isotonic(&ends[1..count]));
    reached.push(1.0);
    if log_likelihood(observations, &reached).is_finite() {
        return reached;
    }
    // A lifetime between two checks has probability 0 so far.
    if let Some(curve) = near {
        for (value, before) in reached[1..count].iter_mut().zip(innermost) {
            let until = before.until.map_or(f64::INFINITY, f64::from);
            *value = 1.0 - curve.survival_at(until);
        }
    }
    for (index, value) in reached.iter_mut().enumerate() {
        let even = f64::from(index as u32) / f64::from(count as u32);
        *value += EVEN_PART * (even - *value);
    }
    reached
}

/// A value with a positive weight.
#[derive(Clone, Copy, Debug, PartialEq)]
struct WeightedValue {
    value: f64,
    weight: f64,
}

/// A run of values replaced by their mean.
#[derive(Clone, Copy, Debug)]
struct Pool {
    mean: f64,
    weight: f64,
    len: usize,
}

/// Returns the non-decreasing values with the smallest weighted sum of squared distances to
/// `values`.
///
/// Runs in linear time.
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

/// A lifetime in months, as far as checks determine it: longer than `after`, and at most `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lifetime {
    /// Age at the last check that found the link alive; 0 if there is none.
    pub(super) after: u32,
    /// Age at the first later check that found the link dead; `None` if there is none. Greater than
    /// `after`.
    pub(super) until: Option<u32>,
}

/// Lifetimes of links by host, with the total weight of the links.
#[derive(Clone, Debug, Default)]
pub(super) struct HostLifetimes(BTreeMap<(u32, Lifetime), f64>);

/// A survival curve and its half-life.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Survival {
    pub(super) curve: SurvivalCurve,
    pub(super) half_life: HalfLife,
    /// The 95 % interval of the half-life.
    pub(super) interval: HalfLife,
}

/// A host's part of the weight of a lifetime.
#[derive(Clone, Copy, Debug)]
struct LifetimePart {
    host: usize,
    lifetime: usize,
    weight: f64,
}

impl HostLifetimes {
    pub(super) fn add(&mut self, host: u32, lifetime: Lifetime, weight: f64) {
        *self.0.entry((host, lifetime)).or_default() += weight;
    }

    /// Returns the distinct lifetimes in order, each with its weight.
    pub(super) fn distinct(&self) -> Vec<(Lifetime, f64)> {
        let mut sums: BTreeMap<Lifetime, f64> = BTreeMap::new();
        for ((_, lifetime), weight) in &self.0 {
            *sums.entry(*lifetime).or_default() += weight;
        }
        sums.into_iter().collect()
    }

    /// Estimates survival; `None` without lifetimes.
    pub(super) fn survival(&self) -> Option<Survival> {
        let lifetimes = self.distinct();
        let curve = turnbull(&lifetimes, None)?;
        Some(Survival {
            half_life: curve.half_life(),
            interval: self.half_life_interval(&lifetimes, &curve),
            curve,
        })
    }

    /// Returns the interval of the half-life, from estimates of resampled hosts. The percentiles
    /// are expanded to correct for a small number of hosts (Hesterberg 2015).
    fn half_life_interval(&self, lifetimes: &[(Lifetime, f64)], curve: &SurvivalCurve) -> HalfLife {
        let (parts, hosts) = self.parts(lifetimes);
        let Some(freedom) = hosts.freedom() else {
            return HalfLife {
                low: 0.0,
                high: f64::INFINITY,
            };
        };
        let drawn: Vec<HalfLife> = (0..SURVIVAL_RESAMPLES)
            .into_par_iter()
            .filter_map(|seed| resampled(&parts, lifetimes.to_vec(), curve, seed))
            .collect();
        let tail = normal_tail(t_quantile(freedom) * (1.0 + 1.0 / freedom).sqrt());
        let tail = tail * f64::from(SURVIVAL_RESAMPLES);
        let outside = (1..SURVIVAL_RESAMPLES)
            .take_while(|number| f64::from(*number) <= tail)
            .count();
        let mut lows: Vec<f64> = drawn.iter().map(|half| half.low).collect();
        let mut highs: Vec<f64> = drawn.iter().map(|half| half.high).collect();
        lows.sort_unstable_by(f64::total_cmp);
        highs.sort_unstable_by(|a, b| b.total_cmp(a));
        HalfLife {
            low: lows[outside],
            high: highs[outside],
        }
    }

    /// Returns the weight of each host in each lifetime, sorted by host, and the total weights of
    /// the hosts.
    fn parts(&self, lifetimes: &[(Lifetime, f64)]) -> (Vec<LifetimePart>, Trials) {
        let (mut parts, mut hosts): (Vec<LifetimePart>, Trials) = (Vec::new(), Trials::default());
        let (mut number, mut weight_of_host, mut last) = (0, 0.0, None);
        for ((host, lifetime), weight) in &self.0 {
            if last.replace(host).is_some_and(|last| last != host) {
                hosts.add(std::mem::take(&mut weight_of_host));
                number += 1;
            }
            weight_of_host += weight;
            parts.push(LifetimePart {
                host: number,
                lifetime: lifetimes.partition_point(|(other, _)| other < lifetime),
                weight: *weight,
            });
        }
        hosts.add(weight_of_host);
        (parts, hosts)
    }
}

/// Returns the half-life of a bootstrap sample of the hosts, drawn with replacement. The result
/// depends only on `seed`.
fn resampled(
    parts: &[LifetimePart],
    mut lifetimes: Vec<(Lifetime, f64)>,
    curve: &SurvivalCurve,
    seed: u32,
) -> Option<HalfLife> {
    let hosts = parts.last()?.host + 1;
    let mut times = vec![0_u32; hosts];
    let mut random = SplitMix(u64::from(seed));
    for _ in 0..hosts {
        times[random.below(hosts)] += 1;
    }
    lifetimes.iter_mut().for_each(|(_, weight)| *weight = 0.0);
    for part in parts {
        lifetimes[part.lifetime].1 += f64::from(times[part.host]) * part.weight;
    }
    lifetimes.retain(|(_, weight)| 0.0 < *weight);
    Some(turnbull(&lifetimes, Some(curve))?.half_life())
}

/// Random number generator, determined by its seed (Steele, Lea and Flood 2014).
pub(super) struct SplitMix(pub(super) u64);

impl SplitMix {
    /// Returns a number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let number = u128::from(mixed ^ (mixed >> 31)) * limit as u128;
        (number >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the share of successful trials, given the weight and outcome of each. `host` returns
    /// the host number of a trial.
    fn share_of(trials: &[(f64, bool)], host: impl Fn(usize) -> usize) -> Option<Share> {
        let (mut all, mut successes) = (Trials::default(), 0.0);
        let mut hosts = Vec::new();
        for (number, &(weight, is_success)) in trials.iter().enumerate() {
            let host = host(number);
            let none = HostPart {
                weight: 0.0,
                successes: 0.0,
            };
            hosts.resize(hosts.len().max(host + 1), none);
            all.add(weight);
            hosts[host].weight += weight;
            if is_success {
                successes += weight;
                hosts[host].successes += weight;
            }
        }
        all.share(successes, &hosts)
    }

    #[track_caller]
    fn check_wilson(successes: u32, trials: u32, low: f64, high: f64) {
        let share = f64::from(successes) / f64::from(trials);
        let found = wilson_interval(share, f64::from(trials), Z);
        let error = (found.low - low).abs().max((found.high - high).abs());
        assert!(error < 1e-12, "{successes} of {trials}: {found:?}");
    }

    /// Values of `statsmodels.stats.proportion.proportion_confint(..., method="wilson")`, version
    /// 0.15.0.
    #[test]
    fn the_interval_matches_published_wilson_intervals() {
        check_wilson(0, 1, 0.0, 0.793_450_685_622_763);
        check_wilson(1, 1, 0.206_549_314_377_237, 1.0);
        check_wilson(0, 10, 0.0, 0.277_532_799_862_889);
        check_wilson(3, 10, 0.107_791_267_406_301, 0.603_221_852_538_855);
        check_wilson(10, 10, 0.722_467_200_137_111, 1.0);
        check_wilson(38, 100, 0.290_975_992_524_787, 0.477_902_447_044_889);
        check_wilson(1, 600_000, 0.000_000_294_207_652, 0.000_009_441_494_717);
    }

    /// Values of `scipy.stats.t.ppf(0.975, ...)` and `scipy.stats.norm.sf(...)`.
    #[test]
    fn quantiles_match_the_distributions() {
        for (freedom, expected) in [(2.0, 4.3027), (3.5, 2.9352), (10.0, 2.2281), (1e9, Z)] {
            let error = t_quantile(freedom) / expected - 1.0;
            assert!(error.abs() < 0.01, "{freedom}: {error}");
        }
        assert!((t_quantile(0.5) - t_quantile(1.0)).abs() < 1e-12);
        for (quantile, expected) in [(0.0, 0.5), (Z, 0.025), (3.0, 0.001_349_898)] {
            assert!(
                (normal_tail(quantile) - expected).abs() < 1e-7,
                "{quantile}"
            );
        }
    }

    /// Twenty hosts with ten links each. If all links of a host have the same outcome, the interval
    /// is as wide as for twenty links.
    #[test]
    fn links_that_die_together_count_once() {
        let trials: Vec<_> = (0..200).map(|number| (1.0, number / 10 < 8)).collect();
        let by_host = share_of(&trials, |number| number / 10).unwrap();
        let Interval { low, high } = by_host.interval.unwrap();
        assert!((by_host.share - 0.4).abs() < 1e-12);
        assert!(
            (low - 0.20).abs() < 0.01 && (high - 0.64).abs() < 0.01,
            "{low} {high}"
        );
        let alone = share_of(&trials, |number| number % 20).unwrap();
        let Interval { low, high } = alone.interval.unwrap();
        assert!(
            (low - 0.33).abs() < 0.01 && (high - 0.47).abs() < 0.01,
            "{low} {high}"
        );
        assert_eq!(share_of(&trials, |_| 0).unwrap().interval, None);
        let all_dead = vec![(1.0, true); 200];
        let Interval { low, high } = share_of(&all_dead, |number| number / 10)
            .and_then(|share| share.interval)
            .unwrap();
        assert!((low - 0.82).abs() < 0.01 && 1.0 <= high, "{low} {high}");
        assert_eq!(share_of(&[], |_| 0), None);
    }

    #[test]
    fn scaling_all_weights_changes_nothing() {
        let weighted = |weight| {
            let trials: Vec<_> = (0..50).map(|trial| (weight, trial % 3 == 0)).collect();
            share_of(&trials, |number| number / 4).unwrap().interval
        };
        let (one, eight) = (weighted(1.0).unwrap(), weighted(8.0).unwrap());
        assert!((one.low - eight.low).abs() < 1e-12 && (one.high - eight.high).abs() < 1e-12);
    }

    fn counts(lifetimes: &[(u32, Option<u32>, f64)]) -> Vec<(Lifetime, f64)> {
        let mut counts = HostLifetimes::default();
        for &(after, until, weight) in lifetimes {
            counts.add(0, Lifetime { after, until }, weight);
        }
        counts.distinct()
    }

    fn curve_of(lifetimes: &[(u32, Option<u32>, f64)]) -> SurvivalCurve {
        turnbull(&counts(lifetimes), None).unwrap()
    }

    /// Checks that survival falls at the end of each expected step and nowhere else.
    #[track_caller]
    fn check(lifetimes: &[(u32, Option<u32>, f64)], expected: &[(u32, u32, f64)]) {
        let curve = curve_of(lifetimes);
        for one in &curve.ages {
            let fallen = expected.iter().rfind(|step| f64::from(step.1) <= one.age);
            let error = one.survival - fallen.map_or(1.0, |step| step.2);
            assert!(error.abs() < 2e-4, "{one:?}");
        }
        assert!(curve.is_converged);
    }

    /// If each link was checked once, the estimate is the isotonic regression of the shares by age.
    #[test]
    fn one_check_per_link_yields_isotonic_shares() {
        let mut lifetimes = Vec::new();
        let shares = [(12, 90.0), (24, 70.0), (36, 80.0), (48, 40.0)];
        for (age, living) in shares {
            lifetimes.push((age, None, living));
            lifetimes.push((0, Some(age), 100.0 - living));
        }
        check(&lifetimes, &[(0, 12, 0.9), (12, 24, 0.75), (36, 48, 0.4)]);
        let HalfLife { low, high } = curve_of(&lifetimes).half_life();
        assert!(44.0 < low && low < 47.0 && low >= high, "{low} {high}");
    }

    /// For exact and right-censored lifetimes, the estimate is Kaplan and Meier's: 5/6, then 5/6 *
    /// 2/4, then 0.
    #[test]
    fn exact_lifetimes_yield_the_kaplan_meier_estimate() {
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

    /// Months until breast retraction after radiotherapy (Finkelstein and Wolfe 1985), the usual
    /// example. The probabilities are published, for instance in the R package `interval`.
    #[test]
    fn the_textbook_example_matches_published_values() {
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
        let mut survival = 1.0;
        let steps = masses.map(|(after, until, mass)| {
            survival -= mass;
            (after, until, survival)
        });
        check(&lifetimes, &steps);
    }

    /// Returns links with a median lifetime of `median` months, checked once, on 20 hosts per age.
    fn checked_once(ages: impl Iterator<Item = u32>, median: f64) -> HostLifetimes {
        let mut lifetimes = HostLifetimes::default();
        for (number, age) in ages.flat_map(|age| [age; 20]).enumerate() {
            let survival = (-f64::from(age) / median).exp2();
            for (after, until, weight) in [(age, None, survival), (0, Some(age), 1.0 - survival)] {
                lifetimes.add(number as u32, Lifetime { after, until }, weight);
            }
        }
        lifetimes
    }

    /// Ages without a check determine nothing. Medians of 3, 6, 15 and 60 years, with ages of 9 to
    /// 11 and 30 to 31 years.
    #[test]
    fn a_half_life_outside_the_ages_is_reported_as_bounds() {
        let infinite = f64::INFINITY;
        for (years, low, high) in [
            (3.0, 0.0, 108.0),
            (6.0, 0.0, 108.0),
            (15.0, 132.0, 360.0),
            (60.0, 372.0, infinite),
        ] {
            let ages = || (108..=132).chain(360..=372);
            let survival = checked_once(ages(), years * 12.0).survival().unwrap();
            let expected = HalfLife { low, high };
            assert_eq!(survival.half_life, expected, "{years}");
            assert_eq!(survival.interval, expected, "{years}");
            assert_eq!(survival.curve.pieces().count(), 2);
        }
        let inside = checked_once(1..=408, 72.0).survival().unwrap();
        assert!((inside.half_life.low - 72.0).abs() < 1.0 && inside.curve.pieces().count() == 1);
        let mut one_host = HostLifetimes::default();
        for (lifetime, weight) in checked_once(1..=408, 72.0).distinct() {
            one_host.add(0, lifetime, weight);
        }
        let HalfLife { low, high } = one_host.survival().unwrap().interval;
        assert!(low <= 0.0 && high.is_infinite());
        assert_eq!(HostLifetimes::default().survival(), None);
    }

    #[test]
    fn the_number_of_threads_changes_no_interval() {
        let estimate = || checked_once((1..=408).step_by(7), 90.0).survival();
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        assert_eq!(
            pool(1).unwrap().install(estimate),
            pool(3).unwrap().install(estimate)
        );
    }

    /// No shift of probability towards a single interval raises the likelihood. This proves the
    /// maximum because the likelihood is concave.
    #[test]
    fn estimates_maximize_the_likelihood() {
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
            let mut estimate = Estimate::new(&counts, &innermost, None).unwrap();
            assert!(
                (0..SURVIVAL_ROUNDS).any(|_| estimate.improve(DISTANCE)),
                "{size}"
            );
            let gap = estimate.expect_and_maximize();
            assert!(gap <= SMALLEST_GAP.max(DISTANCE / estimate.weight) * 2.0);
            assert!(estimate.reached.is_sorted(), "{:?}", estimate.reached);
        }
    }

    /// Links of thirty years, checked twelve times.
    #[test]
    fn few_rounds_suffice() {
        let mut counts = HostLifetimes::default();
        for month in 1..360_u32 {
            for check in 0..12 {
                let age = month + 6 * check;
                let weight = f64::from(1 + (month * 7 + check * 13) % 50);
                for (after, until) in [(age, Some(age + 6)), (age, None), (0, Some(age))] {
                    counts.add(0, Lifetime { after, until }, weight);
                }
            }
        }
        let counts = counts.distinct();
        let innermost = innermost_intervals(&counts);
        let mut estimate = Estimate::new(&counts, &innermost, None).unwrap();
        let rounds = (0..SURVIVAL_ROUNDS)
            .find(|_| estimate.improve(DISTANCE))
            .unwrap();
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
    fn violators_are_replaced_by_their_weighted_mean() {
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

    /// Returns the fit by its explicit formula: for each position, the maximum over block starts of
    /// the minimum over block ends of the block mean.
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
    fn the_fit_matches_the_formula() {
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
