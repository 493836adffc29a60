//! A source, cut into blocks that can be worked on apart, in order, and notes on what became of its members.

use std::fs::File;
use std::io;
use std::sync::Arc;

use super::chunk::{self, Chunk};
use super::job::Job;
use crate::limits::Limits;
use crate::origin::{self, FormatHint, Source};
use crate::read::{self, Input, SparseRead, StreamStep, Streams, UnreadRange};
use crate::split::{self, Block, BlockReader, Format, OpenedStream, UnreadBlock};
use crate::walk;

/// Something that was cut out of a source.
pub(super) enum Item {
    /// Messages.
    Block(Arc<Source>, Format, Block),
    /// Whole messages that nobody has read yet, and the offset of the first.
    Unread(Arc<Source>, Format, u64, UnreadRange),
    /// What became of the source, or of a member of it.
    Note(Box<Chunk>),
}

impl Item {
    /// Bytes of messages.
    pub(super) fn len(&self) -> u64 {
        match self {
            Item::Block(_, _, block) => block.bytes.len() as u64,
            Item::Unread(.., unread) => unread.len(),
            Item::Note(_) => 0,
        }
    }
}

/// The items of a source, cut while they are asked for.
///
/// Holds one block, and what the decoders above it need.
pub(super) struct Cuts {
    /// Nothing for a part of a file, which is `current` from the start.
    streams: Option<Streams>,
    given: Option<Format>,
    message_bytes: usize,
    /// Bytes of the source when it was opened, if that was known.
    size: Option<u64>,
    current: Option<Current>,
    /// Bytes of a part of a file that were read.
    part_bytes: u64,
}

/// The stream that is being read.
struct Current {
    source: Arc<Source>,
    format: Format,
    blocks: BlockReader<Box<dyn SparseRead>>,
    counts: Counts,
}

/// What is counted as read at a stream's end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// The source.
    Source,
    /// Nothing: another part of it was.
    Nothing,
}

impl Cuts {
    pub(super) fn new(
        input: Input,
        source: Source,
        hint: FormatHint,
        job: &Job,
        limits: &Limits,
    ) -> Cuts {
        let size = input.size();
        let streams = Streams::new(input, source, hint, limits);
        Cuts {
            streams: Some(streams),
            given: job.format,
            message_bytes: limits.message_bytes,
            size,
            current: None,
            part_bytes: 0,
        }
    }

    /// The messages that begin in a part of an mbox. Nothing if the file is none.
    pub(super) fn part(
        opened: File,
        file: &walk::WalkedFile,
        part: &origin::FileRange,
        job: &Job,
        limits: &Limits,
    ) -> io::Result<Option<Cuts>> {
        let given = job.format.or_else(|| part.kind.map(Format::of));
        let message_bytes = limits.message_bytes;
        let found = split::open_range(
            opened,
            given,
            file.hint,
            message_bytes,
            part.start..part.end,
        )?;
        Ok(found.map(|blocks| {
            // Each part is read, but all of them are one file.
            let counts = if part.start == 0 {
                Counts::Source
            } else {
                Counts::Nothing
            };
            let current = Current {
                source: Arc::new(file.source.clone()),
                format: blocks.format(),
                blocks,
                counts,
            };
            Cuts {
                streams: None,
                given,
                message_bytes,
                size: None,
                current: Some(current),
                part_bytes: 0,
            }
        }))
    }

    /// Bytes of the source itself that were read so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.streams
            .as_ref()
            .map_or(self.part_bytes, Streams::bytes_read)
    }

    /// The next block of the stream that is being read, or what became of it.
    fn block(&mut self, mut current: Current) -> Item {
        if let Some(UnreadBlock { offset, range }) = current.blocks.next_unread_block() {
            let item = Item::Unread(Arc::clone(&current.source), current.format, offset, range);
            self.current = Some(current);
            return item;
        }
        let mut piece = Chunk::default();
        match current.blocks.next_block() {
            Ok(Some(block)) => {
                self.part_bytes += block.bytes.len() as u64;
                let item = Item::Block(Arc::clone(&current.source), current.format, block);
                self.current = Some(current);
                return item;
            }
            Ok(None) if current.counts == Counts::Nothing => {}
            Ok(None) => {
                chunk::read_whole(&mut piece, &current.source);
                let unpacked = self.streams.as_ref().is_some_and(Streams::is_unpacked);
                if !unpacked
                    && self
                        .size
                        .is_some_and(|size| current.blocks.position() < size)
                {
                    chunk::shrunk_before(&mut piece, &current.source, current.blocks.position());
                }
            }
            Err(error) => {
                chunk::lost(
                    &mut piece,
                    read::diagnostic(&error, Some(current.blocks.position())).of(&current.source),
                );
            }
        }
        if self.streams.as_ref().is_some_and(Streams::is_unpacked) {
            piece.balance.bytes_unpacked = current.blocks.position();
        }
        Item::Note(Box::new(piece))
    }

    /// What becomes of a step into the source. Nothing, if it is a stream that is read from now on.
    fn step(&mut self, step: StreamStep) -> Option<Item> {
        let mut piece = Chunk::default();
        match step {
            StreamStep::Stream {
                source,
                hint,
                stream,
            } => match split::open(stream, self.given, hint, self.message_bytes) {
                Ok(OpenedStream::Blocks(blocks)) => {
                    self.current = Some(Current {
                        source: Arc::new(source),
                        format: blocks.format(),
                        blocks,
                        counts: Counts::Source,
                    });
                    return None;
                }
                Ok(OpenedStream::Skipped(reason)) => chunk::skipped(&mut piece, &source, reason),
                Err(error) => chunk::failed(&mut piece, &source, &error),
            },
            StreamStep::Skipped { source, reason } => chunk::skipped(&mut piece, &source, reason),
            StreamStep::ArchiveRead(source) => chunk::read_whole(&mut piece, &source),
            StreamStep::ArchiveBroken { source, kind } => chunk::broken(&mut piece, &source, kind),
            StreamStep::Failed(event) => chunk::lost(&mut piece, event),
            StreamStep::Warning(event) => chunk::remarked(&mut piece, event),
        }
        Some(Item::Note(Box::new(piece)))
    }
}

impl Iterator for Cuts {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(current) = self.current.take() {
                return Some(self.block(current));
            }
            let step = self.streams.as_mut()?.next()?;
            if let Some(item) = self.step(step) {
                return Some(item);
            }
        }
    }
}
