//! The scan of a whole spool, and the time of the next one. Once a day, the scan also makes a
//! survey: the state of files missing for [`PURGE_DAYS`] days is purged.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::reader::{RESCAN_DELAY_MS, ReaderHost, SpoolReader};
use super::watched_spool::{ExistingState, SpoolCensus, UnreadablePaths, change_time};
use crate::environment::MonotonicTime;
use crate::ingest::{ExistingFiles, FileVersion};
use crate::store::{Hash128, PurgeStats, SeenFiles, SpoolIdentity};
use crate::{DaemonError, Result};
use urlspool_files::config::ExistingMail;
use urlspool_files::keyed_hash::HashKey;
use urlspool_sources::walk::{self, PathFilter, SymlinkPolicy, WalkStep, WalkedFile};
use urlspool_text::diagnostic::{DiagnosticKind, Event, counted};
use urlspool_text::limits::{EXISTING_FILES, PURGE_DAYS, SURVEYED_FILES};
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
