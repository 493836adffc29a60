//! A load: opens the target, reads the inputs line by line, and commits rows and segments together.
//! Follows folders of segments, loading each segment once it is sealed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};
use std::{fs, thread};

use super::LoadError;
use super::input::{
    LineStep, LoadInput, ParsedLine, RecordFeed, SegmentFile, each_batch, each_step,
    files_of_records, holds_no_records, holds_only_other_files, inputs_of, is_records, record_feed,
    segments_in, start_of, unreadable,
};
use super::removal::{ScannedFiles, check_roots, missing_files};
use super::sqlite::SqliteTarget;
use super::target::{GoneMessages, LoadRow, ReplacedFiles, Target};
use super::target_name::TargetName;
use super::{LoadCounts, LoadEvent, LoadJob, LoadMode, SharedReport};
use urlspool_record::record::{GoneLine, LineError, RecordLine, is_written_line, read_record_line};
use urlspool_sources::read;
use urlspool_sources::walk::DeviceInode;
use urlspool_text::limits::{LOAD_BATCH_ROWS, LOAD_BATCH_SECONDS, LOAD_FOLLOW_MS, LOAD_RETRY_MS};

/// Loads records and returns the counts. With [`LoadMode::Follow`], returns when the load is
/// stopped.
///
/// # Errors
///
/// The target cannot be used, or the input contradicts it. Committed rows stay, and the load can be
/// repeated.
pub fn load(job: &LoadJob, report: &mut dyn FnMut(LoadEvent<'_>)) -> Result<LoadCounts, LoadError> {
    if job.mode == LoadMode::Prune {
        // Opening the database would create it.
        if let TargetName::Sqlite(path) = &job.target
            && !path.exists()
        {
            return Err(LoadError::unusable(format!(
                "there is no database {}, so --prune has no rows to remove",
                path.display()
            )));
        }
        check_roots(&job.inputs)?;
    } else {
        refuse_target_among_inputs(job)?;
        check_inputs(job)?;
    }
    let report: SharedReport<'_> = Rc::new(RefCell::new(report));
    let target = match job.mode {
        LoadMode::Follow => match patiently(&report, &job.stop, || open(job, &report))? {
            Some(target) => target,
            None => return Ok(LoadCounts::default()),
        },
        LoadMode::Add | LoadMode::Replace | LoadMode::Prune => open(job, &report)?,
    };
    let mut loader = Loader::new(target, job, report);
    match job.mode {
        LoadMode::Add | LoadMode::Replace => loader.load_all(&job.inputs)?,
        LoadMode::Prune => loader.prune(&job.inputs)?,
        LoadMode::Follow => follow(&mut loader, job)?,
    }
    Ok(loader.counts)
}

/// Loads the records that `scan` feeds from a separate thread. Returns the result of the scan and
/// the counts of the load. The inputs of the job are ignored. If the feed is dropped without an
/// end, uncommitted rows are discarded.
///
/// # Errors
///
/// The target cannot be opened, in which case nothing was scanned, or the load failed, which ended
/// the scan early.
pub fn load_scan<T: Send>(
    job: &LoadJob,
    report: &mut dyn FnMut(LoadEvent<'_>),
    scan: impl FnOnce(RecordFeed) -> T + Send,
) -> Result<(T, LoadCounts), LoadError> {
    let report: SharedReport<'_> = Rc::new(RefCell::new(report));
    let target = open(job, &report)?;
    let (feed, records) = record_feed(target.line_texts());
    let mut loader = Loader::new(target, job, report);
    thread::scope(|scope| {
        let scanning = thread::Builder::new().name("scan".to_owned());
        let scanning = scanning.spawn_scoped(scope, move || scan(feed));
        let scanning = scanning.map_err(|error| {
            LoadError::io(format!("cannot start a thread: {error}")).caused_by(error)
        })?;
        let loaded = loader.load_scan(&records);
        // Ends a scan that is blocked on a failed load.
        drop(records);
        let scanned = scanning.join();
        let scanned = scanned.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        loaded.map(|()| (scanned, loader.counts))
    })
}

/// Checks, before a database is created, that the inputs exist, and that none of them is unscanned
/// mail, a table, a database, or records without the needed fields.
fn check_inputs(job: &LoadJob) -> Result<(), LoadError> {
    for input in &job.inputs {
        let is_followed = job.mode == LoadMode::Follow;
        if input == Path::new("-") {
            // With `--follow`, loading may start before standard input ends.
            if !is_followed {
                let start = read::peek_stdin().map_err(|error| nothing_loaded(input, error))?;
                check_start(&start, "standard input", "-", &job.target)?;
            }
            continue;
        }
        let found = match fs::metadata(input) {
            Ok(found) => found,
            // A followed input may appear later.
            Err(_) if is_followed => continue,
            Err(error) => return Err(nothing_loaded(input, error)),
        };
        let name = input.display().to_string();
        if found.is_dir() {
            if !is_followed && holds_only_other_files(input) {
                return Err(unscanned(&name, &name, &job.target));
            }
        } else if found.is_file() {
            match start_of(input) {
                Ok(start) => check_start(&start, &name, &name, &job.target)?,
                // The load continues with the other inputs.
                Err(error) if job.inputs.len() == 1 => return Err(nothing_loaded(input, error)),
                Err(_) => {}
            }
        }
    }
    Ok(())
}

fn nothing_loaded(input: &Path, error: io::Error) -> LoadError {
    let name = input.display();
    let message = format!("cannot read {name}: {error}; no record was loaded");
    LoadError::unusable(message).caused_by(error)
}

/// Checks that an input starting with these bytes may contain records. `name` is its name in
/// messages, `path` its name as an argument.
fn check_start(start: &[u8], name: &str, path: &str, target: &TargetName) -> Result<(), LoadError> {
    if start.starts_with(DATABASE_START) {
        return Err(LoadError::unusable(format!(
            "{name} is already a database; use it with `urlspool search` and `urlspool stats`"
        )));
    }
    let first = start.split(|&byte| byte == b'\n').next();
    if let Err(error @ LineError::Unsuitable(_)) = read_record_line(first.unwrap_or_default()) {
        return Err(LoadError::unusable(format!("{name}, line 1: {error}")).caused_by(error));
    }
    if !holds_no_records(start) {
        return Ok(());
    }
    if is_written_line(start) {
        return Err(LoadError::unusable(format!(
            "{name} is a table written by urlspool; load the JSON lines of `urlspool scan` instead"
        )));
    }
    Err(unscanned(name, path, target))
}

/// First bytes of a `SQLite` database.
const DATABASE_START: &[u8] = b"SQLite format 3\0";

/// Returns the error for an input that looks like mail.
fn unscanned(name: &str, path: &str, target: &TargetName) -> LoadError {
    let target = match target {
        TargetName::Sqlite(path) => path.display().to_string(),
        _ => "TARGET".to_owned(),
    };
    LoadError::unusable(format!(
        "{name} has no records; scan it: urlspool scan --into {target} {path}"
    ))
}

/// Refuses a target that is also an input: the load would read its own output.
fn refuse_target_among_inputs(job: &LoadJob) -> Result<(), LoadError> {
    let TargetName::Sqlite(target) = &job.target else {
        return Ok(());
    };
    let found = match identity(target) {
        Some(target) => {
            let mut paths = job.inputs.iter().flat_map(|path| files_of_records(path));
            paths.find(|path| identity(path) == Some(target))
        }
        None => is_input_after_creation(target, &job.inputs).then(|| target.clone()),
    };
    match found {
        None => Ok(()),
        Some(file) => Err(LoadError::unusable(format!(
            "{} is both an input and the target; load into another file",
            file.display()
        ))),
    }
}

fn identity(path: &Path) -> Option<DeviceInode> {
    fs::metadata(path).ok().map(|found| DeviceInode::of(&found))
}

/// Returns `true` if a missing target becomes an input once it is created.
fn is_input_after_creation(target: &Path, arguments: &[PathBuf]) -> bool {
    let name = target.file_name().unwrap_or_default();
    let parent = target.parent().unwrap_or(target);
    let folder = Path::new(".").join(parent).canonicalize();
    arguments.iter().any(|argument| {
        argument == target
            || is_records(name.as_bytes())
                && argument.is_dir()
                && folder.as_ref().is_ok_and(|folder| {
                    let argument = argument.canonicalize();
                    argument.is_ok_and(|argument| folder.starts_with(argument))
                })
    })
}

#[cfg_attr(
    not(feature = "elasticsearch"),
    expect(unused_variables, reason = "only an index reports while it opens")
)]
fn open<'r>(job: &LoadJob, report: &SharedReport<'r>) -> Result<Box<dyn Target + 'r>, LoadError> {
    match &job.target {
        TargetName::Sqlite(path) => Ok(Box::new(SqliteTarget::open(path)?)),
        #[cfg(feature = "postgres")]
        TargetName::Postgres(url) => Ok(Box::new(super::postgres::PostgresTarget::open(url, job)?)),
        #[cfg(feature = "elasticsearch")]
        TargetName::Elasticsearch { server, index } => Ok(Box::new(
            super::elasticsearch::ElasticsearchTarget::open(server, index, job, Rc::clone(report))?,
        )),
        #[cfg(not(all(feature = "postgres", feature = "elasticsearch")))]
        _ => unreachable!("the name of a target that was not built is refused"),
    }
}

/// Retries while the target cannot be reached or another load has locked it. Returns `None` if the
/// load is stopped first.
fn patiently<T>(
    report: &SharedReport<'_>,
    stop: &AtomicBool,
    mut work: impl FnMut() -> Result<T, LoadError>,
) -> Result<Option<T>, LoadError> {
    while !stop.load(Ordering::Relaxed) {
        match work() {
            Err(error) if error.is_temporary() => pause(report, stop, &error),
            result => return result.map(Some),
        }
    }
    Ok(None)
}

/// Loads the inputs, then new segments in folders among them, until the load is stopped.
fn follow(loader: &mut Loader<'_>, job: &LoadJob) -> Result<(), LoadError> {
    let (report, stop, arguments) = (Rc::clone(&loader.report), &*job.stop, &job.inputs);
    if arguments.iter().any(|path| path == Path::new("-")) {
        // Standard input can be read only once.
        loader.load_all(arguments)?;
    } else {
        patiently(&report, stop, || loader.load_all(arguments))?;
    }
    let folders = arguments.iter().filter(|path| path.is_dir());
    let folders = folders.map(|path| FollowedFolder {
        path: path.clone(),
        loaded: BTreeMap::new(),
        has_failed: false,
    });
    let mut folders: Vec<_> = folders.collect();
    if folders.is_empty() {
        return Err(LoadError::unusable(
            "--follow needs a folder of segments, but no path is a folder",
        ));
    }
    while !loader.is_stopping() {
        thread::sleep(Duration::from_millis(LOAD_FOLLOW_MS));
        for folder in &mut folders {
            match folder.load_new(loader) {
                // The other folders may still be loaded.
                Err(error) if error.is_temporary() => pause(&report, stop, &error),
                result => result?,
            }
        }
    }
    Ok(())
}

/// Reports a temporary error and waits before the next attempt, unless the load is stopped.
fn pause(report: &SharedReport<'_>, stop: &AtomicBool, error: &LoadError) {
    report.borrow_mut()(LoadEvent::Paused(error));
    for _ in 0..LOAD_RETRY_MS / LOAD_FOLLOW_MS {
        if !stop.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(LOAD_FOLLOW_MS));
        }
    }
}

/// Values that identify a segment without reading it: the file, its modification time in seconds
/// and nanoseconds since 1970, and its length.
type SegmentVersion = (DeviceInode, (i64, i64), u64);

fn segment_version(path: &Path) -> Option<SegmentVersion> {
    let found = fs::metadata(path).ok()?;
    let modified = (found.mtime(), found.mtime_nsec());
    Some((DeviceInode::of(&found), modified, found.len()))
}

/// A followed folder of segments.
struct FollowedFolder {
    path: PathBuf,
    /// Loaded segments that still exist. If another instance writes a segment under the same name,
    /// it is a different file and counts as new.
    loaded: BTreeMap<PathBuf, SegmentVersion>,
    /// `true` if the last listing failed. The failure is reported once.
    has_failed: bool,
}

impl FollowedFolder {
    fn load_new(&mut self, loader: &mut Loader<'_>) -> Result<(), LoadError> {
        let mut listed = BTreeMap::new();
        let segments = segments_in(&self.path, |path| {
            segment_version(path).is_some_and(|version| {
                let is_new = self.loaded.get(path) != Some(&version);
                listed.insert(path.to_owned(), version);
                is_new
            })
        });
        let segments = match segments {
            Ok(segments) => segments,
            Err(error) => {
                if !std::mem::replace(&mut self.has_failed, true) {
                    loader.failed(&error);
                }
                return Ok(());
            }
        };
        self.has_failed = false;
        let paths = segments.iter().map(|segment| segment.path.clone());
        let new: BTreeSet<_> = paths.collect();
        let known = loader.counts.known_segments;
        if !segments.is_empty() {
            loader.load_segments(segments)?;
        }
        if self.loaded.is_empty() {
            // The first listing repeats the load of all inputs, which counted known segments.
            loader.counts.known_segments = known;
        }
        // Segments without a sidecar are not loaded yet. Segments that are no longer listed are
        // gone.
        listed.retain(|path, version| new.contains(path) || self.loaded.get(path) == Some(version));
        self.loaded = listed;
        Ok(())
    }
}

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
struct Loader<'r> {
    target: Box<dyn Target + 'r>,
    report: SharedReport<'r>,
    counts: LoadCounts,
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
    fn new(target: Box<dyn Target + 'r>, job: &'r LoadJob, report: SharedReport<'r>) -> Loader<'r> {
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
    fn is_stopping(&self) -> bool {
        self.job.mode == LoadMode::Follow && self.job.stop.load(Ordering::Relaxed)
    }

    /// Loads the inputs named by arguments.
    fn load_all(&mut self, arguments: &[PathBuf]) -> Result<(), LoadError> {
        self.or_roll_back(|loader| {
            for argument in arguments {
                loader.load_argument(argument)?;
            }
            loader.replace(|_| Ok(ReplacedFiles::default()))
        })
    }

    /// Loads the records of a scan. Discards uncommitted rows if the scan fails.
    fn load_scan(&mut self, records: &Receiver<LineStep<ScannedFiles>>) -> Result<(), LoadError> {
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
    fn prune(&mut self, roots: &[PathBuf]) -> Result<(), LoadError> {
        self.or_roll_back(|loader| {
            let stored = loader.target.files_without_rows()?;
            let omitted = |reason: &str| loader.report(LoadEvent::Omitted(reason));
            let missing = missing_files(stored, roots, omitted)?;
            loader.target.finish_replacing(&missing)
        })
    }

    /// Loads segments, several per transaction as far as the batch limits allow.
    fn load_segments(&mut self, segments: Vec<SegmentFile>) -> Result<(), LoadError> {
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
    fn failed(&mut self, error: &LoadError) {
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
