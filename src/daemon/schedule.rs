//! Which files are scanned, and when: notifications of the kernel, rescans, retries.
//!
//! Each file imports only those above it. The methods of [`SpoolReader`] are divided by subject over the last six.
//!
//! | file | subject |
//! |---|---|
//! | `event` `fs_events` | what wakes a reader, and the kernel's notifications |
//! | `retries` | files that could not be read |
//! | `missing_files` | files that are present in a spool, or missing |
//! | `watched_spool` | a spool as its reader sees it |
//! | `reader` | the state of a reader, and its loop |
//! | `file_check` | the check of one file, and the time of its next one |
//! | `due_files` | files that changed, settled or are to be retried |
//! | `survey` | purge of the state of missing files |
//! | `census` | messages that are gone with missing files |
//! | `spool_scan` | the scan of a whole spool, and the time of its next one |

mod census;
mod due_files;
mod event;
mod file_check;
mod fs_events;
mod missing_files;
mod reader;
mod retries;
mod spool_scan;
mod survey;
mod watched_spool;

pub use event::DaemonEvent;
pub(crate) use fs_events::{FsEvents, OverflowFlag, UnwatchedPath, WatchError, watched_path};
pub(crate) use reader::ReaderResources;
pub use reader::{ReaderHost, SpoolReader};
pub(crate) use retries::ReadErrorKind;
