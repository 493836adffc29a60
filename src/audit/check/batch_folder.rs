//! Temporary folders with the links of a batch, one for each run of the checker. Those of processes that were killed are removed by the
//! next check.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::{Pid, geteuid, test_kill_process};

use crate::audit::error::{AuditError, OutputError};

/// Name of the file with the links.
pub(super) const LINKS: &str = "links.html";

/// Beginning of the names of the folders: the process and a number follow.
const PREFIX: &str = "urlspool-audit-";

/// A temporary folder, which is removed with its file. It is locked while it is used.
pub(super) struct BatchFolder {
    path: PathBuf,
    /// Holds the lock, which ends with the process.
    _lock: File,
}

impl BatchFolder {
    /// Creates a folder with a new name, which only this user can read.
    pub(super) fn create(parent: &Path) -> Result<BatchFolder, AuditError> {
        let mut number = 0;
        loop {
            let path = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
            let created = DirBuilder::new()
                .mode(0o700)
                .create(&path)
                .and_then(|()| locked(&path));
            match created {
                Ok(Some(lock)) => return Ok(BatchFolder { path, _lock: lock }),
                Ok(None) => number += 1,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(OutputError::not_created(&path, &error).into()),
            }
        }
    }

    /// Returns the path of the folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file with the links.
    pub(super) fn write(&self, page: &str) -> Result<(), AuditError> {
        let path = self.path.join(LINKS);
        let written = fs::write(&path, page);
        written.map_err(|error| OutputError::not_written(&path, &error).into())
    }
}

impl Drop for BatchFolder {
    fn drop(&mut self) {
        // If it cannot be removed, the next check tries it again.
        let _ = remove(&self.path);
    }
}

/// Locks a folder. Returns `None` if another process has it, or has removed it.
fn locked(path: &Path) -> io::Result<Option<File>> {
    let folder = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Ok(None),
        // A file system without locks: then nobody else has it.
        Err(_) | Ok(()) => Ok(path.exists().then_some(folder)),
    }
}

/// Removes the folders in `parent` that checks of this user left when they were killed. What cannot be removed stays.
pub(super) fn remove_abandoned(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let is_ours = || {
            // Of a symbolic link this is the link itself.
            let metadata = entry.metadata();
            metadata.is_ok_and(|entry| entry.is_dir() && entry.uid() == geteuid().as_raw())
        };
        if process_of(&entry.file_name()).is_some_and(is_dead) && is_ours() {
            remove_unlocked(&entry.path());
        }
    }
}

/// Removes a folder that no process has locked. One of another process namespace, such as a container, may run although no process
/// has its number here.
fn remove_unlocked(path: &Path) {
    let Ok(folder) = File::open(path) else {
        return;
    };
    if flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok() {
        let _ = remove(path);
    }
}

/// Removes the file with the links, and the folder if nothing else is in it.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path.join(LINKS)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::remove_dir(path),
    }
}

/// The process that a folder is named after; `None` for names that are not ours.
fn process_of(name: &OsStr) -> Option<Pid> {
    let (process, number) = name.to_str()?.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u32>().ok()?;
    Pid::from_raw(process.parse().ok()?)
}

fn is_dead(process: Pid) -> bool {
    test_kill_process(process) == Err(Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A new folder for the folders of a test.
    fn parent(test: &str) -> PathBuf {
        let name = format!("urlspool-test-{test}-{}", std::process::id());
        let parent = std::env::temp_dir().join(name);
        fs::create_dir(&parent).unwrap();
        parent
    }

    /// The number of a process that has ended.
    fn ended_process() -> u32 {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[test]
    fn a_folder_has_a_new_name_and_is_removed() {
        let parent = parent("new");
        let first = BatchFolder::create(&parent).unwrap();
        let second = BatchFolder::create(&parent).unwrap();
        assert_ne!(first.path(), second.path());
        let path = first.path().to_owned();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700);
        first.write("x").unwrap();
        drop((first, second));
        assert!(!path.exists());
        fs::remove_dir(parent).unwrap();
    }

    #[test]
    fn only_unlocked_folders_of_ended_processes_are_removed() {
        let parent = parent("abandoned");
        let (ended, living) = (ended_process(), std::process::id());
        let folder = |name: String| {
            let path = parent.join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join(LINKS), "x").unwrap();
            path
        };
        let abandoned = folder(format!("{PREFIX}{ended}-0"));
        let locked = folder(format!("{PREFIX}{ended}-1"));
        let with_more = folder(format!("{PREFIX}{ended}-2"));
        let others = [
            folder(format!("{PREFIX}{living}-7")),
            folder(format!("{PREFIX}{ended}")),
            folder(format!("{PREFIX}{ended}-x")),
            folder(format!("other-{ended}-0")),
        ];
        fs::write(with_more.join("notes"), "mine").unwrap();
        let link = parent.join(format!("{PREFIX}{ended}-3"));
        std::os::unix::fs::symlink(&others[3], &link).unwrap();
        let lock = File::open(&locked).unwrap();
        flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        remove_abandoned(&parent);
        assert!(!abandoned.exists());
        assert!(locked.join(LINKS).exists());
        assert!(with_more.join("notes").exists());
        assert!(link.symlink_metadata().is_ok());
        for other in &others {
            assert!(other.join(LINKS).exists(), "{}", other.display());
        }
        drop(lock);
        remove_abandoned(&parent);
        assert!(!locked.exists());
        fs::remove_dir_all(parent).unwrap();
    }
}
