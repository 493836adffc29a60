//! Loads records into databases and search indexes, each exactly once, and searches what was
//! loaded.
//!
//! A target takes rows and commits them together with the segments that they came from
//! (`load/target.rs`); a load that is interrupted at any moment and repeated gives the same rows.
//! `load/loader.rs` reads the lines and decides when to commit.

mod columns;
#[cfg(feature = "elasticsearch")]
mod elasticsearch;
mod found_row;
mod http_agent;
mod input;
mod lines;
mod loader;
#[cfg(feature = "postgres")]
mod postgres;
mod removal;
mod run;
mod search;
mod sqlite;
mod stats;
mod target;
mod target_name;
mod tracking;
mod words;

pub use found_row::{Citation, CitedLink, FoundContext, FoundRow, ListRow};
pub use http_agent::{config_of_any_server, http_agent, retry_after};
pub use input::{files_of_records, has_segments, is_named_as_records};
pub use lines::RecordFeed;
pub use removal::ScannedFiles;
pub use run::{load, load_scan};
pub use search::{
    CitedThing, SearchOrder, SearchQuery, citation_of_row, citations, evidence_of_database, key_of,
    search,
};
pub use sqlite::{
    files_of_database, is_file_of_database, open_to_extend, open_to_read, sqlite_error,
};
pub use stats::{ReadStats, stats_of_database, stats_of_matches, stats_of_records};
pub use target::{RefusedRecord, today};
pub use target_name::{ClientFiles, Credentials, IndexServer, Secret, TargetName};
pub use tracking::clean_key;
pub use words::split_words;

use std::cell::RefCell;
use std::error::Error as StdError;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use thiserror::Error;

use urlspool_record::record::LineError;

/// A load: what is loaded, and into which target.
#[derive(Clone, Debug)]
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

/// Event of a running load. The caller of the load receives each.
#[derive(Clone, Copy, Debug)]
pub enum LoadEvent<'e> {
    /// A line is no record. The others are loaded.
    BadLine {
        /// The name of the input.
        input: &'e str,
        /// The number of the line, from 1.
        line: u64,
        /// The reason.
        error: &'e LineError,
    },
    /// The target refused a record. The others are loaded.
    RefusedRecord(&'e RefusedRecord),
    /// A part of the input was not loaded, or rows or segments were not removed: the reason, as a
    /// sentence.
    Omitted(&'e str),
    /// A server did not accept a request, which is sent again.
    Retried {
        /// The answer.
        error: &'e LoadError,
        /// The number of attempts that failed.
        failed: u32,
        /// The pause before the next one.
        pause: Duration,
        /// The end of further attempts.
        end: RetryEnd,
    },
    /// Loading pauses until the target can be reached again.
    Paused(&'e LoadError),
}

/// The end of the attempts to send a request.
#[derive(Clone, Copy, Debug)]
pub enum RetryEnd {
    /// A number of attempts: the server has not answered yet.
    Attempts(u32),
    /// A time that is left.
    Within(Duration),
}

/// A report that a load and its target share: each reports while the other does not.
type SharedReport<'r> = Rc<RefCell<&'r mut dyn FnMut(LoadEvent<'_>)>>;

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

/// A path in a URL, with `%` and two digits for any byte.
fn decoded_path(text: &str) -> PathBuf {
    OsString::from_vec(urlspool_text::grammar::decode(text.as_bytes())).into()
}
