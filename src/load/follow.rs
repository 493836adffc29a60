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
    if folders.is_empty() {
        return Err(LoadError::Unusable(
            "--follow needs a folder of segments, and there is none among the paths".to_owned(),
        ));
    }
    loop {
        thread::sleep(Duration::from_millis(LOAD_FOLLOW_MS));
        for folder in &mut folders {
            match folder.load_new(loader) {
                Err(error @ (LoadError::Unreachable(_) | LoadError::Locked(_))) => {
                    pause(loader, &error);
                }
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
            Err(error @ (LoadError::Unreachable(_) | LoadError::Locked(_))) if is_repeatable => {
                pause(loader, &error);
            }
            result => return result,
        }
    }
}

fn pause(loader: &mut Loader<'_>, error: &LoadError) {
    loader.report.paused(error);
    thread::sleep(Duration::from_millis(LOAD_RETRY_MS));
}

/// A folder of segments.
struct FollowedFolder {
    path: PathBuf,
    /// Segments that were loaded and not yet removed.
    loaded: BTreeSet<PathBuf>,
    /// `true` if it could not be listed the last time, which is reported once.
    has_failed: bool,
}

impl FollowedFolder {
    fn new(path: &Path) -> FollowedFolder {
        FollowedFolder {
            path: path.to_owned(),
            loaded: BTreeSet::new(),
            has_failed: false,
        }
    }

    fn load_new(&mut self, loader: &mut Loader<'_>) -> Result<(), LoadError> {
        let segments = match segments_in(&self.path, |path| !self.loaded.contains(path)) {
            Ok(segments) => segments,
            Err(error) => {
                if !std::mem::replace(&mut self.has_failed, true) {
                    loader.input_failed(&error);
                }
                return Ok(());
            }
        };
        self.has_failed = false;
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
