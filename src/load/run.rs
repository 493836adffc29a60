//! The entry of a load: opens the target, and chooses what is done with the inputs.

#[cfg(feature = "elasticsearch")]
use super::elasticsearch::ElasticsearchTarget;
use super::error::LoadError;
use super::follow::{follow, load_patiently};
use super::loader::Loader;
#[cfg(feature = "postgres")]
use super::postgres::PostgresTarget;
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
    let mut loader = Loader::new(open(job)?, job, report);
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

fn open(job: &LoadJob) -> Result<Box<dyn Target>, LoadError> {
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
        )?)),
    }
}
