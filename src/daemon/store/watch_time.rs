//! How long the spools have been watched: the time that tombstones count by.
//!
//! The machine's clock may jump, and nothing may be forgotten because of it. So the time that the daemon runs is counted,
//! and of the time between two runs no more than [`MAX_DOWNTIME_S`].

use super::state::StateDb;
use crate::daemon::error::DaemonError;
use crate::daemon::host::{DaemonHost, MonotonicTime};
use crate::limits::{AGE_SAVE_INTERVAL_S, MAX_DOWNTIME_S};

const DAY_S: u64 = 86_400;

/// How long the spools have been watched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchTime {
    /// Seconds until `since`.
    before: u64,
    since: MonotonicTime,
    now: MonotonicTime,
    /// Seconds since 1970, if the machine tells.
    date: Option<u64>,
    /// What of it is kept in the state.
    kept: u64,
}

impl WatchTime {
    /// Goes on counting where the state says that the last run ended.
    pub(crate) fn open(
        store: &StateDb,
        host: &mut dyn DaemonHost,
    ) -> Result<WatchTime, DaemonError> {
        let (now, date) = (host.now(), host.unix_time());
        let kept = store.meta_value("age")?.unwrap_or(0);
        let away = match (store.meta_value("date")?, date) {
            (Some(before), Some(now)) => now.saturating_sub(before).min(MAX_DOWNTIME_S),
            _ => 0,
        };
        Ok(WatchTime {
            before: kept + away,
            since: now,
            now,
            date,
            kept,
        })
    }

    /// Lets the time pass.
    pub(crate) fn pass(&mut self, host: &mut dyn DaemonHost) {
        (self.now, self.date) = (host.now(), host.unix_time());
    }

    fn seconds(&self) -> u64 {
        self.before + self.now.ms.saturating_sub(self.since.ms) / 1_000
    }

    /// The day, counted from the first.
    pub(crate) fn day(&self) -> u64 {
        self.seconds() / DAY_S
    }

    /// Whether enough has passed to be kept.
    pub(crate) fn is_due(&self) -> bool {
        self.seconds() >= self.kept + AGE_SAVE_INTERVAL_S
    }

    /// Keeps it in the state, with what belongs to the batch.
    pub(crate) fn keep(&mut self, store: &StateDb) -> Result<(), DaemonError> {
        self.kept = self.seconds();
        store.set_meta_value("age", self.kept)?;
        self.date
            .map_or(Ok(()), |date| store.set_meta_value("date", date))
    }
}
