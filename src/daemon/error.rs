//! The error that pauses or ends the daemon.

use std::error::Error as StdError;
use std::io;
use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

/// The way out of most contradictions.
pub(super) const REBUILD: &str = "run `urlspool watch --rebuild-state`";

/// The error beneath one of the daemon.
type Cause = Arc<dyn StdError + Send + Sync>;

/// An error that pauses or ends the daemon. Sources never cause one: what is wrong with them is a diagnostic.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum DaemonError {
    /// No space left (ENOSPC, EDQUOT, EFBIG). The daemon pauses, and resumes when there is space.
    #[error("{message}")]
    OutOfSpace {
        /// What has no space, or why work that began before a pause is void.
        message: String,
        /// The error beneath.
        source: Option<Cause>,
    },
    /// The daemon's own output or state cannot be read or written, or the system refuses what it needs.
    #[error("{message}")]
    Io {
        /// The reason.
        message: String,
        /// The error beneath.
        source: Option<Cause>,
    },
    /// State and output contradict each other. Only the operator can tell which is right.
    #[error("{message}")]
    Inconsistent {
        /// The contradiction, and the way out.
        message: String,
        /// The error beneath.
        source: Option<Cause>,
    },
    /// The reader of standard output has closed it, which is a normal end.
    #[error("standard output was closed")]
    OutputClosed,
    /// Another instance holds the state.
    #[error("{message}")]
    Locked {
        /// The folder of the state, and the process that holds it.
        message: String,
    },
}

impl DaemonError {
    pub(super) fn out_of_space(message: impl Into<String>) -> DaemonError {
        DaemonError::OutOfSpace {
            message: message.into(),
            source: None,
        }
    }

    pub(super) fn io(message: impl Into<String>) -> DaemonError {
        DaemonError::Io {
            message: message.into(),
            source: None,
        }
    }

    pub(super) fn inconsistent(message: impl Into<String>) -> DaemonError {
        DaemonError::Inconsistent {
            message: message.into(),
            source: None,
        }
    }

    /// The error of a thread that cannot be started.
    pub(super) fn thread(error: io::Error) -> DaemonError {
        DaemonError::io(format!("cannot start a thread: {error}")).caused_by(error)
    }

    /// Adds the error beneath.
    pub(super) fn caused_by(mut self, error: impl StdError + Send + Sync + 'static) -> DaemonError {
        if let DaemonError::OutOfSpace { source, .. }
        | DaemonError::Io { source, .. }
        | DaemonError::Inconsistent { source, .. } = &mut self
        {
            *source = Some(Arc::new(error));
        }
        self
    }

    /// Returns `true` if `error` is lack of space: of the disk, of a quota, or a limit on file sizes.
    pub(crate) fn is_lack_of_space(error: &io::Error) -> bool {
        matches!(
            error.raw_os_error(),
            Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG)
        )
    }
}

/// The result of an operation on one of the daemon's own files.
pub(super) trait AtPath<T> {
    /// Adds the path of the file to the error.
    fn at(self, path: impl AsRef<Path>) -> Result<T, DaemonError>;
}

impl<T> AtPath<T> for io::Result<T> {
    fn at(self, path: impl AsRef<Path>) -> Result<T, DaemonError> {
        self.map_err(|error| {
            let message = format!("{}: {error}", path.as_ref().display());
            let created = if DaemonError::is_lack_of_space(&error) {
                DaemonError::out_of_space(message)
            } else {
                DaemonError::io(message)
            };
            created.caused_by(error)
        })
    }
}
