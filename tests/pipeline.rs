//! Properties of the whole pipeline: the output does not depend on threads, sizes of reads or
//! limits, no URL is lost, and no input breaks it.

mod input;
mod limits;
mod opened_input;

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::PathBuf;

use proptest::prelude::*;
use urlspool_files::pipeline::{Job, run};
use urlspool_mail::split::{Block, BlockReader, BlockRole, Format, Message, SplitOutput, messages};
use urlspool_record::extract::{Extractor, Finding, Options};
use urlspool_record::record;
use urlspool_text::diagnostic::DiagnosticKind;
use urlspool_text::limits::{BATCH_FILES, BLOCK_BYTES, Limits, SMALL_CONTAINER_BYTES};
use urlspool_text::origin::{Source, SourceKind};

use crate::containers::gzip;
use crate::scene::{Folder, Rng, RunOutput, corpus, files, lines, url};
use input::{hostile, mailbox, mutated};

/// Cases that do not hold yet. The test fails when one holds, so that it is removed here.
const GAPS: &[&str] = &[];

/// Asserts that a case holds, or that it does not hold if it is a known gap.
#[track_caller]
fn check_unless_gap(case: &str, holds: bool, why: &str) {
    if GAPS.contains(&case) {
        assert!(!holds, "{case} holds now: remove it from GAPS");
    } else {
        assert!(holds, "{case}: {why}");
    }
}

/// Runs over these roots. Asserts that the summary is consistent and matches the reports.
#[track_caller]
fn run_over(
    roots: Vec<PathBuf>,
    format: Option<Format>,
    threads: usize,
    limits: Limits,
) -> RunOutput {
    let job = Job {
        roots,
        format,
        threads,
        rejects: true,
        ..Job::default()
    };
    let mut output = RunOutput::default();
    let mut options = Options::default();
    options.limits = limits;
    let extractor = Extractor::new(options);
    let summary = run(&job, &extractor, &mut output).expect("a Vec takes all");
    assert_eq!(summary.imbalances(), [""; 0]);
    let count = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count() as u64;
    assert_eq!(summary.records, count(&output.records));
    assert_eq!(summary.rejects.sum(), count(&output.rejects));
    assert_eq!(summary.events.sum(), output.events.len() as u64);
    output.summary = summary;
    output
}

/// Extracts the records of each block separately.
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
            extractor.extract(&message, &source, &mut |finding| {
                if let Finding::Url(found) | Finding::Unwrapped(found) = finding {
                    writer.write(found, &mut out);
                }
            });
        });
    }
    out
}

/// The writer copies its output for a repeated URL. The line is as for the first occurrence.
#[test]
fn a_record_does_not_depend_on_earlier_records() {
    let mut options = Options::default();
    options.strip_recipient = true;
    let extractor = Extractor::new(options);
    let source = Source::at("box".into());
    let mut writer = record::RecordWriter::default();
    let mut compared = 0;
    let hosts = (0..600)
        .map(|number| format!("<http://h{}.example/#{}>", number % 301, number % 2))
        .collect::<Vec<_>>();
    let page = "Content-Type: text/html\n\n<a href='http://a.example/'>b.example</a> <a \
        href='http://a.example/'>x</a>";
    let own = [hosts.join("\n").into_bytes(), page.as_bytes().repeat(2)];
    for bytes in files(&corpus())
        .iter()
        .map(|path| std::fs::read(path).unwrap())
        .chain(own)
    {
        // Each message is written twice, so that all its URLs are repeated.
        for message in [Message::parse(&bytes), Message::parse(&bytes)] {
            writer.begin(record::MessageTail::Complete);
            extractor.extract(&message, &source, &mut |finding| {
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
fn any_number_of_threads_writes_the_same_bytes() {
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
    let one = run_over(roots(), None, 1, Limits::default());
    assert!(lines(&one.records).len() > 1_000);
    for threads in [2, 8] {
        let many = run_over(roots(), None, threads, Limits::default());
        assert!(one == many, "{threads} threads give another result");
    }
}

/// A stream whose reads return any number of bytes, down to one, with occasional interrupts.
struct UnevenReads<'a>(&'a [u8], Rng);

impl urlspool_sources::read::SparseRead for UnevenReads<'_> {}

impl Read for UnevenReads<'_> {
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
fn any_sizes_of_reads_yield_the_same_bytes() {
    let text = mailbox(&mut Rng::seeded(2), 5 << 20);
    let whole = Block {
        bytes: text.clone(),
        offset: 0,
        role: BlockRole::Whole,
        unpacked_times: 0,
    };
    let want = records([whole], Format::Mbox);
    assert!(lines(&want).len() > 1_000);
    for seed in 3..5 {
        let stream = Box::new(UnevenReads(&text, Rng::seeded(seed)));
        let mut roller = BlockReader::new(stream, Format::Mbox, Limits::default().message_bytes);
        let blocks: Vec<_> = std::iter::from_fn(|| roller.next_block().unwrap()).collect();
        // The stream has more than one block.
        assert!(blocks.len() > 1);
        assert!(records(blocks, Format::Mbox) == want, "seed {seed}");
    }
}

/// Runs over these bytes and asserts every property that holds for all input.
#[track_caller]
fn check_invariants(bytes: &[u8], format: Option<Format>) {
    let folder = Folder::new();
    let output = run_over(vec![folder.write("1", bytes)], format, 1, Limits::default());
    assert!(
        !output.kinds().contains(&DiagnosticKind::Panic),
        "{:?}",
        output.events
    );
    let mut ids = BTreeSet::new();
    let mut last = 0;
    for record in lines(&output.records) {
        let number =
            |part: &str, name: &str| usize::try_from(record[part][name].as_u64().unwrap()).unwrap();
        let (start, end) = (number("source", "start"), number("source", "end"));
        let (begins, ends) = (number("message", "start"), number("message", "end"));
        // Offsets in a member of an archive refer to the decompressed member.
        let in_file = record["source"]["member"].is_array() || ends <= bytes.len();
        assert!(
            begins <= start && start <= end && end <= ends && in_file,
            "{record}"
        );
        assert!(last <= begins, "messages come in order: {record}");
        last = begins;
        assert!(
            ids.insert((begins, record["id"].to_string())),
            "no id comes twice in a message: {record}"
        );
        let raw = record["raw"].as_str().unwrap();
        // In an HTML page `raw` is the visible text, without tags and references inside the URL.
        let is_plain =
            format == Some(Format::Text) && record["part"]["type"].as_str() != Some("text/html");
        if is_plain && raw.is_ascii() && record["source"]["exact"] == true {
            assert_eq!(raw.as_bytes(), &bytes[start..end], "{record}");
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

/// The detected format, or a format chosen by the user.
const FORMATS: &[Option<Format>] = &[
    None,
    Some(Format::Mbox),
    Some(Format::Single(SourceKind::Message)),
    Some(Format::Text),
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn any_input_keeps_the_invariants(bytes in hostile(), format in prop::sample::select(FORMATS)) {
        check_invariants(&bytes, format);
    }
}

#[test]
fn damaged_fixtures_keep_the_invariants() {
    let mut rng = Rng::seeded(7);
    for path in files(&corpus()) {
        let bytes = std::fs::read(&path).unwrap();
        for _ in 0..3 {
            check_invariants(&mutated(&bytes, &mut rng), None);
        }
    }
}

/// Streams are cut into blocks, and no cut may change a URL.
#[test]
fn no_url_is_lost_where_a_stream_is_cut() {
    const STEP: usize = 64 << 10;
    for (layout, filler, wrapper) in [
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
                ".exam\n\nLampwick [Page 7]\n\x0C\nRFC 1738 Lamps December 1994\n\
                 \n   ple/path/to/it>",
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
            // One byte earlier each time, so that each byte of a URL is on a border once.
            let begin = n * STEP - n % 40;
            while text.len() + filler.len() < begin {
                text += filler;
            }
            text += &" ".repeat(begin - text.len() - 1);
            text.extend([" ", wrapper[0], &format!("h{n}"), wrapper[1], " "]);
            want.push(format!("http://h{n}.example/path/to/it"));
        }
        let folder = Folder::new();
        let found = run_over(
            vec![folder.write("text", &text)],
            None,
            2,
            Limits::default(),
        )
        .urls();
        let right = found.iter().filter(|url| want.contains(url)).count();
        check_unless_gap(layout, found == want, &format!("{right} of {}", want.len()));
        // A message is never cut, so one layout is enough.
        if layout == "lines" {
            let mail = format!("From a\nSubject: x\n\n{text}\n");
            assert!(
                run_over(vec![folder.write("mail", mail)], None, 2, Limits::default()).urls()
                    == want
            );
        }
    }
}

/// Small compressed files with large content are read in order, while other threads wait.
#[test]
fn small_files_with_large_content_come_at_their_place() {
    let folder = Folder::new();
    let filler = "words and words\n".repeat(BLOCK_BYTES / 16);
    // Records of nine kilobytes, so that each message fills several batches.
    let long = "a".repeat(4_000);
    let rich = |name: &str| {
        let urls: String = (0..300)
            .map(|number| format!("http://{name}.example/{number}\n"))
            .collect();
        format!("From a\nFrom: {long}\nSubject: {long}\n\n{urls}\n")
    };
    for number in 0..2 {
        let text: String = (0..3)
            .map(|part| rich(&format!("packed{number}-{part}")) + &filler)
            .collect();
        assert!(SMALL_CONTAINER_BYTES < text.len() as u64);
        folder.write(format!("{number}a.gz"), gzip(text.as_bytes()));
        folder.write(format!("{number}b"), rich(&format!("plain{number}")));
        for small in 1..BATCH_FILES {
            folder.write(format!("{number}c{small:03}"), "no URL\n");
        }
    }
    let roots = || vec![folder.path("")];
    let one = run_over(roots(), None, 1, Limits::default());
    assert_eq!(one.urls().len(), 2 * 4 * 300);
    for threads in [2, 4] {
        let many = run_over(roots(), None, threads, Limits::default());
        assert!(one == many, "{threads} threads give another result");
    }
}
