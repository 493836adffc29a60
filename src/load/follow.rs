//! Following folders of segments: each segment is loaded when it is sealed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::error::LoadError;
use super::input::segments_in;
use super::loader::Loader;
use crate::limits::{LOAD_FOLLOW_MS, LOAD_RETRY_MS};

/// Loads the segments that appear in the folders among `arguments`, until an error ends the load. Waits while the target cannot
/// be reached, and while another loader holds it.
pub(super) fn follow(loader: &mut Loader<'_>, arguments: &[PathBuf]) -> Result<(), LoadError> {
    let mut folders: Vec<_> = arguments
        .iter()
        .filter(|path| path.is_dir())
        .map(|path| FollowedFolder::new(path))
        .collect();
    loop {
        thread::sleep(Duration::from_millis(LOAD_FOLLOW_MS));
        for folder in &mut folders {
            match folder.load_new(loader) {
                Err(error @ (LoadError::Unreachable(_) | LoadError::Locked(_))) => {
                    loader.report.paused(&error);
                    thread::sleep(Duration::from_millis(LOAD_RETRY_MS));
                }
                result => result?,
            }
        }
    }
}

/// A folder of segments.
struct FollowedFolder {
    path: PathBuf,
    /// Segments that were loaded and not yet removed.
    loaded: BTreeSet<PathBuf>,
}

impl FollowedFolder {
    fn new(path: &Path) -> FollowedFolder {
        FollowedFolder {
            path: path.to_owned(),
            loaded: BTreeSet::new(),
        }
    }

    fn load_new(&mut self, loader: &mut Loader<'_>) -> Result<(), LoadError> {
        let segments = match segments_in(&self.path, |path| !self.loaded.contains(path)) {
            Ok(segments) => segments,
            Err(error) => {
                loader.input_failed(&error);
                return Ok(());
            }
        };
        if segments.is_empty() {
            return Ok(());
        }
        let paths: Vec<_> = segments
            .iter()
            .map(|segment| segment.path.clone())
            .collect();
        loader.load_segments(segments)?;
        self.loaded.extend(paths);
        self.loaded.retain(|path| path.exists());
        Ok(())
    }
}
