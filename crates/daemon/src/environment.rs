//! The daemon's interface to its host: clock, log, and the heartbeat that lets the supervisor watch
//! a reader.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::status::SealedSegment;
use urlspool_text::diagnostic::Event;

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
