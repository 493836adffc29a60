//! The part of a load that is not committed yet.

use std::time::{Duration, Instant};

use super::LoadCounts;
use super::segment::SegmentFile;
use crate::limits::{LOAD_BATCH_ROWS, LOAD_BATCH_SECONDS};

/// The uncommitted part of a load.
#[derive(Debug, Default)]
pub(super) struct LoadBatch {
    /// The moment at which the transaction was opened; `None` if there is none.
    opened: Option<Instant>,
    pub(super) rows: usize,
    /// Segments that are removed after the commit.
    pub(super) to_delete: Vec<SegmentFile>,
    pub(super) counts: LoadCounts,
}

impl LoadBatch {
    /// Notes that a transaction was opened.
    pub(super) fn open(&mut self) {
        self.opened = Some(Instant::now());
    }

    /// Returns `true` if a transaction is open.
    pub(super) fn is_open(&self) -> bool {
        self.opened.is_some()
    }

    /// Returns `true` if it has as many rows as a batch may have, or is as old.
    pub(super) fn is_full(&self) -> bool {
        let max_age = Duration::from_secs(LOAD_BATCH_SECONDS);
        LOAD_BATCH_ROWS <= self.rows
            || self
                .opened
                .is_some_and(|opened| max_age <= opened.elapsed())
    }
}
