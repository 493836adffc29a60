//! Beginners' mistakes: each ends with a helpful message, never with silently wrong data.

use std::fs;

use super::MAIL;
use crate::scene::{Ended, Folder, ended, urlspool};

const MBOX: &str = "From jane@m.example Mon Mar  4 09:12:44 1996\nFrom: jane@m.example\n\
                    Subject: a lamp\n\n\
                    http://m.example/lamp\n\nFrom joe@m.example Mon Mar  4 10:12:44 1996\n\
                    From: joe@m.example\n\n\
                    http://m.example/oil\n";

/// Runs the program in the folder, with these words as arguments.
fn run(folder: &Folder, command: &str, input: &[u8]) -> Ended {
    let args = command.split_whitespace();
    ended(urlspool(args).current_dir(folder.root()), input)
}

/// Checks the exit code and the texts of the message, and that no file `e.db` is left behind.
#[track_caller]
fn check_input(folder: &Folder, command: &str, input: &[u8], code: i32, texts: &[&str]) {
    let ended = run(folder, command, input);
    ended.check(code, "");
    for text in texts {
        ended.check(code, text);
    }
    assert!(!folder.path("e.db").exists(), "{command}");
}

/// Creates a folder with mail and with outputs of each kind.
fn scene() -> Folder {
    let folder = Folder::new();
    folder.write("inbox", MBOX);
    for command in [
        "scan -o urls.jsonl inbox",
        "scan -o urls.csv inbox",
        "scan -o slim.jsonl --fields slim inbox",
        "scan --into urls.db inbox",
    ] {
        run(&folder, command, b"").check(0, "");
    }
    folder
}

/// One mistake per line: exit code, arguments, and texts of the message.
const MISTAKES: &str = "\
0 | scan mail link | link is named twice | name each file once
0 | scan mail mail/../mail/a | mail/../mail/a is named twice | name each file once
0 | scan inbox ./inbox | inbox is named twice | name each file once
0 | scan mail mail/a | mail/a is named twice, or is in | name each file once
0 | scan mail/a mail/b mail | mail/a and 1 other path | name each file once
0 | stats mail mail/a | mail/a is named twice, or is in | name each file once
2 | scan --into e.db urls.jsonl | urlspool load --into e.db urls.jsonl
2 | scan --into e.db urls.csv | scan the original mail
2 | watch --once --from-start urls.jsonl | was written by urlspool
2 | watch --once --from-start urls.db | `urlspool search`
0 | watch --once inbox | --from-start | -o FOLDER
2 | scan --into e.csv inbox | write a table with `urlspool scan -o e.csv PATH`
2 | scan --into e.PARQUET inbox | sqlite:e.PARQUET
74 | scan -o box inbox | name a file in it, such as box/urls
74 | scan -o no/u.csv inbox | create the folder no first
2 | load --into e.db urls.csv | a table written by urlspool | JSON lines
2 | load --into e.db slim.jsonl | slim.jsonl, line 1: | whole records are needed
2 | load --into e.db urls.db | urls.db is already a database | `urlspool search`
2 | search lamp urls.db | no database lamp; the database comes first: urlspool search urls.db lamp
2 | search lamp | urlspool search DB lamp | scan --into DB PATH
2 | search urls.jsonl lamp | is not a SQLite database | scan --into NEW.db PATH
0 | search urls.db oil OR candle | search once per alternative | no match
0 | search urls.db host:n.example | write --host n.example | no match
0 | search urls.db candle | no match
0 | scan --host example inbox | matches --host (--domain
2 | search urls.db --key m.example | http://m.example
78 | search half.db lamp | is damaged | load into a new file
2 | scan --context 10KB inbox | a number of bytes without a unit
2 | scan --context 4097 inbox | at most 4096 bytes on each side
2 | search urls.db lamp --reporter A<a@m.example> | --reporter is for --format xarf
0 | search urls.db oil --format xarf --reporter A<a@m.example> | not reported
2 | search urls.db lamp --limit 0 | a whole number above 0
2 | search urls.db lamp --limit ten | a whole number above 0
2 | stats --limit all inbox | a whole number above 0
2 | scan --domain *.m.example inbox | --domain cern.ch also covers all hosts
2 | search urls.db --domain *.m.example | --domain cern.ch also covers
2 | search urls.db --host m.example/a | write only the name of a host
2 | search urls.db --domain m.example,b.example | write only the name of a host
2 | scan --files-from inbox | scan it: urlspool scan inbox
2 | scan --splits inbox | `urlspool splits PATH`
2 | show urls.jsonl | urlspool show < urls.jsonl
2 | watch --config watch.toml --once | inbox is not a folder
0 | watch --once -o out inbox
0 | watch --once -o out inbox --from-start | use another -o FOLDER to write all mail
0 | scan --kind maildir inbox | inbox begins as mbox, and --kind | without --kind
0 | scan --kind message inbox | inbox begins as mbox, and --kind | without --kind
0 | scan --kind news inbox | inbox begins as mbox, and --kind | without --kind
0 | scan --kind babyl inbox | inbox begins as mbox, and --kind | without --kind";

#[test]
fn a_mistake_has_a_message_with_the_way_out() {
    let folder = scene();
    folder.write("mail/a", MAIL);
    folder.write("mail/b", MAIL);
    std::os::unix::fs::symlink("mail", folder.path("link")).unwrap();
    fs::create_dir(folder.path("box")).unwrap();
    folder.write(
        "watch.toml",
        "[output]\ndir = \"inbox\"\n[state]\ndir = \"state\"\n[metrics]\nlisten = \"\"\n\
         [[spool]]\npath = \"mail\"\n",
    );
    let whole = fs::read(folder.path("urls.db")).unwrap();
    folder.write("half.db", &whole[..20_000]);
    for line in MISTAKES.lines() {
        let parts: Vec<_> = line.split(" | ").collect();
        check_input(
            &folder,
            parts[1],
            b"",
            parts[0].parse().unwrap(),
            &parts[2..],
        );
    }
    #[cfg(not(feature = "parquet"))]
    check_input(
        &folder,
        "scan -o e.parquet inbox",
        b"",
        2,
        &["--features parquet", ".csv"],
    );
    for name in ["e.csv", "e.PARQUET", "e.parquet"] {
        assert!(!folder.path(name).exists(), "{name}");
    }
    assert_eq!(fs::read(folder.path("inbox")).unwrap(), MBOX.as_bytes());
    // Regression: twenty equal lines were printed, and an empty database was left behind.
    let load = "load --into e.db";
    let scan = "standard input has no records; scan it: urlspool scan --into e.db -";
    check_input(&folder, load, MBOX.as_bytes(), 2, &[scan]);
    check_input(&folder, load, b"http://m.example/lamp\n", 2, &[scan]);
    let table = fs::read(folder.path("urls.csv")).unwrap();
    check_input(&folder, load, &table, 2, &["a table written by urlspool"]);
    // Regression: with a database on standard input, the scan ended with 0 and without a hint.
    let not_read = [
        "standard input was skipped because it is a SQLite database",
        "urlspool search",
    ];
    check_input(&folder, "scan -", &whole, 1, &not_read);
    let paths = b"./inbox\n./urls.csv\n";
    check_input(&folder, "scan -", paths, 0, &["`--files-from -`"]);
    let records = fs::read(folder.path("urls.jsonl")).unwrap();
    let shown = run(&folder, "show", &records);
    assert!(shown.stdout.starts_with(b"http://m.example/lamp"));
}

#[test]
fn valid_commands_print_no_warning() {
    let folder = scene();
    folder.write("mail/a", MAIL);
    folder.write("mail/b", MAIL);
    for paths in ["mail/a mail/b", "mail inbox ../x", "."] {
        let message = run(&folder, &format!("scan {paths}"), b"").stderr;
        assert!(!message.contains("twice"), "{paths}: {message}");
    }
    let quiet = "search -q urls.db oil --format xarf --reporter A<a@m.example>";
    assert_eq!(run(&folder, quiet, b"").stderr, "");
    for kind in ["mbox", "text", "auto"] {
        let message = run(&folder, &format!("scan --kind {kind} inbox"), b"").stderr;
        assert_eq!(message, "", "{kind}");
    }
}
