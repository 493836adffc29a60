//! Odd trees, and trees that change while they are walked: everything in them is read that lies beneath the root, and
//! nothing else.
//!
//! Rows are those of the failure catalogue for containers and the tree.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use urlspool::limits::Limits;
use urlspool::walk::Links;

use crate::containers::{Folder, mail, scan, scan_with, shown, tar};

/// Row 90 and 94: what is no regular file, or is none any more when it is opened, is not read and not waited for.
#[test]
fn nobody_waits_for_a_fifo() {
    let folder = Folder::with("mail", mail(1).as_bytes());
    let fifo = folder.0.join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", folder.0.join("zero")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.0.join("socket")).unwrap();
    let given = scan(&folder.0);
    assert_eq!(given.urls().len(), 1);
    assert_eq!(given.balance.files_skipped.values().sum::<u64>(), 3);
    let stale =
        urlspool::walk::File { source: urlspool::Source::at(fifo), size: 10, hint: urlspool::origin::Hint::None };
    assert!(urlspool::read::open(&stale).is_err());
}

/// Row 91.
#[test]
fn links_that_lead_back_or_out_end() {
    let folder = Folder::with("mail", mail(1).as_bytes());
    let outside = Folder::with("secret", mail(2).as_bytes());
    fs::create_dir(folder.0.join("sub")).unwrap();
    std::os::unix::fs::symlink("..", folder.0.join("sub/loop")).unwrap();
    std::os::unix::fs::symlink(".", folder.0.join("here")).unwrap();
    std::os::unix::fs::symlink(outside.0.join("secret"), folder.0.join("out")).unwrap();
    for links in [Links::Left, Links::Followed] {
        let given = scan_with(&folder.0, Limits::default(), links, 1);
        assert_eq!(given.urls(), ["http://n1.example/"], "{links:?}");
    }
}

/// Row 92.
#[test]
fn names_of_any_octets_survive_and_depth_does_no_harm() {
    let folder = Folder::new();
    let name = std::ffi::OsStr::from_bytes(b"a\n\x1b[31m\xFF.tar");
    let member = "m\n\u{1b}[0m";
    let mut octets = tar(&[(member, mail(1).as_bytes()), ("2", mail(2).as_bytes())]);
    octets[1024] = 0xFE;
    octets[1024 + 148..1024 + 156].fill(b' ');
    let sum: u32 = octets[1024..1536].iter().map(|&byte| u32::from(byte)).sum();
    octets[1024 + 148..1024 + 155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    fs::write(folder.0.join(name), octets).unwrap();
    let mut deep = folder.0.clone();
    (0..300).for_each(|_| deep.push("d"));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("mail"), mail(3)).unwrap();
    let given = scan(&folder.0);
    assert_eq!((given.urls().len(), given.kinds()), (3, vec![]));
    let first = &given.lines()[0]["source"];
    assert_eq!(first["member"][0], member);
    assert!(first["path_b64"].is_string() && first["member_b64"].is_null());
    assert_eq!(given.lines()[1]["source"]["member_b64"][0], "/g==");
    assert_eq!(shown(&given.records[..]), "http://n1.example/\nhttp://n2.example/\nhttp://n3.example/\n");
}

/// Row 93: a file that shrinks under its reader gives what was read of it.
#[test]
fn a_file_that_shrinks_kills_nobody() {
    let folder = Folder::with("big.mbox", "From a\nA: b\n\nwords and words\n\n".repeat(100_000).as_bytes());
    let path = folder.0.join("big.mbox");
    let size = fs::metadata(&path).unwrap().len();
    assert!(size > 1 << 20);
    for round in 0..4 {
        let path = path.clone();
        let shrink = std::thread::spawn(move || {
            let file = fs::OpenOptions::new().write(true).open(path).unwrap();
            for step in 0..20 {
                file.set_len(size / (1 + (step + round) % 7)).unwrap();
            }
        });
        let given = scan_with(&folder.0, Limits { message_urls: 1, ..Limits::default() }, Links::Left, 2);
        assert_eq!(given.balance.files, 1);
        shrink.join().unwrap();
    }
}

/// Row 95, of a file that is a hole from its start.
#[test]
fn a_hole_of_eight_terabytes_takes_no_time() {
    let folder = Folder::new();
    let file = fs::File::create(folder.0.join("hole")).unwrap();
    if file.set_len(8 << 40).is_err() {
        eprintln!("skipped: the file system takes no file of 8 TiB");
        return;
    }
    let given = scan(&folder.0);
    assert_eq!((given.balance.files_skipped["binary"], given.urls().len()), (1, 0));
}
