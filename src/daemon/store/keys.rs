//! Identifiers of mailboxes, messages and files in the state.

use std::path::Path;

use twox_hash::{XxHash3_64, XxHash3_128};

/// A hash of 128 bits: of a mailbox, a spool, or a message within its mailbox.
pub(crate) type Hash128 = u128;

/// Number of a mailbox in the state.
pub(crate) type MailboxId = i64;

/// Bytes of a message's hash that are stored. Among ten million messages, two are taken for one with a chance of 1 in 10^20.
pub(super) const STORED_KEY_BYTES: usize = 14;

/// The stored bytes of a message's hash.
pub(super) type StoredKey = [u8; STORED_KEY_BYTES];

/// The stored bytes of `hash`: its first ones.
pub(super) fn stored_key(hash: Hash128) -> StoredKey {
    let mut bytes = [0; STORED_KEY_BYTES];
    bytes.copy_from_slice(&hash.to_be_bytes()[..STORED_KEY_BYTES]);
    bytes
}

/// Returns the hash of a path.
pub(crate) fn path_key(path: &Path) -> Hash128 {
    XxHash3_128::oneshot(path.as_os_str().as_encoded_bytes())
}

/// Returns the key of a message within a mailbox.
pub(crate) fn message_key(mailbox: Hash128, digest: u128) -> Hash128 {
    let mut hash = XxHash3_128::new();
    hash.write(&mailbox.to_le_bytes());
    hash.write(&digest.to_le_bytes());
    hash.finish_128()
}

/// The first 48 bits of a message's hash: enough to find it among those of its mailbox.
pub(crate) fn message_link(hash: Hash128) -> u64 {
    (hash >> 80) as u64
}

/// Smallest and largest stored key.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyRange {
    pub(super) first: StoredKey,
    pub(super) last: StoredKey,
}

impl KeyRange {
    pub(super) const ALL: KeyRange = KeyRange {
        first: [0; STORED_KEY_BYTES],
        last: [0xFF; STORED_KEY_BYTES],
    };

    /// The keys of messages with this [`message_link`].
    pub(super) fn linked(link: u64) -> KeyRange {
        let first = Hash128::from(link) << 80;
        KeyRange {
            first: stored_key(first),
            last: stored_key(first | (Hash128::MAX >> 48)),
        }
    }
}

/// Identity of a file, also against a later one with its inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileId {
    pub(crate) dev: u64,
    pub(crate) ino: u64,
    /// Nanoseconds since 1970; 0 if the file system does not record the time of birth.
    pub(crate) btime: i64,
}

impl FileId {
    /// A hash of the identity and of a mailbox to which one of the file's names belongs, as [`super::SeenFiles`] lists it.
    pub(crate) fn hash_in(self, mailbox: Hash128) -> u64 {
        self.next_pass(mailbox, 0)
    }

    /// A hash of the identity.
    pub(crate) fn hash(self) -> u64 {
        let numbers = [self.dev, self.ino, self.btime.cast_unsigned()];
        XxHash3_64::oneshot(numbers.map(u64::to_le_bytes).as_flattened())
    }

    /// The pass over an mbox that follows the pass `last`, which is 0 before the first of this file in this mailbox.
    pub(crate) fn next_pass(self, mailbox: Hash128, last: u64) -> u64 {
        // The two halves of the key.
        let (low, high) = (mailbox as u64, (mailbox >> 64) as u64);
        let numbers = [self.hash(), last, low, high];
        XxHash3_64::oneshot(numbers.map(u64::to_le_bytes).as_flattened())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_finds_its_message_and_no_other() {
        for key in [
            0,
            1 << 80,
            (1 << 80) - 1,
            Hash128::MAX,
            0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF,
        ] {
            let range = KeyRange::linked(message_link(key));
            let holds = |key| (range.first..=range.last).contains(&stored_key(key));
            assert!(holds(key), "{key:x}");
            assert!(!holds(key ^ (1 << 80)), "{key:x}");
        }
    }
}
