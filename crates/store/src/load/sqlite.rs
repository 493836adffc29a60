//! The `SQLite` target: one file, readable with plain SQL.
//!
//! The rows of a batch are written in one transaction that takes the write lock when it starts. No
//! other program changes the tables during the transaction, which is why identifiers can be cached
//! in memory.
//!
//! Records of one message are consecutive, so the last source and message are cached. A new one
//! gets its identifier before its row: the row is added with the first record that is added, since
//! earlier records may already be in the database. Prepared statements are kept while many rows are
//! added, because fetching one from the cache costs as much as a lookup.
//!
//! Counts of links are collected while rows are added, and written together. Links stay in memory
//! after a commit until another program changes the database, because the next batch cites many of
//! them again.

mod connection;
mod removal;

#[cfg(test)]
pub(crate) use connection::add_functions;
pub use connection::{
    files_of_database, is_file_of_database, open_to_extend, open_to_read, sqlite_error,
};

use std::collections::{HashMap, HashSet};
use std::mem::take;
use std::path::Path;
use std::rc::Rc;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, ToSql, params};

use super::LoadError;
use super::columns::{Column, Table, column_value, searched_text};
use super::target::{
    ChangedRows, GoneMessages, LoadRow, ReplacedFiles, SegmentId, StoredFile, Target,
    is_in_list_field, today,
};
use super::tracking::clean_key;
use crate::stats::replace_if;
use connection::{DatabaseFile, SEARCHED};
use removal::RECOMPUTE_LINKS;
use urlspool_record::record::{FieldId, LoadedRecord, LoadedValue};
use urlspool_text::limits::{LOAD_PENDING_LINK_BYTES, LOAD_PENDING_LINKS};

/// A database file being loaded.
pub(super) struct SqliteTarget {
    db: Connection,
    file: DatabaseFile,
    batch: SqliteBatch,
    links: LinkUpdates,
    /// `PRAGMA data_version` at the last transaction. It differs if another program has written
    /// since.
    data_version: Option<i64>,
    /// `true` from [`Target::begin_replacing`] to the commit.
    is_replacing: bool,
}

/// Values that are valid for one transaction.
#[derive(Debug, Default)]
struct SqliteBatch {
    /// Day of loading.
    today: String,
    /// Identifier of the next row in `urls`.
    next_url: i64,
    ids: RowIds,
    /// `true` if the last input row was already in the database.
    was_known: bool,
    changed: ChangedRows,
    /// `true` if rows were removed.
    has_removed: bool,
}

impl SqliteTarget {
    /// Opens a database, or creates it.
    pub(super) fn open(path: &Path) -> Result<SqliteTarget, LoadError> {
        let (db, file) = connection::open_to_load(path)?;
        Ok(SqliteTarget {
            db,
            file,
            batch: SqliteBatch::default(),
            links: LinkUpdates::default(),
            data_version: None,
            is_replacing: false,
        })
    }

    fn run(&self, sql: &str, params: impl Params) -> Result<(), LoadError> {
        let prepared = self.db.prepare_cached(sql);
        let done = prepared.and_then(|mut statement| statement.execute(params));
        self.named(done).map(drop)
    }

    fn named<T>(&self, result: rusqlite::Result<T>) -> Result<T, LoadError> {
        result.map_err(|error| sqlite_error(&self.file.path, error))
    }

    /// Adds the rows that are not in the database yet.
    fn put_rows(&mut self, rows: &[LoadRow<'_>]) -> rusqlite::Result<()> {
        let mut statements = RowStatements::prepare(&self.db)?;
        for row in rows {
            self.batch.put(&mut self.links, &mut statements, row)?;
            self.batch.changed.added += u64::from(!self.batch.was_known);
            let is_first = self.is_replacing && removal::keep(&self.db, row.record.record_key)?;
            if is_first && self.batch.was_known {
                removal::update_position(&self.db, row.record)?;
            }
        }
        Ok(())
    }

    fn begin_batch(&mut self) -> rusqlite::Result<()> {
        let mut version = self.db.prepare_cached("PRAGMA data_version")?;
        let version = version.query_row([], |row| row.get(0))?;
        // Another program may have written to the database in the meantime.
        if self.data_version.replace(version) != Some(version) {
            self.links.forget();
        }
        self.links.begin(&self.db)?;
        self.batch = SqliteBatch {
            today: today(),
            next_url: next_id(&self.db, "urls")?,
            ids: RowIds::new(&self.db)?,
            ..SqliteBatch::default()
        };
        Ok(())
    }
}

impl SqliteBatch {
    /// Adds the row of a record and the rows it refers to, unless the record has a row. An existing
    /// row is moved to the mailbox of the latest record.
    fn put(
        &mut self,
        links: &mut LinkUpdates,
        statements: &mut RowStatements<'_>,
        row: &LoadRow<'_>,
    ) -> rusqlite::Result<()> {
        // Known rows tend to be consecutive. For them a lookup is cheaper than an insert that
        // conflicts.
        let mut known = None;
        if self.was_known {
            known = statements.find_url(row)?;
        }
        self.was_known = known.is_some() || !self.add(links, statements, row)?;
        if self.was_known && known.is_none() {
            known = statements.find_url(row)?;
        }
        if let Some(known) = known.filter(|known| !known.has_same_mailbox) {
            let message = self.ids.message(statements, row)?;
            self.ids.store(statements, row)?;
            removal::move_row(statements.db, known, message.id)?;
        }
        Ok(())
    }

    /// Adds the row of a record and the rows it refers to. Returns `false` if the record already
    /// has a row.
    fn add(
        &mut self,
        links: &mut LinkUpdates,
        statements: &mut RowStatements<'_>,
        row: &LoadRow<'_>,
    ) -> rusqlite::Result<bool> {
        let record = row.record;
        let source = self.ids.source(statements, row)?;
        let message = self.ids.message(statements, row)?;
        let cited = row.cited(&self.today);
        let key = record.text(FieldId::Key);
        let citation = key.map(|key| links.cite(statements, key, record, message));
        let citation = citation.transpose()?;
        let id = self.next_url;
        let leading: [&dyn ToSql; 6] = [
            &id,
            &record.record_key.to_be_bytes(),
            &record.text(FieldId::Id),
            &citation.map(|citation| citation.link),
            &message.id,
            &source,
        ];
        if statements.insert_url.execute(&leading, record, cited)? == 0 {
            return Ok(false);
        }
        self.next_url += 1;
        self.ids.store(statements, row)?;
        self.ids.insert_text(statements, id, record)?;
        if let Some(citation) = citation {
            links.count(&citation, record, message, cited);
        }
        Ok(true)
    }
}

impl Target for SqliteTarget {
    fn begin(&mut self) -> Result<(), LoadError> {
        self.file.check_place()?;
        self.file.check_whole(&self.db)?;
        self.run("BEGIN IMMEDIATE", [])?;
        let begun = self.begin_batch();
        self.named(begun).inspect_err(|_| self.roll_back())
    }

    fn loaded_hash(&mut self, segment: &SegmentId) -> Result<Option<String>, LoadError> {
        let sql = "SELECT hash FROM segments WHERE instance=?1 AND epoch=?2 AND seq=?3";
        let (epoch, seq) = (segment.epoch.cast_signed(), segment.seq.cast_signed());
        let values = params![segment.instance, epoch, seq];
        let hash = self.db.query_row(sql, values, |row| row.get(0));
        self.named(hash.optional())
    }

    fn add_segment(&mut self, segment: &SegmentId) -> Result<(), LoadError> {
        let (epoch, seq) = (segment.epoch.cast_signed(), segment.seq.cast_signed());
        let values = params![segment.instance, epoch, seq, segment.hash];
        self.run("INSERT INTO segments VALUES(?1,?2,?3,?4)", values)
    }

    fn put(&mut self, rows: &[LoadRow<'_>]) -> Result<(), LoadError> {
        let put = self.put_rows(rows);
        self.named(put)
    }

    fn remove(&mut self, gone: &GoneMessages) -> Result<(), LoadError> {
        self.batch.ids.forget();
        self.batch.has_removed = true;
        self.batch.changed.removed += self.named(removal::remove_gone(&self.db, gone))?;
        Ok(())
    }

    fn begin_replacing(&mut self) -> Result<(), LoadError> {
        self.is_replacing = true;
        self.named(removal::begin_replacing(&self.db))
    }

    fn files_without_rows(&mut self) -> Result<Vec<StoredFile>, LoadError> {
        self.named(removal::files_without_rows(&self.db))
    }

    fn finish_replacing(&mut self, files: &ReplacedFiles) -> Result<(), LoadError> {
        self.is_replacing = false;
        self.batch.has_removed = true;
        self.batch.changed.removed += self.named(removal::remove_replaced(&self.db, files))?;
        Ok(())
    }

    fn changed(&mut self) -> Result<ChangedRows, LoadError> {
        Ok(self.batch.changed)
    }

    fn commit(&mut self) -> Result<(), LoadError> {
        self.is_replacing = false;
        let updated = self.links.write(&self.db);
        self.named(updated)?;
        if self.batch.has_removed {
            self.links.forget();
            self.named(self.db.execute_batch(RECOMPUTE_LINKS))?;
        }
        self.run("COMMIT", [])?;
        self.batch = SqliteBatch::default();
        Ok(())
    }

    /// If the file is moved after this check, the rows move with it: they are no longer in the log.
    fn check_kept(&mut self) -> Result<(), LoadError> {
        self.file.check_place()?;
        // Merging the log may rewrite part of a truncated file, so check before and after.
        self.file.check_whole(&self.db)?;
        connection::merge_log(&self.db, &self.file.path)?;
        self.file.check_whole(&self.db)?;
        self.file.check_place()
    }

    fn roll_back(&mut self) {
        // If this fails, the transaction is already rolled back, or will be when the connection
        // closes.
        let _ = self.db.execute_batch("ROLLBACK");
        self.links.forget();
        self.is_replacing = false;
    }
}

/// Rows that this transaction found or added last.
#[derive(Debug, Default)]
struct RowIds {
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
struct MessageRow {
    id: i64,
    /// `true` if this transaction adds the row and no earlier row has its digest.
    is_new: bool,
}

impl RowIds {
    fn new(db: &Connection) -> rusqlite::Result<RowIds> {
        Ok(RowIds {
            next_source: next_id(db, "sources")?,
            next_message: next_id(db, "messages")?,
            ..RowIds::default()
        })
    }

    /// Forgets the cached rows, which may be removed.
    fn forget(&mut self) {
        self.source = None;
        self.message = None;
    }

    /// Returns the identifier of a record's source.
    fn source(
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
    fn message(
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
    fn insert_text(
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
    fn store(
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
fn next_id(db: &Connection, table: &str) -> rusqlite::Result<i64> {
    let sql = format!("SELECT ifnull(max(id), 0) + 1 FROM {table}");
    db.prepare_cached(&sql)?.query_row([], |row| row.get(0))
}

/// Prepared statements for the rows of one chunk of the input.
struct RowStatements<'db> {
    db: &'db Connection,
    find_url: CachedStatement<'db>,
    insert_url: RowInsert<'db>,
    insert_text: CachedStatement<'db>,
    find_source: CachedStatement<'db>,
    insert_source: RowInsert<'db>,
    has_digest: CachedStatement<'db>,
    find_message: CachedStatement<'db>,
    insert_message: RowInsert<'db>,
    find_link: CachedStatement<'db>,
    /// Returns `true` if a row of a message with a digest cites a link.
    is_cited: CachedStatement<'db>,
}

/// Statement that adds a row to a table.
struct RowInsert<'db> {
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
    fn execute(
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
struct KnownUrl {
    id: i64,
    message: i64,
    /// `true` if its message is in the record's mailbox.
    has_same_mailbox: bool,
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
    fn prepare(db: &'db Connection) -> rusqlite::Result<RowStatements<'db>> {
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
    fn find_url(&mut self, row: &LoadRow<'_>) -> rusqlite::Result<Option<KnownUrl>> {
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

/// Cited links with the changes to their counts that are not written yet.
#[derive(Debug, Default)]
struct LinkUpdates {
    /// Indexes into `links`, by link key.
    places: HashMap<Rc<str>, usize>,
    links: Vec<LinkUpdate>,
    /// Total length of the keys.
    key_bytes: usize,
    /// Identifier of the next new link.
    next_id: i64,
    /// The last message if it is new, and the links it has cited so far.
    last_message: Option<i64>,
    cited: HashSet<i64>,
}

/// A link and the changes to its counts.
#[derive(Debug, Default)]
struct LinkUpdate {
    id: i64,
    key: Rc<str>,
    is_stored: bool,
    /// Scheme, host and domain of a cited link without a row, from the first record that cites it.
    new: Option<[Option<String>; 3]>,
    citations: i64,
    messages: i64,
    in_list_fields: i64,
    first: Option<String>,
    last: Option<String>,
}

/// A citation that is not counted yet.
#[derive(Clone, Copy, Debug)]
struct NewCitation {
    /// Identifier of the link's row.
    link: i64,
    /// Index of the link in memory, valid until another link is looked up.
    place: usize,
    /// `true` if no message with this digest has cited the link so far.
    is_first: bool,
}

const INSERT_LINK: &str = "INSERT INTO links VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)";

const UPDATE_LINK: &str = "UPDATE links SET citations = citations + ?2, messages = messages + ?3,
  first = CASE WHEN first IS NULL OR ?4 < first THEN ?4 ELSE first END,
  last = CASE WHEN last IS NULL OR ?5 > last THEN ?5 ELSE last END,
  in_list_fields = in_list_fields + ?6 WHERE id=?1";

impl LinkUpdates {
    /// Starts a transaction.
    fn begin(&mut self, db: &Connection) -> rusqlite::Result<()> {
        // A link that was looked up but never cited has no row, although it has an identifier.
        if self.links.iter().any(|link| !link.is_stored) {
            self.forget();
        }
        self.last_message = None;
        self.next_id = next_id(db, "links")?;
        Ok(())
    }

    /// Forgets all links.
    fn forget(&mut self) {
        self.places.clear();
        self.links.clear();
        self.key_bytes = 0;
    }

    /// Returns the citation of the link `key` by a record whose row is not added yet.
    fn cite(
        &mut self,
        statements: &mut RowStatements<'_>,
        key: &str,
        record: &LoadedRecord,
        message: MessageRow,
    ) -> rusqlite::Result<NewCitation> {
        let place = self.find(statements, key)?;
        let link = self.links[place].id;
        let is_first = self.is_first_citation(statements, link, message, record.digest())?;
        Ok(NewCitation {
            link,
            place,
            is_first,
        })
    }

    /// Returns the index of the link `key`. A new link is stored only if it is cited.
    fn find(&mut self, statements: &mut RowStatements<'_>, key: &str) -> rusqlite::Result<usize> {
        if let Some(place) = self.places.get(key) {
            return Ok(*place);
        }
        if LOAD_PENDING_LINKS <= self.links.len() || LOAD_PENDING_LINK_BYTES <= self.key_bytes {
            self.write(statements.db)?;
            self.forget();
        }
        let found = statements.find_link.query_row([key], |row| row.get(0));
        let found = found.optional()?;
        let id = found.unwrap_or(self.next_id);
        self.next_id += i64::from(found.is_none());
        let key: Rc<str> = key.into();
        self.key_bytes += key.len();
        let place = self.links.len();
        self.links.push(LinkUpdate {
            id,
            key: Rc::clone(&key),
            is_stored: found.is_some(),
            ..LinkUpdate::default()
        });
        self.places.insert(key, place);
        Ok(place)
    }

    /// Returns `true` if no message with this digest has cited the link so far.
    fn is_first_citation(
        &mut self,
        statements: &mut RowStatements<'_>,
        link: i64,
        message: MessageRow,
        digest: &str,
    ) -> rusqlite::Result<bool> {
        if !message.is_new {
            let cited = (statements.is_cited).query_row(params![link, digest], |row| row.get(0));
            return cited.map(|cited: bool| !cited);
        }
        if self.last_message != Some(message.id) {
            self.last_message = Some(message.id);
            self.cited.clear();
        }
        Ok(!self.cited.contains(&link))
    }

    /// Counts a citation by a record whose row was added.
    fn count(
        &mut self,
        citation: &NewCitation,
        record: &LoadedRecord,
        message: MessageRow,
        date: Option<&str>,
    ) {
        if message.is_new {
            self.cited.insert(citation.link);
        }
        if let Some(update) = self.links.get_mut(citation.place) {
            if !update.is_stored && update.new.is_none() {
                let fields = [FieldId::Scheme, FieldId::Host, FieldId::Domain];
                update.new = Some(fields.map(|field| record.text(field).map(str::to_owned)));
            }
            update.citations += 1;
            update.messages += i64::from(citation.is_first);
            update.in_list_fields += i64::from(is_in_list_field(record));
            let Some(date) = date else { return };
            replace_if(&mut update.first, date, |first| date < first);
            replace_if(&mut update.last, date, |last| last < date);
        }
    }

    /// Writes the counts to the table, in row order.
    fn write(&mut self, db: &Connection) -> rusqlite::Result<()> {
        let cited = self.links.iter_mut().filter(|link| 0 < link.citations);
        let mut cited: Vec<_> = cited.collect();
        cited.sort_unstable_by_key(|link| link.id);
        let mut insert = db.prepare_cached(INSERT_LINK)?;
        let mut update = db.prepare_cached(UPDATE_LINK)?;
        for link in cited {
            let (citations, messages) = (take(&mut link.citations), take(&mut link.messages));
            let (first, last) = (link.first.take(), link.last.take());
            let listed = take(&mut link.in_list_fields);
            link.is_stored = true;
            match link.new.take() {
                None => {
                    update.execute(params![link.id, citations, messages, first, last, listed])?
                }
                Some([scheme, host, domain]) => insert.execute(params![
                    link.id,
                    &*link.key,
                    scheme,
                    host,
                    domain,
                    citations,
                    messages,
                    listed,
                    first,
                    last,
                    clean_key(&link.key)
                ])?,
            };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
