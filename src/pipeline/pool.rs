//! A whole run: one thread walks, reads and writes, the others work; order is restored with bounded memory.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::Batch;
use super::Piece;
use super::extract::Extractor;
use super::unique::Given;
use super::work::{self, Output, Unit};
use crate::limits::{BATCH_BYTES, BATCH_FILES, BLOCKS_PER_THREAD, SMALL_FILE_BYTES};
use crate::origin::{Hint, Source};
use crate::problem::{Event, Kind, Problem};
use crate::read;
use crate::record::Balance;
use crate::sink::Sink;
use crate::split::{self, Format, Opened, Roller};
use crate::walk::{self, Filter, Links, Step};

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
    /// Which files are wanted.
    pub filter: Filter,
    /// Whether links are followed.
    pub links: Links,
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
    fn progress(&mut self, balance: &Balance);
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

    fn progress(&mut self, _: &Balance) {}
}

/// Does the job and gives what it counted.
///
/// The records are the same octets for any number of threads. Holds at most [`BLOCKS_PER_THREAD`] blocks for each
/// thread, and their records.
///
/// # Errors
///
/// What `report` says, or that threads cannot be had. Input that fails is an event.
pub fn run(job: &Job, extractor: &Extractor, report: &mut dyn Report) -> io::Result<Balance> {
    let mut writer = Writer { report, given: Given::default(), balance: Balance::default() };
    let mut units = Units::new(job, extractor.limits().message_bytes);
    if job.threads <= 1 {
        for unit in units.by_ref() {
            if !writer.write(work::work(unit, job, extractor))? {
                break;
            }
        }
        return Ok(writer.balance);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(job.threads).build().map_err(io::Error::other)?;
    let (sender, receiver) = channel();
    pool.in_place_scope(|scope| {
        let mut order = Order { receiver, waiting: BTreeMap::new(), next: 0, under_way: 0 };
        let most = job.threads * BLOCKS_PER_THREAD + 1;
        for (number, unit) in units.by_ref().enumerate() {
            let sender: Sender<(usize, Batch)> = sender.clone();
            scope.spawn(move |_| {
                // The other end is gone only when the run was given up.
                let _ = sender.send((number, work::work(unit, job, extractor)));
            });
            order.under_way += 1;
            if !order.drain(most, &mut writer)? {
                return Ok(());
            }
        }
        order.drain(0, &mut writer).map(|_| ())
    })?;
    Ok(writer.balance)
}

/// Batches on their way from the threads to the writer.
struct Order {
    receiver: Receiver<(usize, Batch)>,
    waiting: BTreeMap<usize, Batch>,
    next: usize,
    under_way: usize,
}

impl Order {
    /// Writes what is ready, and waits until no more than `most` are under way. `false` ends the run.
    fn drain(&mut self, most: usize, writer: &mut Writer<'_>) -> io::Result<bool> {
        loop {
            let received =
                if self.under_way > most { self.receiver.recv().ok() } else { self.receiver.try_recv().ok() };
            let Some((number, batch)) = received else { return Ok(true) };
            self.waiting.insert(number, batch);
            while let Some(batch) = self.waiting.remove(&self.next) {
                self.next += 1;
                self.under_way -= 1;
                if !writer.write(batch)? {
                    return Ok(false);
                }
            }
        }
    }
}

/// The end of the line: folds, counts and reports, in order.
struct Writer<'w> {
    report: &'w mut dyn Report,
    given: Given,
    balance: Balance,
}

impl Writer<'_> {
    fn write(&mut self, batch: Batch) -> io::Result<bool> {
        for mut piece in batch.pieces {
            self.given.fold(&mut piece);
            self.balance.add(&piece.balance);
            for event in &piece.events {
                self.report.event(event)?;
            }
            if !piece.rejects.is_empty() {
                self.report.rejects(&piece.rejects)?;
            }
            if !piece.records.is_empty() && !self.report.records(&piece.records)? {
                return Ok(false);
            }
        }
        self.report.progress(&self.balance);
        Ok(true)
    }
}

/// The units of a job, made while they are asked for.
struct Units<'j> {
    job: &'j Job,
    message_bytes: usize,
    steps: Box<dyn Iterator<Item = Step> + 'j>,
    /// The large file that is being read.
    current: Option<Current>,
    /// A file that waits until the small ones before it are on their way.
    ahead: Option<Step>,
}

struct Current {
    source: Arc<Source>,
    format: Format,
    blocks: Roller<Box<dyn Read>>,
    bytes: u64,
}

impl<'j> Units<'j> {
    fn new(job: &'j Job, message_bytes: usize) -> Units<'j> {
        let steps = Box::new(walk::walk(&job.roots, &job.filter, job.links));
        Units { job, message_bytes, steps, current: None, ahead: None }
    }

    /// Small files up to a batch's size, or the step behind them.
    fn files(&mut self) -> Option<Unit> {
        let mut files = Vec::new();
        let mut bytes = 0;
        while files.len() < BATCH_FILES && bytes < BATCH_BYTES {
            match self.ahead.take().or_else(|| self.steps.next()) {
                Some(Step::File(file)) if file.size < SMALL_FILE_BYTES => {
                    bytes += file.size;
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
    fn step(&mut self, step: Step) -> Unit {
        let mut piece = Piece::default();
        match step {
            Step::File(file) => {
                let stream = read::open(&file).map(|file| Box::new(file) as Box<dyn Read>);
                self.begin(stream, file.source, file.hint, &mut piece);
            }
            Step::Stdin => {
                let source = Source::at(Source::STDIN.into());
                self.begin(Ok(Box::new(io::stdin())), source, Hint::None, &mut piece);
            }
            Step::Skipped(source, why) => work::skipped(&mut piece, &source, why),
            Step::Failed(event) => work::lost(&mut piece, event),
        }
        Unit::Note(Box::new(piece))
    }

    fn begin(&mut self, stream: io::Result<Box<dyn Read>>, source: Source, hint: Hint, piece: &mut Piece) {
        let opened = stream.and_then(|stream| split::open(stream, self.job.format, hint, self.message_bytes));
        match opened {
            Err(error) => work::failed(piece, &source, &error),
            Ok(Opened::Left(why)) => work::skipped(piece, &source, why),
            Ok(Opened::Blocks(format, blocks)) => {
                self.current = Some(Current { source: Arc::new(source), format, blocks, bytes: 0 });
            }
        }
    }

    /// The next block of the large file, or a note that it was read.
    fn block(&mut self, mut current: Current) -> Unit {
        match current.blocks.next_block() {
            Ok(Some(block)) => {
                current.bytes += block.bytes.len() as u64;
                let unit = Unit::Block(Arc::clone(&current.source), current.format, block);
                self.current = Some(current);
                unit
            }
            ended => {
                let mut piece = Piece::default();
                piece.balance.bytes_read = current.bytes;
                match ended {
                    Err(error) => {
                        let problem = Problem::at(Kind::Damage, current.bytes, error.to_string());
                        work::lost(&mut piece, problem.of(&current.source));
                    }
                    Ok(_) => {
                        piece.balance.files += 1;
                        piece.balance.files_read += 1;
                    }
                }
                Unit::Note(Box::new(piece))
            }
        }
    }
}

impl Iterator for Units<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        match self.current.take() {
            Some(current) => Some(self.block(current)),
            None => self.files(),
        }
    }
}
