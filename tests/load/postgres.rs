//! Loads into `PostgreSQL`, on a server that the test starts.

mod server;
mod tls;

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::kept_segments::{check_replaced, end_of, follow, is_empty};
use super::segments::segment;
use super::{LIST_MAIL, MAIL, first_message, records, second_in_another_mailbox};
use crate::scene::{Ended, Folder, assert_contains, ended, urlspool, wait_until};
use server::PostgresServer;

fn load(target: &str, input: &[u8]) -> Ended {
    ended(&mut urlspool(["load", "-v", "--into", target]), input)
}

#[track_caller]
fn loaded(target: &str, input: &[u8]) -> String {
    let ended = load(target, input);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    ended.stderr
}

#[track_caller]
fn refused(target: &str, input: &[u8], reason: &str) {
    let ended = load(target, input);
    ended.check(2, reason);
}

#[test]
fn records_are_loaded_once() {
    let Some(server) = PostgresServer::start("", &[]) else {
        return;
    };
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    let target = server.target();
    assert!(loaded(&target, &lines).contains("4 records, 4 of them new"));
    assert!(loaded(&target, &lines).contains("4 records, 0 of them new"));
    let links = server.psql("SELECT host, citations, messages, first FROM links ORDER BY host");
    assert_eq!(
        links,
        "f.example|1|1|1996-01-01T10:00:00Z\nm.example|3|2|1996-01-01T10:00:00Z"
    );
    loaded(&target, &records(&folder, "b.mbox", LIST_MAIL));
    check_links(&server);
    let listed = "SELECT sum(in_list_fields), count(*) FILTER (WHERE in_list_fields = citations) \
                  FROM links";
    assert_eq!(server.psql(listed), "5|3");
}

#[test]
fn a_scan_loads_its_records_and_removes_the_rows_of_files_that_are_gone() {
    let Some(server) = PostgresServer::start("", &[]) else {
        return;
    };
    let folder = Folder::new();
    for name in ["mail/a.mbox", "mail/b.mbox", "mail/c.mbox"] {
        folder.write(name, MAIL);
    }
    let mail = folder.path("mail").display().to_string();
    let target = server.target();
    let scan = |args: &[&str]| {
        let command = ["scan", "-v", "--into", &target, &mail];
        let ended = ended(&mut urlspool([&command[..], args].concat()), b"");
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        ended.stderr
    };
    let rows = || server.psql("SELECT * FROM records ORDER BY source_path, source_start");
    scan(&[]);
    let scanned = rows();
    assert_eq!(scanned.lines().count(), 12);
    server.psql("TRUNCATE urls, links, messages, sources");
    loaded(&target, &ended(&mut urlspool(["scan", &mail]), b"").stdout);
    assert_eq!(rows(), scanned);
    // The files are, in order, changed, without any URL, and gone.
    let second = &MAIL[first_message().len()..];
    folder.write("mail/a.mbox", second);
    folder.write("mail/b.mbox", "");
    std::fs::remove_file(folder.path("mail/c.mbox")).unwrap();
    let counted = scan(&["--replace", "--dry-run"]);
    assert!(counted.contains("11 rows removed"), "{counted}");
    assert_eq!(rows(), scanned);
    let summary = scan(&["--replace"]);
    assert_contains(&summary, "1 record, 0 of them new, 11 rows removed");
    assert_eq!(server.psql("SELECT sum(citations) FROM links"), "1");
    let start = second.find("http").unwrap().to_string();
    assert_eq!(server.psql("SELECT start FROM urls"), start);
}

/// `search` reads only SQLite.
#[test]
fn a_server_is_not_searched() {
    for target in [
        "postgresql:///urls",
        "elasticsearch+http://127.0.0.1:9/urls",
    ] {
        let refused = ended(&mut urlspool(["search", target, "lamp"]), b"");
        refused.check(2, "docs/recipes.md");
    }
}

#[test]
fn tables_of_other_versions_are_refused() {
    let Some(server) = PostgresServer::start("", &[]) else {
        return;
    };
    let folder = Folder::new();
    let target = server.target();
    let lines = records(&folder, "a.mbox", MAIL);
    loaded(&target, &lines);
    server.psql("UPDATE urlspool_tables SET version = 99");
    refused(&target, &lines, "a newer urlspool");
    server.psql("ALTER TABLE urlspool_tables RENAME TO urlspool_version");
    refused(&target, &lines, "a development version");
}

#[test]
fn a_record_that_is_loaded_for_another_mailbox_is_gone_with_that() {
    let Some(server) = PostgresServer::start("", &[]) else {
        return;
    };
    let folder = Folder::new();
    let (first, moved) = (
        records(&folder, "a.mbox", MAIL),
        second_in_another_mailbox(&folder),
    );
    let inputs = [
        vec![first.clone(), moved.clone()],
        vec![[first, moved].concat()],
    ];
    for inputs in inputs {
        for input in inputs {
            loaded(&server.target(), &input);
        }
        check_links(&server);
        assert_eq!(server.psql("SELECT count(*) FROM urls"), "4");
        let digest = server.psql("SELECT digest FROM messages WHERE mailbox = 'other'");
        assert_ne!(digest, "");
        let gone = |mailbox: &str| {
            format!("{{\"type\":\"gone\",\"mailbox\":{mailbox:?},\"digests\":[{digest:?}]}}\n")
        };
        let old = folder.path("a.mbox").display().to_string();
        loaded(&server.target(), gone(&old).as_bytes());
        assert_eq!(server.psql("SELECT count(*) FROM urls"), "4");
        loaded(&server.target(), gone("other").as_bytes());
        assert_eq!(server.psql("SELECT count(*) FROM urls"), "3");
        check_links(&server);
        assert_eq!(server.psql("SELECT count(*) FROM messages"), "1");
        server.psql("TRUNCATE urls, links, messages, sources");
    }
}

#[test]
fn tables_of_another_program_are_named_and_left_alone() {
    let Some(server) = PostgresServer::start("", &[]) else {
        return;
    };
    let folder = Folder::new();
    let lines = records(&folder, "a.mbox", MAIL);
    server.psql("CREATE TABLE messages(note text); CREATE SCHEMA apart");
    refused(
        &server.target(),
        &lines,
        "a table or view `messages` of another program",
    );
    assert_eq!(server.psql("SELECT to_regclass('urls') IS NULL"), "t");
    // The remedy that the message suggests.
    let apart = format!("{}&options=-csearch_path%3Dapart", server.target());
    loaded(&apart, &lines);
    assert_eq!(server.psql("SELECT count(*) FROM apart.urls"), "4");
    assert_eq!(server.psql("SELECT count(*) FROM messages"), "0");
}

/// Checks that the counts in `links` match the rows.
#[track_caller]
fn check_links(server: &PostgresServer) {
    let wrong = server.psql(
        "SELECT count(*) FROM links WHERE (citations, messages, in_list_fields, first, last)
           IS DISTINCT FROM (SELECT ROW(count(*), count(DISTINCT digest),
              count(*) FILTER (WHERE region ILIKE 'header:list-%'
                OR region ILIKE 'header:archived-at'), min(cited), max(cited))
            FROM urls JOIN messages ON messages.id = urls.message WHERE urls.link = links.id)
         OR citations = 0",
    );
    assert_eq!(wrong, "0");
}

#[test]
fn messages_that_are_gone_are_removed_together_and_in_the_order_of_the_input() {
    let Some(server) = PostgresServer::start("", &[]) else {
        return;
    };
    let folder = Folder::new();
    let count = 4000;
    let mail: String = (0..count)
        .map(|n| {
            format!(
                "From a Mon Jan  1 00:00:00 1996\nSubject: {n}\n\n\
            http://m.example/ http://a{n}.example/\n\n"
            )
        })
        .collect();
    let lines = String::from_utf8(records(&folder, "a.mbox", &mail)).unwrap();
    let target = server.target();
    loaded(&target, lines.as_bytes());
    let digests = server.psql(
        "SELECT digest FROM urls JOIN messages ON messages.id = urls.message GROUP BY digest ORDER \
         BY min(urls.id)",
    );
    let mailbox = server.psql("SELECT DISTINCT mailbox FROM messages");
    let gone = |digest: &str| {
        format!("{{\"type\":\"gone\",\"mailbox\":{mailbox:?},\"digests\":[{digest:?}]}}\n")
    };
    // All messages are gone, each with its own line, and two of them are added again.
    let all: String = digests.lines().map(gone).collect();
    let again: Vec<_> = lines.lines().take(4).collect();
    let begun = Instant::now();
    let summary = loaded(&target, (all + &again.join("\n") + "\n").as_bytes());
    // This takes a second. It took minutes when each line was one statement.
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
    assert_contains(&summary, "4 of them new, 8,000 rows removed");
    assert_eq!(server.psql("SELECT count(*) FROM urls"), "4");
    check_links(&server);
    // Added and gone in one batch, in either order.
    let first = gone(digests.lines().next().unwrap());
    let input = [
        &*again.join("\n"),
        "\n",
        &first,
        &again.join("\n"),
        "\n",
        &first,
    ]
    .concat();
    loaded(&target, input.as_bytes());
    assert_eq!(server.psql("SELECT count(*) FROM urls"), "2");
    check_links(&server);
}

#[test]
fn another_database_of_the_name_keeps_the_segments() {
    let Some(server) = PostgresServer::start("", &[]) else {
        return;
    };
    let target = server.target().replace("/postgres?", "/urls?");
    let acts: [&[&str]; 3] = [
        &["DROP DATABASE urls WITH (FORCE)", "CREATE DATABASE urls"],
        &[
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'urls'",
            "SELECT pg_sleep(1)",
            "ALTER DATABASE urls RENAME TO old",
        ],
        &[
            "DROP DATABASE urls WITH (FORCE)",
            "CREATE DATABASE urls TEMPLATE loaded",
        ],
    ];
    for (act, name) in acts.iter().zip(["empty", "missing", "loaded"]) {
        server.psql("DROP DATABASE IF EXISTS urls");
        server.psql("CREATE DATABASE urls");
        let folder = Folder::new();
        segment(&folder, 1, &records(&folder, "a.mbox", MAIL));
        let child = follow(urlspool(["load", "--into", &target]), &folder);
        let out = folder.path("out");
        wait_until("segment 1 is removed", || is_empty(&out));
        for sql in *act {
            server.psql(sql);
        }
        let path = segment(&folder, 2, &records(&folder, "b.mbox", MAIL));
        check_replaced(&end_of(child));
        assert!(std::path::Path::new(&path).exists(), "{name}");
        if name == "missing" {
            server.psql("ALTER DATABASE old RENAME TO loaded");
        }
    }
}

#[test]
fn a_statement_may_take_longer_than_the_server_may_be_silent() {
    let Some(server) = PostgresServer::start("", &[]) else {
        return;
    };
    let folder = Folder::new();
    let target = format!("{}&connect_timeout=4", server.target());
    loaded(&target, b"");
    let lines = records(&folder, "a.mbox", MAIL);
    std::thread::scope(|scope| {
        let hold = "BEGIN; LOCK TABLE urls; SELECT pg_sleep(9); COMMIT";
        scope.spawn(|| server.psql(hold));
        std::thread::sleep(Duration::from_millis(500));
        let begun = Instant::now();
        loaded(&target, &lines);
        // The load waited.
        assert!(Duration::from_secs(4) < begun.elapsed());
    });
    assert_eq!(server.psql("SELECT count(*) FROM urls"), "4");
}

#[test]
fn a_hanging_server_is_abandoned() {
    let Some(server) = PostgresServer::start("", &[]) else {
        return;
    };
    let folder = Folder::new();
    let target = format!("{}&connect_timeout=1", server.target());
    let mut child = urlspool(["load", "--into", &target])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A load reads the start of its input before it connects.
    let lines = records(&folder, "a.mbox", MAIL);
    let first = lines.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let mut input = child.stdin.take().unwrap();
    input.write_all(&lines[..first]).unwrap();
    let find = "SELECT pid FROM pg_stat_activity WHERE application_name = 'urlspool'";
    wait_until("it is connected", || {
        !server.psql(find).is_empty() && server.psql("SELECT to_regclass('urls')") == "urls"
    });
    let pids = [server.psql(find), server.pid()];
    let signal = |name: &str| {
        let mut command = Command::new("kill");
        assert!(command.arg(name).args(&pids).status().unwrap().success());
    };
    signal("-STOP");
    input.write_all(&lines[first..]).unwrap();
    drop(input);
    let ended = end_of(child);
    signal("-CONT");
    assert_eq!(ended.status, Some(69), "{}", ended.stderr);
    let reason = "has not answered for 1 s";
    assert!(ended.stderr.contains(reason), "{}", ended.stderr);
}
