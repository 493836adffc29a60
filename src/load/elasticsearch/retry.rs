//! Repetition of requests: a server that is busy, or whose connection broke, is asked again after a while.

use std::rc::Rc;
use std::thread;
use std::time::Duration;

use crate::limits::{LOAD_ATTEMPTS, LOAD_BACKOFF_MS, LOAD_RETRY_AFTER_SECONDS};
use crate::load::SharedReport;
use crate::load::error::LoadError;

/// The result of one attempt.
#[derive(Debug)]
pub(super) enum Attempt<T> {
    Done(T),
    /// The server may accept it later.
    Again(Refusal),
}

/// The reason why an attempt has to be repeated.
#[derive(Debug)]
pub(super) struct Refusal {
    /// It ends the load after the last attempt.
    pub(super) error: LoadError,
    /// The time that the server asks to wait.
    pub(super) retry_after: Option<Duration>,
}

/// Repeats `attempt` until it is done.
///
/// # Errors
///
/// The error of an attempt, after the last one also that of a [`Refusal`].
pub(super) fn retried<T>(
    report: &SharedReport<'_>,
    mut attempt: impl FnMut() -> Result<Attempt<T>, LoadError>,
) -> Result<T, LoadError> {
    let mut backoff = Backoff::new(Rc::clone(report));
    loop {
        match attempt()? {
            Attempt::Done(value) => return Ok(value),
            Attempt::Again(refusal) => backoff.wait(refusal)?,
        }
    }
}

/// Times between attempts: each is twice the one before.
pub(super) struct Backoff<'r> {
    failed: u32,
    report: SharedReport<'r>,
}

impl<'r> Backoff<'r> {
    /// No attempt has failed.
    pub(super) fn new(report: SharedReport<'r>) -> Backoff<'r> {
        Backoff { failed: 0, report }
    }

    /// Waits before the next attempt.
    ///
    /// # Errors
    ///
    /// There were [`LOAD_ATTEMPTS`] attempts.
    pub(super) fn wait(&mut self, refusal: Refusal) -> Result<(), LoadError> {
        self.failed += 1;
        self.report
            .borrow_mut()
            .retried(&refusal.error, self.failed, LOAD_ATTEMPTS);
        if LOAD_ATTEMPTS <= self.failed {
            return Err(refusal.error);
        }
        thread::sleep(pause(self.failed, refusal.retry_after));
        Ok(())
    }

    /// Begins anew, since the server accepted a part.
    pub(super) fn reset(&mut self) {
        self.failed = 0;
    }
}

/// The pause after `failed` attempts, from 1: not shorter than the server asked for, up to a limit.
fn pause(failed: u32, retry_after: Option<Duration>) -> Duration {
    let doubled = Duration::from_millis(LOAD_BACKOFF_MS << (failed - 1));
    let asked = retry_after.unwrap_or_default();
    doubled.max(asked.min(Duration::from_secs(LOAD_RETRY_AFTER_SECONDS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_honour_the_server_up_to_a_limit() {
        let ms = |failed, asked| pause(failed, asked).as_millis();
        assert_eq!(ms(1, None), 100);
        assert_eq!(ms(3, None), 400);
        assert_eq!(ms(1, Some(Duration::from_secs(2))), 2_000);
        assert_eq!(ms(1, Some(Duration::from_hours(1))), 30_000);
    }
}
