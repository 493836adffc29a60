//! Errors that a server answers to a request.

use std::fmt;

use crate::load::refusal::RecordRefusal;

/// The error that a server answers to a request, or to a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerError {
    /// The answer states it.
    Stated {
        /// The server's name for this kind of error.
        kind: String,
        /// Its explanation.
        reason: String,
    },
    /// The answer states none: the HTTP status.
    Status(u16),
}

impl From<ServerError> for RecordRefusal {
    fn from(error: ServerError) -> RecordRefusal {
        match error {
            ServerError::Stated { kind, reason } => RecordRefusal::Server { kind, reason },
            ServerError::Status(status) => RecordRefusal::Status(status),
        }
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        RecordRefusal::from(self.clone()).fmt(f)
    }
}

impl std::error::Error for ServerError {}
