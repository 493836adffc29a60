//! Reasons why a report, a temporary file or the proxy cannot be made.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A reason why a report, a temporary file or the proxy cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputError {
    /// A file of the report would replace the database.
    OverwritesDatabase {
        /// The file.
        file: PathBuf,
    },
    /// Two files of the report would be one.
    SameFile {
        /// Both names of it.
        names: [PathBuf; 2],
    },
    /// A file cannot be written.
    NotWritten {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        reason: String,
    },
    /// The folder for CSV files is a file.
    NoFolder {
        /// The path that was given for it.
        folder: PathBuf,
    },
    /// A folder cannot be created.
    NotCreated {
        /// The folder.
        folder: PathBuf,
        /// The error of the system.
        reason: String,
    },
    /// The proxy for the link checker cannot be started.
    NoProxy {
        /// The error of the system.
        reason: String,
    },
}

impl OutputError {
    /// A file cannot be written.
    pub(in crate::audit) fn not_written(file: &Path, error: &io::Error) -> OutputError {
        OutputError::NotWritten {
            file: file.to_owned(),
            reason: error.to_string(),
        }
    }

    /// A folder cannot be created.
    pub(in crate::audit) fn not_created(folder: &Path, error: &io::Error) -> OutputError {
        OutputError::NotCreated {
            folder: folder.to_owned(),
            reason: error.to_string(),
        }
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutputError::OverwritesDatabase { file } => write!(
                f,
                "{} would overwrite the database; name another file",
                file.display()
            ),
            OutputError::SameFile {
                names: [first, second],
            } => write!(
                f,
                "{} and {} would be the same file; name two files",
                first.display(),
                second.display()
            ),
            OutputError::NotWritten { file, reason } => {
                write!(f, "cannot write {}: {reason}", file.display())
            }
            OutputError::NoFolder { folder } => write!(
                f,
                "{} is a file; name a folder for the CSV files with `--csv`",
                folder.display()
            ),
            OutputError::NotCreated { folder, reason } => {
                write!(f, "cannot create {}: {reason}", folder.display())
            }
            OutputError::NoProxy { reason } => {
                write!(f, "cannot start a proxy for the link checker: {reason}")
            }
        }
    }
}

impl std::error::Error for OutputError {}
