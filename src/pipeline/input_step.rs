//! Steps through one input: streams, blocks of messages, and what happened to files and members.

use std::io;

use crate::diagnostic::{DiagnosticKind, Event, SkipReason};
use crate::origin::Source;
use crate::read;
use crate::split::{Block, Format, SplitOutput, UnreadBlock, messages};

/// One step through an input.
///
/// A stream is the input itself, or a member of a compressed file or an archive. Each stream that is read gives `Opened`,
/// its blocks, and `Ended`. Each other file or member, except folders, gives one of `Skipped`, `ArchiveRead`,
/// `ArchiveBroken` and `Failed`. `Warning` comes in addition.
#[non_exhaustive]
pub enum InputStep {
    /// A stream whose messages follow.
    Opened {
        /// The file, and the member in it.
        source: Source,
        /// Its format.
        format: Format,
    },
    /// Messages of the stream.
    Block(MessageBlock),
    /// Messages of the stream that are still to be read. Only after `MessageSource::with_unread_blocks`.
    Unread(UnreadMessages),
    /// The end of the stream.
    Ended(StreamEnd),
    /// A file or a member that is not read.
    Skipped {
        /// The file, and the member in it.
        source: Source,
        /// The reason.
        reason: SkipReason,
    },
    /// An archive that was read to its end.
    ArchiveRead(Source),
    /// An archive that could not be read to its end; an event about its last member was given before.
    ArchiveBroken {
        /// The archive.
        source: Source,
        /// The kind of that event.
        kind: DiagnosticKind,
    },
    /// A file or a member that could not be opened or recognised, or an archive that could not be read to its end.
    Failed(InputFailure),
    /// A condition that changes nothing in what is read.
    Warning(Event),
}

impl InputStep {
    /// Bytes of messages that the step holds, or will hold when they are read.
    pub(super) fn message_bytes(&self) -> u64 {
        match self {
            InputStep::Block(MessageBlock { block, .. }) => block.bytes.len() as u64,
            InputStep::Unread(messages) => messages.unread.range.len(),
            _ => 0,
        }
    }
}

/// A file or a member that could not be read.
#[derive(Debug)]
pub struct InputFailure {
    /// The event about it.
    pub event: Event,
    /// The error, unless only the event is known.
    pub error: Option<io::Error>,
}

impl InputFailure {
    /// The failure of `source` with `error`.
    #[must_use]
    pub fn new(source: &Source, error: io::Error) -> InputFailure {
        InputFailure {
            event: read::error_diagnostic(&error, None).of(source),
            error: Some(error),
        }
    }
}

/// Whole messages of a stream, or a piece of one.
#[derive(Debug)]
pub struct MessageBlock {
    /// The stream they lie in.
    pub source: Source,
    /// Its format.
    pub format: Format,
    /// Their bytes.
    pub block: Block,
}

impl MessageBlock {
    /// Gives each message to `sink`, in order, each after the diagnostics about its borders.
    pub fn messages<'b>(&'b self, sink: &mut dyn FnMut(SplitOutput<'b>)) {
        messages(&self.block, self.format, sink);
    }
}

/// Whole messages of a stream that the thread that works on them reads itself.
#[derive(Debug)]
pub struct UnreadMessages {
    /// The stream they lie in.
    pub source: Source,
    /// Its format.
    pub format: Format,
    /// Their range in the stream.
    pub unread: UnreadBlock,
}

/// The end of a stream.
#[derive(Debug)]
pub struct StreamEnd {
    /// The stream.
    pub source: Source,
    /// Offset in the stream up to which blocks were given.
    pub reached: u64,
    /// Origin of the stream's bytes.
    pub storage: StreamStorage,
    /// Part of the stream that was asked for.
    pub extent: StreamExtent,
    /// The error that ended the stream early.
    pub error: Option<io::Error>,
}

/// Origin of a stream's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamStorage {
    /// The bytes of the input itself.
    Plain,
    /// Bytes that came out of a compressed file or an archive.
    Unpacked,
}

/// Part of a stream that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamExtent {
    /// All of it, or the first of several parts. Only these count as a file.
    Start,
    /// A further part of a file.
    FurtherPart,
}
