//! The folder of the CSV files, which does not stay if a report fails.

use std::fs;
use std::path::{Path, PathBuf};

use crate::audit::error::{AuditError, OutputError};

/// The folder of the CSV files. If this run created it, it is removed when it is dropped without files.
pub(super) struct TableFolder {
    path: PathBuf,
    is_new: bool,
}

impl TableFolder {
    /// Creates the folder if it is missing.
    ///
    /// # Errors
    ///
    /// The path is a file, or the folder cannot be created.
    pub(super) fn create(path: &Path) -> Result<TableFolder, AuditError> {
        let is_new = !path.exists();
        match fs::create_dir_all(path) {
            Ok(()) => Ok(TableFolder {
                path: path.to_owned(),
                is_new,
            }),
            Err(_) if path.exists() => {
                let folder = path.to_owned();
                Err(OutputError::NoFolder { folder }.into())
            }
            Err(error) => Err(OutputError::not_created(path, &error).into()),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TableFolder {
    fn drop(&mut self) {
        if self.is_new {
            // The system keeps a folder that is not empty.
            let _ = fs::remove_dir(&self.path);
        }
    }
}
