//! Outputs that are refused: inputs, other outputs, other programs' files.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use super::super::MAIL;
use super::{folder_content, scan_in};
use crate::scene::{Folder, assert_contains, lines, urlspool};

/// Checks that a scan is refused, that its message has both names, and that no file has changed.
#[track_caller]
pub(super) fn check_refused(folder: &Folder, args: &[&str], names: [&str; 2]) {
    let before: Vec<_> = folder_content(folder.root());
    let ended = scan_in(folder, args);
    assert_eq!(ended.status, Some(2), "{args:?}: {}", ended.stderr);
    for name in names {
        assert!(ended.stderr.contains(name), "{args:?}: {}", ended.stderr);
    }
    assert_eq!(folder_content(folder.root()), before, "{args:?}");
}

/// Regression: `urlspool scan -o archive.mbox archive.mbox` emptied the mailbox.
#[test]
fn an_output_that_is_an_input_is_refused_under_any_name() {
    let folder = Folder::new();
    folder.write("archive.mbox", MAIL);
    fs::hard_link(folder.path("archive.mbox"), folder.path("hard")).unwrap();
    symlink("archive.mbox", folder.path("soft")).unwrap();
    for option in ["-o", "--rejects", "--events", "--summary"] {
        for name in ["archive.mbox", "./archive.mbox", "hard", "soft"] {
            let args = [option, name, "archive.mbox"];
            check_refused(&folder, &args, [name, "archive.mbox"]);
        }
    }
    check_refused(&folder, &["-o", "archive.mbox", "soft"], ["-o", "soft"]);
    let partial = folder.file("out.partial", MAIL);
    check_refused(&folder, &["-o", "out", &partial], ["-o", "out.partial"]);
}

#[test]
fn standard_input_and_option_files_are_inputs_too() {
    let folder = Folder::new();
    let mail = folder.write("mail", MAIL);
    folder.write("config", "[extract]\n");
    folder.write("items", "");
    check_refused(
        &folder,
        &["-o", "config", "--config", "config", "mail"],
        ["-o", "config"],
    );
    check_refused(
        &folder,
        &["-o", "items", "--splits", "items"],
        ["-o", "items"],
    );
    let output = urlspool(["scan", "-o", "mail"])
        .current_dir(folder.root())
        .stdin(fs::File::open(&mail).unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read(mail).unwrap(), MAIL.as_bytes());
}

#[test]
fn two_outputs_in_one_file_are_refused() {
    let folder = Folder::new();
    folder.write("mail", MAIL);
    folder.write("out", "");
    symlink("out", folder.path("soft")).unwrap();
    symlink("later", folder.path("dangling")).unwrap();
    for (one, other) in [
        ("out", "out"),
        ("out", "soft"),
        ("new", "./new"),
        ("later", "dangling"),
    ] {
        let args = ["-o", one, "--rejects", other, "mail"];
        check_refused(&folder, &args, [one, other]);
    }
    let args = ["--summary", "x", "--events", "x", "mail"];
    check_refused(&folder, &args, ["--events", "--summary"]);
    let args = ["--summary", "x", "--events", "x.partial", "mail"];
    check_refused(&folder, &args, ["--events", "--summary"]);
}

/// `scan < mail >> mail` would never end.
#[test]
fn standard_input_that_is_standard_output_is_refused() {
    let folder = Folder::new();
    let mail = folder.write("mail", MAIL);
    let open = || fs::OpenOptions::new().read(true).append(true).open(&mail);
    let status = urlspool(["scan"])
        .stdin(open().unwrap())
        .stdout(open().unwrap())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
    assert_eq!(fs::read(&mail).unwrap(), MAIL.as_bytes());
}

/// Runs a scan whose standard output is a file opened at its end or at its start. Returns the exit
/// status and the message.
#[track_caller]
fn scan_into(folder: &Folder, name: &str, append: bool, args: &[&str]) -> (Option<i32>, String) {
    let path = folder.path(name);
    let mut options = fs::OpenOptions::new();
    let options = options.read(!append).write(true).append(append);
    let ended = urlspool(["scan"])
        .args(args)
        .current_dir(folder.root())
        .stdin(Stdio::null())
        .stdout(options.open(path).unwrap())
        .output()
        .unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    (ended.status.code(), stderr)
}

/// Regression: `scan folder >> folder/inbox` and `scan inbox 1<> inbox` wrote into the mailbox.
#[test]
fn standard_output_that_is_a_mailbox_is_refused() {
    let folder = Folder::new();
    folder.write("mail/inbox", MAIL);
    folder.write("mail/other", MAIL);
    fs::hard_link(folder.path("mail/inbox"), folder.path("hard")).unwrap();
    for append in [true, false] {
        for (out, args, named) in [
            ("mail/inbox", &["mail"][..], "a file in mail"),
            ("hard", &["mail"], "a file in mail"),
            ("mail/inbox", &["mail/other", "mail/inbox"], "mail/inbox"),
            (
                "mail/inbox",
                &["-o", "out", "--events", "-", "mail"],
                "mail",
            ),
        ] {
            let (status, stderr) = scan_into(&folder, out, append, args);
            assert_eq!(status, Some(2), "{out} {args:?}: {stderr}");
            assert!(stderr.contains(named), "{out} {args:?}: {stderr}");
        }
    }
    assert_eq!(fs::read(folder.path("hard")).unwrap(), MAIL.as_bytes());
    // Files written by urlspool, or just created by a shell, are skipped.
    let created = folder.write("mail/urls", "");
    for count in 1..3 {
        let (status, stderr) = scan_into(&folder, "mail/urls", true, &["mail"]);
        assert_eq!(status, Some(0), "{stderr}");
        assert_eq!(lines(&fs::read(&created).unwrap()).len(), 2 * count);
    }
    let (_, stderr) = scan_into(&folder, "mail/urls", true, &["mail/inbox", "mail/urls"]);
    assert!(stderr.contains("mail/urls is standard output"), "{stderr}");
    let (status, stderr) = scan_into(&folder, "mail/inbox", true, &["-o", "out", "mail"]);
    assert_eq!(status, Some(0), "{stderr}");
}

/// Regression: `scan -o inbox .` emptied `inbox`.
#[test]
fn a_foreign_file_in_a_scanned_folder_is_not_replaced() {
    let folder = Folder::new();
    folder.write("inbox", MAIL);
    folder.write("out.partial", MAIL);
    symlink(folder.path("inbox"), folder.path("link")).unwrap();
    for name in ["inbox", "link", "out"] {
        check_refused(&folder, &["-o", name, "."], ["-o", name]);
    }
    assert_eq!(scan_in(&folder, &["."]).records().len(), 2);
}

/// Regression: `scan -o out` removed the user's own file `out.partial`.
#[test]
fn a_partial_file_that_urlspool_did_not_write_is_removed_only_by_force() {
    let folder = Folder::new();
    folder.write("a.mbox", MAIL);
    folder.write("out.partial", "notes\n");
    let ended = scan_in(&folder, &["-o", "out", "a.mbox"]);
    ended.check(2, "out.partial exists");
    assert_contains(&ended.stderr, "--force");
    assert_eq!(fs::read(folder.path("out.partial")).unwrap(), b"notes\n");
    let forced = scan_in(&folder, &["--force", "-o", "out", "a.mbox"]);
    assert_eq!(forced.status, Some(0), "{}", forced.stderr);
    assert!(folder.path("out").exists() && !folder.path("out.partial").exists());
}

/// Regression: `scan -o *.mbox` replaced the first mailbox.
#[test]
fn a_file_that_urlspool_did_not_write_is_replaced_only_by_force() {
    let folder = Folder::new();
    for name in ["a.mbox", "b.mbox", "c.mbox"] {
        folder.file(name, MAIL);
    }
    let before = folder_content(folder.root());
    for option in ["-o", "--rejects", "--events", "--summary"] {
        let ended = scan_in(&folder, &[option, "a.mbox", "b.mbox", "c.mbox"]);
        assert_eq!(ended.status, Some(2), "{option}: {}", ended.stderr);
        let reason = "a.mbox exists, and urlspool may not have written it";
        assert!(
            ended.stderr.contains(reason) && ended.stderr.contains("--force"),
            "{}",
            ended.stderr
        );
        assert_eq!(folder_content(folder.root()), before, "{option}");
    }
    let urls = ["--format", "urls", "-o", "urls.txt", "b.mbox"];
    assert_eq!(scan_in(&folder, &urls).status, Some(0));
    // A list of URLs does not show which program wrote it.
    assert_eq!(scan_in(&folder, &urls).status, Some(2));
    assert_eq!(
        scan_in(&folder, &[&urls[..], &["--force"]].concat()).status,
        Some(0)
    );
}
