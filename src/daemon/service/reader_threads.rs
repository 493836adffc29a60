//! The readers of the spools, each on a thread of its own: one whose file system does not answer holds up nobody else.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::log::Log;
use super::supervisor::{Call, RunMode, date, since};
use crate::config::Spool;
use crate::daemon::SpoolReader;
use crate::daemon::error::DaemonError;
use crate::daemon::heartbeat::Heartbeat;
use crate::daemon::host::{DaemonEvent, DaemonHost, LogRecord, MonotonicTime};
use crate::daemon::ingest::can_share;
use crate::daemon::schedule::{FsEvents, OverflowFlag, UnwatchedPath, WatchError};
use crate::daemon::status::Status;

/// FsEvents that wait. More are made up for by a look at everything.
const QUEUE: usize = 8_192;

/// The time between two updates of what a reader tells.
const TELL: Duration = Duration::from_millis(500);

/// The longest sleep, so that roots that come and go are seen.
const NAP: Duration = Duration::from_secs(1);

/// How long `--once` waits for mailboxes that stay locked.
const ONCE_PATIENCE: Duration = Duration::from_mins(1);

/// The time without a step after which a reader counts as stalled.
const STALLED: Duration = Duration::from_secs(30);

/// The spools for each reader, `most` readers at the most. Spools that lie in each other, or that may hold the same
/// mailbox, have the same one.
pub(crate) fn shared(spools: &[Spool], most: usize) -> Vec<Vec<Spool>> {
    let mut readers: Vec<Vec<Spool>> = Vec::new();
    for spool in spools {
        let path = &spool.path;
        let overlaps = |other: &Spool| {
            other.path.starts_with(path)
                || path.starts_with(&other.path)
                || can_share(path, &other.path)
        };
        let (with, others): (Vec<_>, Vec<_>) = readers
            .into_iter()
            .partition(|reader: &Vec<Spool>| reader.iter().any(overlaps));
        readers = others;
        readers.push(with.into_iter().flatten().chain([spool.clone()]).collect());
    }
    while readers.len() > most.max(1) {
        let last = readers.pop().unwrap_or_default();
        let at = readers.len() % most.max(1);
        readers[at].extend(last);
    }
    readers
}

/// What those who watch over a reader have of it.
#[derive(Debug)]
pub(crate) struct Watched {
    heartbeat: Arc<Heartbeat>,
    told: Arc<Mutex<Status>>,
    stop: Arc<AtomicBool>,
    wake: SyncSender<DaemonEvent>,
    /// The steps it had taken when it was looked at, and since when it has taken no more.
    stood: (Option<u64>, Instant),
    is_told: bool,
}

impl Watched {
    /// Begins to read. What ends the thread is sent as a call.
    pub(crate) fn begin(
        daemon: SpoolReader,
        start: Instant,
        log: &Log,
        (number, calls): (u64, Sender<Call>),
        once: RunMode,
    ) -> io::Result<Watched> {
        let (wake, queue) = sync_channel(QUEUE);
        let lost = OverflowFlag::default();
        let (told, stop) = (
            Arc::new(Mutex::new(
                daemon.status_of_spools(MonotonicTime::default()),
            )),
            Arc::default(),
        );
        let watched = Watched {
            heartbeat: Arc::clone(&daemon.heartbeat),
            told: Arc::clone(&told),
            stop: Arc::clone(&stop),
            wake: wake.clone(),
            stood: (None, Instant::now()),
            is_told: false,
        };
        let log = log.clone();
        thread::Builder::new()
            .name("reader".to_owned())
            .spawn(move || {
                let notices = FsEvents::new(wake.clone(), Arc::clone(&lost));
                let mut reader = Reader {
                    start,
                    queue,
                    wake,
                    lost,
                    notices,
                    log,
                    told,
                    stop,
                    told_at: Instant::now(),
                    is_deaf: true,
                };
                let ended = catch_unwind(AssertUnwindSafe(|| reader.read(daemon, once)));
                let ended = ended.unwrap_or_else(|_| {
                    Err(DaemonError::Io(
                        "a reader failed; please report it".to_owned(),
                    ))
                });
                // Nobody listens any more only when the daemon is ending anyway.
                let _ = calls.send(Call::Ended(number, ended));
            })?;
        Ok(watched)
    }

    /// Asks it to end when what it is reading is read.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        // One with a full queue has other reasons to wake.
        let _ = self.wake.try_send(DaemonEvent::Stop);
    }

    /// Asks it to end, and sees to it that it takes nothing more.
    pub(crate) fn dismiss(&self) {
        self.heartbeat.end();
        self.stop();
    }

    /// For how long it has taken no step, though it had some to take.
    pub(crate) fn stalled(&mut self) -> Option<Duration> {
        let steps = self.heartbeat.steps();
        if steps.is_none() || steps != self.stood.0 {
            self.stood = (steps, Instant::now());
            self.is_told = false;
        }
        Some(self.stood.1.elapsed()).filter(|stood| *stood >= STALLED)
    }

    /// How its spools stand, and a line for the operator, if there is news.
    pub(crate) fn status(&mut self) -> (Status, Option<String>) {
        let mut status = self
            .told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let Some(stalled) = self.stalled() else {
            return (status, None);
        };
        for spool in &mut status.spools {
            spool.stalled_ms = u64::try_from(stalled.as_millis()).unwrap_or(u64::MAX);
            spool.lag_ms = spool.lag_ms.max(spool.stalled_ms);
        }
        let paths: Vec<&str> = status.spools.iter().map(|spool| &*spool.path).collect();
        let line = format!(
            "{}: no step forward for {} s; others go on",
            paths.join(", "),
            stalled.as_secs()
        );
        let news = !std::mem::replace(&mut self.is_told, true);
        (status, news.then_some(line))
    }
}

/// The host of a reader.
struct Reader {
    start: Instant,
    queue: Receiver<DaemonEvent>,
    wake: SyncSender<DaemonEvent>,
    lost: OverflowFlag,
    notices: FsEvents,
    log: Log,
    told: Arc<Mutex<Status>>,
    stop: Arc<AtomicBool>,
    told_at: Instant,
    /// Whether there may be folders that are not watched.
    is_deaf: bool,
}

impl Reader {
    /// Reads until it is told to stop, or, if it is to be done once, until everything was read.
    fn read(&mut self, mut daemon: SpoolReader, once: RunMode) -> Result<(), DaemonError> {
        let pulse = Arc::clone(&daemon.heartbeat);
        let mut patience = Instant::now();
        while !daemon.is_stopping() {
            if daemon.is_another_place() | self.is_deaf {
                self.watch(&daemon);
                daemon.look_everywhere(self.now());
            }
            let before = daemon.counts.messages_read;
            let next = daemon.work(self)?;
            pulse.beat();
            self.progress(&daemon);
            let now = self.now();
            if before != daemon.counts.messages_read {
                patience = Instant::now();
            }
            if once == RunMode::Once
                && (daemon.is_done(now)
                    || patience.elapsed() > ONCE_PATIENCE && !daemon.is_paused())
            {
                break;
            }
            pulse.wait(true);
            let event = self.wait(next);
            pulse.wait(false);
            if let Some(event) = event {
                daemon.handle(event, self.now());
            }
        }
        self.told_at = self.start;
        self.progress(&daemon);
        pulse.wait(true);
        Ok(())
    }

    /// Watches its spools; those that cannot be are polled.
    fn watch(&mut self, daemon: &SpoolReader) {
        let paths: Vec<PathBuf> = daemon
            .config()
            .spool
            .iter()
            .map(|spool| spool.path.clone())
            .collect();
        self.is_deaf = false;
        for UnwatchedPath { path, reason } in self.notices.watch(&paths) {
            self.poll(path, &reason);
        }
    }

    /// Has a spool looked at from time to time, since not all that happens in it is heard.
    fn poll(&mut self, path: PathBuf, why: &WatchError) {
        self.log.write(&LogRecord::Warn(format!(
            "{} is polled: {why}",
            path.to_string_lossy().escape_debug()
        )));
        // A full queue means a look at everything, which does as well for now.
        if self.wake.try_send(DaemonEvent::Unwatched(path)).is_err() {
            self.lost.store(true, Ordering::Release);
        }
    }

    /// Sleeps until `next`, or until something happens.
    fn wait(&mut self, next: MonotonicTime) -> Option<DaemonEvent> {
        let now = self.now();
        let nap = Duration::from_millis(next.ms.saturating_sub(now.ms)).min(NAP);
        // We hold a sender ourselves, so the queue never ends.
        let event = self.urgent().or_else(|| self.queue.recv_timeout(nap).ok());
        self.heed(event)
    }

    /// What does not stand in the queue.
    fn urgent(&self) -> Option<DaemonEvent> {
        if self.stop.swap(false, Ordering::AcqRel) {
            return Some(DaemonEvent::Stop);
        }
        self.lost
            .swap(false, Ordering::AcqRel)
            .then_some(DaemonEvent::Overflow)
    }

    /// Among the notices that were lost, folders may have come that nobody hears.
    fn heed(&mut self, event: Option<DaemonEvent>) -> Option<DaemonEvent> {
        self.is_deaf |= matches!(event, Some(DaemonEvent::Overflow));
        event
    }
}

impl DaemonHost for Reader {
    fn now(&mut self) -> MonotonicTime {
        since(self.start)
    }

    fn unix_time(&mut self) -> Option<u64> {
        date()
    }

    fn event(&mut self) -> Option<DaemonEvent> {
        let event = self.urgent().or_else(|| self.queue.try_recv().ok());
        self.heed(event)
    }

    fn folder_appeared(&mut self, root: &Path, folder: &Path) {
        if let Err(why) = self.notices.add(root, folder) {
            self.poll(folder.to_owned(), &why);
        }
    }

    fn log(&mut self, record: &LogRecord<'_>) {
        self.log.write(record);
    }

    fn progress(&mut self, daemon: &SpoolReader) {
        if self.told_at.elapsed() < TELL {
            return;
        }
        self.told_at = Instant::now();
        let status = daemon.status_of_spools(self.now());
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DedupeScope;

    #[test]
    fn spools_that_lie_in_each_other_or_share_a_mailbox_have_one_reader() {
        let spool = |path: &&str| Spool {
            path: path.into(),
            kind: None,
            dedupe: DedupeScope::Mailbox,
        };
        let names = |spools: &[&str], most| -> Vec<Vec<String>> {
            let spools: Vec<Spool> = spools.iter().map(spool).collect();
            let name = |spool: Spool| spool.path.display().to_string();
            shared(&spools, most)
                .into_iter()
                .map(|reader| reader.into_iter().map(name).collect())
                .collect()
        };
        assert_eq!(names(&["/a", "/b", "/c"], 8), [["/a"], ["/b"], ["/c"]]);
        assert_eq!(
            names(&["/a/x", "/b", "/a/y", "/a"], 8),
            [vec!["/b"], vec!["/a/x", "/a/y", "/a"]]
        );
        assert_eq!(names(&["/a", "/ab"], 8), [["/a"], ["/ab"]]);
        assert_eq!(
            names(&["/a", "/b", "/a.1", "/a-20260101.gz"], 8),
            [vec!["/b"], vec!["/a", "/a.1", "/a-20260101.gz"]]
        );
        assert_eq!(
            names(&["/m/new", "/n/new", "/m/cur"], 8),
            [vec!["/n/new"], vec!["/m/new", "/m/cur"]]
        );
        assert_eq!(
            names(&["/a", "/b", "/c", "/d", "/e"], 2),
            [vec!["/a", "/e", "/c"], vec!["/b", "/d"]]
        );
        assert_eq!(names(&[], 8), [[""; 0]; 0]);
    }
}
