//! Blocks: pieces of a source that can be divided into messages without the rest of it.

use std::sync::Arc;

/// Whole messages, or a fragment of one.
#[derive(Debug, Default)]
pub struct Block {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The offset of the first byte in the source.
    pub offset: u64,
    /// Content of the bytes.
    pub role: BlockRole,
}

/// Content of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BlockRole {
    /// Whole messages, or the first fragment of a text; no URL crosses its end.
    #[default]
    Whole,
    /// The first fragment of a message larger than the limit.
    FirstFragment,
    /// A later fragment of a message or text.
    LaterFragment(FragmentHead),
}

/// Start of a message or text that is read in fragments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentHead {
    /// The offset of its first byte in the source.
    pub start: u64,
    /// Number of line ends between `start` and the fragment.
    pub line_ends: u64,
    /// Its first bytes, at most [`MESSAGE_PREFIX_BYTES`](crate::limits::MESSAGE_PREFIX_BYTES).
    pub head: Arc<Vec<u8>>,
}
