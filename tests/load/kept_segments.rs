//! Segments are removed only if their rows are safe in the file that the target's name refers to.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::segments::segment;
use super::{MAIL, check_database, loaded, records, value};
use crate::scene::{Ended, Folder, ended, urlspool, wait_until};
use urlspool_text::limits::LOAD_FOLLOW_MS;

/// Waits until a process ends.
#[track_caller]
pub(super) fn end_of(mut child: Child) -> Ended {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if Duration::from_mins(1) < begun.elapsed() {
            child.kill().unwrap();
            panic!("it does not end: {:?}", child.wait_with_output());
        }
        sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    Ended {
        status: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Starts `urlspool load --follow --delete-segments` of the folder `out`.
pub(super) fn follow(mut command: Command, folder: &Folder) -> Child {
    command
        .args(["--follow", "--delete-segments"])
        .arg(folder.path("out"))
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn load_command(folder: &Folder) -> Command {
    let mut command = urlspool(["load", "--into"]);
    command.arg(folder.path("urls.db"));
    command
}

pub(super) fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

#[cfg(any(feature = "elasticsearch", feature = "postgres"))]
#[track_caller]
pub(super) fn check_replaced(ended: &Ended) {
    assert_eq!(ended.status, Some(74), "{}", ended.stderr);
    let text = "was removed, renamed or replaced";
    assert!(ended.stderr.contains(text), "{}", ended.stderr);
}

/// A change that another program makes to the database.
type Move = fn(&Folder);

#[test]
fn a_database_that_is_moved_or_overwritten_keeps_the_segments_that_follow() {
    let moved: [(&str, Move); 9] = [
        ("removed", |folder| {
            for ending in ["", "-wal", "-shm"] {
                let _ = fs::remove_file(folder.path(format!("urls.db{ending}")));
            }
        }),
        ("renamed", |folder| {
            fs::rename(folder.path("urls.db"), folder.path("old.db")).unwrap();
        }),
        ("replaced by another one", |folder| {
            let other = folder.path("other.db").display().to_string();
            assert!(
                urlspool(["load", "--into", &other, "/dev/null"])
                    .status()
                    .unwrap()
                    .success()
            );
            fs::rename(other, folder.path("urls.db")).unwrap();
        }),
        ("replaced by a copy", |folder| {
            fs::copy(folder.path("urls.db"), folder.path("copy.db")).unwrap();
            fs::rename(folder.path("copy.db"), folder.path("urls.db")).unwrap();
        }),
        ("a link that leads elsewhere", |folder| {
            fs::rename(folder.path("urls.db"), folder.path("old.db")).unwrap();
            std::os::unix::fs::symlink("elsewhere.db", folder.path("urls.db")).unwrap();
        }),
        // The same file, with different content.
        ("emptied", |folder| {
            fs::write(folder.path("urls.db"), "").unwrap();
        }),
        ("cut", |folder| {
            let file = fs::OpenOptions::new()
                .write(true)
                .open(folder.path("urls.db"));
            file.unwrap().set_len(4_096).unwrap();
        }),
        ("a text", |folder| {
            let len = folder.path("urls.db").metadata().unwrap().len() as usize;
            fs::write(folder.path("urls.db"), "text\n".repeat(len)).unwrap();
        }),
        ("zeros", |folder| {
            let len = folder.path("urls.db").metadata().unwrap().len();
            let file = fs::File::create(folder.path("urls.db")).unwrap();
            file.set_len(len).unwrap();
        }),
    ];
    for (at, (name, act)) in moved.into_iter().enumerate() {
        let folder = Folder::new();
        segment(&folder, 1, &records(&folder, "a.mbox", MAIL));
        let child = follow(load_command(&folder), &folder);
        let out = folder.path("out");
        wait_until("segment 1 is removed", || is_empty(&out));
        act(&folder);
        let path = segment(&folder, 2, &records(&folder, "b.mbox", MAIL));
        let ended = end_of(child);
        assert_eq!(ended.status, Some(74), "{name}: {}", ended.stderr);
        let reasons = [
            "was removed, renamed or replaced",
            "was truncated or overwritten",
        ];
        let reason = reasons[usize::from(5 <= at)];
        assert!(ended.stderr.contains(reason), "{name}: {}", ended.stderr);
        assert!(Path::new(&path).exists(), "{name}");
        assert!(folder.path("out/0000000002.meta").exists(), "{name}");
    }
}

/// Regression: the next load waited for 20 s, ended with exit code 74, and advised restoring the
/// database from a backup.
#[test]
fn a_load_continues_after_a_merge_of_the_log_that_was_killed() {
    let folder = Folder::new();
    let database = folder.path("urls.db");
    loaded(&folder, &[], &records(&folder, "a.mbox", MAIL));
    {
        let db = Connection::open(&database).unwrap();
        let filled = "PRAGMA wal_autocheckpoint=0; CREATE TABLE filler(bytes); INSERT INTO filler \
            VALUES(zeroblob(300000));";
        db.execute_batch(filled).unwrap();
        // As if the writer was killed after writing the first page of the log into the file.
        for name in ["urls.db", "urls.db-wal"] {
            fs::copy(folder.path(name), folder.path(format!("killed-{name}"))).unwrap();
        }
    }
    let merged = fs::read(&database).unwrap();
    for name in ["urls.db", "urls.db-wal"] {
        fs::rename(folder.path(format!("killed-{name}")), folder.path(name)).unwrap();
    }
    let mut bytes = fs::read(&database).unwrap();
    assert!(bytes.len() + 300_000 < merged.len());
    bytes[..4096].copy_from_slice(&merged[..4096]);
    fs::write(&database, &bytes).unwrap();
    let path = segment(&folder, 1, &records(&folder, "b.mbox", MAIL));
    let mut command = load_command(&folder);
    command.arg("--delete-segments").arg(folder.path("out"));
    let ended = ended(&mut command, b"");
    assert_eq!((ended.status, &*ended.stderr), (Some(0), ""));
    assert!(!Path::new(&path).exists());
    assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 8);
    check_database(&database);
}

/// Regression: all rows stayed in the log.
#[test]
fn a_load_that_follows_ends_with_its_rows_in_the_file() {
    for (signal, code) in [("-TERM", 0), ("-INT", 130)] {
        let folder = Folder::new();
        segment(&folder, 1, &records(&folder, "a.mbox", MAIL));
        let mut command = load_command(&folder);
        let child = command
            .args(["-v", "--follow"])
            .arg(folder.path("out"))
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_until("the rows are committed", || {
            let db = Connection::open(folder.path("urls.db")).unwrap();
            let count = db.query_row("SELECT count(*) FROM urls", [], |row| row.get::<_, i64>(0));
            count == Ok(4)
        });
        // The folder is listed again, and its segment is no second one.
        sleep(Duration::from_millis(2 * LOAD_FOLLOW_MS));
        let killed = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(killed.unwrap().success());
        let ended = end_of(child);
        ended.check(code, "4 records, 4 of them new, 1 segment loaded");
        assert!(!ended.stderr.contains("known before"), "{}", ended.stderr);
        for log in ["urls.db-wal", "urls.db-shm"] {
            assert!(!folder.path(log).exists(), "{signal}: {log}");
        }
        assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 4);
    }
}

#[test]
fn segments_stay_while_another_program_reads_older_rows() {
    let folder = Folder::new();
    loaded(&folder, &[], &records(&folder, "a.mbox", MAIL));
    let reader = Connection::open(folder.path("urls.db")).unwrap();
    let count = |sql: &str| reader.query_row(sql, [], |row| row.get::<_, i64>(0));
    reader.execute_batch("BEGIN").unwrap();
    assert_eq!(count("SELECT count(*) FROM urls"), Ok(4));
    let path = segment(&folder, 1, &records(&folder, "b.mbox", MAIL));
    let mut child = follow(load_command(&folder), &folder);
    wait_until("the rows are committed", || {
        value::<i64>(&folder, "SELECT count(*) FROM urls") == 8
    });
    sleep(Duration::from_millis(500));
    assert!(Path::new(&path).exists());
    reader.execute_batch("COMMIT").unwrap();
    let out = folder.path("out");
    wait_until("the segment is removed", || is_empty(&out));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn loads_of_one_folder_remove_its_segments_together() {
    let folder = Folder::new();
    let out = folder.path("out");
    let write = |numbers: std::ops::Range<u64>| {
        for number in numbers {
            let mail = MAIL.replace("lamp", &format!("lamp{number}"));
            segment(&folder, number, &records(&folder, "a.mbox", &mail));
        }
    };
    write(1..30);
    let start = || {
        let mut command = load_command(&folder);
        command.arg("--delete-segments").arg(&out);
        let piped = command.stdin(Stdio::null()).stderr(Stdio::piped());
        piped.spawn().unwrap()
    };
    for child in [start(), start(), start(), start()] {
        let ended = end_of(child);
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    }
    assert!(is_empty(&out));
    let mut following = [(); 3].map(|()| follow(load_command(&folder), &folder));
    for round in 0..5 {
        let first = 30 + 10 * round;
        write(first..first + 10);
        wait_until("the segments are removed", || is_empty(&out));
    }
    sleep(Duration::from_millis(1500));
    for child in &mut following {
        assert_eq!(child.try_wait().unwrap(), None, "it has ended");
        child.kill().unwrap();
    }
    for child in following {
        let ended = end_of(child);
        assert_eq!(ended.stderr, "");
    }
    assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM segments"), 79);
    check_database(&folder.path("urls.db"));
}
