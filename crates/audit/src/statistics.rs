//! The statistics of a report: shares and survival, with intervals whose unit is the host.
//!
//! Links of one host die together, so hosts are the independent observations. Intervals of shares
//! are Wilson score intervals of an effective number of links, from the variance between hosts; the
//! interval of the half-life is that of a bootstrap over hosts.
//!
//! Survival is Turnbull's non-parametric maximum likelihood estimate from interval-censored
//! lifetimes: links are checked now and then. The likelihood can be raised only by probability in
//! the innermost intervals: those from the start of one lifetime to the end of another with no
//! start or end between. Rounds of expectation and maximization alternate with the iterative convex
//! minorant (Wellner and Zhan 1997) until the gradient proves that no estimate is likelier by more
//! than [`DISTANCE`]. It is determined at the ages of checks alone.

use std::collections::BTreeMap;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use urlspool_text::limits::{SURVIVAL_RESAMPLES, SURVIVAL_ROUNDS};

/// The quantile of the normal distribution for an interval that holds the true value 95 times in
/// 100.
const Z: f64 = 1.959_963_984_540_054;

/// An interval, such as the confidence interval of 95 % of a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    /// Its lower end: of a share at least 0.
    pub(super) low: f64,
    /// Its upper end: of a share at most 1.
    pub(super) high: f64,
}

/// An estimated share and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    /// The estimate, from 0 to 1.
    pub(super) share: f64,
    /// The interval, which holds the estimate; `None` if all links are of one host.
    pub(super) interval: Option<Interval>,
}

impl Share {
    /// The share of those that are not counted in this one.
    pub(super) fn of_the_others(self) -> Share {
        Share {
            share: 1.0 - self.share,
            interval: self.interval.map(|ends| Interval {
                low: 1.0 - ends.high,
                high: 1.0 - ends.low,
            }),
        }
    }
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

    /// Kish's effective number of the trials: their number if all weights are equal.
    fn effective(self) -> f64 {
        self.weight * self.weight / self.squares
    }

    /// The number of degrees of freedom of a mean of the trials; `None` of one.
    fn freedom(self) -> Option<f64> {
        let freedom = self.effective() - 1.0;
        (SMALLEST_GAP < freedom).then_some(freedom)
    }

    /// Returns the share of the trials that succeeded, whose weight is `successes`; `None` without
    /// trials. `hosts` are the parts of the trials and of the successes that each host has.
    pub(super) fn share(self, successes: f64, hosts: &[HostPart]) -> Option<Share> {
        if self.weight <= 0.0 {
            return None;
        }
        // Rounding may raise the sum of the successes above that of all.
        let share = (successes / self.weight).min(1.0);
        Some(Share {
            share,
            interval: cluster_interval(share, self.effective(), hosts),
        })
    }
}

/// The weights of the trials of a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HostPart {
    pub(super) weight: f64,
    pub(super) successes: f64,
}

/// Returns the mean of the shares of the hosts, each counted once; `None` without hosts.
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
        // The links of a host are more than one trial.
        interval: cluster_interval(share, f64::INFINITY, &shares),
    })
}

/// The interval of a share of links that die by host; `None` with one host.
///
/// The variance is that between hosts, each divided by what the others have (Bell and `McCaffrey`
/// 2002). It gives the number of independent trials with an equal variance, at most `links`. Where
/// all trials ended alike each host counts as one trial, Kish's effective number of hosts. One less
/// is the number of degrees of freedom, by which the Wilson interval is widened.
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

/// The Wilson score interval of a share that was observed in a number of trials. `quantile` is that
/// of its distribution: [`Z`] if its variance is known.
fn wilson_interval(share: f64, trials: f64, quantile: f64) -> Interval {
    let spread = quantile * quantile / trials;
    let center = (share + spread / 2.0) / (1.0 + spread);
    let variance = share * (1.0 - share) / trials + spread / (4.0 * trials);
    let half_width = quantile * variance.sqrt() / (1.0 + spread);
    // Rounding may move an end beyond the share when that is 0 or 1.
    Interval {
        low: (center - half_width).clamp(0.0, share),
        high: (center + half_width).clamp(share, 1.0),
    }
}

/// The quantile of Student's distribution that corresponds to [`Z`], by the expansion of Fisher and
/// Cornish: within 1 % from two degrees of freedom on. Fewer count as one.
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

/// The probability of a normal distribution above `quantile`, which is not negative: Abramowitz and
/// Stegun 26.2.17, within 1e-7.
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

/// Distance from the maximum of the logarithm of the likelihood at which the estimate ends. A
/// standard error is a distance of 0.5.
const DISTANCE: f64 = 1e-6;

/// Distance from that maximum at which an estimate of a bootstrap ends.
const RESAMPLE_DISTANCE: f64 = 0.05;

/// Maximum number of rounds of an estimate of a bootstrap, which begins at that of all hosts. The
/// first rounds do most.
const RESAMPLE_ROUNDS: u32 = 8;

/// Part of a first estimate that gives each innermost interval the same probability, so that none
/// begins empty.
const EVEN_PART: f64 = 0.02;

/// The relative distance that rounding allows.
const SMALLEST_GAP: f64 = 1e-9;

/// Halvings of a step that does not raise the likelihood, after which it is given up.
const HALVINGS: u32 = 40;

/// Months without a check at which the curve has a gap.
const GAP_MONTHS: u32 = 12;

/// The share of links that survive to an age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AgeSurvival {
    /// In months.
    pub(super) age: f64,
    pub(super) survival: f64,
}

/// The share of links that survive, at the ages of checks: nothing is known of others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SurvivalCurve {
    /// In the order of the ages. Survival does not rise.
    pub(super) ages: Vec<AgeSurvival>,
    /// `false` if the estimate ended at [`SURVIVAL_ROUNDS`].
    pub(super) is_converged: bool,
}

/// The ages in months between which half of the links have ended; equal if that age is known. The lower
/// end is 0 before the first age at which links were checked, the upper one infinite after the last.
pub(super) type HalfLife = Interval;

impl SurvivalCurve {
    /// The pieces of the curve between its gaps, smoothed, as corners of lines.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Vec<AgeSurvival>> {
        let ages = &self.ages;
        ages.chunk_by(|one, next| next.age - one.age <= f64::from(GAP_MONTHS))
            .map(smoothed)
    }

    /// The survival at the last age of checks up to `age`.
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

/// Part of an age by which survival is smoothed to both sides, as far as the piece goes.
const SMOOTHED_PART: f64 = 0.1;

/// Returns the mean survival around each age of a piece. Of such means the bootstrap has the
/// distribution of the estimate, while it errs on the steps themselves (Groeneboom and Hendrickx
/// 2017).
fn smoothed(piece: &[AgeSurvival]) -> Vec<AgeSurvival> {
    // Areas below the curve from the first age to each, straight lines connecting the ages.
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

/// Returns the area below the curve of a piece to `age`. `areas` are those to its ages.
fn area_to(age: f64, piece: &[AgeSurvival], areas: &[f64]) -> f64 {
    let at = piece.partition_point(|one| one.age < age);
    let (from, to) = (piece[at.max(1) - 1], piece[at.clamp(1, piece.len() - 1)]);
    let part = (age - from.age) / (to.age - from.age);
    let survival = from.survival + part * (to.survival - from.survival);
    areas[at.max(1) - 1] + f64::midpoint(from.survival, survival) * (age - from.age)
}

/// Estimates survival; `None` without lifetimes, whose weights are positive. `near` is an estimate
/// from similar lifetimes, near which few rounds suffice.
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

/// The innermost intervals, in order.
fn innermost_intervals(lifetimes: &[(Lifetime, f64)]) -> Vec<Lifetime> {
    // A border is an age, and `true` for a start: a lifetime that is longer than an age begins after
    // those that end there.
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

    /// Improves the estimate by one round. Returns `true` if it needs no more: it is at most `distance`
    /// from the maximum.
    fn improve(&mut self, distance: f64) -> bool {
        let gap = self.expect_and_maximize();
        if gap <= SMALLEST_GAP.max(distance / self.weight) {
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

/// Returns the probabilities of ending before each innermost interval, and after the last, as if each
/// end of a lifetime were a check of its own. With one check of each link they are the estimate; else
/// that which is `near` is the better start.
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
    // A lifetime between two checks has no probability yet.
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

/// Lifetimes of links by host, and the sums of the weights of the links that have them.
#[derive(Clone, Debug, Default)]
pub(super) struct HostLifetimes(BTreeMap<(u32, Lifetime), f64>);

/// A survival curve, and its half-life.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Survival {
    pub(super) curve: SurvivalCurve,
    pub(super) half_life: HalfLife,
    /// The interval of 95 % of the half-life.
    pub(super) interval: HalfLife,
}

/// A part of the weight of a lifetime: that of a host.
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

    /// The distinct lifetimes in order, each with its weight.
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

    /// The interval of the half-life, from estimates of as many hosts, drawn with replacement. Its
    /// percentiles are expanded as few hosts need it (Hesterberg 2015).
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

    /// The weights of the hosts in each lifetime, in the order of the hosts, and those of the hosts.
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

/// Returns the half-life of as many hosts as there are, drawn with replacement. The same `seed` draws
/// the same hosts.
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

/// Random numbers that depend on the seed alone (Steele, Lea and Flood 2014).
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

    /// Returns the share of successful trials, given the weight and the success of each. `hosts` gives
    /// the number of the host of a trial.
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
    fn the_interval_is_that_of_wilson() {
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
    fn quantiles_are_those_of_the_distributions() {
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

    /// Twenty hosts of ten links. If all links of a host end alike, the interval is as wide as that of
    /// twenty links.
    #[test]
    fn links_that_die_by_host_count_once() {
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
    fn a_factor_of_all_weights_changes_nothing() {
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

    /// Survival falls at each age at the end of an expected step, and at no other.
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
        let HalfLife { low, high } = curve_of(&lifetimes).half_life();
        assert!(44.0 < low && low < 47.0 && low >= high, "{low} {high}");
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
        let mut survival = 1.0;
        let steps = masses.map(|(after, until, mass)| {
            survival -= mass;
            (after, until, survival)
        });
        check(&lifetimes, &steps);
    }

    /// Links that half survive to `median` months, of 20 hosts for each of these ages, checked once.
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

    /// The ages at which nothing was checked determine nothing: medians of 3, 6, 15 and 60 years with
    /// ages of 9 to 11 and 30 to 31 years.
    #[test]
    fn a_half_life_outside_the_ages_is_said_by_bounds() {
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
