//! Actions of mail and news programs on their spools while the real program watches.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::cli::{code, configure, once, program};
use super::tombstones::Scene;
use super::{SegmentContents, mbox_message, message, read_segments};
use crate::scene::{Folder, Rng, lines, program_command};

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

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
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

/// `cp inbox inbox.1; truncate -s0 inbox` below a writer that keeps its offset: the file begins with a hole.
#[test]
fn a_writer_that_keeps_its_offset_over_a_copytruncate_loses_nothing() {
    const ROUND: u64 = 20;
    for filler in [1, 500] {
        let folder = Folder::in_memory();
        let (root, inbox) = (folder.root(), folder.path("spool/inbox"));
        configure(root, "");
        let running = Running::start(root);
        let mut writer = File::create(&inbox).unwrap();
        for round in 0..4 {
            for n in 1..=ROUND {
                let message = mbox_message(ROUND * round + n, filler);
                writer.write_all(message.as_bytes()).unwrap();
            }
            until("the messages are ingested", || {
                let written = read_segments(&root.join("out")).ids.len() as u64;
                written == 2 * ROUND * (round + 1)
            });
            fs::copy(&inbox, root.join(format!("spool/inbox.{round}"))).unwrap();
            OpenOptions::new()
                .write(true)
                .truncate(true)
                .open(&inbox)
                .unwrap();
        }
        let written = running.stop(root);
        for n in 1..=4 * ROUND {
            assert_eq!(times(&written, n), [1, 1], "message {n}");
        }
    }
}

/// Written NUL bytes before more messages than are read at once.
#[test]
fn an_mbox_after_many_nul_bytes_is_read_in_chunks_and_followed() {
    let folder = Folder::in_memory();
    let (root, inbox) = (folder.root(), folder.path("spool/inbox"));
    configure(root, "");
    let mut text = vec![0; 10_000_000];
    (1..=300).for_each(|n| text.extend(mbox_message(n, 500).into_bytes()));
    fs::write(&inbox, &text).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    text.extend(mbox(301).into_bytes());
    fs::write(&inbox, &text).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    // A mail program removes a message and keeps the NUL bytes; then it removes these.
    let removed = mbox_message(150, 500).len();
    let at = 10_000_000 + (1..150).map(|n| mbox_message(n, 500).len()).sum::<usize>();
    text.drain(at..at + removed);
    text.extend(mbox(302).into_bytes());
    fs::write(&inbox, &text).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    text.drain(..10_000_000);
    text.extend(mbox(303).into_bytes());
    fs::write(&inbox, &text).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    let written = read_segments(&root.join("out"));
    for n in 1..=303 {
        assert_eq!(times(&written, n), [1, 1], "message {n}");
    }
    // NUL bytes alone are no message.
    fs::write(&inbox, vec![0; 3_000_000]).unwrap();
    let ended = once(root, &[]);
    assert_eq!(code(&ended), 0);
    assert_eq!(
        String::from_utf8_lossy(&ended.stderr)
            .matches("binary")
            .count(),
        1
    );
}

#[test]
fn an_mbox_with_cr_line_ends_is_read_message_by_message_and_may_grow() {
    let folder = Folder::in_memory();
    let (root, inbox) = (folder.root(), folder.path("spool/inbox"));
    configure(root, "");
    let mut text = String::new();
    for n in 1..=5 {
        text += &mbox(n).replace('\n', "\r");
        // The last message has not all of its lines at first.
        let begun = text.trim_end().len() - 40;
        for len in [begun, text.len()] {
            fs::write(&inbox, &text[..len]).unwrap();
            assert_eq!(code(&once(root, &[])), 0);
        }
    }
    let written = read_segments(&root.join("out"));
    for n in 1..=5 {
        assert_eq!(times(&written, n), [1, 1], "message {n}");
    }
    // All at once, each record has the id that a scan gives it.
    let folder = Folder::in_memory();
    configure(folder.root(), "");
    fs::write(folder.path("spool/inbox"), &text).unwrap();
    assert_eq!(code(&once(folder.root(), &[])), 0);
    let mut ids = read_segments(&folder.path("out")).ids;
    let scan = program_command().arg("scan").arg(&inbox).output().unwrap();
    let id = |record: &Value| record["id"].as_str().unwrap().to_owned();
    let mut expected: Vec<String> = lines(&scan.stdout).iter().map(id).collect();
    ids.sort();
    expected.sort();
    assert_eq!((ids.len(), ids), (10, expected));
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
fn an_article_that_is_written_slowly_is_written_once() {
    let folder = Folder::in_memory();
    let (root, group) = (folder.root(), folder.path("spool/comp/test"));
    configure(root, "");
    settle_after(root, "2s");
    fs::create_dir_all(&group).unwrap();
    let running = Running::start(root);
    let mut file = File::create(group.join("1")).unwrap();
    for byte in message(1, 0).as_bytes() {
        file.write_all(&[*byte]).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(file);
    until("it is ingested", || {
        read_segments(&root.join("out")).ids.len() == 2
    });
    assert_eq!(times(&running.stop(root), 1), [1, 1]);
}

/// A numbered file was taken at its first close.
#[test]
fn a_draft_that_is_saved_again_is_written_once() {
    let folder = Folder::in_memory();
    let (root, drafts) = (folder.root(), folder.path("spool/drafts"));
    configure(root, "");
    settle_after(root, "4s");
    for name in ["cur", "new", "tmp"] {
        fs::create_dir_all(folder.path("spool/md").join(name)).unwrap();
    }
    fs::create_dir_all(&drafts).unwrap();
    let running = Running::start(root);
    let pauses_ms = [2, 5, 20, 60, 150, 300];
    for (n, pause_ms) in (1..).zip(pauses_ms) {
        let (draft, aside) = (drafts.join(n.to_string()), drafts.join(format!("#{n}")));
        let saved = |text: &str| {
            if n % 2 == 0 {
                // Like an editor that replaces the file.
                fs::write(&aside, text).unwrap();
                fs::rename(&aside, &draft).unwrap();
            } else {
                fs::write(&draft, text).unwrap();
            }
            std::thread::sleep(Duration::from_millis(pause_ms));
        };
        saved(&message(n, 0));
        saved(&message(n, 0).replace("see", "have a look at"));
        saved(&message(n, 0).replace("Subject: number", "Subject: the number"));
    }
    // A message in a Maildir does not wait.
    let delivered = Instant::now();
    fs::write(folder.path("spool/md/tmp/9"), message(9, 0)).unwrap();
    fs::rename(
        folder.path("spool/md/tmp/9"),
        folder.path("spool/md/new/9.M1.h"),
    )
    .unwrap();
    until("the message in the Maildir is written", || {
        times(&read_segments(&root.join("out")), 9) == [1, 1]
    });
    assert!(
        delivered.elapsed() < Duration::from_secs(4),
        "{:?}",
        delivered.elapsed()
    );
    until("all drafts are written", || {
        read_segments(&root.join("out")).urls.len() == 2 * (pauses_ms.len() + 1)
    });
    let written = running.stop(root);
    for n in 1..=pauses_ms.len() as u64 {
        assert_eq!(times(&written, n), [1, 1], "draft {n}");
    }
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

/// The output folder in a spool through a bind mount: 86,000 records came from one message in four seconds.
#[test]
fn segments_and_sidecars_in_a_spool_are_not_read() {
    let folder = Folder::in_memory();
    let (root, spool, out) = (folder.root(), folder.path("spool"), folder.path("out"));
    configure(root, "");
    fs::create_dir_all(spool.join("mail")).unwrap();
    fs::write(spool.join("mail/1"), message(1, 1)).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    let segment = fs::read(out.join("0000000001.jsonl")).unwrap();
    let copies = [
        ("0000000001.jsonl", segment.clone()),
        (
            "0000000001.jsonl.partial",
            segment[..segment.len() / 2].to_vec(),
        ),
        ("mail/7", segment.clone()),
        ("edited", [b"\xEF\xBB\xBF\r\n", &segment[..]].concat()),
        (
            "0000000001.jsonl.zst",
            zstd::encode_all(&segment[..], 3).unwrap(),
        ),
        ("0000000001.jsonl.gz", gzip(&segment)),
        (
            "0000000001.meta",
            fs::read(out.join("0000000001.meta")).unwrap(),
        ),
    ];
    for (name, bytes) in &copies {
        fs::write(spool.join(name), bytes).unwrap();
    }
    let output = once(root, &[]);
    assert_eq!(code(&output), 0);
    assert_eq!(
        read_segments(&out).ids.len(),
        2,
        "only those of the message"
    );
    let log = String::from_utf8(output.stderr).unwrap();
    // One of each folder, and each compressed file.
    assert_eq!(log.matches("skipped: own-output").count(), 4, "{log}");
    // A text that only begins like a record is read, and so is mail about records.
    fs::write(
        spool.join("notes"),
        "{\"id\":1} http://h.example/2-a.html\n",
    )
    .unwrap();
    let quoted = format!("Subject: x\n\n{}", String::from_utf8(segment).unwrap());
    fs::write(spool.join("mail/8"), quoted).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    let written = read_segments(&out);
    assert!(
        times(&written, 2)[0] == 1 && 2 <= times(&written, 1)[0],
        "{:?}",
        written.urls
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

/// Returns how often each URL was written, and the digests of its records.
fn digests_of(root: &Path, url: &str) -> Vec<String> {
    let segments = fs::read_dir(root.join("out")).unwrap();
    let mut digests = Vec::new();
    for path in segments.map(|entry| entry.unwrap().path()) {
        if path.extension() == Some("jsonl".as_ref()) {
            for line in fs::read_to_string(path).unwrap().lines() {
                let record: serde_json::Value = serde_json::from_str(line).unwrap();
                if record["url"] == url {
                    digests.push(record["message"]["digest"].as_str().unwrap().to_owned());
                }
            }
        }
    }
    digests
}

/// All its URLs were written again.
#[test]
fn a_file_of_one_message_that_grows_gives_its_new_urls() {
    let folder = Folder::in_memory();
    let (root, spool) = (folder.root(), folder.path("spool"));
    configure(root, "");
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let config = config
        .replace("[state]", "tombstones = true\n[state]")
        .replace("[watch]", "[watch]\ngone_after = \"1s\"");
    fs::write(root.join("c.toml"), config).unwrap();
    fs::create_dir_all(spool.join("mh")).unwrap();
    fs::create_dir_all(spool.join("comp/test")).unwrap();
    let news = |n| message(n, 1).replace("Subject:", "Newsgroups: comp.test\nSubject:");
    let files = [
        ("letter.eml", message(1, 1)),
        ("mh/1", message(2, 1)),
        ("comp/test/1", news(3)),
        ("mh/2", message(4, 1)),
    ];
    let write = |more: &str| {
        for (name, text) in &files {
            let aside = spool.join("#aside");
            if *name == "mh/2" {
                // An editor that replaces the file.
                fs::write(&aside, format!("{text}{more}")).unwrap();
                fs::rename(&aside, spool.join(name)).unwrap();
            } else {
                fs::write(spool.join(name), format!("{text}{more}")).unwrap();
            }
        }
    };
    let more = [
        "",
        "and http://h.example/more-a.html\n",
        "and http://h.example/more-a.html\nhttp://h.example/more-b.html\n",
    ];
    for (step, more) in more.into_iter().enumerate() {
        write(more);
        let args: &[&str] = if step == 2 { &["--rebuild-state"] } else { &[] };
        assert_eq!(code(&once(root, args)), 0);
        assert_eq!(code(&once(root, &[])), 0, "a second time");
    }
    let written = read_segments(&root.join("out"));
    for n in 1..=4 {
        assert_eq!(times(&written, n), [1, 1], "{:?}", written.urls);
    }
    for url in [
        "http://h.example/more-a.html",
        "http://h.example/more-b.html",
    ] {
        assert_eq!(written.urls.get(url), Some(&4), "{:?}", written.urls);
    }
    // The line of the gone message names all digests.
    let url = |part: &str| format!("http://h.example/2-{part}.html");
    let mh: Vec<String> = digests_of(root, &url("a"));
    fs::remove_file(spool.join("mh/1")).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    let segments = fs::read_dir(root.join("out")).unwrap();
    let gone: Vec<serde_json::Value> = segments
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension() == Some("jsonl".as_ref()))
        .flat_map(|path| {
            let text = fs::read_to_string(path).unwrap();
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines
        })
        .map(|line| serde_json::from_str(&line).unwrap())
        .filter(|line: &serde_json::Value| line["type"] == "gone")
        .collect();
    assert_eq!(gone.len(), 1, "{gone:?}");
    let digests = gone[0]["digests"].as_array().unwrap();
    assert_eq!(digests.len(), 3, "{gone:?}");
    assert!(
        mh.len() == 1 && digests.contains(&mh[0].clone().into()),
        "{gone:?} {mh:?}"
    );
}

/// What is edited is another message, and a message that is gone is written again if it comes back and grows.
#[test]
fn an_edited_message_is_written_as_a_whole() {
    let folder = Folder::in_memory();
    let (root, spool) = (folder.root(), folder.path("spool"));
    configure(root, "");
    fs::create_dir_all(spool.join("mh")).unwrap();
    fs::write(spool.join("mh/1"), message(1, 1)).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    fs::write(
        spool.join("mh/1"),
        message(1, 1).replace("see", "have a look at") + "more\n",
    )
    .unwrap();
    fs::write(
        spool.join("mh/2"),
        message(1, 1) + "http://h.example/2-a.html\n",
    )
    .unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    // Another file that begins like the first one is another message.
    assert_eq!(times(&read_segments(&root.join("out")), 1), [3, 3]);
}

/// The change was not noticed, because the start and the last message were the same.
#[test]
fn an_mbox_written_again_with_an_equal_size_is_read_again() {
    let folder = Folder::in_memory();
    let (root, inbox) = (folder.root(), folder.path("spool/inbox"));
    configure(root, "");
    let text: String = (100..150).map(mbox).collect();
    fs::write(&inbox, &text).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    fs::write(&inbox, text.replace("/120-", "/220-")).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    let written = read_segments(&root.join("out"));
    assert_eq!(
        (times(&written, 220), times(&written, 120)),
        ([1, 1], [1, 1])
    );
    assert_eq!(
        written.urls.len(),
        2 * 51,
        "the others are not written again"
    );
}

/// Stores a message in another form.
type Storage = fn(String) -> String;

/// All its URLs were written again.
#[test]
fn a_file_of_one_message_that_grows_and_is_stored_otherwise_gives_its_new_urls() {
    let more = "and http://h.example/more-a.html\n";
    let stored: [(&str, Storage); 4] = [
        ("annotated", |text| {
            format!("X-UIDL: 12\nStatus: RO\nX-Keywords: a, b\n{text}")
        }),
        ("with CRLF", |text| text.replace('\n', "\r\n")),
        ("after NULs", |text| "\0".repeat(700) + &text),
        ("with blank lines", |text| text + "\n\n\n"),
    ];
    for (name, store) in stored {
        let folder = Folder::in_memory();
        let (root, spool) = (folder.root(), folder.path("spool"));
        configure(root, "");
        fs::create_dir_all(spool.join("mh")).unwrap();
        let text = message(1, 1);
        // There and back: the stored form may be the earlier or the later one.
        for (path, texts) in [
            ("mh/1", [text.clone(), store(text.clone() + more)]),
            ("mh/2", [store(text.clone()), text.clone() + more]),
        ] {
            let text =
                |text: &String| text.replace("h.example", &format!("{}.example", &path[3..]));
            for version in texts {
                fs::write(spool.join(path), text(&version)).unwrap();
                assert_eq!(code(&once(root, &[])), 0);
            }
        }
        let written = read_segments(&root.join("out"));
        assert_eq!(written.urls.len(), 6, "{name}: {:?}", written.urls);
        assert!(
            written.urls.values().all(|&times| times == 1),
            "{name}: {:?}",
            written.urls
        );
    }
}

/// Its earlier version stays under the name of a backup.
#[test]
fn a_file_of_one_message_that_an_editor_keeps_a_backup_of_gives_its_new_urls() {
    let folder = Folder::in_memory();
    let (root, spool) = (folder.root(), folder.path("spool"));
    configure(root, "dedupe = \"spool\"\n");
    fs::create_dir_all(spool.join("mh")).unwrap();
    fs::write(spool.join("mh/1"), message(1, 1)).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    // The backup is a mailbox of its own, but the spool is the same.
    fs::rename(spool.join("mh/1"), spool.join("mh/1~")).unwrap();
    fs::write(
        spool.join("mh/1"),
        message(1, 1) + "http://h.example/2-a.html\n",
    )
    .unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    let written = read_segments(&root.join("out"));
    assert_eq!((times(&written, 1), times(&written, 2)), ([1, 1], [1, 0]));
}

/// Its changes were only noticed by the next full scan, because the kernel's reports have absolute paths.
#[test]
fn a_spool_with_a_relative_path_is_watched() {
    let folder = Folder::in_memory();
    let root = folder.root();
    configure(root, "");
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let config = config
        .replace(
            &format!("path = \"{}/spool\"", root.display()),
            "path = \"spool\"",
        )
        .replace("[watch]", "[watch]\nsweep = \"1h\"");
    assert!(config.contains("\"spool\""), "{config}");
    fs::write(root.join("c.toml"), config).unwrap();
    let mut command = program(root, &["watch"]);
    command
        .current_dir(root)
        .stderr(File::create(root.join("log")).unwrap());
    let running = Running {
        child: command.spawn().unwrap(),
    };
    until("the daemon has scanned", || {
        let output = program(root, &["status"]).output().unwrap();
        let status: Result<Value, _> = serde_json::from_slice(&output.stdout);
        status.is_ok_and(|status| {
            status["counts"]["sweeps"].as_u64() > Some(0) && status["queue"] == 0
        })
    });
    fs::write(root.join("spool/inbox"), mbox(1)).unwrap();
    let written = || times(&read_segments(&root.join("out")), 1) == [1, 1];
    until("its mail is written", written);
    running.stop(root);
}

/// Writes over a file in place, and sets its modification time back.
fn overwrite(scene: &Scene, name: &str, text: &str) {
    let mut file = OpenOptions::new()
        .write(true)
        .open(scene.path(name))
        .unwrap();
    let time = file.metadata().unwrap().modified().unwrap();
    assert_eq!(file.metadata().unwrap().len(), text.len() as u64);
    file.write_all(text.as_bytes()).unwrap();
    file.set_modified(time).unwrap();
}

/// Scans once more. Returns the number of files that were read.
fn files_read(scene: &mut Scene) -> Value {
    scene.scan_after(0);
    scene.scan_after(60);
    let daemon = scene.daemon.take().unwrap();
    let status = serde_json::to_value(daemon.status(scene.host.time())).unwrap();
    daemon.close().unwrap();
    status["counts"]["files_read"].clone()
}

#[test]
fn a_file_of_a_maildir_with_a_dot_is_no_message() {
    let mut scene = Scene::new();
    scene.write("md/new/.5.M1.host.Xa81kq", &message(1, 1));
    scene.write("md/cur/6.M1.host:2,S", &message(2, 1));
    scene.check(&[2], 0);
    let scan = |filter: &str| {
        let mut command = program_command();
        let output = command.args(["scan", filter]).arg(scene.path("")).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    assert_eq!(lines(scan("-q").as_bytes()).len(), 2);
    scene.rename("md/new/.5.M1.host.Xa81kq", "md/new/5.M1.host");
    let lives = scene.check(&[1, 2], 0);
    assert_eq!(lives.times_written(1), 1);
}

#[test]
fn a_file_of_a_maildir_that_is_replaced_with_equal_size_is_read_again() {
    for tombstones in [false, true] {
        let mut scene = Scene::new();
        scene.config.output.tombstones = tombstones;
        let gone = |count: usize| if tombstones { count } else { 0 };
        // Without tombstones the earlier ones are not gone.
        let present = |here: [u64; 2]| match here {
            here if tombstones => here.to_vec(),
            [_, last] => (1..=last).collect(),
        };
        let name = "md/cur/7.M1.host:2,";
        scene.write("md/cur/6.M1.host", &message(1, 1));
        scene.write(name, &message(2, 1));
        scene.check(&[1, 2], 0);
        // Another inode with the same time.
        let time = scene.path(name).metadata().unwrap().modified().unwrap();
        scene.write("md/tmp/x", &message(3, 1));
        let file = OpenOptions::new().write(true).open(scene.path("md/tmp/x"));
        file.unwrap().set_modified(time).unwrap();
        scene.rename("md/tmp/x", name);
        scene.check(&present([1, 3]), gone(1));
        // The same inode with another time, and with the same.
        scene.write(name, &message(4, 1));
        scene.check(&present([1, 4]), gone(2));
        overwrite(&scene, name, &message(5, 1));
        scene.check(&present([1, 5]), gone(3));
        // A change of flags reads nothing, and the file is followed under its new name.
        let flagged = "md/cur/7.M1.host:2,S";
        scene.rename(name, flagged);
        assert_eq!(files_read(&mut scene), 0);
        overwrite(&scene, flagged, &message(6, 1));
        let lives = scene.check(&present([1, 6]), gone(4));
        assert!((1..=6).all(|n| lives.times_written(n) == 1), "{lives:?}");
        fs::hard_link(scene.path(flagged), scene.folder.path("link")).unwrap();
        assert_eq!(files_read(&mut scene), 1);
        let lives = scene.check(&present([1, 6]), gone(4));
        assert_eq!(lives.times_written(6), 1);
    }
}

#[test]
fn an_mbox_that_is_edited_with_equal_size_and_time_is_read_again() {
    for tombstones in [false, true] {
        let mut scene = Scene::new();
        scene.config.output.tombstones = tombstones;
        let mbox = |numbers: [u64; 3]| numbers.map(mbox).concat();
        scene.write("inbox", &mbox([1, 2, 3]));
        scene.check(&[1, 2, 3], 0);
        overwrite(&scene, "inbox", &mbox([1, 4, 3]));
        let present: &[u64] = if tombstones {
            &[1, 3, 4]
        } else {
            &[1, 2, 3, 4]
        };
        let lives = scene.check(present, usize::from(tombstones));
        assert!((1..=4).all(|n| lives.times_written(n) == 1), "{lives:?}");
        // A rename is no change.
        scene.rename("inbox", "inbox.1");
        assert_eq!(files_read(&mut scene), 0);
        overwrite(&scene, "inbox.1", &mbox([1, 4, 5]));
        assert_eq!(scene.settle().times_written(5), 1);
    }
}
