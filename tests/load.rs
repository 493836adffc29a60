//! `urlspool load` and `urlspool search`: each record is stored once, even after failures.

#[cfg(any(feature = "elasticsearch", feature = "postgres"))]
mod authority;
mod bad_lines;
mod browse;
#[cfg(feature = "elasticsearch")]
mod checking_server;
mod cited;
#[cfg(feature = "elasticsearch")]
mod elasticsearch;
mod folders;
mod kept_segments;
mod lookalikes;
#[cfg(feature = "postgres")]
mod postgres;
mod prune;
mod replace;
mod scan_into;
mod search;
mod segments;
mod target_files;

use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::FromSql;

use crate::scene::{Ended, Folder, done, ended, urlspool};

/// Two messages, three URLs, two links.
const MAIL: &str = "From a Mon Jan  1 00:00:00 1996\n\
From: Jane <jane@m.example>\nDate: Mon, 1 Jan 1996 10:00:00 +0000\nSubject: A lamp\n\
Message-ID: <1@m.example>\n\n\
see http://m.example/lamp and http://m.example/lamp and ftp://f.example/x\n\n\
From b Tue Jan  2 00:00:00 1996\n\
From: John <john@m.example>\nDate: Tue, 2 Jan 1996 10:00:00 +0000\nSubject: The other lamp\n\
Message-ID: <2@m.example>\n\n\
see http://m.example/lamp\n\n";

/// Returns the records of `mail`, scanned as the file `name` in `folder`.
#[track_caller]
pub(crate) fn records(folder: &Folder, name: &str, mail: &str) -> Vec<u8> {
    let path = folder.file(name, mail);
    done(&["scan", &path]).stdout
}

/// Runs `urlspool load --into` with the database `urls.db` in `folder`.
#[track_caller]
pub(crate) fn load(folder: &Folder, args: &[&str], input: &[u8]) -> Ended {
    let database = folder.path("urls.db");
    ended(
        urlspool(["load", "-v", "--into"]).arg(database).args(args),
        input,
    )
}

/// Runs [`load`], which must end with status 0.
#[track_caller]
pub(crate) fn loaded(folder: &Folder, args: &[&str], input: &[u8]) -> String {
    let ended = load(folder, args, input);
    assert_eq!(ended.status, Some(0), "{args:?}: {}", ended.stderr);
    ended.stderr
}

#[track_caller]
pub(crate) fn value<T: FromSql>(folder: &Folder, sql: &str) -> T {
    let db = Connection::open(folder.path("urls.db")).unwrap();
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// A message of a mailing list: three links only in header fields of the list (one of them in
/// two), one link in a header field and in the text, one link in another header field, and one in
/// the text.
pub(crate) const LIST_MAIL: &str = "From a Mon Jan  1 00:00:00 1996\n\
From: Jane <jane@m.example>\nDate: Mon, 1 Jan 1996 10:00:00 +0000\nSubject: A lamp\n\
Message-ID: <1@m.example>\nList-Unsubscribe: <http://l.example/off>\n\
list-post: <mailto:lamps@l.example>\nLIST-ARCHIVE: <http://l.example/off>\n\
Archived-At: <http://l.example/msg/1>\nList-Help: <http://l.example/both>\n\
X-Home: http://m.example/home\n\nsee http://l.example/both and http://m.example/lamp\n\n";

pub(crate) fn first_message() -> &'static str {
    &MAIL[..MAIL.find("From b ").unwrap()]
}

/// Returns the record of [`MAIL`]'s second message with the mailbox `other`. The daemon writes this
/// record after a change of scope if it has no memory of the first one.
#[track_caller]
pub(crate) fn second_in_another_mailbox(folder: &Folder) -> Vec<u8> {
    let lines = String::from_utf8(records(folder, "a.mbox", MAIL)).unwrap();
    let mailbox = format!("\"mailbox\":\"{}\"", folder.path("a.mbox").display());
    let last = lines.lines().last().unwrap();
    assert!(last.contains(&mailbox) && last.contains("<2@m.example>"));
    let moved = last.replace(&mailbox, "\"mailbox\":\"other\"") + "\n";
    moved.into_bytes()
}

/// Checks that the counts in `links` and the full-text index match the rows.
#[track_caller]
pub(crate) fn check_database(path: &Path) {
    let db = Connection::open(path).unwrap();
    let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let wrong_links = number(
        "SELECT count(*) FROM links WHERE (citations, messages, in_list_fields, first, last) IS NOT
         (SELECT count(*), count(DISTINCT digest),
            sum(region LIKE 'header:list-%' OR region LIKE 'header:archived-at'),
            min(cited), max(cited)
          FROM urls JOIN messages ON messages.id = urls.message WHERE urls.link = links.id)",
    );
    assert_eq!(
        wrong_links, 0,
        "links do not have the numbers of their rows"
    );
    assert_eq!(number("SELECT count(*) FROM links WHERE citations = 0"), 0);
    assert_eq!(
        number("SELECT count(*) - count(DISTINCT record_key) FROM urls"),
        0
    );
    for parent in ["message", "source"] {
        let orphans =
            format!("SELECT count(*) FROM {parent}s WHERE id NOT IN (SELECT {parent} FROM urls)");
        assert_eq!(number(&orphans), 0, "{parent}s without rows");
    }
    db.execute_batch("INSERT INTO search(search, rank) VALUES('integrity-check', 1)")
        .expect("the full-text index is that of the rows");
}

#[test]
fn records_are_loaded_once_however_often() {
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    assert!(loaded(&folder, &[], &lines).contains("4 records, 4 of them new"));
    assert!(loaded(&folder, &[], &lines).contains("4 records, 0 of them new"));
    assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 4);
    let (citations, messages): (i64, i64) = (
        value(
            &folder,
            "SELECT citations FROM links WHERE host='m.example'",
        ),
        value(&folder, "SELECT messages FROM links WHERE host='m.example'"),
    );
    assert_eq!((citations, messages), (3, 2));
    let last: String = value(&folder, "SELECT last FROM links WHERE host='m.example'");
    assert_eq!(last, "1996-01-02T10:00:00Z");
    check_database(&folder.path("urls.db"));
}

#[test]
fn gone_messages_take_their_rows_and_links_with_them() {
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    loaded(&folder, &[], &lines);
    let digest: String = value(
        &folder,
        "SELECT digest FROM messages WHERE message_id='<1@m.example>'",
    );
    let mailbox = folder.path("a.mbox");
    let gone = |mailbox: &str| {
        format!("{{\"type\":\"gone\",\"mailbox\":{mailbox:?},\"digests\":[{digest:?},\"00\"]}}\n")
    };
    let summary = loaded(&folder, &[], gone("another").as_bytes());
    assert!(!summary.contains("removed"), "{summary}");
    let summary = loaded(&folder, &[], gone(mailbox.to_str().unwrap()).as_bytes());
    assert!(summary.contains("3 rows removed"), "{summary}");
    assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 1);
    let first: String = value(&folder, "SELECT first FROM links");
    assert_eq!(first, "1996-01-02T10:00:00Z");
    check_database(&folder.path("urls.db"));
    loaded(&folder, &[], &lines);
    assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 4);
    check_database(&folder.path("urls.db"));
}

#[test]
fn a_record_that_is_loaded_for_another_mailbox_is_gone_with_that() {
    let first = |folder: &Folder| records(folder, "a.mbox", MAIL);
    for is_one_batch in [false, true] {
        let folder = Folder::new();
        let (first, moved) = (first(&folder), second_in_another_mailbox(&folder));
        if is_one_batch {
            loaded(&folder, &[], &[first, moved].concat());
        } else {
            loaded(&folder, &[], &first);
            let summary = loaded(&folder, &[], &moved);
            assert!(summary.contains("1 record, 0 of them new"), "{summary}");
        }
        check_database(&folder.path("urls.db"));
        assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 4);
        let moved = "SELECT count(*) FROM records WHERE source_mailbox = 'other'";
        assert_eq!(value::<i64>(&folder, moved), 1);
        let digest: String = value(
            &folder,
            "SELECT digest FROM messages WHERE mailbox = 'other'",
        );
        let gone = |mailbox: &str| {
            format!("{{\"type\":\"gone\",\"mailbox\":{mailbox:?},\"digests\":[{digest:?}]}}\n")
        };
        let old = folder.path("a.mbox").display().to_string();
        loaded(&folder, &[], gone(&old).as_bytes());
        assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 4);
        loaded(&folder, &[], gone("other").as_bytes());
        assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 3);
        check_database(&folder.path("urls.db"));
    }
}

#[test]
fn tables_of_other_versions_are_refused() {
    for (pragma, value, reason) in [
        ("application_id", 0x7572_6C73, "a development version"),
        ("user_version", 99, "a newer urlspool"),
    ] {
        let folder = Folder::new();
        loaded(&folder, &[], b"");
        let db = Connection::open(folder.path("urls.db")).unwrap();
        db.pragma_update(None, pragma, value).unwrap();
        drop(db);
        let ended = load(&folder, &[], b"");
        ended.check(2, reason);
    }
    let folder = Folder::new();
    loaded(&folder, &[], b"");
    let db = Connection::open(folder.path("urls.db")).unwrap();
    db.execute_batch("DROP VIEW texts").unwrap();
    drop(db);
    load(&folder, &[], b"").check(2, "a development version");
}

#[test]
fn messages_may_be_gone_and_loaded_again_in_one_batch() {
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    loaded(&folder, &[], &lines);
    let digest: String = value(
        &folder,
        "SELECT digest FROM messages WHERE message_id='<1@m.example>'",
    );
    let mailbox = folder.path("a.mbox");
    let gone = format!("{{\"type\":\"gone\",\"mailbox\":{mailbox:?},\"digests\":[{digest:?}]}}\n");
    let all = [&lines, gone.as_bytes(), &lines, gone.as_bytes(), &lines].concat();
    loaded(&folder, &[], &all);
    assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 4);
    check_database(&folder.path("urls.db"));
}

#[test]
fn the_index_keeps_the_texts_of_the_first_loaded_message() {
    let folder = Folder::new();
    let lines = String::from_utf8(records(&folder, "a.mbox", MAIL)).unwrap();
    let last = lines.lines().last().unwrap().to_owned() + "\n";
    // Another record of the message, in the same batch and in a later one.
    let other = last
        .replace("The other lamp", "A wick")
        .replace("John", "Jim");
    let other = |offset: &str| other.replacen("\"id\":\"", &format!("\"id\":\"{offset}"), 1);
    loaded(&folder, &[], (lines + &other("1")).as_bytes());
    loaded(&folder, &[], other("2").as_bytes());
    assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 6);
    let found = "SELECT count(*) FROM search WHERE search MATCH 'other john'";
    assert_eq!(value::<i64>(&folder, found), 3);
    check_database(&folder.path("urls.db"));
    let digest: String = value(
        &folder,
        "SELECT digest FROM messages WHERE message_id='<2@m.example>'",
    );
    let mailbox = folder.path("a.mbox");
    let gone = format!("{{\"type\":\"gone\",\"mailbox\":{mailbox:?},\"digests\":[{digest:?}]}}\n");
    loaded(&folder, &[], gone.as_bytes());
    assert_eq!(value::<i64>(&folder, found), 0);
    check_database(&folder.path("urls.db"));
}
