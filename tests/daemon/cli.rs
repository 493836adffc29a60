//! Commands and exit codes of the daemon.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{mbox_message, message, read_segments};
use crate::scene::{Folder, assert_contains, program_command, wait_until};

pub(super) const PROGRAM: &str = env!("CARGO_BIN_EXE_urlspool");

/// Writes a configuration with short intervals for a spool in `root`, followed by the lines `more`.
pub(super) fn configure(root: &Path, more: &str) {
    fs::create_dir_all(root.join("spool")).unwrap();
    let root_path = root.display();
    let text = format!(
        "[output]\ndir = \"{root_path}/out\"\nseal_interval = \"300ms\"\n[state]\n\
         dir = \"{root_path}/state\"\n\
         commit_interval = \"20ms\"\n[watch]\nsettle = \"100ms\"\n[metrics]\n\
         listen = \"unix:{root_path}/m.sock\"\n\
         [[spool]]\npath = \"{root_path}/spool\"\n{more}"
    );
    fs::write(root.join("c.toml"), text).unwrap();
}

/// Creates a folder with such a configuration.
pub(super) fn configured() -> Folder {
    let folder = Folder::in_memory();
    configure(folder.root(), "");
    folder
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

/// Sends a signal to a process.
pub(super) fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
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
fn a_missing_or_older_state_is_refused_and_can_be_rebuilt() {
    let folder = configured();
    let (root, state) = (folder.root(), folder.path("state"));
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

    // A consumer has removed all segments. The copies of the sidecars in the state folder suffice.
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
    let folder = configured();
    let (root, state, out) = (folder.root(), folder.path("state"), folder.path("out"));
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
    // The whole folder is restored from a backup, or lost.
    copy(&root.join("kept"), &state);
    let older = once(root, &[]);
    assert_eq!(code(&older), 78);
    let text = String::from_utf8_lossy(&older.stderr);
    assert_contains(&text, "segment 3 was written");
    assert_contains(&text, "--rebuild-state");
    assert_eq!(read_segments(&out).ids.len(), 0);
    let rebuilt = once(root, &["--rebuild-state"]);
    assert_eq!(code(&rebuilt), 0);
    let text = String::from_utf8_lossy(&rebuilt.stderr);
    assert_contains(&text, "the sidecar of segment 2 and one more");
    // Only records known to the lost state alone are written again, under a new number.
    assert!(out.join("0000000004.jsonl").exists());
    assert_eq!(read_segments(&out).ids.len(), 4);
    consume(&out);
    fs::remove_dir_all(&state).unwrap();
    assert_eq!(code(&once(root, &[])), 78);
    assert_eq!(code(&once(root, &["--rebuild-state"])), 0);
    assert!(out.join("0000000005.jsonl").exists());
}

#[test]
fn a_running_daemon_answers_reloads_and_stops() {
    let folder = configured();
    let root = folder.root();
    assert_eq!(code(&program(root, &["status"]).output().unwrap()), 69);
    let mut daemon = program(root, &["watch"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the daemon answers", || {
        code(&program(root, &["status"]).output().unwrap()) == 0
    });
    let second = once(root, &[]);
    assert_eq!(code(&second), 75);
    assert!(String::from_utf8_lossy(&second.stderr).contains(&daemon.id().to_string()));
    deliver(root, 1);
    wait_until("the message is ingested", || {
        read_segments(&root.join("out")).ids.len() == 2
    });
    // A bad configuration is rejected, a good one applied.
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    fs::write(root.join("c.toml"), "[output]\nno_such_key = 1\n").unwrap();
    signal(&daemon, Signal::HUP);
    std::thread::sleep(Duration::from_millis(200));
    fs::create_dir_all(root.join("other")).unwrap();
    fs::write(root.join("other/1"), message(7, 1)).unwrap();
    fs::write(
        root.join("c.toml"),
        format!("{config}[[spool]]\npath = \"{}/other\"\n", root.display()),
    )
    .unwrap();
    signal(&daemon, Signal::HUP);
    wait_until("the new spool is watched", || {
        read_segments(&root.join("out")).ids.len() == 4
    });

    deliver(root, 2);
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    signal(&daemon, Signal::TERM);
    assert_eq!(daemon.wait().unwrap().code(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(read_segments(&root.join("out")).ids.len(), 6);
}

#[test]
fn a_run_waits_until_missing_messages_are_gone() {
    let folder = configured();
    let root = folder.root();
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let config = config.replace("[state]", "tombstones = true\n[state]");
    let config = config.replace("[watch]", "[watch]\ngone_after = \"2s\"");
    fs::write(root.join("c.toml"), config).unwrap();
    let inbox = root.join("spool/inbox");
    fs::write(&inbox, mbox_message(1, 1) + &mbox_message(2, 1)).unwrap();
    assert_eq!(code(&once(root, &[])), 0);
    // Rewritten in place.
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

/// A child process of a killed instance holds the lock for a moment.
#[test]
fn a_start_waits_for_the_lock_and_survives_a_hangup_meanwhile() {
    let folder = configured();
    let root = folder.root();
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
    signal(&daemon, Signal::HUP);
    drop(holder);
    let log = || fs::read_to_string(root.join("log")).unwrap();
    wait_until("it reads the configuration again", || {
        assert!(daemon.try_wait().unwrap().is_none(), "{}", log());
        log().contains("reloaded the configuration")
    });
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}

/// Writes a message with these lines into the Maildir of the spool.
fn deliver_text(root: &Path, name: &str, text: &str) {
    for folder in ["cur", "new", "tmp"] {
        fs::create_dir_all(root.join("spool/md").join(folder)).unwrap();
    }
    let mail = format!("From: a@b.example\nMessage-ID: <{name}@b.example>\n\n{text}\n");
    fs::write(root.join(format!("spool/md/new/{name}")), mail).unwrap();
}

fn urls(lines: &[u8]) -> Vec<String> {
    let lines = String::from_utf8_lossy(lines);
    let records = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    records
        .map(|record: serde_json::Value| record["url"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_configuration_filters_what_a_daemon_writes_and_what_a_scan_prints() {
    let folder = Folder::in_memory();
    let root = folder.root();
    fs::write(root.join("no"), "# known\nbad.example\n").unwrap();
    for (number, (filter, found)) in [
        ("host = [\"A.Example\"]", vec!["http://a.example/1"]),
        (
            "domain = [\"example\"]\nexclude_domains = [\"a.example\", \"ROOT/no\"]",
            vec!["http://1.2.3.example/", "http://user:p@c.example/"],
        ),
        ("hazard = [\"password\"]", vec!["http://user:p@c.example/"]),
        ("region = [\"header\"]", vec![]),
    ]
    .into_iter()
    .enumerate()
    {
        let root = root.join(number.to_string());
        let filter = filter.replace("ROOT/no", &folder.path("no").display().to_string());
        configure(&root, &format!("[extract]\n{filter}\n"));
        let text = "http://a.example/1 http://1.2.3.example/ http://user:p@c.example/ \
                    http://x.bad.example/";
        deliver_text(&root, "1", text);
        assert_eq!(code(&once(&root, &[])), 0);
        let segment = fs::read(root.join("out/0000000001.jsonl")).unwrap_or_default();
        assert_eq!(urls(&segment), found, "{filter}");
        let spool = root.join("spool").display().to_string();
        let scan = program(&root, &["scan", "-q", &spool]).output().unwrap();
        assert_eq!(urls(&scan.stdout), found, "{filter}");
    }
    let spool = root.join("0/spool").display().to_string();
    let args = ["watch", "--once", "--from-start", "--hazard", "password"];
    let mut run = program_command();
    let shown = run.args(args).args(["--defang", &spool]).output().unwrap();
    let log = String::from_utf8_lossy(&shown.stderr);
    assert!(log.contains("held back by the filters"), "{log}");
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        shown.ends_with(": hxxp://user:p[at]c[.]example/ [password]\n"),
        "{shown}"
    );
    assert_eq!(shown.lines().count(), 1);
    configure(root, "[extract]\nhost = [\"*.example\"]\n");
    let refused = once(root, &[]);
    assert_eq!(code(&refused), 2);
    assert_contains(
        &String::from_utf8_lossy(&refused.stderr),
        "extract.host: \"*.example\": write it without `*`",
    );
    configure(root, "[extract]\nexclude_domains = [\"./none\"]\n");
    assert_eq!(code(&once(root, &[])), 2);
    let ignored = ["watch", "--defang", "--stdout", &spool];
    assert_eq!(code(&program_command().args(ignored).output().unwrap()), 2);
}

#[test]
fn a_configured_daemon_prints_lines_once_and_says_what_is_missing() {
    let folder = Folder::in_memory();
    let root = folder.root();
    configure(root, "[extract]\nexclude_domains = [\"b.example\"]\n");
    deliver_text(root, "1", "http://a.example/1 http://b.example/");
    let args = ["--stdout"];
    assert_eq!(code(&once(root, &["--hazard", "mismatch"])), 2);
    let first = once(root, &args);
    assert_eq!(urls(&first.stdout), ["http://a.example/1"]);
    deliver_text(root, "2", "http://a.example/2");
    assert_eq!(urls(&once(root, &args).stdout), ["http://a.example/2"]);
    assert_eq!(urls(&once(root, &args).stdout), [""; 0]);
    fs::remove_dir_all(root.join("spool")).unwrap();
    let mut daemon = program(root, &["watch", "--stdout"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let status = || {
        let answer = program(root, &["status", "--format", "json"])
            .output()
            .unwrap()
            .stdout;
        String::from_utf8_lossy(&answer).into_owned()
    };
    wait_until("the status names the spool", || {
        status().contains("is missing, or empty although it was not")
    });
    assert!(status().contains("\"healthy\":false"));
    signal(&daemon, Signal::TERM);
    daemon.wait().unwrap();
}

#[test]
fn a_growing_message_is_not_written_twice_when_the_filter_changes() {
    let folder = Folder::in_memory();
    let root = folder.root();
    let mbox = folder.path("spool/inbox");
    let mut text = "From a@b Thu Jan  1 00:00:00 2026\nFrom: a@b.example\n\n".to_owned();
    let mut found = Vec::new();
    // A leading dot means the same domain.
    for (number, filter) in ["[\".bad.example\"]", "[\"ok.example\"]", "[]"]
        .iter()
        .enumerate()
    {
        configure(root, &format!("[extract]\nexclude_domains = {filter}\n"));
        text += &format!("http://bad.example/{number} http://ok.example/{number}\n");
        fs::write(&mbox, &text).unwrap();
        let shown = once(root, &["--stdout"]);
        assert_eq!(code(&shown), 0);
        found.extend(urls(&shown.stdout));
    }
    assert_eq!(found[0], "http://ok.example/0");
    found.sort_unstable();
    let each = ["bad", "ok"].map(|host| (0..3).map(move |n| format!("http://{host}.example/{n}")));
    assert_eq!(found, each.into_iter().flatten().collect::<Vec<_>>());
}

#[test]
fn all_urls_of_a_run_are_in_its_last_numbers() {
    let folder = Folder::in_memory();
    let root = folder.root();
    configure(
        root,
        "[extract]\nunique = \"message\"\nexclude_domains = [\"b.example\"]\n",
    );
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let textfile = root.join("metrics");
    let config = config.replace(
        "[metrics]\n",
        &format!("[metrics]\ntextfile = {textfile:?}\n"),
    );
    fs::write(root.join("c.toml"), config).unwrap();
    let archived = |url: &str| format!("http://web.archive.org/web/2002/{url}");
    let (a, b) = ("http://a.example/", "http://b.example/");
    let text = [a.to_owned(), archived(a), a.to_owned(), archived(b)].join(" ");
    deliver_text(root, "1", &text);
    let end = once(root, &["--stdout"]);
    let lines: Vec<&str> = std::str::from_utf8(&end.stdout).unwrap().lines().collect();
    let counts = ["\"count\":3", "\"count\":null", "\"count\":null"];
    assert_eq!(lines.len(), counts.len());
    for (line, count) in lines.iter().zip(counts) {
        assert!(line.contains(count), "{line}");
    }
    let log = String::from_utf8_lossy(&end.stderr);
    assert!(log.contains("records=3 filtered=1 duplicates=2"), "{log}");
    let metrics = fs::read_to_string(&textfile).unwrap();
    for line in [
        "urlspool_records_total 3\n",
        "urlspool_urls_filtered_total 1\n",
        "urlspool_urls_duplicate_total 2\n",
    ] {
        assert!(metrics.contains(line), "{line}{metrics}");
    }
    let mail = "From a@b Thu Jan  1 00:00:00 1998\nSubject: x\n\nhttp://c.example/\n\n";
    fs::write(root.join("spool/box"), mail.repeat(3)).unwrap();
    once(root, &[]);
    let metrics = fs::read_to_string(textfile).unwrap();
    for count in ["segments_sealed_total 1\n", "messages_repeated_total 2\n"] {
        assert!(metrics.contains(count), "{count}{metrics}");
    }
}

#[test]
fn a_reload_reads_a_list_of_domains_outside_the_spools_again() {
    let (folder, lists) = (Folder::in_memory(), Folder::in_memory());
    let root = folder.root();
    let list = lists.path("no");
    fs::write(&list, "a.example\n").unwrap();
    configure(root, &format!("[extract]\nexclude_domains = [{list:?}]\n"));
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let confined = config.replace("[watch]\n", "[watch]\nconfine = \"reads\"\n");
    fs::write(root.join("c.toml"), confined).unwrap();
    let log = folder.path("log");
    let mut daemon = program(root, &["watch", "--stdout"])
        .stdout(Stdio::null())
        .stderr(fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let has_logged = |line: &str| fs::read_to_string(&log).unwrap().contains(line);
    wait_until("the daemon watches", || has_logged("watching"));
    fs::write(&list, "a.example\nb.example\n").unwrap();
    signal(&daemon, Signal::HUP);
    wait_until("the list was read again", || {
        has_logged("changed the domains to exclude: 1 -> 2 names")
    });
    signal(&daemon, Signal::TERM);
    daemon.wait().unwrap();
}
