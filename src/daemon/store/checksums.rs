//! Checksums of the state database: of the rows that prevent duplicates and losses, and of the whole file.
//!
//! `SQLite` detects damage to its structure, not to its content. A clean shutdown writes the hash of the file beside it, and the
//! next start removes it before the first write. After any other end there is none: then the checksums of the write-ahead log,
//! `SQLite`'s check of the structure, and the checksum of the rows must do.
//!
//! Every transaction saves the sum of the hashes of these rows: mailboxes, messages that were read, growing messages, and those of
//! `holders.rs`. A start after another end adds them up again. The other tables are compared with files each time they are used,
//! or only decide what may be purged.

use std::cell::Cell;
use std::fs;
use std::hash::Hasher;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_64;

use super::connection::DbConnection;
use super::keys::MailboxId;
use crate::daemon::error::{DaemonError, REBUILD};
use crate::sink::segment;

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
            .ok_or_else(|| db.damaged("has no checksum"))?;
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
        Err(db.damaged("was changed: the checksum of mailboxes and messages is wrong"))
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

/// Result of the check of a database before it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShutdownCheck {
    /// It has the hash that was written at the last clean shutdown.
    Verified,
    /// There is no hash of it.
    Unknown,
}

/// Compares a database with its hash, and removes the hash.
///
/// # Errors
///
/// [`DaemonError::Inconsistent`] if they differ, or an I/O error.
pub(super) fn check_shutdown_hash(db: &Path) -> Result<ShutdownCheck, DaemonError> {
    let path = path_beside(db);
    let Ok(expected) = fs::read_to_string(&path) else {
        return Ok(ShutdownCheck::Unknown);
    };
    let found = hash(db).map_err(|error| DaemonError::from_io(db, error))?;
    if found != Some(expected) {
        return Err(DaemonError::inconsistent(format!(
            "state database {} was changed after the last shutdown; {REBUILD}",
            db.display()
        )));
    }
    // A hash that reappears after a power cut would reject a database that was written since.
    fs::remove_file(&path)
        .and_then(|()| segment::sync_dir(path.parent().unwrap_or(&path)))
        .map_err(|error| DaemonError::from_io(&path, error))?;
    Ok(ShutdownCheck::Verified)
}

/// Writes the hash of a database, after the last write to it.
pub(super) fn write_shutdown_hash(db: &Path) {
    if let Ok(Some(hash)) = hash(db) {
        // Without a hash the next start checks more slowly.
        let _ = segment::replace(&path_beside(db), hash.as_bytes());
    }
}

/// Removes the hash of a database that will be created again.
pub(super) fn remove_shutdown_hash(db: &Path) {
    let _ = fs::remove_file(path_beside(db));
}

/// Renames the hash together with its database.
pub(super) fn rename_shutdown_hash(from: &Path, to: &Path) {
    // Without a hash the next start checks more slowly.
    let _ = segment::take_place(&path_beside(from), &path_beside(to));
}

fn path_beside(db: &Path) -> PathBuf {
    db.with_extension("sum")
}

fn hash(db: &Path) -> std::io::Result<Option<String>> {
    let hash = segment::hash_of(db, fs::metadata(db)?.len())?;
    Ok(hash.map(|hash| format!("{hash:016x}\n")))
}
