//! The errors that pause or end the daemon.

use std::fmt;
use std::io;
use std::path::Path;

/// An error that pauses or ends the daemon. Sources never cause one: what is wrong with them is a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DaemonError {
    /// No space left (ENOSPC, EDQUOT, EFBIG). The daemon pauses, and resumes when there is space.
    OutOfSpace(String),
    /// The daemon's own output or state cannot be read or written.
    Io(String),
    /// State and output contradict each other. Only the operator can tell which is right.
    Inconsistent(String),
    /// Another instance holds the state.
    Locked(String),
}

/// The way out of [`DaemonError::Inconsistent`].
const REBUILD: &str = "run `urlspool watch --rebuild-state`";

impl DaemonError {
    /// The error of a failed operation on one of the daemon's own files.
    pub(crate) fn from_io(path: &Path, error: &io::Error) -> DaemonError {
        let message = format!("{}: {error}", path.display());
        if DaemonError::is_lack_of_space(error) {
            DaemonError::OutOfSpace(message)
        } else {
            DaemonError::Io(message)
        }
    }

    /// Returns `true` if `error` is lack of space: of the disk, of a quota, or a limit on file sizes.
    pub(crate) fn is_lack_of_space(error: &io::Error) -> bool {
        matches!(
            error.raw_os_error(),
            Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG)
        )
    }

    /// A contradiction between state and output, with the way out.
    pub(crate) fn inconsistent(contradiction: &str) -> DaemonError {
        DaemonError::Inconsistent(format!("{contradiction}; {REBUILD}"))
    }
}

impl fmt::Display for DaemonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DaemonError::OutOfSpace(message)
            | DaemonError::Io(message)
            | DaemonError::Inconsistent(message)
            | DaemonError::Locked(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for DaemonError {}
