//! Permissions: unreadable folders, and the modes of files the daemon writes.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

use serde_json::Value;

use super::super::cli::{PROGRAM, configure, configured};
use super::super::{mbox_message, message, read_segments};
use super::{Operated, without_privileges};
use crate::scene::{Folder, assert_contains};

#[test]
fn an_unreadable_folder_is_a_failure_until_it_can_be_read() {
    let folder = Folder::new();
    let root = folder.root();
    configure(root, "");
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let config = config.replace("[watch]\n", "[watch]\nsweep = \"200ms\"\n");
    fs::write(root.join("c.toml"), config).unwrap();
    let locked = root.join("spool/locked");
    fs::create_dir(&locked).unwrap();
    fs::write(locked.join("1"), message(1, 1)).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let daemon = Operated::start(root, without_privileges(root));
    daemon.until("the status has the failure", |daemon| {
        daemon.status()["healthy"] == false
    });
    let status = daemon.status();
    let spool = &status["spools"][0];
    assert_eq!(
        (&spool["state"], &spool["unreadable"]),
        (&"unreadable".into(), &1.into())
    );
    let locked_path = locked.display().to_string();
    for text in [&spool["error"], &status["issues"][0], &status["last_error"]] {
        assert!(text.as_str().unwrap().contains(&locked_path), "{status}");
    }
    let health = daemon.get("/healthz");
    assert!(health.starts_with("HTTP/1.1 503 "), "{health}");
    assert_contains(&health, &locked_path);
    assert_contains(&daemon.get("/metrics"), "\nurlspool_unreadable_spools 1\n");

    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    daemon.until("the status is healthy", |daemon| {
        daemon.status()["healthy"] == true
    });
    assert!(daemon.get("/healthz").starts_with("HTTP/1.1 200 "));
    assert_eq!(daemon.status()["spools"][0]["error"], Value::Null);
    daemon.until("its mail is read", |daemon| {
        daemon.status()["counts"]["records"] == 2
    });
    assert!(daemon.logged(&format!(
        "{}: changes are polled",
        root.join("spool").display()
    )));
    assert!(!daemon.log().contains("\\\""), "{}", daemon.log());
    let log = daemon.stop();
    let messages = |text: &str| {
        let lines = log.iter();
        lines
            .filter(|line| line["fields"]["message"].as_str().unwrap().contains(text))
            .count()
    };
    assert_eq!(messages("can be read completely again"), 1, "{log:?}");
    let unreadable = log
        .iter()
        .filter(|line| line["fields"]["kind"] == "unreadable");
    assert_eq!(unreadable.count(), 1, "reported once, not at each scan");
}

/// Regression: `--once` ended silently with status 0.
#[test]
fn once_names_unreadable_paths() {
    let folder = Folder::new();
    let root = folder.root();
    configure(root, "");
    fs::create_dir(root.join("spool/locked")).unwrap();
    for name in ["free", "secret", "locked/1"] {
        fs::write(root.join("spool").join(name), mbox_message(1, 1)).unwrap();
    }
    for name in ["secret", "locked"] {
        let none = fs::Permissions::from_mode(0o000);
        fs::set_permissions(root.join("spool").join(name), none).unwrap();
    }
    let mut command = without_privileges(root);
    command
        .args(["watch", "--once", "--config"])
        .arg(root.join("c.toml"));
    let output = command.output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    let named: Vec<&str> = log
        .lines()
        .filter_map(|line| line.strip_prefix("urlspool: not read: "))
        .collect();
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert_eq!(named.len(), 2, "{log}");
    for (line, name) in named.iter().zip(["locked", "secret"]) {
        let path = root.join("spool").join(name).display().to_string();
        assert!(line.starts_with(&format!("{path}: ")), "{log}");
        assert!(line.contains("ermission denied"), "{log}");
    }
    // The other mailbox is read.
    assert_eq!(read_segments(&root.join("out")).ids.len(), 2);
}

/// Runs the daemon with this umask. Returns the distinct modes of its files, with a path each.
fn modes(umask: &str) -> Vec<(u32, String)> {
    let folder = configured();
    let root = folder.root();
    let config = fs::read_to_string(root.join("c.toml")).unwrap();
    let config = config.replace("[output]\n", "[output]\ncompress = \"zstd\"\n");
    fs::write(root.join("c.toml"), config).unwrap();
    fs::write(root.join("spool/inbox"), mbox_message(1, 1)).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("umask {umask}; exec {PROGRAM} \"$@\""), "sh"]);
    let daemon = Operated::start(root, command);
    daemon.until("the segment is sealed", |daemon| {
        daemon.logged("sealed a segment")
    });
    let mut folders = vec![root.join("out"), root.join("state")];
    let mut found = vec![root.join("m.sock")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
        found.push(folder);
    }
    assert!(found.len() > 9, "{found:?}");
    let mut modes: Vec<_> = found
        .iter()
        .map(|path| {
            (
                fs::symlink_metadata(path).unwrap().mode(),
                path.display().to_string(),
            )
        })
        .collect();
    modes.sort();
    modes.dedup_by_key(|(mode, _)| *mode);
    daemon.stop();
    modes
}

#[test]
fn the_group_may_read_everything_but_the_key_and_others_nothing() {
    let numbers = |umask| {
        let modes: Vec<_> = modes(umask).into_iter().map(|(mode, _)| mode).collect();
        modes
    };
    assert_eq!(numbers("000"), [0o40_750, 0o100_600, 0o100_640, 0o140_660]);
    assert_eq!(numbers("022"), [0o40_750, 0o100_600, 0o100_640, 0o140_660]);
    assert_eq!(numbers("077"), [0o40_700, 0o100_600, 0o140_600]);
}
