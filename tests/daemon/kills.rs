//! The real program, killed at random while mail is delivered.
//!
//! `URLSPOOL_KILLS` says how often (default 25).

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::cli::{configure, program};
use super::{Dice, Place, given, message};

/// Delivers until told to stop: into an mbox under its lock, now and then rolling back; a Maildir; an MH folder.
fn deliver(spool: &Path, seed: u64, stop: &AtomicBool, delivered: &AtomicU64) {
    let mut dice = Dice(seed);
    while !stop.load(Ordering::Relaxed) {
        let n = delivered.load(Ordering::Relaxed) + 1;
        let text = message(n, dice.below(30));
        match dice.below(4) {
            0 | 1 => mbox(spool, &text, &mut dice),
            2 => {
                fs::write(spool.join("md/tmp/x"), &text).unwrap();
                fs::rename(spool.join("md/tmp/x"), spool.join(format!("md/new/{n}.M1.host"))).unwrap();
            }
            _ => fs::write(spool.join(format!("mh/{n}")), &text).unwrap(),
        }
        delivered.store(n, Ordering::Relaxed);
        if dice.below(200) == 0 {
            rotate(spool);
        }
        std::thread::sleep(Duration::from_micros(500 + dice.below(4_000)));
    }
}

fn mbox(spool: &Path, text: &str, dice: &mut Dice) {
    let lock = spool.join("inbox.lock");
    File::create(&lock).unwrap();
    let mut file = OpenOptions::new().append(true).create(true).open(spool.join("inbox")).unwrap();
    let whole = file.metadata().unwrap().len();
    let full = format!("From a@b Mon Jan  1 00:00:00 1996\n{text}\n");
    if dice.below(3) == 0 {
        let other = message(1_000_000_000 + dice.below(1_000_000), 5);
        write!(file, "From a@b Mon Jan  1 00:00:00 1996\n{other}\n").unwrap();
        std::thread::sleep(Duration::from_millis(dice.below(300)));
        file.set_len(whole).unwrap();
    }
    let (start, rest) = full.as_bytes().split_at(dice.below(full.len() as u64) as usize);
    file.write_all(start).unwrap();
    std::thread::sleep(Duration::from_micros(dice.below(3_000)));
    file.write_all(rest).unwrap();
    fs::remove_file(lock).unwrap();
}

fn rotate(spool: &Path) {
    let name = |number: u32| spool.join(format!("inbox.{number}"));
    let last = (1..10_000).find(|&number| !name(number).exists()).unwrap();
    for number in (1..last).rev() {
        fs::rename(name(number), name(number + 1)).unwrap();
    }
    let _ = fs::rename(spool.join("inbox"), name(1));
}

/// Kills the program `kills` times, lets it finish, and says what is wrong.
fn kill(name: &str, kills: u64, planted: Option<&str>) -> Result<(), String> {
    let place = Place::new(name);
    let (root, spool) = (place.path(), place.path().join("spool"));
    configure(root, "");
    for folder in ["md/new", "md/cur", "md/tmp", "mh"] {
        fs::create_dir_all(spool.join(folder)).unwrap();
    }
    let (stop, delivered) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut dice = Dice(kills);
    let command = || {
        let mut command = program(root, &["watch"]);
        command.stderr(Stdio::null());
        if let Some(fault) = planted {
            command.env("URLSPOOL_PLANTED", fault);
        }
        command
    };
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| deliver(&spool, kills, &stop, &delivered));
        let ended = (0..kills).try_for_each(|number| {
            let mut child = command().spawn().unwrap();
            std::thread::sleep(Duration::from_millis(5 + dice.below(300)));
            child.kill().unwrap();
            match child.wait().unwrap().code() {
                None => Ok(()),
                Some(code) => Err(format!("start {number} ended with {code}")),
            }
        });
        stop.store(true, Ordering::Relaxed);
        ended
    });
    ended?;
    let last = command().arg("--once").status().unwrap();
    if !last.success() {
        return Err(format!("the last run ended with {last}"));
    }
    let given = given(&root.join("out"));
    let messages = delivered.load(Ordering::Relaxed);
    println!("{kills} kills, {messages} messages");
    for n in 1..=messages {
        for part in ["a", "b"] {
            let times = given.urls.get(&format!("http://h.example/{n}-{part}.html")).copied().unwrap_or(0);
            if times != 1 {
                return Err(format!("{n}-{part} is given {times} times"));
            }
        }
    }
    let records = given.ids.len() as u64;
    if records == 2 * messages { Ok(()) } else { Err(format!("{records} records of {messages} messages")) }
}

#[test]
fn killed_at_any_moment_it_gives_each_url_once() {
    let kills = std::env::var("URLSPOOL_KILLS").map_or(25, |value| value.parse().unwrap());
    assert_eq!(kill("kills", kills, None), Ok(()));
}

/// A harness that never complains proves nothing.
#[test]
#[cfg(feature = "planted-faults")]
fn planted_faults_are_caught() {
    for fault in ["StateBeforeData", "AdvanceOnRead"] {
        let caught = kill("planted", 60, Some(fault));
        println!("{fault}: {caught:?}");
        assert!(caught.is_err(), "{fault} is not caught by kills");
    }
    for fault in ["NoLock", "IgnoreOverflow", "AdvanceOnRead"] {
        let program = std::env::current_exe().unwrap();
        let mut histories = std::process::Command::new(program);
        let output = histories.arg("whatever_happens").env("URLSPOOL_PLANTED", fault).output().unwrap();
        println!("{fault}: {}", String::from_utf8_lossy(&output.stdout));
        assert!(!output.status.success(), "{fault} is not caught by histories");
    }
}
