//! Checks of the name of a database before `SQLite` opens it.
//!
//! Only the metadata of the file is read: to close a file that was opened would release the locks of this process on it.

use std::fs;
use std::io;
use std::path::Path;

use crate::load::error::{LoadError, LoadIoError};

/// Length in bytes of a file that `SQLite` takes for an empty one, and would overwrite.
const TAKEN_FOR_EMPTY: u64 = 1;

/// Checks a file that is loaded into. It may be missing.
pub(super) fn check_to_write(path: &Path) -> Result<(), LoadError> {
    match fs::metadata(path) {
        Ok(found) => check_kind(path, &found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => check_folder(path, &error),
        // The attempt to open it has the reason.
        Err(_) => Ok(()),
    }
}

/// Checks a file that is searched.
pub(super) fn check_to_read(path: &Path) -> Result<(), LoadError> {
    match fs::metadata(path) {
        Ok(found) => check_kind(path, &found),
        Err(error) => {
            let name = path.display();
            Err(LoadError::Unusable(format!(
                "cannot read {name}: {error}; `urlspool load --into {name}` makes a database"
            )))
        }
    }
}

/// The error of a file that is neither empty nor a database.
pub(super) fn no_database(path: &Path) -> LoadError {
    LoadError::Unusable(format!(
        "{} is not a database of SQLite; name a new file, or one that was loaded",
        path.display()
    ))
}

fn check_kind(path: &Path, found: &fs::Metadata) -> Result<(), LoadError> {
    let name = path.display();
    if found.is_dir() {
        let file = path.join("urls.db");
        let file = file.display();
        return Err(LoadError::Unusable(format!(
            "{name} is a folder; name a file, such as {file}"
        )));
    }
    if !found.is_file() {
        return Err(LoadError::Unusable(format!(
            "{name} is no regular file, which a database needs; name a new file"
        )));
    }
    if found.len() == TAKEN_FOR_EMPTY {
        return Err(no_database(path));
    }
    Ok(())
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
