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

/// A state entry on the day of a survey.
#[derive(Clone, Copy, Debug)]
pub(super) struct SurveyedEntry {
    /// `true` if its file exists.
    pub(super) is_present: bool,
    /// Day since which its file was missing at the last survey; `None` if it existed.
    pub(super) missing_since: Option<u64>,
}

impl Retention {
    /// Decides on an entry on this day.
    pub(super) fn decide(entry: SurveyedEntry, day: u64) -> Retention {
        let is_present = entry.is_present;
        match entry.missing_since {
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
        let present = |missing_since, day| {
            let entry = SurveyedEntry {
                is_present: true,
                missing_since,
            };
            Retention::decide(entry, day)
        };
        let missing = |missing_since, day| {
            let entry = SurveyedEntry {
                is_present: false,
                missing_since,
            };
            Retention::decide(entry, day)
        };
        assert_eq!(present(None, 9), Retention::Keep);
        assert_eq!(missing(None, 9), mark(Some(9)));
        assert_eq!(missing(Some(9), 8 + TOMBSTONE_DAYS), Retention::Keep);
        assert_eq!(present(Some(9), 9 + TOMBSTONE_DAYS), mark(None));
        assert_eq!(missing(Some(9), 9 + TOMBSTONE_DAYS), Retention::Purge);
        assert_eq!(
            missing(Some(9), 2),
            Retention::Keep,
            "a state whose watch time was set back"
        );
    }
}
