//! `urlspool audit archive`, with a CDX server of the test.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::http_server::{HttpServer, answer};
use super::{audit, audited, loaded, message, rows};
use crate::scene::{Ended, Folder, urlspool};

/// A planned database with links of 1996.
fn planned(links: usize) -> Folder {
    let folder = Folder::new();
    let header = "Date: Tue, 2 Jan 1996 10:00:00 +0000\n";
    let urls: Vec<_> = (0..links)
        .map(|link| format!("http://l.cern.ch/{link}\n"))
        .collect();
    loaded(&folder, &message(1, header, &urls.concat()));
    audited(&folder, "plan", &["-q"]);
    folder
}

/// Asks a server, 60,000 times a minute, with more options.
#[track_caller]
fn asked(folder: &Folder, server: &str, more: &[&str]) -> Ended {
    let mut args = vec!["--cdx", server, "--contact", "me@m.test"];
    if !more.contains(&"--rate") {
        args.extend(["--rate", "60000"]);
    }
    args.extend(more);
    audit(folder, "archive", &args)
}

fn captures(folder: &Folder) -> Vec<String> {
    let sql = "SELECT substr(key, 18), timestamp, original, status, outcome FROM audit_captures ORDER BY key";
    rows(&folder.path("urls.db"), sql)
}

const WAYBACK: &str = r#"[["urlkey","timestamp","original","mimetype","statuscode","digest","length"],
["x","19951231000000","http://l.cern.ch:80/","text/html","404","X","1"],
["x","19960601000000","http://l.cern.ch:80/","text/html","200","X","1"],
["x","20200601000000","http://l.cern.ch:80/","text/html","200","X","1"]]"#;
const PYWB: &str = r#"{"urlkey": "x", "timestamp": "19960601000000", "url": "http://l.cern.ch:80/", "mime": "text/html", "status": "200"}
"#;

#[test]
fn both_kinds_of_servers_are_understood() {
    for form in [WAYBACK, PYWB] {
        let server = HttpServer::start(move |request, _| {
            let is_archived = !request.target.contains("%2F1&");
            answer("200 OK", "", if is_archived { form } else { "[]" })
        });
        let folder = planned(2);
        let end = asked(&folder, &server.url("/cdx"), &[]);
        assert_eq!(end.status, Some(0), "{}", end.stderr);
        assert_eq!(
            captures(&folder),
            [
                "0|19960601000000|http://l.cern.ch:80/|200|captured",
                "1|-|-|-|none"
            ]
        );
        let seen = server.seen();
        let first = seen
            .iter()
            .find(|request| request.target.contains("%2F0&"))
            .unwrap();
        assert!(
            first.target.starts_with(
                "/cdx?url=http%3A%2F%2Fl.cern.ch%2F0&matchType=exact&output=json&limit="
            ),
            "{first:?}"
        );
        assert!(first.target.contains("closest=19960102100000"), "{first:?}");
        assert!(first.head.contains("user-agent: urlspool/"), "{first:?}");
        assert!(first.head.contains("me@m.test"), "{first:?}");
        let again = asked(&folder, &server.url("/cdx"), &[]);
        assert!(again.stderr.contains("0 of 0 URLs"), "{}", again.stderr);
        assert_eq!(
            server.seen().len(),
            2,
            "what has an answer is not asked for again"
        );
    }
}

#[test]
fn dead_links_come_first_and_a_capture_outlasts_another_server() {
    let server = HttpServer::start(|_, _| answer("200 OK", "", PYWB));
    let folder = planned(6);
    let dead = folder.file("r.csv", "url,status,checked_at\nhttp://l.cern.ch/3,404,2026-01-01\nhttp://l.cern.ch/1,404,2026-01-01\nhttp://l.cern.ch/1,200,2026-01-02\n");
    audited(&folder, "import", &[&dead]);
    let end = asked(&folder, &server.url("/cdx"), &["--limit", "1"]);
    assert_eq!(end.status, Some(0), "{}", end.stderr);
    assert_eq!(captures(&folder).len(), 1);
    assert!(
        captures(&folder)[0].starts_with("3|"),
        "{:?}",
        captures(&folder)
    );
    let other = HttpServer::start(|_, _| answer("200 OK", "", ""));
    asked(&folder, &other.url("/cdx"), &[]);
    assert_eq!(other.seen().len(), 5);
    asked(&folder, &server.url("/cdx"), &[]);
    let outcomes = rows(
        &folder.path("urls.db"),
        "SELECT outcome, count(*) FROM audit_captures GROUP BY 1",
    );
    assert_eq!(
        outcomes,
        ["captured|6"],
        "another server may have what the first has not"
    );
}

#[test]
fn a_busy_server_is_asked_again_when_it_says() {
    let server = HttpServer::start(|_, number| match number {
        0 => answer("429 Too Many Requests", "Retry-After: 2\r\n", ""),
        1 => answer(
            "503 Service Unavailable",
            "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
            "",
        ),
        _ => answer("200 OK", "", PYWB),
    });
    let folder = planned(1);
    let begun = Instant::now();
    let end = asked(&folder, &server.url("/cdx"), &[]);
    assert_eq!(end.status, Some(0), "{}", end.stderr);
    assert!(Duration::from_secs(2) <= begun.elapsed());
    assert_eq!(server.seen().len(), 3);
    assert_eq!(captures(&folder).len(), 1);
}

#[test]
fn a_server_and_a_contact_are_named_as_they_should_be() {
    let folder = planned(1);
    for (args, reason) in [
        (
            ["--cdx", "foo", "--contact", "me@m.test"],
            "`--cdx foo` is not the URL of a CDX server (relative URL without a base); write it like https://",
        ),
        (
            ["--cdx", "ftp://a.test/", "--contact", "me@m.test"],
            "`--cdx ftp://a.test/` is not the URL of a CDX server; write it like https://",
        ),
        (
            ["--cdx", "http://a.test/", "--contact", ""],
            "`--contact \"\"` is neither a mail address nor a page",
        ),
    ] {
        let end = audit(&folder, "archive", &args);
        assert_eq!(end.status, Some(2), "{args:?}");
        assert!(end.stderr.contains(reason), "{}", end.stderr);
    }
}

#[test]
fn repeated_refusals_end_the_questions_and_keep_the_answers() {
    let server = HttpServer::start(|_, number| match number {
        0 | 1 => answer("200 OK", "", PYWB),
        _ => answer("429 Too Many Requests", "Retry-After: 0\r\n", ""),
    });
    let folder = planned(4);
    let end = asked(&folder, &server.url("/cdx"), &[]);
    assert_eq!(end.status, Some(69), "{}", end.stderr);
    assert!(end.stderr.contains("5 refusals in a row"), "{}", end.stderr);
    assert!(end.stderr.contains("asked for: 2 of 4;"), "{}", end.stderr);
    assert_eq!(server.seen().len(), 7);
    assert_eq!(captures(&folder).len(), 2);
    let long =
        HttpServer::start(|_, _| answer("429 Too Many Requests", "Retry-After: 86400\r\n", ""));
    let end = asked(&folder, &long.url("/cdx"), &[]);
    assert_eq!(end.status, Some(69), "{}", end.stderr);
    assert!(end.stderr.contains("1440 minutes"), "{}", end.stderr);
    assert_eq!(long.seen().len(), 1);
}

#[test]
fn answers_that_are_none_are_due_again_and_too_many_of_them_an_error() {
    let server = HttpServer::start(|_, _| answer("200 OK", "", "<html>no index here"));
    let folder = planned(3);
    let end = asked(&folder, &server.url("/"), &[]);
    assert_eq!(end.status, Some(1), "{}", end.stderr);
    assert!(
        end.stderr.contains("3 without an answer (the last: "),
        "{}",
        end.stderr
    );
    assert_eq!(captures(&folder)[0], "0|-|-|-|failed");
    asked(&folder, &server.url("/"), &[]);
    assert_eq!(server.seen().len(), 6);
    let many = planned(30);
    let end = asked(&many, &server.url("/"), &[]);
    assert_eq!(end.status, Some(69), "{}", end.stderr);
    assert!(
        end.stderr.contains("not those of a CDX server"),
        "{}",
        end.stderr
    );
    assert_eq!(server.seen().len(), 26);
}

/// The number of minutes filled half a line.
#[test]
fn an_absurd_pause_is_named_in_few_words() {
    for seconds in ["31536061", "18446744073709551615", "1106804644422573096960"] {
        let server = HttpServer::start(move |_, _| {
            let pause = format!("Retry-After: {seconds}\r\n");
            answer("429 Too Many Requests", &pause, "")
        });
        let end = asked(&planned(1), &server.url("/cdx"), &[]);
        assert_eq!(end.status, Some(69), "{}", end.stderr);
        let expected = "HTTP status 429, and the server asks for a pause of more than 365 days; ";
        assert!(end.stderr.contains(expected), "{}", end.stderr);
    }
}

#[test]
fn an_interruption_while_the_server_refuses_names_the_reason() {
    let server = HttpServer::start(|_, _| answer("429 Too Many Requests", "", ""));
    let folder = planned(2);
    let child = urlspool(["audit", "archive"])
        .arg(folder.path("urls.db"))
        .args(["--cdx", &server.url("/cdx"), "--contact", "me@m.test"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    for _ in 0..500 {
        if !server.seen().is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(500));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let stderr = String::from_utf8_lossy(&output.stderr);
    let expected =
        "; the server refused at the end (HTTP status 429); interrupted, run it again to go on";
    assert!(stderr.contains(expected), "{stderr}");
}

#[test]
fn no_other_server_is_asked() {
    let other = HttpServer::start(|_, _| answer("200 OK", "", PYWB));
    let location = format!("Location: {}\r\n", other.url("/cdx"));
    let server = HttpServer::start(move |_, _| answer("302 Found", &location, ""));
    let folder = planned(1);
    let end = asked(&folder, &server.url("/cdx"), &[]);
    assert_eq!(end.status, Some(2), "{}", end.stderr);
    assert!(
        end.stderr.contains("redirects to another place"),
        "{}",
        end.stderr
    );
    assert!(other.seen().is_empty());
}

#[test]
fn the_rate_holds_and_the_time_is_told() {
    let server = HttpServer::start(|_, _| answer("200 OK", "", PYWB));
    let folder = planned(4);
    let begun = Instant::now();
    let end = asked(&folder, &server.url("/cdx"), &["--rate", "120"]);
    assert_eq!(end.status, Some(0), "{}", end.stderr);
    assert!(Duration::from_millis(1_500) <= begun.elapsed());
    assert!(
        end.stderr
            .contains("4 URLs to ask for, which takes 2 seconds"),
        "{}",
        end.stderr
    );
    let missing = audit(&folder, "archive", &["--cdx", "http://127.0.0.1/"]);
    assert_eq!(missing.status, Some(2), "--contact is needed");
}
