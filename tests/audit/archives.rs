//! `urlspool audit archive` with several archives.

use std::fs;

use super::http_server::{HttpServer, answer};
use super::{audit, audited, loaded, message, rows};
use crate::scene::{Folder, assert_contains};

const DATED: &str = "Date: Tue, 2 Jan 1996 10:00:00 +0000\n";
const FAST: [&str; 2] = ["--rate", "60000"];
const CAPTURED: &str =
    r#"{"timestamp": "19960601000000", "url": "http://l.cern.ch:80/x", "status": "200"}"#;

fn planned(urls: &str) -> Folder {
    let folder = Folder::new();
    loaded(&folder, &message(1, DATED, &format!("{urls}\n")));
    audited(&folder, "plan", &["-q", "--contact", "me@m.test"]);
    folder
}

fn captures(folder: &Folder) -> Vec<String> {
    let sql = "SELECT substr(key, 18), server, timestamp, outcome FROM audit_captures ORDER BY key";
    rows(&folder.path("urls.db"), sql)
}

/// Starts a server that has a capture of each URL whose query contains `part`.
fn server_with(part: &'static str) -> HttpServer {
    HttpServer::start(move |request, _| {
        let is_held = request.target.contains(part);
        answer("200 OK", "", if is_held { CAPTURED } else { "[]" })
    })
}

#[test]
fn archives_are_asked_in_order_until_one_has_a_capture() {
    let folder = planned("http://l.cern.ch/a http://l.cern.ch/b http://l.cern.ch/c");
    let [first, second] = [server_with("%2Fa&"), server_with("%2Fb&")];
    let [one, two] = [first.url("/cdx"), second.url("/cdx")];
    let servers = ["--cdx", one.as_str(), "--cdx", two.as_str()];
    let end = audited(&folder, "archive", &[&servers[..], &FAST].concat());
    assert_contains(&end.stderr, "3 of 3 URLs asked for, 2 archived, 1 not");
    let expected = [
        format!("a|{one}|19960601000000|captured"),
        format!("b|{two}|19960601000000|captured"),
        format!("c|{two}|-|none"),
    ];
    assert_eq!(captures(&folder), expected);
    assert_eq!((first.seen().len(), second.seen().len()), (3, 2));
    let end = audited(&folder, "archive", &[&servers[..], &FAST].concat());
    assert!(end.stderr.contains("0 of 0 URLs"), "{}", end.stderr);
    let third = server_with("%2Fc&");
    let new = third.url("/cdx");
    let servers = [&servers[..], &["--cdx", &new], &FAST].concat();
    audited(&folder, "archive", &servers);
    assert_eq!(
        (first.seen().len(), second.seen().len(), third.seen().len()),
        (3, 2, 1)
    );
    assert_eq!(
        captures(&folder)[2],
        format!("c|{new}|19960601000000|captured")
    );
}

#[test]
fn an_archive_without_an_answer_leaves_it_open() {
    let folder = planned("http://l.cern.ch/a");
    let broken = HttpServer::start(|_, _| answer("200 OK", "", "<html>"));
    let none = server_with("nothing");
    let [one, two] = [broken.url("/cdx"), none.url("/cdx")];
    let servers = ["--cdx", one.as_str(), "--cdx", two.as_str()];
    let end = audit(&folder, "archive", &[&servers[..], &FAST].concat());
    assert_eq!(end.status, Some(1), "{}", end.stderr);
    assert_eq!(captures(&folder), [format!("a|{two}|-|failed")]);
    audit(&folder, "archive", &[&servers[..], &FAST].concat());
    // Only the first archive is asked again.
    assert_eq!((broken.seen().len(), none.seen().len()), (2, 1));
    audited(
        &folder,
        "archive",
        &[&["--cdx", two.as_str()][..], &FAST].concat(),
    );
}

#[test]
fn an_archive_is_needed() {
    let folder = planned("http://l.cern.ch/a");
    let end = audit(&folder, "archive", &[]);
    assert_eq!(end.status, Some(2), "{}", end.stderr);
}

#[test]
fn the_clean_form_is_asked_for_and_named() {
    let folder = planned("http://l.cern.ch/a?utm_source=x&id=1 http://l.cern.ch/b?id=2");
    let server = HttpServer::start(|request, _| {
        let is_clean = request.target.contains("%2Fa%3Fid%3D1&");
        answer("200 OK", "", if is_clean { CAPTURED } else { "[]" })
    });
    let address = server.url("/c/cdx");
    let end = audited(
        &folder,
        "archive",
        &[&["--cdx", &address][..], &FAST].concat(),
    );
    let expected = "1 archived, 1 not, 1 only without tracking parameters";
    assert!(end.stderr.contains(expected), "{}", end.stderr);
    assert_eq!(server.seen().len(), 3);
    let forms = rows(
        &folder.path("urls.db"),
        "SELECT outcome, form FROM audit_asked ORDER BY 1",
    );
    assert_eq!(forms, ["captured|clean", "none|-"]);
    let results = folder.file(
        "r.csv",
        "url,status,checked_at\nhttp://l.cern.ch/a?utm_source=x&id=1,404,2026-01-01\n",
    );
    audited(&folder, "import", &["-q", &results]);
    let [html, csv] = ["report.html", "csv"].map(|name| folder.path(name).display().to_string());
    audited(&folder, "report", &["-o", &html]);
    audited(&folder, "report", &["--format", "csv", "-o", &csv]);
    let dead = fs::read_to_string(folder.path("csv/dead-links.csv")).unwrap();
    assert!(dead.lines().next().unwrap().ends_with(",form"), "{dead}");
    let snapshot = server.url("/c/19960601000000/http://l.cern.ch:80/x");
    assert_contains(&dead, &format!(",captured,{snapshot},1,0,clean\n"));
    let html = fs::read_to_string(html).unwrap();
    assert!(html.contains("Captures without tracking parameters"));
}
