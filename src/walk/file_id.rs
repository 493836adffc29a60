//! Identity of a file: two names with the same identity name one file.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

use rustix::fs::Stat;

/// The device and inode of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceInode {
    device: u64,
    inode: u64,
}

impl DeviceInode {
    /// Returns the identity of the file that has this metadata.
    #[must_use]
    pub fn of(metadata: &Metadata) -> DeviceInode {
        DeviceInode {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }

    /// Returns the identity of the file that has this status.
    pub(crate) fn of_stat(stat: &Stat) -> DeviceInode {
        DeviceInode {
            device: stat.st_dev,
            inode: stat.st_ino,
        }
    }
}
