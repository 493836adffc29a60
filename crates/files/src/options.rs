//! The options of a scan, set by the flags of `urlspool scan` or the keywords of the Python
//! package.
//!
//! Values are parsed here, once for both. Error messages do not name the option; the caller does.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan};

use crate::config::{Config, ConfigError, check_scheme_name, nearest};
use crate::evidence::EvidenceSource;
use crate::pipeline::Job;
use urlspool_mail::decode::{self, InfoFields};
use urlspool_mail::split::Format;
use urlspool_record::extract::Options;
use urlspool_record::record::{Demand, FieldId, LineFormat, RECORD_FIELDS};
use urlspool_sources::walk::{PathFilter, SymlinkPolicy};
use urlspool_text::limits::CONTEXT_BYTES;
use urlspool_text::origin::{FileRange, Source, SourceKind};

/// Options of a scan: the messages to read, and the URLs to find.
#[derive(Clone, Debug, Default)]
pub struct ScanOptions {
    /// The tables `[extract]` and `[limits]` of the configuration, after other options have
    /// replaced values.
    pub config: Config,
    /// Globs. A file is read if it, or a folder that contains it, matches one; empty for all files.
    pub include: Vec<String>,
    /// Globs of files and folders to skip.
    pub exclude: Vec<String>,
    /// Treatment of symbolic links.
    pub links: SymlinkPolicy,
    /// Kind of all sources; `None` to detect it for each.
    pub kind: Option<SourceKind>,
    /// Messages dated before it are skipped.
    pub since: Option<DatePeriod>,
    /// Messages dated after it are skipped.
    pub until: Option<DatePeriod>,
    /// Mailing lists and newsgroups whose messages are read; empty for all.
    pub lists: Vec<String>,
    /// Source of the evidence for joins; `None` to use each message's own.
    pub evidence: Option<EvidenceSource>,
    /// Number of threads; `None` for the number of processors.
    pub threads: Option<u16>,
}

impl ScanOptions {
    /// Returns the job to read `roots`, or else `items`, into records of a format.
    ///
    /// # Errors
    ///
    /// A message: a glob is invalid, the current folder is gone, or the input cannot be read twice
    /// although it is its own evidence.
    pub fn job(
        &self,
        mut roots: Vec<PathBuf>,
        mut items: Option<Vec<FileRange>>,
        line_format: LineFormat,
    ) -> Result<Job, String> {
        let filter = PathFilter::new(&self.include, &self.exclude)?;
        if self.evidence.as_ref().is_some_and(EvidenceSource::is_own)
            && (items.is_some() || roots.iter().any(|root| is_read_once(root)))
        {
            return Err(READ_ONCE.to_owned());
        }
        if self.config.extract.absolute {
            for item in items.iter_mut().flatten() {
                item.source.path = absolute(&item.source.path)?.into();
            }
            for root in &mut roots {
                *root = absolute(root)?;
            }
        }
        Ok(Job {
            roots,
            items,
            filter,
            links: self.links,
            format: self.kind.map(Format::of),
            threads: match self.threads {
                Some(threads) => threads.into(),
                None => thread::available_parallelism().map_or(1, usize::from),
            },
            line_format,
            rejects: false,
            since: self.since.map(|period| period.start),
            until: self.until.map(|period| period.end),
            lists: self.lists.clone(),
        })
    }

    /// Returns the extraction options for records of a format. The summary counts records by other
    /// authors if their authors are needed.
    #[must_use]
    pub fn extraction(&self, format: &LineFormat, authors: Demand) -> Options {
        let info = match authors {
            Demand::Needed => format.info().with(InfoFields::AUTHOR),
            Demand::Unneeded => format.info(),
        };
        Options {
            ids: format.demand(&[FieldId::Id, FieldId::MessageDigest, FieldId::UnwrappedFrom]),
            line_numbers: format.demand(&[FieldId::SourceLine]),
            regions: format.demand(&[FieldId::Region]),
            info,
            ..self.config.options()
        }
    }
}

/// The error for evidence from an input that can be read only once.
const READ_ONCE: &str = "the evidence `self` reads the input twice, which standard input, pipes \
                         and work items do not allow; scan files or folders, or name a file of \
                         records or URLs as evidence";

/// Returns `true` for standard input, pipes and devices.
fn is_read_once(root: &Path) -> bool {
    let is_stored = |found: Metadata| found.is_file() || found.is_dir();
    root.as_os_str() == Source::STDIN || root.metadata().is_ok_and(|found| !is_stored(found))
}

/// Makes a path absolute, without resolving links. Standard input has no path.
fn absolute(path: &Path) -> Result<PathBuf, String> {
    if path.as_os_str() == Source::STDIN || path.as_os_str().is_empty() {
        return Ok(path.to_owned());
    }
    std::path::absolute(path)
        .map_err(|error| format!("cannot make {} absolute: {error}", path.display()))
}

/// The name of the most used fields.
const SLIM: &str = "slim";

/// Parses the name of a record field, of an object, which means all its fields, or of `SLIM`.
///
/// # Errors
///
/// A message: there is no such field.
pub fn field_name(text: &str) -> Result<String, String> {
    if field_names().any(|known| known == text) {
        return Ok(text.to_owned());
    }
    Err(match nearest(text, field_names()) {
        Some(name) => format!("unknown field; did you mean `{name}`?"),
        None => "unknown field; `urlspool generate man record` lists the fields".to_owned(),
    })
}

/// Returns the names of all fields, of the objects that contain some, and `SLIM`.
pub fn field_names() -> impl Iterator<Item = &'static str> {
    let names = RECORD_FIELDS.iter().map(|field| field.name);
    let names = names.filter(|name| FieldId::named(name).next().is_some());
    names.chain([SLIM])
}

/// Returns the fields with these names, each once, in the order of the names; `None` without a
/// name.
#[must_use]
pub fn named_fields(names: &[String]) -> Option<Vec<FieldId>> {
    let mut chosen = Vec::new();
    for field in names.iter().flat_map(|name| match name.as_str() {
        SLIM => FieldId::slim(),
        name => FieldId::named(name).collect(),
    }) {
        if !chosen.contains(&field) {
            chosen.push(field);
        }
    }
    (!chosen.is_empty()).then_some(chosen)
}

/// Parses the name of a scheme in a list, where a blank may follow a comma.
///
/// # Errors
///
/// The text cannot be the name of a scheme.
pub fn scheme_name(text: &str) -> Result<String, ConfigError> {
    let name = text.trim_matches(' ');
    check_scheme_name(name).map(|()| name.to_owned())
}

/// Parses a number of threads.
///
/// # Errors
///
/// A message that says which form is expected.
pub fn threads(text: &str) -> Result<u16, String> {
    let number = text.parse().ok();
    number
        .filter(|number| (1..=MAX_THREADS).contains(number))
        .ok_or_else(|| format!("write a number from 1 to {MAX_THREADS}"))
}

/// Maximum number of threads.
const MAX_THREADS: u16 = 1024;

/// Parses a number of bytes of context.
///
/// # Errors
///
/// A message that says which form is expected.
pub fn context_bytes(text: &str) -> Result<usize, String> {
    let bytes = text.parse();
    let bytes = bytes.map_err(|_| "write a number of bytes without a unit, such as 40")?;
    if CONTEXT_BYTES < bytes {
        return Err(format!(
            "a record has at most {CONTEXT_BYTES} bytes on each side"
        ));
    }
    Ok(bytes)
}

/// A year, a month, a day or a moment, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatePeriod {
    /// The first second of the period, since 1970.
    pub start: i64,
    /// The first second after the period; for a moment, the moment itself.
    pub end: i64,
}

impl DatePeriod {
    fn at(unix: i64) -> DatePeriod {
        DatePeriod {
            start: unix,
            end: unix,
        }
    }
}

/// Parses the name of a mailing list or a newsgroup.
///
/// # Errors
///
/// A message that says which form is expected.
pub fn list_name(text: &str) -> Result<String, &'static str> {
    let name = text.trim();
    let name = name.strip_prefix('<').unwrap_or(name);
    let name = name.strip_suffix('>').unwrap_or(name);
    let is_name = !name.is_empty() && !name.contains(['<', '>']);
    is_name
        .then(|| name.to_owned())
        .ok_or("write only the name of a list, such as www-talk.w3.org")
}

/// Returns `true` if no time lies within both limits.
#[must_use]
pub fn is_period_empty(since: Option<DatePeriod>, until: Option<DatePeriod>) -> bool {
    matches!((since, until), (Some(since), Some(until)) if until.end <= since.start)
}

/// Parses a year, a month, a day, a time in any form that mail uses, or a time before now, such as
/// `7d`.
///
/// # Errors
///
/// A message that says which form is expected.
pub fn date_period(text: &str) -> Result<DatePeriod, &'static str> {
    calendar_period(text)
        .or_else(|| moment(text))
        .or_else(|| moment_ago(text))
        .ok_or(
            "write a date as 1996, 1996-07, 1996-07-02 or 1996-07-02T13:45:00Z, or an age as 24h, \
             7d or 12w",
        )
}

/// Parses `YYYY`, `YYYY-MM` or `YYYY-MM-DD`.
fn calendar_period(text: &str) -> Option<DatePeriod> {
    let step: Span = match text.len() {
        4 => 1.year(),
        7 => 1.month(),
        10 => 1.day(),
        _ => return None,
    };
    let rest = "0000-01-01".get(text.len()..)?;
    let first: Date = format!("{text}{rest}").parse().ok()?;
    Some(DatePeriod {
        start: midnight(first)?,
        end: midnight(first.checked_add(step).ok()?)?,
    })
}

/// The seconds since 1970 of the start of a day.
fn midnight(date: Date) -> Option<i64> {
    let zoned = date.to_zoned_datetime(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_second())
}

/// Parses a date with a time of day.
fn moment(text: &str) -> Option<DatePeriod> {
    if !text.contains(':') {
        return None;
    }
    decode::parse_date(text).unix.map(DatePeriod::at)
}

/// Parses hours, days or weeks before now: `24h`, `7d`, `12w`.
fn moment_ago(text: &str) -> Option<DatePeriod> {
    let before = i64::try_from(age(text)?.as_secs()).ok()?;
    let now = jiff::Timestamp::now().as_second();
    now.checked_sub(before).map(DatePeriod::at)
}

/// Parses a number of hours, days or weeks: `24h`, `7d`, `12w`.
#[must_use]
pub fn age(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let hours = match unit {
        "h" => 1,
        "d" => 24,
        "w" => 7 * 24,
        _ => return None,
    };
    let number: u32 = number.parse().ok()?;
    Some(Duration::from_hours(hours * u64::from(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_before_now_needs_a_unit() {
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
    fn ages_need_a_unit() {
        assert_eq!(age("36h"), Some(Duration::from_hours(36)));
        assert_eq!(age("2w"), Some(Duration::from_hours(14 * 24)));
        for text in ["", "30", "d", "-1d", "1.5d", "30\u{e9}"] {
            assert!(age(text).is_none(), "{text}");
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
    fn a_period_ends_at_the_start_of_the_next() {
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
