//! Which files are scanned, and when: notifications of the kernel, rescans, retries.
//!
//! The methods of [`SpoolReader`] are divided by subject over the files.
//!
//! | file | subject |
//! |---|---|
//! | `watched_spool` | a spool as its reader sees it; the files that are present in it, or missing |
//! | `reader` | what wakes a reader, its state, its loop; files that could not be read |
//! | `fs_events` | notifications of the kernel (inotify) |
//! | `file_check` | the check of one file or git repository, and the time of its next one |
//! | `census` | messages that are gone with missing files |
//! | `spool_scan` | the scan of a whole spool, the time of its next one, and the purge of the state of missing files |

mod census;
mod file_check;
mod fs_events;
mod reader;
mod spool_scan;
mod watched_spool;

#[cfg(target_os = "linux")]
pub(crate) use fs_events::watched_path;
pub(crate) use fs_events::{FsEvents, OverflowFlag};
pub use reader::DaemonEvent;
pub(crate) use reader::ReaderResources;
pub use reader::{ReaderHost, SpoolReader};
