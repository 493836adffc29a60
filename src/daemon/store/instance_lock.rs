//! One instance holds the state.

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
    /// Takes the lock, or says who has it.
    pub(crate) fn take(dir: &Path) -> Result<InstanceLock, DaemonError> {
        let path = dir.join("lock");
        let fault = |error| DaemonError::from_io(&path, &error);
        std::fs::create_dir_all(dir).map_err(|error| DaemonError::from_io(dir, &error))?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(fault)?;
        if let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            if error != rustix::io::Errno::WOULDBLOCK {
                return Err(fault(error.into()));
            }
            let mut holder = String::new();
            // Who holds it is worth knowing, but not worth failing for.
            let _ = file.read_to_string(&mut holder);
            return Err(DaemonError::Locked(format!(
                "{}: held by process {}",
                dir.display(),
                holder.trim()
            )));
        }
        // Without room for the number the lock still holds.
        let _ = file.set_len(0);
        let _ = file.seek(SeekFrom::Start(0));
        let _ = writeln!(file, "{}", std::process::id());
        Ok(InstanceLock { _file: file })
    }
}
