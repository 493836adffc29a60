//! The connection to the database: prepared statements, and errors that name the database file.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row, ffi, params};

use crate::daemon::error::{DaemonError, REBUILD};

/// Number of prepared statements that are cached: more than the program has.
const STATEMENTS: usize = 64;

/// Bytes of the write that probes for space: more than `SQLite` writes at once.
const PROBE_BYTES: usize = 64 << 10;

/// A connection to one database file.
#[derive(Debug)]
pub(super) struct DbConnection {
    connection: Connection,
    path: PathBuf,
}

impl DbConnection {
    /// Opens the database, or creates an empty one.
    pub(super) fn open(path: &Path) -> Result<DbConnection, DaemonError> {
        let connection = Connection::open(path).map_err(|error| db_error(path, error))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let db = DbConnection {
            connection,
            path: path.to_owned(),
        };
        // A write-ahead log whose sync failed must not be synced again on close.
        let set = db
            .connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        db.name_file(set.map(|_| ()))?;
        Ok(db)
    }

    /// The error for content that contradicts itself.
    pub(super) fn damaged(&self, damage: &str) -> DaemonError {
        DaemonError::inconsistent(format!(
            "state database {} {damage}; {REBUILD}",
            self.path.display()
        ))
    }

    /// Path of the database file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs statements without parameters and results.
    pub(super) fn batch(&self, sql: &str) -> Result<(), DaemonError> {
        self.name_file(self.connection.execute_batch(sql))
    }

    /// Runs a statement. Returns the number of rows that it changed.
    pub(super) fn run(&self, sql: &str, params: impl Params) -> Result<usize, DaemonError> {
        self.name_file(
            self.connection
                .prepare_cached(sql)
                .and_then(|mut statement| statement.execute(params)),
        )
    }

    /// Number of rows that were changed since the database was opened.
    pub(super) fn changed_rows(&self) -> u64 {
        self.connection.total_changes()
    }

    /// Number of the last inserted row.
    pub(super) fn last_id(&self) -> i64 {
        self.connection.last_insert_rowid()
    }

    /// Returns `true` if a query has any row.
    pub(super) fn is_any(&self, sql: &str, params: impl Params) -> Result<bool, DaemonError> {
        self.name_file(
            self.connection
                .prepare_cached(sql)
                .and_then(|mut statement| statement.exists(params)),
        )
    }

    /// Reads the first row of a query, if there is one.
    pub(super) fn find<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, DaemonError> {
        let mut statement = self.name_file(self.connection.prepare_cached(sql))?;
        self.name_file(statement.query_row(params, read).optional())
    }

    /// Reads each row of a query.
    pub(super) fn each(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), DaemonError> {
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
    ) -> Result<Vec<T>, DaemonError> {
        let mut all = Vec::new();
        self.each(sql, params, |row| {
            all.push(read(row)?);
            Ok(())
        })?;
        Ok(all)
    }

    /// The value of `name` in the table `meta`.
    pub(super) fn meta_value(&self, name: &str) -> Result<Option<u64>, DaemonError> {
        let read = |row: &Row<'_>| row.get::<_, i64>(0).map(i64::cast_unsigned);
        self.find("SELECT value FROM meta WHERE name=?1", params![name], read)
    }

    /// Stores the value of `name` in the table `meta`.
    pub(super) fn set_meta_value(&self, name: &str, value: u64) -> Result<(), DaemonError> {
        self.run(
            "INSERT OR REPLACE INTO meta VALUES(?1,?2)",
            params![name, value.cast_signed()],
        )?;
        Ok(())
    }

    /// Copies the write-ahead log into the database and empties it.
    pub(super) fn checkpoint(&self) -> Result<(), DaemonError> {
        self.find("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// Closes the connection. The write-ahead log stays as it is.
    pub(super) fn close(self) -> Result<(), DaemonError> {
        self.connection
            .close()
            .map_err(|(_, error)| db_error(&self.path, error))
    }

    fn name_file<T>(&self, result: rusqlite::Result<T>) -> Result<T, DaemonError> {
        result.map_err(|error| db_error(&self.path, error))
    }
}

/// Classifies an error of `SQLite`. All but lack of space end the daemon.
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

/// The error of a failed write, after a probe beside the database.
fn write_error(path: &Path, message: String) -> DaemonError {
    let Some(error) = probe_write(path) else {
        return DaemonError::io(message);
    };
    let message = format!("{message}; a test write failed: {error}");
    if DaemonError::is_lack_of_space(&error) {
        DaemonError::out_of_space(message)
    } else {
        DaemonError::io(message)
    }
}

/// Writes a file beside the database. Returns the error, if that fails.
///
/// `SQLite` reports only ENOSPC as lack of space, and only if a write met it: the end of a quota (EDQUOT) and a limit on file
/// sizes (EFBIG) look to it like any other error. So the test write is as far from the file's start as its own writes.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_its_file_and_is_lack_of_space_only_on_a_full_disk() {
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
            matches!(of(full), DaemonError::OutOfSpace { .. })
                && matches!(of(damaged), DaemonError::Inconsistent { .. })
        );
        for code in failed {
            let error = of(code);
            assert!(matches!(error, DaemonError::Io { .. }), "{error:?}");
            assert!(
                error.to_string().contains(&format!("{}: ", path.display())),
                "{error}"
            );
        }
        assert!(!path.with_extension("probe").exists());
    }
}
