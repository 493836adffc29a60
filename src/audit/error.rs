//! Errors that end a step of an audit.

use std::fmt;

use crate::load::LoadError;

/// The error that ends a step of an audit. Each case has an exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditError {
    /// The database cannot be read or written, or is not one that was loaded.
    Database(LoadError),
    /// An argument, a file of results or the plan cannot be used as it is.
    Unusable(String),
    /// The checker cannot be run, or the server cannot be reached.
    Unreachable(String),
    /// A file cannot be read or written.
    Io(String),
}

impl From<LoadError> for AuditError {
    fn from(error: LoadError) -> AuditError {
        AuditError::Database(error)
    }
}

impl fmt::Display for AuditError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AuditError::Database(error) => error.fmt(out),
            AuditError::Unusable(message)
            | AuditError::Unreachable(message)
            | AuditError::Io(message) => out.write_str(message),
        }
    }
}

impl std::error::Error for AuditError {}
