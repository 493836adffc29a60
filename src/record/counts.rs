//! Counts by name.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde::{Serialize, Serializer};

use crate::grammar::{SCHEMES, Scheme};

/// How often each of some named things happened.
#[derive(Clone, Debug, Default, Eq, Serialize)]
#[serde(transparent)]
pub struct NamedCounts {
    by_name: BTreeMap<String, u64>,
    /// Whether something was counted since all was poured out.
    #[serde(skip)]
    is_fresh: bool,
}

impl NamedCounts {
    /// NamedCounts so many more of `name`.
    pub(super) fn add(&mut self, name: &str, more: u64) {
        self.is_fresh = true;
        match self.by_name.get_mut(name) {
            Some(number) => *number += more,
            None => {
                self.by_name.insert(name.to_owned(), more);
            }
        }
    }

    /// Adds these counts to others and sets them to zero. A few names are kept for the next time, not all that a hostile
    /// message may bring.
    pub(super) fn pour(&mut self, sum: &mut NamedCounts) {
        const KEPT_NAMES: usize = 32;
        if !std::mem::take(&mut self.is_fresh) {
            return;
        }
        for (name, number) in &mut self.by_name {
            match std::mem::take(number) {
                0 => {}
                more => sum.add(name, more),
            }
        }
        if self.by_name.len() > KEPT_NAMES {
            self.by_name.clear();
        }
    }

    /// All numbers together.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.by_name.values().sum()
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

/// How often URLs had each scheme: by place for those in the table, by name for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemeCounts {
    pub(super) known: [u64; SCHEMES.len()],
    pub(super) others: NamedCounts,
}

// Arrays of more than 32 have none.
impl Default for SchemeCounts {
    fn default() -> SchemeCounts {
        SchemeCounts {
            known: [0; SCHEMES.len()],
            others: NamedCounts::default(),
        }
    }
}

impl SchemeCounts {
    /// NamedCounts one more of this name, in any case.
    pub(super) fn add(&mut self, name: &[u8]) {
        match Scheme::index(name) {
            Some(place) => self.known[place] += 1,
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
            .filter(|(_, number)| *number > 0);
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
