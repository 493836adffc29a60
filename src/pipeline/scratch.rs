//! Buffers and caches that a thread keeps from one unit of work to the next. No record depends on them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::chunk::Batch;
use crate::record::{LineFormat, RecordWriter};

/// Buffers and caches of one unit in progress.
pub(super) struct Scratch {
    /// Buffer for the bytes of a block.
    pub(super) block_bytes: Vec<u8>,
    /// The encoder, which remembers what it encoded lately.
    pub(super) writer: RecordWriter,
    /// Buffer for the open lines of a message while they are closed.
    pub(super) open_lines: Vec<u8>,
    /// About the length of the lines of the batches so far.
    pub(super) usual_bytes: usize,
}

impl Scratch {
    fn new(format: &LineFormat) -> Scratch {
        Scratch {
            block_bytes: Vec::new(),
            writer: RecordWriter::new(format),
            open_lines: Vec::new(),
            usual_bytes: 0,
        }
    }
}

/// Scratches and buffers of lines that are not in use. Shared by all threads.
#[derive(Default)]
pub(super) struct ScratchPool {
    /// Never more than there were units in progress at once: two for each thread.
    scratches: Mutex<Vec<Scratch>>,
    /// Buffers of lines that were written, never more than were in use at once.
    line_buffers: Mutex<Vec<Vec<u8>>>,
}

impl ScratchPool {
    /// Takes a scratch out of the pool, or a new one. All of them write lines in one format.
    pub(super) fn take(&self, format: &LineFormat) -> Scratch {
        let scratch = locked(&self.scratches).pop();
        scratch.unwrap_or_else(|| Scratch::new(format))
    }

    /// Puts a scratch back.
    pub(super) fn put(&self, scratch: Scratch) {
        locked(&self.scratches).push(scratch);
    }

    /// Takes an empty buffer of lines: the one that was used last, whose memory is the fastest to write to.
    pub(super) fn take_lines(&self) -> Vec<u8> {
        locked(&self.line_buffers).pop().unwrap_or_default()
    }

    /// Puts back the buffer of lines that were written. A buffer that grew large with one message is dropped.
    pub(super) fn put_lines(&self, mut lines: Vec<u8>) {
        if (1..=2 * Batch::FULL_BYTES).contains(&lines.capacity()) {
            lines.clear();
            locked(&self.line_buffers).push(lines);
        }
    }
}

/// Locks a list, also after a panic of another thread: lists are whole at any time.
fn locked<T>(list: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
