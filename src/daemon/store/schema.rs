//! The tables of the state database.

/// `PRAGMA application_id` of a state: `urlw` in ASCII.
pub(super) const APPLICATION_ID: i64 = 0x7572_6C77;

/// `PRAGMA user_version`: the version of the tables. No other is read.
pub(super) const VERSION: i64 = 1;

/// The statements that create all tables.
pub(super) const TABLES: &str = "
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- The segment that is not sealed. phase: 0 open, 1 sealing. len and hash: of the committed lines.
CREATE TABLE segment(seq INTEGER PRIMARY KEY, phase INTEGER NOT NULL, name TEXT NOT NULL, len INTEGER NOT NULL,
  hash INTEGER NOT NULL, records INTEGER NOT NULL);
-- Mailboxes: within one, duplicates of a message are skipped. dev: the file system of the file that was read last. many: 1 if
-- some of its files hold many messages, so that a missing file does not mean a missing message; 2 if some of its messages lie
-- in archives together with those of other mailboxes, so that a missing mailbox is not detected either. gone: the day since
-- which it has no files.
CREATE TABLE mailbox(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, spool BLOB NOT NULL, dev INTEGER NOT NULL,
  many INTEGER NOT NULL, gone INTEGER);
-- Messages that were read: the first bytes of a hash of mailbox and digest.
CREATE TABLE seen(mailbox INTEGER, key BLOB, PRIMARY KEY(mailbox, key)) WITHOUT ROWID;
-- Files that were read completely, in their present version: a hash of their identity, and the first bits of the key of their
-- only message, if they hold one. place and len: of a file of one message that may grow, a hash of its path and the length of the message's canonical content.
-- look: a hash of the file's path, and one of its time of change (ctime); 0 if they are not known.
CREATE TABLE known(key INTEGER PRIMARY KEY, mailbox INTEGER NOT NULL, message INTEGER, gone INTEGER, place INTEGER, len INTEGER,
  look INTEGER NOT NULL);
CREATE INDEX known_place ON known(place) WHERE place IS NOT NULL;
-- Changes since the last segment was sealed, for the sidecar of the open one: keys of messages whose records are in it, files
-- that were read, mboxes that were read further, mailboxes that changed themselves or whose growing messages did.
CREATE TABLE fresh(mailbox INTEGER NOT NULL, key BLOB NOT NULL);
CREATE TABLE fresh_known(key INTEGER PRIMARY KEY);
CREATE TABLE fresh_mailbox(mailbox INTEGER PRIMARY KEY);
-- Messages that are not read because the process died of them. place: for the operator. version: of the program.
CREATE TABLE set_aside(key BLOB PRIMARY KEY, mailbox INTEGER NOT NULL, place TEXT NOT NULL, version TEXT NOT NULL) WITHOUT ROWID;
-- Growing messages: read at the end of a file, they may be continued.
CREATE TABLE tail(mailbox INTEGER, len INTEGER, hash BLOB, ids BLOB NOT NULL, digests BLOB NOT NULL,
  PRIMARY KEY(mailbox, len, hash)) WITHOUT ROWID;

-- The tables of holders.rs, which are empty unless tombstones are written. Paths of spools, and of mailboxes as records name them.
CREATE TABLE path(id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE);
-- Files that were read: the key of a row in known, or the pass of a row in file. spool: a path. dev: its file system. released:
-- 1 if the file is gone and the release of its messages has begun.
CREATE TABLE holder(key INTEGER PRIMARY KEY, spool INTEGER NOT NULL, dev INTEGER NOT NULL, released INTEGER NOT NULL);
-- The messages with records that each holder holds.
CREATE TABLE held(holder INTEGER, mailbox INTEGER, digest BLOB, PRIMARY KEY(holder, mailbox, digest)) WITHOUT ROWID;
-- Changes since the last segment was sealed: messages that were given, that are gone, that left seen.
CREATE TABLE fresh_given(mailbox INTEGER, digest BLOB, PRIMARY KEY(mailbox, digest)) WITHOUT ROWID;
CREATE TABLE fresh_gone(mailbox INTEGER, digest BLOB, PRIMARY KEY(mailbox, digest)) WITHOUT ROWID;
CREATE TABLE fresh_unread(mailbox INTEGER, key BLOB, PRIMARY KEY(mailbox, key)) WITHOUT ROWID;
-- How far each mbox was read, for each mailbox to which one of its names belongs.
CREATE TABLE file(dev INTEGER, ino INTEGER, btime INTEGER, first INTEGER NOT NULL, last INTEGER NOT NULL,
  guard INTEGER NOT NULL, head INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
  mailbox INTEGER NOT NULL, gone INTEGER, pass INTEGER NOT NULL, look INTEGER NOT NULL,
  PRIMARY KEY(dev, ino, btime, mailbox)) WITHOUT ROWID;
CREATE TABLE fresh_file(dev INTEGER, ino INTEGER, btime INTEGER, mailbox INTEGER,
  PRIMARY KEY(dev, ino, btime, mailbox)) WITHOUT ROWID;
-- Messages whose records were written, by the digest in the records. path: of the mailbox in the records. keys: under which they
-- are in seen. earlier: other digests, before the message had grown. files: number of holders.
CREATE TABLE given(digest BLOB, mailbox INTEGER, path INTEGER NOT NULL, keys BLOB NOT NULL, earlier BLOB NOT NULL,
  files INTEGER NOT NULL, PRIMARY KEY(digest, mailbox)) WITHOUT ROWID;
CREATE INDEX orphan ON given(mailbox) WHERE files=0;
-- Further mailboxes that records of messages with this digest name.
CREATE TABLE other_path(digest BLOB, mailbox INTEGER, path INTEGER, PRIMARY KEY(digest, mailbox, path)) WITHOUT ROWID;
-- Spools by the path under which the state keeps them. name: the last path in the configuration. target: where that led.
CREATE TABLE spool(path BLOB PRIMARY KEY, name BLOB NOT NULL, target BLOB NOT NULL, kind TEXT NOT NULL, dedupe TEXT NOT NULL) WITHOUT ROWID;
";
