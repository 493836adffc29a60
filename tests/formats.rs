//! One set of messages in every storage format of mail and news: the same URLs must be found in each.
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
use urlspool::limits::{Limits, SNIFF_BYTES};
use urlspool::origin::{FileRange, FormatHint, SourceKind};
use urlspool::read::{Input, StreamStep, Streams};
use urlspool::split::{Format, OpenedStream, open};
use urlspool::{Extractor, Job, Options, Source, run};

use crate::scene::{Folder, Rng};

/// Messages in the set.
const MESSAGES: usize = 100;

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

/// The set. Every URL in it occurs once.
fn mails() -> Vec<Mail> {
    let mut rng = Rng::seeded(1994);
    (0..MESSAGES).map(|number| mail(number, &mut rng)).collect()
}

fn mail(number: usize, rng: &mut Rng) -> Mail {
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
    if rng.below(4) == 0 {
        header += &format!("X-Home-Page: {}\n", url());
    }
    // The first and the last bytes of a body are borders too.
    let mut body = match rng.below(4) {
        0 => format!("From {} one gets there, and\nnowhere else.\n\n", url()),
        1 => format!("{}\n\n", url()),
        2 => format!(".{}\n\n", url()),
        _ => "Hello.\n\n".to_owned(),
    };
    for _ in 0..=rng.below(12) {
        body += &match rng.below(12) {
            0 => format!("From here it is near to {} as they say.\n", url()),
            1 => format!(
                "\nFrom w@x.example Mon Jan  1 10:00:00 1996\nSubject: pasted {}\n\nA pasted mail.\n",
                url()
            ),
            2 => format!(">From the last mail: {} it was.\n", url()),
            3 => format!(">>From the one before: {} it was.\n", url()),
            4 => format!("..two dots, and {} after them.\n", url()),
            5 => ".\n".to_owned(),
            6 => format!(".<{}>\n", url()),
            7 => {
                let whole = url();
                let (head, tail) = whole.split_at(12 + rng.below(12));
                format!("Broken: <URL:{head}\n   {tail}> by a mailer.\n")
            }
            8 => format!("#! rnews 12\nFound at {} today.\n", url()),
            9 => format!("Content-Length: 5\nand {} too.\n", url()),
            10 => format!(
                "{}\n",
                "Words that fill a line, as people write them.\n".repeat(1 + rng.below(40))
            ),
            _ => format!("See {}.\n\n", url()),
        };
    }
    if number == MESSAGES / 2 {
        // Longer than a file that is read at once.
        body += &"Long letters have many lines of prose, and all of them are read.\n".repeat(8_200);
    }
    body += &format!("\nThe end is at {}\n", url());
    Mail {
        id,
        header,
        body,
        urls,
    }
}

/// Writes the set in one format below a folder, with these line ends.
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
        maildir(&mails[..25], ends, at);
        maildir(&mails[25..], ends, &at.join(".Archive.1996"));
    }),
    ("mh", mh),
    ("tradspool", |mails, ends, at| {
        tradspool(mails, ends, at, str::to_owned);
    }),
    ("wire-format", |mails, _, at| {
        tradspool(mails, "\r\n", at, wire);
    }),
    ("mixed spool", |mails, ends, at| {
        tradspool(&mails[..45], ends, &at.join("old"), str::to_owned);
        tradspool(&mails[45..], "\r\n", &at.join("new"), wire);
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
        mbox(&mails[..20], ends, &at.join("a"), Quoting::Again, false);
        maildir(&mails[20..40], ends, &at.join("b"));
        mmdf(&mails[40..60], ends, &at.join("c"));
        emlx(&mails[60..80], ends, &at.join("c"));
        rnews(&mails[80..], ends, &at.join("d"));
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

/// One article per file; every tenth is cross-posted, as a hard link to its file.
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

/// Every other message was displayed once, and has a second header for display.
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
    let summary = run(&job, &Extractor::new(Options::default()), &mut records).unwrap();
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
        messages: summary.messages_scanned,
        events: summary
            .events
            .iter()
            .map(|(kind, &count)| (kind.clone(), count))
            .collect(),
    }
}

/// The bytes that a record names are its raw text.
fn check_place(record: &Value, bytes: &[u8]) {
    let number = |name: &str| record["source"][name].as_u64().unwrap() as usize;
    let raw = String::from_utf8_lossy(&bytes[number("start")..number("end")]).into_owned();
    assert_eq!(
        raw.replace("\r\n", "\n"),
        record["raw"].as_str().unwrap().replace("\r\n", "\n")
    );
}

#[test]
fn every_format_of_the_same_messages_has_the_same_urls() {
    let mails = mails();
    let expected = expected(&mails);
    let folder = Folder::new();
    let single = folder.path("single");
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
            let at = folder.path(format!("{name}-{ends_name}"));
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
            // Quoting of `>From ` is not always reversible; the ids of such messages differ.
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
    let folder = Folder::new();
    let spools = folder.path("spools");
    let program = || Command::new(env!("CARGO_BIN_EXE_urlspool"));
    let mut config = format!(
        "[output]\ndir = \"{0}/out\"\n[state]\ndir = \"{0}/state\"\n[watch]\nsettle = \"10ms\"\n[metrics]\nlisten = \"\"\n",
        folder.root().display()
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
    folder.write("c.toml", config);
    let watched = program()
        .args(["watch", "--once", "--config"])
        .arg(folder.path("c.toml"))
        .output()
        .unwrap();
    assert!(
        watched.status.success(),
        "{}",
        String::from_utf8_lossy(&watched.stderr)
    );
    let mut watched_lines = Vec::new();
    for path in fs::read_dir(folder.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if path.extension() == Some("jsonl".as_ref()) {
            watched_lines.extend(fs::read(path).unwrap());
        }
    }
    // One by one: a scan writes a news article once, wherever it is stored.
    let scan = |spool: &PathBuf| {
        program()
            .args(["scan", "--quiet"])
            .arg(spool)
            .output()
            .unwrap()
            .stdout
    };
    let expected = ids(&spools, &each.iter().flat_map(scan).collect::<Vec<_>>());
    let found = ids(&spools, &watched_lines);
    let differ: Vec<_> = found.symmetric_difference(&expected).take(5).collect();
    assert!(
        differ.is_empty(),
        "{} found, {} expected: {differ:?}",
        found.len(),
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

/// An mbox with everything that can be around a border.
fn random_mbox(rng: &mut Rng) -> String {
    let mut all = "\n".repeat(rng.below(3));
    for number in 0..=rng.below(4) {
        let pieces = [
            "\nFrom x\nA: pasted\n\n",
            "From here\nthe prose\n",
            "\n",
            "<URL:http://a.\n  example/>\n",
            "http://b.example/c\n",
            "\nFrom u at h  Mon Jan  1 10:00:00 1996\nFrom: u at h (U)\n\n",
            "no end",
        ];
        let body: String = (0..rng.below(6))
            .map(|_| pieces[rng.below(pieces.len())])
            .collect();
        let length = match rng.below(4) {
            0 => format!("Content-Length: {}\n", body.len()),
            1 => format!("Content-Length: {}\n", rng.below(60)),
            _ => String::new(),
        };
        all += &format!(
            "From a\nMessage-ID: <{number}@x>\nSubject: http://s{number}.example/\n{length}\n{body}"
        );
        all += &"\n".repeat(rng.below(3));
    }
    lines(&all, ["\n", "\r\n"][rng.below(2)])
}

#[test]
fn ranges_of_an_mbox_have_the_records_of_the_file_wherever_it_is_cut() {
    let folder = Folder::new();
    let path = folder.path("inbox");
    let mut rng = Rng::seeded(1738);
    let extractor = Extractor::new(Options::default());
    let scan = |borders: &[u64]| in_parts(&path, borders, &extractor);
    let mut records = 0;
    for _ in 0..20 {
        let text = random_mbox(&mut rng);
        fs::write(&path, &text).unwrap();
        let size = text.len() as u64;
        let whole = scan(&[0, size]);
        records += whole.lines().count();
        for cut in 0..=size {
            assert_eq!(scan(&[0, cut, size]), whole, "cut at {cut}: {text:?}");
        }
        let tiny: Vec<u64> = (0..size).step_by(1 + rng.below(20)).chain([size]).collect();
        assert_eq!(scan(&tiny), whole, "{text:?}");
    }
    assert!(records > 75, "{records}");
}

/// The blocks of an mbox, each with its offset and its bytes, and the number of those that were handed off unread.
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
    let (mut all, mut unread_blocks) = (Vec::new(), 0);
    loop {
        if let Some(unread) = may_hand_off.then(|| reader.next_unread_block()).flatten() {
            let mut bytes = b"earlier content of the buffer".to_vec();
            unread.range.read(&mut bytes).unwrap();
            all.push((unread.offset, bytes));
            unread_blocks += 1;
        } else if let Some(block) = reader.next_block().unwrap() {
            all.push((block.offset, block.bytes));
        } else {
            return (all, unread_blocks);
        }
    }
}

/// Blocks are cut at the same offsets, read at once or handed off.
#[test]
fn unread_blocks_are_cut_at_the_same_offsets_as_read_blocks() {
    const BLOCK: usize = 2 << 20;
    let folder = Folder::new();
    let path = folder.path("inbox");
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
    let mut rng = Rng::seeded(2026);
    let (mut unread, mut read) = (0, 0);
    for round in 0..40 {
        let mut text = ["From a\nA: b\n\n", "\n\nFrom a\nA: b\n\n"][round % 2].to_owned();
        for block in 1..=2 {
            // Near the end of a search window, or far before it.
            let window = [0, 0, 1, 2, 50][rng.below(5)] * (16 << 10);
            let place = block * BLOCK - window - [rng.below(24), rng.below(6_000)][rng.below(2)];
            text += &"words\n".repeat((place - text.len()) / 6);
            text += &"x".repeat(place - text.len());
            text += marks[rng.below(marks.len())];
            if rng.below(3) == 0 {
                text += &"words\n".repeat(rng.below(4));
                text += marks[rng.below(marks.len())];
            }
        }
        text += &"words\n".repeat([20, 40_000, 400_000][rng.below(3)]);
        fs::write(&path, &text).unwrap();
        let (want, none) = blocks(&path, false);
        let (have, some) = blocks(&path, true);
        assert_eq!(none, 0);
        let borders =
            |blocks: &[(u64, Vec<u8>)]| blocks.iter().map(|(at, _)| *at).collect::<Vec<_>>();
        assert_eq!(borders(&have), borders(&want), "round {round}");
        assert!(have == want, "round {round}");
        let bytes: Vec<&[u8]> = have.iter().map(|(_, bytes)| &bytes[..]).collect();
        assert!(bytes.concat() == text.as_bytes(), "round {round}");
        unread += some;
        read += have.len() - some;
    }
    assert!(unread > 10 && read > 25, "{unread} unread, {read} read");
}

/// NUL bytes before the first message, stored or a hole, are not part of it.
#[test]
fn messages_after_nul_bytes_are_found() {
    const MESSAGES: usize = 300;
    let folder = Folder::new();
    let path = folder.path("inbox");
    let words = "words and words\n".repeat(20);
    let message = |n: usize| format!("From a\nSubject: x\n\nhttp://h{n}.example/\n{words}\n");
    let mbox = (0..MESSAGES).map(message).collect::<Vec<_>>().concat();
    assert!(mbox.len() > SNIFF_BYTES);
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
                MESSAGES,
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
    let folder = Folder::new();
    let mails = mails();
    mbox(&mails[..30], "\n", &folder.path("a"), Quoting::Again, false);
    mbox(&mails[..30], "\n", &folder.path("b"), Quoting::Never, true);
    maildir(&mails[30..40], "\n", &folder.path("c"));
    let urlspool = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_urlspool"))
            .args(args)
            .current_dir(folder.root())
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
        folder.write("items", &items);
        assert!(
            urlspool(&["scan", "-q", "-j2", "--splits", "items"]) == whole,
            "{size}"
        );
        let count = String::from_utf8(items).unwrap().lines().count();
        assert_eq!(count > 12, size != "1GB", "{count} items of {size}");
    }
}
