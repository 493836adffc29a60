//! The present time, as the tables have it.

use std::time::Duration;

use jiff::SignedDuration;

/// Returns the present time in UTC, as `2026-11-22T10:00:00Z`.
pub(super) fn now() -> String {
    shown(jiff::Timestamp::now())
}

/// Returns the time that lies `age` before the present.
pub(super) fn time_before(age: Duration) -> String {
    let age = SignedDuration::try_from(age).unwrap_or(SignedDuration::MAX);
    // Before the beginning of time everything is newer.
    let time = jiff::Timestamp::now().checked_sub(age);
    shown(time.unwrap_or(jiff::Timestamp::MIN))
}

/// Returns a time as the tables have it.
pub(super) fn shown(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the seconds until a date of HTTP (`Sun, 06 Nov 1994 08:49:37 GMT`), 0 if it has passed; `None` for another text.
pub(super) fn seconds_until(date: &str) -> Option<u64> {
    let time = jiff::fmt::rfc2822::parse(date).ok()?.timestamp();
    let left = time.duration_since(jiff::Timestamp::now()).as_secs();
    Some(u64::try_from(left).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_http_are_read() {
        assert_eq!(seconds_until("Sun, 06 Nov 1994 08:49:37 GMT"), Some(0));
        assert!(
            seconds_until("Tue, 31 Dec 2097 00:00:00 GMT").is_some_and(|left| left > 1_000_000)
        );
        assert_eq!(seconds_until("soon"), None);
    }

    #[test]
    fn times_are_in_seconds() {
        assert_eq!(now().len(), "2026-11-22T10:00:00Z".len());
        assert!(time_before(Duration::from_hours(1)) < now());
        assert_eq!(time_before(Duration::MAX), "-9999-01-02T01:59:59Z");
    }
}
