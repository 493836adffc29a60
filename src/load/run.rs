//! The entry of a load: opens the target, loads the inputs, and follows folders of segments, each
//! of which is loaded when it is sealed.

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
#[cfg(feature = "elasticsearch")]
use super::elasticsearch::ElasticsearchTarget;
use super::input::{
    LoadInput, holds_no_records, holds_only_other_files, inputs_of, is_records, segments_in,
    start_of,
};
use super::loader::{Loader, check_roots};
#[cfg(feature = "postgres")]
use super::postgres::PostgresTarget;
use super::scan_feed::{RecordFeed, record_feed};
use super::sqlite::SqliteTarget;
use super::target::Target;
use super::target_name::TargetName;
use super::{LoadCounts, LoadJob, LoadMode, LoadReport, SharedReport};
use crate::limits::{LOAD_FOLLOW_MS, LOAD_RETRY_MS};
use crate::read;
use crate::record::is_written_line;
use crate::walk::DeviceInode;

/// Loads records. Returns the numbers of the load; with [`LoadMode::Follow`] when it was stopped.
///
/// # Errors
///
/// The target cannot be used, or the input contradicts it. What was committed before stays; the
/// load can be repeated.
pub fn load(job: &LoadJob, report: &mut dyn LoadReport) -> Result<LoadCounts, LoadError> {
    if job.mode == LoadMode::Prune {
        check_is_there(&job.target)?;
        check_roots(&job.inputs)?;
    } else {
        refuse_target_among_inputs(job)?;
        check_inputs(job)?;
    }
    let report: SharedReport<'_> = Rc::new(RefCell::new(report));
    let target = match job.mode {
        LoadMode::Follow => match open_patiently(job, &report)? {
            Some(target) => target,
            None => return Ok(LoadCounts::default()),
        },
        LoadMode::Add | LoadMode::Replace | LoadMode::Prune => open(job, &report)?,
    };
    let mut loader = Loader::new(target, job, report);
    match job.mode {
        LoadMode::Add => loader.load_all(&job.inputs)?,
        LoadMode::Replace => loader.replace(&job.inputs)?,
        LoadMode::Prune => loader.prune(&job.inputs)?,
        LoadMode::Follow => {
            load_patiently(&mut loader, &job.inputs)?;
            follow(&mut loader, &job.inputs)?;
        }
    }
    Ok(loader.counts)
}

/// Result of a scan and a load that ran together.
#[derive(Debug)]
pub struct LoadedScan<T> {
    /// The result of the scan.
    pub scanned: T,
    /// The numbers of the load. If it is an error, the scan was ended early.
    pub loaded: Result<LoadCounts, LoadError>,
}

/// Loads the records that `scan` feeds, which runs on a thread of its own. The inputs of the job
/// have no meaning. If the feed is not ended, the rows that were not committed are dropped.
///
/// # Errors
///
/// The target cannot be opened. Nothing was scanned.
pub fn load_scan<T: Send>(
    job: &LoadJob,
    report: &mut dyn LoadReport,
    scan: impl FnOnce(RecordFeed) -> T + Send,
) -> Result<LoadedScan<T>, LoadError> {
    let report: SharedReport<'_> = Rc::new(RefCell::new(report));
    let target = open(job, &report)?;
    let (feed, records) = record_feed(target.line_texts());
    let mut loader = Loader::new(target, job, report);
    thread::scope(|scope| {
        let scanning = thread::Builder::new().name("scan".to_owned());
        let scanning = scanning
            .spawn_scoped(scope, move || scan(feed))
            .map_err(|error| {
                LoadError::io(format!("cannot start a thread: {error}")).caused_by(error)
            })?;
        let loaded = loader.load_scan(&records);
        // So that a scan that waits for a failed load ends.
        drop(records);
        let scanned = scanning
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(LoadedScan {
            scanned,
            loaded: loaded.map(|()| loader.counts),
        })
    })
}

/// Checks that a database from which rows are removed is there: it would be created.
fn check_is_there(target: &TargetName) -> Result<(), LoadError> {
    match target {
        TargetName::Sqlite(path) if !path.exists() => Err(LoadError::unusable(format!(
            "there is no database {}, so that --prune has no rows to remove",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Checks, before a database is created, that the inputs are there, and that none of them is mail
/// that was not scanned, a table or a database.
fn check_inputs(job: &LoadJob) -> Result<(), LoadError> {
    for input in &job.inputs {
        let is_followed = job.mode == LoadMode::Follow;
        let name = input.display();
        let failed = |error: io::Error| {
            let message = format!("cannot read {name}: {error}; nothing was loaded");
            LoadError::unusable(message).caused_by(error)
        };
        if input == Path::new("-") {
            // Segments may be followed before it ends.
            if !is_followed {
                let start = read::peek_stdin().map_err(failed)?;
                check_start(&start, "standard input", "-", &job.target)?;
            }
            continue;
        }
        let found = match fs::metadata(input) {
            Ok(found) => found,
            // One that is followed may appear.
            Err(_) if is_followed => continue,
            Err(error) => return Err(failed(error)),
        };
        let name = name.to_string();
        if found.is_dir() {
            if !is_followed && holds_only_other_files(input) {
                return Err(unscanned(&name, &name, &job.target));
            }
        } else if found.is_file() {
            match start_of(input) {
                Ok(start) => check_start(&start, &name, &name, &job.target)?,
                // Of several inputs the others are loaded.
                Err(error) if job.inputs.len() == 1 => return Err(failed(error)),
                Err(_) => {}
            }
        }
    }
    Ok(())
}

/// Checks that an input that begins with these bytes may hold records. `name` is its name in a
/// sentence, `path` that of an argument.
fn check_start(start: &[u8], name: &str, path: &str, target: &TargetName) -> Result<(), LoadError> {
    if start.starts_with(DATABASE_START) {
        return Err(LoadError::unusable(format!(
            "{name} is a database, which holds no lines; `urlspool search` and `urlspool stats` \
             read it as it is"
        )));
    }
    if !holds_no_records(start) {
        return Ok(());
    }
    if is_written_line(start) {
        return Err(LoadError::unusable(format!(
            "{name} is a table that urlspool wrote; load reads records, which `urlspool scan` \
             writes as JSON lines"
        )));
    }
    Err(unscanned(name, path, target))
}

/// The first bytes of a database.
const DATABASE_START: &[u8] = b"SQLite format 3\0";

/// The error of mail.
fn unscanned(name: &str, path: &str, target: &TargetName) -> LoadError {
    let target = match target {
        TargetName::Sqlite(path) => path.display().to_string(),
        #[cfg(any(feature = "postgres", feature = "elasticsearch"))]
        _ => "TARGET".to_owned(),
    };
    LoadError::unusable(format!(
        "{name} holds no records; scan it: urlspool scan --into {target} {path}"
    ))
}

/// A file that is both read and written would be neither records nor a database.
fn refuse_target_among_inputs(job: &LoadJob) -> Result<(), LoadError> {
    #[cfg_attr(
        not(any(feature = "postgres", feature = "elasticsearch")),
        expect(irrefutable_let_patterns, reason = "there may be other targets")
    )]
    let TargetName::Sqlite(target) = &job.target else {
        return Ok(());
    };
    let found = match identity(target) {
        Some(identity) => input_with(identity, &job.inputs),
        None => input_after_creation(target, &job.inputs),
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

/// Returns the input that is this file.
fn input_with(target: DeviceInode, arguments: &[PathBuf]) -> Option<PathBuf> {
    let inputs = arguments.iter().flat_map(|argument| inputs_of(argument));
    let mut paths = inputs.filter_map(|input| match input {
        Ok(LoadInput::File(path)) => Some(path),
        Ok(LoadInput::Segment(segment)) => Some(segment.path),
        Ok(LoadInput::Stdin) | Err(_) => None,
    });
    paths.find(|path| identity(path) == Some(target))
}

/// Returns the path of a target that is missing, if it will be an input as soon as it was created.
fn input_after_creation(target: &Path, arguments: &[PathBuf]) -> Option<PathBuf> {
    let is_argument = arguments.iter().any(|argument| argument == target);
    let is_listed = || {
        let folder = Path::new(".").join(target.parent()?).canonicalize().ok()?;
        let name = target.file_name()?.as_bytes();
        let holds = |argument: &PathBuf| {
            argument.is_dir()
                && argument
                    .canonicalize()
                    .is_ok_and(|path| folder.starts_with(path))
        };
        Some(is_records(name) && arguments.iter().any(holds))
    };
    (is_argument || is_listed() == Some(true)).then(|| target.to_owned())
}

#[cfg_attr(
    not(feature = "elasticsearch"),
    expect(unused_variables, reason = "only an index reports while it opens")
)]
fn open<'r>(job: &LoadJob, report: &SharedReport<'r>) -> Result<Box<dyn Target + 'r>, LoadError> {
    match &job.target {
        TargetName::Sqlite(path) => Ok(Box::new(SqliteTarget::open(path)?)),
        #[cfg(feature = "postgres")]
        TargetName::Postgres(url) => Ok(Box::new(PostgresTarget::open(url, job)?)),
        #[cfg(feature = "elasticsearch")]
        TargetName::Elasticsearch { server, index } => Ok(Box::new(ElasticsearchTarget::open(
            server,
            index,
            job,
            Rc::clone(report),
        )?)),
    }
}

/// Opens the target. Waits while it cannot be reached, and while another loader holds it; `None` if
/// the load is stopped meanwhile.
fn open_patiently<'r>(
    job: &LoadJob,
    report: &SharedReport<'r>,
) -> Result<Option<Box<dyn Target + 'r>>, LoadError> {
    while !job.stop.load(Ordering::Relaxed) {
        match open(job, report) {
            Err(error) if error.is_temporary() => pause(report, &job.stop, &error),
            result => return result.map(Some),
        }
    }
    Ok(None)
}

/// Loads the segments that appear in the folders among `arguments`, until the load is stopped.
/// Waits while the target cannot be reached, and while another loader holds it.
fn follow(loader: &mut Loader<'_>, arguments: &[PathBuf]) -> Result<(), LoadError> {
    let mut folders: Vec<_> = arguments
        .iter()
        .filter(|path| path.is_dir())
        .map(|path| FollowedFolder::new(path))
        .collect();
    if folders.is_empty() {
        return Err(LoadError::unusable(
            "--follow needs a folder of segments, and there is none among the paths",
        ));
    }
    while !loader.is_stopping() {
        thread::sleep(Duration::from_millis(LOAD_FOLLOW_MS));
        for folder in &mut folders {
            match folder.load_new(loader) {
                Err(error) if error.is_temporary() => pause(&loader.report, loader.stop(), &error),
                result => result?,
            }
        }
    }
    Ok(())
}

/// Loads the inputs. Waits while the target cannot be reached, unless an input is standard input,
/// which is read once.
fn load_patiently(loader: &mut Loader<'_>, arguments: &[PathBuf]) -> Result<(), LoadError> {
    let is_repeatable = !arguments.iter().any(|path| path == Path::new("-"));
    loop {
        match loader.load_all(arguments) {
            Err(error) if is_repeatable && error.is_temporary() => {
                if loader.is_stopping() {
                    return Ok(());
                }
                pause(&loader.report, loader.stop(), &error);
            }
            result => return result,
        }
    }
}

/// Reports an error that may pass, and waits before the next attempt, unless the load is stopped.
fn pause(report: &SharedReport<'_>, stop: &AtomicBool, error: &LoadError) {
    report.borrow_mut().paused(error);
    for _ in 0..LOAD_RETRY_MS / LOAD_FOLLOW_MS {
        if !stop.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(LOAD_FOLLOW_MS));
        }
    }
}

/// Values by which a segment is recognized without reading it.
#[derive(Debug, PartialEq, Eq)]
struct SegmentVersion {
    file: DeviceInode,
    /// Seconds and nanoseconds since 1970.
    modified: (i64, i64),
    len: u64,
}

impl SegmentVersion {
    fn of(path: &Path) -> io::Result<SegmentVersion> {
        let metadata = fs::metadata(path)?;
        Ok(SegmentVersion {
            file: DeviceInode::of(&metadata),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            len: metadata.len(),
        })
    }
}

/// A folder of segments.
struct FollowedFolder {
    path: PathBuf,
    /// Segments that were loaded and not yet removed. One that another instance writes under the
    /// same name is another file.
    loaded: BTreeMap<PathBuf, SegmentVersion>,
    /// `true` if it could not be listed the last time, which is reported once.
    has_failed: bool,
}

impl FollowedFolder {
    fn new(path: &Path) -> FollowedFolder {
        FollowedFolder {
            path: path.to_owned(),
            loaded: BTreeMap::new(),
            has_failed: false,
        }
    }

    fn load_new(&mut self, loader: &mut Loader<'_>) -> Result<(), LoadError> {
        let mut listed = BTreeMap::new();
        let is_new = |path: &Path| {
            let Ok(version) = SegmentVersion::of(path) else {
                return false;
            };
            let is_new = self.loaded.get(path) != Some(&version);
            listed.insert(path.to_owned(), version);
            is_new
        };
        let segments = match segments_in(&self.path, is_new) {
            Ok(segments) => segments,
            Err(error) => {
                if !std::mem::replace(&mut self.has_failed, true) {
                    loader.failed(&error);
                }
                return Ok(());
            }
        };
        self.has_failed = false;
        let new: BTreeSet<_> = segments
            .iter()
            .map(|segment| segment.path.clone())
            .collect();
        if !segments.is_empty() {
            loader.load_segments(segments)?;
        }
        // Those without a sidecar are not loaded, and those that are not listed are gone.
        listed.retain(|path, version| new.contains(path) || self.loaded.get(path) == Some(version));
        self.loaded = listed;
        Ok(())
    }
}
