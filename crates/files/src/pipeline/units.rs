//! Units of work of a run: groups of small files from the walk, and blocks of larger inputs.
//!
//! Opens and cuts inputs on demand. Leaves the work on a unit to `worker`.

use std::io;

use super::Job;
use super::messages::{InputFailure, InputStep, MessageSource};
use urlspool_sources::read::{self, Input, SeekableInput};
use urlspool_sources::walk::{self, WalkStep, WalkedFile};
use urlspool_text::limits::{
    BATCH_FILES, BATCHES_PER_THREAD, BLOCKS_PER_THREAD, FILE_BATCH_BYTES, Limits, SMALL_FILE_BYTES,
};
use urlspool_text::origin::{FileRange, FormatHint, Source};

/// A unit of work.
pub(super) enum Unit {
    /// Steps through one input: one block of a large file, or many small members.
    Steps {
        steps: Vec<InputStep>,
        /// Bytes of the input read for these steps.
        bytes_read: u64,
    },
    /// Small files that are not read yet; most of them are open.
    Files(Vec<WalkedFile>),
}

impl Unit {
    /// Maximum number of units of this kind in progress per thread.
    pub(super) fn max_per_thread(&self) -> usize {
        match self {
            Unit::Steps { .. } => BLOCKS_PER_THREAD,
            Unit::Files(_) => BATCHES_PER_THREAD,
        }
    }

    /// Size of the unit's messages in bytes, including unread ones.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Unit::Steps { steps, .. } => steps.iter().map(InputStep::message_bytes).sum(),
            Unit::Files(files) => files.iter().map(|file| file.size).sum(),
        }
    }
}

/// Iterator over the units of a job.
pub(super) struct Units<'j> {
    job: &'j Job,
    limits: &'j Limits,
    walk: Box<dyn Iterator<Item = WalkStep> + 'j>,
    /// The input being cut.
    current: Option<MessageSource>,
    /// A step of the walk that waits until the small files before it were returned.
    next_step: Option<WalkStep>,
    /// `true` if the next unit may wait for bytes of a stream that have not arrived yet. The caller
    /// then writes the results so far first.
    pub(super) is_waiting: bool,
    /// Maximum number of distinct roots per batch. Each root holds one directory descriptor open.
    max_roots: usize,
}

impl<'j> Units<'j> {
    /// The units of all inputs of the job.
    pub(super) fn new(job: &'j Job, limits: &'j Limits) -> Units<'j> {
        let walk: Box<dyn Iterator<Item = WalkStep>> = match &job.items {
            Some(items) => Box::new(walk::walk_items(items, &job.filter)),
            None => Box::new(walk::walk_and_open(&job.roots, &job.filter, job.links)),
        };
        Units {
            job,
            limits,
            walk,
            current: None,
            next_step: None,
            is_waiting: false,
            max_roots: walk::max_roots_per_batch(job.threads * BATCHES_PER_THREAD + 2),
        }
    }

    /// The units of an input that the caller opened: the messages that start in its `part`. An
    /// input that is not an mbox belongs as a whole to the part at its start.
    pub(super) fn of_input(
        input: Input,
        part: &FileRange,
        job: &'j Job,
        limits: &'j Limits,
    ) -> io::Result<Units<'j>> {
        let mut units = Units::new(job, limits);
        units.walk = Box::new(std::iter::empty());
        let hint = walk::path_hint(&part.source.path);
        let is_part = 0 < part.start || input.size().is_some_and(|size| part.end < size);
        let found = match &input {
            Input::Seekable(seekable) if is_part => {
                MessageSource::of_part(seekable, hint, part, job.format, limits)?
            }
            _ => None,
        };
        units.current = match found {
            None if part.start == 0 => Some(units.messages(input, part.source.clone(), hint)),
            found => found,
        };
        Ok(units)
    }

    /// Returns the next small files of the walk, up to the next other step.
    fn small_files(&mut self) -> Vec<WalkedFile> {
        let mut files: Vec<WalkedFile> = Vec::new();
        let (mut bytes, mut roots) = (0, 0);
        while files.len() < BATCH_FILES && bytes < FILE_BATCH_BYTES && roots < self.max_roots {
            match self.next_step.take().or_else(|| self.walk.next()) {
                Some(WalkStep::File(file)) if file.size < SMALL_FILE_BYTES => {
                    bytes += file.size;
                    roots += usize::from(is_in_new_root(&file, &files));
                    files.push(file);
                }
                other => {
                    self.next_step = other;
                    break;
                }
            }
        }
        files
    }

    /// Opens the input of a step of the walk. Returns the step to report if there is no input to
    /// read.
    fn begin_step(&mut self, step: WalkStep) -> Option<InputStep> {
        let opened = match step {
            WalkStep::File(file) => self.open_file(&file).map(Some),
            WalkStep::Part { file, item } => self.open_part(&file, &item),
            WalkStep::Repository(source) => {
                MessageSource::of_repository(source, self.job.format, self.limits).map(Some)
            }
            WalkStep::Stdin => {
                let source = Source::at(Source::STDIN.into());
                return Some(self.begin_stream(Input::stdin(), source));
            }
            // A pipe or a device is opened by its name, since the user gave it.
            WalkStep::Stream(source) => match read::open_stream(&source.path) {
                Ok(input) => return Some(self.begin_stream(input, source)),
                Err(error) => Err(InputStep::Failed(InputFailure::new(&source, error))),
            },
            WalkStep::Skipped { source, reason } => Err(InputStep::Skipped { source, reason }),
            WalkStep::Failed(event) => Err(InputStep::Failed(InputFailure { event, error: None })),
        };
        match opened {
            Ok(messages) => {
                self.current = messages;
                None
            }
            Err(step) => Some(step),
        }
    }

    /// Opens a stream, which may wait for its writer.
    fn begin_stream(&mut self, input: Input, source: Source) -> InputStep {
        self.current = Some(self.messages(input, source, FormatHint::None));
        self.is_waiting = true;
        InputStep::Waiting
    }

    fn open_file(&self, file: &WalkedFile) -> Result<MessageSource, InputStep> {
        let (given, limits) = (self.job.format, self.limits);
        let opened = read::open(file).map_err(|error| failed(file, error))?;
        let messages = MessageSource::of_file(Input::file(opened), file, given, limits);
        Ok(messages.with_unread_blocks())
    }

    /// Opens the messages of a file that start in a range of it. A file that is not an mbox belongs
    /// to the range at its start.
    fn open_part(
        &self,
        file: &WalkedFile,
        part: &FileRange,
    ) -> Result<Option<MessageSource>, InputStep> {
        let messages = read::open(file).and_then(|opened| {
            let opened = SeekableInput::file(opened);
            MessageSource::of_part(&opened, file.hint, part, self.job.format, self.limits)
        });
        match messages.map_err(|error| failed(file, error))? {
            None if part.start == 0 => self.open_file(file).map(Some),
            messages => Ok(messages),
        }
    }

    fn messages(&self, input: Input, source: Source, hint: FormatHint) -> MessageSource {
        MessageSource::new(input, source, hint, self.job.format, self.limits).with_unread_blocks()
    }

    /// Returns the next steps of the current input: a block, or enough small members to be worth a
    /// thread's time.
    fn steps(&mut self, mut messages: MessageSource) -> Unit {
        let mut steps = Vec::new();
        let mut bytes = 0;
        let mut is_end = false;
        while !is_end && steps.len() < BATCH_FILES && bytes < FILE_BATCH_BYTES / 2 {
            match messages.next() {
                Some(InputStep::Opened { .. } | InputStep::Waiting) => {}
                Some(step) => {
                    bytes += step.message_bytes();
                    steps.push(step);
                }
                None => is_end = true,
            }
            self.is_waiting = messages.is_waiting();
            if self.is_waiting {
                break;
            }
        }
        let bytes_read = messages.take_bytes_read();
        self.current = (!is_end).then_some(messages);
        Unit::Steps { steps, bytes_read }
    }
}

impl Iterator for Units<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        loop {
            if let Some(input) = self.current.take() {
                return Some(self.steps(input));
            }
            let files = self.small_files();
            if !files.is_empty() {
                return Some(Unit::Files(files));
            }
            let step = self.next_step.take()?;
            if let Some(step) = self.begin_step(step) {
                return Some(Unit::Steps {
                    steps: vec![step],
                    bytes_read: 0,
                });
            }
        }
    }
}

fn failed(file: &WalkedFile, error: io::Error) -> InputStep {
    InputStep::Failed(InputFailure::new(&file.source, error))
}

/// Returns `true` if `file` is in a different root than the last of `files` that is in one.
fn is_in_new_root(file: &WalkedFile, files: &[WalkedFile]) -> bool {
    let last = files.iter().rev().find(|file| file.is_in_root());
    file.is_in_root() && last.is_none_or(|last| file.is_in_another_root(last))
}
