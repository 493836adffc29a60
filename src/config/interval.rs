//! Times such as `250ms`, `60s`, `5m`.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

/// A length of time, in whole milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Its milliseconds.
    pub ms: u64,
}

/// The longer names first: `ms` ends in `s`.
const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

impl Interval {
    /// The time that `text` names: a whole number and a unit.
    #[must_use]
    pub fn named(text: &str) -> Option<Interval> {
        let (number, unit) = UNITS
            .iter()
            .find_map(|(name, ms)| Some((text.trim().strip_suffix(name)?, *ms)))?;
        number
            .trim()
            .parse::<u64>()
            .ok()?
            .checked_mul(unit)
            .map(|ms| Interval { ms })
    }
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (name, unit) = UNITS
            .iter()
            .rev()
            .find(|(_, unit)| self.ms.is_multiple_of(*unit))
            .unwrap_or(&UNITS[0]);
        serializer.serialize_str(&format!("{}{name}", self.ms / unit))
    }
}

impl<'de> Deserialize<'de> for Interval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Interval, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Interval;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a time such as \"250ms\", \"60s\", \"5m\" or \"1h\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Interval, E> {
                Interval::named(text)
                    .ok_or_else(|| E::custom(format!("{text:?} is no time; write it as \"60s\"")))
            }
        }
        deserializer.deserialize_str(Text)
    }
}
