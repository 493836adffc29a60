//! Hears from the kernel that something changed. Notices only mark work; one that is lost is made up for by a sweep.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{ErrorKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::Event;

/// Watches the spools.
pub(super) struct Notices {
    watcher: Option<RecommendedWatcher>,
    watched: Vec<PathBuf>,
}

/// Notices that did not fit into the queue: they are made up for by a look at everything.
pub(super) type Lost = Arc<AtomicBool>;

impl Notices {
    /// Begins to listen. Without the kernel's help (no inotify, no instance left) everything is polled.
    pub(super) fn new(queue: SyncSender<Event>, lost: Lost) -> Notices {
        let watcher = notify::recommended_watcher(move |notice: notify::Result<notify::Event>| {
            for event in events(notice) {
                if queue.try_send(event).is_err() {
                    lost.store(true, Ordering::Release);
                }
            }
        });
        Notices { watcher: watcher.ok(), watched: Vec::new() }
    }

    /// Watches these folders and files and no others. Gives those of which not all is heard, and why.
    pub(super) fn watch(&mut self, paths: &[PathBuf]) -> Vec<(PathBuf, String)> {
        let Some(watcher) = &mut self.watcher else {
            return paths.iter().map(|path| (path.clone(), "no notices from the kernel".to_owned())).collect();
        };
        for old in std::mem::take(&mut self.watched) {
            // One that went away needs no goodbye.
            let _ = watcher.unwatch(&old);
        }
        let mut failed = Vec::new();
        for path in paths {
            let (place, mode) = placed(path);
            match watcher.watch(place, mode) {
                Ok(()) => {
                    self.watched.push(place.to_owned());
                    if is_elsewhere(place) {
                        let why = "of what other machines and servers change in it the kernel tells nothing";
                        failed.push((path.clone(), why.to_owned()));
                    }
                }
                Err(error) => failed.push((path.clone(), error.to_string())),
            }
        }
        failed
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
    rustix::fs::statfs(place)
        .is_ok_and(|about| u32::try_from(about.f_type).is_ok_and(|number| ELSEWHERE.contains(&number)))
}

/// What is watched for a spool. A file is replaced by renaming another over it, so its folder is, and for one that is not
/// there as well.
pub(super) fn place(path: &Path) -> &Path {
    if path.is_dir() { path } else { path.parent().unwrap_or(path) }
}

/// The same, and whether what lies beneath it is watched, too: of a file's folder nothing else is.
fn placed(path: &Path) -> (&Path, RecursiveMode) {
    let mode = if path.is_dir() { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
    (place(path), mode)
}

fn events(notice: notify::Result<notify::Event>) -> Vec<Event> {
    match notice {
        Ok(notice) if notice.need_rescan() => vec![Event::Overflow],
        Ok(notice) => match notice.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => {
                notice.paths.into_iter().map(Event::Closed).collect()
            }
            EventKind::Access(_) => Vec::new(),
            _ => notice.paths.into_iter().map(Event::Changed).collect(),
        },
        Err(error) => match error.kind {
            ErrorKind::MaxFilesWatch => error.paths.into_iter().map(Event::Unwatched).collect(),
            _ => vec![Event::Overflow],
        },
    }
}
