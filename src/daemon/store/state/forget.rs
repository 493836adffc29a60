//! Forgets what was known of files that have been gone for long, and of messages and mailboxes with them.
//!
//! What is met in a survey is there; what is not is marked as gone since that day, and when it has been so for
//! [`TOMBSTONE_DAYS`], it ends. Only mailboxes of the surveyed spool count, and of those only ones on file systems that
//! are there. Every step can be interrupted and done again.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rusqlite::params;
use twox_hash::XxHash3_64;

use super::{Counted, FileId, Hash128, MailboxId, SEEN_BYTES, StateDb, kept};
use crate::daemon::error::DaemonError;
use crate::limits::{PURGED_PER_SURVEY, TOMBSTONE_DAYS};

/// Rows that one transaction changes. Bounds the write-ahead log.
const CHUNK_ROWS: u32 = 10_000;

/// What was met in a survey.
#[derive(Debug, Default)]
pub(crate) struct SeenFiles {
    /// Files: what they are known by, and hashes of what they are. In order.
    pub(crate) files: Vec<u64>,
    /// The file systems they are on, and that of the spool itself.
    pub(crate) devs: BTreeSet<u64>,
}

impl SeenFiles {
    fn has(&self, file: u64) -> bool {
        self.files.binary_search(&file).is_ok()
    }
}

impl FileId {
    /// The file as it stands among those that were met.
    pub(crate) fn hash(self) -> u64 {
        let numbers = [self.dev, self.ino, self.btime.cast_unsigned()];
        XxHash3_64::oneshot(numbers.map(u64::to_le_bytes).as_flattened())
    }
}

/// What came of a survey.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PurgeStats {
    /// Files, messages and mailboxes that were forgotten.
    pub(crate) forgotten: u64,
    /// Mailboxes on file systems that are not there.
    pub(crate) frozen: u64,
}

/// A mailbox of the surveyed spool.
#[derive(Debug)]
struct Surveyed {
    many: bool,
    gone: Option<u64>,
    /// Whether a file of it was met, or may have been.
    met: bool,
    /// Whether a file of it is remembered.
    left: bool,
}

/// A file that was read whole, as it stands in the state.
struct Known {
    key: i64,
    mailbox: MailboxId,
    message: Option<i64>,
    gone: Option<u64>,
}

/// A file that ends.
struct Ended {
    key: i64,
    mailbox: MailboxId,
    /// How the key of its message begins, if that may end with it.
    message: Option<i64>,
}

/// What becomes of what is known of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retention {
    Stays,
    /// It is marked as gone since a day, or as being there again.
    Marked(Option<u64>),
    Ends,
}

/// The first and the last key as it is kept that begins so.
fn linked(message: u64) -> ([u8; SEEN_BYTES], [u8; SEEN_BYTES]) {
    let first = Hash128::from(message) << 80;
    (kept(first), kept(first | (Hash128::MAX >> 48)))
}

fn fate(met: bool, gone: Option<u64>, day: u64) -> Retention {
    match gone {
        None if met => Retention::Stays,
        None => Retention::Marked(Some(day)),
        Some(_) if met => Retention::Marked(None),
        Some(since) if since + TOMBSTONE_DAYS <= day => Retention::Ends,
        Some(_) => Retention::Stays,
    }
}

impl StateDb {
    /// Whether anything is known of a spool.
    pub(crate) fn has_spool(&self, spool: Hash128) -> Result<bool, DaemonError> {
        self.db.is_any(
            "SELECT 1 FROM mailbox WHERE spool=?1",
            params![spool.to_be_bytes()],
        )
    }

    /// Marks what is gone from a spool, and forgets what has been for long. No transaction may be open.
    pub(crate) fn survey(
        &self,
        spool: Hash128,
        met: &SeenFiles,
        day: u64,
    ) -> Result<PurgeStats, DaemonError> {
        let (mut mailboxes, frozen) = self.surveyed(spool, met)?;
        let ended = self.mark_known(&mut mailboxes, met, day)?;
        let mut forgotten = self.forget_known(&ended)?;
        forgotten += self.forget_cursors(&mut mailboxes, met, day)?;
        for (id, mailbox) in mailboxes {
            match fate(mailbox.met, mailbox.gone, day) {
                Retention::Ends if !mailbox.left => forgotten += self.forget_mailbox(id)?,
                Retention::Marked(gone) => {
                    let gone = gone.map(u64::cast_signed);
                    self.db
                        .run("UPDATE mailbox SET gone=?2 WHERE id=?1", params![id, gone])?;
                }
                _ => {}
            }
        }
        Ok(PurgeStats { forgotten, frozen })
    }

    /// The mailboxes of a spool that are on file systems that are there, and the number of those that are not.
    fn surveyed(
        &self,
        spool: Hash128,
        met: &SeenFiles,
    ) -> Result<(BTreeMap<MailboxId, Surveyed>, u64), DaemonError> {
        let (mut mailboxes, mut frozen) = (BTreeMap::new(), 0);
        let sql = "SELECT id, dev, many, gone FROM mailbox WHERE spool=?1";
        self.db.each(sql, params![spool.to_be_bytes()], |row| {
            let gone = row.get::<_, Option<i64>>(3)?.map(i64::cast_unsigned);
            let (many, always) = (row.get::<_, i64>(2)? > 0, row.get::<_, i64>(2)? > 1);
            let mailbox = Surveyed {
                many,
                gone,
                met: always,
                left: false,
            };
            if met.devs.contains(&row.get::<_, i64>(1)?.cast_unsigned()) {
                mailboxes.insert(row.get(0)?, mailbox);
            } else {
                frozen += 1;
            }
            Ok(())
        })?;
        Ok((mailboxes, frozen))
    }

    /// Marks the files that were read whole. Gives those that end.
    fn mark_known(
        &self,
        mailboxes: &mut BTreeMap<MailboxId, Surveyed>,
        met: &SeenFiles,
        day: u64,
    ) -> Result<Vec<Ended>, DaemonError> {
        let mut ended = Vec::new();
        let mut last = None;
        loop {
            let rows = self.known_behind(last)?;
            let Some(Known { key, .. }) = rows.last() else {
                return Ok(ended);
            };
            last = Some(*key);
            self.begin()?;
            for Known {
                key,
                mailbox: id,
                message,
                gone,
            } in rows
            {
                let Some(mailbox) = mailboxes.get_mut(&id) else {
                    continue;
                };
                let is_met = met.has(key.cast_unsigned());
                mailbox.met |= is_met;
                match fate(is_met, gone, day) {
                    Retention::Ends if ended.len() < PURGED_PER_SURVEY => {
                        ended.push(Ended {
                            key,
                            mailbox: id,
                            message: message.filter(|_| !mailbox.many),
                        });
                        continue;
                    }
                    Retention::Marked(gone) => {
                        let gone = gone.map(u64::cast_signed);
                        self.db
                            .run("UPDATE known SET gone=?2 WHERE key=?1", params![key, gone])?;
                    }
                    _ => {}
                }
                mailbox.left = true;
            }
            self.commit()?;
        }
    }

    /// The next files that were read whole, in the order of their keys.
    fn known_behind(&self, last: Option<i64>) -> Result<Vec<Known>, DaemonError> {
        let from = last.map_or(Some(i64::MIN), |last| last.checked_add(1));
        let Some(from) = from else {
            return Ok(Vec::new());
        };
        let sql =
            "SELECT key, mailbox, message, gone FROM known WHERE key>=?1 ORDER BY key LIMIT ?2";
        self.db.all(sql, params![from, CHUNK_ROWS], |row| {
            let gone = row.get::<_, Option<i64>>(3)?.map(i64::cast_unsigned);
            Ok(Known {
                key: row.get(0)?,
                mailbox: row.get(1)?,
                message: row.get(2)?,
                gone,
            })
        })
    }

    /// Forgets files, and with each its message, unless another file is the same message's.
    fn forget_known(&self, ended: &[Ended]) -> Result<u64, DaemonError> {
        if ended.is_empty() {
            return Ok(0);
        }
        let keys: HashSet<i64> = ended.iter().map(|file| file.key).collect();
        let mut messages: HashSet<(MailboxId, i64)> = ended
            .iter()
            .filter_map(|file| file.message.map(|message| (file.mailbox, message)))
            .collect();
        self.db.each(
            "SELECT key, mailbox, message FROM known WHERE message IS NOT NULL",
            [],
            |row| {
                if !keys.contains(&row.get(0)?) {
                    messages.remove(&(row.get(1)?, row.get(2)?));
                }
                Ok(())
            },
        )?;
        let mut forgotten = 0;
        for chunk in ended.chunks(CHUNK_ROWS as usize) {
            self.begin()?;
            for file in chunk {
                self.db
                    .run("DELETE FROM known WHERE key=?1", params![file.key])?;
                forgotten += 1;
                if let Some(message) = file
                    .message
                    .filter(|message| messages.contains(&(file.mailbox, *message)))
                {
                    let (from, to) = linked(message.cast_unsigned());
                    forgotten += self.forget_seen(file.mailbox, (&from, &to), CHUNK_ROWS)?;
                }
            }
            self.commit()?;
        }
        Ok(forgotten)
    }

    /// Marks how far mboxes were read, and forgets it.
    fn forget_cursors(
        &self,
        mailboxes: &mut BTreeMap<MailboxId, Surveyed>,
        met: &SeenFiles,
        day: u64,
    ) -> Result<u64, DaemonError> {
        let mut changes = Vec::new();
        self.db.each(
            "SELECT dev, ino, btime, mailbox, gone FROM file",
            [],
            |row| {
                let (dev, ino): (i64, i64) = (row.get(0)?, row.get(1)?);
                let id = FileId {
                    dev: dev.cast_unsigned(),
                    ino: ino.cast_unsigned(),
                    btime: row.get(2)?,
                };
                let Some(mailbox) = mailboxes.get_mut(&row.get(3)?) else {
                    return Ok(());
                };
                let is_met = met.has(id.hash());
                mailbox.met |= is_met;
                let fate = fate(
                    is_met,
                    row.get::<_, Option<i64>>(4)?.map(i64::cast_unsigned),
                    day,
                );
                mailbox.left |= fate != Retention::Ends;
                if fate != Retention::Stays {
                    changes.push((id, fate));
                }
                Ok(())
            },
        )?;
        let mut forgotten = 0;
        for chunk in changes.chunks(CHUNK_ROWS as usize) {
            self.begin()?;
            for (id, fate) in chunk {
                let (dev, ino) = (id.dev.cast_signed(), id.ino.cast_signed());
                if let Retention::Marked(gone) = fate {
                    let sql = "UPDATE file SET gone=?4 WHERE dev=?1 AND ino=?2 AND btime=?3";
                    self.db
                        .run(sql, params![dev, ino, id.btime, gone.map(u64::cast_signed)])?;
                } else {
                    let sql = "DELETE FROM file WHERE dev=?1 AND ino=?2 AND btime=?3";
                    forgotten += self.db.run(sql, params![dev, ino, id.btime])? as u64;
                }
            }
            self.commit()?;
        }
        Ok(forgotten)
    }

    /// Forgets a mailbox of which no file is remembered, itself last.
    fn forget_mailbox(&self, id: MailboxId) -> Result<u64, DaemonError> {
        let mut forgotten = 1;
        loop {
            self.begin()?;
            let rows = self.forget_seen(id, (&[0; SEEN_BYTES], &[0xFF; SEEN_BYTES]), CHUNK_ROWS)?;
            self.commit()?;
            forgotten += rows;
            if rows == 0 {
                break;
            }
        }
        self.begin()?;
        self.forget_growing(id)?;
        for table in ["fresh", "fresh_mailbox"] {
            self.db.run(
                &format!("DELETE FROM {table} WHERE mailbox=?1"),
                params![id],
            )?;
        }
        self.db.each(
            "DELETE FROM mailbox WHERE id=?1 RETURNING key",
            params![id],
            |row| {
                self.sum
                    .take(Counted::Mailbox(id, row.get_ref(0)?.as_bytes()?));
                Ok(())
            },
        )?;
        self.commit()?;
        Ok(forgotten)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_finds_its_message_and_no_other() {
        for key in [
            0,
            1 << 80,
            (1 << 80) - 1,
            Hash128::MAX,
            0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF,
        ] {
            let (first, last) = linked(super::super::message_link(key));
            assert!((first..=last).contains(&kept(key)), "{key:x}");
            assert!(!(first..=last).contains(&kept(key ^ (1 << 80))), "{key:x}");
        }
    }

    #[test]
    fn what_is_gone_ends_after_its_time_and_not_before() {
        assert_eq!(fate(true, None, 9), Retention::Stays);
        assert_eq!(fate(false, None, 9), Retention::Marked(Some(9)));
        assert_eq!(fate(false, Some(9), 8 + TOMBSTONE_DAYS), Retention::Stays);
        assert_eq!(
            fate(true, Some(9), 9 + TOMBSTONE_DAYS),
            Retention::Marked(None)
        );
        assert_eq!(fate(false, Some(9), 9 + TOMBSTONE_DAYS), Retention::Ends);
        assert_eq!(
            fate(false, Some(9), 2),
            Retention::Stays,
            "a state whose age was set back"
        );
    }
}
