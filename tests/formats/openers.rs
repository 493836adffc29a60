//! Every command reads the same records, from a plain or compressed file, a pipe or a spool.
//!
//! `URLSPOOL_SPOOL_FILES` is the number of generated files (default 40), `URLSPOOL_SEED` the seed.
//! If `URLSPOOL_PYTHON` names a Python with the package, that Python reads the files too
//! (`python/check.sh`).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::scene::{Ended, Folder, Rng, ended, program_command};

/// Granularity of holes.
const PAGE_BYTES: usize = 4 << 10;

/// A generated file.
struct SpoolFile {
    /// Path in the spool. Every name is a separate mailbox.
    path: String,
    bytes: Vec<u8>,
    /// Pages of NUL bytes that start before this offset are holes.
    sparse_bytes: usize,
    /// The random choices that made the file.
    choices: String,
}

impl SpoolFile {
    fn write(&self, root: &Path) {
        let path = root.join(&self.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = File::create(path).unwrap();
        file.set_len(self.bytes.len() as u64).unwrap();
        let pages = (0..).step_by(PAGE_BYTES).zip(self.bytes.chunks(PAGE_BYTES));
        for (at, page) in pages {
            if self.sparse_bytes <= at || page.iter().any(|&byte| byte != 0) {
                file.write_all_at(page, at as u64).unwrap();
            }
        }
    }

    /// Returns `true` if the path hints at the format.
    fn has_hint(&self) -> bool {
        self.path.contains('/')
    }
}

/// Returns a file in one format, with one kind of line ends, and with one or more irregularities.
fn spool_file(number: usize, rng: &mut Rng) -> SpoolFile {
    let ends = *rng.pick(&["\n", "\n", "\n", "\r\n", "\r\n", "\r", "\r", "\r\r\n"]);
    let (format, text) = text(number, ends.len(), rng);
    let mut text = text.replace('\n', ends);
    let blank = [0, 0, 0, 1, 3][rng.below(5)];
    text.insert_str(0, &ends.repeat(blank));
    let is_cut = rng.below(4) == 0;
    if is_cut {
        text.truncate(text.trim_end_matches(['\r', '\n']).len());
    }
    let mut bytes = text.into_bytes();
    let bom = [&b""[..], b"", b"", b"", b"", b"\xEF\xBB\xBF"][rng.below(6)];
    bytes.splice(0..0, bom.iter().copied());
    if rng.below(8) == 0 {
        // In the middle and after the last message, NUL bytes are like any others.
        let at = *rng.pick(&[bytes.len() / 2, bytes.len()]);
        bytes.splice(at..at, vec![0; 1 + rng.below(20_000_usize)]);
    }
    let nuls: usize = match rng.below(10) {
        0..4 => 0,
        4 => 1 + rng.below(10),
        5 => 4_096 * rng.below(4),
        6 => 65_533 + rng.below(6),
        7 => 70_000,
        8 => 65_536 * (1 + rng.below(9)),
        _ => rng.below(1 << 20),
    };
    bytes.splice(0..0, vec![0; nuls]);
    let sparse_bytes = [0, rng.below(bytes.len()), usize::MAX][rng.below(3)];
    let path = match (format, rng.below(4)) {
        ("message", 0) => format!("mh/{}", 1 + number),
        ("message", 1) => format!("maildir/cur/{number}.M1.host:2,S"),
        ("message", 2) => format!("m{number}.eml"),
        ("news" | "wire" | "A news", 0 | 1) => format!("tradspool/a/b/{}", 1 + number),
        ("news" | "wire", 2) => format!("time-01/00/86/{number:04x}-6be1"),
        _ => format!("f{number}"),
    };
    SpoolFile {
        choices: format!(
            "{path}: {format}, {nuls} NULs (holes up to {sparse_bytes}), {} bytes of BOM, {blank} \
             blank lines, line ends {ends:?}, cut: {is_cut}",
            bom.len()
        ),
        path,
        bytes,
        sparse_bytes,
    }
}

const FORMATS: [&str; 17] = [
    "mboxo",
    "mboxrd",
    "mboxcl",
    "mboxcl2",
    "mbox without years",
    "pipermail",
    "mmdf",
    "babyl",
    "displayed babyl",
    "rnews",
    "emlx",
    "message",
    "news",
    "wire",
    "A news",
    "page",
    "text",
];

/// Returns the name of a format, and messages in it with LF line ends. The line ends will later
/// have `end_bytes` bytes. No two messages of a run are equal.
fn text(number: usize, end_bytes: usize, rng: &mut Rng) -> (&'static str, String) {
    let bytes = |text: &str| stored_bytes(text, end_bytes);
    let mut count = 0;
    let mut message = |more: &str, rng: &mut Rng| {
        count += 1;
        let name = format!("{number}-{count}");
        let filler = "words and words, as people write them\n"
            .repeat([0, 1, 20, 20, 4_000][rng.below(5)] / 2);
        let quoted = [
            "",
            ">From the last mail: <http://q.example/>\n",
            "\nFrom here on\n",
            "..two dots\n",
        ][rng.below(4)];
        let body = format!(
            "see http://a.example/{name} and\n{quoted}<URL:http://b.example/\n  {name}/>\n\
             {filler}the end: http://c.example/{name}\n"
        );
        (
            format!(
                "From: a@b.example\nSubject: number {name}\nMessage-ID: <{name}@x.example>\n\
                 Date: Mon, 01 Jan 1996 00:00:00 +0000\n{more}"
            ),
            body,
        )
    };
    let format = *rng.pick(&FORMATS);
    let messages = 1 + rng.below(4);
    let mut all = String::new();
    for _ in 0..messages {
        let (header, body) = message("", rng);
        all += &match format {
            "mboxo" | "mboxrd" | "mboxcl" | "mboxcl2" | "mbox without years" | "pipermail" => {
                mbox_message(format, &header, &body, end_bytes)
            }
            "mmdf" => {
                format!("\u{1}\u{1}\u{1}\u{1}\n{header}\n{body}\u{1}\u{1}\u{1}\u{1}\n")
            }
            "babyl" | "displayed babyl" => {
                let options = ["BABYL OPTIONS: -*- rmail -*-\nVersion: 5\n\u{1f}", ""];
                let (label, original) = match format {
                    "babyl" => (0, String::new()),
                    _ => (1, header.clone() + "\n"),
                };
                let options = options[usize::from(!all.is_empty())];
                format!("{options}\u{c}\n{label},,\n{original}*** EOOH ***\n{header}\n{body}\u{1f}")
            }
            "rnews" => format!(
                "#! rnews {}\n{header}\n{body}",
                bytes(&format!("{header}\n{body}"))
            ),
            "emlx" => {
                let text = format!("{header}\n{body}");
                return (
                    format,
                    format!("{:<10}\n{text}<plist></plist>\n", bytes(&text)),
                );
            }
            "message" => return (format, format!("{header}\n{body}")),
            "news" => {
                let (header, body) = message("Newsgroups: a.b\nPath: a!b\n", rng);
                return (format, format!("{header}\n{body}"));
            }
            "wire" => {
                let (header, body) = message("Newsgroups: a.b\nPath: a!b\n", rng);
                let body = body.replace("\n.", "\n..");
                return (format, format!("{header}\n{body}.\n"));
            }
            "A news" => {
                let header = format!("Asite.{number}\na.b\na!b!c\nFri Nov 19 16:14:55 1982\n");
                return (format, format!("{header}number {number}\n{body}"));
            }
            "page" => {
                return (
                    format,
                    format!(
                        "<!DOCTYPE html>\n<html><body><p>{body}<a \
                         href=\"http://d.example/{number}\">x</a></body></html>\n"
                    ),
                );
            }
            _ => return (format, body),
        };
    }
    (format, all)
}

/// Returns a message in a dialect of mbox. Its line ends will later have `end_bytes` bytes.
fn mbox_message(dialect: &str, header: &str, body: &str, end_bytes: usize) -> String {
    let separator = match dialect {
        "mbox without years" => "From a!b!c Mon Jan  1 00:00:00\n",
        "pipermail" => "From a at b.example  Mon Jan  1 00:00:00 1996\nFrom: a at b.example (A)\n",
        _ => "From a@b.example Mon Jan  1 00:00:00 1996\n",
    };
    let body = match dialect {
        "mboxrd" => format!(">>From a <http://r.example/>\n{body}"),
        "mboxcl2" => format!("{separator}To: <http://n.example/>\n\n{body}"),
        _ => body.to_owned(),
    };
    let length = match dialect {
        "mboxcl" | "mboxcl2" => format!("Content-Length: {}\n", stored_bytes(&body, end_bytes)),
        _ => String::new(),
    };
    format!("{separator}{header}{length}\n{body}\n")
}

/// Returns the size of a text once its line ends have `end_bytes` bytes.
fn stored_bytes(text: &str, end_bytes: usize) -> usize {
    text.len() + text.matches('\n').count() * (end_bytes - 1)
}

/// The identifiers of each file's records, in order.
type Found = BTreeMap<String, Vec<String>>;

/// Adds the records of a scan of `root` to their files.
fn add_records(found: &mut Found, root: &Path, lines: &[u8]) {
    for line in lines
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let record: Value = serde_json::from_slice(line).unwrap();
        let path = Path::new(record["source"]["path"].as_str().unwrap());
        let path = path.strip_prefix(root).unwrap().to_str().unwrap();
        let path = path.strip_suffix(".gz").unwrap_or(path).to_owned();
        let id = record["id"].as_str().unwrap().to_owned();
        found.entry(path).or_default().push(id);
    }
    found.values_mut().for_each(|ids| ids.sort());
}

/// Runs a command of the program. It must succeed, but may report a damaged file.
#[track_caller]
fn run(args: &[&str], path: &Path, input: &[u8]) -> Ended {
    let ended = ended(program_command().args(args).arg(path), input);
    assert!(
        matches!(ended.status, Some(0 | 1)),
        "{args:?} {}: {}",
        path.display(),
        ended.stderr
    );
    ended
}

fn scan(args: &[&str], root: &Path, input: &[u8]) -> Found {
    let mut found = Found::new();
    let args = [&["scan", "--quiet"], args].concat();
    let path = if input.is_empty() {
        root
    } else {
        Path::new("-")
    };
    add_records(&mut found, root, &run(&args, path, input).stdout);
    found
}

/// A folder of the daemon with one spool.
struct Watched {
    folder: Folder,
    spool: PathBuf,
}

impl Watched {
    fn new() -> Watched {
        let folder = Folder::in_memory();
        let root = folder.root().display();
        let config = format!(
            "[output]\ndir = \"{root}/out\"\nseal_interval = \"200ms\"\n[state]\n\
             dir = \"{root}/state\"\n\
             commit_interval = \"20ms\"\n[watch]\nsettle = \"300ms\"\n[metrics]\nlisten = \"\"\n\
             [[spool]]\npath = \"{root}/spool\"\n"
        );
        folder.write("c.toml", config);
        let spool = folder.path("spool");
        fs::create_dir(&spool).unwrap();
        for name in ["cur", "new", "tmp"] {
            fs::create_dir_all(spool.join("maildir").join(name)).unwrap();
        }
        Watched { folder, spool }
    }

    fn command(&self) -> Command {
        let mut command = program_command();
        command
            .args(["watch", "--config"])
            .arg(self.folder.path("c.toml"));
        command
    }

    fn start(&self) -> Child {
        let log = File::create(self.folder.path("log")).unwrap();
        self.command()
            .stderr(log)
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn found(&self) -> Found {
        let mut found = Found::new();
        for entry in fs::read_dir(self.folder.path("out")).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.extension() == Some("jsonl".as_ref()) {
                add_records(&mut found, &self.spool, &fs::read(path).unwrap());
            }
        }
        found
    }
}

/// Reads the files below `root` with the Python package.
fn python(python: &str, way: &str, root: &Path) -> Found {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/python_ids.py");
    let ended = ended(Command::new(python).arg(script).arg(way).arg(root), b"");
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let mut found = Found::new();
    add_records(&mut found, root, &ended.stdout);
    found
}

fn watched_once(files: &[SpoolFile]) -> Found {
    let watched = Watched::new();
    files.iter().for_each(|file| file.write(&watched.spool));
    let ended = ended(watched.command().arg("--once"), b"");
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    watched.found()
}

/// Writes the files while a daemon runs, until it has found all of `expected` or finds no more.
fn watched_live(files: &[SpoolFile], expected: &Found) -> Found {
    const PATIENCE: Duration = Duration::from_secs(20);
    let records = |found: &Found| found.values().map(Vec::len).sum::<usize>();
    let watched = Watched::new();
    let mut child = watched.start();
    files.iter().for_each(|file| file.write(&watched.spool));
    let (mut last, mut since) = (0, Instant::now());
    while last < records(expected) && since.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(50));
        let now = records(&watched.found());
        if last < now {
            (last, since) = (now, Instant::now());
        }
    }
    // A record written twice would arrive now.
    thread::sleep(Duration::from_millis(700));
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert!(child.wait().unwrap().success());
    watched.found()
}

/// Checks that `found` equals the result of a scan.
#[track_caller]
fn check(found: &Found, expected: &Found, files: &[SpoolFile], command: &str) {
    let count = |found: &Found, path| found.get(path).map_or(0, Vec::len);
    let wrong: Vec<String> = files
        .iter()
        .filter(|file| found.get(&file.path) != expected.get(&file.path))
        .map(|file| {
            let path = &file.path;
            let (found, expected) = (count(found, path), count(expected, path));
            format!("{}: {found} records, scan has {expected}", file.choices)
        })
        .collect();
    let first: Vec<&String> = wrong.iter().take(8).collect();
    assert!(
        wrong.is_empty(),
        "{command}: {} files, such as {first:#?}",
        wrong.len()
    );
}

#[test]
fn every_command_reads_the_same_from_the_same_file() {
    let number = |name: &str, default| {
        std::env::var(name).map_or(default, |value| value.parse::<usize>().unwrap())
    };
    let mut rng = Rng::seeded(number("URLSPOOL_SEED", 28) as u64);
    let files: Vec<SpoolFile> = (0..number("URLSPOOL_SPOOL_FILES", 40))
        .map(|number| spool_file(number, &mut rng))
        .collect();
    let unhinted = || files.iter().filter(|file| !file.has_hint());
    let folder = Folder::in_memory();
    let spool = folder.path("spool");
    fs::create_dir_all(spool.join("maildir/new")).unwrap();
    let packed = folder.path("packed");
    fs::create_dir_all(&packed).unwrap();
    for file in &files {
        file.write(&spool);
    }
    for file in unhinted() {
        let name = format!("{}.gz", file.path);
        let mut gzip = GzEncoder::new(
            File::create(packed.join(name)).unwrap(),
            Compression::fast(),
        );
        gzip.write_all(&file.bytes).unwrap();
        gzip.finish().unwrap();
    }

    let expected = scan(&[], &spool, b"");
    let records: usize = expected.values().map(Vec::len).sum();
    assert!(files.len() <= records, "{records}");
    check(&watched_once(&files), &expected, &files, "watch --once");
    check(&watched_live(&files, &expected), &expected, &files, "watch");
    for size in ["20KiB", "64KiB"] {
        let items = run(&["splits", "--size", size], &spool, b"").stdout;
        let found = scan(&["--splits"], &spool, &items);
        check(&found, &expected, &files, &format!("splits --size {size}"));
    }
    let interpreter = std::env::var("URLSPOOL_PYTHON").ok();
    for way in ["scan", "streams", "splits"] {
        if let Some(interpreter) = &interpreter {
            let found = python(interpreter, way, &spool);
            check(&found, &expected, &files, &format!("Python's {way}"));
        }
    }
    let mut unhinted_expected = expected.clone();
    unhinted_expected.retain(|path, _| unhinted().any(|file| file.path == *path));
    let plain: Vec<SpoolFile> = files.into_iter().filter(|file| !file.has_hint()).collect();
    check(
        &scan(&[], &packed, b""),
        &unhinted_expected,
        &plain,
        "scan of gzip",
    );
    if let Some(interpreter) = &interpreter {
        let found = python(interpreter, "scan", &packed);
        check(&found, &unhinted_expected, &plain, "Python's scan of gzip");
    }

    let kinds = kinds(&run(&["scan", "--dry-run"], &spool, b""), &spool);
    let mut piped = Found::new();
    for file in &plain {
        let path = spool.join(&file.path);
        let ids = run(&["scan", "--quiet"], Path::new("-"), &file.bytes).records();
        let mut ids: Vec<_> = ids
            .iter()
            .map(|record| record["id"].as_str().unwrap().to_owned())
            .collect();
        ids.sort();
        if !ids.is_empty() {
            piped.insert(file.path.clone(), ids);
        }
        let page = run(&["explain"], &path, b"");
        let first = page.text().lines().next().unwrap_or_default().to_owned();
        let words = match kinds.get(&file.path) {
            Some(kind) => format!("The file is read as {kind}"),
            None => "The file is skipped".to_owned(),
        };
        assert!(
            first.starts_with(&words),
            "{}: {first}, not: {words}",
            file.choices
        );
    }
    check(&piped, &unhinted_expected, &plain, "scan -");
}

/// Returns the kind of each file that `scan --dry-run` lists.
fn kinds(dry_run: &Ended, root: &Path) -> BTreeMap<String, String> {
    let line = |line: &str| {
        let mut columns = line.split('\t');
        let kind = columns.next().unwrap().to_owned();
        let path = Path::new(columns.nth(1).unwrap())
            .strip_prefix(root)
            .unwrap();
        (path.to_str().unwrap().to_owned(), kind)
    };
    dry_run.text().lines().map(line).collect()
}
