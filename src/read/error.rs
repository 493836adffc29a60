//! Why a stream ends before its time, as a value that travels inside an [`io::Error`].

use std::fmt;
use std::io;

use crate::diagnostic::{Diagnostic, DiagnosticKind};

/// A limit or damage that a reader of ours met.
#[derive(Debug)]
struct ReadError {
    kind: DiagnosticKind,
    message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

/// The bytes make no sense from here on.
pub(super) fn damage(message: impl Into<String>) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        ReadError {
            kind: DiagnosticKind::Damage,
            message: message.into(),
        },
    )
}

/// A limit is reached.
pub(super) fn limit(message: impl Into<String>) -> io::Error {
    io::Error::other(ReadError {
        kind: DiagnosticKind::Limit,
        message: message.into(),
    })
}

/// The diagnostic that a stream's error is, met behind `offset` bytes of it.
#[must_use]
pub fn diagnostic(error: &io::Error, offset: Option<u64>) -> Diagnostic {
    let fault = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<ReadError>());
    let kind = match (fault, error.kind()) {
        (Some(fault), _) => fault.kind,
        (None, io::ErrorKind::NotFound) => DiagnosticKind::Vanished,
        (
            None,
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput,
        ) => DiagnosticKind::Damage,
        (None, _) => DiagnosticKind::Unreadable,
    };
    Diagnostic {
        kind,
        offset,
        message: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_sort_of_problem_it_is() {
        let kind = |error: io::Error| diagnostic(&error, None).kind;
        assert_eq!(kind(damage("x")), DiagnosticKind::Damage);
        assert_eq!(kind(limit("x")), DiagnosticKind::Limit);
        assert_eq!(
            kind(io::ErrorKind::UnexpectedEof.into()),
            DiagnosticKind::Damage
        );
        assert_eq!(kind(io::Error::other("x")), DiagnosticKind::Unreadable);
        assert_eq!(
            diagnostic(&limit("too much"), Some(3)),
            Diagnostic::at(DiagnosticKind::Limit, 3, "too much")
        );
    }
}
