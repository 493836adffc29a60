//! The entry of a load: opens the target, and chooses what is done with the inputs.

use super::error::LoadError;
use super::follow::follow;
use super::loader::Loader;
use super::sqlite::SqliteTarget;
use super::target::Target;
use super::target_name::TargetName;
use super::{LoadCounts, LoadJob, LoadMode, LoadReport};

/// Loads records. Returns the numbers of the load; with [`LoadMode::Follow`] it returns only with an error.
///
/// # Errors
///
/// The target cannot be used, or the input contradicts it. What was committed before stays; the load can be repeated.
pub fn load(job: &LoadJob, report: &mut dyn LoadReport) -> Result<LoadCounts, LoadError> {
    let mut loader = Loader::new(open(&job.target)?, job, report);
    match job.mode {
        LoadMode::Add => loader.load_all(&job.inputs)?,
        LoadMode::Replace => loader.replace(&job.inputs)?,
        LoadMode::Follow => {
            loader.load_all(&job.inputs)?;
            follow(&mut loader, &job.inputs)?;
        }
    }
    Ok(loader.counts)
}

fn open(target: &TargetName) -> Result<Box<dyn Target>, LoadError> {
    match target {
        TargetName::Sqlite(path) => Ok(Box::new(SqliteTarget::open(path)?)),
    }
}
