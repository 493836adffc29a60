//! Files of the daemon's own that were changed behind its back: it refuses, or nothing is lost and nothing given twice.
//!
//! `URLSPOOL_FLIPS` says how often the database is damaged (default 30).

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::cli::{PROGRAM, code, configure, once, program};
use super::{Dice, Place, given, message};

/// Messages in the mbox, and as many in the Maildir.
const MESSAGES: u64 = 60;

fn letter(n: u64) -> String {
    format!("From a@b Mon Jan  1 00:00:00 1996\n{}\n", message(n, 2))
}

fn fill(root: &Path) {
    configure(root, "");
    let spool = root.join("spool");
    for folder in ["md/new", "md/cur", "md/tmp"] {
        fs::create_dir_all(spool.join(folder)).unwrap();
    }
    fs::write(
        spool.join("inbox"),
        (1..=MESSAGES).map(letter).collect::<String>(),
    )
    .unwrap();
    for n in MESSAGES + 1..=2 * MESSAGES {
        fs::write(spool.join(format!("md/new/{n}.M1.host")), message(n, 2)).unwrap();
    }
}

/// Everything that was given must be known again by its content: the mbox is rewritten, and has a new message.
fn change(root: &Path) {
    let letters = (1..=MESSAGES)
        .chain([2 * MESSAGES + 1])
        .map(letter)
        .collect::<String>();
    fs::write(
        root.join("spool/inbox"),
        letters.replace("\nSubject:", "\nStatus: RO\nSubject:"),
    )
    .unwrap();
    fs::write(
        root.join("spool/md/new/last.M1.host"),
        message(2 * MESSAGES + 2, 2),
    )
    .unwrap();
}

/// Whether each message's two URLs were given once.
fn is_exact(root: &Path, messages: u64) -> bool {
    let given = given(&root.join("out"));
    given.urls.len() as u64 == 2 * messages && given.ids.len() as u64 == 2 * messages
}

/// Starts it, waits until so many messages are committed, and kills it before the segment is sealed.
fn killed(root: &Path, messages: u64) {
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    fs::write(root.join("c.toml"), config.replace("\"300ms\"", "\"1h\"")).unwrap();
    let mut daemon = program(root, &["watch"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let committed = || {
        let asked = program(root, &["status"]).output().unwrap();
        let status: serde_json::Value = serde_json::from_slice(&asked.stdout).unwrap_or_default();
        status["counts"]["messages"] == messages
    };
    while !committed() {
        assert!(start.elapsed() < Duration::from_mins(1), "it commits");
        std::thread::sleep(Duration::from_millis(20));
    }
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}

/// Copies spool, output and state. They are always used at the same place: mailboxes are known by their paths.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for folder in ["out", "state", "spool"] {
        let _ = fs::remove_dir_all(to.join(folder));
        let copied = Command::new("cp")
            .args(["-r", "--preserve=timestamps"])
            .arg(from.join(folder))
            .arg(to)
            .status();
        assert!(copied.unwrap().success());
    }
}

/// Writes a few random bytes somewhere into a file, or makes it shorter.
fn damage(path: &Path, dice: &mut Dice) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let len = file.metadata().unwrap().len();
    let at = dice.below(len);
    match dice.below(8) {
        0 => file.set_len(at).unwrap(),
        1 => file
            .write_all_at(&vec![0; 4096.min(len - at) as usize], at)
            .unwrap(),
        _ => {
            let bytes: Vec<u8> = (0..=dice.below(64).min(len - at - 1))
                .map(|_| dice.below(256) as u8)
                .collect();
            file.write_all_at(&bytes, at).unwrap();
        }
    }
}

/// Damages a file of the state, and says whether that was refused, or what was wrong.
fn refused(root: &Path, name: &str, dice: &mut Dice) -> Result<bool, String> {
    change(root);
    damage(&root.join("state").join(name), dice);
    let output = once(root, &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match code(&output) {
        78 if said.contains("--rebuild-state") => Ok(true),
        0 if is_exact(root, 2 * MESSAGES + 2) => Ok(false),
        code => {
            let given = given(&root.join("out"));
            Err(format!(
                "ended with {code}, {} records of {} URLs: {said}",
                given.ids.len(),
                given.urls.len()
            ))
        }
    }
}

#[test]
fn a_damaged_database_is_refused_or_does_no_harm() {
    let flips: u64 = std::env::var("URLSPOOL_FLIPS").map_or(30, |value| value.parse().unwrap());
    let place = Place::new("flips");
    let [root, clean, idle, unclean] =
        ["x", "clean", "idle", "unclean"].map(|name| place.path().join(name));
    fs::create_dir_all(&root).unwrap();
    fill(&root);
    assert_eq!(code(&once(&root, &[])), 0);
    copy(&root, &clean);
    killed(&root, 0);
    copy(&root, &idle);
    for folder in ["out", "state"] {
        fs::remove_dir_all(root.join(folder)).unwrap();
    }
    killed(&root, 2 * MESSAGES);
    copy(&root, &unclean);
    let (mut found, mut wrong) = ([0; 2], Vec::new());
    for flip in 0..flips {
        let mut dice = Dice(flip);
        let wholes = [
            (&clean, "state.db"),
            (&idle, "state.db"),
            (&unclean, "state.db-wal"),
        ];
        let (whole, name) = wholes[(flip % 3) as usize];
        copy(whole, &root);
        match refused(&root, name, &mut dice) {
            Ok(refused) => found[usize::from(refused)] += 1,
            Err(why) => wrong.push(format!("{flip}: {why}")),
        }
    }
    println!("{} refused, {} harmless", found[1], found[0]);
    assert!(
        wrong.is_empty(),
        "{} of {flips}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(found[1] > 0, "none was refused");
}

#[test]
fn what_was_changed_after_an_unclean_end_is_noticed() {
    let place = Place::new("changed");
    let [root, whole] = ["x", "whole"].map(|name| place.path().join(name));
    fs::create_dir_all(&root).unwrap();
    fill(&root);
    // A message that may yet grow.
    fs::write(
        root.join("spool/text"),
        "see http://h.example/text-a.html and http://h.example/text-b.html\n",
    )
    .unwrap();
    assert_eq!(code(&once(&root, &[])), 0);
    killed(&root, 0);
    copy(&root, &whole);
    let changes = [
        (
            "UPDATE seen SET key=zeroblob(14) WHERE key=(SELECT min(key) FROM seen)",
            78,
        ),
        ("DELETE FROM seen WHERE key=(SELECT max(key) FROM seen)", 78),
        ("UPDATE mailbox SET key=zeroblob(16) WHERE id=1", 78),
        ("UPDATE tail SET ids=zeroblob(16)", 78),
        ("UPDATE meta SET value=value+1 WHERE name='sum'", 78),
        // What is compared with files whenever it is used.
        ("UPDATE file SET last=last+1", 0),
        ("DELETE FROM known", 0),
    ];
    for (change, ends) in changes {
        copy(&whole, &root);
        let db = rusqlite::Connection::open(root.join("state/state.db")).unwrap();
        assert!(db.execute(change, []).unwrap() > 0, "{change}");
        drop(db);
        let output = once(&root, &[]);
        assert_eq!(
            code(&output),
            ends,
            "{change}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(is_exact(&root, 2 * MESSAGES + 1), "{change}");
    }
}

#[test]
fn what_stands_in_the_log_is_copied_back_at_the_start() {
    let place = Place::new("log");
    let root = place.path();
    fill(root);
    killed(root, 2 * MESSAGES);
    let log = || fs::metadata(root.join("state/state.db-wal")).unwrap().len();
    let before = log();
    killed(root, 0);
    assert!(log() * 2 < before, "{before}, then {}", log());
}

#[test]
fn a_part_that_lacks_what_was_committed_is_refused_and_what_was_not_is_cut_off() {
    let place = Place::new("part");
    let [root, whole] = ["x", "whole"].map(|name| place.path().join(name));
    fs::create_dir_all(&root).unwrap();
    fill(&root);
    killed(&root, 2 * MESSAGES);
    copy(&root, &whole);
    let part = root.join("out/.open/0000000001.part");
    for (bytes, expected) in [(-1, 78), (-1000, 78), (0, 0), (1, 0), (70_000, 0)] {
        copy(&whole, &root);
        let len = fs::metadata(&part).unwrap().len();
        let file = OpenOptions::new().write(true).open(&part).unwrap();
        // What is added are zeros.
        file.set_len(len.strict_add_signed(bytes)).unwrap();
        let output = once(&root, &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(code(&output), expected, "{bytes}: {said}");
        assert_eq!(
            said.contains(&format!("LOST {} bytes", -bytes)),
            bytes < 0,
            "{said}"
        );
        assert!(bytes < 0 || is_exact(&root, 2 * MESSAGES), "{bytes}");
    }
}

#[test]
fn of_many_that_start_at_once_one_holds_the_state() {
    let place = Place::new("many");
    let root = place.path();
    fill(root);
    let start = || {
        program(root, &["watch"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let mut running: Vec<_> = (0..20).map(|_| start()).collect();
    let begin = Instant::now();
    // All but one end by themselves.
    while running.len() > 1 {
        assert!(
            begin.elapsed() < Duration::from_mins(2),
            "{} hold it",
            running.len()
        );
        std::thread::sleep(Duration::from_millis(20));
        running.retain_mut(|daemon| match daemon.try_wait().unwrap() {
            Some(status) => {
                assert_eq!(status.code(), Some(75));
                false
            }
            None => true,
        });
    }
    let mut last = running.pop().unwrap();
    assert!(
        Command::new("kill")
            .args(["-TERM", &last.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(last.wait().unwrap().code(), Some(0));
    assert_eq!(code(&once(root, &[])), 0);
    assert!(is_exact(root, 2 * MESSAGES));
}

#[test]
fn a_state_that_may_not_grow_is_a_pause_and_no_end() {
    let place = Place::new("no-growth");
    let root = place.path();
    configure(root, "");
    let letter = |n: u64| format!("From a@b Mon Jan  1 00:00:00 1996\nSubject: {n}\n\nno URL\n\n");
    // Of messages without URLs only the state has anything to say.
    fs::write(
        root.join("spool/inbox"),
        (0..20_000).map(letter).collect::<String>() + &self::letter(1),
    )
    .unwrap();
    let limited = "ulimit -f 256 && exec \"$@\"";
    let mut daemon = Command::new("sh")
        .args(["-c", limited, "sh", PROGRAM, "watch", "--config"])
        .arg(root.join("c.toml"))
        .stderr(fs::File::create(root.join("log")).unwrap())
        .spawn()
        .unwrap();
    let said = || fs::read_to_string(root.join("log")).unwrap();
    let start = Instant::now();
    while !said().contains("paused for want of room") && daemon.try_wait().unwrap().is_none() {
        assert!(
            start.elapsed() < Duration::from_mins(1),
            "it meets the limit: {}",
            said()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let ended = daemon.try_wait().unwrap();
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let why = said()
        .lines()
        .find(|line| line.contains("paused"))
        .unwrap_or_default()
        .to_owned();
    assert!(
        ended.is_none() && why.contains("state/state.db: ") && why.contains("File too large"),
        "{ended:?} {}",
        said()
    );
    assert_eq!(code(&once(root, &[])), 0);
    assert!(is_exact(root, 1), "{:?}", given(&root.join("out")).urls);
}
