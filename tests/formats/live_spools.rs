//! The formats as spools of the daemon.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::{FORMATS, MESSAGES, mails};
use crate::scene::{Folder, program_command};

/// Returns the ids in the lines of a segment or a scan, each with the folder beneath `at` that it came from.
fn ids(at: &Path, lines: &[u8]) -> BTreeSet<(String, String)> {
    let record = |line: &[u8]| -> (String, String) {
        let record: Value = str::from_utf8(line).unwrap().parse().unwrap();
        let path = record["source"]["path"]
            .as_str()
            .unwrap()
            .strip_prefix(at.to_str().unwrap())
            .unwrap()
            .to_owned();
        (
            path.split('/').nth(1).unwrap().to_owned(),
            record["id"].as_str().unwrap().to_owned(),
        )
    };
    lines
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(record)
        .collect()
}

#[test]
fn the_daemon_finds_in_every_format_what_a_scan_finds() {
    let mails = mails();
    let folder = Folder::new();
    let spools = folder.path("spools");
    let mut config = format!(
        "[output]\ndir = \"{0}/out\"\n[state]\ndir = \"{0}/state\"\n[watch]\nsettle = \"10ms\"\n[metrics]\nlisten = \"\"\n",
        folder.root().display()
    );
    let mut each: Vec<PathBuf> = Vec::new();
    for (name, writer) in FORMATS {
        each.push(spools.join(name));
        writer(&mails, "\n", &spools.join(name));
    }
    for (name, how) in [("packed.tar", "-cf"), ("packed.tgz", "-czf")] {
        each.push(spools.join(name));
        let status = Command::new("tar")
            .arg(how)
            .arg(spools.join(name))
            .arg("-C")
            .arg(&spools)
            .arg("mh")
            .status();
        assert!(status.unwrap().success());
    }
    for spool in &each {
        config += &format!("[[spool]]\npath = \"{}\"\n", spool.display());
    }
    folder.write("c.toml", config);
    let watched = program_command()
        .args(["watch", "--once", "--config"])
        .arg(folder.path("c.toml"))
        .output()
        .unwrap();
    assert!(
        watched.status.success(),
        "{}",
        String::from_utf8_lossy(&watched.stderr)
    );
    let mut watched_lines = Vec::new();
    for path in fs::read_dir(folder.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if path.extension() == Some("jsonl".as_ref()) {
            watched_lines.extend(fs::read(path).unwrap());
        }
    }
    // One by one: a scan writes a news article once, wherever it is stored.
    let scan = |spool: &PathBuf| {
        program_command()
            .args(["scan", "--quiet"])
            .arg(spool)
            .output()
            .unwrap()
            .stdout
    };
    let expected = ids(&spools, &each.iter().flat_map(scan).collect::<Vec<_>>());
    let found = ids(&spools, &watched_lines);
    let differ: Vec<_> = found.symmetric_difference(&expected).take(5).collect();
    assert!(
        differ.is_empty(),
        "{} found, {} expected: {differ:?}",
        found.len(),
        expected.len()
    );
    assert!(expected.len() > FORMATS.len() * MESSAGES);
}
