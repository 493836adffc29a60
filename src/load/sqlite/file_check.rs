//! Checks of the name of a database before `SQLite` opens it.
//!
//! They change nothing, neither in the file nor beside it: it may be another program's.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::load::LoadError;
#[cfg(any(feature = "audit", feature = "cli"))]
use crate::sink::FileIdentity;
use crate::sink::resolve;
#[cfg(feature = "cli")]
use crate::walk::DeviceInode;

/// Length in bytes of a file that `SQLite` takes for an empty one, and would overwrite.
const TAKEN_FOR_EMPTY: u64 = 1;

/// Checks a file that is loaded into. It may be missing.
pub(super) fn check_to_write(path: &Path) -> Result<(), LoadError> {
    match fs::metadata(path) {
        Ok(found) => check_kind(path, &found)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => check_folder(path, error)?,
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
            let name = path.display();
            let message = format!(
                "cannot read {name}: {error}; `urlspool load --into {name}` makes a database"
            );
            Err(LoadError::unusable(message).caused_by(error))
        }
    }
}

/// The error of a file that is no database.
pub(super) fn no_database(path: &Path) -> LoadError {
    LoadError::unusable(format!(
        "{} is not a database of SQLite; name a new file, or one that was loaded; \
         `urlspool scan --into NEW.db PATH` makes one",
        path.display()
    ))
}

fn check_kind(path: &Path, found: &fs::Metadata) -> Result<(), LoadError> {
    let name = path.display();
    if found.is_dir() {
        let file = path.join("urls.db");
        Err(LoadError::unusable(format!(
            "{name} is a folder; name a file, such as {}",
            file.display()
        )))
    } else if !found.is_file() {
        Err(LoadError::unusable(format!(
            "{name} is no regular file, which a database needs; name a new file"
        )))
    } else if found.len() == TAKEN_FOR_EMPTY {
        Err(no_database(path))
    } else {
        Ok(())
    }
}

/// Checks that nothing stands in the places of the logs of a database that is missing or empty:
/// `SQLite` removes it, whoever made it, also if it is empty.
fn check_logs(path: &Path) -> Result<(), LoadError> {
    // The logs are named after the file that a link leads to.
    let database = resolve(path).unwrap_or_else(|_| path.to_owned());
    for ending in LOGS {
        let log = beside(&database, ending);
        let is_there = fs::symlink_metadata(&log).is_ok();
        let is_another_loader =
            ending == JOURNAL && database.exists() && is_journal_of_new_database(&log);
        // The database is looked at last: if it holds something now, another loader made the log.
        if is_there && !is_another_loader && !holds(&database) {
            return Err(LoadError::unusable(format!(
                "{} stands where the log of the new database {} would be written and removed; move \
                 it away, or load into another file",
                log.display(),
                path.display()
            )));
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

/// Returns the files of a database that exist: itself and its logs.
#[cfg(feature = "cli")]
pub(crate) fn files_of_database(database: &Path) -> impl Iterator<Item = DeviceInode> {
    let database = resolve(database).unwrap_or_else(|_| database.to_owned());
    let ends = [""].into_iter().chain(LOGS);
    let found = ends.filter_map(move |ending| fs::metadata(beside(&database, ending)).ok());
    found.map(|found| DeviceInode::of(&found))
}

/// The ends of the names of a database's logs.
const LOGS: [&str; 3] = ["-wal", "-shm", JOURNAL];

/// The end of the name of the only log that a database without content can have, which is being
/// created.
const JOURNAL: &str = "-journal";

/// Returns `true` if a log with content beside a database without any is another program's: a
/// loader marks the file before it has a log.
pub(super) fn has_foreign_log(path: &Path) -> bool {
    let database = resolve(path).unwrap_or_else(|_| path.to_owned());
    let journal = beside(&database, JOURNAL);
    holds(&beside(&database, "-wal")) || holds(&journal) && !is_journal_of_new_database(&journal)
}

/// Returns `true` if the journal beside a file is of a database that had no pages before. `SQLite`
/// removes what a crash has left of its first page.
pub(super) fn is_begun(path: &Path) -> bool {
    let database = resolve(path).unwrap_or_else(|_| path.to_owned());
    let journal = beside(&database, JOURNAL);
    holds(&journal) && is_journal_of_new_database(&journal)
}

/// Returns `true` for a file with content.
fn holds(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| 0 < found.len())
}

/// Returns `true` for a file that begins as a rollback journal of a database that had no pages
/// before: it is empty, or has the magic number, or zeros until it is complete, and at byte 16 no
/// number of pages (section 3 of `SQLite`'s file format).
fn is_journal_of_new_database(path: &Path) -> bool {
    // A pipe would be waited for without end.
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(20).read_to_end(&mut start));
    start.resize(20, 0);
    read.is_ok() && (start[..8] == JOURNAL_MAGIC || start[..8] == [0; 8]) && start[16..] == [0; 4]
}

const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

const DATABASE_MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Remains of a database in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileContent {
    /// A header, and at least as many pages as it says.
    Whole,
    /// A header, and fewer pages.
    Short,
    /// No header.
    Other,
}

impl FileContent {
    /// Looks at the header and the length of an open file (section 1.3 of the file format).
    pub(super) fn of(database: &File) -> io::Result<FileContent> {
        let mut header = [0; 32];
        match database.read_exact_at(&mut header, 0) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Ok(FileContent::Other);
            }
            read => read?,
        }
        let pages = u32::from_be_bytes([28, 29, 30, 31].map(|byte| header[byte]));
        let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 1 << 16,
            bytes => u64::from(bytes),
        };
        Ok(if !header.starts_with(DATABASE_MAGIC) {
            FileContent::Other
        } else if u64::from(pages) * page_bytes <= database.metadata()?.len() {
            FileContent::Whole
        } else {
            FileContent::Short
        })
    }
}

/// The path of a file beside a database.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Checks the folder of a file that is missing.
fn check_folder(path: &Path, error: io::Error) -> Result<(), LoadError> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => {
            let message = format!(
                "cannot open {}: {error}; create the folder {} first",
                path.display(),
                folder.display()
            );
            Err(LoadError::io(message).caused_by(error))
        }
        _ => Ok(()),
    }
}
