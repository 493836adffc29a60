//! The retention of state entries whose files are missing.

use crate::limits::TOMBSTONE_DAYS;

/// Retention decision for one state entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retention {
    /// It stays as it is.
    Keep,
    /// It is marked as missing since a day, or as present again.
    Mark { missing_since: Option<u64> },
    /// It is removed.
    Purge,
}

impl Retention {
    /// Decides on an entry whose file exists or is missing on this day.
    pub(super) fn decide(is_present: bool, missing_since: Option<u64>, day: u64) -> Retention {
        match missing_since {
            None if is_present => Retention::Keep,
            None => Retention::Mark {
                missing_since: Some(day),
            },
            Some(_) if is_present => Retention::Mark {
                missing_since: None,
            },
            Some(since) if since + TOMBSTONE_DAYS <= day => Retention::Purge,
            Some(_) => Retention::Keep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_entries_are_purged_after_their_time_and_not_before() {
        let mark = |missing_since| Retention::Mark { missing_since };
        assert_eq!(Retention::decide(true, None, 9), Retention::Keep);
        assert_eq!(Retention::decide(false, None, 9), mark(Some(9)));
        assert_eq!(
            Retention::decide(false, Some(9), 8 + TOMBSTONE_DAYS),
            Retention::Keep
        );
        assert_eq!(
            Retention::decide(true, Some(9), 9 + TOMBSTONE_DAYS),
            mark(None)
        );
        assert_eq!(
            Retention::decide(false, Some(9), 9 + TOMBSTONE_DAYS),
            Retention::Purge
        );
        assert_eq!(
            Retention::decide(false, Some(9), 2),
            Retention::Keep,
            "a state whose watch time was set back"
        );
    }
}
