//! Times of checks that were made elsewhere.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::result_error::ResultError;
use crate::audit::clock::shown;
use crate::limits::{AUDIT_CHECK_AHEAD_HOURS, AUDIT_FIRST_CHECK_SECONDS};

/// A time of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckTime(Timestamp);

impl CheckTime {
    /// Parses `2026-11-22`, `2026-11-22T10:00:00Z`, or a time with another offset, after which RFC 9557 allows a time zone in brackets. A
    /// time without an offset is in UTC, and has no time zone: the offsets of names are not known here.
    #[must_use]
    pub fn parse(text: &str) -> Option<CheckTime> {
        let text = text.trim();
        let with_offset = || text.parse::<Timestamp>().ok();
        let in_utc = || {
            if text.contains('[') {
                return None;
            }
            let time = text.parse::<DateTime>().ok()?;
            Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
        };
        with_offset().or_else(in_utc).map(CheckTime)
    }

    /// Returns the time as the tables have it.
    ///
    /// # Errors
    ///
    /// It lies after `now`, by more than time zones explain, or before the beginning of the Web. A time in the future would be
    /// newer than each check until then.
    pub(super) fn text(self, now: Timestamp) -> Result<String, ResultError> {
        let text = shown(self.0);
        let ahead = SignedDuration::from_hours(AUDIT_CHECK_AHEAD_HOURS);
        if self.0.as_second() < AUDIT_FIRST_CHECK_SECONDS {
            return Err(ResultError::EarlyTime(text));
        }
        if ahead < self.0.duration_since(now) {
            return Err(ResultError::FutureTime(text));
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Option<String> {
        let now = "2026-11-23T09:00:00Z".parse().unwrap();
        CheckTime::parse(text)?.text(now).ok()
    }

    #[test]
    fn times_are_read_in_usual_forms() {
        for (form, expected) in [
            ("2026-11-22", Some("2026-11-22T00:00:00Z")),
            ("2026-11-22T10:00:00Z", Some("2026-11-22T10:00:00Z")),
            ("2026-11-22T10:00:00.75+02:00", Some("2026-11-22T08:00:00Z")),
            ("2026-11-22 10:00:00", Some("2026-11-22T10:00:00Z")),
            (" 2026-11-22T10:00 ", Some("2026-11-22T10:00:00Z")),
            (
                "2026-11-22T10:00:00+09:00[Asia/Tokyo]",
                Some("2026-11-22T01:00:00Z"),
            ),
            (
                "2026-11-22T10:00:00Z[Asia/Tokyo]",
                Some("2026-11-22T10:00:00Z"),
            ),
            ("2026-11-22T10:00:00[Asia/Tokyo]", None),
            ("2026-11-22[Asia/Tokyo]", None),
            ("yesterday", None),
            ("", None),
            ("2026-13-01", None),
        ] {
            assert_eq!(text(form).as_deref(), expected, "{form}");
        }
    }

    #[test]
    fn a_check_was_made_since_the_web_began_and_before_now() {
        for (form, is_taken) in [
            ("1989-12-31T23:59:59Z", false),
            ("1990-01-01", true),
            // A day that has begun in Kiribati.
            ("2026-11-24", true),
            ("2026-11-24T09:00:00Z", true),
            ("2026-11-24T09:00:01Z", false),
            ("9999-01-01", false),
            ("-000001-01-01", false),
        ] {
            assert_eq!(text(form).is_some(), is_taken, "{form}");
        }
    }
}
