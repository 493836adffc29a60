//! The changes since the last segment was sealed, as a sidecar lists them; and the way back from
//! sidecars to the state.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use rusqlite::{Row, params};

use super::holders::{DigestBytes, GivenRow};
use super::mail_rows::{FileLook, GrowingMessage, MboxCursor};
use super::spools::SpoolRow;
use super::state_db::{FileId, Hash128, MailboxId, StoredKey, stored_key};
use super::state_db::{StateDb, optional, unsigned};
use crate::daemon::DaemonError;
use crate::record::sidecar;

/// The mailboxes of the next sidecar.
type SidecarMailboxes = BTreeMap<MailboxId, sidecar::SidecarMailbox>;

/// Messages that were removed, which earlier sidecars list.
#[derive(Default)]
pub(super) struct RemovedRows {
    keys: HashSet<(MailboxId, StoredKey)>,
    digests: HashSet<(MailboxId, DigestBytes)>,
}

/// The name in the state of [`StateDb::first_comparable`].
const COMPARABLE: &str = "comparable";

impl StateDb {
    /// The mailboxes that changed since the last segment was sealed, with their changes.
    pub(super) fn new_sidecar_mailboxes(
        &self,
    ) -> Result<Vec<sidecar::SidecarMailbox>, DaemonError> {
        let mut all = BTreeMap::new();
        self.add_new_keys(&mut all)?;
        self.add_new_files(&mut all)?;
        self.add_new_cursors(&mut all)?;
        self.add_changed_mailboxes(&mut all)?;
        self.add_given(&mut all)?;
        self.add_gone(&mut all)?;
        for (id, mailbox) in &mut all {
            self.describe_mailbox(*id, mailbox)?;
        }
        Ok(all.into_values().collect())
    }

    /// Applies the changes of a mailbox that a sidecar lists. Sidecars must be applied in their
    /// order. Returns the number of messages.
    pub(super) fn apply_sidecar(
        &self,
        changes: &sidecar::SidecarMailbox,
    ) -> Result<usize, DaemonError> {
        let (key, spool) = (parse_hash(&changes.mailbox)?, parse_hash(&changes.spool)?);
        let mailbox = self.mailbox(key, spool, changes.dev)?;
        match changes.many {
            0 => {}
            1 => self.mark_multi_message(mailbox)?,
            _ => self.mark_mixed_archive(mailbox)?,
        }
        for key in &changes.keys {
            self.mark_seen(mailbox, parse_hash(key)?)?;
        }
        self.apply_holder_changes(mailbox, changes)?;
        for file in &changes.files {
            self.mark_file_read(file.key, mailbox, file.message, FileLook::default())?;
            if let Some(sidecar::SidecarLength { place, len }) = file.length {
                self.mark_file_length(file.key, place, len)?;
            }
        }
        for cursor in &changes.cursors {
            self.apply_cursor(mailbox, cursor)?;
        }
        if let Some(tails) = &changes.tails {
            self.remove_all_growing(mailbox)?;
            for tail in tails {
                self.apply_growing(mailbox, tail)?;
            }
        }
        Ok(changes.keys.len())
    }

    /// Returns `true` if the messages that a sidecar lists are known, without those that were removed
    /// later. Adds those that it lists as removed. Sidecars must be compared from the newest on.
    pub(super) fn has_rows_of(
        &self,
        changes: &sidecar::SidecarMailbox,
        removed: &mut RemovedRows,
    ) -> Result<bool, DaemonError> {
        let sql = "SELECT id FROM mailbox WHERE key=?1";
        let key = parse_hash(&changes.mailbox)?.to_be_bytes();
        let Some(mailbox) = self.find(sql, params![key], |row| row.get(0))? else {
            return Ok(false);
        };
        for key in &changes.keys {
            let key = parse_hash(key)?;
            let is_removed = removed.keys.contains(&(mailbox, stored_key(key)));
            if !is_removed && !self.is_seen(mailbox, key)? {
                return Ok(false);
            }
        }
        let given = if self.tracks_holders() {
            &*changes.given
        } else {
            &[]
        };
        for given in given {
            let digest = parse_hash(&given.digest)?.to_be_bytes();
            let is_removed = removed.digests.contains(&(mailbox, digest));
            if !is_removed && self.given_row(mailbox, digest)?.is_none() {
                return Ok(false);
            }
        }
        for key in &changes.unread {
            removed.keys.insert((mailbox, parse_key(key)?));
        }
        for digest in &changes.gone {
            removed
                .digests
                .insert((mailbox, parse_hash(digest)?.to_be_bytes()));
        }
        Ok(true)
    }

    /// The messages that were removed since the last segment was sealed.
    pub(super) fn newly_removed(&self) -> Result<RemovedRows, DaemonError> {
        let keys = self.all("SELECT mailbox, key FROM fresh_unread", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        let digests = self.all("SELECT mailbox, digest FROM fresh_gone", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        Ok(RemovedRows {
            keys: keys.into_iter().collect(),
            digests: digests.into_iter().collect(),
        })
    }

    /// Number of the first segment since which messages were removed only as sidecars list it.
    pub(super) fn first_comparable(&self) -> Result<u64, DaemonError> {
        Ok(self.meta_value(COMPARABLE)?.unwrap_or(0))
    }

    /// Records that messages are removed that no sidecar lists as removed.
    pub(super) fn forget_comparable(&self) -> Result<(), DaemonError> {
        self.set_meta_value(COMPARABLE, self.unsealed_segment()?.seq + 1)
    }

    /// Forgets which rows are new, because a sidecar lists them.
    pub(super) fn clear_new_rows(&self) -> Result<(), DaemonError> {
        self.batch(
            "DELETE FROM fresh; DELETE FROM fresh_known; DELETE FROM fresh_file; DELETE FROM fresh_mailbox;
             DELETE FROM fresh_given; DELETE FROM fresh_gone; DELETE FROM fresh_unread",
        )
    }

    fn add_new_keys(&self, all: &mut SidecarMailboxes) -> Result<(), DaemonError> {
        // A message that is gone again must be read again.
        let sql = "SELECT mailbox, lower(hex(key)) FROM fresh new WHERE NOT EXISTS
             (SELECT 1 FROM fresh_unread unread WHERE unread.mailbox=new.mailbox AND unread.key=substr(new.key, 1, 14)
              AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.mailbox=unread.mailbox AND seen.key=unread.key))
             ORDER BY rowid";
        self.each_of_mailbox(sql, all, |row, mailbox| {
            mailbox.keys.push(row.get(1)?);
            Ok(())
        })
    }

    fn add_new_files(&self, all: &mut SidecarMailboxes) -> Result<(), DaemonError> {
        let sql = "SELECT mailbox, key, message, place, len FROM fresh_known JOIN known USING(key)";
        self.each_of_mailbox(sql, all, |row, mailbox| {
            let length = optional(row, 3)?.zip(optional(row, 4)?);
            mailbox.files.push(sidecar::SidecarFile {
                key: unsigned(row, 1)?,
                message: optional(row, 2)?,
                length: length.map(|(place, len)| sidecar::SidecarLength { place, len }),
            });
            Ok(())
        })
    }

    fn add_new_cursors(&self, all: &mut SidecarMailboxes) -> Result<(), DaemonError> {
        let sql = "SELECT mailbox, dev, ino, btime, first, last, guard, head, size, mtime
             FROM fresh_file JOIN file USING(dev, ino, btime, mailbox)";
        self.each_of_mailbox(sql, all, |row, mailbox| {
            mailbox.cursors.push(sidecar::SidecarCursor {
                file: sidecar::SidecarFileId {
                    dev: unsigned(row, 1)?,
                    ino: unsigned(row, 2)?,
                    btime: row.get(3)?,
                },
                first: unsigned(row, 4)?,
                last: unsigned(row, 5)?,
                guard: unsigned(row, 6)?,
                head: unsigned(row, 7)?,
                size: unsigned(row, 8)?,
                mtime: row.get(9)?,
            });
            Ok(())
        })
    }

    fn add_given(&self, all: &mut SidecarMailboxes) -> Result<(), DaemonError> {
        let sql = "SELECT mailbox, lower(hex(digest)), lower(hex(path.path)), lower(hex(keys)), lower(hex(earlier)),
               (SELECT group_concat(path, ' ') FROM
                 (SELECT lower(hex(path.path)) path FROM other_path other JOIN path ON path.id=other.path
                  WHERE other.digest=given.digest AND other.mailbox=given.mailbox ORDER BY path.id))
             FROM fresh_given JOIN given USING(mailbox, digest) JOIN path ON path.id=given.path";
        self.each_of_mailbox(sql, all, |row, mailbox| {
            let others: Option<String> = row.get(5)?;
            let others = others.iter().flat_map(|others| others.split(' '));
            mailbox.given.push(sidecar::SidecarGiven {
                digest: row.get(1)?,
                mailbox: row.get(2)?,
                keys: row.get(3)?,
                earlier: row.get(4)?,
                others: others.map(str::to_owned).collect(),
            });
            Ok(())
        })
    }

    /// All spools, for the next sidecar.
    pub(super) fn sidecar_spools(&self) -> Result<Vec<sidecar::SidecarSpool>, DaemonError> {
        let text = |path: &Path| HEXLOWER.encode(path.as_os_str().as_encoded_bytes());
        let spools = self
            .spool_rows()?
            .into_iter()
            .map(|row| sidecar::SidecarSpool {
                path: text(&row.path),
                name: text(&row.name),
                target: text(&row.target),
                kind: row.kind,
                dedupe: row.dedupe,
            });
        Ok(spools.collect())
    }

    /// Applies the spools that a sidecar lists.
    pub(super) fn apply_spools(&self, spools: &[sidecar::SidecarSpool]) -> Result<(), DaemonError> {
        let path = |text: &str| -> Result<PathBuf, DaemonError> {
            Ok(OsString::from_vec(parse_bytes(text)?).into())
        };
        spools.iter().try_for_each(|spool| {
            self.put_spool_row(&SpoolRow {
                path: path(&spool.path)?,
                name: path(&spool.name)?,
                target: path(&spool.target)?,
                kind: spool.kind.clone(),
                dedupe: spool.dedupe.clone(),
            })
        })
    }

    fn add_gone(&self, all: &mut SidecarMailboxes) -> Result<(), DaemonError> {
        let sql = "SELECT mailbox, lower(hex(digest)) FROM fresh_gone gone WHERE NOT EXISTS
             (SELECT 1 FROM given WHERE given.mailbox=gone.mailbox AND given.digest=gone.digest)";
        self.each_of_mailbox(sql, all, |row, mailbox| {
            mailbox.gone.push(row.get(1)?);
            Ok(())
        })?;
        let sql = "SELECT mailbox, lower(hex(key)) FROM fresh_unread unread WHERE NOT EXISTS
             (SELECT 1 FROM seen WHERE seen.mailbox=unread.mailbox AND seen.key=unread.key)";
        self.each_of_mailbox(sql, all, |row, mailbox| {
            mailbox.unread.push(row.get(1)?);
            Ok(())
        })
    }

    /// Reads each row of a query into its mailbox, the first column.
    fn each_of_mailbox(
        &self,
        sql: &str,
        all: &mut SidecarMailboxes,
        read: impl Fn(&Row<'_>, &mut sidecar::SidecarMailbox) -> rusqlite::Result<()>,
    ) -> Result<(), DaemonError> {
        self.each(sql, [], |row| {
            read(row, all.entry(row.get(0)?).or_default())
        })
    }

    /// Applies the changes to messages that were given or are gone.
    fn apply_holder_changes(
        &self,
        mailbox: MailboxId,
        changes: &sidecar::SidecarMailbox,
    ) -> Result<(), DaemonError> {
        for digest in &changes.gone {
            self.forget_digest(mailbox, parse_hash(digest)?.to_be_bytes())?;
        }
        for key in &changes.unread {
            self.remove_seen(mailbox, &parse_key(key)?)?;
        }
        for given in &changes.given {
            let digest = parse_hash(&given.digest)?.to_be_bytes();
            self.put_given_row(GivenRow {
                mailbox,
                digest,
                path: self.path_id(&parse_bytes(&given.mailbox)?)?,
                keys: parse_bytes(&given.keys)?,
                earlier: parse_bytes(&given.earlier)?,
                files: 0,
            })?;
            for other in &given.others {
                let path = self.path_id(&parse_bytes(other)?)?;
                self.put_other_path(mailbox, digest, path)?;
            }
        }
        Ok(())
    }

    fn add_changed_mailboxes(&self, all: &mut SidecarMailboxes) -> Result<(), DaemonError> {
        let sql = "SELECT mailbox FROM fresh_mailbox";
        let mailboxes: Vec<MailboxId> = self.all(sql, [], |row| row.get(0))?;
        let hashes = |all: &[Hash128]| all.iter().copied().map(hash_text).collect();
        for mailbox in mailboxes {
            let growing = self.growing_messages(mailbox)?.into_iter();
            let tails = growing.map(|message| sidecar::SidecarTail {
                len: message.len,
                hash: hash_text(message.hash),
                ids: hashes(&message.ids),
                digests: hashes(&message.digests),
            });
            all.entry(mailbox).or_default().tails = Some(tails.collect());
        }
        Ok(())
    }

    /// Fills in the mailbox's own row.
    fn describe_mailbox(
        &self,
        id: MailboxId,
        mailbox: &mut sidecar::SidecarMailbox,
    ) -> Result<(), DaemonError> {
        let sql = "SELECT lower(hex(key)), lower(hex(spool)), dev, many FROM mailbox \
                   WHERE id=?1";
        let found = self.find(sql, params![id], |row| {
            mailbox.mailbox = row.get(0)?;
            mailbox.spool = row.get(1)?;
            mailbox.dev = unsigned(row, 2)?;
            mailbox.many = row.get(3)?;
            Ok(())
        })?;
        found.ok_or_else(|| self.damaged("lacks a mailbox"))
    }

    fn apply_cursor(
        &self,
        mailbox: MailboxId,
        cursor: &sidecar::SidecarCursor,
    ) -> Result<(), DaemonError> {
        let sidecar::SidecarFileId { dev, ino, btime } = cursor.file;
        let position = MboxCursor {
            first: cursor.first,
            last: cursor.last,
            guard: cursor.guard,
            head: cursor.head,
            size: cursor.size,
            mtime: cursor.mtime,
            look: FileLook::default(),
            // All files are read again to learn which messages they hold.
            pass: 0,
        };
        self.put_cursor(FileId { dev, ino, btime }, mailbox, &position)
    }

    fn apply_growing(
        &self,
        mailbox: MailboxId,
        tail: &sidecar::SidecarTail,
    ) -> Result<(), DaemonError> {
        let hashes = |texts: &[String]| {
            texts
                .iter()
                .map(|text| parse_hash(text))
                .collect::<Result<Vec<_>, _>>()
        };
        let message = GrowingMessage {
            len: tail.len,
            hash: parse_hash(&tail.hash)?,
            ids: hashes(&tail.ids)?,
            digests: hashes(&tail.digests)?,
        };
        self.put_growing(mailbox, &message)
    }
}

fn hash_text(hash: Hash128) -> String {
    format!("{hash:032x}")
}

fn parse_bytes(text: &str) -> Result<Vec<u8>, DaemonError> {
    HEXLOWER
        .decode(text.as_bytes())
        .map_err(|_| not_a_hash(text))
}

fn parse_key(text: &str) -> Result<StoredKey, DaemonError> {
    StoredKey::try_from(parse_bytes(text)?).map_err(|_| not_a_hash(text))
}

fn not_a_hash(text: &str) -> DaemonError {
    DaemonError::inconsistent(format!("a sidecar holds {text:?}, which is not a hash"))
}

fn parse_hash(text: &str) -> Result<Hash128, DaemonError> {
    Hash128::from_str_radix(text, 16).map_err(|_| not_a_hash(text))
}
