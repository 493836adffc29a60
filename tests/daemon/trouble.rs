//! What the daemon makes of files that cannot be read and of spools that are not there, with a clock that jumps.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use urlspool::config::{Config, Dedupe, Interval, Spool};
use urlspool::daemon::{Daemon, Event, Fault, Host, Now, Remark, Status};

use super::{Place, given, message};

/// A world whose clock goes only when it is told to, and that keeps what was remarked.
#[derive(Default)]
struct World {
    ms: u64,
    remarks: Vec<String>,
}

impl Host for World {
    fn now(&mut self) -> Now {
        Now { ms: self.ms }
    }

    fn event(&mut self) -> Option<Event> {
        None
    }

    fn remark(&mut self, remark: &Remark<'_>) {
        self.remarks.push(format!("{remark:?}"));
    }

    fn progress(&mut self, _: &Daemon) {}
}

impl World {
    fn remarked(&self, words: &str) -> usize {
        self.remarks.iter().filter(|remark| remark.contains(words)).count()
    }
}

fn config(root: &Path, spools: &[PathBuf]) -> Config {
    let mut config = Config::default();
    config.output.dir = root.join("out");
    config.output.seal_interval = Interval { ms: 1 };
    config.state.dir = root.join("state");
    config.state.commit_interval = Interval { ms: 1 };
    let spool = |path: &PathBuf| Spool { path: path.clone(), kind: "auto".to_owned(), dedupe: Dedupe::Mailbox };
    config.spool = spools.iter().map(spool).collect();
    config
}

fn open(config: &Config, world: &mut World) -> Daemon {
    loop {
        match Daemon::open(config.clone(), world) {
            // A test beside this one has forked, and its child has our lock until it becomes another program.
            Err(Fault::Held(_)) => std::thread::sleep(Duration::from_millis(1)),
            opened => return opened.unwrap(),
        }
    }
}

/// Works as often as the daemon wants to, for so much time.
fn pass(daemon: &mut Daemon, world: &mut World, ms: u64) -> Status {
    let end = world.ms + ms;
    while world.ms < end {
        let next = daemon.work(world).unwrap();
        world.ms = next.ms.clamp(world.ms + 1, end);
    }
    daemon.status(Now { ms: world.ms })
}

/// A file that can be looked at and not be read, by whomever: the kernel lets nobody read it.
fn unreadable() -> Option<PathBuf> {
    let buses = fs::read_dir("/sys/bus").ok()?;
    buses.flatten().map(|bus| bus.path().join("drivers_probe")).find(|path| path.is_file())
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
    let mut daemon = open(&config(place.path(), &[unreadable.clone(), spool.clone()]), &mut world);
    fs::write(spool.join("1"), message(1, 1)).unwrap();
    let status = pass(&mut daemon, &mut world, 60_000);
    assert_eq!(given(&place.path().join("out")).ids.len(), 2, "the other spool is read");
    assert_eq!((status.failing, status.quarantined), (1, 0), "{status:?}");
    let tries = |status: &Status| status.failures[0].tries;
    assert!((5..=7).contains(&tries(&status)), "{status:?}");
    let status = pass(&mut daemon, &mut world, 87_000_000);
    assert_eq!((status.failing, status.quarantined), (0, 1), "{status:?}");
    let name = unreadable.display().to_string();
    assert!(status.failures[0].path == name && status.failures[0].quarantined);
    assert_eq!(world.remarked(&name), 2, "once when it began, once when it was given up: {:?}", world.remarks);
    assert!(status.metrics().contains("urlspool_quarantined_files 1\n"));
    let later = pass(&mut daemon, &mut world, 86_400_000);
    assert_eq!(tries(&later), tries(&status), "it is left alone");
}
