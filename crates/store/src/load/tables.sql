-- The tables of SQLite and PostgreSQL. A word in braces stands for what differs: `columns.rs` fills
-- in the columns of fields, and each of the two databases its types and indexes.

-- Files, and members of archives. key: hash of the path and the members' names, as bytes.
CREATE TABLE sources(
  id {id},
  key {hash} NOT NULL UNIQUE,
  {sources}
);
-- Messages that hold URLs, one row for each digest and mailbox. mailbox_key: hash of the mailbox,
-- as bytes.
CREATE TABLE messages(
  id {id},
  mailbox_key {hash} NOT NULL,
  {messages}
);
CREATE UNIQUE INDEX messages_by_digest ON messages(digest, mailbox_key);
-- One row for each key. citations: its rows in urls; messages: the distinct digests of these;
-- first, last: the smallest and the largest cited of these; in_list_fields: citations in the header
-- fields List-* and Archived-At; clean_key: the key without parameters that count visitors.
CREATE TABLE links(
  id {id},
  key {unique key},
  scheme {text} NOT NULL,
  host {text},
  domain {text},
  citations {number} NOT NULL,
  messages {number} NOT NULL,
  in_list_fields {number} NOT NULL,
  first {text},
  last {text},
  clean_key {text}
);
CREATE INDEX links_by_host ON links{equal}(host);
CREATE INDEX links_by_domain ON links{equal}(domain);
-- One row for each record. record_key: hash of the record's id and its source; record_id: the
-- record's id; cited: the date of the innermost message that has one, if it is plausible;
-- author_by: kind of the innermost message. If it is 'outer', the other columns of the author are
-- null.
CREATE TABLE urls(
  id {id},
  record_key {hash} NOT NULL UNIQUE,
  record_id {text} NOT NULL,
  link {number} REFERENCES links(id),
  message {number} NOT NULL REFERENCES messages(id),
  source {number} NOT NULL REFERENCES sources(id),
  {urls}{search}
);
CREATE INDEX urls_by_link ON urls(link, message, cited);
CREATE INDEX urls_by_message ON urls(message);
CREATE INDEX urls_by_source ON urls(source);
CREATE INDEX urls_by_author ON urls(author_from) WHERE author_by <> 'outer';
-- Segments of the daemon whose rows are here.
CREATE TABLE segments(
  instance {text} NOT NULL,
  epoch {number} NOT NULL,
  seq {number} NOT NULL,
  hash {text} NOT NULL,
  PRIMARY KEY(instance, epoch, seq)
){without rowid};
