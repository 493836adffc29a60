//! The tables of a database that was loaded.

use crate::load::columns::{Table, records_view};
use crate::load::words::tokenizer;
use crate::record::{Field, FieldType};

/// `PRAGMA application_id` of a database of this program: `urlp` in ASCII.
pub(super) const APPLICATION_ID: i32 = 0x7572_6C70;

/// That of a database of a development version: `urls`.
pub(super) const DEVELOPMENT_ID: i32 = 0x7572_6C73;

/// `PRAGMA user_version`: the version of the tables.
pub(super) const VERSION: i32 = 1;

/// Returns the statements that create the texts that are searched, and their full-text index: the
/// table `search` holds only the index of the texts, which the view gives.
pub(super) fn search_tables() -> String {
    format!(
        "CREATE VIEW texts AS
  SELECT urls.id, urls.url, urls.anchor, messages.subject, messages.sender, urls.context_before, urls.context_after
  FROM urls JOIN messages ON messages.id = urls.message;
CREATE VIRTUAL TABLE search USING fts5({SEARCHED}, content='texts', content_rowid='id', tokenize=\"{}\");",
        tokenizer()
    )
}

/// The columns of `texts` and `search`.
pub(super) const SEARCHED: &str = "url, anchor, subject, sender, context_before, context_after";

/// Returns the type of a field's column.
fn sql_type(field: &Field) -> &'static str {
    match field.json_type {
        FieldType::Integer | FieldType::Boolean => "INTEGER",
        FieldType::Number => "REAL",
        FieldType::Text | FieldType::Texts | FieldType::Object | FieldType::List => "TEXT",
    }
}

/// Returns the statements that create all tables and views. `docs/loading.md` describes them for
/// users.
pub(super) fn tables() -> String {
    let [sources, messages, urls] =
        [Table::Sources, Table::Messages, Table::Urls].map(|table| table.definitions(sql_type));
    let (search, records) = (search_tables(), records_view());
    format!(
        "
-- Files, and members of archives. key: hash of the path and the members' names, as bytes.
CREATE TABLE sources(
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL UNIQUE,
  {sources}
);

-- Messages that hold URLs, one row for each digest and mailbox. mailbox_key: hash of the mailbox, as bytes.
CREATE TABLE messages(
  id INTEGER PRIMARY KEY,
  mailbox_key BLOB NOT NULL,
  {messages},
  UNIQUE(digest, mailbox_key)
);

-- One row for each key. citations: its rows in urls; messages: the distinct digests of these; first, last: the smallest and
-- the largest cited of these; clean_key: the key without parameters that count visitors.
CREATE TABLE links(
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  scheme TEXT NOT NULL,
  host TEXT,
  domain TEXT,
  citations INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  first TEXT,
  last TEXT,
  clean_key TEXT
);
CREATE INDEX links_by_host ON links(host);
CREATE INDEX links_by_domain ON links(domain);

-- One row for each record. record_key: hash of the record's id and its source; record_id: the record's id; cited: the date of
-- the message, if it is plausible.
CREATE TABLE urls(
  id INTEGER PRIMARY KEY,
  record_key BLOB NOT NULL UNIQUE,
  record_id TEXT NOT NULL,
  link INTEGER REFERENCES links(id),
  message INTEGER NOT NULL REFERENCES messages(id),
  source INTEGER NOT NULL REFERENCES sources(id),
  {urls}
);
CREATE INDEX urls_by_link ON urls(link, message, cited);
CREATE INDEX urls_by_message ON urls(message);
CREATE INDEX urls_by_source ON urls(source);

-- Segments of the daemon whose rows are here.
CREATE TABLE segments(
  instance TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY(instance, epoch, seq)
) WITHOUT ROWID;

-- The texts that are searched.
{search}
{records}"
    )
}
