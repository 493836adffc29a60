//! What threads keep from one unit of work to the next.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::batch::BatchBuilder;
use crate::record::RecordWriter;

/// What is kept from one piece of work to the next, to save time: nothing that a record depends on.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) buffer: Vec<u8>,
    pub(super) writer: RecordWriter,
    pub(super) usual_bytes: usize,
}

/// The desks at which nobody works. There are never more than threads of both sets.
#[derive(Default)]
pub(super) struct ScratchPool {
    free: Mutex<Vec<Scratch>>,
    /// Room for records, of which those were written. There is never more than was held at once.
    room: Mutex<Vec<Vec<u8>>>,
}

impl ScratchPool {
    pub(super) fn free(&self) -> MutexGuard<'_, Vec<Scratch>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn room(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes back the room of records that were written: memory that was used lately is soonest written to.
    pub(super) fn take_back(&self, mut records: Vec<u8>) {
        // What a message took that yields much is not kept.
        if (1..=2 * BatchBuilder::FULL_BYTES).contains(&records.capacity()) {
            records.clear();
            self.room().push(records);
        }
    }
}
