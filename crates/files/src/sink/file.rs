//! An output file that appears under its name only when it is complete.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::{LeftOutput, Sink};
use urlspool_sources::walk::DeviceInode;

/// Sink that writes a regular file as `FILE.partial`, and renames it when it is complete. The
/// partial file is locked until then, so no other run removes it.
///
/// The partial file contains only whole batches, even after a failed write. An empty one is removed
/// when the sink is dropped.
#[derive(Debug)]
pub struct FileSink {
    file: File,
    /// Size of the completely written batches.
    committed_bytes: u64,
    /// The file to be replaced, with links resolved.
    target: PathBuf,
    /// The path of `file` until it is complete.
    partial: PathBuf,
    /// `true` if the partial file is always removed.
    is_discardable: bool,
    /// `true` once the file was renamed, left or removed.
    has_ended: bool,
}

impl FileSink {
    /// Creates the file at `path`. If that is a symbolic link, the target of the link is replaced.
    /// An existing file is unchanged until [`Sink::finish`], which replaces it by one with its mode
    /// and, if the system permits it, its owner.
    ///
    /// # Errors
    ///
    /// The system's error; also if the existing file is not a regular file or not writable, or if
    /// another run is writing it.
    pub fn create(path: &Path) -> io::Result<FileSink> {
        FileSink::create_aside(path, PARTIAL)
    }

    /// Like [`FileSink::create`], but writes the file as `FILE.urlspool-partial`. Intended for
    /// files that are never left on purpose: it keeps a user's `FILE.partial`.
    ///
    /// # Errors
    ///
    /// As [`FileSink::create`].
    pub fn create_discardable(path: &Path) -> io::Result<FileSink> {
        FileSink::create_aside(path, ASIDE)
    }

    fn create_aside(path: &Path, end: &str) -> io::Result<FileSink> {
        let target = resolve(path)?;
        let existing = writable_file(&target)?;
        let partial = with_end(&target, end);
        remove_left(&partial)?;
        let mode = if existing.is_some() { 0o600 } else { 0o666 };
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&partial)
            .map_err(|error| named(&partial, &error))?;
        lock(&file, &partial)?;
        let sink = FileSink {
            file,
            committed_bytes: 0,
            target,
            partial,
            is_discardable: end == ASIDE,
            has_ended: false,
        };
        sink.check_name()?;
        if let Some(metadata) = existing {
            // Only root may give files away.
            let _ = fchown(&sink.file, Some(metadata.uid()), Some(metadata.gid()));
            sink.file.set_permissions(metadata.permissions())?;
        }
        Ok(sink)
    }

    /// Checks that the name of the partial file still refers to it: locks do not work on every file
    /// system.
    fn check_name(&self) -> io::Result<()> {
        match fs::symlink_metadata(&self.partial) {
            Ok(named) if Some(DeviceInode::of(&named)) == self.id() => Ok(()),
            _ => Err(io::Error::other(format!(
                "{} was replaced by another program",
                self.partial.display()
            ))),
        }
    }
}

impl Sink for FileSink {
    /// Appends a batch. After a failed write, truncates the file to the last complete batch, if the
    /// system permits it.
    fn put(&mut self, batch: &[u8]) -> io::Result<bool> {
        self.file.write_all(batch).inspect_err(|_| {
            // The first error is the one to report. If truncating fails too, the file is no worse.
            let _ = self.file.set_len(self.committed_bytes);
            let _ = self.file.seek(io::SeekFrom::Start(self.committed_bytes));
        })?;
        self.committed_bytes += batch.len() as u64;
        Ok(true)
    }

    /// Renames the file once it is synced.
    fn finish(&mut self) -> io::Result<()> {
        if self.has_ended {
            return Ok(());
        }
        self.file.sync_all()?;
        self.check_name()?;
        rename(&self.partial, &self.target)?;
        self.has_ended = true;
        Ok(())
    }

    fn leave(&mut self) -> io::Result<Option<LeftOutput>> {
        if self.has_ended {
            return Ok(None);
        }
        if self.committed_bytes == 0 {
            self.discard();
            return Ok(None);
        }
        self.has_ended = true;
        self.check_name()?;
        self.file.sync_all()?;
        Ok(Some(LeftOutput {
            path: self.partial.clone(),
            records: None,
        }))
    }

    fn discard(&mut self) {
        if !self.has_ended {
            self.has_ended = true;
            // If it cannot be removed, it remains like a file left by another run.
            let _ = self
                .check_name()
                .and_then(|()| fs::remove_file(&self.partial));
        }
    }

    fn id(&self) -> Option<DeviceInode> {
        let metadata = self.file.metadata().ok()?;
        Some(DeviceInode::of(&metadata))
    }
}

impl Drop for FileSink {
    fn drop(&mut self) {
        if self.is_discardable || self.committed_bytes == 0 {
            self.discard();
        }
    }
}

/// Gives a complete file or folder its final name.
pub(super) fn rename(partial: &Path, target: &Path) -> io::Result<()> {
    fs::rename(partial, target)?;
    // An unreadable folder cannot be synced. The renamed file is complete nevertheless.
    let _ = File::open(folder_of(target)).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Ending of a file while it is being written.
pub const PARTIAL: &str = ".partial";

/// Ending of a file of [`FileSink::create_discardable`] while it is being written.
pub const ASIDE: &str = ".urlspool-partial";

/// Returns a path with an ending after the whole name.
#[must_use]
pub fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut path = OsString::from(path);
    path.push(end);
    PathBuf::from(path)
}

/// Returns the path of a file with all links resolved, even if the file does not exist yet.
///
/// # Errors
///
/// The system's error if the file's folder does not exist.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    loop {
        match path.canonicalize() {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            other => return other,
        }
        // A link to a file that does not exist yet. A link to itself causes a different error.
        match fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => break,
        }
    }
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    Ok(folder_of(&path).canonicalize()?.join(name))
}

/// Returns the folder that contains a path.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

/// Returns the metadata of an existing writable file; `None` if there is no file.
fn writable_file(target: &Path) -> io::Result<Option<Metadata>> {
    let metadata = match OpenOptions::new().write(true).open(target) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?.metadata()?,
    };
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(Some(metadata))
}

/// Removes the partial file of an earlier run, unless that run is still writing it. It is removed
/// rather than truncated because it may have other names.
fn remove_left(partial: &Path) -> io::Result<()> {
    match fs::symlink_metadata(partial) {
        Ok(metadata) if metadata.is_file() => {
            let mut options = OpenOptions::new();
            let options = options.write(true).custom_flags(libc::O_NOFOLLOW);
            let file = options
                .open(partial)
                .map_err(|error| named(partial, &error))?;
            // Held until the file is removed.
            lock(&file, partial)?;
            fs::remove_file(partial)
        }
        Ok(_) => {
            let message = format!("{} is not a regular file", partial.display());
            Err(io::Error::other(message))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Locks a partial file until it is closed, if the file system supports locks.
fn lock(file: &File, partial: &Path) -> io::Result<()> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(io::Error::other(format!(
            "another run is writing {}; wait until it ends, or name another file",
            partial.display()
        ))),
        _ => Ok(()),
    }
}

/// Adds the path to an error.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("urlspool-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder.canonicalize().unwrap()
    }

    #[test]
    fn a_file_appears_when_it_is_complete_and_keeps_links_and_mode() {
        let folder = folder("file-sink");
        let (target, link) = (folder.join("target"), folder.join("link"));
        fs::write(&target, "old\n").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("target", &link).unwrap();
        let mut sink = FileSink::create(&link).unwrap();
        assert!(sink.put(b"new\n").unwrap());
        assert_eq!(fs::read(&target).unwrap(), b"old\n");
        assert_eq!(fs::read(with_end(&target, PARTIAL)).unwrap(), b"new\n");
        sink.finish().unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new\n");
        assert!(link.is_symlink() && !with_end(&target, PARTIAL).exists());
        assert_eq!(
            target.metadata().unwrap().permissions().mode() & 0o777,
            0o640
        );
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_partial_file_stays_with_its_lines_and_an_empty_one_does_not() {
        let folder = folder("partial");
        let target = folder.join("target");
        drop(FileSink::create(&target).unwrap());
        assert!(!with_end(&target, PARTIAL).exists() && !target.exists());
        let mut sink = FileSink::create(&target).unwrap();
        sink.put(b"one\ntwo\n").unwrap();
        assert_eq!(
            sink.leave().unwrap().unwrap().path,
            with_end(&target, PARTIAL)
        );
        drop(sink);
        assert!(with_end(&target, PARTIAL).exists() && !target.exists());
        fs::remove_dir_all(&folder).unwrap();
    }

    /// A second run used to remove the partial file of the first, which then renamed the second's
    /// unfinished file.
    #[test]
    fn two_runs_do_not_write_one_file() {
        let folder = folder("two-runs");
        let (target, moved) = (folder.join("target"), folder.join("moved"));
        let mut first = FileSink::create(&target).unwrap();
        first.put(b"one\n").unwrap();
        let error = FileSink::create(&target).unwrap_err().to_string();
        assert!(error.contains("another run is writing"), "{error}");
        first.finish().unwrap();
        drop(first);
        assert_eq!(fs::read(&target).unwrap(), b"one\n");
        // Simulates a file system without working locks.
        let mut second = FileSink::create(&target).unwrap();
        second.put(b"two\n").unwrap();
        fs::rename(with_end(&target, PARTIAL), &moved).unwrap();
        fs::write(with_end(&target, PARTIAL), "three").unwrap();
        assert!(second.finish().is_err());
        drop(second);
        assert_eq!(fs::read(&target).unwrap(), b"one\n");
        assert_eq!(fs::read(with_end(&target, PARTIAL)).unwrap(), b"three");
        assert_eq!(fs::read(&moved).unwrap(), b"two\n");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn paths_of_missing_files_are_resolved() {
        let folder = folder("resolve");
        symlink("later", folder.join("link")).unwrap();
        symlink("loop", folder.join("loop")).unwrap();
        let later = folder.join("later");
        assert_eq!(resolve(&folder.join("link")).unwrap(), later);
        assert_eq!(resolve(&folder.join("./later")).unwrap(), later);
        assert!(resolve(&folder.join("loop")).is_err());
        assert!(resolve(&folder.join("none/later")).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }
}
