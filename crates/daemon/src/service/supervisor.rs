//! The supervisor. It starts a reader thread for each group of spools, commits on time even if
//! readers are blocked, replaces the readers when the configuration changes, and lists the changed
//! keys for the log.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::reader_thread::{ProcessHost, ReaderThread, RunEnd, RunMode};
use crate::ingest::{ParserPool, Suspects, can_share};
use crate::schedule::{ReaderResources, SpoolReader};
use crate::status::{Counters, DaemonState, Status, timestamp};
use crate::store::{SharedWriter, StateDb};
use crate::{DaemonError, DaemonHost, ErrorKind, LogRecord, Result};
use urlspool_files::config::{Config, Spool, resolved};
use urlspool_record::extract::Extractor;
use urlspool_sources::read::{GitHost, StartProgram};
use urlspool_text::diagnostic::printable;
use urlspool_text::limits::{DAEMON_READER_THREADS, RETIRED_READER_THREADS};

/// Maximum sleep between two commits.
const MAX_SLEEP: Duration = Duration::from_millis(500);

/// Time limit for readers to finish their current files when the daemon stops.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// All events that can wake the supervisor.
#[derive(Debug)]
pub(super) enum SupervisorEvent {
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
        result: Result<RunEnd>,
    },
}

/// Supervises the readers and the committer that they share.
pub(super) struct Supervisor {
    /// The active configuration.
    pub(super) config: Config,
    mode: RunMode,
    host: ProcessHost,
    /// Time of the start; `None` if the system clock was before 1970.
    started: Option<Timestamp>,
    resources: ReaderResources,
    pub(super) readers: Vec<ReaderThread>,
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
    pub(super) unread: Vec<String>,
    events: Receiver<SupervisorEvent>,
    pub(super) sender: Sender<SupervisorEvent>,
}

impl Supervisor {
    /// Opens state and output, and recovers them after a crash.
    ///
    /// # Errors
    ///
    /// Another instance holds the state, state and output contradict each other, or an I/O error.
    pub(super) fn open(
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
    pub(super) fn start_readers(&mut self) -> Result<()> {
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

    /// Waits for the next event, at most for [`MAX_SLEEP`].
    pub(super) fn wait(&self) -> Option<SupervisorEvent> {
        // `self.sender` keeps the channel open, so the only error is the timeout.
        self.events.recv_timeout(MAX_SLEEP).ok()
    }

    /// Records that a reader has ended. Returns `true` if all mail was read.
    pub(super) fn reader_ended(&mut self, generation: u64, end: RunEnd) -> bool {
        if generation == self.generation {
            self.running -= 1;
            self.unread.extend(end.unread);
        } else {
            self.retired -= 1;
        }
        self.running == 0 && self.mode == RunMode::Once
    }

    /// Returns `true` if the state accepts the spools of another configuration. Logs the reason if
    /// it does not.
    pub(super) fn accepts(&self, config: &Config) -> bool {
        let checked = self.resources.writer.lock().check_spools(&config.spool);
        let refused = checked.inspect_err(|error| log_refusal(&error.to_string()));
        refused.is_ok()
    }

    /// Applies the part of another configuration that takes effect without a restart, and replaces
    /// the readers. The configuration waits while [`RETIRED_READER_THREADS`] readers of earlier
    /// configurations are running. A later configuration replaces a waiting one.
    pub(super) fn reload(&mut self, config: Box<Config>) -> Result<()> {
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
    pub(super) fn reload_waiting(&mut self) -> Result<()> {
        let is_due = self.retired + self.running <= RETIRED_READER_THREADS;
        match self.waiting.take_if(|_| is_due) {
            Some(config) => self.reload(config),
            None => Ok(()),
        }
    }

    /// Checks that the output folder is still where it was opened. Commits and seals if due, and
    /// resumes after a pause, even if all readers are blocked.
    pub(super) fn keep_pace(&mut self) -> Result<()> {
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
    pub(super) fn drain(&mut self) -> Result<()> {
        self.stopping = true;
        self.readers.iter().for_each(ReaderThread::stop);
        let started = Instant::now();
        while self.running > 0 && started.elapsed() < DRAIN_TIMEOUT {
            let left = DRAIN_TIMEOUT.saturating_sub(started.elapsed());
            if let Ok(SupervisorEvent::ReaderEnded { generation, result }) =
                self.events.recv_timeout(left)
            {
                let end = result?;
                self.reader_ended(generation, end);
            }
        }
        Ok(())
    }

    /// The status of the daemon. Logs readers that have stalled, or that read again.
    pub(super) fn status(&mut self) -> Status {
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
    pub(super) fn close(&mut self) -> Result<()> {
        let mut writer = self.resources.writer.lock();
        let was_paused = writer.is_paused();
        match writer.close() {
            Ok(sealed) => {
                for segment in &sealed {
                    self.host.log(&LogRecord::Sealed(segment));
                }
                Ok(())
            }
            Err(error) if error.kind == ErrorKind::OutOfSpace && !was_paused => {
                tracing::warn!("{error}: uncommitted messages are read again at the next start");
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Logs why a new configuration is refused.
pub(super) fn log_refusal(error: &str) {
    let error = printable(error);
    tracing::error!("the old configuration stays in force: {error}");
}

/// Divides spools into at most `max` groups, one for each reader. Spools that contain each other,
/// or that may contain the same mailbox, are in one group.
pub(super) fn group_spools(spools: &[Spool], max: usize) -> Vec<Vec<Spool>> {
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

/// A key with different values in two configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfigChange {
    /// The line for the log.
    pub(super) line: String,
    /// `true` if the change takes effect at a restart, `false` if immediately.
    pub(super) waits_for_restart: bool,
}

/// Returns the differences between two configurations, ordered by key.
pub(super) fn config_changes(old: &Config, new: &Config) -> Vec<ConfigChange> {
    let lists = [old, new].map(|config| &config.extract.excluded);
    let merged = values(&merge(old, new.clone()));
    let (old, new) = (values(old), values(new));
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut changes = Vec::new();
    if lists[0] != lists[1] {
        let [before, after] = lists.map(HashSet::len);
        changes.push(ConfigChange {
            line: format!("changed the domains to exclude: {before} -> {after} names"),
            waits_for_restart: false,
        });
    }
    // For an added or removed spool, the line about the spool itself suffices.
    let mut whole: Option<String> = None;
    for key in keys {
        let is_part = whole.as_ref().is_some_and(|spool| key.starts_with(spool));
        let mut line = match (old.get(key), new.get(key)) {
            (old, new) if old == new || is_part => continue,
            (Some(old), Some(new)) => format!("changed {key}: {old} -> {new}"),
            (None, _) => format!("added {key}"),
            (_, None) => format!("removed {key}"),
        };
        if !line.starts_with("changed") {
            whole = Some(format!("{key} "));
        }
        let waits_for_restart = merged.get(key) != new.get(key);
        if waits_for_restart {
            line.push_str("; takes effect after a restart");
        }
        changes.push(ConfigChange {
            line,
            waits_for_restart,
        });
    }
    changes
}

/// Applies the part of `new` that takes effect immediately. The rest keeps its values from `old`,
/// the active configuration, until a restart: it concerns the open state and output, the open
/// socket, and rights that were given up.
pub(super) fn merge(old: &Config, new: Config) -> Config {
    let mut merged = new;
    merged.output.dir.clone_from(&old.output.dir);
    merged.output.stdout.clone_from(&old.output.stdout);
    merged.output.tombstones = old.output.tombstones;
    merged.state.dir.clone_from(&old.state.dir);
    merged.metrics.listen.clone_from(&old.metrics.listen);
    merged.watch.confine = old.watch.confine;
    merged
}

/// The values of a configuration by key. The path of a spool is part of its keys.
fn values(config: &Config) -> BTreeMap<String, String> {
    let table = toml::Table::try_from(config).unwrap_or_default();
    let mut values = BTreeMap::new();
    for (name, value) in &table {
        for (key, value) in value.as_table().into_iter().flatten() {
            values.insert(format!("{name}.{key}"), text(value));
        }
        let spools = value.as_array().into_iter().flatten();
        for spool in spools.filter_map(toml::Value::as_table) {
            let name = format!("spool {}", spool.get("path").map_or_else(String::new, text));
            for (key, value) in spool.iter().filter(|(key, _)| *key != "path") {
                values.insert(format!("{name} {key}"), text(value));
            }
            values.insert(name, String::new());
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
    use urlspool_files::config::DedupeScope;

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
        assert!(!supervisor.reader_ended(u64::MAX, RunEnd::default()));
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
            kind: None,
            dedupe: DedupeScope::Mailbox,
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
            .map(|change| change.line)
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
        let spool =
            |path: &str, kind: &str| format!("[[spool]]\npath = \"{path}\"\nkind = \"{kind}\"\n");
        let old = [
            spool("/a", "mbox"),
            spool("/b", "auto"),
            spool("/c", "auto"),
        ]
        .concat();
        let new = [
            spool("/b", "auto"),
            spool("/a", "maildir"),
            spool("/d", "auto"),
        ]
        .concat();
        assert_eq!(
            changes(&old, &new),
            [
                "changed spool /a kind: mbox -> maildir",
                "removed spool /c",
                "added spool /d"
            ]
        );
    }
}
