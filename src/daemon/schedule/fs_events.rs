//! Notifications of the kernel that something changed in a spool. They only mark work; a rescan
//! makes up for lost ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::reader::DaemonEvent;
use crate::walk;

/// Source of notifications for some of the spools.
pub(crate) struct FsEvents {
    queue: SyncSender<DaemonEvent>,
    overflow: OverflowFlag,
    /// `None` before the first watch, and where the kernel offers none (no inotify, no instance
    /// left).
    watcher: Option<RecommendedWatcher>,
}

/// Set when a notification did not fit into the queue. The reader then rescans all spools.
pub(crate) type OverflowFlag = Arc<AtomicBool>;

impl FsEvents {
    /// A source that watches nothing yet and sends its notifications to `queue`.
    pub(crate) fn new(queue: SyncSender<DaemonEvent>, overflow: OverflowFlag) -> FsEvents {
        FsEvents {
            queue,
            overflow,
            watcher: None,
        }
    }

    /// Watches these folders and files as they exist now, and no others. Returns the paths of which
    /// not all changes will be reported, each with the reason.
    pub(crate) fn watch(&mut self, paths: &[PathBuf]) -> Vec<(PathBuf, String)> {
        let (queue, overflow) = (self.queue.clone(), Arc::clone(&self.overflow));
        let send = move |notification: notify::Result<notify::Event>| {
            for event in daemon_events(notification) {
                if queue.try_send(event).is_err() {
                    overflow.store(true, Ordering::Release);
                }
            }
        };
        // The old watcher goes first: there may be no room for two.
        self.watcher = None;
        self.watcher =
            RecommendedWatcher::new(send, notify::Config::default().with_follow_symlinks(false))
                .ok();
        let unwatched = |path: &PathBuf| Some((path.clone(), self.add(path, path).err()?));
        paths.iter().filter_map(unwatched).collect()
    }

    /// Watches a folder of the spool `root` and all folders in it, or the folder of a file.
    ///
    /// # Errors
    ///
    /// The reason for which not all changes will be reported.
    pub(crate) fn add(&mut self, root: &Path, path: &Path) -> Result<(), String> {
        let Some(watcher) = &mut self.watcher else {
            return Err("the kernel delivers no notifications".to_owned());
        };
        let watched = watched_path(path);
        // Not a recursive watch, which would read the metadata of each file to find the folders.
        // Each folder is watched before it is listed, so that a new entry is either listed or
        // reported.
        let inside = (watched == path)
            .then(|| walk::list_folders(root, path))
            .into_iter()
            .flatten();
        let itself = (watched != path).then(|| watched.to_owned());
        let mut failure = None;
        for folder in itself.into_iter().chain(inside) {
            match watcher.watch(&folder, RecursiveMode::NonRecursive) {
                Ok(()) => {}
                // A folder that disappeared needs no watch. The reader checks the roots itself.
                Err(_) if !folder.is_dir() => {}
                // All further folders would fail as well.
                Err(error) if matches!(error.kind, ErrorKind::MaxFilesWatch) => {
                    return Err(refusal(&error));
                }
                Err(error) => {
                    failure.get_or_insert(error);
                }
            }
        }
        if let Some(error) = failure {
            return Err(refusal(&error));
        }
        if is_shared_file_system(watched) {
            let reason = "it is on a shared file system, where the kernel does not report changes \
                          by other machines";
            return Err(reason.to_owned());
        }
        Ok(())
    }
}

/// The reason for which the kernel refused a watch. The text of the error itself names the paths
/// once more.
fn refusal(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::Io(error) => error.to_string(),
        ErrorKind::MaxFilesWatch => {
            "the limit of watches is reached; raise fs.inotify.max_user_watches (sysctl)".to_owned()
        }
        ErrorKind::PathNotFound => "it does not exist".to_owned(),
        ErrorKind::Generic(text) => text.clone(),
        _ => "the kernel refused a watch".to_owned(),
    }
}

/// Returns `true` for a path on a file system that other machines or programs can change without
/// this kernel.
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

/// Returns `false`: which file systems others can change is known on Linux alone.
#[cfg(not(target_os = "linux"))]
fn is_shared_file_system(_: &Path) -> bool {
    false
}

/// Returns the path that is watched for a spool: a folder itself. A file is replaced by renaming
/// another over it, so its folder is watched, also for a path that does not exist.
pub(crate) fn watched_path(path: &Path) -> &Path {
    if path.is_dir() {
        path
    } else {
        path.parent().unwrap_or(path)
    }
}

/// Returns the events of one notification.
fn daemon_events(notification: notify::Result<notify::Event>) -> Vec<DaemonEvent> {
    match notification {
        Ok(notification) if notification.need_rescan() => vec![DaemonEvent::Overflow],
        Ok(notification) => match notification.kind {
            // Writes through a mapping are not reported, but the close after them is.
            EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write) => Vec::new(),
            _ => notification
                .paths
                .into_iter()
                .map(DaemonEvent::Changed)
                .collect(),
        },
        Err(error) => match error.kind {
            ErrorKind::MaxFilesWatch => error
                .paths
                .into_iter()
                .map(DaemonEvent::Unwatched)
                .collect(),
            _ => vec![DaemonEvent::Overflow],
        },
    }
}
