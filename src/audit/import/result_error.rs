//! Reasons why a result of a check is not imported.

use std::fmt;

/// The reason why a result of a check is not imported.
#[derive(Debug)]
#[non_exhaustive]
pub enum ResultError {
    /// Its line is no CSV.
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
    /// Its time lies in the future.
    FutureTime(String),
    /// Its time lies before the beginning of the Web.
    EarlyTime(String),
}

impl fmt::Display for ResultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResultError::Csv(error) => error.fmt(f),
            ResultError::NoUrl => f.write_str("the url is empty"),
            ResultError::NoOutcome => f.write_str("status and error are empty; one is needed"),
            ResultError::Status(status) => write!(
                f,
                "the status {status:?} is not an HTTP code of 100 to 599, nor 999"
            ),
            ResultError::Failure(name) => write!(
                f,
                "the error {name:?} is not one of dns, connect, timeout, tls and other"
            ),
            ResultError::Time(time) => write!(
                f,
                "the time {time:?} is not like 2026-11-22 or 2026-11-22T10:00:00Z"
            ),
            ResultError::FutureTime(time) => write!(f, "the time {time} lies in the future"),
            ResultError::EarlyTime(time) => {
                write!(f, "the time {time} is before 1990, when there was no Web")
            }
        }
    }
}

impl std::error::Error for ResultError {}
