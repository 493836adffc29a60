//! The lock that keeps a second instance away from the state.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use crate::daemon::error::DaemonError;

/// The lock on a state folder, held until it is dropped.
#[derive(Debug)]
pub(crate) struct InstanceLock {
    _file: File,
}

impl InstanceLock {
    /// Acquires the lock. Creates the folder if it does not exist.
    ///
    /// # Errors
    ///
    /// [`DaemonError::Locked`] with the process number of the instance that holds it, or an I/O error.
    pub(crate) fn acquire(dir: &Path) -> Result<InstanceLock, DaemonError> {
        let path = dir.join("lock");
        let io_error = |error| DaemonError::from_io(&path, error);
        std::fs::create_dir_all(dir).map_err(|error| DaemonError::from_io(dir, error))?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io_error)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(locked(dir, &mut file)),
            Err(error) => return Err(io_error(error.into())),
        }
        // The lock holds even if there is no space for the process number.
        let _ = file.set_len(0);
        let _ = file.seek(SeekFrom::Start(0));
        let _ = writeln!(file, "{}", std::process::id());
        Ok(InstanceLock { _file: file })
    }
}

fn locked(dir: &Path, file: &mut File) -> DaemonError {
    let mut holder = String::new();
    // The holder's number helps the operator; the message works without it.
    let _ = file.read_to_string(&mut holder);
    DaemonError::Locked {
        state: dir.to_owned(),
        holder: holder.trim().to_owned(),
    }
}
