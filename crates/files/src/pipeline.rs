//! All stages joined, for files and folders: inputs in, encoded records out, in order, with a
//! summary.
//!
//! [`run`] reads the inputs of a [`Job`] on many threads. [`MessageSource`] returns the messages of
//! one input; it serves `scan`, the daemon and `explain`. The work on one message is in
//! [`extract`](mod@urlspool_record::extract).

mod batch;
mod messages;
mod order;
mod run;
mod summary;
mod units;
mod worker;
mod writer;

pub use messages::is_earlier_output;
pub use messages::{
    InputFailure, InputStep, MessageBlock, MessageSource, StreamEnd, UnreadMessages,
};
pub use run::{raise_open_files, reserve_descriptors, run, run_input};
pub use summary::{NamedCounts, SchemeCounts, Summary};

use std::io;
use std::path::{Path, PathBuf};

use urlspool_mail::split::Format;
use urlspool_record::record::{LineFormat, Record};
use urlspool_sources::walk::{PathFilter, SymlinkPolicy};
use urlspool_text::diagnostic::Event;
use urlspool_text::origin::FileRange;

/// A job for [`run`].
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Files and folders; `-` for standard input.
    pub roots: Vec<PathBuf>,
    /// Ranges of files, which replace the roots.
    pub items: Option<Vec<FileRange>>,
    /// Filter for the paths of files below the roots.
    pub filter: PathFilter,
    /// Handling of symbolic links below the roots.
    pub links: SymlinkPolicy,
    /// The format of all sources; `None` to detect it.
    pub format: Option<Format>,
    /// Number of threads that process messages. With 1 or less, the calling thread does all work.
    pub threads: usize,
    /// Format of the records: lines or values.
    pub line_format: LineFormat,
    /// `true` to report rejected candidates.
    pub rejects: bool,
    /// Skips messages dated before this time (seconds since 1970).
    pub since: Option<i64>,
    /// Skips messages dated at this time or later.
    pub until: Option<i64>,
    /// Skips messages that belong to no list and no newsgroup with these names; empty to skip none.
    pub lists: Vec<String>,
}

/// Receiver of the results of a run, in the order of its input.
pub trait Report {
    /// Receives records as whole lines, if the job asks for lines. `Ok(false)` ends the run.
    ///
    /// # Errors
    ///
    /// Write errors, which end the run. A report of values refuses lines.
    fn lines(&mut self, _lines: &[u8]) -> io::Result<bool> {
        Err(io::Error::other("records were expected as values"))
    }

    /// Receives records as values, if the job asks for [`LineFormat::Values`]. `Ok(false)` ends the
    /// run.
    ///
    /// # Errors
    ///
    /// Write errors, which end the run. A report of lines refuses values.
    fn records(&mut self, _records: Vec<Record>) -> io::Result<bool> {
        Err(io::Error::other("records were expected as lines"))
    }

    /// Receives encoded rejected candidates, one per line, if the job asks for them.
    ///
    /// # Errors
    ///
    /// Write errors, which end the run.
    fn rejects(&mut self, _batch: &[u8]) -> io::Result<()> {
        Ok(())
    }

    /// Receives an event.
    ///
    /// # Errors
    ///
    /// Write errors, which end the run.
    fn event(&mut self, _event: &Event) -> io::Result<()> {
        Ok(())
    }

    /// Receives the path of a file that was read: to the end, unless an event says otherwise. Empty
    /// files count as read.
    fn file_read(&mut self, _path: &Path) {}

    /// Receives the counts so far, after each batch.
    fn progress(&mut self, _summary: &Summary) {}
}
