//! When a batch is committed and a segment sealed; when work pauses for want of room and when it goes on.

use super::age::Age;
use super::fault::Fault;
use super::{Daemon, Host, Now, Pause, Remark, recover};
use crate::limits::SIDECARS;

/// The time between two tries to go on after a pause. Space is there again within a few seconds of being made.
pub(super) const RETRY_MS: u64 = 2_000;

/// Octets of a batch.
pub(super) const BATCH_BYTES: usize = 4 << 20;

/// Octets of a batch at the least, after it did not fit several times.
const SMALL_BATCH_BYTES: usize = 64 << 10;

/// Messages of a batch.
const BATCH_MESSAGES: u64 = 5_000;

impl Daemon {
    /// When there is something to do again.
    pub(super) fn next(&self) -> Now {
        let resting = self.resting.values().map(|resting| resting.look);
        let sweeps = self.spools.iter().filter_map(|watched| watched.due);
        let commit = self.batch_since.map(|since| since.after(self.config.state.commit_interval.ms));
        let seal = self.segment_since.map(|since| since.after(self.config.output.seal_interval.ms));
        let all = resting.chain(self.failing.next()).chain(sweeps).chain(commit).chain(seal);
        all.min().unwrap_or(Now { ms: u64::MAX })
    }

    pub(super) fn pause(&mut self, why: String, host: &mut dyn Host) {
        // Its transaction is rolled back; what it held is read again.
        self.committer = None;
        (self.batch_since, self.segment_since) = (None, None);
        recover::release(&self.config);
        // Where a limit of file size is the reason, a smaller one may fit into the next segment.
        self.batch_bytes = (self.batch_bytes / 4).max(SMALL_BATCH_BYTES);
        self.counts.pauses += 1;
        host.remark(&Remark::Warn(format!("paused for want of room: {why}")));
        self.last_error = Some(why.clone());
        self.paused = Some(Pause { why, retry: host.now().after(RETRY_MS) });
    }

    /// Takes hold of state and output again, as after a start, if there is room.
    pub(super) fn resume(&mut self, host: &mut dyn Host) -> Result<bool, Fault> {
        let mut remarks = Vec::new();
        let opened = if recover::has_room(&self.config) {
            recover::open(&self.config, &mut |remark| remarks.push(remark))
        } else {
            Err(Fault::Full("no room yet".to_owned()))
        };
        for remark in remarks {
            host.remark(&Remark::Warn(remark));
        }
        match opened {
            Ok(committer) => {
                host.remark(&Remark::Info("there is room again: going on".to_owned()));
                if self.age.is_none() {
                    self.age = Some(Age::open(&committer.store, host)?);
                }
                (self.committer, self.paused) = (Some(committer), None);
                self.look_everywhere(host.now());
                Ok(true)
            }
            Err(Fault::Full(_)) => {
                recover::release(&self.config);
                if let Some(pause) = &mut self.paused {
                    pause.retry = host.now().after(RETRY_MS);
                }
                Ok(false)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Commits what waits.
    pub(super) fn commit(&mut self) -> Result<(), Fault> {
        let Some(committer) = self.committer.as_mut().filter(|committer| committer.is_dirty()) else { return Ok(()) };
        let (messages, records) = committer.commit()?;
        self.counts.messages += messages;
        self.counts.records += records;
        self.counts.commits += 1;
        self.batch_since = None;
        Ok(())
    }

    /// Commits when enough waits or has waited long enough; seals likewise.
    pub(super) fn commit_if_due(&mut self, host: &mut dyn Host) -> Result<(), Fault> {
        let now = host.now();
        let Some(committer) = &mut self.committer else { return Ok(()) };
        let (bytes, messages) = committer.waiting();
        let since = committer.is_dirty().then(|| *self.batch_since.get_or_insert(now));
        let long = since.is_some_and(|since| since.after(self.config.state.commit_interval.ms) <= now);
        if long || bytes >= self.batch_bytes || messages >= BATCH_MESSAGES || self.stopping {
            self.commit()?;
        }
        let Some(committer) = &mut self.committer else { return Ok(()) };
        if committer.committed() > 0 {
            let since = *self.segment_since.get_or_insert(now);
            let old = since.after(self.config.output.seal_interval.ms) <= now;
            let large = committer.committed() >= self.config.output.seal_bytes.0 as u64;
            if (old || large) && !committer.is_dirty() && committer.seal()? {
                self.counts.segments += 1;
                match committer.compact(SIDECARS) {
                    Ok(false) => {}
                    Ok(true) => host.remark(&Remark::Info("a snapshot of the state replaces old sidecars".to_owned())),
                    // The sidecars do as well, and work goes on with the room there is.
                    Err(Fault::Full(why)) => host.remark(&Remark::Warn(format!("no snapshot of the state: {why}"))),
                    Err(fault) => return Err(fault),
                }
                self.segment_since = None;
                self.batch_bytes = (self.batch_bytes * 2).min(BATCH_BYTES);
            }
        }
        Ok(())
    }
}
