//! Reasons why a line of CSV is not the result of a check.

use std::fmt;

/// The reason why a line is not the result of a check.
#[derive(Debug)]
#[non_exhaustive]
pub enum ResultLineError {
    /// It is no CSV.
    Csv(csv::Error),
    /// It has no URL.
    NoUrl,
    /// It has neither a status nor an error.
    NoOutcome,
    /// Its status is no HTTP code.
    Status(String),
    /// Its error is none of those that can be imported.
    Failure(String),
    /// Its time is none.
    Time(String),
}

impl fmt::Display for ResultLineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResultLineError::Csv(error) => error.fmt(f),
            ResultLineError::NoUrl => f.write_str("it has no url"),
            ResultLineError::NoOutcome => f.write_str("it has neither status nor error"),
            ResultLineError::Status(status) => write!(f, "status is no HTTP code: {status:?}"),
            ResultLineError::Failure(name) => write!(
                f,
                "error is none of dns, connect, timeout, tls and other: {name:?}"
            ),
            ResultLineError::Time(time) => write!(f, "checked_at is no time: {time:?}"),
        }
    }
}

impl std::error::Error for ResultLineError {}
