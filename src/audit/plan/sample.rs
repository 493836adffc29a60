//! A stratified sample: as many links of each stratum as there are, up to a number that is the same for all.

use std::collections::BTreeMap;

use twox_hash::XxHash3_64;

/// A link that may be in the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SampleCandidate {
    /// Index of its stratum.
    pub(super) stratum: u32,
    /// Rank by which links are taken, from [`rank`].
    pub(super) rank: u64,
    /// Identifier of the link.
    pub(super) link: i64,
}

/// Returns the rank of a link: it depends on the seed and the key alone, so that a plan that is made again after more was
/// loaded, or a larger sample, takes the same links as far as it can.
pub(super) fn rank(seed: u64, key: &str) -> u64 {
    XxHash3_64::oneshot_with_seed(seed, key.as_bytes())
}

/// Returns how many links of each stratum are taken, given the populations: together `size`, or all if there are fewer.
/// Small strata are taken whole; the rest is divided equally, and the largest take what cannot be divided.
pub(super) fn allocation(populations: &BTreeMap<String, u64>, size: u64) -> BTreeMap<&str, u64> {
    let mut by_population: Vec<(u64, &str)> = populations
        .iter()
        .map(|(name, population)| (*population, name.as_str()))
        .collect();
    by_population.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(a.1)));
    let (mut left, mut strata) = (size, by_population.len() as u64);
    let mut taken = BTreeMap::new();
    for (population, name) in by_population {
        let share = population.min(left.div_euclid(strata));
        taken.insert(name, share);
        left -= share;
        strata -= 1;
    }
    taken
}

/// Sorts the candidates, and keeps `size(stratum)` of each stratum.
pub(super) fn select(
    mut candidates: Vec<SampleCandidate>,
    size: impl Fn(u32) -> u64,
) -> Vec<SampleCandidate> {
    candidates.sort_unstable();
    let (mut stratum, mut taken) = (None, 0);
    candidates.retain(|candidate| {
        if stratum != Some(candidate.stratum) {
            (stratum, taken) = (Some(candidate.stratum), 0);
        }
        taken += 1;
        taken <= size(candidate.stratum)
    });
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(populations: &[(&str, u64)], size: u64, expected: &[(&str, u64)]) {
        let populations = populations
            .iter()
            .map(|(name, population)| ((*name).to_owned(), *population))
            .collect();
        let taken = allocation(&populations, size);
        assert_eq!(taken, expected.iter().copied().collect(), "{size}");
    }

    #[test]
    fn small_strata_are_taken_whole() {
        let strata = [("1993", 3), ("1994", 50), ("1995", 500)];
        check(&strata, 30, &[("1993", 3), ("1994", 13), ("1995", 14)]);
        check(&strata, 103, &[("1993", 3), ("1994", 50), ("1995", 50)]);
        check(&strata, 9, &[("1993", 3), ("1994", 3), ("1995", 3)]);
        check(&strata, 999, &[("1993", 3), ("1994", 50), ("1995", 500)]);
        check(&strata, 2, &[("1993", 0), ("1994", 1), ("1995", 1)]);
        check(&[], 5, &[]);
    }

    /// The allocation takes as many as asked for, no stratum gets more than it has, and none is short while another has more.
    #[test]
    fn allocations_are_fair() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..1_000 {
            let populations: BTreeMap<String, u64> = (0..=random(12))
                .map(|name| (name.to_string(), 1 + random(40)))
                .collect();
            let all: u64 = populations.values().sum();
            let size = random(all + 10);
            let taken = allocation(&populations, size);
            assert_eq!(taken.values().sum::<u64>(), size.min(all));
            let largest = taken.values().max().copied().unwrap_or(0);
            for (name, share) in taken {
                let population = populations[name];
                assert!(share <= population);
                assert!(
                    share == population || largest <= share + 1,
                    "{populations:?} {size}"
                );
            }
        }
    }

    #[test]
    fn the_lowest_ranks_of_each_stratum_are_taken() {
        let candidates: Vec<_> = (0..100)
            .map(|link| SampleCandidate {
                stratum: u32::from(link % 3 == 1) + 2 * u32::from(link % 3 == 2),
                rank: rank(7, &link.to_string()),
                link,
            })
            .collect();
        let taken = select(candidates.clone(), |stratum| u64::from(stratum) * 4);
        assert_eq!(taken.len(), 12);
        let larger = select(candidates, |stratum| u64::from(stratum) * 8);
        assert!(taken.iter().all(|candidate| larger.contains(candidate)));
    }

    #[test]
    fn the_seed_decides_the_rank() {
        assert_eq!(rank(1, "http://h/"), rank(1, "http://h/"));
        assert_ne!(rank(1, "http://h/"), rank(2, "http://h/"));
    }
}
