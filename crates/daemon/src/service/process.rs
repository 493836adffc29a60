//! The daemon as a process: sandbox, signals, systemd, the loop that drives the supervisor, and the
//! thread that starts `git`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io};

use rustix::fs::Mode;
use rustix::process::umask;
use sd_notify::NotifyState;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use super::reader_thread::{ProcessHost, RunEnd, RunMode, StateSource};
use super::sandbox;
use super::status_server::{SocketFile, StatusSnapshot, control_socket};
use super::supervisor::{Supervisor, SupervisorEvent, config_changes, log_refusal};
use crate::own_files;
use crate::status::{DaemonState, Status};
use crate::store::rebuild_state;
use crate::{AtPath, DaemonError, Result};
use urlspool_files::config::Config;
use urlspool_sources::read::StartProgram;
use urlspool_text::diagnostic::printable;

/// Time between two updates of the metrics file.
const TEXTFILE_INTERVAL: Duration = Duration::from_secs(5);

/// Runs the daemon with the configuration at `config_path`, which is read again on SIGHUP. Without
/// a path, SIGHUP ends the daemon. Returns the files that a run with [`RunMode::Once`] did not
/// read.
///
/// # Errors
///
/// The error that ended the daemon. A stop by the operator is not an error.
pub fn run(
    config_path: Option<PathBuf>,
    config: Config,
    mode: RunMode,
    source: StateSource,
) -> Result<RunEnd> {
    // New files are readable by owner and group only. A stricter umask stays in force.
    let group_reads = Mode::WGRP | Mode::RWXO;
    umask(umask(group_reads) | group_reads);
    let hung_up = Arc::new(AtomicBool::new(false));
    if config_path.is_some() {
        // A SIGHUP before the daemon is ready is handled once it is.
        signal_hook::flag::register(SIGHUP, Arc::clone(&hung_up)).map_err(no_signals)?;
    }
    let start_program = start_git_starter()?;
    for folder in [&config.output.dir, &config.state.dir] {
        fs::create_dir_all(folder).at(folder)?;
    }
    // Landlock confines this thread and the threads it starts later, so it must precede them all.
    sandbox::enter(config_path.as_deref(), &config);
    // A write beyond a limit on file sizes must fail, and not end the process.
    let ignored = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGXFSZ, ignored).map_err(no_signals)?;
    let mut host = ProcessHost::new();
    if source == StateSource::Sidecars {
        rebuild_state(&config, &mut host)?;
    }
    let mut supervisor = Supervisor::open(config, mode, start_program, config_path.clone(), host)?;
    handle_signals(config_path, hung_up, supervisor.sender.clone())?;
    supervisor.start_readers()?;
    let mut publisher = StatusPublisher::start(&mut supervisor)?;
    notify_systemd(&[NotifyState::Ready]);
    tracing::info!(
        spools = supervisor.config.spool.len(),
        readers = supervisor.readers.len(),
        "watching"
    );
    let interrupted = supervise(&mut supervisor, &mut publisher)?;
    notify_systemd(&[NotifyState::Stopping]);
    supervisor.drain()?;
    let counts = supervisor.status().counts;
    supervisor.close()?;
    // The file keeps the final numbers.
    publisher.textfile_written = None;
    publisher.publish(&mut supervisor);
    let (messages, records, filtered) = (counts.messages, counts.records, counts.filtered);
    let duplicates = counts.duplicates;
    tracing::info!(messages, records, filtered, duplicates, "ended");
    Ok(RunEnd {
        unread: supervisor.unread,
        interrupted,
        filtered,
    })
}

/// Handles events until the operator stops the daemon, all mail was read, or an error ends the
/// daemon. Returns `true` if the operator interrupted it.
fn supervise(supervisor: &mut Supervisor, publisher: &mut StatusPublisher) -> Result<bool> {
    loop {
        match supervisor.wait() {
            Some(SupervisorEvent::Stop) => return Ok(false),
            Some(SupervisorEvent::Interrupt) => return Ok(true),
            Some(SupervisorEvent::ReaderEnded { generation, result }) => {
                let end = result?;
                if supervisor.reader_ended(generation, end) {
                    return Ok(false);
                }
                supervisor.reload_waiting()?;
            }
            Some(SupervisorEvent::Reload(config)) if supervisor.accepts(&config) => {
                log_changes(&supervisor.config, &config);
                supervisor.reload(config)?;
            }
            Some(SupervisorEvent::Reload(_)) | None => {}
        }
        supervisor.keep_pace()?;
        publisher.publish(supervisor);
    }
}

/// Logs the changes of a new configuration.
fn log_changes(old: &Config, new: &Config) {
    let changes = config_changes(old, new);
    if changes.is_empty() {
        tracing::info!("reloaded the configuration: no changes");
        return;
    }
    tracing::info!("reloaded the configuration");
    for change in changes {
        let line = printable(&change.line);
        if change.waits_for_restart {
            tracing::warn!("{line}");
        } else {
            tracing::info!("{line}");
        }
    }
}

/// Publishes the status: at the sockets, to systemd, and in the metrics file. Removes the sockets
/// when it is dropped.
struct StatusPublisher {
    /// Keeps the names of the sockets.
    _control: SocketFile,
    _metrics: Option<SocketFile>,
    snapshot: StatusSnapshot,
    textfile_written: Option<Instant>,
}

impl StatusPublisher {
    fn start(supervisor: &mut Supervisor) -> Result<StatusPublisher> {
        let snapshot = StatusSnapshot::new(supervisor.status());
        let config = &supervisor.config;
        let control = control_socket(&config.state.dir);
        let control = snapshot.serve_control(&control).at(&control)?;
        Ok(StatusPublisher {
            _control: control,
            _metrics: serve_metrics(&snapshot, &config.metrics.listen),
            snapshot,
            textfile_written: None,
        })
    }

    fn publish(&mut self, supervisor: &mut Supervisor) {
        let status = supervisor.status();
        publish_to_systemd(&status);
        let textfile = &supervisor.config.metrics.textfile;
        let written = self.textfile_written;
        let is_due = written.is_none_or(|written| TEXTFILE_INTERVAL <= written.elapsed());
        if !textfile.as_os_str().is_empty() && is_due {
            self.textfile_written = Some(Instant::now());
            let metrics = status.metrics();
            if let Err(error) = own_files::replace(textfile, metrics.as_bytes(), own_files::SHARED)
            {
                tracing::warn!("cannot write metrics to {}: {error}", textfile.display());
            }
        }
        self.snapshot.update(status);
    }
}

/// Serves metrics at `listen`, and logs the address or the error. Returns the name of the socket,
/// if it has one.
fn serve_metrics(snapshot: &StatusSnapshot, listen: &str) -> Option<SocketFile> {
    if listen.is_empty() {
        tracing::info!("metrics are not served: metrics.listen is empty");
        return None;
    }
    match snapshot.serve_http(listen) {
        Ok((address, file)) => {
            tracing::info!("metrics are served at {address}");
            file
        }
        Err(error) => {
            tracing::warn!("metrics are not served: cannot listen at {listen}: {error}");
            None
        }
    }
}

fn publish_to_systemd(status: &Status) {
    let state = format!("{:?}", status.state).to_lowercase();
    let (messages, records) = (status.counts.messages, status.counts.records);
    let line = format!("{state}: {messages} messages, {records} records");
    notify_systemd(&[NotifyState::Status(&line)]);
    // The watchdog is fed while a reader makes progress or has no work. Feeding it by a timer would
    // prove neither.
    if !status.is_stalled() || status.state == DaemonState::Paused {
        notify_systemd(&[NotifyState::Watchdog]);
    }
}

fn notify_systemd(state: &[NotifyState<'_>]) {
    // Has no effect without systemd.
    let _ = sd_notify::notify(state);
}

fn no_signals(error: io::Error) -> DaemonError {
    DaemonError::io(format!("cannot handle signals: {error}")).caused_by(error)
}

/// Starts a thread that turns signals into events. `hung_up` tells whether a SIGHUP came earlier.
/// Without a configuration file, lines may be printed, and a blocked reader of standard output
/// could prevent a stop; so the second signal ends the process.
fn handle_signals(
    config_path: Option<PathBuf>,
    hung_up: Arc<AtomicBool>,
    sender: Sender<SupervisorEvent>,
) -> Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).map_err(no_signals)?;
    let forward = move || {
        let mut has_come = false;
        let early = hung_up.load(Ordering::Acquire).then_some(SIGHUP);
        for signal in early.into_iter().chain(&mut signals) {
            let event = match (signal, &config_path) {
                (SIGHUP, Some(path)) => read_config(path),
                (SIGINT, _) => Some(SupervisorEvent::Interrupt),
                _ => Some(SupervisorEvent::Stop),
            };
            if config_path.is_none() && std::mem::replace(&mut has_come, true) {
                std::process::exit(128 + signal);
            }
            // Without a receiver the daemon is ending anyway.
            event.map(|event| sender.send(event));
        }
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(forward)
        .map(|_| ())
        .map_err(DaemonError::thread)
}

/// Reads the configuration again. If it is unusable, the old one stays in force.
fn read_config(path: &Path) -> Option<SupervisorEvent> {
    let read = Config::read(path);
    match read.and_then(|config| config.check_folders().map(|()| config)) {
        Ok(config) => Some(SupervisorEvent::Reload(Box::new(config))),
        Err(error) => {
            log_refusal(&error.to_string().replace('\n', " | "));
            None
        }
    }
}

/// A program to start, and the channel for the answer.
type Request = (Command, Sender<io::Result<Child>>);

/// Starts the thread that starts `git`. It must start before the process gives up its rights, which
/// include the right to run programs. It gives up the other rights itself, so the programs it
/// starts cannot write to files or open connections. The thread ends when the returned value is
/// dropped.
///
/// # Errors
///
/// The thread cannot be started.
fn start_git_starter() -> Result<StartProgram> {
    let (sender, requests) = channel::<Request>();
    let serve = move || {
        sandbox::confine_programs();
        for (mut command, answer) in requests {
            // Without a receiver the reader has ended. Its owner drops the process.
            let _ = answer.send(command.spawn());
        }
    };
    std::thread::Builder::new()
        .name("git".to_owned())
        .spawn(serve)
        .map_err(DaemonError::thread)?;
    let sender = Mutex::new(sender);
    Ok(Arc::new(move |command| {
        let (answer, answers) = channel();
        let sender = sender.lock().unwrap_or_else(PoisonError::into_inner);
        // If the thread has ended, the request and its answer are dropped.
        let _ = sender.send((command, answer));
        drop(sender);
        let ended = |_| io::Error::other("the thread that starts git has ended");
        answers.recv().map_err(ended)?
    }))
}
