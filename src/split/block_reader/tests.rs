//! Tests of blocks: messages stay whole, whatever the size of a block.

use std::io::{self, Read};
use std::sync::Arc;

use super::super::byte_range::first_message;
use super::super::format::Format;
use super::super::source_start::SourceStart;
use super::super::{BlockRole, FragmentHead};
use super::super::{SplitOutput, messages};
use super::BlockReader;
use crate::limits::{BLOCK_BYTES, MESSAGE_PREFIX_BYTES};
use crate::read::SparseRead;

/// Returns the length, offset and role of each block of a text that is read in small pieces.
fn blocks(text: &[u8], format: Format, max_message_bytes: usize) -> Vec<(usize, u64, BlockRole)> {
    struct SmallReads<'a>(&'a [u8]);
    impl SparseRead for SmallReads<'_> {}
    impl Read for SmallReads<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            // A prime: the pieces end anywhere in the lines.
            let piece = buffer.len().min(61);
            self.0.read(&mut buffer[..piece])
        }
    }
    let mut reader = BlockReader::new(SmallReads(text), format, max_message_bytes);
    let mut seen = Vec::new();
    while let Some(block) = reader.next_block().unwrap() {
        seen.push((block.bytes.len(), block.offset, block.role));
    }
    seen
}

#[test]
fn small_blocks_take_little_memory() {
    let text = "From x\n\n".to_owned() + &"a b\n".repeat(50);
    let stream: Box<dyn Read> = Box::new(io::Cursor::new(text.clone()));
    let block = BlockReader::new(stream, Format::Mbox, usize::MAX)
        .next_block()
        .unwrap()
        .unwrap();
    assert_eq!(block.bytes, text.as_bytes());
    assert!(
        block.bytes.capacity() <= 2 * text.len(),
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
            })
        });
        assert_eq!(role, fragment.unwrap_or_default());
        before += len;
    }
    assert!(before == text.len());
}

#[test]
fn a_text_is_cut_at_the_same_places_however_much_of_it_is_read() {
    let text = "words and words\n\n".repeat(2 * BLOCK_BYTES / 10);
    let stream: &[u8] = &[];
    let start = SourceStart::of_bytes(text.clone().into_bytes());
    let mut reader = BlockReader::after_start(stream, start, Format::Text, usize::MAX);
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
    let mut reader = BlockReader::new(FailingStream(false), Format::Text, 0);
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

/// The last separator of the first block is that of the first message.
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
            let text = text.as_bytes();
            let starts = |from: usize, to: usize| {
                let mut stream = io::Cursor::new(text);
                let Some(start) =
                    first_message(&mut stream, 0, format, 0, &(from as u64..to as u64)).unwrap()
                else {
                    return vec![];
                };
                stream.set_position(start);
                let mut reader = BlockReader::in_range(stream, format, 0, start..to as u64);
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
