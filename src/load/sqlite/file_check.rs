//! Checks of the name of a database before `SQLite` opens it.
//!
//! Only the metadata of the file is read: to close a file that was opened would release the locks of this process on it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::load::error::{LoadError, LoadIoError, UnusableFile, UnusableFileReason};

/// Length in bytes of a file that `SQLite` takes for an empty one, and would overwrite.
const TAKEN_FOR_EMPTY: u64 = 1;

/// Checks a file that is loaded into. It may be missing.
pub(super) fn check_to_write(path: &Path) -> Result<(), LoadError> {
    match fs::metadata(path) {
        Ok(found) => check_kind(path, &found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            check_folder(path, &error)?;
            check_logs(path)
        }
        // The attempt to open it has the reason.
        Err(_) => Ok(()),
    }
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

/// Checks that no log of a database stands beside the name of a file that is missing: `SQLite` removes it, whoever made it.
fn check_logs(path: &Path) -> Result<(), LoadError> {
    for ending in ["-wal", "-journal"] {
        let log = beside(path, ending);
        if fs::metadata(&log).is_ok_and(|found| 0 < found.len()) {
            return Err(unusable(path, UnusableFileReason::LeftLog { log }));
        }
    }
    Ok(())
}

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
