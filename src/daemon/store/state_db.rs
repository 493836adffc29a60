//! The state: one `SQLite` database, one connection.
//!
//! Everything between [`StateDb::begin`] and [`StateDb::commit`] is one transaction. The segment is synced before the commit,
//! and only then is the work done. Offsets only save work; the keys of messages decide what is a duplicate.
//!
//! The tables are in `schema.rs`, the queries in `mail_rows.rs`, `holders.rs`, `gone.rs`, `segment_rows.rs`, `sidecar_rows.rs` and
//! `purge.rs`.

use std::cell::Cell;
use std::path::Path;

use rusqlite::params;

use super::checksums::{RowChecksum, ShutdownCheck, check_shutdown_hash, write_shutdown_hash};
use super::connection::DbConnection;
use super::schema;
use crate::daemon::error::DaemonError;

/// The oldest `SQLite` without the WAL-reset bug: 3.51.3.
const SQLITE_VERSION: i32 = 3_051_003;

/// Maximum bytes of the write-ahead log that stay on disk after it was copied into the database.
const LOG_BYTES: i64 = 4 << 20;

/// The state database.
#[derive(Debug)]
pub(crate) struct StateDb {
    pub(super) connection: DbConnection,
    pub(super) checksum: RowChecksum,
    /// `true` if it is recorded which files hold which messages.
    pub(super) tracks_holders: Cell<bool>,
    instance: String,
}

/// Reaction to a database that does not exist or has no tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingTables {
    /// Create them: nothing was written yet.
    Create,
    /// Reject the database: there is output that it must describe.
    Reject,
}

impl StateDb {
    /// Opens the database, and checks its content unless it was shut down cleanly.
    pub(super) fn open(path: &Path, missing: MissingTables) -> Result<StateDb, DaemonError> {
        if rusqlite::version_number() < SQLITE_VERSION {
            return Err(DaemonError::io(format!(
                "SQLite {} can lose data; version 3.51.3 or newer is needed",
                rusqlite::version()
            )));
        }
        let shutdown = check_shutdown_hash(path)?;
        let connection = DbConnection::open(path)?;
        configure(&connection)?;
        match (schema::exists(&connection)?, missing) {
            (true, _) => {}
            (false, MissingTables::Create) => schema::create(&connection)?,
            (false, MissingTables::Reject) => {
                return Err(connection.damaged("has no tables"));
            }
        }
        schema::check_version(&connection)?;
        let state = StateDb {
            instance: read_instance(&connection)?,
            checksum: RowChecksum::load(&connection)?,
            connection,
            tracks_holders: Cell::new(false),
        };
        state.verify(shutdown)?;
        Ok(state)
    }

    /// The random name that distinguishes this state from others.
    pub(super) fn instance(&self) -> &str {
        &self.instance
    }

    /// Marks the database as shut down cleanly, and closes it.
    pub(super) fn close(self) -> Result<(), DaemonError> {
        self.connection
            .run("UPDATE meta SET value=1 WHERE name='clean'", [])?;
        self.connection.checkpoint()?;
        let path = self.connection.path().to_owned();
        self.connection.close()?;
        write_shutdown_hash(&path);
        Ok(())
    }

    /// Writes a copy into a new database, which the caller syncs. No transaction may be open.
    pub(super) fn copy_to(&self, path: &Path) -> Result<(), DaemonError> {
        let name = path.to_str().ok_or_else(|| {
            let path = path.display();
            DaemonError::io(format!(
                "{path}: the path is not UTF-8, which SQLite requires"
            ))
        })?;
        self.connection.run("VACUUM INTO ?1", params![name])?;
        Ok(())
    }

    /// Begins a transaction.
    pub(crate) fn begin(&self) -> Result<(), DaemonError> {
        self.connection.batch("BEGIN IMMEDIATE")
    }

    /// Commits the transaction: when this returns, it survives a power cut.
    pub(crate) fn commit(&self) -> Result<(), DaemonError> {
        self.checksum.save(&self.connection)?;
        self.connection.batch("COMMIT")
    }

    /// Number of rows that were changed since the database was opened.
    pub(super) fn changed_rows(&self) -> u64 {
        self.connection.changed_rows()
    }

    /// A value that is stored beside the tables.
    pub(crate) fn meta_value(&self, name: &str) -> Result<Option<u64>, DaemonError> {
        self.connection.meta_value(name)
    }

    /// Stores a value beside the tables.
    pub(crate) fn set_meta_value(&self, name: &str, value: u64) -> Result<(), DaemonError> {
        self.connection.set_meta_value(name, value)
    }

    /// The rows of a query, as text.
    #[cfg(test)]
    pub(super) fn rows(&self, sql: &str) -> Vec<String> {
        let read = |row: &rusqlite::Row<'_>| {
            let values = (0..row.as_ref().column_count())
                .map(|column| row.get::<_, rusqlite::types::Value>(column));
            Ok(format!(
                "{:?}",
                values.collect::<rusqlite::Result<Vec<_>>>()?
            ))
        };
        self.connection.all(sql, [], read).unwrap()
    }

    /// Checks the content, unless the last shutdown was clean, and marks the database as open.
    fn verify(&self, shutdown: ShutdownCheck) -> Result<(), DaemonError> {
        if self.meta_value("clean")? != Some(1) || shutdown == ShutdownCheck::Unknown {
            self.check_structure()?;
            self.checksum.verify(&self.connection)?;
        }
        // After a failed sync of the log the kernel may hold what the disk does not, without an error: it is written again.
        self.connection.checkpoint()?;
        self.connection
            .run("UPDATE meta SET value=0 WHERE name='clean'", [])?;
        Ok(())
    }

    fn check_structure(&self) -> Result<(), DaemonError> {
        let verdict: Option<String> = self
            .connection
            .find("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        let verdict = verdict.unwrap_or_default();
        // An unreadable page is an I/O error: its content may be right.
        if verdict.contains("unable to get the page") {
            let path = self.connection.path().display();
            return Err(DaemonError::io(format!("{path}: {verdict}")));
        }
        if verdict != "ok" {
            return Err(self.connection.damaged(&format!("is damaged: {verdict}")));
        }
        Ok(())
    }
}

fn configure(connection: &DbConnection) -> Result<(), DaemonError> {
    connection.batch(&format!(
        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA mmap_size=0;
         PRAGMA cell_size_check=ON; PRAGMA trusted_schema=OFF; PRAGMA foreign_keys=ON;
         PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16384; PRAGMA journal_size_limit={LOG_BYTES};
         PRAGMA wal_autocheckpoint=200;"
    ))
}

fn read_instance(connection: &DbConnection) -> Result<String, DaemonError> {
    let instance = connection.find("SELECT value FROM meta WHERE name='instance'", [], |row| {
        row.get(0)
    })?;
    instance.ok_or_else(|| connection.damaged("has no instance name"))
}
