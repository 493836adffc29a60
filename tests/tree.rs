//! Odd trees, and trees that change while they are walked: everything in them is read that lies beneath the root, and
//! nothing else.
//!
//! Rows are those of the failure catalogue for containers and the tree.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, mkdirat, openat, renameat_with};
use urlspool::diagnostic::DiagnosticKind;
use urlspool::limits::{Limits, SNIFF_BYTES};
use urlspool::walk::SymlinkPolicy;
use urlspool::{Event, Extractor, Job, Options, Report, Summary, run};

use crate::containers::{Folder, Yield, mail, scan, scan_with, shown, tar};
use crate::scene::{done, ended, urlspool};

/// Returns the number of runs of a race: `few` times, or as often as `URLSPOOL_RUNS` says.
fn runs(few: usize) -> usize {
    env::var("URLSPOOL_RUNS").map_or(few, |runs| runs.parse().expect("URLSPOOL_RUNS is a number"))
}

/// Between two changes: a journal that is written all the time slows every other test down.
const PAUSE: Duration = Duration::from_micros(200);

/// Maximum time to wait for both outcomes of a race: until then both sides must have been seen.
const PATIENCE: Duration = Duration::from_mins(1);

/// Ends a race when it is dropped: also when an assertion fails, or the test would wait for its own thread.
struct Over<'o>(&'o AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns `true` if the tests run as root.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

/// Files in which mail programs keep their own data are skipped, copies of mail included.
#[test]
fn control_files_of_mail_programs_are_skipped() {
    let folder = Folder::new();
    let own = "what http://own.example/ is\n";
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
            let path = folder.0.join(place).join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, own).unwrap();
        }
        let mails = if number == 0 {
            folder.0.join(place).join("cur")
        } else {
            folder.0.join(place)
        };
        fs::create_dir_all(&mails).unwrap();
        fs::write(mails.join("1"), mail(number)).unwrap();
    }
    let given = scan(&folder.0);
    let mut urls = given.urls();
    urls.sort();
    assert_eq!(
        urls,
        (0..tree.len())
            .map(|number| format!("http://n{number}.example/"))
            .collect::<Vec<_>>()
    );
    let left = tree.iter().map(|(_, names)| names.len() as u64).sum();
    assert_eq!(
        (given.balance.files_skipped["control-file"], given.kinds()),
        (left, vec![])
    );
}

/// Row 90 and 94: what is no regular file, or is none any more when it is opened, is not read and not waited for.
#[test]
fn a_fifo_blocks_no_scan() {
    let folder = Folder::with("mail", mail(1).as_bytes());
    let fifo = folder.0.join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink("/dev/zero", folder.0.join("zero")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.0.join("socket")).unwrap();
    let given = scan(&folder.0);
    assert_eq!(given.urls().len(), 1);
    assert_eq!(given.balance.files_skipped.values().sum::<u64>(), 3);
    let stale = urlspool::walk::WalkedFile::named(fifo);
    assert!(urlspool::read::open(&stale).is_err());
}

/// Row 91.
#[test]
fn links_that_lead_back_or_out_are_not_followed() {
    let folder = Folder::with("mail", mail(1).as_bytes());
    let outside = Folder::with("secret", mail(2).as_bytes());
    fs::create_dir(folder.0.join("sub")).unwrap();
    std::os::unix::fs::symlink("..", folder.0.join("sub/loop")).unwrap();
    std::os::unix::fs::symlink(".", folder.0.join("here")).unwrap();
    std::os::unix::fs::symlink(outside.0.join("secret"), folder.0.join("out")).unwrap();
    std::os::unix::fs::symlink(&outside.0, folder.0.join("out-folder")).unwrap();
    for links in [SymlinkPolicy::Skip, SymlinkPolicy::Follow] {
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
    let given = scan_with(&folder.0, Limits::default(), SymlinkPolicy::Follow, 1);
    let paths: Vec<_> = given
        .lines()
        .iter()
        .map(|line| line["source"]["path"].as_str().unwrap().to_owned())
        .collect();
    let expected =
        ["a/mail", "b/mail", "c"].map(|name| folder.0.join(name).to_str().unwrap().to_owned());
    assert_eq!(paths, expected);
    assert_eq!(scan(&folder.0).urls().len(), 1);
    // A root is followed in any case.
    assert_eq!(scan(&folder.0.join("b")).urls().len(), 1);
}

/// Row 91: a folder that changes places with a link while it is walked leads nowhere. What lies outside is not opened, not
/// even to list it.
#[test]
fn a_folder_replaced_by_a_link_is_not_read() {
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
        let _over = Over(&over);
        let begun = Instant::now();
        for run in 0.. {
            let is_raced = seen > 0 && missed > 0 || begun.elapsed() > PATIENCE;
            if is_raced && runs(300) <= run {
                break;
            }
            let links = if run % 2 == 0 {
                SymlinkPolicy::Skip
            } else {
                SymlinkPolicy::Follow
            };
            let given = scan_with(&folder.0.join("a"), Limits::default(), links, 1);
            assert!(
                given.urls().iter().all(|url| url == "http://n1.example/"),
                "{links:?}: {:?}",
                given.urls()
            );
            if given.urls().is_empty() {
                missed += 1;
            } else {
                seen += 1;
            }
        }
    });
    // The link stood there in some runs and in others not.
    assert!(
        seen > 0 && missed > 0,
        "{seen} and {missed}: there was no race"
    );
    let none = rustix::io::read(&opened, &mut [0; 4096]).unwrap_err();
    assert_eq!(
        none,
        rustix::io::Errno::AGAIN,
        "something outside was opened"
    );
    fs::read(outside.0.join("secret")).unwrap();
    assert!(
        rustix::io::read(&opened, &mut [0; 4096]).is_ok(),
        "it would have been noticed"
    );
}

/// Row 91, as root: a tree that is mounted inside itself ends, and what is in it is read once.
#[test]
fn a_mount_that_leads_back_is_walked_once() {
    if !is_root() {
        eprintln!("skipped: not root, so nothing can be mounted");
        return;
    }
    let folder = Folder::with("mail", mail(1).as_bytes());
    fs::create_dir_all(folder.0.join("sub/loop")).unwrap();
    // In a namespace of its own: the mount goes away with the program.
    let script = r#"mount --bind "$1" "$1/sub/loop" || { echo "no mount" >&2; exit 99; }; exec "$2" scan --format urls "$1""#;
    let mut command = Command::new("unshare");
    command
        .args(["-m", "sh", "-c", script, "sh"])
        .arg(&folder.0)
        .arg(env!("CARGO_BIN_EXE_urlspool"));
    let ended = ended(&mut command, b"");
    if ended.status == Some(99) || ended.stderr.starts_with("unshare:") {
        eprintln!("skipped: {}", ended.stderr);
        return;
    }
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

/// Row 92: what may not be read is an event each, what lies too deep is one, and everything else is read. Root may read
/// everything, so that it has nobody run the program.
#[test]
fn each_file_that_cannot_be_opened_is_one_event() {
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
            ended
                .stderr
                .contains("/closed: unreadable: Permission denied"),
            "{lines:?}"
        );
        assert!(
            ended
                .stderr
                .contains("/shut: unreadable: Permission denied"),
            "{lines:?}"
        );
        assert!(lines[1].contains("File name too long"), "{lines:?}");
    }
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o755)).unwrap();
    // The library's function holds a file open for each level.
    assert!(
        Command::new("rm")
            .arg("-rf")
            .arg(&root)
            .status()
            .unwrap()
            .success()
    );
}

/// Row 92: small files are opened ahead of those who read them, but no more of them than the process may open.
#[test]
fn few_open_files_are_enough() {
    const FILES: usize = 1_500;
    const FOLDERS: usize = 5;
    let folder = Folder::new();
    let root = folder.0.join("root");
    for number in 0..FILES {
        let inside = root.join((number * FOLDERS / FILES).to_string());
        fs::create_dir_all(&inside).unwrap();
        fs::write(inside.join(number.to_string()), mail(number)).unwrap();
    }
    let roots: Vec<PathBuf> = (0..FOLDERS)
        .map(|name| root.join(name.to_string()))
        .collect();
    let outputs =
        ["--rejects", "--events", "--summary"].map(|option| (option, folder.0.join(&option[2..])));
    let mut given = BTreeSet::new();
    // Both limits; that which the program raises; none. A limit half of which goes to files that others opened.
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
                let told = format!(
                    "{limit}, {inherited} inherited, {threads}, {} roots",
                    roots.len()
                );
                assert_eq!(
                    (ended.status, ended.stderr.lines().next()),
                    (Some(0), None),
                    "{told}"
                );
                assert_eq!(ended.text().lines().count(), FILES, "{told}");
                given.insert(ended.text().to_owned());
            }
        }
    }
    assert_eq!(given.len(), 1);
}

/// Row 92.
#[test]
fn names_of_any_bytes_and_any_depth_are_read() {
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
    assert_eq!(
        shown(&given.records[..]),
        "http://n1.example/\nhttp://n2.example/\nhttp://n3.example/\n"
    );
}

/// Row 93: a file that shrinks under its reader gives what was read of it.
#[test]
fn a_file_that_shrinks_stops_no_scan() {
    let folder = Folder::with(
        "big.mbox",
        "From a\nA: b\n\nwords and words\n\n"
            .repeat(100_000)
            .as_bytes(),
    );
    let path = folder.0.join("big.mbox");
    let size = fs::metadata(&path).unwrap().len();
    assert!(size > 1 << 20);
    for round in 0..runs(6) {
        fs::write(folder.0.join("small"), mail(1)).unwrap();
        let mut command = urlspool([OsStr::new("scan"), OsStr::new("-q"), folder.0.as_os_str()]);
        let over = AtomicBool::new(false);
        let ended = thread::scope(|scope| {
            scope.spawn(|| {
                let open = |name| {
                    fs::OpenOptions::new()
                        .write(true)
                        .open(folder.0.join(name))
                        .unwrap()
                };
                let (big, small) = (open("big.mbox"), open("small"));
                for step in 0.. {
                    big.set_len(size / (1 + (step + round as u64) % 7)).unwrap();
                    small.set_len(step % 50).unwrap();
                    thread::sleep(PAUSE);
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
            let _over = Over(&over);
            ended(&mut command, b"")
        });
        assert_eq!(ended.status, Some(0), "round {round}: {}", ended.stderr);
    }
}

/// Cuts a file down when the first records of it come.
struct Cutting {
    path: PathBuf,
    given: Yield,
}

impl Report for Cutting {
    fn records(&mut self, batch: &[u8]) -> io::Result<bool> {
        fs::OpenOptions::new()
            .write(true)
            .open(&self.path)?
            .set_len(10)?;
        self.given.records(batch)
    }

    fn rejects(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.given.event(event)
    }

    fn progress(&mut self, _: &Summary) {}
}

/// Row 93: it is said that something of it is missing.
#[test]
fn a_file_that_is_truncated_while_it_is_read_is_an_event() {
    let message = format!(
        "From a@b Mon\nFrom: a@b.example\nSubject: x\n\n{}http://u.example/\n\n",
        "words and words\n".repeat(1_000)
    );
    let folder = Folder::with("mbox", message.repeat(1_000).as_bytes());
    let path = folder.0.join("mbox");
    let scan = |threads: usize| {
        let job = Job {
            roots: vec![path.clone()],
            threads,
            ..Job::default()
        };
        let mut cutting = Cutting {
            path: path.clone(),
            given: Yield::default(),
        };
        let balance = run(&job, &Extractor::new(Options::default()), &mut cutting).unwrap();
        assert_eq!(balance.imbalances(), Vec::<String>::new());
        assert_eq!(balance.files_read, 1);
        (balance, cutting.given)
    };
    let (balance, given) = scan(1);
    assert_eq!(
        given.kinds(),
        [DiagnosticKind::Vanished],
        "{:?}",
        given.events.first()
    );
    let read = given.urls().len();
    assert!(0 < read && read < 1_000, "{read}");
    assert_eq!(given.events[0].diagnostic.offset, Some(balance.bytes_read));
    // What other threads were about to read is missing as well, and each of them says so.
    fs::write(&path, message.repeat(1_000)).unwrap();
    let (_, given) = scan(2);
    let read = given.urls().len();
    assert!(0 < read && read < 1_000, "{read}");
    let kinds = given.kinds();
    assert!(
        !kinds.is_empty() && kinds.iter().all(|&kind| kind == DiagnosticKind::Vanished),
        "{kinds:?}"
    );
    let offsets: Vec<_> = given
        .events
        .iter()
        .map(|event| event.diagnostic.offset)
        .collect();
    assert!(offsets.is_sorted(), "{offsets:?}");
}

/// Row 94: a file that is replaced again and again is one of the two each time, whole; one that is gone is an event.
#[test]
fn a_file_that_is_replaced_is_never_mixed() {
    // One is read at once, the other in blocks.
    for messages in [20, 1_000] {
        let folder = Folder::new();
        let spool = folder.0.join("spool");
        fs::create_dir(&spool).unwrap();
        let contents = [("one", messages), ("two", messages + 7)].map(|(name, messages)| {
            let words = "words and words\n".repeat(60);
            let mail = format!(
                "From a@b Mon\nFrom: a@b.example\nSubject: x\n\n{words}http://{name}.example/\n\n"
            );
            fs::write(folder.0.join(name), mail.repeat(messages)).unwrap();
            (folder.0.join(name), mail.len() * messages)
        });
        let over = AtomicBool::new(false);
        let mut seen = BTreeSet::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                for (step, (content, _)) in contents.iter().cycle().enumerate() {
                    fs::hard_link(content, folder.0.join("next")).unwrap();
                    fs::rename(folder.0.join("next"), spool.join("mbox")).unwrap();
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                    thread::sleep(PAUSE);
                    if step % 9 == 8 {
                        fs::remove_file(spool.join("mbox")).unwrap();
                        thread::sleep(PAUSE);
                    }
                }
            });
            let _over = Over(&over);
            let begun = Instant::now();
            for run in 0.. {
                let is_raced = seen.len() > 2 || begun.elapsed() > PATIENCE;
                if is_raced && runs(25) <= run {
                    break;
                }
                let given = scan(&spool);
                assert!(
                    given
                        .kinds()
                        .iter()
                        .all(|&kind| kind == DiagnosticKind::Vanished),
                    "{:?}",
                    given.events
                );
                let urls = given.urls();
                let first = urls.first().cloned().unwrap_or_default();
                assert!(urls.iter().all(|url| *url == first), "mixed");
                let whole = contents
                    .iter()
                    .any(|content| content.1 as u64 == given.balance.bytes_read);
                assert!(
                    whole || urls.is_empty(),
                    "{} octets, {} URLs",
                    given.balance.bytes_read,
                    urls.len()
                );
                seen.insert(first);
            }
        });
        // Each of the two, and none.
        assert_eq!(seen.len(), 3, "{seen:?}: there was no race");
    }
}

/// A file with these bytes at these places and holes elsewhere, so many bytes long. Nothing if that cannot be had.
fn sparse(path: &Path, pieces: &[(u64, &str)], size: u64) -> Option<()> {
    let file = fs::File::create(path).unwrap();
    if file.set_len(size).is_err() {
        eprintln!("skipped: the file system takes no file of {size} octets");
        return None;
    }
    for (at, octets) in pieces {
        file.write_all_at(octets.as_bytes(), *at).unwrap();
    }
    Some(())
}

const TIB: u64 = 1 << 40;

/// Row 95.
#[test]
fn a_hole_of_eight_terabytes_is_skipped() {
    let folder = Folder::new();
    let path = folder.0.join("hole");
    let mut command = urlspool([OsStr::new("scan"), path.as_os_str()]);
    // Nothing but a hole is no text.
    let Some(()) = sparse(&path, &[], 8 * TIB) else {
        return;
    };
    let given = ended(&mut command, b"");
    assert_eq!((given.status, given.urls().len()), (Some(0), 0));
    assert!(
        given.stderr.contains("not read: binary"),
        "{}",
        given.stderr
    );

    let mails = [mail(1), mail(2), mail(3), mail(4)].map(|mail| format!("From a@b Mon\n{mail}\n"));
    let text = "\nand http://text.example/ too\n";
    let pieces: [&[(u64, &str)]; 4] = [
        // Behind a text, in front of one, and both; in the middle of a message.
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
        sparse(&path, pieces, 8 * TIB).unwrap();
        let begun = Instant::now();
        let given = ended(&mut command, b"");
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "reading it all takes half an hour"
        );
        assert_eq!(given.status, Some(0), "{}", given.stderr);
        let found = given
            .records()
            .iter()
            .map(|record| record["source"]["start"].as_u64().unwrap())
            .collect::<Vec<_>>();
        let at = |(at, text): &(u64, &str)| at + text.find("http").unwrap() as u64;
        assert_eq!(
            found,
            pieces.iter().map(at).collect::<Vec<_>>(),
            "{}",
            given.stderr
        );
        // In parts it is the same.
        let items = done(&["splits", "--size", "100GiB", path.to_str().unwrap()]).stdout;
        let parts = ended(&mut urlspool(["scan", "--splits", "-"]), &items);
        assert!(
            parts.stdout == given.stdout,
            "{}",
            String::from_utf8_lossy(&items)
        );
    }
}

/// Row 95: a hole is so many zeros, read or not.
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
        let path = folder.0.join("file");
        let later = [mail(1), text.clone(), mail(2)];
        let pieces = [
            (0, &*first),
            (9 * MIB, &later[0]),
            (15 * MIB + 77, &later[1]),
            (30 * MIB, &later[2]),
        ];
        sparse(&path, &pieces, 40 * MIB).unwrap();
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
        assert_eq!(zeros.balance.bytes_read, dense.len() as u64);
        assert!(
            holes.balance.bytes_read < dense.len() as u64,
            "nothing was passed over"
        );
    }
}

/// Row 95: a program that goes on at its old place in a file that was cut leaves zeros before what it writes.
#[test]
fn messages_after_leading_nul_bytes_are_found() {
    for size in [100, 10_000, 600_000] {
        let mails = format!("From a@b Mon\n{}\n", mail(1)).repeat(size / 50);
        let folder = Folder::with("mbox", &[&vec![0; size], mails.as_bytes()].concat());
        let given = scan(&folder.0.join("mbox"));
        // A file that begins with more zeros than are looked at, all of them stored, is taken for something else.
        let expected = if size > SNIFF_BYTES { 0 } else { size / 50 };
        assert_eq!(given.urls().len(), expected, "{size}");
        if let Some(first) = given.lines().first() {
            assert_eq!(first["message"]["start"], size);
        }
    }
}

/// Row 96: a source that gives nothing and does not end, as on a file system that hangs, is left by an interrupt.
#[test]
fn an_interrupt_ends_a_read_that_waits() {
    // A shell makes its background processes ignore SIGINT, and all processes that these start.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .unwrap();
    let is_ignored = u64::from_str_radix(ignored.trim(), 16).unwrap() & 0b10 != 0;
    let interrupt = if is_ignored { "-TERM" } else { "-INT" };
    for threads in ["1", "3"] {
        let mut command = urlspool(["scan", "-j", threads, "-"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(mail(1).as_bytes()).unwrap();
        thread::sleep(Duration::from_millis(200));
        assert!(child.try_wait().unwrap().is_none(), "it does not wait");
        assert!(
            Command::new("kill")
                .args([interrupt, &child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        let begun = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if begun.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(5)),
                None => {
                    child.kill().unwrap();
                    panic!("it goes on waiting");
                }
            }
        };
        assert_eq!(status.code(), Some(130), "{status}");
        drop(stdin);
    }
}
