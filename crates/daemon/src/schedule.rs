//! Which files are scanned, and when: kernel notifications, rescans, retries.
//!
//! The methods of [`SpoolReader`] are spread over the files by subject.
//!
//! | file | subject |
//! |---|---|
//! | `reader` | the events that wake a reader, its state, its loop; unreadable files |
//! | `file_check` | the check of one file or git repository, and the time of the next one |
//! | `spool_scan` | a spool and its scan; gone messages; the purge of old state |

mod file_check;
mod reader;
mod spool_scan;

pub(crate) use reader::ReaderResources;
pub use reader::{DaemonEvent, FileChange, ReaderHost, SpoolReader};
