//! Files of the state folder: their names, the lock that keeps a second instance out, and the
//! reserved disk space for closing a segment on a full disk.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock};
use rustix::io::Errno;

use crate::segment::{self, SegmentDir};
use crate::{AtPath, DaemonError, ErrorKind, Result};
use urlspool_files::config::Config;
use urlspool_sources::walk::DeviceInode;

/// The files and folders of the state.
#[derive(Debug)]
pub(super) struct StatePaths {
    pub(super) db: PathBuf,
    /// Holds the name of the state that wrote the output.
    pub(super) instance: PathBuf,
    /// Holds the secret key that identifies written messages. Only its owner can read it.
    pub(super) key: PathBuf,
    /// Folder with the copies of sidecars.
    pub(super) sidecars: PathBuf,
    /// Reserved space for closing a segment on a full disk.
    pub(super) reserve: PathBuf,
}

impl StatePaths {
    pub(super) fn new(config: &Config) -> StatePaths {
        let dir = &config.state.dir;
        StatePaths {
            db: dir.join("state.db"),
            instance: dir.join("instance"),
            key: dir.join("key"),
            sidecars: dir.join("sidecars"),
            reserve: dir.join("reserve"),
        }
    }

    /// Path of the copy of the sidecar of segment `seq`.
    pub(super) fn sidecar(&self, seq: u64) -> PathBuf {
        self.sidecars.join(meta_name(seq))
    }

    /// Number of the newest sidecar copy, or 0 if there is none.
    pub(super) fn highest_sidecar(&self) -> Result<u64> {
        let entries = fs::read_dir(&self.sidecars).at(&self.sidecars)?;
        Ok(entries
            .flatten()
            .filter_map(|entry| segment::number(&entry.file_name()))
            .max()
            .unwrap_or(0))
    }
}

/// Returns `true` if a file with this name and metadata is the state database in the folder `dir`,
/// or one of its logs.
pub(crate) fn is_state_database(dir: &Path, name: &OsStr, metadata: &Metadata) -> bool {
    const NAMES: [&str; 3] = ["state.db", "state.db-wal", "state.db-shm"];
    let is_same = |own: Metadata| DeviceInode::of(&own) == DeviceInode::of(metadata);
    NAMES.iter().any(|own| name == *own) && fs::metadata(dir.join(name)).is_ok_and(is_same)
}

/// Name of the sidecar of segment `seq`.
pub(super) fn meta_name(seq: u64) -> String {
    format!("{seq:010}.meta")
}

/// Creates missing folders of state and output.
pub(super) fn create_folders(config: &Config, paths: &StatePaths) -> Result<SegmentDir> {
    fs::create_dir_all(&paths.sidecars).at(&paths.sidecars)?;
    segment::sync_dir(&config.state.dir).at(&config.state.dir)?;
    SegmentDir::create(&config.output.dir).at(&config.output.dir)
}

/// Size of the reserved space, enough to close a segment when the disk is full.
const RESERVE_BYTES: u64 = 4 << 20;

/// Bytes that must be free for output before work resumes.
const PROBE_BYTES: u64 = 1 << 20;

/// Reserves space, on file systems that support it.
pub(super) fn reserve_space(path: &Path) -> Result<()> {
    let file = open_or_create(path).at(path)?;
    allocate(&file, RESERVE_BYTES).at(path)
}

/// Frees the reserved space.
pub(super) fn release_reserve(config: &Config) {
    // It may have been freed before.
    let _ = fs::remove_file(StatePaths::new(config).reserve);
}

/// Returns `true` if state and output have space again. The state needs more than the reserve that
/// was just freed.
pub(super) fn has_space(config: &Config) -> bool {
    let state = config.state.dir.join("probe");
    is_free(&state, 2 * RESERVE_BYTES)
        && is_free(&config.output.dir.join(".open/.probe"), PROBE_BYTES)
}

/// Returns `true` if a file of this size can be created.
fn is_free(probe: &Path, bytes: u64) -> bool {
    let is_free = match open_or_create(probe) {
        Ok(file) => allocate(&file, bytes).is_ok(),
        // The folder is missing before the first start. The start creates it, and reports lack of
        // space itself.
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    // If it cannot be removed, the next probe overwrites it.
    let _ = fs::remove_file(probe);
    is_free
}

fn open_or_create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    options.open(path)
}

/// Allocates space, on file systems that support it. A limit on file sizes does not mean that the
/// disk is full.
fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    // Signals can interrupt this on an in-memory file system.
    match rustix::io::retry_on_intr(|| fallocate(file, FallocateFlags::empty(), 0, bytes)) {
        Err(Errno::OPNOTSUPP | Errno::FBIG) => Ok(()),
        allocated => Ok(allocated?),
    }
}

/// Maximum time for which a start waits for the lock. A child of a killed instance holds the lock
/// until it executes its program.
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// Time between two attempts to acquire the lock.
const LOCK_RETRY: Duration = Duration::from_millis(10);

/// The lock on a state folder, held until it is dropped.
#[derive(Debug)]
pub(super) struct InstanceLock {
    _file: File,
}

impl InstanceLock {
    /// Acquires the lock, waiting up to [`LOCK_WAIT`]. Creates the folder if it does not exist.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Locked`] with the process ID of the instance that holds it, or an I/O error.
    pub(super) fn acquire(dir: &Path) -> Result<InstanceLock> {
        let path = dir.join("lock");
        fs::create_dir_all(dir).at(dir)?;
        let mut file = open_or_create(&path).at(&path)?;
        let mut waited = Duration::ZERO;
        while let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            if error != Errno::WOULDBLOCK {
                return Err(error.into()).at(&path);
            }
            if LOCK_WAIT <= waited {
                return Err(locked(dir, &mut file));
            }
            thread::sleep(LOCK_RETRY);
            waited += LOCK_RETRY;
        }
        // The lock holds even if there is no space for the process ID.
        let _ = file.set_len(0);
        let _ = file.seek(SeekFrom::Start(0));
        let _ = writeln!(file, "{}", std::process::id());
        Ok(InstanceLock { _file: file })
    }
}

fn locked(dir: &Path, file: &mut File) -> DaemonError {
    let mut holder = String::new();
    // The holder's process ID helps the operator; the message works without it.
    let _ = file.read_to_string(&mut holder);
    let message = format!(
        "{}: another instance holds the state, process {}",
        dir.display(),
        holder.trim()
    );
    DaemonError::new(ErrorKind::Locked, message)
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
