//! Targets that are not databases of this program.

use std::collections::BTreeMap;
use std::ffi::OsString;

use rusqlite::Connection;

use super::{MAIL, check_database, load, loaded, records};
use crate::scene::{Folder, ended, urlspool};

#[test]
fn targets_that_store_no_data_are_refused() {
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    let into = |target: &str, args: &[&str]| {
        let mut command = urlspool(["load", "--into", target]);
        ended(command.args(args).current_dir(folder.root()), &lines)
    };
    for (target, reason) in [
        ("", "is a file"),
        ("sqlite:", "is a file"),
        (":memory:", "is a file"),
        ("sqlite::memory:", "is a file"),
        (".", "is a folder; name a file, such as"),
        ("/dev/null", "/dev/null is not a regular file"),
    ] {
        let ended = into(target, &[]);
        ended.check(2, reason);
    }
    let name = "file:urls.db?mode=memory";
    assert_eq!(into(name, &[]).status, Some(2));
    assert_eq!(into(&format!("sqlite:{name}"), &[]).status, Some(0));
    check_database(&folder.path(name));
    let input = folder.file("a.jsonl", &lines);
    for path in ["a.jsonl", "./a.jsonl", &input] {
        let ended = into("a.jsonl", &[path]);
        ended.check(2, "both an input");
    }
    assert_eq!(std::fs::read(&input).unwrap(), lines);
}

#[test]
fn a_file_that_is_no_database_is_refused_and_unchanged() {
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    let text = "some text, which is longer than the header of a database".repeat(99);
    for len in [1, 2, 15, 16, 17, 100, 511, 512, 4096] {
        for content in [&text[..len], &format!("SQLite format 3\0{text}")[..len]] {
            folder.write("urls.db", content);
            let ended = load(&folder, &[], &lines);
            ended.check(2, "urls.db is not a SQLite database");
            let left = std::fs::read(folder.path("urls.db")).unwrap();
            assert_eq!(left, content.as_bytes(), "{len}");
        }
    }
    folder.write("urls.db", "");
    assert_eq!(load(&folder, &[], &lines).status, Some(0));
}

/// Returns the files of a folder with their contents.
fn contents(folder: &Folder) -> BTreeMap<OsString, Vec<u8>> {
    let entries = std::fs::read_dir(folder.root()).unwrap();
    let content = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.unwrap();
        (entry.file_name(), std::fs::read(entry.path()).unwrap())
    };
    entries.map(content).collect()
}

/// Creates a database with its logs, as a program leaves it that is killed here.
fn left_database(sql: &str) -> Folder {
    let (running, folder) = (Folder::new(), Folder::new());
    let db = Connection::open(running.path("urls.db")).unwrap();
    db.execute_batch(sql).unwrap();
    for (name, content) in contents(&running) {
        folder.write(name.to_str().unwrap(), content);
    }
    folder
}

/// `SQLite` would merge the log, or roll the journal back, on the first read.
#[test]
fn no_byte_of_another_programs_database_changes() {
    let lines = records(&Folder::new(), "a.mbox", MAIL);
    for (sql, logs) in [
        ("CREATE TABLE notes(text)", 0),
        ("PRAGMA application_id=7", 0),
        ("PRAGMA user_version=7", 0),
        ("PRAGMA journal_mode=WAL; CREATE TABLE notes(text)", 2),
        ("PRAGMA journal_mode=WAL; PRAGMA application_id=7", 2),
        ("PRAGMA journal_mode=WAL; PRAGMA user_version=7", 2),
        (
            "CREATE TABLE notes(text); PRAGMA journal_mode=WAL; INSERT INTO notes VALUES('a')",
            2,
        ),
        (
            "CREATE TABLE notes(text); PRAGMA cache_size=1; BEGIN;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
             INSERT INTO notes SELECT hex(zeroblob(500)) FROM n",
            1,
        ),
    ] {
        let folder = left_database(sql);
        for without in ["", "urls.db-shm"] {
            if !without.is_empty() && std::fs::remove_file(folder.path(without)).is_err() {
                continue;
            }
            let before = contents(&folder);
            assert_eq!(before.len(), 1 + logs - usize::from(!without.is_empty()));
            let into = load(&folder, &[], &lines);
            into.check(2, "another program");
            let path = folder.path("urls.db");
            let found = ended(urlspool(["search"]).arg(path).arg("lamp"), b"");
            assert_eq!(found.status, Some(2), "{sql}: {}", found.stderr);
            assert!(contents(&folder) == before, "{sql}: something has changed");
        }
    }
}

/// The tables of a newly created database are still in its log.
#[test]
fn a_database_whose_loader_was_killed_is_ours() {
    let (running, folder) = (Folder::new(), Folder::new());
    let lines = records(&Folder::new(), "a.mbox", MAIL);
    let reader = Connection::open(running.path("urls.db")).unwrap();
    // The first statements of a loader.
    reader
        .execute_batch("PRAGMA application_id=0x75726C70; PRAGMA journal_mode=WAL")
        .unwrap();
    // The log cannot be merged while this transaction reads an older state.
    reader.execute_batch("BEGIN").unwrap();
    let count = reader.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0));
    assert_eq!(count, Ok(0));
    assert_eq!(load(&running, &[], &lines).status, Some(0));
    for (name, content) in contents(&running) {
        folder.write(name.to_str().unwrap(), content);
    }
    assert!(folder.path("urls.db-wal").exists());
    let summary = loaded(&folder, &[], &lines);
    assert!(summary.contains("4 records, 0 of them new"), "{summary}");
    check_database(&folder.path("urls.db"));
}
