//! Parsers of option values.

use std::ffi::OsStr;
use std::fmt;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

use crate::config::{
    ConfigError, NamedValue, check_scheme_name, named_values, nearest, parse_size,
};
use crate::origin::SourceKind;
use crate::record::{self, FieldId};

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

/// The format of a scan's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Records as JSON.
    Jsonl,
    /// The URL and its fragment.
    Urls,
    /// The URL that a browser would fetch.
    Hrefs,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// Source, offset and URL.
    Grep,
    /// Records as columns.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// The division of a Parquet output into files.
#[cfg(feature = "parquet")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartitionArgument {
    /// A folder for each year.
    Year,
}

/// The format of the matches of a search.
#[cfg(feature = "load")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchFormat {
    /// Source, offset and URL.
    Grep,
    /// Fields of the records as JSON.
    Jsonl,
}

#[cfg(feature = "load")]
named_values! {
    SearchFormat {
        Grep = "grep": "PATH:START: URL for people, and for `urlspool explain`",
        Jsonl = "jsonl": "Fields of the records as JSON, one per line, for `urlspool show`",
    }
}

/// The name of a field of the record, or of an object that stands for all its fields.
#[derive(Clone, Debug)]
pub(crate) struct FieldNameArgument(String);

impl FieldNameArgument {
    /// The fields that it names, in the order of the record.
    pub(crate) fn fields(&self) -> impl Iterator<Item = FieldId> {
        FieldId::named(&self.0)
    }
}

/// No field has the name, and perhaps one has a similar name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldNameError {
    nearest: Option<&'static str>,
}

impl fmt::Display for FieldNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nearest {
            Some(name) => write!(f, "unknown field; did you mean `{name}`?"),
            None => f.write_str("unknown field; `urlspool man record` lists the fields"),
        }
    }
}

impl std::error::Error for FieldNameError {}

/// Parser of the name of a field.
pub(super) fn field_name() -> impl TypedValueParser<Value = FieldNameArgument> {
    let parser = StringValueParser::new().try_map(parse_field_name);
    let names = || field_names().collect();
    OfferedNames { parser, names }
}

fn parse_field_name(name: String) -> Result<FieldNameArgument, FieldNameError> {
    if field_names().any(|known| known == name) {
        return Ok(FieldNameArgument(name));
    }
    let nearest = nearest(&name, field_names());
    Err(FieldNameError { nearest })
}

fn field_names() -> impl Iterator<Item = &'static str> {
    let names = record::RECORD_FIELDS.iter().map(|field| field.name);
    names.filter(|name| FieldId::named(name).next().is_some())
}

/// Parser with names that completion offers. The parser decides what is accepted, and an error does not list all names.
#[derive(Clone)]
pub(super) struct OfferedNames<P> {
    pub(super) parser: P,
    pub(super) names: fn() -> Vec<&'static str>,
}

impl<P: TypedValueParser> TypedValueParser for OfferedNames<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<P::Value, clap::Error> {
        self.parser.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue>>> {
        Some(Box::new((self.names)().into_iter().map(PossibleValue::new)))
    }
}

#[cfg(feature = "parquet")]
named_values! {
    PartitionArgument {
        Year = "year": "Year of the message: `year=1996/part-00000.parquet`, or `year=undated`",
    }
}

named_values! {
    OutputFormat {
        Jsonl = "jsonl": "Records as JSON, one per line",
        Urls = "urls": "URLs with their fragments, one per line",
        Hrefs = "hrefs": "What a browser would fetch, one per line; nothing for a URL that it cannot fetch",
        Csv = "csv": "Comma-separated values after a line of names, with the fields of --fields",
        Tsv = "tsv": "The same with tabs; tabs and line feeds in a text are written \\t and \\n",
        Grep = "grep": "PATH:START: URL for people, and for `urlspool explain`",
        #[cfg(feature = "parquet")]
        Parquet = "parquet": "Records as columns, in a Parquet file",
    }
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

/// Parses the name of a scheme in a list, in which a blank may follow a comma.
pub(super) fn scheme_name(text: &str) -> Result<String, ConfigError> {
    let name = text.trim_matches(' ');
    check_scheme_name(name).map(|()| name.to_owned())
}

/// Parses a number of threads.
pub(super) fn threads(text: &str) -> Result<u16, ThreadsError> {
    let number = text.parse().ok();
    number
        .filter(|number| (1..=MAX_THREADS).contains(number))
        .ok_or(ThreadsError)
}

/// Maximum number of threads.
const MAX_THREADS: u16 = 1024;

/// The number of threads cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThreadsError;

impl fmt::Display for ThreadsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "write a number from 1 to {MAX_THREADS}")
    }
}

impl std::error::Error for ThreadsError {}

/// The size of a split item cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ItemSizeError;

impl fmt::Display for ItemSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
