//! The tables of a database that was loaded.

use crate::load::words::separators_for_sqlite;

/// `PRAGMA application_id` of a database of this program: `urls` in ASCII.
pub(super) const APPLICATION_ID: i32 = 0x7572_6C73;

/// `PRAGMA user_version`: the version of the tables.
pub(super) const VERSION: i32 = 1;

/// The tokenizer of the full-text index: words as [`crate::load::words`] has them.
pub(in crate::load) fn tokenizer() -> String {
    let separators = separators_for_sqlite();
    format!("unicode61 remove_diacritics 0 categories 'L* N* M* Co' separators '{separators}'")
}

/// The full-text index. The table `search` holds only the index of the texts, which the view gives.
pub(super) fn search_table() -> String {
    format!(
        "CREATE VIRTUAL TABLE search USING fts5(url, anchor, subject, sender,
           content='texts', content_rowid='id', tokenize=\"{}\")",
        tokenizer()
    )
}

/// The tables but the full-text index. `docs/loading.md` describes them for users.
pub(super) const TABLES: &str = "
-- Files, and members of archives. key: hash of the path and the members' names, as bytes.
CREATE TABLE sources(
  id INTEGER PRIMARY KEY,
  key BLOB NOT NULL UNIQUE,
  path TEXT NOT NULL,
  path_b64 TEXT,
  member TEXT,
  member_b64 TEXT,
  mailbox TEXT NOT NULL,
  kind TEXT NOT NULL
);

-- Messages that hold URLs, one row for each digest and mailbox.
CREATE TABLE messages(
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL,
  mailbox TEXT NOT NULL,
  message_id TEXT,
  date TEXT,
  date_raw TEXT,
  sender TEXT,
  subject TEXT,
  newsgroups TEXT NOT NULL,
  list_id TEXT,
  reference_ids TEXT NOT NULL,
  UNIQUE(digest, mailbox)
);

-- One row for each key. citations: its rows in urls; messages: the distinct digests of these; first, last: the smallest and
-- the largest cited of these.
CREATE TABLE links(
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  scheme TEXT NOT NULL,
  host TEXT,
  domain TEXT,
  citations INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  first TEXT,
  last TEXT
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
  url TEXT NOT NULL,
  fragment TEXT,
  scheme TEXT NOT NULL,
  host TEXT,
  domain TEXT,
  port INTEGER,
  href TEXT,
  cited TEXT,
  conforms TEXT NOT NULL,
  warnings TEXT NOT NULL,
  hazards TEXT NOT NULL,
  form TEXT,
  wrapper TEXT NOT NULL,
  repairs TEXT NOT NULL,
  confidence REAL NOT NULL,
  truncated INTEGER NOT NULL,
  region TEXT NOT NULL,
  quote_depth INTEGER NOT NULL,
  anchor TEXT,
  mismatch INTEGER,
  unwrapped_from TEXT,
  unwrapped_by TEXT,
  start INTEGER NOT NULL,
  \"end\" INTEGER NOT NULL,
  line INTEGER NOT NULL,
  exact INTEGER NOT NULL,
  count INTEGER
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
CREATE VIEW texts AS
  SELECT urls.id, urls.url, urls.anchor, messages.subject, messages.sender
  FROM urls JOIN messages ON messages.id = urls.message;
";
