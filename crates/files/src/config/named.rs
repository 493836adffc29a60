//! Option values that users write by name.
//!
//! The name and the meaning of each value are defined in one place, next to its type if the type
//! belongs to the configuration or the command line, and here otherwise. If records use the name
//! too, it is defined next to the type. The flags, the configuration file and the help are made
//! from them.

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};

use urlspool_mail::decode::AttachmentPolicy;
use urlspool_record::extract::Unique;
use urlspool_record::record::SchemaLanguage;
use urlspool_text::origin::SourceKind;
use urlspool_text::parse::Grammar;
use urlspool_text::scan::{Rules, SchemelessPolicy};

/// A value of an option, written by name in flags and in the configuration file.
pub trait NamedValue: Copy + Send + Sync + 'static {
    /// All values, in the order of the help.
    fn all() -> impl Iterator<Item = Self>;

    /// The name, which is unique within the option.
    fn name(self) -> &'static str;

    /// The meaning, in a few words for the help.
    fn meaning(self) -> &'static str;

    /// Returns the value with that name; names are in lower case.
    #[must_use]
    fn named(name: &str) -> Option<Self> {
        Self::all().find(|value| value.name() == name)
    }
}

/// Declares enums as [`named_enum!`](urlspool_text::named_enum) does, and makes them named values.
/// Each row is `Variant = "name": "meaning",`. With `for` in place of `enum`, the rows belong to an
/// enum of another crate.
#[macro_export]
macro_rules! named_values {
    ($(
        $(#[$attribute:meta])*
        $visibility:vis enum $type:ident {
            $($(#[$doc:meta])* $variant:ident = $name:literal: $meaning:literal,)+
        }
    )+) => {$(
        urlspool_text::named_enum! {
            $(#[$attribute])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            $visibility enum $type {
                $($(#[$doc])* $variant = $name,)+
            }
        }

        $crate::named_values! { for $type { $($variant = $name: $meaning,)+ } }
    )+};
    ($(for $type:ident {
        $($variant:ident = $name:literal: $meaning:literal,)+
    })+) => {$(
        impl $crate::config::NamedValue for $type {
            fn all() -> impl Iterator<Item = Self> {
                [$($type::$variant),+].into_iter()
            }

            fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)+
                }
            }

            fn meaning(self) -> &'static str {
                match self {
                    $($type::$variant => $meaning,)+
                }
            }
        }
    )+};
}

pub use named_values;

named_values! {
    for Rules {
        Wide = "wide": "URLs as people write them",
        Rfc1738 = "rfc1738": "URLs by RFC 1738 and its appendix only",
    }
    for Unique {
        None = "none": "Write every URL",
        Message = "message": "Write a URL once per message",
        Run = "run": "Write a URL once per run",
    }
    for AttachmentPolicy {
        None = "none": "No attachments",
        Text = "text": "Texts and messages, even under other labels",
        All = "all": "Texts, messages, archives and documents",
    }
    for SchemelessPolicy {
        Skip = "off": "None",
        Find = "on": "www.example.org, and hosts with a path that occur with a scheme in the \
                     message or in the evidence",
        Paths = "paths": "All hosts with a path as well (example.org/x)",
    }
    for SchemaLanguage {
        JsonSchema = "json-schema": "JSON Schema of records, rejects, events and messages that are \
                                     gone",
        Arrow = "arrow": "Python expression for pyarrow, `pa.schema(...)`",
        Duckdb = "duckdb": "Table of DuckDB, which COPY loads",
        Postgresql = "postgresql": "Table of PostgreSQL, which psql's \\copy loads: jsonb and \
                                    generated columns",
        Elasticsearch = "elasticsearch": "Index template of Elasticsearch and OpenSearch, with the \
                                          mapping of `urlspool load`",
    }
}

impl NamedValue for Grammar {
    fn all() -> impl Iterator<Item = Self> {
        Grammar::ALL.into_iter()
    }

    fn name(self) -> &'static str {
        Grammar::name(self)
    }

    fn meaning(self) -> &'static str {
        match self {
            Grammar::Rfc1738 => "RFC 1738 section 5",
            Grammar::Rfc3986 => "RFC 3986",
            Grammar::Whatwg => "The WHATWG URL standard",
        }
    }
}

/// The kind of a source, or `auto`, which is `None`.
impl NamedValue for Option<SourceKind> {
    fn all() -> impl Iterator<Item = Self> {
        std::iter::once(None).chain(SourceKind::ALL.into_iter().map(Some))
    }

    fn name(self) -> &'static str {
        self.map_or("auto", SourceKind::name)
    }

    fn meaning(self) -> &'static str {
        match self {
            None => "Recognized from the content of each file",
            Some(SourceKind::Mbox) => "Messages after `From ` lines",
            Some(SourceKind::Maildir) => "One message per file, from a Maildir",
            Some(SourceKind::Mh) => "One message per file, from an MH folder",
            Some(SourceKind::News) => "One news article per file",
            Some(SourceKind::Rnews) => "News articles after `#! rnews` lines",
            Some(SourceKind::Mmdf) => "Messages between lines of four control-A",
            Some(SourceKind::Babyl) => "Messages of Emacs Rmail",
            Some(SourceKind::Message) => "One message per file",
            Some(SourceKind::Text) => "Text without a header",
        }
    }
}

/// Writes the name of a value.
pub(super) fn serialize<V, S>(value: &V, serializer: S) -> Result<S::Ok, S::Error>
where
    V: NamedValue,
    S: Serializer,
{
    serializer.serialize_str(value.name())
}

/// Reads a value by its name.
pub(super) fn deserialize<'de, V, D>(deserializer: D) -> Result<V, D::Error>
where
    V: NamedValue,
    D: Deserializer<'de>,
{
    ByName::deserialize(deserializer).map(|ByName(value)| value)
}

/// Lists of values by their names.
pub(super) mod list {
    use super::{ByName, Deserialize, Deserializer, NamedValue, Serializer};

    /// Writes the names of the values.
    pub(in crate::config) fn serialize<V, S>(values: &[V], serializer: S) -> Result<S::Ok, S::Error>
    where
        V: NamedValue,
        S: Serializer,
    {
        serializer.collect_seq(values.iter().copied().map(ByName))
    }

    /// Reads values by their names.
    pub(in crate::config) fn deserialize<'de, V, D>(deserializer: D) -> Result<Vec<V>, D::Error>
    where
        V: NamedValue,
        D: Deserializer<'de>,
    {
        let names = Vec::<ByName<V>>::deserialize(deserializer)?;
        Ok(names.into_iter().map(|ByName(value)| value).collect())
    }
}

/// A value that is serialized as its name.
struct ByName<V>(V);

impl<V: NamedValue> Serialize for ByName<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de, V: NamedValue> Deserialize<'de> for ByName<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ByName<V>, D::Error> {
        let name = String::deserialize(deserializer)?;
        V::named(&name).map(ByName).ok_or_else(|| {
            let names: Vec<&str> = V::all().map(V::name).collect();
            let advice = suggestion(&name, &names);
            D::Error::custom(format!("`{name}` is not a value{advice}"))
        })
    }
}

/// Similarity, from 0 to 1, above which a name is suggested. The value that clap uses for
/// arguments.
const MIN_SIMILARITY: f64 = 0.7;

/// Minimum number of characters of a word to compare: shorter words resemble too many names.
const MIN_CHARS: usize = 3;

/// Returns the name most similar to `word`, if any is similar enough.
#[must_use]
pub fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if word.chars().count() < MIN_CHARS {
        return None;
    }
    let word = word.to_ascii_lowercase().replace('-', "_");
    let rated = names.into_iter().map(|name| {
        let similarity = strsim::jaro_winkler(&word, &name.replace('-', "_"));
        (similarity, name)
    });
    rated
        .filter(|(similarity, _)| MIN_SIMILARITY < *similarity)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| name)
}

/// The clause `; did you mean NAME?` for the nearest name, or, without one,
/// `; expected one of NAMES`.
pub(super) fn suggestion(word: &str, names: &[&str]) -> String {
    match nearest(word, names.iter().copied()) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => format!("; expected one of {}", names.join(", ")),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Checks that every value is found by its name, and has a meaning.
    #[track_caller]
    pub(in crate::config) fn check<V: NamedValue + PartialEq + std::fmt::Debug>(default: V) {
        assert!(V::all().any(|value| value == default), "{default:?}");
        for value in V::all() {
            assert_eq!(V::named(value.name()), Some(value));
            assert!(!value.meaning().is_empty());
        }
    }

    #[test]
    fn every_value_is_found_by_its_name() {
        check(Rules::default());
        check(Unique::default());
        check(Grammar::Rfc1738);
        check(None::<SourceKind>);
    }

    #[test]
    fn the_most_similar_name_is_suggested() {
        let names = ["rules", "accept", "extra_schemes", "schemes"];
        assert_eq!(nearest("rule", names), Some("rules"));
        assert_eq!(nearest("Extra-Schemes", names), Some("extra_schemes"));
        assert_eq!(nearest("zzz", names), None);
        assert_eq!(nearest("x", ["extract"]), None);
        assert_eq!(
            suggestion("zzz", &["wide", "rfc1738"]),
            "; expected one of wide, rfc1738"
        );
    }
}
