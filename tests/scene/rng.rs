//! A seeded random number generator.

use std::fmt::Debug;

/// Random numbers that are equal in every run with the same seed (`SplitMix64`).
pub(crate) struct Rng(u64);

impl Rng {
    /// Creates a generator with this seed, which may be any number.
    pub(crate) fn seeded(seed: u64) -> Rng {
        Rng(seed)
    }

    /// Returns a number below `end`.
    pub(crate) fn below<N>(&mut self, end: N) -> N
    where
        N: TryFrom<u64, Error: Debug>,
        u64: TryFrom<N, Error: Debug>,
    {
        let end = u64::try_from(end).expect("the limit is positive");
        N::try_from(self.next() % end).expect("it is below the limit")
    }

    /// Returns one of the items.
    pub(crate) fn pick<'s, T>(&mut self, items: &'s [T]) -> &'s T {
        &items[self.below(items.len())]
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
