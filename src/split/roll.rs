//! Cuts a stream into blocks at message borders, so that each block can be read by itself.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;

use super::lines::{ends_in_cr, unify};
use super::sniff::{Format, recognised, sniff};
use super::{AtEof, babyl, lengths, mbox, mmdf, rnews};
use crate::diagnostic::SkipReason;
use crate::limits::{BLOCK_BYTES, MESSAGE_PREFIX_BYTES, SEPARATOR_BYTES, SNIFF_BYTES};
use crate::origin::FormatHint;
use crate::read::{SparseRead, UnreadRange};

/// Bytes before a message's first that tell whether it is one: the line end before it, and a blank line.
const CONTEXT_BYTES: usize = 4;

/// Whole messages, or a piece of one.
#[derive(Debug, Default)]
pub struct Block {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The offset of the first in the source.
    pub offset: u64,
    /// What they are.
    pub role: BlockRole,
}

/// Whole messages that nobody has read yet.
#[derive(Debug)]
pub struct UnreadBlock {
    /// The offset of the first byte in the source.
    pub offset: u64,
    /// The bytes.
    pub range: UnreadRange,
}

/// What a block holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BlockRole {
    /// Whole messages, or the first piece of a text, which no URL crosses.
    #[default]
    Whole,
    /// The first piece of a message that is larger than what is held.
    First,
    /// A further piece of a message or text.
    Rest(Begun),
}

/// What is known of a message or text that is read in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The offset of its first byte.
    pub start: u64,
    /// Line ends from there to the piece.
    pub lines: u64,
    /// Its first bytes, at most [`MESSAGE_PREFIX_BYTES`].
    pub beginning: Arc<Vec<u8>>,
}

/// The blocks of any stream.
pub(super) type Blocks = BlockReader<Box<dyn SparseRead>>;

/// What a stream turned out to be.
pub enum OpenedStream {
    /// A stream of text, read in blocks.
    Blocks(Blocks),
    /// A stream that is not read.
    Skipped(SkipReason),
}

/// Recognises a stream by its first bytes, unless its format is given.
///
/// # Errors
///
/// What the stream gives, if that is all it gives.
pub fn open(
    mut stream: Box<dyn SparseRead>,
    given: Option<Format>,
    hint: FormatHint,
    most: usize,
) -> io::Result<OpenedStream> {
    let (mut start, mut failed) = first_octets(&mut stream);
    let mut offset = 0;
    if start.len() == SNIFF_BYTES && is_zero(&start) {
        let hole = stream.pass_hole(1);
        let behind = if hole > 0 {
            first_octets(&mut stream)
        } else {
            (Vec::new(), None)
        };
        if !(behind.0.is_empty() && behind.1.is_none()) {
            offset = start.len() as u64 + hole;
            (start, failed) = behind;
        }
    }
    match failed {
        Some(error) if start.is_empty() => return Err(error),
        _ => {}
    }
    let zeros = zeros_before(&start);
    start.drain(..zeros);
    offset += zeros as u64;
    let mut shown = start.clone();
    if ends_in_cr(&shown) {
        unify(&mut shown);
    }
    Ok(match recognised(&shown, given, hint) {
        Ok(format) => {
            let roller = BlockReader::new(stream, start, format, most);
            OpenedStream::Blocks(BlockReader {
                offset,
                ended: failed.is_some(),
                failed,
                ..roller
            })
        }
        Err(reason) => OpenedStream::Skipped(reason),
    })
}

/// What a stream's format is told by, and what it failed with meanwhile.
fn first_octets(stream: &mut dyn SparseRead) -> (Vec<u8>, Option<io::Error>) {
    let mut start = Vec::with_capacity(SNIFF_BYTES);
    let failed = stream
        .take(SNIFF_BYTES as u64)
        .read_to_end(&mut start)
        .err();
    (start, failed)
}

/// Zeros at the start of what is held of a source, if something else stands behind them: what a writer leaves there that goes
/// on at its old place in a file that was cut meanwhile. They are no part of the first message.
#[must_use]
pub fn zeros_before(start: &[u8]) -> usize {
    start.iter().position(|&octet| octet != 0).unwrap_or(0)
}

fn is_zero(octets: &[u8]) -> bool {
    octets.iter().all(|&octet| octet == 0)
}

/// The messages of an mbox that begin in `part`, in blocks. `None` if the stream is no mbox, or one
/// whose lines end in CR alone.
///
/// # Errors
///
/// What the stream gives.
pub fn open_part<S: SparseRead + Seek + 'static>(
    mut stream: S,
    given: Option<Format>,
    hint: FormatHint,
    most: usize,
    part: Range<u64>,
) -> io::Result<Option<Blocks>> {
    let mut start = Vec::with_capacity(SNIFF_BYTES);
    (&mut stream)
        .take(SNIFF_BYTES as u64)
        .read_to_end(&mut start)?;
    let Some(format) = divisible(&start, given, hint) else {
        return Ok(None);
    };
    let first = first_message(&mut stream, format, most, &part)?.unwrap_or(part.end);
    stream.seek(SeekFrom::Start(first))?;
    Ok(Some(BlockReader::part(
        Box::new(stream),
        format,
        most,
        first,
        part.end,
    )))
}

/// The format of a source that begins so, if its messages can be told apart from any byte on.
#[must_use]
pub fn divisible(start: &[u8], given: Option<Format>, hint: FormatHint) -> Option<Format> {
    // Compressed bytes may be an mbox when they are unpacked, whatever the user says.
    sniff(start, hint).ok()?;
    let format = recognised(start, given, hint).ok()?;
    (matches!(format, Format::Mbox | Format::Mboxcl) && !ends_in_cr(start)).then_some(format)
}

/// Reads a stream and gives its blocks, one after the other.
#[derive(Debug)]
pub struct BlockReader<R> {
    stream: R,
    format: Format,
    /// Bytes of a message that are held at the most.
    most: usize,
    /// Bytes read and not yet given.
    held: Vec<u8>,
    /// The offset of the first byte held.
    offset: u64,
    ended: bool,
    /// What the stream failed with; said once all that came before it was given.
    failed: Option<io::Error>,
    /// The message or text that the last block was a piece of, and that goes on.
    begun: Option<Begun>,
    /// Bytes at the start of what is held in which no message begins, `begun` a message.
    searched: usize,
    /// The offset at which and behind which no message is wanted.
    stop: Option<u64>,
    /// Whether lines end in CR alone, and are given LF instead.
    cr: bool,
    /// Blocks at whose ends nobody looks ahead.
    unlooked: usize,
}

impl<R: SparseRead> BlockReader<R> {
    /// A roller over `stream`, which begins with the bytes `start` that were read to recognise it.
    pub fn new(stream: R, start: Vec<u8>, format: Format, most: usize) -> BlockReader<R> {
        let cr = ends_in_cr(&start);
        let mut start = start;
        if cr {
            unify(&mut start);
        }
        BlockReader {
            stream,
            format,
            most: most.max(BLOCK_BYTES),
            held: start,
            offset: 0,
            ended: false,
            failed: None,
            begun: None,
            searched: 0,
            stop: None,
            cr,
            unlooked: 0,
        }
    }

    /// A roller over the messages of an mbox that begin at `start` or behind it, and before `stop`. The stream goes on
    /// at `start`, where a message begins.
    fn part(stream: R, format: Format, most: usize, start: u64, stop: u64) -> BlockReader<R> {
        BlockReader {
            offset: start,
            stop: Some(stop),
            ..BlockReader::new(stream, Vec::new(), format, most)
        }
    }

    /// The next block, or nothing at the end of the stream.
    ///
    /// Holds at most the larger of one block and the largest message within the limit, twice over.
    ///
    /// # Errors
    ///
    /// What the stream gives; the bytes read before come out first.
    pub fn next_block(&mut self) -> io::Result<Option<Block>> {
        if self.begun.is_none() && self.stop.is_some_and(|stop| stop <= self.offset) {
            return Ok(None);
        }
        let mut want = BLOCK_BYTES;
        loop {
            self.pass_hole();
            self.fill(want);
            if self.held.is_empty() {
                return self.failed.take().map_or(Ok(None), Err);
            }
            if let Some(block) = self.cut() {
                return Ok(Some(block));
            }
            want = (want * 2).min(self.most);
        }
    }

    /// The next block unread, and its offset: whole messages, which whoever works on them reads himself. Nothing where the
    /// stream must be read to be cut; [`BlockReader::next_block`] does so.
    ///
    /// Cut where `next_block` would. Reads a few KiB before the border. Where there is none it reads the whole block, which
    /// `next_block` reads again, and so it does not look at the next ones at all.
    pub fn next_unread(&mut self) -> Option<UnreadBlock> {
        /// Blocks that are read before the next look, where one was in vain: messages of many MiB come together.
        const READ_BLOCKS: usize = 4;
        let is_plain = self.format == Format::Mbox && !self.cr;
        if !is_plain || self.begun.is_some() || self.stop.is_some() || self.ended {
            return None;
        }
        if self.unlooked > 0 {
            self.unlooked -= 1;
            return None;
        }
        let Some(len) = self.border_ahead() else {
            self.unlooked = READ_BLOCKS;
            return None;
        };
        let held = self.held.len();
        let unread = self.stream.leave(held as u64, len as u64)?;
        self.held.clear();
        let offset = self.offset;
        self.offset += len as u64;
        Some(UnreadBlock {
            offset,
            range: unread,
        })
    }

    /// Bytes up to the last separator of the next block, if all of the block is there. Looks at its end first.
    fn border_ahead(&self) -> Option<usize> {
        /// Bytes that are looked at together. Most messages have fewer.
        const WINDOW_BYTES: usize = 16 << 10;
        let mut window = Vec::new();
        let mut end = BLOCK_BYTES;
        while end > 0 {
            let start = end.saturating_sub(WINDOW_BYTES);
            // What stands before a separator, and what stands behind one at the window's end.
            let seen =
                start.saturating_sub(CONTEXT_BYTES)..(end + SEPARATOR_BYTES + 1).min(BLOCK_BYTES);
            window.resize(seen.len(), 0);
            if !self
                .stream
                .look_ahead(seen.start.checked_sub(self.held.len())? as u64, &mut window)
            {
                return None;
            }
            if let Some(at) = mbox::last_separator(&window, start - seen.start) {
                return Some(seen.start + at).filter(|&at| at > 0);
            }
            end = start;
        }
        None
    }

    /// Returns the format of the stream.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The offset in the source up to which blocks were given, and zeros passed over.
    #[must_use]
    pub fn reached(&self) -> u64 {
        self.offset
    }

    /// Passes over zeros that nobody stored, where they would be given in pieces of one length, in which no message
    /// begins: whole pieces, so that what comes behind them is the same as if they were read.
    fn pass_hole(&mut self) {
        let step = match (&self.begun, self.format) {
            (_, Format::Text) => BLOCK_BYTES,
            (Some(_), _) => BLOCK_BYTES - SEPARATOR_BYTES - CONTEXT_BYTES,
            (None, _) => return,
        };
        if !self.ended && is_zero(&self.held) {
            self.offset += self.stream.pass_hole(step as u64);
        }
    }

    /// Reads until `want` bytes are held or the stream ends. One that fails ends there.
    fn fill(&mut self, want: usize) {
        /// Bytes that a stream is asked for first: archives may hold thousands that end before that, and room costs.
        const FIRST_BYTES: usize = 32 << 10;
        if self.held.is_empty() {
            self.read(want.min(FIRST_BYTES));
        }
        self.read(want);
    }

    /// Reads until `want` bytes are held or the stream ends, all at once.
    fn read(&mut self, want: usize) {
        let missing = want.saturating_sub(self.held.len());
        if self.ended || missing == 0 {
            return;
        }
        // A CR at the end of what was held is decided about now.
        let undecided = self.held.len().saturating_sub(1);
        self.held.reserve(missing);
        match self.stream.append(missing, &mut self.held) {
            Ok(read) => self.ended = read < missing,
            Err(error) => {
                self.ended = true;
                self.failed = Some(error);
            }
        }
        if self.cr {
            unify(&mut self.held[undecided..]);
        }
    }

    /// A block of what is held, if there is a border to cut it at.
    fn cut(&mut self) -> Option<Block> {
        if self.begun.is_some() && self.format != Format::Text {
            return Some(self.cut_rest());
        }
        let full = self.held.len() >= self.most;
        if self.ended && !full {
            return Some(self.give_messages(self.held.len()));
        }
        let border = match self.format {
            Format::Mbox => mbox::last_separator(&self.held, 0).filter(|&at| at > 0),
            Format::Mboxcl => lengths::last_border(&self.held, AtEof::Part, self.most),
            Format::Rnews => rnews::last_border(&self.held, self.most),
            Format::Mmdf => mmdf::last_line(&self.held),
            Format::Babyl => babyl::last_border(&self.held),
            Format::Single(_) | Format::Emlx
                if full && self.ended && self.held.len() == self.most =>
            {
                Some(self.held.len())
            }
            Format::Single(_) | Format::Emlx => None,
            Format::Text => Some(text_border(&self.held)),
        };
        match border {
            Some(at) if self.format == Format::Text => Some(self.cut_text(at)),
            Some(at) => Some(self.give_messages(at)),
            None if full => Some(self.cut_first()),
            None => None,
        }
    }

    /// The first piece of a message that is too large.
    fn cut_first(&mut self) -> Block {
        self.begin();
        self.cut_piece(BlockRole::First)
    }

    /// A piece of a text.
    fn cut_text(&mut self, end: usize) -> Block {
        let role = self.role();
        if self.begun.is_none() {
            self.begin();
        }
        self.give(end, role)
    }

    /// Notes that what is held begins a message or text that is given in pieces.
    fn begin(&mut self) {
        let beginning = &self.held[..self.held.len().min(MESSAGE_PREFIX_BYTES)];
        self.begun = Some(Begun {
            start: self.offset,
            lines: 0,
            beginning: Arc::new(beginning.to_vec()),
        });
    }

    /// What the next bytes are.
    fn role(&self) -> BlockRole {
        self.begun.clone().map_or(BlockRole::Whole, BlockRole::Rest)
    }

    /// A further piece of it, up to the next message.
    fn cut_rest(&mut self) -> Block {
        let held = if self.ended { AtEof::All } else { AtEof::Part };
        let from = self.searched.max(1);
        let next = match self.format {
            Format::Mbox | Format::Mboxcl => mbox::next_separator(&self.held, from, held),
            Format::Rnews => rnews::next_line(&self.held, from, held),
            Format::Mmdf => mmdf::next_line(&self.held, from),
            Format::Babyl => babyl::next_border(&self.held, from),
            Format::Emlx | Format::Single(_) | Format::Text => None,
        };
        let role = self.role();
        match next {
            Some(at) => {
                self.begun = None;
                self.give(at, role)
            }
            None if self.ended => self.give(self.held.len(), role),
            None => self.cut_piece(role),
        }
    }

    /// A piece of a message that goes on. What is kept begins with bytes in which no message does.
    fn cut_piece(&mut self, role: BlockRole) -> Block {
        let searched = self.held.len() - SEPARATOR_BYTES;
        let border = text_border(&self.held[..searched - CONTEXT_BYTES]);
        self.searched = searched - border;
        self.give(border, role)
    }

    /// Whole messages up to `end`, or up to the first that is not wanted.
    fn give_messages(&mut self, end: usize) -> Block {
        let from = self
            .stop
            .map_or(end, |stop| end.min((stop - self.offset) as usize));
        let unwanted = match self.format {
            _ if from == end => None,
            Format::Mboxcl => lengths::border_from(&self.held[..end], from, AtEof::All, self.most),
            // Blank lines at the start of the file belong to the first message.
            _ => mbox::next_separator(
                &self.held[..end],
                from.max(mbox::blank_lines(&self.held) + 1),
                AtEof::All,
            ),
        };
        self.give(unwanted.unwrap_or(end), self.role())
    }

    fn give(&mut self, end: usize, role: BlockRole) -> Block {
        let rest = &self.held[end..];
        // What is read next goes behind it.
        let mut next = Vec::with_capacity(if self.ended {
            rest.len()
        } else {
            rest.len().max(BLOCK_BYTES)
        });
        next.extend_from_slice(rest);
        let mut bytes = std::mem::replace(&mut self.held, next);
        bytes.truncate(end);
        // Many small blocks may be held before one of them is read.
        if bytes.len() < bytes.capacity() / 2 {
            bytes.shrink_to_fit();
        }
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        if let Some(begun) = &mut self.begun {
            begun.lines += memchr::memchr_iter(b'\n', &bytes).count() as u64;
        }
        Block {
            bytes,
            offset,
            role,
        }
    }
}

/// The offset of the first message of an mbox that begins in `part`, or perhaps behind it. `format` is what the file's
/// first bytes make it.
///
/// Where messages carry no length a look around `start` tells; where they do, the file is read from its start, at the
/// speed of reading.
///
/// # Errors
///
/// What the stream gives.
fn first_message<S: SparseRead + Seek>(
    stream: &mut S,
    format: Format,
    most: usize,
    part: &Range<u64>,
) -> io::Result<Option<u64>> {
    let start = part.start;
    if start == 0 {
        return Ok(Some(0));
    }
    stream.seek(SeekFrom::Start(0))?;
    if format == Format::Mboxcl {
        let mut roller = BlockReader::part(stream, format, most, 0, start);
        while roller.next_block()?.is_some() {}
        return Ok((!roller.held.is_empty()).then_some(roller.offset));
    }
    // Blank lines at the start of the file belong to the first message.
    let mut blank = Vec::new();
    stream.take(SNIFF_BYTES as u64).read_to_end(&mut blank)?;
    let start = start.max(mbox::blank_lines(&blank) as u64 + 1);
    let mut offset = start.saturating_sub(CONTEXT_BYTES as u64);
    stream.seek(SeekFrom::Start(offset))?;
    let mut held = Vec::new();
    let mut from = (start - offset) as usize;
    while offset < part.end {
        if !held.is_empty() && is_zero(&held) {
            offset += stream.pass_hole(1);
        }
        let read = stream.take(SNIFF_BYTES as u64).read_to_end(&mut held)?;
        let known = if read < SNIFF_BYTES {
            AtEof::All
        } else {
            AtEof::Part
        };
        if let Some(at) = mbox::next_separator(&held, from, known) {
            return Ok(Some(offset + at as u64));
        }
        if known == AtEof::All {
            return Ok(None);
        }
        let done = held.len() - SEPARATOR_BYTES - CONTEXT_BYTES;
        held.drain(..done);
        offset += done as u64;
        from = CONTEXT_BYTES;
    }
    Ok(None)
}

/// Where a text can be cut so that no URL is: behind a blank line outside a wrapper, else behind a line outside one,
/// else behind a line, else behind a word, and in the end anywhere.
fn text_border(text: &[u8]) -> usize {
    /// Bytes from the end in which a border is looked for.
    const TAIL_BYTES: usize = 256 << 10;
    /// Bytes in which an open wrapper would have to close.
    const WRAPPER_BYTES: usize = 16 << 10;
    let lowest = text.len().saturating_sub(TAIL_BYTES).max(1);
    let tail = &text[lowest..];
    let blank_lines = memchr::memmem::rfind_iter(tail, b"\n\n")
        .chain(memchr::memmem::rfind_iter(tail, b"\n\r\n"));
    let closed = |at: usize| {
        let before = &text[(lowest + at).saturating_sub(WRAPPER_BYTES)..lowest + at];
        memchr::memrchr(b'<', before) <= memchr::memrchr(b'>', before)
    };
    let blank = blank_lines.take(64).find(|&at| closed(at)).map(|at| at + 1);
    let lines = memchr::memrchr_iter(b'\n', tail).take(64);
    let line = || {
        lines
            .clone()
            .find(|&at| closed(at))
            .or_else(|| lines.clone().next())
            .map(|at| at + 1)
    };
    let word = || memchr::memrchr3(b' ', b'>', b'"', tail).map(|at| at + 1);
    blank
        .or_else(line)
        .or_else(word)
        .map_or(text.len(), |at| lowest + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of a text, read in pieces of one byte.
    fn blocks(text: &[u8], format: Format, most: usize) -> Vec<(usize, u64, BlockRole)> {
        struct Trickle<'a>(&'a [u8]);
        impl SparseRead for Trickle<'_> {}
        impl Read for Trickle<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let (Some((&first, rest)), Some(slot)) = (self.0.split_first(), buffer.first_mut())
                else {
                    return Ok(0);
                };
                (*slot, self.0) = (first, rest);
                Ok(1)
            }
        }
        let mut roller = BlockReader::new(Trickle(text), Vec::new(), format, most);
        let mut seen = Vec::new();
        while let Some(block) = roller.next_block().unwrap() {
            seen.push((block.bytes.len(), block.offset, block.role));
        }
        seen
    }

    #[test]
    fn small_blocks_take_little_room() {
        let text = "From x\n\n".to_owned() + &"a b\n".repeat(50);
        let stream: Box<dyn Read> = Box::new(io::Cursor::new(text.clone()));
        let block = BlockReader::new(stream, Vec::new(), Format::Mbox, usize::MAX)
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
    fn pieces_of_a_text_know_where_it_began() {
        let text = "words and words\n".repeat(400_000);
        let mut before = 0;
        for (len, offset, role) in blocks(text.as_bytes(), Format::Text, 0) {
            let begun = (offset > 0).then(|| {
                let lines = line_ends(&text.as_bytes()[..before]);
                let beginning = Arc::new(text.as_bytes()[..MESSAGE_PREFIX_BYTES].to_vec());
                BlockRole::Rest(Begun {
                    start: 0,
                    lines,
                    beginning,
                })
            });
            assert_eq!(role, begun.unwrap_or_default());
            before += len;
        }
        assert!(before == text.len());
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
    fn a_stream_that_fails_gives_first_what_came_before_and_then_says_so() {
        struct Broken(bool);
        impl SparseRead for Broken {}
        impl Read for Broken {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                if std::mem::replace(&mut self.0, true) {
                    return Err(io::Error::other("broken"));
                }
                buffer[..3].copy_from_slice(b"abc");
                Ok(3)
            }
        }
        let mut roller = BlockReader::new(Broken(false), Vec::new(), Format::Text, 0);
        assert_eq!(roller.next_block().unwrap().unwrap().bytes, b"abc");
        assert_eq!(roller.next_block().unwrap_err().to_string(), "broken");
        assert!(roller.next_block().unwrap().is_none());
    }

    #[test]
    fn a_message_beyond_the_limit_comes_in_pieces() {
        let large = format!("From a\nA: b\n\n{}\n", "words and words\n".repeat(400_000));
        let text = format!("{large}From b\nC: d\n\nx\n");
        let seen = blocks(text.as_bytes(), Format::Mbox, 0);
        assert_eq!(seen[0].2, BlockRole::First);
        let BlockRole::Rest(begun) = &seen[1].2 else {
            panic!("{:?}", seen[1].2)
        };
        assert_eq!(
            (begun.start, begun.lines),
            (0, line_ends(&text.as_bytes()[..seen[0].0]))
        );
        assert!(text.as_bytes().starts_with(&begun.beginning));
        assert_eq!(
            seen.last().map(|last| (last.1, &last.2)),
            Some((large.len() as u64, &BlockRole::Whole))
        );
        assert_eq!(seen.iter().map(|(len, ..)| len).sum::<usize>(), text.len());
    }

    #[test]
    fn a_separator_is_seen_wherever_a_piece_of_a_large_message_ends() {
        let large = format!("From a\nA: b\n\n{}\n", "words <and words\n".repeat(250_000));
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

    #[test]
    fn lengths_hold_over_the_borders_of_blocks() {
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
                    .all(|&(_, at, _)| at == 0
                        || (at as usize - head.len()).is_multiple_of(one.len())),
                "{format:?}"
            );
            assert_eq!(seen.iter().map(|(len, ..)| len).sum::<usize>(), text.len());
        }
    }

    #[test]
    fn parts_of_an_mbox_are_the_whole_wherever_it_is_cut() {
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
                        first_message(&mut stream, format, 0, &(from as u64..to as u64)).unwrap()
                    else {
                        return vec![];
                    };
                    stream.set_position(start);
                    let mut roller = BlockReader::part(stream, format, 0, start, to as u64);
                    let mut seen = Vec::new();
                    while let Some(block) = roller.next_block().unwrap() {
                        super::super::messages(&block, format, &mut |divided| {
                            if let super::super::SplitOutput::Message(message) = divided {
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
}
