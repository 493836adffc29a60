//! `urlspool audit save`, with a stub that responds like the documented Save Page Now.

use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::http_server::{HttpServer, SeenRequest, answer};
use super::{audit, audited, loaded, message, rows};
use crate::scene::{Ended, Folder, assert_contains, ended, urlspool};

const DATED: &str = "Date: Tue, 2 Jan 1996 10:00:00 +0000\n";

/// Creates an audit in which `/a` and `/b` are alive and not archived, `/c` is alive and archived,
/// `/d` is dead, and `/e` was not checked. Links of excluded kinds are alive, and were planned
/// despite their kind.
fn audited_folder() -> Folder {
    let folder = Folder::new();
    let body = "http://l.cern.ch/a http://l.cern.ch/b http://l.cern.ch/c http://l.cern.ch/d\n\
        http://l.cern.ch/e http://u:p@l.cern.ch/f http://l.cern.ch/unsubscribe http://wiki/g\n";
    let header = format!("{DATED}List-Help: <http://l.cern.ch/help>\n");
    loaded(&folder, &message(1, &header, body));
    let force = "-q --force credentials --force action --force header-only --force confidence \
        --allow-private wiki --contact me@m.test";
    audited(&folder, "plan", &force.split(' ').collect::<Vec<_>>());
    let db = rusqlite::Connection::open(folder.path("urls.db")).unwrap();
    db.execute_batch(
        "INSERT INTO audit_checks(key, checked_at, state, status, checker)
           SELECT key, '2026-11-22T10:00:00Z', iif(url LIKE '%/d', 'dead_page', 'alive'), 200, 'x'
           FROM audit_links WHERE planned AND url NOT LIKE '%/e';
         INSERT INTO audit_captures
           SELECT key, 'http://a.test/cdx', '2026-11-22T10:00:00Z', NULL, NULL, NULL,
             iif(url LIKE '%/c', 'captured', 'none') FROM audit_links WHERE planned",
    )
    .unwrap();
    folder
}

fn job(id: &str) -> String {
    answer(
        "200 OK",
        "",
        &format!("{{\"url\":\"x\",\"job_id\":\"{id}\"}}"),
    )
}

const PENDING: &str = r#"{"status":"pending"}"#;
const SAVED: &str =
    r#"{"status":"success","timestamp":"20261127100000","original_url":"x","job_id":"x"}"#;

#[track_caller]
fn sent(folder: &Folder, server: &HttpServer, more: &[&str]) -> Ended {
    let mut save = urlspool(["audit", "save"]);
    let service = server.url("/save");
    save.arg(folder.path("urls.db"))
        .args(["--send", "--service", &service])
        .args(more)
        .env("IA_ACCESS_KEY_ID", "access")
        .env("IA_SECRET_ACCESS_KEY", "hidden");
    ended(&mut save, b"")
}

fn saves(folder: &Folder) -> Vec<String> {
    let sql = "SELECT url, job, outcome, timestamp, message FROM audit_saves ORDER BY url";
    rows(&folder.path("urls.db"), sql)
}

#[test]
fn only_living_links_in_no_archive_are_listed() {
    let folder = audited_folder();
    let end = audited(&folder, "save", &["--format", "seeds"]);
    let seeds = String::from_utf8(end.stdout).unwrap();
    assert_eq!(seeds, "http://l.cern.ch/a\nhttp://l.cern.ch/b\n");
    let file = folder.path("seeds.txt").display().to_string();
    let end = audited(
        &folder,
        "save",
        &["--format", "seeds", "-o", &file, "--limit", "1"],
    );
    assert_contains(
        &end.stderr,
        "1 URL in the list; left out: 1 beyond `--limit`, 1 held",
    );
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "http://l.cern.ch/a\n"
    );
    // A longer list left its second file behind.
    folder.write("new-2.txt", "http://l.cern.ch/b");
    let new = folder.path("new.txt").display().to_string();
    for mine in [&file, &folder.file("mine.txt", "mine"), &new] {
        let end = audit(&folder, "save", &["--format", "seeds", "-o", mine]);
        end.check(2, "exists, and a list replaces no file; name another one");
    }
    let end = audited(&folder, "save", &["--limit", "1"]);
    assert_contains(&end.stderr, "2 living URLs are in none of the archives");
    assert!(end.stderr.contains("none was sent"), "{}", end.stderr);
    let left_out = "; left out: 1 held by an archive, 3 with a private host, a password or an \
        action, 1 cited only in header fields or with a confidence below 0.8, 2 not checked, dead \
        or unknown at the newest check";
    assert!(end.stderr.contains(left_out), "{}", end.stderr);
    let db = rusqlite::Connection::open(folder.path("urls.db")).unwrap();
    db.execute_batch("UPDATE audit_checks SET state = 'dead_page'")
        .unwrap();
    let end = audited(&folder, "save", &["--format", "seeds"]);
    assert_eq!(end.stdout, b"");
    assert_contains(&end.stderr, "0 URLs in the list; left out: 9 not checked");
}

/// Checks that status, report and CSV list saved URLs with their outcome and snapshot address.
#[track_caller]
fn shown(folder: &Folder, stub: &HttpServer) {
    let status = String::from_utf8(audited(folder, "status", &[]).stdout).unwrap();
    let table = status.split("URLs submitted to a save service\n").nth(1);
    let expected = "         1    saved              saved\n         1    failed             \
        cannot be captured\n";
    assert_eq!(table, Some(expected), "{status}");
    let [html, csv] = ["report.html", "csv"].map(|name| folder.path(name).display().to_string());
    audited(folder, "report", &["-q", "-o", &html]);
    audited(folder, "report", &["-q", "--format", "csv", "-o", &csv]);
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap();
    let snapshot = stub.url("/web/20261127100000/http://l.cern.ch/a");
    let figures = read("csv/saves.csv");
    assert_contains(&figures, &format!(",saved,20261127100000,{snapshot},\n"));
    assert!(
        figures.ends_with(",failed,,,error:not-found HTTP 404\n"),
        "{figures}"
    );
    let html = read("report.html");
    assert!(html.contains("Saved links") && html.contains("cannot be captured"));
}

#[test]
fn links_are_sent_with_keys_and_their_captures_are_stored() {
    let folder = audited_folder();
    let polls = AtomicUsize::new(0);
    let stub = HttpServer::start(move |request, _| match request.target.as_str() {
        "/save" if request.body.contains("%2Fa") => job("j-a"),
        "/save" => answer(
            "200 OK",
            "",
            r#"{"status":"error","status_ext":"error:not-found","message":"HTTP 404"}"#,
        ),
        "/save/status/j-a" if polls.fetch_add(1, Ordering::SeqCst) == 0 => {
            answer("200 OK", "", PENDING)
        }
        _ => answer("200 OK", "", SAVED),
    });
    let end = sent(&folder, &stub, &["--limit", "1"]);
    let summary = "1 of 1 URL sent, 1 saved; left out: 1 beyond `--limit`, 1 held by an archive";
    end.check(0, summary);
    let end = sent(&folder, &stub, &[]);
    let summary = "1 of 1 URL sent, 0 saved, 1 cannot be captured (last failure: \
        error:not-found HTTP 404); left out: 1 submitted before";
    end.check(1, summary);
    assert_eq!(
        saves(&folder),
        [
            "http://l.cern.ch/a|j-a|saved|20261127100000|-",
            "http://l.cern.ch/b|-|failed|-|error:not-found HTTP 404",
        ]
    );
    shown(&folder, &stub);
    let first: &SeenRequest = &stub.seen()[0];
    assert_eq!(
        first.body,
        "url=http%3A%2F%2Fl.cern.ch%2Fa&skip_first_archive=1"
    );
    for field in [
        "authorization: low access:hidden",
        "accept: application/json",
        "me@m.test",
    ] {
        assert!(first.head.contains(field), "{field}: {}", first.head);
    }
    let requests = stub.seen().len();
    let end = sent(&folder, &stub, &[]);
    end.check(0, "0 of 0 URLs sent");
    assert_eq!(stub.seen().len(), requests, "nothing is sent twice");
    // Archives are asked again for what was saved.
    let asked = "SELECT key FROM audit_asked WHERE outcome='none' AND key LIKE '%/a'";
    assert!(rows(&folder.path("urls.db"), asked).is_empty());
}

#[test]
fn a_job_is_asked_for_after_an_interruption() {
    let folder = audited_folder();
    let stub = HttpServer::start(|request, _| match request.target.as_str() {
        "/save" => job("j1"),
        _ => answer("200 OK", "", PENDING),
    });
    let child = urlspool(["audit", "save"])
        .arg(folder.path("urls.db"))
        .args(["--send", "--service", &stub.url("/save"), "--limit", "1"])
        .env("IA_ACCESS_KEY_ID", "access")
        .env("IA_SECRET_ACCESS_KEY", "hidden")
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap();
    for _ in 0..500 {
        if 1 < stub.seen().len() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(saves(&folder), ["http://l.cern.ch/a|j1|sent|-|-"]);
    let end = audited(&folder, "save", &["--format", "seeds"]);
    assert_eq!(end.stdout, b"http://l.cern.ch/b\n");
    let done = HttpServer::start(|_, _| answer("200 OK", "", SAVED));
    let db = rusqlite::Connection::open(folder.path("urls.db")).unwrap();
    let moved = format!("UPDATE audit_saves SET service = '{}';", done.url("/save"));
    let unchecked = "DELETE FROM audit_checks WHERE key LIKE '%/b'";
    db.execute_batch(&[&moved, unchecked].concat()).unwrap();
    let end = sent(&folder, &done, &[]);
    end.check(0, "0 of 0 URLs sent, 1 sent by earlier runs, 1 saved");
    assert_eq!(
        saves(&folder),
        ["http://l.cern.ch/a|j1|saved|20261127100000|-"]
    );
}

#[test]
fn refusals_of_the_service_end_the_run() {
    let folder = audited_folder();
    let busy =
        HttpServer::start(|_, _| answer("429 Too Many Requests", "Retry-After: 86400\r\n", ""));
    let end = sent(&folder, &busy, &[]);
    end.check(69, "1440 minutes");
    let wrong = HttpServer::start(|_, _| answer("401 Unauthorized", "", "{}"));
    let end = sent(&folder, &wrong, &[]);
    end.check(2, "check the keys");
    assert!(!end.stderr.contains("hidden"), "{}", end.stderr);
    assert!(saves(&folder).is_empty());
    let db = rusqlite::Connection::open(folder.path("urls.db")).unwrap();
    let day = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
         INSERT INTO audit_saves SELECT 'http://x/' || i, '{}', strftime('%Y-%m-%dT%H:%M:%SZ', \
         'now'), NULL, 'failed', NULL, NULL FROM n",
        wrong.url("/save")
    );
    db.execute_batch(&day).unwrap();
    let end = sent(&folder, &wrong, &[]);
    end.check(69, "30000 URLs were sent in the last 24 hours");
}

#[test]
fn no_url_is_sent_without_keys_contact_and_tls() {
    let folder = audited_folder();
    let run = |args: &[&str]| {
        let mut save = urlspool(["audit", "save"]);
        save.arg(folder.path("urls.db")).args(args);
        save.env_remove("IA_ACCESS_KEY_ID")
            .env("IA_SECRET_ACCESS_KEY", "x");
        ended(&mut save, b"")
    };
    let end = run(&["--send"]);
    end.check(2, "IA_ACCESS_KEY_ID");
    assert_eq!(run(&["--send", "--format", "seeds"]).status, Some(2));
    let mut plain = urlspool(["audit", "save"]);
    plain
        .arg(folder.path("urls.db"))
        .args(["--send", "--service", "http://a.test/save"])
        .env("IA_ACCESS_KEY_ID", "a")
        .env("IA_SECRET_ACCESS_KEY", "x");
    let end = ended(&mut plain, b"");
    end.check(2, "keys are sent over https only");
    let db = rusqlite::Connection::open(folder.path("urls.db")).unwrap();
    db.execute_batch("DELETE FROM audit_meta WHERE name = 'contact'")
        .unwrap();
    ended(&mut plain, b"").check(2, "--contact you@your.site");
}
