//! Kernel notifications about changes in a spool. They only mark work; rescans make up for lost
//! ones.

use std::collections::VecDeque;
use std::io::{self, PipeReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::reader::DaemonEvent;
use folder_watches::FolderWatches;
use urlspool_sources::walk;

/// A source of notifications for some of the spools. The kernel queues them (16,384 by default);
/// if more arrive, it reports an overflow.
#[derive(Default)]
pub(crate) struct FsEvents {
    /// `None` before the first watch, and if the kernel offers none (no inotify, or no instance
    /// left).
    watches: Option<FolderWatches>,
    /// Events that were read from the kernel.
    ready: VecDeque<DaemonEvent>,
}

impl FsEvents {
    /// Watches these folders and files as they exist now, and no others. Returns the paths whose
    /// changes will not all be reported, with the reasons.
    pub(crate) fn watch(&mut self, paths: &[PathBuf]) -> Vec<(PathBuf, String)> {
        // The old watches are removed first: there may be no room for both.
        *self = FsEvents::default();
        self.watches = FolderWatches::start().ok();
        let unwatched = |path: &PathBuf| Some((path.clone(), self.add(path, path).err()?));
        paths.iter().filter_map(unwatched).collect()
    }

    /// Returns the next event, if there is one.
    pub(crate) fn next(&mut self) -> Option<DaemonEvent> {
        if self.ready.is_empty()
            && let Some(watches) = &mut self.watches
            && watches.read(&mut self.ready).is_err()
        {
            // No further notification can be read.
            self.watches = None;
            self.ready.push_back(DaemonEvent::Overflow);
        }
        self.ready.pop_front()
    }

    /// Waits for a notification, or until `woken` is readable, at most for `timeout`.
    pub(crate) fn wait(&self, woken: &PipeReader, timeout: Duration) {
        let mut polled = vec![PollFd::new(woken, PollFlags::IN)];
        let watches = self.watches.as_ref();
        polled.extend(watches.map(|watches| PollFd::from_borrowed_fd(watches.fd(), PollFlags::IN)));
        let timeout = Timespec {
            tv_sec: timeout.as_secs().cast_signed(),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        // A signal only ends the wait early.
        let _ = poll(&mut polled, Some(&timeout));
    }

    /// Watches a folder of the spool `root` and all folders in it, or the folder of a file.
    ///
    /// # Errors
    ///
    /// The reason why not all changes will be reported.
    pub(crate) fn add(&mut self, root: &Path, path: &Path) -> Result<(), String> {
        let Some(watches) = &mut self.watches else {
            return Err("the kernel delivers no notifications".to_owned());
        };
        let watched = watched_path(path);
        // Each folder is watched before it is listed, so a new entry is either listed or reported.
        let inside = (watched == path)
            .then(|| walk::list_folders(root, path))
            .into_iter()
            .flatten();
        let itself = (watched != path).then(|| watched.to_owned());
        let mut failure = None;
        for folder in itself.into_iter().chain(inside) {
            match watches.add(&folder) {
                Ok(()) => {}
                // A folder that disappeared needs no watch. The reader checks the roots itself.
                Err(_) if !folder.is_dir() => {}
                // All further folders would fail too.
                Err(error) if error.kind() == io::ErrorKind::StorageFull => {
                    return Err("the limit of watches is reached; raise \
                                fs.inotify.max_user_watches (sysctl)"
                        .to_owned());
                }
                Err(error) => {
                    failure.get_or_insert(error);
                }
            }
        }
        if let Some(error) = failure {
            return Err(error.to_string());
        }
        if is_shared_file_system(watched) {
            let reason = "it is on a shared file system, where the kernel does not report changes \
                          by other machines";
            return Err(reason.to_owned());
        }
        Ok(())
    }
}

/// Returns `true` for a path on a file system that other machines or programs can change without
/// the knowledge of this kernel.
#[cfg(target_os = "linux")]
fn is_shared_file_system(path: &Path) -> bool {
    // Magic numbers of statfs(2): NFS, CIFS, SMB, SMB2, FUSE, 9P, Ceph, AFS (two), Coda, OCFS2,
    // GFS2, Lustre.
    let Ok(
        0x6969 | 0xFF53_4D42 | 0x517B | 0xFE53_4D42 | 0x6573_5546 | 0x0102_1997 | 0x00C3_6400
        | 0x5346_414F | 0x6B41_4653 | 0x7375_7245 | 0x7461_636F | 0x0116_1970 | 0x0BD0_0BD0,
    ) = rustix::fs::statfs(path).map(|info| info.f_type)
    else {
        return false;
    };
    true
}

/// Returns `false`: shared file systems are only known on Linux.
#[cfg(not(target_os = "linux"))]
fn is_shared_file_system(_: &Path) -> bool {
    false
}

/// Returns the path to watch for a spool: a folder itself. A file is replaced by a rename, so its
/// folder is watched. The same applies to a path that does not exist.
pub(crate) fn watched_path(path: &Path) -> &Path {
    let folder = path.is_dir().then_some(path);
    folder.or(path.parent()).unwrap_or(path)
}

/// Watches of folders (inotify(7)).
#[cfg(target_os = "linux")]
mod folder_watches {
    use std::collections::{HashMap, VecDeque};
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::path::{Path, PathBuf};

    use inotify::{EventMask, Inotify, WatchDescriptor, WatchMask};

    use crate::schedule::{DaemonEvent, FileChange};

    /// Bytes of notifications read at once.
    const READ_BYTES: usize = 64 << 10;

    /// The watched folders.
    pub(super) struct FolderWatches {
        inotify: Inotify,
        /// The paths of each watched folder. There are several if a mount shows the folder twice.
        folders: HashMap<WatchDescriptor, Vec<PathBuf>>,
        buffer: Vec<u8>,
    }

    impl FolderWatches {
        /// Creates a source without folders.
        ///
        /// # Errors
        ///
        /// The kernel has no instance left.
        pub(super) fn start() -> io::Result<FolderWatches> {
            Ok(FolderWatches {
                inotify: Inotify::init()?,
                folders: HashMap::new(),
                buffer: vec![0; READ_BYTES],
            })
        }

        /// Watches a folder: its entries and their content. Opens and reads are not reported;
        /// otherwise each file that the daemon reads would be.
        ///
        /// # Errors
        ///
        /// As of `inotify_add_watch(2)`.
        pub(super) fn add(&mut self, folder: &Path) -> io::Result<()> {
            let changes = WatchMask::ATTRIB
                | WatchMask::CREATE
                | WatchMask::DELETE
                | WatchMask::MODIFY
                | WatchMask::CLOSE_WRITE
                | WatchMask::MOVE
                | WatchMask::DELETE_SELF
                | WatchMask::MOVE_SELF;
            let watch = self.inotify.watches().add(folder, changes)?;
            let paths = self.folders.entry(watch).or_default();
            if !paths.iter().any(|path| path == folder) {
                // Those from before a rename refer to no folder.
                paths.retain(|path| path.is_dir());
                paths.push(folder.to_owned());
            }
            Ok(())
        }

        /// Adds the events that arrived since the last call to `ready`.
        ///
        /// # Errors
        ///
        /// The notifications cannot be read.
        pub(super) fn read(&mut self, ready: &mut VecDeque<DaemonEvent>) -> io::Result<()> {
            use io::ErrorKind::{Interrupted, WouldBlock};
            let notifications = match self.inotify.read_events(&mut self.buffer) {
                Err(error) if matches!(error.kind(), Interrupted | WouldBlock) => return Ok(()),
                notifications => notifications?,
            };
            for notification in notifications {
                if notification.mask.contains(EventMask::Q_OVERFLOW) {
                    ready.push_back(DaemonEvent::Overflow);
                } else if notification.mask.contains(EventMask::IGNORED) {
                    self.folders.remove(&notification.wd);
                } else {
                    let change = change_of(notification.mask);
                    for path in self.folders.get(&notification.wd).into_iter().flatten() {
                        let name = notification.name;
                        let path = name.map_or_else(|| path.clone(), |name| path.join(name));
                        ready.push_back(DaemonEvent::Changed(path, change));
                    }
                }
            }
            Ok(())
        }

        /// Is readable while notifications are queued.
        pub(super) fn fd(&self) -> BorrowedFd<'_> {
            self.inotify.as_fd()
        }
    }

    /// Returns what a notification with this mask reveals. A new file is written next, unless it is
    /// a link to one that is complete.
    fn change_of(mask: EventMask) -> FileChange {
        let closed = EventMask::CLOSE_WRITE | EventMask::MOVED_TO | EventMask::CREATE;
        if mask.intersects(closed) {
            FileChange::Closed
        } else if mask.contains(EventMask::MODIFY) {
            FileChange::Written
        } else {
            FileChange::Other
        }
    }
}

/// No watches: the daemon supports them only on Linux. Spools are polled.
#[cfg(not(target_os = "linux"))]
mod folder_watches {
    use std::os::fd::BorrowedFd;

    use super::{DaemonEvent, Path, VecDeque, io};

    /// No value exists.
    pub(super) enum FolderWatches {}

    impl FolderWatches {
        /// Returns an error.
        pub(super) fn start() -> io::Result<FolderWatches> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// Cannot be called.
        pub(super) fn add(&mut self, _: &Path) -> io::Result<()> {
            match *self {}
        }

        /// Cannot be called.
        pub(super) fn read(&mut self, _: &mut VecDeque<DaemonEvent>) -> io::Result<()> {
            match *self {}
        }

        /// Cannot be called.
        pub(super) fn fd(&self) -> BorrowedFd<'_> {
            match *self {}
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_renamed_folder_is_reported_under_its_last_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |number: u32| folder.path().join(number.to_string());
        fs::create_dir(path(0)).unwrap();
        let mut fs_events = FsEvents::default();
        assert_eq!(fs_events.watch(&[path(0)]), []);
        for number in 1..=3 {
            fs::rename(path(number - 1), path(number)).unwrap();
            fs_events.add(folder.path(), &path(number)).unwrap();
        }
        while fs_events.next().is_some() {}
        fs::create_dir(path(3).join("new")).unwrap();
        let events: Vec<_> = std::iter::from_fn(|| fs_events.next()).collect();
        assert!(
            matches!(&*events, [DaemonEvent::Changed(new, _)] if *new == path(3).join("new")),
            "{events:?}"
        );
    }
}
