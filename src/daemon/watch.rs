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

    /// Watches these folders and files and no others. Gives those that cannot be, and why.
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
                Ok(()) => self.watched.push(place.to_owned()),
                Err(error) => failed.push((path.clone(), error.to_string())),
            }
        }
        failed
    }
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
