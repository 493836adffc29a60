//! Errors that end a step of an audit.

mod archive_error;
mod checker_error;
mod import_error;
mod output_error;
mod plan_error;
mod silence;

use std::fmt;

use crate::load::LoadError;

pub use archive_error::{ArchiveEnd, ArchiveError};
pub use checker_error::CheckerError;
pub use import_error::{ImportError, ImportErrorReason};
pub use output_error::OutputError;
pub use plan_error::PlanError;
pub use silence::Silence;

/// The error that ends a step of an audit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditError {
    /// The database cannot be read or written, or is not one that was loaded.
    Database(LoadError),
    /// The database has no plan, or none can be made.
    Plan(PlanError),
    /// The link checker gives no results.
    Checker(CheckerError),
    /// No server replied.
    Silence(Silence),
    /// Results cannot be imported.
    Import(ImportError),
    /// The archive is not asked, or asked no more.
    Archive(ArchiveError),
    /// A file cannot be written.
    Output(OutputError),
}

impl AuditError {
    fn inner(&self) -> &(dyn std::error::Error + 'static) {
        match self {
            AuditError::Database(error) => error,
            AuditError::Plan(error) => error,
            AuditError::Checker(error) => error,
            AuditError::Silence(error) => error,
            AuditError::Import(error) => error,
            AuditError::Archive(error) => error,
            AuditError::Output(error) => error,
        }
    }
}

impl From<LoadError> for AuditError {
    fn from(error: LoadError) -> AuditError {
        AuditError::Database(error)
    }
}

impl From<PlanError> for AuditError {
    fn from(error: PlanError) -> AuditError {
        AuditError::Plan(error)
    }
}

impl From<CheckerError> for AuditError {
    fn from(error: CheckerError) -> AuditError {
        AuditError::Checker(error)
    }
}

impl From<ArchiveError> for AuditError {
    fn from(error: ArchiveError) -> AuditError {
        AuditError::Archive(error)
    }
}

impl From<OutputError> for AuditError {
    fn from(error: OutputError) -> AuditError {
        AuditError::Output(error)
    }
}

impl fmt::Display for AuditError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.inner())
    }
}

impl std::error::Error for AuditError {}
