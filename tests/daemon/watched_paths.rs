//! `urlspool watch PATH...` without a configuration: lines on a terminal or a pipe, segments with
//! `-o`, records with `--stdout`.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::cli::code;
use super::{mbox_message, message, read_segments};
use crate::scene::{Folder, program_command, wait_until};

/// Creates a folder with a Maildir `md` and an mbox `box`, which hold messages 1 and 2.
fn scene() -> Folder {
    let folder = Folder::in_memory();
    for name in ["cur", "new", "tmp"] {
        fs::create_dir_all(folder.path("md").join(name)).unwrap();
    }
    fs::create_dir(folder.path("tmp")).unwrap();
    fs::write(folder.path("md/cur/1.M1.host:2,"), message(1, 1)).unwrap();
    fs::write(folder.path("box"), mbox_message(2, 1)).unwrap();
    // Mail of the last 10 ms before the start counts as new.
    std::thread::sleep(Duration::from_millis(20));
    folder
}

fn deliver(folder: &Folder, n: u64) {
    let name = format!("{n}.M1.host");
    fs::write(folder.path("md/tmp").join(&name), message(n, 1)).unwrap();
    fs::rename(
        folder.path("md/tmp").join(&name),
        folder.path("md/new").join(&name),
    )
    .unwrap();
}

fn append(folder: &Folder, n: u64) {
    let mut text = fs::read_to_string(folder.path("box")).unwrap();
    text.push_str(&mbox_message(n, 1));
    fs::write(folder.path("box"), text).unwrap();
}

/// Builds `urlspool watch` with the folder for temporary files and the default state.
fn watch(folder: &Path, args: &[&str]) -> Command {
    let mut command = program_command();
    command
        .arg("watch")
        .args(args)
        .current_dir(folder)
        .env_remove("URLSPOOL_CONFIG")
        .env("TMPDIR", folder.join("tmp"))
        .env("XDG_STATE_HOME", folder.join("xdg"));
    command
}

fn once(folder: &Folder, args: &[&str]) -> Output {
    let output = watch(folder.root(), args).arg("--once").output().unwrap();
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A running `watch` whose lines are read as they arrive.
struct Watching {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Watching {
    /// Starts `watch`, and waits until it has noted the existing mail.
    fn start(folder: &Folder, args: &[&str]) -> Watching {
        let mut child = watch(folder.root(), args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        // The only sign is the temporary state, so wait for that and a little longer.
        let begun = Instant::now();
        while fs::read_dir(folder.path("tmp")).unwrap().count() == 0 {
            assert!(begun.elapsed() < Duration::from_secs(30));
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_secs(1));
        Watching { child, lines }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the end, and returns the exit status and the remaining lines.
    fn end(mut self) -> (i32, String) {
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        let status = self.child.wait().unwrap();
        (status.code().or(status.signal()).unwrap(), rest)
    }
}

/// A message delivered while the program still reads the names of existing files is new.
#[test]
fn mail_that_arrives_right_after_the_first_line_is_shown() {
    let folder = scene();
    for n in 10..2_000 {
        let name = format!("md/cur/{n}.M1.host:2,");
        fs::write(folder.path(&name), message(n, 1)).unwrap();
    }
    std::thread::sleep(Duration::from_millis(20));
    let mut child = watch(folder.root(), &["md"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut greeting = String::new();
    let mut messages = BufReader::new(child.stderr.take().unwrap());
    messages.read_line(&mut greeting).unwrap();
    assert!(
        greeting.contains("before the first start is skipped"),
        "{greeting}"
    );
    deliver(&folder, 3);
    let lines = BufReader::new(child.stdout.take().unwrap());
    let mut watching = Watching { child, lines };
    assert!(watching.line().ends_with(": http://h.example/3-a.html\n"));
    watching.signal(Signal::TERM);
    watching.end();
}

#[test]
fn new_mail_is_shown_as_it_arrives_and_no_file_is_kept() {
    let folder = scene();
    let mut watching = Watching::start(&folder, &["md", "box"]);
    deliver(&folder, 3);
    let md = folder.path("md/new/3.M1.host").display().to_string();
    let start = message(3, 1).find("http").unwrap();
    assert_eq!(
        watching.line(),
        format!("{md}:{start}: http://h.example/3-a.html\n")
    );
    assert!(watching.line().ends_with(": http://h.example/3-b.html\n"));
    // A read and thus renamed message is not new, nor are messages before an appended one.
    fs::rename(
        folder.path("md/cur/1.M1.host:2,"),
        folder.path("md/cur/1.M1.host:2,S"),
    )
    .unwrap();
    append(&folder, 4);
    assert!(watching.line().ends_with(": http://h.example/4-a.html\n"));
    assert!(watching.line().ends_with(": http://h.example/4-b.html\n"));
    watching.signal(Signal::INT);
    assert_eq!(watching.end(), (130, String::new()));
    assert_eq!(fs::read_dir(folder.path("tmp")).unwrap().count(), 0);
    assert!(!folder.path("xdg").exists());
}

#[test]
fn sigterm_and_a_reader_that_ends_are_normal_ends() {
    let folder = scene();
    let watching = Watching::start(&folder, &["md"]);
    watching.signal(Signal::TERM);
    assert_eq!(watching.end(), (0, String::new()));
    // The reader ends while no mail arrives.
    let Watching { mut child, lines } = Watching::start(&folder, &["md"]);
    drop(lines);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(fs::read_dir(folder.path("tmp")).unwrap().count(), 0);
}

#[test]
fn segments_hold_the_mail_since_the_first_start() {
    let folder = scene();
    let args = ["-o", "urls", "md", "box"];
    once(&folder, &args);
    // Mail delivered between two runs, some of it into an existing mailbox.
    deliver(&folder, 3);
    append(&folder, 4);
    once(&folder, &args);
    once(&folder, &args);
    let urls = read_segments(&folder.path("urls")).urls;
    let expected =
        [3, 4].map(|n| ["a", "b"].map(|part| format!("http://h.example/{n}-{part}.html")));
    let expected: Vec<(String, u32)> = expected.into_iter().flatten().map(|url| (url, 1)).collect();
    assert_eq!(urls.into_iter().collect::<Vec<_>>(), expected);
    assert!(folder.path("urls/.state/state.db").exists());
}

/// A run that was killed before it had read all existing mail notes that mail again.
#[test]
fn mail_that_was_there_is_not_new_after_a_kill() {
    let folder = scene();
    for n in 10..600 {
        deliver(&folder, n);
    }
    let mut child = watch(folder.root(), &["-o", "urls", "md"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let state = folder.path("urls/.state/state.db");
    wait_until("the state exists", || state.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    once(&folder, &["-o", "urls", "md"]);
    deliver(&folder, 3);
    once(&folder, &["-o", "urls", "md"]);
    assert_eq!(read_segments(&folder.path("urls")).urls.len(), 2);
}

#[test]
fn records_on_standard_output_are_printed_until_they_were_read() {
    let folder = scene();
    fs::create_dir(folder.path("other")).unwrap();
    let args = ["--stdout", "--from-start", "md", "other"];
    let urls = |bytes: &[u8]| -> Vec<String> {
        let url = |line: &str| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            record["url"].as_str().unwrap().to_owned()
        };
        text(bytes).lines().map(url).collect()
    };
    // The reader ends before it has read anything, so nothing is committed.
    let mut child = watch(folder.root(), &args)
        .arg("--once")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    // Regression: without space, the lines were printed again every two seconds, without an end.
    let full = File::options().write(true).open("/dev/full").unwrap();
    let ended = watch(folder.root(), &args)
        .arg("--once")
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(code(&ended), 74);
    let message = text(&ended.stderr);
    assert!(
        message.contains("cannot write standard output: No space"),
        "{message}"
    );
    assert_eq!(urls(&once(&folder, &args).stdout).len(), 2);
    assert_eq!(urls(&once(&folder, &args).stdout).len(), 0);
    deliver(&folder, 3);
    assert_eq!(urls(&once(&folder, &args).stdout).len(), 2);
    // Without the option, the state continues. The order of the paths does not matter.
    deliver(&folder, 4);
    assert_eq!(
        urls(&once(&folder, &["other", "md", "--stdout"]).stdout).len(),
        2
    );
    assert_eq!(
        fs::read_dir(folder.path("xdg/urlspool")).unwrap().count(),
        1
    );
}

#[test]
fn paths_that_cannot_be_watched_are_refused_with_a_way_out() {
    let folder = scene();
    fs::write(folder.path("c.toml"), "").unwrap();
    let check = |args: &[&str], message: &str| {
        let output = watch(folder.root(), args).output().unwrap();
        let stderr = text(&output.stderr);
        assert_eq!(code(&output), 2, "{args:?}: {stderr}");
        assert!(stderr.contains(message), "{args:?}: {stderr}");
    };
    check(
        &["nowhere"],
        "cannot watch nowhere: there is no such file or folder; name a mailbox",
    );
    check(&["-"], "`tail -F mbox | urlspool scan -`");
    check(&["/dev/null"], "neither a file nor a folder");
    check(&["c.toml"], "it is a configuration; pass it with --config");
    check(
        &["-o", "md/urls", "md"],
        "-o md/urls: it is inside md, which is watched",
    );
    check(
        &["-o", "urls", "-o", "md", "md"],
        "cannot be used multiple times",
    );
    check(&["-o", ".", "md"], "it contains md, which is watched");
    check(&["-o", "box", "md"], "it is not a folder");
    check(&["-o", "urls", "--stdout", "md"], "cannot be used with");
    check(&["--config", "c.toml", "md"], "cannot be used with");
    check(&["--from-start", "--config", "c.toml"], "PATH");
    check(&[], "urlspool watch ~/Maildir");
}
