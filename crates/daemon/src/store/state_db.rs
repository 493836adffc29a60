//! The state: one `SQLite` database with one connection; the identifiers of mailboxes, messages and
//! files in it; and the rows about mail: mailboxes, read messages, files, positions in mboxes,
//! growing messages, and messages that are skipped because the process died of them.
//!
//! All changes between two calls of [`StateDb::commit`] are one transaction. The segment is synced
//! before the commit, and only then is the work done. Offsets only save work; duplicates are
//! detected by the keys of messages.
//!
//! `SQLite` detects damage to its structure, not to its content. The state relies on the checksums
//! of the write-ahead log, `SQLite`'s check of the structure at each start, and a comparison with
//! the newest sidecars (`recovery.rs`).
//!
//! Other queries are in `gone.rs`, `recovery.rs`, `spools.rs` and `purge.rs`.

use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::types::{FromSql, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row, ffi, params};
use serde::{Deserialize, Serialize};
use serde_json::json;
use twox_hash::XxHash3_64;

use crate::status::FailedFile;
use crate::{DaemonError, REBUILD, Result};
use urlspool_files::sink::{random_bytes, with_end};
use urlspool_text::hash::hash_pieces;

/// The oldest `SQLite` without the WAL-reset bug: 3.51.3.
const SQLITE_VERSION: i32 = 3_051_003;

/// Maximum size of the write-ahead log on disk after it was copied into the database.
const LOG_BYTES: i64 = 4 << 20;

/// Number of cached prepared statements: more than the program has.
const STATEMENTS: usize = 128;

/// Size of the write that probes for space: more than `SQLite` writes at once.
const PROBE_BYTES: usize = 64 << 10;

/// `PRAGMA application_id` of a state: `urlz` in ASCII. Development versions had others.
const APPLICATION_ID: i64 = 0x7572_6C7A;

/// `PRAGMA user_version`: the version of the tables. Other versions are rejected.
const VERSION: i64 = 1;

/// The statements that create all tables.
const TABLES: &str = include_str!("state_tables.sql");

/// The state database.
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
        // A text of bytes, which need not be UTF-8.
        let name = ValueRef::Text(path.as_os_str().as_encoded_bytes());
        self.batch("COMMIT")?;
        let copied = self.run("VACUUM INTO ?1", [ToSqlOutput::Borrowed(name)]);
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
            match probe_write(path) {
                Some(error) => {
                    let message = format!("{message}; a test write failed: {error}");
                    DaemonError::of_system(&error, message)
                }
                None => DaemonError::io(message),
            }
        }
        _ => DaemonError::io(message),
    };
    created.caused_by(error)
}

/// Writes a file next to the database, after a failed write. Returns the error if that fails too.
///
/// `SQLite` reports only ENOSPC as lack of space, and only if a write met it. An exhausted quota
/// (EDQUOT) and a limit on file sizes (EFBIG) look like any other error. The test write starts at
/// the end of the database or its log, because a limit depends on the offset.
fn probe_write(path: &Path) -> Option<std::io::Error> {
    let log = with_end(path, "-wal");
    let len = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let end = len(path).max(len(&log));
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

/// A holder: a file, or one pass over an mbox, whose messages count as present.
pub(crate) type HolderKey = u64;

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

/// Values of the column `many` of the table `mailbox`.
pub(crate) const MANY: i64 = 1;
pub(crate) const MIXED: i64 = 2;

/// Maximum lengths of one file that are compared with its content. A file that was rewritten and
/// has grown has more than one.
const EARLIER_LENGTHS: u32 = 8;

/// Position up to which an mbox was read. It only saves work: its hashes decide whether it is still
/// valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MboxCursor {
    /// Offset of the last message that was read.
    pub first: u64,
    /// Offset of the end of that message.
    pub last: u64,
    /// Hash of the bytes from `first` to `last`.
    pub guard: u64,
    /// Hash of the file's first bytes.
    pub head: u64,
    /// Size of the file when it was read completely; 0 while a part is unread.
    pub size: u64,
    /// Modification time when it was read completely.
    pub mtime: i64,
    #[serde(skip)]
    pub look: FileLook,
    /// The holder of the messages read since the last rewrite. 0 if holders were not tracked, and
    /// in sidecars: a rebuild reads all files again.
    #[serde(skip)]
    pub pass: HolderKey,
}

/// A file that was read completely, or an mbox and how far it was read.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ReadFile {
    pub key: u64,
    /// Link to the file's only message.
    pub message: Option<u64>,
    /// Hash of the path, and length of the content, if the file's message may grow.
    pub length: Option<(u64, u64)>,
    pub position: Option<MboxCursor>,
}

/// A file's path and time of change when it was read, hashed to 32 bits each; 0 if they are not
/// known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileLook(pub u64);

/// The kind of change of a file whose size and modification time are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookChange {
    /// No change.
    None,
    /// The path differs, which explains the change of the inode. Also used if the earlier look is
    /// unknown.
    Renamed,
    /// The content may differ.
    Content,
}

impl FileLook {
    /// The kind of change from this look to `now`.
    pub fn change(self, now: FileLook) -> LookChange {
        if self.0 as u32 == now.0 as u32 {
            LookChange::None
        } else if self.0 >> 32 == now.0 >> 32 {
            LookChange::Content
        } else {
            LookChange::Renamed
        }
    }
}

/// Parses the position in a row of the table `file`. A damaged position makes the mbox be read from
/// its start.
pub(super) fn position_of(text: &str) -> MboxCursor {
    serde_json::from_str(text).unwrap_or_default()
}

/// A message that was read at the end of a file and may continue. It is recognised by its first
/// bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrowingMessage {
    /// Number of bytes that were read.
    pub len: u64,
    /// Hash of the bytes that were read.
    pub hash: u128,
    /// Identifiers of the URLs found in those bytes, and of the numbers of filtered ones
    /// and duplicates.
    pub ids: Vec<u128>,
    /// Digests under which these URLs were written, if holders are tracked.
    pub digests: Vec<u128>,
}

impl StateDb {
    /// Returns the number of a mailbox that has a file on the file system `dev`. Adds the mailbox
    /// if it is new.
    pub fn mailbox(&self, key: Hash128, spool: Hash128, dev: u64) -> Result<MailboxId> {
        let (key, spool, dev) = (key.to_be_bytes(), spool.to_be_bytes(), dev.cast_signed());
        let added = "INSERT INTO mailbox VALUES(NULL,?1,?2,?3,0,NULL) ON CONFLICT(key) DO UPDATE
             SET spool=?2, dev=?3, gone=NULL WHERE (spool, dev)<>(?2, ?3) OR gone IS NOT NULL";
        let changed = self.count_changes(added, params![key, spool, dev])?;
        let sql = "SELECT id FROM mailbox WHERE key=?1";
        let id = self.find(sql, params![key], |row| row.get(0))?;
        let id = id.ok_or_else(|| self.damaged("lacks a mailbox"))?;
        if 0 < changed {
            self.mark_changed(id)?;
        }
        Ok(id)
    }

    /// Returns `true` if a message was read.
    pub fn is_seen(&self, mailbox: MailboxId, key: Hash128) -> Result<bool> {
        self.is_any(
            "SELECT 1 FROM seen WHERE mailbox=?1 AND key=?2",
            params![mailbox, stored_key(key)],
        )
    }

    /// Records that a message was read. Returns `true` if it was not recorded before.
    pub fn mark_seen(&self, mailbox: MailboxId, key: Hash128) -> Result<bool> {
        let sql = "INSERT OR IGNORE INTO seen VALUES(?1,?2)";
        Ok(0 < self.count_changes(sql, params![mailbox, stored_key(key)])?)
    }

    /// Records that the records of a message are in the open segment.
    pub fn mark_in_open_segment(&self, mailbox: MailboxId, key: Hash128) -> Result<()> {
        self.run(
            "INSERT INTO fresh VALUES(?1,?2)",
            params![mailbox, key.to_be_bytes()],
        )
    }

    /// The look of a file that was read completely in its present version; `None` if it was not.
    pub fn file_look(&self, key: u64) -> Result<Option<FileLook>> {
        let sql = "SELECT look FROM file WHERE key=?1";
        self.find(sql, params![key.cast_signed()], |row| {
            Ok(FileLook(unsigned(row, 0)?))
        })
    }

    /// Updates the look of a renamed file if the file is known. No sidecar needs it.
    pub fn set_file_look(&self, key: u64, look: FileLook) -> Result<()> {
        let params = params![key.cast_signed(), look.0.cast_signed()];
        self.run("UPDATE file SET look=?2 WHERE key=?1", params)
    }

    /// Records that a file was read.
    pub fn mark_file_read(
        &self,
        mailbox: MailboxId,
        file: &ReadFile,
        look: FileLook,
    ) -> Result<()> {
        // Sidecars do not contain passes over mboxes.
        let holder = file.position.map_or(file.key, |cursor| cursor.pass);
        let key = file.key.cast_signed();
        let (place, len) = file.length.unzip();
        let [message, place, len] = [file.message, place, len].map(|n| n.map(u64::cast_signed));
        let position = file.position.map(|cursor| json!(cursor).to_string());
        let [holder, look] = [holder, look.0].map(u64::cast_signed);
        self.run(
            "INSERT OR REPLACE INTO file VALUES(?1,?2,?3,?4,?5,?6,?7,?8,NULL)",
            params![key, mailbox, message, place, len, position, holder, look],
        )?;
        self.run("INSERT OR IGNORE INTO fresh_file VALUES(?1)", params![key])
    }

    /// Returns the recorded lengths of the file at a place, longest first, at most
    /// [`EARLIER_LENGTHS`].
    pub fn earlier_lengths(&self, place: u64) -> Result<Vec<u64>> {
        let sql = "SELECT DISTINCT len FROM file WHERE place=?1 ORDER BY len DESC LIMIT ?2";
        let params = params![place.cast_signed(), EARLIER_LENGTHS];
        self.all(sql, params, |row| unsigned(row, 0))
    }

    /// The position up to which the mbox with this key was read.
    pub fn cursor(&self, key: u64) -> Result<Option<MboxCursor>> {
        let sql = "SELECT position, holder, look FROM file WHERE key=?1";
        self.find(sql, params![key.cast_signed()], |row| {
            Ok(MboxCursor {
                pass: unsigned(row, 1)?,
                look: FileLook(unsigned(row, 2)?),
                ..position_of(&row.get::<_, String>(0)?)
            })
        })
    }

    /// Stores the position up to which the mbox with this key was read.
    pub fn put_cursor(&self, key: u64, mailbox: MailboxId, cursor: &MboxCursor) -> Result<()> {
        let file = ReadFile {
            key,
            position: Some(*cursor),
            ..ReadFile::default()
        };
        self.mark_file_read(mailbox, &file, cursor.look)
    }

    /// Makes the mbox with this key be read from its start.
    pub fn reset_cursor(&self, key: u64) -> Result<()> {
        let key = key.cast_signed();
        let reset = "UPDATE file SET position='' WHERE key=?1";
        if 0 < self.count_changes(reset, params![key])? {
            self.run("INSERT OR IGNORE INTO fresh_file VALUES(?1)", params![key])?;
        }
        Ok(())
    }

    /// The growing messages of a mailbox.
    pub fn growing_messages(&self, mailbox: MailboxId) -> Result<Vec<GrowingMessage>> {
        self.all(
            "SELECT len, hash, ids, digests FROM tail WHERE mailbox=?1",
            params![mailbox],
            |row| {
                Ok(GrowingMessage {
                    len: unsigned(row, 0)?,
                    hash: hash128(row, 1)?,
                    ids: digests_in(&row.get::<_, Vec<u8>>(2)?),
                    digests: digests_in(&row.get::<_, Vec<u8>>(3)?),
                })
            },
        )
    }

    /// Stores a growing message.
    pub fn put_growing(&self, mailbox: MailboxId, message: &GrowingMessage) -> Result<()> {
        let (len, hash) = (message.len.cast_signed(), message.hash.to_be_bytes());
        let (ids, digests) = (digest_bytes(&message.ids), digest_bytes(&message.digests));
        let sql = "INSERT OR REPLACE INTO tail VALUES(?1,?2,?3,?4,?5)";
        self.run(sql, params![mailbox, len, hash, ids, digests])?;
        self.mark_changed(mailbox)
    }

    /// Removes a message that has continued, or that is now followed by another message.
    pub fn remove_growing(&self, mailbox: MailboxId, message: &GrowingMessage) -> Result<()> {
        let (len, hash) = (message.len.cast_signed(), message.hash.to_be_bytes());
        let sql = "DELETE FROM tail WHERE mailbox=?1 AND len=?2 AND hash=?3";
        self.run(sql, params![mailbox, len, hash])?;
        self.mark_changed(mailbox)
    }

    /// Removes all growing messages of a mailbox.
    pub(super) fn remove_all_growing(&self, mailbox: MailboxId) -> Result<()> {
        self.run("DELETE FROM tail WHERE mailbox=?1", params![mailbox])
    }

    /// Records that some files of a mailbox contain many messages ([`MANY`]), or that an archive
    /// contains messages of this and other mailboxes ([`MIXED`]). In the latter case a missing
    /// mailbox cannot be detected.
    pub fn raise_many(&self, mailbox: MailboxId, many: i64) -> Result<()> {
        let sql = "UPDATE mailbox SET many=?2 WHERE id=?1 AND many<?2";
        match self.count_changes(sql, params![mailbox, many])? {
            0 => Ok(()),
            _ => self.mark_changed(mailbox),
        }
    }

    /// Adds a mailbox and its growing messages to the next sidecar.
    pub(super) fn mark_changed(&self, mailbox: MailboxId) -> Result<()> {
        self.run(
            "INSERT OR IGNORE INTO fresh_mailbox VALUES(?1)",
            params![mailbox],
        )
    }
}

/// Number of times that the process dies of a message before the message is set aside.
const DEATHS: u64 = 3;

impl StateDb {
    /// Records that this version of the program sets a message aside. `place` is for the operator.
    pub fn set_aside(&self, mailbox: MailboxId, key: Hash128, place: &str) -> Result<()> {
        self.run(
            "INSERT OR REPLACE INTO set_aside VALUES(?1,?2,?3,?4)",
            params![key.to_be_bytes(), mailbox, place, env!("CARGO_PKG_VERSION")],
        )
    }

    /// The messages that are set aside. Messages set aside by another version of the program are
    /// forgotten, and the files of their mailboxes count as unread: this version may be able to
    /// read them.
    pub fn open_set_aside(&self) -> Result<Vec<Hash128>> {
        let version = params![env!("CARGO_PKG_VERSION")];
        let of_others = "mailbox IN (SELECT mailbox FROM set_aside WHERE version<>?1)";
        let read = format!("DELETE FROM file WHERE position IS NULL AND {of_others}");
        self.run(&read, version)?;
        self.run(
            &format!("UPDATE file SET position='' WHERE {of_others}"),
            version,
        )?;
        let all = self.all("SELECT key FROM set_aside", [], |row| hash128(row, 0))?;
        self.run("DELETE FROM set_aside WHERE version<>?1", version)?;
        Ok(all)
    }

    /// Forgets that messages were set aside: they will be read.
    pub fn forget_set_aside(&self, keys: &[Hash128]) -> Result<()> {
        for key in keys {
            self.run(
                "DELETE FROM set_aside WHERE key=?1",
                params![key.to_be_bytes()],
            )?;
        }
        Ok(())
    }

    /// The messages that are set aside, for the status.
    pub(super) fn set_aside_status(&self) -> Result<Vec<FailedFile>> {
        self.all("SELECT place FROM set_aside ORDER BY place", [], |row| {
            Ok(FailedFile {
                path: row.get(0)?,
                why: format!("this message crashed the program {DEATHS} times"),
                tries: DEATHS,
                quarantined: true,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::store::tests::StoreFixture;

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

    #[test]
    fn another_version_retries_messages_that_were_set_aside() {
        let fixture = StoreFixture::new("set-aside");
        let state = fixture.state();
        let mailboxes = [7, 8].map(|key| state.mailbox(key, 7, 1).unwrap());
        for (mailbox, key) in mailboxes.into_iter().zip([5, 6]) {
            let place = "/var/mail/a: message at byte 9";
            state.set_aside(mailbox, key, place).unwrap();
            let file = ReadFile {
                key: key as u64,
                message: None,
                length: None,
                position: None,
            };
            let look = FileLook::default();
            state.mark_file_read(mailbox, &file, look).unwrap();
        }
        let files = state.set_aside_status().unwrap();
        let first = (files[0].tries, files[0].quarantined);
        assert_eq!((files.len(), first), (2, (3, true)));
        let older = "UPDATE set_aside SET version='0' WHERE mailbox=1";
        state.batch(older).unwrap();
        assert_eq!(state.open_set_aside().unwrap(), [5, 6]);
        let is_read = [5, 6].map(|key| state.file_look(key).unwrap().is_some());
        assert_eq!(is_read, [false, true]);
        assert_eq!(state.open_set_aside().unwrap(), [6]);
        state.forget_set_aside(&[6]).unwrap();
        assert_eq!(state.set_aside_status().unwrap().len(), 0);
    }
}
