//! `urlspool cited`.

use super::search::{folder_of_list, folder_with_contexts};
use super::{loaded, records};
use crate::scene::{Ended, Folder, ended, urlspool};

/// A thread of three messages. The second has no URL, so it is missing from the database. The third
/// quotes the URL of the first, and its texts are hostile.
const THREAD: &str = "From a Mon Jan  1 00:00:00 1996\n\
From: Jane <Jane@m.example>\nDate: Mon, 1 Jan 1996 10:00:00 +0000\nSubject: A\tlamp\n\
Message-ID: <1@m.example>\n\
List-Id: Lamps <lamps.m.example>\n\nsee http://m.example/lamp\n\n\
From b Tue Jan  2 00:00:00 1996\n\
From: John <john@m.example>\nDate: Tue, 2 Jan 1996 10:00:00 +0000\nMessage-ID: <2@m.example>\n\
References: <1@m.example>\n\nYes.\n\n\
From c Wed Jan  3 00:00:00 1996\n\
From: =cmd|x <eve@m.example>\nDate: Wed, 3 Jan 1996 10:00:00 +0000\nMessage-ID: <3@m.example>\n\
Subject: =?utf-8?q?</graph>=26=1B[2J=E2=80=AE=EF=BF=BF?=\n\
References: <1@m.example> <2@m.example>\n\n> see http://m.example/lamp\n\
and http://www.m.example/oil?a=1&b=2\n\n";

fn loaded_folder() -> Folder {
    let folder = Folder::new();
    loaded(&folder, &[], &records(&folder, "a.mbox", THREAD));
    folder
}

#[track_caller]
fn run(folder: &Folder, command: &str, args: &[&str]) -> Ended {
    let database = folder.path("urls.db");
    let ended = ended(urlspool([command]).arg(database).args(args), b"");
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    ended
}

#[test]
fn citations_have_list_thread_and_depth() {
    let folder = loaded_folder();
    let found = run(&folder, "cited", &["HTTP://M.example:80/lamp"]);
    let place = folder.path("a.mbox").display().to_string();
    let lines: Vec<&str> = found.text().lines().collect();
    assert_eq!(lines[0], "1996-01-01  Jane <Jane@m.example>  A lamp");
    assert!(lines[1].starts_with(&place), "{lines:?}");
    assert_eq!(lines[2], "  list    lamps.m.example");
    assert_eq!(lines[3], "  thread  <1@m.example>");
    assert!(lines[4].starts_with("1996-01-03"), "{lines:?}");
    assert_eq!(lines[6], "  thread  <1@m.example>");
    assert_eq!(lines[7], "  quoted  1");
    assert_eq!(lines.len(), 8);
    assert!(!found.text().contains(['\u{1b}', '\u{202e}']));
}

#[test]
fn a_citation_has_its_passage() {
    let folder = folder_with_contexts();
    let found = run(&folder, "cited", &["m.example", "--limit", "1"]);
    let passage = found.text().lines().nth(2).unwrap();
    assert_eq!(
        passage,
        "  fox jumps \\u{1b}[2J over http://m.example/lamp and"
    );
    let line = run(&folder, "cited", &["m.example", "--format", "jsonl"]);
    assert!(line.text().contains("\"context\":{\"before\":\"fox"));
    let csv = run(&folder, "cited", &["m.example", "--format", "csv"]);
    assert!(csv.text().contains(",fox jumps "), "{}", csv.text());
}

#[test]
fn a_domain_includes_its_hosts_and_csv_escapes_formulas() {
    let folder = loaded_folder();
    let csv = run(&folder, "cited", &["m.example", "--format", "csv"]);
    assert_eq!(csv.text().lines().count(), 4);
    assert!(csv.text().contains(",'=cmd|x"), "{}", csv.text());
    let newest = "m.example --format jsonl --limit 1 --sort newest";
    let line = run(&folder, "cited", &newest.split(' ').collect::<Vec<_>>());
    assert!(line.text().contains("\"thread\":\"<1@m.example>\""));
    assert_eq!(ended(&mut urlspool(["show"]), &line.stdout).status, Some(0));
    assert_eq!(run(&folder, "cited", &["none.example"]).text(), "");
}

#[test]
fn citations_only_in_list_fields_are_hidden_and_counted() {
    let folder = folder_of_list();
    for (thing, shown, hidden) in [
        ("http://l.example/both", 2, 0),
        ("http://l.example/off", 0, 2),
        ("l.example", 2, 3),
    ] {
        let found = run(&folder, "cited", &[thing, "--format", "jsonl"]);
        assert_eq!(found.text().lines().count(), shown, "{thing}");
        let note = format!("urlspool: {hidden} citations hidden");
        assert_eq!(found.stderr.contains(&note), 0 < hidden, "{}", found.stderr);
        let args = [thing, "--format", "jsonl", "--list-fields"];
        let all = run(&folder, "cited", &args);
        assert_eq!(all.text().lines().count(), shown + hidden, "{thing}");
    }
}
