//! The surroundings of the daemon: its clock and its log.

use std::time::Duration;

use super::status::SealedSegment;
use crate::diagnostic::Event;

/// A point in time of a clock that never goes back. Only differences count, so the system clock may jump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MonotonicTime {
    /// Milliseconds since an arbitrary start.
    pub ms: u64,
}

impl MonotonicTime {
    /// The time `ms` milliseconds later.
    pub(crate) fn after(self, ms: u64) -> MonotonicTime {
        MonotonicTime {
            ms: self.ms.saturating_add(ms),
        }
    }

    /// The time later by `duration`, in whole milliseconds.
    pub(crate) fn plus(self, duration: Duration) -> MonotonicTime {
        self.after(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Clock and log. Passed in, so that a test can be the host.
pub trait DaemonHost {
    /// The current time.
    fn now(&mut self) -> MonotonicTime;

    /// Seconds since 1970 by the system clock, or `None` without one. It may jump; only days between two runs count by it.
    fn unix_time(&mut self) -> Option<u64> {
        None
    }

    /// Writes a line for the operator.
    fn log(&mut self, record: &LogRecord<'_>);
}

/// One line of the log.
#[derive(Debug)]
#[non_exhaustive]
pub enum LogRecord<'r> {
    /// Normal operation.
    Info(String),
    /// Something that needs attention.
    Warn(String),
    /// A diagnostic of a source.
    Diagnostic(&'r Event),
    /// A segment was sealed.
    Sealed(&'r SealedSegment),
}
