//! Reasons why a target or a segment cannot be read or written.

use std::fmt;
use std::path::PathBuf;

use super::server_error::ServerError;

/// The reason why a target or a segment cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadIoError {
    /// A segment cannot be read.
    Segment {
        /// The name of its file.
        input: String,
        /// The error of the system.
        reason: String,
    },
    /// The folder of a database is missing.
    MissingFolder {
        /// The database.
        file: PathBuf,
        /// The folder.
        folder: PathBuf,
        /// The error of the system.
        reason: String,
    },
    /// A database cannot be opened.
    NotOpened {
        /// The database.
        file: PathBuf,
        /// The error of the system.
        reason: String,
    },
    /// A database has changes that this user cannot read.
    UnreadableLog {
        /// The database.
        file: PathBuf,
    },
    /// A database file cannot be read or written.
    File {
        /// The database.
        file: PathBuf,
        /// The error of `SQLite`.
        reason: String,
    },
    /// The name of a target leads to another database or index than when it was opened, or to none.
    Replaced {
        /// The name of the target.
        target: String,
    },
    /// A database of a server cannot be read or written.
    Server {
        /// The URL of the database.
        server: String,
        /// The error of the server.
        reason: String,
    },
    /// A server refuses a request.
    Refused(ServerError),
    /// A server gives an answer that is not one of its interface.
    UnknownAnswer {
        /// The error of reading it as JSON.
        reason: String,
    },
    /// A server answers for another number of documents than it was sent.
    AnswerCount {
        /// Documents that it answers for.
        answered: usize,
        /// Documents of the request.
        requested: usize,
    },
    /// A request cannot be compressed.
    NotCompressed {
        /// The error of the compressor.
        reason: String,
    },
}

impl fmt::Display for LoadIoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadIoError::Segment { input, reason } => write!(f, "cannot read {input}: {reason}"),
            LoadIoError::MissingFolder {
                file,
                folder,
                reason,
            } => write!(
                f,
                "cannot open {}: {reason}; create the folder {} first",
                file.display(),
                folder.display()
            ),
            LoadIoError::NotOpened { file, reason } => {
                write!(f, "cannot open {}: {reason}", file.display())
            }
            LoadIoError::UnreadableLog { file } => {
                let name = file.display();
                write!(
                    f,
                    "{name} has changes in {name}-wal that can be read only by a user who may write in its folder; run this once as that user, \
                     or copy both files elsewhere"
                )
            }
            LoadIoError::File { file, reason } => write!(f, "{}: {reason}", file.display()),
            LoadIoError::Replaced { target } => write!(
                f,
                "{target} was removed, renamed or replaced while it was being loaded; no segment was removed since. Put it back and \
                 repeat the load, or repeat it to load the segments that are left into what has this name now"
            ),
            LoadIoError::Server { server, reason } => write!(f, "{server}: {reason}"),
            LoadIoError::Refused(error) => write!(f, "the server refuses: {error}"),
            LoadIoError::UnknownAnswer { reason } => write!(
                f,
                "the server gives an answer that is not known: {reason}; is it Elasticsearch or OpenSearch?"
            ),
            LoadIoError::AnswerCount {
                answered,
                requested,
            } => write!(
                f,
                "the server answers for {answered} documents to a request of {requested}"
            ),
            LoadIoError::NotCompressed { reason } => {
                write!(f, "the lines of a request cannot be compressed: {reason}")
            }
        }
    }
}

impl std::error::Error for LoadIoError {}
