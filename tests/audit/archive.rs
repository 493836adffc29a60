//! `urlspool audit archive`, with a CDX server in the test.

use std::time::{Duration, Instant};

use super::http_server::{HttpServer, answer};
use super::{audit, audited, loaded, message, rows};
use crate::scene::{Ended, Folder};

/// Creates a planned database with links of 1996.
fn planned(links: usize) -> Folder {
    let folder = Folder::new();
    let header = "Date: Tue, 2 Jan 1996 10:00:00 +0000\n";
    let urls: Vec<_> = (0..links)
        .map(|link| format!("http://l.cern.ch/{link}\n"))
        .collect();
    loaded(&folder, &message(1, header, &urls.concat()));
    audited(&folder, "plan", &["-q", "--contact", "me@m.test"]);
    folder
}

/// Queries a server at up to 60,000 requests per minute, with more options.
#[track_caller]
fn asked(folder: &Folder, server: &str, more: &[&str]) -> Ended {
    let mut args = vec!["--cdx", server];
    if !more.contains(&"--rate") {
        args.extend(["--rate", "60000"]);
    }
    args.extend(more);
    audit(folder, "archive", &args)
}

fn captures(folder: &Folder) -> Vec<String> {
    let sql = "SELECT substr(key, 18), timestamp, original, status, outcome FROM audit_captures \
        ORDER BY key";
    rows(&folder.path("urls.db"), sql)
}

const WAYBACK: &str = r#"[
["urlkey","timestamp","original","mimetype","statuscode","digest","length"],
["x","19951231000000","http://l.cern.ch:80/","text/html","404","X","1"],
["x","19960601000000","http://l.cern.ch:80/","text/html","200","X","1"],
["x","20200601000000","http://l.cern.ch:80/","text/html","200","X","1"]]"#;
const PYWB: &str = "{\"urlkey\": \"x\", \"timestamp\": \"19960601000000\", \
    \"url\": \"http://l.cern.ch:80/\", \"mime\": \"text/html\", \"status\": \"200\"}\n";

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
        // Links with an answer are not looked up again.
        assert_eq!(server.seen().len(), 2);
    }
}

#[test]
fn dead_links_come_first_and_a_capture_outlasts_another_server() {
    let server = HttpServer::start(|_, _| answer("200 OK", "", PYWB));
    let folder = planned(6);
    let dead = folder.file(
        "r.csv",
        "url,status,checked_at\nhttp://l.cern.ch/3,404,2026-01-01\n\
        http://l.cern.ch/1,404,2026-01-01\nhttp://l.cern.ch/1,200,2026-01-02\n",
    );
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
    // Another server may have captures that the first lacks.
    assert_eq!(outcomes, ["captured|6"]);
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
fn repeated_refusals_end_the_questions_and_keep_the_answers() {
    let server = HttpServer::start(|_, number| match number {
        0 | 1 => answer("200 OK", "", PYWB),
        _ => answer("429 Too Many Requests", "Retry-After: 0\r\n", ""),
    });
    let folder = planned(4);
    let end = asked(&folder, &server.url("/cdx"), &[]);
    end.check(69, "refused or not answered 5 times in a row");
    assert!(
        end.stderr.contains("answers for 2 of 4 URLs are stored"),
        "{}",
        end.stderr
    );
    assert_eq!(server.seen().len(), 7);
    assert_eq!(captures(&folder).len(), 2);
    let long =
        HttpServer::start(|_, _| answer("429 Too Many Requests", "Retry-After: 86400\r\n", ""));
    let end = asked(&folder, &long.url("/cdx"), &[]);
    end.check(69, "1440 minutes");
    assert_eq!(long.seen().len(), 1);
}

#[test]
fn no_other_server_is_asked() {
    let other = HttpServer::start(|_, _| answer("200 OK", "", PYWB));
    let location = format!("Location: {}\r\n", other.url("/cdx"));
    let server = HttpServer::start(move |_, _| answer("302 Found", &location, ""));
    let folder = planned(1);
    let end = asked(&folder, &server.url("/cdx"), &[]);
    end.check(2, "redirects to another address");
    assert!(other.seen().is_empty());
}
