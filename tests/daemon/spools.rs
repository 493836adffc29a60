//! What programs do to mailboxes and news spools while the real program watches.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::cli::{code, configure, once, program};
use super::{Dice, Given, Place, given, message};

/// A running daemon.
struct Running {
    child: Child,
}

impl Running {
    fn start(root: &Path) -> Running {
        let child = program(root, &["watch"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let running = Running { child };
        until("it answers", || {
            code(&program(root, &["status"]).output().unwrap()) == 0
        });
        running
    }

    /// Ends it, and gives what it gave.
    fn end(mut self, root: &Path) -> Given {
        assert!(
            Command::new("kill")
                .args(["-TERM", &self.child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        given(&root.join("out"))
    }
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_mins(1), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn settle_after(root: &Path, time: &str) {
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    fs::write(
        root.join("c.toml"),
        config.replace("settle = \"100ms\"", &format!("settle = \"{time}\"")),
    )
    .unwrap();
}

fn times(given: &Given, n: u64) -> [u32; 2] {
    ["a", "b"].map(|part| {
        given
            .urls
            .get(&format!("http://h.example/{n}-{part}.html"))
            .copied()
            .unwrap_or(0)
    })
}

fn letter(n: u64) -> String {
    format!("From a@b Mon Jan  1 00:00:00 1996\n{}\n", message(n, 1))
}

/// Moves messages between Maildirs, MH folders and mboxes, and gives how often they were given.
fn moved(name: &str, dedupe: &str) -> [[u32; 2]; 3] {
    let place = Place::new(name);
    let (root, spool) = (place.path(), place.path().join("spool"));
    configure(root, &format!("dedupe = \"{dedupe}\"\n"));
    for folder in [
        "a/new", "a/cur", "a/tmp", "b/new", "b/cur", "b/tmp", "mh1", "mh2",
    ] {
        fs::create_dir_all(spool.join(folder)).unwrap();
    }
    fs::write(spool.join("a/cur/1.M1.host:2,S"), message(1, 1)).unwrap();
    fs::write(spool.join("mh1/7"), message(2, 1)).unwrap();
    fs::write(spool.join("inbox"), letter(3) + &letter(4)).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    fs::rename(
        spool.join("a/cur/1.M1.host:2,S"),
        spool.join("b/cur/9.M9.host:2,S"),
    )
    .unwrap();
    fs::rename(spool.join("mh1/7"), spool.join("mh2/1")).unwrap();
    fs::write(spool.join("inbox"), letter(4)).unwrap();
    fs::write(spool.join("saved"), letter(3)).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    let given = given(&root.join("out"));
    assert_eq!(times(&given, 4), [1, 1]);
    [1, 2, 3].map(|n| times(&given, n))
}

#[test]
fn a_message_that_is_moved_is_given_once_in_each_mailbox() {
    assert_eq!(moved("moved", "mailbox"), [[2, 2]; 3]);
}

#[test]
fn a_message_that_is_moved_is_given_once_in_a_spool_that_is_folded() {
    assert_eq!(moved("folded", "spool"), [[1, 1]; 3]);
}

#[test]
fn an_article_that_is_written_slowly_is_taken_when_its_writer_closes_it() {
    let place = Place::new("slowly");
    let (root, group) = (place.path(), place.path().join("spool/comp/test"));
    configure(root, "");
    settle_after(root, "30s");
    fs::create_dir_all(&group).unwrap();
    let running = Running::start(root);
    let mut file = File::create(group.join("1")).unwrap();
    for byte in message(1, 0).as_bytes() {
        file.write_all(&[*byte]).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(
        given(&root.join("out")).ids.is_empty(),
        "it was taken before it was whole"
    );
    drop(file);
    // Sooner than it would settle.
    let closed = Instant::now();
    until("it is taken", || given(&root.join("out")).ids.len() == 2);
    assert!(closed.elapsed() < Duration::from_secs(25));
    assert_eq!(times(&running.end(root), 1), [1, 1]);
}

#[test]
fn a_cross_post_is_given_once() {
    let place = Place::new("crossed");
    let (root, spool) = (place.path(), place.path().join("spool"));
    configure(root, "");
    let running = Running::start(root);
    for n in 1..=20 {
        let text = message(n, 1).replace(
            "Subject:",
            "Path: x!y\nNewsgroups: a.one,a.two,a.three,a.four\nSubject:",
        );
        let article = |group: &str| spool.join(format!("a/{group}/{n}"));
        for group in ["one", "two", "three", "four"] {
            fs::create_dir_all(article(group).parent().unwrap()).unwrap();
        }
        fs::write(article("one"), text).unwrap();
        fs::hard_link(article("one"), article("two")).unwrap();
        fs::hard_link(article("one"), article("three")).unwrap();
        symlink(article("one"), article("four")).unwrap();
    }
    until("all are taken", || {
        given(&root.join("out")).urls.len() == 40
    });
    let given = running.end(root);
    assert_eq!(given.ids.len(), 40);
    let record = fs::read_dir(root.join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let segment = record
        .filter(|path| path.extension() == Some("jsonl".as_ref()))
        .min()
        .unwrap();
    let first = fs::read_to_string(segment).unwrap();
    let first: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    assert_eq!(
        first["message"]["newsgroups"],
        serde_json::json!(["a.one", "a.two", "a.three", "a.four"])
    );
}

#[test]
fn articles_that_expire_meanwhile_are_no_error() {
    let place = Place::new("expire");
    let (root, group) = (place.path(), place.path().join("spool/comp/test"));
    configure(root, "");
    fs::create_dir_all(&group).unwrap();
    for n in 1..=4_000 {
        fs::write(group.join(n.to_string()), message(n, 0)).unwrap();
    }
    let mut running = program(root, &["watch", "--once"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for n in (1..=4_000).filter(|n| n % 2 == 0) {
        fs::remove_file(group.join(n.to_string())).unwrap();
    }
    assert_eq!(running.wait().unwrap().code(), Some(0));
    let given = given(&root.join("out"));
    for n in 1..=4_000 {
        let times = times(&given, n);
        assert!(
            times == [1, 1] || n % 2 == 0 && times == [0, 0],
            "{n}: {times:?}"
        );
    }
}

#[test]
fn an_mbox_that_grows_in_small_pieces_gives_each_message_whole() {
    let place = Place::new("pieces");
    let root = place.path();
    configure(root, "");
    settle_after(root, "2s");
    let running = Running::start(root);
    let mut dice = Dice(29);
    let text: String = (1..=150).map(letter).collect();
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(root.join("spool/inbox"))
        .unwrap();
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let most = if dice.below(3) == 0 { 4_096 } else { 64 };
        let (piece, after) = rest.split_at(1 + dice.below(most.min(rest.len() as u64)) as usize);
        file.write_all(piece).unwrap();
        std::thread::sleep(Duration::from_millis(dice.below(20)));
        rest = after;
    }
    until("all are taken", || {
        given(&root.join("out")).urls.len() == 300
    });
    let given = running.end(root);
    assert!(
        given.ids.len() == 300 && given.torn.is_empty(),
        "{} {:?}",
        given.ids.len(),
        given.torn
    );
}

#[test]
fn a_spool_that_was_removed_and_restored_is_watched_again() {
    let place = Place::new("restored");
    let (root, spool) = (place.path(), place.path().join("spool"));
    configure(root, "");
    fs::create_dir_all(spool.join("mh")).unwrap();
    let running = Running::start(root);
    let deliver = |n: u64| {
        fs::write(spool.join(format!("mh/{n}")), message(n, 1)).unwrap();
        until("it is found long before the next sweep", || {
            given(&root.join("out")).urls.len() as u64 == 2 * n
        });
    };
    deliver(1);
    for n in 2..5 {
        assert!(
            Command::new("cp")
                .arg("-r")
                .arg(&spool)
                .arg(root.join("backup"))
                .status()
                .unwrap()
                .success()
        );
        fs::remove_dir_all(&spool).unwrap();
        std::thread::sleep(Duration::from_millis(100 * n));
        fs::rename(root.join("backup"), &spool).unwrap();
        // Not with the first look at it, but with a notice.
        std::thread::sleep(Duration::from_secs(2));
        deliver(n);
    }
    assert_eq!(running.end(root).ids.len(), 8);
}
