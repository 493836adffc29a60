//! New mail's URLs, exactly once: when to look, where, and what is committed.
//!
//! One loop over [`DaemonEvent`] for each reader. Events only mark work; [`SpoolReader::work`] does it. Time is passed in by the
//! [`DaemonHost`], as are the events, so that a test can be one. Everything that is read goes through the same look at a file
//! (`daemon/ingest/file_ingest.rs`), whatever the reason for it, and everything that is written through one committer
//! (`daemon/store/committer.rs`), which the readers share (`daemon/store/shared_committer.rs`).
//!
//! **The promise.** For every message that is complete while the daemon looks, or still there at its next look, its
//! records appear exactly once in the sealed segments and the committed beginning of the open one. Not promised: mail
//! that came and went while nobody looked; writers that neither lock nor finish within the settle time; storage that
//! lies about what it has synced; consumers that read hidden files.

mod error;
mod heartbeat;
mod host;
mod ingest;
mod planted_faults;
mod schedule;
mod service;
mod status;
mod store;

pub use error::DaemonError;
pub use host::{DaemonEvent, DaemonHost, LogRecord, MonotonicTime};
pub use schedule::Failure;
pub use service::{RunMode, ask, run};
pub use status::{SpoolStatus, Status};

use std::collections::{BTreeSet, HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heartbeat::Heartbeat;
use ingest::{FileVersion, ParserPool};
use planted_faults::{PlantedFault, is_planted};
use schedule::RetryTable;
use status::Counters;
use store::{InstanceLock, SharedCommitter};

use crate::config::{Config, Spool};
use crate::extract::Extractor;

/// The time between two looks at a spool without notices.
const POLL_MS: u64 = 30_000;

/// The time after which a new or restless folder is looked at again.
const AGAIN_MS: u64 = 1_000;

/// Looks at a folder that will not rest before the others have their turn.
const RESTLESS_LOOKS: u32 = 3;

/// Files that are watched for coming to rest; more wait until some have. Bounds memory.
const RESTING_FILES: usize = 100_000;

/// The daemon, or, once it is divided, the reader of some of its spools.
#[derive(Debug)]
pub struct SpoolReader {
    config: Config,
    extractor: Arc<Extractor>,
    parsers: Arc<ParserPool>,
    committer: Arc<SharedCommitter>,
    heartbeat: Arc<Heartbeat>,
    /// The committer for which everything was looked at, or is meant to be.
    epoch: u64,
    spools: Vec<Watched>,
    /// Files that changed.
    changed: BTreeSet<PathBuf>,
    closed: HashSet<PathBuf>,
    resting: HashMap<PathBuf, Resting>,
    failing: RetryTable,
    /// The times of change of folders whose entries are renamed while they are read.
    folders: HashMap<PathBuf, i64>,
    counts: Counters,
    stopping: bool,
    last_error: Option<String>,
}

/// A spool, and when it is to be looked at.
#[derive(Debug)]
struct Watched {
    spool: Spool,
    /// When all of it is to be looked at.
    due: Option<MonotonicTime>,
    /// How often in a row it did not rest.
    restless: u32,
    notices: bool,
    present: bool,
    /// Whether all of it was looked at since somebody began to watch it.
    swept: bool,
    /// Mailboxes on file systems that are not there.
    absent: u64,
    /// What stood there at the last look; nothing if nothing did.
    root: Option<Root>,
    files: u64,
}

/// Device and inode of a spool's root: with another one, notices of what was there before are of no use.
type Root = (u64, u64);

/// A file that may still be written.
#[derive(Clone, Copy, Debug)]
struct Resting {
    stamp: FileVersion,
    since: MonotonicTime,
    look: MonotonicTime,
    spool: usize,
}

impl SpoolReader {
    /// Takes hold of state and output, finishes what was left undone, and means to look at everything.
    ///
    /// # Errors
    ///
    /// That another instance holds the state, that state and output contradict each other, or what the system says.
    pub fn open(config: Config, host: &mut dyn DaemonHost) -> Result<SpoolReader, DaemonError> {
        let desk = SharedCommitter::open(&config, host)?;
        let extractor = Arc::new(Extractor::new(config.options()));
        Ok(SpoolReader::of(
            config,
            extractor,
            Arc::new(ParserPool::new()),
            desk,
            host.now(),
        ))
    }

    fn of(
        config: Config,
        extractor: Arc<Extractor>,
        parsers: Arc<ParserPool>,
        desk: Arc<SharedCommitter>,
        now: MonotonicTime,
    ) -> SpoolReader {
        let watched = |spool: &Spool| Watched {
            spool: spool.clone(),
            due: Some(now),
            restless: 0,
            notices: true,
            present: true,
            swept: false,
            absent: 0,
            root: None,
            files: 0,
        };
        SpoolReader {
            spools: config.spool.iter().map(watched).collect(),
            epoch: desk.epoch(),
            config,
            extractor,
            parsers,
            committer: desk,
            heartbeat: Arc::default(),
            changed: BTreeSet::new(),
            closed: HashSet::new(),
            resting: HashMap::new(),
            failing: RetryTable::default(),
            folders: HashMap::new(),
            counts: Counters::default(),
            stopping: false,
            last_error: None,
        }
    }

    /// Readers for its spools, `most` at the most, that share all but what they wait for. Spools that lie in each other
    /// have the same one.
    fn divided(&self, most: usize, now: MonotonicTime) -> Vec<SpoolReader> {
        let reader = |spool: Vec<Spool>| {
            let config = Config {
                spool,
                ..self.config.clone()
            };
            let (extractor, parsers) = (Arc::clone(&self.extractor), Arc::clone(&self.parsers));
            SpoolReader::of(config, extractor, parsers, Arc::clone(&self.committer), now)
        };
        service::shared(&self.config.spool, most)
            .into_iter()
            .map(reader)
            .collect()
    }

    /// Takes over a new configuration, but for the folders: they are held, and stay what they are until the next start.
    fn take_over(&mut self, config: Config) {
        let (output, state) = (
            self.config.output.dir.clone(),
            self.config.state.dir.clone(),
        );
        self.config = config;
        (self.config.output.dir, self.config.state.dir) = (output, state);
        self.extractor = Arc::new(Extractor::new(self.config.options()));
        self.committer.take_over(&self.config);
    }

    /// Commits and seals what is due, and goes on after a pause, whatever the readers do.
    fn keep_pace(&self, host: &mut dyn DaemonHost) -> Result<(), DaemonError> {
        if self.committer.ready(host)?.is_some() {
            return Ok(());
        }
        match self.committer.commit_if_due(false, host) {
            Err(DaemonError::OutOfSpace(_)) => self.committer.ready(host).map(|_| ()),
            done => done,
        }
    }

    /// Whether work is paused for want of room.
    fn is_paused(&self) -> bool {
        self.committer.is_paused()
    }

    /// Adds how that stands which all readers share.
    fn tell(&self, status: &mut Status) {
        self.committer.tell(status);
    }

    /// Builds the state anew from the sidecars.
    ///
    /// # Errors
    ///
    /// As [`SpoolReader::open`].
    pub fn rebuild(config: &Config, host: &mut dyn DaemonHost) -> Result<(), DaemonError> {
        let _lock = InstanceLock::take(&config.state.dir)?;
        store::rebuild(config, &mut |remark| host.log(&LogRecord::Info(remark)))
    }

    /// Marks what an event asks for.
    pub fn handle(&mut self, event: DaemonEvent, now: MonotonicTime) {
        match event {
            DaemonEvent::Changed(path) => {
                self.changed.insert(path);
            }
            DaemonEvent::Closed(path) => {
                self.closed.insert(path.clone());
                self.changed.insert(path);
            }
            DaemonEvent::Overflow => {
                self.counts.overflows += 1;
                if !is_planted(PlantedFault::IgnoreOverflow) {
                    self.look_everywhere(now);
                }
            }
            DaemonEvent::Unwatched(path) => {
                self.spools
                    .iter_mut()
                    .filter(|watched| path.starts_with(&watched.spool.path))
                    .for_each(|watched| {
                        watched.notices = false;
                        watched.mark(now.after(AGAIN_MS));
                    });
            }
            DaemonEvent::Stop => self.stopping = true,
        }
    }

    /// Whether roots came, went, or were replaced since this was asked last: mounted, restored, renamed. Then notices
    /// must be asked for anew, and after that everything looked at. What went is not forgotten.
    fn is_another_place(&mut self) -> bool {
        let mut another = false;
        for watched in &mut self.spools {
            let root = root_at(&watched.spool.path);
            if root != watched.root {
                watched.root = root;
                watched.notices = true;
                another = true;
            }
        }
        another
    }

    fn look_everywhere(&mut self, now: MonotonicTime) {
        self.spools.iter_mut().for_each(|watched| watched.mark(now));
    }

    /// Does what is to be done, and says when there will be more to do.
    ///
    /// # Errors
    ///
    /// What ends the daemon. Want of room does not: it pauses, and goes on when there is some.
    pub fn work(&mut self, host: &mut dyn DaemonHost) -> Result<MonotonicTime, DaemonError> {
        if let Some(retry) = self.committer.ready(host)? {
            return Ok(retry);
        }
        let epoch = self.committer.epoch();
        if std::mem::replace(&mut self.epoch, epoch) != epoch {
            self.look_everywhere(host.now());
            // Nobody has looked meanwhile.
            self.spools
                .iter_mut()
                .for_each(|watched| watched.swept = false);
        }
        match self.round(host) {
            Ok(()) => Ok(self.next()),
            Err(DaemonError::OutOfSpace(_)) => {
                Ok(self.committer.ready(host)?.unwrap_or_else(|| host.now()))
            }
            Err(fault) => Err(fault),
        }
    }

    /// One round over everything that is due.
    fn round(&mut self, host: &mut dyn DaemonHost) -> Result<(), DaemonError> {
        self.look_at_changed(host)?;
        self.look_at_rested(host)?;
        self.look_at_failed(host)?;
        for index in 0..self.spools.len() {
            let now = host.now();
            if !self.stopping && self.spools[index].due.is_some_and(|due| due <= now) {
                self.sweep(index, host)?;
            }
        }
        self.committer.commit_if_due(self.stopping, host)
    }

    /// When there is something to do again.
    fn next(&self) -> MonotonicTime {
        let resting = self.resting.values().map(|resting| resting.look);
        let sweeps = self.spools.iter().filter_map(|watched| watched.due);
        let all = resting
            .chain(self.failing.next())
            .chain(sweeps)
            .chain(self.committer.next());
        all.min().unwrap_or(MonotonicTime { ms: u64::MAX })
    }

    /// Whether everything was read and given, as far as it can be by now.
    #[must_use]
    pub fn is_done(&self, now: MonotonicTime) -> bool {
        let due = |watched: &Watched| watched.due.is_some_and(|due| due <= now.after(AGAIN_MS));
        self.changed.is_empty()
            && self.resting.is_empty()
            && self.committer.is_at_rest(self.epoch)
            && !self.spools.iter().any(due)
    }

    /// Commits and seals what was read, and lets go.
    ///
    /// # Errors
    ///
    /// What the system says. What was committed stays so.
    pub fn close(self) -> Result<(), DaemonError> {
        self.committer.close()
    }

    /// How it stands.
    #[must_use]
    pub fn status(&self, now: MonotonicTime) -> Status {
        let mut status = self.status_of_spools(now);
        self.committer.tell(&mut status);
        status
    }

    /// The same without what all readers share.
    fn status_of_spools(&self, now: MonotonicTime) -> Status {
        let lag = |watched: &Watched| watched.due.map_or(0, |due| now.ms.saturating_sub(due.ms));
        let spool = |watched: &Watched| SpoolStatus {
            path: watched.spool.path.display().to_string(),
            present: watched.present,
            absent: watched.absent,
            notices: watched.notices,
            files: watched.files,
            lag_ms: lag(watched),
            stalled_ms: 0,
        };
        Status {
            state: if self.stopping { "stopping" } else { "running" },
            queue: self.changed.len(),
            resting: self.resting.len(),
            failing: self.failing.failing(),
            quarantined: self.failing.quarantined(),
            failures: self.failing.reported(),
            spools: self.spools.iter().map(spool).collect(),
            last_error: self.last_error.clone(),
            counts: self.counts.clone(),
            ..Status::default()
        }
    }

    /// Whether the operator wants an end.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// The configuration that holds.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }
}

impl Watched {
    /// Marks the spool to be looked at, at `at` or sooner.
    fn mark(&mut self, at: MonotonicTime) {
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }
}

fn root_at(path: &Path) -> Option<Root> {
    path.metadata()
        .ok()
        .map(|metadata| (metadata.dev(), metadata.ino()))
}
