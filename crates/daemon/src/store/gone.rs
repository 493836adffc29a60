//! The rows that detect gone messages: which files hold which messages. Releases holders whose
//! files are missing, and removes messages that lost their last holder.
//!
//! These rows exist only with `[output] tombstones = true`. A holder is a file in the version that
//! was read, or one pass over an mbox, from its start to the next rewrite. The digest of a message
//! has a row in `given` if records were written under it; the row counts the holders. A message
//! that grew may have several digests: a holder of the last one also holds the others.
//!
//! A message is removed from the read messages in the transaction that writes its `gone` line.
//! Every step can be interrupted and repeated: a holder that is being released no longer counts as
//! a holder, so its file is read again if it comes back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};

use super::spools::path_text;
use super::state_db::{Hash128, HolderKey, MailboxId, STORED_KEY_BYTES, StoredKey, stored_key};
use super::state_db::{StateDb, digest_bytes, hash128, unsigned};
use crate::Result;

/// The digest of a message's content, as the state stores it.
type DigestBytes = [u8; 16];

/// Messages whose records were written, and which share a digest. In a sidecar, one without keys is
/// another mailbox that the records name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GivenMessage {
    /// The digest in the records. Texts, and messages in pieces, share one digest if they differ
    /// only far from their start.
    pub digest: u128,
    /// The mailbox named in the records. Empty if this digest has none, because the message had
    /// no new URLs when it had grown.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// The keys of the messages, or of pieces of them.
    pub keys: Vec<Hash128>,
    /// Other digests under which the URLs were written, before the message had grown. These records
    /// remain valid as long as this message exists.
    pub earlier: Vec<u128>,
}

impl GivenMessage {
    /// The digests under which URLs of the messages were written.
    pub fn digests(&self) -> impl Iterator<Item = u128> {
        self.earlier.iter().copied().chain([self.digest])
    }
}

/// The key of messages in the table `given`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct GivenKey {
    mailbox: MailboxId,
    digest: DigestBytes,
}

impl GivenKey {
    pub(super) fn new(mailbox: MailboxId, digest: u128) -> GivenKey {
        let digest = digest.to_be_bytes();
        GivenKey { mailbox, digest }
    }

    /// Reads the key in the first columns of a row.
    pub(super) fn of(row: &Row<'_>) -> rusqlite::Result<GivenKey> {
        let (mailbox, digest) = row.try_into()?;
        Ok(GivenKey { mailbox, digest })
    }
}

#[derive(Clone, Debug)]
pub(super) struct GivenRow {
    key: GivenKey,
    path: i64,
    /// Concatenated stored keys.
    keys: Vec<u8>,
    /// Concatenated earlier digests.
    earlier: Vec<u8>,
    /// Number of holders.
    files: i64,
}

impl GivenRow {
    /// The keys under which the messages with this digest were read.
    fn keys(&self) -> &[StoredKey] {
        self.keys.as_chunks::<STORED_KEY_BYTES>().0
    }

    fn earlier(&self) -> &[DigestBytes] {
        self.earlier.as_chunks::<16>().0
    }

    /// The keys of these messages before they had grown, and their own.
    fn versions(&self) -> impl Iterator<Item = GivenKey> {
        let digests = self.earlier().iter().chain([&self.key.digest]);
        digests.map(|&digest| GivenKey { digest, ..self.key })
    }

    /// Adds the keys and digests that only `other` has, another row with this digest. Returns
    /// `true` if there were any.
    fn merge(&mut self, other: &GivenRow) -> bool {
        let before = (self.keys.len(), self.earlier.len());
        for key in other.keys() {
            if !self.keys().contains(key) {
                self.keys.extend(key);
            }
        }
        for digest in other.earlier() {
            if !self.earlier().contains(digest) {
                self.earlier.extend(digest);
            }
        }
        before != (self.keys.len(), self.earlier.len())
    }
}

impl StateDb {
    /// Returns `true` if holders are tracked.
    pub fn tracks_holders(&self) -> bool {
        self.tracks_holders.get()
    }

    /// Switches the tracking of holders on or off. Switching it off removes all rows about them.
    /// Switching it on makes all files be read again, since no file is known as a holder.
    pub(super) fn set_tracking(&self, on: bool) -> Result<()> {
        self.tracks_holders.set(on);
        let is_tracked = "SELECT 1 FROM path";
        if on || !self.is_any(is_tracked, [])? {
            return Ok(());
        }
        self.forget_comparable()?;
        self.batch(
            "DELETE FROM held; DELETE FROM holder; DELETE FROM given; DELETE FROM other_path; \
             DELETE FROM path;
             DELETE FROM fresh_given",
        )?;
        self.commit()
    }

    /// Removes all holders after a rebuild, so every file is read again. Messages that are not
    /// found again are gone.
    pub(super) fn forget_holders(&self) -> Result<()> {
        self.batch("DELETE FROM held; DELETE FROM holder; UPDATE given SET files=0")
    }

    /// Creates a holder, or reopens one, in the spool at `spool` and on the file system `dev`.
    /// Returns `None` if holders are not tracked.
    pub fn open_holder(
        &self,
        holder: HolderKey,
        spool: &Path,
        dev: u64,
    ) -> Result<Option<HolderKey>> {
        if !self.tracks_holders() {
            return Ok(None);
        }
        let spool = self.path_id(spool.as_os_str().as_encoded_bytes())?;
        let key = holder.cast_signed();
        self.run(
            "INSERT INTO holder VALUES(?1,?2,?3,0) ON CONFLICT DO UPDATE SET spool=?2, dev=?3, \
             released=0
               WHERE (spool, dev, released)<>(?2, ?3, 0)",
            params![key, spool, dev.cast_signed()],
        )?;
        Ok(Some(holder))
    }

    /// Removes the holders of the spool at `spool`, which is no longer watched, without reporting
    /// its messages as gone. If its files are watched again, they are read again.
    pub(super) fn remove_holders_of(&self, spool: &Path) -> Result<()> {
        let spool = params![spool.as_os_str().as_encoded_bytes()];
        let lost = "spool=(SELECT id FROM path WHERE path=?1)";
        let held = format!("FROM held WHERE holder IN (SELECT key FROM holder WHERE {lost})");
        let release = format!(
            "UPDATE given SET files=given.files-lost.holders FROM (SELECT mailbox, digest, \
             count(*) holders {held} GROUP BY mailbox, digest) lost
             WHERE lost.mailbox=given.mailbox AND lost.digest=given.digest"
        );
        self.run(&release, spool)?;
        self.run(&format!("DELETE {held}"), spool)?;
        self.run(&format!("DELETE FROM holder WHERE {lost}"), spool)
    }

    /// Returns `true` if a holder exists and is not being released.
    pub fn is_holder(&self, holder: HolderKey) -> Result<bool> {
        self.is_any(
            "SELECT 1 FROM holder WHERE key=?1 AND released=0",
            params![holder.cast_signed()],
        )
    }

    /// Returns `true` if records of a message were written.
    pub fn is_given(&self, mailbox: MailboxId, digest: u128, key: Hash128) -> Result<bool> {
        let row = self.given_row(GivenKey::new(mailbox, digest))?;
        Ok(row.is_some_and(|row| row.keys().contains(&stored_key(key))))
    }

    /// The digests under which URLs of a message were written, if its records have this digest.
    /// Empty otherwise.
    pub fn given_digests(&self, mailbox: MailboxId, digest: u128) -> Result<Vec<u128>> {
        let row = self.given_row(GivenKey::new(mailbox, digest))?;
        let versions = row.iter().flat_map(GivenRow::versions);
        Ok(versions
            .map(|key| u128::from_be_bytes(key.digest))
            .collect())
    }

    /// Records another mailbox that the message's records name.
    fn put_other_path(&self, key: GivenKey, path: i64) -> Result<()> {
        let added = self.count_changes(
            "INSERT OR IGNORE INTO other_path SELECT ?1,?2,?3 WHERE NOT EXISTS (SELECT 1 FROM \
             given WHERE digest=?1 AND mailbox=?2 AND path=?3)",
            params![key.digest, key.mailbox, path],
        )?;
        match added {
            0 => Ok(()),
            _ => self.mark_given(key),
        }
    }

    /// The mailboxes that the message's records name.
    fn given_paths(&self, row: &GivenRow) -> Result<Vec<i64>> {
        let sql = "SELECT path FROM other_path WHERE digest=?1 AND mailbox=?2 ORDER BY path";
        let others = self.all(sql, params![row.key.digest, row.key.mailbox], |row| {
            row.get(0)
        })?;
        Ok([vec![row.path], others].concat())
    }

    /// Records that records of a message were written. No effect if that is already known.
    pub fn put_given(&self, mailbox: MailboxId, message: &GivenMessage) -> Result<()> {
        let key = GivenKey::new(mailbox, message.digest);
        let path = self.path_id(message.path.as_os_str().as_encoded_bytes())?;
        if message.keys.is_empty() {
            return self.put_other_path(key, path);
        }
        let keys = message.keys.iter().map(|key| stored_key(*key));
        let mut row = GivenRow {
            key,
            path,
            keys: keys.flatten().collect(),
            earlier: digest_bytes(&message.earlier),
            files: 0,
        };
        if let Some(mut known) = self.given_row(key)? {
            if !known.merge(&row) {
                return Ok(());
            }
            self.put_other_path(key, path)?;
            row = known;
        }
        self.run(
            "INSERT OR REPLACE INTO given VALUES(?1,?2,?3,?4,?5,?6)",
            params![
                key.digest,
                mailbox,
                row.path,
                row.keys,
                row.earlier,
                row.files
            ],
        )?;
        self.mark_given(key)
    }

    /// Adds a message to those that the next sidecar lists as given.
    fn mark_given(&self, key: GivenKey) -> Result<()> {
        let sql = "INSERT OR IGNORE INTO fresh_given VALUES(?1,?2)";
        self.run(sql, params![key.mailbox, key.digest])
    }

    /// Records that a holder holds a message. No effect if no records of the message were written.
    pub fn hold(
        &self,
        holder: HolderKey,
        mailbox: MailboxId,
        digest: u128,
        key: Hash128,
    ) -> Result<()> {
        let row = self.given_row(GivenKey::new(mailbox, digest))?;
        let row = row.filter(|row| row.keys().contains(&stored_key(key)));
        for key in row.iter().flat_map(GivenRow::versions) {
            let added = self.count_changes(
                "INSERT OR IGNORE INTO held SELECT ?1,?2,?3 WHERE EXISTS (SELECT 1 FROM given \
                 WHERE mailbox=?2 AND digest=?3)",
                params![holder.cast_signed(), mailbox, key.digest],
            )?;
            if 0 < added {
                self.run(
                    "UPDATE given SET files=files+1 WHERE mailbox=?1 AND digest=?2",
                    params![mailbox, key.digest],
                )?;
            }
        }
        Ok(())
    }

    pub(super) fn given_row(&self, key: GivenKey) -> Result<Option<GivenRow>> {
        let sql = "SELECT path, keys, earlier, files FROM given WHERE mailbox=?1 AND digest=?2";
        self.find(sql, params![key.mailbox, key.digest], |row| {
            Ok(GivenRow {
                key,
                path: row.get(0)?,
                keys: row.get(1)?,
                earlier: row.get(2)?,
                files: row.get(3)?,
            })
        })
    }

    /// The number of a path. Adds the path if it is new.
    fn path_id(&self, path: &[u8]) -> Result<i64> {
        let sql = "SELECT id FROM path WHERE path=?1";
        if let Some(id) = self.find(sql, params![path], |row| row.get(0))? {
            return Ok(id);
        }
        let sql = "INSERT INTO path VALUES(NULL,?1) RETURNING id";
        let added = self.find(sql, params![path], |row| row.get(0))?;
        added.ok_or_else(|| self.damaged("lacks a path"))
    }
}

/// Maximum rows of holders per query.
const HOLDER_ROWS: u32 = 10_000;

/// Maximum messages released per step, which bounds how long other readers wait for the committer.
const RELEASED_MESSAGES: u32 = 1_000;

/// Query for the messages that a holder holds.
const ALL_HELD: &str = "SELECT mailbox, digest FROM held WHERE holder=?1 LIMIT ?2";

#[derive(Clone, Copy, Debug)]
pub struct HolderRow {
    pub key: HolderKey,
    /// The file system of its file.
    pub dev: u64,
}

/// A message that is gone from its mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoneMessage {
    /// The mailbox named in its records.
    pub mailbox: Vec<u8>,
    /// The digests under which its records were written, oldest first.
    pub digests: Vec<u128>,
}

/// Messages that lost their last holder in one step, ordered by digest.
type UnheldRows = BTreeMap<GivenKey, GivenRow>;

impl StateDb {
    /// The next holders of a spool, ordered by key. Empty after the last one.
    pub fn holders_after(&self, spool: &Path, last: Option<HolderKey>) -> Result<Vec<HolderRow>> {
        let last = last.map(u64::cast_signed);
        let sql = "SELECT key, dev FROM holder
             WHERE spool=(SELECT id FROM path WHERE path=?1) AND (?2 IS NULL OR ?2<key) ORDER BY \
             key LIMIT ?3";
        let spool = spool.as_os_str().as_encoded_bytes();
        self.all(sql, params![spool, last, HOLDER_ROWS], |row| {
            Ok(HolderRow {
                key: unsigned(row, 0)?,
                dev: unsigned(row, 1)?,
            })
        })
    }

    /// The keys of the mailboxes whose messages a holder holds.
    pub fn held_mailboxes(&self, holder: HolderKey) -> Result<Vec<Hash128>> {
        let sql = "SELECT key FROM mailbox WHERE id IN (SELECT DISTINCT mailbox FROM held WHERE \
            holder=?1)";
        self.all(sql, params![holder.cast_signed()], |row| hash128(row, 0))
    }

    /// Releases the next messages of a holder whose file is gone, and returns those that are gone
    /// with it. The final call removes the holder itself, and returns `None`.
    pub fn release_holder(&self, holder: HolderKey) -> Result<Option<Vec<GoneMessage>>> {
        let key = holder.cast_signed();
        self.run(
            "UPDATE holder SET released=1 WHERE key=?1 AND released=0",
            params![key],
        )?;
        // Grown messages come first: one line then names all digests of each.
        let grown = "SELECT held.mailbox, held.digest FROM held JOIN given USING(mailbox, digest)
             WHERE holder=?1 AND earlier<>x'' LIMIT ?2";
        let unheld = match self.release_messages(holder, grown)? {
            None => self.release_messages(holder, ALL_HELD)?,
            unheld => unheld,
        };
        if unheld.is_none() {
            self.run("DELETE FROM holder WHERE key=?1", params![key])?;
        }
        unheld
            .map(|unheld| self.remove_messages(unheld))
            .transpose()
    }

    /// Removes all messages held by a file that is about to be read again in the same version.
    /// Messages that it no longer contains then have no holder.
    pub fn restart_holder(&self, file: HolderKey) -> Result<()> {
        if !self.tracks_holders() {
            return Ok(());
        }
        let forget = "DELETE FROM file WHERE key=?1";
        if 0 < self.count_changes(forget, params![file.cast_signed()])? {
            while self.release_messages(file, ALL_HELD)?.is_some() {}
        }
        Ok(())
    }

    /// The mailboxes of a spool that have messages without a holder.
    pub fn orphaned_mailboxes(&self, spool: Hash128) -> Result<Vec<OrphanedMailbox>> {
        let sql = "SELECT id, key, dev FROM mailbox
             WHERE spool=?1 AND id IN (SELECT DISTINCT mailbox FROM given WHERE files=0)";
        self.all(sql, params![spool.to_be_bytes()], |row| {
            Ok(OrphanedMailbox {
                id: row.get(0)?,
                key: hash128(row, 1)?,
                dev: unsigned(row, 2)?,
            })
        })
    }

    /// Removes the next messages of a mailbox that have no holder, and returns them. `None` if
    /// there are none.
    pub fn release_orphans(&self, mailbox: MailboxId) -> Result<Option<Vec<GoneMessage>>> {
        let sql = "SELECT mailbox, digest FROM given WHERE mailbox=?1 AND files=0
             ORDER BY length(earlier) DESC LIMIT ?2";
        let orphans = self.all(sql, params![mailbox, RELEASED_MESSAGES], GivenKey::of)?;
        let unheld = with_earlier(orphans, |key| self.given_row(key))?;
        unheld
            .map(|unheld| self.remove_messages(unheld))
            .transpose()
    }

    /// Releases the messages that a query selects, with their earlier digests. Returns those
    /// without another holder, or `None` if the query selects no message.
    fn release_messages(&self, holder: HolderKey, sql: &str) -> Result<Option<UnheldRows>> {
        let holder = holder.cast_signed();
        let held = self.all(sql, params![holder, RELEASED_MESSAGES], GivenKey::of)?;
        with_earlier(held, |key| self.release_message(holder, key))
    }

    /// Releases one message. Returns its updated row, or `None` if the holder does not hold it.
    fn release_message(&self, holder: i64, key: GivenKey) -> Result<Option<GivenRow>> {
        let sql = "DELETE FROM held WHERE holder=?1 AND mailbox=?2 AND digest=?3";
        if self.count_changes(sql, params![holder, key.mailbox, key.digest])? == 0 {
            return Ok(None);
        }
        let sql = "UPDATE given SET files=files-1 WHERE mailbox=?1 AND digest=?2";
        self.run(sql, params![key.mailbox, key.digest])?;
        self.given_row(key)
    }

    /// Removes messages without a holder from the read messages. Returns a [`GoneMessage`] for
    /// each, with the earlier digests that are removed together with it.
    fn remove_messages(&self, mut unheld: UnheldRows) -> Result<Vec<GoneMessage>> {
        let mailboxes: BTreeSet<MailboxId> = unheld.keys().map(|key| key.mailbox).collect();
        // The URLs of growing messages that are gone are written again if they come back.
        for mailbox in mailboxes {
            for message in self.growing_messages(mailbox)? {
                let is_gone = |digest: &u128| unheld.contains_key(&GivenKey::new(mailbox, *digest));
                if message.digests.iter().any(is_gone) {
                    self.remove_growing(mailbox, &message)?;
                }
            }
        }
        // The last digest of a message has the longest list of earlier ones, which are removed with
        // it.
        let mut order: Vec<GivenKey> = unheld.keys().copied().collect();
        order.sort_by_key(|key| std::cmp::Reverse(unheld.get(key).map(|row| row.earlier.len())));
        let mut gone = Vec::new();
        for key in order {
            let Some(row) = unheld.get(&key) else {
                continue;
            };
            let versions: Vec<GivenKey> = row.versions().collect();
            let rows: Vec<GivenRow> = versions
                .iter()
                .filter_map(|key| unheld.remove(key))
                .collect();
            let mut digests: BTreeMap<i64, Vec<u128>> = BTreeMap::new();
            for row in &rows {
                for path in self.given_paths(row)? {
                    if !self.is_given_elsewhere(row, path)? {
                        let digest = u128::from_be_bytes(row.key.digest);
                        digests.entry(path).or_default().push(digest);
                    }
                }
                self.remove_given(row)?;
            }
            for (path, digests) in digests {
                let mailbox = self.path(path)?;
                if !mailbox.is_empty() {
                    gone.push(GoneMessage { mailbox, digests });
                }
            }
        }
        Ok(gone)
    }

    /// Returns `true` if a message in another mailbox of the state has records that name this
    /// mailbox and digest. Such records remain valid. A spool inside another one can cause this.
    fn is_given_elsewhere(&self, row: &GivenRow, path: i64) -> Result<bool> {
        self.is_any(
            "SELECT 1 FROM given WHERE digest=?1 AND mailbox<>?2 AND 0<files AND (path=?3
               OR EXISTS (SELECT 1 FROM other_path other
                 WHERE other.digest=?1 AND other.mailbox=given.mailbox AND other.path=?3))",
            params![row.key.digest, row.key.mailbox, path],
        )
    }

    fn path(&self, id: i64) -> Result<Vec<u8>> {
        let sql = "SELECT path FROM path WHERE id=?1";
        let found = self.find(sql, params![id], |row| row.get(0))?;
        found.ok_or_else(|| self.damaged("lacks a mailbox"))
    }

    /// Removes a message from the given and from the read messages.
    pub(super) fn remove_given(&self, row: &GivenRow) -> Result<()> {
        let GivenKey { mailbox, digest } = row.key;
        for sql in [
            "DELETE FROM other_path WHERE mailbox=?1 AND digest=?2",
            "DELETE FROM given WHERE mailbox=?1 AND digest=?2",
            "INSERT OR IGNORE INTO fresh_gone VALUES(?1,?2)",
        ] {
            self.run(sql, params![mailbox, digest])?;
        }
        row.keys()
            .iter()
            .try_for_each(|key| self.remove_seen(mailbox, key))
    }

    /// Removes a message from the read messages.
    pub(super) fn remove_seen(&self, mailbox: MailboxId, key: &StoredKey) -> Result<()> {
        for sql in [
            "DELETE FROM seen WHERE mailbox=?1 AND key=?2",
            "INSERT OR IGNORE INTO fresh_unread VALUES(?1,?2)",
        ] {
            self.run(sql, params![mailbox, key])?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
pub struct OrphanedMailbox {
    pub id: MailboxId,
    pub key: Hash128,
    /// The file system of its files.
    pub dev: u64,
}

/// Takes messages with `take`, each with its earlier digests. Returns those without a holder, or
/// `None` if there are no messages.
fn with_earlier(
    messages: Vec<GivenKey>,
    take: impl Fn(GivenKey) -> Result<Option<GivenRow>>,
) -> Result<Option<UnheldRows>> {
    if messages.is_empty() {
        return Ok(None);
    }
    let mut taken = Vec::new();
    for key in messages {
        let row = take(key)?;
        for &digest in row.iter().flat_map(GivenRow::earlier) {
            taken.extend(take(GivenKey { digest, ..key })?);
        }
        taken.extend(row);
    }
    let unheld = taken.into_iter().filter(|row| row.files == 0);
    Ok(Some(unheld.map(|row| (row.key, row)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::state_db::GrowingMessage;
    use crate::store::tests::StoreFixture;

    const SPOOL: &str = "/var/mail";

    /// A message with one digest, which is also its key.
    fn message(digest: u128) -> GivenMessage {
        GivenMessage {
            digest,
            path: "/var/mail/a".into(),
            keys: vec![digest],
            earlier: Vec::new(),
        }
    }

    /// Digest and number of holders of each message.
    fn counts(state: &StateDb) -> Vec<String> {
        state.rows("SELECT hex(digest)+0, files FROM given ORDER BY digest")
    }

    #[test]
    fn without_tombstones_no_holder_is_stored() {
        let fixture = StoreFixture::new("untracked");
        let state = fixture.state();
        state.set_tracking(false).unwrap();
        assert_eq!(state.open_holder(1, SPOOL.as_ref(), 1).unwrap(), None);
        assert!(!state.is_holder(1).unwrap() && state.rows("SELECT * FROM path").is_empty());
    }

    #[test]
    fn the_end_of_tracking_removes_all_rows_of_holders() {
        let fixture = StoreFixture::new("end-of-tracking");
        let state = fixture.state();
        let mailbox = state.mailbox(7, 7, 1).unwrap();
        state.mark_seen(mailbox, 5 << 100).unwrap();
        state.open_holder(1, SPOOL.as_ref(), 1).unwrap();
        state.put_given(mailbox, &message(5)).unwrap();
        state.hold(1, mailbox, 5, 5).unwrap();
        state.commit().unwrap();
        state.set_tracking(false).unwrap();
        for table in ["holder", "held", "given", "path", "fresh_given"] {
            assert!(
                state.rows(&format!("SELECT * FROM {table}")).is_empty(),
                "{table}"
            );
        }
        assert!(state.is_seen(mailbox, 5 << 100).unwrap());
    }

    #[test]
    fn keys_with_the_highest_bit_set_are_found() {
        let fixture = StoreFixture::new("highest-bit");
        let state = fixture.state();
        state
            .open_holder(u64::MAX, SPOOL.as_ref(), u64::MAX)
            .unwrap();
        assert!(state.is_holder(u64::MAX).unwrap() && !state.is_holder(0).unwrap());
        let holders = state.holders_after(SPOOL.as_ref(), None).unwrap();
        assert_eq!(
            holders.iter().map(|row| (row.key, row.dev)).next(),
            Some((u64::MAX, u64::MAX))
        );
    }

    #[test]
    fn each_holder_of_a_message_counts_once() {
        let fixture = StoreFixture::new("counts");
        let state = fixture.state();
        let mailbox = state.mailbox(7, 7, 1).unwrap();
        state.put_given(mailbox, &message(5)).unwrap();
        for holder in [1, 2, 2, 1] {
            state.open_holder(holder, SPOOL.as_ref(), 1).unwrap();
            state.hold(holder, mailbox, 5, 5).unwrap();
        }
        assert_eq!(counts(&state), ["[Integer(5), Integer(2)]"]);
    }

    #[test]
    fn a_message_without_records_is_not_held() {
        let fixture = StoreFixture::new("no-records");
        let state = fixture.state();
        let mailbox = state.mailbox(7, 7, 1).unwrap();
        state.open_holder(1, SPOOL.as_ref(), 1).unwrap();
        state.hold(1, mailbox, 5, 5).unwrap();
        // The digest is known, but under another key: this is a different message that differs far
        // from its start.
        state.put_given(mailbox, &message(6)).unwrap();
        state.hold(1, mailbox, 6, 6 << 100).unwrap();
        assert!(state.rows("SELECT * FROM held").is_empty());
        assert_eq!(counts(&state), ["[Integer(6), Integer(0)]"]);
    }

    #[test]
    fn a_holder_of_a_grown_message_also_holds_its_earlier_digests() {
        let fixture = StoreFixture::new("grown");
        let state = fixture.state();
        let mailbox = state.mailbox(7, 7, 1).unwrap();
        state.put_given(mailbox, &message(5)).unwrap();
        let mut grown = message(6);
        grown.earlier = vec![5];
        state.put_given(mailbox, &grown).unwrap();
        state.open_holder(1, SPOOL.as_ref(), 1).unwrap();
        state.hold(1, mailbox, 6, 6).unwrap();
        assert_eq!(
            counts(&state),
            ["[Integer(5), Integer(1)]", "[Integer(6), Integer(1)]"]
        );
    }

    #[test]
    fn messages_with_one_digest_share_a_row_that_keeps_its_holders() {
        let fixture = StoreFixture::new("one-digest");
        let state = fixture.state();
        let mailbox = state.mailbox(7, 7, 1).unwrap();
        let (one, mut other) = (message(5), message(5));
        (other.keys, other.earlier) = (vec![9 << 100], vec![3, 4]);
        state.put_given(mailbox, &one).unwrap();
        state.open_holder(1, SPOOL.as_ref(), 1).unwrap();
        state.hold(1, mailbox, 5, one.keys[0]).unwrap();
        for _ in 0..2 {
            state.put_given(mailbox, &other).unwrap();
            let row = state.given_row(GivenKey::new(mailbox, 5)).unwrap().unwrap();
            assert_eq!(
                (row.keys().len(), row.earlier().len(), row.files),
                (2, 2, 1)
            );
        }
        for key in [one.keys[0], other.keys[0]] {
            assert!(state.is_given(mailbox, 5, key).unwrap());
        }
        assert!(!state.is_given(mailbox + 1, 5, one.keys[0]).unwrap());
    }

    #[test]
    fn messages_with_one_digest_keep_the_mailboxes_of_all_their_records() {
        let fixture = StoreFixture::new("one-digest-two-mailboxes");
        let state = fixture.state();
        let spool = state.mailbox(7, 7, 1).unwrap();
        let (one, mut other) = (message(5), message(5));
        (other.keys, other.path) = (vec![9 << 100], "/var/mail/b".into());
        state.put_given(spool, &one).unwrap();
        state.put_given(spool, &other).unwrap();
        for (holder, key) in [(1, one.keys[0]), (2, other.keys[0])] {
            state.open_holder(holder, SPOOL.as_ref(), 1).unwrap();
            state.hold(holder, spool, 5, key).unwrap();
        }
        assert_eq!(state.release_holder(1).unwrap().unwrap(), []);
        let gone = state.release_holder(2).unwrap().unwrap();
        let mailboxes: Vec<_> = gone.into_iter().map(|message| message.mailbox).collect();
        let named = [one.path, other.path].map(|path| path.into_os_string().into_encoded_bytes());
        assert_eq!(mailboxes, named);
    }

    #[test]
    fn a_rebuild_keeps_messages_and_forgets_their_holders() {
        let fixture = StoreFixture::new("forgotten");
        let state = fixture.state();
        let mailbox = state.mailbox(7, 7, 1).unwrap();
        state.put_given(mailbox, &message(5)).unwrap();
        state.open_holder(1, SPOOL.as_ref(), 1).unwrap();
        state.hold(1, mailbox, 5, 5).unwrap();
        state.forget_holders().unwrap();
        assert!(!state.is_holder(1).unwrap());
        assert_eq!(counts(&state), ["[Integer(5), Integer(0)]"]);
    }

    const MAILBOX: &str = "/var/mail/a";

    struct GoneTest {
        state: StateDb,
        mailbox: MailboxId,
        /// The mailbox named in the records.
        path: &'static str,
        _fixture: StoreFixture,
    }

    impl GoneTest {
        fn new(name: &str) -> GoneTest {
            let fixture = StoreFixture::new(name);
            let state = fixture.state();
            GoneTest {
                mailbox: state.mailbox(7, 8, 1).unwrap(),
                state,
                path: MAILBOX,
                _fixture: fixture,
            }
        }

        /// A key whose stored bytes differ for each digest.
        fn key(digest: u128) -> Hash128 {
            digest << 64
        }

        /// A file in which a message was read. `earlier` holds the message's digests before it had
        /// grown.
        fn read(&self, holder: HolderKey, digest: u128, earlier: &[u128]) {
            let key = GoneTest::key(digest);
            self.state.mark_seen(self.mailbox, key).unwrap();
            let given = GivenMessage {
                digest,
                path: self.path.into(),
                keys: vec![key],
                earlier: earlier.to_vec(),
            };
            self.state.put_given(self.mailbox, &given).unwrap();
            self.hold(holder, digest);
        }

        fn hold(&self, holder: HolderKey, digest: u128) {
            let (state, key) = (&self.state, GoneTest::key(digest));
            state.open_holder(holder, SPOOL.as_ref(), 1).unwrap();
            state.hold(holder, self.mailbox, digest, key).unwrap();
        }

        /// Releases a holder. Returns the digests of each gone message.
        fn release(&self, holder: HolderKey) -> Vec<Vec<u128>> {
            let mut gone = Vec::new();
            while let Some(step) = self.state.release_holder(holder).unwrap() {
                gone.extend(digests(step));
            }
            gone
        }

        fn is_seen(&self, digest: u128) -> bool {
            let key = GoneTest::key(digest);
            self.state.is_seen(self.mailbox, key).unwrap()
        }

        fn has_rows(&self, table: &str) -> bool {
            !self
                .state
                .rows(&format!("SELECT * FROM {table}"))
                .is_empty()
        }
    }

    fn digests(gone: Vec<GoneMessage>) -> Vec<Vec<u128>> {
        let digests_of = |message: GoneMessage| {
            assert!(message.mailbox.starts_with(b"/var/mail/"));
            message.digests
        };
        gone.into_iter().map(digests_of).collect()
    }

    #[test]
    fn a_message_is_gone_with_its_last_holder() {
        let test = GoneTest::new("last-holder");
        test.read(1, 5, &[]);
        test.hold(2, 5);
        assert!(test.release(1).is_empty() && test.is_seen(5));
        assert_eq!(test.release(2), [[5]]);
        assert!(!test.is_seen(5) && !test.has_rows("given") && !test.has_rows("holder"));
    }

    #[test]
    fn a_message_that_returns_is_recorded_and_gone_again() {
        let test = GoneTest::new("comes-back");
        for holder in [1, 2] {
            test.read(holder, 5, &[]);
            assert!(test.is_seen(5));
            assert_eq!(test.release(holder), [[5]]);
        }
    }

    #[test]
    fn a_message_in_another_mailbox_stays() {
        let test = GoneTest::new("other-mailbox");
        test.read(1, 5, &[]);
        let other = GoneTest {
            mailbox: test.state.mailbox(9, 8, 1).unwrap(),
            path: "/var/mail/b",
            ..test
        };
        other.read(2, 5, &[]);
        assert_eq!(other.release(1), [[5]]);
        assert!(other.is_seen(5));
        assert_eq!(other.release(2), [[5]]);
    }

    #[test]
    fn a_message_with_records_of_the_same_mailbox_in_another_scope_stays() {
        let test = GoneTest::new("other-scope");
        test.read(1, 5, &[]);
        let other = GoneTest {
            mailbox: test.state.mailbox(9, 8, 1).unwrap(),
            ..test
        };
        other.read(2, 5, &[]);
        assert!(other.release(1).is_empty() && other.is_seen(5));
        assert_eq!(other.release(2), [[5]]);
    }

    #[test]
    fn a_message_that_grew_is_one_message_with_all_its_digests() {
        let test = GoneTest::new("grew");
        test.read(1, 9, &[]);
        test.read(1, 4, &[9]);
        test.read(1, 6, &[9, 4]);
        test.read(1, 7, &[]);
        let mut gone = test.release(1);
        gone.sort();
        assert_eq!(gone, [vec![7], vec![9, 4, 6]]);
        assert!([9, 4, 6, 7].iter().all(|digest| !test.is_seen(*digest)));
    }

    #[test]
    fn a_growing_message_is_forgotten_when_it_is_gone() {
        let test = GoneTest::new("growing");
        test.read(1, 5, &[]);
        test.read(2, 6, &[]);
        let growing = |digest| GrowingMessage {
            len: 10,
            hash: digest,
            ids: vec![1, 2],
            digests: vec![digest],
        };
        for digest in [5, 6] {
            let state = &test.state;
            state.put_growing(test.mailbox, &growing(digest)).unwrap();
        }
        test.release(1);
        let left = test.state.growing_messages(test.mailbox).unwrap();
        assert_eq!(left, [growing(6)]);
    }

    #[test]
    fn a_release_in_steps_names_each_message_once() {
        let test = GoneTest::new("steps");
        let messages = u128::from(RELEASED_MESSAGES) + 1;
        for digest in 1..=messages {
            test.read(1, digest, &[]);
        }
        let mut gone = Vec::new();
        let mut steps = 0;
        while let Some(step) = test.state.release_holder(1).unwrap() {
            // The file is read again if it comes back between two steps.
            assert!(!test.state.is_holder(1).unwrap());
            gone.extend(digests(step));
            steps += 1;
        }
        gone.sort();
        assert_eq!(steps, 2);
        assert_eq!(
            gone,
            (1..=messages)
                .map(|digest| vec![digest])
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_file_that_returns_during_its_release_is_a_holder_again() {
        let test = GoneTest::new("returns");
        test.read(1, 5, &[]);
        let step = test.state.release_holder(1).unwrap().unwrap();
        assert_eq!(digests(step), [[5]]);
        test.read(1, 5, &[]);
        assert!(test.state.is_holder(1).unwrap() && test.is_seen(5));
        assert_eq!(test.release(1), [[5]]);
    }

    #[test]
    fn holders_are_listed_by_spool() {
        let test = GoneTest::new("by-spool");
        for (holder, spool) in [(3, SPOOL), (1, SPOOL), (2, "/srv/mail")] {
            test.state.open_holder(holder, spool.as_ref(), 4).unwrap();
        }
        let keys = |last| -> Vec<HolderKey> {
            let holders = test.state.holders_after(SPOOL.as_ref(), last).unwrap();
            holders.iter().map(|holder| holder.key).collect()
        };
        assert_eq!(
            (keys(None), keys(Some(1)), keys(Some(3))),
            (vec![1, 3], vec![3], vec![])
        );
    }

    #[test]
    fn after_a_rebuild_messages_that_are_not_found_again_are_gone() {
        let test = GoneTest::new("orphans");
        test.read(1, 5, &[]);
        test.read(2, 6, &[]);
        test.read(2, 8, &[6]);
        test.state.forget_holders().unwrap();
        test.hold(1, 5);
        assert_eq!(test.state.held_mailboxes(1).unwrap(), [7]);
        let mailboxes = test.state.orphaned_mailboxes(8).unwrap();
        let found: Vec<_> = mailboxes
            .iter()
            .map(|row| (row.id, row.key, row.dev))
            .collect();
        assert_eq!(found, [(test.mailbox, 7, 1)]);
        assert!(test.state.orphaned_mailboxes(9).unwrap().is_empty());
        let gone = test.state.release_orphans(test.mailbox).unwrap();
        assert_eq!(digests(gone.unwrap()), [[6, 8]]);
        assert_eq!(test.state.release_orphans(test.mailbox).unwrap(), None);
        assert!(test.state.orphaned_mailboxes(8).unwrap().is_empty());
        assert!(test.is_seen(5) && !test.is_seen(6));
    }

    #[test]
    fn a_mailbox_without_a_name_means_a_damaged_database() {
        let test = GoneTest::new("no-name");
        test.read(1, 5, &[]);
        test.state
            .batch("DELETE FROM path WHERE path LIKE '%a'")
            .unwrap();
        let error = test.state.release_holder(1).unwrap_err();
        assert!(error.to_string().contains("mailbox"), "{error}");
    }
}
