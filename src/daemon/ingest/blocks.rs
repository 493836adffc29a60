//! Takes the messages of streams that are read once, from their start to their end.

use std::fs::File;
use std::io::Read;

use super::identity::FileVersion;
use super::message_ingest::{End, Taker, divided};
use super::outcome::Look;
use crate::daemon::error::DaemonError;
use crate::read::SparseRead;
use crate::split::{BlockReader, BlockRole, Format};

/// Takes everything in a file that is no mbox.
pub(super) fn whole(
    opened: &File,
    mut start: Vec<u8>,
    stamp: FileVersion,
    format: Format,
    most: usize,
    taker: &mut Taker<'_>,
) -> Result<Look, DaemonError> {
    let mut rest = opened;
    if stamp.size <= most as u64 {
        // All of it is read before anything is taken, so that one that changes meanwhile is noticed.
        let read = (&mut rest).take(most as u64).read_to_end(&mut start);
        match read.and_then(|_| opened.metadata()) {
            Ok(metadata) if FileVersion::of(&metadata) != stamp => return Ok(Look::Wait),
            Ok(_) => {}
            Err(error) => return Ok(Look::Failed(error)),
        }
    }
    let roller = BlockReader::new(rest, start, format, most);
    let end = if format == Format::Text {
        End::File
    } else {
        End::Sure
    };
    blocks(roller, format, stamp.size, end, taker)
}

/// Takes all messages of a stream. The one that ends where the stream is `size` bytes long ends as `end` says.
pub(super) fn blocks<R: SparseRead>(
    mut roller: BlockReader<R>,
    format: Format,
    size: u64,
    end: End,
    taker: &mut Taker<'_>,
) -> Result<Look, DaemonError> {
    let mut giant = 0;
    loop {
        let block = match roller.next_block() {
            Ok(Some(block)) => block,
            Ok(None) => return Ok(Look::Done),
            Err(error) => return Ok(Look::Failed(error)),
        };
        let at_end = block.offset + block.bytes.len() as u64 >= size;
        let within = match &block.role {
            BlockRole::LaterFragment(begun) => Some((giant, block.offset - begun.start)),
            BlockRole::Whole | BlockRole::FirstFragment => None,
        };
        let pieces = divided(&block, format, taker);
        let digest = taker.take(&pieces, within, if at_end { end } else { End::Sure })?;
        if within.is_none() {
            giant = digest;
        }
    }
}
