//! Which files are scanned, and when: notifications of the kernel, rescans, retries.

mod event;
mod fs_events;
mod reader;
mod retries;
mod spool_scan;
mod survey;

pub use event::DaemonEvent;
pub(crate) use fs_events::{FsEvents, OverflowFlag, UnwatchedPath, WatchError, watched_path};
pub(crate) use reader::ReaderResources;
pub use reader::{ReaderHost, SpoolReader};
pub(crate) use retries::ReadErrorKind;
