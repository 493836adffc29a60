//! Loads records into databases and search indexes, each exactly once, and searches what was
//! loaded.
//!
//! A target takes rows and commits them together with the segments that they came from
//! (`load/target.rs`); a load that is interrupted at any moment and repeated gives the same rows.
//! `load/loader.rs` reads the lines and decides when to commit.

#[cfg(any(feature = "elasticsearch", feature = "postgres"))]
mod authority_file;
mod citations;
mod columns;
#[cfg(feature = "elasticsearch")]
mod elasticsearch;
#[cfg(any(feature = "audit", feature = "elasticsearch"))]
mod http_agent;
mod input;
mod lines;
mod loader;
mod maildir;
mod phrases;
#[cfg(feature = "postgres")]
mod postgres;

mod run;
mod scan_feed;
mod search;
mod sqlite;
#[cfg(feature = "stats")]
mod stats;
mod target;
mod target_name;
mod tracking;
mod words;

#[cfg(feature = "browse")]
pub(crate) use citations::citation_of_row;
pub use citations::{CitedThing, citations};
#[cfg(feature = "audit")]
pub(crate) use http_agent::{TrustedAuthorities, config_of_any_server, http_agent, retry_after};
#[cfg(feature = "browse")]
pub(crate) use phrases::split_words;
pub use run::{LoadedScan, load, load_scan};
pub use scan_feed::{RecordFeed, ScannedFiles};
#[cfg(feature = "browse")]
pub(crate) use search::PassageMarker;
pub use search::{SearchOrder, SearchQuery, search};
#[cfg(feature = "cli")]
pub(crate) use sqlite::files_of_database;
#[cfg(any(feature = "audit", feature = "cli"))]
pub(crate) use sqlite::is_file_of_database;
#[cfg(any(feature = "audit", feature = "browse"))]
pub(crate) use sqlite::open_to_read;
#[cfg(feature = "audit")]
pub(crate) use sqlite::{open_to_extend, sqlite_error};
#[cfg(feature = "stats")]
pub use stats::{
    ReadStats, files_of_records, has_segments, is_named_as_records, stats_of_database,
    stats_of_matches, stats_of_records,
};
pub use target::today;
#[cfg(feature = "elasticsearch")]
pub use target_name::{ClientFiles, IndexServer};
pub use target_name::{Credentials, Secret, TargetName};
#[cfg(any(feature = "audit", feature = "browse"))]
pub(crate) use tracking::clean_key;

use std::cell::RefCell;
use std::error::Error as StdError;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use thiserror::Error;

use crate::record::LineError;

/// A load: what is loaded, and into which target.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadJob {
    /// The database or index.
    pub target: TargetName,
    /// Files and folders; `-` is standard input.
    pub inputs: Vec<PathBuf>,
    /// The use of rows that the target has already.
    pub mode: LoadMode,
    /// The use of segments after their rows are committed.
    pub segments: LoadedSegments,
    /// Everything is done in one transaction, which is rolled back: only the numbers are wanted.
    pub is_dry_run: bool,
    /// The credentials for the target.
    pub credentials: Credentials,
    /// Set by another thread, or by a signal, to end [`LoadMode::Follow`] when what was read is
    /// committed.
    pub stop: Arc<AtomicBool>,
}

impl LoadJob {
    /// Creates a load that adds the records of `inputs` to `target` and ends.
    #[must_use]
    pub fn new(target: TargetName, inputs: Vec<PathBuf>) -> LoadJob {
        LoadJob {
            target,
            inputs,
            mode: LoadMode::default(),
            segments: LoadedSegments::default(),
            is_dry_run: false,
            credentials: Credentials::default(),
            stop: Arc::default(),
        }
    }
}

/// The end of a load, and its use of rows that the target has already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadMode {
    /// Rows are added.
    #[default]
    Add,
    /// Rows are added, and rows of the same files that the input no longer holds are removed.
    Replace,
    /// Nothing is read: rows of files beneath the inputs that no longer exist are removed.
    Prune,
    /// Rows are added, and segments that appear later are loaded too, until the load is stopped.
    Follow,
}

/// The use of segments whose rows are committed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadedSegments {
    /// They stay.
    #[default]
    Keep,
    /// They are removed, with their sidecars.
    Delete,
}

/// Numbers of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadCounts {
    /// Records that were read.
    pub records: u64,
    /// Records that were not in the target before.
    pub added: u64,
    /// Rows that were removed: their messages are gone, or their files no longer hold them.
    pub removed: u64,
    /// Segments that were loaded.
    pub segments: u64,
    /// Segments that the target held already.
    pub known_segments: u64,
    /// Lines of other types, such as events.
    pub other_lines: u64,
    /// Lines that are no record.
    pub bad_lines: u64,
    /// Records that the target refused.
    pub refused_records: u64,
    /// Files that could not be read.
    pub failed_files: u64,
}

/// Receives what a load reports while it runs.
pub trait LoadReport {
    /// Reports a line that is no record. The others are loaded.
    fn bad_line(&mut self, input: &str, line: u64, error: &LineError);

    /// Reports a record that the target refused. The others are loaded.
    fn refused_record(&mut self, input: &str, line: u64, reason: &str);

    /// Reports an input that cannot be read, or not to its end, or a segment that was loaded and
    /// cannot be removed.
    fn failed_input(&mut self, error: &LoadError);

    /// Reports that [`LoadMode::Replace`] removed no rows, because an input was not read whole or
    /// has lines that are no records: the rows that it lacks may be those.
    fn kept_rows(&mut self);

    /// Reports that [`LoadMode::Replace`] removed no rows of files beneath a root of a scan,
    /// because the root is missing, or holds no file.
    fn kept_root(&mut self, root: &Path) {
        let _ = root;
    }

    /// Reports that the target has no rows of a file at or beneath a root of [`LoadMode::Prune`].
    fn unknown_root(&mut self, root: &Path) {
        let _ = root;
    }

    /// Reports that [`LoadMode::Prune`] removed no rows of so many files of Maildirs, because their
    /// messages are there under new names, of which the target has no rows.
    fn kept_renamed(&mut self, files: u64) {
        let _ = files;
    }

    /// Reports that a server did not accept a request, which is sent again.
    fn retried(&mut self, error: &LoadError, retry: &Retry) {
        let _ = (error, retry);
    }

    /// Reports that loading pauses until the target can be reached again.
    fn paused(&mut self, error: &LoadError);
}

/// The next attempt to send a request that a server did not accept.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Retry {
    /// The number of attempts that failed.
    pub failed: u32,
    /// The pause before the next one.
    pub pause: Duration,
    /// The end of further attempts.
    pub end: RetryEnd,
}

/// The end of the attempts to send a request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum RetryEnd {
    /// A number of attempts: the server has not answered yet.
    Attempts(u32),
    /// A time that is left.
    Within(Duration),
}

/// A report that a load and its target share: each reports while the other does not.
type SharedReport<'r> = Rc<RefCell<&'r mut dyn LoadReport>>;

/// The error that ends a load or a search, or that a load reports and survives.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct LoadError {
    kind: LoadErrorKind,
    /// It names the file or the server, the reason and the way out.
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The kind of an error. Each but [`LoadErrorKind::Busy`] has an exit code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadErrorKind {
    /// The target or the input cannot be used as it is.
    Unusable,
    /// The server cannot be reached. It may be reached later.
    Unreachable,
    /// The server can be reached, and is too busy. Else it is as [`LoadErrorKind::Unreachable`].
    Busy,
    /// The target or an input cannot be read or written.
    Io,
    /// Another program holds the target.
    Locked,
    /// The input contradicts itself or the target.
    Inconsistent,
}

impl LoadError {
    fn new(kind: LoadErrorKind, message: impl Into<String>) -> LoadError {
        LoadError {
            kind,
            message: message.into(),
            source: None,
        }
    }

    fn unusable(message: impl Into<String>) -> LoadError {
        LoadError::new(LoadErrorKind::Unusable, message)
    }

    fn io(message: impl Into<String>) -> LoadError {
        LoadError::new(LoadErrorKind::Io, message)
    }

    fn locked(message: impl Into<String>) -> LoadError {
        LoadError::new(LoadErrorKind::Locked, message)
    }

    fn inconsistent(message: impl Into<String>) -> LoadError {
        LoadError::new(LoadErrorKind::Inconsistent, message)
    }

    /// Creates the error of a target whose name leads to another database or index than when it was
    /// opened, or to none.
    fn replaced(target: &str) -> LoadError {
        LoadError::io(format!(
            "{target} was removed, renamed or replaced while it was being loaded; no segment was removed since. Put it back and \
             repeat the load, or repeat it to load the segments that are left into what has this name now"
        ))
    }

    /// Adds the error beneath.
    fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> LoadError {
        self.source = Some(source.into());
        self
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> LoadErrorKind {
        self.kind
    }

    /// Returns `true` if the load may succeed later without any change to the target or the input.
    fn is_temporary(&self) -> bool {
        matches!(
            self.kind,
            LoadErrorKind::Unreachable | LoadErrorKind::Busy | LoadErrorKind::Locked
        )
    }
}
