//! Why a stream ends before its time, as a value that travels inside an [`io::Error`].

use std::fmt;
use std::io;

use crate::problem::{Kind, Problem};

/// A limit or damage that a reader of ours met.
#[derive(Debug)]
struct Fault {
    kind: Kind,
    message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// The octets make no sense from here on.
pub(super) fn damage(message: impl Into<String>) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        Fault {
            kind: Kind::Damage,
            message: message.into(),
        },
    )
}

/// A limit is reached.
pub(super) fn limit(message: impl Into<String>) -> io::Error {
    io::Error::other(Fault {
        kind: Kind::Limit,
        message: message.into(),
    })
}

/// The problem that a stream's error is, met behind `offset` octets of it.
#[must_use]
pub fn problem(error: &io::Error, offset: Option<u64>) -> Problem {
    let fault = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Fault>());
    let kind = match (fault, error.kind()) {
        (Some(fault), _) => fault.kind,
        (None, io::ErrorKind::NotFound) => Kind::Vanished,
        (
            None,
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput,
        ) => Kind::Damage,
        (None, _) => Kind::Unreadable,
    };
    Problem {
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
        let kind = |error: io::Error| problem(&error, None).kind;
        assert_eq!(kind(damage("x")), Kind::Damage);
        assert_eq!(kind(limit("x")), Kind::Limit);
        assert_eq!(kind(io::ErrorKind::UnexpectedEof.into()), Kind::Damage);
        assert_eq!(kind(io::Error::other("x")), Kind::Unreadable);
        assert_eq!(
            problem(&limit("too much"), Some(3)),
            Problem::at(Kind::Limit, 3, "too much")
        );
    }
}
