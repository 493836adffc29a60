//! Removal and replacement of rows, and their moves between mailboxes.

use rusqlite::{Connection, params, params_from_iter};

use super::connection::SEARCHED;
use super::{KnownUrl, sql_value};
use crate::load::target::{GoneMessages, ReplacedFiles, StoredFile};
use urlspool_record::record::{FieldId, LoadedRecord, mailbox_key};

/// Creates temporary tables for the rows to remove and the rows they refer to. Counts of links are
/// recomputed once, before the commit, instead of once per removed message.
const BEGIN_REMOVAL: &str = include_str!("begin_removal.sql");

/// Returns the statements that remove the rows in `doomed`, and messages and sources that no other
/// row refers to.
fn remove() -> String {
    include_str!("remove.sql").replace("{searched}", SEARCHED)
}

/// Moves a row to the message of another mailbox. The row is then removed together with that
/// message.
pub(super) fn move_row(db: &Connection, row: KnownUrl, message: i64) -> rusqlite::Result<()> {
    // To remove an entry, the index needs the texts that were indexed.
    let remove_texts = format!(
        "INSERT INTO search(search, rowid, {SEARCHED})
         SELECT 'delete', id, {SEARCHED} FROM texts WHERE id=?1"
    );
    let add_texts = format!(
        "INSERT INTO search(rowid, {SEARCHED}) SELECT id, {SEARCHED} FROM texts WHERE id=?1"
    );
    let move_row = "UPDATE urls SET message=?2 WHERE id=?1";
    let remove_message =
        "DELETE FROM messages WHERE id=?1 AND NOT EXISTS (SELECT 1 FROM urls WHERE message=?1)";
    for (sql, values) in [
        (&*remove_texts, &[row.id][..]),
        (move_row, &[row.id, message]),
        (&add_texts, &[row.id]),
        (remove_message, &[row.message]),
    ] {
        db.prepare_cached(sql)?.execute(params_from_iter(values))?;
    }
    Ok(())
}

/// Recomputes the counts of links that lost rows, and removes links without rows.
pub(super) const RECOMPUTE_LINKS: &str = include_str!("recompute_links.sql");

/// Removes the rows of messages that are gone. Returns the number of rows removed from `urls`.
pub(super) fn remove_gone(db: &Connection, gone: &GoneMessages) -> rusqlite::Result<u64> {
    db.execute_batch(BEGIN_REMOVAL)?;
    let mut doom = db.prepare_cached(
        "INSERT OR IGNORE INTO doomed SELECT id FROM urls WHERE message IN
         (SELECT id FROM messages WHERE digest=?1 AND mailbox_key=?2)",
    )?;
    let mut removed = 0;
    for ((mailbox, base64), digests) in &gone.digests {
        let mailbox = mailbox_key(mailbox, base64.as_deref()).to_be_bytes();
        for digest in digests {
            removed += doom.execute(params![&**digest, mailbox])?;
        }
    }
    if removed > 0 {
        db.execute_batch(&remove())?;
    }
    Ok(removed as u64)
}

/// Starts remembering the rows of the input.
pub(super) fn begin_replacing(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(BEGIN_REMOVAL)?;
    db.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS kept(id INTEGER PRIMARY KEY); DELETE FROM kept",
    )
}

/// Remembers the row of a record of the input. Returns `false` if it is remembered already.
pub(super) fn keep(db: &Connection, record_key: u128) -> rusqlite::Result<bool> {
    let sql = "INSERT OR IGNORE INTO kept SELECT id FROM urls WHERE record_key=?1";
    let mut statement = db.prepare_cached(sql)?;
    Ok(0 < statement.execute([record_key.to_be_bytes()])?)
}

/// Updates the position of a row. It changes if other messages of the file were removed.
pub(super) fn update_position(db: &Connection, record: &LoadedRecord) -> rusqlite::Result<()> {
    let sql = "UPDATE urls SET start=?2, \"end\"=?3, line=?4, exact=?5 WHERE record_key=?1
      AND (start, \"end\", line, exact) IS NOT (?2, ?3, ?4, ?5)";
    db.prepare_cached(sql)?.execute(params![
        record.record_key.to_be_bytes(),
        sql_value(record.value(FieldId::SourceStart)),
        sql_value(record.value(FieldId::SourceEnd)),
        sql_value(record.value(FieldId::SourceLine)),
        sql_value(record.value(FieldId::SourceExact)),
    ])?;
    Ok(())
}

/// Selects the paths of files with a remembered row. Paths that are not UTF-8 may differ only in
/// `path_b64`.
const KEPT_FILES: &str = "SELECT path, ifnull(path_b64, '') FROM sources WHERE id IN
  (SELECT source FROM urls JOIN kept USING(id))";

/// Returns the files without a remembered row.
pub(super) fn files_without_rows(db: &Connection) -> rusqlite::Result<Vec<StoredFile>> {
    let sql = format!(
        "SELECT DISTINCT path, path_b64 FROM sources WHERE (path, ifnull(path_b64, '')) NOT IN \
         ({KEPT_FILES})"
    );
    let mut statement = db.prepare(&sql)?;
    let files = statement.query_map([], |row| {
        let (path, path_b64) = row.try_into()?;
        Ok(StoredFile { path, path_b64 })
    });
    files?.collect()
}

/// Removes rows of the input's files that are not in the input. Returns their number.
pub(super) fn remove_replaced(db: &Connection, files: &ReplacedFiles) -> rusqlite::Result<u64> {
    db.execute_batch(&format!(
        "CREATE TEMP TABLE IF NOT EXISTS replaced(path TEXT, path_b64 TEXT, PRIMARY KEY(path, \
            path_b64));
         DELETE FROM replaced; INSERT OR IGNORE INTO replaced {KEPT_FILES};"
    ))?;
    let add = "INSERT OR IGNORE INTO replaced VALUES(?1, ifnull(?2, ''))";
    let leave_out = "DELETE FROM replaced WHERE path=?1 AND path_b64=ifnull(?2, '')";
    for (sql, files) in [(add, &files.without_rows), (leave_out, &files.incomplete)] {
        let mut statement = db.prepare(sql)?;
        for file in files {
            statement.execute(params![file.path, file.path_b64])?;
        }
    }
    let doomed = db.execute(
        "INSERT INTO doomed SELECT urls.id FROM urls JOIN sources ON sources.id = urls.source
         WHERE (sources.path, ifnull(sources.path_b64, '')) IN (SELECT path, path_b64 FROM replaced)
         AND urls.id NOT IN (SELECT id FROM kept)",
        [],
    )?;
    db.execute_batch(&(remove() + "DELETE FROM kept; DELETE FROM replaced"))?;
    Ok(doomed as u64)
}
