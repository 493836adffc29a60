//! Makes state and output agree, however the daemon ended, or reports that they contradict each
//! other.
//!
//! Every step can be interrupted and repeated. Only files that the state names are removed.
//!
//! [`rebuild_state`] rebuilds a lost state from the segments' sidecars. A sidecar lists the changes
//! of the state since the previous segment was sealed.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};

use super::gone::{GivenKey, GivenMessage};
use super::purge::WatchTime;
use super::spools::{SpoolRow, path_of};
use super::state_db::{FileLook, GrowingMessage, Hash128, MailboxId, ReadFile, StateDb, StoredKey};
use super::state_db::{digests_in, hash128, optional, position_of, stored_key, unsigned};
use super::writer::{Committer, PendingBatch, UnsealedSegment, publish_if_hidden};
use crate::own_files::{
    self, InstanceLock, SegmentDir, StatePaths, create_folders, highest_in, meta_name, number,
    remove_if_exists, reserve_space,
};
use crate::{AtPath, DaemonError, DaemonHost, ErrorKind, REBUILD, Result};
use urlspool_files::config::Config;
use urlspool_files::keyed_hash::HashKey;
use urlspool_files::sink::random_bytes;
use urlspool_record::record::Sidecar;

/// Opens state and output, and completes or undoes interrupted work.
pub(super) fn open(config: &Config, host: &mut dyn DaemonHost) -> Result<Committer> {
    let paths = StatePaths::new(config);
    let dir = create_folders(config, &paths)?;
    let has_output = has_output(&dir, &paths)?;
    let is_empty = fs::metadata(&paths.db).map_or(0, |metadata| metadata.len()) == 0;
    if is_empty && has_output {
        return Err(DaemonError::inconsistent(format!(
            "state database {} is missing although its segments exist; {REBUILD}",
            paths.db.display()
        )));
    }
    let db = StateDb::open(&paths.db)?;
    let hash_key = secret_key(&dir, &paths, has_output)?;
    db.set_tracking(config.output.tombstones)?;
    check_instance(&paths, &db)?;
    let unsealed = db.unsealed_segment()?;
    check_age(&dir, &paths, &unsealed)?;
    compare_with_sidecars(&paths, &db)?;
    // The output may predate the record of the highest number, or be another folder.
    dir.remember(unsealed.seq - 1)?;
    let mut committer = Committer {
        watch_time: WatchTime::open(&db, host)?,
        db,
        dir,
        paths,
        compress: config.output.compress,
        hash_key,
        prints_lines: config.output.stdout.is_some(),
        unsealed,
        segment: None,
        batch: PendingBatch::default(),
        sealed: Vec::new(),
        batch_since: None,
        segment_since: None,
    };
    complete_segment(&mut committer, host)?;
    for aside in set_files_aside(&committer.dir, Some(committer.unsealed.seq))? {
        host.warn(format!("renamed an unknown file to {}", aside.display()));
    }
    reserve_space(&committer.paths.reserve)?;
    Ok(committer)
}

/// Returns `true` if there are files that only an existing state can have written.
fn has_output(dir: &SegmentDir, paths: &StatePaths) -> Result<bool> {
    Ok(paths.instance.exists() || 0 < newest_segment(dir, paths)?)
}

/// Number of the newest segment, published or not, or of the newest sidecar. 0 if there is none.
fn newest_segment(dir: &SegmentDir, paths: &StatePaths) -> Result<u64> {
    let published = dir.highest()?;
    let hidden = highest_in(&dir.open).at(&dir.out)?;
    let copied = highest_in(&paths.sidecars).at(&paths.sidecars)?;
    Ok(published.max(hidden).max(copied))
}

/// Returns the secret key of the state. Creates one for a state without output. The key is kept in
/// the state folder and in the output folder, so losing one of them does not make all mail look
/// new.
fn secret_key(dir: &SegmentDir, paths: &StatePaths, has_output: bool) -> Result<HashKey> {
    let places = [&paths.key, &dir.key()];
    let kept = places.map(|place| fs::read(place).ok()?.try_into().ok());
    let key: [u8; HashKey::BYTES] = match kept.into_iter().flatten().next() {
        Some(key) => key,
        None if has_output => {
            return Err(DaemonError::inconsistent(format!(
                "the secret key {} and its copy {} are missing or unreadable: restore one of them. \
                 Otherwise, or if a development version made the state, use new folders for state \
                 and output; all mail is then written again",
                paths.key.display(),
                dir.key().display()
            )));
        }
        None => random_bytes().at(&paths.key)?,
    };
    for (place, kept) in places.into_iter().zip(kept) {
        // A restored file may be readable by others.
        let is_private = fs::metadata(place).is_ok_and(|found| found.mode() & 0o777 == 0o600);
        if kept != Some(key) || !is_private {
            own_files::replace(place, &key, own_files::PRIVATE).at(place)?;
        }
    }
    Ok(HashKey::new(key))
}

/// Compares the state's name with the one recorded when the state was created.
fn check_instance(paths: &StatePaths, db: &StateDb) -> Result<()> {
    let own = db.instance()?;
    match fs::read_to_string(&paths.instance) {
        Ok(instance) if instance.trim() == own => Ok(()),
        Ok(_) => Err(DaemonError::inconsistent(format!(
            "{} belongs to another state than {}; {REBUILD}",
            paths.instance.display(),
            paths.db.display()
        ))),
        Err(_) => {
            let line = format!("{own}\n");
            own_files::replace(&paths.instance, line.as_bytes(), own_files::SHARED)
                .at(&paths.instance)
        }
    }
}

/// Rejects a state that is older than the output, such as one restored from a backup.
fn check_age(dir: &SegmentDir, paths: &StatePaths, unsealed: &UnsealedSegment) -> Result<()> {
    let (published, found) = (dir.highest()?, newest_segment(dir, paths)?);
    let expected = unsealed.seq;
    if expected < found || published == expected && !unsealed.is_sealing {
        return Err(DaemonError::inconsistent(format!(
            "state database {} is older than the output: it expects segment {expected}, but \
             segment {found} was written; {REBUILD}",
            paths.db.display()
        )));
    }
    Ok(())
}

/// Number of newest sidecars to compare with a state at the start. Each may list 100,000
/// messages, and a look-up takes a few microseconds.
const COMPARED_SIDECARS: u64 = 8;

/// Compares a state with the newest sidecars: the messages they list were committed before they
/// were written.
fn compare_with_sidecars(paths: &StatePaths, db: &StateDb) -> Result<()> {
    let newest = highest_in(&paths.sidecars).at(&paths.sidecars)?;
    let oldest = newest
        .saturating_sub(COMPARED_SIDECARS - 1)
        .max(db.meta(COMPARABLE)?.unwrap_or(0));
    let mut removed = db.newly_removed()?;
    for seq in (oldest..=newest).rev() {
        // A sidecar that a crash left incomplete belongs to no published segment.
        let sidecar = fs::read(paths.sidecar(seq)).ok();
        let sidecar = sidecar.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let Some(StateSidecar { mailboxes, .. }) = sidecar else {
            continue;
        };
        for mailbox in &mailboxes {
            if !db.has_rows_of(mailbox, &mut removed)? {
                return Err(db.damaged(&format!(
                    "was changed: it lacks messages that the sidecar of segment {seq} lists"
                )));
            }
        }
    }
    Ok(())
}

/// Completes the segment that was being written or published.
fn complete_segment(committer: &mut Committer, host: &mut dyn DaemonHost) -> Result<()> {
    if committer.unsealed.is_sealing {
        committer.finish_seal()?;
    }
    // A state from a backup may not know the lines written after a segment that was published now.
    let unsealed = &committer.unsealed;
    cut_to_committed(&committer.dir.part(unsealed.seq), unsealed, host)?;
    committer.seal().map(|_| ())
}

/// Cuts a segment file to its committed length.
///
/// # Errors
///
/// [`ErrorKind::Inconsistent`] if it is shorter than that or its content differs, or an I/O error.
fn cut_to_committed(
    part: &Path,
    unsealed: &UnsealedSegment,
    host: &mut dyn DaemonHost,
) -> Result<()> {
    let len = match fs::metadata(part) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        found => found.at(part)?.len(),
    };
    if len < unsealed.len {
        return Err(DaemonError::inconsistent(format!(
            "{} committed bytes are missing at the end of {}; {REBUILD}",
            unsealed.len - len,
            part.display()
        )));
    }
    if unsealed.len == 0 {
        return remove_if_exists(part).at(part);
    }
    if own_files::hash_of(part, unsealed.len).at(part)? != Some(unsealed.hash) {
        return Err(DaemonError::inconsistent(format!(
            "{} differs from the committed data; {REBUILD}",
            part.display()
        )));
    }
    if unsealed.len < len {
        let uncommitted = len - unsealed.len;
        host.warn(format!(
            "removed {uncommitted} uncommitted bytes from the end of {}",
            part.display()
        ));
        own_files::cut(part, unsealed.len).at(part)?;
    }
    Ok(())
}

/// Sets aside hidden files that do not belong to the open segment. Returns their new paths.
fn set_files_aside(dir: &SegmentDir, open: Option<u64>) -> Result<Vec<PathBuf>> {
    let mut aside = Vec::new();
    for path in own_files::entries(&dir.open).at(&dir.out)? {
        if open.is_none() || number(&path) != open {
            aside.push(dir.set_aside(&path).at(&path)?);
        }
    }
    Ok(aside)
}

/// Rebuilds the state: messages listed in sidecars are known, everything else is read again.
///
/// A complete segment with a sidecar is published; other unfinished segments are set aside, since
/// no sidecar lists their messages. The old database is kept as `state.db.old`.
///
/// # Errors
///
/// Another instance holds the state, a snapshot is damaged, or an I/O error.
pub fn rebuild_state(config: &Config, host: &mut dyn DaemonHost) -> Result<()> {
    let _lock = InstanceLock::acquire(&config.state.dir)?;
    let paths = StatePaths::new(config);
    let dir = create_folders(config, &paths)?;
    secret_key(&dir, &paths, has_output(&dir, &paths)?)?;
    let new = config.state.dir.join("built.db");
    let db = open_new(&new, &paths.sidecars.join("snapshot.db"))?;
    rename_old_state(&config.state.dir)?;
    // The snapshot covers older sidecars and the entries purged from them.
    let from = db.unsealed_segment()?.seq;
    let mut sidecars = Vec::new();
    for sidecar in read_sidecars(&dir, &paths)? {
        // A damaged segment was not published, so its messages are read again.
        if from <= sidecar.segment.seq && publish(&dir, &sidecar.segment)? {
            sidecars.push(sidecar);
        }
    }
    for aside in set_files_aside(&dir, None)? {
        host.info(format!(
            "renamed an unfinished file to {}: its messages will be read again and their records \
             written to a new segment",
            aside.display()
        ));
    }
    // The next free segment number.
    let listed = sidecars.iter().map(|sidecar| sidecar.segment.seq).max();
    let highest = dir.highest()?.max(listed.unwrap_or(0));
    let next = from.max(highest + 1);
    dir.remember(next - 1)?;
    let messages = fill(&db, &sidecars, next)?;
    db.close()?;
    own_files::replace_with(&new, &paths.db).at(&paths.db)?;
    // The log was copied into the database, so an empty one that remains is harmless.
    let _ = fs::remove_file(new.with_extension("db-wal"));
    let snapshot = if from == 1 { "" } else { "a snapshot and " };
    host.info(format!(
        "rebuilt the state from {snapshot}{} sidecars, which list {messages} messages",
        sidecars.len()
    ));
    if let Some(warning) = repetition_warning(&sidecars, from..next) {
        host.warn(warning);
    }
    Ok(())
}

/// Opens the database at `path`, the temporary name of a new state: a copy of the snapshot, or
/// empty if there is no snapshot. Removes the remains of an interrupted rebuild.
fn open_new(path: &Path, snapshot: &Path) -> Result<StateDb> {
    for old in [path, &path.with_extension("db-wal")] {
        let _ = fs::remove_file(old);
    }
    let has_snapshot = snapshot.exists();
    if has_snapshot {
        fs::copy(snapshot, path).at(path)?;
    }
    StateDb::open(path).map_err(|error| {
        if error.kind != ErrorKind::Inconsistent || !has_snapshot {
            return error;
        }
        let message = format!(
            "snapshot {} is damaged; restore it from a backup, or remove it: messages that no \
             sidecar lists are then read again, and their records appear twice",
            snapshot.display()
        );
        DaemonError::inconsistent(message).caused_by(error)
    })
}

/// Renames the files of the old state to `NAME.old`.
fn rename_old_state(state: &Path) -> Result<()> {
    for name in ["state.db", "state.db-wal", "instance"] {
        let path = state.join(name);
        if path.exists() {
            fs::rename(&path, state.join(format!("{name}.old"))).at(&path)?;
        }
    }
    Ok(())
}

/// All sidecars (published, hidden or copied), one per segment, ordered by segment.
fn read_sidecars(dir: &SegmentDir, paths: &StatePaths) -> Result<Vec<StateSidecar>> {
    let mut found = BTreeMap::new();
    for folder in [&dir.out, &dir.open, &paths.sidecars] {
        for path in own_files::entries(folder).at(folder)? {
            if path.extension() != Some("meta".as_ref()) {
                continue;
            }
            let bytes = fs::read(&path).at(&path)?;
            // An incomplete sidecar, left by a crash, belongs to no published segment.
            if let Ok(sidecar) = serde_json::from_slice::<StateSidecar>(&bytes) {
                found.entry(sidecar.segment.seq).or_insert(sidecar);
            }
        }
    }
    Ok(found.into_values().collect())
}

/// Publishes a segment that was about to be published when the state was lost. Returns `false` if
/// its hidden file differs from its sidecar.
fn publish(dir: &SegmentDir, sidecar: &Sidecar) -> Result<bool> {
    let part = dir.part(sidecar.seq);
    if !part.exists() || dir.out.join(&sidecar.name).exists() {
        return Ok(true);
    }
    let hash = u64::from_str_radix(&sidecar.xxh3_64, 16).ok();
    let is_complete = fs::metadata(&part).is_ok_and(|metadata| metadata.len() == sidecar.len)
        && own_files::hash_of(&part, sidecar.len).is_ok_and(|found| found == hash);
    if !is_complete {
        return Ok(false);
    }
    dir.remember(sidecar.seq)?;
    let meta = meta_name(sidecar.seq);
    publish_if_hidden(dir, &dir.hidden(&meta), &meta)?;
    publish_if_hidden(dir, &part, &format!("{:010}.jsonl", sidecar.seq))?;
    dir.sync().at(&dir.out)?;
    Ok(true)
}

/// The warning that records will be written twice. `None` if all written `segments` have sidecars.
fn repetition_warning(sidecars: &[StateSidecar], segments: Range<u64>) -> Option<String> {
    if segments.end == 1 {
        return Some(
            "no sidecars and no snapshot were found: all mail in the spools will be read, and \
             earlier records will be written again"
                .to_owned(),
        );
    }
    let listed: HashSet<u64> = sidecars.iter().map(|sidecar| sidecar.segment.seq).collect();
    let mut missing = segments.filter(|seq| !listed.contains(seq));
    let first = missing.next()?;
    let others = missing.count();
    let which = match others {
        0 => format!("segment {first}"),
        1 => format!("segment {first} and one more"),
        _ => format!("segment {first} and {others} more"),
    };
    Some(format!(
        "the sidecar of {which} is missing or damaged: messages of such segments that are still in \
         the spools will be read and written again"
    ))
}

/// Applies sidecars, in order, to the new database in one transaction. Returns the number of
/// messages.
fn fill(db: &StateDb, sidecars: &[StateSidecar], next_segment: u64) -> Result<usize> {
    db.set_unsealed_segment(&UnsealedSegment {
        seq: next_segment,
        ..UnsealedSegment::default()
    })?;
    db.forget_comparable()?;
    let mut messages = 0;
    for sidecar in sidecars {
        for row in &sidecar.spools {
            db.put_spool_row(row)?;
        }
        for mailbox in &sidecar.mailboxes {
            db.apply_changes(mailbox)?;
            messages += mailbox.keys.len();
        }
    }
    db.forget_holders()?;
    // Existing sidecars already list these rows.
    db.clear_new_rows()?;
    let epoch = sidecars.iter().map(|sidecar| sidecar.segment.epoch).max();
    let age = sidecars.iter().map(|sidecar| sidecar.age).max();
    let epoch = epoch.max(db.meta("epoch")?).unwrap_or(0);
    let age = age.max(db.meta("age")?).unwrap_or(0);
    db.set_meta("epoch", epoch + 1)?;
    db.set_meta("age", age)?;
    db.commit()?;
    Ok(messages)
}

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

/// Removed messages that earlier sidecars list.
struct RemovedRows {
    /// The mailboxes and stored keys of those removed from the read messages.
    keys: HashSet<(MailboxId, StoredKey)>,
    /// Those whose records were written.
    given: HashSet<GivenKey>,
}

/// The key in the table `meta` of the number of the first comparable segment. Sidecars list every
/// message removed since then.
const COMPARABLE: &str = "comparable";

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

    fn apply_changes(&self, changes: &SidecarMailbox) -> Result<()> {
        let mailbox = self.mailbox(changes.mailbox, changes.spool, changes.dev)?;
        self.raise_many(mailbox, changes.many)?;
        for key in &changes.keys {
            self.mark_seen(mailbox, *key)?;
        }
        for digest in &changes.gone {
            if let Some(row) = self.given_row(GivenKey::new(mailbox, *digest))? {
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
    fn has_rows_of(&self, changes: &SidecarMailbox, removed: &mut RemovedRows) -> Result<bool> {
        let sql = "SELECT id FROM mailbox WHERE key=?1";
        let key = changes.mailbox.to_be_bytes();
        let Some(mailbox) = self.find(sql, params![key], |row| row.get(0))? else {
            return Ok(false);
        };
        for key in &changes.keys {
            let is_removed = removed.keys.contains(&(mailbox, stored_key(*key)));
            if !is_removed && !self.is_seen(mailbox, *key)? {
                return Ok(false);
            }
        }
        let given = self.tracks_holders().then_some(&changes.given);
        for GivenMessage { digest, .. } in given.into_iter().flatten() {
            let key = GivenKey::new(mailbox, *digest);
            if !removed.given.contains(&key) && self.given_row(key)?.is_none() {
                return Ok(false);
            }
        }
        let keys = changes.unread.iter().map(|key| (mailbox, stored_key(*key)));
        removed.keys.extend(keys);
        let given = changes
            .gone
            .iter()
            .map(|digest| GivenKey::new(mailbox, *digest));
        removed.given.extend(given);
        Ok(true)
    }

    /// The messages that were removed since the last segment was sealed.
    fn newly_removed(&self) -> Result<RemovedRows> {
        let keys = "SELECT mailbox, key FROM fresh_unread";
        let given = "SELECT mailbox, digest FROM fresh_gone";
        Ok(RemovedRows {
            keys: HashSet::from_iter(self.all(keys, [], |row| row.try_into())?),
            given: HashSet::from_iter(self.all(given, [], GivenKey::of)?),
        })
    }

    /// Records that messages are removed without being listed in a sidecar.
    pub(super) fn forget_comparable(&self) -> Result<()> {
        self.set_meta(COMPARABLE, self.unsealed_segment()?.seq + 1)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::{NoHost, StoreFixture};

    #[test]
    fn an_interrupted_publication_publishes_the_segment_once() {
        for steps in 0..=4 {
            let fixture = StoreFixture::new(&format!("steps-{steps}"));
            let mut committer = open(&fixture.config(), &mut NoHost).unwrap();
            committer.put(&mut &b"{}\n"[..], 1).unwrap();
            committer.commit().unwrap();
            committer.prepare_seal().unwrap();
            if 1 <= steps {
                committer.dir.remember(1).unwrap();
            }
            let dir = &committer.dir;
            if 2 <= steps {
                let meta = "0000000001.meta";
                dir.publish(&dir.hidden(meta), meta).unwrap();
            }
            if 3 <= steps {
                dir.publish(&dir.part(1), "0000000001.jsonl").unwrap();
            }
            if 4 <= steps {
                // The consumer was faster.
                for name in ["0000000001.meta", "0000000001.jsonl"] {
                    fs::remove_file(dir.out.join(name)).unwrap();
                }
            }
            drop(committer);
            let committer = open(&fixture.config(), &mut NoHost).unwrap();
            assert_eq!((committer.unsealed.seq, committer.unsealed.len), (2, 0));
            committer.close().unwrap();
            assert_eq!(fixture.segments().len(), usize::from(steps < 4));
        }
    }

    #[test]
    fn lines_of_a_message_that_was_not_committed_are_cut_off() {
        let fixture = StoreFixture::new("uncommitted");
        let mut committer = open(&fixture.config(), &mut NoHost).unwrap();
        let lines = b"{}\n".repeat(300_000);
        committer.put(&mut &lines[..], 300_000).unwrap();
        // A segment with a pending batch is not sealed.
        assert!(committer.is_dirty());
        committer.commit().unwrap();
        let path = committer.dir.part(1);
        let committed = fs::metadata(&path).unwrap().len();
        assert_eq!(committed, 900_000);
        committer.put(&mut &lines[..600_000], 200_000).unwrap();
        assert_eq!(committer.pending_bytes(), 600_000);
        // Two pieces, up to the end of a line.
        let written = fs::metadata(&path).unwrap().len() - committed;
        assert_eq!(written, (512 << 10) / 3 * 3);
        drop(committer);
        let committer = open(&fixture.config(), &mut NoHost).unwrap();
        assert_eq!((committer.unsealed.seq, committer.unsealed.len), (2, 0));
        committer.close().unwrap();
        assert_eq!((fixture.segments().len(), fixture.lines()), (1, 300_000));
    }

    #[test]
    fn a_state_that_is_older_than_removed_segments_is_refused() {
        let fixture = StoreFixture::new("older");
        let (config, kept) = (fixture.config(), fixture.folder.join("kept.db"));
        let seal = |lines: &[u8]| {
            let mut committer = open(&config, &mut NoHost).unwrap();
            committer.put(&mut &lines[..], 1).unwrap();
            committer.close().unwrap();
        };
        seal(b"{}\n");
        fs::copy(fixture.folder.join("state/state.db"), &kept).unwrap();
        seal(b"{\"a\":1}\n");
        for entry in fs::read_dir(fixture.folder.join("out")).unwrap().flatten() {
            let _ = entry
                .path()
                .extension()
                .is_some_and(|_| fs::remove_file(entry.path()).is_ok());
        }
        fs::remove_file(fixture.folder.join("state/sidecars/0000000002.meta")).unwrap();
        fs::copy(&kept, fixture.folder.join("state/state.db")).unwrap();
        let error = open(&config, &mut NoHost).err().unwrap();
        assert!(
            error
                .to_string()
                .contains("it expects segment 2, but segment 2 was written"),
            "{error}"
        );
    }

    /// Commits a message with one record and seals it in its own segment.
    fn commit_message(committer: &mut Committer, key: u128) {
        let state = &committer.db;
        let mailbox = state.mailbox(7, 7, 1).unwrap();
        state.mark_seen(mailbox, key).unwrap();
        state.mark_in_open_segment(mailbox, key).unwrap();
        let file = ReadFile {
            key: (key >> 100) as u64,
            message: None,
            length: None,
            position: None,
        };
        let look = FileLook::default();
        state.mark_file_read(mailbox, &file, look).unwrap();
        committer.put(&mut &b"{}\n"[..], 1).unwrap();
        committer.commit().unwrap();
        assert!(committer.seal().unwrap());
    }

    #[test]
    fn a_snapshot_replaces_old_sidecars_and_a_rebuild_starts_from_it() {
        let root = std::env::temp_dir().join(format!("urlspool-snapshot-{}", std::process::id()));
        let mut config = Config::default();
        (config.output.dir, config.state.dir) = (root.join("out"), root.join("state"));
        let copies = || {
            let names = fs::read_dir(root.join("state/sidecars")).unwrap().flatten();
            let mut names: Vec<_> = names
                .map(|entry| entry.file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        let keys = [1 << 100, 2 << 100, 3 << 100, 4 << 100];
        let mut committer = open(&config, &mut NoHost).unwrap();
        commit_message(&mut committer, keys[0]);
        commit_message(&mut committer, keys[1]);
        assert!(!committer.compact_sidecars(3).unwrap() && committer.compact_sidecars(2).unwrap());
        assert_eq!(copies(), ["snapshot.db"]);
        commit_message(&mut committer, keys[2]);
        committer.close().unwrap();
        // Sidecars that the consumer has not removed yet list only rows that are also in the
        // snapshot.
        for _ in 0..2 {
            rebuild_state(&config, &mut NoHost).unwrap();
            let committer = open(&config, &mut NoHost).unwrap();
            let state = &committer.db;
            let mailbox = state.mailbox(7, 7, 1).unwrap();
            assert_eq!(
                keys.map(|key| state.is_seen(mailbox, key).unwrap()),
                [true, true, true, false]
            );
            assert_eq!(
                keys.map(|key| state.file_look((key >> 100) as u64).unwrap().is_some()),
                [true, true, true, false]
            );
            assert_eq!((committer.unsealed.seq, copies().len()), (4, 2));
            committer.close().unwrap();
        }
        assert!(!root.join("state/built.db").exists());
        let snapshot = root.join("state/sidecars/snapshot.db");
        let len = fs::metadata(&snapshot).unwrap().len();
        own_files::cut(&snapshot, len / 2).unwrap();
        let error = rebuild_state(&config, &mut NoHost).unwrap_err();
        assert!(
            error.kind == ErrorKind::Inconsistent
                && error
                    .to_string()
                    .starts_with(&format!("snapshot {} is damaged", snapshot.display())),
            "{error}"
        );
        open(&config, &mut NoHost).unwrap().close().unwrap();
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_state_that_lacks_what_a_sidecar_lists_is_refused() {
        let losses = [
            "DELETE FROM seen WHERE key=(SELECT min(key) FROM seen)",
            "UPDATE mailbox SET key=zeroblob(16)",
            "DELETE FROM given",
        ];
        for loss in losses {
            let fixture = StoreFixture::new("compare");
            let mut config = fixture.config();
            config.output.tombstones = true;
            let open = || open(&config, &mut NoHost);
            let mut committer = open().unwrap();
            for n in 1..=3 {
                let state = &committer.db;
                let mailbox = state.mailbox(7, 7, 1).unwrap();
                let given = GivenMessage {
                    digest: n,
                    path: "/a".into(),
                    keys: vec![n << 100],
                    earlier: Vec::new(),
                };
                state.put_given(mailbox, &given).unwrap();
                commit_message(&mut committer, n << 100);
            }
            // Rows listed as removed, in sidecars or in the open segment, are not missing.
            for is_sealed in [true, false] {
                let state = &committer.db;
                let mailbox = state.mailbox(7, 7, 1).unwrap();
                while state.release_orphans(mailbox).unwrap().is_some() {}
                committer.put(&mut &b"{}\n"[..], 1).unwrap();
                committer.commit().unwrap();
                if is_sealed {
                    committer.seal().unwrap();
                    commit_message(&mut committer, 4 << 100);
                }
            }
            drop(committer);
            let mut committer = open().unwrap();
            let state = &committer.db;
            let mailbox = state.mailbox(7, 7, 1).unwrap();
            let given = GivenMessage {
                digest: 5,
                path: "/a".into(),
                keys: vec![5 << 100],
                earlier: Vec::new(),
            };
            state.put_given(mailbox, &given).unwrap();
            commit_message(&mut committer, 5 << 100);
            let state = &committer.db;
            state.batch(loss).unwrap();
            committer.put(&mut &b"{}\n"[..], 1).unwrap();
            committer.commit().unwrap();
            drop(committer);
            let error = open().err().unwrap().to_string();
            assert!(
                error.contains("lacks messages that the sidecar of"),
                "{loss}: {error}"
            );
        }
    }

    /// All rows about mailboxes, as text.
    fn mail_rows(committer: &mut Committer) -> Vec<String> {
        let mut rows = Vec::new();
        let state = &committer.db;
        for table in ["seen", "file", "tail"] {
            rows.extend(state.rows(&format!(
                "SELECT '{table}', box.key, t.* FROM {table} t, mailbox box WHERE box.id=mailbox"
            )));
        }
        rows.extend(state.rows("SELECT 'mailbox', * FROM mailbox"));
        rows.sort();
        rows
    }

    #[test]
    fn a_rebuilt_state_equals_the_lost_one() {
        let root = std::env::temp_dir().join(format!("urlspool-rebuild-{}", std::process::id()));
        let mut config = Config::default();
        (config.output.dir, config.state.dir) = (root.join("out"), root.join("state"));
        let mut committer = open(&config, &mut NoHost).unwrap();
        commit_message(&mut committer, 1 << 100);
        let state = &committer.db;
        let all = [(7, 7, 1), (8, 7, 1), (9, 7, 1)]
            .map(|(key, spool, dev)| state.mailbox(key, spool, dev).unwrap());
        let growing = GrowingMessage {
            len: 5,
            hash: 6,
            ids: vec![7, 8],
            digests: vec![9],
        };
        state.put_growing(all[1], &growing).unwrap();
        commit_message(&mut committer, 2 << 100);
        // Only the mailboxes themselves change.
        let state = &committer.db;
        state.raise_many(all[0], 1).unwrap();
        state.raise_many(all[1], 2).unwrap();
        state.mailbox(9, 6, 2).unwrap();
        state.mailbox(10, 7, 1).unwrap();
        commit_message(&mut committer, 3 << 100);
        let before = mail_rows(&mut committer);
        committer.close().unwrap();
        rebuild_state(&config, &mut NoHost).unwrap();
        let mut committer = open(&config, &mut NoHost).unwrap();
        assert_eq!(mail_rows(&mut committer), before);
        assert!(before.len() == 11, "{before:?}");
        committer.close().unwrap();
        fs::remove_dir_all(root).unwrap();
    }
}
