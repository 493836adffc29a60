//! Check of one file: ingests its new and complete content, and plans the next check. A git
//! repository is checked as a whole: its last commit is its version.

use std::fs::Metadata;
use std::io;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::reader::{
    HeldLock, InodeVersion, RESCAN_DELAY_MS, ReaderHost, SpoolReader, UnsettledFile,
};
use crate::ingest::{
    FileReadState, FileVersion, Incomplete, IngestContext, SettleState, file_read_state,
};
use crate::own_files::is_state_database;
use crate::status::{LastError, read_error_kind};
use crate::store::Session;
use crate::{LogRecord, MonotonicTime, Result};
use urlspool_sources::read::{self, GitHost, Repository, RepositoryContent};
use urlspool_sources::walk::{self, WalkedFile};
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use urlspool_text::limits::{REMEMBERED_FAILURES, UNSETTLED_FILES};
use urlspool_text::origin::{FormatHint, Source};

/// Delay before a locked mailbox is checked again, unless a notification comes earlier.
const LOCK_RETRY_MS: u64 = 250;

/// Time for which a closed file must be unchanged. A program that opens a file for each line of a
/// message writes the next line sooner, and one that saves a draft twice is usually done.
const WRITER_PAUSE: Duration = Duration::from_millis(400);

/// Maximum number of events handled between two files. Programs that change files faster than the
/// reader handles events cannot keep it from reading: the kernel queues further events, and reports
/// an overflow.
const EVENTS_AT_ONCE: usize = 4_096;

/// A file and its versions at the start of its check.
struct CheckedFile<'f> {
    file: &'f WalkedFile,
    /// Index of its spool.
    spool: usize,
    version: FileVersion,
    inode_version: InodeVersion,
    /// The git repository being checked; `None` for a file.
    repository: Option<&'f Repository>,
}

impl CheckedFile<'_> {
    fn path(&self) -> &Path {
        &self.file.source.path
    }
}

impl SpoolReader {
    /// Ingests all new and complete content of a file, regardless of the reason for the check.
    /// Returns the recorded progress afterwards.
    pub(super) fn check_file(
        &mut self,
        spool: usize,
        file: &WalkedFile,
        metadata: io::Result<Metadata>,
        host: &mut dyn ReaderHost,
    ) -> Result<FileReadState> {
        let metadata = match metadata {
            Ok(metadata) => metadata,
            Err(error) => {
                self.check_missing(spool, &file.source.path, host);
                return Ok(match error.kind() {
                    io::ErrorKind::NotFound => FileReadState::Empty(None),
                    _ => FileReadState::Unread(None),
                });
            }
        };
        let name = file.source.path.file_name().unwrap_or_default();
        if is_state_database(&self.config.state.dir, name, &metadata) {
            // A bind mount makes the state visible in the spool. Recording that it was read would
            // change it again, without end.
            return Ok(FileReadState::Empty(None));
        }
        let checked = CheckedFile {
            file,
            spool,
            version: FileVersion::of(&metadata),
            inode_version: Some(FileVersion::of(&metadata)),
            repository: None,
        };
        let failures = &self.failures;
        if !failures.may_read(checked.path(), checked.inode_version, host.now()) {
            let identity = &self.spools[spool].identity;
            return file_read_state(self.session()?, identity, file, checked.version);
        }
        self.check_opened(&checked, host)
    }

    /// Ingests a file that may be read now.
    fn check_opened(
        &mut self,
        checked: &CheckedFile<'_>,
        host: &mut dyn ReaderHost,
    ) -> Result<FileReadState> {
        let session = self.session()?.clone();
        let mut nuls = 0;
        loop {
            let (outcome, read_state) =
                self.ingest_checked_file(checked, &mut nuls, &session, host)?;
            let is_partial = matches!(outcome, Err(Incomplete::Partial));
            self.plan_next_check(checked, outcome, host);
            if !is_partial || self.stopping {
                return Ok(read_state);
            }
            self.between_files(host)?;
        }
    }

    /// Handles a path without a file: the file is gone, or cannot be examined.
    pub(super) fn check_missing(&mut self, spool: usize, path: &Path, host: &mut dyn ReaderHost) {
        match path.symlink_metadata() {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let source = Source::at(path.to_owned());
                self.record_failure(&source, None, &error, host);
            }
            _ => {
                self.remove_planned(path);
                self.mark_for_gone(spool, host.now());
            }
        }
    }

    /// Logs an event of a source and counts it.
    pub(super) fn report(&mut self, event: &Event, host: &mut dyn ReaderHost) {
        self.counters.event(event);
        if event.diagnostic.kind.is_failure() {
            let path = event.source.path.display();
            let message = format!("{path}: {}", event.diagnostic.message);
            self.last_error = LastError::new(message, host.unix_time());
        }
        host.log(&LogRecord::Diagnostic(event));
    }

    /// Runs between two files: handles new events, reports progress, and commits if due.
    pub(super) fn between_files(&mut self, host: &mut dyn ReaderHost) -> Result<()> {
        self.handle_events(host);
        host.progress(self);
        self.commit(host)
    }

    /// Handles new events, which only mark work, at most [`EVENTS_AT_ONCE`].
    pub(super) fn handle_events(&mut self, host: &mut dyn ReaderHost) {
        for _ in 0..EVENTS_AT_ONCE {
            let Some(event) = host.event() else { return };
            let now = host.now();
            self.handle(event, now);
        }
    }

    /// Ingests one chunk of a file, unless this version was already read. `nuls` is the number of
    /// known leading NUL bytes. Also returns the recorded progress: after the ingest if holders are
    /// tracked, before it otherwise.
    fn ingest_checked_file(
        &mut self,
        checked: &CheckedFile<'_>,
        nuls: &mut u64,
        session: &Session,
        host: &mut dyn ReaderHost,
    ) -> Result<(Result<(), Incomplete>, FileReadState)> {
        let (file, version) = (checked.file, checked.version);
        let settle_state = self.settle_state(checked, host);
        // A single-message file is not opened before it has settled. A file that changed again is
        // opened: it may be an mbox.
        let must_settle = settle_state == SettleState::Changing
            && matches!(file.hint, FormatHint::Numbered | FormatHint::Timehash)
            && !self.unsettled.contains_key(checked.path());
        let watched = &self.spools[checked.spool];
        let identity = Arc::clone(&watched.identity);
        let mut events = Vec::new();
        let mut context = IngestContext {
            session,
            parsers: &self.shared.parsers,
            extractor: &self.shared.extractor,
            counters: &mut self.counters,
            events: &mut events,
            spool: &watched.spool,
            identity: &identity,
            existing: &self.existing,
            file,
            version,
        };
        if !watched.scanned && checked.repository.is_none() {
            context.report_truncation()?;
        }
        let before = file_read_state(session, &identity, file, version)?;
        let is_read = !matches!(before, FileReadState::Unread(_));
        let outcome = if is_read {
            Ok(())
        } else if must_settle {
            Err(Incomplete::Waiting)
        } else {
            // A panic outside the messages costs this file, not the daemon. A panic while the batch
            // is written stops the daemon, because the batch may hold half a message.
            let done = catch_unwind(AssertUnwindSafe(|| match checked.repository {
                Some(repository) => context.ingest_repository(repository),
                None => context.ingest_file(settle_state, nuls),
            }));
            done.unwrap_or_else(|_| Err(read::panicked().into()))
        };
        if let Err(Incomplete::Ended(error)) = outcome {
            return Err(error);
        }
        for event in &events {
            self.report(event, host);
        }
        if is_read {
            return Ok((outcome, before));
        }
        if matches!(outcome, Ok(()) | Err(Incomplete::Partial)) {
            self.counters.files_read += 1;
            let changed_ms = u64::try_from(version.ctime / 1_000_000).unwrap_or(0);
            let is_scanned = self.spools[checked.spool].scanned;
            if let Some(now_ms) = host.unix_ms().filter(|_| is_scanned) {
                self.counters.lag_ms(now_ms.saturating_sub(changed_ms));
            }
        }
        if !self.config.output.tombstones {
            return Ok((outcome, before));
        }
        // The file may have changed while it was read.
        let after = match file.source.path.symlink_metadata() {
            Ok(metadata) => {
                let repository = checked.repository.map(|_| version);
                let version = repository.unwrap_or_else(|| FileVersion::of(&metadata));
                file_read_state(session, &identity, file, version)?
            }
            Err(_) => FileReadState::Unread(None),
        };
        self.mark_rewritten(checked, before, after, host.now());
        Ok((outcome, after))
    }

    /// Schedules a scan of the spool if a file that was read may contain fewer messages than
    /// before.
    fn mark_rewritten(
        &mut self,
        checked: &CheckedFile<'_>,
        before: FileReadState,
        after: FileReadState,
        now: MonotonicTime,
    ) {
        match (before.holder(), after.holder()) {
            // Messages were appended to an mbox.
            (Some(before), Some(after)) if before == after => {}
            (Some(before), Some(_)) => self.mark_replaced(checked.spool, before, now),
            (None, Some(_)) if checked.file.hint == FormatHint::None => {
                self.mark_for_gone(checked.spool, now);
            }
            _ => {}
        }
    }

    /// Returns the latest ctime, in nanoseconds since 1970, that a file unchanged for `pause` can
    /// have. `i64::MIN` if unknown: without a clock, and on a shared file system, whose clock may
    /// differ.
    pub(super) fn latest_change(
        &self,
        spool: usize,
        pause: Duration,
        host: &mut dyn ReaderHost,
    ) -> i64 {
        let now = host.unix_ms().filter(|_| self.spools[spool].notices);
        let latest = now.and_then(|now| Duration::from_millis(now).checked_sub(pause));
        latest.map_or(i64::MIN, |latest| latest.as_nanos() as i64)
    }

    /// Returns whether a file may still be written.
    fn settle_state(&self, checked: &CheckedFile<'_>, host: &mut dyn ReaderHost) -> SettleState {
        let (settle, now) = (self.config.watch.settle, host.now());
        let known = self.unsettled.get(checked.path());
        let since = self.unchanged_since(checked);
        if self.ctime_wait(checked, host).is_zero()
            || since.is_some_and(|since| since.plus(settle) <= now)
        {
            SettleState::Settled
        } else if known.is_some_and(|file| file.lock.is_some())
            || self.closed.contains(checked.path())
                && since.is_some_and(|since| since.plus(WRITER_PAUSE) <= now)
        {
            SettleState::Closed
        } else {
            SettleState::Changing
        }
    }

    /// Returns the time until a file has settled by its ctime, if it does not change. The ctime
    /// counts as rounded up to a second. A file system may round it down to one or two.
    fn ctime_wait(&self, checked: &CheckedFile<'_>, host: &mut dyn ReaderHost) -> Duration {
        let latest = self.latest_change(checked.spool, self.config.watch.settle, host);
        let (ctime, second) = (checked.version.ctime, 1_000_000_000);
        let changed = (ctime / second + 1 + i64::from(ctime % second == 0)).saturating_mul(second);
        Duration::from_nanos(u64::try_from(changed.saturating_sub(latest)).unwrap_or(0))
    }

    /// Time since which an unsettled file has had its version. `None` if it is not known.
    fn unchanged_since(&self, checked: &CheckedFile<'_>) -> Option<MonotonicTime> {
        let known = self.unsettled.get(checked.path())?;
        (known.version == checked.version).then_some(known.since)
    }

    fn plan_next_check(
        &mut self,
        checked: &CheckedFile<'_>,
        outcome: Result<(), Incomplete>,
        host: &mut dyn ReaderHost,
    ) {
        let source = &checked.file.source;
        let path = checked.path();
        if !matches!(outcome, Err(Incomplete::Locked(_)))
            && let Some(file) = self.unsettled.get_mut(path)
            && file.lock.take().is_some_and(|held| held.is_reported)
        {
            host.info(format!("{}: no longer locked", path.display()));
        }
        match outcome {
            Err(Incomplete::Partial | Incomplete::Ended(_)) => {}
            Ok(()) => self.remove_planned(path),
            Err(Incomplete::Skipped(reason)) => {
                self.remove_planned(path);
                self.report_skip(source, reason, path, host);
            }
            Err(Incomplete::Waiting) => self.wait_to_settle(checked, None, host),
            Err(Incomplete::Locked(holder)) => self.wait_to_settle(checked, Some(holder), host),
            Err(Incomplete::Failed(error)) if error.kind() == io::ErrorKind::NotFound => {
                self.unsettled.remove(path);
                // A Maildir message that disappeared was probably renamed.
                if checked.file.hint == FormatHint::Maildir {
                    self.spools[checked.spool].mark(host.now().after(RESCAN_DELAY_MS));
                }
            }
            Err(Incomplete::Failed(error)) => {
                self.record_failure(source, checked.inode_version, &error, host);
            }
        }
    }

    /// Removes a file that was read from the planned checks.
    fn remove_planned(&mut self, path: &Path) {
        self.unsettled.remove(path);
        self.failures.files.remove(path);
    }

    /// Returns the lock under which a file was found. Reports it if the file was locked for longer
    /// than `watch.lock_timeout`.
    fn held_lock(
        &mut self,
        source: &Source,
        holder: String,
        host: &mut dyn ReaderHost,
    ) -> HeldLock {
        let now = host.now();
        let known = self.unsettled.get(&*source.path);
        let known = known.and_then(|file| file.lock.as_ref());
        let since = known.map_or(now, |known| known.since);
        let was_reported = known.is_some_and(|known| known.is_reported);
        let is_reported = was_reported || since.plus(self.config.watch.lock_timeout) <= now;
        if is_reported && !was_reported {
            let seconds = (now.ms - since.ms) / 1_000;
            let text = format!("not read: locked for {seconds} s {holder}");
            let diagnostic = Diagnostic::new(DiagnosticKind::Unreadable, text);
            self.report(&diagnostic.of(source), host);
        }
        HeldLock {
            holder,
            since,
            is_reported,
        }
    }

    /// Plans to check a file again once it has settled. `holder` holds the lock under which it was
    /// found.
    fn wait_to_settle(
        &mut self,
        checked: &CheckedFile<'_>,
        holder: Option<String>,
        host: &mut dyn ReaderHost,
    ) {
        let lock = holder.map(|holder| self.held_lock(&checked.file.source, holder, host));
        let (path, settle, now) = (checked.path(), self.config.watch.settle, host.now());
        self.failures.files.remove(path);
        if UNSETTLED_FILES <= self.unsettled.len() && !self.unsettled.contains_key(path) {
            self.spools[checked.spool].mark(now.plus(settle));
            return;
        }
        let since = self.unchanged_since(checked).unwrap_or(now);
        let is_paused = self.closed.contains(path) && now < since.plus(WRITER_PAUSE);
        let pause = settle.min(if is_paused { WRITER_PAUSE } else { settle });
        // After a restart, the file may have settled by its ctime before `pause` is over. One more
        // millisecond, because both clocks are rounded down.
        let wait = Some(self.ctime_wait(checked, host)).filter(|wait| !wait.is_zero());
        let settled = wait.map_or(since.plus(pause), |wait| now.plus(wait).after(1));
        let settled = settled.min(since.plus(pause));
        let due = lock.as_ref().map_or(settled, |_| now);
        let file = UnsettledFile {
            version: checked.version,
            since,
            due: due.max(now.after(LOCK_RETRY_MS)),
            lock,
        };
        self.unsettled.insert(path.to_owned(), file);
    }

    /// Records that a file could not be read. Reports each failure once.
    pub(super) fn record_failure(
        &mut self,
        source: &Source,
        version: InodeVersion,
        error: &io::Error,
        host: &mut dyn ReaderHost,
    ) {
        self.unsettled.remove(&*source.path);
        let kind = read_error_kind(error);
        *self.counters.read_errors.entry(kind).or_default() += 1;
        let failures = &mut self.failures;
        if let Some(diagnostic) = failures.record(&source.path, version, error, host.now()) {
            self.report(&diagnostic.of(source), host);
        }
    }

    /// Checks the files with reported changes, those that may have settled, and unreadable ones
    /// whose wait is over, each once. A file that changes during its check waits for the next call.
    /// They are sorted like a walk, so equal files produce equal segments.
    pub(super) fn check_changed_files(&mut self, host: &mut dyn ReaderHost) -> Result<()> {
        let now = host.now();
        let unsettled = self.unsettled.iter().filter(|(_, file)| file.due <= now);
        self.changed.extend(unsettled.map(|(path, _)| path.clone()));
        self.changed.extend(self.failures.due(now));
        let mut last = PathBuf::new();
        let after = |last| (Bound::Excluded(last), Bound::Unbounded);
        while let Some(path) = self.changed.range(after(last)).next().cloned() {
            self.changed.remove(&path);
            if let Some(spool) = self.spool_of(&path) {
                self.check_path(spool, &path, host)?;
                self.between_files(host)?;
            }
            if self.stopping {
                break;
            }
            last = path;
        }
        let (unsettled, changed) = (&self.unsettled, &self.changed);
        self.closed
            .retain(|path| unsettled.contains_key(path) || changed.contains(path));
        Ok(())
    }

    /// Checks the file or repository at a path, whatever is there now.
    fn check_path(&mut self, spool: usize, path: &Path, host: &mut dyn ReaderHost) -> Result<()> {
        let root = self.spools[spool].spool.path.clone();
        if let Some(found) = walk::repository_path(&root, path) {
            if found.names_commits {
                self.check_repository(spool, &found.repository, host)?;
            }
            if found.repository != path {
                self.remove_planned(path);
            }
            return Ok(());
        }
        if let Some(file) = walk::find_beneath(&root, path) {
            self.check_file(spool, &file, path.symlink_metadata(), host)?;
            return Ok(());
        }
        if walk::is_folder(&root, path) {
            // The folder is new, or one of its entries was removed. The scan finds out which.
            self.remove_planned(path);
            if !host.folder_appeared(&root, path) {
                self.poll(path, host.now());
            }
            let watched = &mut self.spools[spool];
            watched.mark(host.now());
            watched.unstable_scans = watched.unstable_scans.max(1);
        } else {
            self.check_missing(spool, path, host);
        }
        Ok(())
    }

    /// Returns the innermost spool that contains a path.
    pub(super) fn spool_of(&self, path: &Path) -> Option<usize> {
        let spools = (0..self.spools.len())
            .filter(|index| path.starts_with(&self.spools[*index].spool.path));
        spools.max_by_key(|index| self.spools[*index].spool.path.components().count())
    }

    /// Ingests the messages of new commits. Returns the repository, its version and its recorded
    /// progress. The version is the folder's if the repository could not be read. `None` if it is
    /// not the repository of a mailing list, or has disappeared.
    pub(super) fn check_repository(
        &mut self,
        spool: usize,
        path: &Path,
        host: &mut dyn ReaderHost,
    ) -> Result<Option<(WalkedFile, FileVersion, FileReadState)>> {
        let source = Source::at(path.to_owned());
        let Ok(metadata) = path.metadata() else {
            self.check_missing(spool, path, host);
            return Ok(None);
        };
        let folder = FileVersion::of(&metadata);
        let inode_version = Some(folder);
        let file = WalkedFile::named(path.to_owned());
        if !self.failures.may_read(path, inode_version, host.now()) {
            return Ok(Some((file, folder, FileReadState::Unread(None))));
        }
        let repository = match Repository::open(path, &self.git_host()) {
            Ok(RepositoryContent::Mail(repository)) => repository,
            Ok(RepositoryContent::Skipped(reason)) => {
                self.remove_planned(path);
                self.report_skip(&source, reason, &path.join("HEAD"), host);
                return Ok(None);
            }
            Err(error) => {
                self.record_failure(&source, inode_version, &error, host);
                return Ok(Some((file, folder, FileReadState::Unread(None))));
            }
        };
        let version = folder.of_repository(repository.tip());
        let opened = CheckedFile {
            file: &file,
            spool,
            version,
            inode_version,
            repository: Some(&repository),
        };
        let read_state = self.check_opened(&opened, host)?;
        Ok(Some((file, version, read_state)))
    }

    /// The version of the repository at `path`, and its last commit.
    pub(super) fn repository_version(&self, path: &Path) -> Option<(FileVersion, Option<String>)> {
        let folder = FileVersion::of(&path.metadata().ok()?);
        let Ok(RepositoryContent::Mail(repository)) = Repository::open(path, &self.git_host())
        else {
            return None;
        };
        let tip = repository.tip().to_owned();
        Some((folder.of_repository(&tip), Some(tip)))
    }

    fn git_host(&self) -> GitHost {
        let heartbeat = Arc::clone(&self.heartbeat);
        let git = self.shared.git.clone();
        git.with_beat(Arc::new(move || heartbeat.beat()))
    }

    /// Reports a file or repository that is not read, unless it is empty. Of output of urlspool and
    /// of repositories without mail, the first in the folder of `path` is reported, once.
    fn report_skip(
        &mut self,
        source: &Source,
        reason: SkipReason,
        path: &Path,
        host: &mut dyn ReaderHost,
    ) {
        let is_noted = match reason {
            SkipReason::Empty => true,
            SkipReason::OwnOutput | SkipReason::Repository => {
                let folder = path.parent().unwrap_or(path);
                let has_room = self.noted_outputs.len() < REMEMBERED_FAILURES;
                self.noted_outputs.contains(folder)
                    || (has_room && !self.noted_outputs.insert(folder.to_owned()))
            }
            _ => false,
        };
        if !is_noted {
            let text = format!("skipped: {}", reason.name());
            let diagnostic = Diagnostic::new(DiagnosticKind::Skip, text);
            self.report(&diagnostic.of(source), host);
        }
    }
}
