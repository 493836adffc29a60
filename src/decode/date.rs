//! Dates of mail and news, in the many forms that four decades wrote them.
//!
//! This file and its folder find the day, month, year, time and zone; `jiff` does the calendar arithmetic.

mod prefix;
mod tokens;
mod zone;

use jiff::civil;
use jiff::tz::Offset;

use prefix::{month_of, number};
use tokens::DateTokens;
use zone::{named_zone, numeric_zone};

/// A date as written, and the moment that it means.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Date {
    /// The field's text.
    pub raw: String,
    /// The moment in UTC, as RFC 3339 with a `Z`; `None` if the text is no date.
    pub utc: Option<String>,
    /// Seconds since 1970; `Some` if and only if `utc` is.
    pub unix: Option<i64>,
    /// Knowledge of the zone. An unknown zone is read as UTC.
    pub zone: Zone,
}

/// Knowledge of a date's zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// The text has an offset, or a name from the table of zones.
    Known,
    /// The text has another name, or no zone.
    Unknown,
}

/// Parses a date: RFC 5322, RFC 850, ctime, ISO 8601, years of two and three digits, zones by name.
///
/// Never fails: the result has no moment if the text is no date.
#[must_use]
pub fn parse_date(raw: &str) -> Date {
    parse_common(raw).unwrap_or_else(|| parse_tokens(raw))
}

/// Parses the form of nearly all mail of today, `Thu, 1 Dec 1994 09:30:00 +0000` (RFC 5322 section 3.3), which a comment
/// may follow. `None` for any other form.
///
/// The result is the one of [`parse_tokens`], without its cost.
fn parse_common(raw: &str) -> Option<Date> {
    let text = raw.as_bytes();
    let rest = match text {
        [a, b, c, b',', b' ', rest @ ..]
            if [a, b, c].iter().all(|byte| byte.is_ascii_alphabetic()) =>
        {
            rest
        }
        _ => text,
    };
    let day = number(rest, 1..=2)?;
    let rest = day.rest.strip_prefix(b" ")?;
    let (name, rest) = rest.split_at_checked(3)?;
    let month = month_of(name)?;
    let year = number(rest.strip_prefix(b" ")?, 4..=4)?;
    let hour = number(year.rest.strip_prefix(b" ")?, 2..=2)?;
    let minute = number(hour.rest.strip_prefix(b":")?, 2..=2)?;
    let second = number(minute.rest.strip_prefix(b":")?, 2..=2)?;
    let zone = second.rest.strip_prefix(b" ")?;
    let zone = numeric_zone(zone).or_else(|| named_zone(zone))?;
    let is_common = second.value < 60 && (1900..=9998).contains(&year.value);
    if !is_common || !(zone.rest.is_empty() || zone.rest.starts_with(b" (")) {
        return None;
    }
    let date = civil::Date::new(year.value as i16, month, day.value as i8).ok()?;
    let (hour, minute, second) = (hour.value as i8, minute.value as i8, second.value as i8);
    let moment = date.to_datetime(civil::Time::new(hour, minute, second, 0).ok()?);
    date_in_utc(raw, moment, Some(zone.value))
}

/// The date of a local time, `offset` minutes east of Greenwich; `None` for an unknown zone.
fn date_in_utc(raw: &str, local: civil::DateTime, offset: Option<i32>) -> Option<Date> {
    let timestamp = Offset::UTC.to_timestamp(local).ok()?;
    let unix = timestamp.as_second() - i64::from(offset.unwrap_or(0)) * 60;
    let utc = jiff::Timestamp::from_second(unix).ok()?.to_string();
    Some(Date {
        raw: raw.to_owned(),
        utc: Some(utc),
        unix: Some(unix),
        zone: offset.map_or(Zone::Unknown, |_| Zone::Known),
    })
}

/// Parses a date of any form, word by word.
fn parse_tokens(raw: &str) -> Date {
    let tokens = DateTokens::of(raw);
    let date = tokens
        .local_time()
        .and_then(|local| date_in_utc(raw, local, tokens.offset));
    date.unwrap_or_else(|| Date {
        raw: raw.to_owned(),
        utc: None,
        unix: None,
        zone: Zone::Unknown,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, utc: &str) {
        assert_eq!(parse_date(raw).utc.as_deref(), Some(utc), "{raw}");
    }

    #[test]
    fn the_forms_of_four_decades_are_parsed() {
        check("Thu, 1 Dec 1994 09:30:00 +0000", "1994-12-01T09:30:00Z");
        check("Tuesday, 02-Jul-96 13:45:10 GMT", "1996-07-02T13:45:10Z");
        check("Tue Jul  2 13:45:10 1996", "1996-07-02T13:45:10Z");
        check("Tue Jul  2 13:45:10 EDT 1996", "1996-07-02T17:45:10Z");
        check("2 Jul 96 13:45 PDT", "1996-07-02T20:45:00Z");
        check("Tue, 2 Jul 1996 13:45:10 MET DST", "1996-07-02T11:45:10Z");
        check("Tue, 2 Jul 1996 13.45.10 +0200", "1996-07-02T11:45:10Z");
        check("Tue, 2 Jul 1996 13:45:60 JST", "1996-07-02T04:45:59Z");
        check(
            "Tue, 2 Jul 101 13:45:10 -0500 (EST)",
            "2001-07-02T18:45:10Z",
        );
        check("1996-07-02T13:45:10+02:00", "1996-07-02T11:45:10Z");
        check("Sun, 03 May 2020 20:01:02 GMT+2", "2020-05-03T18:01:02Z");
        check("Mar, 5 Feb 1998 10:00 GMT", "1998-02-05T10:00:00Z");
        check("March 5, 1998 10:00 GMT", "1998-03-05T10:00:00Z");
        check("Dec 31, 1998 10:00 GMT by Mar", "1998-12-31T10:00:00Z");
        check("mar, 5 98 10:00 GMT", "1998-03-05T10:00:00Z");
    }

    #[test]
    fn the_common_form_is_read_like_any_other() {
        let mut read = 0;
        for day in ["1", "01", "31", "32", "0"] {
            for month in ["Feb", "dec", "Foo"] {
                for year in ["1899", "1900", "1996", "2026", "9999", "96"] {
                    for time in [
                        "00:00:00", "23:59:59", "23:59:60", "24:00:00", "9:30:00", "09:30",
                    ] {
                        for zone in [
                            "+0000",
                            "-0730",
                            "+1500",
                            "+0060",
                            "GMT",
                            "pst (x)",
                            "MET DST",
                            "+0200 (CEST)",
                            "-0800(PST)",
                            "DST",
                        ] {
                            for weekday in ["", "Thu, ", "Thursday, ", "thu ", "Mar, "] {
                                let raw = format!("{weekday}{day} {month} {year} {time} {zone}");
                                if let Some(date) = parse_common(&raw) {
                                    assert_eq!(date, parse_tokens(&raw), "{raw}");
                                    read += 1;
                                }
                            }
                        }
                    }
                }
            }
        }
        assert!(read > 100);
    }

    #[test]
    fn an_unknown_zone_is_reported_as_unknown() {
        assert_eq!(parse_date("2 Jul 1996 13:45:10 XYZ").zone, Zone::Unknown);
        assert_eq!(parse_date("2 Jul 1996 13:45:10 JST").zone, Zone::Known);
    }

    #[test]
    fn text_that_is_no_date_is_kept() {
        for raw in ["", "yesterday", "99 Foo 1996", "31 Feb 1996 10:00", "0 0 0"] {
            assert_eq!(
                (parse_date(raw).utc, parse_date(raw).raw),
                (None, raw.to_owned())
            );
        }
    }
}
