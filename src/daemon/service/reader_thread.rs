//! The thread of a reader: as the supervisor sees it; its loop; and the host of its reader, with clock, log, and events from the
//! kernel and the supervisor. A file system that does not answer blocks only its own reader.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{io, thread};

use super::log::RateLimitedLog;
use crate::daemon::error::DaemonError;
use crate::daemon::host::{DaemonHost, Heartbeat, LogRecord, MonotonicTime};
use crate::daemon::schedule::{
    DaemonEvent, FsEvents, OverflowFlag, ReaderHost, SpoolReader, UnwatchedPath, WatchError,
};
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
                on_end(result.unwrap_or_else(|_| {
                    Err(DaemonError::io("a reader panicked; please report this"))
                }));
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

/// The time between two updates of the reader's status.
const STATUS_INTERVAL: Duration = Duration::from_millis(500);

/// Maximum sleep, so that roots that appear and disappear are noticed.
const MAX_SLEEP: Duration = Duration::from_secs(1);

/// The time without a new message after which [`RunMode::Once`] ends, though some file is still written.
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);

/// State that a reader thread shares with the supervisor.
#[derive(Debug)]
pub(super) struct SharedReaderState {
    pub(super) status: Mutex<Status>,
    stop: AtomicBool,
}

/// The loop of a reader thread.
pub(super) struct ReaderLoop {
    queue: Receiver<DaemonEvent>,
    wake: SyncSender<DaemonEvent>,
    overflow: OverflowFlag,
    fs_events: FsEvents,
    shared: Arc<SharedReaderState>,
    clock: Clock,
    log: RateLimitedLog,
    status_at: Instant,
    /// `true` if there may be folders whose changes are not reported.
    is_watch_incomplete: bool,
}

/// Recognises that nothing was read for [`IDLE_TIMEOUT`].
struct IdleTimer {
    messages: u64,
    since: Instant,
}

impl SharedReaderState {
    pub(super) fn new(status: Status) -> SharedReaderState {
        SharedReaderState {
            status: Mutex::new(status),
            stop: AtomicBool::new(false),
        }
    }

    /// Asks the reader to stop.
    pub(super) fn request_stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    fn take_stop(&self) -> bool {
        self.stop.swap(false, Ordering::AcqRel)
    }
}

impl ReaderLoop {
    pub(super) fn new(
        queue: Receiver<DaemonEvent>,
        wake: SyncSender<DaemonEvent>,
        shared: Arc<SharedReaderState>,
        clock: Clock,
        log: RateLimitedLog,
    ) -> ReaderLoop {
        let overflow = OverflowFlag::default();
        ReaderLoop {
            fs_events: FsEvents::new(wake.clone(), Arc::clone(&overflow)),
            queue,
            wake,
            overflow,
            shared,
            clock,
            log,
            status_at: Instant::now(),
            is_watch_incomplete: true,
        }
    }

    /// Reads until the reader is asked to stop, or, with [`RunMode::Once`], until everything was read. Returns the files that
    /// were not.
    pub(super) fn run(
        &mut self,
        mut reader: SpoolReader,
        mode: RunMode,
    ) -> Result<RunEnd, DaemonError> {
        let heartbeat = reader.heartbeat();
        let mut end = RunEnd::default();
        let mut idle = IdleTimer::start();
        while !reader.is_stopping() {
            if reader.roots_changed() | self.is_watch_incomplete {
                self.watch(&reader);
                reader.rescan_all(self.now());
            }
            let next = reader.work(self)?;
            heartbeat.beat();
            self.progress(&reader);
            idle.update(reader.messages_read());
            if mode == RunMode::Once && self.is_done(&reader, &idle) {
                end.unread = reader.unread_files(self.now());
                break;
            }
            heartbeat.begin_wait();
            let event = self.wait(next);
            heartbeat.end_wait();
            if let Some(event) = event {
                reader.handle(event, self.now());
            }
        }
        self.publish_status(&reader);
        heartbeat.begin_wait();
        Ok(end)
    }

    fn is_done(&mut self, reader: &SpoolReader, idle: &IdleTimer) -> bool {
        let timeout = IDLE_TIMEOUT.max(reader.lock_timeout()) + reader.gone_timeout();
        reader.is_done(self.now()) || timeout < idle.since.elapsed() && !reader.is_paused()
    }

    /// Watches the reader's spools, and polls those that cannot be watched.
    fn watch(&mut self, reader: &SpoolReader) {
        self.is_watch_incomplete = false;
        for UnwatchedPath { path, reason } in self.fs_events.watch(&reader.roots()) {
            self.poll(path, &reason);
        }
    }

    fn poll(&mut self, path: PathBuf, reason: &WatchError) {
        self.log.write(&LogRecord::Warn(format!(
            "{}: changes are polled, not reported by the kernel: {reason}",
            path.display()
        )));
        // A full queue causes a rescan of everything, which serves as the first poll.
        if self.wake.try_send(DaemonEvent::Unwatched(path)).is_err() {
            self.overflow.store(true, Ordering::Release);
        }
    }

    /// Sleeps until `next` or the next event, at most for [`MAX_SLEEP`].
    fn wait(&mut self, next: MonotonicTime) -> Option<DaemonEvent> {
        let until_next = Duration::from_millis(next.ms.saturating_sub(self.now().ms));
        // `self.wake` keeps the channel open, so the only error is the timeout.
        let event = self
            .flag_event()
            .or_else(|| self.queue.recv_timeout(until_next.min(MAX_SLEEP)).ok());
        self.note_overflow(event)
    }

    /// Events that are not in the queue.
    fn flag_event(&self) -> Option<DaemonEvent> {
        if self.shared.take_stop() {
            return Some(DaemonEvent::Stop);
        }
        self.overflow
            .swap(false, Ordering::AcqRel)
            .then_some(DaemonEvent::Overflow)
    }

    /// The lost notifications may have reported new folders, which are not watched then.
    fn note_overflow(&mut self, event: Option<DaemonEvent>) -> Option<DaemonEvent> {
        self.is_watch_incomplete |= matches!(event, Some(DaemonEvent::Overflow));
        event
    }

    fn publish_status(&mut self, reader: &SpoolReader) {
        self.status_at = Instant::now();
        let status = reader.spools_status(self.now());
        *self
            .shared
            .status
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = status;
    }
}

impl DaemonHost for ReaderLoop {
    fn now(&mut self) -> MonotonicTime {
        self.clock.now()
    }

    fn unix_time(&mut self) -> Option<u64> {
        unix_time()
    }

    fn log(&mut self, record: &LogRecord<'_>) {
        self.log.write(record);
    }
}

impl ReaderHost for ReaderLoop {
    fn event(&mut self) -> Option<DaemonEvent> {
        let event = self.flag_event().or_else(|| self.queue.try_recv().ok());
        self.note_overflow(event)
    }

    fn folder_appeared(&mut self, root: &Path, folder: &Path) {
        if let Err(reason) = self.fs_events.add(root, folder) {
            self.poll(folder.to_owned(), &reason);
        }
    }

    fn progress(&mut self, reader: &SpoolReader) {
        if STATUS_INTERVAL <= self.status_at.elapsed() {
            self.publish_status(reader);
        }
    }
}

impl IdleTimer {
    fn start() -> IdleTimer {
        IdleTimer {
            messages: 0,
            since: Instant::now(),
        }
    }

    fn update(&mut self, messages: u64) {
        if messages != self.messages {
            self.messages = messages;
            self.since = Instant::now();
        }
    }
}

/// Duration of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// Until everything was read.
    Once,
    /// Until the operator stops it.
    Forever,
}

/// The state that a run starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateSource {
    /// The state database; a new one if nothing was written yet.
    Database,
    /// A state rebuilt from the segments' sidecars.
    Sidecars,
}

/// The end of a run without an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunEnd {
    /// With [`RunMode::Once`]: a sentence about each file that was not read, because it stayed locked or was still written.
    pub unread: Vec<String>,
}

/// The clocks of the process. Its copies show the same time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that starts at 0.
    pub(super) fn start() -> Clock {
        Clock {
            start: Instant::now(),
        }
    }

    /// The time since the start.
    pub(super) fn now(&self) -> MonotonicTime {
        MonotonicTime::default().plus(self.start.elapsed())
    }
}

/// Seconds since 1970 by the system clock; `None` if it is set to an earlier time.
pub(super) fn unix_time() -> Option<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(since.as_secs())
}
