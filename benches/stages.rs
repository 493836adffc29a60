//! Measures the speed of each stage and of all stages: `cargo bench -p benches --bench stages`.
//!
//! Each benchmark asserts its count, so a wrong result fails even if it is fast.

mod generate;
#[path = "../tests/scene/rng.rs"]
mod rng;

use std::fmt::{self, Display, Formatter};
use std::hint::black_box;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use generate::{Kind, Mbox, mbox, prose};
use rng::Rng;
use urlspool::{Extractor, Finding, Message, Options, Source, grammar};
use urlspool_mail::split::{Block, Format, SplitOutput, messages};
use urlspool_record::record;
use urlspool_text::repair::{LogicalLine, WrappedText, unfold_wrapper};
use urlspool_text::scan::{Rules, Scanner, SchemelessPolicy};

fn main() {
    divan::main();
}

/// Size of each input in bytes.
const INPUT_BYTES: usize = 4 << 20;

fn scanner() -> Scanner {
    Scanner::new(Rules::Wide, SchemelessPolicy::Find, &[])
}

/// Counts the starts in a text without reading the URLs there.
fn starts(scanner: &Scanner, text: &[u8]) -> usize {
    let (mut from, mut count, mut starts) = (0, 0, scanner.starts(text));
    while let Some(start) = starts.next_from(from) {
        (from, count) = (start.resume, count + 1);
    }
    count
}

#[divan::bench]
fn scan_text_without_urls(bencher: Bencher<'_, '_>) {
    let (mut text, scanner) = (String::new(), scanner());
    prose(&mut text, INPUT_BYTES / 64, &mut Rng::seeded(1));
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        assert_eq!(starts(&scanner, black_box(text.as_bytes())), 0);
    });
}

#[divan::bench]
fn scan_dense_text(bencher: Bencher<'_, '_>) {
    let (
        Mbox {
            bytes: text, urls, ..
        },
        scanner,
    ) = (mbox(Kind::Dense, INPUT_BYTES), scanner());
    bencher
        .counter(BytesCount::of_slice(&text))
        .bench_local(|| {
            // Each `<URL:` has three starts: its bracket, `URL:`, and the URL.
            assert!(starts(&scanner, black_box(&text)) >= urls);
        });
}

/// A URL of each form.
const URLS: [&str; 12] = [
    "ftp://ann@ftp.example.org:21/pub/lamps/oil.tar.Z;type=i",
    "file://host.example/etc/motd",
    "http://www.example.org:8080/lamps/oil.html?wick",
    "gopher://gopher.example.org:70/7/lamps%09oil",
    "mailto:ann@mail.example.org",
    "news:comp.infosystems.www.misc",
    "news:1994.ann@mail.example.org",
    "nntp://news.example.org/comp.lamps/1738",
    "telnet://ann:oil@host.example.org:23/",
    "wais://wais.example.org/lamps?oil",
    "prospero://host.example.org:1525//pros/lamps;key=oil",
    "tn3270://ann@host.example.org:23/",
];

#[divan::bench(args = URLS)]
fn grammar(bencher: Bencher<'_, '_>, url: &str) {
    bencher.counter(ItemsCount::new(1usize)).bench_local(|| {
        assert!(grammar::Url::parse(black_box(url.as_bytes())).is_ok());
    });
}

#[divan::bench]
fn repair_of_wrappers(bencher: Bencher<'_, '_>) {
    let text =
        b"<URL:http://www.example.org/lamps/oil-\n   and-wicks/\n   index.html> ".repeat(1_000);
    let (scanner, mut line) = (scanner(), LogicalLine::default());
    bencher
        .counter(BytesCount::of_slice(&text))
        .bench_local(|| {
            let (mut from, mut closed, mut starts) = (0, 0, scanner.starts(&text));
            while let Some(start) = starts.next_from(from) {
                from = start.resume;
                if let WrappedText::Closed(close) =
                    unfold_wrapper(&text, &start, Rules::Wide, 8 << 10, &mut line)
                {
                    (from, closed) = (close + 1, closed + 1);
                }
            }
            assert_eq!(closed, 1_000);
        });
}

/// A message with one part, whose body repeats an encoded line.
fn one_part(head: &str, line: &str) -> Vec<u8> {
    format!(
        "Subject: x\nMIME-Version: 1.0\n{head}\n\n{}",
        line.repeat(INPUT_BYTES / line.len())
    )
    .into_bytes()
}

/// Number of URLs in a message.
fn urls_of(message: &[u8], extractor: &Extractor) -> usize {
    let mut count = 0;
    extractor.extract(
        &Message::parse(message),
        &Source::at("x".into()),
        &mut |finding| {
            count += usize::from(matches!(finding, Finding::Url(_)));
        },
    );
    count
}

/// A body in one encoding, for benchmarks of its decoder.
struct Body {
    name: &'static str,
    head: &'static str,
    line: &'static str,
}

impl Display for Body {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

const BODIES: [Body; 4] = [
    Body {
        name: "quoted-printable",
        head: "Content-Transfer-Encoding: quoted-printable",
        line: "caf=C3=A9 =3D coffee, and words and words=\n\n",
    },
    Body {
        name: "base64",
        head: "Content-Transfer-Encoding: base64",
        line: "VGhlIGxhbXAgd2FzIGxpdCwgYW5kIHRoZSB3aWNrIHdhcyBjdXQ7IG9pbCB3YXMgY2hlYXAK\n",
    },
    Body {
        name: "html",
        head: "Content-Type: text/html",
        line: "<p class=\"x\">The lamp &amp; the <b>wick</b>, they say.</p>\n",
    },
    Body {
        name: "latin-1",
        head: "Content-Type: text/plain; charset=iso-8859-1",
        line: "The lamp was lit, and the wick was cut, they say.\n",
    },
];

#[divan::bench(args = BODIES)]
fn decode(bencher: Bencher<'_, '_>, &Body { head, line, .. }: &Body) {
    let (message, extractor) = (one_part(head, line), Extractor::new(Options::default()));
    bencher
        .counter(BytesCount::of_slice(&message))
        .bench_local(|| {
            assert_eq!(urls_of(black_box(&message), &extractor), 0);
        });
}

#[divan::bench]
fn split_mbox(bencher: Bencher<'_, '_>) {
    let Mbox {
        bytes,
        messages: want,
        ..
    } = mbox(Kind::Sparse, INPUT_BYTES);
    let block = Block {
        bytes,
        ..Block::default()
    };
    bencher
        .counter(BytesCount::of_slice(&block.bytes))
        .bench_local(|| {
            let mut count = 0;
            messages(black_box(&block), Format::Mbox, &mut |divided| {
                count += usize::from(matches!(divided, SplitOutput::Message(_)));
            });
            assert_eq!(count, want);
        });
}

/// Encodes the record of a URL that is new to the writer, and of one that is known.
#[divan::bench(args = ["new", "known"])]
fn json_of_records(bencher: Bencher<'_, '_>, url: &str) {
    let (message, extractor) = (
        b"Subject: lamps\n\nhttp://www.example.org/\n",
        Extractor::new(Options::default()),
    );
    let mut bencher = Some(bencher);
    extractor.extract(
        &Message::parse(message),
        &Source::at("x".into()),
        &mut |finding| {
            if let (Finding::Url(found), Some(bencher)) = (finding, bencher.take()) {
                let (mut out, mut writer) = (Vec::new(), record::RecordWriter::default());
                bencher.counter(ItemsCount::new(1usize)).bench_local(|| {
                    out.clear();
                    if url == "new" {
                        writer = record::RecordWriter::default();
                    }
                    writer.write(black_box(found), &mut out);
                    assert!(out.ends_with(b"}\n"));
                });
            }
        },
    );
}

#[divan::bench(args = Kind::ALL.map(|(_, kind)| kind))]
fn whole_message_after_message(bencher: Bencher<'_, '_>, kind: Kind) {
    let Mbox {
        bytes, urls: want, ..
    } = mbox(kind, INPUT_BYTES);
    let block = Block {
        bytes,
        ..Block::default()
    };
    let (extractor, source) = (Extractor::new(Options::default()), Source::at("x".into()));
    let (mut out, mut writer) = (Vec::new(), record::RecordWriter::default());
    bencher
        .counter(BytesCount::of_slice(&block.bytes))
        .bench_local(|| {
            out.clear();
            let mut found = 0;
            messages(black_box(&block), Format::Mbox, &mut |divided| {
                let SplitOutput::Message(message) = divided else {
                    return;
                };
                writer.begin(record::MessageTail::Complete);
                extractor.extract(&message, &source, &mut |finding| {
                    if let Finding::Url(record) = finding {
                        writer.write(record, &mut out);
                        found += 1;
                    }
                });
            });
            assert_eq!(found, want);
        });
}
