//! A whole run: one thread walks, cuts inputs into units and writes; the others process the units.

use std::{io, thread};

use rustix::process::{Resource, getrlimit, setrlimit};

use super::batch::{Batch, BatchRecords, LinePool, Scratch};
use super::order::{InProgress, Order, Task};
use super::units::Units;
use super::worker::WorkContext;
use super::writer::Writer;
use super::{Job, Report, Summary};
use crate::keyed_hash::HashKey;
use crate::sink::random_bytes;
use urlspool_record::extract::Extractor;
use urlspool_sources::read::Input;
use urlspool_sources::walk;
use urlspool_text::limits::{BATCH_FILES, BATCHES_PER_THREAD, BLOCK_BYTES_PER_THREAD};
use urlspool_text::origin::FileRange;

/// Runs the job and returns its summary.
///
/// The records are byte for byte the same for any number of threads. For each thread, the run holds
/// at most [`BLOCKS_PER_THREAD`](urlspool_text::limits::BLOCKS_PER_THREAD) blocks and
/// [`BLOCK_BYTES_PER_THREAD`] bytes, or one message, or [`BATCHES_PER_THREAD`] batches of small
/// files with some of the files open; and a bounded part of their records. The amount can double
/// while it reads a small compressed file with large content.
///
/// # Errors
///
/// Errors of `report`, of starting threads, and of the source of random numbers. Unreadable input
/// is an event.
pub fn run(job: &Job, extractor: &Extractor, report: &mut dyn Report) -> io::Result<Summary> {
    let units = Units::new(job, extractor.limits());
    run_units(units, job, extractor, report)
}

/// Runs the job on one input that the caller opened, which replaces the job's roots and items.
/// Reads the messages that start in `part`, which names the source. An input that is not an mbox
/// belongs as a whole to the part at its start.
///
/// The calling thread reads the input. Otherwise this is like [`run`].
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

/// Raises the limit on open files as far as permitted.
///
/// Shells start programs with a low limit for the sake of programs that use `select`.
pub fn raise_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // If this is refused, fewer files are opened ahead.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Reserves descriptors for the files that the threads of a job hold open.
///
/// [`run`] does this too. A caller with its own threads does it before it starts them: afterwards
/// it takes the system several milliseconds.
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
    let pool = LinePool::default();
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
        run_alone(context, units, &mut writer)?;
    } else {
        run_on_threads(context, units, &mut writer)?;
    }
    Ok(writer.end())
}

/// Runs the job on the calling thread alone.
fn run_alone(
    context: WorkContext<'_>,
    units: Units<'_>,
    writer: &mut Writer<'_>,
) -> io::Result<()> {
    let mut scratch = Scratch::new(&context.job.line_format);
    for unit in units {
        let mut written = Ok(true);
        context.work_on(unit, &mut scratch, &mut |batch| {
            if let Ok(true) = written {
                written = write(context, batch, writer);
            }
            matches!(written, Ok(true))
        });
        if !written? {
            break;
        }
    }
    Ok(())
}

/// Runs the job on its number of threads, in addition to the calling one.
fn run_on_threads(
    context: WorkContext<'_>,
    units: Units<'_>,
    writer: &mut Writer<'_>,
) -> io::Result<()> {
    let threads = context.job.threads;
    reserve_descriptors(context.job);
    let order = Order::default();
    thread::scope(|scope| {
        // Runs even after an error or a panic, so the threads end.
        let _close = OnDrop(|| order.close());
        for number in 1..=threads {
            let order = &order;
            let work = move || {
                let mut scratch = Scratch::new(&context.job.line_format);
                while let Some(Task { unit, number }) = order.next_task() {
                    // Otherwise the writer might wait forever.
                    let _finish = OnDrop(|| order.finish(number));
                    context.work_on(unit, &mut scratch, &mut |batch| {
                        order.hand_in(number, batch)
                    });
                }
            };
            thread::Builder::new()
                .name(format!("worker {number}"))
                .spawn_scoped(scope, work)?;
        }
        distribute(context, units, &order, writer).map(|_| ())
    })
}

/// Distributes the units to the threads, and writes available batches before each one. Writes all
/// batches before it waits for more bytes of a stream. `Ok(false)` ends the run.
fn distribute(
    context: WorkContext<'_>,
    mut units: Units<'_>,
    order: &Order,
    writer: &mut Writer<'_>,
) -> io::Result<bool> {
    let threads = context.job.threads;
    let max_bytes = threads as u64 * BLOCK_BYTES_PER_THREAD;
    let nothing = InProgress { units: 0, bytes: 0 };
    let not_more = InProgress {
        units: usize::MAX,
        bytes: max_bytes,
    };
    // The next unit is not read until there may be room for it.
    while write_batches(context, order, not_more, writer)? {
        let Some(unit) = units.next() else {
            return write_batches(context, order, nothing, writer);
        };
        let max = InProgress {
            units: threads * unit.max_per_thread() + 1,
            // One unit may be larger than the maximum in progress.
            bytes: max_bytes.saturating_sub(unit.bytes()),
        };
        if !write_batches(context, order, max, writer)? {
            return Ok(false);
        }
        order.add(unit);
        if units.is_waiting && !write_batches(context, order, nothing, writer)? {
            return Ok(false);
        }
    }
    Ok(false)
}

/// Writes the available batches, and waits for more until at most `max` is in progress.
fn write_batches(
    context: WorkContext<'_>,
    order: &Order,
    max: InProgress,
    writer: &mut Writer<'_>,
) -> io::Result<bool> {
    while let Some(batch) = order.next_batch(max) {
        if !write(context, batch, writer)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes a batch. `Ok(false)` ends the run.
fn write(context: WorkContext<'_>, batch: Batch, writer: &mut Writer<'_>) -> io::Result<bool> {
    let mut records = batch.records;
    let wants_more = writer.write(batch.chunks, &mut records)?;
    if let BatchRecords::Lines(lines) = records {
        context.pool.put_lines(lines);
    }
    Ok(wants_more)
}

/// Calls a function when it goes out of scope, even during a panic.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
