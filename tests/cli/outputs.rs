//! Outputs of `scan`: they destroy no input and no other output, and appear when they are complete.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::MAIL;
use crate::scene::{Ended, Folder, done, ended, lines, urlspool};

/// A scan in the folder, with nothing on its standard input.
#[track_caller]
fn scan_in(folder: &Folder, args: &[&str]) -> Ended {
    ended(
        urlspool(["scan"]).args(args).current_dir(folder.root()),
        b"",
    )
}

/// Checks that a scan is refused, that its message has both names, and that the files are unchanged.
#[track_caller]
fn check_refused(folder: &Folder, args: &[&str], names: [&str; 2]) {
    let before: Vec<_> = folder_content(folder.root());
    let ended = scan_in(folder, args);
    assert_eq!(ended.status, Some(2), "{args:?}: {}", ended.stderr);
    for name in names {
        assert!(ended.stderr.contains(name), "{args:?}: {}", ended.stderr);
    }
    assert_eq!(folder_content(folder.root()), before, "{args:?}");
}

fn folder_content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut content: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_file())
        .map(|entry| {
            let bytes = fs::read(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), bytes)
        })
        .collect();
    content.sort();
    content
}

/// `urlspool scan -o archive.mbox archive.mbox` emptied the mailbox.
#[test]
fn an_output_that_is_an_input_is_refused_by_whatever_name() {
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

/// Two kinds of lines in one stream can be told apart by nobody.
#[test]
fn two_outputs_on_standard_output_are_refused() {
    let folder = Folder::new();
    folder.write("mail", MAIL);
    for option in ["--rejects", "--events", "--summary"] {
        check_refused(&folder, &[option, "-", "mail"], ["the records", option]);
    }
    let args = ["-o", "out", "--events", "-", "--summary", "-", "mail"];
    check_refused(&folder, &args, ["--events", "--summary"]);
}

/// A log of the scan in the folder that it reads is no mail.
#[test]
fn standard_error_is_not_read() {
    let folder = Folder::new();
    folder.write("mail", MAIL);
    folder.write("log", "see http://log.example/\n");
    let log = fs::OpenOptions::new().append(true).open(folder.path("log"));
    let output = urlspool(["scan", "--format", "urls", "."])
        .current_dir(folder.root())
        .stderr(log.unwrap())
        .output()
        .unwrap();
    let urls = String::from_utf8(output.stdout).unwrap();
    assert!(!urls.is_empty() && !urls.contains("log.example"), "{urls}");
}

/// `scan < mail >> mail` has no end.
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

/// Runs a scan whose standard output is a file, opened at its end or at its start. Returns its exit status and its message.
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

/// `scan folder >> folder/inbox` and `scan inbox 1<> inbox` wrote records into the mailbox.
#[test]
fn standard_output_that_is_a_mailbox_is_refused() {
    let folder = Folder::new();
    folder.write("mail/inbox", MAIL);
    folder.write("mail/other", MAIL);
    fs::hard_link(folder.path("mail/inbox"), folder.path("hard")).unwrap();
    for append in [true, false] {
        for (out, args, named) in [
            ("mail/inbox", &["mail"][..], "a file beneath mail"),
            ("hard", &["mail"], "a file beneath mail"),
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
    // What urlspool wrote, or a shell has just created, is skipped.
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

/// Standard output has its own position in the file.
#[test]
fn an_output_that_is_standard_output_is_refused() {
    let folder = Folder::new();
    folder.write("mail", MAIL);
    let out = fs::File::create(folder.path("out")).unwrap();
    let ended = urlspool(["scan", "--rejects", "out", "mail"])
        .current_dir(folder.root())
        .stdin(Stdio::null())
        .stdout(out)
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(2));
}

/// `scan -o inbox .` emptied `inbox`.
#[test]
fn a_foreign_file_beneath_a_scanned_folder_is_not_replaced() {
    let folder = Folder::new();
    folder.write("inbox", MAIL);
    folder.write("out.partial", MAIL);
    symlink(folder.path("inbox"), folder.path("link")).unwrap();
    for name in ["inbox", "link", "out"] {
        check_refused(&folder, &["-o", name, "."], ["-o", name]);
    }
    assert_eq!(scan_in(&folder, &["."]).records().len(), 2);
}

/// `scan folder > folder/urls.jsonl` and `scan -o folder/urls.jsonl folder` read their own output.
#[test]
fn a_scan_skips_its_own_outputs() {
    let folder = Folder::new();
    let text = "see http://m.example/lamp\n".repeat(2_000);
    folder.write("a", &text);
    folder.write("z", &text);
    for _ in 0..2 {
        let options = [
            "-o",
            "m.jsonl",
            "--summary",
            "b.json",
            "--events",
            "y.jsonl",
            ".",
        ];
        let ended = scan_in(&folder, &options);
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        assert_eq!(
            lines(&fs::read(folder.path("m.jsonl")).unwrap()).len(),
            4_000
        );
    }
    let summary: Value = serde_json::from_slice(&fs::read(folder.path("b.json")).unwrap()).unwrap();
    assert!(0 < summary["files_skipped"]["own-output"].as_u64().unwrap());
    for name in ["b.json", "y.jsonl"] {
        fs::remove_file(folder.path(name)).unwrap();
    }
    let status = urlspool(["scan", "."])
        .current_dir(folder.root())
        .stdin(Stdio::null())
        .stdout(fs::File::create(folder.path("m.jsonl")).unwrap())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(
        lines(&fs::read(folder.path("m.jsonl")).unwrap()).len(),
        4_000
    );
}

/// A second run with the same arguments was refused, although urlspool wrote the file.
#[test]
fn an_earlier_output_is_replaced_in_any_format_that_shows_its_writer() {
    let folder = Folder::new();
    folder.write("mail", MAIL);
    for options in [
        &["--slim"][..],
        &["--fields", "url,source.path"],
        &["--format", "csv"],
        &["--format", "tsv", "--fields", "url,message"],
        &["--format", "grep"],
    ] {
        let args = [options, &["-o", "out", "."]].concat();
        for _ in 0..2 {
            let ended = scan_in(&folder, &args);
            assert_eq!(ended.status, Some(0), "{args:?}: {}", ended.stderr);
        }
        fs::remove_file(folder.path("out")).unwrap();
    }
    for options in [&["--format", "urls"][..], &["--fields", "url"]] {
        let args = [options, &["-o", "out", "."]].concat();
        assert_eq!(scan_in(&folder, &args).status, Some(0));
        let ended = scan_in(&folder, &args);
        assert_eq!(ended.status, Some(2));
        let way_out = "name a file outside of ., or remove this one first";
        assert!(ended.stderr.contains(way_out), "{}", ended.stderr);
        fs::remove_file(folder.path("out")).unwrap();
    }
    // A line of `grep -n` has a number of a line, where the URL does not stand.
    folder.write("found", "mail:4: http://m.example/lamp\n");
    check_refused(&folder, &["-o", "found", "."], ["-o", "found"]);
}

/// `-o -` created a file named `-`.
#[test]
fn a_hyphen_is_standard_output() {
    let folder = Folder::new();
    folder.write("mail", MAIL);
    for name in ["-", "/dev/stdout"] {
        assert_eq!(scan_in(&folder, &["-o", name, "mail"]).records().len(), 1);
    }
    let ended = scan_in(&folder, &["-o", "out", "--summary", "-", "mail"]);
    assert_eq!(ended.records()[0]["records"], 1);
    let ended = scan_in(&folder, &["-o", "out", "--events", "-", "mail", "none"]);
    assert_eq!(ended.records()[0]["kind"], "unreadable");
    assert!(!folder.path("-").exists());
}

/// The path of the summary was opened only after all work was done.
#[test]
fn all_outputs_are_opened_before_the_scan_begins() {
    let folder = Folder::new();
    folder.write("mail", MAIL);
    for option in ["--rejects", "--events", "--summary"] {
        let ended = scan_in(&folder, &[option, "none/file", "mail"]);
        assert_eq!(
            (ended.status, ended.stdout.len()),
            (Some(74), 0),
            "{option}"
        );
        assert!(ended.stderr.contains("none/file"), "{}", ended.stderr);
        let ended = scan_in(&folder, &["-o", "out", option, "none/file", "mail"]);
        assert_eq!(ended.status, Some(74));
        assert!(!folder.path("out").exists() && !folder.path("out.partial").exists());
    }
}

/// `--rejects /dev/full` blamed standard output.
#[cfg(target_os = "linux")]
#[test]
fn an_error_names_the_output_that_failed_and_the_file_that_is_left() {
    let folder = Folder::new();
    folder.write("mail", "http://m.example/ and <URL:http://[>\n".repeat(40));
    for option in ["-o", "--rejects", "--summary"] {
        let ended = scan_in(&folder, &[option, "/dev/full", "mail"]);
        assert_eq!(ended.status, Some(74), "{option}");
        assert!(
            ended.stderr.contains("cannot write /dev/full"),
            "{option}: {}",
            ended.stderr
        );
    }
    let ended = scan_in(&folder, &["--events", "/dev/full", "mail", "none"]);
    assert!(
        ended.stderr.contains("cannot write /dev/full"),
        "{}",
        ended.stderr
    );
    // A thread hands in its records in one batch before the next file's rejects fail.
    let ended = scan_in(
        &folder,
        &["-j1", "-o", "out", "--events", "/dev/full", "mail", "none"],
    );
    assert_eq!(ended.status, Some(74));
    assert!(
        ended
            .stderr
            .contains("; out.partial holds the first 40 records"),
        "{}",
        ended.stderr
    );
    assert!(!folder.path("out").exists());
    assert_eq!(
        lines(&fs::read(folder.path("out.partial")).unwrap()).len(),
        40
    );
}

#[test]
fn an_existing_output_stays_if_no_input_exists() {
    let folder = Folder::new();
    folder.write("out", "precious\n");
    let ended = scan_in(
        &folder,
        &["-o", "out", "--events", "events", "none", "neither"],
    );
    assert_eq!(ended.status, Some(1));
    assert_eq!(fs::read(folder.path("out")).unwrap(), b"precious\n");
    assert_eq!(lines(&fs::read(folder.path("events")).unwrap()).len(), 2);
    assert!(!folder.path("out.partial").exists());
    scan_in(&folder, &["-o", "other", "none"]);
    assert!(!folder.path("other").exists());
}

#[test]
fn an_output_keeps_its_links_and_its_mode() {
    let folder = Folder::new();
    folder.write("mail", MAIL);
    let target = folder.write("real/out", "old\n");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o604)).unwrap();
    symlink("real/out", folder.path("out")).unwrap();
    assert_eq!(scan_in(&folder, &["-o", "out", "mail"]).status, Some(0));
    assert!(folder.path("out").is_symlink());
    assert_eq!(lines(&fs::read(&target).unwrap()).len(), 1);
    assert_eq!(
        target.metadata().unwrap().permissions().mode() & 0o777,
        0o604
    );
}

/// A named pipe was skipped with exit status 0.
#[test]
fn named_pipes_are_read_and_written() {
    let folder = Folder::new();
    let (input, output) = (folder.path("in"), folder.path("out"));
    for pipe in [&input, &output] {
        rustix::fs::mkfifoat(rustix::fs::CWD, pipe, 0o600.into()).unwrap();
    }
    let (writer, reader) = (input.clone(), output.clone());
    let writer = std::thread::spawn(move || fs::write(writer, MAIL).unwrap());
    let reader = std::thread::spawn(move || fs::read(reader).unwrap());
    let ended = scan_in(&folder, &["-o", "out", "in"]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    writer.join().unwrap();
    let records = lines(&reader.join().unwrap());
    assert_eq!(records[0]["source"]["path"], "in");
    assert!(output.exists() && !folder.path("out.partial").exists());
}

#[test]
fn a_piped_dev_stdin_is_read() {
    let ended = ended(&mut urlspool(["scan", "/dev/stdin"]), MAIL.as_bytes());
    assert_eq!(
        (ended.status, ended.urls()),
        (Some(0), vec!["http://m.example/lamp".to_owned()])
    );
}

/// A socket has no name that can be opened, not even `/dev/stdin`; it was skipped with exit status 0.
#[test]
fn a_socket_is_read_as_standard_input_and_refused_by_its_name() {
    for name in ["-", "/dev/stdin"] {
        let (mut writer, reader) = std::os::unix::net::UnixStream::pair().unwrap();
        let child = urlspool(["scan", "-j1", name])
            .stdin(std::os::fd::OwnedFd::from(reader))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut writer, MAIL.as_bytes()).unwrap();
        drop(writer);
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{name}");
        assert_eq!(lines(&ended.stdout).len(), 1, "{name}");
    }
    let folder = Folder::new();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("socket")).unwrap();
    let ended = scan_in(&folder, &["socket"]);
    assert_eq!(ended.status, Some(1));
    assert!(ended.stderr.contains("it is a socket"), "{}", ended.stderr);
}

/// Starts a scan of a long text, whose reading does not end. One thread writes what it has before it reads on.
fn endless_scan(folder: &Folder, args: &[&str]) -> Child {
    let mut child = urlspool(["scan"])
        .args(args)
        .current_dir(folder.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // More than one unit of work.
    let line = format!("see http://m.example/lamp{}\n", " and so on".repeat(40));
    let text = line.repeat(15_000);
    // Standard input stays open.
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), text.as_bytes()).unwrap();
    child
}

fn wait_for(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(
            begun.elapsed() < Duration::from_mins(1),
            "it takes too long"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ctrl-C left half a file under its final name.
#[test]
fn an_interrupted_scan_leaves_whole_lines_in_a_partial_file() {
    let folder = Folder::new();
    folder.write("out", "old\n");
    let child = endless_scan(&folder, &["-j1", "-o", "out", "-"]);
    let partial = folder.path("out.partial");
    wait_for(|| partial.metadata().is_ok_and(|metadata| 0 < metadata.len()));
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let count = lines(&fs::read(&partial).unwrap()).len();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    let expected = format!("out.partial holds the first {count} records");
    assert!(0 < count && stderr.contains(&expected), "{stderr}");
    assert_eq!(fs::read(folder.path("out")).unwrap(), b"old\n");
    // A closed terminal: nobody reads the message.
    fs::remove_file(&partial).unwrap();
    let mut child = endless_scan(&folder, &["-j1", "-o", "out", "--events", "events", "-"]);
    wait_for(|| partial.metadata().is_ok_and(|metadata| 0 < metadata.len()));
    drop(child.stderr.take());
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::HUP).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(partial.exists() && !folder.path("events.partial").exists());
    // The next scan replaces both.
    folder.write("mail", MAIL);
    assert_eq!(scan_in(&folder, &["-o", "out", "mail"]).status, Some(0));
    assert!(!partial.exists());
}

/// The names of the columns and the line feeds in quoted texts were counted too.
#[test]
fn a_partial_table_is_counted_in_records() {
    let folder = Folder::new();
    folder.write("mail", "http://m.example/ and <URL:http://n.exa\nmple/>\n");
    for format in ["csv", "tsv"] {
        let format = ["--format", format, "--fields", "raw,source.start"];
        let args = [&["-j1", "-o", "out", "--events", "/dev/full"], &format[..]].concat();
        let ended = scan_in(&folder, &[&args[..], &["mail", "none"]].concat());
        let expected = "; out.partial holds the first 2 records";
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
        fs::remove_file(folder.path("out.partial")).unwrap();
        // A table without rows is no reason to keep a file.
        let args = [&args[..], &["none", "mail/none"]].concat();
        let ended = scan_in(&folder, &args);
        assert!(
            !ended.stderr.contains("holds the first"),
            "{}",
            ended.stderr
        );
        assert!(!folder.path("out.partial").exists());
    }
}

/// The records of an interrupted run were removed for nothing.
#[test]
fn a_partial_file_stays_if_no_input_exists() {
    let folder = Folder::new();
    let partial = folder.write("out.partial", "old\n");
    let ended = scan_in(&folder, &["-o", "out", "--rejects", "rejects", "none"]);
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    assert_eq!(fs::read(&partial).unwrap(), b"old\n");
    assert!(!folder.path("out").exists() && !folder.path("rejects").exists());
}

#[test]
fn an_oddity_that_loses_nothing_is_a_note() {
    let folder = Folder::new();
    let mail = folder.file(
        "mail",
        "Subject: x\nContent-Type: multipart/mixed\n\nhttp://m.example/lamp\n",
    );
    let ended = done(&["scan", &mail]);
    assert_eq!(ended.records().len(), 1);
    assert!(
        ended.stderr.contains("without a boundary"),
        "{}",
        ended.stderr
    );
    let strict = crate::scene::ended(&mut urlspool(["scan", "--strict", &mail]), b"");
    assert_eq!(strict.status, Some(1));
}
