//! Messages that are gone because their files are missing, if tombstones are written.
//!
//! Each complete scan of a spool is a census: it lists the holders of present messages. A holder is
//! released once it has been missing for `watch.gone_after` and in at least two censuses. Messages
//! without another holder are then gone. Errors do not make a holder missing: neither an unreadable
//! folder nor an unmounted file system. While a file is unread that may contain the messages of a
//! missing one, the missing one waits.

use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use super::reader::{RESCAN_DELAY_MS, ReaderHost, SpoolReader};
use super::watched_spool::{CensusBlock, MissingFiles, MissingHolder, SpoolCensus};
use crate::Result;
use crate::environment::MonotonicTime;
use crate::ingest::FileVersion;
use crate::status::WithheldBy;
use crate::store::{Hash128, HolderKey, HolderRow, OrphanedMailbox, Release, StateDb};
use urlspool_text::diagnostic::counted;
use urlspool_text::limits::{MISSING_FILES, REPORTED_FAILURES};

impl SpoolReader {
    /// Starts the census of a spool; `None` if tombstones are not written.
    pub(super) fn begin_census(&self, spool: usize, start: MonotonicTime) -> Option<SpoolCensus> {
        if !self.config.output.tombstones {
            return None;
        }
        let root = &self.spools[spool].spool.path;
        let mut devs: BTreeSet<u64> = root.metadata().map(|root| root.dev()).into_iter().collect();
        let mut folders = HashMap::new();
        for path in self.folders.keys().filter(|path| path.starts_with(root)) {
            let version = path.metadata().ok().map(|found| FileVersion::of(&found));
            devs.extend(version.map(|version| version.id.dev));
            folders.insert(path.clone(), version.map(|version| version.ctime));
        }
        Some(SpoolCensus {
            spool,
            start,
            end: start,
            devs,
            folders,
            ..SpoolCensus::default()
        })
    }

    /// Schedules a scan of a spool soon, because a file is gone or was rewritten.
    pub(super) fn mark_for_gone(&mut self, spool: usize, now: MonotonicTime) {
        if !self.config.output.tombstones {
            return;
        }
        let gone_after = self.config.watch.gone_after;
        let watched = &mut self.spools[spool];
        let earliest = watched.missing.last.map(|last| last.plus(gone_after));
        let soon = now.after(RESCAN_DELAY_MS);
        watched.mark(earliest.map_or(soon, |earliest| earliest.max(soon)));
    }

    /// Schedules a scan of a spool for the time when a holder whose file was rewritten has been
    /// missing for `watch.gone_after`.
    pub(super) fn mark_replaced(&mut self, spool: usize, holder: HolderKey, now: MonotonicTime) {
        let gone_after = self.config.watch.gone_after;
        let watched = &mut self.spools[spool];
        let missing = &mut watched.missing;
        if missing.holders.len() < MISSING_FILES {
            missing.holders.entry(holder).or_insert(MissingHolder {
                present: missing.last,
                since: now,
                blocked: now,
            });
        }
        missing.is_waiting = true;
        watched.mark(now.plus(gone_after));
    }

    /// Releases the holders that have been missing for long, and writes the gone messages.
    pub(super) fn finish_census(
        &mut self,
        mut census: SpoolCensus,
        host: &mut dyn ReaderHost,
    ) -> Result<()> {
        let spool = census.spool;
        let mut missing = std::mem::take(&mut self.spools[spool].missing);
        missing.is_waiting = false;
        census.end = host.now();
        missing.before_last = missing.last.replace(census.end);
        let watched = &self.spools[spool];
        if census.is_incomplete || !watched.has_same_root() || self.is_absent(spool)? {
            self.spools[spool].missing = MissingFiles {
                last: missing.last,
                ..MissingFiles::default()
            };
            return Ok(());
        }
        census.holders.sort_unstable();
        let identity = &watched.identity;
        let lock_timeout = self.config.watch.lock_timeout;
        missing.follow_unread(&census, identity, lock_timeout, |path| {
            self.why_unread(path)
        });
        missing.blocked.clear();
        missing.complete_since.get_or_insert(census.end);
        self.spools[spool].missing = missing;
        let gone = self.release_missing(&census, host)?;
        let gone = gone + self.release_orphans(&census, host)?;
        self.report_withheld(spool, host);
        if 0 < gone {
            let gone = counted(gone, "message is gone", "messages are gone");
            host.info(format!("{}: {gone}", self.spools[spool].status.path));
        }
        Ok(())
    }

    /// The reason why waiting alone will not get a file read. `None` if it may.
    fn why_unread(&self, path: &Path) -> Option<String> {
        if let Some(why) = self.failures.why(path) {
            return Some(why.to_owned());
        }
        let held = self.unsettled.get(path)?.reported_lock()?;
        Some(format!("locked {}", held.lock))
    }

    /// Reports the files that prevent messages of a spool from being reported as gone: all in the
    /// status, each once in the log.
    fn report_withheld(&mut self, spool: usize, host: &mut dyn ReaderHost) {
        let blocked = &self.spools[spool].missing.blocked;
        let lasting = self
            .spools
            .iter()
            .flat_map(|watched| &watched.missing.lasting);
        let withheld: Vec<WithheldBy> = lasting
            .filter(|file| file.withholds(blocked))
            .take(REPORTED_FAILURES)
            .map(|lasting| lasting.file.clone())
            .collect();
        let before = std::mem::take(&mut self.spools[spool].missing.withheld);
        for WithheldBy { path, why } in &withheld {
            if !before.iter().any(|known| known.path == *path) {
                host.warn(format!(
                    "{path}: messages missing from its mailbox are not reported as gone, because \
                     this file may hold them: {why}"
                ));
            }
        }
        self.spools[spool].missing.withheld = withheld;
    }

    /// Releases the holders that have been missing for long. Returns the number of gone messages.
    fn release_missing(&mut self, census: &SpoolCensus, host: &mut dyn ReaderHost) -> Result<u64> {
        let missing = self.missing_holders(census)?;
        // Sorted, so each run uses the same order.
        let mut holders: Vec<HolderKey> = missing.keys().copied().collect();
        holders.sort_unstable();
        let is_full = missing.len() == MISSING_FILES;
        self.spools[census.spool].missing.holders = missing;
        self.spools[census.spool].missing.is_waiting = is_full;
        let mut gone = 0;
        for holder in holders {
            if !self.is_due(census, holder)? {
                continue;
            }
            gone += self.release(host, |state| state.release_holder(holder))?;
            if self.stopping {
                break;
            }
            self.spools[census.spool].missing.holders.remove(&holder);
        }
        Ok(gone)
    }

    /// Returns `true` if a holder has been missing for long and its messages cannot be elsewhere.
    /// Records if they can.
    fn is_due(&mut self, census: &SpoolCensus, holder: HolderKey) -> Result<bool> {
        let mut spools = self.spools.iter();
        let mailboxes = if spools.all(|watched| watched.missing.blocks.is_empty()) {
            Vec::new()
        } else {
            self.writer()?.db()?.held_mailboxes(holder)?
        };
        let holders = &self.spools[census.spool].missing.holders;
        let Some(missing) = holders.get(&holder).copied() else {
            return Ok(false);
        };
        if self.is_blocked(census.spool, &mailboxes, missing.since, missing.present) {
            let holders = &mut self.spools[census.spool].missing.holders;
            if let Some(missing) = holders.get_mut(&holder) {
                missing.blocked = census.end;
            }
            return Ok(false);
        }
        let is_due = missing.blocked.plus(self.config.watch.gone_after) <= census.start
            && missing.since != census.end;
        self.spools[census.spool].missing.is_waiting |= !is_due;
        Ok(is_due)
    }

    /// The holders of a spool that are not present.
    fn missing_holders(
        &mut self,
        census: &SpoolCensus,
    ) -> Result<HashMap<HolderKey, MissingHolder>> {
        let known = &mut self.spools[census.spool].missing;
        let before = std::mem::take(&mut known.holders);
        let new = MissingHolder {
            present: known.before_last,
            since: census.end,
            blocked: census.end,
        };
        let identity = Arc::clone(&self.spools[census.spool].identity);
        let mut missing = HashMap::new();
        let mut last = None;
        loop {
            let rows = self.writer()?.db()?.holders_after(&identity.path, last)?;
            let Some(row) = rows.last() else {
                return Ok(missing);
            };
            last = Some(row.key);
            for HolderRow { key, dev } in rows {
                // A file system that is not mounted keeps its files.
                let is_missing = !census.has(key) && census.devs.contains(&dev);
                if is_missing && missing.len() < MISSING_FILES {
                    missing.insert(key, *before.get(&key).unwrap_or(&new));
                }
            }
        }
    }

    /// Writes the messages that no file was found to contain since the state was rebuilt. Returns
    /// their number.
    fn release_orphans(&mut self, census: &SpoolCensus, host: &mut dyn ReaderHost) -> Result<u64> {
        let key = self.spools[census.spool].identity.key;
        let mailboxes = self.writer()?.db()?.orphaned_mailboxes(key)?;
        let gone_after = self.config.watch.gone_after;
        let mut gone = 0;
        for OrphanedMailbox { id, key, dev } in mailboxes {
            // Another spool may contain messages of the mailbox.
            let since = self.spools.iter().map(|other| other.missing.complete_since);
            let Some(since) = since.collect::<Option<Vec<_>>>() else {
                return Ok(gone);
            };
            let since = since.into_iter().max().unwrap_or(census.end);
            if !census.devs.contains(&dev) {
                continue;
            }
            let is_blocked = self.is_blocked(census.spool, &[key], since, None);
            let blocked = &mut self.spools[census.spool].missing.orphans_blocked;
            if is_blocked {
                blocked.insert(key, census.end);
                continue;
            }
            let since = blocked
                .get(&key)
                .map_or(since, |blocked| since.max(*blocked));
            if census.start < since.plus(gone_after) {
                self.spools[census.spool].missing.is_waiting = true;
                continue;
            }
            gone += self.release(host, |state| state.release_orphans(id))?;
            if self.stopping {
                break;
            }
        }
        Ok(gone)
    }

    /// Returns `true` if messages of these mailboxes, missing since `since` and last seen at
    /// `present`, may be in an unread file. A file that appeared much later cannot contain a
    /// message moved then.
    fn is_blocked(
        &mut self,
        spool: usize,
        mailboxes: &[Hash128],
        since: MonotonicTime,
        present: Option<MonotonicTime>,
    ) -> bool {
        let window = 2 * self.config.watch.gone_after;
        let until = since.plus(window);
        // Several spools of one reader may contain the same mailbox.
        let blocks = self.spools.iter().map(|watched| &watched.missing.blocks);
        let blocks = blocks.flat_map(|blocks| {
            mailboxes
                .iter()
                .filter_map(|key| Some((*key, *blocks.get(key)?)))
        });
        let blocks: Vec<(Hash128, CensusBlock)> = blocks
            .filter(|(_, block)| block.since <= until && block.may_hold(present, window))
            .collect();
        let may_end = blocks.iter().any(|(_, block)| !block.is_failure);
        let missing = &mut self.spools[spool].missing;
        missing.is_waiting |= may_end;
        missing.blocked.extend(blocks.iter().map(|(key, _)| *key));
        !blocks.is_empty()
    }

    /// Runs the steps of a release until it is done or the reader stops. Returns the number of gone
    /// messages.
    fn release(
        &mut self,
        host: &mut dyn ReaderHost,
        step: impl Fn(&StateDb) -> Result<Release>,
    ) -> Result<u64> {
        let mut gone = 0;
        loop {
            let mut writer = self.writer()?;
            let released = step(writer.db()?)?;
            writer.put_gone(&released.gone)?;
            drop(writer);
            gone += released.gone.len() as u64;
            self.between_files(host)?;
            if released.is_done || self.stopping {
                return Ok(gone);
            }
        }
    }
}
