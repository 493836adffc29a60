//! Reasons why a target does not take a record, and why an input cannot be read or removed.

use std::{fmt, io};

/// The reason why a target does not take a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordRefusal {
    /// The record is longer than the server accepts.
    TooLong,
    /// The server's own reason.
    Server {
        /// The server's name for this kind of error.
        kind: String,
        /// Its explanation.
        reason: String,
    },
    /// The HTTP status, where the server gives no reason.
    Status(u16),
}

impl fmt::Display for RecordRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordRefusal::TooLong => out.write_str("it is longer than the server accepts"),
            RecordRefusal::Server { kind, reason } => write!(out, "{kind}: {reason}"),
            RecordRefusal::Status(status) => write!(out, "it answers with HTTP status {status}"),
        }
    }
}

impl std::error::Error for RecordRefusal {}

/// The reason why an input was not read, or not removed. The others are loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadInputError {
    /// It cannot be read, or not to its end.
    Read(io::Error),
    /// It was loaded, but the file cannot be removed.
    Remove(io::Error),
}

impl fmt::Display for LoadInputError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadInputError::Read(error) => write!(out, "cannot be read: {error}"),
            LoadInputError::Remove(error) => {
                write!(out, "was loaded, but cannot be removed: {error}")
            }
        }
    }
}

impl std::error::Error for LoadInputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LoadInputError::Read(error) | LoadInputError::Remove(error) => Some(error),
        }
    }
}
