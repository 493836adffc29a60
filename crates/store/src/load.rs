//! Loads records into databases and search indexes, each record exactly once, and searches loaded
//! records.
//!
//! A target takes rows and commits them together with the segments they came from
//! (`load/target.rs`). A load can be interrupted at any moment; repeating it produces the same
//! rows. `load/loader.rs` opens the target, reads the lines and decides when to commit.

mod abuse_report;
mod columns;
#[cfg(feature = "elasticsearch")]
mod elasticsearch;
mod found_row;
mod http_agent;
mod input;
mod loader;
#[cfg(feature = "postgres")]
mod postgres;
mod removal;
mod search;
mod sqlite;
mod stats;
mod target;
mod target_name;
mod tracking;
mod words;

pub use abuse_report::{AbuseReports, Party};
pub use found_row::{Citation, CitedLink, FoundContext, FoundRow, ListRow};
pub use http_agent::{http_config, retry_after};
pub use input::{RecordFeed, files_of_records, has_segments, is_named_as_records};
pub use loader::{load, load_scan};
pub use removal::ScannedFiles;
pub(crate) use search::{ONLY_IN_LIST_FIELDS, key_of};
pub use search::{
    SearchOrder, SearchQuery, citation_of_row, count_undated, evidence_of_database, search,
};
#[cfg(test)]
pub(crate) use sqlite::add_functions;
pub use sqlite::{
    files_of_database, is_file_of_database, open_to_extend, open_to_read, sqlite_error,
};
pub use stats::{ReadStats, stats_of_database, stats_of_matches, stats_of_records};
pub use target::today;
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

/// A load: its inputs, its target and its options.
#[derive(Clone, Debug)]
pub struct LoadJob {
    /// The database or index.
    pub target: TargetName,
    /// Files and folders; `-` is standard input.
    pub inputs: Vec<PathBuf>,
    /// Handling of rows that the target already has.
    pub mode: LoadMode,
    /// Deletes segments whose rows are committed, together with their sidecars.
    pub deletes_segments: bool,
    /// Runs everything in one transaction and rolls it back, which only counts rows.
    pub is_dry_run: bool,
    /// The credentials for the target.
    pub credentials: Credentials,
    /// Stop flag of [`LoadMode::Follow`]. Another thread or a signal sets it; the load commits the
    /// rows it has read and ends.
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
            deletes_segments: false,
            is_dry_run: false,
            credentials: Credentials::default(),
            stop: Arc::default(),
        }
    }
}

/// When a load ends, and how it treats rows that the target already has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadMode {
    /// Adds rows.
    #[default]
    Add,
    /// Adds rows, and removes rows of the same files that the input no longer contains.
    Replace,
    /// Reads no input; removes rows of files in the input folders that no longer exist.
    Prune,
    /// Adds rows, and loads new segments as they appear until the load is stopped.
    Follow,
}

/// Counts of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadCounts {
    /// Records read.
    pub records: u64,
    /// Records that were new to the target.
    pub added: u64,
    /// Rows removed because their message is gone or their file no longer contains them.
    pub removed: u64,
    /// Segments loaded.
    pub segments: u64,
    /// Segments skipped because the target already had them.
    pub known_segments: u64,
    /// Lines of other types, such as events.
    pub other_lines: u64,
    /// Lines that are not records.
    pub bad_lines: u64,
    /// Records that the target refused.
    pub refused_records: u64,
    /// Files that could not be read.
    pub failed_files: u64,
}

/// Event of a running load, passed to the caller.
#[derive(Clone, Copy, Debug)]
pub enum LoadEvent<'e> {
    /// A line is not a record. The load continues with the next line.
    BadLine {
        /// Name of the input.
        input: &'e str,
        /// Line number, starting at 1.
        line: u64,
        /// Reason.
        error: &'e LineError,
    },
    /// The target refused a record. The load continues with the other records.
    RefusedRecord {
        /// Name of the input.
        input: &'e str,
        /// Line number, starting at 1.
        line: u64,
        /// Reason, as stated by the target.
        reason: &'e str,
    },
    /// A part of the input was not loaded, or rows or segments were not removed. The text is a
    /// sentence with the reason.
    Omitted(&'e str),
    /// A server rejected a request. The request is sent again.
    Retried {
        /// The server's answer.
        error: &'e LoadError,
        /// Number of failed attempts.
        failed: u32,
        /// Pause before the next attempt.
        pause: Duration,
        /// When the load stops retrying.
        end: RetryEnd,
    },
    /// The load pauses until the target can be reached again.
    Paused(&'e LoadError),
}

/// When to stop retrying a request.
#[derive(Clone, Copy, Debug)]
pub enum RetryEnd {
    /// After this many attempts: the server has never answered.
    Attempts(u32),
    /// After this much time.
    Within(Duration),
}

/// Callback that a load and its target share. Only one of them reports at a time.
type SharedReport<'r> = Rc<RefCell<&'r mut dyn FnMut(LoadEvent<'_>)>>;

/// Error that ends a load or a search, or that a load reports and survives.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct LoadError {
    /// Kind of the error, which decides the exit code.
    pub kind: LoadErrorKind,
    /// Names the file or the server, the reason and the way out.
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The kind of an error. Each kind except [`LoadErrorKind::Busy`] has a separate exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadErrorKind {
    /// The target or the input cannot be used as it is.
    Unusable,
    /// The server cannot be reached, but may be later.
    Unreachable,
    /// The server answers but is too busy. Otherwise treated like [`LoadErrorKind::Unreachable`].
    Busy,
    /// The target or an input cannot be read or written.
    Io,
    /// Another program has locked the target.
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

    /// Creates the error for a server that may be reachable later, or an address that may be free.
    pub(crate) fn unreachable(message: impl Into<String>) -> LoadError {
        LoadError::new(LoadErrorKind::Unreachable, message)
    }

    fn inconsistent(message: impl Into<String>) -> LoadError {
        LoadError::new(LoadErrorKind::Inconsistent, message)
    }

    /// Creates the error for a target whose name no longer refers to the database or index that was
    /// opened.
    fn replaced(target: &str) -> LoadError {
        LoadError::io(format!(
            "{target} was removed, renamed or replaced during the load, and no segment was removed \
             since; put it back and repeat the load, or repeat it to load the remaining segments \
             into the new one"
        ))
    }

    /// Adds the underlying error.
    pub(crate) fn caused_by(
        mut self,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> LoadError {
        self.source = Some(source.into());
        self
    }

    /// Returns `true` if the load may succeed later without any change to the target or the input.
    fn is_temporary(&self) -> bool {
        matches!(
            self.kind,
            LoadErrorKind::Unreachable | LoadErrorKind::Busy | LoadErrorKind::Locked
        )
    }
}

/// Decodes a path in a URL, in which `%` and two digits can represent any byte.
fn decoded_path(text: &str) -> PathBuf {
    OsString::from_vec(urlspool_text::grammar::decode(text.as_bytes())).into()
}
