//! Whether a reader lives: told by the reader, asked by whoever watches over it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A reader's signs of life.
#[derive(Debug, Default)]
pub(crate) struct Heartbeat {
    steps: AtomicU64,
    waits: AtomicBool,
    over: AtomicBool,
}

impl Heartbeat {
    /// The reader goes on: something was read, or there is nothing to read.
    pub(crate) fn beat(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// The reader waits for news, or no longer does.
    pub(crate) fn wait(&self, waits: bool) {
        self.waits.store(waits, Ordering::Relaxed);
    }

    /// The reader was replaced: whatever it still reads is not to be taken.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    /// Whether the reader was replaced.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// How often it went on; nothing while it waits for news.
    pub(crate) fn steps(&self) -> Option<u64> {
        (!self.waits.load(Ordering::Relaxed)).then(|| self.steps.load(Ordering::Relaxed))
    }
}
