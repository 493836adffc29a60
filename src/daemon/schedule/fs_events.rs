//! Hears from the kernel that something changed. FsEvents only mark work; one that is lost is made up for by a sweep.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher};

use crate::daemon::host::DaemonEvent;
use crate::walk;

/// Watches the spools.
pub(crate) struct FsEvents {
    queue: SyncSender<DaemonEvent>,
    lost: Lost,
    /// None until something is watched, and without the kernel's help (no inotify, no instance left).
    watcher: Option<RecommendedWatcher>,
}

/// FsEvents that did not fit into the queue: they are made up for by a look at everything.
pub(crate) type Lost = Arc<AtomicBool>;

impl FsEvents {
    /// Watches nothing yet. What is noticed goes into the queue.
    pub(crate) fn new(queue: SyncSender<DaemonEvent>, lost: Lost) -> FsEvents {
        FsEvents {
            queue,
            lost,
            watcher: None,
        }
    }

    /// Watches these folders and files, as they stand there now, and no others. Gives those of which not all is heard, and
    /// why.
    pub(crate) fn watch(&mut self, paths: &[PathBuf]) -> Vec<(PathBuf, String)> {
        let (queue, lost) = (self.queue.clone(), Arc::clone(&self.lost));
        let hear = move |notice: notify::Result<notify::Event>| {
            for event in events(notice) {
                if queue.try_send(event).is_err() {
                    lost.store(true, Ordering::Release);
                }
            }
        };
        // The old one goes first: there may be no room for two.
        self.watcher = None;
        self.watcher =
            RecommendedWatcher::new(hear, notify::Config::default().with_follow_symlinks(false))
                .ok();
        let heard = |path: &PathBuf| self.add(path, path).map_err(|why| (path.clone(), why));
        paths.iter().map(heard).filter_map(Result::err).collect()
    }

    /// Watches a folder of the spool `root` and all folders in it, or the folder of a file. Says why not, or why that is
    /// not enough.
    pub(crate) fn add(&mut self, root: &Path, path: &Path) -> Result<(), String> {
        let Some(watcher) = &mut self.watcher else {
            return Err("no notices from the kernel".to_owned());
        };
        let place = place(path);
        // The watcher would look at each file to find the folders. Each is watched before it is listed: what comes into it
        // is listed or heard of.
        let inside = (place == path)
            .then(|| walk::list_folders(root, path))
            .into_iter()
            .flatten();
        let itself = (place != path).then(|| place.to_owned());
        let mut trouble = None;
        for folder in itself.into_iter().chain(inside) {
            match watcher.watch(&folder, RecursiveMode::NonRecursive) {
                Ok(()) => {}
                // What went meanwhile needs no watching. That a root did is seen otherwise.
                Err(_) if !folder.is_dir() => {}
                // All others would fail likewise.
                Err(error) if matches!(error.kind, ErrorKind::MaxFilesWatch) => {
                    return Err(error.to_string());
                }
                Err(error) => {
                    trouble.get_or_insert_with(|| error.to_string());
                }
            }
        }
        if let Some(why) = trouble {
            return Err(why);
        }
        if is_elsewhere(place) {
            return Err(
                "of what other machines and servers change in it the kernel tells nothing"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

/// Whether a place is on a file system that others change, too, without this kernel: of a network, a cluster, a program.
fn is_elsewhere(place: &Path) -> bool {
    /// The numbers of statfs(2): NFS, CIFS, SMB, SMB2, FUSE, 9P, Ceph, AFS (two), Coda, OCFS2, GFS2, Lustre.
    const ELSEWHERE: [u32; 13] = [
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
    rustix::fs::statfs(place).is_ok_and(|about| {
        u32::try_from(about.f_type).is_ok_and(|number| ELSEWHERE.contains(&number))
    })
}

/// What is watched for a spool. A file is replaced by renaming another over it, so its folder is, and for one that is not
/// there as well.
pub(crate) fn place(path: &Path) -> &Path {
    if path.is_dir() {
        path
    } else {
        path.parent().unwrap_or(path)
    }
}

fn events(notice: notify::Result<notify::Event>) -> Vec<DaemonEvent> {
    match notice {
        Ok(notice) if notice.need_rescan() => vec![DaemonEvent::Overflow],
        Ok(notice) => match notice.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => {
                notice.paths.into_iter().map(DaemonEvent::Closed).collect()
            }
            EventKind::Access(_) => Vec::new(),
            _ => notice.paths.into_iter().map(DaemonEvent::Changed).collect(),
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
