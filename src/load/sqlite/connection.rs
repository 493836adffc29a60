//! Opening a database: one that is ours, one that is empty, or none.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::file_check::{
    FileContent, beside, check_to_read, check_to_write, has_foreign_log, is_begun, no_database,
};
use super::schema::{APPLICATION_ID, DEVELOPMENT_ID, VERSION, tables};
use crate::grammar::encode;
use crate::limits::{
    LOAD_CACHE_KIB, LOAD_HEADER_ATTEMPTS, LOAD_LENGTH_ATTEMPTS, LOAD_LOCK_SECONDS,
    LOAD_LOG_ATTEMPTS, LOAD_LOG_POLL_MS,
};
use crate::load::LoadError;
use crate::sink::resolve;
use crate::walk::DeviceInode;

/// Number of prepared statements that are cached: more than the program has.
const STATEMENTS: usize = 64;

/// Opens a database for a load. Creates it, and its tables, if there is none.
fn open_to_write(path: &Path) -> Result<Connection, LoadError> {
    check_to_write(path)?;
    check_owner(path)?;
    let db = Connection::open(plain(path)).map_err(|error| open_error(path, error))?;
    prepare(&db, path)?;
    Ok(db)
}

/// The file of a database that is loaded into.
pub(super) struct DatabaseFile {
    path: PathBuf,
    /// Another file at `path` would not get the rows.
    identity: DeviceInode,
    /// The open file. It must be closed after the connection: the locks of a process on a file end
    /// when it closes the file once.
    file: File,
}

/// Opens a database for a load, as [`open_to_write`] does. Returns its file too, which must be
/// dropped after the connection.
pub(super) fn open_to_load(path: &Path) -> Result<(Connection, DatabaseFile), LoadError> {
    check_to_write(path)?;
    // SQLite does not name the file that it opens: one that is there before and after is it.
    create_if_missing(path).map_err(|error| not_opened(path, error))?;
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, file) = opened.map_err(|error| not_opened(path, error))?;
    let database = DatabaseFile {
        path: path.to_owned(),
        identity: DeviceInode::of(&metadata),
        file,
    };
    let db = open_to_write(path)?;
    database.check_place()?;
    Ok((db, database))
}

impl DatabaseFile {
    /// Checks that the path leads to the file that was opened.
    pub(super) fn check_place(&self) -> Result<(), LoadError> {
        if place(&self.path) == Some(self.identity) {
            Ok(())
        } else {
            Err(LoadError::replaced(&self.path.display().to_string()))
        }
    }

    /// Checks that nobody has truncated or overwritten the file. If another load was killed while
    /// it merged the log, the log is merged.
    pub(super) fn check_whole(&self, db: &Connection) -> Result<(), LoadError> {
        for attempt in 1.. {
            self.check_place()?;
            let content = FileContent::of(&self.file).map_err(|error| self.unreadable(error))?;
            let attempts = match content {
                FileContent::Whole => return Ok(()),
                // A merge of the log writes the first page before the last ones, and may have been
                // killed between.
                FileContent::Short => {
                    if merge_once(db).is_ok_and(|is_merged| is_merged) && self.is_mended()? {
                        return Ok(());
                    }
                    LOAD_LENGTH_ATTEMPTS
                }
                FileContent::Other => LOAD_HEADER_ATTEMPTS,
            };
            if attempts <= attempt {
                break;
            }
            thread::sleep(Duration::from_millis(LOAD_LOG_POLL_MS));
        }
        Err(self.overwritten())
    }

    /// Returns `true` if the file has all its pages after a merge of the log.
    ///
    /// # Errors
    ///
    /// Some of its pages were not in the log.
    fn is_mended(&self) -> Result<bool, LoadError> {
        let content = FileContent::of(&self.file).map_err(|error| self.unreadable(error))?;
        if content != FileContent::Whole {
            return Ok(false);
        }
        // By another connection, which has no pages in memory.
        let (db, _) = open_unchanged(&self.path)?;
        let checked = db.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
        if checked.is_ok_and(|result| result == "ok") {
            return Ok(true);
        }
        Err(self.overwritten())
    }

    fn overwritten(&self) -> LoadError {
        LoadError::io(format!(
            "{} was truncated or overwritten while it was being loaded; no segment was removed \
             since. Bring it back from a backup, or move it away with its files -wal and -shm; \
             then repeat the load",
            self.path.display()
        ))
    }

    fn unreadable(&self, error: io::Error) -> LoadError {
        LoadError::io(format!("{}: {error}", self.path.display())).caused_by(error)
    }
}

/// Creates an empty file with the rights that `SQLite` gives, unless there is a file.
fn create_if_missing(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o644);
    match options.open(resolve(path)?) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Returns the file that a path leads to, if there is one.
fn place(path: &Path) -> Option<DeviceInode> {
    fs::metadata(path).ok().map(|found| DeviceInode::of(&found))
}

/// Writes all committed rows from the log into the database file, and syncs it. Waits for programs
/// that read older rows, but keeps nobody from writing meanwhile.
pub(super) fn merge_log(db: &Connection, path: &Path) -> Result<(), LoadError> {
    for _ in 0..LOAD_LOG_ATTEMPTS {
        if merge_once(db).map_err(|error| sqlite_error(path, error))? {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(LOAD_LOG_POLL_MS));
    }
    Err(LoadError::locked(format!(
        "another program has been reading {} for long, so that the rows of segments are still in \
         its log; they were loaded, and will be removed by a load that is repeated when that \
         program has ended",
        path.display()
    )))
}

/// Writes as many rows from the log into the database file as other programs let it. Returns `true`
/// if these are all.
fn merge_once(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
        let (busy, frames, merged): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(busy == 0 && frames == merged)
    })
}

/// Opens a database to search it.
pub(crate) fn open_to_read(path: &Path) -> Result<Connection, LoadError> {
    check_to_read(path)?;
    check_owner(path)?;
    let (db, owner) = open_unchanged(path)?;
    match owner {
        Owner::Nobody | Owner::Ourselves { version: NO_TABLES } => {
            let name = path.display();
            Err(LoadError::unusable(format!(
                "{name} is empty; `urlspool load --into {name}` fills it"
            )))
        }
        owner => owner.check(path).map(|()| db),
    }
}

/// Opens a database to read it, and finds out whose it is.
fn open_unchanged(path: &Path) -> Result<(Connection, Owner), LoadError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |name: &Path, flags| -> rusqlite::Result<(Connection, Owner)> {
        let db = Connection::open_with_flags(name, flags)?;
        let owner = owner(&db)?;
        Ok((db, owner))
    };
    let error = match open(&plain(path), flags) {
        Ok(opened) => return Ok(opened),
        Err(error) => error,
    };
    let cannot_write = [ErrorCode::CannotOpen, ErrorCode::ReadOnly];
    if !error
        .sqlite_error_code()
        .is_some_and(|code| cannot_write.contains(&code))
    {
        return Err(sqlite_error(path, error));
    }
    // SQLite needs files beside the database, which this user cannot create. Without a log the
    // database is the whole.
    let has_log = fs::metadata(beside(path, "-wal")).is_ok_and(|log| 0 < log.len());
    if has_log {
        let name = path.display();
        return Err(LoadError::io(format!(
            "{name} has changes in {name}-wal that can be read only by a user who may write in its \
             folder; run this once as that user, or copy both files elsewhere"
        )));
    }
    let flags = flags | OpenFlags::SQLITE_OPEN_URI;
    open(&immutable(path), flags).map_err(|error| sqlite_error(path, error))
}

/// A URI of a database that nobody changes while it is read.
fn immutable(path: &Path) -> PathBuf {
    let is_kept = |byte: u8| byte.is_ascii_alphanumeric() || b"/.-_".contains(&byte);
    let path = encode(plain(path).as_os_str().as_bytes(), is_kept);
    format!("file:{path}?immutable=1").into()
}

/// The error of opening a file to write it. `SQLite` does not have the reason, which another
/// attempt gives.
fn open_error(path: &Path, error: rusqlite::Error) -> LoadError {
    match OpenOptions::new().append(true).create(true).open(path) {
        Err(reason) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => {
            not_opened(path, reason)
        }
        _ => sqlite_error(path, error),
    }
}

fn not_opened(path: &Path, error: io::Error) -> LoadError {
    LoadError::io(format!("cannot open {}: {error}", path.display())).caused_by(error)
}

/// A path that `SQLite` takes for the name of a file: neither as `:memory:`, nor as a URI
/// (`file:urls.db?mode=memory`).
fn plain(path: &Path) -> PathBuf {
    Path::new(".").join(path)
}

#[cfg(feature = "audit")]
/// Opens a database that was loaded, to add to it.
pub(crate) fn open_to_extend(path: &Path) -> Result<Connection, LoadError> {
    // A missing or empty file is reported by this, and not created.
    open_to_read(path)?;
    open_to_write(path)
}

fn prepare(db: &Connection, path: &Path) -> Result<(), LoadError> {
    let named = |error| sqlite_error(path, error);
    db.busy_timeout(Duration::from_secs(LOAD_LOCK_SECONDS))
        .map_err(named)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    // Before anything is written: the file may be another program's.
    let found = owner(db).map_err(named)?;
    found.check(path)?;
    if found == Owner::Nobody {
        // Before there is a log: one beside a file that is not marked is another program's.
        let mark = format!("PRAGMA application_id={APPLICATION_ID}");
        db.execute_batch(&mark).map_err(named)?;
    }
    use_log(db).map_err(named)?;
    db.execute_batch(&format!(
        "PRAGMA synchronous=FULL; PRAGMA cache_size=-{LOAD_CACHE_KIB};
         PRAGMA wal_autocheckpoint=16384; PRAGMA trusted_schema=OFF;
         PRAGMA foreign_keys=OFF; BEGIN IMMEDIATE"
    ))
    .map_err(named)?;
    // Another loader may have created the tables meanwhile.
    match owner(db).map_err(named)? {
        Owner::Nobody | Owner::Ourselves { version: NO_TABLES } => {
            create(db).map_err(named)?;
        }
        owner => owner.check(path)?,
    }
    db.execute_batch("COMMIT").map_err(named)
}

/// Turns the write-ahead log on. `SQLite` does not wait for another connection that does the same:
/// it reports "busy" at once.
fn use_log(db: &Connection) -> rusqlite::Result<()> {
    for _ in 0..LOAD_LOCK_SECONDS * 1_000 / LOAD_LOG_POLL_MS {
        match db.execute_batch("PRAGMA journal_mode=WAL") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                thread::sleep(Duration::from_millis(LOAD_LOG_POLL_MS));
            }
            result => return result,
        }
    }
    db.execute_batch("PRAGMA journal_mode=WAL")
}

fn create(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(&tables())?;
    db.execute_batch(&format!("PRAGMA user_version={VERSION}"))
}

/// The version of a database that was marked, and has no tables yet.
const NO_TABLES: i32 = 0;

/// The program that a database belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// It is empty, and no program has marked it.
    Nobody,
    /// This program made it, with tables of this version, or [`NO_TABLES`].
    Ourselves { version: i32 },
    /// A development version made it.
    Development,
    /// Another program made it.
    Other,
}

impl Owner {
    /// Checks that the tables can be read and written.
    fn check(self, path: &Path) -> Result<(), LoadError> {
        let name = path.display();
        match self {
            Owner::Nobody
            | Owner::Ourselves {
                version: NO_TABLES | VERSION,
            } => Ok(()),
            Owner::Development => Err(LoadError::unusable(format!(
                "{name} was made by a development version; load its records again, into a new \
                     file"
            ))),
            Owner::Ourselves { version } => Err(LoadError::unusable(format!(
                "{name} has tables of version {version}, which a newer urlspool made; this one \
                 knows version {VERSION}: use the newer one, or load into a new file"
            ))),
            Owner::Other => Err(LoadError::unusable(format!(
                "{name} is the database of another program; load into a new file"
            ))),
        }
    }
}

/// Checks whose a file is, before `SQLite` may change it or its logs. It is read without these.
fn check_owner(path: &Path) -> Result<(), LoadError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let found = Connection::open_with_flags(immutable(path), flags).and_then(|db| owner(&db));
    match found {
        Ok(Owner::Nobody) if has_foreign_log(path) => Owner::Other.check(path),
        Ok(found) => found.check(path),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            if is_begun(path) {
                Ok(())
            } else {
                Err(no_database(path))
            }
        }
        // The attempt to open it has the reason.
        Err(_) => Ok(()),
    }
}

fn owner(db: &Connection) -> rusqlite::Result<Owner> {
    let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i32>(0));
    let version = number("PRAGMA user_version")?;
    Ok(match number("PRAGMA application_id")? {
        APPLICATION_ID => Owner::Ourselves { version },
        DEVELOPMENT_ID => Owner::Development,
        0 if version == 0 && number("SELECT count(*) FROM sqlite_master")? == 0 => Owner::Nobody,
        _ => Owner::Other,
    })
}

/// Classifies an error of `SQLite`, and names the file.
pub(crate) fn sqlite_error(path: &Path, error: rusqlite::Error) -> LoadError {
    let name = path.display();
    let named = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => LoadError::locked(format!(
            "another program is writing to {name}; try again when it has ended"
        )),
        Some(ErrorCode::NotADatabase) => no_database(path),
        Some(ErrorCode::DatabaseCorrupt) => {
            LoadError::inconsistent(format!("{name} is damaged: {error}; load into a new file"))
        }
        Some(ErrorCode::DiskFull) => LoadError::io(format!(
            "cannot write {name}: {error}; make room, and run it again: what was committed stays"
        )),
        Some(ErrorCode::ReadOnly) => LoadError::io(format!(
            "cannot write {name}: {error}; run it as a user who may write there, or name another \
             file"
        )),
        Some(ErrorCode::CannotOpen) => LoadError::io(format!(
            "cannot open {name}; run it as a user who may read it, and its folder: {error}"
        )),
        _ => LoadError::io(format!("{name}: {error}")),
    };
    named.caused_by(error)
}
