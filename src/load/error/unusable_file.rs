//! Reasons why a file cannot be used as a database.

use std::fmt;
use std::path::PathBuf;

/// A file that cannot be used as a database, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnusableFile {
    /// The file.
    pub file: PathBuf,
    /// The reason.
    pub reason: UnusableFileReason,
}

/// The reason why a file cannot be used as a database.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnusableFileReason {
    /// It is searched, and cannot be read: the error of the system.
    Unreadable(String),
    /// It is a folder.
    Folder,
    /// It is a pipe, a socket or a device.
    NoRegularFile,
    /// It is searched, and holds nothing.
    Empty,
    /// It is not a database of `SQLite`.
    NoDatabase,
    /// Its tables are those of another version of this program.
    TableVersion {
        /// The version of its tables.
        found: i32,
        /// The version that this program needs.
        needed: i32,
    },
    /// It is the database of another program.
    OtherProgram,
    /// It is missing or empty, and something stands where `SQLite` would write and remove its log.
    LeftLog {
        /// The place of the log.
        log: PathBuf,
    },
}

impl fmt::Display for UnusableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.file.display();
        match &self.reason {
            UnusableFileReason::Unreadable(error) => write!(
                f,
                "cannot read {name}: {error}; `urlspool load --into {name}` makes a database"
            ),
            UnusableFileReason::Folder => write!(
                f,
                "{name} is a folder; name a file, such as {}",
                self.file.join("urls.db").display()
            ),
            UnusableFileReason::NoRegularFile => write!(
                f,
                "{name} is no regular file, which a database needs; name a new file"
            ),
            UnusableFileReason::Empty => {
                write!(f, "{name} is empty; `urlspool load --into {name}` fills it")
            }
            UnusableFileReason::NoDatabase => write!(
                f,
                "{name} is not a database of SQLite; name a new file, or one that was loaded"
            ),
            UnusableFileReason::TableVersion { found, needed } => write!(
                f,
                "{name} has tables of version {found}; this program needs version {needed}; load into a new file"
            ),
            UnusableFileReason::OtherProgram => write!(
                f,
                "{name} is the database of another program; load into a new file"
            ),
            UnusableFileReason::LeftLog { log } => write!(
                f,
                "{} stands where the log of the new database {name} would be written and removed; move it away, or load into another file",
                log.display()
            ),
        }
    }
}

impl std::error::Error for UnusableFile {}
