//! Is the database as it was left? `SQLite` notices damage to its structure, not to what stands in it.
//!
//! A clean end notes the file's hash beside it, and the next start takes the note away before it writes. After any other
//! end there is no note: then the log's own sums, a look through the database, and the sum of what it knows of messages
//! (`daemon/store/state/sum.rs`) must do.

use std::fs;
use std::path::{Path, PathBuf};

use crate::daemon::error::DaemonError;
use crate::sink::segment;

fn note_of(db: &Path) -> PathBuf {
    db.with_extension("sum")
}

fn hash(db: &Path) -> std::io::Result<Option<String>> {
    let hash = segment::hash_of(db, fs::metadata(db)?.len())?;
    Ok(hash.map(|hash| format!("{hash:016x}\n")))
}

/// What is known of a database before it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It is as it was left.
    AsIs,
    /// There is no note of it.
    Unknown,
}

/// Refuses a database that is not what its note says. Afterwards there is no note.
pub(crate) fn check(db: &Path) -> Result<Left, DaemonError> {
    let note = note_of(db);
    let Ok(noted) = fs::read_to_string(&note) else {
        return Ok(Left::Unknown);
    };
    if hash(db)
        .map_err(|error| DaemonError::from_io(db, &error))?
        .is_none_or(|found| found != noted)
    {
        return Err(DaemonError::inconsistent(&format!(
            "{} is not as it was left",
            db.display()
        )));
    }
    let folder = note.parent().unwrap_or(&note);
    // One that came back after a power cut would accuse a database that was written since.
    fs::remove_file(&note)
        .and_then(|()| segment::sync_dir(folder))
        .map_err(|error| DaemonError::from_io(&note, &error))?;
    Ok(Left::AsIs)
}

/// Takes away what was noted of a database that is made anew.
pub(crate) fn forget(db: &Path) {
    let _ = fs::remove_file(note_of(db));
}

/// Lets the note follow a database that was given another name.
pub(crate) fn follow(from: &Path, to: &Path) {
    // Without a note the next start only knows less.
    let _ = segment::take_place(&note_of(from), &note_of(to));
}

/// Notes what the database is, after its last write.
pub(crate) fn note(db: &Path) {
    if let Ok(Some(hash)) = hash(db) {
        // Without a note the next start only knows less.
        let _ = segment::replace(&note_of(db), hash.as_bytes());
    }
}
