//! The bag of a report: its contents, and files that it never replaces.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use ring::digest::{SHA256, digest};

use super::{checked, planned, run};
use crate::audit::{audit, audited};
use crate::scene::{Folder, ended};

/// Creates a planned audit in which `/a` and `/b` are alive and no archive has `/b`.
fn living() -> Folder {
    let folder = planned();
    checked(&folder, "/a", "2026-11-22T10:00:00Z", "alive", "200");
    checked(&folder, "/b", "2026-11-22T10:00:00Z", "alive", "200");
    run(
        &folder,
        "INSERT INTO audit_captures SELECT key, 'https://web.archive.org/cdx/search/cdx', \
         '2026-11-22T10:00:00Z',
           NULL, NULL, NULL, 'none' FROM audit_links WHERE url LIKE '%/b'",
    );
    folder
}

/// Returns all files below a folder by path.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[track_caller]
fn bag(folder: &Folder, name: &str, options: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let path = folder.path(name);
    let mut args = vec!["--format", "bag", "-o", path.to_str().unwrap()];
    args.extend(options);
    audited(folder, "report", &args);
    files(&path)
}

#[test]
fn a_folder_is_not_written_to_standard_output() {
    let folder = living();
    for format in ["csv", "bag"] {
        let end = audit(&folder, "report", &["--format", format, "-o", "-"]);
        end.check(2, "cannot be standard output");
        assert_eq!(end.stdout, b"");
    }
}

#[test]
fn a_study_continues_after_damaged_input() {
    let folder = Folder::new();
    folder.write("my mail *[x]/a.mbox", b"Subject: a\n\nhttp://a.example/\n");
    folder.write("my mail *[x]/cut.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03");
    let mail = folder.path("my mail *[x]");
    let study = |bag: &Path| {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/study/study.sh");
        let mut study = Command::new("sh");
        study.arg(script).arg(&mail).arg(bag);
        study.env("URLSPOOL", env!("CARGO_BIN_EXE_urlspool"));
        study.env("CONTACT", "you@your.site");
        study.env("CDX", "http://127.0.0.1:1/cdx?a=*");
        ended(&mut study, b"")
    };
    let bag = folder.path("a bag/");
    let end = study(&bag);
    end.check(0, "cut.gz");
    assert!(bag.join("bagit.txt").is_file(), "{}", end.stderr);
    assert!(folder.path("a bag.db").is_file());
    study(&bag).check(2, "exists; name a new folder");
}

/// RFC 8493: the manifests list each payload file and each tag file.
#[test]
fn the_manifests_have_the_hash_of_each_file() {
    let folder = living();
    let files = bag(&folder, "evidence", &[]);
    let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();
    let mut named = vec!["tagmanifest-sha256.txt".to_owned()];
    for manifest in ["manifest-sha256.txt", "tagmanifest-sha256.txt"] {
        for line in text(manifest).lines() {
            let (hash, name) = line.split_once("  ").unwrap();
            let expected = digest(&SHA256, &files[name]);
            assert_eq!(
                hash,
                data_encoding::HEXLOWER.encode(expected.as_ref()),
                "{name}"
            );
            named.push(name.to_owned());
        }
    }
    named.sort();
    assert!(named.iter().eq(files.keys()), "{named:?}");
    let payload = files.iter().filter(|(name, _)| name.starts_with("data/"));
    let (count, bytes) = payload.fold((0, 0), |(count, bytes), (_, file)| {
        (count + 1, bytes + file.len())
    });
    let info = text("bag-info.txt");
    assert!(
        info.ends_with(&format!("Payload-Oxum: {bytes}.{count}\n")),
        "{info}"
    );
    assert!(text("bagit.txt").starts_with("BagIt-Version: 1.0\n"));
    assert!(text("data/report.html").contains("</html>"));
    let cohorts = text("data/tables/cohorts-by-year.csv");
    assert!(cohorts.contains("\n1996,2,2,0,0,0,0,0,0\n"), "{cohorts}");
    assert_eq!(
        text("data/seeds/living.txt"),
        "http://l.cern.ch/b\nhttp://l.cern.ch/a\n"
    );
    assert_eq!(text("data/seeds/unarchived.txt"), "http://l.cern.ch/b\n");
}

#[test]
fn a_bag_replaces_only_the_leftovers_of_a_killed_run() {
    let folder = living();
    fs::create_dir(folder.path("mine")).unwrap();
    let file = folder.file("mine/report.html", "mine");
    for place in [file, folder.path("mine").display().to_string()] {
        let args = ["--format", "bag", "-o", &place, "--force"];
        let end = audit(&folder, "report", &args);
        end.check(2, "a bag replaces no folder");
    }
    assert_eq!(fs::read(folder.path("mine/report.html")).unwrap(), b"mine");
    fs::create_dir(folder.path("evidence.urlspool-partial")).unwrap();
    folder.file("evidence.urlspool-partial/left", "of a run that was killed");
    assert!(!bag(&folder, "evidence", &[]).contains_key("left"));
    assert!(!folder.path("evidence.urlspool-partial").exists());
}
