//! Cuts a stream into blocks at message borders, so that each block can be read by itself.

#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;

use super::block::{Block, BlockRole, FragmentHead, UnreadBlock};
use super::format::Format;
use super::line_ends::{cr_to_lf, has_cr_line_ends};
use super::{AtEof, babyl, content_length, mbox, mmdf, rnews};
use crate::limits::{BLOCK_BYTES, MESSAGE_PREFIX_BYTES, SEPARATOR_BYTES};
use crate::read::SparseRead;

/// Bytes before a message's first that tell whether it is one: the line end before it, and a blank line.
pub(super) const CONTEXT_BYTES: usize = 4;

/// The blocks of any stream.
pub(super) type Blocks = BlockReader<Box<dyn SparseRead>>;

/// Reads a stream and gives its blocks, one after the other.
#[derive(Debug)]
pub struct BlockReader<R> {
    pub(super) stream: R,
    format: Format,
    /// Bytes of a message that are held at the most.
    most: usize,
    /// Bytes read and not yet given.
    pub(super) held: Vec<u8>,
    /// The offset of the first byte held.
    pub(super) offset: u64,
    pub(super) ended: bool,
    /// What the stream failed with; said once all that came before it was given.
    pub(super) failed: Option<io::Error>,
    /// The message or text that the last block was a piece of, and that goes on.
    begun: Option<FragmentHead>,
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
        let cr = has_cr_line_ends(&start);
        let mut start = start;
        if cr {
            cr_to_lf(&mut start);
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
    pub(super) fn part(
        stream: R,
        format: Format,
        most: usize,
        start: u64,
        stop: u64,
    ) -> BlockReader<R> {
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
            self.skip_hole();
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
    pub fn next_unread_block(&mut self) -> Option<UnreadBlock> {
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
                .peek_ahead(seen.start.checked_sub(self.held.len())? as u64, &mut window)
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
    pub fn position(&self) -> u64 {
        self.offset
    }

    /// Passes over zeros that nobody stored, where they would be given in pieces of one length, in which no message
    /// begins: whole pieces, so that what comes behind them is the same as if they were read.
    fn skip_hole(&mut self) {
        let step = match (&self.begun, self.format) {
            (_, Format::Text) => BLOCK_BYTES,
            (Some(_), _) => BLOCK_BYTES - SEPARATOR_BYTES - CONTEXT_BYTES,
            (None, _) => return,
        };
        if !self.ended && is_zero(&self.held) {
            self.offset += self.stream.skip_hole(step as u64);
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
            cr_to_lf(&mut self.held[undecided..]);
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
            Format::Mboxcl => content_length::last_border(&self.held, AtEof::Part, self.most),
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
        self.cut_piece(BlockRole::FirstFragment)
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
        self.begun = Some(FragmentHead {
            start: self.offset,
            line_ends: 0,
            head: Arc::new(beginning.to_vec()),
        });
    }

    /// What the next bytes are.
    fn role(&self) -> BlockRole {
        self.begun
            .clone()
            .map_or(BlockRole::Whole, BlockRole::LaterFragment)
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
            Format::Mboxcl => {
                content_length::border_from(&self.held[..end], from, AtEof::All, self.most)
            }
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
            begun.line_ends += memchr::memchr_iter(b'\n', &bytes).count() as u64;
        }
        Block {
            bytes,
            offset,
            role,
        }
    }
}

pub(super) fn is_zero(octets: &[u8]) -> bool {
    octets.iter().all(|&octet| octet == 0)
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
