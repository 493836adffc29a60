//! A sum over what the promise rests on, so that a change behind the daemon's back is noticed after any end.
//!
//! `SQLite` notices damage to its structure, not to what stands in it, and the hash of the whole file is noted at a clean
//! end alone (`daemon/store/shutdown_hash.rs`). So every transaction keeps the sum of the hashes of these rows: mailboxes, messages that
//! were given, messages that may yet grow. A start after another end adds them up again. What else stands in the
//! database is compared with files each time it is used, or only tells what may be forgotten.

use std::cell::Cell;
use std::hash::Hasher;

use rusqlite::params;
use twox_hash::XxHash3_64;

use super::{MailboxId, StateDb};
use crate::daemon::error::DaemonError;

/// The name under which the sum is kept.
const NAME: &str = "sum";

/// The sum as it is, and as it stands in the database.
#[derive(Debug, Default)]
pub(crate) struct Sum {
    now: Cell<u64>,
    kept: Cell<u64>,
}

/// A row that counts.
#[derive(Clone, Copy)]
pub(crate) enum Counted<'r> {
    /// A mailbox and its key.
    Mailbox(MailboxId, &'r [u8]),
    /// A message that was given, by the bytes that are kept of its key.
    Seen(MailboxId, &'r [u8]),
    /// One that may yet grow: its length, its hash and its URLs.
    Tail(MailboxId, i64, &'r [u8], &'r [u8]),
}

impl Counted<'_> {
    fn hash(self) -> u64 {
        let mut hash = XxHash3_64::new();
        let (kind, mailbox, parts) = match self {
            Counted::Mailbox(id, key) => (0, id, [key, &[]]),
            Counted::Seen(id, key) => (1, id, [key, &[]]),
            Counted::Tail(id, len, start, ids) => {
                hash.write(&len.to_le_bytes());
                (2, id, [start, ids])
            }
        };
        hash.write(&[kind]);
        hash.write(&mailbox.to_le_bytes());
        for part in parts {
            hash.write(part);
        }
        hash.finish()
    }
}

impl Sum {
    /// Counters a row that came.
    pub(crate) fn add(&self, row: Counted<'_>) {
        self.now.set(self.now.get().wrapping_add(row.hash()));
    }

    /// Counters a row no more.
    pub(crate) fn take(&self, row: Counted<'_>) {
        self.now.set(self.now.get().wrapping_sub(row.hash()));
    }
}

impl StateDb {
    /// Takes up the sum where the database has it.
    pub(crate) fn open_sum(&self) -> Result<(), DaemonError> {
        let kept = self
            .meta_value(NAME)?
            .ok_or_else(|| self.db.inconsistent("it has no sum"))?;
        self.sum.now.set(kept);
        self.sum.kept.set(kept);
        Ok(())
    }

    /// Keeps the sum with the transaction that changed it.
    pub(crate) fn keep_sum(&self) -> Result<(), DaemonError> {
        let now = self.sum.now.get();
        if now != self.sum.kept.get() {
            self.set_meta_value(NAME, now)?;
            self.sum.kept.set(now);
        }
        Ok(())
    }

    /// Adds everything up, and holds it against what is kept.
    pub(crate) fn check_sum(&self) -> Result<(), DaemonError> {
        let sum = Sum::default();
        self.db.each("SELECT id, key FROM mailbox", [], |row| {
            sum.add(Counted::Mailbox(row.get(0)?, row.get_ref(1)?.as_bytes()?));
            Ok(())
        })?;
        self.db.each("SELECT mailbox, key FROM seen", [], |row| {
            sum.add(Counted::Seen(row.get(0)?, row.get_ref(1)?.as_bytes()?));
            Ok(())
        })?;
        self.db
            .each("SELECT mailbox, len, hash, ids FROM tail", [], |row| {
                let (hash, ids) = (row.get_ref(2)?.as_bytes()?, row.get_ref(3)?.as_bytes()?);
                sum.add(Counted::Tail(row.get(0)?, row.get(1)?, hash, ids));
                Ok(())
            })?;
        if sum.now.get() == self.sum.kept.get() {
            return Ok(());
        }
        Err(self
            .db
            .inconsistent("what it knows of messages is not what was written"))
    }

    /// Forgets messages that were given: those of a mailbox whose keys are no less and no more than these, and no more
    /// of them than `most`. Gives how many.
    pub(crate) fn forget_seen(
        &self,
        mailbox: MailboxId,
        keys: (&[u8], &[u8]),
        most: u32,
    ) -> Result<u64, DaemonError> {
        let sql = "DELETE FROM seen WHERE mailbox=?1 AND key IN
             (SELECT key FROM seen WHERE mailbox=?1 AND key BETWEEN ?2 AND ?3 LIMIT ?4) RETURNING key";
        let mut forgotten = 0;
        self.db
            .each(sql, params![mailbox, keys.0, keys.1, most], |row| {
                self.sum
                    .take(Counted::Seen(mailbox, row.get_ref(0)?.as_bytes()?));
                forgotten += 1;
                Ok(())
            })?;
        Ok(forgotten)
    }

    /// Forgets messages that may yet grow: all of a mailbox.
    pub(crate) fn forget_growing(&self, mailbox: MailboxId) -> Result<(), DaemonError> {
        self.db.each(
            "DELETE FROM tail WHERE mailbox=?1 RETURNING len, hash, ids",
            params![mailbox],
            |row| {
                let (hash, ids) = (row.get_ref(1)?.as_bytes()?, row.get_ref(2)?.as_bytes()?);
                self.sum
                    .take(Counted::Tail(mailbox, row.get(0)?, hash, ids));
                Ok(())
            },
        )
    }
}
