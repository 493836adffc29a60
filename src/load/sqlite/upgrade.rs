//! The upgrade of tables that an earlier version of the program made, in one transaction, and the
//! backup of the database before it.
//!
//! Tables of other names, such as those of audits, are not touched.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::file_check::beside;
use super::schema::{VERSION, search_tables};
use crate::load::columns::{CLEAN_KEY, records_view};
use crate::load::tracking::clean_key;
use crate::load::{LoadError, OldTables, TablesUpgrade};
use crate::sink::resolve;

/// The first version of the tables.
pub(super) const FIRST_VERSION: i32 = 1;

/// The steps, each from one version of the tables to the next.
const STEPS: [fn(&Connection) -> rusqlite::Result<()>; (VERSION - FIRST_VERSION) as usize] =
    [add_clean_keys_and_fields, add_contexts];

/// Upgrades the tables of `db` from `version` to the present one. The caller has begun a
/// transaction with the lock for writing, and commits it.
///
/// Before the end of the transaction the database as it was is complete and synced in a file beside
/// it, unless `old` is [`OldTables::UpgradeWithoutBackup`]. `named` adds the file to an error.
pub(super) fn upgrade(
    db: &Connection,
    path: &Path,
    version: i32,
    old: OldTables,
    named: impl Fn(rusqlite::Error) -> LoadError,
) -> Result<TablesUpgrade, LoadError> {
    let name = path.display();
    let backup = match old {
        OldTables::Refuse => {
            return Err(LoadError::unusable(format!(
                "{name} has tables of version {version}, and a dry run does not upgrade them to \
                 version {VERSION}; `urlspool load --into {name} /dev/null` does"
            )));
        }
        OldTables::Upgrade => Some(write_backup(path, version)?),
        OldTables::UpgradeWithoutBackup => None,
    };
    run_steps(db, version).map_err(named)?;
    let backup = backup
        .map(|backup| backup.name(path, version))
        .transpose()?;
    Ok(TablesUpgrade {
        target: name.to_string(),
        from: version,
        to: VERSION,
        backup,
    })
}

fn run_steps(db: &Connection, version: i32) -> rusqlite::Result<()> {
    for (from, step) in (FIRST_VERSION..).zip(STEPS) {
        if version <= from {
            step(db)?;
        }
    }
    renew_view(db)?;
    db.execute_batch(&format!("PRAGMA user_version={VERSION}"))
}

/// From version 1 to 2. Some programs made one of the columns, or both, in tables of version 1.
fn add_clean_keys_and_fields(db: &Connection) -> rusqlite::Result<()> {
    if !has_column(db, "messages", "fields")? {
        db.execute_batch("ALTER TABLE messages ADD COLUMN fields TEXT")?;
    }
    if !has_column(db, "links", CLEAN_KEY)? {
        db.execute_batch("ALTER TABLE links ADD COLUMN clean_key TEXT")?;
        fill_clean_keys(db)?;
    }
    Ok(())
}

/// From version 2 to 3. The index is built anew, since no column can be added to it.
fn add_contexts(db: &Connection) -> rusqlite::Result<()> {
    if has_column(db, "urls", "context_before")? {
        return Ok(());
    }
    db.execute_batch(
        "ALTER TABLE urls ADD COLUMN context_before TEXT;
         ALTER TABLE urls ADD COLUMN context_after TEXT;
         DROP TABLE search; DROP VIEW texts",
    )?;
    db.execute_batch(&search_tables())?;
    db.execute_batch("INSERT INTO search(search) VALUES('rebuild')")
}

fn has_column(db: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS(SELECT 1 FROM pragma_table_info(?1) WHERE name=?2)";
    db.query_row(sql, [table, column], |row| row.get(0))
}

/// Computes the column of all links.
fn fill_clean_keys(db: &Connection) -> rusqlite::Result<()> {
    let mut next = db.prepare("SELECT id, key FROM links WHERE ?1 < id ORDER BY id LIMIT 1")?;
    let mut update = db.prepare("UPDATE links SET clean_key=?2 WHERE id=?1")?;
    let mut last = i64::MIN;
    let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
    while let Some((id, key)) = next.query_row([last], row).optional()? {
        update.execute(rusqlite::params![id, clean_key(&key)])?;
        last = id;
    }
    Ok(())
}

/// Replaces the view `records`, unless somebody has removed it.
fn renew_view(db: &Connection) -> rusqlite::Result<()> {
    let sql = "SELECT EXISTS(SELECT 1 FROM sqlite_master WHERE type='view' AND name='records')";
    if db.query_row(sql, [], |row| row.get(0))? {
        db.execute_batch("DROP VIEW records")?;
        db.execute_batch(&records_view())?;
    }
    Ok(())
}

/// A backup that is complete and does not have its name yet.
struct UnnamedBackup {
    /// The name with `.next` after it, in place of what an upgrade that was killed left there.
    next: PathBuf,
}

/// Writes the committed rows of a database into a file beside it, and syncs it.
fn write_backup(path: &Path, version: i32) -> Result<UnnamedBackup, LoadError> {
    let next = beside(&backup_name(path, version, 1), ".next");
    let failed = |reason: &dyn std::fmt::Display| {
        LoadError::io(format!(
            "cannot write {}, the backup before the upgrade: {reason}; make room, or add \
             `--no-backup` if you have another one. Nothing was changed",
            next.display()
        ))
    };
    create_private(&next).map_err(|error| failed(&error).caused_by(error))?;
    let copied = copy(path, &next);
    copied.map_err(|error| failed(&error).caused_by(error))?;
    let finished = fs::metadata(path)
        .and_then(|found| fs::set_permissions(&next, found.permissions()))
        .and_then(|()| File::open(&next)?.sync_all());
    finished.map_err(|error| failed(&error).caused_by(error))?;
    Ok(UnnamedBackup { next })
}

/// Creates an empty file that only this user may read, in place of one that was left there.
fn create_private(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(path).map(drop)
}

/// Copies the last committed state, by a connection of its own: that of the upgrade is within a
/// transaction, which keeps all others from writing meanwhile.
fn copy(path: &Path, next: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(Path::new(".").join(path), flags)?;
    let next = Path::new(".").join(next);
    // A path that is not UTF-8 cannot be a value of SQL.
    let Some(next) = next.to_str() else {
        return Err(rusqlite::Error::InvalidPath(next));
    };
    db.execute("VACUUM INTO ?1", [next]).map(drop)
}

impl UnnamedBackup {
    /// Gives the backup a name that is free. Returns it.
    fn name(self, path: &Path, version: i32) -> Result<PathBuf, LoadError> {
        let names = (1..).map(|number| backup_name(path, version, number));
        let mut free = names.filter(|name| fs::symlink_metadata(name).is_err());
        let Some(name) = free.next() else {
            return Err(LoadError::io("all names of backups are taken"));
        };
        let folder = name.parent().unwrap_or(Path::new("."));
        let renamed = fs::rename(&self.next, &name).and_then(|()| File::open(folder)?.sync_all());
        renamed.map_err(|error| {
            let (next, name) = (self.next.display(), name.display());
            LoadError::io(format!("cannot rename {next} to {name}: {error}")).caused_by(error)
        })?;
        Ok(name)
    }
}

/// The name of a backup: `urls.db.v1.backup`, or `urls.db.v1.backup2` if that is taken.
fn backup_name(path: &Path, version: i32, number: u32) -> PathBuf {
    let database = resolve(path).unwrap_or_else(|_| path.to_owned());
    let number = match number {
        1 => String::new(),
        number => number.to_string(),
    };
    beside(&database, &format!(".v{version}.backup{number}"))
}
