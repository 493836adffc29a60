//! A time of the system clock, for the operator. The daemon itself decides by [`super::host::MonotonicTime`].

use std::fmt;

use serde::{Serialize, Serializer};

/// A time of the system clock, in whole seconds. Displayed and serialized in UTC: `2026-11-22T07:20:40Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct UnixTime {
    /// Seconds since 1970.
    pub seconds: u64,
}

impl UnixTime {
    /// The time `seconds` after the start of 1970.
    #[must_use]
    pub fn new(seconds: u64) -> UnixTime {
        UnixTime { seconds }
    }
}

impl fmt::Display for UnixTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = i64::try_from(self.seconds).unwrap_or(i64::MAX);
        // After the year 9999 there is no text form.
        jiff::Timestamp::from_second(seconds)
            .unwrap_or(jiff::Timestamp::MAX)
            .fmt(f)
    }
}

impl Serialize for UnixTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_in_utc() {
        assert_eq!(UnixTime::new(0).to_string(), "1970-01-01T00:00:00Z");
        assert_eq!(
            UnixTime::new(1_795_332_040).to_string(),
            "2026-11-22T07:20:40Z"
        );
        assert!(UnixTime::new(u64::MAX).to_string().starts_with("9999-12-3"));
    }
}
