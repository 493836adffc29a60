//! Partial files of interrupted scans.

use std::fs;
use std::process::{Child, ChildStdin, Stdio};

use rustix::process::Signal;

use super::super::MAIL;
use super::scan_in;
use crate::scene::{Folder, lines, unless_ignored, urlspool, wait_until};

/// Starts a scan of a long text on standard input, which stays open until the second value is
/// dropped. The single thread writes its records before it reads more input.
fn endless_scan(folder: &Folder, args: &[&str]) -> (Child, ChildStdin) {
    let mut child = urlspool(["scan"])
        .args(args)
        .current_dir(folder.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Longer than one unit of work.
    let line = format!("see http://m.example/lamp{}\n", " and so on".repeat(40));
    let text = line.repeat(15_000);
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, text.as_bytes()).unwrap();
    (child, stdin)
}

/// Regression: Ctrl-C left half a file under its final name.
#[test]
fn an_interrupted_scan_leaves_whole_lines_in_a_partial_file() {
    let folder = Folder::new();
    folder.write("out", "old\n");
    let (child, stdin) = endless_scan(&folder, &["-j1", "--force", "-o", "out", "-"]);
    let partial = folder.path("out.partial");
    wait_until("the file has bytes", || {
        partial.metadata().is_ok_and(|metadata| 0 < metadata.len())
    });
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, unless_ignored(Signal::INT)).unwrap();
    let ended = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(ended.status.code(), Some(130));
    let count = lines(&fs::read(&partial).unwrap()).len();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    let expected = format!("out.partial holds the first {count} records");
    assert!(0 < count && stderr.contains(&expected), "{stderr}");
    assert_eq!(fs::read(folder.path("out")).unwrap(), b"old\n");
    // A closed terminal, so nobody reads the message.
    fs::remove_file(&partial).unwrap();
    let (mut child, stdin) = endless_scan(
        &folder,
        &["-j1", "--force", "-o", "out", "--events", "events", "-"],
    );
    wait_until("the file has bytes", || {
        partial.metadata().is_ok_and(|metadata| 0 < metadata.len())
    });
    drop(child.stderr.take());
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, unless_ignored(Signal::HUP)).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(stdin);
    assert!(partial.exists() && !folder.path("events.partial").exists());
    // The next scan replaces both.
    folder.write("mail", MAIL);
    assert_eq!(
        scan_in(&folder, &["--force", "-o", "out", "mail"]).status,
        Some(0)
    );
    assert!(!partial.exists());
}

/// Regression: the records of an interrupted run were removed although the new run could not start.
#[test]
fn a_partial_file_stays_if_no_input_exists() {
    let folder = Folder::new();
    let partial = folder.write("out.partial", "old\n");
    let ended = scan_in(
        &folder,
        &["--force", "-o", "out", "--rejects", "rejects", "none"],
    );
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    assert_eq!(fs::read(&partial).unwrap(), b"old\n");
    assert!(!folder.path("out").exists() && !folder.path("rejects").exists());
}
