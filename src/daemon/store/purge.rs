//! Purges the state of files that are missing for long, and of messages and mailboxes together with
//! them; measures that time.
//!
//! A survey lists the files that exist. The others are marked as missing since that day, and after
//! their retention time they are purged. Only mailboxes of the surveyed spool count, and of these
//! only the ones on mounted file systems. Every step can be interrupted and repeated.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rusqlite::params;

use super::state_db::{FileId, Hash128, KeyRange, MailboxId};
use super::state_db::{StateDb, hash128, optional, unsigned};
use crate::daemon::DaemonError;
use crate::daemon::environment::{DaemonHost, MonotonicTime};
use crate::limits::{AGE_SAVE_INTERVAL_S, MAX_DOWNTIME_S, PURGE_DAYS, PURGED_PER_SURVEY};

/// Rows that one transaction changes. Bounds the write-ahead log.
const CHUNK_ROWS: u32 = 10_000;

/// The files that exist in a spool, found by a survey.
#[derive(Debug, Default)]
pub(crate) struct SeenFiles {
    /// Keys of files, and hashes of the identities of mboxes in their mailboxes. Must be sorted.
    pub(crate) files: Vec<u64>,
    /// Their file systems, and that of the spool itself.
    pub(crate) devs: BTreeSet<u64>,
}

/// Results of a survey.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PurgeStats {
    /// Purged files, messages and mailboxes.
    pub(crate) purged: u64,
    /// Mailboxes on file systems that are not mounted.
    pub(crate) frozen: u64,
}

/// The mailboxes of a surveyed spool.
struct SurveyedSpool {
    mailboxes: BTreeMap<MailboxId, SurveyedMailbox>,
    /// Number of mailboxes on file systems that are not mounted.
    frozen: u64,
}

/// A mailbox of a surveyed spool.
#[derive(Debug)]
struct SurveyedMailbox {
    has_multi_message_files: bool,
    /// Day since which it has no files; `None` if it has some.
    missing_since: Option<u64>,
    /// `true` if one of its files exists, or may exist.
    is_present: bool,
    /// `true` if one of its files stays in the state.
    has_entries: bool,
}

/// A file that was read completely, as the state describes it.
struct ReadFileRow {
    key: i64,
    mailbox: MailboxId,
    /// Link to its only message.
    message: Option<i64>,
    missing_since: Option<u64>,
}

/// A change to the cursor of an mbox.
struct CursorChange {
    id: FileId,
    mailbox: MailboxId,
    retention: Retention,
}

impl SeenFiles {
    fn has(&self, file: u64) -> bool {
        self.files.binary_search(&file).is_ok()
    }
}

impl StateDb {
    /// Returns `true` if the state has a mailbox of this spool.
    pub(crate) fn has_spool(&self, spool: Hash128) -> Result<bool, DaemonError> {
        self.is_any(
            "SELECT 1 FROM mailbox WHERE spool=?1",
            params![spool.to_be_bytes()],
        )
    }

    /// Marks what is missing from a spool, and purges what is missing for long. No transaction may
    /// be open.
    pub(crate) fn survey(
        &self,
        spool: Hash128,
        seen: &SeenFiles,
        day: u64,
    ) -> Result<PurgeStats, DaemonError> {
        let SurveyedSpool {
            mut mailboxes,
            frozen,
        } = self.surveyed_mailboxes(spool, seen)?;
        let files = self.mark_files(&mut mailboxes, seen, day)?;
        let mut purged = self.purge_files(&files)?;
        purged += self.purge_cursors(&mut mailboxes, seen, day)?;
        let given = self.given_mailboxes()?;
        for (id, mailbox) in mailboxes {
            let retention = if mailbox.is_present {
                Retention::of_present(mailbox.missing_since)
            } else {
                Retention::of_missing(mailbox.missing_since, day)
            };
            match retention {
                Retention::Purge if !mailbox.has_entries && !given.contains(&id) => {
                    purged += self.purge_mailbox(id)?;
                }
                Retention::Mark { missing_since } => {
                    self.run(
                        "UPDATE mailbox SET gone=?2 WHERE id=?1",
                        params![id, missing_since.map(u64::cast_signed)],
                    )?;
                }
                _ => {}
            }
        }
        Ok(PurgeStats { purged, frozen })
    }

    fn surveyed_mailboxes(
        &self,
        spool: Hash128,
        seen: &SeenFiles,
    ) -> Result<SurveyedSpool, DaemonError> {
        let (mut mailboxes, mut frozen) = (BTreeMap::new(), 0);
        let sql = "SELECT id, dev, many, gone FROM mailbox WHERE spool=?1";
        self.each(sql, params![spool.to_be_bytes()], |row| {
            let many: i64 = row.get(2)?;
            let mailbox = SurveyedMailbox {
                has_multi_message_files: many > 0,
                missing_since: optional(row, 3)?,
                is_present: many > 1,
                has_entries: false,
            };
            if seen.devs.contains(&unsigned(row, 1)?) {
                mailboxes.insert(row.get(0)?, mailbox);
            } else {
                frozen += 1;
            }
            Ok(())
        })?;
        Ok(SurveyedSpool { mailboxes, frozen })
    }

    /// Marks the files that were read completely. Returns those to purge, at most
    /// [`PURGED_PER_SURVEY`].
    fn mark_files(
        &self,
        mailboxes: &mut BTreeMap<MailboxId, SurveyedMailbox>,
        seen: &SeenFiles,
        day: u64,
    ) -> Result<Vec<ReadFileRow>, DaemonError> {
        let mut purged = Vec::new();
        let mut last = None;
        loop {
            let rows = self.read_files_after(last)?;
            let Some(row) = rows.last() else {
                return Ok(purged);
            };
            last = Some(row.key);
            self.begin()?;
            for row in rows {
                if let Some(mailbox) = mailboxes.get_mut(&row.mailbox) {
                    self.mark_file(&row, mailbox, seen, day, &mut purged)?;
                }
            }
            self.commit()?;
        }
    }

    fn mark_file(
        &self,
        row: &ReadFileRow,
        mailbox: &mut SurveyedMailbox,
        seen: &SeenFiles,
        day: u64,
        purged: &mut Vec<ReadFileRow>,
    ) -> Result<(), DaemonError> {
        let is_present = seen.has(row.key.cast_unsigned());
        mailbox.is_present |= is_present;
        let retention = if is_present {
            Retention::of_present(row.missing_since)
        } else {
            Retention::of_missing(row.missing_since, day)
        };
        match retention {
            // The messages of a holder are gone before it is purged.
            Retention::Purge
                if purged.len() < PURGED_PER_SURVEY
                    && !self.is_holder(row.key.cast_unsigned())? =>
            {
                // Its message is purged only if it cannot be in another file.
                let message = row.message.filter(|_| !mailbox.has_multi_message_files);
                purged.push(ReadFileRow { message, ..*row });
                return Ok(());
            }
            Retention::Mark { missing_since } => {
                self.run(
                    "UPDATE known SET gone=?2 WHERE key=?1",
                    params![row.key, missing_since.map(u64::cast_signed)],
                )?;
            }
            _ => {}
        }
        mailbox.has_entries = true;
        Ok(())
    }

    /// The next files that were read completely, in the order of their keys.
    fn read_files_after(&self, last: Option<i64>) -> Result<Vec<ReadFileRow>, DaemonError> {
        let from = last.map_or(Some(i64::MIN), |last| last.checked_add(1));
        let Some(from) = from else {
            return Ok(Vec::new());
        };
        let sql =
            "SELECT key, mailbox, message, gone FROM known WHERE key>=?1 ORDER BY key LIMIT ?2";
        self.all(sql, params![from, CHUNK_ROWS], |row| {
            Ok(ReadFileRow {
                key: row.get(0)?,
                mailbox: row.get(1)?,
                message: row.get(2)?,
                missing_since: optional(row, 3)?,
            })
        })
    }

    /// Purges files, and with each its message, unless another file holds the same message. Returns
    /// the number of entries.
    fn purge_files(&self, files: &[ReadFileRow]) -> Result<u64, DaemonError> {
        if files.is_empty() {
            return Ok(0);
        }
        let messages = self.unshared_messages(files)?;
        let mut purged = 0;
        for chunk in files.chunks(CHUNK_ROWS as usize) {
            self.begin()?;
            for file in chunk {
                self.run("DELETE FROM known WHERE key=?1", params![file.key])?;
                purged += 1;
                if let Some(message) = file
                    .message
                    .filter(|message| messages.contains(&(file.mailbox, *message)))
                {
                    let range = KeyRange::linked(message.cast_unsigned());
                    purged += self.purge_seen(file.mailbox, range)?;
                }
            }
            self.commit()?;
        }
        Ok(purged)
    }

    /// The messages of these files that no other file holds, each with its mailbox.
    fn unshared_messages(
        &self,
        files: &[ReadFileRow],
    ) -> Result<HashSet<(MailboxId, i64)>, DaemonError> {
        let keys: HashSet<i64> = files.iter().map(|file| file.key).collect();
        let mut messages: HashSet<(MailboxId, i64)> = files
            .iter()
            .filter_map(|file| file.message.map(|message| (file.mailbox, message)))
            .collect();
        let sql = "SELECT key, mailbox, message FROM known WHERE message IS NOT NULL";
        self.each(sql, [], |row| {
            if !keys.contains(&row.get(0)?) {
                messages.remove(&(row.get(1)?, row.get(2)?));
            }
            Ok(())
        })?;
        Ok(messages)
    }

    /// Marks and purges the cursors of mboxes. Returns the number of purged ones.
    fn purge_cursors(
        &self,
        mailboxes: &mut BTreeMap<MailboxId, SurveyedMailbox>,
        seen: &SeenFiles,
        day: u64,
    ) -> Result<u64, DaemonError> {
        let changes = self.cursor_changes(mailboxes, seen, day)?;
        let mut purged = 0;
        for chunk in changes.chunks(CHUNK_ROWS as usize) {
            self.begin()?;
            for CursorChange {
                id,
                mailbox,
                retention,
            } in chunk
            {
                let (dev, ino) = (id.dev.cast_signed(), id.ino.cast_signed());
                if let Retention::Mark { missing_since } = retention {
                    let sql = "UPDATE file SET gone=?5 WHERE dev=?1 AND ino=?2 AND btime=?3 AND \
                               mailbox=?4";
                    let gone = missing_since.map(u64::cast_signed);
                    self.run(sql, params![dev, ino, id.btime, mailbox, gone])?;
                } else {
                    let sql =
                        "DELETE FROM file WHERE dev=?1 AND ino=?2 AND btime=?3 AND mailbox=?4";
                    let changed = self.count_changes(sql, params![dev, ino, id.btime, mailbox])?;
                    purged += changed as u64;
                }
            }
            self.commit()?;
        }
        Ok(purged)
    }

    fn cursor_changes(
        &self,
        mailboxes: &mut BTreeMap<MailboxId, SurveyedMailbox>,
        seen: &SeenFiles,
        day: u64,
    ) -> Result<Vec<CursorChange>, DaemonError> {
        let mut changes = Vec::new();
        let sql =
            "SELECT file.dev, ino, btime, mailbox, file.gone, pass IN (SELECT key FROM holder), key
             FROM file JOIN mailbox ON id=mailbox";
        self.each(sql, [], |row| {
            let id = FileId {
                dev: unsigned(row, 0)?,
                ino: unsigned(row, 1)?,
                btime: row.get(2)?,
            };
            let number = row.get(3)?;
            let Some(mailbox) = mailboxes.get_mut(&number) else {
                return Ok(());
            };
            let key = hash128(row, 6)?;
            let is_present = seen.has(id.hash_in(key));
            mailbox.is_present |= is_present;
            let missing_since = optional(row, 4)?;
            let mut retention = if is_present {
                Retention::of_present(missing_since)
            } else {
                Retention::of_missing(missing_since, day)
            };
            if retention == Retention::Purge && row.get(5)? {
                retention = Retention::Keep;
            }
            mailbox.has_entries |= retention != Retention::Purge;
            if retention != Retention::Keep {
                changes.push(CursorChange {
                    id,
                    mailbox: number,
                    retention,
                });
            }
            Ok(())
        })?;
        Ok(changes)
    }

    /// Purges a mailbox without files in the state, its own row last. Returns the number of
    /// entries.
    fn purge_mailbox(&self, id: MailboxId) -> Result<u64, DaemonError> {
        let mut purged = 1;
        loop {
            self.begin()?;
            let rows = self.purge_seen(id, KeyRange::ALL)?;
            self.commit()?;
            purged += rows;
            if rows == 0 {
                break;
            }
        }
        self.begin()?;
        self.remove_all_growing(id)?;
        for table in ["fresh", "fresh_mailbox", "fresh_gone", "fresh_unread"] {
            self.run(
                &format!("DELETE FROM {table} WHERE mailbox=?1"),
                params![id],
            )?;
        }
        self.run("DELETE FROM mailbox WHERE id=?1", params![id])?;
        self.commit()?;
        Ok(purged)
    }

    /// Removes messages of a mailbox within a range of keys, at most [`CHUNK_ROWS`]. Returns their
    /// number.
    fn purge_seen(&self, mailbox: MailboxId, range: KeyRange) -> Result<u64, DaemonError> {
        self.forget_comparable()?;
        let deleted = self.count_changes(
            "DELETE FROM seen WHERE mailbox=?1 AND key IN (SELECT key FROM seen WHERE mailbox=?1 AND \
             key BETWEEN ?2 AND ?3 LIMIT ?4)",
            params![mailbox, range.first, range.last, CHUNK_ROWS],
        )?;
        Ok(deleted as u64)
    }
}

/// Retention decision for one state entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retention {
    /// It stays as it is.
    Keep,
    /// It is marked as missing since a day, or as present again.
    Mark { missing_since: Option<u64> },
    /// It is removed.
    Purge,
}

impl Retention {
    /// Decides on an entry whose file exists.
    fn of_present(missing_since: Option<u64>) -> Retention {
        match missing_since {
            None => Retention::Keep,
            Some(_) => Retention::Mark {
                missing_since: None,
            },
        }
    }

    /// Decides on an entry whose file is missing on this day.
    fn of_missing(missing_since: Option<u64>, day: u64) -> Retention {
        match missing_since {
            None => Retention::Mark {
                missing_since: Some(day),
            },
            Some(since) if since + PURGE_DAYS <= day => Retention::Purge,
            Some(_) => Retention::Keep,
        }
    }
}

const DAY_S: u64 = 86_400;

/// The time for which the spools have been watched. The age of missing files is measured with it.
///
/// The system clock may jump, and no state may be purged because of that. So the time counts during
/// which the daemon runs, and of the time between two runs at most [`MAX_DOWNTIME_S`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchTime {
    /// Seconds before `since`.
    before_s: u64,
    since: MonotonicTime,
    now: MonotonicTime,
    /// Seconds since 1970; `None` without a system clock.
    unix_time: Option<u64>,
    /// Seconds that are saved in the state.
    saved_s: u64,
}

impl WatchTime {
    /// Continues from the time that the last run saved.
    pub(crate) fn open(db: &StateDb, host: &mut dyn DaemonHost) -> Result<WatchTime, DaemonError> {
        let (now, unix_time) = (host.now(), host.unix_time());
        let saved_s = db.meta_value("age")?.unwrap_or(0);
        let away_s = match (db.meta_value("date")?, unix_time) {
            (Some(before), Some(now)) => now.saturating_sub(before).min(MAX_DOWNTIME_S),
            _ => 0,
        };
        Ok(WatchTime {
            before_s: saved_s + away_s,
            since: now,
            now,
            unix_time,
            saved_s,
        })
    }

    /// Reads the clocks.
    pub(crate) fn update(&mut self, host: &mut dyn DaemonHost) {
        (self.now, self.unix_time) = (host.now(), host.unix_time());
    }

    /// The day, counted from the first.
    pub(crate) fn day(&self) -> u64 {
        self.seconds() / DAY_S
    }

    /// Returns `true` if it was not saved for [`AGE_SAVE_INTERVAL_S`].
    pub(crate) fn is_due(&self) -> bool {
        self.saved_s + AGE_SAVE_INTERVAL_S <= self.seconds()
    }

    /// Saves it in the open transaction.
    pub(crate) fn save(&mut self, db: &StateDb) -> Result<(), DaemonError> {
        self.saved_s = self.seconds();
        db.set_meta_value("age", self.saved_s)?;
        match self.unix_time {
            Some(unix_time) => db.set_meta_value("date", unix_time),
            None => Ok(()),
        }
    }

    fn seconds(&self) -> u64 {
        self.before_s + self.now.ms.saturating_sub(self.since.ms) / 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_entries_are_purged_after_their_time_and_not_before() {
        let mark = |missing_since| Retention::Mark { missing_since };
        let missing = Retention::of_missing;
        assert_eq!(Retention::of_present(None), Retention::Keep);
        assert_eq!(missing(None, 9), mark(Some(9)));
        assert_eq!(missing(Some(9), 8 + PURGE_DAYS), Retention::Keep);
        assert_eq!(Retention::of_present(Some(9)), mark(None));
        assert_eq!(missing(Some(9), 9 + PURGE_DAYS), Retention::Purge);
        assert_eq!(
            missing(Some(9), 2),
            Retention::Keep,
            "a state whose watch time was set back"
        );
    }
}
