//! Actions of mail and news programs on their spools while the real program watches.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::cli::{code, configure, once, program};
use super::{SegmentContents, mbox_message, message, read_segments};
use crate::scene::{Folder, Rng};

/// A running daemon.
struct Running {
    child: Child,
}

impl Running {
    /// Starts a daemon, which writes its log to the file `log`.
    fn start(root: &Path) -> Running {
        let child = program(root, &["watch"])
            .stderr(File::create(root.join("log")).unwrap())
            .spawn()
            .unwrap();
        let running = Running { child };
        until("the daemon answers", || {
            code(&program(root, &["status"]).output().unwrap()) == 0
        });
        running
    }

    /// Stops the daemon. Returns the contents of its output.
    fn stop(mut self, root: &Path) -> SegmentContents {
        assert!(
            Command::new("kill")
                .args(["-TERM", &self.child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        read_segments(&root.join("out"))
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

fn times(written: &SegmentContents, n: u64) -> [u32; 2] {
    ["a", "b"].map(|part| {
        written
            .urls
            .get(&format!("http://h.example/{n}-{part}.html"))
            .copied()
            .unwrap_or(0)
    })
}

fn mbox(n: u64) -> String {
    mbox_message(n, 1)
}

/// Moves messages between Maildirs, MH folders and mboxes. Returns how often each of their URLs was written.
fn move_messages(dedupe: &str) -> [[u32; 2]; 3] {
    let folder = Folder::in_memory();
    let (root, spool) = (folder.root(), folder.path("spool"));
    configure(root, &format!("dedupe = \"{dedupe}\"\n"));
    for folder in [
        "a/new", "a/cur", "a/tmp", "b/new", "b/cur", "b/tmp", "mh1", "mh2",
    ] {
        fs::create_dir_all(spool.join(folder)).unwrap();
    }
    fs::write(spool.join("a/cur/1.M1.host:2,S"), message(1, 1)).unwrap();
    fs::write(spool.join("mh1/7"), message(2, 1)).unwrap();
    fs::write(spool.join("inbox"), mbox(3) + &mbox(4)).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    fs::rename(
        spool.join("a/cur/1.M1.host:2,S"),
        spool.join("b/cur/9.M9.host:2,S"),
    )
    .unwrap();
    fs::rename(spool.join("mh1/7"), spool.join("mh2/1")).unwrap();
    fs::write(spool.join("inbox"), mbox(4)).unwrap();
    fs::write(spool.join("saved"), mbox(3)).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    let written = read_segments(&root.join("out"));
    assert_eq!(times(&written, 4), [1, 1]);
    [1, 2, 3].map(|n| times(&written, n))
}

#[test]
fn a_moved_message_is_written_once_for_each_mailbox() {
    assert_eq!(move_messages("mailbox"), [[2, 2]; 3]);
}

#[test]
fn a_moved_message_is_written_once_with_deduplication_per_spool() {
    assert_eq!(move_messages("spool"), [[1, 1]; 3]);
}

/// One file in two mailboxes: its position is that of the mailbox for which it was read last.
#[test]
fn an_mbox_with_names_in_two_mailboxes_is_written_once_for_each() {
    let folder = Folder::in_memory();
    let (root, spool) = (folder.root(), folder.path("spool"));
    configure(root, "");
    fs::create_dir_all(spool.join("a")).unwrap();
    fs::create_dir_all(spool.join("b")).unwrap();
    fs::write(spool.join("a/box"), mbox(1)).unwrap();
    fs::hard_link(spool.join("a/box"), spool.join("b/box")).unwrap();
    for n in 1..=5 {
        if 1 < n {
            let mut file = OpenOptions::new()
                .append(true)
                .open(spool.join("a/box"))
                .unwrap();
            file.write_all(mbox(n).as_bytes()).unwrap();
        }
        assert_eq!(code(&once(root, &[])), 0);
        let written = read_segments(&root.join("out"));
        for earlier in 1..=n {
            assert_eq!(times(&written, earlier), [2, 2], "message {earlier} of {n}");
        }
    }
}

/// The next rescan was always due, so that `--once` ended at its time limit.
#[test]
fn a_short_rescan_interval_does_not_keep_once_from_its_end() {
    let folder = Folder::in_memory();
    let (root, spool) = (folder.root(), folder.path("spool"));
    configure(root, "");
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let config = config.replace("[watch]\n", "[watch]\nsweep = \"1s\"\n");
    assert!(config.contains("sweep"), "{config}");
    fs::write(root.join("c.toml"), config).unwrap();
    fs::create_dir_all(&spool).unwrap();
    fs::write(spool.join("inbox"), mbox(1)).unwrap();
    let begun = Instant::now();
    assert_eq!(code(&once(root, &[])), 0);
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(times(&read_segments(&root.join("out")), 1), [1, 1]);
}

#[test]
fn an_article_is_ingested_when_its_writer_closes_it() {
    let folder = Folder::in_memory();
    let (root, group) = (folder.root(), folder.path("spool/comp/test"));
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
        read_segments(&root.join("out")).ids.is_empty(),
        "it was ingested before it was complete"
    );
    drop(file);
    // Before the settle time has passed.
    let closed = Instant::now();
    until("it is ingested", || {
        read_segments(&root.join("out")).ids.len() == 2
    });
    assert!(closed.elapsed() < Duration::from_secs(25));
    assert_eq!(times(&running.stop(root), 1), [1, 1]);
}

#[test]
fn a_cross_post_is_written_once() {
    let folder = Folder::in_memory();
    let (root, spool) = (folder.root(), folder.path("spool"));
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
    until("all are ingested", || {
        read_segments(&root.join("out")).urls.len() == 40
    });
    let written = running.stop(root);
    assert_eq!(written.ids.len(), 40);
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
fn articles_that_expire_during_a_scan_are_no_error() {
    let folder = Folder::in_memory();
    let (root, group) = (folder.root(), folder.path("spool/comp/test"));
    configure(root, "");
    fs::create_dir_all(&group).unwrap();
    for n in 1..=2_000 {
        fs::write(group.join(n.to_string()), message(n, 0)).unwrap();
    }
    let mut running = program(root, &["watch", "--once"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for n in (1..=2_000).filter(|n| n % 2 == 0) {
        fs::remove_file(group.join(n.to_string())).unwrap();
    }
    assert_eq!(running.wait().unwrap().code(), Some(0));
    let written = read_segments(&root.join("out"));
    for n in 1..=2_000 {
        let times = times(&written, n);
        assert!(
            times == [1, 1] || n % 2 == 0 && times == [0, 0],
            "{n}: {times:?}"
        );
    }
}

#[test]
fn an_mbox_that_grows_in_small_steps_gives_complete_messages() {
    let folder = Folder::in_memory();
    let root = folder.root();
    configure(root, "");
    settle_after(root, "2s");
    let running = Running::start(root);
    let mut rng = Rng::seeded(29);
    let text: String = (1..=150).map(mbox).collect();
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(root.join("spool/inbox"))
        .unwrap();
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let limit = if rng.below(3) == 0 { 4_096 } else { 64 };
        let (piece, after) = rest.split_at(1 + rng.below(limit.min(rest.len() as u64)) as usize);
        file.write_all(piece).unwrap();
        std::thread::sleep(Duration::from_millis(rng.below(20)));
        rest = after;
    }
    until("all are ingested", || {
        read_segments(&root.join("out")).urls.len() == 300
    });
    let written = running.stop(root);
    assert!(
        written.ids.len() == 300 && written.torn.is_empty(),
        "{} {:?}",
        written.ids.len(),
        written.torn
    );
}

#[test]
fn a_restored_spool_is_watched_again() {
    let folder = Folder::in_memory();
    let (root, spool) = (folder.root(), folder.path("spool"));
    configure(root, "");
    fs::create_dir_all(spool.join("mh")).unwrap();
    let running = Running::start(root);
    let deliver = |n: u64| {
        fs::write(spool.join(format!("mh/{n}")), message(n, 1)).unwrap();
        until("it is found long before the next rescan", || {
            read_segments(&root.join("out")).urls.len() as u64 == 2 * n
        });
    };
    let logged = |text: &str| {
        let log = fs::read_to_string(root.join("log")).unwrap();
        log.matches(text).count() as u64
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
        until("its absence is noticed", || logged("is missing") == n - 1);
        fs::rename(root.join("backup"), &spool).unwrap();
        until("its return is noticed", || {
            logged("is available again") == n - 1
        });
        // Found by a notification, not by the scan that begins now.
        std::thread::sleep(Duration::from_millis(500));
        deliver(n);
    }
    assert_eq!(running.stop(root).ids.len(), 8);
}
