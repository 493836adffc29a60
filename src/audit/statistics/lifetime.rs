//! Lifetimes that are known only as intervals, because links are checked now and then.

use std::collections::BTreeMap;

/// A lifetime in months, as far as checks show it: longer than `after`, and at most `until`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::audit) struct Lifetime {
    /// Age at the last check that found the link living; 0 without one.
    pub(in crate::audit) after: u32,
    /// Age at the first check after it that found the link dead; `None` if there is none. Larger than `after`.
    pub(in crate::audit) until: Option<u32>,
}

/// Lifetimes and the sums of the weights of the links that have them.
#[derive(Clone, Debug, Default)]
pub(in crate::audit) struct LifetimeCounts(BTreeMap<Lifetime, f64>);

impl LifetimeCounts {
    /// Counts a link.
    pub(in crate::audit) fn add(&mut self, lifetime: Lifetime, weight: f64) {
        *self.0.entry(lifetime).or_default() += weight;
    }

    /// The distinct lifetimes in order, each with its weight.
    pub(in crate::audit) fn iter(&self) -> impl Iterator<Item = (Lifetime, f64)> {
        self.0.iter().map(|(lifetime, weight)| (*lifetime, *weight))
    }
}
