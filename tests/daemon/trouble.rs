//! What the daemon makes of files that cannot be read and of spools that are not there, with a clock that jumps.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use urlspool::config::{Config, DedupeScope, Spool};
use urlspool::daemon::{
    DaemonError, DaemonEvent, DaemonHost, LogRecord, MonotonicTime, SpoolReader, Status,
};

use super::{Place, given, message};

const DAY_MS: u64 = 86_400_000;

/// A world whose clock goes only when it is told to, and that keeps what was remarked.
#[derive(Default)]
struct World {
    ms: u64,
    remarks: Vec<String>,
    appeared: Vec<PathBuf>,
}

impl DaemonHost for World {
    fn now(&mut self) -> MonotonicTime {
        MonotonicTime { ms: self.ms }
    }

    fn event(&mut self) -> Option<DaemonEvent> {
        None
    }

    fn folder_appeared(&mut self, _: &Path, folder: &Path) {
        self.appeared.push(folder.to_owned());
    }

    fn log(&mut self, record: &LogRecord<'_>) {
        self.remarks.push(format!("{record:?}"));
    }

    fn progress(&mut self, _: &SpoolReader) {}
}

impl World {
    fn remarked(&self, words: &str) -> usize {
        self.remarks
            .iter()
            .filter(|remark| remark.contains(words))
            .count()
    }
}

fn config(root: &Path, spools: &[PathBuf]) -> Config {
    let mut config = Config::default();
    config.output.dir = root.join("out");
    config.output.seal_interval = Duration::from_millis(1);
    config.state.dir = root.join("state");
    config.state.commit_interval = Duration::from_millis(1);
    let spool = |path: &PathBuf| Spool {
        path: path.clone(),
        kind: None,
        dedupe: DedupeScope::Mailbox,
    };
    config.spool = spools.iter().map(spool).collect();
    config
}

fn open(config: &Config, world: &mut dyn DaemonHost) -> SpoolReader {
    loop {
        match SpoolReader::open(config.clone(), world) {
            // A test beside this one has forked, and its child has our lock until it becomes another program.
            Err(DaemonError::Locked(_)) => std::thread::sleep(Duration::from_millis(1)),
            opened => return opened.unwrap(),
        }
    }
}

/// Works as often as the daemon wants to, for so much time.
fn pass(daemon: &mut SpoolReader, world: &mut World, ms: u64) -> Status {
    let end = world.ms + ms;
    while world.ms < end {
        let next = daemon.work(world).unwrap();
        world.ms = next.ms.clamp(world.ms + 1, end);
    }
    daemon.status(MonotonicTime { ms: world.ms })
}

/// A file that can be looked at and not be read, by whomever: the kernel lets nobody read it.
fn unreadable() -> Option<PathBuf> {
    let buses = fs::read_dir("/sys/bus").ok()?;
    buses
        .flatten()
        .map(|bus| bus.path().join("drivers_probe"))
        .find(|path| path.is_file())
}

#[test]
fn a_file_that_cannot_be_read_holds_up_nobody_and_is_left_alone_after_a_day() {
    let Some(unreadable) = unreadable() else {
        println!("SKIPPED: this machine has no file that nobody can read");
        return;
    };
    let place = Place::new("unreadable");
    let spool = place.path().join("spool");
    fs::create_dir_all(&spool).unwrap();
    let mut world = World::default();
    let mut daemon = open(
        &config(place.path(), &[unreadable.clone(), spool.clone()]),
        &mut world,
    );
    fs::write(spool.join("1"), message(1, 1)).unwrap();
    let status = pass(&mut daemon, &mut world, 60_000);
    assert_eq!(
        given(&place.path().join("out")).ids.len(),
        2,
        "the other spool is read"
    );
    assert_eq!((status.failing, status.quarantined), (1, 0), "{status:?}");
    let tries = |status: &Status| status.failures[0].tries;
    assert!((5..=7).contains(&tries(&status)), "{status:?}");
    let status = pass(&mut daemon, &mut world, 87_000_000);
    assert_eq!((status.failing, status.quarantined), (0, 1), "{status:?}");
    let name = unreadable.display().to_string();
    assert!(status.failures[0].path == name && status.failures[0].quarantined);
    assert_eq!(
        world.remarked("Permission denied"),
        2,
        "once when it began, once when it was given up: {:?}",
        world.remarks
    );
    assert!(status.metrics().contains("urlspool_quarantined_files 1\n"));
    let later = pass(&mut daemon, &mut world, 86_400_000);
    assert_eq!(tries(&later), tries(&status), "it is left alone");
}

/// Lets the days pass one after the other, as a daemon sees them.
fn days(daemon: &mut SpoolReader, world: &mut World, days: u64) -> Status {
    let mut status = daemon.status(MonotonicTime { ms: world.ms });
    for _ in 0..days {
        world.ms += DAY_MS;
        daemon.handle(DaemonEvent::Overflow, MonotonicTime { ms: world.ms });
        status = pass(daemon, world, 60_000);
    }
    status
}

/// Rows of tables of the state, when no daemon holds it.
fn rows(root: &Path, tables: [&str; 4]) -> [i64; 4] {
    let db = rusqlite::Connection::open(root.join("state/state.db")).unwrap();
    tables.map(|table| {
        db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
            row.get(0)
        })
        .unwrap()
    })
}

const TABLES: [&str; 4] = ["seen", "known", "file", "mailbox"];

fn mbox(n: u64) -> String {
    format!("From a@b Mon Jan  1 00:00:00 1996\n{}\n", message(n, 1))
}

/// Two mboxes and a Maildir with three messages, two of them the same, read by a daemon.
fn spooled(root: &Path, world: &mut World) -> (PathBuf, SpoolReader) {
    let spool = root.join("spool");
    for folder in ["md/new", "md/cur", "md/tmp"] {
        fs::create_dir_all(spool.join(folder)).unwrap();
    }
    fs::write(spool.join("a"), mbox(1) + &mbox(2)).unwrap();
    fs::write(spool.join("b"), mbox(3)).unwrap();
    for (name, n) in [("x", 4), ("y", 5), ("z", 5)] {
        fs::write(
            spool.join(format!("md/cur/{name}.M1.host:2,")),
            message(n, 1),
        )
        .unwrap();
    }
    let mut daemon = open(&config(root, std::slice::from_ref(&spool)), world);
    pass(&mut daemon, world, 60_000);
    assert_eq!(given(&root.join("out")).ids.len(), 10);
    (spool, daemon)
}

#[test]
fn what_is_gone_is_remembered_for_thirty_days_and_then_forgotten() {
    let (place, mut world) = (Place::new("tombstones"), World::default());
    let root = place.path();
    let (spool, mut daemon) = spooled(root, &mut world);
    let (mbox, mail) = (spool.join("a"), spool.join("md/cur/x.M1.host:2,"));
    let (old_mbox, old_mail) = (fs::read(&mbox).unwrap(), fs::read(&mail).unwrap());
    fs::remove_file(&mbox).unwrap();
    fs::remove_file(&mail).unwrap();
    fs::remove_file(spool.join("md/cur/y.M1.host:2,")).unwrap();
    days(&mut daemon, &mut world, 30);
    fs::write(&mbox, &old_mbox).unwrap();
    fs::write(&mail, &old_mail).unwrap();
    days(&mut daemon, &mut world, 1);
    assert_eq!(
        given(&root.join("out")).ids.len(),
        10,
        "both came back from a backup"
    );

    fs::remove_file(&mbox).unwrap();
    fs::remove_file(&mail).unwrap();
    let status = days(&mut daemon, &mut world, 33);
    assert!(
        status.metrics().contains("urlspool_forgotten_total 8\n"),
        "{}",
        status.metrics()
    );
    daemon.close().unwrap();
    // Of the Maildir's messages the one that stood in two files is still there in one.
    assert_eq!(rows(root, TABLES), [2, 1, 1, 2]);
    let mut daemon = open(&config(root, std::slice::from_ref(&spool)), &mut world);
    fs::rename(
        spool.join("md/cur/z.M1.host:2,"),
        spool.join("md/cur/w.M1.host:2,"),
    )
    .unwrap();
    fs::write(&mail, &old_mail).unwrap();
    pass(&mut daemon, &mut world, 60_000);
    assert_eq!(
        given(&root.join("out")).ids.len(),
        12,
        "what was forgotten is new, what was not is not"
    );
}

#[test]
fn nothing_is_forgotten_because_a_mount_is_absent_or_a_clock_jumps() {
    let (place, mut world) = (Place::new("absent"), World::default());
    let root = place.path();
    let (spool, mut daemon) = spooled(root, &mut world);
    let aside = root.join("aside");
    fs::rename(&spool, &aside).unwrap();
    for is_there in [false, true] {
        if is_there {
            fs::create_dir(&spool).unwrap();
        }
        let status = days(&mut daemon, &mut world, 40);
        assert!(!status.spools[0].present, "{is_there} {status:?}");
    }
    fs::remove_dir(&spool).unwrap();
    fs::rename(&aside, &spool).unwrap();
    let status = days(&mut daemon, &mut world, 2);
    assert!(status.spools[0].present, "{status:?}");
    daemon.close().unwrap();
    assert_eq!(rows(root, TABLES), [5, 3, 2, 3]);

    // Between two runs no more than a day passes, whatever the clock says.
    fs::remove_file(spool.join("a")).unwrap();
    for year in 0..4 {
        let mut world = Dated {
            world: World::default(),
            date: 1_000_000_000 + year * 31_536_000,
        };
        let mut daemon = open(&config(root, std::slice::from_ref(&spool)), &mut world);
        for _ in 0..20 {
            daemon.work(&mut world).unwrap();
            world.world.ms += 1_000;
        }
        daemon.close().unwrap();
    }
    assert_eq!(rows(root, TABLES)[2], 2, "forgotten after four starts");
}

/// A world with a date.
struct Dated {
    world: World,
    date: u64,
}

impl DaemonHost for Dated {
    fn now(&mut self) -> MonotonicTime {
        self.world.now()
    }

    fn unix_time(&mut self) -> Option<u64> {
        Some(self.date)
    }

    fn event(&mut self) -> Option<DaemonEvent> {
        None
    }

    fn log(&mut self, record: &LogRecord<'_>) {
        self.world.log(record);
    }

    fn progress(&mut self, _: &SpoolReader) {}
}

#[test]
fn a_state_that_is_built_anew_knows_where_it_stood() {
    let (place, mut world) = (Place::new("anew"), World::default());
    let root = place.path();
    let (spool, mut daemon) = spooled(root, &mut world);
    // A message that is cut off in the middle, taken because its writer seems dead.
    let whole = mbox(6);
    let (start, rest) = whole.split_at(whole.len() - 30);
    append(&spool.join("a"), start);
    days(&mut daemon, &mut world, 1);
    daemon.close().unwrap();
    let before = given(&root.join("out")).ids.len();
    assert!(before > 10, "the cut message was taken");

    let config = config(root, std::slice::from_ref(&spool));
    let mut rebuilt = || loop {
        match SpoolReader::rebuild(&config, &mut world) {
            Err(DaemonError::Locked(_)) => std::thread::sleep(Duration::from_millis(1)),
            done => return done.unwrap(),
        }
    };
    rebuilt();
    rebuilt();
    let mut daemon = open(&config, &mut world);
    let status = pass(&mut daemon, &mut world, 60_000);
    let counts =
        serde_json::from_slice::<serde_json::Value>(&status.json()).unwrap()["counts"].clone();
    assert_eq!(
        (&counts["files_read"], &counts["messages_read"]),
        (&0.into(), &0.into()),
        "nothing is read again"
    );
    append(&spool.join("a"), rest);
    append(&spool.join("b"), &mbox(7));
    days(&mut daemon, &mut world, 1);
    daemon.close().unwrap();
    let given = given(&root.join("out"));
    let whole: Vec<_> = given
        .urls
        .values()
        .copied()
        .chain(given.torn.iter().map(|_| 1))
        .collect();
    assert!(
        given.ids.len() >= before + 3 && whole.iter().all(|times| *times == 1),
        "{:?} {:?}",
        given.urls,
        given.torn
    );
    assert!(
        given.urls.contains_key("http://h.example/6-b.html"),
        "{:?}",
        given.urls
    );
}

#[test]
fn an_mbox_that_was_cut_while_nobody_looked_is_told_of_once() {
    let (place, mut world) = (Place::new("cut"), World::default());
    let root = place.path();
    let (spool, mut daemon) = spooled(root, &mut world);
    let (inbox, told) = (spool.join("a"), "while nobody looked");
    let long = |n: u64| format!("From a@b Mon Jan  1 00:00:00 1996\n{}\n", message(n, 40));
    // While it runs this is every day's work.
    fs::write(&inbox, long(6) + &long(7)).unwrap();
    days(&mut daemon, &mut world, 1);
    fs::write(&inbox, mbox(10)).unwrap();
    days(&mut daemon, &mut world, 1);
    append(&inbox, &(long(6) + &long(7)));
    days(&mut daemon, &mut world, 1);
    daemon.close().unwrap();
    assert_eq!(world.remarked(told), 0, "{:?}", world.remarks);

    let again = |world: &mut World| {
        let mut daemon = open(&config(root, std::slice::from_ref(&spool)), world);
        days(&mut daemon, world, 1);
        daemon.close().unwrap();
        world.remarked(told)
    };
    fs::write(&inbox, mbox(10) + &long(6)).unwrap();
    assert_eq!(
        again(&mut world),
        0,
        "its last message was taken out: {:?}",
        world.remarks
    );
    fs::write(&inbox, mbox(8)).unwrap();
    assert_eq!(
        (again(&mut world), again(&mut world)),
        (1, 1),
        "{:?}",
        world.remarks
    );
    fs::write(&inbox, "").unwrap();
    assert_eq!(
        (again(&mut world), again(&mut world)),
        (2, 2),
        "{:?}",
        world.remarks
    );
    append(&inbox, &mbox(9));
    assert_eq!(again(&mut world), 2, "{:?}", world.remarks);
    let given = given(&root.join("out")).urls;
    assert!(
        (6..=10).all(|n| given[&format!("http://h.example/{n}-a.html")] == 1),
        "{given:?}"
    );
}

fn append(path: &Path, text: &str) {
    std::io::Write::write_all(
        &mut fs::OpenOptions::new().append(true).open(path).unwrap(),
        text.as_bytes(),
    )
    .unwrap();
}

#[test]
fn folders_that_come_are_heard_and_what_links_lead_to_is_not() {
    let place = Place::new("links");
    let root = place.path();
    let (spool, elsewhere) = (root.join("spool"), root.join("elsewhere"));
    fs::create_dir_all(elsewhere.join("inner")).unwrap();
    fs::create_dir_all(spool.join("folder")).unwrap();
    symlink(&elsewhere, spool.join("link")).unwrap();
    // The root was named, so that it may be a link.
    let named = root.join("named");
    symlink(&spool, &named).unwrap();
    let mut world = World::default();
    let mut daemon = open(&config(root, std::slice::from_ref(&named)), &mut world);
    for path in [
        named.clone(),
        named.join("folder"),
        named.join("link"),
        named.join("link/inner"),
    ] {
        daemon.handle(DaemonEvent::Changed(path), MonotonicTime::default());
    }
    pass(&mut daemon, &mut world, 10);
    assert_eq!(world.appeared, [named.clone(), named.join("folder")]);
    daemon.close().unwrap();
}
