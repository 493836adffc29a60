//! Outputs of `scan`: they overwrite no input and no other output, and appear only when complete.

mod partial;
mod refused;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use self::refused::check_refused;
use super::MAIL;
use crate::scene::{Ended, Folder, assert_contains, done, ended, lines, urlspool};

/// Runs a scan in the folder with empty standard input.
#[track_caller]
fn scan_in(folder: &Folder, args: &[&str]) -> Ended {
    ended(
        urlspool(["scan"]).args(args).current_dir(folder.root()),
        b"",
    )
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

/// The scan's log in the scanned folder is not mail.
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

/// Regression: `scan folder`, with its output in `folder`, read its own output.
#[test]
fn a_scan_skips_its_own_outputs() {
    let folder = Folder::new();
    let text = "see http://m.example/lamp\n".repeat(2_000);
    folder.write("a", &text);
    folder.write("z", &text);
    for _ in 0..2 {
        let options = "-o m.jsonl --summary b.json --events y.jsonl .";
        let ended = scan_in(&folder, &options.split(' ').collect::<Vec<_>>());
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

/// Regression: a later scan of the folder found every URL again in the earlier output.
#[test]
fn an_earlier_output_in_a_folder_is_not_read_again() {
    let folder = Folder::new();
    fs::create_dir(folder.path("mail")).unwrap();
    folder.write("mail/inbox", MAIL);
    let large = "see http://m.example/lamp\n".repeat(2_000);
    folder.write("mail/large.txt", large);
    let clean = scan_in(&folder, &["--format", "urls", "mail"]).stdout;
    for (options, name) in [
        (&[][..], "mail/urls.jsonl"),
        (&["--fields", "slim"], "mail/slim.jsonl"),
        (&["--format", "csv"], "mail/urls.csv"),
        (&[], "mail/packed.jsonl.gz"),
    ] {
        let args = [options, &["-o", name, "mail"]].concat();
        assert_eq!(scan_in(&folder, &args).status, Some(0), "{args:?}");
        let again = scan_in(&folder, &["--format", "urls", "mail"]);
        assert_eq!(again.stdout, clean, "{name}");
        assert_contains(&again.stderr, "written by urlspool and skipped");
        assert_contains(&again.stderr, "to read it");
        let listed = scan_in(&folder, &["--dry-run", "mail"]).stdout;
        let listed = String::from_utf8(listed).unwrap();
        assert!(name.ends_with(".gz") || !listed.contains(name), "{listed}");
    }
    let named = scan_in(&folder, &["--format", "urls", "mail/slim.jsonl"]);
    assert!(!named.stdout.is_empty(), "{}", named.stderr);
}

/// Regression: a second run was refused, although urlspool had written the file.
#[test]
fn an_earlier_output_is_replaced_in_any_format_that_shows_its_writer() {
    let folder = Folder::new();
    folder.write("mail", MAIL);
    for options in [
        &["--fields", "slim"][..],
        &["--fields", "url,source.path"],
        &["--format", "csv"],
        &["--format", "tsv", "--fields", "url,message"],
        &["--format", "grep", "--force"],
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
        ended.check(2, "add `--force`");
        // The file is also an input, and `--force` does not overwrite inputs.
        let ended = scan_in(&folder, &[&args[..], &["--force"]].concat());
        assert_eq!(ended.status, Some(2));
        let way_out = "name a file outside ., or remove this one first";
        assert!(ended.stderr.contains(way_out), "{}", ended.stderr);
        fs::remove_file(folder.path("out")).unwrap();
    }
    // A line of `grep -n` has a line number where a URL would be.
    folder.write("found", "mail:4: http://m.example/lamp\n");
    check_refused(&folder, &["--force", "-o", "found", "."], ["-o", "found"]);
}

/// Regression: `-o -` created a file named `-`.
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

/// Regression: the summary was opened only after all work was done.
#[test]
fn all_outputs_are_opened_before_the_scan_starts() {
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

/// Regression: `--rejects /dev/full` blamed standard output.
#[cfg(target_os = "linux")]
#[test]
fn an_error_names_the_output_that_failed_and_the_file_that_is_left() {
    let folder = Folder::new();
    folder.write("mail", "http://m.example/ and <URL:http://[>\n".repeat(40));
    for option in ["-o", "--rejects", "--summary"] {
        let ended = scan_in(&folder, &[option, "/dev/full", "mail"]);
        ended.check(74, "cannot write /dev/full");
    }
    let ended = scan_in(&folder, &["--events", "/dev/full", "mail", "none"]);
    assert_contains(&ended.stderr, "cannot write /dev/full");
    // A thread hands in its records in one batch before the next file's rejects fail.
    let ended = scan_in(
        &folder,
        &["-j1", "-o", "out", "--events", "/dev/full", "mail", "none"],
    );
    ended.check(74, "; out.partial holds the first 40 records");
    assert!(!folder.path("out").exists());
    assert_eq!(
        lines(&fs::read(folder.path("out.partial")).unwrap()).len(),
        40
    );
}

/// Regression: a named pipe was skipped with exit status 0.
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
fn the_ending_of_an_output_names_its_format() {
    let folder = Folder::new();
    folder.write("mail", MAIL);
    let written = |name: &str, args: &[&str]| {
        let ended = scan_in(&folder, &[&["-o", name], args, &["mail"]].concat());
        assert_eq!(ended.status, Some(0), "{name}: {}", ended.stderr);
        (fs::read(folder.path(name)).unwrap(), ended.stderr)
    };
    let format = |name: &str| {
        done(&[
            "scan",
            "--format",
            name,
            folder.path("mail").to_str().unwrap(),
        ])
        .stdout
    };
    assert_eq!(written("a.txt", &[]).0, format("urls"));
    assert!(written("a.csv", &[]).0.starts_with(b"url,"));
    assert!(written("a.tsv", &[]).0.contains(&b'\t'));
    assert!(
        written("a.csv", &["--format", "jsonl", "--force"])
            .0
            .starts_with(b"{")
    );
    let (unknown, hint) = written("a.urls", &[]);
    assert!(unknown.starts_with(b"{"));
    assert_contains(&hint, "extension of the -o file is unknown");
    let (lines, hint) = written("a.jsonl", &[]);
    assert_eq!(hint, "");
    let (gzip, _) = written("a.jsonl.gz", &[]);
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(&*gzip), &mut text).unwrap();
    assert_eq!(text, lines);
    let (packed, _) = written("a.jsonl.zst", &[]);
    assert_eq!(zstd::decode_all(&*packed).unwrap(), lines);
    // A compressed file does not show which program wrote it.
    assert_eq!(
        scan_in(&folder, &["-o", "a.jsonl.zst", "mail"]).status,
        Some(2)
    );
}
