//! The heartbeat of a reader: set by the reader, read by the supervisor.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A reader's signs of progress.
#[derive(Debug, Default)]
pub(crate) struct Heartbeat {
    steps: AtomicU64,
    waiting: AtomicBool,
    retired: AtomicBool,
}

impl Heartbeat {
    /// Records one step of progress: something was read, or there is nothing to read.
    pub(crate) fn beat(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// The reader waits for events from now on.
    pub(crate) fn begin_wait(&self) {
        self.waiting.store(true, Ordering::Relaxed);
    }

    /// The reader works again.
    pub(crate) fn end_wait(&self) {
        self.waiting.store(false, Ordering::Relaxed);
    }

    /// The reader was replaced: results of what it still reads must be rejected.
    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::SeqCst);
    }

    /// Returns `true` if the reader was replaced.
    pub(crate) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::SeqCst)
    }

    /// Number of steps so far; `None` while the reader waits for events.
    pub(crate) fn steps(&self) -> Option<u64> {
        (!self.waiting.load(Ordering::Relaxed)).then(|| self.steps.load(Ordering::Relaxed))
    }
}
