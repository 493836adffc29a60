//! The list of one folder, ordered by name. The folder is opened beneath its root.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rustix::fs::{AtFlags, Dir, FileType, OFlags, fstat, statat};
use rustix::io::Errno;

use super::rooted_path::{DeviceInode, RootedPath};

pub(super) struct FolderEntry {
    pub(super) name: OsString,
    /// Its type; links are not followed.
    pub(super) file_type: FileType,
}

/// Content of a folder.
pub(super) struct Listing {
    pub(super) folder: OwnedFd,
    /// Its device and inode.
    pub(super) inode: DeviceInode,
    /// Its entries, ordered by name.
    pub(super) entries: Vec<FolderEntry>,
}

impl Listing {
    /// Lists the entries of the folder at `place` whose type is wanted. The folder is opened
    /// beneath its root.
    pub(super) fn of(
        place: &RootedPath,
        is_wanted: impl Fn(FileType) -> bool,
    ) -> io::Result<Listing> {
        let folder = place.open(OFlags::DIRECTORY)?;
        let stat = fstat(&folder)?;
        let mut entries = Vec::new();
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let file_type = match entry.file_type() {
                // Some file systems do not return the type. An entry that has vanished meanwhile is
                // no longer there.
                FileType::Unknown => {
                    match statat(&folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                        Err(Errno::NOENT) => continue,
                        Err(error) => return Err(error.into()),
                    }
                }
                file_type => file_type,
            };
            if is_wanted(file_type) {
                entries.push(FolderEntry {
                    name: OsString::from_vec(name.to_vec()),
                    file_type,
                });
            }
        }
        entries.sort_by(|one, other| one.name.as_bytes().cmp(other.name.as_bytes()));
        Ok(Listing {
            folder,
            inode: DeviceInode::of_stat(&stat),
            entries,
        })
    }
}
