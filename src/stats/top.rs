//! The most frequent names: exact counts up to a limit, then counts with a bound of their error.
//!
//! J. Misra and D. Gries, "Finding repeated elements", 1982, with the decrement of a whole batch:
//! when there is no room for a new name, the median of all counts is taken from each count, and
//! names without a count are dropped. This takes constant time for each name on average.

use std::collections::HashMap;

use twox_hash::XxHash3_64;

use super::distinct::{Estimate, Registers};
use crate::limits::{STATS_NAME_BYTES, STATS_NAMES, STATS_NAMES_BYTES};

/// A name with its number of URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopName<'t> {
    /// The name.
    pub name: &'t str,
    /// The number of its URLs, at least; exact if [`TopList::error`] is 0.
    pub count: u64,
}

/// Counter of names.
#[derive(Clone, Debug)]
pub struct TopList {
    max_names: usize,
    max_bytes: usize,
    counts: HashMap<Box<str>, u64>,
    /// Bytes of the names.
    bytes: usize,
    /// The sum of what was taken from each count.
    taken: u64,
    /// The names so far, since some were dropped.
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

    /// Takes the median of all counts from each, and drops half of the names or more.
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
        let (_, median, _) = counts.select_nth_unstable(middle);
        let median = *median;
        self.taken += median;
        self.counts.retain(|_, count| {
            *count = count.saturating_sub(median);
            0 < *count
        });
        self.bytes = self.counts.keys().map(|name| name.len()).sum();
    }

    /// Returns the largest number that any count may be too small by: a name that is missing has at
    /// most as many URLs. 0 if all counts are exact.
    #[must_use]
    pub fn error(&self) -> u64 {
        self.taken
    }

    /// Returns the number of names.
    #[must_use]
    pub fn names(&self) -> Estimate {
        match &self.names {
            None => Estimate {
                count: self.counts.len() as u64,
                error: None,
            },
            Some(names) => names.estimate(),
        }
    }

    /// Returns the names with most URLs, at most `max` of them; those with as many URLs in the
    /// order of their names.
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
    fn beyond_the_limit_counts_are_too_small_by_the_error_at_most() {
        let list = list(3, &["a", "a", "a", "b", "c", "c", "d"]);
        assert_eq!(list.error(), 2);
        assert_eq!(shown(&list, 9), [("a", 1), ("d", 1)]);
    }

    #[test]
    fn long_names_are_cut_and_many_bytes_are_too_many_names() {
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
                // The smaller of two is frequent among small names.
                let name = one.min(other).to_string();
                list.add(&name, urls);
                *exact.entry(name).or_default() += urls;
                total += urls;
            }
            prop_assert!(list.counts.len() <= limit);
            for (name, count) in &exact {
                let kept = list.counts.get(name.as_str()).copied().unwrap_or(0);
                prop_assert!(kept <= *count && *count <= kept + list.error(), "{name}: {kept} of {count}");
            }
            // Each time at least half of the counts lose as much.
            prop_assert!(list.error() * (limit as u64 / 2).max(1) <= total);
            if exact.len() <= limit {
                prop_assert_eq!(list.error(), 0);
                prop_assert_eq!(list.names().count, exact.len() as u64);
            }
        }
    }
}
