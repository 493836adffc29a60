//! Errors that end a load or a search.

use std::fmt;

/// The error that ends a load or a search. Each case has an exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadError {
    /// The target or the input cannot be used as it is.
    Unusable(String),
    /// The server cannot be reached.
    Unreachable(String),
    /// The target cannot be read or written.
    Io(String),
    /// Another program holds the target.
    Locked(String),
    /// The input contradicts itself or the target.
    Inconsistent(String),
}

impl fmt::Display for LoadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Unusable(message)
            | LoadError::Unreachable(message)
            | LoadError::Io(message)
            | LoadError::Locked(message)
            | LoadError::Inconsistent(message) => out.write_str(message),
        }
    }
}

impl std::error::Error for LoadError {}
