//! Blocks: whole messages, or a piece of one.

use std::sync::Arc;

use crate::read::UnreadRange;

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
    FirstFragment,
    /// A further piece of a message or text.
    LaterFragment(FragmentHead),
}

/// What is known of a message or text that is read in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentHead {
    /// The offset of its first byte.
    pub start: u64,
    /// Line ends from there to the piece.
    pub line_ends: u64,
    /// Its first bytes, at most [`MESSAGE_PREFIX_BYTES`](crate::limits::MESSAGE_PREFIX_BYTES).
    pub head: Arc<Vec<u8>>,
}
