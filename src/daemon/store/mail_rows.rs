//! The rows about mail: mailboxes, messages that were read, files, positions in mboxes, growing
//! messages.

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};

use super::holders::HolderKey;
use super::state_db::{FileId, Hash128, MailboxId, stored_key};
use super::state_db::{StateDb, digest_bytes, digests_in, hash128, unsigned};
use crate::daemon::DaemonError;

/// Lengths of one file that are compared with its content. More than one are left of a file that
/// was rewritten and has grown.
const EARLIER_LENGTHS: u32 = 8;

/// Position up to which an mbox was read. It only saves work: its hashes tell if it is still valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MboxCursor {
    /// Offset of the last message that was read.
    pub(crate) first: u64,
    /// Offset of the end of that message.
    pub(crate) last: u64,
    /// Hash of the bytes from `first` to `last`.
    pub(crate) guard: u64,
    /// Hash of the file's first bytes.
    pub(crate) head: u64,
    /// Size of the file when all of it was read; 0 while something is unread.
    pub(crate) size: u64,
    /// Modification time at that moment.
    pub(crate) mtime: i64,
    #[serde(skip)]
    pub(crate) look: FileLook,
    /// The holder of the messages that were read since the last rewrite; 0 if holders were not
    /// tracked, and in a sidecar: after a rebuild all files are read again.
    #[serde(skip)]
    pub(crate) pass: HolderKey,
}

/// A file that was read completely.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ReadFile {
    pub(crate) key: u64,
    /// Link to its only message.
    pub(crate) message: Option<u64>,
    /// Hash of its path, and length of its content, if its message may grow.
    pub(crate) length: Option<(u64, u64)>,
}

/// Path and time of change of a file when it was read, in 32 bits each; 0 if they are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileLook(pub(crate) u64);

/// Change of a file whose size and modification time are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookChange {
    /// None.
    None,
    /// It has another path, which explains the change of its inode. So does any if the look was not
    /// known.
    Renamed,
    /// Its content may be another.
    Content,
}

impl MboxCursor {
    /// Reads the columns of a position from the column `at` on.
    pub(super) fn of(row: &Row<'_>, at: usize) -> rusqlite::Result<MboxCursor> {
        Ok(MboxCursor {
            first: unsigned(row, at)?,
            last: unsigned(row, at + 1)?,
            guard: unsigned(row, at + 2)?,
            head: unsigned(row, at + 3)?,
            size: unsigned(row, at + 4)?,
            mtime: row.get(at + 5)?,
            pass: unsigned(row, at + 6)?,
            look: FileLook(unsigned(row, at + 7)?),
        })
    }
}

impl FileLook {
    /// The change from this look to `now`.
    pub(crate) fn change(self, now: FileLook) -> LookChange {
        if self.0 as u32 == now.0 as u32 {
            LookChange::None
        } else if self.0 >> 32 == now.0 >> 32 {
            LookChange::Content
        } else {
            LookChange::Renamed
        }
    }
}

/// A message that was read at the end of a file and may be continued, recognised by its first
/// bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GrowingMessage {
    /// Number of bytes that were read.
    pub(crate) len: u64,
    /// Hash of these bytes.
    pub(crate) hash: u128,
    /// Identifiers of the URLs found in them.
    pub(crate) ids: Vec<u128>,
    /// If holders are tracked: digests under which these URLs were written.
    pub(crate) digests: Vec<u128>,
}

impl StateDb {
    /// Returns the number of a mailbox, one of whose files is on the file system `dev`. Adds the
    /// mailbox if it is new.
    pub(crate) fn mailbox(
        &self,
        key: Hash128,
        spool: Hash128,
        dev: u64,
    ) -> Result<MailboxId, DaemonError> {
        let (key, spool, dev) = (key.to_be_bytes(), spool.to_be_bytes(), dev.cast_signed());
        let sql = "SELECT id, spool=?2 AND dev=?3 AND gone IS NULL FROM mailbox \
                   WHERE key=?1";
        let found: Option<(MailboxId, bool)> = self.find(sql, params![key, spool, dev], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        let id = match found {
            Some((id, true)) => return Ok(id),
            Some((id, false)) => {
                self.run(
                    "UPDATE mailbox SET spool=?2, dev=?3, gone=NULL WHERE id=?1",
                    params![id, spool, dev],
                )?;
                id
            }
            None => {
                let sql = "INSERT INTO mailbox VALUES(NULL,?1,?2,?3,0,NULL)";
                self.run(sql, params![key, spool, dev])?;
                self.last_id()
            }
        };
        self.mark_changed(id)?;
        Ok(id)
    }

    /// Records that some files of a mailbox hold many messages.
    pub(crate) fn mark_multi_message(&self, mailbox: MailboxId) -> Result<(), DaemonError> {
        self.raise_many(mailbox, 1)
    }

    /// Records that an archive holds messages of this mailbox and of others: then a missing mailbox
    /// cannot be detected.
    pub(crate) fn mark_mixed_archive(&self, mailbox: MailboxId) -> Result<(), DaemonError> {
        self.raise_many(mailbox, 2)
    }

    /// Returns `true` if a message was read.
    pub(crate) fn is_seen(&self, mailbox: MailboxId, key: Hash128) -> Result<bool, DaemonError> {
        self.is_any(
            "SELECT 1 FROM seen WHERE mailbox=?1 AND key=?2",
            params![mailbox, stored_key(key)],
        )
    }

    /// Records that a message was read. Returns `true` if that is new.
    pub(crate) fn mark_seen(&self, mailbox: MailboxId, key: Hash128) -> Result<bool, DaemonError> {
        let sql = "INSERT OR IGNORE INTO seen VALUES(?1,?2)";
        Ok(0 < self.count_changes(sql, params![mailbox, stored_key(key)])?)
    }

    /// Records that the records of a message are in the open segment.
    pub(crate) fn mark_in_open_segment(
        &self,
        mailbox: MailboxId,
        key: Hash128,
    ) -> Result<(), DaemonError> {
        self.run(
            "INSERT INTO fresh VALUES(?1,?2)",
            params![mailbox, key.to_be_bytes()],
        )
    }

    /// The look of a file that was read completely in its present version; `None` if it was not.
    pub(crate) fn file_look(&self, key: u64) -> Result<Option<FileLook>, DaemonError> {
        let sql = "SELECT look FROM known WHERE key=?1";
        self.find(sql, params![key.cast_signed()], |row| {
            Ok(FileLook(unsigned(row, 0)?))
        })
    }

    /// Stores the look of a file that was renamed. No sidecar needs it.
    pub(crate) fn set_file_look(&self, key: u64, look: FileLook) -> Result<(), DaemonError> {
        let params = params![key.cast_signed(), look.0.cast_signed()];
        self.run("UPDATE known SET look=?2 WHERE key=?1", params)
    }

    /// Stores the look of an mbox that was renamed, for the mailboxes of these keys.
    pub(crate) fn set_mbox_look(
        &self,
        id: FileId,
        mailboxes: &[Hash128],
        look: FileLook,
    ) -> Result<(), DaemonError> {
        let (dev, ino) = (id.dev.cast_signed(), id.ino.cast_signed());
        mailboxes.iter().try_for_each(|mailbox| {
            self.run(
                "UPDATE file SET look=?5 WHERE dev=?1 AND ino=?2 AND btime=?3
                 AND mailbox=(SELECT id FROM mailbox WHERE key=?4)",
                params![
                    dev,
                    ino,
                    id.btime,
                    mailbox.to_be_bytes(),
                    look.0.cast_signed()
                ],
            )
        })
    }

    /// Records that a file was read completely.
    pub(crate) fn mark_file_read(
        &self,
        mailbox: MailboxId,
        file: &ReadFile,
        look: FileLook,
    ) -> Result<(), DaemonError> {
        let (key, message) = (file.key.cast_signed(), file.message.map(u64::cast_signed));
        let place = file.length.map(|(place, _)| place.cast_signed());
        let len = file.length.map(|(_, len)| len.cast_signed());
        self.run(
            "INSERT OR REPLACE INTO known VALUES(?1,?2,?3,NULL,?4,?5,?6)",
            params![key, mailbox, message, place, len, look.0.cast_signed()],
        )?;
        self.run("INSERT OR IGNORE INTO fresh_known VALUES(?1)", params![key])
    }

    /// Returns the lengths that the file at a place had when it was read, the longest first. At
    /// most [`EARLIER_LENGTHS`].
    pub(crate) fn earlier_lengths(&self, place: u64) -> Result<Vec<u64>, DaemonError> {
        let sql = "SELECT DISTINCT len FROM known WHERE place=?1 ORDER BY len DESC LIMIT ?2";
        let params = params![place.cast_signed(), EARLIER_LENGTHS];
        self.all(sql, params, |row| unsigned(row, 0))
    }

    /// Positions up to which an mbox was read for the mailboxes of these keys. A file with names in two mailboxes has two.
    pub(crate) fn cursors(
        &self,
        id: FileId,
        mailboxes: &[Hash128],
    ) -> Result<Vec<MboxCursor>, DaemonError> {
        let found = self.all(
            "SELECT key, first, last, guard, head, size, mtime, pass, look FROM file JOIN mailbox ON id=mailbox
             WHERE file.dev=?1 AND ino=?2 AND btime=?3 ORDER BY mailbox",
            params![id.dev.cast_signed(), id.ino.cast_signed(), id.btime],
            |row| Ok((hash128(row, 0)?, MboxCursor::of(row, 1)?)),
        )?;
        Ok(found
            .into_iter()
            .filter(|(mailbox, _)| mailboxes.contains(mailbox))
            .map(|(_, cursor)| cursor)
            .collect())
    }

    /// Stores the position up to which an mbox was read.
    pub(crate) fn put_cursor(
        &self,
        id: FileId,
        mailbox: MailboxId,
        cursor: &MboxCursor,
    ) -> Result<(), DaemonError> {
        let numbers = [
            cursor.first,
            cursor.last,
            cursor.guard,
            cursor.head,
            cursor.size,
        ];
        let [first, last, guard, head, size] = numbers.map(u64::cast_signed);
        let (dev, ino) = (id.dev.cast_signed(), id.ino.cast_signed());
        self.run(
            "INSERT OR REPLACE INTO file VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,NULL,?11,?12)",
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
                mailbox,
                cursor.pass.cast_signed(),
                cursor.look.0.cast_signed()
            ],
        )?;
        self.run(
            "INSERT OR IGNORE INTO fresh_file VALUES(?1,?2,?3,?4)",
            params![dev, ino, id.btime, mailbox],
        )
    }

    /// Makes an mbox be read from its start.
    pub(crate) fn reset_cursor(&self, id: FileId) -> Result<(), DaemonError> {
        self.run(
            "UPDATE file SET first=0, last=0, guard=0, head=0, size=0, mtime=0 WHERE dev=?1 AND \
             ino=?2 AND btime=?3",
            params![id.dev.cast_signed(), id.ino.cast_signed(), id.btime],
        )?;
        self.run(
            "INSERT OR IGNORE INTO fresh_file SELECT dev, ino, btime, mailbox FROM file WHERE \
             dev=?1 AND ino=?2 AND btime=?3",
            params![id.dev.cast_signed(), id.ino.cast_signed(), id.btime],
        )
    }

    /// The growing messages of a mailbox.
    pub(crate) fn growing_messages(
        &self,
        mailbox: MailboxId,
    ) -> Result<Vec<GrowingMessage>, DaemonError> {
        self.all(
            "SELECT len, hash, ids, digests FROM tail WHERE mailbox=?1",
            params![mailbox],
            |row| {
                Ok(GrowingMessage {
                    len: unsigned(row, 0)?,
                    hash: hash128(row, 1)?,
                    ids: digests_in(&row.get::<_, Vec<u8>>(2)?),
                    digests: digests_in(&row.get::<_, Vec<u8>>(3)?),
                })
            },
        )
    }

    /// Stores a growing message.
    pub(crate) fn put_growing(
        &self,
        mailbox: MailboxId,
        message: &GrowingMessage,
    ) -> Result<(), DaemonError> {
        let (len, hash) = (message.len.cast_signed(), message.hash.to_be_bytes());
        let (ids, digests) = (digest_bytes(&message.ids), digest_bytes(&message.digests));
        let sql = "INSERT OR REPLACE INTO tail VALUES(?1,?2,?3,?4,?5)";
        self.run(sql, params![mailbox, len, hash, ids, digests])?;
        self.mark_changed(mailbox)
    }

    /// Removes a message that was continued, or that is followed by another one now.
    pub(crate) fn remove_growing(
        &self,
        mailbox: MailboxId,
        message: &GrowingMessage,
    ) -> Result<(), DaemonError> {
        let (len, hash) = (message.len.cast_signed(), message.hash.to_be_bytes());
        let sql = "DELETE FROM tail WHERE mailbox=?1 AND len=?2 AND hash=?3";
        self.run(sql, params![mailbox, len, hash])?;
        self.mark_changed(mailbox)
    }

    /// Removes all growing messages of a mailbox.
    pub(super) fn remove_all_growing(&self, mailbox: MailboxId) -> Result<(), DaemonError> {
        self.run("DELETE FROM tail WHERE mailbox=?1", params![mailbox])
    }

    pub(super) fn raise_many(&self, mailbox: MailboxId, many: i64) -> Result<(), DaemonError> {
        let sql = "UPDATE mailbox SET many=?2 WHERE id=?1 AND many<?2";
        match self.count_changes(sql, params![mailbox, many])? {
            0 => Ok(()),
            _ => self.mark_changed(mailbox),
        }
    }

    /// Adds a mailbox itself, and its growing messages, to the next sidecar.
    pub(super) fn mark_changed(&self, mailbox: MailboxId) -> Result<(), DaemonError> {
        self.run(
            "INSERT OR IGNORE INTO fresh_mailbox VALUES(?1)",
            params![mailbox],
        )
    }
}
