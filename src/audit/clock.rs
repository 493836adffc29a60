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
