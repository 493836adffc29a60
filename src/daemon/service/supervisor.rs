//! The daemon in the world: clock, signals, readers, log, watchdog.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use sd_notify::NotifyState;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

use super::log::Log;
use super::reader_threads::Watched;
use super::sandbox::{self, Confined};
use super::status_server::{self, StatusSnapshot};
use crate::config::Config;
use crate::daemon::SpoolReader;
use crate::daemon::error::DaemonError;
use crate::daemon::host::{DaemonEvent, DaemonHost, LogRecord, MonotonicTime};
use crate::daemon::status::Counters;
use crate::daemon::status::Status;
use crate::limits::DAEMON_READER_THREADS;
use crate::sink::segment;

/// The time between two updates of what is told.
const TELL: Duration = Duration::from_millis(500);

/// The time between two writes of the text file with metrics.
const TEXTFILE: Duration = Duration::from_secs(5);

/// How long readers may take to read to its end what they have begun, when the daemon is to end.
const DRAIN: Duration = Duration::from_secs(3);

/// How long to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// Until everything was read.
    Once,
    /// Until told to stop.
    Forever,
}

/// What can wake the one who watches over the readers.
#[derive(Debug)]
pub(crate) enum Call {
    /// The operator gave a new configuration.
    Reload(Box<Config>),
    /// The operator wants an end.
    Stop,
    /// A reader that was begun with the configuration of this number has ended: its spools were read, or something keeps
    /// everybody from work.
    Ended(u64, Result<(), DaemonError>),
}

/// Runs the daemon with the configuration at `path`, which is read again on SIGHUP.
///
/// # Errors
///
/// What ended it, unless it was asked to end.
pub fn run(path: PathBuf, config: Config, once: RunMode, rebuild: bool) -> Result<(), DaemonError> {
    // Before there are other threads.
    let confined = sandbox::confine(&path, &config)?;
    match &confined {
        Ok(confined) => {
            tracing::info!(
                fully = confined.full,
                "confined: {:?} but its own are denied",
                config.watch.confine
            );
        }
        Err(why) => tracing::warn!("not confined: {why}"),
    }
    let mut machine = Machine::new(&config)?;
    if rebuild {
        SpoolReader::rebuild(&config, &mut machine)?;
    }
    let mut daemon = SpoolReader::open(config, &mut machine)?;
    machine.listen(&daemon, path)?;
    machine.read(&daemon, once)?;
    tell_systemd(&[NotifyState::Ready]);
    tracing::info!(
        spools = daemon.config().spool.len(),
        readers = machine.readers.len(),
        "watching"
    );
    loop {
        match machine.wait() {
            Some(Call::Stop) => break,
            Some(Call::Ended(number, ended)) => {
                ended?;
                if machine.is_last(number) && once == RunMode::Once {
                    break;
                }
            }
            Some(Call::Reload(config)) => {
                machine.reload(&mut daemon, *config, once, confined.as_ref().ok())?
            }
            None => {}
        }
        daemon.keep_pace(&mut machine)?;
        machine.tell(&daemon);
    }
    tell_systemd(&[NotifyState::Stopping]);
    machine.drain()?;
    let (status, is_paused) = (machine.status(&daemon), daemon.is_paused());
    match daemon.close() {
        // What could not be written is read again at the next start.
        Err(DaemonError::OutOfSpace(why)) if !is_paused => {
            tracing::warn!("{why}: what is not committed is left for the next start");
        }
        closed => closed?,
    }
    tracing::info!(
        messages = status.counts.messages,
        records = status.counts.records,
        "ended"
    );
    Ok(())
}

/// What the daemon with this configuration says of itself.
///
/// # Errors
///
/// That none answers.
pub fn ask(config: &Config) -> io::Result<String> {
    status_server::ask(&config.state.dir.join("control.sock"))
}

/// The machine that the daemon runs on.
struct Machine {
    start: Instant,
    calls: Receiver<Call>,
    caller: Sender<Call>,
    log: Log,
    readers: Vec<Watched>,
    /// Readers that have not ended.
    reading: usize,
    /// How many configurations there were before this one.
    number: u64,
    /// What was counted by readers of earlier ones.
    counts: Counters,
    stopping: bool,
    board: StatusSnapshot,
    told: Option<Instant>,
    written: Option<Instant>,
}

impl Machine {
    fn new(config: &Config) -> Result<Machine, DaemonError> {
        // A write beyond a limit of file size fails then, instead of killing.
        signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))
            .map_err(|error| DaemonError::from_io(&config.state.dir, &error))?;
        let (caller, calls) = channel();
        Ok(Machine {
            start: Instant::now(),
            calls,
            caller,
            log: Log::new(),
            readers: Vec::new(),
            reading: 0,
            number: 0,
            counts: Counters::default(),
            stopping: false,
            board: StatusSnapshot::new(),
            told: None,
            written: None,
        })
    }

    /// Opens the sockets and hears signals.
    fn listen(&mut self, daemon: &SpoolReader, path: PathBuf) -> Result<(), DaemonError> {
        let config = daemon.config();
        self.board.put(&daemon.status(MonotonicTime::default()));
        let control = config.state.dir.join("control.sock");
        self.board
            .control(&control)
            .map_err(|error| DaemonError::from_io(&control, &error))?;
        if !config.metrics.listen.is_empty()
            && let Err(error) = self.board.http(&config.metrics.listen)
        {
            tracing::warn!(
                "metrics.listen {:?}: {error}; metrics are not served",
                config.metrics.listen
            );
        }
        let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP])
            .map_err(|error| DaemonError::Io(format!("signals: {error}")))?;
        let caller = self.caller.clone();
        let listening = std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for signal in &mut signals {
                    let call = if signal == SIGHUP {
                        reload(&path)
                    } else {
                        Some(Call::Stop)
                    };
                    // The other end is gone only when the daemon is ending anyway.
                    call.map(|call| caller.send(call));
                }
            });
        listening
            .map(|_| ())
            .map_err(|error| DaemonError::Io(format!("threads: {error}")))
    }

    /// Begins to read the spools of the daemon's configuration.
    fn read(&mut self, daemon: &SpoolReader, once: RunMode) -> Result<(), DaemonError> {
        let now = since(self.start);
        for part in daemon.divided(DAEMON_READER_THREADS, now) {
            let begun = Watched::begin(
                part,
                self.start,
                &self.log,
                (self.number, self.caller.clone()),
                once,
            );
            self.readers
                .push(begun.map_err(|error| DaemonError::Io(format!("threads: {error}")))?);
        }
        self.reading = self.readers.len();
        Ok(())
    }

    /// Reads by another configuration from now on.
    fn reload(
        &mut self,
        daemon: &mut SpoolReader,
        config: Config,
        once: RunMode,
        confined: Option<&Confined>,
    ) -> Result<(), DaemonError> {
        for path in confined
            .map(|confined| confined.lacks(&config))
            .unwrap_or_default()
        {
            tracing::warn!("{path:?} cannot be used before a restart: watch.confine is in force");
        }
        for mut reader in self.readers.drain(..) {
            reader.dismiss();
            self.counts.add(&reader.status().0.counts);
        }
        self.number += 1;
        daemon.take_over(config);
        self.read(daemon, once)
    }

    /// Whether the reader that has ended, begun with the configuration of this number, was the last that reads.
    fn is_last(&mut self, number: u64) -> bool {
        if number == self.number {
            self.reading -= 1;
        }
        self.reading == 0
    }

    /// Sleeps until it is called, or for a while.
    fn wait(&self) -> Option<Call> {
        // We hold a sender ourselves, so the queue never ends.
        self.calls.recv_timeout(TELL).ok()
    }

    /// Lets the readers end what they have begun, if they do so soon.
    fn drain(&mut self) -> Result<(), DaemonError> {
        self.stopping = true;
        self.readers.iter().for_each(Watched::stop);
        let begun = Instant::now();
        while self.reading > 0 && begun.elapsed() < DRAIN {
            if let Ok(Call::Ended(number, ended)) = self
                .calls
                .recv_timeout(DRAIN.saturating_sub(begun.elapsed()))
            {
                ended?;
                self.is_last(number);
            }
        }
        Ok(())
    }

    /// How the daemon and its readers stand. Says who has stalled.
    fn status(&mut self, daemon: &SpoolReader) -> Status {
        let mut all = Status {
            state: "running",
            counts: self.counts.clone(),
            ..Status::default()
        };
        for reader in &mut self.readers {
            let (status, news) = reader.status();
            all.add(status);
            if let Some(news) = news {
                self.log.write(&LogRecord::Warn(news));
            }
        }
        if self.stopping {
            all.state = "stopping";
        }
        daemon.tell(&mut all);
        all
    }

    /// Tells everybody who wants to know, from time to time.
    fn tell(&mut self, daemon: &SpoolReader) {
        if self.told.is_some_and(|told| told.elapsed() < TELL) {
            return;
        }
        self.told = Some(Instant::now());
        let status = self.status(daemon);
        self.board.put(&status);
        let line = format!(
            "{}: {} messages, {} records",
            status.state, status.counts.messages, status.counts.records
        );
        tell_systemd(&[NotifyState::Status(&line)]);
        // A sign of life is a step of somebody, or that there is nothing to do; a timer would prove nothing.
        if !status.is_stalled() || status.state == "paused" {
            tell_systemd(&[NotifyState::Watchdog]);
        }
        let textfile = &daemon.config().metrics.textfile;
        if !textfile.as_os_str().is_empty()
            && self
                .written
                .is_none_or(|written| written.elapsed() >= TEXTFILE)
        {
            self.written = Some(Instant::now());
            if let Err(error) = segment::replace(textfile, status.metrics().as_bytes()) {
                tracing::warn!("metrics.textfile: {error}");
            }
        }
    }
}

impl DaemonHost for Machine {
    fn now(&mut self) -> MonotonicTime {
        since(self.start)
    }

    fn unix_time(&mut self) -> Option<u64> {
        date()
    }

    fn event(&mut self) -> Option<DaemonEvent> {
        // Those come to the readers.
        None
    }

    fn log(&mut self, record: &LogRecord<'_>) {
        self.log.write(record);
    }

    fn progress(&mut self, _: &SpoolReader) {}
}

/// The time since `start`.
pub(crate) fn since(start: Instant) -> MonotonicTime {
    MonotonicTime {
        ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

/// Seconds since 1970 by the machine's clock.
pub(crate) fn date() -> Option<u64> {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .map(|since| since.as_secs())
}

fn tell_systemd(state: &[NotifyState<'_>]) {
    // Without systemd nobody listens.
    let _ = sd_notify::notify(state);
}

/// The configuration anew, unless it cannot be used: then the old one stays.
fn reload(path: &std::path::Path) -> Option<Call> {
    let read = Config::read(path).map_err(|error| error.to_string());
    let checked = |config: Config| match config.check_folders() {
        Ok(()) => Ok(config),
        Err(error) => Err(error.to_string()),
    };
    match read.and_then(checked) {
        Ok(config) => {
            tracing::info!("the configuration was read again");
            Some(Call::Reload(Box::new(config)))
        }
        Err(why) => {
            tracing::error!("the old configuration stays: {}", why.replace('\n', " | "));
            None
        }
    }
}
