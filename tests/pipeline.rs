//! Laws of the whole pipeline: any number of threads, any reads and any limits give the same; nothing is lost; nothing
//! breaks it.

mod input;
mod limits;

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::PathBuf;

use proptest::prelude::*;
use urlspool::diagnostic::{DiagnosticKind, Event};
use urlspool::extract::{Extractor, Finding, Options, extract};
use urlspool::limits::Limits;
use urlspool::origin::{Source, SourceKind};
use urlspool::pipeline::{Job, Report, run};
use urlspool::record::{self, Summary};
use urlspool::split::{Block, BlockReader, BlockRole, Format, Message, SplitOutput, messages};

use crate::scene::{Folder, Rng, corpus, files, lines, url};
use input::{hostile, mailbox, mutated};

/// Cases that do not hold yet. The test fails when one does, so that it is taken out here.
const GAPS: &[&str] = &[];

/// Asserts that a case holds, or does not if it is a known gap.
#[track_caller]
fn unless_a_gap(case: &str, holds: bool, why: &str) {
    if GAPS.contains(&case) {
        assert!(!holds, "{case} holds now: take it out of GAPS");
    } else {
        assert!(holds, "{case}: {why}");
    }
}

/// All that a run says.
#[derive(Debug, Default, PartialEq)]
struct Told {
    records: Vec<u8>,
    rejects: Vec<u8>,
    events: Vec<Event>,
    messages: u64,
}

impl Report for Told {
    fn records(&mut self, batch: &[u8]) -> io::Result<bool> {
        self.records.extend_from_slice(batch);
        Ok(true)
    }

    fn rejects(&mut self, batch: &[u8]) -> io::Result<()> {
        self.rejects.extend_from_slice(batch);
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.events.push(event.clone());
        Ok(())
    }

    fn progress(&mut self, _: &Summary) {}
}

impl Told {
    fn urls(&self) -> Vec<String> {
        lines(&self.records).iter().map(url).collect()
    }

    fn kinds(&self) -> Vec<DiagnosticKind> {
        self.events
            .iter()
            .map(|event| event.diagnostic.kind)
            .collect()
    }
}

/// A run over these roots, whose balance must hold and must count what was said.
#[track_caller]
fn told(roots: Vec<PathBuf>, format: Option<Format>, threads: usize, limits: Limits) -> Told {
    let job = Job {
        roots,
        format,
        threads,
        rejects: true,
        ..Job::default()
    };
    let mut told = Told::default();
    let mut options = Options::default();
    options.limits = limits;
    let extractor = Extractor::new(options);
    let balance = run(&job, &extractor, &mut told).expect("a Vec takes all");
    assert_eq!(balance.imbalances(), [""; 0]);
    let count = |octets: &[u8]| lines(octets).len() as u64;
    assert_eq!(balance.records + balance.unwrapped, count(&told.records));
    assert_eq!(balance.rejects.values().sum::<u64>(), count(&told.rejects));
    assert_eq!(
        balance.events.values().sum::<u64>(),
        told.events.len() as u64
    );
    told.messages = balance.messages;
    told
}

/// The records of blocks, each read by itself.
fn records(blocks: impl IntoIterator<Item = Block>, format: Format) -> Vec<u8> {
    let extractor = Extractor::new(Options::default());
    let source = Source::at("box".into());
    let (mut out, mut writer) = (Vec::new(), record::RecordWriter::default());
    for block in blocks {
        messages(&block, format, &mut |divided| {
            let SplitOutput::Message(message) = divided else {
                return;
            };
            writer.begin(record::MessageTail::Complete);
            extract(&message, &source, &extractor, &mut |finding| {
                if let Finding::Url(found) | Finding::Unwrapped(found) = finding {
                    writer.write(found, &mut out);
                }
            });
        });
    }
    out
}

/// What was written of a URL before is copied: the same line as if it came for the first time, whatever its place.
#[test]
fn a_record_is_the_same_whatever_was_written_before() {
    let mut options = Options::default();
    options.strip_recipient = true;
    let extractor = Extractor::new(options);
    let source = Source::at("box".into());
    let mut writer = record::RecordWriter::default();
    let mut compared = 0;
    let hosts = (0..600)
        .map(|number| format!("<http://h{}.example/#{}>", number % 301, number % 2))
        .collect::<Vec<_>>();
    let page = "Content-Type: text/html\n\n<a href='http://a.example/'>b.example</a> <a href='http://a.example/'>x</a>";
    let own = [hosts.join("\n").into_bytes(), page.as_bytes().repeat(2)];
    for octets in files(&corpus())
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .chain(own)
    {
        // Each twice, so that all its URLs stood before.
        for message in [Message::parse(&octets), Message::parse(&octets)] {
            writer.begin(record::MessageTail::Complete);
            extract(&message, &source, &extractor, &mut |finding| {
                if let Finding::Url(found) | Finding::Unwrapped(found) = finding {
                    let (mut used, mut new) = (Vec::new(), Vec::new());
                    writer.write(found, &mut used);
                    record::RecordWriter::default().write(found, &mut new);
                    assert_eq!(String::from_utf8(used), String::from_utf8(new));
                    compared += 1;
                }
            });
        }
    }
    assert!(compared > 1600, "{compared}");
}

#[test]
fn any_number_of_threads_gives_the_same_octets() {
    let folder = Folder::new();
    let large = folder.write("large.mbox", mailbox(&mut Rng::seeded(1), 8 << 20));
    let roots = || {
        vec![
            corpus().join("text"),
            large.clone(),
            corpus().join("mail"),
            corpus().join("news"),
        ]
    };
    let one = told(roots(), None, 1, Limits::default());
    assert!(lines(&one.records).len() > 1_000);
    for threads in [2, 8] {
        let many = told(roots(), None, threads, Limits::default());
        assert!(one == many, "{threads} threads say something else");
    }
}

/// A stream that gives as much as it likes, down to one byte, and is interrupted now and then.
struct Fits<'a>(&'a [u8], Rng);

impl urlspool::read::SparseRead for Fits<'_> {}

impl Read for Fits<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.1.below(50) == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = (1 + self.1.below(9_000))
            .min(buffer.len())
            .min(self.0.len());
        let (now, later) = self.0.split_at(len);
        buffer[..len].copy_from_slice(now);
        self.0 = later;
        Ok(len)
    }
}

#[test]
fn any_reads_give_the_same_octets() {
    let text = mailbox(&mut Rng::seeded(2), 5 << 20);
    let whole = Block {
        bytes: text.clone(),
        offset: 0,
        role: BlockRole::Whole,
    };
    let want = records([whole], Format::Mbox);
    assert!(lines(&want).len() > 1_000);
    for seed in 3..5 {
        let start = text[..Rng::seeded(seed).below(70_000)].to_vec();
        let stream = Fits(&text[start.len()..], Rng::seeded(seed));
        let mut roller =
            BlockReader::new(stream, start, Format::Mbox, Limits::default().message_bytes);
        let blocks: Vec<_> = std::iter::from_fn(|| roller.next_block().unwrap()).collect();
        assert!(
            blocks.len() > 2,
            "the stream is one block: the law is not tried"
        );
        assert!(records(blocks, Format::Mbox) == want, "seed {seed}");
    }
}

/// Holds a run over these bytes to all that must be so whatever they are.
#[track_caller]
fn hold(octets: &[u8], format: Option<Format>) {
    let folder = Folder::new();
    let told = told(
        vec![folder.write("1", octets)],
        format,
        1,
        Limits::default(),
    );
    assert!(
        !told.kinds().contains(&DiagnosticKind::Panic),
        "{:?}",
        told.events
    );
    let mut ids = BTreeSet::new();
    let mut last = 0;
    for record in lines(&told.records) {
        let number =
            |part: &str, name: &str| usize::try_from(record[part][name].as_u64().unwrap()).unwrap();
        let (start, end) = (number("source", "start"), number("source", "end"));
        let (begins, ends) = (number("message", "start"), number("message", "end"));
        assert!(
            begins <= start && start <= end && end <= ends && ends <= octets.len(),
            "{record}"
        );
        assert!(last <= begins, "messages come in order: {record}");
        last = begins;
        assert!(
            ids.insert((begins, record["id"].to_string())),
            "no id comes twice in a message: {record}"
        );
        let raw = record["raw"].as_str().unwrap();
        if format == Some(Format::Text) && raw.is_ascii() && record["source"]["exact"] == true {
            assert_eq!(raw.as_bytes(), &octets[start..end], "{record}");
        }
        let confidence = record["confidence"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&confidence), "{record}");
        let alternates: Vec<_> = record["alternates"]
            .as_array()
            .unwrap()
            .iter()
            .map(url)
            .collect();
        let different: BTreeSet<_> = alternates.iter().chain([&url(&record)]).cloned().collect();
        assert_eq!(
            different.len(),
            alternates.len() + 1,
            "alternates are all different: {record}"
        );
    }
}

/// As the program recognises it, or as the user says.
const FORMATS: &[Option<Format>] = &[
    None,
    Some(Format::Mbox),
    Some(Format::Single(SourceKind::Message)),
    Some(Format::Text),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_read_adds_up(octets in hostile(), format in prop::sample::select(FORMATS)) {
        hold(&octets, format);
    }
}

#[test]
fn damaged_fixtures_add_up() {
    let mut rng = Rng::seeded(7);
    for path in files(&corpus()) {
        let octets = std::fs::read(&path).unwrap();
        for _ in 0..8 {
            hold(&mutated(&octets, &mut rng), None);
        }
    }
}

/// A stream is cut into blocks, which nobody must be able to tell from the URLs.
#[test]
fn no_url_is_lost_where_a_stream_is_cut() {
    const STEP: usize = 64 << 10;
    for (lay, filler, wrapper) in [
        (
            "lines",
            "words and words\n",
            ["http://", ".example/path/to/it"],
        ),
        (
            "wrappers over lines",
            "words and words\n",
            ["<URL:http://", ".exam\n   ple/path/to/it>"],
        ),
        (
            "wrappers over pages",
            "words and words\n\n",
            [
                "<URL:http://",
                ".exam\n\nLampwick [Page 7]\n\x0C\nRFC 1738 Lamps December 1994\n\n   ple/path/to/it>",
            ],
        ),
        (
            "paragraphs",
            "words and words\n\n",
            ["<URL:http://", ".exam\n   ple/path/to/it>"],
        ),
        (
            "one line",
            "words and words ",
            ["http://", ".example/path/to/it"],
        ),
    ] {
        let mut text = String::new();
        let mut want = Vec::new();
        for n in 1..=(5 << 20) / STEP {
            // A step further back each time, so that every byte of a URL falls on a border once.
            let begin = n * STEP - n % 40;
            while text.len() + filler.len() < begin {
                text += filler;
            }
            text += &" ".repeat(begin - text.len() - 1);
            text.extend([" ", wrapper[0], &format!("h{n}"), wrapper[1], " "]);
            want.push(format!("http://h{n}.example/path/to/it"));
        }
        let folder = Folder::new();
        let found = told(
            vec![folder.write("text", &text)],
            None,
            2,
            Limits::default(),
        )
        .urls();
        let right = found.iter().filter(|url| want.contains(url)).count();
        unless_a_gap(lay, found == want, &format!("{right} of {}", want.len()));
        // A message is whole, so one lay will do.
        if lay == "lines" {
            let mail = format!("From a\nSubject: x\n\n{text}\n");
            assert!(
                told(vec![folder.write("mail", mail)], None, 2, Limits::default()).urls() == want
            );
        }
    }
}
