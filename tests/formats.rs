//! One set of messages in every format that mail and news are kept in: what is found in them must be the same.
//!
//! `cargo test formats -- --nocapture` prints the table.

#![expect(
    clippy::format_push_string,
    reason = "a mail reads best as the text it is"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use urlspool::limits::Limits;
use urlspool::origin::{FileRange, FormatHint, SourceKind};
use urlspool::read::{Input, StreamStep, Streams};
use urlspool::split::{Format, OpenedStream, open};
use urlspool::{Extractor, Job, Options, Source, run};

/// Messages in the set.
const MESSAGES: usize = 200;

/// A message as its author sent it, with LF line ends.
struct Mail {
    id: String,
    header: String,
    body: String,
    urls: Vec<String>,
}

impl Mail {
    fn text(&self) -> String {
        format!("{}\n{}", self.header, self.body)
    }
}

/// Numbers that look random and are the same on every run (Numerical Recipes' generator).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

/// The set. Every URL in it occurs once.
fn mails() -> Vec<Mail> {
    let mut dice = Dice(1994);
    (0..MESSAGES)
        .map(|number| mail(number, &mut dice))
        .collect()
}

fn mail(number: usize, dice: &mut Dice) -> Mail {
    let id = format!("<{number}.mail@formats.example>");
    let mut urls = Vec::new();
    let mut url = || {
        urls.push(format!(
            "http://host{}.example/m{number}/u{}.html",
            number % 7,
            urls.len()
        ));
        urls.last().expect("it was pushed").clone()
    };
    let mut header = format!(
        "Path: news.example!not-for-mail\nFrom: Writer {number} <w{number}@formats.example>\nNewsgroups: test.formats\n\
         Date: Mon, 01 Jan 1996 10:{:02}:{:02} +0000\nSubject: message {number}\nMessage-ID: {id}\n",
        number / 60,
        number % 60
    );
    if dice.roll(4) == 0 {
        header += &format!("X-Home-Page: {}\n", url());
    }
    // The very first bytes of a body, and its very last, are borders too.
    let mut body = match dice.roll(4) {
        0 => format!("From {} one gets there, and\nnowhere else.\n\n", url()),
        1 => format!("{}\n\n", url()),
        2 => format!(".{}\n\n", url()),
        _ => "Hello.\n\n".to_owned(),
    };
    for _ in 0..=dice.roll(12) {
        body += &match dice.roll(12) {
            0 => format!("From here it is near to {} as they say.\n", url()),
            1 => format!(
                "\nFrom w@x.example Mon Jan  1 10:00:00 1996\nSubject: pasted {}\n\nA pasted mail.\n",
                url()
            ),
            2 => format!(">From the last mail: {} it was.\n", url()),
            3 => format!(">>From the one before: {} it was.\n", url()),
            4 => format!("..two dots, and {} behind them.\n", url()),
            5 => ".\n".to_owned(),
            6 => format!(".<{}>\n", url()),
            7 => {
                let whole = url();
                let (head, tail) = whole.split_at(12 + dice.roll(12));
                format!("Broken: <URL:{head}\n   {tail}> by a mailer.\n")
            }
            8 => format!("#! rnews 12\nFound at {} today.\n", url()),
            9 => format!("Content-Length: 5\nand {} too.\n", url()),
            10 => format!(
                "{}\n",
                "Words that fill a line, as people write them.\n".repeat(1 + dice.roll(40))
            ),
            _ => format!("See {}.\n\n", url()),
        };
    }
    if number % 97 == 50 {
        // So long that blocks of messages end before and behind it.
        body +=
            &"Long letters have many lines of prose, and all of them are read.\n".repeat(12_000);
    }
    body += &format!("\nThe end is at {}\n", url());
    Mail {
        id,
        header,
        body,
        urls,
    }
}

/// A way to keep the set: writes it below a folder, with the given line ends.
type Writer = fn(&[Mail], &str, &Path);

/// The formats by the names that the table shows.
const FORMATS: [(&str, Writer); 17] = [
    ("mboxo", |mails, ends, at| {
        mbox(mails, ends, at, Quoting::Once, false);
    }),
    ("mboxrd", |mails, ends, at| {
        mbox(mails, ends, at, Quoting::Again, false);
    }),
    ("mboxcl", |mails, ends, at| {
        mbox(mails, ends, at, Quoting::Once, true);
    }),
    ("mboxcl2", |mails, ends, at| {
        mbox(mails, ends, at, Quoting::Never, true);
    }),
    ("maildir", maildir),
    ("maildir++", |mails, ends, at| {
        maildir(&mails[..50], ends, at);
        maildir(&mails[50..], ends, &at.join(".Archive.1996"));
    }),
    ("mh", mh),
    ("tradspool", |mails, ends, at| {
        tradspool(mails, ends, at, str::to_owned);
    }),
    ("wire-format", |mails, _, at| {
        tradspool(mails, "\r\n", at, wire);
    }),
    ("mixed spool", |mails, ends, at| {
        tradspool(&mails[..90], ends, &at.join("old"), str::to_owned);
        tradspool(&mails[90..], "\r\n", &at.join("new"), wire);
    }),
    ("timehash", timehash),
    ("rnews", rnews),
    ("mmdf", mmdf),
    ("babyl", babyl),
    ("emlx", emlx),
    ("eml", |mails, ends, at| {
        each(mails, at, |number, mail| {
            (format!("{number}.eml"), lines(&mail.text(), ends))
        });
    }),
    ("mixed folder", |mails, ends, at| {
        mbox(&mails[..40], ends, &at.join("a"), Quoting::Again, false);
        maildir(&mails[40..80], ends, &at.join("b"));
        mmdf(&mails[80..120], ends, &at.join("c"));
        emlx(&mails[120..160], ends, &at.join("c"));
        rnews(&mails[160..], ends, &at.join("d"));
    }),
];

/// Treatment of `From ` lines in bodies.
#[derive(Clone, Copy, PartialEq)]
enum Quoting {
    Never,
    /// `From ` alone is quoted.
    Once,
    /// Quoted ones are quoted again.
    Again,
}

fn lines(text: &str, ends: &str) -> String {
    text.replace('\n', ends)
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a file lies in a folder")).unwrap();
    fs::write(path, text).unwrap();
}

fn each(mails: &[Mail], at: &Path, file: impl Fn(usize, &Mail) -> (String, String)) {
    for (number, mail) in (1..).zip(mails) {
        let (name, text) = file(number, mail);
        write(&at.join(name), &text);
    }
}

fn mbox(mails: &[Mail], ends: &str, at: &Path, quoting: Quoting, has_lengths: bool) {
    let mut all = String::new();
    for mail in mails {
        let is_quoted = |line: &str| match quoting {
            Quoting::Never => false,
            Quoting::Once => line.starts_with("From "),
            Quoting::Again => line.trim_start_matches('>').starts_with("From "),
        };
        let quoted = mail
            .body
            .split_inclusive('\n')
            .map(|line| if is_quoted(line) { ">" } else { "" }.to_owned() + line);
        let body = lines(&quoted.collect::<String>(), ends);
        let length = if has_lengths {
            format!("Content-Length: {}\n", body.len())
        } else {
            String::new()
        };
        let head = format!(
            "From w@formats.example Mon Jan  1 10:00:00 1996\n{}{length}\n",
            mail.header
        );
        all += &format!("{}{body}{ends}", lines(&head, ends));
    }
    write(&at.join("inbox"), &all);
}

fn maildir(mails: &[Mail], ends: &str, at: &Path) {
    for name in ["new", "cur", "tmp"] {
        fs::create_dir_all(at.join(name)).unwrap();
    }
    write(&at.join("tmp/1"), "From: a\n\nhttp://unfinished.example/\n");
    write(&at.join("dovecot-uidlist"), "http://index.example/\n");
    each(mails, at, |number, mail| {
        let name = match number % 3 {
            0 => format!("new/820490{number:03}.M1P1.host"),
            1 => format!("cur/820490{number:03}.M1P1.host:2,S"),
            _ => format!(
                "cur/820490{number:03}.M1P1.host,S={}:2,RS",
                mail.text().len()
            ),
        };
        (name, lines(&mail.text(), ends))
    });
}

fn mh(mails: &[Mail], ends: &str, at: &Path) {
    write(&at.join(".mh_sequences"), "cur: http://index.example/\n");
    each(mails, at, |number, mail| {
        (number.to_string(), lines(&mail.text(), ends))
    });
}

/// One article a file; every tenth is cross-posted, as another name of the same file.
fn tradspool(mails: &[Mail], ends: &str, at: &Path, kept: fn(&str) -> String) {
    write(
        &at.join("test/formats/.overview"),
        "1\thttp://index.example/\n",
    );
    fs::create_dir_all(at.join("test/other")).unwrap();
    for (number, mail) in (1..).zip(mails) {
        let path = at.join(format!("test/formats/{number}"));
        write(&path, &kept(&lines(&mail.text(), ends)));
        if number % 10 == 0 {
            fs::hard_link(&path, at.join(format!("test/other/{number}"))).unwrap();
        }
    }
}

fn wire(text: &str) -> String {
    let stuffed = text
        .split_inclusive('\n')
        .map(|line| if line.starts_with('.') { "." } else { "" }.to_owned() + line);
    stuffed.collect::<String>() + ".\r\n"
}

fn timehash(mails: &[Mail], ends: &str, at: &Path) {
    each(mails, at, |number, mail| {
        (
            format!("time-01/00/86/{number:04x}-6be1"),
            lines(&mail.text(), ends),
        )
    });
}

fn rnews(mails: &[Mail], ends: &str, at: &Path) {
    let article = |mail: &Mail| {
        let text = lines(&mail.text(), ends);
        format!("#! rnews {}\n{text}", text.len())
    };
    write(
        &at.join("batch"),
        &mails.iter().map(article).collect::<String>(),
    );
}

fn mmdf(mails: &[Mail], ends: &str, at: &Path) {
    let line = "\u{1}\u{1}\u{1}\u{1}\n";
    let message = |mail: &Mail| lines(&format!("{line}{}{line}", mail.text()), ends);
    write(
        &at.join("folder"),
        &mails.iter().map(message).collect::<String>(),
    );
}

/// Every other message was shown once, and has a second header for the eye.
fn babyl(mails: &[Mail], ends: &str, at: &Path) {
    let mut all =
        "BABYL OPTIONS: -*- rmail -*-\nVersion: 5\nNote: http://index.example/\n\u{1f}".to_owned();
    for (number, mail) in mails.iter().enumerate() {
        let Mail { header, body, .. } = mail;
        all += &if number % 2 == 0 {
            format!("\u{c}\n0, unseen,,\n*** EOOH ***\n{header}\n{body}\u{1f}")
        } else {
            let shown: String = header
                .split_inclusive('\n')
                .filter(|line| !line.starts_with("Message-ID"))
                .collect();
            format!("\u{c}\n1,,\n{header}\n*** EOOH ***\n{shown}\n{body}\u{1f}")
        };
    }
    write(&at.join("RMAIL"), &lines(&all, ends));
}

fn emlx(mails: &[Mail], ends: &str, at: &Path) {
    write(
        &at.join("Info.plist"),
        "<plist>http://index.example/</plist>\n",
    );
    each(mails, at, |number, mail| {
        let text = lines(&mail.text(), ends);
        let list = "<?xml version=\"1.0\"?>\n<plist>http://www.apple.com/DTDs/PropertyList-1.0.dtd</plist>\n";
        (
            format!("Messages/{number}.emlx"),
            format!("{:<10}\n{text}{list}", text.len()),
        )
    });
}

/// Number of times that each URL was found in each message.
type Found = BTreeMap<(String, String), usize>;

fn expected(mails: &[Mail]) -> Found {
    let pairs = mails.iter().flat_map(|mail| {
        mail.urls
            .iter()
            .map(|url| ((mail.id.clone(), url.clone()), 1))
    });
    pairs.collect()
}

/// Result of a scan: the URLs, the ids of the records, and the numbers of messages and diagnostics.
struct Scanned {
    found: Found,
    ids: BTreeSet<String>,
    messages: u64,
    events: BTreeMap<String, u64>,
}

/// Returns the result of a scan of `at`.
fn scanned(at: &Path, threads: usize) -> Scanned {
    let job = Job {
        roots: vec![at.to_owned()],
        threads,
        ..Job::default()
    };
    let mut records = Vec::new();
    let balance = run(&job, &Extractor::new(Options::default()), &mut records).unwrap();
    let (mut found, mut ids) = (Found::new(), BTreeSet::new());
    let mut last = (String::new(), Vec::new());
    for line in records
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let record: Value = serde_json::from_slice(line).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        *found
            .entry((text(&record["message"]["id"]), text(&record["url"])))
            .or_default() += 1;
        ids.insert(text(&record["id"]));
        let path = text(&record["source"]["path"]);
        if last.0 != path {
            last = (path.clone(), fs::read(path).unwrap());
        }
        check_place(&record, &last.1);
    }
    Scanned {
        found,
        ids,
        messages: balance.messages_scanned,
        events: balance
            .events
            .iter()
            .map(|(kind, &count)| (kind.clone(), count))
            .collect(),
    }
}

/// The bytes that a record names hold its URL, but for what was undone.
fn check_place(record: &Value, octets: &[u8]) {
    let number = |name: &str| record["source"][name].as_u64().unwrap() as usize;
    let raw = String::from_utf8_lossy(&octets[number("start")..number("end")]).into_owned();
    assert_eq!(
        raw.replace("\r\n", "\n"),
        record["raw"].as_str().unwrap().replace("\r\n", "\n")
    );
}

/// A folder of its own below the system's, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("urlspool-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_format_of_the_same_messages_has_the_same_urls() {
    let mails = mails();
    let expected = expected(&mails);
    let folder = Folder::new("formats");
    let single = folder.0.join("single");
    each(&mails, &single, |number, mail| {
        (number.to_string(), mail.text())
    });
    let Scanned { ids: known_ids, .. } = scanned(&single, 1);
    assert_eq!(known_ids.len(), expected.len());
    println!(
        "{:<14} {:<4} {:>8} {:>6} {:>8} {:>9}  result",
        "format", "ends", "messages", "URLs", "same ids", "ambiguous"
    );
    let mut failures = Vec::new();
    for (name, writer) in FORMATS {
        for (ends, ends_name) in [("\n", "LF"), ("\r\n", "CRLF")] {
            let at = folder.0.join(format!("{name}-{ends_name}"));
            writer(&mails, ends, &at);
            let Scanned {
                found,
                ids,
                messages,
                events,
            } = scanned(&at, 1);
            let missing = expected
                .iter()
                .filter(|(pair, _)| !found.contains_key(*pair))
                .count();
            // What `>From ` was before it was quoted is not always to be told; the ids of such messages differ.
            let same_ids = ids.intersection(&known_ids).count();
            let is_reversible = name == "mboxrd" || !name.starts_with("mbox");
            let same = found == expected
                && messages == MESSAGES as u64
                && (!is_reversible || same_ids == expected.len());
            let urls: usize = found.values().sum();
            let ambiguous = events.get("ambiguous").copied().unwrap_or_default();
            let result = if same {
                "same".to_owned()
            } else {
                format!("{missing} missing of {}", expected.len())
            };
            println!(
                "{name:<14} {ends_name:<4} {messages:>8} {urls:>6} {same_ids:>8} {ambiguous:>9}  {result}"
            );
            if !same {
                let other = found
                    .iter()
                    .find(|&(pair, count)| expected.get(pair) != Some(count));
                failures.push(format!("{name} {ends_name}: {result}, {other:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Returns the ids in the lines of a segment or a scan, each with the folder beneath `at` that it came from.
fn ids(at: &Path, lines: &[u8]) -> BTreeSet<(String, String)> {
    let record = |line: &[u8]| -> (String, String) {
        let record: Value = serde_json::from_slice(line).unwrap();
        let path = record["source"]["path"]
            .as_str()
            .unwrap()
            .strip_prefix(at.to_str().unwrap())
            .unwrap()
            .to_owned();
        (
            path.split('/').nth(1).unwrap().to_owned(),
            record["id"].as_str().unwrap().to_owned(),
        )
    };
    lines
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(record)
        .collect()
}

#[test]
fn the_daemon_finds_in_every_format_what_a_scan_finds() {
    let mails = mails();
    let folder = Folder::new("formats-watched");
    let spools = folder.0.join("spools");
    let program = || Command::new(env!("CARGO_BIN_EXE_urlspool"));
    let mut config = format!(
        "[output]\ndir = \"{0}/out\"\n[state]\ndir = \"{0}/state\"\n[watch]\nsettle = \"10ms\"\n[metrics]\nlisten = \"\"\n",
        folder.0.display()
    );
    let mut each: Vec<PathBuf> = Vec::new();
    for (name, writer) in FORMATS {
        each.push(spools.join(name));
        writer(&mails, "\n", &spools.join(name));
    }
    for (name, how) in [("packed.tar", "-cf"), ("packed.tgz", "-czf")] {
        each.push(spools.join(name));
        let status = Command::new("tar")
            .arg(how)
            .arg(spools.join(name))
            .arg("-C")
            .arg(&spools)
            .arg("mh")
            .status();
        assert!(status.unwrap().success());
    }
    for spool in &each {
        config += &format!("[[spool]]\npath = \"{}\"\n", spool.display());
    }
    fs::write(folder.0.join("c.toml"), config).unwrap();
    let watched = program()
        .args(["watch", "--once", "--config"])
        .arg(folder.0.join("c.toml"))
        .output()
        .unwrap();
    assert!(
        watched.status.success(),
        "{}",
        String::from_utf8_lossy(&watched.stderr)
    );
    let mut given = Vec::new();
    for path in fs::read_dir(folder.0.join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if path.extension() == Some("jsonl".as_ref()) {
            given.extend(fs::read(path).unwrap());
        }
    }
    // One by one: a scan gives a news article once, wherever it stands.
    let scan = |spool: &PathBuf| {
        program()
            .args(["scan", "--quiet"])
            .arg(spool)
            .output()
            .unwrap()
            .stdout
    };
    let expected = ids(&spools, &each.iter().flat_map(scan).collect::<Vec<_>>());
    let given = ids(&spools, &given);
    let differ: Vec<_> = given.symmetric_difference(&expected).take(5).collect();
    assert!(
        differ.is_empty(),
        "{} given, {} expected: {differ:?}",
        given.len(),
        expected.len()
    );
    assert!(expected.len() > FORMATS.len() * MESSAGES);
}

/// The records of parts of a file, one part after the other.
fn in_parts(path: &Path, borders: &[u64], extractor: &Extractor) -> String {
    let part = |pair: &[u64]| FileRange {
        source: Source::at(path.to_owned()),
        start: pair[0],
        end: pair[1],
        kind: Some(SourceKind::Mbox),
    };
    let scan = |pair: &[u64]| {
        let job = Job {
            items: Some(vec![part(pair)]),
            threads: 1,
            ..Job::default()
        };
        let mut records = Vec::new();
        run(&job, extractor, &mut records).unwrap();
        String::from_utf8(records).unwrap()
    };
    borders.windows(2).map(scan).collect()
}

/// An mbox with everything that can stand around a border.
fn random_mbox(dice: &mut Dice) -> String {
    let mut all = "\n".repeat(dice.roll(3));
    for number in 0..=dice.roll(4) {
        let pieces = [
            "\nFrom x\nA: pasted\n\n",
            "From here\nthe prose\n",
            "\n",
            "<URL:http://a.\n  example/>\n",
            "http://b.example/c\n",
            "\nFrom u at h  Mon Jan  1 10:00:00 1996\nFrom: u at h (U)\n\n",
            "no end",
        ];
        let body: String = (0..dice.roll(6))
            .map(|_| pieces[dice.roll(pieces.len())])
            .collect();
        let length = match dice.roll(4) {
            0 => format!("Content-Length: {}\n", body.len()),
            1 => format!("Content-Length: {}\n", dice.roll(60)),
            _ => String::new(),
        };
        all += &format!(
            "From a\nMessage-ID: <{number}@x>\nSubject: http://s{number}.example/\n{length}\n{body}"
        );
        all += &"\n".repeat(dice.roll(3));
    }
    lines(&all, ["\n", "\r\n"][dice.roll(2)])
}

#[test]
fn ranges_of_an_mbox_have_the_records_of_the_file_wherever_it_is_cut() {
    let folder = Folder::new("splits");
    let path = folder.0.join("inbox");
    let mut dice = Dice(1738);
    let extractor = Extractor::new(Options::default());
    let scan = |borders: &[u64]| in_parts(&path, borders, &extractor);
    let mut records = 0;
    for _ in 0..40 {
        let text = random_mbox(&mut dice);
        fs::write(&path, &text).unwrap();
        let size = text.len() as u64;
        let whole = scan(&[0, size]);
        records += whole.lines().count();
        for cut in 0..=size {
            assert_eq!(scan(&[0, cut, size]), whole, "cut at {cut}: {text:?}");
        }
        let tiny: Vec<u64> = (0..size).step_by(1 + dice.roll(20)).chain([size]).collect();
        assert_eq!(scan(&tiny), whole, "{text:?}");
    }
    assert!(records > 150, "{records}");
}

/// The blocks of an mbox: where each begins, and its bytes; and how many of them were left unread, if any may be.
fn blocks(path: &Path, may_hand_off: bool) -> (Vec<(u64, Vec<u8>)>, usize) {
    let input = Input::file(fs::File::open(path).unwrap());
    let Some(StreamStep::Stream { hint, stream, .. }) = Streams::new(
        input,
        Source::at(path.to_owned()),
        FormatHint::None,
        &Limits::default(),
    )
    .next() else {
        panic!("no stream");
    };
    let OpenedStream::Blocks(mut reader) = open(
        stream,
        Some(Format::Mbox),
        hint,
        Limits::default().message_bytes,
    )
    .unwrap() else {
        panic!("no blocks");
    };
    let (mut all, mut left) = (Vec::new(), 0);
    loop {
        if let Some(unread) = may_hand_off.then(|| reader.next_unread_block()).flatten() {
            let mut octets = b"what was there before".to_vec();
            unread.range.read(&mut octets).unwrap();
            all.push((unread.offset, octets));
            left += 1;
        } else if let Some(block) = reader.next_block().unwrap() {
            all.push((block.offset, block.bytes));
        } else {
            return (all, left);
        }
    }
}

/// The end of a block decides where it is cut, whether the block is read at once or handed off.
#[test]
fn unread_blocks_are_cut_at_the_same_offsets_as_read_blocks() {
    const BLOCK: usize = 2 << 20;
    let folder = Folder::new("unread");
    let path = folder.0.join("inbox");
    let long = format!("\n\nFrom {}\nA: b\n\n", "a".repeat(5_000));
    let long_field = format!("\n\nFrom a\nA: {}\n\n", "b".repeat(5_000));
    let marks = [
        "\n\nFrom a\nA: b\n\n",
        "\n\r\nFrom a\nA: b\n\n",
        "x\nFrom a\nA: b\n\n",
        "\n\nFrom a\nhttp://h.example/\n",
        "\nFrom u at h  Mon Jan  1 10:00:00 1996\nFrom: u at h (U)\n\n",
        "\n\nFrom a\nFrom b\nFrom c\nA: b\n",
        &long,
        &long_field,
    ];
    let mut dice = Dice(2026);
    let (mut left, mut read) = (0, 0);
    for round in 0..80 {
        let mut text = ["From a\nA: b\n\n", "\n\nFrom a\nA: b\n\n"][round % 2].to_owned();
        for block in 1..=2 {
            // Somewhere near the end of what is looked at together, or far before it.
            let window = [0, 0, 1, 2, 50][dice.roll(5)] * (16 << 10);
            let place = block * BLOCK - window - [dice.roll(24), dice.roll(6_000)][dice.roll(2)];
            text += &"words\n".repeat((place - text.len()) / 6);
            text += &"x".repeat(place - text.len());
            text += marks[dice.roll(marks.len())];
            if dice.roll(3) == 0 {
                text += &"words\n".repeat(dice.roll(4));
                text += marks[dice.roll(marks.len())];
            }
        }
        text += &"words\n".repeat([20, 40_000, 400_000][dice.roll(3)]);
        fs::write(&path, &text).unwrap();
        let (want, none) = blocks(&path, false);
        let (have, some) = blocks(&path, true);
        assert_eq!(none, 0);
        let borders =
            |blocks: &[(u64, Vec<u8>)]| blocks.iter().map(|(at, _)| *at).collect::<Vec<_>>();
        assert_eq!(borders(&have), borders(&want), "round {round}");
        assert!(have == want, "round {round}");
        let octets: Vec<&[u8]> = have.iter().map(|(_, octets)| &octets[..]).collect();
        assert!(octets.concat() == text.as_bytes(), "round {round}");
        left += some;
        read += have.len() - some;
    }
    assert!(left > 20 && read > 50, "{left} left, {read} read");
}

/// Zeros before the first message are no part of it, whether they are stored or a hole.
#[test]
fn messages_after_nul_bytes_are_found() {
    let folder = Folder::new("zeros");
    let path = folder.0.join("inbox");
    let message = |n: usize| format!("From a\nSubject: x\n\nhttp://h{n}.example/\n\n");
    let mbox = (0..3_000).map(message).collect::<Vec<_>>().concat();
    for zeros in [1, 65_535, 65_536, 65_537, 200_000] {
        for is_stored in [true, false] {
            fs::write(
                &path,
                if is_stored {
                    vec![0; zeros]
                } else {
                    Vec::new()
                },
            )
            .unwrap();
            let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.seek(SeekFrom::Start(zeros as u64)).unwrap();
            file.write_all(mbox.as_bytes()).unwrap();
            let scan = ["scan", "-q", "--kind", "mbox"];
            let output = Command::new(env!("CARGO_BIN_EXE_urlspool"))
                .args(scan)
                .arg(&path)
                .output()
                .unwrap();
            let records = String::from_utf8(output.stdout).unwrap();
            let first: Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
            assert_eq!(
                records.lines().count(),
                3_000,
                "{zeros} zeros, stored: {is_stored}"
            );
            assert_eq!(
                first["source"]["start"],
                zeros + mbox.find("http").unwrap(),
                "{zeros} zeros, stored: {is_stored}"
            );
        }
    }
}

#[test]
fn splits_are_printed_and_read() {
    let folder = Folder::new("items");
    let mails = mails();
    mbox(
        &mails[..30],
        "\n",
        &folder.0.join("a"),
        Quoting::Again,
        false,
    );
    mbox(
        &mails[..30],
        "\n",
        &folder.0.join("b"),
        Quoting::Never,
        true,
    );
    maildir(&mails[30..40], "\n", &folder.0.join("c"));
    let urlspool = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_urlspool"))
            .args(args)
            .current_dir(&folder.0)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    };
    let whole = urlspool(&["scan", "-q", "a", "b", "c"]);
    for size in ["1000", "7KiB", "1GB"] {
        let items = urlspool(&["splits", "--size", size, "a", "b", "c"]);
        fs::write(folder.0.join("items"), &items).unwrap();
        assert!(
            urlspool(&["scan", "-q", "-j2", "--splits", "items"]) == whole,
            "{size}"
        );
        let count = String::from_utf8(items).unwrap().lines().count();
        assert_eq!(count > 12, size != "1GB", "{count} items of {size}");
    }
}
