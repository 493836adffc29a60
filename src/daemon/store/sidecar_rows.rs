//! The changes since the last segment was sealed, as a sidecar lists them; and the way back from sidecars to the state.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rusqlite::params;

use super::holders::GivenRow;
use super::keys::{FileId, Hash128, MailboxId, StoredKey, path_key};
use super::mail_rows::{GrowingMessage, MboxCursor};
use super::spool_scopes::SpoolRow;
use super::state_db::StateDb;
use crate::daemon::error::DaemonError;
use crate::record::sidecar;

/// The mailboxes of the next sidecar.
type SidecarMailboxes = BTreeMap<MailboxId, sidecar::SidecarMailbox>;

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

    /// Applies the changes of a mailbox that a sidecar lists. Sidecars must be applied in their order. Returns the number of
    /// messages.
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
        if changes.retired {
            self.retire_mailbox(mailbox)?;
        }
        for key in &changes.keys {
            self.mark_seen(mailbox, parse_hash(key)?)?;
        }
        self.apply_holder_changes(mailbox, changes)?;
        for file in &changes.files {
            self.mark_file_read(file.key, mailbox, file.message)?;
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

    /// In a new state: forgets which rows are new, since the sidecars that they came from list them already.
    pub(super) fn clear_new_rows(&self) -> Result<(), DaemonError> {
        self.connection.batch(
            "DELETE FROM fresh_known; DELETE FROM fresh_file; DELETE FROM fresh_mailbox;
             DELETE FROM fresh_given; DELETE FROM fresh_gone; DELETE FROM fresh_unread;
             DELETE FROM fresh_seen",
        )
    }

    fn add_new_keys(&self, all: &mut SidecarMailboxes) -> Result<(), DaemonError> {
        // A message that is gone again must be read again.
        for table in ["fresh", "fresh_seen"] {
            let sql = format!(
                "SELECT mailbox, key FROM {table} new WHERE NOT EXISTS
                 (SELECT 1 FROM fresh_unread unread WHERE unread.mailbox=new.mailbox AND unread.key=substr(new.key, 1, 14)
                  AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.mailbox=unread.mailbox AND seen.key=unread.key))
                 ORDER BY rowid"
            );
            self.connection.each(&sql, [], |row| {
                let mailbox = all.entry(row.get(0)?).or_default();
                mailbox.keys.push(hex(row.get(1)?));
                Ok(())
            })?;
        }
        Ok(())
    }

    fn add_new_files(&self, all: &mut SidecarMailboxes) -> Result<(), DaemonError> {
        let sql = "SELECT mailbox, key, message, place, len FROM fresh_known JOIN known USING(key)";
        self.connection.each(sql, [], |row| {
            let key = row.get::<_, i64>(1)?.cast_unsigned();
            let message = row.get::<_, Option<i64>>(2)?.map(i64::cast_unsigned);
            let number = |index| -> rusqlite::Result<Option<u64>> {
                Ok(row.get::<_, Option<i64>>(index)?.map(i64::cast_unsigned))
            };
            let length = number(3)?.zip(number(4)?);
            let length = length.map(|(place, len)| sidecar::SidecarLength { place, len });
            let mailbox = all.entry(row.get(0)?).or_default();
            mailbox.files.push(sidecar::SidecarFile {
                key,
                message,
                length,
            });
            Ok(())
        })
    }

    fn add_new_cursors(&self, all: &mut SidecarMailboxes) -> Result<(), DaemonError> {
        let sql = "SELECT mailbox, dev, ino, btime, first, last, guard, head, size, mtime
             FROM fresh_file JOIN file USING(dev, ino, btime, mailbox)";
        self.connection.each(sql, [], |row| {
            let number = |index| row.get::<_, i64>(index).map(i64::cast_unsigned);
            let mailbox = all.entry(row.get(0)?).or_default();
            mailbox.cursors.push(sidecar::SidecarCursor {
                file: sidecar::SidecarFileId {
                    dev: number(1)?,
                    ino: number(2)?,
                    btime: row.get(3)?,
                },
                first: number(4)?,
                last: number(5)?,
                guard: number(6)?,
                head: number(7)?,
                size: number(8)?,
                mtime: row.get(9)?,
            });
            Ok(())
        })
    }

    fn add_given(&self, all: &mut SidecarMailboxes) -> Result<(), DaemonError> {
        let sql = "SELECT mailbox, digest, path.path, keys, earlier FROM fresh_given JOIN given USING(mailbox, digest)
             JOIN path ON path.id=given.path";
        self.connection.each(sql, [], |row| {
            let text =
                |index| -> rusqlite::Result<String> { Ok(to_hex(row.get_ref(index)?.as_bytes()?)) };
            let given = sidecar::SidecarGiven {
                digest: text(1)?,
                mailbox: text(2)?,
                keys: text(3)?,
                earlier: text(4)?,
                others: Vec::new(),
            };
            all.entry(row.get(0)?).or_default().given.push(given);
            Ok(())
        })?;
        let sql = "SELECT other.mailbox, other.digest, path.path FROM fresh_given JOIN other_path other USING(mailbox, digest)
             JOIN path ON path.id=other.path ORDER BY other.digest, path.id";
        let mut others: BTreeMap<(MailboxId, String), Vec<String>> = BTreeMap::new();
        self.connection.each(sql, [], |row| {
            let text =
                |index| -> rusqlite::Result<String> { Ok(to_hex(row.get_ref(index)?.as_bytes()?)) };
            let message = (row.get(0)?, text(1)?);
            others.entry(message).or_default().push(text(2)?);
            Ok(())
        })?;
        for (id, mailbox) in all {
            for given in &mut mailbox.given {
                if let Some(paths) = others.remove(&(*id, given.digest.clone())) {
                    given.others = paths;
                }
            }
        }
        Ok(())
    }

    /// All spools, for the next sidecar.
    pub(super) fn sidecar_spools(&self) -> Result<Vec<sidecar::SidecarSpool>, DaemonError> {
        let inheritances = self.inheritances()?;
        let text = |path: &Path| to_hex(path.as_os_str().as_encoded_bytes());
        let spools = self.spool_rows()?.into_iter().map(|row| {
            let key = path_key(&row.path);
            let earlier = inheritances.iter().filter(|(spool, _)| *spool == key);
            sidecar::SidecarSpool {
                path: text(&row.path),
                name: text(&row.name),
                target: text(&row.target),
                kind: row.kind,
                dedupe: row.dedupe,
                active: row.is_active,
                earlier: earlier.map(|(_, key)| hex(key.to_be_bytes())).collect(),
            }
        });
        Ok(spools.collect())
    }

    /// Applies the spools that a sidecar lists; none if it was written by an earlier version.
    pub(super) fn apply_spools(&self, spools: &[sidecar::SidecarSpool]) -> Result<(), DaemonError> {
        if spools.is_empty() {
            return Ok(());
        }
        let path = |text: &str| -> Result<PathBuf, DaemonError> {
            Ok(OsString::from_vec(parse_bytes(text)?).into())
        };
        let mut rows = Vec::new();
        for spool in spools {
            let row = SpoolRow {
                path: path(&spool.path)?,
                name: path(&spool.name)?,
                target: path(&spool.target)?,
                kind: spool.kind.clone(),
                dedupe: spool.dedupe.clone(),
                is_active: spool.active,
            };
            for earlier in &spool.earlier {
                self.put_inheritance(path_key(&row.path), parse_hash(earlier)?)?;
            }
            rows.push(row);
        }
        self.put_spool_rows(&rows)
    }

    fn add_gone(&self, all: &mut SidecarMailboxes) -> Result<(), DaemonError> {
        let sql = "SELECT mailbox, digest FROM fresh_gone gone WHERE NOT EXISTS
             (SELECT 1 FROM given WHERE given.mailbox=gone.mailbox AND given.digest=gone.digest)";
        self.connection.each(sql, [], |row| {
            let mailbox = all.entry(row.get(0)?).or_default();
            mailbox.gone.push(to_hex(row.get_ref(1)?.as_bytes()?));
            Ok(())
        })?;
        let sql = "SELECT mailbox, key FROM fresh_unread unread WHERE NOT EXISTS
             (SELECT 1 FROM seen WHERE seen.mailbox=unread.mailbox AND seen.key=unread.key)";
        self.connection.each(sql, [], |row| {
            let mailbox = all.entry(row.get(0)?).or_default();
            mailbox.unread.push(to_hex(row.get_ref(1)?.as_bytes()?));
            Ok(())
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
        let mailboxes: Vec<MailboxId> = self.connection.all(sql, [], |row| row.get(0))?;
        for mailbox in mailboxes {
            let growing = self.growing_messages(mailbox)?.into_iter();
            let tails = growing.map(|message| sidecar::SidecarTail {
                len: message.len,
                hash: hex(message.hash.to_be_bytes()),
                ids: message.ids.iter().map(|id| hex(id.to_be_bytes())).collect(),
                digests: message
                    .digests
                    .iter()
                    .map(|digest| hex(digest.to_be_bytes()))
                    .collect(),
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
        let sql = "SELECT key, spool, dev, many, retired FROM mailbox WHERE id=?1";
        let found = self.connection.find(sql, params![id], |row| {
            mailbox.mailbox = hex(row.get(0)?);
            mailbox.spool = hex(row.get(1)?);
            mailbox.dev = row.get::<_, i64>(2)?.cast_unsigned();
            mailbox.many = row.get(3)?;
            mailbox.retired = row.get(4)?;
            Ok(())
        })?;
        found.ok_or_else(|| self.connection.damaged("lacks a mailbox"))
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
        let message = GrowingMessage {
            len: tail.len,
            hash: parse_hash(&tail.hash)?,
            ids: tail
                .ids
                .iter()
                .map(|id| parse_hash(id))
                .collect::<Result<_, _>>()?,
            digests: tail
                .digests
                .iter()
                .map(|digest| parse_hash(digest))
                .collect::<Result<_, _>>()?,
        };
        self.put_growing(mailbox, &message)
    }
}

fn hex(bytes: [u8; 16]) -> String {
    to_hex(&bytes)
}

fn to_hex(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(bytes)
}

fn parse_bytes(text: &str) -> Result<Vec<u8>, DaemonError> {
    data_encoding::HEXLOWER
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
