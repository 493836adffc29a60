//! The rows about mail: mailboxes, read messages, files, positions in mboxes, growing messages, and
//! messages that are skipped because the process died of them.

use rusqlite::params;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::gone::HolderKey;
use super::state_db::{Hash128, MailboxId, StateDb, stored_key};
use super::state_db::{digest_bytes, digests_in, hash128, unsigned};
use crate::Result;
use crate::status::FailedFile;
use urlspool_text::limits::REPORTED_FAILURES;

/// Values of the column `many` of the table `mailbox`.
pub(crate) const MANY: i64 = 1;
pub(crate) const MIXED: i64 = 2;

/// Maximum lengths of one file that are compared with its content. A file that was rewritten and
/// has grown has more than one.
const EARLIER_LENGTHS: u32 = 8;

/// Position up to which an mbox was read. It only saves work: its hashes decide whether it is still
/// valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MboxCursor {
    /// Offset of the last message that was read.
    pub first: u64,
    /// Offset of the end of that message.
    pub last: u64,
    /// Hash of the bytes from `first` to `last`.
    pub guard: u64,
    /// Hash of the file's first bytes.
    pub head: u64,
    /// Size of the file when it was read completely; 0 while a part is unread.
    pub size: u64,
    /// Modification time when it was read completely.
    pub mtime: i64,
    #[serde(skip)]
    pub look: FileLook,
    /// The holder of the messages read since the last rewrite. 0 if holders were not tracked, and
    /// in sidecars: a rebuild reads all files again.
    #[serde(skip)]
    pub pass: HolderKey,
}

/// A file that was read completely, or an mbox and how far it was read.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ReadFile {
    pub key: u64,
    /// Link to the file's only message.
    pub message: Option<u64>,
    /// Hash of the path, and length of the content, if the file's message may grow.
    pub length: Option<(u64, u64)>,
    pub position: Option<MboxCursor>,
}

/// A file's path and time of change when it was read, hashed to 32 bits each; 0 if they are not
/// known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileLook(pub u64);

/// The kind of change of a file whose size and modification time are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookChange {
    /// No change.
    None,
    /// The path differs, which explains the change of the inode. Also used if the earlier look is
    /// unknown.
    Renamed,
    /// The content may differ.
    Content,
}

impl FileLook {
    /// The kind of change from this look to `now`.
    pub fn change(self, now: FileLook) -> LookChange {
        if self.0 as u32 == now.0 as u32 {
            LookChange::None
        } else if self.0 >> 32 == now.0 >> 32 {
            LookChange::Content
        } else {
            LookChange::Renamed
        }
    }
}

/// Parses the position in a row of the table `file`. A damaged position makes the mbox be read from
/// its start.
pub(super) fn position_of(text: &str) -> MboxCursor {
    serde_json::from_str(text).unwrap_or_default()
}

/// A message that was read at the end of a file and may continue. It is recognised by its first
/// bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrowingMessage {
    /// Number of bytes that were read.
    pub len: u64,
    /// Hash of the bytes that were read.
    pub hash: u128,
    /// Identifiers of the URLs found in those bytes, and of the numbers of filtered ones.
    pub ids: Vec<u128>,
    /// Digests under which these URLs were written, if holders are tracked.
    pub digests: Vec<u128>,
}

impl StateDb {
    /// Returns the number of a mailbox that has a file on the file system `dev`. Adds the mailbox
    /// if it is new.
    pub fn mailbox(&self, key: Hash128, spool: Hash128, dev: u64) -> Result<MailboxId> {
        let (key, spool, dev) = (key.to_be_bytes(), spool.to_be_bytes(), dev.cast_signed());
        let added = "INSERT INTO mailbox VALUES(NULL,?1,?2,?3,0,NULL) ON CONFLICT(key) DO UPDATE
             SET spool=?2, dev=?3, gone=NULL WHERE (spool, dev)<>(?2, ?3) OR gone IS NOT NULL";
        let changed = self.count_changes(added, params![key, spool, dev])?;
        let sql = "SELECT id FROM mailbox WHERE key=?1";
        let id = self.find(sql, params![key], |row| row.get(0))?;
        let id = id.ok_or_else(|| self.damaged("lacks a mailbox"))?;
        if 0 < changed {
            self.mark_changed(id)?;
        }
        Ok(id)
    }

    /// Returns `true` if a message was read.
    pub fn is_seen(&self, mailbox: MailboxId, key: Hash128) -> Result<bool> {
        self.is_any(
            "SELECT 1 FROM seen WHERE mailbox=?1 AND key=?2",
            params![mailbox, stored_key(key)],
        )
    }

    /// Records that a message was read. Returns `true` if it was not recorded before.
    pub fn mark_seen(&self, mailbox: MailboxId, key: Hash128) -> Result<bool> {
        let sql = "INSERT OR IGNORE INTO seen VALUES(?1,?2)";
        Ok(0 < self.count_changes(sql, params![mailbox, stored_key(key)])?)
    }

    /// Records that the records of a message are in the open segment.
    pub fn mark_in_open_segment(&self, mailbox: MailboxId, key: Hash128) -> Result<()> {
        self.run(
            "INSERT INTO fresh VALUES(?1,?2)",
            params![mailbox, key.to_be_bytes()],
        )
    }

    /// The look of a file that was read completely in its present version; `None` if it was not.
    pub fn file_look(&self, key: u64) -> Result<Option<FileLook>> {
        let sql = "SELECT look FROM file WHERE key=?1";
        self.find(sql, params![key.cast_signed()], |row| {
            Ok(FileLook(unsigned(row, 0)?))
        })
    }

    /// Updates the look of a renamed file if the file is known. No sidecar needs it.
    pub fn set_file_look(&self, key: u64, look: FileLook) -> Result<()> {
        let params = params![key.cast_signed(), look.0.cast_signed()];
        self.run("UPDATE file SET look=?2 WHERE key=?1", params)
    }

    /// Records that a file was read.
    pub fn mark_file_read(
        &self,
        mailbox: MailboxId,
        file: &ReadFile,
        look: FileLook,
    ) -> Result<()> {
        // Sidecars do not contain passes over mboxes.
        let holder = file.position.map_or(file.key, |cursor| cursor.pass);
        let key = file.key.cast_signed();
        let (place, len) = file.length.unzip();
        let [message, place, len] = [file.message, place, len].map(|n| n.map(u64::cast_signed));
        let position = file.position.map(|cursor| json!(cursor).to_string());
        let [holder, look] = [holder, look.0].map(u64::cast_signed);
        self.run(
            "INSERT OR REPLACE INTO file VALUES(?1,?2,?3,?4,?5,?6,?7,?8,NULL)",
            params![key, mailbox, message, place, len, position, holder, look],
        )?;
        self.run("INSERT OR IGNORE INTO fresh_file VALUES(?1)", params![key])
    }

    /// Returns the recorded lengths of the file at a place, longest first, at most
    /// [`EARLIER_LENGTHS`].
    pub fn earlier_lengths(&self, place: u64) -> Result<Vec<u64>> {
        let sql = "SELECT DISTINCT len FROM file WHERE place=?1 ORDER BY len DESC LIMIT ?2";
        let params = params![place.cast_signed(), EARLIER_LENGTHS];
        self.all(sql, params, |row| unsigned(row, 0))
    }

    /// The position up to which the mbox with this key was read.
    pub fn cursor(&self, key: u64) -> Result<Option<MboxCursor>> {
        let sql = "SELECT position, holder, look FROM file WHERE key=?1";
        self.find(sql, params![key.cast_signed()], |row| {
            Ok(MboxCursor {
                pass: unsigned(row, 1)?,
                look: FileLook(unsigned(row, 2)?),
                ..position_of(&row.get::<_, String>(0)?)
            })
        })
    }

    /// Stores the position up to which the mbox with this key was read.
    pub fn put_cursor(&self, key: u64, mailbox: MailboxId, cursor: &MboxCursor) -> Result<()> {
        let file = ReadFile {
            key,
            position: Some(*cursor),
            ..ReadFile::default()
        };
        self.mark_file_read(mailbox, &file, cursor.look)
    }

    /// Makes the mbox with this key be read from its start.
    pub fn reset_cursor(&self, key: u64) -> Result<()> {
        let key = key.cast_signed();
        let reset = "UPDATE file SET position='' WHERE key=?1";
        if 0 < self.count_changes(reset, params![key])? {
            self.run("INSERT OR IGNORE INTO fresh_file VALUES(?1)", params![key])?;
        }
        Ok(())
    }

    /// The growing messages of a mailbox.
    pub fn growing_messages(&self, mailbox: MailboxId) -> Result<Vec<GrowingMessage>> {
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
    pub fn put_growing(&self, mailbox: MailboxId, message: &GrowingMessage) -> Result<()> {
        let (len, hash) = (message.len.cast_signed(), message.hash.to_be_bytes());
        let (ids, digests) = (digest_bytes(&message.ids), digest_bytes(&message.digests));
        let sql = "INSERT OR REPLACE INTO tail VALUES(?1,?2,?3,?4,?5)";
        self.run(sql, params![mailbox, len, hash, ids, digests])?;
        self.mark_changed(mailbox)
    }

    /// Removes a message that has continued, or that is now followed by another message.
    pub fn remove_growing(&self, mailbox: MailboxId, message: &GrowingMessage) -> Result<()> {
        let (len, hash) = (message.len.cast_signed(), message.hash.to_be_bytes());
        let sql = "DELETE FROM tail WHERE mailbox=?1 AND len=?2 AND hash=?3";
        self.run(sql, params![mailbox, len, hash])?;
        self.mark_changed(mailbox)
    }

    /// Removes all growing messages of a mailbox.
    pub(super) fn remove_all_growing(&self, mailbox: MailboxId) -> Result<()> {
        self.run("DELETE FROM tail WHERE mailbox=?1", params![mailbox])
    }

    /// Records that some files of a mailbox contain many messages ([`MANY`]), or that an archive
    /// contains messages of this and other mailboxes ([`MIXED`]). In the latter case a missing
    /// mailbox cannot be detected.
    pub fn raise_many(&self, mailbox: MailboxId, many: i64) -> Result<()> {
        let sql = "UPDATE mailbox SET many=?2 WHERE id=?1 AND many<?2";
        match self.count_changes(sql, params![mailbox, many])? {
            0 => Ok(()),
            _ => self.mark_changed(mailbox),
        }
    }

    /// Adds a mailbox and its growing messages to the next sidecar.
    pub(super) fn mark_changed(&self, mailbox: MailboxId) -> Result<()> {
        self.run(
            "INSERT OR IGNORE INTO fresh_mailbox VALUES(?1)",
            params![mailbox],
        )
    }
}

/// Number of times that the process dies of a message before the message is set aside.
const DEATHS: u64 = 3;

impl StateDb {
    /// Records that this version of the program sets a message aside. `place` is for the operator.
    pub fn set_aside(&self, mailbox: MailboxId, key: Hash128, place: &str) -> Result<()> {
        self.run(
            "INSERT OR REPLACE INTO set_aside VALUES(?1,?2,?3,?4)",
            params![key.to_be_bytes(), mailbox, place, env!("CARGO_PKG_VERSION")],
        )
    }

    /// The messages that are set aside. Messages set aside by another version of the program are
    /// forgotten, and the files of their mailboxes count as unread: this version may be able to
    /// read them.
    pub fn open_set_aside(&self) -> Result<Vec<Hash128>> {
        let version = params![env!("CARGO_PKG_VERSION")];
        let of_others = "mailbox IN (SELECT mailbox FROM set_aside WHERE version<>?1)";
        let read = format!("DELETE FROM file WHERE position IS NULL AND {of_others}");
        self.run(&read, version)?;
        self.run(
            &format!("UPDATE file SET position='' WHERE {of_others}"),
            version,
        )?;
        let all = self.all("SELECT key FROM set_aside", [], |row| hash128(row, 0))?;
        self.run("DELETE FROM set_aside WHERE version<>?1", version)?;
        Ok(all)
    }

    /// Forgets that messages were set aside: they will be read.
    pub fn forget_set_aside(&self, keys: &[Hash128]) -> Result<()> {
        for key in keys {
            self.run(
                "DELETE FROM set_aside WHERE key=?1",
                params![key.to_be_bytes()],
            )?;
        }
        Ok(())
    }

    /// The number of messages that are set aside, and the first of them for the status.
    pub(super) fn set_aside_status(&self) -> Result<(usize, Vec<FailedFile>)> {
        let places: Vec<String> =
            self.all("SELECT place FROM set_aside ORDER BY place", [], |row| {
                row.get(0)
            })?;
        let files = places
            .iter()
            .take(REPORTED_FAILURES)
            .map(|place| FailedFile {
                path: place.clone(),
                why: format!("this message crashed the program {DEATHS} times"),
                tries: DEATHS,
                quarantined: true,
            });
        Ok((places.len(), files.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::StoreFixture;

    #[test]
    fn another_version_retries_messages_that_were_set_aside() {
        let fixture = StoreFixture::new("set-aside");
        let state = fixture.state();
        let mailboxes = [7, 8].map(|key| state.mailbox(key, 7, 1).unwrap());
        for (mailbox, key) in mailboxes.into_iter().zip([5, 6]) {
            let place = "/var/mail/a: message at byte 9";
            state.set_aside(mailbox, key, place).unwrap();
            let file = ReadFile {
                key: key as u64,
                message: None,
                length: None,
                position: None,
            };
            let look = FileLook::default();
            state.mark_file_read(mailbox, &file, look).unwrap();
        }
        let (number, files) = state.set_aside_status().unwrap();
        assert_eq!((number, files[0].tries, files[0].quarantined), (2, 3, true));
        let older = "UPDATE set_aside SET version='0' WHERE mailbox=1";
        state.batch(older).unwrap();
        assert_eq!(state.open_set_aside().unwrap(), [5, 6]);
        let is_read = [5, 6].map(|key| state.file_look(key).unwrap().is_some());
        assert_eq!(is_read, [false, true]);
        assert_eq!(state.open_set_aside().unwrap(), [6]);
        state.forget_set_aside(&[6]).unwrap();
        assert_eq!(state.set_aside_status().unwrap().0, 0);
    }
}
