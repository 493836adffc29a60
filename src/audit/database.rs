//! The database of an audit: the file that was loaded, and errors that name it.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};

use super::error::{AuditError, PlanError};
use super::schema::{META_VERSION, TABLES, VERSION};
use crate::load::{open_to_extend, open_to_read, sqlite_error};

/// A loaded database, opened for a step of an audit.
#[derive(Debug)]
pub(super) struct AuditDb {
    /// The connection.
    pub(super) db: Connection,
    path: PathBuf,
}

impl AuditDb {
    /// Opens a loaded database to plan an audit. Creates the tables of audits if they are missing.
    pub(super) fn open_to_plan(path: &Path) -> Result<AuditDb, AuditError> {
        let audit = AuditDb {
            db: open_to_extend(path)?,
            path: path.to_owned(),
        };
        if audit.has_tables()? {
            audit.check_version()?;
        } else {
            audit.run("BEGIN IMMEDIATE")?;
            audit.run(TABLES)?;
            audit.set_meta(META_VERSION, &VERSION.to_string())?;
            audit.run("COMMIT")?;
        }
        Ok(audit)
    }

    /// Opens a database with a plan, to store results.
    pub(super) fn open_to_write(path: &Path) -> Result<AuditDb, AuditError> {
        let audit = AuditDb {
            db: open_to_extend(path)?,
            path: path.to_owned(),
        };
        audit.require_plan()?;
        Ok(audit)
    }

    /// Opens a database with a plan, to read it.
    pub(super) fn open_to_read(path: &Path) -> Result<AuditDb, AuditError> {
        let audit = AuditDb {
            db: open_to_read(path)?,
            path: path.to_owned(),
        };
        audit.require_plan()?;
        Ok(audit)
    }

    /// Runs statements without results.
    pub(super) fn run(&self, sql: &str) -> Result<(), AuditError> {
        self.named(self.db.execute_batch(sql))
    }

    /// Returns a value of `audit_meta`.
    pub(super) fn meta(&self, name: &str) -> Result<Option<String>, AuditError> {
        let sql = "SELECT value FROM audit_meta WHERE name=?1";
        self.named(self.db.query_row(sql, [name], |row| row.get(0)).optional())
    }

    /// Sets a value of `audit_meta`.
    pub(super) fn set_meta(&self, name: &str, value: &str) -> Result<(), AuditError> {
        let sql = "INSERT INTO audit_meta VALUES(?1, ?2)
          ON CONFLICT(name) DO UPDATE SET value=excluded.value";
        self.named(self.db.execute(sql, params![name, value]).map(drop))
    }

    /// Returns the number of URLs that are planned.
    pub(super) fn planned_urls(&self) -> Result<u64, AuditError> {
        let sql = "SELECT count(DISTINCT url) FROM audit_links WHERE planned";
        let count = self.db.query_row(sql, [], |row| row.get::<_, i64>(0));
        self.named(count).map(i64::cast_unsigned)
    }

    /// Adds the name of the file to an error.
    pub(super) fn named<T>(&self, result: rusqlite::Result<T>) -> Result<T, AuditError> {
        result.map_err(|error| sqlite_error(&self.path, &error).into())
    }

    fn require_plan(&self) -> Result<(), AuditError> {
        if !self.has_tables()? {
            let database = self.path.clone();
            return Err(PlanError::NoPlan { database }.into());
        }
        self.check_version()
    }

    fn has_tables(&self) -> Result<bool, AuditError> {
        let sql = "SELECT EXISTS(SELECT 1 FROM sqlite_master WHERE name='audit_meta')";
        self.named(self.db.query_row(sql, [], |row| row.get(0)))
    }

    fn check_version(&self) -> Result<(), AuditError> {
        let found = self.meta(META_VERSION)?.unwrap_or_default();
        if found == VERSION.to_string() {
            return Ok(());
        }
        let error = PlanError::TableVersion {
            database: self.path.clone(),
            found,
            needed: VERSION,
        };
        Err(error.into())
    }
}
