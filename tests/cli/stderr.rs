//! Standard error that cannot be written: messages are lost, and nothing else.

use std::fs::{self, File};
use std::process::Stdio;

use super::MAIL;
use crate::audit;
use crate::scene::{Folder, urlspool};

/// Runs a command twice, with a full device and with a pipe that nobody reads as its standard error, and returns both exit codes.
fn codes(args: &[&str]) -> [Option<i32>; 2] {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    [Stdio::from(full), Stdio::from(closed)].map(|stderr| {
        let mut command = urlspool(args);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null());
        child.stderr(stderr).status().unwrap().code()
    })
}

#[test]
fn exit_codes_are_the_same() {
    let folder = Folder::new();
    let mail = folder.file("a.eml", MAIL);
    let lines = folder.file("bad.jsonl", "{}\n");
    let database = folder.path("urls.db");
    let database = database.to_str().unwrap();
    for (args, code) in [
        (&["scan", "-v", &mail][..], 0),
        (&["scan", &mail, "missing"], 1),
        (&["scan", "--no-such-option"], 2),
        (&["show", "missing:1-2"], 1),
        (&["splits", "missing"], 1),
        (&["load", "-v", "--into", database, &lines], 1),
        (&["search", database, "nothing"], 0),
        (&["search", "missing.db", "nothing"], 2),
        (&["audit", "report", "missing.db"], 2),
    ] {
        let shown = urlspool(args).stdin(Stdio::null()).output().unwrap();
        assert_eq!(shown.status.code(), Some(code), "{args:?} {shown:?}");
        assert_eq!(codes(args), [Some(code); 2], "{args:?}");
    }
}

#[test]
fn results_are_imported() {
    let folder = Folder::new();
    audit::loaded(&folder, &audit::message(1, "", "http://l.cern.ch/a\n"));
    audit::audited(&folder, "plan", &["-q"]);
    let csv = "url,status,checked_at\nhttp://l.cern.ch/a,x,2026-11-22\nhttp://l.cern.ch/a,200,2026-11-22\n";
    let (database, csv) = (folder.path("urls.db"), folder.file("r.csv", csv));
    let args = ["audit", "import", database.to_str().unwrap(), &csv];
    assert_eq!(codes(&args), [Some(1); 2]);
    assert_eq!(
        audit::rows(&database, "SELECT status FROM audit_checks"),
        ["200"]
    );
}

#[test]
fn the_daemon_writes_its_records() {
    let folder = Folder::new();
    folder.write("spool/a.eml", MAIL);
    let root = folder.root().display();
    let config = format!(
        "[output]\ndir = \"{root}/out\"\n[state]\ndir = \"{root}/state\"\n[watch]\nsettle = \"10ms\"\n\
         [metrics]\nlisten = \"\"\n[[spool]]\npath = \"{root}/spool\"\n"
    );
    let config = folder.file("c.toml", config);
    assert_eq!(
        codes(&["watch", "--once", "--config", &config]),
        [Some(0); 2]
    );
    let segments = fs::read_dir(folder.path("out")).unwrap();
    let segments = segments.map(|entry| entry.unwrap().path());
    let texts = segments
        .filter(|path| path.extension() == Some("jsonl".as_ref()))
        .map(|path| fs::read_to_string(path).unwrap());
    assert!(texts.collect::<String>().contains("http://m.example/lamp"));
}
