//! Which files are scanned, and when: notifications of the kernel, rescans, retries.
//!
//! Each file imports only those above it. The methods of [`SpoolReader`] are divided by subject over the last three.
//!
//! | file | subject |
//! |---|---|
//! | `retries` | files that could not be read |
//! | `missing_files` | files that are present in a spool, or missing |
//! | `watched_spool` | a spool as its reader sees it |
//! | `reader` | what wakes a reader, its state, and its loop |
//! | `fs_events` | notifications of the kernel |
//! | `file_check` | the check of one file, and the time of its next one |
//! | `census` | messages that are gone with missing files |
//! | `spool_scan` | the scan of a whole spool, the time of its next one, and the purge of the state of missing files |

mod census;
mod file_check;
mod fs_events;
mod missing_files;
mod reader;
mod retries;
mod spool_scan;
mod watched_spool;

pub(crate) use fs_events::{FsEvents, OverflowFlag, watched_path};
pub use reader::DaemonEvent;
pub(crate) use reader::ReaderResources;
pub use reader::{ReaderHost, SpoolReader};
