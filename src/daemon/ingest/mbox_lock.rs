//! The locks that writers of an mbox hold: a file with `.lock` after its name, and a lock of fcntl(2).

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, fcntl_lock};

use crate::planted_faults::{PlantedFault, is_planted};
use crate::read;
use crate::walk::WalkedFile;

/// Calls `work` while no writer holds a lock of an mbox. Returns `None` if one does.
pub(super) fn with_lock<T>(
    file: &File,
    path: &Path,
    work: impl FnOnce() -> io::Result<T>,
) -> io::Result<Option<T>> {
    if is_planted(PlantedFault::NoLock) {
        return work().map(Some);
    }
    let mut lock_file = path.as_os_str().to_owned();
    lock_file.push(".lock");
    if PathBuf::from(lock_file).symlink_metadata().is_ok() {
        return Ok(None);
    }
    // Other errors are ignored: on file systems without locks no writer honours any.
    if let Err(rustix::io::Errno::AGAIN | rustix::io::Errno::ACCESS) =
        fcntl_lock(file, FlockOperation::NonBlockingLockShared)
    {
        return Ok(None);
    }
    let done = work();
    // Should this fail, closing the file releases the lock.
    let _ = fcntl_lock(file, FlockOperation::NonBlockingUnlock);
    done.map(Some)
}

/// Returns `true` if a writer holds a lock of a file, or if that cannot be told. A file that is missing is not locked.
pub(crate) fn is_locked(file: &WalkedFile) -> bool {
    let with_lock = |opened| with_lock(&opened, &file.source.path, || Ok(()));
    match read::open(file).and_then(with_lock) {
        Ok(done) => done.is_none(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}
