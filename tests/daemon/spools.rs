//! Actions of mail and news programs on their spools while the real program watches.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use rustix::process::Signal;
use urlspool_files::config::DedupeScope;

use super::cli::{code, configure, configured, once, program, signal};
use super::tombstones::Scene;
use super::{SegmentContents, mbox_message, message, read_segments};
use crate::containers::gzip;
use crate::scene::{Folder, wait_until};

/// A running daemon.
struct Running {
    child: Child,
}

impl Running {
    /// Starts a daemon that writes its log to the file `log`.
    fn start(root: &Path) -> Running {
        let child = program(root, &["watch"])
            .stderr(File::create(root.join("log")).unwrap())
            .spawn()
            .unwrap();
        let running = Running { child };
        wait_until("the daemon answers", || {
            code(&program(root, &["status"]).output().unwrap()) == 0
        });
        running
    }

    /// Stops the daemon. Returns the contents of its output.
    fn stop(mut self, root: &Path) -> SegmentContents {
        signal(&self.child, Signal::TERM);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        read_segments(&root.join("out"))
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

/// Moves messages between Maildirs, MH folders and mboxes. Returns how often each URL was written.
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
fn a_moved_message_is_written_once_for_each_mailbox_or_once_for_the_spool() {
    assert_eq!(move_messages("mailbox"), [[2, 2]; 3]);
    assert_eq!(move_messages("spool"), [[1, 1]; 3]);
}

/// `cp inbox inbox.1; truncate -s0 inbox` while a writer keeps its offset, which leaves a hole.
#[test]
fn a_writer_that_keeps_its_offset_after_a_copytruncate_loses_no_message() {
    const ROUND: u64 = 20;
    for filler in [1, 500] {
        let folder = configured();
        let (root, inbox) = (folder.root(), folder.path("spool/inbox"));
        let running = Running::start(root);
        let mut writer = File::create(&inbox).unwrap();
        for round in 0..4 {
            for n in 1..=ROUND {
                let message = mbox_message(ROUND * round + n, filler);
                writer.write_all(message.as_bytes()).unwrap();
            }
            wait_until("the messages are ingested", || {
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

/// The NUL bytes are written, not a hole, and more messages follow than one read takes.
#[test]
fn an_mbox_after_many_nul_bytes_is_read_in_chunks_and_followed() {
    let folder = configured();
    let (root, inbox) = (folder.root(), folder.path("spool/inbox"));
    let mut text = vec![0; 10_000_000];
    (1..=300).for_each(|n| text.extend(mbox_message(n, 500).into_bytes()));
    fs::write(&inbox, &text).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    text.extend(mbox(301).into_bytes());
    fs::write(&inbox, &text).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    // A mail program first removes a message and keeps the NUL bytes, then removes the NUL bytes.
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
    // NUL bytes alone are not a message.
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
    let folder = configured();
    let (root, inbox) = (folder.root(), folder.path("spool/inbox"));
    let mut text = String::new();
    for n in 1..=5 {
        text += &mbox(n).replace('\n', "\r");
        // At first, the last message is incomplete.
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
}

/// Regression: a numbered file was read at its first close.
#[test]
fn a_draft_that_is_soon_saved_again_is_written_once() {
    let folder = configured();
    let (root, drafts) = (folder.root(), folder.path("spool/drafts"));
    settle_after(root, "1h");
    for name in ["cur", "new", "tmp"] {
        fs::create_dir_all(folder.path("spool/md").join(name)).unwrap();
    }
    fs::create_dir_all(&drafts).unwrap();
    let running = Running::start(root);
    let pauses_ms = [2, 5, 20, 60, 150, 200];
    for (n, pause_ms) in (1..).zip(pauses_ms) {
        let (draft, aside) = (drafts.join(n.to_string()), drafts.join(format!("#{n}")));
        let saved = |text: &str| {
            if n % 2 == 0 {
                // Replaces the file, as some editors do.
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
    // A message in a Maildir is read without delay.
    let delivered = Instant::now();
    fs::write(folder.path("spool/md/tmp/9"), message(9, 0)).unwrap();
    fs::rename(
        folder.path("spool/md/tmp/9"),
        folder.path("spool/md/new/9.M1.h"),
    )
    .unwrap();
    wait_until("the message in the Maildir is written", || {
        times(&read_segments(&root.join("out")), 9) == [1, 1]
    });
    assert!(
        delivered.elapsed() < Duration::from_secs(4),
        "{:?}",
        delivered.elapsed()
    );
    wait_until("all drafts are written", || {
        read_segments(&root.join("out")).urls.len() == 2 * (pauses_ms.len() + 1)
    });
    let written = running.stop(root);
    for n in 1..=pauses_ms.len() as u64 {
        assert_eq!(times(&written, n), [1, 1], "draft {n}");
    }
}

#[test]
fn a_message_whose_mbox_is_closed_within_it_is_written_once() {
    let folder = configured();
    let (root, inbox) = (folder.root(), folder.path("spool/inbox"));
    settle_after(root, "1h");
    let running = Running::start(root);
    let text = mbox(1);
    let middle = text.find("and ").unwrap();
    for (part, expected) in [(&text[..middle], [1, 0]), (&text[middle..], [1, 1])] {
        let mut options = OpenOptions::new();
        let mut file = options.create(true).append(true).open(&inbox).unwrap();
        file.write_all(part.as_bytes()).unwrap();
        drop(file);
        wait_until("the part is written", || {
            times(&read_segments(&root.join("out")), 1) == expected
        });
    }
    running.stop(root);
}

#[test]
fn a_cross_post_is_written_once() {
    let folder = configured();
    let (root, spool) = (folder.root(), folder.path("spool"));
    let running = Running::start(root);
    for n in 1..=20 {
        let fields = "Path: x!y\nNewsgroups: a.one,a.two,a.three,a.four\nSubject:";
        let text = message(n, 1).replace("Subject:", fields);
        let article = |group: &str| spool.join(format!("a/{group}/{n}"));
        for group in ["one", "two", "three", "four"] {
            fs::create_dir_all(article(group).parent().unwrap()).unwrap();
        }
        fs::write(article("one"), text).unwrap();
        fs::hard_link(article("one"), article("two")).unwrap();
        fs::hard_link(article("one"), article("three")).unwrap();
        symlink(article("one"), article("four")).unwrap();
    }
    wait_until("all are ingested", || {
        read_segments(&root.join("out")).urls.len() == 40
    });
    let written = running.stop(root);
    assert_eq!(written.ids.len(), 40);
}

/// Regression: with the output folder in a spool through a bind mount, one message caused 86,000
/// records in four seconds.
#[test]
fn segments_and_sidecars_in_a_spool_are_not_read() {
    let folder = configured();
    let (root, spool, out) = (folder.root(), folder.path("spool"), folder.path("out"));
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
    // Only the records of the message.
    assert_eq!(read_segments(&out).ids.len(), 2);
    let log = String::from_utf8(output.stderr).unwrap();
    // One file per folder, and each compressed file.
    assert_eq!(log.matches("skipped: own-output").count(), 4, "{log}");
    // A text that merely starts like a record is read, and so is mail about records.
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

/// A change to the stored form of a message.
type Stored = fn(String) -> String;

/// Regression: all URLs of the message were written again.
#[test]
fn a_growing_message_file_yields_only_its_new_urls() {
    const NEWS: &str = "Newsgroups: comp.test\n";
    let forms: [(&str, &str, Stored); 7] = [
        ("mh/1", "", |text| text),
        ("letter.eml", "", |text| text),
        ("comp/test/1", NEWS, |text| text),
        ("mh/1", "", |text| {
            format!("X-UIDL: 12\nStatus: RO\nX-Keywords: a, b\n{text}")
        }),
        ("mh/1", "", |text| text.replace('\n', "\r\n")),
        ("mh/1", "", |text| "\0".repeat(700) + &text),
        ("mh/1", "", |text| text + "\n\n\n"),
    ];
    for (name, head, stored) in forms {
        let text = format!("{head}{}", message(1, 1));
        let grown = format!("{text}and http://h.example/1-c.html\n");
        for texts in [
            [stored(text.clone()), grown.clone()],
            [text.clone(), stored(grown.clone())],
        ] {
            let mut scene = Scene::new();
            scene.write("other", &mbox(2));
            fs::create_dir_all(scene.path(name).parent().unwrap()).unwrap();
            for text in texts {
                scene.write(name, &text);
                scene.work();
            }
            let written = read_segments(&scene.config.output.dir).urls;
            let is_once = written.values().all(|&times| times == 1);
            assert!(written.len() == 5 && is_once, "{name}: {written:?}");
            scene.remove(name);
            assert_eq!(scene.check(&[2], 1).gone_digests, [2], "{name}");
        }
    }
}

/// An edited file is a new message, as is another file with the same start. An editor's backup in
/// the same spool is a duplicate.
#[test]
fn an_edited_message_is_written_as_a_whole_and_one_with_a_backup_is_not() {
    let grown = message(1, 1) + "http://h.example/2-a.html\n";
    let mut scene = Scene::new();
    fs::create_dir(scene.path("mh")).unwrap();
    scene.write("mh/1", &message(1, 1));
    scene.work();
    scene.write("mh/1", &message(1, 1).replace("see", "have a look at"));
    scene.write("mh/2", &grown);
    scene.work();
    assert_eq!(times(&read_segments(&scene.config.output.dir), 1), [3, 3]);
    let mut scene = Scene::new();
    scene.config.spool[0].dedupe = DedupeScope::Spool;
    fs::create_dir(scene.path("mh")).unwrap();
    scene.write("mh/1", &message(1, 1));
    scene.work();
    scene.rename("mh/1", "mh/1~");
    scene.write("mh/1", &grown);
    scene.work();
    let written = read_segments(&scene.config.output.dir);
    assert_eq!((times(&written, 1), times(&written, 2)), ([1, 1], [1, 0]));
}

/// Overwrites a file in place and restores its modification time.
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

/// Scans once more. Returns the number of files read.
pub(super) fn files_read(scene: &mut Scene) -> Value {
    scene.scan_after(0);
    scene.scan_after(60);
    let daemon = scene.daemon.take().unwrap();
    let status = serde_json::to_value(daemon.status(scene.host.time())).unwrap();
    daemon.close().unwrap();
    status["counts"]["files_read"].clone()
}

#[test]
fn a_file_of_a_maildir_that_is_replaced_with_equal_size_is_read_again() {
    for tombstones in [false, true] {
        let mut scene = Scene::new();
        scene.config.output.tombstones = tombstones;
        let gone = |count: usize| if tombstones { count } else { 0 };
        // Without tombstones, the earlier messages never become gone.
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
        // The same inode, first with another time and then with the same time.
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
        // A rename is not a change.
        scene.rename("inbox", "inbox.1");
        assert_eq!(files_read(&mut scene), 0);
        overwrite(&scene, "inbox.1", &mbox([1, 4, 5]));
        assert_eq!(scene.settle().times_written(5), 1);
    }
}
