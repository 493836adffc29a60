//! Entry point of a load: opens the target, loads the inputs, and follows folders of segments,
//! loading each segment once it is sealed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, io, thread};

use super::LoadError;
use super::input::{
    RecordFeed, files_of_records, holds_no_records, holds_only_other_files, is_records,
    record_feed, segments_in, start_of,
};
use super::loader::Loader;
use super::removal::check_roots;
use super::sqlite::SqliteTarget;
use super::target::Target;
use super::target_name::TargetName;
use super::{LoadCounts, LoadEvent, LoadJob, LoadMode, SharedReport};
use urlspool_record::record::{LineError, is_written_line, read_record_line};
use urlspool_sources::read;
use urlspool_sources::walk::DeviceInode;
use urlspool_text::limits::{LOAD_FOLLOW_MS, LOAD_RETRY_MS};

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
