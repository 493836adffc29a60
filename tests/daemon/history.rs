//! Lists of actions, run by the daemon in this process and by a model that knows what must be found.
//!
//! `URLSPOOL_HISTORIES` says how many (default 60); a list that fails is made as short as it still fails.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use urlspool::config::{Config, DedupeScope, Spool};
use urlspool::daemon::{
    DaemonError, DaemonEvent, DaemonHost, LogRecord, MonotonicTime, SpoolReader,
};

use super::{Dice, Place, given, message};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Deliver(u64),
    /// A writer begins, with the lock.
    Begin(u64),
    Finish,
    RollBack,
    /// It dies and leaves its piece.
    Die,
    /// It comes back and writes the rest.
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
    /// The daemon looks until there is nothing more to see.
    Look,
    /// It looks once.
    Glance,
    Crash,
    Restart,
    /// It ends, its state is lost and built anew.
    Rebuild,
    /// A month and more passes, a day at a time.
    Months,
    /// The system's clock jumps by a year, forth or back; ours never goes back.
    ClockJump(u64),
}

fn act(dice: &mut Dice) -> Act {
    let k = dice.below(1 << 20);
    match dice.below(43) {
        0..=7 => Act::Deliver(k),
        8..=9 => Act::Begin(k),
        10..=11 => Act::Finish,
        12 => Act::RollBack,
        13 => Act::Die,
        14 => Act::Revive,
        15 => Act::Rotate,
        16 => Act::CopyTruncate,
        17 => Act::Truncate,
        18 => Act::ExpungeInPlace(k),
        19 => Act::ExpungeByRename(k),
        20..=21 => Act::Status(k),
        22 => Act::Backup,
        23 => Act::Restore,
        24..=25 => Act::MaildirNew,
        26..=27 => Act::MaildirRename(k),
        28 => Act::MaildirDelete(k),
        29..=30 => Act::MhNew,
        31 => Act::MhRenumber,
        32 => Act::MhDelete(k),
        33..=35 => Act::Look,
        36..=37 => Act::Glance,
        38 => Act::Crash,
        39 => Act::Restart,
        40 => Act::Rebuild,
        41 => Act::ClockJump(k),
        _ => Act::Months,
    }
}

/// The world of a test: its clock stands still unless it is moved.
struct Still {
    now: u64,
}

impl DaemonHost for Still {
    fn now(&mut self) -> MonotonicTime {
        MonotonicTime { ms: self.now }
    }

    fn event(&mut self) -> Option<DaemonEvent> {
        None
    }

    fn log(&mut self, _: &LogRecord<'_>) {}

    fn progress(&mut self, _: &SpoolReader) {}
}

/// A message in the mbox, or what a dead writer left of one.
#[derive(Clone)]
struct Entry {
    n: u64,
    text: String,
    status: bool,
}

struct World {
    root: PathBuf,
    config: Config,
    host: Still,
    daemon: Option<SpoolReader>,
    next: u64,
    inbox: Vec<Entry>,
    backup: Vec<Entry>,
    /// What is being written: the entry, and the bytes of it that are there.
    writing: Option<(Entry, usize, bool)>,
    /// Whether a dead writer's piece stands in the inbox: then its messages run into each other.
    torn: bool,
    rotated: Vec<Vec<Entry>>,
    maildir: BTreeMap<u64, PathBuf>,
    mh: BTreeMap<u64, u64>,
    /// Messages that were there, complete, while the daemon looked.
    must: BTreeSet<u64>,
    /// Messages that their writers took back before they were whole: nobody may see them.
    never: BTreeSet<u64>,
    /// Whether a writer died, so that a torn message may be seen.
    died: bool,
    /// The system's clock, in seconds: no two writes happen at the same time of a year.
    clock: u64,
}

const YEAR: u64 = 31_536_000;

impl World {
    fn new(root: &Path) -> World {
        let spool = root.join("spool");
        for folder in ["md/new", "md/cur", "md/tmp", "mh"] {
            fs::create_dir_all(spool.join(folder)).unwrap();
        }
        let mut config = Config::default();
        config.output.dir = root.join("out");
        config.output.seal_bytes = 20_000;
        config.output.seal_interval = Duration::from_millis(60_000);
        config.state.dir = root.join("state");
        config.spool = vec![Spool {
            path: spool.clone(),
            kind: None,
            dedupe: DedupeScope::Mailbox,
        }];
        World {
            root: spool,
            config,
            host: Still { now: 0 },
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
        }
    }

    fn daemon(&mut self) -> &mut SpoolReader {
        while self.daemon.is_none() {
            match SpoolReader::open(self.config.clone(), &mut self.host) {
                Ok(daemon) => self.daemon = Some(daemon),
                // A test beside this one has forked, and its child has our lock until it becomes another program.
                Err(DaemonError::Locked(_)) => std::thread::sleep(Duration::from_millis(1)),
                Err(fault) => panic!("{fault}"),
            }
        }
        self.daemon.as_mut().unwrap()
    }

    /// Writes a file as its program would, at a time of its own.
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
            text: format!(
                "From a@b Mon Jan  1 00:00:00 1996\n{}\n",
                message(n, k % 40)
            ),
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

    fn run(&mut self, act: Act) {
        match act {
            Act::Deliver(k) if !self.busy() => {
                let entry = self.entry(k);
                self.append(entry.text.as_bytes());
                self.inbox.push(entry);
            }
            Act::Begin(k) if !self.busy() => {
                let entry = self.entry(k);
                let cut = 1 + (k as usize / 40) % (entry.text.len() - 1);
                File::create(self.root.join("inbox.lock")).unwrap();
                self.append(&entry.text.as_bytes()[..cut]);
                self.writing = Some((entry, cut, true));
            }
            Act::Finish | Act::Revive => self.finish(act == Act::Finish),
            Act::RollBack => self.roll_back(),
            Act::Die => {
                if let Some((_, _, alive)) = &mut self.writing {
                    *alive = false;
                    self.died = true;
                    let _ = fs::remove_file(self.root.join("inbox.lock"));
                }
            }
            Act::Rotate if !self.busy() && self.root.join("inbox").exists() => {
                self.rotate_names();
                fs::rename(self.root.join("inbox"), self.root.join("inbox.1")).unwrap();
            }
            Act::CopyTruncate if !self.busy() && self.root.join("inbox").exists() => {
                self.rotate_names();
                fs::copy(self.root.join("inbox"), self.root.join("inbox.1")).unwrap();
                self.rewrite_in_place();
            }
            Act::Truncate if !self.busy() => {
                self.inbox.clear();
                self.torn = false;
                self.rewrite_in_place();
            }
            Act::ExpungeInPlace(k) | Act::ExpungeByRename(k) | Act::Status(k)
                if !self.busy() && !self.torn && !self.inbox.is_empty() =>
            {
                self.edit(act, k as usize % self.inbox.len());
            }
            Act::Backup if !self.busy() && !self.torn => self.backup = self.inbox.clone(),
            Act::Restore if !self.busy() && !self.torn => {
                self.inbox = self.backup.clone();
                self.rewrite_in_place();
            }
            Act::MaildirNew | Act::MaildirRename(_) | Act::MaildirDelete(_) => self.maildir(act),
            Act::MhNew | Act::MhRenumber | Act::MhDelete(_) => self.mh(act),
            Act::Look => self.look(),
            Act::Glance => {
                self.host.now += 300;
                let now = self.host.now();
                self.daemon().handle(DaemonEvent::Overflow, now);
                self.work();
            }
            Act::ClockJump(k) if k % 2 == 0 => {
                self.clock += YEAR;
                self.host.now += YEAR * 1_000;
            }
            Act::ClockJump(_) => self.clock -= YEAR,
            Act::Crash => self.daemon = None,
            Act::Restart => {
                if let Some(daemon) = self.daemon.take() {
                    daemon.close().unwrap();
                }
            }
            Act::Rebuild => self.rebuild(),
            Act::Months => self.months(),
            _ => {}
        }
    }

    fn rebuild(&mut self) {
        self.daemon();
        self.daemon.take().unwrap().close().unwrap();
        while let Err(fault) = SpoolReader::rebuild(&self.config, &mut self.host) {
            assert!(matches!(fault, DaemonError::Locked(_)), "{fault}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Lets what is gone be forgotten. A backup is older than that and is thrown away.
    fn months(&mut self) {
        self.backup = Vec::new();
        for _ in 0..34 {
            self.host.now += 86_400_000;
            let now = self.host.now();
            self.daemon().handle(DaemonEvent::Overflow, now);
            self.work();
        }
    }

    fn finish(&mut self, only_alive: bool) {
        if self
            .writing
            .as_ref()
            .is_some_and(|(_, _, alive)| *alive == only_alive)
            && let Some((entry, cut, _)) = self.writing.take()
        {
            self.append(&entry.text.as_bytes()[cut..]);
            let _ = fs::remove_file(self.root.join("inbox.lock"));
            self.inbox.push(entry);
        }
    }

    fn roll_back(&mut self) {
        if self.writing.as_ref().is_some_and(|(_, _, alive)| *alive) {
            self.never
                .extend(self.writing.take().map(|(entry, ..)| entry.n));
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

    fn edit(&mut self, act: Act, at: usize) {
        match act {
            Act::Status(_) => {
                let entry = &mut self.inbox[at];
                if !entry.status {
                    entry.text = entry
                        .text
                        .replacen("\nSubject:", "\nStatus: RO\nSubject:", 1);
                    entry.status = true;
                }
                self.rewrite_in_place();
            }
            Act::ExpungeInPlace(_) => {
                self.inbox.remove(at);
                self.rewrite_in_place();
            }
            _ => {
                self.inbox.remove(at);
                self.rewrite_by_rename();
            }
        }
    }

    fn maildir(&mut self, act: Act) {
        let chosen = |k: u64, all: &BTreeMap<u64, PathBuf>| {
            all.keys().copied().nth(k as usize % all.len().max(1))
        };
        match act {
            Act::MaildirRename(k) => {
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
            Act::MaildirDelete(k) => {
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

    fn mh(&mut self, act: Act) {
        let path = |number: u64| self.root.join(format!("mh/{number}"));
        match act {
            Act::MhRenumber => {
                let all: Vec<(u64, u64)> = std::mem::take(&mut self.mh).into_iter().collect();
                for (to, (from, n)) in (1..).zip(all) {
                    fs::rename(path(from), path(to)).unwrap();
                    self.mh.insert(to, n);
                }
            }
            Act::MhDelete(k) => {
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

    /// Looks until everything is at rest and read.
    fn look(&mut self) {
        let now = self.host.now();
        self.daemon().handle(DaemonEvent::Overflow, now);
        let locked = self.writing.as_ref().is_some_and(|(_, _, alive)| *alive);
        for _ in 0..40 {
            self.work();
            self.host.now += 1_000;
            let now = self.host.now();
            if self.daemon().is_done(now) {
                break;
            }
        }
        if !locked {
            let now = self.host.now();
            assert!(
                self.daemon().is_done(now),
                "it does not come to rest: {:?}",
                self.daemon().status(now)
            );
            self.must.extend(self.inbox.iter().map(|entry| entry.n));
            // What a dead writer left was taken, and belongs to what follows.
            self.torn |= self.writing.is_some();
        }
        self.must
            .extend(self.rotated.iter().flatten().map(|entry| entry.n));
        self.must.extend(self.maildir.keys());
        self.must.extend(self.mh.values());
    }

    fn check(&mut self, out: &Path) -> Result<(), String> {
        if let Some((_, _, true)) = self.writing {
            self.roll_back();
        }
        self.look();
        self.daemon.take().unwrap().close().unwrap();
        let given = given(out);
        for n in 1..=self.next {
            for part in ["a", "b"] {
                let url = format!("http://h.example/{n}-{part}.html");
                let torn = given.torn.iter().filter(|other| **other == url).count() as u32;
                let times = given.urls.get(&url).copied().unwrap_or(0) + torn;
                if times > 1 {
                    return Err(format!("{url} is given {times} times"));
                }
                if times > 0 && self.never.contains(&n) {
                    return Err(format!("{url} was taken back by its writer"));
                }
                if times == 0 && self.must.contains(&n) {
                    return Err(format!("{url} is lost"));
                }
            }
        }
        if !self.died && !given.torn.is_empty() {
            return Err(format!("{:?} are torn", given.torn));
        }
        let whole = |url: &String| url.ends_with("-a.html") || url.ends_with("-b.html");
        given
            .urls
            .keys()
            .find(|url| !whole(url))
            .map_or(Ok(()), |url| Err(format!("{url} is torn")))
    }
}

fn text(entries: &[Entry]) -> String {
    entries.iter().map(|entry| entry.text.as_str()).collect()
}

fn run(acts: &[Act], name: &str) -> Result<(), String> {
    let place = Place::new(name);
    let mut world = World::new(place.path());
    for &act in acts {
        world.run(act);
    }
    world.check(&place.path().join("out"))
}

/// The shortest list that still fails, as far as leaving out one action after the other finds it.
fn shrunk(mut acts: Vec<Act>) -> Vec<Act> {
    let mut at = 0;
    while at < acts.len() {
        let mut fewer = acts.clone();
        fewer.remove(at);
        if run(&fewer, "shrunk").is_err() {
            acts = fewer;
        } else {
            at += 1;
        }
    }
    acts
}

#[test]
fn whatever_happens_each_url_is_given_once() {
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |value| value.parse().unwrap());
    let (histories, seed) = (number("URLSPOOL_HISTORIES", 60), number("URLSPOOL_SEED", 1));
    for history in seed..seed + histories {
        let mut dice = Dice(history);
        let acts: Vec<Act> = (0..60).map(|_| act(&mut dice)).collect();
        if run(&acts, "history").is_err() {
            let acts = shrunk(acts);
            panic!(
                "seed {history}: {}: {acts:?}",
                run(&acts, "shrunk").unwrap_err()
            );
        }
    }
}

/// A folder on a disk: file systems in memory give each file an inode of its own.
fn disk(name: &str) -> PathBuf {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", std::process::id()));
    fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn a_new_file_with_an_old_inode_is_another_file() {
    let place = Place::new("inodes");
    let mut world = World::new(place.path());
    world.root = disk("inodes");
    world.config.spool[0].path = world.root.clone();
    let (mut used, mut again) = (BTreeSet::new(), 0);
    for _ in 0..1_000 {
        // The same size at the same time: only the file system can tell them apart.
        world.clock = 1_000_000_000;
        let entry = world.entry(3);
        world.append(entry.text.as_bytes());
        world.inbox.push(entry);
        again += u32::from(!used.insert(fs::metadata(world.root.join("inbox")).unwrap().ino()));
        world.look();
        fs::remove_file(world.root.join("inbox")).unwrap();
        world.inbox.clear();
    }
    fs::remove_dir_all(&world.root).unwrap();
    println!("{again} of 1000 files had an inode that was used before");
    if again == 0 {
        println!("SKIPPED: this file system gives no inode twice");
    }
    assert_eq!(world.check(&place.path().join("out")), Ok(()));
    assert_eq!(world.must.len(), 1_000);
}
