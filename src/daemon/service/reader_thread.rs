//! The thread of a reader, as the supervisor sees it. A file system that does not answer blocks only its own reader.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::clock::Clock;
use super::log::RateLimitedLog;
use super::reader_loop::{ReaderLoop, SharedReaderState};
use super::run_options::{RunEnd, RunMode};
use crate::daemon::error::{DaemonError, DaemonFailure};
use crate::daemon::heartbeat::Heartbeat;
use crate::daemon::host::{LogRecord, MonotonicTime};
use crate::daemon::schedule::{DaemonEvent, SpoolReader};
use crate::daemon::status::Status;

/// Maximum number of queued events. If more arrive, the reader rescans everything.
const QUEUED_EVENTS: usize = 8_192;

/// The time without progress after which a reader counts as stalled.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Supervisor's handle to a reader thread.
#[derive(Debug)]
pub(super) struct ReaderThread {
    heartbeat: Arc<Heartbeat>,
    shared: Arc<SharedReaderState>,
    wake: SyncSender<DaemonEvent>,
    progress: LastProgress,
    is_stall_reported: bool,
}

/// The last progress that the supervisor observed.
#[derive(Clone, Copy, Debug)]
struct LastProgress {
    /// The reader's steps at that time; `None` if it waited for events.
    steps: Option<u64>,
    at: Instant,
}

/// The state of a reader's spools.
pub(super) struct ReaderReport {
    pub(super) status: Status,
    /// A line for the log: since the last report the reader has stalled, or reads again.
    pub(super) log_line: Option<LogRecord<'static>>,
}

impl ReaderThread {
    /// Starts a thread for `reader`. When it ends, it calls `on_end`.
    pub(super) fn start(
        reader: SpoolReader,
        clock: Clock,
        log: RateLimitedLog,
        mode: RunMode,
        on_end: impl FnOnce(Result<RunEnd, DaemonError>) + Send + 'static,
    ) -> io::Result<ReaderThread> {
        let (wake, queue) = sync_channel(QUEUED_EVENTS);
        let shared = Arc::new(SharedReaderState::new(
            reader.spools_status(MonotonicTime::default()),
        ));
        let handle = ReaderThread {
            heartbeat: reader.heartbeat(),
            shared: Arc::clone(&shared),
            wake: wake.clone(),
            progress: LastProgress {
                steps: None,
                at: Instant::now(),
            },
            is_stall_reported: false,
        };
        thread::Builder::new()
            .name("reader".to_owned())
            .spawn(move || {
                let mut reader_loop = ReaderLoop::new(queue, wake, shared, clock, log);
                let result = catch_unwind(AssertUnwindSafe(|| reader_loop.run(reader, mode)));
                on_end(result.unwrap_or_else(|_| Err(DaemonFailure::ReaderPanicked.into())));
            })?;
        Ok(handle)
    }

    /// Asks the reader to stop after the current file.
    pub(super) fn stop(&self) {
        self.shared.request_stop();
        // If the queue is full, its events wake the reader.
        let _ = self.wake.try_send(DaemonEvent::Stop);
    }

    /// Asks the reader to stop, and rejects everything that it still reads.
    pub(super) fn retire(&self) {
        self.heartbeat.retire();
        self.stop();
    }

    /// The state of the reader's spools.
    pub(super) fn report(&mut self) -> ReaderReport {
        let mut status = self
            .shared
            .status
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let was_reported = self.is_stall_reported;
        let Some(stalled) = self.stalled() else {
            let is_over = was_reported && !self.is_stall_reported;
            return ReaderReport {
                log_line: is_over.then(|| LogRecord::Info(recovery(&status))),
                status,
            };
        };
        for spool in &mut status.spools {
            spool.stall(u64::try_from(stalled.as_millis()).unwrap_or(u64::MAX));
        }
        let is_new = !std::mem::replace(&mut self.is_stall_reported, true);
        ReaderReport {
            log_line: is_new.then(|| LogRecord::Warn(stall_warning(&status, stalled))),
            status,
        }
    }

    /// The time without progress, if the reader has work and has stalled.
    fn stalled(&mut self) -> Option<Duration> {
        let steps = self.heartbeat.steps();
        if steps.is_none() || steps != self.progress.steps {
            self.progress = LastProgress {
                steps,
                at: Instant::now(),
            };
            self.is_stall_reported = false;
        }
        Some(self.progress.at.elapsed()).filter(|elapsed| STALL_TIMEOUT <= *elapsed)
    }
}

fn spool_paths(status: &Status) -> String {
    let paths: Vec<&str> = status.spools.iter().map(|spool| &*spool.path).collect();
    paths.join(", ")
}

fn recovery(status: &Status) -> String {
    format!(
        "{}: the file system answers again; reading goes on",
        spool_paths(status)
    )
}

fn stall_warning(status: &Status, stalled: Duration) -> String {
    format!(
        "{}: no progress for {} s, the file system does not answer; other spools are read as usual",
        spool_paths(status),
        stalled.as_secs()
    )
}
