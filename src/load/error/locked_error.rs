//! Targets that another program holds.

use std::fmt;
use std::path::PathBuf;

/// The target that another program holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockedError {
    /// Another program writes to a database file.
    File {
        /// The database.
        file: PathBuf,
    },
    /// Another program reads an older state of a database file, so that its log cannot be merged into it.
    LogInUse {
        /// The database.
        file: PathBuf,
    },
    /// Another program writes to a database of a server.
    Server {
        /// The URL of the database.
        server: String,
    },
    /// Another loader holds the lock of an index.
    Index {
        /// The URL of the index.
        index: String,
    },
}

impl fmt::Display for LockedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockedError::File { file } => write!(
                f,
                "another program is writing to {}; try again when it has ended",
                file.display()
            ),
            LockedError::LogInUse { file } => write!(
                f,
                "another program has been reading {} for long, so that the rows of segments are still in its log; they were loaded, \
                 and will be removed by a load that is repeated when that program has ended",
                file.display()
            ),
            LockedError::Server { server } => write!(
                f,
                "another program is writing to {server}; try again when it has ended"
            ),
            LockedError::Index { index } => write!(
                f,
                "another program is loading into {index}; try again when it has ended"
            ),
        }
    }
}

impl std::error::Error for LockedError {}
