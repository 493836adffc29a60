//! Parsers of option values, among them those of `--limit`, `--since` and `--until`.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use jiff::civil::{self, Date};
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan};

use crate::config::{
    ConfigError, NamedValue, check_header_field, check_scheme_name, named_values, nearest,
    parse_size,
};
use crate::decode::{self, BodyRegion, EXTERNAL_BODY_REGION, link_attributes};
use crate::limits::{CONTEXT_BYTES, Limit, LimitUnit, Limits};
#[cfg(feature = "load")]
use crate::load::{LoadError, SearchOrder, TargetName};
use crate::origin::SourceKind;
use crate::parse::host_name;
use crate::record::{self, ClosedSet, FieldId};

/// The value of `--kind`: `None` is `auto`. An alias, since clap makes the value of an `Option`
/// optional.
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
    /// Date, sender and subject, and a line of `Grep`.
    Text,
    /// Source, offset and URL.
    Grep,
    /// The URL and its fragment.
    Urls,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// Fields of the records as JSON.
    Jsonl,
}

#[cfg(feature = "load")]
named_values! {
    SearchOrder {
        Newest = "newest": "The last citations first",
        Oldest = "oldest": "The first citations first",
    }
}

#[cfg(feature = "load")]
named_values! {
    SearchFormat {
        Text = "text": "Date, sender and subject, and below them PATH:START: URL",
        Grep = "grep": "PATH:START: URL for people, and for `urlspool explain`",
        Urls = "urls": "The URL with its fragment",
        Csv = "csv": "Comma-separated values: date, sender, subject, URL, place, Message-ID",
        Tsv = "tsv": "The same, separated by tabs",
        Jsonl = "jsonl": "Fields of the records as JSON, one per line, for `urlspool show`",
    }
}

/// A value of the matches of a search whose numbers are printed.
#[cfg(feature = "stats")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Facet {
    /// Registrable domains.
    Domain,
    /// Hosts.
    Host,
    /// Years of messages.
    Year,
    /// Mailing lists and newsgroups.
    List,
    /// Schemes.
    Scheme,
}

#[cfg(feature = "stats")]
named_values! {
    Facet {
        Domain = "domain": "Registrable domains",
        Host = "host": "Hosts",
        Year = "year": "Years of the messages",
        List = "list": "Mailing lists and newsgroups",
        Scheme = "scheme": "Schemes",
    }
}

/// The format of citations.
#[cfg(feature = "load")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CitedFormat {
    /// Lines for people.
    #[default]
    Text,
    /// Comma-separated values.
    Csv,
    /// Fields of the records as JSON.
    Jsonl,
}

#[cfg(feature = "load")]
named_values! {
    CitedFormat {
        Text = "text": "Date, sender and subject, PATH:START: URL, list, thread and text of the link",
        Csv = "csv": "Comma-separated values",
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

/// Parser of the name of a field.
pub(super) fn field_name() -> impl TypedValueParser<Value = FieldNameArgument> {
    let parser = StringValueParser::new().try_map(parse_field_name);
    let names = || field_names().collect();
    OfferedNames { parser, names }
}

fn parse_field_name(name: String) -> Result<FieldNameArgument, String> {
    if field_names().any(|known| known == name) {
        return Ok(FieldNameArgument(name));
    }
    Err(match nearest(&name, field_names()) {
        Some(name) => format!("unknown field; did you mean `{name}`?"),
        None => "unknown field; `urlspool man record` lists the fields".to_owned(),
    })
}

fn field_names() -> impl Iterator<Item = &'static str> {
    let names = record::RECORD_FIELDS.iter().map(|field| field.name);
    names.filter(|name| FieldId::named(name).next().is_some())
}

/// Parser with names that completion offers. The parser decides what is accepted, and an error does
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
        Hrefs = "hrefs": "What a browser would fetch, one per line; nothing for a URL that it \
                          cannot fetch",
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

/// Parses the name of a database or an index.
#[cfg(feature = "load")]
pub(super) fn target_name(text: &str) -> Result<TargetName, LoadError> {
    TargetName::parse(text)
}

/// Parses a number of threads.
pub(super) fn threads(text: &str) -> Result<u16, String> {
    let number = text.parse().ok();
    number
        .filter(|number| (1..=MAX_THREADS).contains(number))
        .ok_or_else(|| format!("write a number from 1 to {MAX_THREADS}"))
}

/// Maximum number of threads.
const MAX_THREADS: u16 = 1024;

/// Parses a number of bytes of context.
pub(super) fn context_bytes(text: &str) -> Result<usize, String> {
    let bytes = text
        .parse()
        .map_err(|_| "write a number of bytes without a unit, such as 40")?;
    if CONTEXT_BYTES < bytes {
        return Err(format!(
            "a record has at most {CONTEXT_BYTES} bytes on each side"
        ));
    }
    Ok(bytes)
}

/// Parses a number above 0.
#[cfg(feature = "load")]
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

/// Parses the character between two cells: a sign that no name of a column holds, or a tab.
pub(super) fn delimiter(text: &str) -> Result<u8, &'static str> {
    match text.as_bytes() {
        b"tab" | b"\\t" | b"\t" => Ok(b'\t'),
        [sign] if sign.is_ascii_punctuation() && !b"\"'`.-_\\".contains(sign) => Ok(*sign),
        _ => Err(
            "write one sign, such as `;`, `|` or `:`, or `tab`; quotes, `.`, `-`, `_` and `\\` \
             have other uses",
        ),
    }
}

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

/// Parses `NAME=VALUE`.
pub(super) fn limit_setting(text: &str) -> Result<LimitSetting, String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    let limit = Limits::ALL
        .iter()
        .find(|limit| limit.name == name)
        .ok_or_else(|| unknown_limit(name))?;
    let (value, form) = match limit.unit {
        LimitUnit::Bytes => (parse_size(value), "64KiB, 1MB or a number of bytes"),
        LimitUnit::Number => (value.parse().ok(), "a number"),
    };
    let value = value.ok_or_else(|| format!("write the value as {form}"))?;
    let min = limit.min;
    if value < min {
        return Err(format!("the value must be at least {min}"));
    }
    Ok(LimitSetting { limit, value })
}

fn unknown_limit(name: &str) -> String {
    let advice = match nearest(name, Limits::ALL.iter().map(|limit| limit.name)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`urlspool scan --help` lists the limits".to_owned(),
    };
    format!("unknown limit `{name}`; {advice}")
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

/// A year, a month, a day or a moment, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DatePeriod {
    /// Its first second, since 1970.
    pub(crate) start: i64,
    /// The first second after it; for a moment, the moment.
    pub(crate) end: i64,
}

/// Parses the name of a host, in the form that records have.
pub(super) fn host_of(text: &str) -> Result<String, &'static str> {
    if text.contains('*') {
        return Err("write it without `*`: --domain cern.ch takes all hosts beneath cern.ch too");
    }
    host_name(text).ok_or("write the name of a host alone, such as info.cern.ch")
}

/// Parses the name of a region, or of all those in headers or HTML.
pub(super) fn region_name(text: &str) -> Result<String, &'static str> {
    let name = text.trim_matches(' ');
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    let is_attribute = |rest: &str| {
        let attribute = rest.split_once('.').map(|(_, attribute)| attribute);
        rest == "text" || attribute.is_some_and(|name| link_attributes().any(|other| other == name))
    };
    let is_known = match name.to_ascii_lowercase().split_once(':') {
        None => {
            BodyRegion::ALL.iter().any(|region| is(region.name()))
                || [EXTERNAL_BODY_REGION, "header", "html"].into_iter().any(is)
        }
        Some(("header", field)) => !field.is_empty() && !field.contains([' ', ':']),
        Some(("html", rest)) => is_attribute(rest),
        Some(_) => false,
    };
    is_known.then(|| name.to_owned()).ok_or(
        "write body, signature, forwarded, footer, external-body, header, html, header:FIELD, \
         html:text or html:ELEMENT.ATTRIBUTE",
    )
}

/// Parses the name of a header field.
pub(super) fn header_field(text: &str) -> Result<String, String> {
    let name = text.trim_matches(' ').trim_end_matches(':');
    check_header_field(name).map_err(|error| error.to_string())?;
    Ok(name.to_owned())
}

/// Parses the name of a mailing list or a newsgroup.
pub(super) fn list_name(text: &str) -> Result<String, &'static str> {
    let name = text.trim();
    let name = name.strip_prefix('<').unwrap_or(name);
    let name = name.strip_suffix('>').unwrap_or(name);
    let is_name = !name.is_empty() && !name.contains(['<', '>']);
    is_name
        .then(|| name.to_owned())
        .ok_or("write the name of a list alone, such as www-talk.w3.org")
}

/// The parser of the name of a hazard.
pub(super) fn hazard_name() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(ClosedSet::Hazards.names())
}

/// Checks that a period does not end before it begins. The error is a message.
pub(crate) fn check_period(
    since: Option<DatePeriod>,
    until: Option<DatePeriod>,
) -> Result<(), &'static str> {
    match (since, until) {
        (Some(since), Some(until)) if until.end <= since.start => {
            Err("--since is not before --until, so that nothing can be found; exchange them")
        }
        _ => Ok(()),
    }
}

/// Parses a year, a month, a day, a time in any form that mail has, or a time before now, such as
/// `7d`.
pub(super) fn date_period(text: &str) -> Result<DatePeriod, &'static str> {
    calendar_period(text)
        .or_else(|| moment(text))
        .or_else(|| moment_ago(text))
        .ok_or(
            "write a date as 1996, 1996-07, 1996-07-02 or 1996-07-02T13:45:00Z, or a time before \
             now as 24h, 7d or 12w",
        )
}

/// Parses `YYYY`, `YYYY-MM` or `YYYY-MM-DD`.
fn calendar_period(text: &str) -> Option<DatePeriod> {
    let is_digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').filter(is_digits).collect();
    let widths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let (step, month, day): (Span, i8, i8) = match *widths {
        [4] => (1.year(), 1, 1),
        [4, 2] => (1.month(), parts[1].parse().ok()?, 1),
        [4, 2, 2] => (1.day(), parts[1].parse().ok()?, parts[2].parse().ok()?),
        _ => return None,
    };
    if text.split('-').count() != parts.len() {
        return None;
    }
    let first = civil::Date::new(parts[0].parse().ok()?, month, day).ok()?;
    Some(DatePeriod {
        start: midnight(first)?,
        end: midnight(first.checked_add(step).ok()?)?,
    })
}

/// The seconds since 1970 of the start of a day.
fn midnight(date: Date) -> Option<i64> {
    let zoned = date.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_second())
}

/// Parses a date with a time of day.
fn moment(text: &str) -> Option<DatePeriod> {
    if !text.contains(':') {
        return None;
    }
    let unix = decode::parse_date(text).unix?;
    Some(DatePeriod {
        start: unix,
        end: unix,
    })
}

/// Parses hours, days or weeks before now: `24h`, `7d`, `12w`.
fn moment_ago(text: &str) -> Option<DatePeriod> {
    const HOUR: i64 = 3_600;
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "h" => HOUR,
        "d" => 24 * HOUR,
        "w" => 7 * 24 * HOUR,
        _ => return None,
    };
    let before = i64::from(number.parse::<u32>().ok()?).checked_mul(seconds)?;
    let unix = jiff::Timestamp::now().as_second().checked_sub(before)?;
    Some(DatePeriod {
        start: unix,
        end: unix,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_before_now_has_a_unit() {
        let now = jiff::Timestamp::now().as_second();
        for (text, seconds) in [("24h", 86_400), ("7d", 604_800), ("2w", 1_209_600)] {
            let period = date_period(text).unwrap();
            assert_eq!(period.start, period.end);
            assert!(
                (now - seconds..=now - seconds + 60).contains(&period.start),
                "{text}"
            );
        }
        for text in ["d", "7", "7x", "-7d", "7 d", "99999999999d", "\u{e9}d"] {
            assert!(date_period(text).is_err(), "{text}");
        }
    }

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
            let error = limit_setting(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}

#[cfg(test)]
mod date_tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, start: &str, end: &str) {
        let unix = |text: &str| decode::parse_date(text).unix.unwrap();
        let period = DatePeriod {
            start: unix(start),
            end: unix(end),
        };
        assert_eq!(date_period(text), Ok(period), "{text}");
    }

    #[test]
    fn a_period_ends_where_the_next_one_begins() {
        check("1996", "1996-01-01T00:00:00Z", "1997-01-01T00:00:00Z");
        check("1996-12", "1996-12-01T00:00:00Z", "1997-01-01T00:00:00Z");
        check("1996-02-29", "1996-02-29T00:00:00Z", "1996-03-01T00:00:00Z");
    }

    #[test]
    fn a_time_is_a_moment() {
        let time = "1996-07-02T13:45:00Z";
        check(time, time, time);
        check("Tue, 2 Jul 1996 15:45:00 +0200", time, time);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "96",
            "1996-7",
            "1996-13",
            "1997-02-29",
            "some day",
            "1996-",
            "-1996",
            "199607",
        ] {
            assert!(date_period(text).is_err(), "{text}");
        }
    }
}
