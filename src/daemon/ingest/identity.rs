//! Is this the same file as before, the same mailbox, the same message?
//!
//! Names and inodes only save work. A message is told by its content within its mailbox.

use std::fs::Metadata;
use std::hash::Hasher;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use twox_hash::{XxHash3_64, XxHash3_128};

use crate::config::DedupeScope;
use crate::daemon::store::{FileId, Hash128};
use crate::decode::{HeaderFields, canonical};
use crate::origin::{FormatHint, SourceKind};
use crate::split::Message;

/// A file as it was when it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion {
    pub(crate) id: FileId,
    pub(crate) size: u64,
    /// Nanoseconds since 1970.
    pub(crate) mtime: i64,
}

impl FileVersion {
    /// The stamp of a file.
    pub(crate) fn of(metadata: &Metadata) -> FileVersion {
        let born = metadata
            .created()
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let btime = born
            .and_then(|time| i64::try_from(time.as_nanos()).ok())
            .unwrap_or(0);
        FileVersion {
            id: FileId {
                dev: metadata.dev(),
                ino: metadata.ino(),
                btime,
            },
            size: metadata.len(),
            mtime: metadata
                .mtime()
                .wrapping_mul(1_000_000_000)
                .wrapping_add(metadata.mtime_nsec()),
        }
    }

    /// What tells a file that was read whole from all others, and from itself once it has changed.
    ///
    /// Of a numbered file the folder counts and the name does not: it is renumbered. In a Maildir the base name is the
    /// message, so that flags can change and nothing need be read again.
    pub(crate) fn known(&self, path: &Path, hint: FormatHint) -> u64 {
        let up = |levels: usize| {
            path.ancestors()
                .nth(levels)
                .unwrap_or(path)
                .as_os_str()
                .as_bytes()
                .to_owned()
        };
        let mut hash = XxHash3_64::new();
        hash.write(&self.size.to_le_bytes());
        if hint == FormatHint::Maildir {
            hash.write(&up(2));
            hash.write(b"/");
            hash.write(base_name(path));
            return hash.finish();
        }
        hash.write(&if hint == FormatHint::Numbered {
            up(1)
        } else {
            unrotated(path).into_os_string().into_vec()
        });
        let FileId { dev, ino, btime } = self.id;
        for number in [dev, ino, btime.cast_unsigned(), self.mtime.cast_unsigned()] {
            hash.write(&number.to_le_bytes());
        }
        hash.finish()
    }
}

/// A Maildir message's name without its flags, and without what readers and servers add before them.
fn base_name(path: &Path) -> &[u8] {
    let name = path.file_name().map_or(&b""[..], OsStrExt::as_bytes);
    let end = name
        .iter()
        .position(|&byte| matches!(byte, b':' | b';'))
        .unwrap_or(name.len());
    let name = &name[..end];
    let added = [&b",S="[..], b",W=", b",U=", b",FMD5="];
    let end = added
        .iter()
        .filter_map(|mark| memchr::memmem::find(name, mark))
        .min();
    &name[..end.unwrap_or(name.len())]
}

/// Where a message is given once, in 16 bytes.
pub(crate) fn mailbox(path: &Path, kind: SourceKind, spool: &Path, dedupe: DedupeScope) -> Hash128 {
    let up = |levels: usize| path.ancestors().nth(levels).unwrap_or(path);
    let place = match (dedupe, kind) {
        // An article is one, however many groups it stands in.
        (DedupeScope::Spool, _) | (_, SourceKind::News) => spool.to_owned(),
        (_, SourceKind::Maildir) => up(2).to_owned(),
        (_, SourceKind::Mh) => up(1).to_owned(),
        _ => unrotated(path),
    };
    self::place(&place)
}

/// Whether files of two spools can be of one mailbox: a file and its rotations, the folders of a Maildir.
pub(crate) fn can_share(one: &Path, other: &Path) -> bool {
    let of_maildir = |path: &Path| {
        path.file_name()
            .is_some_and(|name| name == "new" || name == "cur")
    };
    unrotated(one) == unrotated(other)
        || one.parent() == other.parent() && of_maildir(one) && of_maildir(other)
}

/// A place in the tree, in 16 bytes.
pub(crate) fn place(path: &Path) -> Hash128 {
    XxHash3_128::oneshot(path.as_os_str().as_bytes())
}

/// A path without what rotation and compression add to it: `.1`, `-20260101`, `.gz`.
fn unrotated(path: &Path) -> PathBuf {
    let name = path.file_name().map_or(&b""[..], OsStrExt::as_bytes);
    let mut left = name;
    while let Some(shorter) = without_suffix(left).filter(|shorter| !shorter.is_empty()) {
        left = shorter;
    }
    path.with_file_name(std::ffi::OsStr::from_bytes(left))
}

fn without_suffix(name: &[u8]) -> Option<&[u8]> {
    const COMPRESSED: [&[u8]; 6] = [b".gz", b".bz2", b".xz", b".zst", b".lz4", b".Z"];
    /// Rotations that a number counts have at most so many digits; a date has eight, and perhaps a time.
    const COUNTED: usize = 3;
    if let Some(shorter) = COMPRESSED.iter().find_map(|end| name.strip_suffix(*end)) {
        return Some(shorter);
    }
    let digits = name
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let (before, _) = name.split_at(name.len() - digits);
    match before.split_last() {
        Some((b'.', rest)) if (1..=COUNTED).contains(&digits) => Some(rest),
        Some((b'.' | b'-', rest)) if matches!(digits, 8 | 10 | 14) => Some(rest),
        _ => None,
    }
}

/// A message within a mailbox.
pub(crate) fn message_key(mailbox: Hash128, digest: u128) -> Hash128 {
    let mut hash = XxHash3_128::new();
    hash.write(&mailbox.to_le_bytes());
    hash.write(&digest.to_le_bytes());
    hash.finish_128()
}

/// What makes a message itself, all of it, and `within` which larger message it is a piece of, and where.
pub(crate) fn whole_digest(
    message: &Message<'_>,
    fields: &HeaderFields,
    within: Option<(u128, u64)>,
) -> u128 {
    let mut hash = XxHash3_128::new();
    if let Some((first, offset)) = within {
        hash.write(&first.to_le_bytes());
        hash.write(&offset.to_le_bytes());
    }
    canonical(message, fields, usize::MAX, &mut |octets| {
        hash.write(octets)
    });
    hash.finish_128()
}

/// What a message begins with: bytes of it that cannot change when it grows at its end, and their hash.
///
/// A line that is not ended may go on otherwise, so it does not count, and neither do line ends at the end, nor a last
/// `From ` line: with the next line it may turn out to be the next message's.
pub(crate) fn beginning(message: &Message<'_>, header_bytes: usize) -> Option<(u64, u128)> {
    let mut end = memchr::memrchr(b'\n', message.raw)? + 1;
    let last_line = memchr::memrchr(b'\n', &message.raw[..end - 1]).map_or(0, |at| at + 1);
    if message.raw[last_line..].starts_with(b"From ") {
        end = last_line;
    }
    let cut = Message {
        raw: &message.raw[..end],
        ..*message
    };
    let mut octets = Vec::new();
    canonical(
        &cut,
        &HeaderFields::in_message(&cut, header_bytes),
        usize::MAX,
        &mut |piece| octets.extend_from_slice(piece),
    );
    let len = octets.iter().rposition(|&byte| byte != b'\n')? + 1;
    Some((len as u64, XxHash3_128::oneshot(&octets[..len])))
}

/// Whether a message begins with `len` bytes of that hash.
pub(crate) fn begins_with(
    message: &Message<'_>,
    fields: &HeaderFields,
    len: u64,
    expected: u128,
) -> bool {
    let mut hash = XxHash3_128::new();
    let mut room = len as usize;
    canonical(message, fields, usize::MAX, &mut |octets| {
        let octets = &octets[..octets.len().min(room)];
        hash.write(octets);
        room -= octets.len();
    });
    room == 0 && hash.finish_128() == expected
}

/// The hash that guards bytes of a file. Of very many, the first and the last.
pub(crate) fn guard(octets: &[u8]) -> u64 {
    const END_BYTES: usize = 64 << 10;
    if octets.len() <= 2 * END_BYTES {
        return XxHash3_64::oneshot(octets);
    }
    let mut hash = XxHash3_64::new();
    hash.write(&octets[..END_BYTES]);
    hash.write(&octets[octets.len() - END_BYTES..]);
    hash.write(&octets.len().to_le_bytes());
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotation_does_not_make_another_mailbox() {
        let of = |name: &str| unrotated(Path::new(name)).display().to_string();
        for name in [
            "inbox",
            "inbox.1",
            "inbox.2.gz",
            "inbox-20260101",
            "inbox-20260101.zst",
            "inbox.1.1",
        ] {
            assert_eq!(of(&format!("/m/{name}")), "/m/inbox", "{name}");
        }
        for name in [
            "/m/12",
            "/m/.1",
            "/m/rfc1738.txt",
            "/m/list-2",
            "/m/2024-01",
        ] {
            assert_eq!(of(name), name);
        }
    }

    #[test]
    fn flags_and_sizes_are_no_part_of_a_maildir_name() {
        for name in [
            "1.M2.h",
            "1.M2.h:2,S",
            "1.M2.h,S=12,W=13:2,RS",
            "1.M2.h,U=7:2,",
            "1.M2.h;2,S",
        ] {
            assert_eq!(
                base_name(&Path::new("/m/cur").join(name)),
                b"1.M2.h",
                "{name}"
            );
        }
    }

    #[test]
    fn a_message_that_grows_begins_as_it_did() {
        let whole = Message {
            kind: SourceKind::Mbox,
            ..Message::alone(b"Subject: a\nStatus: O\nTo: b\n\nx http://a/\ny\n")
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
            if let Some((len, hash)) = beginning(&part, usize::MAX) {
                assert!(
                    begins_with(
                        &whole,
                        &HeaderFields::in_message(&whole, usize::MAX),
                        len,
                        hash
                    ),
                    "{cut}"
                );
                let next = [part.raw, b"\nFrom x\nF"].concat();
                assert!(
                    cut < whole.raw.len()
                        || beginning(&Message { raw: &next, ..part }, 99) == Some((len, hash))
                );
                assert!(!begins_with(
                    &Message::alone(b"A: b\n\nc"),
                    &HeaderFields::default(),
                    len,
                    hash
                ));
            }
        }
    }
}
