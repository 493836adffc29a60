//! Threads that extract URLs from messages. Reading and committing keep the order of the messages.

use std::fmt;
use std::num::NonZero;
use std::thread::available_parallelism;

use rayon::prelude::*;

use crate::limits::DAEMON_PARSER_THREADS;
use crate::record::{LineFormat, RecordWriter};

/// Pool of threads, shared by all readers.
pub(crate) struct ParserPool {
    /// `None` on one core: then each reader does the work on its own thread.
    pool: Option<rayon::ThreadPool>,
    /// The format of the records' lines.
    format: LineFormat,
}

impl fmt::Debug for ParserPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParserPool")
            .field("threads", &self.threads())
            .finish()
    }
}

impl ParserPool {
    /// A pool with one thread per core, at most [`DAEMON_PARSER_THREADS`], for records in this format.
    pub(crate) fn new(format: LineFormat) -> ParserPool {
        let threads = available_parallelism()
            .map_or(1, NonZero::get)
            .min(DAEMON_PARSER_THREADS);
        let name = |index| format!("parser {index}");
        // If the threads cannot be started, the readers do the work themselves, which takes longer.
        let pool = || {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(name)
                .build()
                .ok()
        };
        ParserPool {
            pool: (threads > 1).then(pool).flatten(),
            format,
        }
    }

    /// Number of threads that work at once.
    pub(crate) fn threads(&self) -> usize {
        self.pool
            .as_ref()
            .map_or(1, rayon::ThreadPool::current_num_threads)
    }

    /// Calls `work` for each item and returns the results in the order of the items. Each thread passes its writer
    /// from one item to the next.
    pub(crate) fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&mut RecordWriter, &T) -> R + Sync,
    ) -> Vec<R> {
        let writer = || RecordWriter::new(&self.format);
        match &self.pool {
            Some(pool) if items.len() > 1 => {
                pool.install(|| items.par_iter().map_init(writer, &work).collect())
            }
            _ => {
                let mut writer = writer();
                items.iter().map(|item| work(&mut writer, item)).collect()
            }
        }
    }
}
