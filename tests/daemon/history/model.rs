//! The spool, the model of it, and the daemon.

mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use urlspool::internals::config::{Config, DedupeScope, Spool};
use urlspool::internals::daemon::{DaemonEvent, SpoolReader};

use super::absences::Absences;
use super::action::{Action, Tombstones};
use crate::daemon::lives::Lives;
use crate::daemon::{mbox_message, read_segments};
use crate::scene::{TestHost, when_unlocked};

/// A message in the mbox.
#[derive(Clone)]
pub(super) struct Entry {
    n: u64,
    pub(in crate::daemon::history) text: String,
    /// `true` if it has a status field.
    status: bool,
}

/// An incomplete message in the mbox.
pub(super) struct Writing {
    entry: Entry,
    /// Number of its bytes that are written.
    written: usize,
    writer: Writer,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    Alive,
    Dead,
}

/// The spool, the model of it, and the daemon.
pub(super) struct Model {
    pub(super) root: PathBuf,
    pub(super) config: Config,
    host: TestHost,
    daemon: Option<SpoolReader>,
    next: u64,
    pub(super) inbox: Vec<Entry>,
    /// Number of NUL bytes before the messages of the inbox, once it holds one: the offset of a writer that kept it.
    kept_offset: u64,
    backup: Vec<Entry>,
    writing: Option<Writing>,
    /// `true` if a dead writer left an incomplete message in the inbox: then it and the next one may be read as one.
    torn: bool,
    rotated: Vec<Vec<Entry>>,
    maildir: BTreeMap<u64, PathBuf>,
    mh: BTreeMap<u64, u64>,
    /// Messages that existed, complete, during a scan.
    pub(super) must: BTreeSet<u64>,
    /// Messages that were rolled back before they were complete: no record of them may exist.
    never: BTreeSet<u64>,
    /// `true` if a writer died, so that records of an incomplete message may exist.
    died: bool,
    /// The system clock, in seconds. Each write has a time of its own.
    pub(super) clock: u64,
    absences: Absences,
    /// `true` if the spool is not mounted.
    unmounted: bool,
}

pub(super) const YEAR: u64 = 31_536_000;

/// The time for which a message must be missing.
pub(super) const GONE_AFTER_MS: u64 = 7_000;

impl Model {
    pub(in crate::daemon::history) fn new(root: &Path, tombstones: Tombstones) -> Model {
        let spool = root.join("spool");
        for folder in ["md/new", "md/cur", "md/tmp", "mh"] {
            fs::create_dir_all(spool.join(folder)).unwrap();
        }
        let mut config = Config::default();
        config.output.dir = root.join("out");
        config.output.seal_bytes = 20_000;
        config.output.seal_interval = Duration::from_mins(1);
        config.state.dir = root.join("state");
        config.output.tombstones = tombstones == Tombstones::On;
        config.watch.gone_after = Duration::from_millis(GONE_AFTER_MS);
        config.spool = vec![Spool {
            path: spool.clone(),
            kind: None,
            dedupe: DedupeScope::Mailbox,
        }];
        Model {
            root: spool,
            config,
            host: TestHost::default(),
            daemon: None,
            next: 0,
            inbox: Vec::new(),
            kept_offset: 0,
            backup: Vec::new(),
            writing: None,
            torn: false,
            rotated: Vec::new(),
            maildir: BTreeMap::new(),
            mh: BTreeMap::new(),
            must: BTreeSet::new(),
            never: BTreeSet::new(),
            died: false,
            clock: 1_000_000_000,
            absences: Absences::default(),
            unmounted: false,
        }
    }

    fn daemon(&mut self) -> &mut SpoolReader {
        if self.daemon.is_none() {
            let open = || SpoolReader::open(self.config.clone(), &mut self.host);
            self.daemon = Some(when_unlocked(open).unwrap());
        }
        self.daemon.as_mut().unwrap()
    }

    /// Writes to a file and sets its modification time to a new one.
    fn touch(&mut self, path: &Path, write: impl FnOnce(&mut OpenOptions) -> File, bytes: &[u8]) {
        let mut file = write(OpenOptions::new().write(true).create(true));
        file.write_all(bytes).unwrap();
        self.clock += 1;
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(self.clock);
        file.set_modified(time)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    pub(in crate::daemon::history) fn append(&mut self, bytes: &[u8]) {
        let path = self.root.join("inbox");
        if !bytes.is_empty() && path.metadata().is_ok_and(|inbox| inbox.len() == 0) {
            let inbox = OpenOptions::new().write(true).open(&path).unwrap();
            inbox.set_len(self.kept_offset).unwrap();
        }
        self.touch(&path, |how| how.append(true).open(&path).unwrap(), bytes);
    }

    fn rewrite_in_place(&mut self) {
        self.kept_offset = 0;
        let (path, text) = (self.root.join("inbox"), text(&self.inbox));
        self.touch(
            &path,
            |how| how.truncate(true).open(&path).unwrap(),
            text.as_bytes(),
        );
    }

    fn rewrite_by_rename(&mut self) {
        self.kept_offset = 0;
        let (aside, text) = (
            self.config.state.dir.with_file_name("aside"),
            text(&self.inbox),
        );
        self.touch(
            &aside,
            |how| how.truncate(true).open(&aside).unwrap(),
            text.as_bytes(),
        );
        fs::rename(aside, self.root.join("inbox")).unwrap();
    }

    pub(in crate::daemon::history) fn entry(&mut self, k: u64) -> Entry {
        self.next += 1;
        let n = self.next;
        Entry {
            n,
            text: mbox_message(n, k % 40),
            status: false,
        }
    }

    fn rotate_names(&mut self) {
        for number in (1..=self.rotated.len()).rev() {
            let name = |number: usize| self.root.join(format!("inbox.{number}"));
            fs::rename(name(number), name(number + 1)).unwrap();
        }
        self.rotated.insert(0, std::mem::take(&mut self.inbox));
        self.torn = false;
    }

    fn busy(&self) -> bool {
        self.writing.is_some()
    }

    fn is_writing(&self, writer: Writer) -> bool {
        self.writing
            .as_ref()
            .is_some_and(|writing| writing.writer == writer)
    }

    pub(in crate::daemon::history) fn run(&mut self, action: Action) {
        let is_of_daemon = matches!(
            action,
            Action::Settle
                | Action::Work
                | Action::Crash
                | Action::Restart
                | Action::Rebuild
                | Action::Months
                | Action::ClockJump(_)
                | Action::Mount
        );
        if !self.unmounted || is_of_daemon {
            self.act(action);
        }
        self.absences.follow(self.present(), self.host.ms);
    }

    /// The messages that are in the spool, mounted or not.
    fn present(&self) -> BTreeSet<u64> {
        let mboxes = self.rotated.iter().flatten().chain(&self.inbox);
        mboxes
            .map(|entry| entry.n)
            .chain(self.maildir.keys().copied())
            .chain(self.mh.values().copied())
            .collect()
    }

    /// Moves the spool away or back.
    fn mount(&mut self, unmounted: bool) {
        let away = self.config.state.dir.with_file_name("away");
        match (self.unmounted, unmounted) {
            (false, true) => fs::rename(&self.root, away).unwrap(),
            (true, false) => fs::rename(away, &self.root).unwrap(),
            _ => {}
        }
        self.unmounted = unmounted;
    }

    fn work(&mut self) {
        self.daemon();
        let mut daemon = self.daemon.take().unwrap();
        daemon.work(&mut self.host).unwrap();
        self.daemon = Some(daemon);
    }

    /// Lets the daemon work until every file has settled and is read.
    pub(in crate::daemon::history) fn settle(&mut self) {
        let now = self.host.time();
        self.daemon().handle(DaemonEvent::Overflow, now);
        let locked = self.is_writing(Writer::Alive);
        for _ in 0..60 {
            self.work();
            self.host.ms += 1_000;
            let now = self.host.time();
            if self.daemon().is_done(now) {
                break;
            }
        }
        if self.unmounted {
            return;
        }
        if !locked {
            let now = self.host.time();
            assert!(
                self.daemon().is_done(now),
                "the daemon does not finish: {:?}",
                self.daemon().status(now)
            );
            self.must.extend(self.inbox.iter().map(|entry| entry.n));
            // The incomplete message of a dead writer was read, and may become part of the next one.
            self.torn |= self.writing.is_some();
            self.absences.settle();
        }
        self.must
            .extend(self.rotated.iter().flatten().map(|entry| entry.n));
        self.must.extend(self.maildir.keys());
        self.must.extend(self.mh.values());
    }

    /// Brings the spool and the daemon to rest, and stops the daemon.
    fn finish_all(&mut self) {
        self.mount(false);
        self.roll_back();
        self.absences.follow(self.present(), self.host.ms);
        self.settle();
        self.daemon.take().unwrap().close().unwrap();
    }

    /// With tombstones: compares the output with the absences of messages.
    pub(in crate::daemon::history) fn check_gone(&mut self, out: &Path) -> Result<(), String> {
        self.finish_all();
        // A message of a writer that died may have been read as one with the next.
        if self.died {
            return Ok(());
        }
        let lives = Lives::read(&[out]);
        self.absences.check(&lives, GONE_AFTER_MS, self.host.ms)
    }

    pub(in crate::daemon::history) fn check(&mut self, out: &Path) -> Result<(), String> {
        self.finish_all();
        let written = read_segments(out);
        for n in 1..=self.next {
            for part in ["a", "b"] {
                let url = format!("http://h.example/{n}-{part}.html");
                let torn = written.torn.iter().filter(|other| **other == url).count() as u32;
                let times = written.urls.get(&url).copied().unwrap_or(0) + torn;
                if times > 1 {
                    return Err(format!("{url} was written {times} times"));
                }
                if times > 0 && self.never.contains(&n) {
                    return Err(format!("{url} was rolled back by its writer"));
                }
                if times == 0 && self.must.contains(&n) {
                    return Err(format!("{url} is lost"));
                }
            }
        }
        if !self.died && !written.torn.is_empty() {
            return Err(format!("{:?} are torn", written.torn));
        }
        let whole = |url: &String| url.ends_with("-a.html") || url.ends_with("-b.html");
        written
            .urls
            .keys()
            .find(|url| !whole(url))
            .map_or(Ok(()), |url| Err(format!("{url} is torn")))
    }
}

fn text(entries: &[Entry]) -> String {
    entries.iter().map(|entry| entry.text.as_str()).collect()
}
