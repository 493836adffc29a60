//! The real program, killed at random moments during deliveries and consumption.
//!
//! `URLSPOOL_KILLS` is the number of kills (default 25), `URLSPOOL_CHAINS` the number of chains of
//! kills during recovery (default 5).

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::cli::{code, configure, configured, once, program, signal};
use super::{mbox_message, message, read_segments_in};
use crate::scene::{Folder, Rng};

/// Delivers into three spools until `stop`: into an mbox under its lock, sometimes rolling back;
/// into a Maildir, by rename or link; into an MH folder. Files left in the Maildir's `tmp` must not
/// be read.
fn deliver(root: &Path, seed: u64, stop: &AtomicBool, delivered: &AtomicU64) {
    let mut rng = Rng::seeded(seed);
    let spool = root.join("spool");
    while !stop.load(Ordering::Relaxed) {
        let n = delivered.load(Ordering::Relaxed) + 1;
        let text = message(n, rng.below(30));
        match rng.below(4) {
            0 | 1 => mbox(&spool, &text, &mut rng),
            2 => {
                let (tmp, new) = (
                    root.join("md/tmp/x"),
                    root.join(format!("md/new/{n}.M1.host")),
                );
                fs::write(&tmp, &text).unwrap();
                if rng.below(2) == 0 {
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
        if rng.below(200) == 0 {
            rotate(&spool);
        }
        std::thread::sleep(Duration::from_micros(500 + rng.below(4_000)));
    }
}

fn mbox(spool: &Path, text: &str, rng: &mut Rng) {
    let lock = spool.join("inbox.lock");
    File::create(&lock).unwrap();
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(spool.join("inbox"))
        .unwrap();
    let whole = file.metadata().unwrap().len();
    let full = format!("From a@b Mon Jan  1 00:00:00 1996\n{text}\n");
    if rng.below(3) == 0 {
        let other = mbox_message(1_000_000_000 + rng.below(1_000_000), 5);
        file.write_all(other.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(rng.below(300)));
        file.set_len(whole).unwrap();
    }
    let (start, rest) = full
        .as_bytes()
        .split_at(rng.below(full.len() as u64) as usize);
    file.write_all(start).unwrap();
    std::thread::sleep(Duration::from_micros(rng.below(3_000)));
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

/// Lists the output a hundred times a second until `stop`. A listed segment must be complete and
/// have its sidecar. A segment that is unchanged at the next listing is taken. Returns the number
/// of segments taken.
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
            let bytes = fs::read(&path).unwrap();
            let meta = path.with_extension("meta");
            match seen.remove(&path) {
                None if !is_whole(&bytes, &meta) => {
                    return Err(format!("{} is incomplete", path.display()));
                }
                None => assert!(seen.insert(path, bytes).is_none()),
                Some(before) if before != bytes => {
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

fn is_whole(bytes: &[u8], meta: &Path) -> bool {
    let is_record = |line: &[u8]| {
        line.ends_with(b"\n") && serde_json::from_slice::<serde_json::Value>(line).is_ok()
    };
    let meta: serde_json::Value = serde_json::from_slice(&fs::read(meta).unwrap()).unwrap();
    meta["len"] == bytes.len() && bytes.split_inclusive(|&byte| byte == b'\n').all(is_record)
}

/// Moment at which the program is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// Any moment.
    AnyTime,
    /// Four times out of five during recovery from the previous kill.
    Recovering,
}

impl When {
    fn wait(self, number: u64, rng: &mut Rng) -> Duration {
        let early = self == When::Recovering && !number.is_multiple_of(5);
        Duration::from_millis(if early {
            1 + rng.below(50)
        } else {
            5 + rng.below(300)
        })
    }
}

/// Creates three spools (a folder of mboxes, a Maildir, an MH folder) and their configuration.
fn create_spools(root: &Path) {
    let other = |name| format!("[[spool]]\npath = \"{}\"\n", root.join(name).display());
    configure(root, &(other("md") + &other("mh")));
    for folder in ["md/new", "md/cur", "md/tmp", "mh", "taken"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
}

/// Kills the program `kills` times while `deliver` runs and a consumer moves segments to `taken`,
/// then lets the program finish. Returns the number of segments taken.
fn run_killed(
    root: &Path,
    kills: u64,
    when: When,
    planted: Option<&str>,
    deliver: impl Fn(&AtomicBool) + Sync,
) -> Result<usize, String> {
    let (stop, taken) = (AtomicBool::new(false), root.join("taken"));
    let mut rng = Rng::seeded(kills);
    let command = || {
        let mut command = program(root, &["watch"]);
        command.stderr(Stdio::null());
        if let Some(fault) = planted {
            command.env("URLSPOOL_PLANTED", fault);
        }
        command
    };
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| deliver(&stop));
        let consumer = scope.spawn(|| consume(&root.join("out"), &taken, &stop));
        let ended = (0..kills).try_for_each(|number| {
            let mut child = command().spawn().unwrap();
            let wait = when.wait(number, &mut rng);
            // Sometimes its readers are replaced in the meantime.
            let reload = when == When::AnyTime && number.is_multiple_of(3);
            std::thread::sleep(if reload { wait / 2 } else { wait });
            if reload {
                // This signal also kills until the program has installed a handler.
                signal(&child, Signal::HUP);
                std::thread::sleep(wait / 2);
            }
            child.kill().unwrap();
            match child.wait().unwrap().code() {
                None => Ok(()),
                Some(code) => Err(format!("start {number}: exit code {code}")),
            }
        });
        stop.store(true, Ordering::Relaxed);
        ended.and(consumer.join().unwrap())
    });
    let segments = ended?;
    let last = command().arg("--once").status().unwrap();
    if !last.success() {
        return Err(format!("the last run: {last}"));
    }
    Ok(segments)
}

/// Kills the program `kills` times and lets it finish. An error describes the first difference.
fn kill(kills: u64, when: When, planted: Option<&str>) -> Result<(), String> {
    let folder = Folder::in_memory();
    let (root, taken) = (folder.root(), folder.path("taken"));
    let delivered = AtomicU64::new(0);
    create_spools(root);
    let segments = run_killed(root, kills, when, planted, |stop| {
        deliver(root, kills, stop, &delivered);
    })?;
    let written = read_segments_in(&[&root.join("out"), &taken]);
    let messages = delivered.load(Ordering::Relaxed);
    println!("{kills} kills, {messages} messages, {segments} segments taken by the consumer");
    for n in 1..=messages {
        for part in ["a", "b"] {
            let times = written
                .urls
                .get(&format!("http://h.example/{n}-{part}.html"))
                .copied()
                .unwrap_or(0);
            if times != 1 {
                return Err(format!("{n}-{part} was written {times} times"));
            }
        }
    }
    let records = written.ids.len() as u64;
    if records == 2 * messages {
        Ok(())
    } else {
        Err(format!("{records} records of {messages} messages"))
    }
}

#[test]
fn a_daemon_killed_at_any_moment_writes_each_url_once() {
    let kills = std::env::var("URLSPOOL_KILLS").map_or(25, |value| value.parse().unwrap());
    assert_eq!(kill(kills, When::AnyTime, None), Ok(()));
}

#[test]
fn a_daemon_killed_during_recovery_writes_each_url_once() {
    let chains: u64 = std::env::var("URLSPOOL_CHAINS").map_or(5, |value| value.parse().unwrap());
    assert_eq!(kill(5 * chains, When::Recovering, None), Ok(()));
}

/// Returns `true` while a process has the unnamed file for one message's records open.
fn is_inside_message(process: u32, out: &Path) -> bool {
    let is_lines =
        |path: PathBuf| path.starts_with(out) && path.to_string_lossy().ends_with("(deleted)");
    fs::read_dir(format!("/proc/{process}/fd"))
        .into_iter()
        .flatten()
        .filter_map(|fd| fs::read_link(fd.ok()?.path()).ok())
        .any(is_lines)
}

/// `tests/tools/message_kills.py` does this a thousand times, with seals and on a full disk.
#[test]
fn a_daemon_killed_between_the_records_of_a_message_writes_each_url_once() {
    const URLS: usize = 4_000;
    let folder = configured();
    let (root, out) = (folder.root(), folder.path("out"));
    let large: String = (0..URLS)
        .map(|n| format!("see http://large.example/{n}.html now\n"))
        .collect();
    let large = format!("From a@b Mon Jan  1 00:00:00 1996\nSubject: x\n\n{large}\n");
    let spool = [mbox_message(1, 1), large, mbox_message(2, 1)].concat();
    fs::write(root.join("spool/inbox"), spool).unwrap();
    let mut rng = Rng::seeded(1);
    let mut kills_inside = 0;
    for _ in 0..5 {
        let mut child = program(root, &["watch"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while !is_inside_message(child.id(), &out) && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(rng.below(100)));
        kills_inside += u32::from(is_inside_message(child.id(), &out));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(0 < kills_inside, "no kill was inside the message");
    assert_eq!(code(&once(root, &[])), 0);
    let written = read_segments_in(&[&out]);
    assert!(written.urls.values().all(|times| *times == 1));
    assert_eq!(written.ids.len(), URLS + 4);
}

/// Proves that the tests notice faults.
#[test]
#[cfg(feature = "planted-faults")]
fn planted_faults_are_caught() {
    let fault = "StateBeforeData";
    // Sixty random moments may all miss the fault, especially on a busy machine.
    let mut series = (0..3).map(|_| kill(60, When::AnyTime, Some(fault)));
    let caught = series.find(Result::is_err);
    println!("{fault}: {caught:?}");
    assert!(caught.is_some(), "{fault} is not caught by kills");
    for (fault, test) in [
        ("NoLock", "a_mailbox_that_cannot_be_read_hides_messages"),
        (
            "IgnoreOverflow",
            "a_message_whose_notification_was_lost_is_written",
        ),
    ] {
        let program = std::env::current_exe().unwrap();
        let mut tests = std::process::Command::new(program);
        let output = tests.arg(test).env("URLSPOOL_PLANTED", fault).output();
        let output = output.unwrap();
        println!("{fault}: {}", String::from_utf8_lossy(&output.stdout));
        assert!(!output.status.success(), "{fault} is not caught by {test}");
    }
}
