//! Why the daemon stops or pauses.

use std::fmt;
use std::io;
use std::path::Path;

/// What keeps the daemon from its work. Sources are never the cause: what is wrong with them is a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DaemonError {
    /// No room (ENOSPC, EDQUOT, EFBIG): pause, and go on when there is some.
    OutOfSpace(String),
    /// Our own output or state cannot be read or written.
    Io(String),
    /// State and output contradict each other: only the operator can tell which is right.
    Inconsistent(String),
    /// Another instance holds the state.
    Locked(String),
}

/// What is done of this is told with every [`DaemonError::Inconsistent`].
pub(crate) const REBUILD: &str =
    "`urlspool watch --rebuild-state` builds the state anew from the segments' sidecars";

impl DaemonError {
    /// The fault of a failed operation on a file of ours.
    pub(crate) fn from_io(path: &Path, error: &io::Error) -> DaemonError {
        let message = format!("{}: {error}", path.display());
        if DaemonError::is_want_of_room(error) {
            DaemonError::OutOfSpace(message)
        } else {
            DaemonError::Io(message)
        }
    }

    /// Whether an error is want of room.
    pub(crate) fn is_want_of_room(error: &io::Error) -> bool {
        matches!(
            error.raw_os_error(),
            Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG)
        )
    }

    /// State and output contradict each other, and what to do about it.
    pub(crate) fn inconsistent(what: &str) -> DaemonError {
        DaemonError::Inconsistent(format!("{what}; {REBUILD}"))
    }
}

impl fmt::Display for DaemonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DaemonError::OutOfSpace(what)
            | DaemonError::Io(what)
            | DaemonError::Inconsistent(what)
            | DaemonError::Locked(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for DaemonError {}
