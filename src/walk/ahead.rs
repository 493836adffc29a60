//! Small files that are opened when they are come upon: their folder is open then, so that whoever reads them need not
//! go the way to them once more.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, openat};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Resource, getrlimit};
use rustix::stdio::stderr;

use crate::limits::OPEN_AHEAD;

/// How many there are in the process, whose open files are limited.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// A file that is open. Counted while it is.
#[derive(Debug)]
pub(crate) struct Ahead(File);

impl Ahead {
    /// The regular file of that name in a folder, and what it is. Nothing if it cannot be had so, or if as many are open
    /// as may be: it is opened by its whole path then, and what that fails with is said.
    pub(super) fn open(folder: &OwnedFd, name: &OsStr) -> Option<(Ahead, Stat)> {
        if OPEN.load(Ordering::Relaxed) >= most() {
            return None;
        }
        // Without waiting, should it have become a FIFO since the folder was listed.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(folder, name, flags, Mode::empty()).ok()?;
        let stat = fstat(&opened).ok()?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return None;
        }
        OPEN.fetch_add(1, Ordering::Relaxed);
        Some((Ahead(File::from(opened)), stat))
    }

    /// The file, of which nothing is read yet.
    pub(crate) fn file(&self) -> &File {
        &self.0
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Has the system make room for so many at one go, before there are threads: with threads each time that its table of open
/// files grows, it waits for all processors.
pub(crate) fn make_room(files: usize) {
    let files = i32::try_from(files.min(most())).unwrap_or(i32::MAX);
    // That number is free again at once.
    let _ = fcntl_dupfd_cloexec(stderr(), files);
}

/// How many may be open: half of what the process may open, so that all else finds room.
fn most() -> usize {
    static MOST: LazyLock<usize> = LazyLock::new(|| {
        let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        usize::try_from(allowed / 2).unwrap_or(usize::MAX).min(OPEN_AHEAD)
    });
    *MOST
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, mkfifoat, open};

    use super::*;

    #[test]
    fn regular_files_alone_are_opened() {
        let folder = std::env::temp_dir().join(format!("urlspool-ahead-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("folder")).unwrap();
        fs::write(folder.join("file"), "five.").unwrap();
        symlink("file", folder.join("link")).unwrap();
        mkfifoat(CWD, folder.join("fifo"), Mode::from(0o600)).unwrap();
        let opened = open(&folder, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let (ahead, stat) = Ahead::open(&opened, OsStr::new("file")).expect("it is there");
        assert_eq!((ahead.file().metadata().unwrap().len(), stat.st_size), (5, 5));
        for name in ["folder", "link", "fifo", "none"] {
            assert!(Ahead::open(&opened, OsStr::new(name)).is_none(), "{name}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
