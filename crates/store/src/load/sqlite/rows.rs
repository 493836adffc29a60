//! Rows of sources, messages and records: their identifiers, the statements that add them, and
//! their removal.
//!
//! Records of one message are consecutive, so the last source and message are cached. A new one
//! gets its identifier before its row: the row is added with the first record that is added, since
//! earlier records may already be in the database. Prepared statements are kept while many rows are
//! added, because fetching one from the cache costs as much as a lookup.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, OptionalExtension, ToSql, params, params_from_iter};

use super::connection::SEARCHED;
use crate::load::columns::{Column, Table, column_value, searched_text};
use crate::load::target::{GoneMessages, LoadRow, ReplacedFiles, StoredFile};
use urlspool_record::record::{FieldId, LoadedRecord, LoadedValue, mailbox_key};

/// Rows that this transaction found or added last.
#[derive(Debug, Default)]
pub(super) struct RowIds {
    source: Option<SourceRow>,
    message: Option<LastMessage>,
    next_source: i64,
    next_message: i64,
}

#[derive(Clone, Copy, Debug)]
struct SourceRow {
    key: u128,
    id: i64,
    is_stored: bool,
}

#[derive(Debug)]
struct LastMessage {
    digest: String,
    mailbox_key: u128,
    row: MessageRow,
    is_stored: bool,
    /// In the row, once it is stored.
    subject: Option<String>,
    sender: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageRow {
    pub(super) id: i64,
    /// `true` if this transaction adds the row and no earlier row has its digest.
    pub(super) is_new: bool,
}

impl RowIds {
    pub(super) fn new(db: &Connection) -> rusqlite::Result<RowIds> {
        Ok(RowIds {
            next_source: next_id(db, "sources")?,
            next_message: next_id(db, "messages")?,
            ..RowIds::default()
        })
    }

    /// Forgets the cached rows, which may be removed.
    pub(super) fn forget(&mut self) {
        self.source = None;
        self.message = None;
    }

    /// Returns the identifier of a record's source.
    pub(super) fn source(
        &mut self,
        statements: &mut RowStatements<'_>,
        row: &LoadRow<'_>,
    ) -> rusqlite::Result<i64> {
        if let Some(last) = self.source.filter(|last| last.key == row.record.source_key) {
            return Ok(last.id);
        }
        let key = row.record.source_key;
        let found = (statements.find_source).query_row([key.to_be_bytes()], |row| row.get(0));
        let found: Option<i64> = found.optional()?;
        let id = found.unwrap_or(self.next_source);
        let is_stored = found.is_some();
        self.source = Some(SourceRow { key, id, is_stored });
        Ok(id)
    }

    /// Returns the row of a record's message.
    pub(super) fn message(
        &mut self,
        statements: &mut RowStatements<'_>,
        row: &LoadRow<'_>,
    ) -> rusqlite::Result<MessageRow> {
        let (digest, mailbox_key) = (row.record.digest(), row.record.mailbox_key());
        if let Some(last) = &self.message
            && last.digest == digest
            && last.mailbox_key == mailbox_key
        {
            return Ok(last.row);
        }
        // Most messages are new, so one lookup is usually enough.
        let has_digest = (statements.has_digest).query_row([digest], |row| row.get(0))?;
        let mut found = None;
        if has_digest {
            let values = params![digest, mailbox_key.to_be_bytes()];
            let row = (statements.find_message).query_row(values, |row| row.try_into());
            found = row.optional()?;
        }
        let is_stored = found.is_some();
        let (id, subject, sender) = found.unwrap_or((self.next_message, None, None));
        let is_new = !has_digest;
        let row = MessageRow { id, is_new };
        self.message = Some(LastMessage {
            digest: digest.to_owned(),
            mailbox_key,
            row,
            is_stored,
            subject,
            sender,
        });
        Ok(row)
    }

    /// Indexes the texts of a row of the last message. They must equal the texts in the view
    /// `texts`; otherwise the index could not be kept up to date.
    pub(super) fn insert_text(
        &self,
        statements: &mut RowStatements<'_>,
        id: i64,
        record: &LoadedRecord,
    ) -> rusqlite::Result<usize> {
        let last = self.message.as_ref();
        statements.insert_text.execute(params![
            id,
            searched_text(record, FieldId::Url),
            sql_value(record.value(FieldId::Anchor)),
            last.map(|last| &last.subject),
            last.map(|last| &last.sender),
            sql_value(record.value(FieldId::ContextBefore)),
            sql_value(record.value(FieldId::ContextAfter)),
        ])
    }

    /// Adds the rows of the last source and message if they are new.
    pub(super) fn store(
        &mut self,
        statements: &mut RowStatements<'_>,
        row: &LoadRow<'_>,
    ) -> rusqlite::Result<()> {
        if let Some(source) = self.source.as_mut().filter(|last| !last.is_stored) {
            let leading: [&dyn ToSql; 2] = [&source.id, &source.key.to_be_bytes()];
            (statements.insert_source).execute(&leading, row.record, None)?;
            source.is_stored = true;
            self.next_source += 1;
        }
        if let Some(message) = self.message.as_mut().filter(|last| !last.is_stored) {
            let leading: [&dyn ToSql; 2] = [&message.row.id, &message.mailbox_key.to_be_bytes()];
            (statements.insert_message).execute(&leading, row.record, None)?;
            message.is_stored = true;
            message.subject = row.record.text(FieldId::MessageSubject).map(str::to_owned);
            message.sender = row.record.text(FieldId::MessageFrom).map(str::to_owned);
            self.next_message += 1;
        }
        Ok(())
    }
}

/// Returns the identifier of the next row of a table.
pub(super) fn next_id(db: &Connection, table: &str) -> rusqlite::Result<i64> {
    let sql = format!("SELECT ifnull(max(id), 0) + 1 FROM {table}");
    db.prepare_cached(&sql)?.query_row([], |row| row.get(0))
}

/// Prepared statements for the rows of one chunk of the input.
pub(super) struct RowStatements<'db> {
    pub(super) db: &'db Connection,
    find_url: CachedStatement<'db>,
    pub(super) insert_url: RowInsert<'db>,
    insert_text: CachedStatement<'db>,
    find_source: CachedStatement<'db>,
    insert_source: RowInsert<'db>,
    has_digest: CachedStatement<'db>,
    find_message: CachedStatement<'db>,
    insert_message: RowInsert<'db>,
    pub(super) find_link: CachedStatement<'db>,
    /// Returns `true` if a row of a message with a digest cites a link.
    pub(super) is_cited: CachedStatement<'db>,
}

/// Statement that adds a row to a table.
pub(super) struct RowInsert<'db> {
    statement: CachedStatement<'db>,
    /// The columns that hold fields, which come last.
    columns: &'static [Column],
}

impl<'db> RowInsert<'db> {
    /// Prepares the statement for a table with `leading` columns before the columns of fields.
    /// `then` is appended to it.
    fn prepare(
        db: &'db Connection,
        table: Table,
        leading: usize,
        then: &str,
    ) -> rusqlite::Result<RowInsert<'db>> {
        let columns = table.columns();
        let places = vec!["?"; leading + columns.len()].join(",");
        let sql = format!("INSERT INTO {} VALUES({places}) {then}", table.name());
        let statement = db.prepare_cached(&sql)?;
        Ok(RowInsert { statement, columns })
    }

    /// Adds the row of a record. Returns the number of rows added.
    pub(super) fn execute(
        &mut self,
        leading: &[&dyn ToSql],
        record: &LoadedRecord,
        cited: Option<&str>,
    ) -> rusqlite::Result<usize> {
        let statement = &mut self.statement;
        for (index, value) in (1..).zip(leading) {
            statement.raw_bind_parameter(index, value)?;
        }
        for (index, column) in (1 + leading.len()..).zip(self.columns) {
            match column {
                Column::Field(field) => {
                    statement.raw_bind_parameter(index, sql_value(column_value(record, *field)))?
                }
                Column::Cited => statement.raw_bind_parameter(index, cited)?,
            }
        }
        statement.raw_execute()
    }
}

/// Converts a column's value to SQL.
fn sql_value(value: &LoadedValue) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(match value {
        LoadedValue::Null => ValueRef::Null,
        LoadedValue::Boolean(value) => ValueRef::Integer((*value).into()),
        LoadedValue::Integer(number) => ValueRef::Integer(*number),
        LoadedValue::Number(number) => ValueRef::Real(*number),
        LoadedValue::Text(text) => ValueRef::Text(text.as_bytes()),
        LoadedValue::Texts(list) => ValueRef::Text(list.as_bytes()),
    })
}

/// Row of a record that was loaded before.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownUrl {
    pub(super) id: i64,
    pub(super) message: i64,
    /// `true` if its message is in the record's mailbox.
    pub(super) has_same_mailbox: bool,
}

const FIND_URL: &str = "SELECT urls.id, messages.id, messages.mailbox_key=?2
  FROM urls JOIN messages ON messages.id = urls.message WHERE record_key=?1";

const FIND_MESSAGE: &str =
    "SELECT id, subject, sender FROM messages WHERE digest=?1 AND mailbox_key=?2";

/// Copies of a message cite the same links, so the search ends at the first copy. A plain join
/// could scan the rows of the link instead, which may be many.
const IS_CITED: &str = "SELECT EXISTS(SELECT 1 FROM messages CROSS JOIN urls
  ON urls.link=?1 AND urls.message = messages.id WHERE messages.digest=?2)";

impl<'db> RowStatements<'db> {
    pub(super) fn prepare(db: &'db Connection) -> rusqlite::Result<RowStatements<'db>> {
        Ok(RowStatements {
            db,
            find_url: db.prepare_cached(FIND_URL)?,
            // The insert detects an existing record itself; a separate lookup would search the
            // index twice.
            insert_url: RowInsert::prepare(
                db,
                Table::Urls,
                6,
                "ON CONFLICT(record_key) DO NOTHING",
            )?,
            // With `INSERT ... SELECT`, which may have to undo several rows, SQLite would write the
            // index to the file for each row.
            insert_text: db.prepare_cached(&format!(
                "INSERT INTO search(rowid, {SEARCHED}) VALUES(?1,?2,?3,?4,?5,?6,?7)"
            ))?,
            find_source: db.prepare_cached("SELECT id FROM sources WHERE key=?1")?,
            insert_source: RowInsert::prepare(db, Table::Sources, 2, "")?,
            has_digest: db
                .prepare_cached("SELECT EXISTS(SELECT 1 FROM messages WHERE digest=?1)")?,
            find_message: db.prepare_cached(FIND_MESSAGE)?,
            insert_message: RowInsert::prepare(db, Table::Messages, 2, "")?,
            find_link: db.prepare_cached("SELECT id FROM links WHERE key=?1")?,
            is_cited: db.prepare_cached(IS_CITED)?,
        })
    }

    /// Returns the row of a record.
    pub(super) fn find_url(&mut self, row: &LoadRow<'_>) -> rusqlite::Result<Option<KnownUrl>> {
        let key = row.record.record_key.to_be_bytes();
        let params = params![key, row.record.mailbox_key().to_be_bytes()];
        let found = self.find_url.query_row(params, |row| {
            Ok(KnownUrl {
                id: row.get(0)?,
                message: row.get(1)?,
                has_same_mailbox: row.get(2)?,
            })
        });
        found.optional()
    }
}

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
