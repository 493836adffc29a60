//! Searching a database that was loaded.

mod query;

pub use query::SearchQuery;

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};

use super::error::LoadError;
use super::sqlite::{open_to_read, sqlite_error};
use crate::record::FoundRow;
use query::Statement;

/// Searches the database at `path`, and gives each match to `found` until that returns `false`. The first citations come first;
/// those without a plausible date last; those of one time in the order of their files and places.
///
/// # Errors
///
/// The database cannot be read, or is not one that `urlspool load` made.
pub fn search<E: From<LoadError>>(
    path: &Path,
    query: &SearchQuery,
    mut found: impl FnMut(&FoundRow) -> Result<bool, E>,
) -> Result<(), E> {
    let named = |error: rusqlite::Error| sqlite_error(path, error);
    let db = open_to_read(path)?;
    let Statement { sql, values } = query.statement();
    let mut statement = db.prepare(&sql).map_err(named)?;
    let mut rows = statement
        .query(params_from_iter::<Vec<Value>>(values))
        .map_err(named)?;
    while let Some(row) = rows.next().map_err(named)? {
        if !found(&found_row(row).map_err(named)?)? {
            break;
        }
    }
    Ok(())
}

fn found_row(row: &Row<'_>) -> rusqlite::Result<FoundRow> {
    Ok(FoundRow {
        id: row.get(0)?,
        url: row.get(1)?,
        fragment: row.get(2)?,
        confidence: row.get(3)?,
        region: row.get(4)?,
        anchor: row.get(5)?,
        path: row.get(6)?,
        path_b64: row.get(7)?,
        member: row.get(8)?,
        member_b64: row.get(9)?,
        start: row.get(10)?,
        end: row.get(11)?,
        message_id: row.get(12)?,
        date: row.get(13)?,
        from: row.get(14)?,
        subject: row.get(15)?,
    })
}
