//! What a look at a file starts from, and what becomes of it.

use std::io;

use crate::diagnostic::SkipReason;

/// Whether a file has rested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It has not changed for as long as it takes, or its writer has closed it.
    Settled,
    /// It may still be written.
    Fresh,
}

/// What became of a look.
#[derive(Debug)]
pub(crate) enum Look {
    /// All of it was taken, or there was nothing to take.
    Done,
    /// It is still being written, or somebody holds its lock.
    Wait,
    /// There is more.
    More,
    /// It is skipped.
    Skipped(SkipReason),
    /// It could not be read.
    Failed(io::Error),
}
