//! Odd trees, and trees that change while they are walked: every file beneath the root is read, and no other.
//!
//! Rows are those of the failure catalogue for containers and the tree.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, mkdirat, openat, renameat_with};
use urlspool::diagnostic::DiagnosticKind;
use urlspool::limits::{Limits, SNIFF_BYTES};
use urlspool::walk::SymlinkPolicy;
use urlspool::{Event, Extractor, Job, Options, Report, Summary, run};

use crate::containers::{mail, scan, scan_with, shown, tar};
use crate::scene::{Folder, RunOutput, done, ended, urlspool};

/// Returns the number of runs of a race: `few` times, or as often as `URLSPOOL_RUNS` says.
fn runs(few: usize) -> usize {
    env::var("URLSPOOL_RUNS").map_or(few, |runs| runs.parse().expect("URLSPOOL_RUNS is a number"))
}

/// The time between two changes. Without it the journal of the file system slows all other tests down.
const CHANGE_INTERVAL: Duration = Duration::from_micros(200);

/// Maximum time to wait for both outcomes of a race.
const RACE_TIMEOUT: Duration = Duration::from_mins(1);

/// Ends a race when it is dropped, also after a failed assertion: otherwise the test would wait for its own thread.
struct EndOnDrop<'o>(&'o AtomicBool);

impl Drop for EndOnDrop<'_> {
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
        (output.summary.files_skipped["control-file"], output.kinds()),
        (skipped, vec![])
    );
}

/// Row 90 and 94: an entry that is not a regular file, or no longer when it is opened, is neither read nor waited for.
#[test]
fn a_fifo_blocks_no_scan() {
    let folder = Folder::with("mail", mail(1).as_bytes());
    let fifo = folder.path("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink("/dev/zero", folder.path("zero")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("socket")).unwrap();
    let output = scan(folder.root());
    assert_eq!(output.urls().len(), 1);
    assert_eq!(output.summary.files_skipped.values().sum::<u64>(), 3);
    let stale = urlspool::walk::WalkedFile::named(fifo);
    assert!(urlspool::read::open(&stale).is_err());
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

/// Row 91: links that stay beneath the root are followed, absolute ones too, and records name the path with the link.
#[test]
fn links_beneath_the_root_are_followed_if_asked() {
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
    // A link that is a root is always followed.
    assert_eq!(scan(&folder.path("b")).urls().len(), 1);
}

/// Row 91: a folder that changes places with a link while it is walked is not followed. Nothing outside the root is opened,
/// not even to list it.
#[test]
fn a_folder_replaced_by_a_link_is_not_read() {
    let folder = Folder::new();
    let outside = Folder::with("secret", mail(2).as_bytes());
    fs::create_dir_all(folder.path("a/sub/deep")).unwrap();
    folder.write("a/sub/deep/mail", mail(1));
    // Both sides of the link have the same names.
    fs::create_dir(outside.path("deep")).unwrap();
    outside.write("deep/mail", mail(3));
    std::os::unix::fs::symlink(outside.root(), folder.path("link")).unwrap();
    let opened = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
    for path in [outside.root(), &outside.path("deep")] {
        inotify::add_watch(&opened, path, WatchFlags::OPEN).unwrap();
    }
    let over = AtomicBool::new(false);
    let (mut seen, mut missed) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let (sub, link) = (folder.path("a/sub"), folder.path("link"));
            while !over.load(Ordering::Relaxed) {
                renameat_with(CWD, &sub, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                thread::yield_now();
            }
        });
        let _over = EndOnDrop(&over);
        let begun = Instant::now();
        for run in 0.. {
            let is_raced = seen > 0 && missed > 0 || begun.elapsed() > RACE_TIMEOUT;
            if is_raced && runs(300) <= run {
                break;
            }
            let links = if run % 2 == 0 {
                SymlinkPolicy::Skip
            } else {
                SymlinkPolicy::Follow
            };
            let output = scan_with(&folder.path("a"), Limits::default(), links, 1);
            assert!(
                output.urls().iter().all(|url| url == "http://n1.example/"),
                "{links:?}: {:?}",
                output.urls()
            );
            if output.urls().is_empty() {
                missed += 1;
            } else {
                seen += 1;
            }
        }
    });
    // The link was there in some runs only.
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
    fs::read(outside.path("secret")).unwrap();
    assert!(
        rustix::io::read(&opened, &mut [0; 4096]).is_ok(),
        "it would have been noticed"
    );
}

/// Row 91, as root: the walk of a tree that is mounted inside itself ends, and each of its files is read once.
#[test]
#[ignore = "needs root, to mount a folder"]
fn a_mount_that_leads_back_is_walked_once() {
    let folder = Folder::with("mail", mail(1).as_bytes());
    fs::create_dir_all(folder.path("sub/loop")).unwrap();
    // In a namespace of its own: the mount goes away with the program.
    let script = r#"mount --bind "$1" "$1/sub/loop" || { echo "no mount" >&2; exit 99; }; exec "$2" scan --format urls "$1""#;
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

/// Row 92: each file without permission is an event, a path that is too long is one, and all other files are read. Root may
/// read everything, so as root the program runs as nobody.
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
    for _ in 0..5_000 {
        mkdirat(&deep, "d", Mode::from(0o755)).unwrap();
        deep = openat(&deep, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o0)).unwrap();
    fs::set_permissions(root.join("shut"), fs::Permissions::from_mode(0o0)).unwrap();
    // The folder of the program may be closed to nobody.
    let program = folder.path("urlspool");
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
    // The standard library holds a descriptor open for each level.
    assert!(
        Command::new("rm")
            .arg("-rf")
            .arg(&root)
            .status()
            .unwrap()
            .success()
    );
}

/// Row 92: small files are opened ahead of the threads that read them, but no more of them than the process may open.
#[test]
fn few_open_files_are_enough() {
    const FILES: usize = 500;
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

/// Row 93: of a file that shrinks while it is read, the part that was read counts.
#[test]
fn a_file_that_shrinks_stops_no_scan() {
    let folder = Folder::with(
        "big.mbox",
        "From a\nA: b\n\nwords and words\n\n"
            .repeat(100_000)
            .as_bytes(),
    );
    let path = folder.path("big.mbox");
    let size = fs::metadata(&path).unwrap().len();
    assert!(size > 1 << 20);
    for round in 0..runs(6) {
        folder.write("small", mail(1));
        let mut command = urlspool([
            OsStr::new("scan"),
            OsStr::new("-q"),
            folder.root().as_os_str(),
        ]);
        let over = AtomicBool::new(false);
        let ended = thread::scope(|scope| {
            scope.spawn(|| {
                let open = |name| {
                    fs::OpenOptions::new()
                        .write(true)
                        .open(folder.path(name))
                        .unwrap()
                };
                let (big, small) = (open("big.mbox"), open("small"));
                for step in 0.. {
                    big.set_len(size / (1 + (step + round as u64) % 7)).unwrap();
                    small.set_len(step % 50).unwrap();
                    thread::sleep(CHANGE_INTERVAL);
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
            let _over = EndOnDrop(&over);
            ended(&mut command, b"")
        });
        assert_eq!(ended.status, Some(0), "round {round}: {}", ended.stderr);
    }
}

/// Report that truncates a file when it receives the first records of it.
struct TruncatingReport {
    path: PathBuf,
    output: RunOutput,
}

impl Report for TruncatingReport {
    fn records(&mut self, batch: &[u8]) -> io::Result<bool> {
        fs::OpenOptions::new()
            .write(true)
            .open(&self.path)?
            .set_len(10)?;
        self.output.records(batch)
    }

    fn rejects(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.output.event(event)
    }

    fn progress(&mut self, _: &Summary) {}
}

/// Row 93: the missing part is reported.
#[test]
fn a_file_that_is_truncated_while_it_is_read_is_an_event() {
    let message = format!(
        "From a@b Mon\nFrom: a@b.example\nSubject: x\n\n{}http://u.example/\n\n",
        "words and words\n".repeat(1_000)
    );
    let folder = Folder::with("mbox", message.repeat(1_000).as_bytes());
    let path = folder.path("mbox");
    let scan = |threads: usize| {
        let job = Job {
            roots: vec![path.clone()],
            threads,
            ..Job::default()
        };
        let mut report = TruncatingReport {
            path: path.clone(),
            output: RunOutput::default(),
        };
        let summary = run(&job, &Extractor::new(Options::default()), &mut report).unwrap();
        assert_eq!(summary.imbalances(), Vec::<String>::new());
        assert_eq!(summary.files_read, 1);
        (summary, report.output)
    };
    let (summary, output) = scan(1);
    assert_eq!(
        output.kinds(),
        [DiagnosticKind::Vanished],
        "{:?}",
        output.events.first()
    );
    let read = output.urls().len();
    assert!(0 < read && read < 1_000, "{read}");
    assert_eq!(output.events[0].diagnostic.offset, Some(summary.bytes_read));
    // The ranges of other threads are missing as well, and each of them reports it.
    fs::write(&path, message.repeat(1_000)).unwrap();
    let (_, output) = scan(2);
    let read = output.urls().len();
    assert!(0 < read && read < 1_000, "{read}");
    let kinds = output.kinds();
    assert!(
        !kinds.is_empty() && kinds.iter().all(|&kind| kind == DiagnosticKind::Vanished),
        "{kinds:?}"
    );
    let offsets: Vec<_> = output
        .events
        .iter()
        .map(|event| event.diagnostic.offset)
        .collect();
    assert!(offsets.is_sorted(), "{offsets:?}");
}

/// Row 94: a file that is replaced again and again is read whole, as one of the two; a file that is gone is an event.
#[test]
fn a_file_that_is_replaced_is_never_mixed() {
    // One is read at once, the other in blocks.
    for messages in [20, 120] {
        let folder = Folder::new();
        let spool = folder.path("spool");
        fs::create_dir(&spool).unwrap();
        let contents = [("one", messages), ("two", messages + 7)].map(|(name, messages)| {
            let words = "words and words\n".repeat(300);
            let mail = format!(
                "From a@b Mon\nFrom: a@b.example\nSubject: x\n\n{words}http://{name}.example/\n\n"
            );
            folder.write(name, mail.repeat(messages));
            (folder.path(name), mail.len() * messages)
        });
        let over = AtomicBool::new(false);
        let mut seen = BTreeSet::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                for (step, (content, _)) in contents.iter().cycle().enumerate() {
                    fs::hard_link(content, folder.path("next")).unwrap();
                    fs::rename(folder.path("next"), spool.join("mbox")).unwrap();
                    if over.load(Ordering::Relaxed) {
                        break;
                    }
                    thread::sleep(CHANGE_INTERVAL);
                    if step % 9 == 8 {
                        fs::remove_file(spool.join("mbox")).unwrap();
                        thread::sleep(CHANGE_INTERVAL);
                    }
                }
            });
            let _over = EndOnDrop(&over);
            let begun = Instant::now();
            for run in 0.. {
                let is_raced = seen.len() > 2 || begun.elapsed() > RACE_TIMEOUT;
                if is_raced && runs(25) <= run {
                    break;
                }
                let output = scan(&spool);
                assert!(
                    output
                        .kinds()
                        .iter()
                        .all(|&kind| kind == DiagnosticKind::Vanished),
                    "{:?}",
                    output.events
                );
                let urls = output.urls();
                let first = urls.first().cloned().unwrap_or_default();
                assert!(urls.iter().all(|url| *url == first), "mixed");
                let whole = contents
                    .iter()
                    .any(|content| content.1 as u64 == output.summary.bytes_read);
                assert!(
                    whole || urls.is_empty(),
                    "{} bytes, {} URLs",
                    output.summary.bytes_read,
                    urls.len()
                );
                seen.insert(first);
            }
        });
        // Each of the two, and none.
        assert_eq!(seen.len(), 3, "{seen:?}: there was no race");
    }
}

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
    // A hole alone is not text.
    sparse(&path, &[], 8 * TIB);
    let output = ended(&mut command, b"");
    assert_eq!((output.status, output.urls().len()), (Some(0), 0));
    assert!(
        output.stderr.contains("not read: binary"),
        "{}",
        output.stderr
    );

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
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "reading it all takes half an hour"
        );
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

/// Row 95: a hole is a run of NUL bytes, read or not.
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
        assert!(
            holes.summary.bytes_read < dense.len() as u64,
            "no hole was skipped"
        );
    }
}

/// Row 95: a program that keeps its offset after the file was truncated leaves NUL bytes before its next write.
#[test]
fn messages_after_leading_nul_bytes_are_found() {
    for size in [100, 10_000, 600_000] {
        let mails = format!("From a@b Mon\n{}\n", mail(1)).repeat(size / 50);
        let folder = Folder::with("mbox", [&vec![0; size], mails.as_bytes()].concat());
        let output = scan(&folder.path("mbox"));
        // A file that begins with more stored NUL bytes than are sniffed is taken for binary.
        let expected = if size > SNIFF_BYTES { 0 } else { size / 50 };
        assert_eq!(output.urls().len(), expected, "{size}");
        if let Some(first) = output.lines().first() {
            assert_eq!(first["message"]["start"], size);
        }
    }
}

/// Returns `true` if the process handles the signal of this number.
fn catches(child: &Child, signal: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & 1 << (signal - 1) != 0)
}

/// Row 96: an interrupt ends the wait for a source that gives no bytes and does not end, as on a file system that hangs.
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
        let begun = Instant::now();
        while !catches(&child, if is_ignored { 15 } else { 2 }) && begun.elapsed() < RACE_TIMEOUT {
            thread::sleep(Duration::from_millis(5));
        }
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
                None if begun.elapsed() < RACE_TIMEOUT => thread::sleep(Duration::from_millis(5)),
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
