//! Distributes units of work to threads and restores the order of their batches, with bounded
//! memory.
//!
//! Each unit has a line (a queue) to the writer, which holds at most [`QUEUED_BATCHES`] batches. A
//! thread whose line is full waits until the writer has written all earlier units; afterwards its
//! batches are written while it works. Threads take units in order, so the unit whose turn it is is
//! either in progress or done.
//!
//! Units of a deferred file are the exception. Their turn comes while later units are already in
//! progress, perhaps on all threads, which then wait. These units have a separate lane that
//! precedes the lane of the run. A thread that waits with a unit of the run takes one of them in
//! the meantime. A thread that waits with a unit of a deferred file takes none. The first unwritten
//! unit therefore always finds a thread that takes and finishes it, so there is no deadlock. Each
//! thread holds at most two units.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::batch::Batch;
use super::units::Unit;
use urlspool_text::limits::QUEUED_BATCHES;

/// Lane of a unit. The units of a lane are written in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// The units of the run.
    Run,
    /// The units of a deferred file whose turn has come. They precede all unwritten units of the
    /// run.
    Deferred,
}

/// A unit, and the position of its batches in the order.
pub(super) struct Task {
    pub(super) unit: Unit,
    pub(super) ticket: Ticket,
}

/// The position of a unit in its lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    lane: Lane,
    number: u64,
}

/// Result of handing in a batch.
pub(super) enum HandInResult {
    /// The batch was taken.
    Taken,
    /// The run has ended, and no more batches are accepted.
    Closed,
    /// There is no room yet. The caller does `task`, then hands in `batch` again.
    DoFirst { task: Task, batch: Batch },
}

/// Maximum units in progress in a lane.
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
    /// Wakes threads that wait to hand in a batch: there is room, a unit of a deferred file was
    /// added, or the run has ended.
    room_made: Condvar,
    /// Wakes the writer: the first line of a lane has a batch or is finished.
    batch_ready: Condvar,
}

#[derive(Default)]
struct OrderState {
    run: LaneState,
    deferred: LaneState,
    is_closed: bool,
}

#[derive(Default)]
struct LaneState {
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
    /// Adds a unit at the end of its lane.
    pub(super) fn add(&self, lane: Lane, unit: Unit) {
        let mut state = self.locked();
        state.lane(lane).add(lane, unit);
        drop(state);
        self.unit_added.notify_one();
        if lane == Lane::Deferred {
            self.room_made.notify_all();
        }
    }

    /// Waits for a unit. `None` if the run has ended.
    pub(super) fn next_task(&self) -> Option<Task> {
        let mut state = self.locked();
        loop {
            if state.is_closed {
                return None;
            }
            let deferred = state.deferred.tasks.pop_front();
            if let Some(task) = deferred.or_else(|| state.run.tasks.pop_front()) {
                return Some(task);
            }
            state = wait(&self.unit_added, state);
        }
    }

    /// Hands in a batch of a unit. Waits while the unit's line is full.
    pub(super) fn hand_in(&self, ticket: Ticket, batch: Batch) -> HandInResult {
        let mut state = self.locked();
        loop {
            if state.is_closed {
                return HandInResult::Closed;
            }
            let line = state.lane(ticket.lane).line(ticket.number);
            if line.batches.len() < QUEUED_BATCHES {
                line.batches.push_back(batch);
                self.notify_writer(state, ticket);
                return HandInResult::Taken;
            }
            if ticket.lane == Lane::Run
                && let Some(task) = state.deferred.tasks.pop_front()
            {
                return HandInResult::DoFirst { task, batch };
            }
            state = wait(&self.room_made, state);
        }
    }

    /// Marks a unit as finished: it has no more batches.
    pub(super) fn finish(&self, ticket: Ticket) {
        let mut state = self.locked();
        state.lane(ticket.lane).line(ticket.number).is_finished = true;
        self.notify_writer(state, ticket);
    }

    /// Returns the next batch of a lane. Waits for it while more than `max` is in progress;
    /// otherwise returns `None` if there is none yet.
    pub(super) fn next_batch(&self, lane: Lane, max: InProgress) -> Option<Batch> {
        let mut state = self.locked();
        loop {
            let lane_state = state.lane(lane);
            lane_state.remove_written();
            let line = lane_state.lines.front_mut()?;
            if let Some(batch) = line.batches.pop_front() {
                drop(state);
                self.room_made.notify_all();
                return Some(batch);
            }
            if lane_state.lines.len() <= max.units && lane_state.bytes <= max.bytes {
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

    /// Wakes the writer if it waits for the unit of `ticket`.
    fn notify_writer(&self, mut state: MutexGuard<'_, OrderState>, ticket: Ticket) {
        let is_first = state.lane(ticket.lane).first_number == ticket.number;
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
    fn lane(&mut self, lane: Lane) -> &mut LaneState {
        match lane {
            Lane::Run => &mut self.run,
            Lane::Deferred => &mut self.deferred,
        }
    }
}

impl LaneState {
    fn add(&mut self, lane: Lane, unit: Unit) {
        let number = self.first_number + self.lines.len() as u64;
        let bytes = unit.bytes();
        self.lines.push_back(Line {
            batches: VecDeque::new(),
            bytes,
            is_finished: false,
        });
        self.bytes += bytes;
        self.tasks.push_back(Task {
            unit,
            ticket: Ticket { lane, number },
        });
    }

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

    fn order_of(units: &[(Lane, usize)]) -> Order {
        let order = Order::default();
        for (lane, count) in units {
            (0..*count).for_each(|_| order.add(*lane, Unit::Files(Vec::new())));
        }
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
        let order = order_of(&[(Lane::Run, 2)]);
        let (first, second) = (order.next_task().unwrap(), order.next_task().unwrap());
        assert!(matches!(
            order.hand_in(second.ticket, batch("second")),
            HandInResult::Taken
        ));
        order.finish(second.ticket);
        assert_eq!(records(order.next_batch(Lane::Run, ANY)), None);
        assert!(matches!(
            order.hand_in(first.ticket, batch("first")),
            HandInResult::Taken
        ));
        order.finish(first.ticket);
        for expected in [Some("first"), Some("second"), None] {
            let found = records(order.next_batch(Lane::Run, NONE));
            assert_eq!(found.as_deref(), expected);
        }
    }

    #[test]
    fn a_thread_that_waits_does_a_unit_of_a_deferred_file_first() {
        let order = order_of(&[(Lane::Run, 1)]);
        let late = order.next_task().unwrap();
        for _ in 0..QUEUED_BATCHES {
            assert!(matches!(
                order.hand_in(late.ticket, batch("late")),
                HandInResult::Taken
            ));
        }
        order.add(Lane::Deferred, Unit::Files(Vec::new()));
        let HandInResult::DoFirst { task, batch: held } = order.hand_in(late.ticket, batch("held"))
        else {
            panic!("the thread waits");
        };
        assert!(matches!(
            order.hand_in(task.ticket, batch("deferred")),
            HandInResult::Taken
        ));
        order.finish(task.ticket);
        let found = records(order.next_batch(Lane::Deferred, NONE));
        assert_eq!(found.as_deref(), Some("deferred"));
        assert!(order.next_batch(Lane::Deferred, NONE).is_none());
        assert_eq!(records(Some(held)).as_deref(), Some("held"));
    }

    #[test]
    fn units_of_a_deferred_file_are_taken_first() {
        let order = order_of(&[(Lane::Run, 1), (Lane::Deferred, 1)]);
        let lanes = [(); 2].map(|()| order.next_task().unwrap().ticket.lane);
        assert_eq!(lanes, [Lane::Deferred, Lane::Run]);
    }

    #[test]
    fn no_thread_waits_after_the_end() {
        let order = order_of(&[(Lane::Run, 1)]);
        let task = order.next_task().unwrap();
        order.close();
        assert!(order.next_task().is_none());
        assert!(matches!(
            order.hand_in(task.ticket, batch("late")),
            HandInResult::Closed
        ));
    }
}
