//! The real program with tombstones, killed at random moments while mail is delivered, removed, rotated and renamed.
//!
//! `URLSPOOL_KILLS` sets how often (default 25). No message comes back, so each is written once at most, and gone once at most.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::fs::FlockOperation;

use super::kills::{When, create_spools, run_killed};
use super::lives::{LifeEvent, Lives};
use super::{mbox_message, message};
use crate::scene::{Folder, Rng};

/// The spools, and the messages in them.
struct Spools<'s> {
    root: &'s Path,
    rng: Rng,
    /// The last message.
    last: u64,
    inbox: Vec<u64>,
    /// Mboxes that were rotated, the newest first.
    rotated: Vec<Vec<u64>>,
    /// Paths of the messages in the Maildir.
    maildir: Vec<(u64, PathBuf)>,
    mh: Vec<u64>,
}

impl Spools<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn act(&mut self) {
        match self.rng.below(12) {
            0..=2 => {
                let n = self.next();
                self.inbox.push(n);
                self.write_inbox();
            }
            3..=4 => {
                let n = self.next();
                let new = self.path(&format!("md/new/{n}.M1.host"));
                fs::write(self.path("md/tmp/x"), message(n, n % 30)).unwrap();
                fs::rename(self.path("md/tmp/x"), &new).unwrap();
                self.maildir.push((n, new));
            }
            5 => {
                let n = self.next();
                fs::write(self.path(&format!("mh/{n}")), message(n, n % 30)).unwrap();
                self.mh.push(n);
            }
            6 => {
                if let Some(at) = self.any(self.inbox.len()) {
                    self.inbox.remove(at);
                    self.write_inbox();
                }
            }
            7 => {
                if let Some(at) = self.any(self.maildir.len()) {
                    fs::remove_file(self.maildir.swap_remove(at).1).unwrap();
                }
            }
            8 => {
                if let Some(at) = self.any(self.mh.len()) {
                    let n = self.mh.swap_remove(at);
                    fs::remove_file(self.path(&format!("mh/{n}"))).unwrap();
                }
            }
            9..=10 => {
                if let Some(at) = self.any(self.maildir.len()) {
                    let flags = ["", "S", "RS"]
                        .into_iter()
                        .nth(usize::try_from(self.rng.below(3)).unwrap())
                        .unwrap();
                    let n = self.maildir[at].0;
                    let to = self.path(&format!("md/cur/{n}.M1.host:2,{flags}"));
                    fs::rename(&self.maildir[at].1, &to).unwrap();
                    self.maildir[at].1 = to;
                }
            }
            _ => {
                if self.rng.below(10) == 0 && !self.inbox.is_empty() {
                    self.rotate();
                }
            }
        }
    }

    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn any(&mut self, len: usize) -> Option<usize> {
        (len > 0).then(|| self.rng.below(len as u64) as usize)
    }

    /// Rewrites the mbox in place, sometimes slowly, under both locks of its writers.
    fn write_inbox(&mut self) {
        let lock = self.path("spool/inbox.lock");
        File::create(&lock).unwrap();
        let messages = self.inbox.iter().map(|n| mbox_message(*n, n % 30));
        let text = messages.collect::<String>();
        let mut options = File::options();
        let options = options.write(true).create(true).truncate(false);
        let mut file = options.open(self.path("spool/inbox")).unwrap();
        rustix::fs::fcntl_lock(&file, FlockOperation::LockExclusive).unwrap();
        file.set_len(0).unwrap();
        if self.rng.below(10) == 0 {
            // Longer than two scans, with the time between them.
            std::thread::sleep(Duration::from_millis(200));
        }
        file.write_all(text.as_bytes()).unwrap();
        fs::remove_file(lock).unwrap();
    }

    /// Renames the mboxes, and removes the oldest of more than three.
    fn rotate(&mut self) {
        let root = self.root;
        let name = |number: usize| root.join(format!("spool/inbox.{number}"));
        if self.rotated.len() == 3 {
            fs::remove_file(name(3)).unwrap();
            self.rotated.pop();
        }
        for number in (1..=self.rotated.len()).rev() {
            fs::rename(name(number), name(number + 1)).unwrap();
        }
        fs::rename(root.join("spool/inbox"), name(1)).unwrap();
        self.rotated.insert(0, std::mem::take(&mut self.inbox));
    }

    fn present(&self) -> BTreeSet<u64> {
        let mboxes = self.rotated.iter().flatten().chain(&self.inbox);
        let others = self.maildir.iter().map(|(n, _)| n).chain(&self.mh);
        mboxes.chain(others).copied().collect()
    }
}

/// Kills the program `kills` times and lets it finish. Returns what is wrong.
fn kill(kills: u64, when: When) -> Result<(), String> {
    let folder = Folder::in_memory();
    let root = folder.root();
    create_spools(root);
    // An empty spool counts as absent.
    fs::create_dir(root.join("mh/sub")).unwrap();
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let config = config
        .replace("[state]", "tombstones = true\n[state]")
        .replace(
            "[metrics]",
            "sweep = \"2s\"\ngone_after = \"60ms\"\n[metrics]",
        );
    fs::write(root.join("c.toml"), config).unwrap();
    let spools = Mutex::new(Spools {
        root,
        rng: Rng::seeded(kills),
        last: 0,
        inbox: Vec::new(),
        rotated: Vec::new(),
        maildir: Vec::new(),
        mh: Vec::new(),
    });
    run_killed(root, kills, when, None, |stop| {
        let mut spools = spools.lock().unwrap();
        while !stop.load(Ordering::Relaxed) {
            spools.act();
            let pause_us = 2_000 + spools.rng.below(20_000);
            std::thread::sleep(Duration::from_micros(pause_us));
        }
    })?;
    let spools = spools.into_inner().unwrap();
    let lives = Lives::read(&[&root.join("out"), &root.join("taken")]);
    println!(
        "{kills} kills, {} messages, {} gone",
        spools.last,
        lives.gone_digests.len()
    );
    let once = [LifeEvent::Written, LifeEvent::Gone];
    let wrong = lives
        .events
        .iter()
        .find(|(_, events)| !once.starts_with(events));
    if let Some((message, events)) = wrong {
        return Err(format!("{message:?}: {events:?}"));
    }
    let written: BTreeSet<u64> = lives.present().into_iter().map(|(_, n)| n).collect();
    let present = spools.present();
    let wrong: Vec<&u64> = present.symmetric_difference(&written).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let events = lives.events.iter();
    let events: Vec<_> = events.filter(|((_, n), _)| wrong.contains(&n)).collect();
    Err(format!(
        "{wrong:?} are written or present, not both: {events:?}; mbox: {:?} {:?}",
        spools.inbox, spools.rotated
    ))
}

#[test]
fn a_daemon_killed_at_any_moment_writes_each_gone_message_once() {
    let kills = std::env::var("URLSPOOL_KILLS").map_or(25, |value| value.parse().unwrap());
    assert_eq!(kill(kills, When::AnyTime), Ok(()));
}
