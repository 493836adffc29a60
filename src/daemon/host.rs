//! What can wake the daemon, and where it lives.

use std::path::{Path, PathBuf};

use crate::daemon::SpoolReader;

/// A moment. Only differences count, so that clocks may jump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MonotonicTime {
    /// Milliseconds of a clock that never goes back.
    pub ms: u64,
}

impl MonotonicTime {
    pub(crate) fn after(self, ms: u64) -> MonotonicTime {
        MonotonicTime {
            ms: self.ms.saturating_add(ms),
        }
    }
}

/// Everything that can wake a reader. If it is not here, it does not happen.
#[derive(Debug)]
pub enum DaemonEvent {
    /// Something at this path changed; what, is for the look to find out.
    Changed(PathBuf),
    /// The writer of this file has closed it.
    Closed(PathBuf),
    /// FsEvents were lost: everything must be looked at.
    Overflow,
    /// A spool, or a folder in it, gives no notices; it must be looked at from time to time.
    Unwatched(PathBuf),
    /// The operator wants an end.
    Stop,
}

/// Where the daemon lives: what time it is, what has happened, and who is told.
pub trait DaemonHost {
    /// The time.
    fn now(&mut self) -> MonotonicTime;

    /// Seconds since 1970 by the machine's clock, if there is one. It may jump; only days between two runs count by it.
    fn unix_time(&mut self) -> Option<u64> {
        None
    }

    /// What has happened since it was asked last; nothing if nothing has.
    fn event(&mut self) -> Option<DaemonEvent>;

    /// A folder came into the spool at `root`: what happens in it from now on must be heard, too.
    fn folder_appeared(&mut self, root: &Path, folder: &Path) {
        let _ = (root, folder);
    }

    /// A line for the operator.
    fn log(&mut self, record: &LogRecord<'_>);

    /// Called often while work is done, with how it stands.
    fn progress(&mut self, daemon: &SpoolReader);
}

/// What the operator is told.
#[derive(Debug)]
pub enum LogRecord<'r> {
    /// Something in the course of things.
    Info(String),
    /// Something that wants attention.
    Warn(String),
    /// Something was wrong with a source.
    Diagnostic(&'r crate::diagnostic::Event),
}
