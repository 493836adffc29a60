//! The target `SQLite`: one file, which plain SQL can read.
//!
//! The rows of a batch are written in one transaction, which begins with the lock for writing: between its begin and its
//! commit nobody else changes the tables, so that identifiers can be kept in memory.

mod connection;
mod link_updates;
mod removal;
mod row_ids;
mod schema;

#[cfg(feature = "audit")]
pub(crate) use connection::open_to_extend;
pub(crate) use connection::{open_to_read, sqlite_error};
#[cfg(test)]
pub(super) use schema::tokenizer;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Params, params};

use super::dates::{is_plausible, today};
use super::error::LoadError;
use super::target::{ChangedRows, LoadRow, RowOutcome, SegmentId, SegmentStatus, Target};
use crate::record::GoneLine;
use link_updates::LinkUpdates;
use row_ids::{MessageTexts, RowIds};

/// A database file that is being loaded.
pub(super) struct SqliteTarget {
    db: Connection,
    path: PathBuf,
    batch: SqliteBatch,
    /// `true` from [`Target::begin_replacing`] to the commit.
    is_replacing: bool,
}

/// Values that hold until the end of a transaction.
#[derive(Debug, Default)]
struct SqliteBatch {
    /// The day of loading.
    today: String,
    /// Identifier of the next row of `urls`.
    next_url: i64,
    ids: RowIds,
    links: LinkUpdates,
    /// `true` if rows were removed.
    has_removed: bool,
}

const INSERT_URL: &str = "INSERT INTO urls VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23,?24,?25,?26,?27,?28,?29,?30,?31,?32,?33)";

const INSERT_TEXT: &str =
    "INSERT INTO search(rowid, url, anchor, subject, sender) VALUES(?1,?2,?3,?4,?5)";

impl SqliteTarget {
    /// Opens a database, or creates it.
    pub(super) fn open(path: &Path) -> Result<SqliteTarget, LoadError> {
        Ok(SqliteTarget {
            db: connection::open_to_write(path)?,
            path: path.to_owned(),
            batch: SqliteBatch::default(),
            is_replacing: false,
        })
    }

    fn run(&self, sql: &str, params: impl Params) -> Result<usize, LoadError> {
        self.named(
            self.db
                .prepare_cached(sql)
                .and_then(|mut statement| statement.execute(params)),
        )
    }

    fn named<T>(&self, result: rusqlite::Result<T>) -> Result<T, LoadError> {
        result.map_err(|error| sqlite_error(&self.path, &error))
    }

    fn known_url(&self, key: &[u8; 16]) -> rusqlite::Result<Option<i64>> {
        let mut statement = self
            .db
            .prepare_cached("SELECT id FROM urls WHERE record_key=?1")?;
        statement
            .query_row(params![key], |row| row.get(0))
            .optional()
    }

    /// Adds the row of a record that is not there.
    fn add(&mut self, row: &LoadRow<'_>) -> rusqlite::Result<i64> {
        let record = row.record;
        let batch = &mut self.batch;
        let source = batch.ids.source(&self.db, row)?;
        let message = batch.ids.message(&self.db, row)?;
        let cited = record
            .message
            .date
            .as_deref()
            .filter(|date| is_plausible(&record.scheme, date, &batch.today));
        let link = match record.key.as_deref() {
            None => None,
            Some(key) => Some(batch.links.cite(&self.db, key, record, message, cited)?),
        };
        let id = batch.next_url;
        batch.next_url += 1;
        insert_url(
            &self.db,
            id,
            row,
            &RowParents {
                link,
                source,
                message: message.id,
                cited,
            },
        )?;
        insert_text(&self.db, id, row, batch.ids.message_texts())?;
        Ok(id)
    }
}

/// The rows that a row of `urls` refers to, and its plausible date.
struct RowParents<'d> {
    link: Option<i64>,
    source: i64,
    message: i64,
    cited: Option<&'d str>,
}

fn insert_url(
    db: &Connection,
    id: i64,
    row: &LoadRow<'_>,
    parents: &RowParents<'_>,
) -> rusqlite::Result<()> {
    let record = row.record;
    let mut statement = db.prepare_cached(INSERT_URL)?;
    statement.execute(params![
        id,
        row.record_key.to_be_bytes(),
        &*record.id,
        parents.link,
        parents.message,
        parents.source,
        &*record.url,
        record.fragment.as_deref(),
        &*record.scheme,
        record.host.as_deref(),
        record.domain.as_deref(),
        record.port,
        record.href.as_deref(),
        parents.cited,
        record.conforms.json(),
        record.warnings.json(),
        record.hazards.json(),
        record.form.as_deref(),
        &*record.wrapper,
        record.repairs.json(),
        record.confidence,
        record.truncated,
        &*record.region,
        record.quote_depth,
        record.anchor.as_deref(),
        record.mismatch,
        record.unwrapped_from.as_deref(),
        record.unwrapped_by.as_deref(),
        record.source.start,
        record.source.end,
        record.source.line,
        record.source.exact,
        record.count,
    ])?;
    Ok(())
}

/// Indexes the texts of a row, as the view `texts` has them: with others the index could not be kept up to date.
fn insert_text(
    db: &Connection,
    id: i64,
    row: &LoadRow<'_>,
    message: Option<&MessageTexts>,
) -> rusqlite::Result<()> {
    let record = row.record;
    let mut statement = db.prepare_cached(INSERT_TEXT)?;
    statement.execute(params![
        id,
        &*record.url,
        record.anchor.as_deref(),
        message.and_then(|message| message.subject.as_deref()),
        message.and_then(|message| message.sender.as_deref()),
    ])?;
    Ok(())
}

impl Target for SqliteTarget {
    fn begin(&mut self) -> Result<(), LoadError> {
        self.run("BEGIN IMMEDIATE", [])?;
        let next_url = self
            .db
            .query_row("SELECT ifnull(max(id), 0) + 1 FROM urls", [], |row| {
                row.get(0)
            });
        self.batch = SqliteBatch {
            today: today(),
            next_url: self.named(next_url)?,
            ..SqliteBatch::default()
        };
        Ok(())
    }

    fn segment_status(&mut self, segment: &SegmentId) -> Result<SegmentStatus, LoadError> {
        let sql = "SELECT hash FROM segments WHERE instance=?1 AND epoch=?2 AND seq=?3";
        let hash: Option<String> = self.named(
            self.db
                .query_row(
                    sql,
                    params![
                        segment.instance,
                        segment.epoch.cast_signed(),
                        segment.seq.cast_signed()
                    ],
                    |row| row.get(0),
                )
                .optional(),
        )?;
        Ok(match hash {
            None => SegmentStatus::New,
            Some(hash) if hash == segment.hash => SegmentStatus::Loaded,
            Some(hash) => SegmentStatus::OtherHash(hash),
        })
    }

    fn add_segment(&mut self, segment: &SegmentId) -> Result<(), LoadError> {
        self.run(
            "INSERT INTO segments VALUES(?1,?2,?3,?4)",
            params![
                segment.instance,
                segment.epoch.cast_signed(),
                segment.seq.cast_signed(),
                segment.hash
            ],
        )?;
        Ok(())
    }

    fn put(&mut self, row: &LoadRow<'_>) -> Result<RowOutcome, LoadError> {
        let known = self.named(self.known_url(&row.record_key.to_be_bytes()))?;
        let id = match known {
            Some(id) => id,
            None => {
                let added = self.add(row);
                self.named(added)?
            }
        };
        if self.is_replacing {
            self.named(removal::keep(&self.db, id))?;
        }
        Ok(if known.is_some() {
            RowOutcome::Known
        } else {
            RowOutcome::Added
        })
    }

    fn remove(&mut self, gone: &GoneLine) -> Result<u64, LoadError> {
        self.batch.ids = RowIds::default();
        self.batch.has_removed = true;
        self.named(removal::remove_gone(&self.db, gone))
    }

    fn begin_replacing(&mut self) -> Result<(), LoadError> {
        self.is_replacing = true;
        self.named(removal::begin_replacing(&self.db))
    }

    fn finish_replacing(&mut self) -> Result<u64, LoadError> {
        self.is_replacing = false;
        self.batch.has_removed = true;
        self.named(removal::remove_replaced(&self.db))
    }

    fn commit(&mut self) -> Result<ChangedRows, LoadError> {
        self.is_replacing = false;
        let updated = self.batch.links.write(&self.db);
        self.named(updated)?;
        if self.batch.has_removed {
            self.named(removal::recompute_links(&self.db))?;
        }
        self.run("COMMIT", [])?;
        Ok(ChangedRows::default())
    }

    fn roll_back(&mut self) {
        // If it fails, the transaction was rolled back already, or ends with the connection.
        let _ = self.db.execute_batch("ROLLBACK");
        self.is_replacing = false;
    }
}
