//! Segments of the daemon: each is loaded once, together with its name.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use twox_hash::XxHash3_64;

use super::{MAIL, check_database, load, loaded, records, value};
use crate::scene::{Folder, assert_contains, done, urlspool};

/// Creates a daemon's folders, with one mbox, and segments in `out`.
fn daemon(folder: &Folder, mail: &str, compress: &str) {
    folder.write("spool/a.mbox", mail);
    let root = folder.root().display();
    let config = format!(
        "[output]\ndir = \"{root}/out\"\ncompress = \"{compress}\"\n[state]\n\
         dir = \"{root}/state\"\n[watch]\nsettle = \"0s\"\n[[spool]]\npath = \"{root}/spool\"\n"
    );
    let config = folder.file("urlspool.toml", config);
    done(&["watch", "--config", &config, "--once"]);
}

fn segments(folder: &Path) -> usize {
    let names = fs::read_dir(folder).unwrap();
    names
        .filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            !name.to_str().unwrap().starts_with('.')
        })
        .count()
}

#[test]
fn a_segment_is_loaded_once_and_known_by_its_sidecar() {
    for compress in ["none", "zstd"] {
        let folder = Folder::new();
        daemon(&folder, MAIL, compress);
        let out = folder.path("out").display().to_string();
        let summary = loaded(&folder, &[&out], b"");
        assert!(summary.contains("1 segment loaded"), "{summary}");
        let summary = loaded(&folder, &[&out], b"");
        assert_contains(&summary, "0 records, 0 of them new, 1 segment known before");
        daemon(&folder, &MAIL.replace("lamp", "lamps"), compress);
        let summary = loaded(&folder, &[&out], b"");
        assert_contains(&summary, "1 segment loaded, 1 segment known");
        assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM segments"), 2);
        check_database(&folder.path("urls.db"));
    }
}

/// A segment is compared with its sidecar while its rows are written.
#[test]
fn a_damaged_segment_leaves_no_row_and_the_inputs_before_it_are_loaded() {
    for at in 0..5 {
        let folder = Folder::new();
        let file = folder.file("a.jsonl", records(&folder, "a.mbox", MAIL));
        segment(&folder, 1, &records(&folder, "b.mbox", MAIL));
        segment(&folder, 2, &records(&folder, "c.mbox", MAIL));
        let lines = records(&folder, "d.mbox", MAIL);
        let damaged = segment(&folder, 3, &lines);
        let damages = [
            lines[..lines.len() / 2].to_vec(),
            [&lines[..], b"no record\n"].concat(),
            [b"no record\n", &lines[..]].concat(),
            [b"{\"schema\":9,\"type\":\"url\"}\n", &lines[..]].concat(),
            lines.repeat(2),
        ];
        fs::write(&damaged, &damages[at]).unwrap();
        let out = folder.path("out").display().to_string();
        let ended = load(&folder, &[&file, &out, "--delete-segments"], b"");
        ended.check(78, "0000000003.meta; none of it was loaded");
        assert_eq!(ended.stderr.lines().count(), 1, "{at}: {}", ended.stderr);
        assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 12);
        assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM segments"), 2);
        assert_eq!(segments(&folder.path("out")), 6);
        check_database(&folder.path("urls.db"));
        // The other segments are known, and are removed once the damaged one is repaired.
        fs::write(&damaged, &lines).unwrap();
        loaded(&folder, &[&out, "--delete-segments"], b"");
        assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 16);
        assert_eq!(segments(&folder.path("out")), 0);
    }
}

#[test]
fn the_same_number_with_another_hash_is_an_error() {
    let folder = Folder::new();
    daemon(&folder, MAIL, "none");
    let out = folder.path("out").display().to_string();
    loaded(&folder, &[&out], b"");
    let changed = rusqlite::Connection::open(folder.path("urls.db")).unwrap();
    changed
        .execute_batch("UPDATE segments SET hash='0000000000000000'")
        .unwrap();
    let ended = load(&folder, &[&out, "--delete-segments"], b"");
    assert_eq!(ended.status, Some(78), "{}", ended.stderr);
    assert_eq!(segments(&folder.path("out")), 2);
}

#[test]
fn loaded_segments_are_removed_and_other_files_stay() {
    let folder = Folder::new();
    daemon(&folder, MAIL, "none");
    fs::copy(
        folder.path("out/0000000001.jsonl"),
        folder.path("out/copy.jsonl"),
    )
    .unwrap();
    let out = folder.path("out").display().to_string();
    loaded(&folder, &[&out, "--delete-segments"], b"");
    assert_eq!(segments(&folder.path("out")), 1);
    assert!(folder.path("out/copy.jsonl").exists());
    assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 4);
}

/// Writes a segment and its sidecar. Returns the path of the segment.
pub(super) fn segment(folder: &Folder, seq: u64, lines: &[u8]) -> String {
    let hash = XxHash3_64::oneshot(lines);
    let sidecar = json!({
        "schema": 1, "instance": "an instance/1", "seq": seq, "len": lines.len(), "records": 1,
        "name": format!("{seq:010}.jsonl"), "xxh3_64": format!("{hash:016x}"), "messages": 1,
        "epoch": 0, "age": 0, "mailboxes": [],
    });
    folder.write(format!("out/{seq:010}.meta"), format!("{sidecar}\n"));
    folder.file(&format!("out/{seq:010}.jsonl"), lines)
}

#[test]
fn a_known_segment_is_removed_only_if_its_sidecar_describes_it() {
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    let path = segment(&folder, 1, &lines);
    loaded(&folder, &[&path], b"");
    fs::write(&path, lines.repeat(2)).unwrap();
    let ended = load(&folder, &[&path, "--delete-segments"], b"");
    ended.check(78, "not removed");
    assert_eq!(segments(&folder.path("out")), 2);
    // If two files share a sidecar, the sidecar must describe both.
    fs::write(&path, &lines).unwrap();
    let other = zstd::encode_all(&b"other"[..], 1).unwrap();
    folder.write("out/0000000001.jsonl.zst", other);
    let out = folder.path("out").display().to_string();
    let ended = load(&folder, &[&out, "--delete-segments"], b"");
    assert_eq!(ended.status, Some(78), "{}", ended.stderr);
    assert_eq!(segments(&folder.path("out")), 3);
}

#[test]
fn following_loads_segments_as_they_are_sealed() {
    let folder = Folder::new();
    daemon(&folder, MAIL, "none");
    let mut following = urlspool(["load", "--follow", "--into"])
        .arg(folder.path("urls.db"))
        .arg(folder.path("out"))
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let wait_for = |rows: i64| {
        let begun = Instant::now();
        loop {
            let db = rusqlite::Connection::open(folder.path("urls.db")).unwrap();
            let count = db.query_row("SELECT count(*) FROM urls", [], |row| row.get::<_, i64>(0));
            if count == Ok(rows) {
                return;
            }
            assert!(begun.elapsed() < Duration::from_mins(1), "{count:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    wait_for(4);
    daemon(&folder, &MAIL.replace("lamp", "lamps"), "none");
    wait_for(8);
    // Another instance reuses the number of a loaded segment.
    let other = records(&folder, "b.mbox", MAIL);
    let made = Folder::new();
    segment(&made, 1, &other);
    for name in ["out/0000000001.meta", "out/0000000001.jsonl"] {
        let beside = folder.write(
            format!("out/.{}", &name[4..]),
            fs::read(made.path(name)).unwrap(),
        );
        fs::rename(beside, folder.path(name)).unwrap();
    }
    wait_for(12);
    following.kill().unwrap();
    following.wait().unwrap();
    check_database(&folder.path("urls.db"));
}
