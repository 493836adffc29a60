//! Opens what lies beneath a root, and never anything else, whatever happens to the folders on the way meanwhile.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat, openat2};
use rustix::io::Errno;

/// A place in a root: the folder that was named, and the way from it, on which no symbolic link lies.
#[derive(Clone, Debug)]
pub(crate) struct RootedPath {
    root: Arc<Root>,
    way: PathBuf,
}

/// A folder that was named. Opened once, when something in it is.
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
        let opened = open(
            &*self.path,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        // Another thread may have been sooner: then its descriptor is the one.
        Ok(self.opened.get_or_init(|| opened))
    }
}

/// The path of a name in a folder. Room is made for both at once: the library makes it for the folder alone, and anew for
/// the name.
pub(super) fn joined(folder: &Path, name: &OsStr) -> PathBuf {
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + 1 + name.len());
    path.push(folder);
    path.push(name);
    path
}

impl RootedPath {
    /// The root itself.
    pub(super) fn root(root: &Path) -> RootedPath {
        let root = Root {
            path: root.to_owned(),
            opened: OnceLock::new(),
        };
        RootedPath {
            root: Arc::new(root),
            way: PathBuf::from("."),
        }
    }

    /// What has that name in it.
    pub(super) fn join(&self, name: &OsStr) -> RootedPath {
        RootedPath {
            root: Arc::clone(&self.root),
            way: joined(&self.way, name),
        }
    }

    /// Whether the other's root is the same, and opened once for both.
    pub(super) fn shares_root(&self, other: &RootedPath) -> bool {
        Arc::ptr_eq(&self.root, &other.root)
    }

    /// Opens it for reading.
    ///
    /// # Errors
    ///
    /// What the system says; `ELOOP` if a link lies on the way by now.
    pub(crate) fn open(&self, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let root = self.root.open()?;
        let opened = match openat2(root, &self.way, flags, Mode::empty(), resolve) {
            // Linux before 5.6, and filters that do not know the call.
            Err(Errno::NOSYS | Errno::PERM) => self.step_by_step(root, flags),
            opened => opened,
        };
        Ok(opened?)
    }

    /// Opens it name by name, none of which may be a link's: what `openat2` does, in a call for each.
    fn step_by_step(&self, root: &OwnedFd, flags: OFlags) -> Result<OwnedFd, Errno> {
        const ON_THE_WAY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
        let mut names = self.way.iter().peekable();
        let mut folder = None;
        while let Some(name) = names.next() {
            if name == ".." {
                return Err(Errno::XDEV);
            }
            let is_last = names.peek().is_none();
            let flags = if is_last { flags } else { ON_THE_WAY };
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::fstat;

    use super::*;

    /// Without `openat2` the same is opened, and the same is not.
    #[test]
    fn step_by_step_leads_where_one_call_does() {
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
        let ways = [
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
        for (way, is_there) in ways {
            let place = root.join(OsStr::new(way));
            let inode = |opened| fstat(opened).unwrap().st_ino;
            let one_call = place.open(OFlags::empty()).map(inode);
            let steps = place
                .step_by_step(root.root.open().unwrap(), OFlags::RDONLY | OFlags::CLOEXEC)
                .map(inode);
            assert_eq!(
                (one_call.is_ok(), steps.is_ok()),
                (is_there, is_there),
                "{way}"
            );
            assert_eq!(one_call.ok(), steps.ok(), "{way}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
