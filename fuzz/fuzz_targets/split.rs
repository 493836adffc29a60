//! Every splitter: the messages of a source are in order, do not overlap, and cover all URLs. They
//! are the same in one piece, in blocks, and read byte by byte.
#![no_main]

use std::io::{self, Read};

use libfuzzer_sys::fuzz_target;
use urlspool_text::limits::BLOCK_BYTES;
use urlspool_text::origin::SourceKind;
use urlspool_sources::read::SparseRead;
use urlspool_mail::split::{Block, BlockReader, BlockRole, Format, SplitOutput, messages};

const FORMATS: [Format; 10] = [
    Format::Mbox,
    Format::Mboxcl,
    Format::Mmdf,
    Format::Babyl,
    Format::Rnews,
    Format::Emlx,
    Format::Single(SourceKind::Message),
    Format::Single(SourceKind::News),
    Format::Text,
    Format::Html,
];

/// A reader that returns at most `step` bytes at a time.
struct Slow<'s> {
    bytes: &'s [u8],
    step: usize,
}

impl SparseRead for Slow<'_> {}

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(self.step).min(self.bytes.len());
        buffer[..len].copy_from_slice(&self.bytes[..len]);
        self.bytes = &self.bytes[len..];
        Ok(len)
    }
}

/// Start of a message in its source, including the envelope; start of its bytes; its end.
type Place = (u64, u64, u64);

fn places(block: &Block, format: Format) -> Vec<Place> {
    let mut found = Vec::new();
    messages(block, format, &mut |output| {
        if let SplitOutput::Message(message) = output {
            assert!(
                message.start >= block.offset
                    && message.end() <= block.offset + block.bytes.len() as u64
            );
            let at = (message.raw_start() - block.offset) as usize;
            assert_eq!(&block.bytes[at..at + message.raw.len()], message.raw);
            found.push((message.start, message.raw_start(), message.end()));
        }
    });
    found
}

/// The only certain start of a message: after a blank line, with an address, a time and a field.
const SEPARATOR: &[u8] = b"\n\nFrom a@b Mon Jan  1 10:00:00 1996\nFrom: a\n";

/// The field at the end of `SEPARATOR`, where the bytes of the message start.
const FIRST_FIELD: &[u8] = b"From: a\n";

/// Checks that each separator starts a message. Leading blank lines belong to the first message.
fn check_separators(source: &[u8], places: &[Place]) {
    for (at, window) in source.windows(SEPARATOR.len()).enumerate() {
        let start = (at + SEPARATOR.len() - FIRST_FIELD.len()) as u64;
        assert!(
            window != SEPARATOR || places.iter().any(|place| place.1 == start),
            "no message has its bytes from {start} on in {}",
            source.escape_ascii()
        );
    }
}

/// Checks that the messages are in order, and that the gaps between them contain no URL.
fn check_cover(source: &[u8], places: &[Place], format: Format) {
    let mut last = 0;
    let end = source.len() as u64;
    for &(start, _, after) in places.iter().chain([&(end, end, end)]) {
        assert!(last <= start && start <= after, "{format:?}: {places:?}");
        let gap = &source[last as usize..start as usize];
        // Babyl options, and bytes after the end of an rnews batch or an `.emlx`, are not mail.
        let may_skip = matches!(format, Format::Babyl | Format::Rnews | Format::Emlx);
        assert!(
            may_skip || !gap.windows(3).any(|bytes| bytes == b"://"),
            "{format:?}: {} is left out of {}",
            gap.escape_ascii(),
            source.escape_ascii()
        );
        last = after;
    }
}

fuzz_target!(|input: &[u8]| {
    let [choice, repeat, source @ ..] = input else {
        return;
    };
    // An empty file has no block, but one empty message if it is read as a whole.
    if source.is_empty() {
        return;
    }
    let format = FORMATS[usize::from(*choice) % FORMATS.len()];
    let is_large = *repeat >= 250;
    let source = if is_large {
        // More than one block; fuzzed builds have small ones.
        source.repeat(2 * BLOCK_BYTES / source.len() + 2)
    } else {
        source.to_vec()
    };
    let whole = Block {
        bytes: source.clone(),
        offset: 0,
        role: BlockRole::Whole,
        unpacked_times: 0,
    };
    let places_whole = places(&whole, format);
    check_cover(&source, &places_whole, format);
    if format == Format::Mbox {
        check_separators(&source, &places_whole);
    }
    let step = if is_large { 997 } else { 1 };
    let stream = Slow {
        bytes: &source,
        step,
    };
    let mut reader = BlockReader::new(Box::new(stream), format, usize::MAX / 4);
    let (mut in_blocks, mut at) = (Vec::new(), 0);
    while let Some(block) = reader.next_block().expect("memory can be read") {
        assert_eq!(block.offset, at, "{format:?}: blocks follow one another");
        at += block.bytes.len() as u64;
        in_blocks.extend(places(&block, format));
    }
    // Reading a stream converts line ends of old Macs and skips NUL bytes of holes.
    if !source.contains(&b'\r') && !source.contains(&0) && !matches!(format, Format::Text) {
        assert_eq!(at, source.len() as u64);
        assert_eq!(
            in_blocks,
            places_whole,
            "{format:?}: {}",
            source[..source.len().min(400)].escape_ascii()
        );
    }
});
