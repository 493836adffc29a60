//! Errors that a server states, and the reasons why a request is repeated.

use std::fmt;

use serde::Deserialize;

use crate::load::refusal::RecordRefusal;

/// The error of an answer.
#[derive(Clone, Debug)]
pub(super) enum ServerError {
    /// The body states it.
    Stated(StatedError),
    /// The body states none: the HTTP status.
    Status(u16),
}

/// An error as the body of an answer states it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct StatedError {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) reason: String,
}

impl ServerError {
    /// Returns `true` if the body states an error of this kind.
    pub(super) fn is(&self, kind: &str) -> bool {
        matches!(self, ServerError::Stated(stated) if stated.kind == kind)
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        RecordRefusal::from(self.clone()).fmt(out)
    }
}

impl From<ServerError> for RecordRefusal {
    fn from(error: ServerError) -> RecordRefusal {
        match error {
            ServerError::Stated(StatedError { kind, reason }) => {
                RecordRefusal::Server { kind, reason }
            }
            ServerError::Status(status) => RecordRefusal::Status(status),
        }
    }
}

/// The reason why a request is repeated.
#[derive(Debug)]
pub(super) enum RetryReason {
    /// The connection failed.
    Connection { server: String, error: ureq::Error },
    /// The server is busy.
    Busy { server: String, error: ServerError },
    /// The server is too busy for some documents of a request.
    Documents(ServerError),
    /// A query did not remove all documents that it should remove.
    Removal,
}

impl fmt::Display for RetryReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RetryReason::Connection { server, error } => write!(out, "{server}: {error}"),
            RetryReason::Busy { server, error } => write!(out, "{server}: {error}"),
            RetryReason::Documents(error) => error.fmt(out),
            RetryReason::Removal => {
                out.write_str("the server does not remove all documents of messages that are gone")
            }
        }
    }
}
