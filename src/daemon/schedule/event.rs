//! Everything that can wake a reader.

use std::path::PathBuf;

/// Everything that can wake a reader. If it is not here, it does not happen.
#[derive(Debug)]
pub enum DaemonEvent {
    /// Something at this path changed. The scan finds out what.
    Changed(PathBuf),
    /// Notifications were lost: everything must be rescanned.
    Overflow,
    /// A spool, or a folder in it, delivers no notifications: it must be polled.
    Unwatched(PathBuf),
    /// The operator asked the reader to stop.
    Stop,
}
