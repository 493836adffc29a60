//! Extracts URLs from new mail, exactly once: decides which files to scan and when, and commits the
//! records.
//!
//! The `service` starts reader threads. Each runs one [`SpoolReader`]: a loop over [`DaemonEvent`],
//! in which events only mark work. Time and events come from a [`ReaderHost`], so tests can supply
//! both. Every scan of a file runs the same code (`ingest`), regardless of its cause. All output is
//! written by one committer, which the readers share (`store`).
//!
//! **The promise.** The daemon reads every message that is complete while its file is scanned, or
//! still exists at the next scan. The message's records appear exactly once in the sealed segments
//! and the committed part of the open one. Not covered: mail that came and went between two scans;
//! writers that neither lock nor finish within the settle time, or that close a file within a URL;
//! storage that reports a sync that did not happen; consumers that read hidden files.
//!
//! **Order of the modules.** Each uses only those above it:
//!
//! | module | subject |
//! |---|---|
//! | this file `status` `environment` `segment` | types of all modules, and the daemon's error |
//! | `store` | state and output: known mail and committed records |
//! | `ingest` | one file: known or new, complete or growing; its messages |
//! | `schedule` | which files are scanned, and when: events, rescans, retries |
//! | `service` | the process: supervisor, reader threads, signals, status, log, sandbox |

mod environment;
mod segment;
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
pub use schedule::{DaemonEvent, FileChange, ReaderHost, SpoolReader};
pub use service::{RunEnd, RunMode, StateSource, ask, run};
pub use status::{
    DaemonState, FailedFile, LastError, LastSealed, LockedFile, Notices, SealedSegment, SpoolState,
    SpoolStatus, Status, WithheldBy,
};
pub use store::rebuild_state;

/// The remedy for most inconsistencies.
const REBUILD: &str = "run `urlspool watch --rebuild-state`";

/// The underlying error of a [`DaemonError`].
type Cause = Arc<dyn StdError + Send + Sync>;

type Result<T, E = DaemonError> = std::result::Result<T, E>;

/// An error that pauses or ends the daemon. Sources never cause one: their faults are reported as
/// diagnostics.
#[derive(Clone, Debug, Error)]
#[error("{message}")]
pub struct DaemonError {
    /// Consequence for the daemon.
    pub kind: ErrorKind,
    /// The reason, and what to do.
    message: String,
    /// The underlying error.
    source: Option<Cause>,
}

/// Consequence of an error for the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// No space left (ENOSPC, EDQUOT, EFBIG), or work started before a pause is void. The daemon
    /// pauses, and resumes when there is space.
    OutOfSpace,
    /// The daemon cannot read or write its output or state, or the system refuses a resource it
    /// needs.
    Io,
    /// State and output contradict each other. Only the operator can decide which is right.
    Inconsistent,
    /// The configuration has another `kind` or `dedupe` for a spool that the state knows.
    Refused,
    /// The reader of standard output closed it, which is a normal end.
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

    /// Converts a system error about one of the daemon's own files.
    fn of_system(error: &io::Error, message: impl Into<String>) -> DaemonError {
        // A full disk, an exhausted quota, or a limit on file sizes.
        let kind = match error.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG) => ErrorKind::OutOfSpace,
            _ => ErrorKind::Io,
        };
        DaemonError::new(kind, message)
    }

    /// The error for a thread that cannot be started.
    fn thread(error: io::Error) -> DaemonError {
        DaemonError::io(format!("cannot start a thread: {error}")).caused_by(error)
    }

    /// Attaches the underlying error.
    fn caused_by(mut self, error: impl StdError + Send + Sync + 'static) -> DaemonError {
        self.source = Some(Arc::new(error));
        self
    }
}

/// Extension of the results of operations on the daemon's own files.
trait AtPath<T> {
    /// Adds the path of the file to the error.
    fn at(self, path: impl AsRef<Path>) -> Result<T>;
}

impl<T> AtPath<T> for io::Result<T> {
    fn at(self, path: impl AsRef<Path>) -> Result<T> {
        self.map_err(|error| {
            let way_out = match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    "; run it as a user with write access, or name another folder"
                }
                _ => "",
            };
            let message = format!("{}: {error}{way_out}", path.as_ref().display());
            DaemonError::of_system(&error, message).caused_by(error)
        })
    }
}
