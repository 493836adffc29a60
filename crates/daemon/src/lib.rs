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
//! | this file `status` `environment` `segment` | nouns that all rooms use; the error that pauses or ends the daemon |
//! | `store` | state and output: what is known of mail, which records are committed |
//! | `ingest` | one file: known or new, complete or growing; its messages |
//! | `schedule` | which files are scanned, and when: events, rescans, retries |
//! | `service` | the process: supervisor, reader threads, signals, status, log, sandbox |

mod environment;

pub mod segment;

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
    SpoolStatus, Status, WithheldBy,
};
pub use store::rebuild_state;

/// The way out of most contradictions.
const REBUILD: &str = "run `urlspool watch --rebuild-state`";

/// The error beneath one of the daemon.
type Cause = Arc<dyn StdError + Send + Sync>;

/// The result of an operation of the daemon.
type Result<T, E = DaemonError> = std::result::Result<T, E>;

/// An error that pauses or ends the daemon. Sources never cause one: what is wrong with them is a
/// diagnostic.
#[derive(Clone, Debug, Error)]
#[error("{message}")]
pub struct DaemonError {
    /// Consequence for the daemon.
    pub kind: ErrorKind,
    /// The reason, and the way out.
    message: String,
    /// The underlying error.
    source: Option<Cause>,
}

/// Consequence of an error for the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// No space left (ENOSPC, EDQUOT, EFBIG), or work that began before a pause is void. The daemon
    /// pauses, and resumes when there is space.
    OutOfSpace,
    /// The daemon's own output or state cannot be read or written, or the system refuses what it
    /// needs.
    Io,
    /// State and output contradict each other. Only the operator can tell which is right.
    Inconsistent,
    /// The configuration has another `kind` or `dedupe` for a spool that the state knows.
    Refused,
    /// The reader of standard output has closed it, which is a normal end.
    OutputClosed,
    /// Another instance holds the state.
    Locked,
}

impl DaemonError {
    fn new(kind: ErrorKind, message: impl Into<String>) -> DaemonError {
        DaemonError {
            kind,
            message: message.into(),
            source: None,
        }
    }

    fn out_of_space(message: impl Into<String>) -> DaemonError {
        DaemonError::new(ErrorKind::OutOfSpace, message)
    }

    fn io(message: impl Into<String>) -> DaemonError {
        DaemonError::new(ErrorKind::Io, message)
    }

    fn inconsistent(message: impl Into<String>) -> DaemonError {
        DaemonError::new(ErrorKind::Inconsistent, message)
    }

    /// The error of the system for one of the daemon's own files.
    fn of_system(error: &io::Error, message: impl Into<String>) -> DaemonError {
        let kind = if DaemonError::is_lack_of_space(error) {
            ErrorKind::OutOfSpace
        } else {
            ErrorKind::Io
        };
        DaemonError::new(kind, message)
    }

    /// The error of a thread that cannot be started.
    fn thread(error: io::Error) -> DaemonError {
        DaemonError::io(format!("cannot start a thread: {error}")).caused_by(error)
    }

    /// Adds the error beneath.
    fn caused_by(mut self, error: impl StdError + Send + Sync + 'static) -> DaemonError {
        self.source = Some(Arc::new(error));
        self
    }

    /// Returns `true` if `error` is lack of space: of the disk, of a quota, or a limit on file
    /// sizes.
    fn is_lack_of_space(error: &io::Error) -> bool {
        matches!(
            error.raw_os_error(),
            Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG)
        )
    }
}

/// The result of an operation on one of the daemon's own files.
trait AtPath<T> {
    /// Adds the path of the file to the error.
    fn at(self, path: impl AsRef<Path>) -> Result<T>;
}

impl<T> AtPath<T> for io::Result<T> {
    fn at(self, path: impl AsRef<Path>) -> Result<T> {
        self.map_err(|error| {
            let way_out = match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    "; run it as a user who may write there, or name another folder"
                }
                _ => "",
            };
            let message = format!("{}: {error}{way_out}", path.as_ref().display());
            DaemonError::of_system(&error, message).caused_by(error)
        })
    }
}
