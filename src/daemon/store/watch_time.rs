//! The time for which the spools have been watched. The age of missing files is measured with it.
//!
//! The system clock may jump, and no state may be purged because of that. So the time counts during which the daemon runs,
//! and of the time between two runs at most [`MAX_DOWNTIME_S`].

use super::state_db::StateDb;
use crate::daemon::error::DaemonError;
use crate::daemon::host::{DaemonHost, MonotonicTime};
use crate::limits::{AGE_SAVE_INTERVAL_S, MAX_DOWNTIME_S};

const DAY_S: u64 = 86_400;

/// The time for which the spools have been watched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchTime {
    /// Seconds before `since`.
    before_s: u64,
    since: MonotonicTime,
    now: MonotonicTime,
    /// Seconds since 1970; `None` without a system clock.
    unix_time: Option<u64>,
    /// Seconds that are saved in the state.
    saved_s: u64,
}

impl WatchTime {
    /// Continues from the time that the last run saved.
    pub(crate) fn open(db: &StateDb, host: &mut dyn DaemonHost) -> Result<WatchTime, DaemonError> {
        let (now, unix_time) = (host.now(), host.unix_time());
        let saved_s = db.meta_value("age")?.unwrap_or(0);
        let away_s = match (db.meta_value("date")?, unix_time) {
            (Some(before), Some(now)) => now.saturating_sub(before).min(MAX_DOWNTIME_S),
            _ => 0,
        };
        Ok(WatchTime {
            before_s: saved_s + away_s,
            since: now,
            now,
            unix_time,
            saved_s,
        })
    }

    /// Reads the clocks.
    pub(crate) fn update(&mut self, host: &mut dyn DaemonHost) {
        (self.now, self.unix_time) = (host.now(), host.unix_time());
    }

    /// The day, counted from the first.
    pub(crate) fn day(&self) -> u64 {
        self.seconds() / DAY_S
    }

    /// Returns `true` if it was not saved for [`AGE_SAVE_INTERVAL_S`].
    pub(crate) fn is_due(&self) -> bool {
        self.saved_s + AGE_SAVE_INTERVAL_S <= self.seconds()
    }

    /// Saves it in the open transaction.
    pub(crate) fn save(&mut self, db: &StateDb) -> Result<(), DaemonError> {
        self.saved_s = self.seconds();
        db.set_meta_value("age", self.saved_s)?;
        match self.unix_time {
            Some(unix_time) => db.set_meta_value("date", unix_time),
            None => Ok(()),
        }
    }

    fn seconds(&self) -> u64 {
        self.before_s + self.now.ms.saturating_sub(self.since.ms) / 1_000
    }
}
