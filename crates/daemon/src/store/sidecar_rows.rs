//! The changes since the last segment was sealed, as a sidecar lists them. Also applies sidecars to
//! rebuild a state.

use std::collections::{BTreeMap, HashSet};

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};

use super::gone::GivenMessage;
use super::spools::{SpoolRow, path_of};
use super::state_db::{FileLook, GrowingMessage, Hash128, MailboxId, ReadFile, StateDb, StoredKey};
use super::state_db::{digests_in, hash128, optional, position_of, stored_key, unsigned};
use crate::Result;
use urlspool_record::record::Sidecar;

/// The sidecar of a segment, with the changes of the state since the previous segment was sealed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StateSidecar {
    #[serde(flatten)]
    pub(super) segment: Sidecar,
    /// Seconds for which the spools were watched.
    pub(super) age: u64,
    /// All spools that the state knows.
    pub(super) spools: Vec<SpoolRow>,
    pub(super) mailboxes: Vec<SidecarMailbox>,
}

/// Changes in one mailbox.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SidecarMailbox {
    /// Hash of the mailbox's path.
    mailbox: Hash128,
    /// Hash of the spool's path.
    spool: Hash128,
    /// File system of the mailbox's files.
    dev: u64,
    /// As in the table `mailbox`.
    many: i64,
    /// The keys of messages whose records the segment contains.
    keys: Vec<Hash128>,
    /// Files that were read.
    files: Vec<ReadFile>,
    /// All messages that may grow; `None` if neither they nor the mailbox have changed.
    growing: Option<Vec<GrowingMessage>>,
    /// Messages whose records were written.
    given: Vec<GivenMessage>,
    /// Digests of messages that are gone.
    gone: Vec<Hash128>,
    /// The stored keys of messages that were removed from the read messages.
    unread: Vec<Hash128>,
}

/// Adds a row to the changes of its mailbox.
type AddRow = fn(&Row<'_>, &mut SidecarMailbox) -> rusqlite::Result<()>;

/// The queries for the changes since the last segment was sealed. The first column is the mailbox.
const CHANGES: [(&str, AddRow); 6] = [
    // A message that is gone must be read again.
    (
        "SELECT mailbox, key FROM fresh new WHERE NOT EXISTS
         (SELECT 1 FROM fresh_unread unread WHERE unread.mailbox=new.mailbox AND \
         unread.key=substr(new.key, 1, 14)
          AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.mailbox=unread.mailbox AND \
          seen.key=unread.key))
         ORDER BY rowid",
        |row, mailbox| hash128(row, 1).map(|key| mailbox.keys.push(key)),
    ),
    (
        "SELECT mailbox, key, message, place, len, position FROM file \
         WHERE key IN (SELECT key FROM fresh_file)",
        |row, mailbox| read_file(row).map(|file| mailbox.files.push(file)),
    ),
    // The growing messages follow.
    ("SELECT mailbox FROM fresh_mailbox", |_, mailbox| {
        mailbox.growing = Some(Vec::new());
        Ok(())
    }),
    (
        "SELECT mailbox, digest, path.path, keys, earlier
         FROM fresh_given JOIN given USING(mailbox, digest) JOIN path ON path.id=given.path
         UNION ALL SELECT mailbox, digest, path.path, x'', x''
         FROM fresh_given JOIN other_path other USING(mailbox, digest)
         JOIN path ON path.id=other.path",
        |row, mailbox| given_message(row).map(|given| mailbox.given.push(given)),
    ),
    (
        "SELECT mailbox, digest FROM fresh_gone gone WHERE NOT EXISTS
         (SELECT 1 FROM given WHERE given.mailbox=gone.mailbox AND given.digest=gone.digest)",
        |row, mailbox| hash128(row, 1).map(|digest| mailbox.gone.push(digest)),
    ),
    (
        "SELECT mailbox, key FROM fresh_unread unread WHERE NOT EXISTS
         (SELECT 1 FROM seen WHERE seen.mailbox=unread.mailbox AND seen.key=unread.key)",
        |row, mailbox| row.get(1).map(|key| mailbox.unread.push(listed_key(&key))),
    ),
];

/// The stored keys (14 bytes) and the digests (16 bytes) of removed messages that earlier sidecars
/// list.
pub(super) type RemovedRows = HashSet<(MailboxId, Vec<u8>)>;

/// The key in the table `meta` of the number of the first comparable segment. Sidecars list every
/// message removed since then.
pub(super) const COMPARABLE: &str = "comparable";

impl StateDb {
    /// The mailboxes that changed since the last segment was sealed, with their changes.
    pub(super) fn changed_mailboxes(&self) -> Result<Vec<SidecarMailbox>> {
        let mut all: BTreeMap<MailboxId, SidecarMailbox> = BTreeMap::new();
        for (sql, add) in CHANGES {
            self.each(sql, [], |row| add(row, all.entry(row.get(0)?).or_default()))?;
        }
        for (id, mailbox) in &mut all {
            if let Some(growing) = &mut mailbox.growing {
                *growing = self.growing_messages(*id)?;
            }
            let sql = "SELECT key, spool, dev, many FROM mailbox WHERE id=?1";
            let found = self.find(sql, params![id], |row| {
                (mailbox.mailbox, mailbox.spool) = (hash128(row, 0)?, hash128(row, 1)?);
                (mailbox.dev, mailbox.many) = (unsigned(row, 2)?, row.get(3)?);
                Ok(())
            })?;
            found.ok_or_else(|| self.damaged("lacks a mailbox"))?;
        }
        Ok(all.into_values().collect())
    }

    /// Applies the changes listed in a sidecar. Sidecars must be applied in order. Returns the
    /// number of messages.
    pub(super) fn apply_sidecar(&self, sidecar: &StateSidecar) -> Result<usize> {
        for row in &sidecar.spools {
            self.put_spool_row(row)?;
        }
        for mailbox in &sidecar.mailboxes {
            self.apply_changes(mailbox)?;
        }
        let keys = sidecar.mailboxes.iter().map(|mailbox| mailbox.keys.len());
        Ok(keys.sum())
    }

    fn apply_changes(&self, changes: &SidecarMailbox) -> Result<()> {
        let mailbox = self.mailbox(changes.mailbox, changes.spool, changes.dev)?;
        self.raise_many(mailbox, changes.many)?;
        for key in &changes.keys {
            self.mark_seen(mailbox, *key)?;
        }
        for digest in &changes.gone {
            if let Some(row) = self.given_row(mailbox, digest.to_be_bytes())? {
                self.remove_given(&row)?;
            }
        }
        for key in &changes.unread {
            self.remove_seen(mailbox, &stored_key(*key))?;
        }
        for given in &changes.given {
            self.put_given(mailbox, given)?;
        }
        for file in &changes.files {
            self.mark_file_read(mailbox, file, FileLook::default())?;
        }
        if let Some(growing) = &changes.growing {
            self.remove_all_growing(mailbox)?;
            for message in growing {
                self.put_growing(mailbox, message)?;
            }
        }
        Ok(())
    }

    /// Returns `true` if all messages that a sidecar lists are known, except those removed later.
    /// Adds the messages that the sidecar lists as removed to `removed`. Sidecars must be compared
    /// from newest to oldest.
    pub(super) fn has_rows_of(
        &self,
        changes: &SidecarMailbox,
        removed: &mut RemovedRows,
    ) -> Result<bool> {
        let sql = "SELECT id FROM mailbox WHERE key=?1";
        let key = changes.mailbox.to_be_bytes();
        let Some(mailbox) = self.find(sql, params![key], |row| row.get(0))? else {
            return Ok(false);
        };
        for key in &changes.keys {
            let is_removed = removed.contains(&(mailbox, stored_key(*key).into()));
            if !is_removed && !self.is_seen(mailbox, *key)? {
                return Ok(false);
            }
        }
        let given = self.tracks_holders().then_some(&changes.given);
        for GivenMessage { digest, .. } in given.into_iter().flatten() {
            let digest = digest.to_be_bytes();
            let is_removed = removed.contains(&(mailbox, digest.into()));
            if !is_removed && self.given_row(mailbox, digest)?.is_none() {
                return Ok(false);
            }
        }
        let keys = changes.unread.iter().map(|key| stored_key(*key).to_vec());
        let digests = changes.gone.iter().map(|gone| gone.to_be_bytes().to_vec());
        removed.extend(keys.chain(digests).map(|bytes| (mailbox, bytes)));
        Ok(true)
    }

    /// The messages that were removed since the last segment was sealed.
    pub(super) fn newly_removed(&self) -> Result<RemovedRows> {
        let sql = "SELECT mailbox, key FROM fresh_unread UNION ALL SELECT * FROM fresh_gone";
        let removed = self.all(sql, [], |row| row.try_into())?;
        Ok(removed.into_iter().collect())
    }

    /// Records that messages are removed without being listed in a sidecar.
    pub(super) fn forget_comparable(&self) -> Result<()> {
        self.set_meta_value(COMPARABLE, self.unsealed_segment()?.seq + 1)
    }

    /// Clears the marks of new rows once a sidecar lists them.
    pub(super) fn clear_new_rows(&self) -> Result<()> {
        self.batch(
            "DELETE FROM fresh; DELETE FROM fresh_file; DELETE FROM fresh_mailbox;
             DELETE FROM fresh_given; DELETE FROM fresh_gone; DELETE FROM fresh_unread",
        )
    }
}

fn read_file(row: &Row<'_>) -> rusqlite::Result<ReadFile> {
    Ok(ReadFile {
        key: unsigned(row, 1)?,
        message: optional(row, 2)?,
        length: optional(row, 3)?.zip(optional(row, 4)?),
        position: row.get::<_, Option<String>>(5)?.as_deref().map(position_of),
    })
}

fn given_message(row: &Row<'_>) -> rusqlite::Result<GivenMessage> {
    let keys: Vec<u8> = row.get(3)?;
    Ok(GivenMessage {
        digest: hash128(row, 1)?,
        path: path_of(row, 2)?,
        keys: keys.as_chunks().0.iter().map(listed_key).collect(),
        earlier: digests_in(&row.get::<_, Vec<u8>>(4)?),
    })
}

/// A stored key as a sidecar lists it.
fn listed_key(key: &StoredKey) -> Hash128 {
    let mut bytes = [0; 16];
    bytes[..key.len()].copy_from_slice(key);
    Hash128::from_be_bytes(bytes)
}
