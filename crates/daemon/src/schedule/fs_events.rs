//! Kernel notifications about changes in a spool. They only mark work; rescans make up for lost
//! ones.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;

use super::reader::DaemonEvent;
use folder_watches::FolderWatches;
use urlspool_sources::walk;

/// A source of notifications for some of the spools.
pub(crate) struct FsEvents {
    queue: SyncSender<DaemonEvent>,
    overflow: OverflowFlag,
    /// `None` before the first watch, and if the kernel offers none (no inotify, or no instance
    /// left).
    watches: Option<FolderWatches>,
}

/// Set when a notification did not fit into the queue. The reader then rescans all spools.
pub(crate) type OverflowFlag = Arc<AtomicBool>;

impl FsEvents {
    /// Creates a source without watches that sends its notifications to `queue`.
    pub(crate) fn new(queue: SyncSender<DaemonEvent>, overflow: OverflowFlag) -> FsEvents {
        FsEvents {
            queue,
            overflow,
            watches: None,
        }
    }

    /// Watches these folders and files as they exist now, and no others. Returns the paths whose
    /// changes will not all be reported, with the reasons.
    pub(crate) fn watch(&mut self, paths: &[PathBuf]) -> Vec<(PathBuf, String)> {
        let (queue, overflow) = (self.queue.clone(), Arc::clone(&self.overflow));
        let send = move |event| {
            if queue.try_send(event).is_err() {
                overflow.store(true, Ordering::Release);
            }
        };
        // The old watches are removed first: there may be no room for both.
        self.watches = None;
        self.watches = FolderWatches::start(send).ok();
        let unwatched = |path: &PathBuf| Some((path.clone(), self.add(path, path).err()?));
        paths.iter().filter_map(unwatched).collect()
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
    /// Magic numbers of statfs(2): NFS, CIFS, SMB, SMB2, FUSE, 9P, Ceph, AFS (two), Coda, OCFS2,
    /// GFS2, Lustre.
    const SHARED: [u32; 13] = [
        0x6969,
        0xFF53_4D42,
        0x517B,
        0xFE53_4D42,
        0x6573_5546,
        0x0102_1997,
        0x00C3_6400,
        0x5346_414F,
        0x6B41_4653,
        0x7375_7245,
        0x7461_636F,
        0x0116_1970,
        0x0BD0_0BD0,
    ];
    rustix::fs::statfs(path)
        .is_ok_and(|info| u32::try_from(info.f_type).is_ok_and(|number| SHARED.contains(&number)))
}

/// Returns `false`: shared file systems are only known on Linux.
#[cfg(not(target_os = "linux"))]
fn is_shared_file_system(_: &Path) -> bool {
    false
}

/// Returns the path to watch for a spool: a folder itself. A file is replaced by a rename, so its
/// folder is watched. The same applies to a path that does not exist.
pub(crate) fn watched_path(path: &Path) -> &Path {
    if path.is_dir() {
        path
    } else {
        path.parent().unwrap_or(path)
    }
}

/// Watches of folders (inotify(7)), and the thread that forwards their notifications.
#[cfg(target_os = "linux")]
mod folder_watches {
    use std::collections::HashMap;
    use std::io::{self, PipeReader, PipeWriter};
    use std::path::{Path, PathBuf};
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
    use std::thread::{self, JoinHandle};

    use inotify::{EventMask, Inotify, WatchDescriptor, WatchMask, Watches};
    use rustix::event::{PollFd, PollFlags, poll};

    use crate::schedule::DaemonEvent;

    /// Bytes of notifications read at once.
    const READ_BYTES: usize = 64 << 10;

    /// The watched folders. Notifications end when it is dropped.
    pub(super) struct FolderWatches {
        watches: Watches,
        folders: Folders,
        /// The thread ends when this end of the pipe is closed.
        open: Option<PipeWriter>,
        thread: Option<JoinHandle<()>>,
    }

    /// The paths of each watched folder. There are several if a mount shows the folder twice, or
    /// after a rename; old paths then refer to no file.
    type Folders = Arc<Mutex<HashMap<WatchDescriptor, Vec<PathBuf>>>>;

    impl FolderWatches {
        /// Starts a thread that calls `send` for each change in the folders added later.
        ///
        /// # Errors
        ///
        /// The kernel has no instance left, or the thread cannot be started.
        pub(super) fn start(
            send: impl Fn(DaemonEvent) + Send + 'static,
        ) -> io::Result<FolderWatches> {
            let inotify = Inotify::init()?;
            let watches = inotify.watches();
            let folders = Folders::default();
            let (closed, open) = io::pipe()?;
            let known = Arc::clone(&folders);
            let thread = thread::Builder::new()
                .name("notifications".to_owned())
                .spawn(move || pass_on(inotify, &known, &closed, &send))?;
            Ok(FolderWatches {
                watches,
                folders,
                open: Some(open),
                thread: Some(thread),
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
            // Locked before the thread can see a notification of this watch.
            let mut folders = lock(&self.folders);
            let paths = folders
                .entry(self.watches.add(folder, changes)?)
                .or_default();
            if !paths.iter().any(|path| path == folder) {
                paths.push(folder.to_owned());
            }
            Ok(())
        }
    }

    impl Drop for FolderWatches {
        /// Waits until the kernel's instance is free: there may be no other.
        fn drop(&mut self) {
            self.open = None;
            if let Some(thread) = self.thread.take() {
                let _ = thread.join();
            }
        }
    }

    fn lock(folders: &Folders) -> MutexGuard<'_, HashMap<WatchDescriptor, Vec<PathBuf>>> {
        folders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forwards notifications until the other end of the pipe is closed, or a read fails.
    fn pass_on(
        mut inotify: Inotify,
        folders: &Folders,
        closed: &PipeReader,
        send: &dyn Fn(DaemonEvent),
    ) {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let mut ready = [
                PollFd::new(&inotify, PollFlags::IN),
                PollFd::new(closed, PollFlags::IN),
            ];
            match poll(&mut ready, None) {
                Ok(_) if ready[1].revents().is_empty() => {}
                Err(rustix::io::Errno::INTR) => continue,
                _ => return,
            }
            let notifications = match inotify.read_events(&mut buffer) {
                Ok(notifications) => notifications,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(_) => return send(DaemonEvent::Overflow),
            };
            for notification in notifications {
                if notification.mask.contains(EventMask::Q_OVERFLOW) {
                    send(DaemonEvent::Overflow);
                    continue;
                }
                let mut folders = lock(folders);
                if notification.mask.contains(EventMask::IGNORED) {
                    folders.remove(&notification.wd);
                    continue;
                }
                for path in folders.get(&notification.wd).into_iter().flatten() {
                    send(DaemonEvent::Changed(match notification.name {
                        Some(name) => path.join(name),
                        None => path.clone(),
                    }));
                }
            }
        }
    }
}

/// No watches: the daemon supports them only on Linux. Spools are polled.
#[cfg(not(target_os = "linux"))]
mod folder_watches {
    use std::io;
    use std::path::Path;

    use crate::schedule::DaemonEvent;

    /// No value exists.
    pub(super) enum FolderWatches {}

    impl FolderWatches {
        /// Returns an error.
        pub(super) fn start(_: impl Fn(DaemonEvent) + Send + 'static) -> io::Result<FolderWatches> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// Cannot be called.
        pub(super) fn add(&mut self, _: &Path) -> io::Result<()> {
            match *self {}
        }
    }
}
