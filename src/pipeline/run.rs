//! A whole run: one thread walks, cuts and writes, the others work.

use std::cell::OnceCell;
use std::io;

use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

use super::chunk::Batch;
use super::dedup::Dedup;
use super::job::{Job, Output, Report};
use super::order::Order;
use super::scratch::ScratchPool;
use super::units::{Unit, Units};
use super::worker::WorkContext;
use super::writer::{Run, Writer};
use crate::extract::Extractor;
use crate::limits::{BATCH_FILES, BATCHES_PER_THREAD, BLOCK_BYTES_PER_THREAD};
use crate::record::Summary;
use crate::walk;

/// Does the job and gives what it counted.
///
/// The records are the same bytes for any number of threads. Holds at most [`BLOCKS_PER_THREAD`](crate::limits::BLOCKS_PER_THREAD) blocks and
/// [`BLOCK_BYTES_PER_THREAD`] bytes for each thread, or one message, or [`BATCHES_PER_THREAD`] batches of small files with some
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
        summary: Summary::default(),
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
        return Ok(writer.summary);
    }
    walk::reserve_descriptors((job.threads * BATCHES_PER_THREAD + 2) * BATCH_FILES);
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
    Ok(writer.summary)
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
        let job = self.job;
        let context = WorkContext {
            job,
            extractor: self.extractor,
            pool: self.desks,
        };
        let Some(scope) = self.scope else {
            for unit in units {
                let mut written = Ok(true);
                context.work_on(unit, &mut |batch| {
                    if let Ok(true) = written {
                        written = self.write(batch, writer);
                    }
                });
                if !written? {
                    return Ok(false);
                }
            }
            return Ok(true);
        };
        let mut order = Order::default();
        let most_bytes = job.threads as u64 * BLOCK_BYTES_PER_THREAD;
        for unit in units {
            let bytes = unit.bytes();
            let most_units = job.threads * unit.max_per_thread() + 1;
            // One unit may be larger than all that may be under way.
            let room = most_bytes.saturating_sub(bytes);
            if !order.drain(most_units, room, &mut |batch| self.write(batch, writer))? {
                return Ok(false);
            }
            let sender = order.begin(bytes);
            scope.spawn(move |_| {
                // The other end is gone only when the run was given up.
                context.work_on(unit, &mut |batch| {
                    let _ = sender.send(batch);
                });
            });
        }
        order.drain(0, 0, &mut |batch| self.write(batch, writer))
    }

    /// Writes a batch. A file that a thread left to be read in blocks is read when its turn has come; its units are
    /// blocks, of which none is left in turn, so that this goes one level deep.
    fn write(&self, batch: Batch, writer: &mut Writer<'_>) -> io::Result<bool> {
        let Batch { records, chunks } = batch;
        let mut run = Run {
            records: &records,
            written: 0,
            reached: 0,
        };
        for mut chunk in chunks {
            let deferred = chunk.deferred.take();
            if !writer.write(chunk, &mut run)? {
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
        self.desks.put_records(records);
        writer.report.progress(&writer.summary);
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
        let mut units = Units::of_file(file, job, extractor.limits());
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
