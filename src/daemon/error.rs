//! The errors that pause or end the daemon.

mod contradiction;
mod failure;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

pub use contradiction::{Contradiction, DatabaseDamage};
pub use failure::{DaemonFailure, DatabaseFailure, FileFailure, PauseReason};

/// An error that pauses or ends the daemon. Sources never cause one: what is wrong with them is a diagnostic.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum DaemonError {
    /// No space left (ENOSPC, EDQUOT, EFBIG). The daemon pauses, and resumes when there is space.
    OutOfSpace(PauseReason),
    /// The daemon's own output or state cannot be read or written, or the system refuses what it needs.
    Io(DaemonFailure),
    /// State and output contradict each other. Only the operator can tell which is right.
    Inconsistent(Contradiction),
    /// Another instance holds the state.
    Locked {
        /// The folder of the state.
        state: PathBuf,
        /// The number of the process that holds it, as far as it is known.
        holder: String,
    },
}

impl DaemonError {
    /// The error of a failed operation on one of the daemon's own files.
    pub(crate) fn from_io(path: &Path, error: io::Error) -> DaemonError {
        let is_lack_of_space = DaemonError::is_lack_of_space(&error);
        let failure = FileFailure::new(path, error);
        if is_lack_of_space {
            DaemonError::OutOfSpace(PauseReason::File(failure))
        } else {
            DaemonError::Io(DaemonFailure::File(failure))
        }
    }

    /// Returns `true` if `error` is lack of space: of the disk, of a quota, or a limit on file sizes.
    pub(crate) fn is_lack_of_space(error: &io::Error) -> bool {
        matches!(
            error.raw_os_error(),
            Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG)
        )
    }
}

impl From<Contradiction> for DaemonError {
    fn from(contradiction: Contradiction) -> DaemonError {
        DaemonError::Inconsistent(contradiction)
    }
}

impl From<DaemonFailure> for DaemonError {
    fn from(failure: DaemonFailure) -> DaemonError {
        DaemonError::Io(failure)
    }
}

impl fmt::Display for DaemonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DaemonError::OutOfSpace(reason) => reason.fmt(f),
            DaemonError::Io(failure) => failure.fmt(f),
            DaemonError::Inconsistent(contradiction) => contradiction.fmt(f),
            DaemonError::Locked { state, holder } => write!(
                f,
                "{}: another instance holds the state, process {holder}",
                state.display()
            ),
        }
    }
}

impl std::error::Error for DaemonError {}
