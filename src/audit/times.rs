//! Times as the tables have them: the present time, and times of checks that were made elsewhere.

use std::time::Duration;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::limits::{AUDIT_CHECK_AHEAD_HOURS, AUDIT_FIRST_CHECK_SECONDS};

/// Returns the present time in UTC, as `2026-11-22T10:00:00Z`.
pub(super) fn now() -> String {
    shown(Timestamp::now())
}

/// Returns the time that lies `age` before the present.
pub(super) fn time_before(age: Duration) -> String {
    let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
    // Before the beginning of time everything is newer.
    let time = Timestamp::now().checked_sub(age);
    shown(time.unwrap_or(Timestamp::MIN))
}

/// Returns a time as the tables have it.
fn shown(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A time of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckTime(Timestamp);

impl CheckTime {
    /// Parses `2026-11-22`, `2026-11-22T10:00:00Z`, or a time with another offset, after which RFC
    /// 9557 allows a time zone in brackets. A time without an offset is in UTC, and has no time
    /// zone: the offsets of names are not known here.
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
    /// It lies after `now`, by more than time zones explain, or before the beginning of the Web. A
    /// time in the future would be newer than each check until then.
    pub(super) fn text(self, now: Timestamp) -> Result<String, String> {
        let text = shown(self.0);
        let ahead = SignedDuration::from_hours(AUDIT_CHECK_AHEAD_HOURS);
        if self.0.as_second() < AUDIT_FIRST_CHECK_SECONDS {
            return Err(format!(
                "the time {text} is before 1990, when there was no Web"
            ));
        }
        if ahead < self.0.duration_since(now) {
            return Err(format!(
                "the time {text} lies more than {AUDIT_CHECK_AHEAD_HOURS} hours ahead"
            ));
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_seconds() {
        assert_eq!(now().len(), "2026-11-22T10:00:00Z".len());
        assert!(time_before(Duration::from_hours(1)) < now());
        assert_eq!(time_before(Duration::MAX), "-9999-01-02T01:59:59Z");
    }

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
