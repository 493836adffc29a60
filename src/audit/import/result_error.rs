//! Reasons why a result of a check is not imported.

use std::fmt;

/// The reason why a result of a check is not imported.
#[derive(Debug)]
#[non_exhaustive]
pub enum ResultError {
    /// Its line is no CSV.
    Csv(csv::Error),
    /// A quote in its line is closed nowhere in the file.
    OpenQuote,
    /// Its URL, or another text that is read, has a line break.
    LineBreak,
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
            ResultError::Csv(error) => match error.kind() {
                csv::ErrorKind::Utf8 { .. } => f.write_str("it is not UTF-8"),
                _ => error.fmt(f),
            },
            ResultError::OpenQuote => f.write_str(
                "a quote is never closed, so the rest of the file cannot be read; close it and import the file again",
            ),
            ResultError::LineBreak => {
                f.write_str("a text that is read has a line break; perhaps a quote is not closed")
            }
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
