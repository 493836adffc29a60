//! `urlspool scan --into`: the rows of `scan | load`, and none of missing files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::types::Value;

use super::{MAIL, check_database, first_message, load, value};
use crate::scene::{Ended, Folder, assert_contains, ended, unless_ignored, urlspool, wait_until};

/// Runs `urlspool scan -v --into` with the database `urls.db` in `folder`.
fn scan_into(folder: &Folder, args: &[&str], input: &[u8]) -> Ended {
    let database = folder.path("urls.db");
    ended(
        urlspool(["scan", "-v", "--into"]).arg(database).args(args),
        input,
    )
}

/// Runs [`scan_into`], which must end with status 0.
#[track_caller]
fn scanned_into(folder: &Folder, args: &[&str]) -> String {
    let ended = scan_into(folder, args, b"");
    assert_eq!(ended.status, Some(0), "{args:?}: {}", ended.stderr);
    ended.stderr
}

/// Creates a folder `mail` with two mailboxes of four records each.
fn two_mailboxes(folder: &Folder) -> String {
    folder.write("mail/a.mbox", MAIL);
    folder.write("mail/deep/b.mbox", MAIL);
    folder.path("mail").display().to_string()
}

#[track_caller]
fn rows(folder: &Folder) -> i64 {
    check_database(&folder.path("urls.db"));
    value(folder, "SELECT count(*) FROM urls")
}

/// Returns all rows of all tables, ordered by identifier.
fn everything(database: &Path) -> Vec<Vec<Value>> {
    let db = Connection::open(database).unwrap();
    let mut all = Vec::new();
    for table in ["sources", "messages", "links", "urls", "texts"] {
        let mut statement = db
            .prepare(&format!("SELECT * FROM {table} ORDER BY id"))
            .unwrap();
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
        let found = statement.query_map([], row).unwrap();
        all.extend(found.map(Result::unwrap));
    }
    all
}

#[test]
fn the_rows_equal_those_of_scan_and_load() {
    for options in [
        &["--unique", "message"][..],
        &["-j1"],
        &["--set", "strip_recipient=true"],
    ] {
        let (piped, direct) = (Folder::new(), Folder::new());
        let records = ended(
            &mut urlspool([&["scan", "mail", "news", "text", "containers"], options].concat()),
            b"",
        );
        load(&piped, &[], &records.stdout);
        let paths = ["mail", "news", "text", "containers"];
        let ended = scan_into(&direct, &[&paths, options].concat(), b"");
        assert_eq!(ended.status, records.status, "{}", ended.stderr);
        let rows = everything(&direct.path("urls.db"));
        assert!(1000 < rows.len(), "{} rows", rows.len());
        assert_eq!(rows, everything(&piped.path("urls.db")), "{options:?}");
        check_database(&direct.path("urls.db"));
    }
}

#[test]
fn replace_removes_the_rows_of_missing_and_changed_files() {
    let folder = Folder::new();
    let mail = two_mailboxes(&folder);
    let elsewhere = folder.file("elsewhere.mbox", MAIL);
    scanned_into(&folder, &[&mail, &elsewhere]);
    assert_eq!(rows(&folder), 12);
    fs::remove_file(&elsewhere).unwrap();
    // The files are, in order, changed, without any URL, and gone.
    folder.write("mail/a.mbox", first_message());
    folder.write("mail/c.mbox", MAIL);
    scanned_into(&folder, &[&mail]);
    assert_eq!(rows(&folder), 16);
    folder.write(
        "mail/c.mbox",
        "From a Mon Jan  1 00:00:00 1996\nSubject: nothing\n\nNo URL.\n",
    );
    fs::remove_dir_all(folder.path("mail/deep")).unwrap();
    let counted = scanned_into(&folder, &["--replace", "--dry-run", &mail]);
    assert!(counted.contains("9 rows removed"), "{counted}");
    assert!(counted.contains("--dry-run changed nothing"), "{counted}");
    assert_eq!(rows(&folder), 16);
    let summary = scanned_into(&folder, &["--replace", &mail]);
    assert_contains(&summary, "3 records, 0 of them new, 9 rows removed");
    // Files elsewhere are ignored.
    assert_eq!(rows(&folder), 7);
    folder.write("mail/c.mbox", "");
    folder.write("mail/a.mbox", "");
    folder.write("mail/d.mbox", MAIL);
    let summary = scanned_into(&folder, &["--replace", &mail]);
    assert_contains(&summary, "4 of them new, 3 rows removed");
}

#[test]
fn replace_keeps_the_rows_of_a_root_that_is_missing_or_empty() {
    let folder = Folder::new();
    let mail = two_mailboxes(&folder);
    let other = folder.file("other.mbox", MAIL);
    scanned_into(&folder, &[&mail, &other]);
    fs::rename(&mail, folder.path("unmounted")).unwrap();
    for is_there in [false, true] {
        if is_there {
            fs::create_dir_all(folder.path("mail/empty")).unwrap();
        }
        let ended = scan_into(&folder, &["--replace", &mail, &other], b"");
        assert_eq!(ended.status, Some(i32::from(!is_there)), "{}", ended.stderr);
        assert_contains(&ended.stderr, "its rows were kept");
        assert_eq!(rows(&folder), 12);
    }
    let ended = scan_into(&folder, &["--replace", &mail], b"");
    assert_contains(&ended.stderr, "its rows were kept");
    fs::write(&other, "").unwrap();
    scanned_into(&folder, &["--replace", &mail, &other]);
    assert_eq!(rows(&folder), 12);
    // A file in the folder shows that this is the scanned folder.
    folder.write("mail/new.mbox", MAIL);
    scanned_into(&folder, &["--replace", &mail]);
    assert_eq!(rows(&folder), 8);
}

#[test]
fn replace_keeps_the_rows_of_files_that_were_not_read() {
    let folder = Folder::new();
    let mail = two_mailboxes(&folder);
    folder.write("mail/c.mbox", MAIL);
    let packed = zstd::encode_all(&*MAIL.repeat(4000).into_bytes(), 1).unwrap();
    folder.write("mail/d.mbox.zst", &packed);
    scanned_into(&folder, &[&mail]);
    let before = rows(&folder);
    fs::remove_file(folder.path("mail/c.mbox")).unwrap();
    fs::write(folder.path("mail/d.mbox.zst"), &packed[..packed.len() / 2]).unwrap();
    // Root can read the file despite its mode.
    let unreadable = fs::Permissions::from_mode(0o000);
    fs::set_permissions(folder.path("mail/a.mbox"), unreadable).unwrap();
    let ended = scan_into(&folder, &["--replace", "--exclude", "deep", &mail], b"");
    ended.check(1, "4 rows removed");
    assert_eq!(rows(&folder), before - 4);
}

#[test]
fn unusable_arguments_are_refused_before_any_work() {
    let folder = Folder::new();
    let mail = folder.file("a.mbox", MAIL);
    let database = folder.path("urls.db").display().to_string();
    for (args, reason) in [
        (&["-o", "x"][..], "cannot be used with"),
        (&["--format", "urls"], "cannot be used with"),
        (&["--replace", "--since", "1996"], "cannot be used with"),
        (&["--dry-run"], "there is no database"),
        (&["--summary", &database], "would overwrite"),
        (&["--rejects", &mail], "would overwrite the input"),
    ] {
        let ended = scan_into(&folder, &[args, &[&mail]].concat(), b"");
        ended.check(2, reason);
        assert!(!folder.path("urls.db").exists(), "{args:?}");
    }
    assert_eq!(fs::read_to_string(&mail).unwrap(), MAIL);
    for (target, reason) in [
        (&*mail, "both an input and the target"),
        ("duckdb:x", "is not a target"),
    ] {
        let ended = ended(&mut urlspool(["scan", "--into", target, &mail]), b"");
        ended.check(2, reason);
    }
    let other = folder.file("other", "no database, and longer than a page would be");
    let ended = ended(
        urlspool(["scan", "--into", &other, "--summary"])
            .arg(folder.path("s"))
            .arg(&mail),
        b"",
    );
    assert_eq!(ended.status, Some(2), "{}", ended.stderr);
    assert!(!folder.path("s").exists() && !folder.path("s.partial").exists());
    let missing = folder.path("missing").display().to_string();
    let ended = scan_into(&folder, &[&missing], b"");
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    assert!(!folder.path("urls.db").exists());
}

#[test]
fn an_interrupted_load_is_completed_by_the_next() {
    let folder = Folder::new();
    // The scan waits for its input, which stays open. `wait` would close it, and the scan could end
    // before it receives the signal.
    let mut child = urlspool(["scan", "--into"])
        .arg(folder.path("urls.db"))
        .arg("-")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let input = child.stdin.take();
    wait_until("the database exists", || folder.path("urls.db").exists());
    thread::sleep(Duration::from_millis(50));
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, unless_ignored(rustix::process::Signal::INT)).unwrap();
    let status = child.wait().unwrap();
    drop(input);
    assert_eq!(status.code(), Some(130));
    let mail = folder.file("a.mbox", MAIL);
    scanned_into(&folder, &[&mail]);
    assert_eq!(rows(&folder), 4);
}

/// A trigger simulates a full disk.
#[test]
fn a_load_that_fails_ends_the_scan_and_can_be_repeated() {
    let folder = Folder::new();
    let few = folder.file("few.mbox", MAIL);
    let message = |number| {
        MAIL.replace("a lamp", &format!("lamp {number}"))
            .replace("see", &format!("see {number}"))
    };
    let many = folder.file("many.mbox", (0..8_000).map(message).collect::<String>());
    scanned_into(&folder, &[&few]);
    let db = Connection::open(folder.path("urls.db")).unwrap();
    db.execute_batch(
        "CREATE TRIGGER full BEFORE INSERT ON urls WHEN new.id > 20000
         BEGIN SELECT RAISE(ABORT, 'no room'); END",
    )
    .unwrap();
    let rejects = folder.path("rejects").display().to_string();
    let options = ["--rejects", &rejects, &few, &many];
    let ended = scan_into(&folder, &options, b"");
    ended.check(74, "no room");
    assert!(!Path::new(&rejects).exists());
    db.execute_batch("DROP TRIGGER full").unwrap();
    drop(db);
    scanned_into(&folder, &[&few, &many]);
    assert_eq!(rows(&folder), 4 + 32_000);
}
