//! Counts by name.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde::{Serialize, Serializer};

use crate::grammar::{SCHEMES, Scheme};

/// Numbers by name, in the order of the names.
#[derive(Clone, Debug, Default, Eq, Serialize)]
#[serde(transparent)]
pub struct NamedCounts {
    by_name: BTreeMap<String, u64>,
    /// `true` if something was counted since the last [`NamedCounts::drain_into`].
    #[serde(skip)]
    is_fresh: bool,
}

impl NamedCounts {
    /// Returns the sum of all numbers.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.by_name.values().sum()
    }

    /// Adds `number` to the count of `name`.
    pub(super) fn add(&mut self, name: &str, number: u64) {
        self.is_fresh = true;
        match self.by_name.get_mut(name) {
            Some(count) => *count += number,
            None => {
                self.by_name.insert(name.to_owned(), number);
            }
        }
    }

    /// Adds these counts to `sum` and sets them to zero. The names are kept, since the next message has the same, but not
    /// the many names that a hostile message may bring.
    pub(super) fn drain_into(&mut self, sum: &mut NamedCounts) {
        const KEPT_NAMES: usize = 32;
        if !std::mem::take(&mut self.is_fresh) {
            return;
        }
        for (name, count) in &mut self.by_name {
            match std::mem::take(count) {
                0 => {}
                number => sum.add(name, number),
            }
        }
        if KEPT_NAMES < self.by_name.len() {
            self.by_name.clear();
        }
    }
}

impl PartialEq for NamedCounts {
    fn eq(&self, other: &NamedCounts) -> bool {
        self.by_name == other.by_name
    }
}

impl Deref for NamedCounts {
    type Target = BTreeMap<String, u64>;

    fn deref(&self) -> &BTreeMap<String, u64> {
        &self.by_name
    }
}

/// Numbers of URLs by scheme: by index for the schemes of the table, by name for all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemeCounts {
    pub(super) known: [u64; SCHEMES.len()],
    pub(super) others: NamedCounts,
}

// Not derived: arrays of more than 32 elements have no `Default`.
impl Default for SchemeCounts {
    fn default() -> SchemeCounts {
        SchemeCounts {
            known: [0; SCHEMES.len()],
            others: NamedCounts::default(),
        }
    }
}

impl SchemeCounts {
    /// Adds one to the count of this scheme, in any case.
    pub(super) fn add(&mut self, name: &[u8]) {
        match Scheme::index(name) {
            Some(index) => self.known[index] += 1,
            None => self
                .others
                .add(&String::from_utf8_lossy(name).to_ascii_lowercase(), 1),
        }
    }
}

impl Serialize for SchemeCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let known = SCHEMES
            .iter()
            .map(|scheme| scheme.name)
            .zip(self.known)
            .filter(|(_, number)| 0 < *number);
        let others = self
            .others
            .iter()
            .map(|(name, number)| (name.as_str(), *number));
        known
            .chain(others)
            .collect::<BTreeMap<&str, u64>>()
            .serialize(to)
    }
}
