//! The daemon's own files: the output folder with its segments, and the state folder with its lock
//! and its reserve of space.
//!
//! A segment is written in the hidden folder `.open` and never changes after it is published.
//! Consumers rely on the folder's listing: a name without a leading dot is a complete segment or
//! its sidecar. The state decides when data counts as written: it commits a length after
//! [`Segment::sync`].

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::Hasher;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{FallocateFlags, FlockOperation, RenameFlags, fallocate, flock, renameat_with};
use rustix::io::Errno;
use twox_hash::XxHash3_64;

use crate::{AtPath, DaemonError, ErrorKind, Result};
use urlspool_files::config::Config;
use urlspool_sources::walk::DeviceInode;

/// Name of the file with the highest segment number that may have been published. Consumers remove
/// segments; without this file, a state that was lost or restored from a backup would reuse their
/// numbers.
const LAST_NUMBER: &str = ".last";

/// Name of the copy of the state's secret key, needed if the whole state folder is lost.
const KEY: &str = ".key";

/// Output folder with its segments.
pub(crate) struct SegmentDir {
    pub(crate) out: PathBuf,
    /// The hidden folder.
    pub(crate) open: PathBuf,
}

impl SegmentDir {
    /// Creates the folder and its hidden folder if they do not exist.
    pub(crate) fn create(out: &Path) -> io::Result<SegmentDir> {
        let open = out.join(".open");
        fs::create_dir_all(&open)?;
        sync_dir(out)?;
        Ok(SegmentDir {
            out: out.to_owned(),
            open,
        })
    }

    /// The path of a segment that is being written.
    pub(crate) fn part(&self, seq: u64) -> PathBuf {
        self.open.join(format!("{seq:010}.part"))
    }

    /// The path of a hidden file, which is not published yet.
    pub(crate) fn hidden(&self, name: &str) -> PathBuf {
        self.open.join(name)
    }

    /// The path of the copy of the state's secret key.
    pub(crate) fn key(&self) -> PathBuf {
        self.out.join(KEY)
    }

    /// Starts a segment, whose file must not exist yet.
    pub(crate) fn begin(&self, seq: u64) -> io::Result<Segment> {
        let mut options = OpenOptions::new();
        let options = options.append(true).create_new(true).mode(0o640);
        let file = options.open(self.part(seq))?;
        sync_dir(&self.open)?;
        let hash = XxHash3_64::new();
        Ok(Segment { file, hash })
    }

    /// Returns `false` if the file of `segment`, which has this number, was removed or replaced
    /// since it was created. Other errors, such as an unreachable server, do not count.
    pub(crate) fn holds(&self, seq: u64, segment: &Segment) -> bool {
        let opened = segment.file.metadata().map(|found| DeviceInode::of(&found));
        match (opened, fs::metadata(self.part(seq))) {
            (Ok(opened), Ok(named)) => opened == DeviceInode::of(&named),
            (_, Err(error)) => error.kind() != io::ErrorKind::NotFound,
            (Err(_), Ok(_)) => true,
        }
    }

    /// Returns `false` if the folder of unfinished files was removed.
    pub(crate) fn exists(&self) -> bool {
        !fs::metadata(&self.open).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Writes a hidden file and syncs it. Replaces a file left by a crash: no consumer has seen it.
    pub(crate) fn write_hidden(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create(self.hidden(name))?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Renames a hidden file to its published name. Never replaces a file. The caller syncs
    /// afterwards.
    ///
    /// # Errors
    ///
    /// The system's error; `EEXIST` if the name is taken.
    pub(crate) fn publish(&self, hidden: &Path, name: &str) -> io::Result<()> {
        Ok(rename_new(hidden, &self.out.join(name))?)
    }

    /// Moves an unknown hidden file to `.lost+found`, where it is neither published nor deleted.
    /// Returns its new path.
    pub(crate) fn set_aside(&self, hidden: &Path) -> io::Result<PathBuf> {
        let lost = self.out.join(".lost+found");
        fs::create_dir_all(&lost)?;
        let name = hidden.file_name().unwrap_or_default();
        for number in 0_u32.. {
            let target = lost.join(name).with_added_extension(number.to_string());
            match rename_new(hidden, &target) {
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
                Ok(()) => return self.sync().map(|()| target),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Makes the names in both folders durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        sync_dir(&self.out)?;
        sync_dir(&self.open)
    }

    /// Records durably that the segment `seq` may have been published. A removed segment keeps its
    /// number.
    ///
    /// # Errors
    ///
    /// The system's error, or the error of [`SegmentDir::highest`].
    pub(crate) fn remember(&self, seq: u64) -> Result<()> {
        if seq <= self.remembered()? {
            return Ok(());
        }
        let path = self.out.join(LAST_NUMBER);
        replace(&path, format!("{seq}\n").as_bytes(), SHARED).at(&path)
    }

    /// Returns the highest recorded number, or 0 if there is no record.
    fn remembered(&self) -> Result<u64> {
        let path = self.out.join(LAST_NUMBER);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            text => text.at(&path)?,
        };
        text.trim().parse().map_err(|_| {
            let message = "has no number; write the number of the last segment into it";
            DaemonError::io(format!("{} {message}", path.display()))
        })
    }

    /// Returns the highest number of a segment or sidecar that was ever published, even if it was
    /// removed since. 0 if there was none.
    ///
    /// # Errors
    ///
    /// The system's error, or the file with the recorded number does not contain one.
    pub(crate) fn highest(&self) -> Result<u64> {
        Ok(self.remembered()?.max(highest_in(&self.out).at(&self.out)?))
    }
}

/// Returns the highest number of a segment or sidecar in a folder, or 0 if there is none.
pub(crate) fn highest_in(folder: &Path) -> io::Result<u64> {
    let paths = entries(folder)?;
    Ok(paths
        .iter()
        .filter_map(|path| number(path))
        .max()
        .unwrap_or(0))
}

/// Renames a file to a name that must be free.
fn rename_new(from: &Path, to: &Path) -> rustix::io::Result<()> {
    let here = rustix::fs::CWD;
    renameat_with(here, from, here, to, RenameFlags::NOREPLACE)
}

/// Returns the paths in one of the crate's own folders, sorted.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

/// Returns the number at the start of the name of a segment or sidecar.
pub(crate) fn number(path: &Path) -> Option<u64> {
    let (number, ending) = path.file_name()?.to_str()?.split_once('.')?;
    (number.len() >= 10 && matches!(ending, "jsonl" | "jsonl.zst" | "meta" | "part"))
        .then(|| number.parse().ok())?
}

/// A segment that is being written.
pub(crate) struct Segment {
    file: File,
    hash: XxHash3_64,
}

impl Segment {
    /// Appends whole lines. After an error the caller drops the segment: its content on disk is
    /// undefined.
    pub(crate) fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.file.write_all(lines)?;
        self.hash.write(lines);
        Ok(())
    }

    /// Returns the segment once all appended data is durable.
    ///
    /// Consumes the segment on failure: a second sync of the same descriptor would succeed although
    /// the data is lost.
    pub(crate) fn sync(self) -> io::Result<Segment> {
        self.file.sync_data()?;
        Ok(self)
    }

    /// Returns the 64-bit XXH3 hash of the appended data.
    pub(crate) fn hash(&self) -> u64 {
        self.hash.finish()
    }
}

/// Returns the hash of the first `len` bytes of a file, or `None` if it is shorter.
pub(crate) fn hash_of(path: &Path, len: u64) -> io::Result<Option<u64>> {
    const BUFFER_BYTES: u64 = 256 << 10;
    let mut file = File::open(path)?.take(len);
    let mut hash = XxHash3_64::new();
    let mut buffer = Vec::new();
    let mut read = 0;
    while 0 < { &mut file }.take(BUFFER_BYTES).read_to_end(&mut buffer)? {
        hash.write(&buffer);
        read += buffer.len() as u64;
        buffer.clear();
    }
    Ok((read == len).then(|| hash.finish()))
}

/// Truncates a file to `len` bytes, durably.
pub(crate) fn cut(path: &Path, len: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(len)?;
    file.sync_all()
}

/// Compresses a file with zstd into another and syncs it.
pub(crate) fn compress(from: &Path, to: &Path) -> io::Result<()> {
    /// zstd's default, fast enough for one thread next to the extraction.
    const LEVEL: i32 = 3;
    let out = File::create(to)?;
    zstd::stream::copy_encode(File::open(from)?, &out, LEVEL)?;
    out.sync_all()
}

/// Replaces `path` by `next`, a file in the same folder, durably.
pub(crate) fn replace_with(next: &Path, path: &Path) -> io::Result<()> {
    File::open(next)?.sync_all()?;
    fs::rename(next, path)?;
    sync_dir(path.parent().unwrap_or(Path::new(".")))
}

/// Mode of a file that the umask may restrict.
pub(crate) const SHARED: u32 = 0o666;

/// Mode of a file that only its owner can read.
pub(crate) const PRIVATE: u32 = 0o600;

/// Replaces the content of a file durably: writes a new file next to it, syncs it, renames it, and
/// syncs the folder.
pub(crate) fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let next = path.with_extension("next");
    // Somebody else, or a crash, may have left one.
    let _ = fs::remove_file(&next);
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(true).mode(mode);
    options.open(&next)?.write_all(bytes)?;
    replace_with(&next, path)
}

/// Removes a file if it exists.
pub(crate) fn remove_if_exists(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes the names in a folder durable.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// The files and folders of the state.
pub(crate) struct StatePaths {
    pub(crate) db: PathBuf,
    /// Holds the name of the state that wrote the output.
    pub(crate) instance: PathBuf,
    /// Holds the secret key that identifies written messages. Only its owner can read it.
    pub(crate) key: PathBuf,
    /// Folder with the copies of sidecars.
    pub(crate) sidecars: PathBuf,
    /// Reserved space for closing a segment on a full disk.
    pub(crate) reserve: PathBuf,
}

impl StatePaths {
    pub(crate) fn new(config: &Config) -> StatePaths {
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
    pub(crate) fn sidecar(&self, seq: u64) -> PathBuf {
        self.sidecars.join(meta_name(seq))
    }
}

/// Returns `true` if a file with this name and metadata is the state database in the folder `dir`,
/// or one of its logs.
pub(crate) fn is_state_database(dir: &Path, name: &OsStr, metadata: &Metadata) -> bool {
    const NAMES: [&str; 3] = ["state.db", "state.db-wal", "state.db-shm"];
    NAMES.iter().any(|own| name == *own)
        && fs::metadata(dir.join(name))
            .is_ok_and(|own| DeviceInode::of(&own) == DeviceInode::of(metadata))
}

/// Name of the sidecar of segment `seq`.
pub(crate) fn meta_name(seq: u64) -> String {
    format!("{seq:010}.meta")
}

/// Creates missing folders of state and output.
pub(crate) fn create_folders(config: &Config, paths: &StatePaths) -> Result<SegmentDir> {
    fs::create_dir_all(&paths.sidecars).at(&paths.sidecars)?;
    sync_dir(&config.state.dir).at(&config.state.dir)?;
    SegmentDir::create(&config.output.dir).at(&config.output.dir)
}

/// Size of the reserved space, enough to close a segment when the disk is full.
const RESERVE_BYTES: u64 = 4 << 20;

/// Bytes that must be free for output before work resumes.
const PROBE_BYTES: u64 = 1 << 20;

/// Reserves space, on file systems that support it.
pub(crate) fn reserve_space(path: &Path) -> Result<()> {
    let file = open_or_create(path).at(path)?;
    allocate(&file, RESERVE_BYTES).at(path)
}

/// Frees the reserved space.
pub(crate) fn release_reserve(config: &Config) {
    // It may have been freed before.
    let _ = fs::remove_file(StatePaths::new(config).reserve);
}

/// Returns `true` if state and output have space again. The state needs more than the reserve that
/// was just freed.
pub(crate) fn has_space(config: &Config) -> bool {
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
pub(crate) struct InstanceLock {
    _file: File,
}

impl InstanceLock {
    /// Acquires the lock, waiting up to [`LOCK_WAIT`]. Creates the folder if it does not exist.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Locked`] with the process ID of the instance that holds it, or an I/O error.
    pub(crate) fn acquire(dir: &Path) -> Result<InstanceLock> {
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
