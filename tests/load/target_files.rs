//! Targets that are no databases of this program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::symlink;

use rusqlite::Connection;

use super::{MAIL, check_database, load, loaded, records};
use crate::scene::{Folder, ended, urlspool};

#[test]
fn targets_that_keep_nothing_are_refused() {
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    let into = |target: &str, args: &[&str]| {
        let mut command = urlspool(["load", "--into", target]);
        ended(command.args(args).current_dir(folder.root()), &lines)
    };
    for target in ["", "sqlite:", ":memory:", "sqlite::memory:"] {
        let ended = into(target, &[]);
        assert_eq!(ended.status, Some(2), "{target}: {}", ended.stderr);
        assert!(ended.stderr.contains("is a file"), "{}", ended.stderr);
    }
    let name = "file:urls.db?mode=memory";
    assert_eq!(into(name, &[]).status, Some(2));
    assert_eq!(into(&format!("sqlite:{name}"), &[]).status, Some(0));
    check_database(&folder.path(name));
    let input = folder.file("a.jsonl", &lines);
    for path in ["a.jsonl", "./a.jsonl", &input] {
        let ended = into("a.jsonl", &[path]);
        assert_eq!(ended.status, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains("both an input"), "{}", ended.stderr);
    }
    assert_eq!(std::fs::read(&input).unwrap(), lines);
}

#[test]
fn a_file_of_another_program_is_refused_and_unchanged() {
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    Connection::open(folder.path("urls.db"))
        .unwrap()
        .execute_batch("CREATE TABLE notes(text)")
        .unwrap();
    let marked = folder.path("marked.db");
    Connection::open(&marked)
        .unwrap()
        .execute_batch("PRAGMA application_id=7")
        .unwrap();
    let into = ended(urlspool(["load", "--into"]).arg(marked), &lines);
    assert_eq!(into.status, Some(2), "{}", into.stderr);
    let numbered = folder.path("numbered.db");
    Connection::open(&numbered)
        .unwrap()
        .execute_batch("PRAGMA user_version=7")
        .unwrap();
    let before = std::fs::read(&numbered).unwrap();
    let into = ended(urlspool(["load", "--into"]).arg(&numbered), &lines);
    assert_eq!(into.status, Some(2), "{}", into.stderr);
    assert_eq!(std::fs::read(&numbered).unwrap(), before);
    let before = std::fs::read(folder.path("urls.db")).unwrap();
    let ended = load(&folder, &[], &lines);
    assert_eq!(ended.status, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("another program"), "{}", ended.stderr);
    assert_eq!(std::fs::read(folder.path("urls.db")).unwrap(), before);
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
            assert_eq!(ended.status, Some(2), "{len}: {}", ended.stderr);
            assert!(
                ended.stderr.contains("urls.db is not a database of SQLite"),
                "{len}: {}",
                ended.stderr
            );
            let left = std::fs::read(folder.path("urls.db")).unwrap();
            assert_eq!(left, content.as_bytes(), "{len}");
        }
    }
    folder.write("urls.db", "");
    assert_eq!(load(&folder, &[], &lines).status, Some(0));
}

#[test]
fn a_target_that_can_be_no_file_is_refused() {
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    for (target, reason) in [
        (
            folder.root().display().to_string(),
            "is a folder; name a file, such as",
        ),
        ("/dev/null".to_owned(), "/dev/null is no regular file"),
    ] {
        let ended = ended(&mut urlspool(["load", "--into", &target]), &lines);
        assert_eq!(ended.status, Some(2), "{target}: {}", ended.stderr);
        assert!(ended.stderr.contains(reason), "{target}: {}", ended.stderr);
    }
}

/// The files of a folder, with what they hold.
fn contents(folder: &Folder) -> BTreeMap<OsString, Vec<u8>> {
    let entries = std::fs::read_dir(folder.root()).unwrap();
    let content = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.unwrap();
        (entry.file_name(), std::fs::read(entry.path()).unwrap())
    };
    entries.map(content).collect()
}

/// A database as a program leaves it that was killed after these statements: with its logs.
fn left_database(sql: &str) -> Folder {
    let (running, folder) = (Folder::new(), Folder::new());
    let db = Connection::open(running.path("urls.db")).unwrap();
    db.execute_batch(sql).unwrap();
    for (name, content) in contents(&running) {
        folder.write(name.to_str().unwrap(), content);
    }
    folder
}

/// `SQLite` would merge the log, or roll the journal back, as soon as it reads.
#[test]
fn no_byte_of_another_programs_database_changes() {
    let lines = records(&Folder::new(), "a.mbox", MAIL);
    for (sql, logs) in [
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
            assert_eq!(into.status, Some(2), "{sql}: {}", into.stderr);
            assert!(into.stderr.contains("another program"), "{}", into.stderr);
            let path = folder.path("urls.db");
            let found = ended(urlspool(["search"]).arg(path).arg("lamp"), b"");
            assert_eq!(found.status, Some(2), "{sql}: {}", found.stderr);
            assert!(contents(&folder) == before, "{sql}: something has changed");
        }
    }
}

/// The tables of a database that was just created are in its log.
#[test]
fn a_database_whose_loader_was_killed_is_ours() {
    let (running, folder) = (Folder::new(), Folder::new());
    let lines = records(&Folder::new(), "a.mbox", MAIL);
    let reader = Connection::open(running.path("urls.db")).unwrap();
    // As a loader begins.
    reader
        .execute_batch("PRAGMA application_id=0x75726C70; PRAGMA journal_mode=WAL")
        .unwrap();
    // While it reads an older state the log cannot be merged.
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

/// `SQLite` removes the logs of a database that is missing or empty.
#[test]
fn a_file_with_the_name_of_a_log_stays() {
    let lines = records(&Folder::new(), "a.mbox", MAIL);
    let missing: fn(&Folder) = |_| {};
    let empty = |folder: &Folder| drop(folder.write("urls.db", ""));
    let link = |folder: &Folder| symlink("real.db", folder.path("urls.db")).unwrap();
    for (prepare, name) in [(missing, "urls.db"), (empty, "urls.db"), (link, "real.db")] {
        for ending in ["wal", "shm", "journal"] {
            // The journal of a database of 9 pages.
            let journal = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\0\0\0\x01\0\0\0\0\0\0\0\x09\0\0";
            for content in [&b"mine and nobody else's"[..], journal, b""] {
                if ending == "journal" && content.is_empty() {
                    // That of a loader which was killed as it created the database.
                    continue;
                }
                let folder = Folder::new();
                prepare(&folder);
                let log = folder.write(format!("{name}-{ending}"), content);
                let ended = load(&folder, &[], &lines);
                assert_eq!(ended.status, Some(2), "{name}-{ending} {}", ended.stderr);
                let reason = format!("{name}-{ending} stands where");
                assert!(ended.stderr.contains(&reason), "{}", ended.stderr);
                assert_eq!(std::fs::read(&log).unwrap(), content);
                std::fs::remove_file(log).unwrap();
                assert_eq!(load(&folder, &[], &lines).status, Some(0));
            }
        }
    }
}

/// The journal of a loader that creates the database is no file of another program.
#[test]
fn a_database_that_is_being_created_is_waited_for() {
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    for journal in [
        &b"\0\0\0\0\0\0\0\0\0\0\0\0"[..],
        b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\0\0\0\0",
        b"",
    ] {
        folder.write("urls.db", "");
        folder.write("urls.db-journal", journal);
        let ended = load(&folder, &[], &lines);
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        std::fs::remove_file(folder.path("urls.db")).unwrap();
    }
}
