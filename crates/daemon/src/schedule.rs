//! Which files are scanned, and when: kernel notifications, rescans, retries.
//!
//! The methods of [`SpoolReader`] are spread over the files by subject.
//!
//! | file | subject |
//! |---|---|
//! | `watched_spool` | a spool as its reader sees it; its present and missing files |
//! | `reader` | the events that wake a reader, its state, its loop; unreadable files |
//! | `fs_events` | kernel notifications (inotify) |
//! | `file_check` | the check of one file or git repository, and the time of the next one |
//! | `spool_scan` | the scan of a whole spool; gone messages; the purge of old state |

mod file_check;
mod fs_events;
mod reader;
mod spool_scan;
mod watched_spool;

pub(crate) use fs_events::FsEvents;
#[cfg(target_os = "linux")]
pub(crate) use fs_events::watched_path;
pub(crate) use reader::ReaderResources;
pub use reader::{DaemonEvent, FileChange, ReaderHost, SpoolReader};
