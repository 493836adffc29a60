//! Purges the state of files that have been missing for long, together with their messages and
//! mailboxes. Measures the time for that.
//!
//! A survey lists the files that exist. The others are marked as missing since that day, and purged
//! after their retention time. Only mailboxes of the surveyed spool on mounted file systems are
//! considered. Every step can be interrupted and repeated.

use std::collections::{BTreeSet, HashSet};
use std::ops::RangeInclusive;

use rusqlite::params;

use super::state_db::{
    Hash128, MailboxId, STORED_KEY_BYTES, StateDb, StoredKey, linked_keys, unsigned,
};
use crate::{DaemonHost, MonotonicTime, Result};
use urlspool_text::limits::{AGE_SAVE_INTERVAL_S, MAX_DOWNTIME_S, PURGE_DAYS, PURGED_PER_SURVEY};

/// Maximum rows changed per transaction. Bounds the write-ahead log.
const CHUNK_ROWS: u32 = 10_000;

/// The files that a survey found in a spool.
#[derive(Debug, Default)]
pub struct SeenFiles {
    /// Keys of files, and hashes of the identities of mboxes in their mailboxes. Must be sorted.
    pub files: Vec<u64>,
    /// The file systems of these files and of the spool itself.
    pub devs: BTreeSet<u64>,
}

/// Results of a survey.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PurgeStats {
    /// Number of purged files, messages and mailboxes.
    pub purged: u64,
    /// Number of mailboxes on file systems that are not mounted.
    pub frozen: u64,
}

impl StateDb {
    /// Returns `true` if the state has a mailbox of this spool.
    pub fn has_spool(&self, spool: Hash128) -> Result<bool> {
        self.is_any(
            "SELECT 1 FROM mailbox WHERE spool=?1",
            params![spool.to_be_bytes()],
        )
    }

    /// Marks missing files of a spool, purges those missing for long, and commits. The batch must
    /// be empty.
    pub fn survey(&self, spool: Hash128, seen: &SeenFiles, day: u64) -> Result<PurgeStats> {
        let devs: Vec<String> = seen
            .devs
            .iter()
            .map(|dev| dev.cast_signed().to_string())
            .collect();
        let (spool, devs) = (format!("spool=x'{spool:032x}'"), devs.join(","));
        let surveyed = format!("{spool} AND dev IN ({devs})");
        let frozen = format!("SELECT count(*) FROM mailbox WHERE {spool} AND dev NOT IN ({devs})");
        let frozen = self.find(&frozen, [], |row| unsigned(row, 0))?.unwrap_or(0);
        self.mark_files(&surveyed, seen, day)?;
        // A mailbox without a present file is missing since `day`, unless it has messages in
        // archives that it shares with others.
        let missing = format!(
            "UPDATE mailbox SET gone=iif(gone IS NULL, ?1, NULL) WHERE {surveyed} AND
             (gone IS NULL)<>(many>1 OR id IN (SELECT mailbox FROM file WHERE gone IS NULL))"
        );
        self.run(&missing, [day.cast_signed()])?;
        // Later days occur in a state whose watch time was set back.
        let Some(missing_since) = day.checked_sub(PURGE_DAYS) else {
            return Ok(PurgeStats { purged: 0, frozen });
        };
        let mut purged = self.purge_files(&surveyed, missing_since)?;
        let unused = format!(
            "SELECT id FROM mailbox WHERE {surveyed} AND gone<=?1
             AND id NOT IN (SELECT mailbox FROM file) AND id NOT IN (SELECT mailbox FROM given)"
        );
        for mailbox in self.all(&unused, [missing_since.cast_signed()], |row| row.get(0))? {
            purged += self.purge_mailbox(mailbox)?;
        }
        self.commit()?;
        Ok(PurgeStats { purged, frozen })
    }

    /// Marks files as missing since `day`, or as present again.
    fn mark_files(&self, surveyed: &str, seen: &SeenFiles, day: u64) -> Result<()> {
        let mailboxes = format!("SELECT id FROM mailbox WHERE {surveyed} ORDER BY id");
        let mailboxes: Vec<MailboxId> = self.all(&mailboxes, [], |row| row.get(0))?;
        let sql =
            "SELECT key, mailbox, gone IS NOT NULL FROM file WHERE ?1<key ORDER BY key LIMIT ?2";
        let mut last = i64::MIN;
        loop {
            let rows: Vec<(i64, MailboxId, bool)> =
                self.all(sql, params![last, CHUNK_ROWS], |row| row.try_into())?;
            let Some((key, ..)) = rows.last() else {
                return Ok(());
            };
            last = *key;
            for (key, mailbox, was_missing) in rows {
                let is_missing = seen.files.binary_search(&key.cast_unsigned()).is_err();
                if is_missing != was_missing && mailboxes.binary_search(&mailbox).is_ok() {
                    let gone = is_missing.then_some(day.cast_signed());
                    self.run("UPDATE file SET gone=?2 WHERE key=?1", params![key, gone])?;
                }
            }
            self.commit()?;
        }
    }

    /// Purges at most [`PURGED_PER_SURVEY`] files. Also purges the message of each file unless
    /// another file may contain it. A holder's messages are reported as gone before its file is
    /// purged. Returns the number of entries.
    fn purge_files(&self, surveyed: &str, missing_since: u64) -> Result<u64> {
        let sql = format!(
            "SELECT file.key, mailbox, iif(many=0, message, NULL) FROM file JOIN mailbox ON \
             id=mailbox
             WHERE {surveyed} AND file.gone<=?1 AND holder NOT IN (SELECT key FROM holder) LIMIT ?2"
        );
        let limits = params![missing_since.cast_signed(), PURGED_PER_SURVEY as u32];
        let files: Vec<(i64, MailboxId, Option<i64>)> =
            self.all(&sql, limits, |row| row.try_into())?;
        if files.is_empty() {
            return Ok(0);
        }
        let keys: HashSet<i64> = files.iter().map(|(key, ..)| *key).collect();
        // Messages that only these files contain.
        let mut unshared: HashSet<_> = files.iter().map(|file| (file.1, file.2)).collect();
        let sql = "SELECT key, mailbox, message FROM file WHERE message IS NOT NULL";
        self.each(sql, [], |row| {
            if !keys.contains(&row.get(0)?) {
                unshared.remove(&(row.get(1)?, row.get(2)?));
            }
            Ok(())
        })?;
        let mut purged = 0;
        for chunk in files.chunks(CHUNK_ROWS as usize) {
            for (key, mailbox, message) in chunk {
                self.run("DELETE FROM file WHERE key=?1", params![key])?;
                purged += 1;
                let message = message.filter(|_| unshared.contains(&(*mailbox, *message)));
                if let Some(message) = message {
                    purged += self.purge_seen(*mailbox, linked_keys(message.cast_unsigned()))?;
                }
            }
            self.commit()?;
        }
        Ok(purged)
    }

    /// Purges a mailbox that has no files in the state. Its own row is deleted last. Returns the
    /// number of entries.
    fn purge_mailbox(&self, id: MailboxId) -> Result<u64> {
        let mut purged = 1;
        let all = StoredKey::default()..=[0xFF; STORED_KEY_BYTES];
        while let rows @ 1.. = self.purge_seen(id, all.clone())? {
            self.commit()?;
            purged += rows;
        }
        self.remove_all_growing(id)?;
        for table in ["fresh", "fresh_mailbox", "fresh_gone", "fresh_unread"] {
            let sql = format!("DELETE FROM {table} WHERE mailbox=?1");
            self.run(&sql, params![id])?;
        }
        self.run("DELETE FROM mailbox WHERE id=?1", params![id])?;
        self.commit()?;
        Ok(purged)
    }

    /// Removes at most [`CHUNK_ROWS`] messages of a mailbox within a range of keys. Returns their
    /// number.
    fn purge_seen(&self, mailbox: MailboxId, keys: RangeInclusive<StoredKey>) -> Result<u64> {
        self.forget_comparable()?;
        let deleted = self.count_changes(
            "DELETE FROM seen WHERE mailbox=?1 AND key IN (SELECT key FROM seen WHERE mailbox=?1 \
             AND key BETWEEN ?2 AND ?3 LIMIT ?4)",
            params![mailbox, keys.start(), keys.end(), CHUNK_ROWS],
        )?;
        Ok(deleted as u64)
    }
}

const DAY_S: u64 = 86_400;

/// The time for which the spools have been watched. It measures the age of missing files.
///
/// The system clock may jump, and no state may be purged because of that. So only the time counts
/// during which the daemon runs, plus at most [`MAX_DOWNTIME_S`] between two runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct WatchTime {
    /// Seconds before `since`.
    before_s: u64,
    since: MonotonicTime,
    /// Seconds saved in the state; `None` if the state has no date of a save, or a future one.
    saved_s: Option<u64>,
}

impl WatchTime {
    /// Continues from the time that the last run saved.
    pub(super) fn open(db: &StateDb, host: &mut dyn DaemonHost) -> Result<WatchTime> {
        let (saved_s, date) = (db.meta("age")?.unwrap_or(0), db.meta("date")?);
        let now = host.unix_time().unwrap_or(0);
        // A date in the future comes from a wrong clock, and is replaced soon.
        let away_s = date.and_then(|date: u64| now.checked_sub(date));
        Ok(WatchTime {
            before_s: saved_s + away_s.map_or(0, |away_s| away_s.min(MAX_DOWNTIME_S)),
            since: host.now(),
            saved_s: away_s.map(|_| saved_s),
        })
    }

    /// Number of the day, counted from the first.
    pub(super) fn day(&self, now: MonotonicTime) -> u64 {
        self.seconds(now) / DAY_S
    }

    /// Saves the time in the open transaction, unless it was saved less than
    /// [`AGE_SAVE_INTERVAL_S`] ago. The time since a save counts as time between two runs.
    pub(super) fn save(&mut self, db: &StateDb, host: &mut dyn DaemonHost) -> Result<()> {
        let seconds = self.seconds(host.now());
        let saved = self.saved_s;
        if saved.is_some_and(|saved| seconds < saved + AGE_SAVE_INTERVAL_S) {
            return Ok(());
        }
        self.saved_s = Some(seconds);
        db.set_meta("age", seconds)?;
        match host.unix_time() {
            Some(unix_time) => db.set_meta("date", unix_time),
            None => Ok(()),
        }
    }

    fn seconds(&self, now: MonotonicTime) -> u64 {
        self.before_s + now.ms.saturating_sub(self.since.ms) / 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LogRecord;
    use crate::store::StoreFixture;

    /// A host with a system clock.
    struct ClockHost {
        unix_time: u64,
    }

    impl DaemonHost for ClockHost {
        fn now(&mut self) -> MonotonicTime {
            MonotonicTime::default()
        }

        fn unix_ms(&mut self) -> Option<u64> {
            Some(self.unix_time * 1_000)
        }

        fn log(&mut self, _: &LogRecord<'_>) {}
    }

    /// Opens the watch time and saves it, as a short run does. Returns the seconds.
    fn run(db: &StateDb, unix_time: u64) -> u64 {
        let mut host = ClockHost { unix_time };
        let mut watch_time = WatchTime::open(db, &mut host).unwrap();
        watch_time.save(db, &mut host).unwrap();
        watch_time.seconds(MonotonicTime::default())
    }

    #[test]
    fn the_time_between_short_runs_counts_up_to_a_day_and_from_a_sound_clock() {
        const START: u64 = 1_700_000_000;
        let fixture = StoreFixture::new("watch-time");
        let db = fixture.state();
        assert_eq!(run(&db, START), 0);
        assert_eq!(run(&db, START + 1_800), 1_800);
        assert_eq!(run(&db, START + 3_600), 3_600);
        // The clock jumps ahead by a year, and back.
        assert_eq!(run(&db, START + 365 * DAY_S), 3_600 + MAX_DOWNTIME_S);
        assert_eq!(run(&db, START + 7_200), 3_600 + MAX_DOWNTIME_S);
        assert_eq!(run(&db, START + 9_000), 5_400 + MAX_DOWNTIME_S);
    }
}
