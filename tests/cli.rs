//! The program as seen from a shell: exit codes, streams, hostile names, unreadable files.

mod config;
mod formats;
mod manual;
mod mistakes;
mod options;
mod outputs;
mod reference;
mod show;
mod stats;
mod stderr;
mod terminal;

pub(crate) use reference::commands_in;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::scene::{Ended, Folder, assert_contains, copy_program, done, ended, urlspool};

const MAIL: &str = "From: jane@m.example\nSubject: a lamp\n\nsee http://m.example/lamp\n";

/// Returns the exit code and the standard error of a run with these arguments.
#[track_caller]
fn status(args: &[&str]) -> (i32, String) {
    let ended = ended(&mut urlspool(args), b"");
    (ended.status.expect("a signal ended it"), ended.stderr)
}

#[test]
fn a_missing_path_exits_with_status_1_and_the_others_are_read() {
    let folder = Folder::new();
    let (there, missing) = (
        folder.file("there", MAIL),
        format!("{}/missing", folder.root().display()),
    );
    let ended = ended(&mut urlspool(["scan", &missing, &there]), b"");
    assert_eq!(
        (ended.status, ended.urls()),
        (Some(1), vec!["http://m.example/lamp".to_owned()])
    );
    assert_contains(&ended.stderr, "missing: No such file");
}

/// Scans `path` as an unprivileged user. Root runs a copy of the program as `nobody`.
#[track_caller]
fn scan_without_privileges(path: &Path) -> Ended {
    const NOBODY: u32 = 65_534;
    let place = Folder::new();
    let mut command = urlspool(["scan"]);
    if rustix::process::geteuid().is_root() {
        let copy = place.path("urlspool");
        copy_program(&copy);
        command = Command::new(copy);
        command.arg("scan").uid(NOBODY).gid(NOBODY);
    }
    ended(command.arg(path), b"")
}

#[test]
fn an_unreadable_folder_exits_with_status_1_and_the_others_are_read() {
    let folder = Folder::new();
    folder.write("locked/a", MAIL);
    folder.write("open/a", MAIL);
    let locked = folder.path("locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let ended = scan_without_privileges(folder.root());
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(
        (ended.status, ended.records().len()),
        (Some(1), 1),
        "{}",
        ended.stderr
    );
}

#[test]
fn unusable_arguments_and_configurations_exit_with_status_2() {
    let folder = Folder::new();
    let config = folder.file("bad.toml", "[extract]\nrulez = \"wide\"\n");
    let mail = folder.file("a", MAIL);
    for args in [
        &["scan", "--no-such-flag"][..],
        &["scan", "--limit", "url_bytes=1", &mail],
        &["check-config"],
        &["no-such-command"],
        &[],
        &["scan", "--unique", "often", &mail],
        &["scan", "--set", "accept=rfc1", &mail],
        &["scan", "-j", "0", &mail],
        &["scan", "--schemes", "ht tp", &mail],
        &["scan", "--schemes", "http,ftp:", &mail],
        &["scan", "--schemes", "", &mail],
        &["scan", "--set", "extra_schemes=a b", &mail],
        &["scan", "--dry-run", "-o", "none", &mail],
        &["scan", "--dry-run", "--format", "csv", &mail],
        &["parse", "-", "http://a.example/"],
        &["parse", "--from-json", "http://a.example/"],
        &["scan", "--since", "some day", &mail],
        &["scan", "--include", "[", &mail],
        &["scan", "--config", &config, &mail],
        &["scan", "--config", "/no/such/file", &mail],
        &["config", "check", &config],
        &["config", "default", &config],
        &["generate", "man", "no-such-page"],
        &["scan", "--set", "url_bytes", &mail],
        &["show", "no place"],
        &["generate", "completions", "no-such-shell"],
    ] {
        let (status, stderr) = status(args);
        assert_eq!(status, 2, "{args:?}: {stderr}");
        assert!(!stderr.is_empty(), "{args:?}");
    }
}

/// Only Linux has `/dev/full`.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_exits_with_status_74() {
    let folder = Folder::new();
    let mail = folder.file("a", MAIL);
    let nowhere = format!("{}/no/such/folder", folder.root().display());
    for args in [
        ["-o", "/dev/full"],
        ["-o", &nowhere],
        ["--summary", "/dev/full"],
        ["--summary", &nowhere],
        ["--rejects", &nowhere],
        ["--events", &nowhere],
    ] {
        let (status, stderr) = status(&["scan", args[0], args[1], &mail]);
        assert_eq!(status, 74, "{args:?}: {stderr}");
    }
    let full = || Stdio::from(fs::File::create("/dev/full").unwrap());
    for args in [
        &["scan", mail.as_str()][..],
        &["parse", "http://a/"],
        &["generate", "schema"],
    ] {
        let status = urlspool(args)
            .stdin(Stdio::null())
            .stdout(full())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(74), "{args:?}");
    }
}

#[test]
fn a_closed_pipe_is_a_normal_end() {
    let folder = Folder::new();
    let summary = folder.path("summary");
    let out = summary.to_str().unwrap();
    let text = folder.file("long", "see http://m.example/lamp\n".repeat(3_000));
    for threads in ["-j2", "-j1"] {
        let args = ["scan", threads, "--summary", out, &text];
        let mut command = urlspool(args);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut first)
            .unwrap();
        assert!(first.ends_with('\n'), "{first}");
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        assert_eq!(
            (child.wait().unwrap().code(), stderr),
            (Some(0), String::new())
        );
        let summary: Value = serde_json::from_slice(&fs::read(&summary).unwrap()).unwrap();
        assert_eq!(summary["files"], 1);
    }
}

/// An empty file is skipped silently; a binary file causes an event. Regression: the exit code was
/// 0 even if the file was named.
#[test]
fn files_without_text_are_skipped() {
    let folder = Folder::new();
    let (empty, binary) = (
        folder.file("empty", ""),
        folder.file("binary", [0, 1, 2, 3, 0, 159, 146, 150]),
    );
    let no_url = "urlspool: no URL was found\n".to_owned();
    assert_eq!(status(&["scan", &empty]), (0, no_url));
    assert!(ended(&mut urlspool(["scan"]), b"").stdout.is_empty());
    let (status, stderr) = status(&["scan", &binary]);
    assert_eq!(status, 1);
    assert_contains(&stderr, "binary: skip: not read: binary");
    let folder = folder.root().to_str().unwrap();
    assert_eq!(crate::scene::done(&["scan", folder]).status, Some(0));
}

#[test]
fn a_path_that_is_not_utf_8_is_kept() {
    let folder = Folder::new();
    let path = folder.write(b"\xFFlamp", MAIL);
    let ended = ended(urlspool(["scan"]).arg(&path), b"");
    let records = ended.records();
    assert!(
        records[0]["source"]["path"]
            .as_str()
            .unwrap()
            .ends_with("/\u{FFFD}lamp"),
        "{}",
        records[0]["source"]
    );
    let shown = crate::scene::ended(&mut urlspool(["show"]), &ended.stdout);
    assert_eq!(
        (shown.status, shown.text()),
        (Some(0), "http://m.example/lamp\n")
    );
}

#[test]
fn quiet_reports_only_errors_and_strict_fails_on_events() {
    let folder = Folder::new();
    let binary = folder.file("binary", [0, 1, 2, 3, 0]);
    let root = folder.root().to_str().unwrap();
    assert_eq!(status(&["scan", "-q", root]), (0, String::new()));
    assert_eq!(status(&["scan", "--strict", root]).0, 1);
    for command in ["scan", "stats"] {
        let (status, stderr) = status(&[command, "-q", &binary]);
        assert_eq!(status, 1);
        assert_contains(&stderr, "binary: skip: not read: binary");
    }
    assert_eq!(status(&["scan", "--strict", &folder.file("a", MAIL)]).0, 0);
    assert_contains(
        &done(&["scan", "-v", &folder.file("a", MAIL)]).stderr,
        "1 records",
    );
}
