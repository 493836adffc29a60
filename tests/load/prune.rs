//! `urlspool load --prune` removes the rows of missing files, and no others.

use std::fs;

use super::{MAIL, check_database, load, loaded, value};
use crate::scene::{Folder, assert_contains, done};

/// Creates a folder and a database of two mailboxes with four records each and an audit's results.
fn two_mailboxes() -> (Folder, String) {
    let folder = Folder::new();
    folder.write("mail/a.mbox", MAIL);
    folder.write("mail/deep/b.mbox", MAIL);
    let mail = folder.path("mail").display().to_string();
    let database = folder.path("urls.db").display().to_string();
    done(&["scan", "-q", "--into", &database, &mail]);
    done(&["audit", "plan", &database]);
    (folder, mail)
}

#[track_caller]
fn rows(folder: &Folder) -> i64 {
    check_database(&folder.path("urls.db"));
    assert_eq!(value::<i64>(folder, "SELECT count(*) FROM audit_links"), 2);
    value(folder, "SELECT count(*) FROM urls")
}

#[test]
fn rows_of_files_that_are_gone_are_removed_and_a_dry_run_counts_them() {
    let (folder, mail) = two_mailboxes();
    let message = loaded(&folder, &["--prune", &mail], b"");
    assert!(message.contains("0 records, 0 of them new\n"), "{message}");
    fs::remove_file(folder.path("mail/a.mbox")).unwrap();
    let dry = loaded(&folder, &["--prune", "--dry-run", &mail], b"");
    assert_contains(&dry, "changed nothing; --prune would remove 4 rows");
    assert_eq!(rows(&folder), 8);
    let message = loaded(&folder, &["--prune", &mail], b"");
    assert!(message.contains("4 rows removed"), "{message}");
    assert_eq!(rows(&folder), 4);
    let paths = "SELECT group_concat(DISTINCT path) FROM sources";
    let left = folder.path("mail/deep/b.mbox").display().to_string();
    assert_eq!(value::<String>(&folder, paths), left);
}

#[test]
fn files_elsewhere_keep_their_rows() {
    let (folder, mail) = two_mailboxes();
    fs::remove_file(folder.path("mail/a.mbox")).unwrap();
    let deep = format!("{mail}/deep");
    assert!(!loaded(&folder, &["--prune", &deep], b"").contains("removed"));
    let elsewhere = folder.write("other/x", "x");
    let elsewhere = elsewhere.parent().unwrap().display().to_string();
    let message = loaded(&folder, &["--prune", &elsewhere], b"");
    assert!(message.contains("no rows of files below"), "{message}");
    assert_eq!(rows(&folder), 8);
}

/// A mail program renames the file of a message that is read.
#[test]
fn a_message_of_a_maildir_that_was_renamed_keeps_its_rows_until_it_is_scanned_again() {
    let folder = Folder::new();
    for name in ["new/1.M1.h", "new/2.M2.h", "new/3.M3.h", "cur/4.M4.h:2,S"] {
        let text = format!("From: a@b.example\n\nhttp://m.example/{name}\n");
        folder.write(format!("mail/{name}"), text);
    }
    let mail = folder.path("mail").display().to_string();
    let database = folder.path("urls.db").display().to_string();
    let scan = || done(&["scan", "-q", "--into", &database, &mail]);
    let paths = || -> String {
        let paths = "SELECT group_concat(name, ' ') FROM (SELECT replace(path, ?1, '') AS name \
                     FROM sources ORDER BY name)";
        let db = rusqlite::Connection::open(&database).unwrap();
        db.query_row(paths, [format!("{mail}/")], |row| row.get(0))
            .unwrap()
    };
    scan();
    let rename = |old: &str, new: &str| {
        let path = |name: &str| folder.path("mail").join(name);
        fs::rename(path(old), path(new)).unwrap();
    };
    rename("new/1.M1.h", "cur/1.M1.h:2,S");
    rename("cur/4.M4.h:2,S", "cur/4.M4.h,S=9:2,RS");
    fs::remove_file(folder.path("mail/new/2.M2.h")).unwrap();
    let message = loaded(&folder, &["--prune", &mail], b"");
    assert!(message.contains("1 row removed"), "{message}");
    let kept = "2 messages of Maildirs were renamed";
    assert!(message.contains(kept), "{message}");
    assert_eq!(paths(), "cur/4.M4.h:2,S new/1.M1.h new/3.M3.h");
    scan();
    let message = loaded(&folder, &["--prune", &mail], b"");
    assert!(message.contains("2 rows removed"), "{message}");
    assert!(!message.contains("renamed"), "{message}");
    assert_eq!(paths(), "cur/1.M1.h:2,S cur/4.M4.h,S=9:2,RS new/3.M3.h");
}

/// As if a file system were not mounted.
#[test]
fn a_root_that_is_missing_or_empty_is_an_error() {
    let (folder, mail) = two_mailboxes();
    fs::rename(&mail, folder.path("away")).unwrap();
    let refused = |roots: &[&str]| {
        let ended = load(&folder, &[&["--prune"], roots].concat(), b"");
        ended.check(2, "is its file system mounted?");
        assert_eq!(rows(&folder), 8);
    };
    refused(&[&mail]);
    fs::create_dir_all(folder.path("mail/deep")).unwrap();
    refused(&[&mail]);
    let away = folder.path("away").display().to_string();
    refused(&[&away, &mail]);
    refused(&["-"]);
}
