//! The tables in `PostgreSQL`, which match those in `SQLite` except for the types.

use crate::load::LoadError;
use crate::load::columns::{Column, Table, created_tables, names};
use urlspool_record::record::{Field, FieldId, FieldType};

/// Version of the tables, in `urlspool_tables`.
const VERSION: i32 = 1;

/// Checks that the tables of `name` have this version.
pub(super) fn check_version(name: &str, version: i64) -> Result<(), LoadError> {
    if version == i64::from(VERSION) {
        return Ok(());
    }
    Err(LoadError::unusable(format!(
        "{name} has tables of version {version}, made by a newer urlspool; use that one, or load \
         into a new database with version {VERSION}"
    )))
}

/// Counts the columns of `links` that were added last. Development versions had none.
pub(super) const HAS_LIST_FIELDS: &str = "SELECT count(*) FROM pg_attribute
  WHERE attrelid = 'links'::regclass AND attname = 'in_list_fields'";

/// Creates the error for tables of a development version, which keep their version in
/// `urlspool_version` or lack a column.
pub(super) fn development_version(name: &str) -> LoadError {
    LoadError::unusable(format!(
        "the tables of {name} were made by a development version; load the records again, into a \
         new database"
    ))
}

/// Selects a table, view or index whose name is needed in the schema where the tables would be
/// created.
pub(super) const FOREIGN_TABLE: &str = "SELECT relname::text FROM pg_class
  WHERE relnamespace = to_regnamespace(current_schema())
    AND relname IN ('urlspool_tables', 'urls', 'links', 'messages', 'sources', 'segments', \
    'records',
      'messages_by_digest', 'links_by_host', 'links_by_domain', 'urls_by_link', 'urls_by_message',
      'urls_by_source', 'urls_by_author', 'urls_by_words')
  ORDER BY relname LIMIT 1";

/// Returns the SQL type of a field's column. Texts are compared as bytes, as in `SQLite`.
fn sql_type(field: &Field) -> &'static str {
    match field.json_type {
        FieldType::Integer if field.name == FieldId::Port.name() => "integer",
        FieldType::Integer => "bigint",
        FieldType::Number => "double precision",
        FieldType::Boolean => "boolean",
        FieldType::Text => "text COLLATE \"C\"",
        FieldType::Texts | FieldType::Object | FieldType::List => "jsonb",
    }
}

/// Replacements for the placeholders in `tables.sql`. A key may be too long for an index, so its
/// hash is unique instead. [`ADD_INSTANCE`] adds the instance of the tables later.
const WORDS: [(&str, &str); 8] = [
    ("{id}", "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
    ("{hash}", "uuid"),
    ("{text}", "text COLLATE \"C\""),
    ("{number}", "bigint"),
    (
        "{unique key}",
        "text COLLATE \"C\" NOT NULL, key_hash uuid NOT NULL UNIQUE",
    ),
    ("{equal}", " USING hash"),
    ("{search}", ", search tsvector NOT NULL"),
    ("{without rowid}", ""),
];

/// Returns the statements that create the tables.
pub(super) fn tables() -> String {
    let tables = created_tables(sql_type, &WORDS);
    format!(
        "CREATE TABLE urlspool_tables(version integer NOT NULL); INSERT INTO urlspool_tables \
            VALUES({VERSION});
         {tables} CREATE INDEX urls_by_words ON urls USING gin(search);"
    )
}

/// Adds an identifier to the tables. A database that is created again under the same name gets a
/// new one.
pub(super) const ADD_INSTANCE: &str =
    "ALTER TABLE urlspool_tables ADD COLUMN instance uuid NOT NULL DEFAULT gen_random_uuid()";

/// Selects the identifier of the tables. A copied database has the same instance, but other object
/// numbers.
pub(super) const INSTANCE: &str =
    "SELECT concat_ws('/', instance, pg_database.oid, 'urls'::regclass::oid)
  FROM urlspool_tables, pg_database WHERE datname = current_database()";

/// Returns the columns of the table `staging` that hold fields. Two tables have a column for the
/// mailbox; here it is listed once.
pub(super) fn staged_columns() -> Vec<Column> {
    let tables = [Table::Urls, Table::Sources, Table::Messages];
    let mut columns: Vec<Column> = Vec::new();
    for column in tables.iter().flat_map(|table| table.columns()) {
        if !columns.contains(column) {
            columns.push(*column);
        }
    }
    columns
}

/// Returns the statements that create the connection's temporary tables, among them the table that
/// rows are copied into.
pub(super) fn staging() -> String {
    let columns = staged_columns();
    let definitions = columns.iter().map(|column| column.with_type(sql_type));
    let definitions: Vec<_> = definitions.collect();
    include_str!("staging.sql").replace("{columns}", &definitions.join(", "))
}

/// Settings of the connection. Compiling statements costs more than it saves, and sorting the
/// staged rows needs more memory than the default.
pub(super) const SETTINGS: &str = "SET jit = off;
  SELECT set_config('work_mem', '64MB', false) WHERE pg_size_bytes(current_setting('work_mem')) < \
  64 << 20";

/// Returns the statements that move new staged rows into all tables except `urls`. [`insert_urls`]
/// must follow.
pub(super) fn merge() -> String {
    let [sources, messages] =
        [Table::Sources, Table::Messages].map(|table| names(table.columns(), ""));
    let sql = include_str!("merge.sql").replace("{sources}", &sources);
    sql.replace("{messages}", &messages)
}

/// Returns the statement that adds the rows of the records that are still staged.
pub(super) fn insert_urls() -> String {
    let columns = Table::Urls.columns();
    let (urls, staged) = (names(columns, ""), names(columns, "s."));
    let sql = include_str!("insert_urls.sql").replace("{urls}", &urls);
    sql.replace("{staged}", &staged)
}

/// Empties the staging table and resets the settings that [`merge`] changed.
pub(super) const END_MERGE: &str = "TRUNCATE staging;
  SET LOCAL enable_hashjoin TO DEFAULT; SET LOCAL enable_mergejoin TO DEFAULT";

/// Removes the rows of messages, given the hashes of their mailboxes and their digests. Returns the
/// number of rows.
pub(super) const REMOVE_GONE: &str = include_str!("remove_gone.sql");

/// Remembers the staged records for [`REMOVE_REPLACED`], and updates the positions of their rows.
pub(super) const KEEP: &str = include_str!("keep.sql");

/// Selects the files without a remembered row.
pub(super) const FILES_WITHOUT_ROWS: &str = include_str!("files_without_rows.sql");

/// Removes rows that are not in the input. Covers the input's files and a first list of files, but
/// not a second list.
pub(super) const REMOVE_REPLACED: &str = include_str!("remove_replaced.sql");

/// End of the two removal statements above: records the rows that the removed rows referred to, and
/// returns the removed rows.
pub(super) const NOTE_PARENTS: &str = include_str!("note_parents.sql");

/// Removes messages and sources that have lost their last row.
pub(super) const REMOVE_PARENTS: &str = include_str!("remove_parents.sql");

/// Recomputes the counts of links that lost rows, and removes links without rows.
pub(super) const RECOMPUTE_LINKS: &str = include_str!("recompute_links.sql");
