//! The entry of a load: opens the target, and chooses what is done with the inputs.

use std::cell::RefCell;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

#[cfg(feature = "elasticsearch")]
use super::elasticsearch::ElasticsearchTarget;
use super::error::LoadError;
use super::follow::{follow, load_patiently};
use super::input::{LoadInput, inputs_of, is_records};
use super::loader::Loader;
#[cfg(feature = "postgres")]
use super::postgres::PostgresTarget;
use super::sqlite::SqliteTarget;
use super::target::Target;
use super::target_name::TargetName;
use super::{LoadCounts, LoadJob, LoadMode, LoadReport, SharedReport};
use crate::walk::DeviceInode;

/// Loads records. Returns the numbers of the load; with [`LoadMode::Follow`] it returns only with an error.
///
/// # Errors
///
/// The target cannot be used, or the input contradicts it. What was committed before stays; the load can be repeated.
pub fn load(job: &LoadJob, report: &mut dyn LoadReport) -> Result<LoadCounts, LoadError> {
    refuse_target_among_inputs(job)?;
    let report: SharedReport<'_> = Rc::new(RefCell::new(report));
    let mut loader = Loader::new(open(job, &report)?, job, report);
    match job.mode {
        LoadMode::Add => loader.load_all(&job.inputs)?,
        LoadMode::Replace => loader.replace(&job.inputs)?,
        LoadMode::Follow => {
            load_patiently(&mut loader, &job.inputs)?;
            follow(&mut loader, &job.inputs)?;
        }
    }
    Ok(loader.counts)
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
    expect(unused_variables, reason = "no other target reports")
)]
fn open<'r>(job: &LoadJob, report: &SharedReport<'r>) -> Result<Box<dyn Target + 'r>, LoadError> {
    match &job.target {
        TargetName::Sqlite(path) => Ok(Box::new(SqliteTarget::open(path)?)),
        #[cfg(feature = "postgres")]
        TargetName::Postgres(url) => Ok(Box::new(PostgresTarget::open(url, &job.credentials)?)),
        #[cfg(feature = "elasticsearch")]
        TargetName::Elasticsearch { server, index } => Ok(Box::new(ElasticsearchTarget::open(
            server,
            index,
            &job.credentials,
            job.mode,
            Rc::clone(report),
        )?)),
    }
}
