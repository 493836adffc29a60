//! The files that a scan finds in a spool, and those that are missing from it, if tombstones are written.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::daemon::host::MonotonicTime;
use crate::daemon::ingest::{FileStanding, FileVersion, is_locked, mailbox_scopes, path_key};
use crate::daemon::store::{Hash128, HolderKey};
use crate::limits::SURVEYED_FILES;
use crate::origin::FormatHint;
use crate::walk::WalkedFile;

/// The files that are present in a spool, collected during a scan of it.
#[derive(Debug)]
pub(super) struct SpoolCensus {
    /// Index of the spool.
    pub(super) spool: usize,
    pub(super) start: MonotonicTime,
    /// Time of its end; that of its start until then.
    pub(super) end: MonotonicTime,
    /// Holders whose files are present.
    pub(super) holders: Vec<HolderKey>,
    /// File systems that are mounted.
    pub(super) devs: BTreeSet<u64>,
    /// Files that were not read.
    pub(super) unread: Vec<UnreadFile>,
    /// Files without content.
    pub(super) empty: Vec<UnreadFile>,
    /// Folders whose entries are renamed by mail programs, with their modification times before the scan.
    pub(super) folders: HashMap<PathBuf, Option<i64>>,
    /// `true` if files may be present that are not listed.
    pub(super) is_incomplete: bool,
}

/// A file that was not read.
#[derive(Debug)]
pub(super) struct UnreadFile {
    path: PathBuf,
    hint: FormatHint,
    version: FileVersion,
}

/// Files of a spool that were missing at its last census.
#[derive(Debug, Default)]
pub(super) struct MissingFiles {
    /// The holders that are missing. At most [`crate::limits::MISSING_FILES`].
    pub(super) holders: HashMap<HolderKey, MissingHolder>,
    /// The last census at which each mailbox with messages without a holder was blocked.
    pub(super) orphans_blocked: HashMap<Hash128, MonotonicTime>,
    /// Since when each file has not been read. By the hashes of their identities, which outlive a rename.
    pub(super) unread: HashMap<u64, MonotonicTime>,
    /// Files without content, with their modification times.
    pub(super) empty: HashMap<u64, i64>,
    /// Mailboxes of which messages may be in files that were not read.
    pub(super) blocks: HashMap<Hash128, CensusBlock>,
    /// Time of the first complete census.
    pub(super) complete_since: Option<MonotonicTime>,
    /// Time of the last census.
    pub(super) last: Option<MonotonicTime>,
    /// `true` if another census will release holders, unless their files appear again.
    pub(super) is_waiting: bool,
}

/// A holder that is missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct MissingHolder {
    /// Time after the first census at which it was missing.
    pub(super) since: MonotonicTime,
    /// Time after the last census at which its messages may have been somewhere else; after the first one, if there is none.
    pub(super) blocked: MonotonicTime,
}

/// Reason for which messages of a mailbox may be somewhere else.
#[derive(Clone, Copy, Debug)]
pub(super) struct CensusBlock {
    /// Since when.
    pub(super) since: MonotonicTime,
    /// `true` if a file cannot be read, so that waiting may not help.
    pub(super) is_failure: bool,
}

impl SpoolCensus {
    /// Adds a file that is present.
    pub(super) fn add(&mut self, file: &WalkedFile, standing: FileStanding) {
        let version = match file.source.path.symlink_metadata() {
            Ok(metadata) => FileVersion::of(&metadata),
            // It was renamed or removed since it was checked: the next census will tell.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let FileStanding::Read(holder) = standing {
                    self.holders.push(holder);
                }
                return;
            }
            Err(_) => return self.mark_incomplete(),
        };
        self.devs.insert(version.id.dev);
        let unread = UnreadFile {
            path: file.source.path.to_path_buf(),
            hint: file.hint,
            version,
        };
        match standing {
            FileStanding::Read(holder) => self.holders.push(holder),
            FileStanding::Unread => self.unread.push(unread),
            // A mail program rewrites a mailbox in place, under its lock.
            FileStanding::Empty if is_locked(file) => self.unread.push(unread),
            FileStanding::Empty => self.empty.push(unread),
        }
        if SURVEYED_FILES < self.holders.len() + self.unread.len() + self.empty.len() {
            self.mark_incomplete();
            self.holders = Vec::new();
            (self.unread, self.empty) = (Vec::new(), Vec::new());
        }
    }

    /// Records that files may be present that are not listed, so that none counts as missing.
    pub(super) fn mark_incomplete(&mut self) {
        self.is_incomplete = true;
    }

    pub(super) fn has(&self, holder: HolderKey) -> bool {
        self.holders.binary_search(&holder).is_ok()
    }

    /// Folders in which entries were renamed during the scan, so that the scan may have listed neither name.
    fn changed_folders(&self) -> impl Iterator<Item = &PathBuf> {
        let is_changed =
            |(path, before): &(&PathBuf, &Option<i64>)| modification_time(path) != **before;
        self.folders.iter().filter(is_changed).map(|(path, _)| path)
    }
}

impl MissingFiles {
    /// Returns `true` if another census will release holders, unless their files appear again.
    pub(super) fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Updates the files that were not read, and the mailboxes that they block.
    pub(super) fn follow_unread(
        &mut self,
        census: &SpoolCensus,
        root: &Path,
        is_failure: impl Fn(&Path) -> bool,
    ) {
        let mut unread = HashMap::new();
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.clear();
        // A mail program that takes no lock rewrites a mailbox in place, which is empty for a moment.
        let is_new = |file: &&UnreadFile| {
            self.empty.get(&file.version.id.hash()) != Some(&file.version.mtime)
        };
        let emptied = census.empty.iter().filter(is_new);
        for file in census.unread.iter().chain(emptied) {
            let id = file.version.id.hash();
            let since = *self.unread.get(&id).unwrap_or(&census.start);
            unread.insert(id, since);
            let block = CensusBlock {
                since,
                is_failure: is_failure(&file.path),
            };
            for mailbox in mailbox_scopes(&file.path, file.hint, root) {
                add_block(&mut blocks, mailbox, block);
            }
        }
        self.unread = unread;
        let version = |file: &UnreadFile| (file.version.id.hash(), file.version.mtime);
        self.empty = census.empty.iter().map(version).collect();
        let block = CensusBlock {
            since: MonotonicTime::default(),
            is_failure: false,
        };
        for folder in census.changed_folders() {
            // The folders of MH themselves, and the Maildirs of `new` and `cur`.
            for mailbox in [Some(&**folder), folder.parent()].into_iter().flatten() {
                add_block(&mut blocks, path_key(mailbox), block);
            }
        }
        self.blocks = blocks;
    }
}

fn add_block(blocks: &mut HashMap<Hash128, CensusBlock>, mailbox: Hash128, block: CensusBlock) {
    let known = blocks.entry(mailbox).or_insert(block);
    known.since = known.since.min(block.since);
    known.is_failure |= block.is_failure;
}

/// Returns the modification time of a file or folder in nanoseconds since 1970.
pub(super) fn modification_time(path: &Path) -> Option<i64> {
    let metadata = path.metadata().ok()?;
    Some(
        metadata
            .mtime()
            .wrapping_mul(1_000_000_000)
            .wrapping_add(metadata.mtime_nsec()),
    )
}
