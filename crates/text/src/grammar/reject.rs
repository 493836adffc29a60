//! The reason a text is not a URL: kind, part and offset. Only `Display` turns it into a sentence.

use std::fmt;

use super::escape::escaped_byte;

named_enum! {
    /// The kind of a grammar error. A new variant is a new version of the record format.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum RejectKind {
        /// A required part is empty.
        Empty = "empty",
        /// The part cannot contain the character at the offset.
        Unexpected = "unexpected",
        /// A `%` is not followed by two hexadecimal digits.
        BadEscape = "bad-escape",
        /// A literal of the grammar (`:`, `//`, `;type=`, ...) is missing.
        Missing = "missing",
        /// A host label is not allowed: it starts or ends with a hyphen, or is the last label and
        /// starts with a digit.
        BadLabel = "bad-label",
    }
}

named_enum! {
    /// The part of the URL in which a grammar error was found. A new variant is a new version of
    /// the record format.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum RejectPart {
        /// The scheme and its colon.
        Scheme = "scheme",
        /// The two slashes after the scheme.
        Slashes = "slashes",
        /// User name and password.
        Login = "login",
        /// The host.
        Host = "host",
        /// The port.
        Port = "port",
        /// The path (`fpath`, `hpath`, `urlpath`).
        Path = "path",
        /// The `;type=` of an ftp URL.
        Typecode = "typecode",
        /// The search part after `?`, in http and wais.
        Search = "search",
        /// The type, selector, search and gopher+ string of a gopher URL.
        Selector = "selector",
        /// The address of a mailto URL.
        Address = "address",
        /// The name of a newsgroup.
        Group = "group",
        /// The identifier of a news article, or the article number of an nntp URL.
        Article = "article",
        /// The database of a wais URL.
        Database = "database",
        /// The document type of a wais URL.
        Wtype = "wtype",
        /// The document path of a wais URL.
        Wpath = "wpath",
        /// The fields of a prospero URL.
        Field = "field",
        /// The text after the colon of a scheme without its own rule.
        Schemepart = "schemepart",
    }
}

/// The reason a text is not a URL by RFC 1738.
///
/// ```
/// let reject = urlspool_text::grammar::Url::parse("http://h:/").unwrap_err();
/// assert_eq!((reject.kind.name(), reject.part.name(), reject.offset), ("empty", "port", 9));
/// assert_eq!(reject.to_string(), "the port is empty at byte 9");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reject {
    /// The kind of error.
    pub kind: RejectKind,
    /// The part of the URL that the error is in.
    pub part: RejectPart,
    /// The offset of the error in bytes, at most the length of the text.
    pub offset: usize,
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (part, at) = (self.part.name(), self.offset);
        match self.kind {
            RejectKind::Empty => write!(f, "the {part} is empty at byte {at}"),
            RejectKind::Unexpected => write!(f, "byte {at} cannot stand in or after the {part}"),
            RejectKind::BadEscape => write!(
                f,
                "the % at byte {at} is not followed by two hexadecimal digits"
            ),
            RejectKind::Missing => write!(
                f,
                "the {part} is missing, or lacks its delimiter, at byte {at}"
            ),
            RejectKind::BadLabel => {
                write!(
                    f,
                    "the host has a label that is not allowed, before or at byte {at}"
                )
            }
        }
    }
}

impl std::error::Error for Reject {}

/// A rejection by a production. The production knows the bytes left to parse, but not the bytes
/// before them.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProductionError {
    kind: RejectKind,
    part: RejectPart,
    /// Length of the input after the start of the error.
    remaining: usize,
}

impl RejectKind {
    /// Returns the error of this kind at the first byte of `rest`.
    pub(super) fn at(self, part: RejectPart, rest: &[u8]) -> ProductionError {
        ProductionError {
            kind: self,
            part,
            remaining: rest.len(),
        }
    }
}

impl ProductionError {
    pub(super) fn remaining(&self) -> usize {
        self.remaining
    }

    /// Returns the rejection of a whole text of `total` bytes.
    pub(super) fn within(self, total: usize) -> Reject {
        Reject {
            kind: self.kind,
            part: self.part,
            offset: total - self.remaining,
        }
    }
}

/// The result of a production: its value and the remaining bytes.
pub(super) type Production<'a, T> = Result<(T, &'a [u8]), ProductionError>;

/// Returns `value` if `rest`, the input after a form's last production, is empty.
///
/// # Errors
///
/// Rejects the first byte of `rest`, which `part` cannot contain.
pub(super) fn end<T>(value: T, part: RejectPart, rest: &[u8]) -> Result<T, ProductionError> {
    if rest.is_empty() {
        Ok(value)
    } else {
        Err(unexpected(part, rest))
    }
}

/// Returns the error for the first byte of `rest`, which `part` cannot contain. `rest` must not be
/// empty.
///
/// A complete escape is `Unexpected`: it occurs where no escape is allowed (`telnet://h%41`).
pub(super) fn unexpected(part: RejectPart, rest: &[u8]) -> ProductionError {
    let kind = if starts_bad_escape(rest) {
        RejectKind::BadEscape
    } else {
        RejectKind::Unexpected
    };
    kind.at(part, rest)
}

/// Returns `true` if `rest` starts with a `%` without two hexadecimal digits after it.
pub(super) fn starts_bad_escape(rest: &[u8]) -> bool {
    rest.first() == Some(&b'%') && escaped_byte(rest).is_none()
}
