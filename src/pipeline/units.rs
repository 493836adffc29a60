//! The units of work of a job, from the walk on.

use std::io;

use super::chunk::{self, Chunk};
use super::cut::{Cuts, Item};
use super::job::Job;
use crate::limits::{
    BATCH_BYTES, BATCH_FILES, BATCHES_PER_THREAD, BLOCKS_PER_THREAD, Limits, SMALL_FILE_BYTES,
};
use crate::origin::{self, FormatHint, Source};
use crate::read::{self, Input};
use crate::walk::{self, WalkStep};

/// A piece of work.
pub(super) enum Unit {
    /// What was cut out of a source: one block of a large file, or many small members.
    Items(Vec<Item>),
    /// Small files, to be read; most of them are open.
    Files(Vec<walk::WalkedFile>),
}

impl Unit {
    /// How many of its kind are under way for each thread.
    pub(super) fn per_thread(&self) -> usize {
        match self {
            Unit::Items(_) => BLOCKS_PER_THREAD,
            Unit::Files(_) => BATCHES_PER_THREAD,
        }
    }

    /// Bytes that it holds or will hold.
    pub(super) fn len(&self) -> u64 {
        match self {
            Unit::Items(items) => items.iter().map(Item::len).sum(),
            Unit::Files(files) => files.iter().map(|file| file.size).sum(),
        }
    }
}

/// The units of a job, made while they are asked for.
pub(super) struct Units<'j> {
    job: &'j Job,
    limits: &'j Limits,
    steps: Box<dyn Iterator<Item = WalkStep> + 'j>,
    /// The source that is being cut, and how many of its bytes were told of.
    current: Option<(Cuts, u64)>,
    /// A file that waits until the small ones before it are on their way.
    ahead: Option<WalkStep>,
    /// Of how many roots the files of a batch may be.
    most_roots: usize,
}

impl<'j> Units<'j> {
    pub(super) fn new(job: &'j Job, limits: &'j Limits) -> Units<'j> {
        let steps: Box<dyn Iterator<Item = WalkStep>> = match &job.items {
            Some(items) => Box::new(walk::walk_items(items)),
            None => Box::new(walk::walk_and_open(&job.roots, &job.filter, job.links)),
        };
        let most_roots = walk::max_roots_per_batch(job.threads * BATCHES_PER_THREAD + 2);
        Units {
            job,
            limits,
            steps,
            current: None,
            ahead: None,
            most_roots,
        }
    }

    /// The units of a single file, which is cut whatever its size.
    pub(super) fn of(file: walk::WalkedFile, job: &'j Job, limits: &'j Limits) -> Units<'j> {
        let large = walk::WalkedFile {
            size: u64::MAX,
            ..file
        };
        let steps = Box::new(std::iter::once(WalkStep::File(large)));
        Units {
            job,
            limits,
            steps,
            current: None,
            ahead: None,
            most_roots: 1,
        }
    }

    /// Small files up to a batch's size, or the step behind them.
    fn files(&mut self) -> Option<Unit> {
        let mut files = Vec::new();
        let (mut bytes, mut roots) = (0, 0);
        while files.len() < BATCH_FILES && bytes < BATCH_BYTES && roots < self.most_roots {
            match self.ahead.take().or_else(|| self.steps.next()) {
                Some(WalkStep::File(file)) if file.size < SMALL_FILE_BYTES => {
                    bytes += file.size;
                    let last = files
                        .iter()
                        .rev()
                        .find(|file: &&walk::WalkedFile| file.is_in_root());
                    let is_another =
                        file.is_in_root() && last.is_none_or(|last| file.is_in_another_root(last));
                    roots += usize::from(is_another);
                    files.push(file);
                }
                Some(step) if files.is_empty() => return Some(self.step(step)),
                other => {
                    self.ahead = other;
                    break;
                }
            }
        }
        (!files.is_empty()).then_some(Unit::Files(files))
    }

    /// What becomes of a step that is no small file.
    fn step(&mut self, step: WalkStep) -> Unit {
        let mut piece = Chunk::default();
        match step {
            WalkStep::File(file) => self.whole(file, &mut piece),
            WalkStep::Part { file, item } => self.part(file, &item, &mut piece),
            WalkStep::Stdin => {
                let source = Source::at(Source::STDIN.into());
                self.begin(
                    Input::Stream(Box::new(io::stdin())),
                    source,
                    FormatHint::None,
                );
            }
            WalkStep::Skipped { source, reason } => chunk::skipped(&mut piece, &source, reason),
            WalkStep::Failed(event) => chunk::lost(&mut piece, event),
        }
        Unit::Items(vec![Item::Note(Box::new(piece))])
    }

    fn whole(&mut self, file: walk::WalkedFile, piece: &mut Chunk) {
        match read::open(&file) {
            Ok(opened) => self.begin(Input::file(opened), file.source, file.hint),
            Err(error) => chunk::failed(piece, &file.source, &error),
        }
    }

    /// The messages of a file that begin in a range of it. What is no mbox begins at its start.
    fn part(&mut self, file: walk::WalkedFile, item: &origin::FileRange, piece: &mut Chunk) {
        match read::open(&file)
            .and_then(|opened| Cuts::part(opened, &file, item, self.job, self.limits))
        {
            Err(error) => chunk::failed(piece, &file.source, &error),
            Ok(Some(cuts)) => self.current = Some((cuts, 0)),
            Ok(None) if item.start == 0 => self.whole(file, piece),
            Ok(None) => {}
        }
    }

    fn begin(&mut self, input: Input, source: Source, hint: FormatHint) {
        self.current = Some((Cuts::new(input, source, hint, self.job, self.limits), 0));
    }

    /// The next items of the source that is being cut: a block, or small members that are worth a thread's while.
    fn items(&mut self, mut cuts: Cuts, told: u64) -> Unit {
        let mut items = Vec::new();
        let mut bytes = 0;
        let mut is_end = false;
        while !is_end && items.len() < BATCH_FILES && bytes < BATCH_BYTES / 2 {
            match cuts.next() {
                Some(item) => {
                    bytes += item.len();
                    items.push(item);
                }
                None => is_end = true,
            }
        }
        let read = cuts.bytes_read();
        let mut piece = Chunk::default();
        piece.balance.bytes_read = read - told;
        items.push(Item::Note(Box::new(piece)));
        self.current = (!is_end).then_some((cuts, read));
        Unit::Items(items)
    }
}

impl Iterator for Units<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        match self.current.take() {
            Some((cuts, told)) => Some(self.items(cuts, told)),
            None => self.files(),
        }
    }
}
