//! Streams of text in a source: its bytes, or the content of compressed data and archives, which
//! are recognized by their first bytes.
//!
//! Nested archives are on a stack, outermost first. Each reads from the current member of the one
//! below it on the stack.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};

use super::archive::{
    Archive, ArchiveEntry, EntryContent, OutlookReader, has_readpst, is_archive, is_outlook,
};
use super::compression::{Compression, UnpackLimits, decompress};
use super::error::{self, error_diagnostic};
use super::input::{ByteCount, Input, SparseRead};
use super::process::GitHost;
use super::repository::{Repository, RepositoryObjects, Selection, one_object};
use crate::packed_news_batch::batch_line_bytes;
use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind, Event, SkipReason};
use urlspool_text::limits::{Limits, MAGIC_BYTES, STREAM_BYTES};
use urlspool_text::origin::{FormatHint, Source};
use urlspool_text::unpack_balance::{UnpackBalance, UnpackRatio};

/// Returns `true` if a source that starts with `start` is compressed or an archive.
#[must_use]
pub fn is_container(start: &[u8]) -> bool {
    Compression::of(start).is_some() || is_archive(start)
}

/// A step through a source.
pub enum StreamStep {
    /// Bytes that are not a container. The caller reads them before it requests the next step.
    Stream {
        /// Source of the bytes.
        source: Source,
        /// Format hint from the path.
        hint: FormatHint,
        /// The bytes.
        stream: Box<dyn SparseRead>,
    },
    /// A member that is not read.
    Skipped {
        /// The member.
        source: Source,
        /// Reason for skipping it.
        reason: SkipReason,
    },
    /// An archive that was read completely.
    ArchiveRead(Source),
    /// A file or a member that could not be read completely.
    Failed(Event),
    /// An archive that could not be read completely. An event about its last member has already
    /// reported this.
    ArchiveBroken {
        /// The archive.
        source: Source,
        /// Kind of that event.
        kind: DiagnosticKind,
    },
    /// An irregularity that does not affect the bytes read.
    Warning(Event),
}

/// Iterator over the steps through a source.
///
/// Each source, and each member except folders, ends in exactly one way: with the end of its
/// stream, or as `Skipped`, `ArchiveRead`, `Failed` or `ArchiveBroken`. Data is unpacked while it
/// is read, never in advance.
pub struct Streams {
    limits: Limits,
    bytes_read: ByteCount,
    balance: UnpackBalance,
    /// Input to open next.
    pending: Option<PendingInput>,
    /// Steps to return next.
    queue: VecDeque<StreamStep>,
    /// Archives that are being read, outermost first.
    archives: Vec<OpenArchive>,
    is_unpacked: bool,
    reads_outlook: bool,
}

/// An input that is not open yet.
struct PendingInput {
    source: Source,
    hint: FormatHint,
    input: Input,
    /// Number of containers around it.
    depth: usize,
}

/// An archive that is being read.
struct OpenArchive {
    source: Source,
    archive: Archive,
    /// Number of containers around its members.
    depth: usize,
    /// Number of entries read.
    entries: usize,
}

impl Streams {
    /// Creates the steps through `input`, whose name is `source`.
    #[must_use]
    pub fn new(input: Input, source: Source, hint: FormatHint, limits: &Limits) -> Streams {
        let mut streams = Streams::empty(limits);
        streams.pending = Some(PendingInput {
            source,
            hint,
            input: input.counted(&streams.bytes_read),
            depth: 0,
        });
        streams
    }

    /// Reads a file that is an Outlook folder, if `readpst` is installed. It unpacks to disk.
    #[must_use]
    pub fn with_outlook(self) -> Streams {
        Streams {
            reads_outlook: true,
            ..self
        }
    }

    fn empty(limits: &Limits) -> Streams {
        let bytes_read = ByteCount::default();
        let ratio = UnpackRatio::new(limits.unpack_ratio, limits.unpack_ratio_from_bytes);
        Streams {
            limits: *limits,
            balance: UnpackBalance::new("a file", &bytes_read, ratio),
            bytes_read,
            pending: None,
            queue: VecDeque::new(),
            archives: Vec::new(),
            is_unpacked: false,
            reads_outlook: false,
        }
    }

    /// Creates the steps through the messages of a git repository.
    ///
    /// # Errors
    ///
    /// Git cannot be run.
    pub fn of_repository(
        repository: &Repository,
        selection: &Selection,
        source: Source,
        limits: &Limits,
    ) -> io::Result<Streams> {
        let objects = repository.messages(selection)?;
        Ok(Streams::of_objects(objects, source, limits))
    }

    /// Creates the step through the blob `oid` of the git repository named `source`.
    ///
    /// # Errors
    ///
    /// Git cannot be run.
    pub fn of_blob(oid: &[u8], source: Source, limits: &Limits) -> io::Result<Streams> {
        let objects = one_object(&source.path, oid, &GitHost::new(limits))?;
        Ok(Streams::of_objects(objects, source, limits))
    }

    fn of_objects(objects: RepositoryObjects, source: Source, limits: &Limits) -> Streams {
        let mut streams = Streams::empty(limits);
        let archive = Archive::of_repository(objects, &streams.bytes_read, &streams.balance);
        streams.begin_archive(source, archive, 1);
        streams
    }

    fn begin_archive(&mut self, source: Source, archive: Archive, depth: usize) {
        self.archives.push(OpenArchive {
            source,
            archive,
            depth,
            entries: 0,
        });
    }

    /// Creates the steps through `input`, which is itself in `depth` containers: a part of a
    /// message, whose unpacked bytes count in `balance`.
    #[must_use]
    pub fn in_containers(
        depth: usize,
        input: Input,
        source: Source,
        limits: &Limits,
        balance: &UnpackBalance,
    ) -> Streams {
        let mut streams = Streams::new(input, source, FormatHint::None, limits);
        streams.balance = balance.clone();
        if let Some(pending) = &mut streams.pending {
            pending.depth = depth;
        }
        streams
    }

    /// Returns the number of bytes of the source itself that were read so far.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.get()
    }

    /// Returns `true` if the last stream came from a container.
    #[must_use]
    pub fn is_unpacked(&self) -> bool {
        self.is_unpacked
    }

    /// Returns the ratio of unpacked bytes to bytes of the source, so far.
    #[must_use]
    pub fn unpacked_times(&self) -> u64 {
        self.balance.unpacked_times()
    }

    /// Opens an input as a stream, or as an archive to read from now on.
    fn open(&mut self, mut pending: PendingInput) {
        loop {
            let (start, whole) = pending.input.peek();
            if pending.depth == 0
                && self.reads_outlook
                && is_outlook(&start)
                && has_readpst()
                && let Input::Seekable(input) = &whole
                && let Some(file) = input.open_file()
            {
                return self.open_outlook(pending.source, file);
            }
            let compression = Compression::of(&start);
            if compression.is_none() && !is_archive(&start) {
                self.is_unpacked = pending.depth > 0;
                self.queue.push_back(StreamStep::Stream {
                    source: pending.source,
                    hint: pending.hint,
                    stream: whole.into_stream(),
                });
                return;
            }
            if pending.depth >= self.limits.container_depth {
                let message = format!("a container inside {} others is not read", pending.depth);
                let event = Diagnostic::new(DiagnosticKind::Limit, message).of(&pending.source);
                return self.queue.push_back(StreamStep::Failed(event));
            }
            pending.depth += 1;
            let Some(compression) = compression else {
                let archive = Archive::new(&start, whole, &self.balance);
                return self.begin_archive(pending.source, archive, pending.depth);
            };
            let mut stream = whole.into_stream();
            // The line before a packed batch is part of `start`, so this cannot fail.
            let line = io::copy(
                &mut (&mut stream).take(batch_line_bytes(&start) as u64),
                &mut io::sink(),
            );
            debug_assert!(line.is_ok());
            let unpacked = decompress(stream, compression, self.unpack_limits(pending.depth));
            pending.input = Input::stream(unpacked);
        }
    }

    /// Unpacks an Outlook folder, to read its items from now on.
    fn open_outlook(&mut self, source: Source, file: io::Result<File>) {
        let unpacked = file.and_then(|file| {
            let bytes = file.metadata()?.len();
            self.bytes_read.set(self.bytes_read.get() + bytes);
            OutlookReader::unpack(file, bytes, &self.limits)
        });
        match unpacked {
            Ok(reader) => self.begin_archive(source, Archive::Outlook(reader), 1),
            Err(error) => {
                let event = error_diagnostic(&error, None).of(&source);
                self.queue.push_back(StreamStep::Failed(event));
            }
        }
    }

    /// Returns the limits on unpacking a container. `depth` is 1 for the outermost container.
    fn unpack_limits(&self, depth: usize) -> UnpackLimits {
        let limits = &self.limits;
        let ratio = match depth {
            1 => UnpackRatio::new(limits.unpack_ratio, limits.unpack_ratio_from_bytes),
            _ => UnpackRatio::new(limits.nested_ratio, limits.nested_ratio_from_bytes),
        };
        UnpackLimits {
            ratio,
            window_bytes: limits.window_bytes as u64,
            balance: self.balance.clone(),
        }
    }

    /// Advances to the next entry of the innermost archive, or ends the archive.
    fn advance(&mut self, mut level: OpenArchive) {
        let max = self.limits.archive_entries;
        let next = level.archive.next_entry();
        self.balance.add(STREAM_BYTES);
        let check = self.balance.check().map_err(error::limit);
        match next.and_then(|entry| check.map(|()| entry)) {
            Ok(Some(entry)) if level.entries < max || !level.archive.limits_entries() => {
                level.entries += 1;
                self.member(&level, entry);
                self.archives.push(level);
            }
            Ok(Some(_)) => {
                let message =
                    format!("an archive of more than {max} entries: the rest is not read");
                let event = Diagnostic::new(DiagnosticKind::Limit, message).of(&level.source);
                self.queue.push_back(StreamStep::Failed(event));
            }
            Ok(None) => {
                if let Some(warning) = level.archive.warning() {
                    self.warn(DiagnosticKind::Ambiguous, warning, &level.source);
                }
                self.queue.push_back(StreamStep::ArchiveRead(level.source));
            }
            Err(error) => self.queue.push_back(match level.archive.member_failure() {
                Some(kind) => StreamStep::ArchiveBroken {
                    source: level.source,
                    kind,
                },
                None => StreamStep::Failed(error_diagnostic(&error, None).of(&level.source)),
            }),
        }
    }

    fn warn(&mut self, kind: DiagnosticKind, message: impl Into<String>, source: &Source) {
        let event = Diagnostic::new(kind, message).of(source);
        self.queue.push_back(StreamStep::Warning(event));
    }

    /// Queues the step for an entry, or makes it the pending input.
    fn member(&mut self, level: &OpenArchive, entry: ArchiveEntry) {
        let max = self.limits.member_name_bytes;
        let start = level.archive.entry_start();
        let mut source = match start {
            Some(start) => level.source.within(start.to_string().as_bytes()),
            None => level.source.clone(),
        };
        if start.is_none() || !entry.name.is_empty() {
            source = source.within(&entry.name[..entry.name.len().min(max)]);
        }
        if entry.name.len() > max {
            let message = format!(
                "a member's name of {} bytes is cut after {max}",
                entry.name.len()
            );
            self.warn(DiagnosticKind::Limit, message, &source);
        }
        if start.is_none() && leaves_folder(&entry.name) {
            let message = "a member's name points out of the archive: it is used as a label, not \
                           as a path";
            self.warn(DiagnosticKind::Ambiguous, message, &source);
        }
        match entry.content {
            EntryContent::Folder => {}
            EntryContent::Skipped(reason) => {
                self.queue.push_back(StreamStep::Skipped { source, reason })
            }
            EntryContent::Broken(error) => self.queue.push_back(StreamStep::Failed(
                error_diagnostic(&error, None).of(&source),
            )),
            EntryContent::Data(mut data) => match level.archive.member_hint(&entry.name) {
                Err(reason) => self.queue.push_back(StreamStep::Skipped { source, reason }),
                Ok(mut hint) => {
                    if let Some(page) = data.page.take() {
                        if page.is_html() {
                            hint = FormatHint::Page;
                        }
                        source = source.with_page(page);
                    }
                    let stream = data.stream(self.unpack_limits(level.depth));
                    self.pending = Some(PendingInput {
                        source,
                        hint,
                        input: Input::stream(stream),
                        depth: level.depth,
                    });
                }
            },
        }
    }
}

impl Iterator for Streams {
    type Item = StreamStep;

    fn next(&mut self) -> Option<StreamStep> {
        loop {
            if let Some(step) = self.queue.pop_front() {
                return Some(step);
            }
            if self.balance.is_used_up() {
                // An event about the innermost stream or archive was returned before.
                self.pending = None;
                let OpenArchive { source, .. } = self.archives.pop()?;
                let kind = DiagnosticKind::Limit;
                return Some(StreamStep::ArchiveBroken { source, kind });
            }
            match self.pending.take() {
                Some(pending) => self.open(pending),
                None => {
                    let level = self.archives.pop()?;
                    self.advance(level);
                }
            }
        }
    }
}

/// Returns `true` if a name points outside the folder into which an archive would be unpacked.
fn leaves_folder(name: &[u8]) -> bool {
    name.starts_with(b"/")
        || name
            .split(|&byte| byte == b'/')
            .any(|component| component == b"..")
}

impl Input {
    /// Reads the first [`MAGIC_BYTES`] bytes, and returns them with the whole input. If a stream
    /// fails within these bytes, it fails again after them.
    pub(super) fn peek(self) -> (Vec<u8>, Input) {
        let mut start = Vec::with_capacity(MAGIC_BYTES);
        match self {
            Input::Seekable(input) => {
                // An error here occurs again, and is reported, when the input is read.
                let _ = input
                    .uncounted()
                    .range(0, MAGIC_BYTES as u64)
                    .read_to_end(&mut start);
                (start, Input::Seekable(input))
            }
            Input::Stream(mut reader) => {
                let mut error = None;
                while error.is_none() && start.len() < MAGIC_BYTES {
                    error = reader.append(MAGIC_BYTES - start.len(), &mut start).err();
                    if !reader.is_paused() || is_known(&start) {
                        break;
                    }
                }
                reader.read_again(start.clone(), error);
                (start, Input::Stream(reader))
            }
        }
    }
}

/// Returns `true` if the first bytes of a stream are sufficient to recognize it, although more may
/// follow within [`MAGIC_BYTES`]: git objects, or text that does not start a container.
fn is_known(start: &[u8]) -> bool {
    let first_line = memchr::memchr(b'\n', start).map(|end| &start[..end]);
    // A tar header contains NUL bytes, and the line of a packed batch has a fixed form.
    let is_text = first_line.is_some() && memchr::memchr(0, start).is_none();
    let may_be_git =
        first_line.is_some_and(|line| line.ends_with(b" missing") || line.ends_with(b" ambiguous"));
    is_archive(start)
        || is_text
            && !may_be_git
            && Compression::of(start).is_none()
            && batch_line_bytes(start) == 0
            && !start.starts_with(b"PK")
}
