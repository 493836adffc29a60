//! A whole run: one thread walks, cuts inputs into units and writes; the others work on the units.

use std::{io, thread};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::batch::{Batch, ScratchPool};
use super::order::{HandInResult, InProgress, Lane, Order, Task};
use super::units::Units;
use super::worker::WorkContext;
use super::writer::{UnreportedRecords, Writer};
use super::{Job, Report, Summary};
use crate::keyed_hash::HashKey;
use crate::sink::random_bytes;
use urlspool_record::extract::Extractor;
use urlspool_sources::read::Input;
use urlspool_sources::walk::{self, WalkedFile};
use urlspool_text::limits::{BATCH_FILES, BATCHES_PER_THREAD, BLOCK_BYTES_PER_THREAD};
use urlspool_text::origin::FileRange;

/// Does the job and returns its summary.
///
/// The records are the same bytes for any number of threads. Holds at most
/// [`BLOCKS_PER_THREAD`](urlspool_text::limits::BLOCKS_PER_THREAD) blocks and [`BLOCK_BYTES_PER_THREAD`] bytes for each thread, or
/// one message, or [`BATCHES_PER_THREAD`] batches of small files with some of them open, and a bounded part of their
/// records; as much again at most while a small compressed file that unpacks to much is read.
///
/// # Errors
///
/// Errors of `report`, of starting threads, and of the source of random numbers. Input that cannot be read is an event.
pub fn run(job: &Job, extractor: &Extractor, report: &mut dyn Report) -> io::Result<Summary> {
    let units = Units::new(job, extractor.limits());
    run_units(units, job, extractor, report)
}

/// Does the job on one input that the caller opened, in place of the roots and items that the job names: on the messages that begin
/// in `part`, which names the source. An input that is no mbox belongs to the part at its start, as a whole.
///
/// The calling thread reads the input; else this is [`run`].
///
/// # Errors
///
/// As [`run`], and errors of finding the first message of a part.
pub fn run_input(
    input: Input,
    part: &FileRange,
    job: &Job,
    extractor: &Extractor,
    report: &mut dyn Report,
) -> io::Result<Summary> {
    let units = Units::of_input(input, part, job, extractor.limits())?;
    run_units(units, job, extractor, report)
}

/// Raises the limit on open files as far as the process is allowed to.
///
/// Shells start programs with a low limit for the sake of programs that use `select`.
pub fn raise_open_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // If it is refused, fewer files are opened ahead.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    );
}

/// Makes room in the process for the files that the threads of a job hold open.
///
/// [`run`] does it as well. A caller that has threads of its own does it before it starts them: after that it takes the system
/// several milliseconds.
pub fn reserve_descriptors(job: &Job) {
    if job.threads > 1 {
        walk::reserve_descriptors((job.threads * BATCHES_PER_THREAD + 2) * BATCH_FILES);
    }
}

fn run_units(
    units: Units<'_>,
    job: &Job,
    extractor: &Extractor,
    report: &mut dyn Report,
) -> io::Result<Summary> {
    let pool = ScratchPool::default();
    let context = WorkContext {
        job,
        extractor,
        pool: &pool,
        article_key: HashKey::new(random_bytes()?),
    };
    let mut writer = Writer::new(job, extractor.unique(), report);
    if !writer.write_header()? {
        return Ok(writer.end());
    }
    if job.threads <= 1 {
        let mut coordinator = Coordinator {
            context,
            writer: &mut writer,
            order: None,
        };
        coordinator.run_units(units, Lane::Run)?;
    } else {
        run_on_threads(context, units, &mut writer)?;
    }
    Ok(writer.end())
}

/// Does the job on as many threads as it asks for, besides this one.
fn run_on_threads(
    context: WorkContext<'_>,
    units: Units<'_>,
    writer: &mut Writer<'_>,
) -> io::Result<()> {
    let threads = context.job.threads;
    reserve_descriptors(context.job);
    let order = Order::default();
    thread::scope(|scope| {
        // Also after an error and a panic, so that the threads end.
        let _close = OnDrop(|| order.close());
        for number in 1..=threads {
            let order = &order;
            let work = move || {
                while let Some(task) = order.next_task() {
                    work_on(context, order, task);
                }
            };
            thread::Builder::new()
                .name(format!("worker {number}"))
                .spawn_scoped(scope, work)?;
        }
        let mut coordinator = Coordinator {
            context,
            writer,
            order: Some(&order),
        };
        coordinator.run_units(units, Lane::Run).map(|_| ())
    })
}

/// Thread that walks, cuts and writes.
struct Coordinator<'c, 'w> {
    context: WorkContext<'c>,
    writer: &'c mut Writer<'w>,
    /// The way to the threads. `None` if there are none: then the caller works on the units as well.
    order: Option<&'c Order>,
}

impl Coordinator<'_, '_> {
    /// Has the units worked on, and writes their batches in order. `Ok(false)` ends the run.
    fn run_units(&mut self, units: Units<'_>, lane: Lane) -> io::Result<bool> {
        match self.order {
            None => self.work_on(units),
            Some(order) => self.give_out(units, lane, order),
        }
    }

    /// Works on the units itself.
    fn work_on(&mut self, units: Units<'_>) -> io::Result<bool> {
        let context = self.context;
        for unit in units {
            let mut written = Ok(true);
            context.work_on(unit, &mut |batch| {
                if let Ok(true) = written {
                    written = self.write(batch);
                }
            });
            if !written? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Gives the units to the threads, and writes what is ready before each one. Before it waits for more bytes of a stream it writes
    /// everything.
    fn give_out(&mut self, mut units: Units<'_>, lane: Lane, order: &Order) -> io::Result<bool> {
        let threads = self.context.job.threads;
        let max_bytes = threads as u64 * BLOCK_BYTES_PER_THREAD;
        let nothing = InProgress { units: 0, bytes: 0 };
        let not_more = InProgress {
            units: usize::MAX,
            bytes: max_bytes,
        };
        // The next unit is not read before there may be room for it.
        while self.write_batches(lane, not_more, order)? {
            let Some(unit) = units.next() else {
                return self.write_batches(lane, nothing, order);
            };
            let max = InProgress {
                units: threads * unit.max_per_thread() + 1,
                // One unit may be larger than everything that may be in progress.
                bytes: max_bytes.saturating_sub(unit.bytes()),
            };
            if !self.write_batches(lane, max, order)? {
                return Ok(false);
            }
            order.add(lane, unit);
            if units.is_waiting() && !self.write_batches(lane, nothing, order)? {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Writes the batches of a lane that are ready, and waits for more until no more than `max` is in progress.
    fn write_batches(&mut self, lane: Lane, max: InProgress, order: &Order) -> io::Result<bool> {
        while let Some(batch) = order.next_batch(lane, max) {
            if !self.write(batch)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Writes a batch. A file that a thread deferred is read at its place in the order. `Ok(false)` ends the run.
    fn write(&mut self, batch: Batch) -> io::Result<bool> {
        let Batch { records, chunks } = batch;
        let mut records = UnreportedRecords::from(records);
        for mut chunk in chunks {
            let deferred = chunk.deferred.take();
            if !self.writer.write(chunk, &mut records)? {
                return Ok(false);
            }
            if let Some(file) = deferred {
                let wants_more = records.flush(self.writer.report)?;
                if !wants_more || !self.run_deferred(file)? {
                    return Ok(false);
                }
            }
        }
        let wants_more = records.flush(self.writer.report)?;
        if let Some(lines) = records.into_lines() {
            self.context.pool.put_lines(lines);
        }
        self.writer.report.progress(&self.writer.summary);
        Ok(wants_more)
    }

    /// Reads a deferred file in blocks, of which none is deferred again: this goes one level deep.
    fn run_deferred(&mut self, file: WalkedFile) -> io::Result<bool> {
        let WorkContext { job, extractor, .. } = self.context;
        self.run_units(
            Units::of_file(file, job, extractor.limits()),
            Lane::Deferred,
        )
    }
}

/// Works on a unit. While a batch waits for its turn the thread works on units of a deferred file.
fn work_on(context: WorkContext<'_>, order: &Order, task: Task) {
    let Task { unit, ticket } = task;
    // So that the writer does not wait in vain.
    let _finish = OnDrop(|| order.finish(ticket));
    context.work_on(unit, &mut |mut batch| {
        while let HandInResult::DoFirst { task, batch: held } = order.hand_in(ticket, batch) {
            batch = held;
            work_on(context, order, task);
        }
    });
}

/// Calls a function when it goes out of scope, also by a panic.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
