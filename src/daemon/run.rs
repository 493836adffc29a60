//! The daemon in the world: clock, signals, notices, log, watchdog.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sd_notify::NotifyState;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

use super::confine;
use super::serve::{self, Board};
use super::watch::{Lost, Notices};
use super::{Daemon, Event, Fault, Host, Now, Remark};
use crate::config::Config;
use crate::sink::segment;

/// Notices that wait. More are made up for by a look at everything.
const QUEUE: usize = 8_192;

/// The time between two updates of what is told.
const TELL: Duration = Duration::from_millis(500);

/// The time between two writes of the text file with metrics.
const TEXTFILE: Duration = Duration::from_secs(5);

/// Lines of the log in a second; more are counted and told in one.
const LINES: u32 = 10;

/// The longest sleep, so that signs of life are given.
const NAP: Duration = Duration::from_secs(1);

/// How long `--once` waits for mailboxes that stay locked.
const ONCE_PATIENCE: Duration = Duration::from_mins(1);

/// How long to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Once {
    /// Until everything was read.
    Yes,
    /// Until told to stop.
    No,
}

/// Runs the daemon with the configuration at `path`, which is read again on SIGHUP.
///
/// # Errors
///
/// What ended it, unless it was asked to end.
pub fn run(path: PathBuf, config: Config, once: Once, rebuild: bool) -> Result<(), Fault> {
    // Before there are other threads.
    let confined = confine::confine(&path, &config)?;
    match &confined {
        Ok(confined) => {
            tracing::info!(fully = confined.full, "confined: {:?} but its own are denied", config.watch.confine);
        }
        Err(why) => tracing::warn!("not confined: {why}"),
    }
    let mut machine = Machine::new(&config)?;
    if rebuild {
        Daemon::rebuild(&config, &mut machine)?;
    }
    let mut daemon = Daemon::open(config, &mut machine)?;
    machine.listen(&daemon, path)?;
    machine.watch(&daemon.config().clone());
    tell_systemd(&[NotifyState::Ready]);
    tracing::info!(spools = daemon.config().spool.len(), "watching");
    let mut patience = Instant::now();
    while !daemon.is_stopping() {
        let before = daemon.status(machine.now());
        let next = daemon.work(&mut machine)?;
        if daemon.is_another_place() {
            machine.watch(&daemon.config().clone());
            daemon.look_everywhere(machine.now());
        }
        machine.progress(&daemon);
        let now = machine.now();
        if before.counts.messages != daemon.counts.messages {
            patience = Instant::now();
        }
        let waited = patience.elapsed() > ONCE_PATIENCE && daemon.paused.is_none();
        if once == Once::Yes && (daemon.is_done(now) || waited) {
            break;
        }
        if let Some(event) = machine.wait(next) {
            let reload = matches!(event, Event::Reload(_));
            if let (Event::Reload(config), Ok(confined)) = (&event, &confined) {
                for path in confined.lacks(config) {
                    tracing::warn!("{path:?} cannot be used before a restart: watch.confine is in force");
                }
            }
            let now = machine.now();
            daemon.handle(event, now);
            if reload {
                machine.watch(&daemon.reload.as_deref().unwrap_or(daemon.config()).clone());
            }
        }
    }
    tell_systemd(&[NotifyState::Stopping]);
    let (counts, paused) = (daemon.counts.clone(), daemon.paused.is_some());
    match daemon.close() {
        // What could not be written is read again at the next start.
        Err(Fault::Full(why)) if !paused => tracing::warn!("{why}: what is not committed is left for the next start"),
        closed => closed?,
    }
    tracing::info!(messages = counts.messages, records = counts.records, "ended");
    Ok(())
}

/// What the daemon with this configuration says of itself.
///
/// # Errors
///
/// That none answers.
pub fn ask(config: &Config) -> io::Result<String> {
    serve::ask(&config.state.dir.join("control.sock"))
}

/// The host of a running daemon.
struct Machine {
    start: Instant,
    queue: Receiver<Event>,
    sender: SyncSender<Event>,
    lost: Lost,
    notices: Notices,
    board: Board,
    told: Instant,
    written: Option<Instant>,
    alive: Instant,
    lines: (Instant, u32),
    kept_back: u64,
    /// What was committed when a sign of life was given last.
    done: (u64, u64),
}

impl Machine {
    fn new(config: &Config) -> Result<Machine, Fault> {
        let (sender, queue) = sync_channel(QUEUE);
        let lost = Lost::default();
        // A write beyond a limit of file size fails then, instead of killing.
        signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))
            .map_err(|error| Fault::of(&config.state.dir, &error))?;
        let now = Instant::now();
        Ok(Machine {
            start: now,
            queue,
            notices: Notices::new(sender.clone(), Arc::clone(&lost)),
            sender,
            lost,
            board: Board::new(),
            told: now,
            written: None,
            alive: now,
            lines: (now, 0),
            kept_back: 0,
            done: (0, 0),
        })
    }

    /// Opens the sockets and hears signals.
    fn listen(&mut self, daemon: &Daemon, path: PathBuf) -> Result<(), Fault> {
        let config = daemon.config();
        self.board.put(&daemon.status(Now::default()));
        let control = config.state.dir.join("control.sock");
        self.board.control(&control).map_err(|error| Fault::of(&control, &error))?;
        if !config.metrics.listen.is_empty()
            && let Err(error) = self.board.http(&config.metrics.listen)
        {
            tracing::warn!("metrics.listen {:?}: {error}; metrics are not served", config.metrics.listen);
        }
        let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP])
            .map_err(|error| Fault::Io(format!("signals: {error}")))?;
        let sender = self.sender.clone();
        let listening = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in &mut signals {
                let event = if signal == SIGHUP { reload(&path) } else { Some(Event::Stop) };
                // The other end is gone only when the daemon is ending anyway.
                event.map(|event| sender.send(event));
            }
        });
        listening.map(|_| ()).map_err(|error| Fault::Io(format!("threads: {error}")))
    }

    /// Watches the spools of a configuration; those that cannot be are polled.
    fn watch(&mut self, config: &Config) {
        let paths: Vec<PathBuf> = config.spool.iter().map(|spool| spool.path.clone()).collect();
        for (path, why) in self.notices.watch(&paths) {
            tracing::warn!("{path:?} is polled: {why}");
            // A full queue means a look at everything, which does as well for now.
            if self.sender.try_send(Event::Unwatched(path)).is_err() {
                self.lost.store(true, Ordering::Release);
            }
        }
    }

    /// Sleeps until `next`, or until something happens.
    fn wait(&mut self, next: Now) -> Option<Event> {
        let now = self.now();
        let nap = Duration::from_millis(next.ms.saturating_sub(now.ms)).min(NAP);
        if self.lost.swap(false, Ordering::AcqRel) {
            return Some(Event::Overflow);
        }
        // We hold a sender ourselves, so the queue never ends.
        self.queue.recv_timeout(nap).ok()
    }

    /// Whether another line may be written. Those that may not are counted.
    fn may_speak(&mut self) -> bool {
        if self.lines.0.elapsed() >= Duration::from_secs(1) {
            self.lines = (Instant::now(), 0);
            if self.kept_back > 0 {
                tracing::warn!(lines = self.kept_back, "more was remarked than is written here");
                self.kept_back = 0;
            }
        }
        self.lines.1 += 1;
        let may = self.lines.1 <= LINES;
        self.kept_back += u64::from(!may);
        may
    }
}

impl Host for Machine {
    fn now(&mut self) -> Now {
        Now { ms: u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX) }
    }

    fn date(&mut self) -> Option<u64> {
        SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
    }

    fn event(&mut self) -> Option<Event> {
        if self.lost.swap(false, Ordering::AcqRel) {
            return Some(Event::Overflow);
        }
        self.queue.try_recv().ok()
    }

    fn remark(&mut self, remark: &Remark<'_>) {
        if !self.may_speak() {
            return;
        }
        match remark {
            Remark::Info(text) => tracing::info!("{text}"),
            Remark::Warn(text) => tracing::warn!("{text}"),
            Remark::Source(event) => {
                let (path, problem) = (&event.source.path, &event.problem);
                let (kind, offset) = (problem.kind.name(), problem.offset);
                tracing::warn!(?path, kind, offset, "{}", problem.message.escape_debug());
            }
        }
    }

    fn progress(&mut self, daemon: &Daemon) {
        if self.told.elapsed() < TELL {
            return;
        }
        self.told = Instant::now();
        let now = self.now();
        let status = daemon.status(now);
        self.board.put(&status);
        let line = format!("{}: {} messages, {} records", status.state, status.counts.messages, status.counts.records);
        tell_systemd(&[NotifyState::Status(&line)]);
        // A sign of life is a commit, or that there is nothing to do; a timer would prove nothing.
        let done = (status.counts.commits, status.counts.files_read);
        if done != self.done || status.queue == 0 || status.state == "paused" {
            self.done = done;
            self.alive = Instant::now();
        }
        if self.alive.elapsed() < Duration::from_secs(30) {
            tell_systemd(&[NotifyState::Watchdog]);
        }
        let textfile = &daemon.config().metrics.textfile;
        if !textfile.as_os_str().is_empty() && self.written.is_none_or(|written| written.elapsed() >= TEXTFILE) {
            self.written = Some(Instant::now());
            let line =
                format!("{}: {} messages, {} records", status.state, status.counts.messages, status.counts.records);
            tell_systemd(&[NotifyState::Status(&line)]);
            if let Err(error) = segment::replace(textfile, status.metrics().as_bytes()) {
                tracing::warn!("metrics.textfile: {error}");
            }
        }
    }
}

fn tell_systemd(state: &[NotifyState<'_>]) {
    // Without systemd nobody listens.
    let _ = sd_notify::notify(state);
}

/// The configuration anew, unless it cannot be used: then the old one stays.
fn reload(path: &std::path::Path) -> Option<Event> {
    let read = Config::read(path).map_err(|bad| bad.to_string());
    match read.and_then(|config| config.check_places().map(|()| config)) {
        Ok(config) => {
            tracing::info!("the configuration was read again");
            Some(Event::Reload(Box::new(config)))
        }
        Err(why) => {
            tracing::error!("the old configuration stays: {}", why.replace('\n', " | "));
            None
        }
    }
}
