//! Removal of rows: of messages that are gone, and of files that were scanned again.
//!
//! The rows to be removed stand in a temporary table; what only they refer to follows. The numbers of links are computed once,
//! before the commit: the rows of a popular link are not counted again for each message that is gone.

use rusqlite::{Connection, params};

use crate::record::GoneLine;

const BEGIN: &str = "CREATE TEMP TABLE IF NOT EXISTS doomed(id INTEGER PRIMARY KEY);
  CREATE TEMP TABLE IF NOT EXISTS changed_links(id INTEGER PRIMARY KEY);
  CREATE TEMP TABLE IF NOT EXISTS changed_messages(id INTEGER PRIMARY KEY);
  CREATE TEMP TABLE IF NOT EXISTS changed_sources(id INTEGER PRIMARY KEY);";

/// Removes the rows in `doomed`, and what they alone needed.
const REMOVE: &str = "
  INSERT OR IGNORE INTO changed_links SELECT link FROM urls JOIN doomed USING(id) WHERE link IS NOT NULL;
  INSERT OR IGNORE INTO changed_messages SELECT message FROM urls JOIN doomed USING(id);
  INSERT OR IGNORE INTO changed_sources SELECT source FROM urls JOIN doomed USING(id);
  INSERT INTO search(search, rowid, url, anchor, subject, sender)
    SELECT 'delete', texts.id, url, anchor, subject, sender FROM texts JOIN doomed USING(id);
  DELETE FROM urls WHERE id IN (SELECT id FROM doomed);
  DELETE FROM messages WHERE id IN (SELECT id FROM changed_messages)
    AND NOT EXISTS (SELECT 1 FROM urls WHERE urls.message = messages.id);
  DELETE FROM sources WHERE id IN (SELECT id FROM changed_sources)
    AND NOT EXISTS (SELECT 1 FROM urls WHERE urls.source = sources.id);
  DELETE FROM doomed; DELETE FROM changed_messages; DELETE FROM changed_sources;";

/// Computes the numbers of links that lost rows, and removes links without rows.
const RECOMPUTE_LINKS: &str = "
  DELETE FROM links WHERE id IN (SELECT id FROM changed_links)
    AND NOT EXISTS (SELECT 1 FROM urls WHERE urls.link = links.id);
  UPDATE links SET (citations, messages, first, last) =
    (SELECT count(*), count(DISTINCT messages.digest), min(urls.cited), max(urls.cited)
      FROM urls JOIN messages ON messages.id = urls.message WHERE urls.link = links.id)
    WHERE id IN (SELECT id FROM changed_links);
  DELETE FROM changed_links;";

/// Removes the rows of messages that are gone. Returns the number of rows of `urls`.
pub(super) fn remove_gone(db: &Connection, gone: &GoneLine) -> rusqlite::Result<u64> {
    db.execute_batch(BEGIN)?;
    let mut doom = db.prepare_cached(
        "INSERT OR IGNORE INTO doomed SELECT id FROM urls WHERE message IN
         (SELECT id FROM messages WHERE digest=?1 AND mailbox=?2)",
    )?;
    let mut removed = 0;
    for digest in &gone.digests {
        removed += doom.execute(params![&**digest, &*gone.mailbox])?;
    }
    if removed > 0 {
        db.execute_batch(REMOVE)?;
    }
    Ok(removed as u64)
}

/// Begins to remember the rows of the input.
pub(super) fn begin_replacing(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(BEGIN)?;
    db.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS kept(id INTEGER PRIMARY KEY); DELETE FROM kept",
    )
}

/// Remembers a row of the input.
pub(super) fn keep(db: &Connection, record_key: u128) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR IGNORE INTO kept SELECT id FROM urls WHERE record_key=?1")?
        .execute(params![record_key.to_be_bytes()])?;
    Ok(())
}

/// Removes the rows of the input's files that are not rows of the input. Returns their number. Paths that are not UTF-8 may
/// differ only in `path_b64`.
pub(super) fn remove_replaced(db: &Connection) -> rusqlite::Result<u64> {
    let doomed = db.execute(
        "INSERT INTO doomed SELECT urls.id FROM urls JOIN sources ON sources.id = urls.source
         WHERE (sources.path, ifnull(sources.path_b64, '')) IN
           (SELECT DISTINCT path, ifnull(path_b64, '') FROM sources WHERE id IN
           (SELECT source FROM urls JOIN kept USING(id)))
         AND urls.id NOT IN (SELECT id FROM kept)",
        [],
    )?;
    db.execute_batch(REMOVE)?;
    db.execute_batch("DELETE FROM kept")?;
    Ok(doomed as u64)
}

/// Computes the numbers of the links that lost rows since the transaction began.
pub(super) fn recompute_links(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(RECOMPUTE_LINKS)
}
