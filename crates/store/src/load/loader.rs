//! A running load: reads the inputs line by line, and commits rows and segments together.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::LoadError;
use super::input::{
    LineStep, LoadInput, ParsedLine, SegmentFile, each_batch, each_step, inputs_of, unreadable,
};
use super::removal::{ScannedFiles, missing_files};
use super::target::{GoneMessages, LoadRow, ReplacedFiles, Target};
use super::{LoadCounts, LoadEvent, LoadJob, LoadMode, SharedReport};
use urlspool_record::record::{GoneLine, LineError, RecordLine};
use urlspool_text::limits::{LOAD_BATCH_ROWS, LOAD_BATCH_SECONDS};

/// Input name of a scan's records, for messages.
const SCANNED_RECORDS: &str = "the records of the scan";

/// Clause for messages about a segment that does not match its sidecar.
const NOT_LOADED: &str = "none of it was loaded";

/// Reports that `--replace` removed nothing: rows missing from the input may be rows that could not
/// be read.
const KEPT_ROWS: LoadEvent<'_> = LoadEvent::Omitted(
    "--replace removed no rows, because the input was not read completely; repair it and load it \
     again",
);

/// A running load.
pub(super) struct Loader<'r> {
    target: Box<dyn Target + 'r>,
    pub(super) report: SharedReport<'r>,
    pub(super) counts: LoadCounts,
    /// Counts at the last commit.
    committed: LoadCounts,
    job: &'r LoadJob,
    /// `true` while reloading segments that were rolled back together with a damaged segment after
    /// them.
    is_repeating: bool,
    batch: LoadBatch,
}

/// Uncommitted part of a load.
#[derive(Debug, Default)]
struct LoadBatch {
    /// Start of the open transaction, if any.
    opened: Option<Instant>,
    rows: usize,
    /// Gone messages whose rows are removed after the rows put so far.
    gone: GoneMessages,
    /// Segment being loaded. All its rows are committed together.
    segment: CurrentSegment,
    /// `true` if the batch has rows from inputs other than segments.
    has_lines: bool,
    /// Segments with rows in the batch.
    segments: Vec<SegmentFile>,
    /// Segments to delete after the commit.
    to_delete: Vec<SegmentFile>,
}

/// Segment being loaded, and whether it matches its sidecar.
#[derive(Debug, Default)]
enum CurrentSegment {
    #[default]
    None,
    /// Compared with its sidecar while it is read.
    Unchecked(SegmentFile),
    /// Matches its sidecar.
    Checked,
    /// Does not match its sidecar; the rest is not loaded.
    Damaged(LoadError),
}

impl<'r> Loader<'r> {
    pub(super) fn new(
        target: Box<dyn Target + 'r>,
        job: &'r LoadJob,
        report: SharedReport<'r>,
    ) -> Loader<'r> {
        Loader {
            target,
            report,
            counts: LoadCounts::default(),
            committed: LoadCounts::default(),
            job,
            is_repeating: false,
            batch: LoadBatch::default(),
        }
    }

    /// Returns `true` if the load should stop.
    pub(super) fn is_stopping(&self) -> bool {
        self.job.mode == LoadMode::Follow && self.job.stop.load(Ordering::Relaxed)
    }

    /// Loads the inputs named by arguments.
    pub(super) fn load_all(&mut self, arguments: &[PathBuf]) -> Result<(), LoadError> {
        self.or_roll_back(|loader| {
            for argument in arguments {
                loader.load_argument(argument)?;
            }
            loader.replace(|_| Ok(ReplacedFiles::default()))
        })
    }

    /// Loads the records of a scan. Discards uncommitted rows if the scan fails.
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

    /// With `--replace`, removes rows of the input's files that are not in the input, provided that
    /// the whole input was read. `files` returns the files that differ from the input.
    fn replace(
        &mut self,
        files: impl FnOnce(&mut Self) -> Result<ReplacedFiles, LoadError>,
    ) -> Result<(), LoadError> {
        if self.job.mode != LoadMode::Replace {
            return Ok(());
        }
        let counts = &self.counts;
        if 0 < counts.bad_lines + counts.refused_records + counts.failed_files {
            self.report(KEPT_ROWS);
            return Ok(());
        }
        self.remove_gone()?;
        let files = files(self)?;
        self.target.finish_replacing(&files)
    }

    /// Removes rows of files in the roots that no longer exist.
    ///
    /// # Errors
    ///
    /// A root has disappeared or contains no file. Nothing was removed.
    pub(super) fn prune(&mut self, roots: &[PathBuf]) -> Result<(), LoadError> {
        self.or_roll_back(|loader| {
            let stored = loader.target.files_without_rows()?;
            let omitted = |reason: &str| loader.report(LoadEvent::Omitted(reason));
            let missing = missing_files(stored, roots, omitted)?;
            loader.target.finish_replacing(&missing)
        })
    }

    /// Loads segments, several per transaction as far as the batch limits allow.
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

    /// Runs `work`, in one transaction if the mode needs it, and commits.
    fn or_roll_back(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        let done = self.begin_single_transaction().and_then(|()| work(self));
        let done = done.and_then(|()| self.commit());
        done.inspect_err(|_| self.drop_batch())
    }

    fn begin_single_transaction(&mut self) -> Result<(), LoadError> {
        if self.is_one_transaction() {
            self.begin()?;
        }
        match self.job.mode {
            LoadMode::Replace | LoadMode::Prune => self.target.begin_replacing(),
            LoadMode::Add | LoadMode::Follow => Ok(()),
        }
    }

    fn drop_batch(&mut self) {
        self.counts = LoadCounts {
            failed_files: self.counts.failed_files,
            ..self.committed
        };
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

    /// Reports and counts an input that was not loaded or not removed.
    pub(super) fn failed(&mut self, error: &LoadError) {
        self.counts.failed_files += 1;
        self.report(LoadEvent::Omitted(&error.to_string()));
    }

    /// Loads a segment unless the target already has it. Its rows and its name are committed
    /// together.
    ///
    /// With transactions, the segment is read once and rolled back if it does not match its
    /// sidecar. For a target without transactions it is compared before loading.
    fn load_segment(&mut self, segment: &SegmentFile) -> Result<(), LoadError> {
        let name = segment.path.display().to_string();
        if self.job.mode == LoadMode::Replace {
            return Err(LoadError::unusable(format!(
                "{name} is a segment, which has only new records; --replace needs the complete \
                 scan of a file"
            )));
        }
        if self.batch.has_lines {
            // Rolling back the segment must not lose these rows: lines are not loaded again.
            self.commit_between_lines()?;
        }
        self.begin()?;
        match self.target.loaded_hash(&segment.id)? {
            None => {
                let Some(file) = self.or_commit(segment.open())? else {
                    // A load into this target did not remove it: the target would have its name.
                    let reason = "it was removed after its folder was listed";
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
                self.counts.segments += 1;
            }
            Some(hash) if hash == segment.id.hash => {
                if self.job.deletes_segments {
                    // The segment or its sidecar may have been replaced since it was loaded. If it
                    // is missing, another load removed it.
                    let file = self.or_commit(segment.open())?;
                    let checked = file.map(|file| segment.check(&file, "it was not removed"));
                    self.or_commit(checked.transpose())?;
                }
                self.counts.known_segments += 1;
            }
            Some(other) => {
                let ((instance, epoch, seq), hash) = (segment.id.place(), &segment.id.hash);
                return self.or_commit(Err(LoadError::inconsistent(format!(
                    "{name}: segment {seq} of instance {instance}, epoch {epoch}, has the hash \
                     {hash}, but the loaded one has {other}; load the output of a restored state \
                     into a new database"
                ))));
            }
        }
        if self.job.deletes_segments && !self.is_repeating {
            self.batch.to_delete.push(segment.clone());
        }
        self.commit_if_full()
    }

    /// Commits the inputs before a segment that cannot be loaded and has written no rows. Deletes
    /// no segment, because the sidecar of one may belong to the damaged file.
    fn or_commit<T>(&mut self, checked: Result<T, LoadError>) -> Result<T, LoadError> {
        if checked.is_err() {
            self.batch.to_delete.clear();
            self.commit()?;
        }
        checked
    }

    /// Rolls back a segment that cannot be loaded, and returns its error. Loads the earlier
    /// segments of the transaction again and commits them, as [`Loader::or_commit`] does.
    fn undo(&mut self, error: LoadError) -> Result<(), LoadError> {
        if self.job.is_dry_run || self.is_repeating || !self.target.has_transactions() {
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

    fn load_lines(
        &mut self,
        open: impl FnOnce() -> io::Result<Box<dyn Read>> + Send,
        name: &str,
    ) -> Result<io::Result<()>, LoadError> {
        let texts = self.target.line_texts();
        each_batch(open, texts, |lines| self.load_parsed(lines, name))
    }

    /// Loads consecutive lines. `None` means that no line is available and the previous ones can be
    /// committed. Puts records between lines of other types together.
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
        // Before one of its lines is reported as bad, the segment is compared with its sidecar.
        // This reads it a second time.
        if line.content.is_err()
            && let CurrentSegment::Unchecked(segment) = &self.batch.segment
        {
            let checked = segment.open()?;
            let checked = checked.map_or(Ok(()), |file| segment.check(&file, NOT_LOADED));
            self.batch.segment = match checked {
                Ok(()) => CurrentSegment::Checked,
                Err(error) => CurrentSegment::Damaged(error),
            };
        }
        match &line.content {
            Ok(RecordLine::Gone(gone)) => return self.remove(gone),
            Ok(_) => self.counts.other_lines += 1,
            Err(_) if matches!(self.batch.segment, CurrentSegment::Damaged(_)) => {}
            Err(error @ LineError::NoRecord(_)) => {
                self.counts.bad_lines += 1;
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

    /// Puts rows into the target and clears the vector.
    fn put(&mut self, rows: &mut Vec<LoadRow<'_>>) -> Result<(), LoadError> {
        if rows.is_empty() {
            return Ok(());
        }
        self.begin()?;
        self.batch.rows += rows.len();
        self.counts.records += rows.len() as u64;
        self.target.put(rows)?;
        rows.clear();
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

    /// Removes the rows of the messages collected as gone.
    fn remove_gone(&mut self) -> Result<(), LoadError> {
        let gone = std::mem::take(&mut self.batch.gone);
        if gone.is_empty() {
            return Ok(());
        }
        self.target.remove(&gone)
    }

    fn begin(&mut self) -> Result<(), LoadError> {
        if self.batch.opened.is_none() {
            self.target.begin()?;
            self.batch.opened = Some(Instant::now());
        }
        Ok(())
    }

    /// Commits a batch that has reached the maximum number of rows or the maximum age.
    fn commit_if_full(&mut self) -> Result<(), LoadError> {
        let max_age = Duration::from_secs(LOAD_BATCH_SECONDS);
        let opened = self.batch.opened;
        let is_old = opened.is_some_and(|opened| max_age <= opened.elapsed());
        if is_old || LOAD_BATCH_ROWS <= self.batch.rows {
            self.commit_between_lines()?;
        }
        Ok(())
    }

    /// Commits, unless the whole load is one transaction or a segment is only partly loaded.
    fn commit_between_lines(&mut self) -> Result<(), LoadError> {
        let is_in_segment = !matches!(self.batch.segment, CurrentSegment::None);
        if !self.is_one_transaction() && !is_in_segment {
            self.commit()?;
        }
        Ok(())
    }

    fn is_one_transaction(&self) -> bool {
        matches!(self.job.mode, LoadMode::Replace | LoadMode::Prune) || self.job.is_dry_run
    }

    fn commit(&mut self) -> Result<(), LoadError> {
        if self.batch.opened.is_none() {
            // Lines that are not records open no transaction.
            self.committed = self.counts;
            return Ok(());
        }
        self.remove_gone()?;
        let changed = self.target.changed()?;
        self.counts.added += changed.added;
        self.counts.removed += changed.removed;
        self.counts.refused_records += changed.refused;
        if self.job.is_dry_run {
            self.committed = self.counts;
            self.drop_batch();
            return Ok(());
        }
        self.target.commit()?;
        let batch = std::mem::take(&mut self.batch);
        self.committed = self.counts;
        self.delete(batch.to_delete)
    }

    /// Deletes segments whose rows are committed, if the target's name still refers to those rows.
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
