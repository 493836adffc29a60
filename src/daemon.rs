//! New mail's URLs, exactly once: which files are scanned and when, and which records are
//! committed.
//!
//! The `service` starts reader threads. Each runs one [`SpoolReader`]: a loop over [`DaemonEvent`],
//! in which events only mark work. Time and events come from a [`ReaderHost`], so that a test can
//! be one. Every scan of a file takes the same way (`ingest`), whatever its reason, and everything
//! is written by one committer, which the readers share (`store`).
//!
//! **The promise.** For every message that is complete while the daemon scans its file, or still
//! there at the next scan, its records appear exactly once in the sealed segments and the committed
//! part of the open one. Not promised: mail that came and went between two scans; writers that
//! neither lock nor finish within the settle time; storage that reports a sync that did not happen;
//! consumers that read hidden files.
//!
//! **Order of the rooms.** Each uses only those above it:
//!
//! | room | subject |
//! |---|---|
//! | this file `status` `environment` | nouns that all rooms use; the error that pauses or ends the daemon |
//! | `store` | state and output: what is known of mail, which records are committed |
//! | `ingest` | one file: known or new, complete or growing; its messages |
//! | `schedule` | which files are scanned, and when: events, rescans, retries |
//! | `service` | the process: supervisor, reader threads, signals, status, log, sandbox |

mod environment;

mod status;

mod store;

mod ingest;

mod schedule;

mod service;

use std::error::Error as StdError;
use std::io;
use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

pub use environment::{DaemonHost, LogRecord, MonotonicTime};
pub use schedule::{DaemonEvent, ReaderHost, SpoolReader};
pub use service::{RunEnd, RunMode, StateSource, ask, run};
pub use status::{
    DaemonState, FailedFile, LastError, LastSealed, LockedFile, Notices, SealedSegment, SpoolState,
    SpoolStatus, Status, UnixTime, WithheldBy,
};
pub use store::rebuild_state;

/// The way out of most contradictions.
const REBUILD: &str = "run `urlspool watch --rebuild-state`";

/// The error beneath one of the daemon.
type Cause = Arc<dyn StdError + Send + Sync>;

/// An error that pauses or ends the daemon. Sources never cause one: what is wrong with them is a
/// diagnostic.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum DaemonError {
    /// No space left (ENOSPC, EDQUOT, EFBIG). The daemon pauses, and resumes when there is space.
    #[error("{message}")]
    OutOfSpace {
        /// The file system without space, or the reason why work that began before a pause is void.
        message: String,
        /// The error beneath.
        source: Option<Cause>,
    },
    /// The daemon's own output or state cannot be read or written, or the system refuses what it
    /// needs.
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
    /// The configuration has another `kind` or `dedupe` for a spool that the state knows.
    #[error("{message}")]
    Refused {
        /// The spool, both values, and both ways out.
        message: String,
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
    fn out_of_space(message: impl Into<String>) -> DaemonError {
        DaemonError::OutOfSpace {
            message: message.into(),
            source: None,
        }
    }

    fn io(message: impl Into<String>) -> DaemonError {
        DaemonError::Io {
            message: message.into(),
            source: None,
        }
    }

    fn inconsistent(message: impl Into<String>) -> DaemonError {
        DaemonError::Inconsistent {
            message: message.into(),
            source: None,
        }
    }

    /// The error of a thread that cannot be started.
    fn thread(error: io::Error) -> DaemonError {
        DaemonError::io(format!("cannot start a thread: {error}")).caused_by(error)
    }

    /// Adds the error beneath.
    fn caused_by(mut self, error: impl StdError + Send + Sync + 'static) -> DaemonError {
        if let DaemonError::OutOfSpace { source, .. }
        | DaemonError::Io { source, .. }
        | DaemonError::Inconsistent { source, .. } = &mut self
        {
            *source = Some(Arc::new(error));
        }
        self
    }

    /// Returns `true` if `error` is lack of space: of the disk, of a quota, or a limit on file
    /// sizes.
    pub(crate) fn is_lack_of_space(error: &io::Error) -> bool {
        matches!(
            error.raw_os_error(),
            Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG)
        )
    }
}

/// The result of an operation on one of the daemon's own files.
trait AtPath<T> {
    /// Adds the path of the file to the error.
    fn at(self, path: impl AsRef<Path>) -> Result<T, DaemonError>;
}

impl<T> AtPath<T> for io::Result<T> {
    fn at(self, path: impl AsRef<Path>) -> Result<T, DaemonError> {
        self.map_err(|error| {
            let way_out = match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    "; run it as a user who may write there, or name another folder"
                }
                _ => "",
            };
            let message = format!("{}: {error}{way_out}", path.as_ref().display());
            let created = if DaemonError::is_lack_of_space(&error) {
                DaemonError::out_of_space(message)
            } else {
                DaemonError::io(message)
            };
            created.caused_by(error)
        })
    }
}
