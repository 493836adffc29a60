//! The thread of a reader: the supervisor's handle to it, its loop, and the host of its reader with
//! clock, log, and events from the kernel and the supervisor. A file system that does not answer
//! blocks only its own reader. Kernel notifications only mark work; rescans make up for lost ones.
//!
//! Clock and log are those of the process. The log is limited to a number of lines per second.

use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::BorrowedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::start_thread;
use crate::schedule::{DaemonEvent, ReaderHost, SpoolReader};
use crate::status::{SpoolState, Status};
use crate::{DaemonError, DaemonHost, Heartbeat, LogRecord, MonotonicTime, Result};
use urlspool_sources::walk;
use urlspool_text::diagnostic::{DiagnosticKind, Event, printable};

/// Time without progress after which a reader counts as stalled.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Supervisor's handle to a reader thread.
pub(super) struct ReaderThread {
    heartbeat: Arc<Heartbeat>,
    status: Arc<Mutex<Status>>,
    /// Wakes the reader.
    wake: PipeWriter,
    /// The reader's step count at the last progress that the supervisor observed; `None` if it was
    /// waiting for events.
    steps: Option<u64>,
    /// Time of that progress.
    progress_at: Instant,
    is_stall_reported: bool,
}

impl ReaderThread {
    /// Starts a thread for `reader`. The thread calls `on_end` when it ends.
    pub(super) fn start(
        reader: SpoolReader,
        host: ProcessHost,
        mode: RunMode,
        on_end: impl FnOnce(Result<Vec<String>>) + Send + 'static,
    ) -> io::Result<ReaderThread> {
        let (woken, wake) = io::pipe()?;
        let status = Arc::new(Mutex::new(reader.spools_status(MonotonicTime::default())));
        let handle = ReaderThread {
            heartbeat: Arc::clone(&reader.heartbeat),
            status: Arc::clone(&status),
            wake,
            steps: None,
            progress_at: Instant::now(),
            is_stall_reported: false,
        };
        start_thread("reader", move || {
            let mut reader_loop = ReaderLoop {
                fs_events: FsEvents::default(),
                woken,
                heartbeat: Arc::clone(&reader.heartbeat),
                status,
                host,
                status_at: Instant::now(),
                is_watch_incomplete: true,
            };
            let result = catch_unwind(AssertUnwindSafe(|| reader_loop.run(reader, mode)));
            let failed = |_| Err(DaemonError::io("a reader panicked; please report this"));
            on_end(result.unwrap_or_else(failed));
        })?;
        Ok(handle)
    }

    /// Asks the reader to stop after the current file.
    pub(super) fn stop(&self) {
        self.heartbeat.request_stop();
        // Without a receiver the reader has ended.
        let _ = (&self.wake).write(&[0]);
    }

    /// Asks the reader to stop, and rejects the results of its pending reads.
    pub(super) fn retire(&self) {
        self.heartbeat.retire();
        self.stop();
    }

    /// The last published status of the reader's spools.
    pub(super) fn last_status(&self) -> Status {
        let status = self.status.lock();
        status.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The status of the reader's spools. Logs if the reader has stalled, or reads again, since the
    /// last call.
    pub(super) fn status(&mut self, log: &mut dyn DaemonHost) -> Status {
        let mut status = self.last_status();
        let steps = self.heartbeat.steps();
        if steps.is_none() || steps != self.steps {
            (self.steps, self.progress_at) = (steps, Instant::now());
            if std::mem::take(&mut self.is_stall_reported) {
                log.info(format!(
                    "{}: the file system answers again; reading resumes",
                    spool_paths(&status)
                ));
            }
        }
        let stalled = self.progress_at.elapsed();
        if stalled < STALL_TIMEOUT {
            return status;
        }
        for spool in &mut status.spools {
            spool.state = SpoolState::Stalled;
            spool.stalled_ms = u64::try_from(stalled.as_millis()).unwrap_or(u64::MAX);
            spool.lag_ms = spool.lag_ms.max(spool.stalled_ms);
        }
        if !std::mem::replace(&mut self.is_stall_reported, true) {
            log.warn(format!(
                "{}: no progress for {} s, because the file system does not answer; other spools \
                 are read as usual",
                spool_paths(&status),
                stalled.as_secs()
            ));
        }
        status
    }
}

fn spool_paths(status: &Status) -> String {
    let paths: Vec<&str> = status.spools.iter().map(|spool| &*spool.path).collect();
    paths.join(", ")
}

/// Time between two updates of the reader's status.
const STATUS_INTERVAL: Duration = Duration::from_millis(500);

/// Maximum sleep, which ensures that new and missing roots are noticed.
const MAX_SLEEP: Duration = Duration::from_secs(1);

/// Maximum time that [`RunMode::Once`] waits for files still being written. It counts from the last
/// new message, or from the end of the first scan of all existing mail.
const ONCE_TIMEOUT: Duration = Duration::from_mins(1);

/// The loop of a reader thread.
struct ReaderLoop {
    /// Is readable once the reader must stop.
    woken: PipeReader,
    fs_events: FsEvents,
    heartbeat: Arc<Heartbeat>,
    /// The reader's status, for the supervisor.
    status: Arc<Mutex<Status>>,
    host: ProcessHost,
    status_at: Instant,
    /// `true` if changes of some folders may not be reported.
    is_watch_incomplete: bool,
}

/// Detects that a run with [`RunMode::Once`] no longer reads mail, or only mail that arrives during
/// the run.
struct OnceTimer {
    messages: u64,
    /// Time at which the last message was read.
    read_at: MonotonicTime,
    /// Time at which all existing mail had been checked.
    scanned_at: Option<MonotonicTime>,
}

impl ReaderLoop {
    /// Reads until the reader is asked to stop, or, with [`RunMode::Once`], until all mail was
    /// read. Returns the unread files.
    fn run(&mut self, mut reader: SpoolReader, mode: RunMode) -> Result<Vec<String>> {
        let mut unread = Vec::new();
        let mut timer = OnceTimer::start(self.now());
        while !reader.stopping {
            if reader.roots_changed() | self.is_watch_incomplete {
                self.is_watch_incomplete = false;
                // Roots that cannot be watched are polled.
                for (path, reason) in self.fs_events.watch(&reader.roots()) {
                    self.warn_of_polling(&path, &reason);
                    reader.poll(&path, self.now());
                }
                reader.rescan_all(self.now());
            }
            let next = reader.work(self)?;
            self.heartbeat.beat();
            self.progress(&reader);
            let messages = reader.counters.messages_read;
            timer.update(messages, reader.has_scanned_all(), self.now());
            if mode == RunMode::Once && self.is_done(&reader, &timer) {
                unread = reader.unread_files(self.now());
                break;
            }
            self.heartbeat.begin_wait();
            let event = self.wait(next);
            self.heartbeat.end_wait();
            if let Some(event) = event {
                reader.handle(event, self.now());
            }
        }
        self.publish_status(&reader);
        self.heartbeat.begin_wait();
        Ok(unread)
    }

    fn is_done(&mut self, reader: &SpoolReader, timer: &OnceTimer) -> bool {
        let now = self.now();
        let is_over = timer.is_over(reader.patience(ONCE_TIMEOUT), now);
        reader.is_done(now) || is_over && !reader.has_due_work(now)
    }

    fn warn_of_polling(&mut self, path: &Path, reason: &str) {
        self.warn(format!(
            "{}: changes are polled, not reported by the kernel: {reason}",
            path.display()
        ));
    }

    /// Sleeps until `next` or the next event, at most for [`MAX_SLEEP`].
    fn wait(&mut self, next: MonotonicTime) -> Option<DaemonEvent> {
        let until_next = Duration::from_millis(next.ms.saturating_sub(self.now().ms));
        if let Some(event) = self.event() {
            return Some(event);
        }
        self.fs_events.wait(&self.woken, until_next.min(MAX_SLEEP));
        self.event()
    }

    fn publish_status(&mut self, reader: &SpoolReader) {
        self.status_at = Instant::now();
        let status = reader.spools_status(self.now());
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }
}

impl DaemonHost for ReaderLoop {
    fn now(&mut self) -> MonotonicTime {
        self.host.now()
    }

    fn unix_ms(&mut self) -> Option<u64> {
        self.host.unix_ms()
    }

    fn log(&mut self, record: &LogRecord<'_>) {
        self.host.log(record);
    }
}

impl ReaderHost for ReaderLoop {
    fn event(&mut self) -> Option<DaemonEvent> {
        if self.heartbeat.take_stop() {
            return Some(DaemonEvent::Stop);
        }
        let event = self.fs_events.next();
        // The lost notifications may have reported new folders, which are then not watched.
        self.is_watch_incomplete |= matches!(event, Some(DaemonEvent::Overflow));
        event
    }

    fn folder_appeared(&mut self, root: &Path, folder: &Path) -> bool {
        let added = self.fs_events.add(root, folder);
        let added = added.inspect_err(|reason| self.warn_of_polling(folder, reason));
        added.is_ok()
    }

    fn progress(&mut self, reader: &SpoolReader) {
        if STATUS_INTERVAL <= self.status_at.elapsed() {
            self.publish_status(reader);
        }
    }
}

impl OnceTimer {
    fn start(now: MonotonicTime) -> OnceTimer {
        OnceTimer {
            messages: 0,
            read_at: now,
            scanned_at: None,
        }
    }

    /// Takes the number of messages read so far, and whether all existing mail was checked.
    fn update(&mut self, messages: u64, has_scanned_all: bool, now: MonotonicTime) {
        if messages != self.messages {
            (self.messages, self.read_at) = (messages, now);
        }
        if has_scanned_all {
            self.scanned_at.get_or_insert(now);
        }
    }

    fn is_over(&self, timeout: Duration, now: MonotonicTime) -> bool {
        let is_past = |since: MonotonicTime| since.plus(timeout) < now;
        is_past(self.read_at) || self.scanned_at.is_some_and(is_past)
    }
}

/// Duration of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// Until all mail was read.
    Once,
    /// Until the operator stops it.
    Forever,
}

/// The state that a run starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateSource {
    /// The state database, or a new one if no output was written yet.
    Database,
    /// A state rebuilt from the segments' sidecars.
    Sidecars,
}

/// Result of a run that ended without an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunEnd {
    /// With [`RunMode::Once`]: one sentence per unread file, which is unreadable, stayed locked or
    /// was still being written.
    pub unread: Vec<String>,
    /// `true` if the operator ended it with SIGINT.
    pub interrupted: bool,
    /// Number of URLs that a filter held back.
    pub filtered: u64,
}

/// Maximum number of lines per second. Further lines are counted, and one line reports their
/// number.
const LINES_PER_SECOND: u32 = 10;

/// Clocks and log, shared by the threads of the daemon.
#[derive(Clone)]
pub(super) struct ProcessHost {
    started_at: Instant,
    lines: Arc<Mutex<LoggedLines>>,
}

/// The lines of the current second.
struct LoggedLines {
    since: Instant,
    lines: u32,
    suppressed: u64,
}

impl ProcessHost {
    /// A host whose clock starts at 0.
    pub(super) fn new() -> ProcessHost {
        ProcessHost {
            started_at: Instant::now(),
            lines: Arc::new(Mutex::new(LoggedLines {
                since: Instant::now(),
                lines: 0,
                suppressed: 0,
            })),
        }
    }

    /// Returns `true` if another line may be written, and counts it.
    fn may_log(&self) -> bool {
        let mut logged = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.since.elapsed() >= Duration::from_secs(1) {
            (logged.since, logged.lines) = (Instant::now(), 0);
            let suppressed = std::mem::take(&mut logged.suppressed);
            if suppressed > 0 {
                tracing::warn!(
                    "rate limit reached: {suppressed} messages suppressed in the last second"
                );
            }
        }
        logged.lines += 1;
        let may_log = logged.lines <= LINES_PER_SECOND;
        logged.suppressed += u64::from(!may_log);
        may_log
    }
}

impl DaemonHost for ProcessHost {
    fn now(&mut self) -> MonotonicTime {
        MonotonicTime::default().plus(self.started_at.elapsed())
    }

    fn unix_ms(&mut self) -> Option<u64> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        u64::try_from(since.as_millis()).ok()
    }

    fn log(&mut self, record: &LogRecord<'_>) {
        if !self.may_log() {
            return;
        }
        match record {
            LogRecord::Info(text) => tracing::info!("{}", printable(text)),
            LogRecord::Warn(text) => tracing::warn!("{}", printable(text)),
            LogRecord::Sealed(segment) => tracing::info!(
                segment = %segment.name,
                records = segment.records,
                messages = segment.messages,
                bytes = segment.bytes,
                "sealed a segment"
            ),
            LogRecord::Diagnostic(event) => write_diagnostic(event),
        }
    }
}

/// Logs a diagnostic: as information if no data is lost, as a warning otherwise.
fn write_diagnostic(event: &Event) {
    macro_rules! write_as {
        ($level:ident) => {
            tracing::$level!(
                path = %printable(&event.source.path.to_string_lossy()),
                kind = event.diagnostic.kind.name(),
                offset = event.diagnostic.offset,
                "{}",
                printable(&event.diagnostic.message)
            )
        };
    }
    match event.diagnostic.kind {
        DiagnosticKind::Skip | DiagnosticKind::Ambiguous => write_as!(info),
        _ => write_as!(warn),
    }
}

/// Watches of folders by the kernel.
trait FolderWatches: Send {
    /// Watches a folder: its entries and their content.
    ///
    /// # Errors
    ///
    /// As of `inotify_add_watch(2)`.
    fn add(&mut self, folder: &Path) -> io::Result<()>;

    /// Adds the events that arrived since the last call to `ready`.
    ///
    /// # Errors
    ///
    /// The notifications cannot be read.
    fn read(&mut self, ready: &mut VecDeque<DaemonEvent>) -> io::Result<()>;

    /// Returns a descriptor that is readable while notifications are queued.
    fn fd(&self) -> BorrowedFd<'_>;
}

/// A source of notifications for some of the spools. The kernel queues them (16,384 by default);
/// if more arrive, it reports an overflow.
#[derive(Default)]
pub(crate) struct FsEvents {
    /// `None` before the first watch, and if the kernel offers none (no inotify, or no instance
    /// left).
    watches: Option<Box<dyn FolderWatches>>,
    /// Events that were read from the kernel.
    ready: VecDeque<DaemonEvent>,
    /// Time of the last reading since the last wait.
    read_at: Option<Instant>,
}

/// Minimum time between two readings while files are read: a reading takes as long as the check of
/// a known file.
const READING_INTERVAL: Duration = Duration::from_millis(5);

impl FsEvents {
    /// Watches these folders and files as they exist now, and no others. Returns the paths whose
    /// changes will not all be reported, with the reasons.
    pub(crate) fn watch(&mut self, paths: &[PathBuf]) -> Vec<(PathBuf, String)> {
        // The old watches are removed first: there may be no room for both.
        *self = FsEvents::default();
        self.watches = folder_watches::start().ok();
        let unwatched = |path: &PathBuf| Some((path.clone(), self.add(path, path).err()?));
        paths.iter().filter_map(unwatched).collect()
    }

    /// Returns the next event, if there is one.
    pub(crate) fn next(&mut self) -> Option<DaemonEvent> {
        let is_due = |at: Instant| READING_INTERVAL <= at.elapsed();
        if self.ready.is_empty()
            && self.read_at.is_none_or(is_due)
            && let Some(watches) = &mut self.watches
        {
            self.read_at = Some(Instant::now());
            if watches.read(&mut self.ready).is_err() {
                // No further notification can be read.
                self.watches = None;
                self.ready.push_back(DaemonEvent::Overflow);
            }
        }
        self.ready.pop_front()
    }

    /// Waits for a notification, or until `woken` is readable, at most for `timeout`.
    pub(crate) fn wait(&mut self, woken: &PipeReader, timeout: Duration) {
        self.read_at = None;
        let mut polled = vec![PollFd::new(woken, PollFlags::IN)];
        let watches = self.watches.as_ref();
        polled.extend(watches.map(|watches| PollFd::from_borrowed_fd(watches.fd(), PollFlags::IN)));
        let timeout = Timespec::try_from(timeout).ok();
        // A signal only ends the wait early.
        let _ = poll(&mut polled, timeout.as_ref());
    }

    /// Watches a folder of the spool `root` and all folders in it, or the folder of a file.
    ///
    /// # Errors
    ///
    /// The reason why not all changes will be reported.
    pub(crate) fn add(&mut self, root: &Path, path: &Path) -> Result<(), String> {
        let Some(watches) = &mut self.watches else {
            return Err("the kernel delivers no notifications".to_owned());
        };
        let watched = watched_path(path);
        // Each folder is watched before it is listed, so a new entry is either listed or reported.
        let inside = (watched == path).then(|| walk::list_folders(root, path));
        let inside = inside.into_iter().flatten();
        let itself = (watched != path).then(|| watched.to_owned());
        let mut failure = None;
        for folder in itself.into_iter().chain(inside) {
            // A folder that disappeared needs no watch. The reader checks the roots itself.
            if let Err(error) = watches.add(&folder)
                && folder.is_dir()
            {
                // All further folders would fail too.
                if error.kind() == io::ErrorKind::StorageFull {
                    return Err("the limit of watches is reached; raise \
                                fs.inotify.max_user_watches (sysctl)"
                        .to_owned());
                }
                failure.get_or_insert(error);
            }
        }
        if let Some(error) = failure {
            return Err(error.to_string());
        }
        if is_shared_file_system(watched) {
            let reason = "it is on a shared file system, where the kernel does not report changes \
                          by other machines";
            return Err(reason.to_owned());
        }
        Ok(())
    }
}

/// Returns `true` for a path on a file system that other machines or programs can change without
/// the knowledge of this kernel. Such file systems are only known on Linux.
fn is_shared_file_system(path: &Path) -> bool {
    // Magic numbers of statfs(2): NFS, CIFS, SMB, SMB2, FUSE, 9P, Ceph, AFS (two), Coda, OCFS2,
    // GFS2, Lustre.
    matches!(
        rustix::fs::statfs(path).map(|info| info.f_type),
        Ok(0x6969
            | 0xFF53_4D42
            | 0x517B
            | 0xFE53_4D42
            | 0x6573_5546
            | 0x0102_1997
            | 0x00C3_6400
            | 0x5346_414F
            | 0x6B41_4653
            | 0x7375_7245
            | 0x7461_636F
            | 0x0116_1970
            | 0x0BD0_0BD0)
    )
}

/// Returns the path to watch for a spool: a folder itself. A file is replaced by a rename, so its
/// folder is watched. The same applies to a path that does not exist.
pub(crate) fn watched_path(path: &Path) -> &Path {
    let folder = path.is_dir().then_some(path);
    folder.or(path.parent()).unwrap_or(path)
}

/// Watches of folders (inotify(7)).
#[cfg(target_os = "linux")]
mod folder_watches {
    use std::collections::{HashMap, VecDeque};
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::path::{Path, PathBuf};

    use inotify::{EventMask, Inotify, WatchDescriptor, WatchMask};

    use super::FolderWatches;
    use crate::schedule::{DaemonEvent, FileChange};

    /// Bytes of notifications read at once.
    const READ_BYTES: usize = 64 << 10;

    /// The watched folders.
    struct InotifyWatches {
        inotify: Inotify,
        /// The paths of each watched folder. There are several if a mount shows the folder twice.
        folders: HashMap<WatchDescriptor, Vec<PathBuf>>,
        buffer: Vec<u8>,
    }

    /// Creates a source without folders.
    ///
    /// # Errors
    ///
    /// The kernel has no instance left.
    pub(super) fn start() -> io::Result<Box<dyn FolderWatches>> {
        Ok(Box::new(InotifyWatches {
            inotify: Inotify::init()?,
            folders: HashMap::new(),
            buffer: vec![0; READ_BYTES],
        }))
    }

    impl FolderWatches for InotifyWatches {
        /// Opens and reads are not reported; otherwise each file that the daemon reads would be.
        fn add(&mut self, folder: &Path) -> io::Result<()> {
            let changes = WatchMask::ATTRIB
                | WatchMask::CREATE
                | WatchMask::DELETE
                | WatchMask::MODIFY
                | WatchMask::CLOSE_WRITE
                | WatchMask::MOVE
                | WatchMask::DELETE_SELF
                | WatchMask::MOVE_SELF;
            let watch = self.inotify.watches().add(folder, changes)?;
            let paths = self.folders.entry(watch).or_default();
            if !paths.iter().any(|path| path == folder) {
                // Those from before a rename refer to no folder.
                paths.retain(|path| path.is_dir());
                paths.push(folder.to_owned());
            }
            Ok(())
        }

        fn read(&mut self, ready: &mut VecDeque<DaemonEvent>) -> io::Result<()> {
            use io::ErrorKind::{Interrupted, WouldBlock};
            let notifications = match self.inotify.read_events(&mut self.buffer) {
                Err(error) if matches!(error.kind(), Interrupted | WouldBlock) => return Ok(()),
                notifications => notifications?,
            };
            for notification in notifications {
                if notification.mask.contains(EventMask::Q_OVERFLOW) {
                    ready.push_back(DaemonEvent::Overflow);
                } else if notification.mask.contains(EventMask::IGNORED) {
                    self.folders.remove(&notification.wd);
                } else {
                    let change = change_of(notification.mask);
                    for path in self.folders.get(&notification.wd).into_iter().flatten() {
                        let name = notification.name;
                        let path = name.map_or_else(|| path.clone(), |name| path.join(name));
                        ready.push_back(DaemonEvent::Changed(path, change));
                    }
                }
            }
            Ok(())
        }

        fn fd(&self) -> BorrowedFd<'_> {
            self.inotify.as_fd()
        }
    }

    /// Returns what a notification with this mask reveals. A new file is written next, unless it is
    /// a link to one that is complete.
    fn change_of(mask: EventMask) -> FileChange {
        let closed = EventMask::CLOSE_WRITE | EventMask::MOVED_TO | EventMask::CREATE;
        if mask.intersects(closed) {
            FileChange::Closed
        } else if mask.contains(EventMask::MODIFY) {
            FileChange::Written
        } else {
            FileChange::Other
        }
    }
}

/// No watches: the daemon supports them only on Linux. Spools are polled.
#[cfg(not(target_os = "linux"))]
mod folder_watches {
    /// Returns an error.
    pub(super) fn start() -> std::io::Result<Box<dyn super::FolderWatches>> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_though_mail_keeps_arriving() {
        let time = |ms| MonotonicTime { ms };
        let mut timer = OnceTimer::start(time(0));
        // A long first scan, which reads one message per second.
        for second in 1..=200 {
            timer.update(second, false, time(second * 1_000));
            assert!(!timer.is_over(ONCE_TIMEOUT, time(second * 1_000)));
        }
        let end = (201..400).find(|&second| {
            timer.update(second, second % 3 == 0, time(second * 1_000));
            timer.is_over(ONCE_TIMEOUT, time(second * 1_000))
        });
        assert_eq!(end, Some(262));
    }

    #[test]
    fn a_run_without_new_mail_ends_before_its_scan_is_complete() {
        let mut timer = OnceTimer::start(MonotonicTime::default());
        let at = |seconds| MonotonicTime::default().plus(Duration::from_secs(seconds));
        timer.update(0, false, at(60));
        assert!(!timer.is_over(ONCE_TIMEOUT, at(60)));
        assert!(timer.is_over(ONCE_TIMEOUT, at(61)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_renamed_folder_is_reported_under_its_last_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |number: u32| folder.path().join(number.to_string());
        std::fs::create_dir(path(0)).unwrap();
        let mut fs_events = FsEvents::default();
        assert_eq!(fs_events.watch(&[path(0)]), []);
        for number in 1..=3 {
            std::fs::rename(path(number - 1), path(number)).unwrap();
            fs_events.add(folder.path(), &path(number)).unwrap();
        }
        while fs_events.next().is_some() {}
        std::fs::create_dir(path(3).join("new")).unwrap();
        fs_events.read_at = None;
        let events: Vec<_> = std::iter::from_fn(|| fs_events.next()).collect();
        assert!(
            matches!(&*events, [DaemonEvent::Changed(new, _)] if *new == path(3).join("new")),
            "{events:?}"
        );
    }
}
