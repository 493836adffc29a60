//! An unwritable standard error loses messages but nothing else.

use std::fs::{self, File};
use std::process::Stdio;

use super::MAIL;
use crate::audit;
use crate::scene::{Folder, urlspool};

/// A standard error that cannot be written: a full device, or a pipe without a reader.
type BrokenStderr = fn() -> Stdio;

const BROKEN: [BrokenStderr; 2] = [
    || Stdio::from(File::options().write(true).open("/dev/full").unwrap()),
    || Stdio::from(std::io::pipe().unwrap().1),
];

/// Returns the exit code of a command.
fn code(args: &[&str], stderr: BrokenStderr) -> Option<i32> {
    let mut command = urlspool(args);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null());
    child.stderr(stderr()).status().unwrap().code()
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
        let broken = BROKEN.map(|stderr| self::code(args, stderr));
        assert_eq!(broken, [Some(code); 2], "{args:?}");
    }
}

#[test]
fn results_are_imported() {
    for stderr in BROKEN {
        let folder = Folder::new();
        audit::loaded(&folder, &audit::message(1, "", "http://l.cern.ch/a\n"));
        audit::audited(&folder, "plan", &["-q"]);
        let csv = "url,status,checked_at\nhttp://l.cern.ch/a,x,2026-11-22\n\
            http://l.cern.ch/a,200,2026-11-22\n";
        let (database, csv) = (folder.path("urls.db"), folder.file("r.csv", csv));
        let args = ["audit", "import", database.to_str().unwrap(), &csv];
        assert_eq!(code(&args, stderr), Some(1));
        assert_eq!(
            audit::rows(&database, "SELECT status FROM audit_checks"),
            ["200"]
        );
    }
}

#[test]
fn the_daemon_writes_its_records() {
    for stderr in BROKEN {
        let folder = Folder::new();
        folder.write("spool/a.eml", MAIL);
        let root = folder.root().display();
        let config = format!(
            "[output]\ndir = \"{root}/out\"\n[state]\ndir = \"{root}/state\"\n[watch]\n\
             settle = \"10ms\"\n\
             [metrics]\nlisten = \"\"\n[[spool]]\npath = \"{root}/spool\"\n"
        );
        let config = folder.file("c.toml", config);
        let args = ["watch", "--once", "--config", &config];
        assert_eq!(code(&args, stderr), Some(0));
        let segments = fs::read_dir(folder.path("out")).unwrap();
        let segments = segments.map(|entry| entry.unwrap().path());
        let texts = segments
            .filter(|path| path.extension() == Some("jsonl".as_ref()))
            .map(|path| fs::read_to_string(path).unwrap());
        assert!(texts.collect::<String>().contains("http://m.example/lamp"));
    }
}
