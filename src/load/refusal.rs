//! Reasons why a target does not take a record, and why an input cannot be read or removed.

use std::{fmt, io};

/// The reason why a target does not take a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordRefusal {
    /// The record is longer than the server accepts.
    TooLong,
    /// The server's own reason.
    Server {
        /// The server's name for this kind of error.
        kind: String,
        /// Its explanation.
        reason: String,
    },
    /// The HTTP status, where the server gives no reason.
    Status(u16),
}

impl fmt::Display for RecordRefusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordRefusal::TooLong => out.write_str("it is longer than the server accepts"),
            RecordRefusal::Server { kind, reason } => {
                let stated: Vec<&str> = [&**kind, &**reason]
                    .into_iter()
                    .filter(|text| !text.is_empty())
                    .collect();
                match &stated[..] {
                    [] => out.write_str("it gives no reason"),
                    stated => out.write_str(&stated.join(": ")),
                }
            }
            RecordRefusal::Status(status) => write!(out, "it answers with HTTP status {status}"),
        }
    }
}

impl std::error::Error for RecordRefusal {}

/// The input that was not read, or not removed, and the reason. The others are loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadInputError {
    /// It cannot be read, or not to its end.
    Read {
        /// Its name.
        input: String,
        /// The reason.
        error: io::Error,
    },
    /// It was loaded, but the file cannot be removed.
    Remove {
        /// Its name.
        input: String,
        /// The reason.
        error: io::Error,
    },
}

impl fmt::Display for LoadInputError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadInputError::Read { input, error } => write!(out, "cannot read {input}: {error}"),
            LoadInputError::Remove { input, error } => {
                write!(out, "cannot remove {input}, which was loaded: {error}")
            }
        }
    }
}

impl std::error::Error for LoadInputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LoadInputError::Read { error, .. } | LoadInputError::Remove { error, .. } => {
                Some(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_servers_have_no_empty_halves() {
        let stated = |kind: &str, reason: &str| {
            let (kind, reason) = (kind.to_owned(), reason.to_owned());
            RecordRefusal::Server { kind, reason }.to_string()
        };
        assert_eq!(stated("kind", "reason"), "kind: reason");
        assert_eq!(stated("kind", ""), "kind");
        assert_eq!(stated("", "reason"), "reason");
        assert_eq!(stated("", ""), "it gives no reason");
    }

    #[test]
    fn failed_inputs_are_named() {
        let failed = |make: fn(String, io::Error) -> LoadInputError| {
            make("a.jsonl".to_owned(), io::Error::other("busy")).to_string()
        };
        assert_eq!(
            failed(|input, error| LoadInputError::Read { input, error }),
            "cannot read a.jsonl: busy"
        );
        assert_eq!(
            failed(|input, error| LoadInputError::Remove { input, error }),
            "cannot remove a.jsonl, which was loaded: busy"
        );
    }
}
