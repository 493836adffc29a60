//! What the daemon knows: one `SQLite` database, one connection.
//!
//! Everything between [`StateDb::begin`] and [`StateDb::commit`] is one transaction; the segment is synced before the
//! commit, and only then is the work done. Offsets are a way to be fast; the keys of seen messages are the truth.

mod db;
mod forget;
mod fresh;
mod sum;

pub(crate) use forget::SeenFiles;

use std::path::Path;

use rusqlite::params;

use super::shutdown_hash::{self, Left};
use crate::daemon::error::DaemonError;
use db::Db;
use sum::{Counted, Sum};

/// The version of the tables.
const SCHEMA: i64 = 3;

/// The oldest `SQLite` without the WAL-reset bug: 3.51.3.
const SQLITE_VERSION: i32 = 3_051_003;

/// Bytes of the write-ahead log that stay on disk after it was copied back.
const LOG_BYTES: i64 = 4 << 20;

const TABLES: &str = "
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- The segment that is not sealed. phase: 0 open, 1 sealing. len and hash are those of the committed lines.
CREATE TABLE segment(seq INTEGER PRIMARY KEY, phase INTEGER NOT NULL, name TEXT NOT NULL, len INTEGER NOT NULL,
  hash INTEGER NOT NULL, records INTEGER NOT NULL);
-- Where a message is given once. dev is the file system on which its files were met last; many says that it holds files of
-- many messages, so that a message's end cannot be told by a file's; 2, that its own cannot be either. gone is the day since which it has no files.
CREATE TABLE mailbox(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, spool BLOB NOT NULL, dev INTEGER NOT NULL,
  many INTEGER NOT NULL, gone INTEGER);
-- Where an mbox was read to.
CREATE TABLE file(dev INTEGER, ino INTEGER, btime INTEGER, first INTEGER NOT NULL, last INTEGER NOT NULL,
  guard INTEGER NOT NULL, head INTEGER NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL,
  mailbox INTEGER NOT NULL, gone INTEGER, PRIMARY KEY(dev, ino, btime)) WITHOUT ROWID;
-- Messages that were given: the start of a hash of mailbox and digest.
CREATE TABLE seen(mailbox INTEGER, key BLOB, PRIMARY KEY(mailbox, key)) WITHOUT ROWID;
-- Files that were read whole, as they are: a hash of what tells one from another, and how the key of its only message
-- begins, if it has but one.
CREATE TABLE known(key INTEGER PRIMARY KEY, mailbox INTEGER NOT NULL, message INTEGER, gone INTEGER);
-- What has come since the last segment was sealed, for the sidecar of the open one: keys of messages whose records stand
-- in it, files that were read, mboxes that were read further, mailboxes that changed themselves or whose tails did.
CREATE TABLE fresh(mailbox INTEGER NOT NULL, key BLOB NOT NULL);
CREATE TABLE fresh_known(key INTEGER PRIMARY KEY);
CREATE TABLE fresh_file(dev INTEGER, ino INTEGER, btime INTEGER, PRIMARY KEY(dev, ino, btime)) WITHOUT ROWID;
CREATE TABLE fresh_mailbox(mailbox INTEGER PRIMARY KEY);
-- Messages that were taken at a file's end and may yet grow.
CREATE TABLE tail(mailbox INTEGER, len INTEGER, hash BLOB, ids BLOB NOT NULL, PRIMARY KEY(mailbox, len, hash)) WITHOUT ROWID;
";

/// A mailbox and a message, in 16 bytes.
pub(crate) type Hash128 = u128;

/// A mailbox's number in the state.
pub(crate) type MailboxId = i64;

/// How the key of a message begins, in 48 bits: enough to find it among those of its mailbox.
pub(crate) fn message_link(key: Hash128) -> u64 {
    (key >> 80) as u64
}

/// Bytes of a key that are kept of each message. Of ten million messages two are taken for one with a chance of 1 in 10^20.
const SEEN_BYTES: usize = 14;

/// A key as it is kept.
fn kept(key: Hash128) -> [u8; SEEN_BYTES] {
    let mut bytes = [0; SEEN_BYTES];
    bytes.copy_from_slice(&key.to_be_bytes()[..SEEN_BYTES]);
    bytes
}

/// What tells a file from all others, also from a later one with its inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    /// Nanoseconds since 1970; 0 where the file system does not tell.
    pub(crate) btime: i64,
}

/// How far an mbox was read. Only a way to be fast: its guards tell whether it still holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MboxCursor {
    /// The first byte of the last message consumed.
    pub(crate) first: u64,
    /// One past its last byte.
    pub(crate) last: u64,
    /// The hash of the bytes between.
    pub(crate) guard: u64,
    /// The hash of the file's first bytes.
    pub(crate) head: u64,
    /// The file's size when all of it was consumed; 0 while something is left.
    pub(crate) size: u64,
    /// Its time of change then.
    pub(crate) mtime: i64,
}

/// A message that was taken at a file's end, by what it began with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GrowingMessage {
    pub(crate) len: u64,
    pub(crate) hash: u128,
    /// Its URLs.
    pub(crate) ids: Vec<u128>,
}

/// How far a segment has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentPhase {
    Open,
    Sealing,
}

/// A segment that is not sealed yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnsealedSegment {
    pub(crate) seq: u64,
    pub(crate) phase: SegmentPhase,
    /// The name to publish it under.
    pub(crate) name: String,
    pub(crate) len: u64,
    pub(crate) hash: u64,
    pub(crate) records: u64,
}

/// The database.
#[derive(Debug)]
pub(crate) struct StateDb {
    db: Db,
    sum: Sum,
    instance: String,
}

impl StateDb {
    /// Opens the database, or makes it if it is not there and nothing says that it was.
    ///
    /// If it cannot be told that it is as it was left, it is checked through.
    pub(crate) fn open(path: &Path, fresh: bool) -> Result<StateDb, DaemonError> {
        if rusqlite::version_number() < SQLITE_VERSION {
            return Err(DaemonError::Io(format!(
                "SQLite {} can lose data; 3.51.3 is needed",
                rusqlite::version()
            )));
        }
        let left = shutdown_hash::check(path)?;
        let db = Db::open(path)?;
        db.batch(&format!(
            "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA mmap_size=0;
             PRAGMA cell_size_check=ON; PRAGMA trusted_schema=OFF; PRAGMA foreign_keys=ON;
             PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16384; PRAGMA journal_size_limit={LOG_BYTES};
             PRAGMA wal_autocheckpoint=200;"
        ))?;
        let made = db.is_any("SELECT 1 FROM sqlite_master WHERE name='meta'", [])?;
        if !made && fresh {
            create(&db)?;
        } else if !made {
            return Err(db.inconsistent("it has no tables"));
        }
        let schema: Option<i64> =
            db.find("SELECT value FROM meta WHERE name='schema'", [], |row| {
                row.get(0)
            })?;
        if schema != Some(SCHEMA) {
            let schema = schema.map_or("unknown".to_owned(), |schema| schema.to_string());
            return Err(DaemonError::Inconsistent(format!(
                "{}: version {schema} is not ours, {SCHEMA}",
                path.display()
            )));
        }
        let instance = db.find("SELECT value FROM meta WHERE name='instance'", [], |row| {
            row.get(0)
        })?;
        let instance = instance.ok_or_else(|| db.inconsistent("it has no name"))?;
        let store = StateDb {
            db,
            sum: Sum::default(),
            instance,
        };
        store.open_sum()?;
        store.check(left)?;
        Ok(store)
    }

    fn check(&self, left: Left) -> Result<(), DaemonError> {
        let clean: Option<i64> =
            self.db
                .find("SELECT value FROM meta WHERE name='clean'", [], |row| {
                    row.get(0)
                })?;
        if clean != Some(1) || left == Left::Unknown {
            let verdict: Option<String> = self
                .db
                .find("PRAGMA quick_check(1)", [], |row| row.get(0))?;
            let verdict = verdict.unwrap_or_default();
            // A page that cannot be read says nothing of what was written on it.
            if verdict.contains("unable to get the page") {
                return Err(DaemonError::Io(format!(
                    "{}: {verdict}",
                    self.db.path().display()
                )));
            }
            if verdict != "ok" {
                return Err(self.db.inconsistent(&verdict));
            }
            self.check_sum()?;
        }
        // Of a log whose sync failed the kernel may hold what the disk does not, and tell nobody: it is written again.
        self.db
            .find("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        self.db
            .run("UPDATE meta SET value=0 WHERE name='clean'", [])?;
        Ok(())
    }

    /// What tells this state from others.
    pub(crate) fn instance(&self) -> &str {
        &self.instance
    }

    /// Notes that everything is in order, and copies the log back. The last call.
    pub(crate) fn close(self) -> Result<(), DaemonError> {
        self.db
            .run("UPDATE meta SET value=1 WHERE name='clean'", [])?;
        self.db
            .find("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        let path = self.db.path().to_owned();
        self.db.close()?;
        shutdown_hash::note(&path);
        Ok(())
    }

    /// Writes all of it into a new database, which the caller syncs. No transaction may be open.
    pub(crate) fn copy_to(&self, path: &Path) -> Result<(), DaemonError> {
        use std::os::unix::ffi::OsStrExt;
        let name = std::str::from_utf8(path.as_os_str().as_bytes()).map_err(|_| {
            DaemonError::Io(format!("{}: no UTF-8, which SQLite wants", path.display()))
        })?;
        self.db.run("VACUUM INTO ?1", params![name])?;
        Ok(())
    }

    /// Begins a transaction.
    pub(crate) fn begin(&self) -> Result<(), DaemonError> {
        self.db.batch("BEGIN IMMEDIATE")
    }

    /// Commits it: when this returns, it would survive a power cut.
    pub(crate) fn commit(&self) -> Result<(), DaemonError> {
        self.keep_sum()?;
        self.db.batch("COMMIT")
    }

    /// A value that is kept beside the tables.
    pub(crate) fn meta_value(&self, name: &str) -> Result<Option<u64>, DaemonError> {
        let read = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0).map(i64::cast_unsigned);
        self.db
            .find("SELECT value FROM meta WHERE name=?1", params![name], read)
    }

    /// Keeps a value beside the tables.
    pub(crate) fn set_meta_value(&self, name: &str, value: u64) -> Result<(), DaemonError> {
        self.db.run(
            "INSERT OR REPLACE INTO meta VALUES(?1,?2)",
            params![name, value.cast_signed()],
        )?;
        Ok(())
    }

    /// The number of a mailbox of which a file was met on the file system `dev`.
    pub(crate) fn mailbox(
        &self,
        key: Hash128,
        spool: Hash128,
        dev: u64,
    ) -> Result<MailboxId, DaemonError> {
        let (key, spool, dev) = (key.to_be_bytes(), spool.to_be_bytes(), dev.cast_signed());
        let found = self.db.find(
            "SELECT id, spool=?2 AND dev=?3 AND gone IS NULL FROM mailbox WHERE key=?1",
            params![key, spool, dev],
            |row| Ok((row.get(0)?, row.get::<_, bool>(1)?)),
        )?;
        match found {
            Some((id, true)) => Ok(id),
            Some((id, false)) => {
                self.db.run(
                    "UPDATE mailbox SET spool=?2, dev=?3, gone=NULL WHERE id=?1",
                    params![id, spool, dev],
                )?;
                self.changed(id)?;
                Ok(id)
            }
            None => {
                self.db.run(
                    "INSERT INTO mailbox VALUES(NULL,?1,?2,?3,0,NULL)",
                    params![key, spool, dev],
                )?;
                let id = self.db.last_id();
                self.sum.add(Counted::Mailbox(id, &key));
                self.changed(id)?;
                Ok(id)
            }
        }
    }

    /// Notes that a mailbox holds files of many messages.
    pub(crate) fn mark_multi_message(&self, mailbox: MailboxId) -> Result<(), DaemonError> {
        self.hold(mailbox, 1)
    }

    /// Notes that an archive holds messages of a mailbox and of others: then it cannot be told when it is gone.
    pub(crate) fn mark_mixed_archive(&self, mailbox: MailboxId) -> Result<(), DaemonError> {
        self.hold(mailbox, 2)
    }

    fn hold(&self, mailbox: MailboxId, many: i64) -> Result<(), DaemonError> {
        match self.db.run(
            "UPDATE mailbox SET many=?2 WHERE id=?1 AND many<?2",
            params![mailbox, many],
        )? {
            0 => Ok(()),
            _ => self.changed(mailbox),
        }
    }

    /// Notes that the next sidecar is to tell of a mailbox itself, and of its tails.
    fn changed(&self, mailbox: MailboxId) -> Result<(), DaemonError> {
        self.db.run(
            "INSERT OR IGNORE INTO fresh_mailbox VALUES(?1)",
            params![mailbox],
        )?;
        Ok(())
    }

    /// Whether a message was given.
    pub(crate) fn is_seen(&self, mailbox: MailboxId, key: Hash128) -> Result<bool, DaemonError> {
        self.db.is_any(
            "SELECT 1 FROM seen WHERE mailbox=?1 AND key=?2",
            params![mailbox, kept(key)],
        )
    }

    /// Notes that a message was given. Gives whether that is news.
    pub(crate) fn mark_seen(&self, mailbox: MailboxId, key: Hash128) -> Result<bool, DaemonError> {
        let is_news = self.db.run(
            "INSERT OR IGNORE INTO seen VALUES(?1,?2)",
            params![mailbox, kept(key)],
        )? > 0;
        if is_news {
            self.sum.add(Counted::Seen(mailbox, &kept(key)));
        }
        Ok(is_news)
    }

    /// Notes that its records stand in the open segment.
    pub(crate) fn mark_in_open_segment(
        &self,
        mailbox: MailboxId,
        key: Hash128,
    ) -> Result<(), DaemonError> {
        self.db.run(
            "INSERT INTO fresh VALUES(?1,?2)",
            params![mailbox, key.to_be_bytes()],
        )?;
        Ok(())
    }

    /// Whether a file was read whole as it is.
    pub(crate) fn is_file_read(&self, key: u64) -> Result<bool, DaemonError> {
        self.db.is_any(
            "SELECT 1 FROM known WHERE key=?1",
            params![key.cast_signed()],
        )
    }

    /// Notes that a file was read whole, and its only message, if it has but one.
    pub(crate) fn mark_file_read(
        &self,
        key: u64,
        mailbox: MailboxId,
        message: Option<u64>,
    ) -> Result<(), DaemonError> {
        let (key, message) = (key.cast_signed(), message.map(u64::cast_signed));
        self.db.run(
            "INSERT OR REPLACE INTO known VALUES(?1,?2,?3,NULL)",
            params![key, mailbox, message],
        )?;
        self.db
            .run("INSERT OR IGNORE INTO fresh_known VALUES(?1)", params![key])?;
        Ok(())
    }

    /// How far an mbox was read.
    pub(crate) fn cursor(&self, id: FileId) -> Result<Option<MboxCursor>, DaemonError> {
        self.db.find(
            "SELECT first, last, guard, head, size, mtime FROM file WHERE dev=?1 AND ino=?2 AND btime=?3",
            params![id.dev.cast_signed(), id.ino.cast_signed(), id.btime],
            |row| {
                let number = |index| row.get::<_, i64>(index).map(i64::cast_unsigned);
                Ok(MboxCursor {
                    first: number(0)?,
                    last: number(1)?,
                    guard: number(2)?,
                    head: number(3)?,
                    size: number(4)?,
                    mtime: row.get(5)?,
                })
            },
        )
    }

    /// Notes how far an mbox was read.
    pub(crate) fn put_cursor(
        &self,
        id: FileId,
        mailbox: MailboxId,
        cursor: &MboxCursor,
    ) -> Result<(), DaemonError> {
        let [first, last, guard, head, size] = [
            cursor.first,
            cursor.last,
            cursor.guard,
            cursor.head,
            cursor.size,
        ]
        .map(u64::cast_signed);
        let (dev, ino) = (id.dev.cast_signed(), id.ino.cast_signed());
        self.db.run(
            "INSERT OR REPLACE INTO file VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,NULL)",
            params![
                dev,
                ino,
                id.btime,
                first,
                last,
                guard,
                head,
                size,
                cursor.mtime,
                mailbox
            ],
        )?;
        self.db.run(
            "INSERT OR IGNORE INTO fresh_file VALUES(?1,?2,?3)",
            params![dev, ino, id.btime],
        )?;
        Ok(())
    }

    /// Notes that an mbox is to be read from its start.
    pub(crate) fn reset_cursor(&self, id: FileId) -> Result<(), DaemonError> {
        let (dev, ino) = (id.dev.cast_signed(), id.ino.cast_signed());
        self.db.run(
            "UPDATE file SET first=0, last=0, guard=0, head=0, size=0, mtime=0 WHERE dev=?1 AND ino=?2 AND btime=?3",
            params![dev, ino, id.btime],
        )?;
        self.db.run(
            "INSERT OR IGNORE INTO fresh_file VALUES(?1,?2,?3)",
            params![dev, ino, id.btime],
        )?;
        Ok(())
    }

    /// The messages of a mailbox that may yet grow.
    pub(crate) fn growing_messages(
        &self,
        mailbox: MailboxId,
    ) -> Result<Vec<GrowingMessage>, DaemonError> {
        self.db.all(
            "SELECT len, hash, ids FROM tail WHERE mailbox=?1",
            params![mailbox],
            |row| {
                let ids: Vec<u8> = row.get(2)?;
                let (ids, _) = ids.as_chunks();
                Ok(GrowingMessage {
                    len: row.get::<_, i64>(0)?.cast_unsigned(),
                    hash: row.get(1).map(u128::from_be_bytes)?,
                    ids: ids.iter().map(|id| u128::from_be_bytes(*id)).collect(),
                })
            },
        )
    }

    /// Notes a message that may yet grow.
    pub(crate) fn put_growing(
        &self,
        mailbox: MailboxId,
        tail: &GrowingMessage,
    ) -> Result<(), DaemonError> {
        self.remove_growing(mailbox, tail)?;
        let ids: Vec<u8> = tail.ids.iter().flat_map(|id| id.to_be_bytes()).collect();
        let (len, hash) = (tail.len.cast_signed(), tail.hash.to_be_bytes());
        self.sum.add(Counted::Tail(mailbox, len, &hash, &ids));
        self.db.run(
            "INSERT INTO tail VALUES(?1,?2,?3,?4)",
            params![mailbox, len, hash, ids],
        )?;
        Ok(())
    }

    /// Forgets one that has grown, or that something stands behind now.
    pub(crate) fn remove_growing(
        &self,
        mailbox: MailboxId,
        tail: &GrowingMessage,
    ) -> Result<(), DaemonError> {
        let (len, hash) = (tail.len.cast_signed(), tail.hash.to_be_bytes());
        let sql = "DELETE FROM tail WHERE mailbox=?1 AND len=?2 AND hash=?3 RETURNING ids";
        self.db.each(sql, params![mailbox, len, hash], |row| {
            self.sum.take(Counted::Tail(
                mailbox,
                len,
                &hash,
                row.get_ref(0)?.as_bytes()?,
            ));
            Ok(())
        })?;
        self.changed(mailbox)
    }

    /// The segment that is not sealed. There is always one.
    pub(crate) fn segment(&self) -> Result<UnsealedSegment, DaemonError> {
        let found = self.db.find(
            "SELECT seq, phase, name, len, hash, records FROM segment ORDER BY seq DESC LIMIT 1",
            [],
            |row| {
                let number = |index| row.get::<_, i64>(index).map(i64::cast_unsigned);
                Ok(UnsealedSegment {
                    seq: number(0)?,
                    phase: if row.get::<_, i64>(1)? == 0 {
                        SegmentPhase::Open
                    } else {
                        SegmentPhase::Sealing
                    },
                    name: row.get(2)?,
                    len: number(3)?,
                    hash: number(4)?,
                    records: number(5)?,
                })
            },
        )?;
        found.ok_or_else(|| self.db.inconsistent("it names no segment"))
    }

    /// Notes the committed length of the open segment, its hash and its records.
    pub(crate) fn put_len(
        &self,
        seq: u64,
        len: u64,
        hash: u64,
        records: u64,
    ) -> Result<(), DaemonError> {
        let [seq, len, hash, records] = [seq, len, hash, records].map(u64::cast_signed);
        self.db.run(
            "UPDATE segment SET len=?2, hash=?3, records=?4 WHERE seq=?1",
            params![seq, len, hash, records],
        )?;
        Ok(())
    }

    /// Notes the intent to publish a segment under `name`.
    pub(crate) fn sealing(&self, seq: u64, name: &str) -> Result<(), DaemonError> {
        self.db.run(
            "UPDATE segment SET phase=1, name=?2 WHERE seq=?1",
            params![seq.cast_signed(), name],
        )?;
        Ok(())
    }

    /// Notes that a segment is published, and begins the next.
    pub(crate) fn sealed(&self, seq: u64) -> Result<(), DaemonError> {
        self.begin()?;
        self.db.run(
            "DELETE FROM segment WHERE seq=?1",
            params![seq.cast_signed()],
        )?;
        self.db
            .batch("DELETE FROM fresh; DELETE FROM fresh_known; DELETE FROM fresh_file; DELETE FROM fresh_mailbox")?;
        self.db.run(
            "INSERT INTO segment VALUES(?1,0,'',0,0,0)",
            params![(seq + 1).cast_signed()],
        )?;
        self.commit()
    }

    /// The rows of a query, as text.
    #[cfg(test)]
    pub(crate) fn rows(&self, sql: &str) -> Vec<String> {
        let read = |row: &rusqlite::Row<'_>| {
            let values = (0..row.as_ref().column_count())
                .map(|column| row.get::<_, rusqlite::types::Value>(column));
            Ok(format!(
                "{:?}",
                values.collect::<rusqlite::Result<Vec<_>>>()?
            ))
        };
        self.db.all(sql, [], read).unwrap()
    }

    /// In a new state: begins with segment `seq`.
    pub(crate) fn start_at(&self, seq: u64) -> Result<(), DaemonError> {
        self.db
            .run("UPDATE segment SET seq=?1", params![seq.cast_signed()])?;
        Ok(())
    }
}

fn create(db: &Db) -> Result<(), DaemonError> {
    let mut instance = [0; 16];
    let random = rustix::rand::getrandom(&mut instance, rustix::rand::GetRandomFlags::empty());
    random.map_err(|error| DaemonError::Io(format!("random numbers: {error}")))?;
    let instance = data_encoding::HEXLOWER.encode(&instance);
    db.batch("BEGIN IMMEDIATE")?;
    db.batch(TABLES)?;
    db.run(
        "INSERT INTO meta VALUES('schema', ?1), ('instance', ?2), ('clean', 1), ('sum', 0)",
        params![SCHEMA, instance],
    )?;
    db.run("INSERT INTO segment VALUES(1,0,'',0,0,0)", [])?;
    db.batch("COMMIT")
}
