//! Odd and changing trees: every file below the root is read, and no other file.
//!
//! Row numbers refer to the failure catalogue for containers and the tree.

mod holes;
mod races;
mod waiting;

use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use urlspool_sources::walk::SymlinkPolicy;
use urlspool_text::limits::Limits;

use crate::containers::{mail, scan, scan_with, shown, tar};
use crate::scene::{Folder, copy_program, ended};

/// Maximum time to wait for both outcomes of a race.
const RACE_TIMEOUT: Duration = Duration::from_mins(1);

/// Returns `true` if the tests run as root.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

/// Files that mail programs keep for themselves are skipped, even copies of mail.
#[test]
fn control_files_of_mail_programs_are_skipped() {
    let folder = Folder::new();
    let own = "see http://own.example/\n";
    let tree: &[(&str, &[&str])] = &[
        (
            "Maildir/.Sent.Old",
            &[
                "maildirfolder",
                "dovecot.index.log",
                "dovecot-acl",
                "dovecot.mailbox.log",
                "courierimapkeywords/:list",
            ],
        ),
        (
            "Mail/V10/A/INBOX.mbox",
            &[
                "Info.plist",
                "Data/Envelope Index",
                "Data/Envelope Index-wal",
                "Rules.plist",
            ],
        ),
        (
            "tb/Mail/Local Folders",
            &[
                "INBOX.msf",
                "INBOX.mozmsgs/1.wdseml",
                "msgFilterRules.dat",
                "abook.mab",
                "prefs.js",
            ],
        ),
        ("MH/inbox", &[".mh_sequences", ".xmhcache"]),
        ("news/alt/test", &[".overview", ".marks"]),
    ];
    for (number, (place, names)) in tree.iter().enumerate() {
        for name in *names {
            let path = folder.path(place).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, own).unwrap();
        }
        let mails = if number == 0 {
            folder.path(place).join("cur")
        } else {
            folder.path(place)
        };
        fs::create_dir_all(&mails).unwrap();
        fs::write(mails.join("1"), mail(number)).unwrap();
    }
    let output = scan(folder.root());
    let mut urls = output.urls();
    urls.sort();
    assert_eq!(
        urls,
        (0..tree.len())
            .map(|number| format!("http://n{number}.example/"))
            .collect::<Vec<_>>()
    );
    let skipped = tree.iter().map(|(_, names)| names.len() as u64).sum();
    assert_eq!(
        (
            output.summary.files_skipped.by_name()["control-file"],
            output.kinds()
        ),
        (skipped, vec![])
    );
}

/// Row 91.
#[test]
fn links_that_lead_back_or_out_are_not_followed() {
    let folder = Folder::with("mail", mail(1).as_bytes());
    let outside = Folder::with("secret", mail(2).as_bytes());
    fs::create_dir(folder.path("sub")).unwrap();
    std::os::unix::fs::symlink("..", folder.path("sub/loop")).unwrap();
    std::os::unix::fs::symlink(".", folder.path("here")).unwrap();
    std::os::unix::fs::symlink(outside.path("secret"), folder.path("out")).unwrap();
    std::os::unix::fs::symlink(outside.root(), folder.path("out-folder")).unwrap();
    for links in [SymlinkPolicy::Skip, SymlinkPolicy::Follow] {
        let output = scan_with(folder.root(), Limits::default(), links, 1);
        assert_eq!(output.urls(), ["http://n1.example/"], "{links:?}");
    }
}

/// Row 91: links that stay below the root are followed, and records name the link's path.
#[test]
fn links_below_the_root_are_followed_on_request() {
    let folder = Folder::new();
    fs::create_dir(folder.path("a")).unwrap();
    folder.write("a/mail", mail(1));
    std::os::unix::fs::symlink(folder.path("a"), folder.path("b")).unwrap();
    std::os::unix::fs::symlink("a/mail", folder.path("c")).unwrap();
    let output = scan_with(folder.root(), Limits::default(), SymlinkPolicy::Follow, 1);
    let paths: Vec<_> = output
        .lines()
        .iter()
        .map(|line| line["source"]["path"].as_str().unwrap().to_owned())
        .collect();
    let expected =
        ["a/mail", "b/mail", "c"].map(|name| folder.path(name).to_str().unwrap().to_owned());
    assert_eq!(paths, expected);
    assert_eq!(scan(folder.root()).urls().len(), 1);
    // A link that is itself a root is always followed.
    assert_eq!(scan(&folder.path("b")).urls().len(), 1);
}

/// Row 91, as root: the walk of a tree mounted inside itself reads each file once.
#[test]
#[ignore = "needs root, to mount a folder"]
fn a_mount_that_leads_back_is_walked_once() {
    let folder = Folder::with("mail", mail(1).as_bytes());
    fs::create_dir_all(folder.path("sub/loop")).unwrap();
    // In a new namespace, so that the mount disappears with the program.
    let script = r#"mount --bind "$1" "$1/sub/loop" || { echo "no mount" >&2; exit 99; }
        exec "$2" scan --format urls "$1""#;
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", script, "sh"])
        .arg(folder.root())
        .arg(env!("CARGO_BIN_EXE_urlspool"));
    let ended = ended(&mut command, b"");
    assert_eq!(
        (ended.status, ended.text()),
        (Some(1), "http://n1.example/\n"),
        "{}",
        ended.stderr
    );
    assert_eq!(
        ended.stderr.matches("leads back to").count(),
        1,
        "{}",
        ended.stderr
    );
}

/// Row 92: each file without permission is an event, and so is a path that is too long. All other
/// files are read. Root may read everything, so root runs the program as nobody.
#[test]
fn each_file_that_cannot_be_opened_is_one_event() {
    let folder = Folder::new();
    let root = folder.path("root");
    fs::create_dir_all(root.join("closed")).unwrap();
    for (name, number) in [("a", 1), ("closed/mail", 2), ("shut", 3), ("z", 4)] {
        fs::write(root.join(name), mail(number)).unwrap();
    }
    std::os::unix::fs::symlink("itself", root.join("itself")).unwrap();
    let mut deep = openat(CWD, &root, OFlags::DIRECTORY, Mode::empty()).unwrap();
    // Each level adds two bytes to the path, and a system call accepts 4,096.
    for _ in 0..2_100 {
        mkdirat(&deep, "d", Mode::from(0o755)).unwrap();
        deep = openat(&deep, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o0)).unwrap();
    fs::set_permissions(root.join("shut"), fs::Permissions::from_mode(0o0)).unwrap();
    // User nobody may not be able to enter the program's folder.
    let program = folder.path("urlspool");
    copy_program(&program);
    for follow in [&[][..], &["--follow-links"]] {
        let mut command = Command::new(&program);
        command
            .args(["scan", "--format", "urls"])
            .args(follow)
            .arg(&root)
            .current_dir("/");
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
        let lines: Vec<_> = ended
            .stderr
            .lines()
            .map(|line| &line[line.len().saturating_sub(60)..])
            .collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(
            lines
                .iter()
                .any(|line| line.ends_with("/closed: Permission denied (os error 13)")),
            "{lines:?}"
        );
        assert!(
            lines
                .iter()
                .any(|line| line.ends_with("/shut: Permission denied (os error 13)")),
            "{lines:?}"
        );
        assert!(lines[1].contains("File name too long"), "{lines:?}");
    }
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o755)).unwrap();
    // The standard library would hold a descriptor open for each level.
    assert!(
        Command::new("rm")
            .arg("-rf")
            .arg(&root)
            .status()
            .unwrap()
            .success()
    );
}

/// Row 92: small files are opened ahead, but never more than the process may open.
#[test]
fn few_open_files_are_enough() {
    const FILES: usize = 300;
    const FOLDERS: usize = 5;
    let folder = Folder::new();
    let root = folder.path("root");
    for number in 0..FILES {
        let inside = root.join((number * FOLDERS / FILES).to_string());
        fs::create_dir_all(&inside).unwrap();
        fs::write(inside.join(number.to_string()), mail(number)).unwrap();
    }
    let roots: Vec<PathBuf> = (0..FOLDERS)
        .map(|name| root.join(name.to_string()))
        .collect();
    let outputs =
        ["--rejects", "--events", "--summary"].map(|option| (option, folder.path(&option[2..])));
    let mut output = BTreeSet::new();
    // Both limits, only the soft limit (which the program raises), and no limit. In the last case,
    // files opened by others take half of the limit.
    let limits = [
        "ulimit -n 24",
        "ulimit -n 90",
        "ulimit -n 200",
        "ulimit -Sn 24",
        "true",
    ]
    .map(|limit| (limit, 0));
    for (limit, inherited) in limits.into_iter().chain([("ulimit -n 200", 100)]) {
        for threads in ["-j1", "-j2", "-j4"] {
            for roots in [std::slice::from_ref(&root), &roots] {
                let mut command = Command::new("sh");
                command.args([
                    "-c",
                    &format!("{limit} && exec \"$@\""),
                    "sh",
                    env!("CARGO_BIN_EXE_urlspool"),
                ]);
                command
                    .args(["scan", "--format", "urls", threads])
                    .args(roots);
                for (option, path) in &outputs {
                    command.arg(option).arg(path);
                }
                let null = fs::File::open("/dev/null").unwrap();
                let others: Vec<_> = (0..inherited)
                    .map(|_| rustix::io::dup(&null).unwrap())
                    .collect();
                let ended = ended(&mut command, b"");
                drop(others);
                let case = format!(
                    "{limit}, {inherited} inherited, {threads}, {} roots",
                    roots.len()
                );
                assert_eq!(
                    (ended.status, ended.stderr.lines().next()),
                    (Some(0), None),
                    "{case}"
                );
                assert_eq!(ended.text().lines().count(), FILES, "{case}");
                output.insert(ended.text().to_owned());
            }
        }
    }
    assert_eq!(output.len(), 1);
}

/// Row 92.
#[test]
fn names_of_any_bytes_and_any_depth_are_read() {
    let folder = Folder::new();
    let name = b"a\n\x1b[31m\xFF.tar";
    let member = "m\n\u{1b}[0m";
    let mut bytes = tar(&[(member, mail(1).as_bytes()), ("2", mail(2).as_bytes())]);
    bytes[1024] = 0xFE;
    bytes[1024 + 148..1024 + 156].fill(b' ');
    let sum: u32 = bytes[1024..1536].iter().map(|&byte| u32::from(byte)).sum();
    bytes[1024 + 148..1024 + 155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    folder.write(name, bytes);
    let mut deep = folder.root().to_owned();
    (0..300).for_each(|_| deep.push("d"));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("mail"), mail(3)).unwrap();
    let output = scan(folder.root());
    assert_eq!((output.urls().len(), output.kinds()), (3, vec![]));
    let first = &output.lines()[0]["source"];
    assert_eq!(first["member"][0], member);
    assert!(first["path_b64"].is_string() && first["member_b64"].is_null());
    assert_eq!(output.lines()[1]["source"]["member_b64"][0], "/g==");
    assert_eq!(
        shown(&output.records[..]),
        "http://n1.example/\nhttp://n2.example/\nhttp://n3.example/\n"
    );
}
