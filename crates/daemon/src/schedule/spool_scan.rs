//! The scan of a whole spool, and the time of the next one. Once a day, the scan also makes a
//! survey: the state of files missing for [`PURGE_DAYS`] days is purged.
//!
//! If tombstones are written, each complete scan is also a census, which finds the messages that
//! are gone because their files are missing: it lists the holders of present messages. A holder is
//! released once it has been missing for `watch.gone_after` and in at least two censuses. Messages
//! without another holder are then gone. Errors do not make a holder missing: neither an unreadable
//! folder nor an unmounted file system. While a file is unread that may contain the messages of a
//! missing one, the missing one waits.

use std::collections::{BTreeSet, HashMap};
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::reader::{RESCAN_DELAY_MS, ReaderHost, SpoolReader};
use super::watched_spool::{
    CensusBlock, ExistingState, MissingFiles, MissingHolder, SpoolCensus, UnreadablePaths,
    change_time,
};
use crate::ingest::{ExistingFiles, FileVersion};
use crate::status::WithheldBy;
use crate::store::{
    Hash128, HolderKey, HolderRow, OrphanedMailbox, PurgeStats, Release, SeenFiles, SpoolIdentity,
    StateDb,
};
use crate::{DaemonError, MonotonicTime, Result};
use urlspool_files::config::ExistingMail;
use urlspool_files::keyed_hash::HashKey;
use urlspool_sources::walk::{self, PathFilter, SymlinkPolicy, WalkStep, WalkedFile};
use urlspool_text::diagnostic::{DiagnosticKind, Event, counted};
use urlspool_text::limits::{
    EXISTING_FILES, MISSING_FILES, PURGE_DAYS, REPORTED_FAILURES, SURVEYED_FILES,
};
use urlspool_text::origin::FormatHint;

/// Milliseconds between two scans of a spool without notifications.
const POLL_MS: u64 = 30_000;

/// Milliseconds of a scan after which changed files are checked first.
const CHANGED_FILES_MS: u64 = 250;

/// Consecutive scans of a changing spool before other spools get their turn.
const IMMEDIATE_RESCANS: u32 = 3;

/// Age of a folder's last change at which the listing is reliable, for any clock resolution.
const FOLDER_AGE: Duration = Duration::from_secs(1);

/// Progress of the scan of one spool.
#[derive(Default)]
struct SpoolScan {
    /// Index of the spool.
    spool: usize,
    /// Time at which changed files were last checked.
    changed_checked: MonotonicTime,
    /// Number of files so far.
    files: usize,
    /// Times of change of the folders whose entries mail programs rename.
    folders: HashMap<PathBuf, i64>,
    /// Folders and files that could not be examined.
    unreadable: UnreadablePaths,
    /// The reason why an unlisted file may exist; `None` if all files were listed.
    gap: Option<String>,
    /// The survey made along with the scan, if one is due.
    survey: Option<SpoolSurvey>,
    /// The present files, if tombstones are written.
    census: Option<SpoolCensus>,
}

impl SpoolReader {
    /// Scans all files of a spool.
    pub(super) fn scan_spool(&mut self, spool: usize, host: &mut dyn ReaderHost) -> Result<()> {
        self.counters.sweeps += 1;
        self.spools[spool].due = None;
        let start = host.now();
        let old = self.latest_change(spool, FOLDER_AGE, host);
        let is_present = self.check_root(spool, host)?;
        let mut scan = SpoolScan {
            spool,
            changed_checked: start,
            ..SpoolScan::default()
        };
        if is_present {
            scan.survey = self.begin_survey(spool, start)?;
            scan.census = self.begin_census(spool, start);
            self.walk_spool(&mut scan, host)?;
            if self.stopping {
                self.spools[spool].mark(start);
                return Ok(());
            }
        }
        self.spools[spool].status.files = scan.files as u64;
        self.spools[spool].scanned = is_present;
        self.replace_unreadable(spool, scan.unreadable, host);
        if let Some(census) = &mut scan.census {
            census.is_incomplete |= scan.gap.is_some();
        }
        if let Some(survey) = scan.survey {
            self.finish_survey(spool, survey, scan.gap, host)?;
        }
        if let Some(census) = scan.census {
            self.finish_census(census, host)?;
        }
        self.writer()?.save_watch_time(host)?;
        self.plan_next_scan(spool, scan.folders, old, host.now());
        Ok(())
    }

    /// Returns `true` if the root of a spool is present. Logs when it disappears or comes back.
    fn check_root(&mut self, spool: usize, host: &mut dyn ReaderHost) -> Result<bool> {
        let is_present = !self.is_absent(spool)?;
        let watched = &mut self.spools[spool];
        let root = &watched.status.path;
        match (watched.status.present, is_present) {
            (true, false) => host.warn(format!(
                "spool {root} is missing or empty; its state is kept"
            )),
            (false, true) => host.info(format!("spool {root} is available again")),
            _ => {}
        }
        watched.status.present = is_present;
        Ok(is_present)
    }

    /// Stores the folders and files that the scan could not examine. Logs when all can be examined
    /// again.
    fn replace_unreadable(
        &mut self,
        spool: usize,
        unreadable: UnreadablePaths,
        host: &mut dyn ReaderHost,
    ) {
        let watched = &mut self.spools[spool];
        if !watched.unreadable.is_empty() && unreadable.is_empty() && watched.status.present {
            // The kernel may have refused to report changes: they are requested again, as if the
            // root had changed.
            watched.root = None;
            let root = &watched.status.path;
            host.info(format!("spool {root} can be read completely again"));
        }
        watched.unreadable = unreadable;
    }

    /// Handles a folder or file that the scan cannot examine. It is reported once, not at each
    /// scan.
    fn fail(&mut self, scan: &mut SpoolScan, event: &Event, host: &mut dyn ReaderHost) {
        if event.diagnostic.kind == DiagnosticKind::Vanished {
            self.report(event, host);
            return;
        }
        let known = &mut self.spools[scan.spool].unreadable;
        if known.contains(&event.source.path) {
            self.counters.event(event);
        } else {
            // The status does not wait for the end of a long scan.
            known.add(event);
            self.report(event, host);
        }
        scan.unreadable.add(event);
        scan.gap = Some("some folders cannot be read".to_owned());
    }

    /// Checks each file of the spool, until the end or until the reader stops.
    fn walk_spool(&mut self, scan: &mut SpoolScan, host: &mut dyn ReaderHost) -> Result<()> {
        let roots = [self.spools[scan.spool].spool.path.clone()];
        for step in walk::walk(&roots, &PathFilter::default(), SymlinkPolicy::Skip) {
            match step {
                WalkStep::File(file) => {
                    let metadata = file.source.path.symlink_metadata();
                    scan.add(&file, &metadata);
                    let read_state = self.check_file(scan.spool, &file, metadata, host)?;
                    if let Some(census) = &mut scan.census {
                        census.add(&file, read_state);
                    }
                }
                WalkStep::Repository(source) => {
                    let checked = self.check_repository(scan.spool, &source.path, host)?;
                    scan.files += 1;
                    if let Some((file, version, read_state)) = checked {
                        scan.survey(&file, version);
                        if let Some(census) = &mut scan.census {
                            census.add(&file, read_state);
                        }
                    }
                }
                WalkStep::Failed(event) => self.fail(scan, &event, host),
                _ => {}
            }
            self.between_files(host)?;
            // New mail does not wait for the end of the scan.
            if scan.changed_checked.after(CHANGED_FILES_MS) <= host.now() {
                self.check_changed_files(host)?;
                scan.changed_checked = host.now();
            }
            if self.stopping {
                break;
            }
        }
        Ok(())
    }

    /// Plans the next scan. A folder that changed during the scan, after `old`, is scanned again
    /// until it is stable: listing a folder while its entries are renamed returns some of them
    /// twice and misses others.
    fn plan_next_scan(
        &mut self,
        spool: usize,
        folders: HashMap<PathBuf, i64>,
        old: i64,
        now: MonotonicTime,
    ) {
        let is_stable = folders.iter().all(|(path, before)| {
            change_time(path) == Some(*before)
                && (*before <= old || self.folders.get(path) == Some(before))
        });
        self.folders.extend(folders);
        let rescan_ms = self.config.watch.sweep.as_millis() as u64;
        let watched = &mut self.spools[spool];
        if is_stable {
            let is_polled = !watched.notices || !watched.status.present;
            let wait_ms = rescan_ms.min(if is_polled { POLL_MS } else { u64::MAX });
            watched.unstable_scans = 0;
            watched.mark_interval(now.after(wait_ms));
        } else {
            watched.unstable_scans += 1;
            let is_immediate = watched.unstable_scans <= IMMEDIATE_RESCANS;
            let wait_ms = if is_immediate { 0 } else { 2 * RESCAN_DELAY_MS };
            watched.mark(now.after(wait_ms));
        }
        if watched.missing.is_waiting {
            watched.mark(now.plus(self.config.watch.gone_after));
        }
    }
}

impl SpoolScan {
    fn add(&mut self, file: &WalkedFile, metadata: &io::Result<Metadata>) {
        self.files += 1;
        match metadata {
            Ok(metadata) => self.survey(file, FileVersion::of(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => self.gap = Some("the metadata of some files cannot be read".to_owned()),
        }
        if SURVEYED_FILES < self.files {
            self.gap = Some(format!("it has more than {SURVEYED_FILES} files"));
            if let Some(survey) = &mut self.survey {
                survey.seen.files = Vec::new();
            }
            if let Some(census) = &mut self.census {
                (census.holders, census.unread) = (Vec::new(), Vec::new());
            }
        }
        // The time of change of a folder whose entries mail programs rename.
        if file.hint != FormatHint::None
            && let Some(folder) = file.source.path.parent()
            && !self.folders.contains_key(folder)
            && let Some(time) = change_time(folder)
        {
            self.folders.insert(folder.to_owned(), time);
        }
    }

    /// Adds an existing file with this version to the survey.
    fn survey(&mut self, file: &WalkedFile, version: FileVersion) {
        if let Some(survey) = &mut self.survey {
            survey.seen.devs.insert(version.id.dev);
            let keys = version.presence(file, &survey.identity, survey.hash_key);
            survey.seen.files.extend(keys);
        }
    }
}

/// Values in the state of [`existing_name`].
const EXISTING_NOTED: u64 = 1;
const EXISTING_READ: u64 = 2;

impl SpoolReader {
    /// Notes the files of a spool that is watched for the first time, so URLs of its existing mail
    /// are not written. This is repeated at each start until that mail was read.
    pub(super) fn note_existing(&mut self, spool: usize, host: &mut dyn ReaderHost) -> Result<()> {
        let existing = match self.config.watch.existing {
            Some(existing) if self.spools[spool].existing == ExistingState::Unknown => existing,
            _ => return Ok(()),
        };
        if !self.skips_existing(self.spools[spool].identity.key, existing)? {
            self.spools[spool].existing = ExistingState::Read;
            return Ok(());
        }
        let mut files: u64 = 0;
        let roots = [self.spools[spool].spool.path.clone()];
        for step in walk::walk(&roots, &PathFilter::default(), SymlinkPolicy::Skip) {
            self.heartbeat.beat();
            self.handle_events(host);
            if self.stopping {
                return Ok(());
            }
            let noted = match step {
                WalkStep::File(file) => {
                    let metadata = file.source.path.symlink_metadata().ok();
                    metadata.map(|metadata| (FileVersion::of(&metadata), None))
                }
                WalkStep::Repository(source) => self.repository_version(&source.path),
                _ => None,
            };
            if let Some((version, tip)) = noted {
                if EXISTING_FILES < self.existing.insert(version, tip) {
                    return Err(DaemonError::io(format!(
                        "{}: it has more than {EXISTING_FILES} files; watch some of its folders, \
                         or write all mail with --from-start",
                        roots[0].display()
                    )));
                }
                files += 1;
            }
        }
        self.spools[spool].existing = ExistingState::Noted;
        let files = counted(files, "existing file", "existing files");
        let root = roots[0].display();
        host.info(format!("{root}: {files}; only new mail is written"));
        Ok(())
    }

    /// Returns `true` if URLs of the existing mail in a spool are not written, and records that.
    fn skips_existing(&self, spool: Hash128, existing: ExistingMail) -> Result<bool> {
        let writer = self.writer()?;
        let state = writer.db()?;
        let name = existing_name(spool);
        let known = state.meta_value(&name)?;
        let is_skipped = existing == ExistingMail::Skip
            && match known {
                Some(known) => known == EXISTING_NOTED,
                None => !state.has_spool(spool)?,
            };
        let now = if is_skipped {
            EXISTING_NOTED
        } else {
            EXISTING_READ
        };
        if known != Some(now) {
            state.set_meta_value(&name, now)?;
        }
        Ok(is_skipped)
    }

    /// Records that the existing mail has been read, once it has. Locked and unreadable files count
    /// as new later.
    pub(super) fn finish_existing(&mut self) -> Result<()> {
        let mut noted = self.spools.iter();
        if !noted.any(|watched| watched.existing == ExistingState::Noted)
            || !self.has_scanned_all()
            || self.unsettled.values().any(|file| {
                file.reported_lock().is_none() && self.existing.is_unchanged(file.version)
            })
        {
            return Ok(());
        }
        for index in 0..self.spools.len() {
            if self.spools[index].existing == ExistingState::Noted {
                let name = existing_name(self.spools[index].identity.key);
                let writer = self.writer()?;
                writer.db()?.set_meta_value(&name, EXISTING_READ)?;
                drop(writer);
                self.spools[index].existing = ExistingState::Read;
            }
        }
        self.existing = ExistingFiles::default();
        Ok(())
    }
}

/// The name in the state of the status of a spool's existing mail: mail that was there when the
/// spool was watched for the first time.
fn existing_name(spool: Hash128) -> String {
    format!("existing {spool:032x}")
}

/// The files that exist in a spool, collected during a scan.
#[derive(Debug)]
pub(super) struct SpoolSurvey {
    day: u64,
    identity: Arc<SpoolIdentity>,
    hash_key: HashKey,
    seen: SeenFiles,
}

impl SpoolReader {
    /// Starts the survey of the next scan, if one is due today.
    fn begin_survey(&self, spool: usize, now: MonotonicTime) -> Result<Option<SpoolSurvey>> {
        let session = self.session()?;
        let writer = session.lock()?;
        let watched = &self.spools[spool];
        let name = survey_day_name(watched.identity.key);
        let last = writer.db()?.meta_value(&name)?;
        let Some(day) = writer.watch_day(now).filter(|day| last != Some(*day)) else {
            return Ok(None);
        };
        // The lock is released first because the spool may not answer.
        drop(writer);
        let root = watched.spool.path.metadata();
        let seen = SeenFiles {
            devs: root.map(|metadata| metadata.dev()).into_iter().collect(),
            ..SeenFiles::default()
        };
        Ok(Some(SpoolSurvey {
            day,
            identity: Arc::clone(&watched.identity),
            hash_key: session.hash_key,
            seen,
        }))
    }

    /// Marks missing files, and purges the state of those missing for long.
    pub(super) fn finish_survey(
        &mut self,
        spool: usize,
        mut survey: SpoolSurvey,
        gap: Option<String>,
        host: &mut dyn ReaderHost,
    ) -> Result<()> {
        let root = self.spools[spool].status.path.clone();
        let has_failures = self.failures.has_any_in(&self.spools[spool].spool.path);
        let gap = gap.or_else(|| has_failures.then(|| "some files cannot be read".to_owned()));
        let (key, day) = (survey.identity.key, survey.day);
        let mut writer = self.writer()?;
        let stats = if let Some(gap) = gap {
            host.warn(format!("{root}: no state is purged today: {gap}"));
            None
        } else {
            survey.seen.files.sort_unstable();
            Some(writer.survey(key, &survey.seen, day)?)
        };
        writer.db()?.set_meta_value(&survey_day_name(key), day)?;
        drop(writer);
        if let Some(PurgeStats { purged, frozen }) = stats {
            self.spools[spool].status.absent = frozen;
            self.counters.forgotten += purged;
            if 0 < purged {
                host.info(format!(
                    "{root}: purged {purged} state entries of files missing for {PURGE_DAYS} days"
                ));
            }
        }
        Ok(())
    }

    /// Returns `true` if a spool looks like the mount point of an unmounted file system: it does
    /// not exist, or it is empty although the state has files of it. Its files then do not count as
    /// missing.
    pub(super) fn is_absent(&self, spool: usize) -> Result<bool> {
        let root = &self.spools[spool].spool.path;
        let is_empty = std::fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_none());
        // A root that cannot be examined is unreadable, not absent.
        if matches!(root.try_exists(), Ok(false)) {
            return Ok(true);
        }
        let key = self.spools[spool].identity.key;
        Ok(is_empty && self.writer()?.db()?.has_spool(key)?)
    }
}

/// The name in the state of the day of a spool's last survey.
fn survey_day_name(spool: Hash128) -> String {
    format!("surveyed {spool:032x}")
}

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
