//! New mail's URLs, exactly once: when to look, where, and what is committed.
//!
//! One loop over [`Event`]. Events only mark work; [`Daemon::work`] does it. Time is passed in by the [`Host`], as are
//! the events, so that a test can be one. Everything that is read goes through the same look at a file
//! (`daemon/read.rs`), whatever the reason for it, and everything that is written through one committer
//! (`daemon/commit.rs`).
//!
//! **The promise.** For every message that is complete while the daemon looks, or still there at its next look, its
//! records appear exactly once in the sealed segments and the committed beginning of the open one. Not promised: mail
//! that came and went while nobody looked; writers that neither lock nor finish within the settle time; storage that
//! lies about what it has synced; consumers that read hidden files.

mod age;
mod commit;
mod confine;
mod event;
mod failing;
mod fault;
mod identity;
mod left;
mod lock;
mod look;
mod mbox;
mod metrics;
mod pace;
mod planted;
mod read;
mod recover;
mod run;
mod serve;
mod state;
mod survey;
mod take;
mod watch;

pub use event::{Event, Host, Now, Remark};
pub use failing::Failure;
pub use fault::Fault;
pub use metrics::{SpoolStatus, Status};
pub use run::{Once, ask, run};

use std::collections::{BTreeSet, HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use age::Age;
use commit::Committer;
use failing::Failures;
use identity::Stamp;
use lock::Lock;
use metrics::Counts;
use pace::{BATCH_BYTES, RETRY_MS};
use planted::{Planted, planted};

use crate::config::{Config, Spool};
use crate::pipeline::{Extractor, Options};

/// The time between two looks at a spool without notices.
const POLL_MS: u64 = 30_000;

/// The time after which a new or restless folder is looked at again.
const AGAIN_MS: u64 = 1_000;

/// Looks at a folder that will not rest before the others have their turn.
const RESTLESS_LOOKS: u32 = 3;

/// Files that are watched for coming to rest; more wait until some have. Bounds memory.
const RESTING_FILES: usize = 100_000;

/// The daemon.
#[derive(Debug)]
pub struct Daemon {
    config: Config,
    extractor: Extractor,
    spools: Vec<Watched>,
    /// None while paused.
    committer: Option<Committer>,
    paused: Option<Pause>,
    /// Files that changed.
    changed: BTreeSet<PathBuf>,
    closed: HashSet<PathBuf>,
    resting: HashMap<PathBuf, Resting>,
    failing: Failures,
    /// The times of change of folders whose entries are renamed while they are read.
    folders: HashMap<PathBuf, i64>,
    counts: Counts,
    /// None until the state was open once.
    age: Option<Age>,
    batch_bytes: usize,
    batch_since: Option<Now>,
    segment_since: Option<Now>,
    stopping: bool,
    /// A configuration that waits for the end of the round.
    reload: Option<Box<Config>>,
    last_error: Option<String>,
    /// Held as long as the daemon lives, also while it is paused.
    _lock: Lock,
}

/// A spool, and when it is to be looked at.
#[derive(Debug)]
struct Watched {
    spool: Spool,
    /// When all of it is to be looked at.
    due: Option<Now>,
    /// How often in a row it did not rest.
    restless: u32,
    notices: bool,
    present: bool,
    /// Mailboxes on file systems that are not there.
    absent: u64,
    /// What stood there at the last look; nothing if nothing did.
    root: Option<Root>,
    files: u64,
}

/// Device and inode of a spool's root: with another one, notices of what was there before are of no use.
type Root = (u64, u64);

#[derive(Debug)]
struct Pause {
    why: String,
    retry: Now,
}

/// A file that may still be written.
#[derive(Clone, Copy, Debug)]
struct Resting {
    stamp: Stamp,
    since: Now,
    look: Now,
    spool: usize,
}

impl Daemon {
    /// Takes hold of state and output, finishes what was left undone, and means to look at everything.
    ///
    /// # Errors
    ///
    /// That another instance holds the state, that state and output contradict each other, or what the system says.
    pub fn open(config: Config, host: &mut dyn Host) -> Result<Daemon, Fault> {
        let lock = Lock::take(&config.state.dir)?;
        let mut remarks = Vec::new();
        let opened = recover::open(&config, &mut |remark| remarks.push(remark));
        for remark in remarks {
            host.remark(&Remark::Warn(remark));
        }
        let now = host.now();
        let (committer, paused) = match opened {
            Ok(committer) => (Some(committer), None),
            Err(Fault::Full(why)) => (None, Some(Pause { why, retry: now })),
            Err(fault) => return Err(fault),
        };
        let age = committer.as_ref().map(|committer| Age::open(&committer.store, host)).transpose()?;
        let mut daemon = Daemon {
            age,
            extractor: Extractor::new(Options::of(&config)),
            spools: Vec::new(),
            config,
            committer,
            paused,
            changed: BTreeSet::new(),
            closed: HashSet::new(),
            resting: HashMap::new(),
            failing: Failures::default(),
            folders: HashMap::new(),
            counts: Counts::default(),
            batch_bytes: BATCH_BYTES,
            batch_since: None,
            segment_since: None,
            stopping: false,
            reload: None,
            last_error: None,
            _lock: lock,
        };
        daemon.watch_spools(now);
        Ok(daemon)
    }

    /// Builds the state anew from the sidecars.
    ///
    /// # Errors
    ///
    /// As [`Daemon::open`].
    pub fn rebuild(config: &Config, host: &mut dyn Host) -> Result<(), Fault> {
        let _lock = Lock::take(&config.state.dir)?;
        recover::rebuild(config, &mut |remark| host.remark(&Remark::Info(remark)))
    }

    fn watch_spools(&mut self, now: Now) {
        let watched = |spool: &Spool| Watched {
            spool: spool.clone(),
            due: Some(now),
            restless: 0,
            notices: true,
            present: true,
            absent: 0,
            root: root_at(&spool.path),
            files: 0,
        };
        self.spools = self.config.spool.iter().map(watched).collect();
    }

    /// Marks what an event asks for.
    pub fn handle(&mut self, event: Event, now: Now) {
        match event {
            Event::Changed(path) => {
                self.changed.insert(path);
            }
            Event::Closed(path) => {
                self.closed.insert(path.clone());
                self.changed.insert(path);
            }
            Event::Overflow => {
                self.counts.overflows += 1;
                if !planted(Planted::IgnoreOverflow) {
                    self.look_everywhere(now);
                }
            }
            Event::Unwatched(path) => {
                self.spools.iter_mut().filter(|watched| watched.spool.path == path).for_each(|watched| {
                    watched.notices = false;
                    watched.mark(now.after(AGAIN_MS));
                });
            }
            Event::Reload(config) => self.reload = Some(config),
            Event::Stop => self.stopping = true,
        }
    }

    /// Takes over a new configuration, if there is one.
    fn take_over(&mut self, now: Now) {
        let Some(config) = self.reload.take() else { return };
        // The folders are held, and stay what they are until the next start.
        let (output, state) = (self.config.output.dir.clone(), self.config.state.dir.clone());
        self.config = *config;
        (self.config.output.dir, self.config.state.dir) = (output, state);
        self.extractor = Extractor::new(Options::of(&self.config));
        if let Some(committer) = &mut self.committer {
            committer.compress = self.config.output.compress;
        }
        (self.resting, self.failing) = (HashMap::new(), Failures::default());
        self.watch_spools(now);
    }

    /// Whether the round is to end early.
    fn is_interrupted(&self) -> bool {
        self.stopping || self.reload.is_some()
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

    fn look_everywhere(&mut self, now: Now) {
        self.spools.iter_mut().for_each(|watched| watched.mark(now));
    }

    /// Does what is to be done, and says when there will be more to do.
    ///
    /// # Errors
    ///
    /// What ends the daemon. Want of room does not: it pauses, and goes on when there is some.
    pub fn work(&mut self, host: &mut dyn Host) -> Result<Now, Fault> {
        let now = host.now();
        self.take_over(now);
        if let Some(age) = &mut self.age {
            age.pass(host);
        }
        if let Some(pause) = &self.paused {
            if now < pause.retry {
                return Ok(pause.retry);
            }
            if !self.resume(host)? {
                return Ok(host.now().after(RETRY_MS));
            }
        }
        match self.round(host) {
            Ok(()) => Ok(self.next()),
            Err(Fault::Full(why)) => {
                self.pause(why, host);
                Ok(host.now().after(RETRY_MS))
            }
            Err(fault) => {
                // Nothing of it may be synced or committed again.
                self.committer = None;
                Err(fault)
            }
        }
    }

    /// One round over everything that is due.
    fn round(&mut self, host: &mut dyn Host) -> Result<(), Fault> {
        self.look_at_changed(host)?;
        self.look_at_rested(host)?;
        self.look_at_failed(host)?;
        for index in 0..self.spools.len() {
            let now = host.now();
            if !self.is_interrupted() && self.spools[index].due.is_some_and(|due| due <= now) {
                self.sweep(index, host)?;
            }
        }
        self.commit_if_due(host)
    }

    /// Whether everything was read and given, as far as it can be by now.
    #[must_use]
    pub fn is_done(&self, now: Now) -> bool {
        let due = |watched: &Watched| watched.due.is_some_and(|due| due <= now.after(AGAIN_MS));
        self.paused.is_none()
            && self.changed.is_empty()
            && self.resting.is_empty()
            && !self.committer.as_ref().is_some_and(Committer::is_dirty)
            && !self.spools.iter().any(due)
    }

    /// Commits and seals what was read, and lets go.
    ///
    /// # Errors
    ///
    /// What the system says. What was committed stays so.
    pub fn close(mut self) -> Result<(), Fault> {
        let Some(mut committer) = self.committer.take() else { return Ok(()) };
        if let Some(age) = &mut self.age {
            age.keep(committer.state()?)?;
        }
        committer.close()
    }

    /// How it stands.
    #[must_use]
    pub fn status(&self, now: Now) -> Status {
        let lag = |watched: &Watched| watched.due.map_or(0, |due| now.ms.saturating_sub(due.ms));
        let spool = |watched: &Watched| SpoolStatus {
            path: watched.spool.path.display().to_string(),
            present: watched.present,
            absent: watched.absent,
            notices: watched.notices,
            files: watched.files,
            lag_ms: lag(watched),
        };
        Status {
            state: match (&self.paused, self.stopping) {
                (Some(_), _) => "paused",
                (None, true) => "stopping",
                (None, false) => "running",
            },
            why: self.paused.as_ref().map(|pause| pause.why.clone()),
            segment: self.committer.as_ref().map_or(0, Committer::seq),
            committed_bytes: self.committer.as_ref().map_or(0, Committer::committed),
            queue: self.changed.len(),
            resting: self.resting.len(),
            failing: self.failing.failing(),
            quarantined: self.failing.quarantined(),
            failures: self.failing.told(),
            spools: self.spools.iter().map(spool).collect(),
            last_error: self.last_error.clone(),
            counts: self.counts.clone(),
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
    fn mark(&mut self, at: Now) {
        self.due = Some(self.due.map_or(at, |due| due.min(at)));
    }
}

fn root_at(path: &Path) -> Option<Root> {
    path.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}
