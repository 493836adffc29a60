//! The reason a text is not a URL: kind, part and offset. Only `Display` produces a sentence.

use std::fmt;

use super::escape::escaped_byte;

/// The kind of a grammar error. A new variant is a new version of the record format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RejectKind {
    /// The grammar requires at least one character, and there is none.
    Empty,
    /// The part cannot contain the character at the offset.
    Unexpected,
    /// A `%` is not followed by two hexadecimal digits.
    BadEscape,
    /// A literal of the grammar (`:`, `//`, `;type=`, ...) is missing.
    Missing,
    /// A host label is not allowed: it begins or ends with a hyphen, or is the last one and begins with a digit.
    BadLabel,
}

/// The part of the URL in which a grammar error was found. A new variant is a new version of the record format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RejectPart {
    /// The scheme and its colon.
    Scheme,
    /// The two slashes after the scheme.
    Slashes,
    /// User name and password.
    Login,
    /// The host.
    Host,
    /// The port.
    Port,
    /// The path (`fpath`, `hpath`, `urlpath`).
    Path,
    /// The `;type=` of an ftp URL.
    Typecode,
    /// The search part after `?`, in http and wais.
    Search,
    /// The type, selector, search and gopher+ string of a gopher URL.
    Selector,
    /// The address of a mailto URL.
    Address,
    /// The name of a newsgroup.
    Group,
    /// The identifier of a news article, or the article number of an nntp URL.
    Article,
    /// The database of a wais URL.
    Database,
    /// The document type of a wais URL.
    Wtype,
    /// The document path of a wais URL.
    Wpath,
    /// The fields of a prospero URL.
    Field,
    /// The text after the colon of a scheme that has no rule of its own.
    Schemepart,
}

/// The reason a text is not a URL by RFC 1738.
///
/// ```
/// let reject = urlspool::grammar::Url::parse("http://h:/").unwrap_err();
/// assert_eq!((reject.kind.name(), reject.part.name(), reject.offset), ("empty", "port", 9));
/// assert_eq!(reject.to_string(), "the port is empty at byte 9");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reject {
    /// The kind of error.
    pub kind: RejectKind,
    /// The part of the URL that the error is in.
    pub part: RejectPart,
    /// The offset of the error in bytes. At most the length of the text.
    pub offset: usize,
}

impl RejectKind {
    /// The name used in a record's `error.kind`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RejectKind::Empty => "empty",
            RejectKind::Unexpected => "unexpected",
            RejectKind::BadEscape => "bad-escape",
            RejectKind::Missing => "missing",
            RejectKind::BadLabel => "bad-label",
        }
    }

    /// All kinds, in the order of declaration.
    pub const ALL: [RejectKind; 5] = [
        RejectKind::Empty,
        RejectKind::Unexpected,
        RejectKind::BadEscape,
        RejectKind::Missing,
        RejectKind::BadLabel,
    ];
}

impl RejectPart {
    /// The name used in a record's `error.part`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RejectPart::Scheme => "scheme",
            RejectPart::Slashes => "slashes",
            RejectPart::Login => "login",
            RejectPart::Host => "host",
            RejectPart::Port => "port",
            RejectPart::Path => "path",
            RejectPart::Typecode => "typecode",
            RejectPart::Search => "search",
            RejectPart::Selector => "selector",
            RejectPart::Address => "address",
            RejectPart::Group => "group",
            RejectPart::Article => "article",
            RejectPart::Database => "database",
            RejectPart::Wtype => "wtype",
            RejectPart::Wpath => "wpath",
            RejectPart::Field => "field",
            RejectPart::Schemepart => "schemepart",
        }
    }

    /// All parts, in the order of declaration.
    pub const ALL: [RejectPart; 17] = [
        RejectPart::Scheme,
        RejectPart::Slashes,
        RejectPart::Login,
        RejectPart::Host,
        RejectPart::Port,
        RejectPart::Path,
        RejectPart::Typecode,
        RejectPart::Search,
        RejectPart::Selector,
        RejectPart::Address,
        RejectPart::Group,
        RejectPart::Article,
        RejectPart::Database,
        RejectPart::Wtype,
        RejectPart::Wpath,
        RejectPart::Field,
        RejectPart::Schemepart,
    ];
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

/// A rejection by a production, which knows the bytes left to parse and not those before them.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProductionError {
    kind: RejectKind,
    part: RejectPart,
    /// Length of the input from the error on.
    remaining: usize,
}

impl ProductionError {
    /// An error at the first byte of `rest`.
    pub(super) fn new(kind: RejectKind, part: RejectPart, rest: &[u8]) -> ProductionError {
        ProductionError {
            kind,
            part,
            remaining: rest.len(),
        }
    }

    /// Length of the input from the error on.
    pub(super) fn remaining(&self) -> usize {
        self.remaining
    }

    /// The rejection of a whole text of `total` bytes.
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
/// Rejects the first remaining byte, which `part` cannot contain.
pub(super) fn end<T>(value: T, part: RejectPart, rest: &[u8]) -> Result<T, ProductionError> {
    if rest.is_empty() {
        Ok(value)
    } else {
        Err(unexpected(part, rest))
    }
}

/// The error for the first byte of `rest`, which `part` cannot contain. `rest` must not be empty.
///
/// A complete escape is `Unexpected`: it is in a place where no escape is allowed (`telnet://h%41`).
pub(super) fn unexpected(part: RejectPart, rest: &[u8]) -> ProductionError {
    let kind = if starts_bad_escape(rest) {
        RejectKind::BadEscape
    } else {
        RejectKind::Unexpected
    };
    ProductionError::new(kind, part, rest)
}

/// Returns `true` if `rest` begins with a `%` that two hexadecimal digits do not follow.
pub(super) fn starts_bad_escape(rest: &[u8]) -> bool {
    rest.first() == Some(&b'%') && escaped_byte(rest).is_none()
}
