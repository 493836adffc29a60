//! Checks of the name of a database before `SQLite` opens it.
//!
//! Only the metadata of the database is read: to close a file that was opened would release the locks of this process on it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::load::error::{LoadError, LoadIoError, UnusableFile, UnusableFileReason};
#[cfg(any(feature = "audit", feature = "cli"))]
use crate::sink::FileIdentity;
use crate::sink::resolve;

/// Length in bytes of a file that `SQLite` takes for an empty one, and would overwrite.
const TAKEN_FOR_EMPTY: u64 = 1;

/// Checks a file that is loaded into. It may be missing.
pub(super) fn check_to_write(path: &Path) -> Result<(), LoadError> {
    match fs::metadata(path) {
        Ok(found) => check_kind(path, &found)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => check_folder(path, &error)?,
        // The attempt to open it has the reason.
        Err(_) => return Ok(()),
    }
    check_logs(path)
}

/// Checks a file that is searched.
pub(super) fn check_to_read(path: &Path) -> Result<(), LoadError> {
    match fs::metadata(path) {
        Ok(found) => check_kind(path, &found),
        Err(error) => {
            let reason = UnusableFileReason::Unreadable(error.to_string());
            Err(unusable(path, reason))
        }
    }
}

/// The error of a file that cannot be used as a database.
pub(super) fn unusable(path: &Path, reason: UnusableFileReason) -> LoadError {
    let file = path.to_owned();
    UnusableFile { file, reason }.into()
}

fn check_kind(path: &Path, found: &fs::Metadata) -> Result<(), LoadError> {
    let reason = if found.is_dir() {
        UnusableFileReason::Folder
    } else if !found.is_file() {
        UnusableFileReason::NoRegularFile
    } else if found.len() == TAKEN_FOR_EMPTY {
        UnusableFileReason::NoDatabase
    } else {
        return Ok(());
    };
    Err(unusable(path, reason))
}

/// Checks that nothing stands in the places of the logs of a database that is missing or empty: `SQLite` removes it, whoever made it.
fn check_logs(path: &Path) -> Result<(), LoadError> {
    // The logs are named after the file that a link leads to.
    let database = resolve(path).unwrap_or_else(|_| path.to_owned());
    for ending in LOGS {
        let log = beside(&database, ending);
        let is_another_loader = ending == JOURNAL && database.exists() && is_journal(&log);
        // The database is looked at last: if it holds something now, another loader made the log.
        if holds(&log) && !is_another_loader && !holds(&database) {
            return Err(unusable(path, UnusableFileReason::LeftLog { log }));
        }
    }
    Ok(())
}

/// Returns `true` if `file` is a database or one of its logs, which may not exist yet.
#[cfg(any(feature = "audit", feature = "cli"))]
pub(crate) fn is_file_of_database(database: &Path, file: &FileIdentity) -> bool {
    let database = resolve(database).unwrap_or_else(|_| database.to_owned());
    let mut ends = [""].into_iter().chain(LOGS);
    ends.any(|ending| FileIdentity::of(&beside(&database, ending)) == *file)
}

/// The ends of the names of a database's logs.
const LOGS: [&str; 3] = ["-wal", "-shm", JOURNAL];

/// The end of the name of the only log that a database without content can have, which is being created.
const JOURNAL: &str = "-journal";

/// Returns `true` for a file with content, or a folder.
fn holds(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| 0 < found.len())
}

/// Returns `true` for a file that begins as a rollback journal does: with its magic number, or zeros until it is complete (section 3 of
/// `SQLite`'s file format).
fn is_journal(path: &Path) -> bool {
    let mut start = [0; 8];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && (start == JOURNAL_MAGIC || start == [0; 8])
}

const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// The path of a file beside a database.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Checks the folder of a file that is missing.
fn check_folder(path: &Path, error: &io::Error) -> Result<(), LoadError> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => {
            Err(LoadIoError::MissingFolder {
                file: path.to_owned(),
                folder: folder.to_owned(),
                reason: error.to_string(),
            }
            .into())
        }
        _ => Ok(()),
    }
}
