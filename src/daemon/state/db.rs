//! The connection to the database: statements that are prepared once, and errors that say which file they are of.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row};

use crate::daemon::fault::Fault;

/// Statements that are kept prepared: all there are.
const STATEMENTS: usize = 64;

/// A connection, and the path that its faults name.
#[derive(Debug)]
pub(super) struct Db {
    connection: Connection,
    path: PathBuf,
}

impl Db {
    /// Opens the database, or makes an empty one.
    pub(super) fn open(path: &Path) -> Result<Db, Fault> {
        let connection = Connection::open(path).map_err(|error| fault(path, &error))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let db = Db { connection, path: path.to_owned() };
        // A log whose sync failed must not be synced again on the way out.
        let set = db.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        db.named(set.map(|_| ()))?;
        Ok(db)
    }

    /// What is in it contradicts itself or the output.
    pub(super) fn inconsistent(&self, what: &str) -> Fault {
        Fault::inconsistent(&format!("{}: {what}", self.path.display()))
    }

    /// The database's file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs statements that give nothing.
    pub(super) fn batch(&self, sql: &str) -> Result<(), Fault> {
        self.named(self.connection.execute_batch(sql))
    }

    /// Runs a statement. Gives the number of rows that it changed.
    pub(super) fn run(&self, sql: &str, params: impl Params) -> Result<usize, Fault> {
        self.named(self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(params)))
    }

    /// The number of the row that was inserted last.
    pub(super) fn last_id(&self) -> i64 {
        self.connection.last_insert_rowid()
    }

    /// Whether a query gives any row.
    pub(super) fn is_any(&self, sql: &str, params: impl Params) -> Result<bool, Fault> {
        self.named(self.connection.prepare_cached(sql).and_then(|mut statement| statement.exists(params)))
    }

    /// What is read from a query's first row, if it gives one.
    pub(super) fn find<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Fault> {
        let mut statement = self.named(self.connection.prepare_cached(sql))?;
        self.named(statement.query_row(params, read).optional())
    }

    /// Reads each row of a query.
    pub(super) fn each(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), Fault> {
        let mut statement = self.named(self.connection.prepare_cached(sql))?;
        let mut rows = self.named(statement.query(params))?;
        while let Some(row) = self.named(rows.next())? {
            self.named(read(row))?;
        }
        Ok(())
    }

    /// What is read from each row of a query.
    pub(super) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Fault> {
        let mut all = Vec::new();
        self.each(sql, params, |row| {
            all.push(read(row)?);
            Ok(())
        })?;
        Ok(all)
    }

    /// Closes it. What still stands in the log stays there.
    pub(super) fn close(self) -> Result<(), Fault> {
        self.connection.close().map_err(|(_, error)| fault(&self.path, &error))
    }

    fn named<T>(&self, done: rusqlite::Result<T>) -> Result<T, Fault> {
        done.map_err(|error| fault(&self.path, &error))
    }
}

/// What an error means. All but a full disk ends the daemon.
fn fault(path: &Path, error: &rusqlite::Error) -> Fault {
    let code = error.sqlite_extended_error_code().map_or_else(String::new, |code| format!(" (SQLite's code {code})"));
    let message = format!("{}: {error}{code}", path.display());
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Fault::Full(message),
        // Without a code it is a value that is none of ours.
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) | None => Fault::inconsistent(&message),
        _ => Fault::Io(message),
    }
}
