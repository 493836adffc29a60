//! Commands and exit codes of the daemon.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::{mbox_message, message, read_segments};
use crate::scene::{Folder, program_command};

pub(super) const PROGRAM: &str = env!("CARGO_BIN_EXE_urlspool");

/// Writes a configuration for a spool in `root`, with short intervals, and the lines `more`.
pub(super) fn configure(root: &Path, more: &str) {
    fs::create_dir_all(root.join("spool")).unwrap();
    let root_path = root.display();
    let text = format!(
        "[output]\ndir = \"{root_path}/out\"\nseal_interval = \"300ms\"\n[state]\ndir = \"{root_path}/state\"\n\
         commit_interval = \"20ms\"\n[watch]\nsettle = \"100ms\"\n[metrics]\nlisten = \"unix:{root_path}/m.sock\"\n\
         [[spool]]\npath = \"{root_path}/spool\"\n{more}"
    );
    fs::write(root.join("c.toml"), text).unwrap();
}

pub(super) fn program(root: &Path, args: &[&str]) -> Command {
    let mut command = program_command();
    command.args(args).arg("--config").arg(root.join("c.toml"));
    command
}

pub(super) fn once(root: &Path, args: &[&str]) -> Output {
    program(root, &[&["watch", "--once"], args].concat())
        .output()
        .unwrap()
}

pub(super) fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn deliver(root: &Path, n: u64) {
    for folder in ["cur", "new", "tmp"] {
        fs::create_dir_all(root.join("spool/md").join(folder)).unwrap();
    }
    fs::write(
        root.join(format!("spool/md/new/{n}.M1.host")),
        message(n, 1),
    )
    .unwrap();
}

#[test]
fn watch_and_scan_give_large_texts_and_messages_the_same_ids() {
    let folder = Folder::in_memory();
    configure(folder.root(), "[limits]\nmessage_bytes = \"3MiB\"\n");
    let line = "some words of no interest at all, to fill the line\n".repeat(100);
    let text: String = (0..1_000)
        .map(|n| format!("{line}see http://t.example/{n} there\n"))
        .collect();
    let mail = format!("From: a@b.example\nSubject: large\n\n{text}");
    fs::write(folder.path("spool/a.txt"), &text).unwrap();
    fs::write(folder.path("spool/small.txt"), &text[..2_900_000]).unwrap();
    fs::write(folder.path("spool/b.eml"), &mail).unwrap();
    fs::write(folder.path("spool/small.eml"), &mail[..2_900_000]).unwrap();
    fs::write(
        folder.path("spool/inbox"),
        format!("From a@b Mon Jan  1 00:00:00 1996\n{mail}"),
    )
    .unwrap();
    assert_eq!(code(&once(folder.root(), &[])), 0);
    let scan = program_command()
        .args(["scan", "-q", "--limit", "message_bytes=3MiB"])
        .arg(folder.path("spool"))
        .output()
        .unwrap();
    let id = |line: &str| {
        let record: serde_json::Value = line.parse().unwrap();
        record["id"].as_str().unwrap().to_owned()
    };
    let mut expected: Vec<String> = str::from_utf8(&scan.stdout)
        .unwrap()
        .lines()
        .map(id)
        .collect();
    let mut ids = read_segments(&folder.path("out")).ids;
    expected.sort();
    ids.sort();
    assert_eq!((ids.len(), ids == expected), (expected.len(), true));
}

#[test]
fn watch_and_scan_find_the_same_records() {
    let folder = Folder::in_memory();
    configure(folder.root(), "");
    let spool = folder.path("spool");
    let copied = Command::new("cp")
        .args(["-r", "corpus/mail", "corpus/news", "corpus/text"])
        .arg(&spool)
        .status();
    assert!(copied.unwrap().success());
    assert_eq!(code(&once(folder.root(), &[])), 0);
    let scan = program_command().arg("scan").arg(&spool).output().unwrap();
    let id = |line: &str| {
        serde_json::from_str::<serde_json::Value>(line).unwrap()["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let mut expected: Vec<String> = String::from_utf8(scan.stdout)
        .unwrap()
        .lines()
        .map(id)
        .collect();
    expected.sort();
    expected.dedup();
    let mut ids = read_segments(&folder.path("out")).ids;
    ids.sort();
    ids.dedup();
    assert!(
        expected.len() > 100 && ids == expected,
        "{} {}",
        ids.len(),
        expected.len()
    );
}

#[test]
fn a_missing_or_older_state_is_refused_and_can_be_rebuilt() {
    let folder = Folder::in_memory();
    let (root, state) = (folder.root(), folder.path("state"));
    configure(root, "");
    deliver(root, 1);
    assert_eq!(code(&once(root, &[])), 0);
    let kept = root.join("kept");
    assert!(
        Command::new("cp")
            .arg("-r")
            .arg(&state)
            .arg(&kept)
            .status()
            .unwrap()
            .success()
    );
    deliver(root, 2);
    assert_eq!(code(&once(root, &[])), 0);

    fs::write(state.join("state.db"), "").unwrap();
    assert_eq!(code(&once(root, &[])), 78, "emptied");
    fs::remove_file(state.join("state.db")).unwrap();
    assert_eq!(code(&once(root, &[])), 78, "removed");
    fs::copy(kept.join("state.db"), state.join("state.db")).unwrap();
    let older = once(root, &[]);
    assert_eq!(code(&older), 78, "older");
    assert!(String::from_utf8_lossy(&older.stderr).contains("--rebuild-state"));

    // A consumer has removed all segments: the copies of the sidecars in the state folder suffice.
    let before = read_segments(&root.join("out")).ids.len();
    assert_eq!(before, 4);
    for entry in fs::read_dir(root.join("out")).unwrap() {
        let _ = fs::remove_file(entry.unwrap().path());
    }
    assert_eq!(code(&once(root, &["--rebuild-state"])), 0);
    assert_eq!(read_segments(&root.join("out")).ids.len(), 0);
    deliver(root, 3);
    assert_eq!(code(&once(root, &[])), 0);
    assert_eq!(read_segments(&root.join("out")).ids.len(), 2);
}

/// Removes the segments and their sidecars, as a consumer does.
fn consume(out: &Path) {
    for entry in fs::read_dir(out).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some() {
            fs::remove_file(path).unwrap();
        }
    }
}

#[test]
fn an_output_whose_segments_were_removed_notices_an_older_state() {
    let folder = Folder::in_memory();
    let (root, state, out) = (folder.root(), folder.path("state"), folder.path("out"));
    configure(root, "");
    let copy = |from: &Path, to: &Path| {
        let _ = fs::remove_dir_all(to);
        let copied = Command::new("cp").arg("-r").arg(from).arg(to).status();
        assert!(copied.unwrap().success());
    };
    deliver(root, 1);
    assert_eq!(code(&once(root, &[])), 0);
    consume(&out);
    copy(&state, &root.join("kept"));
    for n in [2, 3] {
        deliver(root, n);
        assert_eq!(code(&once(root, &[])), 0);
        consume(&out);
    }
    // The whole folder comes back from a backup, or is lost.
    copy(&root.join("kept"), &state);
    let older = once(root, &[]);
    assert_eq!(code(&older), 78);
    let text = String::from_utf8_lossy(&older.stderr);
    assert!(
        text.contains("segment 3 was written") && text.contains("--rebuild-state"),
        "{text}"
    );
    assert_eq!(read_segments(&out).ids.len(), 0);
    let rebuilt = once(root, &["--rebuild-state"]);
    assert_eq!(code(&rebuilt), 0);
    let text = String::from_utf8_lossy(&rebuilt.stderr);
    assert!(
        text.contains("the sidecar of segment 2 and one more"),
        "{text}"
    );
    // Only what the lost state alone knew is written again, under a new number.
    assert!(out.join("0000000004.jsonl").exists());
    assert_eq!(read_segments(&out).ids.len(), 4);
    consume(&out);
    fs::remove_dir_all(&state).unwrap();
    assert_eq!(code(&once(root, &[])), 78);
    assert_eq!(code(&once(root, &["--rebuild-state"])), 0);
    assert!(out.join("0000000005.jsonl").exists());
}

#[test]
fn a_rotated_and_compressed_mailbox_gives_no_duplicates() {
    let folder = Folder::in_memory();
    let (root, spool) = (folder.root(), folder.path("spool"));
    configure(root, "");
    let mbox = |n: u64| mbox_message(n, 1);
    fs::write(spool.join("inbox.1"), mbox(1) + &mbox(2)).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    assert!(
        Command::new("gzip")
            .arg(spool.join("inbox.1"))
            .status()
            .unwrap()
            .success()
    );
    fs::write(spool.join("inbox"), mbox(3)).unwrap();
    fs::write(spool.join("old"), mbox(4)).unwrap();
    assert!(
        Command::new("gzip")
            .arg(spool.join("old"))
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(code(&once(root, &[])), 0);
    let written = read_segments(&root.join("out"));
    assert!(
        written.urls.len() == 8 && written.ids.len() == 8,
        "{:?}",
        written.urls
    );
}

#[test]
fn an_output_folder_inside_a_spool_is_refused() {
    let folder = Folder::in_memory();
    configure(folder.root(), "");
    let config = fs::read_to_string(folder.path("c.toml")).unwrap();
    fs::write(
        folder.path("c.toml"),
        config.replace("/out\"", "/spool/out\""),
    )
    .unwrap();
    let output = once(folder.root(), &[]);
    assert_eq!(code(&output), 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("output.dir"));
}

#[test]
fn a_running_daemon_answers_reloads_and_stops() {
    let folder = Folder::in_memory();
    let root = folder.root();
    configure(root, "");
    assert_eq!(code(&program(root, &["status"]).output().unwrap()), 69);
    let mut daemon = program(root, &["watch"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = |what: &str, holds: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !holds() {
            assert!(start.elapsed() < Duration::from_secs(20), "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    until("the daemon answers", &|| {
        code(&program(root, &["status"]).output().unwrap()) == 0
    });
    let second = once(root, &[]);
    assert_eq!(code(&second), 75);
    assert!(String::from_utf8_lossy(&second.stderr).contains(&daemon.id().to_string()));
    deliver(root, 1);
    until("the message is ingested", &|| {
        read_segments(&root.join("out")).ids.len() == 2
    });
    let health = Command::new("python3")
        .args(["-c", "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.send(b'GET /healthz HTTP/1.1\\r\\n\\r\\n'); print(s.recv(999).decode())"])
        .arg(root.join("m.sock"))
        .output();
    assert!(String::from_utf8_lossy(&health.unwrap().stdout).contains("200 OK"));

    // A bad configuration is rejected; a good one is applied.
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let hang_up = || {
        assert!(
            Command::new("kill")
                .args(["-HUP", &daemon.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
    };
    fs::write(root.join("c.toml"), "[output]\nno_such_key = 1\n").unwrap();
    hang_up();
    std::thread::sleep(Duration::from_millis(200));
    fs::create_dir_all(root.join("other")).unwrap();
    fs::write(root.join("other/1"), message(7, 1)).unwrap();
    fs::write(
        root.join("c.toml"),
        format!("{config}[[spool]]\npath = \"{}/other\"\n", root.display()),
    )
    .unwrap();
    hang_up();
    until("the new spool is watched", &|| {
        read_segments(&root.join("out")).ids.len() == 4
    });

    deliver(root, 2);
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    assert!(
        Command::new("kill")
            .args(["-TERM", &daemon.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(daemon.wait().unwrap().code(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(read_segments(&root.join("out")).ids.len(), 6);
}

#[test]
fn the_first_run_with_tombstones_does_not_wait_and_a_later_one_does() {
    let folder = Folder::in_memory();
    let root = folder.root();
    configure(root, "");
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let with = |watch: &str| {
        let config = config.replace("[state]", "tombstones = true\n[state]");
        let config = config.replace("[watch]", &format!("[watch]{watch}"));
        fs::write(root.join("c.toml"), config).unwrap();
    };
    with("");
    let inbox = root.join("spool/inbox");
    fs::write(&inbox, mbox_message(1, 1) + &mbox_message(2, 1)).unwrap();
    let begun = Instant::now();
    assert_eq!(code(&once(root, &[])), 0);
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
    // Rewritten in place.
    with("\ngone_after = \"2s\"");
    fs::write(&inbox, mbox_message(2, 1)).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    let segments = fs::read_dir(root.join("out")).unwrap();
    let lines: String = segments
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension() == Some("jsonl".as_ref()))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert_eq!(lines.matches("\"type\":\"gone\"").count(), 1);
}

/// A child of an instance that was killed holds the lock for a moment.
#[test]
fn a_start_waits_for_the_lock_and_survives_a_hangup_meanwhile() {
    let folder = Folder::in_memory();
    let root = folder.root();
    configure(root, "");
    fs::create_dir(root.join("state")).unwrap();
    let holder = fs::File::create(root.join("state/lock")).unwrap();
    holder.lock().unwrap();
    let start = Instant::now();
    assert_eq!(code(&once(root, &[])), 75);
    assert!(Duration::from_secs(2) <= start.elapsed());
    let mut daemon = program(root, &["watch"])
        .stderr(fs::File::create(root.join("log")).unwrap())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let hang_up = Command::new("kill")
        .args(["-HUP", &daemon.id().to_string()])
        .status();
    assert!(hang_up.unwrap().success());
    drop(holder);
    let log = || fs::read_to_string(root.join("log")).unwrap();
    let start = Instant::now();
    while !log().contains("read the configuration again") {
        let ended = daemon.try_wait().unwrap();
        assert!(
            ended.is_none() && start.elapsed() < Duration::from_secs(30),
            "{ended:?} {}",
            log()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}
