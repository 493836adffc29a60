//! A load that is running: reads the inputs line by line, and commits rows and segments together.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::LoadError;
use super::input::{LoadInput, SegmentFile, inputs_of, unreadable};
use super::lines::{LineStep, ParsedLine, each_batch, each_step};
use super::removal::{ScannedFiles, missing_files};
use super::target::{GoneMessages, LoadRow, ReplacedFiles, SegmentStatus, Target};
use super::{LoadCounts, LoadEvent, LoadJob, LoadMode, LoadedSegments, SharedReport};
use urlspool_record::record::{GoneLine, LineError, RecordLine};
use urlspool_text::limits::{LOAD_BATCH_ROWS, LOAD_BATCH_SECONDS};

/// The name of a scan's records in messages, as an input.
const SCANNED_RECORDS: &str = "the records of the scan";

/// The clause about a segment that is not what its sidecar describes.
const NOT_LOADED: &str = "nothing of it was loaded";

/// Rows that the input lacks may be those that could not be read.
const KEPT_ROWS: LoadEvent<'_> = LoadEvent::Omitted(
    "--replace removed no rows, because the input was not read whole; mend it and load it again",
);

/// A load that is running.
pub(super) struct Loader<'r> {
    target: Box<dyn Target + 'r>,
    pub(super) report: SharedReport<'r>,
    pub(super) counts: LoadCounts,
    mode: LoadMode,
    segments: LoadedSegments,
    is_dry_run: bool,
    /// Set when the load is to end.
    pub(super) stop: Arc<AtomicBool>,
    /// `true` while segments are loaded again that were rolled back with a damaged one after them.
    is_repeating: bool,
    batch: LoadBatch,
}

/// The uncommitted part of a load.
#[derive(Debug, Default)]
struct LoadBatch {
    /// The moment at which the transaction was opened; `None` if there is none.
    opened: Option<Instant>,
    rows: usize,
    /// Messages whose rows are removed after those that were put.
    gone: GoneMessages,
    /// The segment that is loaded, whose rows are committed together.
    segment: CurrentSegment,
    /// `true` if it has rows of other inputs than segments.
    has_lines: bool,
    /// Segments whose rows it has.
    segments: Vec<SegmentFile>,
    /// Segments that are removed after the commit.
    to_delete: Vec<SegmentFile>,
    counts: LoadCounts,
}

/// The segment that is loaded, as far as its content is known.
#[derive(Debug, Default)]
enum CurrentSegment {
    #[default]
    None,
    /// It is compared with its sidecar while it is read.
    Unchecked(SegmentFile),
    /// It is what its sidecar describes.
    Checked,
    /// It is not, so that the rest is not loaded.
    Damaged(LoadError),
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
            is_repeating: false,
            batch: LoadBatch::default(),
        }
    }

    /// Returns `true` if the load is to end.
    pub(super) fn is_stopping(&self) -> bool {
        self.mode == LoadMode::Follow && self.stop.load(Ordering::Relaxed)
    }

    /// Loads the inputs that arguments name.
    pub(super) fn load_all(&mut self, arguments: &[PathBuf]) -> Result<(), LoadError> {
        self.or_roll_back(|loader| {
            for argument in arguments {
                loader.load_argument(argument)?;
            }
            loader.replace(|_| Ok(ReplacedFiles::default()))
        })
    }

    /// Loads the records of a scan. If it fails, what was not committed is dropped.
    pub(super) fn load_scan(
        &mut self,
        records: &Receiver<LineStep<ScannedFiles>>,
    ) -> Result<(), LoadError> {
        self.or_roll_back(|loader| {
            let files = each_step(records, |lines| loader.load_parsed(lines, SCANNED_RECORDS))?;
            let Some(files) = files else {
                loader.drop_batch();
                return Ok(());
            };
            loader.replace(|loader| {
                let stored = loader.target.files_without_rows()?;
                Ok(files.replaced(stored, |reason| loader.report(LoadEvent::Omitted(reason))))
            })
        })
    }

    /// Removes the rows of the input's files that the input does not hold, if that is asked for and
    /// the input was read whole. `files` returns the files that differ from those of the input.
    fn replace(
        &mut self,
        files: impl FnOnce(&mut Self) -> Result<ReplacedFiles, LoadError>,
    ) -> Result<(), LoadError> {
        if self.mode != LoadMode::Replace {
            return Ok(());
        }
        if 0 < self.counts.failures() + self.batch.counts.failures() {
            self.report(KEPT_ROWS);
            return Ok(());
        }
        self.remove_gone()?;
        let files = files(self)?;
        self.target.finish_replacing(&files)
    }

    /// Removes the rows of files beneath the roots that no longer exist.
    ///
    /// # Errors
    ///
    /// A root is missing meanwhile, or holds no file. Nothing was removed.
    pub(super) fn prune(&mut self, roots: &[PathBuf]) -> Result<(), LoadError> {
        self.or_roll_back(|loader| {
            let stored = loader.target.files_without_rows()?;
            let omitted = |reason: &str| loader.report(LoadEvent::Omitted(reason));
            let missing = missing_files(stored, roots, omitted)?;
            loader.target.finish_replacing(&missing)
        })
    }

    /// Loads segments, and commits them together as far as batches allow.
    pub(super) fn load_segments(&mut self, segments: Vec<SegmentFile>) -> Result<(), LoadError> {
        self.or_roll_back(|loader| {
            for segment in segments {
                if loader.is_stopping() {
                    break;
                }
                loader.load_segment(&segment)?;
            }
            Ok(())
        })
    }

    /// Does some work, in one transaction if the mode needs it, and commits it.
    fn or_roll_back(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        let done = self.begin_whole().and_then(|()| work(self));
        let done = done.and_then(|()| self.commit());
        done.inspect_err(|_| self.drop_batch())
    }

    fn begin_whole(&mut self) -> Result<(), LoadError> {
        if self.is_one_transaction() {
            self.begin()?;
        }
        match self.mode {
            LoadMode::Replace | LoadMode::Prune => self.target.begin_replacing(),
            LoadMode::Add | LoadMode::Follow => Ok(()),
        }
    }

    fn drop_batch(&mut self) {
        if std::mem::take(&mut self.batch).opened.is_some() {
            self.target.roll_back();
        }
    }

    fn load_argument(&mut self, argument: &Path) -> Result<(), LoadError> {
        for input in inputs_of(argument) {
            if self.is_stopping() {
                break;
            }
            match input {
                Ok(LoadInput::Segment(segment)) => self.load_segment(&segment)?,
                Ok(input) => {
                    let name = input.name();
                    if let Err(error) = self.load_lines(|| input.open(), &name)? {
                        self.failed(&unreadable(name, error));
                    }
                }
                Err(error) => self.failed(&error),
            }
        }
        Ok(())
    }

    fn report(&self, event: LoadEvent<'_>) {
        if !self.is_repeating {
            self.report.borrow_mut()(event);
        }
    }

    /// Reports an input that is not loaded, or not removed, and counts it.
    pub(super) fn failed(&mut self, error: &LoadError) {
        self.counts.failed_files += 1;
        self.report(LoadEvent::Omitted(&error.to_string()));
    }

    /// Loads a segment, unless the target holds it. Its rows and its name are committed together.
    ///
    /// It is read once, and rolled back if it is not what its sidecar describes. A target without
    /// transactions needs it to be compared before.
    fn load_segment(&mut self, segment: &SegmentFile) -> Result<(), LoadError> {
        let name = segment.path.display().to_string();
        if self.mode == LoadMode::Replace {
            return Err(LoadError::unusable(format!(
                "{name} is a segment, which holds only what was new in its files; --replace needs \
                 the whole scan of a file"
            )));
        }
        if self.batch.has_lines {
            // They are not loaded again if the segment is rolled back.
            self.commit_between_lines()?;
        }
        self.begin()?;
        match self.target.segment_status(&segment.id)? {
            SegmentStatus::New => {
                let Some(file) = self.or_commit(segment.open())? else {
                    // Not by a load into this target, which would hold it.
                    let reason = "it was removed since its folder was listed";
                    let error = io::Error::new(io::ErrorKind::NotFound, reason);
                    self.failed(&unreadable(name, error));
                    return Ok(());
                };
                self.batch.segment = if self.target.has_transactions() {
                    CurrentSegment::Unchecked(segment.clone())
                } else {
                    self.or_commit(segment.check(&file, NOT_LOADED))?;
                    CurrentSegment::Checked
                };
                let read = self.load_lines(|| segment.lines(file, NOT_LOADED), &name)?;
                match std::mem::take(&mut self.batch.segment) {
                    CurrentSegment::Damaged(error) => return self.undo(error),
                    _ => read.or_else(|error| self.undo(unreadable(name, error)))?,
                }
                self.target.add_segment(&segment.id)?;
                self.batch.segments.push(segment.clone());
                self.batch.counts.segments += 1;
            }
            SegmentStatus::Loaded => {
                if self.segments == LoadedSegments::Delete {
                    // It, or its sidecar, may be another than the one that was loaded. A missing
                    // one was removed by another load.
                    let file = self.or_commit(segment.open())?;
                    let checked = file.map(|file| segment.check(&file, "it was not removed"));
                    self.or_commit(checked.transpose())?;
                }
                self.batch.counts.known_segments += 1;
            }
            SegmentStatus::OtherHash(other) => {
                let ((instance, epoch, seq), hash) = (segment.id.place(), &segment.id.hash);
                return self.or_commit(Err(LoadError::inconsistent(format!(
                    "{name}: segment {seq} of instance {instance}, epoch {epoch}, has the hash \
                     {hash}, but one with the hash {other} was loaded; the output of a restored \
                     state must be loaded into a new database"
                ))));
            }
        }
        if self.segments == LoadedSegments::Delete && !self.is_repeating {
            self.batch.to_delete.push(segment.clone());
        }
        self.commit_if_full()
    }

    /// Commits the inputs before a segment that cannot be loaded. Nothing of the segment was
    /// written. None is removed: the sidecar of one may be that of the file that is damaged.
    fn or_commit<T>(&mut self, checked: Result<T, LoadError>) -> Result<T, LoadError> {
        if checked.is_err() {
            self.batch.to_delete.clear();
            self.commit()?;
        }
        checked
    }

    /// Rolls back a segment that cannot be loaded, and returns its error. The segments before it in
    /// the transaction are loaded again and committed, as [`Loader::or_commit`] does.
    fn undo(&mut self, error: LoadError) -> Result<(), LoadError> {
        if self.is_dry_run || self.is_repeating || !self.target.has_transactions() {
            return Err(error);
        }
        let before = std::mem::take(&mut self.batch.segments);
        self.drop_batch();
        self.is_repeating = true;
        let mut segments = before.iter();
        let loaded = segments.try_for_each(|segment| self.load_segment(segment));
        let loaded = loaded.and_then(|()| self.commit());
        self.is_repeating = false;
        loaded.and(Err(error))
    }

    /// Compares the segment that is loaded with its sidecar before a line of it is called wrong. It
    /// is read for the second time then.
    fn check_segment(&mut self) -> Result<(), LoadError> {
        if let CurrentSegment::Unchecked(segment) = &self.batch.segment {
            let checked = segment.open()?;
            let checked = checked.map_or(Ok(()), |file| segment.check(&file, NOT_LOADED));
            self.batch.segment = match checked {
                Ok(()) => CurrentSegment::Checked,
                Err(error) => CurrentSegment::Damaged(error),
            };
        }
        Ok(())
    }

    fn load_lines(
        &mut self,
        open: impl FnOnce() -> io::Result<Box<dyn Read>> + Send,
        name: &str,
    ) -> Result<io::Result<()>, LoadError> {
        let texts = self.target.line_texts();
        each_batch(open, texts, |lines| self.load_parsed(lines, name))
    }

    /// Loads lines that follow each other; `None` if there is time to commit those before. Records
    /// between lines of other types are put together.
    fn load_parsed(&mut self, lines: Option<&[ParsedLine]>, name: &str) -> Result<(), LoadError> {
        let Some(lines) = lines else {
            return self.commit_between_lines();
        };
        match self.batch.segment {
            CurrentSegment::None => self.batch.has_lines = true,
            CurrentSegment::Damaged(_) => return Ok(()),
            CurrentSegment::Unchecked(_) | CurrentSegment::Checked => {}
        }
        let mut rows = Vec::with_capacity(lines.len());
        for line in lines {
            if let Ok(RecordLine::Url(record)) = &line.content {
                if self.batch.gone.contains(record) {
                    self.put(&mut rows)?;
                    self.remove_gone()?;
                }
                rows.push(LoadRow {
                    record,
                    input: name,
                    number: line.number,
                    json: &line.json,
                });
            } else {
                self.put(&mut rows)?;
                self.load_other_line(line, name)?;
            }
        }
        self.put(&mut rows)?;
        self.commit_if_full()
    }

    fn load_other_line(&mut self, line: &ParsedLine, name: &str) -> Result<(), LoadError> {
        let number = line.number;
        if line.content.is_err() {
            self.check_segment()?;
        }
        match &line.content {
            Ok(RecordLine::Gone(gone)) => return self.remove(gone),
            Ok(_) => self.batch.counts.other_lines += 1,
            Err(_) if matches!(self.batch.segment, CurrentSegment::Damaged(_)) => {}
            Err(error @ LineError::NoRecord(_)) => {
                self.batch.counts.bad_lines += 1;
                self.report(LoadEvent::BadLine {
                    input: name,
                    line: number,
                    error,
                });
            }
            Err(error) => {
                let message = format!("{name}, line {number}: {error}");
                return Err(LoadError::unusable(message).caused_by(error.clone()));
            }
        }
        Ok(())
    }

    /// Puts rows into the target, after which there are none.
    fn put(&mut self, rows: &mut Vec<LoadRow<'_>>) -> Result<(), LoadError> {
        if rows.is_empty() {
            return Ok(());
        }
        self.begin()?;
        self.batch.rows += rows.len();
        self.batch.counts.records += rows.len() as u64;
        self.target.put(rows)?;
        rows.clear();
        self.report_refused();
        Ok(())
    }

    fn remove(&mut self, gone: &GoneLine) -> Result<(), LoadError> {
        self.begin()?;
        self.batch.rows += gone.digests.len();
        for digest in &gone.digests {
            self.batch.gone.push(gone, digest);
            if self.batch.gone.is_full() {
                self.remove_gone()?;
            }
        }
        Ok(())
    }

    /// Removes the rows of the messages that are gone so far.
    fn remove_gone(&mut self) -> Result<(), LoadError> {
        let gone = std::mem::take(&mut self.batch.gone);
        if gone.is_empty() {
            return Ok(());
        }
        self.target.remove(&gone)?;
        self.report_refused();
        Ok(())
    }

    fn report_refused(&mut self) {
        for refused in self.target.take_refused() {
            self.batch.counts.refused_records += 1;
            self.report(LoadEvent::RefusedRecord(&refused));
        }
    }

    fn begin(&mut self) -> Result<(), LoadError> {
        if self.batch.opened.is_none() {
            self.target.begin()?;
            self.batch.opened = Some(Instant::now());
        }
        Ok(())
    }

    /// Commits a batch that has as many rows as it may have, or is as old.
    fn commit_if_full(&mut self) -> Result<(), LoadError> {
        let max_age = Duration::from_secs(LOAD_BATCH_SECONDS);
        let opened = self.batch.opened;
        let is_old = opened.is_some_and(|opened| max_age <= opened.elapsed());
        if is_old || LOAD_BATCH_ROWS <= self.batch.rows {
            self.commit_between_lines()
        } else {
            Ok(())
        }
    }

    /// Commits, unless the whole load is one transaction, or a segment is not loaded to its end.
    fn commit_between_lines(&mut self) -> Result<(), LoadError> {
        let is_in_segment = !matches!(self.batch.segment, CurrentSegment::None);
        if self.is_one_transaction() || is_in_segment {
            Ok(())
        } else {
            self.commit()
        }
    }

    fn is_one_transaction(&self) -> bool {
        matches!(self.mode, LoadMode::Replace | LoadMode::Prune) || self.is_dry_run
    }

    fn commit(&mut self) -> Result<(), LoadError> {
        if self.batch.opened.is_none() {
            // Lines that are no records have no transaction.
            self.counts.add(&std::mem::take(&mut self.batch.counts));
            return Ok(());
        }
        self.remove_gone()?;
        let changed = self.target.changed()?;
        self.report_refused();
        self.batch.counts.added += changed.added;
        self.batch.counts.removed += changed.removed;
        if self.is_dry_run {
            self.counts.add(&self.batch.counts);
            self.drop_batch();
            return Ok(());
        }
        self.target.commit()?;
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
        self.bad_lines += other.bad_lines;
        self.refused_records += other.refused_records;
    }
}
