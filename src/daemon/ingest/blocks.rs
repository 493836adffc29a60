//! Ingest of streams that are read once from start to end: files of other formats than mbox, and members of containers.

use std::fs::File;

use super::identity::{FileVersion, PiecePosition};
use super::message_ingest::MessageIngest;
use super::outcome::{EndCertainty, FileOutcome};
use crate::daemon::error::DaemonError;
use crate::read::SparseRead;
use crate::split::{Block, BlockReader, BlockRole, Format, SourceStart};

/// Ingests a file that is read as a whole. It is positioned after `start`.
pub(super) fn ingest_file(
    file: &File,
    start: SourceStart,
    version: FileVersion,
    format: Format,
    max_message_bytes: usize,
    ingest: &mut MessageIngest<'_>,
) -> Result<FileOutcome, DaemonError> {
    let mut file = file;
    let mut read = Vec::new();
    let is_whole = version.size.saturating_sub(start.offset) <= max_message_bytes as u64;
    if is_whole {
        // The whole file is read before any message is ingested, so that a change in the meantime is noticed.
        let result = file.append(max_message_bytes, &mut read);
        match result.and_then(|_| file.metadata()) {
            Ok(metadata) if FileVersion::of(&metadata) != version => {
                return Ok(FileOutcome::Waiting);
            }
            Ok(_) => {}
            Err(error) => return Ok(FileOutcome::Failed(error)),
        }
    }
    let end = match format {
        // An mbox that is read as a whole has CR line ends.
        Format::Text | Format::Html | Format::Mbox | Format::Mboxcl => EndCertainty::EndOfFile,
        _ => EndCertainty::Certain,
    };
    let rest: Box<dyn SparseRead + '_> = if is_whole {
        Box::new(read.as_slice())
    } else {
        Box::new(file)
    };
    let reader = BlockReader::after_start(rest, start, format, max_message_bytes);
    ingest_blocks(reader, version.size, end, ingest)
}

/// Ingests all messages of a stream. `end` is the end of the message that ends at `size`, the size of the stream.
fn ingest_blocks<R: SparseRead>(
    mut reader: BlockReader<R>,
    size: u64,
    end: EndCertainty,
    ingest: &mut MessageIngest<'_>,
) -> Result<FileOutcome, DaemonError> {
    let mut blocks = BlockIngest::default();
    loop {
        let block = match reader.next_block() {
            Ok(Some(block)) => block,
            Ok(None) => return Ok(FileOutcome::Complete),
            Err(error) => return Ok(FileOutcome::Failed(error)),
        };
        let block_end = if size <= block.offset + block.bytes.len() as u64 {
            end
        } else {
            EndCertainty::Certain
        };
        blocks.ingest(&block, reader.format(), block_end, ingest)?;
    }
}

/// Ingest of a stream, block after block.
#[derive(Debug, Default)]
pub(super) struct BlockIngest {
    /// Digest of the first fragment of the message that is read in fragments.
    first_digest: u128,
}

impl BlockIngest {
    /// Ingests the messages of the next block. `end` is the end of the last of them.
    pub(super) fn ingest(
        &mut self,
        block: &Block,
        format: Format,
        end: EndCertainty,
        ingest: &mut MessageIngest<'_>,
    ) -> Result<(), DaemonError> {
        let position = match &block.role {
            BlockRole::LaterFragment(begun) => Some(PiecePosition {
                first_digest: self.first_digest,
                offset: block.offset - begun.start,
            }),
            BlockRole::Whole | BlockRole::FirstFragment => None,
        };
        if block.role == BlockRole::Whole {
            ingest.find_earlier(block, format)?;
        }
        let messages = ingest.split(block, format);
        let digest = ingest.ingest(&messages, position, end)?;
        if position.is_none() {
            self.first_digest = digest;
        }
        Ok(())
    }
}
