//! Errors of unpacking, passed through standard readers inside an [`io::Error`].

use std::io;

use urlspool_text::diagnostic::{Diagnostic, DiagnosticKind};

/// Damaged data, or a limit that was reached.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct ReadError {
    kind: DiagnosticKind,
    message: String,
}

fn read_error(kind: DiagnosticKind, message: impl Into<String>) -> io::Error {
    let message = message.into();
    io::Error::other(ReadError { kind, message })
}

/// Creates the error of a stream with invalid bytes.
pub(super) fn damage(message: impl Into<String>) -> io::Error {
    read_error(DiagnosticKind::Damage, message)
}

/// Creates the error of a stream that reached a limit.
pub(super) fn limit(message: impl Into<String>) -> io::Error {
    read_error(DiagnosticKind::Limit, message)
}

/// Creates the error of an input on which the program or a library panicked.
#[must_use]
pub fn panicked() -> io::Error {
    let message = "the program failed on this input and skipped the rest; please report this";
    read_error(DiagnosticKind::Panic, message)
}

/// Returns the diagnostic for the error of a stream that failed after `offset` bytes.
#[must_use]
pub fn error_diagnostic(error: &io::Error, offset: Option<u64>) -> Diagnostic {
    use io::ErrorKind::{InvalidData, InvalidInput, NotFound, UnexpectedEof};
    let read_error = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<ReadError>());
    let kind = match (read_error, error.kind()) {
        (Some(read_error), _) => read_error.kind,
        (None, NotFound) => DiagnosticKind::Vanished,
        (None, UnexpectedEof | InvalidData | InvalidInput) => DiagnosticKind::Damage,
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
    fn an_error_keeps_the_kind_of_its_diagnostic() {
        let kind = |error: io::Error| error_diagnostic(&error, None).kind;
        assert_eq!(kind(damage("x")), DiagnosticKind::Damage);
        assert_eq!(kind(limit("x")), DiagnosticKind::Limit);
        assert_eq!(
            kind(io::ErrorKind::UnexpectedEof.into()),
            DiagnosticKind::Damage
        );
        assert_eq!(kind(io::Error::other("x")), DiagnosticKind::Unreadable);
        assert_eq!(
            error_diagnostic(&limit("too much"), Some(3)),
            Diagnostic::at(DiagnosticKind::Limit, 3, "too much")
        );
    }
}
