//! Which files are scanned, and when: notifications of the kernel, rescans, retries.

mod fs_events;
mod retries;
mod spool_scan;
mod survey;

pub(crate) use fs_events::{FsEvents, OverflowFlag, UnwatchedPath, WatchError, watched_path};
pub use retries::Failure;
pub(crate) use retries::{ReadErrorKind, RetryTable};
