//! Parsers of option values.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::config::{NamedValue, named_values, parse_size};
use crate::origin::SourceKind;

/// The value of `--kind`: `None` is `auto`. An alias, since clap makes the value of an `Option` optional.
pub(super) type KindOption = Option<SourceKind>;

/// The choice of doing something that suits a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum When {
    /// If it is shown on a terminal (the default).
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

named_values! {
    When {
        Auto = "auto": "On a terminal",
        Always = "always": "Always",
        Never = "never": "Never",
    }
}

/// Parses an option value by its name; the help lists all names.
pub(super) fn named<V: NamedValue>() -> impl TypedValueParser<Value = V> {
    let values = V::all().map(|value| PossibleValue::new(value.name()).help(value.meaning()));
    PossibleValuesParser::new(values)
        .map(|name| V::named(&name).expect("clap accepts only the names that it was given"))
}

/// The size of a split item cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ItemSizeError;

impl std::fmt::Display for ItemSizeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("write it as 64MiB, 1GB or a number of bytes above 0")
    }
}

impl std::error::Error for ItemSizeError {}

/// Parses a size in bytes above 0.
pub(super) fn item_size(text: &str) -> Result<u64, ItemSizeError> {
    match parse_size(text) {
        Some(bytes) if bytes > 0 => Ok(bytes as u64),
        _ => Err(ItemSizeError),
    }
}
