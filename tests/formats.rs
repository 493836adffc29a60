//! One set of messages in every storage format of mail and news, with the same URLs.
//!
//! `cargo test formats -- --nocapture` prints the table.

#![expect(
    clippy::format_push_string,
    reason = "a mail reads best as the text it is"
)]

mod openers;
mod ranges;
mod writers;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;
use urlspool::{Extractor, Options};
use urlspool_files::pipeline::{Job, run};

use self::writers::{babyl, emlx, maildir, mh, mmdf, rnews, timehash, tradspool, wire};
use crate::scene::{Folder, Rng, RunOutput};

/// Number of messages in the set.
const MESSAGES: usize = 60;

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

/// Returns the set. Every URL occurs once.
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
        "Path: news.example!not-for-mail\nFrom: Writer {number} <w{number}@formats.example>\n\
         Newsgroups: test.formats\n\
         Date: Mon, 01 Jan 1996 10:{:02}:{:02} +0000\nSubject: message {number}\n\
         Message-ID: {id}\n",
        number / 60,
        number % 60
    );
    if rng.below(4) == 0 {
        header += &format!("X-Home-Page: {}\n", url());
    }
    // The first and last bytes of a body are borders too.
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
                "\nFrom w@x.example Mon Jan  1 10:00:00 1996\nSubject: pasted {}\n\n\
                 A pasted mail.\n",
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

/// Writes the set in one format, with these line ends, below a folder.
type Writer = fn(&[Mail], &str, &Path);

/// The formats with their names in the table.
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
        mbox(&mails[..12], ends, &at.join("a"), Quoting::Again, false);
        maildir(&mails[12..24], ends, &at.join("b"));
        mmdf(&mails[24..36], ends, &at.join("c"));
        emlx(&mails[36..48], ends, &at.join("c"));
        rnews(&mails[48..], ends, &at.join("d"));
    }),
];

/// Treatment of `From ` lines in bodies.
#[derive(Clone, Copy, PartialEq)]
enum Quoting {
    Never,
    /// Only `From ` is quoted.
    Once,
    /// Quoted lines are quoted again.
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

/// Number of times each URL was found in each message.
type Found = BTreeMap<(String, String), usize>;

fn expected(mails: &[Mail]) -> Found {
    let pairs = mails.iter().flat_map(|mail| {
        mail.urls
            .iter()
            .map(|url| ((mail.id.clone(), url.clone()), 1))
    });
    pairs.collect()
}

/// Result of a scan: the URLs, the record ids, and the numbers of messages and diagnostics.
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
    let mut output = RunOutput::default();
    let summary = run(&job, &Extractor::new(Options::default()), &mut output).unwrap();
    let (mut found, mut ids) = (Found::new(), BTreeSet::new());
    let mut last = (String::new(), Vec::new());
    for line in output
        .records
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let record: Value = str::from_utf8(line).unwrap().parse().unwrap();
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
            .by_name()
            .into_iter()
            .map(|(kind, count)| (kind.to_owned(), count))
            .collect(),
    }
}

/// Checks that the bytes a record refers to are its raw text.
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
            // Quoting of `>From ` is not always reversible, so the ids of such messages differ.
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
                "{name:<14} {ends_name:<4} {messages:>8} {urls:>6} {same_ids:>8} {ambiguous:>9}  \
                 {result}"
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
