//! `urlspool audit bundle`: the tables and the report of an audit, and their description.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{audit, audited, loaded, message};
use crate::scene::Folder;

const DATED: &str = "Date: Tue, 2 Jan 1996 10:00:00 +0000\nList-Id: <l.m.test>\nSubject: A lamp\n";

/// An audit with results of two links.
fn audited_folder() -> Folder {
    let folder = Folder::new();
    let mail = [
        message(1, DATED, "http://l.cern.ch/a and http://l.cern.ch/b\n"),
        message(2, DATED, "http://l.cern.ch/b and gopher://l.cern.ch/\n"),
    ];
    loaded(&folder, &mail.concat());
    audited(&folder, "plan", &["-q"]);
    let results = folder.file(
        "r.csv",
        "url,status,checked_at\nhttp://l.cern.ch/a,200,2026-01-01\nhttp://l.cern.ch/b,404,2026-01-01\n",
    );
    audited(&folder, "import", &["-q", &results]);
    folder
}

/// The files of a folder and of those in it, by their paths.
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
fn bundled(folder: &Folder, name: &str, options: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let path = folder.path(name);
    let mut args = vec!["-o", path.to_str().unwrap()];
    args.extend(options);
    audited(folder, "bundle", &args);
    files(&path)
}

#[test]
fn the_description_has_size_and_hash_of_each_file() {
    let folder = audited_folder();
    let files = bundled(&folder, "evidence", &[]);
    let package: Value = serde_json::from_slice(&files["datapackage.json"]).unwrap();
    let resources = package["resources"].as_array().unwrap();
    assert_eq!(resources.len() + 1, files.len());
    for resource in resources {
        let path = resource["path"].as_str().unwrap();
        let bytes = &files[path];
        assert_eq!(resource["bytes"], bytes.len(), "{path}");
        let hash = ring::digest::digest(&ring::digest::SHA256, bytes);
        let hash: String = hash
            .as_ref()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(resource["hash"], format!("sha256:{hash}"), "{path}");
        if let Some(fields) = resource["schema"]["fields"].as_array() {
            let names: Vec<_> = fields
                .iter()
                .map(|field| field["name"].as_str().unwrap())
                .collect();
            let text = String::from_utf8_lossy(bytes);
            assert_eq!(
                text.lines().next(),
                Some(names.join(",").as_str()),
                "{path}"
            );
        }
    }
    let results = String::from_utf8_lossy(&files["results.csv"]);
    assert!(
        results.contains("http://l.cern.ch/b,2026-01-01T00:00:00Z,dead_page,404,,,imported\n"),
        "{results}"
    );
    let places = String::from_utf8_lossy(&files["places.csv"]);
    assert_eq!(places.lines().count(), 4, "{places}");
}

#[test]
fn the_same_database_gives_the_same_bytes() {
    let folder = audited_folder();
    let first = bundled(&folder, "evidence", &[]);
    assert_eq!(
        bundled(&folder, "evidence", &[]),
        first,
        "an earlier bundle is replaced"
    );
    assert_eq!(bundled(&folder, "other", &["-q"]), first);
}

#[test]
fn senders_may_be_left_out_of_a_bundle() {
    let folder = audited_folder();
    let holds = |files: BTreeMap<String, Vec<u8>>| {
        files
            .values()
            .any(|bytes| memchr::memmem::find(bytes, b"@m.test").is_some())
    };
    assert!(holds(bundled(&folder, "with", &[])));
    assert!(!holds(bundled(&folder, "without", &["--no-senders"])));
}

#[test]
fn links_that_hold_addresses_are_left_out_with_senders() {
    let folder = Folder::new();
    let header = format!("{DATED}List-Unsubscribe: <http://l.cern.ch/u?ann@m.test>\n");
    let body = "mailto:bob@m.test news:7@m.test http://ann:hunter2@l.cern.ch/ http://l.cern.ch/a\n";
    loaded(&folder, &message(1, &header, body));
    audited(&folder, "plan", &["-q"]);
    let plan = |name: &str, args: &[&str]| {
        let files = bundled(&folder, name, args);
        let holds = |bytes: &Vec<u8>| {
            let texts: [&[u8]; 2] = [b"@m.test", b"hunter2"];
            texts
                .iter()
                .any(|text| memchr::memmem::find(bytes, text).is_some())
        };
        let held = files.values().any(holds);
        let plan = String::from_utf8_lossy(&files["plan.csv"]).into_owned();
        (plan.lines().count(), held)
    };
    assert_eq!(plan("with", &[]), (6, true));
    assert_eq!(plan("without", &["--no-senders"]), (2, false));
}

#[test]
fn files_of_others_stay_and_a_failure_leaves_no_folder() {
    let folder = audited_folder();
    fs::create_dir(folder.path("mine")).unwrap();
    for name in ["datapackage.json", "plan.csv", "report.html"] {
        let mine = folder.path("mine").join(name);
        fs::write(&mine, "mine").unwrap();
        let path = folder.path("mine").display().to_string();
        let end = audit(&folder, "bundle", &["-o", &path]);
        assert_eq!(end.status, Some(2), "{name}: {}", end.stderr);
        assert!(
            end.stderr.contains("does not show that urlspool wrote it"),
            "{}",
            end.stderr
        );
        assert_eq!(files(&folder.path("mine")).len(), 1, "{name}");
        assert_eq!(fs::read(&mine).unwrap(), b"mine");
        fs::remove_file(&mine).unwrap();
    }
    let database = folder.path("urls.db").display().to_string();
    let end = audit(&folder, "bundle", &["-o", &database]);
    assert_eq!(end.status, Some(2), "{}", end.stderr);
    let none = Folder::new();
    fs::write(none.path("urls.db"), "").unwrap();
    let new = none.path("new/deep").display().to_string();
    let end = audit(&none, "bundle", &["-o", &new]);
    assert_ne!(end.status, Some(0));
    assert!(!fs::exists(none.path("new")).unwrap());
}

#[test]
fn standard_output_and_devices_are_no_folders() {
    let folder = audited_folder();
    for place in ["-", "/dev/full"] {
        let end = audit(&folder, "bundle", &["-o", place]);
        assert_eq!(end.status, Some(2), "{}", end.stderr);
        assert!(
            end.stderr.contains("name a folder with `-o`"),
            "{}",
            end.stderr
        );
    }
}
