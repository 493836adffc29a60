//! Reasons why a result of a check is not imported.

use std::borrow::Cow;
use std::fmt;

use crate::diagnostic::shortened;
use crate::limits::{AUDIT_CHECK_AHEAD_HOURS, MESSAGE_VALUE_CHARS};

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
    /// Its URL at the end of redirects is not one of http or https.
    FinalUrl(String),
    /// Its time is none.
    Time(String),
    /// Its time lies further ahead than time zones and clocks explain.
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
                "the status {:?} is not an HTTP code of 100 to 599, nor 999",
                value(status)
            ),
            ResultError::Failure(name) => write!(
                f,
                "the error {:?} is not one of dns, connect, timeout, tls and other",
                value(name)
            ),
            ResultError::FinalUrl(url) => write!(
                f,
                "the final URL {:?} is not a URL of http or https",
                value(url)
            ),
            ResultError::Time(time) => write!(
                f,
                "the time {:?} is not like 2026-11-22, 2026-11-22T10:00:00Z or 2026-11-22T10:00:00+01:00",
                value(time)
            ),
            ResultError::FutureTime(time) => write!(
                f,
                "the time {time} lies more than {AUDIT_CHECK_AHEAD_HOURS} hours ahead"
            ),
            ResultError::EarlyTime(time) => {
                write!(f, "the time {time} is before 1990, when there was no Web")
            }
        }
    }
}

/// A value of the file, for a message.
fn value(text: &str) -> Cow<'_, str> {
    shortened(text, MESSAGE_VALUE_CHARS)
}

impl std::error::Error for ResultError {}
