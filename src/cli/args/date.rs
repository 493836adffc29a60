//! The values of `--since` and `--until`.

use std::fmt;

use jiff::civil::{self, Date};
use jiff::tz::TimeZone;
use jiff::{Span, ToSpan};

use crate::decode;

/// A year, a month, a day or a moment, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DatePeriod {
    /// Its first second, since 1970.
    pub(crate) start: i64,
    /// The first second after it; for a moment, the moment.
    pub(crate) end: i64,
}

/// A text is not a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DateError;

impl fmt::Display for DateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("write a date as 1996, 1996-07, 1996-07-02 or 1996-07-02T13:45:00Z")
    }
}

impl std::error::Error for DateError {}

/// Parses a year, a month, a day, or a time in any form that mail has.
pub(super) fn date_period(text: &str) -> Result<DatePeriod, DateError> {
    calendar_period(text)
        .or_else(|| moment(text))
        .ok_or(DateError)
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

#[cfg(test)]
mod tests {
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
            assert_eq!(date_period(text), Err(DateError), "{text}");
        }
    }
}
