//! Following folders of segments: each segment is loaded when it is sealed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::error::LoadError;
use super::input::segments_in;
use super::loader::Loader;
use crate::limits::{LOAD_FOLLOW_MS, LOAD_RETRY_MS};
use crate::walk::DeviceInode;

/// Loads the segments that appear in the folders among `arguments`, until an error ends the load. Waits while the target cannot
/// be reached, and while another loader holds it.
pub(super) fn follow(loader: &mut Loader<'_>, arguments: &[PathBuf]) -> Result<(), LoadError> {
    let mut folders: Vec<_> = arguments
        .iter()
        .filter(|path| path.is_dir())
        .map(|path| FollowedFolder::new(path))
        .collect();
    if folders.is_empty() {
        return Err(LoadError::unusable(
            "--follow needs a folder of segments, and there is none among the paths",
        ));
    }
    loop {
        thread::sleep(Duration::from_millis(LOAD_FOLLOW_MS));
        for folder in &mut folders {
            match folder.load_new(loader) {
                Err(error) if error.is_temporary() => pause(loader, &error),
                result => result?,
            }
        }
    }
}

/// Loads the inputs. Waits while the target cannot be reached, unless an input is standard input, which is read once.
pub(super) fn load_patiently(
    loader: &mut Loader<'_>,
    arguments: &[PathBuf],
) -> Result<(), LoadError> {
    let is_repeatable = !arguments.iter().any(|path| path == Path::new("-"));
    loop {
        match loader.load_all(arguments) {
            Err(error) if is_repeatable && error.is_temporary() => pause(loader, &error),
            result => return result,
        }
    }
}

fn pause(loader: &mut Loader<'_>, error: &LoadError) {
    loader.report.borrow_mut().paused(error);
    thread::sleep(Duration::from_millis(LOAD_RETRY_MS));
}

/// Values by which a segment is recognized without reading it.
#[derive(Debug, PartialEq, Eq)]
struct SegmentVersion {
    file: DeviceInode,
    /// Seconds and nanoseconds since 1970.
    modified: (i64, i64),
    len: u64,
}

impl SegmentVersion {
    fn of(path: &Path) -> io::Result<SegmentVersion> {
        let metadata = fs::metadata(path)?;
        Ok(SegmentVersion {
            file: DeviceInode::of(&metadata),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            len: metadata.len(),
        })
    }
}

/// A folder of segments.
struct FollowedFolder {
    path: PathBuf,
    /// Segments that were loaded and not yet removed. One that another instance writes under the same name is another file.
    loaded: BTreeMap<PathBuf, SegmentVersion>,
    /// `true` if it could not be listed the last time, which is reported once.
    has_failed: bool,
}

impl FollowedFolder {
    fn new(path: &Path) -> FollowedFolder {
        FollowedFolder {
            path: path.to_owned(),
            loaded: BTreeMap::new(),
            has_failed: false,
        }
    }

    fn load_new(&mut self, loader: &mut Loader<'_>) -> Result<(), LoadError> {
        let mut listed = BTreeMap::new();
        let is_new = |path: &Path| {
            let Ok(version) = SegmentVersion::of(path) else {
                return false;
            };
            let is_new = self.loaded.get(path) != Some(&version);
            listed.insert(path.to_owned(), version);
            is_new
        };
        let segments = match segments_in(&self.path, is_new) {
            Ok(segments) => segments,
            Err(error) => {
                if !std::mem::replace(&mut self.has_failed, true) {
                    loader.failed(&error);
                }
                return Ok(());
            }
        };
        self.has_failed = false;
        let new: BTreeSet<_> = segments
            .iter()
            .map(|segment| segment.path.clone())
            .collect();
        if !segments.is_empty() {
            loader.load_segments(segments)?;
        }
        // Those without a sidecar are not loaded, and those that are not listed are gone.
        listed.retain(|path, version| new.contains(path) || self.loaded.get(path) == Some(version));
        self.loaded = listed;
        Ok(())
    }
}
