//! Counters with bounded memory: distinct values, and the most frequent names.
//!
//! The number of distinct values is exact up to a limit, then a `HyperLogLog` estimate. P.
//! Flajolet, É. Fusy, O. Gandouet and F. Meunier, "`HyperLogLog`: the analysis of a near-optimal
//! cardinality estimation algorithm", 2007. With 64-bit hashes, large numbers need no correction.
//!
//! Counts of names are exact up to a limit, then their error is bounded. J. Misra and D. Gries,
//! "Finding repeated elements", 1982, decrementing by whole batches: when there is no room for a
//! new name, the median of all counts is subtracted from each count, and names whose count reaches
//! zero are dropped. The amortized cost per name is constant.

use std::collections::{HashMap, HashSet};

use twox_hash::XxHash3_64;

use urlspool_text::limits::{
    STATS_EXACT, STATS_NAME_BYTES, STATS_NAMES, STATS_NAMES_BYTES, STATS_REGISTER_BITS,
};

/// A count and its possible error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The count.
    pub count: u64,
    /// Relative error that 19 of 20 estimates do not exceed; `None` if the count is exact.
    pub error: Option<f64>,
}

impl Estimate {
    /// Returns the estimate of the registers, or the exact count if there are none.
    fn of(exact: usize, registers: Option<&Registers>) -> Estimate {
        let exact = Estimate {
            count: exact as u64,
            error: None,
        };
        registers.map_or(exact, Registers::estimate)
    }
}

/// Counter of distinct values.
#[derive(Clone, Debug)]
pub struct DistinctCount {
    max_exact: usize,
    /// Hashes of all values, until there are more than `max_exact`.
    hashes: HashSet<u64>,
    registers: Option<Registers>,
}

impl Default for DistinctCount {
    fn default() -> DistinctCount {
        DistinctCount::with_limit(STATS_EXACT)
    }
}

impl DistinctCount {
    /// Creates a counter that is exact up to `max_exact` values.
    fn with_limit(max_exact: usize) -> DistinctCount {
        DistinctCount {
            max_exact,
            hashes: HashSet::new(),
            registers: None,
        }
    }

    /// Counts a value.
    pub(super) fn add(&mut self, value: &[u8]) {
        let hash = XxHash3_64::oneshot(value);
        if let Some(registers) = &mut self.registers {
            return registers.add(hash);
        }
        self.hashes.insert(hash);
        if self.max_exact < self.hashes.len() {
            let registers = self.registers.insert(Registers::default());
            let hashes = std::mem::take(&mut self.hashes);
            hashes.into_iter().for_each(|hash| registers.add(hash));
        }
    }

    /// Returns the number of values.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        Estimate::of(self.hashes.len(), self.registers.as_ref())
    }
}

/// Number of registers.
const REGISTERS: usize = 1 << STATS_REGISTER_BITS;

/// Registers of an estimate. The first bits of a hash select its group; each group keeps the
/// maximum number of leading zeros in the remaining bits, plus one.
#[derive(Clone, Debug)]
struct Registers(Vec<u8>);

impl Default for Registers {
    fn default() -> Registers {
        Registers(vec![0; REGISTERS])
    }
}

impl Registers {
    fn add(&mut self, hash: u64) {
        let group = (hash >> (u64::BITS - STATS_REGISTER_BITS)) as usize;
        // The added bit stops the count of zeros if all remaining bits are zero.
        let rest = hash << STATS_REGISTER_BITS | 1 << (STATS_REGISTER_BITS - 1);
        let rank = rest.leading_zeros() as u8 + 1;
        self.0[group] = self.0[group].max(rank);
    }

    fn estimate(&self) -> Estimate {
        let registers = f64::from(1_u32 << STATS_REGISTER_BITS);
        let sum: f64 = self.0.iter().map(|rank| 0.5_f64.powi((*rank).into())).sum();
        let alpha = 0.7213 / (1.0 + 1.079 / registers);
        let raw = alpha * registers * registers / sum;
        let free = f64::from(memchr::memchr_iter(0, &self.0).count() as u32);
        // For few values, the number of empty registers is more accurate.
        let is_small = raw <= 2.5 * registers && 0.0 < free;
        let count = if is_small {
            registers * (registers / free).ln()
        } else {
            raw
        };
        Estimate {
            #[expect(clippy::cast_sign_loss, reason = "all terms are positive")]
            count: count.round() as u64,
            error: Some(2.0 * 1.04 / registers.sqrt()),
        }
    }
}

/// A name and its number of URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopName<'t> {
    /// The name.
    pub name: &'t str,
    /// Lower bound of the number of URLs; exact if [`TopList::error`] is 0.
    pub count: u64,
}

/// Counter of names.
#[derive(Clone, Debug)]
pub struct TopList {
    max_names: usize,
    max_bytes: usize,
    counts: HashMap<Box<str>, u64>,
    /// Total length of the names, in bytes.
    bytes: usize,
    /// Sum of the amounts subtracted from each count.
    taken: u64,
    /// Registers of all names so far, once some were dropped.
    names: Option<Registers>,
}

impl Default for TopList {
    fn default() -> TopList {
        TopList::with_limits(STATS_NAMES, STATS_NAMES_BYTES)
    }
}

impl TopList {
    fn with_limits(max_names: usize, max_bytes: usize) -> TopList {
        TopList {
            max_names,
            max_bytes,
            counts: HashMap::new(),
            bytes: 0,
            taken: 0,
            names: None,
        }
    }

    /// Counts URLs of a name.
    pub(super) fn add(&mut self, name: &str, urls: u64) {
        let name = &name[..name.floor_char_boundary(STATS_NAME_BYTES)];
        if let Some(count) = self.counts.get_mut(name) {
            *count += urls;
            return;
        }
        let is_full = self.max_names <= self.counts.len()
            || self.max_bytes < self.bytes + name.len() && !self.counts.is_empty();
        if is_full {
            self.make_room();
        }
        if let Some(names) = &mut self.names {
            names.add(XxHash3_64::oneshot(name.as_bytes()));
        }
        self.bytes += name.len();
        self.counts.insert(name.into(), urls);
    }

    /// Subtracts the median of all counts from each count, which drops at least half of the names.
    fn make_room(&mut self) {
        if self.names.is_none() {
            let mut names = Registers::default();
            for name in self.counts.keys() {
                names.add(XxHash3_64::oneshot(name.as_bytes()));
            }
            self.names = Some(names);
        }
        let mut counts: Vec<u64> = self.counts.values().copied().collect();
        let middle = counts.len() / 2;
        let median = *counts.select_nth_unstable(middle).1;
        self.taken += median;
        self.counts.retain(|_, count| {
            *count = count.saturating_sub(median);
            0 < *count
        });
        self.bytes = self.counts.keys().map(|name| name.len()).sum();
    }

    /// Returns the maximum amount by which a count may be too small. A name that is missing has at
    /// most this many URLs. Returns 0 if all counts are exact.
    #[must_use]
    pub fn error(&self) -> u64 {
        self.taken
    }

    /// Returns the number of names.
    #[must_use]
    pub fn names(&self) -> Estimate {
        Estimate::of(self.counts.len(), self.names.as_ref())
    }

    /// Returns the `max` names with the most URLs. Names with equal counts are ordered
    /// alphabetically.
    #[must_use]
    pub fn top(&self, max: usize) -> Vec<TopName<'_>> {
        let names = self.counts.iter();
        let mut names: Vec<_> = names
            .map(|(name, count)| TopName {
                name,
                count: *count,
            })
            .collect();
        let order =
            |a: &TopName<'_>, b: &TopName<'_>| b.count.cmp(&a.count).then(a.name.cmp(b.name));
        if max < names.len() && 0 < max {
            names.select_nth_unstable_by(max - 1, order);
        }
        names.truncate(max);
        names.sort_unstable_by(order);
        names
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counted(max_exact: usize, values: impl Iterator<Item = u64>) -> Estimate {
        let mut count = DistinctCount::with_limit(max_exact);
        values.for_each(|value| count.add(&value.to_le_bytes()));
        count.estimate()
    }

    #[test]
    fn values_are_counted_exactly_up_to_the_limit() {
        let exact = |count| Estimate { count, error: None };
        assert_eq!(counted(10, 0..0), exact(0));
        assert_eq!(counted(10, (0..10).chain(0..10)), exact(10));
        assert!(counted(10, 0..11).error.is_some());
    }

    /// The tolerance is three times the error bound for 19 of 20 estimates, or six standard errors.
    #[test]
    fn estimates_stay_within_their_error() {
        for distinct in [20_000_u32, 120_000, 160_000, 400_000, 3_000_000] {
            let values = (0..distinct.into()).chain(0..u64::from(distinct / 2));
            let Estimate { count, error } = counted(10_000, values);
            let off = (f64::from(count as u32) / f64::from(distinct) - 1.0).abs();
            assert!(off < 3.0 * error.unwrap(), "{distinct}: {count}");
        }
    }

    #[test]
    fn a_register_keeps_the_longest_run_of_zeros() {
        let mut registers = Registers::default();
        registers.add(0);
        registers.add(1 << 47);
        assert_eq!(registers.0[0], 49);
        registers.add(u64::MAX);
        assert_eq!(registers.0[REGISTERS - 1], 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]

        #[test]
        fn the_order_does_not_matter(start in any::<u64>(), step in 1_u64..1 << 40) {
            let values = |range: std::ops::Range<u64>| {
                range.map(move |number| start.wrapping_add(number.wrapping_mul(step)))
            };
            let forward = counted(1_000, values(0..200_000));
            let other = counted(5_000, values(100_000..200_000).chain(values(0..150_000)));
            prop_assert_eq!(forward, other);
            let off = (f64::from(forward.count as u32) / 200_000.0 - 1.0).abs();
            prop_assert!(off < 3.0 * forward.error.unwrap(), "{:?}", forward);
        }
    }

    fn list(limit: usize, names: &[&str]) -> TopList {
        let mut list = TopList::with_limits(limit, usize::MAX);
        names.iter().for_each(|name| list.add(name, 1));
        list
    }

    fn shown(list: &TopList, max: usize) -> Vec<(&str, u64)> {
        let top = list.top(max).into_iter();
        top.map(|top| (top.name, top.count)).collect()
    }

    #[test]
    fn names_are_counted_exactly_up_to_the_limit() {
        let list = list(3, &["b", "a", "c", "a", "b"]);
        assert_eq!(shown(&list, 9), [("a", 2), ("b", 2), ("c", 1)]);
        assert_eq!(shown(&list, 1), [("a", 2)]);
        assert_eq!(shown(&list, 0), []);
        assert_eq!((list.error(), list.names().count), (0, 3));
    }

    #[test]
    fn above_the_limit_counts_are_low_by_at_most_the_error() {
        let list = list(3, &["a", "a", "a", "b", "c", "c", "d"]);
        assert_eq!(list.error(), 2);
        assert_eq!(shown(&list, 9), [("a", 1), ("d", 1)]);
    }

    #[test]
    fn names_are_limited_in_length_and_total_size() {
        let mut list = TopList::with_limits(100, 3 * STATS_NAME_BYTES);
        let name = |n: usize| format!("{n}{}\u{e9}", "x".repeat(STATS_NAME_BYTES - 2));
        (0..3).for_each(|n| list.add(&name(n), 1));
        assert_eq!(list.top(1)[0].name.len(), STATS_NAME_BYTES - 1);
        assert_eq!(list.error(), 0);
        list.add(&name(3), 1);
        list.add(&name(4), 1);
        assert_eq!(list.error(), 1);
    }

    proptest! {
        #[test]
        fn a_count_lies_within_its_bounds(
            draws in prop::collection::vec((0_u32..60, 0_u32..60, 1_u64..4), 0..400),
            limit in 2_usize..40,
        ) {
            let mut list = TopList::with_limits(limit, usize::MAX);
            let mut exact: HashMap<String, u64> = HashMap::new();
            let mut total = 0;
            for (one, other, urls) in draws {
                // The minimum of two random numbers makes small names frequent.
                let name = one.min(other).to_string();
                list.add(&name, urls);
                *exact.entry(name).or_default() += urls;
                total += urls;
            }
            prop_assert!(list.counts.len() <= limit);
            for (name, count) in &exact {
                let kept = list.counts.get(name.as_str()).copied().unwrap_or(0);
                prop_assert!(kept <= *count && *count <= kept + list.error(), "{name}: {kept} of \
                    {count}");
            }
            // Each decrement lowers at least half of the counts by this amount.
            prop_assert!(list.error() * (limit as u64 / 2).max(1) <= total);
            if exact.len() <= limit {
                prop_assert_eq!(list.error(), 0);
                prop_assert_eq!(list.names().count, exact.len() as u64);
            }
        }
    }
}
