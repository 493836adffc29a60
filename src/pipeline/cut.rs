//! A source, cut into blocks that can be worked on apart, in order, and notes on what became of its members.

use std::sync::Arc;

use super::Piece;
use super::pool::Job;
use super::work;
use crate::limits::Limits;
use crate::origin::{Hint, Source};
use crate::read::{self, Input, Step, Streams};
use crate::split::{self, Block, Format, Opened, Roller};

/// Something that was cut out of a source.
pub(super) enum Item {
    /// Messages.
    Block(Arc<Source>, Format, Block),
    /// What became of the source, or of a member of it.
    Note(Box<Piece>),
}

impl Item {
    /// Octets of messages.
    pub(super) fn len(&self) -> u64 {
        match self {
            Item::Block(_, _, block) => block.bytes.len() as u64,
            Item::Note(_) => 0,
        }
    }
}

/// The items of a source, cut while they are asked for.
///
/// Holds one block, and what the decoders above it need.
pub(super) struct Cuts {
    streams: Streams,
    given: Option<Format>,
    message_bytes: usize,
    current: Option<Current>,
}

/// The stream that is being read.
struct Current {
    source: Arc<Source>,
    format: Format,
    blocks: Roller<Box<dyn std::io::Read>>,
    bytes: u64,
}

impl Cuts {
    pub(super) fn new(input: Input, source: Source, hint: Hint, job: &Job, limits: &Limits) -> Cuts {
        let streams = Streams::new(input, source, hint, limits);
        Cuts { streams, given: job.format, message_bytes: limits.message_bytes, current: None }
    }

    /// Octets of the source itself that were read so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.streams.bytes_read()
    }

    /// The next block of the stream that is being read, or what became of it.
    fn block(&mut self, mut current: Current) -> Item {
        let mut piece = Piece::default();
        match current.blocks.next_block() {
            Ok(Some(block)) => {
                current.bytes += block.bytes.len() as u64;
                let item = Item::Block(Arc::clone(&current.source), current.format, block);
                self.current = Some(current);
                return item;
            }
            Ok(None) => work::read_whole(&mut piece, &current.source),
            Err(error) => {
                work::lost(&mut piece, read::problem(&error, Some(current.bytes)).of(&current.source));
            }
        }
        if self.streams.is_unpacked() {
            piece.balance.bytes_unpacked = current.bytes;
        }
        Item::Note(Box::new(piece))
    }

    /// What becomes of a step into the source. Nothing, if it is a stream that is read from now on.
    fn step(&mut self, step: Step) -> Option<Item> {
        let mut piece = Piece::default();
        match step {
            Step::Stream(source, hint, stream) => match split::open(stream, self.given, hint, self.message_bytes) {
                Ok(Opened::Blocks(format, blocks)) => {
                    self.current = Some(Current { source: Arc::new(source), format, blocks, bytes: 0 });
                    return None;
                }
                Ok(Opened::Left(why)) => work::skipped(&mut piece, &source, why),
                Err(error) => work::failed(&mut piece, &source, &error),
            },
            Step::Left(source, why) => work::skipped(&mut piece, &source, why),
            Step::Closed(source) => work::read_whole(&mut piece, &source),
            Step::Broken(source, kind) => work::broken(&mut piece, &source, kind),
            Step::Lost(event) => work::lost(&mut piece, event),
            Step::Remark(event) => work::remarked(&mut piece, event),
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
            let step = self.streams.next()?;
            if let Some(item) = self.step(step) {
                return Some(item);
            }
        }
    }
}
