//! Files and folders that change while they are read.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use urlspool::{Extractor, Options};
use urlspool_files::pipeline::{Job, Report, run};
use urlspool_sources::walk::SymlinkPolicy;
use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::diagnostic::Event;
use urlspool_text::limits::Limits;

use super::RACE_TIMEOUT;
use crate::containers::{mail, scan, scan_with};
use crate::scene::{Folder, RunOutput, ended, urlspool};

/// Returns the number of runs of a race: `URLSPOOL_RUNS`, or `few` by default.
fn runs(few: usize) -> usize {
    env::var("URLSPOOL_RUNS").map_or(few, |runs| runs.parse().expect("URLSPOOL_RUNS is a number"))
}

/// Time between two changes. Without it, the file system's journal slows down all tests.
const CHANGE_INTERVAL: Duration = Duration::from_micros(200);

/// Ends a race when it is dropped, so that a failed assertion does not wait forever.
struct EndOnDrop<'o>(&'o AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Row 91: a folder that is swapped with a link during the walk is not followed. Nothing outside
/// the root is opened, not even for listing.
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
    // The link existed in some runs only.
    assert!(
        seen > 0 && missed > 0,
        "{seen} and {missed}: there was no race"
    );
    let none = rustix::io::read(&opened, &mut [0; 4096]).unwrap_err();
    // No file outside was opened.
    assert_eq!(none, rustix::io::Errno::AGAIN);
    fs::read(outside.path("secret")).unwrap();
    // A change would have been noticed.
    assert!(rustix::io::read(&opened, &mut [0; 4096]).is_ok());
}

/// Row 93: if a file shrinks while it is read, the part that was read counts.
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

/// A report that truncates the file when it receives the file's first records.
struct TruncatingReport {
    path: PathBuf,
    output: RunOutput,
}

impl Report for TruncatingReport {
    fn lines(&mut self, lines: &[u8]) -> io::Result<bool> {
        fs::OpenOptions::new()
            .write(true)
            .open(&self.path)?
            .set_len(10)?;
        Report::lines(&mut self.output, lines)
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.output.event(event)
    }
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
    // The ranges of other threads are missing too, and each of them is reported.
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

/// Row 94: a file that is replaced repeatedly is read whole. A missing file is an event.
#[test]
fn a_file_that_is_replaced_is_never_mixed() {
    // One version is read at once, the other in blocks.
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
        // Either version, or no file.
        assert_eq!(seen.len(), 3, "{seen:?}: there was no race");
    }
}
