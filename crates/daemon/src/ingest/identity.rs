//! Identity of files, mailboxes and messages.
//!
//! Names and inodes only save work: a message is identified by its content within its mailbox. All
//! data from mail or its folders is hashed with the key of the state, so an attacker cannot
//! construct two messages or names with the same hash.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use twox_hash::XxHash3_64;

use crate::store::{FileId, FileLook, Hash128, SpoolIdentity, path_key};
use urlspool_files::config::DedupeScope;
use urlspool_files::keyed_hash::HashKey;
use urlspool_mail::decode::{HeaderFields, canonical, digest};
use urlspool_mail::split::Message;
use urlspool_sources::walk::WalkedFile;
use urlspool_text::origin::{FormatHint, SourceKind, mailbox, maildir_base_name, unrotated};

/// File identity, size and times at one moment. Files with equal versions have equal content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion {
    pub id: FileId,
    pub size: u64,
    /// Time of the last change of the content, in nanoseconds since 1970. Programs can set it.
    pub mtime: i64,
    /// Time of the last change of the inode, in nanoseconds since 1970. A rename, a link and a
    /// change of permissions also change it; programs cannot set it.
    pub ctime: i64,
}

impl FileVersion {
    /// Returns the version of the file with this metadata.
    pub(crate) fn of(metadata: &Metadata) -> FileVersion {
        let born = metadata.created().ok();
        let born = born.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let btime = born.and_then(|time| i64::try_from(time.as_nanos()).ok());
        FileVersion {
            id: FileId {
                dev: metadata.dev(),
                ino: metadata.ino(),
                btime: btime.unwrap_or(0),
            },
            size: metadata.len(),
            mtime: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            ctime: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Returns the look: place and change time of the file. They reveal a change of the content
    /// that left size and modification time as they were. `place` is the [`place_key`] of its path.
    pub(crate) fn look(&self, place: u64) -> FileLook {
        let changed = XxHash3_64::oneshot(&self.ctime.to_le_bytes());
        FileLook((place & !0xFFFF_FFFF) | (changed & 0xFFFF_FFFF))
    }

    /// The file's keys as an mbox, one for each mailbox it may belong to: its own, or the spool's.
    pub(crate) fn mbox_keys(&self, file: &WalkedFile, spool: &SpoolIdentity) -> [u64; 2] {
        let path = spool.path_of(&file.source.path);
        let mailbox = path_key(&mailbox(&path, SourceKind::Mbox));
        [mailbox, spool.key].map(|mailbox| self.id.hash_in(mailbox))
    }

    /// The key in the state of a file that was read completely. It differs between files, and
    /// between two versions of one file.
    ///
    /// For a numbered file, the key contains the folder but not the name, because MH renumbers
    /// messages. For a Maildir file, it contains the base name, so a change of flags does not cause
    /// another read; it omits the device, which may change when a disk is mounted. Paths are those
    /// known to the state, however the configuration spells the spool.
    pub(crate) fn key(&self, file: &WalkedFile, spool: &SpoolIdentity, key: HashKey) -> u64 {
        let path = &*spool.path_of(&file.source.path);
        let FileId { dev, ino, btime } = self.id;
        let mut numbers = [dev, ino, btime.cast_unsigned(), self.mtime.cast_unsigned()];
        let mut hash = key.hasher();
        hash.write(&self.size.to_le_bytes());
        match file.hint {
            FormatHint::Maildir => {
                hash.write(up(path, 2).as_os_str().as_bytes());
                hash.write(b"/");
                hash.write(maildir_base_name(path));
                numbers[0] = 0;
            }
            FormatHint::Numbered => hash.write(up(path, 1).as_os_str().as_bytes()),
            _ => hash.write(unrotated(path).as_os_str().as_bytes()),
        }
        hash.write(numbers.map(u64::to_le_bytes).as_flattened());
        hash.finish() as u64
    }
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.wrapping_mul(1_000_000_000).wrapping_add(rest)
}

/// The files that existed when their spool was watched for the first time, with their versions at
/// that time. For repositories, also the last commit.
#[derive(Debug, Default)]
pub(crate) struct ExistingFiles {
    /// Sizes and times of change. `EXISTING_FILES` states the memory: 40 bytes per entry in a table
    /// that is half full.
    files: HashMap<FileId, (u64, i64)>,
    /// Last commits of repositories.
    tips: HashMap<FileId, String>,
}

impl ExistingFiles {
    /// Adds a file, or a repository with its last commit. Returns the number of files.
    pub(crate) fn insert(&mut self, version: FileVersion, tip: Option<String>) -> usize {
        self.files.insert(version.id, (version.size, version.mtime));
        self.tips.extend(tip.map(|tip| (version.id, tip)));
        self.files.len()
    }

    /// The last commit that a repository had at that time.
    pub(super) fn tip(&self, version: FileVersion) -> Option<&str> {
        self.tips.get(&version.id).map(String::as_str)
    }

    /// Returns `true` if the file with this version has not changed since.
    pub(crate) fn is_unchanged(&self, version: FileVersion) -> bool {
        self.end_in(version) == u64::MAX
    }

    /// Returns the offset up to which this version of a file already existed: 0 if the file is new,
    /// or shorter than it was.
    pub(super) fn end_in(&self, version: FileVersion) -> u64 {
        match self.files.get(&version.id) {
            // Offsets in a compressed file refer to its decompressed content.
            Some(known) if *known == (version.size, version.mtime) => u64::MAX,
            Some((size, _)) if *size <= version.size => *size,
            _ => 0,
        }
    }
}

/// Returns the key of a file's mailbox: the scope in which each message is recorded once.
pub(super) fn mailbox_key(
    path: &Path,
    kind: SourceKind,
    spool: &SpoolIdentity,
    dedupe: DedupeScope,
) -> Hash128 {
    match (dedupe, kind) {
        // An article is one message, no matter how many groups it is filed in.
        (DedupeScope::Spool, _) | (_, SourceKind::News) => spool.key,
        _ => path_key(&mailbox(&spool.path_of(path), kind)),
    }
}

/// Returns the keys of all mailboxes that a file's messages may belong to, for any format and any
/// scope of the spool.
pub(crate) fn mailbox_scopes(path: &Path, hint: FormatHint, spool: &SpoolIdentity) -> Vec<Hash128> {
    let path = &*spool.path_of(path);
    let mut scopes = vec![spool.key, path_key(&unrotated(path)), path_key(up(path, 2))];
    if hint != FormatHint::Maildir {
        scopes.push(path_key(up(path, 1)));
    }
    scopes
}

/// Returns the folder `levels` levels above a path.
fn up(path: &Path, levels: usize) -> &Path {
    path.ancestors().nth(levels).unwrap_or(path)
}

/// Returns `true` if files of two spools can belong to one mailbox: a file and its rotations, or
/// the folders of a Maildir.
pub(crate) fn can_share(one: &Path, other: &Path) -> bool {
    let are_of_maildir = [one, other].iter().all(|path| {
        path.file_name()
            .is_some_and(|name| name == "new" || name == "cur")
    });
    unrotated(one) == unrotated(other) || one.parent() == other.parent() && are_of_maildir
}

/// Returns the key of the place of a single-message file, independent of the content: a draft may
/// be replaced by a longer one. `path` is the path by which the state knows the file.
pub(super) fn place_key(path: &Path, key: HashKey) -> u64 {
    key.hash(path.as_os_str().as_bytes()) as u64
}

/// Position of a piece within a message that exceeds the size limit and is read in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PiecePosition {
    /// Digest of the message's first piece.
    pub first_digest: u128,
    /// Number of bytes from the start of the message to the piece.
    pub offset: u64,
}

/// The canonical content of a message, which identifies it. Storage adds bytes to it: header
/// fields, CR, dots, `>`.
pub(super) struct MessageContent<'m> {
    message: Message<'m>,
    fields: HeaderFields,
    /// Maximum size of the header.
    header_bytes: usize,
}

impl<'m> MessageContent<'m> {
    pub(super) fn of(message: Message<'m>, header_bytes: usize) -> MessageContent<'m> {
        MessageContent {
            fields: HeaderFields::in_message(&message, header_bytes),
            message,
            header_bytes,
        }
    }

    /// The content of the first `end` bytes of the message.
    fn of_start(&self, end: usize) -> MessageContent<'m> {
        let raw = &self.message.raw[..end];
        let start = Message {
            raw,
            ..self.message
        };
        MessageContent::of(start, self.header_bytes)
    }

    /// Passes the content to `put`, in pieces.
    fn each(&self, put: &mut dyn FnMut(&[u8])) {
        canonical(&self.message, &self.fields, usize::MAX, put);
    }

    fn len(&self) -> u64 {
        let mut len = 0;
        self.each(&mut |bytes| len += bytes.len() as u64);
        len
    }

    /// Returns the digest of the message, or of a piece of one, and the length of the content.
    pub(super) fn digest(&self, position: Option<PiecePosition>, key: HashKey) -> (u128, u64) {
        let mut hash = key.hasher();
        if let Some(position) = position {
            hash.write(&position.first_digest.to_le_bytes());
            hash.write(&position.offset.to_le_bytes());
        }
        let mut len = 0;
        self.each(&mut |bytes| {
            len += bytes.len() as u64;
            hash.write(bytes);
        });
        (hash.finish(), len)
    }

    /// Returns the length of the raw prefix whose content has `len` bytes. `None` unless the whole
    /// message has more. Costs one pass over the message for each binary digit of its size.
    pub(super) fn raw_prefix_len(&self, len: u64) -> Option<usize> {
        let (mut low, mut high) = (0, self.message.raw.len());
        if self.len() <= len {
            return None;
        }
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.of_start(middle).len() < len {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Some(high)
    }

    /// Returns the digest that the message's records have. For a piece of a larger message, it is
    /// the digest of the first piece.
    pub(super) fn record_digest(&self) -> u128 {
        match self.message.head() {
            None => digest(&self.message, &self.fields),
            Some(fragment) => {
                let head = fragment.message();
                digest(&head, &HeaderFields::in_message(&head, self.header_bytes))
            }
        }
    }

    /// Returns the prefix that cannot change when the message grows: the length of its content and
    /// its hash. `None` if it is empty.
    ///
    /// The prefix excludes an unterminated line, which may continue differently; trailing line
    /// ends; and a final `From ` line, which the next line may turn into the separator of the next
    /// message.
    pub(super) fn stable_prefix(&self, key: HashKey) -> Option<(u64, u128)> {
        let raw = self.message.raw;
        let mut end = memchr::memrchr(b'\n', raw)? + 1;
        let last_line = memchr::memrchr(b'\n', &raw[..end - 1]).map_or(0, |at| at + 1);
        if raw[last_line..].starts_with(b"From ") {
            end = last_line;
        }
        let mut bytes = Vec::new();
        self.of_start(end)
            .each(&mut |piece| bytes.extend_from_slice(piece));
        let len = bytes.iter().rposition(|&byte| byte != b'\n')? + 1;
        Some((len as u64, key.hash(&bytes[..len])))
    }

    /// Returns `true` if the message starts with a [`MessageContent::stable_prefix`].
    pub(super) fn starts_with(&self, (len, expected): (u64, u128), key: HashKey) -> bool {
        let mut hash = key.hasher();
        let mut missing = len as usize;
        self.each(&mut |bytes| {
            let bytes = &bytes[..bytes.len().min(missing)];
            hash.write(bytes);
            missing -= bytes.len();
        });
        missing == 0 && hash.finish() == expected
    }
}

/// Returns the hash that identifies these bytes in a later read.
pub(super) fn guard_hash(bytes: &[u8], key: HashKey) -> u64 {
    key.hash(bytes) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_grows_keeps_its_prefix() {
        let key = HashKey::new([7; 32]);
        let content = |message| MessageContent::of(message, usize::MAX);
        let whole = Message {
            kind: SourceKind::Mbox,
            ..Message::parse(b"Subject: a\nStatus: O\nTo: b\n\nx http://a/\ny\n")
        };
        for cut in [
            b"Subject: a\n".len(),
            whole.raw.len() - 12,
            whole.raw.len() - 1,
            whole.raw.len(),
        ] {
            let part = Message {
                raw: &whole.raw[..cut],
                ..whole
            };
            if let Some(prefix) = content(part).stable_prefix(key) {
                assert!(content(whole).starts_with(prefix, key), "{cut}");
                let next = [part.raw, b"\nFrom x\nF"].concat();
                let next = MessageContent::of(Message { raw: &next, ..part }, 99);
                assert!(cut < whole.raw.len() || next.stable_prefix(key) == Some(prefix));
                let other = content(Message::parse(b"A: b\n\nc"));
                assert!(!other.starts_with(prefix, key));
            }
        }
    }
}
