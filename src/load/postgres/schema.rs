//! The tables in `PostgreSQL`: those of `SQLite`, with the types of the server.

/// The version of the tables, in `urlspool_version`.
pub(super) const VERSION: i32 = 1;

/// The names of the tables, the view and their indexes, which must be free.
pub(super) const RELATIONS: &[&str] = &[
    "urlspool_version",
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

/// The tables. Texts are compared as bytes, as `SQLite` does.
pub(super) const TABLES: &str = "
CREATE TABLE urlspool_version(version integer NOT NULL);
INSERT INTO urlspool_version VALUES(1);
CREATE TABLE sources(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key uuid NOT NULL UNIQUE,
  path text COLLATE \"C\" NOT NULL,
  path_b64 text,
  member jsonb,
  member_b64 jsonb,
  mailbox text COLLATE \"C\" NOT NULL,
  kind text NOT NULL
);
CREATE TABLE messages(
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  digest text COLLATE \"C\" NOT NULL,
  mailbox text COLLATE \"C\" NOT NULL,
  message_id text COLLATE \"C\",
  date text COLLATE \"C\",
  date_raw text,
  sender text COLLATE \"C\",
  subject text COLLATE \"C\",
  newsgroups jsonb NOT NULL,
  list_id text COLLATE \"C\",
  reference_ids jsonb NOT NULL
);
-- A mailbox is a path, which may be too long for an index.
CREATE UNIQUE INDEX messages_by_digest ON messages(digest, md5(mailbox));
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
  last text COLLATE \"C\"
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
  url text COLLATE \"C\" NOT NULL,
  fragment text COLLATE \"C\",
  scheme text COLLATE \"C\" NOT NULL,
  host text COLLATE \"C\",
  domain text COLLATE \"C\",
  port integer,
  href text COLLATE \"C\",
  cited text COLLATE \"C\",
  conforms jsonb NOT NULL,
  warnings jsonb NOT NULL,
  hazards jsonb NOT NULL,
  form text,
  wrapper text NOT NULL,
  repairs jsonb NOT NULL,
  confidence double precision NOT NULL,
  truncated boolean NOT NULL,
  region text COLLATE \"C\" NOT NULL,
  quote_depth bigint NOT NULL,
  anchor text COLLATE \"C\",
  mismatch boolean,
  unwrapped_from text,
  unwrapped_by text,
  start bigint NOT NULL,
  \"end\" bigint NOT NULL,
  line bigint NOT NULL,
  exact boolean NOT NULL,
  count bigint,
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
";

/// Gives the tables an identifier: a database that is created again under its old name has another.
pub(super) const ADD_INSTANCE: &str =
    "ALTER TABLE urlspool_version ADD COLUMN instance uuid NOT NULL DEFAULT gen_random_uuid()";

/// Returns 1 if the tables have an identifier, else 0.
pub(super) const HAS_INSTANCE: &str = "SELECT count(*) FROM pg_attribute
  WHERE attrelid = 'urlspool_version'::regclass AND attname = 'instance' AND NOT attisdropped";

/// Returns 1 if the view `records` is one of an earlier version, which has the mailboxes of the table `sources`, and may be replaced.
pub(super) const HAS_OLD_VIEW: &str =
    "SELECT count(*) FROM pg_class WHERE oid = to_regclass('records')
  AND pg_get_viewdef(oid) LIKE '%sources.mailbox%' AND pg_has_role(relowner, 'USAGE')";

/// Returns the identifier of the tables. A copy has the same, but its database and its table have other numbers.
pub(super) const INSTANCE: &str =
    "SELECT concat_ws('/', instance, pg_database.oid, 'urls'::regclass::oid)
  FROM urlspool_version, pg_database WHERE datname = current_database()";

/// The table that rows are copied into, of this connection only.
pub(super) const STAGING: &str = "
CREATE TEMP TABLE staging(
  number bigint, record_key uuid, source_key uuid, record_id text, key text COLLATE \"C\", key_hash uuid, url text, fragment text,
  scheme text, host text, domain text, port integer, href text, cited text, conforms jsonb, warnings jsonb, hazards jsonb,
  form text, wrapper text, repairs jsonb, confidence double precision, truncated boolean, region text, quote_depth bigint,
  anchor text, mismatch boolean, unwrapped_from text, unwrapped_by text, path text, path_b64 text, member jsonb,
  member_b64 jsonb, mailbox text COLLATE \"C\", kind text, start bigint, \"end\" bigint, line bigint, exact boolean, count bigint,
  message_id text, digest text COLLATE \"C\", date text, date_raw text, sender text, subject text, newsgroups jsonb, list_id text,
  reference_ids jsonb, search tsvector
) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE moved(url bigint, message bigint, number bigint) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE kept(record_key uuid PRIMARY KEY) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE changed_links(id bigint PRIMARY KEY) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE changed_sources(id bigint PRIMARY KEY) ON COMMIT DELETE ROWS;
CREATE TEMP TABLE changed_messages(id bigint PRIMARY KEY) ON COMMIT DELETE ROWS;
";

/// Has the rows of a merge looked up in the indexes of the tables: to read a table as a whole costs more with each row that it has.
pub(super) const BEGIN_LOOKUPS: &str =
    "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off";

pub(super) const END_LOOKUPS: &str =
    "SET LOCAL enable_hashjoin TO DEFAULT; SET LOCAL enable_mergejoin TO DEFAULT";

/// Settings of the connection: to compile statements costs more than it saves, and a sort of the staged rows needs more memory than
/// the server gives by default.
pub(super) const SETTINGS: &str = "SET jit = off;
  SELECT set_config('work_mem', '64MB', false) WHERE pg_size_bytes(current_setting('work_mem')) < 64 << 20";

/// Moves the staged rows that are new into the tables. The statements after the first use the table `staging` alone, so that each
/// row is decided on once. The last one returns the number of rows added.
pub(super) const MERGE: &[&str] = &[
    // Only of what is compared: the statistics of words and of lists cost more than a merge gains.
    "ANALYZE staging(record_key, source_key, key_hash, digest)",
    // Not a join of the table with itself, whose work is the square of the number of copies.
    "DELETE FROM staging USING (SELECT number,
           row_number() OVER (PARTITION BY record_key ORDER BY mailbox <> last_mailbox, number) AS copy
         FROM (SELECT number, record_key, mailbox, last_value(mailbox) OVER (PARTITION BY record_key ORDER BY number
             ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS last_mailbox
           FROM staging) AS copies) AS numbered
       WHERE numbered.number = staging.number AND 1 < numbered.copy",
    // A row belongs to the mailbox for which the record was loaded last.
    "INSERT INTO moved SELECT urls.id, urls.message, staging.number
       FROM staging JOIN urls USING(record_key) JOIN messages ON messages.id = urls.message
       WHERE messages.mailbox <> staging.mailbox",
    "INSERT INTO messages(digest, mailbox, message_id, date, date_raw, sender, subject, newsgroups, list_id, reference_ids)
       SELECT DISTINCT ON (digest, mailbox) digest, mailbox, message_id, date, date_raw, sender, subject, newsgroups, list_id,
         reference_ids
       FROM staging JOIN moved USING(number) ORDER BY digest, mailbox, number ON CONFLICT DO NOTHING",
    "UPDATE urls SET message = messages.id FROM moved JOIN staging USING(number)
         JOIN messages ON messages.digest = staging.digest AND md5(messages.mailbox) = md5(staging.mailbox)
       WHERE urls.id = moved.url",
    "DELETE FROM messages USING moved WHERE messages.id = moved.message
       AND NOT EXISTS (SELECT FROM urls WHERE urls.message = messages.id)",
    "TRUNCATE moved",
    "DELETE FROM staging USING urls WHERE urls.record_key = staging.record_key",
    "INSERT INTO sources(key, path, path_b64, member, member_b64, mailbox, kind)
       SELECT DISTINCT ON (source_key) source_key, path, path_b64, member, member_b64, mailbox, kind
       FROM staging ORDER BY source_key, number ON CONFLICT DO NOTHING",
    "INSERT INTO links(key, key_hash, scheme, host, domain, citations, messages)
       SELECT DISTINCT ON (key_hash) key, key_hash, scheme, host, domain, 0, 0
       FROM staging WHERE key_hash IS NOT NULL ORDER BY key_hash, number ON CONFLICT DO NOTHING",
    // Before their messages are added: a digest that is not there costs one lookup. OFFSET keeps the server from reading all rows
    // of the tables instead of looking these up.
    "UPDATE links SET citations = links.citations + new.citations, messages = links.messages + new.messages,
         first = least(links.first, new.first), last = greatest(links.last, new.last)
       FROM (SELECT link, sum(citations) AS citations, min(first) AS first, max(last) AS last,
           count(*) FILTER (WHERE NOT EXISTS (SELECT FROM messages WHERE messages.digest = cited.digest
             AND EXISTS (SELECT FROM urls WHERE urls.link = cited.link AND urls.message = messages.id OFFSET 0)
             OFFSET 0)) AS messages
         FROM (SELECT links.id AS link, digest, count(*) AS citations, min(cited) AS first, max(cited) AS last
           FROM staging JOIN links USING(key_hash) GROUP BY links.id, digest) AS cited GROUP BY link) AS new
       WHERE links.id = new.link",
    "INSERT INTO messages(digest, mailbox, message_id, date, date_raw, sender, subject, newsgroups, list_id, reference_ids)
       SELECT DISTINCT ON (digest, mailbox) digest, mailbox, message_id, date, date_raw, sender, subject, newsgroups, list_id,
         reference_ids
       FROM staging ORDER BY digest, mailbox, number ON CONFLICT DO NOTHING",
    "INSERT INTO urls(record_key, record_id, link, message, source, url, fragment, scheme, host, domain, port, href, cited,
         conforms, warnings, hazards, form, wrapper, repairs, confidence, truncated, region, quote_depth, anchor, mismatch,
         unwrapped_from, unwrapped_by, start, \"end\", line, exact, count, search)
       SELECT s.record_key, s.record_id, links.id, messages.id, sources.id, s.url, s.fragment, s.scheme, s.host, s.domain,
         s.port, s.href, s.cited, s.conforms, s.warnings, s.hazards, s.form, s.wrapper, s.repairs, s.confidence, s.truncated,
         s.region, s.quote_depth, s.anchor, s.mismatch, s.unwrapped_from, s.unwrapped_by, s.start, s.\"end\", s.line, s.exact,
         s.count, s.search
       FROM staging AS s JOIN sources ON sources.key = s.source_key
         JOIN messages ON messages.digest = s.digest AND md5(messages.mailbox) = md5(s.mailbox)
         LEFT JOIN links ON links.key_hash = s.key_hash
       ORDER BY s.number",
];

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
