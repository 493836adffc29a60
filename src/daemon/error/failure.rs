//! Failed operations of the daemon: on its files and its database, and what it needs of the system.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A failed operation on a file.
#[derive(Clone, Debug)]
pub struct FileFailure {
    path: PathBuf,
    error: Arc<io::Error>,
}

impl FileFailure {
    pub(super) fn new(path: &Path, error: io::Error) -> FileFailure {
        FileFailure {
            path: path.to_owned(),
            error: Arc::new(error),
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error of the system.
    #[must_use]
    pub fn error(&self) -> &io::Error {
        &self.error
    }
}

impl fmt::Display for FileFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

/// A failed operation on the database of the state.
#[derive(Clone, Debug)]
pub struct DatabaseFailure {
    path: PathBuf,
    error: Arc<rusqlite::Error>,
    /// The error of a test write beside the database, if there was one and it failed.
    test_write: Option<Arc<io::Error>>,
}

impl DatabaseFailure {
    pub(in crate::daemon) fn new(path: &Path, error: rusqlite::Error) -> DatabaseFailure {
        DatabaseFailure {
            path: path.to_owned(),
            error: Arc::new(error),
            test_write: None,
        }
    }

    /// Adds the error of a test write.
    pub(in crate::daemon) fn with_test_write(self, error: io::Error) -> DatabaseFailure {
        DatabaseFailure {
            test_write: Some(Arc::new(error)),
            ..self
        }
    }

    /// The database.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for DatabaseFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)?;
        if let Some(code) = self.error.sqlite_extended_error_code() {
            write!(f, " (SQLite error code {code})")?;
        }
        match &self.test_write {
            Some(error) => write!(f, "; a test write failed: {error}"),
            None => Ok(()),
        }
    }
}

/// A failure that ends the daemon.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum DaemonFailure {
    /// A file cannot be read or written.
    File(FileFailure),
    /// The database of the state cannot be read or written.
    Database(DatabaseFailure),
    /// A page of the database cannot be read.
    UnreadablePage {
        /// The database.
        path: PathBuf,
        /// `SQLite`'s report.
        report: String,
    },
    /// The path of the database is not UTF-8.
    PathNotUtf8(PathBuf),
    /// The program was built with a version of `SQLite` that can lose data.
    SqliteVersion(&'static str),
    /// The system gives no random numbers.
    RandomNumbers(Arc<io::Error>),
    /// A thread cannot be started.
    Thread(Arc<io::Error>),
    /// Signals cannot be handled.
    Signals(Arc<io::Error>),
    /// A reader panicked.
    ReaderPanicked,
}

impl DaemonFailure {
    /// The failure to start a thread.
    pub(in crate::daemon) fn thread(error: io::Error) -> DaemonFailure {
        DaemonFailure::Thread(Arc::new(error))
    }
}

impl fmt::Display for DaemonFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DaemonFailure::File(failure) => failure.fmt(f),
            DaemonFailure::Database(failure) => failure.fmt(f),
            DaemonFailure::UnreadablePage { path, report } => {
                write!(f, "{}: {report}", path.display())
            }
            DaemonFailure::PathNotUtf8(path) => write!(
                f,
                "{}: the path is not UTF-8, which SQLite requires",
                path.display()
            ),
            DaemonFailure::SqliteVersion(version) => write!(
                f,
                "SQLite {version} can lose data; version 3.51.3 or newer is needed"
            ),
            DaemonFailure::RandomNumbers(error) => write!(f, "cannot read random numbers: {error}"),
            DaemonFailure::Thread(error) => write!(f, "cannot start a thread: {error}"),
            DaemonFailure::Signals(error) => write!(f, "cannot handle signals: {error}"),
            DaemonFailure::ReaderPanicked => f.write_str("a reader panicked; please report this"),
        }
    }
}

/// The reason why work pauses, or why work that began before a pause is void.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PauseReason {
    /// There is no space for a file.
    File(FileFailure),
    /// There is no space for the database of the state.
    Database(DatabaseFailure),
    /// There was no space, and there is none yet.
    NoSpaceYet,
    /// Work is paused.
    Paused,
    /// Work was paused after this work had begun.
    PausedMeanwhile,
    /// A reader panicked while it wrote to the batch, which may hold half a message.
    ReaderPanicked,
}

impl fmt::Display for PauseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PauseReason::File(failure) => failure.fmt(f),
            PauseReason::Database(failure) => failure.fmt(f),
            PauseReason::NoSpaceYet => f.write_str("no space yet"),
            PauseReason::Paused => f.write_str("work is paused"),
            PauseReason::PausedMeanwhile => f.write_str("work was paused meanwhile"),
            PauseReason::ReaderPanicked => {
                f.write_str("a reader failed while it wrote to the batch")
            }
        }
    }
}
