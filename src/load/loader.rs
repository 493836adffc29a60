//! A load that is running: reads the inputs line by line, and commits rows and segments together.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::LoadError;
use super::input::{LoadInput, SegmentFile, inputs_of, unreadable};
use super::lines::{LinesRead, ParsedLine, each_batch, len_and_hash};
use super::maildir::RenamedMessages;
use super::scan_feed::{FedRecords, FedStep, ScannedFiles, is_missing};
use super::target::{LoadRow, ReplacedFiles, SegmentId, SegmentStatus, StoredFile, Target};
use super::{LoadCounts, LoadJob, LoadMode, LoadedSegments, SharedReport};
use crate::limits::{LOAD_BATCH_ROWS, LOAD_BATCH_SECONDS};
use crate::origin::Source;
use crate::record::{GoneLine, LineError, RecordLine};

/// The name of a scan's records in messages, as an input.
const SCANNED_RECORDS: &str = "the records of the scan";

/// A load that is running.
pub(super) struct Loader<'r> {
    target: Box<dyn Target + 'r>,
    pub(super) report: SharedReport<'r>,
    pub(super) counts: LoadCounts,
    mode: LoadMode,
    segments: LoadedSegments,
    is_dry_run: bool,
    /// Set when the load is to end.
    stop: Arc<AtomicBool>,
    batch: LoadBatch,
}

impl<'r> Loader<'r> {
    pub(super) fn new(
        target: Box<dyn Target + 'r>,
        job: &LoadJob,
        report: SharedReport<'r>,
    ) -> Loader<'r> {
        Loader {
            target,
            report,
            counts: LoadCounts::default(),
            mode: job.mode,
            segments: job.segments,
            is_dry_run: job.is_dry_run,
            stop: Arc::clone(&job.stop),
            batch: LoadBatch::default(),
        }
    }

    /// Returns `true` if the load is to end.
    pub(super) fn is_stopping(&self) -> bool {
        self.mode == LoadMode::Follow && self.stop.load(Ordering::Relaxed)
    }

    /// The flag by which the load is stopped.
    pub(super) fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    pub(super) fn load_all(&mut self, arguments: &[PathBuf]) -> Result<(), LoadError> {
        self.or_roll_back(|loader| {
            for argument in arguments {
                loader.load_argument(argument)?;
            }
            loader.commit()
        })
    }

    pub(super) fn replace(&mut self, arguments: &[PathBuf]) -> Result<(), LoadError> {
        self.or_roll_back(|loader| {
            loader.begin()?;
            loader.target.begin_replacing()?;
            for argument in arguments {
                loader.load_argument(argument)?;
            }
            if loader.counts.failures() == 0 {
                loader.target.finish_replacing(&ReplacedFiles::default())?;
            } else {
                loader.report.borrow_mut().kept_rows();
            }
            loader.commit()
        })
    }

    pub(super) fn load_scan(&mut self, records: &FedRecords) -> Result<(), LoadError> {
        self.or_roll_back(|loader| {
            if loader.is_one_transaction() {
                loader.begin()?;
            }
            if loader.mode == LoadMode::Replace {
                loader.target.begin_replacing()?;
            }
            let files = loop {
                match records.next() {
                    FedStep::Records(rows) => {
                        loader.load_parsed(&rows, SCANNED_RECORDS, Commits::BetweenLines)?;
                        records.put_back(rows);
                    }
                    FedStep::Idle => loader.commit_between_lines()?,
                    FedStep::End(files) => break files,
                    FedStep::Failed => {
                        loader.drop_batch();
                        return Ok(());
                    }
                }
            };
            if loader.mode == LoadMode::Replace {
                loader.replace_files(&files)?;
            }
            if loader.is_dry_run {
                return loader.count_and_drop();
            }
            loader.commit()
        })
    }

    /// Removes the rows of files that were scanned and that the scan did not find, and of files
    /// that are gone.
    fn replace_files(&mut self, files: &ScannedFiles) -> Result<(), LoadError> {
        if self.counts.failures() > 0 {
            self.report.borrow_mut().kept_rows();
            return Ok(());
        }
        let mut by_root: BTreeMap<PathBuf, Vec<StoredFile>> = BTreeMap::new();
        for file in self.target.files_without_rows()? {
            let Some(path) = file.path() else { continue };
            if let Some(root) = files.root_of(&path)
                && files.is_without_urls(&path)
            {
                by_root.entry(root.to_owned()).or_default().push(file);
            }
        }
        let mut replaced = ReplacedFiles {
            incomplete: files.broken().map(|path| StoredFile::at(path)).collect(),
            ..ReplacedFiles::default()
        };
        for (root, files) in by_root {
            // After its files were looked for: else a file system could have been unmounted in
            // between.
            if ScannedFiles::holds_files(&root) {
                replaced.without_rows.extend(files);
            } else {
                self.report.borrow_mut().kept_root(&root);
            }
        }
        self.target.finish_replacing(&replaced)
    }

    /// Removes the rows of files beneath the roots that no longer exist. [`check_roots`] has
    /// accepted the roots.
    ///
    /// # Errors
    ///
    /// A root is missing meanwhile, or holds no file. Nothing was removed.
    pub(super) fn prune(&mut self, roots: &[PathBuf]) -> Result<(), LoadError> {
        self.or_roll_back(|loader| {
            loader.begin()?;
            loader.target.begin_replacing()?;
            let scanned = ScannedFiles::beneath(roots);
            let mut gone = ReplacedFiles::default();
            let mut renamed = RenamedMessages::default();
            let mut known: BTreeSet<PathBuf> = BTreeSet::new();
            for file in loader.target.files_without_rows()? {
                let Some(path) = file.path() else { continue };
                let Some(root) = scanned.root_of(&path) else {
                    continue;
                };
                if !known.contains(root) {
                    known.insert(root.to_owned());
                }
                if is_missing(&path) {
                    gone.without_rows.push(file);
                } else {
                    renamed.add_stored(&path);
                }
            }
            let count = gone.without_rows.len();
            let is_gone = |file: &StoredFile| file.path().is_some_and(|path| !renamed.hold(&path));
            gone.without_rows.retain(is_gone);
            if gone.without_rows.len() < count {
                let kept = count - gone.without_rows.len();
                loader.report.borrow_mut().kept_renamed(kept as u64);
            }
            // After its files were looked for: else a file system could have been unmounted in
            // between.
            check_roots(roots)?;
            for root in roots {
                if !known.iter().any(|known| known.starts_with(root)) {
                    loader.report.borrow_mut().unknown_root(root);
                }
            }
            loader.target.finish_replacing(&gone)?;
            if loader.is_dry_run {
                return loader.count_and_drop();
            }
            loader.commit()
        })
    }

    /// Counts what a commit would change, and drops it.
    fn count_and_drop(&mut self) -> Result<(), LoadError> {
        let changed = self.target.changed()?;
        self.batch.counts.added += changed.added;
        self.batch.counts.removed += changed.removed;
        self.counts.add(&self.batch.counts);
        self.drop_batch();
        Ok(())
    }

    fn drop_batch(&mut self) {
        if std::mem::take(&mut self.batch).is_open() {
            self.target.roll_back();
        }
    }

    /// Loads a segment and commits it, perhaps together with later ones.
    pub(super) fn load_segments(&mut self, segments: Vec<SegmentFile>) -> Result<(), LoadError> {
        self.or_roll_back(|loader| {
            for segment in segments {
                if loader.is_stopping() {
                    break;
                }
                loader.load_input(&LoadInput::Segment(segment))?;
            }
            loader.commit()
        })
    }

    fn or_roll_back(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        work(self).inspect_err(|_| self.drop_batch())
    }

    fn load_argument(&mut self, argument: &std::path::Path) -> Result<(), LoadError> {
        for input in inputs_of(argument) {
            if self.is_stopping() {
                break;
            }
            match input {
                Ok(input) => self.load_input(&input)?,
                Err(error) => self.failed(&error),
            }
        }
        Ok(())
    }

    /// Reports an input that is not loaded, or not removed, and counts it.
    pub(super) fn failed(&mut self, error: &LoadError) {
        self.counts.failed_files += 1;
        self.report.borrow_mut().failed_input(error);
    }

    fn load_input(&mut self, input: &LoadInput) -> Result<(), LoadError> {
        let name = input.name();
        if let LoadInput::Segment(segment) = input {
            if self.mode == LoadMode::Replace {
                return Err(LoadError::unusable(format!(
                    "{name} is a segment, which holds only what was new in its files; --replace \
                     needs the whole scan of a file"
                )));
            }
            return self.load_segment(input, segment, &name);
        }
        match self.load_lines(input, &name, Commits::BetweenLines)? {
            Ok(_) => {}
            Err(error) => self.failed(&unreadable(name, error)),
        }
        Ok(())
    }

    /// Loads a segment, unless the target holds it. Its rows and its name are committed together.
    fn load_segment(
        &mut self,
        input: &LoadInput,
        segment: &SegmentFile,
        name: &str,
    ) -> Result<(), LoadError> {
        self.begin()?;
        match self.target.segment_status(&segment.id)? {
            SegmentStatus::New => {
                if !self.load_new_segment(input, segment, name)? {
                    return Ok(());
                }
            }
            SegmentStatus::Loaded => {
                if self.segments == LoadedSegments::Delete {
                    // It, or its sidecar, may be another than the one that was loaded. A missing
                    // one was removed by another load.
                    self.or_commit(check_file(segment, name, "it was not removed"))?;
                }
                self.batch.counts.known_segments += 1;
            }
            SegmentStatus::OtherHash(other) => {
                let SegmentId {
                    instance,
                    epoch,
                    seq,
                    hash,
                } = &segment.id;
                return self.or_commit(Err(LoadError::inconsistent(format!(
                    "{name}: segment {seq} of instance {instance}, epoch {epoch}, has the hash \
                     {hash}, but one with the hash {other} was loaded; the output of a restored \
                     state must be loaded into a new database"
                ))));
            }
        }
        if self.segments == LoadedSegments::Delete {
            self.batch.to_delete.push(segment.clone());
        }
        self.commit_if_full()
    }

    /// Returns `false` if the segment is missing.
    fn load_new_segment(
        &mut self,
        input: &LoadInput,
        segment: &SegmentFile,
        name: &str,
    ) -> Result<bool, LoadError> {
        let omitted = "nothing of it was loaded";
        let read = if self.or_commit(check_file(segment, name, omitted))? {
            self.load_lines(input, name, Commits::AfterInput)?
        } else {
            let reason = "it was removed since its folder was listed";
            Err(io::Error::new(io::ErrorKind::NotFound, reason))
        };
        match read {
            // It may have changed since.
            Ok(read) => check_segment(segment, name, read.len, &read.hash, omitted)?,
            // Somebody has removed it since it was listed, and not a load into this target, which
            // would hold it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.failed(&unreadable(name, error));
                return Ok(false);
            }
            Err(error) => return Err(unreadable(name, error)),
        }
        self.target.add_segment(&segment.id)?;
        self.batch.counts.segments += 1;
        Ok(true)
    }

    /// Commits the inputs before a segment that cannot be loaded. Nothing of the segment was
    /// written yet. None is removed: the sidecar of one may be that of the file that is damaged.
    fn or_commit<T>(&mut self, checked: Result<T, LoadError>) -> Result<T, LoadError> {
        if checked.is_err() {
            self.batch.to_delete.clear();
            self.commit()?;
        }
        checked
    }

    fn load_lines(
        &mut self,
        input: &LoadInput,
        name: &str,
        commits: Commits,
    ) -> Result<io::Result<LinesRead>, LoadError> {
        let texts = self.target.line_texts();
        each_batch(input, texts, |lines| match (lines, commits) {
            (Some(lines), _) => self.load_parsed(lines, name, commits),
            (None, Commits::BetweenLines) => self.commit_between_lines(),
            (None, Commits::AfterInput) => Ok(()),
        })
    }

    /// Loads lines that follow each other. Records between lines of other types are put together.
    fn load_parsed(
        &mut self,
        lines: &[ParsedLine],
        name: &str,
        commits: Commits,
    ) -> Result<(), LoadError> {
        let mut rows = Vec::with_capacity(lines.len());
        for line in lines {
            if let Ok(RecordLine::Url(record)) = &line.content {
                rows.push(LoadRow {
                    record,
                    input: name,
                    number: line.number,
                    json: &line.json,
                });
            } else {
                self.put(&rows)?;
                rows.clear();
                self.load_other_line(line, name)?;
            }
        }
        self.put(&rows)?;
        match commits {
            Commits::BetweenLines => self.commit_if_full(),
            Commits::AfterInput => Ok(()),
        }
    }

    fn load_other_line(&mut self, line: &ParsedLine, name: &str) -> Result<(), LoadError> {
        match &line.content {
            Ok(RecordLine::Gone(gone)) => return self.remove(gone),
            Ok(_) => self.batch.counts.other_lines += 1,
            Err(error @ LineError::NoRecord(_)) => {
                self.counts.bad_lines += 1;
                self.report.borrow_mut().bad_line(name, line.number, error);
            }
            Err(error) => {
                let number = line.number;
                let message = format!("{name}, line {number}: {error}");
                return Err(LoadError::unusable(message).caused_by(error.clone()));
            }
        }
        Ok(())
    }

    fn put(&mut self, rows: &[LoadRow<'_>]) -> Result<(), LoadError> {
        if rows.is_empty() {
            return Ok(());
        }
        self.begin()?;
        self.batch.rows += rows.len();
        self.batch.counts.records += rows.len() as u64;
        self.target.put(rows)?;
        self.report_refused();
        Ok(())
    }

    fn remove(&mut self, gone: &GoneLine) -> Result<(), LoadError> {
        self.begin()?;
        self.batch.rows += gone.digests.len();
        self.target.remove(gone)
    }

    fn report_refused(&mut self) {
        for refused in self.target.take_refused() {
            self.counts.refused_records += 1;
            self.report
                .borrow_mut()
                .refused_record(&refused.input, refused.line, &refused.reason);
        }
    }

    fn begin(&mut self) -> Result<(), LoadError> {
        if !self.batch.is_open() {
            self.target.begin()?;
            self.batch.open();
        }
        Ok(())
    }

    fn commit_if_full(&mut self) -> Result<(), LoadError> {
        if self.batch.is_full() {
            self.commit_between_lines()
        } else {
            Ok(())
        }
    }

    /// Commits, unless the whole load is one transaction.
    fn commit_between_lines(&mut self) -> Result<(), LoadError> {
        if self.is_one_transaction() {
            Ok(())
        } else {
            self.commit()
        }
    }

    fn is_one_transaction(&self) -> bool {
        self.mode == LoadMode::Replace || self.is_dry_run
    }

    fn commit(&mut self) -> Result<(), LoadError> {
        if !self.batch.is_open() {
            return Ok(());
        }
        let changed = self.target.commit()?;
        self.report_refused();
        self.batch.counts.added += changed.added;
        self.batch.counts.removed += changed.removed;
        let batch = std::mem::take(&mut self.batch);
        self.counts.add(&batch.counts);
        self.delete(batch.to_delete)
    }

    /// Removes segments whose rows were committed, if these are safe where the target's name leads.
    fn delete(&mut self, segments: Vec<SegmentFile>) -> Result<(), LoadError> {
        if segments.is_empty() {
            return Ok(());
        }
        self.target.check_kept()?;
        for segment in segments {
            if let Err(error) = segment.delete() {
                let name = segment.path.display();
                let message = format!("cannot remove {name}, which was loaded: {error}");
                self.failed(&LoadError::io(message).caused_by(error));
            }
        }
        Ok(())
    }
}

/// Checks that each root of a removal is there and holds a file.
pub(super) fn check_roots(roots: &[PathBuf]) -> Result<(), LoadError> {
    let is_stdin = |root: &PathBuf| root.as_os_str() == Source::STDIN;
    let is_wrong = |root: &&PathBuf| is_stdin(root) || !ScannedFiles::holds_files(root);
    match roots.iter().find(is_wrong) {
        None => Ok(()),
        Some(root) => Err(LoadError::unusable(format!(
            "{} is missing, holds no file or cannot be read, so that no rows were removed; is its \
             file system mounted? If its files were deleted, name the folder above it",
            root.display()
        ))),
    }
}

/// Reads a segment, and compares it with its sidecar. Returns `false` if it is missing: it was
/// removed since it was listed. The clause `omitted` says what is not done with another one.
fn check_file(segment: &SegmentFile, name: &str, omitted: &str) -> Result<bool, LoadError> {
    match len_and_hash(&segment.path) {
        Ok((len, hash)) => check_segment(segment, name, len, &hash, omitted).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(unreadable(name, error)),
    }
}

/// Compares what was read of a segment with its sidecar.
fn check_segment(
    segment: &SegmentFile,
    name: &str,
    len: u64,
    hash: &str,
    omitted: &str,
) -> Result<(), LoadError> {
    if len == segment.len && hash == segment.id.hash {
        return Ok(());
    }
    Err(LoadError::inconsistent(format!(
        "{name} is not what its sidecar {} describes; {omitted}",
        segment.meta.display()
    )))
}

/// Places at which a batch may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Commits {
    /// Between any two lines.
    BetweenLines,
    /// Only after the whole input, which is a segment.
    AfterInput,
}

impl LoadCounts {
    /// Number of lines, records and files that were not loaded.
    fn failures(&self) -> u64 {
        self.bad_lines + self.refused_records + self.failed_files
    }

    fn add(&mut self, other: &LoadCounts) {
        self.records += other.records;
        self.added += other.added;
        self.removed += other.removed;
        self.segments += other.segments;
        self.known_segments += other.known_segments;
        self.other_lines += other.other_lines;
    }
}

/// The uncommitted part of a load.
#[derive(Debug, Default)]
struct LoadBatch {
    /// The moment at which the transaction was opened; `None` if there is none.
    opened: Option<Instant>,
    rows: usize,
    /// Segments that are removed after the commit.
    to_delete: Vec<SegmentFile>,
    counts: LoadCounts,
}

impl LoadBatch {
    /// Notes that a transaction was opened.
    fn open(&mut self) {
        self.opened = Some(Instant::now());
    }

    /// Returns `true` if a transaction is open.
    fn is_open(&self) -> bool {
        self.opened.is_some()
    }

    /// Returns `true` if it has as many rows as a batch may have, or is as old.
    fn is_full(&self) -> bool {
        let max_age = Duration::from_secs(LOAD_BATCH_SECONDS);
        LOAD_BATCH_ROWS <= self.rows
            || self
                .opened
                .is_some_and(|opened| max_age <= opened.elapsed())
    }
}
