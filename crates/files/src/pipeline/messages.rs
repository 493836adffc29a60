//! Iterates over the messages of one input: opens it, enters compressed files and archives, detects
//! the format of each stream, and cuts the stream into blocks at message borders.
//!
//! This is the only source of messages for `scan`, the daemon and `explain`. It leaves folders to
//! `walk`, and the division of a block into messages to `split`.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use urlspool_mail::split::{self, Block, Format, SplitOutput, StreamBlocks, UnreadBlock, messages};
use urlspool_record::record::is_written_file;
use urlspool_sources::read::{self, Input, SeekableInput, SparseRead, StreamStep, Streams};
use urlspool_sources::read::{GitHost, Repository, RepositoryContent, Selection};
use urlspool_sources::walk::WalkedFile;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use urlspool_text::limits::Limits;
use urlspool_text::origin::{FileRange, FormatHint, Source};

/// Pull iterator over the steps through one input.
///
/// Holds one block and the buffers of the decoders. Reads only when a step is requested.
#[derive(Default)]
pub struct MessageSource {
    /// `None` for a single stream, which is `current` from the start.
    streams: Option<Streams>,
    /// The format of all streams; `None` to detect it.
    given: Option<Format>,
    max_message_bytes: usize,
    /// Size of the input when it was opened, if known.
    size: Option<u64>,
    /// `true` to return blocks unread if they can be cut without reading them.
    hands_out_unread: bool,
    /// `true` to skip texts written by an earlier run of urlspool.
    skips_earlier_outputs: bool,
    current: Option<CurrentStream>,
    /// The input. `None` for a single stream.
    input: Option<Source>,
    /// A step to return before all others.
    ready: Option<InputStep>,
    /// Total size of the returned blocks.
    block_bytes: u64,
    /// Number of bytes already returned by [`MessageSource::take_bytes_read`].
    taken_bytes: u64,
}

/// Returns `true` for a text that starts with output of urlspool. In a folder, its URLs would be
/// found a second time.
#[must_use]
pub fn is_earlier_output(format: Format, start: &[u8]) -> bool {
    format == Format::Text && is_written_file(start)
}

/// The stream being read.
struct CurrentStream {
    source: Source,
    blocks: StreamBlocks,
    is_unpacked: bool,
    is_further_part: bool,
}

impl MessageSource {
    /// Creates a source of the messages of `input`, named `source`, and of its members. `given` is
    /// the format of all streams; `None` to detect it.
    #[must_use]
    pub fn new(
        input: Input,
        source: Source,
        hint: FormatHint,
        given: Option<Format>,
        limits: &Limits,
    ) -> MessageSource {
        let size = input.size();
        let streams = Streams::new(input, source.clone(), hint, limits);
        MessageSource {
            streams: Some(streams),
            input: Some(source),
            size,
            ..MessageSource::empty(given, limits)
        }
    }

    /// Creates a source of the messages of a file of the walk. Unless a format is given, texts
    /// written by an earlier run of urlspool are skipped in files that the user did not name.
    pub(super) fn of_file(
        input: Input,
        file: &WalkedFile,
        given: Option<Format>,
        limits: &Limits,
    ) -> MessageSource {
        let messages = MessageSource::new(input, file.source.clone(), file.hint, given, limits);
        MessageSource {
            skips_earlier_outputs: given.is_none() && file.is_in_root(),
            streams: messages.streams.map(Streams::with_outlook),
            ..messages
        }
    }

    /// Creates a source of the messages of the git repository in the folder `source`.
    ///
    /// # Errors
    ///
    /// The step with the reason why it is not read.
    pub fn of_repository(
        source: Source,
        given: Option<Format>,
        limits: &Limits,
    ) -> Result<MessageSource, InputStep> {
        let failed = |error| InputStep::Failed(InputFailure::new(&source, error));
        match Repository::open(&source.path, &GitHost::new(limits)).map_err(failed)? {
            RepositoryContent::Skipped(reason) => Err(InputStep::Skipped { source, reason }),
            RepositoryContent::Mail(repository) => {
                let all = &Selection::All;
                MessageSource::of_commits(&repository, all, source.clone(), given, limits)
                    .map_err(failed)
            }
        }
    }

    /// Creates a source of selected messages of a git repository.
    ///
    /// # Errors
    ///
    /// Git cannot be run.
    pub fn of_commits(
        repository: &Repository,
        selection: &Selection,
        source: Source,
        given: Option<Format>,
        limits: &Limits,
    ) -> io::Result<MessageSource> {
        let streams = Streams::of_repository(repository, selection, source.clone(), limits)?;
        Ok(MessageSource {
            streams: Some(streams),
            input: Some(source),
            ..MessageSource::empty(given, limits)
        })
    }

    /// Creates a source of the messages of one stream, which is not a compressed file or an
    /// archive.
    #[must_use]
    pub fn of_stream(
        stream: Box<dyn SparseRead>,
        source: Source,
        hint: FormatHint,
        given: Option<Format>,
        limits: &Limits,
    ) -> MessageSource {
        let mut messages = MessageSource::empty(given, limits);
        messages.ready = Some(messages.open(stream, source, hint));
        messages
    }

    /// Creates a source of the messages that start in a part of an mbox. `None` if `opened`, the
    /// whole file, is not an mbox.
    ///
    /// # Errors
    ///
    /// Read errors of the file.
    pub fn of_part(
        opened: &SeekableInput,
        hint: FormatHint,
        part: &FileRange,
        given: Option<Format>,
        limits: &Limits,
    ) -> io::Result<Option<MessageSource>> {
        let given = given.or_else(|| part.kind.map(Format::of));
        let range = part.start..part.end;
        let found = split::open_range(opened, given, hint, limits.message_bytes, range, part.nuls)?;
        Ok(found.map(|blocks| MessageSource {
            current: Some(CurrentStream {
                source: part.source.clone(),
                blocks,
                is_unpacked: false,
                is_further_part: part.start != 0,
            }),
            ..MessageSource::empty(given, limits)
        }))
    }

    fn empty(given: Option<Format>, limits: &Limits) -> MessageSource {
        MessageSource {
            given,
            max_message_bytes: limits.message_bytes,
            ..MessageSource::default()
        }
    }

    /// Returns blocks of plain mboxes unread where possible, so other threads read them.
    pub(super) fn with_unread_blocks(self) -> MessageSource {
        MessageSource {
            hands_out_unread: true,
            ..self
        }
    }

    /// Number of bytes of the input itself read so far.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.streams
            .as_ref()
            .map_or(self.block_bytes, Streams::bytes_read)
    }

    /// Number of bytes of the input itself read since the last call.
    pub(super) fn take_bytes_read(&mut self) -> u64 {
        let bytes_read = self.bytes_read();
        bytes_read - std::mem::replace(&mut self.taken_bytes, bytes_read)
    }

    /// Returns `true` if the next step may wait for bytes that have not arrived yet.
    pub(super) fn is_waiting(&self) -> bool {
        let current = self.current.as_ref();
        current.is_some_and(|current| current.blocks.is_waiting())
    }

    fn open(&mut self, stream: Box<dyn SparseRead>, source: Source, hint: FormatHint) -> InputStep {
        let is_unpacked = self.streams.as_ref().is_some_and(Streams::is_unpacked);
        match split::open(stream, self.given, hint, self.max_message_bytes) {
            Ok(Ok(blocks))
                if self.skips_earlier_outputs
                    && is_earlier_output(blocks.format(), blocks.buffered()) =>
            {
                InputStep::Skipped {
                    source,
                    reason: SkipReason::EarlierOutput,
                }
            }
            Ok(Ok(blocks)) => {
                let format = blocks.format();
                self.current = Some(CurrentStream {
                    source: source.clone(),
                    blocks,
                    is_unpacked,
                    is_further_part: false,
                });
                InputStep::Opened { source, format }
            }
            Ok(Err(reason)) => InputStep::Skipped { source, reason },
            Err(error) => InputStep::Failed(InputFailure::new(&source, error)),
        }
    }

    /// Returns the next block of the current stream, or its end.
    fn block(&mut self, mut current: CurrentStream) -> InputStep {
        let (source, format) = (current.source.clone(), current.blocks.format());
        if self.hands_out_unread
            && let Some(unread) = current.blocks.next_unread_block()
        {
            self.current = Some(current);
            return InputStep::Unread(UnreadMessages {
                source,
                format,
                unread,
            });
        }
        let next = current.blocks.next_block();
        // The start of an mbox that has paused may not yet show that it has lengths.
        let format = current.blocks.format();
        match next {
            Ok(Some(mut block)) => {
                block.unpacked_times = self.streams.as_ref().map_or(0, Streams::unpacked_times);
                self.block_bytes += block.bytes.len() as u64;
                self.current = Some(current);
                InputStep::Block(MessageBlock {
                    source,
                    format,
                    block,
                })
            }
            Ok(None) if current.blocks.is_waiting() => {
                self.current = Some(current);
                InputStep::Waiting
            }
            Ok(None) => self.end(&current, None),
            Err(error) => self.end(&current, Some(error)),
        }
    }

    fn end(&mut self, current: &CurrentStream, error: Option<io::Error>) -> InputStep {
        let reached = current.blocks.position();
        let is_shorter = self.size.is_some_and(|size| reached < size);
        if error.is_none() && !current.is_unpacked && is_shorter {
            self.ready = Some(InputStep::Warning(shrunk_before(&current.source, reached)));
        }
        InputStep::Ended(current.end(error))
    }

    /// Ends the input after a panic of a decoder or of the program, whose state is then unreliable.
    /// `reading` is the stream that was being read.
    fn end_panicked(&mut self, reading: Option<StreamEnd>) -> Option<InputStep> {
        self.streams = None;
        self.current = None;
        reading.map(InputStep::Ended).or_else(|| {
            let failure = InputFailure::new(&self.input.take()?, read::panicked());
            Some(InputStep::Failed(failure))
        })
    }

    fn advance(&mut self) -> Option<InputStep> {
        if let Some(current) = self.current.take() {
            return Some(self.block(current));
        }
        let step = self.streams.as_mut()?.next()?;
        Some(self.step(step))
    }

    fn step(&mut self, step: StreamStep) -> InputStep {
        match step {
            StreamStep::Stream {
                source,
                hint,
                stream,
            } => self.open(stream, source, hint),
            StreamStep::Skipped { source, reason } => InputStep::Skipped { source, reason },
            StreamStep::ArchiveRead(source) => InputStep::ArchiveRead(source),
            StreamStep::ArchiveBroken { source, kind } => InputStep::ArchiveBroken { source, kind },
            StreamStep::Failed(event) => InputStep::Failed(InputFailure { event, error: None }),
            StreamStep::Warning(event) => InputStep::Warning(event),
        }
    }
}

impl Iterator for MessageSource {
    type Item = InputStep;

    fn next(&mut self) -> Option<InputStep> {
        if let Some(step) = self.ready.take() {
            return Some(step);
        }
        let current = self.current.as_ref();
        let reading = current.map(|current| current.end(Some(read::panicked())));
        match catch_unwind(AssertUnwindSafe(|| self.advance())) {
            Ok(step) => step,
            Err(_) => self.end_panicked(reading),
        }
    }
}

impl CurrentStream {
    /// Returns the end of the stream at the current position.
    fn end(&self, error: Option<io::Error>) -> StreamEnd {
        StreamEnd {
            source: self.source.clone(),
            reached: self.blocks.position(),
            is_unpacked: self.is_unpacked,
            is_further_part: self.is_further_part,
            error,
        }
    }
}

/// The event for a source that ended at `end` or before, and was longer when it was opened.
pub(super) fn shrunk_before(source: &Source, end: u64) -> Event {
    let message = "the file ends here or before, but was longer when it was opened";
    Diagnostic::at(DiagnosticKind::Vanished, end, message).of(source)
}

/// One step through an input.
///
/// A stream is the input itself, or a member of a compressed file or an archive. Each stream that
/// is read produces `Opened`, its blocks, and `Ended`. Each other file or member, except folders,
/// produces one of `Skipped`, `ArchiveRead`, `ArchiveBroken` and `Failed`. `Warning` may occur in
/// addition.
pub enum InputStep {
    /// A stream whose messages follow.
    Opened {
        /// The file, and the member in it.
        source: Source,
        /// The stream's format.
        format: Format,
    },
    /// Messages of the stream.
    Block(MessageBlock),
    /// Unread messages of the stream. Only after `MessageSource::with_unread_blocks`.
    Unread(UnreadMessages),
    /// No message of the stream has ended, and no more bytes have arrived. The next step waits for
    /// them.
    Waiting,
    /// The end of the stream.
    Ended(StreamEnd),
    /// A file or a member that is not read.
    Skipped {
        /// The file, and the member in it.
        source: Source,
        /// The reason.
        reason: SkipReason,
    },
    /// An archive that was read completely.
    ArchiveRead(Source),
    /// An archive that could not be read completely. An event about its last member was returned
    /// before.
    ArchiveBroken {
        /// The archive.
        source: Source,
        /// The kind of that event.
        kind: DiagnosticKind,
    },
    /// A file or a member that could not be opened or recognised, or an archive that could not be
    /// read completely.
    Failed(InputFailure),
    /// A condition that does not change how much is read.
    Warning(Event),
}

impl InputStep {
    /// Size of the messages in the step, including unread ones.
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
    /// The event that reports the failure.
    pub event: Event,
    /// The error, unless only the event is known.
    pub error: Option<io::Error>,
}

impl InputFailure {
    /// Creates the failure of `source` with `error`.
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
    /// The stream that contains them.
    pub source: Source,
    /// The stream's format.
    pub format: Format,
    /// The bytes of the messages.
    pub block: Block,
}

impl MessageBlock {
    /// Passes each message to `sink`, in order, after the diagnostics about its borders.
    pub fn messages<'b>(&'b self, sink: &mut dyn FnMut(SplitOutput<'b>)) {
        messages(&self.block, self.format, &mut |mut output| {
            if let SplitOutput::Message(message) = &mut output {
                message.page = self.source.page();
            }
            sink(output);
        });
    }
}

/// Whole messages of a stream, to be read by the thread that processes them.
#[derive(Debug)]
pub struct UnreadMessages {
    /// The stream that contains them.
    pub source: Source,
    /// The stream's format.
    pub format: Format,
    /// The range of the messages in the stream.
    pub unread: UnreadBlock,
}

/// The end of a stream.
#[derive(Debug)]
pub struct StreamEnd {
    /// The stream.
    pub source: Source,
    /// Offset in the stream up to which blocks were returned.
    pub reached: u64,
    /// `true` if the bytes came from a compressed file or an archive.
    pub is_unpacked: bool,
    /// `true` for a part of a file other than the first: only the first part counts as a file.
    pub is_further_part: bool,
    /// The error that ended the stream early.
    pub error: Option<io::Error>,
}
