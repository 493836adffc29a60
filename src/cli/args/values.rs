//! Parsers of option values that are not in `files::options`.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

use urlspool_files::config::{self, NamedValue, named_values, parse_size};
use urlspool_files::options::{self, DatePeriod, field_names, is_period_empty};
use urlspool_record::record::hazard_names;
use urlspool_store::load::{LoadError, TargetName};
use urlspool_text::origin::SourceKind;

/// The value of `--kind`; `None` is `auto`. An alias is needed because clap makes a value of type
/// `Option` optional.
pub(super) type KindOption = Option<SourceKind>;

named_values! {
    /// When to do something that suits a terminal.
    #[derive(Default)]
    pub(crate) enum When {
        #[default]
        Auto = "auto": "On a terminal",
        Always = "always": "Always",
        Never = "never": "Never",
    }
}

named_values! {
    /// The format of a scan's output.
    pub(crate) enum OutputFormat {
        Jsonl = "jsonl": "Records as JSON, one per line",
        Urls = "urls": "URLs with fragments, one per line",
        Hrefs = "hrefs": "URLs as a browser would fetch them, one per line",
        Csv = "csv": "Comma-separated values with a header row",
        Tsv = "tsv": "Tab-separated values; \\t and \\n in texts are escaped",
        Grep = "grep": "PATH:START: URL, for people and `urlspool explain`",
        Parquet = "parquet": "A Parquet file",
    }
}

named_values! {
    /// The format of the matches of a search.
    pub(crate) enum SearchFormat {
        Text = "text": "Date, sender, subject, and PATH:START: URL below",
        Grep = "grep": "PATH:START: URL, for people and `urlspool explain`",
        Urls = "urls": "The URL with its fragment",
        Csv = "csv": "Date, sender, subject, URL, place, Message-ID",
        Tsv = "tsv": "The same, separated by tabs",
        Jsonl = "jsonl": "JSON lines, for `urlspool show`",
        Xarf = "xarf": "Reports for abuse desks (XARF v4), one per message",
    }
}

named_values! {
    /// A value by which the matches of a search are counted.
    pub(crate) enum Facet {
        Domain = "domain": "Registrable domains",
        Host = "host": "Hosts",
        Year = "year": "Years of the messages",
        List = "list": "Mailing lists and newsgroups",
        Scheme = "scheme": "Schemes",
    }
}

named_values! {
    /// The format of citations.
    #[derive(Default)]
    pub(crate) enum CitedFormat {
        #[default]
        Text = "text": "Date, sender, subject, PATH:START: URL, list, thread, link text",
        Csv = "csv": "Comma-separated values",
        Jsonl = "jsonl": "JSON lines, for `urlspool show`",
    }
}

named_values! {
    /// The format of statistics.
    pub(crate) enum StatsFormat {
        Text = "text": "Tables and bars",
        Json = "json": "One line of JSON",
        Html = "html": "A page with charts",
        Csv = "csv": "A folder of CSV files",
    }
}

named_values! {
    /// The format of a status and of a log.
    pub(crate) enum TextOrJson {
        Text = "text": "Text for people",
        Json = "json": "One JSON object per line",
    }
}

/// Parser for the name of a field.
pub(super) fn field_name() -> impl TypedValueParser<Value = String> {
    let parser = StringValueParser::new().try_map(|name| options::field_name(&name));
    let names = || field_names().collect();
    OfferedNames { parser, names }
}

/// Parses the name of a host.
pub(super) fn host_of(text: &str) -> Result<String, String> {
    config::host_of(text, "--domain")
}

/// Parser with names for completion. The inner parser decides what is accepted, and its errors do
/// not list all names.
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

/// Parses an option value by name; the help lists all names.
pub(super) fn named<V: NamedValue>() -> impl TypedValueParser<Value = V> {
    named_among(V::all())
}

/// Parses one of some option values by name; the help lists their names.
pub(super) fn named_among<V: NamedValue>(
    values: impl Iterator<Item = V>,
) -> impl TypedValueParser<Value = V> {
    let values = values.map(|value| PossibleValue::new(value.name()).help(value.meaning()));
    PossibleValuesParser::new(values)
        .map(|name| V::named(&name).expect("clap accepts only the names that it was given"))
}

/// Parses the name of a database or an index.
pub(super) fn target_name(text: &str) -> Result<TargetName, LoadError> {
    TargetName::parse(text)
}

/// Parses a number above 0.
pub(super) fn count<N: std::str::FromStr + Default + PartialOrd>(
    text: &str,
) -> Result<N, &'static str> {
    let number: Option<N> = text.parse().ok();
    number
        .filter(|number| N::default() < *number)
        .ok_or("write a whole number above 0, such as 10")
}

/// Parses a size in bytes above 0.
pub(super) fn item_size(text: &str) -> Result<u64, &'static str> {
    match parse_size(text) {
        Some(bytes) if bytes > 0 => Ok(bytes as u64),
        _ => Err("write it as 64MiB, 1GB or a number of bytes above 0"),
    }
}

/// Parser for the name of a hazard.
pub(super) fn hazard_name() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(hazard_names())
}

/// Checks that a period does not end before it starts. The error is a message.
pub(crate) fn check_period(
    since: Option<DatePeriod>,
    until: Option<DatePeriod>,
) -> Result<(), &'static str> {
    if is_period_empty(since, until) {
        return Err("--since is not before --until; swap them");
    }
    Ok(())
}
