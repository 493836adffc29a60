//! A checksum of the rows that prevent duplicates and losses, so that a change by anybody else is detected after any end.
//!
//! `SQLite` detects damage to its structure, not to its content, and the hash of the whole file is written only at a clean
//! shutdown (`shutdown_hash.rs`). So every transaction saves the sum of the hashes of these rows: mailboxes, messages that were
//! read, growing messages, and those of `holders.rs`. A start after another end adds them up again. The other tables are compared with files each time
//! they are used, or only decide what may be purged.

use std::cell::Cell;
use std::hash::Hasher;

use twox_hash::XxHash3_64;

use super::connection::DbConnection;
use super::keys::MailboxId;
use crate::daemon::error::{DaemonError, DatabaseDamage};

/// Name of the checksum in the table `meta`.
const NAME: &str = "sum";

/// The checksum of the current rows, and the one that is saved.
#[derive(Debug, Default)]
pub(super) struct RowChecksum {
    current: Cell<u64>,
    saved: Cell<u64>,
}

/// A row that the checksum covers.
#[derive(Clone, Copy)]
pub(super) enum ChecksummedRow<'r> {
    Mailbox {
        id: MailboxId,
        key: &'r [u8],
    },
    /// A message that was read.
    Seen {
        mailbox: MailboxId,
        key: &'r [u8],
    },
    Growing {
        mailbox: MailboxId,
        len: i64,
        hash: &'r [u8],
        ids: &'r [u8],
        digests: &'r [u8],
    },
    Path {
        id: i64,
        path: &'r [u8],
    },
    /// A file that holds messages.
    Holder {
        key: i64,
    },
    /// A message in a file.
    Held {
        holder: i64,
        mailbox: MailboxId,
        digest: &'r [u8],
    },
    /// A further mailbox that the records of a message name.
    OtherPath {
        mailbox: MailboxId,
        digest: &'r [u8],
        path: i64,
    },
    /// A message whose records were written.
    Given {
        mailbox: MailboxId,
        digest: &'r [u8],
        path: i64,
        keys: &'r [u8],
        earlier: &'r [u8],
        files: i64,
    },
}

impl ChecksummedRow<'_> {
    fn hash(self) -> u64 {
        let mut hash = XxHash3_64::new();
        let (kind, number, parts) = match self {
            ChecksummedRow::Mailbox { id, key } => (0, id, [key, &[], &[]]),
            ChecksummedRow::Seen { mailbox, key } => (1, mailbox, [key, &[], &[]]),
            ChecksummedRow::Growing {
                mailbox,
                len,
                hash: start,
                ids,
                digests,
            } => {
                hash.write(&len.to_le_bytes());
                (2, mailbox, [start, ids, digests])
            }
            ChecksummedRow::Path { id, path } => (3, id, [path, &[], &[]]),
            ChecksummedRow::Holder { key } => (4, key, [&[][..], &[], &[]]),
            ChecksummedRow::Held {
                holder,
                mailbox,
                digest,
            } => {
                hash.write(&holder.to_le_bytes());
                (5, mailbox, [digest, &[], &[]])
            }
            ChecksummedRow::OtherPath {
                mailbox,
                digest,
                path,
            } => {
                hash.write(&path.to_le_bytes());
                (7, mailbox, [digest, &[], &[]])
            }
            ChecksummedRow::Given {
                mailbox,
                digest,
                path,
                keys,
                earlier,
                files,
            } => {
                hash.write(&path.to_le_bytes());
                hash.write(&files.to_le_bytes());
                (6, mailbox, [digest, keys, earlier])
            }
        };
        hash.write(&[kind]);
        hash.write(&number.to_le_bytes());
        for part in parts {
            hash.write(part);
        }
        hash.finish()
    }
}

impl RowChecksum {
    /// Reads the saved checksum.
    pub(super) fn load(db: &DbConnection) -> Result<RowChecksum, DaemonError> {
        let saved = db
            .meta_value(NAME)?
            .ok_or_else(|| db.damaged(DatabaseDamage::NoChecksum))?;
        Ok(RowChecksum {
            current: Cell::new(saved),
            saved: Cell::new(saved),
        })
    }

    /// Adds a row that was inserted.
    pub(super) fn add(&self, row: ChecksummedRow<'_>) {
        self.current
            .set(self.current.get().wrapping_add(row.hash()));
    }

    /// Subtracts a row that was deleted.
    pub(super) fn subtract(&self, row: ChecksummedRow<'_>) {
        self.current
            .set(self.current.get().wrapping_sub(row.hash()));
    }

    /// Saves the checksum in the transaction that changed it.
    pub(super) fn save(&self, db: &DbConnection) -> Result<(), DaemonError> {
        let current = self.current.get();
        if current != self.saved.get() {
            db.set_meta_value(NAME, current)?;
            self.saved.set(current);
        }
        Ok(())
    }

    /// Adds all rows up, and compares the result with the saved checksum.
    pub(super) fn verify(&self, db: &DbConnection) -> Result<(), DaemonError> {
        if RowChecksum::of_rows(db)? == self.saved.get() {
            return Ok(());
        }
        Err(db.damaged(DatabaseDamage::WrongChecksum))
    }

    /// Adds all rows up, after a change of many of them that was not followed.
    pub(super) fn recompute(&self, db: &DbConnection) -> Result<(), DaemonError> {
        self.current.set(RowChecksum::of_rows(db)?);
        Ok(())
    }

    fn of_rows(db: &DbConnection) -> Result<u64, DaemonError> {
        let sum = RowChecksum::default();
        db.each("SELECT id, key FROM mailbox", [], |row| {
            sum.add(ChecksummedRow::Mailbox {
                id: row.get(0)?,
                key: row.get_ref(1)?.as_bytes()?,
            });
            Ok(())
        })?;
        db.each("SELECT mailbox, key FROM seen", [], |row| {
            sum.add(ChecksummedRow::Seen {
                mailbox: row.get(0)?,
                key: row.get_ref(1)?.as_bytes()?,
            });
            Ok(())
        })?;
        db.each(
            "SELECT mailbox, len, hash, ids, digests FROM tail",
            [],
            |row| {
                sum.add(ChecksummedRow::Growing {
                    mailbox: row.get(0)?,
                    len: row.get(1)?,
                    hash: row.get_ref(2)?.as_bytes()?,
                    ids: row.get_ref(3)?.as_bytes()?,
                    digests: row.get_ref(4)?.as_bytes()?,
                });
                Ok(())
            },
        )?;
        sum.add_holder_rows(db)?;
        Ok(sum.current.get())
    }

    /// Adds the rows of `holders.rs`.
    fn add_holder_rows(&self, db: &DbConnection) -> Result<(), DaemonError> {
        db.each("SELECT id, path FROM path", [], |row| {
            self.add(ChecksummedRow::Path {
                id: row.get(0)?,
                path: row.get_ref(1)?.as_bytes()?,
            });
            Ok(())
        })?;
        db.each("SELECT key FROM holder", [], |row| {
            self.add(ChecksummedRow::Holder { key: row.get(0)? });
            Ok(())
        })?;
        db.each("SELECT holder, mailbox, digest FROM held", [], |row| {
            self.add(ChecksummedRow::Held {
                holder: row.get(0)?,
                mailbox: row.get(1)?,
                digest: row.get_ref(2)?.as_bytes()?,
            });
            Ok(())
        })?;
        db.each("SELECT mailbox, digest, path FROM other_path", [], |row| {
            self.add(ChecksummedRow::OtherPath {
                mailbox: row.get(0)?,
                digest: row.get_ref(1)?.as_bytes()?,
                path: row.get(2)?,
            });
            Ok(())
        })?;
        let given = "SELECT mailbox, digest, path, keys, earlier, files FROM given";
        db.each(given, [], |row| {
            self.add(ChecksummedRow::Given {
                mailbox: row.get(0)?,
                digest: row.get_ref(1)?.as_bytes()?,
                path: row.get(2)?,
                keys: row.get_ref(3)?.as_bytes()?,
                earlier: row.get_ref(4)?.as_bytes()?,
                files: row.get(5)?,
            });
            Ok(())
        })
    }
}
