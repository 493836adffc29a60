//! Mailboxes with similar names: a `gone` line for one removes no row of the other.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::{check_database, loaded, value};
use crate::scene::{Folder, done};

/// Runs the daemon once on the folder `spool`, with tombstones, and loads its output.
fn watch_and_load(folder: &Folder) {
    let root = folder.root().display();
    let config = format!(
        "[output]\ndir = \"{root}/out\"\ntombstones = true\n[state]\ndir = \"{root}/state\"\n\
         [watch]\nsettle = \"0s\"\ngone_after = \"1s\"\n[[spool]]\npath = \"{root}/spool\"\n"
    );
    let config = folder.file("urlspool.toml", config);
    done(&["watch", "--config", &config, "--once"]);
    loaded(folder, &[&folder.path("out").display().to_string()], b"");
    check_database(&folder.path("urls.db"));
}

fn maildir(path: &Path) -> PathBuf {
    for name in ["new", "cur", "tmp"] {
        fs::create_dir_all(path.join(name)).unwrap();
    }
    path.join("new")
}

/// Returns the number of rows with this URL.
fn rows(folder: &Folder, url: &str) -> i64 {
    value(
        folder,
        &format!("SELECT count(*) FROM urls WHERE url='{url}'"),
    )
}

#[test]
fn mailboxes_with_similar_names_that_are_not_utf8_are_distinct() {
    let folder = Folder::new();
    let names = [
        &b"spool/box\xFF"[..],
        b"spool/box\xFE",
        "spool/box\u{FFFD}".as_bytes(),
    ];
    let paths = names.map(|name| {
        folder
            .root()
            .join(PathBuf::from(std::ffi::OsString::from_vec(name.to_vec())))
    });
    for path in &paths {
        fs::write(
            maildir(path).join("1.M.h"),
            "Subject: s\n\nhttp://one.example/\n",
        )
        .unwrap();
    }
    watch_and_load(&folder);
    assert_eq!(rows(&folder, "http://one.example/"), 3);
    for (path, left) in paths.iter().zip([2, 1, 0]) {
        fs::remove_file(path.join("new/1.M.h")).unwrap();
        watch_and_load(&folder);
        assert_eq!(rows(&folder, "http://one.example/"), left);
    }
}
