//! The present time, as the tables have it.

/// Returns the present time in UTC, as `2026-11-22T10:00:00Z`.
pub(super) fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}
