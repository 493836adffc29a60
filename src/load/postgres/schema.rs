//! The tables in `PostgreSQL`: those of `SQLite`, with the types of the server.

use crate::load::LoadError;
use crate::load::columns::{Column, Table, names};
use crate::record::{Field, FieldId, FieldType};

/// The version of the tables, in `urlspool_tables`.
const VERSION: i32 = 1;

/// Checks that the tables of `name` have this version.
pub(super) fn check_version(name: &str, version: i64) -> Result<(), LoadError> {
    if version == i64::from(VERSION) {
        return Ok(());
    }
    Err(LoadError::unusable(format!(
        "{name} has tables of version {version}, which a newer urlspool made; this one knows \
         version {VERSION}: use the newer one, or load into a new database"
    )))
}

/// The error for tables of a development version, which have their version in `urlspool_version`.
pub(super) fn development_version(name: &str) -> LoadError {
    LoadError::unusable(format!(
        "the tables of {name} were made by a development version; load the records again, into a \
         new database"
    ))
}

/// The names of the tables, the view and their indexes, which must be free.
pub(super) const RELATIONS: &[&str] = &[
    "urlspool_tables",
    "urls",
    "links",
    "messages",
    "sources",
    "segments",
    "records",
    "messages_by_digest",
    "links_by_host",
    "links_by_domain",
    "urls_by_link",
    "urls_by_message",
    "urls_by_source",
    "urls_by_words",
];

/// Returns the type of a field's column. Texts are compared as bytes, as `SQLite` does.
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

/// Returns the statements that create the tables.
pub(super) fn tables() -> String {
    let [sources, messages, urls] =
        [Table::Sources, Table::Messages, Table::Urls].map(|table| table.definitions(sql_type));
    format!(
        "
CREATE TABLE urlspool_tables(version integer NOT NULL);
INSERT INTO urlspool_tables VALUES({VERSION});
CREATE TABLE sources(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key uuid NOT NULL UNIQUE,
  {sources}
);
-- mailbox_key: hash of the mailbox, as bytes.
CREATE TABLE messages(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  mailbox_key uuid NOT NULL,
  {messages}
);
CREATE UNIQUE INDEX messages_by_digest ON messages(digest, mailbox_key);
-- A key may be too long for an index, so that its hash is unique.
CREATE TABLE links(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text COLLATE \"C\" NOT NULL,
  key_hash uuid NOT NULL UNIQUE,
  scheme text COLLATE \"C\" NOT NULL,
  host text COLLATE \"C\",
  domain text COLLATE \"C\",
  citations bigint NOT NULL,
  messages bigint NOT NULL,
  first text COLLATE \"C\",
  last text COLLATE \"C\",
  clean_key text COLLATE \"C\"
);
CREATE INDEX links_by_host ON links USING hash(host);
CREATE INDEX links_by_domain ON links USING hash(domain);
CREATE TABLE urls(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  record_key uuid NOT NULL UNIQUE,
  record_id text COLLATE \"C\" NOT NULL,
  link bigint REFERENCES links(id),
  message bigint NOT NULL REFERENCES messages(id),
  source bigint NOT NULL REFERENCES sources(id),
  {urls},
  search tsvector NOT NULL
);
CREATE INDEX urls_by_link ON urls(link, message, cited);
CREATE INDEX urls_by_message ON urls(message);
CREATE INDEX urls_by_source ON urls(source);
CREATE INDEX urls_by_words ON urls USING gin(search);
CREATE TABLE segments(
  instance text NOT NULL,
  epoch bigint NOT NULL,
  seq bigint NOT NULL,
  hash text NOT NULL,
  PRIMARY KEY(instance, epoch, seq)
);
"
    )
}

/// Gives the tables an identifier: a database that is created again under its old name has another.
pub(super) const ADD_INSTANCE: &str =
    "ALTER TABLE urlspool_tables ADD COLUMN instance uuid NOT NULL DEFAULT gen_random_uuid()";

/// Returns the identifier of the tables. A copy has the same, but its database and its table have
/// other numbers.
pub(super) const INSTANCE: &str =
    "SELECT concat_ws('/', instance, pg_database.oid, 'urls'::regclass::oid)
  FROM urlspool_tables, pg_database WHERE datname = current_database()";

/// Returns the columns of the table `staging` that are made from fields. The mailbox stands in two
/// tables.
pub(super) fn staged_columns() -> Vec<Column> {
    let mut columns = Table::Urls.columns();
    columns.extend(Table::Sources.columns());
    let messages = Table::Messages.columns();
    columns.extend(
        messages
            .iter()
            .filter(|column| **column != Column::Field(FieldId::SourceMailbox)),
    );
    columns
}

/// Returns the statements that create the table that rows are copied into, and others, of this
/// connection only.
pub(super) fn staging() -> String {
    let columns = staged_columns();
    let definitions: Vec<_> = columns
        .iter()
        .map(|column| column.with_type(sql_type))
        .collect();
    format!(
        "
CREATE TEMP TABLE staging(
  number bigint, record_key uuid, source_key uuid, key_hash uuid, mailbox_key uuid, record_id text, key text COLLATE \"C\", clean_key text COLLATE \"C\", {}, search tsvector
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE moved(url bigint, message bigint, number bigint) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE kept(record_key uuid PRIMARY KEY) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE changed_links(id bigint PRIMARY KEY) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE changed_sources(id bigint PRIMARY KEY) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE changed_messages(id bigint PRIMARY KEY) ON COMMIT DELETE ROWS;
",
        definitions.join(", ")
    )
}

/// Settings of the connection: to compile statements costs more than it saves, and a sort of the
/// staged rows needs more memory than the server gives by default.
pub(super) const SETTINGS: &str = "SET jit = off;
  SELECT set_config('work_mem', '64MB', false) WHERE pg_size_bytes(current_setting('work_mem')) < 64 << 20";

/// Returns the statements that move the staged rows that are new into the tables, but for
/// [`insert_urls`], which comes after them. Those after the removal of known rows use the table
/// `staging` alone, so that each row is decided on once.
pub(super) fn merge() -> String {
    let [sources, messages] =
        [Table::Sources, Table::Messages].map(|table| names(&table.columns(), ""));
    let add_messages = format!(
        "INSERT INTO messages(mailbox_key, {messages})
           SELECT DISTINCT ON (digest, mailbox_key) mailbox_key, {messages}"
    );
    format!(
        "
-- Rows are looked up in the indexes of the tables: to read a table as a whole costs more with each row that it has.
SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
-- Only of what is compared: the statistics of words and of lists cost more than a merge gains.
ANALYZE staging(record_key, source_key, key_hash, mailbox_key, digest);
-- Not a join of the table with itself, whose work is the square of the number of copies.
DELETE FROM staging USING (SELECT number,
    row_number() OVER (PARTITION BY record_key ORDER BY mailbox_key <> last_mailbox, number) AS copy
  FROM (SELECT number, record_key, mailbox_key, last_value(mailbox_key) OVER (PARTITION BY record_key ORDER BY number
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS last_mailbox
    FROM staging) AS copies) AS numbered
  WHERE numbered.number = staging.number AND 1 < numbered.copy;
-- A row belongs to the mailbox for which the record was loaded last.
INSERT INTO moved SELECT urls.id, urls.message, staging.number
  FROM staging JOIN urls USING(record_key) JOIN messages ON messages.id = urls.message
  WHERE messages.mailbox_key <> staging.mailbox_key;
{add_messages}
  FROM staging JOIN moved USING(number) ORDER BY digest, mailbox_key, number ON CONFLICT DO NOTHING;
UPDATE urls SET message = messages.id FROM moved JOIN staging USING(number)
    JOIN messages ON messages.digest = staging.digest AND messages.mailbox_key = staging.mailbox_key
  WHERE urls.id = moved.url;
DELETE FROM messages USING moved WHERE messages.id = moved.message
  AND NOT EXISTS (SELECT FROM urls WHERE urls.message = messages.id);
TRUNCATE moved;
DELETE FROM staging USING urls WHERE urls.record_key = staging.record_key;
INSERT INTO sources(key, {sources}) SELECT DISTINCT ON (source_key) source_key, {sources}
  FROM staging ORDER BY source_key, number ON CONFLICT DO NOTHING;
INSERT INTO links(key, key_hash, scheme, host, domain, citations, messages, clean_key)
  SELECT DISTINCT ON (key_hash) key, key_hash, scheme, host, domain, 0, 0, clean_key
  FROM staging WHERE key_hash IS NOT NULL ORDER BY key_hash, number ON CONFLICT DO NOTHING;
-- Before their messages are added: a digest that is not there costs one lookup. OFFSET keeps the server from reading all rows
-- of the tables instead of looking these up.
UPDATE links SET citations = links.citations + new.citations, messages = links.messages + new.messages,
    first = least(links.first, new.first), last = greatest(links.last, new.last)
  FROM (SELECT link, sum(citations) AS citations, min(first) AS first, max(last) AS last,
      count(*) FILTER (WHERE NOT EXISTS (SELECT FROM messages WHERE messages.digest = cited.digest
        AND EXISTS (SELECT FROM urls WHERE urls.link = cited.link AND urls.message = messages.id OFFSET 0)
        OFFSET 0)) AS messages
    FROM (SELECT links.id AS link, digest, count(*) AS citations, min(cited) AS first, max(cited) AS last
      FROM staging JOIN links USING(key_hash) GROUP BY links.id, digest) AS cited GROUP BY link) AS new
  WHERE links.id = new.link;
{add_messages}
  FROM staging ORDER BY digest, mailbox_key, number ON CONFLICT DO NOTHING"
    )
}

/// Returns the statement that adds the rows of records that are still staged.
pub(super) fn insert_urls() -> String {
    let columns = Table::Urls.columns();
    let (urls, staged) = (names(&columns, ""), names(&columns, "s."));
    format!(
        "INSERT INTO urls(record_key, record_id, link, message, source, {urls}, search)
           SELECT s.record_key, s.record_id, links.id, messages.id, sources.id, {staged}, s.search
           FROM staging AS s JOIN sources ON sources.key = s.source_key
             JOIN messages ON messages.digest = s.digest AND messages.mailbox_key = s.mailbox_key
             LEFT JOIN links ON links.key_hash = s.key_hash
           ORDER BY s.number"
    )
}

/// Empties the staged rows, and ends the settings of [`merge`].
pub(super) const END_MERGE: &str = "TRUNCATE staging;
  SET LOCAL enable_hashjoin TO DEFAULT; SET LOCAL enable_mergejoin TO DEFAULT";

/// Removes the rows of messages: the hashes of their mailboxes, their digests. Returns the number of rows.
pub(super) const REMOVE_GONE: &str = "
WITH gone AS (DELETE FROM urls USING messages, unnest($1::text[], $2::text[]) AS message(mailbox_key, digest)
  WHERE messages.id = urls.message AND messages.digest = message.digest AND messages.mailbox_key = message.mailbox_key::uuid
  RETURNING urls.id, urls.link, urls.message, urls.source),";

/// Returns the files of which no row was remembered.
pub(super) const FILES_WITHOUT_ROWS: &str = "
SELECT path, coalesce(path_b64, '') FROM sources
EXCEPT SELECT sources.path, coalesce(sources.path_b64, '')
  FROM kept JOIN urls USING(record_key) JOIN sources ON sources.id = urls.source";

/// Removes the rows of the input's files, and of others, but not of a third list, that are not rows
/// of the input.
pub(super) const REMOVE_REPLACED: &str = "
WITH replaced(path, path_b64) AS ((SELECT sources.path, coalesce(sources.path_b64, '')
    FROM kept JOIN urls USING(record_key) JOIN sources ON sources.id = urls.source
    UNION SELECT * FROM unnest($1::text[], $2::text[]))
  EXCEPT SELECT * FROM unnest($3::text[], $4::text[])),
gone AS (DELETE FROM urls USING sources WHERE sources.id = urls.source
  AND (sources.path, coalesce(sources.path_b64, '')) IN (SELECT path, path_b64 FROM replaced)
  AND NOT EXISTS (SELECT FROM kept WHERE kept.record_key = urls.record_key)
  RETURNING urls.id, urls.link, urls.message, urls.source),";

/// Notes what the rows `gone` referred to, and returns these rows. It is the end of the two
/// statements before.
pub(super) const NOTE_PARENTS: &str = "
  links AS (INSERT INTO changed_links SELECT DISTINCT link FROM gone WHERE link IS NOT NULL ON CONFLICT DO NOTHING),
  places AS (INSERT INTO changed_sources SELECT DISTINCT source FROM gone ON CONFLICT DO NOTHING),
  owners AS (INSERT INTO changed_messages SELECT DISTINCT message FROM gone ON CONFLICT DO NOTHING)
  SELECT id FROM gone";

/// Removes messages and sources that lost rows and have none left.
pub(super) const REMOVE_PARENTS: &str = "
DELETE FROM messages USING changed_messages AS changed WHERE messages.id = changed.id
  AND NOT EXISTS (SELECT FROM urls WHERE urls.message = messages.id);
DELETE FROM sources USING changed_sources AS changed WHERE sources.id = changed.id
  AND NOT EXISTS (SELECT FROM urls WHERE urls.source = sources.id);
TRUNCATE changed_messages, changed_sources;";

/// Computes the numbers of links that lost rows, and removes links without rows.
pub(super) const RECOMPUTE_LINKS: &str = "
DELETE FROM links USING changed_links AS changed WHERE links.id = changed.id
  AND NOT EXISTS (SELECT FROM urls WHERE urls.link = links.id);
UPDATE links SET (citations, messages, first, last) =
  (SELECT count(*), count(DISTINCT messages.digest), min(urls.cited), max(urls.cited)
    FROM urls JOIN messages ON messages.id = urls.message WHERE urls.link = links.id)
  WHERE id IN (SELECT id FROM changed_links);
TRUNCATE changed_links;";
