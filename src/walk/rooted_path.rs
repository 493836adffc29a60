//! Opens paths beneath a root, and never anything else, even if folders on the path are replaced
//! meanwhile. Two names with the same identity name one file.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{Mode, OFlags, Stat, open, openat};
#[cfg(target_os = "linux")]
use rustix::fs::{ResolveFlags, openat2};
use rustix::io::Errno;

/// Flags to open a folder in which something else is opened. Other systems than Linux must be allowed to read it.
#[cfg(target_os = "linux")]
const FOLDER_FLAGS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FOLDER_FLAGS: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// Path beneath a root, opened without symbolic links.
#[derive(Clone, Debug)]
pub(crate) struct RootedPath {
    root: Arc<Root>,
    relative: PathBuf,
}

/// Root folder, opened once, when the first path beneath it is.
#[derive(Debug)]
struct Root {
    path: PathBuf,
    opened: OnceLock<OwnedFd>,
}

impl Root {
    fn open(&self) -> io::Result<&OwnedFd> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let opened = open(&*self.path, FOLDER_FLAGS, Mode::empty())?;
        // Another thread may have been faster: its descriptor is then used.
        Ok(self.opened.get_or_init(|| opened))
    }
}

/// Joins the path of a folder and a name with one allocation; `Path::join` makes two.
pub(super) fn joined(folder: &Path, name: &OsStr) -> PathBuf {
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + 1 + name.len());
    path.push(folder);
    path.push(name);
    path
}

impl RootedPath {
    /// Creates the path of the root itself.
    pub(super) fn root(root: &Path) -> RootedPath {
        let root = Root {
            path: root.to_owned(),
            opened: OnceLock::new(),
        };
        RootedPath {
            root: Arc::new(root),
            relative: PathBuf::from("."),
        }
    }

    /// Returns the path of `name` in this folder.
    pub(super) fn join(&self, name: &OsStr) -> RootedPath {
        RootedPath {
            root: Arc::clone(&self.root),
            relative: joined(&self.relative, name),
        }
    }

    /// Returns `true` if both share one root, which is opened once for both.
    pub(super) fn shares_root(&self, other: &RootedPath) -> bool {
        Arc::ptr_eq(&self.root, &other.root)
    }

    /// Opens the path for reading.
    ///
    /// # Errors
    ///
    /// The error of the system; `ELOOP` if the path contains a link by now.
    pub(crate) fn open(&self, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC;
        Ok(self.open_beneath(self.root.open()?, flags)?)
    }

    #[cfg(target_os = "linux")]
    fn open_beneath(&self, root: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(root, &self.relative, flags, Mode::empty(), resolve) {
            // Linux before 5.6, and seccomp filters that do not know the call.
            Err(Errno::NOSYS | Errno::PERM) => self.step_by_step(root, flags),
            opened => opened,
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_beneath(&self, root: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
        self.step_by_step(root, flags)
    }

    /// Opens the path component by component, none of which may be a link: as `openat2` does, with
    /// one call for each.
    fn step_by_step(&self, root: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
        let mut names = self.relative.iter().peekable();
        let mut folder = None;
        while let Some(name) = names.next() {
            if name == ".." {
                return Err(Errno::XDEV);
            }
            let is_last = names.peek().is_none();
            let flags = if is_last { flags } else { FOLDER_FLAGS };
            let opened = openat(
                folder.as_ref().unwrap_or(root),
                name,
                flags | OFlags::NOFOLLOW,
                Mode::empty(),
            )?;
            if is_last {
                return Ok(opened);
            }
            folder = Some(opened);
        }
        Err(Errno::NOENT)
    }
}

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
            #[cfg(target_os = "linux")]
            device: stat.st_dev,
            // As std converts it.
            #[cfg(not(target_os = "linux"))]
            device: stat.st_dev as u64,
            inode: stat.st_ino,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::fstat;

    use super::*;

    #[test]
    fn step_by_step_opens_what_openat2_opens() {
        let folder = std::env::temp_dir().join(format!("urlspool-beneath-{}", std::process::id()));
        fs::create_dir_all(folder.join("root/a/b")).unwrap();
        fs::create_dir_all(folder.join("outside")).unwrap();
        for file in ["root/file", "root/a/b/file", "outside/file"] {
            fs::write(folder.join(file), file).unwrap();
        }
        for (target, link) in [
            ("a", "inside"),
            ("../outside", "out"),
            ("file", "link"),
            ("a/b/file", "far"),
        ] {
            symlink(target, folder.join("root").join(link)).unwrap();
        }
        let root = RootedPath::root(&folder.join("root"));
        let paths = [
            ("", true),
            ("file", true),
            ("a", true),
            ("a/b", true),
            ("a/b/file", true),
            ("none", false),
            ("file/file", false),
            ("inside/b/file", false),
            ("out", false),
            ("out/file", false),
            ("link", false),
            ("far", false),
            ("../outside/file", false),
            ("a/../../outside/file", false),
        ];
        for (path, exists) in paths {
            let place = root.join(OsStr::new(path));
            let inode = |opened| fstat(opened).unwrap().st_ino;
            let one_call = place.open(OFlags::empty()).map(inode);
            let steps = place
                .step_by_step(root.root.open().unwrap(), OFlags::RDONLY | OFlags::CLOEXEC)
                .map(inode);
            assert_eq!(
                (one_call.is_ok(), steps.is_ok()),
                (exists, exists),
                "{path}"
            );
            assert_eq!(one_call.ok(), steps.ok(), "{path}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
