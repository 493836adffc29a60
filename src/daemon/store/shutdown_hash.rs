//! The hash of the database at a clean shutdown. `SQLite` detects damage to its structure, not to its content.
//!
//! A clean shutdown writes the hash of the file beside it, and the next start removes it before the first write. After any
//! other end there is none: then the checksums of the write-ahead log, `SQLite`'s check of the structure, and the checksum
//! of the rows (`row_checksum.rs`) take its place.

use std::fs;
use std::path::{Path, PathBuf};

use crate::daemon::error::{Contradiction, DaemonError};
use crate::sink::segment;

/// Result of the check of a database before it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShutdownCheck {
    /// It has the hash that was written at the last clean shutdown.
    Verified,
    /// There is no hash of it.
    Unknown,
}

/// Compares a database with its hash, and removes the hash.
///
/// # Errors
///
/// [`DaemonError::Inconsistent`] if they differ, or an I/O error.
pub(crate) fn check(db: &Path) -> Result<ShutdownCheck, DaemonError> {
    let path = path_beside(db);
    let Ok(expected) = fs::read_to_string(&path) else {
        return Ok(ShutdownCheck::Unknown);
    };
    let found = hash(db).map_err(|error| DaemonError::from_io(db, error))?;
    if found != Some(expected) {
        let path = db.to_owned();
        return Err(Contradiction::ChangedAfterShutdown { path }.into());
    }
    // A hash that reappears after a power cut would reject a database that was written since.
    fs::remove_file(&path)
        .and_then(|()| segment::sync_dir(path.parent().unwrap_or(&path)))
        .map_err(|error| DaemonError::from_io(&path, error))?;
    Ok(ShutdownCheck::Verified)
}

/// Writes the hash of a database, after the last write to it.
pub(crate) fn write(db: &Path) {
    if let Ok(Some(hash)) = hash(db) {
        // Without a hash the next start checks more slowly.
        let _ = segment::replace(&path_beside(db), hash.as_bytes());
    }
}

/// Removes the hash of a database that will be created again.
pub(crate) fn remove(db: &Path) {
    let _ = fs::remove_file(path_beside(db));
}

/// Renames the hash together with its database.
pub(crate) fn rename(from: &Path, to: &Path) {
    // Without a hash the next start checks more slowly.
    let _ = segment::take_place(&path_beside(from), &path_beside(to));
}

fn path_beside(db: &Path) -> PathBuf {
    db.with_extension("sum")
}

fn hash(db: &Path) -> std::io::Result<Option<String>> {
    let hash = segment::hash_of(db, fs::metadata(db)?.len())?;
    Ok(hash.map(|hash| format!("{hash:016x}\n")))
}
