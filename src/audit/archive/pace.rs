//! Pauses between questions, which a stop ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::limits::AUDIT_POLL_MS;

/// The time between the starts of two questions.
#[derive(Debug)]
pub(super) struct Pace {
    interval: Duration,
    next: Instant,
}

impl Pace {
    /// Creates the pace of `rate` questions a minute. The first one is free.
    pub(super) fn new(rate: u32) -> Pace {
        Pace {
            interval: Duration::from_mins(1) / rate.max(1),
            next: Instant::now(),
        }
    }

    /// Returns the time that `questions` take at least.
    pub(super) fn expected(&self, questions: u64) -> Duration {
        let questions = u32::try_from(questions).unwrap_or(u32::MAX);
        self.interval.saturating_mul(questions)
    }

    /// Waits until the next question may be asked. Returns `false` if it was stopped.
    pub(super) fn wait(&mut self, stop: &AtomicBool) -> bool {
        if !wait_until(self.next, stop) {
            return false;
        }
        self.next = Instant::now() + self.interval;
        true
    }

    /// Puts off the next question.
    pub(super) fn put_off(&mut self, pause: Duration) {
        self.next = self.next.max(Instant::now() + pause);
    }
}

/// Waits for a time. Returns `false` if it was stopped.
fn wait_until(time: Instant, stop: &AtomicBool) -> bool {
    loop {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let left = time.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        thread::sleep(left.min(Duration::from_millis(AUDIT_POLL_MS)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_have_their_distance_and_a_stop_ends_it() {
        let mut pace = Pace::new(1_200);
        assert_eq!(pace.expected(1_200), Duration::from_mins(1));
        let stop = AtomicBool::new(false);
        let begun = Instant::now();
        for _ in 0..5 {
            assert!(pace.wait(&stop));
        }
        assert!(Duration::from_millis(200) <= begun.elapsed());
        pace.put_off(Duration::from_hours(1));
        stop.store(true, Ordering::Relaxed);
        assert!(!pace.wait(&stop));
    }
}
