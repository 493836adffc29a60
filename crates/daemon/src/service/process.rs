//! The daemon as a process: sandbox, signals, systemd, the thread that starts `git`, and the
//! supervisor. The supervisor starts a reader thread for each group of spools, commits on time even
//! if readers are blocked, replaces the readers when the configuration changes, and lists the
//! changed keys for the log.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io};

use jiff::Timestamp;
use rustix::fs::Mode;
use rustix::process::umask;
use sd_notify::NotifyState;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use tracing::Level;

use super::reader_thread::{ProcessHost, ReaderThread, RunEnd, RunMode, StateSource};
use super::status_server::{SocketFile, StatusSnapshot, control_socket};
use super::{sandbox, start_thread};
use crate::ingest::{ParserPool, Suspects, can_share};
use crate::own_files;
use crate::schedule::{ReaderResources, SpoolReader};
use crate::status::{Counters, DaemonState, Status, timestamp};
use crate::store::{SharedWriter, StateDb, rebuild_state};
use crate::{AtPath, DaemonError, DaemonHost, ErrorKind, Result};
use urlspool_files::config::{Config, Spool, resolved};
use urlspool_record::extract::Extractor;
use urlspool_sources::read::{GitHost, StartProgram};
use urlspool_text::diagnostic::printable;
use urlspool_text::limits::{DAEMON_READER_THREADS, RETIRED_READER_THREADS};

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
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map_err(no_signals)?;
    let mut host = ProcessHost::new();
    if source == StateSource::Sidecars {
        rebuild_state(&config, &mut host)?;
    }
    let mut supervisor = Supervisor::open(config, mode, start_program, config_path.clone(), host)?;
    handle_signals(config_path, hung_up, supervisor.sender.clone())?;
    supervisor.start_readers()?;
    let mut publisher = StatusPublisher::start(&mut supervisor)?;
    // Notifications have no effect without systemd.
    let _ = sd_notify::notify(&[NotifyState::Ready]);
    tracing::info!(
        spools = supervisor.config.spool.len(),
        readers = supervisor.readers.len(),
        "watching"
    );
    let interrupted = supervise(&mut supervisor, &mut publisher)?;
    let _ = sd_notify::notify(&[NotifyState::Stopping]);
    supervisor.drain()?;
    supervisor.close()?;
    // The file keeps the final numbers.
    publisher.textfile_written = None;
    publisher.publish(&mut supervisor);
    let counts = supervisor.status().counts;
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
        // `supervisor.sender` keeps the channel open, so the only error is the timeout.
        match supervisor.events.recv_timeout(MAX_SLEEP).ok() {
            Some(SupervisorEvent::Stop) => return Ok(false),
            Some(SupervisorEvent::Interrupt) => return Ok(true),
            Some(SupervisorEvent::ReaderEnded { generation, result }) => {
                if supervisor.reader_ended(generation, result?) {
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
    for (level, line) in changes {
        let line = printable(&line);
        match level {
            Level::WARN => tracing::warn!("{line}"),
            _ => tracing::info!("{line}"),
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
    let _ = sd_notify::notify(&[NotifyState::Status(&line)]);
    // The watchdog is fed while a reader makes progress or has no work. Feeding it by a timer would
    // prove neither.
    if !status.is_stalled() || status.state == DaemonState::Paused {
        let _ = sd_notify::notify(&[NotifyState::Watchdog]);
    }
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
    start_thread("signals", forward).map_err(DaemonError::thread)
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
    start_thread("git", serve).map_err(DaemonError::thread)?;
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

/// Maximum sleep between two commits.
const MAX_SLEEP: Duration = Duration::from_millis(500);

/// Time limit for readers to finish their current files when the daemon stops.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// All events that can wake the supervisor.
enum SupervisorEvent {
    /// The operator changed the configuration.
    Reload(Box<Config>),
    /// The operator asked the daemon to stop.
    Stop,
    /// The operator interrupted the daemon.
    Interrupt,
    /// A reader has ended: all mail was read, or an error prevents all work.
    ReaderEnded {
        /// Generation of the reader.
        generation: u64,
        /// The files that it did not read.
        result: Result<Vec<String>>,
    },
}

/// Supervises the readers and the committer that they share.
struct Supervisor {
    /// The active configuration.
    config: Config,
    mode: RunMode,
    host: ProcessHost,
    /// Time of the start; `None` if the system clock was before 1970.
    started: Option<Timestamp>,
    resources: ReaderResources,
    readers: Vec<ReaderThread>,
    /// Number of running readers of this generation.
    running: usize,
    /// Number of running readers of earlier generations.
    retired: usize,
    /// A configuration that waits until readers of earlier generations have ended.
    waiting: Option<Box<Config>>,
    /// Number of configurations before this one.
    generation: u64,
    /// Counters of the readers of earlier generations.
    earlier: Counters,
    stopping: bool,
    /// The files that readers of this generation did not read.
    unread: Vec<String>,
    events: Receiver<SupervisorEvent>,
    sender: Sender<SupervisorEvent>,
}

impl Supervisor {
    /// Opens state and output, and recovers them after a crash.
    ///
    /// # Errors
    ///
    /// Another instance holds the state, state and output contradict each other, or an I/O error.
    fn open(
        config: Config,
        mode: RunMode,
        start_program: StartProgram,
        config_path: Option<PathBuf>,
        mut host: ProcessHost,
    ) -> Result<Supervisor> {
        let writer = SharedWriter::open(&config, &mut host)?;
        // Empty during a pause, and after an error, which the next user of the writer reports.
        let set_aside = writer.lock().db().and_then(StateDb::open_set_aside);
        let suspects = Suspects::open(
            &config.state.dir,
            set_aside.unwrap_or_default(),
            Arc::clone(&start_program),
            config_path,
        );
        let resources = ReaderResources {
            writer,
            extractor: Arc::new(Extractor::new(config.options())),
            parsers: Arc::new(ParserPool::new(config.output.lines(), suspects)),
            git: GitHost::new(&config.options().limits).started_by(start_program),
        };
        let (sender, events) = channel();
        Ok(Supervisor {
            config,
            mode,
            started: host.unix_time().map(timestamp),
            host,
            resources,
            readers: Vec::new(),
            running: 0,
            retired: 0,
            waiting: None,
            generation: 0,
            earlier: Counters::default(),
            stopping: false,
            unread: Vec::new(),
            events,
            sender,
        })
    }

    /// Starts a reader for each group of spools.
    fn start_readers(&mut self) -> Result<()> {
        for spools in group_spools(&self.config.spool, DAEMON_READER_THREADS) {
            let thread = self.start_reader(spools).map_err(DaemonError::thread)?;
            self.readers.push(thread);
        }
        self.running = self.readers.len();
        Ok(())
    }

    fn start_reader(&mut self, spool: Vec<Spool>) -> std::io::Result<ReaderThread> {
        let config = Config {
            spool,
            ..self.config.clone()
        };
        let reader = SpoolReader::new(config, self.resources.clone(), self.host.now());
        let (generation, sender) = (self.generation, self.sender.clone());
        let on_end = move |result| {
            // Without a receiver the daemon is ending anyway.
            let _ = sender.send(SupervisorEvent::ReaderEnded { generation, result });
        };
        ReaderThread::start(reader, self.host.clone(), self.mode, on_end)
    }

    /// Records that a reader has ended. Returns `true` if all mail was read.
    fn reader_ended(&mut self, generation: u64, unread: Vec<String>) -> bool {
        if generation == self.generation {
            self.running -= 1;
            self.unread.extend(unread);
        } else {
            self.retired -= 1;
        }
        self.running == 0 && self.mode == RunMode::Once
    }

    /// Returns `true` if the state accepts the spools of another configuration. Logs the reason if
    /// it does not.
    fn accepts(&self, config: &Config) -> bool {
        let checked = self.resources.writer.lock().check_spools(&config.spool);
        let refused = checked.inspect_err(|error| log_refusal(&error.to_string()));
        refused.is_ok()
    }

    /// Applies the part of another configuration that takes effect without a restart, and replaces
    /// the readers. The configuration waits while [`RETIRED_READER_THREADS`] readers of earlier
    /// configurations are running. A later configuration replaces a waiting one.
    fn reload(&mut self, config: Box<Config>) -> Result<()> {
        if RETIRED_READER_THREADS < self.retired + self.running {
            tracing::warn!(
                "the new configuration waits, because the file systems of {} threads do not answer",
                self.retired
            );
            self.waiting = Some(config);
            return Ok(());
        }
        self.retired += self.running;
        for reader in self.readers.drain(..) {
            reader.retire();
            self.earlier.add(&reader.last_status().counts);
        }
        self.generation += 1;
        self.unread.clear();
        self.config = merge(&self.config, *config);
        self.resources.extractor = Arc::new(Extractor::new(self.config.options()));
        let reconfigured = self.resources.writer.lock().reconfigure(&self.config);
        // Without space, the readers and the rest of the configuration wait.
        if let Err(error) = reconfigured
            && error.kind != ErrorKind::OutOfSpace
        {
            return Err(error);
        }
        self.start_readers()
    }

    /// Reloads the waiting configuration, if enough readers have ended.
    fn reload_waiting(&mut self) -> Result<()> {
        let is_due = self.retired + self.running <= RETIRED_READER_THREADS;
        match self.waiting.take_if(|_| is_due) {
            Some(config) => self.reload(config),
            None => Ok(()),
        }
    }

    /// Checks that the output folder is still where it was opened. Commits and seals if due, and
    /// resumes after a pause, even if all readers are blocked.
    fn keep_pace(&mut self) -> Result<()> {
        let (mut writer, host) = (self.resources.writer.lock(), &mut self.host);
        writer.check_output()?;
        if writer.ready(host)?.is_some() {
            return Ok(());
        }
        match writer.commit_if_due(self.stopping, host) {
            Err(error) if error.kind == ErrorKind::OutOfSpace => writer.ready(host).map(|_| ()),
            result => result,
        }
    }

    /// Lets the readers finish their current files, for at most [`DRAIN_TIMEOUT`].
    fn drain(&mut self) -> Result<()> {
        self.stopping = true;
        self.readers.iter().for_each(ReaderThread::stop);
        let started = Instant::now();
        while self.running > 0 && started.elapsed() < DRAIN_TIMEOUT {
            let left = DRAIN_TIMEOUT.saturating_sub(started.elapsed());
            if let Ok(SupervisorEvent::ReaderEnded { generation, result }) =
                self.events.recv_timeout(left)
            {
                self.reader_ended(generation, result?);
            }
        }
        Ok(())
    }

    /// The status of the daemon. Logs readers that have stalled, or that read again.
    fn status(&mut self) -> Status {
        let mut status = Status {
            version: env!("CARGO_PKG_VERSION"),
            pid: std::process::id(),
            started: self.started,
            counts: self.earlier.clone(),
            ..Status::default()
        };
        for reader in &mut self.readers {
            status.add_reader(reader.status(&mut self.host));
        }
        if self.stopping {
            status.state = DaemonState::Stopping;
        }
        self.resources.writer.lock().add_status(&mut status);
        status
    }

    /// Commits and seals pending work, and releases state and output. Without space for that,
    /// uncommitted messages are read again at the next start.
    fn close(&mut self) -> Result<()> {
        let mut writer = self.resources.writer.lock();
        let was_paused = writer.is_paused();
        let finished = writer.finish(&mut self.host);
        match finished.and_then(|()| writer.close()) {
            Err(error) if error.kind == ErrorKind::OutOfSpace && !was_paused => {
                tracing::warn!("{error}: uncommitted messages are read again at the next start");
                Ok(())
            }
            closed => closed,
        }
    }
}

/// Logs why a new configuration is refused.
fn log_refusal(error: &str) {
    let error = printable(error);
    tracing::error!("the old configuration stays in force: {error}");
}

/// Divides spools into at most `max` groups, one for each reader. Spools that contain each other,
/// or that may contain the same mailbox, are in one group.
fn group_spools(spools: &[Spool], max: usize) -> Vec<Vec<Spool>> {
    let mut groups: Vec<Vec<Spool>> = Vec::new();
    for spool in spools {
        let is_related = |group: &Vec<Spool>| group.iter().any(|other| overlap(spool, other));
        let (related, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_related);
        groups = others;
        let related = related.into_iter().flatten();
        groups.push(related.chain([spool.clone()]).collect());
    }
    let max = max.max(1);
    while max < groups.len() {
        let last = groups.pop().unwrap_or_default();
        let at = groups.len() % max;
        groups[at].extend(last);
    }
    groups
}

/// Returns `true` if one spool contains the other, however they are spelled, or both may contain
/// the same mailbox.
fn overlap(one: &Spool, other: &Spool) -> bool {
    let (one, other) = (resolved(&one.path), resolved(&other.path));
    other.starts_with(&one) || one.starts_with(&other) || can_share(&one, &other)
}

/// Returns the differences between two configurations as lines for the log, ordered by key. A
/// change that takes effect at a restart is a warning.
fn config_changes(old: &Config, new: &Config) -> Vec<(Level, String)> {
    let lists = [old, new].map(|config| &config.extract.excluded);
    let merged = values(&merge(old, new.clone()));
    let (old, new) = (values(old), values(new));
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut changes = Vec::new();
    if lists[0] != lists[1] {
        let [before, after] = lists.map(HashSet::len);
        let line = format!("changed the domains to exclude: {before} -> {after} names");
        changes.push((Level::INFO, line));
    }
    for key in keys {
        let mut line = match (old.get(key), new.get(key)) {
            (old, new) if old == new => continue,
            (Some(old), Some(new)) => format!("changed {key}: {old} -> {new}"),
            (None, _) => format!("added {key}"),
            (_, None) => format!("removed {key}"),
        };
        if merged.get(key) == new.get(key) {
            changes.push((Level::INFO, line));
        } else {
            line.push_str("; takes effect after a restart");
            changes.push((Level::WARN, line));
        }
    }
    changes
}

/// Applies the part of `new` that takes effect immediately. The rest keeps its values from `old`,
/// the active configuration, until a restart: it concerns the open state and output, the open
/// socket, and rights that were given up.
fn merge(old: &Config, new: Config) -> Config {
    let mut merged = new;
    merged.output.dir.clone_from(&old.output.dir);
    merged.output.stdout.clone_from(&old.output.stdout);
    merged.output.tombstones = old.output.tombstones;
    merged.state.dir.clone_from(&old.state.dir);
    merged.metrics.listen.clone_from(&old.metrics.listen);
    merged.watch.confine = old.watch.confine;
    merged
}

/// The values of a configuration by key. A spool's key is its path, and has no value: the state
/// refuses another `kind` or `dedupe`.
fn values(config: &Config) -> BTreeMap<String, String> {
    let table = toml::Table::try_from(config).unwrap_or_default();
    let mut values = BTreeMap::new();
    for (name, value) in &table {
        for (key, value) in value.as_table().into_iter().flatten() {
            values.insert(format!("{name}.{key}"), text(value));
        }
        let spools = value.as_array().into_iter().flatten();
        for path in spools.filter_map(|spool| spool.get("path")) {
            values.insert(format!("spool {}", text(path)), String::new());
        }
    }
    values
}

/// A value as the log shows it: without quotation marks, which a JSON log would escape.
fn text(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) if text.is_empty() => "(empty)".to_owned(),
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(items) if items.is_empty() => "(empty)".to_owned(),
        toml::Value::Array(items) => {
            let items: Vec<String> = items.iter().map(text).collect();
            items.join(",")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each SIGHUP used to leave behind the threads of a file system that did not answer, without a
    /// limit.
    #[test]
    fn a_configuration_waits_until_enough_readers_have_ended() {
        let folder =
            std::env::temp_dir().join(format!("urlspool-supervisor-{}", std::process::id()));
        let place = |name: &str| folder.join(name).display().to_string();
        let text = format!(
            "[output]\ndir = {:?}\n[state]\ndir = {:?}\n[[spool]]\npath = {:?}\n",
            place("out"),
            place("state"),
            place("mail")
        );
        let config = || Box::new(Config::parse(&text).expect("a configuration"));
        let start_git: StartProgram = Arc::new(|mut command| command.spawn());
        let mut supervisor = Supervisor::open(
            *config(),
            RunMode::Forever,
            start_git,
            None,
            ProcessHost::new(),
        )
        .expect("opens");
        supervisor.start_readers().expect("starts");
        supervisor.retired = RETIRED_READER_THREADS;
        supervisor.reload(config()).expect("waits");
        assert_eq!(
            (supervisor.generation, supervisor.retired),
            (0, RETIRED_READER_THREADS)
        );
        supervisor.reload_waiting().expect("still waits");
        assert_eq!(supervisor.generation, 0);
        assert!(!supervisor.reader_ended(u64::MAX, Vec::new()));
        supervisor.reload_waiting().expect("is reloaded");
        assert_eq!(supervisor.generation, 1);
        assert!(supervisor.waiting.is_none());
        supervisor.drain().expect("ends");
        drop(supervisor);
        std::fs::remove_dir_all(&folder).expect("is removed");
    }

    #[test]
    fn nested_spools_and_spools_of_one_mailbox_share_a_reader() {
        let spool = |path: &&str| Spool {
            path: path.into(),
            ..Spool::default()
        };
        let names = |spools: &[&str], max| -> Vec<Vec<String>> {
            let spools: Vec<Spool> = spools.iter().map(spool).collect();
            let name = |spool: Spool| spool.path.display().to_string();
            group_spools(&spools, max)
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

    fn changes(old: &str, new: &str) -> Vec<String> {
        let [old, new] = [old, new].map(|text| Config::parse(text).unwrap());
        config_changes(&old, &new)
            .into_iter()
            .map(|(_, line)| line)
            .collect()
    }

    #[test]
    fn each_change_names_its_key_and_both_values() {
        assert_eq!(changes("", ""), [""; 0]);
        assert_eq!(
            changes(
                "[watch]\nsweep = \"5m\"\n[extract]\nschemes = [\"http\", \"ftp\"]",
                "[watch]\nsweep = \"90s\"\n[metrics]\ntextfile = \"/t/a\"\n[limits]\nmime_depth = 7"
            ),
            [
                "changed extract.schemes: http,ftp -> (empty)",
                "changed limits.mime_depth: 100 -> 7",
                "changed metrics.textfile: (empty) -> /t/a",
                "changed watch.sweep: 5m -> 1m 30s",
            ]
        );
    }

    #[test]
    fn changes_that_need_a_restart_are_named_and_not_applied() {
        let new = "[output]\ndir = \"/o\"\n[state]\ndir = \"/s\"\n[metrics]\nlisten \
            = \"\"\n[watch]\nconfine = \"none\"";
        let text = changes("", new);
        assert_eq!(text.len(), 4);
        assert!(
            text.iter()
                .all(|line| line.ends_with("; takes effect after a restart"))
        );
        let (old, new) = (Config::default(), Config::parse(new).unwrap());
        let merged = merge(&old, new);
        assert_eq!(config_changes(&old, &merged), []);
    }

    #[test]
    fn spools_are_identified_by_their_paths() {
        let spools = |paths: &[&str]| -> String {
            let table = |path: &&str| format!("[[spool]]\npath = \"{path}\"\n");
            paths.iter().map(table).collect()
        };
        let (old, new) = (spools(&["/a", "/b", "/c"]), spools(&["/b", "/a", "/d"]));
        assert_eq!(changes(&old, &new), ["removed spool /c", "added spool /d"]);
    }
}
