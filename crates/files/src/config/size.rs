//! Sizes in bytes: a number, or a number with a unit such as `64MiB`. The crate `bytesize` parses
//! the units.

use bytesize::ByteSize;
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;
use toml::Value;

/// Binary units, largest first.
const UNITS: [(usize, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];

/// Parses a size in bytes, such as `64MiB`, `1GB` or `4096`; `None` if `text` is not a size.
#[must_use]
pub fn parse_size(text: &str) -> Option<usize> {
    let size: ByteSize = text.parse().ok()?;
    usize::try_from(size.as_u64()).ok()
}

/// Formats a size with the largest unit that divides it, in the form that [`parse_size`] accepts.
pub(super) fn format_size(bytes: usize) -> String {
    let mut units = UNITS.iter();
    match units.find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => bytes.to_string(),
    }
}

/// Writes a size with a unit, or as a number if no unit divides it.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a field by reference"
)]
pub(super) fn serialize<S: Serializer>(bytes: &usize, serializer: S) -> Result<S::Ok, S::Error> {
    let text = format_size(*bytes);
    match text.parse() {
        Ok(number) => serializer.serialize_u64(number),
        Err(_) => serializer.serialize_str(&text),
    }
}

/// Reads a number of bytes, or a text with a unit.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let size = match &value {
        Value::Integer(number) => {
            let size = usize::try_from(*number);
            return size.map_err(|_| D::Error::custom("a size cannot be negative"));
        }
        Value::String(text) => parse_size(text),
        _ => None,
    };
    size.ok_or_else(|| D::Error::custom(format!("{value} is not a size; write it as \"16KiB\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("7B", 7),
            ("16KiB", 16 << 10),
            ("64 MiB", 64 << 20),
            ("1GiB", 1 << 30),
            ("3kB", 3_000),
            ("1GB", 1_000_000_000),
        ] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for text in ["", "MiB", "-1", "1 lamp", "99999999999999999999"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }

    #[test]
    fn formatted_sizes_are_parsed_back() {
        for bytes in [0, 1, 1_000, 1 << 10, 1_536 << 10, (1 << 30) + 1, 5 << 30] {
            assert_eq!(parse_size(&format_size(bytes)), Some(bytes));
        }
        assert_eq!(format_size(1_536 << 10), "1536KiB");
    }
}
