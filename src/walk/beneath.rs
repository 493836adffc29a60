//! Opens what lies beneath a root, and never anything else, whatever happens to the folders on the way meanwhile.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat, openat2};
use rustix::io::Errno;

/// A place in a root: the folder that was named, and the way from it, on which no symbolic link lies.
#[derive(Clone, Debug)]
pub(crate) struct Beneath {
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
        let opened = open(&*self.path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        // Another thread may have been sooner: then its descriptor is the one.
        Ok(self.opened.get_or_init(|| opened))
    }
}

impl Beneath {
    /// The root itself.
    pub(super) fn root(root: &Path) -> Beneath {
        let root = Root { path: root.to_owned(), opened: OnceLock::new() };
        Beneath { root: Arc::new(root), way: PathBuf::from(".") }
    }

    /// What has that name in it.
    pub(super) fn join(&self, name: &Path) -> Beneath {
        Beneath { root: Arc::clone(&self.root), way: self.way.join(name) }
    }

    /// Its whole path.
    pub(super) fn path(&self) -> PathBuf {
        self.root.path.join(&self.way)
    }

    /// Opens it for reading.
    ///
    /// # Errors
    ///
    /// What the system says; `ELOOP` if a link lies on the way by now.
    pub(crate) fn open(&self, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let root = self.root.open()?;
        let opened = match openat2(root, &self.way, flags, Mode::empty(), resolve) {
            // Linux before 5.6, and filters that do not know the call: the last name alone is held to be no link.
            Err(Errno::NOSYS | Errno::PERM) => openat(root, &self.way, flags | OFlags::NOFOLLOW, Mode::empty()),
            opened => opened,
        };
        Ok(opened?)
    }
}
