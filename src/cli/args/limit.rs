//! The value of `--limit`.

use std::fmt;

use crate::config::{nearest, parse_size};
use crate::limits::{Limit, LimitUnit, Limits};

/// One limit and the value to set.
#[derive(Clone, Debug)]
pub(crate) struct LimitSetting {
    limit: &'static Limit,
    value: usize,
}

impl LimitSetting {
    pub(crate) fn apply(&self, limits: &mut Limits) {
        (self.limit.set)(limits, self.value);
    }
}

/// The reason why a limit cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LimitError {
    /// There is no `=`.
    Form,
    /// No limit has this name.
    Unknown(String),
    /// The value is no number, or no size.
    Value(LimitUnit),
    /// The value is below the smallest one.
    TooSmall(usize),
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitError::Form => f.write_str("write it as NAME=VALUE"),
            LimitError::Unknown(name) => {
                write!(f, "unknown limit `{name}`")?;
                match nearest(name, Limits::ALL.iter().map(|limit| limit.name)) {
                    Some(near) => write!(f, "; did you mean `{near}`?"),
                    None => f.write_str("; `urlspool scan --help` lists the limits"),
                }
            }
            LimitError::Value(LimitUnit::Bytes) => {
                f.write_str("write the value as 64KiB, 1MB or a number of bytes")
            }
            LimitError::Value(LimitUnit::Number) => f.write_str("write the value as a number"),
            LimitError::TooSmall(min) => write!(f, "the value must be at least {min}"),
        }
    }
}

impl std::error::Error for LimitError {}

/// Parses `NAME=VALUE`.
pub(super) fn limit_setting(text: &str) -> Result<LimitSetting, LimitError> {
    let (name, value) = text.split_once('=').ok_or(LimitError::Form)?;
    let limit = Limits::ALL
        .iter()
        .find(|limit| limit.name == name)
        .ok_or_else(|| LimitError::Unknown(name.to_owned()))?;
    let value = match limit.unit {
        LimitUnit::Bytes => parse_size(value),
        LimitUnit::Number => value.parse().ok(),
    };
    let value = value.ok_or(LimitError::Value(limit.unit))?;
    if value < limit.min {
        return Err(LimitError::TooSmall(limit.min));
    }
    Ok(LimitSetting { limit, value })
}

/// The help of `--limit`, with the names of all limits.
pub(super) fn limits_help() -> String {
    let names = Limits::ALL.iter().map(|limit| limit.name);
    format!(
        "Set a limit, such as `--limit url_bytes=64KiB`; can be given again\n\n\
         The names are those of the `[limits]` table of the configuration, which `urlspool man urlspool.toml` describes: {}.",
        names.collect::<Vec<_>>().join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_set_by_its_name() {
        let mut limits = Limits::default();
        for text in ["url_bytes=64KiB", "mime_depth=7"] {
            limit_setting(text).unwrap().apply(&mut limits);
        }
        assert_eq!((limits.url_bytes, limits.mime_depth), (64 << 10, 7));
    }

    #[test]
    fn what_is_wrong_is_reported() {
        for (text, message) in [
            ("url_bytes", "NAME=VALUE"),
            ("url_byte=1", "did you mean `url_bytes`?"),
            ("zzz=1", "lists the limits"),
            ("url_bytes=much", "64KiB"),
            ("mime_depth=1KiB", "a number"),
            ("mime_depth=0", "at least 1"),
        ] {
            let error = limit_setting(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
