//! The files and folders of state and output.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::daemon::error::DaemonError;
use crate::sink::segment::{self, SegmentDir};

/// The files and folders of the state.
pub(super) struct StatePaths {
    pub(super) db: PathBuf,
    /// Holds the name of the state that wrote the output.
    pub(super) instance: PathBuf,
    /// Folder of the sidecars' copies.
    pub(super) sidecars: PathBuf,
    /// Reserved space, for closing a segment on a full disk.
    pub(super) reserve: PathBuf,
}

impl StatePaths {
    pub(super) fn new(config: &Config) -> StatePaths {
        let dir = &config.state.dir;
        StatePaths {
            db: dir.join("state.db"),
            instance: dir.join("instance"),
            sidecars: dir.join("sidecars"),
            reserve: dir.join("reserve"),
        }
    }

    /// The copy of the sidecar of segment `seq`.
    pub(super) fn sidecar(&self, seq: u64) -> PathBuf {
        self.sidecars.join(meta_name(seq))
    }

    /// Number of the newest sidecar copy; 0 if there is none.
    pub(super) fn highest_sidecar(&self) -> Result<u64, DaemonError> {
        let entries = fs::read_dir(&self.sidecars)
            .map_err(|error| DaemonError::from_io(&self.sidecars, error))?;
        Ok(entries
            .flatten()
            .filter_map(|entry| segment::number(&entry.file_name()))
            .max()
            .unwrap_or(0))
    }
}

/// Name of the sidecar of segment `seq`.
pub(super) fn meta_name(seq: u64) -> String {
    format!("{seq:010}.meta")
}

/// Creates the folders of state and output that do not exist.
pub(super) fn create_folders(
    config: &Config,
    paths: &StatePaths,
) -> Result<SegmentDir, DaemonError> {
    let io_error = |path: &Path| {
        let path = path.to_owned();
        move |error| DaemonError::from_io(&path, error)
    };
    fs::create_dir_all(&paths.sidecars).map_err(io_error(&paths.sidecars))?;
    segment::sync_dir(&config.state.dir).map_err(io_error(&config.state.dir))?;
    SegmentDir::create(&config.output.dir).map_err(io_error(&config.output.dir))
}
