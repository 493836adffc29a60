//! The state: one `SQLite` database with one connection, and the identifiers of mailboxes, messages
//! and files in it.
//!
//! All changes between two calls of [`StateDb::commit`] are one transaction. The segment is synced
//! before the commit, and only then is the work done. Offsets only save work; duplicates are
//! detected by the keys of messages.
//!
//! `SQLite` detects damage to its structure, not to its content. The state relies on the checksums
//! of the write-ahead log, `SQLite`'s check of the structure at each start, and a comparison with
//! the newest sidecars (`recovery.rs`).
//!
//! The queries are in `mail_rows.rs`, `gone.rs`, `sidecar_rows.rs`, `spools.rs` and `purge.rs`.

use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::types::{FromSql, ToSql};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row, ffi, params};
use twox_hash::XxHash3_64;

use crate::{DaemonError, REBUILD, Result};
use urlspool_files::sink::random_bytes;
use urlspool_text::hash::hash_pieces;

/// The oldest `SQLite` without the WAL-reset bug: 3.51.3.
const SQLITE_VERSION: i32 = 3_051_003;

/// Maximum size of the write-ahead log on disk after it was copied into the database.
const LOG_BYTES: i64 = 4 << 20;

/// Number of cached prepared statements: more than the program has.
const STATEMENTS: usize = 128;

/// Size of the write that probes for space: more than `SQLite` writes at once.
const PROBE_BYTES: usize = 64 << 10;

/// `PRAGMA application_id` of a state: `urld` in ASCII. Development versions had others.
const APPLICATION_ID: i64 = 0x7572_6C64;

/// `PRAGMA user_version`: the version of the tables. Other versions are rejected.
const VERSION: i64 = 1;

/// The statements that create all tables.
const TABLES: &str = include_str!("state_tables.sql");

/// The state database.
#[derive(Debug)]
pub struct StateDb {
    connection: Connection,
    path: PathBuf,
    /// `true` if the state records which files hold which messages.
    pub(super) tracks_holders: Cell<bool>,
    /// Total number of changed rows at the start of the transaction.
    changed_before: Cell<u64>,
    /// The first error. No commit may follow it.
    failure: RefCell<Option<DaemonError>>,
}

impl StateDb {
    /// Opens the database, and checks its structure. Creates missing tables, under a new name of
    /// the state: files of an earlier state then have another one.
    pub(super) fn open(path: &Path) -> Result<StateDb> {
        if rusqlite::version_number() < SQLITE_VERSION {
            return Err(DaemonError::io(format!(
                "SQLite {} can lose data; version 3.51.3 or newer is needed",
                rusqlite::version()
            )));
        }
        let connection = Connection::open(path).map_err(|error| db_error(path, error))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let state = StateDb {
            connection,
            path: path.to_owned(),
            tracks_holders: Cell::default(),
            changed_before: Cell::default(),
            failure: RefCell::default(),
        };
        state.configure()?;
        if !state.is_any("SELECT 1 FROM sqlite_master WHERE name='meta'", [])? {
            state.create_tables()?;
        }
        state.check_version()?;
        state.check_structure()?;
        // After a failed sync of the log, the kernel may hold data that the disk lacks, without an
        // error. So the data is written again.
        state.checkpoint()?;
        state.begin()?;
        Ok(state)
    }

    fn configure(&self) -> Result<()> {
        // A write-ahead log whose sync failed must not be synced again on close.
        let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        self.name_file(self.connection.set_db_config(no_checkpoint, true))?;
        // Otherwise a statement that compares an indexed column is compiled again for each value.
        let keep_plans = DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
        self.name_file(self.connection.set_db_config(keep_plans, true))?;
        self.batch(&format!(
            "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; \
             PRAGMA mmap_size=0;
             PRAGMA cell_size_check=ON; PRAGMA trusted_schema=OFF; PRAGMA foreign_keys=ON;
             PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16384; \
             PRAGMA journal_size_limit={LOG_BYTES};
             PRAGMA wal_autocheckpoint=200;"
        ))
    }

    /// Creates the tables, and a random name for the state.
    fn create_tables(&self) -> Result<()> {
        let instance = random_bytes::<16>().map_err(|error| {
            DaemonError::io(format!("cannot read random numbers: {error}")).caused_by(error)
        })?;
        self.batch("BEGIN IMMEDIATE")?;
        self.batch(TABLES)?;
        self.run(
            "INSERT INTO meta VALUES('instance', ?1)",
            params![data_encoding::HEXLOWER.encode(&instance)],
        )?;
        self.batch(&format!(
            "PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={VERSION};
             INSERT INTO segment VALUES(1,0,'',0,0,0); COMMIT"
        ))
    }

    /// Rejects tables of another version.
    fn check_version(&self) -> Result<()> {
        let number = |sql| self.find(sql, [], |row| row.get::<_, i64>(0));
        let path = self.path.display();
        if number("PRAGMA application_id")? != Some(APPLICATION_ID) {
            return Err(DaemonError::inconsistent(format!(
                "state database {path} was made by a development version; set new folders in \
                 state.dir and output.dir, and the mail is read again"
            )));
        }
        match number("PRAGMA user_version")? {
            Some(VERSION) => Ok(()),
            found => Err(DaemonError::inconsistent(format!(
                "state database {path} has tables of version {}, made by a newer urlspool; use \
                 that one, or set new folders in state.dir and output.dir",
                found.unwrap_or_default()
            ))),
        }
    }

    /// The random name that distinguishes this state from others.
    pub(super) fn instance(&self) -> Result<String> {
        let found = self.meta("instance")?;
        found.ok_or_else(|| self.damaged("has no instance name"))
    }

    /// Commits the transaction, and closes the database.
    pub(super) fn close(self) -> Result<()> {
        self.batch("COMMIT")?;
        self.checkpoint()?;
        let closed = self.connection.close();
        closed.map_err(|(_, error)| db_error(&self.path, error))
    }

    /// Writes a copy into a new database, which the caller syncs. Commits pending changes.
    pub(super) fn copy_to(&self, path: &Path) -> Result<()> {
        let name = path.to_str().ok_or_else(|| {
            let path = path.display();
            DaemonError::io(format!(
                "{path}: the path is not UTF-8, which SQLite requires"
            ))
        })?;
        self.batch("COMMIT")?;
        let copied = self.run("VACUUM INTO ?1", params![name]);
        // The state itself is sound.
        self.take_failure();
        self.begin()?;
        copied
    }

    /// Starts the first transaction, or the next one after a commit.
    fn begin(&self) -> Result<()> {
        self.batch("BEGIN IMMEDIATE")?;
        self.changed_before.set(self.connection.total_changes());
        Ok(())
    }

    /// Commits the transaction, which survives a power cut once this function returns. Starts the
    /// next one.
    pub(super) fn commit(&self) -> Result<()> {
        self.batch("COMMIT")?;
        self.begin()
    }

    /// Returns `true` if rows were changed since the last commit.
    pub(super) fn has_changes(&self) -> bool {
        self.changed_before.get() < self.connection.total_changes()
    }

    /// Checks that the transaction contains all changes since the last commit. `SQLite` rolls it
    /// back after some errors, even of reads; later changes would then be committed without the
    /// earlier ones.
    ///
    /// # Errors
    ///
    /// The first error since the last call of [`StateDb::take_failure`], or there is no
    /// transaction.
    pub(super) fn check_open(&self) -> Result<()> {
        if let Some(failure) = self.failure.borrow().as_ref() {
            return Err(failure.clone());
        }
        if self.connection.is_autocommit() {
            let path = self.path.display();
            return Err(DaemonError::io(format!(
                "{path}: SQLite rolled changes back"
            )));
        }
        Ok(())
    }

    /// Takes the first error since the last call.
    pub(super) fn take_failure(&self) -> Option<DaemonError> {
        self.failure.take()
    }

    /// The number `name` in the table `meta`.
    pub fn meta_value(&self, name: &str) -> Result<Option<u64>> {
        Ok(self.meta::<i64>(name)?.map(i64::cast_unsigned))
    }

    /// Stores the number `name` in the table `meta`.
    pub fn set_meta_value(&self, name: &str, value: u64) -> Result<()> {
        self.set_meta(name, value.cast_signed())
    }

    /// The value of `name` in the table `meta`.
    pub fn meta<T: FromSql>(&self, name: &str) -> Result<Option<T>> {
        let sql = "SELECT value FROM meta WHERE name=?1";
        self.find(sql, params![name], |row| row.get(0))
    }

    /// Stores the value of `name` in the table `meta`.
    pub fn set_meta(&self, name: &str, value: impl ToSql) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO meta VALUES(?1,?2)";
        self.run(sql, params![name, value])
    }

    /// The error for content that contradicts itself.
    pub(super) fn damaged(&self, damage: &str) -> DaemonError {
        let path = self.path.display();
        self.failed(DaemonError::inconsistent(format!(
            "state database {path} {damage}; {REBUILD}"
        )))
    }

    /// Runs statements that have no parameters and no results.
    pub(super) fn batch(&self, sql: &str) -> Result<()> {
        self.name_file(self.connection.execute_batch(sql))
    }

    /// Runs a statement.
    pub(super) fn run(&self, sql: &str, params: impl Params) -> Result<()> {
        self.count_changes(sql, params).map(|_| ())
    }

    /// Runs a statement. Returns the number of changed rows.
    pub(super) fn count_changes(&self, sql: &str, params: impl Params) -> Result<usize> {
        let statement = self.connection.prepare_cached(sql);
        self.name_file(statement.and_then(|mut statement| statement.execute(params)))
    }

    /// ID of the last inserted row.
    pub(super) fn last_id(&self) -> i64 {
        self.connection.last_insert_rowid()
    }

    /// Returns `true` if a query has any row.
    pub(super) fn is_any(&self, sql: &str, params: impl Params) -> Result<bool> {
        let statement = self.connection.prepare_cached(sql);
        self.name_file(statement.and_then(|mut statement| statement.exists(params)))
    }

    /// Reads the first row of a query, if there is one.
    pub(super) fn find<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.name_file(self.connection.prepare_cached(sql))?;
        self.name_file(statement.query_row(params, read).optional())
    }

    /// Reads each row of a query.
    pub(super) fn each(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        let mut statement = self.name_file(self.connection.prepare_cached(sql))?;
        let mut rows = self.name_file(statement.query(params))?;
        while let Some(row) = self.name_file(rows.next())? {
            self.name_file(read(row))?;
        }
        Ok(())
    }

    /// Collects the rows of a query.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut all = Vec::new();
        self.each(sql, params, |row| {
            all.push(read(row)?);
            Ok(())
        })?;
        Ok(all)
    }

    /// The rows of a query, as text.
    #[cfg(test)]
    pub(super) fn rows(&self, sql: &str) -> Vec<String> {
        let read = |row: &Row<'_>| {
            let values = (0..row.as_ref().column_count())
                .map(|column| row.get::<_, rusqlite::types::Value>(column));
            Ok(format!(
                "{:?}",
                values.collect::<rusqlite::Result<Vec<_>>>()?
            ))
        };
        self.all(sql, [], read).unwrap()
    }

    /// Copies the write-ahead log into the database and empties it.
    fn checkpoint(&self) -> Result<()> {
        let truncate = "PRAGMA wal_checkpoint(TRUNCATE)";
        self.find(truncate, [], |_| Ok(())).map(|_| ())
    }

    fn check_structure(&self) -> Result<()> {
        let verdict: Option<String> = self.find("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        let verdict = verdict.unwrap_or_default();
        // An unreadable page is an I/O error, since its content may be right.
        if verdict.contains("unable to get the page") {
            let path = self.path.display();
            return Err(DaemonError::io(format!("{path}: {verdict}")));
        }
        if verdict != "ok" {
            return Err(self.damaged(&format!("is damaged: {verdict}")));
        }
        Ok(())
    }

    fn name_file<T>(&self, result: rusqlite::Result<T>) -> Result<T> {
        result.map_err(|error| self.failed(db_error(&self.path, error)))
    }

    fn failed(&self, error: DaemonError) -> DaemonError {
        self.failure.borrow_mut().get_or_insert(error.clone());
        error
    }
}

/// Reads an unsigned number. `SQLite` stores the same bits as a signed one.
pub(super) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column).map(i64::cast_unsigned)
}

/// Reads an unsigned number that may be NULL.
pub(super) fn optional(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(i64::cast_unsigned))
}

pub(super) fn hash128(row: &Row<'_>, column: usize) -> rusqlite::Result<Hash128> {
    row.get(column).map(Hash128::from_be_bytes)
}

/// Classifies an error of `SQLite`. All errors but lack of space end the daemon.
fn db_error(path: &Path, error: rusqlite::Error) -> DaemonError {
    // A failed read is never lack of space, even if the disk is full.
    let is_read = matches!(
        error.sqlite_extended_error_code(),
        Some(ffi::SQLITE_IOERR_READ | ffi::SQLITE_IOERR_SHORT_READ)
    );
    let code = error.sqlite_error_code();
    let mut message = format!("{}: {error}", path.display());
    if let Some(code) = error.sqlite_extended_error_code() {
        message.push_str(&format!(" (SQLite error code {code})"));
    }
    let created = match code {
        Some(ErrorCode::DiskFull) => DaemonError::out_of_space(message),
        // An error without a code is a value of an unexpected type.
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) | None => {
            DaemonError::inconsistent(format!("{message}; {REBUILD}"))
        }
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if !is_read => {
            write_error(path, message)
        }
        _ => DaemonError::io(message),
    };
    created.caused_by(error)
}

/// Classifies a failed write, after a probe next to the database.
fn write_error(path: &Path, message: String) -> DaemonError {
    let Some(error) = probe_write(path) else {
        return DaemonError::io(message);
    };
    let message = format!("{message}; a test write failed: {error}");
    DaemonError::of_system(&error, message)
}

/// Writes a file next to the database. Returns the error if that fails.
///
/// `SQLite` reports only ENOSPC as lack of space, and only if a write met it. An exhausted quota
/// (EDQUOT) and a limit on file sizes (EFBIG) look like any other error. The test write starts at
/// the end of the database or its log, because a limit depends on the offset.
fn probe_write(path: &Path) -> Option<std::io::Error> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let len = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let end = len(path).max(len(log.as_ref()));
    let probe = path.with_extension("probe");
    let written = File::create(&probe).and_then(|file| {
        file.write_all_at(&vec![0; PROBE_BYTES], end)?;
        file.sync_data()
    });
    // If it cannot be removed, the next probe overwrites it.
    let _ = fs::remove_file(&probe);
    written.err()
}

/// A 128-bit hash: of a mailbox, a spool, or a message within its mailbox.
pub(crate) type Hash128 = u128;

/// Number of a mailbox in the state.
pub(crate) type MailboxId = i64;

/// Stored bytes of a message's hash. Among ten million messages, the chance that two are mistaken
/// for one is 1 in 10^20.
pub(super) const STORED_KEY_BYTES: usize = 14;

/// The stored bytes of a message's hash.
pub(super) type StoredKey = [u8; STORED_KEY_BYTES];

/// Returns the first bytes of `hash`, which are stored.
pub(super) fn stored_key(hash: Hash128) -> StoredKey {
    let mut bytes = [0; STORED_KEY_BYTES];
    bytes.copy_from_slice(&hash.to_be_bytes()[..STORED_KEY_BYTES]);
    bytes
}

/// Concatenates digests.
pub(super) fn digest_bytes(digests: &[u128]) -> Vec<u8> {
    digests
        .iter()
        .flat_map(|digest| digest.to_be_bytes())
        .collect()
}

/// Splits the output of [`digest_bytes`].
pub(super) fn digests_in(bytes: &[u8]) -> Vec<u128> {
    let (digests, _) = bytes.as_chunks();
    digests.iter().copied().map(u128::from_be_bytes).collect()
}

/// Returns the hash of a path.
pub(crate) fn path_key(path: &Path) -> Hash128 {
    hash_pieces(&[path.as_os_str().as_encoded_bytes()])
}

/// Returns the key of a message within a mailbox. `digest` is the hash of its content with the
/// state's secret key.
pub(crate) fn message_key(mailbox: Hash128, digest: u128) -> Hash128 {
    hash_pieces(&[&mailbox.to_be_bytes(), &digest.to_be_bytes()])
}

/// The first 48 bits of a message's hash: enough to find the message in its mailbox.
pub(crate) fn message_link(hash: Hash128) -> u64 {
    (hash >> 80) as u64
}

/// The stored keys of messages with this [`message_link`].
pub(super) fn linked_keys(link: u64) -> RangeInclusive<StoredKey> {
    let first = Hash128::from(link) << 80;
    stored_key(first)..=stored_key(first | (Hash128::MAX >> 48))
}

/// Identity of a file, which differs even from a later file with the same inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    pub dev: u64,
    pub ino: u64,
    /// Nanoseconds since 1970; 0 if the file system does not record birth times.
    pub btime: i64,
}

impl FileId {
    /// The key in the state of an mbox within a mailbox.
    pub(crate) fn hash_in(self, mailbox: Hash128) -> u64 {
        self.next_pass(mailbox, 0)
    }

    /// A hash of the identity.
    pub(crate) fn hash(self) -> u64 {
        let numbers = [self.dev, self.ino, self.btime.cast_unsigned()];
        XxHash3_64::oneshot(numbers.map(u64::to_le_bytes).as_flattened())
    }

    /// The pass over an mbox after the pass `last`, which is 0 before the first pass over this file
    /// in this mailbox.
    pub(crate) fn next_pass(self, mailbox: Hash128, last: u64) -> u64 {
        // The two halves of the key.
        let (low, high) = (mailbox as u64, (mailbox >> 64) as u64);
        let numbers = [self.hash(), last, low, high];
        XxHash3_64::oneshot(numbers.map(u64::to_le_bytes).as_flattened())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn an_error_names_its_file_and_means_lack_of_space_only_on_a_full_disk() {
        let path = std::env::temp_dir().join(format!("urlspool-db-{}.db", std::process::id()));
        let of = |code| {
            db_error(
                &path,
                rusqlite::Error::SqliteFailure(ffi::Error::new(code), None),
            )
        };
        let (full, damaged) = (ffi::SQLITE_FULL, ffi::SQLITE_CORRUPT);
        let failed = [
            ffi::SQLITE_IOERR_WRITE,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_CANTOPEN,
        ];
        assert!(
            of(full).kind == ErrorKind::OutOfSpace && of(damaged).kind == ErrorKind::Inconsistent
        );
        for code in failed {
            let error = of(code);
            assert_eq!(error.kind, ErrorKind::Io);
            assert!(
                error.to_string().contains(&format!("{}: ", path.display())),
                "{error}"
            );
        }
        assert!(!path.with_extension("probe").exists());
    }

    #[test]
    fn a_link_finds_its_message_and_no_other() {
        for key in [
            0,
            1 << 80,
            (1 << 80) - 1,
            Hash128::MAX,
            0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF,
        ] {
            let range = linked_keys(message_link(key));
            let holds = |key| range.contains(&stored_key(key));
            assert!(holds(key), "{key:x}");
            assert!(!holds(key ^ (1 << 80)), "{key:x}");
        }
    }
}
