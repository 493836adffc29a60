//! Checks of the name of a database before `SQLite` opens it.
//!
//! They change nothing, neither in the file nor beside it: it may be another program's.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::ops::RangeInclusive;
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

/// The values on the first page of a database that say whose it is (section 1.3 of the file
/// format).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FirstPage {
    pub(super) application_id: i32,
    pub(super) user_version: i32,
    /// `true` if there are no tables.
    pub(super) is_empty: bool,
}

/// Length in bytes of the start of the first page: the header, and the number of rows of the table
/// of tables.
const PAGE_START: usize = 105;

const DATABASE_MAGIC: &[u8; 16] = b"SQLite format 3\0";

impl FirstPage {
    /// Reads the first page of a database as its last transaction left it; `None` if the file is
    /// empty or cannot be read.
    ///
    /// It is read as bytes: `SQLite` would merge the log of a database that it opens, and change
    /// its index, also if it only reads. This process must not have the database open, since the
    /// locks that it holds on a file end when it closes the file.
    ///
    /// # Errors
    ///
    /// It is no database.
    pub(super) fn read(path: &Path) -> Result<Option<FirstPage>, LoadError> {
        let database = resolve(path).unwrap_or_else(|_| path.to_owned());
        let opened = File::open(&database).and_then(|file| Ok((file.metadata()?.len(), file)));
        // The attempt to open it has the reason.
        let Ok((1.., file)) = opened else {
            return Ok(None);
        };
        let mut start = [0; PAGE_START];
        let read = file.read_exact_at(&mut start, 0);
        let Some(in_file) = read.ok().and_then(|()| FirstPage::parse(&start)) else {
            // A crash may leave the first page of a new database half written. SQLite removes it.
            let journal = beside(&database, JOURNAL);
            if holds(&journal) && is_journal_of_new_database(&journal) {
                return Ok(None);
            }
            return Err(no_database(path));
        };
        let in_log = File::open(beside(&database, "-wal")).and_then(|log| page_start_in(&log));
        let in_log = in_log.ok().flatten();
        Ok(in_log
            .and_then(|start| FirstPage::parse(&start))
            .or(Some(in_file)))
    }

    fn parse(start: &[u8; PAGE_START]) -> Option<FirstPage> {
        let number = |at: usize| i32::from_be_bytes([0, 1, 2, 3].map(|byte| start[at + byte]));
        let page_bytes = u16::from_be_bytes([start[16], start[17]]);
        let is_database = start.starts_with(DATABASE_MAGIC)
            && (page_bytes == 1 || (page_bytes.is_power_of_two() && 512 <= page_bytes))
            && start[21..24] == [64, 32, 32];
        is_database.then(|| FirstPage {
            user_version: number(60),
            application_id: number(68),
            is_empty: start[100] == LEAF_PAGE && start[103..] == [0, 0],
        })
    }
}

/// Remains of a database in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileContent {
    /// A header, and at least as many pages as it says.
    Whole,
    /// A header, and fewer pages. Those with these numbers are missing.
    Short(RangeInclusive<u32>),
    /// No header.
    Other,
}

impl FileContent {
    /// Looks at the header and the length of an open file.
    pub(super) fn of(database: &File) -> io::Result<FileContent> {
        let mut start = [0; PAGE_START];
        match database.read_exact_at(&mut start, 0) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Ok(FileContent::Other);
            }
            read => read?,
        }
        if FirstPage::parse(&start).is_none() {
            return Ok(FileContent::Other);
        }
        let pages = u32::from_be_bytes([28, 29, 30, 31].map(|byte| start[byte]));
        let page_bytes = match u16::from_be_bytes([start[16], start[17]]) {
            1 => 1 << 16,
            bytes => u64::from(bytes),
        };
        let present = u32::try_from(database.metadata()?.len() / page_bytes).unwrap_or(u32::MAX);
        Ok(if pages <= present {
            FileContent::Whole
        } else {
            FileContent::Short(present + 1..=pages)
        })
    }
}

/// The kind of a page of a table that has no others below it.
const LEAF_PAGE: u8 = 0x0d;

/// Length in bytes of the header of a log, and of each of its frames.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// Returns the start of the first page that the last transaction of a log left; `None` if no
/// transaction has changed it (section 4 of the file format).
fn page_start_in(log: &File) -> io::Result<Option<[u8; PAGE_START]>> {
    let (mut changed, mut committed) = (None, None);
    for frame in LogFrames::of(log) {
        if frame.page == 1 {
            changed = Some(frame.content);
        }
        if frame.is_commit
            && let Some(place) = changed.take()
        {
            committed = Some(place);
        }
    }
    let Some(place) = committed else {
        return Ok(None);
    };
    let mut start = [0; PAGE_START];
    log.read_exact_at(&mut start, place).map(|()| Some(start))
}

/// Returns `true` if transactions of the log of a database left all of these pages.
///
/// A merge of the log writes the first page before the last ones. If it was killed between, the
/// file is short, and the log is whole.
pub(super) fn log_holds(database: &Path, pages: &RangeInclusive<u32>) -> bool {
    let database = resolve(database).unwrap_or_else(|_| database.to_owned());
    let Ok(log) = File::open(beside(&database, "-wal")) else {
        return false;
    };
    let (mut changed, mut committed) = (Vec::new(), BTreeSet::new());
    for frame in LogFrames::of(&log) {
        if pages.contains(&frame.page) {
            changed.push(frame.page);
        }
        if frame.is_commit {
            committed.extend(changed.drain(..));
        }
    }
    committed.len() as u64 == u64::from(pages.end() - pages.start()) + 1
}

/// The frames of a log, each of which is a page of the database (section 4 of the file format).
struct LogFrames<'l> {
    log: &'l File,
    salt: [u8; 8],
    page_bytes: u32,
    offset: u64,
}

struct LogFrame {
    /// The number of the page.
    page: u32,
    /// The offset of its bytes in the log.
    content: u64,
    /// `true` if a transaction ends with it.
    is_commit: bool,
}

impl LogFrames<'_> {
    /// No frames, if the file is no log.
    fn of(log: &File) -> LogFrames<'_> {
        let mut header = [0; LOG_HEADER as usize];
        let is_read = log.read_exact_at(&mut header, 0).is_ok();
        let page_bytes = big_endian(&header, 8);
        let is_log = is_read
            && matches!(big_endian(&header, 0), 0x377f_0682 | 0x377f_0683)
            && page_bytes.is_power_of_two()
            && (512..=65_536).contains(&page_bytes);
        let mut salt = [0; 8];
        salt.copy_from_slice(&header[16..24]);
        LogFrames {
            log,
            salt,
            page_bytes,
            offset: if is_log { LOG_HEADER } else { u64::MAX },
        }
    }
}

impl Iterator for LogFrames<'_> {
    type Item = LogFrame;

    fn next(&mut self) -> Option<LogFrame> {
        let mut header = [0; FRAME_HEADER as usize];
        if self.offset == u64::MAX || self.log.read_exact_at(&mut header, self.offset).is_err() {
            return None;
        }
        // Frames of an earlier round of the log have another salt.
        if header[8..16] != self.salt {
            return None;
        }
        let content = self.offset + FRAME_HEADER;
        self.offset = content + u64::from(self.page_bytes);
        Some(LogFrame {
            page: big_endian(&header, 0),
            content,
            is_commit: big_endian(&header, 4) != 0,
        })
    }
}

fn big_endian(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]))
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
