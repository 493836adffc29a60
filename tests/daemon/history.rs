//! Random lists of actions, run against the daemon in this process and against a model of its output.
//!
//! With tombstones, the model also predicts which messages are gone, see `history/absences.rs`.
//!
//! `URLSPOOL_HISTORIES` sets their number (default 60). A list that fails is shortened as far as it still fails.

mod absences;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use urlspool::config::{Config, DedupeScope, Spool};
use urlspool::daemon::{DaemonError, DaemonEvent, SpoolReader, rebuild_state};

use self::absences::Absences;
use super::lives::Lives;
use super::{mbox_message, message, read_segments};
use crate::scene::{Folder, Rng, TestHost};

/// One action of a writer, a mail program, the daemon or the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Deliver(u64),
    /// A writer locks the mbox and writes the start of a message.
    Begin(u64),
    Finish,
    RollBack,
    /// The writer dies and leaves the incomplete message.
    Die,
    /// It returns and writes the rest.
    Revive,
    Rotate,
    CopyTruncate,
    Truncate,
    ExpungeInPlace(u64),
    ExpungeByRename(u64),
    Status(u64),
    Backup,
    Restore,
    MaildirNew,
    MaildirRename(u64),
    MaildirDelete(u64),
    MhNew,
    MhRenumber,
    MhDelete(u64),
    /// The daemon works until nothing is due.
    Settle,
    /// The daemon works once.
    Work,
    Crash,
    Restart,
    /// The daemon stops, and its state is rebuilt from the sidecars.
    Rebuild,
    /// More than a month passes, one day at a time.
    Months,
    /// The system clock jumps by a year, forward or back. The monotonic clock never goes back.
    ClockJump(u64),
    /// With tombstones only: the oldest rotated mbox is removed.
    RemoveRotated,
    /// With tombstones only: the file system of the spool is unmounted.
    Unmount,
    Mount,
}

fn action(rng: &mut Rng, tombstones: Tombstones) -> Action {
    let k = rng.below(1 << 20);
    let kinds = match tombstones {
        Tombstones::Off => 43,
        Tombstones::On => 50,
    };
    match rng.below(kinds) {
        0..=7 => Action::Deliver(k),
        8..=9 => Action::Begin(k),
        10..=11 => Action::Finish,
        12 => Action::RollBack,
        13 => Action::Die,
        14 => Action::Revive,
        15 => Action::Rotate,
        16 => Action::CopyTruncate,
        17 => Action::Truncate,
        18 => Action::ExpungeInPlace(k),
        19 => Action::ExpungeByRename(k),
        20..=21 => Action::Status(k),
        22 => Action::Backup,
        23 => Action::Restore,
        24..=25 => Action::MaildirNew,
        26..=27 => Action::MaildirRename(k),
        28 => Action::MaildirDelete(k),
        29..=30 => Action::MhNew,
        31 => Action::MhRenumber,
        32 => Action::MhDelete(k),
        33..=35 => Action::Settle,
        36..=37 => Action::Work,
        38 => Action::Crash,
        39 => Action::Restart,
        40 => Action::Rebuild,
        41 => Action::ClockJump(k),
        42 => Action::Months,
        43..=44 => Action::RemoveRotated,
        45 => Action::Unmount,
        46..=47 => Action::Mount,
        48 => Action::MaildirDelete(k),
        _ => Action::MhDelete(k),
    }
}

/// The setting `output.tombstones`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tombstones {
    On,
    Off,
}

/// A message in the mbox.
#[derive(Clone)]
struct Entry {
    n: u64,
    text: String,
    /// `true` if it has a status field.
    status: bool,
}

/// An incomplete message in the mbox.
struct Writing {
    entry: Entry,
    /// Number of its bytes that are written.
    written: usize,
    writer: Writer,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Alive,
    Dead,
}

/// The spool, the model of it, and the daemon.
struct Model {
    root: PathBuf,
    config: Config,
    host: TestHost,
    daemon: Option<SpoolReader>,
    next: u64,
    inbox: Vec<Entry>,
    backup: Vec<Entry>,
    writing: Option<Writing>,
    /// `true` if a dead writer left an incomplete message in the inbox: then it and the next one may be read as one.
    torn: bool,
    rotated: Vec<Vec<Entry>>,
    maildir: BTreeMap<u64, PathBuf>,
    mh: BTreeMap<u64, u64>,
    /// Messages that existed, complete, during a scan.
    must: BTreeSet<u64>,
    /// Messages that were rolled back before they were complete: no record of them may exist.
    never: BTreeSet<u64>,
    /// `true` if a writer died, so that records of an incomplete message may exist.
    died: bool,
    /// The system clock, in seconds. Each write has a time of its own.
    clock: u64,
    absences: Absences,
    /// `true` if the spool is not mounted.
    unmounted: bool,
}

const YEAR: u64 = 31_536_000;

/// The time for which a message must be missing.
const GONE_AFTER_MS: u64 = 7_000;

impl Model {
    fn new(root: &Path, tombstones: Tombstones) -> Model {
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
        while self.daemon.is_none() {
            match SpoolReader::open(self.config.clone(), &mut self.host) {
                Ok(daemon) => self.daemon = Some(daemon),
                // Another test has forked, and its child holds the lock until it executes another program.
                Err(DaemonError::Locked { .. }) => std::thread::sleep(Duration::from_millis(1)),
                Err(fault) => panic!("{fault}"),
            }
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

    fn append(&mut self, bytes: &[u8]) {
        let path = self.root.join("inbox");
        self.touch(&path, |how| how.append(true).open(&path).unwrap(), bytes);
    }

    fn rewrite_in_place(&mut self) {
        let (path, text) = (self.root.join("inbox"), text(&self.inbox));
        self.touch(
            &path,
            |how| how.truncate(true).open(&path).unwrap(),
            text.as_bytes(),
        );
    }

    fn rewrite_by_rename(&mut self) {
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

    fn entry(&mut self, k: u64) -> Entry {
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

    fn run(&mut self, action: Action) {
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

    fn act(&mut self, action: Action) {
        match action {
            Action::Deliver(k) if !self.busy() => {
                let entry = self.entry(k);
                self.append(entry.text.as_bytes());
                self.inbox.push(entry);
            }
            Action::Begin(k) if !self.busy() => {
                let entry = self.entry(k);
                let cut = 1 + (k as usize / 40) % (entry.text.len() - 1);
                File::create(self.root.join("inbox.lock")).unwrap();
                self.append(&entry.text.as_bytes()[..cut]);
                self.writing = Some(Writing {
                    entry,
                    written: cut,
                    writer: Writer::Alive,
                });
            }
            Action::Finish => self.finish(Writer::Alive),
            Action::Revive => self.finish(Writer::Dead),
            Action::RollBack => self.roll_back(),
            Action::Die => {
                if let Some(writing) = &mut self.writing {
                    writing.writer = Writer::Dead;
                    self.died = true;
                    let _ = fs::remove_file(self.root.join("inbox.lock"));
                }
            }
            Action::Rotate if !self.busy() && self.root.join("inbox").exists() => {
                self.rotate_names();
                fs::rename(self.root.join("inbox"), self.root.join("inbox.1")).unwrap();
            }
            Action::CopyTruncate if !self.busy() && self.root.join("inbox").exists() => {
                self.rotate_names();
                fs::copy(self.root.join("inbox"), self.root.join("inbox.1")).unwrap();
                self.rewrite_in_place();
            }
            Action::Truncate if !self.busy() => {
                self.inbox.clear();
                self.torn = false;
                self.rewrite_in_place();
            }
            Action::ExpungeInPlace(k) | Action::ExpungeByRename(k) | Action::Status(k)
                if !self.busy() && !self.torn && !self.inbox.is_empty() =>
            {
                self.edit(action, k as usize % self.inbox.len());
            }
            Action::Backup if !self.busy() && !self.torn => self.backup = self.inbox.clone(),
            Action::Restore if !self.busy() && !self.torn => {
                self.inbox = self.backup.clone();
                self.rewrite_in_place();
            }
            Action::MaildirNew | Action::MaildirRename(_) | Action::MaildirDelete(_) => {
                self.maildir(action);
            }
            Action::MhNew | Action::MhRenumber | Action::MhDelete(_) => self.mh(action),
            Action::Settle => self.settle(),
            Action::Work => {
                self.host.ms += 300;
                let now = self.host.time();
                self.daemon().handle(DaemonEvent::Overflow, now);
                self.work();
            }
            Action::ClockJump(k) if k % 2 == 0 => {
                self.clock += YEAR;
                self.host.ms += YEAR * 1_000;
            }
            Action::ClockJump(_) => self.clock -= YEAR,
            Action::Crash => self.daemon = None,
            Action::Restart => {
                if let Some(daemon) = self.daemon.take() {
                    daemon.close().unwrap();
                }
            }
            Action::Rebuild => self.rebuild(),
            Action::RemoveRotated if self.rotated.pop().is_some() => {
                let number = self.rotated.len() + 1;
                fs::remove_file(self.root.join(format!("inbox.{number}"))).unwrap();
            }
            Action::Unmount => self.mount(true),
            Action::Mount => self.mount(false),
            Action::Months => self.months(),
            _ => {}
        }
    }

    fn rebuild(&mut self) {
        self.daemon();
        self.daemon.take().unwrap().close().unwrap();
        while let Err(fault) = rebuild_state(&self.config, &mut self.host) {
            assert!(matches!(fault, DaemonError::Locked { .. }), "{fault}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Lets more days pass than state is kept. The backup, which would then be older, is discarded.
    fn months(&mut self) {
        self.backup = Vec::new();
        for _ in 0..34 {
            self.host.ms += 86_400_000;
            let now = self.host.time();
            self.daemon().handle(DaemonEvent::Overflow, now);
            self.work();
        }
    }

    /// Completes the message that is being written, if its writer is in this state.
    fn finish(&mut self, writer: Writer) {
        if self.is_writing(writer)
            && let Some(Writing { entry, written, .. }) = self.writing.take()
        {
            self.append(&entry.text.as_bytes()[written..]);
            let _ = fs::remove_file(self.root.join("inbox.lock"));
            self.inbox.push(entry);
        }
    }

    fn roll_back(&mut self) {
        if self.is_writing(Writer::Alive) {
            self.never
                .extend(self.writing.take().map(|writing| writing.entry.n));
            let whole = text(&self.inbox).len() as u64;
            let path = self.root.join("inbox");
            OpenOptions::new()
                .write(true)
                .open(&path)
                .unwrap()
                .set_len(whole)
                .unwrap();
            self.append(b"");
            let _ = fs::remove_file(self.root.join("inbox.lock"));
        }
    }

    fn edit(&mut self, action: Action, at: usize) {
        match action {
            Action::Status(_) => {
                let entry = &mut self.inbox[at];
                if !entry.status {
                    entry.text = entry
                        .text
                        .replacen("\nSubject:", "\nStatus: RO\nSubject:", 1);
                    entry.status = true;
                }
                self.rewrite_in_place();
            }
            Action::ExpungeInPlace(_) => {
                self.inbox.remove(at);
                self.rewrite_in_place();
            }
            _ => {
                self.inbox.remove(at);
                self.rewrite_by_rename();
            }
        }
    }

    fn maildir(&mut self, action: Action) {
        let chosen = |k: u64, all: &BTreeMap<u64, PathBuf>| {
            all.keys().copied().nth(k as usize % all.len().max(1))
        };
        match action {
            Action::MaildirRename(k) => {
                if let Some(n) = chosen(k, &self.maildir) {
                    let flags = ["", "S", "RS", "FS"][k as usize / 64 % 4];
                    let base = if k % 5 == 0 {
                        format!("{n}.M1.host,U={n}")
                    } else {
                        format!("{n}.M1.host")
                    };
                    let to = self.root.join(format!("md/cur/{base}:2,{flags}"));
                    fs::rename(&self.maildir[&n], &to).unwrap();
                    self.maildir.insert(n, to);
                }
            }
            Action::MaildirDelete(k) => {
                if let Some(n) = chosen(k, &self.maildir) {
                    fs::remove_file(self.maildir.remove(&n).unwrap()).unwrap();
                }
            }
            _ => {
                let n = self.entry(0).n;
                let (tmp, new) = (
                    self.root.join("md/tmp/x"),
                    self.root.join(format!("md/new/{n}.M1.host")),
                );
                self.touch(
                    &tmp,
                    |how| how.truncate(true).open(&tmp).unwrap(),
                    message(n, 3).as_bytes(),
                );
                fs::rename(tmp, &new).unwrap();
                self.maildir.insert(n, new);
            }
        }
    }

    fn mh(&mut self, action: Action) {
        let path = |number: u64| self.root.join(format!("mh/{number}"));
        match action {
            Action::MhRenumber => {
                let all: Vec<(u64, u64)> = std::mem::take(&mut self.mh).into_iter().collect();
                for (to, (from, n)) in (1..).zip(all) {
                    fs::rename(path(from), path(to)).unwrap();
                    self.mh.insert(to, n);
                }
            }
            Action::MhDelete(k) => {
                if let Some(number) = self
                    .mh
                    .keys()
                    .copied()
                    .nth(k as usize % self.mh.len().max(1))
                {
                    fs::remove_file(path(number)).unwrap();
                    self.mh.remove(&number);
                }
            }
            _ => {
                let n = self.entry(0).n;
                let number = self.mh.keys().last().map_or(1, |last| last + 1);
                let path = self.root.join(format!("mh/{number}"));
                self.touch(
                    &path,
                    |how| how.truncate(true).open(&path).unwrap(),
                    message(n, 3).as_bytes(),
                );
                self.mh.insert(number, n);
            }
        }
    }

    fn work(&mut self) {
        self.daemon();
        let mut daemon = self.daemon.take().unwrap();
        daemon.work(&mut self.host).unwrap();
        self.daemon = Some(daemon);
    }

    /// Lets the daemon work until every file has settled and is read.
    fn settle(&mut self) {
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
    fn check_gone(&mut self, out: &Path) -> Result<(), String> {
        self.finish_all();
        // A message of a writer that died may have been read as one with the next.
        if self.died {
            return Ok(());
        }
        let lives = Lives::read(&[out]);
        self.absences.check(&lives, GONE_AFTER_MS, self.host.ms)
    }

    fn check(&mut self, out: &Path) -> Result<(), String> {
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

fn run(actions: &[Action], tombstones: Tombstones) -> Result<(), String> {
    let folder = Folder::in_memory();
    let mut model = Model::new(folder.root(), tombstones);
    for &action in actions {
        model.run(action);
    }
    match tombstones {
        Tombstones::Off => model.check(&folder.path("out")),
        Tombstones::On => model.check_gone(&folder.path("out")),
    }
}

/// Removes each action without which the list still fails.
fn shrink(mut actions: Vec<Action>, tombstones: Tombstones) -> Vec<Action> {
    let mut at = 0;
    while at < actions.len() {
        let mut fewer = actions.clone();
        fewer.remove(at);
        if run(&fewer, tombstones).is_err() {
            actions = fewer;
        } else {
            at += 1;
        }
    }
    actions
}

fn run_histories(tombstones: Tombstones) {
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |value| value.parse().unwrap());
    let (histories, seed) = (number("URLSPOOL_HISTORIES", 60), number("URLSPOOL_SEED", 1));
    for history in seed..seed + histories {
        let mut rng = Rng::seeded(history);
        let actions: Vec<Action> = (0..60).map(|_| action(&mut rng, tombstones)).collect();
        if run(&actions, tombstones).is_err() {
            let actions = shrink(actions, tombstones);
            panic!(
                "seed {history}: {}: {actions:?}",
                run(&actions, tombstones).unwrap_err()
            );
        }
    }
}

#[test]
fn each_url_is_written_once_after_any_history() {
    run_histories(Tombstones::Off);
}

#[test]
fn each_message_is_gone_once_after_any_history() {
    run_histories(Tombstones::On);
}

/// File systems on disks reuse inodes at once; those in memory give each file an inode of its own.
#[test]
fn a_new_file_with_a_reused_inode_is_another_file() {
    const FILES: usize = 300;
    let folder = Folder::in_memory();
    let mut model = Model::new(folder.root(), Tombstones::Off);
    let spool = Folder::below(Path::new(env!("CARGO_TARGET_TMPDIR")));
    model.root = spool.root().to_owned();
    model.config.spool[0].path = model.root.clone();
    for _ in 0..FILES {
        // Files with the same size and time: only the file system distinguishes them.
        model.clock = 1_000_000_000;
        let entry = model.entry(3);
        model.append(entry.text.as_bytes());
        model.inbox.push(entry);
        model.settle();
        fs::remove_file(model.root.join("inbox")).unwrap();
        model.inbox.clear();
    }
    assert_eq!(model.check(&folder.path("out")), Ok(()));
    assert_eq!(model.must.len(), FILES);
}
