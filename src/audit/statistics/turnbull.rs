//! Turnbull's non-parametric maximum likelihood estimate of survival from interval-censored lifetimes.
//!
//! The likelihood can be raised only by probability in the innermost intervals: those from the start of one lifetime to the end of
//! another with no start or end between. Rounds of expectation and maximization alternate with the iterative convex minorant
//! (Wellner and Zhan 1997) until the gradient proves that no estimate is likelier by more than [`DISTANCE`].

use super::isotonic::{WeightedValue, isotonic};
use super::lifetime::{Lifetime, LifetimeCounts};
use crate::limits::SURVIVAL_ROUNDS;

/// Distance from the maximum of the logarithm of the likelihood at which the estimate ends. A standard error is a distance of 0.5.
const DISTANCE: f64 = 1e-6;

/// The relative distance that rounding allows.
const SMALLEST_GAP: f64 = 1e-9;

/// Probability below which an interval counts as empty.
const EMPTY: f64 = 1e-9;

/// Halvings of a step that does not raise the likelihood, after which it is given up.
const HALVINGS: u32 = 40;

/// An interval of ages in which links end, in months, and the share that survives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::audit) struct SurvivalStep {
    /// Survival begins to fall after this age.
    pub(in crate::audit) after: u32,
    /// It has fallen at this age. Lifetimes do not show how it falls between.
    pub(in crate::audit) until: u32,
    /// The share of links that survive.
    pub(in crate::audit) survival: f64,
}

/// The share of links that survive to an age.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::audit) struct SurvivalCurve {
    /// Intervals in order. Between them survival stays as it is.
    pub(in crate::audit) steps: Vec<SurvivalStep>,
    /// The age in months after which nothing is known.
    pub(in crate::audit) end: u32,
    /// `false` if the estimate ended at [`SURVIVAL_ROUNDS`].
    pub(in crate::audit) is_converged: bool,
}

/// The age in months at which half of the links survive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::audit) enum HalfLife {
    /// Survival falls to one half or below in this interval.
    Between { after: u32, until: u32 },
    /// More than half survive to the end of what is known.
    NotReached { survival: f64 },
}

impl SurvivalCurve {
    /// Returns the half-life.
    pub(in crate::audit) fn half_life(&self) -> HalfLife {
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
pub(in crate::audit) fn turnbull(lifetimes: &LifetimeCounts) -> Option<SurvivalCurve> {
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
    /// In the order of borders at one age: a lifetime that is longer than an age begins after those that end there.
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

    /// Gives each interval the share of the lifetimes that are expected in it. Returns the largest slope of the likelihood towards
    /// one interval, relative to the weight; it bounds the distance from the maximum.
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

#[cfg(test)]
mod tests;
