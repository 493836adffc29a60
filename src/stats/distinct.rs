//! The number of distinct values: exact up to a limit, then an estimate (`HyperLogLog`).
//!
//! P. Flajolet, É. Fusy, O. Gandouet and F. Meunier, "`HyperLogLog`: the analysis of a near-optimal
//! cardinality estimation algorithm", 2007. Hashes of 64 bits need no correction for large numbers.

use std::collections::HashSet;

use twox_hash::XxHash3_64;

use crate::limits::{STATS_EXACT, STATS_REGISTER_BITS};

/// A number, and the error that it may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number.
    pub count: u64,
    /// The relative error that 19 of 20 estimates stay within; `None` if the number is exact.
    pub error: Option<f64>,
}

/// Counter of distinct values.
#[derive(Clone, Debug)]
pub(super) struct DistinctCount {
    max_exact: usize,
    seen: Seen,
}

#[derive(Clone, Debug)]
enum Seen {
    /// The hashes of all values.
    Exact(HashSet<u64>),
    Estimated(Registers),
}

impl Default for DistinctCount {
    fn default() -> DistinctCount {
        DistinctCount::with_limit(STATS_EXACT)
    }
}

impl DistinctCount {
    /// A counter that is exact up to `max_exact` values.
    pub(super) fn with_limit(max_exact: usize) -> DistinctCount {
        DistinctCount {
            max_exact,
            seen: Seen::Exact(HashSet::new()),
        }
    }

    /// Counts a value.
    pub(super) fn add(&mut self, value: &[u8]) {
        self.add_hash(XxHash3_64::oneshot(value));
    }

    /// Counts the value that has this hash.
    pub(super) fn add_hash(&mut self, hash: u64) {
        match &mut self.seen {
            Seen::Exact(hashes) => {
                hashes.insert(hash);
                if self.max_exact < hashes.len() {
                    let mut registers = Registers::default();
                    hashes.iter().for_each(|hash| registers.add(*hash));
                    self.seen = Seen::Estimated(registers);
                }
            }
            Seen::Estimated(registers) => registers.add(hash),
        }
    }

    pub(super) fn estimate(&self) -> Estimate {
        match &self.seen {
            Seen::Exact(hashes) => Estimate {
                count: hashes.len() as u64,
                error: None,
            },
            Seen::Estimated(registers) => registers.estimate(),
        }
    }
}

/// Number of registers.
const REGISTERS: usize = 1 << STATS_REGISTER_BITS;

/// The registers of an estimate: for each group of hashes, the largest number of zeros that one
/// begins with after the bits of its group, and one.
#[derive(Clone, Debug)]
pub(super) struct Registers(Vec<u8>);

impl Default for Registers {
    fn default() -> Registers {
        Registers(vec![0; REGISTERS])
    }
}

impl Registers {
    pub(super) fn add(&mut self, hash: u64) {
        let group = (hash >> (u64::BITS - STATS_REGISTER_BITS)) as usize;
        // The bit that is set ends the zeros of a hash that has nothing else.
        let rest = hash << STATS_REGISTER_BITS | 1 << (STATS_REGISTER_BITS - 1);
        let rank = rest.leading_zeros() as u8 + 1;
        self.0[group] = self.0[group].max(rank);
    }

    pub(super) fn estimate(&self) -> Estimate {
        let registers = f64::from(1_u32 << STATS_REGISTER_BITS);
        let sum: f64 = self.0.iter().map(|rank| 0.5_f64.powi((*rank).into())).sum();
        let alpha = 0.7213 / (1.0 + 1.079 / registers);
        let raw = alpha * registers * registers / sum;
        let free = f64::from(memchr::memchr_iter(0, &self.0).count() as u32);
        // Of few values, the free registers say more.
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

    /// Three times the error that 19 of 20 stay within: six standard errors.
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
}
