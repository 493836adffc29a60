//! Reasons why a server cannot be reached, or does not do what it is asked for in time.

use std::fmt;

use super::server_error::ServerError;

/// The reason why a server cannot be reached. It may be reached later.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnreachableError {
    /// The connection failed.
    Connection {
        /// The server.
        server: String,
        /// The error of the connection.
        reason: String,
    },
    /// The connection was closed before.
    Closed {
        /// The server.
        server: String,
    },
    /// The server is busy.
    Busy {
        /// The server.
        server: String,
        /// Its answer.
        error: ServerError,
    },
    /// The server is too busy for some documents of a request.
    BusyForDocuments(ServerError),
    /// A query did not remove all documents that it should remove.
    IncompleteRemoval,
}

impl fmt::Display for UnreachableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnreachableError::Connection { server, reason } => write!(f, "{server}: {reason}"),
            UnreachableError::Closed { server } => write!(f, "{server}: the connection is closed"),
            UnreachableError::Busy { server, error } => write!(f, "{server}: {error}"),
            UnreachableError::BusyForDocuments(error) => error.fmt(f),
            UnreachableError::IncompleteRemoval => {
                f.write_str("the server does not remove all documents of messages that are gone")
            }
        }
    }
}

impl std::error::Error for UnreachableError {}
