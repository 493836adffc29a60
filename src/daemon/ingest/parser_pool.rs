//! Threads that search messages, while what is read and what is committed stay in their order.

use std::fmt;
use std::num::NonZero;
use std::thread::available_parallelism;

use rayon::prelude::*;

use crate::limits::DAEMON_PARSER_THREADS;

/// The threads. Shared by all readers.
pub(crate) struct Parsers {
    /// None on one core: then everybody searches for himself.
    pool: Option<rayon::ThreadPool>,
}

impl fmt::Debug for Parsers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parsers")
            .field("threads", &self.threads())
            .finish()
    }
}

impl Parsers {
    /// As many as there are cores, but for [`DAEMON_PARSER_THREADS`] at the most.
    pub(crate) fn new() -> Parsers {
        let threads = available_parallelism()
            .map_or(1, NonZero::get)
            .min(DAEMON_PARSER_THREADS);
        let name = |index| format!("parser {index}");
        // Without threads it takes longer.
        let pool = || {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(name)
                .build()
                .ok()
        };
        Parsers {
            pool: (threads > 1).then(pool).flatten(),
        }
    }

    /// How many work at once.
    pub(crate) fn threads(&self) -> usize {
        self.pool
            .as_ref()
            .map_or(1, rayon::ThreadPool::current_num_threads)
    }

    /// Does `work` for each of `items`, with what goes from one to the next on a thread. What it
    /// gives is in their order.
    pub(crate) fn each<T: Sync, K: Default, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&mut K, &T) -> R + Sync,
    ) -> Vec<R> {
        match &self.pool {
            Some(pool) if items.len() > 1 => {
                pool.install(|| items.par_iter().map_init(K::default, &work).collect())
            }
            _ => {
                let mut kept = K::default();
                items.iter().map(|item| work(&mut kept, item)).collect()
            }
        }
    }
}
