//! The loop of a reader thread, and the host of its reader: clock, log, and events from the kernel and the supervisor.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::clock::{Clock, unix_time};
use super::log::RateLimitedLog;
use super::run_options::{RunEnd, RunMode};
use crate::daemon::error::DaemonError;
use crate::daemon::host::{DaemonHost, LogRecord, MonotonicTime};
use crate::daemon::schedule::{
    DaemonEvent, FsEvents, OverflowFlag, ReaderHost, SpoolReader, UnwatchedPath, WatchError,
};
use crate::daemon::status::Status;

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
