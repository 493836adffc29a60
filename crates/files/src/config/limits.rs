//! The `[limits]` table: every limit of [`Limits::ALL`] by its name.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Unexpected, Visitor};
use serde::ser::{SerializeMap, Serializer};

use super::size;
use urlspool_text::limits::{Limit, LimitUnit, Limits};

/// Writes each limit in its unit.
pub(super) fn serialize<S: Serializer>(limits: &Limits, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(Limits::ALL.len()))?;
    for limit in Limits::ALL {
        let value = (limit.get)(limits);
        let text = match limit.unit {
            LimitUnit::Bytes => size::format_size(value),
            LimitUnit::Number => value.to_string(),
        };
        match text.parse::<u64>() {
            Ok(number) => map.serialize_entry(limit.name, &number)?,
            Err(_) => map.serialize_entry(limit.name, &text)?,
        }
    }
    map.end()
}

/// Reads the given limits; the others have their defaults.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Limits, D::Error> {
    deserializer.deserialize_map(TableVisitor)
}

struct TableVisitor;

impl<'de> Visitor<'de> for TableVisitor {
    type Value = Limits;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of limits")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Limits, A::Error> {
        let mut limits = Limits::default();
        while let Some(name) = map.next_key::<String>()? {
            let limit = Limits::ALL.iter().find(|limit| limit.name == name);
            let limit = limit.ok_or_else(|| A::Error::custom(format!("unknown limit `{name}`")))?;
            (limit.set)(&mut limits, map.next_value_seed(ValueSeed(limit))?);
        }
        Ok(limits)
    }
}

/// Reads the value of a limit.
struct ValueSeed(&'static Limit);

impl<'de> DeserializeSeed<'de> for ValueSeed {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        let Limit {
            name, unit, min, ..
        } = *self.0;
        let value = match unit {
            LimitUnit::Bytes => size::deserialize(deserializer)?,
            LimitUnit::Number => serde::Deserialize::deserialize(deserializer)
                .map_err(|_| D::Error::custom(format!("limits.{name} must be a number")))?,
        };
        if value < min {
            let expected = format!("limits.{name} of at least {min}");
            let unexpected = Unexpected::Unsigned(value as u64);
            return Err(D::Error::invalid_value(unexpected, &expected.as_str()));
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    #[test]
    fn sizes_have_units_and_missing_limits_have_their_defaults() {
        let config =
            Config::parse("[limits]\nurl_bytes = \"4KiB\"\nwrapper_bytes = 100\nmime_depth = 7");
        let expected = Limits {
            url_bytes: 4096,
            wrapper_bytes: 100,
            mime_depth: 7,
            ..Limits::default()
        };
        assert_eq!(config.unwrap().limits, expected);
    }

    #[test]
    fn unknown_and_too_small_limits_are_refused_with_their_lines() {
        for (line, message) in [
            (
                "url_byte = 1",
                "unknown key `limits.url_byte`; did you mean `url_bytes`?",
            ),
            ("url_bytes = 0", "limits.url_bytes of at least 1"),
            ("mime_depth = \"7\"", "limits.mime_depth must be a number"),
            ("url_bytes = -1", "cannot be negative"),
        ] {
            let error = Config::parse(&format!("[limits]\n{line}")).unwrap_err();
            let error = error.to_string();
            assert!(
                error.contains("line 2") && error.contains(message),
                "{error}"
            );
        }
        assert!(Config::parse("[limits]\nunwrap_depth = 0").is_ok());
    }
}
