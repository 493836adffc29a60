//! Distributes units of work to threads and restores the order of their batches, with bounded
//! memory.
//!
//! Each unit has a line (a queue) to the writer, which holds at most [`QUEUED_BATCHES`] batches. A
//! thread whose line is full waits until the writer has written all earlier units; afterwards its
//! batches are written while it works. Threads take units in order, so the unit whose turn it is is
//! either in progress or done.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::batch::Batch;
use super::units::Unit;
use urlspool_text::limits::QUEUED_BATCHES;

/// A unit, and the position of its batches in the order.
pub(super) struct Task {
    pub(super) unit: Unit,
    pub(super) number: u64,
}

/// Maximum units in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct InProgress {
    /// Number of units.
    pub(super) units: usize,
    /// Size of the messages of these units, in bytes.
    pub(super) bytes: u64,
}

/// Queue of units to the threads, and of their batches to the writer.
#[derive(Default)]
pub(super) struct Order {
    state: Mutex<OrderState>,
    /// Wakes an idle thread: a unit was added, or the run has ended.
    unit_added: Condvar,
    /// Wakes threads that wait to hand in a batch: there is room, or the run has ended.
    room_made: Condvar,
    /// Wakes the writer: the first line has a batch or is finished.
    batch_ready: Condvar,
}

#[derive(Default)]
struct OrderState {
    is_closed: bool,
    /// Units that no thread has taken yet.
    tasks: VecDeque<Task>,
    /// Units in progress, in the order in which they are written.
    lines: VecDeque<Line>,
    /// Number of the first of `lines`.
    first_number: u64,
    /// Size of the messages of the units in progress, in bytes.
    bytes: u64,
}

/// Batches of a unit on their way to the writer.
struct Line {
    batches: VecDeque<Batch>,
    bytes: u64,
    is_finished: bool,
}

impl Order {
    /// Adds a unit at the end.
    pub(super) fn add(&self, unit: Unit) {
        let mut state = self.locked();
        let number = state.first_number + state.lines.len() as u64;
        let bytes = unit.bytes();
        state.lines.push_back(Line {
            batches: VecDeque::new(),
            bytes,
            is_finished: false,
        });
        state.bytes += bytes;
        state.tasks.push_back(Task { unit, number });
        drop(state);
        self.unit_added.notify_one();
    }

    /// Waits for a unit. `None` if the run has ended.
    pub(super) fn next_task(&self) -> Option<Task> {
        let mut state = self.locked();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(task) = state.tasks.pop_front() {
                return Some(task);
            }
            state = wait(&self.unit_added, state);
        }
    }

    /// Hands in a batch of the unit `number`. Waits while the unit's line is full. Returns `false`
    /// if the run has ended.
    pub(super) fn hand_in(&self, number: u64, batch: Batch) -> bool {
        let mut state = self.locked();
        loop {
            if state.is_closed {
                return false;
            }
            let line = state.line(number);
            if line.batches.len() < QUEUED_BATCHES {
                line.batches.push_back(batch);
                self.notify_writer(state, number);
                return true;
            }
            state = wait(&self.room_made, state);
        }
    }

    /// Marks a unit as finished: it has no more batches.
    pub(super) fn finish(&self, number: u64) {
        let mut state = self.locked();
        state.line(number).is_finished = true;
        self.notify_writer(state, number);
    }

    /// Returns the next batch. Waits for it while more than `max` is in progress; otherwise returns
    /// `None` if there is none yet.
    pub(super) fn next_batch(&self, max: InProgress) -> Option<Batch> {
        let mut state = self.locked();
        loop {
            state.remove_written();
            let line = state.lines.front_mut()?;
            if let Some(batch) = line.batches.pop_front() {
                drop(state);
                self.room_made.notify_all();
                return Some(batch);
            }
            if state.lines.len() <= max.units && state.bytes <= max.bytes {
                return None;
            }
            state = wait(&self.batch_ready, state);
        }
    }

    /// Ends the run, even if units are unfinished. Threads finish their current units, and hand in
    /// no more batches.
    pub(super) fn close(&self) {
        self.locked().is_closed = true;
        self.unit_added.notify_all();
        self.room_made.notify_all();
    }

    /// Wakes the writer if it waits for the unit `number`.
    fn notify_writer(&self, state: MutexGuard<'_, OrderState>, number: u64) {
        let is_first = state.first_number == number;
        drop(state);
        if is_first {
            self.batch_ready.notify_one();
        }
    }

    /// Locks the state, even after a panic in another thread: no panic leaves it half changed.
    fn locked(&self) -> MutexGuard<'_, OrderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OrderState {
    /// The line of a unit in progress.
    fn line(&mut self, number: u64) -> &mut Line {
        &mut self.lines[(number - self.first_number) as usize]
    }

    /// Removes the lines at the front whose batches were all written.
    fn remove_written(&mut self) {
        while let Some(line) = self
            .lines
            .pop_front_if(|line| line.is_finished && line.batches.is_empty())
        {
            self.bytes -= line.bytes;
            self.first_number += 1;
        }
    }
}

/// Waits for a notification. Ignores lock poisoning, as [`Order::locked`] does.
fn wait<'s>(condition: &Condvar, state: MutexGuard<'s, OrderState>) -> MutexGuard<'s, OrderState> {
    condition
        .wait(state)
        .unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::batch::BatchRecords;

    fn order_of(units: usize) -> Order {
        let order = Order::default();
        (0..units).for_each(|_| order.add(Unit::Files(Vec::new())));
        order
    }

    /// A batch that its records distinguish from others.
    fn batch(name: &str) -> Batch {
        Batch {
            records: BatchRecords::Lines(name.as_bytes().to_vec()),
            ..Batch::default()
        }
    }

    fn records(batch: Option<Batch>) -> Option<String> {
        batch.map(|batch| match batch.records {
            BatchRecords::Lines(lines) => String::from_utf8(lines).unwrap(),
            BatchRecords::Values { .. } => panic!("the batches of the test are lines"),
        })
    }

    const NONE: InProgress = InProgress { units: 0, bytes: 0 };
    const ANY: InProgress = InProgress {
        units: usize::MAX,
        bytes: u64::MAX,
    };

    #[test]
    fn batches_come_in_the_order_of_their_units() {
        let order = order_of(2);
        let (first, second) = (order.next_task().unwrap(), order.next_task().unwrap());
        assert!(order.hand_in(second.number, batch("second")));
        order.finish(second.number);
        assert_eq!(records(order.next_batch(ANY)), None);
        assert!(order.hand_in(first.number, batch("first")));
        order.finish(first.number);
        for expected in [Some("first"), Some("second"), None] {
            let found = records(order.next_batch(NONE));
            assert_eq!(found.as_deref(), expected);
        }
    }

    #[test]
    fn no_thread_waits_after_the_end() {
        let order = order_of(1);
        let task = order.next_task().unwrap();
        order.close();
        assert!(order.next_task().is_none());
        assert!(!order.hand_in(task.number, batch("late")));
    }
}
