//! `urlspool load` of folders: every file of records is loaded or reported.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::segments::segment;
use super::{MAIL, load, loaded, records, value};
use crate::scene::{Folder, ended, urlspool};

fn make_pipe(folder: &Folder, name: &str) {
    let mode = Mode::RUSR | Mode::WUSR;
    mknodat(CWD, folder.path(name), FileType::Fifo, mode, 0).unwrap();
}

#[test]
fn links_and_names_that_are_not_utf_8_are_loaded() {
    let folder = Folder::new();
    let files = ["a.mbox", "b.mbox", "c.mbox"].map(|name| records(&folder, name, MAIL));
    fs::create_dir_all(folder.path("in/more")).unwrap();
    let odd = OsStr::from_bytes(b"in/a\xff.jsonl");
    fs::write(folder.root().join(odd), &files[0]).unwrap();
    folder.write("elsewhere/b", &files[1]);
    symlink(folder.path("elsewhere/b"), folder.path("in/b.jsonl")).unwrap();
    folder.write("other/c.jsonl", &files[2]);
    symlink(folder.path("other"), folder.path("in/more/other")).unwrap();
    symlink(folder.path("in"), folder.path("in/more/circle")).unwrap();
    let input = folder.path("in").display().to_string();
    let summary = loaded(&folder, &[&input], b"");
    assert!(summary.contains("12 records, 12 of them new"), "{summary}");
}

#[test]
fn pipes_and_dead_links_in_folders_are_named() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", records(&folder, "a.mbox", MAIL));
    make_pipe(&folder, "in/pipe.jsonl");
    symlink("nowhere", folder.path("in/dead.jsonl")).unwrap();
    symlink("nowhere", folder.path("in/dead.txt")).unwrap();
    symlink("x".repeat(300), folder.path("in/linked")).unwrap();
    let input = folder.path("in").display().to_string();
    let ended = load(&folder, &[&input], b"");
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    for reason in [
        "pipe.jsonl: is not a regular file",
        "dead.jsonl: No such file",
        "linked: File name too long",
    ] {
        assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    }
    assert!(!ended.stderr.contains("dead.txt"), "{}", ended.stderr);
    assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 4);
}

#[test]
fn a_target_in_a_folder_of_the_input_is_refused() {
    let folder = Folder::new();
    folder.write("in/a.jsonl", records(&folder, "a.mbox", MAIL));
    let input = folder.path("in").display().to_string();
    let into = |target: &str| {
        let mut command = urlspool(["load", "--into", target, &input]);
        ended(command.current_dir(folder.root()), b"")
    };
    let refused = |target: &str| into(target).check(2, "both an input");
    refused("in/urls.jsonl");
    assert!(!folder.path("in/urls.jsonl").exists());
    assert_eq!(into("in/urls.db").status, Some(0));
    assert_eq!(into("in/urls.db").status, Some(0));
    fs::hard_link(folder.path("in/urls.db"), folder.path("in/urls.jsonl")).unwrap();
    refused("in/urls.db");
}

#[test]
fn segments_before_a_damaged_one_are_loaded() {
    let folder = Folder::new();
    segment(&folder, 1, &records(&folder, "a.mbox", MAIL));
    let damaged = segment(&folder, 2, &records(&folder, "b.mbox", MAIL));
    segment(&folder, 3, &records(&folder, "c.mbox", MAIL));
    fs::write(damaged, "").unwrap();
    let out = folder.path("out").display().to_string();
    for args in [&[&*out][..], &[&out, "--follow"]] {
        let ended = load(&folder, args, b"");
        ended.check(78, "0000000002.meta");
        assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM segments"), 1);
        assert_eq!(value::<i64>(&folder, "SELECT count(*) FROM urls"), 4);
    }
}

/// Regression: the load ended with status 0 and an empty database, or with twenty equal lines.
#[test]
fn mail_that_was_not_scanned_is_not_loaded() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("mail/sub")).unwrap();
    folder.file("mail/sub/a.mbox", MAIL);
    let file = folder.file("a.mbox", MAIL);
    let path = |name: &str| folder.path(name).display().to_string();
    let unknown = "No such file or directory (os error 2); no record was loaded";
    let scan_it = "scan it: urlspool scan --into ";
    for (input, reason) in [
        (path("mail"), scan_it),
        (file, scan_it),
        (path("none"), unknown),
    ] {
        let ended = load(&folder, &[&input], b"");
        ended.check(2, reason);
        ended.check(2, &input);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        assert!(!folder.path("urls.db").exists(), "{input}");
    }
    std::fs::create_dir_all(folder.path("out/.open")).unwrap();
    std::fs::create_dir_all(folder.path("empty")).unwrap();
    for name in ["out", "empty"] {
        loaded(&folder, &[&path(name)], b"");
    }
    loaded(&folder, &["/dev/null"], b"");
}
