//! Parts shared by all network steps of an audit: batches, HTTP clients with a contact, the request
//! rate, and retries after refusals.

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ureq::http::Response;
use ureq::{Agent, Body};

use super::AuditError;
use super::client::{user_agent, wait_until};
use urlspool_store::load::{http_config, retry_after};
use urlspool_text::limits::{
    AUDIT_CDX_SECONDS, AUDIT_REFUSAL_SECONDS, AUDIT_REFUSALS, AUDIT_RETRY_AFTER_SECONDS,
};

/// Receives the progress of a step.
pub trait AuditProgress {
    /// Reports the minimum time that all URLs take, if it is known.
    fn expected(&self, due: u64, time: Duration);

    /// Reports the number of URLs that are done and the number that are due.
    fn done(&self, done: u64, due: u64);

    /// Reports a long pause after a refusal, with its reason.
    fn pauses(&self, reason: &str, pause: Duration);
}

/// Truncates the links to the maximum number for this run.
pub(super) fn keep_first<L>(due: &mut Vec<L>, limit: Option<u64>) {
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    due.truncate(limit.unwrap_or(usize::MAX));
}

/// Processes the links that are due in batches. `take` requests a batch, stores the answers, and
/// returns the number of links done so far, or `None` if it was stopped. In that case, returns
/// `false`.
pub(super) fn in_batches<L>(
    due: &[L],
    batch_links: usize,
    progress: &dyn AuditProgress,
    mut take: impl FnMut(&[L]) -> Result<Option<u64>, AuditError>,
) -> Result<bool, AuditError> {
    progress.done(0, due.len() as u64);
    for batch in due.chunks(batch_links) {
        let Some(done) = take(batch)? else {
            return Ok(false);
        };
        progress.done(done, due.len() as u64);
    }
    Ok(true)
}

/// Creates a client for `server`. `contact` tells the server's owners where to write. The client
/// follows no redirects.
///
/// # Errors
///
/// The address contains a user or a password, which would appear in the database, the report and
/// messages.
pub(super) fn agent(server: &str, contact: &str) -> Result<Agent, AuditError> {
    refuse_login(server)?;
    let user_agent = user_agent(Some(contact))?;
    let timeout = Duration::from_secs(AUDIT_CDX_SECONDS);
    let config = http_config(server, None, None, &user_agent, timeout);
    Ok(config.build().new_agent())
}

/// Refuses a server address with a user or a password before the `@`.
pub(super) fn refuse_login(server: &str) -> Result<(), AuditError> {
    let rest = server.split_once("://").map_or(server, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(AuditError::unusable(
            "the server address has a user or a password before its `@`, but an audit stores and \
             shows the address; remove them",
        ));
    }
    Ok(())
}

/// Reads the body of a response, up to `limit` bytes.
pub(super) fn body_of(response: Response<Body>, limit: u64) -> Result<Vec<u8>, Refusal> {
    let mut body = response.into_body();
    let read = body.with_config().limit(limit).read_to_vec();
    read.map_err(Refusal::new)
}

/// A refusal by a server, or a failure to reach it. A later request may succeed.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) reason: String,
    /// Pause that the server asks for.
    pause: Option<Duration>,
}

impl Refusal {
    pub(super) fn new(reason: impl fmt::Display) -> Refusal {
        Refusal {
            reason: reason.to_string(),
            pause: None,
        }
    }

    /// Creates the refusal for the status of a response.
    pub(super) fn by_status(response: &Response<Body>) -> Refusal {
        Refusal {
            reason: format!("HTTP status {}", response.status().as_u16()),
            pause: retry_after(response),
        }
    }
}

/// Reason why a question has no reply.
pub(super) enum NoReply {
    /// The question may be repeated.
    Refused(Refusal),
    /// The step must end.
    Error(AuditError),
}

impl From<Refusal> for NoReply {
    fn from(refusal: Refusal) -> NoReply {
        NoReply::Refused(refusal)
    }
}

/// Tracks the refusals of a server and when to give up.
pub(super) struct Patience<'p> {
    /// Number of refusals since the last answer.
    refusals: u32,
    /// Reason of the last refusal.
    pub(super) last_refusal: Option<String>,
    /// Time of the next question.
    until: Option<Instant>,
    pub(super) progress: &'p dyn AuditProgress,
}

impl<'p> Patience<'p> {
    pub(super) fn new(progress: &'p dyn AuditProgress) -> Patience<'p> {
        Patience {
            refusals: 0,
            last_refusal: None,
            until: None,
            progress,
        }
    }

    /// Asks a question at the given rate until there is an answer. Returns `None` if it was
    /// stopped.
    ///
    /// # Errors
    ///
    /// `NoReply::Refused`, with the reason for giving up, if the server refused too often or asks
    /// for too long a pause.
    pub(super) fn ask<A>(
        &mut self,
        pace: &mut Pace,
        stop: &AtomicBool,
        mut question: impl FnMut() -> Result<A, NoReply>,
    ) -> Result<Option<A>, NoReply> {
        loop {
            if self.until.is_some_and(|until| !wait_until(until, stop)) || !pace.wait(stop) {
                return Ok(None);
            }
            match question() {
                Ok(answer) => {
                    *self = Patience::new(self.progress);
                    return Ok(Some(answer));
                }
                Err(NoReply::Refused(refusal)) => {
                    let pause = self.pause_after(&refusal).map_err(Refusal::new)?;
                    self.until = Some(Instant::now() + pause);
                    if Duration::from_secs(AUDIT_REFUSAL_SECONDS) <= pause {
                        self.progress.pauses(&refusal.reason, pause);
                    }
                    self.last_refusal = Some(refusal.reason);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Counts a refusal. Returns the pause before the next question, or the reason for giving up.
    fn pause_after(&mut self, refusal: &Refusal) -> Result<Duration, String> {
        let reason = &refusal.reason;
        self.refusals += 1;
        if AUDIT_REFUSALS <= self.refusals {
            return Err(format!(
                "refused or not answered {AUDIT_REFUSALS} times in a row (last reason: {reason}); \
                 run it again later to continue"
            ));
        }
        let usual = Duration::from_secs(AUDIT_REFUSAL_SECONDS);
        let pause = refusal.pause.unwrap_or(usual);
        if Duration::from_secs(AUDIT_RETRY_AFTER_SECONDS) < pause {
            return Err(long_pause(reason, pause));
        }
        Ok(pause)
    }
}

/// Returns the reason for giving up after a request for too long a pause.
fn long_pause(reason: &str, pause: Duration) -> String {
    const DAY_SECONDS: u64 = 24 * 60 * 60;
    /// Longest pause that a message states, in days.
    const NAMED_DAYS: u64 = 365;
    let asked = format!("{reason}, and the server asks for a pause of");
    if NAMED_DAYS * DAY_SECONDS < pause.as_secs() {
        return format!(
            "{asked} more than {NAMED_DAYS} days; ask its owners, or name another server"
        );
    }
    let minutes = pause.as_secs().div_ceil(60);
    format!("{asked} {minutes} minutes; run it again after that to continue")
}

/// Minimum interval between the starts of two questions.
#[derive(Debug)]
pub(super) struct Pace {
    interval: Duration,
    next: Instant,
}

impl Pace {
    /// Creates a rate of `rate` questions per minute. The first question does not wait.
    pub(super) fn of_rate(rate: u32) -> Pace {
        Pace::new(Duration::from_mins(1) / rate.max(1))
    }

    /// Creates a rate of one question per interval. The first question does not wait.
    pub(super) fn new(interval: Duration) -> Pace {
        Pace {
            interval,
            next: Instant::now(),
        }
    }

    /// Returns the minimum time that `questions` take.
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
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    struct NoProgress;

    impl AuditProgress for NoProgress {
        fn expected(&self, _: u64, _: Duration) {}

        fn done(&self, _: u64, _: u64) {}

        fn pauses(&self, _: &str, _: Duration) {}
    }

    #[test]
    fn questions_are_spaced_and_a_stop_ends_the_wait() {
        let mut pace = Pace::of_rate(1_200);
        assert_eq!(pace.expected(1_200), Duration::from_mins(1));
        let stop = AtomicBool::new(false);
        let begun = Instant::now();
        for _ in 0..5 {
            assert!(pace.wait(&stop));
        }
        assert!(Duration::from_millis(200) <= begun.elapsed());
        let mut patience = Patience {
            until: Some(Instant::now() + Duration::from_hours(1)),
            ..Patience::new(&NoProgress)
        };
        stop.store(true, Ordering::Relaxed);
        assert!(!pace.wait(&stop));
        assert!(matches!(
            patience.ask(&mut pace, &stop, || Ok(())),
            Ok(None)
        ));
    }
}
