//! The real program, killed at random while mail is delivered and a consumer takes segments.
//!
//! `URLSPOOL_KILLS` says how often (default 25), `URLSPOOL_CHAINS` how many chains of kills during recovery (default 5).

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::cli::{configure, program};
use super::{Dice, Place, given_in, message};

/// Delivers until told to stop, into three spools: into an mbox under its lock, now and then rolling back; a Maildir, by
/// rename or by link; an MH folder. What a Maildir's writers left in `tmp` is nobody's.
fn deliver(root: &Path, seed: u64, stop: &AtomicBool, delivered: &AtomicU64) {
    let mut dice = Dice(seed);
    let spool = root.join("spool");
    while !stop.load(Ordering::Relaxed) {
        let n = delivered.load(Ordering::Relaxed) + 1;
        let text = message(n, dice.below(30));
        match dice.below(4) {
            0 | 1 => mbox(&spool, &text, &mut dice),
            2 => {
                let (tmp, new) = (
                    root.join("md/tmp/x"),
                    root.join(format!("md/new/{n}.M1.host")),
                );
                fs::write(&tmp, &text).unwrap();
                if dice.below(2) == 0 {
                    fs::rename(tmp, new).unwrap();
                } else {
                    fs::hard_link(&tmp, new).unwrap();
                    fs::remove_file(tmp).unwrap();
                }
                fs::write(
                    root.join(format!("md/tmp/{n}.left")),
                    message(2_000_000_000 + n, 0),
                )
                .unwrap();
            }
            _ => fs::write(root.join(format!("mh/{n}")), &text).unwrap(),
        }
        delivered.store(n, Ordering::Relaxed);
        if dice.below(200) == 0 {
            rotate(&spool);
        }
        std::thread::sleep(Duration::from_micros(500 + dice.below(4_000)));
    }
}

fn mbox(spool: &Path, text: &str, dice: &mut Dice) {
    let lock = spool.join("inbox.lock");
    File::create(&lock).unwrap();
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(spool.join("inbox"))
        .unwrap();
    let whole = file.metadata().unwrap().len();
    let full = format!("From a@b Mon Jan  1 00:00:00 1996\n{text}\n");
    if dice.below(3) == 0 {
        let other = message(1_000_000_000 + dice.below(1_000_000), 5);
        write!(file, "From a@b Mon Jan  1 00:00:00 1996\n{other}\n").unwrap();
        std::thread::sleep(Duration::from_millis(dice.below(300)));
        file.set_len(whole).unwrap();
    }
    let (start, rest) = full
        .as_bytes()
        .split_at(dice.below(full.len() as u64) as usize);
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

/// Lists the output a hundred times a second until told to stop. What has a name there is whole and has its sidecar; what
/// is still the same at the next look is taken away. Gives how many segments it took.
fn consume(out: &Path, taken: &Path, stop: &AtomicBool) -> Result<usize, String> {
    let (mut seen, mut took) = (BTreeMap::new(), 0);
    while !stop.load(Ordering::Relaxed) {
        for path in fs::read_dir(out)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
        {
            if path.extension() != Some("jsonl".as_ref()) {
                continue;
            }
            let octets = fs::read(&path).unwrap();
            let meta = path.with_extension("meta");
            match seen.remove(&path) {
                None if !is_whole(&octets, &meta) => {
                    return Err(format!("{} is not whole", path.display()));
                }
                None => assert!(seen.insert(path, octets).is_none()),
                Some(before) if before != octets => {
                    return Err(format!("{} was changed", path.display()));
                }
                Some(_) => {
                    fs::rename(&path, taken.join(path.file_name().unwrap())).unwrap();
                    fs::remove_file(meta).unwrap();
                    took += 1;
                }
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(took)
}

fn is_whole(octets: &[u8], meta: &Path) -> bool {
    let is_record = |line: &[u8]| {
        line.ends_with(b"\n") && serde_json::from_slice::<serde_json::Value>(line).is_ok()
    };
    let meta: serde_json::Value = serde_json::from_slice(&fs::read(meta).unwrap()).unwrap();
    meta["len"] == octets.len() && octets.split_inclusive(|&byte| byte == b'\n').all(is_record)
}

/// When the program is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    AnyTime,
    /// Four times of five while it still recovers from the kill before.
    Recovering,
}

impl When {
    fn wait(self, number: u64, dice: &mut Dice) -> Duration {
        let early = self == When::Recovering && !number.is_multiple_of(5);
        Duration::from_millis(if early {
            1 + dice.below(50)
        } else {
            5 + dice.below(300)
        })
    }
}

/// Kills the program `kills` times, lets it finish, and says what is wrong.
fn kill(name: &str, kills: u64, when: When, planted: Option<&str>) -> Result<(), String> {
    let place = Place::new(name);
    let (root, taken) = (place.path(), place.path().join("taken"));
    let other = |name| format!("[[spool]]\npath = \"{}\"\n", root.join(name).display());
    configure(root, &(other("md") + &other("mh")));
    fs::create_dir_all(&taken).unwrap();
    for folder in ["md/new", "md/cur", "md/tmp", "mh"] {
        fs::create_dir_all(root.join(folder)).unwrap();
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
        scope.spawn(|| deliver(root, kills, &stop, &delivered));
        let consumer = scope.spawn(|| consume(&root.join("out"), &taken, &stop));
        let ended = (0..kills).try_for_each(|number| {
            let mut child = command().spawn().unwrap();
            let wait = when.wait(number, &mut dice);
            // Now and then its readers are replaced meanwhile.
            let reload = when == When::AnyTime && number.is_multiple_of(3);
            std::thread::sleep(if reload { wait / 2 } else { wait });
            if reload {
                // Before it hears signals this one kills as well.
                let hup = Command::new("kill")
                    .args(["-HUP", &child.id().to_string()])
                    .status()
                    .unwrap();
                assert!(hup.success());
                std::thread::sleep(wait / 2);
            }
            child.kill().unwrap();
            match child.wait().unwrap().code() {
                None => Ok(()),
                Some(code) => Err(format!("start {number} ended with {code}")),
            }
        });
        stop.store(true, Ordering::Relaxed);
        ended.and(consumer.join().unwrap())
    });
    let segments = ended?;
    let last = command().arg("--once").status().unwrap();
    if !last.success() {
        return Err(format!("the last run ended with {last}"));
    }
    let given = given_in(&[&root.join("out"), &taken]);
    let messages = delivered.load(Ordering::Relaxed);
    println!("{kills} kills, {messages} messages, {segments} segments taken by the consumer");
    for n in 1..=messages {
        for part in ["a", "b"] {
            let times = given
                .urls
                .get(&format!("http://h.example/{n}-{part}.html"))
                .copied()
                .unwrap_or(0);
            if times != 1 {
                return Err(format!("{n}-{part} is given {times} times"));
            }
        }
    }
    let records = given.ids.len() as u64;
    if records == 2 * messages {
        Ok(())
    } else {
        Err(format!("{records} records of {messages} messages"))
    }
}

#[test]
fn killed_at_any_moment_it_gives_each_url_once() {
    let kills = std::env::var("URLSPOOL_KILLS").map_or(25, |value| value.parse().unwrap());
    assert_eq!(kill("kills", kills, When::AnyTime, None), Ok(()));
}

#[test]
fn killed_while_it_recovers_it_gives_each_url_once() {
    let chains: u64 = std::env::var("URLSPOOL_CHAINS").map_or(5, |value| value.parse().unwrap());
    assert_eq!(kill("chains", 5 * chains, When::Recovering, None), Ok(()));
}

/// A harness that never complains proves nothing.
#[test]
#[cfg(feature = "planted-faults")]
fn planted_faults_are_caught() {
    for fault in ["StateBeforeData", "AdvanceOnRead"] {
        let caught = kill("planted", 60, When::AnyTime, Some(fault));
        println!("{fault}: {caught:?}");
        assert!(caught.is_err(), "{fault} is not caught by kills");
    }
    for fault in ["NoLock", "IgnoreOverflow", "AdvanceOnRead"] {
        let program = std::env::current_exe().unwrap();
        let mut histories = std::process::Command::new(program);
        let output = histories
            .arg("whatever_happens")
            .env("URLSPOOL_PLANTED", fault)
            .output()
            .unwrap();
        println!("{fault}: {}", String::from_utf8_lossy(&output.stdout));
        assert!(
            !output.status.success(),
            "{fault} is not caught by histories"
        );
    }
}
