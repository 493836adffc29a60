//! Mistakes that newcomers make: each ends with a message that names the way out, and none with wrong data and no word.

use std::fs;

use super::MAIL;
use crate::scene::{Ended, Folder, ended, urlspool};

const MBOX: &str = "From jane@m.example Mon Mar  4 09:12:44 1996\nFrom: jane@m.example\nSubject: a lamp\n\n\
                    http://m.example/lamp\n\nFrom joe@m.example Mon Mar  4 10:12:44 1996\nFrom: joe@m.example\n\n\
                    http://m.example/oil\n";

/// Runs the program in the folder.
fn run(folder: &Folder, args: &[&str], input: &[u8]) -> Ended {
    ended(urlspool(args).current_dir(folder.root()), input)
}

/// Checks the exit code and words of the message, and that no file `e.db` is left behind.
#[track_caller]
fn check(folder: &Folder, args: &[&str], input: &[u8], code: i32, words: &[&str]) {
    let ended = run(folder, args, input);
    let message = &ended.stderr;
    assert_eq!(ended.status, Some(code), "{args:?}: {message}");
    for word in words {
        assert!(message.contains(word), "{args:?}: no {word}: {message}");
    }
    assert!(!folder.path("e.db").exists(), "{args:?}");
}

/// A folder with mail, and with outputs of each kind.
fn scene() -> Folder {
    let folder = Folder::new();
    folder.write("inbox", MBOX);
    for args in [
        ["scan", "-o", "urls.jsonl", "inbox"],
        ["scan", "-o", "urls.csv", "inbox"],
        ["scan", "--into", "urls.db", "inbox"],
    ] {
        assert_eq!(run(&folder, &args, b"").status, Some(0), "{args:?}");
    }
    folder
}

#[test]
fn paths_that_are_named_twice_are_said() {
    let folder = scene();
    fs::create_dir(folder.path("mail")).unwrap();
    folder.write("mail/a", MAIL);
    folder.write("mail/b", MAIL);
    std::os::unix::fs::symlink("mail", folder.path("link")).unwrap();
    for (command, paths, word) in [
        ("scan", &["mail", "link"][..], "link is named twice"),
        (
            "scan",
            &["mail", "mail/../mail/a"],
            "mail/../mail/a is named twice",
        ),
        ("scan", &["inbox", "./inbox"], "inbox is named twice"),
        (
            "scan",
            &["mail", "mail/a"],
            "mail/a is named twice, or is in",
        ),
        (
            "scan",
            &["mail/a", "mail/b", "mail"],
            "mail/a and 1 other path",
        ),
        (
            "stats",
            &["mail", "mail/a"],
            "mail/a is named twice, or is in",
        ),
    ] {
        let args = [&[command][..], paths].concat();
        check(&folder, &args, b"", 0, &[word, "name each file once"]);
    }
    for paths in [
        &["mail/a", "mail/b"][..],
        &["mail", "inbox", "../x"],
        &["."],
    ] {
        let message = run(&folder, &[&["scan"][..], paths].concat(), b"").stderr;
        assert!(!message.contains("twice"), "{paths:?}: {message}");
    }
}

/// All URLs got the sender of the first message.
#[test]
fn a_kind_that_a_mailbox_contradicts_is_said() {
    let folder = scene();
    for kind in ["maildir", "message", "news", "babyl"] {
        let words = ["inbox begins as mbox, and --kind", "without --kind"];
        check(&folder, &["scan", "--kind", kind, "inbox"], b"", 0, &words);
    }
    for kind in ["mbox", "text", "auto"] {
        let message = run(&folder, &["scan", "--kind", kind, "inbox"], b"").stderr;
        assert_eq!(message, "", "{kind}");
    }
}

#[test]
fn what_urlspool_wrote_is_neither_scanned_into_a_database_nor_watched() {
    let folder = scene();
    let into = ["scan", "--into", "e.db"];
    let args = |path| [&into[..], &[path]].concat();
    let load = ["urlspool load --into e.db urls.jsonl"];
    check(&folder, &args("urls.jsonl"), b"", 2, &load);
    check(
        &folder,
        &args("urls.csv"),
        b"",
        2,
        &["scan the mail that it came from"],
    );
    let watch = |path| ["watch", "--once", "--from-start", path];
    check(
        &folder,
        &watch("urls.jsonl"),
        b"",
        2,
        &["holds what urlspool wrote"],
    );
    check(&folder, &watch("urls.db"), b"", 2, &["`urlspool search`"]);
    let once = ["watch", "--once", "inbox"];
    check(&folder, &once, b"", 0, &["--from-start", "-o FOLDER"]);
}

#[test]
fn names_that_promise_another_format_are_refused() {
    let folder = scene();
    for (name, word) in [
        ("e.csv", "`urlspool scan -o e.csv PATH` writes a table"),
        ("e.PARQUET", "sqlite:e.PARQUET"),
    ] {
        check(&folder, &["scan", "--into", name, "inbox"], b"", 2, &[word]);
        assert!(!folder.path(name).exists(), "{name}");
    }
    #[cfg(not(feature = "parquet"))]
    {
        let args = ["scan", "-o", "e.parquet", "inbox"];
        check(&folder, &args, b"", 2, &["--features parquet", ".csv"]);
        assert!(!folder.path("e.parquet").exists());
    }
    fs::create_dir(folder.path("box")).unwrap();
    let to = |name| ["scan", "-o", name, "inbox"];
    check(
        &folder,
        &to("box"),
        b"",
        74,
        &["name a file in it, such as box/urls"],
    );
    check(
        &folder,
        &to("no/u.csv"),
        b"",
        74,
        &["create the folder no first"],
    );
}

/// Twenty equal lines were printed, and an empty database was left.
#[test]
fn a_load_of_something_else_leaves_no_database() {
    let folder = scene();
    let load = ["load", "--into", "e.db"];
    let scan = "standard input holds no records; scan it: urlspool scan --into e.db -";
    check(&folder, &load, MBOX.as_bytes(), 2, &[scan]);
    check(&folder, &load, b"http://m.example/lamp\n", 2, &[scan]);
    let table = fs::read(folder.path("urls.csv")).unwrap();
    check(
        &folder,
        &load,
        &table,
        2,
        &["a table that urlspool wrote", "JSON lines"],
    );
    let args = |path| ["load", "--into", "e.db", path];
    check(
        &folder,
        &args("urls.csv"),
        b"",
        2,
        &["a table that urlspool wrote", "JSON lines"],
    );
    check(
        &folder,
        &args("urls.db"),
        b"",
        2,
        &["urls.db is a database", "`urlspool search`"],
    );
}

/// A database on standard input ended the scan with 0, and without the way out.
#[test]
fn standard_input_that_is_not_read_ends_with_1() {
    let folder = scene();
    let database = fs::read(folder.path("urls.db")).unwrap();
    let words = [
        "standard input was not read, because it is a database",
        "urlspool search",
    ];
    check(&folder, &["scan", "-"], &database, 1, &words);
}

#[test]
fn a_search_without_its_database_names_the_order() {
    let folder = scene();
    let swapped = ["there is no database lamp; it comes first: urlspool search urls.db lamp"];
    check(&folder, &["search", "lamp", "urls.db"], b"", 2, &swapped);
    check(
        &folder,
        &["search", "lamp"],
        b"",
        2,
        &["urlspool search DB lamp", "scan --into DB PATH"],
    );
    let records = ["search", "urls.jsonl", "lamp"];
    check(
        &folder,
        &records,
        b"",
        2,
        &["is not a database of SQLite", "scan --into NEW.db PATH"],
    );
}

#[test]
fn numbers_and_hosts_have_messages_of_their_own() {
    let folder = scene();
    for (args, word) in [
        (
            &["scan", "--context", "10KB", "inbox"][..],
            "a number of bytes without a unit",
        ),
        (
            &["scan", "--context", "4097", "inbox"],
            "at most 4096 bytes on each side",
        ),
        (
            &["search", "urls.db", "lamp", "--limit", "0"],
            "a whole number above 0",
        ),
        (
            &["search", "urls.db", "lamp", "--limit", "ten"],
            "a whole number above 0",
        ),
        (
            &["stats", "--top", "all", "inbox"],
            "a whole number above 0",
        ),
        (
            &["scan", "--domain", "*.m.example", "inbox"],
            "--domain cern.ch takes all hosts",
        ),
        (
            &["search", "urls.db", "--domain", "*.m.example"],
            "is not the name of a host",
        ),
    ] {
        check(&folder, args, b"", 2, &[word]);
    }
}

#[test]
fn lists_and_places_that_are_something_else_name_the_way_out() {
    let folder = scene();
    let list = ["scan", "--files-from", "inbox"];
    check(&folder, &list, b"", 2, &["scan it: urlspool scan inbox"]);
    let paths = b"./inbox\n./urls.csv\n";
    check(&folder, &["scan", "-"], paths, 0, &["`--files-from -`"]);
    let splits = ["scan", "--splits", "inbox"];
    check(&folder, &splits, b"", 2, &["`urlspool splits PATH`"]);
    let show = ["show", "urls.jsonl"];
    check(&folder, &show, b"", 2, &["urlspool show < urls.jsonl"]);
    let shown = run(
        &folder,
        &["show"],
        &fs::read(folder.path("urls.jsonl")).unwrap(),
    );
    assert!(shown.stdout.starts_with(b"http://m.example/lamp"));
}

#[test]
fn a_search_in_the_syntax_of_others_names_the_options() {
    let folder = scene();
    for (words, expected) in [
        (
            &["oil", "OR", "candle"][..],
            "search once for each alternative",
        ),
        (&["host:n.example"], "write --host n.example"),
        (&["candle"], "nothing found"),
    ] {
        let args = [&["search", "urls.db"][..], words].concat();
        check(&folder, &args, b"", 0, &[expected, "nothing found"]);
    }
    let key = ["search", "urls.db", "--key", "m.example"];
    check(
        &folder,
        &key,
        b"",
        2,
        &["http://m.example", "--host m.example"],
    );
}

#[test]
fn folders_of_a_watch_that_are_files_are_refused() {
    let folder = scene();
    let config = "[output]\ndir = \"inbox\"\n[state]\ndir = \"state\"\n[metrics]\nlisten = \"\"\n\
                  [[spool]]\npath = \"mail\"\n";
    folder.write("watch.toml", config);
    let watch = ["watch", "--config", "watch.toml", "--once"];
    check(&folder, &watch, b"", 2, &["inbox is no folder; name one"]);
    assert_eq!(fs::read(folder.path("inbox")).unwrap(), MBOX.as_bytes());
}

#[test]
fn a_state_that_was_begun_without_the_mail_that_was_there_is_said() {
    let folder = scene();
    let watch = ["watch", "--once", "-o", "out", "inbox"];
    assert_eq!(run(&folder, &watch, b"").status, Some(0));
    let again = [&watch[..], &["--from-start"]].concat();
    check(
        &folder,
        &again,
        b"",
        0,
        &["another -o FOLDER takes all mail"],
    );
}

#[test]
fn a_damaged_database_and_a_full_disk_have_a_way_out() {
    let folder = scene();
    let whole = fs::read(folder.path("urls.db")).unwrap();
    folder.write("half.db", &whole[..20_000]);
    let search = ["search", "half.db", "lamp"];
    check(
        &folder,
        &search,
        b"",
        78,
        &["is damaged", "load into a new file"],
    );
}
