//! Reasons why a target or an input cannot be used as it is.

use std::fmt;
use std::path::PathBuf;

use super::unusable_file::UnusableFile;
use super::unusable_server::UnusableServer;
use crate::record::LineError;

/// The reason why a target or an input cannot be used as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnusableError {
    /// A file cannot be used as a database.
    File(UnusableFile),
    /// A server cannot be used.
    Server(UnusableServer),
    /// An index is that of another version of this program.
    IndexVersion {
        /// The index, as part of a path.
        index: String,
        /// Its version.
        found: u64,
        /// The version that this program needs.
        needed: u64,
    },
    /// An index was not created by this program.
    OtherIndex {
        /// The index, as part of a path.
        index: String,
    },
    /// The file of trusted authorities cannot be used.
    AuthorityFile {
        /// The reason, which names the file.
        reason: String,
    },
    /// Rows are to be replaced in a target without transactions.
    NoTransactions,
    /// Rows are to be replaced by a segment.
    ReplacingSegment {
        /// The name of the segment's file.
        input: String,
    },
    /// None of the paths to follow is a folder.
    NoFolder,
    /// A file is both an input and the target.
    InputIsTarget {
        /// The file, as the input was named or found.
        file: PathBuf,
    },
    /// A line is a record that cannot be loaded. Others will be like it.
    Record {
        /// The name of the input.
        input: String,
        /// The number of the line, from 1.
        line: u64,
        /// The reason.
        error: LineError,
    },
}

impl fmt::Display for UnusableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnusableError::File(error) => error.fmt(f),
            UnusableError::Server(error) => error.fmt(f),
            UnusableError::IndexVersion {
                index,
                found,
                needed,
            } => write!(
                f,
                "the index {index} has version {found}; this program needs version {needed}; load into a new index"
            ),
            UnusableError::OtherIndex { index } => write!(
                f,
                "the index {index} was not created by `urlspool load`; load into a new index"
            ),
            UnusableError::AuthorityFile { reason } => f.write_str(reason),
            UnusableError::NoTransactions => f.write_str(
                "--replace needs a transaction, which Elasticsearch does not have; load into a new index, and let an alias name it",
            ),
            UnusableError::ReplacingSegment { input } => write!(
                f,
                "{input} is a segment, which holds only what was new in its files; --replace needs the whole scan of a file"
            ),
            UnusableError::NoFolder => f.write_str(
                "--follow needs a folder of segments, and there is none among the paths",
            ),
            UnusableError::InputIsTarget { file } => write!(
                f,
                "{} is both an input and the target; load into another file",
                file.display()
            ),
            UnusableError::Record { input, line, error } => {
                write!(f, "{input}, line {line}: {error}")
            }
        }
    }
}

impl std::error::Error for UnusableError {}
