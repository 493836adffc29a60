//! The locks that writers of an mbox hold: a file with `.lock` after its name, and a lock of fcntl(2).

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::process::{Flock, FlockType, Pid, fcntl_getlk};

use crate::planted_faults::{PlantedFault, is_planted};
use crate::read;
use crate::walk::WalkedFile;

/// A lock that a writer of an mbox holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WriterLock {
    /// A file beside the mbox, at this path.
    File(PathBuf),
    /// A lock of fcntl(2), held by this process; `None` if it is of another machine or PID namespace.
    Record(Option<Pid>),
}

impl fmt::Display for WriterLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriterLock::File(path) => write!(
                f,
                "by the lock file {}; remove that file if no program is writing the mailbox",
                path.display()
            ),
            WriterLock::Record(Some(holder)) => {
                write!(f, "by process {} (fcntl)", holder.as_raw_nonzero())
            }
            WriterLock::Record(None) => f.write_str("by a process that is not known here (fcntl)"),
        }
    }
}

/// Calls `work` while no writer holds a lock of an mbox. Returns the lock if one does.
pub(super) fn with_lock<T>(
    file: &File,
    path: &Path,
    work: impl FnOnce() -> io::Result<T>,
) -> io::Result<Result<T, WriterLock>> {
    if is_planted(PlantedFault::NoLock) {
        return work().map(Ok);
    }
    let mut lock_file = path.as_os_str().to_owned();
    lock_file.push(".lock");
    let lock_file = PathBuf::from(lock_file);
    if lock_file.symlink_metadata().is_ok() {
        return Ok(Err(WriterLock::File(lock_file)));
    }
    // Other errors are ignored: on file systems without locks no writer honours any.
    if let Err(rustix::io::Errno::AGAIN | rustix::io::Errno::ACCESS) =
        fcntl_lock(file, FlockOperation::NonBlockingLockShared)
    {
        return Ok(Err(WriterLock::Record(record_lock_holder(file))));
    }
    let done = work();
    // Should this fail, closing the file releases the lock.
    let _ = fcntl_lock(file, FlockOperation::NonBlockingUnlock);
    done.map(Ok)
}

/// Returns the process that holds a lock of fcntl(2); `None` if the lock is gone by now, or the process is not known.
fn record_lock_holder(file: &File) -> Option<Pid> {
    fcntl_getlk(file, &Flock::from(FlockType::ReadLock))
        .ok()??
        .pid
}

/// Returns the reason for which a writer may be about to write a file: it holds a lock, or that cannot be told. `None` if the file is
/// not locked, or missing.
pub(crate) fn why_locked(file: &WalkedFile) -> Option<String> {
    let with_lock = |opened| with_lock(&opened, &file.source.path, || Ok(()));
    match read::open(file).and_then(with_lock) {
        Ok(done) => done.err().map(|lock| format!("locked {lock}")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(format!("perhaps locked: {error}")),
    }
}
