//! Files that are the rows of a query.

use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde::Serialize;

use crate::audit::AuditError;
use crate::audit::database::AuditDb;
use crate::sink::TableText;

/// A file with the rows of a query.
pub(super) struct QueryTable {
    pub(super) file: &'static str,
    /// The columns of the file, and of the query.
    pub(super) columns: &'static str,
    /// The tables of the query, its conditions and its order.
    pub(super) from: &'static str,
}

impl QueryTable {
    /// Calls `each` with the cells of every row.
    pub(super) fn for_each(
        &self,
        audit: &AuditDb,
        mut each: impl FnMut(Vec<QueryCell<'_>>) -> Result<(), AuditError>,
    ) -> Result<(), AuditError> {
        let sql = format!("SELECT {} FROM {}", self.columns, self.from);
        let mut statement = audit.named(audit.db.prepare(&sql))?;
        let columns = statement.column_count();
        let mut rows = audit.named(statement.query([]))?;
        while let Some(row) = audit.named(rows.next())? {
            let cells = (0..columns).map(|column| cell(row, column));
            each(audit.named(cells.collect())?)?;
        }
        Ok(())
    }
}

/// A cell of a row.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum QueryCell<'r> {
    Empty(Option<()>),
    Number(i64),
    Text(TableText<'r>),
}

fn cell<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<QueryCell<'r>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => QueryCell::Empty(None),
        ValueRef::Integer(number) => QueryCell::Number(number),
        value => QueryCell::Text(TableText(value.as_str()?)),
    })
}
