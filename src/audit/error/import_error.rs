//! Reasons why a file of results cannot be imported.

use std::fmt;
use std::path::PathBuf;

use crate::diagnostic::shortened_inside;
use crate::limits::MESSAGE_VALUE_CHARS;

/// A file of results that cannot be imported, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportError {
    /// The file.
    pub file: PathBuf,
    /// The reason.
    pub reason: ImportErrorReason,
}

/// The reason why a file of results cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImportErrorReason {
    /// The error of the system.
    Unreadable(String),
    /// It has more bytes than this.
    TooLong(u64),
    /// It is JSON, which holds no times, and none was given.
    NoTime,
    /// It is CSV, which holds times, and one was given.
    OwnTimes,
    /// It is the JSON of lychee, and another checker was named.
    OwnChecker,
    /// The time that was given cannot be that of a check.
    Time(String),
    /// It is not the JSON of lychee.
    NotLychee(String),
    /// Its first line does not name the columns.
    Header(String),
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        match &self.reason {
            ImportErrorReason::Unreadable(error) => write!(f, "cannot read {file}: {error}"),
            ImportErrorReason::TooLong(limit) => write!(
                f,
                "{file} has more than {limit} bytes; import it in parts of at most so many"
            ),
            ImportErrorReason::NoTime => write!(
                f,
                "{file} is JSON, which holds no times; give the day of the check with `--checked-at`"
            ),
            ImportErrorReason::OwnTimes => write!(
                f,
                "{file} is CSV, whose column `checked_at` holds the times; import it without `--checked-at`"
            ),
            ImportErrorReason::OwnChecker => write!(
                f,
                "{file} is the JSON of lychee, which is its checker; import it without `--checker`"
            ),
            ImportErrorReason::Time(error) => write!(
                f,
                "cannot import {file}: {error}; give the time of the check with `--checked-at`"
            ),
            ImportErrorReason::NotLychee(error) => write!(
                f,
                "{file} is not the JSON of lychee: {}; it is written by `lychee --format json -v`",
                shortened_inside(error, MESSAGE_VALUE_CHARS)
            ),
            ImportErrorReason::Header(error) => write!(f, "{file}: {error}"),
        }
    }
}

impl std::error::Error for ImportError {}
