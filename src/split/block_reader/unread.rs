//! Blocks that are cut without being read: the receiver reads them on another thread.

use super::{BlockReader, CONTEXT_BYTES, UnreadBlock};
use crate::limits::{BLOCK_BYTES, SEPARATOR_BYTES};
use crate::read::SparseRead;
use crate::split::format::Format;
use crate::split::line_ends::LineEnds;
use crate::split::mbox;

impl<R: SparseRead> BlockReader<R> {
    /// Returns the next block without reading it: whole messages, which the receiver reads. `None` where the stream must be read
    /// to be cut, as [`BlockReader::next_block`] does.
    ///
    /// Both methods cut at the same offsets. This one reads a few KiB before the border. Where it finds none it has read the
    /// whole block, which `next_block` reads again; it then does not peek at the next blocks.
    pub fn next_unread_block(&mut self) -> Option<UnreadBlock> {
        /// Blocks to read after one without a border: messages of many MiB come together.
        const PAUSE_BLOCKS: usize = 4;
        let is_plain = self.format == Format::Mbox && self.line_ends == LineEnds::Lf;
        if !is_plain || self.fragment.is_some() || self.stop.is_some() || self.ended {
            return None;
        }
        if self.offset == self.start && self.begins_with_blank_line() {
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
        let offset = self.offset;
        self.offset += len as u64;
        Some(UnreadBlock { offset, range })
    }

    /// Returns `true` if the next byte ends a line: then only reading tells where the first message of the file begins.
    fn begins_with_blank_line(&self) -> bool {
        let mut first = [0];
        match self.buffer.first() {
            Some(&byte) => first = [byte],
            None if !self.stream.peek_ahead(0, &mut first) => return false,
            None => {}
        }
        mbox::blank_lines(&first) > 0
    }

    /// Returns the length of the next block up to its last separator, if the stream has all of the block. Peeks backwards from its
    /// end, window by window.
    fn peek_border(&self) -> Option<usize> {
        /// Bytes of a window. Most messages are smaller.
        const WINDOW_BYTES: usize = 16 << 10;
        let mut window = Vec::new();
        let mut end = BLOCK_BYTES;
        while end > 0 {
            let start = end.saturating_sub(WINDOW_BYTES);
            // The context before a separator, and the lines after one at the end of the window.
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
