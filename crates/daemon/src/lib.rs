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
//! | this file `status` `own_files` | types of all modules, the daemon's error and its own files |
//! | `store` | state and output: known mail and committed records |
//! | `ingest` | one file: known or new, complete or growing; its messages |
//! | `schedule` | which files are scanned, and when: events, rescans, retries |
//! | `service` | the process: supervisor, reader threads, signals, status, log, sandbox |

mod own_files;
mod status;

mod store;

mod ingest;

mod schedule;

mod service;

use std::error::Error as StdError;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use thiserror::Error;

use urlspool_text::diagnostic::Event;

pub use schedule::{DaemonEvent, FileChange, ReaderHost, SpoolReader};
pub use service::{RunEnd, RunMode, StateSource, ask, run};
pub use status::{
    DaemonState, FailedFile, LastError, LockedFile, Notices, SealedSegment, SpoolState,
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

/// A point in time of a monotonic clock. Only differences matter, so the system clock may jump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MonotonicTime {
    /// Milliseconds since an arbitrary start.
    pub ms: u64,
}

impl MonotonicTime {
    /// The time `ms` milliseconds later.
    #[must_use]
    pub fn after(self, ms: u64) -> MonotonicTime {
        MonotonicTime {
            ms: self.ms.saturating_add(ms),
        }
    }

    /// The time `duration` later, in whole milliseconds.
    #[must_use]
    pub fn plus(self, duration: Duration) -> MonotonicTime {
        self.after(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Clock and log, passed in so tests can replace them.
pub trait DaemonHost {
    /// The current time.
    fn now(&mut self) -> MonotonicTime;

    /// Milliseconds since 1970 by the system clock, or `None` without one. The clock may jump. It
    /// is used to count days between two runs and to compute the age of a file's last change.
    fn unix_ms(&mut self) -> Option<u64> {
        None
    }

    /// Seconds since 1970, by the clock of [`DaemonHost::unix_ms`].
    fn unix_time(&mut self) -> Option<u64> {
        self.unix_ms().map(|ms| ms / 1_000)
    }

    /// Writes a line for the operator.
    fn log(&mut self, record: &LogRecord<'_>);

    /// Writes a line about normal operation.
    fn info(&mut self, text: String) {
        self.log(&LogRecord::Info(text));
    }

    /// Writes a line about a condition that needs attention.
    fn warn(&mut self, text: String) {
        self.log(&LogRecord::Warn(text));
    }
}

/// One line of the log.
#[derive(Debug)]
pub enum LogRecord<'r> {
    /// Normal operation.
    Info(String),
    /// A condition that needs attention.
    Warn(String),
    /// A diagnostic of a source.
    Diagnostic(&'r Event),
    /// A segment was sealed.
    Sealed(&'r SealedSegment),
}

/// A reader's signs of progress, and the supervisor's requests to it.
#[derive(Debug, Default)]
pub struct Heartbeat {
    steps: AtomicU64,
    waiting: AtomicBool,
    retired: AtomicBool,
    stop: AtomicBool,
}

impl Heartbeat {
    /// Records one step of progress: the reader read data or found none to read.
    pub fn beat(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// Marks the reader as waiting for events.
    pub fn begin_wait(&self) {
        self.waiting.store(true, Ordering::Relaxed);
    }

    /// Marks the reader as working again.
    pub fn end_wait(&self) {
        self.waiting.store(false, Ordering::Relaxed);
    }

    /// Asks the reader to stop after the current file.
    pub fn request_stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    /// Returns `true` if the reader was asked to stop since the last call.
    pub fn take_stop(&self) -> bool {
        self.stop.swap(false, Ordering::AcqRel)
    }

    /// Marks the reader as replaced: results of its pending reads must be rejected.
    pub fn retire(&self) {
        self.retired.store(true, Ordering::SeqCst);
    }

    /// Returns `true` if the reader was replaced.
    pub fn is_retired(&self) -> bool {
        self.retired.load(Ordering::SeqCst)
    }

    /// Number of steps so far; `None` while the reader waits for events.
    pub fn steps(&self) -> Option<u64> {
        (!self.waiting.load(Ordering::Relaxed)).then(|| self.steps.load(Ordering::Relaxed))
    }
}
