//! The model of tombstones: when each message was missing from the spool.

use std::collections::{BTreeMap, BTreeSet};

use crate::daemon::lives::Lives;

/// A time for which a message was not in the spool.
#[derive(Clone, Copy, Debug)]
struct Absence {
    from_ms: u64,
    /// `None` while it lasts.
    until_ms: Option<u64>,
    /// `true` if the message was read before it.
    was_read: bool,
    /// `true` if the daemon finished all its work meanwhile.
    was_noticed: bool,
}

/// The messages of a spool, and their absences.
#[derive(Debug, Default)]
pub(super) struct Absences {
    present: BTreeSet<u64>,
    /// Messages that were present when the daemon finished its work, since they came.
    read: BTreeSet<u64>,
    all: BTreeMap<u64, Vec<Absence>>,
}

impl Absences {
    /// Compares the messages that are present now with those of the last call.
    pub(super) fn follow(&mut self, present: BTreeSet<u64>, now_ms: u64) {
        for n in self.present.difference(&present) {
            self.all.entry(*n).or_default().push(Absence {
                from_ms: now_ms,
                until_ms: None,
                was_read: self.read.remove(n),
                was_noticed: false,
            });
        }
        for n in present.difference(&self.present) {
            if let Some(absence) = self.all.get_mut(n).and_then(|all| all.last_mut()) {
                absence.until_ms = Some(now_ms);
            }
        }
        self.present = present;
    }

    /// The daemon has finished all its work.
    pub(super) fn settle(&mut self) {
        self.read.extend(&self.present);
        for absence in self.all.values_mut().filter_map(|all| all.last_mut()) {
            absence.was_noticed |= absence.until_ms.is_none();
        }
    }

    /// Compares the output with what must be in it, and what may be.
    pub(super) fn check(
        &self,
        lives: &Lives,
        gone_after_ms: u64,
        now_ms: u64,
    ) -> Result<(), String> {
        lives.check_order()?;
        let written: BTreeSet<u64> = lives.present().into_iter().map(|(_, n)| n).collect();
        if written != self.present {
            return Err(format!("{written:?} are there, not {:?}", self.present));
        }
        for (n, absences) in &self.all {
            let is_long = |absence: &&Absence| {
                absence.from_ms + gone_after_ms <= absence.until_ms.unwrap_or(now_ms)
            };
            let most = absences.iter().filter(is_long).count();
            let is_certain = |absence: &&Absence| absence.was_read && absence.was_noticed;
            let least = absences.iter().filter(is_certain).count();
            let times = lives.times_gone(*n);
            if !(least..=most).contains(&times) {
                return Err(format!("{n} is gone {times} times: {absences:?}"));
            }
        }
        Ok(())
    }
}
