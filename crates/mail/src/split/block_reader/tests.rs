//! Tests that messages stay whole at any block size.

use std::io::{self, Read};
use std::sync::Arc;

use super::super::{BlockRole, Format, FragmentHead, LineEnds, SplitOutput, cr_to_lf, messages};
use super::{BlockReader, SourceStart, first_message};
use urlspool_sources::read::{SeekableInput, SparseRead};
use urlspool_text::diagnostic::SkipReason;
use urlspool_text::limits::{BLOCK_BYTES, MESSAGE_PREFIX_BYTES, SNIFF_BYTES};
use urlspool_text::origin::{FormatHint, SourceKind};

/// Returns the length, offset and role of each block of a text that is read in small pieces.
fn blocks(text: &[u8], format: Format, max_message_bytes: usize) -> Vec<(usize, u64, BlockRole)> {
    struct SmallReads<'a>(&'a [u8]);
    impl SparseRead for SmallReads<'_> {}
    impl Read for SmallReads<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            // A prime number: pieces end at any position in a line.
            let piece = buffer.len().min(61);
            self.0.read(&mut buffer[..piece])
        }
    }
    let mut reader = BlockReader::new(Box::new(SmallReads(text)), format, max_message_bytes);
    let mut seen = Vec::new();
    while let Some(block) = reader.next_block().unwrap() {
        seen.push((block.bytes.len(), block.offset, block.role));
    }
    seen
}

#[test]
fn small_blocks_take_little_memory() {
    let text = "From x\n\n".to_owned() + &"a b\n".repeat(50);
    let stream = Box::new(text.as_bytes());
    let block = BlockReader::new(stream, Format::Mbox, usize::MAX)
        .next_block()
        .unwrap()
        .unwrap();
    assert_eq!(block.bytes, text.as_bytes());
    assert!(
        block.bytes.capacity() <= 4 * text.len(),
        "{}",
        block.bytes.capacity()
    );
}

fn line_ends(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

#[test]
fn fragments_of_a_text_know_its_start() {
    let text = "words and words\n".repeat(400_000);
    let mut before = 0;
    for (len, offset, role) in blocks(text.as_bytes(), Format::Text, 0) {
        let fragment = (offset > 0).then(|| {
            let lines = line_ends(&text.as_bytes()[..before]);
            let beginning = Arc::new(text.as_bytes()[..MESSAGE_PREFIX_BYTES].to_vec());
            BlockRole::LaterFragment(FragmentHead {
                start: 0,
                line_ends: lines,
                head: beginning,
                format: Format::Text,
            })
        });
        assert_eq!(role, fragment.unwrap_or_default());
        before += len;
    }
    assert!(before == text.len());
}

#[test]
fn a_text_is_cut_at_the_same_places_for_any_read_size() {
    let text = "words and words\n\n".repeat(2 * BLOCK_BYTES / 10);
    let stream: &[u8] = &[];
    let start = SourceStart::of_bytes(text.clone().into_bytes());
    let mut reader = BlockReader::after_start(Box::new(stream), start, Format::Text, usize::MAX);
    let mut seen = Vec::new();
    while let Some(block) = reader.next_block().unwrap() {
        seen.push((block.bytes.len(), block.offset, block.role));
    }
    assert!(seen.len() > 2);
    assert_eq!(seen, blocks(text.as_bytes(), Format::Text, 0));
}

#[test]
fn blocks_end_where_messages_do() {
    let message = format!("From a\nA: b\n\n{}\n", "x\n".repeat(400_000));
    let text = message.repeat(5);
    let seen = blocks(text.as_bytes(), Format::Mbox, 0);
    assert!(seen.len() > 1);
    assert!(
        seen.iter()
            .all(|(len, _, role)| len % message.len() == 0 && *role == BlockRole::Whole)
    );
    assert_eq!(seen.iter().map(|(len, ..)| len).sum::<usize>(), text.len());
}

#[test]
fn bytes_before_an_error_come_before_the_error() {
    struct FailingStream(bool);
    impl SparseRead for FailingStream {}
    impl Read for FailingStream {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if std::mem::replace(&mut self.0, true) {
                return Err(io::Error::other("broken"));
            }
            buffer[..3].copy_from_slice(b"abc");
            Ok(3)
        }
    }
    let mut reader = BlockReader::new(Box::new(FailingStream(false)), Format::Text, 0);
    assert_eq!(reader.next_block().unwrap().unwrap().bytes, b"abc");
    assert_eq!(reader.next_block().unwrap_err().to_string(), "broken");
    assert!(reader.next_block().unwrap().is_none());
}

#[test]
fn a_message_beyond_the_limit_comes_in_fragments() {
    let large = format!("From a\nA: b\n\n{}\n", "words and words\n".repeat(400_000));
    let text = format!("{large}From b\nC: d\n\nx\n");
    let seen = blocks(text.as_bytes(), Format::Mbox, 0);
    assert_eq!(seen[0].2, BlockRole::FirstFragment);
    let BlockRole::LaterFragment(fragment) = &seen[1].2 else {
        panic!("{:?}", seen[1].2)
    };
    assert_eq!(
        (fragment.start, fragment.line_ends),
        (0, line_ends(&text.as_bytes()[..seen[0].0]))
    );
    assert!(text.as_bytes().starts_with(&fragment.head));
    assert_eq!(
        seen.last().map(|last| (last.1, &last.2)),
        Some((large.len() as u64, &BlockRole::Whole))
    );
    assert_eq!(seen.iter().map(|(len, ..)| len).sum::<usize>(), text.len());
}

#[test]
fn a_separator_is_found_wherever_a_fragment_ends() {
    let large = format!(
        "From a\nA: b\n\n{}\n",
        format!("words {}\n", "<and words ".repeat(20)).repeat(10_000)
    );
    for shift in 0..24 {
        let text = format!("{large}{}\n\nFrom b\nC: d\n\nx\n", "y".repeat(shift));
        let at = (large.len() + shift + 2) as u64;
        assert!(
            blocks(text.as_bytes(), Format::Mbox, 0)
                .iter()
                .any(|&(_, offset, _)| offset == at),
            "{shift}"
        );
    }
}

/// The first message's separator is the last separator of the first block.
#[test]
fn blank_lines_before_a_large_first_message_belong_to_it() {
    let large = format!("From a\nA: b\n\n{}", "words\n".repeat(BLOCK_BYTES / 3));
    for blank in ["", "\n", "\r\n\n", &"\n".repeat(40_000)] {
        let text = format!("{blank}{large}\nFrom b\nC: d\n\nx\n");
        for format in [Format::Mbox, Format::Mboxcl] {
            let seen = blocks(text.as_bytes(), format, 8 * BLOCK_BYTES);
            assert!(large.len() < seen[0].0, "{format:?}: {seen:?}");
        }
    }
}

#[test]
fn content_lengths_hold_over_the_borders_of_blocks() {
    let body = format!(
        "{}\nFrom x\nA: b\n\n{}",
        "words\n".repeat(100_000),
        "words\n".repeat(100_000)
    );
    let message = format!("From a\nContent-Length: {}\n\n{body}\n", body.len());
    let text = message.repeat(5);
    let seen = blocks(text.as_bytes(), Format::Mboxcl, 0);
    assert!(seen.len() > 1);
    assert!(
        seen.iter()
            .all(|(len, _, role)| len % message.len() == 0 && *role == BlockRole::Whole)
    );
    assert_eq!(seen.iter().map(|(len, ..)| len).sum::<usize>(), text.len());
}

#[test]
fn other_formats_are_cut_between_their_messages_too() {
    let body = format!("A: b\n\n{}", "words\n".repeat(100_000));
    for (format, head, one) in [
        (
            Format::Rnews,
            "",
            format!("#! rnews {}\n{body}", body.len()),
        ),
        (Format::Mmdf, "", format!("\u{1}\u{1}\u{1}\u{1}\n{body}")),
        (
            Format::Babyl,
            "BABYL OPTIONS:\n",
            format!("\u{1f}\u{c}\n0,,\n*** EOOH ***\n{body}"),
        ),
    ] {
        let text = format!("{head}{}", one.repeat(9));
        let seen = blocks(text.as_bytes(), format, 0);
        assert!(seen.len() > 1, "{format:?}");
        assert!(
            seen.iter()
                .all(|&(_, at, _)| at == 0 || (at as usize - head.len()).is_multiple_of(one.len())),
            "{format:?}"
        );
        assert_eq!(seen.iter().map(|(len, ..)| len).sum::<usize>(), text.len());
    }
}

#[test]
fn byte_ranges_of_an_mbox_hold_all_messages_wherever_it_is_cut() {
    let body = "x\n\nFrom c\nD: e\n\ny\n";
    let plain = format!(
        "\nFrom a\nA: b\n\nx\nFrom y\nz\n\n{}",
        "From a\nA: b\n\nx\n\n".repeat(3)
    );
    let measured = format!("From a\nContent-Length: {}\n\n{body}\n", body.len()).repeat(3);
    for (text, format) in [(plain, Format::Mbox), (measured, Format::Mboxcl)] {
        for text in [text.clone(), text.replace('\n', "\r\n")] {
            let input = SeekableInput::memory(text.clone().into_bytes());
            let starts = |from: usize, to: usize| {
                let Some(start) =
                    first_message(&input, 0, format, 0, &(from as u64..to as u64)).unwrap()
                else {
                    return vec![];
                };
                let stream = input.stream_at(start);
                let mut reader =
                    BlockReader::in_range(Box::new(stream), format, 0, start..to as u64);
                let mut seen = Vec::new();
                while let Some(block) = reader.next_block().unwrap() {
                    messages(&block, format, &mut |output| {
                        if let SplitOutput::Message(message) = output {
                            seen.push((message.start, message.end()));
                        }
                    });
                }
                seen
            };
            let whole = starts(0, text.len());
            assert_eq!(whole.last().map(|last| last.1), Some(text.len() as u64));
            for cut in 0..=text.len() {
                let both: Vec<_> = starts(0, cut)
                    .into_iter()
                    .chain(starts(cut, text.len()))
                    .collect();
                assert_eq!(both, whole, "{format:?} cut at {cut}");
            }
        }
    }
}

/// Stream that pauses after each piece.
struct PausingStream<'p> {
    bytes: &'p [u8],
    piece: usize,
    is_paused: bool,
}

impl Read for PausingStream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(buffer)
    }
}

impl SparseRead for PausingStream<'_> {
    fn append(&mut self, max: usize, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let piece = max.min(self.piece) as u64;
        let read = Read::take(&mut *self, piece).read_to_end(bytes)?;
        self.is_paused = read < max && !self.bytes.is_empty();
        Ok(read)
    }

    fn is_paused(&self) -> bool {
        self.is_paused
    }
}

/// Start, bytes and, for a fragment, role of each message.
type Divided = Vec<(u64, Vec<u8>, Option<BlockRole>)>;

/// Returns the messages of a stream, and the number of pauses after which messages had ended.
fn divided(stream: impl SparseRead, max_message_bytes: usize) -> (Divided, usize) {
    let mut stream = stream;
    let start = SourceStart::read(&mut stream).unwrap();
    let format = start.format(None, FormatHint::None).unwrap();
    let mut reader = BlockReader::after_start(Box::new(stream), start, format, max_message_bytes);
    let (mut found, mut pauses) = (Divided::new(), 0);
    loop {
        let block = reader.next_block().unwrap();
        pauses += usize::from(block.is_some() && reader.is_waiting());
        let Some(block) = block else {
            if reader.is_waiting() {
                continue;
            }
            return (found, pauses);
        };
        let role = (block.role != BlockRole::Whole).then(|| block.role.clone());
        messages(&block, reader.format(), &mut |output| {
            if let SplitOutput::Message(message) = output {
                found.push((message.start, message.raw.to_vec(), role.clone()));
            }
        });
    }
}

/// A writer's pauses affect the time at which messages arrive, not their content.
#[test]
fn a_stream_that_pauses_has_the_same_messages() {
    let mail = |number: usize| {
        let body = "words and http://a.example/ words\n".repeat(number * number % 90);
        format!("From: a@b.example\nSubject: {number}\n\n{body}\nFrom here on\n{body}")
    };
    let mbox = |number: usize| format!("From a@b Mon Jan  1 00:00:00 1996\n{}\n", mail(number));
    let mboxcl = |number: usize| {
        let mail = mail(number);
        let body = mail.len() - mail.find("\n\n").unwrap() - 2;
        format!("From a@b Mon Jan  1 00:00:00 1996\nContent-Length: {body}\n{mail}\n")
    };
    let mmdf = |number: usize| {
        let line = "\x01\x01\x01\x01\n";
        format!("{line}{}{line}", mail(number))
    };
    let rnews = |number: usize| format!("#! rnews {}\n{}", mail(number).len(), mail(number));
    let babyl = |number: usize| format!("\x1F\x0C\n0,,\n*** EOOH ***\n{}", mail(number));
    let all = |message: &dyn Fn(usize) -> String| (0..60).map(message).collect::<String>();
    let cases = [
        all(&mbox),
        all(&mboxcl),
        mbox(0) + &mbox(1) + &all(&mboxcl),
        // Content-Length fields after the bytes used for detection do not count.
        all(&mbox) + &all(&mbox) + &all(&mboxcl),
        all(&mmdf),
        all(&rnews),
        "BABYL OPTIONS:\n".to_owned() + &all(&babyl),
        "\n\n".to_owned() + &all(&mbox),
        "\0".repeat(2 * SNIFF_BYTES + 500) + &all(&mbox),
        // A message that is read in fragments.
        mbox(1) + &mbox(2).replace("words", &"long ".repeat(30_000)) + &mbox(3),
        mail(80),
        "words and words\n".repeat(20_000),
    ];
    for (case, text) in cases.iter().enumerate() {
        for (ends, max) in [
            ("\n", BLOCK_BYTES),
            ("\r\n", BLOCK_BYTES),
            ("\n", BLOCK_BYTES / 8 * 9),
        ] {
            let text = text.replace('\n', ends);
            let (whole, _) = divided(text.as_bytes(), max);
            for piece in [701, 5_003, 70_001] {
                if text.len() > 1_000 * piece {
                    continue;
                }
                let stream = PausingStream {
                    bytes: text.as_bytes(),
                    piece,
                    is_paused: false,
                };
                let (found, pauses) = divided(stream, max);
                let shown = format!("case {case}, pieces of {piece} bytes, at most {max}");
                assert!(found == whole, "{shown}");
                let has_borders = case < 10;
                assert_eq!(0 < pauses, has_borders, "{shown}");
            }
        }
    }
}

/// A stream that returns a few bytes at a time and may fail at the end.
struct Pipe<'p> {
    bytes: &'p [u8],
    fails: bool,
}

impl SparseRead for Pipe<'_> {}

impl Read for Pipe<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.fails && self.bytes.is_empty() {
            return Err(io::Error::other("broken"));
        }
        let len = buffer.len().min(10_007);
        self.bytes.read(&mut buffer[..len])
    }
}

#[test]
fn a_source_starts_after_its_nul_bytes() {
    let mail = [
        b"From: a@b.example\r\rhttp://a.example/".as_slice(),
        &vec![b'x'; SNIFF_BYTES],
    ]
    .concat();
    let message = Ok(Format::Single(SourceKind::Message));
    for nuls in [
        0,
        1,
        SNIFF_BYTES - 1,
        SNIFF_BYTES,
        SNIFF_BYTES + 1,
        5 * SNIFF_BYTES / 2,
    ] {
        let all = [vec![0; nuls], mail.clone()].concat();
        let mut pipe = Pipe {
            bytes: &all,
            fails: false,
        };
        let read = SourceStart::read(&mut pipe).unwrap();
        let whole = SourceStart::of_bytes(all.clone());
        for start in [&read, &whole] {
            assert_eq!(start.offset, nuls as u64);
            assert_eq!(start.line_ends, LineEnds::Cr);
            assert_eq!(start.format(None, FormatHint::None), message);
            assert_eq!(start.bytes[..20], *b"From: a@b.example\n\nh");
        }
        assert_eq!(read.bytes, whole.bytes[..SNIFF_BYTES]);
    }
}

#[test]
fn nul_bytes_alone_are_binary_in_any_named_format() {
    for nuls in [1, SNIFF_BYTES, 3 * SNIFF_BYTES] {
        let start = SourceStart::of_bytes(vec![0; nuls]);
        for given in [None, Some(Format::Mbox), Some(Format::Text)] {
            assert_eq!(
                start.format(given, FormatHint::None),
                Err(SkipReason::Binary)
            );
            assert_eq!(start.splittable_format(given, FormatHint::None), None);
        }
        let mut failing = Pipe {
            bytes: &vec![0; nuls],
            fails: true,
        };
        assert!(SourceStart::read(&mut failing).is_err());
    }
    let empty = SourceStart::of_bytes(Vec::new());
    assert_eq!(empty.format(None, FormatHint::None), Err(SkipReason::Empty));
}

#[test]
fn carriage_returns_alone_become_line_feeds() {
    let mut text = b"a\rb\r\nc\r\rd\r".to_vec();
    cr_to_lf(&mut text);
    assert_eq!(text, b"a\nb\r\nc\n\nd\r");
    assert_eq!(LineEnds::of(b"a\rb"), LineEnds::Cr);
    for text in [&b"a\r\nb"[..], b"a\r\r\nb", b"a\nb\r", b"a\r", b"a", b""] {
        assert_eq!(LineEnds::of(text), LineEnds::Lf, "{text:?}");
    }
}
