//! A whole run: one thread walks, cuts and writes, the others work; order is restored with bounded memory.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

use super::Batch;
use super::Chunk;
use super::cut::{Cuts, Item};
use super::extract::Extractor;
use super::unique::Dedup;
use super::work::{self, Output, ScratchPool, Unit};
use crate::diagnostic::{DiagnosticKind, Event};
use crate::limits::{
    BATCH_BYTES, BATCH_FILES, BATCHES_PER_THREAD, BATCHES_WAITING, BYTES_PER_THREAD, Limits,
    SMALL_FILE_BYTES,
};
use crate::origin::{self, FormatHint, Source};
use crate::read::{self, Input};
use crate::record::Summary;
use crate::sink::Sink;
use crate::split::Format;
use crate::walk::{self, PathFilter, SymlinkPolicy, WalkStep};

/// Which repetitions of a URL are folded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unique {
    /// None.
    #[default]
    None,
    /// Those within a message; its record tells how many there were.
    Message,
    /// Those within the run.
    Run,
}

/// What is to be done.
#[derive(Debug, Default)]
pub struct Job {
    /// Files and folders, `-` for standard input.
    pub roots: Vec<PathBuf>,
    /// Parts of files, instead of the roots.
    pub items: Option<Vec<origin::SplitItem>>,
    /// Which files are wanted.
    pub filter: PathFilter,
    /// Whether links are followed.
    pub links: SymlinkPolicy,
    /// The format of all sources, if it is not to be recognised.
    pub format: Option<Format>,
    /// Threads that work; at least one.
    pub threads: usize,
    /// What is written of a URL.
    pub output: Output,
    /// Whether refused candidates are wanted.
    pub rejects: bool,
    /// Which repetitions are folded. Within messages the extractor does it.
    pub unique: Unique,
    /// Messages of this moment and later (seconds since 1970).
    pub since: Option<i64>,
    /// Messages before this moment.
    pub until: Option<i64>,
}

/// Where the yield of a run goes, in the order of its input.
pub trait Report {
    /// Records. `Ok(false)` ends the run.
    ///
    /// # Errors
    ///
    /// What the sink says; it ends the run.
    fn records(&mut self, batch: &[u8]) -> io::Result<bool>;

    /// Refused candidates, if they were asked for.
    ///
    /// # Errors
    ///
    /// What the sink says; it ends the run.
    fn rejects(&mut self, batch: &[u8]) -> io::Result<()>;

    /// Something was wrong.
    ///
    /// # Errors
    ///
    /// What the sink says; it ends the run.
    fn event(&mut self, event: &Event) -> io::Result<()>;

    /// How far it is: everything counted so far.
    fn progress(&mut self, balance: &Summary);
}

/// A report for those who want the records alone.
impl<S: Sink> Report for S {
    fn records(&mut self, batch: &[u8]) -> io::Result<bool> {
        self.put(batch)
    }

    fn rejects(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn event(&mut self, _: &Event) -> io::Result<()> {
        Ok(())
    }

    fn progress(&mut self, _: &Summary) {}
}

/// Does the job and gives what it counted.
///
/// The records are the same bytes for any number of threads. Holds at most [`BLOCKS_PER_THREAD`](crate::limits::BLOCKS_PER_THREAD) blocks and
/// [`BYTES_PER_THREAD`] bytes for each thread, or one message, or [`BATCHES_PER_THREAD`] batches of small files with some
/// of them open, and a bounded part of their records. A second set of threads works where all of the first may have to wait,
/// and holds as much at the most.
///
/// # Errors
///
/// What `report` says, or that threads cannot be had. Input that fails is an event.
pub fn run(job: &Job, extractor: &Extractor, report: &mut dyn Report) -> io::Result<Summary> {
    let mut writer = Writer {
        report,
        given: Dedup::new(job.unique),
        lines: job.output == Output::Records,
        balance: Summary::default(),
        broken: None,
    };
    let mut units = Units::new(job, extractor.limits());
    let (desks, aside) = (ScratchPool::default(), OnceCell::new());
    if job.threads <= 1 {
        Workers {
            job,
            extractor,
            desks: &desks,
            aside: &aside,
            scope: None,
        }
        .do_all(&mut units, &mut writer)?;
        return Ok(writer.balance);
    }
    walk::make_room((job.threads * BATCHES_PER_THREAD + 2) * BATCH_FILES);
    threads(job)?.in_place_scope(|scope| {
        Workers {
            job,
            extractor,
            desks: &desks,
            aside: &aside,
            scope: Some(scope),
        }
        .do_all(&mut units, &mut writer)
    })?;
    Ok(writer.balance)
}

/// As many threads as the job may have.
fn threads(job: &Job) -> io::Result<ThreadPool> {
    ThreadPoolBuilder::new()
        .num_threads(job.threads)
        .build()
        .map_err(io::Error::other)
}

/// Those who work: the threads of a scope, or the caller alone.
struct Workers<'h, 'scope> {
    job: &'scope Job,
    extractor: &'scope Extractor,
    desks: &'scope ScratchPool,
    /// Threads for what must be done while the others may all be waiting for it; there are none before they are needed.
    aside: &'scope OnceCell<ThreadPool>,
    scope: Option<&'h Scope<'scope>>,
}

impl Workers<'_, '_> {
    /// Has the units worked on and writes what they give, in order. `false` ends the run.
    fn do_all(
        &self,
        units: &mut dyn Iterator<Item = Unit>,
        writer: &mut Writer<'_>,
    ) -> io::Result<bool> {
        let (job, extractor, desks) = (self.job, self.extractor, self.desks);
        let Some(scope) = self.scope else {
            for unit in units {
                let mut written = Ok(true);
                work::contained(unit, job, extractor, desks, &mut |batch| {
                    if let Ok(true) = written {
                        written = self.write(batch, writer);
                    }
                    matches!(written, Ok(true))
                });
                if !written? {
                    return Ok(false);
                }
            }
            return Ok(true);
        };
        let mut order = Order::default();
        let most_bytes = job.threads as u64 * BYTES_PER_THREAD;
        for unit in units {
            let bytes = unit.len();
            let most_units = job.threads * unit.per_thread() + 1;
            // One unit may be larger than all that may be under way.
            let room = most_bytes.saturating_sub(bytes);
            if !order.drain(most_units, room, &mut |batch| self.write(batch, writer))? {
                return Ok(false);
            }
            let sender = order.begin(bytes);
            scope.spawn(move |_| {
                // The other end is gone only when the run was given up.
                work::contained(unit, job, extractor, desks, &mut |batch| {
                    sender.send(batch).is_ok()
                });
            });
        }
        order.drain(0, 0, &mut |batch| self.write(batch, writer))
    }

    /// Writes a batch. A file that a thread left to be read in blocks is read when its turn has come; its units are
    /// blocks, of which none is left in turn, so that this goes one level deep.
    fn write(&self, batch: Batch, writer: &mut Writer<'_>) -> io::Result<bool> {
        let Batch { records, pieces } = batch;
        let mut run = Run {
            records: &records,
            written: 0,
            reached: 0,
        };
        for mut piece in pieces {
            let deferred = piece.deferred.take();
            if !writer.write(piece, &mut run)? {
                return Ok(false);
            }
            if let Some(file) = deferred {
                if !run.write(writer.report)? {
                    return Ok(false);
                }
                if !self.do_aside(file, writer)? {
                    return Ok(false);
                }
            }
        }
        let wants_more = run.write(writer.report)?;
        self.desks.take_back(records);
        writer.report.progress(&writer.balance);
        Ok(wants_more)
    }

    /// Has a file that was left for its turn worked on, by threads of its own: the others may have so much to give that
    /// none goes on before this is written. `false` ends the run.
    fn do_aside(&self, file: walk::WalkedFile, writer: &mut Writer<'_>) -> io::Result<bool> {
        let Workers {
            job,
            extractor,
            desks,
            aside,
            ..
        } = *self;
        let mut units = Units::of(file, job, extractor.limits());
        if self.scope.is_none() {
            return self.do_all(&mut units, writer);
        }
        let pool = match aside.get() {
            Some(pool) => pool,
            None => match threads(job) {
                Ok(pool) => aside.get_or_init(|| pool),
                // As many again may be too many. This one waits for nobody.
                Err(_) => {
                    return Workers {
                        job,
                        extractor,
                        desks,
                        aside,
                        scope: None,
                    }
                    .do_all(&mut units, writer);
                }
            },
        };
        pool.in_place_scope(|scope| {
            Workers {
                job,
                extractor,
                desks,
                aside,
                scope: Some(scope),
            }
            .do_all(&mut units, writer)
        })
    }
}

/// The records of a batch, which are reported at once as far as none of them was folded: many pieces are small articles.
struct Run<'b> {
    records: &'b [u8],
    /// Up to where they are reported, or folded.
    written: usize,
    /// Up to where they shall be reported.
    reached: usize,
}

impl<'b> Run<'b> {
    /// The next records.
    fn next(&self, len: usize) -> &'b [u8] {
        &self.records[self.reached..][..len]
    }

    /// Puts what is left of the next `len` bytes behind the others. `false` ends the run.
    fn put(&mut self, len: usize, left: &[u8], report: &mut dyn Report) -> io::Result<bool> {
        if left.len() == len {
            self.reached += len;
            return Ok(true);
        }
        let wants_more = self.write(report)? && (left.is_empty() || report.records(left)?);
        self.reached += len;
        self.written = self.reached;
        Ok(wants_more)
    }

    /// Reports what is not reported yet. `false` ends the run.
    fn write(&mut self, report: &mut dyn Report) -> io::Result<bool> {
        let records = &self.records[self.written..self.reached];
        self.written = self.reached;
        Ok(records.is_empty() || report.records(records)?)
    }
}

/// Units on their way from the threads to the writer, the first one first.
///
/// Each has a line of its own to the writer, which holds little: a unit with a large yield waits until all before it are
/// written, and is then written while it is worked on. Whoever is first in the line is being worked on or done, because
/// threads take the units in order.
#[derive(Default)]
struct Order {
    lines: VecDeque<(Receiver<Batch>, u64)>,
    bytes: u64,
}

impl Order {
    /// Puts a unit of so many bytes behind the others: where its yield goes.
    fn begin(&mut self, bytes: u64) -> SyncSender<Batch> {
        let (sender, receiver) = sync_channel(BATCHES_WAITING);
        self.lines.push_back((receiver, bytes));
        self.bytes += bytes;
        sender
    }

    /// Writes what is ready, and waits until no more than `most_units` with `most_bytes` are under way. `false` ends the
    /// run.
    fn drain(
        &mut self,
        most_units: usize,
        most_bytes: u64,
        write: &mut dyn FnMut(Batch) -> io::Result<bool>,
    ) -> io::Result<bool> {
        while let Some((line, bytes)) = self.lines.front() {
            let must_wait = self.lines.len() > most_units || self.bytes > most_bytes;
            let received = if must_wait {
                line.recv().map_err(|_| TryRecvError::Disconnected)
            } else {
                line.try_recv()
            };
            match received {
                Ok(batch) => {
                    if !write(batch)? {
                        return Ok(false);
                    }
                }
                Err(TryRecvError::Empty) => return Ok(true),
                Err(TryRecvError::Disconnected) => {
                    self.bytes -= bytes;
                    self.lines.pop_front();
                }
            }
        }
        Ok(true)
    }
}

/// The end of the line: folds, counts and reports, in order.
struct Writer<'w> {
    report: &'w mut dyn Report,
    given: Dedup,
    balance: Summary,
    /// What a stretch of the file that is being written failed with.
    broken: Option<DiagnosticKind>,
    /// Whether each record is one line.
    lines: bool,
}

impl Writer<'_> {
    fn write(&mut self, mut piece: Chunk, run: &mut Run<'_>) -> io::Result<bool> {
        // A file is cut at one go: the next that is counted is the one of which a stretch failed.
        self.broken = piece.broken.or(self.broken);
        if piece.balance.files > 0
            && let Some(kind) = self.broken.take()
            && piece.balance.files_read > 0
        {
            piece.balance.read_file_failed(kind.name());
        }
        let records = run.next(piece.record_bytes);
        let left = self.given.fold(&mut piece, records);
        if self.lines {
            // Counted in what is written, and not where it is encoded: a line that is lost between shows.
            self.balance.lines += memchr::memchr_iter(b'\n', &left).count() as u64;
        } else {
            self.balance.lines += piece.balance.records + piece.balance.unwrapped;
        }
        self.balance.take_over(&mut piece.balance);
        for event in &piece.events {
            self.report.event(event)?;
        }
        if !piece.rejects.is_empty() {
            self.report.rejects(&piece.rejects)?;
        }
        run.put(records.len(), &left, self.report)
    }
}

/// The units of a job, made while they are asked for.
struct Units<'j> {
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
    fn new(job: &'j Job, limits: &'j Limits) -> Units<'j> {
        let steps: Box<dyn Iterator<Item = WalkStep>> = match &job.items {
            Some(items) => Box::new(walk::items(items)),
            None => Box::new(walk::walk_open(&job.roots, &job.filter, job.links)),
        };
        let most_roots = walk::roots_at_once(job.threads * BATCHES_PER_THREAD + 2);
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
    fn of(file: walk::WalkedFile, job: &'j Job, limits: &'j Limits) -> Units<'j> {
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
            WalkStep::Skipped { source, reason } => work::skipped(&mut piece, &source, reason),
            WalkStep::Failed(event) => work::lost(&mut piece, event),
        }
        Unit::Items(vec![Item::Note(Box::new(piece))])
    }

    fn whole(&mut self, file: walk::WalkedFile, piece: &mut Chunk) {
        match read::open(&file) {
            Ok(opened) => self.begin(Input::file(opened), file.source, file.hint),
            Err(error) => work::failed(piece, &file.source, &error),
        }
    }

    /// The messages of a file that begin in a range of it. What is no mbox begins at its start.
    fn part(&mut self, file: walk::WalkedFile, item: &origin::SplitItem, piece: &mut Chunk) {
        match read::open(&file)
            .and_then(|opened| Cuts::part(opened, &file, item, self.job, self.limits))
        {
            Err(error) => work::failed(piece, &file.source, &error),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What the balance says of files that give these pieces.
    fn files(pieces: Vec<Chunk>) -> (u64, u64, u64) {
        let mut report = Vec::new();
        let (given, balance) = (Dedup::default(), Summary::default());
        let mut writer = Writer {
            report: &mut report,
            given,
            balance,
            broken: None,
            lines: true,
        };
        let mut run = Run {
            records: b"",
            written: 0,
            reached: 0,
        };
        for piece in pieces {
            assert!(writer.write(piece, &mut run).unwrap());
        }
        assert!(writer.balance.imbalances().is_empty());
        (
            writer.balance.files,
            writer.balance.files_read,
            writer.balance.files_failed.sum(),
        )
    }

    #[test]
    fn a_file_of_which_a_stretch_failed_is_not_read_to_its_end() {
        let broken = || Chunk {
            broken: Some(DiagnosticKind::Unreadable),
            ..Chunk::default()
        };
        let counted = |count: fn(&mut Summary)| {
            let mut piece = Chunk::default();
            count(&mut piece.balance);
            piece
        };
        let read = || counted(Summary::read_file);
        assert_eq!(
            files(vec![
                read(),
                broken(),
                Chunk::default(),
                broken(),
                read(),
                read()
            ]),
            (3, 2, 1)
        );
        assert_eq!(
            files(vec![
                broken(),
                counted(|balance| balance.fail_file("unreadable")),
                read()
            ]),
            (2, 1, 1)
        );
        assert_eq!(
            files(vec![
                Chunk {
                    broken: Some(DiagnosticKind::Unreadable),
                    ..read()
                },
                read()
            ]),
            (2, 1, 1)
        );
    }
}
