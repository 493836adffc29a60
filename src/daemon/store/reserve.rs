//! Disk space: a reserve for closing a segment on a full disk, and probes before work resumes.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};

use super::state_paths::StatePaths;
use crate::config::Config;
use crate::daemon::error::DaemonError;

/// Bytes that are reserved, so that a segment can be closed when the disk is full.
const RESERVE_BYTES: u64 = 4 << 20;

/// Bytes that must be free for output before work resumes.
const PROBE_BYTES: u64 = 1 << 20;

/// Reserves space, on file systems that can.
pub(super) fn reserve_space(path: &Path) -> Result<(), DaemonError> {
    let io_error = |error| DaemonError::from_io(path, error);
    let file = open_or_create(path).map_err(io_error)?;
    match allocate(&file, RESERVE_BYTES) {
        Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::FBIG) => Ok(()),
        Err(error) => Err(io_error(error.into())),
    }
}

/// Frees the reserved space.
pub(super) fn release_reserve(config: &Config) {
    // It may have been freed before.
    let _ = fs::remove_file(StatePaths::new(config).reserve);
}

/// Returns `true` if state and output have space again: the state more than the reserve that was just freed.
pub(super) fn has_space(config: &Config) -> bool {
    let state = config.state.dir.join("probe");
    is_free(&state, 2 * RESERVE_BYTES)
        && is_free(&config.output.dir.join(".open/.probe"), PROBE_BYTES)
}

/// Returns `true` if a file of this size can be created.
fn is_free(probe: &Path, bytes: u64) -> bool {
    let file = open_or_create(probe);
    // Before the first start there is no folder. The start creates it, and reports lack of space itself.
    if file
        .as_ref()
        .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    {
        return true;
    }
    let is_free = file.is_ok_and(|file| {
        // A limit on file sizes does not mean that the disk is full.
        matches!(
            allocate(&file, bytes),
            Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::FBIG)
        )
    });
    // If it cannot be removed, the next probe overwrites it.
    let _ = fs::remove_file(probe);
    is_free
}

fn open_or_create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}

/// Allocates space. On a file system in memory, signals interrupt that.
fn allocate(file: &File, bytes: u64) -> rustix::io::Result<()> {
    rustix::io::retry_on_intr(|| fallocate(file, FallocateFlags::empty(), 0, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_start_on_a_full_disk_is_retried() {
        let root = std::env::temp_dir().join(format!("urlspool-early-{}", std::process::id()));
        let mut config = Config::default();
        (config.output.dir, config.state.dir) = (root.join("out"), root.join("state"));
        assert!(has_space(&config));
        fs::create_dir_all(&config.state.dir).unwrap();
        assert!(has_space(&config));
        assert_eq!(fs::read_dir(&config.state.dir).unwrap().count(), 0);
        fs::remove_dir_all(root).unwrap();
    }
}
