//! Small files that are opened when they are come upon: their folder is open then, so that whoever reads them need not
//! go the way to them once more.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, openat};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Resource, getrlimit};
use rustix::stdio::stderr;

use crate::limits::{BATCH_ROOTS, PREOPENED_FILES, RESERVED_DESCRIPTORS};

/// A file that is open, of which nothing is read yet.
#[derive(Debug)]
pub(crate) struct Ahead(File);

impl Ahead {
    pub(crate) fn file(&self) -> &File {
        &self.0
    }
}

/// How many files may be open ahead of those who read them: those with numbers below `end`. The system gives the lowest
/// number that is free, so that all else that is open counts as well, whoever opened it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    end: RawFd,
}

impl Room {
    /// What the process is allowed by now: half of what it needs for nothing else.
    pub(super) fn new() -> Room {
        let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let half = allowed.saturating_sub(RESERVED_DESCRIPTORS) / 2;
        Room {
            end: RawFd::try_from(half)
                .unwrap_or(RawFd::MAX)
                .min(PREOPENED_FILES),
        }
    }

    /// What the regular file of that name in a folder is, and the file itself if there is room for it. Nothing if it cannot
    /// be had so: it is opened by its whole path then, and what that fails with is said.
    pub(super) fn open(self, folder: &OwnedFd, name: &OsStr) -> Option<(Option<Ahead>, Stat)> {
        if self.end == 0 {
            return None;
        }
        // Without waiting, should it have become a FIFO since the folder was listed.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(folder, name, flags, Mode::empty()).ok()?;
        let stat = fstat(&opened).ok()?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return None;
        }
        let file = (opened.as_raw_fd() < self.end).then(|| Ahead(File::from(opened)));
        Some((file, stat))
    }
}

/// Of how many roots, which are open while their files wait, the files of one batch may be if there are so many batches.
pub(crate) fn max_roots_per_batch(batches: usize) -> usize {
    let room = usize::try_from(Room::new().end).unwrap_or(0);
    (room / batches.max(1)).clamp(1, BATCH_ROOTS)
}

/// Has the system make room for so many at one go, before there are threads: with threads each time that its table of open
/// files grows, it waits for all processors.
pub(crate) fn reserve_descriptors(files: usize) {
    let files = RawFd::try_from(files)
        .unwrap_or(RawFd::MAX)
        .min(Room::new().end);
    // That number is free again at once.
    let _ = fcntl_dupfd_cloexec(stderr(), files);
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
        let room = Room { end: RawFd::MAX };
        let (ahead, stat) = room.open(&opened, OsStr::new("file")).expect("it is there");
        assert_eq!(
            (
                ahead.unwrap().file().metadata().unwrap().len(),
                stat.st_size
            ),
            (5, 5)
        );
        for name in ["folder", "link", "fifo", "none"] {
            assert!(room.open(&opened, OsStr::new(name)).is_none(), "{name}");
        }
        // Standard input, output and errors have the numbers before it.
        let (ahead, stat) = Room { end: 3 }
            .open(&opened, OsStr::new("file"))
            .expect("it is looked at");
        assert!(ahead.is_none() && stat.st_size == 5);
        assert!(Room { end: 0 }.open(&opened, OsStr::new("file")).is_none());
        fs::remove_dir_all(&folder).unwrap();
    }
}
