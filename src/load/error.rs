//! Errors that end a load or a search.

mod inconsistent_error;
mod load_io_error;
mod locked_error;
mod server_error;
mod unreachable_error;
mod unusable_error;
mod unusable_file;
mod unusable_server;

use std::fmt;

pub use inconsistent_error::{InconsistentError, OmittedStep};
pub use load_io_error::LoadIoError;
pub use locked_error::LockedError;
pub use server_error::ServerError;
pub use unreachable_error::UnreachableError;
pub use unusable_error::UnusableError;
pub use unusable_file::{UnusableFile, UnusableFileReason};
pub use unusable_server::{UnusableServer, UnusableServerReason};

/// The error that ends a load or a search. Each case has an exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// The target or the input cannot be used as it is.
    Unusable(UnusableError),
    /// The server cannot be reached.
    Unreachable(UnreachableError),
    /// The target cannot be read or written.
    Io(LoadIoError),
    /// Another program holds the target.
    Locked(LockedError),
    /// The input contradicts itself or the target.
    Inconsistent(InconsistentError),
}

impl From<InconsistentError> for LoadError {
    fn from(error: InconsistentError) -> LoadError {
        LoadError::Inconsistent(error)
    }
}

impl From<UnusableError> for LoadError {
    fn from(error: UnusableError) -> LoadError {
        LoadError::Unusable(error)
    }
}

impl From<UnusableFile> for LoadError {
    fn from(error: UnusableFile) -> LoadError {
        UnusableError::File(error).into()
    }
}

impl From<UnusableServer> for LoadError {
    fn from(error: UnusableServer) -> LoadError {
        UnusableError::Server(error).into()
    }
}

impl From<UnreachableError> for LoadError {
    fn from(error: UnreachableError) -> LoadError {
        LoadError::Unreachable(error)
    }
}

impl From<LoadIoError> for LoadError {
    fn from(error: LoadIoError) -> LoadError {
        LoadError::Io(error)
    }
}

impl From<LockedError> for LoadError {
    fn from(error: LockedError) -> LoadError {
        LoadError::Locked(error)
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Unusable(error) => error.fmt(f),
            LoadError::Unreachable(error) => error.fmt(f),
            LoadError::Io(error) => error.fmt(f),
            LoadError::Locked(error) => error.fmt(f),
            LoadError::Inconsistent(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {}

#[cfg(test)]
mod tests;
