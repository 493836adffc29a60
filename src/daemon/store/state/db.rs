//! The connection to the database: statements that are prepared once, and errors that say which file they are of.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row, ffi};

use crate::daemon::error::DaemonError;

/// Statements that are kept prepared: all there are.
const STATEMENTS: usize = 64;

/// Bytes that are written to see whether that can be done: more than `SQLite` writes at once.
const PROBE_BYTES: usize = 64 << 10;

/// A connection, and the path that its faults name.
#[derive(Debug)]
pub(crate) struct Db {
    connection: Connection,
    path: PathBuf,
}

impl Db {
    /// Opens the database, or makes an empty one.
    pub(crate) fn open(path: &Path) -> Result<Db, DaemonError> {
        let connection = Connection::open(path).map_err(|error| fault(path, &error))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let db = Db {
            connection,
            path: path.to_owned(),
        };
        // A log whose sync failed must not be synced again on the way out.
        let set = db
            .connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        db.named(set.map(|_| ()))?;
        Ok(db)
    }

    /// What is in it contradicts itself or the output.
    pub(crate) fn inconsistent(&self, what: &str) -> DaemonError {
        DaemonError::inconsistent(&format!("{}: {what}", self.path.display()))
    }

    /// The database's file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs statements that give nothing.
    pub(crate) fn batch(&self, sql: &str) -> Result<(), DaemonError> {
        self.named(self.connection.execute_batch(sql))
    }

    /// Runs a statement. Gives the number of rows that it changed.
    pub(crate) fn run(&self, sql: &str, params: impl Params) -> Result<usize, DaemonError> {
        self.named(
            self.connection
                .prepare_cached(sql)
                .and_then(|mut statement| statement.execute(params)),
        )
    }

    /// The number of the row that was inserted last.
    pub(crate) fn last_id(&self) -> i64 {
        self.connection.last_insert_rowid()
    }

    /// Whether a query gives any row.
    pub(crate) fn is_any(&self, sql: &str, params: impl Params) -> Result<bool, DaemonError> {
        self.named(
            self.connection
                .prepare_cached(sql)
                .and_then(|mut statement| statement.exists(params)),
        )
    }

    /// What is read from a query's first row, if it gives one.
    pub(crate) fn find<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, DaemonError> {
        let mut statement = self.named(self.connection.prepare_cached(sql))?;
        self.named(statement.query_row(params, read).optional())
    }

    /// Reads each row of a query.
    pub(crate) fn each(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), DaemonError> {
        let mut statement = self.named(self.connection.prepare_cached(sql))?;
        let mut rows = self.named(statement.query(params))?;
        while let Some(row) = self.named(rows.next())? {
            self.named(read(row))?;
        }
        Ok(())
    }

    /// What is read from each row of a query.
    pub(crate) fn all<T>(
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

    /// Closes it. What still stands in the log stays there.
    pub(crate) fn close(self) -> Result<(), DaemonError> {
        self.connection
            .close()
            .map_err(|(_, error)| fault(&self.path, &error))
    }

    fn named<T>(&self, done: rusqlite::Result<T>) -> Result<T, DaemonError> {
        done.map_err(|error| fault(&self.path, &error))
    }
}

/// What an error means. All but want of room ends the daemon.
fn fault(path: &Path, error: &rusqlite::Error) -> DaemonError {
    let extended = error.sqlite_extended_error_code();
    let code = extended.map_or_else(String::new, |code| format!(" (SQLite's code {code})"));
    let message = format!("{}: {error}{code}", path.display());
    // That is no want of room, however full the disk is.
    let is_read = matches!(
        extended,
        Some(ffi::SQLITE_IOERR_READ | ffi::SQLITE_IOERR_SHORT_READ)
    );
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => DaemonError::OutOfSpace(message),
        // Without a code it is a value that is none of ours.
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) | None => {
            DaemonError::inconsistent(&message)
        }
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if !is_read => match refused(path)
        {
            Some(why) if DaemonError::is_want_of_room(&why) => {
                DaemonError::OutOfSpace(format!("{message}; beside it: {why}"))
            }
            Some(why) => DaemonError::Io(format!("{message}; beside it: {why}")),
            None => DaemonError::Io(message),
        },
        _ => DaemonError::Io(message),
    }
}

/// Why nothing can be written where the database is, if so.
///
/// `SQLite` tells of ENOSPC alone, and only if a write met it: the end of a quota (EDQUOT) and a limit of file size
/// (EFBIG) are to it as any other error. So something is written beside it, as far from a file's start as it writes.
fn refused(path: &Path) -> Option<std::io::Error> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let len = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let (probe, end) = (
        path.with_extension("probe"),
        len(path).max(len(log.as_ref())),
    );
    let written = File::create(&probe).and_then(|file| {
        file.write_all_at(&vec![0; PROBE_BYTES], end)?;
        file.sync_data()
    });
    // One that cannot be removed is overwritten next time.
    let _ = fs::remove_file(&probe);
    written.err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_its_file_and_is_no_want_of_room_where_there_is_room() {
        let path = std::env::temp_dir().join(format!("urlspool-db-{}.db", std::process::id()));
        let of = |code| {
            fault(
                &path,
                &rusqlite::Error::SqliteFailure(ffi::Error::new(code), None),
            )
        };
        let (full, damaged) = (ffi::SQLITE_FULL, ffi::SQLITE_CORRUPT);
        let failed = [
            ffi::SQLITE_IOERR_WRITE,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_CANTOPEN,
        ];
        assert!(
            matches!(of(full), DaemonError::OutOfSpace(_))
                && matches!(of(damaged), DaemonError::Inconsistent(_))
        );
        for code in failed {
            let fault = of(code);
            assert!(matches!(fault, DaemonError::Io(_)), "{fault:?}");
            assert!(
                fault.to_string().contains(&format!("{}: ", path.display())),
                "{fault}"
            );
        }
        assert!(!path.with_extension("probe").exists());
    }
}
