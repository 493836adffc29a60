//! Reads a stream in blocks that end at message borders. Each block can then be divided by itself.
//!
//! A plain mbox can be cut into blocks without reading them: the receiver reads each block on
//! another thread. Running text is cut where no URL is divided. The module of each format finds the
//! borders. Several machines or threads can share one mbox: each reads the messages that start in a
//! byte range.
//!
//! All code that reads mail opens it with [`SourceStart`], which skips leading NUL bytes, then
//! detects line ends and format from the next bytes. A file, its compressed copy and a pipe
//! therefore have the same messages in every command.

#[cfg(test)]
mod tests;

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::{
    AtEof, Block, BlockRole, Format, FragmentHead, LineEnds, babyl, begins_several, content_length,
    cr_to_lf, detect_format, mbox, mbox_format, mmdf, news, normalize_line_ends,
    remove_leading_nuls, sniff,
};
use crate::lines::text_border;
use urlspool_sources::read::{SeekableInput, SparseRead, UnreadRange, is_container};
use urlspool_text::diagnostic::SkipReason;
use urlspool_text::limits::{
    BLOCK_BYTES, MAGIC_BYTES, MESSAGE_PREFIX_BYTES, SEPARATOR_BYTES, SNIFF_BYTES,
};
use urlspool_text::origin::FormatHint;

/// Start of a source, used to detect its format and line ends.
///
/// Leading NUL bytes are not part of it, however many there are. A writer that kept its offset
/// after a truncation leaves a hole there, which becomes written NUL bytes in copies of the file.
#[derive(Debug)]
pub struct SourceStart {
    /// Number of leading NUL bytes, which is the offset of `bytes`.
    pub offset: u64,
    /// First bytes after the NUL bytes, with LF or CRLF line ends. Empty if the source has no other
    /// bytes.
    pub bytes: Vec<u8>,
    line_ends: LineEnds,
    /// Error that ended the bytes early.
    error: Option<io::Error>,
    /// `true` if the source is compressed or an archive. The very first bytes decide, NUL or not.
    pub is_container: bool,
    /// `true` if more bytes within [`SNIFF_BYTES`] may follow but had not arrived.
    is_paused: bool,
}

impl SourceStart {
    /// Reads the first [`SNIFF_BYTES`] bytes after the leading NUL bytes, and leaves the stream
    /// positioned after them. Skips holes and holds no more than that in memory.
    ///
    /// # Errors
    ///
    /// Returns the stream's error if only NUL bytes came before it.
    ///
    /// Accepts fewer bytes from a paused stream if they start a file of several messages.
    ///
    /// A stream other than a file counts as binary after
    /// [`STREAM_NUL_BYTES`](urlspool_text::limits::STREAM_NUL_BYTES) NUL bytes.
    pub fn read<S: SparseRead + ?Sized>(stream: &mut S) -> io::Result<SourceStart> {
        let mut bytes = Vec::with_capacity(SNIFF_BYTES);
        let mut error = fill(stream, &mut bytes);
        let is_container = is_container(&bytes[..bytes.len().min(MAGIC_BYTES)]);
        let mut offset = 0;
        while bytes.len() == SNIFF_BYTES && is_zero(&bytes) {
            offset += SNIFF_BYTES as u64;
            offset += stream.skip_hole(1);
            bytes.clear();
            if stream.max_leading_nuls() <= offset {
                return Ok(SourceStart::of_text(offset, bytes, is_container));
            }
            error = fill(stream, &mut bytes);
        }
        let nuls = remove_leading_nuls(&mut bytes);
        if 0 < nuls && error.is_none() {
            error = fill(stream, &mut bytes);
        }
        match error {
            Some(error) if bytes.is_empty() => Err(error),
            error => Ok(SourceStart {
                is_paused: error.is_none() && stream.is_paused(),
                error,
                ..SourceStart::of_text(offset + nuls, bytes, is_container)
            }),
        }
    }

    /// Creates a start from the whole content of a source, or from its first bytes.
    #[must_use]
    pub fn of_bytes(mut bytes: Vec<u8>) -> SourceStart {
        let is_container = is_container(&bytes[..bytes.len().min(MAGIC_BYTES)]);
        let nuls = remove_leading_nuls(&mut bytes);
        SourceStart::of_text(nuls, bytes, is_container)
    }

    fn of_text(offset: u64, mut bytes: Vec<u8>, is_container: bool) -> SourceStart {
        let line_ends = normalize_line_ends(&mut bytes);
        SourceStart {
            offset,
            bytes,
            line_ends,
            error: None,
            is_container,
            is_paused: false,
        }
    }

    /// Returns the format of the source. A format named by the user is trusted; the content selects
    /// its variant.
    ///
    /// # Errors
    ///
    /// Returns the reason to skip the source. A source of NUL bytes only is binary, even if the
    /// user named a format.
    pub fn format(&self, given: Option<Format>, hint: FormatHint) -> Result<Format, SkipReason> {
        if self.bytes.is_empty() && 0 < self.offset {
            return Err(SkipReason::Binary);
        }
        detect_format(&self.bytes, given, hint)
    }

    /// Returns the format of the source if its message borders can be found from any offset.
    #[must_use]
    pub fn splittable_format(&self, given: Option<Format>, hint: FormatHint) -> Option<Format> {
        // Compressed bytes can be an mbox only after unpacking, even if the user named the format.
        sniff(&self.bytes, hint).ok()?;
        let format = self.format(given, hint).ok()?;
        (matches!(format, Format::Mbox | Format::Mboxcl) && self.line_ends == LineEnds::Lf)
            .then_some(format)
    }
}

/// Returns `true` if all bytes are NUL.
fn is_zero(bytes: &[u8]) -> bool {
    // Slice comparisons are fast even in unoptimised builds.
    static NULS: [u8; SNIFF_BYTES] = [0; SNIFF_BYTES];
    bytes
        .chunks(SNIFF_BYTES)
        .all(|chunk| chunk == &NULS[..chunk.len()])
}

/// Returns `true` if `start`, with LF or CRLF line ends, is enough to recognise a file of several
/// messages.
fn has_marked_start(start: &[u8]) -> bool {
    memchr::memchr(b'\n', start).is_some()
        && memchr::memchr(0, start).is_none()
        && LineEnds::of(start) == LineEnds::Lf
        && begins_several(start)
}

/// Reads until there are [`SNIFF_BYTES`] bytes, or the stream ends, fails, or pauses after the
/// start of several messages. Returns the stream's error.
fn fill<S: SparseRead + ?Sized>(stream: &mut S, bytes: &mut Vec<u8>) -> Option<io::Error> {
    loop {
        let error = stream.append(SNIFF_BYTES - bytes.len(), bytes).err();
        if error.is_some() || !stream.is_paused() || has_marked_start(bytes) {
            return error;
        }
    }
}

/// Whole messages that have not been read yet.
#[derive(Debug)]
pub struct UnreadBlock {
    /// Offset in the source of the first byte.
    pub offset: u64,
    /// The bytes, as a part of the file.
    pub range: UnreadRange,
}

/// Number of bytes before a position that decide whether a message starts there: a line end and a
/// blank line, both CRLF.
const CONTEXT_BYTES: usize = 4;

/// Number of bytes first read after a byte range, to find the end of the last message that starts
/// in the range. Most messages are smaller.
const AFTER_RANGE_BYTES: usize = 64 << 10;

/// Blocks of a stream of any kind.
pub type StreamBlocks = BlockReader<'static>;

/// Detects the format of a stream by its start, unless the user has named it. Returns the blocks of
/// the stream, or the reason to skip it.
///
/// Skips leading NUL bytes, but counts them in offsets. Reads a message of more than
/// `max_message_bytes` bytes in fragments.
///
/// # Errors
///
/// Returns the stream's error if only NUL bytes came before it.
pub fn open(
    mut stream: Box<dyn SparseRead>,
    given: Option<Format>,
    hint: FormatHint,
    max_message_bytes: usize,
) -> io::Result<Result<StreamBlocks, SkipReason>> {
    let start = SourceStart::read(&mut *stream)?;
    let format = start.format(given, hint);
    Ok(format.map(|format| BlockReader::after_start(stream, start, format, max_message_bytes)))
}

/// Reader that cuts a stream into blocks at message borders.
pub struct BlockReader<'s> {
    stream: Box<dyn SparseRead + 's>,
    format: Format,
    /// Maximum number of bytes buffered for one message. A longer message is read in fragments.
    max_message_bytes: usize,
    /// Bytes that were read but not yet returned in a block.
    buffer: Vec<u8>,
    /// Offset in the source of the first byte of `buffer`.
    offset: u64,
    /// Offset of the first byte to read.
    start: u64,
    /// `true` once the stream has ended or failed.
    ended: bool,
    /// Error of the stream, returned after all bytes that came before it.
    error: Option<io::Error>,
    /// Start of the message or text of the last fragment, while more of it may follow.
    fragment: Option<FragmentHead>,
    /// Number of bytes at the start of `buffer` already searched: no message starts there, except
    /// at the first byte.
    scanned: usize,
    /// Offset at which to stop: messages that start there or later are not wanted.
    stop: Option<u64>,
    line_ends: LineEnds,
    /// Number of blocks to read before `next_unread_block` peeks ahead again.
    peek_pause_blocks: usize,
    /// First bytes of an mbox that paused within [`SNIFF_BYTES`]. The rest of these bytes may still
    /// show Content-Length fields.
    sniffed: Option<Vec<u8>>,
    /// `true` if `buffer` was read before a pause and not yet searched for borders.
    is_unsearched: bool,
}

impl<'s> BlockReader<'s> {
    /// Creates a reader of an unread `stream` whose lines end in LF or CRLF.
    ///
    /// A message of more than `max_message_bytes` bytes (at least one block) is read in fragments.
    #[must_use]
    pub fn new(
        stream: Box<dyn SparseRead + 's>,
        format: Format,
        max_message_bytes: usize,
    ) -> BlockReader<'s> {
        BlockReader {
            stream,
            format,
            max_message_bytes: max_message_bytes.max(BLOCK_BYTES),
            buffer: Vec::new(),
            offset: 0,
            start: 0,
            ended: false,
            error: None,
            fragment: None,
            scanned: 0,
            stop: None,
            line_ends: LineEnds::Lf,
            peek_pause_blocks: 0,
            sniffed: None,
            is_unsearched: false,
        }
    }

    /// Creates a reader of `stream`, positioned after `start`. The format was detected from
    /// `start`.
    #[must_use]
    pub fn after_start(
        stream: Box<dyn SparseRead + 's>,
        start: SourceStart,
        format: Format,
        max_message_bytes: usize,
    ) -> BlockReader<'s> {
        let is_mbox = matches!(format, Format::Mbox | Format::Mboxcl);
        BlockReader {
            sniffed: (start.is_paused && is_mbox).then(|| start.bytes.clone()),
            is_unsearched: start.is_paused,
            buffer: start.bytes,
            offset: start.offset,
            start: start.offset,
            ended: start.error.is_some(),
            error: start.error,
            line_ends: start.line_ends,
            ..BlockReader::new(stream, format, max_message_bytes)
        }
    }

    /// Returns the bytes that were read but not yet returned in a block. Right after opening, these
    /// are the start of the stream.
    #[must_use]
    pub fn buffered(&self) -> &[u8] {
        &self.buffer
    }

    /// Creates a reader of the messages of an mbox that start in `range`. `stream` is positioned at
    /// the start of the range, where a message starts.
    fn in_range(
        stream: Box<dyn SparseRead + 's>,
        format: Format,
        max_message_bytes: usize,
        range: Range<u64>,
    ) -> BlockReader<'s> {
        BlockReader {
            offset: range.start,
            start: range.start,
            stop: Some(range.end),
            ..BlockReader::new(stream, format, max_message_bytes)
        }
    }

    /// Returns the format of the stream.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the offset in the source after the blocks returned and the holes skipped so far.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.offset
    }

    /// Returns `true` if no message has ended in the bytes read so far and more bytes may follow.
    /// The next block waits for them.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.ended && self.stream.is_paused()
    }

    /// Returns the next block, or `None` at the end of the stream. If the stream has paused, the
    /// block holds the messages that have ended. If none has, the result is `None` and
    /// [`BlockReader::is_waiting`] is `true`.
    ///
    /// Buffers at most twice the larger of one block and the largest message within the limit.
    ///
    /// # Errors
    ///
    /// Returns the stream's error, after the bytes read before it.
    pub fn next_block(&mut self) -> io::Result<Option<Block>> {
        if self.fragment.is_none() && self.stop.is_some_and(|stop| stop <= self.offset) {
            return Ok(None);
        }
        let mut target = BLOCK_BYTES;
        // Another reader handles the bytes after the range. Fragments are cut where a scan of the
        // whole file cuts them.
        if let Some(stop) = self.stop.filter(|_| self.fragment.is_none()) {
            let wanted = stop.saturating_sub(self.offset) as usize;
            target = target.min(wanted.saturating_add(AFTER_RANGE_BYTES));
        }
        while self.is_waiting() && target <= self.buffer.len() {
            target = (target * 2).min(self.max_message_bytes);
        }
        loop {
            self.skip_hole();
            if !std::mem::take(&mut self.is_unsearched) {
                self.fill(target);
            }
            if self.is_waiting() {
                return Ok(self.cut_ended());
            }
            if self.buffer.is_empty() {
                return self.error.take().map_or(Ok(None), Err);
            }
            if let Some(block) = self.cut() {
                return Ok(Some(block));
            }
            target = (target * 2).min(self.max_message_bytes);
        }
    }

    /// Skips the part of a hole that would be cut into zero-filled fragments of equal length in
    /// which no message starts. Skips whole fragments only: the blocks after the hole are the same
    /// as if the zeros were read.
    fn skip_hole(&mut self) {
        let step = match (&self.fragment, self.format) {
            (_, Format::Text) => BLOCK_BYTES,
            (Some(_), _) => BLOCK_BYTES - SEPARATOR_BYTES - CONTEXT_BYTES,
            (None, _) => return,
        };
        if !self.ended && is_zero(&self.buffer) {
            self.offset += self.stream.skip_hole(step as u64);
        }
    }

    /// Reads until the buffer has `target` bytes or the stream ends or fails.
    fn fill(&mut self, target: usize) {
        /// Size of the first request. Archives may hold thousands of shorter streams, and
        /// allocating memory costs time.
        const FIRST_BYTES: usize = 32 << 10;
        let is_short = self.offset == self.start
            && self.buffer.len() < FIRST_BYTES
            && !self.stream.is_paused();
        if is_short || self.buffer.is_empty() {
            self.read(target.min(FIRST_BYTES));
        }
        self.read(target);
    }

    /// Reads until the buffer has `target` bytes or the stream ends or fails, in one request.
    fn read(&mut self, target: usize) {
        let missing = target.saturating_sub(self.buffer.len());
        if self.ended || missing == 0 {
            return;
        }
        // The next byte decides whether a CR at the end of the buffer becomes LF.
        let undecided = self.buffer.len().saturating_sub(1);
        self.buffer.reserve(missing);
        let before = self.buffer.len();
        match self.stream.append(missing, &mut self.buffer) {
            Ok(read) => self.ended = read < missing && !self.stream.is_paused(),
            Err(error) => (self.ended, self.error) = (true, Some(error)),
        }
        if self.line_ends == LineEnds::Cr {
            cr_to_lf(&mut self.buffer[undecided..]);
        }
        self.sniff_more(before);
    }

    /// Checks again whether an mbox has Content-Length fields, now that more of the first
    /// [`SNIFF_BYTES`] bytes have arrived: those from `before`.
    fn sniff_more(&mut self, before: usize) {
        let Some(sniffed) = &mut self.sniffed else {
            return;
        };
        let more = &self.buffer[before..];
        sniffed.extend_from_slice(&more[..more.len().min(SNIFF_BYTES - sniffed.len())]);
        self.format = mbox_format(sniffed);
        if self.ended || sniffed.len() == SNIFF_BYTES {
            self.sniffed = None;
        }
    }

    /// Cuts the messages that have ended from the buffer of a paused stream. A text is cut by
    /// length alone. Any other single message ends with the stream.
    fn cut_ended(&mut self) -> Option<Block> {
        if !self.format.holds_several() {
            return None;
        }
        if self.fragment.is_none() {
            return self.last_border().map(|at| self.cut_messages(at));
        }
        self.cut_last_fragment()
    }

    /// Cuts the last fragment of a message from the buffer, if the next message starts there.
    fn cut_last_fragment(&mut self) -> Option<Block> {
        let at = self.next_message()?;
        let role = self.role();
        self.fragment = None;
        Some(self.take_block(at, role))
    }

    /// Cuts a block from the buffer if the buffer has a border.
    fn cut(&mut self) -> Option<Block> {
        if self.fragment.is_some() && self.format != Format::Text {
            let block = self.cut_last_fragment();
            return block.or_else(|| {
                let role = self.role();
                Some(if self.ended {
                    self.take_block(self.buffer.len(), role)
                } else {
                    self.cut_fragment(role)
                })
            });
        }
        let full = self.buffer.len() >= self.max_message_bytes;
        if self.ended && !full {
            return Some(self.cut_messages(self.buffer.len()));
        }
        match self.last_border() {
            Some(at) if self.format == Format::Text => {
                let role = self.role();
                if self.fragment.is_none() {
                    self.begin_fragments();
                }
                Some(self.take_block(at, role))
            }
            Some(at) => Some(self.cut_messages(at)),
            None if full => {
                self.begin_fragments();
                Some(self.cut_fragment(BlockRole::FirstFragment))
            }
            None => {
                // The end is searched again, far enough to decide whether a message starts there.
                self.scanned = self.buffer.len().saturating_sub(SEPARATOR_BYTES + 1);
                None
            }
        }
    }

    /// Returns the last position in the buffer at which it can be cut.
    fn last_border(&self) -> Option<usize> {
        let (buffer, max) = (&self.buffer, self.max_message_bytes);
        match self.format {
            // Blank lines at the start of the file belong to the first message.
            Format::Mbox => mbox::last_separator(buffer, self.scanned)
                .filter(|&at| mbox::blank_lines(buffer) < at),
            Format::Mboxcl => content_length::last_border(buffer, AtEof::No, max),
            Format::Rnews => news::last_batch_border(buffer, max),
            Format::Mmdf => mmdf::last_line(buffer),
            Format::Babyl => babyl::last_border(buffer),
            Format::Single(_) | Format::Emlx | Format::Html | Format::Document(_) => {
                (self.ended && buffer.len() == max).then_some(buffer.len())
            }
            // A text is cut at the same places regardless of the amount buffered.
            Format::Text => Some(text_border(&buffer[..buffer.len().min(BLOCK_BYTES)])),
        }
    }

    /// Marks the buffer as the start of a message or text that is read in fragments.
    fn begin_fragments(&mut self) {
        let head = &self.buffer[..self.buffer.len().min(MESSAGE_PREFIX_BYTES)];
        self.fragment = Some(FragmentHead {
            start: self.offset,
            line_ends: 0,
            head: Arc::new(head.to_vec()),
            format: self.format,
        });
    }

    /// Returns the role of the next block.
    fn role(&self) -> BlockRole {
        self.fragment
            .clone()
            .map_or(BlockRole::Whole, BlockRole::LaterFragment)
    }

    /// Returns the start of the next message in a buffer that starts with a fragment.
    fn next_message(&self) -> Option<usize> {
        let at_eof = if self.ended { AtEof::Yes } else { AtEof::No };
        let from = self.scanned.max(1);
        match self.format {
            Format::Mbox | Format::Mboxcl => mbox::next_separator(&self.buffer, from, at_eof),
            Format::Rnews => news::next_batch_line(&self.buffer, from, at_eof),
            Format::Mmdf => mmdf::next_line(&self.buffer, from),
            Format::Babyl => babyl::next_border(&self.buffer, from),
            Format::Emlx | Format::Single(_) => None,
            Format::Html | Format::Document(_) | Format::Text => None,
        }
    }

    /// Cuts a fragment of a message that continues. No message starts in the first bytes left in
    /// the buffer.
    fn cut_fragment(&mut self, role: BlockRole) -> Block {
        let scanned = self.buffer.len() - SEPARATOR_BYTES;
        let border = text_border(&self.buffer[..scanned - CONTEXT_BYTES]);
        let block = self.take_block(border, role);
        self.scanned = scanned - border;
        block
    }

    /// Cuts whole messages up to `end`, or up to the first message that starts at or after `stop`.
    fn cut_messages(&mut self, end: usize) -> Block {
        let from = self
            .stop
            .map_or(end, |stop| end.min((stop - self.offset) as usize));
        let buffer = &self.buffer[..end];
        let unwanted = match self.format {
            _ if from == end => None,
            Format::Mboxcl => {
                content_length::border_from(buffer, from, AtEof::Yes, self.max_message_bytes)
            }
            // Blank lines at the start of the file belong to the first message.
            _ => {
                let from = from.max(mbox::blank_lines(&self.buffer) + 1);
                mbox::next_separator(buffer, from, AtEof::Yes)
            }
        };
        self.take_block(unwanted.unwrap_or(end), self.role())
    }

    /// Removes the first `end` bytes from the buffer.
    fn take_block(&mut self, end: usize, role: BlockRole) -> Block {
        self.scanned = 0;
        let rest = &self.buffer[end..];
        // The next read appends a block.
        let mut next = Vec::with_capacity(if self.ended {
            rest.len()
        } else {
            rest.len().max(BLOCK_BYTES)
        });
        next.extend_from_slice(rest);
        let mut bytes = std::mem::replace(&mut self.buffer, next);
        bytes.truncate(end);
        // Many small blocks may wait for processing.
        if bytes.len() < bytes.capacity() / 4 {
            bytes.shrink_to_fit();
        }
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        if let Some(fragment) = &mut self.fragment {
            fragment.line_ends += memchr::memchr_iter(b'\n', &bytes).count() as u64;
        }
        Block {
            bytes,
            offset,
            role,
            unpacked_times: 0,
        }
    }

    /// Returns the next block unread: whole messages, which the receiver reads. Returns `None` if
    /// the stream must be read to find the border; [`BlockReader::next_block`] does that.
    ///
    /// Both methods cut at the same offsets. This one reads a few KiB before the border. If it
    /// finds no border, it has read the whole block, which `next_block` reads again. It then stops
    /// peeking for the next few blocks.
    pub fn next_unread_block(&mut self) -> Option<UnreadBlock> {
        /// Number of blocks to read after one without a border: messages of many MiB tend to be
        /// neighbours.
        const PAUSE_BLOCKS: usize = 4;
        let is_plain = self.format == Format::Mbox && self.line_ends == LineEnds::Lf;
        if !is_plain || self.fragment.is_some() || self.stop.is_some() || self.ended {
            return None;
        }
        // Blank lines at the start of the file belong to the first message.
        if self.offset == self.start && mbox::blank_lines(&self.buffer) > 0 {
            return None;
        }
        if self.peek_pause_blocks > 0 {
            self.peek_pause_blocks -= 1;
            return None;
        }
        let Some(len) = self.peek_border() else {
            self.peek_pause_blocks = PAUSE_BLOCKS;
            return None;
        };
        let range = self.stream.hand_off(self.buffer.len() as u64, len as u64)?;
        self.buffer.clear();
        self.scanned = 0;
        let offset = self.offset;
        self.offset += len as u64;
        Some(UnreadBlock { offset, range })
    }

    /// Returns the length of the next block up to its last separator, if the stream has the whole
    /// block. Peeks backwards from the end, window by window.
    fn peek_border(&self) -> Option<usize> {
        /// Size of a window. Most messages are smaller.
        const WINDOW_BYTES: usize = 16 << 10;
        let mut window = Vec::new();
        let mut end = BLOCK_BYTES;
        while end > 0 {
            let start = end.saturating_sub(WINDOW_BYTES);
            // Includes the context before a separator, and the lines after a separator at the end
            // of the window.
            let peeked =
                start.saturating_sub(CONTEXT_BYTES)..(end + SEPARATOR_BYTES + 1).min(BLOCK_BYTES);
            window.resize(peeked.len(), 0);
            let ahead = peeked.start.checked_sub(self.buffer.len())? as u64;
            if !self.stream.peek_ahead(ahead, &mut window) {
                return None;
            }
            if let Some(at) = mbox::last_separator(&window, start - peeked.start) {
                return Some(peeked.start + at).filter(|&at| at > 0);
            }
            end = start;
        }
        None
    }
}

/// Opens the messages of an mbox that start in `range`. Returns `None` if the input is not an mbox,
/// or is an mbox with CR line ends. The first `nuls` bytes are known to be NUL and are not read
/// again.
///
/// # Errors
///
/// Returns the input's error.
pub fn open_range(
    input: &SeekableInput,
    given: Option<Format>,
    hint: FormatHint,
    max_message_bytes: usize,
    range: Range<u64>,
    nuls: u64,
) -> io::Result<Option<StreamBlocks>> {
    let start = SourceStart::read(&mut input.after_nuls(nuls).stream_at(0))?;
    let Some(format) = start.splittable_format(given, hint) else {
        return Ok(None);
    };
    let begin = start.offset;
    let first = first_message(input, begin, format, max_message_bytes, &range)?;
    let messages = first.unwrap_or(range.end)..range.end;
    let stream = Box::new(input.stream_at(messages.start));
    Ok(Some(BlockReader::in_range(
        stream,
        format,
        max_message_bytes,
        messages,
    )))
}

/// Returns the offset of the first message of an mbox that starts in `range`. If there is none, the
/// result can be an offset after `range`. `begin` is the offset of the first message of the file.
///
/// Without Content-Length fields, this reads the blank lines after `begin` and a window around the
/// start of `range`. With them, it reads the file from `begin`, as fast as the disk allows.
///
/// # Errors
///
/// Returns the input's error.
fn first_message(
    input: &SeekableInput,
    begin: u64,
    format: Format,
    max_message_bytes: usize,
    range: &Range<u64>,
) -> io::Result<Option<u64>> {
    if range.start <= begin {
        return Ok(Some(begin));
    }
    if format == Format::Mboxcl {
        let stream = Box::new(input.stream_at(begin));
        let before = begin..range.start;
        let mut blocks = BlockReader::in_range(stream, format, max_message_bytes, before);
        while blocks.next_block()?.is_some() {}
        return Ok((!blocks.buffer.is_empty()).then_some(blocks.offset));
    }
    first_separator(input, begin, range)
}

/// Returns the offset after the blank lines at `begin`. Reads window by window, at most to `end`.
fn blank_end(input: &SeekableInput, begin: u64, end: u64) -> io::Result<u64> {
    let mut stream = input.stream_at(begin);
    let mut blank = begin;
    let mut window = Vec::new();
    while blank < end {
        window.clear();
        stream.append(SNIFF_BYTES, &mut window)?;
        let lines = mbox::blank_lines(&window);
        blank += lines as u64;
        if lines < SNIFF_BYTES {
            break;
        }
    }
    Ok(blank)
}

/// Returns the offset of the first separator in `range`, which starts after `begin`. Reads window
/// by window.
fn first_separator(
    input: &SeekableInput,
    begin: u64,
    range: &Range<u64>,
) -> io::Result<Option<u64>> {
    // Blank lines at the start of the file belong to the first message.
    let blank = blank_end(input, begin, range.end)?;
    let start = range.start.max(blank + 1);
    let mut offset = start.saturating_sub(CONTEXT_BYTES as u64);
    let mut stream = input.stream_at(offset);
    let mut window = Vec::new();
    let mut from = (start - offset) as usize;
    while offset < range.end {
        if !window.is_empty() && is_zero(&window) {
            offset += stream.skip_hole(1);
        }
        let read = stream.append(SNIFF_BYTES, &mut window)?;
        let at_eof = if read < SNIFF_BYTES {
            AtEof::Yes
        } else {
            AtEof::No
        };
        if let Some(at) = mbox::next_separator(&window, from, at_eof) {
            return Ok(Some(offset + at as u64));
        }
        if at_eof == AtEof::Yes {
            return Ok(None);
        }
        let done = window.len() - SEPARATOR_BYTES - CONTEXT_BYTES;
        window.drain(..done);
        offset += done as u64;
        from = CONTEXT_BYTES;
    }
    Ok(None)
}
