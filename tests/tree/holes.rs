//! Holes of sparse files, and NUL bytes.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use urlspool_sources::walk::SymlinkPolicy;
use urlspool_text::limits::Limits;

use crate::containers::{mail, scan_with};
use crate::scene::{Folder, assert_contains, done, ended, urlspool};

/// Writes a file of `size` bytes with these bytes at these offsets, and holes elsewhere.
fn sparse(path: &Path, pieces: &[(u64, &str)], size: u64) {
    let file = fs::File::create(path).unwrap();
    file.set_len(size)
        .expect("the file system of the temporary folder has files of 8 TiB");
    for (at, bytes) in pieces {
        file.write_all_at(bytes.as_bytes(), *at).unwrap();
    }
}

const TIB: u64 = 1 << 40;

/// Row 95.
#[test]
fn a_hole_of_eight_terabytes_is_skipped() {
    let folder = Folder::new();
    let path = folder.path("hole");
    let mut command = urlspool([OsStr::new("scan"), path.as_os_str()]);
    // A hole alone is not text, and was named.
    sparse(&path, &[], 8 * TIB);
    let output = ended(&mut command, b"");
    assert_eq!((output.status, output.urls().len()), (Some(1), 0));
    assert_contains(&output.stderr, "not read: binary");

    let mails = [mail(1), mail(2), mail(3), mail(4)].map(|mail| format!("From a@b Mon\n{mail}\n"));
    let text = "\nand http://text.example/ too\n";
    let pieces: [&[(u64, &str)]; 4] = [
        // After a text, before one, and both; in the middle of a message.
        &[(0, &mails[0])],
        &[(5 * TIB + 5, &mails[1])],
        &[(0, text), (TIB + 100, text), (3 * TIB - 7, text)],
        &[
            (0, &mails[0]),
            (TIB + 3, &mails[1]),
            (2 * TIB, text),
            (4 * TIB + 4_095, &mails[2]),
            (8 * TIB - 500, &mails[3]),
        ],
    ];
    for pieces in pieces {
        fs::remove_file(&path).unwrap();
        sparse(&path, pieces, 8 * TIB);
        let begun = Instant::now();
        let output = ended(&mut command, b"");
        // Reading all bytes would take half an hour.
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert_eq!(output.status, Some(0), "{}", output.stderr);
        let found = output
            .records()
            .iter()
            .map(|record| record["source"]["start"].as_u64().unwrap())
            .collect::<Vec<_>>();
        let at = |(at, text): &(u64, &str)| at + text.find("http").unwrap() as u64;
        assert_eq!(
            found,
            pieces.iter().map(at).collect::<Vec<_>>(),
            "{}",
            output.stderr
        );
        // The parts have the same records.
        let items = done(&["splits", "--size", "100GiB", path.to_str().unwrap()]).stdout;
        let parts = ended(&mut urlspool(["scan", "--splits", "-"]), &items);
        assert!(
            parts.stdout == output.stdout,
            "{}",
            String::from_utf8_lossy(&items)
        );
    }
}

/// Row 95: a hole is a run of NUL bytes, whether it is read or skipped.
#[test]
fn holes_and_stored_nul_bytes_have_the_same_output() {
    const MIB: u64 = 1 << 20;
    let limits = Limits {
        message_bytes: 1 << 20,
        ..Limits::default()
    };
    let mail = |number| format!("From a@b Mon\n{}\n", mail(number));
    let text = "\nhttp://text.example/".to_owned();
    for first in [
        mail(0),
        text.clone(),
        "#! rnews 9000000\nA: b\n\nhttp://n.example/ ".to_owned(),
        format!("A: b\n{text}"),
    ] {
        let folder = Folder::new();
        let path = folder.path("file");
        let later = [mail(1), text.clone(), mail(2)];
        let pieces = [
            (0, &*first),
            (9 * MIB, &later[0]),
            (15 * MIB + 77, &later[1]),
            (30 * MIB, &later[2]),
        ];
        sparse(&path, &pieces, 40 * MIB);
        let holes = scan_with(&path, limits, SymlinkPolicy::Skip, 2);
        let dense = fs::read(&path).unwrap();
        fs::write(&path, &dense).unwrap();
        let zeros = scan_with(&path, limits, SymlinkPolicy::Skip, 2);
        assert_eq!(holes.urls().len(), 4, "{first}");
        assert_eq!(holes.events, zeros.events);
        assert_eq!(
            String::from_utf8_lossy(&holes.records),
            String::from_utf8_lossy(&zeros.records),
            "{first}"
        );
        assert_eq!(zeros.summary.bytes_read, dense.len() as u64);
        // A hole was skipped.
        assert!(holes.summary.bytes_read < dense.len() as u64);
    }
}
