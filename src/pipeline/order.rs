//! Restores the order of the input.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use super::chunk::Batch;
use crate::limits::QUEUED_BATCHES;

/// Units on their way from the threads to the writer, the first one first.
///
/// Each has a line of its own to the writer, which holds little: a unit with a large yield waits until all before it are
/// written, and is then written while it is worked on. Whoever is first in the line is being worked on or done, because
/// threads take the units in order.
#[derive(Default)]
pub(super) struct Order {
    lines: VecDeque<(Receiver<Batch>, u64)>,
    bytes: u64,
}

impl Order {
    /// Puts a unit of so many bytes behind the others: where its yield goes.
    pub(super) fn begin(&mut self, bytes: u64) -> SyncSender<Batch> {
        let (sender, receiver) = sync_channel(QUEUED_BATCHES);
        self.lines.push_back((receiver, bytes));
        self.bytes += bytes;
        sender
    }

    /// Writes what is ready, and waits until no more than `most_units` with `most_bytes` are under way. `false` ends the
    /// run.
    pub(super) fn drain(
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
