CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- The unsealed segment. phase: 0 open, 1 sealing. len and hash: of the committed lines.
CREATE TABLE segment(seq INTEGER PRIMARY KEY, phase INTEGER NOT NULL, name TEXT NOT NULL,
  len INTEGER NOT NULL, hash INTEGER NOT NULL, records INTEGER NOT NULL);
-- Mailboxes: duplicates of a message within one are skipped. dev: the file system of the file read
-- last. many: 1 if some files of the mailbox contain many messages, so a missing file does not mean
-- a missing message; 2 if some of its messages are in archives together with those of other
-- mailboxes, so a missing mailbox cannot be detected either. gone: the day since which it has no
-- files.
CREATE TABLE mailbox(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, spool BLOB NOT NULL,
  dev INTEGER NOT NULL, many INTEGER NOT NULL, gone INTEGER);
-- Read messages: the first bytes of a hash of mailbox and digest.
CREATE TABLE seen(mailbox INTEGER, key BLOB, PRIMARY KEY(mailbox, key)) WITHOUT ROWID;
-- Files in the version that was read. key: a hash of the file's identity, including its version if
-- it was read completely, and its mailbox if it is an mbox. message: the first bits of the key of
-- its message, if it contains exactly one. place and len: for a file whose only message may grow, a
-- hash of its path and the length of the message's canonical content. position: for an mbox, how
-- far it was read, in JSON. holder: the key that holds its messages. look: hashes of the file's
-- path and of its time of change (ctime); 0 if they are unknown. gone: the day since which the file
-- is missing.
CREATE TABLE file(key INTEGER PRIMARY KEY, mailbox INTEGER NOT NULL, message INTEGER,
  place INTEGER, len INTEGER, position TEXT, holder INTEGER NOT NULL, look INTEGER NOT NULL,
  gone INTEGER);
CREATE INDEX file_place ON file(place) WHERE place IS NOT NULL;
-- Changes since the last segment was sealed, for the sidecar of the open one: keys of messages
-- whose records are in it, files that were read or read further, and mailboxes whose own rows or
-- growing messages changed.
CREATE TABLE fresh(mailbox INTEGER NOT NULL, key BLOB NOT NULL);
CREATE TABLE fresh_file(key INTEGER PRIMARY KEY);
CREATE TABLE fresh_mailbox(mailbox INTEGER PRIMARY KEY);
-- Messages that are skipped because the process died of them. place: for the operator. version: of
-- the program.
CREATE TABLE set_aside(key BLOB PRIMARY KEY, mailbox INTEGER NOT NULL, place TEXT NOT NULL,
  version TEXT NOT NULL) WITHOUT ROWID;
-- Growing messages: read at the end of a file, they may continue.
CREATE TABLE tail(mailbox INTEGER, len INTEGER, hash BLOB, ids BLOB NOT NULL, digests BLOB NOT NULL,
  PRIMARY KEY(mailbox, len, hash)) WITHOUT ROWID;

-- The tables of gone.rs, empty unless tombstones are written. Paths of spools, and of mailboxes as
-- records name them.
CREATE TABLE path(id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE);
-- Read files, by the column holder of their rows. spool: a path. dev: the file system. released: 1
-- if the file is gone and the release of its messages has started.
CREATE TABLE holder(key INTEGER PRIMARY KEY, spool INTEGER NOT NULL, dev INTEGER NOT NULL,
  released INTEGER NOT NULL);
-- The messages with records that each holder holds.
CREATE TABLE held(holder INTEGER, mailbox INTEGER, digest BLOB,
  PRIMARY KEY(holder, mailbox, digest)) WITHOUT ROWID;
-- Changes since the last segment was sealed: given messages, gone messages, and messages removed
-- from seen.
CREATE TABLE fresh_given(mailbox INTEGER, digest BLOB, PRIMARY KEY(mailbox, digest)) WITHOUT ROWID;
CREATE TABLE fresh_gone(mailbox INTEGER, digest BLOB, PRIMARY KEY(mailbox, digest)) WITHOUT ROWID;
CREATE TABLE fresh_unread(mailbox INTEGER, key BLOB, PRIMARY KEY(mailbox, key)) WITHOUT ROWID;
-- Messages whose records were written, by the digest in the records. path: the mailbox in the
-- records. keys: their keys in seen. earlier: other digests, from before the message had grown.
-- files: number of holders.
CREATE TABLE given(digest BLOB, mailbox INTEGER, path INTEGER NOT NULL, keys BLOB NOT NULL,
  earlier BLOB NOT NULL, files INTEGER NOT NULL, PRIMARY KEY(digest, mailbox)) WITHOUT ROWID;
CREATE INDEX orphan ON given(mailbox) WHERE files=0;
-- Other mailboxes named in records of messages with this digest.
CREATE TABLE other_path(digest BLOB, mailbox INTEGER, path INTEGER,
  PRIMARY KEY(digest, mailbox, path)) WITHOUT ROWID;
-- Spools by the path under which the state keeps them. name: the last path in the configuration.
-- target: the path that name resolved to.
CREATE TABLE spool(path BLOB PRIMARY KEY, name BLOB NOT NULL, target BLOB NOT NULL,
  kind TEXT NOT NULL, dedupe TEXT NOT NULL) WITHOUT ROWID;
