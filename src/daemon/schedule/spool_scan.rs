//! Which files are looked at, and when again.

use std::collections::HashMap;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::reader::{RESCAN_DELAY_MS, ReaderHost, SpoolReader, UnsettledFile};
use super::retries::{FailedRead, FailureStage, InodeVersion, ReadErrorKind, SpoolFile};
use crate::daemon::error::DaemonError;
use crate::daemon::host::{LogRecord, MonotonicTime};
use crate::daemon::ingest::FileVersion;
use crate::daemon::ingest::{FileOutcome, IngestContext, SettleState};
use crate::daemon::planted_faults::{PlantedFault, is_planted};
use crate::daemon::store::Committer;
use crate::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use crate::limits::REMEMBERED_FAILURES;
use crate::origin::{FormatHint, Source};
use crate::walk::{self, PathFilter, SymlinkPolicy, WalkStep};

/// Milliseconds between two scans of a spool without notifications.
const POLL_MS: u64 = 30_000;

/// Number of immediate rescans of a changing folder, before the other spools have their turn.
const RESTLESS_SCANS: u32 = 3;

/// Maximum number of unsettled files that are watched; further ones wait for the next scan. Bounds memory.
const UNSETTLED_FILES: usize = 100_000;

/// The time between two looks at what is new, while everything is looked at.
const HEED_MS: u64 = 250;

/// The time after which a locked mailbox is looked at again, if nobody says anything.
const LOCKED_MS: u64 = 250;

impl SpoolReader {
    pub(crate) fn look_at_changed(&mut self, host: &mut dyn ReaderHost) -> Result<(), DaemonError> {
        while let Some(path) = self.changed.pop_first() {
            let Some(spool) = self.spool_of(&path) else {
                continue;
            };
            let root = self.spools[spool].spool.path.clone();
            match walk::find_beneath(&root, &path) {
                Some(file) => self.look(spool, &file, host)?,
                // A folder came, or something went: the walk will tell.
                None if walk::is_folder(&root, &path) => {
                    host.folder_appeared(&root, &path);
                    let now = host.now();
                    self.spools[spool].mark(now);
                    self.spools[spool].restless = self.spools[spool].restless.max(1);
                }
                None => {
                    self.closed.remove(&path);
                    self.unfound(spool, &path, host);
                }
            }
            self.between(host)?;
            if self.stopping {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn look_at_rested(&mut self, host: &mut dyn ReaderHost) -> Result<(), DaemonError> {
        let now = host.now();
        let due = |(path, resting): (&PathBuf, &UnsettledFile)| {
            (resting.due <= now).then(|| SpoolFile {
                path: path.clone(),
                spool: resting.spool,
            })
        };
        let mut rested: Vec<SpoolFile> = self.unsettled.iter().filter_map(due).collect();
        // In the order of a walk, so that the same files give the same segments.
        rested.sort_unstable();
        self.look_again(rested, host)
    }

    pub(crate) fn look_at_failed(&mut self, host: &mut dyn ReaderHost) -> Result<(), DaemonError> {
        let failed = self.failures.due(host.now());
        self.look_again(failed, host)
    }

    fn look_again(
        &mut self,
        files: Vec<SpoolFile>,
        host: &mut dyn ReaderHost,
    ) -> Result<(), DaemonError> {
        for SpoolFile { path, spool } in files {
            if self.stopping {
                return Ok(());
            }
            let root = self.spools[spool].spool.path.clone();
            match walk::find_beneath(&root, &path) {
                Some(file) => self.look(spool, &file, host)?,
                None => self.unfound(spool, &path, host),
            }
            self.between(host)?;
        }
        Ok(())
    }

    /// The spool that a path lies in; of several the innermost.
    fn spool_of(&self, path: &Path) -> Option<usize> {
        let holds = |(index, root): (usize, &Path)| {
            path.starts_with(root)
                .then_some((root.components().count(), index))
        };
        let roots = self
            .spools
            .iter()
            .map(|watched| watched.spool.path.as_path());
        roots
            .enumerate()
            .filter_map(holds)
            .max()
            .map(|(_, index)| index)
    }

    /// Looks at everything in a spool.
    pub(crate) fn sweep(
        &mut self,
        index: usize,
        host: &mut dyn ReaderHost,
    ) -> Result<(), DaemonError> {
        self.counters.sweeps += 1;
        let start = host.now();
        let watched = &mut self.spools[index];
        watched.due = None;
        let root = watched.spool.path.clone();
        let present = !self.is_absent(index)?;
        let watched = &mut self.spools[index];
        if watched.present && !present {
            host.log(&LogRecord::Warn(format!(
                "{} is not there, or empty; nothing is forgotten",
                root.display()
            )));
        }
        watched.present = present;
        let (mut files, mut folders) = (0, HashMap::new());
        let mut survey = if present {
            self.begin_survey(index)?
        } else {
            None
        };
        if present {
            let (roots, filter) = ([root], PathFilter::default());
            let mut heeded = start;
            for step in walk::walk(&roots, &filter, SymlinkPolicy::Skip) {
                match step {
                    WalkStep::File(file) => {
                        files += 1;
                        note_folder(&file, &mut folders);
                        if let Some(survey) = &mut survey {
                            survey.meet(&file);
                        }
                        self.look(index, &file, host)?;
                    }
                    WalkStep::Failed(event) => {
                        if let Some(survey) = survey
                            .as_mut()
                            .filter(|_| event.diagnostic.kind != DiagnosticKind::Vanished)
                        {
                            survey.fail("there are folders that cannot be read");
                        }
                        self.event(&event, host);
                    }
                    WalkStep::Part { .. } | WalkStep::Skipped { .. } | WalkStep::Stdin => {}
                }
                self.between(host)?;
                // New mail does not wait until all that is old was looked at.
                if heeded.after(HEED_MS) <= host.now() {
                    self.look_at_changed(host)?;
                    self.look_at_rested(host)?;
                    heeded = host.now();
                }
                if self.stopping {
                    self.spools[index].mark(start);
                    return Ok(());
                }
            }
        }
        (self.spools[index].files, self.spools[index].scanned) = (files, present);
        if let Some(survey) = survey {
            self.end_survey(index, survey, host)?;
        }
        self.shared.committer.save_watch_time()?;
        self.plan_next_sweep(index, folders, host);
        Ok(())
    }

    /// A folder whose entries were renamed while it was read gives some twice and some not at all, so it is read
    /// again until it rests.
    fn plan_next_sweep(
        &mut self,
        index: usize,
        folders: HashMap<PathBuf, i64>,
        host: &mut dyn ReaderHost,
    ) {
        let now = host.now();
        let rested = folders.iter().all(|(path, before)| {
            changed_at(path) == Some(*before)
                && self.folders.get(path).is_none_or(|last| last == before)
        });
        let is_new = folders.keys().any(|path| !self.folders.contains_key(path));
        self.folders.extend(folders);
        let watched = &mut self.spools[index];
        watched.restless = if rested && !is_new {
            0
        } else {
            watched.restless + 1
        };
        let usual = if watched.notices && watched.present {
            self.config.watch.sweep.as_millis() as u64
        } else {
            POLL_MS
        };
        let wait = match watched.restless {
            0 => usual.min(self.config.watch.sweep.as_millis() as u64),
            1..=RESTLESS_SCANS => 0,
            // RunMode a second for as long as it goes on, unless a look at it takes longer than that anyway.
            _ => RESCAN_DELAY_MS.saturating_mul(2),
        };
        watched.mark(now.after(wait));
    }

    /// Looks at one file, whatever the reason, until nothing is left in it that can be taken now.
    fn look(
        &mut self,
        spool: usize,
        file: &walk::WalkedFile,
        host: &mut dyn ReaderHost,
    ) -> Result<(), DaemonError> {
        let path = file.source.path.to_path_buf();
        let Ok(metadata) = path.symlink_metadata() else {
            self.unfound(spool, &path, host);
            return Ok(());
        };
        let (stamp, seen) = (FileVersion::of(&metadata), InodeVersion::of(&metadata));
        if !self.failures.may_read(&path, seen, host.now()) {
            return Ok(());
        }
        let (desk, pulse) = (
            Arc::clone(&self.shared.committer),
            Arc::clone(&self.heartbeat),
        );
        let Some(session) = desk.session(&pulse) else {
            return Ok(());
        };
        loop {
            let rest = self.rest(&path, stamp, host.now());
            let mut events = Vec::new();
            let mut context = IngestContext {
                session,
                parsers: &self.shared.parsers,
                extractor: &self.shared.extractor,
                counts: &mut self.counters,
                events: &mut events,
                spool: &self.spools[spool].spool,
            };
            if !self.spools[spool].scanned {
                context.report_truncation(file, stamp)?;
            }
            let known = context.is_read(file, stamp)?;
            let look = if known {
                FileOutcome::Complete
            } else {
                context.ingest(file, rest)?
            };
            for event in &events {
                self.event(event, host);
            }
            self.counters.files_read +=
                u64::from(!known && matches!(look, FileOutcome::Complete | FileOutcome::Partial));
            let more = matches!(look, FileOutcome::Partial);
            self.plan_next_look(spool, file, (stamp, seen), look, host);
            if is_planted(PlantedFault::AdvanceOnRead) {
                session.with(advance_on_read)?;
            }
            if !more || self.stopping {
                return Ok(());
            }
            self.between(host)?;
        }
    }

    /// Whether a file has rested long enough.
    fn rest(&mut self, path: &Path, stamp: FileVersion, now: MonotonicTime) -> SettleState {
        let settle = self.config.watch.settle.as_millis() as u64;
        let long = self
            .unsettled
            .get(path)
            .is_some_and(|at| at.version == stamp && at.since.after(settle) <= now);
        if long || self.closed.contains(path) && !is_shared(path) {
            SettleState::Settled
        } else {
            SettleState::Changing
        }
    }

    fn plan_next_look(
        &mut self,
        spool: usize,
        file: &walk::WalkedFile,
        (stamp, seen): (FileVersion, InodeVersion),
        look: FileOutcome,
        host: &mut dyn ReaderHost,
    ) {
        let now = host.now();
        let path = file.source.path.to_path_buf();
        self.closed.remove(&path);
        match look {
            FileOutcome::Partial => {}
            FileOutcome::Complete | FileOutcome::Skipped(_) => {
                self.unsettled.remove(&path);
                self.failures.remove(&path);
                if let FileOutcome::Skipped(reason) = look
                    && reason != SkipReason::Empty
                {
                    self.event(
                        &Diagnostic::new(
                            DiagnosticKind::Skip,
                            format!("not read: {}", reason.name()),
                        )
                        .of(&file.source),
                        host,
                    );
                }
            }
            FileOutcome::Waiting => {
                self.failures.remove(&path);
                self.wait(path, stamp, spool, now);
            }
            FileOutcome::Failed(error) if error.kind() == io::ErrorKind::NotFound => {
                self.unsettled.remove(&path);
                // In a Maildir it has another name now.
                if file.hint == FormatHint::Maildir {
                    self.spools[spool].mark(now.after(RESCAN_DELAY_MS));
                }
            }
            FileOutcome::Failed(error) => self.failed(spool, &file.source, seen, &error, host),
        }
    }

    /// Notes that a file could not be read, and says so when it is news.
    fn failed(
        &mut self,
        spool: usize,
        source: &Source,
        seen: InodeVersion,
        error: &io::Error,
        host: &mut dyn ReaderHost,
    ) {
        self.unsettled.remove(&*source.path);
        *self
            .counters
            .read_errors
            .entry(ReadErrorKind::of(error).name())
            .or_default() += 1;
        let failed = FailedRead {
            path: &source.path,
            version: seen,
            spool,
            error,
        };
        let diagnostic = match self.failures.record(failed, host.now()) {
            FailureStage::Repeated => return,
            FailureStage::First => Diagnostic::new(DiagnosticKind::Unreadable, error.to_string()),
            FailureStage::Quarantined => Diagnostic::new(
                DiagnosticKind::Unreadable,
                format!("could not be read for a day, left alone until it changes: {error}"),
            ),
            FailureStage::Unremembered => Diagnostic::new(
                DiagnosticKind::Limit,
                format!("one more than {REMEMBERED_FAILURES} that cannot be read: {error}"),
            ),
        };
        self.event(&diagnostic.of(source), host);
    }

    /// What to think of a path at which no file is found: it is gone, or the system does not tell.
    fn unfound(&mut self, spool: usize, path: &Path, host: &mut dyn ReaderHost) {
        match path.symlink_metadata() {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                self.failed(
                    spool,
                    &Source::at(path.to_owned()),
                    InodeVersion::UNKNOWN,
                    &error,
                    host,
                );
            }
            _ => {
                self.unsettled.remove(path);
                self.failures.remove(path);
            }
        }
    }

    /// Notes that a file is to be looked at when it has rested.
    fn wait(&mut self, path: PathBuf, stamp: FileVersion, spool: usize, now: MonotonicTime) {
        let settle = self.config.watch.settle.as_millis() as u64;
        if self.unsettled.len() >= UNSETTLED_FILES && !self.unsettled.contains_key(&path) {
            self.spools[spool].mark(now.after(settle));
            return;
        }
        let since = self
            .unsettled
            .get(&path)
            .filter(|at| at.version == stamp)
            .map_or(now, |at| at.since);
        // It has rested and still must wait: somebody holds its lock.
        let look = since.after(settle).max(now.after(LOCKED_MS));
        self.unsettled.insert(
            path,
            UnsettledFile {
                version: stamp,
                since,
                due: look,
                spool,
            },
        );
    }

    fn event(&mut self, event: &Event, host: &mut dyn ReaderHost) {
        self.counters.event(event);
        if event.diagnostic.kind.is_failure() {
            self.last_error = Some(format!(
                "{}: {}",
                event.source.path.display(),
                event.diagnostic.message
            ));
        }
        host.log(&LogRecord::Diagnostic(event));
    }

    /// Between two files: what has happened meanwhile is marked, what is due is committed, and somebody is told.
    fn between(&mut self, host: &mut dyn ReaderHost) -> Result<(), DaemonError> {
        while let Some(event) = host.event() {
            let now = host.now();
            self.handle(event, now);
        }
        host.progress(self);
        self.shared
            .committer
            .commit_if_due(self.commit_timing(), host)
    }
}

/// The mistake of committing positions when bytes are read. Only a test makes it.
fn advance_on_read(committer: &mut Committer) -> Result<(), DaemonError> {
    if committer.is_dirty() {
        committer.transaction()?.commit()?;
        committer.db.begin()?;
    }
    Ok(())
}

/// Whether a file has many writers, one after the other, so that one of them closing it says nothing.
fn is_shared(path: &Path) -> bool {
    !path
        .file_name()
        .is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit))
}

/// Notes when the folder of a file that programs rename was changed.
fn note_folder(file: &walk::WalkedFile, folders: &mut HashMap<PathBuf, i64>) {
    if file.hint == FormatHint::None {
        return;
    }
    let Some(folder) = file.source.path.parent() else {
        return;
    };
    if !folders.contains_key(folder)
        && let Some(at) = changed_at(folder)
    {
        folders.insert(folder.to_owned(), at);
    }
}

fn changed_at(path: &Path) -> Option<i64> {
    let metadata = path.metadata().ok()?;
    Some(
        metadata
            .mtime()
            .wrapping_mul(1_000_000_000)
            .wrapping_add(metadata.mtime_nsec()),
    )
}
