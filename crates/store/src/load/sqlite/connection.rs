//! Opening a database, which may be missing, empty or already loaded, and creating its tables.
//!
//! The checks before `SQLite` opens a file modify neither the file nor its logs: it may belong to
//! another program.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::load::LoadError;
use crate::load::columns::{created_tables, records_view};
use crate::load::search::INDEX_OF_THREADS;
use crate::load::words::tokenizer;
use crate::stats::sender_address;
use urlspool_files::sink::{FileIdentity, resolve, with_end};
use urlspool_record::record::{Field, FieldType};
use urlspool_sources::walk::DeviceInode;
use urlspool_text::grammar::encode;
use urlspool_text::limits::{
    LOAD_CACHE_KIB, LOAD_HEADER_ATTEMPTS, LOAD_LENGTH_ATTEMPTS, LOAD_LOCK_SECONDS,
    LOAD_LOG_ATTEMPTS, LOAD_LOG_POLL_MS,
};

/// Size of the prepared statement cache; larger than the number of statements in the program.
const STATEMENTS: usize = 64;

/// The file of a database being loaded.
pub(super) struct DatabaseFile {
    pub(super) path: PathBuf,
    /// Identity of the opened file, to notice when another file takes its place.
    identity: DeviceInode,
}

/// Opens a database for a load. Creates the file and its tables if they are missing.
pub(super) fn open_to_load(path: &Path) -> Result<(Connection, DatabaseFile), LoadError> {
    check_to_write(path)?;
    // SQLite does not reveal which file it opened. A file that is at `path` before and after is
    // that file.
    let found = create_if_missing(path).and_then(|()| fs::metadata(path));
    let found = found.map_err(|error| {
        LoadError::io(format!("cannot open {}: {error}", path.display())).caused_by(error)
    })?;
    let database = DatabaseFile {
        path: path.to_owned(),
        identity: DeviceInode::of(&found),
    };
    check_owner(path)?;
    let db = Connection::open(plain(path)).map_err(|error| sqlite_error(path, error))?;
    let owner = prepare(&db).map_err(|error| sqlite_error(path, error))?;
    owner.check(path)?;
    database.check_place()?;
    Ok((db, database))
}

impl DatabaseFile {
    /// Checks that the path still refers to the opened file.
    pub(super) fn check_place(&self) -> Result<(), LoadError> {
        match fs::metadata(&self.path) {
            Ok(found) if DeviceInode::of(&found) == self.identity => Ok(()),
            _ => Err(LoadError::replaced(&self.path.display().to_string())),
        }
    }

    /// Checks that the file was not truncated or overwritten. If another load was killed while
    /// merging the log, finishes the merge.
    pub(super) fn check_whole(&self, db: &Connection) -> Result<(), LoadError> {
        for attempt in 1.. {
            self.check_place()?;
            let attempts = match self.damage()? {
                None => return Ok(()),
                // A merge writes the first page before the last ones, and may have been killed in
                // between.
                Some(ErrorCode::DatabaseCorrupt) => {
                    if merge_once(db).is_ok_and(|is_merged| is_merged) && self.is_mended()? {
                        return Ok(());
                    }
                    LOAD_LENGTH_ATTEMPTS
                }
                Some(_) => LOAD_HEADER_ATTEMPTS,
            };
            if attempts <= attempt {
                break;
            }
            thread::sleep(Duration::from_millis(LOAD_LOG_POLL_MS));
        }
        Err(self.overwritten())
    }

    /// Returns the error of reading the file without its log: `NotADatabase` if the header is
    /// missing, `DatabaseCorrupt` if the file has fewer pages than the header states.
    fn damage(&self) -> Result<Option<ErrorCode>, LoadError> {
        let pages = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        let asked = open_immutable(&self.path).and_then(|(db, owner)| {
            let bytes = db.query_row(pages, [], |row| row.get::<_, i64>(0))?;
            Ok((owner, bytes))
        });
        let len = fs::metadata(&self.path).map_or(0, |found| found.len());
        Ok(match asked {
            // SQLite counts a partial page as a page.
            Ok((Owner::Ourselves(_), bytes)) => {
                (len < bytes.cast_unsigned()).then_some(ErrorCode::DatabaseCorrupt)
            }
            Ok(_) => Some(ErrorCode::NotADatabase),
            Err(error) => match error.sqlite_error_code() {
                code @ Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => code,
                _ => return Err(sqlite_error(&self.path, error)),
            },
        })
    }

    /// Returns `true` if the file has all its pages after merging the log.
    ///
    /// # Errors
    ///
    /// The log did not contain all missing pages.
    fn is_mended(&self) -> Result<bool, LoadError> {
        if self.damage()?.is_some() {
            return Ok(false);
        }
        // Use another connection, which has no cached pages.
        let (db, _) = open_for_queries(&self.path)?;
        let checked = db.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
        if checked.is_ok_and(|result| result == "ok") {
            return Ok(true);
        }
        Err(self.overwritten())
    }

    fn overwritten(&self) -> LoadError {
        LoadError::io(format!(
            "{} was truncated or overwritten during the load, and no segment was removed since; \
             restore it from a backup, or move it away with its files -wal and -shm, then repeat \
             the load",
            self.path.display()
        ))
    }
}

/// Creates an empty file with the permissions that `SQLite` uses, unless the file exists.
fn create_if_missing(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o644);
    match options.open(resolve(path)?) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Writes all committed rows from the log into the database file and syncs it. Waits for programs
/// that read older rows, but does not block writers.
pub(super) fn merge_log(db: &Connection, path: &Path) -> Result<(), LoadError> {
    for _ in 0..LOAD_LOG_ATTEMPTS {
        if merge_once(db).map_err(|error| sqlite_error(path, error))? {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(LOAD_LOG_POLL_MS));
    }
    Err(LoadError::locked(format!(
        "another program has been reading {} for too long, so loaded rows are still in its log; \
         repeat the load after that program has ended, to remove the segments",
        path.display()
    )))
}

/// Writes rows from the log into the database file as far as other programs allow. Returns `true`
/// if all were written.
fn merge_once(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
        let (busy, frames, merged): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(busy == 0 && frames == merged)
    })
}

/// Opens a database for searching.
pub fn open_to_read(path: &Path) -> Result<Connection, LoadError> {
    let found = fs::metadata(path).map_err(|error| {
        let name = path.display();
        let reason = format!("{error}; create a database with `urlspool load --into {name}`");
        LoadError::unusable(format!("cannot read {name}: {reason}")).caused_by(error)
    })?;
    check_kind(path, &found)?;
    check_owner(path)?;
    let (db, owner) = open_for_queries(path)?;
    match owner {
        Owner::Nobody | Owner::Ourselves(NO_TABLES) => {
            let name = path.display();
            Err(LoadError::unusable(format!(
                "{name} is empty; fill it with `urlspool load --into {name}`"
            )))
        }
        owner => owner.check(path).map(|()| db),
    }
}

/// Opens a database for reading and determines its owner. Changes no rows. When the last connection
/// is closed, `SQLite` merges the log, which a killed writer may have left, into the database file
/// and removes it; if the user may not write the file, the log stays.
fn open_for_queries(path: &Path) -> Result<(Connection, Owner), LoadError> {
    let error = match open_and_ask(&plain(path), OpenFlags::SQLITE_OPEN_READ_WRITE) {
        Ok(opened) => return Ok(opened),
        Err(error) => error,
    };
    let (ErrorCode::CannotOpen | ErrorCode::ReadOnly) =
        error.sqlite_error_code().unwrap_or(ErrorCode::Unknown)
    else {
        return Err(sqlite_error(path, error));
    };
    // SQLite needs to create files next to the database, which this user may not. Without a log,
    // the database file is complete by itself.
    if holds(&with_end(path, "-wal")) {
        let name = path.display();
        return Err(LoadError::io(format!(
            "{name} has changes in {name}-wal, which needs write access to its folder; run this \
             once with that access, or copy both files elsewhere"
        )));
    }
    open_immutable(path).map_err(|error| sqlite_error(path, error))
}

fn open_and_ask(name: &Path, flags: OpenFlags) -> rusqlite::Result<(Connection, Owner)> {
    let db = Connection::open_with_flags(name, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.pragma_update(None, "query_only", true)?;
    add_functions(&db)?;
    let owner = owner(&db)?;
    Ok((db, owner))
}

/// Adds the function `is_sender(sender, text)` for the condition of a search for a sender.
pub(crate) fn add_functions(db: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_UTF8;
    db.create_scalar_function("is_sender", 2, flags, |arguments| {
        let (sender, text): (Option<String>, String) = (arguments.get(0)?, arguments.get(1)?);
        let text = text.to_lowercase();
        let address = text
            .strip_prefix('<')
            .and_then(|text| text.strip_suffix('>'));
        Ok(sender.is_some_and(|sender| match address {
            Some(address) => sender_address(&sender) == address,
            None => sender.to_lowercase().contains(&text),
        }))
    })
}

/// Opens a database as immutable, which ignores its logs.
fn open_immutable(path: &Path) -> rusqlite::Result<(Connection, Owner)> {
    let is_kept = |byte: u8| byte.is_ascii_alphanumeric() || b"/.-_".contains(&byte);
    let path = encode(plain(path).as_os_str().as_bytes(), is_kept);
    let uri = format!("file:{path}?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    open_and_ask(uri.as_ref(), flags)
}

/// Returns a path that `SQLite` cannot mistake for `:memory:` or for a URI such as
/// `file:urls.db?mode=memory`.
fn plain(path: &Path) -> PathBuf {
    Path::new(".").join(path)
}

/// Opens a loaded database to add tables or rows.
pub fn open_to_extend(path: &Path) -> Result<Connection, LoadError> {
    // Reports a missing or empty file instead of creating a database.
    open_to_read(path)?;
    open_to_load(path).map(|(db, _)| db)
}

/// Prepares a database for writing and creates missing tables. Returns the owner. Changes nothing
/// if the owner is another program.
fn prepare(db: &Connection) -> rusqlite::Result<Owner> {
    db.busy_timeout(Duration::from_secs(LOAD_LOCK_SECONDS))?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    match owner(db)? {
        // Mark the file before it has a log: a log next to an unmarked file counts as another
        // program's.
        Owner::Nobody => {
            db.execute_batch(&format!("PRAGMA application_id={APPLICATION_ID}"))?;
        }
        Owner::Ourselves(NO_TABLES | VERSION) => {}
        other => return Ok(other),
    }
    use_log(db)?;
    db.execute_batch(&format!(
        "PRAGMA synchronous=FULL; PRAGMA cache_size=-{LOAD_CACHE_KIB};
         PRAGMA wal_autocheckpoint=16384; PRAGMA trusted_schema=OFF;
         PRAGMA foreign_keys=OFF; BEGIN IMMEDIATE"
    ))?;
    // Another load may have created the tables in the meantime.
    let found = owner(db)?;
    if let Owner::Nobody | Owner::Ourselves(NO_TABLES) = found {
        db.execute_batch(&tables())?;
        db.execute_batch(&format!("PRAGMA user_version={VERSION}"))?;
    }
    db.execute_batch("COMMIT")?;
    Ok(found)
}

/// Turns on the write-ahead log. If another connection is doing the same, `SQLite` reports "busy"
/// at once instead of waiting.
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

/// Version of a database that is marked but has no tables yet.
const NO_TABLES: i32 = 0;

/// Program to which a database belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// The file is empty and unmarked.
    Nobody,
    /// This program, with this version of the tables or [`NO_TABLES`].
    Ourselves(i32),
    /// A development version of this program.
    Development,
    /// Another program.
    Other,
}

impl Owner {
    /// Checks that the tables can be read and written.
    fn check(self, path: &Path) -> Result<(), LoadError> {
        let reason = match self {
            Owner::Nobody | Owner::Ourselves(NO_TABLES | VERSION) => return Ok(()),
            Owner::Development => {
                "was made by a development version; load its records again, into a new file"
                    .to_owned()
            }
            Owner::Ourselves(version) => format!(
                "has tables of version {version}, made by a newer urlspool; use that one, or load \
                 into a new file with version {VERSION}"
            ),
            Owner::Other => "is a database of another program; name another file".to_owned(),
        };
        Err(LoadError::unusable(format!("{} {reason}", path.display())))
    }
}

/// Checks the owner of a file before `SQLite` may change it or its logs. Reads the file without its
/// logs.
fn check_owner(path: &Path) -> Result<(), LoadError> {
    match open_immutable(path) {
        Ok((_, Owner::Nobody)) if has_foreign_log(path) => match open_immutable(path) {
            // Another load has marked the file in the meantime, and then made its log.
            Ok((_, found @ Owner::Ourselves(_))) => found.check(path),
            _ => Owner::Other.check(path),
        },
        Ok((_, found)) => found.check(path),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            // `SQLite` will roll back a partly written first page that a crash left in a new
            // database.
            let journal = with_end(&place(path), JOURNAL);
            if holds(&journal) && is_journal_of_new_database(&journal) {
                Ok(())
            } else {
                Err(no_database(path))
            }
        }
        // Opening the file reports the reason.
        Err(_) => Ok(()),
    }
}

fn owner(db: &Connection) -> rusqlite::Result<Owner> {
    let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i32>(0));
    let version = number("PRAGMA user_version")?;
    Ok(match number("PRAGMA application_id")? {
        APPLICATION_ID if version == VERSION && number(HAS_FRAGMENTS)? == 0 => Owner::Development,
        APPLICATION_ID => Owner::Ourselves(version),
        DEVELOPMENT_ID => Owner::Development,
        0 if version == 0 && number("SELECT count(*) FROM sqlite_master")? == 0 => Owner::Nobody,
        _ => Owner::Other,
    })
}

/// Classifies an error of `SQLite` and adds the file name.
#[must_use]
pub fn sqlite_error(path: &Path, error: rusqlite::Error) -> LoadError {
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
            "cannot write {name}: {error}; free some space, and run it again: committed rows stay"
        )),
        Some(ErrorCode::ReadOnly) => LoadError::io(format!(
            "cannot write {name}: {error}; run it as a user with write access, or name another file"
        )),
        Some(ErrorCode::CannotOpen) => LoadError::io(format!(
            "cannot open {name}; run it as a user with read access to it and its folder: {error}"
        )),
        _ => LoadError::io(format!("{name}: {error}")),
    };
    named.caused_by(error)
}

/// Size in bytes of a file that `SQLite` treats as empty and would overwrite.
const TAKEN_FOR_EMPTY: u64 = 1;

/// Checks a file that is to be loaded into. It may be missing.
fn check_to_write(path: &Path) -> Result<(), LoadError> {
    match fs::metadata(path) {
        Ok(found) => check_kind(path, &found)?,
        Err(error) if error.kind() == ErrorKind::NotFound => check_folder(path, error)?,
        // Opening the file reports the reason.
        Err(_) => return Ok(()),
    }
    check_logs(path)
}

/// Creates the error for a file that is not a database.
fn no_database(path: &Path) -> LoadError {
    LoadError::unusable(format!(
        "{} is not a SQLite database; name another file, or create one with `urlspool scan --into \
         NEW.db PATH`",
        path.display()
    ))
}

fn check_kind(path: &Path, found: &fs::Metadata) -> Result<(), LoadError> {
    let name = path.display();
    let reason = if found.is_dir() {
        let file = path.join("urls.db");
        format!("is a folder; name a file, such as {}", file.display())
    } else if !found.is_file() {
        "is not a regular file; name a new file".to_owned()
    } else if found.len() == TAKEN_FOR_EMPTY {
        return Err(no_database(path));
    } else {
        return Ok(());
    };
    Err(LoadError::unusable(format!("{name} {reason}")))
}

/// Checks that no files occupy the names of the logs of a missing or empty database. `SQLite` would
/// delete them, even empty ones.
fn check_logs(path: &Path) -> Result<(), LoadError> {
    let database = place(path);
    for ending in LOGS {
        let log = with_end(&database, ending);
        let is_another_loader =
            ending == JOURNAL && database.exists() && is_journal_of_new_database(&log);
        // Examine the database last: if it has content by now, another load made the log.
        if fs::symlink_metadata(&log).is_ok() && !is_another_loader && !holds(&database) {
            return Err(LoadError::unusable(format!(
                "{} exists, but the log of the new database {} would overwrite it; move it away, \
                 or load into another file",
                log.display(),
                path.display()
            )));
        }
    }
    Ok(())
}

/// Returns `true` if `file` is the database or one of its logs, which may not exist yet.
#[must_use]
pub fn is_file_of_database(database: &Path, file: &FileIdentity) -> bool {
    paths_of_database(database).any(|path| FileIdentity::of(&path) == *file)
}

/// Returns the existing files of a database: the database and its logs.
pub fn files_of_database(database: &Path) -> impl Iterator<Item = DeviceInode> + use<> {
    let found = paths_of_database(database).filter_map(|path| fs::metadata(path).ok());
    found.map(|found| DeviceInode::of(&found))
}

fn paths_of_database(database: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let database = place(database);
    let ends = [""].into_iter().chain(LOGS);
    ends.map(move |ending| with_end(&database, ending))
}

/// Suffixes of a database's logs.
const LOGS: [&str; 3] = ["-wal", "-shm", JOURNAL];

/// Suffix of the rollback journal. An empty database can have no other log, and only while it is
/// being created.
const JOURNAL: &str = "-journal";

/// Returns `true` if an empty database has a log with content from another program. A load marks
/// the database file before creating a log.
fn has_foreign_log(path: &Path) -> bool {
    let database = place(path);
    let journal = with_end(&database, JOURNAL);
    holds(&with_end(&database, "-wal")) || holds(&journal) && !is_journal_of_new_database(&journal)
}

/// Returns `true` if the file exists and is not empty.
fn holds(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| 0 < found.len())
}

/// Returns `true` if the file starts like a rollback journal of a database that had no pages. Such
/// a journal is empty, or starts with the magic number (zeros until it is complete) and has page
/// count 0 at byte 16 (section 3 of `SQLite`'s file format).
fn is_journal_of_new_database(path: &Path) -> bool {
    // Reading a pipe would block forever.
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(20).read_to_end(&mut start));
    start.resize(20, 0);
    read.is_ok() && (start[..8] == JOURNAL_MAGIC || start[..8] == [0; 8]) && start[16..] == [0; 4]
}

const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Returns the target of a link, from which the names of the logs are derived.
fn place(path: &Path) -> PathBuf {
    resolve(path).unwrap_or_else(|_| path.to_owned())
}

/// Checks that the parent folder of a missing file exists.
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

/// `PRAGMA application_id` of databases of this program: `urlp` in ASCII.
const APPLICATION_ID: i32 = 0x7572_6C70;

/// `PRAGMA application_id` used by development versions: `urls`.
const DEVELOPMENT_ID: i32 = 0x7572_6C73;

/// Counts what was added to the tables last: fragments in the index. Development versions had none.
const HAS_FRAGMENTS: &str =
    "SELECT count(*) FROM sqlite_master WHERE name='texts' AND instr(sql, 'fragment')";

/// `PRAGMA user_version`: version of the tables.
const VERSION: i32 = 1;

/// Returns the statements that create the view `texts` of searchable texts and its full-text index.
/// The table `search` stores only the index and reads the texts from the view. Datasette looks for
/// `content="TABLE"` in its statement to offer a search of the view, and of `urls`, which has the
/// same row numbers.
fn search_tables() -> String {
    format!(
        "CREATE VIEW texts AS
  SELECT urls.id, urls.id AS rowid, urls.url || ifnull('#' || urls.fragment, '') AS url,
    urls.anchor, messages.subject, messages.sender, urls.context_before, urls.context_after
  FROM urls JOIN messages ON messages.id = urls.message;
CREATE VIRTUAL TABLE search USING fts5 /* content=\"urls\" */ ({SEARCHED}, \
content=\"texts\", content_rowid=\"id\", tokenize=\"{}\");",
        tokenizer()
    )
}

/// Columns of `texts` and `search`.
pub(super) const SEARCHED: &str = "url, anchor, subject, sender, context_before, context_after";

/// Returns the SQL type of a field's column.
fn sql_type(field: &Field) -> &'static str {
    match field.json_type {
        FieldType::Integer | FieldType::Boolean => "INTEGER",
        FieldType::Number => "REAL",
        FieldType::Text | FieldType::Texts | FieldType::Object | FieldType::List => "TEXT",
    }
}

/// Replacements for the placeholders in `tables.sql`.
const WORDS: [(&str, &str); 8] = [
    ("{id}", "INTEGER PRIMARY KEY"),
    ("{hash}", "BLOB"),
    ("{text}", "TEXT"),
    ("{number}", "INTEGER"),
    ("{unique key}", "TEXT NOT NULL UNIQUE"),
    ("{equal}", ""),
    ("{search}", ""),
    ("{without rowid}", " WITHOUT ROWID"),
];

/// Returns the statements that create all tables and views. `docs/load.md` describes them for
/// users.
pub(super) fn tables() -> String {
    [
        created_tables(sql_type, &WORDS),
        search_tables(),
        INDEX_OF_THREADS.to_owned(),
        records_view(),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_is_found_in_any_case_and_by_its_address() {
        let db = Connection::open_in_memory().unwrap();
        add_functions(&db).unwrap();
        for (sender, text, is_found) in [
            ("\u{141}ukasz <L@a.example>", "\u{142}ukasz", true),
            ("\u{141}ukasz <L@a.example>", "<l@a.example>", true),
            ("\u{141}ukasz <L@a.example>", "<@a.example>", false),
            ("joe at a.example (joe@a.example)", "<joe@a.example>", true),
            ("joe@a.example", "<joe@a.example>", true),
            ("joe@a.example", "jane", false),
        ] {
            let sql = "SELECT is_sender(?, ?)";
            let found: bool = db.query_row(sql, [sender, text], |row| row.get(0)).unwrap();
            assert_eq!(found, is_found, "{sender} {text}");
        }
    }
}
