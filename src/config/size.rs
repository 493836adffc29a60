//! Sizes such as `64MiB`.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

/// A number of bytes, written as a number or as a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub usize);

const UNITS: [(&str, usize); 7] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("B", 1),
];

/// Bytes of a size: a whole number and perhaps a unit.
#[must_use]
pub fn parse_size(text: &str) -> Option<usize> {
    let text = text.trim();
    let (number, unit) = UNITS
        .iter()
        .find_map(|(name, bytes)| Some((text.strip_suffix(name)?, *bytes)))
        .unwrap_or((text, 1));
    number.trim().parse::<usize>().ok()?.checked_mul(unit)
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0 as u64)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
        struct Octets;
        impl Visitor<'_> for Octets {
            type Value = Size;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number of bytes, or a size such as \"16KiB\"")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Size, E> {
                usize::try_from(number)
                    .map(Size)
                    .map_err(|_| E::custom("a size cannot be negative"))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Size, E> {
                Ok(Size(number as usize))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Size, E> {
                parse_size(text)
                    .map(Size)
                    .ok_or_else(|| E::custom(format!("{text:?} is no size; write it as \"16KiB\"")))
            }
        }
        deserializer.deserialize_any(Octets)
    }
}
