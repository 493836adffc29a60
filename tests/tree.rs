//! Odd trees, and trees that change while they are walked: everything in them is read that lies beneath the root, and
//! nothing else.
//!
//! Rows are those of the failure catalogue for containers and the tree.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, thread};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, mkdirat, openat, renameat_with};
use urlspool::limits::Limits;
use urlspool::walk::Links;

use crate::containers::{Folder, mail, scan, scan_with, shown, tar};
use crate::scene::ended;

/// How often a race is run: `few` times, or as often as `URLSPOOL_RUNS` says.
fn runs(few: usize) -> usize {
    env::var("URLSPOOL_RUNS").map_or(few, |runs| runs.parse().expect("URLSPOOL_RUNS is a number"))
}

/// Whether the tests run as root.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

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
    let stale = urlspool::walk::File::named(fifo);
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
    std::os::unix::fs::symlink(&outside.0, folder.0.join("out-folder")).unwrap();
    for links in [Links::Left, Links::Followed] {
        let given = scan_with(&folder.0, Limits::default(), links, 1);
        assert_eq!(given.urls(), ["http://n1.example/"], "{links:?}");
    }
}

/// Row 91: links that stay beneath the root are followed, absolute ones too, and records name the way that was walked.
#[test]
fn links_beneath_the_root_are_followed_if_asked() {
    let folder = Folder::new();
    fs::create_dir(folder.0.join("a")).unwrap();
    fs::write(folder.0.join("a/mail"), mail(1)).unwrap();
    std::os::unix::fs::symlink(folder.0.join("a"), folder.0.join("b")).unwrap();
    std::os::unix::fs::symlink("a/mail", folder.0.join("c")).unwrap();
    let given = scan_with(&folder.0, Limits::default(), Links::Followed, 1);
    let paths: Vec<_> = given.lines().iter().map(|line| line["source"]["path"].as_str().unwrap().to_owned()).collect();
    let expected = ["a/mail", "b/mail", "c"].map(|name| folder.0.join(name).to_str().unwrap().to_owned());
    assert_eq!(paths, expected);
    assert_eq!(scan(&folder.0).urls().len(), 1);
    // A root is followed in any case.
    assert_eq!(scan(&folder.0.join("b")).urls().len(), 1);
}

/// Row 91: a folder that changes places with a link while it is walked leads nowhere. What lies outside is not opened, not
/// even to list it.
#[test]
fn a_folder_swapped_for_a_link_leads_nowhere() {
    let folder = Folder::new();
    let outside = Folder::with("secret", mail(2).as_bytes());
    fs::create_dir_all(folder.0.join("a/sub/deep")).unwrap();
    fs::write(folder.0.join("a/sub/deep/mail"), mail(1)).unwrap();
    // The same names are found on both sides of the link.
    fs::create_dir(outside.0.join("deep")).unwrap();
    fs::write(outside.0.join("deep/mail"), mail(3)).unwrap();
    std::os::unix::fs::symlink(&outside.0, folder.0.join("link")).unwrap();
    let opened = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
    for path in [&outside.0, &outside.0.join("deep")] {
        inotify::add_watch(&opened, path, WatchFlags::OPEN).unwrap();
    }
    let over = AtomicBool::new(false);
    let (mut seen, mut missed) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let (sub, link) = (folder.0.join("a/sub"), folder.0.join("link"));
            while !over.load(Ordering::Relaxed) {
                renameat_with(CWD, &sub, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                thread::yield_now();
            }
        });
        for run in 0..runs(300) {
            let links = if run % 2 == 0 { Links::Left } else { Links::Followed };
            let given = scan_with(&folder.0.join("a"), Limits::default(), links, 1);
            assert!(given.urls().iter().all(|url| url == "http://n1.example/"), "{links:?}: {:?}", given.urls());
            if given.urls().is_empty() { missed += 1 } else { seen += 1 }
        }
        over.store(true, Ordering::Relaxed);
    });
    // The link stood there in some runs and in others not.
    assert!(seen > 0 && missed > 0, "{seen} and {missed}: there was no race");
    let none = rustix::io::read(&opened, &mut [0; 4096]).unwrap_err();
    assert_eq!(none, rustix::io::Errno::AGAIN, "something outside was opened");
    fs::read(outside.0.join("secret")).unwrap();
    assert!(rustix::io::read(&opened, &mut [0; 4096]).is_ok(), "it would have been noticed");
}

/// Row 91, as root: a tree that is mounted inside itself ends, and what is in it is read once.
#[test]
fn a_mount_that_leads_back_ends() {
    if !is_root() {
        eprintln!("skipped: not root, so nothing can be mounted");
        return;
    }
    let folder = Folder::with("mail", mail(1).as_bytes());
    fs::create_dir_all(folder.0.join("sub/loop")).unwrap();
    // In a namespace of its own: the mount goes away with the program.
    let script =
        r#"mount --bind "$1" "$1/sub/loop" || { echo "no mount" >&2; exit 99; }; exec "$2" scan --format urls "$1""#;
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(&folder.0).arg(env!("CARGO_BIN_EXE_urlspool"));
    let ended = ended(&mut command, b"");
    if ended.status == Some(99) || ended.stderr.starts_with("unshare:") {
        eprintln!("skipped: {}", ended.stderr);
        return;
    }
    assert_eq!((ended.status, ended.text()), (Some(1), "http://n1.example/\n"), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("leads back to").count(), 1, "{}", ended.stderr);
}

/// Row 92: what may not be read is an event each, what lies too deep is one, and everything else is read. Root may read
/// everything, so that it has nobody run the program.
#[test]
fn what_cannot_be_opened_is_one_event_each() {
    let folder = Folder::new();
    let root = folder.0.join("root");
    fs::create_dir_all(root.join("closed")).unwrap();
    for (name, number) in [("a", 1), ("closed/mail", 2), ("shut", 3), ("z", 4)] {
        fs::write(root.join(name), mail(number)).unwrap();
    }
    std::os::unix::fs::symlink("itself", root.join("itself")).unwrap();
    let mut deep = openat(CWD, &root, OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..5_000 {
        mkdirat(&deep, "d", Mode::from(0o755)).unwrap();
        deep = openat(&deep, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o0)).unwrap();
    fs::set_permissions(root.join("shut"), fs::Permissions::from_mode(0o0)).unwrap();
    // Where the program lies need not be open to everybody.
    let program = folder.0.join("urlspool");
    fs::copy(env!("CARGO_BIN_EXE_urlspool"), &program).unwrap();
    for follow in [&[][..], &["--follow"]] {
        let mut command = Command::new(&program);
        command.args(["scan", "--format", "urls"]).args(follow).arg(&root).current_dir("/");
        if is_root() {
            const NOBODY: u32 = 65_534;
            command.uid(NOBODY).gid(NOBODY);
        }
        let ended = ended(&mut command, b"");
        assert_eq!(
            (ended.status, ended.text()),
            (Some(1), "http://n1.example/\nhttp://n4.example/\n"),
            "{}",
            ended.stderr
        );
        let lines: Vec<_> = ended.stderr.lines().map(|line| &line[line.len().saturating_sub(60)..]).collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(ended.stderr.contains("/closed: unreadable: Permission denied"), "{lines:?}");
        assert!(ended.stderr.contains("/shut: unreadable: Permission denied"), "{lines:?}");
        assert!(lines[1].contains("File name too long"), "{lines:?}");
    }
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o755)).unwrap();
    // The library's function holds a file open for each level.
    assert!(Command::new("rm").arg("-rf").arg(&root).status().unwrap().success());
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
