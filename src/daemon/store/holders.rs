//! The rows with which gone messages are recognized: which files hold which messages.
//!
//! They are kept with `[output] tombstones = true` only. A holder is a file in the version in which
//! it was read, or one pass over an mbox, from its start to the next rewrite. The digest of a
//! message has a row in `given` if records were written under it; the row counts the holders. A
//! message that grew may have several digests: whoever holds the last one holds the others too.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::params;

use super::state_db::{Hash128, MailboxId, STORED_KEY_BYTES, StoredKey, stored_key};
use super::state_db::{StateDb, digest_bytes};
use crate::daemon::DaemonError;

/// A holder is a file, or one pass over an mbox, whose messages count as present.
pub(crate) type HolderKey = u64;

/// The digest of a message's content, as the state stores it.
pub(super) type DigestBytes = [u8; 16];

/// A message whose records were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GivenMessage {
    /// The digest, as its records have it. Texts, and messages in pieces, that differ far from
    /// their start have one digest.
    pub(crate) digest: u128,
    /// Its key, or that of a piece of it.
    pub(crate) key: Hash128,
    /// The mailbox, as its records name it.
    pub(crate) mailbox: Vec<u8>,
    /// Other digests under which its URLs were written, before it had grown. These records stand as
    /// long as this message does.
    pub(crate) earlier: Vec<u128>,
}

#[derive(Clone, Debug)]
pub(super) struct GivenRow {
    pub(super) mailbox: MailboxId,
    pub(super) digest: DigestBytes,
    pub(super) path: i64,
    /// Stored keys, one after the other.
    pub(super) keys: Vec<u8>,
    /// Earlier digests, one after the other.
    pub(super) earlier: Vec<u8>,
    pub(super) files: i64,
}

impl GivenRow {
    /// The keys under which the messages with this digest were read.
    pub(super) fn keys(&self) -> &[StoredKey] {
        self.keys.as_chunks::<STORED_KEY_BYTES>().0
    }

    pub(super) fn earlier(&self) -> &[DigestBytes] {
        self.earlier.as_chunks::<16>().0
    }

    /// Adds what another row with this digest has and this one has not. Returns `true` if there is
    /// any.
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
    pub(crate) fn tracks_holders(&self) -> bool {
        self.tracks_holders.get()
    }

    /// Switches the tracking of holders on or off. Switched off, everything about them is removed;
    /// switched on, all files are read again, since none of them is known as a holder.
    pub(super) fn set_tracking(&self, on: bool) -> Result<(), DaemonError> {
        self.tracks_holders.set(on);
        let is_tracked = "SELECT 1 FROM path";
        if on || !self.is_any(is_tracked, [])? {
            return Ok(());
        }
        self.begin()?;
        self.forget_comparable()?;
        self.batch(
            "DELETE FROM held; DELETE FROM holder; DELETE FROM given; DELETE FROM other_path; DELETE FROM path;
             DELETE FROM fresh_given",
        )?;
        self.commit()
    }

    /// After a rebuild: removes all holders, so that every file is read again. Messages that are
    /// not found again are gone.
    pub(super) fn forget_holders(&self) -> Result<(), DaemonError> {
        self.batch("DELETE FROM held; DELETE FROM holder; UPDATE given SET files=0")
    }

    /// Begins a holder, or returns to one, in the spool at `spool` and on the file system `dev`.
    /// Returns `None` if holders are not tracked.
    pub(crate) fn open_holder(
        &self,
        holder: HolderKey,
        spool: &Path,
        dev: u64,
    ) -> Result<Option<HolderKey>, DaemonError> {
        if !self.tracks_holders() {
            return Ok(None);
        }
        let spool = self.path_id(spool.as_os_str().as_encoded_bytes())?;
        let key = holder.cast_signed();
        self.run(
            "INSERT INTO holder VALUES(?1,?2,?3,0) ON CONFLICT DO UPDATE SET spool=?2, dev=?3, released=0
               WHERE (spool, dev, released)<>(?2, ?3, 0)",
            params![key, spool, dev.cast_signed()],
        )?;
        Ok(Some(holder))
    }

    /// Removes the holders of the spool at `spool`, which is not watched any more: nothing is gone
    /// from it. If its files are watched again, they are read again.
    pub(super) fn remove_holders_of(&self, spool: &Path) -> Result<(), DaemonError> {
        let spool = params![spool.as_os_str().as_encoded_bytes()];
        for sql in [
            "UPDATE given SET files=given.files-lost.holders FROM (SELECT mailbox, digest, count(*) holders FROM held
               WHERE holder IN (SELECT key FROM holder WHERE spool=(SELECT id FROM path WHERE path=?1))
               GROUP BY mailbox, digest) lost WHERE lost.mailbox=given.mailbox AND lost.digest=given.digest",
            "DELETE FROM held
               WHERE holder IN (SELECT key FROM holder WHERE spool=(SELECT id FROM path WHERE path=?1))",
            "DELETE FROM holder WHERE spool=(SELECT id FROM path WHERE path=?1)",
        ] {
            self.run(sql, spool)?;
        }
        Ok(())
    }

    /// Returns `true` if a holder exists and is not being released.
    pub(crate) fn is_holder(&self, holder: HolderKey) -> Result<bool, DaemonError> {
        self.is_any(
            "SELECT 1 FROM holder WHERE key=?1 AND released=0",
            params![holder.cast_signed()],
        )
    }

    /// Returns `true` if records of a message were written.
    pub(crate) fn is_given(
        &self,
        mailbox: MailboxId,
        digest: u128,
        key: Hash128,
    ) -> Result<bool, DaemonError> {
        let row = self.given_row(mailbox, digest.to_be_bytes())?;
        Ok(row.is_some_and(|row| row.keys().contains(&stored_key(key))))
    }

    /// The digests under which URLs of a message were written, if its records have this one; empty
    /// if they were not.
    pub(crate) fn given_digests(
        &self,
        mailbox: MailboxId,
        digest: u128,
    ) -> Result<Vec<u128>, DaemonError> {
        let row = self.given_row(mailbox, digest.to_be_bytes())?;
        let digests = row
            .iter()
            .flat_map(|row| row.earlier().iter().chain([&row.digest]));
        Ok(digests.map(|digest| u128::from_be_bytes(*digest)).collect())
    }

    /// The mailboxes with messages of which records were written.
    pub(super) fn given_mailboxes(&self) -> Result<BTreeSet<MailboxId>, DaemonError> {
        let sql = "SELECT DISTINCT mailbox FROM given";
        let found = self.all(sql, [], |row| row.get(0))?;
        Ok(found.into_iter().collect())
    }

    /// Records a further mailbox that records of a message name.
    pub(super) fn put_other_path(
        &self,
        mailbox: MailboxId,
        digest: DigestBytes,
        path: i64,
    ) -> Result<(), DaemonError> {
        let added = self.count_changes(
            "INSERT OR IGNORE INTO other_path SELECT ?1,?2,?3 WHERE NOT EXISTS (SELECT 1 FROM given WHERE digest=?1 AND mailbox=?2 \
             AND path=?3)",
            params![digest, mailbox, path],
        )?;
        match added {
            0 => Ok(()),
            _ => self.mark_given(mailbox, digest),
        }
    }

    /// The mailboxes that the records of a message name.
    pub(super) fn given_paths(&self, row: &GivenRow) -> Result<Vec<i64>, DaemonError> {
        let sql = "SELECT path FROM other_path WHERE digest=?1 AND mailbox=?2 ORDER BY path";
        let mut paths = vec![row.path];
        self.each(sql, params![row.digest, row.mailbox], |row| {
            paths.push(row.get(0)?);
            Ok(())
        })?;
        Ok(paths)
    }

    /// Records that records of a message were written. No effect if that is known.
    pub(crate) fn put_given(
        &self,
        mailbox: MailboxId,
        message: &GivenMessage,
    ) -> Result<(), DaemonError> {
        self.put_given_row(GivenRow {
            mailbox,
            digest: message.digest.to_be_bytes(),
            path: self.path_id(&message.mailbox)?,
            keys: stored_key(message.key).to_vec(),
            earlier: digest_bytes(&message.earlier),
            files: 0,
        })
    }

    pub(super) fn put_given_row(&self, mut row: GivenRow) -> Result<(), DaemonError> {
        if let Some(mut known) = self.given_row(row.mailbox, row.digest)? {
            if !known.merge(&row) {
                return Ok(());
            }
            self.put_other_path(row.mailbox, row.digest, row.path)?;
            row = known;
        }
        self.replace_given(&row)?;
        self.mark_given(row.mailbox, row.digest)
    }

    fn replace_given(&self, row: &GivenRow) -> Result<(), DaemonError> {
        self.run(
            "INSERT OR REPLACE INTO given VALUES(?1,?2,?3,?4,?5,?6)",
            params![
                row.digest,
                row.mailbox,
                row.path,
                row.keys,
                row.earlier,
                row.files
            ],
        )
    }

    /// Adds a message to those that the next sidecar lists as given.
    fn mark_given(&self, mailbox: MailboxId, digest: DigestBytes) -> Result<(), DaemonError> {
        let sql = "INSERT OR IGNORE INTO fresh_given VALUES(?1,?2)";
        self.run(sql, params![mailbox, digest])
    }

    /// Records that a holder holds a message. No effect if no records of it were written.
    pub(crate) fn hold(
        &self,
        holder: HolderKey,
        mailbox: MailboxId,
        digest: u128,
        key: Hash128,
    ) -> Result<(), DaemonError> {
        let Some(row) = self.given_row(mailbox, digest.to_be_bytes())? else {
            return Ok(());
        };
        if row.keys().contains(&stored_key(key)) {
            self.hold_digest(holder, mailbox, row.digest)?;
            for earlier in row.earlier() {
                self.hold_digest(holder, mailbox, *earlier)?;
            }
        }
        Ok(())
    }

    fn hold_digest(
        &self,
        holder: HolderKey,
        mailbox: MailboxId,
        digest: DigestBytes,
    ) -> Result<(), DaemonError> {
        let added = self.count_changes(
            "INSERT OR IGNORE INTO held SELECT ?1,?2,?3 WHERE EXISTS (SELECT 1 FROM given WHERE mailbox=?2 AND digest=?3)",
            params![holder.cast_signed(), mailbox, digest],
        )?;
        match added {
            0 => Ok(()),
            _ => self.run(
                "UPDATE given SET files=files+1 WHERE mailbox=?1 AND digest=?2",
                params![mailbox, digest],
            ),
        }
    }

    pub(super) fn given_row(
        &self,
        mailbox: MailboxId,
        digest: DigestBytes,
    ) -> Result<Option<GivenRow>, DaemonError> {
        let sql = "SELECT path, keys, earlier, files FROM given WHERE mailbox=?1 AND digest=?2";
        self.find(sql, params![mailbox, digest], |row| {
            Ok(GivenRow {
                mailbox,
                digest,
                path: row.get(0)?,
                keys: row.get(1)?,
                earlier: row.get(2)?,
                files: row.get(3)?,
            })
        })
    }

    /// The number of a path. It is added if it is new.
    pub(super) fn path_id(&self, path: &[u8]) -> Result<i64, DaemonError> {
        let sql = "SELECT id FROM path WHERE path=?1";
        if let Some(id) = self.find(sql, params![path], |row| row.get(0))? {
            return Ok(id);
        }
        self.run("INSERT INTO path VALUES(NULL,?1)", params![path])?;
        Ok(self.last_id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::store::tests::StoreFixture;

    const SPOOL: &str = "/var/mail";

    /// A message with one digest, under which it was read too.
    fn message(digest: u128) -> GivenMessage {
        GivenMessage {
            digest,
            key: digest,
            mailbox: b"/var/mail/a".to_vec(),
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
    fn keys_with_their_highest_bit_are_found() {
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
        // The digest is known, but under another key: it is another message, which differs far from
        // its start.
        state.put_given(mailbox, &message(6)).unwrap();
        state.hold(1, mailbox, 6, 6 << 100).unwrap();
        assert!(state.rows("SELECT * FROM held").is_empty());
        assert_eq!(counts(&state), ["[Integer(6), Integer(0)]"]);
    }

    #[test]
    fn whoever_holds_a_grown_message_holds_its_earlier_digests() {
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
        (other.key, other.earlier) = (9 << 100, vec![3, 4]);
        state.put_given(mailbox, &one).unwrap();
        state.open_holder(1, SPOOL.as_ref(), 1).unwrap();
        state.hold(1, mailbox, 5, one.key).unwrap();
        for _ in 0..2 {
            state.put_given(mailbox, &other).unwrap();
            let row = state
                .given_row(mailbox, 5_u128.to_be_bytes())
                .unwrap()
                .unwrap();
            assert_eq!(
                (row.keys().len(), row.earlier().len(), row.files),
                (2, 2, 1)
            );
        }
        for key in [one.key, other.key] {
            assert!(state.is_given(mailbox, 5, key).unwrap());
        }
        assert!(!state.is_given(mailbox + 1, 5, one.key).unwrap());
    }

    #[test]
    fn messages_with_one_digest_keep_the_mailboxes_of_all_their_records() {
        let fixture = StoreFixture::new("one-digest-two-mailboxes");
        let state = fixture.state();
        let spool = state.mailbox(7, 7, 1).unwrap();
        let (one, mut other) = (message(5), message(5));
        (other.key, other.mailbox) = (9 << 100, b"/var/mail/b".to_vec());
        state.put_given(spool, &one).unwrap();
        state.put_given(spool, &other).unwrap();
        for (holder, key) in [(1, one.key), (2, other.key)] {
            state.open_holder(holder, SPOOL.as_ref(), 1).unwrap();
            state.hold(holder, spool, 5, key).unwrap();
        }
        assert!(state.release_holder(1).unwrap().gone.is_empty());
        let gone = state.release_holder(2).unwrap().gone;
        let mailboxes: Vec<_> = gone.into_iter().map(|message| message.mailbox).collect();
        assert_eq!(mailboxes, [one.mailbox, other.mailbox]);
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
        assert!(
            !state.is_holder(1).unwrap() && state.given_mailboxes().unwrap().contains(&mailbox)
        );
        assert_eq!(counts(&state), ["[Integer(5), Integer(0)]"]);
    }
}
