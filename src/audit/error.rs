//! Errors that end a step of an audit.

mod checker_error;
mod silence;

use std::fmt;

use crate::load::LoadError;

pub use checker_error::CheckerError;
pub use silence::Silence;

/// The error that ends a step of an audit. Each case has an exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditError {
    /// The database cannot be read or written, or is not one that was loaded.
    Database(LoadError),
    /// An argument, a file of results or the plan cannot be used as it is.
    Unusable(String),
    /// The link checker gives no results.
    Checker(CheckerError),
    /// No server replied.
    Silence(Silence),
    /// The archive cannot be reached, or refuses.
    Unreachable(String),
    /// A file cannot be read or written.
    Io(String),
}

impl From<LoadError> for AuditError {
    fn from(error: LoadError) -> AuditError {
        AuditError::Database(error)
    }
}

impl From<CheckerError> for AuditError {
    fn from(error: CheckerError) -> AuditError {
        AuditError::Checker(error)
    }
}

impl fmt::Display for AuditError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AuditError::Database(error) => error.fmt(out),
            AuditError::Checker(error) => error.fmt(out),
            AuditError::Silence(silence) => silence.fmt(out),
            AuditError::Unusable(message)
            | AuditError::Unreachable(message)
            | AuditError::Io(message) => out.write_str(message),
        }
    }
}

impl std::error::Error for AuditError {}
